//! A mental model: a saved question with the document that answers it. Its own data, its words, and
//! the checks of a request that creates or changes one. Scope, staleness, refresh and proposals have
//! modules of their own.

mod guidance;
mod request;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::citations::Basis;
use crate::refresh::{FailureReason, FallbackReason, Outcome};
use crate::trigger::{RefreshMode, StatedTrigger, Trigger};
use crate::{BankId, Instant, Json, ModelId, OperationId, ProposalId};

pub use guidance::{Guidance, MAX_DECLINED, after_approval, decline, live_guidance};
pub use request::{
    CreateDefaults, CreateModel, UpdateModel, is_model_id, read_create, read_update,
};
pub use words::{Actor, Cause, DetailLevel, Review, VersionCause};

/// Least and most tokens of a document.
pub const TOKENS: std::ops::RangeInclusive<u32> = 256..=8192;
/// Budget of a document when none is stated.
pub const DEFAULT_MAX_TOKENS: u32 = 2048;
/// Budget of a page's document when none is stated.
pub const PAGE_MAX_TOKENS: u32 = 4096;
/// Longest id in characters.
pub const MAX_ID_CHARS: usize = 128;
/// What older servers store as the text of a document that is still being built.
pub const PEER_PLACEHOLDER: &str = "Generating content...";

/// One entry of a document's grounding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Citation {
    /// A memory, a mental model or a directive, by the list it stands in.
    pub id: String,
    /// The text as read.
    pub text: String,
    /// `world`, `experience`, `observation`, `mental-models` or `directives`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Context of the memory, if it has one.
    pub context: Option<String>,
    /// When the told event began.
    pub occurred_start: Option<Instant>,
    /// When the source says it.
    pub mentioned_at: Option<Instant>,
    /// The version that cited it first.
    pub first_cited_version: Option<u32>,
}

/// The words of `based_on` whose entries are memories.
pub const MEMORY_KINDS: [&str; 3] = ["world", "experience", "observation"];

/// Evidence of the published document (`reflect_response`). A failed run never touches it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct PublishedEvidence {
    /// The answer as synthesised.
    pub text: String,
    /// How the evidence was found.
    pub basis: Basis,
    /// Grounding by type.
    pub based_on: BTreeMap<String, Vec<Citation>>,
    /// Outcome of the run.
    pub outcome: Outcome,
    /// Extracted by the trigger's schema.
    #[serde(default)]
    pub structured_output: Option<Json>,
    /// The version it was extracted from; unequal to the model's version means stale.
    #[serde(default)]
    pub structured_output_version: Option<u32>,
    /// Names the schema that made it; another name than the present schema's means that it is due
    /// again.
    #[serde(default)]
    pub structured_output_schema: Option<String>,
    /// Delta operations made the document.
    #[serde(default)]
    pub delta_applied: bool,
    /// Operations that were applied.
    #[serde(default)]
    pub delta_operations_applied: Vec<Json>,
    /// Operations that were not, with their reasons.
    #[serde(default)]
    pub delta_operations_skipped: Vec<Json>,
    /// `no_new_facts` when a delta had nothing to do.
    #[serde(default)]
    pub delta_skipped_reason: Option<String>,
    /// Tokens of the document.
    #[serde(default)]
    pub document_tokens: u32,
    /// Its budget at that time.
    #[serde(default)]
    pub document_budget: u32,
    /// For each document that it rests on, the memories that stood behind that document. They are no
    /// grounding of this one; what must not leave the machine is decided by them too.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub behind_models: BTreeMap<String, BTreeSet<String>>,
    /// Filled from the last run when the model is read; never stored here.
    #[serde(default)]
    pub trace: Option<Json>,
}

