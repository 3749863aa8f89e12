//! The last step of a refresh when something happened meanwhile: the document, its question, its
//! scope or the whole model is another one; or the process dies.

use crate::models::{detail, id, kiln, outcome, refresh};
use crate::refresh_written::{PAGE, append, finds, page};
use engine::models;
use engine::models::proposals;
use engine::view::model::{ModelDetail, ModelPatch, NewModel, ReviewMode};
use engine::view::proposal::ProposalState;
use engine::view::published::PublishInput;
use llm::scripted::{Hold, Scripted, Step};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use store::Moment;
use tests::{Fixture, Setup, open};

/// Runs a refresh whose call for edits waits while `meanwhile` happens.
async fn during<F: Future<Output = ()>>(f: &Fixture, script: &Scripted, step: Step, meanwhile: F) {
    let hold = Hold::default();
    finds(script);
    script.push_for("delta_ops", step.held_by(&hold));
    models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
    let engine = f.engine.clone();
    let running = tokio::spawn(async move { engine::ops::run_pending(&engine).await });
    hold.arrived().await;
    meanwhile.await;
    hold.release();
    running.await.expect("a task").expect("a queue");
}

async fn edit(f: &Fixture, before: &ModelDetail, from: &str, to: &str) {
    let text = before.content.replace(from, to);
    models::edit_content(&f.engine, &f.bank, &id(), text, 1).await.expect("an edit");
}

#[tokio::test]
async fn edits_that_still_fit_are_published_on_the_document_that_moved() {
    let script = Scripted::default();
    let (f, before) = page(&script).await;
    let step = append(&before, "Cora joined.");
    during(&f, &script, step, Box::pin(edit(&f, &before, "Wood is short.", "Wood is dear."))).await;
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "content_written", "{:?}", after.last_run);
    assert_eq!(after.model.version, 3);
    assert_eq!(
        after.content,
        PAGE.replace("Ben helps.\n", "Ben helps.\n\nCora joined.\n")
            .replace("Wood is short.", "Wood is dear.")
    );
    assert_eq!(after.content, after.structure.render());
}

#[tokio::test]
async fn who_asks_while_a_refresh_runs_is_told_the_step_it_is_at() {
    let script = Scripted::default();
    let (f, before) = page(&script).await;
    let looked = async {
        let row = engine::ops::list(&f.engine, &f.bank).await.expect("a list").remove(0);
        assert_eq!(row.progress.expect("a step").stage, "editing");
    };
    during(&f, &script, append(&before, "Cora joined."), looked).await;
    let ended = engine::ops::list(&f.engine, &f.bank).await.expect("a list").remove(0);
    assert_eq!(ended.progress, None);
}

#[tokio::test]
async fn edits_that_no_longer_fit_become_a_proposal_in_conflict() {
    let script = Scripted::default();
    let (f, before) = page(&script).await;
    let section = &before.structure.sections[0];
    let step = Step::json(&json!({ "operations": [{
        "op": "replace_block", "section_id": section.id, "block_id": section.blocks[0].id,
        "text": "Ada and Cora lead.", "evidence": ["f1"],
    }]}));
    during(&f, &script, step, Box::pin(edit(&f, &before, "Ada leads.", "Ada leads well."))).await;
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "proposal_created", "{:?}", after.last_run);
    assert!(after.content.contains("Ada leads well.") && after.model.version == 2);
    let row = proposals::inbox(&f.engine, &f.bank).await.expect("an inbox").remove(0);
    assert_eq!((row.reason.as_str(), row.state), ("document_changed", ProposalState::Conflicted));
    assert_eq!(after.model.last_memory_seen_at, before.model.last_memory_seen_at);
}

#[tokio::test]
async fn a_rebuild_of_a_document_that_moved_waits_for_a_person() {
    let script = Scripted::default();
    let (f, before) = page(&script).await;
    let hold = Hold::default();
    let args = |query: &str| json!({ "reason": "to look", "query": query });
    script.push(Step::call("search_observations", args("kiln")).held_by(&hold));
    script.push(Step::call("recall", args("kiln team")));
    script.push(Step::call(
        "done",
        json!({ "document": { "sections": [{ "heading": "Team", "level": 1, "blocks": [
            { "text": "Cora joined.", "evidence": ["f1"] },
        ] }] }, "memory_ids": ["f1"] }),
    ));
    models::refresh(&f.engine, &f.bank, &id(), true).await.expect("a refresh");
    let engine = f.engine.clone();
    let running = tokio::spawn(async move { engine::ops::run_pending(&engine).await });
    hold.arrived().await;
    edit(&f, &before, "Wood is short.", "Wood is dear.").await;
    hold.release();
    running.await.expect("a task").expect("a queue");
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "proposal_created", "{:?}", after.last_run);
    let row = proposals::inbox(&f.engine, &f.bank).await.expect("an inbox").remove(0);
    assert_eq!((row.reason.as_str(), row.origin.as_str()), ("document_changed", "full"));
    assert!(after.content.contains("Wood is dear."));
}

