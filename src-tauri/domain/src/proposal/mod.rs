//! A finished refresh that waits for a person: its operations, what each needs, what a decision
//! makes of the document, and what becomes of it when the document or the data moves on. Pure: the
//! engine loads, calls and stores.

mod decide;
mod derive;
mod draft;
mod edit;
mod fold;
mod rebase;
mod record;
mod resolve;
mod select;
mod settle;

pub use decide::{DecideError, OpDecision, decide_ops};
pub use derive::{Derived, derive_ops};
pub use draft::{DraftOutcome, decide_draft};
pub use edit::edit_op;
pub use fold::fold;
pub use rebase::{RebaseVerdict, Rebased, rebase, state_after_rebase};
pub use record::{RunFacts, fingerprint, record_ops};
pub use resolve::{Resolution, ResolveError, can_be_taken, resolve_conflict};
pub use select::{Selected, SelectedOp, apply_selection, close_rejection, close_selection};
pub use settle::{
    ClockMove, Declined, DocumentOutcome, Pending, RejectDisposition, SettleError, Settlement,
    Verdict, op_summary, settle,
};

use serde::{Deserialize, Serialize};

use crate::Instant;
use crate::delta::{Claim, DeltaOp, OpStatus, SkipReason, Target};

/// Where a proposal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ProposalState {
    /// Untouched.
    Open,
    /// A decision, a note or an edit was saved.
    InReview,
    /// At least one operation no longer fits the document.
    Conflicted,
    /// Every applied operation was accepted.
    Approved,
    /// Some operations were accepted.
    PartiallyApproved,
    /// None was.
    Rejected,
    /// A newer proposal, a clear or a deletion took its place.
    Superseded,
}

impl ProposalState {
    /// Whether nothing can change any more.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Open | Self::InReview | Self::Conflicted => false,
            Self::Approved | Self::PartiallyApproved | Self::Rejected | Self::Superseded => true,
        }
    }

    /// The word of the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::InReview => "in_review",
            Self::Conflicted => "conflicted",
            Self::Approved => "approved",
            Self::PartiallyApproved => "partially_approved",
            Self::Rejected => "rejected",
            Self::Superseded => "superseded",
        }
    }

    /// The state of a word of the wire.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [
            Self::Open,
            Self::InReview,
            Self::Conflicted,
            Self::Approved,
            Self::PartiallyApproved,
            Self::Rejected,
            Self::Superseded,
        ]
        .into_iter()
        .find(|state| state.word() == word)
    }
}

/// Why a run ended as a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ProposalReason {
    /// The model is reviewed by hand.
    ReviewManual,
    /// The run would have removed much of the document.
    LargeRemoval,
    /// Deltas were refused again and again.
    DeltaWedged,
    /// The document moved while the run was under way.
    DocumentChanged,
    /// A person kept a dry run.
    KeptDryRun,
    /// The published file was changed outside the program.
    OutsideEdit,
}

/// What kind of run made a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A rebuilt document; its operations are derived.
    Full,
    /// Operations of a model.
    Delta,
    /// An unsay pass alone.
    Retraction,
    /// A file changed by a person outside the program.
    File,
}

/// Whether a proposal can be decided in parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Granularity {
    /// Operation by operation.
    Ops,
    /// All or nothing.
    Whole,
}

/// A person's word on one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Nothing said yet.
    #[default]
    Undecided,
    /// It shall happen.
    Accepted,
    /// It shall not happen; its facts are declined.
    Rejected,
    /// Not now; its facts are offered again.
    Deferred,
}

/// What happened to an operation's decision without a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Marker {
    /// An earlier proposal had the same operation with another text.
    Reworded,
    /// The document already says so; the operation drops out.
    AlreadyDone,
    /// The decision comes from an earlier proposal.
    Carried,
}

/// Why an operation does not fit the document any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Conflict {
    /// The target's text is neither the base's nor the proposed one.
    TextChanged,
    /// The target now stands in another section.
    Moved,
    /// The section, the block or the anchor is gone.
    Missing,
    /// An operation it requires is in conflict.
    Dependency,
    /// All its facts have been retracted.
    EvidenceWithdrawn,
}

