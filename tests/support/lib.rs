//! What the tests of this folder share: the place of the vectors, an engine over a folder of its
//! own with a clock that stands still, and the few calls that most chapters begin with.

mod ear;
pub mod endpoint;

pub use ear::Ear;

use domain::BankId;
use engine::clock::TestClock;
use engine::secrets::SessionSecrets;
use engine::view::bank::NewBank;
use engine::view::memory::{MemoryRow, NewFact};
use engine::{Config, Engine};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder of the test vectors: `CASES_DIR` when it is set, else this repository's own copy.
#[must_use]
pub fn cases_dir() -> PathBuf {
    std::env::var_os("CASES_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("cases"), PathBuf::from)
}

/// Every case of every file of vectors whose name begins with `stem`; none when `CASES_DIR` names a
/// folder without such a file.
///
/// # Panics
/// When this repository's own file is missing, or a file holds no cases.
#[must_use]
pub fn vectors(stem: &str) -> Vec<serde_json::Value> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(cases_dir())
        .expect("the folder of vectors")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with(stem) && name.ends_with(".json")
        })
        .collect();
    files.sort();
    assert!(!files.is_empty() || std::env::var_os("CASES_DIR").is_some(), "no file of {stem}");
    let read = |path: PathBuf| -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let mut file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        serde_json::from_value(file["cases"].take()).expect("a list of cases")
    };
    files.into_iter().flat_map(read).collect()
}

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The bundled embedder from the place where the set-up step puts it.
///
/// # Panics
/// When it is not there: run the set-up step first.
#[must_use]
pub fn bundled() -> Arc<dyn embed::Embedder> {
    let folder = root().join(".build").join(embed::Bundled::FOLDER);
    match embed::Bundled::open(&folder) {
        Ok(bundled) => Arc::new(embed::Cached::new(bundled)),
        Err(error) => panic!("{error}; run: node src-tauri/embed/fetch-weights.mjs"),
    }
}

/// An engine over a folder that goes when the test ends.
pub struct Fixture {
    /// The folder; kept so that a test can close the engine and open it again.
    pub folder: tempfile::TempDir,
    /// The clock, moved by hand.
    pub clock: Arc<TestClock>,
    /// The engine.
    pub engine: Engine,
    /// An empty bank.
    pub bank: BankId,
}

/// How a fixture is made.
#[derive(Clone, Default)]
pub struct Setup {
    /// Hashing embedder when absent.
    pub embedder: Option<Arc<dyn embed::Embedder>>,
    /// Extractive mode when absent.
    pub llm: Option<Arc<dyn llm::Provider>>,
    /// As on a disk of this many pages.
    pub max_pages: Option<u32>,
}

/// The moment at which the clock of a fixture stands first: Monday, 2 March 2026, 09:00.
pub const START: &str = "2026-03-02T09:00:00Z";

/// A moment from its RFC 3339 text.
///
/// # Panics
/// When it is none.
#[must_use]
pub fn at(text: &str) -> domain::Instant {
    text.parse().unwrap_or_else(|_| panic!("{text} is no moment"))
}

/// Opens an engine over a folder, without a background worker.
///
/// # Errors
/// Those of `Engine::open`.
pub async fn open(folder: &Path, clock: &Arc<TestClock>, setup: &Setup) -> engine::Result<Engine> {
    let embedder = setup.embedder.clone().unwrap_or_else(|| Arc::new(embed::Hash::new()) as Arc<_>);
    Engine::open(Config {
        folder: folder.to_owned(),
        embedder,
        clock: Arc::clone(clock) as Arc<dyn engine::clock::Clock>,
        secrets: Arc::new(SessionSecrets::default()),
        llm: setup.llm.clone(),
        background: false,
        max_pages: setup.max_pages,
    })
    .await
}

impl Fixture {
    /// An engine in extractive mode with the hashing embedder, and an empty bank.
    ///
    /// # Panics
    /// When it cannot be opened.
    pub async fn new() -> Self {
        Self::with(Setup::default()).await
    }

    /// An engine whose questions are answered by a scripted language model.
    ///
    /// # Panics
    /// When it cannot be opened.
    pub async fn scripted(llm: Arc<dyn llm::Provider>) -> Self {
        Self::with(Setup { llm: Some(llm), ..Setup::default() }).await
    }

    /// An engine as described, and an empty bank.
    ///
    /// # Panics
    /// When it cannot be opened.
    pub async fn with(setup: Setup) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let clock = Arc::new(TestClock::at(at(START)));
        let engine = open(folder.path(), &clock, &setup).await.expect("an engine");
        let new = NewBank { name: "Workshop".to_owned(), id: Some(BankId::from("workshop")) };
        let bank = engine::banks::create(&engine, new).await.expect("a bank").id;
        let fixture = Self { folder, clock, engine, bank };
        // The script of a test is about its own subject; the chapter on folding switches this on.
        let off = json!({"enable_auto_consolidation": false});
        engine::settings::set_program(&fixture.engine, off.into()).await.expect("settings");
        fixture
    }

    /// Replaces the stated settings of the bank.
    ///
    /// # Panics
    /// When they cannot be written.
    pub async fn settings(&self, stated: serde_json::Value) {
        let (bank, now) = (self.bank.clone(), engine::clock::Clock::now(self.clock.as_ref()));
        self.engine
            .store()
            .write("set_config", move |tx| {
                let key = store::banks::key(tx, &bank)?;
                store::banks::set_config(tx, key, &stated, now)
            })
            .await
            .expect("settings");
    }

    /// Adds a fact by hand.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn fact(&self, text: &str, entities: &[&str], day: &str) -> MemoryRow {
        let moment = at(&format!("{day}T09:00:00Z"));
        let fact = NewFact {
            text: text.to_owned(),
            fact_type: None,
            context: None,
            occurred_start: Some(moment),
            occurred_end: None,
            mentioned_at: Some(moment),
            tags: Vec::new(),
            metadata: BTreeMap::new(),
            entities: entities.iter().map(|&name| name.to_owned()).collect(),
        };
        engine::memory::add(&self.engine, &self.bank, fact).await.expect("a stored fact")
    }

    /// Waits until everything that was handed to the writer before is in the file. What a language
    /// model was asked is recorded by a task of its own, which may still be on its way when the work
    /// that asked has ended.
    ///
    /// # Panics
    /// When nothing can be written.
    pub async fn settle(&self) {
        tokio::task::yield_now().await;
        self.engine.store().write("settle", |_| Ok(())).await.expect("a writer");
    }

    /// Runs everything that is queued.
    ///
    /// # Panics
    /// When the queue cannot be read.
    pub async fn run_queue(&self) {
        engine::ops::run_pending(&self.engine).await.expect("a queue");
    }
}
