//! One order out of the lists of the ways: fusion, boosts, preferred observations, the cut by
//! tokens; and the rows behind the hits, looked up together and only as many as are shown.

use super::ways::Found;
use super::{MAX_CANDIDATES, Plan, SearchHit, SearchOutcome, WayHit, breadth};
use crate::Result;
use domain::bank::BankSettings;
use domain::fusion::{
    self, Fused, RRF_K, Way, combined_score, proof_norm, rank_seed, recency, rrf,
};
use domain::time::to_millis;
use domain::{FactType, MemoryId, Score};
use std::collections::{BTreeSet, HashMap};
use store::memories::{self, Memory};
use store::search::around::{self, Mentions};
use store::search::time::{self, Dated};
use store::search::vector;
use store::{BankKey, EntityKey, KeyMap, MemoryKey, ReadTx, entities};

/// Rows looked up at once while the token budget is being filled.
const BATCH: usize = 64;

/// Fuses, scores, cuts and looks up.
pub(super) fn put_in_order(
    tx: &ReadTx<'_>,
    bank: BankKey,
    settings: &BankSettings,
    plan: Plan,
    found: Found,
) -> Result<SearchOutcome> {
    let mut ordered = scored(tx, settings, &plan, &found)?;
    if plan.request.prefer_observations {
        prefer_observations(tx, bank, settings, &plan, &mut ordered)?;
    }
    let wide = breadth(settings, &plan.request).saturating_mul(2);
    let limit = plan.request.limit.unwrap_or(usize::MAX).min(wide);
    let before = ordered.len();
    ordered.truncate(limit);
    let mut outcome = SearchOutcome {
        truncated: ordered.len() < before,
        window: plan.window,
        found: found
            .lists
            .iter()
            .map(|(way, hits)| (*way, u32::try_from(hits.len()).unwrap_or(u32::MAX)))
            .collect(),
        ..SearchOutcome::default()
    };
    let kept = fill(tx, &plan, &ordered, &mut outcome)?;
    outcome.hits = dress(tx, bank, &plan, &found, ordered, kept)?;
    outcome.skipped = found.skipped;
    outcome.vector = plan.vector;
    Ok(outcome)
}

struct Scored {
    fused: Fused<MemoryKey>,
    score: f64,
    dated: Option<Dated>,
}

/// The candidates in their final order (memory 12.6 to 12.8).
fn scored(
    tx: &ReadTx<'_>,
    settings: &BankSettings,
    plan: &Plan,
    found: &Found,
) -> Result<Vec<Scored>> {
    let lists: Vec<(Way, Vec<MemoryKey>)> = found
        .lists
        .iter()
        .map(|(way, hits)| (*way, hits.iter().map(|hit| hit.key).collect()))
        .collect();
    let mut fused = rrf(RRF_K, &lists);
    if plan.request.interleave {
        let bare: Vec<Vec<MemoryKey>> = lists.iter().map(|(_, list)| list.clone()).collect();
        let places: KeyMap<usize> = fusion::interleave(&bare).into_iter().zip(0..).collect();
        fused.sort_by_key(|result| places.get(&result.id).copied());
    }
    if !settings.way_priority.is_empty() {
        for result in &mut fused {
            let added: f64 = result
                .ranks
                .iter()
                .filter_map(|place| {
                    Some(settings.way_priority.get(&place.way)?.before_cap(place.rank))
                })
                .sum();
            result.score = Score::new(result.score.get() + added);
        }
        fused.sort_by(|a, b| b.score.get().total_cmp(&a.score.get()));
    }
    fused.truncate(MAX_CANDIDATES);
    let keys: Vec<MemoryKey> = fused.iter().map(|result| result.id).collect();
    let dates: KeyMap<Dated> =
        time::dates(tx, &keys)?.into_iter().map(|dated| (dated.key, dated)).collect();
    let bases = rank_seed(fused.len());
    let mut ordered: Vec<Scored> = fused
        .into_iter()
        .zip(bases)
        .map(|(fused, base)| {
            let dated = dates.get(&fused.id).copied();
            let fresh = recency(
                dated.as_ref().and_then(|dated| days_old(plan, dated)),
                settings.recency_decay_function,
            );
            let nearness = found.nearness.get(&fused.id).copied().unwrap_or(0.5);
            let proof = proof_norm(dated.map(|dated| dated.proof_count));
            let added: f64 = fused
                .ranks
                .iter()
                .filter_map(|place| Some(settings.way_priority.get(&place.way)?.after_scoring()))
                .sum();
            let score = combined_score(base, fresh, nearness, proof) + added;
            Scored { fused, score, dated }
        })
        .collect();
    let newest = |scored: &Scored| scored.dated.map(|dated| dated.event_at);
    ordered.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| newest(b).cmp(&newest(a)))
            .then_with(|| b.fused.id.cmp(&a.fused.id))
    });
    Ok(ordered)
}

