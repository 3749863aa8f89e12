//! What folding sets going: mental models that ask for it are refreshed once all is folded, each
//! once, however many rounds it took and whatever happened in between.

use crate::consolidation::{creates, fold, tagged, waiting};
use crate::reflect::{ask, question};
use domain::ModelId;
use engine::models;
use engine::view::model::{NewModel, ReviewMode};
use engine::view::operation::OperationStatus;
use llm::scripted::{Scripted, Step};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use store::Moment;
use tests::{Fixture, Setup, open};

async fn model(f: &Fixture, id: &str, tags: &[&str], scope: Value) {
    let mut trigger = json!({"mode": "full", "refresh_after_consolidation": true});
    trigger.as_object_mut().unwrap().extend(scope.as_object().cloned().unwrap());
    let new = NewModel {
        id: Some(id.to_owned()),
        name: id.to_owned(),
        source_query: "What is known of the workshop?".to_owned(),
        tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
        max_tokens: None,
        trigger: Some(trigger.into()),
        review: Some(ReviewMode::Auto),
        content: None,
    };
    models::create(&f.engine, &f.bank, new).await.unwrap();
}

/// Runs that folding set going, of the three models.
async fn counted(f: &Fixture) -> [usize; 3] {
    let all = engine::ops::list(&f.engine, &f.bank).await.unwrap();
    ["any", "groups", "strict"].map(|id| {
        let id = ModelId::from(id);
        all.iter()
            .filter(|row| row.mental_model_id.as_ref() == Some(&id))
            .filter(|row| row.triggered_by.iter().any(|cause| cause == "after_consolidation"))
            .inspect(|row| assert_eq!(row.status, OperationStatus::Completed))
            .count()
    })
}

/// A bank with the three models of the case, refreshed.
async fn garden() -> Fixture {
    let f = Fixture::new().await;
    tagged(&f, "The workshop has a stove.", "2026-01-01", &["garden"]).await;
    fold(&f).await;
    model(&f, "any", &["garden"], json!({"tags_match": "any"})).await;
    let not = json!({"tag_groups": [{"not": {"tags": ["private"], "match": "any_strict"}}]});
    model(&f, "groups", &[], not).await;
    model(&f, "strict", &["garden"], json!({"tags_match": "any_strict"})).await;
    f.run_queue().await;
    assert_eq!(counted(&f).await, [0, 0, 0]);
    f
}

#[tokio::test]
async fn fc_13_untagged_memories_reach_models_that_read_them() {
    let f = garden().await;
    tagged(&f, "The workshop has a door.", "2026-01-02", &[]).await;
    fold(&f).await;
    assert_eq!(counted(&f).await, [1, 1, 0]);
    // Nothing new, nothing to run for.
    fold(&f).await;
    assert_eq!(counted(&f).await, [1, 1, 0]);
}

/// 250 facts in three rounds, of which only the first holds some with the tag.
async fn backlog(f: &Fixture) {
    f.settings(json!({"enable_auto_consolidation": false,
        "consolidation_max_memories_per_round": 100}))
        .await;
    for n in 0..250 {
        let tags: &[&str] = if n < 3 { &["garden"] } else { &[] };
        tagged(f, &format!("The workshop keeps plank {n}."), "2026-01-03", tags).await;
    }
}

#[tokio::test]
async fn fc_13_three_rounds_refresh_every_model_once() {
    let f = garden().await;
    backlog(&f).await;
    fold(&f).await;
    assert_eq!(waiting(&f).await, (0, 0));
    assert_eq!(counted(&f).await, [1, 1, 1]);
}

#[tokio::test]
async fn fc_13_a_kill_after_the_second_round_loses_no_model_and_runs_none_twice() {
    let f = garden().await;
    backlog(&f).await;
    let rounds = AtomicU32::new(0);
    f.engine.store().set_commit_hook(move |point| {
        let over = rounds.load(Ordering::SeqCst) == 2;
        if point.label == "consolidation_round" && point.moment == Moment::AfterCommit {
            rounds.fetch_add(1, Ordering::SeqCst);
        }
        if over { Err(store::Error::Closed) } else { Ok(()) }
    });
    drop(engine::memory::consolidate::now(&f.engine, &f.bank, None).await);
    drop(engine::ops::run_pending(&f.engine).await);
    assert_eq!(waiting(&f).await, (50, 0));
    let Fixture { folder, clock, engine, bank } = f;
    drop(engine);
    let engine = open(folder.path(), &clock, &Setup::default()).await.unwrap();
    let f = Fixture { folder, clock: Arc::clone(&clock), engine, bank };
    f.run_queue().await;
    assert_eq!(waiting(&f).await, (0, 0));
    assert_eq!(counted(&f).await, [1, 1, 1]);
}

/// What a question is told of observations: whether each may be out of date in its own scope, and the
/// facts behind them where the bank asks for these.
#[tokio::test]
async fn a_question_sees_stale_observations_and_the_facts_behind_them() {
    let script = Scripted::default();
    let f = Fixture::scripted(Arc::new(script.clone())).await;
    f.settings(json!({"enable_auto_consolidation": false, "reflect_source_facts_max_tokens": 0}))
        .await;
    for (text, tag) in [("The kiln burns wood.", "a"), ("The kiln burns gas.", "b")] {
        tagged(&f, text, "2026-01-05", &[tag]).await;
        script.push(creates(text, &["F1"]));
    }
    fold(&f).await;
    tagged(&f, "The kiln burns coal.", "2026-01-06", &["b"]).await;
    let look = |tool: &str| Step::call(tool, json!({"query": "what the kiln burns"}));
    script.push(look("search_observations"));
    script.push(look("recall"));
    script.push(Step::call("done", json!({"answer": "Wood.", "observation_ids": ["o1"]})));
    let (answer, _) = ask(&f, question("What does the kiln burn?")).await;
    let trace = answer.unwrap().trace;
    let call = trace.tool_calls.iter().find(|call| call.tool == "search_observations").unwrap();
    let shown = call.output.clone().unwrap().0;
    let stale: Vec<_> = shown["observations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["tags"][0].as_str().unwrap(), row["is_stale"] == true))
        .collect();
    let stale: std::collections::BTreeMap<_, _> = stale.into_iter().collect();
    assert_eq!(stale, [("a", false), ("b", true)].into());
    assert_eq!(shown["is_stale"], true, "the search as a whole, by the scope of the question");
    let facts = shown["source_facts"].as_object().unwrap();
    assert_eq!(facts.len(), 2);
    for row in shown["observations"].as_array().unwrap() {
        let source = row["source_fact_ids"][0].as_str().unwrap();
        assert_eq!(facts[source]["text"], row["text"]);
    }
    assert_eq!(trace.observations_accessed.len(), 2, "facts are no observations");
}
