//! Commands about the window itself: that its page has drawn, what it was asked to open, and the
//! notices that travel with the program.

use crate::resources;
use crate::window::Shell;
use tauri::{AppHandle, State};

/// Told once by the page after its first frame; until then the window may be blank.
#[tauri::command]
#[specta::specta]
pub async fn page_drawn(shell: State<'_, Shell>) -> Result<(), ()> {
    shell.page_drawn();
    Ok(())
}

/// The files that this start, or a later start on the same folder, was asked to open. Each is
/// handed out once.
#[tauri::command]
#[specta::specta]
pub async fn take_opened_files(shell: State<'_, Shell>) -> Result<Vec<String>, ()> {
    Ok(shell.take_opened())
}

/// Licences and copyright notices of everything that is part of the program, as plain text.
#[tauri::command]
#[specta::specta]
pub async fn third_party_notices(app: AppHandle) -> String {
    resources::notices(&app)
}
