//! Taking back what withdrawn facts said: one call that may remove and restate, and nothing else,
//! and only where the text is known to rest on such a fact. A call that fails costs the refresh
//! nothing; the facts stay cited and the next refresh tries again.

use super::ask::{Editor, known_ids, problem};
use super::edit::beginning;
use super::is_cancelled;
use super::shown::{self, Handles, Marks};
use crate::models::refresh::drafted::{Drafted, remark, remark_with};
use crate::prompts::{DELTA_REPAIR_USER, UNSAY_SYSTEM, UNSAY_USER, fence};
use crate::reflect::caller::NoReply;
use crate::view::refresh::Retraction;
use crate::{Error, Result};
use domain::MemoryId;
use domain::delta::{Answer, Batch, DeltaOp, OpKind, OpStatus, ParsedOp, Rules, parse_operations};
use domain::document::Document;
use domain::model::Citation;
use domain::provenance::PERSON;
use domain::tags::TagSet;
use domain::tokens::{Cl100k, TokenCounter};
use llm::Message;
use serde_json::json;
use std::collections::{BTreeSet, HashSet};
use store::memories::State;

/// What the call is about.
struct Case {
    /// Facts that are gone.
    withdrawn: Vec<(String, String)>,
    /// Facts behind the same blocks that still stand.
    standing: Vec<Citation>,
    handles: Handles,
    marks: Marks,
    /// Blocks that rest on a withdrawn fact.
    marked: BTreeSet<String>,
    outlined: HashSet<String>,
    rules: Rules,
}

