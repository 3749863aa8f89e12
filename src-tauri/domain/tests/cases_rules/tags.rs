//! Flat filters, tag groups, fuzzy tags and the scope of a model.

use domain::FactType;
use domain::fuzzy::{self, similarity};
use domain::scope::Scope;
use domain::tag_group::{TagFilter, read_groups};
use domain::tags::{TagSet, TagsMatch, flat_keeps};
use domain::trigger::StatedTrigger;
use serde_json::{Map, Value};

use crate::{Case, assert_subset, files, run, texts};

fn mode(word: Option<&Value>, default: TagsMatch) -> TagsMatch {
    let read =
        |word: &Value| TagsMatch::from_word(word.as_str().expect("a word")).expect("a known mode");
    word.map_or(default, read)
}

fn memories<'a>(file: &'a Value, name: &str) -> &'a Map<String, Value> {
    file[name].as_object().expect("a map of memories")
}

/// The ids that a test keeps, in the order of the file.
fn kept(memories: &Map<String, Value>, keeps: impl Fn(&TagSet) -> bool) -> Vec<String> {
    let tags = |value: &Value| TagSet::new(texts(value));
    memories.iter().filter(|(_, value)| keeps(&tags(value))).map(|(id, _)| id.clone()).collect()
}

#[test]
fn flat_filters() {
    run("tags", "id", &["tags", "match", "expect"], |case| {
        let asked = TagSet::new(case.find("tags").map(texts).unwrap_or_default());
        let mode = mode(case.find("match"), TagsMatch::Any);
        let kept = kept(memories(case.file, "memories"), |item| flat_keeps(mode, &asked, item));
        assert_eq!(kept, texts(case.get("expect")), "{}", case.id);
    });
}

/// Answers a request the way recall and reflect do: shape, then groups, then fuzzy tags.
fn answer(
    memories: &Map<String, Value>,
    tags: Option<&Value>,
    match_word: Option<&Value>,
    groups: Option<&Value>,
) -> Result<Vec<String>, String> {
    let given = |value: Option<&Value>| value.filter(|value| !value.is_null()).cloned();
    let tags = given(tags).map(|tags| texts(&tags));
    let groups = match given(groups) {
        None => None,
        Some(_) if tags.is_some() => return Err("tags_and_tag_groups".to_owned()),
        Some(list) => Some(
            read_groups(list.as_array().expect("a list"))
                .map_err(|faults| faults[0].reason.word().to_owned())?,
        ),
    };
    let mode = mode(match_word, TagsMatch::Any);
    let filter = TagFilter::of_request(tags.as_deref(), mode, groups).map_err(str::to_owned)?;
    let pool: TagSet = memories.values().flat_map(texts).collect();
    let resolved =
        fuzzy::resolve(&filter.groups, &pool).map_err(|fault| fault.word().to_owned())?;
    Ok(kept(memories, |item| filter.keeps_resolved(item, &resolved)))
}

#[test]
fn tag_groups() {
    let keys =
        ["memories", "tag_groups", "tags", "tags_match", "match", "expect", "request", "error"];
    run("tag_groups", "id", &keys, |case| {
        let name = case.find("memories").map_or("memories", |name| name.as_str().expect("a name"));
        let memories = memories(case.file, name);
        let ask = |map: &Map<String, Value>| {
            let word = map.get("tags_match").or(map.get("match"));
            answer(memories, map.get("tags"), word, map.get("tag_groups"))
        };
        match case.find("request") {
            None => {
                let kept = ask(case.map).unwrap_or_else(|word| panic!("{}: {word}", case.id));
                assert_eq!(kept, texts(case.get("expect")), "{}", case.id);
            }
            Some(request) => {
                let refused = ask(request.as_object().expect("a request")).expect_err(case.id);
                assert_eq!(refused, case.get("error").as_str().expect("a word"), "{}", case.id);
            }
        }
    });
}

#[test]
fn trigram_likeness() {
    for file in files("tag_groups") {
        for pair in file["similarity"].as_array().into_iter().flatten() {
            let text = |key: &str| pair[key].as_str().expect("a text");
            let got = similarity(text("a"), text("b"));
            let wanted = pair["value"].as_f64().expect("a number");
            assert!((got - wanted).abs() < 1e-6, "{pair}: {got}");
        }
    }
}

#[test]
fn scopes() {
    let keys = ["model_id", "tags", "trigger", "scope", "memories"];
    run("tags_scope", "id", &keys, |case| {
        let scope = scope(case);
        let mut wanted = case.get("scope").clone();
        if let Some(list) = wanted.get("tag_groups").and_then(Value::as_array) {
            let groups = read_groups(list).expect("groups");
            wanted["tag_groups"] = serde_json::to_value(groups).expect("JSON");
        }
        assert_subset(&wanted, &serde_json::to_value(&scope).expect("JSON"), case.id);
        for memory in case.list("memories") {
            let kind = memory["fact_type"].as_str().and_then(FactType::from_word);
            let kept = scope.keeps(&TagSet::new(texts(&memory["tags"])), kind.expect("a type"));
            let wanted = memory["in"].as_bool().expect("in");
            assert_eq!(kept, wanted, "{}: {}", case.id, memory["id"]);
        }
    });
}

fn scope(case: &Case<'_>) -> Scope {
    let id = case.find("model_id").and_then(Value::as_str).unwrap_or("mm-1");
    let (trigger, ignored) = StatedTrigger::from_stored(case.get("trigger"));
    assert!(ignored.is_empty(), "{}: {ignored:?}", case.id);
    Scope::resolve(id, &texts(case.get("tags")), &trigger.effective())
}
