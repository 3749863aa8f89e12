//! One step from memories that were found to memories tied to them: by shared entities, likeness,
//! cause. The rules of the scores are memory.md's (12.4): tanh of half the shared entities, the best
//! weight of each stored tie, added up.

use std::collections::{BTreeMap, BTreeSet};

use domain::FactType;

use super::admit::Best;
use super::{Clause, Hit, Scope, matrix};
use crate::error::Result;
use crate::keys::{EntityKey, KeyMap, MemoryKey};
use crate::links::{self, LinkKind};
use crate::memories;
use crate::row;
use crate::tx::ReadTx;

/// Memories looked at per entity, newest first.
const PER_ENTITY: usize = 200;
/// Entities tied to a larger share of the bank say little.
const HUB_SHARE: f64 = 0.05;
/// Entities with fewer mentions are never hubs: in a small bank every entity is in 5 % of it.
const HUB_FLOOR: i64 = 20;

/// What a step found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Expansion {
    /// The tied memories, best first, seeds left out; scores in 0 to 3.
    pub hits: Vec<Hit>,
    /// Entities that were skipped as tied to too much.
    pub hubs: Vec<String>,
    /// Whether time ran out before every entity was looked at.
    pub expired: bool,
}

/// Expands seeds of one type by one step, to at most `limit` memories of that type. `expired` is
/// asked between entities; once it says so, what was found so far is the answer.
pub fn expand(
    tx: &ReadTx<'_>,
    scope: &Scope,
    fact_type: FactType,
    seeds: &[MemoryKey],
    limit: usize,
    expired: &dyn Fn() -> bool,
) -> Result<Expansion> {
    let mut found = Expansion::default();
    if seeds.is_empty() || scope.is_empty() || !scope.types.contains(&fact_type) {
        return Ok(found);
    }
    let mut scores: KeyMap<f64> = KeyMap::default();
    let scope = scope.only(fact_type);
    for (key, shared) in by_entities(tx, &scope, fact_type, seeds, expired, &mut found)? {
        *scores.entry(key).or_default() += (0.5 * f64::from(shared)).tanh();
    }
    let [semantic, causal] = by_links(tx, seeds)?;
    let tied: BTreeSet<MemoryKey> = semantic.keys().chain(causal.keys()).copied().collect();
    let eligible = eligible(tx, &scope, &tied)?;
    let causal = if fact_type == FactType::Observation { BTreeMap::new() } else { causal };
    for (key, weight) in semantic.into_iter().chain(causal) {
        if eligible.contains(&key) {
            *scores.entry(key).or_default() += weight;
        }
    }
    for seed in seeds {
        scores.remove(seed);
    }
    let mut best = Best::new(fact_type, limit, f64::NEG_INFINITY);
    for (key, score) in scores {
        best.offer(key, score);
    }
    found.hits = best.into_hits();
    Ok(found)
}

/// Eligible memories of the scope with the number of entities they share with the seeds; for
/// observations, with the number of their sources that share an entity with the seeds' sources.
fn by_entities(
    tx: &ReadTx<'_>,
    scope: &Scope,
    fact_type: FactType,
    seeds: &[MemoryKey],
    expired: &dyn Fn() -> bool,
    found: &mut Expansion,
) -> Result<KeyMap<u32>> {
    if fact_type != FactType::Observation {
        let entities = entities_of(tx, scope, seeds, found)?;
        return sharing(tx, scope, &entities, expired, found);
    }
    let sources: Vec<MemoryKey> =
        memories::sources(tx, seeds)?.into_iter().map(|(_, fact)| fact).collect();
    let entities = entities_of(tx, scope, &sources, found)?;
    let facts =
        Scope { types: vec![FactType::World, FactType::Experience], ..Scope::all(scope.bank) };
    let connected = sharing(tx, &facts, &entities, expired, found)?;
    if let Some(judge) = matrix::judge(tx, scope)? {
        let mut shared = judge.ties().folded(tx, connected.into_keys())?;
        shared.retain(|key, _| judge.admits(*key).is_some());
        return Ok(shared);
    }
    let connected: Vec<MemoryKey> = connected.into_keys().collect();
    let mut shared: KeyMap<u32> = KeyMap::default();
    for (_, observation) in memories::observations_of(tx, &connected)? {
        *shared.entry(observation).or_default() += 1;
    }
    let eligible = eligible(tx, scope, &shared.keys().copied().collect())?;
    shared.retain(|key, _| eligible.contains(key));
    Ok(shared)
}

