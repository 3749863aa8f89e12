//! The loop: the language model searches, first in the forced order, then as it likes, until it hands
//! over an answer, stops, runs out of turns or out of room. Its rules are those of `domain`; this
//! module obeys them and keeps the record.

use super::called::{Called, Plan, no_tools, record_of, tool_failed};
use super::caller::{Ask, Caller, NoReply, millis};
use super::found::Found;
use super::instructions;
use super::prepare::Prepared;
use super::request::ReflectRequest;
use super::show::Shown;
use super::tools::{Output, Toolbox, count, object};
use crate::report::fault;
use crate::{Engine, Result};
use domain::citations::{AnswerSource, validate_citations};
use domain::evidence::EvidenceBlock;
use domain::forced::{ForcedOrder, ForcedStep};
use domain::guards::{DoneState, FoundModel, Guard, done_guard, early_release, refusal_message};
use domain::tokens::{Cl100k, TokenCounter};
use domain::tool_calls::{
    DONE, EXPAND, MAX_CALLS_PER_REPLY, SEARCH_MENTAL_MODELS, ToolCall, call_fingerprint, read_call,
    token_ceiling,
};
use domain::trace::{
    CallPurpose, ClosedBy, InitiatedBy, LlmCallStatus, RunEvent, ToolCallRecord, ToolCallStatus,
    Trace, Warning, call_scope,
};
use domain::{Json, Score};
use llm::{ChatReply, Message, Tool, ToolChoice};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Temperature of the loop and its synthesis: low, because two runs of one question should agree.
pub(super) const TEMPERATURE: f32 = 0.3;

/// How the loop ended.
pub(super) enum Ended {
    /// An accepted `done`, with real ids.
    Done(Map<String, Value>),
    /// Anything else: the closing follows.
    Close(ClosedBy),
}

/// One run with a language model, as far as it has come.
pub(super) struct Run<'a> {
    pub(super) engine: &'a Engine,
    pub(super) request: &'a ReflectRequest,
    pub(super) prepared: &'a Prepared,
    pub(super) caller: Caller<'a>,
    pub(super) cancel: CancellationToken,
    pub(super) trace: Trace,
    pub(super) found: Found,
    /// Our count of the conversation and of the tools on offer.
    pub(super) tokens: u32,
    /// Tokens that a prompt may have.
    pub(super) limit: u32,
    /// Tokens that are too many, since the endpoint refused a prompt of that size.
    pub(super) refused: u32,
    pub(super) warnings: Vec<Warning>,
    toolbox: Toolbox,
    tools: Vec<Tool>,
    order: ForcedOrder,
}

impl<'a> Run<'a> {
    /// A run before its first turn, or before the turn at which an earlier one failed.
    pub(super) fn new(
        request: &'a ReflectRequest,
        prepared: &'a Prepared,
        caller: Caller<'a>,
        mut trace: Trace,
        toolbox: Toolbox,
        found: Option<Found>,
    ) -> Result<Self> {
        let engine = caller.engine;
        let system = instructions::system(engine, request, prepared)?;
        let tools = instructions::offered(request, prepared);
        let mut order = ForcedOrder::new(&prepared.tools);
        let mut found = match found {
            Some(mut found) => {
                found.resume(system);
                order.note_turn(&found.succeeded.iter().collect::<Vec<_>>());
                found
            }
            None => Found {
                messages: vec![Message::system(system), Message::user(request.query.clone())],
                ..Found::default()
            },
        };
        found.left_out = prepared.leave_out.iter().map(str::to_owned).collect();
        if trace.released_at.is_some() {
            order.release();
        }
        let offered = serde_json::to_string(&tools).unwrap_or_default();
        let window = caller.provider.caps().window;
        let limit = prepared.settings.reflect_max_context_tokens;
        let mut warnings = std::mem::take(&mut trace.warnings);
        let told = super::prepare::kept_from_model(prepared.held_back)
            .filter(|told| !warnings.iter().any(|known| known.code == told.code));
        warnings.extend(told);
        Ok(Self {
            cancel: caller.cancel.clone(),
            limit: domain::evidence::context_limit(limit, window),
            tokens: found.tokens() + Cl100k.count(&offered),
            refused: u32::MAX,
            warnings,
            engine,
            request,
            prepared,
            caller,
            trace,
            found,
            toolbox,
            tools,
            order,
        })
    }

