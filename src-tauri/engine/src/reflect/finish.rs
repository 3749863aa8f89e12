//! From an answer that was handed over, or written from the evidence, to what the caller gets: text
//! cleaned and fitted, citations checked, pieces tied to their sources, warnings.

use super::caller::{Ask, NoReply};
use super::request::{Evidence, ReflectOutcome};
use super::tools::Output;
use super::turns::Run;
use crate::prompts::{REFLECT_REWRITE_SYSTEM, REFLECT_REWRITE_USER, fence};
use crate::report::fault;
use crate::{Error, Result};
use domain::answer::{AnswerForm, fit_length};
use domain::citations::{
    AnswerSource, BasedOnDirective, CitedIds, ID_KEYS, Retrieved, evidence_spans,
    validate_citations,
};
use domain::cleaning::{clean_final_text, leaked_call_syntax};
use domain::directives::Directive;
use domain::document::{DraftSection, LineEnd, assemble, coerce_sections};
use domain::tokens::{Cl100k, TokenCounter};
use domain::trace::{CallPurpose, LlmCallStatus, RunEvent, Trace, Warning, call_scope};
use llm::Message;
use serde_json::{Map, Value, json};

/// What an answer consists of before it is checked.
pub(super) struct Draft {
    /// Markdown; empty when there are sections.
    pub(super) text: String,
    /// The sections of a document.
    pub(super) sections: Option<Vec<DraftSection>>,
    /// The id lists and claims, with real ids.
    pub(super) args: Map<String, Value>,
    /// Where it came from.
    pub(super) source: AnswerSource,
}

/// The ids beside the blocks of a document in the arguments of `done`.
pub(super) fn block_evidence(args: &Map<String, Value>) -> Vec<String> {
    let Some(document) = args.get("document") else { return Vec::new() };
    let sections = coerce_sections(document);
    let blocks = sections.iter().flat_map(|section| &section.blocks);
    blocks.flat_map(|block| block.evidence.clone()).collect()
}

impl Run<'_> {
    /// The draft of an accepted `done`.
    pub(super) fn draft(&self, mut args: Map<String, Value>) -> Result<Draft> {
        if self.request.answer_as_document
            && let Some(document) = args.get("document").filter(|value| !value.is_null())
        {
            let sections = coerce_sections(document);
            let cited = block_evidence(&args);
            cite_too(&mut args, cited);
            if sections.iter().all(|section| section.blocks.is_empty()) {
                return Err(fault("no_answer").into());
            }
            let source = AnswerSource::Done;
            return Ok(Draft { text: String::new(), sections: Some(sections), args, source });
        }
        let answer = args.get("answer").and_then(Value::as_str).unwrap_or_default();
        let clean = clean_final_text(answer);
        if clean.text.is_empty() {
            return Err(fault("no_answer").into());
        }
        if let Some(ids) = clean.ids {
            for (key, value) in self.found.view.names.with_real_ids(ids) {
                args.entry(key).or_insert(value);
            }
        }
        Ok(Draft { text: clean.text, sections: None, args, source: AnswerSource::Done })
    }

    /// Fits the draft to its length, checks what it cites and puts the outcome together.
    pub(super) async fn finish(&mut self, mut draft: Draft) -> Result<ReflectOutcome> {
        let (text, sections) = self.fit(&mut draft).await?;
        let (text, sections) = self.obey(text, sections).await?;
        let available = self.found.retrieved.available();
        let check = validate_citations(&available, &draft.args, draft.source);
        self.warnings.extend(check.warnings(draft.source, !self.found.retrieved.is_empty()));
        self.trace.dropped_citations.clone_from(&check.dropped);
        for warning in &self.warnings {
            self.caller.sink.emit(RunEvent::Warning(warning.clone()));
        }
        let sections = sections.map(|sections| with_known_evidence(sections, &available));
        let mut trace = std::mem::take(&mut self.trace);
        trace.llm_calls = std::mem::take(&mut self.caller.calls);
        trace.warnings.clone_from(&self.warnings);
        let warnings = std::mem::take(&mut self.warnings);
        Ok(ReflectOutcome {
            directives: obeyed(&self.prepared.directives.in_force),
            ..outcome(text, sections, &draft.args, &self.found.retrieved, &check, trace, warnings)
        })
    }

    async fn fit(&mut self, draft: &mut Draft) -> Result<(String, Option<Vec<DraftSection>>)> {
        let most = self.request.max_tokens;
        match draft.sections.take() {
            Some(sections) => {
                let text = rendered(&sections);
                if Cl100k.count(&text) <= most {
                    return Ok((text, Some(sections)));
                }
                let shorter = self.shorten_document(&sections, most).await?;
                let short = shorter.as_deref().map(rendered);
                let fitted =
                    fit_length(&text, short.as_deref(), most, AnswerForm::Document, &Cl100k);
                self.warnings.extend(fitted.warning);
                let chosen = match shorter {
                    Some(shorter) if Some(&fitted.text) == short.as_ref() => shorter,
                    _ => sections,
                };
                Ok((fitted.text, Some(chosen)))
            }
            None => {
                let text = std::mem::take(&mut draft.text);
                if Cl100k.count(&text) <= most {
                    return Ok((text, None));
                }
                let shorter = self.shorten(&text, "the shortened text", most).await?;
                let shorter = shorter.map(|text| clean_final_text(&text).text);
                let fitted = fit_length(&text, shorter.as_deref(), most, AnswerForm::Text, &Cl100k);
                self.warnings.extend(fitted.warning);
                Ok((fitted.text, None))
            }
        }
    }

    // The same sections, shorter; none when that could not be had.
    async fn shorten_document(
        &mut self,
        sections: &[DraftSection],
        most: u32,
    ) -> Result<Option<Vec<DraftSection>>> {
        let whole = json!({ "sections": sections_json(sections) });
        let form = "one JSON object of the same shape";
        let Some(reply) = self.shorten(&whole.to_string(), form, most).await? else {
            return Ok(None);
        };
        let read = domain::cleaning::extract_json(&reply).map(|value| coerce_sections(&value));
        Ok(read.filter(|sections| sections.iter().any(|section| !section.blocks.is_empty())))
    }

    // One call; its failure costs the answer nothing.
    async fn shorten(&mut self, text: &str, form: &str, most: u32) -> Result<Option<String>> {
        let mark = fence(self.engine.clock().random());
        let system = REFLECT_REWRITE_SYSTEM.render(&[("fence", &mark), ("form", form)])?;
        let user = REFLECT_REWRITE_USER.render(&[
            ("tokens", &most.to_string()),
            ("fence", &mark),
            ("text", text),
        ])?;
        let tokens = Cl100k.count(&system) + Cl100k.count(&user);
        let ask = Ask {
            max_output: self.prepared.settings.reflect_max_completion_tokens,
            ..Ask::plain(
                call_scope(CallPurpose::FinalRewrite, LlmCallStatus::Ok),
                vec![Message::system(system), Message::user(user)],
                tokens,
            )
        };
        match self.caller.ask(&ask).await {
            // A text that ends in the middle is worse than a long one.
            Ok(reply) => Ok((reply.finish != llm::Finish::Length).then_some(reply.text)),
            Err(NoReply::Ends(error)) if is_cancelled(&error) => Err(error),
            Err(NoReply::Overflow(_) | NoReply::Ends(_)) => Ok(None),
        }
    }
}

