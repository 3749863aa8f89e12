//! A person's own words in a review: the text of one operation, a note, a whole draft. Nothing is
//! published by them.

use super::convert::Opened;
use super::decide::{Act, change, not_resolved, op_at, refused};
use super::events::Detail;
use super::rebase::{take, withdrawn};
use crate::view::proposal::Turn;
use crate::{Engine, Result};
use domain::document::{parse, reconcile};
use domain::proposal::{DecideError, edit_op as with_text};
use domain::{BankId, ProposalId};

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
        let original = opened.proposed(&op_id).unwrap_or(&opened.ops[at].op).clone();
        let gone = withdrawn(tx, key, opened)?;
        let (ops, index, base) = (&opened.ops, opened.ops[at].index, &opened.base);
        let moved = with_text(ops, index, &original, text.as_deref(), base, &gone, now)
            .map_err(not_resolved)?;
        let beside = opened.beside.entry(op_id.clone()).or_default();
        beside.proposed = text.is_some().then_some(original);
        take(opened, moved);
        Ok(Detail::of(&op_id))
    })
    .await
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
