//! The queue under automatic and asked work: joining a run that goes on, stopping it, trying again,
//! pausing after failures, and what a killed program finds when it starts again.

use crate::automatic::{built, consolidated, kept, news, operation, queue, skips, tick};
use crate::models::{detail, id, outcome, reopen};
use domain::OperationId;
use engine::models::{self, automatic};
use engine::ops;
use engine::view::model::{ModelPatch, ModelState, NewModel};
use engine::view::operation::{OperationQuery, OperationStatus};
use llm::scripted::{Hold, Scripted, Step};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use store::Moment;
use tests::Fixture;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

fn timeout() -> llm::Error {
    llm::Error::Timeout { endpoint: "http://127.0.0.1".to_owned(), limit: Duration::from_secs(120) }
}

/// A document by hand that refreshes by itself, one new fact, and a language model with a script.
async fn page(script: &Scripted, trigger: serde_json::Value) -> Fixture {
    let f = Fixture::scripted(Arc::new(script.clone())).await;
    let new = NewModel { content: Some("# Team\n\nAda leads.\n".to_owned()), ..kept(trigger) };
    models::create(&f.engine, &f.bank, new).await.expect("a model");
    news(&f, 1).await;
    f
}

/// A whole run that uses one fact and changes nothing.
fn run_of(script: &Scripted) {
    let args = |query: &str| json!({ "reason": "to look", "query": query });
    script.push(Step::call("search_observations", args("kiln")));
    script.push(Step::call("recall", args("kiln team")));
    script.push(Step::call("done", json!({ "answer": "Nothing.", "memory_ids": [] })));
}

/// A list narrowed to a time is paged by the last row shown like any other, however many were queued
/// at one moment.
#[tokio::test]
async fn a_list_of_a_time_is_paged_without_a_gap_or_a_repeat() {
    let f = Fixture::new().await;
    let mut queued = Vec::new();
    for hour in 0..5_i64 {
        for n in 0..3 {
            let id = OperationId(format!("op-{hour}-{n}"));
            let kind = store::operations::OperationType::Export;
            let new = store::operations::NewOperation::asked(id.clone(), kind, json!({}));
            let (bank, now) = (f.bank.clone(), f.engine.now());
            f.engine
                .store()
                .write("test_operation", move |tx| {
                    let key = store::banks::key(tx, &bank)?;
                    store::operations::submit(tx, key, &new, now)
                })
                .await
                .expect("queued");
            queued.push((f.engine.now(), id));
        }
        f.clock.advance_ms(3_600_000);
    }
    let (since, until) = (queued[3].0, queued[12].0);
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let query = engine::view::operation::OperationQuery {
            since: Some(since),
            until: Some(until),
            limit: Some(4),
            after: after.take(),
            ..engine::view::operation::OperationQuery::default()
        };
        let page = engine::ops::page(&f.engine, &f.bank, query).await.expect("a page");
        seen.extend(page.operations.into_iter().map(|row| row.id));
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    let wanted: Vec<OperationId> = queued[3..12].iter().rev().map(|(_, id)| id.clone()).collect();
    assert_eq!(seen, wanted);
}

