//! The queue's corners: folding, floors, retries, recoveries, pauses, two schedules.

use chrono::TimeDelta;
use domain::Instant;
use domain::cron::Cron;
use domain::model::{Cause, Review};
use domain::schedule::{
    AfterFailure, Cancel, Claim, FailureClass, Floor, HeldReason, OperationStatus, Queued,
    Recovery, Submit, Tick, after_failure, cancel, ceiling_reached, claim, fold_into_waiting,
    follow_up, look_due, may_retry, missed_since, needs_attention, next_day, paused_until, recover,
    submit, tick,
};
use domain::time::from_millis;

fn at(seconds: i64) -> Instant {
    from_millis(seconds * 1000)
}

fn open_floor() -> Floor {
    Floor {
        model_seconds: None,
        bank_seconds: 0,
        last_refreshed_at: at(0),
        newest_proposal_at: None,
        review: Review::Auto,
    }
}

#[test]
fn a_forced_rebuild_survives_folding_either_way() {
    let plain = Queued::new(Cause::AfterConsolidation, false);
    let Submit::FoldIntoPending(folded) = submit(Some(&plain), None, Cause::ManualRefresh, true)
    else {
        panic!("not folded")
    };
    assert!(folded.forced_full && !folded.automatic);
    assert_eq!(folded.triggered_by, [Cause::AfterConsolidation, Cause::ManualRefresh]);
    let Submit::FoldIntoPending(again) = submit(Some(&folded), None, Cause::Cron, false) else {
        panic!("not folded")
    };
    assert!(again.forced_full && !again.automatic);
    // Only a person, or the schedule made for it, can force one.
    let Submit::Insert(op) = submit(None, None, Cause::Cron, true) else { panic!("not new") };
    assert!(!op.forced_full);
    let Submit::Insert(op) = submit(None, None, Cause::FullCron, true) else { panic!("not new") };
    assert!(op.forced_full && op.automatic);
}

#[test]
fn a_trigger_during_a_run_is_looked_at_when_it_ends() {
    let mut running = Queued::new(Cause::Cron, false);
    running.status = OperationStatus::Processing;
    let Submit::MarkRunning(marked) = submit(None, Some(&running), Cause::AfterDeletion, false)
    else {
        panic!("not marked")
    };
    assert!(follow_up(&marked, Cause::AfterDeletion, true).is_some_and(|op| op.automatic));
    assert_eq!(follow_up(&marked, Cause::AfterDeletion, false), None);
    assert_eq!(follow_up(&running, Cause::AfterDeletion, true), None);
}

#[test]
fn a_run_that_would_wait_behind_another_folds_into_it() {
    let mut ended = Queued::new(Cause::Create, true);
    ended.triggered_by.push(Cause::Cron);
    let waiting = Queued::new(Cause::Cron, false);
    let folded = fold_into_waiting(&ended, &waiting);
    assert!(folded.forced_full);
    assert_eq!(folded.triggered_by, [Cause::Cron, Cause::Create]);
    assert!(!folded.automatic, "what a person asked for stays asked for");
    assert!(fold_into_waiting(&waiting, &waiting).automatic);
}

#[test]
fn explicit_goes_first_then_the_one_due_longest() {
    let mut rows = [
        (Queued::new(Cause::Cron, false), at(1)),
        (Queued::new(Cause::ManualRefresh, false), at(9)),
        (Queued::new(Cause::Cron, false), at(0)),
    ];
    rows[2].0.next_retry_at = Some(at(5));
    rows.sort_by_key(|(op, created)| op.lane(*created));
    let order: Vec<(bool, Option<Instant>)> =
        rows.iter().map(|(op, _)| (op.automatic, op.next_retry_at)).collect();
    assert_eq!(order, [(false, None), (true, None), (true, Some(at(5)))]);
}

#[test]
fn what_is_held_or_behind_a_run_is_not_claimed() {
    let mut op = Queued::new(Cause::ManualRefresh, false);
    assert_eq!(claim(&op, at(0), true, &open_floor()), Claim::No);
    op.held = Some(HeldReason::ReviewInProgress);
    assert_eq!(claim(&op, at(0), false, &open_floor()), Claim::No);
    op.held = None;
    assert_eq!(claim(&op, at(0), false, &open_floor()), Claim::Run);
}

#[test]
fn proposals_count_for_the_interval_of_reviewed_models() {
    let floor = |review| Floor {
        bank_seconds: 600,
        newest_proposal_at: Some(at(100)),
        review,
        ..open_floor()
    };
    let op = Queued::new(Cause::Cron, false);
    assert_eq!(claim(&op, at(650), false, &floor(Review::Manual)), Claim::Park(at(700)));
    assert_eq!(claim(&op, at(650), false, &floor(Review::Auto)), Claim::Run);
}

