//! Proposals: finished refreshes that wait for a person, their operations and what was decided.
//! Closures, rebase and folding are decided elsewhere; the caller reads a proposal, changes it and
//! saves it in one transaction, and a counter tells when somebody else was quicker.

mod ops;

use domain::time::to_millis;
use domain::{CacheTag, Instant, MemoryId, ModelId, OperationId, ProposalId};
use rusqlite::{Row, params};
use serde_json::Value;

pub use ops::{Conflict, Decision, Marker, OpStatus, ProposalOp, ops, put_op};

use crate::error::{Error, Result, Thing};
use crate::keys::{BankKey, ModelKey, ProposalKey};
use crate::row;
use crate::tx::{ReadTx, WriteTx};

row::words! {
    /// Where a proposal stands.
    ProposalState {
        /// Untouched.
        Open = "open",
        /// A decision, note or edit was saved.
        InReview = "in_review",
        /// At least one operation no longer fits.
        Conflicted = "conflicted",
        /// Approved as a whole.
        Approved = "approved",
        /// Approved in part.
        PartiallyApproved = "partially_approved",
        /// Rejected.
        Rejected = "rejected",
        /// Replaced by a newer one, or its document went.
        Superseded = "superseded",
    }
}

impl ProposalState {
    /// Whether it still waits for a decision.
    #[must_use]
    pub fn is_waiting(self) -> bool {
        matches!(self, Self::Open | Self::InReview | Self::Conflicted)
    }
}

row::words! {
    /// Why a refresh ended as a proposal.
    ProposalReason {
        /// The model asks for review.
        ReviewManual = "review_manual",
        /// It would remove much.
        LargeRemoval = "large_removal",
        /// Deltas were refused too often.
        DeltaWedged = "delta_wedged",
        /// The document moved while it ran.
        DocumentChanged = "document_changed",
        /// A dry run that was kept.
        KeptDryRun = "kept_dry_run",
        /// The published file was changed outside.
        OutsideEdit = "outside_edit",
    }
}

row::words! {
    /// What kind of run made it.
    ProposalOrigin {
        /// A full refresh.
        Full = "full",
        /// A delta refresh.
        Delta = "delta",
        /// Facts were taken back.
        Retraction = "retraction",
        /// The published file.
        File = "file",
    }
}

row::words! {
    /// How finely it can be decided.
    Granularity {
        /// Operation by operation.
        Ops = "ops",
        /// All or nothing.
        Whole = "whole",
    }
}

row::words! {
    /// What a rejection means for the next refresh.
    Disposition {
        /// Try again over the same facts.
        Retry = "retry",
        /// The facts are dealt with.
        Dismiss = "dismiss",
    }
}

/// A proposal without its long fields.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposalHead {
    /// Its key.
    pub key: ProposalKey,
    /// Its id.
    pub id: ProposalId,
    /// Its model's key.
    pub model: ModelKey,
    /// Its model's id.
    pub model_id: ModelId,
    /// Its number in the model.
    pub number: u32,
    /// Where it stands.
    pub state: ProposalState,
    /// Counts every saved decision, note, edit and rebase.
    pub state_seq: u32,
    /// Why it exists.
    pub reason: ProposalReason,
    /// What kind of run made it.
    pub origin: ProposalOrigin,
    /// How finely it can be decided.
    pub granularity: Granularity,
    /// The version it was computed from.
    pub base_version: u32,
    /// The watermark the document gets when it is approved.
    pub watermark_seq: Option<i64>,
    /// The newest data its run looked at.
    pub cutoff_seq: i64,
    /// The question it answers.
    pub source_query: String,
    /// The operation that made it.
    pub operation: Option<OperationId>,
    /// The one that replaced it.
    pub superseded_by: Option<ProposalId>,
    /// When it was made.
    pub created_at: Instant,
    /// When it was decided or replaced.
    pub resolved_at: Option<Instant>,
    /// The note of the decision.
    pub resolution_note: Option<String>,
    /// What a rejection means.
    pub disposition: Option<Disposition>,
}

/// A proposal, whole, without its operations.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// Everything but the long fields.
    pub head: ProposalHead,
    /// The structure it was computed from.
    pub base_structure: Value,
    /// The text if everything is accepted.
    pub candidate_content: String,
    /// The structure if everything is accepted.
    pub candidate_structure: Value,
    /// What the run could read.
    pub window: Value,
    /// The resolved scope.
    pub scope: Value,
    /// Tags, trigger and budget at the time.
    pub settings: Value,
    /// Every fact in evidence, with text as read.
    pub facts_used: Value,
    /// The structured view of the candidate.
    pub structured_output: Option<Value>,
    /// The trace of the run.
    pub trace: Value,
    /// Its usage.
    pub usage: Value,
    /// Its warnings.
    pub warnings: Value,
    /// The person's text.
    pub edited_content: Option<String>,
    /// The person's structure.
    pub draft_structure: Option<Value>,
}

