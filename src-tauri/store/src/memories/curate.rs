//! A person's corrections of facts: edit, take out of use, bring back. Observations are not
//! corrected by themselves; they follow their facts.

use std::collections::BTreeSet;

use domain::time::to_millis;
use domain::{CacheTag, FactType, Instant, MemoryId};
use rusqlite::params;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::index::{self, Indexed};
use super::remove::{bury, unindex};
use super::{INVALIDATED, Memory, State, counter};
use crate::error::{Error, Result};
use crate::keys::{BankKey, EntityKey, MemoryKey};
use crate::links::{Link, LinkKind};
use crate::tombstones::{self, Cause};
use crate::tx::WriteTx;
use crate::{entities, links, row, tag_sets};

/// A correction. Absent fields stay; `Some(None)` clears.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Edit {
    /// The statement.
    pub text: Option<String>,
    /// The label.
    pub context: Option<Option<String>>,
    /// When the told event began.
    pub occurred_start: Option<Option<Instant>>,
    /// When the told event ended.
    pub occurred_end: Option<Option<Instant>>,
    /// World or experience.
    pub fact_type: Option<FactType>,
    /// The whole set of entities from now on.
    pub entities: Option<Vec<EntityKey>>,
    /// The whole set of tags from now on.
    pub tags: Option<BTreeSet<String>>,
    /// The vector of the corrected fact. Without one the old vector goes and a backfill is due.
    pub vector: Option<Vec<f32>>,
}

/// Corrects a fact: its former state goes to the history, its observations go, it waits for folding
/// anew. Changed tags or type leave a `rescoped` tombstone.
///
/// # Errors
/// `NotFound`, `NotCuratable`, `MemoryInvalidated`, `DimensionMismatch`.
pub fn edit(
    tx: &WriteTx<'_>,
    bank: BankKey,
    id: &MemoryId,
    edit: &Edit,
    now: Instant,
) -> Result<()> {
    let old = fact(tx, bank, id)?;
    if old.state == State::Invalidated {
        return Err(Error::MemoryInvalidated);
    }
    remember(tx, &old, now)?;
    super::folding::sweep(tx, bank, &[old.key], now)?;
    let fact_type = edit.fact_type.unwrap_or(old.fact_type);
    let tag_set = match &edit.tags {
        Some(tags) => tag_sets::intern(tx, bank, tags)?,
        None => old.tag_set,
    };
    if (fact_type, tag_set) != (old.fact_type, old.tag_set) {
        bury(tx, &old, Cause::Rescoped, None, now)?;
    }
    let text = edit.text.as_ref().unwrap_or(&old.text);
    let context = edit.context.clone().unwrap_or_else(|| old.context.clone());
    let start = edit.occurred_start.unwrap_or(old.occurred_start);
    let end = edit.occurred_end.unwrap_or(old.occurred_end);
    let event = start.or(old.mentioned_at).unwrap_or(old.created_at);
    let stamp = to_millis(tx.stamp(bank, now)?);
    tx.run(
        include_str!("../../sql/memory_edit.sql"),
        params![
            old.key,
            text,
            context,
            row::ms(start),
            row::ms(end),
            fact_type.code(),
            tag_set,
            to_millis(event),
            stamp,
            tx.next_seq(bank)?,
            edit.text.is_some(),
        ],
    )?;
    if let Some(names) = &edit.entities {
        // The new ties first: an entity that stays must not be deleted and made anew in between.
        let kept = keep_alive(tx, names)?;
        entities::detach(tx, bank, old.key)?;
        entities::attach(tx, old.key, names, event)?;
        release(tx, &kept)?;
    }
    index::drop_text(tx, old.key)?;
    index::put_text(
        tx,
        &Indexed { key: old.key, text, context: context.as_deref(), occurred: [start, end] },
    )?;
    index::drop_vectors(tx, old.key)?;
    if let (Some(vector), Some(embedder)) = (&edit.vector, index::embedder_of(tx, bank)?) {
        index::write_vector(tx, &embedder, bank, old.key, fact_type, vector)?;
    }
    links::drop_semantic(tx, old.key, now)?;
    links::queue_topup(tx, old.key, now)?;
    tx.count(bank, counter(old.fact_type), -1)?;
    tx.count(bank, counter(fact_type), 1)?;
    tx.changed(bank, CacheTag::Memories, Some(&id.0))
}

