//! What keeps queued work from running, and lets it go: a review, the day's tokens, a missing
//! language model, a person's pause.

use crate::automatic::{built, consolidated, kept, news, operation, queue, runs, skips, tick};
use crate::models::{detail, facts, id, kiln, outcome};
use engine::memory::{self, consolidate};
use engine::models::{self, proposals};
use engine::view::memory::{ExtractionMode, ImportFiles, RetainText};
use engine::view::model::{ModelState, NewModel, ReviewMode};
use engine::view::operation::OperationStatus;
use engine::view::proposal::{
    DecideOps, Decision, ProposalState, ProposalView, RejectDisposition, RejectInput, Turn,
};
use engine::{endpoints, ops, settings};
use llm::Usage;
use llm::scripted::{Scripted, Step};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use store::Moment;
use tests::{Fixture, Setup, open};

const HOUR: i64 = 3_600_000;

async fn waiting(f: &Fixture) -> ProposalView {
    let inbox = proposals::inbox(&f.engine, &f.bank).await.expect("an inbox");
    assert_eq!(inbox.len(), 1, "{:?}", detail(f).await.last_run);
    proposals::get(&f.engine, &f.bank, &inbox[0].id).await.expect("the proposal")
}

/// A reviewed model with one approved version, and a proposal over one more fact.
async fn reviewed(f: &Fixture) -> ProposalView {
    facts(f).await;
    let trigger = json!({ "mode": "delta", "refresh_after_consolidation": true });
    let new = NewModel { trigger: Some(trigger.into()), ..kiln(ReviewMode::Manual, "delta") };
    models::create(&f.engine, &f.bank, new).await.expect("a model");
    f.run_queue().await;
    let first = waiting(f).await;
    let first = decide(f, &first, Decision::Accepted).await;
    let sure = crate::proposals::sure();
    proposals::approve(&f.engine, &f.bank, &first.row.id, sure, Turn::at(first.state_seq))
        .await
        .expect("a version");
    news(f, 1).await;
    assert_eq!(consolidated(f, &[]).await, 1);
    f.run_queue().await;
    waiting(f).await
}

async fn decide(f: &Fixture, view: &ProposalView, decision: Decision) -> ProposalView {
    let op_ids: Vec<String> = view.ops.iter().map(|op| op.op_id.clone()).collect();
    let input = DecideOps::all(&op_ids, decision);
    proposals::decide(&f.engine, &f.bank, &view.row.id, input, Turn::at(view.state_seq))
        .await
        .expect("a decision")
}

async fn reject(f: &Fixture, view: &ProposalView, disposition: RejectDisposition) {
    let input = RejectInput { disposition: Some(disposition), ..RejectInput::default() };
    proposals::reject(&f.engine, &f.bank, &view.row.id, input, Turn::at(view.state_seq))
        .await
        .expect("a rejection");
}

/// 13.6: an unanswered proposal burns nothing; newer facts replace it while nobody has begun.
#[tokio::test]
async fn an_unanswered_proposal_is_made_again_only_for_newer_facts() {
    let f = Fixture::new().await;
    let open = reviewed(&f).await;
    assert_eq!(consolidated(&f, &[]).await, 0);
    assert_eq!(queue(&f).await, []);
    assert_eq!(skips(&f).await, [("review".to_owned(), 1)]);
    news(&f, 2).await;
    assert_eq!(consolidated(&f, &[]).await, 1);
    f.run_queue().await;
    let newer = waiting(&f).await;
    assert!(newer.row.id != open.row.id && newer.row.number == open.row.number + 1);
}

