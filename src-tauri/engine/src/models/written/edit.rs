//! Working facts into a document: as many calls as it takes to show every fact beside a document
//! that fits, each on the result of the one before. Neither facts nor document are ever cut; what
//! does not fit is shown as an outline, and whole when an operation asks for it.

use super::ask::{Editor, known_ids, problem};
use super::shown::{self, Handles, Marks, guidance_lines};
use crate::models::publish::tokens as tokens_of;
use crate::models::refresh::Failure;
use crate::models::refresh::drafted::{Drafted, remark};
use crate::prompts::{DELTA_REPAIR_USER, DELTA_SYSTEM, DELTA_USER, fence};
use crate::reflect::caller::NoReply;
use crate::{Error, Result};
use domain::delta::{
    Answer, Batch, DeltaOp, OpStatus, ParsedOp, Rules, SkipReason, apply_operations,
    parse_operations,
};
use domain::document::Document;
use domain::model::Citation;
use domain::refresh::{BudgetPressure, budget_pressure, op_answer_tokens};
use domain::tokens::{Cl100k, TokenCounter};
use llm::{ChatReply, Message};
use std::collections::HashSet;

/// Limits are not lowered below this when an endpoint says that a prompt is too large.
const LEAST_LIMIT: u32 = 1000;
/// Characters of a section that are compared with the facts.
const COMPARED_CHARS: usize = 1000;

/// One call to be: the facts it is given and how the document is shown.
struct Part<'f> {
    facts: &'f [Citation],
    handles: Handles,
    outlined: HashSet<String>,
}

/// Why a part was not worked in.
enum Trouble {
    /// The endpoint cannot take so large a prompt: its error, and the tokens that were sent.
    Overflow(llm::Error, u32),
    Failed(Failure),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Failed(Failure::of(error, None))
    }
}

/// What an answer came to.
#[derive(Default)]
struct Told {
    problems: Vec<String>,
    /// Sections that an operation wanted to change and that were shown as an outline.
    wanted: HashSet<String>,
}

