//! Documents: the named texts that a person gave. Cutting them into chunks and facts is not known
//! here.

use std::collections::{BTreeMap, BTreeSet};

use domain::time::to_millis;
use domain::{BankId, CacheTag, DocumentId, Instant};
use rusqlite::Row;
use serde_json::Value;

use crate::error::{Error, Result, Thing};
use crate::keys::{BankKey, DocumentKey, TagSetKey};
use crate::tx::{ReadTx, WriteTx};
use crate::{row, tag_sets};

/// A document, without its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Its key.
    pub key: DocumentKey,
    /// Its bank.
    pub bank: BankKey,
    /// Its id, unique in the bank.
    pub id: DocumentId,
    /// Its title.
    pub title: Option<String>,
    /// Its media type.
    pub mime: Option<String>,
    /// The file it came from.
    pub source_path: Option<String>,
    /// SHA-256 of its text.
    pub content_hash: Vec<u8>,
    /// A short label stored with every fact.
    pub context: Option<String>,
    /// A map of strings stored with every fact.
    pub metadata: BTreeMap<String, String>,
    /// The interned set of its tags.
    pub tag_set: TagSetKey,
    /// Its tags.
    pub tags: BTreeSet<String>,
    /// The time it speaks of.
    pub event_at: Option<Instant>,
    /// How it was retained, as the engine shapes it.
    pub retain_params: Value,
    /// When it was first stored; kept when it is replaced.
    pub created_at: Instant,
    /// When it was last stored.
    pub updated_at: Instant,
    /// Whether its text is kept.
    pub has_text: bool,
}

/// What a document is made of when it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentFields {
    /// Its title.
    pub title: Option<String>,
    /// Its media type.
    pub mime: Option<String>,
    /// The file it came from.
    pub source_path: Option<String>,
    /// Its text, or none when texts are not kept.
    pub text: Option<String>,
    /// SHA-256 of its text.
    pub content_hash: Vec<u8>,
    /// A short label stored with every fact.
    pub context: Option<String>,
    /// A map of strings stored with every fact.
    pub metadata: BTreeMap<String, String>,
    /// Its tags.
    pub tags: BTreeSet<String>,
    /// The time it speaks of.
    pub event_at: Option<Instant>,
    /// How it was retained, as the engine shapes it.
    pub retain_params: Value,
}

const SELECT: &str = "SELECT d.id, d.bank_id, d.doc_uid, d.title, d.mime, d.source_path, \
    d.content_hash, d.context, d.metadata, d.tag_set_id, s.canon, d.event_at, d.retain_params, \
    d.created_at, d.updated_at, d.text IS NOT NULL \
    FROM document d JOIN tag_set s ON s.id = d.tag_set_id";

fn read(r: &Row<'_>) -> rusqlite::Result<Document> {
    Ok(Document {
        key: r.get(0)?,
        bank: r.get(1)?,
        id: DocumentId(r.get(2)?),
        title: r.get(3)?,
        mime: r.get(4)?,
        source_path: r.get(5)?,
        content_hash: r.get(6)?,
        context: r.get(7)?,
        metadata: row::parsed(r, 8)?,
        tag_set: r.get(9)?,
        tags: row::parsed(r, 10)?,
        event_at: row::at_opt(r, 11)?,
        retain_params: row::json(r, 12)?,
        created_at: row::at(r, 13)?,
        updated_at: row::at(r, 14)?,
        has_text: r.get(15)?,
    })
}

/// Stores a document: a new one, or a new state of the one with this id. `created_at` is kept.
/// Chunks and facts are not touched.
pub fn upsert(
    tx: &WriteTx<'_>,
    bank: BankKey,
    id: &DocumentId,
    fields: &DocumentFields,
    now: Instant,
) -> Result<DocumentKey> {
    let tags = tag_sets::intern(tx, bank, &fields.tags)?;
    let is_new = find(tx, bank, id)?.is_none();
    let key = tx.one(
        include_str!("../sql/document_upsert.sql"),
        rusqlite::params![
            bank,
            id.0,
            fields.title,
            fields.mime,
            fields.source_path,
            fields.text,
            fields.content_hash,
            fields.context,
            row::text(&fields.metadata)?,
            tags,
            row::ms(fields.event_at),
            row::text(&fields.retain_params)?,
            to_millis(now),
        ],
        |r| r.get(0),
    )?;
    tx.count(bank, "documents", i64::from(is_new))?;
    tx.changed(bank, CacheTag::Documents, Some(&id.0))?;
    Ok(key)
}

