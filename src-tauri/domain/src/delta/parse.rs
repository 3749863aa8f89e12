//! Reading the operations out of a model's answer. Tolerant of what models do around and inside
//! JSON (thoughts, fences, prose, raw newlines, trailing commas, stray backslashes), and strict about
//! meaning: an answer without operations is a failure, never "no change", and a cut answer gives only
//! the operations that were complete, marked as cut.

use serde_json::{Map, Value};

use super::{ParsedOp, read_ops};

/// What an answer says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// The entries of the list, valid or not, in order.
    pub ops: Vec<ParsedOp>,
    /// Handles of facts that the model says the document already reflects.
    pub already_reflected: Vec<String>,
    /// Handles of facts that the model says do not matter here.
    pub irrelevant: Vec<String>,
    /// The answer was cut off; operations after the last complete one are lost.
    pub truncated: bool,
}

/// Why an answer gives no operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Nothing usable: blank, no JSON, or JSON that is no list of operations.
    #[error("unreadable")]
    Unreadable,
    /// There are entries and none of them is an operation.
    #[error("all_invalid")]
    AllInvalid,
}

impl Unreadable {
    /// The word of the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::AllInvalid => "all_invalid",
        }
    }
}

/// Reads an answer.
///
/// # Errors
/// [`Unreadable`] when there is nothing to go by. Single invalid entries are no error.
pub fn parse_operations(raw: &str) -> Result<Answer, Unreadable> {
    let answer = find_answer(raw).ok_or(Unreadable::Unreadable)?;
    if !answer.ops.is_empty() && answer.ops.iter().all(|op| op.body.is_err()) {
        return Err(Unreadable::AllInvalid);
    }
    Ok(answer)
}

fn find_answer(raw: &str) -> Option<Answer> {
    // A text that is JSON from end to end has no thoughts around it, and `<think>` inside one of its
    // strings is somebody's content.
    if let Some(answer) = read_strictly(raw.trim()) {
        return Some(answer);
    }
    let text = without_thoughts(raw);
    let text = without_fence(text.trim());
    if let Some(answer) = read_candidate(text) {
        return Some(answer);
    }
    search(text)
}

/// The first balanced candidate that is an answer; else the complete operations of a list that was
/// cut off.
fn search(text: &str) -> Option<Answer> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut empty_list = false;
    while at < bytes.len() {
        if !matches!(bytes[at], b'{' | b'[') {
            at += 1;
            continue;
        }
        match balanced_end(text, at) {
            Some(end) => {
                // `[]` in prose is a weak sign; it counts only if nothing better follows.
                match read_candidate(&text[at..end]) {
                    Some(answer) if bytes[at] == b'[' && answer.ops.is_empty() => empty_list = true,
                    Some(answer) => return Some(answer),
                    None => {}
                }
                at = end;
            }
            None => {
                if let Some(list) = unfinished_list(text, at) {
                    return salvage(text, list);
                }
                at += 1;
            }
        }
    }
    empty_list.then(Answer::default)
}

fn read_candidate(text: &str) -> Option<Answer> {
    read_strictly(text).or_else(|| read_strictly(&mend(text)))
}

fn read_strictly(text: &str) -> Option<Answer> {
    answer_of(&serde_json::from_str(text).ok()?)
}

