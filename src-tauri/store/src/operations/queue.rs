//! The movements of an operation between its states (mental-models.md 12).

use domain::time::to_millis;
use domain::{CacheTag, Instant, OperationId};
use rusqlite::params;
use serde_json::{Value, json};

use super::{COLUMNS, HeldReason, NewOperation, Operation, OperationStatus, read};
use crate::error::{Error, Result};
use crate::keys::{BankKey, OperationKey};
use crate::row;
use crate::tx::{ReadTx, WriteTx};

/// How often a run that was cut off is taken up again.
const MAX_RECOVERIES: u32 = 3;
/// Longest kept message of a failure, in characters.
const MAX_MESSAGE: usize = 5_000;

/// What became of a submit.
#[derive(Debug, Clone, PartialEq)]
pub enum Submitted {
    /// It waits in the queue.
    Inserted(Operation),
    /// A waiting one does the same work and took over its causes.
    JoinedPending(Operation),
    /// A running one was marked to look again when it ends.
    JoinedRunning(Operation),
    /// The id was submitted before with the same payload.
    Same(Operation),
}

impl Submitted {
    /// The operation that does the work.
    #[must_use]
    pub fn operation(&self) -> &Operation {
        match self {
            Self::Inserted(o) | Self::JoinedPending(o) | Self::JoinedRunning(o) | Self::Same(o) => {
                o
            }
        }
    }

    /// Whether nothing new was queued.
    #[must_use]
    pub fn is_deduplicated(&self) -> bool {
        !matches!(self, Self::Inserted(_))
    }
}

/// Submits an operation, or joins the one that does the same work.
///
/// # Errors
/// `OperationConflict` when the id was used for another payload.
pub fn submit(
    tx: &WriteTx<'_>,
    bank: BankKey,
    new: &NewOperation,
    now: Instant,
) -> Result<Submitted> {
    if let Some(same) = same_id(tx, bank, new)? {
        return Ok(Submitted::Same(same));
    }
    if let Some(key) = &new.dedupe_key {
        if let Some(waiting) = with_key(tx, bank, key, OperationStatus::Pending)? {
            let (causes, full) = (&new.triggered_by, new.forced_full);
            let joined = join(tx, &waiting, causes, full, !new.automatic, now)?;
            return Ok(Submitted::JoinedPending(joined));
        }
        if new.joins_running
            && new.automatic
            && let Some(running) = with_key(tx, bank, key, OperationStatus::Processing)?
        {
            return Ok(Submitted::JoinedRunning(mark(tx, &running, new, now)?));
        }
    }
    let key = OperationKey(tx.insert(
        include_str!("../../sql/operation_insert.sql"),
        params![
            new.id.0,
            bank,
            new.kind,
            new.model.as_ref().map(domain::ModelId::as_str),
            new.document.as_ref().map(domain::DocumentId::as_str),
            new.parent,
            new.dedupe_key,
            new.automatic,
            row::text(&new.triggered_by)?,
            new.forced_full.then_some("full"),
            new.held,
            row::text(&new.payload)?,
            new.payload_hash,
            row::ms(new.not_before),
            new.items_count,
            to_millis(now),
        ],
    )?);
    Ok(Submitted::Inserted(told(tx, key)?))
}

fn same_id(tx: &WriteTx<'_>, bank: BankKey, new: &NewOperation) -> Result<Option<Operation>> {
    let known: Option<(BankKey, Vec<u8>)> =
        tx.find("SELECT bank_id, payload_hash FROM operation WHERE uid = ?1", [&new.id.0], |r| {
            Ok((r.get(0)?, r.get(1)?))
        })?;
    match known {
        None => Ok(None),
        Some((known, hash)) if known == bank && hash == new.payload_hash => {
            super::find(tx, bank, &new.id)
        }
        Some(_) => Err(Error::OperationConflict { id: new.id.0.clone() }),
    }
}

fn with_key(
    tx: &ReadTx<'_>,
    bank: BankKey,
    key: &str,
    status: OperationStatus,
) -> Result<Option<Operation>> {
    tx.find(
        &format!(
            "SELECT {COLUMNS} FROM operation
             WHERE bank_id = ?1 AND dedupe_key = ?2 AND status = ?3 ORDER BY id LIMIT 1"
        ),
        (bank, key, status),
        read,
    )
}

