//! Everything that can go wrong between a request and its reply, sorted into classes that decide
//! what may be tried next. Never holds a key: bodies pass the redactor before they get here.

use crate::ChatReply;
use crate::address::Protocol;
use std::time::Duration;

/// What the endpoint said when it did not give a reply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// HTTP status; 200 when an error object came with a success.
    pub status: u16,
    /// Code or type of the error object.
    pub code: Option<String>,
    /// Its message, or the start of the body when there is no error object.
    pub message: String,
    /// The first 2,000 characters of the body.
    pub body: String,
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HTTP {}", self.status)?;
        if let Some(code) = &self.code {
            write!(f, ", {code}")?;
        }
        if self.message.is_empty() { Ok(()) } else { write!(f, ", {}", self.message) }
    }
}

/// Why there is no complete reply.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The key is missing, wrong or not allowed to do this.
    #[error("{endpoint} refused the key ({answer})")]
    Auth {
        /// Address of the endpoint, without query.
        endpoint: String,
        /// What it said.
        answer: Box<Answer>,
    },
    /// No more requests for now.
    #[error("{endpoint} allows no more requests for now ({answer})")]
    RateLimited {
        /// Address of the endpoint, without query.
        endpoint: String,
        /// How long to wait, when it said so.
        retry_after: Option<Duration>,
        /// What it said.
        answer: Box<Answer>,
    },
    /// No connection, or a broken one.
    #[error("{endpoint} cannot be reached: {cause}")]
    Unreachable {
        /// Address of the endpoint, without query.
        endpoint: String,
        /// What the network said.
        cause: String,
        /// Whether the connection could not be made at all (nothing listens there), as against
        /// one that broke.
        refused: bool,
    },
    /// The limit of the call or the silence between two pieces ran out.
    #[error("{endpoint} did not answer within {} s", limit.as_secs())]
    Timeout {
        /// Address of the endpoint, without query.
        endpoint: String,
        /// The limit that ran out.
        limit: Duration,
    },
    /// The endpoint failed by its own account (5xx, or an error object in a success).
    #[error("{endpoint} failed ({answer})")]
    Failed {
        /// Address of the endpoint, without query.
        endpoint: String,
        /// How long to wait, when it said so.
        retry_after: Option<Duration>,
        /// What it said.
        answer: Box<Answer>,
    },
    /// The endpoint does not accept the request.
    #[error("{endpoint} refused the request ({answer})")]
    Refused {
        /// Address of the endpoint, without query.
        endpoint: String,
        /// What it said.
        answer: Box<Answer>,
    },
    /// The endpoint has no such model.
    #[error("{endpoint} does not know the model \"{llm}\" ({answer})")]
    UnknownModel {
        /// Address of the endpoint, without query.
        endpoint: String,
        /// The model asked for.
        llm: String,
        /// What it said.
        answer: Box<Answer>,
    },
    /// The model does not call tools.
    #[error("\"{llm}\" at {endpoint} does not call tools ({answer})")]
    ToolsUnsupported {
        /// Address of the endpoint, without query.
        endpoint: String,
        /// The model asked for.
        llm: String,
        /// What it said.
        answer: Box<Answer>,
    },
    /// Prompt and reply do not fit the window.
    #[error("the request does not fit the window of {endpoint} ({answer})")]
    Overflow {
        /// Address of the endpoint, without query.
        endpoint: String,
        /// What it said.
        answer: Box<Answer>,
    },
    /// The endpoint cut the prompt without a word.
    #[error("{endpoint} read only {got} of about {sent} tokens")]
    PromptTruncated {
        /// Address of the endpoint, without query.
        endpoint: String,
        /// Tokens that the endpoint reports.
        got: u32,
        /// Tokens by our count.
        sent: u32,
        /// Wire format of the endpoint, which decides what a person can do about it.
        protocol: Protocol,
    },
    /// What came cannot be read as a reply.
    #[error("the reply of {endpoint} cannot be read: {cause}")]
    Malformed {
        /// Address of the endpoint, without query.
        endpoint: String,
        /// What is wrong with it.
        cause: String,
        /// The first 2,000 characters of the body.
        body: String,
    },
    /// The reply ended before its end.
    #[error("the reply of {endpoint} broke off: {cause}")]
    CutOff {
        /// Address of the endpoint, without query.
        endpoint: String,
        /// How it ended.
        cause: String,
        /// What had arrived.
        partial: Box<ChatReply>,
    },
    /// The address cannot be used.
    #[error("\"{address}\" is not a usable address: {cause}")]
    Address {
        /// The address as given, without query and user part.
        address: String,
        /// What is wrong with it.
        cause: String,
    },
    /// The client could not be set up, for example because the machine has no certificate store.
    #[error("no secure connection to {endpoint} can be set up: {cause}")]
    Setup {
        /// Address of the endpoint, without query.
        endpoint: String,
        /// What is missing.
        cause: String,
    },
    /// The key could not be fetched from where it is kept.
    #[error("the key for {endpoint} cannot be read: {cause}")]
    KeyUnavailable {
        /// Address of the endpoint, without query.
        endpoint: String,
        /// What the key store said.
        cause: String,
    },
    /// The caller gave up.
    #[error("cancelled")]
    Cancelled,
}

