//! Taking an answer out of what a language model wrote: hidden reasoning, fences, and calls that
//! leaked into the text. What stands in the middle of a text is never touched, since an answer may
//! well be about such syntax.

use serde_json::{Map, Value};

use crate::citations::ID_KEYS;
use crate::tool_calls::{ALL_TOOLS, DONE};

const REASONING_TAGS: [(&str, &str); 5] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("|startthink|", "|endthink|"),
];
const TOOL_CALL: (&str, &str) = ("<tool_call>", "</tool_call>");

// Arguments of `done` that a textual call may hold beside its answer.
const DONE_KEYS: [&str; 6] = [
    "answer",
    "memory_ids",
    "mental_model_ids",
    "observation_ids",
    "claims",
    "directive_compliance",
];

/// The text without hidden reasoning, trimmed. A closed block goes wherever it stands; one that was
/// cut off goes only when it starts a line, because in the middle of a line it is a mention.
#[must_use]
pub fn strip_reasoning_tags(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    // Whether what was kept so far ends at the start of a line, blanks aside.
    while let Some((at, open, close)) = first_opener(rest) {
        let inside = at + open.len();
        if let Some(length) = find_ignoring_case(&rest[inside..], close) {
            kept.push_str(&rest[..at]);
            rest = &rest[inside + length + close.len()..];
            continue;
        }
        let before = rest[..at].trim_end_matches([' ', '\t']);
        let starts_line = if before.is_empty() {
            let kept = kept.trim_end_matches([' ', '\t']);
            kept.is_empty() || kept.ends_with('\n')
        } else {
            before.ends_with('\n')
        };
        if starts_line {
            kept.push_str(&rest[..at]);
            rest = "";
        } else {
            kept.push_str(&rest[..inside]);
            rest = &rest[inside..];
        }
    }
    kept.push_str(rest);
    kept.trim().to_owned()
}

fn first_opener(text: &str) -> Option<(usize, &'static str, &'static str)> {
    REASONING_TAGS
        .iter()
        .filter_map(|(open, close)| find_ignoring_case(text, open).map(|at| (at, *open, *close)))
        .min_by_key(|(at, _, _)| *at)
}

// The needle is ASCII, so byte positions found are always character boundaries.
fn find_ignoring_case(text: &str, needle: &str) -> Option<usize> {
    text.as_bytes()
        .windows(needle.len())
        .position(|window| window.eq_ignore_ascii_case(needle.as_bytes()))
}

/// The JSON value in a reply: inside a fence, or the whole text, or the span from the first opening
/// to the last closing bracket. None when none of these parses.
#[must_use]
pub fn extract_json(text: &str) -> Option<Value> {
    let text = strip_reasoning_tags(text);
    let inside = fenced(&text);
    let parse = |text: &str| serde_json::from_str::<Value>(text.trim()).ok();
    let bracketed = |text: &str| {
        let from = text.find(['{', '['])?;
        let to = text.rfind(['}', ']'])?;
        parse(text.get(from..=to)?)
    };
    let candidate = inside.unwrap_or(&text);
    parse(candidate).or_else(|| bracketed(candidate)).or_else(|| bracketed(&text))
}

// The inside of the first fence that starts a line and is closed by a fence alone on a later line.
fn fenced(text: &str) -> Option<&str> {
    let mut start = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        match start {
            None if bare.starts_with("```") => start = Some(at + line.len()),
            Some(start) if bare.len() >= 3 && bare.chars().all(|c| c == '`') => {
                return Some(&text[start..at]);
            }
            None | Some(_) => {}
        }
        at += line.len();
    }
    None
}

// The inside of a fence that is the whole text.
fn wholly_fenced(text: &str) -> Option<&str> {
    let text = text.trim();
    let inside = fenced(text)?;
    let body_start = inside.as_ptr() as usize - text.as_ptr() as usize;
    let (opening, closing) = (&text[..body_start], &text[body_start + inside.len()..]);
    (opening.lines().count() == 1 && closing.trim().chars().all(|c| c == '`')).then_some(inside)
}

/// What [`clean_final_text`] found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CleanText {
    /// The answer; empty means that there is none.
    pub text: String,
    /// Lists of ids that were written as text, to be validated like those of a call.
    pub ids: Option<Map<String, Value>>,
    /// Claims that were written as text.
    pub claims: Option<Value>,
}

