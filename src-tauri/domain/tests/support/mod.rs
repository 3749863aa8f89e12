//! Runs files of cases: from the folder that `CASES_DIR` names, else from `tests/cases` of the
//! repository. Every case is run and every failure told, not only the first.

#![allow(dead_code, reason = "each runner uses a part of this")]

use std::path::PathBuf;

use chrono::{NaiveDate, NaiveDateTime};
use domain::Instant;
use serde_json::Value;

/// The files whose name starts with `stem`, with their text. In the repository there is one; a
/// folder given from outside may hold more, or none.
pub(crate) fn files(stem: &str) -> Vec<(String, String)> {
    let folder = std::env::var_os("CASES_DIR").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases")),
        PathBuf::from,
    );
    let entries = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", folder.display()));
    let mut files: Vec<(String, String)> = entries
        .map(|entry| entry.expect("a folder entry").path())
        .filter_map(|path| {
            let name = path.file_name()?.to_str()?.to_owned();
            (name.starts_with(stem) && name.ends_with(".json")).then(|| {
                let text = std::fs::read_to_string(&path).expect("a readable file of cases");
                (name, text)
            })
        })
        .collect();
    files.sort();
    assert!(
        !files.is_empty() || std::env::var_os("CASES_DIR").is_some(),
        "no file {stem}*.json in {}",
        folder.display()
    );
    files
}

/// Runs `check` on every case of every file of a stem. `check` gets the whole file and one case and
/// says what went wrong. In the repository the number of cases must be `count`.
pub(crate) fn run(stem: &str, count: usize, check: impl Fn(&Value, &Value) -> Result<(), String>) {
    let mut seen = 0;
    let mut wrong = Vec::new();
    for (name, text) in files(stem) {
        let file: Value = serde_json::from_str(&text).expect("a file of cases is JSON");
        let cases = file["cases"].as_array().unwrap_or_else(|| panic!("{name} has no cases"));
        assert!(!cases.is_empty(), "{name} has no cases");
        for case in cases {
            seen += 1;
            if let Err(problem) = check(&file, case) {
                wrong.push(format!("{name}: {}: {problem}", label(case)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {seen} cases fail:\n{}", wrong.len(), wrong.join("\n"));
    if std::env::var_os("CASES_DIR").is_none() {
        assert_eq!(seen, count, "number of cases in {stem}*.json");
    }
}

fn label(case: &Value) -> &str {
    case["id"].as_str().or_else(|| case["name"].as_str()).unwrap_or("?")
}

/// Equal, with numbers compared to six digits after the point.
pub(crate) fn same(got: &Value, want: &Value) -> Result<(), String> {
    if near(got, want) { Ok(()) } else { Err(format!("got {got}, want {want}")) }
}

fn near(got: &Value, want: &Value) -> bool {
    match (got, want) {
        (Value::Number(got), Value::Number(want)) => match (got.as_f64(), want.as_f64()) {
            (Some(got), Some(want)) => (got - want).abs() <= 1e-6,
            _ => got == want,
        },
        (Value::Array(got), Value::Array(want)) => {
            got.len() == want.len() && got.iter().zip(want).all(|(got, want)| near(got, want))
        }
        (Value::Object(got), Value::Object(want)) => {
            got.len() == want.len()
                && got.iter().all(|(key, got)| want.get(key).is_some_and(|want| near(got, want)))
        }
        _ => got == want,
    }
}

/// A list of texts; null and absent are empty.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    value
        .as_array()
        .map(|items| items.iter().map(|item| item.as_str().expect("text").to_owned()).collect())
        .unwrap_or_default()
}

/// A moment written as a day or as a day with a time, both taken as UTC; null is none.
pub(crate) fn moment(value: &Value) -> Result<Option<Instant>, String> {
    let Some(text) = value.as_str() else { return Ok(None) };
    let bare = text.trim_end_matches('Z');
    bare.parse::<NaiveDateTime>()
        .ok()
        .or_else(|| bare.parse::<NaiveDate>().ok().and_then(|day| day.and_hms_opt(0, 0, 0)))
        .map(|at| Some(at.and_utc()))
        .ok_or_else(|| format!("{text:?} is no moment"))
}
