//! A refresh that writes nothing: the same run to its end, told in full instead of committed. Its
//! result is kept in the record of the run until the program closes, so that a person may make a
//! proposal of it without another call.

use super::course::Course;
use super::finish::Finish;
use super::plan::Plan;
use super::record::{self, Ending};
use super::review::Package;
use super::{Failure, trace};
use crate::models::history::doc_diff;
use crate::models::loaded::{Loaded, clocks, from_json, set_clocks, to_json};
use crate::models::proposals::convert::Opened;
use crate::models::proposals::{file_waits, is_in_review, make, view as proposal_view};
use crate::models::show::{evidence_items, mode_word, warning, word_of};
use crate::report::fault;
use crate::view::model::EvidenceItem;
use crate::view::proposal::ProposalView;
use crate::view::refresh::{
    DeltaOperations, DryRunView, FactCounts, KeptDryRun, RefreshRunView, Retraction,
};
use crate::{Engine, Error, Result};
use domain::diff::diff_documents;
use domain::document::Document;
use domain::model::CarryOver;
use domain::refresh::{ClockEvent, Decision, Outcome};
use domain::{BankId, Instant, Json, ModelId, ProposalId, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::runs;

/// Records of a model that a list shows.
const LISTED: u32 = 200;

/// What the record of a dry run keeps.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    view: DryRunView,
    /// None when nothing would change.
    package: Option<Package>,
}

/// Whether a stored result can be made a proposal.
pub(super) fn can_be_kept(result: &Value) -> bool {
    !result["package"].is_null() && result["view"]["kept_as"].is_null()
}

/// Runs a refresh of a model to its end and tells what it would do.
pub(in crate::models) async fn run(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    run: Option<RunId>,
) -> Result<DryRunView> {
    super::ensure_able(engine).await?;
    let run = run.unwrap_or_else(|| RunId(engine.new_id()));
    let cancel = engine.inner.runs.begin(run.clone());
    let course = Course::dry(engine, bank, run.clone(), &cancel);
    let told = Box::pin(tried(&course, id)).await;
    engine.inner.runs.end(&run);
    told
}

async fn tried(course: &Course<'_>, id: &ModelId) -> Result<DryRunView> {
    let started_at = course.engine.now();
    let plan = super::read_plan(course, id, false, started_at).await?;
    let finish = match super::draft(course, &plan).await {
        Ok(drafted) => Finish::of(course, &plan, drafted).await,
        Err(failure) => Err(failure),
    };
    let mut finish = match finish {
        Ok(finish) => finish,
        Err(failure) => return Box::pin(failed(course, plan, failure)).await,
    };
    let decision = finish.decide(plan.model.review());
    if let Some(reason) = decision.failure_reason {
        let failure = finish.failure(reason);
        return Box::pin(failed(course, plan, failure)).await;
    }
    finish.remark(&decision);
    let carried = finish.carry(&plan.model);
    let ending = Ending::of(&plan, decision.outcome);
    record(course, Told { finish, ending, carried, decision }).await
}

/// A dry run that failed foretells a failure, which is a result; only a stopped one is none.
async fn failed(course: &Course<'_>, plan: Plan, failure: Failure) -> Result<DryRunView> {
    let ending = super::fail::ending(&failure, Some(&plan), plan.started_at);
    let drafted = failure.drafted.map_or_else(
        || super::drafted::Drafted::nothing(plan.model.document.clone(), false),
        |drafted| *drafted,
    );
    let now = course.engine.now();
    if ending.outcome == Outcome::Cancelled {
        let after = plan.after_at();
        let whole = trace::whole(&drafted, &ending, &drafted.warnings, after, now);
        let mut row =
            record::refresh_run(&course.run, &ending, None, Some(&plan), Some(&drafted), now);
        row.trace = Some(trace::stored(&whole));
        put(course, row, plan.settings.refresh_history_max_entries).await?;
        return Err(failure.error);
    }
    let finish = Finish {
        drafted,
        structured: None,
        extraction: domain::refresh::Extraction::NotDue,
        extraction_error: None,
        vector: None,
        operation: None,
        run: course.run.clone(),
        proposal: ProposalId(course.run.0.clone()),
        now,
        plan,
    };
    let carried = finish.plan.model.carry_over.clone();
    let decision = Decision { outcome: ending.outcome, ..Decision::preserved() };
    record(course, Told { finish, ending, carried, decision }).await
}

/// A dry run at its end.
struct Told {
    finish: Finish,
    ending: Ending,
    carried: Vec<CarryOver>,
    decision: Decision,
}

/// Tells what the run would do and puts it on record.
async fn record(course: &Course<'_>, told: Told) -> Result<DryRunView> {
    let bank = course.bank.clone();
    let (row, kept, view) = course
        .engine
        .store()
        .read(move |tx| {
            let key = store::banks::key(tx, &bank)?;
            let mut told = told;
            if told.would_fold(tx)? {
                told.ending.outcome = Outcome::ProposalCreated;
            }
            told.ending.trace = Some(trace::stored(&told.finish.whole_trace(&told.ending)));
            told.read(tx, key)
        })
        .await?;
    put(course, row, kept).await?;
    Ok(view)
}

