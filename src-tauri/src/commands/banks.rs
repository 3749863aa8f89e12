//! Commands about banks: each one call of the engine.

use crate::state::App;
use domain::BankId;
use engine::banks;
use engine::report::Report;
use engine::view::bank::{BankRow, NewBank};
use tauri::State;

/// All banks, newest write first.
#[tauri::command]
#[specta::specta]
pub async fn list_banks(app: State<'_, App>) -> Result<Vec<BankRow>, Report> {
    Ok(banks::list(&app.engine().await?).await?)
}

/// Makes an empty bank.
#[tauri::command]
#[specta::specta]
pub async fn create_bank(app: State<'_, App>, input: NewBank) -> Result<BankRow, Report> {
    Ok(banks::create(&app.engine().await?, input).await?)
}

/// Makes the sample bank anew.
#[tauri::command]
#[specta::specta]
pub async fn restore_sample(app: State<'_, App>) -> Result<BankId, Report> {
    Ok(banks::restore_sample(&app.engine().await?).await?)
}

/// Deletes a bank with everything in it.
#[tauri::command]
#[specta::specta]
pub async fn delete_bank(app: State<'_, App>, bank: BankId) -> Result<(), Report> {
    Ok(banks::delete(&app.engine().await?, &bank).await?)
}
