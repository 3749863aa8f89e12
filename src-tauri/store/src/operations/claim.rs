//! Which operation runs next, and what keeps a waiting one from running: a moment it is parked
//! until, a reason it is held for. Whether it is to be parked or held is decided elsewhere.

use domain::time::to_millis;
use domain::{CacheTag, Instant};

use super::queue::told;
use super::{COLUMNS, HeldReason, Operation, OperationType, read};
use crate::error::Result;
use crate::keys::{BankKey, OperationKey};
use crate::row;
use crate::tx::{ReadTx, WriteTx};

/// The lanes of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Asked for by a person.
    Explicit,
    /// Set going by the program.
    Automatic,
    /// Either; what a person asked for goes first.
    Any,
}

/// What a worker can take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The lane.
    pub lane: Lane,
    /// The kinds it can run.
    pub kinds: Vec<OperationType>,
    /// How many refreshes may run at once in the whole program.
    pub max_refreshes: u32,
}

/// The operation that would be taken next: the oldest that is due and not held, whose model,
/// document or key has no running one, and no older waiting one of its document.
pub fn next_claimable(tx: &ReadTx<'_>, claim: &Claim, now: Instant) -> Result<Option<Operation>> {
    let automatic = match claim.lane {
        Lane::Explicit => Some(false),
        Lane::Automatic => Some(true),
        Lane::Any => None,
    };
    let next: Option<OperationKey> = tx.find(
        include_str!("../../sql/operation_next.sql"),
        (to_millis(now), automatic, row::text(&claim.kinds)?, claim.max_refreshes),
        |r| r.get(0),
    )?;
    next.map(|key| super::by_key(tx, key)).transpose()
}

/// Marks a waiting operation as running.
pub fn begin(tx: &WriteTx<'_>, key: OperationKey, now: Instant) -> Result<Operation> {
    tx.run(
        "UPDATE operation SET status = 'processing', started_at = ?2, updated_at = ?2,
             next_retry_at = NULL, progress = NULL
         WHERE id = ?1 AND status = 'pending'",
        (key, to_millis(now)),
    )?;
    told(tx, key)
}

/// The earliest moment after `now` at which a parked operation falls due.
pub fn next_due(tx: &ReadTx<'_>, now: Instant) -> Result<Option<Instant>> {
    tx.find(
        "SELECT next_retry_at FROM operation
         WHERE status = 'pending' AND next_retry_at > ?1 AND held_reason IS NULL
         ORDER BY next_retry_at LIMIT 1",
        [to_millis(now)],
        |r| row::at(r, 0),
    )
}

/// Puts a waiting operation off until a moment. No failure: nothing else of it changes.
pub fn park(tx: &WriteTx<'_>, key: OperationKey, until: Instant, now: Instant) -> Result<()> {
    tx.run(
        "UPDATE operation SET next_retry_at = ?2, updated_at = ?3
         WHERE id = ?1 AND status = 'pending'",
        (key, to_millis(until), to_millis(now)),
    )?;
    told(tx, key).map(|_| ())
}

/// Makes parked automatic refreshes due, of one model or (none) of all, so that what parked them is
/// looked at again. Those that wait after a failure go on waiting. Gives their number.
pub fn unpark(
    tx: &WriteTx<'_>,
    model: Option<(BankKey, &domain::ModelId)>,
    now: Instant,
) -> Result<usize> {
    let (bank, id) = model.unzip();
    tx.run(
        "UPDATE operation SET next_retry_at = NULL, updated_at = ?3
         WHERE status = 'pending' AND automatic = 1 AND retry_count = 0
           AND next_retry_at IS NOT NULL AND operation_type = 'refresh_mental_model'
           AND (?1 IS NULL OR (bank_id = ?1 AND mental_model_uid = ?2))",
        (bank, id.map(domain::ModelId::as_str), to_millis(now)),
    )
}

/// The waiting operations of all banks that are held, oldest first.
pub fn held(tx: &ReadTx<'_>) -> Result<Vec<Operation>> {
    tx.list(
        &format!(
            "SELECT {COLUMNS} FROM operation
             WHERE status = 'pending' AND held_reason IS NOT NULL ORDER BY id"
        ),
        [],
        read,
    )
}

/// Ends the hold of one waiting operation.
pub fn let_go(tx: &WriteTx<'_>, key: OperationKey, now: Instant) -> Result<()> {
    tx.run(
        "UPDATE operation SET held_reason = NULL, updated_at = ?2
         WHERE id = ?1 AND status = 'pending'",
        (key, to_millis(now)),
    )?;
    told(tx, key).map(|_| ())
}

/// Holds a waiting operation for a reason.
pub fn hold(tx: &WriteTx<'_>, key: OperationKey, reason: HeldReason, now: Instant) -> Result<()> {
    tx.run(
        "UPDATE operation SET held_reason = ?2, updated_at = ?3 WHERE id = ?1 AND status = 'pending'",
        (key, reason, to_millis(now)),
    )?;
    told(tx, key).map(|_| ())
}

/// Releases the operations held for a reason, of one model or (none) of the whole bank; gives their
/// number.
pub fn release(
    tx: &WriteTx<'_>,
    bank: BankKey,
    reason: HeldReason,
    model: Option<&domain::ModelId>,
    now: Instant,
) -> Result<usize> {
    let released = tx.run(
        "UPDATE operation SET held_reason = NULL, updated_at = ?4
         WHERE bank_id = ?1 AND status = 'pending' AND held_reason = ?2
           AND (?3 IS NULL OR mental_model_uid = ?3)",
        (bank, reason, model.map(domain::ModelId::as_str), to_millis(now)),
    )?;
    if released > 0 {
        tx.changed(bank, CacheTag::Operations, None)?;
    }
    Ok(released)
}
