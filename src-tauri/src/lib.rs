//! The desktop: commands, events, window. Thin on purpose: it gives the engine a window and a page
//! that may ask for things; every rule is the engine's.

pub mod bindings;
pub mod commands;
mod drawing;
mod folder;
mod resources;
mod secrets;
pub mod state;
mod tags;
pub mod window;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use tauri::{AppHandle, Manager, RunEvent};
use tauri_plugin_log::{RotationStrategy, Target, TargetKind};

/// Size at which a log is set aside; one older one is kept.
const LOG_BYTES: u128 = 2 << 20;

/// Folder of the bundled embedder among the resources.
const WEIGHTS: &str = "embedder";

/// Runs the program until its window is closed.
#[must_use]
pub fn run() -> ExitCode {
    let folder = folder::locate();
    drawing::prepare(&folder);
    match start(&folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is no window to say it in.
            let _ = writeln!(std::io::stderr(), "Palimpsest could not start: {error}");
            ExitCode::FAILURE
        }
    }
}

fn start(folder: &Path) -> tauri::Result<()> {
    let context = tauri::generate_context!();
    let bus_name = folder::bus_name(&context.config().identifier, folder);
    let bindings = bindings::builder();
    let data = folder.to_owned();
    tauri::Builder::default()
        // First, so that a second start ends before it has touched anything.
        .plugin(single_instance(bus_name))
        .plugin(log(folder))
        .plugin(window::state_plugin(folder))
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_opener::init())
        .manage(window::Shell::default())
        .invoke_handler(bindings.invoke_handler())
        .setup(move |app| {
            bindings.mount_events(app);
            let weights = resources::find(app.handle(), WEIGHTS).unwrap_or_default();
            app.manage(state::App::new(app.handle().clone(), data.clone(), weights));
            let arguments = std::env::args_os().skip(1);
            let here = std::env::current_dir().unwrap_or_default();
            app.state::<window::Shell>().keep_opened(arguments, &here);
            window::open(app.handle(), &data)?;
            Ok(())
        })
        .build(context)?
        .run(|app, event| {
            if matches!(event, RunEvent::Exit) {
                let state = app.state::<state::App>();
                tauri::async_runtime::block_on(state.close());
            }
        });
    Ok(())
}

fn single_instance(bus_name: String) -> tauri::plugin::TauriPlugin<tauri::Wry> {
    tauri_plugin_single_instance::Builder::new()
        .dbus_id(bus_name)
        .callback(|app: &AppHandle, arguments, working_folder| {
            window::second_start(app, arguments, Path::new(&working_folder));
        })
        .build()
}

/// Warnings and the program's own steps; nothing below that, where libraries write out what they
/// send.
fn log(folder: &Path) -> tauri::plugin::TauriPlugin<tauri::Wry> {
    let kind = match folder::logs(folder) {
        Some(path) => TargetKind::Folder { path, file_name: Some("palimpsest".into()) },
        None => TargetKind::Stderr,
    };
    tauri_plugin_log::Builder::new()
        .clear_targets()
        .target(Target::new(kind))
        .level(log::LevelFilter::Info)
        // The message bus tells every byte it exchanges, as if that were a step of the program.
        .level_for("zbus", log::LevelFilter::Warn)
        .level_for("tracing::span", log::LevelFilter::Warn)
        .max_file_size(LOG_BYTES)
        .rotation_strategy(RotationStrategy::KeepOne)
        .build()
}
