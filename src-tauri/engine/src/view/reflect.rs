//! Questions and their answers as the reflect screen shows them.

use super::model::{EvidenceItem, RunWarning};
use crate::report::Report;
use domain::citations::EvidenceSpan;
use domain::disposition::Disposition;
use domain::reflect::Budget;
use domain::trace::{ExtractiveState, Trace, Usage};
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
