//! Reading what a language model writes when it calls a tool: names with stray prefixes, arguments
//! as text or object, numbers as words, repeated ids. Tolerant where the meaning is plain, an error
//! for the language model where it is not. Nothing here runs a tool.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::reflect::Budget;

/// Search over mental models.
pub const SEARCH_MENTAL_MODELS: &str = "search_mental_models";
/// Search over observations.
pub const SEARCH_OBSERVATIONS: &str = "search_observations";
/// Search over facts.
pub const RECALL: &str = "recall";
/// Opens sources by id.
pub const EXPAND: &str = "expand";
/// Hands over the answer.
pub const DONE: &str = "done";

/// The searches, in the order in which they are forced.
pub const RETRIEVAL_TOOLS: [&str; 3] = [SEARCH_MENTAL_MODELS, SEARCH_OBSERVATIONS, RECALL];
/// Every tool there is.
pub const ALL_TOOLS: [&str; 5] = [SEARCH_MENTAL_MODELS, SEARCH_OBSERVATIONS, RECALL, EXPAND, DONE];

/// Calls of one reply that are run; the rest is answered with an error.
pub const MAX_CALLS_PER_REPLY: usize = 8;
/// Bounds of a token budget that the language model asks for.
pub const TOKEN_BOUNDS: (u32, u32) = (1000, 16_000);
/// Results of a search over mental models: default, least, most.
pub const MODEL_RESULTS: (u32, u32, u32) = (5, 1, 20);

/// The name of a tool without the prefixes and special-token tails that some endpoints leave on it.
/// No case folding and no guessing.
#[must_use]
pub fn normalize_tool_name(name: &str) -> &str {
    let name = name.trim();
    let name = name.strip_prefix("call=").unwrap_or(name);
    let name = name.strip_prefix("functions.").unwrap_or(name);
    name.split("<|").next().unwrap_or(name).trim()
}

/// An argument that cannot be used, for the language model to correct.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("The argument \"{key}\" {problem}.")]
pub struct BadArgument {
    /// Name of the argument; `arguments` for the whole.
    pub key: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl BadArgument {
    fn new(key: &str, problem: &'static str) -> Self {
        Self { key: key.to_owned(), problem }
    }
}

/// The arguments of a call, which arrive as an object or as JSON text, sometimes as text in text.
///
/// # Errors
/// They are neither.
pub fn parse_arguments(raw: &Value) -> Result<Map<String, Value>, BadArgument> {
    match raw {
        Value::Object(object) => Ok(object.clone()),
        Value::Null => Ok(Map::new()),
        Value::String(text) if text.trim().is_empty() => Ok(Map::new()),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(inner @ (Value::Object(_) | Value::String(_))) => parse_arguments(&inner),
            Ok(_) | Err(_) => {
                Err(BadArgument::new("arguments", "must be one JSON object and cannot be read"))
            }
        },
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            Err(BadArgument::new("arguments", "must be one JSON object"))
        }
    }
}

/// A number that was read, and what to tell the language model about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntArg {
    /// The number to use.
    pub value: i64,
    /// Set when it was brought within bounds.
    pub note: Option<String>,
}

/// Reads a whole number. What means "not given" (missing, null, false, zero, blank, "none", "null")
/// gives the default as it is, even outside the bounds; a number, a float without fraction or a
/// decimal string is brought within them.
///
/// # Errors
/// Anything else.
pub fn parse_int_arg(
    args: &Map<String, Value>,
    key: &str,
    default: i64,
    min: Option<i64>,
    max: Option<i64>,
) -> Result<IntArg, BadArgument> {
    let bad = || BadArgument::new(key, "must be a whole number");
    let given = match args.get(key) {
        None | Some(Value::Null | Value::Bool(false)) => None,
        Some(Value::Number(number)) => whole_number(number).ok_or_else(bad)?,
        Some(Value::String(text)) => {
            let word = text.trim();
            if ["", "none", "null"].iter().any(|nothing| word.eq_ignore_ascii_case(nothing)) {
                None
            } else {
                Some(decimal(word).ok_or_else(bad)?)
            }
        }
        Some(Value::Bool(true) | Value::Array(_) | Value::Object(_)) => return Err(bad()),
    };
    let Some(given) = given else { return Ok(IntArg { value: default, note: None }) };
    let value = given.max(min.unwrap_or(i64::MIN)).min(max.unwrap_or(i64::MAX));
    let note = (value != given).then(|| {
        let verb = if value < given { "lowered" } else { "raised" };
        format!("{key} was {verb} to {value}.")
    });
    Ok(IntArg { value, note })
}