async fn put(course: &Course<'_>, row: runs::RefreshRun, kept: u32) -> Result<()> {
    crate::handle::write_bank(course.engine, course.bank, "record_dry_run", move |tx, bank| {
        record::add(tx, bank, &row, kept)
    })
    .await
}

impl Told {
    /// Whether a person is deciding on an earlier result, with whose decisions this one is proposed.
    fn would_fold(&self, tx: &store::ReadTx<'_>) -> store::Result<bool> {
        Ok(self.decision.makes_version() && is_in_review(tx, self.finish.plan.model.key())?)
    }

    /// Whether the result would wait for a person.
    fn would_propose(&self) -> bool {
        self.ending.outcome == Outcome::ProposalCreated
    }

    /// The record, how many records are kept, and what is shown.
    fn read(
        &self,
        tx: &store::ReadTx<'_>,
        bank: store::BankKey,
    ) -> store::Result<(runs::RefreshRun, u32, DryRunView)> {
        let finish = &self.finish;
        let changes = self.decision.makes_version() || self.decision.makes_proposal();
        let package = changes.then(|| {
            let reason = store::proposals::ProposalReason::KeptDryRun;
            finish.package(&finish.plan.model, reason, self.carried.clone(), &self.ending)
        });
        let review = match &package {
            Some(package) => Some(self.review(tx, bank, package)?),
            None => None,
        };
        let view = self.view(evidence_items(tx, bank, &self.cited())?, review);
        let (plan, drafted) = (Some(&finish.plan), Some(&finish.drafted));
        let mut row =
            record::refresh_run(&finish.run, &self.ending, None, plan, drafted, finish.now);
        row.trace.clone_from(&self.ending.trace);
        row.result = Some(to_json(&Kept { view: view.clone(), package }));
        Ok((row, finish.plan.settings.refresh_history_max_entries, view))
    }

    fn cited(&self) -> Vec<domain::model::Citation> {
        let model = &self.finish.plan.model;
        let grounding = if self.ending.outcome.is_completed() {
            self.finish.based_on(model)
        } else {
            model.evidence.as_ref().map(|e| e.based_on.clone()).unwrap_or_default()
        };
        grounding.into_values().flatten().collect()
    }

    /// The result as the review of a proposal shows it.
    fn review(
        &self,
        tx: &store::ReadTx<'_>,
        bank: store::BankKey,
        package: &Package,
    ) -> store::Result<ProposalView> {
        let finish = &self.finish;
        let id = ProposalId(finish.run.0.clone());
        let new = package.clone().proposal(id, finish.plan.model.key(), None);
        let (base, candidate) = (new.base.clone(), new.candidate.clone());
        let (ops, facts, run) = (new.ops.clone(), new.facts.clone(), new.run.clone());
        let mut row = make::row(new, store::proposals::ProposalState::Open, finish.now);
        row.head.model_id = finish.plan.model.row.head.id.clone();
        let model = finish.plan.model.clone();
        let opened =
            Opened { row, ops, beside: Default::default(), model, base, candidate, facts, run };
        proposal_view::of(tx, bank, &opened)
    }

    fn view(&self, based_on: Vec<EvidenceItem>, review: Option<ProposalView>) -> DryRunView {
        let (finish, plan) = (&self.finish, &self.finish.plan);
        let outcome = self.ending.outcome;
        let changes = self.decision.makes_version() || self.decision.makes_proposal();
        let current = &plan.model.document;
        let preview: &Document = if changes { &finish.drafted.document } else { current };
        let trace = finish.whole_trace(&self.ending);
        DryRunView {
            dry_run_id: finish.run.clone(),
            mental_model_id: plan.model.row.head.id.clone(),
            name: plan.model.row.head.name.clone(),
            requested_mode: mode_word(self.ending.requested).to_owned(),
            effective_mode: mode_word(self.ending.effective).to_owned(),
            mode_fallback_reason: self.ending.fallback().map(|reason| word_of(&reason)),
            outcome: word_of(&outcome),
            failure_reason: self.ending.failure.map(|reason| word_of(&reason)),
            report: self.ending.report.clone(),
            would_persist: matches!(outcome, Outcome::ContentWritten | Outcome::ContentUnchanged),
            would_propose: self.would_propose(),
            scope: plan.model.scope.clone(),
            window: record::window(plan),
            facts: FactCounts {
                retrieved: finish.drafted.retrieved.clone(),
                used: super::plan::by_type(finish.drafted.used.iter().map(|c| c.kind.as_str())),
            },
            based_on,
            current_content: plan.model.row.content.clone(),
            candidate_content: self.candidate(),
            preview_content: preview.render(),
            diff: doc_diff(diff_documents(current, preview, &[]), &|_| None),
            delta_operations: delta_operations(&trace["delta_operations"]),
            retraction: self.retraction(),
            structured_output: finish.structured.clone().map(Json),
            carry_over: self.carried.clone(),
            trace: Json(trace),
            usage: finish.drafted.usage,
            duration_ms: self.ending.duration_ms(finish.now),
            warnings: finish.drafted.warnings.iter().cloned().map(warning).collect(),
            review,
            extractive: finish.drafted.extractive,
            kept_as: None,
            started_at: plan.started_at,
            finished_at: finish.now,
        }
    }

