//! The eight operations as types.

use serde::{Deserialize, Serialize};

/// An edit of a document. Ids are exact; `None` for a block anchor means "first in the section",
/// for a section anchor "at the end".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum DeltaOp {
    /// New blocks at the end of a section.
    AppendBlock {
        /// The section.
        section_id: String,
        /// Markdown without headings.
        text: String,
    },
    /// New blocks after a block, or first in the section.
    InsertBlock {
        /// The section.
        section_id: String,
        /// The block they follow.
        #[serde(default)]
        after_block_id: Option<String>,
        /// Markdown without headings.
        text: String,
    },
    /// Another text for a block.
    ReplaceBlock {
        /// The section that holds the block.
        section_id: String,
        /// The block.
        block_id: String,
        /// Markdown without headings.
        text: String,
    },
    /// A block less.
    RemoveBlock {
        /// The section that holds the block.
        section_id: String,
        /// The block.
        block_id: String,
    },
    /// A new section, after another one and its subsections, or at the end.
    AddSection {
        /// One line, without hashes.
        heading: String,
        /// 1 to 6.
        #[serde(default = "default_level")]
        level: u8,
        /// Markdown fragments without headings.
        #[serde(default)]
        blocks: Vec<String>,
        /// The section it follows.
        #[serde(default)]
        after_section_id: Option<String>,
        /// The wanted id; made unique.
        #[serde(default)]
        new_id: Option<String>,
    },
    /// A section less; its subsections stay.
    RemoveSection {
        /// The section.
        section_id: String,
    },
    /// Other blocks for a section.
    ReplaceSectionBlocks {
        /// The section.
        section_id: String,
        /// Markdown fragments without headings.
        blocks: Vec<String>,
    },
    /// Another heading for a section.
    RenameSection {
        /// The section.
        section_id: String,
        /// One line, without hashes.
        new_heading: String,
    },
}

/// Level of an added section that states none.
pub(super) fn default_level() -> u8 {
    2
}

/// The name of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the variants are those of DeltaOp")]
pub enum OpKind {
    AppendBlock,
    InsertBlock,
    ReplaceBlock,
    RemoveBlock,
    AddSection,
    RemoveSection,
    ReplaceSectionBlocks,
    RenameSection,
}

impl OpKind {
    /// All eight.
    pub const ALL: [Self; 8] = [
        Self::AppendBlock,
        Self::InsertBlock,
        Self::ReplaceBlock,
        Self::RemoveBlock,
        Self::AddSection,
        Self::RemoveSection,
        Self::ReplaceSectionBlocks,
        Self::RenameSection,
    ];

    /// The operations that an unsay pass may use: they only take away or restate.
    pub const UNSAY: [Self; 4] =
        [Self::RemoveBlock, Self::RemoveSection, Self::ReplaceBlock, Self::ReplaceSectionBlocks];

    /// The word of the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::AppendBlock => "append_block",
            Self::InsertBlock => "insert_block",
            Self::ReplaceBlock => "replace_block",
            Self::RemoveBlock => "remove_block",
            Self::AddSection => "add_section",
            Self::RemoveSection => "remove_section",
            Self::ReplaceSectionBlocks => "replace_section_blocks",
            Self::RenameSection => "rename_section",
        }
    }

    /// The kind of a word of the wire.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

impl DeltaOp {
    /// Which operation it is.
    #[must_use]
    pub fn kind(&self) -> OpKind {
        match self {
            Self::AppendBlock { .. } => OpKind::AppendBlock,
            Self::InsertBlock { .. } => OpKind::InsertBlock,
            Self::ReplaceBlock { .. } => OpKind::ReplaceBlock,
            Self::RemoveBlock { .. } => OpKind::RemoveBlock,
            Self::AddSection { .. } => OpKind::AddSection,
            Self::RemoveSection { .. } => OpKind::RemoveSection,
            Self::ReplaceSectionBlocks { .. } => OpKind::ReplaceSectionBlocks,
            Self::RenameSection { .. } => OpKind::RenameSection,
        }
    }

    /// The section it names, if it names an existing one as its place.
    #[must_use]
    pub fn section_id(&self) -> Option<&str> {
        match self {
            Self::AppendBlock { section_id, .. }
            | Self::InsertBlock { section_id, .. }
            | Self::ReplaceBlock { section_id, .. }
            | Self::RemoveBlock { section_id, .. }
            | Self::RemoveSection { section_id }
            | Self::ReplaceSectionBlocks { section_id, .. }
            | Self::RenameSection { section_id, .. } => Some(section_id),
            Self::AddSection { .. } => None,
        }
    }

