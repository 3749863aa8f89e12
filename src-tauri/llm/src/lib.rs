//! Talking to language models behind one trait.
//!
//! Three wire formats (OpenAI-compatible, Anthropic messages, Ollama `/api/chat`) are read and
//! written by thin clients of our own; what all of them need, such as waiting out a rate limit,
//! stepping down when an endpoint refuses a field and remembering that it did, is a wrapper around
//! any of them. This crate never sees the database, never reads the environment, never uses a
//! proxy, and never lets a key reach a text that can be stored or shown.

mod adapt;
mod address;
mod answer;
mod anthropic;
mod assemble;
mod chat;
mod check;
mod discover;
mod endpoint;
mod error;
mod exchange;
mod frames;
mod gate;
#[cfg(any(test, feature = "scripted"))]
mod hand_timer;
mod learnt;
mod ollama;
mod openai;
mod report;
mod retry;
#[cfg(any(test, feature = "scripted"))]
pub mod scripted;
mod steps;
mod thinking;
mod timer;
mod transport;
mod window;
mod words;

pub use adapt::Adapting;
pub use address::{Address, Protocol};
pub use anthropic::Anthropic;
pub use chat::{
    AssistantTurn, ChatReply, ChatRequest, Finish, Message, ResponseFormat, Thinking, Tool,
    ToolCall, ToolChoice, ToolResult, Urgency, Usage,
};
pub use check::{Checked, check};
pub use discover::{FoundModel, FoundServer, PLACES, Place, ServerKind, discover};
pub use endpoint::{Endpoint, Key, KeySource, Limits, NoKey};
pub use error::{Answer, Class, Error, classify};
pub use gate::Gate;
#[cfg(any(test, feature = "scripted"))]
pub use hand_timer::HandTimer;
pub use learnt::{Learnt, LearntKey, Remembered};
pub use ollama::{DEFAULT_OLLAMA_WINDOW, Ollama};
pub use openai::OpenAi;
pub use report::{CheckItem, CheckLine, CheckReport, Verdict};
pub use retry::{RetryPolicy, Retrying};
pub use timer::{Timer, TokioTimer};
pub use window::Window;
pub use words::thousands;

use async_trait::async_trait;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What an endpoint and its model can do, as far as it is known. `true` means "not known to be
/// unable": only a refusal or the set-up check turns a field to `false`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Tool calls.
    pub tools: bool,
    /// An answer bound to a JSON schema by the endpoint itself.
    pub json_schema: bool,
    /// Answers in pieces.
    pub streaming: bool,
    /// Context window in tokens, prompt and reply together. None when nobody has told.
    pub window: Option<u32>,
}

impl Default for Caps {
    fn default() -> Self {
        Self { tools: true, json_schema: true, streaming: true, window: None }
    }
}

/// What happens while a request is on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatEvent<'a> {
    /// The body of a request that is about to be sent, keys excluded (they travel in headers).
    Sent(&'a str),
    /// The body of the reply as received, for the log. Comes once, also when the reply broke off
    /// or cannot be read; what an endpoint said when it refused is in the error.
    Received(&'a str),
    /// The first piece of the reply has arrived, whatever it holds.
    Begun,
    /// A piece of the answer.
    Text(&'a str),
    /// A piece of the model's reasoning. For the trace, never part of an answer.
    Reasoning(&'a str),
    /// Nothing is sent before this time has passed.
    Waiting(Duration),
    /// Nothing is sent before requests that go first have ended.
    Queued,
    /// A wait is over: the request is about to be sent.
    Resumed,
    /// What was streamed so far belongs to an attempt that failed; another one starts.
    Restarted,
}

/// Receives the events of one request.
pub trait ChatSink: Send {
    /// One event. Must not block.
    fn take(&mut self, event: ChatEvent<'_>);
}

/// Ignores every event.
impl ChatSink for () {
    fn take(&mut self, _event: ChatEvent<'_>) {}
}

/// One language model at one endpoint.
#[async_trait]
pub trait Provider: Send + Sync {
    /// What the model can do.
    fn caps(&self) -> Caps;

    /// Sends one request and returns the whole reply; pieces go to `out` as they arrive.
    ///
    /// # Errors
    /// Every way in which there is no complete reply. Cancelling ends at once with
    /// [`Error::Cancelled`] and closes the connection.
    async fn chat(
        &self,
        req: ChatRequest,
        out: &mut dyn ChatSink,
        cancel: &CancellationToken,
    ) -> Result<ChatReply, Error>;

    /// Names of the models that the endpoint offers, in its order.
    ///
    /// # Errors
    /// As [`Provider::chat`].
    async fn list_models(&self, cancel: &CancellationToken) -> Result<Vec<String>, Error>;

    /// The context window as the endpoint itself tells it; nothing where it does not.
    ///
    /// # Errors
    /// As [`Provider::chat`]. An endpoint that does not know the question is no error.
    async fn window(&self, cancel: &CancellationToken) -> Result<Window, Error> {
        let _ = cancel;
        Ok(Window::default())
    }
}

#[async_trait]
impl<P: Provider + ?Sized> Provider for Arc<P> {
    fn caps(&self) -> Caps {
        (**self).caps()
    }

    async fn chat(
        &self,
        req: ChatRequest,
        out: &mut dyn ChatSink,
        cancel: &CancellationToken,
    ) -> Result<ChatReply, Error> {
        (**self).chat(req, out, cancel).await
    }

    async fn list_models(&self, cancel: &CancellationToken) -> Result<Vec<String>, Error> {
        (**self).list_models(cancel).await
    }

    async fn window(&self, cancel: &CancellationToken) -> Result<Window, Error> {
        (**self).window(cancel).await
    }
}

/// The client of an endpoint, by its protocol, with nothing wrapped around it.
///
/// # Errors
/// [`Error::Address`] for an unusable address, [`Error::Setup`] when no TLS client can be built.
pub fn connect(endpoint: Endpoint) -> Result<Arc<dyn Provider>, Error> {
    Ok(match endpoint.protocol {
        Protocol::OpenAi => Arc::new(OpenAi::new(endpoint)?),
        Protocol::Anthropic => Arc::new(Anthropic::new(endpoint)?),
        Protocol::Ollama => Arc::new(Ollama::new(endpoint)?),
    })
}

/// The provider that the program uses: the client of the endpoint, `around` it whatever the caller
/// needs to see of every single request (its recorder), then what fits requests to the endpoint,
/// and outermost what waits and tries again. `gate` is shared by all models of the endpoint.
///
/// # Errors
/// As [`connect`].
pub fn connect_fitted(
    endpoint: Endpoint,
    learnt: Arc<dyn Learnt>,
    gate: Arc<Gate>,
    policy: RetryPolicy,
    around: impl FnOnce(Arc<dyn Provider>) -> Arc<dyn Provider>,
) -> Result<Arc<dyn Provider>, Error> {
    let shown = Address::parse(&endpoint.base_url, endpoint.protocol)?.shown();
    let protocol = endpoint.protocol;
    let client = around(connect(endpoint)?);
    let fitted = Adapting::new(client, shown, learnt).speaking(protocol);
    Ok(Arc::new(Retrying::new(fitted, gate, policy)))
}
