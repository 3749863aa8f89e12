//! What a run leaves behind whatever its end: `last_run` on the model, a row of its own, the details
//! of its operation. Shapes only.

use super::drafted::Drafted;
use super::plan::{Plan, by_type};
use crate::models::loaded::to_json;
use crate::models::show::word_of;
use crate::report::Report;
use domain::model::{LastRun, RunWarning};
use domain::refresh::{FailureReason, FallbackReason, Outcome};
use domain::trigger::RefreshMode;
use domain::{Instant, Json, ProposalId, RunId};
use serde_json::{Value, json};
use store::operations::Operation;
use store::runs::{self, RefreshRun};
use store::versions::Actor;
use store::{BankKey, ModelKey, WriteTx};

/// Records kept for each model (README 56).
const KEPT: u32 = 200;
/// Longest failure pause in hours (mental-models 12.5).
const LONGEST_PAUSE: u32 = 24;

/// How a run ended.
#[derive(Debug, Clone)]
pub(super) struct Ending {
    pub(super) requested: RefreshMode,
    pub(super) effective: RefreshMode,
    pub(super) fallback: Option<FallbackReason>,
    pub(super) outcome: Outcome,
    pub(super) failure: Option<FailureReason>,
    pub(super) report: Option<Report>,
    pub(super) version: Option<u32>,
    pub(super) proposal: Option<ProposalId>,
    pub(super) started_at: Instant,
}

impl Ending {
    pub(super) fn of(plan: &Plan, outcome: Outcome) -> Self {
        Self {
            requested: plan.model.trigger.mode,
            effective: plan.mode.effective,
            fallback: plan.mode.reason,
            outcome,
            failure: None,
            report: None,
            version: None,
            proposal: None,
            started_at: plan.started_at,
        }
    }

    /// Why the mode is not simply the trigger's, or why its edits were refused.
    fn fallback(&self) -> Option<FallbackReason> {
        match self.failure {
            Some(FailureReason::DeltaOpsFailed) => Some(FallbackReason::DeltaOpsFailed),
            Some(FailureReason::DeltaOpsAllSkipped) => Some(FallbackReason::DeltaOpsAllSkipped),
            _ => self.fallback,
        }
    }
}

/// The pause of automatic runs after failures in a row: an hour, doubled each time, a day at most.
pub(super) fn pause(streak: u32) -> chrono::Duration {
    let hours = 1_u32.checked_shl(streak.saturating_sub(1)).unwrap_or(LONGEST_PAUSE);
    chrono::Duration::hours(i64::from(hours.clamp(1, LONGEST_PAUSE)))
}

/// Who set a run going, by the first of its causes.
pub(super) fn actor(causes: &[String]) -> Actor {
    match causes.first().map(String::as_str) {
        Some("after_consolidation") => Actor::AfterConsolidation,
        Some("after_deletion") => Actor::AfterDeletion,
        Some("cron" | "full_cron") => Actor::Cron,
        _ => Actor::ManualRefresh,
    }
}

/// The column `last_run`: the domain's shape, and the report of a failure beside it.
pub(super) fn last_run(
    ending: &Ending,
    operation: &Operation,
    warnings: &[RunWarning],
    trace: Option<Value>,
    now: Instant,
) -> Value {
    let mut value = to_json(&LastRun {
        operation_id: Some(operation.id.clone()),
        started_at: ending.started_at,
        finished_at: now,
        requested_mode: ending.requested,
        effective_mode: ending.effective,
        mode_fallback_reason: ending.fallback(),
        outcome: ending.outcome,
        failure_reason: ending.failure,
        detail: ending.report.as_ref().map(|report| report.reason.clone()),
        trace: trace.map(Json),
        warnings: warnings.to_vec(),
    });
    if let (Some(object), Some(report)) = (value.as_object_mut(), &ending.report) {
        object.insert("report".to_owned(), to_json(report));
    }
    value
}

/// The details of the operation's end.
pub(super) fn details(ending: &Ending) -> Value {
    json!({
        "operation_type": "refresh_mental_model",
        "outcome": ending.outcome,
        "failure_reason": ending.failure,
        "proposal_id": ending.proposal,
        "version": ending.version,
    })
}

/// What a run could read.
pub(super) fn window(plan: &Plan) -> Value {
    json!({
        "after_seq": plan.after_seq,
        "cutoff_seq": plan.cutoff_seq,
        "watermark_seq": plan.newest.map(|mark| mark.seq),
        "memories": plan.window_count,
    })
}

/// The row of a run.
pub(super) fn refresh_run(
    id: &RunId,
    ending: &Ending,
    operation: &Operation,
    middle: Option<(&Plan, &Drafted)>,
    trace: Option<Value>,
    now: Instant,
) -> RefreshRun {
    let (plan, drafted) = middle.unzip();
    let used = drafted.map(|drafted| by_type(drafted.used.iter().map(|c| c.kind.as_str())));
    RefreshRun {
        id: id.clone(),
        model: plan.map_or(ModelKey(0), |plan| plan.model.key()),
        operation: Some(operation.id.clone()),
        trigger_causes: operation.triggered_by.clone(),
        dry_run: false,
        requested_mode: stored_mode(ending.requested),
        effective_mode: Some(stored_mode(ending.effective)),
        mode_fallback_reason: ending.fallback().map(|reason| word_of(&reason)),
        outcome: word_of(&ending.outcome),
        failure_reason: ending.failure.map(|reason| word_of(&reason)),
        report: ending.report.as_ref().map(to_json),
        scope: plan.map_or_else(|| json!({}), |plan| to_json(&plan.model.scope)),
        window: plan.map_or_else(|| json!({}), window),
        facts_retrieved: drafted.map_or_else(|| json!({}), |drafted| to_json(&drafted.retrieved)),
        facts_used: used.unwrap_or_else(|| json!({})),
        ops: drafted.map(Drafted::counts).unwrap_or_default(),
        usage: drafted.map_or_else(|| json!({}), |drafted| to_json(&drafted.usage)),
        warnings: drafted.map_or_else(|| json!([]), |drafted| to_json(&drafted.warnings)),
        version: ending.version,
        proposal: ending.proposal.clone(),
        trace,
        result: None,
        skip_count: None,
        started_at: ending.started_at,
        finished_at: now,
    }
}

fn stored_mode(mode: RefreshMode) -> runs::RefreshMode {
    match mode {
        RefreshMode::Full => runs::RefreshMode::Full,
        RefreshMode::Delta => runs::RefreshMode::Delta,
    }
}

/// Adds a row and lets the oldest go.
pub(super) fn add(tx: &WriteTx<'_>, bank: BankKey, row: &RefreshRun) -> store::Result<()> {
    runs::add_refresh(tx, bank, row)?;
    runs::trim_refreshes(tx, row.model, KEPT)?;
    Ok(())
}
