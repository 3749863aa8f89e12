//! Documents without a language model: statements of the bank laid out in sections, and operations
//! that keep such a document in step with new statements. Deterministic for equal data; the choice
//! of statements is the one that answers use.

mod delta;
mod layout;

pub(super) use delta::draft as delta;

use super::refresh::drafted::{Drafted, cite};
use super::refresh::plan::Plan;
use crate::memory::search::{SearchHit, SearchRequest, search};
use crate::reflect::extractive::{
    Material, Selection, Source, SourceKind, Statement, select, words,
};
use crate::{Engine, Result};
use domain::delta::keep_locked;
use domain::document::{DraftBlock, DraftSection, LineEnd, assemble, reconcile};
use domain::reflect::Budget;
use domain::trace::ExtractiveState;
use domain::{BankId, FactType};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use store::MemoryKey;
use store::memories::{Memory, Origin};
use tokio_util::sync::CancellationToken;

/// Statements that a document holds at most; its token budget is the usual bound.
const MOST_STATEMENTS: usize = 48;
/// Memories that are looked at for a document.
const LOOKED_AT: usize = 200;

/// Rebuilds a document from the statements that bear on its question.
pub(super) async fn full(
    engine: &Engine,
    bank: &BankId,
    plan: &Plan,
    cancel: &CancellationToken,
) -> Result<Drafted> {
    let head = &plan.model.row.head;
    let hits = found(engine, bank, plan, None, cancel).await?;
    let memories: Vec<Memory> = hits.iter().map(|hit| hit.memory.clone()).collect();
    let names = names_of(&hits);
    let material = material(engine, &memories, &names).await?;
    let selection =
        select(engine, &head.source_query, material, MOST_STATEMENTS, head.max_tokens, cancel)
            .await?;
    let mut drafted = Drafted::nothing(plan.model.document.clone(), true);
    count_types(&mut drafted, &memories);
    drafted.trace = trace(&head.source_query, memories.len(), &selection);
    let statements = relevant(&selection, &head.source_query);
    if statements.is_empty() {
        return Ok(drafted);
    }
    let sections = layout::sections(&statements, &head.name);
    let drafts: Vec<DraftSection> = sections
        .iter()
        .map(|section| DraftSection {
            heading: section.heading.clone(),
            level: 2,
            blocks: section
                .statements
                .iter()
                .map(|statement| DraftBlock {
                    text: layout::block_text(&statement.shown),
                    evidence: statement.sources.clone(),
                })
                .collect(),
        })
        .collect();
    let assembled = assemble(&drafts, LineEnd::Lf);
    let by_place: HashMap<String, Vec<String>> = assembled.evidence.into_iter().collect();
    let fresh: Vec<String> = assembled.document.blocks().map(|block| block.id.clone()).collect();
    let document = reconcile(&plan.model.document, assembled.document);
    drafted.block_evidence = fresh
        .iter()
        .zip(document.blocks())
        .filter_map(|(fresh, block)| Some((block.id.clone(), by_place.get(fresh)?.clone())))
        .collect();
    drafted.document = keep_locked(&plan.model.document, &document, &plan.locks);
    drafted.text = drafted.document.render();
    let used = statements.iter().flat_map(|statement| &statement.sources);
    drafted.used = cited(&memories, used);
    Ok(drafted)
}

/// Memories of the model's scope that bear on its question, best first.
async fn found(
    engine: &Engine,
    bank: &BankId,
    plan: &Plan,
    after_seq: Option<i64>,
    cancel: &CancellationToken,
) -> Result<Vec<SearchHit>> {
    let request = SearchRequest {
        after_seq,
        cutoff_seq: Some(plan.cutoff_seq),
        max_tokens: None,
        limit: Some(LOOKED_AT),
        ..SearchRequest::new(bank.clone(), &plan.model.row.head.source_query, Budget::Mid)
    };
    Ok(search(engine, request.within(&plan.model.scope), cancel).await?.hits)
}

/// Names of entities by memory.
fn names_of(hits: &[SearchHit]) -> HashMap<String, Vec<String>> {
    hits.iter().map(|hit| (hit.memory.id.0.clone(), hit.entities.clone())).collect()
}

