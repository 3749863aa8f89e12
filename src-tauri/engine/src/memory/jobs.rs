//! Queued work on memories: retaining texts, importing files, filling in vectors. What an operation
//! needs is in its payload and in the file, so that it can be taken up after a kill.

use super::extract::{self, Reader};
use super::keep;
use super::retain::{self, How, Source, Told};
use super::{curate, import};
use crate::handle::{read_bank, write_bank};
use crate::llm_log::{self, CallContext};
use crate::ops::{Handled, Running};
use crate::report::fault;
use crate::view::memory::{ImportFiles, ImportResult, RetainText};
use crate::view::operation::Progress;
use crate::{Engine, Result};
use domain::bank::{BankSettings, ExtractionMode};
use domain::{BankId, DocumentId, FieldFault, OperationId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use store::operations::{self, HeldReason, NewOperation, Operation, OperationType};
use store::{MemoryKey, documents, memories};

/// Memories of one step of filling in vectors.
const BACKFILL: u32 = 32;

/// What a retain needs beside its document.
#[derive(Debug, Serialize, Deserialize)]
struct RetainPayload {
    document: DocumentId,
    /// For the list of operations.
    title: String,
    mode: ExtractionMode,
    /// The text, where the bank keeps none with its documents.
    #[serde(default)]
    text: Option<String>,
}

/// What an import needs.
#[derive(Debug, Serialize, Deserialize)]
struct ImportPayload {
    title: String,
    mode: ExtractionMode,
    files: ImportFiles,
}

/// Whether a queued retain or import has its texts read by a language model.
pub(crate) fn needs_llm(operation: &Operation) -> bool {
    #[derive(Deserialize)]
    struct Read {
        mode: ExtractionMode,
    }
    // What cannot be read fails with its own reason when it runs.
    payload(operation).is_ok_and(|read: Read| read.mode != ExtractionMode::Chunks)
}

/// Runs a queued operation on memories.
///
/// # Errors
/// See the table.
pub(crate) async fn run(running: &Running) -> Result<Handled> {
    running.check()?;
    let context = CallContext {
        bank: Some(running.bank.clone()),
        operation: "retain".to_owned(),
        operation_id: Some(running.operation.id.clone()),
        run_id: None,
        prompt: extract::prompt(),
    };
    match running.operation.kind {
        OperationType::Retain => {
            let kept = llm_log::within(context, run_retain(running)).await;
            fold_what_came(running, kept).await
        }
        OperationType::Import => {
            let kept = llm_log::within(context, run_import(running)).await;
            fold_what_came(running, kept).await
        }
        OperationType::EmbedBackfill => run_backfill(running).await,
        _ => Err(fault("unexpected_error").into()),
    }
}

/// Queues the folding of what was stored, however the rest of the work ended: what is there is there.
async fn fold_what_came(running: &Running, kept: Result<Handled>) -> Result<Handled> {
    let (writer, now, id) =
        (running.engine.clone(), running.engine.now(), running.operation.document.clone());
    let queued = write_bank(&running.engine, &running.bank, "fold_what_came", move |tx, key| {
        let tags = match id {
            Some(id) => documents::find(tx, key, &id)?.map(|document| document.tags),
            None => None,
        };
        super::consolidate::after_write(tx, &writer, key, &tags.unwrap_or_default(), now)
    })
    .await;
    match (kept, queued) {
        (Ok(kept), Ok(true)) => {
            crate::ops::wake(&running.engine);
            Ok(kept)
        }
        (Ok(_), Err(error)) => Err(error),
        (kept, _) => kept,
    }
}

/// Stores a text as a document and queues its reading.
///
/// # Errors
/// `bank_not_found`, `invalid_request` on a text without a letter or digit.
pub(super) async fn submit_retain(
    engine: &Engine,
    bank: &BankId,
    input: RetainText,
) -> Result<OperationId> {
    if !keep::says_something(&input.text) {
        return Err(fault("invalid_request").fields(vec![FieldFault::blank("text")]).into());
    }
    let settings = settings(engine, bank).await?;
    let (mode, held) = mode(engine, &settings, input.mode).await?;
    let blank = |text: Option<String>| {
        text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let source = Source {
        id: input.document_id.unwrap_or_else(|| DocumentId(engine.new_id())),
        title: blank(input.title).or_else(|| first_line(&input.text)),
        mime: Some("text/plain".to_owned()),
        path: None,
        text: input.text,
        context: blank(input.context),
        metadata: BTreeMap::new(),
        tags: curate::tag_names(&input.tags),
        written_at: Some(input.timestamp.unwrap_or_else(|| engine.now())),
    };
    let id = OperationId(engine.new_id());
    let payload = RetainPayload {
        document: source.id.clone(),
        title: source.title.clone().unwrap_or_else(|| source.id.0.clone()),
        mode,
        text: (!settings.store_document_text).then(|| source.text.clone()),
    };
    let operation = NewOperation {
        document: Some(source.id.clone()),
        held,
        ..NewOperation::asked(id.clone(), OperationType::Retain, json(&payload)?)
    };
    let now = engine.now();
    write_bank(engine, bank, "submit_retain", move |tx, key| {
        retain::put_document(tx, key, &source, &settings, now)?;
        operations::submit(tx, key, &operation, now)
    })
    .await?;
    crate::ops::wake(engine);
    Ok(id)
}

/// The first words of a text, as its title.
fn first_line(text: &str) -> Option<String> {
    let line =
        text.lines().map(|line| line.trim_start_matches('#').trim()).find(|l| !l.is_empty())?;
    let mut title: String = line.chars().take(80).collect();
    if title.len() < line.len() {
        title = title.trim_end().to_owned() + "…";
    }
    Some(title)
}

/// Queues an import.
///
/// # Errors
/// `bank_not_found`, `invalid_request` without a path.
pub(super) async fn submit_import(
    engine: &Engine,
    bank: &BankId,
    input: ImportFiles,
) -> Result<OperationId> {
    let first = input
        .paths
        .first()
        .ok_or_else(|| fault("invalid_request").fields(vec![FieldFault::blank("paths")]))?;
    let name = std::path::Path::new(first)
        .file_name()
        .map_or_else(|| first.clone(), |name| name.to_string_lossy().into_owned());
    let settings = settings(engine, bank).await?;
    let (mode, held) = mode(engine, &settings, input.mode).await?;
    let id = OperationId(engine.new_id());
    let payload = ImportPayload { title: name, mode, files: input };
    let operation = NewOperation {
        held,
        ..NewOperation::asked(id.clone(), OperationType::Import, json(&payload)?)
    };
    crate::ops::submit(engine, bank, operation).await?;
    Ok(id)
}

async fn settings(engine: &Engine, bank: &BankId) -> Result<BankSettings> {
    read_bank(engine, bank, |tx, key| crate::settings::of_bank(tx, &store::banks::by_key(tx, key)?))
        .await
}

/// How texts are read: as asked; else the bank's way with a language model, chunk by chunk without.
/// What insists on a model waits until there is one.
async fn mode(
    engine: &Engine,
    settings: &BankSettings,
    asked: Option<crate::view::memory::ExtractionMode>,
) -> Result<(ExtractionMode, Option<HeldReason>)> {
    use crate::view::memory::ExtractionMode as Asked;
    let has_model = match engine.provider().await {
        Ok(provider) => provider.is_some(),
        Err(error) if error.reason() == "llm_not_configured" => false,
        Err(error) => return Err(error),
    };
    let of_bank = settings.retain_extraction_mode;
    Ok(match asked {
        Some(Asked::Chunks) => (ExtractionMode::Chunks, None),
        Some(Asked::Concise) => {
            let held = (!has_model).then_some(HeldReason::LlmNotConfigured);
            let own =
                if of_bank == ExtractionMode::Chunks { ExtractionMode::Concise } else { of_bank };
            (own, held)
        }
        None if has_model => (of_bank, None),
        None => (ExtractionMode::Chunks, None),
    })
}

/// Who reads in a mode.
async fn how(engine: &Engine, settings: &BankSettings, mode: ExtractionMode) -> Result<How> {
    if mode == ExtractionMode::Chunks {
        return Ok(How::Chunks);
    }
    let chosen = engine.chosen().await?.ok_or_else(|| fault("llm_not_configured"))?;
    Ok(How::Read(Reader {
        provider: chosen.provider,
        far: !chosen.local,
        mode,
        mission: settings.retain_mission.clone(),
        custom: settings.retain_custom_instructions.clone(),
        causes: settings.retain_extract_causal_links,
    }))
}

fn payload<T: for<'a> Deserialize<'a>>(operation: &Operation) -> Result<T> {
    serde_json::from_value(operation.payload.clone())
        .map_err(|error| fault("unexpected_error").detail(error).into())
}

fn json(value: &impl Serialize) -> Result<serde_json::Value> {
    serde_json::to_value(value).map_err(|error| fault("unexpected_error").detail(error).into())
}

async fn run_retain(running: &Running) -> Result<Handled> {
    let given: RetainPayload = payload(&running.operation)?;
    let settings = settings(&running.engine, &running.bank).await?;
    let how = how(&running.engine, &settings, given.mode).await?;
    let (id, text) = (given.document, given.text);
    let source = read_bank(&running.engine, &running.bank, move |tx, key| {
        let document = documents::get(tx, key, &id)?;
        let text = match text {
            Some(text) => text,
            None => documents::text(tx, document.key)?.unwrap_or_default(),
        };
        Ok(Source {
            id: document.id,
            title: document.title,
            mime: document.mime,
            path: document.source_path,
            text,
            context: document.context,
            metadata: document.metadata,
            tags: document.tags,
            written_at: document.event_at,
        })
    })
    .await?;
    let told = Told { running, before: 0, total: None, stored: 0, what: given.title };
    let kept = retain::read_document(running, &settings, &source, &how, &told).await?;
    let result = ImportResult {
        documents: 1,
        facts: kept.facts,
        kept_here: u32::from(kept.kept_here),
        skipped: Vec::new(),
    };
    let failed = (kept.failed > 0).then(|| {
        let report = fault("llm_output_invalid").with("llm", "The model").report();
        let message =
            format!("{} of the passages could not be read. {}", kept.failed, report.message);
        (report.reason, message)
    });
    Ok(Handled { result: Some(json(&result)?), failed, ..Handled::default() })
}

async fn run_import(running: &Running) -> Result<Handled> {
    let given: ImportPayload = payload(&running.operation)?;
    let settings = settings(&running.engine, &running.bank).await?;
    let how = how(&running.engine, &settings, given.mode).await?;
    let result = import::run(running, &settings, &how, given.files).await?;
    Ok(Handled { result: Some(json(&result)?), ..Handled::default() })
}

/// Fills in missing vectors, newest first; when none is missing, the bank's searches use them.
async fn run_backfill(running: &Running) -> Result<Handled> {
    let engine = &running.engine;
    let embedder = engine.inner.embedder_key;
    let mut done = 0u32;
    loop {
        running.check()?;
        let (rows, private) = read_bank(engine, &running.bank, move |tx, key| {
            let keys = memories::missing_vectors(tx, key, embedder, BACKFILL)?;
            let rows = memories::by_keys(tx, &keys)?;
            let sources = memories::sources(tx, &keys)?;
            let names = super::search::names(tx, keys.iter().copied(), &sources)?;
            let settings = crate::settings::of_bank(tx, &store::banks::by_key(tx, key)?)?;
            Ok(((rows, names), settings.local_only()))
        })
        .await?;
        let texts = texts(engine, rows, &private);
        if texts.is_empty() {
            break;
        }
        let (keys, bare): (Vec<MemoryKey>, Vec<String>) = texts.into_iter().unzip();
        let vectors = engine.embed_passages(&bare, &running.cancel).await?;
        done += u32::try_from(keys.len()).unwrap_or(0);
        write_bank(engine, &running.bank, "embed_backfill", move |tx, key| {
            let embedder = store::embedders::get(tx, embedder)?;
            for (memory, vector) in keys.iter().zip(&vectors) {
                match memories::put_vector(tx, &embedder, key, *memory, vector) {
                    // Taken out of use meanwhile.
                    Ok(()) | Err(store::Error::NotFound { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        })
        .await?;
        running.step_committed().await?;
        let progress = Progress {
            stage: "embedding".to_owned(),
            processed: Some(done),
            total: None,
            detail: None,
            stored: None,
        };
        running.progress(progress, false).await;
    }
    write_bank(engine, &running.bank, "set_embedder", move |tx, key| {
        store::banks::set_embedder(tx, key, Some(embedder))
    })
    .await?;
    Ok(Handled::default())
}

type Rows = (Vec<memories::Memory>, store::KeyMap<Vec<String>>);

/// The texts whose vectors are missing, without those that must stay on this machine.
fn texts(
    engine: &Engine,
    (rows, mut names): Rows,
    private: &domain::tags::TagSet,
) -> Vec<(MemoryKey, String)> {
    rows.into_iter()
        .filter(|memory| {
            let tags = domain::tags::TagSet::new(&memory.tags);
            engine.embedder().is_local() || !tags.overlaps(private)
        })
        .map(|memory| {
            let own = names.remove(&memory.key).unwrap_or_default();
            let (start, end) = (memory.occurred_start, memory.occurred_end);
            (memory.key, keep::embedded(&memory.text, start, end, &own))
        })
        .collect()
}
