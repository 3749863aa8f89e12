//! Writing what was planned for a batch, in one commit: every memory is looked at again, and what
//! changed since it was read is not built upon. Calls nobody and decides nothing new.

use super::plan::{Make, Pass, Rewrite, Seen, times_of};
use super::queue::Payload;
use super::select::waits;
use domain::consolidation::merge_times;
use domain::{FactType, Instant};
use std::collections::{BTreeSet, HashMap};
use store::memories::{self, Memory, NewMemory, ObservationChange, Origin, State};
use store::{BankKey, MemoryKey, OperationKey, WriteTx};

/// What is to be written.
#[derive(Debug)]
pub(super) struct Order {
    /// The operation that keeps what models must be told of.
    pub(super) operation: Option<OperationKey>,
    /// The facts of the batch; none where observations are rewritten by themselves.
    pub(super) facts: Vec<Seen>,
    /// Their tags.
    pub(super) tags: Vec<String>,
    pub(super) passes: Vec<Pass>,
    pub(super) history_limit: u32,
}

/// What a batch came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counts {
    pub(super) facts: u32,
    pub(super) created: u32,
    pub(super) updated: u32,
    pub(super) deleted: u32,
}

/// Writes a batch. None, and nothing written, when an observation that it builds on changed
/// meanwhile; its facts then wait as before.
pub(super) fn write(
    tx: &WriteTx<'_>,
    bank: BankKey,
    order: &Order,
    now: Instant,
) -> store::Result<Option<Counts>> {
    let memories = reread(tx, order)?;
    let holds = |seen: &Seen| {
        memories
            .get(&seen.key)
            .filter(|memory| memory.state == State::Valid && memory.change_seq == seen.seq)
    };
    for pass in &order.passes {
        let absorbed = pass.rewrites.iter().flat_map(|one| &one.absorbs);
        let rewritten = pass.rewrites.iter().map(|one| &one.observation);
        if !pass.deletes.iter().chain(rewritten).chain(absorbed).all(|seen| holds(seen).is_some()) {
            return Ok(None);
        }
    }
    let alive: Vec<MemoryKey> = order
        .facts
        .iter()
        .filter(|seen| holds(seen).is_some_and(waits))
        .map(|seen| seen.key)
        .collect();
    let mut writing = Writing { tx, bank, now, order, counts: Counts::default() };
    for pass in &order.passes {
        // A delete was decided in the light of every fact of the batch.
        if alive.len() == order.facts.len() {
            for seen in &pass.deletes {
                if let Some(observation) = holds(seen) {
                    memories::drop_superseded(tx, observation, now)?;
                    writing.counts.deleted += 1;
                }
            }
        }
        for one in &pass.rewrites {
            let sources: Vec<&Memory> = one.sources.iter().filter_map(holds).collect();
            let absorbed: Vec<&Memory> = one.absorbs.iter().filter_map(holds).collect();
            if let Some(old) = holds(&one.observation) {
                writing.rewrite(one, old, &sources, &absorbed)?;
            }
        }
        for make in &pass.creates {
            let sources: Vec<&Memory> = make.sources.iter().filter_map(holds).collect();
            writing.create(make, &pass.scope, &sources)?;
        }
    }
    memories::mark_consolidated(tx, &alive, now)?;
    writing.counts.facts = u32::try_from(alive.len()).unwrap_or(u32::MAX);
    store::banks::set_consolidated(tx, bank, now)?;
    writing.note_touched()?;
    Ok(Some(writing.counts))
}

