//! Kept versions: how many, which are exempt, what two of them differ in, what comes back and what is
//! read again, what the history tells of runs that failed.

use crate::models::{detail, facts, id, kiln, outcome, published, refresh};
use engine::models::{self, proposals};
use engine::view::model::{ModelPatch, ModelState, NewModel, ReviewMode, TimelineEntry};
use engine::view::operation::OperationStatus;
use llm::scripted::{Hold, Scripted, Step};
use serde_json::json;
use std::sync::Arc;
use tests::Fixture;

async fn timeline(f: &Fixture) -> Vec<TimelineEntry> {
    models::timeline(&f.engine, &f.bank, &id()).await.expect("a timeline")
}

async fn kept(f: &Fixture) -> Vec<u32> {
    let numbers = timeline(f).await.into_iter().filter_map(|entry| match entry {
        TimelineEntry::Version { version, .. } => Some(version),
        _ => None,
    });
    numbers.collect()
}

async fn edit(f: &Fixture, text: &str) {
    let version = detail(f).await.model.version;
    models::edit_content(&f.engine, &f.bank, &id(), text.to_owned(), version)
        .await
        .expect("an edit");
}

async fn authored(f: &Fixture) {
    let new = NewModel { content: Some("# A\n\none\n".into()), ..kiln(ReviewMode::Auto, "delta") };
    models::create(&f.engine, &f.bank, new).await.expect("a model");
}

/// Settings of the bank, as its own page writes them.
async fn set(f: &Fixture, config: serde_json::Value) {
    let bank = f.bank.clone();
    let at = f.engine.now();
    f.engine
        .store()
        .write("set_config", move |tx| {
            let key = store::banks::key(tx, &bank)?;
            store::banks::set_config(tx, key, &config, at)
        })
        .await
        .expect("settings");
}

#[tokio::test]
async fn the_oldest_versions_go_first_and_pinned_ones_stay() {
    let f = Fixture::new().await;
    authored(&f).await;
    set(&f, json!({ "mental_model_history_max_entries": 3 })).await;
    models::pin_version(&f.engine, &f.bank, &id(), 1, true).await.expect("pinned");
    for n in 2..=7 {
        edit(&f, &format!("# A\n\ntext {n}\n")).await;
    }
    assert_eq!(kept(&f).await, [7, 6, 5, 4, 1], "three before the published one, and the pinned");
    let pinned = timeline(&f)
        .await
        .into_iter()
        .any(|entry| matches!(entry, TimelineEntry::Version { version: 1, pinned, .. } if pinned));
    assert!(pinned);
    models::pin_version(&f.engine, &f.bank, &id(), 1, false).await.expect("no longer");
    edit(&f, "# A\n\ntext 8\n").await;
    assert_eq!(kept(&f).await, [8, 7, 6, 5]);
    set(&f, json!({ "mental_model_history_max_entries": 0 })).await;
    for n in 9..=14 {
        edit(&f, &format!("# A\n\ntext {n}\n")).await;
    }
    assert_eq!(kept(&f).await.len(), 10, "no limit at all");
    set(&f, json!({ "enable_mental_model_history": false })).await;
    edit(&f, "# A\n\nlast\n").await;
    assert_eq!(kept(&f).await, [15], "no history but what is published");
    let none = models::pin_version(&f.engine, &f.bank, &id(), 3, true).await;
    assert_eq!(none.expect_err("it is gone").reason(), "version_not_found");
}

#[tokio::test]
async fn fifty_versions_are_kept_by_default_and_the_base_of_a_review_beside_them() {
    let f = Fixture::new().await;
    published(&f, "delta").await;
    let patch = ModelPatch { review: Some(ReviewMode::Manual), ..ModelPatch::default() };
    models::update(&f.engine, &f.bank, &id(), patch).await.expect("an update");
    f.fact("The kiln of the workshop got a new chimney.", &["Kiln"], "2026-02-21").await;
    refresh(&f, false).await;
    assert_eq!(proposals::inbox(&f.engine, &f.bank).await.expect("an inbox").len(), 1);
    let text = detail(&f).await.content;
    for n in 0..53 {
        edit(&f, &format!("{text}\nline {n}\n")).await;
    }
    let kept = kept(&f).await;
    assert_eq!((kept.len(), kept.first(), kept.last()), (51, Some(&54), Some(&4)));
}

