//! The window of the language model and slow models: evidence that does not fit is read in parts and
//! not thrown away, no request is larger than the window allows, and waiting is normal.

use crate::reflect::{ask, ferry, newest, question, searches, texts};
use domain::reflect::Budget;
use domain::tokens::{Cl100k, TokenCounter};
use domain::trace::ClosedBy;
use engine::reflect;
use engine::report::ErrorCode;
use engine::view::reflect::ReflectInput;
use llm::scripted::{Hold, Scripted, Step};
use llm::{Answer, Caps, ChatReply, ChatRequest, Message};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tests::Fixture;

/// Every text of a request, tools included, by our own count.
fn size(request: &ChatRequest) -> u32 {
    let messages: u32 = request
        .messages
        .iter()
        .map(|message| match message {
            Message::Assistant(turn) => {
                Cl100k.count(&turn.text)
                    + turn.calls.iter().map(|call| Cl100k.count(&call.raw)).sum::<u32>()
            }
            other => Cl100k.count(texts(other)),
        })
        .sum();
    let tools = serde_json::to_string(&request.tools).unwrap();
    messages + if request.tools.is_empty() { 0 } else { Cl100k.count(&tools) }
}

/// Aliases of the facts in a part of the material, with their texts' first words.
fn ids(request: &ChatRequest) -> BTreeSet<String> {
    let text = texts(&request.messages[1]);
    text.split("\"id\":\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .filter(|id| id.starts_with('f'))
        .map(str::to_owned)
        .collect()
}

fn reply(text: String, request: &ChatRequest) -> ChatReply {
    let usage = llm::Usage {
        input_tokens: request.prompt_tokens.unwrap_or_default(),
        output_tokens: 10,
        cached_tokens: 0,
        thoughts_tokens: 0,
    };
    ChatReply { raw: text.clone(), text, usage: Some(usage), ..ChatReply::default() }
}

/// Claims of a part: its facts with date and id, as the instructions ask.
fn claims() -> Step {
    Step::with(|request| {
        let claims: Vec<String> = ids(request)
            .iter()
            .map(|id| format!("- (mentioned_at: 2026-02-01T09:00Z; occurred: unknown; ids: {id})"))
            .collect();
        let text =
            if claims.is_empty() { "NOTHING-RELEVANT".to_owned() } else { claims.join("\n") };
        Ok(reply(text, request))
    })
}

/// A bank of long facts: about `words` words each.
async fn long_facts(model: &Scripted, n: u32, words: usize) -> Fixture {
    let f = Fixture::scripted(Arc::new(model.clone())).await;
    for i in 0..n {
        let filler = format!("crane part{i} ").repeat(words / 2);
        f.fact(&format!("Crane {i} was built in year {i}. {filler}"), &[], "2026-02-01").await;
    }
    f
}

fn window(model: &Scripted, tokens: u32) {
    model.set_caps(Caps { window: Some(tokens), ..Caps::default() });
}

/// A search result of some 90,000 tokens and three small ones in one turn.
fn large_then_small() -> [Step; 2] {
    let [first, _] = searches();
    let small = |query: &str| ("recall", json!({"query": query, "max_tokens": 1000}));
    let all = ("recall", json!({"query": "crane built in year"}));
    [first, Step::calls([all, small("crane 3"), small("crane 4"), small("crane 5")])]
}

#[tokio::test]
async fn fc_23_gathered_evidence_is_condensed_and_never_thrown_away() {
    let model = Scripted::new(large_then_small());
    window(&model, 32_000);
    for k in 1..=20 {
        model.push_for(&format!("final_map_{k}"), claims());
    }
    model.push_for("final", Step::text("Crane 7 was built in year 7."));
    let f = long_facts(&model, 150, 300).await;
    f.settings(json!({"recall_max_tokens": 90_000, "recall_include_chunks": false})).await;
    let input = ReflectInput { budget: Some(Budget::Mid), ..question("When was crane 7 built?") };
    let (view, _) = ask(&f, input).await;
    let view = view.unwrap();

    let large = view.trace.tool_calls[1].output.as_ref().unwrap().0.to_string();
    assert!(Cl100k.count(&large) > 80_000, "{}", Cl100k.count(&large));
    assert_eq!(view.trace.closed_by, Some(ClosedBy::Context));
    let asked = model.requests();
    let maps: Vec<&ChatRequest> =
        asked.iter().filter(|request| request.scope.starts_with("final_map_")).collect();
    assert!(maps.len() > 4, "{:?}", model.scopes());
    let mut seen = BTreeSet::new();
    for map in &maps {
        for id in ids(map) {
            assert!(seen.insert(id.clone()), "{id} is in two parts");
        }
    }
    let shown = view.based_on.iter().filter(|item| item.kind == "world").count();
    assert_eq!(seen.len(), shown, "every fact that was shown is in one part");
    let last = asked.last().unwrap();
    assert_eq!(last.scope, "final");
    let pool = texts(&last.messages[1]);
    assert!(
        seen.iter().all(|id| pool.contains(&format!("ids: {id})"))),
        "dates and ids come along"
    );
    assert!(asked.iter().all(|request| size(request) <= 24_000), "the window holds every request");
    assert!(view.warnings.iter().any(|warning| warning.code == "large_evidence"));
    assert_eq!(view.text.as_deref(), Some("Crane 7 was built in year 7."));
}

#[tokio::test]
async fn fc_23_an_answer_that_knows_nothing_has_no_sources() {
    let model = Scripted::new(large_then_small());
    window(&model, 32_000);
    for k in 1..=20 {
        model.push_for(&format!("final_map_{k}"), Step::text("NOTHING-RELEVANT"));
    }
    let nothing = "NOTHING-RELEVANT\nNothing is stored about the tower.";
    model.push_for("final", Step::text(nothing));
    let f = long_facts(&model, 100, 300).await;
    f.settings(json!({"recall_max_tokens": 90_000})).await;
    let input = ReflectInput { budget: Some(Budget::Mid), ..question("Who built the tower?") };
    let (view, _) = ask(&f, input).await;
    let view = view.unwrap();
    assert_eq!(view.text.as_deref(), Some("Nothing is stored about the tower."));
    assert!(view.based_on.is_empty(), "{:?}", view.based_on);
    let pool = model.requests().last().map(|request| texts(&request.messages[1]).to_owned());
    assert!(!pool.unwrap().contains("No data was retrieved"), "something was");
}

#[tokio::test]
async fn parts_are_read_side_by_side_but_not_more_than_four_at_once() {
    let model = Scripted::new(large_then_small());
    window(&model, 32_000);
    let hold = Hold::default();
    for k in 1..=20 {
        model.push_for(&format!("final_map_{k}"), claims().held_by(&hold));
    }
    model.push_for("final", Step::text("Crane 7 was built in year 7."));
    let f = long_facts(&model, 150, 300).await;
    f.settings(json!({"recall_max_tokens": 90_000})).await;
    let input = ReflectInput { budget: Some(Budget::Mid), ..question("When was crane 7 built?") };
    let under_way =
        || model.scopes().iter().filter(|scope| scope.starts_with("final_map_")).count();
    let ((view, _), ()) = tokio::join!(ask(&f, input), async {
        for _ in 0..4 {
            hold.arrived().await;
        }
        assert_eq!(under_way(), 4, "four are on their way, and the others wait");
        for _ in 0..20 {
            hold.release();
        }
    });
    let calls = view.unwrap().trace.llm_calls;
    assert!(under_way() > 4);
    let order: Vec<&str> = calls
        .iter()
        .filter(|call| call.scope.starts_with("final_map_"))
        .map(|call| call.scope.as_str())
        .collect();
    assert_eq!(order[..2], ["final_map_1", "final_map_2"]);
}

#[tokio::test]
async fn a_part_that_cannot_be_read_fails_the_run() {
    let model = Scripted::new(large_then_small());
    window(&model, 32_000);
    for k in 1..=20 {
        let step = if k == 2 { Step::text(" ") } else { claims() };
        model.push_for(&format!("final_map_{k}"), step);
    }
    let f = long_facts(&model, 150, 300).await;
    f.settings(json!({"recall_max_tokens": 90_000})).await;
    let input = ReflectInput { budget: Some(Budget::Mid), ..question("When was crane 7 built?") };
    let report = ask(&f, input).await.0.unwrap_err();
    assert_eq!(report.reason, "no_answer", "an answer over half the evidence is none");
    assert!(!model.scopes().contains(&"final".to_owned()));
}

#[tokio::test]
async fn fc_24_no_request_is_larger_than_the_window_allows() {
    let overflow = || llm::Error::Overflow {
        endpoint: "http://127.0.0.1:9".to_owned(),
        answer: Box::new(Answer { status: 400, ..Answer::default() }),
    };
    let [first, _] = searches();
    let model = Scripted::new([first]);
    window(&model, 16_000);
    for n in 0..9 {
        model.push(Step::call("recall", json!({"query": format!("crane part{n}")})));
    }
    let f = long_facts(&model, 120, 100).await;
    // The endpoint takes less than it says: the first synthesis is refused.
    model.push_for("final", Step::error(overflow()));
    for k in (1..=20).chain(1..=20) {
        model.push_for(&format!("final_map_{k}"), claims());
    }
    model.push_for("final", Step::text("Crane 7 was built in year 7."));
    let input = ReflectInput { budget: Some(Budget::High), ..question("When was crane 7 built?") };
    let (view, _) = ask(&f, input).await;
    let view = view.unwrap();
    assert_eq!(view.trace.closed_by, Some(ClosedBy::Context));
    assert!(view.trace.iterations < 10, "the loop ended before its turns did");
    let asked = model.requests();
    let sizes: Vec<(String, u32)> =
        asked.iter().map(|request| (request.scope.clone(), size(request))).collect();
    assert!(sizes.iter().all(|(_, size)| *size <= 12_000), "{sizes:?}");
    let refused = sizes.iter().position(|(scope, _)| scope == "final").unwrap();
    let after = &sizes[refused + 1..];
    assert!(after.iter().any(|(scope, _)| scope == "final_map_1"), "{sizes:?}");
    assert!(after.iter().all(|(_, size)| *size < sizes[refused].1), "{sizes:?}");
    assert_eq!(view.text.as_deref(), Some("Crane 7 was built in year 7."));
}

#[tokio::test]
async fn fc_25_a_slow_model_is_waited_for() {
    let [first, second] = searches();
    let model = Scripted::new([]);
    let f = ferry(&model).await;
    // What holds by itself for a model on this machine.
    f.settings(json!({"reflect_wall_timeout": 1800})).await;
    let done = Step::call("done", json!({"answer": "At six.", "memory_ids": ["f1"]}));
    let holds = [(first, 75_000), (second, 75_000), (done, 360_000)].map(|(step, ms)| {
        let hold = Hold::default();
        model.push(step.held_by(&hold));
        (hold, ms)
    });
    let ((view, events), ()) = tokio::join!(ask(&f, question("ferry")), async {
        for (hold, ms) in &holds {
            hold.arrived().await;
            f.clock.advance_ms(*ms);
            hold.release();
        }
    });
    let view = view.unwrap();
    let took: Vec<u32> = view.trace.llm_calls.iter().map(|call| call.duration_ms).collect();
    assert_eq!(took, [75_000, 75_000, 360_000]);
    let steps = events.iter().filter(|event| matches!(event, domain::trace::RunEvent::LlmFinished { tokens, .. } if tokens.total_tokens > 0));
    assert_eq!(steps.count(), 3, "each step tells its tokens");
}

#[tokio::test]
async fn fc_25_a_call_that_takes_too_long_does_not_cost_the_evidence() {
    let late = || {
        Step::error(llm::Error::Timeout {
            endpoint: "http://127.0.0.1:11434".to_owned(),
            limit: Duration::from_secs(600),
        })
    };
    let [first, second] = searches();
    let model = Scripted::new([first, second, late(), late()]);
    let f = ferry(&model).await;
    let report = ask(&f, question("ferry")).await.0.unwrap_err();
    assert_eq!(report.code, ErrorCode::TimedOut);
    assert!(report.detail.unwrap().contains("600 s"), "the limit of the call is named");
    let record = newest(&f).await;
    assert!(record.can_go_on);

    // A single late answer is asked for once more, and nothing is lost at all.
    model.push(late());
    model.push(Step::call("done", json!({"answer": "At six.", "memory_ids": ["f1"]})));
    let mut nowhere = engine::events::NoSink;
    let view = reflect::retry(&f.engine, &f.bank, &record.id, &mut nowhere).await.unwrap();
    model.assert_used_up();
    assert_eq!(view.based_on.len(), 1);
    let settings = engine::settings::of(&f.engine, &f.bank).await.unwrap();
    assert!(settings.settings.iter().any(|one| one.key == "reflect_wall_timeout"));
}

fn input_of(request: &ChatRequest, nth: usize) -> Value {
    let results: Vec<&str> = request
        .messages
        .iter()
        .filter(|message| matches!(message, Message::Tool(_)))
        .map(texts)
        .collect();
    serde_json::from_str(results[nth]).unwrap()
}

#[tokio::test]
async fn fc_26_arguments_are_read_tolerantly() {
    let recall = |max: Value| {
        let text = format!("crane {max}");
        ("recall", json!({"query": text, "max_tokens": max, "colour": "red"}))
    };
    let [first, _] = searches();
    let model = Scripted::new([
        first,
        Step::calls([
            recall(json!("null")),
            recall(json!("1500")),
            recall(json!(1500.0)),
            recall(json!(-5)),
            recall(json!(100_000)),
            ("recall", json!("{\"query\": \"ferry\"}")),
            ("functions.recall<|x", json!({"query": "old crane"})),
            ("look_up", json!({"query": "ferry"})),
        ]),
        Step::calls([
            ("expand", json!({"memory_ids": ["f1", "xyz", "f2"]})),
            ("recall", json!({"reason": "no query"})),
            ("recall", json!({"query": "ferry", "max_tokens": "many"})),
            ("recall", json!("not JSON")),
        ]),
        Step::call("done", json!({"answer": "At six.", "memory_ids": ["f1"]})),
    ]);
    let f = ferry(&model).await;
    let (view, _) = ask(&f, question("ferry")).await;
    let view = view.unwrap();
    model.assert_used_up();
    let calls = &view.trace.tool_calls;
    let status: Vec<String> = calls
        .iter()
        .map(|call| serde_json::to_value(call.status).unwrap().as_str().unwrap().to_owned())
        .collect();
    let ok = "ok";
    let error = "error";
    assert_eq!(
        status,
        [ok, ok, ok, ok, ok, ok, ok, ok, error, ok, error, error, error, ok],
        "a string of JSON is read as the object it holds"
    );
    assert_eq!(calls[7].tool, "recall", "the name is kept as it was read");
    let notes = |at: usize| calls[at].output.as_ref().unwrap().0["notes"].clone();
    assert_eq!(notes(1), Value::Null, "null-like means the default");
    assert_eq!(notes(2), Value::Null);
    assert_eq!(notes(4), json!(["max_tokens was raised to 1000."]));
    assert!(notes(5)[0].as_str().unwrap().starts_with("max_tokens was lowered to"));

    let after = &model.requests()[3];
    let opened = input_of(after, 9);
    let rows = opened["results"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert_eq!(
        rows.iter().map(|row| row["memory_id"].as_str().unwrap()).collect::<Vec<_>>(),
        ["f1", "xyz", "f2"]
    );
    assert_eq!(rows[1]["error"], "not retrieved in this run");
    let real = |at: usize| calls[9].output.as_ref().unwrap().0["results"][at]["memory"].clone();
    assert!(real(0)["text"].is_string() && real(2)["text"].is_string());
    assert_ne!(real(0)["id"], real(2)["id"]);
    assert!(input_of(after, 8)["error"].as_str().unwrap().contains("look_up"));
    assert!(input_of(after, 10)["error"].as_str().unwrap().contains("\"query\" is missing"));
    assert!(input_of(after, 11)["error"].as_str().unwrap().contains("max_tokens"));
    assert_eq!(view.trace.iterations, 4, "turns of errors count");
}

#[tokio::test]
async fn a_repeated_call_points_at_the_first_and_satisfies_no_step() {
    let look = || ("search_observations", json!({"query": "ferry"}));
    let again = ("search_observations", json!({"query": "ferry", "reason": "other words"}));
    let recall = Step::call("recall", json!({"query": "ferry"}));
    let done = Step::call("done", json!({"answer": "At six.", "memory_ids": ["f1"]}));
    let model = Scripted::new([Step::calls([look(), look()]), Step::calls([again]), recall, done]);
    let f = ferry(&model).await;
    let (view, _) = ask(&f, question("ferry")).await;
    let view = view.unwrap();
    model.assert_used_up();
    let of = |at: usize| view.trace.tool_calls[at].output.as_ref().unwrap().0.clone();
    assert_eq!(of(1)["duplicate_of"], 1, "inside one reply too");
    assert_eq!(of(2)["duplicate_of"], 1);
    assert_eq!(view.trace.tool_calls[2].duration_ms, 0);
}

fn schema() -> Value {
    json!({"type": "object", "properties": {
        "hour": {"type": "integer"}, "place": {"type": "string"},
    }})
}

async fn extracted(f: &Fixture) -> engine::view::reflect::ReflectRunView {
    let input = ReflectInput { response_schema: Some(schema().into()), ..question("ferry") };
    ask(f, input).await.0.unwrap()
}

#[tokio::test]
async fn fc_27_missing_structured_output_has_a_reason() {
    let [first, second] = searches();
    let done = || Step::call("done", json!({"answer": "At six.", "memory_ids": ["f1"]}));
    let hold = Hold::default();
    let late = Step::json(&json!({"hour": 6})).held_by(&hold);
    let model = Scripted::new([first, second, done(), late]);
    let f = ferry(&model).await;
    let (view, ()) = tokio::join!(extracted(&f), async {
        hold.arrived().await;
        f.clock.advance_ms(60_000);
    });
    assert_eq!(view.text.as_deref(), Some("At six."), "the answer is shown");
    assert_eq!(view.structured_output, None);
    let error = view.structured_output_error.unwrap();
    assert_eq!(error.code, "timeout");
    assert!(error.message.contains("60 s"), "{}", error.message);
    assert_eq!(view.trace.llm_calls.last().unwrap().scope, "structured_err");

    let prose = || Step::text("It leaves at six.");
    let [first, second] = searches();
    let model = Scripted::new([first, second, done(), prose(), prose()]);
    let view = extracted(&ferry(&model).await).await;
    model.assert_used_up();
    assert_eq!(view.text.as_deref(), Some("At six."));
    assert_eq!(view.structured_output_error.unwrap().code, "unparseable");

    let none = Step::json(&json!({"colour": "red", "hour": null}));
    let [first, second] = searches();
    let model = Scripted::new([first, second, done(), none]);
    let view = extracted(&ferry(&model).await).await;
    model.assert_used_up();
    assert_eq!((view.structured_output, view.structured_output_error), (None, None));

    let model = Scripted::new([]);
    let f = ferry(&model).await;
    let bad = json!({"type": "object", "properties": {}});
    let input = ReflectInput { response_schema: Some(bad.into()), ..question("ferry") };
    assert_eq!(ask(&f, input).await.0.unwrap_err().reason, "invalid_schema");
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn a_run_that_spent_its_time_on_the_text_still_gives_the_text() {
    let [first, second] = searches();
    let hold = Hold::default();
    let done = Step::call("done", json!({"answer": "At six.", "memory_ids": ["f1"]}));
    let late = Step::json(&json!({"hour": 6})).held_by(&hold);
    let model = Scripted::new([first, second, done, late]);
    let f = ferry(&model).await;
    f.settings(json!({"reflect_wall_timeout": 30})).await;
    let (view, ()) = tokio::join!(extracted(&f), async {
        hold.arrived().await;
        f.clock.advance_ms(30_000);
    });
    assert_eq!(view.text.as_deref(), Some("At six."));
    assert_eq!(view.structured_output_error.unwrap().code, "timeout");
}
