//! Mental models, their versions and their history as screens show them.

use super::blame::LockView;
use super::diff::DocDiff;
use super::proposal::ReviewEvent;
use super::published::PublishedFile;
use domain::diff::JsonChange;
use domain::document::Document;
pub use domain::model::Review as ReviewMode;
use domain::trigger::Trigger;
use domain::{Instant, Json, ModelId, NodeId, OperationId, ProposalId};
use serde::{Deserialize, Serialize};

/// The one word for where a model stands, by precedence from the first to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ModelState {
    /// A refresh is running.
    Refreshing,
    /// A proposal no longer fits the document.
    Conflicted,
    /// A proposal waits for a decision.
    WaitingForReview,
    /// Failures have reached the limit.
    NeedsAttention,
    /// The last run failed.
    Failed,
    /// A refresh is queued and waits for its time.
    Parked,
    /// Nothing was ever read for it.
    NeverRefreshed,
    /// Newer memories lie in its scope.
    Behind,
    /// Not computed.
    Unknown,
    /// Nothing to do.
    Current,
}

/// A proposal that waits, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct OpenProposal {
    /// Its id.
    pub id: ProposalId,
    /// Its number within the model.
    pub number: u32,
    /// Operations that can be decided.
    pub operations: u32,
}

/// One model in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ModelRow {
    /// Its id.
    pub id: ModelId,
    /// Its name.
    pub name: String,
    /// Its question.
    pub source_query: String,
    /// Its tags, in the order given.
    pub tags: Vec<String>,
    /// Where it stands.
    pub state: ModelState,
    /// Until when a queued refresh waits.
    pub parked_until: Option<Instant>,
    /// What a queued refresh is held for: `review_in_progress`, `llm_not_configured`,
    /// `token_ceiling` or `paused_by_person`.
    pub held_reason: Option<String>,
    /// Until when no refresh starts by itself, after runs that failed.
    pub paused_until: Option<Instant>,
    /// Failed runs in a row.
    pub failure_streak: u32,
    /// Edits refused in a row.
    pub delta_failures: u32,
    /// When a run last failed, if none has done well since.
    pub last_refresh_failed_at: Option<Instant>,
    /// How many newer memories are in scope, counted up to 100; absent when there is none.
    pub newer: Option<u32>,
    /// Reasons to refresh: `never_refreshed`, `scope_changed`, `grounding_retracted`,
    /// `query_changed`, `carry_over`.
    pub refresh_reasons: Vec<String>,
    /// `full` or `delta`.
    pub mode: String,
    /// Five-field cron expression, UTC.
    pub refresh_cron: Option<String>,
    /// The schedule of full rebuilds.
    pub full_refresh_cron: Option<String>,
    /// When one of its schedules is next due.
    pub next_run: Option<Instant>,
    /// Whether consolidation refreshes it.
    pub refresh_after_consolidation: bool,
    /// Who decides.
    pub review: ReviewMode,
    /// Number of the published version; 0 before the first.
    pub version: u32,
    /// Whether nothing has been published yet.
    pub placeholder: bool,
    /// When a refresh last finished.
    pub last_refreshed_at: Option<Instant>,
    /// How far through the memories the document is written.
    pub last_memory_seen_at: Option<Instant>,
    /// What waits for a decision.
    pub open_proposal: Option<OpenProposal>,
    /// Size of the document in tokens.
    pub document_tokens: u32,
    /// Its budget in tokens.
    pub max_tokens: u32,
    /// When it was made.
    pub created_at: Instant,
}

/// One piece of evidence: a memory as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct EvidenceItem {
    /// Id of the memory (or of the model, for `mental-models`).
    pub id: String,
    /// Its text as read.
    pub text: String,
    /// `world`, `experience`, `observation`, `mental-models` or `directives`.
    pub kind: String,
    /// A short label from its source.
    pub context: Option<String>,
    /// When it happened.
    pub occurred_start: Option<Instant>,
    /// When it was said.
    pub mentioned_at: Option<Instant>,
    /// Title of its document.
    pub document: Option<String>,
    /// The version that cited it first.
    pub first_cited_version: Option<u32>,
    /// Whether it has gone since.
    pub gone: bool,
}

/// Who wrote a block last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// A person.
    Person,
    /// A refresh.
    Run,
    /// An import.
    Import,
}

/// Blame of one block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct BlockBlame {
    /// The block.
    pub block_id: String,
    /// The version that wrote its present text.
    pub version: u32,
    /// When.
    pub at: Instant,
    /// Who.
    pub author: Author,
    /// The proposal that brought it.
    pub proposal: Option<OpenProposal>,
    /// The operation within that proposal, from 1.
    pub operation: Option<u32>,
    /// Ids of the memories behind it.
    pub sources: Vec<String>,
}

