//! Search as the memories screen shows it: hits with what each way said, and the mental models that
//! bear on the query.

use super::rows;
use super::search::{self, SearchOutcome, SearchRequest};
use crate::handle::read_bank;
use crate::report::fault;
use crate::view::memory::ModelRef;
use crate::view::recall::{
    RecallHit, RecallInput, RecallView, TimeWindow, Way, WayRank, WaySkipped,
};
use crate::{Engine, Result};
use domain::reflect::Budget;
use domain::tag_group::TagFilter;
use domain::tags::{TagSet, TagsMatch};
use domain::{BankId, fusion};
use std::collections::BTreeMap;
use tokio_util::sync::CancellationToken;

/// Models that a recall shows (memory 12).
const MODELS: usize = 5;

/// Searches for a screen.
///
/// # Errors
/// `bank_not_found`, `no_types`, `unknown_match`, and whatever failed in one of the ways.
pub(super) async fn recall(
    engine: &Engine,
    bank: &BankId,
    input: RecallInput,
) -> Result<RecallView> {
    let start = engine.clock().ticks_ms();
    let only = input.way;
    let request = request(bank, input)?;
    let (query, filter) = (request.query.clone(), request.filter.clone());
    let outcome = search::search(engine, request, &CancellationToken::new()).await?;
    let models = models(engine, bank, query, filter, outcome.vector.clone()).await?;
    let duration = engine.clock().ticks_ms().saturating_sub(start);
    let mut view = view(outcome, models, u32::try_from(duration).unwrap_or(u32::MAX));
    if let Some(way) = only {
        keep_only(&mut view, way);
    }
    Ok(view)
}

fn request(bank: &BankId, input: RecallInput) -> Result<SearchRequest> {
    let tags_match = match input.tags_match.as_deref() {
        None => TagsMatch::Any,
        Some(word) => {
            TagsMatch::from_word(word).ok_or_else(|| fault("unknown_match").with("value", word))?
        }
    };
    let budget = input.budget.unwrap_or(Budget::Mid);
    let mut request = SearchRequest::new(bank.clone(), input.query, budget);
    request.filter = TagFilter { tags: TagSet::new(&input.tags), tags_match, ..TagFilter::none() };
    if let Some(types) = input.fact_types {
        request.fact_types = types;
    }
    // What one way puts last, all four together may put first: the cut comes after the choice.
    if input.max_tokens.is_some() || input.way.is_some() {
        request.max_tokens = input.max_tokens;
    }
    Ok(request)
}

fn view(outcome: SearchOutcome, models: Vec<ModelRef>, duration_ms: u32) -> RecallView {
    RecallView {
        hits: outcome
            .hits
            .into_iter()
            .map(|hit| RecallHit {
                memory: rows::row_of(&hit.memory, hit.entities),
                score: hit.score,
                ways: hit
                    .ways
                    .iter()
                    .map(|said| WayRank { way: way(said.way), rank: said.rank, score: said.score })
                    .collect(),
            })
            .collect(),
        models,
        window: outcome
            .window
            .map(|(window, _)| TimeWindow { start: window.start, end: window.end }),
        skipped: outcome
            .skipped
            .iter()
            .map(|skipped| WaySkipped { way: way(skipped.way), reason: skipped.reason.to_owned() })
            .collect(),
        duration_ms,
    }
}

/// The hits of one way in its order; the others were walked for nothing and are not told of.
fn keep_only(view: &mut RecallView, way: Way) {
    let said = |hit: &RecallHit| hit.ways.iter().find(|said| said.way == way).copied();
    view.hits.retain(|hit| said(hit).is_some());
    view.hits.sort_by_key(|hit| said(hit).map_or(u32::MAX, |said| said.rank));
    for hit in &mut view.hits {
        hit.ways.retain(|said| said.way == way);
        if let Some(said) = hit.ways.first() {
            hit.score = said.score;
        }
    }
    view.skipped.retain(|skipped| skipped.way == way);
    if way != Way::Temporal {
        view.window = None;
    }
}

fn way(way: fusion::Way) -> Way {
    match way {
        fusion::Way::Semantic => Way::Semantic,
        fusion::Way::Keyword => Way::Keyword,
        fusion::Way::Graph => Way::Graph,
        fusion::Way::Temporal => Way::Temporal,
    }
}

/// Models in the filter that bear on the query: near in meaning, or found by words.
async fn models(
    engine: &Engine,
    bank: &BankId,
    query: String,
    filter: TagFilter,
    vector: Option<Vec<f32>>,
) -> Result<Vec<ModelRef>> {
    let floor = f64::from(engine.embedder().thresholds().model_relevance);
    let embedder = engine.inner.embedder_key;
    read_bank(engine, bank, move |tx, key| {
        let mut scores: BTreeMap<store::ModelKey, f64> = BTreeMap::new();
        if let Some(vector) = vector {
            let embedder = store::embedders::get(tx, embedder)?;
            for (model, cosine) in
                store::search::models::by_meaning(tx, key, &embedder, &vector, MODELS * 4)?
            {
                if cosine >= floor {
                    scores.insert(model, cosine);
                }
            }
        }
        for (model, _) in store::search::models::by_words(tx, key, &query, MODELS)? {
            scores.entry(model).or_insert(0.0);
        }
        let mut found = Vec::with_capacity(scores.len());
        for (model, score) in scores {
            let head = store::models::by_key(tx, model)?.head;
            if filter.keeps(&TagSet::new(&head.tags)) {
                found.push((score, ModelRef { id: head.id, name: head.name }));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.name.cmp(&b.1.name)));
        Ok(found.into_iter().take(MODELS).map(|(_, model)| model).collect())
    })
    .await
}
