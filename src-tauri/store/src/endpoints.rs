//! Endpoints of language models and embedders, and what was learnt about each. Never a key.

use domain::time::to_millis;
use domain::{CacheTag, EndpointId, Instant};
use rusqlite::Row;
use serde_json::Value;

use crate::error::{Error, Result, Thing};
use crate::keys::EndpointKey;
use crate::row;
use crate::tx::{ReadTx, WriteTx};

row::words! {
    /// What an endpoint speaks.
    Protocol {
        /// The OpenAI chat protocol and its many relatives.
        OpenAi = "openai",
        /// Anthropic messages.
        Anthropic = "anthropic",
        /// Ollama's own.
        Ollama = "ollama",
        /// Embeddings.
        Embedding = "embedding",
        /// Reranking.
        Rerank = "rerank",
    }
}

/// An endpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    /// Its key.
    pub key: EndpointKey,
    /// Its id.
    pub id: EndpointId,
    /// Its name on screens.
    pub name: String,
    /// What it speaks.
    pub protocol: Protocol,
    /// Where it is.
    pub base_url: String,
    /// The name of its key in `secret_ref`.
    pub secret_name: Option<String>,
    /// Prices, as the engine shapes them.
    pub prices: Option<Value>,
    /// When it was added.
    pub created_at: Instant,
    /// When it was last changed.
    pub updated_at: Instant,
}

/// The part of an endpoint that a person states.
#[derive(Debug, Clone, PartialEq)]
pub struct EndpointFields {
    /// Its name on screens.
    pub name: String,
    /// What it speaks.
    pub protocol: Protocol,
    /// Where it is.
    pub base_url: String,
    /// The name of its key in `secret_ref`.
    pub secret_name: Option<String>,
    /// Prices, as the engine shapes them.
    pub prices: Option<Value>,
}

const COLUMNS: &str =
    "id, uid, name, protocol, base_url, secret_name, prices, created_at, updated_at";

fn read(r: &Row<'_>) -> rusqlite::Result<Endpoint> {
    Ok(Endpoint {
        key: r.get(0)?,
        id: EndpointId(r.get(1)?),
        name: r.get(2)?,
        protocol: r.get(3)?,
        base_url: r.get(4)?,
        secret_name: r.get(5)?,
        prices: row::json_opt(r, 6)?,
        created_at: row::at(r, 7)?,
        updated_at: row::at(r, 8)?,
    })
}

/// Adds an endpoint.
pub fn insert(
    tx: &WriteTx<'_>,
    id: &EndpointId,
    fields: &EndpointFields,
    now: Instant,
) -> Result<EndpointKey> {
    let key = tx.insert(
        "INSERT INTO endpoint
             (uid, name, protocol, base_url, secret_name, prices, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)",
        (
            &id.0,
            &fields.name,
            fields.protocol,
            &fields.base_url,
            &fields.secret_name,
            row::text_opt(fields.prices.as_ref())?,
            to_millis(now),
        ),
    )?;
    tx.changed_program(CacheTag::Endpoints, Some(&id.0));
    Ok(EndpointKey(key))
}

/// Replaces the stated part. Another address or protocol forgets what was learnt.
///
/// # Errors
/// `NotFound`.
pub fn update(
    tx: &WriteTx<'_>,
    id: &EndpointId,
    fields: &EndpointFields,
    now: Instant,
) -> Result<()> {
    let old = get(tx, id)?;
    tx.run(
        "UPDATE endpoint SET name = ?2, protocol = ?3, base_url = ?4, secret_name = ?5,
             prices = ?6, updated_at = ?7
         WHERE id = ?1",
        (
            old.key,
            &fields.name,
            fields.protocol,
            &fields.base_url,
            &fields.secret_name,
            row::text_opt(fields.prices.as_ref())?,
            to_millis(now),
        ),
    )?;
    if old.base_url != fields.base_url || old.protocol != fields.protocol {
        forget(tx, old.key, None)?;
    }
    tx.changed_program(CacheTag::Endpoints, Some(&id.0));
    Ok(())
}

