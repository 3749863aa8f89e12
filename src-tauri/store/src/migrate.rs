//! Bringing the file to the schema of this program: numbered steps, forward only, each in its own
//! transaction together with its number. An older file is copied aside before the first step. Never
//! touches a newer one.

use std::path::Path;

use domain::Instant;
use domain::time::to_millis;
use rusqlite::Connection;

use crate::backup;
use crate::error::{Error, Result};

/// The steps. A file that is missing does not compile; the number of a step is its place, from 1.
const STEPS: &[&str] = &[
    include_str!("../migrations/0001_start.sql"),
    include_str!("../migrations/0002_version_details.sql"),
    include_str!("../migrations/0003_observation_review.sql"),
    include_str!("../migrations/0004_token_count.sql"),
    include_str!("../migrations/0005_given_scopes.sql"),
];

/// How many copies taken before migrations are kept.
const KEPT_COPIES: usize = 3;

/// The newest schema number this program knows.
pub(crate) fn newest() -> u32 {
    u32::try_from(STEPS.len()).unwrap_or(u32::MAX)
}

/// Refuses a number that this program does not know.
pub(crate) fn refuse_newer(found: Option<u32>) -> Result<()> {
    match found {
        Some(found) if found > newest() => Err(Error::Newer { found, known: newest() }),
        _ => Ok(()),
    }
}

/// Runs the steps that the file lacks. `folder` receives the copy of an older file.
pub(crate) fn run(conn: &mut Connection, folder: &Path, now: Instant) -> Result<()> {
    run_steps(conn, folder, now, STEPS)
}

fn run_steps(conn: &mut Connection, folder: &Path, now: Instant, steps: &[&str]) -> Result<()> {
    let from: u32 = conn.query_row("PRAGMA user_version", [], |r| r.get(0))?;
    let from = from as usize;
    if from >= steps.len() {
        return Ok(());
    }
    let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0))?;
    if from == 0 && tables > 0 {
        return Err(Error::damaged("the file is a database of another program"));
    }
    if from > 0 {
        let name = format!("before-schema-{}-{}.db", steps.len(), to_millis(now));
        let path = folder.join(name);
        let made = backup::copy_checked(conn, &path)?;
        backup::keep_newest(folder, "before-schema-", KEPT_COPIES)?;
        step(conn, from, steps)?;
        return backup::record_migration(conn, &path, &made, now);
    }
    step(conn, from, steps)
}

fn step(conn: &mut Connection, from: usize, steps: &[&str]) -> Result<()> {
    for (done, sql) in steps.iter().enumerate().skip(from) {
        let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        tx.execute_batch(sql)?;
        tx.execute_batch(&format!("PRAGMA user_version = {};", done + 1))?;
        tx.commit()?;
    }
    // The number must be in the file's first page, where an older program looks for it.
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::time::from_millis;

    #[test]
    fn an_older_file_is_copied_before_it_is_changed() {
        let folder = tempfile::tempdir().unwrap();
        let db = folder.path().join("a.db");
        let copies = folder.path().join("backups");
        let mut conn = Connection::open(&db).unwrap();
        run_steps(&mut conn, &copies, from_millis(1), &STEPS[..1]).unwrap();
        assert!(!copies.exists());
        let bank = "INSERT INTO bank (uid, name, created_at, updated_at) VALUES ('b', 'B', 1, 1)";
        conn.execute(bank, []).unwrap();

        let more = [STEPS[0], "ALTER TABLE bank ADD COLUMN extra TEXT;"];
        run_steps(&mut conn, &copies, from_millis(2), &more).unwrap();
        assert_eq!(conn.query_row("PRAGMA user_version", [], |r| r.get::<_, u32>(0)).unwrap(), 2);
        let copy = Connection::open(copies.join("before-schema-2-2.db")).unwrap();
        assert_eq!(copy.query_row("PRAGMA user_version", [], |r| r.get::<_, u32>(0)).unwrap(), 1);
        assert_eq!(
            copy.query_row("SELECT uid FROM bank", [], |r| r.get::<_, String>(0)).unwrap(),
            "b"
        );
        let reason: String = conn.query_row("SELECT reason FROM backup", [], |r| r.get(0)).unwrap();
        assert_eq!(reason, "migration");
    }

    #[test]
    fn sizes_of_documents_are_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let mut conn = Connection::open(folder.path().join("a.db")).unwrap();
        run_steps(&mut conn, folder.path(), from_millis(1), &STEPS[..1]).unwrap();
        conn.execute_batch(
            "INSERT INTO bank (id, uid, name, created_at, updated_at) VALUES (1, 'b', 'B', 1, 1);
             INSERT INTO tag_set (id, bank_id, canon, n) VALUES (1, 1, '[]', 0);
             INSERT INTO mental_model (bank_id, uid, name, source_query, structure, tags,
                 tag_set_id, trigger, review, created_at, updated_at, reflect_response)
             VALUES (1, 'm', 'M', 'q', '{}', '[]', 1, '{}', 'auto', 1, 1,
                 '{\"document_tokens\": 9}'),
                (1, 'n', 'N', 'q', '{}', '[]', 1, '{}', 'auto', 1, 1, NULL);",
        )
        .unwrap();
        run_steps(&mut conn, folder.path(), from_millis(2), STEPS).unwrap();
        let mut statement =
            conn.prepare("SELECT document_tokens FROM mental_model ORDER BY uid").unwrap();
        let sizes: Vec<Option<i64>> =
            statement.query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(sizes, [Some(9), None]);
    }

    #[test]
    fn a_failing_step_leaves_the_number_and_the_tables_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let mut conn = Connection::open(folder.path().join("a.db")).unwrap();
        let bad = [STEPS[0], "CREATE TABLE half (id INTEGER); SELECT no_such_function();"];
        assert!(run_steps(&mut conn, folder.path(), from_millis(1), &bad).is_err());
        assert_eq!(conn.query_row("PRAGMA user_version", [], |r| r.get::<_, u32>(0)).unwrap(), 1);
        assert!(conn.prepare("SELECT id FROM half").is_err());
    }
}
