//! The record of a question: written when it begins and when it ends, however it ends, and read again
//! as screens show it.

use super::found::{Found, Kept};
use super::request::{Evidence, ReflectOutcome, RunFailure};
use crate::handle::{read_bank, write_bank};
use crate::report::Report;
use crate::view::model::{EvidenceItem, RunWarning};
use crate::view::reflect::{ReflectInput, ReflectRow, ReflectRunView, RunStatus};
use crate::{Engine, Result};
use domain::citations::{BasedOnDirective, BasedOnMemory, BasedOnModel, Basis, EvidenceSpan};
use domain::reflect::StructuredOutputError;
use domain::trace::{Trace, Usage, Warning};
use domain::{BankId, Instant, Json, RunId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::runs::{self, ReflectOrigin, ReflectRun, ReflectStatus};
use store::{BankKey, ReadTx, WriteTx};

/// Questions that a list shows.
const LISTED: u32 = 100;

/// What is stored under `based_on`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Stored {
    basis: Option<Basis>,
    used: StoredEvidence,
    retrieved: StoredEvidence,
    directives: Vec<BasedOnDirective>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct StoredEvidence {
    memories: Vec<BasedOnMemory>,
    mental_models: Vec<BasedOnModel>,
}

impl From<&Evidence> for StoredEvidence {
    fn from(evidence: &Evidence) -> Self {
        Self { memories: evidence.memories.clone(), mental_models: evidence.models.clone() }
    }
}

fn json_of<T: Serialize>(value: &T) -> Value {
    // Records are plain data; what could not be written would read as absent.
    serde_json::to_value(value).unwrap_or(Value::Null)
}

fn read<T: for<'de> Deserialize<'de> + Default>(value: Option<Value>) -> T {
    value.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
}

/// The record of a question that begins.
pub(super) fn begun(id: &RunId, input: &ReflectInput, at: Instant) -> ReflectRun {
    ReflectRun {
        id: id.clone(),
        query: input.query.clone(),
        request: json_of(input),
        status: ReflectStatus::Running,
        text: None,
        structured_output: None,
        structured_output_error: None,
        based_on: None,
        evidence_spans: None,
        trace: json_of(&Trace::default()),
        usage: json_of(&Usage::default()),
        warnings: json!([]),
        report: None,
        material: None,
        origin: ReflectOrigin::Window,
        pinned: false,
        started_at: at,
        finished_at: None,
    }
}

/// Moves a record to its end.
pub(super) fn end(
    record: &mut ReflectRun,
    ended: &Result<ReflectOutcome, RunFailure>,
    at: Instant,
) -> Option<Report> {
    record.finished_at = Some(at);
    match ended {
        Ok(outcome) => {
            record.status = ReflectStatus::Finished;
            record.text = Some(outcome.text.clone());
            record.structured_output.clone_from(&outcome.structured);
            record.structured_output_error = outcome.structured_error.as_ref().map(json_of);
            record.based_on = Some(json_of(&Stored {
                basis: Some(outcome.basis),
                used: (&outcome.used).into(),
                retrieved: (&outcome.retrieved).into(),
                directives: outcome.directives.clone(),
            }));
            record.evidence_spans = Some(json_of(&outcome.spans));
            record.trace = json_of(&outcome.trace);
            record.usage = json_of(&outcome.usage);
            record.warnings = json_of(&outcome.warnings);
            None
        }
        Err(failure) => {
            let mut report = Report::from(&failure.error);
            report.run = Some(crate::report::RunRef { id: record.id.clone() });
            record.status = if report.reason == "cancelled" {
                ReflectStatus::Cancelled
            } else {
                ReflectStatus::Failed
            };
            record.text.clone_from(&failure.text);
            record.material.clone_from(&failure.material);
            record.trace = json_of(&failure.trace);
            record.usage = json_of(&failure.trace.usage());
            record.warnings = json_of(&failure.trace.warnings);
            record.report = Some(json_of(&report));
            Some(report)
        }
    }
}

/// The question of a run, and what it kept for another try.
pub(super) async fn kept(
    engine: &Engine,
    bank: &BankId,
    id: &RunId,
) -> Result<(ReflectInput, Option<Kept>)> {
    let id = id.clone();
    let record = read_bank(engine, bank, move |tx, key| runs::get_reflect(tx, key, &id)).await?;
    if record.status == ReflectStatus::Running {
        return Err(crate::report::fault("not_finished").into());
    }
    let input = request_of(&record);
    // Material that cannot be read any more, after an update, is none.
    let found: Option<Found> =
        record.material.and_then(|material| serde_json::from_value(material).ok());
    let trace: Trace = read(Some(record.trace));
    Ok((input, found.map(|found| Kept { run: record.id, found, trace })))
}

fn request_of(record: &ReflectRun) -> ReflectInput {
    serde_json::from_value(record.request.clone())
        .unwrap_or_else(|_| ReflectInput { query: record.query.clone(), ..ReflectInput::default() })
}

/// Stores a record, and drops the oldest beyond the bank's limit once it has ended.
pub(super) async fn put(engine: &Engine, bank: &BankId, record: ReflectRun) -> Result<ReflectRun> {
    write_bank(engine, bank, "reflect_run", move |tx, key| {
        store_record(tx, key, &record)?;
        Ok(record)
    })
    .await
}

/// The same for an answered question, which is given back as screens show it.
pub(super) async fn put_answer(
    engine: &Engine,
    bank: &BankId,
    record: ReflectRun,
) -> Result<ReflectRunView> {
    write_bank(engine, bank, "reflect_run", move |tx, key| {
        store_record(tx, key, &record)?;
        shown(tx, key, record)
    })
    .await
}

fn store_record(tx: &WriteTx<'_>, key: BankKey, record: &ReflectRun) -> store::Result<()> {
    runs::put_reflect(tx, key, record)?;
    if record.finished_at.is_some() {
        let bank = store::banks::by_key(tx, key)?;
        let kept = crate::settings::of_bank(tx, &bank)?.reflect_history_max_entries;
        runs::trim_reflects(tx, key, kept)?;
    }
    Ok(())
}

/// The newest questions of a bank.
pub(super) async fn list(engine: &Engine, bank: &BankId) -> Result<Vec<ReflectRow>> {
    let rows = read_bank(engine, bank, |tx, key| runs::list_reflects(tx, key, LISTED)).await?;
    Ok(rows
        .into_iter()
        .map(|row| ReflectRow {
            id: row.id,
            query: row.query,
            status: status(row.status),
            started_at: row.started_at,
        })
        .collect())
}

/// One record as screens show it.
pub(super) async fn get(engine: &Engine, bank: &BankId, id: &RunId) -> Result<ReflectRunView> {
    let id = id.clone();
    read_bank(engine, bank, move |tx, key| {
        let record = runs::get_reflect(tx, key, &id)?;
        shown(tx, key, record)
    })
    .await
}

fn shown(tx: &ReadTx<'_>, key: BankKey, record: ReflectRun) -> store::Result<ReflectRunView> {
    let stored: Stored = read(record.based_on.clone());
    let ids: Vec<domain::MemoryId> = stored
        .used
        .memories
        .iter()
        .chain(&stored.retrieved.memories)
        .map(|memory| domain::MemoryId(memory.id.clone()))
        .collect();
    let known = store::memories::by_ids(tx, key, &ids)?;
    Ok(view(record, &stored, &known))
}

fn status(status: ReflectStatus) -> RunStatus {
    match status {
        ReflectStatus::Running => RunStatus::Running,
        ReflectStatus::Finished => RunStatus::Finished,
        ReflectStatus::Failed => RunStatus::Failed,
        ReflectStatus::Cancelled => RunStatus::Cancelled,
    }
}

fn view(record: ReflectRun, stored: &Stored, known: &[store::memories::Memory]) -> ReflectRunView {
    let request = request_of(&record);
    let can_go_on = record.material.is_some();
    let trace: Trace = read(Some(record.trace));
    let spans: Vec<EvidenceSpan> = read(record.evidence_spans);
    let warnings: Vec<Warning> = read(Some(record.warnings));
    let error: Option<StructuredOutputError> =
        record.structured_output_error.and_then(|value| serde_json::from_value(value).ok());
    let mut used = items(&stored.used, known);
    let unused: Vec<EvidenceItem> = items(&stored.retrieved, known)
        .into_iter()
        .filter(|item| !used.iter().any(|other| other.id == item.id && other.kind == item.kind))
        .collect();
    used.extend(stored.directives.iter().map(directive));
    ReflectRunView {
        id: record.id,
        request,
        can_go_on,
        status: status(record.status),
        text: record.text,
        extractive: trace.extractive.is_some(),
        confidence: trace.extractive.map(|extractive| extractive.state),
        confidence_score: trace.extractive.map(|extractive| extractive.confidence),
        based_on: used,
        unused,
        evidence_spans: spans,
        structured_output: record.structured_output.map(Json),
        structured_output_error: error.map(|error| RunWarning {
            code: json_of(&error.kind).as_str().unwrap_or_default().to_owned(),
            message: error.message,
        }),
        warnings: warnings
            .into_iter()
            .map(|warning| RunWarning { code: warning.code, message: warning.message })
            .collect(),
        trace,
        usage: read(Some(record.usage)),
        report: record.report.and_then(|report| serde_json::from_value(report).ok()),
        started_at: record.started_at,
        finished_at: record.finished_at,
    }
}

fn items(evidence: &StoredEvidence, known: &[store::memories::Memory]) -> Vec<EvidenceItem> {
    let memories = evidence.memories.iter().map(|memory| {
        let now = known.iter().find(|row| row.id.as_str() == memory.id);
        EvidenceItem {
            id: memory.id.clone(),
            text: plain(&memory.text),
            kind: memory.fact_type.word().to_owned(),
            context: memory.context.clone(),
            occurred_start: memory.occurred_start,
            mentioned_at: now.and_then(|row| row.mentioned_at),
            document: now.and_then(|row| {
                row.document_title.clone().or_else(|| Some(row.document_id.as_ref()?.to_string()))
            }),
            first_cited_version: None,
            gone: now.is_none_or(|row| row.state != store::memories::State::Valid),
        }
    });
    let models = evidence.mental_models.iter().map(|model| EvidenceItem {
        id: model.id.clone(),
        text: plain(&model.text),
        kind: "mental-models".to_owned(),
        context: Some(model.name.clone()),
        occurred_start: None,
        mentioned_at: None,
        document: None,
        first_cited_version: None,
        gone: false,
    });
    memories.chain(models).collect()
}

// Text of others without the characters that could move a cursor or turn a line round.
fn plain(text: &str) -> String {
    let hidden = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().filter(|c| !hidden(*c)).collect()
}

fn directive(directive: &BasedOnDirective) -> EvidenceItem {
    EvidenceItem {
        id: directive.id.clone(),
        text: directive.content.clone(),
        kind: "directives".to_owned(),
        context: Some(directive.name.clone()).filter(|name| !name.is_empty()),
        occurred_start: None,
        mentioned_at: None,
        document: None,
        first_cited_version: None,
        gone: false,
    }
}

/// The report of runs that a program left unfinished when it ended.
pub(crate) fn interrupted() -> Value {
    let fault = crate::report::fault("cancelled")
        .detail("The program ended while this question was being answered.");
    json_of(&fault.report())
}