/// Days between the anchor and what a memory tells; none for an undated one.
#[expect(clippy::cast_precision_loss, reason = "milliseconds of calendar spans are below 2^52")]
fn days_old(plan: &Plan, dated: &Dated) -> Option<f64> {
    let at = dated.occurred_start.or(dated.mentioned_at).or(dated.occurred_end)?;
    let age = to_millis(plan.anchor) - to_millis(at);
    Some(age.max(0) as f64 / 86_400_000.0)
}

/// Drops facts that an observation among the first hits was folded from (memory 12.9).
fn prefer_observations(
    tx: &ReadTx<'_>,
    bank: BankKey,
    settings: &BankSettings,
    plan: &Plan,
    ordered: &mut Vec<Scored>,
) -> Result<()> {
    let keys: Vec<MemoryKey> = ordered.iter().map(|scored| scored.fused.id).collect();
    let mut sources: KeyMap<Vec<MemoryKey>> = KeyMap::default();
    for (observation, fact) in around::sources(tx, bank, &keys)? {
        sources.entry(observation).or_default().push(fact);
    }
    let results: Vec<(MemoryKey, Option<Vec<MemoryKey>>)> =
        keys.iter().map(|key| (*key, sources.remove(key))).collect();
    let window = breadth(settings, &plan.request).saturating_mul(2);
    let stay: BTreeSet<usize> = fusion::prefer_observations(&results, window).into_iter().collect();
    let mut at = 0;
    ordered.retain(|_| {
        at += 1;
        stay.contains(&(at - 1))
    });
    Ok(())
}

/// Looks up rows in order until the token budget is full; gives the rows that fit with their sizes.
fn fill(
    tx: &ReadTx<'_>,
    plan: &Plan,
    ordered: &[Scored],
    outcome: &mut SearchOutcome,
) -> Result<Vec<(Memory, u32)>> {
    let mut kept = Vec::new();
    for batch in ordered.chunks(BATCH) {
        let keys: Vec<MemoryKey> = batch.iter().map(|scored| scored.fused.id).collect();
        for memory in memories::by_keys(tx, &keys)? {
            let tokens = memory.tokens;
            let sum = outcome.tokens.saturating_add(tokens);
            if plan.request.max_tokens.is_some_and(|max| sum > max) {
                outcome.truncated = true;
                return Ok(kept);
            }
            outcome.tokens = sum;
            kept.push((memory, tokens));
        }
    }
    Ok(kept)
}