fn reread(tx: &WriteTx<'_>, order: &Order) -> store::Result<HashMap<MemoryKey, Memory>> {
    let mut keys: BTreeSet<MemoryKey> = order.facts.iter().map(|seen| seen.key).collect();
    for pass in &order.passes {
        keys.extend(pass.deletes.iter().map(|seen| seen.key));
        keys.extend(pass.creates.iter().flat_map(|make| &make.sources).map(|seen| seen.key));
        for one in &pass.rewrites {
            let all = one.sources.iter().chain(&one.absorbs).chain([&one.observation]);
            keys.extend(all.map(|seen| seen.key));
        }
    }
    let keys: Vec<MemoryKey> = keys.into_iter().collect();
    Ok(memories::by_keys(tx, &keys)?.into_iter().map(|memory| (memory.key, memory)).collect())
}

struct Writing<'a, 'c> {
    tx: &'a WriteTx<'c>,
    bank: BankKey,
    now: Instant,
    order: &'a Order,
    counts: Counts,
}

impl Writing<'_, '_> {
    fn rewrite(
        &mut self,
        one: &Rewrite,
        old: &Memory,
        sources: &[&Memory],
        absorbed: &[&Memory],
    ) -> store::Result<()> {
        let known: BTreeSet<MemoryKey> =
            memories::sources(self.tx, &[old.key])?.into_iter().map(|(_, fact)| fact).collect();
        let new: Vec<MemoryKey> =
            sources.iter().map(|fact| fact.key).filter(|key| !known.contains(key)).collect();
        // Every fact that asked for it is gone.
        let orphaned = sources.is_empty() && !one.sources.is_empty();
        let text = one.text.as_ref().filter(|text| **text != old.text);
        if orphaned || (text.is_none() && new.is_empty() && absorbed.is_empty()) {
            if old.needs_review && !orphaned {
                memories::keep_as_reviewed(self.tx, old)?;
            }
            return Ok(());
        }
        let dates = sources.iter().chain(absorbed).map(|memory| times_of(memory));
        let times = merge_times(dates.chain([times_of(old)]));
        let change = ObservationChange {
            text: text.unwrap_or(&old.text).clone(),
            new_sources: new,
            times: [times.occurred_start, times.occurred_end, times.mentioned_at],
            reason: one.reason.clone(),
            vector: text.and_then(|_| one.vector.clone()),
            history_limit: self.order.history_limit,
        };
        memories::update_observation(self.tx, old, &change, self.now)?;
        for gone in absorbed {
            memories::absorb(self.tx, old.key, gone, self.now)?;
            self.counts.deleted += 1;
        }
        self.counts.updated += 1;
        Ok(())
    }

    fn create(&mut self, make: &Make, scope: &[String], sources: &[&Memory]) -> store::Result<()> {
        if sources.is_empty() {
            return Ok(());
        }
        let times = merge_times(sources.iter().map(|memory| times_of(memory)));
        let new = NewMemory {
            tags: scope.iter().cloned().collect(),
            occurred_start: times.occurred_start,
            occurred_end: times.occurred_end,
            mentioned_at: times.mentioned_at,
            sources: sources.iter().map(|fact| fact.key).collect(),
            vector: make.vector.clone(),
            ..NewMemory::fact(
                make.id.clone(),
                FactType::Observation,
                make.text.clone(),
                Origin::Folded,
            )
        };
        memories::insert(self.tx, self.bank, &new, self.now)?;
        self.counts.created += 1;
        Ok(())
    }

    /// Adds the tags of facts and scopes to what models must be told of, and lets recoveries count
    /// anew.
    fn note_touched(&self) -> store::Result<()> {
        let Some(key) = self.order.operation else { return Ok(()) };
        let mut payload = Payload::of(&store::operations::by_key(self.tx, key)?);
        let changed = |pass: &&Pass| {
            !(pass.deletes.is_empty() && pass.rewrites.is_empty() && pass.creates.is_empty())
        };
        let scopes = self.order.passes.iter().filter(changed).flat_map(|pass| &pass.scope);
        payload.touch(true, self.order.tags.iter().chain(scopes).cloned().collect());
        payload.write(self.tx, key)?;
        store::operations::step_committed(self.tx, key, self.now)
    }
}
