//! Storing facts: embed them before the write, then names, rows and ties in one transaction. The
//! one place where a fact enters the file, whoever gave it.

use super::names;
use crate::{Engine, Result};
use domain::bank::BankSettings;
use domain::tags::TagSet;
use domain::{BankId, FactType, Instant, MemoryId};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use store::links::{self, Link, LinkKind};
use store::memories::{self, NewMemory, Origin};
use store::search::{Scope, graph, vector};
use store::{BankKey, ChunkKey, DocumentKey, MemoryKey, WriteTx};
use tokio_util::sync::CancellationToken;

/// Facts of one transaction (memory 3).
pub(crate) const BATCH: usize = 50;

/// Stored neighbours of a fact (memory 7).
const NEIGHBOURS: usize = 10;

/// A fact on its way into the file.
#[derive(Debug, Clone)]
pub(crate) struct Fact {
    pub(crate) id: MemoryId,
    pub(crate) fact_type: FactType,
    pub(crate) text: String,
    pub(crate) context: Option<String>,
    pub(crate) parts: Option<Value>,
    pub(crate) metadata: BTreeMap<String, String>,
    pub(crate) tags: BTreeSet<String>,
    pub(crate) origin: Origin,
    pub(crate) occurred_start: Option<Instant>,
    pub(crate) occurred_end: Option<Instant>,
    pub(crate) mentioned_at: Option<Instant>,
    /// Names of entities.
    pub(crate) entities: Vec<String>,
    /// Whether the names are meant as they are written.
    pub(crate) literal: bool,
    /// Its place among facts of equal date.
    pub(crate) position: usize,
    pub(crate) document: Option<DocumentKey>,
    pub(crate) chunk: Option<ChunkKey>,
    /// The scopes its observations belong in; the bank's when absent.
    pub(crate) scopes: Option<Value>,
    /// When it was folded, for facts that come with their observations.
    pub(crate) consolidated_at: Option<Instant>,
    /// Places in the batch of the facts that caused it.
    pub(crate) caused_by: Vec<usize>,
}

impl Fact {
    /// A plain statement.
    pub(crate) fn new(id: MemoryId, text: String, origin: Origin) -> Self {
        Self {
            id,
            fact_type: FactType::World,
            text,
            context: None,
            parts: None,
            metadata: BTreeMap::new(),
            tags: BTreeSet::new(),
            origin,
            occurred_start: None,
            occurred_end: None,
            mentioned_at: None,
            entities: Vec::new(),
            literal: true,
            position: 0,
            document: None,
            chunk: None,
            scopes: None,
            consolidated_at: None,
            caused_by: Vec::new(),
        }
    }

    /// The text whose vector is stored: the statement with its dates and names (memory 12.2).
    pub(crate) fn embedded(&self) -> String {
        embedded(&self.text, self.occurred_start, self.occurred_end, &self.entities)
    }
}

/// The text whose vector stands for a memory.
pub(crate) fn embedded(
    text: &str,
    start: Option<Instant>,
    end: Option<Instant>,
    entities: &[String],
) -> String {
    let day = |at: Instant| at.format("%B %-d, %Y").to_string();
    let mut out = text.to_owned();
    match (start, end) {
        (Some(start), Some(end)) if day(start) != day(end) => {
            out.push_str(&format!(" (from {} to {})", day(start), day(end)));
        }
        (Some(at), _) | (None, Some(at)) => out.push_str(&format!(" (happened in {})", day(at))),
        (None, None) => {}
    }
    if !entities.is_empty() {
        out.push_str(&format!(" [{}]", entities.join(", ")));
    }
    out
}

/// Facts with what could be computed before the write.
pub(crate) struct Prepared {
    facts: Vec<Fact>,
    vectors: Vec<Option<Vec<f32>>>,
    /// For each fact its nearest stored memories of the same kind, with their cosine.
    near: Vec<Vec<(MemoryKey, f64)>>,
    /// Least cosine of a stored tie.
    tie: f64,
}

impl Prepared {
    /// The same with each fact in the document that `document` names for its place.
    pub(crate) fn placed(mut self, document: impl Fn(usize) -> Option<DocumentKey>) -> Self {
        for (at, fact) in self.facts.iter_mut().enumerate() {
            fact.document = document(at);
        }
        self
    }

    /// How many facts there are.
    pub(crate) fn len(&self) -> usize {
        self.facts.len()
    }
}

/// Whether a bank's vectors come from the embedder in use.
pub(crate) fn embeds(engine: &Engine, bank: &store::banks::Bank) -> bool {
    bank.embedder == Some(engine.inner.embedder_key)
}

/// Computes vectors and looks for neighbours. Texts whose tags keep them on this machine get no
/// vector from an embedder elsewhere.
///
/// # Errors
/// Those of the embedder and of reading; `cancelled`.
pub(crate) async fn prepare(
    engine: &Engine,
    bank: &BankId,
    facts: Vec<Fact>,
    cancel: &CancellationToken,
) -> Result<Prepared> {
    let id = bank.clone();
    let (with_vectors, settings) = {
        let engine = engine.clone();
        engine
            .store()
            .clone()
            .read(move |tx| {
                let bank = store::banks::get(tx, &id)?;
                Ok((embeds(&engine, &bank), crate::settings::of_bank(tx, &bank)?))
            })
            .await?
    };
    let tie = f64::from(engine.embedder().thresholds().stored_link);
    let vectors = if with_vectors {
        vectors(engine, &settings, &facts, cancel).await?
    } else {
        vec![None; facts.len()]
    };
    let near = neighbours(engine, bank, &facts, &vectors, tie).await?;
    Ok(Prepared { facts, vectors, near, tie })
}