fn answer_of(value: &Value) -> Option<Answer> {
    match value {
        Value::Array(list) => {
            let all_ops = list.iter().all(|item| item.get("op").is_some());
            all_ops.then(|| Answer { ops: read_ops(list), ..Answer::default() })
        }
        Value::Object(object) => match object.get("operations") {
            Some(Value::Array(list)) => Some(answer_with(object, read_ops(list))),
            Some(Value::Null) => Some(answer_with(object, Vec::new())),
            Some(_) => None,
            None if object.contains_key("op") => {
                Some(Answer { ops: read_ops(std::slice::from_ref(value)), ..Answer::default() })
            }
            None => None,
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn answer_with(object: &Map<String, Value>, ops: Vec<ParsedOp>) -> Answer {
    let handles = |key: &str| match object.get(key) {
        Some(Value::Array(list)) => {
            list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        Some(Value::String(one)) => vec![one.clone()],
        _ => Vec::new(),
    };
    Answer {
        ops,
        already_reflected: handles("already_reflected"),
        irrelevant: handles("irrelevant"),
        truncated: false,
    }
}

/// The text without `<think>…</think>` spans. A span that is never closed reaches to the end: what
/// follows is thought, not answer. A closing mark whose opening one is missing (some servers put it
/// into the prompt) ends a span that began with the text.
fn without_thoughts(raw: &str) -> String {
    const OPEN: &str = "<think>";
    const CLOSE: &str = "</think>";
    let mut rest = raw;
    let mut kept = String::new();
    if let Some(close) = rest.find(CLOSE).filter(|close| !rest[..*close].contains(OPEN)) {
        rest = &rest[close + CLOSE.len()..];
    }
    while let Some(open) = rest.find(OPEN) {
        kept.push_str(&rest[..open]);
        match rest[open..].find(CLOSE) {
            Some(close) => rest = &rest[open + close + CLOSE.len()..],
            None => return kept,
        }
    }
    kept.push_str(rest);
    kept
}

/// The text without a code fence around the whole of it.
fn without_fence(text: &str) -> &str {
    let Some(inner) = text.strip_prefix("```") else { return text };
    let Some((_, body)) = inner.split_once('\n') else { return text };
    body.trim_end().strip_suffix("```").unwrap_or(body).trim()
}

/// The end of the balanced object or list that starts at a place, or none if it never closes or
/// closes with the wrong bracket.
pub(crate) fn balanced_end(text: &str, start: usize) -> Option<usize> {
    let mut walk = Walk::default();
    for (at, byte) in text.bytes().enumerate().skip(start) {
        match walk.step(byte) {
            Step::Closed => return Some(at + 1),
            Step::Mismatch => return None,
            Step::On => {}
        }
    }
    None
}

/// Brackets and strings, byte by byte.
#[derive(Default)]
struct Walk {
    stack: Vec<u8>,
    in_string: bool,
    escaped: bool,
}

enum Step {
    On,
    Closed,
    Mismatch,
}

impl Walk {
    fn step(&mut self, byte: u8) -> Step {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return Step::On;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' => self.stack.push(b'}'),
            b'[' => self.stack.push(b']'),
            b'}' | b']' => {
                if self.stack.pop() != Some(byte) {
                    return Step::Mismatch;
                }
                if self.stack.is_empty() {
                    return Step::Closed;
                }
            }
            _ => {}
        }
        Step::On
    }
}

/// Where the entries of an unfinished list of operations begin: after the bracket of the object's
/// own `operations` key, or of a bare list. None if the text at the place is nothing of the kind.
fn unfinished_list(text: &str, start: usize) -> Option<usize> {
    if text.as_bytes()[start] == b'[' {
        let entry = text[start + 1..].trim_start();
        return entry.starts_with('{').then_some(start + 1);
    }
    let mut walk = Walk::default();
    for (at, byte) in text.bytes().enumerate().skip(start) {
        let key_may_start = walk.stack.len() == 1 && !walk.in_string && byte == b'"';
        if key_may_start && let Some(entries) = entries_of_operations(&text[at..]) {
            return Some(text.len() - entries.len());
        }
        if !matches!(walk.step(byte), Step::On) {
            return None;
        }
    }
    None
}

/// What follows the opening bracket, if a text starts with the key `operations` and a list.
fn entries_of_operations(text: &str) -> Option<&str> {
    let value = text.strip_prefix("\"operations\"")?.trim_start().strip_prefix(':')?;
    value.trim_start().strip_prefix('[')
}

/// The complete operation objects at the head of an unfinished list.
fn salvage(text: &str, list: usize) -> Option<Answer> {
    let mut entries = Vec::new();
    let mut at = list;
    while let Some(start) = text[at..].find(|c: char| !c.is_whitespace() && c != ',') {
        let start = at + start;
        if text.as_bytes()[start] != b'{' {
            break;
        }
        let Some(end) = balanced_end(text, start) else { break };
        let object = &text[start..end];
        let Ok(entry) =
            serde_json::from_str::<Value>(object).or_else(|_| serde_json::from_str(&mend(object)))
        else {
            break;
        };
        if entry.get("op").is_some() {
            entries.push(entry);
        }
        at = end;
    }
    let answer = Answer { ops: read_ops(&entries), truncated: true, ..Answer::default() };
    (!entries.is_empty()).then_some(answer)
}

/// A candidate with the repairs that cannot change its meaning: raw control characters inside
/// strings escaped and outside dropped, trailing commas removed, and backslashes that begin no valid
/// escape made literal.
pub(crate) fn mend(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut in_string = false;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if !in_string {
            match c {
                '"' => {
                    in_string = true;
                    out.push(c);
                }
                ',' if next_solid(&text[at + 1..]).is_some_and(|n| n == '}' || n == ']') => {}
                c if c.is_control() && !matches!(c, '\n' | '\r' | '\t') => {}
                c => out.push(c),
            }
            continue;
        }
        match c {
            '"' => {
                in_string = false;
                out.push(c);
            }
            '\\' => {
                let valid = escape_length(&text[at..]);
                if valid == 0 {
                    out.push_str("\\\\");
                } else {
                    out.push_str(&text[at..at + valid]);
                    for _ in 1..valid {
                        chars.next();
                    }
                }
            }
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

fn next_solid(text: &str) -> Option<char> {
    text.chars().find(|c| !c.is_whitespace() && !c.is_control())
}

/// Length in bytes (all ASCII) of the valid escape that a text starts with; 0 if it is none. The
/// two halves of a surrogate pair count as one escape, a half alone as none.
fn escape_length(text: &str) -> usize {
    match text.as_bytes().get(1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
        Some(b'u') => match unit(text) {
            Some(0xD800..=0xDBFF) => match text.get(6..).and_then(unit) {
                Some(0xDC00..=0xDFFF) => 12,
                _ => 0,
            },
            Some(0xDC00..=0xDFFF) | None => 0,
            Some(_) => 6,
        },
        _ => 0,
    }
}

/// The code unit of a `\uXXXX` at the start of a text.
fn unit(text: &str) -> Option<u32> {
    let hex = text.strip_prefix("\\u")?.get(..4)?;
    hex.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(hex, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delta::DeltaOp;

    const ONE: &str = r#"{"op":"append_block","section_id":"s","text":"a"}"#;

    fn texts(raw: &str) -> Vec<String> {
        let answer = parse_operations(raw).expect("readable");
        answer.ops.into_iter().map(|op| op.body.expect("valid").op.text()).collect()
    }

    #[test]
    fn thoughts_are_dropped_but_not_inside_an_answer() {
        let draft = r#"<think>maybe {"operations":[]}</think>"#;
        assert_eq!(texts(&format!("{draft}{{\"operations\":[{ONE}]}}")), ["a"]);
        assert_eq!(texts(&format!("hm {{\"operations\":[]}}</think>[{ONE}]")), ["a"]);
        assert_eq!(
            texts(r#"[{"op":"append_block","section_id":"s","text":"<think>x</think>"}]"#),
            ["<think>x</think>"]
        );
        assert_eq!(
            parse_operations(r#"<think>so {"operations":[]}"#),
            Err(Unreadable::Unreadable),
            "a thought that was cut off is no answer"
        );
    }

    #[test]
    fn a_cut_list_gives_its_complete_operations() {
        for raw in [
            format!(r#"{{"operations":[{ONE},{{"op":"append_block","section_id":"s","te"#),
            format!("```json\n{{\"note\": [1], \"operations\" : [ {ONE} ,"),
            format!("[{ONE},{{\"op\""),
        ] {
            let answer = parse_operations(&raw).expect("salvaged");
            assert!(answer.truncated, "{raw}");
            assert_eq!(answer.ops.len(), 1, "{raw}");
        }
        assert!(parse_operations(r#"{"operations":[{"op":"append_bl"#).is_err());
    }

    #[test]
    fn a_stray_brace_in_prose_hides_nothing() {
        assert_eq!(texts(&format!("use {{ or [x) then {{\"operations\":[{ONE}]}}")), ["a"]);
        assert_eq!(texts(&format!("see [1] and [] and {ONE}")), ["a"]);
    }

    #[test]
    fn meaning_is_kept_by_repairs() {
        let raw = "{\"operations\":[{\"op\":\"append_block\",\"section_id\":\"s\",\
                   \"text\":\"C:\\dir\\u12 \\ud83d \\n\tend\",},],}\u{7}";
        assert_eq!(texts(raw), ["C:\\dir\\u12 \\ud83d \n\tend"]);
    }

    #[test]
    fn an_empty_answer_is_not_no_change() {
        for raw in ["", "none", "{}", "[1]", "null", "{\"operations\":3}"] {
            assert_eq!(parse_operations(raw), Err(Unreadable::Unreadable), "{raw}");
        }
        assert_eq!(parse_operations("[]"), Ok(Answer::default()));
    }

    #[test]
    fn what_was_judged_is_read() {
        let raw = r#"{"operations":[],"already_reflected":["f2",1],"irrelevant":"f5"}"#;
        let answer = parse_operations(raw).expect("readable");
        assert_eq!(answer.already_reflected, ["f2"]);
        assert_eq!(answer.irrelevant, ["f5"]);
    }

    #[test]
    fn a_single_object_is_one_operation() {
        let answer = parse_operations(ONE).expect("readable");
        let op = answer.ops[0].body.clone().expect("valid").op;
        assert!(matches!(op, DeltaOp::AppendBlock { .. }));
    }
}
