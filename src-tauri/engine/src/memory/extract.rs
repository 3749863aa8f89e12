//! Reading facts out of one chunk with a language model: the prompt, the reading of its answer, and
//! what follows when the answer is unusable or was cut off. An error is never taken as "no facts".

use super::retain::Source;
use crate::report::fault;
use crate::{Error, Result};
use chrono::{Datelike, NaiveDate, NaiveDateTime};
use domain::bank::ExtractionMode;
use domain::loose_json::read_json;
use domain::tokens::{Cl100k, TokenCounter};
use domain::{FactType, Instant};
use llm::{ChatRequest, Finish, Message, Provider, ResponseFormat};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The fixed part of the prompt, the same for every bank.
pub(crate) const PROMPT: &str = include_str!("extract.md");

/// Name and hash of the fixed part, for the record of requests.
pub(crate) fn prompt() -> (String, String) {
    let hash = Sha256::digest(PROMPT.as_bytes());
    let hash = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    ("retain_extract".to_owned(), hash)
}

/// Times that an unusable answer is asked for again (memory 5).
const RETRIES: u32 = 3;

/// Share of facts of an answer that may be unusable before it is asked for again.
const BAD_SHARE: usize = 5;

/// Tokens of an answer at most.
const MAX_OUTPUT: u32 = 64_000;

/// A chunk shorter than this, in characters, is not halved any more.
const SMALLEST: usize = 500;

/// Who reads, and how.
pub(crate) struct Reader {
    pub(crate) provider: Arc<dyn Provider>,
    /// Whether what it reads leaves this machine.
    pub(crate) far: bool,
    pub(crate) mode: ExtractionMode,
    pub(crate) mission: Option<String>,
    pub(crate) custom: Option<String>,
    pub(crate) causes: bool,
}

/// One statement read out of a chunk.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Statement {
    pub(crate) text: String,
    pub(crate) fact_type: FactType,
    pub(crate) parts: Option<Value>,
    pub(crate) occurred_start: Option<Instant>,
    pub(crate) occurred_end: Option<Instant>,
    pub(crate) entities: Vec<String>,
    /// Places in the same answer.
    pub(crate) caused_by: Vec<usize>,
}

impl Statement {
    /// A text as it stands.
    pub(crate) fn verbatim(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            fact_type: FactType::World,
            parts: None,
            occurred_start: None,
            occurred_end: None,
            entities: Vec::new(),
            caused_by: Vec::new(),
        }
    }
}

/// Whether another chunk may be read all the same after this error.
pub(crate) fn concerns_one_chunk(error: &Error) -> bool {
    match error {
        Error::Refused(fault) => fault.reason() == "llm_output_invalid",
        Error::Llm(error) => {
            use llm::Class;
            matches!(error.class(), Class::Refused | Class::Overflow | Class::Malformed)
        }
        Error::Store(_) | Error::Embed(_) | Error::Io { .. } => false,
    }
}

/// Reads one chunk; `at` is its number from 0 and how many there are.
///
/// # Errors
/// `llm_output_invalid` when the answers stay unusable; those of the language model.
pub(crate) async fn read(
    reader: &Reader,
    source: &Source,
    text: &str,
    at: (u32, u32),
    cancel: &CancellationToken,
) -> Result<Vec<Statement>> {
    let mut pieces = VecDeque::from([text.to_owned()]);
    let mut all: Vec<Statement> = Vec::new();
    while let Some(piece) = pieces.pop_front() {
        match ask(reader, source, &piece, at, cancel).await? {
            Some(statements) => {
                let before = all.len();
                all.extend(statements.into_iter().map(|mut statement| {
                    for cause in &mut statement.caused_by {
                        *cause += before;
                    }
                    statement
                }));
            }
            None => {
                let Some((left, right)) = halves(&piece) else {
                    return Err(fault("llm_output_invalid").with("llm", "The model").into());
                };
                pieces.push_front(right);
                pieces.push_front(left);
            }
        }
    }
    Ok(if reader.mode == ExtractionMode::Verbatim { vec![in_own_words(text, all)] } else { all })
}