const HEAD: &str = "p.id, p.uid, p.model_id, m.uid, p.number, p.state, p.state_seq, p.reason, \
    p.origin, p.granularity, p.base_version, p.watermark_seq, p.cutoff_seq, p.source_query, \
    p.operation_uid, p.superseded_by, p.created_at, p.resolved_at, p.resolution_note, p.disposition";

const BODY: &str = "p.base_structure, p.candidate_content, p.candidate_structure, p.\"window\", \
    p.scope, p.settings, p.facts_used, p.structured_output, p.trace, p.usage, p.warnings, \
    p.edited_content, p.draft_structure";

const FROM: &str = "FROM proposal p JOIN mental_model m ON m.id = p.model_id";

fn read_head(r: &Row<'_>) -> rusqlite::Result<ProposalHead> {
    Ok(ProposalHead {
        key: r.get(0)?,
        id: ProposalId(r.get(1)?),
        model: r.get(2)?,
        model_id: ModelId(r.get(3)?),
        number: row::count(r, 4)?,
        state: r.get(5)?,
        state_seq: row::count(r, 6)?,
        reason: r.get(7)?,
        origin: r.get(8)?,
        granularity: r.get(9)?,
        base_version: row::count(r, 10)?,
        watermark_seq: r.get(11)?,
        cutoff_seq: r.get(12)?,
        source_query: r.get(13)?,
        operation: r.get::<_, Option<String>>(14)?.map(OperationId),
        superseded_by: r.get::<_, Option<String>>(15)?.map(ProposalId),
        created_at: row::at(r, 16)?,
        resolved_at: row::at_opt(r, 17)?,
        resolution_note: r.get(18)?,
        disposition: r.get(19)?,
    })
}

fn read(r: &Row<'_>) -> rusqlite::Result<Proposal> {
    Ok(Proposal {
        head: read_head(r)?,
        base_structure: row::json(r, 20)?,
        candidate_content: r.get(21)?,
        candidate_structure: row::json(r, 22)?,
        window: row::json(r, 23)?,
        scope: row::json(r, 24)?,
        settings: row::json(r, 25)?,
        facts_used: row::json(r, 26)?,
        structured_output: row::json_opt(r, 27)?,
        trace: row::json(r, 28)?,
        usage: row::json(r, 29)?,
        warnings: row::json(r, 30)?,
        edited_content: r.get(31)?,
        draft_structure: row::json_opt(r, 32)?,
    })
}

/// Adds a proposal with its operations. `head.key`, `head.number`, `head.state_seq` and
/// `head.model_id` are given by the store. An earlier one of the model that waits must have been
/// closed before.
pub fn insert(
    tx: &WriteTx<'_>,
    bank: BankKey,
    new: &Proposal,
    ops: &[ProposalOp],
) -> Result<ProposalKey> {
    let head = &new.head;
    let number: i64 = tx.one(
        "SELECT coalesce(max(number), 0) + 1 FROM proposal WHERE model_id = ?1",
        [head.model],
        |r| r.get(0),
    )?;
    let key = ProposalKey(tx.insert(
        include_str!("../../sql/proposal_insert.sql"),
        params![
            head.id.0,
            head.model,
            number,
            head.state,
            head.reason,
            head.origin,
            head.granularity,
            head.base_version,
            row::text(&new.base_structure)?,
            new.candidate_content,
            row::text(&new.candidate_structure)?,
            row::text(&new.window)?,
            head.watermark_seq,
            head.cutoff_seq,
            row::text(&new.scope)?,
            head.source_query,
            row::text(&new.settings)?,
            row::text(&new.facts_used)?,
            row::text_opt(new.structured_output.as_ref())?,
            row::text(&new.trace)?,
            row::text(&new.usage)?,
            row::text(&new.warnings)?,
            head.operation.as_ref().map(OperationId::as_str),
            new.edited_content,
            row::text_opt(new.draft_structure.as_ref())?,
            to_millis(head.created_at),
        ],
    )?);
    for op in ops {
        put_op(tx, key, op)?;
    }
    told(tx, bank, &head.id)?;
    Ok(key)
}

fn told(tx: &WriteTx<'_>, bank: BankKey, id: &ProposalId) -> Result<()> {
    tx.changed(bank, CacheTag::Proposals, Some(&id.0))?;
    // Lists of models show whether a proposal waits.
    tx.changed(bank, CacheTag::Models, None)
}

