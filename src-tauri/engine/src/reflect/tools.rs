//! The searches of a run: what each finds, inside the run's scope and window and nowhere else. They
//! only read. A failure here is a failure of the run: nothing is answered over half the evidence.

use super::prepare::{Prepared, model_visible};
use super::request::ReflectRequest;
use crate::grounds::rests_on;
use crate::memory::search::{SearchHit, SearchRequest, search};
use crate::{Engine, Result, fresh};
use domain::answer::cut_at_block;
use domain::citations::{BasedOnMemory, BasedOnModel};
use domain::directives::item_visible;
use domain::model::Freshness;
use domain::staleness::RefreshReason;
use domain::tag_group::TagFilter;
use domain::tags::TagSet;
use domain::time::to_rfc3339;
use domain::tokens::{Cl100k, TokenCounter};
use domain::tool_calls::ToolCall;
use domain::{FactType, Instant, Score};
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use store::memories::Memory;
use store::models::Model;
use store::{BankKey, ReadTx};
use tokio_util::sync::CancellationToken;

/// Tokens of documents in one search over mental models.
const MODEL_TOKENS: u32 = 6000;
/// What is left of a document that comes after the limit.
const MODEL_STUB_TOKENS: u32 = 200;
/// Nearest models looked at before those outside the scope are left out.
const MODEL_NEIGHBOURS: usize = 200;

/// The tools over one bank for one run.
#[derive(Debug, Clone)]
pub(super) struct Toolbox {
    pub(super) engine: Engine,
    pub(super) request: Arc<ReflectRequest>,
    pub(super) prepared: Arc<Prepared>,
    pub(super) cancel: CancellationToken,
}

/// What a tool returned.
#[derive(Debug, Clone, Default)]
pub(super) struct Output {
    /// The result with real ids, as the trace keeps it.
    pub(super) result: Map<String, Value>,
    /// Rows in it.
    pub(super) count: u32,
    /// Whether the result as a whole is out of date, where the tool says so.
    pub(super) stale: Option<bool>,
    /// An error for the language model in place of a result.
    pub(super) is_error: bool,
    /// Memories that it shows.
    pub(super) memories: Vec<BasedOnMemory>,
    /// Models that it shows, and whether each is in doubt.
    pub(super) models: Vec<(BasedOnModel, bool)>,
    /// What the extractive answer works on: the hits themselves.
    pub(super) hits: Vec<SearchHit>,
}

impl Output {
    /// An error for the language model.
    pub(super) fn error(message: impl Into<String>) -> Self {
        Self {
            result: Map::from_iter([("error".to_owned(), Value::String(message.into()))]),
            is_error: true,
            ..Self::default()
        }
    }
}

impl Toolbox {
    /// Runs a call. `shown` are the ids that may be opened.
    pub(super) async fn run(&self, call: &ToolCall, shown: &super::show::Shown) -> Result<Output> {
        match call {
            ToolCall::SearchMentalModels { query, max_results } => {
                self.models(query, *max_results).await
            }
            ToolCall::SearchObservations { query, max_tokens } => {
                self.observations(query, *max_tokens).await
            }
            ToolCall::Recall { query, max_tokens, max_chunk_tokens } => {
                self.recall(query, *max_tokens, *max_chunk_tokens).await
            }
            ToolCall::Expand { ids, depth } => {
                super::expand::expand(self, ids.clone(), *depth, shown).await
            }
            ToolCall::Done(_) => Ok(Output::default()),
        }
    }

    fn search(&self, query: &str, kinds: Vec<FactType>, max_tokens: u32) -> SearchRequest {
        let scope = &self.prepared.scope;
        let window = self.request.window;
        SearchRequest {
            fact_types: kinds,
            filter: TagFilter {
                tags: scope.tags.clone(),
                tags_match: scope.tags_match,
                groups: scope.tag_groups.clone(),
            },
            leave_out: self.prepared.leave_out.clone(),
            after_seq: window.after_seq,
            cutoff_seq: window.cutoff_seq,
            max_tokens: Some(max_tokens),
            query_tokens: self.prepared.settings.recall_max_query_tokens,
            ..SearchRequest::new(self.request.bank.clone(), query, self.request.budget)
        }
    }

