//! Mental models: the row of each, its search rows, its place in lists. What a refresh decides is
//! not known here; the caller reads a model, changes it and saves it in one transaction.

pub mod provenance;

use std::collections::BTreeSet;

use domain::time::to_millis;
use domain::{CacheTag, Instant, ModelId, ProposalId};
use rusqlite::{Row, params};
use serde_json::Value;

use crate::embedders::{self, Embedder};
use crate::error::{Error, Result, Thing};
use crate::keys::{BankKey, ModelKey, TagSetKey};
use crate::tag_sets::TagSets;
use crate::tx::{ReadTx, WriteTx};
use crate::{row, tag_sets};

row::words! {
    /// Whether a refresh publishes or asks.
    Review {
        /// It publishes.
        Auto = "auto",
        /// It ends as a proposal.
        Manual = "manual",
    }
}

/// A model without its long fields, as lists need it.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelHead {
    /// Its key.
    pub key: ModelKey,
    /// Its bank.
    pub bank: BankKey,
    /// Its id, unique in the bank.
    pub id: ModelId,
    /// Its name.
    pub name: String,
    /// The question it answers.
    pub source_query: String,
    /// Its tags in the order given.
    pub tags: Vec<String>,
    /// The interned set of its tags.
    pub tag_set: TagSetKey,
    /// Its length budget in tokens.
    pub max_tokens: u32,
    /// The stated keys of its trigger, an object.
    pub trigger: Value,
    /// Whether a refresh publishes or asks.
    pub review: Review,
    /// The published version; 0 before the first.
    pub version: u32,
    /// Whether no document was published yet.
    pub placeholder: bool,
    /// When it was made.
    pub created_at: Instant,
    /// When its row last changed.
    pub updated_at: Instant,
    /// When a refresh last finished or content was authored.
    pub last_refreshed_at: Option<Instant>,
    /// The watermark as shown.
    pub last_memory_seen_at: Option<Instant>,
    /// The watermark.
    pub last_memory_seen_seq: Option<i64>,
    /// The newest data that any finished run has looked at.
    pub considered_seq: Option<i64>,
    /// The question that produced the published document.
    pub last_refreshed_source_query: Option<String>,
    /// How many facts wait to be offered again.
    pub carry_over_count: u32,
    /// Delta runs refused in a row.
    pub delta_failures: u32,
    /// Failed runs in a row.
    pub failure_streak: u32,
    /// When a run last failed.
    pub last_refresh_failed_at: Option<Instant>,
    /// When a full rebuild was last published.
    pub last_full_refreshed_at: Option<Instant>,
    /// The last boundary of its schedule that was acted on.
    pub last_cron_fire_at: Option<Instant>,
    /// The same of its second schedule.
    pub last_full_cron_fire_at: Option<Instant>,
    /// Until when automatic runs are held back.
    pub paused_until: Option<Instant>,
    /// The proposal that waits for a decision.
    pub open_proposal: Option<ProposalId>,
    /// Size of the published document in tokens, as counted when it was published.
    pub document_tokens: Option<u32>,
}

/// A model, whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Everything but the long fields.
    pub head: ModelHead,
    /// The published text.
    pub content: String,
    /// The published structure.
    pub structure: Value,
    /// Evidence of the published document.
    pub reflect_response: Option<Value>,
    /// The last run, whatever its end.
    pub last_run: Option<Value>,
    /// Facts to offer again, a list.
    pub carry_over: Value,
    /// Notes and declined changes, a list.
    pub guidance: Value,
}

/// What a new model is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct NewModel {
    /// Its id, unique in the bank.
    pub id: ModelId,
    /// Its name.
    pub name: String,
    /// The question it answers.
    pub source_query: String,
    /// Its tags, normalised, in the order given.
    pub tags: Vec<String>,
    /// Its length budget in tokens.
    pub max_tokens: u32,
    /// The stated keys of its trigger, an object.
    pub trigger: Value,
    /// Whether a refresh publishes or asks.
    pub review: Review,
    /// The structure of its (empty) document.
    pub structure: Value,
}

