//! The structured view of a document: extracted from the final text, asked for twice at most, a
//! failure that stores nothing, and stale as soon as the text is another one.

use crate::models::{detail, id, kiln, outcome, refresh};
use crate::refresh_written::{PAGE, append, finds};
use engine::models;
use engine::models::proposals;
use engine::view::model::{ModelDetail, ModelPatch, NewModel, ReviewMode};
use engine::view::operation::OperationStatus;
use engine::view::proposal::{ApproveInput, ApproveWhat, DecideOps, Decision, Turn};
use llm::scripted::{Hold, Scripted, Step};
use serde_json::{Value, json};
use std::sync::Arc;
use tests::Fixture;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "lead": { "type": "string" }, "size": { "type": "integer" } },
        "required": ["lead", "size"],
    })
}

fn view(size: u32) -> Step {
    Step::json(&json!({ "lead": "Ada", "size": size }))
}

/// A page with a schema and one new fact; the first view is extracted by a run that finds nothing.
async fn page(script: &Scripted, review: ReviewMode) -> (Fixture, ModelDetail) {
    let f = Fixture::scripted(Arc::new(script.clone())).await;
    let new = NewModel {
        content: Some(PAGE.to_owned()),
        trigger: Some(json!({ "mode": "delta", "response_schema": schema() }).into()),
        ..kiln(review, "delta")
    };
    models::create(&f.engine, &f.bank, new).await.expect("a model");
    // Nothing is in scope, but there is no view yet.
    script.push_for("structured", view(2));
    refresh(&f, false).await;
    script.assert_used_up();
    let before = detail(&f).await;
    assert_eq!(outcome(&before), "content_preserved_no_new_facts", "{:?}", before.last_run);
    assert_eq!(size(&before), Some(2));
    f.fact("Cora joined the team of the kiln.", &["Cora"], "2026-02-20").await;
    (f, before)
}

fn size(detail: &ModelDetail) -> Option<u64> {
    detail.structured_output.as_ref().and_then(|value| value.0["size"].as_u64())
}

#[tokio::test]
async fn a_new_text_gets_a_new_view_and_a_failure_stores_nothing() {
    let script = Scripted::default();
    let (f, before) = page(&script, ReviewMode::Auto).await;
    finds(&script);
    script.push_for("delta_ops", append(&before, "Cora joined."));
    script.push_for("structured", Step::json(&json!({ "lead": 7, "size": "many" })));
    script.push_for("structured_retry", Step::json(&json!({ "lead": "Ada" })));
    refresh(&f, false).await;
    script.assert_used_up();
    let failed = detail(&f).await;
    assert_eq!(outcome(&failed), "refresh_failed_structured_output", "{:?}", failed.last_run);
    let report = failed.last_run.as_ref().and_then(|run| run.report.clone()).expect("a report");
    assert!(report.detail.as_deref().is_some_and(|why| why.contains("size")), "{report:?}");
    let retry = script.requests().into_iter().find(|r| r.scope == "structured_retry");
    assert!(format!("{:?}", retry.expect("a retry").messages).contains("lead"));
    assert_eq!(
        (&failed.content, failed.structured_output),
        (&before.content, before.structured_output.clone())
    );
    assert_eq!(failed.model.last_refreshed_at, before.model.last_refreshed_at);
    let operation = &engine::ops::list(&f.engine, &f.bank).await.expect("operations")[0];
    assert_eq!(operation.status, OperationStatus::Failed, "the same would fail the same way");
    finds(&script);
    script.push_for("delta_ops", append(&before, "Cora joined."));
    script.push_for("structured", view(3));
    refresh(&f, false).await;
    let after = detail(&f).await;
    assert_eq!((outcome(&after), size(&after)), ("content_written", Some(3)));
    assert!(!after.structured_stale);
    let seen = script.requests().into_iter().rfind(|r| r.scope == "structured").expect("a call");
    assert!(format!("{:?}", seen.messages).contains("Cora joined."), "from the final text");
}

