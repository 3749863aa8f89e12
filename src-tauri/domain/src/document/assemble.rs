//! A document from the sections that a model answered with. Odd answers are coerced, never refused:
//! what cannot be a heading or a block is dropped, and a fence left open is closed, so that one
//! careless block cannot swallow the rest of the page.

use serde_json::Value;

use super::scan::{Kind, Scanner, clean_heading, left_open, lines};
use super::{Document, LineEnd, parse};

/// A section of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DraftSection {
    /// Without hashes; empty when the blocks carry on without a heading.
    pub heading: String,
    /// 1 to 6.
    pub level: u8,
    /// In reading order.
    pub blocks: Vec<DraftBlock>,
}

/// A block of an answer: one fragment of markdown and the handles or ids of its facts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DraftBlock {
    /// Markdown.
    pub text: String,
    /// What the block rests on, as the answer named it.
    pub evidence: Vec<String>,
}

/// A document built from an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assembled {
    /// With fresh ids.
    pub document: Document,
    /// Block id and evidence, in reading order; blocks without evidence are left out. The parts of
    /// a draft block that turned out to be several blocks all have its evidence.
    pub evidence: Vec<(String, Vec<String>)>,
}

/// Level of a section that states none.
const DEFAULT_LEVEL: u8 = 2;

/// Reads `{"sections": [...]}` or a bare list of sections: hashes are stripped from headings, levels
/// clamped, blocks taken from strings, numbers or `{text, evidence}`, blank ones dropped, and
/// sections with neither heading nor blocks dropped.
#[must_use]
pub fn coerce_sections(answer: &Value) -> Vec<DraftSection> {
    let list = answer.get("sections").unwrap_or(answer);
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .map(|section| DraftSection {
            heading: section.get("heading").map(|v| one_line(&as_text(v))).unwrap_or_default(),
            level: section.get("level").map_or(DEFAULT_LEVEL, as_level),
            blocks: section.get("blocks").map(as_blocks).unwrap_or_default(),
        })
        .filter(|section| !section.heading.is_empty() || !section.blocks.is_empty())
        .collect()
}

/// Puts sections together with one blank line between elements and one final line end, then
/// parses. A heading line inside a block simply becomes a section.
#[must_use]
pub fn assemble(sections: &[DraftSection], line_end: LineEnd) -> Assembled {
    let mut page = Page::default();
    for section in sections {
        let heading = clean_heading(&section.heading);
        if !heading.is_empty() {
            let hashes = "#".repeat(usize::from(section.level.clamp(1, 6)));
            page.add(&format!("{hashes} {heading}"), &[]);
        }
        for block in &section.blocks {
            page.add(&whole_block(&block.text), &block.evidence);
        }
    }
    let document = parse(&line_end.write(&page.text));
    // Ids do not depend on the line end, so places are looked up in the LF form.
    let evidence = page.evidence_of_blocks(&parse(&page.text));
    Assembled { document, evidence }
}

/// The text under construction, and which evidence belongs to what ends where.
#[derive(Default)]
struct Page {
    text: String,
    /// End of a part in `text`, and its evidence.
    parts: Vec<(usize, Vec<String>)>,
}

impl Page {
    fn add(&mut self, part: &str, evidence: &[String]) {
        if part.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(part);
        self.text.push('\n');
        self.parts.push((self.text.len(), evidence.to_vec()));
    }

    fn evidence_of_blocks(&self, document: &Document) -> Vec<(String, Vec<String>)> {
        let mut at = document.lead.len();
        let mut found = Vec::new();
        for section in &document.sections {
            at += section.raw.len() + section.gap.len();
            for block in &section.blocks {
                let part = self.parts.partition_point(|(end, _)| *end <= at);
                if let Some((_, evidence)) = self.parts.get(part).filter(|(_, e)| !e.is_empty()) {
                    found.push((block.id.clone(), evidence.clone()));
                }
                at += block.text.len() + block.gap.len();
            }
        }
        found
    }
}

/// A block's text with LF, without blank lines around it, and with whatever it left open closed.
fn whole_block(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut scanner = Scanner::default();
    let all: Vec<(bool, &str)> =
        lines(&text).map(|line| (scanner.classify(line.text) == Kind::Blank, line.text)).collect();
    let Some(first) = all.iter().position(|(blank, _)| !blank) else { return String::new() };
    let last = all.iter().rposition(|(blank, _)| !blank).unwrap_or(first);
    let mut body: Vec<&str> = all[first..=last].iter().map(|(_, line)| *line).collect();
    let closing = left_open(&text);
    body.extend(closing.as_deref());
    body.join("\n")
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

fn one_line(text: &str) -> String {
    clean_heading(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn as_level(value: &Value) -> u8 {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    number.map_or(DEFAULT_LEVEL, clamp_level)
}

/// A heading level from any number: rounded down, held within 1 to 6.
pub(crate) fn clamp_level(number: f64) -> u8 {
    (1..=6).rev().find(|level| f64::from(*level) <= number).unwrap_or(1)
}

fn as_blocks(value: &Value) -> Vec<DraftBlock> {
    match value {
        Value::Array(items) => items.iter().filter_map(as_block).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            as_block(value).into_iter().collect()
        }
    }
}

fn as_block(value: &Value) -> Option<DraftBlock> {
    let (text, evidence) = match value.as_object().filter(|object| object.contains_key("text")) {
        Some(object) => (
            object.get("text").map(as_text).unwrap_or_default(),
            object.get("evidence").and_then(Value::as_array).map(|list| {
                list.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
            }),
        ),
        None => (as_text(value), None),
    };
    let text = whole_block(&text);
    (!text.is_empty()).then(|| DraftBlock { text, evidence: evidence.unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn odd_answers_are_coerced() {
        let sections = coerce_sections(&json!({"sections": [
            {"heading": "## Tools ##", "level": 9, "blocks": ["a\n\n", 3, " ", {"text": "```\nx"}]},
            {"heading": "", "blocks": []},
            "stray",
            {"heading": "Two\nlines", "blocks": "alone"},
        ]}));
        let built = assemble(&sections, LineEnd::Lf);
        assert_eq!(
            built.document.render(),
            "###### Tools\n\na\n\n3\n\n```\nx\n```\n\n## Two lines\n\nalone\n"
        );
    }

    #[test]
    fn evidence_follows_every_part_of_a_block() {
        let sections = coerce_sections(&json!([{"heading": "A", "blocks": [
            {"text": "one\n\ntwo", "evidence": ["f1"]},
            {"text": "three"},
            {"text": "four", "evidence": ["f2"]},
        ]}]));
        let built = assemble(&sections, LineEnd::CrLf);
        let texts: Vec<(&str, &str)> = built
            .evidence
            .iter()
            .map(|(id, e)| (built.document.block(id).expect("placed").1.text.as_str(), &*e[0]))
            .collect();
        assert_eq!(texts, [("one", "f1"), ("two", "f1"), ("four", "f2")]);
        assert!(built.document.render().ends_with("four\r\n"));
    }
}
