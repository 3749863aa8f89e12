//! What to leave out of a request because the endpoint refuses it. Pure: a request and what is
//! known go in, the request to send comes out; a refusal goes in, one step down comes out. Every
//! step leads down, so a ladder ends.

use crate::chat::{ChatRequest, Message, ResponseFormat, Thinking, ToolChoice};
use crate::error::{Answer, Error};
use crate::learnt::{Learnt, LearntKey};
use serde_json::{Value, json};

/// How a tool can be forced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Forcing {
    /// By name.
    Named,
    /// By demanding a call and offering one tool.
    NarrowedRequired,
    /// By offering one tool.
    Narrowed,
}

/// What is known about thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Switch {
    /// The request decides.
    Free,
    /// Only this gives an answer.
    Only(Thinking),
    /// The switch is refused.
    Unsupported,
}

/// What one endpoint and model do not take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Steps {
    forcing: Forcing,
    no_schema: bool,
    no_object: bool,
    no_strict: bool,
    switch: Switch,
    no_stream_options: bool,
    no_max_tokens: bool,
    no_temperature: bool,
}

/// One step down.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Down {
    /// What was learnt.
    pub(crate) key: LearntKey,
    /// Its value now.
    pub(crate) value: Value,
    /// Whether the endpoint named the field. If not, it is a guess until the next try succeeds.
    pub(crate) certain: bool,
}

/// Where a refusal may lie, in the order in which it is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rung {
    Choice,
    Strict,
    Format,
    Thinking,
    StreamOptions,
    MaxTokens,
    Temperature,
}

impl Rung {
    const ALL: [Self; 7] = [
        Self::Choice,
        Self::Strict,
        Self::Format,
        Self::Thinking,
        Self::StreamOptions,
        Self::MaxTokens,
        Self::Temperature,
    ];

    /// Words by which endpoints name the field.
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::Choice => &["tool_choice", "tool choice", "toolchoice"],
            Self::Strict => &["strict"],
            Self::Format => &[
                "response_format",
                "response format",
                "json_schema",
                "json_object",
                "json schema",
                "output_config",
                "output_format",
                "grammar",
                "structured output",
            ],
            Self::Thinking => &["think", "reasoning", "chat_template_kwargs"],
            Self::StreamOptions => &["stream_options", "include_usage"],
            Self::MaxTokens => &["max_completion_tokens"],
            Self::Temperature => &["temperature"],
        }
    }

    /// Whether the request that was sent holds the field.
    fn is_in(self, sent: &ChatRequest) -> bool {
        match self {
            Self::Choice => !sent.tools.is_empty() && sent.tool_choice != ToolChoice::Auto,
            Self::Strict => {
                matches!(sent.response_format, ResponseFormat::JsonSchema { strict: true, .. })
            }
            Self::Format => sent.response_format != ResponseFormat::Text,
            Self::Thinking => sent.thinking != Thinking::Default,
            Self::StreamOptions => sent.stream && !sent.extra_body.contains_key("stream_options"),
            Self::MaxTokens => {
                sent.max_output.is_some() && !sent.extra_body.contains_key("max_tokens")
            }
            Self::Temperature => sent.temperature.is_some(),
        }
    }

    /// Whether it may be tried when the endpoint does not say what it dislikes. Only what replies
    /// do without: leaving the counts out of streams after one odd refusal would blind the check
    /// for cut prompts for good.
    fn may_be_guessed(self) -> bool {
        matches!(self, Self::Choice | Self::Strict | Self::Format | Self::Thinking)
    }
}

impl Steps {
    /// What is known.
    pub(crate) fn load(learnt: &dyn Learnt) -> Self {
        let known = |key| learnt.known(key).unwrap_or_default();
        let holds = |list: &Value, word: &str| {
            list.as_array().is_some_and(|l| l.iter().any(|w| w.as_str() == Some(word)))
        };
        let formats = known(LearntKey::ResponseFormat);
        let fields = known(LearntKey::RequestFields);
        Self {
            forcing: match known(LearntKey::NamedToolChoice).as_str() {
                Some("narrowed_required") => Forcing::NarrowedRequired,
                Some("narrowed") => Forcing::Narrowed,
                _ => Forcing::Named,
            },
            no_schema: holds(&formats, "json_schema"),
            no_object: holds(&formats, "json_object"),
            no_strict: known(LearntKey::Strict) == json!(false),
            switch: match known(LearntKey::Thinking).as_str() {
                Some("on") => Switch::Only(Thinking::On),
                Some("off") => Switch::Only(Thinking::Off),
                Some("unsupported") => Switch::Unsupported,
                _ => Switch::Free,
            },
            no_stream_options: holds(&fields, "stream_options"),
            no_max_tokens: holds(&fields, "max_tokens"),
            no_temperature: holds(&fields, "temperature"),
        }
    }

    /// Whether a schema may be sent.
    pub(crate) fn takes_schema(&self) -> bool {
        !self.no_schema
    }

    /// The request without what is refused.
    pub(crate) fn apply(&self, req: &ChatRequest) -> ChatRequest {
        let mut sent = req.clone();
        self.force(&mut sent);
        self.shape(&mut sent);
        match self.switch {
            Switch::Free => {}
            Switch::Only(thinking) => sent.thinking = thinking,
            Switch::Unsupported => sent.thinking = Thinking::Default,
        }
        if self.no_stream_options {
            sent.extra_body.entry("stream_options").or_insert(Value::Null);
        }
        if self.no_max_tokens
            && let Some(n) = sent.max_output
        {
            sent.extra_body.entry("max_tokens").or_insert(Value::Null);
            sent.extra_body.entry("max_completion_tokens").or_insert(json!(n));
        }
        if self.no_temperature {
            sent.temperature = None;
        }
        sent
    }

