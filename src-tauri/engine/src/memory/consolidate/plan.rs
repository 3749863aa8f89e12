//! From a checked answer to what is written: one pass for each scope of a batch, with vectors made
//! and near twins judged beforehand, since nothing may wait inside a commit. Nothing here writes.

use super::call;
use super::candidates::{self, Candidate};
use super::extractive;
use super::round::Desk;
use super::select::{self, Waiting};
use crate::Result;
use crate::handle::read_bank;
use crate::memory::keep;
use domain::consolidation::{
    Answer, CheckedActions, SourceTimes, merge_times, scope_limit, validate_actions,
};
use domain::{FactType, MemoryId};
use llm::Provider;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use store::MemoryKey;
use store::memories::{self, Filter, Memory, State};
use store::search::{Scope, vector};

/// Why a delete is not applied when what was to stand in its place was turned away.
const REPLACEMENT_REJECTED: &str = "replacement_rejected";

/// A memory as it was when it was read; whoever writes checks that it still is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seen {
    pub(super) key: MemoryKey,
    pub(super) seq: i64,
}

impl Seen {
    pub(super) fn of(memory: &Memory) -> Self {
        Self { key: memory.key, seq: memory.change_seq }
    }
}

/// An observation to be rewritten or to gain proof.
#[derive(Debug, Clone)]
pub(super) struct Rewrite {
    pub(super) observation: Seen,
    /// The text from now on; absent where only proof is added.
    pub(super) text: Option<String>,
    pub(super) sources: Vec<Seen>,
    pub(super) reason: String,
    pub(super) vector: Option<Vec<f32>>,
    /// Observations that said the same and become part of it.
    pub(super) absorbs: Vec<Seen>,
}

/// An observation to be made.
#[derive(Debug, Clone)]
pub(super) struct Make {
    pub(super) id: MemoryId,
    pub(super) text: String,
    pub(super) sources: Vec<Seen>,
    pub(super) vector: Option<Vec<f32>>,
}

/// What is written in one scope.
#[derive(Debug, Clone, Default)]
pub(super) struct Pass {
    pub(super) scope: Vec<String>,
    pub(super) deletes: Vec<Seen>,
    pub(super) rewrites: Vec<Rewrite>,
    pub(super) creates: Vec<Make>,
    /// How many actions were turned away, by reason.
    pub(super) rejected: BTreeMap<&'static str, u32>,
}

impl Pass {
    pub(super) fn reject(&mut self, reason: &'static str, n: usize) {
        if n > 0 {
            *self.rejected.entry(reason).or_default() += u32::try_from(n).unwrap_or(u32::MAX);
        }
    }
}

/// Plans one scope of some facts.
///
/// # Errors
/// Those of the searches, the embedder and the language model; `llm_output_invalid`.
pub(super) async fn pass(desk: &Desk, scope: &[String], facts: &[Waiting]) -> Result<Pass> {
    let tags = facts.first().map(|fact| &fact.memory.tags).into_iter().flatten();
    let all: BTreeSet<String> = scope.iter().chain(tags).cloned().collect();
    let provider = match &desk.provider {
        Some(provider) if !desk.stays_here(&all) => provider,
        Some(_) | None => return extractive::pass(desk, scope, facts).await,
    };
    let shown = candidates::find(desk, scope, facts).await?;
    let slots = free_slots(desk, scope).await?;
    let question = call::Question { facts, shown: &shown, slots, note: "" };
    let answer = call::ask(desk, provider.as_ref(), &question).await?;
    of_answer(desk, Some(provider.as_ref()), scope, facts, &shown, slots, answer).await
}

/// Plans what an answer says, as far as it may be applied.
pub(super) async fn of_answer(
    desk: &Desk,
    judge: Option<&dyn Provider>,
    scope: &[String],
    facts: &[Waiting],
    shown: &[Candidate],
    slots: Option<usize>,
    mut answer: Answer,
) -> Result<Pass> {
    let named: Vec<String> = facts.iter().map(|fact| fact.memory.id.0.clone()).collect();
    let seen: Vec<_> = shown.iter().map(Candidate::as_shown).collect();
    let deletes = std::mem::take(&mut answer.deletes);
    let kept = validate_actions(&named, &seen, slots, answer.clone());
    let mut plan = Plan::new(desk, scope, facts, shown);
    // Where something that was to be made or rewritten is turned away, nothing is dropped either: a
    // delete without its replacement would lose what the observation said.
    if kept.rejected.is_empty() {
        plan.take(validate_actions(&named, &seen, slots, Answer { deletes, ..answer }));
    } else {
        plan.pass.reject(REPLACEMENT_REJECTED, deletes.len());
        plan.take(kept);
    }
    plan.finish(judge).await
}