impl Conflict {
    /// The word of the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::TextChanged => "text_changed",
            Self::Moved => "moved",
            Self::Missing => "missing",
            Self::Dependency => "dependency",
            Self::EvidenceWithdrawn => "evidence_withdrawn",
        }
    }
}

/// Why a fact stands beside an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum EvidenceRole {
    /// The operation cites it.
    Cited,
    /// The text that the operation replaces or removes rested on it.
    OldSource,
}

/// A fact beside an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct OpEvidence {
    /// The memory.
    pub fact_id: String,
    /// Its text as the run read it; empty if it was not read.
    pub text: String,
    /// Why it is here.
    pub role: EvidenceRole,
}

/// An operation of a proposal: the edit, what became of it when the proposal was made (so that
/// nothing is decided twice), what it rests on, and the person's word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ProposalOp {
    /// Unique in its proposal.
    pub op_id: String,
    /// Position in the run, from 0. `requires` and `created_by` name operations by it.
    pub index: u32,
    /// The edit.
    pub op: DeltaOp,
    /// Only applied operations can be decided.
    pub status: OpStatus,
    /// Why it was skipped.
    pub reason: Option<SkipReason>,
    /// `add_section`: the id that the section got.
    pub assigned_id: Option<String>,
    /// Ids that new blocks got, in order.
    pub created_block_ids: Vec<String>,
    /// `replace_section_blocks`: ids of all resulting blocks, kept or new, in order.
    pub block_ids: Option<Vec<String>>,
    /// The table that its rows were joined to.
    pub merged_into_block_id: Option<String>,
    /// The elements it named, as they were.
    pub targets: Vec<Target>,
    /// Indexes of earlier operations it cannot do without, directly or through others; rising.
    pub requires: Vec<u32>,
    /// Indexes of operations that belong with it though neither needs the other; rising.
    pub conflicts_hint: Vec<u32>,
    /// Operations with the same word are one change (a move).
    pub group: Option<String>,
    /// Facts it cites, then sources of the text it replaces or removes.
    pub evidence: Vec<OpEvidence>,
    /// Parts of its text with facts of their own.
    pub claims: Vec<Claim>,
    /// It changes a block that a person wrote.
    pub human_touch: bool,
    /// Same kind, target and text: the same fingerprint in another proposal.
    pub fingerprint: String,
    /// The person's word.
    pub decision: Decision,
    /// When it was said.
    pub decided_at: Option<Instant>,
    /// The person's note.
    pub note: Option<String>,
    /// What happened to the decision without a person.
    pub marker: Option<Marker>,
    /// Why it does not fit the document any more.
    pub conflict: Option<Conflict>,
}

impl ProposalOp {
    /// Whether a person can decide it.
    #[must_use]
    pub fn is_decidable(&self) -> bool {
        self.status == OpStatus::Applied && self.marker != Some(Marker::AlreadyDone)
    }

    /// Whether it can become part of the document: decidable and not in conflict.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.is_decidable() && self.conflict.is_none()
    }

    /// Whether it is in conflict and nobody has dropped it.
    #[must_use]
    pub fn is_unresolved(&self) -> bool {
        self.conflict.is_some() && self.decision != Decision::Rejected
    }

    /// Ids of the facts it cites, those of its claims included, without repeats.
    #[must_use]
    pub fn cited_facts(&self) -> Vec<&str> {
        let cited = self.evidence.iter().filter(|fact| fact.role == EvidenceRole::Cited);
        let claimed = self.claims.iter().flat_map(|claim| &claim.evidence).map(String::as_str);
        let mut all: Vec<&str> = Vec::new();
        for fact in cited.map(|fact| fact.fact_id.as_str()).chain(claimed) {
            if !all.contains(&fact) {
                all.push(fact);
            }
        }
        all
    }
}
