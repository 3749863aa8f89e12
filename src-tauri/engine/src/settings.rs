//! Program-wide settings that are not about language models.

use crate::report::fault;
use crate::view::app::{AppStatus, DataFolder};
use crate::view::settings::Look;
use crate::{Engine, Result};
use domain::BankId;

/// status
///
/// # Errors
/// See the table.
pub async fn status(engine: &Engine) -> Result<AppStatus> {
    let _ = (engine,);
    Err(fault("unexpected_error").into())
}

/// look
///
/// # Errors
/// See the table.
pub async fn look(engine: &Engine) -> Result<Look> {
    let _ = (engine,);
    Err(fault("unexpected_error").into())
}

/// set_look
///
/// # Errors
/// See the table.
pub async fn set_look(engine: &Engine, look: Look) -> Result<Look> {
    let _ = (engine, look);
    Err(fault("unexpected_error").into())
}

/// open_bank
///
/// # Errors
/// See the table.
pub async fn open_bank(engine: &Engine, bank: &BankId) -> Result<()> {
    let _ = (engine, bank);
    Err(fault("unexpected_error").into())
}

/// finish_first_run
///
/// # Errors
/// See the table.
pub async fn finish_first_run(engine: &Engine) -> Result<()> {
    let _ = (engine,);
    Err(fault("unexpected_error").into())
}

/// data_folder
///
/// # Errors
/// See the table.
pub async fn data_folder(engine: &Engine) -> Result<DataFolder> {
    let _ = (engine,);
    Err(fault("unexpected_error").into())
}
