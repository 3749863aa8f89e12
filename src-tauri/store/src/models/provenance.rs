//! Where the blocks of a published document come from: the memories it cites, the sources and the
//! author of each block, the locks a person set, the file it is published to.

use domain::time::to_millis;
use domain::{FactType, Instant, MemoryId, OperationId, ProposalId};
use rusqlite::params;

use crate::error::Result;
use crate::keys::{BankKey, ModelKey};
use crate::memories::fact_type;
use crate::row;
use crate::tx::{ReadTx, WriteTx};

/// A memory that the published document cites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// The memory.
    pub memory: MemoryId,
    /// Its type.
    pub fact_type: FactType,
    /// Its text as it was read.
    pub text: String,
    /// The version that cited it first.
    pub first_cited_version: u32,
}

/// The citations of a published document.
pub fn citations(tx: &ReadTx<'_>, model: ModelKey) -> Result<Vec<Citation>> {
    tx.list(
        "SELECT memory_uid, fact_type, text, first_cited_version FROM model_citation
         WHERE model_id = ?1 ORDER BY fact_type, memory_uid",
        [model],
        |r| {
            Ok(Citation {
                memory: MemoryId(r.get(0)?),
                fact_type: fact_type(r, 1)?,
                text: r.get(2)?,
                first_cited_version: row::count(r, 3)?,
            })
        },
    )
}

/// Replaces the citations of a published document.
pub fn set_citations(tx: &WriteTx<'_>, model: ModelKey, citations: &[Citation]) -> Result<()> {
    tx.run("DELETE FROM model_citation WHERE model_id = ?1", [model])?;
    for citation in citations {
        tx.run(
            "INSERT INTO model_citation (model_id, fact_type, memory_uid, text, first_cited_version)
             VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO UPDATE SET text = excluded.text,
                 first_cited_version = min(first_cited_version, excluded.first_cited_version)",
            (
                model,
                citation.fact_type.code(),
                &citation.memory.0,
                &citation.text,
                citation.first_cited_version,
            ),
        )?;
    }
    Ok(())
}

/// Whether a document carries one of the tags: by its own, because it rests on a memory that does, or
/// because it still says what a memory said while it did.
pub fn carries(
    tx: &ReadTx<'_>,
    model: &super::ModelHead,
    tags: &domain::tags::TagSet,
) -> Result<bool> {
    if tags.is_empty() || domain::tags::TagSet::new(&model.tags).overlaps(tags) {
        return Ok(!tags.is_empty());
    }
    let cited = citations(tx, model.key)?;
    let ids: Vec<MemoryId> = cited.iter().map(|citation| citation.memory.clone()).collect();
    if crate::tag_sets::any_carries(tx, model.bank, &ids, tags)? {
        return Ok(true);
    }
    let former: Vec<(String, serde_json::Value)> = tx.list(
        "SELECT m.uid, h.prev FROM memory m JOIN memory_history h ON h.memory_id = m.id
         WHERE m.bank_id = ?1 AND m.uid IN (SELECT value FROM json_each(?2))
           AND h.prev ->> 'text' <> m.text",
        (model.bank, row::text(&ids)?),
        |r| Ok((r.get(0)?, row::json(r, 1)?)),
    )?;
    Ok(former.iter().any(|(memory, prev)| {
        let marks = prev["tags"].as_array().into_iter().flatten().filter_map(|tag| tag.as_str());
        let still_said =
            |cited: &Citation| cited.memory.0 == *memory && prev["text"] == cited.text.as_str();
        domain::tags::TagSet::new(marks).overlaps(tags) && cited.iter().any(still_said)
    }))
}

/// The models of a bank that cite a memory.
pub fn citing(tx: &ReadTx<'_>, bank: BankKey, memory: &MemoryId) -> Result<Vec<ModelKey>> {
    tx.list(
        "SELECT DISTINCT c.model_id FROM model_citation c JOIN mental_model m ON m.id = c.model_id
         WHERE c.memory_uid = ?2 AND m.bank_id = ?1 ORDER BY c.model_id",
        (bank, &memory.0),
        |r| r.get(0),
    )
}

