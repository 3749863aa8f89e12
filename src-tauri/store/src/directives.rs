//! Directives: rules that answers of a bank obey. Which of them apply to a request is decided
//! elsewhere, on their tags.

use std::collections::BTreeSet;

use domain::time::to_millis;
use domain::{CacheTag, DirectiveId, Instant};
use rusqlite::Row;

use crate::error::{Error, Result, Thing};
use crate::keys::BankKey;
use crate::tx::{ReadTx, WriteTx};
use crate::{row, tag_sets};

/// A directive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directive {
    /// Its id.
    pub id: DirectiveId,
    /// The part that a person states.
    pub fields: DirectiveFields,
    /// When it was made.
    pub created_at: Instant,
    /// When it was last changed.
    pub updated_at: Instant,
}

/// The part of a directive that a person states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectiveFields {
    /// Its name.
    pub name: String,
    /// The rule.
    pub content: String,
    /// Greater comes first.
    pub priority: i32,
    /// Whether it applies at all.
    pub is_active: bool,
    /// Its tags.
    pub tags: BTreeSet<String>,
}

const SELECT: &str = "SELECT d.uid, d.name, d.content, d.priority, d.is_active, s.canon, \
    d.created_at, d.updated_at FROM directive d JOIN tag_set s ON s.id = d.tag_set_id";

fn read(r: &Row<'_>) -> rusqlite::Result<Directive> {
    Ok(Directive {
        id: DirectiveId(r.get(0)?),
        fields: DirectiveFields {
            name: r.get(1)?,
            content: r.get(2)?,
            priority: r.get(3)?,
            is_active: r.get(4)?,
            tags: row::parsed(r, 5)?,
        },
        created_at: row::at(r, 6)?,
        updated_at: row::at(r, 7)?,
    })
}

/// Makes a directive.
///
/// # Errors
/// `IdTaken`.
pub fn insert(
    tx: &WriteTx<'_>,
    bank: BankKey,
    id: &DirectiveId,
    fields: &DirectiveFields,
    now: Instant,
) -> Result<()> {
    if tx.find("SELECT 1 FROM directive WHERE uid = ?1", [&id.0], |_| Ok(()))?.is_some() {
        return Err(Error::IdTaken { what: Thing::Directive, id: id.0.clone() });
    }
    tx.run(
        "INSERT INTO directive (bank_id, uid, name, content, priority, is_active, tag_set_id,
             created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)",
        (
            bank,
            &id.0,
            &fields.name,
            &fields.content,
            fields.priority,
            fields.is_active,
            tag_sets::intern(tx, bank, &fields.tags)?,
            to_millis(now),
        ),
    )?;
    tx.changed(bank, CacheTag::Directives, Some(&id.0))
}

/// Replaces the stated part.
///
/// # Errors
/// `NotFound`.
pub fn update(
    tx: &WriteTx<'_>,
    bank: BankKey,
    id: &DirectiveId,
    fields: &DirectiveFields,
    now: Instant,
) -> Result<()> {
    let n = tx.run(
        "UPDATE directive SET name = ?3, content = ?4, priority = ?5, is_active = ?6,
             tag_set_id = ?7, updated_at = ?8
         WHERE bank_id = ?1 AND uid = ?2",
        (
            bank,
            &id.0,
            &fields.name,
            &fields.content,
            fields.priority,
            fields.is_active,
            tag_sets::intern(tx, bank, &fields.tags)?,
            to_millis(now),
        ),
    )?;
    if n == 0 {
        return Err(Error::not_found(Thing::Directive, &id.0));
    }
    tx.changed(bank, CacheTag::Directives, Some(&id.0))
}

/// Puts a directive back as it was, with its id and its age, which count in the order.
///
/// # Errors
/// `IdTaken`.
pub fn restore(tx: &WriteTx<'_>, bank: BankKey, directive: &Directive) -> Result<()> {
    insert(tx, bank, &directive.id, &directive.fields, directive.created_at)?;
    tx.run(
        "UPDATE directive SET updated_at = ?2 WHERE uid = ?1",
        (&directive.id.0, to_millis(directive.updated_at)),
    )?;
    Ok(())
}

/// Removes a directive.
///
/// # Errors
/// `NotFound`.
pub fn delete(tx: &WriteTx<'_>, bank: BankKey, id: &DirectiveId) -> Result<()> {
    let n = tx.run("DELETE FROM directive WHERE bank_id = ?1 AND uid = ?2", (bank, &id.0))?;
    if n == 0 {
        return Err(Error::not_found(Thing::Directive, &id.0));
    }
    tx.changed(bank, CacheTag::Directives, Some(&id.0))
}

/// A directive by its id.
///
/// # Errors
/// `NotFound`.
pub fn get(tx: &ReadTx<'_>, bank: BankKey, id: &DirectiveId) -> Result<Directive> {
    tx.find(&format!("{SELECT} WHERE d.uid = ?2 AND d.bank_id = ?1"), (bank, &id.0), read)?
        .ok_or_else(|| Error::not_found(Thing::Directive, &id.0))
}

/// The directives of a bank, the most important first, older ones before newer.
pub fn list(tx: &ReadTx<'_>, bank: BankKey) -> Result<Vec<Directive>> {
    tx.list(&format!("{SELECT} WHERE d.bank_id = ?1 ORDER BY d.priority DESC, d.id"), [bank], read)
}
