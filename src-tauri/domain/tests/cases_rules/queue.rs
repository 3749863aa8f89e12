//! The queue of refreshes as timelines of one model, and due schedules.

use chrono::{DateTime, Utc};
use domain::Instant;
use domain::cron::Cron;
use domain::model::{Cause, Review};
use domain::schedule::{
    AfterFailure, Cancel, Claim, FailureClass, Floor, HeldReason, OperationStatus, Queued,
    Recovery, Submit, after_failure, cancel, claim, cron_due, may_retry, recover, submit, tick,
};
use domain::time::{from_millis, to_millis};
use serde_json::{Map, Value, json};

use crate::{Case, only, run};

#[test]
fn timelines_and_schedules() {
    let keys = [
        "config",
        "timeline",
        "cron",
        "last_refreshed_at",
        "last_cron_fire",
        "now",
        "stale",
        "due",
        "submits",
    ];
    run("schedule", "id", &keys, |case| {
        if case.find("timeline").is_some() { timeline(case) } else { schedule(case) }
    });
}

fn schedule(case: &Case<'_>) {
    let at = |key: &str| {
        case.find(key)
            .and_then(Value::as_str)
            .map(|text| DateTime::parse_from_rfc3339(text).expect("a moment").with_timezone(&Utc))
    };
    let cron = Cron::parse(case.get("cron").as_str().expect("a schedule")).expect("a schedule");
    let now = at("now").expect("now");
    let last = at("last_refreshed_at").expect("a last refresh");
    let due = cron_due(&cron, last, at("last_cron_fire"), now);
    let stale = case.get("stale").as_bool().expect("stale");
    let tick = tick(due, None, stale, false);
    assert_eq!(Some(due.is_some()), case.get("due").as_bool(), "{}: due", case.id);
    let submits = tick.submits == Some(Cause::Cron);
    assert_eq!(Some(submits), case.get("submits").as_bool(), "{}: submits", case.id);
    // What was acted on is not due again, whether it submitted or not.
    assert_eq!(cron_due(&cron, last, tick.fire.or(at("last_cron_fire")), now), None);
}

/// One operation of the simulated table.
struct Row {
    op: Queued,
    created_at: Instant,
    error: Option<&'static str>,
}

/// What an event says about itself and the row that it touched.
#[derive(Default)]
struct Effect {
    row: Option<usize>,
    inserted: bool,
    deduplicated: bool,
    claimed: bool,
}

struct Queue {
    rows: Vec<Row>,
    floor: Floor,
}

fn timeline(case: &Case<'_>) {
    let config = case.object("config");
    let known = [
        "min_refresh_interval_seconds",
        "bank_min_refresh_interval_seconds",
        "last_refreshed_at",
        "review",
        "newest_proposal_at",
    ];
    only(case.id, config, &known);
    let mut queue = Queue { rows: Vec::new(), floor: floor(config) };
    for step in case.list("timeline") {
        let step = step.as_object().expect("a step");
        only(case.id, step, &["t", "event", "expect", "note", "reset_at"]);
        let now = seconds(&step["t"]);
        let place = format!("{} at {}", case.id, step["t"]);
        let effect = queue.event(step, now, &place);
        for (key, wanted) in step["expect"].as_object().expect("an expectation") {
            assert_eq!(queue.tells(&effect, key, &place), *wanted, "{place}: {key}");
        }
    }
}

fn seconds(value: &Value) -> Instant {
    from_millis(value.as_i64().expect("seconds") * 1000)
}

fn floor(config: &Map<String, Value>) -> Floor {
    let number = |key: &str| {
        config.get(key).map(|v| u32::try_from(v.as_u64().expect("seconds")).expect("small"))
    };
    Floor {
        model_seconds: number("min_refresh_interval_seconds"),
        bank_seconds: number("bank_min_refresh_interval_seconds").unwrap_or(0),
        last_refreshed_at: seconds(&config["last_refreshed_at"]),
        newest_proposal_at: config.get("newest_proposal_at").map(seconds),
        review: config
            .get("review")
            .map_or(Review::Auto, |word| serde_json::from_value(word.clone()).expect("a word")),
    }
}

impl Queue {
    fn find(&self, status: OperationStatus) -> Option<usize> {
        self.rows.iter().position(|row| row.op.status == status)
    }

