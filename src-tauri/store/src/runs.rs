//! Records of reflects and refreshes, kept after the operation is gone. What a run did is the
//! engine's JSON.

use domain::time::to_millis;
use domain::{CacheTag, Instant, ModelId, OperationId, ProposalId, RunId};
use rusqlite::{Row, params};
use serde_json::Value;

use crate::error::{Error, Result, Thing};
use crate::keys::{BankKey, ModelKey};
use crate::row;
use crate::tx::{ReadTx, WriteTx};

row::words! {
    /// Where a reflect stands.
    ReflectStatus {
        /// Going on.
        Running = "running",
        /// Answered.
        Finished = "finished",
        /// Failed.
        Failed = "failed",
        /// Stopped.
        Cancelled = "cancelled",
    }
}

row::words! {
    /// Where a reflect was asked.
    ReflectOrigin {
        /// In the window.
        Window = "window",
        /// Over REST.
        Rest = "rest",
        /// Over MCP.
        Mcp = "mcp",
    }
}

/// The record of a reflect.
#[derive(Debug, Clone, PartialEq)]
pub struct ReflectRun {
    /// Its id.
    pub id: RunId,
    /// The question.
    pub query: String,
    /// The request.
    pub request: Value,
    /// Where it stands.
    pub status: ReflectStatus,
    /// The answer.
    pub text: Option<String>,
    /// The structured answer.
    pub structured_output: Option<Value>,
    /// Why there is none.
    pub structured_output_error: Option<Value>,
    /// What the answer rests on.
    pub based_on: Option<Value>,
    /// Which part rests on what.
    pub evidence_spans: Option<Value>,
    /// The trace.
    pub trace: Value,
    /// The usage.
    pub usage: Value,
    /// The warnings.
    pub warnings: Value,
    /// Why it failed.
    pub report: Option<Value>,
    /// What it had found, for "try again".
    pub material: Option<Value>,
    /// Where it was asked.
    pub origin: ReflectOrigin,
    /// Whether it is kept whatever the limit.
    pub pinned: bool,
    /// When it began.
    pub started_at: Instant,
    /// When it ended.
    pub finished_at: Option<Instant>,
}

const REFLECT: &str = "uid, query, request, status, text, structured_output, \
    structured_output_error, based_on, evidence_spans, trace, usage, warnings, report, material, \
    origin, pinned, started_at, finished_at";

fn read_reflect(r: &Row<'_>) -> rusqlite::Result<ReflectRun> {
    Ok(ReflectRun {
        id: RunId(r.get(0)?),
        query: r.get(1)?,
        request: row::json(r, 2)?,
        status: r.get(3)?,
        text: r.get(4)?,
        structured_output: row::json_opt(r, 5)?,
        structured_output_error: row::json_opt(r, 6)?,
        based_on: row::json_opt(r, 7)?,
        evidence_spans: row::json_opt(r, 8)?,
        trace: row::json(r, 9)?,
        usage: row::json(r, 10)?,
        warnings: row::json(r, 11)?,
        report: row::json_opt(r, 12)?,
        material: row::json_opt(r, 13)?,
        origin: r.get(14)?,
        pinned: r.get(15)?,
        started_at: row::at(r, 16)?,
        finished_at: row::at_opt(r, 17)?,
    })
}

/// Writes the record of a reflect, new or moved on.
pub fn put_reflect(tx: &WriteTx<'_>, bank: BankKey, run: &ReflectRun) -> Result<()> {
    tx.run(
        include_str!("../sql/reflect_run_put.sql"),
        params![
            run.id.0,
            bank,
            run.query,
            row::text(&run.request)?,
            run.status,
            run.text,
            row::text_opt(run.structured_output.as_ref())?,
            row::text_opt(run.structured_output_error.as_ref())?,
            row::text_opt(run.based_on.as_ref())?,
            row::text_opt(run.evidence_spans.as_ref())?,
            row::text(&run.trace)?,
            row::text(&run.usage)?,
            row::text(&run.warnings)?,
            row::text_opt(run.report.as_ref())?,
            row::text_opt(run.material.as_ref())?,
            run.origin,
            run.pinned,
            to_millis(run.started_at),
            row::ms(run.finished_at),
        ],
    )?;
    tx.changed(bank, CacheTag::Runs, Some(&run.id.0))
}

/// The record of a reflect.
///
/// # Errors
/// `NotFound`.
pub fn get_reflect(tx: &ReadTx<'_>, bank: BankKey, id: &RunId) -> Result<ReflectRun> {
    tx.find(
        &format!("SELECT {REFLECT} FROM reflect_run WHERE uid = ?2 AND bank_id = ?1"),
        (bank, &id.0),
        read_reflect,
    )?
    .ok_or_else(|| Error::not_found(Thing::Run, &id.0))
}

