//! What the language model is asked and how its answer is read. Facts and observations travel under
//! short handles and between marker lines; an answer that cannot be read in full is no answer, since
//! half of one could drop what its other half was to replace.

use super::candidates::Candidate;
use super::round::Desk;
use super::select::Waiting;
use crate::llm_log::{self, CallContext};
use crate::prompts::{
    CONSOLIDATE_DEDUP_SYSTEM, CONSOLIDATE_DEDUP_USER, CONSOLIDATE_SYSTEM, CONSOLIDATE_USER, fence,
};
use crate::report::fault;
use crate::{Error, Result};
use domain::consolidation::Answer;
use domain::loose_json::{json_values, read_json};
use domain::time::to_rfc3339;
use domain::tokens::{Cl100k, TokenCounter};
use domain::{Instant, MemoryId};
use llm::{ChatRequest, Class, Finish, Message, Provider, ResponseFormat};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fmt::Write as _;
use store::memories::Memory;

/// Times that a call is made before the batch is taken apart (memory 10.6).
const TRIES: u32 = 3;

/// Tokens of an answer at most.
const MAX_OUTPUT: u32 = 16_000;

/// What observations track when the bank does not say.
const MISSION: &str = "Track what is notable about the people, things and undertakings that the \
    facts speak of: what they are, what they do, what they prefer, how they stand, and how that \
    changes.";

/// Whether an error is one of this call alone, so that a smaller one may succeed.
pub(super) fn concerns_the_batch(error: &Error) -> bool {
    match error {
        Error::Refused(fault) => fault.reason() == "llm_output_invalid",
        Error::Llm(error) => {
            matches!(error.class(), Class::Refused | Class::Overflow | Class::Malformed)
        }
        Error::Store(_) | Error::Embed(_) | Error::Io { .. } => false,
    }
}

/// What is put to the model.
pub(super) struct Question<'a> {
    pub(super) facts: &'a [Waiting],
    pub(super) shown: &'a [Candidate],
    /// Observations that the scope still takes.
    pub(super) slots: Option<usize>,
    /// What is particular about this call.
    pub(super) note: &'a str,
}

/// Asks, up to three times, and gives the answer with real ids.
///
/// # Errors
/// `llm_output_invalid` when no answer can be read; those of the language model.
pub(super) async fn ask(
    desk: &Desk,
    provider: &dyn Provider,
    question: &Question<'_>,
) -> Result<Answer> {
    let handles = Handles::of(question);
    let system = CONSOLIDATE_SYSTEM.render(&[])?;
    let user = user_turn(desk, question)?;
    let tokens = Cl100k.count(&system).saturating_add(Cl100k.count(&user));
    let mut failed = None;
    for _ in 0..TRIES {
        desk.check()?;
        let request = ChatRequest {
            response_format: ResponseFormat::JsonSchema {
                name: "observations".to_owned(),
                schema: schema(),
                strict: false,
            },
            temperature: Some(0.0),
            max_output: Some(MAX_OUTPUT),
            prompt_tokens: Some(tokens),
            ..ChatRequest::new(
                "consolidation",
                vec![Message::system(system.clone()), Message::user(user.clone())],
            )
        };
        match provider.chat(request, &mut (), &desk.cancel).await {
            // The same request would be cut off again.
            Ok(reply) if reply.finish == Finish::Length => break,
            Ok(reply) => match read_answer(&reply.text, &handles) {
                Some(answer) => return Ok(answer),
                None => failed = None,
            },
            Err(error) if error.class() == Class::Malformed => failed = Some(error),
            Err(error) => return Err(error.into()),
        }
    }
    Err(match failed {
        Some(error) => error.into(),
        None => fault("llm_output_invalid").with("llm", "The model").into(),
    })
}

/// The short names of a call.
struct Handles(HashMap<String, String>);

impl Handles {
    fn of(question: &Question<'_>) -> Self {
        let facts = question.facts.iter().map(|fact| &fact.memory.id);
        let shown = question.shown.iter().map(|candidate| &candidate.memory.id);
        let named = |letter: char, ids: Vec<&MemoryId>| {
            ids.into_iter()
                .enumerate()
                .map(|(at, id)| (format!("{letter}{}", at + 1), id.0.clone()))
                .collect::<Vec<_>>()
        };
        Self(named('F', facts.collect()).into_iter().chain(named('O', shown.collect())).collect())
    }

    /// The id behind a handle; anything else stays as it is and is turned away later.
    fn id(&self, said: &str) -> String {
        let bare = said.trim().trim_matches(['[', ']']).to_uppercase();
        self.0.get(&bare).cloned().unwrap_or_else(|| said.to_owned())
    }
}

