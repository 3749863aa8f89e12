//! The tables of a refresh, row by row: which mode runs, how a run ends and what it writes, how the
//! clocks move.

use crate::models::{detail, facts, id, kiln, outcome, published, refresh};
use crate::refresh_written::{append, finds, page};
use domain::MemoryId;
use engine::models;
use engine::models::proposals;
use engine::view::model::{ModelDetail, ModelPatch, NewModel, ReviewMode};
use engine::view::operation::OperationStatus;
use engine::view::proposal::{
    DecideOps, Decision, ProposalView, RejectDisposition, RejectInput, Turn,
};
use llm::scripted::{Scripted, Step};
use serde_json::json;
use tests::Fixture;

fn file(f: &Fixture) -> rusqlite::Connection {
    rusqlite::Connection::open(f.folder.path().join(store::FILE_NAME)).expect("the file")
}

async fn patched(f: &Fixture, patch: ModelPatch) {
    models::update(&f.engine, &f.bank, &id(), patch).await.expect("an update");
}

fn asks_otherwise() -> ModelPatch {
    ModelPatch {
        source_query: Some("Who looks after the kiln of the workshop?".to_owned()),
        ..ModelPatch::default()
    }
}

fn wedged(f: &Fixture) {
    file(f).execute("UPDATE mental_model SET delta_failures = 3", []).expect("an update");
}

/// Mode and reason of the run that would come next.
async fn next_mode(f: &Fixture) -> (String, Option<String>, bool) {
    let told = models::dry_run(&f.engine, &f.bank, &id(), None).await.expect("a dry run");
    (told.effective_mode, told.mode_fallback_reason, told.would_propose)
}

fn mode(effective: &str, reason: Option<&str>) -> (String, Option<String>) {
    (effective.to_owned(), reason.map(str::to_owned))
}

/// Mental-models 8.2.
#[tokio::test]
async fn which_mode_runs_is_decided_in_one_order() {
    let f = Fixture::new().await;
    models::create(&f.engine, &f.bank, kiln(ReviewMode::Auto, "delta")).await.expect("a model");
    facts(&f).await;
    let of = |(effective, reason, _): (String, Option<String>, bool)| (effective, reason);
    assert_eq!(of(next_mode(&f).await), mode("full", Some("no_baseline_content")), "placeholder");
    patched(&f, asks_otherwise()).await;
    assert_eq!(of(next_mode(&f).await), mode("full", Some("no_baseline_content")), "comes first");
    f.run_queue().await;
    assert_eq!(of(next_mode(&f).await), mode("delta", None), "otherwise");
    wedged(&f);
    let (effective, reason, proposes) = next_mode(&f).await;
    assert_eq!((effective.as_str(), reason.as_deref()), ("full", Some("delta_wedged")));
    assert!(!proposes, "the same document is no proposal");
    f.fact("Ben Okoro cleaned the kiln of the workshop.", &["Kiln"], "2026-02-20").await;
    assert!(next_mode(&f).await.2, "it ends as a proposal on a model that publishes by itself");
    let fails = ModelPatch {
        trigger: Some(json!({ "delta_failure_policy": "fail" }).into()),
        ..ModelPatch::default()
    };
    patched(&f, fails).await;
    assert_eq!(of(next_mode(&f).await), mode("delta", None), "the policy says fail");
    let back = ModelPatch { source_query: Some("And what of the kiln?".to_owned()), ..fails_not() };
    patched(&f, back).await;
    assert_eq!(of(next_mode(&f).await), mode("full", Some("source_query_changed")), "before");
    let spaced = ModelPatch {
        source_query: Some("  Who looks after the kiln of the workshop?  ".to_owned()),
        ..ModelPatch::default()
    };
    patched(&f, spaced).await;
    file(&f).execute("UPDATE mental_model SET delta_failures = 0", []).expect("an update");
    assert_eq!(of(next_mode(&f).await), mode("delta", None), "blanks around it are no change");
    refresh(&f, true).await;
    let forced = detail(&f).await.last_run.expect("a run");
    assert_eq!(forced.mode_fallback_reason.as_deref(), Some("forced_full"));
    let full =
        ModelPatch { trigger: Some(json!({ "mode": "full" }).into()), ..ModelPatch::default() };
    patched(&f, full).await;
    assert_eq!(of(next_mode(&f).await), mode("full", None), "the trigger says full");
    refresh(&f, true).await;
    let plain = detail(&f).await.last_run.expect("a run");
    assert_eq!(plain.mode_fallback_reason, None, "full is what it would have been");
    let delta =
        ModelPatch { trigger: Some(json!({ "mode": "delta" }).into()), ..ModelPatch::default() };
    patched(&f, delta).await;
    let version = detail(&f).await.model.version;
    models::clear(&f.engine, &f.bank, &id(), version).await.expect("cleared");
    assert_eq!(of(next_mode(&f).await), mode("full", Some("no_baseline_content")), "blank");
}

