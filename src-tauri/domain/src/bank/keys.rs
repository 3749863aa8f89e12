//! The table of setting keys: where each belongs, what values it takes. A bank's stated keys are
//! checked against it, and the settings page is drawn from it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::BankSettings;
use crate::consolidation::ScopeRule;
use crate::disposition::parse_level;
use crate::fusion::Way;
use crate::tags::tags_in_order;
use crate::{FieldFault, Json};

/// Why a key cannot be set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingFault {
    /// There is no such key.
    Unknown {
        /// The key.
        key: String,
    },
    /// It cannot have this value.
    OutOfRange {
        /// The key.
        key: String,
        /// What is allowed, in words.
        allowed: String,
    },
}

impl SettingFault {
    /// The reason's word.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "unknown_setting",
            Self::OutOfRange { .. } => "setting_out_of_range",
        }
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            Self::Unknown { key } | Self::OutOfRange { key, .. } => key,
        }
    }

    /// The fault as one of a form's field.
    #[must_use]
    pub fn field(&self) -> FieldFault {
        match self {
            Self::Unknown { key } => FieldFault::unknown_key(key.as_str()),
            Self::OutOfRange { key, allowed } => {
                FieldFault::new(key.as_str(), "out_of_range", format!("Allowed: {allowed}."))
            }
        }
    }
}

/// Where a setting is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the groups are the headings of the settings page")]
pub enum SettingGroup {
    Retain,
    Consolidation,
    Recall,
    Reflect,
    MentalModels,
}

/// What values a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum SettingKind {
    /// True or false.
    Flag,
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// One of some words.
    Word,
    /// Text of one or more lines.
    Text,
    /// A list of tags or names.
    List,
    /// A structure with a form of its own.
    Structure,
}

/// A setting, for the settings page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct SettingInfo {
    /// The key.
    pub key: String,
    /// Where it is found.
    pub group: SettingGroup,
    /// What values it takes.
    pub kind: SettingKind,
    /// The values in words, for example `1 to 50`.
    pub allowed: String,
    /// The words of a closed choice.
    pub words: Vec<String>,
    /// The program's default.
    pub default: Json,
}

#[derive(Clone, Copy)]
enum Rule {
    Flag,
    Whole(i32, i32),
    Share(u32, u32),
    Word(&'static [&'static str]),
    Text,
    Level,
    Tags,
    Names,
    Labels,
    Scopes,
    ScopeLimits,
    Ways,
    Object,
}

/// No upper bound worth naming.
const MANY: i32 = i32::MAX;