/// What is known of the last run, whatever its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct LastRun {
    /// The operation it ran in.
    pub operation_id: Option<OperationId>,
    /// Start.
    pub started_at: Instant,
    /// End.
    pub finished_at: Instant,
    /// What the trigger asked for.
    pub requested_mode: RefreshMode,
    /// What was done.
    pub effective_mode: RefreshMode,
    /// Why the two differ, or why the mode was forced.
    pub mode_fallback_reason: Option<FallbackReason>,
    /// How it ended.
    pub outcome: Outcome,
    /// The word of a failure.
    pub failure_reason: Option<FailureReason>,
    /// The exact reason or a remark.
    pub detail: Option<String>,
    /// Kept when the trigger says so.
    #[serde(default)]
    pub trace: Option<Json>,
    /// What the run has to tell.
    #[serde(default)]
    pub warnings: Vec<RunWarning>,
}

/// A remark of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RunWarning {
    /// Stable word, for example `empty_scope` or `large_removal`.
    pub code: String,
    /// One sentence for a person.
    pub text: String,
    /// Figures and ids.
    #[serde(default)]
    pub data: Option<Json>,
}

/// Why a fact was read and did not reach the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum CarryOverWhy {
    /// Cited by skipped operations alone.
    OpSkipped,
    /// In the missing tail of a cut answer.
    Truncated,
    /// In evidence, yet neither cited nor judged.
    Uncovered,
    /// Its proposed change was put off by a person.
    Deferred,
}

/// A fact to offer again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct CarryOver {
    /// The memory.
    pub fact_id: String,
    /// The version at which it was first carried.
    pub since_version: u32,
    /// How often it has been offered in vain.
    pub attempts: u32,
    /// Why.
    pub why: CarryOverWhy,
}

/// What a lock lies on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Lock {
    /// Block or section.
    pub kind: LockKind,
    /// Its id in the structure.
    pub id: String,
}

/// Kinds of lockable elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum LockKind {
    /// One block.
    Block,
    /// A section with all it holds.
    Section,
}

/// A model as the engine works with it. Sequences stay inside the program, so this is not a shape
/// of the boundary; [`ModelView`] is.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Slug, unique in the bank.
    pub id: ModelId,
    /// Its bank.
    pub bank_id: BankId,
    /// Not blank.
    pub name: String,
    /// The question. Not blank.
    pub source_query: String,
    /// Render of the structure; empty while nothing is built.
    pub content: String,
    /// The document's structure as stored. It may be unreadable, which the refresh finds out.
    pub structure: Json,
    /// In the order given.
    pub tags: Vec<String>,
    /// Budget of the document in tokens.
    pub max_tokens: u32,
    /// Stated keys.
    pub trigger: StatedTrigger,
    /// What a finished refresh does.
    pub review: Review,
    /// Number of the published version; 0 before the first.
    pub version: u32,
    /// Nothing was ever published.
    pub placeholder: bool,
    /// Birth.
    pub created_at: Instant,
    /// Last change of any kind.
    pub updated_at: Instant,
    /// When a refresh last finished or a person last wrote.
    pub last_refreshed_at: Option<Instant>,
    /// The watermark as shown.
    pub last_memory_seen_at: Option<Instant>,
    /// The watermark.
    pub last_memory_seen_seq: Option<i64>,
    /// Newest data that any finished run looked at.
    pub considered_seq: Option<i64>,
    /// The question that produced the published document.
    pub last_refreshed_source_query: Option<String>,
    /// Evidence of the published document.
    pub evidence: Option<PublishedEvidence>,
    /// The last run, whatever its end.
    pub last_run: Option<LastRun>,
    /// Facts to offer again.
    pub carry_over: Vec<CarryOver>,
    /// Notes and declined changes.
    pub guidance: Vec<Guidance>,
    /// Refused deltas in a row.
    pub delta_failures: u32,
    /// Failed runs in a row.
    pub failure_streak: u32,
    /// End of the last run if it failed.
    pub last_refresh_failed_at: Option<Instant>,
    /// Last published full rebuild.
    pub last_full_refreshed_at: Option<Instant>,
    /// Last boundary of `refresh_cron` that was acted on.
    pub last_cron_fire: Option<Instant>,
    /// Last boundary of `full_refresh_cron` that was acted on.
    pub last_full_cron_fire: Option<Instant>,
    /// Automatic submits are held back until then.
    pub paused_until: Option<Instant>,
}

