//! Making, changing, editing, clearing, reverting and removing models. Each is one transaction; each
//! change of the text is a version, so that history has one shape.

use super::loaded::{Loaded, clocks, search_text, set_clocks, to_json};
use super::publish::{NewState, evidence_of, no_evidence, origins, publish, tokens};
use crate::handle::write_bank;
use crate::report::fault;
use crate::view::model::{
    CreatedModel, ModelDetail, ModelPatch, NewModel, ReviewMode, RunWarning, Submitted,
};
use crate::{Engine, Error, Result, ops};
use domain::document::{Document, parse, read_stored, reconcile};
use domain::model::{CreateDefaults, CreateModel, read_create, read_update};
use domain::provenance::Provenance;
use domain::refresh::{ClockEvent, Watermark};
use domain::trigger::{FieldWarning, StatedTrigger, UnknownKeys};
use domain::{BankId, FieldFault, Instant, Json, ModelId, OperationId};
use serde_json::{Map, Value, json};
use store::operations::{NewOperation, OperationType};
use store::versions::{Actor, VersionCause};
use store::{BankKey, EmbedderKey, WriteTx, models, versions};
use tokio_util::sync::CancellationToken;

/// A request that was read, and what is worth telling about it.
pub(super) fn checked(input: &NewModel) -> Result<(CreateModel, Vec<FieldWarning>)> {
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
    read_create(&Value::Object(form), CreateDefaults::default(), &StatedTrigger::default())
        .map_err(refused)
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
    let (checked, _) = checked(&input)?;
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
            insert(tx, key, &model, &checked, vector, now)?;
            if checked.content.is_none() {
                store::operations::submit(tx, key, &operation, now)?;
            }
            Ok(())
        })
        .await?;
    ops::wake(engine);
    Ok(CreatedModel { id, operation: queued })
}

fn fresh_id(engine: &Engine) -> ModelId {
    ModelId(format!("mm-{}", engine.new_id().replace('-', "")))
}

fn insert(
    tx: &WriteTx<'_>,
    bank: BankKey,
    id: &ModelId,
    checked: &CreateModel,
    vector: (EmbedderKey, Vec<f32>),
    now: Instant,
) -> store::Result<()> {
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
        return models::put_vector(tx, &embedder, bank, key, &vector.1);
    };
    let mut loaded = Loaded::of(models::by_key(tx, key)?);
    let document = parse(content);
    loaded.row.head.last_refreshed_at = Some(now);
    let state = NewState {
        evidence: no_evidence(&document, checked.max_tokens),
        provenance: Provenance::default().after_edit(&Document::default(), &document, 1),
        settings: loaded.settings(),
        vector: Some(vector),
        ..by_person(document, VersionCause::Created)
    };
    publish(tx, bank, loaded.row, state, 0, now)?;
    Ok(())
}

