//! The search rows of a memory: full text, trigrams for scripts without blanks, vectors. A memory
//! in use has them; one out of use has none.

use domain::time::from_millis;
use domain::tokens::{Cl100k, TokenCounter as _};
use domain::{FactType, Instant};

use crate::embedders::{self, Embedder};
use crate::error::{Error, Result, Thing};
use crate::keys::{BankKey, EmbedderKey, MemoryKey};
use crate::search::matrix::BACKFILLS;
use crate::search::text::unspaced;
use crate::tx::{ReadTx, WriteTx};

/// What the index needs to know of a memory.
pub(crate) struct Indexed<'a> {
    pub(crate) key: MemoryKey,
    pub(crate) text: &'a str,
    pub(crate) context: Option<&'a str>,
    pub(crate) occurred: [Option<Instant>; 2],
}

/// Writes the text rows and the size of the text. Entities must be attached before, as their names
/// are part of the rows.
pub(crate) fn put_text(tx: &WriteTx<'_>, memory: &Indexed<'_>) -> Result<()> {
    tx.run(
        "UPDATE memory SET token_count = ?2 WHERE id = ?1",
        (memory.key, Cl100k.count(memory.text)),
    )?;
    let signals = signals(tx, memory)?;
    tx.run(
        "INSERT INTO fts_memory (rowid, text, context, signals) VALUES (?1, ?2, ?3, ?4)",
        (memory.key, memory.text, memory.context.unwrap_or(""), signals),
    )?;
    if unspaced(memory.text) {
        tx.run("INSERT INTO fts_trigram (rowid, text) VALUES (?1, ?2)", (memory.key, memory.text))?;
    }
    Ok(())
}

/// Removes the text rows.
pub(crate) fn drop_text(tx: &WriteTx<'_>, key: MemoryKey) -> Result<()> {
    tx.run("DELETE FROM fts_memory WHERE rowid = ?1", [key])?;
    tx.run("DELETE FROM fts_trigram WHERE rowid = ?1", [key])?;
    Ok(())
}

/// Words that find a memory though they are not in its text: entity names, label values, dates
/// spelled out.
fn signals(tx: &WriteTx<'_>, memory: &Indexed<'_>) -> Result<String> {
    let mut words = tx.list(
        "SELECT e.canonical, e.kind FROM memory_entity me JOIN entity e ON e.id = me.entity_id
         WHERE me.memory_id = ?1 ORDER BY e.id",
        [memory.key],
        |r| Ok((r.get::<_, String>(0)?, r.get::<_, i64>(1)?)),
    )?;
    for (name, kind) in &mut words {
        if *kind == 1
            && let Some((_, value)) = name.split_once(':')
        {
            *name = value.to_owned();
        }
    }
    let mut parts: Vec<String> = words.into_iter().map(|(name, _)| name).collect();
    let [start, end] = memory.occurred;
    parts.extend(start.map(spelled));
    if end != start {
        parts.extend(end.map(spelled));
    }
    Ok(parts.join(" "))
}

fn spelled(at: Instant) -> String {
    at.format("%B %-d %Y").to_string()
}

/// Stores or replaces the vector of a memory that is not written otherwise: a backfill.
///
/// # Errors
/// `NotFound` when it is no longer in use; `DimensionMismatch`.
pub fn put_vector(
    tx: &WriteTx<'_>,
    embedder: &Embedder,
    bank: BankKey,
    key: MemoryKey,
    vector: &[f32],
) -> Result<()> {
    let fact_type = tx
        .find("SELECT fact_type FROM memory WHERE id = ?1 AND state = 0", [key], |r| {
            super::fact_type(r, 0)
        })?
        .ok_or_else(|| Error::not_found(Thing::Memory, key.0.to_string()))?;
    write_vector(tx, embedder, bank, key, fact_type, vector)?;
    tx.count(bank, BACKFILLS, 1)
}

/// The same for a memory whose sequence number moves in this transaction, which tells of it.
pub(crate) fn write_vector(
    tx: &WriteTx<'_>,
    embedder: &Embedder,
    bank: BankKey,
    key: MemoryKey,
    fact_type: FactType,
    vector: &[f32],
) -> Result<()> {
    if vector.len() != embedder.dim {
        return Err(Error::DimensionMismatch { got: vector.len(), want: embedder.dim });
    }
    let table = embedder.key.memory_table();
    tx.run(&format!("DELETE FROM {table} WHERE memory_id = ?1"), [key])?;
    tx.run(
        &format!("INSERT INTO {table} (memory_id, bank, fact_type, e) VALUES (?1, ?2, ?3, ?4)"),
        (key, bank, fact_type.code(), embedders::bytes(vector)),
    )
    .map_err(|error| if_full(tx, error))?;
    Ok(())
}

