//! Staleness: why a mental model needs a refresh. One rule for lists, trees and single readings;
//! `store` answers the two questions about memories, this module combines them.

use serde::{Deserialize, Serialize};

/// A reason to refresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum RefreshReason {
    /// Nothing was ever read for it, or it was cleared.
    NeverRefreshed,
    /// A memory in scope is newer than the watermark.
    ScopeChanged,
    /// A cited memory was withdrawn.
    GroundingRetracted,
    /// The question is another one.
    QueryChanged,
    /// Facts wait to be offered again.
    CarryOver,
}
