//! The client for Anthropic's `/messages`. One system text, turns that alternate, all tool results
//! of a turn in one message, thinking blocks carried back unchanged.

use crate::assemble::{Assembly, Fragment, count};
use crate::chat::{ChatReply, ChatRequest, Message, ResponseFormat, Thinking, ToolChoice, Usage};
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::exchange::{Fault, Reader, exchange, is_error, merge};
use crate::frames::Framing;
use crate::openai::{finish, names, temperature};
use crate::transport::{KeyHeader, Outgoing, Transport};
use crate::window::{self, Window};
use crate::{Caps, ChatSink, Provider};
use async_trait::async_trait;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use tokio_util::sync::CancellationToken;

/// The protocol demands an output cap; this one is used where the request sets none.
const DEFAULT_MAX_OUTPUT: u32 = 8_192;
/// Version of the wire format that this client writes.
const VERSION: &str = "2023-06-01";
/// Where the thinking blocks of a turn are kept.
const BLOCKS: &str = "thinking_blocks";

/// An Anthropic endpoint.
pub struct Anthropic {
    endpoint: Endpoint,
    transport: Transport,
}

impl Anthropic {
    /// A client for this endpoint.
    ///
    /// # Errors
    /// [`Error::Address`], [`Error::Setup`].
    pub fn new(mut endpoint: Endpoint) -> Result<Self, Error> {
        let named =
            endpoint.headers.iter().any(|(n, _)| n.eq_ignore_ascii_case("anthropic-version"));
        if !named {
            endpoint.headers.push(("anthropic-version".to_owned(), VERSION.to_owned()));
        }
        Ok(Self { transport: Transport::new(&endpoint)?, endpoint })
    }

    fn get(&self, operation: &str) -> Outgoing<'static> {
        Outgoing {
            url: self.transport.address.operation(operation),
            body: None,
            headers: &[],
            key_header: KeyHeader::ApiKey,
            limit: Some(window::LIMIT),
        }
    }
}

#[async_trait]
impl Provider for Anthropic {
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
            url: self.transport.address.operation("/messages"),
            body: Some(Value::Object(body(&self.endpoint, &req)).to_string()),
            headers: &req.extra_headers,
            key_header: KeyHeader::ApiKey,
            limit: req.limit,
        };
        let mut reader = Blocks::default();
        exchange(&self.transport, &req, outgoing, Framing::Events, &mut reader, out, cancel).await
    }

    async fn list_models(&self, cancel: &CancellationToken) -> Result<Vec<String>, Error> {
        let mut outgoing = self.get("/models");
        outgoing.url.query_pairs_mut().append_pair("limit", "1000");
        Ok(names(&self.transport.json(outgoing, cancel).await?))
    }

    async fn window(&self, cancel: &CancellationToken) -> Result<Window, Error> {
        let asked =
            self.transport.json(self.get(&format!("/models/{}", self.endpoint.llm)), cancel);
        let value = window::known(asked.await)?;
        let max = value.as_ref().and_then(|v| count(&v["max_input_tokens"]));
        Ok(Window { loaded: max, max, asked: None })
    }
}

fn body(endpoint: &Endpoint, req: &ChatRequest) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("model".into(), json!(endpoint.llm));
    let cap = req.max_output.unwrap_or(DEFAULT_MAX_OUTPUT);
    body.insert("max_tokens".into(), json!(cap));
    let system: Vec<&str> = req
        .messages
        .iter()
        .filter_map(|m| if let Message::System { text } = m { Some(text.as_str()) } else { None })
        .collect();
    if !system.is_empty() {
        body.insert("system".into(), json!(system.join("\n\n")));
    }
    body.insert("messages".into(), json!(messages(&req.messages)));
    // The protocol refuses thinking beside a forced tool or a set temperature.
    let free =
        req.tools.is_empty() || matches!(req.tool_choice, ToolChoice::Auto | ToolChoice::None);
    let thinks = free && req.thinking == Thinking::On;
    if !req.tools.is_empty() {
        let tools = req.tools.iter().map(
            |t| json!({"name": t.name, "description": t.description, "input_schema": t.parameters}),
        );
        body.insert("tools".into(), tools.collect());
        let choice = match &req.tool_choice {
            ToolChoice::Auto => json!({"type": "auto"}),
            ToolChoice::Required => json!({"type": "any"}),
            ToolChoice::Named(name) => json!({"type": "tool", "name": name}),
            ToolChoice::None => json!({"type": "none"}),
        };
        body.insert("tool_choice".into(), choice);
    }
    if let ResponseFormat::JsonSchema { schema, .. } = &req.response_format {
        let format = json!({"type": "json_schema", "schema": schema});
        body.insert("output_config".into(), json!({"format": format}));
    }
    match req.thinking {
        Thinking::On if thinks => {
            let budget = (cap / 2).max(1_024);
            body.insert("max_tokens".into(), json!(cap.max(budget + 1_024)));
            body.insert("thinking".into(), json!({"type": "enabled", "budget_tokens": budget}));
        }
        Thinking::Off => {
            body.insert("thinking".into(), json!({"type": "disabled"}));
        }
        Thinking::On | Thinking::Default => {}
    }
    if !thinks {
        body.extend(req.temperature.map(|t| ("temperature".to_owned(), temperature(t))));
    }
    body.insert("stream".into(), json!(req.stream));
    merge(&mut body, &endpoint.extra_body);
    merge(&mut body, &req.extra_body);
    body
}

