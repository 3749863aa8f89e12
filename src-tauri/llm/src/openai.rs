//! The client for `/chat/completions` as OpenAI made it and many servers copy it, each a little
//! differently. Reads all of them; sends only what the original documents.

use crate::assemble::{Assembly, Fragment, count};
use crate::chat::{
    ChatReply, ChatRequest, Finish, Message, ResponseFormat, Thinking, ToolChoice, Usage,
};
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::exchange::{Fault, Reader, exchange, is_error, merge};
use crate::frames::Framing;
use crate::transport::{KeyHeader, Outgoing, Transport};
use crate::window::{self, Window};
use crate::{Caps, ChatSink, Provider};
use async_trait::async_trait;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

/// An OpenAI-compatible endpoint.
pub struct OpenAi {
    endpoint: Endpoint,
    transport: Transport,
}

impl OpenAi {
    /// A client for this endpoint.
    ///
    /// # Errors
    /// [`Error::Address`], [`Error::Setup`].
    pub fn new(endpoint: Endpoint) -> Result<Self, Error> {
        Ok(Self { transport: Transport::new(&endpoint)?, endpoint })
    }
}

#[async_trait]
impl Provider for OpenAi {
    fn caps(&self) -> Caps {
        Caps { window: self.endpoint.window, ..Caps::default() }
    }

    async fn chat(
        &self,
        req: ChatRequest,
        out: &mut dyn ChatSink,
        cancel: &CancellationToken,
    ) -> Result<ChatReply, Error> {
        let outgoing = Outgoing {
            url: self.transport.address.operation("/chat/completions"),
            body: Some(Value::Object(body(&self.endpoint, &req)).to_string()),
            headers: &req.extra_headers,
            key_header: KeyHeader::Bearer,
            limit: req.limit,
        };
        let mut reader = Choices::default();
        exchange(&self.transport, &req, outgoing, Framing::Events, &mut reader, out, cancel).await
    }

    async fn list_models(&self, cancel: &CancellationToken) -> Result<Vec<String>, Error> {
        let value = self.transport.json(models(&self.transport), cancel).await?;
        Ok(names(&value))
    }

    async fn window(&self, cancel: &CancellationToken) -> Result<Window, Error> {
        window::compatible(&self.transport, &self.endpoint.llm, cancel).await
    }
}

/// The request for the list of models.
pub(crate) fn models(transport: &Transport) -> Outgoing<'static> {
    Outgoing {
        url: transport.address.operation("/models"),
        body: None,
        headers: &[],
        key_header: KeyHeader::Bearer,
        limit: Some(window::LIMIT),
    }
}

/// Names in a list of models: `data` of the original, `models` of some, a bare list of others.
pub(crate) fn names(value: &Value) -> Vec<String> {
    let list = value.get("data").or_else(|| value.get("models")).unwrap_or(value);
    let name = |m: &Value| {
        let named = ["id", "name", "model"].iter().find_map(|k| m.get(k).and_then(Value::as_str));
        named.or(m.as_str()).map(str::to_owned)
    };
    list.as_array().into_iter().flatten().filter_map(name).collect()
}