/// 12.3 and FC-14: triggers during a run lead to exactly one follow-up, an explicit submit waits
/// behind it.
#[tokio::test]
async fn fc_14_triggers_during_a_run_lead_to_one_follow_up() {
    for asked in [false, true] {
        let script = Scripted::default();
        let f = page(&script, json!({ "refresh_after_consolidation": true })).await;
        let hold = Hold::default();
        let args = json!({ "reason": "to look", "query": "kiln" });
        script.push(Step::call("search_observations", args.clone()).held_by(&hold));
        script.push(Step::call("recall", args));
        script.push(Step::call("done", json!({ "answer": "Nothing.", "memory_ids": [] })));
        assert_eq!(consolidated(&f, &[]).await, 1);
        let running = queue(&f).await.remove(0).id;
        let engine = f.engine.clone();
        let worker = tokio::spawn(async move { ops::run_pending(&engine).await });
        hold.arrived().await;
        news(&f, 2).await;
        assert_eq!((consolidated(&f, &[]).await, consolidated(&f, &[]).await), (1, 1));
        let going = queue(&f).await;
        assert_eq!((going.len(), &going[0].id), (1, &running), "both joined the run");
        if asked {
            let mine = models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
            assert!(!mine.deduplicated && mine.operation != running, "it waits behind");
        }
        run_of(&script);
        hold.release();
        worker.await.expect("a task").expect("a queue");
        script.assert_used_up();
        let all = ops::list(&f.engine, &f.bank).await.expect("operations");
        assert_eq!(all.len(), 2, "one run, one more");
        assert!(all.iter().all(|row| row.status == OperationStatus::Completed), "{all:?}");
        let causes: &[&str] = if asked {
            &["manual_refresh", "after_consolidation"]
        } else {
            &["after_consolidation"]
        };
        assert_eq!(all[0].triggered_by, causes);
        assert_eq!(all[0].automatic, !asked);
        assert!(detail(&f).await.model.refresh_reasons.is_empty(), "the late fact was read, too");
    }
}

/// FC-12 (b): a fact that comes during a run is newer than the watermark.
#[tokio::test]
async fn fc_12_a_late_fact_is_read_by_the_next_run() {
    let script = Scripted::default();
    let f = page(&script, json!({})).await;
    let hold = Hold::default();
    let args = json!({ "reason": "to look", "query": "kiln" });
    script.push(Step::call("search_observations", args.clone()).held_by(&hold));
    script.push(Step::call("recall", args));
    script.push(Step::call("done", json!({ "answer": "Nothing.", "memory_ids": [] })));
    models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
    let engine = f.engine.clone();
    let worker = tokio::spawn(async move { ops::run_pending(&engine).await });
    hold.arrived().await;
    f.clock.advance_ms(-HOUR);
    news(&f, 2).await;
    f.clock.advance_ms(HOUR);
    hold.release();
    worker.await.expect("a task").expect("a queue");
    let found = detail(&f).await;
    assert_eq!(outcome(&found), "content_preserved_no_new_facts", "{:?}", found.last_run);
    assert_eq!((found.model.state, found.model.newer), (ModelState::Behind, Some(1)));
}

/// 12.5: a stop is obeyed before the commit and refused after it.
#[tokio::test]
async fn a_stopped_run_writes_nothing_and_an_ended_one_cannot_be_stopped() {
    let script = Scripted::default();
    let f = page(&script, json!({})).await;
    let before = detail(&f).await;
    let hold = Hold::default();
    let args = json!({ "reason": "to look", "query": "kiln" });
    script.push(Step::call("search_observations", args).held_by(&hold));
    let asked = models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
    let engine = f.engine.clone();
    let worker = tokio::spawn(async move { ops::run_pending(&engine).await });
    hold.arrived().await;
    ops::cancel(&f.engine, &f.bank, &asked.operation).await.expect("told to stop");
    worker.await.expect("a task").expect("a queue");
    let ended = operation(&f, &asked.operation).await;
    assert_eq!(ended.status, OperationStatus::Cancelled);
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "cancelled");
    assert_eq!((after.content, after.model.version), (before.content, before.model.version));
    assert_eq!(after.model.last_refreshed_at, before.model.last_refreshed_at);
    assert_eq!(after.model.failure_streak, 0, "a stop is no failure");
    let late = ops::cancel(&f.engine, &f.bank, &asked.operation).await.expect_err("too late");
    assert_eq!(late.reason(), "already_finished");
    // Asked again, it runs from the start.
    run_of(&script);
    let again = ops::retry(&f.engine, &f.bank, &asked.operation).await.expect("once more");
    assert_eq!((again.status, again.retry_count), (OperationStatus::Pending, 0));
    f.run_queue().await;
    let done = operation(&f, &asked.operation).await;
    assert_eq!(done.status, OperationStatus::Completed, "{done:?}");
    let refused = ops::retry(&f.engine, &f.bank, &done.id).await.expect_err("it is done");
    assert_eq!(refused.reason(), "not_retryable");
}