/// Turns that alternate: neighbours of one role become one message, so that all results of a turn
/// travel together.
fn messages(history: &[Message]) -> Vec<Value> {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in history {
        let (role, blocks) = match message {
            Message::System { .. } => continue,
            Message::User { text } => ("user", vec![json!({"type": "text", "text": text})]),
            Message::Tool(result) => {
                let mut block = json!({
                    "type": "tool_result", "tool_use_id": result.call_id, "content": result.text,
                });
                if result.is_error {
                    block["is_error"] = json!(true);
                }
                ("user", vec![block])
            }
            Message::Assistant(turn) => {
                let kept = turn.opaque.get(BLOCKS).and_then(Value::as_array);
                let mut blocks = kept.cloned().unwrap_or_default();
                if !turn.text.trim().is_empty() {
                    blocks.push(json!({"type": "text", "text": turn.text}));
                }
                blocks.extend(turn.calls.iter().map(|call| {
                    let input = call.arguments.clone().unwrap_or_default();
                    json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
                }));
                ("assistant", blocks)
            }
        };
        match turns.last_mut() {
            Some((last, kept)) if *last == role => kept.extend(blocks),
            _ if blocks.is_empty() => {}
            _ => turns.push((role, blocks)),
        }
    }
    turns.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

/// Reads content blocks, of a stream or whole.
#[derive(Default)]
struct Blocks {
    seen: bool,
    thinking: BTreeMap<u64, Value>,
    usage: Option<Usage>,
    declined: bool,
}

impl Reader for Blocks {
    fn frame(
        &mut self,
        frame: &Value,
        reply: &mut Assembly,
        out: &mut dyn ChatSink,
    ) -> Result<bool, Fault> {
        if is_error(frame) {
            return Err(Fault::Provider);
        }
        let index = frame["index"].as_u64();
        match frame["type"].as_str().unwrap_or_default() {
            "message_start" => {
                self.seen = true;
                reply.llm(frame["message"]["model"].as_str().unwrap_or_default());
                self.count(&frame["message"]["usage"], reply);
            }
            "content_block_start" => {
                self.seen = true;
                self.block(index, &frame["content_block"], false, reply, out);
            }
            "content_block_delta" => {
                self.seen = true;
                self.delta(index, &frame["delta"], reply, out);
            }
            "message_delta" => {
                self.stopped(&frame["delta"]["stop_reason"], reply);
                self.count(&frame["usage"], reply);
            }
            "message_stop" => return Ok(true),
            // A whole message where an event was expected.
            "message" => return self.whole(frame, reply, out).map(|()| true),
            _ => {}
        }
        Ok(false)
    }

    fn whole(
        &mut self,
        value: &Value,
        reply: &mut Assembly,
        out: &mut dyn ChatSink,
    ) -> Result<(), Fault> {
        if is_error(value) {
            return Err(Fault::Provider);
        }
        let Some(blocks) = value["content"].as_array() else {
            return Err(Fault::Malformed("it holds no content"));
        };
        self.seen = true;
        reply.llm(value["model"].as_str().unwrap_or_default());
        for (index, block) in (0..).zip(blocks) {
            self.block(Some(index), block, true, reply, out);
        }
        self.stopped(&value["stop_reason"], reply);
        self.count(&value["usage"], reply);
        Ok(())
    }

    fn finish(&mut self, reply: &mut Assembly) -> Result<(), Fault> {
        if !self.seen {
            return Err(Fault::Malformed("it holds no content"));
        }
        if self.declined && reply.is_empty() {
            return Err(Fault::Declined("the model declined to answer".to_owned()));
        }
        let blocks: Vec<Value> = std::mem::take(&mut self.thinking).into_values().collect();
        if !blocks.is_empty() {
            reply.opaque.insert(BLOCKS.to_owned(), Value::Array(blocks));
        }
        Ok(())
    }
}

impl Blocks {
    fn block(
        &mut self,
        index: Option<u64>,
        block: &Value,
        whole: bool,
        reply: &mut Assembly,
        out: &mut dyn ChatSink,
    ) {
        match block["type"].as_str().unwrap_or_default() {
            "text" => reply.text(block["text"].as_str().unwrap_or_default(), out),
            "thinking" => {
                reply.reasoning(block["thinking"].as_str().unwrap_or_default(), out);
                self.thinking.insert(index.unwrap_or(0), block.clone());
            }
            "redacted_thinking" => {
                self.thinking.insert(index.unwrap_or(0), block.clone());
            }
            "tool_use" => {
                // A stream opens with an empty object that is no argument yet.
                let input = &block["input"];
                let nothing = match input {
                    Value::Object(fields) => fields.is_empty(),
                    Value::String(text) => text.is_empty(),
                    _ => true,
                };
                let placeholder = !whole && nothing;
                let fragment = Fragment {
                    index,
                    id: block["id"].as_str(),
                    name: block["name"].as_str(),
                    arguments: (!placeholder).then_some(input),
                    opaque: Map::new(),
                };
                if whole { reply.call(fragment) } else { reply.fragment(fragment) }
            }
            _ => {}
        }
    }

    fn delta(
        &mut self,
        index: Option<u64>,
        delta: &Value,
        reply: &mut Assembly,
        out: &mut dyn ChatSink,
    ) {
        let text = |key: &str| delta[key].as_str().unwrap_or_default();
        match text("type") {
            "text_delta" => reply.text(text("text"), out),
            "input_json_delta" => reply.fragment(Fragment {
                index,
                arguments: delta.get("partial_json"),
                ..Fragment::default()
            }),
            "thinking_delta" => {
                reply.reasoning(text("thinking"), out);
                self.grow(index, "thinking", text("thinking"));
            }
            "signature_delta" => self.grow(index, "signature", text("signature")),
            _ => {}
        }
    }

    fn grow(&mut self, index: Option<u64>, key: &str, text: &str) {
        let block = self
            .thinking
            .entry(index.unwrap_or(0))
            .or_insert_with(|| json!({"type": "thinking", "thinking": ""}));
        let grown = format!("{}{text}", block[key].as_str().unwrap_or_default());
        block[key] = json!(grown);
    }

    fn stopped(&mut self, reason: &Value, reply: &mut Assembly) {
        if let Some(raw) = reason.as_str().filter(|r| !r.is_empty()) {
            self.declined = raw == "refusal";
            reply.finish_reason(raw, finish(raw));
        }
    }

    /// Counts come in two halves: the prompt at the start, the reply at the end. A count that is
    /// missing or zero in the second half does not undo the first.
    fn count(&mut self, value: &Value, reply: &mut Assembly) {
        let field = |key: &str| count(&value[key]);
        let cached = field("cache_read_input_tokens").unwrap_or(0);
        let input = field("input_tokens").map(|fresh| {
            fresh
                .saturating_add(cached)
                .saturating_add(field("cache_creation_input_tokens").unwrap_or(0))
        });
        let output = field("output_tokens");
        if input.is_none() && output.is_none() {
            return;
        }
        let details = &value["output_tokens_details"];
        let thoughts = count(&details["thinking_tokens"])
            .or_else(|| count(&details["reasoning_tokens"]))
            .or_else(|| field("thinking_tokens"));
        let mut usage = self.usage.unwrap_or_default();
        if let Some(input) = input.filter(|n| *n > 0) {
            usage.input_tokens = input;
            usage.cached_tokens = cached;
        }
        usage.output_tokens = output.unwrap_or(usage.output_tokens);
        usage.thoughts_tokens = thoughts.unwrap_or(usage.thoughts_tokens);
        self.usage = Some(usage);
        reply.usage(usage);
    }
}
