//! The end of a run without a result: why, on record, and nothing else. What is published stays
//! untouched.

use super::Failure;
use super::commit::failed_trace;
use super::course::Course;
use super::plan::Plan;
use super::record::{self, Ending};
use crate::Result;
use crate::models::automatic;
use crate::models::loaded::to_json;
use crate::ops::{Handled, Running, Stopped};
use domain::Instant;
use domain::refresh::{Outcome, next_delta_failures};
use domain::schedule::{AfterFailure, FailureClass, after_failure};
use domain::trigger::RefreshMode;
use store::operations::End;

/// How a run without a result ended.
pub(super) fn ending(failure: &Failure, plan: Option<&Plan>, started_at: Instant) -> Ending {
    let requested = plan.map_or(RefreshMode::Full, |plan| plan.model.trigger.mode);
    let outcome =
        failure.reason.map_or(Outcome::Cancelled, domain::refresh::FailureReason::outcome);
    Ending {
        requested,
        effective: plan.map_or(requested, |plan| plan.mode.effective),
        fallback: plan.and_then(|plan| plan.mode.reason),
        outcome,
        failure: failure.reason,
        report: failure.reason.map(|_| failure.report.clone()),
        version: None,
        proposal: None,
        trace: None,
        started_at,
    }
}

/// Writes the end of a run without a result: nothing but `last_run`, counters and the record. What
/// the queue will try again is given back as the error it was; it counts as a failure once it has
/// been tried for the last time.
pub(super) async fn failed(
    running: &Running,
    course: &Course<'_>,
    plan: Option<&Plan>,
    started_at: Instant,
    failure: Failure,
) -> Result<Handled> {
    let now = running.engine.now();
    let operation = running.operation.clone();
    let Some(id) = operation.model.clone() else { return Err(failure.error) };
    let quota = crate::ops::quota_until(&failure.error, now);
    let class = quota.map_or(failure.class, FailureClass::QuotaUntil);
    let next = after_failure(operation.retry_count, class, now);
    let cancelled = failure.reason.is_none();
    // A run that is stopped because the program ends, or the day's tokens are spent, goes on later.
    let comes_back = running.stopped().is_some_and(Stopped::comes_back);
    let is_final = if cancelled { !comes_back } else { next == AfterFailure::Fail };
    let ending = ending(&failure, plan, started_at);
    let drafted = failure.drafted.clone();
    let plan = plan.cloned();
    let (run, bank) = (course.run.clone(), running.bank.clone());
    let written = running
        .engine
        .store()
        .write("fail_refresh", move |tx| {
            let key = store::banks::key(tx, &bank)?;
            let Some(mut model) = store::models::find(tx, key, &id)? else { return Ok(false) };
            let (plan, drafted) = (plan.as_ref(), drafted.as_deref());
            let trace = drafted.map(|drafted| failed_trace(drafted, &ending, plan, now));
            let warnings = drafted.map(|drafted| drafted.warnings.clone()).unwrap_or_default();
            let expected = model.head.version;
            model.last_run = Some(record::last_run(
                &ending,
                Some(&operation),
                &warnings,
                trace.clone().filter(|_| !cancelled),
                now,
            ));
            if is_final && !cancelled {
                let head = &mut model.head;
                head.delta_failures = next_delta_failures(head.delta_failures, ending.outcome);
                automatic::failed(head, now);
            }
            store::models::save(tx, &model, expected, now)?;
            let mut row = record::refresh_run(&run, &ending, Some(&operation), plan, drafted, now);
            row.model = model.head.key;
            row.trace = trace;
            row.warnings = to_json(&record::with_caught_up(&warnings, Some(&operation)));
            let kept = plan.map_or(record::KEPT, |p| p.settings.refresh_history_max_entries);
            record::add(tx, key, &row, kept)?;
            if is_final {
                let details = Some(record::details(&ending));
                let end = match &ending.report {
                    None => End::cancelled(details),
                    Some(report) => End::failed(&report.reason, report.message.clone(), details),
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
