//! Commands about operations: each one call of the engine.

use crate::state::App;
use domain::{BankId, OperationId};
use engine::ops;
use engine::report::Report;
use engine::view::operation::{OperationPage, OperationQuery, OperationRow};
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

/// A page of the operations of a bank, narrowed.
#[tauri::command]
#[specta::specta]
pub async fn page_operations(
    app: State<'_, App>,
    bank: BankId,
    query: OperationQuery,
) -> Result<OperationPage, Report> {
    Ok(ops::page(&app.engine().await?, &bank, query).await?)
}

/// Removes the record of an operation that has ended.
#[tauri::command]
#[specta::specta]
pub async fn delete_operation(
    app: State<'_, App>,
    bank: BankId,
    id: OperationId,
) -> Result<(), Report> {
    Ok(ops::delete(&app.engine().await?, &bank, &id).await?)
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
