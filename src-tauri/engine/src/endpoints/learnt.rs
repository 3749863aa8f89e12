//! What was learnt about an endpoint, in words: what it does not do, and what is done instead. Knows
//! the values that the `llm` crate writes and nothing of how they are found out.

use crate::view::settings::LearntFact;
use llm::thousands;
use serde_json::Value;
use store::endpoints::Learnt;

/// One thing as a person reads it; none for what needs no words, such as the plain way.
pub(super) fn told(row: &Learnt) -> Option<LearntFact> {
    let words = words(&row.key, &row.value)?;
    Some(LearntFact {
        key: row.key.clone(),
        words,
        evidence: row.evidence.clone(),
        learned_at: row.learned_at,
    })
}

fn words(key: &str, value: &Value) -> Option<String> {
    let text = match (key, value) {
        ("named_tool_choice", Value::String(way)) => match way.as_str() {
            "narrowed_required" => {
                "Takes no tool by name: one tool is offered at a time, and a call is demanded."
            }
            "narrowed" => "Cannot be made to call a tool: one tool is offered at a time.",
            _ => return None,
        },
        ("response_format", Value::Array(refused)) => {
            let has = |word: &str| refused.iter().any(|one| one == word);
            match (has("json_schema"), has("json_object")) {
                (true, true) => "Cannot be held to JSON: the shape is asked for in words.",
                (true, false) => {
                    "Takes no schema: a JSON object is asked for, with the schema in words."
                }
                (false, true) => "Takes schemas only: any other JSON is asked for in words.",
                (false, false) => return None,
            }
        }
        ("strict", Value::Bool(false)) => "Refuses strict schemas: they are sent without that.",
        ("thinking", Value::String(way)) => match way.as_str() {
            "on" => "Answers only when it thinks first: thinking is switched on.",
            "off" => "Gives no answer when it thinks first: thinking is switched off.",
            "unsupported" => "Has no switch for thinking: it is left alone.",
            _ => return None,
        },
        ("window", size) => {
            return size.as_u64().and_then(|n| u32::try_from(n).ok()).map(window);
        }
        ("tool_calls", Value::Bool(true)) => "Calls tools.",
        ("tool_calls", Value::Bool(false)) => {
            "Does not call tools: questions and refreshes need another model."
        }
        ("request_fields", Value::Array(refused)) => return fields(refused),
        _ => return None,
    };
    Some(text.to_owned())
}

fn window(tokens: u32) -> String {
    format!("Holds {} tokens: nothing longer is sent.", thousands(tokens))
}

fn fields(refused: &[Value]) -> Option<String> {
    let name = |word: &Value| match word.as_str()? {
        "stream_options" => Some("counting tokens in streams"),
        "max_tokens" => Some("the older name of the limit of an answer"),
        "temperature" => Some("a temperature"),
        _ => None,
    };
    let names: Vec<&str> = refused.iter().filter_map(name).collect();
    (!names.is_empty()).then(|| format!("Refuses {}: sent without.", names.join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn everything_that_is_kept_has_words_without_jargon() {
        for (key, value) in [
            ("named_tool_choice", json!("narrowed_required")),
            ("named_tool_choice", json!("narrowed")),
            ("response_format", json!(["json_schema"])),
            ("response_format", json!(["json_object"])),
            ("response_format", json!(["json_schema", "json_object"])),
            ("strict", json!(false)),
            ("thinking", json!("on")),
            ("thinking", json!("off")),
            ("thinking", json!("unsupported")),
            ("window", json!(8_192)),
            ("tool_calls", json!(true)),
            ("tool_calls", json!(false)),
            ("request_fields", json!(["stream_options", "temperature"])),
        ] {
            let text = words(key, &value).unwrap_or_else(|| panic!("{key} {value} has no words"));
            assert!(text.ends_with('.') && !text.contains(['_', '{', '"']), "{text}");
        }
        assert_eq!(
            words("window", &json!(8_192)).unwrap(),
            "Holds 8,192 tokens: nothing longer is sent."
        );
        assert_eq!(words("named_tool_choice", &json!("named")), None);
        assert_eq!(words("set_up_check", &json!({})), None);
    }
}