/// A reflect in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ReflectRow {
    /// Its id.
    pub id: RunId,
    /// The question.
    pub query: String,
    /// Where it stands.
    pub status: ReflectStatus,
    /// Whether it is kept whatever the limit.
    pub pinned: bool,
    /// When it began.
    pub started_at: Instant,
    /// When it ended.
    pub finished_at: Option<Instant>,
    /// The usage.
    pub usage: Value,
}

/// The newest reflects of a bank, at most `limit`.
pub fn list_reflects(tx: &ReadTx<'_>, bank: BankKey, limit: u32) -> Result<Vec<ReflectRow>> {
    tx.list(
        "SELECT uid, query, status, pinned, started_at, finished_at, usage FROM reflect_run
         WHERE bank_id = ?1 ORDER BY id DESC LIMIT ?2",
        (bank, limit),
        |r| {
            Ok(ReflectRow {
                id: RunId(r.get(0)?),
                query: r.get(1)?,
                status: r.get(2)?,
                pinned: r.get(3)?,
                started_at: row::at(r, 4)?,
                finished_at: row::at_opt(r, 5)?,
                usage: row::json(r, 6)?,
            })
        },
    )
}

/// What an answered reflect was asked with and what it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReflectCost {
    /// The word of its budget; none where the question stated none.
    pub budget: Option<String>,
    /// Whether fields were asked for.
    pub structured: bool,
    /// Requests to the language model.
    pub calls: u32,
    /// Tokens sent.
    pub input_tokens: u32,
    /// Tokens received.
    pub output_tokens: u32,
}

/// The newest answered reflects of a bank that asked a language model, at most `limit`; with
/// `before` only those asked before that one.
pub fn reflect_costs(
    tx: &ReadTx<'_>,
    bank: BankKey,
    before: Option<&RunId>,
    limit: u32,
) -> Result<Vec<ReflectCost>> {
    tx.list(
        "SELECT request ->> '$.budget',
                coalesce(json_type(request, '$.response_schema'), 'null') <> 'null',
                json_array_length(trace, '$.llm_calls') AS calls,
                coalesce(usage ->> '$.input_tokens', 0), coalesce(usage ->> '$.output_tokens', 0)
         FROM reflect_run
         WHERE bank_id = ?1 AND status = 'finished' AND calls > 0
           AND id < coalesce((SELECT id FROM reflect_run WHERE bank_id = ?1 AND uid = ?2),
                             9223372036854775807)
         ORDER BY id DESC LIMIT ?3",
        (bank, before.map(|run| &run.0), limit),
        |r| {
            Ok(ReflectCost {
                budget: r.get(0)?,
                structured: r.get(1)?,
                calls: r.get(2)?,
                input_tokens: r.get(3)?,
                output_tokens: r.get(4)?,
            })
        },
    )
}

/// Keeps the record of a reflect whatever the limit, or no longer.
///
/// # Errors
/// `NotFound`.
pub fn pin_reflect(tx: &WriteTx<'_>, bank: BankKey, id: &RunId, pinned: bool) -> Result<()> {
    let n = tx.run(
        "UPDATE reflect_run SET pinned = ?3 WHERE uid = ?2 AND bank_id = ?1",
        (bank, &id.0, pinned),
    )?;
    if n == 0 {
        return Err(Error::not_found(Thing::Run, &id.0));
    }
    tx.changed(bank, CacheTag::Runs, Some(&id.0))
}

/// Removes the oldest reflects of a bank beyond `kept`; pinned ones are apart. Gives the number.
pub fn trim_reflects(tx: &WriteTx<'_>, bank: BankKey, kept: u32) -> Result<usize> {
    tx.run(
        "DELETE FROM reflect_run WHERE id IN (
             SELECT id FROM reflect_run WHERE bank_id = ?1 AND pinned = 0 AND status <> 'running'
             ORDER BY id DESC LIMIT -1 OFFSET ?2)",
        (bank, kept),
    )
}

/// Marks reflects that a dead process left running as failed; gives their number. To be called
/// once at start.
pub fn recover_reflects(tx: &WriteTx<'_>, report: &Value, now: Instant) -> Result<usize> {
    tx.run(
        "UPDATE reflect_run SET status = 'failed', report = ?1, finished_at = ?2
         WHERE status = 'running'",
        (row::text(report)?, to_millis(now)),
    )
}

row::words! {
    /// The modes of a refresh.
    RefreshMode {
        /// The document is built anew.
        Full = "full",
        /// The document is edited.
        Delta = "delta",
    }
}

