//! Ways on from a proposal that are no decision about it: another run over what it read, and its
//! text as the beginning of an edit.

use super::convert::Opened;
use super::decide::same_state;
use super::events::{self, Detail};
use super::make::release;
use super::rebase::{draft_of, moved_text};
use crate::models::lifecycle::new_refresh;
use crate::models::loaded::{Loaded, to_json};
use crate::report::fault;
use crate::view::model::Submitted;
use crate::view::proposal::{AgainInput, EditText, Turn};
use crate::{Engine, Result};
use domain::model::Guidance;
use domain::proposal::{Decision, ProposalOp, ProposalState, apply_selection, rebase};
use domain::{BankId, Instant, ProposalId};
use std::collections::BTreeSet;
use store::operations::NewOperation;
use store::{BankKey, ReadTx, WriteTx};

/// Asks for another run over what a proposal read: of one that waits (its decisions move to the new
/// one), or of one that was rejected to be tried again.
pub(super) async fn request_again(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    input: AgainInput,
    turn: Turn,
) -> Result<Submitted> {
    crate::models::refresh::ensure_able(engine).await?;
    let (now, owner) = (engine.now(), engine.clone());
    let (bank, id) = (bank.clone(), id.clone());
    let submitted = engine
        .store()
        .write_as("request_again", move |tx| {
            let key = store::banks::key(tx, &bank)?;
            let opened = Opened::get(tx, key, &id)?;
            if let Some(done) = events::answered(tx, opened.row.head.key, &turn, "asked_again")?
                && let Some(operation) = done.operation
            {
                return Ok(Submitted { operation, deduplicated: true, ceiling_reached: false });
            }
            if opened.state().is_terminal() && opened.state() != ProposalState::Rejected {
                return Err(fault("proposal_closed").into());
            }
            same_state(&opened, &turn)?;
            if opened.is_file() && !opened.state().is_terminal() {
                // Nothing was read for it that could be read again.
                return Err(fault("review_in_progress").into());
            }
            let model = &opened.model.row.head.id;
            let new = new_refresh(&owner, model, "manual_refresh", false);
            write_again(tx, key, &opened, new, &input, turn.request_id, now)
        })
        .await?;
    crate::ops::wake(engine);
    Ok(submitted)
}

fn write_again(
    tx: &WriteTx<'_>,
    bank: BankKey,
    opened: &Opened,
    new: NewOperation,
    input: &AgainInput,
    request_id: Option<String>,
    now: Instant,
) -> Result<Submitted> {
    let note = input.note.clone().filter(|note| !note.trim().is_empty());
    if let Some(text) = note.clone() {
        let mut model = Loaded::of(opened.model.row.clone());
        let proposal = Some(opened.row.head.id.clone());
        let entry = Guidance::Note { text, at: now, proposal, standing: input.standing };
        model.guidance.push(entry);
        model.row.guidance = to_json(&model.guidance);
        let expected = model.row.head.version;
        store::models::save(tx, &model.row, expected, now)?;
    }
    let submitted = store::operations::submit(tx, bank, &new, now)?;
    // An automatic refresh that was held for this review is now the one that was asked for.
    release(tx, bank, opened.row.head.model, now)?;
    let operation = submitted.operation().id.clone();
    let detail =
        Detail { request_id, note, operation: Some(operation.clone()), ..Detail::default() };
    events::note(tx, opened.row.head.key, "asked_again", &detail, now)?;
    let own = store::banks::by_key(tx, bank)?;
    let ceiling_reached = crate::ops::ceiling::reached(tx, &own, now)?;
    Ok(Submitted { operation, deduplicated: submitted.is_deduplicated(), ceiling_reached })
}

/// A proposal's text as the beginning of an edit: its draft, else its changes that were not refused,
/// on the document as it is now.
pub(super) fn as_edit(tx: &ReadTx<'_>, bank: BankKey, id: &ProposalId) -> store::Result<EditText> {
    let opened = Opened::get(tx, bank, id)?;
    let now = &opened.model.document;
    let with = |content: String, left_out: usize| EditText {
        model_id: opened.model.row.head.id.clone(),
        content,
        version: opened.model.row.head.version,
        left_out: u32::try_from(left_out).unwrap_or(u32::MAX),
    };
    if let Some(draft) = draft_of(&opened) {
        let moved = moved_text(&opened.base, &draft, now);
        return Ok(with(moved.unwrap_or(draft).render(), 0));
    }
    if opened.is_whole() {
        return Ok(with(opened.candidate.render(), 0));
    }
    let wanted: Vec<ProposalOp> = opened
        .ops
        .iter()
        .filter(|op| !matches!(op.decision, Decision::Rejected | Decision::Deferred))
        .cloned()
        .collect();
    let moved = rebase(&wanted, &opened.base, now, &BTreeSet::new());
    let left_out = moved.ops.iter().filter(|op| op.is_unresolved()).count();
    let all = moved.ops.iter().filter(|op| op.is_live()).map(|op| op.index).collect();
    Ok(with(apply_selection(now, &moved.ops, &all).document.render(), left_out))
}
