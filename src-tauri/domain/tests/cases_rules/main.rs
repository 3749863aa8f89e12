//! The cases of tags, triggers, scopes, staleness, the decisions of a refresh, the queue and
//! response schemas. They are read from the folder that `CASES_DIR` names, else from the
//! repository's own.

mod queue;
mod refreshes;
mod requests;
mod schemas;
mod staleness;
mod tags;

use std::collections::HashSet;
use std::path::PathBuf;

use serde_json::{Map, Value};

/// The files whose cases run here. A file belongs to the longest of these names that it holds, so
/// `tags_scope_more.json` is no file of `tags`.
const NAMES: [&str; 8] = [
    "tags",
    "tag_groups",
    "tags_scope",
    "triggers",
    "staleness",
    "refresh_decision",
    "schedule",
    "reflect_schema",
];

/// The contents of every file of a name.
fn files(name: &str) -> Vec<Value> {
    let given = std::env::var_os("CASES_DIR");
    let folder = given.clone().map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases")),
        PathBuf::from,
    );
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder of cases")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .filter(|path| {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let owner = NAMES.iter().filter(|known| stem.contains(*known)).max_by_key(|n| n.len());
            owner == Some(&name)
        })
        .collect();
    paths.sort();
    assert!(given.is_some() || !paths.is_empty(), "no file of {name} cases");
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).expect("a readable file");
        serde_json::from_str(&text).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()))
    };
    paths.iter().map(read).collect()
}

/// One case, with the file it stands in.
struct Case<'a> {
    id: &'a str,
    map: &'a Map<String, Value>,
    file: &'a Value,
}

/// Runs every case of every file of a name and says how many ran. A case may only hold the keys
/// named, so that a rule nobody checks cannot pass unseen.
fn run(name: &str, id_key: &str, keys: &[&str], check: impl Fn(&Case<'_>)) {
    for file in files(name) {
        let cases = file["cases"].as_array().expect("a list of cases");
        let mut seen = HashSet::new();
        for case in cases {
            let map = case.as_object().expect("a case is an object");
            let id = map[id_key].as_str().expect("a case has an id");
            assert!(seen.insert(id.to_owned()), "{id} is there twice");
            only(id, map, &[keys, &[id_key, "note"]].concat());
            check(&Case { id, map, file: &file });
        }
        assert_eq!(seen.len(), cases.len(), "every case of {name} ran");
    }
}

/// Fails on a key that nobody checks.
fn only(id: &str, map: &Map<String, Value>, keys: &[&str]) {
    for key in map.keys() {
        assert!(keys.contains(&key.as_str()), "{id}: nobody checks the key {key}");
    }
}

impl Case<'_> {
    fn find(&self, key: &str) -> Option<&Value> {
        self.map.get(key)
    }

    fn get(&self, key: &str) -> &Value {
        self.find(key).unwrap_or_else(|| panic!("{}: no key {key}", self.id))
    }

    fn list(&self, key: &str) -> &[Value] {
        self.get(key).as_array().unwrap_or_else(|| panic!("{}: {key} is no list", self.id))
    }

    fn object(&self, key: &str) -> &Map<String, Value> {
        self.get(key).as_object().unwrap_or_else(|| panic!("{}: {key} is no object", self.id))
    }
}

/// A list of texts; null is an empty one.
fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().into_iter().flatten();
    list.map(|item| item.as_str().expect("a text").to_owned()).collect()
}

/// Whether everything in `wanted` is in `got`: objects by their keys, lists item by item.
fn assert_subset(wanted: &Value, got: &Value, place: &str) {
    match (wanted, got) {
        (Value::Object(wanted), Value::Object(got)) => {
            for (key, value) in wanted {
                let place = format!("{place}.{key}");
                let got = got.get(key).unwrap_or_else(|| panic!("{place} is missing"));
                assert_subset(value, got, &place);
            }
        }
        (Value::Array(wanted), Value::Array(got)) if wanted.len() == got.len() => {
            for (i, (wanted, got)) in wanted.iter().zip(got).enumerate() {
                assert_subset(wanted, got, &format!("{place}[{i}]"));
            }
        }
        _ => assert_eq!(wanted, got, "{place}"),
    }
}
