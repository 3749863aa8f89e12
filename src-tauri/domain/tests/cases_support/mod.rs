//! Finding and checking the files of test cases. A file of cases is `{about, cases: [{id, ...}]}`.
//! They are read from the folder that `CASES_DIR` names, else from the repository's own.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::collections::HashSet;
use std::path::PathBuf;

use serde_json::{Map, Value};

fn folder() -> PathBuf {
    match std::env::var_os("CASES_DIR") {
        Some(folder) => folder.into(),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases")),
    }
}

/// Runs every case of every file whose name holds `stem` (`stem.json`, `stem_more.json`).
/// A case may only have the keys named here, so that a rule nobody checks cannot pass unseen.
pub(crate) fn run_cases(stem: &str, known_keys: &[&str], run: impl Fn(&Case)) {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .expect("the folder of cases")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.contains(stem) && name.ends_with(".json")
        })
        .collect();
    files.sort();
    if files.is_empty() && std::env::var_os("CASES_DIR").is_some() {
        return;
    }
    assert!(!files.is_empty(), "no file of {stem} cases");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a readable file");
        let content: Value = serde_json::from_str(&text).expect("JSON");
        let cases = content["cases"].as_array().expect("a list of cases");
        let mut seen = HashSet::new();
        for case in cases {
            let object = case.as_object().expect("a case is an object");
            let id = object["id"].as_str().expect("a case has an id");
            assert!(seen.insert(id.to_owned()), "{id}: the id is there twice");
            for key in object.keys() {
                assert!(
                    known_keys.contains(&key.as_str()) || ["id", "note"].contains(&key.as_str()),
                    "{id}: nobody checks the key {key}"
                );
            }
            run(&Case { id: id.to_owned(), object: object.clone() });
        }
        assert_eq!(seen.len(), cases.len(), "{}: every case was run", file.display());
    }
}

/// One case.
pub(crate) struct Case {
    /// Its id, for messages.
    pub(crate) id: String,
    object: Map<String, Value>,
}

impl Case {
    /// A key, if the case has it.
    pub(crate) fn find(&self, key: &str) -> Option<&Value> {
        self.object.get(key)
    }

    /// A key that the case must have.
    pub(crate) fn get(&self, key: &str) -> &Value {
        self.find(key).unwrap_or_else(|| panic!("{}: no key {key}", self.id))
    }

    /// A text that the case must have.
    pub(crate) fn text(&self, key: &str) -> &str {
        self.get(key).as_str().unwrap_or_else(|| panic!("{}: {key} is no text", self.id))
    }

    /// A list that the case must have.
    pub(crate) fn list(&self, key: &str) -> &[Value] {
        self.get(key).as_array().unwrap_or_else(|| panic!("{}: {key} is no list", self.id))
    }
}

/// A list of texts.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().expect("a list");
    list.iter().map(|item| item.as_str().expect("a text").to_owned()).collect()
}

/// `$<n>` anywhere in a value, as the id of the n-th block.
pub(crate) fn with_block_ids(value: &Value, document: &domain::document::Document) -> Value {
    match value {
        Value::String(text) => Value::String(block_id(text, document)),
        Value::Array(list) => list.iter().map(|item| with_block_ids(item, document)).collect(),
        Value::Object(object) => object
            .iter()
            .map(|(key, item)| {
                let names_ids = key.ends_with("id") || key.ends_with("ids");
                let item = if names_ids || item.is_object() || item.is_array() && key != "blocks" {
                    with_block_ids(item, document)
                } else {
                    item.clone()
                };
                (key.clone(), item)
            })
            .collect(),
        other => other.clone(),
    }
}

fn block_id(text: &str, document: &domain::document::Document) -> String {
    let number = text.strip_prefix('$').and_then(|number| number.parse::<usize>().ok());
    match number {
        None => text.to_owned(),
        Some(number) => document.blocks().nth(number).expect("the block is there").id.clone(),
    }
}

/// Whether every key of `wanted` is in `got` with the same value; objects within are compared the
/// same way.
pub(crate) fn assert_subset(wanted: &Value, got: &Value, at: &str) {
    match (wanted, got) {
        (Value::Object(wanted), Value::Object(got)) => {
            for (key, value) in wanted {
                let place = format!("{at}.{key}");
                let got = got.get(key).unwrap_or_else(|| panic!("{place} is missing"));
                assert_subset(value, got, &place);
            }
        }
        _ => assert_eq!(wanted, got, "{at}"),
    }
}
