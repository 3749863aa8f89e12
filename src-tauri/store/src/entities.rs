//! Named things that facts mention, and which of them are mentioned together. Whether two spellings
//! are one thing is decided elsewhere; here are the candidates.

use std::collections::{BTreeSet, HashMap};

use domain::time::to_millis;
use domain::{CacheTag, Instant};
use rusqlite::Row;

use crate::error::{Error, Result, Thing};
use crate::keys::{BankKey, EntityKey, MemoryKey};
use crate::row;
use crate::search::text::quote_trigrams;
use crate::tx::{ReadTx, WriteTx};

/// The kinds of entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntityKind {
    /// A name found in a text or given by a person.
    Regular,
    /// A value of a controlled vocabulary, spelled `key:value`.
    Label,
}

impl EntityKind {
    fn code(self) -> i64 {
        match self {
            Self::Regular => 0,
            Self::Label => 1,
        }
    }

    fn from_code(code: i64) -> Self {
        if code == 1 { Self::Label } else { Self::Regular }
    }
}

/// An entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entity {
    /// Its key.
    pub key: EntityKey,
    /// Its id.
    pub id: String,
    /// The spelling shown.
    pub canonical: String,
    /// The folded spelling that makes it unique in its bank.
    pub canon_key: String,
    /// Its kind.
    pub kind: EntityKind,
    /// The earliest time of a fact that mentions it.
    pub first_seen: Instant,
    /// The latest time of a fact that mentions it.
    pub last_seen: Instant,
    /// How many valid facts mention it.
    pub mention_count: u32,
}

const COLUMNS: &str = "e.id, e.uid, e.canonical, e.canon_key, e.kind, e.first_seen, e.last_seen, \
    e.mention_count";

fn read(r: &Row<'_>) -> rusqlite::Result<Entity> {
    Ok(Entity {
        key: r.get(0)?,
        id: r.get(1)?,
        canonical: r.get(2)?,
        canon_key: r.get(3)?,
        kind: EntityKind::from_code(r.get(4)?),
        first_seen: row::at(r, 5)?,
        last_seen: row::at(r, 6)?,
        mention_count: row::count(r, 7)?,
    })
}

/// The entity with this folded spelling, if there is one.
pub fn find(tx: &ReadTx<'_>, bank: BankKey, canon_key: &str) -> Result<Option<Entity>> {
    tx.find(
        &format!("SELECT {COLUMNS} FROM entity e WHERE e.bank_id = ?1 AND e.canon_key = ?2"),
        (bank, canon_key),
        read,
    )
}

/// An entity by its id.
///
/// # Errors
/// `NotFound`.
pub fn get(tx: &ReadTx<'_>, bank: BankKey, id: &str) -> Result<Entity> {
    tx.find(
        &format!("SELECT {COLUMNS} FROM entity e WHERE e.bank_id = ?1 AND e.uid = ?2"),
        (bank, id),
        read,
    )?
    .ok_or_else(|| Error::not_found(Thing::Entity, id))
}

/// The entities mentioned most, at most `limit`.
pub fn top(tx: &ReadTx<'_>, bank: BankKey, limit: u32) -> Result<Vec<Entity>> {
    tx.list(
        &format!(
            "SELECT {COLUMNS} FROM entity e WHERE e.bank_id = ?1
             ORDER BY e.mention_count DESC, e.id LIMIT ?2"
        ),
        (bank, limit),
        read,
    )
}

/// Entities (not labels) whose names share trigrams with `name`, the best matches first, at most
/// `limit`. Names shorter than three characters share none.
pub fn candidates(tx: &ReadTx<'_>, bank: BankKey, name: &str, limit: u32) -> Result<Vec<Entity>> {
    let Some(query) = quote_trigrams(name) else { return Ok(Vec::new()) };
    tx.list(
        &format!(
            "SELECT {COLUMNS} FROM fts_entity f JOIN entity e ON e.id = f.rowid
             WHERE fts_entity MATCH ?2 AND e.bank_id = ?1 AND e.kind = 0
             ORDER BY f.rank LIMIT ?3"
        ),
        (bank, query, limit),
        read,
    )
}

/// Makes an entity. `at` is the time of the fact that mentions it.
pub fn insert(
    tx: &WriteTx<'_>,
    bank: BankKey,
    id: &str,
    canonical: &str,
    canon_key: &str,
    kind: EntityKind,
    at: Instant,
) -> Result<EntityKey> {
    let key = tx.insert(
        "INSERT INTO entity (bank_id, uid, canonical, canon_key, kind, first_seen, last_seen)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
        (bank, id, canonical, canon_key, kind.code(), to_millis(at)),
    )?;
    tx.run("INSERT INTO fts_entity (rowid, name) VALUES (?1, ?2)", (key, canonical))?;
    tx.changed(bank, CacheTag::Entities, Some(id))?;
    Ok(EntityKey(key))
}