/// Removes an endpoint and what was learnt about it.
///
/// # Errors
/// `NotFound`.
pub fn delete(tx: &WriteTx<'_>, id: &EndpointId) -> Result<()> {
    if tx.run("DELETE FROM endpoint WHERE uid = ?1", [&id.0])? == 0 {
        return Err(Error::not_found(Thing::Endpoint, &id.0));
    }
    tx.changed_program(CacheTag::Endpoints, Some(&id.0));
    Ok(())
}

/// An endpoint by its id.
///
/// # Errors
/// `NotFound`.
pub fn get(tx: &ReadTx<'_>, id: &EndpointId) -> Result<Endpoint> {
    tx.find(&format!("SELECT {COLUMNS} FROM endpoint WHERE uid = ?1"), [&id.0], read)?
        .ok_or_else(|| Error::not_found(Thing::Endpoint, &id.0))
}

/// All endpoints, oldest first.
pub fn list(tx: &ReadTx<'_>) -> Result<Vec<Endpoint>> {
    tx.list(&format!("SELECT {COLUMNS} FROM endpoint ORDER BY id"), [], read)
}

/// One thing learnt about a language model at an endpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct Learnt {
    /// The language model's name there.
    pub llm: String,
    /// What was learnt, for example `named_tool_choice` or `window`.
    pub key: String,
    /// The value.
    pub value: Value,
    /// When.
    pub learned_at: Instant,
    /// How it was found out, for a person.
    pub evidence: String,
}

/// What was learnt about an endpoint (of one language model, or of all).
pub fn learnt(tx: &ReadTx<'_>, endpoint: EndpointKey, llm: Option<&str>) -> Result<Vec<Learnt>> {
    tx.list(
        "SELECT llm, key, value, learned_at, evidence FROM endpoint_memory
         WHERE endpoint_id = ?1 AND (?2 IS NULL OR llm = ?2) ORDER BY llm, key",
        (endpoint, llm),
        |r| {
            Ok(Learnt {
                llm: r.get(0)?,
                key: r.get(1)?,
                value: row::json(r, 2)?,
                learned_at: row::at(r, 3)?,
                evidence: r.get(4)?,
            })
        },
    )
}

/// Notes something learnt; the newest knowledge replaces the older.
pub fn learn(tx: &WriteTx<'_>, endpoint: EndpointKey, learnt: &Learnt) -> Result<()> {
    tx.run(
        "INSERT INTO endpoint_memory (endpoint_id, llm, key, value, learned_at, evidence)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (endpoint_id, llm, key) DO UPDATE
         SET value = excluded.value, learned_at = excluded.learned_at,
             evidence = excluded.evidence",
        (
            endpoint,
            &learnt.llm,
            &learnt.key,
            row::text(&learnt.value)?,
            to_millis(learnt.learned_at),
            &learnt.evidence,
        ),
    )?;
    tx.changed_program(CacheTag::Endpoints, None);
    Ok(())
}

/// Forgets one thing that was learnt about an endpoint, of every language model there.
pub fn forget_one(tx: &WriteTx<'_>, endpoint: EndpointKey, key: &str) -> Result<()> {
    tx.run("DELETE FROM endpoint_memory WHERE endpoint_id = ?1 AND key = ?2", (endpoint, key))?;
    tx.changed_program(CacheTag::Endpoints, None);
    Ok(())
}

/// Forgets what was learnt about an endpoint (of one language model, or of all).
pub fn forget(tx: &WriteTx<'_>, endpoint: EndpointKey, llm: Option<&str>) -> Result<()> {
    tx.run(
        "DELETE FROM endpoint_memory WHERE endpoint_id = ?1 AND (?2 IS NULL OR llm = ?2)",
        (endpoint, llm),
    )?;
    tx.changed_program(CacheTag::Endpoints, None);
    Ok(())
}
