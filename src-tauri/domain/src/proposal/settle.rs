//! What a final decision does: to the proposal, the document, the clocks and the facts. One table;
//! the engine carries it out in one transaction.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Decision, Granularity, Marker, ProposalOp, ProposalState, close_selection};
use crate::delta::DeltaOp;
use crate::refresh::{ClockEvent, Watermark};

/// What shall become of the facts of a rejected proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum RejectDisposition {
    /// The same facts are read again, with the note as guidance.
    Retry,
    /// The facts are declined.
    Dismiss,
}

/// A final decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Every applied operation.
    ApproveAll,
    /// The operations that were accepted, with what they require.
    ApproveSelected,
    /// An edited draft; the operations whose effect it still has.
    ApproveDraft {
        /// Indexes of those operations.
        accepted: BTreeSet<u32>,
    },
    /// Nothing of it.
    Reject {
        /// What the person said.
        note: Option<String>,
        /// By default `Retry` with a note, `Dismiss` without.
        disposition: Option<RejectDisposition>,
    },
    /// Another proposal, a clear or a deletion took its place.
    Supersede,
}

/// The proposal that is decided.
#[derive(Debug, Clone, Copy)]
pub struct Pending<'a> {
    /// Where it stands.
    pub state: ProposalState,
    /// Whether it can be decided in parts.
    pub granularity: Granularity,
    /// Its operations with their decisions.
    pub ops: &'a [ProposalOp],
    /// Ids of all facts in evidence.
    pub facts_used: &'a [String],
}

/// Which document is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentOutcome {
    /// The candidate, as it is.
    Candidate,
    /// What the accepted operations make of the base.
    Selection,
    /// The person's draft.
    Draft,
    /// None; the document stays.
    Unchanged,
}

/// How the clocks move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockMove {
    /// To the proposal's watermark and question.
    Approved,
    /// To the proposal's watermark; the question stays.
    Dismissed,
    /// Only the considered position.
    Retry,
    /// Only the considered position, which the run itself already moved.
    None,
}

impl ClockMove {
    /// The event for the clocks of the model.
    #[must_use]
    pub fn event(
        self,
        watermark: Option<Watermark>,
        source_query: &str,
        cutoff_seq: i64,
    ) -> Option<ClockEvent> {
        match self {
            Self::Approved => {
                let source_query = source_query.to_owned();
                Some(ClockEvent::Approved { watermark, source_query, cutoff_seq })
            }
            Self::Dismissed => Some(ClockEvent::Dismissed { watermark, cutoff_seq }),
            Self::Retry => Some(ClockEvent::RejectedForRetry { cutoff_seq }),
            Self::None => None,
        }
    }
}

/// A change that a person decided not to make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Declined {
    /// Facts it rested on that nothing accepted cites.
    pub fact_ids: Vec<String>,
    /// The change in a few words.
    pub summary: String,
    /// What the person said.
    pub note: Option<String>,
}

/// What a final decision comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    /// The proposal's last state.
    pub state: ProposalState,
    /// What is published.
    pub document: DocumentOutcome,
    /// How the clocks move.
    pub clock: ClockMove,
    /// Final decisions by operation index, for every live operation.
    pub decisions: Vec<(u32, Decision)>,
    /// Indexes of accepted operations.
    pub accepted: BTreeSet<u32>,
    /// Facts that join the grounding.
    pub merged: Vec<String>,
    /// Changes declined, for the guidance of later refreshes.
    pub declined: Vec<Declined>,
    /// Facts to be offered again.
    pub carry_over: Vec<String>,
    /// A note that becomes guidance.
    pub guidance: Option<String>,
}

impl Settlement {
    /// Whether a version is written.
    #[must_use]
    pub fn makes_version(&self) -> bool {
        self.document != DocumentOutcome::Unchanged
    }
}

/// Why a decision is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SettleError {
    /// No operation is accepted: that is a rejection.
    #[error("no operation is accepted")]
    NothingAccepted,
    /// It was decided or replaced before.
    #[error("the proposal is closed")]
    Closed,
    /// Operations no longer fit the document.
    #[error("{0} operations are in conflict")]
    Conflicted(u32),
    /// The proposal can only be taken whole.
    #[error("the proposal cannot be decided in parts")]
    WholeOnly,
}