    fn force(&self, sent: &mut ChatRequest) {
        if self.forcing == Forcing::Named {
            return;
        }
        let plain = self.forcing == Forcing::Narrowed;
        match &sent.tool_choice {
            ToolChoice::Named(name) => {
                let name = name.clone();
                sent.tools.retain(|t| t.name == name);
                sent.tool_choice = if plain { ToolChoice::Auto } else { ToolChoice::Required };
            }
            ToolChoice::Required if plain => sent.tool_choice = ToolChoice::Auto,
            ToolChoice::None if plain => {
                sent.tools.clear();
                sent.tool_choice = ToolChoice::Auto;
            }
            _ => {}
        }
    }

    /// A schema that cannot be sent goes into the instruction, so that the shape is still asked
    /// for.
    fn shape(&self, sent: &mut ChatRequest) {
        let wanted = sent.response_format.clone();
        let schema = match &mut sent.response_format {
            ResponseFormat::Text => return,
            ResponseFormat::JsonObject if !self.no_object => return,
            ResponseFormat::JsonSchema { strict, .. } if !self.no_schema => {
                *strict &= !self.no_strict;
                return;
            }
            ResponseFormat::JsonObject => None,
            ResponseFormat::JsonSchema { schema, .. } => Some(schema.clone()),
        };
        let object = matches!(wanted, ResponseFormat::JsonSchema { .. }) && !self.no_object;
        sent.response_format =
            if object { ResponseFormat::JsonObject } else { ResponseFormat::Text };
        instruct(&mut sent.messages, schema.as_ref());
    }

    /// One step down after a refusal of `sent`; none when nothing is left to leave out.
    pub(crate) fn down(&mut self, sent: &ChatRequest, error: &Error) -> Option<Down> {
        let answer = match error {
            // A refusal inside a success is the model's own word.
            Error::Refused { answer, .. } if answer.status != 200 => answer,
            Error::Failed { answer, .. } => answer,
            _ => return None,
        };
        let text = said(answer);
        let held = || Rung::ALL.into_iter().filter(|rung| rung.is_in(sent));
        let named = held().find(|rung| rung.words().iter().any(|w| text.contains(w)));
        let guessed = || {
            let may = matches!(answer.status, 400 | 415 | 422);
            held().find(|rung| may && rung.may_be_guessed())
        };
        let rung = named.or_else(guessed)?;
        let (key, value) = self.leave_out(rung, sent);
        Some(Down { key, value, certain: named.is_some() })
    }

    fn leave_out(&mut self, rung: Rung, sent: &ChatRequest) -> (LearntKey, Value) {
        match rung {
            Rung::Choice => {
                let by_name = matches!(sent.tool_choice, ToolChoice::Named(_));
                self.forcing = if by_name && self.forcing == Forcing::Named {
                    Forcing::NarrowedRequired
                } else {
                    Forcing::Narrowed
                };
                let required = self.forcing == Forcing::NarrowedRequired;
                let word = if required { "narrowed_required" } else { "narrowed" };
                return (LearntKey::NamedToolChoice, json!(word));
            }
            Rung::Strict => {
                self.no_strict = true;
                return (LearntKey::Strict, json!(false));
            }
            Rung::Format => {
                match sent.response_format {
                    ResponseFormat::JsonSchema { .. } => self.no_schema = true,
                    ResponseFormat::JsonObject | ResponseFormat::Text => self.no_object = true,
                }
                let refused = [("json_schema", self.no_schema), ("json_object", self.no_object)];
                return (LearntKey::ResponseFormat, listed(&refused));
            }
            Rung::Thinking => {
                self.switch = Switch::Unsupported;
                return (LearntKey::Thinking, json!("unsupported"));
            }
            Rung::StreamOptions => self.no_stream_options = true,
            Rung::MaxTokens => self.no_max_tokens = true,
            Rung::Temperature => self.no_temperature = true,
        }
        let refused = [
            ("stream_options", self.no_stream_options),
            ("max_tokens", self.no_max_tokens),
            ("temperature", self.no_temperature),
        ];
        (LearntKey::RequestFields, listed(&refused))
    }

    /// Whether and how thinking may be switched after a reply to `sent` that held none of what was
    /// asked for.
    pub(crate) fn other_thinking(&self, sent: &ChatRequest, reasoned: bool) -> Option<Thinking> {
        match (self.switch, sent.thinking) {
            (Switch::Unsupported, _) => None,
            (_, Thinking::Off) => Some(Thinking::On),
            (_, Thinking::On) => Some(Thinking::Off),
            (_, Thinking::Default) => reasoned.then_some(Thinking::Off),
        }
    }
}

/// What an endpoint said, in lower case.
fn said(answer: &Answer) -> String {
    let code = answer.code.as_deref().unwrap_or_default();
    format!("{code} {} {}", answer.message, answer.body).to_lowercase()
}

fn listed(refused: &[(&str, bool)]) -> Value {
    refused.iter().filter(|(_, is)| *is).map(|(word, _)| json!(word)).collect()
}

/// Puts the wanted shape into the first system message.
fn instruct(messages: &mut Vec<Message>, schema: Option<&Value>) {
    let mut words = "Answer with one JSON object and nothing else.".to_owned();
    if let Some(schema) = schema {
        words.push_str(&format!(" It must match this JSON schema:\n{schema}"));
    }
    let system = messages.iter_mut().find_map(|m| match m {
        Message::System { text } => Some(text),
        _ => None,
    });
    match system {
        Some(text) => {
            text.push_str("\n\n");
            text.push_str(&words);
        }
        None => messages.insert(0, Message::system(words)),
    }
}