/// What the last run did, whatever its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct LastRun {
    /// Its operation.
    pub operation: Option<OperationId>,
    /// When it began.
    pub started_at: Instant,
    /// When it ended.
    pub finished_at: Instant,
    /// The mode that was asked for.
    pub requested_mode: String,
    /// The mode that ran.
    pub effective_mode: String,
    /// Why they differ.
    pub mode_fallback_reason: Option<String>,
    /// How it ended.
    pub outcome: String,
    /// Why it failed.
    pub report: Option<crate::report::Report>,
    /// Codes of its warnings.
    pub warnings: Vec<RunWarning>,
    /// The trace, when it was kept.
    pub trace: Option<Json>,
}

/// A warning of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RunWarning {
    /// Stable word.
    pub code: String,
    /// One sentence.
    pub message: String,
}

/// One model with its document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ModelDetail {
    /// The row.
    pub model: ModelRow,
    /// The document as text.
    pub content: String,
    /// The document as sections and blocks.
    pub structure: Document,
    /// Who wrote each block.
    pub blame: Vec<BlockBlame>,
    /// What the document rests on.
    pub based_on: Vec<EvidenceItem>,
    /// Whether it was written without a language model.
    pub extractive: bool,
    /// What a refresh would read: newer memories in scope, newest first, at most 20.
    pub newer: Vec<EvidenceItem>,
    /// The last run.
    pub last_run: Option<LastRun>,
    /// The stored value of the output schema's fields.
    pub structured_output: Option<Json>,
    /// Whether that value was extracted from another text, or by another schema, than the present
    /// one.
    pub structured_stale: bool,
    /// What a change of settings brought with it.
    pub warnings: Vec<RunWarning>,
    /// Settings in force.
    pub trigger: Trigger,
    /// Which of them were stated.
    pub stated_keys: Vec<String>,
    /// Next five runs of its schedule.
    pub next_runs: Vec<Instant>,
    /// What a person locked against refreshes.
    pub locks: Vec<LockView>,
    /// The file that it is published to.
    pub publish: Option<PublishedFile>,
    /// The page of the knowledge base that owns it.
    pub page_id: Option<NodeId>,
    /// Next five full rebuilds of its schedule.
    pub next_full_runs: Vec<Instant>,
    /// When it was last rebuilt in full.
    pub last_full_refreshed_at: Option<Instant>,
    /// What reviewers told its refreshes, oldest first.
    pub guidance: Vec<GuidanceItem>,
}

/// Something that refreshes of a model are told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct GuidanceItem {
    /// `note`, or `declined`: a change that a person decided not to make.
    pub kind: String,
    /// When it was said.
    pub at: Instant,
    /// The person's words.
    pub note: Option<String>,
    /// What the declined change would have done.
    pub change: Option<String>,
    /// Whether a note is told for ever; another one until what it led to is approved.
    pub standing: bool,
    /// Whether a declined change no longer counts, since one of its facts has changed.
    pub lapsed: bool,
}

/// What is done to an entry of the guidance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum GuidanceChange {
    /// It is told no more.
    Remove,
    /// A note is told for ever.
    Stand,
    /// A note is told until what it led to is approved.
    Pass,
}

/// A model to be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct NewModel {
    /// Id; made when absent.
    #[serde(default)]
    pub id: Option<String>,
    /// Name for people.
    pub name: String,
    /// The question.
    pub source_query: String,
    /// Tags; they are its scope too.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Budget of the document in tokens, 256 to 8192; 2048 when absent.
    #[serde(default)]
    pub max_tokens: Option<u32>,
    /// Stated settings, by key.
    #[serde(default)]
    pub trigger: Option<Json>,
    /// Who decides; `auto` when absent.
    #[serde(default)]
    pub review: Option<ReviewMode>,
    /// A document to begin with; then no refresh is queued.
    #[serde(default)]
    pub content: Option<String>,
}

/// A change of a model's settings; absent fields stay.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct ModelPatch {
    /// New name.
    pub name: Option<String>,
    /// New question.
    pub source_query: Option<String>,
    /// New tags.
    pub tags: Option<Vec<String>>,
    /// New budget.
    pub max_tokens: Option<u32>,
    /// Settings to state; an explicit null resets one.
    pub trigger: Option<Json>,
    /// Who decides.
    pub review: Option<ReviewMode>,
}

/// What came of making a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct CreatedModel {
    /// Its id.
    pub id: ModelId,
    /// The refresh that builds it; none when content was given.
    pub operation: Option<OperationId>,
}

