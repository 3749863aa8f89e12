//! Dry runs: the whole report, nothing written, stopped when asked, kept as a proposal without a
//! second call.

use crate::models::{detail, id, kiln, outcome, published, refresh};
use crate::refresh_written::{append, finds, page};
use domain::RunId;
use engine::models;
use engine::models::proposals;
use engine::view::model::{ModelDetail, ModelPatch, ReviewMode};
use engine::view::proposal::{DecideOps, Decision, Turn};
use engine::view::refresh::DryRunView;
use llm::scripted::{Hold, Scripted, Step};
use rusqlite::types::ValueRef;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use tests::Fixture;

async fn dry(f: &Fixture) -> DryRunView {
    models::dry_run(&f.engine, &f.bank, &id(), None).await.expect("a dry run")
}

/// Every row of every table in words, by table. Tables of search indexes go with their models and
/// memories; the log of calls and the records of runs are what a dry run may write.
fn dump(f: &Fixture) -> BTreeMap<String, Vec<String>> {
    let path = f.folder.path().join(store::FILE_NAME);
    let file = rusqlite::Connection::open(path).expect("the file");
    let names: Vec<String> = file
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'")
        .and_then(|mut names| names.query_map([], |row| row.get(0))?.collect())
        .expect("the tables");
    let mut all = BTreeMap::new();
    for name in names {
        if name == "refresh_run" || name.starts_with("llm_") {
            continue;
        }
        let mut rows = file.prepare(&format!("SELECT * FROM \"{name}\"")).expect("a table");
        let columns = rows.column_count();
        let mut found = rows.query([]).expect("rows");
        let mut lines = Vec::new();
        while let Some(row) = found.next().expect("a row") {
            let mut line = String::new();
            for column in 0..columns {
                match row.get_ref(column).expect("a value") {
                    ValueRef::Text(text) => line.push_str(&String::from_utf8_lossy(text)),
                    other => write!(line, "{other:?}").expect("a string"),
                }
                line.push('|');
            }
            lines.push(line);
        }
        lines.sort();
        all.insert(name, lines);
    }
    all
}

#[tokio::test]
async fn a_dry_run_tells_everything_and_writes_nothing() {
    let script = Scripted::default();
    let (f, before) = page(&script).await;
    finds(&script);
    script.push_for("delta_ops", append(&before, "Cora joined."));
    let tables = dump(&f);
    let told = dry(&f).await;
    script.assert_used_up();
    assert_eq!(dump(&f), tables, "no table but the record of runs and the log of calls");
    assert_eq!(told.outcome, "content_written", "{:?}", told.report);
    assert!(told.would_persist && !told.would_propose);
    assert_eq!((told.requested_mode.as_str(), told.effective_mode.as_str()), ("delta", "delta"));
    assert_eq!(told.current_content, before.content);
    assert!(told.preview_content.contains("Cora joined."));
    assert_eq!(told.preview_content, told.candidate_content);
    assert!(told.diff.unified.contains("+Cora joined."), "{}", told.diff.unified);
    assert!(
        told.diff.entries.iter().any(|entry| entry.new_text.as_deref() == Some("Cora joined."))
    );
    let ops = told.delta_operations.as_ref().expect("operations");
    assert_eq!((ops.applied.len(), ops.skipped.len(), ops.noop.len()), (1, 0, 0));
    assert_eq!(told.facts.used.get("world"), Some(&1));
    assert_eq!(told.facts.retrieved.get("world"), Some(&1));
    assert_eq!(told.based_on.len(), 1);
    assert_eq!((told.window.after_seq, told.window.memories), (None, 1));
    assert!(told.window.created_before.is_some() && told.window.watermark.is_some());
    assert!(told.usage.total_tokens > 0);
    assert!(told.retraction.is_none() && told.carry_over.is_empty());
    let trace = &told.trace.0;
    assert!(trace["tool_calls"][1]["output"].is_object(), "results of searches: {trace}");
    let scopes: Vec<&str> = trace["llm_calls"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|call| call["scope"].as_str())
        .collect();
    assert_eq!(scopes.last(), Some(&"delta_ops"), "{scopes:?}");
    let review = told.review.as_ref().expect("a review");
    assert_eq!(review.ops.len(), 1);
    assert_eq!(review.row.reason, "kept_dry_run");
    // The same window again, and the record of both.
    finds(&script);
    script.push_for("delta_ops", append(&before, "Cora joined."));
    let again = dry(&f).await;
    assert_eq!((&again.window, &again.preview_content), (&told.window, &told.preview_content));
    let runs = models::refresh_runs(&f.engine, &f.bank, &id()).await.expect("runs");
    assert_eq!(runs.len(), 2);
    assert!(runs.iter().all(|run| run.dry_run && run.can_be_kept && run.operation.is_none()));
    assert!(runs[0].trace.as_ref().expect("a trace").0["tool_calls"][1].get("output").is_none());
    assert_eq!(runs[0].calls.len(), 4, "every call with its times");
    let timeline = models::timeline(&f.engine, &f.bank, &id()).await.expect("a timeline");
    assert_eq!(timeline.len(), 1, "a dry run is not history");
}

