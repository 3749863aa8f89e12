//! Making, changing, editing, clearing and removing models. Each is one transaction; each
//! change of the text is a version, so that history has one shape.

use super::loaded::{Loaded, clocks, search_text, set_clocks, to_json};
use super::proposals::Successor;
use super::publish::{NewState, evidence_of, no_evidence, origins, publish, tokens};
use crate::handle::write_bank;
use crate::report::fault;
use crate::view::model::{
    CreatedModel, ModelDetail, ModelPatch, NewModel, ReviewMode, RunWarning, Submitted,
};
use crate::view::proposal::DuringReview;
use crate::{Engine, Error, Result, ops};
use domain::document::{Document, parse, reconcile};
use domain::model::{CreateDefaults, CreateModel, UpdateModel, read_create, read_update};
use domain::provenance::{Author, Provenance};
use domain::refresh::ClockEvent;
use domain::trigger::{FieldWarning, StatedTrigger, UnknownKeys};
use domain::{BankId, FieldFault, Instant, ModelId, OperationId};
use serde_json::{Map, Value, json};
use store::operations::{HeldReason, NewOperation, OperationStatus, OperationType};
use store::proposals::ProposalState;
use store::versions::{Actor, VersionCause};
use store::{BankKey, EmbedderKey, ModelKey, WriteTx, models};
use tokio_util::sync::CancellationToken;

/// What a bank presumes of a model that does not say it.
pub(super) async fn defaults(engine: &Engine, bank: &BankId) -> Result<CreateDefaults> {
    let id = bank.clone();
    let stated = engine.store().read(move |tx| {
        let Some(key) = store::banks::find_key(tx, &id)? else { return Ok(None) };
        let settings = crate::settings::of_bank(tx, &store::banks::by_key(tx, key)?)?;
        Ok(settings.review_default)
    });
    let plain = CreateDefaults::default();
    Ok(CreateDefaults { review: stated.await?.unwrap_or(plain.review), ..plain })
}

/// A request that was read, and what is worth telling about it.
pub(super) fn checked(input: &NewModel) -> Result<(CreateModel, Vec<FieldWarning>)> {
    checked_over(input, CreateDefaults::default(), &StatedTrigger::default())
}

/// The same with defaults of the caller's own; `base` lies under the stated trigger.
pub(super) fn checked_over(
    input: &NewModel,
    defaults: CreateDefaults,
    base: &StatedTrigger,
) -> Result<(CreateModel, Vec<FieldWarning>)> {
    let mut form = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            form.insert(key.to_owned(), value);
        }
    };
    put("id", input.id.clone().map(Value::from));
    put("name", Some(Value::from(input.name.as_str())));
    put("source_query", Some(Value::from(input.source_query.as_str())));
    put("tags", Some(json!(input.tags)));
    put("max_tokens", input.max_tokens.map(Value::from));
    put("trigger", input.trigger.clone().map(|trigger| trigger.0));
    put("review", input.review.map(|review| to_json(&review)));
    put("content", input.content.clone().map(Value::from));
    read_create(&Value::Object(form), defaults, base).map_err(refused)
}

fn refused(fields: Vec<FieldFault>) -> Error {
    fault("invalid_request").fields(fields).into()
}

/// The vector of a model's name and text.
pub(super) async fn vector(
    engine: &Engine,
    name: &str,
    content: &str,
    cancel: &CancellationToken,
) -> Result<(EmbedderKey, Vec<f32>)> {
    let text = search_text(name, content);
    let mut vectors = engine.embed_passages(&[text], cancel).await?;
    let vector = vectors.pop().ok_or_else(|| fault("no_embedder"))?;
    Ok((engine.inner.embedder_key, vector))
}

