//! How new the memories of a scope are: the newest sequence numbers, and what waits for folding.
//! What makes a document stale is decided elsewhere, from these numbers.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use domain::time::from_millis;
use domain::{FactType, Instant};

use crate::error::Result;
use crate::keys::{BankKey, TagSetKey};
use crate::row;
use crate::search::{Clause, Scope};
use crate::tag_sets::TagSets;
use crate::tx::ReadTx;

/// The newest sequence number of every (type, tag set) of a bank. Read once, it answers for every
/// scope of the bank, so a list of models costs one statement.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Newest {
    by_set: HashMap<(FactType, TagSetKey), i64>,
}

impl Newest {
    /// The newest number among some types and tag sets, if there is any memory.
    #[must_use]
    pub fn within(&self, types: &[FactType], sets: &TagSets) -> Option<i64> {
        self.by_set
            .iter()
            .filter(|((fact_type, set), _)| types.contains(fact_type) && sets.admits(*set))
            .map(|(_, seq)| *seq)
            .max()
    }

    /// How many memories of some types and tag sets were written after a sequence number, counted
    /// up to `cap`. `recent` keeps what was read for one scope for the next.
    ///
    /// # Errors
    /// Those of reading.
    pub fn count_newer(
        &self,
        tx: &ReadTx<'_>,
        bank: BankKey,
        (types, sets): (&[FactType], &TagSets),
        seq: i64,
        recent: &mut Recent,
    ) -> Result<u32> {
        let mut count = 0;
        for ((fact_type, set), newest) in &self.by_set {
            if *newest <= seq || !types.contains(fact_type) || !sets.admits(*set) {
                continue;
            }
            let seqs = recent.of_set(tx, bank, (*fact_type, *set))?;
            let newer = seqs.partition_point(|known| *known > seq);
            count += u32::try_from(newer).unwrap_or(u32::MAX);
            if count >= recent.cap {
                return Ok(recent.cap);
            }
        }
        Ok(count)
    }
}

/// The newest few sequence numbers of each (type, tag set) that was asked for, newest first. Enough
/// to count newer memories up to a cap for any number of models.
#[derive(Debug)]
pub struct Recent {
    cap: u32,
    by_set: HashMap<(FactType, TagSetKey), Vec<i64>>,
}

impl Recent {
    /// For counts up to `cap`.
    #[must_use]
    pub fn up_to(cap: u32) -> Self {
        Self { cap, by_set: HashMap::new() }
    }

    fn of_set(
        &mut self,
        tx: &ReadTx<'_>,
        bank: BankKey,
        slot: (FactType, TagSetKey),
    ) -> Result<&[i64]> {
        match self.by_set.entry(slot) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(free) => Ok(free.insert(tx.list(
                "SELECT change_seq FROM memory INDEXED BY m_scope
                 WHERE bank_id = ?1 AND state = 0 AND fact_type = ?2 AND tag_set_id = ?3
                 ORDER BY change_seq DESC LIMIT ?4",
                (bank, slot.0.code(), slot.1, self.cap),
                |r| r.get(0),
            )?)),
        }
    }
}

/// Reads the newest numbers of a bank. `up_to` leaves out what was written after it.
pub fn newest(tx: &ReadTx<'_>, bank: BankKey, up_to: Option<i64>) -> Result<Newest> {
    let rows = tx.list(
        "SELECT t.value, s.id, (
             SELECT m.change_seq FROM memory m INDEXED BY m_scope
             WHERE m.bank_id = ?1 AND m.state = 0 AND m.fact_type = t.value
               AND m.tag_set_id = s.id AND m.change_seq <= ?2
             ORDER BY m.change_seq DESC LIMIT 1) AS seq
         FROM tag_set s CROSS JOIN json_each('[0,1,2]') t
         WHERE s.bank_id = ?1 AND seq IS NOT NULL",
        (bank, up_to.unwrap_or(i64::MAX)),
        |r| Ok(((crate::memories::fact_type(r, 0)?, r.get(1)?), r.get(2)?)),
    )?;
    Ok(Newest { by_set: rows.into_iter().collect() })
}

/// How many valid memories of each (type, tag set) a bank holds. Read once, it tells the reach of
/// every scope of the bank.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    by_set: HashMap<(FactType, TagSetKey), u32>,
}

