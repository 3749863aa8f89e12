//! Cases of ranking: fusion and boosts.

mod support;

use std::fmt;
use std::marker::PhantomData;

use domain::fusion::{
    BudgetFunction, RecencyCurve, Way, candidate_budget, combined_score, graph_score, interleave,
    proof_norm, rank_seed, recency, rrf, source_facts, token_cut,
};
use domain::reflect::Budget;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value, json};
use support::{files, run, same, texts};

// The order of the keys of "lists" is the order of the ways, which a sorted map would lose.
#[derive(Default)]
struct Ordered<T>(Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Pairs<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Pairs<T> {
            type Value = Ordered<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered<T>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Ordered(pairs))
            }
        }
        from.deserialize_map(Pairs(PhantomData))
    }
}

#[derive(Deserialize)]
struct ListedCase {
    id: String,
    #[serde(default)]
    lists: Option<Ordered<Vec<String>>>,
}

#[derive(Deserialize)]
struct ListedFile {
    cases: Vec<ListedCase>,
}

fn lists_of(id: &str) -> Result<Vec<(Way, Vec<String>)>, String> {
    let listed = files("fusion").into_iter().find_map(|(_, text)| {
        let file: ListedFile = serde_json::from_str(&text).ok()?;
        file.cases.into_iter().find(|case| case.id == id)?.lists
    });
    let way = |(word, list): (String, Vec<String>)| {
        Way::from_word(&word).map(|way| (way, list)).ok_or_else(|| format!("unknown way {word:?}"))
    };
    listed.ok_or("no lists")?.0.into_iter().map(way).collect()
}

fn fused(case: &Value) -> Result<Value, String> {
    let k = case["k"].as_f64().unwrap_or(domain::fusion::RRF_K);
    let results = rrf(k, &lists_of(case["id"].as_str().ok_or("no id")?)?);
    let row = |result: &domain::fusion::Fused<String>| {
        let ranks: Map<String, Value> = result
            .ranks
            .iter()
            .map(|found| (found.way.word().to_owned(), json!(found.rank)))
            .collect();
        json!({"id": result.id, "score": result.score, "ranks": ranks})
    };
    Ok(Value::Array(results.iter().map(row).collect()))
}

fn curve(case: &Value) -> Result<RecencyCurve, String> {
    match &case["curve"] {
        Value::Null => Ok(RecencyCurve::Linear),
        word => serde_json::from_value(word.clone()).map_err(|error| error.to_string()),
    }
}

fn small(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|n| n.try_into().ok())
}

fn boosted(case: &Value) -> Result<Value, String> {
    let base = case["base"].as_f64().ok_or("no base")?;
    let recency = recency(case["days_old"].as_f64(), curve(case)?);
    let nearness = case["temporal"].as_f64().unwrap_or(0.5);
    let proof = proof_norm(small(&case["proof_count"]));
    Ok(json!(combined_score(base, recency, nearness, proof)))
}

fn budget(case: &Value) -> Result<Value, String> {
    let level = case["level"].as_str().and_then(Budget::from_word).ok_or("no level")?;
    let function = match case["function"].as_str() {
        None | Some("fixed") => BudgetFunction::Fixed,
        Some("adaptive") => BudgetFunction::Adaptive,
        Some(word) => return Err(format!("unknown function {word:?}")),
    };
    Ok(json!(candidate_budget(level, small(&case["max_tokens"]).unwrap_or(4096), function)))
}

fn cut(case: &Value) -> Result<(), String> {
    let items = case["items"].as_array().ok_or("no items")?;
    let tokens: Vec<u32> =
        items.iter().map(|item| small(&item[1]).ok_or("no tokens")).collect::<Result<_, _>>()?;
    let (kept, used) = token_cut(&tokens, small(&case["max_tokens"]).ok_or("no limit")?);
    let ids: Vec<&Value> = items[..kept].iter().map(|item| &item[0]).collect();
    same(&json!(ids), &case["expect"])?;
    if case["used"].is_null() { Ok(()) } else { same(&json!(used), &case["used"]) }
}

fn sources(case: &Value) -> Result<(), String> {
    let observations: Vec<Vec<String>> = case["observations"]
        .as_array()
        .ok_or("no observations")?
        .iter()
        .map(|row| texts(&row[1]))
        .collect();
    // A negative limit is none.
    let shown = source_facts(
        &observations,
        |id| small(&case["tokens"][id.as_str()]),
        small(&case["max_total"]),
        small(&case["max_per_observation"]),
    );
    same(&json!(shown.included), &case["expect"])?;
    same(&json!(shown.truncated), &case["truncated"])
}

#[test]
fn fusion() {
    run("fusion", 33, |_, case| {
        let got = match case["op"].as_str().unwrap_or_default() {
            "rrf" => fused(case)?,
            "interleave" => {
                let lists = lists_of(case["id"].as_str().ok_or("no id")?)?;
                let lists: Vec<Vec<String>> = lists.into_iter().map(|(_, list)| list).collect();
                json!(interleave(&lists))
            }
            "recency" => json!(recency(case["days_old"].as_f64(), curve(case)?)),
            "proof_norm" => json!(proof_norm(small(&case["proof_count"]))),
            "combined_score" => boosted(case)?,
            "rank_seed" => {
                json!(rank_seed(small(&case["n"]).ok_or("no n")? as usize))
            }
            "budget" => budget(case)?,
            "token_cut" => return cut(case),
            "source_facts" => return sources(case),
            "graph_score" => json!(graph_score(
                small(&case["shared_entities"]).unwrap_or(0),
                case["semantic"].as_f64(),
                case["causal"].as_f64(),
            )),
            op => return Err(format!("unknown op {op:?}")),
        };
        same(&got, &case["expect"])
    });
}
