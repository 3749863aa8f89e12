//! The way by time: memories that lie in the window, spread over it, and what happened around them
//! or was caused by them. A memory is scored by its nearness to the middle of the window, or by what
//! a neighbour passes on to it.

use crate::Result;
use domain::FactType;
use domain::consolidation::SourceTimes;
use domain::temporal::{TimeWindow, temporal_proximity};
use domain::time::to_millis;
use std::collections::{BTreeSet, HashMap};
use store::embedders::Embedder;
use store::links::{self, LinkKind};
use store::search::time::{self, Dated};
use store::search::{Hit, Scope, graph, text, vector};
use store::{MemoryKey, ReadTx};

/// Best by likeness that may become entry points, per kind (memory 12.5, as all numbers here).
const CONSIDERED: usize = 60;
/// Slices of the window.
const SLICES: usize = 8;
/// Entry points per kind.
const ENTRIES: usize = 10;
/// Rounds of spreading.
const ROUNDS: usize = 5;
/// Memories that a round starts from.
const FRONTIER: usize = 20;
/// Neighbours of one memory.
const NEIGHBOURS: usize = 10;
/// Weakest tie that is followed.
const WEAKEST: f64 = 0.1;
/// What of a score is passed on.
const CARRIED: f64 = 0.7;
/// Score above which a memory passes something on.
const PASSES_ON: f64 = 0.2;
/// How far neighbours in time lie apart at most: a day.
const DAY_MS: i64 = 86_400_000;

/// What is looked for.
pub(super) struct Search<'a> {
    pub(super) window: TimeWindow,
    pub(super) meaning: Option<(&'a Embedder, &'a [f32])>,
    /// Least cosine of an entry point.
    pub(super) floor: f64,
    pub(super) query: &'a str,
    pub(super) wide: usize,
}

/// A hit with its own nearness to the window.
pub(super) struct Timed {
    pub(super) hit: Hit,
    pub(super) nearness: f64,
}

/// The hits of every kind, by score, then likeness, then newest key.
pub(super) fn walk(tx: &ReadTx<'_>, scope: &Scope, search: &Search<'_>) -> Result<Vec<Timed>> {
    let inside =
        Scope { told_between: Some((search.window.start, search.window.end)), ..scope.clone() };
    let candidates = candidates(tx, &inside, search)?;
    let mut all: Vec<Node> = Vec::new();
    for fact_type in FactType::ALL {
        let own: Vec<&Hit> = candidates.iter().filter(|hit| hit.fact_type == fact_type).collect();
        let mut nodes = spread(tx, scope, search.window, fact_type, &own)?;
        nodes.sort_by(Node::best_first);
        nodes.truncate(search.wide);
        all.extend(nodes);
    }
    let keys: Vec<MemoryKey> = all.iter().map(|node| node.key).collect();
    if let Some((embedder, query)) = search.meaning {
        let likeness = vector::scores(tx, embedder, query, &keys)?;
        for node in &mut all {
            node.likeness = likeness.get(&node.key).copied().unwrap_or(0.0);
        }
    }
    all.sort_by(Node::best_first);
    Ok(all
        .into_iter()
        .map(|node| Timed {
            hit: Hit { key: node.key, fact_type: node.fact_type, score: node.score },
            nearness: node.nearness,
        })
        .collect())
}

/// Memories in the window that have to do with the query, best first within a kind: by meaning,
/// without an embedder by words, and where these say nothing by nearness.
fn candidates(tx: &ReadTx<'_>, inside: &Scope, search: &Search<'_>) -> Result<Vec<Hit>> {
    if let Some((embedder, query)) = search.meaning {
        return Ok(vector::nearest(tx, inside, embedder, query, CONSIDERED, search.floor)?);
    }
    let mut hits = text::find(tx, inside, search.query, CONSIDERED)?.hits;
    for fact_type in &inside.types {
        let known = hits.iter().filter(|hit| hit.fact_type == *fact_type).count();
        let near = time::in_window(tx, &inside.only(*fact_type), CONSIDERED)?;
        let more: Vec<Hit> = near
            .into_iter()
            .filter(|dated| hits.iter().all(|hit| hit.key != dated.key))
            .take(CONSIDERED.saturating_sub(known))
            .map(|dated| Hit { key: dated.key, fact_type: *fact_type, score: 0.0 })
            .collect();
        hits.extend(more);
    }
    Ok(hits)
}

