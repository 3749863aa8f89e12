//! Why models need a refresh, for one or for a whole list by the same rule and in a number of
//! statements that does not grow with the memories: one for the newest numbers, one for tombstones
//! of cited memories, one for cited memories that are gone, and one per distinct shape of scope. Stands apart
//! from the models because answers look at it too.

use domain::model::Freshness;
use domain::scope::Scope;
use domain::staleness::{CitedState, StalenessInput, TombstoneCause, freshness};
use domain::trigger::StatedTrigger;
use std::collections::{BTreeSet, HashMap};
use store::freshness::{Newest, Recent};
use store::models::ModelHead;
use store::models::provenance::missing_citations;
use store::tag_sets::TagSets;
use store::tombstones::{Cause, Tombstone};
use store::{BankKey, ModelKey, ReadTx};

/// Newer memories are counted this far; the number decides nothing (mental-models 5.1).
pub(crate) const NEWER_CAP: u32 = 100;

/// So many models are looked up one by one; more with all others of their bank.
const FEW: usize = 32;

/// Tags as a set.
pub(crate) fn tag_set(tags: &BTreeSet<String>) -> domain::tags::TagSet {
    domain::tags::TagSet::new(tags)
}

/// The scope of a model as its row states it.
pub(crate) fn scope_of(head: &ModelHead) -> Scope {
    let trigger = StatedTrigger::from_stored(&head.trigger).0.effective();
    Scope::resolve(head.id.as_str(), &head.tags, &trigger)
}

/// The freshness of one model.
pub(crate) fn of_one(tx: &ReadTx<'_>, bank: BankKey, head: &ModelHead) -> store::Result<Freshness> {
    let mut all = of_all(tx, bank, std::slice::from_ref(head))?;
    Ok(all.remove(&head.key).unwrap_or_default())
}

/// The freshness of several models of a bank.
pub(crate) fn of_all(
    tx: &ReadTx<'_>,
    bank: BankKey,
    heads: &[ModelHead],
) -> store::Result<HashMap<ModelKey, Freshness>> {
    of_scopes(tx, bank, heads, &mut Scopes::default())
}

/// The same, with the look-ups that later counts share.
pub(crate) fn of_scopes(
    tx: &ReadTx<'_>,
    bank: BankKey,
    heads: &[ModelHead],
    scopes: &mut Scopes,
) -> store::Result<HashMap<ModelKey, Freshness>> {
    let write_seq = store::banks::by_key(tx, bank)?.write_seq;
    let grounding = Grounding::read(tx, bank, heads)?;
    let mut found = HashMap::with_capacity(heads.len());
    for head in heads {
        let scope = scope_of(head);
        let seen = head.last_memory_seen_seq.unwrap_or(0);
        // Memories and tombstones share the counter, so a model that has seen its end is settled.
        let scope_has_newer = seen < write_seq
            && scopes.newest(tx, bank, &scope)?.is_some_and(|newest| newest > seen);
        let answer = freshness(&StalenessInput {
            last_memory_seen_seq: head.last_memory_seen_seq,
            source_query: &head.source_query,
            last_refreshed_source_query: head.last_refreshed_source_query.as_deref(),
            scope_has_newer,
            grounding_retracted: grounding.is_retracted(head.key, &scope),
            has_carry_over: head.carry_over_count > 0,
        });
        found.insert(head.key, answer);
    }
    Ok(found)
}

/// Newest numbers and tag sets, read at most once for a list.
pub(crate) struct Scopes {
    newest: Option<Newest>,
    recent: Recent,
    sets: HashMap<String, TagSets>,
}

impl Default for Scopes {
    fn default() -> Self {
        Self { newest: None, recent: Recent::up_to(NEWER_CAP), sets: HashMap::new() }
    }
}

impl Scopes {
    /// The number of the newest memory in a scope.
    fn newest(
        &mut self,
        tx: &ReadTx<'_>,
        bank: BankKey,
        scope: &Scope,
    ) -> store::Result<Option<i64>> {
        let all = domain::FactType::ALL;
        let types = scope.fact_types.as_deref().unwrap_or(&all);
        let (newest, sets, _) = self.read(tx, bank, scope)?;
        Ok(newest.within(types, sets))
    }

