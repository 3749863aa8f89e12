//! What a question will take, told before it is asked and without a call: from what earlier questions
//! of its kind took in this bank, else worked out from the sizes of instructions and results.

use super::called::first_trace;
use super::instructions;
use super::prepare::{Prepared, prepare};
use super::request::ReflectRequest;
use crate::handle::read_bank;
use crate::view::reflect::ReflectEstimate;
use crate::{Engine, Result};
use domain::estimate::{EstimateInput, PastRun, estimate, from_runs};
use domain::tokens::{Cl100k, TokenCounter};
use domain::tool_calls::{RECALL, SEARCH_MENTAL_MODELS, SEARCH_OBSERVATIONS};
use domain::{BankId, RunId};
use std::collections::BTreeMap;

/// Earlier questions that are looked at.
const LOOKED_AT: u32 = 60;
/// Of these, the ones of the same kind that count.
const COUNTED: usize = 20;
/// Tokens of a fact or observation in a result, with its dates and tags.
const MEMORY_TOKENS: u32 = 60;
/// Documents that a search over mental models shows.
const MODELS_SHOWN: u32 = 5;

/// What `request` will take; with `before`, judged by the questions asked before that one.
pub(super) async fn of(
    engine: &Engine,
    request: &ReflectRequest,
    before: Option<RunId>,
) -> Result<ReflectEstimate> {
    let Some(chosen) = super::provider(engine).await? else {
        return Ok(ReflectEstimate { expected: None, runs: 0 });
    };
    let past = past(engine, &request.bank, request, before).await?;
    if let Some(expected) = from_runs(&past, None) {
        let runs = u32::try_from(past.len()).unwrap_or(u32::MAX);
        return Ok(ReflectEstimate { expected: Some(expected), runs });
    }
    let prepared = prepare(engine, request, !chosen.local).await?;
    let bank = prepared.bank.key;
    let held = engine
        .store()
        .read(move |tx| {
            let (models, _) =
                store::models::list(tx, bank, &store::tag_sets::TagSets::All, None, MODELS_SHOWN)?;
            let models = models.iter().filter_map(|model| model.document_tokens).sum();
            Ok(Held { memories: store::banks::counters(tx, bank)?, models })
        })
        .await?;
    let window = chosen.provider.caps().window;
    let input = sizes(engine, request, &prepared, &held, window)?;
    Ok(ReflectEstimate { expected: Some(estimate(&input)), runs: 0 })
}

/// What the bank can give.
struct Held {
    /// Facts and observations by kind.
    memories: BTreeMap<String, i64>,
    /// Tokens of the documents that a search would show.
    models: u32,
}

async fn past(
    engine: &Engine,
    bank: &BankId,
    request: &ReflectRequest,
    before: Option<RunId>,
) -> Result<Vec<PastRun>> {
    let costs = read_bank(engine, bank, move |tx, key| {
        store::runs::reflect_costs(tx, key, before.as_ref(), LOOKED_AT)
    })
    .await?;
    let (budget, structured) = (request.budget.word(), request.response_schema.is_some());
    Ok(costs
        .into_iter()
        .filter(|cost| cost.structured == structured)
        .filter(|cost| cost.budget.as_deref().unwrap_or("low") == budget)
        .take(COUNTED)
        .map(|cost| PastRun {
            calls: cost.calls,
            input_tokens: cost.input_tokens,
            output_tokens: cost.output_tokens,
        })
        .collect())
}

fn sizes(
    engine: &Engine,
    request: &ReflectRequest,
    prepared: &Prepared,
    held: &Held,
    window: Option<u32>,
) -> Result<EstimateInput> {
    let system = instructions::system(engine, request, prepared)?;
    let offered = instructions::offered(request, prepared);
    let offered = serde_json::to_string(&offered).unwrap_or_default();
    let count =
        |what: &str| held.memories.get(what).and_then(|n| u32::try_from(*n).ok()).unwrap_or(0);
    let facts = count("world").saturating_add(count("experience"));
    let bounded = |limit: u32, n: u32| limit.min(n.saturating_mul(MEMORY_TOKENS));
    let recall = bounded(prepared.defaults.recall_tokens, facts);
    let trace = first_trace(request, prepared);
    let forced_results = trace
        .forced_sequence
        .iter()
        .map(|tool| match tool.as_str() {
            SEARCH_MENTAL_MODELS => held.models,
            SEARCH_OBSERVATIONS => {
                bounded(prepared.defaults.observation_tokens, count("observation"))
            }
            _ => recall,
        })
        .collect();
    let limit = prepared.settings.reflect_max_context_tokens;
    Ok(EstimateInput {
        prompt_tokens: [&system, &request.query, &offered]
            .into_iter()
            .map(|text| Cl100k.count(text))
            .sum(),
        forced_results,
        recall_result: if prepared.tools.iter().any(|tool| tool == RECALL) { recall } else { 0 },
        budget: request.budget,
        iterations: trace.max_iterations,
        max_tokens: request.max_tokens,
        context_limit: domain::evidence::context_limit(limit, window),
        schema_tokens: request
            .response_schema
            .as_ref()
            .map(|schema| Cl100k.count(&schema.to_string())),
        early_release: prepared.tools.iter().any(|tool| tool == SEARCH_MENTAL_MODELS),
        prices: None,
    })
}
