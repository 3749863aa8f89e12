//! Answers a question from the bank in a loop of tool calls, with checked citations. Writes nothing to the bank but the record of the run.

pub(crate) mod extractive;
pub(crate) mod request;

use crate::events::EventSink;
use crate::report::fault;
use crate::view::reflect::{ReflectInput, ReflectRow, ReflectRunView};
use crate::{Engine, Result};
use domain::{BankId, RunId};

/// ask
///
/// # Errors
/// See the table.
pub async fn ask(
    engine: &Engine,
    bank: &BankId,
    input: ReflectInput,
    sink: &mut dyn EventSink,
) -> Result<ReflectRunView> {
    let _ = (engine, bank, input, sink);
    Err(fault("unexpected_error").into())
}

/// cancel
///
/// # Errors
/// See the table.
pub async fn cancel(engine: &Engine, run: &RunId) -> Result<()> {
    let _ = (engine, run);
    Err(fault("unexpected_error").into())
}

/// runs
///
/// # Errors
/// See the table.
pub async fn runs(engine: &Engine, bank: &BankId) -> Result<Vec<ReflectRow>> {
    let _ = (engine, bank);
    Err(fault("unexpected_error").into())
}

/// get_run
///
/// # Errors
/// See the table.
pub async fn get_run(engine: &Engine, bank: &BankId, run: &RunId) -> Result<ReflectRunView> {
    let _ = (engine, bank, run);
    Err(fault("unexpected_error").into())
}

/// sample_questions
///
/// # Errors
/// See the table.
pub async fn sample_questions(engine: &Engine, bank: &BankId) -> Result<Vec<String>> {
    let _ = (engine, bank);
    Err(fault("unexpected_error").into())
}
