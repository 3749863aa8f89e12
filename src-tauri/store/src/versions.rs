//! Versions: the immutable, numbered states of a model's document. Rows are added, pinned,
//! noted on and trimmed; what they say of the document never changes.

use domain::time::to_millis;
use domain::{CacheTag, Instant, OperationId, ProposalId};
use rusqlite::{Row, params};
use serde_json::Value;

use crate::error::{Error, Result, Thing};
use crate::keys::{BankKey, ModelKey};
use crate::row;
use crate::tx::{ReadTx, WriteTx};

row::words! {
    /// What made a version.
    VersionCause {
        /// Content given at creation.
        Created = "created",
        /// A full refresh.
        RefreshFull = "refresh_full",
        /// A delta refresh.
        RefreshDelta = "refresh_delta",
        /// Facts were taken back.
        Retraction = "retraction",
        /// An approved proposal.
        Proposal = "proposal",
        /// A person's edit.
        Edit = "edit",
        /// The document was cleared.
        Clear = "clear",
        /// An earlier version was brought back.
        Revert = "revert",
        /// An import.
        Import = "import",
    }
}

row::words! {
    /// Who set the making of a version going.
    Actor {
        /// A person.
        Person = "person",
        /// The end of a consolidation.
        AfterConsolidation = "after_consolidation",
        /// A deletion.
        AfterDeletion = "after_deletion",
        /// A schedule.
        Cron = "cron",
        /// A refresh that was asked for.
        ManualRefresh = "manual_refresh",
        /// An import.
        Import = "import",
    }
}

row::words! {
    /// What the evidence is.
    Basis {
        /// What the run declared that it used.
        Cited = "cited",
        /// What the run read, where nothing could be declared.
        Retrieved = "retrieved",
    }
}

/// A version without its long fields.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionHead {
    /// Its number.
    pub version: u32,
    /// What made it.
    pub cause: VersionCause,
    /// Who set that going.
    pub actor: Actor,
    /// The operation.
    pub operation: Option<OperationId>,
    /// The proposal.
    pub proposal: Option<ProposalId>,
    /// The accepted delta operations of the proposal, a list of ids.
    pub accepted_op_ids: Option<Vec<String>>,
    /// A note.
    pub note: Option<String>,
    /// The question it answers.
    pub source_query: String,
    /// The watermark it was published with.
    pub watermark_seq: Option<i64>,
    /// The same as shown.
    pub watermark_at: Option<Instant>,
    /// When it was published.
    pub created_at: Instant,
    /// Whether it is kept whatever the cap.
    pub pinned: bool,
}

/// A version, whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    /// Everything but the long fields.
    pub head: VersionHead,
    /// The text.
    pub content: String,
    /// The structure.
    pub structure: Value,
    /// SHA-256 of the text.
    pub content_hash: Vec<u8>,
    /// The evidence, a map from type to list.
    pub based_on: Value,
    /// What the evidence is; none for authored text.
    pub basis: Option<Basis>,
    /// The structured view.
    pub structured_output: Option<Value>,
    /// The version whose text the structured view was extracted from.
    pub structured_output_version: Option<u32>,
    /// The evidence record as it was published.
    pub reflect_response: Option<Value>,
    /// The trace, where it was kept.
    pub trace: Option<Value>,
    /// Tags, trigger and budget at the time.
    pub settings: Value,
}

const HEAD: &str = "version, cause, actor, operation_uid, proposal_uid, accepted_op_ids, note, \
    source_query, watermark_seq, watermark_at, created_at, pinned";

fn read_head(r: &Row<'_>) -> rusqlite::Result<VersionHead> {
    let accepted = row::json_opt(r, 5)?;
    Ok(VersionHead {
        version: row::count(r, 0)?,
        cause: r.get(1)?,
        actor: r.get(2)?,
        operation: r.get::<_, Option<String>>(3)?.map(OperationId),
        proposal: r.get::<_, Option<String>>(4)?.map(ProposalId),
        accepted_op_ids: match accepted {
            None => None,
            Some(_) => Some(row::parsed(r, 5)?),
        },
        note: r.get(6)?,
        source_query: r.get(7)?,
        watermark_seq: r.get(8)?,
        watermark_at: row::at_opt(r, 9)?,
        created_at: row::at(r, 10)?,
        pinned: r.get(11)?,
    })
}

/// Adds a version. Its number must be new in its model.
pub fn append(tx: &WriteTx<'_>, bank: BankKey, model: ModelKey, new: &Version) -> Result<()> {
    let head = &new.head;
    tx.run(
        include_str!("../sql/version_insert.sql"),
        params![
            model,
            head.version,
            new.content,
            row::text(&new.structure)?,
            new.content_hash,
            row::text(&new.based_on)?,
            new.basis,
            row::text_opt(new.structured_output.as_ref())?,
            new.structured_output_version,
            row::text_opt(new.reflect_response.as_ref())?,
            row::text_opt(new.trace.as_ref())?,
            head.cause,
            head.actor,
            head.operation.as_ref().map(OperationId::as_str),
            head.proposal.as_ref().map(ProposalId::as_str),
            row::text_opt(head.accepted_op_ids.as_ref())?,
            head.note,
            head.source_query,
            row::text(&new.settings)?,
            head.watermark_seq,
            row::ms(head.watermark_at),
            to_millis(head.created_at),
            head.pinned,
        ],
    )?;
    tx.changed(bank, CacheTag::Versions, None)
}

