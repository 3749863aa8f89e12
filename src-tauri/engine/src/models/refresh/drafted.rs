//! What comes out of the middle of a refresh, whoever wrote it: a document or operations, the facts
//! they rest on, and what is worth telling. Shapes only.

use super::plan::Plan;
use crate::models::loaded::to_json;
use crate::view::refresh::Retraction;
use domain::Json;
use domain::citations::Basis;
use domain::delta::{Applied, Batch, OpStatus};
use domain::document::Document;
use domain::model::{Citation, RunWarning};
use domain::refresh::{DeltaResult, Judged};
use domain::trace::{LlmCallRecord, Usage};
use serde_json::Value;
use std::collections::BTreeMap;
use store::memories::Memory;

/// The middle of a run.
#[derive(Debug, Clone)]
pub(crate) struct Drafted {
    /// What the loop wrote: the document of a full refresh, the synthesis of a delta.
    pub(crate) text: String,
    pub(crate) basis: Basis,
    /// Without a language model.
    pub(crate) extractive: bool,
    /// The document that would be stored.
    pub(crate) document: Document,
    /// Operations of a delta as they were applied; none for a rebuilt document.
    pub(crate) applied: Option<Applied>,
    /// Of these the first ones took back what is no longer true.
    pub(crate) unsaid: bool,
    pub(crate) delta: DeltaResult,
    /// Facts that each block of a rebuilt document rests on.
    pub(crate) block_evidence: Vec<(String, Vec<String>)>,
    /// Blocks that said a fact already, with that fact.
    pub(crate) reflected: Vec<(String, String)>,
    /// Evidence: memories and models used.
    pub(crate) used: Vec<Citation>,
    /// Directives in force, recorded beside the evidence.
    pub(crate) directives: Vec<Citation>,
    /// Everything that was read, by type.
    pub(crate) retrieved: BTreeMap<String, u32>,
    /// What a delta's answer said about its facts.
    pub(crate) judged: Judged,
    /// Citations whose retraction was dealt with.
    pub(crate) handled: Vec<String>,
    /// What was done about facts taken back; none when there were none.
    pub(crate) retraction: Option<Retraction>,
    /// Skipped operations that the round of corrections put right.
    pub(crate) corrected: u32,
    /// The answer that could not be read, or its beginning.
    pub(crate) raw_reply: Option<String>,
    pub(crate) trace: Value,
    pub(crate) usage: Usage,
    pub(crate) warnings: Vec<RunWarning>,
}

impl Drafted {
    /// Nothing found, nothing changed.
    pub(crate) fn nothing(document: Document, extractive: bool) -> Self {
        Self {
            text: String::new(),
            basis: Basis::Cited,
            extractive,
            document,
            applied: None,
            unsaid: false,
            delta: DeltaResult::NotCalled,
            block_evidence: Vec::new(),
            reflected: Vec::new(),
            used: Vec::new(),
            directives: Vec::new(),
            retrieved: BTreeMap::new(),
            judged: Judged::default(),
            handled: Vec::new(),
            retraction: None,
            corrected: 0,
            raw_reply: None,
            trace: Value::Null,
            usage: Usage::default(),
            warnings: Vec::new(),
        }
    }

    /// Ids of the memories used; models and directives are no facts.
    pub(crate) fn facts(&self) -> Vec<String> {
        let is_memory =
            |cited: &&Citation| domain::model::MEMORY_KINDS.contains(&cited.kind.as_str());
        self.used.iter().filter(is_memory).map(|cited| cited.id.clone()).collect()
    }

    /// Operations applied, without effect, skipped.
    pub(crate) fn counts(&self) -> [u32; 3] {
        let count = |status| {
            let n = self.applied.as_ref().map_or(0, |applied| applied.count(status));
            u32::try_from(n).unwrap_or(u32::MAX)
        };
        [count(OpStatus::Applied), count(OpStatus::Noop), count(OpStatus::Skipped)]
    }
}

