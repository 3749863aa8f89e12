//! Mental models: documents that answer a saved question, kept current by refreshes, changed only as
//! a person has seen. `lifecycle` makes, changes and removes them, `history` reads what was,
//! `refresh` runs one, `automatic` sets them going where no person asks, `proposals` holds what waits
//! for a person. Nothing here searches memories by its own rules, and nothing but `publish` writes a
//! version.

pub mod automatic;
mod blame;
mod extractive;
mod form;
mod guidance;
mod history;
mod lifecycle;
mod loaded;
mod locks;
pub mod pages;
pub mod proposals;
mod publish;
pub mod published;
mod reextract;
pub mod refresh;
mod show;
mod versions;
mod written;

use crate::handle::read_bank;
use crate::view::blame::{LockKind, ModelBlame};
use crate::view::form::{NextRuns, SchemaProblem, SchemaTry, ScopeReach};
use crate::view::model::{
    CreatedModel, GuidanceChange, ModelDetail, ModelPatch, ModelRow, NewModel, Submitted,
    TimelineEntry, VersionDiff, VersionView,
};
use crate::view::proposal::DuringReview;
use crate::view::refresh::{DryRunView, KeptDryRun, RefreshRunView};
use crate::{Engine, Result};
use domain::{BankId, Instant, Json, ModelId, RunId};

/// Models that a list shows at most.
const LISTED: u32 = 20_000;

/// All models of a bank, the most recently refreshed first.
///
/// # Errors
/// `bank_not_found`.
pub async fn list(engine: &Engine, bank: &BankId) -> Result<Vec<ModelRow>> {
    let now = engine.now();
    read_bank(engine, bank, move |tx, key| {
        let (heads, _) =
            store::models::list(tx, key, &store::tag_sets::TagSets::All, None, LISTED)?;
        let around = show::Around::read(tx, key, &heads, now)?;
        heads.iter().map(|head| around.row(tx, key, head)).collect()
    })
    .await
}

/// One model with its document, its blame and its evidence.
///
/// # Errors
/// `model_not_found`.
pub async fn get(engine: &Engine, bank: &BankId, id: &ModelId) -> Result<ModelDetail> {
    let (id, now) = (id.clone(), engine.now());
    read_bank(engine, bank, move |tx, key| show::detail(tx, key, &id, now)).await
}

/// Makes a model. Without content a refresh is queued that builds it; with content that is its
/// first version and nothing is queued.
///
/// # Errors
/// `invalid_request` with all faults of the fields, `id_taken`, `llm_not_configured`.
pub async fn create(engine: &Engine, bank: &BankId, input: NewModel) -> Result<CreatedModel> {
    lifecycle::create(engine, bank, input).await
}

/// Changes settings; what is not stated stays. Changing what the model reads resets its watermark,
/// so that older memories which come into scope are read.
///
/// # Errors
/// `invalid_request`, `nothing_to_change`, `model_not_found`.
pub async fn update(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    patch: ModelPatch,
) -> Result<ModelDetail> {
    lifecycle::update(engine, bank, id, patch).await
}

/// Removes a model with its versions, proposals and runs; a running refresh is stopped.
///
/// # Errors
/// `model_not_found`.
pub async fn delete(engine: &Engine, bank: &BankId, id: &ModelId) -> Result<()> {
    lifecycle::delete(engine, bank, id).await
}

/// Queues a refresh that a person asked for; `full` rebuilds once, whatever the settings say.
///
/// # Errors
/// `model_not_found`, `llm_not_configured`; `review_in_progress` while a person decides on a proposal
/// of the model: then ask again with [`refresh_in_review`].
pub async fn refresh(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    full: bool,
) -> Result<Submitted> {
    lifecycle::refresh(engine, bank, id, full, None).await
}

/// As [`refresh`], with the word on what happens while a person decides on a proposal of the model:
/// wait until it has ended, or run now and fold the decisions into the new one.
///
/// # Errors
/// `model_not_found`, `llm_not_configured`.
pub async fn refresh_in_review(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    full: bool,
    during: DuringReview,
) -> Result<Submitted> {
    lifecycle::refresh(engine, bank, id, full, Some(during)).await
}

/// Takes back what reviewers told the refreshes of a model, or makes a note stand. The entry is named
/// by its place in the list and its moment.
///
/// # Errors
/// `model_not_found`; `nothing_to_change` when there is no such entry any more.
pub async fn change_guidance(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    place: u32,
    at: Instant,
    change: GuidanceChange,
) -> Result<ModelDetail> {
    guidance::change(engine, bank, id, place, at, change).await
}

/// Runs a refresh to its end and tells what it would do; writes nothing but a record of the run.
/// `run` names it, so that it can be stopped and its progress followed; made when absent.
///
/// # Errors
/// `model_not_found`, `llm_not_configured`, `cancelled`. A refresh that would fail is a result.
pub async fn dry_run(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    run: Option<RunId>,
) -> Result<DryRunView> {
    refresh::dry::run(engine, bank, id, run).await
}

/// Stops a dry run; one that has ended is left as it is.
pub fn cancel_dry_run(engine: &Engine, run: &RunId) {
    engine.inner.runs.cancel(run);
}

/// A dry run again, as it was told. Results are kept until the program closes.
///
/// # Errors
/// `run_not_found`.
pub async fn dry_run_result(engine: &Engine, bank: &BankId, run: &RunId) -> Result<DryRunView> {
    refresh::dry::get(engine, bank, run).await
}

/// Makes a proposal of a finished dry run, without another call; a proposal that waits gives way.
///
/// # Errors
/// `run_not_found` when its result is not kept any more, `nothing_to_change` when it would change
/// nothing.
pub async fn keep_dry_run(engine: &Engine, bank: &BankId, run: &RunId) -> Result<KeptDryRun> {
    refresh::dry::keep(engine, bank, run).await
}

