//! Program-wide settings and the places where keys are kept. Never a key itself.

use domain::bank::{BankSettings, StatedSettings};
use domain::time::to_millis;
use domain::{CacheTag, Instant};
use serde_json::Value;

use crate::banks::Bank;
use crate::error::Result;
use crate::row;
use crate::tx::{ReadTx, WriteTx};

/// Setting under which the program's own values of bank settings stand.
pub const BANK_SETTINGS: &str = "bank_settings";

/// The effective settings of a bank: defaults, then the program's, then its own.
pub fn of_bank(tx: &ReadTx<'_>, bank: &Bank) -> Result<BankSettings> {
    let program = get(tx, BANK_SETTINGS)?.unwrap_or_default();
    Ok(BankSettings::resolve(
        &StatedSettings::from_stored(&program),
        &StatedSettings::from_stored(&bank.config),
    ))
}

/// The value of a setting, if it is stated.
pub fn get(tx: &ReadTx<'_>, key: &str) -> Result<Option<Value>> {
    tx.find("SELECT value FROM setting WHERE key = ?1", [key], |r| row::json(r, 0))
}

/// All stated settings, by key.
pub fn list(tx: &ReadTx<'_>) -> Result<Vec<(String, Value)>> {
    tx.list("SELECT key, value FROM setting ORDER BY key", [], |r| {
        Ok((r.get(0)?, row::json(r, 1)?))
    })
}

/// States a setting.
pub fn set(tx: &WriteTx<'_>, key: &str, value: &Value, now: Instant) -> Result<()> {
    tx.run(
        "INSERT INTO setting (key, value, updated_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at",
        (key, row::text(value)?, to_millis(now)),
    )?;
    tx.changed_program(CacheTag::Settings, Some(key));
    Ok(())
}

/// Takes a setting back to its default.
pub fn clear(tx: &WriteTx<'_>, key: &str) -> Result<()> {
    tx.run("DELETE FROM setting WHERE key = ?1", [key])?;
    tx.changed_program(CacheTag::Settings, Some(key));
    Ok(())
}

row::words! {
    /// Where a key is kept.
    SecretStore {
        /// The operating system's store.
        Keychain = "keychain",
        /// A file readable by the account.
        File = "file",
        /// An environment variable.
        Env = "env",
    }
}

/// Where a key is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretRef {
    /// Its name.
    pub name: String,
    /// The kind of place.
    pub store: SecretStore,
    /// The last four characters of the key, to recognise it by.
    pub last4: String,
    /// When it was set.
    pub updated_at: Instant,
}

/// The reference of a name, if there is one.
pub fn find_secret(tx: &ReadTx<'_>, name: &str) -> Result<Option<SecretRef>> {
    tx.find(
        "SELECT name, store, last4, updated_at FROM secret_ref WHERE name = ?1",
        [name],
        read_secret,
    )
}

/// All references, by name.
pub fn list_secrets(tx: &ReadTx<'_>) -> Result<Vec<SecretRef>> {
    tx.list("SELECT name, store, last4, updated_at FROM secret_ref ORDER BY name", [], read_secret)
}

fn read_secret(r: &rusqlite::Row<'_>) -> rusqlite::Result<SecretRef> {
    Ok(SecretRef {
        name: r.get(0)?,
        store: r.get(1)?,
        last4: r.get(2)?,
        updated_at: row::at(r, 3)?,
    })
}

/// Notes where a key is kept.
pub fn set_secret(
    tx: &WriteTx<'_>,
    name: &str,
    store: SecretStore,
    last4: &str,
    now: Instant,
) -> Result<()> {
    tx.run(
        "INSERT INTO secret_ref (name, store, last4, updated_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (name) DO UPDATE
         SET store = excluded.store, last4 = excluded.last4, updated_at = excluded.updated_at",
        (name, store, last4, to_millis(now)),
    )?;
    tx.changed_program(CacheTag::Settings, None);
    Ok(())
}

/// Forgets where a key was kept; endpoints that named it have none then.
pub fn delete_secret(tx: &WriteTx<'_>, name: &str) -> Result<()> {
    tx.run("DELETE FROM secret_ref WHERE name = ?1", [name])?;
    tx.changed_program(CacheTag::Settings, None);
    tx.changed_program(CacheTag::Endpoints, None);
    Ok(())
}
