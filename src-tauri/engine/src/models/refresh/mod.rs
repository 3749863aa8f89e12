//! One refresh from plan to published version or proposal. One path for every cause; only the last
//! step differs. Whatever the end, `last_run` and a record of the run are written, and a run that
//! could not do its job never touches what is published.

mod commit;
pub(crate) mod course;
pub(crate) mod drafted;
pub(super) mod dry;
mod fail;
mod finish;
mod idle;
pub(crate) mod plan;
pub(super) mod record;
mod review;
pub(crate) mod structured;
mod trace;

use crate::ops::{Handled, Running};
use crate::report::{Report, fault};
use crate::{Engine, Error, Result};
use course::Course;
use domain::refresh::FailureReason;
use domain::schedule::FailureClass;
use domain::trigger::RefreshMode;
use domain::{Instant, ModelId};
use drafted::{Drafted, remark};
pub(crate) use idle::Idle;
use plan::Plan;
pub(crate) use trace::beginning_of_reply;

/// The text that stands as synthesis where no language model wrote one.
pub(crate) const EXTRACTIVE: &str = "Statements from the bank, without a language model.";

/// Whether refreshes can run at all: there is a language model, or extractive mode is on.
///
/// # Errors
/// `llm_not_configured`.
pub(super) async fn ensure_able(engine: &Engine) -> Result<()> {
    engine.provider().await.map(drop)
}

/// Runs a queued refresh.
///
/// # Errors
/// What may pass is given back for the queue to try again; every other end is written here.
pub(crate) async fn run(running: &Running) -> Result<Handled> {
    let Some(id) = running.operation.model.clone() else {
        return Err(fault("model_not_found").with("id", "").into());
    };
    let course = Course::of(running);
    let started_at = running.engine.now();
    let forced = running.operation.forced_full;
    let plan = match read_plan(&course, &id, forced, started_at).await {
        Ok(plan) => plan,
        // There is no model to write anything on.
        Err(error) if error.reason() == "model_not_found" => return Err(error),
        Err(error) => {
            let failure = Failure::of(error, None);
            return fail::failed(running, &course, None, started_at, failure).await;
        }
    };
    let failure = match draft(&course, &plan).await {
        Ok(drafted) => match Box::pin(commit::finished(running, &course, &plan, drafted)).await {
            Ok(handled) => return Ok(handled),
            Err(failure) => failure,
        },
        Err(failure) => failure,
    };
    fail::failed(running, &course, Some(&plan), started_at, failure).await
}

/// A run that ended without a result.
pub(crate) struct Failure {
    pub(crate) error: Error,
    pub(crate) report: Report,
    /// None for a cancelled run.
    pub(crate) reason: Option<FailureReason>,
    pub(crate) class: FailureClass,
    /// How far the run came.
    pub(crate) drafted: Option<Box<Drafted>>,
}

impl Failure {
    pub(crate) fn of(error: Error, reason: Option<FailureReason>) -> Self {
        let retryable = Report::from(&error).retryable;
        Self::judged(error, reason, retryable)
    }

    /// Edits that could not be had. `cause` is the failure of the call; without one the answer came
    /// and could not be read, and the same question would be answered the same way again.
    pub(crate) fn of_edits(cause: Option<Error>, detail: &str) -> Self {
        if let Some(cause) = &cause
            && cause.reason() == "cancelled"
        {
            return Self::of(fault("cancelled").into(), None);
        }
        let retryable = cause.as_ref().is_some_and(|cause| Report::from(cause).retryable);
        let wait = cause.as_ref().and_then(crate::ops::quota_wait);
        let detail = cause.map_or_else(|| detail.to_owned(), |cause| cause.to_string());
        let error = fault("delta_ops_failed").detail(detail).wait(wait).into();
        Self::judged(error, Some(FailureReason::DeltaOpsFailed), retryable)
    }

    fn judged(error: Error, reason: Option<FailureReason>, retryable: bool) -> Self {
        let mut report = Report::from(&error);
        report.retryable = retryable;
        let cancelled = report.reason == "cancelled";
        let reason = reason.or_else(|| FailureReason::of_reason(&report.reason));
        let reason = reason.filter(|_| !cancelled);
        let transport = if retryable { FailureClass::Retryable } else { FailureClass::Final };
        let class =
            reason.map_or(FailureClass::Final, |reason| reason.queue_class(Some(transport)));
        Self { error, report, reason, class, drafted: None }
    }

    /// With how far the run came.
    pub(crate) fn after(mut self, drafted: Drafted) -> Self {
        self.drafted = Some(Box::new(drafted));
        self
    }
}

async fn read_plan(course: &Course<'_>, id: &ModelId, forced: bool, now: Instant) -> Result<Plan> {
    course.tell("reading_scope");
    let id = id.clone();
    // Without a language model no other document is read.
    let reads_models = course.engine.provider().await?.is_some();
    crate::handle::read_bank(course.engine, course.bank, move |tx, key| {
        plan::read(tx, key, &id, forced, reads_models, now)
    })
    .await?
    .map_err(|unreadable| fault("structured_doc_unreadable").detail(unreadable).into())
}

/// Why a refresh did without a language model that is set up.
const KEPT_HERE: &str = "The document rests on memories that must not leave this machine, so it was \
    refreshed without the language model, which is elsewhere.";

/// Why a refresh did without what a reviewer said.
const NOTES_HELD_BACK: &str = "Notes on changes that rested on private memories were held back from \
    this model.";

/// The middle of the run.
async fn draft(course: &Course<'_>, plan: &Plan) -> Result<Drafted, Failure> {
    let chosen = crate::reflect::provider(course.engine).await;
    if plan.idle.is_some() {
        let extractive = matches!(chosen, Ok(None));
        return Ok(Drafted::nothing(plan.model.document.clone(), extractive));
    }
    let failed = |error| Failure::of(error, None);
    let drafted = match chosen.map_err(failed)? {
        Some(chosen) if plan.stays_here && !chosen.local => {
            let mut drafted = extractive(course, plan).await.map_err(failed)?;
            drafted.warnings.push(remark("kept_on_this_machine", KEPT_HERE));
            drafted
        }
        Some(chosen) if !chosen.local && !plan.private_notes.is_empty() => {
            let shown = plan.without_private_notes();
            let mut drafted = Box::pin(super::written::draft(course, &shown, chosen)).await?;
            drafted.warnings.push(remark("notes_held_back", NOTES_HELD_BACK));
            drafted
        }
        Some(chosen) => super::written::draft(course, plan, chosen).await?,
        None => extractive(course, plan).await.map_err(failed)?,
    };
    course.check().map_err(|error| Failure::of(error, None).after(drafted.clone()))?;
    Ok(drafted)
}

async fn extractive(course: &Course<'_>, plan: &Plan) -> Result<Drafted> {
    let (engine, bank, cancel) = (course.engine, course.bank, course.cancel);
    match plan.mode.effective {
        RefreshMode::Full => {
            course.tell("reflecting");
            super::extractive::full(engine, bank, plan, cancel).await
        }
        RefreshMode::Delta => {
            course.tell("editing");
            super::extractive::delta(engine, bank, plan, cancel).await
        }
    }
}