/// 12.5: what runs when the program ends is put back, with no retry spent.
#[tokio::test]
async fn the_end_of_the_program_puts_running_work_back() {
    let script = Scripted::default();
    let f = page(&script, json!({})).await;
    let hold = Hold::default();
    let args = json!({ "reason": "to look", "query": "kiln" });
    script.push(Step::call("search_observations", args).held_by(&hold));
    let asked = models::refresh(&f.engine, &f.bank, &id(), true).await.expect("a refresh");
    let engine = f.engine.clone();
    let worker = tokio::spawn(async move { ops::run_pending(&engine).await });
    hold.arrived().await;
    f.engine.close().await;
    worker.await.expect("a task").expect("a queue");
    let waiting = operation(&f, &asked.operation).await;
    assert_eq!((waiting.status, waiting.retry_count), (OperationStatus::Pending, 0));
    assert!(waiting.full && waiting.next_retry_at.is_none());
    ops::run_pending(&f.engine).await.expect("a queue");
    assert_eq!(operation(&f, &asked.operation).await.status, OperationStatus::Pending, "no more");
}

/// FC-02, FC-15 and 12.5: growing waits between attempts, then a pause that new facts do not lift
/// and that a change of the settings, or a refresh that a person asks for, ends.
#[tokio::test]
async fn fc_15_a_dead_endpoint_is_asked_a_handful_of_times_in_half_a_day() {
    let script = Scripted::default();
    for _ in 0..200 {
        script.push(Step::error(timeout()));
    }
    let f = page(&script, json!({ "refresh_cron": "*/5 * * * *" })).await;
    let mut asked_at = Vec::new();
    for look in 0..144 {
        f.clock.advance_ms(5 * MINUTE);
        if look % 12 == 0 {
            news(&f, 10 + look).await;
        }
        let before = script.requests().len();
        tick(&f).await;
        f.run_queue().await;
        if script.requests().len() > before {
            asked_at.push(look);
        }
    }
    // Four attempts each, then pauses of one, two, four and eight hours.
    assert!(asked_at.len() <= 16, "{asked_at:?}");
    let gaps: Vec<u32> =
        asked_at.windows(2).map(|w| w[1] - w[0]).filter(|gap| *gap >= 12).collect();
    assert!(gaps.len() == 3 && gaps.windows(2).all(|w| w[0] < w[1]), "{asked_at:?}");
    let stuck = detail(&f).await;
    assert_eq!(stuck.model.state, ModelState::NeedsAttention);
    assert!(stuck.model.paused_until.is_some_and(|until| until > f.engine.now()));
    assert_eq!(stuck.model.failure_streak, 4);
    let skipped = skips(&f).await;
    assert_eq!(skipped[0].0, "failure_pause");
    assert!(skipped[0].1 > 12, "equal skips are counted in one row: {skipped:?}");

    // A change of the settings ends the pause.
    let renamed = ModelPatch { name: Some("Kiln".to_owned()), ..ModelPatch::default() };
    let lifted = models::update(&f.engine, &f.bank, &id(), renamed).await.expect("settings");
    assert_eq!(lifted.model.paused_until, None);
    f.clock.advance_ms(5 * MINUTE);
    assert_eq!(tick(&f).await.queued.len(), 1);
}

