//! The vectors of a bank held in memory, with what a scope asks about each memory beside them, so
//! that one pass answers for all types and any filter. A copy, nothing more: the vec0 table is the
//! truth, a copy is used only when its stamp is the snapshot's, and a bank beyond the limit is
//! answered by vec0 alone.
//!
//! Measured on 10,000 memories of 384 numbers (`tests/speed.rs`): three vec0 scans with 300
//! neighbours each take some thirty times as long as one pass here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::FactType;
use domain::time::to_millis;

use super::{Hit, Scope, best_first};
use crate::embedders::{Embedder, floats};
use crate::error::Result;
use crate::keys::{BankKey, EmbedderKey, MemoryKey, TagSetKey};
use crate::row;
use crate::tag_sets::TagSets;
use crate::tx::ReadTx;

/// Most vectors held, over all banks: 150 MB of 384 numbers each.
const MAX_ROWS: usize = 100_000;
/// Counter of vector writes that no sequence number tells of (backfills).
pub(crate) const BACKFILLS: &str = "vector_backfills";

/// The copies in memory, shared by all readers.
#[derive(Debug, Default)]
pub(crate) struct Matrices {
    held: Mutex<HashMap<(BankKey, EmbedderKey), Arc<Matrix>>>,
}

/// What a copy was taken of.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    /// Keys of banks may be used again; the id and the time of birth tell two banks apart.
    bank: (String, i64),
    write_seq: i64,
    backfills: i64,
}

/// What a scope asks about a memory.
#[derive(Debug, Clone, Copy)]
struct Traits {
    key: MemoryKey,
    fact_type: FactType,
    tag_set: TagSetKey,
    change_seq: i64,
    updated_at: i64,
    occurred: [Option<i64>; 2],
    mentioned_at: Option<i64>,
}

/// The vectors of one bank and embedder, of unit length, row by row.
#[derive(Debug, Clone)]
pub(crate) struct Matrix {
    stamp: Stamp,
    dim: usize,
    /// Every memory in use, those without a vector included.
    traits: HashMap<MemoryKey, Traits>,
    rows: Vec<Traits>,
    numbers: Vec<f32>,
    places: HashMap<MemoryKey, usize>,
}

/// The copy that fits the snapshot, taken or brought up to date if needed. None when the bank is
/// beyond the limit or the snapshot is older than the copy.
pub(crate) fn of_bank(
    tx: &ReadTx<'_>,
    bank: BankKey,
    embedder: &Embedder,
) -> Result<Option<Arc<Matrix>>> {
    let Some(matrices) = tx.matrices() else { return Ok(None) };
    let Some(stamp) = stamp(tx, bank)? else { return Ok(None) };
    let slot = (bank, embedder.key);
    let known = matrices.lock().get(&slot).cloned();
    if let Some(known) = &known {
        if known.stamp == stamp {
            return Ok(Some(Arc::clone(known)));
        }
        if known.stamp.bank == stamp.bank && known.stamp.write_seq > stamp.write_seq {
            return Ok(None);
        }
    }
    if vectors_held(tx, embedder)? > MAX_ROWS {
        matrices.lock().remove(&slot);
        return Ok(None);
    }
    let fresh = match known {
        Some(known) => match known.moved_on(tx, bank, embedder, &stamp)? {
            Some(fresh) => fresh,
            None => Matrix::load(tx, bank, embedder, stamp)?,
        },
        None => Matrix::load(tx, bank, embedder, stamp)?,
    };
    let fresh = Arc::new(fresh);
    let mut held = matrices.lock();
    held.insert(slot, Arc::clone(&fresh));
    if held.values().map(|m| m.rows.len()).sum::<usize>() > MAX_ROWS {
        held.retain(|key, _| *key == slot);
    }
    Ok(Some(fresh))
}

