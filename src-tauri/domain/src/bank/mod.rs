//! Settings of a bank: every key with its default and its range, the keys a bank states, and the
//! effective values after program, bank and call. Nothing here is read from a file or applied.

mod keys;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::consolidation::{InvalidateMode, ScopeLimit, ScopeRule};
use crate::disposition::Disposition;
use crate::fusion::{BudgetFunction, RecencyCurve, Way, WayPriority};
use crate::model::Review;
use crate::reflect::Budget;
use crate::tags::TagSet;
use crate::trigger::Trigger;
use crate::{Json, Score};

pub use keys::{SettingFault, SettingGroup, SettingInfo, SettingKind, catalogue};

/// How text becomes facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ExtractionMode {
    /// The statements worth keeping.
    #[default]
    Concise,
    /// Every statement.
    Verbose,
    /// By the bank's own instructions.
    Custom,
    /// In the words of the source.
    Verbatim,
    /// Each chunk as one fact, without a language model.
    Chunks,
}

/// What the values of a label group are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub enum LabelKind {
    /// One of a list.
    #[serde(rename = "value")]
    Value,
    /// Some of a list.
    #[serde(rename = "multi-value")]
    MultiValue,
    /// Any text.
    #[serde(rename = "text")]
    Text,
    /// Named fields.
    #[serde(rename = "map")]
    Map,
}

/// A controlled vocabulary whose values become entities spelled `key:value`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct LabelGroup {
    /// Name of the group; not blank.
    pub key: String,
    /// What its values are.
    #[serde(rename = "type")]
    pub kind: LabelKind,
    /// The allowed values.
    #[serde(default)]
    pub values: Vec<String>,
    /// Copy `key:value` into the fact's tags.
    #[serde(default)]
    pub tag: bool,
    /// The fields of a map.
    #[serde(default)]
    pub fields: Vec<String>,
}

