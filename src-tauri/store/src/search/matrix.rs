//! The vectors of a bank held in memory, with what a scope asks about each memory beside them, so
//! that one pass answers for all types and any filter. A copy, nothing more: the vec0 table is the
//! truth, a copy is used only when its stamp is the snapshot's, and a bank beyond the limit is
//! answered by vec0 alone.
//!
//! Measured on 10,000 memories of 384 numbers (`tests/speed.rs`): three vec0 scans with 300
//! neighbours each take some thirty times as long as one pass here.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::admit::{Admission, Best, slot};
use super::block::{Block, Places, ROWS, Traits, UNDATED, Width};
use super::ties::Ties;
use super::{Hit, Scope};
use crate::embedders::{Embedder, floats};
use crate::error::Result;
use crate::keys::{BankKey, EmbedderKey, MemoryKey};
use crate::tx::ReadTx;
use domain::FactType;

/// Most bytes held, over all banks.
const MAX_BYTES: usize = 1 << 30;
/// Counter of vector writes that no sequence number tells of (backfills).
pub(crate) const BACKFILLS: &str = "vector_backfills";

/// The copies in memory, shared by all readers.
#[derive(Debug)]
pub(crate) struct Matrices {
    /// Most bytes of a bank whose vectors are held as they are. Of a larger one each number is held
    /// as one byte.
    most_whole: usize,
    /// Held while a copy is taken: another reader that wants the same waits for it and takes no
    /// second one.
    taking: Mutex<()>,
    held: Mutex<HashMap<(BankKey, EmbedderKey), Arc<Matrix>>>,
}

/// What a copy was taken of.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    /// Keys of banks may be used again; the id and the time of birth tell two banks apart.
    bank: (String, i64),
    write_seq: i64,
    backfills: i64,
    /// Memories in use.
    size: usize,
}

/// The memories in use of one bank, with their vectors of one embedder scaled to length 1.
#[derive(Debug, Clone)]
pub(crate) struct Matrix {
    stamp: Stamp,
    dim: usize,
    width: Width,
    /// Shared with the copy before, block by block, as long as nothing in a block changes.
    blocks: Vec<Arc<Block>>,
    places: Places,
    len: usize,
    ties: Ties,
}

/// The copy that fits the snapshot, taken or brought up to date if needed. None when the bank is
/// beyond the limit or the snapshot is older than the copy.
pub(crate) fn of_bank(
    tx: &ReadTx<'_>,
    bank: BankKey,
    embedder: &Embedder,
) -> Result<Option<Arc<Matrix>>> {
    let Some(matrices) = tx.matrices() else { return Ok(None) };
    let slot = (bank, embedder.key);
    if let Some(known) = tx.matrix_used(slot) {
        return Ok(known);
    }
    let found = matrices.fitting(tx, slot, embedder)?;
    tx.use_matrix(slot, found.clone());
    Ok(found)
}

