//! The queue of operations: joining, claiming, ending, recovering. What an operation does is not
//! known here, nor when a trigger may submit one.

mod claim;
mod queue;

use domain::{DocumentId, Instant, ModelId, OperationId};
use rusqlite::Row;
use serde_json::Value;

pub use claim::{
    Claim, Lane, begin, held, hold, let_go, next_claimable, next_due, park, release, unpark,
};
pub use queue::{
    End, Requeued, Submitted, cancel, finish, marked_at_end, progress, recover, requeue, retry,
    set_payload, step_committed, submit, take_rerun,
};

use crate::error::{Error, Result, Thing};
use crate::keys::{BankKey, OperationKey};
use crate::row;
use crate::tx::{ReadTx, WriteTx};

row::words! {
    /// The kinds of operation.
    OperationType {
        /// Reading a document into facts.
        Retain = "retain",
        /// The parent of several retains.
        BatchRetain = "batch_retain",
        /// Folding facts into observations.
        Consolidation = "consolidation",
        /// Looking for lost neighbours.
        GraphMaintenance = "graph_maintenance",
        /// Refreshing a mental model.
        RefreshMentalModel = "refresh_mental_model",
        /// Corrections in bulk.
        Curate = "curate",
        /// Computing missing vectors.
        EmbedBackfill = "embed_backfill",
        /// Building the search rows anew.
        RebuildIndex = "rebuild_index",
        /// Taking in an archive or facts.
        Import = "import",
        /// Writing an archive.
        Export = "export",
        /// Copying the file.
        Backup = "backup",
        /// Sending a bank to a server.
        Push = "push",
        /// Fetching a bank from a server.
        Pull = "pull",
    }
}

row::words! {
    /// Where an operation stands.
    OperationStatus {
        /// Waiting, parked or held.
        Pending = "pending",
        /// Running.
        Processing = "processing",
        /// Ended well.
        Completed = "completed",
        /// Ended badly.
        Failed = "failed",
        /// Stopped.
        Cancelled = "cancelled",
    }
}

impl OperationStatus {
    /// Whether it has ended.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

row::words! {
    /// Why a pending operation may not be claimed.
    HeldReason {
        /// A proposal of its model is under review.
        ReviewInProgress = "review_in_progress",
        /// No language model is set up.
        LlmNotConfigured = "llm_not_configured",
        /// The day's tokens are used up.
        TokenCeiling = "token_ceiling",
        /// A person paused it.
        PausedByPerson = "paused_by_person",
    }
}

/// An operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// Its key.
    pub key: OperationKey,
    /// Its id.
    pub id: OperationId,
    /// Its bank.
    pub bank: BankKey,
    /// Its kind.
    pub kind: OperationType,
    /// Where it stands.
    pub status: OperationStatus,
    /// The mental model it concerns.
    pub model: Option<ModelId>,
    /// The document it concerns.
    pub document: Option<DocumentId>,
    /// The operation it is a part of.
    pub parent: Option<OperationKey>,
    /// What makes two pending ones the same.
    pub dedupe_key: Option<String>,
    /// Whether no person asked for it.
    pub automatic: bool,
    /// What set it going, in order.
    pub triggered_by: Vec<String>,
    /// Whether a full rebuild is forced.
    pub forced_full: bool,
    /// Whether to look again when it ends.
    pub rerun: bool,
    /// Why it may not be claimed.
    pub held: Option<HeldReason>,
    /// What it works on, as the engine shapes it.
    pub payload: Value,
    /// How far it has come.
    pub progress: Option<Value>,
    /// What it gave.
    pub result: Option<Value>,
    /// Details of its end.
    pub details: Option<Value>,
    /// The reason of its failure.
    pub error_reason: Option<String>,
    /// Its failure in words.
    pub error_message: Option<String>,
    /// How often it was tried again.
    pub retry_count: u32,
    /// Not to be claimed before this.
    pub next_retry_at: Option<Instant>,
    /// Whether it shall stop.
    pub cancel_requested: bool,
    /// How many items it works on.
    pub items_count: u32,
    /// When it was submitted.
    pub created_at: Instant,
    /// When its row last changed.
    pub updated_at: Instant,
    /// When it was last claimed.
    pub started_at: Option<Instant>,
    /// When it ended.
    pub completed_at: Option<Instant>,
}