type Row = (&'static str, SettingGroup, Rule);

const KEYS: &[Row] = {
    use Rule::{Flag, Labels, Level, Names, Object, ScopeLimits, Scopes, Share, Tags, Text, Ways};
    use Rule::{Whole, Word};
    use SettingGroup::{Consolidation, MentalModels, Recall, Reflect, Retain};
    &[
        ("retain_chunk_size", Retain, Whole(200, 100_000)),
        ("retain_structured_chunk_size", Retain, Whole(200, 1_000_000)),
        (
            "retain_extraction_mode",
            Retain,
            Word(&["concise", "verbose", "custom", "verbatim", "chunks"]),
        ),
        ("retain_mission", Retain, Text),
        ("retain_custom_instructions", Retain, Text),
        ("retain_extract_causal_links", Retain, Flag),
        ("entity_labels", Retain, Labels),
        ("entities_allow_free_form", Retain, Flag),
        ("store_document_text", Retain, Flag),
        ("default_timezone", Retain, Text),
        ("llm_output_language", Retain, Text),
        ("default_observation_scopes", Retain, Scopes),
        ("enable_observations", Consolidation, Flag),
        ("enable_auto_consolidation", Consolidation, Flag),
        ("observations_mission", Consolidation, Text),
        ("consolidation_llm_batch_size", Consolidation, Whole(1, 100)),
        ("consolidation_max_memories_per_round", Consolidation, Whole(1, MANY)),
        ("consolidation_dedup_threshold", Consolidation, Share(0, 1)),
        ("max_observations_per_scope", Consolidation, Whole(-1, MANY)),
        ("observation_scope_limits", Consolidation, ScopeLimits),
        ("observation_history_max_entries", Consolidation, Whole(0, 10_000)),
        ("invalidate", Consolidation, Word(&["strict", "surgical"])),
        ("enable_text_search", Recall, Flag),
        ("recall_prefer_observations", Recall, Flag),
        ("enable_temporal_retrieval", Recall, Flag),
        ("enable_graph_retrieval", Recall, Flag),
        ("enable_reranking", Recall, Flag),
        ("recall_budget_function", Recall, Word(&["fixed", "adaptive"])),
        ("recall_budget_fixed_low", Recall, Whole(1, 10_000)),
        ("recall_budget_fixed_mid", Recall, Whole(1, 10_000)),
        ("recall_budget_fixed_high", Recall, Whole(1, 10_000)),
        ("recall_budget_adaptive_low", Recall, Share(0, 10)),
        ("recall_budget_adaptive_mid", Recall, Share(0, 10)),
        ("recall_budget_adaptive_high", Recall, Share(0, 10)),
        ("recall_budget_min", Recall, Whole(1, 10_000)),
        ("recall_budget_max", Recall, Whole(1, 10_000)),
        ("recency_decay_function", Recall, Word(&["linear", "exponential", "none"])),
        ("way_priority", Recall, Ways),
        ("reflect_mission", Reflect, Text),
        ("disposition_skepticism", Reflect, Level),
        ("disposition_literalism", Reflect, Level),
        ("disposition_empathy", Reflect, Level),
        ("reflect_max_iterations", Reflect, Whole(1, 100)),
        ("reflect_max_context_tokens", Reflect, Whole(4_000, 10_000_000)),
        ("reflect_wall_timeout", Reflect, Whole(1, 86_400)),
        ("reflect_max_completion_tokens", Reflect, Whole(1, MANY)),
        ("reflect_directive_check", Reflect, Flag),
        ("reflect_source_facts_max_tokens", Reflect, Whole(-1, MANY)),
        ("reflect_search_observations_max_tokens", Reflect, Whole(1, MANY)),
        ("reflect_search_observations_include_entities", Reflect, Flag),
        ("recall_max_tokens", Reflect, Whole(1, MANY)),
        ("recall_include_chunks", Reflect, Flag),
        ("recall_chunks_max_tokens", Reflect, Whole(1, MANY)),
        ("recall_max_query_tokens", Reflect, Whole(1, 100_000)),
        ("reflect_default_options", Reflect, Object),
        ("mcp_enabled_tools", Reflect, Names),
        ("mental_model_min_refresh_interval_seconds", MentalModels, Whole(0, MANY)),
        ("enable_mental_model_history", MentalModels, Flag),
        ("mental_model_history_max_entries", MentalModels, Whole(-1, 100_000)),
        ("review_default", MentalModels, Word(&["auto", "manual"])),
        ("delta_removal_limit", MentalModels, Share(0, 1)),
        ("full_citation_loss_limit", MentalModels, Share(0, 1)),
        ("refresh_history_max_entries", MentalModels, Whole(1, 100_000)),
        ("reflect_history_max_entries", MentalModels, Whole(1, 100_000)),
        ("daily_token_ceiling", MentalModels, Whole(1, MANY)),
        ("local_only_tags", MentalModels, Tags),
    ]
};

/// Every setting, in the order of the settings page.
#[must_use]
pub fn catalogue() -> Vec<SettingInfo> {
    let defaults = serde_json::to_value(BankSettings::default()).unwrap_or_default();
    KEYS.iter()
        .map(|(key, group, rule)| SettingInfo {
            key: (*key).to_owned(),
            group: *group,
            kind: rule.kind(),
            allowed: rule.allowed(),
            words: match rule {
                Rule::Word(words) => words.iter().map(|word| (*word).to_owned()).collect(),
                _ => Vec::new(),
            },
            default: Json(defaults.get(*key).cloned().unwrap_or_default()),
        })
        .collect()
}

/// The normal form of a key's value; null for a key that is to be reset.
pub(super) fn read(key: &str, value: &Value) -> Result<Value, SettingFault> {
    let row = KEYS.iter().find(|(name, _, _)| *name == key);
    let (_, _, rule) = row.ok_or_else(|| SettingFault::Unknown { key: key.to_owned() })?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    rule.read(value)
        .ok_or_else(|| SettingFault::OutOfRange { key: key.to_owned(), allowed: rule.allowed() })
}

impl Rule {
    fn kind(self) -> SettingKind {
        match self {
            Self::Flag => SettingKind::Flag,
            Self::Whole(..) | Self::Level => SettingKind::Whole,
            Self::Share(..) => SettingKind::Number,
            Self::Word(_) => SettingKind::Word,
            Self::Text => SettingKind::Text,
            Self::Tags | Self::Names => SettingKind::List,
            Self::Labels | Self::Scopes | Self::ScopeLimits | Self::Ways | Self::Object => {
                SettingKind::Structure
            }
        }
    }

    fn allowed(self) -> String {
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Whole(min, MANY) => format!("whole numbers from {min}"),
            Self::Whole(min, max) => format!("whole numbers from {min} to {max}"),
            Self::Share(min, max) => format!("numbers from {min} to {max}"),
            Self::Word(words) => words.join(", "),
            Self::Text => "text".to_owned(),
            Self::Level => "whole numbers from 1 to 5".to_owned(),
            Self::Tags => "a list of tags".to_owned(),
            Self::Names => "a list of names".to_owned(),
            Self::Labels => "a list of label groups with key, type and values".to_owned(),
            Self::Scopes => {
                "combined, per_tag, all_combinations, shared, or a list of lists of tags".to_owned()
            }
            Self::ScopeLimits => "a list of rules with scope and limit from -1".to_owned(),
            Self::Ways => {
                "low, medium or high for semantic, keyword, graph and temporal".to_owned()
            }
            Self::Object => "an object".to_owned(),
        }
    }

    /// The normal form, or nothing where the value does not fit. Blank text is the same as none.
    fn read(self, value: &Value) -> Option<Value> {
        match self {
            Self::Flag => value.is_boolean().then(|| value.clone()),
            Self::Whole(min, max) => {
                let number = value.as_i64().and_then(|n| i32::try_from(n).ok())?;
                (min..=max).contains(&number).then(|| Value::from(number))
            }
            Self::Share(min, max) => {
                let number = value.as_f64()?;
                (f64::from(min)..=f64::from(max)).contains(&number).then(|| Value::from(number))
            }
            Self::Word(words) => {
                value.as_str().filter(|word| words.contains(word)).map(Value::from)
            }
            Self::Text => value.as_str().map(|text| match text.trim() {
                "" => Value::Null,
                text => Value::from(text),
            }),
            Self::Level => parse_level(value).ok().map(Value::from),
            Self::Tags => strings(value).map(|tags| Value::from(tags_in_order(tags))),
            Self::Names => strings(value).map(Value::from),
            Self::Labels => labels(value).then(|| value.clone()),
            Self::Scopes => ScopeRule::parse(value).ok().map(|_| value.clone()),
            Self::ScopeLimits => scope_limits(value).then(|| value.clone()),
            Self::Ways => ways(value).then(|| value.clone()),
            Self::Object => value.is_object().then(|| value.clone()),
        }
    }
}

/// A list of texts, none of them blank.
fn strings(value: &Value) -> Option<Vec<String>> {
    let list = value.as_array()?;
    list.iter()
        .map(|item| item.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned))
        .collect()
}

fn labels(value: &Value) -> bool {
    let Ok(groups) = serde_json::from_value::<Vec<super::LabelGroup>>(value.clone()) else {
        return false;
    };
    let mut keys: Vec<&str> = groups.iter().map(|group| group.key.trim()).collect();
    keys.sort_unstable();
    !keys.contains(&"") && keys.windows(2).all(|pair| pair[0] != pair[1])
}

fn scope_limits(value: &Value) -> bool {
    serde_json::from_value::<Vec<crate::consolidation::ScopeLimit>>(value.clone())
        .is_ok_and(|rules| rules.iter().all(|rule| rule.limit >= -1 && !rule.scope.is_empty()))
}

fn ways(value: &Value) -> bool {
    let priority =
        |word: &Value| word.as_str().is_some_and(|w| ["low", "medium", "high"].contains(&w));
    let fits = |map: &Map<String, Value>| {
        map.iter().all(|(way, word)| Way::from_word(way).is_some() && priority(word))
    };
    value.as_object().is_some_and(fits)
}
