//! From the base address a person typed to the address of one operation. Pure: nothing is resolved
//! or contacted here.
//!
//! The rules are the ones that people's habits force: blanks are trimmed, a missing scheme is
//! added, a query stays a query, `/v1` (for Ollama `/api`) is added only where there is no path at
//! all, and the full address of an operation is taken as it stands.

use crate::Error;
use reqwest::Url;
use serde::{Deserialize, Serialize};

/// The wire format that an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// `/chat/completions` as OpenAI made it and many servers copy it.
    #[serde(rename = "openai")]
    OpenAi,
    /// `/messages` of Anthropic.
    Anthropic,
    /// `/api/chat` of Ollama.
    Ollama,
}

impl Protocol {
    /// The word that tables and settings use.
    pub fn word(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }

    /// Last segments of the operations that a person may have pasted with the address.
    fn operations(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi => &["/chat/completions", "/completions", "/responses", "/models"],
            Self::Anthropic => &["/messages", "/models"],
            Self::Ollama => &["/chat", "/generate", "/tags", "/embed"],
        }
    }
}

/// The base of an endpoint, normalised.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    base: Url,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Address").field(&self.shown()).finish()
    }
}

impl Address {
    /// Reads a base address.
    ///
    /// # Errors
    /// [`Error::Address`] for an empty text, an unknown scheme or something that is no address.
    pub fn parse(text: &str, protocol: Protocol) -> Result<Self, Error> {
        let text = text.trim();
        let fault = |cause: &str| Error::Address {
            address: without_secrets(text).to_owned(),
            cause: cause.to_owned(),
        };
        if text.is_empty() {
            return Err(fault("it is empty"));
        }
        let full = if text.contains("://") { text.to_owned() } else { with_scheme(text) };
        let mut base = Url::parse(&full).map_err(|e| fault(&e.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(fault("it must start with http:// or https://"));
        }
        if base.host_str().is_none_or(str::is_empty) {
            return Err(fault("it names no host"));
        }
        base.set_fragment(None);
        let path = base_path(base.path(), protocol);
        base.set_path(&path);
        Ok(Self { base })
    }

    /// Address of an operation below the base, for example `/chat/completions`.
    pub fn operation(&self, name: &str) -> Url {
        let mut url = self.base.clone();
        let path = format!("{}{name}", url.path().trim_end_matches('/'));
        url.set_path(&path);
        url
    }

    /// Address of something beside the base path, for example `/props` of llama.cpp.
    pub fn beside(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        let own = url.path().trim_end_matches('/');
        let parent = own.strip_suffix("/v1").or_else(|| own.strip_suffix("/api")).unwrap_or(own);
        let path = format!("{parent}{path}");
        url.set_path(&path);
        url
    }

    /// The base as it may be shown and logged: no query, no user part, since both can hold a key.
    pub fn shown(&self) -> String {
        let host = self.base.host_str().unwrap_or_default();
        let port = self.base.port().map(|p| format!(":{p}")).unwrap_or_default();
        format!("{}://{host}{port}{}", self.base.scheme(), self.base.path().trim_end_matches('/'))
    }

    /// Whether it is reached without TLS.
    pub fn is_plain(&self) -> bool {
        self.base.scheme() == "http"
    }

    /// Whether it is on this machine. Decided by the loopback addresses and the name `localhost`;
    /// other names are not resolved and count as elsewhere.
    pub fn is_local(&self) -> bool {
        match self.base.host_str() {
            Some(host) => is_loopback(host),
            None => false,
        }
    }

    /// What the query holds, which may be a key and has to be kept out of texts.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let password = self.base.password().map(str::to_owned);
        self.base.query_pairs().map(|(_, v)| v.into_owned()).chain(password).collect()
    }
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// A bare host gets the scheme that it most likely speaks: plain on this machine and for bare
/// numbers, TLS elsewhere.
fn with_scheme(text: &str) -> String {
    let authority = text.split(['/', '?']).next().unwrap_or_default();
    let host = if authority.starts_with('[') {
        authority.split_inclusive(']').next().unwrap_or_default()
    } else {
        authority.split(':').next().unwrap_or_default()
    };
    let number = host.parse::<std::net::IpAddr>().is_ok();
    let scheme = if is_loopback(host) || number { "http" } else { "https" };
    format!("{scheme}://{text}")
}

fn base_path(path: &str, protocol: Protocol) -> String {
    let path = path.trim_end_matches('/');
    let stripped = protocol.operations().iter().find_map(|op| path.strip_suffix(op));
    match (protocol, stripped) {
        (Protocol::Ollama, _) => {
            let path = stripped.filter(|p| p.ends_with("/api")).unwrap_or(path);
            let path = path.strip_suffix("/v1/chat/completions").unwrap_or(path);
            let parent = path.strip_suffix("/v1").or_else(|| path.strip_suffix("/api"));
            format!("{}/api", parent.unwrap_or(path))
        }
        (_, Some(base)) => base.to_owned(),
        (_, None) if path.is_empty() => "/v1".to_owned(),
        (_, None) => path.to_owned(),
    }
}

/// The text up to its query, without a user part.
fn without_secrets(text: &str) -> &str {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    text.rsplit('@').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(base: &str, protocol: Protocol, operation: &str) -> String {
        Address::parse(base, protocol).unwrap().operation(operation).to_string()
    }

    #[test]
    fn a_path_is_added_only_where_there_is_none() {
        for (base, want) in [
            ("http://h:1/v1", "http://h:1/v1/chat/completions"),
            ("http://h:1/v1/", "http://h:1/v1/chat/completions"),
            ("  http://h:1  ", "http://h:1/v1/chat/completions"),
            ("http://h:1/", "http://h:1/v1/chat/completions"),
            ("http://h:1/openai", "http://h:1/openai/chat/completions"),
            ("http://h:1/v1?version=2", "http://h:1/v1/chat/completions?version=2"),
            ("http://h:1?version=2", "http://h:1/v1/chat/completions?version=2"),
            ("http://h:1/x/chat/completions", "http://h:1/x/chat/completions"),
            ("http://h:1/chat/completions?a=b", "http://h:1/chat/completions?a=b"),
            ("127.0.0.1:8080", "http://127.0.0.1:8080/v1/chat/completions"),
            ("[::1]:8080", "http://[::1]:8080/v1/chat/completions"),
            ("localhost:1234/v1", "http://localhost:1234/v1/chat/completions"),
            ("api.example.org/v1", "https://api.example.org/v1/chat/completions"),
        ] {
            assert_eq!(url(base, Protocol::OpenAi, "/chat/completions"), want, "{base}");
        }
        assert_eq!(url("https://h", Protocol::Anthropic, "/messages"), "https://h/v1/messages");
        assert_eq!(
            url("https://h/v1/messages", Protocol::Anthropic, "/messages"),
            "https://h/v1/messages"
        );
    }

    #[test]
    fn ollama_gets_its_own_path_whatever_was_typed() {
        for base in ["h:1", "http://h:1/", "http://h:1/v1", "http://h:1/api", "http://h:1/api/chat"]
        {
            let base = base.replace("h:1", "127.0.0.1:11434");
            let got = url(&base, Protocol::Ollama, "/chat");
            assert_eq!(got, "http://127.0.0.1:11434/api/chat", "{base}");
        }
        assert_eq!(url("http://h/box?k=v", Protocol::Ollama, "/chat"), "http://h/box/api/chat?k=v");
    }

    #[test]
    fn what_is_shown_holds_neither_query_nor_user() {
        let address = Address::parse("http://me:pw@h:1/v1?api_key=abc", Protocol::OpenAi).unwrap();
        assert_eq!(address.shown(), "http://h:1/v1");
        assert!(!format!("{address:?}").contains("abc"));
        assert_eq!(address.secrets(), ["abc", "pw"]);
        let fault = Address::parse("ftp://me:pw@h?api_key=abc", Protocol::OpenAi).unwrap_err();
        assert!(!fault.to_string().contains("abc") && !fault.to_string().contains("pw"));
    }

    #[test]
    fn unusable_addresses_are_refused() {
        for base in ["", "   ", "ftp://h", "http://", "http://[::1"] {
            assert!(Address::parse(base, Protocol::OpenAi).is_err(), "{base:?}");
        }
    }

    #[test]
    fn only_loopback_is_this_machine() {
        for (base, local) in [
            ("http://127.0.0.1:1", true),
            ("http://localhost", true),
            ("http://[::1]:1", true),
            ("http://192.168.0.4", false),
            ("https://api.example.org", false),
            ("http://localhost.example.org", false),
        ] {
            assert_eq!(Address::parse(base, Protocol::OpenAi).unwrap().is_local(), local, "{base}");
        }
    }
}