/// The three fields of staleness, present at every level.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Freshness {
    /// Never refreshed, or newer memories in scope.
    pub is_stale: bool,
    /// Any reason at all.
    pub needs_refresh: bool,
    /// All reasons that hold.
    pub refresh_reasons: Vec<crate::staleness::RefreshReason>,
}

/// A model as it crosses the boundary. Fields above the asked level are null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[expect(missing_docs, reason = "the fields are those of Model, Freshness and the trigger")]
pub struct ModelView {
    pub id: ModelId,
    pub bank_id: BankId,
    pub name: String,
    pub tags: Vec<String>,
    pub review: Review,
    pub version: u32,
    pub placeholder: bool,
    pub last_refreshed_at: Option<Instant>,
    pub last_memory_seen_at: Option<Instant>,
    pub last_refresh_failed_at: Option<Instant>,
    pub last_full_refreshed_at: Option<Instant>,
    pub created_at: Instant,
    pub is_stale: bool,
    pub needs_refresh: bool,
    pub refresh_reasons: Vec<crate::staleness::RefreshReason>,
    pub open_proposal_id: Option<ProposalId>,
    pub source_query: Option<String>,
    pub content: Option<String>,
    pub max_tokens: Option<u32>,
    pub trigger: Option<Trigger>,
    pub stated_keys: Option<Vec<String>>,
    pub reflect_response: Option<PublishedEvidence>,
    pub last_run: Option<LastRun>,
    pub structure: Option<Json>,
    pub carry_over: Option<Vec<CarryOver>>,
    pub guidance: Option<Vec<Guidance>>,
}

impl Model {
    /// The model as the boundary sees it at a level. The trace of the last run is laid into the
    /// evidence, where readers of the documented field look for it.
    #[must_use]
    pub fn view(
        &self,
        level: DetailLevel,
        freshness: Freshness,
        open_proposal_id: Option<ProposalId>,
    ) -> ModelView {
        let content = level >= DetailLevel::Content;
        let full = level >= DetailLevel::Full;
        let evidence = || {
            let mut evidence = self.evidence.clone()?;
            evidence.trace = self.last_run.as_ref().and_then(|run| run.trace.clone());
            Some(evidence)
        };
        ModelView {
            id: self.id.clone(),
            bank_id: self.bank_id.clone(),
            name: self.name.clone(),
            tags: self.tags.clone(),
            review: self.review,
            version: self.version,
            placeholder: self.placeholder,
            last_refreshed_at: self.last_refreshed_at,
            last_memory_seen_at: self.last_memory_seen_at,
            last_refresh_failed_at: self.last_refresh_failed_at,
            last_full_refreshed_at: self.last_full_refreshed_at,
            created_at: self.created_at,
            is_stale: freshness.is_stale,
            needs_refresh: freshness.needs_refresh,
            refresh_reasons: freshness.refresh_reasons,
            open_proposal_id,
            source_query: content.then(|| self.source_query.clone()),
            content: content.then(|| self.content.clone()),
            max_tokens: content.then_some(self.max_tokens),
            trigger: content.then(|| self.trigger.effective()),
            stated_keys: content.then(|| self.trigger.stated_keys()),
            reflect_response: full.then(evidence).flatten(),
            last_run: full.then(|| self.last_run.clone()).flatten(),
            structure: full.then(|| self.structure.clone()),
            carry_over: full.then(|| self.carry_over.clone()),
            guidance: full.then(|| self.guidance.clone()),
        }
    }

    /// The text that the model's own search embeds. To be embedded anew whenever it changes.
    #[must_use]
    pub fn search_text(&self) -> String {
        format!("{} {}", self.name, self.content)
    }

    /// The scope it reads.
    #[must_use]
    pub fn scope(&self) -> crate::scope::Scope {
        crate::scope::Scope::resolve(self.id.as_str(), &self.tags, &self.trigger.effective())
    }
}