pub(super) async fn create(
    engine: &Engine,
    bank: &BankId,
    input: NewModel,
) -> Result<CreatedModel> {
    let defaults = defaults(engine, bank).await?;
    let (checked, _) = checked_over(&input, defaults, &StatedTrigger::default())?;
    if checked.content.is_none() {
        super::refresh::ensure_able(engine).await?;
    }
    let id = checked.id.clone().unwrap_or_else(|| fresh_id(engine));
    let content = checked.content.clone();
    let vector = vector(
        engine,
        &checked.name,
        content.as_deref().unwrap_or_default(),
        &CancellationToken::new(),
    )
    .await?;
    let operation = new_refresh(engine, &id, "create", false);
    let queued = content.is_none().then(|| operation.id.clone());
    let (now, bank, model) = (engine.now(), bank.clone(), id.clone());
    engine
        .store()
        .write("create_model", move |tx| {
            let key = match store::banks::find_key(tx, &bank)? {
                Some(key) => key,
                None => store::banks::create(tx, &bank, bank.as_str(), Some(vector.0), now)?,
            };
            insert(tx, key, &model, &checked, vector, VersionCause::Created, now)?;
            if checked.content.is_none() {
                store::operations::submit(tx, key, &operation, now)?;
            }
            Ok(())
        })
        .await?;
    ops::wake(engine);
    Ok(CreatedModel { id, operation: queued })
}

pub(super) fn fresh_id(engine: &Engine) -> ModelId {
    ModelId(format!("mm-{}", engine.new_id().replace('-', "")))
}

/// Makes the row of a model, with its first version if it has content: one that a person gave
/// (`Created`) or one that was read in (`Import`).
pub(super) fn insert(
    tx: &WriteTx<'_>,
    bank: BankKey,
    id: &ModelId,
    checked: &CreateModel,
    vector: (EmbedderKey, Vec<f32>),
    cause: VersionCause,
    now: Instant,
) -> store::Result<ModelKey> {
    let new = models::NewModel {
        id: id.clone(),
        name: checked.name.clone(),
        source_query: checked.source_query.clone(),
        tags: checked.tags.clone(),
        max_tokens: checked.max_tokens,
        trigger: checked.trigger.to_json(),
        review: match checked.review {
            domain::model::Review::Auto => models::Review::Auto,
            domain::model::Review::Manual => models::Review::Manual,
        },
        structure: to_json(&Document::default()),
    };
    let key = models::insert(tx, bank, &new, now)?;
    let Some(content) = &checked.content else {
        let embedder = store::embedders::get(tx, vector.0)?;
        models::put_vector(tx, &embedder, bank, key, &vector.1)?;
        return Ok(key);
    };
    let mut loaded = Loaded::of(models::by_key(tx, key)?);
    let document = parse(content);
    loaded.row.head.last_refreshed_at = Some(now);
    let written = Provenance::default().after_edit(&Document::default(), &document, 1);
    let state = NewState {
        evidence: no_evidence(&document, checked.max_tokens),
        provenance: if cause == VersionCause::Import { imported(written, 1) } else { written },
        settings: loaded.settings(),
        vector: Some(vector),
        ..by_hand(document, cause)
    };
    publish(tx, bank, loaded.row, state, 0, now)?;
    Ok(key)
}

/// Origins in which what a version wrote was read in: nobody here wrote it, and nothing is known of
/// what it rests on.
fn imported(mut origins: Provenance, version: u32) -> Provenance {
    for origin in origins.0.values_mut().filter(|origin| origin.version == version) {
        origin.author = Author::Import;
        origin.sources.clear();
    }
    origins
}

/// A state that was made here or read in, not by a run; evidence, origins, settings and vector are
/// filled in.
pub(super) fn by_hand(document: Document, cause: VersionCause) -> NewState {
    NewState {
        evidence: no_evidence(&document, 0),
        document,
        provenance: Provenance::default(),
        cause,
        actor: if cause == VersionCause::Import { Actor::Import } else { Actor::Person },
        operation: None,
        proposal: None,
        accepted_op_ids: None,
        note: None,
        trace: None,
        settings: Value::Null,
        restored: Vec::new(),
        vector: None,
    }
}

