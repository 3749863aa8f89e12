//! What a run leaves behind: the calls it made, what they cost, the events a watcher sees. Records
//! only; nothing here measures time, counts tokens or decides what happens next.

use serde::{Deserialize, Serialize};

use crate::fuzzy::Resolved;
use crate::guards::Guard;
use crate::{Json, Score};

/// Tokens of one call, or summed over every call of a run, failed calls included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Usage {
    /// Tokens sent.
    pub input_tokens: u32,
    /// Tokens received, hidden reasoning left out.
    pub output_tokens: u32,
    /// `input_tokens + output_tokens`.
    pub total_tokens: u32,
    /// The part of `input_tokens` that the provider read from its cache.
    pub cached_tokens: u32,
    /// Tokens of hidden reasoning; in neither `output_tokens` nor `total_tokens`.
    pub thoughts_tokens: u32,
}

impl Usage {
    /// Usage of a call that reported input and output only.
    #[must_use]
    pub fn new(input_tokens: u32, output_tokens: u32) -> Self {
        Self {
            input_tokens,
            output_tokens,
            total_tokens: input_tokens.saturating_add(output_tokens),
            ..Self::default()
        }
    }

    /// Adds another call's tokens and keeps the total in step.
    pub fn add(&mut self, other: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.thoughts_tokens = self.thoughts_tokens.saturating_add(other.thoughts_tokens);
        self.total_tokens = self.input_tokens.saturating_add(self.output_tokens);
    }
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ToolCallStatus {
    /// Ran and gave a result, possibly an empty one.
    Ok,
    /// Gave an error back to the language model (bad argument, unknown tool, nothing retrieved).
    Error,
    /// A `done` that a guard refused.
    Rejected,
    /// Repeats an earlier call and was not run again.
    Duplicate,
    /// Stood beside an accepted `done`, or over the limit of calls in one reply.
    Skipped,
}

/// Who asked for a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum InitiatedBy {
    /// The language model.
    Model,
    /// The program itself: extractive mode, or a forced step that was missed twice.
    Engine,
}

/// One tool call of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ToolCallRecord {
    /// Normalised name.
    pub tool: String,
    /// The sentence given with the call.
    pub reason: Option<String>,
    /// Arguments as they were given.
    pub input: Json,
    /// The result, or null for `done` and where outputs were not asked for.
    pub output: Option<Json>,
    /// How many rows the result held.
    pub result_count: u32,
    /// Milliseconds from start to result; 0 for what was not run.
    pub duration_ms: u32,
    /// The iteration it belongs to, from 1.
    pub iteration: u32,
    /// How it ended.
    pub status: ToolCallStatus,
    /// The guard that refused it.
    pub guard: Option<Guard>,
    /// Who asked for it.
    pub initiated_by: InitiatedBy,
}

/// How a request to a language model ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum LlmCallStatus {
    /// A reply arrived.
    Ok,
    /// The call failed; its scope ends in `_err`.
    Error,
}

/// One request to a language model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct LlmCallRecord {
    /// What it was for; made by [`call_scope`] and its neighbours.
    pub scope: String,
    /// Milliseconds from sending to the last byte.
    pub duration_ms: u32,
    /// Tokens sent.
    pub input_tokens: u32,
    /// Tokens received.
    pub output_tokens: u32,
    /// Part of the input read from the provider's cache.
    pub cached_tokens: u32,
    /// Tokens of hidden reasoning.
    pub thoughts_tokens: u32,
    /// Milliseconds waited for a free place before sending.
    pub wait_ms: u32,
    /// Milliseconds until the first token, when the reply was streamed.
    pub first_token_ms: Option<u32>,
    /// How it ended.
    pub status: LlmCallStatus,
    /// The iteration it belongs to, from 1; null after the loop.
    pub iteration: Option<u32>,
}

impl LlmCallRecord {
    /// The tokens of this call.
    #[must_use]
    pub fn usage(&self) -> Usage {
        Usage {
            cached_tokens: self.cached_tokens,
            thoughts_tokens: self.thoughts_tokens,
            ..Usage::new(self.input_tokens, self.output_tokens)
        }
    }
}

/// What a request to a language model is for inside a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallPurpose {
    /// A tool turn of the given iteration.
    Agent(u32),
    /// The one retry that insists on a tool call.
    Nudge(u32),
    /// The request for `done` when the loop closes.
    ClosingDone,
    /// Synthesis, or the reduce step over several parts.
    Final,
    /// Claims from the k-th part of the evidence, from 1.
    FinalMap(u32),
    /// Shortening an answer that is too long.
    FinalRewrite,
    /// Structured output.
    Structured,
    /// Structured output, asked again with the list of problems.
    StructuredRetry,
    /// Judging an answer against the directives.
    DirectiveCheck,
}