/// A proposal by its id.
///
/// # Errors
/// `NotFound`.
pub fn get(tx: &ReadTx<'_>, bank: BankKey, id: &ProposalId) -> Result<Proposal> {
    find(tx, bank, id)?.ok_or_else(|| Error::not_found(Thing::Proposal, &id.0))
}

/// A proposal by its id, if it is still kept.
pub fn find(tx: &ReadTx<'_>, bank: BankKey, id: &ProposalId) -> Result<Option<Proposal>> {
    tx.find(
        &format!("SELECT {HEAD}, {BODY} {FROM} WHERE p.uid = ?2 AND m.bank_id = ?1"),
        (bank, &id.0),
        read,
    )
}

/// What a proposal changes, without what its run read and left behind.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposalTexts {
    /// Its key.
    pub key: ProposalKey,
    /// Its number in the model.
    pub number: u32,
    /// The structure it was computed from.
    pub base_structure: Value,
    /// The text if everything is accepted.
    pub candidate_content: String,
    /// The structure if everything is accepted.
    pub candidate_structure: Value,
}

/// What a proposal changes; none if it is not kept any more.
pub fn texts(tx: &ReadTx<'_>, bank: BankKey, id: &ProposalId) -> Result<Option<ProposalTexts>> {
    tx.find(
        &format!(
            "SELECT p.id, p.number, p.base_structure, p.candidate_content, p.candidate_structure
             {FROM} WHERE p.uid = ?2 AND m.bank_id = ?1"
        ),
        (bank, &id.0),
        |r| {
            Ok(ProposalTexts {
                key: r.get(0)?,
                number: row::count(r, 1)?,
                base_structure: row::json(r, 2)?,
                candidate_content: r.get(3)?,
                candidate_structure: row::json(r, 4)?,
            })
        },
    )
}

/// The proposal of a model that waits for a decision, if there is one.
pub fn waiting(tx: &ReadTx<'_>, model: ModelKey) -> Result<Option<Proposal>> {
    tx.find(
        &format!(
            "SELECT {HEAD}, {BODY} {FROM}
             WHERE p.model_id = ?1 AND p.state IN ('open', 'in_review', 'conflicted')"
        ),
        [model],
        read,
    )
}

/// The newest proposal of a model, whatever its state.
pub fn newest(tx: &ReadTx<'_>, model: ModelKey) -> Result<Option<ProposalHead>> {
    tx.find(
        &format!("SELECT {HEAD} {FROM} WHERE p.model_id = ?1 ORDER BY p.number DESC LIMIT 1"),
        [model],
        read_head,
    )
}

/// The proposals of a model, newest first.
pub fn of_model(tx: &ReadTx<'_>, model: ModelKey) -> Result<Vec<ProposalHead>> {
    tx.list(
        &format!("SELECT {HEAD} {FROM} WHERE p.model_id = ?1 ORDER BY p.number DESC"),
        [model],
        read_head,
    )
}

/// The proposals of a bank that wait for a decision, oldest first.
pub fn list_waiting(tx: &ReadTx<'_>, bank: BankKey) -> Result<Vec<ProposalHead>> {
    tx.list(
        &format!(
            "SELECT {HEAD} {FROM}
             WHERE m.bank_id = ?1 AND p.state IN ('open', 'in_review', 'conflicted')
             ORDER BY p.id"
        ),
        [bank],
        read_head,
    )
}

/// Writes a proposal that was read in this transaction and changed: state, base, candidate,
/// structured view, draft, warnings, resolution. Raises the counter and gives its new value.
///
/// # Errors
/// `StateConflict` when the stored counter is not `expected`; `ProposalClosed` when it was decided
/// or replaced before; `NotFound`.
pub fn save(tx: &WriteTx<'_>, bank: BankKey, proposal: &Proposal, expected: u32) -> Result<u32> {
    let head = &proposal.head;
    let (found, state): (u32, ProposalState) = tx
        .find("SELECT state_seq, state FROM proposal WHERE id = ?1", [head.key], |r| {
            Ok((row::count(r, 0)?, r.get(1)?))
        })?
        .ok_or_else(|| Error::not_found(Thing::Proposal, &head.id.0))?;
    if !state.is_waiting() {
        return Err(Error::ProposalClosed);
    }
    if found != expected {
        return Err(Error::StateConflict { found, expected });
    }
    tx.run(
        include_str!("../../sql/proposal_save.sql"),
        params![
            head.key,
            head.state,
            expected + 1,
            head.base_version,
            row::text(&proposal.base_structure)?,
            proposal.candidate_content,
            row::text(&proposal.candidate_structure)?,
            row::text_opt(proposal.structured_output.as_ref())?,
            row::text(&proposal.warnings)?,
            proposal.edited_content,
            row::text_opt(proposal.draft_structure.as_ref())?,
            head.superseded_by.as_ref().map(ProposalId::as_str),
            row::ms(head.resolved_at),
            head.resolution_note,
            head.disposition,
        ],
    )?;
    told(tx, bank, &head.id)?;
    Ok(expected + 1)
}

