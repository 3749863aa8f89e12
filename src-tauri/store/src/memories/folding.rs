//! Which facts wait to be folded, and what happens to observations when the facts they were folded
//! from go. How facts are folded is not known here.

use std::collections::BTreeSet;

use domain::Instant;
use domain::consolidation::{InvalidateMode, invalidate};
use domain::text::{fold, same_statement_key};
use domain::time::to_millis;

use super::{Memory, State, observations_of, sources};
use crate::error::Result;
use crate::keys::{BankKey, MemoryKey};
use crate::row;
use crate::tag_sets::TagSets;
use crate::tx::{ReadTx, WriteTx};

/// Words by which texts that could be equal are looked up; each costs a look into the index.
const PHRASE: usize = 40;

/// Facts that wait for folding and whose tag set is one of some, oldest first, at most `limit`.
pub fn pending_keys(
    tx: &ReadTx<'_>,
    bank: BankKey,
    sets: &TagSets,
    limit: u32,
) -> Result<Vec<MemoryKey>> {
    let these = match sets {
        TagSets::All => None,
        TagSets::These(sets) => Some(row::id_list(sets.iter().map(|set| set.0))),
    };
    // Named, because without statistics the planner walks every live fact instead.
    tx.list(
        "SELECT id FROM memory INDEXED BY m_todo
         WHERE bank_id = ?1 AND state = 0 AND fact_type < 2
           AND consolidated_at IS NULL AND consolidation_failed_at IS NULL
           AND (?2 IS NULL OR tag_set_id IN (SELECT value FROM json_each(?2)))
         ORDER BY created_at, id LIMIT ?3",
        (bank, these, limit),
        |r| r.get(0),
    )
}

/// Observations that lost a source and wait to be rewritten, oldest first.
pub fn to_review(tx: &ReadTx<'_>, bank: BankKey) -> Result<Vec<MemoryKey>> {
    tx.list(
        "SELECT id FROM memory INDEXED BY m_review
         WHERE bank_id = ?1 AND needs_review = 1 AND state = 0 ORDER BY id",
        [bank],
        |r| r.get(0),
    )
}

/// Memories in use that say the same as a text ([`same_statement_key`]): the observations of some tag
/// sets before the facts, the newest first, at most `limit`. Found by the words that the text begins
/// with, so that texts which differ in letters that only Unicode takes for equal (ß and ss) are not.
/// However many begin alike, only their texts are looked at, one after another.
pub fn saying_the_same(
    tx: &ReadTx<'_>,
    bank: BankKey,
    text: &str,
    scope: &TagSets,
    limit: usize,
) -> Result<Vec<Memory>> {
    let phrases: Vec<String> = [text.to_owned(), fold(text)]
        .iter()
        .map(|text| text.split_whitespace().take(PHRASE).collect::<Vec<_>>().join(" "))
        .filter(|text| text.chars().any(char::is_alphanumeric))
        .map(|text| format!("text : ^ \"{}\"", text.replace('"', " ")))
        .collect();
    if phrases.is_empty() {
        return Ok(Vec::new());
    }
    let these = match scope {
        TagSets::All => None,
        TagSets::These(sets) => Some(row::id_list(sets.iter().map(|set| set.0))),
    };
    let same = same_statement_key(text);
    let looked_at: Vec<Option<MemoryKey>> = tx.list(
        "SELECT m.id, m.text FROM fts_memory CROSS JOIN memory m ON m.id = fts_memory.rowid
         WHERE fts_memory MATCH ?2 AND m.bank_id = ?1 AND m.state = 0
           AND (m.fact_type < 2 OR ?3 IS NULL
                OR m.tag_set_id IN (SELECT value FROM json_each(?3)))
         ORDER BY m.fact_type = 2 DESC, m.event_at DESC, m.id DESC",
        (bank, phrases.join(" OR "), these),
        |r| Ok((same_statement_key(&r.get::<_, String>(1)?) == same).then_some(r.get(0)?)),
    )?;
    let found: Vec<MemoryKey> = looked_at.into_iter().flatten().take(limit).collect();
    super::by_keys(tx, &found)
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

/// Puts the facts that could not be folded back into the queue; gives their number.
pub fn retry_failed(tx: &WriteTx<'_>, bank: BankKey) -> Result<usize> {
    let failed = tx.run(
        "UPDATE memory SET consolidation_failed_at = NULL, consolidation_error = NULL
         WHERE bank_id = ?1 AND consolidation_failed_at IS NOT NULL",
        [bank],
    )?;
    if failed > 0 {
        tx.changed(bank, domain::CacheTag::Memories, None)?;
    }
    Ok(failed)
}

/// Which observations are to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfold {
    /// Those of these tag sets.
    Scopes(TagSets),
    /// Those folded from a fact.
    Fact(MemoryKey),
}

