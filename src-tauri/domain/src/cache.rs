//! What can go out of date on a screen. A write names what it touched; a screen that shows it
//! fetches again. Nothing here knows how news travels.

use serde::{Deserialize, Serialize};

/// One family of things that screens show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum CacheTag {
    /// The list of banks, their settings and counts.
    Banks,
    /// Documents and their chunks.
    Documents,
    /// Memories, their links and history.
    Memories,
    /// Entities and their pairs.
    Entities,
    /// Tags and tag sets.
    Tags,
    /// Directives.
    Directives,
    /// Mental models.
    Models,
    /// Versions of mental models.
    Versions,
    /// Proposals and their decisions.
    Proposals,
    /// Queued, running and finished operations.
    Operations,
    /// Records of reflects and refreshes.
    Runs,
    /// Recorded requests to language models and their sums.
    LlmRequests,
    /// Program-wide settings and references to keys.
    Settings,
    /// Endpoints and what was learnt about them.
    Endpoints,
    /// Backups.
    Backups,
}
