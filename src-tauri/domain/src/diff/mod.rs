//! What differs between two texts of a document: as a unified diff of lines, as a list of changed
//! elements, and word by word. Computed on request, never stored; nothing here judges a change.

mod json;
mod structural;
mod words;

pub use json::{JsonChange, json_changes};
pub use structural::{DiffEntry, DiffKind, OpEffect, structural};
pub use words::{SpanKind, WordSpan, word_diff};

use serde::{Deserialize, Serialize};
use similar::TextDiff;

use crate::document::Document;

/// Lines of unchanged text around a change in a unified diff.
const CONTEXT: usize = 3;

/// All that a reviewer is shown about two states of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct DocDiff {
    /// Unified diff; empty if the texts are equal.
    pub unified: String,
    /// Elements of both documents in reading order.
    pub entries: Vec<DiffEntry>,
}

/// The differences between two documents. `effects` name the operations that made them; without
/// operations (two versions, say) it is empty.
#[must_use]
pub fn diff_documents(old: &Document, new: &Document, effects: &[OpEffect]) -> DocDiff {
    DocDiff {
        unified: unified(&old.render(), &new.render(), "current", "preview"),
        entries: structural(old, new, effects),
    }
}

/// A unified diff of two exact texts with three lines of context; empty if they are equal.
#[must_use]
pub fn unified(old: &str, new: &str, old_name: &str, new_name: &str) -> String {
    if old == new {
        return String::new();
    }
    TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(CONTEXT)
        .header(old_name, new_name)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unified_diff_shows_line_ends_that_differ() {
        assert_eq!(unified("a\n", "a\n", "current", "preview"), "");
        let diff = unified("a\nb\n", "a\nc", "current", "preview");
        assert!(diff.starts_with("--- current\n+++ preview\n@@"), "{diff}");
        assert!(diff.contains("-b\n+c\n\\ No newline at end of file"), "{diff}");
        assert_ne!(unified("a\r\n", "a\n", "x", "y"), "");
    }
}
