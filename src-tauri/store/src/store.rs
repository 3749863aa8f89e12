//! The handle to the file: one thread that writes, a few that read, news after each commit.
//! Closures run on those threads, so nothing here blocks the runtime that calls it; they must be
//! short and must not call models or embedders.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;

use domain::Instant;
use rusqlite::Connection;
use tokio::sync::{broadcast, oneshot};

use crate::backup::{self, BackupMade};
use crate::error::{Error, Result};
use crate::lock::{FolderLock, unwritable};
use crate::notice::Notice;
use crate::search::matrix::Matrices;
use crate::tx::{ReadTx, State, WriteTx};
use crate::{connect, header, migrate};

/// Name of the database in its data folder.
pub const FILE_NAME: &str = "palimpsest.db";
/// Name of the folder of copies in the data folder.
pub const BACKUP_FOLDER: &str = "backups";

/// Notices that a slow listener may lag behind before it loses the oldest.
const NOTICES: usize = 1024;

/// How to open a data folder.
#[derive(Debug, Clone)]
pub struct Options {
    /// The time, for the name of a copy taken before a migration.
    pub now: Instant,
    /// Number of reading connections, 1 to 8.
    pub readers: usize,
    /// Largest number of pages the file may have; beyond it writes fail as on a full disk. For
    /// tests of that case.
    pub max_pages: Option<u32>,
    /// Bytes up to which the vectors of a bank are held in memory as they are; those of a larger
    /// bank take a quarter and are a little off.
    pub whole_vectors: usize,
}

impl Options {
    /// The usual: three readers, no limit, 100,000 vectors of 384 numbers as they are.
    #[must_use]
    pub fn at(now: Instant) -> Self {
        Self { now, readers: 3, max_pages: None, whole_vectors: 160 << 20 }
    }
}

/// Where a write transaction stands when the commit hook is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Moment {
    /// Everything is written, nothing is committed. An error given back here rolls it back.
    BeforeCommit,
    /// The commit is done; the notice is not sent yet.
    AfterCommit,
}

/// One point at which a test may stop the process, or make the write fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CommitPoint {
    /// The label of the write.
    pub label: &'static str,
    /// Before or after the commit.
    pub moment: Moment,
}

type Hook = Arc<dyn Fn(CommitPoint) -> Result<()> + Send + Sync>;
type Job = Box<dyn FnOnce(&mut Connection) + Send>;

struct Shared {
    /// Commits so far. Only this process writes, and only through the one writer.
    commits: AtomicU64,
    hook: Mutex<Option<Hook>>,
    notices: broadcast::Sender<Notice>,
    matrices: Matrices,
}

struct Inner {
    folder: PathBuf,
    shared: Arc<Shared>,
    writer: Option<mpsc::Sender<Job>>,
    readers: Option<mpsc::Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
    _lock: FolderLock,
}

/// The open file. Clones share it; the last one to go closes it.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("folder", &self.inner.folder).finish()
    }
}

impl Shared {
    /// The state after the last commit that is told. A commit is told after it can be seen, so that
    /// one which falls between this and a snapshot makes two names for one state, never one for two.
    fn state(&self) -> State {
        State(self.commits.load(Ordering::Acquire))
    }
}