/// The effective settings. A key's name is the field's; defaults are those of [`Default`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct BankSettings {
    /// Longest chunk in characters.
    pub retain_chunk_size: u32,
    /// Longest chunk of a conversation or of records; null for the same.
    pub retain_structured_chunk_size: Option<u32>,
    /// How text becomes facts.
    pub retain_extraction_mode: ExtractionMode,
    /// What to look for in text.
    pub retain_mission: Option<String>,
    /// Instructions of the custom mode.
    pub retain_custom_instructions: Option<String>,
    /// Look for causes.
    pub retain_extract_causal_links: bool,
    /// Controlled vocabularies.
    pub entity_labels: Vec<LabelGroup>,
    /// Entities outside the vocabularies are kept.
    pub entities_allow_free_form: bool,
    /// Keep the texts of documents; without them there is no expanding and no reprocessing.
    pub store_document_text: bool,
    /// For reading dates without a zone; null for the user's. Schedules are UTC.
    pub default_timezone: Option<String>,
    /// Forces the language of every generated text.
    pub llm_output_language: Option<String>,
    /// How facts are folded when they do not say: a word or a list of lists of tags.
    pub default_observation_scopes: Option<Json>,

    /// Fold facts into observations at all.
    pub enable_observations: bool,
    /// Fold by itself after changes.
    pub enable_auto_consolidation: bool,
    /// What observations are to track.
    pub observations_mission: Option<String>,
    /// Facts a call.
    pub consolidation_llm_batch_size: u32,
    /// Facts a round; null for all.
    pub consolidation_max_memories_per_round: Option<u32>,
    /// Cosine from which twins are put to the model; 1 is off.
    pub consolidation_dedup_threshold: Score,
    /// Most observations of a scope; −1 for no limit.
    pub max_observations_per_scope: i32,
    /// Limits for scopes by globs; the first that fits wins.
    pub observation_scope_limits: Vec<ScopeLimit>,
    /// Kept entries of an observation's history.
    pub observation_history_max_entries: u32,
    /// What becomes of an observation that loses a source.
    pub invalidate: InvalidateMode,

    /// Search by words.
    pub enable_text_search: bool,
    /// Leave out facts that a shown observation was folded from.
    pub recall_prefer_observations: bool,
    /// Search by time.
    pub enable_temporal_retrieval: bool,
    /// Search along ties.
    pub enable_graph_retrieval: bool,
    /// Use the reranker, if there is one.
    pub enable_reranking: bool,
    /// How a budget becomes a number of candidates.
    pub recall_budget_function: BudgetFunction,
    /// Candidates of a low budget.
    pub recall_budget_fixed_low: u32,
    /// Candidates of a middle budget.
    pub recall_budget_fixed_mid: u32,
    /// Candidates of a high budget.
    pub recall_budget_fixed_high: u32,
    /// Candidates per token of a low budget.
    pub recall_budget_adaptive_low: Score,
    /// Candidates per token of a middle budget.
    pub recall_budget_adaptive_mid: Score,
    /// Candidates per token of a high budget.
    pub recall_budget_adaptive_high: Score,
    /// Least candidates of an adaptive budget.
    pub recall_budget_min: u32,
    /// Most candidates of an adaptive budget.
    pub recall_budget_max: u32,
    /// How age weighs.
    pub recency_decay_function: RecencyCurve,
    /// Ways that are preferred.
    pub way_priority: BTreeMap<Way, WayPriority>,

    /// What the bank is for.
    pub reflect_mission: Option<String>,
    /// From 1 to 5; null counts as 3.
    pub disposition_skepticism: Option<u8>,
    /// From 1 to 5; null counts as 3.
    pub disposition_literalism: Option<u8>,
    /// From 1 to 5; null counts as 3.
    pub disposition_empathy: Option<u8>,
    /// Rounds of a run, the closing one included.
    pub reflect_max_iterations: u32,
    /// Tokens of a run's conversation.
    pub reflect_max_context_tokens: u32,
    /// Seconds of a whole run.
    pub reflect_wall_timeout: u32,
    /// The provider's cap for calls that write the answer; null for none.
    pub reflect_max_completion_tokens: Option<u32>,
    /// Have a second look judge each answer by the directives, at the price of a call more.
    pub reflect_directive_check: bool,
    /// Source facts beside observations: −1 off, 0 without limit, else tokens.
    pub reflect_source_facts_max_tokens: i32,
    /// Tokens of a search for observations; null for the default of the budget.
    pub reflect_search_observations_max_tokens: Option<u32>,
    /// Name the entities of observations found.
    pub reflect_search_observations_include_entities: bool,
    /// Tokens of a search for facts.
    pub recall_max_tokens: u32,
    /// Attach the text of chunks.
    pub recall_include_chunks: bool,
    /// Tokens of attached chunks.
    pub recall_chunks_max_tokens: u32,
    /// Longest search text in tokens; longer ones are cut for internal callers.
    pub recall_max_query_tokens: u32,
    /// Presets that older clients store; returned untouched.
    pub reflect_default_options: Option<Json>,
    /// Tools that the MCP server offers; null for all.
    pub mcp_enabled_tools: Option<Vec<String>>,

    /// Seconds between automatic refreshes of a model.
    pub mental_model_min_refresh_interval_seconds: u32,
    /// Keep former versions.
    pub enable_mental_model_history: bool,
    /// Former versions kept; 0 or less for all.
    pub mental_model_history_max_entries: i32,
    /// Review setting of new models; null for the default of the door they come through.
    pub review_default: Option<Review>,
    /// Share of a document's lines that a delta may remove unseen; 0 is off.
    pub delta_removal_limit: Score,
    /// Share of the citations that a full refresh may lose unseen; 0 is off.
    pub full_citation_loss_limit: Score,
    /// Kept runs of a model.
    pub refresh_history_max_entries: u32,
    /// Kept questions of the bank.
    pub reflect_history_max_entries: u32,
    /// Tokens a UTC day for automatic work; null for no ceiling.
    pub daily_token_ceiling: Option<u32>,
    /// Memories with one of these tags never leave this machine.
    pub local_only_tags: Vec<String>,
}

impl Default for BankSettings {
    fn default() -> Self {
        Self {
            retain_chunk_size: 3000,
            retain_structured_chunk_size: None,
            retain_extraction_mode: ExtractionMode::Concise,
            retain_mission: None,
            retain_custom_instructions: None,
            retain_extract_causal_links: true,
            entity_labels: Vec::new(),
            entities_allow_free_form: true,
            store_document_text: true,
            default_timezone: None,
            llm_output_language: None,
            default_observation_scopes: None,
            enable_observations: true,
            enable_auto_consolidation: true,
            observations_mission: None,
            consolidation_llm_batch_size: 8,
            consolidation_max_memories_per_round: None,
            consolidation_dedup_threshold: Score::new(0.97),
            max_observations_per_scope: -1,
            observation_scope_limits: Vec::new(),
            observation_history_max_entries: 50,
            invalidate: InvalidateMode::Strict,
            enable_text_search: true,
            recall_prefer_observations: false,
            enable_temporal_retrieval: true,
            enable_graph_retrieval: true,
            enable_reranking: true,
            recall_budget_function: BudgetFunction::Fixed,
            recall_budget_fixed_low: 100,
            recall_budget_fixed_mid: 300,
            recall_budget_fixed_high: 1000,
            recall_budget_adaptive_low: Score::new(0.025),
            recall_budget_adaptive_mid: Score::new(0.075),
            recall_budget_adaptive_high: Score::new(0.25),
            recall_budget_min: 20,
            recall_budget_max: 2000,
            recency_decay_function: RecencyCurve::Linear,
            way_priority: BTreeMap::new(),
            reflect_mission: None,
            disposition_skepticism: None,
            disposition_literalism: None,
            disposition_empathy: None,
            reflect_max_iterations: 10,
            reflect_max_context_tokens: 100_000,
            reflect_wall_timeout: 300,
            reflect_max_completion_tokens: None,
            reflect_directive_check: false,
            reflect_source_facts_max_tokens: -1,
            reflect_search_observations_max_tokens: None,
            reflect_search_observations_include_entities: false,
            recall_max_tokens: 2048,
            recall_include_chunks: true,
            recall_chunks_max_tokens: 1000,
            recall_max_query_tokens: 500,
            reflect_default_options: None,
            mcp_enabled_tools: None,
            mental_model_min_refresh_interval_seconds: 0,
            enable_mental_model_history: true,
            mental_model_history_max_entries: 50,
            review_default: None,
            delta_removal_limit: Score::new(0.3),
            full_citation_loss_limit: Score::new(0.5),
            refresh_history_max_entries: 200,
            reflect_history_max_entries: 200,
            daily_token_ceiling: None,
            local_only_tags: Vec::new(),
        }
    }
}