/// The answer in a text. A whole text that is the arguments of `done` gives its `answer`; otherwise
/// leaked calls and lists of ids are cut off the end, repeatedly. Other JSON is a legitimate answer.
#[must_use]
pub fn clean_final_text(text: &str) -> CleanText {
    let text = strip_reasoning_tags(text);
    if let Some(payload) = whole_done_payload(&text) {
        return payload;
    }
    let mut kept = text.as_str();
    while let Some(shorter) = without_trailing_call(kept) {
        kept = shorter.trim_end();
    }
    CleanText { text: kept.trim().to_owned(), ..CleanText::default() }
}

fn whole_done_payload(text: &str) -> Option<CleanText> {
    let inside = wholly_fenced(text).unwrap_or(text).trim();
    let (json, called) = match call_arguments(inside, DONE) {
        Some(arguments) => (wholly_fenced(arguments).unwrap_or(arguments).trim(), true),
        None => (inside, false),
    };
    let object: Map<String, Value> = serde_json::from_str(json).ok()?;
    let answer = object.get("answer")?.as_str()?;
    let id_lists_fit = ID_KEYS
        .iter()
        .filter_map(|key| object.get(*key))
        .all(|list| list.is_array() || list.is_null());
    if !only_keys(&object, &DONE_KEYS) || !id_lists_fit || (object.len() < 2 && !called) {
        return None;
    }
    let ids: Map<String, Value> = ID_KEYS
        .iter()
        .filter_map(|key| Some(((*key).to_owned(), object.get(*key)?.clone())))
        .filter(|(_, list)| list.is_array())
        .collect();
    Some(CleanText {
        text: answer.trim().to_owned(),
        ids: (!ids.is_empty()).then_some(ids),
        claims: object.get("claims").filter(|claims| claims.is_array()).cloned(),
    })
}

fn only_keys(object: &Map<String, Value>, allowed: &[&str]) -> bool {
    object.keys().all(|key| allowed.contains(&key.as_str()))
}

// The text between the brackets of `name( … )`, when that call is the whole text.
fn call_arguments<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let text = text.strip_prefix("call=").unwrap_or(text);
    let text = text.strip_prefix("functions.").unwrap_or(text);
    let inside = text.strip_prefix(name)?.strip_prefix('(')?;
    let inside = inside.trim_end().trim_end_matches(';').trim_end().strip_suffix(')')?.trim();
    inside.starts_with(['{', '`']).then_some(inside)
}

// The text without one leaked call or id list at its end, or none when there is no such thing.
fn without_trailing_call(text: &str) -> Option<&str> {
    let text = text.trim_end();
    without_id_object(text)
        .or_else(|| without_id_list(text))
        .or_else(|| without_done_call(text))
        .or_else(|| without_tool_call(text))
}

fn is_id_object(text: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(text.trim())
        .is_ok_and(|object| !object.is_empty() && only_keys(&object, &ID_KEYS))
}

fn without_id_object(text: &str) -> Option<&str> {
    // Fenced: the last line is a bare fence, the opening fence starts an earlier line.
    if let Some(body) = text.strip_suffix("```") {
        let open = body.rfind("```")?;
        let head_ok = body[..open].is_empty() || body[..open].trim_end_matches(' ').ends_with('\n');
        let inside = body[open + 3..].trim_start_matches(|c: char| c.is_ascii_alphanumeric());
        return (head_ok && is_id_object(inside)).then(|| &text[..open]);
    }
    // Bare: the arguments of these keys are lists of strings, so the last `{` opens the object.
    let open = text.ends_with('}').then(|| text.rfind('{')).flatten()?;
    is_id_object(&text[open..]).then(|| &text[..open])
}