#[tokio::test]
async fn a_refresh_that_would_fail_or_do_nothing_is_foretold() {
    let script = Scripted::default();
    let (f, before) = page(&script).await;
    finds(&script);
    script.push_for("delta_ops", Step::text("No idea."));
    script.push_for("delta_repair", Step::text("Still none."));
    let told = dry(&f).await;
    assert_eq!(told.outcome, "refresh_failed_delta_not_applied");
    assert_eq!(told.failure_reason.as_deref(), Some("delta_ops_failed"));
    assert_eq!(told.mode_fallback_reason.as_deref(), Some("delta_ops_failed"));
    assert!(!told.would_persist && !told.would_propose && told.review.is_none());
    assert_eq!(told.preview_content, before.content);
    assert!(told.diff.unified.is_empty());
    assert_eq!(told.trace.0["delta_operations"]["unreadable"], "Still none.");
    assert!(told.warnings.iter().any(|warning| warning.code == "delta_not_applied"));
    let kept = models::keep_dry_run(&f.engine, &f.bank, &told.dry_run_id).await;
    assert_eq!(kept.expect_err("nothing to keep").reason(), "nothing_to_change");
    let after = detail(&f).await;
    assert_eq!((after.last_run, after.model.version), (before.last_run, before.model.version));

    let f = Fixture::new().await;
    let before = published(&f, "delta").await;
    let told = dry(&f).await;
    assert_eq!(told.outcome, "content_preserved_no_new_facts");
    assert!(!told.would_persist && told.usage.total_tokens == 0);
    assert_eq!(told.preview_content, before.content);
}

#[tokio::test]
async fn a_kept_dry_run_is_a_proposal_without_another_call() {
    let script = Scripted::default();
    let (f, before) = page(&script).await;
    finds(&script);
    script.push_for("delta_ops", append(&before, "Cora joined."));
    let told = dry(&f).await;
    // The person goes on writing elsewhere in the meantime.
    let text = before.content.replace("Wood is short.", "Wood is dear.");
    models::edit_content(&f.engine, &f.bank, &id(), text, 1).await.expect("an edit");
    let kept = models::keep_dry_run(&f.engine, &f.bank, &told.dry_run_id).await.expect("kept");
    let twice = models::keep_dry_run(&f.engine, &f.bank, &told.dry_run_id).await.expect("kept");
    assert_eq!(kept, twice, "keeping it twice is keeping it once");
    script.assert_used_up();
    let view = proposals::get(&f.engine, &f.bank, &kept.proposal).await.expect("the proposal");
    assert_eq!((view.row.reason.as_str(), view.base_version), ("kept_dry_run", 2));
    let ops: Vec<String> = view.ops.iter().map(|op| op.op_id.clone()).collect();
    let all = DecideOps::all(&ops, Decision::Accepted);
    let view = proposals::decide(&f.engine, &f.bank, &kept.proposal, all, Turn::at(view.state_seq))
        .await
        .expect("a decision");
    let input = crate::proposals::sure();
    proposals::approve(&f.engine, &f.bank, &kept.proposal, input, Turn::at(view.state_seq))
        .await
        .expect("a version");
    let after = detail(&f).await;
    assert!(after.content.contains("Cora joined.") && after.content.contains("Wood is dear."));
    assert_eq!(after.model.version, 3);
    script.assert_used_up();
    let shown = models::dry_run_result(&f.engine, &f.bank, &told.dry_run_id).await.expect("kept");
    assert_eq!(shown.kept_as, Some(kept.proposal));
    models::drop_dry_run(&f.engine, &f.bank, &told.dry_run_id).await.expect("dropped");
    let gone = models::dry_run_result(&f.engine, &f.bank, &told.dry_run_id).await;
    assert_eq!(gone.expect_err("dropped").reason(), "run_not_found");
}