impl Store {
    /// Opens (or makes) the database of a data folder and takes the folder. Blocks while it
    /// migrates.
    ///
    /// # Errors
    /// `DataFolderInUse`, `Newer` (the file keeps its bytes), `Damaged`, `ReadOnly`, `DiskFull`.
    pub fn open(folder: &Path, options: &Options) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(unwritable)?;
        let lock = FolderLock::take(folder)?;
        let db = folder.join(FILE_NAME);
        migrate::refuse_newer(header::schema_number(&db)?)?;
        connect::register_vectors();
        let mut conn = connect::writer(&db)?;
        migrate::run(&mut conn, &folder.join(BACKUP_FOLDER), options.now)?;
        if let Some(pages) = options.max_pages {
            conn.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
        }
        let mut threads = Vec::new();
        let (writer, jobs) = mpsc::channel();
        threads.push(spawn("store-writer", conn, Arc::new(Mutex::new(jobs)), true)?);
        let (readers, jobs) = mpsc::channel();
        let jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..options.readers.clamp(1, 8) {
            threads.push(spawn("store-reader", connect::reader(&db)?, Arc::clone(&jobs), false)?);
        }
        let shared = Arc::new(Shared {
            commits: AtomicU64::new(0),
            hook: Mutex::default(),
            notices: broadcast::Sender::new(NOTICES),
            matrices: Matrices::new(options.whole_vectors),
        });
        Ok(Self {
            inner: Arc::new(Inner {
                folder: folder.to_owned(),
                shared,
                writer: Some(writer),
                readers: Some(readers),
                threads,
                _lock: lock,
            }),
        })
    }

    /// The data folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.inner.folder
    }

    /// News of every commit from now on. A listener that lags too far gets `Lagged` and should
    /// treat everything as changed.
    #[must_use]
    pub fn notices(&self) -> broadcast::Receiver<Notice> {
        self.inner.shared.notices.subscribe()
    }

    /// Sets what is called at each commit point, for tests that kill the process there or make the
    /// write fail. Replaces an earlier one.
    pub fn set_commit_hook(
        &self,
        hook: impl Fn(CommitPoint) -> Result<()> + Send + Sync + 'static,
    ) {
        *self.inner.shared.hook.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Arc::new(hook));
    }

    /// Runs a closure over a snapshot, on a reading thread.
    ///
    /// # Errors
    /// What the closure gives back; `Panicked`; `Closed`.
    pub async fn read<T, F>(&self, work: F) -> Result<T>
    where
        F: FnOnce(&ReadTx<'_>) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.read_as(work).await
    }

    /// [`Store::read`] for a caller with an error type of its own.
    ///
    /// # Errors
    /// As `read`.
    pub async fn read_as<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: FnOnce(&ReadTx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let shared = Arc::clone(&self.inner.shared);
        let answer =
            self.submit(self.inner.readers.as_ref(), move |conn| read_on(conn, &shared, work));
        answer.await.unwrap_or_else(|_| Err(Error::Closed.into()))
    }

    /// Runs a closure in the one write transaction (`BEGIN IMMEDIATE`), on the writing thread;
    /// commits when it gives back `Ok`, rolls back otherwise; then sends the notices. The label
    /// names the write at the commit hook.
    ///
    /// # Errors
    /// What the closure gives back; `DiskFull`, `Busy` and the like from the commit; `Panicked`;
    /// `Closed`.
    pub async fn write<T, F>(&self, label: &'static str, work: F) -> Result<T>
    where
        F: FnOnce(&WriteTx<'_>) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.write_as(label, work).await
    }

    /// [`Store::write`] for a caller with an error type of its own.
    ///
    /// # Errors
    /// As `write`.
    pub async fn write_as<T, E, F>(&self, label: &'static str, work: F) -> Result<T, E>
    where
        F: FnOnce(&WriteTx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let shared = Arc::clone(&self.inner.shared);
        let answer = self
            .submit(self.inner.writer.as_ref(), move |conn| write_on(conn, &shared, label, work));
        answer.await.unwrap_or_else(|_| Err(Error::Closed.into()))
    }

    /// Copies the whole file to `path` while work goes on: written beside, checked, renamed.
    /// Put it on record with [`backup::record`].
    ///
    /// # Errors
    /// `DiskFull`, `BackupFailed`, `Io`; no unfinished file is left.
    pub async fn backup(&self, path: PathBuf) -> Result<BackupMade> {
        self.submit(self.inner.readers.as_ref(), move |conn| backup::copy_checked(conn, &path))
            .await
            .unwrap_or(Err(Error::Closed))
    }

    /// Checks the file's pages and indexes.
    ///
    /// # Errors
    /// `Damaged` with the first fault found.
    pub async fn quick_check(&self) -> Result<()> {
        self.read(|tx| {
            let verdict: String = tx.conn().query_row("PRAGMA quick_check(1)", [], |r| r.get(0))?;
            if verdict == "ok" { Ok(()) } else { Err(Error::damaged(verdict)) }
        })
        .await
    }

    /// Lets SQLite refresh its statistics and the full-text index merge; for quiet moments and
    /// after large imports.
    ///
    /// # Errors
    /// Those of writing.
    pub async fn tidy(&self) -> Result<()> {
        self.submit(self.inner.writer.as_ref(), |conn| {
            refresh_statistics(conn)?;
            conn.execute_batch(
                "INSERT INTO fts_memory (fts_memory, rank) VALUES ('merge', 200);
                 PRAGMA incremental_vacuum(200);",
            )?;
            Ok(())
        })
        .await
        .unwrap_or(Err(Error::Closed))
    }

    fn submit<T: Send + 'static>(
        &self,
        lane: Option<&mpsc::Sender<Job>>,
        work: impl FnOnce(&mut Connection) -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (answer, receiver) = oneshot::channel();
        let job: Job = Box::new(move |conn| {
            // Whoever asked may have gone away meanwhile; the work is done all the same.
            let _ = answer.send(work(conn));
        });
        if let Some(lane) = lane {
            // A failed send drops the job and with it `answer`: the receiver reports `Closed`.
            let _ = lane.send(job);
        }
        receiver
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let me = std::thread::current().id();
        let mut threads = self.threads.drain(..);
        let writer = threads.next();
        // The writer must be the last to let go: SQLite folds the log into the file when the last
        // connection closes, and one that can only read leaves it where it is.
        self.readers = None;
        for thread in threads {
            join(thread, me);
        }
        self.writer = None;
        if let Some(thread) = writer {
            join(thread, me);
        }
    }
}