/// The chunk's own text with what the model told about it.
fn in_own_words(text: &str, told: Vec<Statement>) -> Statement {
    let mut whole = Statement::verbatim(text);
    for (at, statement) in told.into_iter().enumerate() {
        if at == 0 {
            whole.fact_type = statement.fact_type;
            whole.occurred_start = statement.occurred_start;
            whole.occurred_end = statement.occurred_end;
        }
        for name in statement.entities {
            if !whole.entities.contains(&name) {
                whole.entities.push(name);
            }
        }
    }
    whole
}

/// Whether an endpoint refused a prompt for want of room. One that cut it without a word has a window
/// that is too small for anything, and says so.
fn is_overflow(error: &llm::Error) -> bool {
    matches!(error, llm::Error::Overflow { .. })
}

/// The facts of a piece; none when it has to be cut: the answer was cut off by its limit, or the
/// prompt does not fit.
async fn ask(
    reader: &Reader,
    source: &Source,
    piece: &str,
    at: (u32, u32),
    cancel: &CancellationToken,
) -> Result<Option<Vec<Statement>>> {
    let user = user_turn(reader, source, piece, at);
    let tokens = Cl100k.count(PROMPT).saturating_add(Cl100k.count(&user));
    let mut kept = Vec::new();
    for attempt in 0..=RETRIES {
        let request = ChatRequest {
            response_format: ResponseFormat::JsonSchema {
                name: "facts".to_owned(),
                schema: schema(),
                strict: false,
            },
            temperature: Some(0.1),
            max_output: Some(MAX_OUTPUT),
            prompt_tokens: Some(tokens),
            ..ChatRequest::new(
                "retain_extract",
                vec![Message::system(PROMPT), Message::user(user.clone())],
            )
        };
        let reply = match reader.provider.chat(request, &mut (), cancel).await {
            Ok(reply) => reply,
            // The same prompt would be refused again; half of the piece may fit.
            Err(error) if is_overflow(&error) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if reply.finish == Finish::Length {
            return Ok(None);
        }
        let Some(items) = items(&reply.text) else { continue };
        let all = items.len();
        kept = items.iter().filter_map(|item| statement(item, source, reader.causes)).collect();
        let bad = all - kept.len();
        if bad * BAD_SHARE <= all || attempt == RETRIES {
            return Ok(Some(kept));
        }
    }
    if kept.is_empty() {
        Err(fault("llm_output_invalid").with("llm", "The model").into())
    } else {
        Ok(Some(kept))
    }
}

/// What differs from call to call.
fn user_turn(reader: &Reader, source: &Source, piece: &str, (n, of): (u32, u32)) -> String {
    let mut turn = String::new();
    let mut line = |name: &str, value: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(turn, "{name}: {value}");
    };
    if let Some(mission) = &reader.mission {
        line("What the notes are for", mission);
    }
    if reader.mode == ExtractionMode::Verbose {
        line("Detail", "Keep every statement, with when, where, who and why in full.");
    }
    if let (ExtractionMode::Custom, Some(custom)) = (reader.mode, &reader.custom) {
        line("What to write down instead of the rule above", custom);
    }
    line("Passage", &format!("{} of {}", n + 1, of));
    let date = source
        .written_at
        .map_or_else(|| "unknown".to_owned(), |at| at.format("%Y-%m-%d (%A)").to_string());
    line("Date of the passage", &date);
    if let Some(title) = &source.title {
        line("Title", title);
    }
    if let Some(context) = &source.context {
        line("Context", context);
    }
    for (key, value) in &source.metadata {
        line(key, value);
    }
    let fence = fence(piece);
    turn + &format!("\n{fence}\n{piece}\n{fence}\n")
}

/// A marker line that the text does not hold.
fn fence(text: &str) -> String {
    let mut mark = "=====".to_owned();
    while text.contains(&mark) {
        mark.push('=');
    }
    mark
}

