//! The trigger of a mental model: when it refreshes, how, and what it may read. What is kept is a
//! set of stated keys; what is acted on is the effective [`Trigger`] with the defaults filled in.
//! Reading, merging and defaults only: nothing here schedules or refreshes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::cron::Cron;
use crate::memory::FactType;
use crate::reflect::Budget;
use crate::tag_group::{Resolve, TagGroup, leaves_of, read_groups};
use crate::tags::TagsMatch;
use crate::{FieldFault, Json, schema};

/// How a refresh treats the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum RefreshMode {
    /// Rebuilds it.
    #[default]
    Full,
    /// Edits it with typed operations.
    Delta,
}

/// What follows when delta refreshes keep being refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum DeltaFailurePolicy {
    /// The next refresh is a full one that ends as a proposal.
    #[default]
    ProposeFull,
    /// The next refresh tries a delta again.
    Fail,
}

/// The effective trigger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct Trigger {
    /// Rebuild or edit.
    pub mode: RefreshMode,
    /// Refresh when a consolidation touched the scope.
    pub refresh_after_consolidation: bool,
    /// Five fields, UTC.
    pub refresh_cron: Option<String>,
    /// Seconds; null for the bank's value, 0 for no interval.
    pub min_refresh_interval_seconds: Option<u32>,
    /// Null for all three.
    pub fact_types: Option<Vec<FactType>>,
    /// Null for `all_strict` if the model has tags, else `any`.
    pub tags_match: Option<TagsMatch>,
    /// Takes the place of the model's flat tags.
    pub tag_groups: Option<Vec<TagGroup>>,
    /// Do not read other mental models.
    pub exclude_mental_models: bool,
    /// Do not read these; the model itself is always left out.
    pub exclude_mental_model_ids: Option<Vec<String>>,
    /// Null for the bank's value.
    pub include_chunks: Option<bool>,
    /// Tokens; null for the bank's value.
    pub recall_max_tokens: Option<u32>,
    /// Tokens; null for the bank's value.
    pub recall_chunks_max_tokens: Option<u32>,
    /// The caller's own text of a JSON Schema.
    pub response_schema: Option<Json>,
    /// Keep the trace of every run.
    pub keep_trace: bool,
    /// Null for `mid`.
    pub budget: Option<Budget>,
    /// A second schedule on which a delta model is rebuilt in full.
    pub full_refresh_cron: Option<String>,
    /// Tokens; null for the bank's value.
    pub reflect_search_observations_max_tokens: Option<u32>,
    /// Null for the bank's value.
    pub reflect_search_observations_include_entities: Option<bool>,
    /// What follows when deltas keep being refused.
    pub delta_failure_policy: DeltaFailurePolicy,
    /// How many refused deltas in a row are too many; at least 1.
    pub delta_failure_limit: u32,
}

impl Default for Trigger {
    fn default() -> Self {
        Self {
            mode: RefreshMode::Full,
            refresh_after_consolidation: false,
            refresh_cron: None,
            min_refresh_interval_seconds: None,
            fact_types: None,
            tags_match: None,
            tag_groups: None,
            exclude_mental_models: false,
            exclude_mental_model_ids: None,
            include_chunks: None,
            recall_max_tokens: None,
            recall_chunks_max_tokens: None,
            response_schema: None,
            keep_trace: false,
            budget: None,
            full_refresh_cron: None,
            reflect_search_observations_max_tokens: None,
            reflect_search_observations_include_entities: None,
            delta_failure_policy: DeltaFailurePolicy::ProposeFull,
            delta_failure_limit: 3,
        }
    }
}

impl Trigger {
    /// Whether anything but a person starts a refresh.
    #[must_use]
    pub fn is_automatic(&self) -> bool {
        self.refresh_after_consolidation
            || self.refresh_cron.is_some()
            || self.full_refresh_cron.is_some()
    }

    /// The budget of a refresh.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.budget.unwrap_or(Budget::Mid)
    }
}