/// Ties a valid memory to entities and counts the mention and the pairs.
pub(crate) fn attach(
    tx: &WriteTx<'_>,
    memory: MemoryKey,
    entities: &[EntityKey],
    at: Instant,
) -> Result<()> {
    let entities: BTreeSet<EntityKey> = entities.iter().copied().collect();
    for entity in &entities {
        tx.run(
            "INSERT INTO memory_entity (entity_id, memory_id) VALUES (?1, ?2)",
            (entity, memory),
        )?;
        tx.run(
            "UPDATE entity SET mention_count = mention_count + 1,
                 first_seen = min(first_seen, ?2), last_seen = max(last_seen, ?2)
             WHERE id = ?1",
            (entity, to_millis(at)),
        )?;
    }
    for (n, a) in entities.iter().enumerate() {
        for b in entities.iter().skip(n + 1) {
            tx.run(
                "INSERT INTO entity_pair (a, b, n, last_at) VALUES (?1, ?2, 1, ?3)
                 ON CONFLICT (a, b) DO UPDATE
                 SET n = n + 1, last_at = max(last_at, excluded.last_at)",
                (a, b, to_millis(at)),
            )?;
        }
    }
    Ok(())
}

/// Unties a memory from its entities; those with no mention left go, with their pairs.
pub(crate) fn detach(tx: &WriteTx<'_>, bank: BankKey, memory: MemoryKey) -> Result<()> {
    let entities: Vec<EntityKey> = tx.list(
        "SELECT entity_id FROM memory_entity WHERE memory_id = ?1 ORDER BY entity_id",
        [memory],
        |r| r.get(0),
    )?;
    if entities.is_empty() {
        return Ok(());
    }
    tx.run("DELETE FROM memory_entity WHERE memory_id = ?1", [memory])?;
    for (n, a) in entities.iter().enumerate() {
        for b in entities.iter().skip(n + 1) {
            tx.run("UPDATE entity_pair SET n = n - 1 WHERE a = ?1 AND b = ?2", (a, b))?;
            tx.run("DELETE FROM entity_pair WHERE a = ?1 AND b = ?2 AND n <= 0", (a, b))?;
        }
    }
    for entity in &entities {
        let left: i64 = tx.one(
            "UPDATE entity SET mention_count = mention_count - 1 WHERE id = ?1
             RETURNING mention_count",
            [entity],
            |r| r.get(0),
        )?;
        if left <= 0 {
            tx.run("DELETE FROM fts_entity WHERE rowid = ?1", [entity])?;
            tx.run("DELETE FROM entity WHERE id = ?1", [entity])?;
            tx.changed(bank, CacheTag::Entities, None)?;
        }
    }
    Ok(())
}

/// The entities of each of some facts, in order of key. Facts without any are left out.
pub fn of_memories(
    tx: &ReadTx<'_>,
    memories: &[MemoryKey],
) -> Result<HashMap<MemoryKey, Vec<(EntityKey, String)>>> {
    let rows = tx.list(
        "SELECT me.memory_id, e.id, e.canonical FROM json_each(?1) j
         JOIN memory_entity me ON me.memory_id = j.value
         JOIN entity e ON e.id = me.entity_id ORDER BY me.memory_id, e.id",
        [row::id_list(memories.iter().map(|m| m.0))],
        |r| Ok((r.get::<_, MemoryKey>(0)?, (r.get(1)?, r.get(2)?))),
    )?;
    let mut map: HashMap<MemoryKey, Vec<(EntityKey, String)>> = HashMap::new();
    for (memory, entity) in rows {
        map.entry(memory).or_default().push(entity);
    }
    Ok(map)
}

/// How often each of `candidates` is mentioned together with each of `others`: rows of candidate,
/// other and count.
pub fn pairs(
    tx: &ReadTx<'_>,
    candidates: &[EntityKey],
    others: &[EntityKey],
) -> Result<Vec<(EntityKey, EntityKey, u32)>> {
    tx.list(
        "SELECT c.value, o.value, p.n FROM json_each(?1) c CROSS JOIN json_each(?2) o
         JOIN entity_pair p ON p.a = min(c.value, o.value) AND p.b = max(c.value, o.value)
         WHERE c.value <> o.value",
        (row::id_list(candidates.iter().map(|k| k.0)), row::id_list(others.iter().map(|k| k.0))),
        |r| Ok((r.get(0)?, r.get(1)?, row::count(r, 2)?)),
    )
}