#[tokio::test]
async fn fc_02_a_refresh_that_does_well_ends_the_pause() {
    let script = Scripted::default();
    let f = page(&script, json!({ "refresh_cron": "0 * * * *" })).await;
    f.clock.advance_ms(HOUR);
    assert_eq!(tick(&f).await.queued.len(), 1);
    for wait in [0, 1, 2, 4] {
        f.clock.advance_ms(wait * MINUTE);
        // A call that fails is made once more within the run.
        script.push(Step::error(timeout()));
        script.push(Step::error(timeout()));
        f.run_queue().await;
        script.assert_used_up();
    }
    let failed = detail(&f).await;
    assert_eq!((failed.model.state, failed.model.failure_streak), (ModelState::Failed, 1));
    assert_eq!(failed.model.paused_until, Some(f.engine.now() + chrono::Duration::hours(1)));
    news(&f, 2).await;
    f.clock.advance_ms(58 * MINUTE);
    tick(&f).await;
    assert_eq!(queue(&f).await, [], "a new memory does not lift the pause");
    assert_eq!(skips(&f).await, [("failure_pause".to_owned(), 1)]);
    run_of(&script);
    models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
    f.run_queue().await;
    let well = detail(&f).await;
    assert_eq!((well.model.failure_streak, well.model.paused_until), (0, None));
    assert_eq!(well.model.last_refresh_failed_at, None);
}

/// 12.5: three recoveries, then failed; the failure counts.
#[tokio::test]
async fn a_run_that_kills_the_program_is_given_up() {
    let f = Fixture::new().await;
    built(&f, json!({})).await;
    news(&f, 1).await;
    let asked = models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
    let Fixture { folder, clock, mut engine, bank } = f;
    for count in 1..=4 {
        engine.store().set_commit_hook(|point| match point.label {
            "claim_operation" => Ok(()),
            _ => Err(store::Error::Closed),
        });
        ops::run_pending(&engine).await.expect_err("the program is killed");
        engine.store().set_commit_hook(|_| Ok(()));
        drop(engine);
        engine = reopen(folder.path(), &clock).await;
        let all = ops::list(&engine, &bank).await.expect("operations");
        let found = all.iter().find(|row| row.id == asked.operation).expect("it");
        if count < 4 {
            assert_eq!((found.status, found.retry_count), (OperationStatus::Pending, count));
        } else {
            assert_eq!(found.status, OperationStatus::Failed);
            assert_eq!(found.error_message.as_deref(), Some("exceeded recovery attempts"));
        }
    }
    let model = models::get(&engine, &bank, &id()).await.expect("it").model;
    assert_eq!((model.failure_streak, model.state), (1, ModelState::Failed));
}

/// Killed at every commit of submitting, claiming, running, ending and following up: nothing is lost,
/// and nothing is done twice.
#[tokio::test]
async fn killed_at_any_commit_a_trigger_leads_to_one_run() {
    for moment in [Moment::BeforeCommit, Moment::AfterCommit] {
        for step in 0.. {
            let f = Fixture::new().await;
            built(&f, json!({ "refresh_cron": "0 * * * *" })).await;
            news(&f, 1).await;
            f.clock.advance_ms(HOUR);
            let commits = Arc::new(AtomicU32::new(0));
            let count = Arc::clone(&commits);
            f.engine.store().set_commit_hook(move |point| {
                if point.moment == moment && count.fetch_add(1, Ordering::SeqCst) >= step {
                    return Err(store::Error::Closed);
                }
                Ok(())
            });
            automatic::tick(&f.engine, f.engine.now()).await.ok();
            ops::run_pending(&f.engine).await.ok();
            let reached = commits.load(Ordering::SeqCst) > step;
            let Fixture { folder, clock, engine, bank } = f;
            engine.store().set_commit_hook(|_| Ok(()));
            drop(engine);
            let engine = reopen(folder.path(), &clock).await;
            automatic::tick(&engine, engine.now()).await.expect("a look");
            ops::run_pending(&engine).await.expect("a queue");
            let all = ops::list(&engine, &bank).await.expect("operations");
            let of_schedule: Vec<_> =
                all.iter().filter(|row| row.triggered_by == ["cron"]).collect();
            assert_eq!(of_schedule.len(), 1, "{moment:?} at {step}: {all:?}");
            assert_eq!(of_schedule[0].status, OperationStatus::Completed);
            let model = models::get(&engine, &bank, &id()).await.expect("it").model;
            assert_eq!((model.version, model.state), (2, ModelState::Current), "at {step}");
            if !reached {
                break;
            }
        }
    }
}

