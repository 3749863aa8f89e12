//! JSON as language models write it: in fences, between sentences, with a comma too many, with single
//! quotes, twice in one reply. Every value that can be made out is offered, best first; which one is
//! meant is for the caller to say, by the shape that it asked for. Never invents a bracket or a value:
//! what was cut off is not JSON.

use crate::cleaning::{extract_json, strip_reasoning_tags};
use crate::delta::parse::{balanced_end, mend};
use serde_json::Value;

/// The value of the wanted shape in a reply.
pub fn read_json(text: &str, fits: impl Fn(&Value) -> bool) -> Option<Value> {
    json_values(text).into_iter().find(fits)
}

/// Every value that can be made out of a reply: what a strict reader finds first, then the objects
/// and lists of the text in their order, each as it stands or with repairs that keep its meaning.
#[must_use]
pub fn json_values(text: &str) -> Vec<Value> {
    let mut found: Vec<Value> = extract_json(text).into_iter().collect();
    let text = strip_reasoning_tags(text);
    let mut take = |value: Option<Value>| {
        if let Some(value) = value.filter(|value| !found.contains(value)) {
            found.push(value);
        }
    };
    let mut at = 0;
    while let Some(start) = text[at..].find(['{', '[']).map(|n| at + n) {
        match balanced_end(&text, start) {
            Some(end) => {
                let value = read(&text[start..end]);
                at = if value.is_some() { end } else { start + 1 };
                take(value);
            }
            None => at = start + 1,
        }
    }
    // Quotes of the other kind can hide where a bracket closes.
    let outermost = text.find(['{', '[']).zip(text.rfind(['}', ']']));
    if let Some((from, to)) = outermost.filter(|(from, to)| from < to) {
        take(read(&text[from..=to]));
    }
    found
}

fn read(text: &str) -> Option<Value> {
    let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
    parse(text).or_else(|| {
        let text = bare_underscores(text);
        parse(&mend(&text)).or_else(|| parse(&mend(&double_quoted(&text))))
    })
}

/// A text without the backslashes that models of the Markdown kind put before underscores.
fn bare_underscores(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, chars.as_str().chars().next()) {
            ('\\', Some('_')) => {}
            ('\\', Some(next)) => {
                out.push(c);
                out.push(next);
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}

/// A text with its single quotes made double, and the words of Python made those of JSON. A single
/// quote inside such a string is its end only where a string may end.
fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut quote: Option<char> = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let mut used = c.len_utf8();
        match (quote, c) {
            (None, '\'' | '"') => {
                quote = Some(c);
                out.push('"');
            }
            (None, _) => match ["True", "False", "None"].iter().find(|w| rest.starts_with(**w)) {
                Some(&word) => {
                    out.push_str(if word == "None" { "null" } else { json_word(word) });
                    used = word.len();
                }
                None => out.push(c),
            },
            (Some('\''), '\\') if after.starts_with('\'') => {
                out.push('\'');
                used += 1;
            }
            (Some(_), '\\') => {
                out.push(c);
                if let Some(next) = after.chars().next() {
                    out.push(next);
                    used += next.len_utf8();
                }
            }
            (Some('\''), '"') => out.push_str("\\\""),
            (Some(open), _) if c == open && (open == '"' || may_end(after)) => {
                quote = None;
                out.push('"');
            }
            (Some(_), _) => out.push(c),
        }
        rest = &rest[used..];
    }
    out
}

fn json_word(word: &str) -> &'static str {
    if word == "True" { "true" } else { "false" }
}

/// Whether a string may end before this.
fn may_end(rest: &str) -> bool {
    rest.trim_start().chars().next().is_none_or(|c| matches!(c, ',' | ':' | '}' | ']'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn has_facts(value: &Value) -> bool {
        value.get("facts").is_some_and(Value::is_array)
    }

    #[test]
    fn fc_32_json_is_read_as_models_write_it() {
        let want = json!({"facts": ["a_b"]});
        for text in [
            "{\"facts\": [\"a_b\"]}",
            "```json\n{\"facts\": [\"a_b\"]}\n```",
            "```\n{\"facts\": [\"a_b\"]}\n```",
            "Here it is:\n{\"facts\": [\"a_b\"]}\nI hope that it helps :]",
            "{\"facts\": [\"a_b\",],}",
            "{'facts': ['a_b']}",
            "Sure! {'facts': ['a_b',]} Done.",
            "<think>{\"facts\": []}</think>{\"facts\": [\"a_b\"]}",
            "{\"note\": \"first\"} {\"facts\": [\"a_b\"]}",
            "{\"facts\": [\"a_b\"]}\n\n{\"note\": \"what I did\"}",
            "[{\"x\": 1}] and then {\"facts\": [\"a_b\"]}",
            "{\"facts\": [\"a\\_b\"]}",
        ] {
            assert_eq!(read_json(text, has_facts).as_ref(), Some(&want), "{text}");
        }
        let path = read_json(r#"{"facts": ["C:\dir\\_x"]}"#, has_facts).unwrap();
        assert_eq!(path["facts"][0], r"C:\dir\_x", "any other backslash is a backslash");
    }

    #[test]
    fn single_quotes_hold_what_single_quotes_may_hold() {
        let text = r#"{'facts': ['it's Mira\'s "boat"', True, None, "don't"], 'more': [')]}']}"#;
        let value = read_json(text, has_facts).unwrap();
        assert_eq!(value["facts"], json!(["it's Mira's \"boat\"", true, null, "don't"]));
    }

    #[test]
    fn what_does_not_fit_or_was_cut_off_is_nothing() {
        for text in ["", "No facts.", "{\"note\": 1}", "{\"facts\": [\"a\"", "{'facts': ['a'"] {
            assert_eq!(read_json(text, has_facts), None, "{text}");
        }
    }
}
