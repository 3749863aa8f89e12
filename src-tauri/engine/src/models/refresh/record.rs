//! What a run leaves behind whatever its end: `last_run` on the model, a row of its own, the details
//! of its operation. Shapes only.

use super::drafted::{Drafted, remark};
use super::plan::{Plan, by_type};
use crate::models::loaded::{from_json, to_json};
use crate::models::show::{warning, word_of};
use crate::report::Report;
use crate::view::refresh::{FactCounts, RefreshRunView, RunWindow};
use domain::model::{LastRun, RunWarning};
use domain::refresh::{FailureReason, FallbackReason, Outcome};
use domain::trigger::RefreshMode;
use domain::{Instant, Json, ProposalId, RunId};
use serde_json::{Value, json};
use store::operations::Operation;
use store::runs::{self, RefreshRun};
use store::versions::Actor;
use store::{BankKey, ModelKey, WriteTx};

/// Records kept for each model where the bank's setting is not known.
pub(super) const KEPT: u32 = 200;

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
    /// The trace as it is stored, made once when all else is known.
    pub(super) trace: Option<Value>,
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
            trace: None,
            started_at: plan.started_at,
        }
    }

    /// How long the run took until `now`.
    pub(super) fn duration_ms(&self, now: Instant) -> u32 {
        u32::try_from((now - self.started_at).num_milliseconds()).unwrap_or(0)
    }

    /// Why the mode is not simply the trigger's, or why its edits were refused.
    pub(super) fn fallback(&self) -> Option<FallbackReason> {
        match self.failure {
            Some(FailureReason::DeltaOpsFailed) => Some(FallbackReason::DeltaOpsFailed),
            Some(FailureReason::DeltaOpsAllSkipped) => Some(FallbackReason::DeltaOpsAllSkipped),
            _ => self.fallback,
        }
    }
}

/// Who set a run going, by the first of its operation's causes.
pub(super) fn actor(operation: Option<&Operation>) -> Actor {
    let causes = operation.map(|operation| operation.triggered_by.as_slice()).unwrap_or_default();
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
    operation: Option<&Operation>,
    warnings: &[RunWarning],
    trace: Option<Value>,
    now: Instant,
) -> Value {
    let mut value = to_json(&LastRun {
        operation_id: operation.map(|operation| operation.id.clone()),
        started_at: ending.started_at,
        finished_at: now,
        requested_mode: ending.requested,
        effective_mode: ending.effective,
        mode_fallback_reason: ending.fallback(),
        outcome: ending.outcome,
        failure_reason: ending.failure,
        detail: ending.report.as_ref().map(|report| report.reason.clone()),
        trace: trace.map(Json),
        warnings: with_caught_up(warnings, operation),
    });
    if let (Some(object), Some(report)) = (value.as_object_mut(), &ending.report) {
        object.insert("report".to_owned(), to_json(report));
    }
    value
}

