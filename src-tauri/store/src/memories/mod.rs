//! Memories: the stored statements, and everything that must move with one when it is written,
//! corrected or taken away: sequence numbers, tombstones, counters, search rows, vectors, entities,
//! links, observations. Full-text rows and vectors are kept in step here, not by triggers, because
//! both need values that only Rust can compute.

mod curate;
mod folding;
pub(crate) mod index;
mod list;
mod observe;
mod remove;
mod write;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::tokens::{Cl100k, TokenCounter as _};
use domain::{DocumentId, FactType, Instant, MemoryId};
use rusqlite::Row;
use serde_json::Value;

pub use curate::{Edit, Restored, edit, invalidate, restore};
pub use folding::{
    Unfold, mark_consolidated, mark_failed, pending_keys, requeue, retry_failed, saying_the_same,
    sweep_observations, to_review, unfold, unmarked,
};
pub use index::{IndexFaults, missing_vectors, put_vector, rebuild_text, vector_count, verify};
pub use list::{Consolidation, Filter, ListCursor, Page, Sort, count, list};
pub use observe::{
    ObservationChange, ObservationHistory, absorb, drop_superseded, keep_as_reviewed,
    observation_history, observations_of, sources, update_observation,
};
pub use remove::{Reach, Removed, reach, remove};
pub use write::{NewMemory, insert};

use crate::error::{Error, Result, Thing};
use crate::keys::{BankKey, ChunkKey, DocumentKey, MemoryKey, TagSetKey};
use crate::row;
use crate::tx::ReadTx;

/// Whether a memory is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// In use.
    Valid,
    /// Taken out of use; still shown where it is cited.
    Invalidated,
}

/// Where a memory comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Read out of a text.
    Extracted,
    /// Typed by a person.
    Manual,
    /// Imported as it is.
    Imported,
    /// Folded from facts.
    Folded,
}

impl Origin {
    const ALL: [Self; 4] = [Self::Extracted, Self::Manual, Self::Imported, Self::Folded];

    pub(crate) fn code(self) -> i64 {
        match self {
            Self::Extracted => 0,
            Self::Manual => 1,
            Self::Imported => 2,
            Self::Folded => 3,
        }
    }
}

/// A memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// Its key.
    pub key: MemoryKey,
    /// Its id.
    pub id: MemoryId,
    /// Its bank.
    pub bank: BankKey,
    /// Its type.
    pub fact_type: FactType,
    /// Whether it is in use.
    pub state: State,
    /// The statement.
    pub text: String,
    /// A short label of where it was said.
    pub context: Option<String>,
    /// The statement's pieces, where extraction gave them apart.
    pub parts: Option<Value>,
    /// A map of strings from its document or its author.
    pub metadata: BTreeMap<String, String>,
    /// The interned set of its tags.
    pub tag_set: TagSetKey,
    /// Its tags.
    pub tags: BTreeSet<String>,
    /// Its document's key.
    pub document: Option<DocumentKey>,
    /// Its document's id.
    pub document_id: Option<DocumentId>,
    /// Its document's title.
    pub document_title: Option<String>,
    /// Its chunk.
    pub chunk: Option<ChunkKey>,
    /// The number of its chunk in the document.
    pub chunk_index: Option<u32>,
    /// Where it comes from.
    pub origin: Origin,
    /// When the told event began.
    pub occurred_start: Option<Instant>,
    /// When the told event ended.
    pub occurred_end: Option<Instant>,
    /// When the source says it.
    pub mentioned_at: Option<Instant>,
    /// The time it is ordered by: the event's, else the telling's, else the storing's.
    pub event_at: Instant,
    /// When it was stored.
    pub created_at: Instant,
    /// When its content last changed.
    pub updated_at: Instant,
    /// When a person last edited it.
    pub edited_at: Option<Instant>,
    /// When it was taken out of use.
    pub invalidated_at: Option<Instant>,
    /// Why it was taken out of use.
    pub invalidation_reason: Option<String>,
    /// For an observation, how many valid facts it was folded from.
    pub proof_count: u32,
    /// The scopes its observations belong in, as given.
    pub scopes: Option<Value>,
    /// When it was folded into observations.
    pub consolidated_at: Option<Instant>,
    /// When folding it failed for good.
    pub consolidation_failed_at: Option<Instant>,
    /// Why folding it failed.
    pub consolidation_error: Option<String>,
    /// For an observation, whether it lost a source and waits to be rewritten from the others.
    pub needs_review: bool,
    /// Its number in the order of its bank's writes.
    pub change_seq: i64,
    /// Tokens of its text.
    pub tokens: u32,
}