/// How many observations a scope still takes; none for no limit.
pub(super) async fn free_slots(desk: &Desk, scope: &[String]) -> Result<Option<usize>> {
    let settings = &desk.settings;
    let limit =
        scope_limit(&settings.observation_scope_limits, settings.max_observations_per_scope, scope);
    let Ok(limit) = u32::try_from(limit) else { return Ok(None) };
    let scope = scope.to_vec();
    let count = read_bank(&desk.engine, &desk.bank, move |tx, key| {
        let tag_sets = select::exactly(tx, key, &scope)?;
        if tag_sets.is_empty() {
            return Ok(0);
        }
        let own = Filter {
            types: vec![FactType::Observation],
            state: Some(State::Valid),
            tag_sets,
            ..Filter::default()
        };
        memories::count(tx, key, &own)
    })
    .await?;
    Ok(Some(usize::try_from(limit.saturating_sub(count)).unwrap_or(usize::MAX)))
}

/// The vector that an observation is found by: its text with the dates and names of its facts. None
/// where the bank has no vectors or the text must not leave this machine.
pub(super) async fn vector_of(
    desk: &Desk,
    scope: &[String],
    text: &str,
    times: SourceTimes,
    entities: &[String],
) -> Result<Option<Vec<f32>>> {
    let scope: BTreeSet<String> = scope.iter().cloned().collect();
    if !desk.embeds || desk.must_not_be_embedded(&scope) {
        return Ok(None);
    }
    let whole = keep::embedded(text, times.occurred_start, times.occurred_end, entities);
    Ok(desk.engine.embed_passages(&[whole], &desk.cancel).await?.pop())
}

/// The dates of a memory.
pub(super) fn times_of(memory: &Memory) -> SourceTimes {
    SourceTimes {
        occurred_start: memory.occurred_start,
        occurred_end: memory.occurred_end,
        mentioned_at: memory.mentioned_at,
    }
}

/// A pass in the making.
struct Plan<'a> {
    desk: &'a Desk,
    facts: HashMap<&'a str, &'a Waiting>,
    /// Observations known so far: those shown, and twins as they are met.
    known: HashMap<MemoryKey, Candidate>,
    by_id: HashMap<String, MemoryKey>,
    pass: Pass,
}

/// What a new text is near to.
enum Twin {
    Stored(MemoryKey),
    /// The n-th observation that this pass makes.
    New(usize),
}

impl<'a> Plan<'a> {
    fn new(desk: &'a Desk, scope: &[String], facts: &'a [Waiting], shown: &[Candidate]) -> Self {
        Self {
            desk,
            facts: facts.iter().map(|fact| (fact.memory.id.as_str(), fact)).collect(),
            known: shown.iter().map(|one| (one.memory.key, one.clone())).collect(),
            by_id: shown.iter().map(|one| (one.memory.id.0.clone(), one.memory.key)).collect(),
            pass: Pass { scope: scope.to_vec(), ..Pass::default() },
        }
    }

    fn sources(&self, ids: &[String]) -> Vec<Seen> {
        ids.iter()
            .filter_map(|id| self.facts.get(id.as_str()))
            .map(|fact| Seen::of(&fact.memory))
            .collect()
    }

    fn rewrite(
        &self,
        id: &str,
        text: Option<String>,
        sources: &[String],
        reason: String,
    ) -> Option<Rewrite> {
        let memory = &self.known.get(self.by_id.get(id)?)?.memory;
        Some(Rewrite {
            observation: Seen::of(memory),
            text: text.filter(|text| *text != memory.text),
            sources: self.sources(sources),
            reason,
            vector: None,
            absorbs: Vec::new(),
        })
    }

    /// Takes over what may be applied.
    fn take(&mut self, checked: CheckedActions) {
        for why in &checked.rejected {
            self.pass.reject(why.word(), 1);
        }
        for update in checked.updates {
            let reason = update.reason.unwrap_or_else(|| "New facts.".to_owned());
            let text = Some(update.text.trim().to_owned());
            self.pass.rewrites.extend(self.rewrite(
                &update.observation,
                text,
                &update.sources,
                reason,
            ));
        }
        for attach in checked.attach {
            let reason = "Said again.".to_owned();
            self.pass.rewrites.extend(self.rewrite(
                &attach.observation,
                None,
                &attach.sources,
                reason,
            ));
        }
        for create in checked.creates {
            self.pass.creates.push(Make {
                id: MemoryId(self.desk.engine.new_id()),
                text: create.text.trim().to_owned(),
                sources: self.sources(&create.sources),
                vector: None,
            });
        }
        for delete in checked.deletes {
            let known = self.by_id.get(&delete.observation).and_then(|key| self.known.get(key));
            self.pass.deletes.extend(known.map(|one| Seen::of(&one.memory)));
        }
    }

