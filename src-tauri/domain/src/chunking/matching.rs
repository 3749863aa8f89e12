//! Which stored chunks live on in a new state of their document: the longest common subsequence of
//! their hashes, so that a paragraph inserted at the top leaves the rest alone.

use std::collections::HashMap;
use std::hash::Hash;

/// The outcome of [`match_chunks`], as indexes into the two lists.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChunkMatch {
    /// Old and new index of chunks that keep their facts.
    pub kept: Vec<(usize, usize)>,
    /// Old indexes whose facts go.
    pub removed: Vec<usize>,
    /// New indexes to extract.
    pub added: Vec<usize>,
}

/// Matches stored with new chunks by their hashes. Equal heads are matched at once; at a tie a
/// chunk is dropped from the old side first.
#[must_use]
pub fn match_chunks<H: Eq + Hash>(old: &[H], new: &[H]) -> ChunkMatch {
    let (old_names, new_names) = interned(old, new);
    let prefix = old_names.iter().zip(&new_names).take_while(|(a, b)| a == b).count();
    let mut outcome =
        ChunkMatch { kept: (0..prefix).map(|at| (at, at)).collect(), ..ChunkMatch::default() };
    let drops = drop_old_first(&old_names[prefix..], &new_names[prefix..]);
    let (mut i, mut j) = (prefix, prefix);
    while i < old.len() && j < new.len() {
        if old_names[i] == new_names[j] {
            outcome.kept.push((i, j));
            i += 1;
            j += 1;
        } else if drops.get(i - prefix, j - prefix) {
            outcome.removed.push(i);
            i += 1;
        } else {
            outcome.added.push(j);
            j += 1;
        }
    }
    outcome.removed.extend(i..old.len());
    outcome.added.extend(j..new.len());
    outcome
}

// Small numbers instead of hashes, so that the table below compares words.
fn interned<H: Eq + Hash>(old: &[H], new: &[H]) -> (Vec<usize>, Vec<usize>) {
    let mut names: HashMap<&H, usize> = HashMap::new();
    let mut name = |hash| {
        let next = names.len();
        *names.entry(hash).or_insert(next)
    };
    let old_names = old.iter().map(&mut name).collect();
    let new_names = new.iter().map(&mut name).collect();
    (old_names, new_names)
}

// One bit per pair: a document of ten thousand chunks needs twelve megabytes, not four hundred.
struct Bits {
    words: Vec<u64>,
    width: usize,
}

impl Bits {
    fn get(&self, row: usize, column: usize) -> bool {
        let at = row * self.width + column;
        self.words[at / 64] >> (at % 64) & 1 == 1
    }

    fn set(&mut self, row: usize, column: usize) {
        let at = row * self.width + column;
        self.words[at / 64] |= 1 << (at % 64);
    }
}

// Whether, with unequal heads at (i, j), leaving out the old one loses nothing.
fn drop_old_first(old: &[usize], new: &[usize]) -> Bits {
    let width = new.len();
    let mut drops = Bits { words: vec![0; (old.len() * width).div_ceil(64)], width };
    let mut below = vec![0_u32; width + 1];
    for (i, name) in old.iter().enumerate().rev() {
        let mut row = vec![0_u32; width + 1];
        for j in (0..width).rev() {
            row[j] = if *name == new[j] {
                below[j + 1] + 1
            } else {
                if below[j] >= row[j + 1] {
                    drops.set(i, j);
                }
                below[j].max(row[j + 1])
            };
        }
        below = row;
    }
    drops
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // The textbook table, as long as the lists are short.
    fn longest(old: &[u8], new: &[u8]) -> usize {
        match (old, new) {
            ([], _) | (_, []) => 0,
            ([a, rest @ ..], [b, tail @ ..]) if a == b => 1 + longest(rest, tail),
            ([_, rest @ ..], [_, tail @ ..]) => longest(rest, new).max(longest(old, tail)),
        }
    }

    proptest! {
        #[test]
        fn the_match_is_longest_ordered_and_complete(
            old in prop::collection::vec(0_u8..4, 0..9),
            new in prop::collection::vec(0_u8..4, 0..9),
        ) {
            let outcome = match_chunks(&old, &new);
            prop_assert_eq!(outcome.kept.len(), longest(&old, &new));
            prop_assert!(outcome.kept.iter().all(|(i, j)| old[*i] == new[*j]));
            prop_assert!(outcome.kept.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
            prop_assert_eq!(outcome.kept.len() + outcome.removed.len(), old.len());
            prop_assert_eq!(outcome.kept.len() + outcome.added.len(), new.len());
        }
    }

    #[test]
    fn a_tie_drops_from_the_old_side() {
        let outcome = match_chunks(&["X", "Y"], &["Y", "X"]);
        assert_eq!(outcome.kept, [(1, 0)]);
    }
}
