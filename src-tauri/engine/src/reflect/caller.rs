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
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    /// Every try so far, in order of sending. One that is still under way stands there as failed.
    pub(crate) calls: Vec<LlmCallRecord>,
}

impl Caller<'_> {
    /// Sends a question, and once more when it fails in a way that another try may mend.
    ///
    /// # Errors
    /// [`NoReply`]; `provider_error` after the second failure in a row.
    pub(crate) async fn ask(&mut self, ask: &Ask) -> Result<ChatReply, NoReply> {
        self.line().ask(ask).await
    }

    /// Sends several questions, four at once, each as [`Caller::ask`] would; the replies come in the
    /// order of the questions.
    ///
    /// # Errors
    /// As [`Caller::ask`]; the first failure stops the others.
    pub(crate) async fn ask_all(&mut self, asks: &[Ask]) -> Result<Vec<ChatReply>, NoReply> {
        let line = self.line();
        let batch =
            Batch { asks, next: AtomicUsize::new(0), replies: Mutex::new(vec![None; asks.len()]) };
        let hand = || batch.work(&line);
        tokio::try_join!(hand(), hand(), hand(), hand())?;
        let replies = batch.replies.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(replies.into_iter().flatten().collect())
    }

    fn line(&mut self) -> Line<'_> {
        Line {
            engine: self.engine,
            provider: self.provider.as_ref(),
            cancel: &self.cancel,
            urgency: self.urgency,
            sink: Mutex::new(&mut *self.sink),
            calls: Mutex::new(&mut self.calls),
        }
    }
}

// Questions that some hands take one after the other.
struct Batch<'b> {
    asks: &'b [Ask],
    next: AtomicUsize,
    replies: Mutex<Vec<Option<ChatReply>>>,
}

impl Batch<'_> {
    async fn work(&self, line: &Line<'_>) -> Result<(), NoReply> {
        while let Some((at, ask)) = self.take() {
            let reply = line.ask(ask).await?;
            if let Some(place) = locked(&self.replies).get_mut(at) {
                *place = Some(reply);
            }
        }
        Ok(())
    }

    fn take(&self) -> Option<(usize, &Ask)> {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        self.asks.get(at).map(|ask| (at, ask))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

// The caller as several requests at once may use it.
struct Line<'s> {
    engine: &'s Engine,
    provider: &'s dyn Provider,
    cancel: &'s CancellationToken,
    urgency: llm::Urgency,
    sink: Mutex<&'s mut dyn EventSink>,
    calls: Mutex<&'s mut Vec<LlmCallRecord>>,
}

impl Line<'_> {
    async fn ask(&self, ask: &Ask) -> Result<ChatReply, NoReply> {
        let error = match self.once(ask).await {
            Ok(reply) => return Ok(reply),
            Err(error) => error,
        };
        if let Some(end) = final_at_once(&error) {
            return Err(end(error));
        }
        self.once(ask).await.map_err(|error| match final_at_once(&error) {
            Some(end) => end(error),
            None => NoReply::Ends(failed_twice(&error).into()),
        })
    }

    async fn once(&self, ask: &Ask) -> Result<ChatReply, llm::Error> {
        self.emit(RunEvent::LlmStarted { scope: ask.scope.clone() });
        let sent = Sent::note(self, ask);
        let mut stream = Stream {
            line: self,
            answers: ask.answers,
            started: sent.started,
            first: None,
            waits_since: None,
            waited: 0,
        };
        let reply = self.provider.chat(request(ask, self.urgency), &mut stream, self.cancel).await;
        let (first, waited) = (stream.first, stream.waited);
        let usage = match &reply {
            Ok(reply) => reply.usage,
            Err(llm::Error::CutOff { partial, .. }) => partial.usage,
            Err(_) => None,
        };
        let usage = usage.unwrap_or_default();
        let record = LlmCallRecord {
            duration_ms: sent.spent(),
            input_tokens: usage.input_tokens,
            // What was reasoning is counted apart.
            output_tokens: usage.output_tokens.saturating_sub(usage.thoughts_tokens),
            cached_tokens: usage.cached_tokens,
            thoughts_tokens: usage.thoughts_tokens,
            wait_ms: waited,
            first_token_ms: first,
            ..if reply.is_ok() {
                record_of(ask, ask.scope.clone(), LlmCallStatus::Ok)
            } else {
                unanswered(ask)
            }
        };
        self.emit(RunEvent::LlmFinished {
            scope: record.scope.clone(),
            tokens: record.usage(),
            status: record.status,
        });
        sent.replace(record);
        reply
    }

    fn emit(&self, event: RunEvent) {
        locked(&self.sink).emit(event);
    }

    fn ticks(&self) -> u64 {
        self.engine.clock().ticks_ms()
    }
}

