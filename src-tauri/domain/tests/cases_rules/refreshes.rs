//! The mode and the outcome of a refresh.

use domain::citations::Basis;
use domain::model::{CarryOverWhy, Review};
use domain::refresh::{
    ClockEvent, Clocks, Decision, DeltaResult, Extraction, IdleInput, Judged, ModeInput, Outcome,
    ResultInput, Watermark, decide, plan_idle, plan_mode, uncovered,
};
use domain::schedule::FailureClass;
use domain::time::from_millis;
use domain::trigger::{DeltaFailurePolicy, RefreshMode};
use serde_json::{Map, Value, json};

use crate::{Case, only, run, texts};

#[test]
fn modes_and_outcomes() {
    let keys =
        ["kind", "model", "operation", "effective_mode", "mode_fallback_reason", "given", "expect"];
    run("refresh_decision", "id", &keys, |case| match case.get("kind").as_str() {
        Some("mode") => mode_case(case),
        Some("outcome") => outcome_case(case),
        kind => panic!("{}: no such kind {kind:?}", case.id),
    });
}

fn flag(map: &Map<String, Value>, key: &str, default: bool) -> bool {
    map.get(key).map_or(default, |value| value.as_bool().expect("a flag"))
}

fn count(map: &Map<String, Value>, key: &str, default: u32) -> u32 {
    let read = |value: &Value| u32::try_from(value.as_u64().expect("a count")).expect("small");
    map.get(key).map_or(default, read)
}

fn word<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_else(|fault| panic!("{value}: {fault}"))
}

fn mode_case(case: &Case<'_>) {
    let model = case.object("model");
    let known = [
        "mode",
        "content",
        "placeholder",
        "authored",
        "grounded",
        "source_query",
        "last_refreshed_source_query",
        "readable",
        "delta_failures",
        "delta_failure_limit",
        "delta_failure_policy",
    ];
    only(case.id, model, &known);
    let operation = case.find("operation").and_then(Value::as_object);
    let forced_full = operation.is_some_and(|operation| {
        only(case.id, operation, &["mode"]);
        operation.get("mode") == Some(&json!("full"))
    });
    let plan = plan_mode(&ModeInput {
        mode: word(&model["mode"]),
        forced_full,
        content: model["content"].as_str().expect("content"),
        placeholder: flag(model, "placeholder", false),
        authored: flag(model, "authored", false),
        grounded: flag(model, "grounded", false),
        source_query: model["source_query"].as_str().expect("a question"),
        last_refreshed_source_query: model["last_refreshed_source_query"].as_str(),
        readable: flag(model, "readable", true),
        delta_failures: count(model, "delta_failures", 0),
        delta_failure_limit: count(model, "delta_failure_limit", 3),
        delta_failure_policy: model
            .get("delta_failure_policy")
            .map_or(DeltaFailurePolicy::ProposeFull, word),
    })
    .unwrap_or_else(|fault| panic!("{}: {fault}", case.id));
    assert_eq!(json!(plan.effective), *case.get("effective_mode"), "{}", case.id);
    assert_eq!(json!(plan.reason), *case.get("mode_fallback_reason"), "{}", case.id);
}

/// A run as its case tells it.
struct Run {
    mode: RefreshMode,
    decision: Decision,
    /// A call for operations is made.
    op_call: bool,
    idle: bool,
    carried: Vec<String>,
}

fn outcome_case(case: &Case<'_>) {
    let given = case.object("given");
    let known = [
        "mode",
        "review",
        "baseline",
        "candidate",
        "evidence",
        "ops",
        "directives",
        "response_schema",
        "extraction",
        "scope_memories",
        "basis",
    ];
    only(case.id, given, &known);
    let run = if given.get("scope_memories") == Some(&json!(0)) {
        idle_run(given)
    } else {
        finished_run(given)
    };
    let outcome = run.decision.outcome;
    for (key, wanted) in case.object("expect") {
        let got = match key.as_str() {
            "outcome" => json!(outcome),
            "failure_reason" => json!(run.decision.failure_reason),
            "watermark_advances" => json!(watermark_advances(&run)),
            "new_version" => json!(run.decision.makes_version()),
            "proposal" => json!(run.decision.makes_proposal()),
            "effective_mode" => json!(run.mode),
            "op_call_made" => json!(run.op_call),
            "carry_over" => json!(run.carried),
            "queue_retries" => json!(retries(&run)),
            "keeps_previous_structured_output" => json!(!run.decision.moves_clocks()),
            "llm_calls" if run.idle => json!(0),
            "warning" if run.idle => json!("empty_scope"),
            _ => panic!("{}: nobody checks {key}", case.id),
        };
        assert_eq!(got, *wanted, "{}: {key}", case.id);
    }
}