impl Editor<'_> {
    /// Takes back what withdrawn facts said.
    ///
    /// # Errors
    /// `cancelled`, and those of reading the bank.
    pub(super) async fn unsay(
        &mut self,
        batch: &mut Batch,
        drafted: &mut Drafted,
        kept_here: &TagSet,
    ) -> Result<()> {
        let gone = self.plan.withdrawn();
        if gone.is_empty() {
            drafted.retraction = self.plan.put_off();
            return Ok(());
        }
        self.course.tell("retracting");
        let case = self.case(batch.document(), &gone, kept_here).await?;
        let put_off = self.plan.put_off().and_then(|put_off| put_off.deferred_reason);
        let mut report = Retraction {
            fact_ids: case.withdrawn.iter().map(|(id, _)| id.clone()).collect(),
            fact_texts: case.withdrawn.iter().map(|(_, text)| text.clone()).collect(),
            applied: false,
            deferred_reason: put_off,
        };
        if self.may_be_said(batch.document(), &case) {
            match self.two_tries(batch, &case, drafted).await {
                Ok(()) => {}
                Err(error) if is_cancelled(&error) => return Err(error),
                Err(error) => {
                    report.deferred_reason = Some("retraction_failed".to_owned());
                    drafted.retraction = Some(report);
                    let text = "What withdrawn facts said could not be taken back; it is tried \
                        again with the next refresh.";
                    let data = json!({ "cause": error.to_string() });
                    drafted.warnings.push(remark_with("retraction_failed", text, data));
                    return Ok(());
                }
            }
        }
        drafted.unsaid =
            batch.results_from(0).iter().any(|result| result.status == OpStatus::Applied);
        drafted.handled.extend(gone);
        report.applied = drafted.unsaid;
        drafted.retraction = Some(report);
        Ok(())
    }

    /// Whether any block rests on a withdrawn fact, or on nobody knows what.
    fn may_be_said(&self, document: &Document, case: &Case) -> bool {
        let unknown = |id: &str| self.plan.origins.sources(id).is_none_or(BTreeSet::is_empty);
        !case.marked.is_empty() || document.blocks().any(|block| unknown(&block.id))
    }

    async fn case(
        &mut self,
        document: &Document,
        gone: &BTreeSet<String>,
        kept_here: &TagSet,
    ) -> Result<Case> {
        let withdrawn: Vec<(String, String)> = self
            .plan
            .partition
            .act
            .iter()
            .filter(|fact| gone.contains(&fact.id))
            .map(|fact| (fact.id.clone(), fact.text.clone()))
            .collect();
        let sources = |id: &str| self.plan.origins.sources(id).cloned().unwrap_or_default();
        let marked: BTreeSet<String> = document
            .blocks()
            .filter(|block| !sources(&block.id).is_disjoint(gone))
            .map(|block| block.id.clone())
            .collect();
        let beside: BTreeSet<String> = marked
            .iter()
            .flat_map(|id| sources(id))
            .filter(|id| !gone.contains(id) && id != PERSON)
            .collect();
        let standing = self.standing(beside, kept_here).await?;
        let names: Vec<String> = withdrawn.iter().map(|(id, _)| id.clone()).collect();
        let stands: Vec<String> = standing.iter().map(|fact| fact.id.clone()).collect();
        let marks = marked
            .iter()
            .map(|id| {
                let of = |letter: char, ids: &[String]| -> Vec<String> {
                    let own = sources(id);
                    let named = ids.iter().zip(1..).filter(|(id, _)| own.contains(*id));
                    named.map(|(_, n)| format!("{letter}{n}")).collect()
                };
                let marks = vec![
                    ("withdrawn", json!(of('w', &names))),
                    ("stands", json!(of('s', &stands))),
                ];
                (id.clone(), marks)
            })
            .collect();
        let outlined = self.far_sections(document, &marked);
        Ok(Case {
            handles: Handles::of('w', 0, &names).and(Handles::of('s', 0, &stands)),
            rules: Rules {
                allow: Some(OpKind::UNSAY.to_vec()),
                unsupported: self.plan.origins.blocks_without(gone).into_iter().collect(),
                outlined: outlined.clone(),
                ..self.plan.rules()
            },
            withdrawn,
            standing,
            marks,
            marked,
            outlined,
        })
    }

    /// The facts of some ids that still stand and may be shown.
    async fn standing(
        &mut self,
        ids: BTreeSet<String>,
        kept_here: &TagSet,
    ) -> Result<Vec<Citation>> {
        let ids: Vec<MemoryId> = ids.into_iter().map(MemoryId).collect();
        let (engine, bank) = (self.course.engine, self.course.bank);
        let found = crate::handle::read_bank(engine, bank, move |tx, key| {
            store::memories::by_ids(tx, key, &ids)
        })
        .await?;
        Ok(found
            .iter()
            .filter(|memory| memory.state == State::Valid)
            .filter(|memory| !TagSet::new(&memory.tags).overlaps(kept_here))
            .map(crate::models::refresh::drafted::cite)
            .collect())
    }

    /// In a document that does not fit whole, the sections that no withdrawn fact touches.
    fn far_sections(&self, document: &Document, marked: &BTreeSet<String>) -> HashSet<String> {
        let whole = shown::document(self.plan, document, &HashSet::new(), &Marks::new());
        // The facts and the instructions take little; a quarter is plenty.
        if Cl100k.count(&whole.to_string()) <= self.limit / 4 * 3 {
            return HashSet::new();
        }
        let touched = |section: &&domain::document::Section| {
            section.blocks.iter().any(|block| marked.contains(&block.id))
        };
        let far = document.sections.iter().filter(|section| !touched(section));
        far.map(|section| section.id.clone()).collect()
    }

    async fn two_tries(
        &mut self,
        batch: &mut Batch,
        case: &Case,
        drafted: &mut Drafted,
    ) -> Result<()> {
        let mut messages = self.unsay_messages(batch.document(), case)?;
        let reply = self.ask("retraction_ops", &messages).await.map_err(ended)?;
        let first = parse_operations(&reply.text);
        let was_read = first.is_ok();
        let told = match first {
            Ok(answer) => self.take_back(batch, case, answer, drafted),
            Err(unreadable) => {
                drafted.raw_reply = Some(beginning(&reply));
                let word = unreadable.word();
                vec![format!("- The whole answer was {word}: it must be one JSON object.")]
            }
        };
        if told.is_empty() {
            return Ok(());
        }
        messages.push(Message::Assistant(reply.turn()));
        let mark = fence(self.course.engine.clock().random());
        messages.push(Message::user(DELTA_REPAIR_USER.render(&[
            ("problems", &told.join("\n")),
            ("fence", &mark),
            ("ids", &known_ids(batch.document())),
            ("sections", ""),
        ])?));
        let again = match self.ask("retraction_repair", &messages).await {
            Ok(again) => again,
            Err(no_reply) => {
                let error = ended(no_reply);
                return if was_read && !is_cancelled(&error) { Ok(()) } else { Err(error) };
            }
        };
        match parse_operations(&again.text) {
            Ok(answer) => {
                drafted.raw_reply = None;
                let left = self.take_back(batch, case, answer, drafted).len();
                let corrected = told.len().saturating_sub(left);
                drafted.corrected += u32::try_from(corrected).unwrap_or(0);
                Ok(())
            }
            Err(_) if was_read => Ok(()),
            Err(unreadable) => {
                drafted.raw_reply = Some(beginning(&again));
                let fault = crate::report::fault("delta_ops_failed").detail(unreadable.word());
                Err(fault.into())
            }
        }
    }

    /// Applies an answer; gives what did not fit.
    fn take_back(
        &self,
        batch: &mut Batch,
        case: &Case,
        answer: Answer,
        drafted: &mut Drafted,
    ) -> Vec<String> {
        if answer.truncated {
            drafted.warnings.push(remark("truncated_response", "The edits were cut off."));
        }
        let ops: Vec<ParsedOp> = answer
            .ops
            .into_iter()
            .map(|op| {
                let body = op.body.map(|body| {
                    let mut cited = case.handles.in_op(body);
                    self.rest(&mut cited, case);
                    cited
                });
                ParsedOp { body, ..op }
            })
            .collect();
        let places: Vec<u32> = ops.iter().map(|op| op.index).collect();
        let results = batch.apply(&ops, &case.rules);
        places.into_iter().zip(results).filter_map(|(n, result)| problem(n, result)).collect()
    }

    /// A restated text rests on what still stands behind its block, whether the answer says so or
    /// not; a removal is borne out by the facts that went.
    fn rest(&self, cited: &mut domain::delta::CitedOp, case: &Case) {
        let sources = |id: &String| self.plan.origins.sources(id).cloned().unwrap_or_default();
        let more: Vec<String> = match &cited.op {
            DeltaOp::ReplaceBlock { block_id, .. } => {
                let own = sources(block_id);
                let standing = case.standing.iter().map(|fact| fact.id.clone());
                standing.filter(|id| own.contains(id)).collect()
            }
            DeltaOp::RemoveBlock { block_id, .. } => {
                let own = sources(block_id);
                let gone = case.withdrawn.iter().map(|(id, _)| id.clone());
                gone.filter(|id| own.contains(id)).collect()
            }
            _ => Vec::new(),
        };
        for id in more {
            if !cited.evidence.contains(&id) {
                cited.evidence.push(id);
            }
        }
    }

    fn unsay_messages(&self, document: &Document, case: &Case) -> Result<Vec<Message>> {
        let mark = fence(self.course.engine.clock().random());
        let outline = if case.outlined.is_empty() {
            ""
        } else {
            "\nSections with \"outline\" are not touched by any withdrawn fact.\n"
        };
        let lines = |letter: char, texts: Vec<&str>| -> String {
            let lines = texts.into_iter().zip(1..);
            lines.map(|(text, n)| format!("{letter}{n}: {text}\n")).collect()
        };
        let withdrawn = lines('w', case.withdrawn.iter().map(|(_, text)| text.as_str()).collect());
        let standing: String = case
            .standing
            .iter()
            .zip(1..)
            .map(|(fact, n)| shown::fact(self.plan, &format!("s{n}"), fact))
            .collect();
        let document = shown::document(self.plan, document, &case.outlined, &case.marks);
        let system = UNSAY_SYSTEM.render(&[("fence", &mark)])?;
        let user = UNSAY_USER.render(&[
            ("topic", &self.plan.model.row.head.source_query),
            ("now", &domain::time::to_rfc3339(self.course.engine.now())),
            ("fence", &mark),
            ("document", &document.to_string()),
            ("outline", outline),
            ("withdrawn", &withdrawn),
            ("standing", if standing.is_empty() { "none" } else { &standing }),
        ])?;
        Ok(vec![Message::system(system), Message::user(user)])
    }
}

fn ended(no_reply: NoReply) -> Error {
    match no_reply {
        NoReply::Overflow(error) => error.into(),
        NoReply::Ends(error) => error,
    }
}
