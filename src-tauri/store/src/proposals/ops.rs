//! The delta operations of a proposal, one row each, and what was decided on them.

use domain::Instant;
use rusqlite::params;
use serde_json::Value;

use crate::error::Result;
use crate::keys::ProposalKey;
use crate::row;
use crate::tx::{ReadTx, WriteTx};

row::words! {
    /// What became of a delta operation in the run.
    OpStatus {
        /// It changed the candidate.
        Applied = "applied",
        /// It changed nothing.
        Noop = "noop",
        /// It could not be applied.
        Skipped = "skipped",
    }
}

row::words! {
    /// What a person decided on a delta operation.
    Decision {
        /// Nothing yet.
        Undecided = "undecided",
        /// Yes.
        Accepted = "accepted",
        /// No.
        Rejected = "rejected",
        /// Later.
        Deferred = "deferred",
    }
}

row::words! {
    /// How a delta operation relates to an earlier proposal or the present document.
    Marker {
        /// The text changed since it was decided.
        Reworded = "reworded",
        /// The document already says so.
        AlreadyDone = "already_done",
        /// The decision was carried over.
        Carried = "carried",
    }
}

row::words! {
    /// Why a delta operation no longer fits.
    Conflict {
        /// The target has another text.
        TextChanged = "text_changed",
        /// The target is in another section.
        Moved = "moved",
        /// The target is gone.
        Missing = "missing",
        /// An operation it needs is in conflict.
        Dependency = "dependency",
        /// All its evidence is gone.
        EvidenceWithdrawn = "evidence_withdrawn",
    }
}

/// A delta operation of a proposal. The JSON fields are the domain's.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposalOp {
    /// Its place in the list, from 0.
    pub index: u32,
    /// Its id.
    pub op_id: String,
    /// The operation.
    pub op: Value,
    /// What became of it in the run.
    pub status: OpStatus,
    /// Why it was skipped or did nothing.
    pub reason: Option<String>,
    /// The id that a new section or block got.
    pub assigned_id: Option<String>,
    /// The ids of the blocks it made.
    pub created_block_ids: Option<Value>,
    /// The ids of all blocks of the section it replaced.
    pub block_ids: Option<Value>,
    /// The table its rows were joined to.
    pub merged_into_block_id: Option<String>,
    /// The elements it resolved, with their hashes.
    pub targets: Value,
    /// The operations it needs.
    pub requires: Value,
    /// Soft dependencies.
    pub hints: Value,
    /// The group it is decided with.
    pub group: Option<String>,
    /// The facts it rests on.
    pub evidence: Value,
    /// The claims it makes.
    pub claims: Value,
    /// Whether it changes a block that a person wrote.
    pub human_touch: bool,
    /// What it is recognised by in a later proposal.
    pub fingerprint: String,
    /// What a person decided.
    pub decision: Decision,
    /// When.
    pub decided_at: Option<Instant>,
    /// The person's note.
    pub note: Option<String>,
    /// How it relates to an earlier proposal or the present document.
    pub marker: Option<Marker>,
    /// Why it no longer fits.
    pub conflict: Option<Conflict>,
}

/// The operations of a proposal, in order.
pub fn ops(tx: &ReadTx<'_>, key: ProposalKey) -> Result<Vec<ProposalOp>> {
    tx.list(
        "SELECT idx, op_id, op, status, reason, assigned_id, created_block_ids, block_ids,
             merged_into_block_id, targets, requires, hints, grp, evidence, claims, human_touch,
             fingerprint, decision, decided_at, note, marker, conflict
         FROM proposal_op WHERE proposal_id = ?1 ORDER BY idx",
        [key],
        |r| {
            Ok(ProposalOp {
                index: row::count(r, 0)?,
                op_id: r.get(1)?,
                op: row::json(r, 2)?,
                status: r.get(3)?,
                reason: r.get(4)?,
                assigned_id: r.get(5)?,
                created_block_ids: row::json_opt(r, 6)?,
                block_ids: row::json_opt(r, 7)?,
                merged_into_block_id: r.get(8)?,
                targets: row::json(r, 9)?,
                requires: row::json(r, 10)?,
                hints: row::json(r, 11)?,
                group: r.get(12)?,
                evidence: row::json(r, 13)?,
                claims: row::json(r, 14)?,
                human_touch: r.get(15)?,
                fingerprint: r.get(16)?,
                decision: r.get(17)?,
                decided_at: row::at_opt(r, 18)?,
                note: r.get(19)?,
                marker: r.get(20)?,
                conflict: r.get(21)?,
            })
        },
    )
}

/// Writes an operation, new or changed. Save the proposal too: its counter covers the operations.
pub fn put_op(tx: &WriteTx<'_>, key: ProposalKey, op: &ProposalOp) -> Result<()> {
    tx.run(
        include_str!("../../sql/proposal_op_put.sql"),
        params![
            key,
            op.index,
            op.op_id,
            row::text(&op.op)?,
            op.status,
            op.reason,
            op.assigned_id,
            row::text_opt(op.created_block_ids.as_ref())?,
            row::text_opt(op.block_ids.as_ref())?,
            op.merged_into_block_id,
            row::text(&op.targets)?,
            row::text(&op.requires)?,
            row::text(&op.hints)?,
            op.group,
            row::text(&op.evidence)?,
            row::text(&op.claims)?,
            op.human_touch,
            op.fingerprint,
            op.decision,
            row::ms(op.decided_at),
            op.note,
            op.marker,
            op.conflict,
        ],
    )?;
    Ok(())
}
