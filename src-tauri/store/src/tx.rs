//! The two kinds of transaction that the functions of this crate take. A write transaction is also
//! a read transaction. Neither knows a table beyond the counters of `bank`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

use domain::time::{from_millis, to_millis};
use domain::{BankId, CacheTag, Instant};
use rusqlite::{CachedStatement, Connection, Params, Row};

use crate::error::{Error, Find as _, Result, Thing};
use crate::keys::{BankKey, EmbedderKey};
use crate::notice::Collector;
use crate::search::matrix::{Matrices, Matrix};

/// A snapshot: every read inside it sees the same state of the file.
pub struct ReadTx<'c> {
    conn: &'c Connection,
    state: State,
    matrices: Option<&'c Matrices>,
    used: RefCell<Option<Used>>,
}

/// Names a state of the file as long as it is open: two transactions with the same one see the same
/// rows. Two that see the same may have different ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State(pub(crate) u64);

/// The copy of vectors that a snapshot looked up last; a search asks for it in each of its ways.
type Used = ((BankKey, EmbedderKey), Option<Arc<Matrix>>);

impl<'c> ReadTx<'c> {
    /// `state` was read before the snapshot was taken.
    pub(crate) fn new(conn: &'c Connection, state: State, matrices: &'c Matrices) -> Self {
        Self { conn, state, matrices: Some(matrices), used: RefCell::default() }
    }

    /// The state of the file that it sees; of a write, the one before it.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// The vectors in memory. None inside a write, whose own changes no copy knows.
    pub(crate) fn matrices(&self) -> Option<&'c Matrices> {
        self.matrices
    }

    /// What was found for a bank and an embedder before in this snapshot.
    pub(crate) fn matrix_used(&self, of: (BankKey, EmbedderKey)) -> Option<Option<Arc<Matrix>>> {
        self.used.borrow().as_ref().filter(|(slot, _)| *slot == of).map(|(_, found)| found.clone())
    }

    /// The same for a bank, whichever the embedder.
    pub(crate) fn matrix_of(&self, bank: BankKey) -> Option<Option<Arc<Matrix>>> {
        self.used
            .borrow()
            .as_ref()
            .filter(|(slot, _)| slot.0 == bank)
            .map(|(_, found)| found.clone())
    }

    /// Keeps what was found for the rest of the snapshot.
    pub(crate) fn use_matrix(&self, of: (BankKey, EmbedderKey), found: Option<Arc<Matrix>>) {
        *self.used.borrow_mut() = Some((of, found));
    }

    pub(crate) fn conn(&self) -> &'c Connection {
        self.conn
    }

    /// The statement, from the connection's cache.
    pub(crate) fn prepare(&self, sql: &str) -> Result<CachedStatement<'c>> {
        let statement = self.conn.prepare_cached(sql)?;
        #[cfg(test)]
        crate::tests::plan::check(self.conn, sql);
        Ok(statement)
    }

    /// The only row.
    pub(crate) fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        Ok(self.prepare(sql)?.query_row(params, read)?)
    }

    /// The first row, if there is one.
    pub(crate) fn find<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        self.prepare(sql)?.query_row(params, read).find()
    }

    /// Every row.
    pub(crate) fn list<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut statement = self.prepare(sql)?;
        let rows = statement.query_map(params, read)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

impl std::fmt::Debug for ReadTx<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReadTx")
    }
}

/// What a write transaction remembers until it commits.
#[derive(Default)]
struct Pending {
    news: Collector,
    names: HashMap<BankKey, BankId>,
    stamps: HashMap<BankKey, Instant>,
}

/// The one write transaction of the moment. Commits as a whole or not at all.
pub struct WriteTx<'c> {
    read: ReadTx<'c>,
    pending: RefCell<Pending>,
}

impl<'c> Deref for WriteTx<'c> {
    type Target = ReadTx<'c>;

    fn deref(&self) -> &ReadTx<'c> {
        &self.read
    }
}

impl<'c> WriteTx<'c> {
    pub(crate) fn new(conn: &'c Connection, state: State) -> Self {
        let read = ReadTx { conn, state, matrices: None, used: RefCell::default() };
        Self { read, pending: RefCell::default() }
    }

    pub(crate) fn into_news(self) -> Collector {
        self.pending.into_inner().news
    }

    /// Runs a statement and gives the number of rows it changed.
    pub(crate) fn run(&self, sql: &str, params: impl Params) -> Result<usize> {
        Ok(self.prepare(sql)?.execute(params)?)
    }

    /// Runs an insert and gives the row's key.
    pub(crate) fn insert(&self, sql: &str, params: impl Params) -> Result<i64> {
        Ok(self.prepare(sql)?.insert(params)?)
    }

    /// Notes that something of a bank changed, for the notice after the commit.
    pub fn changed(&self, bank: BankKey, tag: CacheTag, id: Option<&str>) -> Result<()> {
        let known = self.pending.borrow().names.get(&bank).cloned();
        let name = match known {
            Some(name) => name,
            None => {
                let uid = self
                    .find("SELECT uid FROM bank WHERE id = ?1", [bank], |r| r.get::<_, String>(0))?
                    .ok_or_else(|| Error::not_found(Thing::Bank, bank.0.to_string()))?;
                let name = BankId(uid);
                self.pending.borrow_mut().names.insert(bank, name.clone());
                name
            }
        };
        self.pending.borrow_mut().news.add(Some(name), tag, id);
        Ok(())
    }

    /// Notes that something program-wide changed, for the notice after the commit.
    pub fn changed_program(&self, tag: CacheTag, id: Option<&str>) {
        self.pending.borrow_mut().news.add(None, tag, id);
    }

    /// The next sequence number of a bank, shared by memories and tombstones.
    pub(crate) fn next_seq(&self, bank: BankKey) -> Result<i64> {
        self.find(
            "UPDATE bank SET write_seq = write_seq + 1 WHERE id = ?1 RETURNING write_seq",
            [bank],
            |r| r.get(0),
        )?
        .ok_or_else(|| Error::not_found(Thing::Bank, bank.0.to_string()))
    }

    /// The `updated_at` that every content write of this transaction gets: now, but at least one
    /// millisecond after the bank's last one, so that a clock set back never hides a write.
    pub(crate) fn stamp(&self, bank: BankKey, now: Instant) -> Result<Instant> {
        if let Some(stamp) = self.pending.borrow().stamps.get(&bank) {
            return Ok(*stamp);
        }
        let millis: i64 = self
            .find(
                "UPDATE bank SET last_memory_write_at = max(?2, coalesce(last_memory_write_at + 1, 0))
                 WHERE id = ?1 RETURNING last_memory_write_at",
                (bank, to_millis(now)),
                |r| r.get(0),
            )?
            .ok_or_else(|| Error::not_found(Thing::Bank, bank.0.to_string()))?;
        let stamp = from_millis(millis);
        self.pending.borrow_mut().stamps.insert(bank, stamp);
        Ok(stamp)
    }

    /// Adds to one of the bank's counters.
    pub(crate) fn count(&self, bank: BankKey, what: &str, by: i64) -> Result<()> {
        if by != 0 {
            self.run(
                "INSERT INTO bank_counter (bank_id, what, n) VALUES (?1, ?2, ?3)
                 ON CONFLICT (bank_id, what) DO UPDATE SET n = n + excluded.n",
                (bank, what, by),
            )?;
        }
        Ok(())
    }
}

impl std::fmt::Debug for WriteTx<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WriteTx")
    }
}
