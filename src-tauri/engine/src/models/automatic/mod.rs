//! Refreshes that no person asked for: what sets one going, whether it may run, and what is on record
//! where it may not. Schedules, ends of consolidations and deletions all submit through here, so that
//! each obeys the same pauses and reviews. How a refresh runs is not known here.

mod gate;
mod schedule;
mod triggers;

pub(crate) use gate::about_to_run;
pub(crate) use schedule::{LastLook, start};
pub use schedule::{Ticked, tick};
pub use triggers::after_consolidation;
pub(crate) use triggers::{after_deletion, after_end, take_up_marks};

use crate::Engine;
use crate::models::loaded::to_json;
use domain::model::Cause;
use domain::refresh::{Gate, Skip};
use domain::{Instant, ModelId, OperationId, RunId};
use serde_json::{Value, json};
use store::models::ModelHead;
use store::operations::{self, HeldReason, NewOperation, Operation};
use store::runs::{self, RefreshMode, RefreshRun, SKIPPED};
use store::{BankKey, WriteTx};

/// Records kept for each model (README 56).
const KEPT: u32 = 200;

/// Payload of an operation that catches up: the first boundary that was missed.
pub(super) const MISSED_SINCE: &str = "missed_since";

/// What asks for a refresh.
#[derive(Debug, Clone, Copy)]
struct Trigger {
    cause: Cause,
    /// What the cause rests on holds: the document needs a refresh, or, for full rebuilds,
    /// something in scope changed.
    needed: bool,
    /// The first boundary that was missed, where it catches up.
    missed_since: Option<Instant>,
}

impl Trigger {
    fn of(cause: Cause, needed: bool) -> Self {
        Self { cause, needed, missed_since: None }
    }

    fn word(self) -> String {
        to_json(&self.cause).as_str().unwrap_or_default().to_owned()
    }
}

/// What became of a trigger.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    /// A new operation waits, perhaps held.
    Queued(OperationId),
    /// One that waits or runs takes it in.
    Joined,
    /// Nothing runs.
    Skipped(Skip),
}

/// Submits an automatic refresh, or records why there is none.
fn submit(
    tx: &WriteTx<'_>,
    engine: &Engine,
    head: &ModelHead,
    trigger: Trigger,
    now: Instant,
) -> store::Result<Fate> {
    let mut new = operation(engine, head, trigger);
    let waits = !operations::unfinished_of_model(tx, head.bank, &head.id)?.is_empty();
    if !waits {
        match gate::of_trigger(tx, head, trigger.needed, now)? {
            Gate::Run => {}
            Gate::Hold => new.held = Some(HeldReason::ReviewInProgress),
            Gate::Skip(skip) => {
                record(tx, engine, head, &new, skip, now)?;
                return Ok(Fate::Skipped(skip));
            }
        }
    }
    let submitted = operations::submit(tx, head.bank, &new, now)?;
    if submitted.is_deduplicated() {
        return Ok(Fate::Joined);
    }
    if new.held.is_some() {
        record(tx, engine, head, &new, Skip::Review, now)?;
    }
    Ok(Fate::Queued(submitted.operation().id.clone()))
}

fn operation(engine: &Engine, head: &ModelHead, trigger: Trigger) -> NewOperation {
    let full = trigger.cause == Cause::FullCron;
    let new = super::lifecycle::new_refresh(engine, &head.id, &trigger.word(), full);
    let payload = match trigger.missed_since {
        Some(since) => json!({ MISSED_SINCE: since }),
        None => json!({}),
    };
    NewOperation { automatic: true, joins_running: true, payload, ..new }
}

/// Puts a trigger that led to no run on record.
fn record(
    tx: &WriteTx<'_>,
    engine: &Engine,
    head: &ModelHead,
    new: &NewOperation,
    skip: Skip,
    now: Instant,
) -> store::Result<()> {
    let run = skipped(RunId(engine.new_id()), head, &new.triggered_by, skip, now);
    let run = RefreshRun { operation: new.held.map(|_| new.id.clone()), ..run };
    add(tx, head.bank, &run)
}

