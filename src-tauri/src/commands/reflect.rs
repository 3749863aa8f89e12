//! Commands about reflect: each one call of the engine.

use crate::state::App;
use domain::trace::RunEvent;
use domain::{BankId, RunId};
use engine::events::EventSink;
use engine::reflect;
use engine::report::Report;
use engine::view::reflect::{ReflectInput, ReflectRow, ReflectRunView};
use tauri::State;
use tauri::ipc::Channel;

/// Stops a running question.
#[tauri::command]
#[specta::specta]
pub async fn cancel_reflect(app: State<'_, App>, run: RunId) -> Result<(), Report> {
    Ok(reflect::cancel(&app.engine().await?, &run).await?)
}

/// Earlier questions, newest first.
#[tauri::command]
#[specta::specta]
pub async fn list_reflect_runs(
    app: State<'_, App>,
    bank: BankId,
) -> Result<Vec<ReflectRow>, Report> {
    Ok(reflect::runs(&app.engine().await?, &bank).await?)
}

/// One run with its answer.
#[tauri::command]
#[specta::specta]
pub async fn get_reflect_run(
    app: State<'_, App>,
    bank: BankId,
    run: RunId,
) -> Result<ReflectRunView, Report> {
    Ok(reflect::get_run(&app.engine().await?, &bank, &run).await?)
}

/// Three questions made from the bank's own entities.
#[tauri::command]
#[specta::specta]
pub async fn sample_questions(app: State<'_, App>, bank: BankId) -> Result<Vec<String>, Report> {
    Ok(reflect::sample_questions(&app.engine().await?, &bank).await?)
}

/// Asks a question; its events come over the channel, the finished run as the result.
#[tauri::command]
#[specta::specta]
pub async fn ask(
    app: State<'_, App>,
    bank: BankId,
    input: ReflectInput,
    events: Channel<RunEvent>,
) -> Result<ReflectRunView, Report> {
    Ok(reflect::ask(&app.engine().await?, &bank, input, &mut ChannelSink(events)).await?)
}

/// Asks the question of an ended run once more, going on from what it found where that was kept.
#[tauri::command]
#[specta::specta]
pub async fn retry_reflect(
    app: State<'_, App>,
    bank: BankId,
    run: RunId,
    events: Channel<RunEvent>,
) -> Result<ReflectRunView, Report> {
    Ok(reflect::retry(&app.engine().await?, &bank, &run, &mut ChannelSink(events)).await?)
}

/// Passes a run's events on to the page. A closed window drops them; the record stays.
struct ChannelSink(Channel<RunEvent>);

impl EventSink for ChannelSink {
    fn emit(&mut self, event: RunEvent) {
        if self.0.send(event).is_err() {
            tracing::debug!("nobody listens to this run any more");
        }
    }
}
