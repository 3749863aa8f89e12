//! Recorded requests to language models and embedders, and the sums per day that outlive them.
//! Keys and headers never come here; taking them out is the caller's part.

use domain::time::{from_millis, to_millis};
use domain::{CacheTag, Instant, LlmRequestId, MemoryId, OperationId, RunId};
use rusqlite::{Row, params};
use serde_json::Value;

use crate::error::{Error, Result, Thing};
use crate::keys::{BankKey, EndpointKey};
use crate::row;
use crate::tx::{ReadTx, WriteTx};

row::words! {
    /// What was asked of the endpoint.
    CallType {
        /// A language model's answer.
        Llm = "llm",
        /// Vectors.
        Embedding = "embedding",
        /// An order of results.
        Rerank = "rerank",
    }
}

row::words! {
    /// How a request ended.
    RequestStatus {
        /// With an answer.
        Success = "success",
        /// With an error.
        Error = "error",
    }
}

/// Tokens of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    /// Of the input.
    pub input: u32,
    /// Of the output.
    pub output: u32,
    /// Of the input, those the provider had cached.
    pub cached: u32,
    /// Of the output, those of thinking.
    pub thoughts: u32,
    /// All.
    pub total: u32,
}

/// A recorded request.
#[derive(Debug, Clone, PartialEq)]
pub struct LlmRequest {
    /// Its id.
    pub id: LlmRequestId,
    /// The bank, or none for calls of the program.
    pub bank: Option<BankKey>,
    /// The kind of work: `retain`, `reflect`, `refresh`, `check` and so on.
    pub operation: String,
    /// The operation it belongs to.
    pub operation_id: Option<OperationId>,
    /// The run it belongs to.
    pub run_id: Option<RunId>,
    /// The label of the call inside the run.
    pub scope: String,
    /// What was asked of the endpoint.
    pub call_type: CallType,
    /// One per run.
    pub trace_id: String,
    /// One per request.
    pub span_id: String,
    /// The span it lies in.
    pub parent_span_id: Option<String>,
    /// The protocol's name.
    pub provider: String,
    /// The endpoint.
    pub endpoint: Option<EndpointKey>,
    /// The language model's name.
    pub llm: String,
    /// The prompt's name.
    pub prompt_name: String,
    /// The hash of its text.
    pub prompt_hash: String,
    /// How it ended.
    pub status: RequestStatus,
    /// When it began.
    pub started_at: Instant,
    /// When it ended.
    pub ended_at: Instant,
    /// How long it took, in milliseconds.
    pub duration_ms: u32,
    /// How long it waited before it was sent.
    pub wait_ms: u32,
    /// How long the first token took.
    pub first_token_ms: Option<u32>,
    /// Its tokens.
    pub tokens: Tokens,
    /// Whether the tokens were counted here.
    pub estimated: bool,
    /// Why the answer ended.
    pub finish_reason: Option<String>,
    /// What was sent.
    pub input: Option<String>,
    /// What came back.
    pub output: Option<String>,
    /// Length of what was sent, in characters.
    pub input_chars: u32,
    /// Length of what came back.
    pub output_chars: u32,
    /// What went wrong.
    pub error: Option<String>,
    /// The parameters of the request.
    pub llm_info: Value,
    /// Anything else.
    pub metadata: Value,
    /// Memories whose text was sent.
    pub memory_ids: Vec<MemoryId>,
}

const COLUMNS: &str = "uid, bank_id, operation, operation_uid, run_uid, scope, call_type, \
    trace_id, span_id, parent_span_id, provider, endpoint_id, llm, prompt_name, prompt_hash, \
    status, started_at, ended_at, duration_ms, wait_ms, first_token_ms, input_tokens, \
    output_tokens, cached_tokens, thoughts_tokens, total_tokens, estimated, finish_reason, \
    input_chars, output_chars, error, llm_info, metadata, memory_uids";