/// A refresh to queue. One waits for each model at most.
pub(super) fn new_refresh(
    engine: &Engine,
    model: &ModelId,
    cause: &str,
    full: bool,
) -> NewOperation {
    NewOperation {
        model: Some(model.clone()),
        dedupe_key: Some(format!("refresh:{model}")),
        triggered_by: vec![cause.to_owned()],
        forced_full: full,
        ..NewOperation::asked(
            OperationId(engine.new_id()),
            OperationType::RefreshMentalModel,
            json!({}),
        )
    }
}

pub(super) async fn refresh(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    full: bool,
    during: Option<DuringReview>,
) -> Result<Submitted> {
    let operation = new_refresh(engine, id, "manual_refresh", full);
    let (bank, id, now) = (bank.clone(), id.clone(), engine.now());
    let able = engine.clone();
    let (submitted, ceiling_reached) = engine
        .store()
        .write_as("submit_refresh", move |tx| {
            if able.means(tx)? == ops::Means::Nothing {
                return Err(Error::from(fault("llm_not_configured")));
            }
            let key = store::banks::key(tx, &bank)?;
            let model = models::head(tx, key, &id)?;
            let waiting = store::proposals::waiting(tx, model.key)?;
            // What the run would propose cannot be decided beside a text of the person's own.
            let by_file = model.review == models::Review::Manual
                && super::proposals::file_waits(tx, model.key)?;
            let in_review =
                by_file || waiting.is_some_and(|p| p.head.state == ProposalState::InReview);
            if in_review && during.is_none() {
                return Err(Error::from(fault("review_in_progress")));
            }
            let reached = ops::ceiling::reached(tx, &store::banks::by_key(tx, key)?, now)?;
            let submitted = store::operations::submit(tx, key, &operation, now)?;
            let queued = submitted.operation();
            let is_waiting = queued.status == OperationStatus::Pending;
            match during.filter(|_| in_review && is_waiting) {
                Some(_) if by_file => {
                    store::operations::hold(tx, queued.key, HeldReason::ReviewInProgress, now)?;
                }
                Some(DuringReview::Wait) => {
                    store::operations::hold(tx, queued.key, HeldReason::ReviewInProgress, now)?;
                }
                // One that was held for this review is now the one that was asked for.
                Some(DuringReview::Fold) => {
                    let held = HeldReason::ReviewInProgress;
                    store::operations::release(tx, key, held, Some(&id), now)?;
                }
                None => {}
            }
            Ok((submitted, reached))
        })
        .await?;
    ops::wake(engine);
    Ok(Submitted {
        operation: submitted.operation().id.clone(),
        deduplicated: submitted.is_deduplicated(),
        ceiling_reached,
    })
}

pub(super) async fn update(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    patch: ModelPatch,
) -> Result<ModelDetail> {
    let ready = ready_update(engine, bank, id, patch).await?;
    if ready.is_empty() {
        return Err(fault("nothing_to_change").into());
    }
    let (now, model) = (engine.now(), id.clone());
    let updated = write_bank(engine, bank, "update_model", move |tx, key| {
        write_update(tx, key, &model, ready, now)
    })
    .await?;
    let mut detail = super::get(engine, bank, id).await?;
    if updated.reads_all_again {
        detail.warnings.push(RunWarning {
            code: "scope_changed_watermark_reset".to_owned(),
            message: "What the document reads has changed: the next refresh reads everything in \
                scope."
                .to_owned(),
        });
    }
    Ok(detail)
}

/// A change of settings that was checked, with what is worked out before the transaction.
pub(super) struct ReadyUpdate {
    update: UpdateModel,
    /// Of a new name with the text.
    vector: Option<(EmbedderKey, Vec<f32>)>,
}

impl ReadyUpdate {
    /// Whether it states nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.update.is_empty()
    }

    /// The new question, if one is stated.
    pub(super) fn source_query(&self) -> Option<&str> {
        self.update.source_query.as_deref()
    }
}