    /// Mental models nearest to a query.
    pub(super) async fn models(&self, query: &str, most: u32) -> Result<Output> {
        let read = Cl100k.cut(query, self.prepared.settings.recall_max_query_tokens);
        let vector =
            self.engine.embedder().embed_one(read, embed::Kind::Query, &self.cancel).await?;
        let this = self.clone();
        let found =
            self.engine.store().read_as(move |tx| this.nearest_models(tx, &vector, most)).await?;
        Ok(models_output(query, &found))
    }

    fn nearest_models(&self, tx: &ReadTx<'_>, vector: &[f32], most: u32) -> Result<Vec<Near>> {
        let bank = self.prepared.bank.key;
        let embedder = store::embedders::get(tx, self.engine.inner.embedder_key)?;
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let mut found = Vec::new();
        for (key, cosine) in
            store::search::models::by_meaning(tx, bank, &embedder, vector, MODEL_NEIGHBOURS)?
        {
            let model = store::models::by_key(tx, key)?;
            let excluded = &self.request.exclude_models.ids;
            if !model.content.trim().is_empty()
                && model_visible(&model.head, &self.prepared.scope, excluded)
                && !rests_on(tx, &model, &self.prepared.leave_out)?
            {
                found.push((model, cosine));
            }
            if found.len() == most {
                break;
            }
        }
        let heads: Vec<_> = found.iter().map(|(model, _)| model.head.clone()).collect();
        let fresh = fresh::of_all(tx, bank, &heads)?;
        Ok(found
            .into_iter()
            .map(|(model, cosine)| Near {
                freshness: fresh.get(&model.head.key).cloned().unwrap_or_default(),
                relevance: Score::new(cosine).rounded(),
                model,
            })
            .collect())
    }

    /// Observations on a query.
    pub(super) async fn observations(&self, query: &str, max_tokens: u32) -> Result<Output> {
        let request = self.search(query, vec![FactType::Observation], max_tokens);
        let found = search(&self.engine, request, &self.cancel).await?;
        let pending = self.prepared.pending_in_scope;
        let stale = pending > 0 || found.hits.iter().any(|hit| hit.memory.needs_review);
        let freshness = match pending {
            0 => "up_to_date",
            1..=9 => "slightly_stale",
            _ => "stale",
        };
        let super::observed::Observed { mut rows, source_facts, facts } =
            super::observed::rows(self, &found.hits).await?;
        let stated = self.request.observation_entities;
        let entities =
            stated.unwrap_or(self.prepared.settings.reflect_search_observations_include_entities);
        for row in rows.iter_mut().filter_map(Value::as_object_mut).filter(|_| !entities) {
            row.remove("entities");
        }
        let memories = found.hits.iter().map(|hit| based_on(&hit.memory)).chain(facts).collect();
        Ok(Output {
            count: count(rows.len()),
            result: told_of(
                json!({
                    "query": query,
                    "count": rows.len(),
                    "is_stale": stale,
                    "freshness": freshness,
                }),
                [("observations", rows.into()), ("source_facts", source_facts.into())],
            ),
            stale: Some(stale),
            memories,
            hits: found.hits,
            ..Output::default()
        })
    }

    /// Facts on a query, with passages of their sources.
    pub(super) async fn recall(
        &self,
        query: &str,
        max_tokens: u32,
        chunk_tokens: u32,
    ) -> Result<Output> {
        let kinds = self.request.fact_types.clone().unwrap_or_else(|| FactType::ALL.to_vec());
        let kinds: Vec<FactType> =
            kinds.into_iter().filter(|kind| *kind != FactType::Observation).collect();
        let found =
            search(&self.engine, self.search(query, kinds, max_tokens), &self.cancel).await?;
        let mut rows: Vec<Value> = found.hits.iter().map(row).collect();
        let stated = self.request.include_chunks;
        let with_chunks = stated.unwrap_or(self.prepared.settings.recall_include_chunks)
            && self.prepared.settings.store_document_text;
        let chunks = if with_chunks {
            self.chunks(&found.hits, &mut rows, chunk_tokens).await?
        } else {
            Map::new()
        };
        Ok(Output {
            count: count(rows.len()),
            result: told_of(
                json!({ "query": query, "count": rows.len() }),
                [("memories", rows.into()), ("chunks", chunks.into())],
            ),
            memories: found.hits.iter().map(|hit| based_on(&hit.memory)).collect(),
            hits: found.hits,
            ..Output::default()
        })
    }