fn read(r: &Row<'_>) -> rusqlite::Result<LlmRequest> {
    Ok(LlmRequest {
        id: LlmRequestId(r.get(0)?),
        bank: r.get(1)?,
        operation: r.get(2)?,
        operation_id: r.get::<_, Option<String>>(3)?.map(OperationId),
        run_id: r.get::<_, Option<String>>(4)?.map(RunId),
        scope: r.get(5)?,
        call_type: r.get(6)?,
        trace_id: r.get(7)?,
        span_id: r.get(8)?,
        parent_span_id: r.get(9)?,
        provider: r.get(10)?,
        endpoint: r.get(11)?,
        llm: r.get(12)?,
        prompt_name: r.get(13)?,
        prompt_hash: r.get(14)?,
        status: r.get(15)?,
        started_at: row::at(r, 16)?,
        ended_at: row::at(r, 17)?,
        duration_ms: row::count(r, 18)?,
        wait_ms: row::count(r, 19)?,
        first_token_ms: r.get::<_, Option<i64>>(20)?.and_then(|n| u32::try_from(n).ok()),
        tokens: Tokens {
            input: row::count(r, 21)?,
            output: row::count(r, 22)?,
            cached: row::count(r, 23)?,
            thoughts: row::count(r, 24)?,
            total: row::count(r, 25)?,
        },
        estimated: r.get(26)?,
        finish_reason: r.get(27)?,
        input_chars: row::count(r, 28)?,
        output_chars: row::count(r, 29)?,
        error: r.get(30)?,
        llm_info: row::json(r, 31)?,
        metadata: row::json(r, 32)?,
        memory_ids: row::parsed(r, 33)?,
        input: None,
        output: None,
    })
}

/// Records a request and adds it to its day's sums, which are kept for good.
pub fn insert(tx: &WriteTx<'_>, new: &LlmRequest) -> Result<()> {
    tx.run(
        include_str!("../sql/llm_request_insert.sql"),
        params![
            new.id.0,
            new.bank,
            new.operation,
            new.operation_id.as_ref().map(OperationId::as_str),
            new.run_id.as_ref().map(RunId::as_str),
            new.scope,
            new.call_type,
            new.trace_id,
            new.span_id,
            new.parent_span_id,
            new.provider,
            new.endpoint,
            new.llm,
            new.prompt_name,
            new.prompt_hash,
            new.status,
            to_millis(new.started_at),
            to_millis(new.ended_at),
            new.duration_ms,
            new.wait_ms,
            new.first_token_ms,
            new.tokens.input,
            new.tokens.output,
            new.tokens.cached,
            new.tokens.thoughts,
            new.tokens.total,
            new.estimated,
            new.finish_reason,
            new.input,
            new.output,
            new.input_chars,
            new.output_chars,
            new.error,
            row::text(&new.llm_info)?,
            row::text(&new.metadata)?,
            row::text(&new.memory_ids)?,
        ],
    )?;
    tx.run(
        "INSERT INTO llm_usage_day (bank_id, kind, model, day, calls, input, output, cached)
         VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, ?7)
         ON CONFLICT (bank_id, kind, model, day) DO UPDATE
         SET calls = calls + 1, input = input + excluded.input,
             output = output + excluded.output, cached = cached + excluded.cached",
        (
            new.bank.map_or(0, |b| b.0),
            &new.operation,
            &new.llm,
            day(new.started_at),
            new.tokens.input,
            new.tokens.output,
            new.tokens.cached,
        ),
    )?;
    match new.bank {
        Some(bank) => tx.changed(bank, CacheTag::LlmRequests, None),
        None => {
            tx.changed_program(CacheTag::LlmRequests, None);
            Ok(())
        }
    }
}