#[tokio::test]
async fn two_versions_differ_in_text_evidence_structure_and_settings() {
    let script = Scripted::default();
    let f = Fixture::scripted(Arc::new(script.clone())).await;
    let schema = json!({ "type": "object", "properties": { "lead": { "type": "string" } } });
    let new = NewModel {
        content: Some("# Team\n\nAda leads.\n".into()),
        trigger: Some(json!({ "mode": "delta", "response_schema": schema }).into()),
        ..kiln(ReviewMode::Auto, "delta")
    };
    models::create(&f.engine, &f.bank, new).await.expect("a model");
    for (day, name) in [(20, "Cora"), (21, "Dan")] {
        f.fact(&format!("{name} joined the team of the kiln."), &[name], &format!("2026-02-{day}"))
            .await;
        let args = |query: &str| json!({ "reason": "to look", "query": query });
        script.push(Step::call("search_observations", args("kiln")));
        script.push(Step::call("recall", args("kiln team")));
        script.push(Step::call("done", json!({ "answer": name, "memory_ids": ["f1"] })));
        let op = json!({ "op": "append_block", "section_id": "team", "text": format!("{name} joined."),
            "evidence": ["f1"] });
        script.push_for("delta_ops", Step::json(&json!({ "operations": [op] })));
        script.push_for("structured", Step::json(&json!({ "lead": name })));
        refresh(&f, false).await;
        assert_eq!(
            outcome(&detail(&f).await),
            "content_written",
            "{:?}",
            detail(&f).await.last_run
        );
        let patch = ModelPatch { max_tokens: Some(3000), ..ModelPatch::default() };
        models::update(&f.engine, &f.bank, &id(), patch).await.expect("an update");
    }
    let diff = models::diff_versions(&f.engine, &f.bank, &id(), 2, 3).await.expect("a diff");
    assert!(diff.diff.unified.contains("+Dan joined."), "{}", diff.diff.unified);
    assert_eq!((diff.evidence_new.len(), diff.evidence_gone.len()), (1, 0));
    assert_eq!(diff.evidence_kept.len(), 1);
    let places = |list: &[domain::diff::JsonChange]| -> Vec<String> {
        list.iter().map(|change| change.pointer.clone()).collect()
    };
    assert_eq!(places(&diff.structured), ["/lead"]);
    assert_eq!(diff.structured[0].new.as_ref().map(|json| &json.0), Some(&json!("Dan")));
    assert_eq!(places(&diff.settings), ["/max_tokens"]);
    let back = models::diff_versions(&f.engine, &f.bank, &id(), 3, 2).await.expect("a diff");
    assert_eq!((back.evidence_new.len(), back.evidence_gone.len()), (0, 1));
    let whole = models::diff_versions(&f.engine, &f.bank, &id(), 0, 3).await.expect("a diff");
    assert_eq!((places(&whole.structured), whole.evidence_new.len()), (vec![String::new()], 2));
    let second = models::version(&f.engine, &f.bank, &id(), 2).await.expect("a version");
    assert_eq!((second.cause.as_str(), second.actor.as_str()), ("refresh_delta", "manual_refresh"));
    assert_eq!(second.settings.0["max_tokens"], 2048);
    assert_eq!(second.structured_output.map(|json| json.0), Some(json!({ "lead": "Cora" })));
    assert_eq!(second.structured_output_version, Some(2));
    assert!(second.operation.is_some() && second.proposal.is_none());
}

#[tokio::test]
async fn a_revert_may_read_again_what_came_after_and_can_itself_be_reverted() {
    let f = Fixture::new().await;
    let first = published(&f, "delta").await;
    f.fact("Ben Okoro cleaned the kiln of the workshop.", &["Kiln"], "2026-02-20").await;
    refresh(&f, false).await;
    let second = detail(&f).await;
    assert_eq!((second.model.version, second.model.state), (2, ModelState::Current));
    let plain = models::revert(&f.engine, &f.bank, &id(), 1, false).await.expect("reverted");
    assert_eq!(plain.model.state, ModelState::Current, "what came after is not read again");
    assert_eq!(plain.model.last_memory_seen_at, second.model.last_memory_seen_at);
    let back = models::revert(&f.engine, &f.bank, &id(), 2, false).await.expect("reverted");
    assert_eq!((&back.content, back.model.version), (&second.content, 4));
    let again = models::revert(&f.engine, &f.bank, &id(), 1, true).await.expect("reverted");
    assert_eq!((again.model.state, again.model.newer), (ModelState::Behind, Some(1)));
    assert_eq!(again.content, first.content);
    refresh(&f, false).await;
    let anew = detail(&f).await;
    assert!(anew.content.contains("Ben Okoro"), "{:?}", anew.last_run);
    let notes: Vec<Option<String>> = timeline(&f)
        .await
        .into_iter()
        .filter_map(|entry| match entry {
            TimelineEntry::Version { cause, note, .. } if cause == "revert" => Some(note),
            _ => None,
        })
        .collect();
    let from = |n: u32| Some(format!("from {n}"));
    assert_eq!(notes, [from(1), from(2), from(1)]);
}

#[tokio::test]
async fn a_text_that_nothing_was_read_for_is_not_made_current_by_a_revert() {
    let f = Fixture::new().await;
    authored(&f).await;
    facts(&f).await;
    edit(&f, "# A\n\ntwo\n").await;
    assert_eq!(detail(&f).await.model.state, ModelState::NeverRefreshed);
    let back = models::revert(&f.engine, &f.bank, &id(), 1, false).await.expect("reverted");
    assert_eq!(back.model.state, ModelState::NeverRefreshed);
}