#[derive(Clone)]
struct Node {
    key: MemoryKey,
    fact_type: FactType,
    score: f64,
    nearness: f64,
    likeness: f64,
}

impl Node {
    fn best_first(a: &Self, b: &Self) -> std::cmp::Ordering {
        b.score.total_cmp(&a.score).then(b.likeness.total_cmp(&a.likeness)).then(b.key.cmp(&a.key))
    }
}

/// Entry points of one kind and what is reached from them.
fn spread(
    tx: &ReadTx<'_>,
    scope: &Scope,
    window: TimeWindow,
    fact_type: FactType,
    candidates: &[&Hit],
) -> Result<Vec<Node>> {
    let keys: Vec<MemoryKey> = candidates.iter().map(|hit| hit.key).collect();
    let mut dates = dates(tx, &keys)?;
    let mut nodes: HashMap<MemoryKey, Node> = HashMap::new();
    let mut frontier = Vec::new();
    for hit in entries(window, candidates, &dates) {
        let nearness = dates.get(&hit.key).map_or(0.5, |dated| nearness(window, dated));
        let node = Node { key: hit.key, fact_type, score: nearness, nearness, likeness: hit.score };
        if node.score > PASSES_ON {
            frontier.push(hit.key);
        }
        nodes.insert(hit.key, node);
    }
    for _ in 0..ROUNDS {
        if frontier.is_empty() {
            break;
        }
        frontier.truncate(FRONTIER);
        let ties = ties(tx, scope, fact_type, &frontier, &dates)?;
        let fresh: Vec<MemoryKey> = ties
            .iter()
            .map(|tie| tie.to)
            .filter(|key| !dates.contains_key(key))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        dates.extend(self::dates(tx, &fresh)?);
        let mut next: Vec<(f64, MemoryKey)> = Vec::new();
        for tie in ties {
            let parent = nodes.get(&tie.from).map_or(0.0, |node| node.score);
            let carried = (parent * tie.weight * tie.boost * CARRIED).min(1.0);
            let nearness = dates.get(&tie.to).map_or(0.5, |dated| nearness(window, dated));
            let score = nearness.max(carried);
            if let Some(known) = nodes.get_mut(&tie.to) {
                known.score = known.score.max(score);
                continue;
            }
            let node = Node { key: tie.to, fact_type, score, nearness, likeness: 0.0 };
            nodes.insert(tie.to, node);
            if score > PASSES_ON {
                next.push((score, tie.to));
            }
        }
        next.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        frontier = next.into_iter().map(|(_, key)| key).collect();
    }
    Ok(nodes.into_values().collect())
}

/// The best of each slice of the window in turn, so that a busy day does not hide a quiet month.
fn entries<'a>(
    window: TimeWindow,
    candidates: &[&'a Hit],
    dates: &HashMap<MemoryKey, Dated>,
) -> Vec<&'a Hit> {
    let mut slices: Vec<std::collections::VecDeque<&Hit>> = vec![Default::default(); SLICES];
    for hit in candidates {
        let at = dates.get(&hit.key).map_or(0, |dated| slice(window, dated));
        slices[at].push_back(hit);
    }
    let mut chosen = Vec::with_capacity(ENTRIES);
    while chosen.len() < ENTRIES && slices.iter().any(|slice| !slice.is_empty()) {
        for slice in &mut slices {
            if chosen.len() < ENTRIES
                && let Some(hit) = slice.pop_front()
            {
                chosen.push(hit);
            }
        }
    }
    chosen
}

