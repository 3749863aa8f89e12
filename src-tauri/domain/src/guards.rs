//! The rules that keep a reflect honest while it runs: how many turns it gets, when the forced
//! order of searches may end early, which `done` is refused and why, what kind of failure a
//! provider reported. Decisions only; the loop that obeys them is elsewhere.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Score;
use crate::reflect::Budget;
use crate::tool_calls::{RECALL, RETRIEVAL_TOOLS};

/// A reason to refuse `done`. Checked in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Guard {
    /// Nothing was retrieved and some search has not been run yet.
    NoEvidence,
    /// Stale knowledge was used and raw facts were not looked at.
    StaleUnverified,
    /// Nothing is cited and raw facts were never searched.
    UnsupportedNegative,
    /// The answer, or the statement about directives, is missing.
    MissingArgument,
    /// Something was retrieved and no list of ids came with the answer.
    UncitedAnswer,
}

impl Guard {
    /// The word in traces.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NoEvidence => "no_evidence",
            Self::StaleUnverified => "stale_unverified",
            Self::UnsupportedNegative => "unsupported_negative",
            Self::MissingArgument => "missing_argument",
            Self::UncitedAnswer => "uncited_answer",
        }
    }
}

/// What is known when the language model calls `done`.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct DoneState {
    /// Tools of this run.
    pub enabled: Vec<String>,
    /// Tools that gave a result without error in this run, an empty result included.
    pub succeeded: Vec<String>,
    /// Rows retrieved so far.
    pub retrieved_total: u32,
    /// Ids of this `done` that survived validation.
    pub valid_citations: u32,
    /// Whether the newest successful search of observations was flagged stale.
    pub observations_stale: bool,
    /// Whether a cited mental model is stale or needs a refresh.
    pub cited_stale_model: bool,
    /// Whether `directive_compliance` is required.
    pub directives_in_force: bool,
    /// Whether it was already asked for once.
    pub compliance_already_asked: bool,
    /// Whether ids were already asked for once.
    pub citations_already_asked: bool,
    /// Arguments of the call.
    pub args: Map<String, Value>,
}

impl DoneState {
    fn exists(&self, tool: &str) -> bool {
        self.enabled.iter().any(|name| name == tool)
    }

    fn has_run(&self, tool: &str) -> bool {
        self.succeeded.iter().any(|name| name == tool)
    }

    // A null is what some language models send for a field that they leave out.
    fn gives(&self, key: &str) -> bool {
        self.args.get(key).is_some_and(|value| !value.is_null())
    }

    /// Searches of this run that have not succeeded yet, in the order of the ladder.
    #[must_use]
    pub fn open_searches(&self) -> Vec<&'static str> {
        RETRIEVAL_TOOLS
            .into_iter()
            .filter(|tool| self.exists(tool) && !self.has_run(tool))
            .collect()
    }

    /// Required arguments that are absent. `document` stands in for `answer`.
    #[must_use]
    pub fn missing_arguments(&self) -> Vec<&'static str> {
        let mut missing = Vec::new();
        if !self.gives("answer") && !self.gives("document") {
            missing.push("answer");
        }
        if self.directives_in_force
            && !self.compliance_already_asked
            && !self.gives("directive_compliance")
        {
            missing.push("directive_compliance");
        }
        missing
    }

    fn facts_unread(&self) -> bool {
        self.exists(RECALL) && !self.has_run(RECALL)
    }
}

/// The guard that refuses this `done`, if any. Not to be asked on the closing iteration.
#[must_use]
pub fn done_guard(state: &DoneState) -> Option<Guard> {
    let ids_given =
        ["memory_ids", "mental_model_ids", "observation_ids"].iter().any(|key| state.gives(key));
    if state.retrieved_total == 0 && !state.open_searches().is_empty() {
        Some(Guard::NoEvidence)
    } else if (state.observations_stale || state.cited_stale_model) && state.facts_unread() {
        Some(Guard::StaleUnverified)
    } else if state.valid_citations == 0 && state.facts_unread() {
        Some(Guard::UnsupportedNegative)
    } else if !state.missing_arguments().is_empty() {
        Some(Guard::MissingArgument)
    } else if state.retrieved_total > 0 && !ids_given && !state.citations_already_asked {
        Some(Guard::UncitedAnswer)
    } else {
        None
    }
}