// Outer none: no whole number. Inner none: zero, which means "not given".
#[expect(clippy::cast_possible_truncation, reason = "`as` saturates, and bounds follow")]
fn whole_number(number: &serde_json::Number) -> Option<Option<i64>> {
    let whole = match number.as_i64() {
        Some(whole) => whole,
        None => {
            let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
            float as i64
        }
    };
    Some((whole != 0).then_some(whole))
}

// Digits with an optional sign; what does not fit is as large as can be, and bounds follow.
fn decimal(word: &str) -> Option<i64> {
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let limit = if word.starts_with('-') { i64::MIN } else { i64::MAX };
    Some(word.parse().unwrap_or(limit))
}

/// Budgets of the tools where the language model names none. They are used as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolDefaults {
    /// Tokens of a search over observations.
    pub observation_tokens: u32,
    /// Tokens of facts in a recall.
    pub recall_tokens: u32,
    /// Tokens of source text in a recall.
    pub chunk_tokens: u32,
}

impl ToolDefaults {
    /// The defaults of a budget, where neither bank nor call sets a value.
    #[must_use]
    pub fn of(budget: Budget) -> Self {
        match budget {
            Budget::Low | Budget::Mid => {
                Self { observation_tokens: 5000, recall_tokens: 2048, chunk_tokens: 1000 }
            }
            Budget::High => {
                Self { observation_tokens: 8000, recall_tokens: 4096, chunk_tokens: 1000 }
            }
        }
    }
}

/// The most tokens that one call of a batch may ask for, given what the window still holds.
#[must_use]
pub fn token_ceiling(remaining_context: u32, calls_in_batch: u32) -> u32 {
    let (least, most) = TOKEN_BOUNDS;
    (remaining_context / calls_in_batch.max(1)).clamp(least, most)
}

/// How much of a source `expand` opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ExpandDepth {
    /// The chunk it came from.
    #[default]
    Chunk,
    /// The whole document.
    Document,
}

/// A call with its arguments read.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolCall {
    /// Search over mental models.
    SearchMentalModels {
        /// What to look for.
        query: String,
        /// Most models.
        max_results: u32,
    },
    /// Search over observations.
    SearchObservations {
        /// What to look for.
        query: String,
        /// Tokens of the result.
        max_tokens: u32,
    },
    /// Search over facts.
    Recall {
        /// What to look for.
        query: String,
        /// Tokens of facts.
        max_tokens: u32,
        /// Tokens of source text.
        max_chunk_tokens: u32,
    },
    /// Opens sources.
    Expand {
        /// Ids in the order given, repeats left out.
        ids: Vec<String>,
        /// How much of each.
        depth: ExpandDepth,
    },
    /// The answer, judged elsewhere.
    Done(Map<String, Value>),
}

/// Why a call was not run, for the language model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallFault {
    /// No tool of this run has that name.
    #[error("There is no tool \"{name}\". The tools are: {}.", .enabled.join(", "))]
    UnknownTool {
        /// The name that was called, normalised.
        name: String,
        /// The tools of this run.
        enabled: Vec<String>,
    },
    /// An argument cannot be used.
    #[error(transparent)]
    Argument(#[from] BadArgument),
}

/// A call that can be run.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadCall {
    /// The call.
    pub call: ToolCall,
    /// The sentence for the trace.
    pub reason: Option<String>,
    /// What was brought within bounds, for the `notes` of the result.
    pub notes: Vec<String>,
}

/// Reads a call whose name is already normalised. Unknown arguments are ignored and a missing
/// `reason` is no fault; token budgets end at `ceiling` (see [`token_ceiling`]).
///
/// # Errors
/// The tool does not exist in this run, or an argument is missing or invalid.
pub fn read_call(
    name: &str,
    args: &Map<String, Value>,
    enabled: &[String],
    defaults: ToolDefaults,
    ceiling: u32,
) -> Result<ReadCall, CallFault> {
    if !enabled.iter().any(|tool| tool == name) {
        return Err(CallFault::UnknownTool { name: name.to_owned(), enabled: enabled.to_vec() });
    }
    let mut reader = Reader { args, ceiling, notes: Vec::new() };
    let call = match name {
        SEARCH_MENTAL_MODELS => {
            let (default, least, most) = MODEL_RESULTS;
            ToolCall::SearchMentalModels {
                query: reader.query()?,
                max_results: reader.number("max_results", default, least, most)?,
            }
        }
        SEARCH_OBSERVATIONS => ToolCall::SearchObservations {
            query: reader.query()?,
            max_tokens: reader.tokens("max_tokens", defaults.observation_tokens)?,
        },
        RECALL => ToolCall::Recall {
            query: reader.query()?,
            max_tokens: reader.tokens("max_tokens", defaults.recall_tokens)?,
            max_chunk_tokens: reader.tokens("max_chunk_tokens", defaults.chunk_tokens)?,
        },
        EXPAND => ToolCall::Expand { ids: reader.ids()?, depth: reader.depth()? },
        DONE => ToolCall::Done(args.clone()),
        _ => {
            return Err(CallFault::UnknownTool {
                name: name.to_owned(),
                enabled: enabled.to_vec(),
            });
        }
    };
    let reason = args.get("reason").and_then(Value::as_str).map(str::trim);
    Ok(ReadCall {
        call,
        reason: reason.filter(|reason| !reason.is_empty()).map(str::to_owned),
        notes: reader.notes,
    })
}

