//! The cases of parsing documents, applying delta operations and reading a model's answer.

mod cases_support;

use cases_support::{Case, assert_subset, run_cases, texts, with_block_ids};
use domain::delta::{OpKind, Rules, apply_operations, parse_operations, read_ops};
use domain::document::{Document, parse};
use serde_json::{Value, json};

#[test]
fn structured_documents() {
    run_cases("structured_doc", &["input", "sections", "block_ids"], |case| {
        let input = case.text("input");
        let document = parse(input);
        assert_eq!(document.render(), input, "{}: round trip", case.id);
        assert_eq!(&shape(&document), case.get("sections"), "{}", case.id);
        if let Some(ids) = case.find("block_ids") {
            let got: Vec<String> = document.blocks().map(|block| block.id.clone()).collect();
            assert_eq!(got, texts(ids), "{}", case.id);
        }
    });
}

fn shape(document: &Document) -> Value {
    document
        .sections
        .iter()
        .map(|section| {
            json!({
                "id": section.id,
                "heading": section.heading,
                "level": section.level,
                "blocks": section.blocks.iter().map(|b| b.text.as_str()).collect::<Vec<_>>(),
            })
        })
        .collect()
}

#[test]
fn delta_operations() {
    run_cases("delta_ops", &["doc", "ops", "results", "render", "allow", "locks"], |case| {
        let base = parse(case.text("doc"));
        let ops = with_block_ids(case.get("ops"), &base);
        let ops = read_ops(ops.as_array().expect("a list of operations"));
        let applied = apply_operations(&base, &ops, &rules(case, &base));
        assert_eq!(applied.document.render(), case.text("render"), "{}", case.id);
        let wanted = case.list("results");
        assert_eq!(applied.results.len(), wanted.len(), "{}", case.id);
        for (wanted, got) in wanted.iter().zip(&applied.results) {
            let wanted = with_block_ids(wanted, &base);
            let got = serde_json::to_value(got).expect("serialises");
            assert_subset(&wanted, &got, &case.id);
        }
        assert!(parse(case.text("render")).same_shape(&applied.document), "{}: shape", case.id);
    });
}

fn rules(case: &Case, base: &Document) -> Rules {
    let allow = case.find("allow").map(|words| {
        let kind = |word: &String| OpKind::from_word(word).expect("a known operation");
        texts(words).iter().map(kind).collect()
    });
    let locks = case.find("locks").map(|locks| texts(&with_block_ids(locks, base)));
    Rules { allow, locks: locks.into_iter().flatten().collect(), ..Rules::default() }
}

#[test]
fn answers() {
    let keys = ["raw", "ok", "ops", "skipped", "error", "truncated", "texts"];
    run_cases("delta_parse", &keys, |case| {
        let ok = case.get("ok").as_bool().expect("ok is a boolean");
        let answer = match parse_operations(case.text("raw")) {
            Err(error) => {
                assert!(!ok, "{}: {error}", case.id);
                assert_eq!(error.word(), case.text("error"), "{}", case.id);
                return;
            }
            Ok(answer) => answer,
        };
        assert!(ok, "{}: it should be refused", case.id);
        let valid: Vec<_> = answer.ops.iter().filter_map(|op| op.body.as_ref().ok()).collect();
        if let Some(ops) = case.find("ops") {
            let kinds: Vec<_> = valid.iter().map(|op| op.op.kind().word().to_owned()).collect();
            assert_eq!(kinds, texts(ops), "{}", case.id);
        }
        if let Some(skipped) = case.find("skipped") {
            let faults = answer.ops.iter().filter_map(|op| op.body.as_ref().err());
            let faults: Vec<String> = faults.map(ToString::to_string).collect();
            assert_eq!(faults, texts(skipped), "{}", case.id);
        }
        if let Some(wanted) = case.find("texts") {
            let got: Vec<String> = valid.iter().map(|op| op.op.text()).collect();
            assert_eq!(got, texts(wanted), "{}", case.id);
        }
        let truncated = case.find("truncated").and_then(Value::as_bool).unwrap_or(false);
        assert_eq!(answer.truncated, truncated, "{}", case.id);
    });
}