/// What a key holds: how its value is read.
#[derive(Clone, Copy)]
enum Kind {
    Flag,
    Word(&'static [&'static str]),
    Number { min: u32 },
    Schedule,
    FactTypes,
    Groups,
    Ids,
    Schema,
}

/// Every key of a trigger, in the order of the specification.
const KEYS: [(&str, Kind); 20] = [
    ("mode", Kind::Word(&["full", "delta"])),
    ("refresh_after_consolidation", Kind::Flag),
    (CRON, Kind::Schedule),
    ("min_refresh_interval_seconds", Kind::Number { min: 0 }),
    ("fact_types", Kind::FactTypes),
    ("tags_match", Kind::Word(&TagsMatch::WORDS)),
    ("tag_groups", Kind::Groups),
    ("exclude_mental_models", Kind::Flag),
    ("exclude_mental_model_ids", Kind::Ids),
    ("include_chunks", Kind::Flag),
    ("recall_max_tokens", Kind::Number { min: 1 }),
    ("recall_chunks_max_tokens", Kind::Number { min: 1 }),
    ("response_schema", Kind::Schema),
    ("keep_trace", Kind::Flag),
    ("budget", Kind::Word(&["low", "mid", "high"])),
    ("full_refresh_cron", Kind::Schedule),
    ("reflect_search_observations_max_tokens", Kind::Number { min: 1 }),
    ("reflect_search_observations_include_entities", Kind::Flag),
    ("delta_failure_policy", Kind::Word(&["propose_full", "fail"])),
    ("delta_failure_limit", Kind::Number { min: 1 }),
];
const CRON: &str = "refresh_cron";
const AFTER: &str = "refresh_after_consolidation";

/// What to do with keys that do not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownKeys {
    /// A fault: in the program's own commands a typo must not silently disable a rule.
    Refuse,
    /// Left out with a warning: over the wire, for clients newer than us.
    Ignore,
}

/// A remark about an accepted value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct FieldWarning {
    /// Dotted path.
    pub field: String,
    /// Stable word: `unknown_key`, `redundant`, `ignored` or `scope_changed_watermark_reset`.
    pub code: String,
    /// One sentence for a person.
    pub message: String,
}

impl FieldWarning {
    /// A warning from its three parts.
    pub fn new(field: impl Into<String>, code: &str, message: impl Into<String>) -> Self {
        Self { field: field.into(), code: code.to_owned(), message: message.into() }
    }
}

/// A validated patch of a trigger: normal values of stated keys, null for keys to reset.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TriggerPatch {
    keys: Map<String, Value>,
    /// What is worth telling the client.
    pub warnings: Vec<FieldWarning>,
}

