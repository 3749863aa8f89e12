//! The closed vocabularies of a mental model: review, level of detail, causes, actors.

use serde::{Deserialize, Serialize};

/// What a finished refresh does with its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Review {
    /// Publishes it.
    #[default]
    Auto,
    /// Proposes it; a person decides.
    Manual,
}

impl Review {
    /// The word of the wire and of the file.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Manual => "manual",
        }
    }

    /// The setting of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Auto, Self::Manual].into_iter().find(|review| review.word() == word)
    }
}

/// How much of a model a reading returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum DetailLevel {
    /// Names, clocks and staleness: the default of a list.
    Metadata,
    /// With question, document and trigger.
    Content,
    /// With evidence, structure, carry-over and guidance: the default of a single reading.
    Full,
}

impl DetailLevel {
    /// The level of a word; an unknown one is a validation error.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "metadata" => Some(Self::Metadata),
            "content" => Some(Self::Content),
            "full" => Some(Self::Full),
            _ => None,
        }
    }
}

/// What led to a refresh: the entries of an operation's `triggered_by`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Asked for in the window, over REST or MCP.
    ManualRefresh,
    /// The model was created.
    Create,
    /// A consolidation touched the scope.
    AfterConsolidation,
    /// A cited memory was deleted or invalidated.
    AfterDeletion,
    /// The schedule came due.
    Cron,
    /// The schedule of full rebuilds came due.
    FullCron,
}

impl Cause {
    /// Whether a person asked, which is never held back by intervals and pauses.
    #[must_use]
    pub fn is_explicit(self) -> bool {
        matches!(self, Self::ManualRefresh | Self::Create)
    }

    /// Who a version made by an operation of this first cause is put down to.
    #[must_use]
    pub fn actor(self) -> Actor {
        match self {
            Self::ManualRefresh | Self::Create => Actor::ManualRefresh,
            Self::AfterConsolidation => Actor::AfterConsolidation,
            Self::AfterDeletion => Actor::AfterDeletion,
            Self::Cron | Self::FullCron => Actor::Cron,
        }
    }
}

/// Who or what made a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// A person: edits, decisions, clears, reverts.
    Person,
    /// A consolidation.
    AfterConsolidation,
    /// A deletion.
    AfterDeletion,
    /// A schedule.
    Cron,
    /// A refresh that was asked for.
    ManualRefresh,
    /// An import.
    Import,
}

/// What kind of change a version is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum VersionCause {
    /// Content came with the creation.
    Created,
    /// Rebuilt.
    RefreshFull,
    /// Edited by delta operations.
    RefreshDelta,
    /// Withdrawn evidence was unsaid, and nothing else changed.
    Retraction,
    /// A proposal was approved.
    Proposal,
    /// A person edited.
    Edit,
    /// Emptied.
    Clear,
    /// An earlier version came back.
    Revert,
    /// Came with an import.
    Import,
}
