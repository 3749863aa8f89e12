//! Reads what an endpoint says when it gives no reply: the error object in its many shapes, the
//! wait it asks for, the causes of a broken connection. Takes keys out of all of it.

use crate::address::Address;
use crate::endpoint::Key;
use crate::error::Answer;
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::time::Duration;

/// Most characters of a body that an error carries.
const EXCERPT: usize = 2_000;

/// Takes keys out of texts. Endpoints quote the key they refuse.
#[derive(Debug, Clone, Default)]
pub(crate) struct Redactor {
    secrets: Vec<Key>,
}

impl Redactor {
    pub(crate) fn new(
        key: Option<&Key>,
        address: &Address,
        own: &[(String, String)],
        more: &[(String, String)],
    ) -> Self {
        // Short header values such as versions are no secrets, and taking them out would spoil
        // ordinary text.
        let headers = own.iter().chain(more).map(|(_, v)| v.trim().to_owned());
        let secrets = headers.chain(address.secrets()).filter(|s| s.len() >= 12).map(Key::new);
        let key = key.filter(|k| k.reveal().chars().count() >= 4).cloned();
        Self { secrets: secrets.chain(key).collect() }
    }

    pub(crate) fn clean(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            let escaped = Value::from(secret.reveal()).to_string();
            let escaped = escaped.trim_matches('"');
            for form in [secret.reveal(), escaped] {
                if text.contains(form) {
                    text = text.replace(form, "[key]");
                }
            }
        }
        text
    }
}

/// An error with its causes, on one line. The library writes the whole address into its own text,
/// query and all, so that level is left out.
pub(crate) fn chain(e: &reqwest::Error) -> String {
    let mut parts = Vec::new();
    let mut source = std::error::Error::source(e);
    while let Some(inner) = source {
        let text = inner.to_string();
        if parts.last() != Some(&text) {
            parts.push(text);
        }
        source = inner.source();
    }
    if parts.is_empty() {
        if e.is_builder() { "the client cannot be built" } else { "the connection failed" }
            .to_owned()
    } else {
        parts.join(": ")
    }
}

/// The first characters of a body.
pub(crate) fn excerpt(body: &str) -> String {
    body.chars().take(EXCERPT).collect()
}

/// Reads the error object that endpoints send in half a dozen shapes.
pub(crate) fn answer_of(status: u16, body: &str) -> Answer {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    // Gemini wraps its error object in a list.
    let value = value.get(0).unwrap_or(&value);
    let error = value.get("error").filter(|e| !e.is_null()).unwrap_or(value);
    let text = |key: &str| error.get(key).and_then(Value::as_str).filter(|t| !t.is_empty());
    let code = text("code").or_else(|| text("status")).or_else(|| text("type"));
    let message = error
        .as_str()
        .or_else(|| text("message"))
        .or_else(|| text("detail"))
        .or_else(|| value.get("message").and_then(Value::as_str))
        .map_or_else(|| body.trim().chars().take(300).collect(), str::to_owned);
    Answer { status, code: code.map(str::to_owned), message, body: excerpt(body) }
}

/// The wait that the headers ask for, as seconds or as a date. A date is read against the
/// endpoint's own clock (its `Date` header), so that a wrong clock here does no harm and none is
/// asked.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok()).map(str::trim);
    if let Some(ms) = text("retry-after-ms").and_then(|t| t.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(ms / 1_000.0).ok();
    }
    let wait = text("retry-after")?;
    if let Ok(seconds) = wait.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = chrono::DateTime::parse_from_rfc2822(wait).ok()?;
    let now = chrono::DateTime::parse_from_rfc2822(text("date")?).ok()?;
    (until - now).to_std().ok().or(Some(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Endpoint, Protocol};
    use reqwest::header::{HeaderName, HeaderValue};
    use std::sync::Arc;

    #[test]
    fn keys_never_show() {
        let key = Key::new(" sk-\"naïve\"-0123 ");
        assert_eq!(format!("{key:?}"), "Key(…)");
        let mut endpoint = Endpoint::new(Protocol::OpenAi, "http://h/v1?k=hidden-in-query", "m");
        endpoint.key = Arc::new(key.clone());
        assert!(!format!("{endpoint:?}").contains("hidden"));
        let address = Address::parse(&endpoint.base_url, Protocol::OpenAi).unwrap();
        let redactor = Redactor::new(Some(&key), &address, &[], &[]);
        let text = r#"bad key sk-"naïve"-0123, {"k": "sk-\"naïve\"-0123"}, ?k=hidden-in-query"#;
        assert_eq!(redactor.clean(text), r#"bad key [key], {"k": "[key]"}, ?k=[key]"#);
        assert!(!format!("{redactor:?}").contains("naïve"));
    }

    #[test]
    fn waits_are_read_as_seconds_and_as_dates() {
        let wait = |pairs: &[(&'static str, &'static str)]| {
            let headers = pairs.iter().map(|(name, value)| {
                (HeaderName::from_static(name), HeaderValue::from_static(value))
            });
            retry_after(&headers.collect())
        };
        let s = Duration::from_secs;
        assert_eq!(wait(&[("retry-after", "20")]), Some(s(20)));
        assert_eq!(wait(&[("retry-after-ms", "1500")]), Some(Duration::from_millis(1500)));
        let date = ("date", "Sun, 06 Nov 2033 08:49:37 GMT");
        assert_eq!(wait(&[date, ("retry-after", "Sun, 06 Nov 2033 08:50:07 GMT")]), Some(s(30)));
        assert_eq!(wait(&[date, ("retry-after", "Sun, 06 Nov 2033 08:49:00 GMT")]), Some(s(0)));
        assert_eq!(wait(&[("retry-after", "Sun, 06 Nov 2033 08:50:07 GMT")]), None);
        assert_eq!(wait(&[("retry-after", "-5")]), None);
        assert_eq!(wait(&[]), None);
    }

    #[test]
    fn error_objects_are_read_in_every_shape() {
        for (body, code, message) in [
            (r#"{"error":{"code":"c","message":"m"}}"#, Some("c"), "m"),
            (r#"{"error":{"type":"t","message":"m","code":null}}"#, Some("t"), "m"),
            (r#"{"type":"error","error":{"type":"t","message":"m"}}"#, Some("t"), "m"),
            (
                r#"[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m"}}]"#,
                Some("RESOURCE_EXHAUSTED"),
                "m",
            ),
            (r#"{"error":"m"}"#, None, "m"),
            (r#"{"detail":"m"}"#, None, "m"),
            (r#"{"object":"error","message":"m","type":"t"}"#, Some("t"), "m"),
            ("m", None, "m"),
        ] {
            let answer = answer_of(400, body);
            assert_eq!(
                (answer.code.as_deref(), answer.message.as_str()),
                (code, message),
                "{body}"
            );
        }
    }
}
