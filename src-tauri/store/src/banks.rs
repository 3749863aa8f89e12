//! Banks: creation, configuration, counts. The settings inside `config` are the engine's affair;
//! here they are one JSON object.

use std::collections::BTreeMap;

use domain::time::to_millis;
use domain::{BankId, CacheTag, Instant};
use rusqlite::Row;
use serde_json::Value;

use crate::error::{Error, Result, Thing};
use crate::keys::{BankKey, EmbedderKey};
use crate::row;
use crate::tx::{ReadTx, WriteTx};

row::words! {
    /// Whether the search indexes of a bank can be trusted.
    IndexState {
        /// In step with the memories.
        Ok = "ok",
        /// Being rebuilt; answers are partial.
        Rebuilding = "rebuilding",
        /// Found out of step; a rebuild is due.
        Stale = "stale",
    }
}

/// A bank.
#[derive(Debug, Clone, PartialEq)]
pub struct Bank {
    /// Its key.
    pub key: BankKey,
    /// Its id, chosen by the caller.
    pub id: BankId,
    /// Its name on screens.
    pub name: String,
    /// When it was made.
    pub created_at: Instant,
    /// When its name or settings last changed.
    pub updated_at: Instant,
    /// The settings stated for this bank, an object; nothing is filled in.
    pub config: Value,
    /// The newest sequence number given to a memory or a tombstone.
    pub write_seq: i64,
    /// The `updated_at` of its newest memory write.
    pub last_memory_write_at: Option<Instant>,
    /// When the last consolidation ended.
    pub last_consolidated_at: Option<Instant>,
    /// The embedder whose vectors answer.
    pub embedder: Option<EmbedderKey>,
    /// Whether its indexes can be trusted.
    pub index_state: IndexState,
}

const COLUMNS: &str = "id, uid, name, created_at, updated_at, config, write_seq, \
    last_memory_write_at, last_consolidated_at, embedder_id, index_state";

fn read(r: &Row<'_>) -> rusqlite::Result<Bank> {
    Ok(Bank {
        key: r.get(0)?,
        id: BankId(r.get(1)?),
        name: r.get(2)?,
        created_at: row::at(r, 3)?,
        updated_at: row::at(r, 4)?,
        config: row::json(r, 5)?,
        write_seq: r.get(6)?,
        last_memory_write_at: row::at_opt(r, 7)?,
        last_consolidated_at: row::at_opt(r, 8)?,
        embedder: r.get(9)?,
        index_state: r.get(10)?,
    })
}

/// Makes a bank.
///
/// # Errors
/// `IdTaken`.
pub fn create(
    tx: &WriteTx<'_>,
    id: &BankId,
    name: &str,
    embedder: Option<EmbedderKey>,
    now: Instant,
) -> Result<BankKey> {
    if find_key(tx, id)?.is_some() {
        return Err(Error::IdTaken { what: Thing::Bank, id: id.0.clone() });
    }
    let key = BankKey(tx.insert(
        "INSERT INTO bank (uid, name, created_at, updated_at, embedder_id)
         VALUES (?1, ?2, ?3, ?3, ?4)",
        (&id.0, name, to_millis(now), embedder),
    )?);
    tx.changed(key, CacheTag::Banks, Some(&id.0))?;
    Ok(key)
}

/// The key of a bank, if there is one of this id.
pub fn find_key(tx: &ReadTx<'_>, id: &BankId) -> Result<Option<BankKey>> {
    tx.find("SELECT id FROM bank WHERE uid = ?1", [&id.0], |r| r.get(0))
}

/// The key of a bank.
///
/// # Errors
/// `NotFound`.
pub fn key(tx: &ReadTx<'_>, id: &BankId) -> Result<BankKey> {
    find_key(tx, id)?.ok_or_else(|| Error::not_found(Thing::Bank, &id.0))
}

/// A bank by its id.
///
/// # Errors
/// `NotFound`.
pub fn get(tx: &ReadTx<'_>, id: &BankId) -> Result<Bank> {
    tx.find(&format!("SELECT {COLUMNS} FROM bank WHERE uid = ?1"), [&id.0], read)?
        .ok_or_else(|| Error::not_found(Thing::Bank, &id.0))
}

