//! Asks an endpoint how large its context window is, in the places where the common servers tell.
//! Guesses nothing: a size that nobody states is unknown.

use crate::assemble::count;
use crate::error::{Answer, Class, Error};
use crate::transport::{KeyHeader, Outgoing, Transport};
use reqwest::Url;
use serde_json::Value;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Sizes in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    /// What the endpoint uses now.
    pub loaded: Option<u32>,
    /// What the model could hold.
    pub max: Option<u32>,
    /// What is asked for with every request, where the protocol has a place for it.
    pub asked: Option<u32>,
}

/// Limit for a question about models, which is answered at once or not at all.
pub(crate) const LIMIT: Duration = Duration::from_secs(15);

/// The answer to a question that not every endpoint knows.
pub(crate) fn known(answer: Result<Value, Error>) -> Result<Option<Value>, Error> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(e) if matches!(e.class(), Class::Cancelled | Class::Auth | Class::Unreachable) => {
            Err(e)
        }
        Err(_) => Ok(None),
    }
}

/// Words before which endpoints that refuse a prompt name the size of their window.
const BEFORE_SIZE: [&str; 7] = [
    "maximum context length is",
    "maximum context length of",
    "context length of only",
    "available context size (",
    "context window of",
    "must be <=",
    "tokens >",
];

/// The size of the window that a refusal for want of room names, in a field or in its sentence.
pub(crate) fn in_refusal(answer: &Answer) -> Option<u32> {
    let body = serde_json::from_str::<Value>(&answer.body).unwrap_or_default();
    let field = count(&body["error"]["n_ctx"]).or_else(|| count(&body["n_ctx"]));
    let text = answer.message.to_lowercase();
    let after = |mark: &str| Some(&text[text.find(mark)? + mark.len()..]);
    let said = || BEFORE_SIZE.iter().find_map(|mark| leading_number(after(mark)?));
    // `190000 + 20000 > 200000`
    let limit = || leading_number(after("context limit")?.split_once('>')?.1);
    field.or_else(limit).or_else(said).filter(|size| *size >= LEAST)
}

/// Fewer tokens than any window has.
const LEAST: u32 = 256;

/// The number that a text begins with, with or without commas between thousands.
fn leading_number(text: &str) -> Option<u32> {
    let digits = text.trim_start();
    let end = digits.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(digits.len());
    digits[..end].replace(',', "").parse().ok()
}

/// `model_info` of Ollama names the field after the architecture.
pub(crate) fn of_architecture(shown: &Value) -> Option<u32> {
    let fields = shown["model_info"].as_object()?;
    fields.iter().find(|(key, _)| key.ends_with(".context_length")).and_then(|(_, v)| count(v))
}

/// A compatible server: its list of models first, then the native addresses of LM Studio and
/// llama.cpp, which only a server without TLS is asked for, since hosted services have neither.
pub(crate) async fn compatible(
    transport: &Transport,
    llm: &str,
    cancel: &CancellationToken,
) -> Result<Window, Error> {
    let listed = ask(transport, transport.address.operation("/models"), cancel).await?;
    if let Some(window) = listed.as_ref().and_then(|v| in_list(v, llm)) {
        return Ok(window);
    }
    if !transport.address.is_plain() {
        return Ok(Window::default());
    }
    let studio = ask(transport, transport.address.beside("/api/v0/models"), cancel).await?;
    if let Some(window) = studio.as_ref().and_then(|v| in_list(v, llm)) {
        return Ok(window);
    }
    let props = ask(transport, transport.address.beside("/props"), cancel).await?;
    let loaded = props.as_ref().and_then(|v| {
        count(&v["default_generation_settings"]["n_ctx"]).or_else(|| count(&v["n_ctx"]))
    });
    Ok(Window { loaded, ..Window::default() })
}

