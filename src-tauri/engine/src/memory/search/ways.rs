//! The four ways, each giving its own list over the same scope.

use super::temporal;
use super::{Plan, Skipped, breadth, check};
use crate::{Engine, Result};
use domain::FactType;
use domain::bank::BankSettings;
use domain::fusion::Way;
use store::ReadTx;
use store::banks::Bank;
use store::embedders::{self, Embedder};
use store::search::{Hit, Scope, graph, text, vector};
use tokio_util::sync::CancellationToken;

/// Hits of a kind that the graph starts from (memory 12.4).
const SEEDS: usize = 20;

/// How long the graph may look for shared entities, in milliseconds (memory 12.4).
const GRAPH_MS: u64 = 300;

/// What the ways gave.
pub(crate) struct Found {
    /// Best first over all kinds, in the order of the ways.
    pub(crate) lists: Vec<(Way, Vec<Hit>)>,
    /// Ways not walked.
    pub(crate) skipped: Vec<Skipped>,
    /// The embedder whose vectors were searched.
    pub(crate) embedder: Option<Embedder>,
    /// How near each hit of the temporal way lies to the window.
    pub(crate) nearness: std::collections::HashMap<store::MemoryKey, f64>,
}

impl Found {
    fn skip(&mut self, way: Way, reason: &'static str) {
        self.skipped.push(Skipped { way, reason });
    }
}

/// Walks every way that can be walked.
pub(crate) fn walk(
    tx: &ReadTx<'_>,
    engine: &Engine,
    bank: &Bank,
    settings: &BankSettings,
    plan: &Plan,
    scope: &Scope,
    cancel: &CancellationToken,
) -> Result<Found> {
    let wide = breadth(settings, &plan.request);
    let limits = engine.embedder().thresholds();
    let mut found = Found {
        lists: Vec::with_capacity(Way::ALL.len()),
        skipped: Vec::new(),
        embedder: None,
        nearness: std::collections::HashMap::new(),
    };
    // Vectors of another embedder do not compare with this query's.
    let embedder = match bank.embedder {
        Some(key) if key == engine.inner.embedder_key => Some(embedders::get(tx, key)?),
        Some(_) | None => None,
    };
    let meaning = embedder.as_ref().zip(plan.vector.as_deref());
    let mut semantic = Vec::new();
    match meaning {
        Some((embedder, query)) => {
            let floor = f64::from(limits.semantic_floor);
            semantic = vector::nearest(tx, scope, embedder, query, wide, floor)?;
        }
        None => found.skip(Way::Semantic, "no_embedder"),
    }
    check(cancel)?;
    let mut keyword = Vec::new();
    if !settings.enable_text_search {
        found.skip(Way::Keyword, "off");
    } else if !plan.query.chars().any(char::is_alphanumeric) {
        found.skip(Way::Keyword, "no_words");
    } else {
        keyword = text::find(tx, scope, &plan.query, wide)?.hits;
    }
    check(cancel)?;
    let seeds = if meaning.is_some() { &semantic } else { &keyword };
    let mut tied = Vec::new();
    if !settings.enable_graph_retrieval {
        found.skip(Way::Graph, "off");
    } else if seeds.is_empty() {
        found.skip(Way::Graph, "nothing_to_start_from");
    } else {
        tied = by_graph(tx, engine, scope, seeds, wide)?;
    }
    check(cancel)?;
    let mut timed = Vec::new();
    match plan.window {
        _ if !settings.enable_temporal_retrieval => found.skip(Way::Temporal, "off"),
        None => found.skip(Way::Temporal, "no_time_in_query"),
        Some((window, _)) => {
            let floor = f64::from(limits.temporal_entry);
            let search = temporal::Search { window, meaning, floor, query: &plan.query, wide };
            for hit in temporal::walk(tx, scope, &search)? {
                found.nearness.insert(hit.hit.key, hit.nearness);
                timed.push(hit.hit);
            }
        }
    }
    found.embedder = embedder;
    for (way, mut hits) in
        Way::ALL.into_iter().zip([semantic, keyword, tied, timed]).collect::<Vec<_>>()
    {
        if found.skipped.iter().any(|skipped| skipped.way == way) {
            continue;
        }
        if way != Way::Temporal {
            // The temporal way has its own rule for ties.
            hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.key.cmp(&a.key)));
        }
        found.lists.push((way, hits));
    }
    Ok(found)
}

fn by_graph(
    tx: &ReadTx<'_>,
    engine: &Engine,
    scope: &Scope,
    seeds: &[Hit],
    wide: usize,
) -> Result<Vec<Hit>> {
    let end = engine.clock().ticks_ms().saturating_add(GRAPH_MS);
    let expired = || engine.clock().ticks_ms() > end;
    let mut tied = Vec::new();
    for fact_type in FactType::ALL {
        let own: Vec<_> = seeds
            .iter()
            .filter(|hit| hit.fact_type == fact_type)
            .take(SEEDS)
            .map(|hit| hit.key)
            .collect();
        tied.extend(graph::expand(tx, scope, fact_type, &own, wide, &expired)?.hits);
    }
    Ok(tied)
}
