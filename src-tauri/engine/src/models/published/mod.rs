//! Publishing a document to a file: after the commit of a version the file is written beside itself
//! and renamed. A file that somebody else changed is never written over; its text is offered for
//! review, and the decision settles the file. A version is never undone because a file could not be
//! written: that is told, and tried again.

pub(crate) mod file;
mod job;
mod outside;

use crate::handle::write_bank;
use crate::report::fault;
use crate::view::model::ModelDetail;
use crate::view::published::{CheckedFile, PublishInput, PublishState, PublishedFile};
use crate::{Engine, Error, Result};
use domain::{BankId, FieldFault, ModelId, OperationId, ProposalId};
use file::is_same;
use job::{Job, Looked, look};
use serde_json::json;
use std::path::PathBuf;
use store::models::provenance::{self, PublishState as State, PublishTarget};
use store::proposals::ProposalOrigin;
use store::{ModelKey, ReadTx};

/// The file of a model for screens.
pub(super) fn view(tx: &ReadTx<'_>, model: ModelKey) -> store::Result<Option<PublishedFile>> {
    let Some(target) = provenance::publish_target(tx, model)? else { return Ok(None) };
    let waiting = store::proposals::waiting(tx, model)?;
    let waiting = waiting.filter(|row| row.head.origin == ProposalOrigin::File);
    Ok(Some(PublishedFile {
        path: target.path,
        front_matter: target.front_matter,
        state: match target.state {
            State::Ok => PublishState::Ok,
            State::ChangedOutside => PublishState::ChangedOutside,
            State::Failed => PublishState::Failed,
        },
        error: target.error,
        last_version: target.last_version,
        updated_at: target.updated_at,
        proposal: waiting.map(|row| row.head.id),
    }))
}

/// Names the file that a model is published to and writes its document there. A file that holds
/// another text already is not written over: its text is offered for review.
///
/// # Errors
/// `invalid_request` when the path is no target or another model's, `model_not_found`.
pub async fn set_target(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    input: PublishInput,
) -> Result<ModelDetail> {
    let data = engine.inner.config.folder.clone();
    let given = input.path;
    let path = blocking(move || file::check(&given, &data)).await?.map_err(refused)?;
    let Some(path) = path.to_str().map(str::to_owned) else {
        let text = "The path holds characters that cannot be kept.";
        return Err(refused(FieldFault::new("path", "out_of_range", text)));
    };
    // Nobody names the same file while this one is looked at.
    let one_at_a_time = engine.inner.publishing.lock().await;
    let (model, now) = (id.clone(), engine.now());
    let wanted = model.clone();
    let others = crate::handle::read_bank(engine, bank, move |tx, key| {
        let model = store::models::head(tx, key, &wanted)?.key;
        let mut others = provenance::published(tx)?;
        others.retain(|(other, _)| *other != model);
        Ok(others)
    });
    let (others, wanted) = (others.await?, PathBuf::from(&path));
    let taken = move || others.iter().any(|(_, target)| is_same(target.path.as_ref(), &wanted));
    if blocking(taken).await? {
        return Err(refused(FieldFault::new("path", "name_taken", "Already used.")));
    }
    write_bank(engine, bank, "set_publish_target", move |tx, key| {
        let model_key = store::models::head(tx, key, &model)?.key;
        let before = provenance::publish_target(tx, model_key)?;
        let before = before.filter(|target| target.path == path);
        let target = PublishTarget {
            path,
            front_matter: input.front_matter,
            last_hash: before.as_ref().and_then(|target| target.last_hash.clone()),
            last_version: before.as_ref().and_then(|target| target.last_version),
            state: before.as_ref().map_or(State::Ok, |target| target.state),
            error: None,
            updated_at: now,
        };
        provenance::set_publish_target(tx, model_key, Some(&target), now)?;
        tx.changed(key, domain::CacheTag::Models, Some(model.as_str()))?;
        Ok(())
    })
    .await?;
    drop(one_at_a_time);
    sync(engine, bank, id, true).await?;
    super::get(engine, bank, id).await
}

