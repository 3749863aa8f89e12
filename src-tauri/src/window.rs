//! The one window: made from the configuration, kept where the person left it, brought forward by
//! a second start, and watched until its page has drawn itself.

use crate::drawing;
use crate::state::App;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tauri::{AppHandle, Manager, WebviewWindowBuilder, WindowEvent};
use tauri_plugin_dialog::{DialogExt, MessageDialogButtons, MessageDialogKind};
use tauri_plugin_window_state::StateFlags;
use tauri_specta::Event;
use tokio::sync::Notify;

/// The label of the window in the configuration.
pub(crate) const MAIN: &str = "main";

/// How long a page may take to draw itself before the person is told.
const PATIENCE: Duration = Duration::from_secs(10);

const BLANK: &str = "The window has been open for ten seconds and its page has not drawn itself. \
    On some graphics drivers the fast way of drawing fails.\n\nPalimpsest can restart and draw \
    without acceleration, and will remember that. Your data is not affected.";

const STILL_BLANK: &str = "The window has been open for ten seconds and its page has not drawn \
    itself, although acceleration is off. The web view of this system (WebKitGTK) may be broken or \
    too old. Your data is not affected; the log in the data folder says more.";

/// What the window keeps between the shell and its page.
#[derive(Debug, Default)]
pub struct Shell {
    drawn: Notify,
    opened: Mutex<Vec<String>>,
}

/// Files were named by another start; `take_opened_files` hands them out.
#[derive(Debug, Clone, Serialize, Deserialize, specta::Type, Event)]
pub struct FilesOpened {
    /// How many wait.
    pub waiting: u32,
}

impl Shell {
    /// Ends the wait for the first frame.
    pub(crate) fn page_drawn(&self) {
        self.drawn.notify_one();
    }

    /// The files asked for and not yet handed out.
    pub(crate) fn take_opened(&self) -> Vec<String> {
        std::mem::take(&mut *self.opened.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps the files named by the arguments of a start (without the program's own name) and
    /// says how many wait now.
    pub(crate) fn keep_opened(
        &self,
        arguments: impl IntoIterator<Item = OsString>,
        working_folder: &Path,
    ) -> u32 {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.extend(files(arguments, working_folder));
        u32::try_from(opened.len()).unwrap_or(u32::MAX)
    }
}

/// The arguments that are files, as absolute paths; switches are left out.
fn files(
    arguments: impl IntoIterator<Item = OsString>,
    working_folder: &Path,
) -> impl Iterator<Item = String> {
    arguments
        .into_iter()
        .filter(|argument| !argument.as_encoded_bytes().starts_with(b"-"))
        .map(move |argument| working_folder.join(argument).to_string_lossy().into_owned())
}

/// Size and place are kept in the data folder, so each folder's window has its own.
pub(crate) fn state_plugin(folder: &Path) -> tauri::plugin::TauriPlugin<tauri::Wry> {
    tauri_plugin_window_state::Builder::default()
        .with_state_flags(
            StateFlags::SIZE
                | StateFlags::POSITION
                | StateFlags::MAXIMIZED
                | StateFlags::FULLSCREEN,
        )
        .with_filename(folder.join("window.json").to_string_lossy())
        .build()
}

/// Makes the window and watches over its first frame.
pub(crate) fn open(app: &AppHandle, folder: &Path) -> tauri::Result<()> {
    let Some(config) = app.config().app.windows.iter().find(|window| window.label == MAIN) else {
        return Err(tauri::Error::WindowNotFound);
    };
    let builder = WebviewWindowBuilder::from_config(app, config)?;
    let page_data = folder.join("page");
    // What the page itself keeps lies with the data; where nothing can be written it keeps nothing.
    let builder = if std::fs::create_dir_all(&page_data).is_ok() {
        builder.data_directory(page_data)
    } else {
        builder.incognito(true)
    };
    let window = builder.build()?;
    let handle = app.clone();
    window.on_window_event(move |event| {
        if matches!(event, WindowEvent::Focused(true)) {
            tauri::async_runtime::spawn(look_at_files(handle.clone()));
        }
    });
    tauri::async_runtime::spawn(watch(app.clone(), folder.to_owned()));
    Ok(())
}

/// A second start on the same folder: the window comes to the front and gets the files.
pub(crate) fn second_start(app: &AppHandle, arguments: Vec<String>, working_folder: &Path) {
    if let Some(window) = app.get_webview_window(MAIN) {
        let forward = window.unminimize().and_then(|()| window.show());
        if let Err(error) = forward.and_then(|()| window.set_focus()) {
            tracing::warn!(%error, "the window could not be brought forward");
        }
    }
    let arguments = arguments.into_iter().skip(1).map(OsString::from);
    let waiting = app.state::<Shell>().keep_opened(arguments, working_folder);
    if waiting > 0
        && let Err(error) = (FilesOpened { waiting }).emit(app)
    {
        tracing::warn!(%error, "the page was not told of opened files");
    }
}

/// The person may come back from another program that changed a published file. What that comes to
/// reaches the page as news of changed data.
async fn look_at_files(app: AppHandle) {
    let state = app.state::<App>();
    let Ok(engine) = state.engine().await else { return };
    if let Err(error) = engine::models::published::check_files(&engine).await {
        tracing::warn!(%error, "the published files were not checked");
    }
}

async fn watch(app: AppHandle, folder: PathBuf) {
    let shell = app.state::<Shell>();
    let drawn = tokio::time::timeout(PATIENCE, shell.drawn.notified());
    if drawn.await.is_ok() {
        tracing::info!("the page has drawn itself");
        return;
    }
    tracing::warn!("the page has not drawn itself within {} s", PATIENCE.as_secs());
    if !drawing::driven() {
        offer_safe_drawing(&app, folder);
    }
}

fn offer_safe_drawing(app: &AppHandle, folder: PathBuf) {
    let say =
        |text| app.dialog().message(text).title("Palimpsest").kind(MessageDialogKind::Warning);
    if drawing::is_safe() {
        say(STILL_BLANK).show(|_| ());
        return;
    }
    let buttons = MessageDialogButtons::OkCancelCustom("Restart".into(), "Keep waiting".into());
    let dialog = say(BLANK);
    let app = app.clone();
    dialog.buttons(buttons).show(move |restart| {
        if restart {
            // Gives the name on the message bus back first, or the fresh start would take this
            // dying process for a running one.
            app.cleanup_before_exit();
            let error = drawing::restart_safely(&folder);
            tracing::error!(%error, "the restart failed");
            app.exit(1);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_absolute_and_handed_out_once() {
        let shell = Shell::default();
        let arguments = ["notes.md", "--flag", "/srv/facts.jsonl"].map(OsString::from);
        assert_eq!(shell.keep_opened(arguments, Path::new("/home/ada")), 2);
        assert_eq!(shell.take_opened(), ["/home/ada/notes.md", "/srv/facts.jsonl"]);
        assert!(shell.take_opened().is_empty());
    }

    #[tokio::test]
    async fn a_page_that_drew_before_the_watch_began_counts() {
        let shell = Shell::default();
        shell.page_drawn();
        shell.drawn.notified().await;
    }
}