    // Passages in the order of their facts, as far as the tokens go; the last one is cut to fit. A
    // fact that is its passage needs none.
    async fn chunks(
        &self,
        hits: &[SearchHit],
        rows: &mut [Value],
        max_tokens: u32,
    ) -> Result<Map<String, Value>> {
        let keys: Vec<_> = hits.iter().filter_map(|hit| hit.memory.chunk).collect();
        if keys.is_empty() {
            return Ok(Map::new());
        }
        let this = self.clone();
        let found = self
            .engine
            .store()
            .read(move |tx| {
                let mut open = Vec::new();
                for chunk in store::chunks::by_keys(tx, &keys)? {
                    if !this.is_private_passage(tx, chunk.document, Some(chunk.key))? {
                        open.push(chunk);
                    }
                }
                Ok(open)
            })
            .await?;
        let by_key: HashMap<_, _> = found.iter().map(|chunk| (chunk.key, chunk)).collect();
        let mut out = Map::new();
        let mut left = max_tokens;
        for (hit, row) in hits.iter().zip(rows) {
            let Some(chunk) = hit.memory.chunk.and_then(|key| by_key.get(&key)) else { continue };
            let Some(document) = &hit.memory.document_id else { continue };
            let key = chunk_key(document.as_str(), chunk.index);
            if !out.contains_key(&key) {
                if left == 0 || chunk.text.trim() == hit.memory.text.trim() {
                    continue;
                }
                let size = Cl100k.count(&chunk.text);
                let text = if size > left { Cl100k.cut(&chunk.text, left) } else { &chunk.text };
                out.insert(
                    key.clone(),
                    json!({
                        "chunk_text": text,
                        "chunk_index": chunk.index,
                        "truncated": size > left,
                    }),
                );
                left = left.saturating_sub(size);
            }
            row["chunk"] = Value::String(key);
        }
        Ok(out)
    }

    /// Whether a memory may be shown: in use, in scope, not private. The window bounds what searches
    /// find, not what stands behind it.
    pub(super) fn may_show(&self, memory: &Memory) -> bool {
        let tags = TagSet::new(&memory.tags);
        memory.state == store::memories::State::Valid
            && item_visible(&tags, &self.prepared.scope)
            && !tags.overlaps(&self.prepared.leave_out)
    }

    /// Whether a passage of a document, or all of it, must not leave this machine: the document is
    /// marked so, or a memory that was read out of that text is, in use or not.
    pub(super) fn is_private_passage(
        &self,
        tx: &ReadTx<'_>,
        document: store::DocumentKey,
        chunk: Option<store::ChunkKey>,
    ) -> store::Result<bool> {
        let leave_out = &self.prepared.leave_out;
        if leave_out.is_empty() {
            return Ok(false);
        }
        let marked = |tags: &BTreeSet<String>| TagSet::new(tags).overlaps(leave_out);
        let said = store::memories::of_document(tx, document, chunk)?;
        Ok(marked(&store::documents::by_key(tx, document)?.tags)
            || said.iter().any(|memory| marked(&memory.tags)))
    }

    /// The bank's key.
    pub(super) fn bank(&self) -> BankKey {
        self.prepared.bank.key
    }
}

struct Near {
    model: Model,
    relevance: Score,
    freshness: Freshness,
}