fn schema() -> Value {
    let text = json!({"type": "string"});
    json!({
        "type": "object",
        "properties": {"facts": {"type": "array", "items": {
            "type": "object",
            "properties": {
                "what": text, "when": text, "where": text, "who": text, "why": text,
                "fact_kind": {"type": "string", "enum": ["event", "conversation"]},
                "occurred_start": text, "occurred_end": text,
                "fact_type": {"type": "string", "enum": ["world", "assistant"]},
                "entities": {"type": "array", "items": text},
                "caused_by": {"type": "array", "items": {"type": "integer"}}
            },
            "required": ["what"]
        }}},
        "required": ["facts"]
    })
}

/// The list of facts in an answer; none when it cannot be read. A bare list is accepted.
fn items(answer: &str) -> Option<Vec<Value>> {
    let is_list = |list: &Value| list.as_array().is_some_and(|l| l.iter().all(Value::is_object));
    // An object with the list goes before a list, which may be one of somebody's names.
    let whole = read_json(answer, |value| value.get("facts").is_some_and(Value::is_array));
    match whole.or_else(|| read_json(answer, is_list))? {
        Value::Array(items) => Some(items),
        Value::Object(mut object) => match object.remove("facts")? {
            Value::Array(items) => Some(items),
            _ => None,
        },
        _ => None,
    }
}

/// One fact of an answer; none when it says nothing.
fn statement(item: &Value, source: &Source, causes: bool) -> Option<Statement> {
    let text = |key: &str| {
        let value = item.get(key)?.as_str()?.trim();
        let absent =
            value.is_empty() || ["n/a", "none", "null"].contains(&value.to_lowercase().as_str());
        (!absent).then(|| value.to_owned())
    };
    let what = text("what").or_else(|| text("factual_core")).or_else(|| text("text"))?;
    let (when, who, why) = (text("when"), text("who"), text("why"));
    let mut whole = what.clone();
    for (label, part) in [(" | When: ", &when), (" | Involving: ", &who), (" | ", &why)] {
        if let Some(part) = part {
            whole.push_str(label);
            whole.push_str(part);
        }
    }
    let is_event = text("fact_kind").as_deref() == Some("event");
    let start = text("occurred_start").and_then(|at| date(&at)).filter(|_| is_event);
    let start = start.or_else(|| is_event.then(|| relative(&what, source.written_at)).flatten());
    let end = text("occurred_end").and_then(|at| date(&at)).filter(|_| is_event).or(start);
    let end = match (start, end) {
        (Some(start), Some(end)) if end < start => Some(start),
        (_, end) => end,
    };
    let experience = text("fact_type").as_deref() == Some("assistant");
    Some(Statement {
        text: whole,
        fact_type: if experience { FactType::Experience } else { FactType::World },
        parts: Some(json!({
            "what": what, "when": when, "where": text("where"), "who": who, "why": why,
        })),
        occurred_start: start,
        occurred_end: end,
        entities: names(item),
        caused_by: if causes { numbers(item) } else { Vec::new() },
    })
}

fn names(item: &Value) -> Vec<String> {
    let list = item.get("entities").and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(|entity| entity.as_str().or_else(|| entity.get("text")?.as_str()))
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect()
}

fn numbers(item: &Value) -> Vec<usize> {
    let list = item.get("caused_by").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|n| usize::try_from(n.as_u64()?).ok()).collect()
}

/// An ISO date or time; without a zone it counts as UTC.
fn date(text: &str) -> Option<Instant> {
    if let Ok(at) = chrono::DateTime::parse_from_rfc3339(text) {
        return Some(at.to_utc());
    }
    if let Ok(day) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return Some(day.and_time(chrono::NaiveTime::MIN).and_utc());
    }
    let at = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M"];
    at.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok()).map(|at| at.and_utc())
}