/// The models of a bank (or those of `only`) that cite memories which are nowhere in it, with whether
/// they cite any that is there. One statement for a whole list, along the index of cited memories:
/// nearly all are there, and the order of the index keeps looking them up cheap.
pub fn missing_citations(
    tx: &ReadTx<'_>,
    bank: BankKey,
    only: Option<&[ModelKey]>,
) -> Result<Vec<(ModelKey, bool)>> {
    let from = match only {
        None => "/* whole file */ model_citation c INDEXED BY model_citation_memory WHERE",
        Some(_) => "json_each(?2) j CROSS JOIN model_citation c ON c.model_id = j.value WHERE",
    };
    let only = only.map_or_else(String::new, |keys| row::id_list(keys.iter().map(|key| key.0)));
    tx.list(
        &format!(
            "SELECT gone.model_id, EXISTS (
                    SELECT 1 FROM model_citation c JOIN memory x ON x.uid = c.memory_uid
                    WHERE c.model_id = gone.model_id AND x.bank_id = ?1)
             FROM (SELECT DISTINCT c.model_id FROM {from} ?2 IS NOT NULL AND NOT EXISTS (
                       SELECT 1 FROM memory x WHERE x.uid = c.memory_uid AND x.bank_id = ?1)) gone
             CROSS JOIN mental_model m ON m.id = gone.model_id
             WHERE m.bank_id = ?1"
        ),
        (bank, only),
        |r| Ok((r.get(0)?, r.get(1)?)),
    )
}

/// The source of a block that a person wrote.
pub const PERSON: &str = "person";

/// One source of a block's present text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockSource {
    /// The block.
    pub block: String,
    /// The memory, or none for a person.
    pub memory: Option<MemoryId>,
    /// The version that wrote the text.
    pub version: u32,
    /// The delta operation that wrote it.
    pub op: Option<String>,
}

/// The sources of every block of a document.
pub fn block_sources(tx: &ReadTx<'_>, model: ModelKey) -> Result<Vec<BlockSource>> {
    tx.list(
        "SELECT block_id, memory_uid, version, op_id FROM block_source
         WHERE model_id = ?1 ORDER BY block_id, source",
        [model],
        |r| {
            Ok(BlockSource {
                block: r.get(0)?,
                memory: r.get::<_, Option<String>>(1)?.map(MemoryId),
                version: row::count(r, 2)?,
                op: r.get(3)?,
            })
        },
    )
}

/// Replaces the sources of every block of a document.
pub fn set_block_sources(tx: &WriteTx<'_>, model: ModelKey, sources: &[BlockSource]) -> Result<()> {
    tx.run("DELETE FROM block_source WHERE model_id = ?1", [model])?;
    for source in sources {
        let memory = source.memory.as_ref().map(MemoryId::as_str);
        tx.run(
            "INSERT INTO block_source (model_id, block_id, source, memory_uid, version, op_id)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
            (model, &source.block, memory.unwrap_or(PERSON), memory, source.version, &source.op),
        )?;
    }
    Ok(())
}

row::words! {
    /// Who last wrote a block.
    Author {
        /// A person.
        Person = "person",
        /// A refresh.
        Run = "run",
        /// An import.
        Import = "import",
    }
}

/// Who last wrote a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockAuthor {
    /// The block.
    pub block: String,
    /// The version that wrote it.
    pub version: u32,
    /// The operation that wrote it.
    pub operation: Option<OperationId>,
    /// The proposal it came through.
    pub proposal: Option<ProposalId>,
    /// The delta operation that wrote it.
    pub op: Option<String>,
    /// Who.
    pub author: Author,
    /// When.
    pub at: Instant,
}

/// The authors of every block of a document.
pub fn block_authors(tx: &ReadTx<'_>, model: ModelKey) -> Result<Vec<BlockAuthor>> {
    tx.list(
        "SELECT block_id, version, operation_uid, proposal_uid, op_id, author, at
         FROM block_author WHERE model_id = ?1 ORDER BY block_id",
        [model],
        |r| {
            Ok(BlockAuthor {
                block: r.get(0)?,
                version: row::count(r, 1)?,
                operation: r.get::<_, Option<String>>(2)?.map(OperationId),
                proposal: r.get::<_, Option<String>>(3)?.map(ProposalId),
                op: r.get(4)?,
                author: r.get(5)?,
                at: row::at(r, 6)?,
            })
        },
    )
}

/// Replaces the authors of every block of a document.
pub fn set_block_authors(tx: &WriteTx<'_>, model: ModelKey, authors: &[BlockAuthor]) -> Result<()> {
    tx.run("DELETE FROM block_author WHERE model_id = ?1", [model])?;
    for author in authors {
        tx.run(
            "INSERT INTO block_author
                 (model_id, block_id, version, operation_uid, proposal_uid, op_id, author, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                model,
                author.block,
                author.version,
                author.operation.as_ref().map(OperationId::as_str),
                author.proposal.as_ref().map(ProposalId::as_str),
                author.op,
                author.author,
                to_millis(author.at),
            ],
        )?;
    }
    Ok(())
}

row::words! {
    /// What a lock covers.
    LockKind {
        /// One block.
        Block = "block",
        /// A whole section.
        Section = "section",
    }
}

/// A lock on a part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lock {
    /// What it covers.
    pub kind: LockKind,
    /// The id of the block or section.
    pub element: String,
    /// When it was set.
    pub locked_at: Instant,
    /// Why.
    pub note: Option<String>,
}