/// 13.6: while a person decides, newer facts wait, held; they are read when the decision is made.
#[tokio::test]
async fn a_begun_review_holds_the_run_until_it_is_decided() {
    for retry in [true, false] {
        let f = Fixture::new().await;
        let open = reviewed(&f).await;
        let begun = decide(&f, &open, Decision::Rejected).await;
        news(&f, 2).await;
        assert_eq!(consolidated(&f, &[]).await, 1);
        f.run_queue().await;
        let held = queue(&f).await;
        assert_eq!(held.len(), 1);
        assert_eq!(held[0].held_reason.as_deref(), Some("review_in_progress"));
        let shown = detail(&f).await.model;
        assert_eq!(shown.held_reason.as_deref(), Some("review_in_progress"));
        assert_eq!(shown.state, ModelState::WaitingForReview);
        assert_eq!(skips(&f).await, [("review".to_owned(), 1)]);
        let refused = ops::retry(&f.engine, &f.bank, &held[0].id).await.expect_err("it waits");
        assert_eq!(refused.reason(), "not_retryable");
        let disposition = if retry { RejectDisposition::Retry } else { RejectDisposition::Dismiss };
        reject(&f, &begun, disposition).await;
        f.run_queue().await;
        assert_eq!(queue(&f).await, []);
        let ran = operation(&f, &held[0].id).await;
        assert_eq!(ran.status, OperationStatus::Completed);
        assert_eq!(outcome(&detail(&f).await), "proposal_created");
    }
}

/// 13.6: a review that no longer fits the document is one until it is decided.
#[tokio::test]
async fn a_review_in_conflict_goes_on_holding_the_run() {
    let f = Fixture::new().await;
    let open = reviewed(&f).await;
    decide(&f, &open, Decision::Accepted).await;
    news(&f, 2).await;
    assert_eq!(consolidated(&f, &[]).await, 1);
    let version = detail(&f).await.model.version;
    let other = "# Ovens\n\nThey are cold.\n".to_owned();
    models::edit_content(&f.engine, &f.bank, &id(), other, version).await.expect("an edit");
    let stuck = waiting(&f).await;
    assert_eq!(stuck.row.state, ProposalState::Conflicted);
    f.run_queue().await;
    let held = queue(&f).await;
    assert_eq!(held.len(), 1, "{:?}", waiting(&f).await.row);
    assert_eq!(held[0].held_reason.as_deref(), Some("review_in_progress"));
    reject(&f, &stuck, RejectDisposition::Dismiss).await;
    f.run_queue().await;
    assert_eq!(operation(&f, &held[0].id).await.status, OperationStatus::Completed);
}

/// 12.4: for a reviewed model the interval counts from the newest proposal, too.
#[tokio::test]
async fn the_interval_of_a_reviewed_model_counts_from_its_newest_proposal() {
    let f = Fixture::new().await;
    f.clock.advance_ms(-HOUR);
    let open = reviewed(&f).await;
    f.clock.advance_ms(HOUR);
    let floor = json!({ "mental_model_min_refresh_interval_seconds": 2 * 3600 });
    settings::set_of(&f.engine, &f.bank, floor.into()).await.expect("settings");
    news(&f, 2).await;
    consolidated(&f, &[]).await;
    f.run_queue().await;
    let parked = queue(&f).await;
    assert_eq!(parked[0].next_retry_at, Some(open.row.created_at + chrono::Duration::hours(2)));
}

/// A language model that goes on looking, at 20,000 tokens a call.
fn spender() -> Scripted {
    let script = Scripted::default();
    for n in 0..40 {
        let args = json!({ "reason": "to look", "query": format!("kiln order {n}") });
        let usage = Usage {
            input_tokens: 15_000,
            output_tokens: 5_000,
            cached_tokens: 0,
            thoughts_tokens: 0,
        };
        script.push(Step::call("recall", args).using(Some(usage)));
    }
    script
}