/// A dry run goes on beside a proposal that waits, against the published document; keeping it takes
/// the place of that proposal.
#[tokio::test]
async fn a_dry_run_beside_an_open_proposal_supersedes_it_when_kept() {
    let f = Fixture::new().await;
    published(&f, "delta").await;
    let review =
        engine::view::model::ModelPatch { review: Some(ReviewMode::Manual), ..Default::default() };
    models::update(&f.engine, &f.bank, &id(), review).await.expect("an update");
    f.fact("Ben Okoro cleaned the kiln of the workshop.", &["Kiln"], "2026-02-20").await;
    refresh(&f, false).await;
    let open = proposals::inbox(&f.engine, &f.bank).await.expect("an inbox").remove(0);
    let tables = dump(&f);
    let told = dry(&f).await;
    assert_eq!(dump(&f), tables);
    assert!(told.would_propose && !told.would_persist);
    assert_eq!(told.current_content, detail(&f).await.content);
    let kept = models::keep_dry_run(&f.engine, &f.bank, &told.dry_run_id).await.expect("kept");
    let inbox = proposals::inbox(&f.engine, &f.bank).await.expect("an inbox");
    assert_eq!(inbox.iter().map(|row| &row.id).collect::<Vec<_>>(), [&kept.proposal]);
    let old = proposals::get(&f.engine, &f.bank, &open.id).await.expect("the old one");
    assert_eq!(old.superseded_by, Some(kept.proposal));
}

#[tokio::test]
async fn a_dry_run_can_be_stopped() {
    let script = Scripted::default();
    let (f, before): (Fixture, ModelDetail) = page(&script).await;
    let hold = Hold::default();
    let args = json!({ "reason": "to look", "query": "kiln" });
    script.push(Step::call("search_observations", args).held_by(&hold));
    let run = RunId("mine".to_owned());
    let tables = dump(&f);
    let (engine, bank, name) = (f.engine.clone(), f.bank.clone(), run.clone());
    let running =
        tokio::spawn(async move { models::dry_run(&engine, &bank, &id(), Some(name)).await });
    hold.arrived().await;
    models::cancel_dry_run(&f.engine, &run);
    let ended = running.await.expect("a task");
    assert_eq!(ended.expect_err("stopped").reason(), "cancelled");
    assert_eq!(dump(&f), tables);
    let runs = models::refresh_runs(&f.engine, &f.bank, &id()).await.expect("runs");
    assert_eq!((runs[0].outcome.as_str(), runs[0].can_be_kept), ("cancelled", false));
    assert_eq!(outcome(&detail(&f).await), outcome(&before));
}

#[tokio::test]
async fn a_model_that_is_not_there_cannot_be_tried() {
    let f = Fixture::new().await;
    let none = models::dry_run(&f.engine, &f.bank, &id(), None).await;
    assert_eq!(none.expect_err("no model").reason(), "model_not_found");
    models::create(&f.engine, &f.bank, kiln(ReviewMode::Auto, "full")).await.expect("a model");
    // Nothing in scope: told without a call, and nothing is stored.
    let told = dry(&f).await;
    assert!(told.warnings.iter().any(|warning| warning.code == "empty_scope"));
    assert!(detail(&f).await.model.placeholder);
}

/// What a person cleared does not come back in pieces with an older dry run.
#[tokio::test]
async fn a_dry_run_of_a_document_that_was_cleared_since_is_not_kept() {
    let script = Scripted::default();
    let (f, before) = page(&script).await;
    finds(&script);
    script.push_for("delta_ops", append(&before, "Cora joined."));
    let told = dry(&f).await;
    models::clear(&f.engine, &f.bank, &id(), 1).await.expect("cleared");
    let kept = models::keep_dry_run(&f.engine, &f.bank, &told.dry_run_id).await;
    assert_eq!(kept.expect_err("a text that is gone").reason(), "document_changed");
    let after = detail(&f).await;
    assert_eq!((after.content.as_str(), after.model.last_memory_seen_at), ("", None));
    assert!(proposals::inbox(&f.engine, &f.bank).await.expect("an inbox").is_empty());
}

/// A model that publishes by itself still proposes while a person is deciding; a dry run knows.
#[tokio::test]
async fn a_dry_run_foretells_that_a_review_in_progress_is_folded() {
    let f = Fixture::new().await;
    let view = crate::proposals::proposed(&f).await;
    let op = view.ops[0].op_id.clone();
    crate::proposals::decide(&f, &view, vec![op], Decision::Accepted).await;
    let auto = ModelPatch { review: Some(ReviewMode::Auto), ..ModelPatch::default() };
    models::update(&f.engine, &f.bank, &id(), auto).await.expect("an update");
    let told = dry(&f).await;
    assert!(told.would_propose && !told.would_persist, "{}", told.outcome);
    assert_eq!(told.outcome, "proposal_created");
    crate::proposals::refresh_folding(&f, false).await;
    assert_eq!(outcome(&detail(&f).await), told.outcome);
}
