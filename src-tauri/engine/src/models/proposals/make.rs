//! Making a proposal of a finished run. One waits for each model at most: a newer one takes the
//! place of the older and inherits what was said about the same changes.

use super::convert::{self, RunRecord, same_word};
use crate::models::loaded::to_json;
use domain::delta::DeltaOp;
use domain::document::Document;
use domain::model::{Citation, RunWarning};
use domain::proposal::{Decision, Granularity, ProposalOp, fold};
use domain::{Instant, ModelId, OperationId, ProposalId};
use serde_json::{Value, json};
use std::collections::HashMap;
use store::proposals::{
    self as rows, Proposal, ProposalEvent, ProposalHead, ProposalOrigin, ProposalReason,
    ProposalState,
};
use store::{BankKey, ModelKey, ProposalKey, WriteTx};

/// Decided proposals kept for each model (mental-models 13.3).
const KEPT: u32 = 50;

/// What a run hands over for review.
pub(crate) struct NewProposal {
    pub(crate) id: ProposalId,
    pub(crate) model: ModelKey,
    pub(crate) reason: ProposalReason,
    pub(crate) origin: ProposalOrigin,
    pub(crate) granularity: Granularity,
    pub(crate) base_version: u32,
    pub(crate) base: Document,
    pub(crate) candidate: Document,
    pub(crate) ops: Vec<ProposalOp>,
    pub(crate) run: RunRecord,
    pub(crate) watermark_seq: Option<i64>,
    pub(crate) scope: Value,
    pub(crate) source_query: String,
    pub(crate) settings: Value,
    pub(crate) facts: Vec<Citation>,
    pub(crate) structured_output: Option<Value>,
    pub(crate) trace: Value,
    pub(crate) usage: Value,
    pub(crate) warnings: Vec<RunWarning>,
    pub(crate) operation: Option<OperationId>,
}

/// Writes a proposal in the caller's transaction.
pub(crate) fn propose(
    tx: &WriteTx<'_>,
    bank: BankKey,
    new: NewProposal,
    now: Instant,
) -> store::Result<()> {
    let ops = inherit(tx, &new)?;
    let spoken = ops.iter().any(|op| op.decision != Decision::Undecided || op.note.is_some());
    supersede(tx, bank, new.model, Some(&new.id), now)?;
    let state = if ops.iter().any(ProposalOp::is_unresolved) {
        ProposalState::Conflicted
    } else if spoken {
        ProposalState::InReview
    } else {
        ProposalState::Open
    };
    let model = new.model;
    let row = row(new, state, now);
    let stored: Vec<rows::ProposalOp> = ops.iter().map(|op| convert::write(op, None)).collect();
    let key = rows::insert(tx, bank, &row, &stored)?;
    if spoken {
        event(tx, key, "folded", json!({}), now)?;
    }
    rows::trim(tx, model, KEPT)?;
    Ok(())
}

/// The row of a proposal that is not stored yet; the store gives it its number.
pub(crate) fn row(new: NewProposal, state: ProposalState, now: Instant) -> Proposal {
    Proposal {
        head: ProposalHead {
            key: ProposalKey(0),
            id: new.id,
            model: new.model,
            model_id: ModelId(String::new()),
            number: 0,
            state,
            state_seq: 0,
            reason: new.reason,
            origin: new.origin,
            granularity: same_word(&new.granularity).unwrap_or(rows::Granularity::Whole),
            base_version: new.base_version,
            watermark_seq: new.watermark_seq,
            cutoff_seq: new.run.cutoff_seq,
            source_query: new.source_query,
            operation: new.operation,
            superseded_by: None,
            created_at: now,
            resolved_at: None,
            resolution_note: None,
            disposition: None,
        },
        base_structure: to_json(&new.base),
        candidate_content: new.candidate.render(),
        candidate_structure: to_json(&new.candidate),
        window: to_json(&new.run),
        scope: new.scope,
        settings: new.settings,
        facts_used: to_json(&new.facts),
        structured_output: new.structured_output,
        trace: new.trace,
        usage: new.usage,
        warnings: to_json(&new.warnings),
        edited_content: None,
        draft_structure: None,
    }
}

/// The operations with what was said about the same changes in the proposal before: in the one that
/// waits, or in one that was rejected.
fn inherit(tx: &WriteTx<'_>, new: &NewProposal) -> store::Result<Vec<ProposalOp>> {
    let Some(before) = rows::newest(tx, new.model)? else { return Ok(new.ops.clone()) };
    if !before.state.is_waiting() && before.state != ProposalState::Rejected {
        return Ok(new.ops.clone());
    }
    let old = convert::load(tx, before.key)?;
    Ok(fold(&old, &new.ops))
}

/// Closes the proposal of a model that waits, if one does, because something took its place.
pub(crate) fn supersede(
    tx: &WriteTx<'_>,
    bank: BankKey,
    model: ModelKey,
    by: Option<&ProposalId>,
    now: Instant,
) -> store::Result<()> {
    let Some(mut waiting) = rows::waiting(tx, model)? else { return Ok(()) };
    let expected = waiting.head.state_seq;
    waiting.head.state = ProposalState::Superseded;
    waiting.head.superseded_by = by.cloned();
    waiting.head.resolved_at = Some(now);
    rows::save(tx, bank, &waiting, expected)?;
    event(tx, waiting.head.key, "superseded", json!({ "by": by.map(ProposalId::as_str) }), now)
}

/// Notes what happened to a proposal.
pub(crate) fn event(
    tx: &WriteTx<'_>,
    key: ProposalKey,
    kind: &str,
    detail: Value,
    now: Instant,
) -> store::Result<()> {
    rows::add_event(tx, key, &ProposalEvent { at: now, kind: kind.to_owned(), detail })
}

/// Writes all operations of a proposal anew.
pub(crate) fn put_ops(
    tx: &WriteTx<'_>,
    key: ProposalKey,
    ops: &[ProposalOp],
    proposed: &HashMap<String, DeltaOp>,
) -> store::Result<()> {
    for op in ops {
        rows::put_op(tx, key, &convert::write(op, proposed.get(&op.op_id)))?;
    }
    Ok(())
}
