//! The four ways, each giving its own list over the same scope.

use super::temporal;
use super::words::Heard;
use super::{Place, Plan, Skipped, breadth, check};
use crate::{Engine, Result};
use domain::FactType;
use domain::fusion::Way;
use store::ReadTx;
use store::embedders::{self, Embedder};
use store::search::{Hit, Scope, graph, vector};
use tokio_util::sync::CancellationToken;

/// Hits of a kind that the graph starts from (memory 12.4).
const SEEDS: usize = 20;

/// How long the graph may look for shared entities, in milliseconds (memory 12.4).
const GRAPH_MS: u64 = 300;

/// Hits of one way, best first, or why it was not walked.
pub(super) type Gave = std::result::Result<Vec<Hit>, &'static str>;

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

/// Walks every way that can be walked; what the words gave is heard last, from their own reader.
pub(super) fn walk(
    tx: &ReadTx<'_>,
    engine: &Engine,
    place: &Place,
    plan: &Plan,
    heard: Heard,
    cancel: &CancellationToken,
) -> Result<Found> {
    let Place { bank, settings, scope } = place;
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
    let semantic = match meaning {
        Some((embedder, query)) => {
            let floor = f64::from(limits.semantic_floor);
            Ok(vector::nearest(tx, scope, embedder, query, wide, floor)?)
        }
        None => Err("no_embedder"),
    };
    check(cancel)?;
    let by_graph = |seeds: &Gave| match seeds {
        _ if !settings.enable_graph_retrieval => Ok(Err("off")),
        Ok(seeds) if !seeds.is_empty() => by_graph(tx, engine, scope, seeds, wide).map(Ok),
        Ok(_) | Err(_) => Ok(Err("nothing_to_start_from")),
    };
    let tied = semantic.is_ok().then(|| by_graph(&semantic)).transpose()?;
    check(cancel)?;
    let timed = match plan.window {
        _ if !settings.enable_temporal_retrieval => Err("off"),
        None => Err("no_time_in_query"),
        Some((window, _)) => {
            let floor = f64::from(limits.temporal_entry);
            let search = temporal::Search { window, meaning, floor, query: &plan.query, wide };
            let timed = temporal::walk(tx, scope, &search)?;
            found.nearness = timed.iter().map(|hit| (hit.hit.key, hit.nearness)).collect();
            Ok(timed.into_iter().map(|hit| hit.hit).collect())
        }
    };
    check(cancel)?;
    let keyword = heard.take(tx, place, &plan.query, wide)?;
    let tied = tied.map_or_else(|| by_graph(&keyword), Ok)?;
    found.embedder = embedder;
    for (way, gave) in Way::ALL.into_iter().zip([semantic, keyword, tied, timed]) {
        match gave {
            Ok(mut hits) => {
                if way != Way::Temporal {
                    // The temporal way has its own rule for ties.
                    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.key.cmp(&a.key)));
                }
                found.lists.push((way, hits));
            }
            Err(reason) => found.skipped.push(Skipped { way, reason }),
        }
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
