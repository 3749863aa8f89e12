//! Answers a question from the bank in a loop of tool calls, with checked citations, or without a
//! language model by choosing statements. Writes nothing to the bank but the record of the run.

mod called;
pub(crate) mod caller;
mod closing;
mod expand;
pub(crate) mod extractive;
mod finish;
mod instructions;
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

pub(crate) use prepare::any_visible as any_model_visible;
pub(crate) use record::interrupted;

use crate::events::EventSink;
use crate::llm_log::{CallContext, within};
use crate::prompts::REFLECT_SYSTEM;
use crate::report::fault;
use crate::view::reflect::{ReflectInput, ReflectRow, ReflectRunView};
use crate::{Engine, Result};
use domain::directives::RunScope;
use domain::reflect::Budget;
use domain::tags::{TagSet, TagsMatch};
use domain::trace::RunEvent;
use domain::{BankId, FieldFault, RunId};
use request::{ExcludedModels, ReflectRequest};
use std::sync::Arc;

/// The language model in use and whether it runs on this machine.
pub(crate) struct Chosen {
    /// The model.
    pub(crate) provider: Arc<dyn llm::Provider>,
    /// Whether texts stay on this machine.
    pub(crate) local: bool,
}

/// The language model in use; none for extractive mode.
pub(crate) async fn provider(engine: &Engine) -> Result<Option<Chosen>> {
    match engine.provider().await? {
        Some(provider) => Ok(Some(Chosen { provider, local: engine.llm_is_local().await? })),
        None => Ok(None),
    }
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
    let id = RunId(engine.new_id());
    let request = read_input(&id, bank, &input)?;
    run::checked_schema(request.response_schema.as_ref())?;
    provider(engine).await?;
    let mut stored = record::begun(&id, &input, engine.now());
    record::put(engine, bank, &stored).await?;
    let cancel = engine.inner.runs.begin(id.clone());
    let context = CallContext {
        bank: Some(bank.clone()),
        operation: request.operation_label.to_owned(),
        run_id: Some(id.clone()),
        prompt: (REFLECT_SYSTEM.name.to_owned(), REFLECT_SYSTEM.hash()),
        ..CallContext::default()
    };
    let ended = within(context, Box::pin(run::run(engine, &request, sink, &cancel))).await;
    engine.inner.runs.end(&id);
    let report = record::end(&mut stored, &ended, engine.now());
    let put = record::put(engine, bank, &stored).await;
    let run_id = id.to_string();
    match (ended, put, report) {
        (Ok(_), Ok(()), _) => sink.emit(RunEvent::Finished { run_id }),
        (Ok(_), Err(error), _) => {
            let report = crate::report::Report::from(&error);
            sink.emit(failed(run_id, &report));
            return Err(error);
        }
        (Err(failure), _, report) => {
            let report = report.unwrap_or_else(|| crate::report::Report::from(&failure.error));
            if report.reason == "cancelled" {
                sink.emit(RunEvent::Cancelled { run_id });
            } else {
                sink.emit(failed(run_id, &report));
            }
            return Err(with_run(failure.error, id));
        }
    }
    record::get(engine, bank, &id).await
}

fn failed(run_id: String, report: &crate::report::Report) -> RunEvent {
    RunEvent::Failed {
        run_id,
        reason: report.reason.clone(),
        message: report.message.clone(),
        hint: report.hint.clone(),
    }
}

fn with_run(error: crate::Error, id: RunId) -> crate::Error {
    match error {
        crate::Error::Refused(fault) => crate::Error::Refused(Box::new(fault.run(id))),
        other => other,
    }
}

/// Checks a question as a whole: every fault is reported, not only the first.
fn read_input(id: &RunId, bank: &BankId, input: &ReflectInput) -> Result<ReflectRequest> {
    let mut faults: Vec<FieldFault> = Vec::new();
    let query: String = input.query.replace('\0', "").trim().to_owned();
    if query.is_empty() {
        faults.push(field_fault("query", "blank", "Must not be empty."));
    }
    if input.max_tokens == Some(0) {
        faults.push(field_fault("max_tokens", "out_of_range", "Must be at least 1."));
    }
    if input.fact_types.as_ref().is_some_and(Vec::is_empty) {
        let message = "Leave it out for all; an empty list would read nothing.";
        faults.push(field_fault("fact_types", "empty_list", message));
    }
    let tags = input.tags.as_deref().unwrap_or_default();
    if tags.iter().any(|tag| tag.trim().is_empty()) {
        faults.push(field_fault("tags", "blank", "Must not be empty."));
    }
    let word = input.tags_match.as_deref();
    let tags_match = word.map_or(Some(TagsMatch::Any), TagsMatch::from_word);
    if tags_match.is_none() {
        let message = "Must be one of any, all, any_strict, all_strict, exact.";
        faults.push(field_fault("tags_match", "enum", message));
    }
    if !faults.is_empty() {
        return Err(fault("invalid_request").fields(faults).into());
    }
    Ok(ReflectRequest {
        budget: input.budget.unwrap_or(Budget::Low),
        max_tokens: input.max_tokens.unwrap_or(4096),
        scope: RunScope {
            tags: TagSet::new(tags),
            tags_match: tags_match.unwrap_or(TagsMatch::Any),
            ..RunScope::default()
        },
        fact_types: input.fact_types.clone(),
        exclude_models: ExcludedModels { all: input.exclude_mental_models, ids: Vec::new() },
        response_schema: input.response_schema.clone().map(|schema| schema.0),
        ..ReflectRequest::question(id.clone(), bank.clone(), query)
    })
}

fn field_fault(field: &str, code: &str, message: &str) -> FieldFault {
    FieldFault::new(field, code, message)
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

/// A few questions that the bank can probably answer, for an empty screen: made from its entities
/// and models, without a language model.
///
/// # Errors
/// `bank_not_found`.
pub async fn sample_questions(engine: &Engine, bank: &BankId) -> Result<Vec<String>> {
    suggest::questions(engine, bank).await
}