/// Waits for a thread of the store, unless it is the one that waits.
fn join(thread: JoinHandle<()>, me: std::thread::ThreadId) {
    if thread.thread().id() != me {
        // A panic of the thread was already reported to whoever waited.
        let _ = thread.join();
    }
}

fn spawn(
    name: &str,
    mut conn: Connection,
    jobs: Arc<Mutex<mpsc::Receiver<Job>>>,
    optimize: bool,
) -> Result<JoinHandle<()>> {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        loop {
            let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(job) = next else { break };
            job(&mut conn);
        }
        if optimize {
            // Statistics are a comfort; a failure to refresh them at the end is not news.
            let _ = refresh_statistics(&conn);
        }
    })?;
    Ok(thread)
}

/// Below this many memories no statistics are kept: what the planner assumes without them is right
/// for a large file and harmless in a small one, while the numbers of a small file are wrong for
/// what it grows into after one import.
const STATISTICS_FROM: i64 = 5_000;

fn refresh_statistics(conn: &Connection) -> Result<()> {
    let memories: i64 = conn.query_row(
        "SELECT coalesce(sum(n), 0) FROM bank_counter
         WHERE what IN ('world', 'experience', 'observation')",
        [],
        |r| r.get(0),
    )?;
    if memories >= STATISTICS_FROM {
        conn.execute_batch("PRAGMA optimize;")?;
    }
    Ok(())
}

fn read_on<T, E: From<Error>>(
    conn: &mut Connection,
    shared: &Shared,
    work: impl FnOnce(&ReadTx<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let state = shared.state();
    conn.execute_batch("BEGIN").map_err(Error::from)?;
    let result = caught(|| work(&ReadTx::new(conn, state, &shared.matrices)));
    end(conn, "COMMIT");
    result
}

fn write_on<T, E: From<Error>>(
    conn: &mut Connection,
    shared: &Shared,
    label: &'static str,
    work: impl FnOnce(&WriteTx<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let hook = shared.hook.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let at = |moment| match &hook {
        Some(hook) => hook(CommitPoint { label, moment }),
        None => Ok(()),
    };
    conn.execute_batch("BEGIN IMMEDIATE").map_err(Error::from)?;
    let tx = WriteTx::new(conn, shared.state());
    let result = caught(|| {
        let value = work(&tx)?;
        at(Moment::BeforeCommit)?;
        Ok(value)
    });
    let news = tx.into_news();
    let result = result.and_then(|value| {
        conn.execute_batch("COMMIT").map_err(Error::from)?;
        shared.commits.fetch_add(1, Ordering::AcqRel);
        Ok(value)
    });
    if result.is_err() {
        end(conn, "ROLLBACK");
    } else {
        if let Err(error) = at(Moment::AfterCommit) {
            tracing::warn!(label, %error, "the commit hook failed after the commit");
        }
        for notice in news.into_notices() {
            // Nobody listening is fine.
            let _ = shared.notices.send(notice);
        }
    }
    result
}

/// Ends a transaction if one is still open: some faults (a full disk) end it by themselves.
fn end(conn: &Connection, how: &str) {
    if !conn.is_autocommit()
        && let Err(error) = conn.execute_batch(how)
    {
        tracing::error!(%error, how, "a transaction could not be ended");
    }
}

/// A panic in a closure must not take the thread, and with it the only writer, along.
fn caught<T, E: From<Error>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result,
        Err(panic) => {
            let detail = panic
                .downcast_ref::<&str>()
                .map(|s| (*s).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "unknown".to_owned());
            Err(Error::Panicked { detail }.into())
        }
    }
}