    /// How many memories of a scope are newer than a number, counted up to [`NEWER_CAP`].
    pub(crate) fn count_newer(
        &mut self,
        tx: &ReadTx<'_>,
        bank: BankKey,
        scope: &Scope,
        seen: i64,
    ) -> store::Result<u32> {
        let all = domain::FactType::ALL;
        let types = scope.fact_types.as_deref().unwrap_or(&all);
        let (newest, sets, recent) = self.read(tx, bank, scope)?;
        newest.count_newer(tx, bank, (types, sets), seen, recent)
    }

    fn read(
        &mut self,
        tx: &ReadTx<'_>,
        bank: BankKey,
        scope: &Scope,
    ) -> store::Result<(&Newest, &TagSets, &mut Recent)> {
        if self.newest.is_none() {
            self.newest = Some(store::freshness::newest(tx, bank, None)?);
        }
        let newest = self.newest.get_or_insert_default();
        let shape = serde_json::json!([scope.tags, scope.tags_match, scope.tag_groups]).to_string();
        let sets = match self.sets.entry(shape) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(new) => {
                let keeps = |tags: &BTreeSet<String>| scope.keeps_tags(&tag_set(tags));
                new.insert(store::tag_sets::matching(tx, bank, keeps)?)
            }
        };
        Ok((newest, sets, &mut self.recent))
    }
}

/// What became of the citations of all models of a bank.
struct Grounding {
    tombstones: HashMap<ModelKey, Vec<Tombstone>>,
    /// Models that cite memories which are nowhere, with whether they cite others too.
    missing: HashMap<ModelKey, bool>,
    /// Tags and type of re-scoped memories now.
    now: HashMap<String, (domain::tags::TagSet, domain::FactType)>,
}

impl Grounding {
    fn read(tx: &ReadTx<'_>, bank: BankKey, heads: &[ModelHead]) -> store::Result<Self> {
        let keys: Vec<ModelKey> = heads.iter().map(|head| head.key).collect();
        let only = (keys.len() <= FEW).then_some(keys.as_slice());
        let mut tombstones: HashMap<ModelKey, Vec<Tombstone>> = HashMap::new();
        let mut moved = Vec::new();
        for (model, tombstone) in store::tombstones::cited(tx, bank, only)? {
            if tombstone.cause == Cause::Rescoped {
                moved.push(tombstone.memory.clone());
            }
            tombstones.entry(model).or_default().push(tombstone);
        }
        let mut now = HashMap::new();
        if !moved.is_empty() {
            for memory in store::memories::by_ids(tx, bank, &moved)? {
                now.insert(memory.id.0, (tag_set(&memory.tags), memory.fact_type));
            }
        }
        let missing = missing_citations(tx, bank, only)?.into_iter().collect();
        Ok(Self { tombstones, missing, now })
    }

    fn is_retracted(&self, model: ModelKey, scope: &Scope) -> bool {
        let mut states = Vec::new();
        for tombstone in self.tombstones.get(&model).into_iter().flatten() {
            if !is_harmless(tombstone, scope, &self.now) {
                states.push(CitedState::Withdrawn);
            }
        }
        if let Some(finds_others) = self.missing.get(&model) {
            states.push(CitedState::Missing);
            if *finds_others {
                states.push(CitedState::Found);
            }
        }
        domain::staleness::grounding_retracted(&states)
    }
}

/// A re-scoped memory that is still in the model's scope has lost nothing for it.
pub(crate) fn is_harmless(
    tombstone: &Tombstone,
    scope: &Scope,
    now: &HashMap<String, (domain::tags::TagSet, domain::FactType)>,
) -> bool {
    let present = now.get(&tombstone.memory.0);
    let left = domain::staleness::left_scope(
        scope,
        Some(&tag_set(&tombstone.tags)),
        present.map(|(tags, kind)| (tags, *kind)),
    );
    tombstone.cause == Cause::Rescoped && !left
}

/// The cause of a tombstone in the domain's word.
pub(crate) fn cause(cause: Cause) -> TombstoneCause {
    match cause {
        Cause::Deleted => TombstoneCause::Deleted,
        Cause::Invalidated => TombstoneCause::Invalidated,
        Cause::Replaced => TombstoneCause::Replaced,
        Cause::Swept => TombstoneCause::Swept,
        Cause::Rescoped => TombstoneCause::Rescoped,
    }
}
