//! One run from a question to an answer, for whoever asks: a person or a refresh. Decides between
//! the loop with a language model and extractive mode, keeps the time, and hands back what was done
//! also when there is no answer. Writes nothing; the record is the caller's affair.

use super::called::first_trace;
use super::caller::Caller;
use super::prepare::{Prepared, prepare};
use super::request::{ReflectOutcome, ReflectRequest, RunFailure};
use super::turns::{Ended, Run};
use super::{extractive, structured};
use crate::events::EventSink;
use crate::report::fault;
use crate::{Engine, Error, Result};
use domain::reflect::{StructuredOutputError, StructuredOutputErrorKind};
use domain::schema::{CheckedSchema, check_response_schema};
use domain::trace::{ClosedBy, RunEvent, Trace};
use serde_json::Value;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Runs a question. Events of the run go to `sink`, beginning with `run_started`; the last one
/// (`finished`, `failed`, `cancelled`) is sent by the caller, once its record is written.
///
/// # Errors
/// Every reason of a run that must not pretend, with the trace as far as it came.
pub(crate) async fn run(
    engine: &Engine,
    request: &ReflectRequest,
    sink: &mut dyn EventSink,
    cancel: &CancellationToken,
) -> Result<ReflectOutcome, RunFailure> {
    let early = |error: Error| RunFailure { error, trace: Box::default(), text: None };
    let schema = checked_schema(request.response_schema.as_ref()).map_err(early)?;
    let chosen = super::provider(engine).await.map_err(early)?;
    let far = chosen.as_ref().is_some_and(|chosen| !chosen.local);
    let prepared = prepare(engine, request, far).await.map_err(early)?;
    let trace = first_trace(request, &prepared);
    sink.emit(RunEvent::RunStarted {
        run_id: request.run.to_string(),
        forced_sequence: trace.forced_sequence.clone(),
        max_iterations: trace.max_iterations,
    });
    let Some(chosen) = chosen else {
        return extractive::answer::run(engine, request, &prepared, trace, sink, cancel).await;
    };
    let caller = Caller {
        engine,
        provider: chosen.provider,
        sink,
        cancel: cancel.clone(),
        urgency: request.urgency,
        calls: Vec::new(),
    };
    let run = Run::new(engine, request, &prepared, caller, trace).map_err(early)?;
    with_model(run, schema.as_ref(), wall(&prepared, chosen.local), cancel).await
}

fn wall(prepared: &Prepared, local: bool) -> Duration {
    let stated = prepared.settings.reflect_wall_timeout;
    let plain = domain::bank::BankSettings::default().reflect_wall_timeout;
    // A model on this machine is slow; its own limit holds unless the bank states one.
    let seconds = if local && stated == plain { LOCAL_WALL_SECONDS } else { stated };
    Duration::from_secs(seconds.into())
}

/// Limit of a run whose language model is on this machine, in seconds.
const LOCAL_WALL_SECONDS: u32 = 1800;

pub(super) fn checked_schema(schema: Option<&Value>) -> Result<Option<CheckedSchema>> {
    schema
        .map(|schema| {
            check_response_schema(schema).map_err(|faults| {
                fault("invalid_schema")
                    .fields(domain::schema::field_faults("response_schema", &faults))
                    .into()
            })
        })
        .transpose()
}

async fn with_model(
    mut run: Run<'_>,
    schema: Option<&CheckedSchema>,
    limit: Duration,
    cancel: &CancellationToken,
) -> Result<ReflectOutcome, RunFailure> {
    let started = run.engine.clock().ticks_ms();
    // Stopping drops whatever is under way at once; the run itself stays, with its trace.
    let answered = tokio::select! {
        biased;
        () = cancel.cancelled() => Err(fault("cancelled").into()),
        answered = tokio::time::timeout(limit, Box::pin(answer(&mut run))) => answered
            .unwrap_or_else(|_| Err(fault("timeout").with("seconds", limit.as_secs()).into())),
    };
    let mut outcome = match answered {
        Ok(outcome) => outcome,
        Err(error) => {
            return Err(RunFailure { error, trace: Box::new(partial(&mut run)), text: None });
        }
    };
    if let Some(schema) = schema {
        let spent = Duration::from_millis(run.engine.clock().ticks_ms().saturating_sub(started));
        let left = limit.saturating_sub(spent).min(structured::LIMIT);
        let extracted = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(fault("cancelled").into()),
            extracted =
                structured::extract(&mut run.caller, schema, &outcome.text, left) => extracted,
        };
        outcome.trace.llm_calls.append(&mut run.caller.calls);
        outcome.usage = outcome.trace.usage();
        match extracted {
            Ok(Ok(value)) => outcome.structured = value,
            Ok(Err(error)) => outcome.structured_error = Some(error),
            Err(error) => {
                return Err(RunFailure {
                    error,
                    trace: Box::new(outcome.trace),
                    text: Some(outcome.text),
                });
            }
        }
    }
    Ok(outcome)
}

async fn answer(run: &mut Run<'_>) -> Result<ReflectOutcome> {
    let draft = match run.turns().await? {
        Ended::Done(args) => {
            run.trace.closed_by = Some(ClosedBy::Done);
            run.draft(args)?
        }
        Ended::Close(by) => run.close(by).await?,
    };
    run.finish(draft).await
}

fn partial(run: &mut Run<'_>) -> Trace {
    let mut trace = std::mem::take(&mut run.trace);
    trace.llm_calls.append(&mut run.caller.calls);
    trace.warnings.append(&mut run.warnings);
    trace
}

/// Why extractive mode has no structured view.
pub(super) fn no_model() -> StructuredOutputError {
    StructuredOutputError {
        kind: StructuredOutputErrorKind::LlmNotConfigured,
        message: "Fields are filled in by a language model, and none is set up.".to_owned(),
    }
}