    /// The block it names as its object or its anchor.
    #[must_use]
    pub fn block_id(&self) -> Option<&str> {
        match self {
            Self::ReplaceBlock { block_id, .. } | Self::RemoveBlock { block_id, .. } => {
                Some(block_id)
            }
            Self::InsertBlock { after_block_id, .. } => after_block_id.as_deref(),
            Self::AppendBlock { .. }
            | Self::AddSection { .. }
            | Self::RemoveSection { .. }
            | Self::ReplaceSectionBlocks { .. }
            | Self::RenameSection { .. } => None,
        }
    }

    /// Every text it brings, one after the other with a blank line between; empty for removals.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::AppendBlock { text, .. }
            | Self::InsertBlock { text, .. }
            | Self::ReplaceBlock { text, .. } => text.clone(),
            Self::AddSection { heading, blocks, .. } => {
                let parts: Vec<&str> = std::iter::once(heading.as_str())
                    .chain(blocks.iter().map(String::as_str))
                    .collect();
                parts.join("\n\n")
            }
            Self::ReplaceSectionBlocks { blocks, .. } => blocks.join("\n\n"),
            Self::RenameSection { new_heading, .. } => new_heading.clone(),
            Self::RemoveBlock { .. } | Self::RemoveSection { .. } => String::new(),
        }
    }
}

/// What a part of an operation's text rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Claim {
    /// A substring of the operation's text.
    pub quote: String,
    /// Handles or ids of facts.
    #[serde(default)]
    pub evidence: Vec<String>,
}

/// An operation with what it rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct CitedOp {
    /// The edit.
    #[serde(flatten)]
    pub op: DeltaOp,
    /// Handles or ids of facts.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// Parts of the text with facts of their own.
    #[serde(default)]
    pub claims: Vec<Claim>,
}

impl From<DeltaOp> for CitedOp {
    fn from(op: DeltaOp) -> Self {
        Self { op, evidence: Vec::new(), claims: Vec::new() }
    }
}

impl CitedOp {
    /// The operation with other names for its facts (handles of a prompt become ids). Names for which
    /// there is none are dropped, as are claims whose quote is not in the operation's text.
    #[must_use]
    pub fn with_facts(self, id_of: impl Fn(&str) -> Option<String>) -> Self {
        let rename = |names: Vec<String>| {
            let mut ids: Vec<String> = Vec::new();
            for id in names.iter().filter_map(|name| id_of(name)) {
                if !ids.contains(&id) {
                    ids.push(id);
                }
            }
            ids
        };
        let text = self.op.text();
        let claims = self.claims.into_iter().filter(|claim| text.contains(&claim.quote));
        let claims = claims
            .map(|claim| Claim { evidence: rename(claim.evidence), quote: claim.quote })
            .collect();
        Self { op: self.op, evidence: rename(self.evidence), claims }
    }

    /// Facts named by the operation or by one of its claims, without repeats, in order.
    #[must_use]
    pub fn cited(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        let claims = self.claims.iter().flat_map(|claim| &claim.evidence);
        for fact in self.evidence.iter().chain(claims) {
            if !all.contains(&fact.as_str()) {
                all.push(fact);
            }
        }
        all
    }
}

/// One entry of an answer's list of operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedOp {
    /// Position in the list, from 0.
    pub index: u32,
    /// The `op` word as given, if there was one.
    pub word: Option<String>,
    /// Keys that mean nothing here.
    pub ignored: Vec<String>,
    /// The operation, or why it is none.
    pub body: Result<CitedOp, InvalidOp>,
}

/// Why an entry is no operation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidOp {
    /// The entry is not a JSON object.
    #[error("not_an_object")]
    NotAnObject,
    /// `op` is none of the eight words.
    #[error("unknown_op")]
    UnknownOp,
    /// A required key is absent.
    #[error("missing_field:{0}")]
    MissingField(&'static str),
    /// A key has a value of the wrong type.
    #[error("bad_type:{0}")]
    BadType(&'static str),
}

impl ParsedOp {
    /// A list of entries from operations, indexed from 0.
    pub fn list(ops: impl IntoIterator<Item = CitedOp>) -> Vec<Self> {
        (0..)
            .zip(ops)
            .map(|(index, op)| Self {
                index,
                word: Some(op.op.kind().word().to_owned()),
                ignored: Vec::new(),
                body: Ok(op),
            })
            .collect()
    }
}
