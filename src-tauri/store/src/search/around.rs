//! What stands around memories that a search found: the entities they mention, the facts they were
//! folded from. Taken from the copy in memory where the snapshot has looked it up before, else from
//! the file. Never takes a copy for it.

use std::collections::HashMap;

use domain::MemoryId;

use crate::entities;
use crate::error::Result;
use crate::keys::{BankKey, EntityKey, KeyMap, MemoryKey};
use crate::memories;
use crate::row;
use crate::tx::ReadTx;

/// The facts that observations of a bank were folded from: pairs of observation and fact, those of
/// one observation together and in order of key.
pub fn sources(
    tx: &ReadTx<'_>,
    bank: BankKey,
    observations: &[MemoryKey],
) -> Result<Vec<(MemoryKey, MemoryKey)>> {
    match tx.matrix_of(bank).flatten() {
        Some(matrix) => matrix.ties().sources(tx, observations),
        None => memories::sources(tx, observations),
    }
}

/// The ids of those of some memories of a bank that are in the file, by key.
pub fn ids(tx: &ReadTx<'_>, bank: BankKey, keys: &[MemoryKey]) -> Result<KeyMap<MemoryId>> {
    match tx.matrix_of(bank).flatten() {
        Some(matrix) => matrix.ties().ids(tx, keys),
        None => Ok(memories::ids(tx, keys)?.into_iter().collect()),
    }
}

/// The entities that some facts mention.
#[derive(Debug, Default)]
pub struct Mentions {
    by: KeyMap<Vec<EntityKey>>,
    names: KeyMap<String, EntityKey>,
}

impl Mentions {
    /// The entities that a fact mentions with their names, in order of key.
    pub fn of(&self, fact: MemoryKey) -> impl Iterator<Item = (EntityKey, &str)> {
        let known = self.by.get(&fact).into_iter().flatten();
        known.filter_map(|entity| Some((*entity, self.names.get(entity)?.as_str())))
    }
}

impl From<HashMap<MemoryKey, Vec<(EntityKey, String)>>> for Mentions {
    fn from(known: HashMap<MemoryKey, Vec<(EntityKey, String)>>) -> Self {
        let mut found = Self::default();
        for (fact, entities) in known {
            found.by.insert(fact, entities.iter().map(|(entity, _)| *entity).collect());
            found.names.extend(entities);
        }
        found
    }
}

/// The entities that some facts of a bank mention.
pub fn mentions(tx: &ReadTx<'_>, bank: BankKey, facts: &[MemoryKey]) -> Result<Mentions> {
    let Some(matrix) = tx.matrix_of(bank).flatten() else {
        return Ok(entities::of_memories(tx, facts)?.into());
    };
    let mut found = Mentions::default();
    matrix.ties().mentioned_by_each(tx, facts, |fact, entities| {
        found.by.insert(fact, entities.to_vec());
    })?;
    let mut entities: Vec<i64> = found.by.values().flatten().map(|entity| entity.0).collect();
    entities.sort_unstable();
    entities.dedup();
    // Names are not kept: an entity may be renamed without any of its memories being written.
    let names = tx.list(
        "SELECT e.id, e.canonical FROM json_each(?1) j CROSS JOIN entity e ON e.id = j.value",
        [row::id_list(entities)],
        |r| Ok((r.get(0)?, r.get(1)?)),
    )?;
    found.names = names.into_iter().collect();
    Ok(found)
}