fn refused(field: FieldFault) -> Error {
    fault("invalid_request").fields(vec![field]).into()
}

/// Publishes to no file any more; the file stays where it is.
///
/// # Errors
/// `model_not_found`.
pub async fn clear_target(engine: &Engine, bank: &BankId, id: &ModelId) -> Result<ModelDetail> {
    let (model, now) = (id.clone(), engine.now());
    write_bank(engine, bank, "clear_publish_target", move |tx, key| {
        let head = store::models::head(tx, key, &model)?;
        provenance::set_publish_target(tx, head.key, None, now)?;
        tx.changed(key, domain::CacheTag::Models, Some(model.as_str()))
    })
    .await?;
    super::get(engine, bank, id).await
}

/// Writes the file now, whether or not it is behind.
///
/// # Errors
/// `outside_change` when somebody else changed it, `publish_failed`, `invalid_request` when the
/// model has no file, `model_not_found`.
pub async fn publish_now(engine: &Engine, bank: &BankId, id: &ModelId) -> Result<ModelDetail> {
    let detail = super::get(engine, bank, id).await?;
    if detail.publish.is_none() {
        return Err(refused(FieldFault::blank("path")));
    }
    sync(engine, bank, id, true).await?;
    let detail = super::get(engine, bank, id).await?;
    let Some(target) = &detail.publish else { return Ok(detail) };
    match target.state {
        PublishState::Ok => Ok(detail),
        PublishState::ChangedOutside => Err(fault("outside_change").into()),
        PublishState::Failed => {
            let failed = fault("publish_failed").with("path", &target.path);
            Err(failed.detail(target.error.clone().unwrap_or_default()).into())
        }
    }
}

/// Looks at all published files: writes those that are behind, offers the texts that somebody else
/// wrote. Gives those that stand otherwise than before.
///
/// # Errors
/// Those of the data file; a published file that cannot be read is told in its own entry.
pub async fn check_files(engine: &Engine) -> Result<Vec<CheckedFile>> {
    let all = engine
        .store()
        .read(|tx| {
            let mut all = Vec::new();
            for (model, _) in provenance::published(tx)? {
                let head = store::models::by_key(tx, model)?.head;
                let bank = store::banks::by_key(tx, head.bank)?.id;
                all.push((bank, head.id, head.name, view(tx, model)?));
            }
            Ok(all)
        })
        .await?;
    let mut changed = Vec::new();
    for (bank, model_id, model_name, before) in all {
        match sync(engine, &bank, &model_id, false).await {
            Ok(Some(file)) if before.as_ref() != Some(&file) => {
                changed.push(CheckedFile { bank, model_id, model_name, file });
            }
            Ok(_) => {}
            // It was deleted meanwhile.
            Err(error) if error.reason() == "model_not_found" => {}
            Err(error) => return Err(error),
        }
    }
    Ok(changed)
}

/// Looks at all files once in the background, so that what a killed program left behind is made good.
pub(crate) fn start(engine: &Engine) {
    let engine = engine.clone();
    tokio::spawn(async move {
        if let Err(error) = check_files(&engine).await {
            tracing::warn!(%error, "the published files were not checked");
        }
    });
}

/// What follows the commit of a version. A failure is noted with the file, and as a warning with the
/// run that made the version.
pub(super) async fn after_commit(
    engine: &Engine,
    bank: &BankId,
    model: &ModelId,
    operation: Option<&OperationId>,
) {
    if let Err(error) = commit_told(engine, bank, model, operation).await {
        tracing::warn!(%error, "the published file was not looked at");
    }
}

async fn commit_told(
    engine: &Engine,
    bank: &BankId,
    model: &ModelId,
    operation: Option<&OperationId>,
) -> Result<()> {
    let file = sync(engine, bank, model, false).await?;
    match (file, operation) {
        (Some(file), Some(operation)) if file.state == PublishState::Failed => {
            warn(engine, bank, model, operation, &file.path).await
        }
        _ => Ok(()),
    }
}

