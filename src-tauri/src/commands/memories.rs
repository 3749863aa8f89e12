//! Commands about memories: each one call of the engine.

use crate::state::App;
use domain::{BankId, MemoryId, OperationId};
use engine::memory;
use engine::report::Report;
use engine::view::memory::{
    ClearObservations, Consolidating, DocumentRow, EditFact, ImportFiles, ImportPlan, MemoryDetail,
    MemoryFilter, MemoryPage, MemoryRow, NewFact, RetainText, TagRow,
};
use engine::view::recall::{RecallInput, RecallView};
use tauri::State;

/// One page of memories under a filter.
#[tauri::command]
#[specta::specta]
pub async fn list_memories(
    app: State<'_, App>,
    bank: BankId,
    filter: MemoryFilter,
    after: Option<String>,
) -> Result<MemoryPage, Report> {
    Ok(memory::list(&app.engine().await?, &bank, filter, after).await?)
}

/// One memory with all that hangs on it.
#[tauri::command]
#[specta::specta]
pub async fn get_memory(
    app: State<'_, App>,
    bank: BankId,
    id: MemoryId,
) -> Result<MemoryDetail, Report> {
    Ok(memory::get(&app.engine().await?, &bank, &id).await?)
}

/// Adds one fact by hand.
#[tauri::command]
#[specta::specta]
pub async fn add_memory(
    app: State<'_, App>,
    bank: BankId,
    fact: NewFact,
) -> Result<MemoryRow, Report> {
    Ok(memory::add(&app.engine().await?, &bank, fact).await?)
}

/// Changes a fact; its history is kept.
#[tauri::command]
#[specta::specta]
pub async fn edit_memory(
    app: State<'_, App>,
    bank: BankId,
    id: MemoryId,
    edit: EditFact,
) -> Result<MemoryRow, Report> {
    Ok(memory::edit(&app.engine().await?, &bank, &id, edit).await?)
}

/// Takes a memory out of use.
#[tauri::command]
#[specta::specta]
pub async fn invalidate_memory(
    app: State<'_, App>,
    bank: BankId,
    id: MemoryId,
    reason: Option<String>,
) -> Result<MemoryRow, Report> {
    Ok(memory::invalidate(&app.engine().await?, &bank, &id, reason).await?)
}

/// Takes a memory back into use.
#[tauri::command]
#[specta::specta]
pub async fn restore_memory(
    app: State<'_, App>,
    bank: BankId,
    id: MemoryId,
) -> Result<MemoryRow, Report> {
    Ok(memory::restore(&app.engine().await?, &bank, &id).await?)
}

/// Deletes a memory for good.
#[tauri::command]
#[specta::specta]
pub async fn delete_memory(app: State<'_, App>, bank: BankId, id: MemoryId) -> Result<(), Report> {
    Ok(memory::delete(&app.engine().await?, &bank, &id).await?)
}

/// Folds what waits into observations, now; only facts with every tag of one of `scopes` if given.
#[tauri::command]
#[specta::specta]
pub async fn consolidate_now(
    app: State<'_, App>,
    bank: BankId,
    scopes: Option<Vec<Vec<String>>>,
) -> Result<Consolidating, Report> {
    Ok(memory::consolidate::now(&app.engine().await?, &bank, scopes).await?)
}

/// Folds the facts that could not be folded, once more.
#[tauri::command]
#[specta::specta]
pub async fn retry_failed_consolidation(
    app: State<'_, App>,
    bank: BankId,
) -> Result<Consolidating, Report> {
    Ok(memory::consolidate::retry_failed(&app.engine().await?, &bank).await?)
}

/// Takes observations away; their facts wait to be folded again.
#[tauri::command]
#[specta::specta]
pub async fn clear_observations(
    app: State<'_, App>,
    bank: BankId,
    which: ClearObservations,
) -> Result<u32, Report> {
    Ok(memory::consolidate::clear(&app.engine().await?, &bank, which).await?)
}

/// Keeps a text as a document and reads facts from it.
#[tauri::command]
#[specta::specta]
pub async fn retain_text(
    app: State<'_, App>,
    bank: BankId,
    input: RetainText,
) -> Result<OperationId, Report> {
    Ok(memory::retain(&app.engine().await?, &bank, input).await?)
}

/// What an import would read; writes nothing.
#[tauri::command]
#[specta::specta]
pub async fn plan_import(
    app: State<'_, App>,
    bank: BankId,
    input: ImportFiles,
) -> Result<ImportPlan, Report> {
    Ok(memory::plan_import(&app.engine().await?, &bank, input).await?)
}

/// Reads files and folders in.
#[tauri::command]
#[specta::specta]
pub async fn import_files(
    app: State<'_, App>,
    bank: BankId,
    input: ImportFiles,
) -> Result<OperationId, Report> {
    Ok(memory::import(&app.engine().await?, &bank, input).await?)
}

/// The tags of a bank, the most used first.
#[tauri::command]
#[specta::specta]
pub async fn list_tags(app: State<'_, App>, bank: BankId) -> Result<Vec<TagRow>, Report> {
    Ok(memory::tags(&app.engine().await?, &bank).await?)
}

/// The documents of a bank.
#[tauri::command]
#[specta::specta]
pub async fn list_documents(app: State<'_, App>, bank: BankId) -> Result<Vec<DocumentRow>, Report> {
    Ok(memory::documents(&app.engine().await?, &bank).await?)
}

/// Searches in all four ways.
#[tauri::command]
#[specta::specta]
pub async fn recall(
    app: State<'_, App>,
    bank: BankId,
    input: RecallInput,
) -> Result<RecallView, Report> {
    Ok(memory::recall(&app.engine().await?, &bank, input).await?)
}
