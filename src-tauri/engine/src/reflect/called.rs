//! What the loop reads from a reply and writes into the record: calls with name and arguments read,
//! what is done with each, and the failures that end a run. No searching, no deciding.

use super::prepare::Prepared;
use super::request::ReflectRequest;
use super::tools::count;
use crate::report::fault;
use domain::Json;
use domain::cleaning::leaked_call_syntax;
use domain::forced::ForcedOrder;
use domain::guards::{Guard, iterations};
use domain::tool_calls::{ReadCall, call_fingerprint, normalize_tool_name, parse_arguments};
use domain::trace::{InitiatedBy, ToolCallRecord, ToolCallStatus, Trace};
use llm::ChatReply;
use serde_json::{Map, Value};

/// Characters of a useless reply that are shown with the failure.
const SHOWN_TEXT: usize = 500;

/// The trace of a run before its first turn.
pub(super) fn first_trace(request: &ReflectRequest, prepared: &Prepared) -> Trace {
    let forced = ForcedOrder::new(&prepared.tools).sequence();
    let base = prepared.settings.reflect_max_iterations;
    Trace {
        max_iterations: iterations(base, request.budget, count(forced.len())),
        forced_sequence: forced,
        resolved_scope: prepared.scope.resolved.clone(),
        pending_consolidation: prepared.pending,
        memories_held_back: prepared.held_back,
        directives: prepared.directives.refs(),
        directives_held_back: prepared.directives.held_back.clone(),
        ..Trace::default()
    }
}

/// A failed search is a failure of the run; being stopped is not a failed search.
pub(super) fn tool_failed(tool: &str, error: crate::Error) -> crate::Error {
    let report = crate::report::Report::from(&error);
    if report.reason == "cancelled" {
        return error;
    }
    fault("tool_failed")
        .with("cause", format!("{tool}: {}", report.message))
        .detail(report.detail.unwrap_or(report.reason))
        .into()
}

/// A language model that does not call tools.
pub(super) fn no_tools(reply: &ChatReply) -> crate::Error {
    let text: String = reply.text.chars().take(SHOWN_TEXT).collect();
    let hint = if leaked_call_syntax(&reply.text) { "It wrote a call as plain text. " } else { "" };
    fault("tool_calls_unsupported")
        .with("llm", reply.llm.as_deref().unwrap_or("The language model"))
        .detail(format!("{hint}It said: {text}"))
        .into()
}

/// A call of a reply with its name and arguments read.
pub(super) struct Called {
    pub(super) tool: String,
    pub(super) args: Result<Map<String, Value>, String>,
    pub(super) given: Json,
    pub(super) print: String,
    pub(super) reason: Option<String>,
    pub(super) iteration: u32,
}

impl Called {
    /// Reads a call.
    pub(super) fn of(call: &llm::ToolCall, iteration: u32) -> Self {
        let tool = normalize_tool_name(&call.name).to_owned();
        let raw = match &call.arguments {
            Some(args) => Value::Object(args.clone()),
            None => Value::String(call.raw.clone()),
        };
        let args = parse_arguments(&raw).map_err(|error| error.to_string());
        let print = args
            .as_ref()
            .map_or_else(|_| format!("{tool} {}", call.raw), |args| call_fingerprint(&tool, args));
        let reason = args.as_ref().ok().and_then(|args| args.get("reason")?.as_str());
        Self {
            reason: reason.map(str::to_owned),
            given: Json(args.as_ref().map_or(raw, |args| Value::Object(args.clone()))),
            tool,
            args,
            print,
            iteration,
        }
    }
}

/// What is done with a call.
pub(super) enum Plan {
    /// It is run.
    Run(Box<ReadCall>),
    /// It is answered without being run.
    Answer(ToolCallStatus, Value),
    /// A `done` that a guard refused.
    Refused(Guard, String),
}

/// The record of a call that the language model made.
pub(super) fn record_of(
    call: &Called,
    status: ToolCallStatus,
    guard: Option<Guard>,
    duration_ms: u32,
) -> ToolCallRecord {
    ToolCallRecord {
        tool: call.tool.clone(),
        reason: call.reason.clone(),
        input: call.given.clone(),
        output: None,
        result_count: 0,
        duration_ms,
        iteration: call.iteration,
        status,
        guard,
        initiated_by: InitiatedBy::Model,
    }
}
