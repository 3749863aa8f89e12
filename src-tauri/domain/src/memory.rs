//! Memories: what a stored statement is made of. No storage, no search.

use serde::{Deserialize, Serialize};

/// What kind of statement a memory is. "Fact" means `World` or `Experience`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum FactType {
    /// About people and things.
    World,
    /// What the bank's own assistant did or saw.
    Experience,
    /// A belief folded from facts.
    Observation,
}

impl FactType {
    /// All three, in the order used everywhere.
    pub const ALL: [Self; 3] = [Self::World, Self::Experience, Self::Observation];

    /// The word of the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::World => "world",
            Self::Experience => "experience",
            Self::Observation => "observation",
        }
    }

    /// The kind of a word of the wire.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// The small integer that the file stores (memory table, `fact_type`).
    #[must_use]
    pub fn code(self) -> i64 {
        match self {
            Self::World => 0,
            Self::Experience => 1,
            Self::Observation => 2,
        }
    }

    /// The kind of a stored integer.
    #[must_use]
    pub fn from_code(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}