/// The locks on a document.
pub fn locks(tx: &ReadTx<'_>, model: ModelKey) -> Result<Vec<Lock>> {
    tx.list(
        "SELECT kind, element_id, locked_at, note FROM block_lock
         WHERE model_id = ?1 ORDER BY kind, element_id",
        [model],
        |r| {
            Ok(Lock {
                kind: r.get(0)?,
                element: r.get(1)?,
                locked_at: row::at(r, 2)?,
                note: r.get(3)?,
            })
        },
    )
}

/// Sets a lock; a second time changes its note.
pub fn lock(tx: &WriteTx<'_>, model: ModelKey, lock: &Lock) -> Result<()> {
    tx.run(
        "INSERT INTO block_lock (model_id, kind, element_id, locked_at, note)
         VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (model_id, kind, element_id) DO UPDATE SET note = excluded.note",
        (model, lock.kind, &lock.element, to_millis(lock.locked_at), &lock.note),
    )?;
    Ok(())
}

/// Removes a lock.
pub fn unlock(tx: &WriteTx<'_>, model: ModelKey, kind: LockKind, element: &str) -> Result<()> {
    tx.run(
        "DELETE FROM block_lock WHERE model_id = ?1 AND kind = ?2 AND element_id = ?3",
        (model, kind, element),
    )?;
    Ok(())
}

/// Removes the locks whose element is in neither list, since a lock goes with its element.
pub fn keep_locks(
    tx: &WriteTx<'_>,
    model: ModelKey,
    blocks: &[&str],
    sections: &[&str],
) -> Result<()> {
    tx.run(
        "DELETE FROM block_lock WHERE model_id = ?1
           AND NOT (kind = 'block' AND element_id IN (SELECT value FROM json_each(?2)))
           AND NOT (kind = 'section' AND element_id IN (SELECT value FROM json_each(?3)))",
        (model, row::text(blocks)?, row::text(sections)?),
    )?;
    Ok(())
}

row::words! {
    /// How the published file stands.
    PublishState {
        /// As it was written.
        Ok = "ok",
        /// Somebody else changed it.
        ChangedOutside = "changed_outside",
        /// It could not be written.
        Failed = "failed",
    }
}

/// The file a document is published to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishTarget {
    /// Where it lies.
    pub path: String,
    /// Whether it begins with a header of its fields.
    pub front_matter: bool,
    /// SHA-256 of the file as it was last written.
    pub last_hash: Option<Vec<u8>>,
    /// The version that was last written.
    pub last_version: Option<u32>,
    /// How it stands.
    pub state: PublishState,
    /// Why it could not be written.
    pub error: Option<String>,
    /// When this row was last written; set by the store.
    pub updated_at: Instant,
}

const TARGET: &str = "path, front_matter, last_hash, last_version, state, error, updated_at";

fn read_target(r: &rusqlite::Row<'_>) -> rusqlite::Result<PublishTarget> {
    Ok(PublishTarget {
        path: r.get(0)?,
        front_matter: r.get(1)?,
        last_hash: r.get(2)?,
        last_version: r.get::<_, Option<i64>>(3)?.and_then(|v| u32::try_from(v).ok()),
        state: r.get(4)?,
        error: r.get(5)?,
        updated_at: row::at(r, 6)?,
    })
}

/// The target of a model, if it has one.
pub fn publish_target(tx: &ReadTx<'_>, model: ModelKey) -> Result<Option<PublishTarget>> {
    tx.find(
        &format!("SELECT {TARGET} FROM publish_target WHERE model_id = ?1"),
        [model],
        read_target,
    )
}

/// The models of all banks that are published to a file.
pub fn published(tx: &ReadTx<'_>) -> Result<Vec<(ModelKey, PublishTarget)>> {
    tx.list(
        &format!(
            "SELECT /* whole file */ {TARGET}, model_id FROM publish_target ORDER BY model_id"
        ),
        [],
        |r| Ok((r.get(7)?, read_target(r)?)),
    )
}

/// Sets or removes the target of a model.
pub fn set_publish_target(
    tx: &WriteTx<'_>,
    model: ModelKey,
    target: Option<&PublishTarget>,
    now: Instant,
) -> Result<()> {
    tx.run("DELETE FROM publish_target WHERE model_id = ?1", [model])?;
    if let Some(target) = target {
        tx.run(
            "INSERT INTO publish_target (model_id, path, front_matter, last_hash, last_version,
                 state, error, updated_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                model,
                target.path,
                target.front_matter,
                target.last_hash,
                target.last_version,
                target.state,
                target.error,
                to_millis(now),
            ],
        )?;
    }
    Ok(())
}