impl Matrices {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(BankKey, EmbedderKey), Arc<Matrix>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn stamp(tx: &ReadTx<'_>, bank: BankKey) -> Result<Option<Stamp>> {
    tx.find(
        "SELECT b.uid, b.created_at, b.write_seq, coalesce(c.n, 0) FROM bank b
         LEFT JOIN bank_counter c ON c.bank_id = b.id AND c.what = ?2 WHERE b.id = ?1",
        (bank, BACKFILLS),
        |r| Ok(Stamp { bank: (r.get(0)?, r.get(1)?), write_seq: r.get(2)?, backfills: r.get(3)? }),
    )
}

/// A bound of the number of vectors in the table, from its chunks alone.
fn vectors_held(tx: &ReadTx<'_>, embedder: &Embedder) -> Result<usize> {
    let bound: i64 = tx.one(
        &format!(
            "SELECT /* whole file */ coalesce(sum(size), 0) FROM {}_chunks",
            embedder.key.memory_table()
        ),
        [],
        |r| r.get(0),
    )?;
    Ok(usize::try_from(bound).unwrap_or(usize::MAX))
}

const TRAITS: &str = "m.id, m.fact_type, m.tag_set_id, m.change_seq, m.updated_at, \
    m.occurred_start, m.occurred_end, m.mentioned_at, m.state";

fn read_traits(r: &rusqlite::Row<'_>) -> rusqlite::Result<(Traits, bool)> {
    let traits = Traits {
        key: r.get(0)?,
        fact_type: crate::memories::fact_type(r, 1)?,
        tag_set: r.get(2)?,
        change_seq: r.get(3)?,
        updated_at: r.get(4)?,
        occurred: [r.get(5)?, r.get(6)?],
        mentioned_at: r.get(7)?,
    };
    Ok((traits, r.get::<_, i64>(8)? == 0))
}

impl Matrix {
    /// Copies the vectors chunk by chunk, as vec0 lays them out: a bitmap of used places, the keys,
    /// the vectors. (The layout belongs to the pinned version; a test compares with vec0's own
    /// answers.)
    fn load(tx: &ReadTx<'_>, bank: BankKey, embedder: &Embedder, stamp: Stamp) -> Result<Self> {
        let traits: HashMap<MemoryKey, Traits> = tx
            .list(
                &format!("SELECT {TRAITS} FROM memory m WHERE m.bank_id = ?1 AND m.state = 0"),
                [bank],
                read_traits,
            )?
            .into_iter()
            .map(|(traits, _)| (traits.key, traits))
            .collect();
        let table = embedder.key.memory_table();
        let mut matrix = Self {
            stamp,
            dim: embedder.dim,
            rows: Vec::with_capacity(traits.len()),
            numbers: Vec::with_capacity(traits.len() * embedder.dim),
            places: HashMap::with_capacity(traits.len()),
            traits: HashMap::new(),
        };
        let mut statement = tx.prepare(&format!(
            "SELECT /* whole file */ c.validity, c.rowids, v.vectors
             FROM {table}_chunks c JOIN {table}_vector_chunks00 v ON v.rowid = c.chunk_id
             WHERE c.partition00 = ?1"
        ))?;
        let mut chunks = statement.query([bank])?;
        let width = embedder.dim * size_of::<f32>();
        while let Some(chunk) = chunks.next()? {
            let blob = |column| -> Result<&[u8]> {
                Ok(chunk.get_ref(column)?.as_blob().map_err(rusqlite::Error::from)?)
            };
            let (used, keys, vectors) = (blob(0)?, blob(1)?, blob(2)?);
            for (n, (key, vector)) in
                keys.chunks_exact(8).zip(vectors.chunks_exact(width)).enumerate()
            {
                let key = MemoryKey(i64::from_le_bytes(key.try_into().unwrap_or_default()));
                if used[n / 8] & (1 << (n % 8)) != 0
                    && let Some(traits) = traits.get(&key)
                {
                    matrix.put(*traits, &floats(vector));
                }
            }
        }
        matrix.traits = traits;
        Ok(matrix)
    }