/// An operation to submit.
#[derive(Debug, Clone, PartialEq)]
pub struct NewOperation {
    /// Its id, made or chosen by the caller.
    pub id: OperationId,
    /// Its kind.
    pub kind: OperationType,
    /// The mental model it concerns.
    pub model: Option<ModelId>,
    /// The document it concerns; operations on one document run one at a time.
    pub document: Option<DocumentId>,
    /// The operation it is a part of.
    pub parent: Option<OperationKey>,
    /// What makes two pending ones the same; those run one at a time, too.
    pub dedupe_key: Option<String>,
    /// Whether no person asked for it.
    pub automatic: bool,
    /// Whether an automatic one joins a running one of the same key (and marks it to look again)
    /// instead of waiting behind it.
    pub joins_running: bool,
    /// What set it going.
    pub triggered_by: Vec<String>,
    /// Whether a full rebuild is forced.
    pub forced_full: bool,
    /// Why it may not be claimed yet.
    pub held: Option<HeldReason>,
    /// Not to be claimed before this.
    pub not_before: Option<Instant>,
    /// What it works on, as the engine shapes it.
    pub payload: Value,
    /// A hash of the payload as the caller gave it, for ids that are used twice.
    pub payload_hash: Vec<u8>,
    /// How many items it works on.
    pub items_count: u32,
}

impl NewOperation {
    /// An operation that a person asked for, with nothing but its kind and payload; the rest is
    /// filled in by struct update.
    #[must_use]
    pub fn asked(id: OperationId, kind: OperationType, payload: Value) -> Self {
        Self {
            id,
            kind,
            model: None,
            document: None,
            parent: None,
            dedupe_key: None,
            automatic: false,
            joins_running: false,
            triggered_by: Vec::new(),
            forced_full: false,
            held: None,
            not_before: None,
            payload,
            payload_hash: Vec::new(),
            items_count: 0,
        }
    }
}

pub(crate) const COLUMNS: &str = "id, uid, bank_id, operation_type, status, mental_model_uid, \
    document_uid, parent_id, dedupe_key, automatic, triggered_by, mode, rerun, held_reason, \
    payload, progress, result, details, error_reason, error_message, retry_count, next_retry_at, \
    cancel_requested, items_count, created_at, updated_at, started_at, completed_at";

pub(crate) fn read(r: &Row<'_>) -> rusqlite::Result<Operation> {
    Ok(Operation {
        key: r.get(0)?,
        id: OperationId(r.get(1)?),
        bank: r.get(2)?,
        kind: r.get(3)?,
        status: r.get(4)?,
        model: r.get::<_, Option<String>>(5)?.map(ModelId),
        document: r.get::<_, Option<String>>(6)?.map(DocumentId),
        parent: r.get(7)?,
        dedupe_key: r.get(8)?,
        automatic: r.get(9)?,
        triggered_by: row::parsed(r, 10)?,
        forced_full: r.get::<_, Option<String>>(11)?.is_some(),
        rerun: r.get(12)?,
        held: r.get(13)?,
        payload: row::json(r, 14)?,
        progress: row::json_opt(r, 15)?,
        result: row::json_opt(r, 16)?,
        details: row::json_opt(r, 17)?,
        error_reason: r.get(18)?,
        error_message: r.get(19)?,
        retry_count: row::count(r, 20)?,
        next_retry_at: row::at_opt(r, 21)?,
        cancel_requested: r.get(22)?,
        items_count: row::count(r, 23)?,
        created_at: row::at(r, 24)?,
        updated_at: row::at(r, 25)?,
        started_at: row::at_opt(r, 26)?,
        completed_at: row::at_opt(r, 27)?,
    })
}

/// An operation, if there is one of this id in the bank.
pub fn find(tx: &ReadTx<'_>, bank: BankKey, id: &OperationId) -> Result<Option<Operation>> {
    tx.find(
        &format!("SELECT {COLUMNS} FROM operation WHERE uid = ?2 AND bank_id = ?1"),
        (bank, &id.0),
        read,
    )
}

/// An operation by its id.
///
/// # Errors
/// `NotFound`.
pub fn get(tx: &ReadTx<'_>, bank: BankKey, id: &OperationId) -> Result<Operation> {
    find(tx, bank, id)?.ok_or_else(|| Error::not_found(Thing::Operation, &id.0))
}

/// An operation by its key.
///
/// # Errors
/// `NotFound`.
pub fn by_key(tx: &ReadTx<'_>, key: OperationKey) -> Result<Operation> {
    tx.find(&format!("SELECT {COLUMNS} FROM operation WHERE id = ?1"), [key], read)?
        .ok_or_else(|| Error::not_found(Thing::Operation, key.0.to_string()))
}

