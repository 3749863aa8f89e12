//! What a refresh decides: its mode, its outcome, the movement of the clocks, the guards, and which
//! facts are carried over. Decisions only; running one is the engine's.

use serde::{Deserialize, Serialize};

/// Why a run's mode is not simply the trigger's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum FallbackReason {
    /// The operation asked for a full one.
    ForcedFull,
    /// There is no document to edit.
    NoBaselineContent,
    /// The document answers another question.
    SourceQueryChanged,
    /// Too many deltas were refused in a row.
    DeltaWedged,
    /// The call for operations failed or could not be read.
    DeltaOpsFailed,
    /// Not one operation fitted.
    DeltaOpsAllSkipped,
}

/// How a refresh ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A new version.
    ContentWritten,
    /// The same text; evidence and clocks moved.
    ContentUnchanged,
    /// Nothing relevant; clocks moved.
    ContentPreservedNoNewFacts,
    /// A proposal waits for a person.
    ProposalCreated,
    /// The candidate was empty.
    RefreshFailedEmptyCandidate,
    /// The delta could not be applied.
    RefreshFailedDeltaNotApplied,
    /// The structured view could not be extracted.
    RefreshFailedStructuredOutput,
    /// Retrieval, the model or the program failed.
    RefreshFailedError,
    /// The document moved meanwhile.
    RefreshFailedConflict,
    /// Stopped by a person or the end of the program.
    Cancelled,
}

/// The word of a failed outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum FailureReason {
    /// The candidate was empty.
    EmptyCandidate,
    /// The stored structure cannot be read.
    StructuredDocUnreadable,
    /// The operations could not be obtained or read.
    DeltaOpsFailed,
    /// Not one operation fitted.
    DeltaOpsAllSkipped,
    /// The operations were not applied for another cause.
    DeltaNotApplied,
    /// The structured view could not be extracted.
    StructuredOutputFailed,
    /// A search failed or none was made.
    RetrievalFailed,
    /// The loop ended without an answer.
    NoAnswer,
    /// The document was changed during the run.
    DocumentChanged,
    /// Everything else.
    UnexpectedError,
}