/// The warnings of a run, and beside them that it came late because the machine slept or the program
/// was closed.
pub(super) fn with_caught_up(
    warnings: &[RunWarning],
    operation: Option<&Operation>,
) -> Vec<RunWarning> {
    let late = operation.and_then(crate::models::automatic::missed_since).map(|since| {
        let since = since.format("%Y-%m-%d %H:%M");
        let text = format!("Caught up after sleep or a closed program: due since {since} UTC.");
        remark("caught_up", text)
    });
    warnings.iter().cloned().chain(late).collect()
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
pub(super) fn window(plan: &Plan) -> RunWindow {
    let seq = |seq: i64| u32::try_from(seq).unwrap_or(u32::MAX);
    RunWindow {
        created_after: plan.after_at(),
        created_before: plan.cutoff_at,
        watermark: plan.newest.map(|mark| mark.at),
        after_seq: plan.after_seq.map(seq),
        cutoff_seq: Some(seq(plan.cutoff_seq)),
        watermark_seq: plan.newest.map(|mark| seq(mark.seq)),
        memories: plan.window_count,
    }
}

/// The row of a run, without its trace.
pub(super) fn refresh_run(
    id: &RunId,
    ending: &Ending,
    operation: Option<&Operation>,
    plan: Option<&Plan>,
    drafted: Option<&Drafted>,
    now: Instant,
) -> RefreshRun {
    let used = drafted.map(|drafted| by_type(drafted.used.iter().map(|c| c.kind.as_str())));
    RefreshRun {
        id: id.clone(),
        model: plan.map_or(ModelKey(0), |plan| plan.model.key()),
        operation: operation.map(|operation| operation.id.clone()),
        trigger_causes: operation.map(|op| op.triggered_by.clone()).unwrap_or_default(),
        dry_run: operation.is_none(),
        requested_mode: stored_mode(ending.requested),
        effective_mode: Some(stored_mode(ending.effective)),
        mode_fallback_reason: ending.fallback().map(|reason| word_of(&reason)),
        outcome: word_of(&ending.outcome),
        failure_reason: ending.failure.map(|reason| word_of(&reason)),
        report: ending.report.as_ref().map(to_json),
        scope: plan.map_or_else(|| json!({}), |plan| to_json(&plan.model.scope)),
        window: plan.map_or_else(|| json!({}), |plan| read(plan, drafted)),
        facts_retrieved: drafted.map_or_else(|| json!({}), |drafted| to_json(&drafted.retrieved)),
        facts_used: used.map_or_else(|| json!({}), |used| to_json(&used)),
        ops: drafted.map(Drafted::counts).unwrap_or_default(),
        usage: drafted.map_or_else(|| json!({}), usage),
        warnings: to_json(&with_caught_up(
            drafted.map(|drafted| drafted.warnings.as_slice()).unwrap_or_default(),
            operation,
        )),
        version: ending.version,
        proposal: ending.proposal.clone(),
        trace: None,
        result: None,
        skip_count: None,
        started_at: ending.started_at,
        finished_at: now,
    }
}

/// Tokens in all, and of every call with the time it waited and the time until its first token: they
/// are kept for runs that keep no trace.
fn usage(drafted: &Drafted) -> Value {
    let mut usage = to_json(&drafted.usage);
    if let (Some(usage), Some(calls)) = (usage.as_object_mut(), drafted.trace.get("llm_calls")) {
        usage.insert("calls".to_owned(), calls.clone());
    }
    usage
}

/// A row as screens show it.
pub(super) fn view(row: RefreshRun) -> RefreshRunView {
    let counts = |value: &Value| from_json(value).unwrap_or_default();
    let warnings: Vec<RunWarning> = from_json(&row.warnings).unwrap_or_default();
    RefreshRunView {
        can_be_kept: row.result.as_ref().is_some_and(super::dry::can_be_kept),
        id: row.id,
        operation: row.operation,
        triggered_by: row.trigger_causes,
        dry_run: row.dry_run,
        requested_mode: row.requested_mode.word().to_owned(),
        effective_mode: row.effective_mode.map(|mode| mode.word().to_owned()),
        mode_fallback_reason: row.mode_fallback_reason,
        outcome: row.outcome,
        failure_reason: row.failure_reason,
        report: row.report.as_ref().and_then(from_json),
        window: from_json(&row.window).unwrap_or_default(),
        facts: FactCounts {
            retrieved: counts(&row.facts_retrieved),
            used: counts(&row.facts_used),
        },
        ops_applied: row.ops[0],
        ops_noop: row.ops[1],
        ops_skipped: row.ops[2],
        calls: row.usage.get("calls").and_then(from_json).unwrap_or_default(),
        usage: from_json(&row.usage).unwrap_or_default(),
        warnings: warnings.into_iter().map(warning).collect(),
        version: row.version,
        proposal: row.proposal,
        trace: row.trace.map(Json),
        skip_count: row.skip_count,
        started_at: row.started_at,
        finished_at: row.finished_at,
    }
}

/// What a run could read, with what became of the facts that no operation cites: without it nobody
/// could tell a fact that was judged from one that was passed over.
fn read(plan: &Plan, drafted: Option<&Drafted>) -> Value {
    let mut read = to_json(&window(plan));
    if let (Some(object), Some(drafted)) = (read.as_object_mut(), drafted) {
        let judged = json!({
            "already_reflected": drafted.judged.already_reflected,
            "irrelevant": drafted.judged.irrelevant,
        });
        object.insert("judged".to_owned(), judged);
    }
    read
}

fn stored_mode(mode: RefreshMode) -> runs::RefreshMode {
    match mode {
        RefreshMode::Full => runs::RefreshMode::Full,
        RefreshMode::Delta => runs::RefreshMode::Delta,
    }
}

/// Adds a row and lets the oldest go.
pub(super) fn add(
    tx: &WriteTx<'_>,
    bank: BankKey,
    row: &RefreshRun,
    kept: u32,
) -> store::Result<()> {
    runs::add_refresh(tx, bank, row)?;
    runs::trim_refreshes(tx, row.model, kept)?;
    Ok(())
}