impl Matrices {
    pub(crate) fn new(most_whole: usize) -> Self {
        Self { most_whole, taking: Mutex::default(), held: Mutex::default() }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(BankKey, EmbedderKey), Arc<Matrix>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fitting(
        &self,
        tx: &ReadTx<'_>,
        slot: (BankKey, EmbedderKey),
        embedder: &Embedder,
    ) -> Result<Option<Arc<Matrix>>> {
        let Some(stamp) = stamp(tx, slot.0)? else { return Ok(None) };
        let known = self.lock().get(&slot).cloned();
        if let Some(known) = known.filter(|known| known.stamp == stamp) {
            return Ok(Some(known));
        }
        let _taking = self.taking.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.lock().get(&slot).cloned();
        if let Some(known) = &known {
            if known.stamp == stamp {
                return Ok(Some(Arc::clone(known)));
            }
            if known.stamp.bank == stamp.bank && known.stamp.write_seq > stamp.write_seq {
                return Ok(None);
            }
        }
        let Some(width) = self.width(stamp.size, embedder.dim) else {
            self.lock().remove(&slot);
            return Ok(None);
        };
        let moved = match &known {
            Some(known) if known.width == width => known.moved_on(tx, slot.0, embedder, &stamp)?,
            Some(_) | None => None,
        };
        let fresh = match moved {
            Some(moved) => moved,
            None => Matrix::load(tx, slot.0, embedder, stamp, width)?,
        };
        let fresh = Arc::new(fresh);
        let mut held = self.lock();
        held.insert(slot, Arc::clone(&fresh));
        if held.values().map(|matrix| matrix.bytes()).sum::<usize>() > MAX_BYTES {
            held.retain(|key, _| *key == slot);
        }
        Ok(Some(fresh))
    }

    /// How the vectors of so many memories are held; none when they are too many.
    fn width(&self, size: usize, dim: usize) -> Option<Width> {
        [(Width::Whole, self.most_whole), (Width::Byte, MAX_BYTES)]
            .into_iter()
            .find(|(width, most)| size.saturating_mul(width.bytes(dim)) <= *most)
            .map(|(width, _)| width)
    }
}

fn stamp(tx: &ReadTx<'_>, bank: BankKey) -> Result<Option<Stamp>> {
    tx.find(
        "SELECT b.uid, b.created_at, b.write_seq,
                coalesce(sum(c.n) FILTER (WHERE c.what = ?2), 0),
                coalesce(sum(c.n) FILTER (
                    WHERE c.what IN ('world', 'experience', 'observation')), 0)
         FROM bank b LEFT JOIN bank_counter c ON c.bank_id = b.id
         WHERE b.id = ?1 GROUP BY b.id",
        (bank, BACKFILLS),
        |r| {
            Ok(Stamp {
                bank: (r.get(0)?, r.get(1)?),
                write_seq: r.get(2)?,
                backfills: r.get(3)?,
                size: usize::try_from(r.get::<_, i64>(4)?).unwrap_or(0),
            })
        },
    )
}

const TRAITS: &str = "m.id, m.fact_type, m.tag_set_id, m.change_seq, m.updated_at, \
    m.occurred_start, m.occurred_end, m.mentioned_at, m.state";

fn read_traits(r: &rusqlite::Row<'_>) -> rusqlite::Result<(Traits, bool)> {
    let date = |column| r.get(column).map(|at: Option<i64>| at.unwrap_or(UNDATED));
    let traits = Traits {
        key: r.get(0)?,
        fact_type: crate::memories::fact_type(r, 1)?,
        tag_set: r.get(2)?,
        change_seq: r.get(3)?,
        updated_at: r.get(4)?,
        occurred: [date(5)?, date(6)?],
        mentioned_at: date(7)?,
        has_vector: false,
    };
    Ok((traits, r.get::<_, i64>(8)? == 0))
}

impl Matrix {
    fn load(
        tx: &ReadTx<'_>,
        bank: BankKey,
        embedder: &Embedder,
        stamp: Stamp,
        width: Width,
    ) -> Result<Self> {
        let mut matrix = Self {
            dim: embedder.dim,
            width,
            blocks: Vec::with_capacity(stamp.size / ROWS + 1),
            places: Places::default(),
            len: 0,
            ties: Ties::default(),
            stamp,
        };
        matrix.load_traits(tx, bank)?;
        matrix.load_vectors(tx, bank, embedder)?;
        Ok(matrix)
    }

    /// Where the bank is most of the file, the table is read in its own order, which takes a
    /// fraction of the time of one look-up per memory.
    fn load_traits(&mut self, tx: &ReadTx<'_>, bank: BankKey) -> Result<()> {
        let whole: i64 = tx.one("SELECT coalesce(max(id), 0) FROM memory", [], |r| r.get(0))?;
        let most = usize::try_from(whole).unwrap_or(usize::MAX) / 4 <= self.stamp.size;
        let from = if most { "/* whole file */ memory m NOT INDEXED" } else { "memory m" };
        let mut statement = tx.prepare(&format!(
            "SELECT {TRAITS} FROM {from} WHERE m.bank_id = ?1 AND m.state = 0"
        ))?;
        let mut rows = statement.query([bank])?;
        while let Some(r) = rows.next()? {
            self.put(read_traits(r)?.0, None);
        }
        Ok(())
    }

