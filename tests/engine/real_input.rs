//! Real input: the chapters of Debian's package `debian-history`, imported as files with nothing
//! configured, with the embedder that ships with the program. Prints the shares that it reaches.

use domain::BankId;
use engine::view::bank::NewBank;
use engine::view::memory::ImportFiles;
use engine::view::recall::RecallInput;
use engine::{Engine, memory};
use regex::RegexBuilder;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tests::{Fixture, Setup, vectors};

const CHAPTERS: [&str; 4] = ["intro", "leaders", "releases", "detailed"];

/// The chapters of one language.
fn chapters(language: &str) -> Vec<String> {
    let folder = Path::new("/usr/share/doc/debian-history/docs");
    let paths: Vec<_> =
        CHAPTERS.iter().map(|name| folder.join(format!("{name}.{language}.html"))).collect();
    for path in &paths {
        assert!(
            path.exists(),
            "{} is missing; install it: apt install debian-history",
            path.display()
        );
    }
    paths.into_iter().map(|path| path.display().to_string()).collect()
}

/// A bank with the chapters of one language.
pub(super) async fn imported(engine: &Engine, language: &str) -> BankId {
    let new = NewBank { name: format!("History {language}"), id: None };
    let bank = engine::banks::create(engine, new).await.unwrap().id;
    let input = ImportFiles { paths: chapters(language), tags: Vec::new(), mode: None };
    memory::import(engine, &bank, input).await.unwrap();
    engine::ops::run_pending(engine).await.unwrap();
    let documents = memory::documents(engine, &bank).await.unwrap();
    assert_eq!(documents.len(), CHAPTERS.len());
    assert!(documents.iter().all(|document| document.facts > 0));
    bank
}

/// Whether every pattern stands in the texts of the first ten hits.
async fn finds(engine: &Engine, bank: &BankId, case: &Value) -> bool {
    let input: RecallInput =
        serde_json::from_value(json!({"query": case["question"], "max_tokens": 32_768})).unwrap();
    let found = memory::recall(engine, bank, input).await.unwrap();
    let texts: Vec<String> = found
        .hits
        .into_iter()
        .take(10)
        .map(|hit| hit.memory.text.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let texts = texts.join("\n");
    case["want"].as_array().unwrap().iter().all(|pattern| {
        let pattern = RegexBuilder::new(pattern.as_str().unwrap()).case_insensitive(true).build();
        pattern.unwrap().is_match(&texts)
    })
}

/// The share of cases found, with the ids of the others.
async fn share(
    engine: &Engine,
    banks: &BTreeMap<String, BankId>,
    cases: &[Value],
) -> (f64, Vec<String>) {
    if cases.is_empty() {
        return (1.0, Vec::new());
    }
    let mut missed = Vec::new();
    for case in cases {
        let bank = &banks[case["import"].as_str().unwrap_or("en")];
        if !finds(engine, bank, case).await {
            missed.push(case["id"].as_str().unwrap().to_owned());
        }
    }
    #[allow(clippy::cast_precision_loss)]
    let share = (cases.len() - missed.len()) as f64 / cases.len() as f64;
    (share, missed)
}

#[tokio::test]
async fn recall_finds_what_the_chapters_say() {
    let setup = Setup { embedder: Some(tests::bundled()), ..Setup::default() };
    let fixture = Fixture::with(setup).await;
    let english: Vec<Value> = vectors("retrieval_debian_history")
        .into_iter()
        .filter(|case| case["none"] != json!(true))
        .collect();
    let many = vectors("retrieval_languages");
    let mut languages: BTreeSet<&str> =
        many.iter().filter_map(|case| case["import"].as_str()).collect();
    languages.insert("en");
    let mut banks = BTreeMap::new();
    for language in languages {
        banks.insert(language.to_owned(), imported(&fixture.engine, language).await);
    }
    let (first, missed) = share(&fixture.engine, &banks, &english).await;
    println!("recall over the English chapters: {first:.3}, missed {missed:?}");
    let mut by_pair: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for case in &many {
        let pair = format!("{} on {}", case["language"], case["import"]);
        by_pair.entry(pair).or_default().push(case.clone());
    }
    for (pair, cases) in by_pair {
        let (share, missed) = share(&fixture.engine, &banks, &cases).await;
        println!("{pair}: {share:.2}, missed {missed:?}");
    }
    let (second, _) = share(&fixture.engine, &banks, &many).await;
    println!("recall over all languages: {second:.3}");
    assert!(first >= 0.9, "English chapters: {first}");
    assert!(second >= 0.85, "several languages: {second}");
}