#[tokio::test]
async fn an_edit_a_revert_and_another_schema_make_the_view_stale() {
    let script = Scripted::default();
    let (f, before) = page(&script, ReviewMode::Auto).await;
    let text = before.content.replace("Ben helps.", "Ben and Dan help.");
    let edited = models::edit_content(&f.engine, &f.bank, &id(), text, 1).await.expect("an edit");
    assert!(edited.structured_stale && size(&edited) == Some(2));
    script.push_for("structured", view(3));
    let again = models::reextract_structured(&f.engine, &f.bank, &id()).await.expect("a view");
    assert!(!again.structured_stale && size(&again) == Some(3));
    let text = again.content.replace("Ben and Dan help.", "Dan helps.");
    models::edit_content(&f.engine, &f.bank, &id(), text, 2).await.expect("an edit");
    let back = models::revert(&f.engine, &f.bank, &id(), 2, false).await.expect("reverted");
    assert!(back.structured_stale);
    script.push_for("structured", Step::text("no"));
    script.push_for("structured_retry", Step::text("no"));
    let failed = models::reextract_structured(&f.engine, &f.bank, &id()).await;
    assert_eq!(failed.expect_err("unreadable").reason(), "structured_output_failed");
    script.push_for("structured", view(2));
    models::reextract_structured(&f.engine, &f.bank, &id()).await.expect("a view");
    // Another schema: the next run extracts anew although the text stays, and only once.
    let other = json!({ "type": "object", "properties": { "names": { "type": "array" } } });
    let patch = ModelPatch {
        trigger: Some(json!({ "response_schema": other }).into()),
        ..ModelPatch::default()
    };
    let patched = models::update(&f.engine, &f.bank, &id(), patch).await.expect("an update");
    assert!(patched.structured_stale);
    finds(&script);
    script.push_for("delta_ops", Step::json(&json!({ "operations": [], "irrelevant": ["f1"] })));
    script.push_for("structured", Step::json(&json!({ "names": ["Ada"] })));
    refresh(&f, false).await;
    let renewed = detail(&f).await;
    assert_eq!(outcome(&renewed), "content_unchanged", "{:?}", renewed.last_run);
    assert!(!renewed.structured_stale);
    refresh(&f, false).await;
    script.assert_used_up();
    let none = ModelPatch {
        trigger: Some(json!({ "response_schema": null }).into()),
        ..ModelPatch::default()
    };
    models::update(&f.engine, &f.bank, &id(), none).await.expect("an update");
    let without = models::reextract_structured(&f.engine, &f.bank, &id()).await;
    assert_eq!(without.expect_err("no schema").reason(), "invalid_request");
}

#[tokio::test]
async fn a_dry_run_foretells_that_the_view_cannot_be_extracted() {
    let script = Scripted::default();
    let (f, before) = page(&script, ReviewMode::Auto).await;
    finds(&script);
    script.push_for("delta_ops", append(&before, "Cora joined."));
    script.push_for("structured", Step::text("no"));
    script.push_for("structured_retry", Step::text("no"));
    let told = models::dry_run(&f.engine, &f.bank, &id(), None).await.expect("a dry run");
    assert_eq!(told.outcome, "refresh_failed_structured_output");
    assert_eq!(told.failure_reason.as_deref(), Some("structured_output_failed"));
    assert!(told.candidate_content.contains("Cora joined."));
    assert_eq!(told.preview_content, before.content);
}

/// FC-10: the structured view is recomputed when what is published is not exactly what was shown.
#[tokio::test]
async fn fc_10_a_partly_approved_text_gets_a_view_of_its_own() {
    let script = Scripted::default();
    let (f, before) = page(&script, ReviewMode::Manual).await;
    let section = &before.structure.sections[0].id;
    finds(&script);
    let op = |text: &str| json!({ "op": "append_block", "section_id": section, "text": text, "evidence": ["f1"] });
    let ops = json!({ "operations": [op("First."), op("Second."), op("Third.")] });
    script.push_for("delta_ops", Step::json(&ops));
    script.push_for("structured", view(6));
    refresh(&f, false).await;
    script.assert_used_up();
    let proposal = proposals::inbox(&f.engine, &f.bank).await.expect("an inbox").remove(0);
    let mut shown = proposals::get(&f.engine, &f.bank, &proposal.id).await.expect("the proposal");
    for (word, decision) in [
        ("First.", Decision::Accepted),
        ("Second.", Decision::Rejected),
        ("Third.", Decision::Accepted),
    ] {
        let op = shown.ops.iter().find(|op| op.new_text.as_deref() == Some(word)).expect("it");
        let input = DecideOps::all(std::slice::from_ref(&op.op_id), decision);
        shown =
            proposals::decide(&f.engine, &f.bank, &proposal.id, input, Turn::at(shown.state_seq))
                .await
                .expect("a decision");
    }
    script.push_for("structured", view(4));
    let sure = crate::proposals::sure();
    proposals::approve(&f.engine, &f.bank, &proposal.id, sure, Turn::at(shown.state_seq))
        .await
        .expect("a version");
    script.assert_used_up();
    let after = detail(&f).await;
    assert!(after.content.contains("First.\n\nThird.\n") && !after.content.contains("Second."));
    assert_eq!((size(&after), after.structured_stale), (Some(4), false));
    assert!(script.scopes().iter().filter(|scope| *scope == "delta_ops").count() == 1);
}