fn without_id_list(text: &str) -> Option<&str> {
    const DECORATION: [char; 6] = ['"', '\'', '`', '*', '_', ' '];
    // Several lists may stand on one line, with commas between them.
    let list = text.trim_end_matches([',', ';', ' ']);
    let open = list.ends_with(']').then(|| list.rfind('[')).flatten()?;
    let head = list[..open].trim_end_matches(DECORATION);
    let head = head.strip_suffix([':', '='])?.trim_end_matches(DECORATION);
    let name = ID_KEYS.iter().find(|name| {
        head.len() >= name.len()
            && head.is_char_boundary(head.len() - name.len())
            && head[head.len() - name.len()..].eq_ignore_ascii_case(name)
    })?;
    let head = &head[..head.len() - name.len()];
    if head.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    // Quotes, list marks and emphasis that belonged to the name go with it.
    let line_start = head.rfind('\n').map_or(0, |at| at + 1);
    let mark = |c: char| DECORATION.contains(&c) || matches!(c, '-' | '+' | '#' | '>' | '\t');
    if head[line_start..].chars().all(mark) {
        Some(&head[..line_start])
    } else {
        Some(head.trim_end_matches(DECORATION))
    }
}

fn without_done_call(text: &str) -> Option<&str> {
    let body = text.trim_end_matches(';').trim_end();
    body.ends_with(')').then_some(())?;
    // The answer inside may itself mention a call, so the first place that reads as one wins.
    let readable = call_positions(body, DONE).find(|(start, open)| {
        let inside = body[*open..body.len() - 1].trim();
        call_start_is_call(body, *start) && serde_json::from_str::<Map<_, Value>>(inside).is_ok()
    });
    let broken = || {
        call_positions(body, DONE)
            .filter(|_| body[..body.len() - 1].trim_end().ends_with('}'))
            .last()
    };
    let (start, _) = readable.or_else(broken)?;
    let head = &body[..start];
    let head = head.strip_suffix("functions.").unwrap_or(head);
    Some(head.strip_suffix("call=").unwrap_or(head))
}

fn call_start_is_call(text: &str, start: usize) -> bool {
    !text[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_')
}

// Places where `name({` stands as a word: its start, and where the object opens.
fn call_positions<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = (usize, usize)> + 'a {
    text.match_indices(name).filter_map(move |(start, _)| {
        let after = text[start + name.len()..].strip_prefix('(')?;
        let object = after.trim_start();
        let open = text.len() - object.len();
        (object.starts_with('{') && call_start_is_call(text, start)).then_some((start, open))
    })
}

fn without_tool_call(text: &str) -> Option<&str> {
    let body = text.strip_suffix(TOOL_CALL.1)?;
    body.rfind(TOOL_CALL.0).map(|start| &text[..start])
}

/// Whether a text holds the syntax of a tool call. Decides nothing; it is a hint for the person
/// whose endpoint does not carry tool calls.
#[must_use]
pub fn leaked_call_syntax(text: &str) -> bool {
    let tagged = ["<tool_call>", "<function=", "[TOOL_CALLS]"];
    tagged.iter().any(|tag| text.contains(tag))
        || ALL_TOOLS.iter().any(|tool| call_positions(text, tool).next().is_some())
        || is_call_object(wholly_fenced(text).unwrap_or(text).trim())
}

