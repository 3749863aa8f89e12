//! What a question costs beside the language model: four turns with a model that answers at once,
//! over ten thousand facts; and the answer without a model over the same.

use engine::reflect;
use engine::view::reflect::ReflectInput;
use llm::scripted::{Scripted, Step};
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;
use tests::Fixture;

const FACTS: usize = 10_000;
const RUNS: usize = 9;

fn question(query: &str) -> ReflectInput {
    ReflectInput {
        query: query.to_owned(),
        budget: None,
        max_tokens: None,
        tags: None,
        tags_match: None,
        fact_types: None,
        exclude_mental_models: false,
        response_schema: None,
    }
}

/// Ten thousand facts about cranes, docks and people.
async fn fill(fixture: &Fixture) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("facts.jsonl");
    let things = ["crane", "dock", "ferry", "winch", "signal", "buoy", "tug", "barge"];
    let people = ["Mira", "Jonas", "Edda", "Tomas", "Ilse", "Bram"];
    let lines: Vec<String> = (0..FACTS)
        .map(|n| {
            let (thing, person) = (things[n % things.len()], people[n % people.len()]);
            let day = 1 + n % 28;
            let text = format!("{person} inspected {thing} {n} at berth {} and noted {}.", n % 97, n % 13);
            json!({"text": text, "entities": [person], "occurred_start": format!("2026-01-{day:02}T08:00:00Z")})
                .to_string()
        })
        .collect();
    std::fs::write(&path, lines.join("\n")).unwrap();
    let files = engine::view::memory::ImportFiles {
        paths: vec![path.display().to_string()],
        tags: Vec::new(),
        mode: None,
    };
    engine::memory::import(&fixture.engine, &fixture.bank, files).await.unwrap();
    fixture.run_queue().await;
}

#[allow(clippy::disallowed_methods, reason = "a measurement")]
async fn median(fixture: &Fixture, label: &str) -> u128 {
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let start = Instant::now();
        let input = question("Which crane did Mira inspect at berth 12?");
        let view =
            reflect::ask(&fixture.engine, &fixture.bank, input, &mut engine::events::NoSink).await;
        view.unwrap();
        times.push(start.elapsed().as_micros());
    }
    times.sort_unstable();
    let middle = times[RUNS / 2];
    println!("{label}: median {middle} µs of {RUNS}, from {} to {}", times[0], times[RUNS - 1]);
    middle
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: run in release on a quiet machine"]
async fn four_turns_cost_at_most_sixty_milliseconds() {
    let steps = (0..RUNS).flat_map(|_| {
        [
            Step::call("search_observations", json!({"query": "crane berth"})),
            Step::call("recall", json!({"query": "Mira crane berth 12"})),
            Step::call("recall", json!({"query": "crane inspection Mira"})),
            Step::call("done", json!({"answer": "Several.", "memory_ids": ["f1"]})),
        ]
    });
    let fixture = Fixture::scripted(Arc::new(Scripted::new(steps))).await;
    fill(&fixture).await;
    let middle = median(&fixture, "four turns over 10,000 facts").await;
    assert!(middle <= 60_000, "{middle} µs");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: run in release on a quiet machine"]
async fn an_answer_without_a_model_takes_at_most_sixty_milliseconds() {
    let fixture = Fixture::new().await;
    fill(&fixture).await;
    let middle = median(&fixture, "an extractive answer over 10,000 facts").await;
    assert!(middle <= 60_000, "{middle} µs");
}