    /// Copies the vectors chunk by chunk, as vec0 lays them out: a bitmap of used places, the keys,
    /// the vectors. (The layout belongs to the pinned version; a test compares with vec0's own
    /// answers.)
    fn load_vectors(&mut self, tx: &ReadTx<'_>, bank: BankKey, embedder: &Embedder) -> Result<()> {
        let table = embedder.key.memory_table();
        let mut statement = tx.prepare(&format!(
            "SELECT /* whole file */ c.validity, c.rowids, v.vectors
             FROM {table}_chunks c JOIN {table}_vector_chunks00 v ON v.rowid = c.chunk_id
             WHERE c.partition00 = ?1"
        ))?;
        let mut chunks = statement.query([bank])?;
        let bytes = embedder.dim * size_of::<f32>();
        while let Some(chunk) = chunks.next()? {
            let blob = |column| -> Result<&[u8]> {
                Ok(chunk.get_ref(column)?.as_blob().map_err(rusqlite::Error::from)?)
            };
            let (used, keys, vectors) = (blob(0)?, blob(1)?, blob(2)?);
            for (n, (key, vector)) in
                keys.chunks_exact(8).zip(vectors.chunks_exact(bytes)).enumerate()
            {
                let key = MemoryKey(i64::from_le_bytes(key.try_into().unwrap_or_default()));
                if used[n / 8] & (1 << (n % 8)) != 0
                    && let Some(place) = self.places.get(key)
                {
                    self.block_of(place).set_vector(place % ROWS, &floats(vector));
                }
            }
        }
        Ok(())
    }

    /// A copy with what was written since. None when vectors were filled in, of which no sequence
    /// number tells, when much changed, or when the numbers do not add up afterwards: then
    /// everything is copied anew.
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
        let changed = tx.list(
            &format!("SELECT {TRAITS} FROM memory m WHERE m.bank_id = ?1 AND m.change_seq > ?2"),
            (bank, seen),
            read_traits,
        )?;
        if changed.len() > self.len / 8 {
            return Ok(None);
        }
        let keys: Vec<MemoryKey> = changed.iter().map(|(traits, _)| traits.key).collect();
        let vectors = super::vector::stored(tx, embedder, &keys)?;
        let mut fresh = self.clone();
        fresh.stamp = stamp.clone();
        fresh.ties = self.ties.moved_on(tx, &keys)?;
        for (traits, in_use) in changed {
            if in_use {
                fresh.put(traits, vectors.get(&traits.key).map(Vec::as_slice));
            } else {
                fresh.remove(traits.key);
            }
        }
        if fresh.len != stamp.size {
            fresh.drop_gone(tx, bank)?;
        }
        Ok((fresh.len == stamp.size).then_some(fresh))
    }

    /// Drops the memories that were deleted: nothing in the file knows their keys any more, so the
    /// living ones are asked for. Where one was an observation, another may have taken its facts.
    fn drop_gone(&mut self, tx: &ReadTx<'_>, bank: BankKey) -> Result<()> {
        let living: HashSet<MemoryKey> = tx
            .list("SELECT id FROM memory WHERE bank_id = ?1 AND state = 0", [bank], |r| r.get(0))?
            .into_iter()
            .collect();
        let all = self.blocks.iter().flat_map(|block| &block.rows).map(|row| row.key);
        let dead: Vec<MemoryKey> = all.filter(|key| !living.contains(key)).collect();
        for key in dead {
            self.remove(key);
        }
        self.ties.forget_folded();
        Ok(())
    }