const SELECT: &str = "SELECT m.id, m.uid, m.bank_id, m.fact_type, m.state, m.text, m.context, \
    m.parts, m.metadata, m.tag_set_id, s.canon, m.document_id, d.doc_uid, d.title, m.chunk_id, \
    c.idx, m.origin, m.occurred_start, m.occurred_end, m.mentioned_at, m.event_at, m.created_at, \
    m.updated_at, m.edited_at, m.invalidated_at, m.invalidation_reason, m.proof_count, m.scopes, \
    m.consolidated_at, m.consolidation_failed_at, m.consolidation_error, m.change_seq, \
    m.needs_review, m.token_count";

const JOINS: &str = "JOIN tag_set s ON s.id = m.tag_set_id \
    LEFT JOIN document d ON d.id = m.document_id \
    LEFT JOIN chunk c ON c.id = m.chunk_id";

fn read(r: &Row<'_>) -> rusqlite::Result<Memory> {
    let text: String = r.get(5)?;
    let tokens: Option<u32> = r.get(33)?;
    Ok(Memory {
        tokens: tokens.unwrap_or_else(|| Cl100k.count(&text)),
        key: r.get(0)?,
        id: MemoryId(r.get(1)?),
        bank: r.get(2)?,
        fact_type: fact_type(r, 3)?,
        state: state(r, 4)?,
        text,
        context: r.get(6)?,
        parts: row::json_opt(r, 7)?,
        metadata: row::parsed(r, 8)?,
        tag_set: r.get(9)?,
        tags: row::parsed(r, 10)?,
        document: r.get(11)?,
        document_id: r.get::<_, Option<String>>(12)?.map(DocumentId),
        document_title: r.get(13)?,
        chunk: r.get(14)?,
        chunk_index: r.get::<_, Option<i64>>(15)?.and_then(|n| u32::try_from(n).ok()),
        origin: origin(r, 16)?,
        occurred_start: row::at_opt(r, 17)?,
        occurred_end: row::at_opt(r, 18)?,
        mentioned_at: row::at_opt(r, 19)?,
        event_at: row::at(r, 20)?,
        created_at: row::at(r, 21)?,
        updated_at: row::at(r, 22)?,
        edited_at: row::at_opt(r, 23)?,
        invalidated_at: row::at_opt(r, 24)?,
        invalidation_reason: r.get(25)?,
        proof_count: row::count(r, 26)?,
        scopes: row::json_opt(r, 27)?,
        consolidated_at: row::at_opt(r, 28)?,
        consolidation_failed_at: row::at_opt(r, 29)?,
        consolidation_error: r.get(30)?,
        change_seq: r.get(31)?,
        needs_review: r.get(32)?,
    })
}

/// The type in a column; the table's check admits no other number.
pub(crate) fn fact_type(r: &Row<'_>, column: usize) -> rusqlite::Result<FactType> {
    let code = r.get(column)?;
    FactType::from_code(code).ok_or(rusqlite::Error::IntegralValueOutOfRange(column, code))
}

fn origin(r: &Row<'_>, column: usize) -> rusqlite::Result<Origin> {
    let code = r.get(column)?;
    Origin::ALL
        .into_iter()
        .find(|o| o.code() == code)
        .ok_or(rusqlite::Error::IntegralValueOutOfRange(column, code))
}

/// The bank counter that counts valid memories of a type.
pub(crate) fn counter(fact_type: FactType) -> &'static str {
    fact_type.word()
}

/// The bank counter that counts memories out of use.
pub(crate) const INVALIDATED: &str = "invalidated";

/// A memory by its id, in use or not.
///
/// # Errors
/// `NotFound`.
pub fn get(tx: &ReadTx<'_>, bank: BankKey, id: &MemoryId) -> Result<Memory> {
    find(tx, bank, id)?.ok_or_else(|| Error::not_found(Thing::Memory, &id.0))
}

/// A memory by its id, in use or not, if it is there.
pub fn find(tx: &ReadTx<'_>, bank: BankKey, id: &MemoryId) -> Result<Option<Memory>> {
    tx.find(
        &format!("{SELECT} FROM memory m {JOINS} WHERE m.uid = ?1 AND m.bank_id = ?2"),
        (&id.0, bank),
        read,
    )
}

