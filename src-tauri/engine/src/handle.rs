//! The handle that every engine function takes first, how it is opened, and how it ends. It owns the
//! file, the embedder, the clock and the queue; it decides nothing about memories or documents.

use crate::clock::Clock;
use crate::events::Event;
use crate::ops::{CLOSING, Queue};
use crate::report::fault;
use crate::secrets::SecretStore;
use crate::view::app::Changed;
use crate::{Error, Result};
use domain::{BankId, Instant, RunId};
use embed::Embedder;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use store::operations::OperationStatus;
use store::{EmbedderKey, Options, Store};
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;

/// News that a slow subscriber may lag behind before it loses the oldest.
const EVENTS: usize = 1024;

/// Changes after which held work may be free to run: a decision, a setting, an endpoint.
const RELEASES: [domain::CacheTag; 4] = [
    domain::CacheTag::Proposals,
    domain::CacheTag::Settings,
    domain::CacheTag::Endpoints,
    domain::CacheTag::Banks,
];

/// What the engine is given: everything that touches the world outside its rules.
pub struct Config {
    /// The data folder; made when absent.
    pub folder: PathBuf,
    /// Turns text into vectors.
    pub embedder: Arc<dyn Embedder>,
    /// Tells the time and makes ids.
    pub clock: Arc<dyn Clock>,
    /// Keeps keys.
    pub secrets: Arc<dyn SecretStore>,
    /// A language model to use instead of the endpoint of the settings; for tests.
    pub llm: Option<Arc<dyn llm::Provider>>,
    /// Whether queued operations are run in the background; tests may run them by hand.
    pub background: bool,
    /// Largest number of pages of the data file; beyond it writes fail as on a full disk. For
    /// tests of that case.
    pub max_pages: Option<u32>,
}

/// The engine over one data folder. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

/// What all clones share.
pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) config: Config,
    pub(crate) embedder_key: EmbedderKey,
    pub(crate) events: broadcast::Sender<Event>,
    pub(crate) queue: Queue,
    pub(crate) runs: Runs,
    pub(crate) last_look: crate::models::automatic::LastLook,
    pub(crate) statement_vectors: crate::reflect::extractive::KeptVectors,
    pub(crate) kept: crate::endpoints::provider::Kept,
    /// Files of documents are looked at and written one at a time.
    pub(crate) publishing: tokio::sync::Mutex<()>,
    pub(crate) stop: CancellationToken,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("folder", &self.inner.config.folder).finish()
    }
}

impl Engine {
    /// Opens (or makes) the data file in the folder, takes up interrupted work and, unless told
    /// otherwise, starts the worker.
    ///
    /// # Errors
    /// `data_folder_in_use`, `database_newer`, `database_damaged`, `folder_read_only`, `disk_full`.
    pub async fn open(config: Config) -> Result<Self> {
        let now = config.clock.now();
        let folder = config.folder.clone();
        let options = Options { max_pages: config.max_pages, ..Options::at(now) };
        let store = tokio::task::spawn_blocking(move || Store::open(&folder, &options))
            .await
            .map_err(|error| fault("unexpected_error").detail(error))??;
        let embedder_key = ensure_embedder(&store, config.embedder.as_ref(), now).await?;
        store
            .write("recover_operations", move |tx| {
                for operation in store::operations::recover(tx, now)? {
                    let folded = operation.details.is_some();
                    if operation.status == OperationStatus::Failed && !folded {
                        crate::models::automatic::gave_up(tx, &operation, now)?;
                    }
                    crate::memory::consolidate::hand_over_folded(tx, &operation)?;
                }
                store::runs::recover_reflects(tx, &crate::reflect::interrupted(), now)?;
                store::runs::drop_dry_run_results(tx)?;
                Ok(())
            })
            .await?;
        let (events, _) = broadcast::channel(EVENTS);
        let background = config.background;
        let engine = Self {
            inner: Arc::new(Inner {
                store,
                config,
                embedder_key,
                events,
                queue: Queue::default(),
                runs: Runs::default(),
                last_look: crate::models::automatic::LastLook::default(),
                statement_vectors: crate::reflect::extractive::KeptVectors::default(),
                kept: crate::endpoints::provider::Kept::default(),
                publishing: tokio::sync::Mutex::default(),
                stop: CancellationToken::new(),
            }),
        };
        engine.forward_notices();
        crate::models::automatic::take_up_marks(&engine).await?;
        if background {
            crate::ops::start_worker(&engine);
            crate::models::automatic::start(&engine);
            crate::banks::start(&engine).await;
            crate::models::published::start(&engine);
        }
        Ok(engine)
    }

    /// Ends the work of the background: nothing new is begun, and what runs lets go and is taken up
    /// at the next start with no retry spent. Questions are stopped. The file stays open for as long
    /// as a handle does.
    pub async fn close(&self) {
        self.inner.stop.cancel();
        let stopped = tokio::time::timeout(CLOSING, self.inner.runs.stop_all());
        let (stopped, ()) = tokio::join!(stopped, self.inner.queue.close());
        if stopped.is_err() {
            tracing::warn!("a question that does not let go is marked as such at the next start");
        }
    }