fn body(endpoint: &Endpoint, req: &ChatRequest) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("model".into(), json!(endpoint.llm));
    let wants_reasoning = endpoint.llm.to_lowercase().contains("deepseek");
    let messages: Vec<Value> = req.messages.iter().map(|m| message(m, wants_reasoning)).collect();
    body.insert("messages".into(), json!(messages));
    if !req.tools.is_empty() {
        let tools: Vec<Value> = req.tools.iter().map(tool).collect();
        body.insert("tools".into(), json!(tools));
        let choice = match &req.tool_choice {
            ToolChoice::Auto => None,
            ToolChoice::Required => Some(json!("required")),
            ToolChoice::None => Some(json!("none")),
            ToolChoice::Named(name) => {
                Some(json!({"type": "function", "function": {"name": name}}))
            }
        };
        body.extend(choice.map(|c| ("tool_choice".to_owned(), c)));
    }
    let format = match &req.response_format {
        ResponseFormat::Text => None,
        ResponseFormat::JsonObject => Some(json!({"type": "json_object"})),
        ResponseFormat::JsonSchema { name, schema, strict } => {
            let mut shape = json!({"name": name, "schema": schema});
            if *strict {
                shape["strict"] = json!(true);
            }
            Some(json!({"type": "json_schema", "json_schema": shape}))
        }
    };
    body.extend(format.map(|f| ("response_format".to_owned(), f)));
    body.extend(req.temperature.map(|t| ("temperature".to_owned(), temperature(t))));
    body.extend(req.max_output.map(|n| ("max_tokens".to_owned(), json!(n))));
    let switch = match req.thinking {
        Thinking::Default => None,
        Thinking::On => Some(("medium", true)),
        Thinking::Off => Some(("none", false)),
    };
    if let Some((effort, on)) = switch {
        // Two spellings, since hosted models know the first and local servers the second.
        body.insert("reasoning_effort".into(), json!(effort));
        body.insert("chat_template_kwargs".into(), json!({"enable_thinking": on}));
    }
    body.insert("stream".into(), json!(req.stream));
    if req.stream {
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    merge(&mut body, &endpoint.extra_body);
    merge(&mut body, &req.extra_body);
    body
}

/// A temperature as it was meant: 0.3 as an f32 would be sent as 0.30000001192092896.
pub(crate) fn temperature(t: f32) -> Value {
    json!((f64::from(t) * 1_000.0).round() / 1_000.0)
}

/// A tool as OpenAI and Ollama want it.
pub(crate) fn tool(tool: &crate::Tool) -> Value {
    json!({"type": "function", "function": {
        "name": tool.name, "description": tool.description, "parameters": tool.parameters,
    }})
}

fn message(message: &Message, wants_reasoning: bool) -> Value {
    match message {
        Message::System { text } => json!({"role": "system", "content": text}),
        Message::User { text } => json!({"role": "user", "content": text}),
        Message::Tool(result) => {
            json!({"role": "tool", "tool_call_id": result.call_id, "content": result.text})
        }
        Message::Assistant(turn) => {
            let mut fields = Map::new();
            fields.insert("role".into(), json!("assistant"));
            let mute = turn.text.is_empty() && !turn.calls.is_empty();
            fields.insert("content".into(), if mute { Value::Null } else { json!(turn.text) });
            if !turn.calls.is_empty() {
                let calls = turn.calls.iter().map(|call| {
                    let arguments = call.arguments.clone().unwrap_or_default();
                    let mut value = json!({"id": call.id, "type": "function", "function": {
                        "name": call.name, "arguments": Value::Object(arguments).to_string(),
                    }});
                    if let Value::Object(fields) = &mut value {
                        fields.extend(call.opaque.clone());
                    }
                    value
                });
                fields.insert("tool_calls".into(), calls.collect());
                if wants_reasoning {
                    // DeepSeek refuses a turn with calls that lacks the field.
                    fields.insert("reasoning_content".into(), json!(""));
                }
            }
            fields.extend(turn.opaque.clone());
            Value::Object(fields)
        }
    }
}

/// Reads choices, of a stream or whole.
#[derive(Default)]
struct Choices {
    seen: bool,
    refusal: String,
}

impl Reader for Choices {
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
        if let Some(usage) = usage(&frame["usage"]) {
            reply.usage(usage);
        }
        let Some(choice) = frame["choices"].get(0) else { return Ok(false) };
        if is_error(choice) {
            return Err(Fault::Provider);
        }
        self.seen = true;
        let whole = choice.get("message").is_some_and(Value::is_object);
        let delta = if whole { &choice["message"] } else { &choice["delta"] };
        self.delta(delta, whole, reply, out);
        if let Some(raw) = choice["finish_reason"].as_str().filter(|r| !r.is_empty()) {
            reply.finish_reason(raw, finish(raw));
        }
        Ok(false)
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
        if !self.refusal.is_empty() && reply.is_empty() {
            return Err(Fault::Declined(std::mem::take(&mut self.refusal)));
        }
        if self.seen { Ok(()) } else { Err(Fault::Malformed("it holds no choice")) }
    }
}

