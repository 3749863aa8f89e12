//! What memories are tied to, kept in memory beside the vectors: which of them mention an entity,
//! which entities a fact mentions, which observations a fact was folded into. Questions about one
//! bank come back to the same names, and walking the indexes for each of them is the larger part of
//! a search. A list is read when it is first asked for. Knows nothing of scopes.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Result;
use crate::keys::{EntityKey, KeyMap, MemoryKey};
use crate::memories;
use crate::row;
use crate::tx::ReadTx;
use domain::MemoryId;

/// Most ties held of a bank: 32 MB.
const MOST: usize = 4_000_000;
/// Ties that take as much memory as an id with its text.
const ID_TIES: usize = 12;

/// The ties of one state of a bank.
#[derive(Debug, Default)]
pub(crate) struct Ties(Mutex<Lists>);

#[derive(Debug, Default, Clone)]
struct Lists {
    /// Newest key first.
    mentioning: HashMap<EntityKey, Arc<[MemoryKey]>>,
    mentioned: KeyMap<Box<[EntityKey]>>,
    folded: KeyMap<Box<[MemoryKey]>>,
    sources: KeyMap<Box<[MemoryKey]>>,
    ids: KeyMap<MemoryId>,
    held: usize,
}

impl Clone for Ties {
    fn clone(&self) -> Self {
        Self(Mutex::new(self.lock().clone()))
    }
}

impl Ties {
    fn lock(&self) -> MutexGuard<'_, Lists> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The memories that mention an entity, newest key first.
    pub(crate) fn mentioning(
        &self,
        tx: &ReadTx<'_>,
        entity: EntityKey,
    ) -> Result<Arc<[MemoryKey]>> {
        if let Some(known) = self.lock().mentioning.get(&entity) {
            return Ok(Arc::clone(known));
        }
        let list: Arc<[MemoryKey]> = tx
            .list(
                "SELECT memory_id FROM memory_entity WHERE entity_id = ?1 ORDER BY memory_id DESC",
                [entity],
                |r| r.get(0),
            )?
            .into();
        let mut lists = self.lock();
        lists.make_room(list.len());
        lists.mentioning.insert(entity, Arc::clone(&list));
        Ok(list)
    }