    /// The tool turns.
    pub(super) async fn turns(&mut self) -> Result<Ended> {
        match self.trace.closed_by.take() {
            // An earlier run failed after its searches; its answer, if it had one, is asked for anew.
            Some(ClosedBy::Done) => return Ok(Ended::Close(ClosedBy::TextStop)),
            Some(by) => return Ok(Ended::Close(by)),
            None => {}
        }
        let n = self.trace.max_iterations;
        for i in self.trace.iterations.max(1)..n {
            self.check()?;
            if self.tokens >= self.limit {
                return self.no_room();
            }
            self.trace.iterations = i;
            if let Some(ended) = self.turn(i, n).await? {
                return Ok(ended);
            }
            self.make_up(i).await?;
        }
        self.trace.iterations = n;
        Ok(Ended::Close(ClosedBy::Iterations))
    }

    // Nothing larger than the limit is sent: the run closes with what it has, if it has anything.
    fn no_room(&self) -> Result<Ended> {
        if self.found.blocks.is_empty() {
            let (tokens, limit) = (self.tokens, self.limit);
            let why = format!("the instructions alone have {tokens} tokens, {limit} fit");
            return Err(fault("context_overflow").detail(why).into());
        }
        Ok(Ended::Close(ClosedBy::Context))
    }

    async fn turn(&mut self, i: u32, n: u32) -> Result<Option<Ended>> {
        let forced = match self.order.next_step() {
            ForcedStep::Force(tool) => Some(tool),
            ForcedStep::Search(_) | ForcedStep::Free => None,
        };
        self.caller.sink.emit(RunEvent::IterationStarted {
            i,
            n,
            forced: forced.map(str::to_owned),
        });
        let choice = forced.map_or(ToolChoice::Auto, |tool| ToolChoice::Named(tool.to_owned()));
        let reply = match self.ask(CallPurpose::Agent(i), i, choice).await {
            Ok(reply) => reply,
            Err(NoReply::Overflow(error)) => return self.overflowed(error).map(Some),
            Err(NoReply::Ends(error)) => return Err(error),
        };
        if reply.calls.is_empty() {
            return self.no_call(i, reply).await;
        }
        self.calls(i, reply).await
    }

    // The same prompt is not sent again: the run closes with what it has, in smaller prompts.
    fn overflowed(&mut self, error: llm::Error) -> Result<Ended> {
        if self.found.succeeded.is_empty() {
            return Err(error.into());
        }
        self.too_large(self.tokens);
        Ok(Ended::Close(ClosedBy::Context))
    }

    /// Notes that the endpoint found a prompt of this size too large. What follows is smaller by an
    /// eighth at least; a prompt that differs by a few tokens would be the same one again.
    pub(super) fn too_large(&mut self, tokens: u32) {
        self.refused = self.refused.min(tokens - tokens / 16);
        self.limit = self.limit.min(tokens - tokens / 8);
    }

    // Forced steps that were missed twice: the engine searches.
    async fn make_up(&mut self, i: u32) -> Result<()> {
        while let ForcedStep::Search(tool) = self.order.next_step() {
            self.search_itself(tool, i).await?;
        }
        Ok(())
    }

    async fn ask(
        &mut self,
        purpose: CallPurpose,
        i: u32,
        choice: ToolChoice,
    ) -> Result<ChatReply, NoReply> {
        let ask = Ask {
            iteration: Some(i),
            tools: self.tools.clone(),
            choice,
            temperature: TEMPERATURE,
            ..Ask::plain(
                call_scope(purpose, LlmCallStatus::Ok),
                self.found.messages.clone(),
                self.tokens,
            )
        };
        self.caller.ask(&ask).await
    }

    // Text and no call: once, the turn is asked again; after a call it is a legitimate stop.
    async fn no_call(&mut self, i: u32, reply: ChatReply) -> Result<Option<Ended>> {
        if self.found.any_call {
            return Ok(Some(Ended::Close(ClosedBy::TextStop)));
        }
        let tools = self.prepared.tools.join(", ");
        self.push(Message::Assistant(reply.turn()), Cl100k.count(&reply.text));
        let nudge = format!("A tool call is required now. Call one of: {tools}.");
        let size = Cl100k.count(&nudge);
        self.push(Message::user(nudge), size);
        match self.ask(CallPurpose::Nudge(i), i, ToolChoice::Required).await {
            Ok(again) if !again.calls.is_empty() => self.calls(i, again).await,
            Ok(again) => Err(no_tools(&again)),
            Err(NoReply::Overflow(error)) => self.overflowed(error).map(Some),
            Err(NoReply::Ends(error)) => Err(error),
        }
    }