    /// Makes vectors and judges near twins.
    async fn finish(mut self, judge: Option<&dyn Provider>) -> Result<Pass> {
        let threshold = self.desk.settings.consolidation_dedup_threshold.get();
        let judge = judge.filter(|_| threshold < 1.0);
        for at in 0..self.pass.rewrites.len() {
            if let Some(text) = self.pass.rewrites[at].text.clone() {
                self.embed_rewrite(at, &text).await?;
                if let Some(judge) = judge {
                    self.join_rewrite(at, &text, judge, threshold).await?;
                }
            }
        }
        // One that was folded into another has nothing left to do.
        self.pass.rewrites.retain(|one| one.text.is_some() || !one.sources.is_empty());
        for make in std::mem::take(&mut self.pass.creates) {
            let make =
                Make { vector: self.vector_of_make(&make.text, &make.sources).await?, ..make };
            let joined = match judge {
                Some(judge) => self.join_create(&make, judge, threshold).await?,
                None => false,
            };
            if !joined {
                self.pass.creates.push(make);
            }
        }
        Ok(self.pass)
    }

    async fn embed_rewrite(&mut self, at: usize, text: &str) -> Result<()> {
        let one = &self.pass.rewrites[at];
        let Some(known) = self.known.get(&one.observation.key) else { return Ok(()) };
        let (mut names, mut dates) = (known.entities.clone(), vec![times_of(&known.memory)]);
        self.add_facts(&one.sources, &mut names, &mut dates);
        let times = merge_times(dates);
        let vector = vector_of(self.desk, &self.pass.scope, text, times, &names).await?;
        self.pass.rewrites[at].vector = vector;
        Ok(())
    }

    async fn vector_of_make(&self, text: &str, sources: &[Seen]) -> Result<Option<Vec<f32>>> {
        let (mut names, mut dates) = (Vec::new(), Vec::new());
        self.add_facts(sources, &mut names, &mut dates);
        vector_of(self.desk, &self.pass.scope, text, merge_times(dates), &names).await
    }

