//! Cases of memory: chunking, entities, consolidation.

mod support;

use std::collections::BTreeSet;

use domain::chunking::{ChunkKind, ChunkLimits, chunk_document, match_chunks};
use domain::consolidation::{
    Bisection, InvalidateMode, ScopeRule, ShownObservation, SourceTimes, invalidate, merge_times,
    proof_count, retry_backoff_seconds, scope_limit, scopes, validate_actions,
};
use domain::entities::{
    Candidate, Mention, NameKind, Resolution, cluster_new_names, name_likeness, normalise, ratio,
    resolve,
};
use serde_json::{Value, json};
use support::{moment, run, same, texts};

fn number(value: &Value) -> Result<usize, String> {
    value.as_u64().and_then(|n| usize::try_from(n).ok()).ok_or_else(|| format!("{value}: a count"))
}

#[test]
fn chunking() {
    run("chunking", 15, |_, case| match case["op"].as_str() {
        None | Some("chunk") => chunks(case),
        Some("chunk_diff") => {
            let diff = match_chunks(&texts(&case["old"]), &texts(&case["new"]));
            let got = json!({"kept": diff.kept, "removed": diff.removed, "added": diff.added});
            same(&got, &case["expect"])
        }
        Some(op) => Err(format!("unknown op {op:?}")),
    });
}

fn chunks(case: &Value) -> Result<(), String> {
    let text = case["text"].as_str().ok_or("no text")?;
    let structured = match &case["structured_max_chars"] {
        Value::Null => None,
        size => Some(number(size)?),
    };
    let limits = ChunkLimits::new(number(&case["max_chars"])?, structured);
    let (kind, chunks) = chunk_document(text, limits);
    let got: Vec<&str> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    same(&json!(got), &case["expect"])?;
    let known = match case["kind"].as_str() {
        None | Some("whole" | "single" | "short") => ChunkKind::Whole,
        Some("text") => ChunkKind::Text,
        Some("conversation") => ChunkKind::Conversation,
        Some("object") => ChunkKind::Object,
        Some("jsonl" | "json_lines" | "jsonlines" | "lines") => ChunkKind::JsonLines,
        Some(kind) => return Err(format!("unknown kind {kind:?}")),
    };
    // A text that is short enough takes no branch, so its kind is a matter of words.
    if case["kind"].is_null() || kind == ChunkKind::Whole || kind == known {
        Ok(())
    } else {
        Err(format!("kind {kind:?}, want {known:?}"))
    }
}

fn kind_of(name: &Value) -> NameKind {
    let label = name["label"] == json!(true) || name["kind"] == json!("label");
    if label { NameKind::Label } else { NameKind::Regular }
}

fn mention(value: &Value) -> Result<Mention, String> {
    Ok(Mention {
        name: value["name"].as_str().ok_or("a mention has a name")?.to_owned(),
        kind: kind_of(value),
        literal: value["literal"] == json!(true),
    })
}

fn resolution(case: &Value) -> Result<Value, String> {
    let candidates = case["candidates"]
        .as_array()
        .ok_or("no candidates")?
        .iter()
        .map(|row| {
            Ok(Candidate {
                id: row["id"].as_str().ok_or("no id")?.to_owned(),
                name: row["name"].as_str().ok_or("no name")?.to_owned(),
                kind: kind_of(row),
                seen_with: texts(&row["co"]),
                last_seen: moment(&row["last_seen"])?,
            })
        })
        .collect::<Result<Vec<_>, String>>()?;
    let mention = Mention {
        name: case["mention"].as_str().ok_or("no mention")?.to_owned(),
        kind: kind_of(case),
        literal: case["literal"] == json!(true),
    };
    let date = moment(&case["date"])?;
    Ok(match resolve(&mention, &candidates, &texts(&case["nearby"]), date) {
        Resolution::Use(entity) => json!({"action": "use", "entity": entity}),
        Resolution::Create { name, ambiguous } if ambiguous.is_empty() => {
            json!({"action": "create", "name": name})
        }
        Resolution::Create { name, ambiguous } => {
            json!({"action": "create", "name": name, "ambiguous": ambiguous})
        }
    })
}

