//! Answers a question from the bank in a loop of tool calls, with checked citations, or without a
//! language model by choosing statements. Writes nothing to the bank but the record of the run.

mod called;
pub(crate) mod caller;
mod closing;
pub mod directives;
mod estimate;
mod expand;
pub(crate) mod extractive;
mod finish;
mod found;
mod input;
mod instructions;
mod obey;
mod observed;
mod prepare;
mod record;
pub(crate) mod request;
pub(crate) mod run;
mod show;
pub(crate) mod structured;
mod suggest;
mod tools;
mod turns;

pub(crate) use crate::endpoints::Chosen;
pub(crate) use prepare::any_visible as any_model_visible;
pub(crate) use record::interrupted;

use crate::events::EventSink;
use crate::llm_log::{CallContext, within};
use crate::prompts::REFLECT_SYSTEM;
use crate::report::{Report, fault_of};
use crate::view::reflect::{ReflectEstimate, ReflectInput, ReflectRow, ReflectRunView};
use crate::{Engine, Result};
use domain::trace::RunEvent;
use domain::{BankId, RunId};

/// The language model in use; none for extractive mode.
pub(crate) async fn provider(engine: &Engine) -> Result<Option<Chosen>> {
    engine.chosen().await
}

/// Asks a question and waits for the answer; the run is recorded whatever its end. Events go to
/// `sink` in order; the last is exactly one of finished, failed, cancelled.
///
/// # Errors
/// Before the run exists: `invalid_request` with its fields, `invalid_schema`, `no_types`,
/// `bank_not_found`, `llm_not_configured`. Afterwards every reason of a run that must not pretend;
/// the report then names the run, whose record holds the trace.
pub async fn ask(
    engine: &Engine,
    bank: &BankId,
    input: ReflectInput,
    sink: &mut dyn EventSink,
) -> Result<ReflectRunView> {
    start(engine, bank, input, None, sink).await
}

/// Asks the question of a run that has ended once more. One that failed on the provider or the clock
/// goes on from what it had found, unless some of that may no longer be shown; any other begins
/// anew. A new run with its own record either way.
///
/// # Errors
/// `run_not_found`, `not_finished`; then as [`ask`].
pub async fn retry(
    engine: &Engine,
    bank: &BankId,
    run: &RunId,
    sink: &mut dyn EventSink,
) -> Result<ReflectRunView> {
    let (input, kept) = record::kept(engine, bank, run).await?;
    start(engine, bank, input, kept, sink).await
}

async fn start(
    engine: &Engine,
    bank: &BankId,
    input: ReflectInput,
    kept: Option<found::Kept>,
    sink: &mut dyn EventSink,
) -> Result<ReflectRunView> {
    let id = RunId(engine.new_id());
    let request = input::read(&id, bank, &input)?;
    run::checked_schema(request.response_schema.as_ref())?;
    let chosen = provider(engine).await?;
    let begun = record::begun(&id, &input, engine.now());
    let mut stored = record::put(engine, bank, begun).await?;
    // Held until the record is written: closing the program waits for that.
    let running = engine.inner.runs.note(id.clone());
    let context = CallContext {
        bank: Some(bank.clone()),
        operation: request.operation_label.to_owned(),
        run_id: Some(id.clone()),
        prompt: (REFLECT_SYSTEM.name.to_owned(), REFLECT_SYSTEM.hash()),
        ..CallContext::default()
    };
    let work = Box::pin(run::run_from(engine, &request, chosen, kept, sink, &running.token));
    let ended = within(context, work).await;
    let run_id = id.to_string();
    let report = record::end(&mut stored, &ended, engine.now());
    let failure = match ended {
        Err(failure) => failure,
        Ok(_) => {
            let put = record::put_answer(engine, bank, stored).await;
            sink.emit(match &put {
                Ok(_) => RunEvent::Finished { run_id },
                Err(error) => failed(run_id, &Report::from(error)),
            });
            return put;
        }
    };
    if let Err(error) = record::put(engine, bank, stored).await {
        tracing::warn!(%error, "the record of a failed question was not written");
    }
    let report = report.unwrap_or_else(|| Report::from(&failure.error));
    sink.emit(if report.reason == "cancelled" {
        RunEvent::Cancelled { run_id }
    } else {
        failed(run_id, &report)
    });
    Err(with_run(&failure.error, id))
}

fn failed(run_id: String, report: &Report) -> RunEvent {
    RunEvent::Failed {
        run_id,
        reason: report.reason.clone(),
        message: report.message.clone(),
        hint: report.hint.clone(),
    }
}

fn with_run(error: &crate::Error, id: RunId) -> crate::Error {
    crate::Error::Refused(Box::new(fault_of(error).run(id)))
}

/// Stops a run: its request is dropped at once and its record ends as cancelled. A run that has
/// ended is left as it is.
///
/// # Errors
/// None today; the signature leaves room.
pub async fn cancel(engine: &Engine, run: &RunId) -> Result<()> {
    engine.inner.runs.cancel(run);
    Ok(())
}

/// The newest questions of a bank.
///
/// # Errors
/// `bank_not_found`.
pub async fn runs(engine: &Engine, bank: &BankId) -> Result<Vec<ReflectRow>> {
    record::list(engine, bank).await
}

/// One question with its answer and trace.
///
/// # Errors
/// `bank_not_found`, `run_not_found`.
pub async fn get_run(engine: &Engine, bank: &BankId, run: &RunId) -> Result<ReflectRunView> {
    record::get(engine, bank, run).await
}

/// What a question will probably take, without asking it. A blank question is taken for a short one;
/// with `before`, only questions asked before that run are judged by.
///
/// # Errors
/// `invalid_request`, `bank_not_found`, `llm_not_configured`.
pub async fn estimate(
    engine: &Engine,
    bank: &BankId,
    mut input: ReflectInput,
    before: Option<RunId>,
) -> Result<ReflectEstimate> {
    if input.query.trim().is_empty() {
        "?".clone_into(&mut input.query);
    }
    let request = input::read(&RunId(engine.new_id()), bank, &input)?;
    estimate::of(engine, &request, before).await
}

/// A few questions that the bank can probably answer, for an empty screen: made from its entities
/// and models, without a language model.
///
/// # Errors
/// `bank_not_found`.
pub async fn sample_questions(engine: &Engine, bank: &BankId) -> Result<Vec<String>> {
    suggest::questions(engine, bank).await
}