#[tokio::test]
async fn another_scope_keeps_the_watermark_unset_and_another_question_waits() {
    let script = Scripted::default();
    let (f, before) = page(&script).await;
    let update = |patch: ModelPatch| {
        let (engine, bank) = (f.engine.clone(), f.bank.clone());
        async move {
            models::update(&engine, &bank, &id(), patch).await.expect("an update");
        }
    };
    let wider = ModelPatch {
        trigger: Some(json!({ "fact_types": ["world"] }).into()),
        ..ModelPatch::default()
    };
    let nothing = Step::json(&json!({ "operations": [], "irrelevant": ["f1"] }));
    during(&f, &script, nothing, update(wider)).await;
    let kept = detail(&f).await;
    assert_eq!(outcome(&kept), "content_unchanged", "{:?}", kept.last_run);
    assert_eq!(kept.model.last_memory_seen_at, None, "what the new scope reaches was not read");
    let asked = ModelPatch {
        source_query: Some("Who works at the kiln?".to_owned()),
        ..ModelPatch::default()
    };
    during(&f, &script, append(&before, "Cora joined."), update(asked)).await;
    let waiting = detail(&f).await;
    assert_eq!(outcome(&waiting), "proposal_created", "{:?}", waiting.last_run);
    assert_eq!(waiting.content, before.content);
}

/// What a person clears stays cleared: neither text nor clocks nor carried facts come back with a run
/// that began before.
#[tokio::test]
async fn a_document_that_is_cleared_meanwhile_stays_cleared() {
    for changes in [true, false] {
        let script = Scripted::default();
        let (f, _) = page(&script).await;
        let step = if changes {
            Step::json(&json!({ "operations": [{ "op": "add_section", "heading": "News",
                "level": 1, "blocks": ["Cora joined."], "evidence": ["f1"] }] }))
        } else {
            Step::json(&json!({ "operations": [] }))
        };
        let clear = async {
            models::clear(&f.engine, &f.bank, &id(), 1).await.expect("cleared");
        };
        during(&f, &script, step, Box::pin(clear)).await;
        let after = detail(&f).await;
        assert_eq!(outcome(&after), "refresh_failed_conflict", "{changes}: {:?}", after.last_run);
        let report = after.last_run.as_ref().and_then(|run| run.report.clone()).expect("a report");
        assert_eq!(report.reason, "document_changed");
        assert_eq!((after.content.as_str(), after.model.version), ("", 2));
        assert_eq!(after.model.last_memory_seen_at, None);
        assert_eq!(after.model.refresh_reasons, ["never_refreshed"]);
        assert!(proposals::inbox(&f.engine, &f.bank).await.expect("an inbox").is_empty());
    }
}

/// A person who goes back and wants what came after to be read again gets that, although a run was
/// under way.
#[tokio::test]
async fn what_is_to_be_read_again_is_not_passed_over_by_a_run_that_began_before() {
    for changes in [true, false] {
        let script = Scripted::default();
        let (f, before) = page(&script).await;
        finds(&script);
        script.push_for("delta_ops", append(&before, "Cora joined."));
        refresh(&f, false).await;
        f.fact("Dan joined the team of the kiln.", &["Dan"], "2026-02-21").await;
        let step = if changes {
            append(&before, "Dan joined.")
        } else {
            Step::json(&json!({ "operations": [], "irrelevant": ["f1"] }))
        };
        let back = async {
            models::revert(&f.engine, &f.bank, &id(), 1, true).await.expect("reverted");
        };
        during(&f, &script, step, Box::pin(back)).await;
        let after = detail(&f).await;
        assert!(outcome(&after).starts_with("content_"), "{changes}: {:?}", after.last_run);
        assert_eq!(after.content.contains("Dan joined."), changes);
        assert_eq!(after.model.last_memory_seen_at, None, "{changes}: both are to be read again");
        finds(&script);
        script.push_for("delta_ops", Step::json(&json!({ "operations": [] })));
        refresh(&f, false).await;
        let runs = models::refresh_runs(&f.engine, &f.bank, &id()).await.expect("runs");
        assert_eq!((runs[0].window.after_seq, runs[0].window.memories), (None, 2), "{changes}");
    }
}

