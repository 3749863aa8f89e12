//! What is asked of a language model and what it answers, in no endpoint's dialect. Plain values:
//! nothing here sends or decides anything.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::time::Duration;

/// One request. The model is the provider's own, so it has no name here.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    /// Label of the call for log and trace, for example `agent_1` or `final`. Never sent.
    pub scope: String,
    /// The conversation, oldest first. System messages may stand anywhere; protocols that allow
    /// one only get them joined.
    pub messages: Vec<Message>,
    /// Tools on offer; empty for none.
    pub tools: Vec<Tool>,
    /// Which of them must be called.
    pub tool_choice: ToolChoice,
    /// Shape of the answer's text.
    pub response_format: ResponseFormat,
    /// Sampling temperature; None leaves it to the endpoint.
    pub temperature: Option<f32>,
    /// Most tokens of the reply; None leaves it to the endpoint.
    pub max_output: Option<u32>,
    /// Whether the model should reason before it answers.
    pub thinking: Thinking,
    /// Fields merged into the body last. A null removes the field of that name.
    pub extra_body: Map<String, Value>,
    /// Headers beside ours, for example of a gateway.
    pub extra_headers: Vec<(String, String)>,
    /// Time limit of this call from sending to the last byte; None takes the endpoint's.
    pub limit: Option<Duration>,
    /// Whether pieces are asked for.
    pub stream: bool,
    /// Our own count of the prompt in tokens. When given, a reply whose endpoint reports far
    /// fewer is refused as [`crate::Error::PromptTruncated`].
    pub prompt_tokens: Option<u32>,
    /// Who is waiting. Decides the order after a rate limit.
    pub urgency: Urgency,
    /// How long it was held back before it was sent: set on the way, for the record.
    pub waited: Duration,
}

impl ChatRequest {
    /// A request with these messages and nothing else set: no tools, plain text, streamed.
    pub fn new(scope: impl Into<String>, messages: Vec<Message>) -> Self {
        Self {
            scope: scope.into(),
            messages,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            response_format: ResponseFormat::Text,
            temperature: None,
            max_output: None,
            thinking: Thinking::Default,
            extra_body: Map::new(),
            extra_headers: Vec::new(),
            limit: None,
            stream: true,
            prompt_tokens: None,
            urgency: Urgency::Background,
            waited: Duration::ZERO,
        }
    }
}

/// Who waits for the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Urgency {
    /// A person. Goes first when an endpoint opens again.
    Asked,
    /// Queued work.
    Background,
}

/// One turn of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// Instructions.
    System {
        /// Their text.
        text: String,
    },
    /// What the user, or the program in the user's name, says.
    User {
        /// Its text.
        text: String,
    },
    /// What the model said.
    Assistant(AssistantTurn),
    /// The result of one tool call.
    Tool(ToolResult),
}

impl Message {
    /// A system message.
    pub fn system(text: impl Into<String>) -> Self {
        Self::System { text: text.into() }
    }

    /// A user message.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into() }
    }

    /// The answer to one tool call.
    pub fn tool(call: &ToolCall, text: impl Into<String>) -> Self {
        Self::Tool(ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            text: text.into(),
            is_error: false,
        })
    }

    /// The answer to a tool call that went wrong.
    pub fn tool_error(call: &ToolCall, text: impl Into<String>) -> Self {
        Self::Tool(ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            text: text.into(),
            is_error: true,
        })
    }
}

/// A turn of the model as it goes back into the history.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AssistantTurn {
    /// Text beside the calls; may be empty.
    pub text: String,
    /// Calls in the order in which the model made them.
    pub calls: Vec<ToolCall>,
    /// What this protocol wants back unchanged with the turn (thinking blocks with signatures,
    /// reasoning text). Never read by anyone but the client that wrote it.
    pub opaque: Map<String, Value>,
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique in the conversation; ours where the endpoint gave none or repeated one.
    pub id: String,
    /// Name as the model wrote it.
    pub name: String,
    /// Arguments as received. For arguments that came as an object, its JSON text.
    pub raw: String,
    /// The arguments when they are one JSON object (nothing at all counts as an empty one); None
    /// when they cannot be read. Such a call goes back into the history with an empty object, so
    /// that the broken text is not imitated.
    pub arguments: Option<Map<String, Value>>,
    /// What the protocol wants back unchanged with the call (signatures).
    pub opaque: Map<String, Value>,
}

impl ToolCall {
    /// A call from its parts, as a program makes it.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: &Value) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            raw: arguments.to_string(),
            arguments: arguments.as_object().cloned(),
            opaque: Map::new(),
        }
    }
}

/// The result of one tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// Id of the call it answers.
    pub call_id: String,
    /// Name of the tool, which Ollama pairs by.
    pub name: String,
    /// Text for the model.
    pub text: String,
    /// Whether the call failed. Sent where the protocol has a place for it.
    pub is_error: bool,
}

/// A tool on offer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON schema of its arguments, an object.
    pub parameters: Value,
}

/// Which tool must be called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// Any or none.
    Auto,
    /// At least one.
    Required,
    /// This one.
    Named(String),
    /// None, although tools are listed.
    None,
}

/// What shape the text of the answer has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseFormat {
    /// Free text.
    Text,
    /// Some JSON object.
    JsonObject,
    /// JSON of this schema.
    JsonSchema {
        /// Name of the shape, `[a-zA-Z0-9_-]`.
        name: String,
        /// The schema, sent as given.
        schema: Value,
        /// Whether the endpoint is asked for its strict mode.
        strict: bool,
    },
}

/// Whether the model reasons before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    /// As the endpoint sees fit; nothing is sent.
    #[default]
    Default,
    /// Asked for.
    On,
    /// Switched off.
    Off,
}

/// Why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It was done.
    #[default]
    Stop,
    /// The output limit cut it off.
    Length,
    /// It waits for tool results.
    ToolCalls,
    /// The endpoint's filter ended it, or the model declined.
    Filtered,
    /// Something else, or nothing was said; the raw word tells.
    Other,
}

impl Finish {
    /// The word for log and trace.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::Filtered => "filtered",
            Self::Other => "other",
        }
    }
}

/// Tokens as the endpoint reports them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt, those read from a cache included.
    pub input_tokens: u32,
    /// Tokens of the reply, reasoning included.
    pub output_tokens: u32,
    /// Part of the prompt that came from a cache.
    pub cached_tokens: u32,
    /// Part of the reply that was reasoning.
    pub thoughts_tokens: u32,
}

/// One whole reply.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ChatReply {
    /// The answer without reasoning; blanks at its ends are kept.
    pub text: String,
    /// Reasoning, from its own field or from a leading block of the text.
    pub reasoning: String,
    /// Calls with unique ids.
    pub calls: Vec<ToolCall>,
    /// Why it ended, in one of five words.
    pub finish: Finish,
    /// Why it ended, as the endpoint put it.
    pub finish_raw: Option<String>,
    /// What it cost; None when the endpoint does not tell.
    pub usage: Option<Usage>,
    /// The model that answered, as the endpoint names it.
    pub llm: Option<String>,
    /// What this protocol wants back with the turn.
    pub opaque: Map<String, Value>,
    /// The reply as received, for the log.
    pub raw: String,
}

impl ChatReply {
    /// This reply as a turn of the history.
    pub fn turn(&self) -> AssistantTurn {
        AssistantTurn {
            text: self.text.clone(),
            calls: self.calls.clone(),
            opaque: self.opaque.clone(),
        }
    }

    /// Whether there is neither text nor a call.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.text.trim().is_empty()
    }
}
