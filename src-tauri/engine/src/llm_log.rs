//! Every request to a language model, on record: what it was for, how long it took, what it cost,
//! how it ended. The record is written beside the call, so the call never waits for it (save in
//! automatic work, whose next call is weighed against it), and a record that cannot be written fails
//! nothing. Keys travel in headers, which never reach a record.

use crate::Engine;
use async_trait::async_trait;
use domain::{BankId, Instant, LlmRequestId, OperationId, RunId};
use llm::{Caps, ChatEvent, ChatReply, ChatRequest, ChatSink, Provider, Window};
use std::sync::{Arc, Weak};
use std::time::Duration;
use store::EndpointKey;
use store::llm_requests::{CallType, LlmRequest, RequestStatus, Tokens};
use tokio_util::sync::CancellationToken;

/// What a request belongs to. Set around a piece of work with [`within`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallContext {
    /// The bank.
    pub bank: Option<BankId>,
    /// The kind of work: `retain`, `reflect`, `refresh`, `check`.
    pub operation: String,
    /// The operation.
    pub operation_id: Option<OperationId>,
    /// The run.
    pub run_id: Option<RunId>,
    /// Name and hash of the prompt.
    pub prompt: (String, String),
}

tokio::task_local! {
    static CONTEXT: CallContext;
}

/// Runs a piece of work whose requests belong to `context`.
pub async fn within<T>(context: CallContext, work: impl Future<Output = T>) -> T {
    CONTEXT.scope(context, work).await
}

/// The context in force, to be narrowed for a single call.
#[must_use]
pub fn context() -> CallContext {
    CONTEXT.try_with(Clone::clone).unwrap_or_default()
}

/// A provider whose every request is put on record.
pub(crate) struct Recorded {
    inner: Arc<dyn Provider>,
    engine: Weak<crate::handle::Inner>,
    protocol: &'static str,
    endpoint: Option<EndpointKey>,
    llm: String,
}

impl Recorded {
    /// Records what goes through `inner`.
    pub(crate) fn new(
        inner: Arc<dyn Provider>,
        engine: &Engine,
        protocol: &'static str,
        endpoint: Option<EndpointKey>,
        llm: String,
    ) -> Self {
        Self { inner, engine: Arc::downgrade(&engine.inner), protocol, endpoint, llm }
    }
}

/// Hears what passes and hands it on.
struct Listening<'a> {
    out: &'a mut dyn ChatSink,
    ticks: &'a dyn crate::clock::Clock,
    start: u64,
    sent: Option<String>,
    received: Option<String>,
    first_ms: Option<u64>,
}

impl ChatSink for Listening<'_> {
    fn take(&mut self, event: ChatEvent<'_>) {
        match &event {
            ChatEvent::Sent(body) => self.sent = Some((*body).to_owned()),
            ChatEvent::Received(body) => self.received = Some((*body).to_owned()),
            ChatEvent::Begun | ChatEvent::Text(_) | ChatEvent::Reasoning(_) => {
                let now = self.ticks.ticks_ms();
                self.first_ms.get_or_insert(now.saturating_sub(self.start));
            }
            ChatEvent::Restarted => self.first_ms = None,
            ChatEvent::Waiting(_) | ChatEvent::Queued | ChatEvent::Resumed => {}
        }
        self.out.take(event);
    }
}

#[async_trait]
impl Provider for Recorded {
    fn caps(&self) -> Caps {
        self.inner.caps()
    }

    async fn chat(
        &self,
        req: ChatRequest,
        out: &mut dyn ChatSink,
        cancel: &CancellationToken,
    ) -> Result<ChatReply, llm::Error> {
        let Some(inner) = self.engine.upgrade() else {
            return self.inner.chat(req, out, cancel).await;
        };
        let engine = Engine { inner };
        if !crate::ops::ceiling::may_call(&engine).await {
            return Err(llm::Error::Cancelled);
        }
        let (scope, waited) = (req.scope.clone(), req.waited);
        let info = serde_json::json!({
            "temperature": req.temperature,
            "max_output": req.max_output,
            "tools": req.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(),
        });
        let started_at = engine.now();
        let mut listening = Listening {
            out,
            ticks: engine.clock(),
            start: engine.clock().ticks_ms(),
            sent: None,
            received: None,
            first_ms: None,
        };
        let reply = self.inner.chat(req, &mut listening, cancel).await;
        let took = engine.clock().ticks_ms().saturating_sub(listening.start);
        let heard = Heard {
            scope,
            info,
            started_at,
            took,
            sent: listening.sent,
            received: listening.received,
            waited,
            first_ms: listening.first_ms,
        };
        let written = self.write(&engine, heard, &reply);
        if crate::ops::ceiling::is_watched() {
            // The next call of automatic work is weighed against what this one cost.
            drop(written.await);
        }
        reply
    }