/// Takes a fact out of use. What restoring needs is kept on the row. A second call only changes
/// the reason.
///
/// # Errors
/// `NotFound`, `NotCuratable`.
pub fn invalidate(
    tx: &WriteTx<'_>,
    bank: BankKey,
    id: &MemoryId,
    reason: &str,
    now: Instant,
) -> Result<()> {
    let old = fact(tx, bank, id)?;
    if old.state == State::Invalidated {
        tx.run("UPDATE memory SET invalidation_reason = ?2 WHERE id = ?1", (old.key, reason))?;
        return tx.changed(bank, CacheTag::Memories, Some(&id.0));
    }
    super::folding::sweep(tx, bank, &[old.key], now)?;
    let snapshot = Snapshot::take(tx, &old)?;
    unindex(tx, &old, now)?;
    tx.run("DELETE FROM link WHERE from_id = ?1", [old.key])?;
    tx.run("DELETE FROM link WHERE to_id = ?1", [old.key])?;
    bury(tx, &old, Cause::Invalidated, None, now)?;
    tx.run(
        "UPDATE memory SET state = 1, invalidated_at = ?2, updated_at = ?2,
             invalidation_reason = ?3, invalidation_snapshot = ?4, change_seq = ?5
         WHERE id = ?1",
        (
            old.key,
            to_millis(tx.stamp(bank, now)?),
            reason,
            row::text(&snapshot)?,
            tx.next_seq(bank)?,
        ),
    )?;
    tx.count(bank, counter(old.fact_type), -1)?;
    tx.count(bank, INVALIDATED, 1)?;
    tx.changed(bank, CacheTag::Memories, Some(&id.0))
}

/// What restoring left to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// The fact.
    pub key: MemoryKey,
    /// Whether its vector must be computed.
    pub needs_vector: bool,
}

/// Brings a fact back into use: its tombstone goes, its entities and those causal ties whose other
/// end is there come back, it waits for folding. One that is in use stays as it is.
///
/// # Errors
/// `NotFound`, `NotCuratable`, `DimensionMismatch`.
pub fn restore(
    tx: &WriteTx<'_>,
    bank: BankKey,
    id: &MemoryId,
    vector: Option<&[f32]>,
    now: Instant,
) -> Result<Restored> {
    let old = fact(tx, bank, id)?;
    if old.state == State::Valid {
        return Ok(Restored { key: old.key, needs_vector: false });
    }
    let snapshot: Option<Snapshot> = tx
        .one("SELECT invalidation_snapshot FROM memory WHERE id = ?1", [old.key], |r| {
            row::json_opt(r, 0)
        })?
        .map(serde_json::from_value)
        .transpose()?;
    tx.run(
        "UPDATE memory SET state = 0, invalidated_at = NULL, invalidation_reason = NULL,
             invalidation_snapshot = NULL, consolidated_at = NULL, updated_at = ?2, change_seq = ?3
         WHERE id = ?1",
        (old.key, to_millis(tx.stamp(bank, now)?), tx.next_seq(bank)?),
    )?;
    tombstones::clear(tx, bank, &id.0)?;
    if let Some(snapshot) = snapshot {
        snapshot.put_back(tx, &old)?;
    }
    index::put_text(
        tx,
        &Indexed {
            key: old.key,
            text: &old.text,
            context: old.context.as_deref(),
            occurred: [old.occurred_start, old.occurred_end],
        },
    )?;
    let embedder = index::embedder_of(tx, bank)?;
    if let (Some(vector), Some(embedder)) = (vector, &embedder) {
        index::write_vector(tx, embedder, bank, old.key, old.fact_type, vector)?;
    }
    links::queue_topup(tx, old.key, now)?;
    tx.count(bank, counter(old.fact_type), 1)?;
    tx.count(bank, INVALIDATED, -1)?;
    tx.changed(bank, CacheTag::Memories, Some(&id.0))?;
    Ok(Restored { key: old.key, needs_vector: embedder.is_some() && vector.is_none() })
}

