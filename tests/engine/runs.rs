//! Looking back at questions: what the next one will take, what was sent, and a run as text or file
//! that holds nothing that must stay on this machine.

use crate::reflect::{ask, question};
use domain::RunId;
use engine::reflect;
use engine::runs;
use engine::view::reflect::{ReflectRunView, RunPart};
use llm::scripted::{Scripted, Step};
use serde_json::{Value, json};
use std::sync::Arc;
use tests::Fixture;

const SECRET: &str = "The spare key of the ferry lies below the third plank.";

fn replies() -> [Step; 3] {
    let args = |query: &str| json!({"reason": "to look", "query": query});
    [
        Step::call("search_observations", args("ferry")),
        Step::call("recall", args("ferry departure")),
        Step::call(
            "done",
            json!({
                "answer": "The ferry leaves at six.",
                "memory_ids": ["f1"],
                "claims": [{"quote": "The ferry leaves at six.", "ids": ["f1"]}],
            }),
        ),
    ]
}

async fn ferry(model: &Scripted) -> Fixture {
    let fixture = Fixture::scripted(Arc::new(model.clone())).await;
    fixture.fact("The ferry to Aker leaves at six.", &["Aker"], "2026-02-01").await;
    fixture
}

async fn answered(fixture: &Fixture, model: &Scripted) -> ReflectRunView {
    for step in replies() {
        model.push(step);
    }
    ask(fixture, question("When does the ferry leave?")).await.0.unwrap()
}

async fn expected(fixture: &Fixture, before: Option<RunId>) -> (u32, domain::estimate::Estimate) {
    let input = question("When does the ferry leave?");
    let told = reflect::estimate(&fixture.engine, &fixture.bank, input, before).await.unwrap();
    (told.runs, told.expected.unwrap())
}

#[tokio::test]
async fn a_question_is_judged_by_sizes_at_first_and_then_by_what_earlier_ones_took() {
    let model = Scripted::new([]);
    let fixture = ferry(&model).await;
    let (runs, by_size) = expected(&fixture, None).await;
    assert_eq!(runs, 0);
    // Two forced searches and the answer at least; every turn that the budget allows at most.
    assert_eq!((by_size.low.calls, by_size.high.calls), (3, 4));
    assert!(by_size.low.input_tokens > 1000, "{by_size:?}");
    assert!(model.requests().is_empty(), "an estimate asks nobody");

    let mut last = None;
    for _ in 0..3 {
        last = Some(answered(&fixture, &model).await);
    }
    let last = last.unwrap();
    let (runs, by_runs) = expected(&fixture, None).await;
    assert_eq!((runs, by_runs.likely.calls), (3, 3));
    assert_eq!(by_runs.high.input_tokens, last.usage.input_tokens);
    // Beside the third answer stands what was expected of it then.
    assert_eq!(expected(&fixture, Some(last.id)).await.0, 0);
    // Another depth is another kind of question.
    let mut deep = question("When does the ferry leave?");
    deep.budget = Some(domain::reflect::Budget::High);
    let told = reflect::estimate(&fixture.engine, &fixture.bank, deep, None).await.unwrap();
    assert_eq!(told.runs, 0);
}

#[tokio::test]
async fn without_a_language_model_nothing_is_expected_to_be_spent() {
    let fixture = Fixture::new().await;
    let told = reflect::estimate(&fixture.engine, &fixture.bank, question(" "), None).await;
    assert_eq!(told.unwrap().expected, None);
}

#[tokio::test]
async fn what_was_sent_can_be_looked_at_by_the_label_of_its_call() {
    let model = Scripted::new([]);
    let fixture = ferry(&model).await;
    let run = answered(&fixture, &model).await;
    let call = async |scope: &str, nth| {
        runs::recorded_call(&fixture.engine, &fixture.bank, &run.id, scope, nth).await.unwrap()
    };
    let first = call("agent_1", 0).await.expect("the call is on record");
    assert_eq!(first.prompt_name, "reflect.system");
    assert!(first.tools.contains(&"search_observations".to_owned()), "{:?}", first.tools);
    assert!(first.messages.iter().any(|message| message.text.contains("When does the ferry")));
    assert_eq!(call("agent_1", 1).await, None);
    let elsewhere = RunId("another".to_owned());
    let none = runs::recorded_call(&fixture.engine, &fixture.bank, &elsewhere, "agent_1", 0).await;
    assert_eq!(none.unwrap(), None);
}

async fn text(fixture: &Fixture, run: &RunId, part: RunPart) -> (String, u32) {
    let told = runs::as_text(&fixture.engine, &fixture.bank, run, part).await.unwrap();
    (told.text, told.withheld)
}

#[tokio::test]
async fn an_answer_is_taken_out_with_its_sources_and_the_record_as_json() {
    let model = Scripted::new([]);
    let fixture = ferry(&model).await;
    let run = answered(&fixture, &model).await;
    let (answer, withheld) = text(&fixture, &run.id, RunPart::Answer).await;
    assert_eq!(withheld, 0);
    assert!(answer.starts_with("# When does the ferry leave?\n\nThe ferry leaves at six.[^1]\n"));
    assert!(answer.contains("[^1]: The ferry to Aker leaves at six. (2026-02-01)"), "{answer}");
    let (record, _) = text(&fixture, &run.id, RunPart::Record).await;
    let record: Value = serde_json::from_str(&record).unwrap();
    assert_eq!(record["format"], "palimpsest.reflect_run");
    assert_eq!(record["run"]["trace"]["llm_calls"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn what_must_stay_on_this_machine_is_in_neither_text() {
    let fixture = Fixture::new().await;
    fixture.settings(json!({ "local_only_tags": ["secret"] })).await;
    fixture.fact("The ferry to Aker leaves at six.", &["Ferry"], "2026-02-01").await;
    let fact = json!({ "text": SECRET, "entities": ["Ferry"], "tags": ["secret"] });
    let fact = serde_json::from_value(fact).unwrap();
    engine::memory::add(&fixture.engine, &fixture.bank, fact).await.unwrap();
    let run =
        ask(&fixture, question("Where does the spare key of the ferry lie?")).await.0.unwrap();
    assert!(run.text.as_deref().unwrap().contains("third plank"), "{:?}", run.text);
    for part in [RunPart::Answer, RunPart::Record] {
        let (text, withheld) = text(&fixture, &run.id, part).await;
        assert!(!text.contains("plank"), "{text}");
        assert!(text.contains("Where does the spare key"), "{text}");
        assert_eq!(withheld, 1);
    }
}

#[tokio::test]
async fn a_saved_run_never_takes_the_place_of_a_file() {
    let model = Scripted::new([]);
    let fixture = ferry(&model).await;
    let run = answered(&fixture, &model).await;
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let save = async |folder: &str| {
        runs::save(&fixture.engine, &fixture.bank, &run.id, RunPart::Answer, folder).await
    };
    let first = save(place).await.unwrap().path;
    let second = save(place).await.unwrap().path;
    assert!(first.ends_with("when-does-the-ferry-leave.md"), "{first}");
    assert!(second.ends_with("when-does-the-ferry-leave-2.md"), "{second}");
    assert!(std::fs::read_to_string(first).unwrap().contains("at six"));
    let data = fixture.folder.path().to_str().unwrap();
    for bad in ["", "notes", data] {
        assert_eq!(save(bad).await.unwrap_err().reason(), "invalid_request", "{bad}");
    }
}