#[test]
fn entities() {
    run("entity_resolution", 20, |_, case| {
        let pair = || Some((case["a"].as_str()?, case["b"].as_str()?));
        let got = match case["op"].as_str().unwrap_or_default() {
            "normalise" => json!(normalise(case["name"].as_str().ok_or("no name")?)),
            "ratio" => pair().map(|(a, b)| json!(ratio(a, b))).ok_or("no names")?,
            "likeness" | "name_likeness" => {
                pair().map(|(a, b)| json!(name_likeness(a, b))).ok_or("no names")?
            }
            "trigram" | "trigram_likeness" | "similarity" => {
                pair().map(|(a, b)| json!(domain::fuzzy::similarity(a, b))).ok_or("no names")?
            }
            "resolve" => resolution(case)?,
            "cluster_new_names" => {
                let mentions = case["mentions"].as_array().ok_or("no mentions")?;
                let mentions: Vec<Mention> =
                    mentions.iter().map(mention).collect::<Result<_, _>>()?;
                json!(cluster_new_names(&mentions))
            }
            op => return Err(format!("unknown op {op:?}")),
        };
        same(&got, &case["expect"])
    });
}

fn isolation(case: &Value) -> Value {
    let bad = texts(&case["always_fails_with"]);
    let mut parts = Bisection::new(texts(&case["batch"]));
    let (mut calls, mut consolidated) = (Vec::new(), Vec::new());
    while let Some(batch) = parts.next_batch() {
        calls.push(batch.clone());
        if batch.iter().any(|fact| bad.contains(fact)) {
            parts.fail(batch);
        } else {
            consolidated.extend(batch);
        }
    }
    // Which facts came through is a set; the calls are the rule.
    consolidated.sort();
    json!({"calls": calls, "consolidated": consolidated, "failed": parts.failed()})
}

fn actions(case: &Value) -> Result<Value, String> {
    let facts = texts(&case["facts"]);
    let text_of = |id: &str| case["shown_text"][id].as_str().unwrap_or_default().to_owned();
    // Either one list for the whole batch, or a list for each fact.
    let by_fact = ["shown_for", "shown_by_fact"].into_iter().find_map(|key| case.get(key));
    let shown: Vec<ShownObservation> = match by_fact.unwrap_or(&case["shown"]) {
        Value::Object(by_fact) => {
            let ids: BTreeSet<String> = by_fact.values().flat_map(texts).collect();
            let found = |id: &str| {
                let facts = by_fact.iter().filter(|(_, ids)| texts(ids).iter().any(|o| o == id));
                facts.map(|(fact, _)| fact.clone()).collect()
            };
            ids.iter()
                .map(|id| ShownObservation {
                    id: id.clone(),
                    text: text_of(id),
                    shown_for: found(id),
                })
                .collect()
        }
        list => texts(list)
            .into_iter()
            .map(|id| ShownObservation { text: text_of(&id), id, shown_for: facts.clone() })
            .collect(),
    };
    let slots = match &case["slots"] {
        Value::Null => None,
        slots => number(slots).ok(),
    };
    let answer =
        serde_json::from_value(case["response"].clone()).map_err(|error| error.to_string())?;
    let done = validate_actions(&facts, &shown, slots, answer);
    let list = |rows: Vec<Value>| Value::Array(rows);
    let mut got = json!({
        "deletes": done.deletes.iter().map(|delete| &delete.observation).collect::<Vec<_>>(),
        "updates": list(done.updates.iter()
            .map(|update| json!([update.observation, update.text, update.sources])).collect()),
        "creates": list(done.creates.iter()
            .map(|create| json!([create.text, create.sources])).collect()),
        "rejected": done.rejected.len(),
    });
    if !done.attach.is_empty() || case["expect"].get("attach").is_some() {
        got["attach"] = list(
            done.attach.iter().map(|attach| json!([attach.observation, attach.sources])).collect(),
        );
    }
    Ok(got)
}