fn fact(tx: &WriteTx<'_>, bank: BankKey, id: &MemoryId) -> Result<Memory> {
    let memory = super::get(tx, bank, id)?;
    match memory.fact_type {
        FactType::Observation => Err(Error::NotCuratable),
        FactType::World | FactType::Experience => Ok(memory),
    }
}

fn remember(tx: &WriteTx<'_>, old: &Memory, now: Instant) -> Result<()> {
    let names = entities::of_memories(tx, &[old.key])?;
    let names: Vec<&String> = names.values().flatten().map(|(_, name)| name).collect();
    let prev = json!({
        "text": old.text,
        "context": old.context,
        "fact_type": old.fact_type,
        "tags": old.tags,
        "occurred_start": row::ms(old.occurred_start),
        "occurred_end": row::ms(old.occurred_end),
        "entities": names,
    });
    tx.run(
        "INSERT INTO memory_history (memory_id, changed_at, prev) VALUES (?1, ?2, ?3)",
        (old.key, to_millis(tx.stamp(old.bank, now)?), row::text(&prev)?),
    )?;
    Ok(())
}

/// Counts one more mention of some entities, so that detaching cannot remove them.
fn keep_alive(tx: &WriteTx<'_>, keys: &[EntityKey]) -> Result<Vec<EntityKey>> {
    let keys: BTreeSet<EntityKey> = keys.iter().copied().collect();
    for key in &keys {
        tx.run("UPDATE entity SET mention_count = mention_count + 1 WHERE id = ?1", [key])?;
    }
    Ok(keys.into_iter().collect())
}

fn release(tx: &WriteTx<'_>, keys: &[EntityKey]) -> Result<()> {
    for key in keys {
        tx.run("UPDATE entity SET mention_count = mention_count - 1 WHERE id = ?1", [key])?;
    }
    Ok(())
}

/// What an invalidated fact leaves behind in other tables, to be put back.
#[derive(Debug, Serialize, Deserialize)]
struct Snapshot {
    entities: Vec<SnapshotEntity>,
    /// Causal ties: (from, kind, to, weight), the fact itself being one end.
    links: Vec<(i64, i64, i64, f64)>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SnapshotEntity {
    uid: String,
    canonical: String,
    canon_key: String,
    kind: i64,
}

impl Snapshot {
    fn take(tx: &WriteTx<'_>, memory: &Memory) -> Result<Self> {
        let entities = tx.list(
            "SELECT e.uid, e.canonical, e.canon_key, e.kind
             FROM memory_entity me JOIN entity e ON e.id = me.entity_id
             WHERE me.memory_id = ?1 ORDER BY e.id",
            [memory.key],
            |r| {
                Ok(SnapshotEntity {
                    uid: r.get(0)?,
                    canonical: r.get(1)?,
                    canon_key: r.get(2)?,
                    kind: r.get(3)?,
                })
            },
        )?;
        let links = links::around(tx, &[memory.key])?
            .into_iter()
            .filter(|link| link.kind != LinkKind::Semantic)
            .map(|link| (link.from.0, link.kind.code(), link.to.0, link.weight))
            .collect();
        Ok(Self { entities, links })
    }

    fn put_back(self, tx: &WriteTx<'_>, memory: &Memory) -> Result<()> {
        let mut keys = Vec::new();
        for entity in self.entities {
            let key = match entities::find(tx, memory.bank, &entity.canon_key)? {
                Some(known) => known.key,
                None => {
                    let kind = if entity.kind == 1 {
                        entities::EntityKind::Label
                    } else {
                        entities::EntityKind::Regular
                    };
                    entities::insert(
                        tx,
                        memory.bank,
                        &entity.uid,
                        &entity.canonical,
                        &entity.canon_key,
                        kind,
                        memory.event_at,
                    )?
                }
            };
            keys.push(key);
        }
        entities::attach(tx, memory.key, &keys, memory.event_at)?;
        for (from, kind, to, weight) in self.links {
            let other = if from == memory.key.0 { to } else { from };
            let lives = tx
                .find("SELECT 1 FROM memory WHERE id = ?1 AND state = 0", [other], |_| Ok(()))?
                .is_some();
            if lives {
                let kind = LinkKind::from_code(kind);
                let link = Link { from: MemoryKey(from), kind, to: MemoryKey(to), weight };
                links::insert(tx, &[link])?;
            }
        }
        Ok(())
    }
}
