//! Consolidations in the queue: what a waiting one takes over from one that went back or is asked for
//! again, what waits without spending retries, and what models are told though a record is removed.

use crate::consolidation::{creates, runs, scripted, tagged, waiting};
use domain::OperationId;
use engine::memory::consolidate;
use engine::models;
use engine::ops;
use engine::view::model::{NewModel, ReviewMode};
use engine::view::operation::{OperationRow, OperationStatus};
use llm::scripted::{Hold, Scripted, Step};
use serde_json::json;
use std::time::Duration;
use tests::Fixture;

fn refused() -> Step {
    let endpoint = "http://there".to_owned();
    Step::error(llm::Error::Auth { endpoint, answer: Box::default() })
}

fn unreachable() -> Step {
    Step::error(llm::Error::Unreachable {
        endpoint: "http://there".to_owned(),
        cause: "no route".to_owned(),
        refused: true,
    })
}

fn scope(tag: &str) -> Option<Vec<Vec<String>>> {
    Some(vec![vec![tag.to_owned()]])
}

async fn row(f: &Fixture, id: &OperationId) -> OperationRow {
    runs(f).await.into_iter().find(|row| row.id == *id).unwrap()
}

/// Facts of two scopes.
async fn two_scopes(f: &Fixture) {
    for tag in ["a", "b"] {
        tagged(f, &format!("{tag} is so"), "2026-01-05", &[tag]).await;
    }
}

/// 12.3: nothing that a run was asked for is lost when a waiting one does its work.
#[tokio::test]
async fn a_waiting_consolidation_takes_over_what_a_run_was_asked_for() {
    let script = Scripted::default();
    let f = scripted(&script).await;
    two_scopes(&f).await;
    let hold = Hold::default();
    script.push(unreachable().held_by(&hold));
    let all = consolidate::now(&f.engine, &f.bank, None).await.unwrap();
    let meanwhile = async {
        hold.arrived().await;
        let one = consolidate::now(&f.engine, &f.bank, scope("a")).await.unwrap();
        script.push(creates("a is so", &["F1"]));
        script.push(creates("b is so", &["F1"]));
        hold.release();
        one
    };
    let ((), one) = tokio::join!(f.run_queue(), meanwhile);
    assert!(one.operation != all.operation);
    assert_eq!(row(&f, &all.operation).await.status, OperationStatus::Failed);
    assert_eq!(row(&f, &one.operation).await.status, OperationStatus::Completed);
    assert_eq!(waiting(&f).await, (0, 0), "all was asked for, not one scope");
    script.assert_used_up();
}

/// The same where a person runs a failed one again while another waits.
#[tokio::test]
async fn a_waiting_consolidation_takes_over_what_is_asked_for_again() {
    let script = Scripted::default();
    let f = scripted(&script).await;
    two_scopes(&f).await;
    script.push(refused());
    let all = consolidate::now(&f.engine, &f.bank, None).await.unwrap();
    f.run_queue().await;
    let one = consolidate::now(&f.engine, &f.bank, scope("a")).await.unwrap();
    let again = ops::retry(&f.engine, &f.bank, &all.operation).await.unwrap();
    assert_eq!(again.id, one.operation);
    script.push(creates("a is so", &["F1"]));
    script.push(creates("b is so", &["F1"]));
    f.run_queue().await;
    assert_eq!(waiting(&f).await, (0, 0));
}

/// 12.5: a provider's quota with an end is waited for, however often, and costs no retry.
#[tokio::test]
async fn a_quota_with_an_end_costs_a_consolidation_no_retry() {
    let script = Scripted::default();
    let f = scripted(&script).await;
    tagged(&f, "a is so", "2026-01-05", &["a"]).await;
    let run = consolidate::now(&f.engine, &f.bank, None).await.unwrap();
    for _ in 0..5 {
        script.push(Step::error(llm::Error::RateLimited {
            endpoint: "http://there".to_owned(),
            retry_after: Some(Duration::from_secs(7_200)),
            answer: Box::default(),
        }));
        f.run_queue().await;
        let waits = row(&f, &run.operation).await;
        assert_eq!((waits.status, waits.retry_count), (OperationStatus::Pending, 0));
        assert_eq!(waits.next_retry_at, Some(f.engine.now() + chrono::Duration::hours(2)));
        f.clock.advance_ms(7_200_000);
    }
    script.push(creates("a is so", &["F1"]));
    f.run_queue().await;
    assert_eq!(row(&f, &run.operation).await.status, OperationStatus::Completed);
}

/// 12.7: what a failed run changed is told to models, also when its record is removed before any
/// other run has told it.
#[tokio::test]
async fn models_are_told_of_what_a_removed_run_had_changed() {
    let script = Scripted::default();
    let f = scripted(&script).await;
    f.settings(json!({"enable_auto_consolidation": false})).await;
    let new = NewModel {
        id: Some("of-a".to_owned()),
        name: "Of a".to_owned(),
        source_query: "What is so?".to_owned(),
        tags: vec!["a".to_owned()],
        max_tokens: None,
        trigger: Some(json!({"refresh_after_consolidation": true}).into()),
        review: Some(ReviewMode::Auto),
        content: Some("Nothing yet.".to_owned()),
    };
    models::create(&f.engine, &f.bank, new).await.unwrap();
    two_scopes(&f).await;
    script.push(creates("a is so", &["F1"]));
    script.push(refused());
    let run = consolidate::now(&f.engine, &f.bank, None).await.unwrap();
    f.run_queue().await;
    assert_eq!(row(&f, &run.operation).await.status, OperationStatus::Failed);
    assert_eq!(waiting(&f).await, (1, 0));
    ops::delete(&f.engine, &f.bank, &run.operation).await.unwrap();
    let left = ops::list(&f.engine, &f.bank).await.unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].operation_type, "refresh_mental_model");
    assert_eq!(left[0].triggered_by, ["after_consolidation"]);
}
