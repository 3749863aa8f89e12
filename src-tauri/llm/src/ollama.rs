//! The client for Ollama's own `/api/chat`. Its compatible address takes no window size and cuts
//! long prompts without a word, so this protocol exists to send `num_ctx` with every request.

use crate::assemble::{Assembly, Fragment, count};
use crate::chat::{
    ChatReply, ChatRequest, Message, ResponseFormat, Thinking, Tool, ToolChoice, Usage,
};
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::exchange::{Fault, Reader, exchange, is_error, merge};
use crate::frames::Framing;
use crate::openai::{finish, names, rest, temperature, tool};
use crate::transport::{KeyHeader, Outgoing, Transport};
use crate::window::{self, Window};
use crate::{Caps, ChatSink, Provider};
use async_trait::async_trait;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

/// Window that is asked for where none is set: four times Ollama's own default, which holds a
/// question, its instructions and a few search results on a machine with little memory.
pub const DEFAULT_OLLAMA_WINDOW: u32 = 16_384;

/// An Ollama server.
pub struct Ollama {
    endpoint: Endpoint,
    transport: Transport,
}

impl Ollama {
    /// A client for this server.
    ///
    /// # Errors
    /// [`Error::Address`], [`Error::Setup`].
    pub fn new(endpoint: Endpoint) -> Result<Self, Error> {
        Ok(Self { transport: Transport::new(&endpoint)?, endpoint })
    }

    fn call(&self, operation: &str, body: Option<Value>) -> Outgoing<'static> {
        Outgoing {
            url: self.transport.address.operation(operation),
            body: body.map(|b| b.to_string()),
            headers: &[],
            key_header: KeyHeader::Bearer,
            limit: Some(window::LIMIT),
        }
    }
}

#[async_trait]
impl Provider for Ollama {
    fn caps(&self) -> Caps {
        Caps { window: Some(window_of(&self.endpoint)), ..Caps::default() }
    }

    async fn chat(
        &self,
        req: ChatRequest,
        out: &mut dyn ChatSink,
        cancel: &CancellationToken,
    ) -> Result<ChatReply, Error> {
        let outgoing = Outgoing {
            headers: &req.extra_headers,
            limit: req.limit,
            ..self.call("/chat", Some(Value::Object(body(&self.endpoint, &req))))
        };
        let mut reader = Lines::default();
        exchange(&self.transport, &req, outgoing, Framing::Lines, &mut reader, out, cancel).await
    }

    async fn list_models(&self, cancel: &CancellationToken) -> Result<Vec<String>, Error> {
        Ok(names(&self.transport.json(self.call("/tags", None), cancel).await?))
    }

    async fn window(&self, cancel: &CancellationToken) -> Result<Window, Error> {
        let body = json!({"model": self.endpoint.llm});
        let shown = self.transport.json(self.call("/show", Some(body)), cancel).await;
        let max = window::known(shown)?.as_ref().and_then(window::of_architecture);
        let asked = window_of(&self.endpoint);
        let running = self.transport.json(self.call("/ps", None), cancel).await;
        let loaded = window::known(running)?.as_ref().and_then(|v| in_use(v, &self.endpoint.llm));
        // Before the model is loaded, and on servers that do not tell, what is loaded is what we
        // ask for; a model that holds less gets less.
        let loaded = loaded.unwrap_or_else(|| max.map_or(asked, |m| m.min(asked)));
        Ok(Window { loaded: Some(loaded), max, asked: Some(asked) })
    }
}

/// The window of a loaded model in the list of those that run. A name without a tag stands for
/// `latest`.
fn in_use(running: &Value, llm: &str) -> Option<u32> {
    let full = if llm.contains(':') { llm.to_owned() } else { format!("{llm}:latest") };
    let entries = running["models"].as_array()?;
    let own = |e: &&Value| {
        ["name", "model"].iter().any(|k| e[*k].as_str().is_some_and(|n| n == llm || n == full))
    };
    count(&entries.iter().find(own)?["context_length"])
}

fn window_of(endpoint: &Endpoint) -> u32 {
    endpoint.window.unwrap_or(DEFAULT_OLLAMA_WINDOW)
}

