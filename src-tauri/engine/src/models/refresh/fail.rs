//! The end of a run without a result: why, on record, and nothing else. What is published stays
//! untouched.

use super::Failure;
use super::plan::Plan;
use super::record::{self, Ending};
use crate::Result;
use crate::models::loaded::to_json;
use crate::ops::{Handled, Running};
use domain::refresh::{Outcome, next_delta_failures};
use domain::trigger::RefreshMode;
use domain::{Instant, ModelId, RunId};
use store::operations::End;

/// Writes the end of a run without a result: nothing but `last_run`, counters and the record. What
/// the queue will try again is given back as the error it was.
pub(super) async fn failed(
    running: &Running,
    id: &ModelId,
    plan: Option<&Plan>,
    requested: RefreshMode,
    started_at: Instant,
    failure: Failure,
) -> Result<Handled> {
    let now = running.engine.now();
    let operation = running.operation.clone();
    let next = domain::schedule::after_failure(operation.retry_count, failure.class, now);
    let cancelled = failure.reason.is_none();
    let is_final = cancelled || next == domain::schedule::AfterFailure::Fail;
    let outcome =
        failure.reason.map_or(Outcome::Cancelled, domain::refresh::FailureReason::outcome);
    let ending = Ending {
        requested,
        effective: plan.map_or(requested, |plan| plan.mode.effective),
        fallback: plan.and_then(|plan| plan.mode.reason),
        outcome,
        failure: failure.reason,
        report: (!cancelled).then(|| failure.report.clone()),
        version: None,
        proposal: None,
        started_at,
    };
    let trace = failure.trace.clone();
    let run = RunId(running.engine.new_id());
    let (bank, id) = (running.bank.clone(), id.clone());
    let warnings = failure.warnings.clone();
    let plan = plan.cloned();
    let written = running
        .engine
        .store()
        .write("fail_refresh", move |tx| {
            let key = store::banks::key(tx, &bank)?;
            let Some(mut model) = store::models::find(tx, key, &id)? else { return Ok(false) };
            let expected = model.head.version;
            model.last_run =
                Some(record::last_run(&ending, &operation, &warnings, trace.clone(), now));
            if !cancelled {
                model.head.delta_failures = next_delta_failures(model.head.delta_failures, outcome);
                model.head.last_refresh_failed_at = Some(now);
                if is_final {
                    model.head.failure_streak = model.head.failure_streak.saturating_add(1);
                    model.head.paused_until = Some(now + record::pause(model.head.failure_streak));
                }
            }
            store::models::save(tx, &model, expected, now)?;
            let mut row = record::refresh_run(&run, &ending, &operation, None, trace.clone(), now);
            row.model = model.head.key;
            row.warnings = to_json(&warnings);
            if let Some(plan) = &plan {
                row.scope = to_json(&plan.model.scope);
                row.window = record::window(plan);
            }
            record::add(tx, key, &row)?;
            if is_final {
                let end = match &ending.report {
                    None => End::cancelled(Some(record::details(&ending))),
                    Some(report) => End::failed(
                        &report.reason,
                        report.message.clone(),
                        Some(record::details(&ending)),
                    ),
                };
                store::operations::finish(tx, operation.key, &end, now)?;
            }
            Ok(true)
        })
        .await?;
    if is_final && written {
        return Ok(Handled { cancelled, written: true, ..Handled::default() });
    }
    Err(failure.error)
}