async fn vectors(
    engine: &Engine,
    settings: &BankSettings,
    facts: &[Fact],
    cancel: &CancellationToken,
) -> Result<Vec<Option<Vec<f32>>>> {
    let private = settings.local_only();
    let stays =
        |fact: &&Fact| engine.embedder().is_local() || !TagSet::new(&fact.tags).overlaps(&private);
    let texts: Vec<String> = facts.iter().filter(stays).map(Fact::embedded).collect();
    let mut made = engine.embed_passages(&texts, cancel).await?.into_iter();
    Ok(facts.iter().map(|fact| if stays(&fact) { made.next() } else { None }).collect())
}

/// The nearest stored memories of each fact's kind.
async fn neighbours(
    engine: &Engine,
    bank: &BankId,
    facts: &[Fact],
    vectors: &[Option<Vec<f32>>],
    tie: f64,
) -> Result<Vec<Vec<(MemoryKey, f64)>>> {
    if vectors.iter().all(Option::is_none) {
        return Ok(vec![Vec::new(); facts.len()]);
    }
    let wanted: Vec<(FactType, Option<Vec<f32>>)> =
        facts.iter().map(|fact| fact.fact_type).zip(vectors.iter().cloned()).collect();
    let embedder = engine.inner.embedder_key;
    crate::handle::read_bank(engine, bank, move |tx, key| {
        let embedder = store::embedders::get(tx, embedder)?;
        wanted
            .into_iter()
            .map(|(fact_type, vector)| {
                let Some(vector) = vector else { return Ok(Vec::new()) };
                let scope = Scope::all(key).only(fact_type);
                let hits = vector::nearest(tx, &scope, &embedder, &vector, NEIGHBOURS, tie)?;
                Ok(hits.into_iter().map(|hit| (hit.key, hit.score)).collect())
            })
            .collect()
    })
    .await
}

/// Writes prepared facts; gives their keys in order.
pub(crate) fn write(
    tx: &WriteTx<'_>,
    engine: &Engine,
    bank: BankKey,
    prepared: &Prepared,
    now: Instant,
) -> store::Result<Vec<MemoryKey>> {
    let mut keys = Vec::with_capacity(prepared.facts.len());
    for (fact, vector) in prepared.facts.iter().zip(&prepared.vectors) {
        let at = fact.occurred_start.or(fact.mentioned_at).unwrap_or(now);
        let entities = names::keys_of(tx, engine, bank, &fact.entities, fact.literal, at)?;
        let new = NewMemory {
            context: fact.context.clone(),
            parts: fact.parts.clone(),
            metadata: fact.metadata.clone(),
            tags: fact.tags.clone(),
            document: fact.document,
            chunk: fact.chunk,
            occurred_start: fact.occurred_start,
            occurred_end: fact.occurred_end,
            mentioned_at: fact.mentioned_at,
            order_ms: i64::try_from(fact.position).unwrap_or(0).saturating_mul(10),
            scopes: fact.scopes.clone(),
            consolidated_at: fact.consolidated_at,
            entities,
            vector: vector.clone(),
            ..NewMemory::fact(fact.id.clone(), fact.fact_type, fact.text.clone(), fact.origin)
        };
        keys.push(memories::insert(tx, bank, &new, now)?);
    }
    links::insert(tx, &ties(tx, bank, prepared, &keys)?)?;
    Ok(keys)
}

/// Ties of likeness to stored memories that still live and within the batch, and causes.
fn ties(
    tx: &WriteTx<'_>,
    bank: BankKey,
    prepared: &Prepared,
    keys: &[MemoryKey],
) -> store::Result<Vec<Link>> {
    let stored = prepared.near.iter().flatten().map(|(key, _)| *key).collect();
    let alive = graph::eligible(tx, &Scope::all(bank), &stored)?;
    let mut all = Vec::new();
    for (at, (fact, from)) in prepared.facts.iter().zip(keys).enumerate() {
        let mut near: Vec<(MemoryKey, f64)> =
            prepared.near[at].iter().filter(|(key, _)| alive.contains(key)).copied().collect();
        if let Some(own) = &prepared.vectors[at] {
            for (other, to) in keys.iter().enumerate().take(at) {
                if prepared.facts[other].fact_type != fact.fact_type {
                    continue;
                }
                let Some(vector) = &prepared.vectors[other] else { continue };
                let cosine = f64::from(embed::cosine(own, vector));
                if cosine >= prepared.tie {
                    near.push((*to, cosine));
                }
            }
        }
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        near.truncate(NEIGHBOURS);
        all.extend(near.into_iter().map(|(to, cosine)| Link {
            from: *from,
            kind: LinkKind::Semantic,
            to,
            weight: cosine.clamp(0.0, 1.0),
        }));
        all.extend(fact.caused_by.iter().filter_map(|cause| keys.get(*cause)).map(|to| Link {
            from: *from,
            kind: LinkKind::CausedBy,
            to: *to,
            weight: 1.0,
        }));
    }
    Ok(all)
}

/// Whether a statement says anything: it holds a letter or a digit.
pub(crate) fn says_something(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}
