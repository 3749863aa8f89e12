//! What differs between two documents, as the diff views draw it: the rules' own words, with
//! operations named by their ids.

pub use domain::diff::{DiffKind, SpanKind, WordSpan};
use serde::{Deserialize, Serialize};

/// One element of either side, in reading order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct DiffEntry {
    /// What happened to it.
    pub kind: DiffKind,
    /// Its section.
    pub section_id: String,
    /// The block; absent for a heading.
    pub block_id: Option<String>,
    /// Level of the heading, 1 to 6; 0 for blocks.
    pub level: u32,
    /// Its text before (of a heading: without hashes).
    pub old_text: Option<String>,
    /// Its text after.
    pub new_text: Option<String>,
    /// Word by word, for changed and renamed ones.
    pub words: Vec<WordSpan>,
    /// Ids of the proposal's operations behind it.
    pub op_ids: Vec<String>,
}

/// What differs between two documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct DocDiff {
    /// Element by element.
    pub entries: Vec<DiffEntry>,
    /// As a unified diff with three lines of context; empty when nothing differs.
    pub unified: String,
}