    /// A copy with what was written since. None when a memory left or vectors were filled in, of
    /// which no sequence number tells, or when much changed: then everything is copied anew.
    fn moved_on(
        &self,
        tx: &ReadTx<'_>,
        bank: BankKey,
        embedder: &Embedder,
        stamp: &Stamp,
    ) -> Result<Option<Self>> {
        if self.stamp.bank != stamp.bank || self.stamp.backfills != stamp.backfills {
            return Ok(None);
        }
        let seen = self.stamp.write_seq;
        let left: bool = tx.one(
            "SELECT EXISTS (SELECT 1 FROM tombstone
                            WHERE bank_id = ?1 AND seq > ?2 AND cause <> 'rescoped')",
            (bank, seen),
            |r| r.get(0),
        )?;
        let changed = tx.list(
            &format!("SELECT {TRAITS} FROM memory m WHERE m.bank_id = ?1 AND m.change_seq > ?2"),
            (bank, seen),
            read_traits,
        )?;
        if left || changed.len() > self.rows.len() / 8 {
            return Ok(None);
        }
        let keys: Vec<MemoryKey> = changed.iter().map(|(traits, _)| traits.key).collect();
        let vectors = super::vector::stored(tx, embedder, &keys)?;
        let mut fresh = self.clone();
        fresh.stamp = stamp.clone();
        for (traits, in_use) in changed {
            if in_use {
                fresh.traits.insert(traits.key, traits);
            } else {
                fresh.traits.remove(&traits.key);
            }
            match vectors.get(&traits.key).filter(|_| in_use) {
                Some(vector) => fresh.put(traits, vector),
                None => fresh.remove(traits.key),
            }
        }
        Ok(Some(fresh))
    }

    fn put(&mut self, traits: Traits, vector: &[f32]) {
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        let scale = if norm > 0.0 { 1.0 / norm } else { 0.0 };
        let numbers = vector.iter().map(|x| x * scale);
        if let Some(place) = self.places.get(&traits.key) {
            self.rows[*place] = traits;
            let start = place * self.dim;
            for (slot, x) in self.numbers[start..start + self.dim].iter_mut().zip(numbers) {
                *slot = x;
            }
        } else {
            self.places.insert(traits.key, self.rows.len());
            self.rows.push(traits);
            self.numbers.extend(numbers);
        }
    }

    fn remove(&mut self, key: MemoryKey) {
        let Some(place) = self.places.remove(&key) else { return };
        let last = self.rows.len() - 1;
        self.rows.swap_remove(place);
        let (start, end) = (place * self.dim, last * self.dim);
        self.numbers.copy_within(end..end + self.dim, start);
        self.numbers.truncate(end);
        if let Some(moved) = self.rows.get(place) {
            self.places.insert(moved.key, place);
        }
    }

    /// The best `per_type` of each type of the scope with a cosine of at least `floor`.
    pub(crate) fn nearest(
        &self,
        scope: &Scope,
        query: &[f32],
        per_type: usize,
        floor: f64,
    ) -> Vec<Hit> {
        let query = unit(query);
        let admits = Admission::of(scope);
        let mut best = FactType::ALL.map(|fact_type| Best::new(fact_type, per_type, floor));
        for (traits, vector) in self.rows.iter().zip(self.numbers.chunks_exact(self.dim)) {
            let slot = slot(traits.fact_type);
            if admits.types[slot] && admits.admits(traits) {
                best[slot].offer(traits.key, f64::from(dot(&query, vector)));
            }
        }
        best.into_iter().flat_map(Best::into_hits).collect()
    }

    /// The cosine of a memory with a vector of unit length, if it is held.
    pub(crate) fn score(&self, query: &[f32], key: MemoryKey) -> Option<f64> {
        let start = self.places.get(&key)? * self.dim;
        Some(f64::from(dot(query, &self.numbers[start..start + self.dim])))
    }
}

/// Decides without a look into the file whether a scope admits a memory.
pub(crate) struct Judge<'a> {
    matrix: Arc<Matrix>,
    admission: Admission<'a>,
}

/// A judge for a scope, where the bank is held in memory.
pub(crate) fn judge<'a>(tx: &ReadTx<'_>, scope: &'a Scope) -> Result<Option<Judge<'a>>> {
    if tx.matrices().is_none() {
        return Ok(None);
    }
    let Some(embedder) = crate::memories::index::embedder_of(tx, scope.bank)? else {
        return Ok(None);
    };
    let matrix = of_bank(tx, scope.bank, &embedder)?;
    Ok(matrix.map(|matrix| Judge { matrix, admission: Admission::of(scope) }))
}

