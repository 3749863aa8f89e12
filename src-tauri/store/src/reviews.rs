//! Counts and short lists that review screens need: how the operations of waiting proposals stand,
//! and which memories of a scope are the newest. Reads only; nothing is decided here.

use std::collections::HashMap;

use crate::error::Result;
use crate::keys::{MemoryKey, ProposalKey};
use crate::proposals::Decision;
use crate::row;
use crate::search::{Clause, Scope};
use crate::tx::ReadTx;

/// How the operations of a proposal that a person can decide stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Nothing said yet.
    pub undecided: u32,
    /// Yes.
    pub accepted: u32,
    /// No.
    pub rejected: u32,
    /// Later.
    pub deferred: u32,
}

impl Counts {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.undecided + self.accepted + self.rejected + self.deferred
    }
}

/// The counts of several proposals in one statement. Operations that were not applied, and those
/// that the document has already, cannot be decided and are not counted.
pub fn decidable(
    tx: &ReadTx<'_>,
    proposals: &[ProposalKey],
) -> Result<HashMap<ProposalKey, Counts>> {
    let rows = tx.list(
        "SELECT o.proposal_id, o.decision, count(*)
         FROM json_each(?1) j CROSS JOIN proposal_op o ON o.proposal_id = j.value
         WHERE o.status = 'applied' AND o.marker IS NOT 'already_done'
         GROUP BY o.proposal_id, o.decision",
        [row::id_list(proposals.iter().map(|p| p.0))],
        |r| Ok((r.get::<_, ProposalKey>(0)?, r.get::<_, Decision>(1)?, row::count(r, 2)?)),
    )?;
    let mut counts: HashMap<ProposalKey, Counts> = HashMap::new();
    for (key, decision, n) in rows {
        let of = counts.entry(key).or_default();
        match decision {
            Decision::Undecided => of.undecided = n,
            Decision::Accepted => of.accepted = n,
            Decision::Rejected => of.rejected = n,
            Decision::Deferred => of.deferred = n,
        }
    }
    Ok(counts)
}

/// The memories of a scope that were written last, newest first, at most `limit`.
pub fn newest_in(tx: &ReadTx<'_>, scope: &Scope, limit: u32) -> Result<Vec<MemoryKey>> {
    if scope.is_empty() {
        return Ok(Vec::new());
    }
    let mut clause = Clause::default();
    scope.restrict(&mut clause);
    let limit = clause.bind(i64::from(limit));
    tx.list(
        &format!(
            "SELECT m.id FROM memory m WHERE{} ORDER BY m.change_seq DESC LIMIT ?{limit}",
            clause.sql
        ),
        rusqlite::params_from_iter(clause.values),
        |r| r.get(0),
    )
}
