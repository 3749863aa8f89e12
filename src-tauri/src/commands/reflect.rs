//! Commands about reflect: each one call of the engine.

use crate::state::App;
use domain::trace::RunEvent;
use domain::{BankId, RunId};
use engine::events::EventSink;
use engine::report::Report;
use engine::view::reflect::{
    RecordedCall, ReflectEstimate, ReflectInput, ReflectRow, ReflectRunView, RunPart, RunText,
    SavedRun,
};
use engine::{reflect, runs};
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

/// What a question will probably take; nothing is asked for it.
#[tauri::command]
#[specta::specta]
pub async fn estimate_reflect(
    app: State<'_, App>,
    bank: BankId,
    input: ReflectInput,
    before: Option<RunId>,
) -> Result<ReflectEstimate, Report> {
    Ok(reflect::estimate(&app.engine().await?, &bank, input, before).await?)
}

/// One request of a run to a language model, as it is on record.
#[tauri::command]
#[specta::specta]
pub async fn recorded_call(
    app: State<'_, App>,
    bank: BankId,
    run: RunId,
    scope: String,
    nth: u32,
) -> Result<Option<RecordedCall>, Report> {
    Ok(runs::recorded_call(&app.engine().await?, &bank, &run, &scope, nth).await?)
}

/// A question as text that may leave the program.
#[tauri::command]
#[specta::specta]
pub async fn reflect_run_text(
    app: State<'_, App>,
    bank: BankId,
    run: RunId,
    part: RunPart,
) -> Result<RunText, Report> {
    Ok(runs::as_text(&app.engine().await?, &bank, &run, part).await?)
}

/// Writes a question into a folder, beside whatever is there.
#[tauri::command]
#[specta::specta]
pub async fn save_reflect_run(
    app: State<'_, App>,
    bank: BankId,
    run: RunId,
    part: RunPart,
    folder: String,
) -> Result<SavedRun, Report> {
    Ok(runs::save(&app.engine().await?, &bank, &run, part, &folder).await?)
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
