//! What a run has gathered: the conversation, what the tools showed, what may be cited or opened. A run
//! that failed on the provider or the clock keeps it, and another try goes on from there instead of
//! searching anew, provided that all of it may still be shown.

use super::prepare::model_visible;
use super::show::{Shown, ShownKind, View};
use super::tools::{Output, Toolbox};
use crate::report::{ErrorCode, Report};
use crate::{Error, Result};
use domain::citations::Retrieved;
use domain::evidence::EvidenceBlock;
use domain::tokens::{Cl100k, TokenCounter};
use domain::tool_calls::{CallIds, RETRIEVAL_TOOLS, SEARCH_OBSERVATIONS};
use domain::trace::Trace;
use domain::{FactType, MemoryId, ModelId, RunId};
use llm::Message;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap, HashSet};
use store::ReadTx;

/// Everything that a run with a language model has come by.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Found {
    /// The conversation, instructions and question first.
    pub(super) messages: Vec<Message>,
    /// Everything that tools have shown.
    pub(super) retrieved: Retrieved,
    /// Results in order, as they were sent.
    pub(super) blocks: Vec<EvidenceBlock>,
    /// Short ids, and the rows that were sent.
    pub(super) view: View,
    /// Ids that may be opened.
    pub(super) shown: Shown,
    /// Searches that gave a result.
    pub(super) succeeded: BTreeSet<String>,
    /// Calls that succeeded, with their place in the trace, from 1.
    pub(super) earlier: HashMap<String, usize>,
    /// Ids of calls that are taken.
    pub(super) call_ids: CallIds,
    /// Whether the newest search of observations was flagged stale.
    pub(super) observations_stale: bool,
    /// Models that need a refresh.
    pub(super) doubtful: HashSet<String>,
    /// Whether the language model has called a tool at all.
    pub(super) any_call: bool,
    /// Whether it was asked for `directive_compliance`.
    pub(super) compliance_asked: bool,
    /// Whether it was asked for ids.
    pub(super) citations_asked: bool,
    /// Tags whose memories were left out of everything above.
    pub(super) left_out: Vec<String>,
}

/// The material of a failed run.
pub(super) struct Kept {
    /// The run.
    pub(super) run: RunId,
    /// What it gathered.
    pub(super) found: Found,
    /// What it did.
    pub(super) trace: Trace,
}

impl Found {
    /// Notes what a successful call of a tool showed.
    pub(super) fn note(&mut self, tool: &str, output: &Output, trace: &mut Trace) {
        if RETRIEVAL_TOOLS.contains(&tool) {
            self.succeeded.insert(tool.to_owned());
        }
        if tool == SEARCH_OBSERVATIONS {
            self.observations_stale = output.stale == Some(true);
        }
        for memory in &output.memories {
            self.shown.note(&memory.id, ShownKind::Memory);
            if tool == SEARCH_OBSERVATIONS
                && memory.fact_type == FactType::Observation
                && !trace.observations_accessed.contains(&memory.id)
            {
                trace.observations_accessed.push(memory.id.clone());
            }
            self.retrieved.add_memory(memory.clone());
        }
        for source in output.hits.iter().flat_map(|hit| &hit.sources) {
            self.shown.note(source.as_str(), ShownKind::Memory);
        }
        for (model, doubtful) in &output.models {
            self.shown.note(&model.id, ShownKind::Model);
            if *doubtful || model.is_stale != Some(false) {
                self.doubtful.insert(model.id.clone());
            }
            self.retrieved.add_model(model.clone());
        }
    }

    /// Our count of the conversation, without the tools on offer.
    pub(super) fn tokens(&self) -> u32 {
        self.messages.iter().map(size).sum()
    }

    /// Begins the conversation anew with these instructions; a turn whose calls nobody answered goes.
    pub(super) fn resume(&mut self, system: String) {
        while matches!(self.messages.last(), Some(Message::Assistant(_))) {
            self.messages.pop();
        }
        if let Some(first) = self.messages.first_mut() {
            *first = Message::system(system);
        }
    }

    /// What is kept of a run that ended with this error: nothing where it had found nothing, or where
    /// the same material would lead to the same end.
    pub(super) fn kept_after(&self, error: &Error) -> Option<serde_json::Value> {
        use ErrorCode as Code;
        let may_go_on = matches!(
            Report::from(error).code,
            Code::ProviderAuth
                | Code::ProviderRateLimited
                | Code::ProviderUnreachable
                | Code::ProviderRefused
                | Code::ContextOverflow
                | Code::TimedOut
        );
        (may_go_on && !self.succeeded.is_empty()).then(|| serde_json::to_value(self).ok()).flatten()
    }

    /// Whether all of it may still be shown to the language model that is asked now.
    ///
    /// # Errors
    /// Those of reading.
    pub(super) async fn still_fits(&self, tools: &Toolbox) -> Result<bool> {
        let leave_out = &tools.prepared.leave_out;
        let left_out = leave_out.iter().all(|tag| self.left_out.iter().any(|known| known == tag));
        // Texts around a fact have facts of their own, which are not looked through again here.
        let opened = self.blocks.iter().any(|block| block.result.contains_key("results"));
        if !left_out || (opened && !leave_out.is_empty()) {
            return Ok(false);
        }
        let memories: Vec<MemoryId> =
            self.retrieved.memories().iter().map(|row| MemoryId(row.id.clone())).collect();
        let models: Vec<ModelId> =
            self.retrieved.models().iter().map(|row| ModelId(row.id.clone())).collect();
        let this = tools.clone();
        tools.engine.store().read_as(move |tx| all_fit(tx, &this, &memories, &models)).await
    }
}

fn all_fit(
    tx: &ReadTx<'_>,
    tools: &Toolbox,
    memories: &[MemoryId],
    models: &[ModelId],
) -> Result<bool> {
    let found = store::memories::by_ids(tx, tools.bank(), memories)?;
    if found.len() != memories.len() || !found.iter().all(|memory| tools.may_show(memory)) {
        return Ok(false);
    }
    let excluded = &tools.request.exclude_models.ids;
    for id in models {
        let Some(model) = store::models::find(tx, tools.bank(), id)? else { return Ok(false) };
        if tools.request.exclude_models.all
            || !model_visible(&model.head, &tools.prepared.scope, excluded)
            || crate::grounds::rests_on(tx, &model, &tools.prepared.leave_out)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

fn size(message: &Message) -> u32 {
    match message {
        Message::System { text } | Message::User { text } => Cl100k.count(text),
        Message::Assistant(turn) => {
            let calls = turn.calls.iter().map(|call| Cl100k.count(&call.raw)).sum::<u32>();
            Cl100k.count(&turn.text) + calls
        }
        Message::Tool(result) => Cl100k.count(&result.text),
    }
}
