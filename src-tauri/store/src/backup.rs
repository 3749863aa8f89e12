//! Copies of the whole file: made by SQLite itself, so they are one self-contained file however
//! busy the writer is; checked before they get their name; never left half done under it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use domain::time::to_millis;
use domain::{CacheTag, Instant};
use rusqlite::{Connection, OpenFlags};

use crate::error::{Error, Result};
use crate::lock::unwritable;
use crate::row;
use crate::tx::{ReadTx, WriteTx};

/// A copy that passed its check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupMade {
    /// Size in bytes.
    pub size: u64,
    /// Rows per table, as counted in the copy.
    pub row_counts: BTreeMap<String, u64>,
}

row::words! {
    /// Why a backup was made.
    BackupReason {
        /// The daily one.
        Daily = "daily",
        /// Before a migration.
        Migration = "migration",
        /// A person asked.
        Asked = "asked",
    }
}

/// A backup on record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    /// Where it lies.
    pub path: PathBuf,
    /// Why it was made.
    pub reason: BackupReason,
    /// Size in bytes.
    pub size: u64,
    /// Rows per table.
    pub row_counts: serde_json::Value,
    /// When it was made and checked.
    pub created_at: Instant,
}

/// Tables whose rows are counted in a copy.
const COUNTED: &[&str] = &["bank", "document", "memory", "mental_model", "model_version"];

/// Writes a copy beside its final name, checks it, then renames it.
pub(crate) fn copy_checked(conn: &Connection, path: &Path) -> Result<BackupMade> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(unwritable)?;
    }
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let made = copy_into(conn, &partial).and_then(|made| {
        std::fs::rename(&partial, path)?;
        Ok(made)
    });
    if made.is_err() {
        // The failure itself is what matters; a leftover cannot be mistaken for a backup.
        let _ = std::fs::remove_file(&partial);
    }
    made
}

fn copy_into(conn: &Connection, partial: &Path) -> Result<BackupMade> {
    match std::fs::remove_file(partial) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e.into()),
        _ => {}
    }
    conn.execute("VACUUM INTO ?1", [partial.to_string_lossy()])?;
    let copy = Connection::open_with_flags(
        partial,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    let verdict: String = copy.query_row("PRAGMA integrity_check(1)", [], |r| r.get(0))?;
    if verdict != "ok" {
        return Err(Error::BackupFailed { detail: verdict });
    }
    let mut row_counts = BTreeMap::new();
    for table in COUNTED {
        let n: i64 = copy.query_row(&format!("SELECT count(*) FROM {table}"), [], |r| r.get(0))?;
        row_counts.insert((*table).to_owned(), u64::try_from(n).unwrap_or(0));
    }
    drop(copy);
    let file = std::fs::File::open(partial)?;
    file.sync_all()?;
    Ok(BackupMade { size: file.metadata()?.len(), row_counts })
}

/// Removes all but the newest `kept` files of `folder` whose names begin with `prefix`. Names carry
/// the time, so their order is the order of making.
pub fn keep_newest(folder: &Path, prefix: &str, kept: usize) -> Result<()> {
    let mut names: Vec<PathBuf> = std::fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(prefix)))
        .collect();
    names.sort();
    for old in names.iter().rev().skip(kept) {
        std::fs::remove_file(old)?;
    }
    Ok(())
}

const INSERT: &str = "INSERT INTO backup (path, reason, size, row_counts, checked_at, created_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?5)";

pub(crate) fn record_migration(
    conn: &Connection,
    path: &Path,
    made: &BackupMade,
    now: Instant,
) -> Result<()> {
    conn.execute(
        INSERT,
        (
            path.to_string_lossy(),
            BackupReason::Migration,
            i64::try_from(made.size).unwrap_or(i64::MAX),
            row::text(&made.row_counts)?,
            to_millis(now),
        ),
    )?;
    Ok(())
}

/// Puts a finished backup on record.
pub fn record(
    tx: &WriteTx<'_>,
    path: &Path,
    reason: BackupReason,
    made: &BackupMade,
    now: Instant,
) -> Result<()> {
    tx.run(
        INSERT,
        (
            path.to_string_lossy(),
            reason,
            i64::try_from(made.size).unwrap_or(i64::MAX),
            row::text(&made.row_counts)?,
            to_millis(now),
        ),
    )?;
    tx.changed_program(CacheTag::Backups, None);
    Ok(())
}

/// The backups on record, newest first, at most `limit`.
pub fn list(tx: &ReadTx<'_>, limit: u32) -> Result<Vec<Backup>> {
    tx.list(
        "SELECT path, reason, size, row_counts, created_at FROM backup ORDER BY id DESC LIMIT ?1",
        [limit],
        |r| {
            Ok(Backup {
                path: PathBuf::from(r.get::<_, String>(0)?),
                reason: r.get(1)?,
                size: u64::try_from(r.get::<_, i64>(2)?).unwrap_or(0),
                row_counts: row::json(r, 3)?,
                created_at: row::at(r, 4)?,
            })
        },
    )
}