impl Drafted {
    /// Takes the finished batch over, with which facts its operations cite. The first `unsay_ops`
    /// took back what is no longer true; they do not count among the edits that were asked for.
    pub(crate) fn finish(&mut self, batch: Batch, unsay_ops: usize) {
        let applied = batch.finish();
        for (op, result) in applied.ops.iter().zip(&applied.results) {
            let Ok(op) = &op.body else { continue };
            let into = match result.status {
                OpStatus::Skipped => &mut self.judged.cited_by_skipped,
                OpStatus::Applied | OpStatus::Noop => &mut self.judged.cited,
            };
            into.extend(op.cited().into_iter().map(str::to_owned));
        }
        let edits = applied.results.get(unsay_ops..).unwrap_or_default();
        let count = |status| {
            let n = edits.iter().filter(|result| result.status == status).count();
            u32::try_from(n).unwrap_or(u32::MAX)
        };
        self.delta = DeltaResult::Tried {
            applied: count(OpStatus::Applied),
            noop: count(OpStatus::Noop),
            skipped: count(OpStatus::Skipped),
        };
        self.document = applied.document.clone();
        self.applied = Some(applied);
    }
}

/// Settles facts that were taken back and entered again under another name: the blocks that rest on
/// them rest on the new ones from now on.
pub(crate) fn succeed(plan: &Plan, drafted: &mut Drafted) {
    for (old, new) in &plan.successors {
        for (block, origin) in &plan.origins.0 {
            if origin.sources.contains(old) {
                drafted.reflected.push((block.clone(), new.id.clone()));
            }
        }
        if !drafted.used.iter().any(|cited| cited.id == new.id) {
            drafted.used.push(new.clone());
        }
        drafted.judged.already_reflected.insert(new.id.clone());
        drafted.handled.push(old.clone());
    }
}

/// A warning of a run.
pub(crate) fn remark(code: &str, text: impl Into<String>) -> RunWarning {
    RunWarning { code: code.to_owned(), text: text.into(), data: None }
}

/// A warning with its figures and ids.
pub(crate) fn remark_with(code: &str, text: impl Into<String>, data: Value) -> RunWarning {
    RunWarning { data: Some(Json(data)), ..remark(code, text) }
}

/// Puts calls to the language model behind those that a trace lists already.
pub(crate) fn add_calls(trace: &mut Value, calls: &[LlmCallRecord]) {
    if trace.is_null() {
        *trace = serde_json::json!({});
    }
    let Some(trace) = trace.as_object_mut() else { return };
    let list = trace.entry("llm_calls").or_insert_with(|| Value::Array(Vec::new()));
    if let Some(list) = list.as_array_mut() {
        list.extend(calls.iter().map(to_json));
    }
}

/// A memory as evidence, with its text as read.
pub(crate) fn cite(memory: &Memory) -> Citation {
    Citation {
        id: memory.id.0.clone(),
        text: memory.text.clone(),
        kind: memory.fact_type.word().to_owned(),
        context: memory.context.clone(),
        occurred_start: memory.occurred_start,
        mentioned_at: memory.mentioned_at,
        first_cited_version: None,
    }
}

/// Operations with their results, for the trace and the record: the operation's own fields first, so
/// that a record names what it touched and what it rests on.
pub(crate) fn op_list(applied: &Applied) -> Vec<Value> {
    let ops = applied.ops.iter().zip(&applied.results);
    ops.map(|(op, result)| {
        let mut entry = to_json(result);
        if let (Some(object), Ok(cited)) = (entry.as_object_mut(), &op.body) {
            if let Value::Object(fields) = to_json(&cited.op) {
                for (key, value) in fields {
                    object.entry(key).or_insert(value);
                }
            }
            object.insert("evidence".to_owned(), to_json(&cited.evidence));
            object.insert("text".to_owned(), Value::from(cited.op.text()));
        }
        entry
    })
    .collect()
}
