//! Stored ties between memories: likeness and cause. Nearness in time and shared entities are read
//! from indexes when asked for and never stored.

use domain::Instant;
use domain::time::to_millis;

use crate::error::Result;
use crate::keys::MemoryKey;
use crate::row;
use crate::tx::{ReadTx, WriteTx};

/// The kinds of tie. Only likeness and `CausedBy` are made here; the others come with old exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LinkKind {
    /// Near in meaning; the weight is the cosine.
    Semantic,
    /// Near in time, as old exports store it.
    Temporal,
    /// The first was caused by the second.
    CausedBy,
    /// The first causes the second.
    Causes,
    /// The first makes the second possible.
    Enables,
    /// The first keeps the second from happening.
    Prevents,
}

impl LinkKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 6] = [
        Self::Semantic,
        Self::Temporal,
        Self::CausedBy,
        Self::Causes,
        Self::Enables,
        Self::Prevents,
    ];

    pub(crate) fn code(self) -> i64 {
        match self {
            Self::Semantic => 0,
            Self::Temporal => 1,
            Self::CausedBy => 2,
            Self::Causes => 3,
            Self::Enables => 4,
            Self::Prevents => 5,
        }
    }

    pub(crate) fn from_code(code: i64) -> Self {
        Self::ALL.into_iter().find(|k| k.code() == code).unwrap_or(Self::Semantic)
    }

    /// The word of the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Semantic => "semantic",
            Self::Temporal => "temporal",
            Self::CausedBy => "caused_by",
            Self::Causes => "causes",
            Self::Enables => "enables",
            Self::Prevents => "prevents",
        }
    }
}

/// A tie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Where it starts.
    pub from: MemoryKey,
    /// Its kind.
    pub kind: LinkKind,
    /// Where it ends.
    pub to: MemoryKey,
    /// Its strength, 0 to 1.
    pub weight: f64,
}

/// Stores ties; one that exists keeps the greater weight.
pub fn insert(tx: &WriteTx<'_>, links: &[Link]) -> Result<()> {
    for link in links {
        tx.run(
            "INSERT INTO link (from_id, kind, to_id, weight) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (from_id, kind, to_id) DO UPDATE
             SET weight = max(weight, excluded.weight)",
            (link.from, link.kind.code(), link.to, link.weight),
        )?;
    }
    Ok(())
}

/// The ties of some memories, in both directions, strongest first.
pub fn around(tx: &ReadTx<'_>, memories: &[MemoryKey]) -> Result<Vec<Link>> {
    let ids = row::id_list(memories.iter().map(|m| m.0));
    let mut links = tx.list(
        "SELECT l.from_id, l.kind, l.to_id, l.weight
         FROM json_each(?1) j JOIN link l ON l.from_id = j.value
         UNION
         SELECT l.from_id, l.kind, l.to_id, l.weight
         FROM json_each(?1) j JOIN link l ON l.to_id = j.value",
        [ids],
        |r| {
            Ok(Link {
                from: r.get(0)?,
                kind: LinkKind::from_code(r.get(1)?),
                to: r.get(2)?,
                weight: r.get(3)?,
            })
        },
    )?;
    links.sort_by(|a, b| {
        b.weight.total_cmp(&a.weight).then((a.from, a.kind, a.to).cmp(&(b.from, b.kind, b.to)))
    });
    Ok(links)
}

/// Drops a memory's ties of likeness and queues the memories at the other ends, which lost a
/// neighbour.
pub(crate) fn drop_semantic(tx: &WriteTx<'_>, memory: MemoryKey, now: Instant) -> Result<()> {
    tx.run(
        "INSERT INTO topup_queue (memory_id, queued_at)
         SELECT to_id, ?2 FROM link WHERE from_id = ?1 AND kind = 0
         UNION SELECT from_id, ?2 FROM link WHERE to_id = ?1 AND kind = 0
         ON CONFLICT DO NOTHING",
        (memory, to_millis(now)),
    )?;
    tx.run("DELETE FROM link WHERE from_id = ?1 AND kind = 0", [memory])?;
    tx.run("DELETE FROM link WHERE to_id = ?1 AND kind = 0", [memory])?;
    Ok(())
}

/// Queues a memory whose neighbours are to be looked for.
pub fn queue_topup(tx: &WriteTx<'_>, memory: MemoryKey, now: Instant) -> Result<()> {
    tx.run(
        "INSERT INTO topup_queue (memory_id, queued_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        (memory, to_millis(now)),
    )?;
    Ok(())
}

/// The queued memories, oldest first, at most `limit`.
pub fn topup(tx: &ReadTx<'_>, limit: u32) -> Result<Vec<MemoryKey>> {
    tx.list(
        "SELECT memory_id FROM topup_queue ORDER BY queued_at, memory_id LIMIT ?1",
        [limit],
        |r| r.get(0),
    )
}

/// Takes memories off the queue.
pub fn topped_up(tx: &WriteTx<'_>, memories: &[MemoryKey]) -> Result<()> {
    tx.run(
        "DELETE FROM topup_queue WHERE memory_id IN (SELECT value FROM json_each(?1))",
        [row::id_list(memories.iter().map(|m| m.0))],
    )?;
    Ok(())
}
