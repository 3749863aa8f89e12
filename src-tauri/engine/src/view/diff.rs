//! What differs between two documents, as the diff views draw it.

use serde::{Deserialize, Serialize};

/// How a piece of text stands in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum SpanKind {
    /// On both sides.
    Same,
    /// Only on the new side.
    Added,
    /// Only on the old side.
    Removed,
}

/// A run of words of a changed block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct WordSpan {
    /// On which side.
    pub kind: SpanKind,
    /// The text, blanks included.
    pub text: String,
}

/// What happened to one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum DiffKind {
    /// A new heading.
    SectionAdded,
    /// A heading that goes.
    SectionRemoved,
    /// A heading with new words.
    SectionRenamed,
    /// A heading at another place.
    SectionMoved,
    /// A new block.
    BlockAdded,
    /// A block that goes.
    BlockRemoved,
    /// A block with new words.
    BlockChanged,
    /// The same on both sides: a heading when `block_id` is absent.
    Unchanged,
}

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
