//! One refresh from plan to published version or proposal. One path for every cause; only the last
//! step differs. Whatever the end, `last_run` and a record of the run are written, and a run that
//! could not do its job never touches what is published.

mod commit;
pub(crate) mod drafted;
mod fail;
pub(crate) mod plan;
mod record;
mod review;
pub(crate) mod structured;

use crate::ops::{Handled, Running};
use crate::report::{Report, fault};
use crate::view::operation::Progress;
use crate::{Engine, Result};
use domain::model::RunWarning;
use domain::refresh::{FailureReason, Idle};
use domain::schedule::FailureClass;
use domain::trigger::RefreshMode;
use domain::{Instant, ModelId};
use drafted::{Drafted, remark};
use plan::Plan;

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
    let started_at = running.engine.now();
    let plan = match read_plan(running, &id, started_at).await {
        Ok(plan) => plan,
        // There is no model to write anything on.
        Err(error) if error.reason() == "model_not_found" => return Err(error),
        Err(error) => {
            let requested = RefreshMode::Full;
            let failure = Failure::of(error, None);
            return fail::failed(running, &id, None, requested, started_at, failure).await;
        }
    };
    let requested = plan.model.trigger.mode;
    match draft(running, &plan).await {
        Ok(drafted) => match commit::finished(running, &plan, drafted).await {
            Ok(handled) => Ok(handled),
            Err(error) => {
                let failure = Failure::of(error, None);
                fail::failed(running, &id, Some(&plan), requested, started_at, failure).await
            }
        },
        Err(failure) => {
            fail::failed(running, &id, Some(&plan), requested, started_at, failure).await
        }
    }
}

/// A run that ended without a result.
pub(crate) struct Failure {
    pub(crate) error: crate::Error,
    pub(crate) report: Report,
    /// None for a cancelled run.
    pub(crate) reason: Option<FailureReason>,
    pub(crate) class: FailureClass,
    pub(crate) trace: Option<serde_json::Value>,
    pub(crate) warnings: Vec<RunWarning>,
}

impl Failure {
    pub(crate) fn of(error: crate::Error, reason: Option<FailureReason>) -> Self {
        let report = Report::from(&error);
        let cancelled = report.reason == "cancelled";
        let reason = reason.or_else(|| FailureReason::of_reason(&report.reason));
        let reason = reason.filter(|_| !cancelled);
        let transport =
            if report.retryable { FailureClass::Retryable } else { FailureClass::Final };
        let class =
            reason.map_or(FailureClass::Final, |reason| reason.queue_class(Some(transport)));
        Self { error, report, reason, class, trace: None, warnings: Vec::new() }
    }
}

async fn read_plan(running: &Running, id: &ModelId, now: Instant) -> Result<Plan> {
    tell(running, "reading_scope").await;
    let (id, forced) = (id.clone(), running.operation.forced_full);
    // Without a language model no other document is read.
    let reads_models = running.engine.provider().await?.is_some();
    crate::handle::read_bank(&running.engine, &running.bank, move |tx, key| {
        plan::read(tx, key, &id, forced, reads_models, now)
    })
    .await?
    .map_err(|unreadable| fault("structured_doc_unreadable").detail(unreadable).into())
}

/// The middle of the run.
async fn draft(running: &Running, plan: &Plan) -> Result<Drafted, Failure> {
    if let Some(idle) = plan.idle {
        return Ok(idle_draft(plan, idle));
    }
    let provider = running.engine.provider().await.map_err(|error| Failure::of(error, None))?;
    let drafted = match provider {
        Some(provider) => super::written::draft(running, plan, provider).await?,
        None => extractive(running, plan).await.map_err(|error| Failure::of(error, None))?,
    };
    running.check().map_err(|error| Failure::of(error, None))?;
    Ok(drafted)
}

async fn extractive(running: &Running, plan: &Plan) -> Result<Drafted> {
    let (engine, bank, cancel) = (&running.engine, &running.bank, &running.cancel);
    match plan.mode.effective {
        RefreshMode::Full => {
            tell(running, "reflecting").await;
            super::extractive::full(engine, bank, plan, cancel).await
        }
        RefreshMode::Delta => {
            tell(running, "editing").await;
            super::extractive::delta(engine, bank, plan, cancel).await
        }
    }
}

/// A run that has nothing to read.
fn idle_draft(plan: &Plan, idle: Idle) -> Drafted {
    let mut drafted = Drafted::nothing(plan.model.document.clone(), true);
    if idle == Idle::EmptyScope {
        let cited = plan.cited_texts.len();
        drafted.warnings.push(remark(
            "empty_scope",
            format!("Nothing is in scope, although the document rests on {cited} memories."),
        ));
    }
    drafted
}

/// Says which step the run is at.
pub(super) async fn tell(running: &Running, stage: &str) {
    let progress = Progress { stage: stage.to_owned(), processed: None, total: None, detail: None };
    running.progress(progress, true).await;
}

/// What follows the end of a refresh: one more, when it was asked for meanwhile and there is still
/// something to read.
pub(crate) async fn after_end(running: &Running) {
    if let Err(error) = follow_up(running).await {
        tracing::warn!(%error, "the follow-up of a refresh was not queued");
    }
}

async fn follow_up(running: &Running) -> Result<()> {
    let Some(id) = running.operation.model.clone() else { return Ok(()) };
    let key = running.operation.key;
    let cause = running.operation.triggered_by.first().cloned().unwrap_or_default();
    let new = super::lifecycle::new_refresh(&running.engine, &id, &cause, false);
    let new = store::operations::NewOperation { automatic: true, joins_running: true, ..new };
    let now = running.engine.now();
    let queued = crate::handle::write_bank(
        &running.engine,
        &running.bank,
        "follow_up_refresh",
        move |tx, bank| {
            if !store::operations::take_rerun(tx, key)? {
                return Ok(false);
            }
            let Some(model) = store::models::find(tx, bank, &id)? else { return Ok(false) };
            if !crate::fresh::of_one(tx, bank, &model.head)?.needs_refresh {
                return Ok(false);
            }
            store::operations::submit(tx, bank, &new, now)?;
            Ok(true)
        },
    )
    .await?;
    if queued {
        crate::ops::wake(&running.engine);
    }
    Ok(())
}
