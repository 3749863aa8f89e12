//! Reading a stored structure back. A structure that does not stand for its stored content is not
//! trusted: the content is parsed instead, so that text is never lost to a damaged structure.

use serde::Deserialize;

use super::{Block, Document, FORMAT, IdSet, Section, parse};
use crate::Json;

/// The document of a stored structure and its stored content. The structure is used (its ids live
/// on) when it is of format 3 and renders to the content, or is of the foreign format 2 and differs
/// from the content in blank lines only.
#[must_use]
pub fn read_stored(structure: &Json, content: &str) -> Document {
    own(structure, content)
        .or_else(|| foreign(structure, content))
        .unwrap_or_else(|| parse(content))
}

fn own(structure: &Json, content: &str) -> Option<Document> {
    let document = Document::deserialize(&structure.0).ok()?;
    (document.format == FORMAT && document.render() == content && is_sound(&document))
        .then_some(document)
}

/// The shape of format 2: no verbatim heading lines and no gaps.
#[derive(Deserialize)]
struct Foreign {
    version: u32,
    sections: Vec<ForeignSection>,
}

#[derive(Deserialize)]
struct ForeignSection {
    id: String,
    #[serde(default)]
    heading: String,
    #[serde(default = "foreign_level")]
    level: u8,
    #[serde(default)]
    blocks: Vec<ForeignBlock>,
}

#[derive(Deserialize)]
struct ForeignBlock {
    id: String,
    text: String,
}

/// Format 2 gives level 2 to a section that states none.
fn foreign_level() -> u8 {
    2
}

fn foreign(structure: &Json, content: &str) -> Option<Document> {
    let foreign = Foreign::deserialize(&structure.0).ok().filter(|f| f.version == 2)?;
    let mut document = Document::default();
    for section in foreign.sections {
        let bare = section.heading.trim().is_empty();
        let level = if bare { 0 } else { section.level };
        document.sections.push(Section {
            id: section.id,
            raw: if bare {
                String::new()
            } else {
                format!("{} {}", "#".repeat(usize::from(level)), section.heading)
            },
            gap: if bare { String::new() } else { "\n\n".to_owned() },
            heading: if bare { String::new() } else { section.heading },
            level,
            blocks: section
                .blocks
                .into_iter()
                .map(|block| Block { id: block.id, text: block.text, gap: "\n\n".to_owned() })
                .collect(),
        });
    }
    if let Some(last) = document.sections.last_mut() {
        last.blocks.last_mut().map_or(&mut last.gap, |block| &mut block.gap).pop();
    }
    let same_lines = solid_lines(&document.render()).eq(solid_lines(content));
    (same_lines && is_sound(&document)).then_some(document)
}

fn solid_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .filter(|line| !super::scan::is_blank(line))
}

/// Ids unique and non-empty, and the text reads back as the same sections and blocks.
fn is_sound(document: &Document) -> bool {
    let sections = IdSet::of_sections(document);
    let blocks = IdSet::of_blocks(document);
    sections.len() == document.sections.len()
        && blocks.len() == document.blocks().count()
        && !sections.holds("")
        && !blocks.holds("")
        && parse(&document.render()).same_shape(document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn own_structures_keep_their_ids() {
        let mut document = parse("# A\n\nx\n");
        document.sections[0].blocks[0].id = "kept".to_owned();
        let stored = Json(serde_json::to_value(&document).expect("serialises"));
        assert_eq!(read_stored(&stored, "# A\n\nx\n"), document);
        assert_eq!(read_stored(&stored, "# A\n\ny\n"), parse("# A\n\ny\n"), "content wins");
    }

    #[test]
    fn twice_the_same_id_is_not_trusted() {
        let mut document = parse("x\n\ny\n");
        for block in &mut document.sections[0].blocks {
            block.id = "b1".to_owned();
        }
        let stored = Json(serde_json::to_value(&document).expect("serialises"));
        assert_eq!(read_stored(&stored, "x\n\ny\n"), parse("x\n\ny\n"));
    }

    #[test]
    fn foreign_structures_keep_ids_when_only_blank_lines_differ() {
        let stored = Json(json!({"version": 2, "sections": [
            {"id": "intro", "heading": "", "level": 2, "blocks": [{"id": "b1", "text": "lead"}]},
            {"id": "s", "heading": "A", "level": 1, "blocks": [{"id": "b2", "text": "x"}]},
        ]}));
        let read = read_stored(&stored, "lead\n\n\n# A\nx");
        assert_eq!(read.sections[1].blocks[0].id, "b2");
        assert_eq!(read.sections[0].level, 0);
        assert_eq!(read.render(), "lead\n\n# A\n\nx\n");
        assert_eq!(read_stored(&stored, "other\n"), parse("other\n"));
        assert_eq!(read_stored(&Json::default(), "z"), parse("z"));
    }
}
