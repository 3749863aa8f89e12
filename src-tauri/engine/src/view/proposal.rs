//! Proposals as the review screens show them.

use super::diff::{DocDiff, WordSpan};
use super::model::{DecisionCounts, EvidenceItem, RunWarning};
use domain::document::Document;
use domain::{Instant, Json, ModelId, OperationId, ProposalId};
use serde::{Deserialize, Serialize};

/// Where a proposal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ProposalState {
    /// Untouched.
    Open,
    /// A decision, a note or an edit was saved.
    InReview,
    /// At least one operation no longer fits the document.
    Conflicted,
    /// All published.
    Approved,
    /// Some published.
    PartiallyApproved,
    /// Nothing published.
    Rejected,
    /// A newer one, a clear or a deletion took its place.
    Superseded,
}

/// What a person decided about an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum OpDecision {
    /// Not yet.
    Undecided,
    /// To be published.
    Accepted,
    /// Not to be published, and not to be offered again.
    Rejected,
    /// Not now; its facts come back with the next refresh.
    Deferred,
}

/// One proposal in the inbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ProposalRow {
    /// Its id.
    pub id: ProposalId,
    /// Its number within the model.
    pub number: u32,
    /// The model.
    pub model_id: ModelId,
    /// The model's name.
    pub model_name: String,
    /// Where it stands.
    pub state: ProposalState,
    /// `review_manual`, `large_removal`, `delta_wedged`, `document_changed`, `kept_dry_run`,
    /// `outside_edit`.
    pub reason: String,
    /// `full`, `delta`, `retraction`, `file`.
    pub origin: String,
    /// What started the run: `manual_refresh`, `create`, `cron` and so on.
    pub triggered_by: Vec<String>,
    /// Operations that can be decided.
    pub operations: u32,
    /// How they stand.
    pub decisions: DecisionCounts,
    /// Facts that the run read, and of these used.
    pub facts_read: u32,
    /// Facts that it used.
    pub facts_used: u32,
    /// Newer memories in scope that it has not seen, counted up to 100.
    pub newer: u32,
    /// When it was made.
    pub created_at: Instant,
}

/// Something that an operation needs or that goes with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct OpHint {
    /// The other operation.
    pub op_id: String,
    /// Stable word: `duplicate_if_alone`, `lost_if_alone`, `assumes_removal`.
    pub kind: String,
}

/// A quoted piece of an operation's text with the facts that bear it out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ClaimView {
    /// A piece of the new text.
    pub quote: String,
    /// Ids of the facts.
    pub evidence: Vec<String>,
}

/// Why an operation no longer fits, with the three texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ConflictView {
    /// `text_changed`, `moved`, `missing`, `dependency`, `evidence_withdrawn`.
    pub kind: String,
    /// The text when the proposal was made.
    pub base: Option<String>,
    /// The text now.
    pub current: Option<String>,
    /// The text proposed.
    pub proposed: Option<String>,
}

/// One operation of a proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct OpView {
    /// Its id within the proposal.
    pub op_id: String,
    /// Its number among those that can be decided, from 1; 0 for the others.
    pub number: u32,
    /// `append_block`, `insert_block`, `replace_block`, `remove_block`, `add_section`,
    /// `remove_section`, `replace_section_blocks`, `rename_section`.
    pub kind: String,
    /// `applied`, `noop` or `skipped`.
    pub status: String,
    /// Why it was skipped.
    pub reason: Option<String>,
    /// The section it works on.
    pub section_id: Option<String>,
    /// That section's heading.
    pub heading: Option<String>,
    /// The block it works on.
    pub block_id: Option<String>,
    /// The text that goes.
    pub old_text: Option<String>,
    /// The text that comes, as a person edited it, else as proposed.
    pub new_text: Option<String>,
    /// The text as proposed, when a person has edited it.
    pub proposed_text: Option<String>,
    /// Old and new text word by word, for a changed block.
    pub words: Vec<WordSpan>,
    /// The block before the change, for context.
    pub before: Option<String>,
    /// The block after the change, for context.
    pub after: Option<String>,
    /// What was decided.
    pub decision: OpDecision,
    /// A person's words about it.
    pub note: Option<String>,
    /// Operations that must be accepted with it.
    pub requires: Vec<String>,
    /// Operations that must be rejected with it.
    pub required_by: Vec<String>,
    /// Soft warnings about other operations.
    pub hints: Vec<OpHint>,
    /// Operations that act as one.
    pub group: Option<String>,
    /// Facts behind it, newest first.
    pub evidence: Vec<EvidenceItem>,
    /// What the old text rested on.
    pub old_evidence: Vec<EvidenceItem>,
    /// Pieces of the text with their facts.
    pub claims: Vec<ClaimView>,
    /// Whether it changes what a person wrote.
    pub human_touch: bool,
    /// Whether nothing bears it out.
    pub unsupported: bool,
    /// Whether its text alone exceeds the budget.
    pub oversized: bool,
    /// `reworded`, `already_done`, `carried`.
    pub marker: Option<String>,
    /// Why it no longer fits.
    pub conflict: Option<ConflictView>,
}

