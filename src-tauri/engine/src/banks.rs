//! Banks: make, list, and the sample bank of the first run.

use crate::report::fault;
use crate::view::bank::{BankRow, NewBank};
use crate::{Engine, Result};
use domain::BankId;

/// Id of the sample bank.
pub const SAMPLE_BANK: &str = "kestrel";

/// list
///
/// # Errors
/// See the table.
pub async fn list(engine: &Engine) -> Result<Vec<BankRow>> {
    let _ = (engine,);
    Err(fault("unexpected_error").into())
}

/// create
///
/// # Errors
/// See the table.
pub async fn create(engine: &Engine, input: NewBank) -> Result<BankRow> {
    let _ = (engine, input);
    Err(fault("unexpected_error").into())
}

/// delete
///
/// # Errors
/// See the table.
pub async fn delete(engine: &Engine, bank: &BankId) -> Result<()> {
    let _ = (engine, bank);
    Err(fault("unexpected_error").into())
}
