//! Chunks: the slices of a document that are read one at a time. Which chunks of a new text match
//! stored ones is decided elsewhere.

use domain::CacheTag;
use rusqlite::Row;

use crate::error::{Error, Result, Thing};
use crate::keys::{BankKey, ChunkKey, DocumentKey};
use crate::row;
use crate::tx::{ReadTx, WriteTx};

/// How far the reading of a chunk has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExtractState {
    /// Not read yet.
    Todo,
    /// Read; its facts are stored.
    Done,
    /// Could not be read.
    Failed,
}

impl ExtractState {
    fn code(self) -> i64 {
        match self {
            Self::Todo => 0,
            Self::Done => 1,
            Self::Failed => 2,
        }
    }

    fn from_code(code: i64) -> Self {
        match code {
            1 => Self::Done,
            2 => Self::Failed,
            _ => Self::Todo,
        }
    }
}

/// A chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Its key.
    pub key: ChunkKey,
    /// Its document.
    pub document: DocumentKey,
    /// Its number in the document, from 0.
    pub index: u32,
    /// Its text.
    pub text: String,
    /// SHA-256 of its text.
    pub hash: Vec<u8>,
    /// Where it begins in the document, in Unicode scalar values.
    pub char_start: u32,
    /// Where it ends.
    pub char_end: u32,
    /// How far its reading has come.
    pub state: ExtractState,
    /// Why it could not be read.
    pub error: Option<String>,
}

/// A chunk to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewChunk {
    /// Its number in the document, from 0.
    pub index: u32,
    /// Its text.
    pub text: String,
    /// SHA-256 of its text.
    pub hash: Vec<u8>,
    /// Where it begins in the document, in Unicode scalar values.
    pub char_start: u32,
    /// Where it ends.
    pub char_end: u32,
}

const COLUMNS: &str =
    "id, document_id, idx, text, hash, char_start, char_end, extract_state, error";

fn read(r: &Row<'_>) -> rusqlite::Result<Chunk> {
    Ok(Chunk {
        key: r.get(0)?,
        document: r.get(1)?,
        index: row::count(r, 2)?,
        text: r.get(3)?,
        hash: r.get(4)?,
        char_start: row::count(r, 5)?,
        char_end: row::count(r, 6)?,
        state: ExtractState::from_code(r.get(7)?),
        error: r.get(8)?,
    })
}

/// The chunks of a document, in order.
pub fn list(tx: &ReadTx<'_>, document: DocumentKey) -> Result<Vec<Chunk>> {
    tx.list(
        &format!("SELECT {COLUMNS} FROM chunk WHERE document_id = ?1 ORDER BY idx"),
        [document],
        read,
    )
}

/// A chunk by its key.
///
/// # Errors
/// `NotFound`.
pub fn by_key(tx: &ReadTx<'_>, key: ChunkKey) -> Result<Chunk> {
    tx.find(&format!("SELECT {COLUMNS} FROM chunk WHERE id = ?1"), [key], read)?
        .ok_or_else(|| Error::not_found(Thing::Chunk, key.0.to_string()))
}

/// Several chunks at once, in no particular order.
pub fn by_keys(tx: &ReadTx<'_>, keys: &[ChunkKey]) -> Result<Vec<Chunk>> {
    tx.list(
        &format!("SELECT {COLUMNS} FROM chunk WHERE id IN (SELECT value FROM json_each(?1))"),
        [row::id_list(keys.iter().map(|k| k.0))],
        read,
    )
}

/// Stores a new chunk, not read yet.
pub fn insert(tx: &WriteTx<'_>, document: DocumentKey, new: &NewChunk) -> Result<ChunkKey> {
    Ok(ChunkKey(tx.insert(
        "INSERT INTO chunk (document_id, idx, text, hash, char_start, char_end)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        (document, new.index, &new.text, &new.hash, new.char_start, new.char_end),
    )?))
}

/// Gives kept chunks their new numbers and places, all at once: pairs of a key and
/// (number, start, end).
pub fn renumber(
    tx: &WriteTx<'_>,
    document: DocumentKey,
    kept: &[(ChunkKey, u32, u32, u32)],
) -> Result<()> {
    // Numbers are unique, so they are moved out of the way first.
    tx.run("UPDATE chunk SET idx = -1 - id WHERE document_id = ?1", [document])?;
    for (key, index, start, end) in kept {
        tx.run(
            "UPDATE chunk SET idx = ?2, char_start = ?3, char_end = ?4 WHERE id = ?1",
            (key, index, start, end),
        )?;
    }
    Ok(())
}

/// Notes how the reading of a chunk ended.
pub fn set_state(
    tx: &WriteTx<'_>,
    bank: BankKey,
    key: ChunkKey,
    state: ExtractState,
    error: Option<&str>,
) -> Result<()> {
    tx.run(
        "UPDATE chunk SET extract_state = ?2, error = ?3 WHERE id = ?1",
        (key, state.code(), error),
    )?;
    tx.changed(bank, CacheTag::Documents, None)
}

/// Removes a chunk whose facts were removed before.
pub fn delete(tx: &WriteTx<'_>, key: ChunkKey) -> Result<()> {
    tx.run("DELETE FROM chunk WHERE id = ?1", [key])?;
    Ok(())
}