/// A bank by its key.
///
/// # Errors
/// `NotFound`.
pub fn by_key(tx: &ReadTx<'_>, key: BankKey) -> Result<Bank> {
    tx.find(&format!("SELECT {COLUMNS} FROM bank WHERE id = ?1"), [key], read)?
        .ok_or_else(|| Error::not_found(Thing::Bank, key.0.to_string()))
}

/// All banks, by name.
pub fn list(tx: &ReadTx<'_>) -> Result<Vec<Bank>> {
    tx.list(&format!("SELECT {COLUMNS} FROM bank ORDER BY name, id"), [], read)
}

/// Changes the name.
pub fn rename(tx: &WriteTx<'_>, key: BankKey, name: &str, now: Instant) -> Result<()> {
    tx.run(
        "UPDATE bank SET name = ?2, updated_at = ?3 WHERE id = ?1",
        (key, name, to_millis(now)),
    )?;
    tx.changed(key, CacheTag::Banks, None)
}

/// Replaces the stated settings.
pub fn set_config(tx: &WriteTx<'_>, key: BankKey, config: &Value, now: Instant) -> Result<()> {
    tx.run(
        "UPDATE bank SET config = ?2, updated_at = ?3 WHERE id = ?1",
        (key, row::text(config)?, to_millis(now)),
    )?;
    tx.changed(key, CacheTag::Banks, None)
}

/// Names the embedder whose vectors answer from now on.
pub fn set_embedder(tx: &WriteTx<'_>, key: BankKey, embedder: Option<EmbedderKey>) -> Result<()> {
    tx.run("UPDATE bank SET embedder_id = ?2 WHERE id = ?1", (key, embedder))?;
    tx.changed(key, CacheTag::Banks, None)
}

/// Says whether the indexes can be trusted.
pub fn set_index_state(tx: &WriteTx<'_>, key: BankKey, state: IndexState) -> Result<()> {
    tx.run("UPDATE bank SET index_state = ?2 WHERE id = ?1", (key, state))?;
    tx.changed(key, CacheTag::Banks, None)
}

/// Notes the end of a consolidation.
pub fn set_consolidated(tx: &WriteTx<'_>, key: BankKey, now: Instant) -> Result<()> {
    tx.run("UPDATE bank SET last_consolidated_at = ?2 WHERE id = ?1", (key, to_millis(now)))?;
    tx.changed(key, CacheTag::Banks, None)
}

/// The counters kept by the writer: `world`, `experience`, `observation` (valid ones each),
/// `invalidated`, `documents`. Absent means 0.
pub fn counters(tx: &ReadTx<'_>, key: BankKey) -> Result<BTreeMap<String, i64>> {
    let rows = tx.list("SELECT what, n FROM bank_counter WHERE bank_id = ?1", [key], |r| {
        Ok((r.get(0)?, r.get(1)?))
    })?;
    Ok(rows.into_iter().collect())
}

/// Removes a bank with everything in it, search rows and vectors included.
pub fn delete(tx: &WriteTx<'_>, key: BankKey) -> Result<()> {
    tx.changed(key, CacheTag::Banks, None)?;
    tx.run(
        "DELETE FROM fts_memory WHERE rowid IN (SELECT id FROM memory WHERE bank_id = ?1 AND state = 0)",
        [key],
    )?;
    tx.run(
        "DELETE FROM fts_trigram WHERE rowid IN (SELECT id FROM memory WHERE bank_id = ?1 AND state = 0)",
        [key],
    )?;
    tx.run(
        "DELETE FROM fts_entity WHERE rowid IN (SELECT id FROM entity WHERE bank_id = ?1)",
        [key],
    )?;
    tx.run(
        "DELETE FROM fts_model WHERE rowid IN (SELECT id FROM mental_model WHERE bank_id = ?1)",
        [key],
    )?;
    for embedder in crate::embedders::list(tx)? {
        let (memory, model) = (embedder.key.memory_table(), embedder.key.model_table());
        tx.run(&format!("DELETE FROM {memory} WHERE bank = ?1"), [key])?;
        tx.run(&format!("DELETE FROM {model} WHERE bank = ?1"), [key])?;
    }
    // The rest goes by the foreign keys, in an order in which no tag set is still named.
    for table in ["tombstone", "memory", "document", "directive", "mental_model"] {
        tx.run(&format!("DELETE FROM {table} WHERE bank_id = ?1"), [key])?;
    }
    tx.run("DELETE FROM bank WHERE id = ?1", [key])?;
    Ok(())
}
