//! Observations and the facts they were folded from: adding proof, rewriting with history, taking
//! one into another. How facts are folded is not known here.

use std::collections::BTreeSet;

use domain::time::to_millis;
use domain::{CacheTag, Instant, MemoryId};
use serde_json::{Value, json};

use super::Memory;
use super::index::{self, Indexed};
use crate::error::Result;
use crate::keys::MemoryKey;
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
    derive_proof(tx, observation)
}

/// Counts the live sources of an observation anew.
fn derive_proof(tx: &WriteTx<'_>, observation: MemoryKey) -> Result<()> {
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
    remember(tx, old, &change.new_sources, &change.reason, change.history_limit, stamp)?;
    let [start, end, mentioned] = change.times;
    let event = start.or(mentioned).unwrap_or(old.created_at);
    tx.run(
        "UPDATE memory SET text = ?2, occurred_start = ?3, occurred_end = ?4, mentioned_at = ?5,
             event_at = ?6, updated_at = ?7, change_seq = ?8, needs_review = 0
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

/// Writes the state of an observation into its history, which keeps the newest `limit` entries.
fn remember(
    tx: &WriteTx<'_>,
    old: &Memory,
    new_sources: &[MemoryKey],
    reason: &str,
    limit: u32,
    stamp: Instant,
) -> Result<()> {
    let times = json!({
        "occurred_start": row::ms(old.occurred_start),
        "occurred_end": row::ms(old.occurred_end),
        "mentioned_at": row::ms(old.mentioned_at),
    });
    let new_sources = super::by_keys(tx, new_sources)?;
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
            reason,
        ),
    )?;
    tx.run(
        "DELETE FROM observation_history WHERE observation_id = ?1 AND id NOT IN (
             SELECT id FROM observation_history WHERE observation_id = ?1
             ORDER BY changed_at DESC, id DESC LIMIT ?2)",
        (old.key, limit),
    )?;
    Ok(())
}

/// Takes the sources of an observation into another one and the observation away: two that said the
/// same become one.
pub fn absorb(tx: &WriteTx<'_>, survivor: MemoryKey, gone: &Memory, now: Instant) -> Result<()> {
    let own: Vec<MemoryKey> =
        sources(tx, &[gone.key])?.into_iter().map(|(_, source)| source).collect();
    add_sources(tx, survivor, &own)?;
    super::remove::take_out_observation(tx, gone, now)
}

/// Takes away an observation that others have superseded. Its facts stay folded.
pub fn drop_superseded(tx: &WriteTx<'_>, observation: &Memory, now: Instant) -> Result<()> {
    super::remove::take_out_observation(tx, observation, now)
}

/// Takes sources from an observation that keeps others, and marks it for the next consolidation.
pub(super) fn weaken(
    tx: &WriteTx<'_>,
    observation: &Memory,
    lost: &[MemoryKey],
    history_limit: u32,
    now: Instant,
) -> Result<()> {
    let stamp = tx.stamp(observation.bank, now)?;
    remember(tx, observation, &[], "A source was withdrawn.", history_limit, stamp)?;
    tx.run(
        "DELETE FROM observation_source
         WHERE observation_id = ?1 AND source_id IN (SELECT value FROM json_each(?2))",
        (observation.key, row::id_list(lost.iter().map(|k| k.0))),
    )?;
    derive_proof(tx, observation.key)?;
    tx.run(
        "UPDATE memory SET needs_review = 1, updated_at = ?2, change_seq = ?3 WHERE id = ?1",
        (observation.key, to_millis(stamp), tx.next_seq(observation.bank)?),
    )?;
    tx.changed(observation.bank, CacheTag::Memories, Some(&observation.id.0))
}

/// Takes the mark off an observation that still holds as it is. Bookkeeping: nothing of what it says
/// has changed.
pub fn keep_as_reviewed(tx: &WriteTx<'_>, observation: &Memory) -> Result<()> {
    tx.run("UPDATE memory SET needs_review = 0 WHERE id = ?1", [observation.key])?;
    tx.changed(observation.bank, CacheTag::Memories, Some(&observation.id.0))
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
