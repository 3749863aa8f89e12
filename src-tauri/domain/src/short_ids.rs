//! Short names for rows shown to a language model: `f1` instead of 36 characters. They save most of
//! a prompt and make invented ids easy to spot. Outside the conversation only real ids exist.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::citations::ID_KEYS;

/// What a short name stands for; its first letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ShortKind {
    /// `f`: a world or experience fact.
    Fact,
    /// `o`: an observation.
    Observation,
    /// `m`: a mental model.
    Model,
    /// `c`: a chunk.
    Chunk,
}

impl ShortKind {
    fn letter(self) -> char {
        match self {
            Self::Fact => 'f',
            Self::Observation => 'o',
            Self::Model => 'm',
            Self::Chunk => 'c',
        }
    }
}

/// The short names of one run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ShortIds {
    by_id: HashMap<String, String>,
    by_alias: HashMap<String, String>,
    counts: HashMap<ShortKind, usize>,
}

impl ShortIds {
    /// The short name of an id; it is made at the first call and stays.
    pub fn alias(&mut self, kind: ShortKind, id: &str) -> String {
        if let Some(alias) = self.by_id.get(id) {
            return alias.clone();
        }
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        let alias = format!("{}{count}", kind.letter());
        self.by_id.insert(id.to_owned(), alias.clone());
        self.by_alias.insert(alias.clone(), id.to_owned());
        alias
    }

    /// The short name of an id that was already shown.
    #[must_use]
    pub fn known(&self, id: &str) -> Option<&str> {
        self.by_id.get(id).map(String::as_str)
    }

    /// The real id behind a whole string; what is no short name stays as it is.
    #[must_use]
    pub fn real<'a>(&'a self, text: &'a str) -> &'a str {
        self.by_alias.get(text.trim()).map_or(text, String::as_str)
    }

    /// Arguments of `done` or `expand` with real ids in the places where ids belong: the id lists,
    /// `claims[].ids`, and the evidence of a document's blocks. No other text is touched.
    #[must_use]
    pub fn with_real_ids(&self, mut args: Map<String, Value>) -> Map<String, Value> {
        for key in ID_KEYS {
            self.replace(args.get_mut(key));
        }
        for claim in items(args.get_mut("claims")) {
            self.replace(claim.get_mut("ids"));
        }
        let sections = args.get_mut("document").and_then(|document| document.get_mut("sections"));
        for section in items(sections) {
            for block in items(section.get_mut("blocks")) {
                self.replace(block.get_mut("evidence"));
            }
        }
        args
    }

    fn replace(&self, value: Option<&mut Value>) {
        match value {
            Some(Value::String(text)) => *text = self.real(text).to_owned(),
            Some(Value::Array(list)) => {
                for item in list {
                    if let Value::String(text) = item {
                        *text = self.real(text).to_owned();
                    }
                }
            }
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {}
        }
    }
}

fn items(value: Option<&mut Value>) -> &mut [Value] {
    value.and_then(Value::as_array_mut).map(Vec::as_mut_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_stay_and_only_whole_strings_are_mapped_back() {
        let mut names = ShortIds::default();
        assert_eq!(names.alias(ShortKind::Fact, "uuid-a"), "f1");
        assert_eq!(names.alias(ShortKind::Observation, "uuid-b"), "o1");
        assert_eq!(names.alias(ShortKind::Fact, "uuid-c"), "f2");
        assert_eq!(names.alias(ShortKind::Fact, "uuid-a"), "f1");
        assert_eq!(names.real(" f2 "), "uuid-c");
        assert_eq!(names.real("f22"), "f22");
        let args = json!({
            "answer": "f1",
            "memory_ids": ["f1", "o1", 3, "see f1"],
            "claims": [{"quote": "f1", "ids": ["f2"]}, 4],
            "document": {"sections": [{"blocks": [{"text": "f1", "evidence": ["o1"]}, "f1"]}]},
        });
        let mapped = names.with_real_ids(args.as_object().cloned().unwrap_or_default());
        assert_eq!(
            Value::Object(mapped),
            json!({
                "answer": "f1",
                "memory_ids": ["uuid-a", "uuid-b", 3, "see f1"],
                "claims": [{"quote": "f1", "ids": ["uuid-c"]}, 4],
                "document":
                    {"sections": [{"blocks": [{"text": "f1", "evidence": ["uuid-b"]}, "f1"]}]},
            })
        );
    }
}