const HEAD: &str = "m.id, m.bank_id, m.uid, m.name, m.source_query, m.tags, m.tag_set_id, \
    m.max_tokens, m.trigger, m.review, m.version, m.placeholder, m.created_at, m.updated_at, \
    m.last_refreshed_at, m.last_memory_seen_at, m.last_memory_seen_seq, m.considered_seq, \
    m.last_refreshed_source_query, json_array_length(m.carry_over), m.delta_failures, \
    m.failure_streak, m.last_refresh_failed_at, m.last_full_refreshed_at, m.last_cron_fire_at, \
    m.last_full_cron_fire_at, m.paused_until, \
    (SELECT p.uid FROM proposal p WHERE p.model_id = m.id \
       AND p.state IN ('open', 'in_review', 'conflicted')), \
    m.document_tokens";

const BODY: &str =
    "m.content, m.structure, m.reflect_response, m.last_run, m.carry_over, m.guidance";

fn read_head(r: &Row<'_>) -> rusqlite::Result<ModelHead> {
    Ok(ModelHead {
        key: r.get(0)?,
        bank: r.get(1)?,
        id: ModelId(r.get(2)?),
        name: r.get(3)?,
        source_query: r.get(4)?,
        tags: row::parsed(r, 5)?,
        tag_set: r.get(6)?,
        max_tokens: row::count(r, 7)?,
        trigger: row::json(r, 8)?,
        review: r.get(9)?,
        version: row::count(r, 10)?,
        placeholder: r.get(11)?,
        created_at: row::at(r, 12)?,
        updated_at: row::at(r, 13)?,
        last_refreshed_at: row::at_opt(r, 14)?,
        last_memory_seen_at: row::at_opt(r, 15)?,
        last_memory_seen_seq: r.get(16)?,
        considered_seq: r.get(17)?,
        last_refreshed_source_query: r.get(18)?,
        carry_over_count: row::count(r, 19)?,
        delta_failures: row::count(r, 20)?,
        failure_streak: row::count(r, 21)?,
        last_refresh_failed_at: row::at_opt(r, 22)?,
        last_full_refreshed_at: row::at_opt(r, 23)?,
        last_cron_fire_at: row::at_opt(r, 24)?,
        last_full_cron_fire_at: row::at_opt(r, 25)?,
        paused_until: row::at_opt(r, 26)?,
        open_proposal: r.get::<_, Option<String>>(27)?.map(ProposalId),
        document_tokens: r.get::<_, Option<i64>>(28)?.and_then(|n| u32::try_from(n).ok()),
    })
}

fn read(r: &Row<'_>) -> rusqlite::Result<Model> {
    Ok(Model {
        head: read_head(r)?,
        content: r.get(29)?,
        structure: row::json(r, 30)?,
        reflect_response: row::json_opt(r, 31)?,
        last_run: row::json_opt(r, 32)?,
        carry_over: row::json(r, 33)?,
        guidance: row::json(r, 34)?,
    })
}

/// Makes a model without a document: version 0, a placeholder.
///
/// # Errors
/// `IdTaken`.
pub fn insert(tx: &WriteTx<'_>, bank: BankKey, new: &NewModel, now: Instant) -> Result<ModelKey> {
    if find(tx, bank, &new.id)?.is_some() {
        return Err(Error::IdTaken { what: Thing::Model, id: new.id.0.clone() });
    }
    let key = ModelKey(tx.insert(
        "INSERT INTO mental_model (bank_id, uid, name, source_query, structure, tags, tag_set_id,
             max_tokens, trigger, review, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11)",
        params![
            bank,
            new.id.0,
            new.name,
            new.source_query,
            row::text(&new.structure)?,
            row::text(&new.tags)?,
            intern(tx, bank, &new.tags)?,
            new.max_tokens,
            row::text(&new.trigger)?,
            new.review,
            to_millis(now),
        ],
    )?);
    put_text(tx, key, &new.name, "")?;
    tx.changed(bank, CacheTag::Models, Some(&new.id.0))?;
    Ok(key)
}

fn intern(tx: &WriteTx<'_>, bank: BankKey, tags: &[String]) -> Result<TagSetKey> {
    let set: BTreeSet<String> = tags.iter().cloned().collect();
    tag_sets::intern(tx, bank, &set)
}

/// A model, if there is one of this id.
pub fn find(tx: &ReadTx<'_>, bank: BankKey, id: &ModelId) -> Result<Option<Model>> {
    tx.find(
        &format!("SELECT {HEAD}, {BODY} FROM mental_model m WHERE m.bank_id = ?1 AND m.uid = ?2"),
        (bank, &id.0),
        read,
    )
}

