//! Token counting: one tokenizer for every budget, so that two parts of the program never disagree
//! on a size. It is compatible with cl100k; language models of other families count a little
//! differently, which is why budgets of providers are their own affair.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use tiktoken_rs::{CoreBPE, cl100k_base_singleton};

/// Counts and cuts text by tokens.
pub trait TokenCounter: Send + Sync {
    /// Tokens of a text. Markers of special tokens are ordinary text.
    fn count(&self, text: &str) -> u32;

    /// The longest beginning of a text within `max` tokens, ending between characters.
    fn cut<'a>(&self, text: &'a str, max: u32) -> &'a str;
}

/// The cl100k-compatible tokenizer. Its table (1.7 MB, part of the crate) is built at the first
/// use and then shared.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cl100k;

impl TokenCounter for Cl100k {
    fn count(&self, text: &str) -> u32 {
        chunks(text).fold(0, |sum: u32, chunk| sum.saturating_add(count_chunk(chunk)))
    }

    fn cut<'a>(&self, text: &'a str, max: u32) -> &'a str {
        let max = usize::try_from(max).unwrap_or(usize::MAX);
        // Every token stands for a byte at least.
        if text.len() <= max {
            return text;
        }
        let table = cl100k_base_singleton();
        let tokens = tokens(table, text);
        if tokens.len() <= max {
            return text;
        }
        let mut bytes = table.decode_bytes(&tokens[..max]).map_or(0, |bytes| bytes.len());
        while !text.is_char_boundary(bytes) {
            bytes -= 1;
        }
        &text[..bytes]
    }
}

/// A text in parts whose counts add up to its own: it is cut before each blank that follows anything
/// but white space. No token of cl100k reaches from such a character into a blank, and where one ends
/// depends on nothing beyond.
fn chunks(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut start = 0;
    std::iter::from_fn(move || {
        if start == bytes.len() {
            return None;
        }
        let is_cut = |at: &usize| bytes[*at] == b' ' && is_solid(bytes[at - 1]);
        let end = (start + 1..bytes.len()).find(is_cut).unwrap_or(bytes.len());
        let chunk = &text[start..end];
        start = end;
        Some(chunk)
    })
}

/// An ASCII character that is no white space.
fn is_solid(byte: u8) -> bool {
    byte.is_ascii() && !matches!(byte, b'\t'..=b'\r' | b' ')
}

/// Most parts whose counts are kept, per thread: some hundred kilobytes.
const KEPT: usize = 16_384;
/// Longer parts seldom come again.
const KEPT_LENGTH: usize = 48;

thread_local! {
    /// Counts of parts that came up before. Text repeats its words, and the tokenizer needs a
    /// hundred times as long to count one as this needs to find it.
    static COUNTS: RefCell<HashMap<Box<str>, u32>> = RefCell::default();
}

/// The tokens of one chunk. One of letters, digits and signs of ASCII falls into pieces here; any
/// other is left to the tokenizer's own expression.
fn count_chunk(chunk: &str) -> u32 {
    let (first, rest) = chunk.split_at(usize::from(chunk.starts_with(' ')));
    if rest.is_empty() || !rest.bytes().all(is_solid) {
        return count_part(chunk);
    }
    let (mut sum, mut at) = (0, 0);
    // A blank before a digit stands alone; otherwise it belongs to what follows.
    if !first.is_empty() && rest.as_bytes()[0].is_ascii_digit() {
        (sum, at) = (1, 1);
    }
    while at < chunk.len() {
        let end = at + piece(&chunk.as_bytes()[at..]);
        sum += count_part(&chunk[at..end]);
        at = end;
    }
    sum
}

/// Length of the first piece of such a chunk, as the expression of cl100k cuts it: an English
/// contraction; letters with one sign or blank before them; up to three digits; signs with a blank
/// before them.
fn piece(bytes: &[u8]) -> usize {
    let run = |from: usize, fits: fn(&u8) -> bool| {
        from + bytes[from..].iter().take_while(|byte| fits(byte)).count()
    };
    let lower = |at: usize| bytes.get(at).map(u8::to_ascii_lowercase);
    match (bytes[0], lower(1), lower(2)) {
        (b'\'', Some(b's' | b'd' | b'm' | b't'), _) => 2,
        (b'\'', Some(b'l'), Some(b'l')) | (b'\'', Some(b'v' | b'r'), Some(b'e')) => 3,
        (first, ..) if first.is_ascii_alphabetic() => run(0, u8::is_ascii_alphabetic),
        (first, ..) if first.is_ascii_digit() => run(0, u8::is_ascii_digit).min(3),
        (_, Some(second), _) if second.is_ascii_alphabetic() => run(1, u8::is_ascii_alphabetic),
        (_, _, _) => run(1, |byte| !byte.is_ascii_alphanumeric()),
    }
}

