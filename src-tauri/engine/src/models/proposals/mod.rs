//! Finished refreshes that wait for a person: show, decide, preview, publish, reject. What was shown
//! is what is stored: no decision asks a language model again.

mod again;
pub(crate) mod convert;
mod decide;
mod edits;
pub(crate) mod events;
pub(crate) mod make;
mod order;
mod publish;
pub(crate) mod rebase;
pub(super) mod view;

pub(crate) use decide::watermark;
pub(crate) use make::{Successor, supersede};
pub(crate) use order::numbers;
pub(crate) use publish::with_reflected;

use crate::handle::read_bank;
use crate::view::model::Submitted;
use crate::view::proposal::{
    AgainInput, ApproveInput, ConflictChoice, DecideOps, EditText, Preview, PreviewOf, ProposalRow,
    ProposalView, Published, RejectInput, Turn,
};
use crate::{Engine, Result};
use domain::{BankId, ProposalId};
use store::proposals::{ProposalOrigin, ProposalState};

/// Whether a person has begun to decide on what an earlier run proposed for a model: then a newer run
/// is not published past the decisions, but proposed with them.
pub(crate) fn is_in_review(tx: &store::ReadTx<'_>, model: store::ModelKey) -> store::Result<bool> {
    let Some(waiting) = store::proposals::waiting(tx, model)? else { return Ok(false) };
    if waiting.head.state == ProposalState::Open {
        return Ok(false);
    }
    let opened = convert::Opened::of(tx, waiting)?;
    Ok(!opened.is_file() && opened.is_spoken_about())
}

/// Whether a text that a person wrote into the published file waits for a decision. A run never takes
/// its place: the text is over the document as it was, and offered anew it would take back whatever
/// the run brought.
pub(crate) fn file_waits(tx: &store::ReadTx<'_>, model: store::ModelKey) -> store::Result<bool> {
    let waiting = store::proposals::waiting(tx, model)?;
    Ok(waiting.is_some_and(|waiting| waiting.head.origin == ProposalOrigin::File))
}

/// The proposals of a bank that wait, oldest first.
///
/// # Errors
/// `bank_not_found`.
pub async fn inbox(engine: &Engine, bank: &BankId) -> Result<Vec<ProposalRow>> {
    read_bank(engine, bank, view::inbox).await
}

/// One proposal with its operations, their evidence and what they change.
///
/// # Errors
/// `proposal_not_found`.
pub async fn get(engine: &Engine, bank: &BankId, id: &ProposalId) -> Result<ProposalView> {
    let id = id.clone();
    read_bank(engine, bank, move |tx, key| view::proposal(tx, key, &id)).await
}

/// Exactly what would be published: of what is accepted now, of everything, or of the saved draft.
/// Asks no language model.
///
/// # Errors
/// `proposal_not_found`.
pub async fn preview(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    of: PreviewOf,
) -> Result<Preview> {
    previewed(engine, bank, id, move |opened| publish::preview(opened, of)).await
}

/// What a text of the person's own would come to, as an approval with that draft. Nothing is stored.
///
/// # Errors
/// `proposal_not_found`.
pub async fn preview_draft(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    text: String,
) -> Result<Preview> {
    previewed(engine, bank, id, move |opened| publish::preview_draft(opened, &text)).await
}

/// What a selection would come to, with all that it requires. Nothing is decided by it.
///
/// # Errors
/// `proposal_not_found`.
pub async fn preview_selection(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    op_ids: Vec<String>,
) -> Result<Preview> {
    previewed(engine, bank, id, move |opened| publish::preview_selection(opened, &op_ids)).await
}

async fn previewed(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    of: impl FnOnce(&convert::Opened) -> Preview + Send + 'static,
) -> Result<Preview> {
    let id = id.clone();
    read_bank(engine, bank, move |tx, key| Ok(of(&convert::Opened::get(tx, key, &id)?))).await
}

/// Decides operations; what they require, or what requires them, follows.
///
/// # Errors
/// `state_conflict`, `proposal_closed`, `proposal_conflicted`, `invalid_request`,
/// `operation_conflict` for a request id that was used for something else.
pub async fn decide(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    input: DecideOps,
    turn: Turn,
) -> Result<ProposalView> {
    decide::decide(engine, bank, id, input, turn).await?;
    get(engine, bank, id).await
}

/// Notes something about an operation; nothing, or blanks, removes the note.
///
/// # Errors
/// As [`decide`].
pub async fn set_note(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    op_id: &str,
    note: Option<String>,
    turn: Turn,
) -> Result<ProposalView> {
    edits::set_note(engine, bank, id, op_id, note, turn).await?;
    get(engine, bank, id).await
}

/// Puts a person's text in the place of an operation's, which accepts it; nothing brings the
/// proposed text back.
///
/// # Errors
/// As [`decide`]; `invalid_request` for a text that cannot stand in a block.
pub async fn edit_op(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    op_id: &str,
    text: Option<String>,
    turn: Turn,
) -> Result<ProposalView> {
    edits::edit_op(engine, bank, id, op_id, text, turn).await?;
    get(engine, bank, id).await
}

/// Saves a whole text of the person's own, to be published instead of a selection; nothing drops
/// it. It follows the document as long as its changes fit there.
///
/// # Errors
/// As [`decide`].
pub async fn edit_draft(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    text: Option<String>,
    turn: Turn,
) -> Result<ProposalView> {
    edits::edit_draft(engine, bank, id, text, turn).await?;
    get(engine, bank, id).await
}

/// Ends the conflict of an operation with the document as it is now.
///
/// # Errors
/// As [`decide`].
pub async fn resolve_conflict(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    op_id: &str,
    choice: ConflictChoice,
    turn: Turn,
) -> Result<ProposalView> {
    decide::resolve(engine, bank, id, op_id, choice, turn).await?;
    get(engine, bank, id).await
}

/// Publishes what is accepted, everything, or a person's whole text as one new version.
///
/// # Errors
/// `nothing_accepted`, `confirmation_required`, `state_conflict`, `proposal_closed`,
/// `proposal_conflicted`, `structured_output_failed`.
pub async fn approve(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    input: ApproveInput,
    turn: Turn,
) -> Result<Published> {
    publish::approve(engine, bank, id, input, turn).await
}

/// Closes a proposal without publishing anything.
///
/// # Errors
/// `state_conflict`, `proposal_closed`.
pub async fn reject(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    input: RejectInput,
    turn: Turn,
) -> Result<ProposalView> {
    decide::reject(engine, bank, id, input, turn).await?;
    get(engine, bank, id).await
}

/// Asks for another run over what a proposal read, with a note if there is one. The decisions of a
/// proposal that waits move to the new one.
///
/// # Errors
/// `state_conflict`, `proposal_closed`, `llm_not_configured`.
pub async fn request_again(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    input: AgainInput,
    turn: Turn,
) -> Result<Submitted> {
    again::request_again(engine, bank, id, input, turn).await
}

/// A proposal's text as the beginning of an edit of the published document. Nothing is stored.
///
/// # Errors
/// `proposal_not_found`.
pub async fn as_edit(engine: &Engine, bank: &BankId, id: &ProposalId) -> Result<EditText> {
    let id = id.clone();
    read_bank(engine, bank, move |tx, key| again::as_edit(tx, key, &id)).await
}