/// What follows the rejection of a proposal: if it offered a text of the file, the file goes back to
/// what is published; if another one, a text of the file may now be offered.
pub(super) async fn after_rejection(engine: &Engine, bank: &BankId, proposal: &ProposalId) {
    if let Err(error) = rejection_told(engine, bank, proposal).await {
        tracing::warn!(%error, "the published file was not settled");
    }
}

async fn rejection_told(engine: &Engine, bank: &BankId, proposal: &ProposalId) -> Result<()> {
    let id = proposal.clone();
    let head = crate::handle::read_bank(engine, bank, move |tx, key| {
        Ok(store::proposals::get(tx, key, &id)?.head)
    })
    .await?;
    let asked = head.origin == ProposalOrigin::File;
    sync(engine, bank, &head.model_id, asked).await.map(drop)
}

async fn warn(
    engine: &Engine,
    bank: &BankId,
    model: &ModelId,
    operation: &OperationId,
    path: &str,
) -> Result<()> {
    let report = fault("publish_failed").with("path", path).report();
    let warning = json!({ "code": "publish_failed", "text": report.message, "data": null });
    let (model, operation, now) = (model.clone(), operation.clone(), engine.now());
    write_bank(engine, bank, "publish_failed", move |tx, key| {
        let mut row = store::models::get(tx, key, &model)?;
        store::runs::warn_refresh(tx, row.head.key, &operation, &warning)?;
        let run = row.last_run.as_mut().filter(|run| run["operation_id"] == operation.as_str());
        if let Some(list) = run.and_then(|run| run["warnings"].as_array_mut()) {
            list.push(warning);
            let expected = row.head.version;
            store::models::save(tx, &row, expected, now)?;
        }
        Ok(())
    })
    .await
}

/// Brings the file and what is known of it together; none for a model without a file. `asked` writes
/// also a file that is not behind.
async fn sync(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    asked: bool,
) -> Result<Option<PublishedFile>> {
    let _one_at_a_time = engine.inner.publishing.lock().await;
    let model = id.clone();
    let job = crate::handle::read_bank(engine, bank, move |tx, key| Job::read(tx, key, &model));
    let Some(job) = job.await? else { return Ok(None) };
    let (job, looked) = blocking(move || {
        let looked = look(&job, asked);
        (job, looked)
    })
    .await?;
    note(engine, bank, job, looked).await.map(Some)
}

/// Writes down how the file stands, if that is new, and offers an outside text. An offered text that
/// is no longer in the file, because one of ours is again, waits for nothing.
async fn note(engine: &Engine, bank: &BankId, job: Job, looked: Looked) -> Result<PublishedFile> {
    let Looked { target, outside, is_ours } = looked;
    let key = job.key();
    let back = is_ours && job.offered.of_file().is_some();
    let offers = outside.as_ref().is_some_and(|outside| job.offered.wants(&outside.hash));
    if target == job.target && !back && !offers {
        let shown = crate::handle::read_bank(engine, bank, move |tx, _| view(tx, key)).await?;
        return shown.ok_or_else(gone);
    }
    let (now, proposal) = (engine.now(), ProposalId(engine.new_id()));
    let shown = write_bank(engine, bank, "note_published_file", move |tx, bank| {
        // A target that was changed meanwhile is looked at anew by whoever changed it.
        if provenance::publish_target(tx, key)?.as_ref() != Some(&job.target) {
            return view(tx, key);
        }
        if target != job.target {
            provenance::set_publish_target(tx, key, Some(&target), now)?;
            tx.changed(bank, domain::CacheTag::Models, Some(job.model_id().as_str()))?;
        }
        if let Some(outside) = &outside {
            outside::offer(tx, bank, key, proposal, outside, now)?;
        } else if back {
            let ours = super::proposals::Successor::Version(job.published());
            super::proposals::supersede(tx, bank, key, &ours, now)?;
        }
        view(tx, key)
    })
    .await?;
    shown.ok_or_else(gone)
}

fn gone() -> Error {
    refused(FieldFault::blank("path"))
}

/// Work on files, off the threads that answer.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| fault("unexpected_error").detail(error).into())
}
