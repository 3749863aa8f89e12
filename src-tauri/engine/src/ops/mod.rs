//! The queue of operations: submit, list, cancel, retry, run, recover. What an operation does is
//! written where its subject lives; this module only claims it, runs it and writes how it ended.

mod worker;

pub(crate) use worker::start_worker;
pub use worker::{Handled, Running, run_pending};

use crate::handle::{read_bank, write_bank};
use crate::view::operation::{OperationRow, OperationStatus};
use crate::{Engine, Result};
use domain::{BankId, Json, OperationId};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use store::operations::{self, NewOperation, Operation, OperationFilter, Submitted};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Operations that a list shows; older ones are in the record of their subject.
const LISTED: u32 = 100;

/// What the running program knows of the queue beside the table: whom to wake, whom to stop.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    wake: Notify,
    running: Mutex<HashMap<OperationId, CancellationToken>>,
}

impl Queue {
    fn begin(&self, id: &OperationId) -> CancellationToken {
        let token = CancellationToken::new();
        self.lock().insert(id.clone(), token.clone());
        token
    }

    fn end(&self, id: &OperationId) {
        self.lock().remove(id);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<OperationId, CancellationToken>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
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
    engine.inner.queue.wake.notify_one();
}

/// Operations of a bank, newest first.
///
/// # Errors
/// `bank_not_found`.
pub async fn list(engine: &Engine, bank: &BankId) -> Result<Vec<OperationRow>> {
    let id = bank.clone();
    read_bank(engine, bank, move |tx, key| {
        let (rows, _) = operations::list(tx, key, &OperationFilter::default(), None, LISTED)?;
        rows.into_iter().map(|row| view(tx, &id, key, row)).collect()
    })
    .await
}

/// Stops an operation: a waiting one at once, a running one as soon as it looks.
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
    let token = engine.inner.queue.lock().get(id).cloned();
    if let Some(token) = token {
        token.cancel();
    }
}

/// Runs a failed, stopped or parked operation now.
///
/// # Errors
/// `operation_not_found`, `not_retryable`.
pub async fn retry(engine: &Engine, bank: &BankId, id: &OperationId) -> Result<OperationRow> {
    let (now, wanted, name) = (engine.now(), id.clone(), bank.clone());
    let row = write_bank(engine, bank, "retry_operation", move |tx, key| {
        let operation = operations::retry(tx, key, &wanted, now)?;
        view(tx, &name, key, operation)
    })
    .await
    .map_err(|error| match error.reason().as_str() {
        "already_finished" | "not_finished" => crate::report::fault("not_retryable").into(),
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
