//! The clients against real sockets on loopback: every request is read as bytes and every reply is
//! a fixed text, so that what is tested is what goes over the wire.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod anthropic;
mod discovery;
mod fitted;
mod ollama;
mod openai;
mod server;
mod setup;
mod stream;
mod transport;

use llm::{ChatEvent, ChatReply, ChatRequest, ChatSink, Endpoint, Error, Message, Protocol};
use server::{Reply, Server};
use tokio_util::sync::CancellationToken;

/// Keeps the events of a request.
#[derive(Default)]
pub(crate) struct Heard {
    /// Pieces of the answer, joined.
    pub(crate) text: String,
    /// Pieces of reasoning, joined.
    pub(crate) reasoning: String,
    /// Bodies sent.
    pub(crate) sent: Vec<String>,
    /// Bodies received.
    pub(crate) received: Vec<String>,
}

impl ChatSink for Heard {
    fn take(&mut self, event: ChatEvent<'_>) {
        match event {
            ChatEvent::Text(text) => self.text.push_str(text),
            ChatEvent::Reasoning(text) => self.reasoning.push_str(text),
            ChatEvent::Sent(text) => self.sent.push(text.to_owned()),
            ChatEvent::Received(text) => self.received.push(text.to_owned()),
            ChatEvent::Waiting(_)
            | ChatEvent::Begun
            | ChatEvent::Queued
            | ChatEvent::Resumed
            | ChatEvent::Restarted => {}
        }
    }
}

/// A question that asks for a whole reply.
pub(crate) fn ask() -> ChatRequest {
    ChatRequest { stream: false, ..ask_stream() }
}

/// A question that asks for a stream.
pub(crate) fn ask_stream() -> ChatRequest {
    ChatRequest::new("test", vec![Message::user("When does the ferry leave?")])
}

/// Sends one request to a server that answers with `reply`.
pub(crate) async fn chat(
    protocol: Protocol,
    reply: Reply,
    req: ChatRequest,
) -> (Result<ChatReply, Error>, Heard) {
    let server = Server::start(reply).await;
    let provider = llm::connect(Endpoint::new(protocol, server.base(), "m")).unwrap();
    let mut heard = Heard::default();
    let result = provider.chat(req, &mut heard, &CancellationToken::new()).await;
    (result, heard)
}

/// Name and raw arguments of each call.
pub(crate) fn calls(reply: &ChatReply) -> Vec<(&str, &str)> {
    reply.calls.iter().map(|c| (c.name.as_str(), c.raw.as_str())).collect()
}