/// A waiting operation takes over the causes and the force of another. An explicit one makes it
/// explicit and due, whatever it was held for: what may not run at all is refused before.
fn join(
    tx: &WriteTx<'_>,
    waiting: &Operation,
    causes: &[String],
    forced_full: bool,
    explicit: bool,
    now: Instant,
) -> Result<Operation> {
    tx.run(
        "UPDATE operation SET triggered_by = ?2, mode = ?3, automatic = ?4, next_retry_at = ?5,
             held_reason = iif(?4, held_reason, NULL), updated_at = ?6
         WHERE id = ?1",
        (
            waiting.key,
            row::text(&united(&waiting.triggered_by, causes))?,
            (waiting.forced_full || forced_full).then_some("full"),
            waiting.automatic && !explicit,
            if explicit { None } else { row::ms(waiting.next_retry_at) },
            to_millis(now),
        ),
    )?;
    told(tx, waiting.key)
}

/// Some causes and those of others that are not among them.
fn united(first: &[String], then: &[String]) -> Vec<String> {
    let more = then.iter().filter(|cause| !first.contains(cause));
    first.iter().chain(more).cloned().collect()
}

/// A running operation is to look again when it ends, and remembers on whose behalf.
fn mark(
    tx: &WriteTx<'_>,
    running: &Operation,
    new: &NewOperation,
    now: Instant,
) -> Result<Operation> {
    let mut causes = rerun_causes(running);
    for cause in &new.triggered_by {
        if !causes.contains(cause) {
            causes.push(cause.clone());
        }
    }
    tx.run(
        "UPDATE operation SET rerun = 1, payload = json_set(payload, '$.rerun', json(?2)),
             updated_at = ?3
         WHERE id = ?1",
        (running.key, row::text(&causes)?, to_millis(now)),
    )?;
    told(tx, running.key)
}

fn rerun_causes(operation: &Operation) -> Vec<String> {
    let causes = operation.payload.get("rerun").and_then(Value::as_array);
    causes.into_iter().flatten().filter_map(|cause| cause.as_str().map(str::to_owned)).collect()
}

/// Replaces the payload, for joined operations whose work is united.
pub fn set_payload(tx: &WriteTx<'_>, key: OperationKey, payload: &Value) -> Result<()> {
    tx.run("UPDATE operation SET payload = ?2 WHERE id = ?1", (key, row::text(payload)?))?;
    Ok(())
}

/// Notes the change of an operation and reads it.
pub(super) fn told(tx: &WriteTx<'_>, key: OperationKey) -> Result<Operation> {
    let operation = super::by_key(tx, key)?;
    tx.changed(operation.bank, CacheTag::Operations, Some(&operation.id.0))?;
    Ok(operation)
}

/// Writes how far an operation has come. Tells nobody: progress travels by its own event.
pub fn progress(tx: &WriteTx<'_>, key: OperationKey, progress: &Value, now: Instant) -> Result<()> {
    tx.run(
        "UPDATE operation SET progress = ?2, updated_at = ?3
         WHERE id = ?1 AND status = 'processing'",
        (key, row::text(progress)?, to_millis(now)),
    )?;
    Ok(())
}

/// Notes that an operation that commits in steps has committed one: recoveries count anew.
pub fn step_committed(tx: &WriteTx<'_>, key: OperationKey, now: Instant) -> Result<()> {
    tx.run(
        "UPDATE operation SET retry_count = 0, updated_at = ?2 WHERE id = ?1",
        (key, to_millis(now)),
    )?;
    Ok(())
}

/// How an operation ended.
#[derive(Debug, Clone, PartialEq)]
pub struct End {
    /// A terminal state.
    pub status: OperationStatus,
    /// What it gave.
    pub result: Option<Value>,
    /// Details.
    pub details: Option<Value>,
    /// The reason and the words of a failure.
    pub error: Option<(String, String)>,
}

impl End {
    /// It ended well.
    #[must_use]
    pub fn completed(result: Option<Value>, details: Option<Value>) -> Self {
        Self { status: OperationStatus::Completed, result, details, error: None }
    }

    /// It ended badly.
    #[must_use]
    pub fn failed(reason: &str, message: impl Into<String>, details: Option<Value>) -> Self {
        Self {
            status: OperationStatus::Failed,
            result: None,
            details,
            error: Some((reason.to_owned(), message.into())),
        }
    }

    /// It was stopped.
    #[must_use]
    pub fn cancelled(details: Option<Value>) -> Self {
        Self { status: OperationStatus::Cancelled, result: None, details, error: None }
    }
}