    fn push(&mut self, message: Message, tokens: u32) {
        self.found.messages.push(message);
        self.tokens = self.tokens.saturating_add(tokens);
    }

    async fn calls(&mut self, i: u32, mut reply: ChatReply) -> Result<Option<Ended>> {
        self.found.any_call = true;
        for call in &mut reply.calls {
            call.id = self.found.call_ids.take(&call.id);
        }
        let size = Cl100k.count(&reply.text)
            + reply.calls.iter().map(|call| Cl100k.count(&call.raw)).sum::<u32>();
        self.push(Message::Assistant(reply.turn()), size);
        let calls: Vec<Called> = reply.calls.iter().map(|call| Called::of(call, i)).collect();
        let done = calls.iter().position(|call| call.tool == DONE);
        if let Some(at) = done
            && let Ok(args) = &calls[at].args
        {
            let args = self.found.view.names.with_real_ids(args.clone());
            match self.guard(&args) {
                None => {
                    for (other, call) in calls.iter().enumerate() {
                        if other != at {
                            self.record(call, None, ToolCallStatus::Skipped, None, 0);
                        }
                    }
                    self.record(&calls[at], None, ToolCallStatus::Ok, None, 0);
                    return Ok(Some(Ended::Done(args)));
                }
                Some((guard, message)) => {
                    self.caller.sink.emit(RunEvent::Guard { name: guard });
                    self.run_calls(&calls, Some((at, guard, message)), &reply).await?;
                    return Ok(None);
                }
            }
        }
        self.run_calls(&calls, None, &reply).await?;
        Ok(None)
    }

    fn guard(&mut self, args: &Map<String, Value>) -> Option<(Guard, String)> {
        let found = &self.found;
        let available = found.retrieved.available();
        let cited = validate_citations(&available, args, AnswerSource::Done);
        // Ids that stand beside the blocks of a document and were shown.
        let beside = super::finish::block_evidence(args);
        let in_blocks = beside.iter().filter(|id| available.contains(id)).count();
        let state = DoneState {
            enabled: self.prepared.tools.clone(),
            succeeded: found.succeeded.iter().cloned().collect(),
            retrieved_total: count(found.retrieved.len()),
            valid_citations: count(cited.used.len() + in_blocks),
            observations_stale: found.observations_stale,
            cited_stale_model: cited
                .used
                .mental_models
                .iter()
                .any(|id| found.doubtful.contains(id)),
            directives_in_force: !self.prepared.directives.in_force.is_empty(),
            compliance_already_asked: found.compliance_asked,
            citations_already_asked: found.citations_asked,
            args: args.clone(),
        };
        let guard = done_guard(&state)?;
        match guard {
            Guard::MissingArgument => {
                let missing = state.missing_arguments();
                self.found.compliance_asked |= missing.contains(&"directive_compliance");
            }
            Guard::UncitedAnswer => self.found.citations_asked = true,
            Guard::NoEvidence | Guard::StaleUnverified | Guard::UnsupportedNegative => {}
        }
        Some((guard, refusal_message(guard, &state)))
    }

    // Runs a batch side by side and answers every call in the order of the reply.
    async fn run_calls(
        &mut self,
        calls: &[Called],
        refused: Option<(usize, Guard, String)>,
        reply: &ChatReply,
    ) -> Result<()> {
        let batch = count(calls.len().min(MAX_CALLS_PER_REPLY));
        let ceiling = token_ceiling(self.limit.saturating_sub(self.tokens), batch);
        let before = self.trace.tool_calls.len();
        let mut plans: Vec<Plan> = Vec::with_capacity(calls.len());
        let mut in_batch: HashMap<String, usize> = HashMap::new();
        for (at, call) in calls.iter().enumerate() {
            let plan = match &refused {
                Some((done, guard, message)) if *done == at => {
                    Plan::Refused(*guard, message.clone())
                }
                // Every call of a batch has one entry in the trace, so its place is known already.
                _ => self.plan(call, at, before + at + 1, ceiling, &mut in_batch),
            };
            plans.push(plan);
        }
        let mut results = self.execute(calls, &plans).await?;
        let mut succeeded: Vec<String> = Vec::new();
        for (at, (call, plan)) in calls.iter().zip(plans).enumerate() {
            let said = reply.calls.get(at).cloned().unwrap_or_default();
            match plan {
                Plan::Run(_) => {
                    let Some((output, spent)) = results.remove(&at) else { continue };
                    let worked = !output.is_error;
                    self.took(call, output, spent, &said, InitiatedBy::Model);
                    if worked {
                        succeeded.push(call.tool.clone());
                    }
                }
                Plan::Answer(status, text) => {
                    self.record(call, Some(&text), status, None, 0);
                    self.answer(&said, text.to_string(), true);
                }
                Plan::Refused(guard, message) => {
                    let text = json!({ "error": message });
                    self.record(call, None, ToolCallStatus::Rejected, Some(guard), 0);
                    self.answer(&said, text.to_string(), true);
                }
            }
        }
        self.order.note_turn(&succeeded);
        if succeeded.iter().any(|tool| tool == SEARCH_MENTAL_MODELS) {
            self.maybe_release();
        }
        Ok(())
    }

