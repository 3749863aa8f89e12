//! Observations and the facts they were folded from; which facts still wait for folding. How facts
//! are folded is not known here.

use std::collections::BTreeSet;

use domain::time::to_millis;
use domain::{CacheTag, Instant, MemoryId};
use serde_json::{Value, json};

use super::index::{self, Indexed};
use super::{JOINS, Memory, SELECT, State, read};
use crate::error::Result;
use crate::keys::{BankKey, MemoryKey};
use crate::row;
use crate::tx::{ReadTx, WriteTx};

/// Adds sources to an observation and derives its proof count anew.
pub(crate) fn add_sources(
    tx: &WriteTx<'_>,
    observation: MemoryKey,
    sources: &[MemoryKey],
) -> Result<()> {
    if sources.is_empty() {
        return Ok(());
    }
    for source in sources {
        tx.run(
            "INSERT INTO observation_source (observation_id, source_id) VALUES (?1, ?2)
             ON CONFLICT DO NOTHING",
            (observation, source),
        )?;
    }
    tx.run(
        "UPDATE memory SET proof_count = (
             SELECT count(*) FROM observation_source o JOIN memory f ON f.id = o.source_id
             WHERE o.observation_id = ?1 AND f.state = 0)
         WHERE id = ?1",
        [observation],
    )?;
    Ok(())
}

/// The facts that observations were folded from: pairs of observation and fact.
pub fn sources(tx: &ReadTx<'_>, observations: &[MemoryKey]) -> Result<Vec<(MemoryKey, MemoryKey)>> {
    tx.list(
        "SELECT o.observation_id, o.source_id
         FROM json_each(?1) j JOIN observation_source o ON o.observation_id = j.value
         ORDER BY o.observation_id, o.source_id",
        [row::id_list(observations.iter().map(|k| k.0))],
        |r| Ok((r.get(0)?, r.get(1)?)),
    )
}

/// The observations that facts were folded into: pairs of fact and observation.
pub fn observations_of(
    tx: &ReadTx<'_>,
    facts: &[MemoryKey],
) -> Result<Vec<(MemoryKey, MemoryKey)>> {
    tx.list(
        "SELECT o.source_id, o.observation_id
         FROM json_each(?1) j JOIN observation_source o ON o.source_id = j.value
         ORDER BY o.source_id, o.observation_id",
        [row::id_list(facts.iter().map(|k| k.0))],
        |r| Ok((r.get(0)?, r.get(1)?)),
    )
}

/// What changes in an observation.
#[derive(Debug, Clone, PartialEq)]
pub struct ObservationChange {
    /// The text from now on.
    pub text: String,
    /// Facts added as proof.
    pub new_sources: Vec<MemoryKey>,
    /// Its dates from now on: begin, end, mention.
    pub times: [Option<Instant>; 3],
    /// Why, for the history.
    pub reason: String,
    /// The vector of the new text, if that changed.
    pub vector: Option<Vec<f32>>,
    /// How many entries its history keeps.
    pub history_limit: u32,
}

/// Rewrites an observation; its former state goes to its history.
pub fn update_observation(
    tx: &WriteTx<'_>,
    old: &Memory,
    change: &ObservationChange,
    now: Instant,
) -> Result<()> {
    let stamp = tx.stamp(old.bank, now)?;
    let times = json!({
        "occurred_start": row::ms(old.occurred_start),
        "occurred_end": row::ms(old.occurred_end),
        "mentioned_at": row::ms(old.mentioned_at),
    });
    let new_sources = super::by_keys(tx, &change.new_sources)?;
    let new_ids: Vec<&MemoryId> = new_sources.iter().map(|m| &m.id).collect();
    tx.run(
        "INSERT INTO observation_history
             (observation_id, changed_at, prev_text, prev_tags, prev_times, new_source_ids, reason)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        (
            old.key,
            to_millis(stamp),
            &old.text,
            row::text(&old.tags)?,
            row::text(&times)?,
            row::text(&new_ids)?,
            &change.reason,
        ),
    )?;
    tx.run(
        "DELETE FROM observation_history WHERE observation_id = ?1 AND id NOT IN (
             SELECT id FROM observation_history WHERE observation_id = ?1
             ORDER BY changed_at DESC, id DESC LIMIT ?2)",
        (old.key, change.history_limit),
    )?;
    let [start, end, mentioned] = change.times;
    let event = start.or(mentioned).unwrap_or(old.created_at);
    tx.run(
        "UPDATE memory SET text = ?2, occurred_start = ?3, occurred_end = ?4, mentioned_at = ?5,
             event_at = ?6, updated_at = ?7, change_seq = ?8
         WHERE id = ?1",
        (
            old.key,
            &change.text,
            row::ms(start),
            row::ms(end),
            row::ms(mentioned),
            to_millis(event),
            to_millis(stamp),
            tx.next_seq(old.bank)?,
        ),
    )?;
    add_sources(tx, old.key, &change.new_sources)?;
    index::drop_text(tx, old.key)?;
    index::put_text(
        tx,
        &Indexed {
            key: old.key,
            text: &change.text,
            context: old.context.as_deref(),
            occurred: [start, end],
        },
    )?;
    if let (Some(vector), Some(embedder)) = (&change.vector, index::embedder_of(tx, old.bank)?) {
        index::write_vector(tx, &embedder, old.bank, old.key, old.fact_type, vector)?;
    }
    tx.changed(old.bank, CacheTag::Memories, Some(&old.id.0))
}

