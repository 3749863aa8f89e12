//! Making a proposal of a finished run. One waits for each model at most: a newer one takes the
//! place of the older and inherits what was said about the same changes.

use super::convert::{self, Beside, Opened, RunRecord, same_word};
use super::events::{self, Detail};
use crate::models::loaded::to_json;
use domain::document::Document;
use domain::model::{Citation, RunWarning};
use domain::proposal::{
    Decision, Granularity, Marker, ProposalOp, ProposalState as State, edit_op, fingerprint, fold,
    rebase, state_after_rebase,
};
use domain::{Instant, ModelId, OperationId, ProposalId};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use store::operations::HeldReason;
use store::proposals::{
    self as rows, Proposal, ProposalHead, ProposalOrigin, ProposalReason, ProposalState,
};
use store::{BankKey, ModelKey, ProposalKey, ReadTx, WriteTx};

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

/// What takes the place of a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Successor {
    /// A newer proposal.
    Proposal(ProposalId),
    /// A published version.
    Version(u32),
}

/// Writes a proposal in the caller's transaction.
pub(crate) fn propose(
    tx: &WriteTx<'_>,
    bank: BankKey,
    mut new: NewProposal,
    now: Instant,
) -> store::Result<()> {
    let Inherited { ops, beside, draft, spoken } = inherit(tx, bank, &mut new, now)?;
    let replaced = supersede(tx, bank, new.model, &Successor::Proposal(new.id.clone()), now)?;
    let state = if spoken { State::InReview } else { State::Open };
    // A document that moved while the run was under way may leave operations without a place.
    let state = same_word(&state_after_rebase(state, &ops)).unwrap_or(ProposalState::Open);
    let model = new.model;
    let mut row = row(new, state, now);
    if let Some((text, structure)) = draft {
        row.edited_content = Some(text);
        row.draft_structure = structure;
    }
    let stored: Vec<rows::ProposalOp> =
        ops.iter().map(|op| convert::write(op, beside.get(&op.op_id))).collect();
    let key = rows::insert(tx, bank, &row, &stored)?;
    if spoken {
        let carried = ops.iter().filter(|op| op.decision != Decision::Undecided);
        let detail = Detail {
            op_ids: carried.map(|op| op.op_id.clone()).collect(),
            other: replaced,
            ..Detail::default()
        };
        events::note(tx, key, "folded", &detail, now)?;
    } else {
        release(tx, bank, model, now)?;
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

/// Operations with what was said about them before.
struct Inherited {
    ops: Vec<ProposalOp>,
    beside: HashMap<String, Beside>,
    /// A whole text of the person's own, with its structure as long as it knows all changes.
    draft: Option<(String, Option<Value>)>,
    /// A person has begun to decide.
    spoken: bool,
}

/// The operations with what was said about the same changes in the proposal before: in the one that
/// waits, or refused in one that has ended.
fn inherit(
    tx: &ReadTx<'_>,
    bank: BankKey,
    new: &mut NewProposal,
    now: Instant,
) -> store::Result<Inherited> {
    let mut inherited =
        Inherited { ops: new.ops.clone(), beside: HashMap::new(), draft: None, spoken: false };
    let Some(before) = rows::newest(tx, new.model)? else { return Ok(inherited) };
    let waits = before.state.is_waiting();
    let refused =
        matches!(before.state, ProposalState::Rejected | ProposalState::PartiallyApproved);
    if !waits && !refused {
        return Ok(inherited);
    }
    let mut old = Opened::get(tx, bank, &before.id)?;
    // Operations are recognised by what was proposed, whatever a person made of it.
    let mut edits: HashMap<String, String> = HashMap::new();
    for op in &mut old.ops {
        let proposed = old.beside.get(&op.op_id).and_then(|beside| beside.proposed.as_ref());
        if let Some(proposed) = proposed {
            op.fingerprint = fingerprint(proposed);
            edits.insert(op.fingerprint.clone(), super::view::new_text_or_blank(&op.op));
        }
    }
    if !waits {
        old.ops.retain(|op| op.decision == Decision::Rejected);
    }
    inherited.ops = fold(&old.ops, &new.ops);
    if waits {
        carry_edits(new, &edits, &mut inherited, now);
        inherited.draft = draft_for(&old, new);
    }
    let said = |op: &ProposalOp| op.decision != Decision::Undecided || op.note.is_some();
    // A refusal that is set beforehand is no word about this proposal: nobody has seen it yet.
    let is_begun = waits && before.state != ProposalState::Open;
    inherited.spoken = is_begun && (inherited.draft.is_some() || inherited.ops.iter().any(said));
    Ok(inherited)
}

/// The draft of the proposal before. It keeps its structure only over the same base and the same
/// candidate: otherwise it was written without changes that are new, and must be told to be outdated.
fn draft_for(old: &Opened, new: &NewProposal) -> Option<(String, Option<Value>)> {
    let text = old.row.edited_content.clone()?;
    let same = old.base == new.base && old.candidate.same_shape(&new.candidate);
    Some((text, old.row.draft_structure.clone().filter(|_| same)))
}

/// Makes a person's edits of the same changes again. One that cannot be made leaves the operation
/// undecided: the person sees the proposed text again.
fn carry_edits(
    new: &mut NewProposal,
    edits: &HashMap<String, String>,
    inherited: &mut Inherited,
    now: Instant,
) {
    let wanted: Vec<(String, String)> = inherited
        .ops
        .iter()
        .filter(|op| op.decision == Decision::Accepted)
        .filter_map(|op| Some((op.op_id.clone(), edits.get(&op.fingerprint)?.clone())))
        .collect();
    for (op_id, text) in wanted {
        let Some(at) = inherited.ops.iter().position(|op| op.op_id == op_id) else { continue };
        let (proposed, index) = (inherited.ops[at].op.clone(), inherited.ops[at].index);
        let nothing = BTreeSet::new();
        match edit_op(&inherited.ops, index, &proposed, Some(&text), &new.base, &nothing, now) {
            Ok(edited) => {
                inherited.ops = edited.ops;
                let beside = inherited.beside.entry(op_id).or_default();
                beside.proposed = Some(proposed);
            }
            Err(error) => {
                tracing::info!(%error, "an edit was not carried over");
                inherited.ops[at].decision = Decision::Undecided;
                inherited.ops[at].marker = Some(Marker::Reworded);
            }
        }
    }
    if !inherited.beside.is_empty() {
        new.candidate = rebase(&inherited.ops, &new.base, &new.base, &BTreeSet::new()).candidate;
        new.structured_output = None;
    }
}

/// Closes the proposal of a model that waits, if one does, because something took its place; gives
/// its id.
pub(crate) fn supersede(
    tx: &WriteTx<'_>,
    bank: BankKey,
    model: ModelKey,
    by: &Successor,
    now: Instant,
) -> store::Result<Option<ProposalId>> {
    let Some(mut waiting) = rows::waiting(tx, model)? else { return Ok(None) };
    let expected = waiting.head.state_seq;
    waiting.head.state = ProposalState::Superseded;
    waiting.head.resolved_at = Some(now);
    let mut detail = Detail::default();
    match by {
        Successor::Proposal(id) => {
            waiting.head.superseded_by = Some(id.clone());
            detail.other = Some(id.clone());
        }
        Successor::Version(version) => detail.version = Some(*version),
    }
    rows::save(tx, bank, &waiting, expected)?;
    events::note(tx, waiting.head.key, "superseded", &detail, now)?;
    if matches!(by, Successor::Version(_)) {
        release(tx, bank, model, now)?;
    }
    Ok(Some(waiting.head.id))
}

/// Lets go the refreshes that waited for a person.
pub(super) fn release(
    tx: &WriteTx<'_>,
    bank: BankKey,
    model: ModelKey,
    now: Instant,
) -> store::Result<()> {
    let id = store::models::by_key(tx, model)?.head.id;
    store::operations::release(tx, bank, HeldReason::ReviewInProgress, Some(&id), now)?;
    Ok(())
}

/// Writes all operations of a proposal anew.
pub(crate) fn put_ops(
    tx: &WriteTx<'_>,
    key: ProposalKey,
    ops: &[ProposalOp],
    beside: &HashMap<String, Beside>,
) -> store::Result<()> {
    for op in ops {
        rows::put_op(tx, key, &convert::write(op, beside.get(&op.op_id)))?;
    }
    Ok(())
}
