//! What the bank knows: add, import, list, correct, and find again. Never writes a document.

pub mod consolidate;
mod curate;
mod extract;
mod import;
pub(crate) mod jobs;
pub(crate) mod keep;
mod list;
mod names;
mod read;
mod recall;
mod retain;
pub(crate) mod rows;
pub mod search;

pub(crate) use import::walk as files_of;

use crate::view::memory::{
    DocumentRow, EditFact, ImportFiles, ImportPlan, MemoryDetail, MemoryFilter, MemoryPage,
    MemoryRow, NewFact, RetainText, TagRow,
};
use crate::view::recall::{RecallInput, RecallView};
use crate::{Engine, Result};
use domain::{BankId, MemoryId, OperationId};

/// One page of memories under a filter, the newest first; `after` is the `next` of the page before.
///
/// # Errors
/// `bank_not_found`; `invalid_id` for a place to read on that was not given out.
pub async fn list(
    engine: &Engine,
    bank: &BankId,
    filter: MemoryFilter,
    after: Option<String>,
) -> Result<MemoryPage> {
    list::list(engine, bank, filter, after).await
}

/// One memory with all that hangs on it.
///
/// # Errors
/// `bank_not_found`, `memory_not_found`.
pub async fn get(engine: &Engine, bank: &BankId, id: &MemoryId) -> Result<MemoryDetail> {
    list::get(engine, bank, id).await
}

/// Stores one fact given by hand. Names of entities are taken literally.
///
/// # Errors
/// `bank_not_found`, `invalid_request`, `unknown_fact_type`, `window_reversed`.
pub async fn add(engine: &Engine, bank: &BankId, fact: NewFact) -> Result<MemoryRow> {
    curate::add(engine, bank, fact).await
}

/// Changes a fact; its former state is kept.
///
/// # Errors
/// `memory_not_found`, `not_curatable`, `memory_invalidated`, `invalid_request`, `window_reversed`.
pub async fn edit(
    engine: &Engine,
    bank: &BankId,
    id: &MemoryId,
    edit: EditFact,
) -> Result<MemoryRow> {
    curate::edit(engine, bank, id, edit).await
}

/// Takes a fact out of use; a second time changes the reason.
///
/// # Errors
/// `memory_not_found`, `not_curatable`.
pub async fn invalidate(
    engine: &Engine,
    bank: &BankId,
    id: &MemoryId,
    reason: Option<String>,
) -> Result<MemoryRow> {
    curate::invalidate(engine, bank, id, reason).await
}

/// Brings a fact back into use.
///
/// # Errors
/// `memory_not_found`, `not_curatable`.
pub async fn restore(engine: &Engine, bank: &BankId, id: &MemoryId) -> Result<MemoryRow> {
    curate::restore(engine, bank, id).await
}

/// Deletes a memory for good.
///
/// # Errors
/// `memory_not_found`.
pub async fn delete(engine: &Engine, bank: &BankId, id: &MemoryId) -> Result<()> {
    curate::delete(engine, bank, id).await
}

/// Keeps a text as a document and queues the reading of facts from it.
///
/// # Errors
/// `bank_not_found`, `invalid_request`.
pub async fn retain(engine: &Engine, bank: &BankId, input: RetainText) -> Result<OperationId> {
    jobs::submit_retain(engine, bank, input).await
}

/// What an import would read; nothing is written.
///
/// # Errors
/// `bank_not_found`.
pub async fn plan_import(engine: &Engine, bank: &BankId, input: ImportFiles) -> Result<ImportPlan> {
    import::plan(engine, bank, input).await
}

/// Queues the reading of files and folders. The result of the operation is an
/// [`ImportResult`](crate::view::memory::ImportResult).
///
/// # Errors
/// `bank_not_found`, `invalid_request`.
pub async fn import(engine: &Engine, bank: &BankId, input: ImportFiles) -> Result<OperationId> {
    jobs::submit_import(engine, bank, input).await
}

/// The tags of a bank's valid memories, the most used first.
///
/// # Errors
/// `bank_not_found`.
pub async fn tags(engine: &Engine, bank: &BankId) -> Result<Vec<TagRow>> {
    list::tags(engine, bank).await
}

/// The documents of a bank, the last changed first.
///
/// # Errors
/// `bank_not_found`.
pub async fn documents(engine: &Engine, bank: &BankId) -> Result<Vec<DocumentRow>> {
    list::documents(engine, bank).await
}

/// Searches in all four ways.
///
/// # Errors
/// `bank_not_found`, `no_types`, `unknown_match`, and whatever failed in one of the ways.
pub async fn recall(engine: &Engine, bank: &BankId, input: RecallInput) -> Result<RecallView> {
    recall::recall(engine, bank, input).await
}
