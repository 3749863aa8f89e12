//! Commands about the files that documents are published to: each one call of the engine.

use crate::state::App;
use domain::{BankId, ModelId};
use engine::models::published;
use engine::report::Report;
use engine::view::model::ModelDetail;
use engine::view::published::{CheckedFile, PublishInput};
use tauri::State;

/// Publishes a model to a file from now on.
#[tauri::command]
#[specta::specta]
pub async fn set_publish_target(
    app: State<'_, App>,
    bank: BankId,
    id: ModelId,
    input: PublishInput,
) -> Result<ModelDetail, Report> {
    Ok(published::set_target(&app.engine().await?, &bank, &id, input).await?)
}

/// Publishes to no file any more; the file stays.
#[tauri::command]
#[specta::specta]
pub async fn clear_publish_target(
    app: State<'_, App>,
    bank: BankId,
    id: ModelId,
) -> Result<ModelDetail, Report> {
    Ok(published::clear_target(&app.engine().await?, &bank, &id).await?)
}

/// Writes the file now.
#[tauri::command]
#[specta::specta]
pub async fn publish_now(
    app: State<'_, App>,
    bank: BankId,
    id: ModelId,
) -> Result<ModelDetail, Report> {
    Ok(published::publish_now(&app.engine().await?, &bank, &id).await?)
}

/// Looks at all published files; gives those that stand otherwise than before.
#[tauri::command]
#[specta::specta]
pub async fn check_published_files(app: State<'_, App>) -> Result<Vec<CheckedFile>, Report> {
    Ok(published::check_files(&app.engine().await?).await?)
}
