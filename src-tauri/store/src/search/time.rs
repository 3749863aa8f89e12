//! Finding memories by when they happened or were told, and the neighbours of one in time. Reading
//! dates out of a question is not known here.

use domain::time::{from_millis, to_millis};
use domain::{FactType, Instant};

use super::{Clause, Scope};
use crate::error::Result;
use crate::keys::MemoryKey;
use crate::row;
use crate::tx::ReadTx;

/// The dates of a memory, and what else ordering needs beside them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dated {
    /// The memory.
    pub key: MemoryKey,
    /// When the told event began.
    pub occurred_start: Option<Instant>,
    /// When the told event ended.
    pub occurred_end: Option<Instant>,
    /// When the source says it.
    pub mentioned_at: Option<Instant>,
    /// The time it is ordered by.
    pub event_at: Instant,
    /// For an observation, how many valid facts it was folded from; 0 for a fact.
    pub proof_count: u32,
}

const COLUMNS: &str =
    "m.id, m.occurred_start, m.occurred_end, m.mentioned_at, m.event_at, m.proof_count";

fn read(r: &rusqlite::Row<'_>) -> rusqlite::Result<Dated> {
    Ok(Dated {
        key: r.get(0)?,
        occurred_start: row::at_opt(r, 1)?,
        occurred_end: row::at_opt(r, 2)?,
        mentioned_at: row::at_opt(r, 3)?,
        event_at: row::at(r, 4)?,
        proof_count: row::count(r, 5)?,
    })
}

/// The dates of some memories, in no particular order.
pub fn dates(tx: &ReadTx<'_>, keys: &[MemoryKey]) -> Result<Vec<Dated>> {
    tx.list(
        &format!("SELECT {COLUMNS} FROM json_each(?1) j CROSS JOIN memory m ON m.id = j.value"),
        [row::id_list(keys.iter().map(|k| k.0))],
        read,
    )
}

/// Memories of the scope (which carries the window, `told_between`), those nearest to the middle of
/// the window first, at most `limit`. For searches without vectors or words.
pub fn in_window(tx: &ReadTx<'_>, scope: &Scope, limit: usize) -> Result<Vec<Dated>> {
    let Some((from, to)) = scope.told_between else { return Ok(Vec::new()) };
    if scope.is_empty() {
        return Ok(Vec::new());
    }
    let mut clause = Clause::default();
    scope.restrict(&mut clause);
    let middle = clause.bind(i64::midpoint(to_millis(from), to_millis(to)));
    let limit = clause.bind(i64::try_from(limit).unwrap_or(i64::MAX));
    let sql = format!(
        "SELECT {COLUMNS} FROM memory m WHERE{}
         ORDER BY abs(m.event_at - ?{middle}), m.id DESC LIMIT ?{limit}",
        clause.sql
    );
    tx.list(&sql, rusqlite::params_from_iter(clause.values), read)
}

/// The memories of one type nearest in time to a moment, at most `each_way` before and after it and
/// not farther than `within_ms`, the memory itself left out: two walks on an index.
pub fn neighbours(
    tx: &ReadTx<'_>,
    scope: &Scope,
    fact_type: FactType,
    of: &Dated,
    within_ms: i64,
    each_way: u32,
) -> Result<Vec<(MemoryKey, Instant)>> {
    if scope.is_empty() || !scope.types.contains(&fact_type) {
        return Ok(Vec::new());
    }
    let at = to_millis(of.event_at);
    let mut found = Vec::new();
    for (range, order) in [
        ("m.event_at <= ?{at} AND m.event_at >= ?{end}", "DESC"),
        ("m.event_at > ?{at} AND m.event_at <= ?{end}", "ASC"),
    ] {
        let mut clause = Clause::default();
        scope.only(fact_type).restrict(&mut clause);
        let end = if order == "DESC" { at - within_ms } else { at + within_ms };
        let range = range
            .replace("{at}", &clause.bind(at).to_string())
            .replace("{end}", &clause.bind(end).to_string());
        let own = clause.bind(of.key.0);
        let limit = clause.bind(i64::from(each_way));
        let sql = format!(
            "SELECT m.id, m.event_at FROM memory m WHERE{} AND {range} AND m.id <> ?{own}
             ORDER BY m.event_at {order} LIMIT ?{limit}",
            clause.sql
        );
        found.extend(tx.list(&sql, rusqlite::params_from_iter(clause.values), |r| {
            Ok((r.get(0)?, from_millis(r.get(1)?)))
        })?);
    }
    Ok(found)
}
