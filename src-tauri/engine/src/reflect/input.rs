//! Reads a question as it comes from outside: every fault is found before a run exists, and all of
//! them are told together. Nothing of the bank is read here.

use super::request::{ExcludedModels, ReflectRequest};
use crate::Result;
use crate::report::fault;
use crate::view::reflect::ReflectInput;
use domain::directives::{DirectiveReach, RunScope};
use domain::disposition::{Disposition, Trait};
use domain::reflect::Budget;
use domain::tag_group::{GroupReason, TagGroup, read_groups};
use domain::tags::{TagSet, TagsMatch};
use domain::{BankId, FieldFault, RunId};
use serde_json::Value;

/// Tokens of an answer where the question does not say.
const ANSWER_TOKENS: u32 = 4096;

/// The run that a question asks for.
///
/// # Errors
/// `invalid_request` with every fault by field; where all of them are one and the same fault of the
/// scope, its own reason.
pub(super) fn read(id: &RunId, bank: &BankId, input: &ReflectInput) -> Result<ReflectRequest> {
    let mut faults = Faults::default();
    let query = text(&input.query);
    if query.is_empty() {
        faults.plain("query", "blank", "Must not be empty.");
    }
    if input.max_tokens == Some(0) {
        faults.plain("max_tokens", "out_of_range", "Must be at least 1.");
    }
    if input.fact_types.as_ref().is_some_and(Vec::is_empty) {
        let message = "Leave it out for all; an empty list would read nothing.";
        faults.plain("fact_types", "empty_list", message);
    }
    let excluded = input.exclude_mental_model_ids.clone().unwrap_or_default();
    if excluded.iter().any(|id| id.as_str().trim().is_empty()) {
        faults.plain("exclude_mental_model_ids", "blank", "Must not be empty.");
    }
    if input.disposition.is_some_and(|disposition| !in_range(disposition)) {
        faults.plain("disposition", "out_of_range", "Must be between 1 and 5.");
    }
    let scope = scope(input, &mut faults);
    faults.none()?;
    Ok(ReflectRequest {
        context: input.context.as_deref().map(text).filter(|context| !context.is_empty()),
        budget: input.budget.unwrap_or(Budget::Low),
        max_tokens: input.max_tokens.unwrap_or(ANSWER_TOKENS),
        scope,
        fact_types: input.fact_types.clone(),
        exclude_models: ExcludedModels { all: input.exclude_mental_models, ids: excluded },
        directives: reach(input.apply_all_directives),
        disposition: input.disposition,
        response_schema: input.response_schema.clone().map(|schema| schema.0),
        ..ReflectRequest::question(id.clone(), bank.clone(), query)
    })
}

/// The scope of a question alone, judged as [`read`] judges it.
///
/// # Errors
/// As [`read`].
pub(super) fn scope_of(input: &ReflectInput) -> Result<RunScope> {
    let mut faults = Faults::default();
    let scope = scope(input, &mut faults);
    faults.none()?;
    Ok(scope)
}

/// What `apply_all_directives` asks for.
pub(super) fn reach(all: bool) -> DirectiveReach {
    if all { DirectiveReach::All } else { DirectiveReach::Scoped }
}

fn text(given: &str) -> String {
    given.replace('\0', "").trim().to_owned()
}

fn in_range(disposition: Disposition) -> bool {
    Trait::ALL.into_iter().all(|of| (1..=5).contains(&disposition.level(of)))
}

fn scope(input: &ReflectInput, faults: &mut Faults) -> RunScope {
    let tags = input.tags.as_deref().unwrap_or_default();
    if tags.iter().any(|tag| tag.trim().is_empty()) {
        faults.plain("tags", "blank", "Must not be empty.");
    }
    let word = input.tags_match.as_deref();
    let tags_match = word.map_or(Some(TagsMatch::Any), TagsMatch::from_word);
    if tags_match.is_none() {
        let message = format!("Must be one of {}.", TagsMatch::WORDS.join(", "));
        faults.own("unknown_match", "tags_match", "enum", &message, word);
    }
    if input.tags.is_some() && input.tag_groups.is_some() {
        let message = "Tags and tag groups cannot be used together.";
        faults.own("tags_and_tag_groups", "tag_groups", "exclusive", message, None);
    }
    RunScope {
        tags: TagSet::new(tags),
        tags_match: tags_match.unwrap_or(TagsMatch::Any),
        tag_groups: groups(input, faults),
        ..RunScope::default()
    }
}

fn groups(input: &ReflectInput, faults: &mut Faults) -> Vec<TagGroup> {
    let list: Vec<Value> = input.tag_groups.iter().flatten().map(|group| group.0.clone()).collect();
    read_groups(&list).unwrap_or_else(|found| {
        for one in found {
            let reason = match one.reason {
                GroupReason::BlankTag => None,
                reason => Some(reason.word()),
            };
            faults.push(reason, one.at("tag_groups"), unknown_word(&list, &one.path));
        }
        Vec::new()
    })
}

// The word at a place like `[0].or[1].match`, for the sentence that quotes it.
fn unknown_word(list: &[Value], path: &str) -> Option<String> {
    let pointer = path.replace('[', "/").replace(']', "").replace('.', "/");
    let whole = Value::Array(list.to_vec());
    whole.pointer(&pointer).map(|value| value.as_str().map_or(value.to_string(), str::to_owned))
}

#[derive(Default)]
struct Faults {
    fields: Vec<FieldFault>,
    // The reason that each has by itself, and the word that its sentence quotes.
    reasons: Vec<(Option<&'static str>, Option<String>)>,
}

impl Faults {
    fn push(&mut self, reason: Option<&'static str>, field: FieldFault, value: Option<String>) {
        self.fields.push(field);
        self.reasons.push((reason, value));
    }

    fn plain(&mut self, field: &str, code: &str, message: &str) {
        self.push(None, FieldFault::new(field, code, message), None);
    }

    fn own(
        &mut self,
        reason: &'static str,
        field: &str,
        code: &str,
        message: &str,
        value: Option<&str>,
    ) {
        self.push(Some(reason), FieldFault::new(field, code, message), value.map(str::to_owned));
    }

    fn none(self) -> Result<()> {
        let Some((first, value)) = self.reasons.first().cloned() else { return Ok(()) };
        let shared = first.filter(|_| self.reasons.iter().all(|(reason, _)| *reason == first));
        let reason = shared.unwrap_or("invalid_request");
        let fault = fault(reason).with("value", value.unwrap_or_default());
        Err(fault.fields(self.fields).into())
    }
}