/// A model by its id.
///
/// # Errors
/// `NotFound`.
pub fn get(tx: &ReadTx<'_>, bank: BankKey, id: &ModelId) -> Result<Model> {
    find(tx, bank, id)?.ok_or_else(|| Error::not_found(Thing::Model, &id.0))
}

/// A model by its id, without what it says.
///
/// # Errors
/// `NotFound`.
pub fn head(tx: &ReadTx<'_>, bank: BankKey, id: &ModelId) -> Result<ModelHead> {
    tx.find(
        &format!("SELECT {HEAD} FROM mental_model m WHERE m.bank_id = ?1 AND m.uid = ?2"),
        (bank, &id.0),
        read_head,
    )?
    .ok_or_else(|| Error::not_found(Thing::Model, &id.0))
}

/// A model by its key.
///
/// # Errors
/// `NotFound`.
pub fn by_key(tx: &ReadTx<'_>, key: ModelKey) -> Result<Model> {
    tx.find(&format!("SELECT {HEAD}, {BODY} FROM mental_model m WHERE m.id = ?1"), [key], read)?
        .ok_or_else(|| Error::not_found(Thing::Model, key.0.to_string()))
}

/// Where the next page of models begins: after this order time and key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelCursor {
    /// `last_refreshed_at`, or `created_at` while that is null, of the last row shown.
    pub at: Instant,
    /// The key of the last row shown.
    pub key: ModelKey,
}

/// A page of models, the most recently refreshed first, and where the next one begins.
pub fn list(
    tx: &ReadTx<'_>,
    bank: BankKey,
    sets: &TagSets,
    after: Option<ModelCursor>,
    limit: u32,
) -> Result<(Vec<ModelHead>, Option<ModelCursor>)> {
    let (at, key) = after.map_or((i64::MAX, ModelKey(i64::MAX)), |c| (to_millis(c.at), c.key));
    let sets = match sets {
        TagSets::All => None,
        TagSets::These(sets) => Some(row::id_list(sets.iter().map(|s| s.0))),
    };
    let rows = tx.list(
        &format!(
            "SELECT {HEAD} FROM mental_model m
             WHERE m.bank_id = ?1
               AND (coalesce(m.last_refreshed_at, m.created_at), m.id) < (?2, ?3)
               AND (?4 IS NULL OR m.tag_set_id IN (SELECT value FROM json_each(?4)))
             ORDER BY coalesce(m.last_refreshed_at, m.created_at) DESC, m.id DESC LIMIT ?5"
        ),
        (bank, at, key, sets, limit),
        read_head,
    )?;
    let full = u32::try_from(rows.len()).unwrap_or(u32::MAX) == limit;
    let next = rows.last().filter(|_| full).map(|last| ModelCursor {
        at: last.last_refreshed_at.unwrap_or(last.created_at),
        key: last.key,
    });
    Ok((rows, next))
}

/// The models of all banks, for schedules: those whose stated trigger has one of the keys.
pub fn with_trigger(tx: &ReadTx<'_>, keys: &[&str]) -> Result<Vec<ModelHead>> {
    tx.list(
        &format!(
            "SELECT /* whole file */ {HEAD} FROM mental_model m
             WHERE EXISTS (SELECT 1 FROM json_each(?1) k
                           WHERE json_type(m.trigger, '$.' || k.value) NOT IN ('null', 'false'))
             ORDER BY m.id"
        ),
        [row::text(keys)?],
        read_head,
    )
}

/// Notes which boundaries of a model's two schedules were acted on; none leaves one as it is.
pub fn set_fires(
    tx: &WriteTx<'_>,
    key: ModelKey,
    fire: Option<Instant>,
    full_fire: Option<Instant>,
) -> Result<()> {
    tx.run(
        "UPDATE mental_model SET last_cron_fire_at = coalesce(?2, last_cron_fire_at),
             last_full_cron_fire_at = coalesce(?3, last_full_cron_fire_at)
         WHERE id = ?1",
        (key, row::ms(fire), row::ms(full_fire)),
    )?;
    Ok(())
}

/// Ends the failure pauses of all models; gives their number.
pub fn lift_pauses(tx: &WriteTx<'_>) -> Result<usize> {
    let lifted = tx.run(
        "/* whole file */ UPDATE mental_model SET paused_until = NULL
         WHERE paused_until IS NOT NULL",
        [],
    )?;
    if lifted > 0 {
        tx.changed_program(CacheTag::Models, None);
    }
    Ok(lifted)
}