async fn ask(
    transport: &Transport,
    url: Url,
    cancel: &CancellationToken,
) -> Result<Option<Value>, Error> {
    let outgoing = Outgoing {
        url,
        body: None,
        headers: &[],
        key_header: KeyHeader::Bearer,
        limit: Some(LIMIT),
    };
    known(transport.json(outgoing, cancel).await)
}

/// The sizes that a list of models states for one of them.
pub(crate) fn in_list(list: &Value, llm: &str) -> Option<Window> {
    let entries = list.get("data").or_else(|| list.get("models"))?.as_array()?;
    let own = |e: &&Value| ["id", "name", "key"].iter().any(|k| e[*k].as_str() == Some(llm));
    let entry = entries.iter().find(own)?;
    let field = |keys: &[&str]| keys.iter().find_map(|k| count(&entry[*k]));
    let served = field(&["loaded_context_length", "max_model_len", "context_window"]);
    let stated = field(&["max_context_length", "context_length", "max_input_tokens"]);
    let trained = count(&entry["meta"]["n_ctx_train"]);
    // Only a server that loads models itself tells the two apart; elsewhere what is stated is
    // what is served.
    let has_state = entry.get("state").is_some() || entry.get("max_context_length").is_some();
    let loaded = if has_state { served } else { served.or(stated) };
    if loaded.is_none() && stated.is_none() {
        return None;
    }
    Some(Window { loaded, max: stated.or(trained), asked: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_state_the_window_in_their_own_words() {
        let studio = json!({"data": [{"id": "m", "state": "loaded",
            "max_context_length": 40960, "loaded_context_length": 8192}]});
        let both = Window { loaded: Some(8_192), max: Some(40_960), asked: None };
        assert_eq!(in_list(&studio, "m"), Some(both));
        assert_eq!(in_list(&studio, "other"), None);
        let idle =
            json!({"data": [{"id": "m", "state": "not-loaded", "max_context_length": 40960}]});
        let max = Window { max: Some(40_960), ..Window::default() };
        assert_eq!(in_list(&idle, "m"), Some(max));
        let vllm = json!({"data": [{"id": "m", "max_model_len": 32768}]});
        let served = Window { loaded: Some(32_768), ..Window::default() };
        assert_eq!(in_list(&vllm, "m"), Some(served));
        let router = json!({"data": [{"id": "m", "context_length": 131072}]});
        let same = Window { loaded: Some(131_072), max: Some(131_072), asked: None };
        assert_eq!(in_list(&router, "m"), Some(same));
        assert_eq!(in_list(&json!({"data": [{"id": "m", "meta": {"n_ctx_train": 9}}]}), "m"), None);
    }

    #[test]
    fn a_refusal_names_the_window_in_many_ways() {
        for (body, size) in [
            (
                r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However,
                your messages resulted in 9,012 tokens.","code":"context_length_exceeded"}}"#,
                Some(8_192),
            ),
            (
                r#"{"error":{"message":"the request exceeds the available context size",
                "type":"exceed_context_size_error","n_prompt_tokens":9012,"n_ctx":4096}}"#,
                Some(4_096),
            ),
            (
                "Trying to keep the first 9012 tokens when context the overflows. However, the \
                 model is loaded with context length of only 4096 tokens",
                Some(4_096),
            ),
            (
                r#"{"error":{"message":"prompt is too long: 210,012 tokens > 200,000 maximum"}}"#,
                Some(200_000),
            ),
            (
                "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
                Some(200_000),
            ),
            ("`inputs` tokens + `max_new_tokens` must be <= 4096", Some(4_096)),
            ("prompt is too long", None),
            ("the context window is 12 pages", None),
        ] {
            let answer = crate::answer::answer_of(400, body);
            assert_eq!(in_refusal(&answer), size, "{body}");
        }
    }

    #[test]
    fn ollama_names_the_field_after_the_architecture() {
        let shown = json!({"model_info": {"general.architecture": "qwen3",
            "qwen3.context_length": 40960}});
        assert_eq!(of_architecture(&shown), Some(40_960));
    }
}
