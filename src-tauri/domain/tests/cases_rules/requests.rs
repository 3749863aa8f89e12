//! Requests to create a model, and triggers.

use domain::FieldFault;
use domain::model::{CreateDefaults, read_create};
use domain::trigger::{StatedTrigger, TriggerPatch, UnknownKeys};
use serde_json::{Value, json};

use crate::{Case, assert_subset, run};

#[test]
fn triggers_and_creation() {
    run("triggers", "id", &["input", "errors", "normalized"], |case| {
        let input = case.object("input");
        let trigger_alone = input.len() == 1 && input.contains_key("trigger");
        let got = if trigger_alone { trigger(&input["trigger"]) } else { creation(case) };
        let wanted: Vec<(String, String)> = case
            .list("errors")
            .iter()
            .map(|fault| (word(&fault["field"]), word(&fault["code"])))
            .collect();
        match got {
            Ok(normal) => {
                assert!(wanted.is_empty(), "{}: accepted", case.id);
                if let Some(expected) = case.find("normalized") {
                    assert_subset(expected, &normal, case.id);
                }
            }
            Err(faults) => {
                let mut got: Vec<(String, String)> =
                    faults.into_iter().map(|fault| (fault.field, fault.code)).collect();
                let mut wanted = wanted;
                got.sort();
                wanted.sort();
                assert_eq!(got, wanted, "{}", case.id);
            }
        }
    });
}

fn word(value: &Value) -> String {
    value.as_str().expect("a word").to_owned()
}

fn trigger(input: &Value) -> Result<Value, Vec<FieldFault>> {
    let patch = TriggerPatch::parse(input, UnknownKeys::Refuse)?;
    let stated = StatedTrigger::default().merged(&patch);
    Ok(serde_json::to_value(stated.effective()).expect("JSON"))
}

fn creation(case: &Case<'_>) -> Result<Value, Vec<FieldFault>> {
    let none = StatedTrigger::default();
    let (made, _) = read_create(case.get("input"), CreateDefaults::default(), &none)?;
    Ok(json!({
        "id": made.id,
        "name": made.name,
        "source_query": made.source_query,
        "content": made.content,
        "tags": made.tags,
        "max_tokens": made.max_tokens,
        "review": made.review,
        "trigger": made.trigger.effective(),
    }))
}