/// What a decision comes to.
///
/// # Errors
/// The decision is refused and nothing may change.
pub fn settle(pending: &Pending<'_>, verdict: &Verdict) -> Result<Settlement, SettleError> {
    if pending.state.is_terminal() {
        return Err(SettleError::Closed);
    }
    match verdict {
        Verdict::Supersede => Ok(unchanged(ProposalState::Superseded, ClockMove::None)),
        Verdict::Reject { note, disposition } => Ok(reject(pending, note.as_ref(), *disposition)),
        Verdict::ApproveAll | Verdict::ApproveSelected | Verdict::ApproveDraft { .. } => {
            approve(pending, verdict)
        }
    }
}

fn unchanged(state: ProposalState, clock: ClockMove) -> Settlement {
    Settlement {
        state,
        document: DocumentOutcome::Unchanged,
        clock,
        decisions: Vec::new(),
        accepted: BTreeSet::new(),
        merged: Vec::new(),
        declined: Vec::new(),
        carry_over: Vec::new(),
        guidance: None,
    }
}

fn reject(
    pending: &Pending<'_>,
    note: Option<&String>,
    disposition: Option<RejectDisposition>,
) -> Settlement {
    let note = note.filter(|note| !note.trim().is_empty());
    let by_note =
        if note.is_some() { RejectDisposition::Retry } else { RejectDisposition::Dismiss };
    let disposition = disposition.unwrap_or(by_note);
    let decisions: Vec<(u32, Decision)> = pending
        .ops
        .iter()
        .filter(|op| op.is_decidable())
        .map(|op| (op.index, Decision::Rejected))
        .collect();
    match disposition {
        RejectDisposition::Retry => Settlement {
            decisions,
            guidance: note.cloned(),
            ..unchanged(ProposalState::Rejected, ClockMove::Retry)
        },
        RejectDisposition::Dismiss => Settlement {
            decisions,
            declined: declined_all(pending, note),
            ..unchanged(ProposalState::Rejected, ClockMove::Dismissed)
        },
    }
}

/// All evidence, by operation; facts that no operation cites stand by themselves.
fn declined_all(pending: &Pending<'_>, note: Option<&String>) -> Vec<Declined> {
    let ops: Vec<&ProposalOp> = pending.ops.iter().filter(|op| op.is_decidable()).collect();
    let mut declined = declined_of(&ops, &BTreeSet::new(), note);
    let cited: BTreeSet<&str> = ops.iter().flat_map(|op| op.cited_facts()).collect();
    let rest: Vec<String> =
        pending.facts_used.iter().filter(|id| !cited.contains(id.as_str())).cloned().collect();
    if !rest.is_empty() {
        let summary = "the proposed document as a whole".to_owned();
        declined.push(Declined { fact_ids: rest, summary, note: note.cloned() });
    }
    declined
}

fn declined_of(
    ops: &[&ProposalOp],
    merged: &BTreeSet<&str>,
    note: Option<&String>,
) -> Vec<Declined> {
    ops.iter()
        .map(|op| Declined {
            fact_ids: facts_beside(op, merged),
            summary: op_summary(&op.op),
            note: op.note.as_ref().or(note).cloned(),
        })
        .collect()
}

/// The facts of an operation that nothing accepted cites.
fn facts_beside(op: &ProposalOp, merged: &BTreeSet<&str>) -> Vec<String> {
    let beside = op.cited_facts().into_iter().filter(|fact| !merged.contains(fact));
    beside.map(str::to_owned).collect()
}

fn approve(pending: &Pending<'_>, verdict: &Verdict) -> Result<Settlement, SettleError> {
    if pending.granularity == Granularity::Whole {
        return approve_whole(pending, verdict);
    }
    let unresolved = pending.ops.iter().filter(|op| op.is_unresolved()).count();
    if unresolved > 0 {
        return Err(SettleError::Conflicted(u32::try_from(unresolved).unwrap_or(u32::MAX)));
    }
    let live: Vec<&ProposalOp> = pending.ops.iter().filter(|op| op.is_live()).collect();
    let all: BTreeSet<u32> = live.iter().map(|op| op.index).collect();
    let accepted = match verdict {
        Verdict::ApproveSelected => {
            let chosen = live.iter().filter(|op| op.decision == Decision::Accepted);
            close_selection(pending.ops, &chosen.map(|op| op.index).collect())
        }
        Verdict::ApproveDraft { accepted } => accepted.intersection(&all).copied().collect(),
        Verdict::ApproveAll | Verdict::Reject { .. } | Verdict::Supersede => all.clone(),
    };
    if accepted.is_empty() {
        return Err(SettleError::NothingAccepted);
    }
    let is_draft = matches!(verdict, Verdict::ApproveDraft { .. });
    Ok(Settlement {
        state: if accepted == all {
            ProposalState::Approved
        } else {
            ProposalState::PartiallyApproved
        },
        document: match (is_draft, accepted == all) {
            (true, _) => DocumentOutcome::Draft,
            (false, true) => DocumentOutcome::Candidate,
            (false, false) => DocumentOutcome::Selection,
        },
        ..of_facts(pending, &live, accepted, is_draft)
    })
}