fn idle_run(given: &Map<String, Value>) -> Run {
    let mode = word(&given["mode"]);
    let idle = plan_idle(&IdleInput {
        mode,
        scope_has_memory: false,
        window_has_memory: false,
        has_carry_over: false,
        has_retraction: false,
        sees_sibling: false,
    });
    assert_eq!(idle, Some(domain::refresh::Idle::EmptyScope));
    let decision = Decision::preserved();
    Run { mode, decision, op_call: false, idle: true, carried: Vec::new() }
}

fn finished_run(given: &Map<String, Value>) -> Run {
    let mode = word(&given["mode"]);
    let basis = given.get("basis").map(word::<Basis>);
    assert!(basis.is_none_or(|basis| basis == Basis::Cited), "no such case yet");
    let text = |key: &str| given[key].as_str().expect("a text");
    let evidence = given.get("evidence").map(texts).unwrap_or_default();
    let tried = |applied, noop, skipped| DeltaResult::Tried { applied, noop, skipped };
    let delta = match given.get("ops").map_or("one_applied", |word| word.as_str().expect("a word"))
    {
        "one_applied" => tried(1, 0, 0),
        "one_applied_one_skipped" => tried(1, 0, 1),
        "one_noop" | "only_noops" | "all_noop" | "all_noops" | "only_noop" => tried(0, 1, 0),
        "one_noop_one_skipped" => tried(0, 1, 1),
        "empty_list" => tried(0, 0, 0),
        "all_skipped" | "one_skipped" => tried(0, 0, 1),
        "call_error" | "blank_answer" | "unreadable" | "all_invalid" => DeltaResult::Failed,
        other => panic!("no such result {other}"),
    };
    let op_call = mode == RefreshMode::Delta && !evidence.is_empty();
    let applied = matches!(delta, DeltaResult::Tried { applied: 1.., .. });
    let written = mode == RefreshMode::Full || (op_call && applied);
    let decision = decide(&ResultInput {
        mode,
        review: word::<Review>(&given["review"]),
        must_propose: false,
        baseline: text("baseline"),
        candidate: text("candidate"),
        document: if written { text("candidate") } else { text("baseline") },
        evidence: u32::try_from(evidence.len()).expect("few"),
        unsaid: false,
        delta: if op_call { delta } else { DeltaResult::NotCalled },
        extraction: match (given.get("response_schema"), given.get("extraction")) {
            (None, _) => Extraction::NotDue,
            (Some(_), Some(end)) if end == "fails" => Extraction::Failed,
            (Some(_), _) => Extraction::Done,
        },
        cited_before: &[],
        cited_after: &evidence,
        removal_limit: 0.3,
        citation_limit: 0.5,
    });
    Run { mode, decision, op_call, idle: false, carried: carried(delta) }
}

/// Whether the queue tries again after a run that failed although every call succeeded.
fn retries(run: &Run) -> bool {
    let reason = run.decision.failure_reason.expect("a failure");
    reason.queue_class(None) == FailureClass::Retryable
}

/// A skipped operation's facts are carried over under the case's own word for them.
fn carried(delta: DeltaResult) -> Vec<String> {
    let skipped = matches!(delta, DeltaResult::Tried { skipped: 1.., .. });
    let fact = "facts of the skipped op".to_owned();
    let judged = Judged {
        cited_by_skipped: skipped.then(|| fact.clone()).into_iter().collect(),
        cited: (!skipped).then(|| fact.clone()).into_iter().collect(),
        ..Judged::default()
    };
    let left = uncovered(&[fact], &judged);
    assert!(left.iter().all(|(_, why)| *why == CarryOverWhy::OpSkipped));
    left.into_iter().map(|(fact, _)| fact).collect()
}

/// Moves the clocks as the decision says, with a memory at 9 in scope unless the scope is empty.
fn watermark_advances(run: &Run) -> bool {
    let mark = |seq| Watermark { seq, at: from_millis(seq) };
    let before = Clocks { watermark: Some(mark(5)), ..Clocks::default() };
    let event = match run.decision.outcome {
        Outcome::ProposalCreated => ClockEvent::Proposed { cutoff_seq: 9 },
        outcome if outcome.is_completed() => ClockEvent::Completed {
            newest_in_scope: (!run.idle).then(|| mark(9)),
            source_query: "q".to_owned(),
            cutoff_seq: 9,
        },
        _ => ClockEvent::FailedOrCancelled,
    };
    let after = before.clone().after(event, from_millis(0));
    after.watermark.map(|mark| mark.seq) > before.watermark.map(|mark| mark.seq)
}