    /// News from now on.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.inner.events.subscribe()
    }

    /// The file. Public so that a shell can back it up and tests can set commit hooks.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> &dyn Clock {
        self.inner.config.clock.as_ref()
    }

    /// The moment, UTC.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.inner.config.clock.now()
    }

    /// A fresh id.
    pub(crate) fn new_id(&self) -> String {
        crate::clock::new_id(self.clock())
    }

    /// The embedder in use.
    pub(crate) fn embedder(&self) -> &dyn Embedder {
        self.inner.config.embedder.as_ref()
    }

    /// Whether this handle is the last one apart from background tasks is told by this token.
    pub(crate) fn stop_token(&self) -> CancellationToken {
        self.inner.stop.clone()
    }

    /// Sends news to whoever listens; nobody listening is no fault.
    pub(crate) fn tell(&self, event: Event) {
        drop(self.inner.events.send(event));
    }

    /// Vectors for stored texts.
    pub(crate) async fn embed_passages(
        &self,
        texts: &[String],
        cancel: &CancellationToken,
    ) -> Result<Vec<Vec<f32>>> {
        Ok(self.embedder().embed(texts, embed::Kind::Passage, cancel).await?)
    }

    /// Turns commits into news.
    fn forward_notices(&self) {
        let mut notices = self.inner.store.notices();
        let events = self.inner.events.clone();
        let engine = Arc::downgrade(&self.inner);
        let stop = self.stop_token();
        tokio::spawn(async move {
            loop {
                let changed = tokio::select! {
                    () = stop.cancelled() => break,
                    notice = notices.recv() => match notice {
                        Ok(notice) => Changed {
                            bank: notice.bank,
                            tags: notice.changed.into_keys().collect(),
                        },
                        Err(broadcast::error::RecvError::Lagged(_)) => everything(),
                        Err(broadcast::error::RecvError::Closed) => break,
                    },
                };
                if changed.tags.iter().any(|tag| RELEASES.contains(tag))
                    && let Some(inner) = engine.upgrade()
                {
                    inner.queue.wake();
                }
                drop(events.send(Event::Changed(changed)));
            }
        });
    }
}

/// For a listener that lost news: anything may have changed.
fn everything() -> Changed {
    use domain::CacheTag as T;
    Changed {
        bank: None,
        tags: vec![
            T::Banks,
            T::Documents,
            T::Memories,
            T::Models,
            T::Versions,
            T::Proposals,
            T::Operations,
            T::Runs,
            T::Settings,
            T::Endpoints,
        ],
    }
}

async fn ensure_embedder(
    store: &Store,
    embedder: &dyn Embedder,
    now: Instant,
) -> Result<EmbedderKey> {
    let name = embedder.name().to_owned();
    let dim = embedder.dim();
    let prefixes = embedder.prefixes().clone();
    let key = store
        .write("ensure_embedder", move |tx| {
            let new = store::embedders::NewEmbedder {
                name: &name,
                dim,
                endpoint: None,
                prefix_query: &prefixes.query,
                prefix_passage: &prefixes.passage,
            };
            store::embedders::ensure(tx, &new, now)
        })
        .await?;
    Ok(key)
}

/// Running questions and how to stop them.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    tokens: Mutex<HashMap<RunId, CancellationToken>>,
    ended: Notify,
}

impl Runs {
    /// Notes a run; the token stops it.
    pub(crate) fn begin(&self, run: RunId) -> CancellationToken {
        let token = CancellationToken::new();
        self.lock().insert(run, token.clone());
        token
    }

    /// Notes a run until the note is dropped, whichever way that comes about.
    pub(crate) fn note(&self, run: RunId) -> Running<'_> {
        Running { token: self.begin(run.clone()), runs: self, run }
    }

    /// Forgets a run that has ended.
    pub(crate) fn end(&self, run: &RunId) {
        self.lock().remove(run);
        self.ended.notify_waiters();
    }

    /// Stops a run; false when it is not running.
    pub(crate) fn cancel(&self, run: &RunId) -> bool {
        let token = self.lock().get(run).cloned();
        token.is_some_and(|token| {
            token.cancel();
            true
        })
    }

    /// Stops every run and waits until each has its record.
    async fn stop_all(&self) {
        self.lock().values().for_each(CancellationToken::cancel);
        loop {
            let mut ended = std::pin::pin!(self.ended.notified());
            ended.as_mut().enable();
            if self.lock().is_empty() {
                return;
            }
            ended.await;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RunId, CancellationToken>> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The note of a run that goes on.
pub(crate) struct Running<'r> {
    /// Stops it.
    pub(crate) token: CancellationToken,
    runs: &'r Runs,
    run: RunId,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.runs.end(&self.run);
    }
}

/// Reads with the key of a bank looked up first; the usual shape of an engine read.
pub(crate) async fn read_bank<T, F>(engine: &Engine, bank: &BankId, work: F) -> Result<T>
where
    F: FnOnce(&store::ReadTx<'_>, store::BankKey) -> store::Result<T> + Send + 'static,
    T: Send + 'static,
{
    let bank = bank.clone();
    engine
        .store()
        .read(move |tx| {
            let key = store::banks::key(tx, &bank)?;
            work(tx, key)
        })
        .await
        .map_err(Error::from)
}

/// Writes with the key of a bank looked up first; the label names the commit for tests. Whatever
/// takes memories back, the reviews that rest on them hear of it in the same transaction.
pub(crate) async fn write_bank<T, F>(
    engine: &Engine,
    bank: &BankId,
    label: &'static str,
    work: F,
) -> Result<T>
where
    F: FnOnce(&store::WriteTx<'_>, store::BankKey) -> store::Result<T> + Send + 'static,
    T: Send + 'static,
{
    let (bank, now) = (bank.clone(), engine.now());
    engine
        .store()
        .write(label, move |tx| {
            let before = store::banks::get(tx, &bank)?;
            let done = work(tx, before.key)?;
            let gone = store::tombstones::since(tx, before.key, before.write_seq)?;
            if !gone.is_empty() {
                crate::models::proposals::rebase::after_retraction(tx, before.key, &gone, now)?;
            }
            Ok(done)
        })
        .await
        .map_err(Error::from)
}
