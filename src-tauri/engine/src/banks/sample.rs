//! The sample bank of the first run: an invented team over six weeks, with documents, facts,
//! observations, three models, and a change that waits for review. It is made by the same functions
//! that a person's own bank goes through; only its texts come from a file. Each step is noted, so
//! that a program that was closed meanwhile goes on where it stopped.

use super::settled;
use crate::handle::{read_bank, write_bank};
use crate::memory::consolidate::{self, Seed};
use crate::memory::keep::{self, Fact};
use crate::report::fault;
use crate::view::model::{ModelPatch, NewModel, ReviewMode};
use crate::{Engine, Result, models};
use chrono::NaiveDate;
use domain::{BankId, DocumentId, FactType, Instant, Json, MemoryId, ModelId, OperationId};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use store::documents::{self, DocumentFields};
use store::memories::{self, Origin};
use store::operations::OperationStatus;
use store::settings;
use store::tag_sets::TagSets;
use store::{BankKey, DocumentKey, ReadTx, WriteTx};
use tokio_util::sync::CancellationToken;

/// The texts.
const SAMPLE: &str = include_str!("sample.json");

/// Where the making of the sample bank stands: `{bank, step}`.
const MARK: &str = "sample_bank";

#[derive(Deserialize)]
struct Sample {
    bank: SampleBank,
    /// What a fact without a document is about, by its tag: the label that search reads with it.
    contexts: BTreeMap<String, String>,
    documents: Vec<SampleDocument>,
    facts: Vec<SampleFact>,
    later: Later,
    observations: Vec<SampleObservation>,
    models: Vec<SampleModel>,
}

#[derive(Deserialize)]
struct SampleBank {
    id: BankId,
    name: String,
}

#[derive(Deserialize)]
struct SampleDocument {
    id: DocumentId,
    title: String,
    at: Instant,
    tags: BTreeSet<String>,
}

#[derive(Deserialize)]
struct SampleFact {
    key: String,
    text: String,
    at: NaiveDate,
    #[serde(default)]
    doc: Option<DocumentId>,
    #[serde(default)]
    tags: BTreeSet<String>,
    #[serde(default)]
    entities: Vec<String>,
    #[serde(default, rename = "type")]
    fact_type: Option<FactType>,
}

#[derive(Deserialize)]
struct SampleObservation {
    text: String,
    from: Vec<String>,
    #[serde(default)]
    tags: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Later {
    facts: Vec<SampleFact>,
    invalidate: Vec<Invalidation>,
}

#[derive(Deserialize)]
struct Invalidation {
    key: String,
    reason: String,
}

#[derive(Deserialize)]
struct SampleModel {
    id: ModelId,
    name: String,
    query: String,
    tags: Vec<String>,
    review: ReviewMode,
    mode: String,
    refresh_later: bool,
}

/// Steps in order; each is done when the mark names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    /// The bank is there, empty.
    Begun = 1,
    /// Documents, facts and observations are.
    Memories = 2,
    /// The models have their first version.
    Models = 3,
    /// What was learnt afterwards is.
    Later = 4,
    /// A change waits for review; nothing is left to do.
    Done = 5,
}

impl Step {
    fn from_number(n: u64) -> Option<Self> {
        [Self::Begun, Self::Memories, Self::Models, Self::Later, Self::Done]
            .into_iter()
            .find(|step| *step as u64 == n)
    }
}

fn mark(tx: &ReadTx<'_>) -> store::Result<Option<(BankId, Step)>> {
    let Some(value) = settings::get(tx, MARK)? else { return Ok(None) };
    let bank = value.get("bank").and_then(Value::as_str).map(BankId::from);
    let step = value.get("step").and_then(Value::as_u64).and_then(Step::from_number);
    Ok(bank.zip(step))
}

/// Whether nothing is left to do for the sample bank.
pub(crate) fn is_complete(tx: &ReadTx<'_>) -> store::Result<bool> {
    Ok(mark(tx)?.is_none_or(|(_, step)| step == Step::Done))
}

fn set_mark(tx: &WriteTx<'_>, bank: &BankId, step: Step, now: Instant) -> store::Result<()> {
    settings::set(tx, MARK, &json!({"bank": bank, "step": step as u64}), now)
}