#[test]
fn backoff_doubles_to_a_cap_and_a_quota_costs_nothing() {
    let wait = |until, retry_count| AfterFailure::Wait { until: at(until), retry_count };
    for (count, until) in [(0, 60), (1, 120), (2, 240)] {
        let after = after_failure(count, FailureClass::Retryable, at(0));
        assert_eq!(after, wait(until, count + 1));
    }
    assert_eq!(after_failure(3, FailureClass::Retryable, at(0)), AfterFailure::Fail);
    assert_eq!(after_failure(0, FailureClass::Final, at(0)), AfterFailure::Fail);
    let quota = FailureClass::QuotaUntil(at(9_000));
    assert_eq!(after_failure(3, quota, at(0)), wait(9_000, 3));
}

#[test]
fn three_crashes_then_failed_unless_a_step_was_committed() {
    assert_eq!(recover(0, false), Recovery::Requeue(1));
    assert_eq!(recover(2, false), Recovery::Requeue(3));
    assert_eq!(recover(3, false), Recovery::Fail);
    assert_eq!(recover(3, true), Recovery::Requeue(1));
}

#[test]
fn asking_and_stopping() {
    assert_eq!(cancel(OperationStatus::Processing), Cancel::Ask);
    assert_eq!(cancel(OperationStatus::Failed), Cancel::AlreadyFinished);
    let mut op = Queued::new(Cause::Cron, false);
    assert!(!may_retry(&op, at(0)));
    op.next_retry_at = Some(at(1));
    assert!(may_retry(&op, at(0)) && !may_retry(&op, at(1)));
    op.status = OperationStatus::Completed;
    assert!(!may_retry(&op, at(0)));
}

#[test]
fn failures_pause_automatic_work_for_longer_and_longer() {
    let hours = |streak| paused_until(streak, at(0)).map(|until| (until - at(0)).num_hours());
    let expected =
        [(0, None), (1, Some(1)), (2, Some(2)), (5, Some(16)), (6, Some(24)), (99, Some(24))];
    for (streak, pause) in expected {
        assert_eq!(hours(streak), pause, "{streak}");
    }
    assert!(!needs_attention(2, 2) && needs_attention(3, 0) && needs_attention(0, 3));
}

#[test]
fn a_ceiling_lifts_with_the_day() {
    assert!(!ceiling_reached(u64::MAX, None));
    assert!(ceiling_reached(10, Some(10)) && !ceiling_reached(9, Some(10)));
    let midnight = at(1_767_225_600);
    assert_eq!(next_day(midnight - TimeDelta::seconds(1)), midnight);
    assert_eq!(next_day(midnight), midnight + TimeDelta::days(1));
}

#[test]
fn one_full_run_serves_both_schedules() {
    let (due, full) = (Some(at(1)), Some(at(2)));
    let submits = |due, full, needs, changed| tick(due, full, needs, changed).submits;
    assert_eq!(submits(due, full, true, true), Some(Cause::FullCron));
    assert_eq!(submits(due, full, true, false), Some(Cause::Cron));
    assert_eq!(submits(due, full, false, false), None);
    assert_eq!(submits(None, full, true, false), None);
    // What led to nothing was acted on all the same.
    let idle = Tick { fire: due, full_fire: full, submits: None };
    assert_eq!(tick(due, full, false, false), idle);
}

#[test]
fn the_schedules_are_looked_at_by_the_wall_clock() {
    assert!(look_due(None, at(0), 300), "at once, the first time");
    assert!(!look_due(Some(at(0)), at(299), 300));
    assert!(look_due(Some(at(0)), at(300), 300));
    assert!(look_due(Some(at(0)), at(40_000), 300), "after sleep");
    assert!(look_due(Some(at(100)), at(50), 300), "the clock was set back");
    assert!(!look_due(None, at(0), 0), "0 is off");
}

#[test]
fn only_what_nobody_looked_at_was_missed() {
    let hourly = Cron::parse("0 * * * *").unwrap();
    let hour = |n: i64| at(n * 3600);
    // Awake: the look before was five minutes ago.
    let awake = missed_since(&hourly, hour(9), Some(at(10 * 3600 - 200)), at(10 * 3600 + 100), 300);
    assert_eq!(awake, None);
    // Asleep from 22:00 to 07:40.
    let woken = at(31 * 3600 + 2400);
    assert_eq!(missed_since(&hourly, hour(22), Some(hour(22)), woken, 300), Some(hour(23)));
    // Closed since a refresh at 09:30, opened at 12:20.
    let opened = at(12 * 3600 + 1200);
    assert_eq!(missed_since(&hourly, at(9 * 3600 + 1800), None, opened, 300), Some(hour(10)));
    // Opened a minute after the only boundary: nothing was missed.
    assert_eq!(missed_since(&hourly, at(9 * 3600 + 60), None, at(10 * 3600 + 60), 300), None);
}
