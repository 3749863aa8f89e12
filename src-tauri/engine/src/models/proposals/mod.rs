//! Finished refreshes that wait for a person: show, decide, preview, publish, reject. What was shown
//! is what is stored: no decision asks a language model again.

pub(crate) mod convert;
mod decide;
pub(crate) mod make;
mod order;
mod publish;
pub(crate) mod rebase;
pub(super) mod view;

pub(crate) use decide::watermark;
pub(crate) use make::supersede as supersede_waiting;
pub(crate) use order::numbers;
pub(crate) use publish::with_reflected;

use crate::handle::read_bank;
use crate::view::proposal::{
    ApproveInput, ConflictChoice, DecideOps, Preview, PreviewOf, ProposalRow, ProposalView,
    Published, RejectInput,
};
use crate::{Engine, Result};
use domain::{BankId, ProposalId};

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

/// Exactly what would be published: of what is accepted now, or of everything. Asks no language
/// model.
///
/// # Errors
/// `proposal_not_found`.
pub async fn preview(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    of: PreviewOf,
) -> Result<Preview> {
    let id = id.clone();
    read_bank(engine, bank, move |tx, key| {
        let opened = convert::Opened::get(tx, key, &id)?;
        Ok(publish::preview(&opened, of))
    })
    .await
}

/// Decides operations; what they require, or what requires them, follows.
///
/// # Errors
/// `state_conflict`, `proposal_closed`, `proposal_conflicted`, `invalid_request`.
pub async fn decide(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    input: DecideOps,
    state_seq: u32,
) -> Result<ProposalView> {
    decide::decide(engine, bank, id, input, state_seq).await?;
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
    state_seq: u32,
) -> Result<ProposalView> {
    decide::set_note(engine, bank, id, op_id, note, state_seq).await?;
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
    state_seq: u32,
) -> Result<ProposalView> {
    decide::edit_op(engine, bank, id, op_id, text, state_seq).await?;
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
    state_seq: u32,
) -> Result<ProposalView> {
    decide::resolve(engine, bank, id, op_id, choice, state_seq).await?;
    get(engine, bank, id).await
}

/// Publishes what is accepted (or a person's whole text) as one new version.
///
/// # Errors
/// `nothing_accepted`, `confirmation_required`, `state_conflict`, `proposal_closed`,
/// `proposal_conflicted`, `structured_output_failed`.
pub async fn approve(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    input: ApproveInput,
    state_seq: u32,
) -> Result<Published> {
    publish::approve(engine, bank, id, input, state_seq).await
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
    state_seq: u32,
) -> Result<ProposalView> {
    decide::reject(engine, bank, id, input, state_seq).await?;
    get(engine, bank, id).await
}