/// Checks a change of settings.
pub(super) async fn ready_update(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    patch: ModelPatch,
) -> Result<ReadyUpdate> {
    let mut form = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            form.insert(key.to_owned(), value);
        }
    };
    put("name", patch.name.map(Value::from));
    put("source_query", patch.source_query.map(Value::from));
    put("tags", patch.tags.map(|tags| json!(tags)));
    put("max_tokens", patch.max_tokens.map(Value::from));
    put("trigger", patch.trigger.map(|trigger| trigger.0));
    put("review", patch.review.map(|review: ReviewMode| to_json(&review)));
    let update = read_update(&Value::Object(form), UnknownKeys::Refuse).map_err(refused)?;
    let before = super::get(engine, bank, id).await?;
    let vector = match &update.name {
        Some(name) => Some(vector(engine, name, &before.content, &CancellationToken::new()).await?),
        None => None,
    };
    Ok(ReadyUpdate { update, vector })
}

/// What a change of settings came to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Updated {
    /// The model asks another question now.
    pub(super) asks_anew: bool,
    /// Its watermark was reset, since it reads other memories now.
    reads_all_again: bool,
}

/// Writes a change of settings. The page that owns the model keeps the model's name.
pub(super) fn write_update(
    tx: &WriteTx<'_>,
    bank: BankKey,
    id: &ModelId,
    ready: ReadyUpdate,
    now: Instant,
) -> store::Result<Updated> {
    let loaded = Loaded::get(tx, bank, id)?;
    let old_scope = loaded.scope.clone();
    let old_query = loaded.row.head.source_query.clone();
    let expected = loaded.row.head.version;
    let mut row = loaded.row;
    apply_update(&mut row.head, &loaded.stated, ready.update);
    let after = Loaded::of(row);
    let mut row = after.row;
    let reads_same = after.scope.reads_same(&old_scope);
    let reads_all_again = !reads_same && row.head.last_memory_seen_seq.is_some();
    let event = if reads_same { ClockEvent::SettingsChanged } else { ClockEvent::ScopeChanged };
    let moved = clocks(&row.head).after(event, now);
    set_clocks(&mut row.head, moved);
    // A changed setting may be what the failures were about.
    row.head.paused_until = None;
    super::automatic::settings_changed(tx, bank, id, now)?;
    models::save(tx, &row, expected, now)?;
    if let Some((embedder, vector)) = &ready.vector {
        let embedder = store::embedders::get(tx, *embedder)?;
        models::put_vector(tx, &embedder, bank, row.head.key, vector)?;
    }
    if let Some(page) = store::kb::of_model(tx, row.head.key)?
        && page.name != row.head.name
    {
        store::kb::change(tx, bank, &page, Some(&row.head.name), None, now)?;
    }
    Ok(Updated { asks_anew: row.head.source_query != old_query, reads_all_again })
}

fn apply_update(
    head: &mut models::ModelHead,
    stated: &StatedTrigger,
    update: domain::model::UpdateModel,
) {
    if let Some(name) = update.name {
        head.name = name;
    }
    if let Some(query) = update.source_query {
        head.source_query = query;
    }
    if let Some(tags) = update.tags {
        head.tags = tags;
    }
    if let Some(max_tokens) = update.max_tokens {
        head.max_tokens = max_tokens;
    }
    if let Some(patch) = update.trigger {
        head.trigger = stated.merged(&patch).to_json();
    }
    if let Some(review) = update.review {
        head.review = match review {
            domain::model::Review::Auto => models::Review::Auto,
            domain::model::Review::Manual => models::Review::Manual,
        };
    }
}

