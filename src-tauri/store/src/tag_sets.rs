//! Interned sets of tags. Thousands of memories share a handful of sets, so a filter is decided
//! once per set, by one function that the caller passes in, and becomes a list of keys. What a
//! filter means is not known here.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::error::{Error, Result};
use crate::keys::{BankKey, TagSetKey};
use crate::row;
use crate::tx::{ReadTx, WriteTx};

/// The sets that a filter lets through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TagSets {
    /// Every set of the bank: no filter is needed.
    All,
    /// These ones, in rising order; may be empty.
    These(Vec<TagSetKey>),
}

impl TagSets {
    /// Whether the filter lets a set through.
    #[must_use]
    pub fn admits(&self, set: TagSetKey) -> bool {
        match self {
            Self::All => true,
            Self::These(sets) => sets.binary_search(&set).is_ok(),
        }
    }

    /// Whether nothing at all can pass.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::These(sets) if sets.is_empty())
    }
}

/// The key of a set of tags, made if it is new. Tags are taken as they are: normalising them is
/// the caller's part.
pub fn intern(tx: &WriteTx<'_>, bank: BankKey, tags: &BTreeSet<String>) -> Result<TagSetKey> {
    let canon = row::text(tags)?;
    let known =
        tx.find("SELECT id FROM tag_set WHERE bank_id = ?1 AND canon = ?2", (bank, &canon), |r| {
            r.get(0)
        })?;
    if let Some(key) = known {
        return Ok(key);
    }
    let set = tx.insert(
        "INSERT INTO tag_set (bank_id, canon, n) VALUES (?1, ?2, ?3)",
        (bank, &canon, i64::try_from(tags.len()).unwrap_or(i64::MAX)),
    )?;
    for tag in tags {
        tx.run(
            "INSERT INTO tag (bank_id, name) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            (bank, tag),
        )?;
        tx.run(
            "INSERT INTO tag_set_member (tag_set_id, tag_id)
             SELECT ?3, id FROM tag WHERE bank_id = ?1 AND name = ?2",
            (bank, tag, set),
        )?;
    }
    tx.changed(bank, domain::CacheTag::Tags, None)?;
    Ok(TagSetKey(set))
}

/// The sets of a bank that a predicate lets through. The predicate sees each set once.
pub fn matching(
    tx: &ReadTx<'_>,
    bank: BankKey,
    mut admits: impl FnMut(&BTreeSet<String>) -> bool,
) -> Result<TagSets> {
    let mut all = true;
    let mut keys = Vec::new();
    let mut statement =
        tx.prepare("SELECT id, canon FROM tag_set WHERE bank_id = ?1 ORDER BY id")?;
    let mut rows = statement.query([bank])?;
    while let Some(r) = rows.next()? {
        let tags: BTreeSet<String> = row::parsed(r, 1)?;
        if admits(&tags) {
            keys.push(r.get(0)?);
        } else {
            all = false;
        }
    }
    Ok(if all { TagSets::All } else { TagSets::These(keys) })
}

/// Whether any of some memories carries one of the tags. One that is gone keeps the tags it went
/// with; one whose tags were changed has only the new ones.
pub fn any_carries(
    tx: &ReadTx<'_>,
    bank: BankKey,
    memories: &[domain::MemoryId],
    tags: &domain::tags::TagSet,
) -> Result<bool> {
    if memories.is_empty() || tags.is_empty() {
        return Ok(false);
    }
    let sets: Vec<TagSetKey> = tx.list(
        "SELECT tag_set_id FROM memory
         WHERE bank_id = ?1 AND uid IN (SELECT value FROM json_each(?2))
         UNION
         SELECT tag_set_id FROM tombstone
         WHERE bank_id = ?1 AND memory_uid IN (SELECT value FROM json_each(?2))
           AND cause <> 'rescoped'",
        (bank, row::text(memories)?),
        |r| r.get(0),
    )?;
    let sets = tags_of(tx, sets)?;
    Ok(sets.values().any(|set| domain::tags::TagSet::new(set).overlaps(tags)))
}

/// The tags of a set.
///
/// # Errors
/// A key that is not in the file is a damaged file: nothing removes a set that is named.
pub fn tags(tx: &ReadTx<'_>, set: TagSetKey) -> Result<BTreeSet<String>> {
    tx.find("SELECT canon FROM tag_set WHERE id = ?1", [set], |r| row::parsed(r, 0))?
        .ok_or_else(|| Error::damaged(format!("tag set {} is missing", set.0)))
}

/// The tags of several sets at once.
pub fn tags_of(
    tx: &ReadTx<'_>,
    sets: impl IntoIterator<Item = TagSetKey>,
) -> Result<HashMap<TagSetKey, BTreeSet<String>>> {
    let wanted: BTreeSet<i64> = sets.into_iter().map(|s| s.0).collect();
    let rows = tx.list(
        "SELECT id, canon FROM tag_set WHERE id IN (SELECT value FROM json_each(?1))",
        [row::id_list(wanted)],
        |r| Ok((r.get(0)?, row::parsed(r, 1)?)),
    )?;
    Ok(rows.into_iter().collect())
}

/// How many valid memories carry each set, the untagged one included; sets with none are left out.
pub fn memory_counts(tx: &ReadTx<'_>, bank: BankKey) -> Result<Vec<(BTreeSet<String>, u32)>> {
    tx.list(
        "SELECT s.canon, count(*) FROM memory m JOIN tag_set s ON s.id = m.tag_set_id
         WHERE m.bank_id = ?1 AND m.state = 0 GROUP BY m.tag_set_id ORDER BY 2 DESC, 1",
        [bank],
        |r| Ok((row::parsed(r, 0)?, row::count(r, 1)?)),
    )
}

/// How many valid memories carry each tag, by count falling, then name.
pub fn tag_counts(tx: &ReadTx<'_>, bank: BankKey) -> Result<Vec<(String, u32)>> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for (tags, n) in memory_counts(tx, bank)? {
        for tag in tags {
            *counts.entry(tag).or_default() += n;
        }
    }
    let mut list: Vec<_> = counts.into_iter().collect();
    list.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Ok(list)
}

/// Every tag that a memory, a directive or a mental model of the bank has ever carried: the pool
/// that fuzzy tags are resolved against.
pub fn pool(tx: &ReadTx<'_>, bank: BankKey) -> Result<Vec<String>> {
    tx.list("SELECT name FROM tag WHERE bank_id = ?1 ORDER BY name", [bank], |r| r.get(0))
}
