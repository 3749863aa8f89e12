//! Rows of the matrix in memory: some hundred memories with their vectors side by side, and where
//! each memory stands. Vectors are held as they are, or each number as one byte, a quarter of the
//! memory and of the time to walk through. Knows neither the file nor scopes.

use std::sync::Arc;

use domain::FactType;

use super::admit::slot;
use crate::keys::{MemoryKey, TagSetKey};

/// Rows of a block. A write copies the blocks that it touches: small enough to be copied for one
/// memory, large enough for long walks.
pub(crate) const ROWS: usize = 256;

/// How the numbers of vectors are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// As they are.
    Whole,
    /// As bytes, with one scale per vector: off by 0.001 in a cosine.
    Byte,
}

impl Width {
    /// Bytes that a memory takes.
    pub(crate) fn bytes(self, dim: usize) -> usize {
        let vector = match self {
            Self::Whole => dim * size_of::<f32>(),
            Self::Byte => dim + size_of::<f32>(),
        };
        vector + size_of::<Traits>()
    }
}

/// Stands for a date that a memory does not have: earlier than any that a scope asks for.
pub(crate) const UNDATED: i64 = i64::MIN;

/// What a scope asks about a memory, in 64 bytes, since looking one up is a walk to main memory.
/// Dates are milliseconds, or [`UNDATED`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Traits {
    pub(crate) key: MemoryKey,
    pub(crate) fact_type: FactType,
    pub(crate) has_vector: bool,
    pub(crate) tag_set: TagSetKey,
    pub(crate) change_seq: i64,
    pub(crate) updated_at: i64,
    pub(crate) occurred: [i64; 2],
    pub(crate) mentioned_at: i64,
}

const _: () = assert!(size_of::<Traits>() == 64);

/// Some memories. Vectors have length 1; a row without one has zeros.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) rows: Vec<Traits>,
    dim: usize,
    numbers: Numbers,
}

#[derive(Debug, Clone)]
enum Numbers {
    Whole(Vec<f32>),
    /// The numbers, and by row what a step of them means.
    Byte(Vec<i8>, Vec<f32>),
}

/// The numbers of one row, on the way from one place to another.
pub(crate) enum RowNumbers {
    Whole(Vec<f32>),
    Byte(Vec<i8>, f32),
}

/// A query of length 1, ready for both widths.
pub(crate) struct Query {
    whole: Vec<f32>,
    steps: Vec<i16>,
    step: f32,
}

impl Query {
    /// Of any length but zero; zeros stay.
    pub(crate) fn of(vector: &[f32]) -> Self {
        let whole = unit(vector);
        // The largest steps for which a sum over all numbers stays within 32 bits.
        let numbers = i32::try_from(whole.len().max(1)).unwrap_or(i32::MAX);
        let most = (i32::MAX / (127 * numbers.min(i32::MAX / 127))).min(i32::from(i16::MAX));
        #[expect(clippy::cast_precision_loss, reason = "at most 32,767")]
        let step = greatest(&whole) / most as f32;
        #[expect(clippy::cast_possible_truncation, reason = "at most 32,767 steps, rounded")]
        let steps = match step > 0.0 {
            true => whole.iter().map(|x| (x / step).round() as i16).collect(),
            false => vec![0; whole.len()],
        };
        Self { whole, steps, step }
    }
}

impl Block {
    pub(crate) fn empty(dim: usize, width: Width) -> Self {
        let numbers = match width {
            Width::Whole => Numbers::Whole(Vec::with_capacity(ROWS * dim)),
            Width::Byte => Numbers::Byte(Vec::with_capacity(ROWS * dim), Vec::with_capacity(ROWS)),
        };
        Self { rows: Vec::with_capacity(ROWS), dim, numbers }
    }

    /// Replaces a row or adds the next; its vector is gone until it is set.
    pub(crate) fn set_row(&mut self, at: usize, row: Traits) {
        let row = Traits { has_vector: false, ..row };
        if at < self.rows.len() {
            self.rows[at] = row;
            return;
        }
        self.rows.push(row);
        let end = self.rows.len() * self.dim;
        match &mut self.numbers {
            Numbers::Whole(numbers) => numbers.resize(end, 0.0),
            Numbers::Byte(numbers, steps) => {
                numbers.resize(end, 0);
                steps.push(0.0);
            }
        }
    }

