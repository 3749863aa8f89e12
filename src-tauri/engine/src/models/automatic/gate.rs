//! Whether an automatic refresh may be queued, and whether a queued one may run: the interval, the
//! pause after failures, the review that a person is at. The rules are the domain's; here they are
//! given what they look at.

use crate::models::loaded::search_scope;
use crate::ops::Verdict;
use crate::{fresh, settings};
use domain::Instant;
use domain::model::Review;
use domain::refresh::{Gate, Skip, Standing, automatic_gate};
use domain::schedule::Floor;
use store::ReadTx;
use store::models::ModelHead;
use store::operations::{HeldReason, Operation};
use store::proposals::{ProposalHead, ProposalOrigin, ProposalState};

/// What a trigger may do, with nothing of the model queued or running.
pub(super) fn of_trigger(
    tx: &ReadTx<'_>,
    head: &ModelHead,
    needed: bool,
    now: Instant,
) -> store::Result<Gate> {
    if !needed {
        return Ok(Gate::Skip(Skip::Fresh));
    }
    if paused(head, now).is_some() {
        return Ok(Gate::Skip(Skip::FailurePause));
    }
    let newest = store::proposals::newest(tx, head.key)?;
    by_review(tx, head, newest.as_ref())
}

/// What becomes of a queued automatic refresh that is about to run.
pub(crate) fn about_to_run(
    tx: &ReadTx<'_>,
    operation: &Operation,
    now: Instant,
) -> store::Result<Verdict> {
    let Some(id) = &operation.model else { return Ok(Verdict::Run) };
    // A model that is gone: the run will say so.
    let Some(model) = store::models::find(tx, operation.bank, id)? else { return Ok(Verdict::Run) };
    let head = &model.head;
    if let Some(until) = paused(head, now) {
        return Ok(Verdict::Park(until, Skip::FailurePause));
    }
    let newest = store::proposals::newest(tx, head.key)?;
    let bank = store::banks::by_key(tx, operation.bank)?;
    let trigger = domain::trigger::StatedTrigger::from_stored(&head.trigger).0.effective();
    let floor = Floor {
        model_seconds: trigger.min_refresh_interval_seconds,
        bank_seconds: settings::of_bank(tx, &bank)?.mental_model_min_refresh_interval_seconds,
        last_refreshed_at: head.last_refreshed_at.unwrap_or(head.created_at),
        newest_proposal_at: newest.as_ref().map(|proposal| proposal.created_at),
        review: review(head),
    };
    let until = floor.until();
    if until > now {
        return Ok(Verdict::Park(until, Skip::Floor));
    }
    Ok(match by_review(tx, head, newest.as_ref())? {
        Gate::Hold => Verdict::Hold(HeldReason::ReviewInProgress),
        Gate::Run | Gate::Skip(_) => Verdict::Run,
    })
}

/// Whether a text of the person's own, read from the published file, waits where a run would propose:
/// only one of the two can wait, and a run never takes the place of a person's text.
fn is_in_the_way(head: &ModelHead, newest: &ProposalHead) -> bool {
    review(head) == Review::Manual
        && newest.origin == ProposalOrigin::File
        && newest.state.is_waiting()
}

fn paused(head: &ModelHead, now: Instant) -> Option<Instant> {
    head.paused_until.filter(|until| *until > now)
}

fn review(head: &ModelHead) -> Review {
    match head.review {
        store::models::Review::Auto => Review::Auto,
        store::models::Review::Manual => Review::Manual,
    }
}

fn by_review(
    tx: &ReadTx<'_>,
    head: &ModelHead,
    newest: Option<&ProposalHead>,
) -> store::Result<Gate> {
    let standing = standing(head, newest);
    if review(head) == Review::Auto
        && standing == Standing::InReview
        && is_rebuild_beside_edits(head, newest)
    {
        return Ok(Gate::Hold);
    }
    if review(head) == Review::Auto || standing == Standing::None {
        return Ok(Gate::Run);
    }
    let scope = search_scope(tx, head.bank, &fresh::scope_of(head))?;
    let in_scope = store::freshness::newest(tx, head.bank, None)?;
    let in_scope = in_scope.within(&scope.types, &scope.tag_sets);
    let (seen, considered) = (head.last_memory_seen_seq, head.considered_seq);
    Ok(automatic_gate(true, review(head), standing, in_scope, seen, considered))
}

/// Whether a rebuild of a document that edits keep current waits. It is offered whoever decides on the
/// edits; one of those must not take its place while a person goes through it.
fn is_rebuild_beside_edits(head: &ModelHead, newest: Option<&ProposalHead>) -> bool {
    let trigger = domain::trigger::StatedTrigger::from_stored(&head.trigger).0.effective();
    trigger.mode == domain::trigger::RefreshMode::Delta
        && newest.is_some_and(|proposal| proposal.origin == ProposalOrigin::Full)
}

fn standing(head: &ModelHead, newest: Option<&ProposalHead>) -> Standing {
    let Some(newest) = newest else { return Standing::None };
    match newest.state {
        _ if is_in_the_way(head, newest) => Standing::InReview,
        ProposalState::Open | ProposalState::Conflicted => Standing::OpenOrConflicted,
        ProposalState::InReview => Standing::InReview,
        ProposalState::Rejected if head.version <= newest.base_version => Standing::Rejected,
        ProposalState::Rejected
        | ProposalState::Approved
        | ProposalState::PartiallyApproved
        | ProposalState::Superseded => Standing::None,
    }
}