/// One proposal with all that a reviewer needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ProposalView {
    /// The row.
    pub row: ProposalRow,
    /// Counts every saved change; sent back with each decision.
    pub state_seq: u32,
    /// The published version that it was computed from.
    pub base_version: u32,
    /// Whether only all or nothing can be accepted.
    pub whole: bool,
    /// Whether the run had no language model.
    pub extractive: bool,
    /// The question that was asked.
    pub source_query: String,
    /// Everything, in order of the document.
    pub ops: Vec<OpView>,
    /// The document before.
    pub base: Document,
    /// Warnings of the run.
    pub warnings: Vec<RunWarning>,
    /// `query_changed`, `scope_changed`, `newer_memories`.
    pub banners: Vec<String>,
    /// How far the run read.
    pub read_to: Option<Instant>,
    /// The trace.
    pub trace: Option<Json>,
    /// Its operation.
    pub operation: Option<OperationId>,
    /// The newer proposal that took its place.
    pub superseded_by: Option<ProposalId>,
    /// The version that came of it.
    pub published_version: Option<u32>,
    /// A person's words at its end.
    pub resolution_note: Option<String>,
}

/// Exactly what would be published with the decisions of this moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Preview {
    /// The text.
    pub content: String,
    /// What differs from the published document, with the operations behind each entry.
    pub diff: DocDiff,
    /// Size of the result in tokens.
    pub document_tokens: u32,
    /// The budget.
    pub max_tokens: u32,
    /// Warnings that approval must confirm: `large_removal`, `human_touch`, `unsupported_claim`,
    /// `empty_result`, `query_changed`, `scope_changed`.
    pub confirm: Vec<String>,
}

/// Which document a diff of a proposal ends at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum PreviewOf {
    /// What is accepted now.
    Accepted,
    /// Everything proposed.
    Everything,
}

/// Decisions about operations. What they need follows by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct DecideOps {
    /// The operations.
    pub op_ids: Vec<String>,
    /// What is decided.
    pub decision: OpDecision,
}

/// An approval.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct ApproveInput {
    /// Whether the summary of warnings was read.
    pub confirmed: bool,
    /// A person's words about the version.
    pub note: Option<String>,
    /// A whole text of the person instead of the selection.
    pub draft: Option<String>,
    /// Publish without the structured view when it cannot be extracted.
    pub without_structured_output: bool,
}

/// What becomes of the facts of a rejected proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum RejectDisposition {
    /// They are read again, with the note as guidance.
    Retry,
    /// They count as seen.
    Dismiss,
}

/// A rejection.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct RejectInput {
    /// Why.
    pub note: Option<String>,
    /// What becomes of the facts; `retry` with a note, else `dismiss`, when absent.
    pub disposition: Option<RejectDisposition>,
    /// Whether the note goes to every later refresh.
    pub standing: bool,
}

/// How a conflict is resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ConflictChoice {
    /// The operation is dropped.
    KeepMine,
    /// The proposed text replaces the present one.
    TakeProposed,
    /// A person's text replaces the present one.
    Edit {
        /// That text.
        text: String,
    },
}

/// What came of an approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Published {
    /// The model.
    pub model_id: ModelId,
    /// The new version.
    pub version: u32,
}
