//! What the form of a model is told while it is filled in.

use domain::tags::TagsMatch;
use domain::{FieldFault, Instant, Json};
use serde::{Deserialize, Serialize};

/// How many memories a scope reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ScopeReach {
    /// Memories that the scope reads now.
    pub memories: u32,
    /// Memories that the bank holds.
    pub of: u32,
    /// How its tags are matched, with the default filled in.
    pub tags_match: TagsMatch,
    /// What the same scope would read under each way to match its tags, in the order in which they
    /// are offered; empty when groups take the place of the tags.
    pub by_match: Vec<MatchReach>,
    /// Tags of the scope that memories of the bank write otherwise.
    pub written_otherwise: Vec<TagPair>,
}

/// A tag, and one that differs from it by case or blanks alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct TagPair {
    /// The tag as it was given.
    pub tag: String,
    /// The tag that the bank has.
    pub other: String,
}

/// The reach of a scope under one way to match its tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct MatchReach {
    /// The way.
    pub tags_match: TagsMatch,
    /// Memories that it would read now.
    pub memories: u32,
}

/// When a schedule comes due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct NextRuns {
    /// The next five times; empty when the expression cannot be used.
    pub at: Vec<Instant>,
    /// What is wrong with the expression.
    pub fault: Option<FieldFault>,
}

/// One thing wrong with a schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct SchemaProblem {
    /// JSON pointer into the schema; empty for the whole.
    pub pointer: String,
    /// Stable word, one of the `schema_…` field codes.
    pub code: String,
    /// One sentence for a person.
    pub message: String,
}

/// What came of trying a schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct SchemaTry {
    /// The fields; null when nothing in the text matches.
    pub value: Option<Json>,
    /// Tokens sent and received, failed calls included.
    pub tokens: u32,
    /// How long it took, in milliseconds.
    pub duration_ms: u32,
}