/// The classes that callers branch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Wrong or missing key.
    Auth,
    /// Too many requests.
    RateLimited,
    /// No connection.
    Unreachable,
    /// Too slow.
    Timeout,
    /// The endpoint failed.
    Failed,
    /// The request was not accepted.
    Refused,
    /// No such model.
    UnknownModel,
    /// No tool calls.
    ToolsUnsupported,
    /// Too large for the window, refused or silently cut.
    Overflow,
    /// Cannot be read.
    Malformed,
    /// Broke off.
    CutOff,
    /// The set-up on this machine is at fault: address, certificates, key store.
    Setup,
    /// Given up by the caller.
    Cancelled,
}

impl Error {
    /// The class of this error.
    pub fn class(&self) -> Class {
        match self {
            Self::Auth { .. } => Class::Auth,
            Self::RateLimited { .. } => Class::RateLimited,
            Self::Unreachable { .. } => Class::Unreachable,
            Self::Timeout { .. } => Class::Timeout,
            Self::Failed { .. } => Class::Failed,
            Self::Refused { .. } => Class::Refused,
            Self::UnknownModel { .. } => Class::UnknownModel,
            Self::ToolsUnsupported { .. } => Class::ToolsUnsupported,
            Self::Overflow { .. } | Self::PromptTruncated { .. } => Class::Overflow,
            Self::Malformed { .. } => Class::Malformed,
            Self::CutOff { .. } => Class::CutOff,
            Self::Address { .. } | Self::Setup { .. } | Self::KeyUnavailable { .. } => Class::Setup,
            Self::Cancelled => Class::Cancelled,
        }
    }

    /// What the endpoint said, if it said something.
    pub fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Auth { answer, .. }
            | Self::RateLimited { answer, .. }
            | Self::Failed { answer, .. }
            | Self::Refused { answer, .. }
            | Self::UnknownModel { answer, .. }
            | Self::ToolsUnsupported { answer, .. }
            | Self::Overflow { answer, .. } => Some(answer),
            _ => None,
        }
    }

    /// The HTTP status of the answer, if there was one.
    pub fn status(&self) -> Option<u16> {
        self.answer().map(|a| a.status)
    }

    /// The wait that the endpoint asked for.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Failed { retry_after, .. } => {
                *retry_after
            }
            _ => None,
        }
    }

    /// Whether the very same request may succeed later: the network, a limit, the endpoint's own
    /// failure. A time-out of the call is not among them, since the same limit would run out
    /// again; nor is a reply that cannot be read, which was paid for.
    pub fn retryable(&self) -> bool {
        matches!(
            self,
            Self::RateLimited { .. }
                | Self::Unreachable { .. }
                | Self::Failed { .. }
                | Self::CutOff { .. }
        )
    }
}

/// Sorts what a provider said when it refused, by code, then status, then wording.
///
/// The order matters: a quota that names tokens is a limit in time and waiting helps, while an
/// overflow is the same tomorrow.
pub fn classify(status: Option<u16>, code: Option<&str>, message: &str) -> Option<Class> {
    let code = code.unwrap_or_default().to_lowercase();
    match code.as_str() {
        "context_length_exceeded" | "prompt_too_long" | "exceed_context_size_error" => {
            return Some(Class::Overflow);
        }
        "resource_exhausted"
        | "rate_limit_exceeded"
        | "rate_limit_error"
        | "insufficient_quota" => {
            return Some(Class::RateLimited);
        }
        "invalid_api_key" | "authentication_error" | "permission_error" => {
            return Some(Class::Auth);
        }
        "model_not_found" => return Some(Class::UnknownModel),
        _ => {}
    }
    match status {
        Some(401 | 403) => return Some(Class::Auth),
        Some(429) => return Some(Class::RateLimited),
        Some(408 | 504) => return Some(Class::Timeout),
        _ => {}
    }
    let message = message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|w| message.contains(w));
    if says(&["tokens per minute", "tokens per day"]) {
        Some(Class::RateLimited)
    } else if says(&OVERFLOW_WORDS) {
        Some(Class::Overflow)
    } else if says(&["resource_exhausted", "rate limit", "quota"]) {
        Some(Class::RateLimited)
    } else if says(&["timed out", "timeout"]) {
        Some(Class::Timeout)
    } else {
        None
    }
}

/// How endpoints put it that a request is too large.
const OVERFLOW_WORDS: [&str; 14] = [
    "context_length_exceeded",
    "context length exceeded",
    "maximum context length",
    "prompt_too_long",
    "prompt is too long",
    "input is too long",
    "too many tokens in",
    "exceeds the context window",
    "exceeds the available context size",
    "exceed_context_size",
    "input length exceeds",
    "exceed context limit",
    "context the overflows",
    "context length of only",
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn errors_of_providers_are_sorted_as_the_vectors_say() {
        let text = include_str!("../../../tests/cases/reflect_guards.json");
        let file: Value = serde_json::from_str(text).unwrap();
        let mut seen = 0;
        for case in file["cases"].as_array().unwrap() {
            if case["function"] != "classify_provider_error" {
                continue;
            }
            let input = &case["input"];
            let got = classify(
                input["status"].as_u64().and_then(|s| u16::try_from(s).ok()),
                input["code"].as_str(),
                input["message"].as_str().unwrap_or_default(),
            );
            let word = match got {
                Some(Class::Overflow) => "context_overflow",
                Some(Class::RateLimited) => "rate_limited",
                Some(Class::Auth) => "auth",
                Some(Class::Timeout) => "timeout",
                _ => "other",
            };
            assert_eq!(word, case["expect"], "{}", case["name"]);
            seen += 1;
        }
        assert!(seen >= 3);
    }
}