impl Choices {
    fn delta(&mut self, delta: &Value, whole: bool, reply: &mut Assembly, out: &mut dyn ChatSink) {
        for field in ["reasoning_content", "reasoning", "thinking"] {
            if let Some(text) = delta[field].as_str() {
                reply.reasoning(text, out);
                // DeepSeek wants its own field back with the turn that holds calls.
                if field == "reasoning_content" {
                    append(&mut reply.opaque, field, text);
                }
                break;
            }
        }
        if let Some(Value::Array(details)) = delta.get("reasoning_details") {
            let kept = reply.opaque.entry("reasoning_details").or_insert_with(|| json!([]));
            if let Value::Array(kept) = kept {
                kept.extend(details.clone());
            }
        }
        content(&delta["content"], reply, out);
        self.refusal.push_str(delta["refusal"].as_str().unwrap_or_default());
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            let fragment = Fragment {
                index: call["index"].as_u64(),
                id: call["id"].as_str(),
                name: function["name"].as_str().or_else(|| call["name"].as_str()),
                arguments: function.get("arguments").or_else(|| call.get("arguments")),
                opaque: rest(call, &["index", "id", "type", "function", "name", "arguments"]),
            };
            if whole { reply.call(fragment) } else { reply.fragment(fragment) }
        }
        let legacy = &delta["function_call"];
        if legacy.is_object() {
            reply.fragment(Fragment {
                index: Some(0),
                name: legacy["name"].as_str(),
                arguments: legacy.get("arguments"),
                ..Fragment::default()
            });
        }
    }
}

/// Content is text, or a list of parts of which some are reasoning.
fn content(content: &Value, reply: &mut Assembly, out: &mut dyn ChatSink) {
    match content {
        Value::String(text) => reply.text(text, out),
        Value::Array(parts) => {
            for part in parts {
                let kind = part["type"].as_str().unwrap_or("text");
                if matches!(kind, "thinking" | "reasoning") {
                    reply.reasoning(&flat(part.get(kind).unwrap_or(part)), out);
                } else {
                    reply.text(&flat(part), out);
                }
            }
        }
        _ => {}
    }
}

/// Text of a part, however deep it is packed.
fn flat(part: &Value) -> String {
    match part {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(flat).collect(),
        Value::Object(fields) => fields.get("text").map(flat).unwrap_or_default(),
        _ => String::new(),
    }
}

fn append(fields: &mut Map<String, Value>, key: &str, text: &str) {
    let slot = fields.entry(key).or_insert_with(|| json!(""));
    if let Value::String(kept) = slot {
        kept.push_str(text);
    }
}

/// The fields of an object that are not among those we read, without nulls.
pub(crate) fn rest(value: &Value, read: &[&str]) -> Map<String, Value> {
    let fields = value.as_object().into_iter().flatten();
    fields
        .filter(|(key, value)| !read.contains(&key.as_str()) && !value.is_null())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// The five words, from all that servers write.
pub(crate) fn finish(raw: &str) -> Finish {
    match raw.to_lowercase().as_str() {
        "stop" | "eos" | "end_turn" | "stop_sequence" | "end" => Finish::Stop,
        "length" | "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "tool_calls" | "tool_use" | "function_call" => Finish::ToolCalls,
        "content_filter" | "refusal" | "safety" => Finish::Filtered,
        _ => Finish::Other,
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let input = count(&value["prompt_tokens"]);
    let output = count(&value["completion_tokens"]);
    if input.is_none() && output.is_none() {
        return None;
    }
    let cached = count(&value["prompt_tokens_details"]["cached_tokens"])
        .or_else(|| count(&value["prompt_cache_hit_tokens"]));
    let thoughts = count(&value["completion_tokens_details"]["reasoning_tokens"]);
    Some(Usage {
        input_tokens: input.unwrap_or(0),
        output_tokens: output.unwrap_or(0),
        cached_tokens: cached.unwrap_or(0),
        thoughts_tokens: thoughts.unwrap_or(0),
    })
}