/// A document, if there is one of this id.
pub fn find(tx: &ReadTx<'_>, bank: BankKey, id: &DocumentId) -> Result<Option<Document>> {
    tx.find(&format!("{SELECT} WHERE d.bank_id = ?1 AND d.doc_uid = ?2"), (bank, &id.0), read)
}

/// A document by its id.
///
/// # Errors
/// `NotFound`.
pub fn get(tx: &ReadTx<'_>, bank: BankKey, id: &DocumentId) -> Result<Document> {
    find(tx, bank, id)?.ok_or_else(|| Error::not_found(Thing::Document, &id.0))
}

/// A document by its key.
///
/// # Errors
/// `NotFound`.
pub fn by_key(tx: &ReadTx<'_>, key: DocumentKey) -> Result<Document> {
    tx.find(&format!("{SELECT} WHERE d.id = ?1"), [key], read)?
        .ok_or_else(|| Error::not_found(Thing::Document, key.0.to_string()))
}

/// The kept text of a document.
pub fn text(tx: &ReadTx<'_>, key: DocumentKey) -> Result<Option<String>> {
    Ok(tx.find("SELECT text FROM document WHERE id = ?1", [key], |r| r.get(0))?.flatten())
}

/// The documents that hold exactly this text (by its SHA-256).
pub fn with_hash(tx: &ReadTx<'_>, bank: BankKey, hash: &[u8]) -> Result<Vec<DocumentId>> {
    tx.list(
        "SELECT doc_uid FROM document WHERE bank_id = ?1 AND content_hash = ?2 ORDER BY id",
        (bank, hash),
        |r| Ok(DocumentId(r.get(0)?)),
    )
}

/// A document in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentRow {
    /// The document.
    pub document: Document,
    /// How many chunks it has.
    pub chunks: u32,
    /// How many valid facts it has.
    pub facts: u32,
}

/// Where the next page of documents begins: after this update time and key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentCursor {
    /// `updated_at` of the last row shown.
    pub updated_at: Instant,
    /// Key of the last row shown.
    pub key: DocumentKey,
}

/// A page of documents, newest first. `contains` filters by a part of id or title.
pub fn list(
    tx: &ReadTx<'_>,
    bank: BankKey,
    contains: Option<&str>,
    after: Option<DocumentCursor>,
    limit: u32,
) -> Result<(Vec<DocumentRow>, Option<DocumentCursor>)> {
    let (at, key) =
        after.map_or((i64::MAX, DocumentKey(i64::MAX)), |c| (to_millis(c.updated_at), c.key));
    let sql = format!(
        "{} WHERE d.bank_id = ?1 AND (d.updated_at, d.id) < (?2, ?3)
           AND (?4 IS NULL OR instr(lower(coalesce(d.title, '') || ' ' || d.doc_uid), lower(?4)) > 0)
         ORDER BY d.updated_at DESC, d.id DESC LIMIT ?5",
        SELECT.replace(
            " FROM document d",
            ", (SELECT count(*) FROM chunk c WHERE c.document_id = d.id), \
               (SELECT count(*) FROM memory m WHERE m.document_id = d.id AND m.state = 0) \
             FROM document d",
        )
    );
    let rows = tx.list(&sql, (bank, at, key, contains, limit), |r| {
        Ok(DocumentRow {
            document: read(r)?,
            chunks: row::count(r, 16)?,
            facts: row::count(r, 17)?,
        })
    })?;
    let full = rows.len() == usize::try_from(limit).unwrap_or(usize::MAX);
    let next = rows.last().filter(|_| full).map(|last| DocumentCursor {
        updated_at: last.document.updated_at,
        key: last.document.key,
    });
    Ok((rows, next))
}

/// Removes the row of a document. Its facts must have been removed before, with
/// [`crate::memories::remove`], which leaves what deletions must leave.
///
/// # Errors
/// `NotFound`.
pub fn delete(tx: &WriteTx<'_>, bank: BankKey, id: &DocumentId) -> Result<()> {
    let n = tx.run("DELETE FROM document WHERE bank_id = ?1 AND doc_uid = ?2", (bank, &id.0))?;
    if n == 0 {
        return Err(Error::not_found(Thing::Document, &id.0));
    }
    tx.count(bank, "documents", -1)?;
    tx.changed(bank, CacheTag::Documents, Some(&id.0))
}

/// The bank of a document's key; for callers that hold only the key.
pub fn bank_of(tx: &ReadTx<'_>, key: DocumentKey) -> Result<BankId> {
    tx.find(
        "SELECT b.uid FROM document d JOIN bank b ON b.id = d.bank_id WHERE d.id = ?1",
        [key],
        |r| Ok(BankId(r.get(0)?)),
    )?
    .ok_or_else(|| Error::not_found(Thing::Document, key.0.to_string()))
}