/// What the language model is told when its `done` is refused: the exact next action, naming only
/// tools of this run.
#[must_use]
pub fn refusal_message(guard: Guard, state: &DoneState) -> String {
    match guard {
        Guard::NoEvidence => format!(
            "Nothing has been retrieved yet. Call {} before finishing.",
            state.open_searches().join(", then ")
        ),
        Guard::StaleUnverified => {
            "Some of what you used is out of date. Check it against the stored facts with recall, \
             then call done again."
                .to_owned()
        }
        Guard::UnsupportedNegative => {
            "No retrieved source supports this answer. Search the stored facts with recall before \
             concluding that nothing is known."
                .to_owned()
        }
        Guard::MissingArgument => format!(
            "Call done again with the missing argument: {}.",
            state.missing_arguments().join(", ")
        ),
        Guard::UncitedAnswer => {
            "Call done again and list the ids that support the answer; send empty lists if nothing \
             retrieved bears on the question."
                .to_owned()
        }
    }
}

/// Relevance that at least one fresh mental model needs to end the forced order. It belongs to the
/// embedder and is a setting; this is the default.
pub const RELEASE_RELEVANCE: f64 = 0.5;

/// A mental model as the search returned it, reduced to what early release looks at.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct FoundModel {
    /// Its content.
    #[serde(default)]
    pub content: String,
    /// Missing counts as stale.
    #[serde(default)]
    pub is_stale: Option<bool>,
    /// Missing counts as no further doubt.
    #[serde(default)]
    pub needs_refresh: Option<bool>,
    /// 1 − cosine distance to the query.
    #[serde(default)]
    pub relevance: Option<Score>,
}

/// Whether the forced order may end after the mental models. Nearest-neighbour search always
/// returns something, so at least one model must also be on the subject (`floor`).
#[must_use]
pub fn early_release(budget: Budget, models: &[FoundModel], floor: f64) -> bool {
    let fresh = |model: &FoundModel| {
        model.is_stale == Some(false)
            && model.needs_refresh != Some(true)
            && !model.content.trim().is_empty()
    };
    let on_subject =
        |model: &FoundModel| model.relevance.is_some_and(|relevance| relevance.get() >= floor);
    budget != Budget::High && models.iter().all(fresh) && models.iter().any(on_subject)
}

/// Iterations of a run: half of `base` at `low`, `base` at `mid` and `high`, never more than
/// `base`, always one more than the forced steps.
#[must_use]
pub fn iterations(base: u32, budget: Budget, forced: u32) -> u32 {
    let wanted = match budget {
        Budget::Low => base / 2,
        Budget::Mid | Budget::High => base,
    };
    wanted.max(forced.saturating_add(1))
}

/// What kind of failure a provider reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ProviderErrorClass {
    /// The prompt does not fit the window.
    ContextOverflow,
    /// Too many requests or tokens, or a quota is used up.
    RateLimited,
    /// The key was refused.
    Auth,
    /// No answer in time.
    Timeout,
    /// Anything else.
    Other,
}

impl ProviderErrorClass {
    /// The word of the class.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::ContextOverflow => "context_overflow",
            Self::RateLimited => "rate_limited",
            Self::Auth => "auth",
            Self::Timeout => "timeout",
            Self::Other => "other",
        }
    }
}

const OVERFLOW_CODES: &[&str] = &[
    "context_length_exceeded",
    "context_window_exceeded",
    "context_overflow",
    "prompt_too_long",
    "input_too_long",
    "exceed_context_size",
];
const RATE_CODES: &[&str] =
    &["resource_exhausted", "rate_limit", "too_many_requests", "quota", "throttl"];
const AUTH_CODES: &[&str] = &[
    "invalid_api_key",
    "authentication",
    "unauthorized",
    "unauthenticated",
    "permission_denied",
    "permission_error",
    "forbidden",
];
const TIMEOUT_CODES: &[&str] = &["timeout", "timed_out", "deadline_exceeded"];

const OVERFLOW_WORDS: &[&str] = &[
    "context_length_exceeded",
    "context length exceeded",
    "maximum context length",
    "prompt_too_long",
    "prompt is too long",
    "input is too long",
    "too many tokens in",
    "exceeds the context window",
    // What Gemini, llama.cpp and Anthropic say beside the above.
    "exceeds the maximum number of tokens",
    "exceeds the available context size",
    "exceed context limit",
];
const RATE_WORDS: &[&str] = &["resource_exhausted", "rate limit", "quota"];
const PER_MINUTE_WORDS: &[&str] = &["tokens per minute", "tokens per min", "tokens/min", "(tpm)"];
const TIMEOUT_WORDS: &[&str] = &["timed out", "timeout"];