/// FC-15: automatic work stops at the day's ceiling, one call over at most; a person may go on.
#[tokio::test]
async fn fc_15_the_ceiling_stops_automatic_work_until_the_next_day() {
    let script = spender();
    let f = Fixture::scripted(Arc::new(script.clone())).await;
    let new = NewModel {
        content: Some("# Kiln\n\nIt is old.\n".to_owned()),
        ..kept(json!({ "refresh_cron": "0 * * * *" }))
    };
    models::create(&f.engine, &f.bank, new).await.expect("a model");
    news(&f, 1).await;
    let ceiling = json!({ "daily_token_ceiling": 50_000 });
    settings::set_program(&f.engine, ceiling.into()).await.expect("settings");
    f.clock.advance_ms(HOUR);
    tick(&f).await;
    f.run_queue().await;
    assert_eq!(script.requests().len(), 3, "two under the ceiling, one across it");
    let held = queue(&f).await;
    assert_eq!(held[0].held_reason.as_deref(), Some("token_ceiling"));
    assert_eq!((held[0].retry_count, held[0].error_reason.as_deref()), (0, None));
    let shown = detail(&f).await;
    assert_eq!((shown.model.failure_streak, shown.model.paused_until), (0, None));
    assert_eq!(shown.model.held_reason.as_deref(), Some("token_ceiling"));
    let spent = settings::program(&f.engine).await.expect("settings");
    assert_eq!((spent.tokens_today, spent.ceiling_reached), (60_000, true));
    for _ in 0..20 {
        f.clock.advance_ms(HOUR / 2);
        tick(&f).await;
        f.run_queue().await;
    }
    assert_eq!(script.requests().len(), 3);
    // The next day it goes on; then a person raises the ceiling.
    f.clock.advance_ms(5 * HOUR);
    f.run_queue().await;
    assert_eq!(script.requests().len(), 6);
    let raised = json!({ "daily_token_ceiling": 70_000 });
    settings::set_program(&f.engine, raised.into()).await.expect("settings");
    f.run_queue().await;
    assert_eq!(script.requests().len(), 7, "60,000 are under the new one; 80,000 are not");
    // Explicit work goes on after a warning, and joins what was held.
    let asked = models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
    assert!(asked.ceiling_reached && asked.deduplicated);
    f.run_queue().await;
    assert!(script.requests().len() > 8, "a person is not hindered");
    let asked = operation(&f, &asked.operation).await;
    assert_eq!((asked.automatic, asked.held_reason), (false, None));
    assert!(runs(&f, &id()).await.iter().any(|run| run.outcome == "cancelled"));
}

/// A ceiling that is reached before the run begins is on record as a skip.
#[tokio::test]
async fn a_spent_day_holds_what_comes_due() {
    let script = Scripted::default();
    let f = Fixture::scripted(Arc::new(script.clone())).await;
    let new = NewModel {
        content: Some("# Kiln\n\nIt is old.\n".to_owned()),
        ..kept(json!({ "refresh_cron": "0 * * * *" }))
    };
    models::create(&f.engine, &f.bank, new).await.expect("a model");
    news(&f, 1).await;
    let args = json!({ "reason": "to look", "query": "kiln" });
    script.push(Step::call("search_observations", args.clone()));
    script.push(Step::call("recall", args));
    script.push(Step::call("done", json!({ "answer": "Nothing.", "memory_ids": [] })));
    models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
    f.run_queue().await;
    let ceiling = json!({ "daily_token_ceiling": 1 });
    settings::set_of(&f.engine, &f.bank, ceiling.into()).await.expect("settings");
    // The record of an asked call is written beside it.
    f.engine.store().write("settle", |_| Ok(())).await.expect("a turn");
    let asked = script.requests().len();
    news(&f, 2).await;
    f.clock.advance_ms(HOUR);
    assert_eq!(tick(&f).await.queued.len(), 1);
    f.run_queue().await;
    assert_eq!(script.requests().len(), asked);
    assert_eq!(queue(&f).await[0].held_reason.as_deref(), Some("token_ceiling"));
    assert_eq!(skips(&f).await, [("ceiling".to_owned(), 1)]);
    // A person runs it now.
    let id = queue(&f).await.remove(0).id;
    let now = ops::retry(&f.engine, &f.bank, &id).await.expect("run now");
    assert!(!now.automatic && now.held_reason.is_none());
}

