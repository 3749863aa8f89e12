//! The queue of operations: list, cancel, retry, run, recover. What an operation does is written where its subject lives.

use crate::report::fault;
use crate::view::operation::OperationRow;
use crate::{Engine, Result};
use domain::{BankId, OperationId};

/// list
///
/// # Errors
/// See the table.
pub async fn list(engine: &Engine, bank: &BankId) -> Result<Vec<OperationRow>> {
    let _ = (engine, bank);
    Err(fault("unexpected_error").into())
}

/// cancel
///
/// # Errors
/// See the table.
pub async fn cancel(engine: &Engine, bank: &BankId, id: &OperationId) -> Result<OperationRow> {
    let _ = (engine, bank, id);
    Err(fault("unexpected_error").into())
}

/// retry
///
/// # Errors
/// See the table.
pub async fn retry(engine: &Engine, bank: &BankId, id: &OperationId) -> Result<OperationRow> {
    let _ = (engine, bank, id);
    Err(fault("unexpected_error").into())
}