/// Words that place an event by days from the date of the passage (memory 5).
const RELATIVE: [(&str, i64); 17] = [
    ("last night", -1),
    ("yesterday", -1),
    ("tonight", 0),
    ("today", 0),
    ("this morning", 0),
    ("this afternoon", 0),
    ("this evening", 0),
    ("tomorrow", 1),
    ("last week", -7),
    ("this week", 0),
    ("next week", 7),
    ("last month", -30),
    ("this month", 0),
    ("next month", 30),
    ("gestern", -1),
    ("heute", 0),
    ("morgen", 1),
];

fn relative(text: &str, written_at: Option<Instant>) -> Option<Instant> {
    let lower = text.to_lowercase();
    let (_, days) = RELATIVE.iter().find(|(word, _)| {
        lower.match_indices(word).any(|(at, _)| {
            let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
            edge(lower[..at].chars().next_back()) && edge(lower[at + word.len()..].chars().next())
        })
    })?;
    let day = written_at?.date_naive() + chrono::Duration::days(*days);
    (day.year() > 0).then(|| day.and_time(chrono::NaiveTime::MIN).and_utc())
}

/// A piece in two: a list by its items, a text at the end of a sentence near its middle. None when
/// it is too small.
fn halves(piece: &str) -> Option<(String, String)> {
    let length = piece.chars().count();
    if length < SMALLEST * 2 {
        return None;
    }
    if let Ok(Value::Array(mut items)) = serde_json::from_str(piece)
        && items.len() > 1
    {
        let right = items.split_off(items.len() / 2);
        return Some((Value::Array(items).to_string(), Value::Array(right).to_string()));
    }
    let chars: Vec<char> = piece.chars().collect();
    let (middle, reach) = (length / 2, length / 5);
    let ends = |at: usize| {
        matches!(chars[at], '.' | '!' | '?' | '\n' | '。' | '！' | '？')
            && chars.get(at + 1).is_none_or(|next| next.is_whitespace() || chars[at] > '\u{ff}')
    };
    let cut = (0..reach)
        .flat_map(|step| [middle - step, middle + step])
        .find(|at| ends(*at))
        .map_or(middle, |at| at + 1);
    Some((chars[..cut].iter().collect(), chars[cut..].iter().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::DocumentId;
    use std::collections::{BTreeMap, BTreeSet};

    fn source() -> Source {
        Source {
            id: DocumentId::from("d"),
            title: None,
            mime: None,
            path: None,
            text: String::new(),
            context: None,
            metadata: BTreeMap::new(),
            tags: BTreeSet::new(),
            written_at: date("2026-03-10"),
        }
    }

    #[test]
    fn a_fact_is_read_with_its_parts_and_dates() {
        let item = json!({"what": "Ana moved to Oslo yesterday", "when": "N/A", "who": "Ana",
            "fact_kind": "event", "entities": [{"text": "Ana"}, "Oslo"], "caused_by": [0, "x"]});
        let fact = statement(&item, &source(), true).unwrap();
        assert_eq!(fact.text, "Ana moved to Oslo yesterday | Involving: Ana");
        assert_eq!(fact.occurred_start, date("2026-03-09"));
        assert_eq!(fact.entities, ["Ana", "Oslo"]);
        assert_eq!(fact.caused_by, [0]);
        assert!(statement(&json!({"what": " "}), &source(), true).is_none());
        let plain = json!({"text": "Today is a word", "occurred_start": "2026-01-01"});
        assert_eq!(statement(&plain, &source(), true).unwrap().occurred_start, None);
    }

    #[test]
    fn a_piece_is_halved_between_sentences_and_lists_between_items() {
        let text = "A sentence of some length stands here. ".repeat(40);
        let (left, right) = halves(&text).unwrap();
        assert_eq!(left.clone() + &right, text);
        assert!(left.ends_with('.'));
        let list = json!(vec!["x".repeat(600); 3]).to_string();
        let (left, right) = halves(&list).unwrap();
        let length = |list: &str| serde_json::from_str::<Vec<Value>>(list).unwrap().len();
        assert_eq!(length(&left) + length(&right), 3);
        assert!(halves("short").is_none());
    }
}
