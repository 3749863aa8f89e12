//! The queue of operations: submit, list, cancel, retry, run, recover. What an operation does is
//! written where its subject lives; this module only claims it, runs it and writes how it ended.

pub(crate) mod ceiling;
mod holds;
mod worker;

// The way from memories to models: memories know operations, and operations know models.
pub use crate::models::automatic::after_consolidation;
pub(crate) use crate::models::automatic::after_deletion;
pub(crate) use crate::models::proposals::rebase::after_retraction;
pub(crate) use holds::{Means, Verdict};
pub use worker::{Handled, Running, run_pending};
pub(crate) use worker::{quota_until, quota_wait, start_worker};

use crate::handle::{read_bank, write_bank};
use crate::memory::consolidate;
use crate::report::fault;
use crate::view::operation::{
    OperationPage, OperationQuery, OperationRow, OperationStatus, Progress,
};
use crate::{Engine, Result};
use domain::{BankId, FieldFault, Json, OperationId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use store::operations::{
    self, Lane, NewOperation, Operation, OperationFilter, OperationType, Submitted,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Operations that a list shows when nothing else is said, and at most (mental-models 12.1).
const LISTED: u32 = 100;
const PAGE: u32 = 20;

/// The lanes that the worker runs: one for what a person waits for, one for everything.
const LANES: [Lane; 2] = [Lane::Explicit, Lane::Any];

/// How long the end of the program waits for running work to let go.
pub(crate) const CLOSING: Duration = Duration::from_secs(3);

/// What the running program knows of the queue beside the table: whom to wake, whom to stop.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// One for each lane: a single one would wake whichever waits, also one that may not take what
    /// was queued.
    wake: [Notify; LANES.len()],
    idle: Notify,
    running: Mutex<HashMap<OperationId, Going>>,
}

/// An operation that runs.
#[derive(Debug, Default)]
struct Going {
    stop: Stop,
    /// The step it is at, where that is not written down.
    step: Option<Progress>,
}

/// Why a running operation is told to stop. The first word counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// A person cancelled it: it ends.
    ByPerson,
    /// The program ends: it goes on at the next start, with no retry spent.
    ByShutdown,
    /// The day's tokens are spent: it goes on when there are some again.
    ByCeiling,
}

impl Stopped {
    /// Whether the operation goes back into the queue.
    #[must_use]
    pub fn comes_back(self) -> bool {
        self != Self::ByPerson
    }
}

/// Stops one running operation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop {
    token: CancellationToken,
    why: Arc<OnceLock<Stopped>>,
}

impl Stop {
    pub(crate) fn stop(&self, why: Stopped) {
        self.why.get_or_init(|| why);
        self.token.cancel();
    }

    pub(crate) fn why(&self) -> Option<Stopped> {
        self.why.get().copied()
    }
}

impl Queue {
    fn begin(&self, id: &OperationId) -> Stop {
        let stop = Stop::default();
        let going = Going { stop: stop.clone(), step: None };
        self.lock().insert(id.clone(), going);
        stop
    }

    fn step(&self, id: &OperationId, step: Progress) {
        if let Some(going) = self.lock().get_mut(id) {
            going.step = Some(step);
        }
    }

    /// The step that an operation is at, where it is not written down.
    pub(crate) fn step_of(&self, id: &OperationId) -> Option<Progress> {
        self.lock().get(id).and_then(|going| going.step.clone())
    }

    /// Puts another step, or none, in its place.
    pub(crate) fn set_step(&self, id: &OperationId, step: Option<Progress>) {
        if let Some(going) = self.lock().get_mut(id) {
            going.step = step;
        }
    }

    /// A row with the step that its operation is at.
    fn with_step(&self, row: OperationRow) -> OperationRow {
        let step = self.lock().get(&row.id).and_then(|going| going.step.clone());
        OperationRow { progress: step.or(row.progress), ..row }
    }