/// 12.3: with nothing to answer nothing is queued; what waited is held and goes on by itself.
#[tokio::test]
async fn without_anything_that_answers_work_is_refused_or_held() {
    let f = Fixture::new().await;
    built(&f, json!({ "refresh_cron": "0 * * * *" })).await;
    news(&f, 1).await;
    let asked = models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
    endpoints::set_extractive(&f.engine, false).await.expect("settings");
    f.run_queue().await;
    let held = operation(&f, &asked.operation).await;
    assert_eq!(held.status, OperationStatus::Pending);
    assert_eq!(held.held_reason.as_deref(), Some("llm_not_configured"));
    let refused = models::refresh(&f.engine, &f.bank, &id(), false).await.expect_err("nothing");
    assert_eq!(refused.reason(), "llm_not_configured");
    ops::cancel(&f.engine, &f.bank, &asked.operation).await.expect("cancelled");
    f.clock.advance_ms(HOUR);
    assert_eq!(tick(&f).await.queued.len(), 0);
    assert_eq!(consolidated(&f, &[]).await, 0);
    endpoints::set_extractive(&f.engine, true).await.expect("settings");
    assert_eq!(tick(&f).await.queued.len(), 1, "the boundary was not spent on it");
    endpoints::set_extractive(&f.engine, false).await.expect("settings");
    f.run_queue().await;
    assert_eq!(queue(&f).await[0].held_reason.as_deref(), Some("llm_not_configured"));
    endpoints::set_extractive(&f.engine, true).await.expect("settings");
    f.run_queue().await;
    assert_eq!((queue(&f).await, detail(&f).await.model.version), (Vec::new(), 2));
}

/// A person pauses what starts by itself; what they ask for runs.
#[tokio::test]
async fn a_pause_of_the_background_holds_automatic_work_alone() {
    let f = Fixture::new().await;
    built(&f, json!({ "refresh_cron": "0 * * * *" })).await;
    settings::set_program(&f.engine, json!({ "background_paused": true }).into())
        .await
        .expect("settings");
    news(&f, 1).await;
    f.clock.advance_ms(HOUR);
    tick(&f).await;
    f.run_queue().await;
    assert_eq!(queue(&f).await[0].held_reason.as_deref(), Some("paused_by_person"));
    let asked = models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
    assert!(asked.deduplicated);
    f.run_queue().await;
    assert_eq!(detail(&f).await.model.version, 2);
    news(&f, 2).await;
    f.clock.advance_ms(HOUR);
    tick(&f).await;
    f.run_queue().await;
    settings::set_program(&f.engine, json!({ "background_paused": null }).into())
        .await
        .expect("settings");
    f.run_queue().await;
    assert_eq!((queue(&f).await, detail(&f).await.model.version), (Vec::new(), 3));
}

/// Settings are checked as a whole, and each fault names its key.
#[tokio::test]
async fn settings_of_bank_and_program_are_checked() {
    let f = Fixture::new().await;
    let start = settings::of(&f.engine, &f.bank).await.expect("settings");
    assert_eq!(start.effective.0["mental_model_min_refresh_interval_seconds"], 0);
    assert!(start.stated.0.get("mental_model_min_refresh_interval_seconds").is_none());
    let patch = json!({ "mental_model_min_refresh_interval_seconds": 60 });
    settings::set_program(&f.engine, patch.into()).await.expect("settings");
    let under = settings::of(&f.engine, &f.bank).await.expect("settings");
    assert_eq!(under.effective.0["mental_model_min_refresh_interval_seconds"], 60);
    for (patch, reason) in [
        (json!({ "daily_token_ceiling": 0 }), "setting_out_of_range"),
        (json!({ "daily_token_ceiling": "many" }), "setting_out_of_range"),
        (json!({ "odd": 1 }), "unknown_setting"),
        (json!({ "odd": 1, "daily_token_ceiling": -1 }), "invalid_request"),
        (json!({}), "nothing_to_change"),
    ] {
        let refused = settings::set_of(&f.engine, &f.bank, patch.clone().into()).await;
        assert_eq!(refused.expect_err("a fault").reason(), reason, "{patch}");
    }
    for patch in [json!({ "cron_tick_seconds": -1 }), json!({ "cron_tick_seconds": true })] {
        let refused = settings::set_program(&f.engine, patch.into()).await;
        assert_eq!(refused.expect_err("a fault").reason(), "setting_out_of_range");
    }
    let off = json!({ "cron_tick_seconds": 0 });
    let program = settings::set_program(&f.engine, off.into()).await.expect("settings");
    assert_eq!(program.effective.0["cron_tick_seconds"], 0);
    assert!(program.settings.iter().any(|info| info.key == "cron_tick_seconds"));
    let back = json!({ "cron_tick_seconds": null });
    let program = settings::set_program(&f.engine, back.into()).await.expect("settings");
    assert_eq!(program.effective.0["cron_tick_seconds"], 300);
}

