//! Found memories and models as texts to take statements from: which of them are passages to be cut,
//! and which headings stand above a passage that begins in the middle of its document.

use super::statements::headings_after;
use super::{Material, Source, SourceKind};
use crate::memory::search::SearchHit;
use crate::{Engine, Result};
use domain::citations::BasedOnModel;
use std::collections::HashMap;
use store::chunks::Chunk;
use store::memories::Memory;
use store::search::vector;
use store::{ChunkKey, DocumentKey, ReadTx};

/// Texts of found memories, in order, with the stored vectors of those that are one statement.
///
/// # Errors
/// The file's.
pub(crate) async fn of_hits(engine: &Engine, hits: &[SearchHit]) -> Result<Vec<Material>> {
    let rows: Vec<(Memory, Vec<String>)> =
        hits.iter().map(|hit| (hit.memory.clone(), hit.entities.clone())).collect();
    of_memories(engine, rows).await
}

/// The same for memories that were not searched for, each with the names of its entities.
///
/// # Errors
/// The file's.
pub(crate) async fn of_memories(
    engine: &Engine,
    rows: Vec<(Memory, Vec<String>)>,
) -> Result<Vec<Material>> {
    let embedder = engine.inner.embedder_key;
    engine
        .store()
        .read_as(move |tx| {
            let embedder = store::embedders::get(tx, embedder)?;
            let passages = Passages::read(tx, rows.iter().map(|(memory, _)| memory))?;
            let whole: Vec<_> = rows
                .iter()
                .filter(|(memory, _)| passages.headings(memory).is_none())
                .map(|(memory, _)| memory.key)
                .collect();
            let mut vectors = vector::stored(tx, &embedder, &whole)?;
            Ok(rows
                .into_iter()
                .map(|(memory, entities)| Material {
                    vector: vectors.remove(&memory.key),
                    source: source(&memory, entities, passages.headings(&memory)),
                })
                .collect())
        })
        .await
}

/// Documents of models as texts to cut.
pub(crate) fn of_models<'a>(models: impl IntoIterator<Item = &'a BasedOnModel>) -> Vec<Material> {
    models
        .into_iter()
        .map(|model| Material {
            vector: None,
            source: Source {
                id: model.id.clone(),
                kind: SourceKind::Model,
                text: model.text.clone(),
                context: Some(model.name.clone()),
                headings: Vec::new(),
                entities: Vec::new(),
                occurred_start: None,
                occurred_end: None,
                mentioned_at: None,
                passage: true,
            },
        })
        .collect()
}

fn source(memory: &Memory, entities: Vec<String>, headings: Option<Vec<String>>) -> Source {
    let label = memory.context.clone().filter(|label| !label.trim().is_empty());
    let title = memory.document_title.clone().filter(|title| !title.trim().is_empty());
    let passage = headings.is_some();
    Source {
        id: memory.id.to_string(),
        kind: SourceKind::Memory(memory.fact_type),
        text: memory.text.clone(),
        // A statement of its own needs no title of a file to be understood.
        context: if passage { title.or(label) } else { label },
        headings: headings.unwrap_or_default(),
        entities,
        occurred_start: memory.occurred_start,
        occurred_end: memory.occurred_end,
        mentioned_at: memory.mentioned_at,
        passage,
    }
}

/// Which memories are a whole passage of their document, and the headings above each.
struct Passages {
    chunks: HashMap<ChunkKey, (Chunk, Vec<String>)>,
}

impl Passages {
    fn read<'a>(
        tx: &ReadTx<'_>,
        memories: impl Iterator<Item = &'a Memory>,
    ) -> store::Result<Self> {
        let mut documents: Vec<DocumentKey> = memories
            .filter(|memory| memory.chunk.is_some())
            .filter_map(|memory| memory.document)
            .collect();
        documents.sort_unstable();
        documents.dedup();
        let mut chunks = HashMap::new();
        for document in documents {
            let mut headings: Vec<String> = Vec::new();
            for chunk in store::chunks::list(tx, document)? {
                let after = headings_after(&headings, &chunk.text);
                let above = std::mem::replace(&mut headings, after);
                chunks.insert(chunk.key, (chunk, above));
            }
        }
        Ok(Self { chunks })
    }

    // The headings above a memory that is its passage word for word; none for a statement.
    fn headings(&self, memory: &Memory) -> Option<Vec<String>> {
        let (chunk, above) = self.chunks.get(&memory.chunk?)?;
        (chunk.text.trim() == memory.text.trim()).then(|| above.clone())
    }
}