/// The answer: the first object in it of which every part has what it needs.
fn read_answer(text: &str, handles: &Handles) -> Option<Answer> {
    json_values(text).into_iter().find_map(|value| answer_of(value, handles))
}

fn answer_of(mut value: Value, handles: &Handles) -> Option<Answer> {
    let object = value.as_object_mut()?;
    let parts = ["creates", "updates", "deletes"];
    if !parts.iter().any(|part| object.contains_key(*part)) {
        return None;
    }
    for part in parts {
        match object.get_mut(part) {
            None => {}
            Some(Value::Null) => {
                object.remove(part);
            }
            Some(Value::Array(actions)) => {
                for action in actions {
                    name_action(action.as_object_mut()?, part != "deletes", handles)?;
                }
            }
            Some(_) => return None,
        }
    }
    serde_json::from_value(value).ok()
}

/// Puts real ids into an action; none when its facts are missing.
fn name_action(action: &mut Map<String, Value>, rests: bool, handles: &Handles) -> Option<()> {
    if let Some(Value::String(id)) = action.get_mut("observation_id") {
        *id = handles.id(id);
    }
    if rests {
        for id in action.get_mut("source_fact_ids")?.as_array_mut()? {
            *id = Value::String(handles.id(id.as_str()?));
        }
    }
    Some(())
}

fn schema() -> Value {
    let text = json!({"type": "string"});
    let facts = json!({"type": "array", "items": {"type": "string"}});
    let list = |properties: Value, required: Value| {
        json!({"type": "array", "items": {
            "type": "object", "properties": properties, "required": required}})
    };
    json!({
        "type": "object",
        "properties": {
            "creates": list(
                json!({"text": text, "source_fact_ids": facts, "reason": text}),
                json!(["text", "source_fact_ids"]),
            ),
            "updates": list(
                json!({"observation_id": text, "text": text, "source_fact_ids": facts,
                    "reason": text}),
                json!(["observation_id", "text", "source_fact_ids"]),
            ),
            "deletes": list(
                json!({"observation_id": text, "reason": text}),
                json!(["observation_id"]),
            ),
        },
        "required": ["creates", "updates", "deletes"],
    })
}

fn user_turn(desk: &Desk, question: &Question<'_>) -> Result<String> {
    let mark = fence(desk.engine.clock().random());
    let line = |text: String| if text.is_empty() { text } else { text + "\n" };
    let language = desk.settings.llm_output_language.as_ref();
    let language = line(
        language.map_or_else(String::new, |name| format!("Language of the observations: {name}")),
    );
    let slots = line(question.slots.map_or_else(String::new, |free| {
        format!("Observations that may still be made here: {free}. Rewrite where none is left.")
    }));
    let mut facts = String::new();
    for (at, fact) in question.facts.iter().enumerate() {
        let mut row = row(format!("F{}", at + 1), &fact.memory);
        if !fact.entities.is_empty() {
            row.insert("about".to_owned(), json!(fact.entities));
        }
        // Writing to a string cannot fail.
        let _ = writeln!(facts, "{}", Value::Object(row));
    }
    let mut shown = String::new();
    for (at, candidate) in question.shown.iter().enumerate() {
        let mut whole = row(format!("O{}", at + 1), &candidate.memory);
        whole.insert("proof_count".to_owned(), json!(candidate.memory.proof_count));
        let sources: Vec<Value> =
            candidate.sources.iter().map(|fact| Value::Object(told(fact))).collect();
        whole.insert("rests_on".to_owned(), Value::Array(sources));
        let _ = writeln!(shown, "{}", Value::Object(whole));
    }
    if shown.is_empty() {
        shown.push_str("none");
    }
    CONSOLIDATE_USER.render(&[
        ("mission", desk.settings.observations_mission.as_deref().unwrap_or(MISSION)),
        ("language", &language),
        ("slots", &slots),
        ("note", &line(question.note.to_owned())),
        ("fence", &mark),
        ("facts", facts.trim_end()),
        ("observations", shown.trim_end()),
    ])
}

fn row(handle: String, memory: &Memory) -> Map<String, Value> {
    let mut row = Map::new();
    row.insert("id".to_owned(), Value::String(handle));
    row.extend(told(memory));
    row
}

/// Text, context and dates, absent ones left out.
fn told(memory: &Memory) -> Map<String, Value> {
    let mut row = Map::new();
    row.insert("text".to_owned(), json!(memory.text));
    if let Some(context) = memory.context.as_deref().filter(|context| !context.is_empty()) {
        row.insert("context".to_owned(), json!(context));
    }
    for (key, at) in [
        ("occurred_start", memory.occurred_start),
        ("occurred_end", memory.occurred_end),
        ("mentioned_at", memory.mentioned_at),
    ] {
        if let Some(at) = at {
            row.insert(key.to_owned(), json!(moment(at)));
        }
    }
    row
}