    fn event(&mut self, step: &Map<String, Value>, now: Instant, place: &str) -> Effect {
        let running = self.find(OperationStatus::Processing);
        let running = || running.unwrap_or_else(|| panic!("{place}: nothing runs"));
        match step["event"].as_str().expect("a word") {
            "automatic_submit" => self.submit(Cause::AfterConsolidation, now),
            "explicit_submit" => self.submit(Cause::ManualRefresh, now),
            "claim" => self.claim(now),
            "fail_retryable" => self.fail(running(), FailureClass::Retryable, now),
            "fail_final" => self.fail(running(), FailureClass::Final, now),
            "fail_quota" => {
                let until = seconds(&step["reset_at"]);
                self.fail(running(), FailureClass::QuotaUntil(until), now)
            }
            "completes" | "first_completes" => {
                self.floor.last_refreshed_at = now;
                self.set(running(), OperationStatus::Completed)
            }
            "process_dies" => Effect { row: Some(running()), ..Effect::default() },
            "app_start" => self.recover(running()),
            "cancel" => {
                let row = self.rows.iter().position(|row| !row.op.status.is_terminal());
                let row = row.unwrap_or_else(|| panic!("{place}: nothing to cancel"));
                match cancel(self.rows[row].op.status) {
                    Cancel::Now | Cancel::Ask => self.set(row, OperationStatus::Cancelled),
                    Cancel::AlreadyFinished => panic!("{place}: finished"),
                }
            }
            "retry_asked" => {
                let row = self.rows.len() - 1;
                assert!(may_retry(&self.rows[row].op, now), "{place}: not retryable");
                self.rows[row].error = None;
                self.rows[row].op.next_retry_at = None;
                self.rows[row].op.retry_count = 0;
                self.set(row, OperationStatus::Pending)
            }
            other => panic!("{place}: no such event {other}"),
        }
    }

    fn set(&mut self, row: usize, status: OperationStatus) -> Effect {
        self.rows[row].op.status = status;
        Effect { row: Some(row), ..Effect::default() }
    }

    fn submit(&mut self, cause: Cause, now: Instant) -> Effect {
        let pending = self.find(OperationStatus::Pending);
        let running = self.find(OperationStatus::Processing);
        let op = |row: Option<usize>| row.map(|row| &self.rows[row].op);
        let folded = Effect { deduplicated: true, ..Effect::default() };
        match submit(op(pending), op(running), cause, false) {
            Submit::Insert(op) => {
                self.rows.push(Row { op, created_at: now, error: None });
                let row = Some(self.rows.len() - 1);
                Effect { row, inserted: true, ..Effect::default() }
            }
            Submit::FoldIntoPending(op) => {
                self.rows[pending.expect("a pending one")].op = op;
                Effect { row: pending, ..folded }
            }
            Submit::MarkRunning(op) => {
                self.rows[running.expect("a running one")].op = op;
                Effect { row: running, ..folded }
            }
        }
    }

    fn claim(&mut self, now: Instant) -> Effect {
        let model_is_running = self.find(OperationStatus::Processing).is_some();
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|row| self.rows[*row].op.lane(self.rows[*row].created_at));
        for row in order {
            match claim(&self.rows[row].op, now, model_is_running, &self.floor) {
                Claim::No => {}
                Claim::Run => {
                    self.rows[row].op.next_retry_at = None;
                    return Effect { claimed: true, ..self.set(row, OperationStatus::Processing) };
                }
                Claim::Park(until) => {
                    self.rows[row].op.next_retry_at = Some(until);
                    return Effect { row: Some(row), ..Effect::default() };
                }
            }
        }
        Effect::default()
    }

    fn fail(&mut self, row: usize, class: FailureClass, now: Instant) -> Effect {
        self.rows[row].error = Some("failed");
        match after_failure(self.rows[row].op.retry_count, class, now) {
            AfterFailure::Wait { until, retry_count } => {
                self.rows[row].op.next_retry_at = Some(until);
                self.rows[row].op.retry_count = retry_count;
                self.set(row, OperationStatus::Pending)
            }
            AfterFailure::Fail => self.set(row, OperationStatus::Failed),
        }
    }

    fn recover(&mut self, row: usize) -> Effect {
        match recover(self.rows[row].op.retry_count, false) {
            Recovery::Requeue(count) => {
                self.rows[row].op.retry_count = count;
                self.set(row, OperationStatus::Pending)
            }
            Recovery::Fail => self.set(row, OperationStatus::Failed),
        }
    }

    /// What the event and its row say under a key of an expectation.
    fn tells(&self, effect: &Effect, key: &str, place: &str) -> Value {
        match key {
            "inserted" => return json!(effect.inserted),
            "deduplicated" => return json!(effect.deduplicated),
            "claimed" => return json!(effect.claimed),
            _ => {}
        }
        let row = effect.row.unwrap_or_else(|| panic!("{place}: no operation was touched"));
        let row = &self.rows[row];
        match key {
            "status" => json!(row.op.status),
            "retry_count" => json!(row.op.retry_count),
            "next_retry_at" => json!(row.op.next_retry_at.map(|at| to_millis(at) / 1000)),
            "automatic" => json!(row.op.automatic),
            "error" => json!(row.error),
            "held_reason" => json!(row.op.held.map(|held: HeldReason| json!(held))),
            _ => panic!("{place}: nobody checks {key}"),
        }
    }
}