fn fails_not() -> ModelPatch {
    ModelPatch {
        trigger: Some(json!({ "delta_failure_policy": null }).into()),
        ..ModelPatch::default()
    }
}

/// A document that a person wrote is a baseline: a delta edits it, over everything in scope.
#[tokio::test]
async fn a_written_document_never_refreshed_is_edited_over_an_unbounded_window() {
    let f = Fixture::new().await;
    facts(&f).await;
    let new = NewModel {
        content: Some("# Kiln\n\nBy hand.\n".to_owned()),
        ..kiln(ReviewMode::Auto, "delta")
    };
    models::create(&f.engine, &f.bank, new).await.expect("a model");
    let told = models::dry_run(&f.engine, &f.bank, &id(), None).await.expect("a dry run");
    assert_eq!((told.effective_mode.as_str(), told.mode_fallback_reason), ("delta", None));
    assert_eq!((told.window.after_seq, told.window.memories), (None, 4));
}

/// What a run ended as, what the queue says, and whether anything published moved.
async fn ended(f: &Fixture, before: &ModelDetail) -> (String, OperationStatus, bool) {
    let after = detail(f).await;
    let operation = engine::ops::list(&f.engine, &f.bank).await.expect("operations").remove(0);
    let same = after.content == before.content
        && after.model.version == before.model.version
        && after.based_on == before.based_on
        && after.model.last_refreshed_at == before.model.last_refreshed_at
        && after.model.last_memory_seen_at == before.model.last_memory_seen_at;
    (outcome(&after).to_owned(), operation.status, same)
}

/// Mental-models 8.8, the rows that a language model can bring about.
#[tokio::test]
async fn every_outcome_writes_what_it_may() {
    use OperationStatus::{Completed, Failed, Pending};
    let unreachable = || {
        Step::error(llm::Error::Unreachable {
            endpoint: "http://localhost".to_owned(),
            cause: "down".to_owned(),
            refused: true,
        })
    };
    let ops = |list: serde_json::Value| Step::json(&json!({ "operations": list }));
    for (row, wanted, status, writes) in [
        ("written", "content_written", Completed, true),
        ("same", "content_unchanged", Completed, true),
        ("nothing", "content_preserved_no_new_facts", Completed, true),
        ("proposal", "proposal_created", Completed, false),
        ("emptied", "refresh_failed_empty_candidate", Failed, false),
        ("unreadable", "refresh_failed_delta_not_applied", Failed, false),
        ("all skipped", "refresh_failed_delta_not_applied", Failed, false),
        ("call failed", "refresh_failed_delta_not_applied", Pending, false),
        ("loop failed", "refresh_failed_error", Pending, false),
    ] {
        let script = Scripted::default();
        let (f, before) = page(&script).await;
        f.clock.advance_ms(1000);
        let sections = &before.structure.sections;
        match row {
            "nothing" => {
                let args = json!({ "reason": "to look", "query": "kiln" });
                script.push(Step::call("search_observations", args.clone()));
                script.push(Step::call("recall", args));
                let none = json!({ "answer": "Nothing on it.", "memory_ids": [] });
                script.push(Step::call("done", none));
            }
            "loop failed" => {
                script.push(unreachable());
                script.push(unreachable());
            }
            _ => finds(&script),
        }
        match row {
            "written" => script.push_for("delta_ops", append(&before, "Cora joined.")),
            "proposal" => {
                let manual =
                    ModelPatch { review: Some(ReviewMode::Manual), ..ModelPatch::default() };
                patched(&f, manual).await;
                script.push_for("delta_ops", append(&before, "Cora joined."));
            }
            "same" => {
                let block = &sections[0].blocks[0];
                let noop = json!([{ "op": "replace_block", "section_id": sections[0].id,
                    "block_id": block.id, "text": block.text, "evidence": ["f1"] }]);
                script.push_for("delta_ops", ops(noop));
            }
            "emptied" => {
                let all: Vec<serde_json::Value> = sections
                    .iter()
                    .map(|s| json!({ "op": "remove_section", "section_id": s.id, "evidence": ["f1"] }))
                    .collect();
                script.push_for("delta_ops", ops(json!(all)));
            }
            "unreadable" => {
                script.push_for("delta_ops", Step::text("no"));
                script.push_for("delta_repair", Step::text("no"));
            }
            "all skipped" => {
                let wrong = json!([{ "op": "remove_section", "section_id": "nowhere" }]);
                script.push_for("delta_ops", ops(wrong.clone()));
                script.push_for("delta_repair", ops(wrong));
            }
            "call failed" => {
                script.push_for("delta_ops", unreachable());
                script.push_for("delta_ops", unreachable());
            }
            _ => {}
        }
        refresh(&f, false).await;
        script.assert_used_up();
        let (found, queue, same) = ended(&f, &before).await;
        assert_eq!((found.as_str(), queue), (wanted, status), "{row}");
        assert_eq!(same, !writes, "{row}");
        let runs = models::refresh_runs(&f.engine, &f.bank, &id()).await.expect("runs");
        assert_eq!(runs.len(), 1, "{row}: every run leaves a record");
        assert_eq!(runs[0].outcome, wanted);
        assert!(
            runs[0].window.created_before.is_some() && runs[0].finished_at >= runs[0].started_at
        );
        let failed = found.starts_with("refresh_failed");
        assert_eq!(runs[0].trace.is_some(), failed, "{row}: failures keep a trace");
        assert_eq!(runs[0].failure_reason.is_some() && runs[0].report.is_some(), failed, "{row}");
        if row != "loop failed" {
            assert!(!runs[0].calls.is_empty() && runs[0].usage.total_tokens > 0, "{row}");
        }
        let [applied, skipped] = [runs[0].ops_applied, runs[0].ops_skipped];
        match row {
            "written" | "proposal" => assert_eq!((applied, skipped), (1, 0), "{row}"),
            "all skipped" => assert_eq!((applied, skipped), (0, 2), "{row}"),
            _ => {}
        }
    }
}