/// The keys that a program or a bank states. Keys nobody knows, left by another version, are kept
/// and have no effect.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StatedSettings(Map<String, Value>);

impl StatedSettings {
    /// What the file holds.
    #[must_use]
    pub fn from_stored(stored: &Value) -> Self {
        Self(stored.as_object().cloned().unwrap_or_default())
    }

    /// The stated keys with a patch laid over them; null resets a key.
    ///
    /// # Errors
    /// Every key of the patch that does not exist or cannot have its value; nothing is changed then.
    pub fn patched(&self, patch: &Map<String, Value>) -> Result<Self, Vec<SettingFault>> {
        let mut keys = self.0.clone();
        let mut faults = Vec::new();
        for (key, value) in patch {
            match keys::read(key, value) {
                Ok(Value::Null) => {
                    keys.remove(key);
                }
                Ok(value) => {
                    keys.insert(key.clone(), value);
                }
                Err(fault) => faults.push(fault),
            }
        }
        if faults.is_empty() { Ok(Self(keys)) } else { Err(faults) }
    }

    /// What the file stores, and what the wire calls `overrides`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        Value::Object(self.0.clone())
    }
}

impl BankSettings {
    /// The effective settings: defaults, then the program's, then the bank's. A stored value that
    /// does not fit its key is passed over.
    #[must_use]
    pub fn resolve(program: &StatedSettings, bank: &StatedSettings) -> Self {
        let mut stated = Map::new();
        for (key, value) in program.0.iter().chain(&bank.0) {
            if let Ok(value) = keys::read(key, value)
                && !value.is_null()
            {
                stated.insert(key.clone(), value);
            }
        }
        serde_json::from_value(Value::Object(stated)).unwrap_or_default()
    }

    /// The settings of a model's run: what its trigger states goes before the bank's values.
    #[must_use]
    pub fn for_trigger(mut self, trigger: &Trigger) -> Self {
        fn lay<T: Copy>(over: &mut T, stated: Option<T>) {
            *over = stated.unwrap_or(*over);
        }
        lay(&mut self.recall_include_chunks, trigger.include_chunks);
        lay(&mut self.recall_max_tokens, trigger.recall_max_tokens);
        lay(&mut self.recall_chunks_max_tokens, trigger.recall_chunks_max_tokens);
        lay(
            &mut self.reflect_search_observations_include_entities,
            trigger.reflect_search_observations_include_entities,
        );
        lay(
            &mut self.mental_model_min_refresh_interval_seconds,
            trigger.min_refresh_interval_seconds,
        );
        let own = self.reflect_search_observations_max_tokens;
        self.reflect_search_observations_max_tokens =
            trigger.reflect_search_observations_max_tokens.or(own);
        self
    }

