//! Commands about settings: each one call of the engine.

use crate::state::App;
use domain::{BankId, EndpointId, Json};
use engine::report::Report;
use engine::view::settings::{
    CheckReport, EndpointView, FoundServer, LlmSettings, SaveEndpoint, SettingValues,
};
use engine::{endpoints, settings};
use tauri::State;

/// Endpoints of language models and extractive mode.
#[tauri::command]
#[specta::specta]
pub async fn llm_settings(app: State<'_, App>) -> Result<LlmSettings, Report> {
    Ok(endpoints::llm_settings(&app.engine().await?).await?)
}

/// Looks for servers on this machine.
#[tauri::command]
#[specta::specta]
pub async fn discover_endpoints(app: State<'_, App>) -> Result<Vec<FoundServer>, Report> {
    Ok(endpoints::discover(&app.engine().await?).await?)
}

/// Stores an endpoint; its key goes to the key store.
#[tauri::command]
#[specta::specta]
pub async fn save_endpoint(
    app: State<'_, App>,
    input: SaveEndpoint,
) -> Result<EndpointView, Report> {
    Ok(endpoints::save(&app.engine().await?, input).await?)
}

/// Removes an endpoint and its key.
#[tauri::command]
#[specta::specta]
pub async fn delete_endpoint(app: State<'_, App>, id: EndpointId) -> Result<(), Report> {
    Ok(endpoints::delete(&app.engine().await?, &id).await?)
}

/// Chooses what answers; absent chooses extractive mode.
#[tauri::command]
#[specta::specta]
pub async fn choose_endpoint(
    app: State<'_, App>,
    id: Option<EndpointId>,
) -> Result<LlmSettings, Report> {
    Ok(endpoints::choose(&app.engine().await?, id.as_ref()).await?)
}

/// Runs the set-up check.
#[tauri::command]
#[specta::specta]
pub async fn check_endpoint(app: State<'_, App>, id: EndpointId) -> Result<CheckReport, Report> {
    Ok(endpoints::check(&app.engine().await?, &id).await?)
}

/// The language models that an endpoint offers.
#[tauri::command]
#[specta::specta]
pub async fn list_llms(app: State<'_, App>, id: EndpointId) -> Result<Vec<String>, Report> {
    Ok(endpoints::list_llms(&app.engine().await?, &id).await?)
}

/// Forgets what was learnt about an endpoint.
#[tauri::command]
#[specta::specta]
pub async fn forget_learnt(app: State<'_, App>, id: EndpointId) -> Result<(), Report> {
    Ok(endpoints::forget_learnt(&app.engine().await?, &id).await?)
}

/// Switches extractive mode.
#[tauri::command]
#[specta::specta]
pub async fn set_extractive(app: State<'_, App>, on: bool) -> Result<LlmSettings, Report> {
    Ok(endpoints::set_extractive(&app.engine().await?, on).await?)
}

/// What a bank states and what is in force in it.
#[tauri::command]
#[specta::specta]
pub async fn bank_settings(app: State<'_, App>, bank: BankId) -> Result<SettingValues, Report> {
    Ok(settings::of(&app.engine().await?, &bank).await?)
}

/// States settings of a bank; null takes one back.
#[tauri::command]
#[specta::specta]
pub async fn set_bank_settings(
    app: State<'_, App>,
    bank: BankId,
    patch: Json,
) -> Result<SettingValues, Report> {
    Ok(settings::set_of(&app.engine().await?, &bank, patch).await?)
}

/// What the program states for all banks, and for itself.
#[tauri::command]
#[specta::specta]
pub async fn program_settings(app: State<'_, App>) -> Result<SettingValues, Report> {
    Ok(settings::program(&app.engine().await?).await?)
}

/// States settings of the program; null takes one back.
#[tauri::command]
#[specta::specta]
pub async fn set_program_settings(
    app: State<'_, App>,
    patch: Json,
) -> Result<SettingValues, Report> {
    Ok(settings::set_program(&app.engine().await?, patch).await?)
}
