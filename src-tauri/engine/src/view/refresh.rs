//! Runs of a refresh as screens show them: the record of any run, and the full report of a dry one.

use super::diff::DocDiff;
use super::model::{EvidenceItem, RunWarning};
use super::proposal::ProposalView;
use crate::report::Report;
use domain::model::CarryOver;
use domain::scope::Scope;
use domain::trace::{LlmCallRecord, Usage};
use domain::{Instant, Json, ModelId, OperationId, ProposalId, RunId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which memories a run could read, by when they were written.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct RunWindow {
    /// Written after this moment; null reads everything in scope.
    pub created_after: Option<Instant>,
    /// Written up to this moment.
    pub created_before: Option<Instant>,
    /// How far through the memories the document would be written.
    pub watermark: Option<Instant>,
    /// The same bounds as positions in the bank's data.
    pub after_seq: Option<u32>,
    /// Upper bound.
    pub cutoff_seq: Option<u32>,
    /// The position of the watermark.
    pub watermark_seq: Option<u32>,
    /// Memories between the bounds, counted up to 501.
    pub memories: u32,
}

/// How many memories a run read and used, by type, each counted once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct FactCounts {
    /// Read.
    pub retrieved: BTreeMap<String, u32>,
    /// Used as evidence.
    pub used: BTreeMap<String, u32>,
}

/// The edits of a delta by what became of them, each with its text and, if skipped, its reason.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct DeltaOperations {
    /// Changed the document.
    pub applied: Vec<Json>,
    /// Did not fit.
    pub skipped: Vec<Json>,
    /// Were true already.
    pub noop: Vec<Json>,
}

/// What a run did about cited facts that were taken back.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Retraction {
    /// The facts.
    pub fact_ids: Vec<String>,
    /// Their texts as cited.
    pub fact_texts: Vec<String>,
    /// Whether the document was changed because of them.
    pub applied: bool,
    /// Why they were left for the next refresh: `pending_consolidation`, `retraction_failed`.
    pub deferred_reason: Option<String>,
}

/// What a refresh would do now. Nothing of it is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct DryRunView {
    /// Names the dry run, to keep it or to look at it again.
    pub dry_run_id: RunId,
    /// The model.
    pub mental_model_id: ModelId,
    /// Its name.
    pub name: String,
    /// `full` or `delta`, as the settings ask.
    pub requested_mode: String,
    /// The mode that ran.
    pub effective_mode: String,
    /// Why they differ.
    pub mode_fallback_reason: Option<String>,
    /// How the refresh would end.
    pub outcome: String,
    /// The word of a failure.
    pub failure_reason: Option<String>,
    /// The failure in full.
    pub report: Option<Report>,
    /// Whether document or evidence would be written.
    pub would_persist: bool,
    /// Whether a proposal would be made instead.
    pub would_propose: bool,
    /// What the run could read.
    pub scope: Scope,
    /// And from when to when.
    pub window: RunWindow,
    /// How much it read.
    pub facts: FactCounts,
    /// What it would rest on.
    pub based_on: Vec<EvidenceItem>,
    /// The published document.
    pub current_content: String,
    /// The document that the run arrived at, stored or not.
    pub candidate_content: String,
    /// What would be stored; equals the published document when nothing would be.
    pub preview_content: String,
    /// What differs between the two, unified and element by element.
    pub diff: DocDiff,
    /// The edits of a delta; none for a rebuild.
    pub delta_operations: Option<DeltaOperations>,
    /// Facts taken back; none when there are none.
    pub retraction: Option<Retraction>,
    /// The structured view that would be stored.
    pub structured_output: Option<Json>,
    /// Facts that the next refresh would be offered again.
    pub carry_over: Vec<CarryOver>,
    /// Everything that was done, with the results of the searches.
    pub trace: Json,
    /// Tokens.
    pub usage: Usage,
    /// How long it took.
    pub duration_ms: u32,
    /// What is worth knowing.
    pub warnings: Vec<RunWarning>,
    /// The result as a proposal would show it; none when nothing would change. Its id is not one of
    /// a proposal until the dry run is kept.
    pub review: Option<ProposalView>,
    /// Whether it was written without a language model.
    pub extractive: bool,
    /// The proposal that it was kept as.
    pub kept_as: Option<ProposalId>,
    /// When it began.
    pub started_at: Instant,
    /// When it ended.
    pub finished_at: Instant,
}

/// A dry run that was kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct KeptDryRun {
    /// The proposal that it became.
    pub proposal: ProposalId,
}

/// The record of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RefreshRunView {
    /// Its id.
    pub id: RunId,
    /// Its operation; none for a dry run.
    pub operation: Option<OperationId>,
    /// What set it going.
    pub triggered_by: Vec<String>,
    /// Whether it wrote nothing on purpose.
    pub dry_run: bool,
    /// Whether its result can still be kept as a proposal.
    pub can_be_kept: bool,
    /// `full` or `delta`.
    pub requested_mode: String,
    /// The mode that ran; none for a skip.
    pub effective_mode: Option<String>,
    /// Why they differ.
    pub mode_fallback_reason: Option<String>,
    /// How it ended; `skipped` for a trigger that led to no run.
    pub outcome: String,
    /// Why it failed, or was skipped.
    pub failure_reason: Option<String>,
    /// The failure in full.
    pub report: Option<Report>,
    /// From when to when it could read.
    pub window: RunWindow,
    /// How much it read.
    pub facts: FactCounts,
    /// Edits applied.
    pub ops_applied: u32,
    /// Edits that were true already.
    pub ops_noop: u32,
    /// Edits that did not fit.
    pub ops_skipped: u32,
    /// Tokens.
    pub usage: Usage,
    /// Every request to a language model, with the time waited and the time until the first token.
    pub calls: Vec<LlmCallRecord>,
    /// What is worth knowing.
    pub warnings: Vec<RunWarning>,
    /// The version that it published.
    pub version: Option<u32>,
    /// The proposal that it ended as.
    pub proposal: Option<ProposalId>,
    /// The trace, where it is kept.
    pub trace: Option<Json>,
    /// Skips that this row stands for.
    pub skip_count: Option<u32>,
    /// When it began.
    pub started_at: Instant,
    /// When it ended.
    pub finished_at: Instant,
}
