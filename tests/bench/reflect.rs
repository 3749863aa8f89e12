//! What a question costs beside the language model: turns with a model that answers at once, over
//! ten thousand memories; and the answer without a model over the same.

use crate::corpus;
use crate::measure::{Samples, against, bar};
use crate::memory::{AsLongAsTheModel, MEMORIES, bank};
use embed::{Cached, Hash};
use engine::models;
use engine::reflect;
use engine::view::model::{NewModel, ReviewMode};
use engine::view::reflect::ReflectInput;
use llm::scripted::{Scripted, Step};
use serde_json::json;
use std::sync::Arc;
use tests::{Fixture, Setup};

const RUNS: usize = 40;
/// Runs before the measured ones.
const WARM: usize = 3;

fn question(query: &str) -> ReflectInput {
    ReflectInput { query: query.to_owned(), ..ReflectInput::default() }
}

/// The turns of one run; `queries` are those of its searches.
fn turns(queries: [&str; 3], five: bool) -> Vec<Step> {
    let [a, b, c] = queries.map(|query| json!({ "query": query }));
    let mut steps = vec![
        Step::call(if five { "search_mental_models" } else { "search_observations" }, a),
        Step::call(if five { "search_observations" } else { "recall" }, b),
        Step::call("recall", c),
    ];
    if five {
        steps.push(Step::call("expand", json!({ "memory_ids": ["f1"], "depth": "document" })));
    }
    steps.push(Step::call("done", json!({ "answer": "Several.", "memory_ids": ["f1"] })));
    steps
}

/// Runs of questions, each with three searches, `fresh` with queries that no run had before.
async fn runs(five: bool, fresh: bool, samples: &mut Samples) {
    let queries = corpus::questions(MEMORIES, (WARM + RUNS) * 3, 31);
    let of_run = |run: usize| {
        let at = if fresh { run * 3 } else { 0 };
        [queries[at].as_str(), queries[at + 1].as_str(), queries[at + 2].as_str()]
    };
    let steps: Vec<Step> = (0..WARM + RUNS).flat_map(|run| turns(of_run(run), five)).collect();
    let embedder: Arc<dyn embed::Embedder> =
        if fresh { AsLongAsTheModel::cached() } else { Arc::new(Cached::new(Hash::new())) };
    let setup = Setup {
        embedder: Some(embedder),
        llm: Some(Arc::new(Scripted::new(steps))),
        ..Setup::default()
    };
    let fixture = bank(setup).await;
    if five {
        some_models(&fixture).await;
    }
    for run in 0..WARM + RUNS {
        // The question is that of the first search: the program asks for it once.
        let input = question(of_run(run)[0]);
        let mut sink = engine::events::NoSink;
        let asked = reflect::ask(&fixture.engine, &fixture.bank, input, &mut sink);
        if run < WARM {
            asked.await.unwrap()
        } else {
            samples.time(asked).await.unwrap()
        };
    }
}

/// Twenty models with a document each.
async fn some_models(fixture: &Fixture) {
    for (n, name) in corpus::questions(MEMORIES, 20, 77).into_iter().enumerate() {
        let new = NewModel {
            id: Some(format!("model-{n}")),
            name: name.clone(),
            source_query: name.clone(),
            tags: Vec::new(),
            max_tokens: None,
            trigger: None,
            review: Some(ReviewMode::Auto),
            content: Some(format!("# {name}\n\nNothing was written about this yet.\n")),
        };
        models::create(&fixture.engine, &fixture.bank, new).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn four_turns_with_vectors_at_hand() {
    let mut samples = Samples::default();
    runs(false, false, &mut samples).await;
    samples.report("reflect, four turns, 10,000 memories, vectors cached", against(30.0, 271.0));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn four_turns_with_vectors_to_be_made() {
    let mut samples = Samples::default();
    runs(false, true, &mut samples).await;
    samples
        .report("reflect, four turns, 10,000 memories, three vectors made", against(45.0, 271.0));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn five_turns_with_vectors_at_hand() {
    let mut samples = Samples::default();
    runs(true, false, &mut samples).await;
    samples.report("reflect, five turns, 10,000 memories, vectors cached", against(30.0, 271.0));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn five_turns_with_vectors_to_be_made() {
    let mut samples = Samples::default();
    runs(true, true, &mut samples).await;
    samples
        .report("reflect, five turns, 10,000 memories, three vectors made", against(45.0, 271.0));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn an_answer_without_a_model() {
    let embedder: Arc<dyn embed::Embedder> = Arc::new(Cached::new(Hash::new()));
    let fixture = bank(Setup { embedder: Some(embedder), ..Setup::default() }).await;
    let queries = corpus::questions(MEMORIES, WARM + RUNS, 31);
    let mut samples = Samples::default();
    for (run, query) in queries.iter().enumerate() {
        let mut sink = engine::events::NoSink;
        let asked = reflect::ask(&fixture.engine, &fixture.bank, question(query), &mut sink);
        if run < WARM {
            asked.await.unwrap()
        } else {
            samples.time(asked).await.unwrap()
        };
    }
    samples.report("answer without a language model, 10,000 memories", bar(60.0));
}
