//! Which mode a refresh runs in: the first condition that holds decides.

use super::FallbackReason;
use crate::trigger::{DeltaFailurePolicy, RefreshMode};

/// What the decision looks at.
#[derive(Debug, Clone, Copy)]
pub struct ModeInput<'a> {
    /// The trigger's mode.
    pub mode: RefreshMode,
    /// The operation asks for one full rebuild.
    pub forced_full: bool,
    /// The published content.
    pub content: &'a str,
    /// Nothing was ever published.
    pub placeholder: bool,
    /// A person wrote the published content, at creation or since.
    pub authored: bool,
    /// The published content cites anything at all.
    pub grounded: bool,
    /// The question.
    pub source_query: &'a str,
    /// The question that produced the published content.
    pub last_refreshed_source_query: Option<&'a str>,
    /// Structure, or failing that the content, could be read.
    pub readable: bool,
    /// Refused deltas in a row.
    pub delta_failures: u32,
    /// How many are too many.
    pub delta_failure_limit: u32,
    /// What follows then.
    pub delta_failure_policy: DeltaFailurePolicy,
}

/// The decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModePlan {
    /// What is done.
    pub effective: RefreshMode,
    /// Why it is not simply what the trigger says.
    pub reason: Option<FallbackReason>,
    /// The run ends as a proposal whatever the model's review setting: a wedged delta, or the full
    /// rebuild of a document that is kept current by edits.
    pub must_propose: bool,
}

/// The document cannot be read, so a delta has nothing to edit: `structured_doc_unreadable`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stored structure of the document cannot be read")]
pub struct Unreadable;

/// Decides the mode.
///
/// # Errors
/// A delta is wanted and there is a baseline that nobody can read.
pub fn plan_mode(input: &ModeInput<'_>) -> Result<ModePlan, Unreadable> {
    let full = |reason| ModePlan { effective: RefreshMode::Full, reason, must_propose: false };
    if input.mode == RefreshMode::Full {
        return Ok(full(None));
    }
    let has_baseline = !input.content.trim().is_empty()
        && !input.placeholder
        && (input.authored || input.grounded);
    if input.forced_full {
        // Where edits are the rule, a document written anew from end to end is looked at first. An
        // unbuilt one has nothing to be taken away.
        let plan = full(Some(FallbackReason::ForcedFull));
        return Ok(ModePlan { must_propose: has_baseline, ..plan });
    }
    if !has_baseline {
        return Ok(full(Some(FallbackReason::NoBaselineContent)));
    }
    let changed = |last: &str| last.trim() != input.source_query.trim();
    if input.last_refreshed_source_query.is_some_and(changed) {
        return Ok(full(Some(FallbackReason::SourceQueryChanged)));
    }
    if !input.readable {
        return Err(Unreadable);
    }
    if input.delta_failure_policy == DeltaFailurePolicy::ProposeFull
        && input.delta_failures >= input.delta_failure_limit.max(1)
    {
        return Ok(ModePlan { must_propose: true, ..full(Some(FallbackReason::DeltaWedged)) });
    }
    Ok(ModePlan { effective: RefreshMode::Delta, reason: None, must_propose: false })
}