/// Lets nothing be claimed after so many claims, so that work which goes round in the queue without
/// end fails its test.
fn bound_claims(f: &Fixture, most: u32) {
    let claims = AtomicU32::new(0);
    f.engine.store().set_commit_hook(move |point| {
        let one = point.label == "claim_operation" && point.moment == Moment::AfterCommit;
        let n = claims.fetch_add(u32::from(one), Ordering::SeqCst);
        if n > most { Err(store::Error::Closed) } else { Ok(()) }
    });
}

/// 12.1: folding waits, held, while nothing can do it, and goes on by itself.
#[tokio::test]
async fn folding_waits_while_nothing_can_do_it() {
    let f = Fixture::new().await;
    crate::consolidation::tagged(&f, "The kiln is old.", "2026-01-05", &[]).await;
    let asked = consolidate::now(&f.engine, &f.bank, None).await.expect("a consolidation");
    endpoints::set_extractive(&f.engine, false).await.expect("settings");
    bound_claims(&f, 20);
    f.run_queue().await;
    let held = operation(&f, &asked.operation).await;
    assert_eq!((held.status, held.retry_count), (OperationStatus::Pending, 0));
    assert_eq!(held.held_reason.as_deref(), Some("llm_not_configured"));
    let refused = consolidate::now(&f.engine, &f.bank, None).await.expect_err("nothing folds");
    assert_eq!(refused.reason(), "llm_not_configured");
    endpoints::set_extractive(&f.engine, true).await.expect("settings");
    f.run_queue().await;
    let ran = operation(&f, &asked.operation).await;
    assert_eq!((ran.status, ran.held_reason), (OperationStatus::Completed, None));
}

/// Texts that are to be read by a language model wait for one; those that are kept as they are do not.
#[tokio::test]
async fn reading_waits_for_a_language_model() {
    let f = Fixture::new().await;
    let text = |mode| RetainText {
        text: "The kiln was lit on Monday.".to_owned(),
        document_id: None,
        title: None,
        context: None,
        timestamp: None,
        tags: Vec::new(),
        mode: Some(mode),
    };
    let asked = memory::retain(&f.engine, &f.bank, text(ExtractionMode::Concise)).await;
    let asked = asked.expect("a retain");
    let kept = memory::retain(&f.engine, &f.bank, text(ExtractionMode::Chunks)).await;
    let kept = kept.expect("a retain");
    let file = f.folder.path().join("kiln.md");
    std::fs::write(&file, "The kiln was lit on Tuesday.").expect("a file");
    let files = ImportFiles {
        paths: vec![file.display().to_string()],
        tags: Vec::new(),
        mode: Some(ExtractionMode::Concise),
    };
    let import = memory::import(&f.engine, &f.bank, files).await.expect("an import");
    for extractive in [true, false] {
        endpoints::set_extractive(&f.engine, extractive).await.expect("settings");
        f.run_queue().await;
        for id in [&asked, &import] {
            let held = operation(&f, id).await;
            assert_eq!(held.status, OperationStatus::Pending, "{:?}", held.error_message);
            assert_eq!(held.held_reason.as_deref(), Some("llm_not_configured"));
        }
    }
    assert_eq!(operation(&f, &kept).await.status, OperationStatus::Completed);
    // With one, it goes on by itself.
    let script = Scripted::default();
    for day in ["Monday", "Tuesday"] {
        let fact = json!({ "what": format!("The kiln was lit on {day}.") });
        script.push_for("retain_extract", Step::json(&json!({ "facts": [fact] })));
    }
    let Fixture { folder, clock, engine, bank } = f;
    drop(engine);
    let setup = Setup { llm: Some(Arc::new(script)), ..Setup::default() };
    let engine = open(folder.path(), &clock, &setup).await.expect("an engine");
    let f = Fixture { folder, clock, engine, bank };
    f.run_queue().await;
    for id in [&asked, &import] {
        let ran = operation(&f, id).await;
        assert_eq!(ran.status, OperationStatus::Completed, "{:?}", ran.error_message);
    }
}