    /// What the run arrived at: the document, or what was written instead of one.
    fn candidate(&self) -> String {
        let drafted = &self.finish.drafted;
        let rebuilds = self.finish.plan.mode.effective == domain::trigger::RefreshMode::Full;
        if rebuilds && !drafted.text.is_empty() {
            drafted.text.clone()
        } else {
            drafted.document.render()
        }
    }

    fn retraction(&self) -> Option<Retraction> {
        self.finish.drafted.retraction.clone().or_else(|| self.finish.plan.put_off())
    }
}

fn delta_operations(trace: &Value) -> Option<DeltaOperations> {
    let list = |key: &str| -> Option<Vec<Json>> {
        Some(trace.get(key)?.as_array()?.iter().cloned().map(Json).collect())
    };
    Some(DeltaOperations {
        applied: list("applied")?,
        skipped: list("skipped")?,
        noop: list("noop")?,
    })
}

/// A dry run as it was told, as long as its result is kept.
pub(in crate::models) async fn get(
    engine: &Engine,
    bank: &BankId,
    run: &RunId,
) -> Result<DryRunView> {
    let run = run.clone();
    let row = crate::handle::read_bank(engine, bank, move |tx, key| {
        runs::get_refresh(tx, key, &run).map(|(_, row)| row)
    })
    .await?;
    let kept: Option<Kept> = row.result.as_ref().and_then(from_json);
    Ok(kept.ok_or_else(gone)?.view)
}

fn gone() -> Error {
    fault("run_not_found").into()
}

/// The records of a model's runs, newest first.
pub(in crate::models) async fn list(
    engine: &Engine,
    bank: &BankId,
    model: &ModelId,
) -> Result<Vec<RefreshRunView>> {
    let model = model.clone();
    crate::handle::read_bank(engine, bank, move |tx, key| {
        let model = store::models::head(tx, key, &model)?.key;
        Ok(runs::list_refreshes(tx, model, LISTED)?.into_iter().map(record::view).collect())
    })
    .await
}

/// Makes a proposal of a dry run, over the document as it is now; one that waits gives way. Keeping
/// it twice gives the same proposal.
pub(in crate::models) async fn keep(
    engine: &Engine,
    bank: &BankId,
    run: &RunId,
) -> Result<KeptDryRun> {
    let (bank, run, now) = (bank.clone(), run.clone(), engine.now());
    let id = ProposalId(engine.new_id());
    engine
        .store()
        .write_as("keep_dry_run", move |tx| {
            let key = store::banks::key(tx, &bank)?;
            let (model, row) = runs::get_refresh(tx, key, &run)?;
            let mut kept: Kept = row.result.as_ref().and_then(from_json).ok_or_else(gone)?;
            if let Some(proposal) = kept.view.kept_as {
                return Ok(KeptDryRun { proposal });
            }
            let package = kept.package.clone().ok_or_else(|| fault("nothing_to_change"))?;
            propose(tx, key, &model, package, &id, now)?;
            kept.view.kept_as = Some(id.clone());
            runs::put_dry_run_result(tx, key, &run, Some(&to_json(&kept)), Some(&id))?;
            Ok(KeptDryRun { proposal: id.clone() })
        })
        .await
}

fn propose(
    tx: &store::WriteTx<'_>,
    bank: store::BankKey,
    model: &ModelId,
    package: Package,
    id: &ProposalId,
    now: Instant,
) -> Result<()> {
    let mut fresh = Loaded::get(tx, bank, model)?;
    if file_waits(tx, fresh.key())? {
        return Err(fault("review_in_progress").into());
    }
    if fresh.row.content.trim().is_empty() && !package.base.render().trim().is_empty() {
        let what = "the document was cleared since";
        return Err(fault("document_changed").detail(what).into());
    }
    let expected = fresh.row.head.version;
    let event = ClockEvent::Proposed { cutoff_seq: package.run.cutoff_seq };
    let moved = clocks(&fresh.row.head).after(event, now);
    set_clocks(&mut fresh.row.head, moved);
    store::models::save(tx, &fresh.row, expected, now)?;
    let package = package.moved_to(expected, &fresh.document);
    make::propose(tx, bank, package.proposal(id.clone(), fresh.key(), None), now)?;
    Ok(())
}

/// Forgets the result of a dry run; its record stays.
pub(in crate::models) async fn drop_result(
    engine: &Engine,
    bank: &BankId,
    run: &RunId,
) -> Result<()> {
    let run = run.clone();
    crate::handle::write_bank(engine, bank, "drop_dry_run", move |tx, key| {
        runs::put_dry_run_result(tx, key, &run, None, None)
    })
    .await
}
