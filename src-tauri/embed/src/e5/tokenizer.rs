//! Text to token ids: the most likely cut of the text into pieces of the vocabulary (a unigram
//! language model, Kudo 2018), found by one pass over the characters. Knows nothing of windows or
//! prefixes.

use super::file::Weights;

/// Stands for a blank and before the first word.
const WORD_MARK: char = '\u{2581}';
/// An unknown character costs this much more than the least likely piece.
const UNKNOWN_PENALTY: f32 = 10.0;

/// The vocabulary as a hash table of piece numbers; texts and scores stay in the mapped file.
pub(super) struct Tokenizer {
    /// Piece number + 1, 0 for a free place; open addressing, length a power of two.
    table: Box<[u32]>,
    longest: usize,
    unknown_score: f32,
}

/// The best way to one place of the text.
#[derive(Clone, Copy)]
struct Step {
    score: f32,
    piece: u32,
    from: usize,
}

impl Tokenizer {
    /// Builds the table, a few milliseconds for a quarter of a million pieces.
    pub(super) fn new(weights: &Weights) -> Self {
        let count = weights.vocabulary.count;
        let mut table = vec![0; (count * 2).next_power_of_two()].into_boxed_slice();
        let (mut longest, mut lowest) = (1, f32::MAX);
        for id in 0..count {
            let piece = weights.piece(id);
            longest = longest.max(piece.len());
            lowest = lowest.min(weights.score(id));
            let mut place = slot(hash(piece), table.len());
            while table[place] != 0 {
                place = (place + 1) & (table.len() - 1);
            }
            table[place] = u32::try_from(id + 1).unwrap_or(0);
        }
        Self { table, longest, unknown_score: lowest - UNKNOWN_PENALTY }
    }

    /// The ids of a text, without the start and end marks.
    pub(super) fn ids(&self, weights: &Weights, text: &str) -> Vec<u32> {
        let text = prepare(weights, text);
        let mut bounds: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        bounds.push(text.len());
        let steps = self.search(weights, text.as_bytes(), &bounds);
        let mut ids = Vec::new();
        let mut at = bounds.len() - 1;
        while at > 0 {
            ids.push(steps[at].piece);
            at = steps[at].from;
        }
        ids.reverse();
        ids
    }

    /// For every character boundary the likeliest way to reach it.
    fn search(&self, weights: &Weights, text: &[u8], bounds: &[usize]) -> Vec<Step> {
        let unknown = weights.vocabulary.unknown;
        let unreached = Step { score: f32::NEG_INFINITY, piece: unknown, from: 0 };
        let mut steps = vec![unreached; bounds.len()];
        steps[0].score = 0.0;
        // Every boundary is reached in turn, since one character can always be taken as unknown.
        for from in 0..bounds.len() - 1 {
            let base = steps[from].score;
            let start = bounds[from];
            let mut running = FNV_BASIS;
            let mut seen = start;
            for to in from + 1..bounds.len() {
                if bounds[to] - start > self.longest {
                    break;
                }
                running = fnv(running, &text[seen..bounds[to]]);
                seen = bounds[to];
                let found = self.find(weights, running, &text[start..seen]);
                if let Some(piece) = found.filter(|piece| *piece != unknown) {
                    let score = base + weights.score(piece as usize);
                    if score > steps[to].score {
                        steps[to] = Step { score, piece, from };
                    }
                }
            }
            let score = base + self.unknown_score;
            if score > steps[from + 1].score {
                steps[from + 1] = Step { score, piece: unknown, from };
            }
        }
        steps
    }

    fn find(&self, weights: &Weights, hash: u64, piece: &[u8]) -> Option<u32> {
        let mut place = slot(hash, self.table.len());
        loop {
            let id = self.table[place].checked_sub(1)?;
            if weights.piece(id as usize) == piece {
                return Some(id);
            }
            place = (place + 1) & (self.table.len() - 1);
        }
    }
}

/// Replaces characters by the file's table, folds runs of blanks to one, then turns blanks into word
/// marks. A mark that stands in the text itself is a character like any other and does not fold.
fn prepare(weights: &Weights, text: &str) -> String {
    let table = &weights.vocabulary.replacements;
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match table.get(&u32::from(c)) {
            Some(to) => to.iter().for_each(|c| push(&mut plain, *c)),
            None => push(&mut plain, c),
        }
    }
    let mut marked = String::with_capacity(plain.len() + plain.len() / 2);
    if !plain.starts_with(' ') {
        marked.push(WORD_MARK);
    }
    marked.extend(plain.chars().map(|c| if c == ' ' { WORD_MARK } else { c }));
    marked
}

fn push(out: &mut String, c: char) {
    if c != ' ' || !out.ends_with(' ') {
        out.push(c);
    }
}

const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a can be carried on character by character, so every longer candidate costs only its last
/// character.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, b| (hash ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn hash(bytes: &[u8]) -> u64 {
    fnv(FNV_BASIS, bytes)
}

/// The first place to look in a table whose length is a power of two.
#[expect(clippy::cast_possible_truncation, reason = "the low bits are what is wanted")]
fn slot(hash: u64, length: usize) -> usize {
    hash as usize & (length - 1)
}