/// What came of asking for work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Submitted {
    /// The operation.
    pub operation: OperationId,
    /// Whether it was waiting already.
    pub deduplicated: bool,
    /// Whether the day's tokens are spent, so that this goes beyond the ceiling. A person is told
    /// and not hindered.
    pub ceiling_reached: bool,
}

/// How much a version changed against the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ChangeSize {
    /// Blocks added.
    pub added: u32,
    /// Blocks removed.
    pub removed: u32,
    /// Blocks changed.
    pub changed: u32,
}

/// What became of a proposal's operations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct DecisionCounts {
    /// Accepted.
    pub accepted: u32,
    /// Rejected.
    pub rejected: u32,
    /// Deferred.
    pub deferred: u32,
    /// Not decided.
    pub undecided: u32,
}

/// One line of a model's history, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TimelineEntry {
    /// A published state of the document.
    Version {
        /// Its number.
        version: u32,
        /// `created`, `refresh_full`, `refresh_delta`, `retraction`, `proposal`, `edit`, `clear`,
        /// `revert`, `import`.
        cause: String,
        /// `person`, `after_consolidation`, `after_deletion`, `cron`, `manual_refresh`, `import`.
        actor: String,
        /// When.
        at: Instant,
        /// A person's words about it.
        note: Option<String>,
        /// Size of the change.
        change: ChangeSize,
        /// The proposal that it published.
        proposal: Option<OpenProposal>,
        /// What was decided in it.
        decisions: Option<DecisionCounts>,
        /// What happened in its review, oldest first.
        events: Vec<ReviewEvent>,
        /// Exempt from the limit of kept versions.
        pinned: bool,
        /// The queued work that made it.
        operation: Option<OperationId>,
    },
    /// A proposal that published nothing: rejected or superseded.
    Proposal {
        /// It.
        proposal: OpenProposal,
        /// Its end: `rejected` or `superseded`.
        state: String,
        /// When it ended.
        at: Instant,
        /// A person's words about it.
        note: Option<String>,
        /// What was decided in it.
        decisions: DecisionCounts,
        /// What happened in its review, oldest first.
        events: Vec<ReviewEvent>,
    },
    /// A refresh that failed.
    FailedRun {
        /// When.
        at: Instant,
        /// How it ended.
        outcome: String,
        /// Why, as a word of the closed list of failures.
        failure_reason: Option<String>,
        /// Why, in words.
        report: Option<crate::report::Report>,
        /// The mode that ran: `full` or `delta`.
        mode: String,
        /// What set it going, as in an operation.
        triggered_by: Vec<String>,
        /// The queued work.
        operation: Option<OperationId>,
    },
}

/// One kept version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct VersionView {
    /// Its number.
    pub version: u32,
    /// The text.
    pub content: String,
    /// The text as sections and blocks.
    pub structure: Document,
    /// What it rested on.
    pub based_on: Vec<EvidenceItem>,
    /// The question then.
    pub source_query: String,
    /// When.
    pub created_at: Instant,
    /// The trace, when it was kept.
    pub trace: Option<Json>,
    /// What made it, as in the timeline.
    pub cause: String,
    /// Who set that going, as in the timeline.
    pub actor: String,
    /// The queued work that made it.
    pub operation: Option<OperationId>,
    /// The proposal that it published.
    pub proposal: Option<ProposalId>,
    /// Ids of the changes of that proposal that were accepted.
    pub accepted_op_ids: Vec<String>,
    /// A person's words about it.
    pub note: Option<String>,
    /// Whether it is exempt from the limit of kept versions.
    pub pinned: bool,
    /// How far through the memories it was written.
    pub watermark_at: Option<Instant>,
    /// The value of the output schema's fields.
    pub structured_output: Option<Json>,
    /// The version whose text that value was taken from.
    pub structured_output_version: Option<u32>,
    /// The settings it was made with: tags, trigger, max_tokens.
    pub settings: Json,
}

/// Two versions set against each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct VersionDiff {
    /// Number of the older side; 0 is the empty document.
    pub from: u32,
    /// Number of the newer side.
    pub to: u32,
    /// What differs.
    pub diff: DocDiff,
    /// Evidence only of the older side.
    pub evidence_gone: Vec<EvidenceItem>,
    /// Evidence only of the newer side.
    pub evidence_new: Vec<EvidenceItem>,
    /// Evidence of both sides, as the newer one read it.
    pub evidence_kept: Vec<EvidenceItem>,
    /// What differs in the value of the output schema's fields.
    pub structured: Vec<JsonChange>,
    /// What differs in question, tags, trigger and budget.
    pub settings: Vec<JsonChange>,
}