impl Counts {
    /// How many there are among some types and tag sets.
    #[must_use]
    pub fn within(&self, types: &[FactType], sets: &TagSets) -> u32 {
        self.by_set
            .iter()
            .filter(|((fact_type, set), _)| types.contains(fact_type) && sets.admits(*set))
            .map(|(_, count)| *count)
            .sum()
    }
}

/// Counts the valid memories of a bank by type and tag set.
pub fn counts(tx: &ReadTx<'_>, bank: BankKey) -> Result<Counts> {
    let rows = tx.list(
        "SELECT fact_type, tag_set_id, count(*) FROM memory INDEXED BY m_scope
         WHERE bank_id = ?1 AND state = 0 GROUP BY fact_type, tag_set_id",
        [bank],
        |r| Ok(((crate::memories::fact_type(r, 0)?, r.get(1)?), row::count(r, 2)?)),
    )?;
    Ok(Counts { by_set: rows.into_iter().collect() })
}

/// Whether a memory of the scope was written after a sequence number. Times of the scope are not
/// looked at: sequence decides.
pub fn is_newer(tx: &ReadTx<'_>, scope: &Scope, seq: i64) -> Result<bool> {
    Ok(newest(tx, scope.bank, scope.up_to_seq)?
        .within(&scope.types, &scope.tag_sets)
        .is_some_and(|newest| newest > seq))
}

/// How many memories of the scope were written after a sequence number, counted up to `cap`.
pub fn count_newer(tx: &ReadTx<'_>, scope: &Scope, seq: i64, cap: u32) -> Result<u32> {
    if scope.is_empty() {
        return Ok(0);
    }
    let mut clause = Clause::default();
    Scope { after_seq: Some(seq), ..scope.clone() }.restrict(&mut clause);
    let cap = clause.bind(i64::from(cap));
    tx.one(
        &format!("SELECT count(*) FROM (SELECT 1 FROM memory m WHERE{} LIMIT ?{cap})", clause.sql),
        rusqlite::params_from_iter(clause.values),
        |r| row::count(r, 0),
    )
}

/// The `updated_at` of the memory with a sequence number: what a watermark is shown as.
pub fn time_of_seq(tx: &ReadTx<'_>, bank: BankKey, seq: i64) -> Result<Option<Instant>> {
    tx.find(
        "SELECT updated_at FROM memory WHERE bank_id = ?1 AND change_seq = ?2",
        (bank, seq),
        |r| Ok(from_millis(r.get(0)?)),
    )
}

/// How many facts of each tag set wait for folding; sets with none are left out.
pub fn pending(tx: &ReadTx<'_>, bank: BankKey) -> Result<Vec<(TagSetKey, u32)>> {
    // Named, because without statistics the planner walks every live fact instead.
    tx.list(
        "SELECT tag_set_id, count(*) FROM memory INDEXED BY m_todo
         WHERE bank_id = ?1 AND state = 0 AND fact_type < 2
           AND consolidated_at IS NULL AND consolidation_failed_at IS NULL
         GROUP BY tag_set_id",
        [bank],
        |r| Ok((r.get(0)?, row::count(r, 1)?)),
    )
}

/// The tag sets of facts that wait for folding, with the scopes that some of them were given; none
/// stands for facts that go by the bank's rule.
pub fn pending_scopes(
    tx: &ReadTx<'_>,
    bank: BankKey,
) -> Result<Vec<(TagSetKey, Option<serde_json::Value>)>> {
    tx.list(include_str!("../sql/pending_scopes.sql"), [bank], |r| {
        Ok((r.get(0)?, row::json_opt(r, 1)?))
    })
}

/// Whether any fact waits for folding.
pub fn is_pending(tx: &ReadTx<'_>, bank: BankKey) -> Result<bool> {
    tx.one(
        "SELECT EXISTS (
             SELECT 1 FROM memory INDEXED BY m_todo
             WHERE bank_id = ?1 AND state = 0 AND fact_type < 2
               AND consolidated_at IS NULL AND consolidation_failed_at IS NULL)",
        [bank],
        |r| r.get(0),
    )
}

/// How many facts could not be folded.
pub fn failed(tx: &ReadTx<'_>, bank: BankKey) -> Result<u32> {
    tx.one(
        "SELECT count(*) FROM memory
         WHERE bank_id = ?1 AND consolidation_failed_at IS NOT NULL AND state = 0",
        [bank],
        |r| row::count(r, 0),
    )
}
