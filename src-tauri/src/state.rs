//! What commands are given: the data folder of this start and the engine over it. The engine is
//! opened once, in the background, so that the window does not wait for it; commands wait instead.
//! If it cannot be opened, the reason is kept and given to whoever asks.

use crate::secrets::Secrets;
use embed::Embedder;
use engine::Engine;
use engine::clock::SystemClock;
use engine::events::Event;
use engine::report::Report;
use engine::view::app::{Answering, AppStatus, EmbedderStatus};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tauri::AppHandle;
use tauri_specta::Event as _;
use tokio::sync::RwLock;

/// The program over one data folder.
pub struct App {
    folder: RwLock<PathBuf>,
    weights: PathBuf,
    engine: RwLock<Option<Result<Engine, Report>>>,
    handle: AppHandle,
}

impl App {
    /// The program over that folder; nothing is opened yet. `weights` is the folder of the bundled
    /// embedder.
    pub(crate) fn new(handle: AppHandle, folder: PathBuf, weights: PathBuf) -> Self {
        Self { folder: RwLock::new(folder), weights, engine: RwLock::new(None), handle }
    }

    /// The engine, opened on first use.
    ///
    /// # Errors
    /// Why the data could not be opened.
    pub async fn engine(&self) -> Result<Engine, Report> {
        if let Some(opened) = self.engine.read().await.as_ref() {
            return opened.clone();
        }
        let mut slot = self.engine.write().await;
        if let Some(opened) = slot.as_ref() {
            return opened.clone();
        }
        let folder = self.folder.read().await.clone();
        let opened = self.open(&folder).await;
        *slot = Some(opened.clone());
        opened
    }

    /// What the page needs to know before it draws anything.
    pub async fn status(&self) -> AppStatus {
        let blocked = match self.engine().await {
            Ok(engine) => match engine::settings::status(&engine).await {
                Ok(status) => return status,
                Err(error) => Report::from(error),
            },
            Err(report) => report,
        };
        AppStatus {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            data_folder: self.folder.read().await.display().to_string(),
            blocked: Some(blocked),
            answering: Answering::Nothing,
            embedder: EmbedderStatus { name: String::new(), dim: 0, ready: false, problem: None },
            bank: None,
            sample_bank: None,
            sample_ready: true,
            first_run_done: false,
        }
    }

    /// Tries to open the data anew, in another folder when one is given. Data that is open stays
    /// open: its work holds the folder's lock, against which a second opening would run.
    pub async fn reopen(&self, folder: Option<String>) -> AppStatus {
        {
            let mut slot = self.engine.write().await;
            let mut current = self.folder.write().await;
            let wanted = folder.map_or_else(|| current.clone(), PathBuf::from);
            let is_open = matches!(slot.as_ref(), Some(Ok(_)));
            if !is_open || wanted != *current {
                *current = wanted;
                if let Some(Ok(engine)) = slot.take() {
                    engine.close().await;
                }
            }
        }
        self.status().await
    }

    /// Ends the work of the background before the program does.
    pub(crate) async fn close(&self) {
        if let Some(Ok(engine)) = self.engine.read().await.as_ref() {
            engine.close().await;
        }
    }

    async fn open(&self, folder: &Path) -> Result<Engine, Report> {
        let engine = Engine::open(engine::Config {
            folder: folder.to_owned(),
            embedder: self.embedder(),
            clock: Arc::new(SystemClock::new()),
            secrets: Arc::new(Secrets::new(folder)),
            llm: None,
            background: true,
            max_pages: None,
        })
        .await?;
        forward(&engine, self.handle.clone());
        Ok(engine)
    }

    /// The bundled embedder, or, where its weights are missing, the hashing one: search by words
    /// goes on, and the status says what is amiss.
    fn embedder(&self) -> Arc<dyn Embedder> {
        match embed::Bundled::open(&self.weights) {
            Ok(bundled) => Arc::new(embed::Cached::new(bundled)),
            Err(error) => {
                tracing::error!(%error, "the bundled embedder cannot be used");
                Arc::new(embed::Hash::default())
            }
        }
    }
}

/// Passes the engine's news on to the page.
fn forward(engine: &Engine, handle: AppHandle) {
    let mut news = engine.subscribe();
    tauri::async_runtime::spawn(async move {
        loop {
            let sent = match news.recv().await {
                Ok(Event::Changed(changed)) => DataChanged(changed).emit(&handle),
                Ok(Event::Progress(progress)) => OperationProgressed(progress).emit(&handle),
                Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => continue,
                Err(tokio::sync::broadcast::error::RecvError::Closed) => break,
            };
            if let Err(error) = sent {
                tracing::debug!(%error, "the page did not take an event");
            }
        }
    });
}

/// A commit changed something that screens show.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, specta::Type, tauri_specta::Event)]
pub struct DataChanged(pub engine::view::app::Changed);

/// An operation went on.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, specta::Type, tauri_specta::Event)]
pub struct OperationProgressed(pub engine::view::operation::OperationProgress);
