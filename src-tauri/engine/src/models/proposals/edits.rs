//! A person's own words in a review: the text of one operation, a note, a whole draft. Nothing is
//! published by them.

use super::convert::Opened;
use super::decide::{Act, change, not_resolved, op_at, refused};
use super::events::Detail;
use super::rebase::{take, withdrawn};
use crate::view::proposal::Turn;
use crate::{Engine, Result};
use domain::document::{Document, parse, reconcile};
use domain::proposal::{
    Conflict, DecideError, ProposalOp, Rebased, Resolution, ResolveError, resolve_conflict,
};
use domain::{BankId, Instant, ProposalId};
use std::collections::BTreeSet;

pub(super) async fn set_note(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    op_id: &str,
    note: Option<String>,
    turn: Turn,
) -> Result<()> {
    let op_id = op_id.to_owned();
    let act = Act { label: "note_proposal", kind: "noted" };
    change(engine, bank, id, act, turn, move |_, _, opened, _| {
        let at = op_at(opened, &op_id)?;
        let note = note.filter(|note| !note.trim().is_empty());
        opened.ops[at].note.clone_from(&note);
        Ok(Detail { note, ..Detail::of(&op_id) })
    })
    .await
}

pub(super) async fn edit_op(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    op_id: &str,
    text: Option<String>,
    turn: Turn,
) -> Result<()> {
    let op_id = op_id.to_owned();
    let act = Act { label: "edit_proposal", kind: "edited" };
    change(engine, bank, id, act, turn, move |tx, key, opened, now| {
        let at = op_at(opened, &op_id)?;
        if !opened.ops[at].is_live() {
            return Err(refused(DecideError::NotDecidable(op_id)));
        }
        let proposed = opened.proposed(&op_id).cloned();
        let original = proposed.unwrap_or_else(|| opened.ops[at].op.clone());
        // An edit is made on the operation as proposed, so that a removal that became another text
        // can become a removal again.
        opened.ops[at].op = original.clone();
        let gone = withdrawn(tx, key, opened)?;
        let moved = match &text {
            Some(text) => with_text(&opened.ops, at, text, &opened.base, &gone, now),
            None => resolved(&opened.ops, at, &Resolution::Proposed, &opened.base, &gone, now),
        };
        let moved = moved.map_err(not_resolved)?;
        let beside = opened.beside.entry(op_id.clone()).or_default();
        beside.proposed = text.is_some().then_some(original);
        take(opened, moved);
        Ok(Detail::of(&op_id))
    })
    .await
}

/// Operations with a person's text in the place of one's own, which accepts it.
pub(super) fn with_text(
    ops: &[ProposalOp],
    at: usize,
    text: &str,
    base: &Document,
    withdrawn: &BTreeSet<String>,
    now: Instant,
) -> std::result::Result<Rebased, ResolveError> {
    let resolution = Resolution::Edited { text: text.to_owned() };
    resolved(ops, at, &resolution, base, withdrawn, now)
}

/// An edit is a conflict between the proposal and the person that ends with the person's text.
fn resolved(
    ops: &[ProposalOp],
    at: usize,
    resolution: &Resolution,
    base: &Document,
    withdrawn: &BTreeSet<String>,
    now: Instant,
) -> std::result::Result<Rebased, ResolveError> {
    let mut ops = ops.to_vec();
    ops[at].conflict = Some(Conflict::TextChanged);
    resolve_conflict(&ops, ops[at].index, resolution, base, base, withdrawn, now)
}

pub(super) async fn edit_draft(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    text: Option<String>,
    turn: Turn,
) -> Result<()> {
    let act = Act { label: "draft_proposal", kind: "drafted" };
    change(engine, bank, id, act, turn, move |_, _, opened, _| {
        save_draft(opened, text);
        Ok(Detail::default())
    })
    .await
}

fn save_draft(opened: &mut Opened, text: Option<String>) {
    let document = text.as_ref().map(|text| reconcile(&opened.candidate, parse(text)));
    opened.row.draft_structure = document.as_ref().map(crate::models::loaded::to_json);
    opened.row.edited_content = text;
}