/// Adds names, sources, cosines and what the ways said.
fn dress(
    tx: &ReadTx<'_>,
    bank: BankKey,
    plan: &Plan,
    found: &Found,
    ordered: Vec<Scored>,
    kept: Vec<(Memory, u32)>,
) -> Result<Vec<SearchHit>> {
    let keys: Vec<MemoryKey> = kept.iter().map(|(memory, _)| memory.key).collect();
    let cosines = match (&found.embedder, &plan.vector) {
        (Some(embedder), Some(query)) => vector::scores(tx, embedder, query, &keys)?,
        (None, _) | (_, None) => HashMap::new(),
    };
    let mut context = Surroundings::read(tx, bank, &kept, plan.request.want)?;
    let mut scores: KeyMap<Vec<(Way, f64)>> =
        keys.into_iter().map(|key| (key, Vec::new())).collect();
    for (way, hits) in &found.lists {
        for hit in hits {
            if let Some(shown) = scores.get_mut(&hit.key) {
                shown.push((*way, hit.score));
            }
        }
    }
    let mut places: KeyMap<Scored> =
        ordered.into_iter().map(|scored| (scored.fused.id, scored)).collect();
    Ok(kept
        .into_iter()
        .filter_map(|(memory, tokens)| {
            let place = places.remove(&memory.key)?;
            let scores = scores.remove(&memory.key).unwrap_or_default();
            let score = |way| scores.iter().find(|(of, _)| *of == way).map_or(0.0, |(_, own)| *own);
            let ways = place
                .fused
                .ranks
                .iter()
                .map(|found| WayHit {
                    way: found.way,
                    rank: found.rank,
                    score: score(found.way).into(),
                })
                .collect();
            Some(SearchHit {
                entities: context.entities.remove(&memory.key).unwrap_or_default(),
                sources: context.sources.remove(&memory.key).unwrap_or_default(),
                score: Score::new(place.score),
                ways,
                cosine: cosines.get(&memory.key).copied(),
                tokens,
                memory,
            })
        })
        .collect())
}

/// What stands around hits: names of entities, sources of observations.
#[derive(Default)]
struct Surroundings {
    entities: KeyMap<Vec<String>>,
    sources: KeyMap<Vec<MemoryId>>,
}

impl Surroundings {
    fn read(
        tx: &ReadTx<'_>,
        bank: BankKey,
        kept: &[(Memory, u32)],
        want: super::Want,
    ) -> Result<Self> {
        let mut context = Self::default();
        if !want.entities && !want.sources {
            return Ok(context);
        }
        let observations: Vec<MemoryKey> = kept
            .iter()
            .filter(|(memory, _)| memory.fact_type == FactType::Observation)
            .map(|(memory, _)| memory.key)
            .collect();
        let pairs = around::sources(tx, bank, &observations)?;
        if want.sources && !pairs.is_empty() {
            let ids = around::ids(tx, bank, &each_once(pairs.iter().map(|(_, fact)| *fact)))?;
            for (observation, fact) in &pairs {
                if let Some(id) = ids.get(fact) {
                    context.sources.entry(*observation).or_default().push(id.clone());
                }
            }
        }
        if want.entities {
            let keys: Vec<MemoryKey> = kept.iter().map(|(memory, _)| memory.key).collect();
            let facts = pairs.iter().map(|(_, fact)| *fact);
            let all = each_once(keys.iter().copied().chain(facts));
            let known = around::mentions(tx, bank, &all)?;
            context.entities = named(&keys, &pairs, &known);
        }
        Ok(context)
    }
}

/// Names of entities by memory; an observation has those of its sources, given as pairs.
pub(crate) fn names(
    tx: &ReadTx<'_>,
    memories: impl Iterator<Item = MemoryKey>,
    sources: &[(MemoryKey, MemoryKey)],
) -> Result<KeyMap<Vec<String>>, store::Error> {
    let memories = each_once(memories);
    let facts = sources.iter().map(|(_, fact)| *fact);
    let all = each_once(memories.iter().copied().chain(facts));
    let known = Mentions::from(entities::of_memories(tx, &all)?);
    Ok(named(&memories, sources, &known))
}

fn each_once(keys: impl Iterator<Item = MemoryKey>) -> Vec<MemoryKey> {
    let mut keys: Vec<MemoryKey> = keys.collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Names by memory. Several facts of an observation often mention the same entity; it is named once.
fn named(
    memories: &[MemoryKey],
    sources: &[(MemoryKey, MemoryKey)],
    known: &Mentions,
) -> KeyMap<Vec<String>> {
    let mut entities: KeyMap<Vec<(EntityKey, &str)>> = KeyMap::default();
    for memory in memories {
        entities.insert(*memory, known.of(*memory).collect());
    }
    for (observation, fact) in sources {
        let own = entities.entry(*observation).or_default();
        for entity in known.of(*fact) {
            if !own.contains(&entity) {
                own.push(entity);
            }
        }
    }
    let names = |own: Vec<(EntityKey, &str)>| own.iter().map(|(_, name)| (*name).into()).collect();
    entities.into_iter().map(|(memory, own)| (memory, names(own))).collect()
}