/// Makes the sample bank, or goes on making it. Does nothing where it was made before, has been
/// deleted, or where there was another bank first.
///
/// # Errors
/// Those of the embedder, the file and the first refreshes.
pub async fn make(engine: &Engine) -> Result<()> {
    let Some(mut step) = begin(engine).await? else { return Ok(()) };
    let sample = sample()?;
    let bank = sample.bank.id.clone();
    if step < Step::Memories {
        put_memories(engine, &sample).await?;
        step = Step::Memories;
    }
    if step < Step::Models {
        for model in &sample.models {
            build(engine, &bank, model).await?;
        }
        note(engine, &bank, Step::Models).await?;
        step = Step::Models;
    }
    if step < Step::Later {
        put_later(engine, &sample).await?;
        step = Step::Later;
    }
    if step < Step::Done {
        for model in sample.models.iter().filter(|model| model.refresh_later) {
            propose(engine, &bank, model).await?;
        }
        note(engine, &bank, Step::Done).await?;
    }
    Ok(())
}

fn sample() -> Result<Sample> {
    Ok(serde_json::from_str(SAMPLE).map_err(|error| fault("unexpected_error").detail(error))?)
}

/// Notes that the sample bank is not to be completed, when it is the one that goes.
pub(super) fn leave(tx: &WriteTx<'_>, bank: &BankId, now: Instant) -> store::Result<()> {
    match mark(tx)? {
        Some((of, step)) if of == *bank && step < Step::Done => set_mark(tx, bank, Step::Done, now),
        _ => Ok(()),
    }
}

/// Makes the bank where it is missing, whatever other banks there are.
///
/// # Errors
/// `id_taken` when there is a bank of this id that is not the sample.
pub(super) async fn again(engine: &Engine) -> Result<BankId> {
    let sample = sample()?;
    let (now, embedder) = (engine.now(), engine.inner.embedder_key);
    let (id, name) = (sample.bank.id.clone(), sample.bank.name);
    engine
        .store()
        .write("sample_begin", move |tx| {
            match store::banks::find_key(tx, &id)? {
                Some(key) if store::banks::by_key(tx, key)?.name == name => return Ok(()),
                // Refused by the next call.
                Some(_) | None => {}
            }
            store::banks::create(tx, &id, &name, Some(embedder), now)?;
            set_mark(tx, &id, Step::Begun, now)
        })
        .await?;
    Ok(sample.bank.id)
}

async fn note(engine: &Engine, bank: &BankId, step: Step) -> Result<()> {
    let (now, own) = (engine.now(), bank.clone());
    write_bank(engine, bank, "sample_step", move |tx, _| set_mark(tx, &own, step, now)).await
}

/// The last step done; makes the bank where there is none. None when there is nothing to do.
pub(super) async fn begin(engine: &Engine) -> Result<Option<Step>> {
    let sample = sample()?;
    let (now, embedder) = (engine.now(), engine.inner.embedder_key);
    let (known, none) =
        engine.store().read(|tx| Ok((mark(tx)?, store::banks::list(tx)?.is_empty()))).await?;
    match known {
        Some((bank, step)) if step < Step::Done => {
            let there = engine.store().read(move |tx| store::banks::find_key(tx, &bank)).await?;
            Ok(there.map(|_| step))
        }
        None if none => {
            let SampleBank { id, name } = sample.bank;
            engine
                .store()
                .write("sample_begin", move |tx| {
                    store::banks::create(tx, &id, &name, Some(embedder), now)?;
                    set_mark(tx, &id, Step::Begun, now)
                })
                .await?;
            Ok(Some(Step::Begun))
        }
        Some(_) | None => Ok(None),
    }
}

/// The same id for the same key in every making, so that observations and later steps find their
/// facts.
fn memory_id(key: &str, at: Instant) -> MemoryId {
    let hash = Sha256::digest(format!("sample {key}").as_bytes());
    let mut random = [0; 10];
    random.copy_from_slice(&hash[..10]);
    MemoryId(domain::id::uuid_v7(domain::time::to_millis(at), random))
}

/// Nine in the morning of a day, UTC.
fn moment(day: NaiveDate) -> Instant {
    (day.and_time(chrono::NaiveTime::MIN) + chrono::Duration::hours(9)).and_utc()
}

fn context(sample: &Sample, tags: &BTreeSet<String>) -> Option<String> {
    tags.iter().find_map(|tag| sample.contexts.get(tag)).cloned()
}

