//! The deterministic embedder without a model: words and character n-grams hashed into 384 places
//! (the "hashing trick" with signs, so that collisions cancel instead of adding up). It knows
//! spelling and nothing of meaning; results found with it are labelled so by whoever shows them.

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use crate::{Embedder, Error, Kind, Prefixes, Thresholds, normalise};

/// Numbers in a vector; the same as the bundled model's, so both fit the same tests.
const DIM: usize = 384;
/// Weight of a whole word.
const WORD: f32 = 1.0;
/// Weight of all n-grams of one word together: an equal word counts about twice a similar one.
const GRAMS: f32 = 1.0;

/// Hashed word and character n-grams, 384 numbers, unit length. Equal text, equal vector, on every
/// machine and in every version that keeps the name.
#[derive(Debug, Default)]
pub struct Hash {
    prefixes: Prefixes,
}

impl Hash {
    /// The embedder. It holds no state.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The vector of one text. Text without a letter or digit gives zeros.
    #[must_use]
    pub fn vector(text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; DIM];
        for word in words(text) {
            add_word(&mut vector, &word);
        }
        normalise(&mut vector);
        vector
    }
}

#[async_trait]
impl Embedder for Hash {
    fn name(&self) -> &str {
        "hash-384"
    }

    fn dim(&self) -> usize {
        DIM
    }

    fn prefixes(&self) -> &Prefixes {
        &self.prefixes
    }

    fn thresholds(&self) -> Thresholds {
        Thresholds::HASH
    }

    fn is_local(&self) -> bool {
        true
    }

    async fn embed(
        &self,
        texts: &[String],
        _kind: Kind,
        cancel: &CancellationToken,
    ) -> Result<Vec<Vec<f32>>, Error> {
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            vectors.push(Self::vector(text));
        }
        Ok(vectors)
    }
}

/// Runs of letters and digits, lower-cased, accents taken off.
fn words(text: &str) -> Vec<String> {
    let folded: String =
        text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).collect();
    folded
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn add_word(vector: &mut [f32], word: &str) {
    let weight = weight(word);
    add(vector, "w", word, WORD * weight);
    let grams = grams(word);
    let share = GRAMS * weight / (grams.len() as f32).sqrt();
    for gram in &grams {
        add(vector, "g", gram, share);
    }
}

/// With no corpus to count in, length stands in for rarity: "of" and "the" say less than
/// "reservoir". Digits always count in full, and so does every script whose words are short.
fn weight(word: &str) -> f32 {
    if !word.bytes().all(|b| b.is_ascii_alphabetic()) {
        return 1.0;
    }
    match word.len() {
        0..=2 => 0.2,
        3 => 0.4,
        4 => 0.7,
        _ => 1.0,
    }
}

/// Three and four characters in a row of the word with its ends marked; a word in a script without
/// blanks is a whole clause, where two in a row carry the sense.
fn grams(word: &str) -> Vec<String> {
    let dense = word.chars().any(|c| c >= '\u{2E80}' || ('\u{0E00}'..='\u{0EFF}').contains(&c));
    let marked: Vec<char> = if dense {
        word.chars().collect()
    } else {
        std::iter::once('<').chain(word.chars()).chain(std::iter::once('>')).collect()
    };
    let sizes = if dense { 1..=2 } else { 3..=4 };
    sizes.flat_map(|n| marked.windows(n).map(|w| w.iter().collect::<String>())).collect()
}

fn add(vector: &mut [f32], space: &str, part: &str, weight: f32) {
    let hash = fnv1a(space.bytes().chain(part.bytes()));
    #[expect(clippy::cast_possible_truncation, reason = "the remainder is below the length")]
    let place = (hash % vector.len() as u64) as usize;
    vector[place] += if hash >> 63 == 0 { weight } else { -weight };
}

/// FNV-1a, 64 bits (offset basis and prime of its authors), with a final mix because its upper
/// bits are weak on short input.
fn fnv1a(bytes: impl Iterator<Item = u8>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in bytes {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ (hash >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosine;

    fn similar(a: &str, b: &str) -> f32 {
        cosine(&Hash::vector(a), &Hash::vector(b))
    }

    #[test]
    fn same_words_in_another_dress_are_equal() {
        assert!(similar("The café opens at noon.", "the CAFE opens, at noon") > 0.999);
    }

    #[test]
    fn shared_words_outrank_unrelated_text() {
        let query = "Which pump feeds the upper reservoir?";
        let right = similar(query, "The upper reservoir is fed by pump 4.");
        let wrong = similar(query, "Marta paints her boat every spring.");
        assert!(right > Thresholds::HASH.semantic_floor, "{right}");
        assert!(wrong < Thresholds::HASH.semantic_floor, "{wrong}");
    }

    #[test]
    fn inflected_words_stay_near() {
        assert!(similar("inspections", "inspection") > 0.3);
    }

    #[test]
    fn text_without_blanks_is_found_by_its_parts() {
        let right = similar("水库的水泵", "上游水库由四号水泵供水");
        let wrong = similar("水库的水泵", "她每年春天给小船刷漆");
        assert!(right > wrong + 0.2, "{right} {wrong}");
    }

    #[test]
    fn vectors_have_unit_length_unless_there_is_nothing_to_say() {
        let vector = Hash::vector("a few words");
        assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-5);
        assert_eq!(Hash::vector(" ?! "), vec![0.0; DIM]);
    }

    #[test]
    fn the_mapping_is_fixed_across_builds() {
        let vector = Hash::vector("palimpsest");
        let place = vector
            .iter()
            .enumerate()
            .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
            .map(|(place, x)| (place, *x > 0.0));
        assert_eq!(place, Some((264, false)));
    }

    #[tokio::test]
    async fn a_set_token_stops_the_batch() {
        let cancel = CancellationToken::new();
        cancel.cancel();
        let outcome = Hash::new().embed(&["text".into()], Kind::Query, &cancel).await;
        assert!(matches!(outcome, Err(Error::Cancelled)));
    }
}