    fn block_of(&mut self, place: usize) -> &mut Block {
        Arc::make_mut(&mut self.blocks[place / ROWS])
    }

    /// Adds a memory or replaces it, its vector included.
    fn put(&mut self, traits: Traits, vector: Option<&[f32]>) {
        let place = self.places.get(traits.key).unwrap_or_else(|| {
            if self.len == self.blocks.len() * ROWS {
                self.blocks.push(Arc::new(Block::empty(self.dim, self.width)));
            }
            self.len += 1;
            self.len - 1
        });
        self.places.set(traits.key, Some((place, traits.fact_type)));
        let block = self.block_of(place);
        block.set_row(place % ROWS, traits);
        if let Some(vector) = vector {
            block.set_vector(place % ROWS, vector);
        }
    }

    /// The last row takes the place of the one that goes.
    fn remove(&mut self, key: MemoryKey) {
        let Some(place) = self.places.get(key) else { return };
        self.places.set(key, None);
        self.len -= 1;
        let (row, numbers) = self.block_of(self.len).take_last();
        if place != self.len {
            self.places.set(row.key, Some((place, row.fact_type)));
            self.block_of(place).put_back(place % ROWS, row, &numbers);
        }
        self.blocks.truncate(self.len.div_ceil(ROWS));
    }

    /// What the memories of the bank are tied to.
    pub(crate) fn ties(&self) -> &Ties {
        &self.ties
    }

    fn bytes(&self) -> usize {
        self.blocks.len() * ROWS * self.width.bytes(self.dim)
    }

    fn traits(&self, key: MemoryKey) -> Option<&Traits> {
        let place = self.places.get(key)?;
        Some(&self.blocks[place / ROWS].rows[place % ROWS])
    }

    /// The best `per_type` of each type of the scope with a cosine of at least `floor`.
    pub(crate) fn nearest(
        &self,
        scope: &Scope,
        query: &[f32],
        per_type: usize,
        floor: f64,
    ) -> Vec<Hit> {
        let query = super::block::Query::of(query);
        let admits = Admission::of(scope);
        let mut best = FactType::ALL.map(|fact_type| Best::new(fact_type, per_type, floor));
        for block in &self.blocks {
            for (n, traits) in block.rows.iter().enumerate() {
                let slot = slot(traits.fact_type);
                if traits.has_vector && admits.types[slot] && admits.admits(traits) {
                    best[slot].offer(traits.key, f64::from(block.score(n, &query)));
                }
            }
        }
        best.into_iter().flat_map(Best::into_hits).collect()
    }

    /// The cosine of a memory with a query, if its vector is held.
    pub(crate) fn score(&self, query: &super::block::Query, key: MemoryKey) -> Option<f64> {
        let place = self.places.get(key)?;
        let block = &self.blocks[place / ROWS];
        let has = block.rows[place % ROWS].has_vector;
        has.then(|| f64::from(block.score(place % ROWS, query)))
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
    let matrix = match tx.matrix_of(scope.bank) {
        Some(known) => known,
        None => match crate::memories::index::embedder_of(tx, scope.bank)? {
            Some(embedder) => of_bank(tx, scope.bank, &embedder)?,
            None => None,
        },
    };
    Ok(matrix.map(|matrix| Judge { matrix, admission: Admission::of(scope) }))
}

impl Judge<'_> {
    /// What the memories of the bank are tied to, admitted or not.
    pub(crate) fn ties(&self) -> &Ties {
        &self.matrix.ties
    }

    /// The type of a memory that the scope admits.
    pub(crate) fn admits(&self, key: MemoryKey) -> Option<FactType> {
        if self.admission.by_type_alone() {
            let fact_type = self.matrix.places.fact_type(key)?;
            return self.admission.types[slot(fact_type)].then_some(fact_type);
        }
        let traits = self.matrix.traits(key)?;
        let fits = self.admission.types[slot(traits.fact_type)] && self.admission.admits(traits);
        fits.then_some(traits.fact_type)
    }
}