    fn end(&self, id: &OperationId) {
        self.lock().remove(id);
        self.idle.notify_waiters();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<OperationId, Going>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the worker: every lane, now or as soon as it waits.
    pub(crate) fn wake(&self) {
        self.wake.iter().for_each(Notify::notify_one);
    }

    /// Tells everything that runs to stop because the program ends, and waits for it a while.
    pub(crate) async fn close(&self) {
        for going in self.lock().values() {
            going.stop.stop(Stopped::ByShutdown);
        }
        let emptied = async {
            loop {
                let ended = self.idle.notified();
                if self.lock().is_empty() {
                    break;
                }
                ended.await;
            }
        };
        if tokio::time::timeout(CLOSING, emptied).await.is_err() {
            tracing::warn!("work that does not let go is taken up at the next start");
        }
    }
}

/// Queues an operation, or joins the one that does the same work, and wakes the worker.
///
/// # Errors
/// `bank_not_found`, `operation_conflict`.
pub async fn submit(engine: &Engine, bank: &BankId, new: NewOperation) -> Result<Submitted> {
    let now = engine.now();
    let submitted = write_bank(engine, bank, "submit_operation", move |tx, key| {
        operations::submit(tx, key, &new, now)
    })
    .await?;
    wake(engine);
    Ok(submitted)
}

/// Wakes the worker, for callers that queued within a transaction of their own.
pub(crate) fn wake(engine: &Engine) {
    engine.inner.queue.wake();
}

/// Operations of a bank, newest first.
///
/// # Errors
/// `bank_not_found`.
pub async fn list(engine: &Engine, bank: &BankId) -> Result<Vec<OperationRow>> {
    let id = bank.clone();
    let rows: Vec<OperationRow> = read_bank(engine, bank, move |tx, key| {
        let (rows, _) = operations::list(tx, key, &OperationFilter::default(), None, LISTED)?;
        rows.into_iter().map(|row| view(tx, &id, key, row)).collect()
    })
    .await?;
    Ok(rows.into_iter().map(|row| engine.inner.queue.with_step(row)).collect())
}

/// A page of the operations of a bank, newest first.
///
/// # Errors
/// `bank_not_found`; `invalid_request` for a kind that does not exist.
pub async fn page(engine: &Engine, bank: &BankId, query: OperationQuery) -> Result<OperationPage> {
    let kind = match query.operation_type.as_deref() {
        None => None,
        Some(word) => Some(kind_of(word)?),
    };
    let filter = OperationFilter {
        statuses: query.statuses.iter().copied().map(stored_status).collect(),
        kind,
        model: query.mental_model_id,
        since: query.since,
        until: query.until,
    };
    let limit = query.limit.unwrap_or(PAGE).clamp(1, LISTED);
    let (id, queue) = (bank.clone(), &engine.inner.queue);
    read_bank(engine, bank, move |tx, key| {
        let after = match &query.after {
            Some(last) => Some(operations::get(tx, key, last)?.key),
            None => None,
        };
        let (rows, next) = operations::list(tx, key, &filter, after, limit)?;
        let next = next.and_then(|key| rows.iter().find(|row| row.key == key));
        let next = next.map(|row| row.id.clone());
        let rows = rows.into_iter().map(|row| view(tx, &id, key, row));
        Ok(OperationPage { operations: rows.collect::<store::Result<_>>()?, next })
    })
    .await
    .map(|page| OperationPage {
        operations: page.operations.into_iter().map(|row| queue.with_step(row)).collect(),
        ..page
    })
}

fn kind_of(word: &str) -> Result<OperationType> {
    OperationType::ALL.iter().copied().find(|kind| kind.word() == word).ok_or_else(|| {
        let fault_of = FieldFault::new("operation_type", "enum", "There is no such kind of work.");
        fault("invalid_request").fields(vec![fault_of]).into()
    })
}

/// Removes the record of an operation that has ended. What models were not told of yet, because the
/// operation failed or was stopped, they are told before it is forgotten.
///
/// # Errors
/// `operation_not_found`, `not_finished`.
pub async fn delete(engine: &Engine, bank: &BankId, id: &OperationId) -> Result<()> {
    let wanted = id.clone();
    let untold =
        read_bank(engine, bank, move |tx, key| consolidate::untold_of(tx, key, &wanted)).await?;
    if let Some(touched) = untold {
        after_consolidation(engine, bank, &touched).await?;
    }
    let wanted = id.clone();
    write_bank(engine, bank, "delete_operation", move |tx, key| {
        operations::delete(tx, key, &wanted)
    })
    .await
}

/// Stops an operation: a waiting one at once, a running one as soon as it looks, at the latest
/// before it commits.
///
/// # Errors
/// `operation_not_found`, `already_finished`.
pub async fn cancel(engine: &Engine, bank: &BankId, id: &OperationId) -> Result<OperationRow> {
    let (now, wanted, name) = (engine.now(), id.clone(), bank.clone());
    let row = write_bank(engine, bank, "cancel_operation", move |tx, key| {
        let operation = operations::cancel(tx, key, &wanted, now)?;
        view(tx, &name, key, operation)
    })
    .await?;
    stop(engine, id);
    Ok(row)
}

/// Tells a running operation to stop as soon as it looks; nothing is written.
pub(crate) fn stop(engine: &Engine, id: &OperationId) {
    let running = engine.inner.queue.lock().get(id).map(|going| going.stop.clone());
    if let Some(stop) = running {
        stop.stop(Stopped::ByPerson);
    }
}

/// Runs a failed, stopped or parked operation now, or one that is held for the day's tokens: from
/// then on it counts as asked for.
///
/// # Errors
/// `operation_not_found`, `not_retryable`.
pub async fn retry(engine: &Engine, bank: &BankId, id: &OperationId) -> Result<OperationRow> {
    let (now, wanted, name) = (engine.now(), id.clone(), bank.clone());
    let row = write_bank(engine, bank, "retry_operation", move |tx, key| {
        let operation = operations::retry(tx, key, &wanted, now)?;
        if operation.id != wanted {
            let ended = operations::get(tx, key, &wanted)?;
            consolidate::hand_over(tx, &ended, &operation)?;
        }
        view(tx, &name, key, operation)
    })
    .await
    .map_err(|error| match error.reason().as_str() {
        "already_finished" | "not_finished" => fault("not_retryable").into(),
        _ => error,
    })?;
    wake(engine);
    Ok(row)
}

/// An operation as screens show it.
fn view(
    tx: &store::ReadTx<'_>,
    bank: &BankId,
    key: store::BankKey,
    operation: Operation,
) -> store::Result<OperationRow> {
    let subject = match (&operation.model, operation.payload.get("title")) {
        (Some(model), _) => store::models::find(tx, key, model)?.map(|model| model.head.name),
        (None, Some(title)) => title.as_str().map(str::to_owned),
        (None, None) => None,
    };
    Ok(OperationRow {
        id: operation.id,
        bank: bank.clone(),
        operation_type: operation.kind.word().to_owned(),
        status: status(operation.status),
        subject,
        mental_model_id: operation.model,
        progress: operation.progress.and_then(|value| serde_json::from_value(value).ok()),
        triggered_by: operation.triggered_by,
        held_reason: operation.held.map(|held| held.word().to_owned()),
        next_retry_at: operation.next_retry_at,
        automatic: operation.automatic,
        full: operation.forced_full,
        retry_count: operation.retry_count,
        details: operation.details.map(Json),
        result: operation.result.map(Json),
        error_reason: operation.error_reason,
        error_message: operation.error_message,
        created_at: operation.created_at,
        started_at: operation.started_at,
        completed_at: operation.completed_at,
    })
}

fn status(status: operations::OperationStatus) -> OperationStatus {
    use operations::OperationStatus as S;
    match status {
        S::Pending => OperationStatus::Pending,
        S::Processing => OperationStatus::Processing,
        S::Completed => OperationStatus::Completed,
        S::Failed => OperationStatus::Failed,
        S::Cancelled => OperationStatus::Cancelled,
    }
}

fn stored_status(status: OperationStatus) -> operations::OperationStatus {
    use operations::OperationStatus as S;
    match status {
        OperationStatus::Pending => S::Pending,
        OperationStatus::Processing => S::Processing,
        OperationStatus::Completed => S::Completed,
        OperationStatus::Failed => S::Failed,
        OperationStatus::Cancelled => S::Cancelled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Waker};

    #[test]
    fn a_wake_reaches_every_lane_and_is_kept_for_one_that_runs_something() {
        let queue = Queue::default();
        let mut context = Context::from_waker(Waker::noop());
        let mut waits = pin!(queue.wake[0].notified());
        assert!(waits.as_mut().poll(&mut context).is_pending());
        queue.wake();
        assert!(waits.as_mut().poll(&mut context).is_ready());
        let mut comes_later = pin!(queue.wake[1].notified());
        assert!(comes_later.as_mut().poll(&mut context).is_ready());
    }
}
