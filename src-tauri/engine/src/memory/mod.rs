//! What the bank knows: add, import, list, correct, and find again. Never writes a document.

pub(crate) mod jobs;
mod read;
pub mod search;

use crate::report::fault;
use crate::view::memory::{
    DocumentRow, EditFact, ImportFiles, ImportPlan, MemoryDetail, MemoryFilter, MemoryPage,
    MemoryRow, NewFact, RetainText,
};
use crate::view::recall::{RecallInput, RecallView};
use crate::{Engine, Result};
use domain::{BankId, MemoryId, OperationId};

/// list
///
/// # Errors
/// See the table.
pub async fn list(
    engine: &Engine,
    bank: &BankId,
    filter: MemoryFilter,
    after: Option<String>,
) -> Result<MemoryPage> {
    let _ = (engine, bank, filter, after);
    Err(fault("unexpected_error").into())
}

/// get
///
/// # Errors
/// See the table.
pub async fn get(engine: &Engine, bank: &BankId, id: &MemoryId) -> Result<MemoryDetail> {
    let _ = (engine, bank, id);
    Err(fault("unexpected_error").into())
}

/// add
///
/// # Errors
/// See the table.
pub async fn add(engine: &Engine, bank: &BankId, fact: NewFact) -> Result<MemoryRow> {
    let _ = (engine, bank, fact);
    Err(fault("unexpected_error").into())
}

/// edit
///
/// # Errors
/// See the table.
pub async fn edit(
    engine: &Engine,
    bank: &BankId,
    id: &MemoryId,
    edit: EditFact,
) -> Result<MemoryRow> {
    let _ = (engine, bank, id, edit);
    Err(fault("unexpected_error").into())
}

/// invalidate
///
/// # Errors
/// See the table.
pub async fn invalidate(
    engine: &Engine,
    bank: &BankId,
    id: &MemoryId,
    reason: Option<String>,
) -> Result<MemoryRow> {
    let _ = (engine, bank, id, reason);
    Err(fault("unexpected_error").into())
}

/// restore
///
/// # Errors
/// See the table.
pub async fn restore(engine: &Engine, bank: &BankId, id: &MemoryId) -> Result<MemoryRow> {
    let _ = (engine, bank, id);
    Err(fault("unexpected_error").into())
}

/// delete
///
/// # Errors
/// See the table.
pub async fn delete(engine: &Engine, bank: &BankId, id: &MemoryId) -> Result<()> {
    let _ = (engine, bank, id);
    Err(fault("unexpected_error").into())
}

/// retain
///
/// # Errors
/// See the table.
pub async fn retain(engine: &Engine, bank: &BankId, input: RetainText) -> Result<OperationId> {
    let _ = (engine, bank, input);
    Err(fault("unexpected_error").into())
}

/// plan_import
///
/// # Errors
/// See the table.
pub async fn plan_import(engine: &Engine, bank: &BankId, input: ImportFiles) -> Result<ImportPlan> {
    let _ = (engine, bank, input);
    Err(fault("unexpected_error").into())
}

/// import
///
/// # Errors
/// See the table.
pub async fn import(engine: &Engine, bank: &BankId, input: ImportFiles) -> Result<OperationId> {
    let _ = (engine, bank, input);
    Err(fault("unexpected_error").into())
}

/// documents
///
/// # Errors
/// See the table.
pub async fn documents(engine: &Engine, bank: &BankId) -> Result<Vec<DocumentRow>> {
    let _ = (engine, bank);
    Err(fault("unexpected_error").into())
}

/// recall
///
/// # Errors
/// See the table.
pub async fn recall(engine: &Engine, bank: &BankId, input: RecallInput) -> Result<RecallView> {
    let _ = (engine, bank, input);
    Err(fault("unexpected_error").into())
}
