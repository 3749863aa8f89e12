//! Questions and their answers as the reflect screen shows them.

use super::model::{EvidenceItem, RunWarning};
use crate::report::Report;
use domain::citations::EvidenceSpan;
use domain::disposition::Disposition;
use domain::estimate::Estimate;
use domain::reflect::Budget;
use domain::trace::{ExtractiveState, LlmCallStatus, Trace, Usage};
use domain::{FactType, Instant, Json, ModelId, RunId, Score};
use serde::{Deserialize, Serialize};

/// A question.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ReflectInput {
    /// The question.
    pub query: String,
    /// How deeply; `low` when absent.
    #[serde(default)]
    pub budget: Option<Budget>,
    /// Bound of the answer; 4096 when absent.
    #[serde(default)]
    pub max_tokens: Option<u32>,
    /// Tags; none read all, save that `exact` then reads what is untagged. Never beside
    /// `tag_groups`, not even empty.
    #[serde(default)]
    pub tags: Option<Vec<String>>,
    /// How tags are matched; `any` when absent.
    #[serde(default)]
    pub tags_match: Option<String>,
    /// Expressions over tags, all of which must hold: `{tags, match, resolve}`, `{and}`, `{or}`,
    /// `{not}`.
    #[serde(default)]
    pub tag_groups: Option<Vec<Json>>,
    /// Obey every active directive, whatever its tags.
    #[serde(default)]
    pub apply_all_directives: bool,
    /// Kinds; all when absent.
    #[serde(default)]
    pub fact_types: Option<Vec<FactType>>,
    /// Leave mental models out.
    #[serde(default)]
    pub exclude_mental_models: bool,
    /// Leave these out.
    #[serde(default)]
    pub exclude_mental_model_ids: Option<Vec<ModelId>>,
    /// What else the language model is told, as information. Older clients send it; the question
    /// itself is the better place.
    #[serde(default)]
    pub context: Option<String>,
    /// The temper of this answer in place of the bank's.
    #[serde(default)]
    pub disposition: Option<Disposition>,
    /// A schema for a structured view of the answer.
    #[serde(default)]
    pub response_schema: Option<Json>,
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Goes on.
    Running,
    /// Has an answer.
    Finished,
    /// Ended with an error.
    Failed,
    /// Stopped.
    Cancelled,
}

/// One question in the history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ReflectRow {
    /// Its run.
    pub id: RunId,
    /// The question.
    pub query: String,
    /// Where it stands.
    pub status: RunStatus,
    /// When it began.
    pub started_at: Instant,
}

/// One run with its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ReflectRunView {
    /// Its id.
    pub id: RunId,
    /// What was asked.
    pub request: ReflectInput,
    /// Where it stands.
    pub status: RunStatus,
    /// The answer, Markdown.
    pub text: Option<String>,
    /// Whether no language model wrote it.
    pub extractive: bool,
    /// How sure an extractive answer is.
    pub confidence: Option<ExtractiveState>,
    /// How sure in numbers.
    pub confidence_score: Option<Score>,
    /// What the answer rests on.
    pub based_on: Vec<EvidenceItem>,
    /// What was read and not used.
    pub unused: Vec<EvidenceItem>,
    /// Which ids bear out which piece of the answer.
    pub evidence_spans: Vec<EvidenceSpan>,
    /// The value of the asked-for schema.
    pub structured_output: Option<Json>,
    /// Why there is none: a kind and a sentence.
    pub structured_output_error: Option<RunWarning>,
    /// Warnings.
    pub warnings: Vec<RunWarning>,
    /// What was done, in order.
    pub trace: Trace,
    /// Tokens.
    pub usage: Usage,
    /// Why it failed.
    pub report: Option<Report>,
    /// Whether another try goes on from what it found instead of searching anew.
    #[serde(default)]
    pub can_go_on: bool,
    /// When it began.
    pub started_at: Instant,
    /// When it ended.
    pub finished_at: Option<Instant>,
}

/// What a question will probably take, told before it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ReflectEstimate {
    /// The three cases; null where no language model answers and nothing is spent.
    pub expected: Option<Estimate>,
    /// Earlier questions that it rests on; 0 when it was worked out from sizes.
    pub runs: u32,
}

/// A message that was sent to a language model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct SentMessage {
    /// Who speaks: `system`, `user`, `assistant`, `tool`.
    pub role: String,
    /// What is said; calls of tools as JSON.
    pub text: String,
}

/// A request to a language model as it is on record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RecordedCall {
    /// The language model.
    pub llm: String,
    /// Name of the prompt.
    pub prompt_name: String,
    /// Hash of its text.
    pub prompt_hash: String,
    /// When it was sent.
    pub started_at: Instant,
    /// How it ended.
    pub status: LlmCallStatus,
    /// Why the reply ended, in the word of the program.
    pub finish_reason: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
    /// Names of the tools on offer.
    pub tools: Vec<String>,
    /// What was sent, in order; empty when the text is no longer kept.
    pub messages: Vec<SentMessage>,
    /// What came back; null when nothing did or it is no longer kept.
    pub reply: Option<String>,
}

/// Which part of a run is taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum RunPart {
    /// The answer with its sources, Markdown.
    Answer,
    /// Everything that is on record, JSON.
    Record,
}

/// A run as text that may leave the program: without keys, and without what must stay on this
/// machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RunText {
    /// The text.
    pub text: String,
    /// Sources that were left out because they must stay on this machine.
    pub withheld: u32,
}

/// A run that was written to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct SavedRun {
    /// The file.
    pub path: String,
    /// Sources that were left out because they must stay on this machine.
    pub withheld: u32,
}
