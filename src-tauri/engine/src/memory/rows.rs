//! Memories and documents as screens show them, from the rows of the file. Looks things up for many
//! rows at once.

use super::search::names;
use crate::view::memory::{ChunkView, DocumentRef, MemoryRow, MemoryState};
use domain::{ChunkId, DocumentId, FactType};
use std::collections::BTreeSet;
use store::memories::{self, Memory, State};
use store::{MemoryKey, ReadTx};

/// One memory with the names of its entities.
pub(crate) fn row_of(memory: &Memory, entities: Vec<String>) -> MemoryRow {
    let is_observation = memory.fact_type == FactType::Observation;
    MemoryRow {
        id: memory.id.clone(),
        fact_type: memory.fact_type,
        text: memory.text.clone(),
        context: memory.context.clone(),
        entities,
        tags: memory.tags.iter().cloned().collect(),
        occurred_start: memory.occurred_start,
        occurred_end: memory.occurred_end,
        mentioned_at: memory.mentioned_at,
        created_at: memory.created_at,
        updated_at: memory.updated_at,
        proof_count: is_observation.then_some(memory.proof_count),
        state: match memory.state {
            State::Valid => MemoryState::Valid,
            State::Invalidated => MemoryState::Invalidated,
        },
        edited: memory.edited_at.is_some(),
        pending_consolidation: !is_observation
            && memory.state == State::Valid
            && memory.consolidated_at.is_none()
            && memory.consolidation_failed_at.is_none(),
        document: memory.document_id.clone().map(|id| DocumentRef {
            title: memory.document_title.clone().unwrap_or_else(|| id.0.clone()),
            id,
        }),
    }
}

/// Rows of many memories, in their order; an observation shows the entities of its sources.
pub(crate) fn rows_of(tx: &ReadTx<'_>, list: &[Memory]) -> store::Result<Vec<MemoryRow>> {
    let observations: Vec<MemoryKey> = list
        .iter()
        .filter(|memory| memory.fact_type == FactType::Observation)
        .map(|memory| memory.key)
        .collect();
    let sources = memories::sources(tx, &observations)?;
    let mut names = names(tx, list.iter().map(|memory| memory.key), &sources)?;
    Ok(list
        .iter()
        .map(|memory| row_of(memory, names.remove(&memory.key).unwrap_or_default()))
        .collect())
}

/// The rows of the memories with these keys, each once, in the order of the keys.
pub(crate) fn rows_of_keys(
    tx: &ReadTx<'_>,
    keys: impl IntoIterator<Item = MemoryKey>,
) -> store::Result<Vec<MemoryRow>> {
    let mut seen = BTreeSet::new();
    let keys: Vec<MemoryKey> = keys.into_iter().filter(|key| seen.insert(*key)).collect();
    rows_of(tx, &memories::by_keys(tx, &keys)?)
}

/// The id of a chunk: its document's id and its number.
pub(crate) fn chunk_id(document: &DocumentId, index: u32) -> ChunkId {
    ChunkId(format!("{document}#{index}"))
}

/// The passage that a memory was read from.
pub(crate) fn passage(tx: &ReadTx<'_>, memory: &Memory) -> store::Result<Option<ChunkView>> {
    let (Some(key), Some(document)) = (memory.chunk, &memory.document_id) else {
        return Ok(None);
    };
    let chunk = store::chunks::by_key(tx, key)?;
    Ok(Some(ChunkView {
        id: chunk_id(document, chunk.index),
        index: chunk.index,
        text: chunk.text,
    }))
}