/// 12.3: the program stops between the end of a marked run and its follow-up.
#[tokio::test]
async fn a_mark_survives_the_end_of_the_program() {
    let f = Fixture::new().await;
    built(&f, json!({ "refresh_after_consolidation": true })).await;
    news(&f, 1).await;
    assert_eq!(consolidated(&f, &[]).await, 1);
    let marked = Arc::new(AtomicU32::new(0));
    let (engine, bank, seen) = (f.engine.clone(), f.bank.clone(), Arc::clone(&marked));
    let (key, wanted) = (queue(&f).await.remove(0).id, id());
    // As if a consolidation had ended between claim and commit of the run.
    mark(&engine, &bank, &key).await;
    engine.store().set_commit_hook(move |point| {
        if point.label == "follow_up_refresh" {
            seen.fetch_add(1, Ordering::SeqCst);
            return Err(store::Error::Closed);
        }
        Ok(())
    });
    drop(engine);
    f.run_queue().await;
    assert_eq!(marked.load(Ordering::SeqCst), 1, "the follow-up was cut off");
    news(&f, 2).await;
    let Fixture { folder, clock, engine, bank } = f;
    engine.store().set_commit_hook(|_| Ok(()));
    drop(engine);
    let engine = reopen(folder.path(), &clock).await;
    ops::run_pending(&engine).await.expect("a queue");
    let model = models::get(&engine, &bank, &wanted).await.expect("it").model;
    assert_eq!((model.version, model.state), (3, ModelState::Current));
    let all = ops::list(&engine, &bank).await.expect("operations");
    assert_eq!(all[0].triggered_by, ["cron"], "on whose behalf it was marked");
}

/// Marks an operation as a trigger that comes during its run does.
async fn mark(engine: &engine::Engine, bank: &domain::BankId, id: &OperationId) {
    let (bank, id) = (bank.clone(), id.clone());
    engine
        .store()
        .write("mark", move |tx| {
            use store::operations::{NewOperation, OperationType, begin, get, requeue, submit};
            let key = store::banks::key(tx, &bank)?;
            let (one, now) = (get(tx, key, &id)?, tests::at(tests::START));
            begin(tx, one.key, now)?;
            let new = NewOperation {
                model: one.model.clone(),
                dedupe_key: one.dedupe_key.clone(),
                automatic: true,
                joins_running: true,
                triggered_by: vec!["cron".to_owned()],
                ..NewOperation::asked(
                    OperationId("another".to_owned()),
                    OperationType::RefreshMentalModel,
                    json!({}),
                )
            };
            assert!(submit(tx, key, &new, now)?.is_deduplicated());
            requeue(tx, one.key, None, None, false, None, now)?;
            Ok(())
        })
        .await
        .expect("a mark");
}

/// 12.1: lists are narrowed and paged; only what has ended can be removed.
#[tokio::test]
async fn operations_are_listed_by_state_and_kind_and_removed_when_ended() {
    let f = Fixture::new().await;
    built(&f, json!({})).await;
    for n in 0..5 {
        news(&f, n).await;
        models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
        f.run_queue().await;
    }
    let waiting = models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
    let page = |query| ops::page(&f.engine, &f.bank, query);
    let pending =
        OperationQuery { statuses: vec![OperationStatus::Pending], ..OperationQuery::default() };
    let found = page(pending).await.expect("a page");
    assert_eq!(found.operations.len(), 1);
    assert_eq!(found.operations[0].id, waiting.operation);
    let mut seen = Vec::new();
    let mut query = OperationQuery {
        operation_type: Some("refresh_mental_model".to_owned()),
        mental_model_id: Some(id()),
        limit: Some(2),
        ..OperationQuery::default()
    };
    loop {
        let found = page(query.clone()).await.expect("a page");
        seen.extend(found.operations.into_iter().map(|row| row.id));
        match found.next {
            Some(next) => query.after = Some(next),
            None => break,
        }
    }
    assert_eq!(seen.len(), 7);
    let odd = OperationQuery { operation_type: Some("odd".into()), ..OperationQuery::default() };
    assert_eq!(page(odd).await.expect_err("no such kind").reason(), "invalid_request");
    let early = ops::delete(&f.engine, &f.bank, &waiting.operation).await.expect_err("it waits");
    assert_eq!(early.reason(), "not_finished");
    let ended = seen.pop().expect("the first");
    ops::delete(&f.engine, &f.bank, &ended).await.expect("removed");
    let gone = ops::delete(&f.engine, &f.bank, &ended).await.expect_err("it is gone");
    assert_eq!(gone.reason(), "operation_not_found");
}