    /// The disposition with its neutral default.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        let neutral = Disposition::default();
        Disposition {
            skepticism: self.disposition_skepticism.unwrap_or(neutral.skepticism),
            literalism: self.disposition_literalism.unwrap_or(neutral.literalism),
            empathy: self.disposition_empathy.unwrap_or(neutral.empathy),
        }
    }

    /// How facts are folded when they do not say.
    #[must_use]
    pub fn observation_scopes(&self) -> ScopeRule {
        let stated = self.default_observation_scopes.as_ref();
        stated.and_then(|scopes| ScopeRule::parse(&scopes.0).ok()).unwrap_or_default()
    }

    /// The tags whose memories never leave this machine.
    #[must_use]
    pub fn local_only(&self) -> TagSet {
        TagSet::new(&self.local_only_tags)
    }

    /// Candidates per way and kind of memory, by the bank's own numbers.
    #[must_use]
    pub fn candidates(&self, level: Budget, max_tokens: u32) -> u32 {
        let (fixed, share) = match level {
            Budget::Low => (self.recall_budget_fixed_low, self.recall_budget_adaptive_low),
            Budget::Mid => (self.recall_budget_fixed_mid, self.recall_budget_adaptive_mid),
            Budget::High => (self.recall_budget_fixed_high, self.recall_budget_adaptive_high),
        };
        if self.recall_budget_function == BudgetFunction::Fixed {
            return fixed;
        }
        let wanted = (f64::from(max_tokens) * share.get()).round();
        let least = f64::from(self.recall_budget_min);
        let most = f64::from(self.recall_budget_max).max(least);
        format!("{:.0}", wanted.clamp(least, most)).parse().unwrap_or(self.recall_budget_max)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    fn patch(keys: &Value) -> Result<StatedSettings, Vec<SettingFault>> {
        StatedSettings::default().patched(keys.as_object().expect("an object"))
    }

    #[test]
    fn every_field_is_a_key_and_every_default_is_allowed() {
        let defaults = serde_json::to_value(BankSettings::default()).expect("JSON");
        let fields: BTreeSet<&String> = defaults.as_object().expect("an object").keys().collect();
        let keys = catalogue();
        let listed: BTreeSet<&String> = keys.iter().map(|info| &info.key).collect();
        assert_eq!(fields, listed);
        for info in &keys {
            let read = keys::read(&info.key, &info.default.0).expect(&info.key);
            assert_eq!(read, info.default.0, "{}", info.key);
        }
    }

    #[test]
    fn the_bank_goes_before_the_program_and_the_trigger_before_the_bank() {
        let program = patch(&json!({"recall_max_tokens": 1000, "recall_include_chunks": false}))
            .expect("valid");
        let bank = patch(&json!({"recall_max_tokens": 3000})).expect("valid");
        let settings = BankSettings::resolve(&program, &bank);
        assert_eq!((settings.recall_max_tokens, settings.recall_include_chunks), (3000, false));
        let trigger = Trigger { recall_max_tokens: Some(4000), ..Trigger::default() };
        let settings = settings.for_trigger(&trigger);
        assert_eq!((settings.recall_max_tokens, settings.recall_include_chunks), (4000, false));
        assert_eq!(settings.retain_chunk_size, 3000);
    }

    #[test]
    fn a_patch_is_taken_whole_or_not_at_all() {
        let faults = patch(&json!({
            "no_such_key": 1,
            "disposition_empathy": 3.0,
            "retain_chunk_size": "3000",
            "delta_removal_limit": 1.5,
            "review_default": "later",
            "way_priority": {"smell": "low"},
            "enable_graph_retrieval": false,
        }))
        .expect_err("faults");
        let mut found: Vec<(&str, &str)> =
            faults.iter().map(|fault| (fault.reason(), fault.key())).collect();
        found.sort_unstable();
        assert_eq!(
            found,
            [
                ("setting_out_of_range", "delta_removal_limit"),
                ("setting_out_of_range", "disposition_empathy"),
                ("setting_out_of_range", "retain_chunk_size"),
                ("setting_out_of_range", "review_default"),
                ("setting_out_of_range", "way_priority"),
                ("unknown_setting", "no_such_key"),
            ]
        );
    }

    #[test]
    fn null_resets_and_foreign_keys_stay_without_effect() {
        let stored = StatedSettings::from_stored(&json!({
            "reflect_mission": "Help.", "from_elsewhere": [1], "retain_chunk_size": -4,
        }));
        let settings = BankSettings::resolve(&StatedSettings::default(), &stored);
        assert_eq!(settings.reflect_mission.as_deref(), Some("Help."));
        assert_eq!(settings.retain_chunk_size, 3000);
        let reset = json!({"reflect_mission": null});
        let after = stored.patched(reset.as_object().expect("an object")).expect("valid");
        assert_eq!(after.to_json(), json!({"from_elsewhere": [1], "retain_chunk_size": -4}));
    }

    #[test]
    fn budgets_follow_the_function() {
        let fixed = BankSettings::default();
        assert_eq!(fixed.candidates(Budget::Mid, 4096), 300);
        let adaptive = BankSettings {
            recall_budget_function: BudgetFunction::Adaptive,
            ..BankSettings::default()
        };
        assert_eq!(adaptive.candidates(Budget::Low, 4096), 102);
        assert_eq!(adaptive.candidates(Budget::Low, 10), 20);
        assert_eq!(adaptive.candidates(Budget::High, 100_000), 2000);
    }
}