    async fn list_models(&self, cancel: &CancellationToken) -> Result<Vec<String>, llm::Error> {
        self.inner.list_models(cancel).await
    }

    async fn window(&self, cancel: &CancellationToken) -> Result<Window, llm::Error> {
        self.inner.window(cancel).await
    }
}

/// What was heard of one request.
struct Heard {
    scope: String,
    info: serde_json::Value,
    started_at: Instant,
    took: u64,
    sent: Option<String>,
    received: Option<String>,
    waited: Duration,
    first_ms: Option<u64>,
}

impl Recorded {
    /// Writes the record in a task of its own.
    fn write(
        &self,
        engine: &Engine,
        heard: Heard,
        reply: &Result<ChatReply, llm::Error>,
    ) -> tokio::task::JoinHandle<()> {
        let context = context();
        let bank = context.bank.clone();
        let mut record = self.record(engine, context, heard, reply);
        let store = engine.store().clone();
        tokio::spawn(async move {
            let written = store
                .write("record_llm_request", move |tx| {
                    if let Some(bank) = bank {
                        record.bank = store::banks::find_key(tx, &bank)?;
                    }
                    store::llm_requests::insert(tx, &record)
                })
                .await;
            if let Err(error) = written {
                tracing::warn!(%error, "a request to a language model was not recorded");
            }
        })
    }

    fn record(
        &self,
        engine: &Engine,
        context: CallContext,
        heard: Heard,
        reply: &Result<ChatReply, llm::Error>,
    ) -> LlmRequest {
        let usage = reply.as_ref().ok().and_then(|reply| reply.usage);
        let tokens = usage.map_or_else(Tokens::default, |usage| Tokens {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cached: usage.cached_tokens,
            thoughts: usage.thoughts_tokens,
            total: usage.input_tokens.saturating_add(usage.output_tokens),
        });
        let output = heard
            .received
            .or_else(|| reply.as_ref().err().and_then(|e| e.answer().map(|a| a.body.clone())));
        let chars = |text: &Option<String>| {
            text.as_ref().map_or(0, |text| u32::try_from(text.chars().count()).unwrap_or(u32::MAX))
        };
        let run = context.run_id.as_ref().map(|run| run.0.clone());
        LlmRequest {
            id: LlmRequestId(engine.new_id()),
            bank: None,
            operation: context.operation,
            operation_id: context.operation_id,
            run_id: context.run_id,
            scope: heard.scope,
            call_type: CallType::Llm,
            trace_id: run.unwrap_or_else(|| engine.new_id()),
            span_id: engine.new_id(),
            parent_span_id: None,
            provider: self.protocol.to_owned(),
            endpoint: self.endpoint,
            llm: self.llm.clone(),
            prompt_name: context.prompt.0,
            prompt_hash: context.prompt.1,
            status: if reply.is_ok() { RequestStatus::Success } else { RequestStatus::Error },
            started_at: heard.started_at,
            ended_at: engine.now(),
            duration_ms: millis(heard.took),
            wait_ms: u32::try_from(heard.waited.as_millis()).unwrap_or(u32::MAX),
            first_token_ms: heard.first_ms.map(millis),
            tokens,
            estimated: usage.is_none(),
            finish_reason: reply.as_ref().ok().map(|reply| reply.finish.word().to_owned()),
            input_chars: chars(&heard.sent),
            output_chars: chars(&output),
            input: heard.sent,
            output,
            error: reply.as_ref().err().map(ToString::to_string),
            llm_info: heard.info,
            metadata: serde_json::json!({}),
            memory_ids: Vec::new(),
        }
    }
}

fn millis(ms: u64) -> u32 {
    u32::try_from(ms).unwrap_or(u32::MAX)
}