fn times(case: &Value) -> Result<Value, String> {
    let sources = case["sources"].as_array().ok_or("no sources")?;
    let sources: Vec<SourceTimes> = sources
        .iter()
        .map(|source| {
            Ok(SourceTimes {
                occurred_start: moment(&source["occurred_start"])?,
                occurred_end: moment(&source["occurred_end"])?,
                mentioned_at: moment(&source["mentioned_at"])?,
            })
        })
        .collect::<Result<_, String>>()?;
    let merged = merge_times(sources);
    let want = &case["expect"];
    for (key, got) in [
        ("occurred_start", merged.occurred_start),
        ("occurred_end", merged.occurred_end),
        ("mentioned_at", merged.mentioned_at),
    ] {
        if got != moment(&want[key])? {
            return Err(format!("{key}: got {got:?}, want {}", want[key]));
        }
    }
    Ok(want.clone())
}

fn invalidation(case: &Value) -> Result<Value, String> {
    let observations = case["observations"].as_object().ok_or("no observations")?;
    let observations: Vec<(String, Vec<String>)> =
        observations.iter().map(|(id, sources)| (id.clone(), texts(sources))).collect();
    let mode = match case["mode"].as_str() {
        None | Some("strict") => InvalidateMode::Strict,
        Some("surgical") => InvalidateMode::Surgical,
        Some(mode) => return Err(format!("unknown mode {mode:?}")),
    };
    let outcome = invalidate(&observations, &texts(&case["removed"]), mode);
    // Neither list has an order that matters.
    let sorted = |ids: Vec<String>| ids.into_iter().collect::<BTreeSet<_>>();
    let mut got = json!({"deleted": sorted(outcome.deleted), "requeued": sorted(outcome.requeued)});
    if mode == InvalidateMode::Surgical {
        got["needs_review"] = json!(sorted(outcome.needs_review));
    }
    Ok(got)
}

#[test]
fn consolidation() {
    run("consolidation", 25, |_, case| {
        let want = &case["expect"];
        let got = match case["op"].as_str().unwrap_or_default() {
            "scopes" => {
                let rule = ScopeRule::parse(&case["spec"]).map_err(|fault| fault.to_string());
                let tags = texts(&case["tags"]);
                let scopes = rule
                    .and_then(|rule| scopes(&tags, &rule).map_err(|fault| fault.word().to_owned()));
                match scopes {
                    // The order of listed scopes is nobody's concern.
                    Ok(scopes) if case["spec"].is_array() => {
                        let set = |value: &Value| {
                            let lists = value.as_array().cloned().unwrap_or_default();
                            lists.iter().map(texts).collect::<BTreeSet<_>>()
                        };
                        return same(&json!(set(&json!(scopes))), &json!(set(want)));
                    }
                    Ok(scopes) => json!(scopes),
                    Err(word) if want.is_null() || want.get("error").is_some() => {
                        let named = want.get("error").is_none_or(|error| *error == word);
                        return if named { Ok(()) } else { Err(word) };
                    }
                    Err(word) => return Err(word),
                }
            }
            "failure_isolation" => isolation(case),
            "scope_limit" => {
                let rules = serde_json::from_value::<Vec<_>>(case["rules"].clone())
                    .map_err(|e| e.to_string())?;
                let default = case["default"].as_i64().and_then(|n| n.try_into().ok());
                json!(scope_limit(&rules, default.unwrap_or(-1), &texts(&case["tags"])))
            }
            "validate_actions" => actions(case)?,
            "merge_times" => times(case)?,
            "proof_count" => json!(proof_count(&texts(&case["existing"]), &texts(&case["added"]))),
            "retry_backoff_seconds" => {
                let attempt = number(&case["attempt"])?.try_into().map_err(|_| "too many")?;
                json!(retry_backoff_seconds(attempt))
            }
            "invalidate" => invalidation(case)?,
            op => return Err(format!("unknown op {op:?}")),
        };
        same(&got, want)
    });
}