    /// The entities that some facts mention, in order, each once.
    pub(crate) fn mentioned(&self, tx: &ReadTx<'_>, facts: &[MemoryKey]) -> Result<Vec<EntityKey>> {
        let mut found = Vec::new();
        self.mentioned_by_each(tx, facts, |_, list| found.extend_from_slice(list))?;
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Tells for each of some facts the entities that it mentions, in order of key.
    pub(crate) fn mentioned_by_each(
        &self,
        tx: &ReadTx<'_>,
        facts: &[MemoryKey],
        tell: impl FnMut(MemoryKey, &[EntityKey]),
    ) -> Result<()> {
        each(
            tx,
            "SELECT entity_id FROM memory_entity WHERE memory_id = ?1 ORDER BY entity_id",
            &mut self.lock(),
            |lists| &mut lists.mentioned,
            facts.iter().copied(),
            tell,
        )
    }

    /// The observations that some facts were folded into, with how many of them.
    pub(crate) fn folded(
        &self,
        tx: &ReadTx<'_>,
        facts: impl Iterator<Item = MemoryKey>,
    ) -> Result<KeyMap<u32>> {
        let mut found: KeyMap<u32> = KeyMap::default();
        each(
            tx,
            "SELECT observation_id FROM observation_source WHERE source_id = ?1",
            &mut self.lock(),
            |lists| &mut lists.folded,
            facts,
            |_, list| {
                for observation in list {
                    *found.entry(*observation).or_default() += 1;
                }
            },
        )?;
        Ok(found)
    }

    /// The facts that some observations were folded from: pairs of observation and fact.
    pub(crate) fn sources(
        &self,
        tx: &ReadTx<'_>,
        observations: &[MemoryKey],
    ) -> Result<Vec<(MemoryKey, MemoryKey)>> {
        let mut found = Vec::new();
        each(
            tx,
            "SELECT source_id FROM observation_source WHERE observation_id = ?1 ORDER BY source_id",
            &mut self.lock(),
            |lists| &mut lists.sources,
            observations.iter().copied(),
            |observation, list| found.extend(list.iter().map(|fact| (observation, *fact))),
        )?;
        Ok(found)
    }

    /// The ids of those of some memories that are in the file, by key.
    pub(crate) fn ids(&self, tx: &ReadTx<'_>, keys: &[MemoryKey]) -> Result<KeyMap<MemoryId>> {
        let mut lists = self.lock();
        let unknown: Vec<MemoryKey> =
            keys.iter().copied().filter(|key| !lists.ids.contains_key(key)).collect();
        if !unknown.is_empty() {
            lists.make_room(unknown.len() * ID_TIES);
            lists.ids.extend(memories::ids(tx, &unknown)?);
        }
        Ok(keys.iter().filter_map(|key| Some((*key, lists.ids.get(key)?.clone()))).collect())
    }

    /// Reads anew which facts were folded into which observations.
    pub(crate) fn forget_folded(&self) {
        let mut lists = self.lock();
        lists.folded.clear();
        lists.sources.clear();
        lists.ids.clear();
    }

    /// The ties after some memories were written: what the file says of them, the rest as it was.
    /// A tie never moves without one of its memories being written.
    pub(crate) fn moved_on(&self, tx: &ReadTx<'_>, changed: &[MemoryKey]) -> Result<Self> {
        let moved = self.clone();
        let mut lists = moved.lock();
        let written: HashSet<MemoryKey> = changed.iter().copied().collect();
        for key in changed {
            lists.mentioned.remove(key);
            lists.folded.remove(key);
            lists.sources.remove(key);
            lists.ids.remove(key);
        }
        let ids = || [row::id_list(changed.iter().map(|key| key.0))];
        let mut now: HashMap<EntityKey, Vec<MemoryKey>> = HashMap::new();
        let rows: Vec<(EntityKey, MemoryKey)> = tx.list(
            "SELECT e.entity_id, e.memory_id FROM json_each(?1) j
             CROSS JOIN memory_entity e ON e.memory_id = j.value",
            ids(),
            |r| Ok((r.get(0)?, r.get(1)?)),
        )?;
        for (entity, memory) in rows {
            now.entry(entity).or_default().push(memory);
        }
        for (entity, list) in &mut lists.mentioning {
            let new = now.remove(entity).unwrap_or_default();
            if new.is_empty() && !list.iter().any(|key| written.contains(key)) {
                continue;
            }
            let stay = list.iter().filter(|key| !written.contains(key));
            let mut fresh: Vec<MemoryKey> = stay.copied().chain(new).collect();
            fresh.sort_unstable_by(|a, b| b.cmp(a));
            *list = fresh.into();
        }
        let sources: Vec<MemoryKey> = tx.list(
            "SELECT o.source_id FROM json_each(?1) j
             CROSS JOIN observation_source o ON o.observation_id = j.value",
            ids(),
            |r| r.get(0),
        )?;
        // The sources that an observation had before are unknown, but they hold its key.
        lists.folded.retain(|_, list| !list.iter().any(|key| written.contains(key)));
        for source in sources {
            lists.folded.remove(&source);
        }
        drop(lists);
        Ok(moved)
    }
}

/// Tells the list of each key, out of one of the kept kinds; one that is not kept is read.
fn each<T: rusqlite::types::FromSql>(
    tx: &ReadTx<'_>,
    sql: &str,
    lists: &mut Lists,
    kind: impl Fn(&mut Lists) -> &mut KeyMap<Box<[T]>>,
    keys: impl Iterator<Item = MemoryKey>,
    mut tell: impl FnMut(MemoryKey, &[T]),
) -> Result<()> {
    let mut statement = tx.prepare(sql)?;
    for key in keys {
        if let Some(known) = kind(lists).get(&key) {
            tell(key, known);
            continue;
        }
        let rows = statement.query_map([key], |r| r.get(0))?;
        let list: Box<[T]> = rows.collect::<rusqlite::Result<_>>()?;
        tell(key, &list);
        lists.make_room(list.len() + 1);
        kind(lists).insert(key, list);
    }
    Ok(())
}

impl Lists {
    fn make_room(&mut self, more: usize) {
        self.held += more;
        if self.held > MOST {
            *self = Self { held: more, ..Self::default() };
        }
    }
}
