//! Sends requests to the language model for a run: tells watchers, measures, records every try with
//! its tokens, and tries a failed call once more. What a reply means is not known here.

use crate::Engine;
use crate::events::EventSink;
use crate::report::{ErrorCode, fault};
use domain::guards::{ProviderErrorClass, classify_provider_error};
use domain::trace::{LlmCallRecord, LlmCallStatus, RunEvent};
use llm::{
    ChatEvent, ChatReply, ChatRequest, ChatSink, Class, Message, Provider, ResponseFormat, Tool,
    ToolChoice,
};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// One question to the language model.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    /// Label of the call.
    pub(crate) scope: String,
    /// The turn it belongs to.
    pub(crate) iteration: Option<u32>,
    /// The conversation.
    pub(crate) messages: Vec<Message>,
    /// Tools on offer.
    pub(crate) tools: Vec<Tool>,
    /// Which must be called.
    pub(crate) choice: ToolChoice,
    /// Shape of the answer.
    pub(crate) format: ResponseFormat,
    /// Sampling temperature.
    pub(crate) temperature: f32,
    /// Most tokens of the reply.
    pub(crate) max_output: Option<u32>,
    /// Limit of this call, where it is shorter than the endpoint's.
    pub(crate) limit: Option<Duration>,
    /// Our count of the prompt.
    pub(crate) tokens: u32,
    /// Whether its text is the answer and goes to watchers as it comes.
    pub(crate) answers: bool,
}

impl Ask {
    /// A question with no tools, at temperature 0.
    pub(crate) fn plain(scope: impl Into<String>, messages: Vec<Message>, tokens: u32) -> Self {
        Self {
            scope: scope.into(),
            iteration: None,
            messages,
            tools: Vec::new(),
            choice: ToolChoice::Auto,
            format: ResponseFormat::Text,
            temperature: 0.0,
            max_output: None,
            limit: None,
            tokens,
            answers: false,
        }
    }
}

/// Why there is no reply.
#[derive(Debug)]
pub(crate) enum NoReply {
    /// The prompt does not fit the window; the same would happen again.
    Overflow(llm::Error),
    /// Anything that ends the run.
    Ends(crate::Error),
}

/// The language model of one run.
pub(crate) struct Caller<'a> {
    /// For clock and ids.
    pub(crate) engine: &'a Engine,
    /// The language model.
    pub(crate) provider: Arc<dyn Provider>,
    /// Who watches.
    pub(crate) sink: &'a mut dyn EventSink,
    /// Stops the call that is under way.
    pub(crate) cancel: CancellationToken,
    /// Who waits for the answers.
    pub(crate) urgency: llm::Urgency,
    /// Every try so far.
    pub(crate) calls: Vec<LlmCallRecord>,
}

impl Caller<'_> {
    /// Sends a question, and once more when it fails in a way that another try may mend.
    ///
    /// # Errors
    /// [`NoReply`]; `provider_error` after the second failure in a row.
    pub(crate) async fn ask(&mut self, ask: &Ask) -> Result<ChatReply, NoReply> {
        match self.once(ask).await {
            Ok(reply) => Ok(reply),
            Err(error) => {
                if let Some(end) = final_at_once(&error) {
                    return Err(end(error));
                }
                match self.once(ask).await {
                    Ok(reply) => Ok(reply),
                    Err(error) => match final_at_once(&error) {
                        Some(end) => Err(end(error)),
                        None => Err(NoReply::Ends(failed_twice(&error).into())),
                    },
                }
            }
        }
    }

    async fn once(&mut self, ask: &Ask) -> Result<ChatReply, llm::Error> {
        let started = self.engine.clock().ticks_ms();
        self.sink.emit(RunEvent::LlmStarted { scope: ask.scope.clone() });
        let mut stream = Stream {
            engine: self.engine,
            sink: &mut *self.sink,
            answers: ask.answers,
            started,
            first: None,
            waits_since: None,
            waited: 0,
        };
        let reply = self.provider.chat(request(ask, self.urgency), &mut stream, &self.cancel).await;
        let (first, waited) = (stream.first, stream.waited);
        let spent = self.engine.clock().ticks_ms().saturating_sub(started);
        let usage = match &reply {
            Ok(reply) => reply.usage,
            Err(llm::Error::CutOff { partial, .. }) => partial.usage,
            Err(_) => None,
        };
        let usage = usage.unwrap_or_default();
        let status = if reply.is_ok() { LlmCallStatus::Ok } else { LlmCallStatus::Error };
        let record = LlmCallRecord {
            scope: if reply.is_ok() { ask.scope.clone() } else { format!("{}_err", ask.scope) },
            duration_ms: millis(spent),
            input_tokens: usage.input_tokens,
            // What was reasoning is counted apart.
            output_tokens: usage.output_tokens.saturating_sub(usage.thoughts_tokens),
            cached_tokens: usage.cached_tokens,
            thoughts_tokens: usage.thoughts_tokens,
            wait_ms: waited,
            first_token_ms: first,
            status,
            iteration: ask.iteration,
        };
        self.sink.emit(RunEvent::LlmFinished {
            scope: record.scope.clone(),
            tokens: record.usage(),
            status,
        });
        self.calls.push(record);
        reply
    }
}

