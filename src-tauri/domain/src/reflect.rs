//! The answer of a reflect as every door hands it out, and the budget that shapes the run. Shapes
//! only; the rules about them live in `guards`, `citations` and `cleaning`.

use serde::{Deserialize, Serialize};

use crate::Json;
use crate::citations::{BasedOn, EvidenceSpan};
use crate::trace::{Trace, Usage, Warning};

/// How much effort a run may spend.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Budget {
    /// Stop when the answer is good enough. The default of a question.
    #[default]
    Low,
    /// The default of a refresh and of a recall.
    Mid,
    /// Every level of knowledge, several wordings.
    High,
}

impl Budget {
    /// The word of the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Mid => "mid",
            Self::High => "high",
        }
    }

    /// The budget of a word of the wire.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Low, Self::Mid, Self::High].into_iter().find(|budget| budget.word() == word)
    }
}

/// Why there is no structured output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum StructuredOutputErrorKind {
    /// A required field is missing or null while others hold values, or a value has a wrong type.
    InvalidOutput,
    /// Not JSON, or not an object.
    Unparseable,
    /// The call failed twice.
    ProviderError,
    /// Extractive mode cannot extract fields.
    LlmNotConfigured,
    /// The extraction took too long.
    Timeout,
}

/// Why there is no structured output, with words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct StructuredOutputError {
    /// Stable word.
    pub kind: StructuredOutputErrorKind,
    /// What was found and what is allowed, by path.
    pub message: String,
}

/// The answer of a reflect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ReflectResponse {
    /// Id of the run.
    pub run_id: String,
    /// Markdown.
    pub text: String,
    /// The object that was extracted; null without a schema, and when nothing in the text matches.
    pub structured_output: Option<Json>,
    /// Why there is none.
    pub structured_output_error: Option<StructuredOutputError>,
    /// The sources; only when asked for.
    pub based_on: Option<BasedOn>,
    /// Tokens of the run.
    pub usage: Usage,
    /// What the run did; only when asked for.
    pub trace: Option<Trace>,
    /// Which piece of the text rests on which ids.
    pub evidence_spans: Vec<EvidenceSpan>,
    /// What the reader should know.
    pub warnings: Vec<Warning>,
}
