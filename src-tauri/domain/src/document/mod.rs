//! The structured document: a markdown text as sections and blocks that keep their ids.
//!
//! Parsing never fails and rendering is plain concatenation, so `render(parse(s)) == s` for every
//! string, byte for byte. Nothing here formats, repairs or interprets markdown beyond headings,
//! fences and the blank lines between blocks.

mod assemble;
mod ids;
mod reconcile;
pub(crate) mod scan;
mod split;
mod stored;

pub(crate) use assemble::clamp_level;
pub use assemble::{Assembled, DraftBlock, DraftSection, assemble, coerce_sections};
pub use ids::{IdSet, block_id, section_slug};
pub(crate) use reconcile::common;
pub use reconcile::{Match, Place, match_documents, reconcile};
pub use split::parse;
pub use stored::read_stored;

use serde::{Deserialize, Serialize};

/// The number of the structure's own shape, written with every stored document.
pub const FORMAT: u32 = 3;

/// The id of the content before the first heading.
pub const PREAMBLE: &str = "preamble";

/// A document: blank material before the first element, then sections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Document {
    /// Always [`FORMAT`] for documents made here.
    pub format: u32,
    /// Blank lines before the first element, verbatim.
    pub lead: String,
    /// In reading order; a heading-less one can only be the first.
    pub sections: Vec<Section>,
}

/// A heading and the blocks below it, up to the next heading of any level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Section {
    /// Unique among the sections of the document; assigned once and kept.
    pub id: String,
    /// The heading's text without hashes; empty at level 0.
    pub heading: String,
    /// 1 to 6, or 0 for content before the first heading.
    pub level: u8,
    /// The heading line verbatim, without its line end; empty at level 0.
    pub raw: String,
    /// What follows the heading line, its own line end included; empty at level 0.
    pub gap: String,
    /// In reading order.
    pub blocks: Vec<Block>,
}

/// A run of lines between blank lines: a paragraph, a list, a table, a fence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Block {
    /// Unique among all blocks of the document; assigned once and kept.
    pub id: String,
    /// The lines verbatim, without the last line end.
    pub text: String,
    /// What follows the text, its own line end included, verbatim.
    pub gap: String,
}

/// How the lines of a document end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
}

impl LineEnd {
    /// The bytes themselves.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }

    /// The line end of the first terminated line of a text; `Lf` if there is none.
    #[must_use]
    pub fn of(text: &str) -> Self {
        match text.find('\n') {
            Some(at) if text[..at].ends_with('\r') => Self::CrLf,
            _ => Self::Lf,
        }
    }

    /// A text whose lines end in `\n`, with this line end instead.
    #[must_use]
    pub fn write(self, text: &str) -> String {
        match self {
            Self::Lf => text.to_owned(),
            Self::CrLf => text.replace('\n', "\r\n"),
        }
    }
}

impl Default for Document {
    fn default() -> Self {
        Self { format: FORMAT, lead: String::new(), sections: Vec::new() }
    }
}

impl Document {
    /// The markdown text: every part, one after the other.
    #[must_use]
    pub fn render(&self) -> String {
        let mut out = self.lead.clone();
        for section in &self.sections {
            if section.level > 0 {
                out.push_str(&section.raw);
                out.push_str(&section.gap);
            }
            for block in &section.blocks {
                out.push_str(&block.text);
                out.push_str(&block.gap);
            }
        }
        out
    }

    /// The line end that new text is written with: that of the first terminator.
    #[must_use]
    pub fn line_end(&self) -> LineEnd {
        LineEnd::of(&self.render())
    }

    /// All blocks in reading order.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.sections.iter().flat_map(|section| &section.blocks)
    }

    /// A section by its exact id.
    #[must_use]
    pub fn section(&self, id: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.id == id)
    }

    /// A block by its exact id, with the section that holds it.
    #[must_use]
    pub fn block(&self, id: &str) -> Option<(&Section, &Block)> {
        self.sections.iter().find_map(|section| {
            section.blocks.iter().find(|block| block.id == id).map(|block| (section, block))
        })
    }

    /// Whether two documents have the same headings, levels and block texts. Ids and gaps may
    /// differ.
    #[must_use]
    pub fn same_shape(&self, other: &Self) -> bool {
        self.sections.len() == other.sections.len()
            && self.sections.iter().zip(&other.sections).all(|(a, b)| {
                a.heading == b.heading
                    && a.level == b.level
                    && a.blocks.len() == b.blocks.len()
                    && a.blocks.iter().zip(&b.blocks).all(|(x, y)| x.text == y.text)
            })
    }

    /// Whether the document says nothing: no sections at all.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.sections.is_empty()
    }
}

/// The markdown text of a document.
#[must_use]
pub fn render(document: &Document) -> String {
    document.render()
}

/// A text with CRLF turned into LF; nothing else changes.
#[must_use]
pub fn to_lf(text: &str) -> String {
    text.replace("\r\n", "\n")
}
