//! Commands about versions: each one call of the engine.

use crate::state::App;
use domain::{BankId, ModelId};
use engine::models;
use engine::report::Report;
use engine::view::model::{TimelineEntry, VersionDiff, VersionView};
use tauri::State;

/// The history of a model, newest first.
#[tauri::command]
#[specta::specta]
pub async fn list_versions(
    app: State<'_, App>,
    bank: BankId,
    id: ModelId,
) -> Result<Vec<TimelineEntry>, Report> {
    Ok(models::timeline(&app.engine().await?, &bank, &id).await?)
}

/// One kept version.
#[tauri::command]
#[specta::specta]
pub async fn get_version(
    app: State<'_, App>,
    bank: BankId,
    id: ModelId,
    version: u32,
) -> Result<VersionView, Report> {
    Ok(models::version(&app.engine().await?, &bank, &id, version).await?)
}

/// Two versions set against each other.
#[tauri::command]
#[specta::specta]
pub async fn diff_versions(
    app: State<'_, App>,
    bank: BankId,
    id: ModelId,
    from: u32,
    to: u32,
) -> Result<VersionDiff, Report> {
    Ok(models::diff_versions(&app.engine().await?, &bank, &id, from, to).await?)
}

/// Exempts a version from the limit of kept versions, or no longer.
#[tauri::command]
#[specta::specta]
pub async fn pin_version(
    app: State<'_, App>,
    bank: BankId,
    id: ModelId,
    version: u32,
    pinned: bool,
) -> Result<(), Report> {
    Ok(models::pin_version(&app.engine().await?, &bank, &id, version, pinned).await?)
}

/// Writes a person's words about a version, or takes them away.
#[tauri::command]
#[specta::specta]
pub async fn note_version(
    app: State<'_, App>,
    bank: BankId,
    id: ModelId,
    version: u32,
    note: Option<String>,
) -> Result<(), Report> {
    Ok(models::note_version(&app.engine().await?, &bank, &id, version, note).await?)
}
