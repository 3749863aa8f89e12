//! Settings of the program: endpoints, keys, the set-up check, look.

use domain::bank::SettingInfo;
use domain::{EndpointId, Instant, Json};
use serde::{Deserialize, Serialize};

/// How an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// OpenAI chat completions, and whatever is compatible with them.
    Openai,
    /// Anthropic messages.
    Anthropic,
    /// Ollama's own protocol.
    Ollama,
}

/// Where a key is kept. The key itself never leaves its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum KeyStore {
    /// The operating system's key store.
    Keychain,
    /// A file of the data folder that only this account can read; not encrypted.
    File,
    /// An environment variable of the program.
    Env,
    /// This run of the program only.
    Session,
}

/// What is known of a stored key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct KeyState {
    /// Where it is kept.
    pub store: KeyStore,
    /// Its last four characters.
    pub last4: String,
}

/// One endpoint of a language model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct EndpointView {
    /// Its id.
    pub id: EndpointId,
    /// Its name.
    pub name: String,
    /// How it speaks.
    pub protocol: Protocol,
    /// Its address.
    pub base_url: String,
    /// Its language model.
    pub llm: Option<String>,
    /// Its key.
    pub key: Option<KeyState>,
    /// Tokens that its model holds, as a person stated it.
    pub window: Option<u32>,
    /// Seconds that one call may take, as a person stated it.
    pub call_seconds: Option<u32>,
    /// Seconds that one call may take where nobody stated it.
    pub usual_call_seconds: u32,
    /// Whether it runs on this machine.
    pub local: bool,
    /// Whether it answers questions now.
    pub in_use: bool,
    /// What was learnt about it, newest first.
    pub learnt: Vec<LearntFact>,
    /// The last set-up check.
    pub check: Option<CheckReport>,
    /// When that was.
    pub checked_at: Option<Instant>,
}

/// Something learnt about an endpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct LearntFact {
    /// Stable word, for example `named_tool_choice`.
    pub key: String,
    /// What it means, for a person.
    pub words: String,
    /// How it was found out, mostly what the endpoint said.
    pub evidence: String,
    /// When.
    pub learned_at: Instant,
}

/// An endpoint to be stored. `key` is taken over into the key store at once.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct SaveEndpoint {
    /// The one to change; a new one when absent.
    pub id: Option<EndpointId>,
    /// Its name.
    pub name: String,
    /// How it speaks.
    pub protocol: Protocol,
    /// Its address.
    pub base_url: String,
    /// Its language model.
    pub llm: Option<String>,
    /// Tokens that its model holds; absent leaves it to the endpoint, or to what is usual.
    #[serde(default)]
    pub window: Option<u32>,
    /// Seconds that one call may take, 5 to 86,400; absent for what is usual.
    #[serde(default)]
    pub call_seconds: Option<u32>,
    /// A new key; absent leaves the stored one, empty removes it.
    pub key: Option<String>,
    /// Where to keep the key when the operating system has no store.
    pub key_fallback: Option<KeyStore>,
}

impl std::fmt::Debug for SaveEndpoint {
    /// Without the key: it must reach no log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SaveEndpoint")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("protocol", &self.protocol)
            .field("base_url", &self.base_url)
            .field("llm", &self.llm)
            .field("window", &self.window)
            .field("call_seconds", &self.call_seconds)
            .field("key", &self.key.as_ref().map(|_| "…"))
            .finish()
    }
}

/// How one line of the set-up check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum CheckVerdict {
    /// Works.
    Pass,
    /// Works in part, or by a detour.
    Warn,
    /// Does not work.
    Fail,
    /// Not tried, because something before it failed.
    Skipped,
}

/// One line of the set-up check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct CheckLine {
    /// Stable word, for example `tool_calls`, `forced_tool`, `json`, `streaming`, `window`, `speed`.
    pub key: String,
    /// How it came out.
    pub verdict: CheckVerdict,
    /// What was seen, one sentence.
    pub words: String,
    /// What to do about it, one sentence.
    pub remedy: Option<String>,
    /// What the network or the endpoint said, in its own words.
    pub detail: Option<String>,
}

/// The set-up check of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct CheckReport {
    /// Whether reflect and refreshes can run on it.
    pub usable: bool,
    /// One sentence for the head of the list.
    pub summary: String,
    /// Line by line.
    pub lines: Vec<CheckLine>,
}

/// A server found on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct FoundServer {
    /// Its program, as far as it can be told: `Ollama`, `LM Studio` and so on.
    pub name: String,
    /// How it speaks.
    pub protocol: Protocol,
    /// Its address.
    pub base_url: String,
    /// The language models that it offers.
    pub llms: Vec<String>,
}

/// What the settings page of language models shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct LlmSettings {
    /// All endpoints.
    pub endpoints: Vec<EndpointView>,
    /// Whether extractive mode answers while no language model is set up.
    pub extractive: bool,
    /// Whether the operating system has a key store.
    pub keychain: bool,
}

/// Colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// As the operating system has it.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// What the page keeps between starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct Look {
    /// Colours.
    pub theme: Theme,
    /// Text size in percent, 50 to 300.
    pub text_zoom: u32,
    /// Whether single letters work as keys.
    pub single_keys: bool,
    /// Whether the tour of the first run has ended.
    pub tour_done: bool,
}

impl Default for Look {
    fn default() -> Self {
        Self { theme: Theme::System, text_zoom: 100, single_keys: true, tour_done: false }
    }
}

/// Settings of a bank, or of the program, by key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct SettingValues {
    /// The keys that exist, in the order of the settings page.
    pub settings: Vec<SettingInfo>,
    /// What is stated here, an object.
    pub stated: Json,
    /// What is in force, an object.
    pub effective: Json,
    /// Tokens of this UTC day that count against the ceiling.
    pub tokens_today: u32,
    /// Whether automatic work waits for another day, or a higher ceiling.
    pub ceiling_reached: bool,
}
