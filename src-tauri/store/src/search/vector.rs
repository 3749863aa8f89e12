//! Finding memories by meaning, and how like given ones are. The file holds each vector once, in its
//! embedder's vec0 table; where a copy of a bank is held in memory, that answers. Making vectors is
//! not known here.

use std::collections::HashMap;

use super::block::Query;
use super::{Clause, Hit, Scope, best_of_each, matrix};
use crate::embedders::{Embedder, bytes, floats};
use crate::error::{Error, Result};
use crate::keys::{BankKey, MemoryKey};
use crate::tx::ReadTx;

/// vec0 refuses to look for more neighbours at once.
const MAX_NEIGHBOURS: usize = 4096;

/// The memories nearest to a vector, at most `per_type` of each type, with a cosine of at least
/// `floor`. The score is the cosine.
///
/// # Errors
/// `DimensionMismatch`.
pub fn nearest(
    tx: &ReadTx<'_>,
    scope: &Scope,
    embedder: &Embedder,
    query: &[f32],
    per_type: usize,
    floor: f64,
) -> Result<Vec<Hit>> {
    check(embedder, query)?;
    if scope.is_empty() || per_type == 0 {
        return Ok(Vec::new());
    }
    match matrix::of_bank(tx, scope.bank, embedder)? {
        Some(matrix) => Ok(matrix.nearest(scope, query, per_type, floor)),
        None => scan(tx, scope, embedder, query, per_type, floor),
    }
}

/// The same by vec0 alone, one scan per type: for write transactions and banks that are not held in
/// memory.
pub(crate) fn scan(
    tx: &ReadTx<'_>,
    scope: &Scope,
    embedder: &Embedder,
    query: &[f32],
    per_type: usize,
    floor: f64,
) -> Result<Vec<Hit>> {
    let query = bytes(query);
    let mut hits = Vec::new();
    for fact_type in &scope.types {
        let mut clause = Clause::default();
        clause.and("e MATCH ", query.clone());
        clause.and("k = ", i64::try_from(per_type.min(MAX_NEIGHBOURS)).unwrap_or(1));
        clause.and("bank = ", scope.bank.0);
        clause.and("fact_type = ", fact_type.code());
        if scope.is_narrow() {
            let mut inner =
                Clause { values: std::mem::take(&mut clause.values), ..Clause::default() };
            scope.only(*fact_type).restrict(&mut inner);
            clause.values = inner.values;
            clause
                .text(&format!("AND memory_id IN (SELECT m.id FROM memory m WHERE{})", inner.sql));
        }
        let sql = format!(
            "SELECT memory_id, distance FROM {} WHERE{}",
            embedder.key.memory_table(),
            clause.sql
        );
        let fact_type = *fact_type;
        hits.extend(tx.list(&sql, rusqlite::params_from_iter(clause.values), |r| {
            Ok(Hit { key: r.get(0)?, fact_type, score: 1.0 - r.get::<_, f64>(1)? })
        })?);
    }
    hits.retain(|hit| hit.score >= floor);
    Ok(best_of_each(hits, per_type))
}

/// The cosine of some memories with a vector, as near as the bank is held: off by 0.001 at most where
/// the copy in memory holds bytes, exact otherwise. Memories without a vector are left out.
///
/// # Errors
/// `DimensionMismatch`.
pub fn scores(
    tx: &ReadTx<'_>,
    embedder: &Embedder,
    query: &[f32],
    keys: &[MemoryKey],
) -> Result<HashMap<MemoryKey, f64>> {
    check(embedder, query)?;
    let bank: Option<BankKey> = match keys.first() {
        Some(key) => tx.find("SELECT bank_id FROM memory WHERE id = ?1", [key], |r| r.get(0))?,
        None => None,
    };
    let matrix = match bank {
        Some(bank) => matrix::of_bank(tx, bank, embedder)?,
        None => None,
    };
    Ok(match matrix {
        Some(matrix) => {
            let query = Query::of(query);
            keys.iter().filter_map(|key| Some((*key, matrix.score(&query, *key)?))).collect()
        }
        None => stored(tx, embedder, keys)?
            .into_iter()
            .map(|(key, vector)| (key, cosine(query, &vector)))
            .collect(),
    })
}

/// Takes a bank's vectors into memory ahead of the first search, which then is as quick as the
/// next.
pub fn warm(tx: &ReadTx<'_>, bank: BankKey, embedder: &Embedder) -> Result<()> {
    matrix::of_bank(tx, bank, embedder).map(|_| ())
}

/// The vectors of some memories as they are stored.
pub fn stored(
    tx: &ReadTx<'_>,
    embedder: &Embedder,
    keys: &[MemoryKey],
) -> Result<HashMap<MemoryKey, Vec<f32>>> {
    let mut statement =
        tx.prepare(&format!("SELECT e FROM {} WHERE memory_id = ?1", embedder.key.memory_table()))?;
    let mut found = HashMap::with_capacity(keys.len());
    for key in keys {
        let mut rows = statement.query([key])?;
        if let Some(r) = rows.next()? {
            found.insert(*key, floats(r.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?));
        }
    }
    Ok(found)
}

fn check(embedder: &Embedder, query: &[f32]) -> Result<()> {
    if query.len() == embedder.dim {
        Ok(())
    } else {
        Err(Error::DimensionMismatch { got: query.len(), want: embedder.dim })
    }
}

/// The cosine of two vectors of one length; 0 when one of them is all zeros.
pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let (mut dot, mut aa, mut bb) = (0.0f64, 0.0f64, 0.0f64);
    for (x, y) in a.iter().zip(b) {
        let (x, y) = (f64::from(*x), f64::from(*y));
        dot += x * y;
        aa += x * x;
        bb += y * y;
    }
    if aa == 0.0 || bb == 0.0 { 0.0 } else { dot / (aa.sqrt() * bb.sqrt()) }
}
