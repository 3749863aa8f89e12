//! What is known of single blocks of a document: what wrote each, what it rests on, what a person
//! locked.

use super::model::{Author, EvidenceItem, OpenProposal};
use domain::{Instant, OperationId};
use serde::{Deserialize, Serialize};

/// Blame of a version of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ModelBlame {
    /// The version.
    pub version: u32,
    /// Whether it is the published one.
    pub published: bool,
    /// Its blocks in reading order.
    pub blocks: Vec<BlameBlock>,
}

/// Blame of one block, with everything behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct BlameBlock {
    /// The section it stands in.
    pub section_id: String,
    /// Its id.
    pub block_id: String,
    /// Its text.
    pub text: String,
    /// What wrote it; none where that was not recorded.
    pub written: Option<BlockWriting>,
    /// Whether a person wrote it, wholly or partly.
    pub by_person: bool,
    /// The memories that it rests on, with their text as read.
    pub facts: Vec<EvidenceItem>,
    /// Whether it or its section is locked now.
    pub locked: bool,
}

/// What wrote the present text of a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct BlockWriting {
    /// The version that it came with.
    pub version: u32,
    /// When.
    pub at: Instant,
    /// Who.
    pub author: Author,
    /// What made that version, as in the timeline; none once it is not kept any more.
    pub cause: Option<String>,
    /// Who set that going, as in the timeline; none once the version is not kept any more.
    pub actor: Option<String>,
    /// The queued work that wrote it.
    pub operation: Option<OperationId>,
    /// The proposal that it came through.
    pub proposal: Option<OpenProposal>,
    /// The change within that proposal or run.
    pub change: Option<BlockChange>,
}

/// The delta operation that wrote a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct BlockChange {
    /// Its id within the proposal or run.
    pub op_id: String,
    /// Its number within the proposal, from 1.
    pub number: Option<u32>,
    /// `append_block`, `replace_block` and so on; none where that is not kept any more.
    pub kind: Option<String>,
}

/// What a lock covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum LockKind {
    /// One block.
    Block,
    /// A whole section.
    Section,
}

/// A lock: refreshes leave the element as it is, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct LockView {
    /// What it covers.
    pub kind: LockKind,
    /// Id of the block or section.
    pub element_id: String,
    /// When it was set.
    pub locked_at: Instant,
    /// Why, in a person's words.
    pub note: Option<String>,
}