/// The slice that the middle of a memory's time falls into; outside counts as the nearest edge.
fn slice(window: TimeWindow, dated: &Dated) -> usize {
    let middle = match (dated.occurred_start, dated.occurred_end) {
        (Some(start), Some(end)) => start + (end - start) / 2,
        (start, end) => start.or(end).or(dated.mentioned_at).unwrap_or(dated.event_at),
    };
    let (start, end) = (to_millis(window.start), to_millis(window.end));
    let span = (end - start).max(1);
    let slices = i64::try_from(SLICES).unwrap_or(1);
    let at = (to_millis(middle) - start).clamp(0, span) * slices / span;
    usize::try_from(at).unwrap_or(0).min(SLICES - 1)
}

fn nearness(window: TimeWindow, dated: &Dated) -> f64 {
    temporal_proximity(
        window,
        SourceTimes {
            occurred_start: dated.occurred_start,
            occurred_end: dated.occurred_end,
            mentioned_at: dated.mentioned_at,
        },
    )
}

fn dates(tx: &ReadTx<'_>, keys: &[MemoryKey]) -> Result<HashMap<MemoryKey, Dated>> {
    Ok(time::dates(tx, keys)?.into_iter().map(|dated| (dated.key, dated)).collect())
}

struct Tie {
    from: MemoryKey,
    to: MemoryKey,
    weight: f64,
    boost: f64,
}

/// The strongest ties of each memory of a frontier: neighbours in time, causes and effects.
fn ties(
    tx: &ReadTx<'_>,
    scope: &Scope,
    fact_type: FactType,
    frontier: &[MemoryKey],
    dates: &HashMap<MemoryKey, Dated>,
) -> Result<Vec<Tie>> {
    let own: BTreeSet<MemoryKey> = frontier.iter().copied().collect();
    let mut causal = Vec::new();
    for link in links::around(tx, frontier)? {
        let boost = match link.kind {
            LinkKind::CausedBy | LinkKind::Causes => 2.0,
            LinkKind::Enables | LinkKind::Prevents => 1.5,
            LinkKind::Semantic | LinkKind::Temporal => continue,
        };
        for (from, to) in [(link.from, link.to), (link.to, link.from)] {
            if own.contains(&from) {
                causal.push(Tie { from, to, weight: link.weight, boost });
            }
        }
    }
    let ends = causal.iter().map(|tie| tie.to).collect();
    let eligible = graph::eligible(tx, &scope.only(fact_type), &ends)?;
    causal.retain(|tie| eligible.contains(&tie.to));
    let mut all = Vec::new();
    for key in frontier {
        let mut own: Vec<Tie> = Vec::new();
        let (mine, rest) = causal.into_iter().partition(|tie: &Tie| tie.from == *key);
        causal = rest;
        own.extend::<Vec<Tie>>(mine);
        if let Some(dated) = dates.get(key) {
            let each_way = u32::try_from(NEIGHBOURS).unwrap_or(u32::MAX);
            for (to, at) in time::neighbours(tx, scope, fact_type, dated, DAY_MS, each_way)? {
                let apart = (to_millis(at) - to_millis(dated.event_at)).abs();
                own.push(Tie { from: *key, to, weight: closeness(apart), boost: 1.0 });
            }
        }
        own.retain(|tie| tie.weight >= WEAKEST);
        own.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(b.to.cmp(&a.to)));
        own.truncate(NEIGHBOURS);
        all.extend(own);
    }
    Ok(all)
}

/// Weight of two memories so many milliseconds apart: 1 at once, falling over a day, 0.3 at least.
#[expect(clippy::cast_precision_loss, reason = "a day has few milliseconds")]
fn closeness(apart_ms: i64) -> f64 {
    (1.0 - apart_ms as f64 / DAY_MS as f64).max(0.3)
}
