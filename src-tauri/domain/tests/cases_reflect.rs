//! Cases of the reflect rules: citations, cleaning, directives, disposition, guards, tool calls.

mod support;

use domain::citations::{AnswerSource, CitedIds, validate_citations};
use domain::cleaning::{clean_final_text, extract_json, leaked_call_syntax, strip_reasoning_tags};
use domain::directives::{Directive, DirectiveReach, RunScope, item_visible, select_directives};
use domain::disposition::{disposition_lines, validate_disposition};
use domain::fuzzy::resolve as resolve_fuzzy;
use domain::guards::{
    DoneState, FoundModel, RELEASE_RELEVANCE, classify_provider_error, done_guard, early_release,
};
use domain::reflect::Budget;
use domain::tag_group::read_groups;
use domain::tags::{TagSet, TagsMatch};
use domain::tool_calls::{normalize_tool_name, parse_int_arg};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use support::{run, same, texts};

fn read<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    serde_json::from_value(value.clone()).map_err(|error| error.to_string())
}

fn function<'a>(file: &'a Value, case: &'a Value) -> &'a str {
    case["function"].as_str().or_else(|| file["function"].as_str()).unwrap_or("")
}

fn unknown(name: &str) -> Result<(), String> {
    Err(format!("unknown function {name:?}"))
}

#[test]
fn citations() {
    run("reflect_citations", 9, |file, case| {
        if function(file, case) != "validate_citations" {
            return unknown(function(file, case));
        }
        let input = &case["input"];
        let available: CitedIds = read(&input["available"])?;
        let args: Map<String, Value> = read(&input["args"])?;
        let source: AnswerSource = read(&input["source"])?;
        let check = validate_citations(&available, &args, source);
        let got = json!({
            "used": check.used,
            "dropped": check.dropped,
            "basis": check.basis,
            "credited": check.credited,
        });
        same(&got, &case["expect"])
    });
}

#[test]
fn cleaning() {
    run("reflect_cleaning", 13, |file, case| {
        let text = case["input"].as_str().ok_or("input is no text")?;
        let got = match function(file, case) {
            "strip_reasoning_tags" => json!(strip_reasoning_tags(text)),
            "extract_json" => extract_json(text).unwrap_or(Value::Null),
            "leaked_call_syntax" => json!(leaked_call_syntax(text)),
            "clean_final_text" => {
                let clean = clean_final_text(text);
                let mut got = json!({"text": clean.text});
                if let Some(ids) = clean.ids {
                    got["ids"] = Value::Object(ids);
                }
                got
            }
            name => return unknown(name),
        };
        same(&got, &case["expect"])
    });
}

fn scope_of(request: &Value, pool: &TagSet) -> Result<RunScope, String> {
    let groups = request["tag_groups"].as_array().map(Vec::as_slice).unwrap_or_default();
    let tag_groups = read_groups(groups).map_err(|faults| format!("{faults:?}"))?;
    let resolved = resolve_fuzzy(&tag_groups, pool).map_err(|fault| fault.word().to_owned())?;
    let tags_match = match request["tags_match"].as_str() {
        None => TagsMatch::Any,
        Some(word) => TagsMatch::from_word(word).ok_or_else(|| format!("mode {word}"))?,
    };
    Ok(RunScope { tags: TagSet::new(texts(&request["tags"])), tags_match, tag_groups, resolved })
}

#[test]
fn directives() {
    run("reflect_directives", 9, |file, case| {
        if function(file, case) != "select_directives" {
            return unknown(function(file, case));
        }
        let rows = case.get("directives").unwrap_or(&file["directives"]).as_array();
        let directives: Vec<Directive> = rows
            .ok_or("no directives")?
            .iter()
            .map(|row| {
                let mut whole = json!({
                    "name": "", "content": "Rule.", "priority": 0, "is_active": true, "tags": [],
                });
                for (key, value) in row.as_object().ok_or("a directive is an object")? {
                    whole[key] = value.clone();
                }
                whole["updated_at"] = whole["created_at"].clone();
                read(&whole)
            })
            .collect::<Result<_, String>>()?;
        let items = case.get("items").unwrap_or(&file["items"]).as_object().ok_or("no items")?;
        let pool = TagSet::new(
            items
                .values()
                .flat_map(texts)
                .chain(directives.iter().flat_map(|directive| directive.tags.clone())),
        );
        let request = &case["input"]["request"];
        let scope = scope_of(request, &pool)?;
        let reach = if request["apply_all_directives"] == json!(true) {
            DirectiveReach::All
        } else {
            DirectiveReach::Scoped
        };
        let chosen: Vec<String> = select_directives(directives, &scope, reach)
            .in_force
            .into_iter()
            .map(|directive| directive.id.0)
            .collect();
        same(&json!(chosen), &case["expect"]["directives"])?;
        // The names of items are compared as a set, since a JSON object has no order of its own.
        let mut visible: Vec<&String> = items
            .iter()
            .filter(|(_, tags)| item_visible(&TagSet::new(texts(tags)), &scope))
            .map(|(name, _)| name)
            .collect();
        visible.sort();
        let mut want = texts(&case["expect"]["visible_items"]);
        want.sort();
        same(&json!(visible), &json!(want))
    });
}

#[test]
fn disposition() {
    run("reflect_disposition", 3, |file, case| {
        let got = match function(file, case) {
            "validate_disposition" => {
                let values = case["input"].as_array().ok_or("input is no list")?;
                json!(values.iter().map(validate_disposition).collect::<Vec<_>>())
            }
            "disposition_lines" => json!(disposition_lines(&read(&case["input"])?)),
            name => return unknown(name),
        };
        same(&got, &case["expect"])
    });
}

#[test]
fn guards() {
    run("reflect_guards", 13, |file, case| {
        let input = &case["input"];
        let got = match function(file, case) {
            "classify_provider_error" => {
                let status = input["status"].as_u64().and_then(|status| status.try_into().ok());
                let code = match &input["code"] {
                    Value::Null => None,
                    Value::String(code) => Some(code.clone()),
                    other => Some(other.to_string()),
                };
                let message = input["message"].as_str().unwrap_or_default();
                json!(classify_provider_error(status, code.as_deref(), message).word())
            }
            "done_guard" => {
                let state: DoneState = read(input)?;
                json!(done_guard(&state).map(|guard| guard.word()))
            }
            "early_release" => {
                let budget: Budget = read(&input["budget"])?;
                let models: Vec<FoundModel> = read(&input["mental_models"])?;
                json!(early_release(budget, &models, RELEASE_RELEVANCE))
            }
            name => return unknown(name),
        };
        same(&got, &case["expect"])
    });
}

#[test]
fn tool_calls() {
    run("reflect_tool_calls", 6, |file, case| {
        let input = &case["input"];
        let got = match function(file, case) {
            "normalize_tool_name" => {
                let names = texts(input);
                json!(names.iter().map(|name| normalize_tool_name(name)).collect::<Vec<_>>())
            }
            "parse_int_arg" => {
                let args: Map<String, Value> = read(&input["args"])?;
                let read = parse_int_arg(
                    &args,
                    input["key"].as_str().ok_or("no key")?,
                    input["default"].as_i64().ok_or("no default")?,
                    input["min"].as_i64(),
                    input["max"].as_i64(),
                );
                match read {
                    Ok(read) => json!({"value": read.value}),
                    Err(fault) => json!({"error": fault.key}),
                }
            }
            name => return unknown(name),
        };
        same(&got, &case["expect"])
    });
}