/// When a refresh finished, how far it read, which question it answered.
fn clocks(f: &Fixture) -> (Option<i64>, Option<i64>, Option<String>) {
    file(f)
        .query_row(
            "SELECT last_refreshed_at, last_memory_seen_seq, last_refreshed_source_query
             FROM mental_model",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .expect("the model")
}

async fn waiting(f: &Fixture) -> ProposalView {
    let row = proposals::inbox(&f.engine, &f.bank).await.expect("an inbox").remove(0);
    proposals::get(&f.engine, &f.bank, &row.id).await.expect("the proposal")
}

async fn reject(f: &Fixture, disposition: RejectDisposition) {
    let view = waiting(f).await;
    let input = RejectInput { note: None, disposition: Some(disposition), ..Default::default() };
    proposals::reject(&f.engine, &f.bank, &view.row.id, input, Turn::at(view.state_seq))
        .await
        .expect("rejected");
}

/// Mental-models 5.3: which of the three clocks each event moves.
#[tokio::test]
async fn every_event_moves_the_clocks_that_it_may() {
    // For each: does `last_refreshed_at` move; does the watermark move, stay or go; the question.
    for (row, refreshed, watermark, question) in [
        ("published", true, "moves", "stays"),
        ("identical", true, "moves", "stays"),
        ("nothing relevant", true, "moves", "stays"),
        ("failed", false, "stays", "stays"),
        ("proposed", false, "stays", "stays"),
        ("approved", true, "moves", "stays"),
        ("rejected to retry", false, "stays", "stays"),
        ("rejected for good", true, "moves", "stays"),
        ("edited", true, "stays", "stays"),
        ("reverted", true, "stays", "stays"),
        ("cleared", false, "goes", "goes"),
        ("renamed", false, "stays", "stays"),
        ("scope changed", false, "goes", "stays"),
    ] {
        let f = Fixture::new().await;
        let before = published(&f, "delta").await;
        let was = clocks(&f);
        f.clock.advance_ms(1000);
        let text = match row {
            "identical" => "The kiln of the workshop reaches 1200 degrees.",
            "nothing relevant" => "Swans winter on a lake in the far north.",
            _ => "Ben Okoro cleaned the kiln of the workshop.",
        };
        f.fact(text, if row == "nothing relevant" { &[] } else { &["Kiln"] }, "2026-02-20").await;
        if row.starts_with("rejected") || row == "proposed" || row == "approved" {
            let manual = ModelPatch { review: Some(ReviewMode::Manual), ..ModelPatch::default() };
            patched(&f, manual).await;
            refresh(&f, false).await;
            assert_eq!(outcome(&detail(&f).await), "proposal_created", "{row}");
        }
        match row {
            "published" | "identical" | "nothing relevant" => drop(refresh(&f, false).await),
            "failed" => {
                let schema = json!({ "type": "object", "properties": { "a": {} } });
                let patch = ModelPatch {
                    trigger: Some(json!({ "response_schema": schema }).into()),
                    ..ModelPatch::default()
                };
                patched(&f, patch).await;
                refresh(&f, false).await;
                let failed = detail(&f).await;
                assert_eq!(outcome(&failed), "refresh_failed_structured_output");
            }
            "approved" => {
                let view = waiting(&f).await;
                let all: Vec<String> = view.ops.iter().map(|op| op.op_id.clone()).collect();
                let input = DecideOps::all(&all, Decision::Accepted);
                let view = proposals::decide(
                    &f.engine,
                    &f.bank,
                    &view.row.id,
                    input,
                    Turn::at(view.state_seq),
                )
                .await
                .expect("a decision");
                let sure = crate::proposals::sure();
                proposals::approve(
                    &f.engine,
                    &f.bank,
                    &view.row.id,
                    sure,
                    Turn::at(view.state_seq),
                )
                .await
                .expect("a version");
            }
            "rejected to retry" => reject(&f, RejectDisposition::Retry).await,
            "rejected for good" => reject(&f, RejectDisposition::Dismiss).await,
            "edited" => {
                let text = before.content.replace("1200", "1250");
                models::edit_content(&f.engine, &f.bank, &id(), text, 1).await.expect("an edit");
            }
            "reverted" => {
                models::revert(&f.engine, &f.bank, &id(), 1, false).await.expect("reverted");
            }
            "cleared" => drop(models::clear(&f.engine, &f.bank, &id(), 1).await.expect("cleared")),
            "renamed" => {
                let name = ModelPatch { name: Some("Oven".to_owned()), ..ModelPatch::default() };
                patched(&f, name).await;
            }
            "scope changed" => {
                let tags = ModelPatch { tags: Some(vec!["x".to_owned()]), ..ModelPatch::default() };
                let told = models::update(&f.engine, &f.bank, &id(), tags).await.expect("changed");
                let codes: Vec<&str> = told.warnings.iter().map(|w| w.code.as_str()).collect();
                assert_eq!(codes, ["scope_changed_watermark_reset"]);
            }
            _ => {}
        }
        let now = clocks(&f);
        assert_eq!(now.0 > was.0, refreshed, "{row}: last_refreshed_at {was:?} {now:?}");
        match watermark {
            "moves" => assert!(now.1 > was.1, "{row}: watermark {was:?} {now:?}"),
            "stays" => assert_eq!(now.1, was.1, "{row}: watermark"),
            _ => assert_eq!(now.1, None, "{row}: watermark"),
        }
        match question {
            "stays" => assert_eq!(now.2, was.2, "{row}: question"),
            _ => assert_eq!(now.2, None, "{row}: question"),
        }
    }
}

/// A run that found nothing in scope sets the question, and so ends the state of never refreshed.
#[tokio::test]
async fn an_empty_scope_moves_the_time_and_the_question_but_no_watermark() {
    let f = Fixture::new().await;
    models::create(&f.engine, &f.bank, kiln(ReviewMode::Auto, "delta")).await.expect("a model");
    f.run_queue().await;
    let (refreshed, watermark, question) = clocks(&f);
    assert!(refreshed.is_some() && watermark.is_none() && question.is_some());
    let after = detail(&f).await;
    assert!(after.content.is_empty() && !after.model.placeholder);
    assert!(after.model.refresh_reasons.is_empty(), "{:?}", after.model.refresh_reasons);
}

/// A changed scope is read whole by the next run, and said to be.
#[tokio::test]
async fn after_a_change_of_scope_everything_in_it_is_read_again() {
    let f = Fixture::new().await;
    published(&f, "delta").await;
    let only = ModelPatch {
        trigger: Some(json!({ "fact_types": ["world"] }).into()),
        ..ModelPatch::default()
    };
    patched(&f, only).await;
    refresh(&f, false).await;
    let after = detail(&f).await;
    let runs = models::refresh_runs(&f.engine, &f.bank, &id()).await.expect("runs");
    assert_eq!((runs[0].window.after_seq, runs[0].window.memories), (None, 4));
    let warned = after.last_run.expect("a run").warnings;
    assert!(warned.iter().any(|w| w.code == "scope_changed_watermark_reset"), "{warned:?}");
    let gone = MemoryId(after.based_on[0].id.clone());
    assert!(engine::memory::get(&f.engine, &f.bank, &gone).await.is_ok());
}