/// The record of a refresh, or of a series of skips for one reason.
#[derive(Debug, Clone, PartialEq)]
pub struct RefreshRun {
    /// Its id.
    pub id: RunId,
    /// Its model.
    pub model: ModelKey,
    /// The operation that ran it.
    pub operation: Option<OperationId>,
    /// What set it going.
    pub trigger_causes: Vec<String>,
    /// Whether it wrote nothing on purpose.
    pub dry_run: bool,
    /// The mode asked for.
    pub requested_mode: RefreshMode,
    /// The mode it ran in; none for a skip.
    pub effective_mode: Option<RefreshMode>,
    /// Why the two differ.
    pub mode_fallback_reason: Option<String>,
    /// How it ended.
    pub outcome: String,
    /// Why it failed, or was skipped.
    pub failure_reason: Option<String>,
    /// The report of a failure.
    pub report: Option<Value>,
    /// The resolved scope.
    pub scope: Value,
    /// What it could read.
    pub window: Value,
    /// Facts read, by type.
    pub facts_retrieved: Value,
    /// Facts used, by type.
    pub facts_used: Value,
    /// Delta operations applied, without effect, skipped.
    pub ops: [u32; 3],
    /// The usage.
    pub usage: Value,
    /// The warnings.
    pub warnings: Value,
    /// The version it published.
    pub version: Option<u32>,
    /// The proposal it ended as.
    pub proposal: Option<ProposalId>,
    /// The trace, where it is kept.
    pub trace: Option<Value>,
    /// What keeping a dry run needs.
    pub result: Option<Value>,
    /// How many skips this row stands for.
    pub skip_count: Option<u32>,
    /// When it began.
    pub started_at: Instant,
    /// When it ended.
    pub finished_at: Instant,
}

/// The outcome of a trigger that led to no run.
pub const SKIPPED: &str = "skipped";

const REFRESH: &str = "uid, model_id, operation_uid, trigger_causes, dry_run, requested_mode, \
    effective_mode, mode_fallback_reason, outcome, failure_reason, report, scope, \"window\", \
    facts_retrieved, facts_used, ops_applied, ops_noop, ops_skipped, usage, warnings, version, \
    proposal_uid, trace, result, skip_count, started_at, finished_at";

fn read_refresh(r: &Row<'_>) -> rusqlite::Result<RefreshRun> {
    let number = |column| -> rusqlite::Result<Option<u32>> {
        Ok(r.get::<_, Option<i64>>(column)?.and_then(|n| u32::try_from(n).ok()))
    };
    Ok(RefreshRun {
        id: RunId(r.get(0)?),
        model: r.get(1)?,
        operation: r.get::<_, Option<String>>(2)?.map(OperationId),
        trigger_causes: row::parsed(r, 3)?,
        dry_run: r.get(4)?,
        requested_mode: r.get(5)?,
        effective_mode: r.get(6)?,
        mode_fallback_reason: r.get(7)?,
        outcome: r.get(8)?,
        failure_reason: r.get(9)?,
        report: row::json_opt(r, 10)?,
        scope: row::json(r, 11)?,
        window: row::json(r, 12)?,
        facts_retrieved: row::json(r, 13)?,
        facts_used: row::json(r, 14)?,
        ops: [row::count(r, 15)?, row::count(r, 16)?, row::count(r, 17)?],
        usage: row::json(r, 18)?,
        warnings: row::json(r, 19)?,
        version: number(20)?,
        proposal: r.get::<_, Option<String>>(21)?.map(ProposalId),
        trace: row::json_opt(r, 22)?,
        result: row::json_opt(r, 23)?,
        skip_count: number(24)?,
        started_at: row::at(r, 25)?,
        finished_at: row::at(r, 26)?,
    })
}

/// Adds the record of a refresh. A skip for the same reason as the model's newest record is
/// counted there instead.
pub fn add_refresh(tx: &WriteTx<'_>, bank: BankKey, run: &RefreshRun) -> Result<()> {
    tx.changed(bank, CacheTag::Runs, Some(&run.id.0))?;
    if run.outcome == SKIPPED && counted(tx, run)? {
        return Ok(());
    }
    tx.run(
        include_str!("../sql/refresh_run_insert.sql"),
        params![
            run.id.0,
            run.model,
            run.operation.as_ref().map(OperationId::as_str),
            row::text(&run.trigger_causes)?,
            run.dry_run,
            run.requested_mode,
            run.effective_mode,
            run.mode_fallback_reason,
            run.outcome,
            run.failure_reason,
            row::text_opt(run.report.as_ref())?,
            row::text(&run.scope)?,
            row::text(&run.window)?,
            row::text(&run.facts_retrieved)?,
            row::text(&run.facts_used)?,
            run.ops[0],
            run.ops[1],
            run.ops[2],
            row::text(&run.usage)?,
            row::text(&run.warnings)?,
            run.version,
            run.proposal.as_ref().map(ProposalId::as_str),
            row::text_opt(run.trace.as_ref())?,
            row::text_opt(run.result.as_ref())?,
            run.skip_count.or((run.outcome == SKIPPED).then_some(1)),
            to_millis(run.started_at),
            to_millis(run.finished_at),
        ],
    )?;
    Ok(())
}

