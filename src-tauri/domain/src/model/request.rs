//! Requests that create or change a mental model: what they may hold, and all that is wrong with them
//! at once. Whether an id is taken is the store's to say.

use serde_json::{Map, Value};

use super::{DEFAULT_MAX_TOKENS, MAX_ID_CHARS, Review, TOKENS};
use crate::tags::tags_in_order;
use crate::trigger::{FieldWarning, StatedTrigger, TriggerPatch, UnknownKeys, whole_number};
use crate::{FieldFault, ModelId};

/// A checked request to create a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateModel {
    /// Chosen by the caller, else made from `mm-` and 32 hex digits.
    pub id: Option<ModelId>,
    /// Trimmed.
    pub name: String,
    /// Trimmed.
    pub source_query: String,
    /// Content written by a person, kept byte for byte.
    pub content: Option<String>,
    /// In the order given, normalised.
    pub tags: Vec<String>,
    /// Tokens.
    pub max_tokens: u32,
    /// Stated keys.
    pub trigger: StatedTrigger,
    /// Stated, else the default of the door it came through.
    pub review: Review,
}

/// A checked request to change a model; what is not stated stays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the fields are those of CreateModel")]
pub struct UpdateModel {
    pub name: Option<String>,
    pub source_query: Option<String>,
    pub tags: Option<Vec<String>>,
    pub max_tokens: Option<u32>,
    pub trigger: Option<TriggerPatch>,
    pub review: Option<Review>,
}

impl UpdateModel {
    /// Whether it states nothing: `nothing_to_change`.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What the door a request came through presumes.
#[derive(Debug, Clone, Copy)]
pub struct CreateDefaults {
    /// Review when none is stated.
    pub review: Review,
    /// Tokens when none are stated: [`DEFAULT_MAX_TOKENS`] or [`PAGE_MAX_TOKENS`].
    pub max_tokens: u32,
    /// What unknown keys of the trigger are.
    pub unknown: UnknownKeys,
}

impl Default for CreateDefaults {
    fn default() -> Self {
        Self { review: Review::Auto, max_tokens: DEFAULT_MAX_TOKENS, unknown: UnknownKeys::Refuse }
    }
}

/// Reads a request to create a model. `base` lies under the stated trigger: nothing for a plain
/// model, the defaults of a page for a page.
///
/// # Errors
/// All faults at once.
pub fn read_create(
    input: &Value,
    defaults: CreateDefaults,
    base: &StatedTrigger,
) -> Result<(CreateModel, Vec<FieldWarning>), Vec<FieldFault>> {
    let mut form = Form::of(input)?;
    let id = form.id();
    let name = form.required_text("name");
    let source_query = form.required_text("source_query");
    let content = form.content();
    let tags = form.tags();
    let max_tokens = form.max_tokens();
    let review = form.review();
    let patch = form.trigger(defaults.unknown);
    form.finish()?;
    let patch = patch.unwrap_or_default();
    let created = CreateModel {
        id,
        name: name.unwrap_or_default(),
        source_query: source_query.unwrap_or_default(),
        content,
        tags: tags.unwrap_or_default(),
        max_tokens: max_tokens.unwrap_or(defaults.max_tokens),
        trigger: base.merged(&patch),
        review: review.unwrap_or(defaults.review),
    };
    Ok((created, patch.warnings))
}

/// Reads a request to change a model.
///
/// # Errors
/// All faults at once. An empty request is not a fault here ([`UpdateModel::is_empty`]).
pub fn read_update(input: &Value, unknown: UnknownKeys) -> Result<UpdateModel, Vec<FieldFault>> {
    let mut form = Form::of(input)?;
    let update = UpdateModel {
        name: form.stated("name").then(|| form.required_text("name")).flatten(),
        source_query: form
            .stated("source_query")
            .then(|| form.required_text("source_query"))
            .flatten(),
        tags: form.tags(),
        max_tokens: form.max_tokens(),
        review: form.review(),
        trigger: form.trigger(unknown).filter(|patch| !patch.is_empty()),
    };
    form.finish()?;
    Ok(update)
}

/// Whether a text is an id of the right form: `^[a-z0-9][a-z0-9-]*$`, at most 128 characters.
#[must_use]
pub fn is_model_id(id: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    id.len() <= MAX_ID_CHARS
        && id.bytes().next().is_some_and(inner)
        && id.bytes().all(|b| inner(b) || b == b'-')
}

/// A request being read: every getter notes its faults and goes on.
struct Form<'a> {
    map: &'a Map<String, Value>,
    faults: Vec<FieldFault>,
}

impl<'a> Form<'a> {
    fn of(input: &'a Value) -> Result<Self, Vec<FieldFault>> {
        let map = input.as_object();
        map.map(|map| Self { map, faults: Vec::new() })
            .ok_or_else(|| vec![FieldFault::wrong_type("", "an object")])
    }

    /// The value of a key, null being the same as not stated.
    fn value(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    fn stated(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    fn finish(self) -> Result<(), Vec<FieldFault>> {
        if self.faults.is_empty() { Ok(()) } else { Err(self.faults) }
    }

    fn id(&mut self) -> Option<ModelId> {
        let id = self.value("id")?;
        match id.as_str() {
            Some(id) if is_model_id(id) => return Some(ModelId::from(id)),
            Some(_) => self.faults.push(FieldFault::new(
                "id",
                "id_format",
                "Use lowercase letters, digits and hyphens, starting with a letter or digit.",
            )),
            None => self.faults.push(FieldFault::wrong_type("id", "text")),
        }
        None
    }

    fn required_text(&mut self, key: &str) -> Option<String> {
        match self.value(key) {
            None => self.faults.push(FieldFault::blank(key)),
            Some(Value::String(text)) if text.trim().is_empty() => {
                self.faults.push(FieldFault::blank(key));
            }
            Some(Value::String(text)) => return Some(text.trim().to_owned()),
            Some(_) => self.faults.push(FieldFault::wrong_type(key, "text")),
        }
        None
    }

    fn content(&mut self) -> Option<String> {
        let content = self.value("content")?;
        if content.as_str().is_none() {
            self.faults.push(FieldFault::wrong_type("content", "text"));
        }
        content.as_str().map(str::to_owned)
    }

    fn tags(&mut self) -> Option<Vec<String>> {
        let Some(list) = self.value("tags")?.as_array() else {
            self.faults.push(FieldFault::wrong_type("tags", "a list"));
            return None;
        };
        for (i, tag) in list.iter().enumerate() {
            let field = format!("tags[{i}]");
            match tag.as_str() {
                Some(tag) if !tag.trim().is_empty() => {}
                Some(_) => self.faults.push(FieldFault::blank(field)),
                None => self.faults.push(FieldFault::wrong_type(field, "text")),
            }
        }
        Some(tags_in_order(list.iter().filter_map(Value::as_str)))
    }

    fn max_tokens(&mut self) -> Option<u32> {
        let value = self.value("max_tokens")?;
        whole_number("max_tokens", value, *TOKENS.start(), Some(*TOKENS.end()))
            .map_err(|fault| self.faults.push(fault))
            .ok()
    }

    fn review(&mut self) -> Option<Review> {
        let review = self.value("review")?.as_str().and_then(Review::from_word);
        if review.is_none() {
            self.faults.push(FieldFault::not_one_of("review", &["auto", "manual"]));
        }
        review
    }

    fn trigger(&mut self, unknown: UnknownKeys) -> Option<TriggerPatch> {
        TriggerPatch::parse(self.value("trigger")?, unknown)
            .map_err(|faults| self.faults.extend(faults))
            .ok()
    }
}
