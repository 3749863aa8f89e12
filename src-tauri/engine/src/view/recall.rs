//! Search over memories, with what each of the four ways said.

use super::memory::{MemoryRow, ModelRef};
use domain::reflect::Budget;
use domain::{FactType, Instant, Score};
use serde::{Deserialize, Serialize};

/// A search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RecallInput {
    /// What is looked for; any text is a legal search.
    pub query: String,
    /// How widely; `mid` when absent.
    #[serde(default)]
    pub budget: Option<Budget>,
    /// Kinds; all when absent.
    #[serde(default)]
    pub fact_types: Option<Vec<FactType>>,
    /// Tags of the scope; absent and empty are the same here.
    #[serde(default)]
    pub tags: Vec<String>,
    /// How tags are matched: `any`, `all`, `any_strict`, `all_strict`, `exact`.
    #[serde(default)]
    pub tags_match: Option<String>,
    /// Tokens that the results may hold together; 4096 when absent.
    #[serde(default)]
    pub max_tokens: Option<u32>,
    /// Only what this way found, in its own order; all four ways, fused, when absent.
    #[serde(default)]
    pub way: Option<Way>,
}

/// One of the four ways of searching.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// By meaning (vectors).
    Semantic,
    /// By words (full text).
    Keyword,
    /// Through shared entities and links.
    Graph,
    /// By time.
    Temporal,
}

/// What one way said of a hit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct WayRank {
    /// The way.
    pub way: Way,
    /// Its rank there, from 1.
    pub rank: u32,
    /// Its score there: a cosine, a bm25 value, a share.
    pub score: Score,
}

/// One found memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RecallHit {
    /// The memory.
    pub memory: MemoryRow,
    /// The score that ordered the hits.
    pub score: Score,
    /// What each way said; absent ways did not find it.
    pub ways: Vec<WayRank>,
}

/// A way that could not be walked, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct WaySkipped {
    /// The way.
    pub way: Way,
    /// Stable word, for example `no_embedder` or `no_time_in_query`.
    pub reason: String,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RecallView {
    /// Best first.
    pub hits: Vec<RecallHit>,
    /// Models whose documents bear on the query, best first.
    pub models: Vec<ModelRef>,
    /// The time that was read from the query.
    pub window: Option<TimeWindow>,
    /// Ways not walked.
    pub skipped: Vec<WaySkipped>,
    /// How long it took, in milliseconds.
    pub duration_ms: u32,
}

/// A span of time, both ends included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct TimeWindow {
    /// Its beginning.
    pub start: Instant,
    /// Its end.
    pub end: Instant,
}
