//! The handle that every engine function takes first, and how it is opened.

use crate::Result;
use crate::clock::Clock;
use crate::events::Event;
use crate::secrets::SecretStore;
use embed::Embedder;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::broadcast;

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
}

/// The engine over one data folder. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

/// What all clones share.
pub(crate) struct Inner {
    pub(crate) events: broadcast::Sender<Event>,
    pub(crate) config: Config,
}

impl Engine {
    /// Opens (or makes) the data file in the folder, recovers interrupted work and starts the
    /// worker.
    ///
    /// # Errors
    /// `data_folder_in_use`, `database_newer`, `database_damaged`, `folder_read_only`, `disk_full`.
    pub async fn open(config: Config) -> Result<Self> {
        let (events, _) = broadcast::channel(1024);
        Ok(Self { inner: Arc::new(Inner { events, config }) })
    }

    /// News from now on.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.inner.events.subscribe()
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> &dyn Clock {
        self.inner.config.clock.as_ref()
    }
}