/// The entities of some facts, without hubs; with them if there is nothing else.
fn entities_of(
    tx: &ReadTx<'_>,
    scope: &Scope,
    facts: &[MemoryKey],
    found: &mut Expansion,
) -> Result<Vec<EntityKey>> {
    let size: i64 = tx.one(
        "SELECT coalesce(sum(n), 0) FROM bank_counter
         WHERE bank_id = ?1 AND what IN ('world', 'experience', 'observation')",
        [scope.bank],
        |r| r.get(0),
    )?;
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "row counts")]
    let hub = ((size as f64 * HUB_SHARE) as i64).max(HUB_FLOOR);
    let read = |r: &rusqlite::Row<'_>| Ok((r.get(0)?, r.get(1)?, r.get(2)?));
    let rows: Vec<(EntityKey, i64, String)> = match matrix::judge(tx, scope)? {
        Some(judge) => tx.list(
            "SELECT e.id, e.mention_count, e.canonical
             FROM json_each(?1) j CROSS JOIN entity e ON e.id = j.value",
            [row::id_list(judge.ties().mentioned(tx, facts)?.iter().map(|k| k.0))],
            read,
        )?,
        None => tx.list(
            "SELECT DISTINCT e.id, e.mention_count, e.canonical FROM json_each(?1) j
             JOIN memory_entity me ON me.memory_id = j.value
             JOIN entity e ON e.id = me.entity_id ORDER BY e.id",
            [row::id_list(facts.iter().map(|k| k.0))],
            read,
        )?,
    };
    let (hubs, plain): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, n, _)| *n > hub);
    if plain.is_empty() {
        return Ok(hubs.into_iter().map(|(key, ..)| key).collect());
    }
    found.hubs.extend(hubs.into_iter().map(|(_, _, name)| name));
    Ok(plain.into_iter().map(|(key, ..)| key).collect())
}

/// Eligible memories that mention some of the entities, with how many.
fn sharing(
    tx: &ReadTx<'_>,
    scope: &Scope,
    entities: &[EntityKey],
    expired: &dyn Fn() -> bool,
    found: &mut Expansion,
) -> Result<KeyMap<u32>> {
    let mut shared: KeyMap<u32> = KeyMap::default();
    if let Some(judge) = matrix::judge(tx, scope)? {
        for entity in entities {
            if expired() {
                found.expired = true;
                break;
            }
            let all = judge.ties().mentioning(tx, *entity)?;
            let admitted = all.iter().filter(|key| judge.admits(**key).is_some());
            for key in admitted.take(PER_ENTITY) {
                *shared.entry(*key).or_default() += 1;
            }
        }
        return Ok(shared);
    }
    let mut clause = Clause::default();
    scope.restrict(&mut clause);
    let at = clause.bind(0);
    let sql = format!(
        "SELECT me.memory_id FROM memory_entity me CROSS JOIN memory m ON m.id = me.memory_id
         WHERE{} AND me.entity_id = ?{at} ORDER BY me.memory_id DESC LIMIT {PER_ENTITY}",
        clause.sql
    );
    for entity in entities {
        if expired() {
            found.expired = true;
            break;
        }
        clause.values[at - 1] = entity.0.into();
        let keys = tx.list(&sql, rusqlite::params_from_iter(&clause.values), |r| r.get(0))?;
        for key in keys {
            *shared.entry(key).or_default() += 1;
        }
    }
    Ok(shared)
}

/// Memories tied to the seeds by stored links, in both directions, with the best weight: by
/// likeness, and by cause.
fn by_links(tx: &ReadTx<'_>, seeds: &[MemoryKey]) -> Result<[BTreeMap<MemoryKey, f64>; 2]> {
    let own: BTreeSet<MemoryKey> = seeds.iter().copied().collect();
    let mut best = [BTreeMap::new(), BTreeMap::new()];
    for link in links::around(tx, seeds)? {
        let slot = match link.kind {
            LinkKind::Semantic => 0,
            LinkKind::Temporal => continue,
            LinkKind::CausedBy | LinkKind::Causes | LinkKind::Enables | LinkKind::Prevents => 1,
        };
        for other in [link.from, link.to] {
            if !own.contains(&other) {
                let weight = best[slot].entry(other).or_insert(0.0f64);
                *weight = weight.max(link.weight);
            }
        }
    }
    Ok(best)
}

/// Those of some memories that the scope admits.
pub fn eligible(
    tx: &ReadTx<'_>,
    scope: &Scope,
    keys: &BTreeSet<MemoryKey>,
) -> Result<BTreeSet<MemoryKey>> {
    if keys.is_empty() || scope.is_empty() {
        return Ok(BTreeSet::new());
    }
    if let Some(judge) = matrix::judge(tx, scope)? {
        return Ok(keys.iter().copied().filter(|key| judge.admits(*key).is_some()).collect());
    }
    let mut clause = Clause::default();
    scope.restrict(&mut clause);
    let at = clause.bind(row::id_list(keys.iter().map(|k| k.0)));
    let sql = format!(
        "SELECT m.id FROM json_each(?{at}) j CROSS JOIN memory m ON m.id = j.value WHERE{}",
        clause.sql
    );
    let found = tx.list(&sql, rusqlite::params_from_iter(clause.values), |r| r.get(0))?;
    Ok(found.into_iter().collect())
}