impl Editor<'_> {
    /// Works the facts in, batch by batch.
    pub(super) async fn edit(
        &mut self,
        batch: &mut Batch,
        drafted: &mut Drafted,
        facts: &[Citation],
    ) -> Result<(), Failure> {
        let mut done = 0;
        let mut limit = self.limit;
        let mut too_much: Option<(u32, llm::Error)> = None;
        let mut said = Vec::new();
        while done < facts.len() {
            let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            self.course.step("editing", Some((count(done), count(facts.len()))));
            let part = self
                .fit(batch.document(), drafted, facts, done, limit)
                .await
                .map_err(|error| Failure::of(error, None))?;
            let messages = self
                .messages(batch.document(), drafted, &part)
                .map_err(|error| Failure::of(error, None))?;
            let size = messages.iter().map(text_tokens).sum();
            // Less than what was too much, never as much again: one fact beside an outline cannot be
            // made any smaller.
            if let Some((_, error)) = too_much.take_if(|(was, _)| size >= *was) {
                return Err(Failure::of_edits(Some(error.into()), ""));
            }
            match self.work_in(batch, drafted, &part, messages, &mut said).await {
                Ok(()) => {
                    done += part.facts.len();
                    too_much = None;
                }
                Err(Trouble::Overflow(error, sent)) if sent / 4 * 3 >= LEAST_LIMIT => {
                    limit = limit.min(sent / 4 * 3);
                    too_much = Some((size, error));
                }
                Err(Trouble::Overflow(error, _)) => {
                    return Err(Failure::of_edits(Some(error.into()), ""));
                }
                Err(Trouble::Failed(failure)) => return Err(failure),
            }
            self.say_after_all(batch, &mut said);
        }
        for op in &said {
            let Some(block) = said_already(batch.document(), op, &HashSet::new()) else { continue };
            for fact in op.body.iter().flat_map(|body| body.cited()) {
                drafted.judged.already_reflected.insert(fact.to_owned());
                drafted.reflected.push((block.clone(), fact.to_owned()));
            }
        }
        Ok(())
    }

    /// Adds what was left out because a block said it already, where that block does not say it any
    /// more: the answer, or its correction, moved it.
    fn say_after_all(&self, batch: &mut Batch, said: &mut Vec<ParsedOp>) {
        let stands = |op: &ParsedOp| said_already(batch.document(), op, &HashSet::new()).is_some();
        let (kept, lost): (Vec<_>, Vec<_>) = said.drain(..).partition(stands);
        batch.apply(&lost, &self.plan.rules());
        *said = kept;
    }

    /// As many facts as fit beside the document. A document that leaves no room for a single one is
    /// shown partly as an outline.
    async fn fit<'f>(
        &mut self,
        document: &Document,
        drafted: &Drafted,
        facts: &'f [Citation],
        done: usize,
        limit: u32,
    ) -> Result<Part<'f>> {
        let bare = self.messages(document, drafted, &Part::none(document))?;
        let outline: u32 = bare.iter().map(text_tokens).sum();
        let whole_json = shown::document(self.plan, document, &HashSet::new(), &Marks::new());
        let outline_json =
            shown::document(self.plan, document, &every_section(document), &Marks::new());
        let count = |value: &serde_json::Value| Cl100k.count(&value.to_string());
        let fixed = outline.saturating_sub(count(&outline_json));
        let whole = fixed.saturating_add(count(&whole_json));
        let open = &facts[done..];
        let size = |n: usize| Cl100k.count(&shown::fact(self.plan, "f1", &open[n])) + 4;
        let take = |room: u32| {
            let mut used = 0_u32;
            let fits = (0..open.len()).take_while(|n| {
                used = used.saturating_add(size(*n));
                used <= room
            });
            fits.count()
        };
        let beside_whole = take(limit.saturating_sub(whole));
        let (n, outlined) = if beside_whole > 0 {
            (beside_whole, HashSet::new())
        } else {
            let room = limit.saturating_sub(outline);
            // A third for facts, the rest for the sections that they are likely to touch.
            let n = take(room / 3).max(1);
            let used: u32 = (0..n).map(size).sum();
            let left = room.saturating_sub(used);
            (n, self.outlined(document, &open[..n], left).await?)
        };
        let facts = &open[..n];
        let handles = Handles::of('f', done, facts.iter().map(|fact| &fact.id));
        Ok(Part { facts, handles, outlined })
    }

    /// The sections that do not fit into `room`; those nearest to the facts are kept whole.
    async fn outlined(
        &mut self,
        document: &Document,
        facts: &[Citation],
        room: u32,
    ) -> Result<HashSet<String>> {
        if self.plan.stays_here && !self.course.engine.embedder().is_local() {
            // Nothing of it is compared elsewhere: every section is an outline until it is asked for.
            return Ok(every_section(document));
        }
        let mut texts: Vec<String> = document
            .sections
            .iter()
            .map(|section| {
                let blocks = section.blocks.iter().map(|block| block.text.as_str());
                let text: Vec<&str> =
                    std::iter::once(section.heading.as_str()).chain(blocks).collect();
                text.join("\n").chars().take(COMPARED_CHARS).collect()
            })
            .collect();
        texts.push(facts.iter().map(|fact| fact.text.as_str()).collect::<Vec<_>>().join("\n"));
        let vectors = self.course.engine.embed_passages(&texts, self.course.cancel).await?;
        let Some((wanted, sections)) = vectors.split_last() else { return Ok(HashSet::new()) };
        let mut order: Vec<(usize, f32)> =
            sections.iter().map(|vector| embed::cosine(vector, wanted)).enumerate().collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut left = room;
        let mut outlined = every_section(document);
        for (at, _) in order {
            let section = &document.sections[at];
            let size = Cl100k.count(&shown::whole(self.plan, section, &Marks::new()).to_string());
            if size <= left {
                left -= size;
                outlined.remove(&section.id);
            }
        }
        Ok(outlined)
    }

    /// One call, and one for corrections if something did not fit.
    async fn work_in(
        &mut self,
        batch: &mut Batch,
        drafted: &mut Drafted,
        part: &Part<'_>,
        mut messages: Vec<Message>,
        said: &mut Vec<ParsedOp>,
    ) -> Result<(), Trouble> {
        let reply = self.sent("delta_ops", &messages).await?;
        let first = parse_operations(&reply.text);
        let was_read = first.is_ok();
        let told = match first {
            Ok(answer) => self.take(batch, drafted, part, answer, &part.outlined, said),
            Err(unreadable) => {
                drafted.raw_reply = Some(beginning(&reply));
                let word = unreadable.word();
                let line = format!("- The whole answer was {word}: it must be one JSON object.");
                Told { problems: vec![line], ..Told::default() }
            }
        };
        if told.problems.is_empty() {
            return Ok(());
        }
        self.course.tell("repairing");
        messages.push(Message::Assistant(reply.turn()));
        messages.push(self.repair(batch.document(), &told)?);
        let again = match self.sent("delta_repair", &messages).await {
            Ok(again) => again,
            // What fitted the first time is kept; the rest stays skipped.
            Err(Trouble::Overflow(..)) if was_read => return Ok(()),
            Err(Trouble::Failed(failure)) if was_read && failure.reason.is_some() => {
                drafted.warnings.push(remark("ops_skipped", "The corrections could not be had."));
                return Ok(());
            }
            Err(trouble) => return Err(trouble),
        };
        let still: HashSet<String> = part.outlined.difference(&told.wanted).cloned().collect();
        match parse_operations(&again.text) {
            Ok(answer) => {
                drafted.raw_reply = None;
                let before = batch.len();
                self.take(batch, drafted, part, answer, &still, said);
                let settled = batch.results_from(before).iter();
                let settled = settled.filter(|result| result.status != OpStatus::Skipped).count();
                let corrected = settled.min(told.problems.len());
                drafted.corrected += u32::try_from(corrected).unwrap_or(0);
                Ok(())
            }
            Err(_) if was_read => Ok(()),
            Err(unreadable) => {
                drafted.raw_reply = Some(beginning(&again));
                Err(Trouble::Failed(Failure::of_edits(None, unreadable.word())))
            }
        }
    }

    async fn sent(&mut self, scope: &str, messages: &[Message]) -> Result<ChatReply, Trouble> {
        self.ask(scope, messages).await.map_err(|no_reply| match no_reply {
            NoReply::Overflow(error) => {
                Trouble::Overflow(error, messages.iter().map(text_tokens).sum())
            }
            NoReply::Ends(error) => Trouble::Failed(Failure::of_edits(Some(error), "")),
        })
    }

    /// Applies an answer and notes what it says of the facts; what is `said` already is left out.
    fn take(
        &self,
        batch: &mut Batch,
        drafted: &mut Drafted,
        part: &Part<'_>,
        answer: Answer,
        outlined: &HashSet<String>,
        said: &mut Vec<ParsedOp>,
    ) -> Told {
        let judged = &mut drafted.judged;
        judged.already_reflected.extend(part.handles.ids(&answer.already_reflected));
        judged.irrelevant.extend(part.handles.ids(&answer.irrelevant));
        if answer.truncated && !judged.truncated {
            judged.truncated = true;
            drafted.warnings.push(remark("truncated_response", "The edits were cut off."));
        }
        let rules = Rules { outlined: outlined.clone(), ..self.plan.rules() };
        let mut told = Told::default();
        let named =
            |op: ParsedOp| ParsedOp { body: op.body.map(|body| part.handles.in_op(body)), ..op };
        let ops: Vec<ParsedOp> = answer.ops.into_iter().map(named).collect();
        let going = taken_away(batch.document(), &ops, &rules);
        for op in ops {
            if said_already(batch.document(), &op, &going).is_some() {
                said.push(op);
                continue;
            }
            let index = op.index;
            for result in batch.apply(&[op], &rules) {
                told.problems.extend(problem(index, result));
                if result.reason == Some(SkipReason::TargetNotShown) {
                    told.wanted.extend(result.detail.clone());
                }
            }
        }
        told
    }

    fn messages(
        &self,
        document: &Document,
        drafted: &Drafted,
        part: &Part<'_>,
    ) -> Result<Vec<Message>> {
        let mark = fence(self.course.engine.clock().random());
        let head = &self.plan.model.row.head;
        let size = tokens_of(&document.render());
        let outline = if part.outlined.is_empty() {
            ""
        } else {
            "\nSections with \"outline\" are not shown whole; see the rules.\n"
        };
        let mut facts = String::new();
        for fact in part.facts {
            let handle = part.handles.handle(&fact.id).unwrap_or_default();
            facts.push_str(&shown::fact(self.plan, &handle, fact));
        }
        let guidance = guidance_lines(&self.plan.guidance).join("\n");
        let document = shown::document(self.plan, document, &part.outlined, &Marks::new());
        let system = DELTA_SYSTEM.render(&[("fence", &mark)])?;
        let user = DELTA_USER.render(&[
            ("topic", &head.source_query),
            ("now", &domain::time::to_rfc3339(self.course.engine.now())),
            ("fence", &mark),
            ("document", &document.to_string()),
            ("outline", outline),
            ("synthesis", &drafted.text),
            ("facts", &facts),
            ("guidance", if guidance.is_empty() { "none" } else { &guidance }),
            ("size", &size.to_string()),
            ("budget", &head.max_tokens.to_string()),
            ("pressure", pressure(size, head.max_tokens)),
            ("answer", &op_answer_tokens(head.max_tokens).to_string()),
        ])?;
        Ok(vec![Message::system(system), Message::user(user)])
    }

    /// The request for corrections, with every section that was missed shown whole.
    fn repair(&self, document: &Document, told: &Told) -> Result<Message> {
        let mark = fence(self.course.engine.clock().random());
        let missed: Vec<String> = document
            .sections
            .iter()
            .filter(|section| told.wanted.contains(&section.id))
            .map(|section| shown::whole(self.plan, section, &Marks::new()).to_string())
            .collect();
        let sections = if missed.is_empty() {
            String::new()
        } else {
            let missed = missed.join("\n");
            format!(
                "\nThe sections that were shown as an outline, whole:\n{mark}\n{missed}\n{mark}\n"
            )
        };
        Ok(Message::user(DELTA_REPAIR_USER.render(&[
            ("problems", &told.problems.join("\n")),
            ("fence", &mark),
            ("ids", &known_ids(document)),
            ("sections", &sections),
        ])?))
    }
}

