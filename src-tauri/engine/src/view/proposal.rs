//! Proposals as the review screens show them.

use super::diff::{DocDiff, WordSpan};
use super::model::OpenProposal;
use super::model::{DecisionCounts, EvidenceItem, RunWarning};
use domain::document::Document;
pub use domain::proposal::{Decision, OpDecision, ProposalState, RejectDisposition};
use domain::{Instant, Json, ModelId, OperationId, ProposalId};
use serde::{Deserialize, Serialize};

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
    /// The text when the proposal was made; for `evidence_withdrawn` what the facts said.
    pub base: Option<String>,
    /// The text now.
    pub current: Option<String>,
    /// The text proposed.
    pub proposed: Option<String>,
    /// For `moved`: the heading under which the block stands now.
    pub moved_to: Option<String>,
    /// Whether the proposal's text can be taken: not while an operation it requires is in conflict,
    /// nor when nothing is left that the change could be made on.
    pub can_take: bool,
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
    pub decision: Decision,
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
    /// Whether it names no fact; such ones are left out of "accept all supported".
    pub unsupported: bool,
    /// Whether its text alone exceeds the budget.
    pub oversized: bool,
    /// `reworded`, `already_done`, `carried`.
    pub marker: Option<String>,
    /// Why it no longer fits.
    pub conflict: Option<ConflictView>,
}

/// Something that happened in a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ReviewEvent {
    /// When.
    pub at: Instant,
    /// `decided`, `noted`, `edited`, `drafted`, `resolved`, `rebased`, `retracted`, `folded`,
    /// `asked_again`, `superseded`, `approved`, `rejected`.
    pub kind: String,
    /// Numbers of the operations it was about.
    pub operations: Vec<u32>,
    /// What was decided.
    pub decision: Option<Decision>,
    /// A person's words.
    pub note: Option<String>,
    /// The version that came of it, or that made it move.
    pub version: Option<u32>,
    /// How many operations are in conflict after it, for those that move operations.
    pub conflicts: Option<u32>,
}

/// A text of the person's own that was saved to be published instead of the selection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct DraftView {
    /// The text.
    pub content: String,
    /// Whether it was written over the document as it is now. If not, publishing it takes back what
    /// was changed there since.
    pub fits: bool,
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
    /// From where on the run read; none when it read everything in scope.
    pub read_from: Option<Instant>,
    /// How far the run read.
    pub read_to: Option<Instant>,
    /// The trace.
    pub trace: Option<Json>,
    /// Its operation.
    pub operation: Option<OperationId>,
    /// Tokens and calls of the run.
    pub usage: Option<Json>,
    /// The structured view of everything proposed, when one was extracted.
    pub structured_output: Option<Json>,
    /// A text of the person's own.
    pub draft: Option<DraftView>,
    /// What happened in the review, oldest first.
    pub events: Vec<ReviewEvent>,
    /// The newer proposal that took its place.
    pub superseded_by: Option<ProposalId>,
    /// The older ones whose place it took.
    pub supersedes: Vec<OpenProposal>,
    /// The version that came of it.
    pub published_version: Option<u32>,
    /// A person's words at its end.
    pub resolution_note: Option<String>,
    /// When it ended.
    pub resolved_at: Option<Instant>,
    /// What a rejection means for its facts.
    pub disposition: Option<RejectDisposition>,
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
    /// `empty_result`, `query_changed`, `scope_changed`, `draft_outdated`.
    pub confirm: Vec<String>,
    /// Operations that it carries out, with all that they require.
    pub op_ids: Vec<String>,
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
    /// The saved draft; without one, what is accepted.
    Draft,
}

/// What a caller saw when it spoke, and the name of its request.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct Turn {
    /// `state_seq` of the proposal as the caller saw it.
    pub state_seq: u32,
    /// A name of the caller's own. The same request sent again changes nothing more and is answered
    /// as the first time.
    pub request_id: Option<String>,
}

impl Turn {
    /// A turn without a name.
    #[must_use]
    pub fn at(state_seq: u32) -> Self {
        Self { state_seq, request_id: None }
    }
}

/// Decisions about operations. What they need follows by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct DecideOps {
    /// One word for each operation, taken in order.
    pub decisions: Vec<OpDecision>,
}

impl DecideOps {
    /// The same word for several operations.
    #[must_use]
    pub fn all(op_ids: &[String], decision: Decision) -> Self {
        let word = |op_id: &String| OpDecision { op_id: op_id.clone(), decision, note: None };
        Self { decisions: op_ids.iter().map(word).collect() }
    }
}

/// What an approval publishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ApproveWhat {
    /// What is accepted.
    #[default]
    Decided,
    /// Every operation.
    All,
    /// The given draft, else the saved one.
    Draft,
}

/// An approval.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct ApproveInput {
    /// What is published.
    pub what: ApproveWhat,
    /// The warnings of the preview that the person has read.
    pub confirm: Vec<String>,
    /// A person's words about the version.
    pub note: Option<String>,
    /// A whole text of the person, for `draft`.
    pub draft: Option<String>,
    /// Publish without the structured view when it cannot be extracted.
    pub without_structured_output: bool,
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
    /// The proposed text replaces the present one; what has moved is changed where it stands now.
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
    /// Whether it has no structured view although the model asks for one.
    pub without_structured_output: bool,
}

/// Another run over what a proposal read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct AgainInput {
    /// What the run shall mind.
    pub note: Option<String>,
    /// Whether the note goes to every later refresh.
    pub standing: bool,
}

/// What an explicit refresh does while a person decides on a proposal of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum DuringReview {
    /// It runs when the proposal has ended.
    Wait,
    /// It runs now; the decisions move to the new proposal.
    Fold,
}

/// A proposal's text as the beginning of an edit of the published document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct EditText {
    /// The model.
    pub model_id: ModelId,
    /// The present document with the proposal's changes that were not refused.
    pub content: String,
    /// The version that it is made on: the `expected_version` of the edit.
    pub version: u32,
    /// Changes that no longer fit and were left out.
    pub left_out: u32,
}
