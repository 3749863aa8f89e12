//! What a refresh decides: its mode, its outcome, the movement of the clocks, the guards, and which
//! facts are carried over. Decisions only; running one is the engine's.

mod carry;
mod checks;
mod clocks;
mod gate;
mod mode;
mod outcome;

use serde::{Deserialize, Serialize};

use crate::schedule::FailureClass;

pub use carry::{CARRY_ATTEMPTS, Carried, Judged, carry_over, uncovered};
pub use checks::{
    BudgetPressure, budget_pressure, dropped_citations, is_large_loss, is_large_removal,
    op_answer_tokens, removed_lines,
};
pub use clocks::{ClockEvent, Clocks, Watermark};
pub use gate::{Gate, Skip, Standing, automatic_gate};
pub use mode::{ModeInput, ModePlan, Unreadable, plan_mode};
pub use outcome::{
    Decision, DeltaResult, Extraction, Idle, IdleInput, ResultInput, decide, extraction_due,
    next_delta_failures, plan_idle,
};

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

impl Outcome {
    /// Whether the run did its job: these end the operation as completed.
    #[must_use]
    pub fn is_completed(self) -> bool {
        matches!(
            self,
            Self::ContentWritten
                | Self::ContentUnchanged
                | Self::ContentPreservedNoNewFacts
                | Self::ProposalCreated
        )
    }

    /// Whether the run failed. A cancelled one did not.
    #[must_use]
    pub fn is_failed(self) -> bool {
        !self.is_completed() && self != Self::Cancelled
    }
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

impl FailureReason {
    /// The outcome that goes with the reason.
    #[must_use]
    pub fn outcome(self) -> Outcome {
        match self {
            Self::EmptyCandidate => Outcome::RefreshFailedEmptyCandidate,
            Self::StructuredDocUnreadable
            | Self::DeltaOpsFailed
            | Self::DeltaOpsAllSkipped
            | Self::DeltaNotApplied => Outcome::RefreshFailedDeltaNotApplied,
            Self::StructuredOutputFailed => Outcome::RefreshFailedStructuredOutput,
            Self::RetrievalFailed | Self::NoAnswer | Self::UnexpectedError => {
                Outcome::RefreshFailedError
            }
            Self::DocumentChanged => Outcome::RefreshFailedConflict,
        }
    }

    /// How the queue meets the failure. A failure of a call keeps the class of the provider's or the
    /// machine's error, `transport`; what a repair round or a guard decided is final, because the
    /// same window at temperature 0 would fail the same way.
    #[must_use]
    pub fn queue_class(self, transport: Option<FailureClass>) -> FailureClass {
        match self {
            Self::EmptyCandidate
            | Self::StructuredDocUnreadable
            | Self::DeltaOpsAllSkipped
            | Self::DocumentChanged => FailureClass::Final,
            Self::DeltaOpsFailed
            | Self::DeltaNotApplied
            | Self::StructuredOutputFailed
            | Self::RetrievalFailed
            | Self::NoAnswer
            | Self::UnexpectedError => transport.unwrap_or(FailureClass::Final),
        }
    }

    /// The failure word of an exact reason of the table of errors. `None` for `cancelled`, which is
    /// no failure.
    #[must_use]
    pub fn of_reason(reason: &str) -> Option<Self> {
        Some(match reason {
            "cancelled" => return None,
            "tool_failed" | "no_evidence_gathered" => Self::RetrievalFailed,
            "no_answer" => Self::NoAnswer,
            "empty_candidate" => Self::EmptyCandidate,
            "delta_ops_failed" => Self::DeltaOpsFailed,
            "delta_ops_all_skipped" => Self::DeltaOpsAllSkipped,
            "structured_doc_unreadable" => Self::StructuredDocUnreadable,
            "delta_not_applied" => Self::DeltaNotApplied,
            "structured_output_failed" => Self::StructuredOutputFailed,
            "document_changed" => Self::DocumentChanged,
            _ => Self::UnexpectedError,
        })
    }
}