/// Writes a model that was read in this transaction and changed: every field but id, bank,
/// `created_at`, `carry_over_count` and `open_proposal`; `tag_set` follows `tags`, `document_tokens`
/// the evidence. Search text
/// follows name and content; the vector does not (see [`put_vector`]).
///
/// # Errors
/// `VersionConflict` when another version than `expected` is stored; `NotFound`.
pub fn save(tx: &WriteTx<'_>, model: &Model, expected: u32, now: Instant) -> Result<()> {
    let head = &model.head;
    let (stored, name, content): (u32, String, String) = tx
        .find("SELECT version, name, content FROM mental_model WHERE id = ?1", [head.key], |r| {
            Ok((row::count(r, 0)?, r.get(1)?, r.get(2)?))
        })?
        .ok_or_else(|| Error::not_found(Thing::Model, &head.id.0))?;
    if stored != expected {
        return Err(Error::VersionConflict { found: stored, expected });
    }
    tx.run(
        include_str!("../../sql/model_save.sql"),
        params![
            head.key,
            head.name,
            head.source_query,
            row::text(&head.tags)?,
            intern(tx, head.bank, &head.tags)?,
            head.max_tokens,
            row::text(&head.trigger)?,
            head.review,
            head.version,
            head.placeholder,
            row::ms(head.last_refreshed_at),
            row::ms(head.last_memory_seen_at),
            head.last_memory_seen_seq,
            head.considered_seq,
            head.last_refreshed_source_query,
            head.delta_failures,
            head.failure_streak,
            row::ms(head.last_refresh_failed_at),
            row::ms(head.last_full_refreshed_at),
            row::ms(head.last_cron_fire_at),
            row::ms(head.last_full_cron_fire_at),
            row::ms(head.paused_until),
            model.content,
            row::text(&model.structure)?,
            row::text_opt(model.reflect_response.as_ref())?,
            row::text_opt(model.last_run.as_ref())?,
            row::text(&model.carry_over)?,
            row::text(&model.guidance)?,
            to_millis(now),
            model.reflect_response.as_ref().and_then(|said| said.get("document_tokens")?.as_i64()),
        ],
    )?;
    if name != head.name || content != model.content {
        tx.run("DELETE FROM fts_model WHERE rowid = ?1", [head.key])?;
        put_text(tx, head.key, &head.name, &model.content)?;
    }
    tx.changed(head.bank, CacheTag::Models, Some(&head.id.0))
}

fn put_text(tx: &WriteTx<'_>, key: ModelKey, name: &str, content: &str) -> Result<()> {
    tx.run(
        "INSERT INTO fts_model (rowid, name, content) VALUES (?1, ?2, ?3)",
        (key, name, content),
    )?;
    Ok(())
}

/// Stores or replaces a model's vector, made of its name and content.
///
/// # Errors
/// `DimensionMismatch`.
pub fn put_vector(
    tx: &WriteTx<'_>,
    embedder: &Embedder,
    bank: BankKey,
    key: ModelKey,
    vector: &[f32],
) -> Result<()> {
    if vector.len() != embedder.dim {
        return Err(Error::DimensionMismatch { got: vector.len(), want: embedder.dim });
    }
    let table = embedder.key.model_table();
    tx.run(&format!("DELETE FROM {table} WHERE model_id = ?1"), [key])?;
    tx.run(
        &format!("INSERT INTO {table} (model_id, bank, e) VALUES (?1, ?2, ?3)"),
        (key, bank, embedders::bytes(vector)),
    )?;
    Ok(())
}

/// Removes a model with its versions, proposals, runs and provenance.
///
/// # Errors
/// `NotFound`.
pub fn delete(tx: &WriteTx<'_>, bank: BankKey, id: &ModelId) -> Result<()> {
    let key = get(tx, bank, id)?.head.key;
    tx.run("DELETE FROM fts_model WHERE rowid = ?1", [key])?;
    for embedder in embedders::list(tx)? {
        let table = embedder.key.model_table();
        tx.run(&format!("DELETE FROM {table} WHERE model_id = ?1"), [key])?;
    }
    tx.run("DELETE FROM mental_model WHERE id = ?1", [key])?;
    for tag in [CacheTag::Models, CacheTag::Versions, CacheTag::Proposals] {
        tx.changed(bank, tag, Some(&id.0))?;
    }
    Ok(())
}