/// What a run spent stays on record when it is stopped while its structured view is extracted.
#[tokio::test]
async fn a_run_that_is_stopped_at_its_end_still_tells_what_it_spent() {
    let script = Scripted::default();
    let (f, before) = page(&script, ReviewMode::Auto).await;
    let hold = Hold::default();
    finds(&script);
    script.push_for("delta_ops", append(&before, "Cora joined."));
    script.push_for("structured", view(3).held_by(&hold));
    let asked = models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
    let engine = f.engine.clone();
    let running = tokio::spawn(async move { engine::ops::run_pending(&engine).await });
    hold.arrived().await;
    engine::ops::cancel(&f.engine, &f.bank, &asked.operation).await.expect("cancelled");
    running.await.expect("a task").expect("a queue");
    let run = models::refresh_runs(&f.engine, &f.bank, &id()).await.expect("runs").remove(0);
    assert_eq!(run.outcome, "cancelled");
    assert!(run.usage.total_tokens > 0, "{:?}", run.usage);
    assert_eq!(run.ops_applied, 1);
}

/// A view that was extracted from a text which is not the one proposed is not published as its view.
#[tokio::test]
async fn a_proposal_over_a_document_that_moved_has_no_view_of_another_text() {
    let script = Scripted::default();
    let (f, before) = page(&script, ReviewMode::Manual).await;
    let hold = Hold::default();
    finds(&script);
    script.push_for("delta_ops", append(&before, "Cora joined.").held_by(&hold));
    script.push_for("structured", view(3));
    models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
    let engine = f.engine.clone();
    let running = tokio::spawn(async move { engine::ops::run_pending(&engine).await });
    hold.arrived().await;
    let text = before.content.replace("Wood is short.", "Wood is dear.");
    models::edit_content(&f.engine, &f.bank, &id(), text, 1).await.expect("an edit");
    hold.release();
    running.await.expect("a task").expect("a queue");
    let waiting = crate::proposals::waiting(&f).await;
    assert_eq!(waiting.structured_output, None);
    let waiting = crate::proposals::accept_all(&f, &waiting).await;
    script.push_for("structured", view(4));
    crate::proposals::approve(&f, &waiting, crate::proposals::sure()).await;
    script.assert_used_up();
    assert_eq!(size(&detail(&f).await), Some(4));
    // Kept later, a dry run is about the document as it is then.
    f.fact("Dan joined the team of the kiln.", &["Dan"], "2026-02-21").await;
    let now = detail(&f).await;
    finds(&script);
    script.push_for("delta_ops", append(&now, "Dan joined."));
    script.push_for("structured", view(5));
    let told = models::dry_run(&f.engine, &f.bank, &id(), None).await.expect("a dry run");
    let text = now.content.replace("Wood is dear.", "Wood is cheap.");
    models::edit_content(&f.engine, &f.bank, &id(), text, now.model.version)
        .await
        .expect("an edit");
    models::keep_dry_run(&f.engine, &f.bank, &told.dry_run_id).await.expect("kept");
    assert_eq!(crate::proposals::waiting(&f).await.structured_output, None);
}

/// An approval that worked on settings which are others by now is not carried out on the new ones.
#[tokio::test]
async fn settings_that_move_while_an_approval_is_made_ready_stop_it() {
    let script = Scripted::default();
    let (f, before) = page(&script, ReviewMode::Manual).await;
    finds(&script);
    script.push_for("delta_ops", append(&before, "Cora joined."));
    script.push_for("structured", view(3));
    refresh(&f, false).await;
    let waiting = crate::proposals::waiting(&f).await;
    let patches = [
        ModelPatch { tags: Some(vec!["x".to_owned()]), ..ModelPatch::default() },
        ModelPatch { name: Some("Oven".to_owned()), ..ModelPatch::default() },
        ModelPatch { source_query: Some("Who is here?".to_owned()), ..ModelPatch::default() },
    ];
    for patch in patches {
        let hold = Hold::default();
        script.push_for("structured", view(4).held_by(&hold));
        let (engine, bank, proposal) = (f.engine.clone(), f.bank.clone(), waiting.row.id.clone());
        let draft = before.content.replace("Ben helps.", "Ben helps.\n\nCora joined.\n\nMore.");
        let input = ApproveInput {
            what: ApproveWhat::Draft,
            draft: Some(draft),
            ..crate::proposals::sure()
        };
        let turn = Turn::at(waiting.state_seq);
        let approving = tokio::spawn(async move {
            proposals::approve(&engine, &bank, &proposal, input, turn).await
        });
        hold.arrived().await;
        models::update(&f.engine, &f.bank, &id(), patch.clone()).await.expect("an update");
        hold.release();
        let refused = approving.await.expect("a task");
        assert_eq!(refused.expect_err("moved").reason(), "state_conflict", "{patch:?}");
        let after = detail(&f).await;
        assert_eq!(after.model.version, 1, "{patch:?}");
    }
}
