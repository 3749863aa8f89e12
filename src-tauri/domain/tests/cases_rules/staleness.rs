//! Why a model needs a refresh.

use domain::FactType;
use domain::model::MEMORY_KINDS;
use domain::scope::Scope;
use domain::staleness::{
    CitedState, StalenessInput, TombstoneCause, cited_state, freshness, grounding_retracted,
    left_scope,
};
use domain::tags::TagSet;
use domain::trigger::StatedTrigger;
use serde_json::Value;

use crate::{Case, only, run, texts};

const MODEL: [&str; 7] = [
    "tags",
    "trigger",
    "last_memory_seen_seq",
    "source_query",
    "last_refreshed_source_query",
    "carry_over",
    "cites",
];

#[test]
fn reasons() {
    let keys = ["model", "memories", "tombstones", "is_stale", "needs_refresh", "refresh_reasons"];
    run("staleness", "id", &keys, |case| {
        let model = case.object("model");
        only(case.id, model, &MODEL);
        let (trigger, _) = StatedTrigger::from_stored(&model["trigger"]);
        let scope = Scope::resolve("mm-1", &texts(&model["tags"]), &trigger.effective());
        let seen = model["last_memory_seen_seq"].as_i64();
        let newer = case.list("memories").iter().any(|memory| {
            let (tags, kind) = place(memory);
            let seq = memory["change_seq"].as_i64().expect("a sequence");
            is_valid(memory) && seq > seen.unwrap_or(0) && scope.keeps(&tags, kind)
        });
        let got = freshness(&StalenessInput {
            last_memory_seen_seq: seen,
            source_query: model["source_query"].as_str().expect("a question"),
            last_refreshed_source_query: model["last_refreshed_source_query"].as_str(),
            scope_has_newer: newer,
            grounding_retracted: grounding_retracted(&cited(case, &scope)),
            has_carry_over: model["carry_over"].as_array().is_some_and(|list| !list.is_empty()),
        });
        let reasons: Vec<String> = got
            .refresh_reasons
            .iter()
            .map(|reason| serde_json::to_value(reason).expect("JSON"))
            .map(|word| word.as_str().expect("a word").to_owned())
            .collect();
        assert_eq!(reasons, texts(case.get("refresh_reasons")), "{}", case.id);
        assert_eq!(Some(got.is_stale), case.get("is_stale").as_bool(), "{}", case.id);
        assert_eq!(Some(got.needs_refresh), case.get("needs_refresh").as_bool(), "{}", case.id);
    });
}

fn is_valid(memory: &Value) -> bool {
    memory.get("state").is_none_or(|state| state == "valid")
}

fn place(memory: &Value) -> (TagSet, FactType) {
    let kind = memory["fact_type"].as_str().and_then(FactType::from_word).expect("a type");
    (TagSet::new(texts(&memory["tags"])), kind)
}

fn cited(case: &Case<'_>, scope: &Scope) -> Vec<CitedState> {
    let by_memory = |cite: &&Value| MEMORY_KINDS.contains(&cite["type"].as_str().expect("a type"));
    let state = |cite: &Value| {
        let id = &cite["id"];
        let memory = case.list("memories").iter().find(|m| m["id"] == *id && is_valid(m));
        let stone = case.list("tombstones").iter().find(|stone| stone["memory_id"] == *id);
        let cause = stone.map(|stone| {
            serde_json::from_value::<TombstoneCause>(stone["cause"].clone()).expect("a cause")
        });
        let before = stone.and_then(|stone| stone.get("tags")).map(|t| TagSet::new(texts(t)));
        let now = memory.map(place);
        let left =
            left_scope(scope, before.as_ref(), now.as_ref().map(|(tags, kind)| (tags, *kind)));
        cited_state(memory.is_some(), cause, left)
    };
    let cites = case.object("model")["cites"].as_array().expect("a list");
    cites.iter().filter(by_memory).map(state).collect()
}