fn body(endpoint: &Endpoint, req: &ChatRequest) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("model".into(), json!(endpoint.llm));
    body.insert("messages".into(), req.messages.iter().map(message).collect());
    // The protocol has no tool choice: a named one becomes a list of that tool alone.
    let offered: Vec<&Tool> = match &req.tool_choice {
        ToolChoice::None => Vec::new(),
        ToolChoice::Named(name) => req.tools.iter().filter(|t| t.name == *name).collect(),
        ToolChoice::Auto | ToolChoice::Required => req.tools.iter().collect(),
    };
    if !offered.is_empty() {
        body.insert("tools".into(), offered.into_iter().map(tool).collect());
    }
    let format = match &req.response_format {
        ResponseFormat::Text => None,
        ResponseFormat::JsonObject => Some(json!("json")),
        ResponseFormat::JsonSchema { schema, .. } => Some(schema.clone()),
    };
    body.extend(format.map(|f| ("format".to_owned(), f)));
    let think = match req.thinking {
        Thinking::Default => None,
        Thinking::On => Some(true),
        Thinking::Off => Some(false),
    };
    body.extend(think.map(|t| ("think".to_owned(), json!(t))));
    let mut options = Map::new();
    options.insert("num_ctx".into(), json!(window_of(endpoint)));
    options.extend(req.temperature.map(|t| ("temperature".to_owned(), temperature(t))));
    options.extend(req.max_output.map(|n| ("num_predict".to_owned(), json!(n))));
    body.insert("options".into(), Value::Object(options));
    body.insert("stream".into(), json!(req.stream));
    merge(&mut body, &endpoint.extra_body);
    merge(&mut body, &req.extra_body);
    body
}

fn message(message: &Message) -> Value {
    match message {
        Message::System { text } => json!({"role": "system", "content": text}),
        Message::User { text } => json!({"role": "user", "content": text}),
        // `tool_call_id` is read by newer servers and ignored by older ones, which pair by name.
        Message::Tool(result) => json!({
            "role": "tool", "tool_name": result.name, "tool_call_id": result.call_id,
            "content": result.text,
        }),
        Message::Assistant(turn) => {
            let mut fields = Map::new();
            fields.insert("role".into(), json!("assistant"));
            fields.insert("content".into(), json!(turn.text));
            if !turn.calls.is_empty() {
                let calls = turn.calls.iter().map(|call| {
                    let arguments = call.arguments.clone().unwrap_or_default();
                    let mut fields = call.opaque.clone();
                    fields.insert("id".into(), json!(call.id));
                    let function = json!({"name": call.name, "arguments": arguments});
                    fields.insert("function".into(), function);
                    Value::Object(fields)
                });
                fields.insert("tool_calls".into(), calls.collect());
            }
            fields.extend(turn.opaque.clone());
            Value::Object(fields)
        }
    }
}

/// Reads the lines of a reply; a whole reply is one line.
#[derive(Default)]
struct Lines {
    seen: bool,
    thinking: String,
}

impl Reader for Lines {
    fn frame(
        &mut self,
        frame: &Value,
        reply: &mut Assembly,
        out: &mut dyn ChatSink,
    ) -> Result<bool, Fault> {
        if is_error(frame) {
            return Err(Fault::Provider);
        }
        reply.llm(frame["model"].as_str().unwrap_or_default());
        let message = &frame["message"];
        if message.is_object() {
            self.seen = true;
            let thought = message["thinking"].as_str().unwrap_or_default();
            reply.reasoning(thought, out);
            self.thinking.push_str(thought);
            reply.text(message["content"].as_str().unwrap_or_default(), out);
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                let function = &call["function"];
                reply.call(Fragment {
                    index: function["index"].as_u64(),
                    id: call["id"].as_str(),
                    name: function["name"].as_str(),
                    arguments: function.get("arguments"),
                    opaque: rest(call, &["id", "type", "function"]),
                });
            }
        }
        if frame["done"].as_bool() != Some(true) {
            return Ok(false);
        }
        let raw = frame["done_reason"].as_str().unwrap_or("stop");
        reply.finish_reason(raw, finish(raw));
        let counts = (count(&frame["prompt_eval_count"]), count(&frame["eval_count"]));
        if let (input, Some(output)) = counts {
            // Left out when the whole prompt came from the server's cache: then nothing is known.
            let input_tokens = input.unwrap_or(0);
            reply.usage(Usage { input_tokens, output_tokens: output, ..Usage::default() });
        }
        Ok(true)
    }

    fn whole(
        &mut self,
        value: &Value,
        reply: &mut Assembly,
        out: &mut dyn ChatSink,
    ) -> Result<(), Fault> {
        self.frame(value, reply, out).map(|_| ())
    }

    fn finish(&mut self, reply: &mut Assembly) -> Result<(), Fault> {
        if !self.seen {
            return Err(Fault::Malformed("it holds no message"));
        }
        if !self.thinking.is_empty() {
            let thinking = std::mem::take(&mut self.thinking);
            reply.opaque.insert("thinking".to_owned(), json!(thinking));
        }
        Ok(())
    }
}