/// What a list of operations shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OperationFilter {
    /// Only these states; empty means all.
    pub statuses: Vec<OperationStatus>,
    /// Only this kind.
    pub kind: Option<OperationType>,
    /// Only of this model.
    pub model: Option<ModelId>,
    /// Only those submitted at this moment or later.
    pub since: Option<Instant>,
    /// Only those submitted before this moment.
    pub until: Option<Instant>,
}

/// A page of operations, newest first; `after` is the last one shown. Gives where the next page
/// begins.
pub fn list(
    tx: &ReadTx<'_>,
    bank: BankKey,
    filter: &OperationFilter,
    after: Option<OperationKey>,
    limit: u32,
) -> Result<(Vec<Operation>, Option<OperationKey>)> {
    let created: i64 = match after {
        None => i64::MAX,
        Some(key) => tx
            .find("SELECT created_at FROM operation WHERE id = ?1", [key], |r| r.get(0))?
            .unwrap_or(i64::MAX),
    };
    let statuses =
        (!filter.statuses.is_empty()).then(|| row::text(&filter.statuses)).transpose()?;
    let rows = tx.list(
        &format!(
            "SELECT {COLUMNS} FROM operation
             WHERE bank_id = ?1 AND (created_at, id) < (?2, ?3)
               AND (?4 IS NULL OR status IN (SELECT value FROM json_each(?4)))
               AND (?5 IS NULL OR operation_type = ?5)
               AND (?6 IS NULL OR mental_model_uid = ?6)
               AND created_at >= ?8 AND created_at < ?9
             ORDER BY created_at DESC, id DESC LIMIT ?7"
        ),
        (
            bank,
            created,
            after.unwrap_or(OperationKey(i64::MAX)),
            statuses,
            filter.kind,
            filter.model.as_ref().map(ModelId::as_str),
            limit,
            row::ms(filter.since).unwrap_or(i64::MIN),
            row::ms(filter.until).unwrap_or(i64::MAX),
        ),
        read,
    )?;
    let full = u32::try_from(rows.len()).unwrap_or(u32::MAX) == limit;
    let next = rows.last().filter(|_| full).map(|last| last.key);
    Ok((rows, next))
}

/// The operations of a model that have not ended, oldest first.
pub fn unfinished_of_model(
    tx: &ReadTx<'_>,
    bank: BankKey,
    model: &ModelId,
) -> Result<Vec<Operation>> {
    tx.list(
        &format!(
            "SELECT {COLUMNS} FROM operation
             WHERE bank_id = ?1 AND mental_model_uid = ?2 AND status IN ('pending', 'processing')
             ORDER BY id"
        ),
        (bank, &model.0),
        read,
    )
}

/// How many operations of a bank stand where.
pub fn counts(tx: &ReadTx<'_>, bank: BankKey) -> Result<Vec<(OperationStatus, u32)>> {
    tx.list(
        "SELECT status, count(*) FROM operation WHERE bank_id = ?1 GROUP BY status ORDER BY status",
        [bank],
        |r| Ok((r.get(0)?, row::count(r, 1)?)),
    )
}

/// Removes an operation that has ended.
///
/// # Errors
/// `OperationState` when it has not; `NotFound`.
pub fn delete(tx: &WriteTx<'_>, bank: BankKey, id: &OperationId) -> Result<()> {
    let operation = get(tx, bank, id)?;
    if !operation.status.is_terminal() {
        return Err(Error::OperationState {
            id: id.0.clone(),
            status: operation.status.word().to_owned(),
        });
    }
    tx.run("DELETE FROM operation WHERE id = ?1", [operation.key])?;
    tx.changed(bank, domain::CacheTag::Operations, Some(&id.0))
}

/// The operations of a kind, running or ended, whose payload sets a flag, oldest first.
pub fn flagged(
    tx: &ReadTx<'_>,
    bank: BankKey,
    kind: OperationType,
    flag: &str,
) -> Result<Vec<Operation>> {
    tx.list(
        &format!(
            "SELECT {COLUMNS} FROM operation
             WHERE bank_id = ?1 AND operation_type = ?2 AND status <> 'pending'
               AND json_extract(payload, '$.' || ?3) = 1
             ORDER BY id"
        ),
        (bank, kind, flag),
        read,
    )
}

/// Removes operations that ended before a moment, but for those whose payload sets the flag `keep`;
/// gives their number.
pub fn sweep(tx: &WriteTx<'_>, before: Instant, keep: &str) -> Result<usize> {
    tx.run(
        "DELETE FROM operation
         WHERE status IN ('completed', 'failed', 'cancelled') AND completed_at < ?1
           AND json_extract(payload, '$.' || ?2) IS NOT 1",
        (domain::time::to_millis(before), keep),
    )
}