/// A text that a person writes into the published file while a run is under way keeps its place: the
/// run is not stored, and reads the same again once the text is decided on.
#[tokio::test]
async fn a_persons_file_is_not_pushed_aside_by_a_run_that_began_before() {
    let script = Scripted::default();
    let (f, before) = page(&script).await;
    let manual = ModelPatch { review: Some(ReviewMode::Manual), ..ModelPatch::default() };
    models::update(&f.engine, &f.bank, &id(), manual).await.expect("an update");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kiln.md");
    let target = PublishInput { path: path.display().to_string(), front_matter: false };
    models::published::set_target(&f.engine, &f.bank, &id(), target).await.expect("a target");
    let write = async {
        std::fs::write(&path, PAGE.replace("Wood is short.", "Wood is dear.")).expect("a file");
        models::published::check_files(&f.engine).await.expect("a check");
    };
    during(&f, &script, append(&before, "Cora joined."), Box::pin(write)).await;
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "refresh_failed_conflict", "{:?}", after.last_run);
    assert_eq!(after.model.last_memory_seen_at, None);
    let inbox = proposals::inbox(&f.engine, &f.bank).await.expect("an inbox");
    assert_eq!((inbox.len(), inbox[0].origin.as_str()), (1, "file"));
}

#[tokio::test]
async fn a_model_that_is_deleted_meanwhile_takes_its_result_along() {
    let script = Scripted::default();
    let (f, _) = page(&script).await;
    let hold = Hold::default();
    finds(&script);
    script.push_for("delta_ops", Step::json(&json!({ "operations": [] })).held_by(&hold));
    models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
    let engine = f.engine.clone();
    let running = tokio::spawn(async move { engine::ops::run_pending(&engine).await });
    hold.arrived().await;
    models::delete(&f.engine, &f.bank, &id()).await.expect("deleted");
    running.await.expect("a task").expect("a queue");
    assert!(models::list(&f.engine, &f.bank).await.expect("a list").is_empty());
    let operations = engine::ops::list(&f.engine, &f.bank).await.expect("operations");
    assert!(operations.iter().all(|operation| operation.completed_at.is_some()), "{operations:?}");
}

/// A refresh with a language model whose process is gone at any commit: what a new start finds is
/// the old or the new state, whole, and the next run goes on from there.
#[tokio::test]
async fn a_written_refresh_killed_at_any_commit_is_whole_or_not_at_all() {
    for moment in [Moment::BeforeCommit, Moment::AfterCommit] {
        for step in 0..16 {
            let script = Scripted::default();
            let f = Fixture::scripted(Arc::new(script.clone())).await;
            let new =
                NewModel { content: Some(PAGE.to_owned()), ..kiln(ReviewMode::Auto, "delta") };
            models::create(&f.engine, &f.bank, new).await.expect("a model");
            f.fact("Cora joined the team of the kiln.", &["Cora"], "2026-02-20").await;
            let before = detail(&f).await;
            finds(&script);
            script.push_for("delta_ops", append(&before, "Cora joined."));
            models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
            let commits = Arc::new(AtomicU32::new(0));
            let count = Arc::clone(&commits);
            f.engine.store().set_commit_hook(move |point| {
                if point.moment == moment && count.fetch_add(1, Ordering::SeqCst) >= step {
                    return Err(store::Error::Closed);
                }
                Ok(())
            });
            engine::ops::run_pending(&f.engine).await.ok();
            let reached = commits.load(Ordering::SeqCst) > step;
            let Fixture { folder, clock, engine, bank } = f;
            engine.store().set_commit_hook(|_| Ok(()));
            drop(engine);
            let again = Scripted::default();
            let llm: Arc<dyn llm::Provider> = Arc::new(again.clone());
            let setup = Setup { llm: Some(llm), ..Setup::default() };
            let engine = loop {
                match open(folder.path(), &clock, &setup).await {
                    Ok(engine) => break engine,
                    Err(error) => assert_eq!(error.reason(), "data_folder_in_use"),
                }
                tokio::task::yield_now().await;
            };
            let found = models::get(&engine, &bank, &id()).await.expect("the model");
            assert_eq!(found.content, found.structure.render());
            if found.model.version == 1 {
                assert_eq!((&found.content, found.based_on.len()), (&before.content, 0));
                finds(&again);
                again.push_for("delta_ops", append(&before, "Cora joined."));
            } else {
                assert_eq!((found.model.version, found.based_on.len()), (2, 1));
                assert_eq!(outcome(&found), "content_written");
            }
            // What was left waiting runs; asking once more finds nothing new.
            engine::ops::run_pending(&engine).await.expect("a queue");
            models::refresh(&engine, &bank, &id(), false).await.expect("a refresh");
            engine::ops::run_pending(&engine).await.expect("a queue");
            let after = models::get(&engine, &bank, &id()).await.expect("the model");
            assert_eq!(after.model.version, 2, "{moment:?} at {step}: {:?}", after.last_run);
            assert_eq!(after.content.matches("Cora joined.").count(), 1);
            if !reached {
                break;
            }
        }
    }
}