    fn add_facts(&self, sources: &[Seen], names: &mut Vec<String>, dates: &mut Vec<SourceTimes>) {
        let facts = self
            .facts
            .values()
            .filter(|fact| sources.iter().any(|source| source.key == fact.memory.key));
        let mut facts: Vec<_> = facts.collect();
        facts.sort_by_key(|fact| fact.memory.key);
        for fact in facts {
            dates.push(times_of(&fact.memory));
            for name in &fact.entities {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
        }
    }

    /// The observation of this scope nearest to a new text, at least as near as the threshold;
    /// `own` is the observation that gets the text.
    async fn twin(
        &mut self,
        vector: Option<&Vec<f32>>,
        own: Option<MemoryKey>,
        threshold: f64,
    ) -> Result<Option<Twin>> {
        let Some(vector) = vector else { return Ok(None) };
        let mut taken: BTreeSet<MemoryKey> =
            self.pass.deletes.iter().map(|seen| seen.key).chain(own).collect();
        taken.extend(self.pass.rewrites.iter().flat_map(|one| &one.absorbs).map(|seen| seen.key));
        let (scope, query, wanted) = (self.pass.scope.clone(), vector.clone(), taken.len() + 1);
        let embedder = self.desk.engine.inner.embedder_key;
        let stored = read_bank(&self.desk.engine, &self.desk.bank, move |tx, key| {
            let tag_sets = select::exactly(tx, key, &scope)?;
            let scope = Scope { tag_sets, ..Scope::all(key).only(FactType::Observation) };
            let embedder = store::embedders::get(tx, embedder)?;
            let hits = vector::nearest(tx, &scope, &embedder, &query, wanted, threshold)?;
            let Some(hit) = hits.into_iter().find(|hit| !taken.contains(&hit.key)) else {
                return Ok(None);
            };
            let sources = memories::sources(tx, &[hit.key])?;
            let mut names = crate::memory::search::names(tx, [hit.key].into_iter(), &sources)?;
            let memory = memories::by_keys(tx, &[hit.key])?.pop();
            Ok(memory.map(|memory| {
                let entities = names.remove(&memory.key).unwrap_or_default();
                (hit.score, memory, entities)
            }))
        })
        .await?;
        let made = self.pass.creates.iter().enumerate().filter_map(|(at, make)| {
            let cosine = f64::from(embed::cosine(vector, make.vector.as_ref()?));
            (cosine >= threshold).then_some((cosine, at))
        });
        let made = made.max_by(|a, b| a.0.total_cmp(&b.0));
        Ok(match (stored, made) {
            (Some((near, _, _)), Some((nearer, at))) if nearer > near => Some(Twin::New(at)),
            (Some((_, memory, entities)), _) => {
                let key = memory.key;
                let (sources, shown_for) = (Vec::new(), Vec::new());
                let met = Candidate { memory, entities, sources, shown_for };
                let usable = candidates::with_sources(self.desk, vec![met]).await?.pop();
                usable.map(|met| {
                    self.known.entry(key).or_insert(met);
                    Twin::Stored(key)
                })
            }
            (None, Some((_, at))) => Some(Twin::New(at)),
            (None, None) => None,
        })
    }

    /// Takes the near twin of a rewritten observation into it.
    async fn join_rewrite(
        &mut self,
        at: usize,
        text: &str,
        judge: &dyn Provider,
        threshold: f64,
    ) -> Result<()> {
        let own = self.pass.rewrites[at].observation.key;
        let vector = self.pass.rewrites[at].vector.clone();
        let Some(Twin::Stored(twin)) = self.twin(vector.as_ref(), Some(own), threshold).await?
        else {
            return Ok(());
        };
        let Some(met) = self.known.get(&twin).cloned() else { return Ok(()) };
        let Some(merged) = call::judge_twins(self.desk, judge, text, &met.memory.text).await?
        else {
            return Ok(());
        };
        // What this answer wanted with the twin goes where the twin goes.
        let mut more = Vec::new();
        for other in self.pass.rewrites.iter_mut().filter(|one| one.observation.key == twin) {
            other.text = None;
            more.append(&mut other.sources);
        }
        let one = &mut self.pass.rewrites[at];
        one.absorbs.push(Seen::of(&met.memory));
        add_new(&mut one.sources, more);
        one.text = Some(merged.clone());
        self.embed_rewrite(at, &merged).await
    }

    /// Takes a new observation into its near twin; false where it stays one of its own.
    async fn join_create(
        &mut self,
        make: &Make,
        judge: &dyn Provider,
        threshold: f64,
    ) -> Result<bool> {
        let Some(twin) = self.twin(make.vector.as_ref(), None, threshold).await? else {
            return Ok(false);
        };
        let (place, stored) = match &twin {
            Twin::New(at) => (None, self.pass.creates[*at].text.clone()),
            Twin::Stored(key) => {
                let place = self.pass.rewrites.iter().position(|one| one.observation.key == *key);
                let planned = place.and_then(|at| self.pass.rewrites[at].text.clone());
                let Some(known) = self.known.get(key) else { return Ok(false) };
                (place, planned.unwrap_or_else(|| known.memory.text.clone()))
            }
        };
        let Some(merged) = call::judge_twins(self.desk, judge, &make.text, &stored).await? else {
            return Ok(false);
        };
        match (twin, place) {
            (Twin::New(at), _) => {
                let mut sources = self.pass.creates[at].sources.clone();
                add_new(&mut sources, make.sources.clone());
                let vector = self.vector_of_make(&merged, &sources).await?;
                let id = self.pass.creates[at].id.clone();
                self.pass.creates[at] = Make { id, text: merged, sources, vector };
            }
            (Twin::Stored(_), Some(at)) => {
                let one = &mut self.pass.rewrites[at];
                add_new(&mut one.sources, make.sources.clone());
                one.text = Some(merged.clone());
                self.embed_rewrite(at, &merged).await?;
            }
            (Twin::Stored(key), None) => {
                let Some(known) = self.known.get(&key) else { return Ok(false) };
                self.pass.rewrites.push(Rewrite {
                    observation: Seen::of(&known.memory),
                    text: Some(merged.clone()).filter(|text| *text != known.memory.text),
                    sources: make.sources.clone(),
                    reason: "Nearly the same was said again.".to_owned(),
                    vector: None,
                    absorbs: Vec::new(),
                });
                self.embed_rewrite(self.pass.rewrites.len() - 1, &merged).await?;
            }
        }
        Ok(true)
    }
}

fn add_new(list: &mut Vec<Seen>, more: impl IntoIterator<Item = Seen>) {
    for one in more {
        if !list.contains(&one) {
            list.push(one);
        }
    }
}
