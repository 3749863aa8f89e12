//! Token counting: one tokenizer for every budget, so that two parts of the program never disagree
//! on a size. It is compatible with cl100k; language models of other families count a little
//! differently, which is why budgets of providers are their own affair.

use std::collections::HashSet;

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
        u32::try_from(tokens(cl100k_base_singleton(), text).len()).unwrap_or(u32::MAX)
    }

    fn cut<'a>(&self, text: &'a str, max: u32) -> &'a str {
        let table = cl100k_base_singleton();
        let tokens = tokens(table, text);
        let max = usize::try_from(max).unwrap_or(usize::MAX);
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