/// 12.3: a run that would wait again while another refresh of its model waits ends; the waiting one
/// takes over its causes and a forced rebuild, and the end counts as no failure.
#[tokio::test]
async fn a_run_that_goes_back_is_folded_into_the_one_that_waits() {
    let script = Scripted::default();
    let f = page(&script, json!({})).await;
    let hold = Hold::default();
    script.push(Step::error(timeout()).held_by(&hold));
    script.push(Step::error(timeout()));
    let first = models::refresh(&f.engine, &f.bank, &id(), true).await.expect("a refresh");
    let engine = f.engine.clone();
    let worker = tokio::spawn(async move { ops::run_pending(&engine).await });
    hold.arrived().await;
    let behind = models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
    let again = models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
    assert_eq!((&again.operation, again.deduplicated), (&behind.operation, true));
    assert!(!operation(&f, &behind.operation).await.full);
    for _ in 0..2 {
        script.push(Step::error(timeout()));
    }
    hold.release();
    worker.await.expect("a task").expect("a queue");
    let ended = operation(&f, &first.operation).await;
    assert_eq!(ended.status, OperationStatus::Failed);
    let into = ended.details.expect("details").0["folded_into"].clone();
    assert_eq!(into, json!(behind.operation));
    let waiting = operation(&f, &behind.operation).await;
    assert!(waiting.full, "the rebuild that was asked for is not lost");
    assert_eq!((waiting.status, waiting.retry_count), (OperationStatus::Pending, 1));
    assert_eq!(detail(&f).await.model.failure_streak, 0);
}

/// 12.5: a provider's quota with an end is waited for, and costs no retry.
#[tokio::test]
async fn a_quota_with_an_end_is_waited_for() {
    let script = Scripted::default();
    let f = page(&script, json!({})).await;
    let limited = || llm::Error::RateLimited {
        endpoint: "http://127.0.0.1".to_owned(),
        retry_after: Some(Duration::from_secs(7200)),
        answer: Box::default(),
    };
    script.push(Step::error(limited()));
    script.push(Step::error(limited()));
    let asked = models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
    f.run_queue().await;
    let waiting = operation(&f, &asked.operation).await;
    assert_eq!((waiting.status, waiting.retry_count), (OperationStatus::Pending, 0));
    let due = f.engine.now() + chrono::Duration::hours(2);
    assert_eq!(waiting.next_retry_at, Some(due), "{waiting:?}");
    run_of(&script);
    f.clock.advance_ms(2 * HOUR);
    f.run_queue().await;
    assert_eq!(operation(&f, &asked.operation).await.status, OperationStatus::Completed);
}

/// 12.5: what waits after a failure can be run now.
#[tokio::test]
async fn a_parked_run_is_run_now_when_asked() {
    let f = Fixture::new().await;
    built(&f, json!({ "refresh_after_consolidation": true, "min_refresh_interval_seconds": 1800 }))
        .await;
    news(&f, 1).await;
    consolidated(&f, &[]).await;
    f.run_queue().await;
    let parked = queue(&f).await.remove(0);
    assert!(parked.next_retry_at.is_some());
    let now = ops::retry(&f.engine, &f.bank, &parked.id).await.expect("run now");
    assert_eq!((now.next_retry_at, now.automatic), (None, false));
    f.run_queue().await;
    assert_eq!(operation(&f, &parked.id).await.status, OperationStatus::Completed);
    assert_eq!(detail(&f).await.model.version, 2);
}
