//! Commands about runs of a refresh: each one call of the engine.

use crate::state::App;
use domain::{BankId, ModelId, RunId};
use engine::models;
use engine::report::Report;
use engine::view::model::ModelDetail;
use engine::view::refresh::{DryRunView, KeptDryRun, RefreshRunView};
use tauri::State;

/// Runs a refresh that writes nothing and tells what it would do. `run` names it for stopping.
#[tauri::command]
#[specta::specta]
pub async fn dry_run_model(
    app: State<'_, App>,
    bank: BankId,
    id: ModelId,
    run: Option<RunId>,
) -> Result<DryRunView, Report> {
    Ok(models::dry_run(&app.engine().await?, &bank, &id, run).await?)
}

/// Stops a dry run.
#[tauri::command]
#[specta::specta]
pub async fn cancel_dry_run(app: State<'_, App>, run: RunId) -> Result<(), Report> {
    models::cancel_dry_run(&app.engine().await?, &run);
    Ok(())
}

/// A dry run again, as it was told.
#[tauri::command]
#[specta::specta]
pub async fn get_dry_run(
    app: State<'_, App>,
    bank: BankId,
    run: RunId,
) -> Result<DryRunView, Report> {
    Ok(models::dry_run_result(&app.engine().await?, &bank, &run).await?)
}

/// Makes a proposal of a dry run.
#[tauri::command]
#[specta::specta]
pub async fn keep_dry_run(
    app: State<'_, App>,
    bank: BankId,
    run: RunId,
) -> Result<KeptDryRun, Report> {
    Ok(models::keep_dry_run(&app.engine().await?, &bank, &run).await?)
}

/// Forgets the result of a dry run.
#[tauri::command]
#[specta::specta]
pub async fn drop_dry_run(app: State<'_, App>, bank: BankId, run: RunId) -> Result<(), Report> {
    Ok(models::drop_dry_run(&app.engine().await?, &bank, &run).await?)
}

/// The records of a model's runs, newest first.
#[tauri::command]
#[specta::specta]
pub async fn list_refresh_runs(
    app: State<'_, App>,
    bank: BankId,
    id: ModelId,
) -> Result<Vec<RefreshRunView>, Report> {
    Ok(models::refresh_runs(&app.engine().await?, &bank, &id).await?)
}

/// Extracts the structured view of the document as it stands.
#[tauri::command]
#[specta::specta]
pub async fn reextract_structured(
    app: State<'_, App>,
    bank: BankId,
    id: ModelId,
) -> Result<ModelDetail, Report> {
    Ok(models::reextract_structured(&app.engine().await?, &bank, &id).await?)
}