/// Forgets the result of a dry run.
///
/// # Errors
/// `run_not_found`.
pub async fn drop_dry_run(engine: &Engine, bank: &BankId, run: &RunId) -> Result<()> {
    refresh::dry::drop_result(engine, bank, run).await
}

/// The records of a model's runs, dry ones and skipped ones too, newest first.
///
/// # Errors
/// `model_not_found`.
pub async fn refresh_runs(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
) -> Result<Vec<RefreshRunView>> {
    refresh::dry::list(engine, bank, id).await
}

/// Extracts the structured view of the document as it stands, which an edit or a revert makes stale.
///
/// # Errors
/// `structured_output_failed`, `version_conflict`, `invalid_request` without a schema,
/// `nothing_to_change` without a document, `model_not_found`.
pub async fn reextract_structured(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
) -> Result<ModelDetail> {
    reextract::reextract(engine, bank, id).await
}

/// Publishes a person's text as a new version. Elements that match keep their ids; changed blocks
/// become the person's.
///
/// # Errors
/// `version_conflict`, `model_not_found`.
pub async fn edit_content(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    content: String,
    expected_version: u32,
) -> Result<ModelDetail> {
    lifecycle::edit(engine, bank, id, content, expected_version).await
}

/// Empties the document as a new version that can be reverted. The next refresh reads everything.
///
/// # Errors
/// `version_conflict`, `model_not_found`.
pub async fn clear(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    expected_version: u32,
) -> Result<ModelDetail> {
    lifecycle::clear(engine, bank, id, expected_version).await
}

/// Brings a kept version back as a new one. With `read_again` the watermark goes back with it.
///
/// # Errors
/// `version_not_found`, `model_not_found`.
pub async fn revert(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    version: u32,
    read_again: bool,
) -> Result<ModelDetail> {
    versions::revert(engine, bank, id, version, read_again).await
}

/// Who wrote each block of a version, and what it rests on; of the published one when none is named.
///
/// # Errors
/// `version_not_found`, `model_not_found`.
pub async fn blame(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    version: Option<u32>,
) -> Result<ModelBlame> {
    let id = id.clone();
    read_bank(engine, bank, move |tx, key| blame::of_version(tx, key, &id, version)).await
}

/// Locks a block or a section: refreshes leave it as it is, a person may still change it. A second
/// time changes the note.
///
/// # Errors
/// `invalid_request` when the document has no such element, `model_not_found`.
pub async fn set_lock(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    kind: LockKind,
    element_id: &str,
    note: Option<String>,
) -> Result<ModelDetail> {
    locks::set(engine, bank, id, kind, element_id, note).await
}

/// Takes a lock away; one that is not there is no fault.
///
/// # Errors
/// `model_not_found`.
pub async fn remove_lock(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    kind: LockKind,
    element_id: &str,
) -> Result<ModelDetail> {
    locks::remove(engine, bank, id, kind, element_id).await
}

/// Exempts a version from the limit of kept versions, or no longer.
///
/// # Errors
/// `version_not_found`, `model_not_found`.
pub async fn pin_version(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    version: u32,
    pinned: bool,
) -> Result<()> {
    versions::pin(engine, bank, id, version, pinned).await
}

/// Writes a person's words about a version, or takes them away when there are none.
///
/// # Errors
/// `version_not_found`, `model_not_found`.
pub async fn note_version(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    version: u32,
    note: Option<String>,
) -> Result<()> {
    versions::set_note(engine, bank, id, version, note).await
}

/// The history, newest first: versions, proposals that published nothing, failed runs.
///
/// # Errors
/// `model_not_found`.
pub async fn timeline(engine: &Engine, bank: &BankId, id: &ModelId) -> Result<Vec<TimelineEntry>> {
    let id = id.clone();
    read_bank(engine, bank, move |tx, key| history::timeline(tx, key, &id)).await
}

/// One kept version.
///
/// # Errors
/// `version_not_found`, `model_not_found`.
pub async fn version(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    version: u32,
) -> Result<VersionView> {
    let id = id.clone();
    read_bank(engine, bank, move |tx, key| history::version(tx, key, &id, version)).await
}

/// What differs between two kept versions; number 0 is the empty document.
///
/// # Errors
/// `version_not_found`, `model_not_found`.
pub async fn diff_versions(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    from: u32,
    to: u32,
) -> Result<VersionDiff> {
    let id = id.clone();
    read_bank(engine, bank, move |tx, key| history::diff(tx, key, &id, from, to)).await
}

/// How many memories a model of these settings would read now, also under the other ways to match
/// its tags.
///
/// # Errors
/// `invalid_request`.
pub async fn scope_reach(engine: &Engine, bank: &BankId, input: NewModel) -> Result<ScopeReach> {
    form::scope_reach(engine, bank, input).await
}

/// When a schedule comes due next, or what is wrong with it.
#[must_use]
pub fn next_runs(engine: &Engine, expression: &str) -> NextRuns {
    form::next_runs(engine, expression)
}

/// Everything that is wrong with a response schema; empty when it can be used.
#[must_use]
pub fn check_schema(schema: &Json) -> Vec<SchemaProblem> {
    form::check_schema(schema)
}

/// Extracts the fields of a schema that is not saved yet from a text, which may be that of `model`.
/// Nothing is kept.
///
/// # Errors
/// `invalid_schema`, `llm_not_configured`, `structured_output_failed`.
pub async fn try_schema(
    engine: &Engine,
    model: Option<(&BankId, &ModelId)>,
    schema: &Json,
    text: &str,
) -> Result<SchemaTry> {
    form::try_schema(engine, model, schema, text).await
}