    fn plan(
        &self,
        call: &Called,
        at: usize,
        place: usize,
        ceiling: u32,
        in_batch: &mut HashMap<String, usize>,
    ) -> Plan {
        let error =
            |message: String| Plan::Answer(ToolCallStatus::Error, json!({"error": message}));
        if at >= MAX_CALLS_PER_REPLY {
            let text = json!({"error": format!(
                "Only {MAX_CALLS_PER_REPLY} calls are run at once. Send fewer together."
            )});
            return Plan::Answer(ToolCallStatus::Skipped, text);
        }
        let args = match &call.args {
            Ok(args) => args,
            Err(message) => return error(message.clone()),
        };
        if call.tool == DONE {
            return error("Call done once and alone.".to_owned());
        }
        let earlier = self.found.earlier.get(&call.print).or_else(|| in_batch.get(&call.print));
        if let Some(earlier) = earlier {
            let text = json!({
                "duplicate_of": earlier,
                "note": "The same call was made before; its result stands above.",
            });
            return Plan::Answer(ToolCallStatus::Duplicate, text);
        }
        in_batch.insert(call.print.clone(), place);
        let args = if call.tool == EXPAND {
            self.found.view.names.with_real_ids(args.clone())
        } else {
            args.clone()
        };
        match read_call(&call.tool, &args, &self.prepared.tools, self.prepared.defaults, ceiling) {
            Ok(read) => Plan::Run(Box::new(read)),
            Err(fault) => error(fault.to_string()),
        }
    }

    // The calls to run, all at once; a failure of one fails the run and stops the others.
    async fn execute(
        &mut self,
        calls: &[Called],
        plans: &[Plan],
    ) -> Result<HashMap<usize, (Output, u32)>> {
        let mut running = JoinSet::new();
        for (at, (call, plan)) in calls.iter().zip(plans).enumerate() {
            let Plan::Run(read) = plan else { continue };
            self.caller.sink.emit(RunEvent::ToolStarted {
                tool: call.tool.clone(),
                reason: read.reason.clone(),
            });
            let (toolbox, read) = (self.toolbox.clone(), read.clone());
            // Only what opens sources asks what was shown.
            let opens = matches!(read.call, ToolCall::Expand { .. });
            let shown = if opens { self.found.shown.clone() } else { Shown::default() };
            running.spawn(async move {
                let started = toolbox.engine.clock().ticks_ms();
                let output = toolbox.run(&read.call, &shown).await.map(|mut output| {
                    if !read.notes.is_empty() && !output.is_error {
                        output.result.insert("notes".to_owned(), json!(read.notes));
                    }
                    output
                });
                let spent = toolbox.engine.clock().ticks_ms().saturating_sub(started);
                (at, output, millis(spent))
            });
        }
        let mut results = HashMap::new();
        while let Some(joined) = running.join_next().await {
            let (at, output, spent) =
                joined.map_err(|error| fault("unexpected_error").detail(error))?;
            let output = output.map_err(|error| tool_failed(&calls[at].tool, error))?;
            results.insert(at, (output, spent));
        }
        Ok(results)
    }

