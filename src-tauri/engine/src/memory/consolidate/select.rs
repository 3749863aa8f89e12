//! Which facts are folded together: read in order of age, each with the scopes it belongs in, and cut
//! into batches of one tag set and one list of scopes. Only reads.

use crate::memory::search::names;
use domain::bank::BankSettings;
use domain::consolidation::{PendingFact, ScopeRule, batches, scopes};
use domain::tags::TagSet;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use store::memories::{self, Memory, State};
use store::tag_sets::{self, TagSets};
use store::{BankKey, MemoryKey, ReadTx};

/// A fact that waits.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pub(super) memory: Memory,
    /// Names of its entities.
    pub(super) entities: Vec<String>,
}

/// Facts that may share a call.
#[derive(Debug, Clone)]
pub(super) struct Batch {
    /// The tags of each of them.
    pub(super) tags: Vec<String>,
    /// The scopes of each of them.
    pub(super) scopes: Vec<Vec<String>>,
    pub(super) facts: Vec<Waiting>,
}

/// A page of work.
#[derive(Debug, Default)]
pub(super) struct Work {
    pub(super) batches: Vec<Batch>,
    /// Facts that cannot be folded as they are, and why.
    pub(super) unfit: Vec<(MemoryKey, String)>,
}

/// The tag sets that qualify: those that hold every tag of one of the scopes asked for.
pub(super) fn qualifying(
    tx: &ReadTx<'_>,
    bank: BankKey,
    asked: Option<&[Vec<String>]>,
) -> store::Result<TagSets> {
    let Some(asked) = asked else { return Ok(TagSets::All) };
    let asked: Vec<TagSet> = asked.iter().map(TagSet::new).collect();
    tag_sets::matching(tx, bank, |tags| {
        let tags = TagSet::new(tags);
        asked.iter().any(|scope| tags.covers(scope))
    })
}

/// The tag set that is exactly a scope.
pub(super) fn exactly(tx: &ReadTx<'_>, bank: BankKey, scope: &[String]) -> store::Result<TagSets> {
    let scope: BTreeSet<&String> = scope.iter().collect();
    tag_sets::matching(tx, bank, |tags| tags.iter().eq(scope.iter().copied()))
}

/// The scopes of a fact. A tag that keeps memories on this machine stays on everything made of them,
/// so a scope without it is widened by it (README 62).
///
/// # Errors
/// Why there are none, in words for people.
pub(super) fn scopes_of(
    tags: &BTreeSet<String>,
    given: Option<&Value>,
    settings: &BankSettings,
) -> Result<Vec<Vec<String>>, String> {
    let rule = match given {
        Some(given) => ScopeRule::parse(given).map_err(|why| why.to_string())?,
        None => settings.observation_scopes(),
    };
    let own: Vec<String> = tags.iter().cloned().collect();
    let private = settings.local_only();
    let marks: Vec<&String> = own.iter().filter(|tag| private.contains(tag)).collect();
    let mut seen = BTreeSet::new();
    Ok(scopes(&own, &rule)
        .map_err(|why| why.to_string())?
        .into_iter()
        .map(|scope| TagSet::new(scope.iter().chain(marks.iter().copied())).to_vec())
        .filter(|scope| seen.insert(scope.clone()))
        .collect())
}

/// Reads facts, those that wait no longer left out, and cuts them into batches.
pub(super) fn read(
    tx: &ReadTx<'_>,
    keys: &[MemoryKey],
    settings: &BankSettings,
) -> store::Result<Work> {
    let mut entities = names(tx, keys.iter().copied(), &[])?;
    let mut work = Work::default();
    let mut pending = Vec::new();
    let mut known = HashMap::new();
    for memory in memories::by_keys(tx, keys)? {
        if !waits(&memory) {
            continue;
        }
        match scopes_of(&memory.tags, memory.scopes.as_ref(), settings) {
            Ok(scopes) => {
                let tags = memory.tags.iter().cloned().collect();
                pending.push(PendingFact { id: memory.key, tags, scopes });
                let entities = entities.remove(&memory.key).unwrap_or_default();
                known.insert(memory.key, Waiting { memory, entities });
            }
            Err(why) => work.unfit.push((memory.key, why)),
        }
    }
    let size = usize::try_from(settings.consolidation_llm_batch_size).unwrap_or(1);
    work.batches = batches(&pending, size)
        .into_iter()
        .map(|batch| Batch {
            tags: batch.tags,
            scopes: batch.scopes,
            facts: batch.facts.iter().filter_map(|key| known.remove(key)).collect(),
        })
        .collect();
    Ok(work)
}

/// Whether a memory waits to be folded.
pub(super) fn waits(memory: &Memory) -> bool {
    memory.fact_type != domain::FactType::Observation
        && memory.state == State::Valid
        && memory.consolidated_at.is_none()
        && memory.consolidation_failed_at.is_none()
}