/// The settings that a version was made under; none when it is not kept.
pub fn settings(tx: &ReadTx<'_>, model: ModelKey, version: u32) -> Result<Option<Value>> {
    tx.find(
        "SELECT settings FROM model_version WHERE model_id = ?1 AND version = ?2",
        (model, version),
        |r| row::json(r, 0),
    )
}

/// A version by its number.
///
/// # Errors
/// `NotFound`.
pub fn get(tx: &ReadTx<'_>, model: ModelKey, version: u32) -> Result<Version> {
    tx.find(
        &format!(
            "SELECT {HEAD}, content, structure, content_hash, based_on, basis, structured_output,
                    structured_output_version, reflect_response, trace, settings
             FROM model_version WHERE model_id = ?1 AND version = ?2"
        ),
        (model, version),
        |r| {
            Ok(Version {
                head: read_head(r)?,
                content: r.get(12)?,
                structure: row::json(r, 13)?,
                content_hash: r.get(14)?,
                based_on: row::json(r, 15)?,
                basis: r.get(16)?,
                structured_output: row::json_opt(r, 17)?,
                structured_output_version: r
                    .get::<_, Option<i64>>(18)?
                    .and_then(|v| u32::try_from(v).ok()),
                reflect_response: row::json_opt(r, 19)?,
                trace: row::json_opt(r, 20)?,
                settings: row::json(r, 21)?,
            })
        },
    )?
    .ok_or_else(|| Error::not_found(Thing::Version, version.to_string()))
}

/// Versions below a number, newest first. Answered from the index of heads alone.
fn list_sql() -> String {
    format!(
        "SELECT {HEAD} FROM model_version WHERE model_id = ?1 AND version < ?2
         ORDER BY version DESC LIMIT ?3"
    )
}

const CHANGES: &str = "SELECT version, change FROM model_version
     WHERE model_id = ?1 AND change IS NOT NULL ORDER BY version";

/// The statements that a timeline is made of.
#[cfg(test)]
pub(crate) fn lists() -> [String; 2] {
    [list_sql(), CHANGES.to_owned()]
}

/// Versions, newest first, below a number, at most `limit`.
pub fn list(
    tx: &ReadTx<'_>,
    model: ModelKey,
    below: Option<u32>,
    limit: u32,
) -> Result<Vec<VersionHead>> {
    tx.list(&list_sql(), (model, below.map_or(i64::MAX, i64::from), limit), read_head)
}

/// SHA-256 of the texts of the versions from a number on; reads none of the texts.
pub fn content_hashes(tx: &ReadTx<'_>, model: ModelKey, from: u32) -> Result<Vec<Vec<u8>>> {
    tx.list(
        "SELECT content_hash FROM model_version WHERE model_id = ?1 AND version >= ?2",
        (model, from),
        |r| r.get(0),
    )
}

/// Keeps a version whatever the cap, or no longer.
///
/// # Errors
/// `NotFound`.
pub fn set_pinned(
    tx: &WriteTx<'_>,
    bank: BankKey,
    model: ModelKey,
    version: u32,
    pinned: bool,
) -> Result<()> {
    let n = tx.run(
        "UPDATE model_version SET pinned = ?3 WHERE model_id = ?1 AND version = ?2",
        (model, version, pinned),
    )?;
    if n == 0 {
        return Err(Error::not_found(Thing::Version, version.to_string()));
    }
    tx.changed(bank, CacheTag::Versions, None)
}

/// Removes the oldest versions beyond the published one and `previous` before it. Pinned ones, and
/// the base of a proposal that waits for a decision, stay and are not counted. Gives the number
/// removed.
pub fn trim(tx: &WriteTx<'_>, model: ModelKey, previous: u32) -> Result<usize> {
    tx.run(include_str!("../sql/version_trim.sql"), (model, previous))
}

/// Writes a person's words about a version, or takes them away.
///
/// # Errors
/// `NotFound`.
pub fn set_note(
    tx: &WriteTx<'_>,
    bank: BankKey,
    model: ModelKey,
    version: u32,
    note: Option<&str>,
) -> Result<()> {
    let n = tx.run(
        "UPDATE model_version SET note = ?3 WHERE model_id = ?1 AND version = ?2",
        (model, version, note),
    )?;
    if n == 0 {
        return Err(Error::not_found(Thing::Version, version.to_string()));
    }
    tx.changed(bank, CacheTag::Versions, None)
}

/// Keeps, with a version just added, the size of its change and the origins of its blocks.
pub fn set_details(
    tx: &WriteTx<'_>,
    model: ModelKey,
    version: u32,
    change: &Value,
    origins: &Value,
) -> Result<()> {
    tx.run(
        "UPDATE model_version SET change = ?3, block_origins = ?4
         WHERE model_id = ?1 AND version = ?2",
        (model, version, row::text(change)?, row::text(origins)?),
    )?;
    Ok(())
}

/// Sizes of the changes of a model's versions, by number; a version without one is left out.
pub fn changes(tx: &ReadTx<'_>, model: ModelKey) -> Result<Vec<(u32, Value)>> {
    tx.list(CHANGES, [model], |r| Ok((row::count(r, 0)?, row::json(r, 1)?)))
}

/// The origins of a version's blocks as they were when it was published, if they were kept.
pub fn origins(tx: &ReadTx<'_>, model: ModelKey, version: u32) -> Result<Option<Value>> {
    let found = tx.find(
        "SELECT block_origins FROM model_version WHERE model_id = ?1 AND version = ?2",
        (model, version),
        |r| row::json_opt(r, 0),
    )?;
    Ok(found.flatten())
}