fn count_part(part: &str) -> u32 {
    if part.len() == 1 {
        return 1;
    }
    let counted = || u32::try_from(tokens(cl100k_base_singleton(), part).len()).unwrap_or(u32::MAX);
    if part.len() > KEPT_LENGTH {
        return counted();
    }
    COUNTS.with_borrow_mut(|counts| {
        if let Some(count) = counts.get(part) {
            return *count;
        }
        if counts.len() == KEPT {
            counts.clear();
        }
        let count = counted();
        counts.insert(part.into(), count);
        count
    })
}

/// The tokens of a text. The crate's expression gives up on very long runs of blanks; then the
/// text is taken in halves, which costs at most one token per cut.
fn tokens(table: &CoreBPE, text: &str) -> Vec<u32> {
    if let Ok((tokens, _)) = table.encode(text, &HashSet::new()) {
        return tokens;
    }
    let mut middle = text.len() / 2;
    while !text.is_char_boundary(middle) {
        middle += 1;
    }
    if middle == 0 || middle == text.len() {
        return vec![0; text.len()];
    }
    let (left, right) = text.split_at(middle);
    let mut all = tokens(table, left);
    all.extend(tokens(table, right));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_cl100k() {
        for (text, count) in [
            ("", 0),
            ("hello world", 2),
            ("tiktoken is great!", 6),
            ("antidisestablishmentarianism", 6),
            ("2 + 2 = 4", 7),
            ("お誕生日おめでとう", 9),
            ("<|endoftext|>", 7),
        ] {
            assert_eq!(Cl100k.count(text), count, "{text}");
        }
    }

    /// What the crate itself counts.
    fn plainly(text: &str) -> usize {
        cl100k_base_singleton().encode_ordinary(text).len()
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        for text in [
            "It's I'LL they've we're i'd 'start 'S'm 've' 'x ''s",
            " a  b\n c \t d\n\n  e ",
            "2024-03-01T08:00:00.000Z 1234567 12 ,345 (67) $8.90 a1b2",
            r#"{"id":"0195-ab3f","text":"Mara's \"note\"","n":12.50,"tags":[]}"#,
            "naïve café — “quoted” 東京 100% Ωmega x\u{a0}y z\u{2003} w",
            "don't \u{17f}'\u{17f} !!! ?\n\n!\r\n --- a---b",
            " ",
            "   ",
            "a ",
        ] {
            assert_eq!(Cl100k.count(text), u32::try_from(plainly(text)).unwrap(), "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_counts_as_the_whole(
            words in proptest::collection::vec("[ \t\n\r'a-zA-Z0-9.,!{}\":\\-éß—東 ]{0,9}", 0..30),
        ) {
            let text = words.join(" ");
            proptest::prop_assert_eq!(Cl100k.count(&text), u32::try_from(plainly(&text)).unwrap());
        }

        #[test]
        fn any_characters_count_as_the_whole(text in "\\PC{0,60}") {
            proptest::prop_assert_eq!(Cl100k.count(&text), u32::try_from(plainly(&text)).unwrap());
        }
    }

    #[test]
    fn a_cut_ends_between_characters_and_within_the_budget() {
        let text = "お誕生日おめでとう, and many more 🎂🎂🎂";
        for max in 0..Cl100k.count(text) {
            let cut = Cl100k.cut(text, max);
            assert!(text.starts_with(cut));
            assert!(Cl100k.count(cut) <= max, "{max}: {cut}");
        }
        assert_eq!(Cl100k.cut(text, 1_000), text);
    }

    #[test]
    fn long_runs_are_counted_not_a_crash() {
        assert!(Cl100k.count(&" ".repeat(2_000_000)) > 0);
        assert!(Cl100k.count(&format!("{}x", " \t\n".repeat(300_000))) > 0);
        assert!(Cl100k.count(&"a".repeat(200_000)) > 0);
    }
}