/// A state that a person made; evidence, origins, settings and vector are filled in.
fn by_person(document: Document, cause: VersionCause) -> NewState {
    NewState {
        evidence: no_evidence(&document, 0),
        document,
        provenance: Provenance::default(),
        cause,
        actor: Actor::Person,
        operation: None,
        proposal: None,
        accepted_op_ids: None,
        note: None,
        trace: None,
        settings: Value::Null,
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
) -> Result<Submitted> {
    super::refresh::ensure_able(engine).await?;
    let operation = new_refresh(engine, id, "manual_refresh", full);
    let (id, now) = (id.clone(), engine.now());
    let submitted = write_bank(engine, bank, "submit_refresh", move |tx, key| {
        models::get(tx, key, &id)?;
        store::operations::submit(tx, key, &operation, now)
    })
    .await?;
    ops::wake(engine);
    Ok(Submitted {
        operation: submitted.operation().id.clone(),
        deduplicated: submitted.is_deduplicated(),
    })
}

pub(super) async fn update(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    patch: ModelPatch,
) -> Result<ModelDetail> {
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
    if update.is_empty() {
        return Err(fault("nothing_to_change").into());
    }
    let before = super::get(engine, bank, id).await?;
    let vector = match &update.name {
        Some(name) => Some(vector(engine, name, &before.content, &CancellationToken::new()).await?),
        None => None,
    };
    let (now, model) = (engine.now(), id.clone());
    let reset = write_bank(engine, bank, "update_model", move |tx, key| {
        let loaded = Loaded::get(tx, key, &model)?;
        let old_scope = loaded.scope.clone();
        let expected = loaded.row.head.version;
        let mut row = loaded.row;
        apply_update(&mut row.head, &loaded.stated, update);
        let after = Loaded::of(row);
        let mut row = after.row;
        let reset = !after.scope.reads_same(&old_scope) && row.head.last_memory_seen_seq.is_some();
        let event = if after.scope.reads_same(&old_scope) {
            ClockEvent::SettingsChanged
        } else {
            ClockEvent::ScopeChanged
        };
        let moved = clocks(&row.head).after(event, now);
        set_clocks(&mut row.head, moved);
        // A changed setting may be what the failures were about.
        row.head.paused_until = None;
        models::save(tx, &row, expected, now)?;
        if let Some((embedder, vector)) = &vector {
            let embedder = store::embedders::get(tx, *embedder)?;
            models::put_vector(tx, &embedder, key, row.head.key, vector)?;
        }
        Ok(reset)
    })
    .await?;
    let mut detail = super::get(engine, bank, id).await?;
    if reset {
        detail.warnings.push(RunWarning {
            code: "scope_changed_watermark_reset".to_owned(),
            message: "What the document reads has changed: the next refresh reads everything in \
                scope."
                .to_owned(),
        });
    }
    Ok(detail)
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
    let model = id.clone();
    let unfinished = crate::handle::read_bank(engine, bank, move |tx, key| {
        models::get(tx, key, &model)?;
        store::operations::unfinished_of_model(tx, key, &model)
    })
    .await?;
    for operation in unfinished {
        match ops::cancel(engine, bank, &operation.id).await {
            Ok(_) => {}
            // It ended by itself in the meantime.
            Err(error) if error.reason() == "already_finished" => {}
            Err(error) => return Err(error),
        }
    }
    let model = id.clone();
    write_bank(engine, bank, "delete_model", move |tx, key| models::delete(tx, key, &model)).await
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
        let mut loaded = Loaded::get(tx, key, &model)?;
        let document = reconcile(&loaded.document, parse(&content));
        let provenance =
            origins(tx, loaded.key())?.after_edit(&loaded.document, &document, expected + 1);
        let mut evidence = evidence_of(&loaded.row, &document);
        evidence.document_tokens = tokens(&content);
        let moved = clocks(&loaded.row.head).after(ClockEvent::Edited, now);
        set_clocks(&mut loaded.row.head, moved);
        let state = NewState {
            evidence,
            provenance,
            settings: loaded.settings(),
            vector: Some(vector),
            ..by_person(document, VersionCause::Edit)
        };
        publish(tx, key, loaded.row, state, expected, now)
    })
    .await?;
    super::get(engine, bank, id).await
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
        super::proposals::supersede_waiting(tx, key, loaded.key(), None, now)?;
        let moved = clocks(&loaded.row.head).after(ClockEvent::Cleared, now);
        set_clocks(&mut loaded.row.head, moved);
        loaded.row.carry_over = json!([]);
        let document = Document::default();
        let state = NewState {
            evidence: no_evidence(&document, loaded.row.head.max_tokens),
            settings: loaded.settings(),
            vector: Some(vector),
            ..by_person(document, VersionCause::Clear)
        };
        publish(tx, key, loaded.row, state, expected, now)
    })
    .await?;
    super::get(engine, bank, id).await
}

pub(super) async fn revert(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    version: u32,
    read_again: bool,
) -> Result<ModelDetail> {
    let before = super::get(engine, bank, id).await?;
    let kept = super::version(engine, bank, id, version).await?;
    let vector =
        vector(engine, &before.model.name, &kept.content, &CancellationToken::new()).await?;
    let (now, model) = (engine.now(), id.clone());
    write_bank(engine, bank, "revert_model", move |tx, key| {
        let mut loaded = Loaded::get(tx, key, &model)?;
        let expected = loaded.row.head.version;
        let old = versions::get(tx, loaded.key(), version)?;
        let document = read_stored(&Json(old.structure.clone()), &old.content);
        let provenance = brought_back(tx, &loaded, &document, expected + 1)?;
        let mut evidence = old
            .reflect_response
            .as_ref()
            .and_then(super::loaded::from_json)
            .unwrap_or_else(|| no_evidence(&document, loaded.row.head.max_tokens));
        evidence.document_tokens = tokens(&old.content);
        let event = ClockEvent::Reverted {
            source_query: Some(old.head.source_query.clone()),
            read_again_after: read_again.then(|| {
                old.head.watermark_seq.map(|seq| Watermark {
                    seq,
                    at: old.head.watermark_at.unwrap_or(old.head.created_at),
                })
            }),
        };
        let moved = clocks(&loaded.row.head).after(event, now);
        set_clocks(&mut loaded.row.head, moved);
        let state = NewState {
            evidence,
            provenance,
            settings: loaded.settings(),
            vector: Some(vector),
            note: Some(format!("from {version}")),
            ..by_person(document, VersionCause::Revert)
        };
        publish(tx, key, loaded.row, state, expected, now)
    })
    .await?;
    super::get(engine, bank, id).await
}

/// Origins after a revert. What the present document shares with the old one keeps its origin; the
/// rest comes from a version whose sources are told by its own evidence, not block by block.
fn brought_back(
    tx: &WriteTx<'_>,
    loaded: &Loaded,
    document: &Document,
    version: u32,
) -> store::Result<Provenance> {
    Ok(origins(tx, loaded.key())?.after_whole(&loaded.document, document, &[], version))
}
