//! Embedders that have vectors in the file, and the vector tables of each. Which one answers is
//! said by the bank; how a vector is made is not known here.

use domain::Instant;
use domain::time::to_millis;
use rusqlite::Row;

use crate::error::{Error, Result, Thing};
use crate::keys::{EmbedderKey, EndpointKey};
use crate::row;
use crate::tx::{ReadTx, WriteTx};

/// An embedder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Embedder {
    /// Its key; names its tables.
    pub key: EmbedderKey,
    /// Its name, unique in the file.
    pub name: String,
    /// Length of its vectors.
    pub dim: usize,
    /// The endpoint that computes them, or none for a bundled one.
    pub endpoint: Option<EndpointKey>,
    /// Put before a query.
    pub prefix_query: String,
    /// Put before a stored text.
    pub prefix_passage: String,
    /// When it was first used.
    pub created_at: Instant,
}

impl EmbedderKey {
    /// The table of its memory vectors.
    pub(crate) fn memory_table(self) -> String {
        format!("vec_memory_{}", self.0)
    }

    /// The table of its mental-model vectors.
    pub(crate) fn model_table(self) -> String {
        format!("vec_model_{}", self.0)
    }
}

/// What a new embedder is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEmbedder<'a> {
    /// Its name, unique in the file.
    pub name: &'a str,
    /// Length of its vectors.
    pub dim: usize,
    /// The endpoint that computes them, or none for a bundled one.
    pub endpoint: Option<EndpointKey>,
    /// Put before a query.
    pub prefix_query: &'a str,
    /// Put before a stored text.
    pub prefix_passage: &'a str,
}

const COLUMNS: &str = "id, name, dim, endpoint_id, prefix_query, prefix_passage, created_at";

fn read(r: &Row<'_>) -> rusqlite::Result<Embedder> {
    Ok(Embedder {
        key: r.get(0)?,
        name: r.get(1)?,
        dim: usize::try_from(r.get::<_, i64>(2)?).unwrap_or(0),
        endpoint: r.get(3)?,
        prefix_query: r.get(4)?,
        prefix_passage: r.get(5)?,
        created_at: row::at(r, 6)?,
    })
}

/// The embedder of this name, made with its two vector tables if it is new.
///
/// # Errors
/// `DimensionMismatch` when the name is known with vectors of another length.
pub fn ensure(tx: &WriteTx<'_>, new: &NewEmbedder<'_>, now: Instant) -> Result<EmbedderKey> {
    if let Some(known) = find(tx, new.name)? {
        if known.dim != new.dim {
            return Err(Error::DimensionMismatch { got: new.dim, want: known.dim });
        }
        return Ok(known.key);
    }
    let key = EmbedderKey(tx.insert(
        "INSERT INTO embedder (name, dim, endpoint_id, prefix_query, prefix_passage, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        (
            new.name,
            i64::try_from(new.dim).unwrap_or(i64::MAX),
            new.endpoint,
            new.prefix_query,
            new.prefix_passage,
            to_millis(now),
        ),
    )?);
    let dim = new.dim;
    tx.conn().execute_batch(&format!(
        "CREATE VIRTUAL TABLE {} USING vec0 (
             memory_id INTEGER PRIMARY KEY, bank INTEGER PARTITION KEY, fact_type INTEGER,
             e float[{dim}] distance_metric=cosine);
         CREATE VIRTUAL TABLE {} USING vec0 (
             model_id INTEGER PRIMARY KEY, bank INTEGER PARTITION KEY,
             e float[{dim}] distance_metric=cosine);",
        key.memory_table(),
        key.model_table(),
    ))?;
    Ok(key)
}

/// The embedder of a name, if it is known.
pub fn find(tx: &ReadTx<'_>, name: &str) -> Result<Option<Embedder>> {
    tx.find(&format!("SELECT {COLUMNS} FROM embedder WHERE name = ?1"), [name], read)
}

/// An embedder by its key.
///
/// # Errors
/// `NotFound`.
pub fn get(tx: &ReadTx<'_>, key: EmbedderKey) -> Result<Embedder> {
    tx.find(&format!("SELECT {COLUMNS} FROM embedder WHERE id = ?1"), [key], read)?
        .ok_or_else(|| Error::not_found(Thing::Embedder, key.0.to_string()))
}

/// All embedders with vectors in the file, oldest first.
pub fn list(tx: &ReadTx<'_>) -> Result<Vec<Embedder>> {
    tx.list(&format!("SELECT {COLUMNS} FROM embedder ORDER BY id"), [], read)
}

/// Drops an embedder and its vectors.
///
/// # Errors
/// A bank that still names it refuses the deletion.
pub fn drop(tx: &WriteTx<'_>, key: EmbedderKey) -> Result<()> {
    tx.run("DELETE FROM embedder WHERE id = ?1", [key])?;
    tx.conn().execute_batch(&format!(
        "DROP TABLE {}; DROP TABLE {};",
        key.memory_table(),
        key.model_table()
    ))?;
    Ok(())
}

/// A vector as the little-endian bytes that vec0 stores.
pub(crate) fn bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// The vector of stored bytes.
pub(crate) fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}
