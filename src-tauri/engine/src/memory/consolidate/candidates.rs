//! The observations that facts may change: found by each fact's text within the exact scope, with
//! the facts that they rest on. Only reads. A search that fails fails the batch, since going on
//! without candidates would make duplicates.

use super::round::Desk;
use super::select::Waiting;
use crate::Result;
use crate::handle::read_bank;
use crate::memory::search::{SearchRequest, Want, search};
use domain::consolidation::ShownObservation;
use domain::reflect::Budget;
use domain::tag_group::TagFilter;
use domain::tags::{TagSet, TagsMatch};
use domain::tokens::{Cl100k, TokenCounter};
use domain::{FactType, MemoryId};
use std::collections::{BTreeSet, HashMap};
use store::MemoryKey;
use store::memories::{self, Memory, State};

/// Tokens of the observations found for one fact (memory 10.3).
const TOKENS: u32 = 512;
/// Tokens of all facts shown beside observations.
const SOURCE_TOKENS: u32 = 4096;
/// Tokens of the facts shown beside one observation.
const SOURCE_TOKENS_EACH: u32 = 256;

/// An observation that the language model is shown.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) memory: Memory,
    /// Names of the entities of its facts.
    pub(super) entities: Vec<String>,
    /// Facts that it rests on, the newest first, as many as are shown.
    pub(super) sources: Vec<Memory>,
    /// The facts of the batch for which it was found.
    pub(super) shown_for: Vec<MemoryId>,
}

impl Candidate {
    /// For the check of the answer.
    pub(super) fn as_shown(&self) -> ShownObservation {
        ShownObservation {
            id: self.memory.id.0.clone(),
            text: self.memory.text.clone(),
            shown_for: self.shown_for.iter().map(|id| id.0.clone()).collect(),
        }
    }
}

/// Finds them, in the order in which they were first found.
pub(super) async fn find(
    desk: &Desk,
    scope: &[String],
    facts: &[Waiting],
) -> Result<Vec<Candidate>> {
    let mut found: Vec<Candidate> = Vec::new();
    let mut places: HashMap<MemoryKey, usize> = HashMap::new();
    for fact in facts {
        let request = SearchRequest {
            fact_types: vec![FactType::Observation],
            filter: TagFilter {
                tags: TagSet::new(scope),
                tags_match: TagsMatch::Exact,
                groups: Vec::new(),
            },
            interleave: true,
            max_tokens: Some(TOKENS),
            want: Want { entities: true, sources: false },
            ..SearchRequest::new(desk.bank.clone(), fact.memory.text.clone(), Budget::Low)
        };
        for hit in search(&desk.engine, request, &desk.cancel).await?.hits {
            let place = *places.entry(hit.memory.key).or_insert(found.len());
            if place == found.len() {
                found.push(Candidate {
                    memory: hit.memory,
                    entities: hit.entities,
                    sources: Vec::new(),
                    shown_for: Vec::new(),
                });
            }
            found[place].shown_for.push(fact.memory.id.clone());
        }
    }
    with_sources(desk, found).await
}

/// Adds the facts behind candidates. Where texts leave the machine, an observation that rests on a
/// fact which must not is no candidate at all.
pub(super) async fn with_sources(desk: &Desk, mut found: Vec<Candidate>) -> Result<Vec<Candidate>> {
    let keys: Vec<MemoryKey> = found.iter().map(|candidate| candidate.memory.key).collect();
    let mut sources = read_bank(&desk.engine, &desk.bank, move |tx, _| {
        let pairs = memories::sources(tx, &keys)?;
        let facts: BTreeSet<MemoryKey> = pairs.iter().map(|(_, fact)| *fact).collect();
        let facts = memories::by_keys(tx, &facts.into_iter().collect::<Vec<_>>())?;
        let facts: HashMap<MemoryKey, Memory> =
            facts.into_iter().map(|memory| (memory.key, memory)).collect();
        let mut sources: HashMap<MemoryKey, Vec<Memory>> = HashMap::new();
        for (observation, fact) in pairs {
            if let Some(fact) = facts.get(&fact).filter(|fact| fact.state == State::Valid) {
                sources.entry(observation).or_default().push(fact.clone());
            }
        }
        Ok(sources)
    })
    .await?;
    found.retain(|candidate| {
        let own = sources.get(&candidate.memory.key).into_iter().flatten();
        own.chain([&candidate.memory]).all(|memory| !desk.stays_here(&memory.tags))
    });
    let mut left = SOURCE_TOKENS;
    for candidate in &mut found {
        let mut own = sources.remove(&candidate.memory.key).unwrap_or_default();
        own.sort_by_key(|fact| std::cmp::Reverse((fact.event_at, fact.key)));
        let mut each = SOURCE_TOKENS_EACH;
        own.retain(|fact| {
            let size = Cl100k.count(&fact.text);
            let fits = size <= each && size <= left;
            if fits {
                each -= size;
                left -= size;
            }
            fits
        });
        candidate.sources = own;
    }
    Ok(found)
}
