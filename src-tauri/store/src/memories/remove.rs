//! Removing memories for good, with everything that hangs on them.

use std::collections::BTreeSet;

use domain::time::to_millis;
use domain::{CacheTag, DocumentId, FactType, Instant, ModelId};

use super::{INVALIDATED, Memory, State, counter, index};
use crate::error::Result;
use crate::keys::{BankKey, MemoryKey};
use crate::tombstones::{self, Cause, NewTombstone};
use crate::tx::{ReadTx, WriteTx};
use crate::{entities, links, row};

/// What a removal took.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Removed {
    /// Memories asked for and removed.
    pub memories: u32,
    /// Observations that went because a source went.
    pub observations: u32,
}

/// What a removal would touch beyond the memories themselves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reach {
    /// Observations folded from them.
    pub observations: u32,
    /// Mental models that cite them or those observations.
    pub models: Vec<ModelId>,
}

/// What removing or invalidating some memories would touch.
pub fn reach(tx: &ReadTx<'_>, keys: &[MemoryKey]) -> Result<Reach> {
    let observations: BTreeSet<MemoryKey> =
        super::observations_of(tx, keys)?.into_iter().map(|(_, o)| o).collect();
    let all = row::id_list(keys.iter().chain(&observations).map(|k| k.0));
    Ok(Reach {
        observations: u32::try_from(observations.len()).unwrap_or(u32::MAX),
        models: tx.list(
            "SELECT DISTINCT mm.uid FROM json_each(?1) j
             JOIN memory m ON m.id = j.value
             JOIN model_citation c ON c.memory_uid = m.uid
             JOIN mental_model mm ON mm.id = c.model_id ORDER BY mm.uid",
            [all],
            |r| Ok(ModelId(r.get(0)?)),
        )?,
    })
}

/// Removes memories: their observations go (cause `swept`), the other facts of those are queued for
/// folding, a tombstone of the given cause stays for each. Keys that are not in the bank are
/// ignored.
pub fn remove(
    tx: &WriteTx<'_>,
    bank: BankKey,
    keys: &[MemoryKey],
    cause: Cause,
    successor: Option<&DocumentId>,
    now: Instant,
) -> Result<Removed> {
    let observations = super::folding::sweep(tx, bank, keys, now)?;
    let mut removed = Removed { observations, memories: 0 };
    for memory in super::by_keys(tx, keys)? {
        if memory.bank != bank {
            continue;
        }
        if memory.fact_type == FactType::Observation {
            let sources: Vec<MemoryKey> =
                super::sources(tx, &[memory.key])?.into_iter().map(|(_, s)| s).collect();
            super::requeue(tx, &sources)?;
        }
        unindex(tx, &memory, now)?;
        bury(tx, &memory, cause, successor, now)?;
        delete_row(tx, &memory)?;
        removed.memories += 1;
    }
    Ok(removed)
}

/// Takes a memory out of every index, link and entity. Does nothing to one already out of use.
pub(crate) fn unindex(tx: &WriteTx<'_>, memory: &Memory, now: Instant) -> Result<()> {
    if memory.state == State::Valid {
        index::drop_text(tx, memory.key)?;
        index::drop_vectors(tx, memory.key)?;
        links::drop_semantic(tx, memory.key, now)?;
        entities::detach(tx, memory.bank, memory.key)?;
    }
    Ok(())
}

/// Leaves a tombstone and stamps the bank.
pub(crate) fn bury(
    tx: &WriteTx<'_>,
    memory: &Memory,
    cause: Cause,
    successor: Option<&DocumentId>,
    now: Instant,
) -> Result<()> {
    let at = tx.stamp(memory.bank, now)?;
    tombstones::put(
        tx,
        memory.bank,
        &NewTombstone {
            memory: &memory.id.0,
            fact_type: memory.fact_type.code(),
            tag_set: memory.tag_set,
            text: &memory.text,
            cause,
            successor,
            at,
        },
    )
}

fn delete_row(tx: &WriteTx<'_>, memory: &Memory) -> Result<()> {
    tx.run("DELETE FROM memory WHERE id = ?1", [memory.key])?;
    let what = match memory.state {
        State::Valid => counter(memory.fact_type),
        State::Invalidated => INVALIDATED,
    };
    tx.count(memory.bank, what, -1)?;
    tx.changed(memory.bank, CacheTag::Memories, Some(&memory.id.0))
}

/// An observation whose source went: removed, or kept as invalidated when a mental model cites it.
pub(super) fn take_out_observation(
    tx: &WriteTx<'_>,
    observation: &Memory,
    now: Instant,
) -> Result<()> {
    unindex(tx, observation, now)?;
    bury(tx, observation, Cause::Swept, None, now)?;
    let cited = tx
        .find(
            "SELECT 1 FROM model_citation WHERE memory_uid = ?1 LIMIT 1",
            [&observation.id.0],
            |_| Ok(()),
        )?
        .is_some();
    if !cited {
        return delete_row(tx, observation);
    }
    let stamp = to_millis(tx.stamp(observation.bank, now)?);
    tx.run(
        "UPDATE memory SET state = 1, invalidated_at = ?2, updated_at = ?2,
             invalidation_reason = 'a source was removed', change_seq = ?3
         WHERE id = ?1",
        (observation.key, stamp, tx.next_seq(observation.bank)?),
    )?;
    tx.count(observation.bank, counter(observation.fact_type), -1)?;
    tx.count(observation.bank, INVALIDATED, 1)?;
    tx.changed(observation.bank, CacheTag::Memories, Some(&observation.id.0))
}
