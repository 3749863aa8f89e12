//! Random documents and operations for the laws: few words and many line kinds, so that equal
//! blocks, equal headings, reused ids, tables, fences and every line end meet often.

#![allow(dead_code, reason = "each test binary uses its part")]

use domain::delta::{Applied, Batch, CitedOp, DeltaOp, ParsedOp, Rules};
use domain::document::{Document, parse};
use proptest::prelude::*;

const LINES: [&str; 32] = [
    "",
    "",
    "",
    "",
    "",
    " ",
    "\t ",
    "# A",
    "## B",
    "# A",
    "### C ##",
    "## Hours",
    "#  Loose  ",
    "## preamble",
    "text",
    "text two",
    "same",
    "same",
    "- item",
    "  - deep",
    "| a | b |",
    "| - | - |",
    "| 1 | 2 |",
    "```",
    "~~~",
    "```sh",
    "# in",
    "<!-- c",
    "-->",
    "<pre>",
    "</pre>",
    "x\ry",
];

/// Lines without fences and regions, for documents that leave nothing open.
const CALM: usize = 23;

const TEXTS: [&str; 16] = [
    "new",
    "text",
    "same",
    "one\n\ntwo",
    "| 9 | 9 |",
    "| 1 |\n| - |\n| 2 |",
    "```\n# x\n\ny\n```",
    "",
    "# heading",
    "```\nopen",
    "a\r\nb",
    "- item\n- more",
    "three\n\nfour\n\nfive",
    "text two",
    "<!-- a\n\n# b -->",
    "same\n\nsame",
];

const HEADINGS: [&str; 8] = ["A", "B", "Hours", "## New ##", "preamble", "C #", " ", "Ünï"];

fn document_of(lines: usize) -> impl Strategy<Value = String> {
    let line = (0..lines).prop_map(|at| LINES[at]);
    let body = prop::collection::vec((line, 0..8_u8), 0..26);
    (body, 0..3_u8, any::<bool>()).prop_map(|(body, style, last)| {
        let mut text = String::new();
        let count = body.len();
        for (at, (line, dice)) in body.into_iter().enumerate() {
            text.push_str(line);
            let end = match style {
                0 => "\n",
                1 => "\r\n",
                _ if dice < 3 => "\r\n",
                _ => "\n",
            };
            if at + 1 < count || last {
                text.push_str(end);
            }
        }
        text
    })
}

/// Any kind of document, also one that leaves a fence open.
pub(crate) fn wild_text() -> impl Strategy<Value = String> {
    document_of(LINES.len())
}

/// A document without fences and regions.
pub(crate) fn calm_text() -> impl Strategy<Value = String> {
    document_of(CALM)
}

/// An operation to be: which kind, which elements, which text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seed {
    kind: u8,
    section: u8,
    block: u8,
    text: u8,
    other: u8,
}

pub(crate) fn seeds(most: usize) -> impl Strategy<Value = Vec<Seed>> {
    let numbers = (0..10_u8, any::<u8>(), any::<u8>(), 0..20_u8, any::<u8>());
    let seed = numbers.prop_map(|(kind, section, block, text, other)| Seed {
        kind,
        section,
        block,
        text,
        other,
    });
    prop::collection::vec(seed, 0..=most)
}

/// Turns seeds into operations on the document as it stands when each is applied.
pub(crate) fn run(base: &Document, seeds: &[Seed]) -> Applied {
    run_under(base, seeds, &Rules::default())
}

/// The same under rules.
pub(crate) fn run_under(base: &Document, seeds: &[Seed], rules: &Rules) -> Applied {
    let mut batch = Batch::new(base);
    for (at, seed) in seeds.iter().enumerate() {
        let op = seed.op(batch.document());
        let fact = format!("fact-{}", at % 5);
        let cited = CitedOp { op, evidence: vec![fact], claims: Vec::new() };
        batch.apply(&ParsedOp::list([cited]), rules);
    }
    batch.finish()
}

impl Seed {
    fn op(self, document: &Document) -> DeltaOp {
        let section_id = self.section_id(document);
        let block_id = self.block_id(document, &section_id);
        let text = self.text(document);
        match self.kind {
            0 => DeltaOp::AppendBlock { section_id, text },
            1 => DeltaOp::InsertBlock { section_id, after_block_id: None, text },
            2 => DeltaOp::InsertBlock { section_id, after_block_id: Some(block_id), text },
            3 => DeltaOp::ReplaceBlock { section_id, block_id, text },
            4 | 5 => DeltaOp::RemoveBlock { section_id, block_id },
            6 => DeltaOp::AddSection {
                heading: HEADINGS[usize::from(self.block) % HEADINGS.len()].to_owned(),
                level: self.other % 4,
                blocks: if self.text.is_multiple_of(3) { Vec::new() } else { vec![text] },
                after_section_id: self.other.is_multiple_of(2).then_some(section_id),
                new_id: None,
            },
            7 => DeltaOp::RemoveSection { section_id },
            8 => DeltaOp::ReplaceSectionBlocks { section_id, blocks: self.blocks(document, text) },
            _ => DeltaOp::RenameSection {
                section_id,
                new_heading: HEADINGS[usize::from(self.other) % HEADINGS.len()].to_owned(),
            },
        }
    }

    fn section_id(self, document: &Document) -> String {
        let count = document.sections.len();
        match document.sections.get(usize::from(self.section) % (count + 1).max(1)) {
            Some(section) => section.id.clone(),
            None if count > 0 => document.sections[0].id.clone(),
            None => "nowhere".to_owned(),
        }
    }

    fn block_id(self, document: &Document, section_id: &str) -> String {
        let blocks = document.section(section_id).map(|s| s.blocks.as_slice()).unwrap_or_default();
        match blocks.len() {
            0 => "b0".to_owned(),
            count => blocks[usize::from(self.block) % count].id.clone(),
        }
    }

    /// A text of the list, or that of a block of the document.
    fn text(self, document: &Document) -> String {
        match TEXTS.get(usize::from(self.text)) {
            Some(text) => (*text).to_owned(),
            None => {
                let blocks: Vec<_> = document.blocks().collect();
                match blocks.len() {
                    0 => "lonely".to_owned(),
                    count => blocks[usize::from(self.other) % count].text.clone(),
                }
            }
        }
    }

    /// The section's own blocks in part, with a new text among them.
    fn blocks(self, document: &Document, text: String) -> Vec<String> {
        let section =
            document.sections.get(usize::from(self.section) % document.sections.len().max(1));
        let own = section.map(|s| s.blocks.as_slice()).unwrap_or_default();
        let kept =
            own.iter().enumerate().filter(|(at, _)| (usize::from(self.other) >> (at % 8)) & 1 == 1);
        let mut blocks: Vec<String> = kept.map(|(_, block)| block.text.clone()).collect();
        let at = usize::from(self.block) % (blocks.len() + 1);
        blocks.insert(at, text);
        blocks
    }
}

/// A parsed document of a strategy of texts.
pub(crate) fn parsed(text: &str) -> Document {
    parse(text)
}
