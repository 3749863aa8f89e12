//! From markdown to structure. Never fails, never drops or adds a byte.

use super::ids::{IdSet, block_id, section_slug};
use super::scan::{Kind, Scanner, lines};
use super::{Block, Document, PREAMBLE, Section};

/// The structure of a markdown text. For every text, `parse(text).render() == text`.
#[must_use]
pub fn parse(text: &str) -> Document {
    let mut splitter = Splitter::default();
    let mut scanner = Scanner::default();
    for line in lines(text) {
        match scanner.classify(line.text) {
            Kind::Blank => splitter.blank(line.text, line.end),
            Kind::Heading { level, text } => splitter.heading(level, text, line.text, line.end),
            Kind::Body => splitter.body(line.text, line.end),
        }
    }
    splitter.finish()
}

/// Where the next blank material goes, and whether the last block still grows.
#[derive(Default)]
struct Splitter {
    document: Document,
    section_ids: IdSet,
    /// The terminator of the last line of the block that is still growing.
    pending: Option<String>,
}

impl Splitter {
    fn blank(&mut self, text: &str, end: &str) {
        self.settle();
        let gap = self.last_gap();
        gap.push_str(text);
        gap.push_str(end);
    }

    fn heading(&mut self, level: u8, heading: &str, raw: &str, end: &str) {
        self.settle();
        let id = self.section_ids.claim(&section_slug(heading));
        self.document.sections.push(Section {
            id,
            heading: heading.to_owned(),
            level,
            raw: raw.to_owned(),
            gap: end.to_owned(),
            blocks: Vec::new(),
        });
    }

    fn body(&mut self, text: &str, end: &str) {
        if self.document.sections.is_empty() {
            let id = self.section_ids.claim(PREAMBLE);
            self.document.sections.push(Section {
                id,
                heading: String::new(),
                level: 0,
                raw: String::new(),
                gap: String::new(),
                blocks: Vec::new(),
            });
        }
        let Some(section) = self.document.sections.last_mut() else { return };
        match (self.pending.take(), section.blocks.last_mut()) {
            (Some(before), Some(block)) => {
                block.text.push_str(&before);
                block.text.push_str(text);
            }
            _ => section.blocks.push(Block {
                id: String::new(),
                text: text.to_owned(),
                gap: String::new(),
            }),
        }
        self.pending = Some(end.to_owned());
    }

    /// Ends the growing block: its last terminator opens its gap.
    fn settle(&mut self) {
        if let Some(end) = self.pending.take() {
            self.last_gap().push_str(&end);
        }
    }

    /// The gap of the last element, or the lead while there is none.
    fn last_gap(&mut self) -> &mut String {
        let Document { lead, sections, .. } = &mut self.document;
        match sections.last_mut() {
            None => lead,
            Some(section) => match section.blocks.last_mut() {
                Some(block) => &mut block.gap,
                None => &mut section.gap,
            },
        }
    }

    fn finish(mut self) -> Document {
        self.settle();
        let mut ids = IdSet::default();
        for block in self.document.sections.iter_mut().flat_map(|section| &mut section.blocks) {
            block.id = ids.claim(&block_id(&block.text));
        }
        self.document
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_fence_keeps_its_blank_lines_in_the_text() {
        let document = parse("```\nx\n\n");
        assert_eq!(document.sections[0].blocks[0].text, "```\nx\n");
        assert_eq!(document.sections[0].blocks[0].gap, "\n");
        assert_eq!(document.render(), "```\nx\n\n");
    }
}
