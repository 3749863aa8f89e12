//! Whether an automatic trigger starts a run at all, given what already waits for a person.

use crate::model::Review;

/// The newest proposal of a model, as far as automatic triggers care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// None, or one that was approved, dismissed long since or replaced.
    None,
    /// Untouched, or in conflict with the document.
    OpenOrConflicted,
    /// A person has begun to decide.
    InReview,
    /// Rejected, and nothing was published since.
    Rejected,
}

/// Why an automatic trigger led to no run: the reason of a skipped entry of the run record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Skip {
    /// Nothing calls for a refresh.
    Fresh,
    /// The minimum interval.
    Floor,
    /// A person has yet to answer, and nothing is newer than what they were shown.
    Review,
    /// Runs failed lately.
    FailurePause,
    /// The day's tokens are spent.
    Ceiling,
}

/// What an automatic trigger may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// Start a run; its window begins at the published watermark.
    Run,
    /// Queue it, held with `review_in_progress` until the proposal is decided.
    Hold,
    /// Do nothing.
    Skip(Skip),
}

/// The gate of an automatic trigger. An unanswered or rejected proposal of a reviewed model is not
/// made again until memories in scope are newer than everything looked at so far.
#[must_use]
pub fn automatic_gate(
    needs_refresh: bool,
    review: Review,
    standing: Standing,
    newest_in_scope: Option<i64>,
    seen_seq: Option<i64>,
    considered_seq: Option<i64>,
) -> Gate {
    if !needs_refresh {
        return Gate::Skip(Skip::Fresh);
    }
    if review == Review::Auto || standing == Standing::None {
        return Gate::Run;
    }
    if newest_in_scope <= seen_seq.max(considered_seq) {
        Gate::Skip(Skip::Review)
    } else if standing == Standing::InReview {
        Gate::Hold
    } else {
        Gate::Run
    }
}
