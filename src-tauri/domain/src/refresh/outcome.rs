//! How a refresh ends: before any call, when there is nothing to read, and after the last one.

use super::checks::{dropped_citations, is_large_loss, is_large_removal, removed_lines};
use super::{FailureReason, Outcome};
use crate::model::Review;
use crate::trigger::RefreshMode;

/// Why a run needs no call to a language model for its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idle {
    /// No memory is in scope at all: warning `empty_scope`.
    EmptyScope,
    /// A delta whose window holds nothing.
    EmptyWindow,
}

/// What is known before the loop starts.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent findings about the scope")]
pub struct IdleInput {
    /// The effective mode.
    pub mode: RefreshMode,
    /// A memory is in scope up to the cutoff.
    pub scope_has_memory: bool,
    /// A memory is in scope between watermark and cutoff.
    pub window_has_memory: bool,
    /// Facts wait to be offered again.
    pub has_carry_over: bool,
    /// Withdrawn evidence is to be acted on.
    pub has_retraction: bool,
    /// The run may read another mental model.
    pub sees_sibling: bool,
}

/// Whether the run ends before it starts, with outcome [`Outcome::ContentPreservedNoNewFacts`].
/// (The structured view may still be extracted then.) A changed sibling is no new fact.
#[must_use]
pub fn plan_idle(input: &IdleInput) -> Option<Idle> {
    let waiting = input.has_carry_over || input.has_retraction;
    if !input.scope_has_memory && !waiting && !input.sees_sibling {
        return Some(Idle::EmptyScope);
    }
    let delta = input.mode == RefreshMode::Delta;
    (delta && !input.window_has_memory && !waiting).then_some(Idle::EmptyWindow)
}

/// What came of a delta's operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeltaResult {
    /// No call was made: there was nothing to integrate.
    NotCalled,
    /// The call failed, or its answer was blank, unreadable or invalid throughout.
    Failed,
    /// The operations were tried.
    Tried {
        /// Operations that changed the document.
        applied: u32,
        /// Operations that were true already.
        noop: u32,
        /// Operations that did not fit.
        skipped: u32,
    },
}

/// What came of the structured view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extraction {
    /// None was due.
    NotDue,
    /// A valid value.
    Done,
    /// Both tries failed.
    Failed,
}

/// A run at its end, before anything is written.
#[derive(Debug, Clone)]
pub struct ResultInput<'a> {
    /// The effective mode.
    pub mode: RefreshMode,
    /// The model's setting at this moment.
    pub review: Review,
    /// The plan said so (a wedged delta, a rebuild beside deltas).
    pub must_propose: bool,
    /// The published content; blank when there is none.
    pub baseline: &'a str,
    /// What the loop wrote: the document of a full refresh, the synthesis of a delta.
    pub candidate: &'a str,
    /// What would be stored if the run writes.
    pub document: &'a str,
    /// Facts in evidence, carried ones included; directives and models are no facts.
    pub evidence: u32,
    /// The unsay pass changed the document.
    pub unsaid: bool,
    /// What came of a delta's operations; not looked at in a full refresh.
    pub delta: DeltaResult,
    /// What came of the structured view.
    pub extraction: Extraction,
    /// Memory ids that the published document cites.
    pub cited_before: &'a [String],
    /// Memory ids that the candidate's evidence cites.
    pub cited_after: &'a [String],
    /// Share of the document's lines that a delta may remove unseen; 0 for no limit.
    pub removal_limit: f64,
    /// Share of the citations that a full refresh may lose unseen; 0 for no limit.
    pub citation_limit: f64,
}

/// What is to be done with the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// How the run ends.
    pub outcome: Outcome,
    /// The word of a failure.
    pub failure_reason: Option<FailureReason>,
    /// The run takes away so much that it is not published unseen: warning, and reason of the
    /// proposal on a model that would have published.
    pub large_removal: bool,
}

impl Decision {
    /// The end of a run that had nothing to read ([`plan_idle`]).
    #[must_use]
    pub fn preserved() -> Self {
        Self::ends(Outcome::ContentPreservedNoNewFacts)
    }

    fn ends(outcome: Outcome) -> Self {
        Self { outcome, failure_reason: None, large_removal: false }
    }

