//! Staleness: why a mental model needs a refresh. One rule for lists, trees and single readings;
//! `store` answers the questions about memories, this module combines them. The number of newer
//! memories decides nothing.

use serde::{Deserialize, Serialize};

use crate::memory::FactType;
use crate::model::Freshness;
use crate::scope::Scope;
use crate::tags::TagSet;

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

/// Why a memory is gone or no longer where it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum TombstoneCause {
    /// Deleted.
    Deleted,
    /// Taken out of use.
    Invalidated,
    /// Its document was stored anew.
    Replaced,
    /// A derived observation was removed with its sources.
    Swept,
    /// Its tags or type changed.
    Rescoped,
}

/// What became of one cited memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CitedState {
    /// There, valid, and no live tombstone counts against it.
    Found,
    /// A tombstone counts: any cause, save `rescoped` when the memory is still in scope.
    Withdrawn,
    /// Not there, and no tombstone says why.
    Missing,
}

/// The state of a cited memory. `exists` is a valid memory; `left_scope` is looked at for a
/// `rescoped` tombstone alone.
#[must_use]
pub fn cited_state(
    exists: bool,
    tombstone: Option<TombstoneCause>,
    left_scope: bool,
) -> CitedState {
    match tombstone {
        Some(TombstoneCause::Rescoped) if !left_scope => {}
        Some(_) => return CitedState::Withdrawn,
        None => {}
    }
    if exists { CitedState::Found } else { CitedState::Missing }
}

/// Whether a re-scoped memory left a model's scope: it was in it and is not any more. Without the
/// former tag set only the present decides.
#[must_use]
pub fn left_scope(
    scope: &Scope,
    before: Option<&TagSet>,
    now: Option<(&TagSet, FactType)>,
) -> bool {
    let was_in = before.is_none_or(|tags| scope.keeps_tags(tags));
    let is_in = now.is_some_and(|(tags, kind)| scope.keeps(tags, kind));
    was_in && !is_in
}

/// Whether the grounding of a document lost something: a withdrawn citation, or a missing one
/// while another can be found. All missing without a tombstone is an import, not a retraction.
#[must_use]
pub fn grounding_retracted(cited: &[CitedState]) -> bool {
    cited.contains(&CitedState::Withdrawn)
        || (cited.contains(&CitedState::Missing) && cited.contains(&CitedState::Found))
}

/// What the rule looks at.
#[derive(Debug, Clone, Copy)]
pub struct StalenessInput<'a> {
    /// The watermark.
    pub last_memory_seen_seq: Option<i64>,
    /// The question.
    pub source_query: &'a str,
    /// The question that produced the published document.
    pub last_refreshed_source_query: Option<&'a str>,
    /// A memory in scope has a sequence above the watermark, null counting as 0. Pending
    /// consolidation counts.
    pub scope_has_newer: bool,
    /// [`grounding_retracted`] of the published memory-backed citations.
    pub grounding_retracted: bool,
    /// The carry-over is not empty.
    pub has_carry_over: bool,
}

/// The answer for one model: all reasons that hold, in the order of [`RefreshReason`].
#[must_use]
pub fn freshness(input: &StalenessInput<'_>) -> Freshness {
    let never = input.last_memory_seen_seq.is_none() && input.last_refreshed_source_query.is_none();
    let query_changed = input
        .last_refreshed_source_query
        .is_some_and(|last| last.trim() != input.source_query.trim());
    let holds = [
        (RefreshReason::NeverRefreshed, never),
        (RefreshReason::ScopeChanged, !never && input.scope_has_newer),
        (RefreshReason::GroundingRetracted, input.grounding_retracted),
        (RefreshReason::QueryChanged, query_changed),
        (RefreshReason::CarryOver, input.has_carry_over),
    ];
    let reasons: Vec<RefreshReason> =
        holds.into_iter().filter(|(_, holds)| *holds).map(|(reason, _)| reason).collect();
    Freshness {
        is_stale: reasons.iter().any(|reason| {
            matches!(reason, RefreshReason::NeverRefreshed | RefreshReason::ScopeChanged)
        }),
        needs_refresh: !reasons.is_empty(),
        refresh_reasons: reasons,
    }
}
