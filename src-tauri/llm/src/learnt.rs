//! What use has taught about one endpoint and one of its models. This crate only asks and tells;
//! keeping it is the business of whoever implements [`Learnt`].

use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The things that can be learnt. Their words are the keys under which they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LearntKey {
    /// How a tool can be forced: `named`, `narrowed_required` or `narrowed`.
    NamedToolChoice,
    /// List of the response formats that were refused: `json_schema`, `json_object`.
    ResponseFormat,
    /// False when strict schemas were refused.
    Strict,
    /// `on` or `off` where only that gives an answer, `unsupported` where the switch was refused.
    Thinking,
    /// Context window in tokens.
    Window,
    /// Whether tool calls work.
    ToolCalls,
    /// List of other fields that were refused: `stream_options`, `max_tokens`, `temperature`.
    RequestFields,
    /// Report of the last set-up check.
    SetUpCheck,
}

impl LearntKey {
    /// The stored word.
    pub fn word(self) -> &'static str {
        match self {
            Self::NamedToolChoice => "named_tool_choice",
            Self::ResponseFormat => "response_format",
            Self::Strict => "strict",
            Self::Thinking => "thinking",
            Self::Window => "window",
            Self::ToolCalls => "tool_calls",
            Self::RequestFields => "request_fields",
            Self::SetUpCheck => "set_up_check",
        }
    }
}

/// Memory of one endpoint and model. Both calls must return at once; an implementation that writes
/// to disk queues.
pub trait Learnt: Send + Sync {
    /// What is known.
    fn known(&self, key: LearntKey) -> Option<Value>;

    /// Takes note. `evidence` tells a person how it was found out.
    fn learn(&self, key: LearntKey, value: Value, evidence: &str);
}

/// A memory that lasts as long as the program.
#[derive(Debug, Default)]
pub struct Remembered {
    entries: Mutex<BTreeMap<LearntKey, (Value, String)>>,
}

impl Remembered {
    /// Everything known, with its evidence.
    pub fn entries(&self) -> Vec<(LearntKey, Value, String)> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.iter().map(|(k, (v, e))| (*k, v.clone(), e.clone())).collect()
    }
}

impl Learnt for Remembered {
    fn known(&self, key: LearntKey) -> Option<Value> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.get(&key).map(|(value, _)| value.clone())
    }

    fn learn(&self, key: LearntKey, value: Value, evidence: &str) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.insert(key, (value, evidence.to_owned()));
    }
}