fn obeyed(directives: &[Directive]) -> Vec<BasedOnDirective> {
    directives
        .iter()
        .map(|directive| BasedOnDirective {
            id: directive.id.to_string(),
            name: directive.name.clone(),
            content: directive.content.clone(),
        })
        .collect()
}

/// Whether an error says that the run was stopped.
pub(super) fn is_cancelled(error: &Error) -> bool {
    matches!(error, Error::Llm(llm::Error::Cancelled) | Error::Embed(embed::Error::Cancelled))
        || error.reason() == "cancelled"
}

/// An outcome from its checked parts.
pub(super) fn outcome(
    text: String,
    sections: Option<Vec<DraftSection>>,
    args: &Map<String, Value>,
    retrieved: &Retrieved,
    check: &domain::citations::CitationCheck,
    trace: Trace,
    warnings: Vec<Warning>,
) -> ReflectOutcome {
    let based_on = retrieved.based_on(check, Vec::new());
    ReflectOutcome {
        spans: evidence_spans(&text, args.get("claims"), &retrieved.available()),
        text,
        sections,
        used: Evidence { memories: based_on.memories, models: based_on.mental_models },
        retrieved: Evidence {
            memories: retrieved.memories().to_vec(),
            models: retrieved.models().to_vec(),
        },
        directives: Vec::new(),
        basis: check.basis,
        structured: None,
        structured_error: None,
        usage: trace.usage(),
        trace,
        warnings,
    }
}

/// The Markdown of sections.
pub(super) fn rendered(sections: &[DraftSection]) -> String {
    assemble(sections, LineEnd::Lf).document.render().trim_end().to_owned()
}

/// Sections as `done` gives them.
pub(super) fn sections_json(sections: &[DraftSection]) -> Vec<Value> {
    sections
        .iter()
        .map(|section| {
            let blocks: Vec<Value> = section
                .blocks
                .iter()
                .map(|block| json!({"text": block.text, "evidence": block.evidence}))
                .collect();
            json!({"heading": section.heading, "level": section.level, "blocks": blocks})
        })
        .collect()
}

// A block keeps the ids that some tool showed.
fn with_known_evidence(mut sections: Vec<DraftSection>, available: &CitedIds) -> Vec<DraftSection> {
    for block in sections.iter_mut().flat_map(|section| &mut section.blocks) {
        block.evidence.retain(|id| available.contains(id));
    }
    sections
}

// What blocks cite counts as cited.
fn cite_too(args: &mut Map<String, Value>, ids: Vec<String>) {
    if ids.is_empty() {
        return;
    }
    let key = ID_KEYS[0];
    let mut list: Vec<Value> = match args.remove(key) {
        Some(Value::Array(list)) => list,
        Some(one @ Value::String(_)) => vec![one],
        _ => Vec::new(),
    };
    for id in ids {
        let id = Value::String(id);
        if !list.contains(&id) {
            list.push(id);
        }
    }
    args.insert(key.to_owned(), Value::Array(list));
}

const SPOKEN_TO: [&str; 8] = [
    "ignore previous instructions",
    "ignore all previous",
    "ignore the above",
    "disregard previous",
    "you are now",
    "system prompt",
    "reveal your instructions",
    "new instructions:",
];

/// Notes once that retrieved text speaks to the language model; `shown` is the whole result as it is
/// sent. Only a note: such text is data and stays data.
pub(super) fn warn_of_injection(output: &Output, shown: &str, warnings: &mut Vec<Warning>) {
    const CODE: &str = "possible_injection";
    if warnings.iter().any(|warning| warning.code == CODE) {
        return;
    }
    let folded = shown.to_lowercase();
    let memories = output.memories.iter().map(|memory| memory.text.as_str());
    let mut texts = memories.chain(output.models.iter().map(|(model, _)| model.text.as_str()));
    if SPOKEN_TO.iter().any(|words| folded.contains(words)) || texts.any(leaked_call_syntax) {
        warnings.push(Warning::new(
            CODE,
            "Some of the retrieved text speaks to the language model. It was treated as data.",
        ));
    }
}