/// Ends a running operation.
///
/// # Errors
/// `OperationState` when it is not running.
pub fn finish(tx: &WriteTx<'_>, key: OperationKey, end: &End, now: Instant) -> Result<Operation> {
    let (reason, message) = match &end.error {
        Some((reason, message)) => {
            (Some(reason.as_str()), Some(message.chars().take(MAX_MESSAGE).collect::<String>()))
        }
        None => (None, None),
    };
    let n = tx.run(
        "UPDATE operation SET status = ?2, result = ?3, details = ?4, error_reason = ?5,
             error_message = ?6, completed_at = ?7, updated_at = ?7, next_retry_at = NULL
         WHERE id = ?1 AND status = 'processing'",
        (
            key,
            end.status,
            row::text_opt(end.result.as_ref())?,
            row::text_opt(end.details.as_ref())?,
            reason,
            message,
            to_millis(now),
        ),
    )?;
    let operation = told(tx, key)?;
    if n == 0 { Err(state_fault(&operation)) } else { Ok(operation) }
}

fn state_fault(operation: &Operation) -> Error {
    Error::OperationState { id: operation.id.0.clone(), status: operation.status.word().to_owned() }
}

/// What became of a run that went back to the queue.
#[derive(Debug, Clone, PartialEq)]
pub enum Requeued {
    /// It waits.
    Pending(Operation),
    /// Another one that waits does its work; it ended.
    Folded {
        /// The run that ended.
        ended: Operation,
        /// The one that waits.
        into: OperationId,
    },
}

/// Puts a running operation back into the queue: parked until `not_before`, held for a reason, or
/// due at once. `spends_retry` counts it as a retry. If another one of its key waits already, it
/// ends instead (failed with `error`, or cancelled without one) and that one inherits its causes.
///
/// # Errors
/// `OperationState` when it is not running.
pub fn requeue(
    tx: &WriteTx<'_>,
    key: OperationKey,
    not_before: Option<Instant>,
    held: Option<HeldReason>,
    spends_retry: bool,
    error: Option<(&str, &str)>,
    now: Instant,
) -> Result<Requeued> {
    let operation = super::by_key(tx, key)?;
    if operation.status != OperationStatus::Processing {
        return Err(state_fault(&operation));
    }
    if let Some(dedupe) = &operation.dedupe_key
        && let Some(waiting) = with_key(tx, operation.bank, dedupe, OperationStatus::Pending)?
    {
        return fold(tx, &operation, &waiting, error, now);
    }
    tx.run(
        "UPDATE operation SET status = 'pending', next_retry_at = ?2, held_reason = ?3,
             retry_count = retry_count + ?4, error_reason = ?5, error_message = ?6,
             started_at = NULL, progress = NULL, updated_at = ?7
         WHERE id = ?1",
        (
            key,
            row::ms(not_before),
            held,
            i64::from(spends_retry),
            error.map(|(reason, _)| reason),
            error.map(|(_, message)| message.chars().take(MAX_MESSAGE).collect::<String>()),
            to_millis(now),
        ),
    )?;
    told(tx, key).map(Requeued::Pending)
}

/// A run ends because a waiting one does its work. What a person asked for stays asked for.
fn fold(
    tx: &WriteTx<'_>,
    operation: &Operation,
    waiting: &Operation,
    error: Option<(&str, &str)>,
    now: Instant,
) -> Result<Requeued> {
    tx.run(
        "UPDATE operation SET triggered_by = ?2, mode = ?3, automatic = ?4, updated_at = ?5
         WHERE id = ?1",
        (
            waiting.key,
            row::text(&united(&operation.triggered_by, &waiting.triggered_by))?,
            (operation.forced_full || waiting.forced_full).then_some("full"),
            operation.automatic && waiting.automatic,
            to_millis(now),
        ),
    )?;
    let details = Some(json!({ "folded_into": waiting.id }));
    let end = match error {
        Some((reason, message)) => End::failed(reason, message, details),
        None => End::cancelled(details),
    };
    told(tx, waiting.key)?;
    let ended = finish(tx, operation.key, &end, now)?;
    Ok(Requeued::Folded { ended, into: waiting.id.clone() })
}

/// Takes the mark to look again off an operation; gives the causes on whose behalf it was set, or
/// nothing where it was not.
pub fn take_rerun(tx: &WriteTx<'_>, key: OperationKey) -> Result<Option<Vec<String>>> {
    let operation = super::by_key(tx, key)?;
    if !operation.rerun {
        return Ok(None);
    }
    tx.run(
        "UPDATE operation SET rerun = 0, payload = json_remove(payload, '$.rerun') WHERE id = ?1",
        [key],
    )?;
    Ok(Some(rerun_causes(&operation)))
}

