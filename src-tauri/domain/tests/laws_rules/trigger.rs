//! Laws of stated keys, and the corners of a trigger's form.

use domain::FieldFault;
use domain::model::{CreateDefaults, Review, read_create, read_update};
use domain::trigger::{RefreshMode, StatedTrigger, Trigger, TriggerPatch, UnknownKeys};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn parse(input: &Value) -> Result<TriggerPatch, Vec<FieldFault>> {
    TriggerPatch::parse(input, UnknownKeys::Refuse)
}

fn faults(input: &Value) -> Vec<(String, String)> {
    let found = parse(input).expect_err("faults");
    found.into_iter().map(|fault| (fault.field, fault.code)).collect()
}

fn merged(patches: &[Value]) -> StatedTrigger {
    patches.iter().fold(StatedTrigger::default(), |stated, patch| {
        stated.merged(&parse(patch).unwrap_or_else(|found| panic!("{patch}: {found:?}")))
    })
}

fn value(key: &'static str) -> impl Strategy<Value = Value> {
    let values = match key {
        "mode" => vec![json!("full"), json!("delta")],
        "refresh_cron" | "full_refresh_cron" => {
            vec![json!("0 3 * * *"), json!(" "), json!("5 4 * * 1")]
        }
        "min_refresh_interval_seconds" => vec![json!(0), json!(600)],
        "fact_types" => vec![json!(["world"]), json!(["world", "observation", "world"])],
        "tags_match" => vec![json!("any"), json!("exact")],
        "tag_groups" => vec![json!([{"tags": ["a"]}]), json!([{"not": {"tags": []}}])],
        "exclude_mental_model_ids" => vec![json!([]), json!(["b", "a"])],
        "recall_max_tokens" | "delta_failure_limit" => vec![json!(1), json!(4000)],
        "response_schema" => vec![json!({"properties": {"a": {}}})],
        "budget" => vec![json!("high")],
        _ => vec![json!(true), json!(false)],
    };
    prop_oneof![1 => Just(Value::Null), 3 => proptest::sample::select(values)]
}

fn patch() -> impl Strategy<Value = Value> {
    let keys = [
        "mode",
        "refresh_after_consolidation",
        "refresh_cron",
        "full_refresh_cron",
        "min_refresh_interval_seconds",
        "fact_types",
        "tags_match",
        "tag_groups",
        "exclude_mental_models",
        "exclude_mental_model_ids",
        "recall_max_tokens",
        "response_schema",
        "keep_trace",
        "budget",
        "delta_failure_limit",
    ];
    let pair = proptest::sample::select(keys.to_vec())
        .prop_flat_map(|key| value(key).prop_map(move |value| (key.to_owned(), value)));
    proptest::collection::vec(pair, 0..6).prop_map(|pairs| {
        let mut map: Map<String, Value> = pairs.into_iter().collect();
        let cron = map.get("refresh_cron").and_then(Value::as_str).is_some_and(|c| c != " ");
        if cron && map.get("refresh_after_consolidation") == Some(&json!(true)) {
            map.remove("refresh_cron");
        }
        Value::Object(map)
    })
}

proptest! {
    #[test]
    fn merging_is_idempotent_and_never_states_both_triggers(
        before in proptest::collection::vec(patch(), 0..3), last in patch(),
    ) {
        let stated = merged(&before);
        let change = parse(&last).expect("valid");
        let once = stated.merged(&change);
        prop_assert_eq!(&once.merged(&change), &once);
        prop_assert_eq!(&once.merged(&TriggerPatch::default()), &once);
        let effective = once.effective();
        prop_assert!(!(effective.refresh_cron.is_some() && effective.refresh_after_consolidation));
        // What is stored reads back the same, and what was stated is in force.
        let (back, ignored) = StatedTrigger::from_stored(&once.to_json());
        prop_assert_eq!(&back, &once);
        prop_assert!(ignored.is_empty());
        let shown = serde_json::to_value(&effective).expect("JSON");
        let stored = once.to_json();
        for key in once.stated_keys() {
            prop_assert_eq!(&shown[&key], &stored[&key]);
        }
        // A key that no one states has its default.
        let defaults = serde_json::to_value(Trigger::default()).expect("JSON");
        for (key, value) in shown.as_object().expect("an object") {
            if !once.stated_keys().contains(key) {
                prop_assert_eq!(value, &defaults[key]);
            }
        }
    }
}

#[test]
fn switching_one_automatic_trigger_on_switches_the_other_off() {
    let cron = json!({"refresh_cron": "0 3 * * *"});
    let after = json!({"refresh_after_consolidation": true});
    let stated = |patches: &[Value]| merged(patches).stated_keys();
    assert_eq!(stated(&[cron.clone(), after.clone()]), ["refresh_after_consolidation"]);
    assert_eq!(stated(&[after.clone(), cron.clone()]), ["refresh_cron"]);
    // Switching one off says nothing about the other.
    let off = json!({"refresh_after_consolidation": false});
    assert_eq!(stated(&[cron.clone(), off]), ["refresh_after_consolidation", "refresh_cron"]);
    assert_eq!(stated(&[after, json!({"refresh_cron": null})]), ["refresh_after_consolidation"]);
}