/// A former state of an observation.
#[derive(Debug, Clone, PartialEq)]
pub struct ObservationHistory {
    /// When it was replaced.
    pub changed_at: Instant,
    /// Its text then.
    pub prev_text: String,
    /// Its tags then.
    pub prev_tags: BTreeSet<String>,
    /// Its dates then, in milliseconds: `occurred_start`, `occurred_end`, `mentioned_at`.
    pub prev_times: Value,
    /// The facts that this change added.
    pub new_source_ids: Vec<MemoryId>,
    /// Why it was changed.
    pub reason: String,
}

/// The former states of an observation, newest first.
pub fn observation_history(tx: &ReadTx<'_>, key: MemoryKey) -> Result<Vec<ObservationHistory>> {
    tx.list(
        "SELECT changed_at, prev_text, prev_tags, prev_times, new_source_ids, reason
         FROM observation_history WHERE observation_id = ?1 ORDER BY changed_at DESC, id DESC",
        [key],
        |r| {
            Ok(ObservationHistory {
                changed_at: row::at(r, 0)?,
                prev_text: r.get(1)?,
                prev_tags: row::parsed(r, 2)?,
                prev_times: row::json(r, 3)?,
                new_source_ids: row::parsed(r, 4)?,
                reason: r.get(5)?,
            })
        },
    )
}

/// Facts that wait for folding, oldest first, at most `limit`.
pub fn pending(tx: &ReadTx<'_>, bank: BankKey, limit: u32) -> Result<Vec<Memory>> {
    // Named, because without statistics the planner walks every live fact instead.
    tx.list(
        &format!(
            "{SELECT} FROM (
                 SELECT id FROM memory INDEXED BY m_todo
                 WHERE bank_id = ?1 AND state = 0 AND fact_type < 2
                   AND consolidated_at IS NULL AND consolidation_failed_at IS NULL
                 ORDER BY created_at, id LIMIT ?2) p
             CROSS JOIN memory m ON m.id = p.id {JOINS} ORDER BY m.created_at, m.id"
        ),
        (bank, limit),
        read,
    )
}

/// Marks facts as folded. Bookkeeping: `updated_at` and the sequence stay.
pub fn mark_consolidated(tx: &WriteTx<'_>, facts: &[MemoryKey], now: Instant) -> Result<()> {
    tx.run(
        "UPDATE memory SET consolidated_at = ?2, consolidation_failed_at = NULL,
             consolidation_error = NULL
         WHERE id IN (SELECT value FROM json_each(?1)) AND fact_type < 2",
        (row::id_list(facts.iter().map(|k| k.0)), to_millis(now)),
    )?;
    Ok(())
}

/// Marks a fact as one that cannot be folded. Bookkeeping.
pub fn mark_failed(tx: &WriteTx<'_>, fact: MemoryKey, error: &str, now: Instant) -> Result<()> {
    tx.run(
        "UPDATE memory SET consolidation_failed_at = ?2, consolidation_error = ?3 WHERE id = ?1",
        (fact, to_millis(now), error),
    )?;
    Ok(())
}

/// Puts facts back into the queue for folding. Bookkeeping.
pub fn requeue(tx: &WriteTx<'_>, facts: &[MemoryKey]) -> Result<()> {
    tx.run(
        "UPDATE memory SET consolidated_at = NULL, consolidation_failed_at = NULL,
             consolidation_error = NULL
         WHERE id IN (SELECT value FROM json_each(?1)) AND fact_type < 2",
        [row::id_list(facts.iter().map(|k| k.0))],
    )?;
    Ok(())
}

/// Takes away every observation folded from one of some facts, and puts their other facts back into
/// the queue. Observations that a mental model cites stay as invalidated, so that the citation can
/// be shown. Gives the number of observations.
pub(crate) fn sweep(tx: &WriteTx<'_>, facts: &[MemoryKey], now: Instant) -> Result<u32> {
    let gone: BTreeSet<MemoryKey> = facts.iter().copied().collect();
    let observations: BTreeSet<MemoryKey> =
        observations_of(tx, facts)?.into_iter().map(|(_, o)| o).collect();
    let observations: Vec<MemoryKey> = observations.into_iter().collect();
    let others: BTreeSet<MemoryKey> = sources(tx, &observations)?
        .into_iter()
        .map(|(_, fact)| fact)
        .filter(|fact| !gone.contains(fact))
        .collect();
    requeue(tx, &others.into_iter().collect::<Vec<_>>())?;
    let mut swept = 0;
    for observation in super::by_keys(tx, &observations)? {
        if observation.state == State::Valid {
            super::remove::take_out_observation(tx, &observation, now)?;
            swept += 1;
        }
    }
    Ok(swept)
}