/// Takes observations away, at most `limit` of them, and puts the facts of these back into the
/// queue; gives their number. A fact by itself is queued, too.
pub fn unfold(
    tx: &WriteTx<'_>,
    bank: BankKey,
    which: &Unfold,
    limit: u32,
    now: Instant,
) -> Result<u32> {
    let observations: Vec<MemoryKey> = match which {
        Unfold::Fact(fact) => {
            requeue(tx, &[*fact])?;
            observations_of(tx, &[*fact])?.into_iter().map(|(_, o)| o).collect()
        }
        Unfold::Scopes(sets) => {
            let these = match sets {
                TagSets::All => None,
                TagSets::These(sets) => Some(row::id_list(sets.iter().map(|set| set.0))),
            };
            tx.list(
                "SELECT id FROM memory INDEXED BY m_scope
                 WHERE bank_id = ?1 AND state = 0 AND fact_type = 2
                   AND (?2 IS NULL OR tag_set_id IN (SELECT value FROM json_each(?2)))
                 LIMIT ?3",
                (bank, these, limit),
                |r| r.get(0),
            )?
        }
    };
    sweep_observations(tx, &observations, now)
}

/// Observations in use that rest on a fact with one of some tags and lack that tag themselves.
pub fn unmarked(tx: &ReadTx<'_>, bank: BankKey, tags: &[String]) -> Result<Vec<MemoryKey>> {
    tx.list(
        "SELECT DISTINCT o.observation_id
         FROM json_each(?2) j
         JOIN tag t ON t.bank_id = ?1 AND t.name = j.value
         JOIN tag_set_member tm ON tm.tag_id = t.id
         JOIN memory f ON f.tag_set_id = tm.tag_set_id AND f.fact_type < 2
         JOIN observation_source o ON o.source_id = f.id
         JOIN memory v ON v.id = o.observation_id AND v.state = 0
         WHERE NOT EXISTS (
             SELECT 1 FROM tag_set_member vm
             WHERE vm.tag_set_id = v.tag_set_id AND vm.tag_id = t.id)",
        (bank, row::text(tags)?),
        |r| r.get(0),
    )
}

/// Takes observations away and puts all their facts back into the queue; gives their number.
pub fn sweep_observations(
    tx: &WriteTx<'_>,
    observations: &[MemoryKey],
    now: Instant,
) -> Result<u32> {
    let facts: BTreeSet<MemoryKey> =
        sources(tx, observations)?.into_iter().map(|(_, fact)| fact).collect();
    requeue(tx, &facts.into_iter().collect::<Vec<_>>())?;
    take_out(tx, observations, now)
}

fn take_out(tx: &WriteTx<'_>, observations: &[MemoryKey], now: Instant) -> Result<u32> {
    let mut swept = 0;
    for observation in super::by_keys(tx, observations)? {
        if observation.state == State::Valid {
            super::remove::take_out_observation(tx, &observation, now)?;
            swept += 1;
        }
    }
    Ok(swept)
}

/// What the loss of facts does to the observations folded from them, as the bank's setting
/// `invalidate` says: they go, and their other facts are queued; or, while two of these are left,
/// they stay and are marked. Observations that a mental model cites stay as invalidated, so that the
/// citation can be shown. Gives the number of observations that went.
pub(crate) fn sweep(
    tx: &WriteTx<'_>,
    bank: BankKey,
    facts: &[MemoryKey],
    now: Instant,
) -> Result<u32> {
    let touched: BTreeSet<MemoryKey> =
        observations_of(tx, facts)?.into_iter().map(|(_, o)| o).collect();
    if touched.is_empty() {
        return Ok(0);
    }
    let observations: Vec<MemoryKey> = touched.into_iter().collect();
    let mut by_observation: Vec<(MemoryKey, Vec<MemoryKey>)> =
        observations.iter().map(|key| (*key, Vec::new())).collect();
    for (observation, source) in live_sources(tx, &observations)? {
        if let Ok(at) = by_observation.binary_search_by_key(&observation, |(key, _)| *key) {
            by_observation[at].1.push(source);
        }
    }
    let settings = crate::settings::of_bank(tx, &crate::banks::by_key(tx, bank)?)?;
    let mode: InvalidateMode = settings.invalidate;
    // Counting from live sources alone, an observation all of whose sources had gone before would be
    // passed over; it goes like the others.
    let gone: BTreeSet<MemoryKey> = facts.iter().copied().collect();
    for (_, own) in &mut by_observation {
        if !own.iter().any(|source| gone.contains(source)) {
            own.extend(facts.first());
        }
    }
    let outcome = invalidate(&by_observation, facts, mode);
    requeue(tx, &outcome.requeued)?;
    for observation in super::by_keys(tx, &outcome.needs_review)? {
        if observation.state == State::Valid {
            let limit = settings.observation_history_max_entries;
            super::observe::weaken(tx, &observation, facts, limit, now)?;
        }
    }
    take_out(tx, &outcome.deleted, now)
}

fn live_sources(
    tx: &ReadTx<'_>,
    observations: &[MemoryKey],
) -> Result<Vec<(MemoryKey, MemoryKey)>> {
    tx.list(
        "SELECT o.observation_id, o.source_id
         FROM json_each(?1) j JOIN observation_source o ON o.observation_id = j.value
         JOIN memory f ON f.id = o.source_id AND f.state = 0
         ORDER BY o.observation_id, o.source_id",
        [row::id_list(observations.iter().map(|k| k.0))],
        |r| Ok((r.get(0)?, r.get(1)?)),
    )
}