fn record_of(ask: &Ask, scope: String, status: LlmCallStatus) -> LlmCallRecord {
    LlmCallRecord {
        scope,
        duration_ms: 0,
        input_tokens: 0,
        output_tokens: 0,
        cached_tokens: 0,
        thoughts_tokens: 0,
        wait_ms: 0,
        first_token_ms: None,
        status,
        iteration: ask.iteration,
    }
}

fn unanswered(ask: &Ask) -> LlmCallRecord {
    record_of(ask, format!("{}_err", ask.scope), LlmCallStatus::Error)
}

// The place of a request in the record. One that is dropped on its way, since the run was stopped
// or its time was up, stays there as failed, with the time that it took.
struct Sent<'l, 's> {
    line: &'l Line<'s>,
    at: usize,
    started: u64,
    replaced: bool,
}

impl<'l, 's> Sent<'l, 's> {
    fn note(line: &'l Line<'s>, ask: &Ask) -> Self {
        let mut calls = locked(&line.calls);
        calls.push(unanswered(ask));
        Self { line, at: calls.len() - 1, started: line.ticks(), replaced: false }
    }

    fn spent(&self) -> u32 {
        millis(self.line.ticks().saturating_sub(self.started))
    }

    fn replace(mut self, record: LlmCallRecord) {
        self.replaced = true;
        if let Some(place) = locked(&self.line.calls).get_mut(self.at) {
            *place = record;
        }
    }
}

impl Drop for Sent<'_, '_> {
    fn drop(&mut self) {
        if self.replaced {
            return;
        }
        let spent = self.spent();
        if let Some(place) = locked(&self.line.calls).get_mut(self.at) {
            place.duration_ms = spent;
        }
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
struct Stream<'l, 's> {
    line: &'l Line<'s>,
    answers: bool,
    started: u64,
    first: Option<u32>,
    /// Since when nothing is sent, by the clock's ticks.
    waits_since: Option<u64>,
    waited: u32,
}

impl ChatSink for Stream<'_, '_> {
    fn take(&mut self, event: ChatEvent<'_>) {
        match event {
            ChatEvent::Text(text) => {
                self.note_first();
                if self.answers {
                    self.line.emit(RunEvent::AnswerDelta { text: text.to_owned() });
                }
            }
            ChatEvent::Begun | ChatEvent::Reasoning(_) => self.note_first(),
            ChatEvent::Waiting(time) => {
                self.waits_since.get_or_insert(self.line.ticks());
                let seconds = u32::try_from(time.as_secs().max(1)).unwrap_or(u32::MAX);
                self.line.emit(RunEvent::LlmWaiting { seconds: Some(seconds) });
            }
            ChatEvent::Queued => {
                self.waits_since.get_or_insert(self.line.ticks());
                self.line.emit(RunEvent::LlmWaiting { seconds: None });
            }
            ChatEvent::Resumed => {
                if let Some(since) = self.waits_since.take() {
                    let waited = millis(self.line.ticks().saturating_sub(since));
                    self.waited = self.waited.saturating_add(waited);
                    self.line.emit(RunEvent::LlmResumed);
                }
            }
            ChatEvent::Sent(_) | ChatEvent::Received(_) | ChatEvent::Restarted => {}
        }
    }
}

impl Stream<'_, '_> {
    fn note_first(&mut self) {
        if self.first.is_none() {
            self.first = Some(millis(self.line.ticks().saturating_sub(self.started)));
        }
    }
}
