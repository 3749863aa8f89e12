//! Finds things by a few words for the command palette.

use crate::report::fault;
use crate::view::app::PaletteHit;
use crate::{Engine, Result};
use domain::BankId;

/// search
///
/// # Errors
/// See the table.
pub async fn search(engine: &Engine, bank: &BankId, words: &str) -> Result<Vec<PaletteHit>> {
    let _ = (engine, bank, words);
    Err(fault("unexpected_error").into())
}
