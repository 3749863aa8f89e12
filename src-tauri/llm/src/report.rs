//! What the set-up check reports: lines with a verdict, words and a remedy, and the figures behind
//! them. Plain values, stored with the endpoint and shown on the screen.

use serde::{Deserialize, Serialize};

/// How one line came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As it should be.
    Works,
    /// Could not be found out.
    Unknown,
    /// Works, with less than one would wish.
    Limited,
    /// Does not work.
    Fails,
}

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum CheckItem {
    /// Reaching the endpoint at all; there is a line only when that fails.
    Connection,
    /// Calling tools, two in one turn.
    ToolCalling,
    /// Calling the tool it is told to call.
    ForcedTool,
    /// Answering in JSON of a given shape.
    Json,
    /// Answering in pieces.
    Streaming,
    /// Size of the window.
    Context,
    /// Tokens a second.
    Speed,
}

impl CheckItem {
    /// Its name for a person.
    pub fn name(self) -> &'static str {
        match self {
            Self::Connection => "Connection",
            Self::ToolCalling => "Tool calling",
            Self::ForcedTool => "Choice of tool",
            Self::Json => "JSON output",
            Self::Streaming => "Streaming",
            Self::Context => "Context",
            Self::Speed => "Speed",
        }
    }
}

/// One line of the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct CheckLine {
    /// What it is about.
    pub item: CheckItem,
    /// Its name for a person.
    pub name: String,
    /// How it came out.
    pub verdict: Verdict,
    /// What was found, for a person.
    pub words: String,
    /// What to do about it, for a person.
    pub remedy: Option<String>,
    /// What the network or the endpoint said, in its own words; not for a sentence on a screen.
    #[serde(default)]
    pub detail: Option<String>,
}

/// What the check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct CheckReport {
    /// The model that was checked.
    pub llm: String,
    /// The worst of the lines.
    pub verdict: Verdict,
    /// The lines, in the order of the screen.
    pub lines: Vec<CheckLine>,
    /// What the size of the window means for a refresh, when it is smaller than it could be.
    pub advice: Option<String>,
    /// Context window in use, in tokens.
    pub window: Option<u32>,
    /// Context window that the model can hold, in tokens.
    pub window_max: Option<u32>,
    /// Output speed.
    pub tokens_per_second: Option<u32>,
    /// Time to the first piece of an answer, in milliseconds.
    pub first_words_ms: Option<u32>,
    /// How long the check took, in milliseconds.
    pub took_ms: u32,
}

impl CheckReport {
    /// A report on this model without a line yet.
    pub(crate) fn empty(llm: &str) -> Self {
        Self {
            llm: llm.to_owned(),
            verdict: Verdict::Works,
            lines: Vec::new(),
            advice: None,
            window: None,
            window_max: None,
            tokens_per_second: None,
            first_words_ms: None,
            took_ms: 0,
        }
    }
}