/// The ended operations that still bear a mark: the program stopped between their end and the look.
pub fn marked_at_end(tx: &ReadTx<'_>) -> Result<Vec<Operation>> {
    tx.list(
        &format!(
            "SELECT {COLUMNS} FROM operation
             WHERE status IN ('completed', 'failed', 'cancelled') AND rerun = 1 ORDER BY id"
        ),
        [],
        read,
    )
}

/// Cancels a waiting operation at once and asks a running one to stop; gives its state afterwards.
///
/// # Errors
/// `OperationState` when it has ended; `NotFound`.
pub fn cancel(
    tx: &WriteTx<'_>,
    bank: BankKey,
    id: &OperationId,
    now: Instant,
) -> Result<Operation> {
    let operation = super::get(tx, bank, id)?;
    match operation.status {
        OperationStatus::Pending => {
            tx.run(
                "UPDATE operation SET status = 'cancelled', cancel_requested = 1,
                     completed_at = ?2, updated_at = ?2, next_retry_at = NULL, held_reason = NULL
                 WHERE id = ?1",
                (operation.key, to_millis(now)),
            )?;
        }
        OperationStatus::Processing => {
            tx.run(
                "UPDATE operation SET cancel_requested = 1, updated_at = ?2 WHERE id = ?1",
                (operation.key, to_millis(now)),
            )?;
        }
        OperationStatus::Completed | OperationStatus::Failed | OperationStatus::Cancelled => {
            return Err(state_fault(&operation));
        }
    }
    told(tx, operation.key)
}

/// Puts a failed, cancelled, parked or held operation into the queue, due at once and as asked for
/// by a person, so that no interval or ceiling puts it off again. If another one of its key waits
/// already, that one is made due so and given instead.
///
/// # Errors
/// `OperationState` when it is running, completed, waiting and due, or held for something that only
/// goes by itself; `NotFound`.
pub fn retry(tx: &WriteTx<'_>, bank: BankKey, id: &OperationId, now: Instant) -> Result<Operation> {
    let operation = super::get(tx, bank, id)?;
    match operation.status {
        OperationStatus::Failed | OperationStatus::Cancelled => {}
        OperationStatus::Pending if may_run_now(&operation, now) => {}
        _ => return Err(state_fault(&operation)),
    }
    if operation.status != OperationStatus::Pending
        && let Some(key) = &operation.dedupe_key
        && let Some(waiting) = with_key(tx, bank, key, OperationStatus::Pending)?
    {
        // A review is waited for, whoever asked.
        if waiting.held.is_some() && !may_run_now(&waiting, now) {
            return Ok(waiting);
        }
        let (causes, full) = (&operation.triggered_by, operation.forced_full);
        return join(tx, &waiting, causes, full, true, now);
    }
    tx.run(
        "UPDATE operation SET status = 'pending', automatic = 0, held_reason = NULL,
             error_reason = NULL, error_message = NULL, details = NULL, completed_at = NULL,
             next_retry_at = NULL, retry_count = 0, cancel_requested = 0, updated_at = ?2
         WHERE id = ?1",
        (operation.key, to_millis(now)),
    )?;
    told(tx, operation.key)
}

fn may_run_now(operation: &Operation, now: Instant) -> bool {
    match operation.held {
        None => operation.next_retry_at.is_some_and(|at| at > now),
        Some(HeldReason::TokenCeiling | HeldReason::PausedByPerson) => true,
        Some(HeldReason::ReviewInProgress | HeldReason::LlmNotConfigured) => false,
    }
}

/// Takes up the runs of a process that died: back to the queue with one recovery spent, or failed
/// when they were cut off too often. To be called once at start, before any claim. Gives the
/// operations as they are afterwards.
pub fn recover(tx: &WriteTx<'_>, now: Instant) -> Result<Vec<Operation>> {
    let cut_off = tx.list(
        &format!("SELECT {COLUMNS} FROM operation WHERE status = 'processing' ORDER BY id"),
        [],
        read,
    )?;
    let mut after = Vec::new();
    for operation in cut_off {
        let error = ("interrupted", "The program ended while this was running.");
        after.push(if operation.cancel_requested {
            finish(tx, operation.key, &End::cancelled(None), now)?
        } else if operation.retry_count < MAX_RECOVERIES {
            match requeue(tx, operation.key, None, None, true, Some(error), now)? {
                Requeued::Pending(operation) => operation,
                Requeued::Folded { ended, .. } => ended,
            }
        } else {
            let end = End::failed("interrupted", "exceeded recovery attempts", None);
            finish(tx, operation.key, &end, now)?
        });
    }
    Ok(after)
}