/// Puts on record that a due operation was put off.
pub(crate) fn record_put_off(
    tx: &WriteTx<'_>,
    operation: &Operation,
    skip: Skip,
    id: RunId,
    now: Instant,
) -> store::Result<()> {
    let Some(model) = &operation.model else { return Ok(()) };
    let Some(model) = store::models::find(tx, operation.bank, model)? else { return Ok(()) };
    let run = skipped(id, &model.head, &operation.triggered_by, skip, now);
    add(tx, operation.bank, &RefreshRun { operation: Some(operation.id.clone()), ..run })
}

fn add(tx: &WriteTx<'_>, bank: BankKey, run: &RefreshRun) -> store::Result<()> {
    runs::add_refresh(tx, bank, run)?;
    runs::trim_refreshes(tx, run.model, KEPT)?;
    Ok(())
}

/// The record of a trigger that led to no run.
fn skipped(id: RunId, head: &ModelHead, causes: &[String], skip: Skip, now: Instant) -> RefreshRun {
    let trigger = domain::trigger::StatedTrigger::from_stored(&head.trigger).0.effective();
    let nothing = || json!({});
    RefreshRun {
        id,
        model: head.key,
        operation: None,
        trigger_causes: causes.to_vec(),
        dry_run: false,
        requested_mode: match trigger.mode {
            domain::trigger::RefreshMode::Full => RefreshMode::Full,
            domain::trigger::RefreshMode::Delta => RefreshMode::Delta,
        },
        effective_mode: None,
        mode_fallback_reason: None,
        outcome: SKIPPED.to_owned(),
        failure_reason: to_json(&skip).as_str().map(str::to_owned),
        report: None,
        scope: to_json(&crate::fresh::scope_of(head)),
        window: nothing(),
        facts_retrieved: nothing(),
        facts_used: nothing(),
        ops: [0; 3],
        usage: nothing(),
        warnings: json!([]),
        version: None,
        proposal: None,
        trace: None,
        result: None,
        skip_count: None,
        started_at: now,
        finished_at: now,
    }
}

/// The first boundary that an operation's run catches up with, if it does.
pub(super) fn missed_since(operation: &Operation) -> Option<Instant> {
    operation.payload.get(MISSED_SINCE).and_then(Value::as_str)?.parse().ok()
}

/// What a change of the provider's settings means for refreshes: the failures may have been about
/// it, so no model is held back any longer.
pub(crate) fn provider_changed(tx: &WriteTx<'_>, now: Instant) -> store::Result<()> {
    store::models::lift_pauses(tx)?;
    operations::unpark(tx, None, now)?;
    Ok(())
}

/// The same of a change of one model's settings; `paused_until` is the caller's to clear.
pub(super) fn settings_changed(
    tx: &WriteTx<'_>,
    bank: BankKey,
    model: &ModelId,
    now: Instant,
) -> store::Result<()> {
    operations::unpark(tx, Some((bank, model)), now)?;
    Ok(())
}

/// What the start of the program makes of a refresh that was cut off too often: a failed run.
pub(crate) fn gave_up(tx: &WriteTx<'_>, operation: &Operation, now: Instant) -> store::Result<()> {
    let Some(id) = &operation.model else { return Ok(()) };
    let Some(mut model) = store::models::find(tx, operation.bank, id)? else { return Ok(()) };
    let expected = model.head.version;
    failed(&mut model.head, now);
    store::models::save(tx, &model, expected, now)
}

/// Counts a run that ended as failed and holds back what no person asks for (mental-models 12.5).
pub(super) fn failed(head: &mut ModelHead, now: Instant) {
    head.last_refresh_failed_at = Some(now);
    head.failure_streak = head.failure_streak.saturating_add(1);
    head.paused_until = domain::schedule::paused_until(head.failure_streak, now);
}