pub(super) async fn delete(engine: &Engine, bank: &BankId, id: &ModelId) -> Result<()> {
    let (model, now) = (id.clone(), engine.now());
    let stopped = write_bank(engine, bank, "delete_model", move |tx, key| {
        let stopped = cancel_work(tx, key, &model, now)?;
        models::delete(tx, key, &model)?;
        Ok(stopped)
    })
    .await?;
    for operation in stopped {
        ops::stop(engine, &operation);
    }
    Ok(())
}

/// Cancels what is queued or running for a model, in the transaction that removes it; a run that goes
/// on is to be told afterwards, and finds nothing to write to.
pub(super) fn cancel_work(
    tx: &WriteTx<'_>,
    bank: BankKey,
    id: &ModelId,
    now: Instant,
) -> store::Result<Vec<OperationId>> {
    let unfinished = store::operations::unfinished_of_model(tx, bank, id)?;
    let ids = unfinished.into_iter().map(|operation| operation.id);
    ids.map(|id| store::operations::cancel(tx, bank, &id, now).map(|_| id)).collect()
}

pub(super) async fn edit(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    content: String,
    expected: u32,
) -> Result<ModelDetail> {
    let before = super::get(engine, bank, id).await?;
    let vector = vector(engine, &before.model.name, &content, &CancellationToken::new()).await?;
    let (now, model) = (engine.now(), id.clone());
    write_bank(engine, bank, "edit_model", move |tx, key| {
        rewrite(tx, key, &model, &content, vector, VersionCause::Edit, expected, now)
    })
    .await?;
    super::published::after_commit(engine, bank, id, None).await;
    super::get(engine, bank, id).await
}

/// Publishes a text over version `expected` that a person wrote (`Edit`) or that was read in
/// (`Import`). Evidence and watermark stay.
#[allow(clippy::too_many_arguments, reason = "one step of two callers, and all of it differs")]
pub(super) fn rewrite(
    tx: &WriteTx<'_>,
    bank: BankKey,
    id: &ModelId,
    content: &str,
    vector: (EmbedderKey, Vec<f32>),
    cause: VersionCause,
    expected: u32,
    now: Instant,
) -> store::Result<u32> {
    let mut loaded = Loaded::get(tx, bank, id)?;
    let document = reconcile(&loaded.document, parse(content));
    let version = expected + 1;
    let written = origins(tx, loaded.key())?.after_edit(&loaded.document, &document, version);
    let mut evidence = evidence_of(&loaded.row, &document);
    evidence.document_tokens = tokens(content);
    let moved = clocks(&loaded.row.head).after(ClockEvent::Edited, now);
    set_clocks(&mut loaded.row.head, moved);
    let is_import = cause == VersionCause::Import;
    let state = NewState {
        evidence,
        provenance: if is_import { imported(written, version) } else { written },
        settings: loaded.settings(),
        vector: Some(vector),
        ..by_hand(document, cause)
    };
    publish(tx, bank, loaded.row, state, expected, now)
}

pub(super) async fn clear(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    expected: u32,
) -> Result<ModelDetail> {
    let before = super::get(engine, bank, id).await?;
    let vector = vector(engine, &before.model.name, "", &CancellationToken::new()).await?;
    let (now, model) = (engine.now(), id.clone());
    write_bank(engine, bank, "clear_model", move |tx, key| {
        let mut loaded = Loaded::get(tx, key, &model)?;
        let cleared = Successor::Version(expected + 1);
        super::proposals::supersede(tx, key, loaded.key(), &cleared, now)?;
        let moved = clocks(&loaded.row.head).after(ClockEvent::Cleared, now);
        set_clocks(&mut loaded.row.head, moved);
        loaded.row.carry_over = json!([]);
        let document = Document::default();
        let state = NewState {
            evidence: no_evidence(&document, loaded.row.head.max_tokens),
            settings: loaded.settings(),
            vector: Some(vector),
            ..by_hand(document, VersionCause::Clear)
        };
        publish(tx, key, loaded.row, state, expected, now)
    })
    .await?;
    super::published::after_commit(engine, bank, id, None).await;
    super::get(engine, bank, id).await
}
