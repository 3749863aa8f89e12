//! Commands about operations: each one call of the engine.

use crate::state::App;
use domain::{BankId, OperationId};
use engine::ops;
use engine::report::Report;
use engine::view::operation::OperationRow;
use tauri::State;

/// Operations of a bank, newest first.
#[tauri::command]
#[specta::specta]
pub async fn list_operations(
    app: State<'_, App>,
    bank: BankId,
) -> Result<Vec<OperationRow>, Report> {
    Ok(ops::list(&app.engine().await?, &bank).await?)
}

/// Stops an operation.
#[tauri::command]
#[specta::specta]
pub async fn cancel_operation(
    app: State<'_, App>,
    bank: BankId,
    id: OperationId,
) -> Result<OperationRow, Report> {
    Ok(ops::cancel(&app.engine().await?, &bank, &id).await?)
}

/// Runs a failed, stopped or parked operation now.
#[tauri::command]
#[specta::specta]
pub async fn retry_operation(
    app: State<'_, App>,
    bank: BankId,
    id: OperationId,
) -> Result<OperationRow, Report> {
    Ok(ops::retry(&app.engine().await?, &bank, &id).await?)
}
