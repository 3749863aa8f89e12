//! Every statement that any test prepares goes through here: its plan must not walk a table that
//! grows with the data. A statement that must (a check of the whole file) says so in a comment.

use std::cell::RefCell;
use std::collections::HashSet;

use rusqlite::Connection;

/// What a statement that walks a whole table says in its text.
const ADMITTED: &str = "/* whole file */";

/// Tables that stay small: programs and banks have few rows of them.
const SMALL: &[&str] = &[
    "bank",
    "bank_counter",
    "backup",
    "embedder",
    "endpoint",
    "endpoint_memory",
    "probe_term",
    "secret_ref",
    "setting",
    "sqlite_schema",
];

/// Partial indexes that hold a handful of rows whatever the size of their table: walking one of them
/// is the point of it.
const FEW: &[&str] = &["reflect_run_going", "refresh_run_kept", "topup_queue_order"];

thread_local! {
    static SEEN: RefCell<HashSet<String>> = RefCell::default();
}

/// Panics when the plan of a statement is bad.
pub(crate) fn check(conn: &Connection, sql: &str) {
    if sql.contains(ADMITTED) || !SEEN.with_borrow_mut(|seen| seen.insert(sql.to_owned())) {
        return;
    }
    let mut explain = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    // Parameters stay unbound: a plan does not look at them.
    let mut rows = explain.raw_query();
    let mut plan = Vec::<String>::new();
    while let Some(row) = rows.next().unwrap() {
        plan.push(row.get(3).unwrap());
    }
    for line in &plan {
        let Some(rest) = line.strip_prefix("SCAN ") else { continue };
        let table = rest.split_whitespace().next().unwrap_or_default();
        let fine = SMALL.contains(&table)
            || rest.contains("VIRTUAL TABLE")
            || rest.starts_with("CONSTANT ROW")
            || rest.starts_with('(')
            || rest.contains("SUBQUERY")
            || plan.contains(&format!("CO-ROUTINE {table}"))
            || rest.split_whitespace().last().is_some_and(|index| FEW.contains(&index));
        assert!(fine, "a whole table is walked: {line}\n{}\n{sql}", plan.join("\n"));
    }
}

#[test]
fn every_statement_file_fits_the_schema() {
    crate::connect::register_vectors();
    let folder = tempfile::tempdir().unwrap();
    let mut conn = Connection::open(folder.path().join("a.db")).unwrap();
    crate::migrate::run(&mut conn, folder.path(), super::t(0)).unwrap();
    let files = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sql");
    let mut seen = 0;
    for entry in std::fs::read_dir(files).unwrap() {
        let path = entry.unwrap().path();
        let sql = std::fs::read_to_string(&path).unwrap();
        assert!(conn.prepare(&sql).is_ok(), "{}", path.display());
        check(&conn, &sql);
        seen += 1;
    }
    assert!(seen > 10);
}

#[test]
#[should_panic(expected = "a whole table is walked")]
fn a_walk_over_memories_is_refused() {
    crate::connect::register_vectors();
    let folder = tempfile::tempdir().unwrap();
    let mut conn = Connection::open(folder.path().join("a.db")).unwrap();
    crate::migrate::run(&mut conn, folder.path(), super::t(0)).unwrap();
    check(&conn, "SELECT id FROM memory WHERE text = ?1");
}
