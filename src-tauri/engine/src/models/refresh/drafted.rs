//! What comes out of the middle of a refresh, whoever wrote it: a document or operations, the facts
//! they rest on, and what is worth telling. Shapes only.

use crate::models::loaded::to_json;
use domain::citations::Basis;
use domain::delta::{Applied, OpStatus};
use domain::document::Document;
use domain::model::{Citation, RunWarning};
use domain::refresh::{DeltaResult, Judged};
use domain::trace::Usage;
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

/// A warning of a run.
pub(crate) fn remark(code: &str, text: impl Into<String>) -> RunWarning {
    RunWarning { code: code.to_owned(), text: text.into(), data: None }
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

/// Operations with their results, for the trace and the record.
pub(crate) fn op_list(applied: &Applied) -> Vec<Value> {
    let ops = applied.ops.iter().zip(&applied.results);
    ops.map(|(op, result)| {
        let mut entry = to_json(result);
        if let (Some(object), Ok(cited)) = (entry.as_object_mut(), &op.body) {
            object.insert("text".to_owned(), Value::from(cited.op.text()));
        }
        entry
    })
    .collect()
}