    fn fails(reason: FailureReason) -> Self {
        Self { outcome: reason.outcome(), failure_reason: Some(reason), large_removal: false }
    }

    /// A new version is written.
    #[must_use]
    pub fn makes_version(&self) -> bool {
        self.outcome == Outcome::ContentWritten
    }

    /// A proposal is written, and nothing else.
    #[must_use]
    pub fn makes_proposal(&self) -> bool {
        self.outcome == Outcome::ProposalCreated
    }

    /// The published clocks move.
    #[must_use]
    pub fn moves_clocks(&self) -> bool {
        self.outcome.is_completed() && !self.makes_proposal()
    }
}

/// Decides the end of a run that got as far as a result. Failures of retrieval, of the loop or of
/// the machine never come here.
#[must_use]
pub fn decide(input: &ResultInput<'_>) -> Decision {
    let end = match input.mode {
        RefreshMode::Full => full_end(input),
        RefreshMode::Delta => delta_end(input),
    };
    let outcome = match end {
        Ok(outcome) => outcome,
        Err(reason) => return Decision::fails(reason),
    };
    if input.extraction == Extraction::Failed {
        return Decision::fails(FailureReason::StructuredOutputFailed);
    }
    if outcome != Outcome::ContentWritten {
        return Decision::ends(outcome);
    }
    let large_removal = loses_much(input);
    let propose = input.review == Review::Manual || input.must_propose || large_removal;
    let outcome = if propose { Outcome::ProposalCreated } else { outcome };
    Decision { large_removal, ..Decision::ends(outcome) }
}

/// "Changed" is a matter of the rendered content, not of the branch that ran. An empty document is
/// a failure even where there was none before: facts were in evidence, and passing over them in
/// silence would let the watermark move past them.
fn written(input: &ResultInput<'_>) -> Result<Outcome, FailureReason> {
    if input.document.trim().is_empty() {
        Err(FailureReason::EmptyCandidate)
    } else if input.document == input.baseline {
        Ok(Outcome::ContentUnchanged)
    } else {
        Ok(Outcome::ContentWritten)
    }
}

fn full_end(input: &ResultInput<'_>) -> Result<Outcome, FailureReason> {
    if input.evidence == 0 { Ok(Outcome::ContentPreservedNoNewFacts) } else { written(input) }
}

fn delta_end(input: &ResultInput<'_>) -> Result<Outcome, FailureReason> {
    if input.evidence == 0 {
        return if input.unsaid && written(input)? == Outcome::ContentWritten {
            Ok(Outcome::ContentWritten)
        } else {
            Ok(Outcome::ContentPreservedNoNewFacts)
        };
    }
    // A blank synthesis points upstream of the operations, so it is judged before them.
    if input.candidate.trim().is_empty() && !input.baseline.trim().is_empty() {
        return Err(FailureReason::EmptyCandidate);
    }
    match input.delta {
        DeltaResult::Failed | DeltaResult::NotCalled => Err(FailureReason::DeltaOpsFailed),
        DeltaResult::Tried { applied: 0, noop: 0, skipped: 1.. } => {
            Err(FailureReason::DeltaOpsAllSkipped)
        }
        DeltaResult::Tried { applied: 0, .. } if !input.unsaid => Ok(Outcome::ContentUnchanged),
        DeltaResult::Tried { .. } => written(input),
    }
}

fn loses_much(input: &ResultInput<'_>) -> bool {
    match input.mode {
        RefreshMode::Delta => {
            is_large_removal(removed_lines(input.baseline, input.document), input.removal_limit)
        }
        RefreshMode::Full => is_large_loss(
            dropped_citations(input.cited_before, input.cited_after),
            input.citation_limit,
        ),
    }
}

/// Whether the structured view is to be extracted in a run of this outcome: whenever new content
/// would be stored, else when there is no value or the schema is another one since.
#[must_use]
pub fn extraction_due(content_changes: bool, has_value: bool, schema_changed: bool) -> bool {
    content_changes || !has_value || schema_changed
}

/// The count of refused deltas after a run. Other failures and cancellations leave it.
#[must_use]
pub fn next_delta_failures(before: u32, outcome: Outcome) -> u32 {
    match outcome {
        Outcome::RefreshFailedDeltaNotApplied => before.saturating_add(1),
        outcome if outcome.is_completed() => 0,
        _ => before,
    }
}