/// Memories as material for a choice of statements, with their stored vectors.
async fn material(
    engine: &Engine,
    memories: &[Memory],
    names: &HashMap<String, Vec<String>>,
) -> Result<Vec<Material>> {
    let vectors = stored_vectors(engine, memories).await?;
    let material = memories.iter().map(|memory| Material {
        vector: vectors.get(&memory.key).cloned(),
        source: source(memory, names.get(memory.id.as_str()).cloned().unwrap_or_default()),
    });
    Ok(material.collect())
}

/// The statements that a document takes from a choice. Where the choice as a whole is too unsure,
/// those are taken that hold half of the question's words: in a bank, or a scope, that speaks of
/// one thing, that thing's own words are so common that they carry no weight.
fn relevant(selection: &Selection, question: &str) -> Vec<Statement> {
    if selection.state != ExtractiveState::Nothing {
        return selection.statements.clone();
    }
    let wanted: BTreeSet<String> = words::stems(question).into_iter().collect();
    let holds_half = |statement: &&Statement| {
        let stems: BTreeSet<String> = words::stems(&statement.text).into_iter().collect();
        !wanted.is_empty() && wanted.intersection(&stems).count() * 2 >= wanted.len()
    };
    selection.statements.iter().filter(holds_half).cloned().collect()
}

/// The vectors of memories as they are stored.
async fn stored_vectors(
    engine: &Engine,
    memories: &[Memory],
) -> Result<HashMap<MemoryKey, Vec<f32>>> {
    let keys: Vec<MemoryKey> = memories.iter().map(|memory| memory.key).collect();
    let embedder = engine.inner.embedder_key;
    let vectors = engine
        .store()
        .read(move |tx| {
            let embedder = store::embedders::get(tx, embedder)?;
            store::search::vector::stored(tx, &embedder, &keys)
        })
        .await?;
    Ok(vectors)
}

fn source(memory: &Memory, entities: Vec<String>) -> Source {
    Source {
        id: memory.id.0.clone(),
        kind: SourceKind::Memory(memory.fact_type),
        text: memory.text.clone(),
        context: memory.document_title.clone().or_else(|| memory.context.clone()),
        headings: Vec::new(),
        entities,
        occurred_start: memory.occurred_start,
        occurred_end: memory.occurred_end,
        mentioned_at: memory.mentioned_at,
        passage: is_passage(memory),
    }
}

/// Whether a memory is a stretch of a document kept as it is, and not one statement.
fn is_passage(memory: &Memory) -> bool {
    memory.chunk.is_some()
        && memory.origin == Origin::Extracted
        && memory.fact_type != FactType::Observation
        && memory.text.chars().count() > 240
}

/// Memories as evidence, in the order in which they are named, each once.
fn cited<'a>(
    memories: &[Memory],
    ids: impl Iterator<Item = &'a String>,
) -> Vec<domain::model::Citation> {
    let by_id: HashMap<&str, &Memory> =
        memories.iter().map(|memory| (memory.id.as_str(), memory)).collect();
    let mut seen = std::collections::HashSet::new();
    ids.filter(|id| seen.insert((*id).clone()))
        .filter_map(|id| by_id.get(id.as_str()).map(|memory| cite(memory)))
        .collect()
}

fn count_types(drafted: &mut Drafted, memories: &[Memory]) {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for memory in memories {
        *counts.entry(memory.fact_type.word().to_owned()).or_default() += 1;
    }
    drafted.retrieved = counts;
}

/// The record of what was looked at.
fn trace(query: &str, read: usize, selection: &Selection) -> serde_json::Value {
    json!({
        "tool_calls": [{
            "tool": "recall",
            "reason": null,
            "input": { "query": query },
            "result_count": read,
            "duration_ms": 0,
            "iteration": 1,
            "status": "ok",
            "initiated_by": "engine",
        }],
        "llm_calls": [],
        "extractive": {
            "state": selection.state,
            "confidence": selection.confidence,
            "statements": selection.statements.len(),
            "more": selection.more,
        },
    })
}