#[test]
fn a_page_lies_under_what_is_stated() {
    let page = StatedTrigger::page_defaults();
    let effective = page.effective();
    assert_eq!(effective.mode, RefreshMode::Delta);
    assert!(effective.refresh_after_consolidation && effective.exclude_mental_models);
    let patch = parse(&json!({"refresh_cron": "0 3 * * *", "fact_types": null})).expect("valid");
    let effective = page.merged(&patch).effective();
    assert!(!effective.refresh_after_consolidation);
    assert_eq!(effective.fact_types, None);
}

#[test]
fn types_and_ranges() {
    let at = |key: &str, code: &str| (format!("trigger.{key}"), code.to_owned());
    assert_eq!(
        faults(&json!({
            "min_refresh_interval_seconds": true,
            "recall_max_tokens": 0,
            "recall_chunks_max_tokens": 1.5,
            "delta_failure_limit": 0,
            "keep_trace": "yes",
            "refresh_cron": 5,
            "full_refresh_cron": "0 0 30 2 *",
            "fact_types": "world",
            "tag_groups": {"tags": ["a"]},
            "exclude_mental_model_ids": ["a", 1],
            "response_schema": "object",
            "mode": 1,
        })),
        [
            at("delta_failure_limit", "out_of_range"),
            at("exclude_mental_model_ids[1]", "type"),
            at("fact_types", "type"),
            at("full_refresh_cron", "cron_never_fires"),
            at("keep_trace", "type"),
            at("min_refresh_interval_seconds", "type"),
            at("mode", "enum"),
            at("recall_chunks_max_tokens", "type"),
            at("recall_max_tokens", "out_of_range"),
            at("refresh_cron", "type"),
            at("response_schema", "schema_not_object"),
            at("tag_groups", "type"),
        ]
    );
    assert_eq!(
        faults(&json!({"tag_groups": [{"or": [{"tags": ["a"], "resolve": "fuzzy"}]}]})),
        [at("tag_groups[0].or[0].resolve", "fuzzy_in_trigger")]
    );
    assert_eq!(faults(&json!([])), [("trigger".to_owned(), "type".to_owned())]);
    let huge = json!({"recall_max_tokens": 5_000_000_000_u64});
    assert_eq!(faults(&huge), [at("recall_max_tokens", "out_of_range")]);
}

#[test]
fn the_wire_ignores_what_it_does_not_know_and_says_so() {
    let input = json!({"refresh_chron": "0 3 * * *", "mode": "delta"});
    let patch = TriggerPatch::parse(&input, UnknownKeys::Ignore).expect("accepted");
    assert_eq!(patch.warnings[0].code, "unknown_key");
    let redundant = json!({"exclude_mental_models": true, "exclude_mental_model_ids": ["a"]});
    assert_eq!(parse(&redundant).expect("accepted").warnings[0].code, "redundant");
}

#[test]
fn a_malformed_stored_trigger_is_never_fatal() {
    let (stated, ignored) = StatedTrigger::from_stored(&json!({
        "mode": 7, "keep_trace": true, "refresh_cron": "every day", "colour": "red",
    }));
    assert_eq!(ignored.len(), 3);
    let kept = Trigger { keep_trace: true, ..Trigger::default() };
    assert_eq!(stated.effective(), kept);
    assert_eq!(StatedTrigger::from_stored(&json!("damaged")).0, StatedTrigger::default());
}

#[test]
fn a_request_to_create_tells_all_its_faults_at_once() {
    let none = StatedTrigger::default();
    let input = json!({
        "id": "Q4", "name": 5, "tags": ["a", " ", 3], "max_tokens": true, "review": "later",
        "trigger": {"mode": "append"}, "content": 1,
    });
    let mut found: Vec<(String, String)> = read_create(&input, CreateDefaults::default(), &none)
        .expect_err("faults")
        .into_iter()
        .map(|fault| (fault.field, fault.code))
        .collect();
    found.sort();
    let at = |field: &str, code: &str| (field.to_owned(), code.to_owned());
    assert_eq!(
        found,
        [
            at("content", "type"),
            at("id", "id_format"),
            at("max_tokens", "type"),
            at("name", "type"),
            at("review", "enum"),
            at("source_query", "blank"),
            at("tags[1]", "blank"),
            at("tags[2]", "type"),
            at("trigger.mode", "enum"),
        ]
    );
    let long = json!({"name": "N", "source_query": "Q", "id": "a".repeat(129)});
    assert_eq!(
        read_create(&long, CreateDefaults::default(), &none).expect_err("a fault")[0].code,
        "id_format"
    );
}

#[test]
fn an_update_states_only_what_it_holds() {
    let none = read_update(&json!({}), UnknownKeys::Refuse).expect("valid");
    assert!(none.is_empty());
    assert!(read_update(&json!({"trigger": {}}), UnknownKeys::Refuse).expect("valid").is_empty());
    let some = json!({"review": "manual", "name": " New ", "trigger": {"keep_trace": null}});
    let update = read_update(&some, UnknownKeys::Refuse).expect("valid");
    assert_eq!(update.review, Some(Review::Manual));
    assert_eq!(update.name.as_deref(), Some("New"));
    assert!(update.trigger.is_some() && update.tags.is_none());
    let blank = read_update(&json!({"name": " "}), UnknownKeys::Refuse).expect_err("a fault");
    assert_eq!(blank[0].code, "blank");
}
