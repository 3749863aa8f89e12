//! What a run is asked and what it hands back, for the two who start runs: a person's question and
//! a refresh. Shapes only.

use domain::citations::{BasedOnDirective, BasedOnMemory, BasedOnModel, Basis, EvidenceSpan};
use domain::directives::{DirectiveReach, RunScope};
use domain::disposition::Disposition;
use domain::document::DraftSection;
use domain::reflect::{Budget, StructuredOutputError};
use domain::trace::{Trace, Usage, Warning};
use domain::{BankId, FactType, ModelId, RunId};
use llm::Urgency;
use serde_json::Value;

/// Which mental models a run may not read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ExcludedModels {
    /// None at all: the tool is not offered.
    pub(crate) all: bool,
    /// These.
    pub(crate) ids: Vec<ModelId>,
}

/// What `search_observations` and `recall` may read, by sequence numbers of writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Window {
    /// Written after this one (exclusive).
    pub(crate) after_seq: Option<i64>,
    /// Written up to this one (inclusive).
    pub(crate) cutoff_seq: Option<i64>,
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReflectRequest {
    /// Id of the run, for events and the record.
    pub(crate) run: RunId,
    /// The bank.
    pub(crate) bank: BankId,
    /// The question; not blank.
    pub(crate) query: String,
    /// What else the language model is told beside the question (a refresh: the document's name,
    /// guidance). Data, not instructions; extractive mode does not read it.
    pub(crate) context: Option<String>,
    /// How much effort.
    pub(crate) budget: Budget,
    /// Bound of the answer.
    pub(crate) max_tokens: u32,
    /// Tags; fuzzy leaves are resolved by the run.
    pub(crate) scope: RunScope,
    /// Kinds; all when none. Never empty.
    pub(crate) fact_types: Option<Vec<FactType>>,
    /// Models not to read.
    pub(crate) exclude_models: ExcludedModels,
    /// Which directives to obey.
    pub(crate) directives: DirectiveReach,
    /// The temper of the answer; the bank's when not stated.
    pub(crate) disposition: Option<Disposition>,
    /// What may be read by time of writing.
    pub(crate) window: Window,
    /// Token budgets of the searches where the caller states them.
    pub(crate) recall_max_tokens: Option<u32>,
    /// The same for observations.
    pub(crate) observations_max_tokens: Option<u32>,
    /// The same for passages of sources.
    pub(crate) chunks_max_tokens: Option<u32>,
    /// Whether recall attaches passages of the source texts; the bank's setting when not stated.
    pub(crate) include_chunks: Option<bool>,
    /// Whether observations are shown with their entities; the bank's setting when not stated.
    pub(crate) observation_entities: Option<bool>,
    /// A schema for a structured view, already checked.
    pub(crate) response_schema: Option<Value>,
    /// Whether the answer is a document in sections.
    pub(crate) answer_as_document: bool,
    /// What the run is for: `reflect`, `refresh`.
    pub(crate) operation_label: &'static str,
    /// Who waits for the answer.
    pub(crate) urgency: Urgency,
}

impl ReflectRequest {
    /// A plain question to a bank.
    pub(crate) fn question(run: RunId, bank: BankId, query: impl Into<String>) -> Self {
        Self {
            run,
            bank,
            query: query.into(),
            context: None,
            budget: Budget::Low,
            max_tokens: 4096,
            scope: RunScope::default(),
            fact_types: None,
            exclude_models: ExcludedModels::default(),
            directives: DirectiveReach::Scoped,
            disposition: None,
            window: Window::default(),
            recall_max_tokens: None,
            observations_max_tokens: None,
            chunks_max_tokens: None,
            include_chunks: None,
            observation_entities: None,
            response_schema: None,
            answer_as_document: false,
            operation_label: "reflect",
            urgency: Urgency::Asked,
        }
    }
}

/// Memories and models with the texts that were read, first retrieved first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Evidence {
    /// World, experience, observation.
    pub(crate) memories: Vec<BasedOnMemory>,
    /// Mental models.
    pub(crate) models: Vec<BasedOnModel>,
}

/// The answer of a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReflectOutcome {
    /// Markdown; for a document its rendered sections.
    pub(crate) text: String,
    /// The sections, with real ids as evidence; none unless a document was asked for.
    pub(crate) sections: Option<Vec<DraftSection>>,
    /// What the answer rests on (see `basis`).
    pub(crate) used: Evidence,
    /// Everything that the tools showed.
    pub(crate) retrieved: Evidence,
    /// Every directive that was in force; they are obeyed, never cited.
    pub(crate) directives: Vec<BasedOnDirective>,
    /// Whether `used` was cited or is merely all that was retrieved.
    pub(crate) basis: Basis,
    /// Which piece of the text rests on which ids.
    pub(crate) spans: Vec<EvidenceSpan>,
    /// The structured view.
    pub(crate) structured: Option<Value>,
    /// Why there is none although a schema was given.
    pub(crate) structured_error: Option<StructuredOutputError>,
    /// What was done; `trace.extractive` is set when no language model took part.
    pub(crate) trace: Trace,
    /// Tokens.
    pub(crate) usage: Usage,
    /// What the reader should know.
    pub(crate) warnings: Vec<Warning>,
}

/// A run that ended without an answer, with what it did until then.
#[derive(Debug)]
pub(crate) struct RunFailure {
    /// Why; `cancelled` among the reasons.
    pub(crate) error: crate::Error,
    /// What was done.
    pub(crate) trace: Box<Trace>,
    /// The finished text of a run that was stopped while its fields were being filled in.
    pub(crate) text: Option<String>,
    /// What it had gathered, where another try may go on from it.
    pub(crate) material: Option<Value>,
}