    // A forced step that was missed twice: the engine searches, as if the model had.
    async fn search_itself(&mut self, tool: &'static str, i: u32) -> Result<()> {
        let args = object(json!({ "query": self.request.query }));
        let id = self.found.call_ids.take("");
        let said = llm::ToolCall::new(id, tool, &Value::Object(args.clone()));
        let call = Called {
            tool: tool.to_owned(),
            print: call_fingerprint(tool, &args),
            given: Json(Value::Object(args.clone())),
            args: Ok(args.clone()),
            reason: None,
            iteration: i,
        };
        let ceiling = token_ceiling(self.limit.saturating_sub(self.tokens), 1);
        let read = read_call(tool, &args, &self.prepared.tools, self.prepared.defaults, ceiling)
            .map_err(|error| fault("unexpected_error").detail(error))?;
        self.caller.sink.emit(RunEvent::ToolStarted { tool: tool.to_owned(), reason: None });
        let started = self.engine.clock().ticks_ms();
        let output = self
            .toolbox
            .run(&read.call, &self.found.shown)
            .await
            .map_err(|error| tool_failed(tool, error))?;
        let spent = millis(self.engine.clock().ticks_ms().saturating_sub(started));
        let turn = llm::AssistantTurn { calls: vec![said.clone()], ..Default::default() };
        self.push(Message::Assistant(turn), Cl100k.count(&said.raw));
        self.took(&call, output, spent, &said, InitiatedBy::Engine);
        self.order.note_turn(&[tool]);
        if tool == SEARCH_MENTAL_MODELS {
            self.maybe_release();
        }
        Ok(())
    }

    // Takes a result in: into the history, the evidence and the record.
    fn took(
        &mut self,
        call: &Called,
        mut output: Output,
        spent: u32,
        said: &llm::ToolCall,
        by: InitiatedBy,
    ) {
        let status = if output.is_error { ToolCallStatus::Error } else { ToolCallStatus::Ok };
        self.caller.sink.emit(RunEvent::ToolFinished {
            tool: call.tool.clone(),
            reason: call.reason.clone(),
            result_count: output.count,
            is_stale: output.stale,
            status,
        });
        let seen = Value::Object(self.found.view.of(&output.result));
        let text = seen.to_string();
        self.trace.tool_calls.push(ToolCallRecord {
            output: Some(Json(Value::Object(std::mem::take(&mut output.result)))),
            result_count: output.count,
            initiated_by: by,
            ..record_of(call, status, None, spent)
        });
        if !output.is_error {
            self.found.note(&call.tool, &output, &mut self.trace);
            super::finish::warn_of_injection(&output, &text, &mut self.warnings);
            self.found.earlier.insert(call.print.clone(), self.trace.tool_calls.len());
            let query = call.args.as_ref().ok().and_then(|args| args.get("query"));
            let label = match query.and_then(Value::as_str) {
                Some(query) => format!("{} {}", call.tool, Value::String(query.to_owned())),
                None => call.tool.clone(),
            };
            self.found.blocks.push(EvidenceBlock { label, result: object(seen) });
        }
        self.answer(said, text, output.is_error);
    }

    fn answer(&mut self, said: &llm::ToolCall, text: String, is_error: bool) {
        let size = Cl100k.count(&text);
        let message =
            if is_error { Message::tool_error(said, text) } else { Message::tool(said, text) };
        self.push(message, size);
    }

    /// Puts a call into the record that gave no result.
    pub(super) fn record(
        &mut self,
        call: &Called,
        output: Option<&Value>,
        status: ToolCallStatus,
        guard: Option<Guard>,
        spent: u32,
    ) {
        let output = output.cloned().map(Json);
        self.trace
            .tool_calls
            .push(ToolCallRecord { output, ..record_of(call, status, guard, spent) });
    }

    // Fresh models on the subject end the forced order.
    fn maybe_release(&mut self) {
        let last =
            self.trace.tool_calls.iter().rev().find(|call| {
                call.tool == SEARCH_MENTAL_MODELS && call.status == ToolCallStatus::Ok
            });
        let rows = last.and_then(|call| call.output.as_ref()?.0.get("mental_models"));
        let models: Vec<FoundModel> =
            rows.and_then(|rows| Deserialize::deserialize(rows).ok()).unwrap_or_default();
        let floor = f64::from(self.engine.embedder().thresholds().model_relevance);
        let open = self.order.next_step() != ForcedStep::Free;
        if open && early_release(self.request.budget, &models, Score::new(floor).get()) {
            self.order.release();
            self.trace.released_at = Some(self.trace.iterations);
        }
    }

    /// Ends the run when it was cancelled.
    pub(super) fn check(&self) -> Result<()> {
        if self.cancel.is_cancelled() { Err(fault("cancelled").into()) } else { Ok(()) }
    }
}
