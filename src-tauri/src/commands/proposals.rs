//! Commands about proposals: each one call of the engine.

use crate::state::App;
use domain::{BankId, ProposalId};
use engine::models::proposals;
use engine::report::Report;
use engine::view::model::Submitted;
use engine::view::proposal::{
    AgainInput, ApproveInput, ConflictChoice, DecideOps, EditText, Preview, PreviewOf, ProposalRow,
    ProposalView, Published, RejectInput, Turn,
};
use tauri::State;

/// Proposals that wait for a decision, oldest first.
#[tauri::command]
#[specta::specta]
pub async fn list_proposals(app: State<'_, App>, bank: BankId) -> Result<Vec<ProposalRow>, Report> {
    Ok(proposals::inbox(&app.engine().await?, &bank).await?)
}

/// One proposal with all that a reviewer needs.
#[tauri::command]
#[specta::specta]
pub async fn get_proposal(
    app: State<'_, App>,
    bank: BankId,
    id: ProposalId,
) -> Result<ProposalView, Report> {
    Ok(proposals::get(&app.engine().await?, &bank, &id).await?)
}

/// Exactly what would be published.
#[tauri::command]
#[specta::specta]
pub async fn preview_proposal(
    app: State<'_, App>,
    bank: BankId,
    id: ProposalId,
    of: PreviewOf,
) -> Result<Preview, Report> {
    Ok(proposals::preview(&app.engine().await?, &bank, &id, of).await?)
}

/// What a text of the person's own would come to; nothing is saved.
#[tauri::command]
#[specta::specta]
pub async fn preview_draft(
    app: State<'_, App>,
    bank: BankId,
    id: ProposalId,
    text: String,
) -> Result<Preview, Report> {
    Ok(proposals::preview_draft(&app.engine().await?, &bank, &id, text).await?)
}

/// Saves decisions; what they need follows by itself.
#[tauri::command]
#[specta::specta]
pub async fn decide_ops(
    app: State<'_, App>,
    bank: BankId,
    id: ProposalId,
    input: DecideOps,
    turn: Turn,
) -> Result<ProposalView, Report> {
    Ok(proposals::decide(&app.engine().await?, &bank, &id, input, turn).await?)
}

/// Saves a person's words about an operation.
#[tauri::command]
#[specta::specta]
pub async fn set_op_note(
    app: State<'_, App>,
    bank: BankId,
    id: ProposalId,
    op_id: String,
    note: Option<String>,
    turn: Turn,
) -> Result<ProposalView, Report> {
    Ok(proposals::set_note(&app.engine().await?, &bank, &id, &op_id, note, turn).await?)
}

/// Replaces the text of an operation; absent takes the proposed text back.
#[tauri::command]
#[specta::specta]
pub async fn edit_op(
    app: State<'_, App>,
    bank: BankId,
    id: ProposalId,
    op_id: String,
    text: Option<String>,
    turn: Turn,
) -> Result<ProposalView, Report> {
    Ok(proposals::edit_op(&app.engine().await?, &bank, &id, &op_id, text, turn).await?)
}

/// Saves a whole text of the person's own instead of a selection; absent drops it.
#[tauri::command]
#[specta::specta]
pub async fn edit_draft(
    app: State<'_, App>,
    bank: BankId,
    id: ProposalId,
    text: Option<String>,
    turn: Turn,
) -> Result<ProposalView, Report> {
    Ok(proposals::edit_draft(&app.engine().await?, &bank, &id, text, turn).await?)
}

/// Says what becomes of an operation that no longer fits.
#[tauri::command]
#[specta::specta]
pub async fn resolve_conflict(
    app: State<'_, App>,
    bank: BankId,
    id: ProposalId,
    op_id: String,
    choice: ConflictChoice,
    turn: Turn,
) -> Result<ProposalView, Report> {
    Ok(proposals::resolve_conflict(&app.engine().await?, &bank, &id, &op_id, choice, turn).await?)
}

/// Publishes what is accepted as a new version.
#[tauri::command]
#[specta::specta]
pub async fn approve_proposal(
    app: State<'_, App>,
    bank: BankId,
    id: ProposalId,
    input: ApproveInput,
    turn: Turn,
) -> Result<Published, Report> {
    Ok(proposals::approve(&app.engine().await?, &bank, &id, input, turn).await?)
}

/// Ends the proposal without a version.
#[tauri::command]
#[specta::specta]
pub async fn reject_proposal(
    app: State<'_, App>,
    bank: BankId,
    id: ProposalId,
    input: RejectInput,
    turn: Turn,
) -> Result<ProposalView, Report> {
    Ok(proposals::reject(&app.engine().await?, &bank, &id, input, turn).await?)
}

/// Asks for another run over what the proposal read, with a note if there is one.
#[tauri::command]
#[specta::specta]
pub async fn request_again(
    app: State<'_, App>,
    bank: BankId,
    id: ProposalId,
    input: AgainInput,
    turn: Turn,
) -> Result<Submitted, Report> {
    Ok(proposals::request_again(&app.engine().await?, &bank, &id, input, turn).await?)
}

/// The proposal's text as the beginning of an edit of the published document.
#[tauri::command]
#[specta::specta]
pub async fn proposal_as_edit(
    app: State<'_, App>,
    bank: BankId,
    id: ProposalId,
) -> Result<EditText, Report> {
    Ok(proposals::as_edit(&app.engine().await?, &bank, &id).await?)
}
