//! What became of each operation, and what it touched.

use serde::{Deserialize, Serialize};

/// The end of one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum OpStatus {
    /// The document has the change.
    Applied,
    /// The document already said so.
    Noop,
    /// Nothing was done; the result has the reason.
    Skipped,
}

/// Why an operation was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// No section has the id.
    UnknownSection,
    /// No block has the id.
    UnknownBlock,
    /// The block stands in another section, which the detail names.
    BlockInOtherSection,
    /// No section has the anchor's id.
    UnknownAnchorSection,
    /// A person locked the element, which the detail names.
    BlockLocked,
    /// The text has no fragment.
    EmptyText,
    /// The text holds a heading line.
    HeadingInText,
    /// The text leaves a fence or region open.
    UnclosedFence,
    /// Nothing is left of the heading.
    EmptyHeading,
    /// The heading has several lines.
    MultilineHeading,
    /// The section has no heading to rename.
    SectionHasNoHeading,
    /// The pass does not allow the operation, or not on this element.
    OpNotAllowed,
    /// The section was shown as an outline only.
    TargetNotShown,
    /// The entry is no operation; the detail says why.
    InvalidOp,
}

impl SkipReason {
    /// The word of the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::UnknownSection => "unknown_section",
            Self::UnknownBlock => "unknown_block",
            Self::BlockInOtherSection => "block_in_other_section",
            Self::UnknownAnchorSection => "unknown_anchor_section",
            Self::BlockLocked => "block_locked",
            Self::EmptyText => "empty_text",
            Self::HeadingInText => "heading_in_text",
            Self::UnclosedFence => "unclosed_fence",
            Self::EmptyHeading => "empty_heading",
            Self::MultilineHeading => "multiline_heading",
            Self::SectionHasNoHeading => "section_has_no_heading",
            Self::OpNotAllowed => "op_not_allowed",
            Self::TargetNotShown => "target_not_shown",
            Self::InvalidOp => "invalid_op",
        }
    }
}

/// Something worth telling about an operation that was applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ApplyWarning {
    /// Deeper sections followed a removed one and now belong to the section before it.
    SubsectionsReparented,
    /// Another section already has the same heading.
    DuplicateHeading,
}

/// What became of one operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct OpResult {
    /// Position in the list of operations, from 0.
    pub index: u32,
    /// The operation's word; none if the entry had none.
    pub op: Option<String>,
    /// How it ended.
    pub status: OpStatus,
    /// Why it was skipped.
    pub reason: Option<SkipReason>,
    /// The id or field that the reason is about.
    pub detail: Option<String>,
    /// The id of an added section.
    pub assigned_id: Option<String>,
    /// Ids of new blocks, in order.
    pub created_block_ids: Vec<String>,
    /// `replace_section_blocks`: ids of all resulting blocks, kept or new, in order.
    pub block_ids: Option<Vec<String>>,
    /// The table that the rows were joined to.
    pub merged_into_block_id: Option<String>,
    /// A block whose open fence had to be closed before anything could follow it.
    pub closed_fence_in_block_id: Option<String>,
    /// What else to tell.
    pub warnings: Vec<ApplyWarning>,
}

impl OpResult {
    /// A result with nothing but its status.
    pub(crate) fn new(index: u32, op: Option<String>, status: OpStatus) -> Self {
        Self {
            index,
            op,
            status,
            reason: None,
            detail: None,
            assigned_id: None,
            created_block_ids: Vec::new(),
            block_ids: None,
            merged_into_block_id: None,
            closed_fence_in_block_id: None,
            warnings: Vec::new(),
        }
    }
}

/// Section or block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ElementKind {
    /// A section; its text is its heading.
    Section,
    /// A block.
    Block,
}

/// An element that an operation named, as it was when the operation was applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Target {
    /// What it is.
    pub kind: ElementKind,
    /// Its id.
    pub id: String,
    /// SHA-256 of its text or heading before the operation, lower-case hex.
    pub hash: String,
    /// The earlier operation that created it, if one did.
    pub created_by: Option<u32>,
}

/// What an applied operation touched and which earlier operations it cannot do without.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpTrace {
    /// Elements it named, resolved.
    pub targets: Vec<Target>,
    /// Indexes of operations it requires, directly or through others; rising.
    pub requires: Vec<u32>,
    /// Blocks whose text it wrote, in order.
    pub writes: Vec<Write>,
    /// Texts of the blocks it took away, in order.
    pub removed: Vec<String>,
}

/// How a block's text came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteKind {
    /// The whole text is new.
    Text,
    /// Rows were added to a table; the rest of its text stays.
    Rows,
}

/// A block written by an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// The block.
    pub block_id: String,
    /// What was written.
    pub kind: WriteKind,
}
