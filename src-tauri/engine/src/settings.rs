//! Program-wide settings that are not about language models.

use crate::report::fault;
use crate::view::app::{AppStatus, DataFolder};
use crate::view::settings::Look;
use crate::{Engine, Result};
use domain::BankId;
use domain::bank::{BankSettings, StatedSettings};
use store::ReadTx;
use store::banks::Bank;

/// Setting under which the program's own values of bank settings stand.
const BANK_SETTINGS: &str = "bank_settings";

/// The effective settings of a bank: defaults, then the program's, then its own.
pub(crate) fn of_bank(tx: &ReadTx<'_>, bank: &Bank) -> store::Result<BankSettings> {
    let program = store::settings::get(tx, BANK_SETTINGS)?.unwrap_or_default();
    Ok(BankSettings::resolve(
        &StatedSettings::from_stored(&program),
        &StatedSettings::from_stored(&bank.config),
    ))
}

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