#[tokio::test]
async fn a_revert_moves_a_review_that_waits() {
    let f = Fixture::new().await;
    published(&f, "delta").await;
    let first = detail(&f).await;
    edit(&f, &first.content.replace("1200", "1250")).await;
    let patch = ModelPatch { review: Some(ReviewMode::Manual), ..ModelPatch::default() };
    models::update(&f.engine, &f.bank, &id(), patch).await.expect("an update");
    f.fact("The kiln of the workshop got a new chimney.", &["Kiln"], "2026-02-21").await;
    refresh(&f, false).await;
    let row = proposals::inbox(&f.engine, &f.bank).await.expect("an inbox").remove(0);
    models::revert(&f.engine, &f.bank, &id(), 1, false).await.expect("reverted");
    let moved = proposals::get(&f.engine, &f.bank, &row.id).await.expect("the proposal");
    assert_eq!(moved.base_version, 3);
    assert_eq!(moved.base.render(), first.content);
}

#[tokio::test]
async fn the_history_tells_of_runs_that_failed_and_of_notes() {
    let script = Scripted::default();
    let f = Fixture::scripted(Arc::new(script.clone())).await;
    authored(&f).await;
    f.fact("Cora joined the team of the kiln.", &["Cora"], "2026-02-20").await;
    let args = |query: &str| json!({ "reason": "to look", "query": query });
    script.push(Step::call("search_observations", args("kiln")));
    script.push(Step::call("recall", args("kiln team")));
    script.push(Step::call("done", json!({ "answer": "Cora", "memory_ids": ["f1"] })));
    script.push_for("delta_ops", Step::text("No idea."));
    script.push_for("delta_repair", Step::text("No idea."));
    f.clock.advance_ms(1000);
    let operation = refresh(&f, false).await;
    models::note_version(&f.engine, &f.bank, &id(), 1, Some(" the first ".into()))
        .await
        .expect("a note");
    let entries = timeline(&f).await;
    let TimelineEntry::FailedRun {
        outcome,
        failure_reason,
        report,
        mode,
        triggered_by,
        operation: of,
        ..
    } = &entries[0]
    else {
        panic!("{entries:?}");
    };
    assert_eq!(outcome, "refresh_failed_delta_not_applied");
    assert_eq!(failure_reason.as_deref(), Some("delta_ops_failed"));
    assert_eq!((mode.as_str(), triggered_by.as_slice()), ("delta", &["manual_refresh".into()][..]));
    assert_eq!(of.as_ref(), Some(&operation));
    assert!(report.as_ref().is_some_and(|report| report.hint.is_some()));
    let TimelineEntry::Version { note, change, .. } = &entries[1] else { panic!("{entries:?}") };
    assert_eq!((note.as_deref(), change.added), (Some("the first"), 1));
    models::note_version(&f.engine, &f.bank, &id(), 1, Some("  ".into())).await.expect("no note");
    let first = models::version(&f.engine, &f.bank, &id(), 1).await.expect("a version");
    assert_eq!(first.note, None);
}

#[tokio::test]
async fn a_deleted_model_takes_its_queued_work_with_it() {
    let f = Fixture::new().await;
    facts(&f).await;
    models::create(&f.engine, &f.bank, kiln(ReviewMode::Auto, "full")).await.expect("a model");
    models::delete(&f.engine, &f.bank, &id()).await.expect("deleted");
    let rows = engine::ops::list(&f.engine, &f.bank).await.expect("operations");
    assert_eq!(rows[0].status, OperationStatus::Cancelled);
    f.run_queue().await;
    let left = models::list(&f.engine, &f.bank).await.expect("models");
    assert!(left.is_empty());
}

#[tokio::test]
async fn a_run_whose_model_is_deleted_meanwhile_leaves_nothing() {
    let script = Scripted::default();
    let f = Fixture::scripted(Arc::new(script.clone())).await;
    authored(&f).await;
    f.fact("Cora joined the team of the kiln.", &["Cora"], "2026-02-20").await;
    let hold = Hold::default();
    let args = |query: &str| json!({ "reason": "to look", "query": query });
    script.push(Step::call("search_observations", args("kiln")).held_by(&hold));
    models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
    let person = async {
        hold.arrived().await;
        models::delete(&f.engine, &f.bank, &id()).await.expect("deleted");
        hold.release();
    };
    tokio::join!(f.run_queue(), person);
    let rows = engine::ops::list(&f.engine, &f.bank).await.expect("operations");
    assert_eq!(rows[0].status, OperationStatus::Cancelled, "{:?}", rows[0]);
    assert!(models::list(&f.engine, &f.bank).await.expect("models").is_empty());
}