/// Milliseconds that fit a record.
pub(crate) fn millis(ticks: u64) -> u32 {
    u32::try_from(ticks).unwrap_or(u32::MAX)
}

fn request(ask: &Ask, urgency: llm::Urgency) -> ChatRequest {
    ChatRequest {
        tools: ask.tools.clone(),
        tool_choice: ask.choice.clone(),
        response_format: ask.format.clone(),
        temperature: Some(ask.temperature),
        max_output: ask.max_output,
        limit: ask.limit,
        prompt_tokens: Some(ask.tokens),
        urgency,
        ..ChatRequest::new(ask.scope.clone(), ask.messages.clone())
    }
}

type End = fn(llm::Error) -> NoReply;

// Failures that another try cannot mend.
fn final_at_once(error: &llm::Error) -> Option<End> {
    if matches!(error, llm::Error::PromptTruncated { .. }) {
        return Some(|error| NoReply::Ends(error.into()));
    }
    match error.class() {
        Class::Overflow => Some(NoReply::Overflow),
        Class::Cancelled | Class::ToolsUnsupported | Class::Auth => {
            Some(|error| NoReply::Ends(error.into()))
        }
        _ => None,
    }
}

// `provider_error`, with the family that its class gives.
fn failed_twice(error: &llm::Error) -> crate::report::Fault {
    let answer = error.answer();
    let class = classify_provider_error(
        error.status(),
        answer.and_then(|answer| answer.code.as_deref()),
        answer.map_or("", |answer| answer.message.as_str()),
    );
    let code = match (error.class(), class) {
        (Class::Auth, _) | (_, ProviderErrorClass::Auth) => ErrorCode::ProviderAuth,
        (Class::RateLimited, _) | (_, ProviderErrorClass::RateLimited) => {
            ErrorCode::ProviderRateLimited
        }
        (Class::Timeout, _) | (_, ProviderErrorClass::Timeout) => ErrorCode::TimedOut,
        (_, ProviderErrorClass::ContextOverflow) => ErrorCode::ContextOverflow,
        (Class::Refused | Class::UnknownModel | Class::Malformed, _) => ErrorCode::ProviderRefused,
        _ => ErrorCode::ProviderUnreachable,
    };
    // A limit with an end is waited for; a failure that names a time is tried again as any other.
    let wait = error.retry_after().filter(|_| code == ErrorCode::ProviderRateLimited);
    fault("provider_error").with("endpoint", endpoint_of(error)).code(code).detail(error).wait(wait)
}

fn endpoint_of(error: &llm::Error) -> String {
    use llm::Error as E;
    match error {
        E::Auth { endpoint, .. }
        | E::RateLimited { endpoint, .. }
        | E::Unreachable { endpoint, .. }
        | E::Timeout { endpoint, .. }
        | E::Failed { endpoint, .. }
        | E::Refused { endpoint, .. }
        | E::UnknownModel { endpoint, .. }
        | E::Malformed { endpoint, .. }
        | E::CutOff { endpoint, .. } => endpoint.clone(),
        _ => "The endpoint".to_owned(),
    }
}

// Hands pieces of an answer on and notes when the first came.
struct Stream<'a> {
    engine: &'a Engine,
    sink: &'a mut dyn EventSink,
    answers: bool,
    started: u64,
    first: Option<u32>,
    /// Since when nothing is sent, by the clock's ticks.
    waits_since: Option<u64>,
    waited: u32,
}

impl ChatSink for Stream<'_> {
    fn take(&mut self, event: ChatEvent<'_>) {
        match event {
            ChatEvent::Text(text) => {
                self.note_first();
                if self.answers {
                    self.sink.emit(RunEvent::AnswerDelta { text: text.to_owned() });
                }
            }
            ChatEvent::Begun | ChatEvent::Reasoning(_) => self.note_first(),
            ChatEvent::Waiting(time) => {
                self.waits_since.get_or_insert(self.engine.clock().ticks_ms());
                let seconds = u32::try_from(time.as_secs().max(1)).unwrap_or(u32::MAX);
                self.sink.emit(RunEvent::LlmWaiting { seconds: Some(seconds) });
            }
            ChatEvent::Queued => {
                self.waits_since.get_or_insert(self.engine.clock().ticks_ms());
                self.sink.emit(RunEvent::LlmWaiting { seconds: None });
            }
            ChatEvent::Resumed => {
                if let Some(since) = self.waits_since.take() {
                    let waited = millis(self.engine.clock().ticks_ms().saturating_sub(since));
                    self.waited = self.waited.saturating_add(waited);
                    self.sink.emit(RunEvent::LlmResumed);
                }
            }
            ChatEvent::Sent(_) | ChatEvent::Received(_) | ChatEvent::Restarted => {}
        }
    }
}

impl Stream<'_> {
    fn note_first(&mut self) {
        if self.first.is_none() {
            let now = self.engine.clock().ticks_ms();
            self.first = Some(millis(now.saturating_sub(self.started)));
        }
    }
}
