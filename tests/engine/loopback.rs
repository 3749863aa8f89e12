//! An engine whose language model is a server on loopback: the whole way from a question to bytes on
//! a socket and back, with the waits of endpoints measured by a timer that is moved by hand.

use domain::trace::RunEvent;
use domain::{BankId, Instant, OperationId};
use engine::clock::{Clock, TestClock};
use engine::report::Report;
use engine::secrets::SessionSecrets;
use engine::view::bank::NewBank;
use engine::view::memory::MemoryFilter;
use engine::view::reflect::{ReflectInput, ReflectRunView};
use engine::view::settings::{EndpointView, Protocol as Speaks, SaveEndpoint};
use engine::{Config, Engine};
use llm::{HandTimer, Protocol, Timer};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tests::endpoint::LlmServer;
use tests::{START, at};

/// The clock of a test: its moment and its ticks follow the timer.
pub(crate) struct HandClock {
    inner: TestClock,
    timer: Arc<HandTimer>,
}

impl Clock for HandClock {
    fn now(&self) -> Instant {
        self.inner.now() + chrono::Duration::from_std(self.timer.now()).unwrap()
    }

    fn local_offset_minutes(&self, at: Instant) -> i32 {
        self.inner.local_offset_minutes(at)
    }

    fn ticks_ms(&self) -> u64 {
        u64::try_from(self.timer.now().as_millis()).unwrap()
    }

    fn random(&self) -> [u8; 10] {
        self.inner.random()
    }

    fn timer(&self) -> Arc<dyn Timer> {
        Arc::clone(&self.timer) as Arc<dyn Timer>
    }
}

/// An engine, a bank with a few facts, and an endpoint in use.
pub(crate) struct Workshop {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) engine: Engine,
    pub(crate) bank: BankId,
    pub(crate) timer: Arc<HandTimer>,
}

/// An endpoint as a person fills in its form.
pub(crate) fn form(base_url: String, protocol: Protocol) -> SaveEndpoint {
    SaveEndpoint {
        id: None,
        name: "Loopback".to_owned(),
        protocol: match protocol {
            Protocol::OpenAi => Speaks::Openai,
            Protocol::Anthropic => Speaks::Anthropic,
            Protocol::Ollama => Speaks::Ollama,
        },
        base_url,
        llm: Some("m".to_owned()),
        window: None,
        call_seconds: None,
        key: None,
        key_fallback: None,
    }
}

async fn open(folder: &std::path::Path, timer: &Arc<HandTimer>) -> Engine {
    try_open(folder, timer).await.unwrap()
}

async fn try_open(folder: &std::path::Path, timer: &Arc<HandTimer>) -> engine::Result<Engine> {
    let clock = HandClock { inner: TestClock::at(at(START)), timer: Arc::clone(timer) };
    Engine::open(Config {
        folder: folder.to_owned(),
        embedder: Arc::new(embed::Hash::new()),
        clock: Arc::new(clock),
        secrets: Arc::new(SessionSecrets::default()),
        llm: None,
        background: false,
        max_pages: None,
    })
    .await
}

impl Workshop {
    pub(crate) async fn new(server: &LlmServer, protocol: Protocol) -> Self {
        Self::with(form(server.base(), protocol)).await
    }

    pub(crate) async fn with(form: SaveEndpoint) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let timer = Arc::new(HandTimer::default());
        let engine = open(folder.path(), &timer).await;
        let new = NewBank { name: "Workshop".to_owned(), id: Some(BankId::from("workshop")) };
        let bank = engine::banks::create(&engine, new).await.unwrap().id;
        let off = json!({"enable_auto_consolidation": false});
        engine::settings::set_program(&engine, off.into()).await.unwrap();
        let shop = Self { folder, engine, bank, timer };
        for text in ["The ferry to Aker leaves at six.", "The harbour office closes at noon."] {
            shop.fact(text).await;
        }
        let saved = engine::endpoints::save(&shop.engine, form).await.unwrap();
        engine::endpoints::choose(&shop.engine, Some(&saved.id)).await.unwrap();
        shop
    }

    pub(crate) async fn fact(&self, text: &str) {
        let fact = serde_json::from_value(json!({"text": text})).unwrap();
        engine::memory::add(&self.engine, &self.bank, fact).await.unwrap();
    }

    /// The program is closed and started again.
    pub(crate) async fn restarted(self) -> Self {
        let Self { folder, engine, bank, timer } = self;
        engine.close().await;
        drop(engine);
        // What still writes beside the calls holds the folder for a moment.
        for _ in 0..1_000 {
            match try_open(folder.path(), &timer).await {
                Ok(engine) => return Self { folder, engine, bank, timer },
                Err(error) => assert_eq!(error.reason(), "data_folder_in_use"),
            }
            tokio::task::yield_now().await;
        }
        panic!("the folder stays in use")
    }

    pub(crate) async fn ask(&self, query: &str) -> (Result<ReflectRunView, Report>, Vec<RunEvent>) {
        self.ask_with(crate::reflect::question(query)).await
    }

    pub(crate) async fn ask_with(
        &self,
        input: ReflectInput,
    ) -> (Result<ReflectRunView, Report>, Vec<RunEvent>) {
        let mut events: Vec<RunEvent> = Vec::new();
        let asked = engine::reflect::ask(&self.engine, &self.bank, input, &mut events);
        // Waits between attempts pass at once; limits of calls stand still.
        let answer = tokio::select! {
            answer = asked => answer,
            () = self.timer.skip_waits(Duration::from_secs(60)) => unreachable!("it never ends"),
        };
        (answer.map_err(Into::into), events)
    }

    /// Queues a text and runs the queue; waits between attempts pass at once.
    pub(crate) async fn read(&self, text: &str) {
        self.queue(text).await;
        tokio::select! {
            run = engine::ops::run_pending(&self.engine) => run.unwrap(),
            () = self.timer.skip_waits(Duration::from_secs(60)) => unreachable!("it never ends"),
        }
    }

    /// Queues a text to be read by the language model.
    pub(crate) async fn queue(&self, text: &str) -> OperationId {
        let input = serde_json::from_value(json!({"text": text})).unwrap();
        engine::memory::retain(&self.engine, &self.bank, input).await.unwrap()
    }

    /// Texts of all facts.
    pub(crate) async fn facts(&self) -> Vec<String> {
        let all = MemoryFilter::default();
        let page = engine::memory::list(&self.engine, &self.bank, all, None).await.unwrap();
        page.page.items.into_iter().map(|row| row.text).collect()
    }

    /// The endpoint as settings show it.
    pub(crate) async fn endpoint(&self) -> EndpointView {
        engine::endpoints::llm_settings(&self.engine).await.unwrap().endpoints.remove(0)
    }

    /// What settings show of what was learnt, once this is among it. Learning is written beside the
    /// calls.
    pub(crate) async fn learnt(&self, key: &str) -> String {
        for _ in 0..1_000 {
            let learnt = self.endpoint().await.learnt;
            if let Some(fact) = learnt.into_iter().find(|fact| fact.key == key) {
                assert!(!fact.evidence.is_empty(), "{key} has no evidence");
                return fact.words;
            }
            tokio::task::yield_now().await;
        }
        panic!("nothing was learnt of {key}")
    }
}