/// A request with its bodies.
///
/// # Errors
/// `NotFound`.
pub fn get(tx: &ReadTx<'_>, id: &LlmRequestId) -> Result<LlmRequest> {
    tx.find(
        &format!("SELECT {COLUMNS}, input, output FROM llm_request WHERE uid = ?1"),
        [&id.0],
        |r| Ok(LlmRequest { input: r.get(34)?, output: r.get(35)?, ..read(r)? }),
    )?
    .ok_or_else(|| Error::not_found(Thing::LlmRequest, &id.0))
}

/// The newest requests of a bank (or, with none, of the program), without bodies, begun before a
/// moment, at most `limit`.
pub fn list(
    tx: &ReadTx<'_>,
    bank: Option<BankKey>,
    before: Option<Instant>,
    limit: u32,
) -> Result<Vec<LlmRequest>> {
    tx.list(
        &format!(
            "SELECT {COLUMNS} FROM llm_request WHERE bank_id IS ?1 AND started_at < ?2
             ORDER BY started_at DESC, id DESC LIMIT ?3"
        ),
        (bank, before.map_or(i64::MAX, to_millis), limit),
        read,
    )
}

/// The requests of a run, in order, without bodies.
pub fn of_run(tx: &ReadTx<'_>, run: &RunId) -> Result<Vec<LlmRequest>> {
    tx.list(
        &format!("SELECT {COLUMNS} FROM llm_request WHERE run_uid = ?1 ORDER BY started_at, id"),
        [&run.0],
        read,
    )
}

/// Removes requests begun before a moment; the sums stay. Gives the number.
pub fn sweep(tx: &WriteTx<'_>, before: Instant) -> Result<usize> {
    tx.run("DELETE FROM llm_request WHERE started_at < ?1", [to_millis(before)])
}

/// Drops the bodies of requests begun before a moment; gives the number.
pub fn drop_bodies(tx: &WriteTx<'_>, before: Instant) -> Result<usize> {
    tx.run(
        "UPDATE llm_request SET input = NULL, output = NULL
         WHERE started_at < ?1 AND (input IS NOT NULL OR output IS NOT NULL)",
        [to_millis(before)],
    )
}

/// One day's sum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageDay {
    /// The kind of work.
    pub kind: String,
    /// The language model.
    pub llm: String,
    /// The day, UTC.
    pub day: String,
    /// Requests.
    pub calls: u32,
    /// Tokens of input.
    pub input: u64,
    /// Tokens of output.
    pub output: u64,
    /// Cached tokens of input.
    pub cached: u64,
}

/// The sums of a bank (or, with none, of all banks and the program) since the day of a moment.
pub fn usage_since(
    tx: &ReadTx<'_>,
    bank: Option<BankKey>,
    since: Instant,
) -> Result<Vec<UsageDay>> {
    tx.list(
        "SELECT kind, model, day, sum(calls), sum(input), sum(output), sum(cached)
         FROM llm_usage_day WHERE day >= ?1 AND (?2 IS NULL OR bank_id = ?2)
         GROUP BY day, kind, model ORDER BY day DESC, kind, model",
        (day(since), bank),
        |r| {
            let sum = |column| -> rusqlite::Result<u64> {
                Ok(u64::try_from(r.get::<_, i64>(column)?).unwrap_or(0))
            };
            Ok(UsageDay {
                kind: r.get(0)?,
                llm: r.get(1)?,
                day: r.get(2)?,
                calls: row::count(r, 3)?,
                input: sum(4)?,
                output: sum(5)?,
                cached: sum(6)?,
            })
        },
    )
}

/// Input and output tokens used on the day of a moment, by a bank or (none) by everything: what a
/// daily ceiling is held against.
pub fn tokens_on(tx: &ReadTx<'_>, bank: Option<BankKey>, at: Instant) -> Result<u64> {
    let today = day(at);
    let days = usage_since(tx, bank, from_millis(to_millis(at)))?;
    Ok(days.iter().filter(|d| d.day == today).map(|d| d.input + d.output).sum())
}

fn day(at: Instant) -> String {
    at.format("%Y-%m-%d").to_string()
}
