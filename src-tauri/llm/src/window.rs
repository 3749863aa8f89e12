//! Asks an endpoint how large its context window is, in the places where the common servers tell.
//! Guesses nothing: a size that nobody states is unknown.

use crate::assemble::count;
use crate::error::{Class, Error};
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
    Ok(Window { loaded, max: None })
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
    Some(Window { loaded, max: stated.or(trained) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_state_the_window_in_their_own_words() {
        let studio = json!({"data": [{"id": "m", "state": "loaded",
            "max_context_length": 40960, "loaded_context_length": 8192}]});
        let both = Window { loaded: Some(8_192), max: Some(40_960) };
        assert_eq!(in_list(&studio, "m"), Some(both));
        assert_eq!(in_list(&studio, "other"), None);
        let idle =
            json!({"data": [{"id": "m", "state": "not-loaded", "max_context_length": 40960}]});
        let max = Window { loaded: None, max: Some(40_960) };
        assert_eq!(in_list(&idle, "m"), Some(max));
        let vllm = json!({"data": [{"id": "m", "max_model_len": 32768}]});
        assert_eq!(in_list(&vllm, "m"), Some(Window { loaded: Some(32_768), max: None }));
        let router = json!({"data": [{"id": "m", "context_length": 131072}]});
        let same = Window { loaded: Some(131_072), max: Some(131_072) };
        assert_eq!(in_list(&router, "m"), Some(same));
        assert_eq!(in_list(&json!({"data": [{"id": "m", "meta": {"n_ctx_train": 9}}]}), "m"), None);
    }

    #[test]
    fn ollama_names_the_field_after_the_architecture() {
        let shown = json!({"model_info": {"general.architecture": "qwen3",
            "qwen3.context_length": 40960}});
        assert_eq!(of_architecture(&shown), Some(40_960));
    }
}
