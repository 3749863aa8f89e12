//! What of a document and its facts stands in a prompt: the document as JSON, whole or partly as an
//! outline, facts with handles and dates, the notes of the owner. Pure; nothing is ever cut in two.

use crate::models::refresh::plan::Plan;
use domain::delta::CitedOp;
use domain::document::{Document, Section};
use domain::model::{Citation, Guidance};
use domain::provenance::{Author, BlockOrigin, PERSON};
use domain::time::to_rfc3339;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;

/// Words of a block that an outline shows.
const OUTLINE_WORDS: usize = 12;

/// Marks on single blocks, by block id: what is put beside their text.
pub(super) type Marks = HashMap<String, Vec<(&'static str, Value)>>;

/// The document, with the sections of `outlined` as an outline.
pub(super) fn document(
    plan: &Plan,
    document: &Document,
    outlined: &HashSet<String>,
    marks: &Marks,
) -> Value {
    let sections: Vec<Value> = document
        .sections
        .iter()
        .map(|section| {
            if outlined.contains(&section.id) {
                outline(section)
            } else {
                whole(plan, section, marks)
            }
        })
        .collect();
    json!({ "sections": sections })
}

/// One section with all its text.
pub(super) fn whole(plan: &Plan, section: &Section, marks: &Marks) -> Value {
    let blocks: Vec<Value> = section
        .blocks
        .iter()
        .map(|block| {
            let mut shown = json!({ "id": block.id, "text": block.text.replace("\r\n", "\n") });
            if plan.origins.0.get(&block.id).is_some_and(is_persons) {
                shown["written_by"] = json!("a person");
            }
            for (key, value) in marks.get(&block.id).into_iter().flatten() {
                shown[*key] = value.clone();
            }
            shown
        })
        .collect();
    json!({
        "id": section.id,
        "heading": section.heading,
        "level": section.level,
        "blocks": blocks,
    })
}

/// One section by heading, ids and first words.
fn outline(section: &Section) -> Value {
    let blocks: Vec<Value> = section
        .blocks
        .iter()
        .map(|block| {
            let words: Vec<&str> = block.text.split_whitespace().take(OUTLINE_WORDS).collect();
            json!({ "id": block.id, "begins": words.join(" ") })
        })
        .collect();
    json!({
        "id": section.id,
        "heading": section.heading,
        "level": section.level,
        "outline": true,
        "blocks": blocks,
    })
}

/// Whether a person wrote the block or had a hand in it.
pub(super) fn is_persons(origin: &BlockOrigin) -> bool {
    origin.author == Author::Person || origin.sources.contains(PERSON)
}

/// One fact: what it says, when that happened and when it was said, and how it read before.
pub(super) fn fact(plan: &Plan, handle: &str, fact: &Citation) -> String {
    let mut about = fact.kind.clone();
    if let Some(at) = fact.occurred_start {
        let _ = write!(about, ", happened {}", to_rfc3339(at));
    }
    if let Some(at) = fact.mentioned_at {
        let _ = write!(about, ", mentioned {}", to_rfc3339(at));
    }
    let mut line = format!("{handle} ({about}): {}\n", fact.text);
    if let Some(was) = plan.cited_texts.get(&fact.id).filter(|was| **was != fact.text) {
        let _ = writeln!(line, "   was: {was}");
    }
    line
}

/// What the owner has said about the document.
pub(super) fn guidance_lines(guidance: &[Guidance]) -> Vec<String> {
    guidance
        .iter()
        .map(|entry| match entry {
            Guidance::Note { text, .. } => format!("- {text}"),
            Guidance::Declined { op_summary, note, .. } => {
                let why = note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
                format!("- A person decided not to make this change: {op_summary}{why}")
            }
        })
        .collect()
}

/// Short names of facts in a prompt.
#[derive(Debug, Clone, Default)]
pub(super) struct Handles(HashMap<String, String>);

impl Handles {
    /// Gives `ids` the names `f1`, `f2` and so on, beginning after `before` of them.
    pub(super) fn of<'a>(
        letter: char,
        before: usize,
        ids: impl IntoIterator<Item = &'a String>,
    ) -> Self {
        let named = ids.into_iter().zip(before + 1..);
        Self(named.map(|(id, n)| (format!("{letter}{n}"), id.clone())).collect())
    }

    /// Both sets of names.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The name of an id.
    pub(super) fn handle(&self, id: &str) -> Option<String> {
        self.0.iter().find(|(_, known)| *known == id).map(|(handle, _)| handle.clone())
    }

    pub(super) fn id(&self, handle: &str) -> Option<String> {
        self.0.get(handle.trim()).cloned()
    }

    pub(super) fn ids(&self, handles: &[String]) -> BTreeSet<String> {
        handles.iter().filter_map(|handle| self.id(handle)).collect()
    }

    /// The operation with real ids.
    pub(super) fn in_op(&self, op: CitedOp) -> CitedOp {
        op.with_facts(|handle| self.id(handle))
    }
}
