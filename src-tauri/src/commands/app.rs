//! Commands about app: each one call of the engine.

use crate::state::App;
use domain::BankId;
use engine::report::Report;
use engine::view::app::{AppStatus, DataFolder, PaletteHit};
use engine::view::settings::Look;
use engine::{palette, settings};
use tauri::State;

/// Theme and text size.
#[tauri::command]
#[specta::specta]
pub async fn look(app: State<'_, App>) -> Result<Look, Report> {
    Ok(settings::look(&app.engine().await?).await?)
}

/// Keeps theme and text size.
#[tauri::command]
#[specta::specta]
pub async fn set_look(app: State<'_, App>, look: Look) -> Result<Look, Report> {
    Ok(settings::set_look(&app.engine().await?, look).await?)
}

/// Remembers the bank that is open.
#[tauri::command]
#[specta::specta]
pub async fn open_bank(app: State<'_, App>, bank: BankId) -> Result<(), Report> {
    Ok(settings::open_bank(&app.engine().await?, &bank).await?)
}

/// Leaves the first-run page for good.
#[tauri::command]
#[specta::specta]
pub async fn finish_first_run(app: State<'_, App>) -> Result<(), Report> {
    Ok(settings::finish_first_run(&app.engine().await?).await?)
}

/// The data folder in numbers.
#[tauri::command]
#[specta::specta]
pub async fn data_folder(app: State<'_, App>) -> Result<DataFolder, Report> {
    Ok(settings::data_folder(&app.engine().await?).await?)
}

/// What the page needs to know before it draws anything. Never fails: what stands in the way is
/// told as `blocked`.
#[tauri::command]
#[specta::specta]
pub async fn app_status(app: State<'_, App>) -> Result<AppStatus, Report> {
    Ok(app.status().await)
}

/// Finds things by a few words.
#[tauri::command]
#[specta::specta]
pub async fn palette_search(
    app: State<'_, App>,
    bank: BankId,
    words: String,
) -> Result<Vec<PaletteHit>, Report> {
    Ok(palette::search(&app.engine().await?, &bank, &words).await?)
}

/// Tries to open the data folder anew, in another place when one is given.
#[tauri::command]
#[specta::specta]
pub async fn reopen(app: State<'_, App>, folder: Option<String>) -> Result<AppStatus, Report> {
    Ok(app.reopen(folder).await)
}