fn is_call_object(text: &str) -> bool {
    let Ok(object) = serde_json::from_str::<Map<String, Value>>(text) else { return false };
    let names_tool = object
        .get("name")
        .and_then(Value::as_str)
        .is_some_and(|name| ALL_TOOLS.contains(&name) && object.contains_key("arguments"));
    let done_arguments = only_keys(&object, &DONE_KEYS)
        && object.keys().any(|key| key != "answer")
        && object.get("answer").is_none_or(Value::is_string);
    names_tool || done_arguments
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cleaned(text: &str) -> String {
        clean_final_text(text).text
    }

    #[test]
    fn reasoning_in_every_dress() {
        assert_eq!(strip_reasoning_tags("|startthink|a|endthink| Six."), "Six.");
        assert_eq!(strip_reasoning_tags("<THINK>a</THINK>Six."), "Six.");
        assert_eq!(strip_reasoning_tags("<think>plan</think># Title"), "# Title");
        assert_eq!(strip_reasoning_tags("<think>a\nb\nc"), "");
        assert_eq!(strip_reasoning_tags("<think>a</think>\n\t<thought>b"), "");
        assert_eq!(strip_reasoning_tags("Ünï <thought>x</thought>ok"), "Ünï ok");
        let quoted = r#"{"a": "tags like <think> are cut"}"#;
        assert_eq!(strip_reasoning_tags(quoted), quoted);
        assert_eq!(strip_reasoning_tags("a <think> b\n<reasoning>cut"), "a <think> b");
    }

    #[test]
    fn json_is_found_in_fences_and_in_prose() {
        assert_eq!(extract_json("```json\n{\"a\": 1}\n```"), Some(json!({"a": 1})));
        assert_eq!(extract_json("Here:\n```\n[1, 2]\n```\nDone."), Some(json!([1, 2])));
        assert_eq!(extract_json("Sure: {\"a\": [1]} as asked"), Some(json!({"a": [1]})));
        assert_eq!(
            extract_json("{\"a\": \"```\\nnot a fence\\n```\"}"),
            Some(json!({"a": "```\nnot a fence\n```"}))
        );
        assert_eq!(extract_json("<think>{\"b\": 2}</think>{\"a\": 1}"), Some(json!({"a": 1})));
        assert_eq!(extract_json("no json } here {"), None);
        assert_eq!(extract_json(""), None);
    }

    #[test]
    fn whole_payloads_in_fences_and_calls() {
        let fenced = "```json\n{\"answer\": \" Six. \", \"memory_ids\": null}\n```";
        let clean = clean_final_text(fenced);
        assert_eq!((clean.text.as_str(), clean.ids), ("Six.", None));
        assert_eq!(cleaned("```\ndone({\"answer\": \"Six.\"})\n```"), "Six.");
        assert_eq!(cleaned("functions.done({\"answer\": \"Six.\"});"), "Six.");
        let clean = clean_final_text(
            "{\"answer\": \"Six.\", \"claims\": [{\"quote\": \"Six.\", \"ids\": [\"f1\"]}]}",
        );
        assert!(clean.claims.is_some());
        let other = "{\"answer\": \"Six.\", \"memory_ids\": \"f1\"}";
        assert_eq!(cleaned(other), other);
    }

    #[test]
    fn only_the_end_is_cut() {
        assert_eq!(cleaned("Six. memory_ids: [\"a\"], Observation_IDs = []"), "Six.");
        assert_eq!(cleaned("Six.\n- **memory_ids:** [\"a\"]"), "Six.");
        assert_eq!(cleaned("Six.\n\"memory_ids\": [\"a\"],\n\"observation_ids\": []"), "Six.");
        assert_eq!(cleaned("Six.\n\n{\"memory_ids\": [\"a\"]}\n"), "Six.");
        assert_eq!(cleaned("Six.\n```json {\"memory_ids\": [\"a\"]}```"), "Six.");
        assert_eq!(cleaned("Six.\nmemory_ids: [\n  \"a\"\n]"), "Six.");
        assert_eq!(cleaned("Six.\ndone({\"answer\": \"call done({}) now\"})"), "Six.");
        assert_eq!(cleaned("Six.\ndone({'answer': 'x'})"), "Six.");
        assert_eq!(cleaned("Six.\n<tool_call>{}</tool_call>\n<tool_call>x</tool_call>"), "Six.");
        assert_eq!(cleaned("done({\"memory_ids\": [\"a\"]})"), "");
        for prose in [
            "We are done (at last).",
            "Use `<tool_call>` with care.",
            "The settings are {\"a\": 1}",
            "```json\n{\"a\": 1}\n```",
            "{}",
            "see abandone({\"x\": 1})",
            "my_memory_ids: [1]",
            "Set the field `memory_ids: []`",
        ] {
            assert_eq!(cleaned(prose), prose);
        }
    }

    #[test]
    fn leaked_calls() {
        assert!(leaked_call_syntax("done( {\"answer\": 1})"));
        assert!(leaked_call_syntax("<function=recall>"));
        assert!(leaked_call_syntax("[TOOL_CALLS] [{}]"));
        assert!(leaked_call_syntax("```\n{\"name\": \"recall\", \"arguments\": {}}\n```"));
        assert!(leaked_call_syntax("{\"answer\": \"x\", \"memory_ids\": []}"));
        assert!(!leaked_call_syntax("{\"answer\": \"x\"}"));
        assert!(!leaked_call_syntax("{\"name\": \"Ana\", \"arguments\": {}}"));
    }
}