    pub(crate) fn set_vector(&mut self, at: usize, vector: &[f32]) {
        let vector = unit(vector);
        let places = at * self.dim..(at + 1) * self.dim;
        match &mut self.numbers {
            Numbers::Whole(numbers) => numbers[places].copy_from_slice(&vector),
            Numbers::Byte(numbers, steps) => {
                let step = greatest(&vector) / 127.0;
                steps[at] = step;
                for (slot, x) in numbers[places].iter_mut().zip(&vector) {
                    #[expect(clippy::cast_possible_truncation, reason = "at most 127 steps")]
                    let number = if step > 0.0 { (x / step).round() as i8 } else { 0 };
                    *slot = number;
                }
            }
        }
        self.rows[at].has_vector = true;
    }

    /// Takes the last row out. There must be one.
    pub(crate) fn take_last(&mut self) -> (Traits, RowNumbers) {
        let last = self.rows.len() - 1;
        let row = self.rows.remove(last);
        let numbers = match &mut self.numbers {
            Numbers::Whole(numbers) => RowNumbers::Whole(numbers.split_off(last * self.dim)),
            Numbers::Byte(numbers, steps) => {
                RowNumbers::Byte(numbers.split_off(last * self.dim), steps.remove(last))
            }
        };
        (row, numbers)
    }

    /// Puts a row, taken from a block of the same width, in the place of another.
    pub(crate) fn put_back(&mut self, at: usize, row: Traits, from: &RowNumbers) {
        let places = at * self.dim..(at + 1) * self.dim;
        self.rows[at] = row;
        match (&mut self.numbers, from) {
            (Numbers::Whole(numbers), RowNumbers::Whole(row)) => {
                numbers[places].copy_from_slice(row);
            }
            (Numbers::Byte(numbers, steps), RowNumbers::Byte(row, step)) => {
                numbers[places].copy_from_slice(row);
                steps[at] = *step;
            }
            // One matrix has one width.
            (Numbers::Whole(_) | Numbers::Byte(..), _) => {}
        }
    }

    /// The cosine of a row with a query.
    pub(crate) fn score(&self, at: usize, query: &Query) -> f32 {
        let places = at * self.dim..(at + 1) * self.dim;
        match &self.numbers {
            Numbers::Whole(numbers) => dot(&query.whole, &numbers[places]),
            Numbers::Byte(numbers, steps) => {
                #[expect(clippy::cast_precision_loss, reason = "a cosine needs no more digits")]
                let sum = dot_steps(&query.steps, &numbers[places]) as f32;
                sum * steps[at] * query.step
            }
        }
    }
}

/// The vector scaled to length 1; all zeros stay.
fn unit(vector: &[f32]) -> Vec<f32> {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    let scale = if norm > 0.0 { 1.0 / norm } else { 0.0 };
    vector.iter().map(|x| x * scale).collect()
}

fn greatest(vector: &[f32]) -> f32 {
    vector.iter().fold(0.0, |most, x| x.abs().max(most))
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

/// The same of small whole numbers, which add up exactly in any order.
fn dot_steps(query: &[i16], row: &[i8]) -> i32 {
    query.iter().zip(row).map(|(x, y)| i32::from(*x) * i32::from(*y)).sum()
}

/// Keys that stand side by side in [`Places`].
const PAGE: usize = 1024;
const NOWHERE: u32 = u32::MAX;

/// Where each memory stands and of which type it is, by key. Keys of a bank are close together, so this
/// is a table and not a map: it is asked tens of thousands of times in one search, mostly for the type,
/// which is therefore kept here in the two lowest bits and spares the walk to the row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    pages: Vec<Option<Arc<[u32; PAGE]>>>,
}

impl Places {
    pub(crate) fn get(&self, key: MemoryKey) -> Option<usize> {
        self.entry(key).and_then(|entry| usize::try_from(entry >> 2).ok())
    }