impl TriggerPatch {
    /// Reads a trigger or a patch of one; null is the same as an empty object.
    ///
    /// # Errors
    /// Every fault, with fields below `trigger`.
    pub fn parse(input: &Value, unknown: UnknownKeys) -> Result<Self, Vec<FieldFault>> {
        let empty = Map::new();
        let map = match input {
            Value::Null => &empty,
            Value::Object(map) => map,
            _ => return Err(vec![FieldFault::wrong_type("trigger", "an object")]),
        };
        let mut patch = Self::default();
        let mut faults = Vec::new();
        for (key, value) in map {
            let field = format!("trigger.{key}");
            match (kind_of(key), unknown) {
                (Some(kind), _) => match kind.read(&field, value) {
                    Ok(value) => {
                        patch.keys.insert(key.clone(), value);
                    }
                    Err(found) => faults.extend(found),
                },
                (None, UnknownKeys::Refuse) => faults.push(FieldFault::unknown_key(field)),
                (None, UnknownKeys::Ignore) => patch.warnings.push(FieldWarning::new(
                    field,
                    "unknown_key",
                    "There is no field of this name; it was left out.",
                )),
            }
        }
        let states =
            |key: &str, wanted: &dyn Fn(&Value) -> bool| patch.keys.get(key).is_some_and(wanted);
        if states(CRON, &Value::is_string) && states(AFTER, &|v| *v == Value::Bool(true)) {
            faults.push(FieldFault::new(
                "trigger",
                "exclusive",
                "Choose a schedule or after consolidation, not both.",
            ));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        if states("exclude_mental_models", &|v| *v == Value::Bool(true))
            && states("exclude_mental_model_ids", &Value::is_array)
        {
            patch.warnings.push(FieldWarning::new(
                "trigger.exclude_mental_model_ids",
                "redundant",
                "All mental models are left out already.",
            ));
        }
        Ok(patch)
    }

    /// Whether the patch states nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}

/// The stated keys of a stored trigger, in normal form.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct StatedTrigger(Map<String, Value>);

impl StatedTrigger {
    /// Reads what the file holds. A value that does not fit its key, or a key nobody knows, is
    /// ignored and named in the warnings; a stored trigger is never fatal.
    #[must_use]
    pub fn from_stored(stored: &Value) -> (Self, Vec<FieldWarning>) {
        let mut kept = Map::new();
        let mut ignored = Vec::new();
        for (key, value) in stored.as_object().into_iter().flatten() {
            let field = format!("trigger.{key}");
            match kind_of(key).map(|kind| kind.read(&field, value)) {
                Some(Ok(Value::Null)) => {}
                Some(Ok(value)) => {
                    kept.insert(key.clone(), value);
                }
                _ => ignored.push(FieldWarning::new(
                    field,
                    "ignored",
                    "The stored value cannot be used; the default holds.",
                )),
            }
        }
        (Self(kept), ignored)
    }

    /// The defaults of a knowledge-base page, which lie under what its creator states.
    #[must_use]
    pub fn page_defaults() -> Self {
        let keys = serde_json::json!({
            "mode": "delta",
            "fact_types": ["observation"],
            "exclude_mental_models": true,
            AFTER: true,
        });
        Self(keys.as_object().cloned().unwrap_or_default())
    }

    /// Lays a patch over the stated keys: a value replaces, null resets. Switching on one of
    /// `refresh_cron` and `refresh_after_consolidation` without stating the other clears the other.
    /// Merging the same patch twice is merging it once.
    #[must_use]
    pub fn merged(&self, patch: &TriggerPatch) -> Self {
        let mut keys = self.0.clone();
        for (key, value) in &patch.keys {
            if value.is_null() {
                keys.remove(key);
            } else {
                keys.insert(key.clone(), value.clone());
            }
        }
        if patch.keys.get(CRON).is_some_and(Value::is_string) && !patch.keys.contains_key(AFTER) {
            keys.remove(AFTER);
        }
        if patch.keys.get(AFTER) == Some(&Value::Bool(true)) && !patch.keys.contains_key(CRON) {
            keys.remove(CRON);
        }
        Self(keys)
    }

    /// The trigger that a model acts on. Should both automatic triggers be stated after all, by
    /// other means than this module, the schedule holds.
    #[must_use]
    pub fn effective(&self) -> Trigger {
        let mut trigger: Trigger =
            serde_json::from_value(Value::Object(self.0.clone())).unwrap_or_default();
        if trigger.refresh_cron.is_some() {
            trigger.refresh_after_consolidation = false;
        }
        trigger
    }

    /// The stated keys, sorted.
    #[must_use]
    pub fn stated_keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = self.0.keys().cloned().collect();
        keys.sort();
        keys
    }

    /// What the file stores.
    #[must_use]
    pub fn to_json(&self) -> Value {
        Value::Object(self.0.clone())
    }
}

fn kind_of(key: &str) -> Option<Kind> {
    KEYS.iter().find(|(name, _)| *name == key).map(|(_, kind)| *kind)
}

impl Kind {
    /// The normal form of a value; null resets any key.
    fn read(self, field: &str, value: &Value) -> Result<Value, Vec<FieldFault>> {
        if value.is_null() {
            return Ok(Value::Null);
        }
        let one = |fault: FieldFault| vec![fault];
        match self {
            Self::Flag if value.is_boolean() => Ok(value.clone()),
            Self::Flag => Err(one(FieldFault::wrong_type(field, "true or false"))),
            Self::Word(words) => match value.as_str() {
                Some(word) if words.contains(&word) => Ok(value.clone()),
                _ => Err(one(FieldFault::not_one_of(field, words))),
            },
            Self::Number { min } => {
                whole_number(field, value, min, None).map(Value::from).map_err(one)
            }
            Self::Schedule => schedule(field, value).map_err(one),
            Self::FactTypes => fact_types(field, value).map_err(one),
            Self::Groups => groups(field, value),
            Self::Ids => strings(field, value),
            Self::Schema => {
                let faults = schema::validate_response_schema(value);
                if faults.is_empty() {
                    Ok(value.clone())
                } else {
                    Err(schema::field_faults(field, &faults))
                }
            }
        }
    }
}

/// A whole number of `min..=max`. A float without a fraction is one; a boolean is not.
///
/// # Errors
/// `type` for what is no whole number, `out_of_range` for what is.
pub fn whole_number(
    field: &str,
    value: &Value,
    min: u32,
    max: Option<u32>,
) -> Result<u32, FieldFault> {
    let number = value.as_f64().filter(|n| value.is_number() && n.fract() == 0.0);
    let Some(number) = number else {
        return Err(FieldFault::wrong_type(field, "a whole number"));
    };
    let out = || FieldFault::out_of_range(field, min, max);
    if number < f64::from(min) || number > f64::from(max.unwrap_or(u32::MAX)) {
        return Err(out());
    }
    format!("{number:.0}").parse().map_err(|_| out())
}

fn schedule(field: &str, value: &Value) -> Result<Value, FieldFault> {
    let text = value.as_str().ok_or_else(|| FieldFault::wrong_type(field, "text"))?;
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    match Cron::parse(text) {
        Ok(_) => Ok(Value::from(text.trim())),
        Err(fault) => Err(FieldFault::new(field, fault.word(), fault.message())),
    }
}

fn fact_types(field: &str, value: &Value) -> Result<Value, FieldFault> {
    let list = value.as_array().ok_or_else(|| FieldFault::wrong_type(field, "a list"))?;
    if list.is_empty() {
        return Err(FieldFault::empty_list(field));
    }
    let mut kinds: Vec<Value> = Vec::new();
    for word in list {
        if word.as_str().and_then(FactType::from_word).is_none() {
            return Err(FieldFault::not_one_of(field, &FactType::ALL.map(FactType::word)));
        }
        if !kinds.contains(word) {
            kinds.push(word.clone());
        }
    }
    Ok(Value::Array(kinds))
}

fn groups(field: &str, value: &Value) -> Result<Value, Vec<FieldFault>> {
    let Some(list) = value.as_array() else {
        return Err(vec![FieldFault::wrong_type(field, "a list")]);
    };
    if list.is_empty() {
        return Err(vec![FieldFault::empty_list(field)]);
    }
    let groups: Vec<TagGroup> = read_groups(list)
        .map_err(|faults| faults.iter().map(|fault| fault.at(field)).collect::<Vec<_>>())?;
    let mut fuzzy = Vec::new();
    leaves_of(&groups, |path, leaf| {
        if leaf.resolve == Resolve::Fuzzy {
            let field = format!("{field}{path}.resolve");
            fuzzy.push(FieldFault::new(
                field,
                "fuzzy_in_trigger",
                "A stored scope needs exact tags.",
            ));
        }
    });
    if !fuzzy.is_empty() {
        return Err(fuzzy);
    }
    serde_json::to_value(groups)
        .map_err(|_| vec![FieldFault::wrong_type(field, "a list of tag groups")])
}

fn strings(field: &str, value: &Value) -> Result<Value, Vec<FieldFault>> {
    let list = value.as_array().ok_or_else(|| vec![FieldFault::wrong_type(field, "a list")])?;
    let faults: Vec<FieldFault> = list
        .iter()
        .enumerate()
        .filter(|(_, item)| !item.is_string())
        .map(|(i, _)| FieldFault::wrong_type(format!("{field}[{i}]"), "text"))
        .collect();
    if faults.is_empty() { Ok(value.clone()) } else { Err(faults) }
}
