//! What the form of a model is told while it is filled in: how many memories its scope reads now,
//! when its schedule comes due, whether its schema can be used and what comes of trying it. Nothing
//! here writes, and every rule is the one that saving applies.

use super::{lifecycle, loaded};
use crate::events::NoSink;
use crate::handle::read_bank;
use crate::models::refresh::structured;
use crate::reflect::caller::Caller;
use crate::reflect::structured as extraction;
use crate::report::fault;
use crate::view::form::{MatchReach, NextRuns, SchemaProblem, SchemaTry, ScopeReach, TagPair};
use crate::view::model::NewModel;
use crate::{Engine, Result};
use domain::cron::Cron;
use domain::schema::{check_response_schema, field_faults, validate_response_schema};
use domain::scope::Scope;
use domain::tags::{TagsMatch, written_otherwise};
use domain::{BankId, FactType, FieldFault, Json, ModelId};
use store::tag_sets::TagSets;
use tokio_util::sync::CancellationToken;

/// Occurrences of a schedule that a form shows.
const RUNS_SHOWN: usize = 5;

/// How many memories a model of these settings would read now, and under each other way to match
/// its tags. One pass over the counts of tag sets answers all of them.
///
/// # Errors
/// `invalid_request`, `bank_not_found`.
pub(super) async fn scope_reach(
    engine: &Engine,
    bank: &BankId,
    input: NewModel,
) -> Result<ScopeReach> {
    let (checked, _) = lifecycle::checked(&input)?;
    let trigger = checked.trigger.effective();
    let id = checked.id.as_ref().map_or("new", ModelId::as_str);
    let scope = Scope::resolve(id, &checked.tags, &trigger);
    read_bank(engine, bank, move |tx, key| {
        let counts = store::freshness::counts(tx, key)?;
        let reach = |scope: &Scope| -> store::Result<u32> {
            let within = loaded::search_scope(tx, key, scope)?;
            Ok(counts.within(&within.types, &within.tag_sets))
        };
        let by_match = if scope.tag_groups.is_some() {
            Vec::new()
        } else {
            let each = |tags_match| {
                let other = Scope { tags_match, ..scope.clone() };
                Ok(MatchReach { tags_match, memories: reach(&other)? })
            };
            TagsMatch::ALL.into_iter().map(each).collect::<store::Result<_>>()?
        };
        let known = store::tag_sets::tag_counts(tx, key)?;
        let known = || known.iter().map(|(name, _)| name.as_str());
        let pair = |tag: &String| {
            // One that memories carry as it is written is meant as it is written.
            let other = written_otherwise(tag, known()).filter(|_| !known().any(|it| it == tag))?;
            Some(TagPair { tag: tag.clone(), other: other.to_owned() })
        };
        Ok(ScopeReach {
            memories: reach(&scope)?,
            of: counts.within(&FactType::ALL, &TagSets::All),
            tags_match: scope.tags_match,
            by_match,
            written_otherwise: checked.tags.iter().filter_map(pair).collect(),
        })
    })
    .await
}

/// When a schedule comes due next, or what is wrong with it.
pub(super) fn next_runs(engine: &Engine, expression: &str) -> NextRuns {
    match Cron::parse(expression.trim()) {
        Ok(cron) => NextRuns { at: cron.next_runs(engine.now(), RUNS_SHOWN), fault: None },
        Err(fault) => NextRuns {
            at: Vec::new(),
            fault: Some(FieldFault::new("trigger.refresh_cron", fault.word(), fault.message())),
        },
    }
}

/// Everything that is wrong with a schema, in the order of its places.
pub(super) fn check_schema(schema: &Json) -> Vec<SchemaProblem> {
    let faults = validate_response_schema(&schema.0);
    faults
        .into_iter()
        .map(|fault| SchemaProblem {
            pointer: fault.path,
            code: fault.code.to_owned(),
            message: fault.message,
        })
        .collect()
}

/// Extracts the fields of a schema that is not saved yet from a text, which may be that of `model`.
/// Nothing is kept.
///
/// # Errors
/// `invalid_schema` with its fields, `llm_not_configured` without a language model,
/// `structured_output_failed` with what could not be used, or because the model's document must not
/// leave this machine and the language model is elsewhere.
pub(super) async fn try_schema(
    engine: &Engine,
    model: Option<(&BankId, &ModelId)>,
    schema: &Json,
    text: &str,
) -> Result<SchemaTry> {
    let checked = check_response_schema(&schema.0).map_err(|faults| {
        fault("invalid_schema").fields(field_faults("trigger.response_schema", &faults))
    })?;
    let Some(chosen) = crate::reflect::provider(engine).await? else {
        return Err(fault("llm_not_configured").into());
    };
    if let Some((bank, model)) = model
        && !chosen.local
        && structured::stays_here(engine, bank, model, Vec::new()).await?
    {
        return Err(fault("structured_output_failed").detail(structured::STAYS_HERE).into());
    }
    let started = engine.clock().ticks_ms();
    let mut sink = NoSink;
    let mut caller = Caller {
        engine,
        provider: chosen.provider,
        sink: &mut sink,
        cancel: CancellationToken::new(),
        urgency: llm::Urgency::Asked,
        calls: Vec::new(),
    };
    let extracted = extraction::extract(&mut caller, &checked, text, extraction::LIMIT).await?;
    let tokens = caller.calls.iter().map(|call| call.input_tokens + call.output_tokens).sum();
    let took = engine.clock().ticks_ms().saturating_sub(started);
    match extracted {
        Ok(value) => Ok(SchemaTry {
            value: value.map(Json),
            tokens,
            duration_ms: u32::try_from(took).unwrap_or(u32::MAX),
        }),
        Err(error) => Err(fault("structured_output_failed").detail(&error.message).into()),
    }
}