fn fact(all: &Sample, sample: &SampleFact, position: usize) -> Fact {
    let at = moment(sample.at);
    Fact {
        context: context(all, &sample.tags),
        fact_type: sample.fact_type.unwrap_or(FactType::World),
        tags: sample.tags.clone(),
        occurred_start: Some(at),
        occurred_end: Some(at),
        mentioned_at: Some(at),
        entities: sample.entities.clone(),
        position,
        ..Fact::new(memory_id(&sample.key, at), sample.text.clone(), Origin::Extracted)
    }
}

/// Documents and facts in one commit, their observations in the next.
async fn put_memories(engine: &Engine, sample: &Sample) -> Result<()> {
    let bank = &sample.bank.id;
    if !has_facts(engine, sample).await? {
        put_facts(engine, sample).await?;
    }
    let seeded = consolidate::seed(engine, bank, &observations(engine, sample)).await?;
    let (now, own) = (engine.now(), bank.clone());
    write_bank(engine, bank, "sample_observations", move |tx, key| {
        seeded.write(tx, key, now)?;
        set_mark(tx, &own, Step::Memories, now)
    })
    .await
}

/// Whether an earlier start got as far as the facts.
async fn has_facts(engine: &Engine, sample: &Sample) -> Result<bool> {
    let Some(first) = sample.facts.first() else { return Ok(true) };
    let id = memory_id(&first.key, moment(first.at));
    read_bank(engine, &sample.bank.id, move |tx, key| Ok(memories::find(tx, key, &id)?.is_some()))
        .await
}

async fn put_facts(engine: &Engine, sample: &Sample) -> Result<()> {
    let bank = &sample.bank.id;
    let now = engine.now();
    let facts: Vec<Fact> = sample
        .facts
        .iter()
        .enumerate()
        .map(|(at, one)| Fact { scopes: Some(scopes(sample, one)), ..fact(sample, one, at) })
        .collect();
    let places: Vec<Option<DocumentId>> =
        sample.facts.iter().map(|fact| fact.doc.clone()).collect();
    let texts = documents_of(sample);
    let prepared = keep::prepare(engine, bank, facts, &CancellationToken::new()).await?;
    let writer = engine.clone();
    write_bank(engine, bank, "sample_memories", move |tx, key| {
        let mut known: BTreeMap<DocumentId, DocumentKey> = BTreeMap::new();
        for (id, fields) in texts {
            let document = documents::upsert(tx, key, &id, &fields, now)?;
            known.insert(id, document);
        }
        let prepared = prepared
            .placed(|at| places.get(at).cloned().flatten().and_then(|id| known.get(&id).copied()));
        keep::write(tx, &writer, key, &prepared, now)?;
        Ok(())
    })
    .await
}

/// The scopes of a fact: its own tags, and those of the observations that it is folded into.
fn scopes(all: &Sample, fact: &SampleFact) -> Value {
    let into = all.observations.iter().filter(|one| one.from.contains(&fact.key));
    let mut scopes: Vec<&BTreeSet<String>> = vec![&fact.tags];
    for one in into {
        if !scopes.contains(&&one.tags) {
            scopes.push(&one.tags);
        }
    }
    json!(scopes)
}

/// The documents, whose texts are their facts, one below the other.
fn documents_of(sample: &Sample) -> Vec<(DocumentId, DocumentFields)> {
    sample
        .documents
        .iter()
        .map(|document| {
            let own = |fact: &&SampleFact| fact.doc.as_ref() == Some(&document.id);
            let lines: Vec<&str> = sample
                .facts
                .iter()
                .chain(&sample.later.facts)
                .filter(own)
                .map(|fact| fact.text.as_str())
                .collect();
            let text = lines.join("\n");
            let fields = DocumentFields {
                title: Some(document.title.clone()),
                mime: Some("text/plain".to_owned()),
                source_path: None,
                content_hash: Sha256::digest(text.as_bytes()).to_vec(),
                text: Some(text),
                context: None,
                metadata: BTreeMap::new(),
                tags: document.tags.clone(),
                event_at: Some(document.at),
                retain_params: json!({}),
            };
            (document.id.clone(), fields)
        })
        .collect()
}