struct Reader<'a> {
    args: &'a Map<String, Value>,
    ceiling: u32,
    notes: Vec<String>,
}

impl Reader<'_> {
    fn query(&self) -> Result<String, BadArgument> {
        match self.args.get("query") {
            None | Some(Value::Null) => Err(BadArgument::new("query", "is missing")),
            Some(Value::String(query)) if query.trim().is_empty() => {
                Err(BadArgument::new("query", "is blank"))
            }
            Some(Value::String(query)) => Ok(query.trim().to_owned()),
            Some(_) => Err(BadArgument::new("query", "must be text")),
        }
    }

    fn number(&mut self, key: &str, default: u32, min: u32, max: u32) -> Result<u32, BadArgument> {
        let read =
            parse_int_arg(self.args, key, default.into(), Some(min.into()), Some(max.into()))?;
        self.notes.extend(read.note);
        Ok(u32::try_from(read.value).unwrap_or(default))
    }

    fn tokens(&mut self, key: &str, default: u32) -> Result<u32, BadArgument> {
        let (least, most) = TOKEN_BOUNDS;
        self.number(key, default, least, self.ceiling.clamp(least, most))
    }

    fn ids(&self) -> Result<Vec<String>, BadArgument> {
        let listed: Vec<&str> = match self.args.get("memory_ids") {
            None | Some(Value::Null) => return Err(BadArgument::new("memory_ids", "is missing")),
            Some(Value::String(id)) => vec![id],
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
            Some(_) => return Err(BadArgument::new("memory_ids", "must be a list of ids")),
        };
        let mut seen = HashSet::new();
        let ids: Vec<String> = listed
            .into_iter()
            .map(str::trim)
            .filter(|id| !id.is_empty() && seen.insert(*id))
            .map(str::to_owned)
            .collect();
        if ids.is_empty() {
            return Err(BadArgument::new("memory_ids", "names no id"));
        }
        Ok(ids)
    }

    fn depth(&self) -> Result<ExpandDepth, BadArgument> {
        match self.args.get("depth") {
            None | Some(Value::Null) => Ok(ExpandDepth::Chunk),
            Some(Value::String(word)) => match word.trim() {
                "" | "chunk" => Ok(ExpandDepth::Chunk),
                "document" => Ok(ExpandDepth::Document),
                _ => Err(BadArgument::new("depth", "must be chunk or document")),
            },
            Some(_) => Err(BadArgument::new("depth", "must be chunk or document")),
        }
    }
}

/// What two calls have in common when the second repeats the first: the normalised tool and the
/// arguments without `reason`, whatever the order of their keys.
#[must_use]
pub fn call_fingerprint(tool: &str, args: &Map<String, Value>) -> String {
    fn write(value: &Value, out: &mut String) {
        match value {
            Value::Object(object) => {
                let mut keys: Vec<&String> = object.keys().collect();
                keys.sort();
                out.push('{');
                for key in keys {
                    out.push_str(&Value::String(key.clone()).to_string());
                    out.push(':');
                    write(&object[key], out);
                    out.push(',');
                }
                out.push('}');
            }
            Value::Array(items) => {
                out.push('[');
                for item in items {
                    write(item, out);
                    out.push(',');
                }
                out.push(']');
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                out.push_str(&value.to_string());
            }
        }
    }
    let mut told = args.clone();
    told.remove("reason");
    let mut out = format!("{tool} ");
    write(&Value::Object(told), &mut out);
    out
}

/// Ids of calls, unique over a run. Some gateways repeat an id within one reply or leave it out;
/// the history then needs another.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct CallIds {
    taken: HashSet<String>,
    made: usize,
}

