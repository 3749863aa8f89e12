//! What is left of memories that went, or that left their tag set: one live row per memory, with a
//! sequence number of its own. What it means for a document is decided elsewhere.

use std::collections::BTreeSet;

use domain::time::to_millis;
use domain::{DocumentId, FactType, Instant, MemoryId};
use rusqlite::Row;

use crate::error::Result;
use crate::keys::{BankKey, ModelKey, TagSetKey};
use crate::row;
use crate::tx::{ReadTx, WriteTx};

row::words! {
    /// Why a memory left.
    Cause {
        /// A person deleted it.
        Deleted = "deleted",
        /// A person took it out of use.
        Invalidated = "invalidated",
        /// Its document was given anew.
        Replaced = "replaced",
        /// An observation whose source went.
        Swept = "swept",
        /// Its tags or type changed.
        Rescoped = "rescoped",
    }
}

/// A tombstone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tombstone {
    /// Its sequence number.
    pub seq: i64,
    /// The memory.
    pub memory: MemoryId,
    /// The memory's type before the change.
    pub fact_type: FactType,
    /// Its tag set before the change.
    pub tag_set: TagSetKey,
    /// The tags of that set.
    pub tags: BTreeSet<String>,
    /// Its text, kept only while a mental model cites it.
    pub text: Option<String>,
    /// Why it left.
    pub cause: Cause,
    /// The document that may hold its successor.
    pub successor: Option<DocumentId>,
    /// When.
    pub at: Instant,
}

/// What a tombstone is made of.
pub(crate) struct NewTombstone<'a> {
    pub(crate) memory: &'a str,
    pub(crate) fact_type: i64,
    pub(crate) tag_set: TagSetKey,
    pub(crate) text: &'a str,
    pub(crate) cause: Cause,
    pub(crate) successor: Option<&'a DocumentId>,
    pub(crate) at: Instant,
}

/// Writes a tombstone with the bank's next number, in place of an earlier one of the memory.
pub(crate) fn put(tx: &WriteTx<'_>, bank: BankKey, new: &NewTombstone<'_>) -> Result<()> {
    clear(tx, bank, new.memory)?;
    let cited = tx
        .find("SELECT 1 FROM model_citation WHERE memory_uid = ?1 LIMIT 1", [new.memory], |_| {
            Ok(())
        })?
        .is_some();
    tx.run(
        "INSERT INTO tombstone (bank_id, seq, memory_uid, fact_type, tag_set_id, text, cause,
             successor_document_id, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        (
            bank,
            tx.next_seq(bank)?,
            new.memory,
            new.fact_type,
            new.tag_set,
            cited.then_some(new.text),
            new.cause,
            new.successor.map(|d| &d.0),
            to_millis(new.at),
        ),
    )?;
    Ok(())
}

/// Removes a memory's tombstone, if it has one.
pub(crate) fn clear(tx: &WriteTx<'_>, bank: BankKey, memory: &str) -> Result<()> {
    tx.run("DELETE FROM tombstone WHERE bank_id = ?1 AND memory_uid = ?2", (bank, memory))?;
    Ok(())
}

const SELECT: &str = "SELECT t.seq, t.memory_uid, t.fact_type, t.tag_set_id, s.canon, t.text, \
    t.cause, t.successor_document_id, t.at \
    FROM tombstone t JOIN tag_set s ON s.id = t.tag_set_id";

fn read(r: &Row<'_>) -> rusqlite::Result<Tombstone> {
    Ok(Tombstone {
        seq: r.get(0)?,
        memory: MemoryId(r.get(1)?),
        fact_type: FactType::from_code(r.get(2)?).unwrap_or(FactType::World),
        tag_set: r.get(3)?,
        tags: row::parsed(r, 4)?,
        text: r.get(5)?,
        cause: r.get(6)?,
        successor: r.get::<_, Option<String>>(7)?.map(DocumentId),
        at: row::at(r, 8)?,
    })
}

/// The tombstones of those of some memories that have one.
pub fn of_memories(
    tx: &ReadTx<'_>,
    bank: BankKey,
    memories: &[MemoryId],
) -> Result<Vec<Tombstone>> {
    tx.list(
        &format!(
            "{SELECT} WHERE t.bank_id = ?1
             AND t.memory_uid IN (SELECT value FROM json_each(?2)) ORDER BY t.seq"
        ),
        (bank, row::text(memories)?),
        read,
    )
}

/// The memories whose tombstones have a number above one, in the order of the numbers.
pub fn since(tx: &ReadTx<'_>, bank: BankKey, seq: i64) -> Result<Vec<MemoryId>> {
    tx.list(
        "SELECT memory_uid FROM tombstone WHERE bank_id = ?1 AND seq > ?2 ORDER BY seq",
        (bank, seq),
        |r| r.get(0).map(MemoryId),
    )
}

/// The tombstones of memories that the published documents of a bank (or those of `only`) cite, with
/// the model each concerns: one statement for all models of a list.
pub fn cited(
    tx: &ReadTx<'_>,
    bank: BankKey,
    only: Option<&[ModelKey]>,
) -> Result<Vec<(ModelKey, Tombstone)>> {
    let from = match only {
        None => "tombstone t JOIN model_citation c ON c.memory_uid = t.memory_uid",
        Some(_) => {
            "json_each(?2) j CROSS JOIN model_citation c ON c.model_id = j.value
             CROSS JOIN tombstone t ON t.memory_uid = c.memory_uid"
        }
    };
    let only = only.map_or_else(String::new, |keys| row::id_list(keys.iter().map(|key| key.0)));
    tx.list(
        &format!(
            "SELECT t.seq, t.memory_uid, t.fact_type, t.tag_set_id, s.canon, t.text, t.cause,
                    t.successor_document_id, t.at, c.model_id
             FROM {from}
             JOIN mental_model m ON m.id = c.model_id AND m.bank_id = t.bank_id
             JOIN tag_set s ON s.id = t.tag_set_id
             WHERE t.bank_id = ?1 AND ?2 IS NOT NULL
             ORDER BY c.model_id, t.seq"
        ),
        (bank, only),
        |r| Ok((r.get(9)?, read(r)?)),
    )
}

/// Removes tombstones older than `before` that no published document, version or proposal cites;
/// gives their number.
pub fn sweep(tx: &WriteTx<'_>, before: Instant) -> Result<usize> {
    tx.run(include_str!("../sql/tombstone_sweep.sql"), [to_millis(before)])
}