/// Something that happened to a proposal.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposalEvent {
    /// When.
    pub at: Instant,
    /// What: `decided`, `rebased`, `folded`, `superseded`, `approved` and so on.
    pub kind: String,
    /// More of it.
    pub detail: Value,
}

/// The documents of a proposal.
#[derive(Debug, Clone, PartialEq)]
pub struct Documents {
    /// The structure it was computed from.
    pub base_structure: Value,
    /// The text if everything is accepted.
    pub candidate_content: String,
    /// The structure if everything is accepted.
    pub candidate_structure: Value,
}

/// What a proposal was made of and what it would make, without what its run read and did.
pub fn documents(tx: &ReadTx<'_>, key: ProposalKey) -> Result<Documents> {
    tx.one(
        "SELECT base_structure, candidate_content, candidate_structure FROM proposal WHERE id = ?1",
        [key],
        |r| {
            Ok(Documents {
                base_structure: row::json(r, 0)?,
                candidate_content: r.get(1)?,
                candidate_structure: row::json(r, 2)?,
            })
        },
    )
}

/// Adds an event.
pub fn add_event(tx: &WriteTx<'_>, key: ProposalKey, event: &ProposalEvent) -> Result<()> {
    tx.run(
        "INSERT INTO proposal_event (proposal_id, at, kind, detail) VALUES (?1, ?2, ?3, ?4)",
        (key, to_millis(event.at), &event.kind, row::text(&event.detail)?),
    )?;
    Ok(())
}

/// The events of a proposal, oldest first.
pub fn events(tx: &ReadTx<'_>, key: ProposalKey) -> Result<Vec<ProposalEvent>> {
    tx.list(
        "SELECT at, kind, detail FROM proposal_event WHERE proposal_id = ?1 ORDER BY at, id",
        [key],
        |r| Ok(ProposalEvent { at: row::at(r, 0)?, kind: r.get(1)?, detail: row::json(r, 2)? }),
    )
}

/// The event that a request left which a caller gave a name (`request_id` in its detail).
pub fn event_of_request(
    tx: &ReadTx<'_>,
    key: ProposalKey,
    request: &str,
) -> Result<Option<ProposalEvent>> {
    tx.find(
        "SELECT at, kind, detail FROM proposal_event
         WHERE proposal_id = ?1 AND json_extract(detail, '$.request_id') = ?2
         ORDER BY at, id LIMIT 1",
        (key, request),
        |r| Ok(ProposalEvent { at: row::at(r, 0)?, kind: r.get(1)?, detail: row::json(r, 2)? }),
    )
}

/// The proposals of a bank that wait and have one of some memories in evidence, of the run or of one
/// of their operations.
pub fn waiting_on(
    tx: &ReadTx<'_>,
    bank: BankKey,
    memories: &[MemoryId],
) -> Result<Vec<ProposalId>> {
    tx.list(
        &format!(
            "SELECT p.uid {FROM}
             WHERE m.bank_id = ?1 AND p.state IN ('open', 'in_review', 'conflicted')
               AND EXISTS (
                   SELECT 1 FROM json_each(?2) j
                   WHERE instr(p.facts_used, j.value) > 0
                      OR EXISTS (SELECT 1 FROM proposal_op o WHERE o.proposal_id = p.id
                                 AND instr(o.evidence || o.claims, j.value) > 0))
             ORDER BY p.id"
        ),
        (bank, row::text(memories)?),
        |r| r.get(0).map(ProposalId),
    )
}

/// Removes the oldest decided proposals of a model beyond `kept`; those that a kept version came
/// from stay. Gives the number removed.
pub fn trim(tx: &WriteTx<'_>, model: ModelKey, kept: u32) -> Result<usize> {
    tx.run(
        "DELETE FROM proposal WHERE id IN (
             SELECT p.id FROM proposal p
             WHERE p.model_id = ?1 AND p.state NOT IN ('open', 'in_review', 'conflicted')
               AND NOT EXISTS (SELECT 1 FROM model_version v
                               WHERE v.model_id = ?1 AND v.proposal_uid = p.uid)
             ORDER BY p.number DESC LIMIT -1 OFFSET ?2)",
        (model, kept),
    )
}