fn counted(tx: &WriteTx<'_>, run: &RefreshRun) -> Result<bool> {
    let n = tx.run(
        "UPDATE refresh_run SET skip_count = coalesce(skip_count, 1) + 1, finished_at = ?3
         WHERE id = (SELECT id FROM refresh_run WHERE model_id = ?1 ORDER BY id DESC LIMIT 1)
           AND outcome = 'skipped' AND failure_reason IS ?2",
        (run.model, &run.failure_reason, to_millis(run.finished_at)),
    )?;
    Ok(n > 0)
}

/// The record of a refresh, with the id of its model.
///
/// # Errors
/// `NotFound`.
pub fn get_refresh(tx: &ReadTx<'_>, bank: BankKey, id: &RunId) -> Result<(ModelId, RefreshRun)> {
    let run = tx
        .find(&format!("SELECT {REFRESH} FROM refresh_run WHERE uid = ?1"), [&id.0], read_refresh)?
        .ok_or_else(|| Error::not_found(Thing::Run, &id.0))?;
    let model = tx
        .find(
            "SELECT uid FROM mental_model WHERE id = ?1 AND bank_id = ?2",
            (run.model, bank),
            |r| Ok(ModelId(r.get(0)?)),
        )?
        .ok_or_else(|| Error::not_found(Thing::Run, &id.0))?;
    Ok((model, run))
}

/// The records of a model, newest first, at most `limit`.
pub fn list_refreshes(tx: &ReadTx<'_>, model: ModelKey, limit: u32) -> Result<Vec<RefreshRun>> {
    tx.list(
        &format!("SELECT {REFRESH} FROM refresh_run WHERE model_id = ?1 ORDER BY id DESC LIMIT ?2"),
        (model, limit),
        read_refresh,
    )
}

/// Adds a warning to the newest record of an operation's refresh.
pub fn warn_refresh(
    tx: &WriteTx<'_>,
    model: ModelKey,
    operation: &OperationId,
    warning: &Value,
) -> Result<()> {
    tx.run(
        "UPDATE refresh_run SET warnings = json_insert(warnings, '$[#]', json(?3))
         WHERE id = (SELECT id FROM refresh_run WHERE model_id = ?1 AND operation_uid = ?2
                     ORDER BY id DESC LIMIT 1)",
        (model, operation.as_str(), row::text(warning)?),
    )?;
    Ok(())
}

/// How far the newest full run of a model has read that did its job, if it is still on record.
pub fn newest_full_cutoff(tx: &ReadTx<'_>, model: ModelKey) -> Result<Option<i64>> {
    let cutoff: Option<Option<i64>> = tx.find(
        "SELECT json_extract(\"window\", '$.cutoff_seq') FROM refresh_run
         WHERE model_id = ?1 AND dry_run = 0 AND effective_mode = 'full'
           AND outcome IN ('content_written', 'content_unchanged', 'proposal_created',
                           'content_preserved_no_new_facts')
         ORDER BY id DESC LIMIT 1",
        [model],
        |r| r.get(0),
    )?;
    Ok(cutoff.flatten())
}

/// Removes the oldest records of a model beyond `kept`; gives the number.
pub fn trim_refreshes(tx: &WriteTx<'_>, model: ModelKey, kept: u32) -> Result<usize> {
    tx.run(
        "DELETE FROM refresh_run WHERE id IN (
             SELECT id FROM refresh_run WHERE model_id = ?1 ORDER BY id DESC LIMIT -1 OFFSET ?2)",
        (model, kept),
    )
}

/// Replaces what a dry run keeps, with the proposal that it became.
///
/// # Errors
/// `NotFound`.
pub fn put_dry_run_result(
    tx: &WriteTx<'_>,
    bank: BankKey,
    id: &RunId,
    result: Option<&Value>,
    proposal: Option<&ProposalId>,
) -> Result<()> {
    let n = tx.run(
        "UPDATE refresh_run SET result = ?2, proposal_uid = coalesce(?3, proposal_uid)
         WHERE uid = ?1 AND dry_run = 1",
        (&id.0, row::text_opt(result)?, proposal.map(ProposalId::as_str)),
    )?;
    if n == 0 {
        return Err(Error::not_found(Thing::Run, &id.0));
    }
    tx.changed(bank, CacheTag::Runs, Some(&id.0))
}

/// Drops what dry runs kept for being kept; gives the number. To be called at start, since such
/// results live until the program closes.
pub fn drop_dry_run_results(tx: &WriteTx<'_>) -> Result<usize> {
    tx.run("UPDATE refresh_run SET result = NULL WHERE dry_run = 1 AND result IS NOT NULL", [])
}
