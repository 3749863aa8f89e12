//! Opening connections: flags, pragmas, the vector extension. Knows no table.

use std::path::Path;
use std::sync::Once;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::Result;

/// Statements kept prepared per connection; the crate has a few hundred, with their variants.
const STATEMENTS: usize = 512;
/// Upper bound of the memory map.
const MAX_MMAP: u64 = 4 << 30;

/// Makes `vec0` known to every connection opened afterwards in this process.
pub(crate) fn register_vectors() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        type Init = unsafe extern "C" fn(
            *mut rusqlite::ffi::sqlite3,
            *mut *mut std::ffi::c_char,
            *const rusqlite::ffi::sqlite3_api_routines,
        ) -> std::ffi::c_int;
        // SAFETY: `sqlite3_vec_init` is an extension entry point and has the signature above; its
        // crate declares it without parameters. SQLite calls it once per new connection.
        #[allow(unsafe_code, reason = "SQLite takes statically linked extensions only this way")]
        unsafe {
            let entry =
                std::mem::transmute::<unsafe extern "C" fn(), Init>(sqlite_vec::sqlite3_vec_init);
            rusqlite::ffi::sqlite3_auto_extension(Some(entry));
        }
    });
}

/// The only writable connection.
pub(crate) fn writer(db: &Path) -> Result<Connection> {
    let conn = Connection::open_with_flags(
        db,
        OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    conn.busy_timeout(std::time::Duration::from_millis(5000))?;
    // Has an effect only before the first table is made.
    conn.execute_batch("PRAGMA auto_vacuum = INCREMENTAL;")?;
    conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    tune(&conn, db)?;
    Ok(conn)
}

/// A connection that can only read (temporary tables apart).
pub(crate) fn reader(db: &Path) -> Result<Connection> {
    let conn = Connection::open_with_flags(
        db,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    conn.busy_timeout(std::time::Duration::from_millis(5000))?;
    tune(&conn, db)?;
    Ok(conn)
}

fn tune(conn: &Connection, db: &Path) -> Result<()> {
    let mmap = std::fs::metadata(db).map_or(0, |m| m.len()).min(MAX_MMAP);
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    // Else a statement with a range is planned anew each time another value is bound to it, which
    // takes longer than to run it.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.execute_batch(&format!(
        "PRAGMA synchronous = NORMAL;
         PRAGMA foreign_keys = ON;
         PRAGMA temp_store = MEMORY;
         PRAGMA cache_size = -131072;
         PRAGMA mmap_size = {mmap};"
    ))?;
    Ok(())
}