fn models_output(query: &str, found: &[Near]) -> Output {
    let mut left = MODEL_TOKENS;
    let mut rows = Vec::new();
    let mut models = Vec::new();
    for near in found {
        let whole = near.model.content.trim();
        let size = Cl100k.count(whole);
        let content = if size <= left {
            whole
        } else {
            cut_at_block(whole, left.max(MODEL_STUB_TOKENS), &Cl100k)
        };
        left = left.saturating_sub(size);
        let head = &near.model.head;
        let why = near.freshness.refresh_reasons.first().map(|reason| reason_text(*reason));
        rows.push(json!({
            "id": head.id,
            "name": head.name,
            "content": content,
            "tags": head.tags,
            "relevance": near.relevance,
            "updated_at": head.last_refreshed_at.map(to_rfc3339),
            "is_stale": near.freshness.is_stale,
            "needs_refresh": near.freshness.needs_refresh,
            "staleness_reason": why,
            "truncated": content.len() < whole.len(),
        }));
        let shown = BasedOnModel {
            id: head.id.to_string(),
            text: content.to_owned(),
            context: None,
            name: head.name.clone(),
            is_stale: Some(near.freshness.is_stale),
        };
        models.push((shown, near.freshness.needs_refresh));
    }
    Output {
        count: count(rows.len()),
        result: told_of(
            json!({ "query": query, "count": rows.len() }),
            [("mental_models", rows.into())],
        ),
        models,
        ..Output::default()
    }
}

fn reason_text(reason: RefreshReason) -> &'static str {
    match reason {
        RefreshReason::NeverRefreshed => "It was never built from memories.",
        RefreshReason::ScopeChanged => "Memories in its scope are newer than its last refresh.",
        RefreshReason::GroundingRetracted => "A memory that it rests on was withdrawn.",
        RefreshReason::QueryChanged => "Its question was changed since its last refresh.",
        RefreshReason::CarryOver => "Facts wait to be worked in.",
    }
}

/// A found memory as a tool shows it: what is empty is left out.
pub(super) fn row(hit: &SearchHit) -> Value {
    let mut row = told(&hit.memory, &hit.entities);
    if !hit.sources.is_empty() {
        row.insert("source_fact_ids".to_owned(), json!(hit.sources));
    }
    Value::Object(row)
}

/// What a memory says, without what it rests on.
pub(super) fn told(memory: &Memory, entities: &[String]) -> Map<String, Value> {
    let mut row = Map::new();
    row.insert("id".to_owned(), json!(memory.id));
    row.insert("text".to_owned(), json!(memory.text));
    row.insert("fact_type".to_owned(), json!(memory.fact_type));
    let mut put = |key: &str, value: Value| {
        row.insert(key.to_owned(), value);
    };
    if !entities.is_empty() {
        put("entities", json!(entities));
    }
    if let Some(context) = memory.context.as_deref().filter(|context| !context.is_empty()) {
        put("context", json!(context));
    }
    for (key, at) in [
        ("occurred_start", memory.occurred_start),
        ("occurred_end", memory.occurred_end),
        ("mentioned_at", memory.mentioned_at),
    ] {
        if let Some(at) = at {
            put(key, json!(to_rfc3339(at)));
        }
    }
    if !memory.tags.is_empty() {
        put("tags", json!(memory.tags));
    }
    row
}

/// A memory as an answer may rest on it.
pub(super) fn based_on(memory: &Memory) -> BasedOnMemory {
    BasedOnMemory {
        id: memory.id.to_string(),
        text: memory.text.clone(),
        fact_type: memory.fact_type,
        context: memory.context.clone(),
        occurred_start: memory.occurred_start,
        occurred_end: memory.occurred_end,
    }
}

/// The name of a passage: its document and its place there.
pub(super) fn chunk_key(document: &str, index: impl std::fmt::Display) -> String {
    format!("{document}_{index}")
}

/// A length for a record.
pub(super) fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// The fields of an object; none for anything else.
pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// A result with its rows, which `json!` would copy one by one.
fn told_of<const N: usize>(head: Value, rows: [(&str, Value); N]) -> Map<String, Value> {
    let mut result = object(head);
    result.extend(rows.map(|(key, value)| (key.to_owned(), value)));
    result
}

/// A time to the minute, as the language model sees it.
pub(super) fn minute(at: Instant) -> String {
    at.format("%Y-%m-%dT%H:%MZ").to_string()
}
