//! Commands about proposals: each one call of the engine.

use crate::state::App;
use domain::{BankId, ProposalId};
use engine::models::proposals;
use engine::report::Report;
use engine::view::proposal::{
    ApproveInput, ConflictChoice, DecideOps, Preview, PreviewOf, ProposalRow, ProposalView,
    Published, RejectInput,
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

/// Saves decisions; what they need follows by itself.
#[tauri::command]
#[specta::specta]
pub async fn decide_ops(
    app: State<'_, App>,
    bank: BankId,
    id: ProposalId,
    input: DecideOps,
    state_seq: u32,
) -> Result<ProposalView, Report> {
    Ok(proposals::decide(&app.engine().await?, &bank, &id, input, state_seq).await?)
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
    state_seq: u32,
) -> Result<ProposalView, Report> {
    Ok(proposals::set_note(&app.engine().await?, &bank, &id, &op_id, note, state_seq).await?)
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
    state_seq: u32,
) -> Result<ProposalView, Report> {
    Ok(proposals::edit_op(&app.engine().await?, &bank, &id, &op_id, text, state_seq).await?)
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
    state_seq: u32,
) -> Result<ProposalView, Report> {
    Ok(proposals::resolve_conflict(&app.engine().await?, &bank, &id, &op_id, choice, state_seq)
        .await?)
}

/// Publishes what is accepted as a new version.
#[tauri::command]
#[specta::specta]
pub async fn approve_proposal(
    app: State<'_, App>,
    bank: BankId,
    id: ProposalId,
    input: ApproveInput,
    state_seq: u32,
) -> Result<Published, Report> {
    Ok(proposals::approve(&app.engine().await?, &bank, &id, input, state_seq).await?)
}

/// Ends the proposal without a version.
#[tauri::command]
#[specta::specta]
pub async fn reject_proposal(
    app: State<'_, App>,
    bank: BankId,
    id: ProposalId,
    input: RejectInput,
    state_seq: u32,
) -> Result<ProposalView, Report> {
    Ok(proposals::reject(&app.engine().await?, &bank, &id, input, state_seq).await?)
}