impl Part<'_> {
    /// No facts, and the document as an outline: what a prompt weighs at least.
    fn none(document: &Document) -> Self {
        Self { facts: &[], handles: Handles::default(), outlined: every_section(document) }
    }
}

fn every_section(document: &Document) -> HashSet<String> {
    document.sections.iter().map(|section| section.id.clone()).collect()
}

fn text_tokens(message: &Message) -> u32 {
    match message {
        Message::System { text } | Message::User { text } => Cl100k.count(text),
        Message::Assistant(_) | Message::Tool(_) => 0,
    }
}

/// What an answer of that length looks like, for the record.
pub(super) fn beginning(reply: &ChatReply) -> String {
    crate::models::refresh::beginning_of_reply(&reply.text)
}

/// The block that says already, word for word, what an operation would add: no paragraph is to
/// stand twice. A block that is `going` says nothing for long: what it says is moved.
fn said_already(document: &Document, op: &ParsedOp, going: &HashSet<String>) -> Option<String> {
    let (DeltaOp::AppendBlock { text, .. } | DeltaOp::InsertBlock { text, .. }) =
        &op.body.as_ref().ok()?.op
    else {
        return None;
    };
    let text = text.trim();
    // A rule or a mark may stand twice; what says something may not.
    if !text.chars().any(char::is_alphanumeric) {
        return None;
    }
    let same = |block: &&domain::document::Block| {
        !going.contains(&block.id) && block.text.replace("\r\n", "\n").trim() == text
    };
    document.blocks().find(same).map(|block| block.id.clone())
}

/// Blocks whose text is not there any more once some operations are applied, as far as they may be.
fn taken_away(document: &Document, ops: &[ParsedOp], rules: &Rules) -> HashSet<String> {
    let after = apply_operations(document, ops, rules).document;
    let gone = |block: &&domain::document::Block| {
        after.block(&block.id).is_none_or(|(_, now)| now.text != block.text)
    };
    document.blocks().filter(gone).map(|block| block.id.clone()).collect()
}

/// What is said about the size of the document.
fn pressure(size: u32, budget: u32) -> &'static str {
    match budget_pressure(size, budget) {
        BudgetPressure::Roomy => "",
        BudgetPressure::Tight => {
            "The document nears its size: prefer replacing stale blocks to adding new ones.\n"
        }
        BudgetPressure::Full => {
            "The document has reached its size: make room by removing what is superseded or said \
             twice, never the new facts.\n"
        }
    }
}
