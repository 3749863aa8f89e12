//! Commands about models: each one call of the engine.

use crate::state::App;
use domain::{BankId, Instant, Json, ModelId};
use engine::models;
use engine::report::Report;
use engine::view::form::{NextRuns, SchemaProblem, SchemaTry, ScopeReach};
use engine::view::model::{
    CreatedModel, GuidanceChange, ModelDetail, ModelPatch, ModelRow, NewModel, Submitted,
};
use engine::view::proposal::DuringReview;
use tauri::State;

/// All models of a bank with their states.
#[tauri::command]
#[specta::specta]
pub async fn list_models(app: State<'_, App>, bank: BankId) -> Result<Vec<ModelRow>, Report> {
    Ok(models::list(&app.engine().await?, &bank).await?)
}

/// One model with its document.
#[tauri::command]
#[specta::specta]
pub async fn get_model(
    app: State<'_, App>,
    bank: BankId,
    id: ModelId,
) -> Result<ModelDetail, Report> {
    Ok(models::get(&app.engine().await?, &bank, &id).await?)
}

/// Makes a model and queues its first refresh.
#[tauri::command]
#[specta::specta]
pub async fn create_model(
    app: State<'_, App>,
    bank: BankId,
    input: NewModel,
) -> Result<CreatedModel, Report> {
    Ok(models::create(&app.engine().await?, &bank, input).await?)
}

/// Changes settings of a model.
#[tauri::command]
#[specta::specta]
pub async fn update_model(
    app: State<'_, App>,
    bank: BankId,
    id: ModelId,
    patch: ModelPatch,
) -> Result<ModelDetail, Report> {
    Ok(models::update(&app.engine().await?, &bank, &id, patch).await?)
}

/// Deletes a model with its versions and proposals.
#[tauri::command]
#[specta::specta]
pub async fn delete_model(app: State<'_, App>, bank: BankId, id: ModelId) -> Result<(), Report> {
    Ok(models::delete(&app.engine().await?, &bank, &id).await?)
}

/// Queues a refresh.
#[tauri::command]
#[specta::specta]
pub async fn refresh_model(
    app: State<'_, App>,
    bank: BankId,
    id: ModelId,
    full: bool,
) -> Result<Submitted, Report> {
    Ok(models::refresh(&app.engine().await?, &bank, &id, full).await?)
}

/// Queues a refresh while a proposal of the model is in review.
#[tauri::command]
#[specta::specta]
pub async fn refresh_in_review(
    app: State<'_, App>,
    bank: BankId,
    id: ModelId,
    full: bool,
    during: DuringReview,
) -> Result<Submitted, Report> {
    Ok(models::refresh_in_review(&app.engine().await?, &bank, &id, full, during).await?)
}

/// Takes back what reviewers told the refreshes, or makes a note stand.
#[tauri::command]
#[specta::specta]
pub async fn change_guidance(
    app: State<'_, App>,
    bank: BankId,
    id: ModelId,
    place: u32,
    at: Instant,
    change: GuidanceChange,
) -> Result<ModelDetail, Report> {
    Ok(models::change_guidance(&app.engine().await?, &bank, &id, place, at, change).await?)
}

/// Stores a person's text as a new version.
#[tauri::command]
#[specta::specta]
pub async fn edit_model(
    app: State<'_, App>,
    bank: BankId,
    id: ModelId,
    content: String,
    expected_version: u32,
) -> Result<ModelDetail, Report> {
    Ok(models::edit_content(&app.engine().await?, &bank, &id, content, expected_version).await?)
}

/// Empties the document; the last text stays in the history.
#[tauri::command]
#[specta::specta]
pub async fn clear_model(
    app: State<'_, App>,
    bank: BankId,
    id: ModelId,
    expected_version: u32,
) -> Result<ModelDetail, Report> {
    Ok(models::clear(&app.engine().await?, &bank, &id, expected_version).await?)
}

/// Writes an earlier version anew.
#[tauri::command]
#[specta::specta]
pub async fn revert_model(
    app: State<'_, App>,
    bank: BankId,
    id: ModelId,
    version: u32,
    read_again: bool,
) -> Result<ModelDetail, Report> {
    Ok(models::revert(&app.engine().await?, &bank, &id, version, read_again).await?)
}

/// How many memories a scope reads now, also under the other ways to match its tags.
#[tauri::command]
#[specta::specta]
pub async fn scope_reach(
    app: State<'_, App>,
    bank: BankId,
    input: NewModel,
) -> Result<ScopeReach, Report> {
    Ok(models::scope_reach(&app.engine().await?, &bank, input).await?)
}

/// When a schedule comes due next, or what is wrong with it.
#[tauri::command]
#[specta::specta]
pub async fn next_runs(app: State<'_, App>, expression: String) -> Result<NextRuns, Report> {
    Ok(models::next_runs(&app.engine().await?, &expression))
}

/// Everything that is wrong with a response schema.
#[tauri::command]
#[specta::specta]
pub async fn check_schema(schema: Json) -> Result<Vec<SchemaProblem>, Report> {
    Ok(models::check_schema(&schema))
}

/// Extracts the fields of a schema that is not saved yet from a text, which may be that of a model.
#[tauri::command]
#[specta::specta]
pub async fn try_schema(
    app: State<'_, App>,
    model: Option<(BankId, ModelId)>,
    schema: Json,
    text: String,
) -> Result<SchemaTry, Report> {
    let model = model.as_ref().map(|(bank, model)| (bank, model));
    Ok(models::try_schema(&app.engine().await?, model, &schema, &text).await?)
}