/// The class of a provider's error: its code first, then the HTTP status, then its words. A message
/// about tokens per minute is a rate limit even when it says "too many tokens".
#[must_use]
pub fn classify_provider_error(
    status: Option<u16>,
    code: Option<&str>,
    message: &str,
) -> ProviderErrorClass {
    use ProviderErrorClass as Class;
    let code = code.unwrap_or_default().trim().to_lowercase().replace(['-', ' '], "_");
    let message = message.to_lowercase();
    let in_code = |words: &[&str]| words.iter().any(|word| code.contains(word));
    let in_message = |words: &[&str]| words.iter().any(|word| message.contains(word));
    let by_code = if in_code(OVERFLOW_CODES) {
        Some(Class::ContextOverflow)
    } else if in_code(RATE_CODES) {
        Some(Class::RateLimited)
    } else if in_code(AUTH_CODES) {
        Some(Class::Auth)
    } else if in_code(TIMEOUT_CODES) {
        Some(Class::Timeout)
    } else {
        None
    };
    // Some gateways put the status into the code.
    let by_status = |status: u16| match status {
        401 | 403 => Some(Class::Auth),
        429 => Some(Class::RateLimited),
        408 | 504 => Some(Class::Timeout),
        _ => None,
    };
    let by_message = || {
        if in_message(PER_MINUTE_WORDS) {
            Class::RateLimited
        } else if in_message(OVERFLOW_WORDS) {
            Class::ContextOverflow
        } else if in_message(RATE_WORDS) {
            Class::RateLimited
        } else if in_message(TIMEOUT_WORDS) {
            Class::Timeout
        } else {
            Class::Other
        }
    };
    by_code
        .or_else(|| code.parse().ok().and_then(by_status))
        .or_else(|| status.and_then(by_status))
        .unwrap_or_else(by_message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_follow_the_budget_and_leave_room_for_the_forced_steps() {
        assert_eq!(iterations(10, Budget::Low, 3), 5);
        assert_eq!(iterations(10, Budget::Mid, 3), 10);
        assert_eq!(iterations(10, Budget::High, 3), 10);
        assert_eq!(iterations(5, Budget::Low, 3), 4);
        assert_eq!(iterations(1, Budget::Mid, 2), 3);
    }

    #[test]
    fn one_stale_model_or_one_unknown_state_keeps_the_order() {
        let model = |is_stale, needs_refresh, relevance: f64| FoundModel {
            content: "Rota rules.".to_owned(),
            is_stale,
            needs_refresh,
            relevance: Some(Score::new(relevance)),
        };
        let fresh = model(Some(false), None, 0.9);
        let release = |models: &[FoundModel]| early_release(Budget::Low, models, RELEASE_RELEVANCE);
        assert!(release(std::slice::from_ref(&fresh)));
        assert!(release(&[fresh.clone(), model(Some(false), Some(false), 0.1)]));
        assert!(!release(&[fresh.clone(), model(Some(true), None, 0.9)]));
        assert!(!release(&[fresh.clone(), model(None, None, 0.9)]));
        assert!(!release(&[fresh, model(Some(false), Some(true), 0.9)]));
        assert!(!release(&[]));
    }

    #[test]
    fn code_outranks_status_and_status_outranks_words() {
        use ProviderErrorClass as Class;
        let class = classify_provider_error;
        assert_eq!(class(Some(400), Some("context_length_exceeded"), ""), Class::ContextOverflow);
        assert_eq!(class(Some(429), None, "maximum context length"), Class::RateLimited);
        assert_eq!(class(Some(403), None, "quota"), Class::Auth);
        assert_eq!(class(Some(504), None, "upstream"), Class::Timeout);
        assert_eq!(class(None, Some("429"), "slow down"), Class::RateLimited);
        assert_eq!(class(Some(500), Some("server_error"), "Request timed out."), Class::Timeout);
        assert_eq!(class(Some(500), None, "boom"), Class::Other);
        assert_eq!(
            class(Some(413), None, "Request too large: limit 6000 tokens per minute (TPM)"),
            Class::RateLimited
        );
    }

    #[test]
    fn refusals_name_only_tools_that_exist() {
        let state = DoneState { enabled: vec!["recall".to_owned()], ..DoneState::default() };
        let message = refusal_message(Guard::NoEvidence, &state);
        assert!(message.contains("recall") && !message.contains("search_observations"));
    }
}