/// Those of some memories that are in the file, in the order of `keys`.
pub fn by_keys(tx: &ReadTx<'_>, keys: &[MemoryKey]) -> Result<Vec<Memory>> {
    let rows = tx.list(
        &format!("{SELECT} FROM json_each(?1) j CROSS JOIN memory m ON m.id = j.value {JOINS}"),
        [row::id_list(keys.iter().map(|k| k.0))],
        read,
    )?;
    let mut found: HashMap<MemoryKey, Memory> = rows.into_iter().map(|m| (m.key, m)).collect();
    Ok(keys.iter().filter_map(|key| found.remove(key)).collect())
}

/// Those of some memories that are in the file, in use or not, in the order of `ids`.
pub fn by_ids(tx: &ReadTx<'_>, bank: BankKey, ids: &[MemoryId]) -> Result<Vec<Memory>> {
    let rows = tx.list(
        &format!(
            "{SELECT} FROM json_each(?2) j CROSS JOIN memory m ON m.uid = j.value {JOINS}
             WHERE m.bank_id = ?1"
        ),
        (bank, row::text(ids)?),
        read,
    )?;
    let mut found: HashMap<String, Memory> =
        rows.into_iter().map(|m| (m.id.0.clone(), m)).collect();
    Ok(ids.iter().filter_map(|id| found.remove(&id.0)).collect())
}

/// The ids of those of some memories that are in the file.
pub fn ids(tx: &ReadTx<'_>, keys: &[MemoryKey]) -> Result<HashMap<MemoryKey, MemoryId>> {
    let rows = tx.list(
        "SELECT m.id, m.uid FROM json_each(?1) j CROSS JOIN memory m ON m.id = j.value",
        [row::id_list(keys.iter().map(|k| k.0))],
        |r| Ok((r.get(0)?, MemoryId(r.get(1)?))),
    )?;
    Ok(rows.into_iter().collect())
}

fn state(r: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<State> {
    Ok(if r.get::<_, i64>(column)? == 0 { State::Valid } else { State::Invalidated })
}

/// What those of some memories that are in the file say, and whether they are in use.
pub fn texts(
    tx: &ReadTx<'_>,
    bank: BankKey,
    ids: &[MemoryId],
) -> Result<HashMap<MemoryId, (State, String)>> {
    let rows = tx.list(
        "SELECT m.uid, m.state, m.text FROM json_each(?2) j CROSS JOIN memory m ON m.uid = j.value
         WHERE m.bank_id = ?1",
        (bank, row::text(ids)?),
        |r| Ok((MemoryId(r.get(0)?), (state(r, 1)?, r.get(2)?))),
    )?;
    Ok(rows.into_iter().collect())
}

/// The keys of some memories, in the order of `ids`; ids that are not in the file are left out.
pub fn keys(tx: &ReadTx<'_>, bank: BankKey, ids: &[MemoryId]) -> Result<Vec<MemoryKey>> {
    tx.list(
        "SELECT m.id FROM json_each(?2) j CROSS JOIN memory m ON m.uid = j.value
         WHERE m.bank_id = ?1 ORDER BY j.key",
        (bank, row::text(ids)?),
        |r| r.get(0),
    )
}

/// The memories of a document (or of one of its chunks), in use or not, in order.
pub fn of_document(
    tx: &ReadTx<'_>,
    document: DocumentKey,
    chunk: Option<ChunkKey>,
) -> Result<Vec<Memory>> {
    tx.list(
        &format!(
            "{SELECT} FROM memory m {JOINS}
             WHERE m.document_id = ?1 AND (?2 IS NULL OR m.chunk_id = ?2) ORDER BY c.idx, m.id"
        ),
        (document, chunk),
        read,
    )
}

/// An earlier state of an edited fact.
#[derive(Debug, Clone, PartialEq)]
pub struct Former {
    /// When it was replaced.
    pub changed_at: Instant,
    /// The fields as they were: `text`, `context`, `fact_type`, `tags`, dates, `entities`.
    pub prev: Value,
}

/// The earlier states of a fact, newest first.
pub fn history(tx: &ReadTx<'_>, key: MemoryKey) -> Result<Vec<Former>> {
    tx.list(
        "SELECT changed_at, prev FROM memory_history WHERE memory_id = ?1
         ORDER BY changed_at DESC, id DESC",
        [key],
        |r| Ok(Former { changed_at: row::at(r, 0)?, prev: row::json(r, 1)? }),
    )
}