/// sqlite-vec hides why it could not grow. Whether the disk is full, growing by as much as one of
/// its chunks tells; the transaction fails either way.
fn if_full(tx: &WriteTx<'_>, error: Error) -> Error {
    if !matches!(error, Error::Sql { .. }) {
        return error;
    }
    let grown = tx.conn().execute_batch(
        "SAVEPOINT room;
         CREATE TABLE room (filling BLOB);
         INSERT INTO room VALUES (zeroblob(2000000));
         ROLLBACK TO room;
         RELEASE room;",
    );
    match grown.map_err(Error::from) {
        Err(full @ Error::DiskFull { .. }) => full,
        Ok(()) | Err(_) => error,
    }
}

/// Removes a memory's vectors, of every embedder.
pub(crate) fn drop_vectors(tx: &WriteTx<'_>, key: MemoryKey) -> Result<()> {
    for embedder in embedders::list(tx)? {
        let table = embedder.key.memory_table();
        tx.run(&format!("DELETE FROM {table} WHERE memory_id = ?1"), [key])?;
    }
    Ok(())
}

/// The embedder that answers for a bank.
pub(crate) fn embedder_of(tx: &ReadTx<'_>, bank: BankKey) -> Result<Option<Embedder>> {
    let key: Option<EmbedderKey> =
        tx.find("SELECT embedder_id FROM bank WHERE id = ?1", [bank], |r| r.get(0))?.flatten();
    key.map(|key| embedders::get(tx, key)).transpose()
}

/// Memories in use without a vector of this embedder, newest first, at most `limit`.
pub fn missing_vectors(
    tx: &ReadTx<'_>,
    bank: BankKey,
    embedder: EmbedderKey,
    limit: u32,
) -> Result<Vec<MemoryKey>> {
    let table = embedder.memory_table();
    tx.list(
        &format!(
            "SELECT m.id FROM memory m WHERE m.bank_id = ?1 AND m.state = 0
               AND NOT EXISTS (SELECT 1 FROM {table}_rowids v WHERE v.rowid = m.id)
             ORDER BY m.id DESC LIMIT ?2"
        ),
        (bank, limit),
        |r| r.get(0),
    )
}

/// How many memories of a bank have a vector of this embedder.
pub fn vector_count(tx: &ReadTx<'_>, bank: BankKey, embedder: EmbedderKey) -> Result<u32> {
    let table = embedder.memory_table();
    tx.one(
        &format!(
            "SELECT count(*) FROM memory m WHERE m.bank_id = ?1 AND m.state = 0
               AND EXISTS (SELECT 1 FROM {table}_rowids v WHERE v.rowid = m.id)"
        ),
        [bank],
        |r| crate::row::count(r, 0),
    )
}

/// What is out of step between memories and their search rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexFaults {
    /// Memories in use without a text row.
    pub missing_text: u32,
    /// Text rows without a memory in use.
    pub stray_text: u32,
    /// Vectors without a memory in use.
    pub stray_vectors: u32,
}

/// Compares memories with their text rows and, with an embedder, their vectors. Missing vectors are
/// no fault: a backfill may be under way.
pub fn verify(tx: &ReadTx<'_>, embedder: Option<EmbedderKey>) -> Result<IndexFaults> {
    let count = |sql: &str| tx.one(sql, [], |r| crate::row::count(r, 0));
    Ok(IndexFaults {
        missing_text: count(
            "SELECT /* whole file */ count(*) FROM memory m WHERE m.state = 0
               AND NOT EXISTS (SELECT 1 FROM fts_memory_docsize f WHERE f.id = m.id)",
        )?,
        stray_text: count(
            "SELECT /* whole file */ count(*) FROM fts_memory_docsize f WHERE NOT EXISTS
               (SELECT 1 FROM memory m WHERE m.id = f.id AND m.state = 0)",
        )?,
        stray_vectors: match embedder {
            None => 0,
            Some(key) => count(&format!(
                "SELECT /* whole file */ count(*) FROM {}_rowids v WHERE NOT EXISTS
                   (SELECT 1 FROM memory m WHERE m.id = v.rowid AND m.state = 0)",
                key.memory_table()
            ))?,
        },
    })
}

/// Builds the text rows of every bank anew, from the memories alone.
pub fn rebuild_text(tx: &WriteTx<'_>) -> Result<u32> {
    tx.conn().execute_batch(
        "INSERT INTO fts_memory (fts_memory) VALUES ('delete-all');
         INSERT INTO fts_trigram (fts_trigram) VALUES ('delete-all');",
    )?;
    let mut statement = tx.prepare(
        "SELECT /* whole file */ id, text, context, occurred_start, occurred_end
         FROM memory WHERE state = 0",
    )?;
    let mut rows = statement.query([])?;
    let mut done = 0;
    while let Some(r) = rows.next()? {
        let (text, context): (String, Option<String>) = (r.get(1)?, r.get(2)?);
        put_text(
            tx,
            &Indexed {
                key: r.get(0)?,
                text: &text,
                context: context.as_deref(),
                occurred: [
                    r.get::<_, Option<i64>>(3)?.map(from_millis),
                    r.get::<_, Option<i64>>(4)?.map(from_millis),
                ],
            },
        )?;
        done += 1;
    }
    Ok(done)
}