impl CallIds {
    /// The given id, or a fresh one when it is blank or taken.
    pub fn take(&mut self, given: &str) -> String {
        let mut id = given.to_owned();
        while id.trim().is_empty() || self.taken.contains(&id) {
            self.made += 1;
            id = format!("call_{}", self.made);
        }
        self.taken.insert(id.clone());
        id
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    fn number(value: Value) -> Result<i64, String> {
        parse_int_arg(&object(json!({"n": value})), "n", 7, Some(10), Some(100))
            .map(|read| read.value)
            .map_err(|fault| fault.key)
    }

    #[test]
    fn numbers_in_every_dress() {
        for nothing in [json!(null), json!(0), json!(0.0), json!(""), json!("NULL"), json!(false)] {
            assert_eq!(number(nothing), Ok(7));
        }
        for (given, read) in [
            (json!(5), 10),
            (json!("50"), 50),
            (json!(" -3 "), 10),
            (json!("99999999999999999999"), 100),
            (json!(1e300), 100),
            (json!(20.0), 20),
            (json!("0"), 10),
            (json!(u64::MAX), 100),
        ] {
            assert_eq!(number(given), Ok(read));
        }
        for bad in [json!(2.5), json!(true), json!([1]), json!({}), json!("1e3"), json!("-")] {
            assert_eq!(number(bad), Err("n".to_owned()));
        }
    }

    #[test]
    fn arguments_as_object_text_or_text_in_text() {
        let read = object(json!({"query": "x"}));
        assert_eq!(parse_arguments(&json!({"query": "x"})), Ok(read.clone()));
        assert_eq!(parse_arguments(&json!("{\"query\": \"x\"}")), Ok(read.clone()));
        assert_eq!(parse_arguments(&json!("\"{\\\"query\\\": \\\"x\\\"}\"")), Ok(read));
        assert_eq!(parse_arguments(&json!(" ")), Ok(Map::new()));
        assert!(parse_arguments(&json!("query=x")).is_err());
        assert!(parse_arguments(&json!([1])).is_err());
    }

    #[test]
    fn calls_are_read_with_notes_and_faults() {
        let enabled: Vec<String> = ALL_TOOLS.map(str::to_owned).to_vec();
        let read = |name: &str, args: Value| {
            read_call(name, &object(args), &enabled, ToolDefaults::of(Budget::Low), 5000)
        };
        let call = read("recall", json!({"query": " ferry ", "max_tokens": 90_000, "x": 1}));
        let call = call.expect("a good call");
        assert_eq!(
            call.call,
            ToolCall::Recall {
                query: "ferry".to_owned(),
                max_tokens: 5000,
                max_chunk_tokens: 1000
            }
        );
        assert_eq!(call.notes, ["max_tokens was lowered to 5000."]);
        let fault = |name: &str, args: Value| read(name, args).expect_err("a fault").to_string();
        assert!(fault("recall", json!({})).contains("\"query\""));
        assert!(fault("expand", json!({"memory_ids": []})).contains("\"memory_ids\""));
        assert!(
            fault("expand", json!({"memory_ids": ["a"], "depth": "all"})).contains("\"depth\"")
        );
        assert!(fault("lookup", json!({})).contains("search_observations"));
        let few = ["recall".to_owned(), "done".to_owned()];
        let fault = read_call("expand", &Map::new(), &few, ToolDefaults::of(Budget::Low), 1000)
            .expect_err("not in this run");
        assert_eq!(fault.to_string(), "There is no tool \"expand\". The tools are: recall, done.");
    }

    #[test]
    fn a_repeat_is_seen_through_reason_and_key_order() {
        let print = |args: Value| call_fingerprint("recall", &object(args));
        let one = print(json!({"query": "x", "max_tokens": 2, "reason": "a"}));
        assert_eq!(one, print(json!({"reason": "b", "max_tokens": 2, "query": "x"})));
        assert_ne!(one, print(json!({"query": "X", "max_tokens": 2})));
    }

    #[test]
    fn ids_become_unique_over_the_run() {
        let mut ids = CallIds::default();
        assert_eq!(ids.take("a"), "a");
        assert_eq!(ids.take("a"), "call_1");
        assert_eq!(ids.take(""), "call_2");
        assert_eq!(ids.take("call_2"), "call_3");
    }

    #[test]
    fn a_batch_shares_what_the_window_holds() {
        assert_eq!(token_ceiling(12_000, 4), 3000);
        assert_eq!(token_ceiling(2000, 4), 1000);
        assert_eq!(token_ceiling(u32::MAX, 1), 16_000);
    }
}