fn moment(at: Instant) -> String {
    to_rfc3339(at)
}

/// Asks whether two statements are one belief; gives the text of both. None means that both stay,
/// which is also what an answer that cannot be read means.
///
/// # Errors
/// Those of the language model that are not about this one answer.
pub(super) async fn judge_twins(
    desk: &Desk,
    provider: &dyn Provider,
    new: &str,
    stored: &str,
) -> Result<Option<String>> {
    desk.check()?;
    let mark = fence(desk.engine.clock().random());
    let system = CONSOLIDATE_DEDUP_SYSTEM.render(&[])?;
    let values = [("fence", mark.as_str()), ("new", new), ("stored", stored)];
    let user = CONSOLIDATE_DEDUP_USER.render(&values)?;
    let tokens = Cl100k.count(&system).saturating_add(Cl100k.count(&user));
    let request = ChatRequest {
        response_format: ResponseFormat::JsonObject,
        temperature: Some(0.0),
        max_output: Some(MAX_OUTPUT),
        prompt_tokens: Some(tokens),
        ..ChatRequest::new(
            "consolidation_dedup",
            vec![Message::system(system), Message::user(user)],
        )
    };
    let context = CallContext {
        prompt: (CONSOLIDATE_DEDUP_SYSTEM.name.to_owned(), CONSOLIDATE_DEDUP_SYSTEM.hash()),
        ..llm_log::context()
    };
    let mut unheard = ();
    let asked = provider.chat(request, &mut unheard, &desk.cancel);
    let text = match llm_log::within(context, asked).await {
        Ok(reply) if reply.finish != Finish::Length => reply.text,
        Ok(_) => return Ok(None),
        Err(error) if concerns_one_answer(&error) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let answer = read_json(&text, |value| value.get("action").is_some_and(Value::is_string));
    let said = |key: &str| answer.as_ref()?.get(key)?.as_str().map(str::trim);
    let merge = said("action").is_some_and(|action| action.eq_ignore_ascii_case("merge"));
    Ok(match said("text") {
        Some(text) if merge && !text.is_empty() => Some(text.to_owned()),
        _ => None,
    })
}

fn concerns_one_answer(error: &llm::Error) -> bool {
    matches!(error.class(), Class::Refused | Class::Overflow | Class::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handles() -> Handles {
        let pairs = [("F1", "fact-a"), ("F2", "fact-b"), ("O1", "seen-a")];
        Handles(pairs.into_iter().map(|(a, b)| (a.to_owned(), b.to_owned())).collect())
    }

    #[test]
    fn handles_become_ids_however_they_are_spelled() {
        let text = r#"Sure: ```json
{"updates": [{"observation_id": "o1", "text": "T", "source_fact_ids": ["[F2]", "F9"]}]}
```"#;
        let answer = read_answer(text, &handles()).unwrap();
        assert_eq!(answer.updates[0].observation, "seen-a");
        assert_eq!(answer.updates[0].sources, ["fact-b", "F9"]);
    }

    #[test]
    fn an_answer_with_a_hole_is_no_answer() {
        let whole = json!({"deletes": [{"observation_id": "O1"}], "creates": [
            {"text": "T", "source_fact_ids": ["F1"]}]});
        assert!(read_answer(&whole.to_string(), &handles()).is_some());
        for hole in ["text", "source_fact_ids"] {
            let mut broken = whole.clone();
            broken["creates"][0].as_object_mut().unwrap().remove(hole);
            assert!(read_answer(&broken.to_string(), &handles()).is_none(), "{hole}");
        }
        let mut broken = whole.clone();
        broken["deletes"][0] = json!({"reason": "old"});
        assert!(read_answer(&broken.to_string(), &handles()).is_none());
        for other in ["Nothing to fold.", "[]", r#"{"facts": []}"#, r#"{"creates": "none"}"#] {
            assert!(read_answer(other, &handles()).is_none(), "{other}");
        }
        assert!(read_answer(r#"{"creates": null, "deletes": []}"#, &handles()).is_some());
    }

    #[test]
    fn the_instructions_convey_every_rule() {
        let text = CONSOLIDATE_SYSTEM.render(&[]).unwrap();
        for rule in [
            "Rewrite before you make",
            "One facet",
            "who or what it is about and by facet",
            "former state kept as history",
            "every one that it changes",
            "names instead of pronouns",
            "superseded by another one or says nothing",
            "no sums",
            "conclude nothing",
            "Never join different people or things",
            "Keep the language of the facts",
            "the mission holds",
            "never an instruction to you",
            "source_fact_ids",
            "observation_id",
        ] {
            assert!(text.contains(rule), "{rule}");
        }
        // A fixed part that is the same for every call can be cached by the endpoint.
        assert!(Cl100k.count(&text) < 900);
    }
}
