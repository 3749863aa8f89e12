//! Storing a memory.

use std::collections::{BTreeMap, BTreeSet};

use domain::time::to_millis;
use domain::{CacheTag, FactType, Instant, MemoryId};
use rusqlite::params;
use serde_json::Value;

use super::index::{self, Indexed};
use super::{Origin, counter};
use crate::error::Result;
use crate::keys::{BankKey, ChunkKey, DocumentKey, EntityKey, MemoryKey};
use crate::tx::WriteTx;
use crate::{entities, row, tag_sets, tombstones};

/// A memory to store. `Default`-free on purpose: every field is a decision.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMemory {
    /// Its id.
    pub id: MemoryId,
    /// Its type.
    pub fact_type: FactType,
    /// The statement.
    pub text: String,
    /// A short label of where it was said.
    pub context: Option<String>,
    /// The statement's pieces, where extraction gave them apart.
    pub parts: Option<Value>,
    /// A map of strings from its document or its author.
    pub metadata: BTreeMap<String, String>,
    /// Its tags, normalised.
    pub tags: BTreeSet<String>,
    /// Its document.
    pub document: Option<DocumentKey>,
    /// Its chunk.
    pub chunk: Option<ChunkKey>,
    /// Where it comes from.
    pub origin: Origin,
    /// When the told event began.
    pub occurred_start: Option<Instant>,
    /// When the told event ended.
    pub occurred_end: Option<Instant>,
    /// When the source says it.
    pub mentioned_at: Option<Instant>,
    /// Added to the time it is ordered by, in milliseconds, so that facts of one text with equal
    /// dates keep their order.
    pub order_ms: i64,
    /// When it was stored, if that is not now (imports).
    pub created_at: Option<Instant>,
    /// The scopes its observations belong in, as given.
    pub scopes: Option<Value>,
    /// When it was folded, if it comes with that state (imports).
    pub consolidated_at: Option<Instant>,
    /// The entities it mentions. Observations have none of their own.
    pub entities: Vec<EntityKey>,
    /// For an observation, the facts it was folded from.
    pub sources: Vec<MemoryKey>,
    /// Its vector, of the bank's embedder.
    pub vector: Option<Vec<f32>>,
}

impl NewMemory {
    /// A plain fact with nothing but its text; the rest is filled in by struct update.
    #[must_use]
    pub fn fact(
        id: MemoryId,
        fact_type: FactType,
        text: impl Into<String>,
        origin: Origin,
    ) -> Self {
        Self {
            id,
            fact_type,
            text: text.into(),
            context: None,
            parts: None,
            metadata: BTreeMap::new(),
            tags: BTreeSet::new(),
            document: None,
            chunk: None,
            origin,
            occurred_start: None,
            occurred_end: None,
            mentioned_at: None,
            order_ms: 0,
            created_at: None,
            scopes: None,
            consolidated_at: None,
            entities: Vec::new(),
            sources: Vec::new(),
            vector: None,
        }
    }
}

/// Stores a memory with its search rows, entities and vector; gives its key. Takes the next number
/// of its bank. An id that was used before and deleted loses its tombstone.
///
/// # Errors
/// `DimensionMismatch`; a vector without an embedder is ignored.
pub fn insert(tx: &WriteTx<'_>, bank: BankKey, new: &NewMemory, now: Instant) -> Result<MemoryKey> {
    let stamp = tx.stamp(bank, now)?;
    let created = new.created_at.unwrap_or(stamp);
    let event = to_millis(new.occurred_start.or(new.mentioned_at).unwrap_or(created));
    let seq = tx.next_seq(bank)?;
    let key = MemoryKey(tx.insert(
        include_str!("../../sql/memory_insert.sql"),
        params![
            new.id.0,
            bank,
            new.fact_type.code(),
            new.text,
            new.context,
            row::text_opt(new.parts.as_ref())?,
            row::text(&new.metadata)?,
            tag_sets::intern(tx, bank, &new.tags)?,
            new.document,
            new.chunk,
            new.origin.code(),
            row::ms(new.occurred_start),
            row::ms(new.occurred_end),
            row::ms(new.mentioned_at),
            event + new.order_ms,
            to_millis(created),
            to_millis(stamp),
            row::text_opt(new.scopes.as_ref())?,
            row::ms(new.consolidated_at),
            seq,
        ],
    )?);
    tombstones::clear(tx, bank, &new.id.0)?;
    entities::attach(
        tx,
        key,
        &new.entities,
        new.occurred_start.or(new.mentioned_at).unwrap_or(created),
    )?;
    super::observe::add_sources(tx, key, &new.sources)?;
    index::put_text(
        tx,
        &Indexed {
            key,
            text: &new.text,
            context: new.context.as_deref(),
            occurred: [new.occurred_start, new.occurred_end],
        },
    )?;
    if let Some(vector) = &new.vector
        && let Some(embedder) = index::embedder_of(tx, bank)?
    {
        index::write_vector(tx, &embedder, bank, key, new.fact_type, vector)?;
    }
    tx.count(bank, counter(new.fact_type), 1)?;
    tx.changed(bank, CacheTag::Memories, Some(&new.id.0))?;
    Ok(key)
}