/// The label of a call in trace and log; a failed call carries `_err`.
#[must_use]
pub fn call_scope(purpose: CallPurpose, status: LlmCallStatus) -> String {
    let label = match purpose {
        CallPurpose::Agent(i) => format!("agent_{i}"),
        CallPurpose::Nudge(i) => format!("agent_{i}_nudge"),
        CallPurpose::ClosingDone => "closing_done".to_owned(),
        CallPurpose::Final => "final".to_owned(),
        CallPurpose::FinalMap(k) => format!("final_map_{k}"),
        CallPurpose::FinalRewrite => "final_rewrite".to_owned(),
        CallPurpose::Structured => "structured".to_owned(),
        CallPurpose::StructuredRetry => "structured_retry".to_owned(),
        CallPurpose::DirectiveCheck => "directive_check".to_owned(),
    };
    match status {
        LlmCallStatus::Ok => label,
        LlmCallStatus::Error => label + "_err",
    }
}

/// Why the loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ClosedBy {
    /// An accepted `done`.
    Done,
    /// The last iteration was reached.
    Iterations,
    /// The language model stopped with plain text after using tools.
    TextStop,
    /// The window of the language model was full.
    Context,
}

/// Why a directive was not in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum HeldBackReason {
    /// Its tags do not fit the scope of the run.
    Scope,
    /// It is switched off.
    Inactive,
    /// Extractive mode writes nothing that could obey it.
    Extractive,
}

/// A directive by id and name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct DirectiveRef {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
}

/// A directive that was not in force, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct HeldBackDirective {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: HeldBackReason,
}

/// Something to tell the reader although the run succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Warning {
    /// Stable word, for example `answer_truncated`.
    pub code: String,
    /// One sentence for a person.
    pub message: String,
}

impl Warning {
    /// A warning from its two parts.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into() }
    }
}

/// How sure extractive mode is that the bank holds an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ExtractiveState {
    /// A statement of the bank covers the question.
    Found,
    /// Nothing states it; the nearest statements are shown.
    Nearest,
    /// Nothing near it is stored.
    Nothing,
}

/// How an extractive answer came about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ExtractiveTrace {
    /// The state that was shown.
    pub state: ExtractiveState,
    /// Half coverage, half best likeness, between 0 and 1.
    pub confidence: Score,
    /// Memories read before answering.
    pub memories_read: u32,
}

/// Everything a run did, stored with its record.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Trace {
    /// Tool calls by iteration, then in the order of the reply; `done` last.
    pub tool_calls: Vec<ToolCallRecord>,
    /// Requests to language models in order of sending; their tokens sum to the run's usage.
    pub llm_calls: Vec<LlmCallRecord>,
    /// Iterations used.
    pub iterations: u32,
    /// Iterations allowed.
    pub max_iterations: u32,
    /// The tools that were to be called first, in order.
    pub forced_sequence: Vec<String>,
    /// The iteration at which fresh mental models ended the forced order.
    pub released_at: Option<u32>,
    /// Why the loop ended; null for a run that failed before.
    pub closed_by: Option<ClosedBy>,
    /// Ids that were cited but never retrieved.
    pub dropped_citations: Vec<String>,
    /// Ids of the observations shown.
    pub observations_accessed: Vec<String>,
    /// What fuzzy tags stand for.
    pub resolved_scope: Resolved,
    /// Memories of the bank that waited for consolidation at the start.
    pub pending_consolidation: u32,
    /// Memories left out because their tags keep them on this machine.
    pub memories_held_back: u32,
    /// Directives in force.
    pub directives: Vec<DirectiveRef>,
    /// Directives of the bank that were not.
    pub directives_held_back: Vec<HeldBackDirective>,
    /// Filled when no language model took part.
    pub extractive: Option<ExtractiveTrace>,
    /// Warnings of the answer.
    pub warnings: Vec<Warning>,
    /// The failed run whose material this one went on with; its searches stand here as well.
    #[serde(default)]
    pub continued_from: Option<String>,
}

impl Trace {
    /// The sum over all requests to language models.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.llm_calls.iter().fold(Usage::default(), |mut sum, call| {
            sum.add(&call.usage());
            sum
        })
    }

    /// The same trace with tool outputs left out, as `include.tool_calls.output: false` asks.
    #[must_use]
    pub fn without_outputs(mut self) -> Self {
        for call in &mut self.tool_calls {
            call.output = None;
        }
        self
    }
}

