//! Commands about single blocks of a document: each one call of the engine.

use crate::state::App;
use domain::{BankId, ModelId};
use engine::models;
use engine::report::Report;
use engine::view::blame::{LockKind, ModelBlame};
use engine::view::model::ModelDetail;
use tauri::State;

/// Who wrote each block of a version, and what it rests on; of the published one when none is named.
#[tauri::command]
#[specta::specta]
pub async fn model_blame(
    app: State<'_, App>,
    bank: BankId,
    id: ModelId,
    version: Option<u32>,
) -> Result<ModelBlame, Report> {
    Ok(models::blame(&app.engine().await?, &bank, &id, version).await?)
}

/// Locks a block or a section against refreshes, or changes the note of its lock.
#[tauri::command]
#[specta::specta]
pub async fn set_lock(
    app: State<'_, App>,
    bank: BankId,
    id: ModelId,
    kind: LockKind,
    element_id: String,
    note: Option<String>,
) -> Result<ModelDetail, Report> {
    Ok(models::set_lock(&app.engine().await?, &bank, &id, kind, &element_id, note).await?)
}

/// Takes a lock away.
#[tauri::command]
#[specta::specta]
pub async fn remove_lock(
    app: State<'_, App>,
    bank: BankId,
    id: ModelId,
    kind: LockKind,
    element_id: String,
) -> Result<ModelDetail, Report> {
    Ok(models::remove_lock(&app.engine().await?, &bank, &id, kind, &element_id).await?)
}