    /// The type of a memory that stands somewhere.
    pub(crate) fn fact_type(&self, key: MemoryKey) -> Option<FactType> {
        let slot = self.entry(key)? & 3;
        FactType::ALL.into_iter().nth(usize::try_from(slot).ok()?)
    }

    fn entry(&self, key: MemoryKey) -> Option<u32> {
        let key = usize::try_from(key.0).ok()?;
        let entry = self.pages.get(key / PAGE)?.as_ref()?[key % PAGE];
        (entry != NOWHERE).then_some(entry)
    }

    /// Keys of rows are never negative, and places are below a thousand million.
    pub(crate) fn set(&mut self, key: MemoryKey, place: Option<(usize, FactType)>) {
        let Ok(key) = usize::try_from(key.0) else { return };
        if key / PAGE >= self.pages.len() {
            self.pages.resize(key / PAGE + 1, None);
        }
        let page = self.pages[key / PAGE].get_or_insert_with(|| Arc::new([NOWHERE; PAGE]));
        let entry = place.and_then(|(place, of)| u32::try_from(place << 2 | slot(of)).ok());
        Arc::make_mut(page)[key % PAGE] = entry.unwrap_or(NOWHERE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: i64) -> Traits {
        Traits {
            key: MemoryKey(key),
            fact_type: FactType::World,
            has_vector: false,
            tag_set: TagSetKey(1),
            change_seq: key,
            updated_at: 0,
            occurred: [UNDATED; 2],
            mentioned_at: UNDATED,
        }
    }

    fn vector(seed: u32, dim: u32) -> Vec<f32> {
        let number = |n: u32| {
            let mixed = (seed * 7919 + n * 104_729).wrapping_mul(2_654_435_761) >> 20;
            f32::from(u16::try_from(mixed).unwrap()) / 2048.0 - 1.0
        };
        (0..dim).map(number).collect()
    }

    #[test]
    fn bytes_are_close_to_whole_numbers_at_every_size() {
        for dim in [3, 384, 1024, 4096] {
            let query = Query::of(&vector(99, dim));
            for seed in 0..50 {
                let scores = [Width::Whole, Width::Byte].map(|width| {
                    let mut block = Block::empty(usize::try_from(dim).unwrap(), width);
                    block.set_row(0, row(1));
                    block.set_vector(0, &vector(seed, dim));
                    block.score(0, &query)
                });
                assert!((scores[0] - scores[1]).abs() < 0.005, "{dim}: {scores:?}");
            }
            let mut same = Block::empty(usize::try_from(dim).unwrap(), Width::Byte);
            same.set_row(0, row(1));
            same.set_vector(0, &vector(99, dim));
            assert!((same.score(0, &query) - 1.0).abs() < 0.005);
        }
    }

    #[test]
    fn a_row_without_a_vector_scores_nothing() {
        for width in [Width::Whole, Width::Byte] {
            let mut block = Block::empty(4, width);
            block.set_row(0, row(1));
            assert_eq!(block.score(0, &Query::of(&[1.0, 0.0, 0.0, 0.0])), 0.0);
            assert_eq!(block.score(0, &Query::of(&[0.0; 4])), 0.0);
        }
    }

    #[test]
    fn places_are_kept_apart() {
        let mut places = Places::default();
        places.set(MemoryKey(5_000), Some((7, FactType::Observation)));
        places.set(MemoryKey(1), Some((0, FactType::World)));
        let before = places.clone();
        places.set(MemoryKey(5_000), None);
        let at = |places: &Places, key| places.get(MemoryKey(key));
        assert_eq!([at(&places, 5_000), at(&places, 1), at(&places, 2)], [None, Some(0), None]);
        assert_eq!(
            [at(&before, 5_000), at(&before, -1), at(&before, 9_000_000)],
            [Some(7), None, None]
        );
        assert_eq!(before.fact_type(MemoryKey(5_000)), Some(FactType::Observation));
        assert_eq!(places.fact_type(MemoryKey(1)), Some(FactType::World));
        assert_eq!(places.fact_type(MemoryKey(5_000)), None);
    }
}