/// The observations with the ids of their facts.
fn observations(engine: &Engine, sample: &Sample) -> Vec<Seed> {
    let dates: BTreeMap<&str, NaiveDate> =
        sample.facts.iter().map(|fact| (fact.key.as_str(), fact.at)).collect();
    sample
        .observations
        .iter()
        .map(|observation| {
            let known: Vec<(&String, Instant)> = observation
                .from
                .iter()
                .filter_map(|key| Some((key, moment(*dates.get(key.as_str())?))))
                .collect();
            let last = known.iter().map(|(_, at)| *at).max();
            Seed {
                id: memory_id(&observation.text, last.unwrap_or_else(|| engine.now())),
                scope: observation.tags.iter().cloned().collect(),
                text: observation.text.clone(),
                sources: known.into_iter().map(|(key, at)| memory_id(key, at)).collect(),
            }
        })
        .collect()
}

/// Makes a model, waits for its first document, and then gives the decision to whom it belongs.
async fn build(engine: &Engine, bank: &BankId, model: &SampleModel) -> Result<()> {
    let id = model.id.clone();
    let known = read_bank(engine, bank, move |tx, key| store::models::find(tx, key, &id)).await?;
    let operation = match known {
        None => {
            let new = NewModel {
                id: Some(model.id.0.clone()),
                name: model.name.clone(),
                source_query: model.query.clone(),
                tags: model.tags.clone(),
                max_tokens: None,
                trigger: Some(Json(json!({"mode": model.mode}))),
                review: Some(ReviewMode::Auto),
                content: None,
            };
            models::create(engine, bank, new).await?.operation
        }
        Some(known) if known.head.placeholder => {
            Some(models::refresh(engine, bank, &model.id, false).await?.operation)
        }
        Some(_) => None,
    };
    if let Some(operation) = operation {
        ended(engine, bank, &operation).await?;
    }
    let patch = ModelPatch { review: Some(model.review), ..ModelPatch::default() };
    models::update(engine, bank, &model.id, patch).await?;
    Ok(())
}

/// What was learnt after the documents were written.
async fn put_later(engine: &Engine, sample: &Sample) -> Result<()> {
    let bank = &sample.bank.id;
    let facts: Vec<Fact> =
        sample.later.facts.iter().enumerate().map(|(at, one)| fact(sample, one, at)).collect();
    let places: Vec<Option<DocumentId>> =
        sample.later.facts.iter().map(|fact| fact.doc.clone()).collect();
    let gone: Vec<(MemoryId, String)> = sample
        .later
        .invalidate
        .iter()
        .filter_map(|one| {
            let fact = sample.facts.iter().find(|fact| fact.key == one.key)?;
            Some((memory_id(&fact.key, moment(fact.at)), one.reason.clone()))
        })
        .collect();
    let prepared = keep::prepare(engine, bank, facts, &CancellationToken::new()).await?;
    let (now, writer, own) = (engine.now(), engine.clone(), bank.clone());
    write_bank(engine, bank, "sample_later", move |tx, key| {
        let document = |at: usize| -> Option<DocumentKey> {
            let id = places.get(at)?.as_ref()?;
            documents::find(tx, key, id).ok()?.map(|document| document.key)
        };
        let prepared = prepared.placed(document);
        let keys = keep::write(tx, &writer, key, &prepared, now)?;
        memories::mark_consolidated(tx, &keys, now)?;
        for (id, reason) in &gone {
            memories::invalidate(tx, key, id, reason, now)?;
        }
        settle_facts(tx, key, now)?;
        set_mark(tx, &own, Step::Later, now)
    })
    .await
}

/// Nothing of the sample waits to be folded: its observations came with it.
fn settle_facts(tx: &WriteTx<'_>, bank: BankKey, now: Instant) -> store::Result<()> {
    let waiting = memories::pending_keys(tx, bank, &TagSets::All, 1_000)?;
    memories::mark_consolidated(tx, &waiting, now)
}

/// Refreshes a model so that a proposal waits.
async fn propose(engine: &Engine, bank: &BankId, model: &SampleModel) -> Result<()> {
    let id = model.id.clone();
    let waits = read_bank(engine, bank, move |tx, key| {
        Ok(store::models::head(tx, key, &id)?.open_proposal.is_some())
    })
    .await?;
    if !waits {
        let submitted = models::refresh(engine, bank, &model.id, false).await?;
        ended(engine, bank, &submitted.operation).await?;
    }
    Ok(())
}

/// Waits for the end of a refresh, which must be a good one: otherwise the step is not done, and the
/// next start tries it again.
async fn ended(engine: &Engine, bank: &BankId, operation: &OperationId) -> Result<()> {
    match settled(engine, bank, operation).await? {
        OperationStatus::Completed => Ok(()),
        status => Err(fault("unexpected_error").detail(status.word()).into()),
    }
}