impl Judge<'_> {
    /// The type of a memory that the scope admits.
    pub(crate) fn admits(&self, key: MemoryKey) -> Option<FactType> {
        let traits = self.matrix.traits.get(&key)?;
        let fits = self.admission.types[slot(traits.fact_type)] && self.admission.admits(traits);
        fits.then_some(traits.fact_type)
    }
}

/// The place of a type in lists of three.
fn slot(fact_type: FactType) -> usize {
    match fact_type {
        FactType::World => 0,
        FactType::Experience => 1,
        FactType::Observation => 2,
    }
}

/// The vector scaled to length 1; all zeros stay.
pub(crate) fn unit(vector: &[f32]) -> Vec<f32> {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    let scale = if norm > 0.0 { 1.0 / norm } else { 0.0 };
    vector.iter().map(|x| x * scale).collect()
}

/// The dot product in sixteen sums side by side, which the compiler turns into vector instructions
/// without reordering what one sum means.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 16];
    let (a_parts, b_parts) = (a.chunks_exact(16), b.chunks_exact(16));
    let rest: f32 = a_parts.remainder().iter().zip(b_parts.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a_parts.zip(b_parts) {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x * y;
        }
    }
    sums.iter().sum::<f32>() + rest
}

/// The scope as comparisons of numbers.
struct Admission<'a> {
    types: [bool; 3],
    tag_sets: &'a TagSets,
    updated: (i64, i64),
    seq: (i64, i64),
    told: Option<(i64, i64)>,
}

impl<'a> Admission<'a> {
    fn of(scope: &'a Scope) -> Self {
        Self {
            types: FactType::ALL.map(|t| scope.types.contains(&t)),
            tag_sets: &scope.tag_sets,
            updated: (
                row::ms(scope.updated_after).unwrap_or(i64::MIN),
                row::ms(scope.updated_before).unwrap_or(i64::MAX),
            ),
            seq: (scope.after_seq.unwrap_or(i64::MIN), scope.up_to_seq.unwrap_or(i64::MAX)),
            told: scope.told_between.map(|(from, to)| (to_millis(from), to_millis(to))),
        }
    }

    /// The same predicate as [`Scope::restrict`].
    fn admits(&self, m: &Traits) -> bool {
        self.tag_sets.admits(m.tag_set)
            && self.updated.0 < m.updated_at
            && m.updated_at < self.updated.1
            && self.seq.0 < m.change_seq
            && m.change_seq <= self.seq.1
            && self.told.is_none_or(|(from, to)| {
                let inside = |at: Option<i64>| at.is_some_and(|at| from <= at && at <= to);
                let [start, end] = m.occurred;
                inside(start)
                    || inside(end)
                    || inside(m.mentioned_at)
                    || matches!((start, end), (Some(s), Some(e)) if s < from && e > to)
            })
    }
}

/// The best few of a type: kept loosely, sorted now and then, so that most offers are one
/// comparison.
struct Best {
    fact_type: FactType,
    limit: usize,
    floor: f64,
    hits: Vec<Hit>,
}

impl Best {
    fn new(fact_type: FactType, limit: usize, floor: f64) -> Self {
        Self { fact_type, limit, floor, hits: Vec::new() }
    }

    fn offer(&mut self, key: MemoryKey, score: f64) {
        if score < self.floor || self.limit == 0 {
            return;
        }
        self.hits.push(Hit { key, fact_type: self.fact_type, score });
        if self.hits.len() >= self.limit * 2 + 64 {
            self.hits.select_nth_unstable_by(self.limit - 1, best_first);
            self.hits.truncate(self.limit);
            self.floor = self.hits[self.limit - 1].score;
        }
    }

    fn into_hits(mut self) -> Vec<Hit> {
        self.hits.sort_unstable_by(best_first);
        self.hits.truncate(self.limit);
        self.hits
    }
}
