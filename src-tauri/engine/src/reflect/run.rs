//! One run from a question to an answer, for whoever asks: a person or a refresh. Decides between
//! the loop with a language model and extractive mode, keeps the time, and hands back what was done
//! also when there is no answer. Writes nothing; the record is the caller's affair.

use super::called::first_trace;
use super::caller::Caller;
use super::found::Kept;
use super::prepare::prepare;
use super::request::{ReflectOutcome, ReflectRequest, RunFailure};
use super::tools::Toolbox;
use super::turns::{Ended, Run};
use super::{Chosen, extractive, structured};
use crate::events::EventSink;
use crate::report::fault;
use crate::{Engine, Error, Result};
use domain::RunId;
use domain::reflect::{StructuredOutputError, StructuredOutputErrorKind};
use domain::schema::{CheckedSchema, check_response_schema};
use domain::trace::{ClosedBy, RunEvent, Trace};
use serde_json::Value;
use std::sync::Arc;
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
    let chosen = super::provider(engine).await.map_err(early)?;
    run_from(engine, request, chosen, None, sink, cancel).await
}

/// The same, going on from what a failed run had gathered where all of it may still be shown.
///
/// # Errors
/// As [`run`].
pub(super) async fn run_from(
    engine: &Engine,
    request: &ReflectRequest,
    chosen: Option<Chosen>,
    kept: Option<Kept>,
    sink: &mut dyn EventSink,
    cancel: &CancellationToken,
) -> Result<ReflectOutcome, RunFailure> {
    let schema = checked_schema(request.response_schema.as_ref()).map_err(early)?;
    let far = chosen.as_ref().is_some_and(|chosen| !chosen.local);
    let prepared = prepare(engine, request, far).await.map_err(early)?;
    let mut trace = first_trace(request, &prepared);
    let toolbox = Toolbox {
        engine: engine.clone(),
        request: Arc::new(request.clone()),
        prepared: Arc::new(prepared.clone()),
        cancel: cancel.clone(),
    };
    let kept = match kept.filter(|_| chosen.is_some()) {
        Some(kept) if kept.found.still_fits(&toolbox).await.map_err(early)? => Some(kept),
        _ => None,
    };
    let found = kept.map(|kept| {
        trace = going_on(std::mem::take(&mut trace), kept.trace, &kept.run);
        kept.found
    });
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
    let run = Run::new(request, &prepared, caller, trace, toolbox, found).map_err(early)?;
    with_model(run, schema.as_ref(), wall(prepared.wall, chosen.local), cancel).await
}

// A failure before there was anything to keep.
fn early(error: Error) -> RunFailure {
    RunFailure { error, trace: Box::default(), text: None, material: None }
}

// The trace of a run that goes on where another one failed. What that one spent is its own.
fn going_on(fresh: Trace, earlier: Trace, from: &RunId) -> Trace {
    Trace {
        tool_calls: earlier.tool_calls,
        iterations: earlier.iterations,
        released_at: earlier.released_at,
        closed_by: earlier.closed_by,
        observations_accessed: earlier.observations_accessed,
        warnings: earlier.warnings,
        continued_from: Some(from.to_string()),
        ..fresh
    }
}

// The limit of a whole run. A model on this machine is slow, so more time holds there unless the
// bank or the program states a limit.
fn wall(stated: Option<u32>, local: bool) -> Duration {
    let plain = if local { LOCAL_WALL_SECONDS } else { WALL_SECONDS };
    Duration::from_secs(stated.unwrap_or(plain).into())
}

/// Limit of a run, in seconds.
const WALL_SECONDS: u32 = 300;
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
    let clock = run.engine.clock();
    let started = clock.ticks_ms();
    // Stopping drops whatever is under way at once; the run itself stays, with its trace.
    let answered = tokio::select! {
        biased;
        () = cancel.cancelled() => Err(fault("cancelled").into()),
        answered = Box::pin(answer(&mut run)) => answered,
        () = clock.sleep(limit) => Err(fault("timeout").with("seconds", limit.as_secs()).into()),
    };
    let mut outcome = match answered {
        Ok(outcome) => outcome,
        Err(error) => {
            let material = run.found.kept_after(&error);
            let trace = Box::new(partial(&mut run));
            return Err(RunFailure { error, trace, text: None, material });
        }
    };
    if let Some(schema) = schema {
        let spent = Duration::from_millis(clock.ticks_ms().saturating_sub(started));
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
                    material: None,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_on_this_machine_has_half_an_hour_unless_a_limit_is_stated() {
        assert_eq!(wall(None, false).as_secs(), 300);
        assert_eq!(wall(None, true).as_secs(), 1800);
        assert_eq!(wall(Some(300), true).as_secs(), 300);
        assert_eq!(wall(Some(40), false).as_secs(), 40);
    }
}
