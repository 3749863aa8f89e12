//! The words that differ between two texts.

use serde::{Deserialize, Serialize};
use similar::{ChangeTag, TextDiff};

/// What became of a run of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum SpanKind {
    /// In both texts.
    Same,
    /// In the old one only.
    Removed,
    /// In the new one only.
    Added,
}

/// A run of words, with its spaces and line ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct WordSpan {
    /// What became of it.
    pub kind: SpanKind,
    /// The run, verbatim.
    pub text: String,
}

/// Words of both texts together up to which they are compared word by word. The comparison takes
/// time in proportion to length times difference; beyond, whole lines are compared.
const WORD_LIMIT: usize = 3_000;

/// The words that differ, as runs that give the old text when the added ones are left out, and the
/// new text when the removed ones are.
#[must_use]
pub fn word_diff(old: &str, new: &str) -> Vec<WordSpan> {
    let count = old.split_whitespace().count() + new.split_whitespace().count();
    let diff = if count > WORD_LIMIT {
        TextDiff::from_lines(old, new)
    } else {
        TextDiff::from_unicode_words(old, new)
    };
    let mut runs: Vec<WordSpan> = Vec::new();
    for change in diff.iter_all_changes() {
        let kind = match change.tag() {
            ChangeTag::Equal => SpanKind::Same,
            ChangeTag::Delete => SpanKind::Removed,
            ChangeTag::Insert => SpanKind::Added,
        };
        match runs.last_mut().filter(|run| run.kind == kind) {
            Some(run) => run.text.push_str(change.value()),
            None => runs.push(WordSpan { kind, text: change.value().to_owned() }),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_compared_by_lines() {
        let old = format!("{}\nlast line\n", "word ".repeat(WORD_LIMIT));
        let new = old.replace("last line", "last row");
        let runs = word_diff(&old, &new);
        assert_eq!(runs[1].text, "last line\n");
        assert_eq!(runs[2].text, "last row\n");
    }

    #[test]
    fn only_the_changed_word_is_marked() {
        let runs = word_diff("Start at 8 o'clock.", "Start at 9 o'clock.");
        let marked: Vec<&str> =
            runs.iter().filter(|r| r.kind != SpanKind::Same).map(|r| r.text.as_str()).collect();
        assert_eq!(marked, ["8", "9"]);
        let old: String =
            runs.iter().filter(|r| r.kind != SpanKind::Added).map(|r| r.text.as_str()).collect();
        assert_eq!(old, "Start at 8 o'clock.");
    }
}