/// A proposal that is all or nothing: its facts are taken together.
fn approve_whole(pending: &Pending<'_>, verdict: &Verdict) -> Result<Settlement, SettleError> {
    let document = match verdict {
        Verdict::ApproveAll => DocumentOutcome::Candidate,
        Verdict::ApproveDraft { .. } => DocumentOutcome::Draft,
        Verdict::ApproveSelected | Verdict::Reject { .. } | Verdict::Supersede => {
            return Err(SettleError::WholeOnly);
        }
    };
    Ok(Settlement {
        document,
        merged: pending.facts_used.to_vec(),
        ..unchanged(ProposalState::Approved, ClockMove::Approved)
    })
}

/// Where the facts of an approved proposal go. An operation that nobody decided is treated as
/// deferred, so that no fact is silently passed over; in a draft, what the person took out is
/// refused.
fn of_facts(
    pending: &Pending<'_>,
    live: &[&ProposalOp],
    accepted: BTreeSet<u32>,
    is_draft: bool,
) -> Settlement {
    let done = pending.ops.iter().filter(|op| op.marker == Some(Marker::AlreadyDone));
    let taken = live.iter().copied().filter(|op| accepted.contains(&op.index));
    let mut merged: Vec<&str> = Vec::new();
    for fact in taken.chain(done).flat_map(ProposalOp::cited_facts) {
        if !merged.contains(&fact) {
            merged.push(fact);
        }
    }
    let merged_set: BTreeSet<&str> = merged.iter().copied().collect();
    let others = pending.ops.iter().filter(|op| op.is_decidable() && !accepted.contains(&op.index));
    let (refused, deferred): (Vec<&ProposalOp>, Vec<&ProposalOp>) =
        others.partition(|op| is_draft || op.decision == Decision::Rejected);
    let mut carry_over: Vec<String> = Vec::new();
    for fact in deferred.iter().flat_map(|op| facts_beside(op, &merged_set)) {
        if !carry_over.contains(&fact) {
            carry_over.push(fact);
        }
    }
    let word = |op: &&ProposalOp, decision| (op.index, decision);
    let mut decisions: Vec<(u32, Decision)> =
        accepted.iter().map(|index| (*index, Decision::Accepted)).collect();
    decisions.extend(refused.iter().map(|op| word(op, Decision::Rejected)));
    decisions.extend(deferred.iter().map(|op| word(op, Decision::Deferred)));
    decisions.sort_unstable_by_key(|(index, _)| *index);
    Settlement {
        decisions,
        declined: declined_of(&refused, &merged_set, None),
        merged: merged.into_iter().map(str::to_owned).collect(),
        carry_over,
        accepted,
        ..unchanged(ProposalState::Approved, ClockMove::Approved)
    }
}

/// Characters of an operation's text in its summary.
const SUMMARY_LIMIT: usize = 120;

/// An operation in a few words, for the guidance of later refreshes.
#[must_use]
pub fn op_summary(op: &DeltaOp) -> String {
    let what = match op {
        DeltaOp::AppendBlock { section_id, .. } | DeltaOp::InsertBlock { section_id, .. } => {
            format!("add to section {section_id}")
        }
        DeltaOp::ReplaceBlock { section_id, .. } => format!("rewrite in section {section_id}"),
        DeltaOp::RemoveBlock { section_id, .. } => {
            return format!("remove a block of section {section_id}");
        }
        DeltaOp::AddSection { .. } => "add a section".to_owned(),
        DeltaOp::RemoveSection { section_id } => return format!("remove section {section_id}"),
        DeltaOp::ReplaceSectionBlocks { section_id, .. } => format!("rewrite section {section_id}"),
        DeltaOp::RenameSection { section_id, .. } => format!("rename section {section_id}"),
    };
    let text = op.text();
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = words.join(" ");
    let mut short: String = words.chars().take(SUMMARY_LIMIT).collect();
    if short.len() < words.len() {
        short.push('…');
    }
    format!("{what}: {short}")
}