/// What a watcher of a run is told. The stream starts with `run_started` and ends with exactly one
/// of `finished`, `failed`, `cancelled`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RunEvent {
    /// The record exists; the clock runs.
    RunStarted {
        /// Id of the run.
        run_id: String,
        /// Tools that will be called first.
        forced_sequence: Vec<String>,
        /// Iterations allowed.
        max_iterations: u32,
    },
    /// A tool turn begins.
    IterationStarted {
        /// Its number, from 1.
        i: u32,
        /// Iterations allowed.
        n: u32,
        /// The tool that is forced, if one is.
        forced: Option<String>,
    },
    /// A request to a language model was sent.
    LlmStarted {
        /// Label of the call.
        scope: String,
    },
    /// It is not sent yet: the endpoint takes no more requests for now, or others go first.
    LlmWaiting {
        /// How long at least, where that is known.
        seconds: Option<u32>,
    },
    /// It was sent after such a wait.
    LlmResumed,
    /// Its reply, or its failure, arrived.
    LlmFinished {
        /// Label of the call.
        scope: String,
        /// Tokens of the call.
        tokens: Usage,
        /// How it ended.
        status: LlmCallStatus,
    },
    /// A tool runs.
    ToolStarted {
        /// Normalised name.
        tool: String,
        /// The sentence given with the call.
        reason: Option<String>,
    },
    /// A tool ended.
    ToolFinished {
        /// Normalised name.
        tool: String,
        /// The sentence given with the call.
        reason: Option<String>,
        /// Rows in the result.
        result_count: u32,
        /// Whether the result as a whole was flagged stale, where the tool says so.
        is_stale: Option<bool>,
        /// How it ended.
        status: ToolCallStatus,
    },
    /// A `done` was refused.
    Guard {
        /// The guard.
        name: Guard,
    },
    /// The loop ends.
    Closing {
        /// Why.
        by: ClosedBy,
    },
    /// A piece of the answer, provisional until `finished`.
    AnswerDelta {
        /// Text to append.
        text: String,
    },
    /// Structured output is being extracted.
    StructuredStarted,
    /// Extraction ended.
    StructuredFinished {
        /// Why there is no object, or null when there is one.
        error: Option<String>,
    },
    /// Something to tell.
    Warning(Warning),
    /// The run succeeded; its record holds the answer.
    Finished {
        /// Id of the run.
        run_id: String,
    },
    /// The run failed; its record holds the partial trace.
    Failed {
        /// Id of the run.
        run_id: String,
        /// Fine word of the failure.
        reason: String,
        /// One sentence for a person.
        message: String,
        /// What to do next.
        hint: Option<String>,
    },
    /// The run was cancelled.
    Cancelled {
        /// Id of the run.
        run_id: String,
    },
}

impl RunEvent {
    /// Whether nothing may follow.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Finished { .. } | Self::Failed { .. } | Self::Cancelled { .. })
    }
}

/// An event with its place in the stream, so that a reopened window knows where to go on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct NumberedEvent {
    /// From 1, without gaps.
    pub seq: u32,
    /// The event.
    pub event: RunEvent,
}

/// Gives the events of one run their numbers and lets nothing through after the end.
#[derive(Debug, Default)]
pub struct EventNumbers {
    last: u32,
    ended: bool,
}

impl EventNumbers {
    /// The event with the next number, or none when the stream has ended.
    pub fn number(&mut self, event: RunEvent) -> Option<NumberedEvent> {
        if self.ended {
            return None;
        }
        self.last += 1;
        self.ended = event.is_terminal();
        Some(NumberedEvent { seq: self.last, event })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(scope: &str, input: u32, output: u32) -> LlmCallRecord {
        LlmCallRecord {
            scope: scope.to_owned(),
            duration_ms: 1,
            input_tokens: input,
            output_tokens: output,
            cached_tokens: 2,
            thoughts_tokens: 5,
            wait_ms: 0,
            first_token_ms: None,
            status: LlmCallStatus::Ok,
            iteration: None,
        }
    }

    #[test]
    fn usage_is_the_sum_of_the_calls_and_leaves_thoughts_out_of_the_total() {
        let trace = Trace {
            llm_calls: vec![call("agent_1", 100, 10), call("final_err", 50, 0)],
            ..Trace::default()
        };
        let usage = trace.usage();
        assert_eq!((usage.input_tokens, usage.output_tokens), (150, 10));
        assert_eq!((usage.total_tokens, usage.thoughts_tokens), (160, 10));
        assert_eq!(usage.cached_tokens, 4);
    }

    #[test]
    fn labels_of_calls() {
        assert_eq!(call_scope(CallPurpose::Agent(3), LlmCallStatus::Error), "agent_3_err");
        assert_eq!(call_scope(CallPurpose::Nudge(1), LlmCallStatus::Ok), "agent_1_nudge");
        assert_eq!(call_scope(CallPurpose::FinalMap(2), LlmCallStatus::Ok), "final_map_2");
    }

    #[test]
    fn nothing_follows_the_last_event() {
        let mut numbers = EventNumbers::default();
        let first = numbers.number(RunEvent::StructuredStarted).map(|event| event.seq);
        let last =
            numbers.number(RunEvent::Cancelled { run_id: "r".to_owned() }).map(|event| event.seq);
        assert_eq!((first, last), (Some(1), Some(2)));
        assert_eq!(numbers.number(RunEvent::StructuredStarted), None);
    }

    #[test]
    fn events_are_tagged_by_type() {
        let event = NumberedEvent {
            seq: 4,
            event: RunEvent::Warning(Warning::new("no_citations", "The answer cites nothing.")),
        };
        let json = serde_json::to_value(&event).expect("events are plain data");
        assert_eq!(json["event"]["type"], "warning");
        assert_eq!(json["event"]["code"], "no_citations");
    }
}
