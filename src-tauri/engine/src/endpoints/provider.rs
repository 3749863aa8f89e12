//! The language model in use: which endpoint, which model, with which key, and what was learnt about
//! it. A provider is made once and kept until the settings change.

use super::stated::Stated;
use super::waiting::Told;
use super::{CHOICE, choice};
use crate::llm_log::Recorded;
use crate::ops::Means;
use crate::report::fault;
use crate::view::settings::KeyStore;
use crate::{Engine, Result};
use async_trait::async_trait;
use domain::Instant;
use llm::{
    Address, Gate, Key, KeySource, Learnt, LearntKey, Limits, Protocol, Provider, RetryPolicy,
};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use store::endpoints::Endpoint;
use store::{EndpointKey, ReadTx};

/// Requests that a server of this protocol works on side by side, one more than queued work may have:
/// Ollama answers one after the other, so that a person's question would stand at the end of its line.
fn most_at_once(protocol: Protocol) -> usize {
    match protocol {
        Protocol::Ollama => 2,
        Protocol::OpenAi | Protocol::Anthropic => 4,
    }
}

/// The provider that is kept, with what it was made for, and the doors of the endpoints.
#[derive(Default)]
pub(crate) struct Kept {
    made: Mutex<Option<(String, Arc<dyn Provider>)>>,
    /// By address. They outlive a change of settings, since a limit does.
    gates: Mutex<HashMap<String, Arc<Gate>>>,
}

impl Kept {
    /// Forgets the provider; the next use makes it anew.
    pub(crate) fn clear(&self) {
        *self.made.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn get(&self, wanted: &str) -> Option<Arc<dyn Provider>> {
        let kept = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().filter(|(made_for, _)| made_for == wanted).map(|(_, made)| Arc::clone(made))
    }

    fn put(&self, made_for: String, provider: &Arc<dyn Provider>) {
        let mut kept = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some((made_for, Arc::clone(provider)));
    }

    /// The door of an endpoint, the same for every model there and every run.
    fn gate(&self, address: String, make: impl FnOnce() -> Gate) -> Arc<Gate> {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(gates.entry(address).or_insert_with(|| Arc::new(make())))
    }
}

/// The endpoint in use with its language model.
fn chosen(tx: &ReadTx<'_>) -> store::Result<Option<(Endpoint, String)>> {
    let Some(id) = choice(tx)? else { return Ok(None) };
    let found = store::endpoints::list(tx)?.into_iter().find(|endpoint| endpoint.id == id);
    Ok(match found {
        Some(endpoint) => Stated::read(tx, &endpoint.id)?.llm.map(|llm| (endpoint, llm)),
        None => None,
    })
}

/// The language model in use and whether it runs on this machine. The two belong together: what may
/// be sent is decided by the second and goes to the first, so both come from one reading.
pub(crate) struct Chosen {
    /// The model.
    pub(crate) provider: Arc<dyn Provider>,
    /// Whether texts stay on this machine.
    pub(crate) local: bool,
}

impl Engine {
    /// What answers now. An endpoint that cannot be spoken to counts: the run itself says what is
    /// wrong with it.
    pub(crate) fn means(&self, tx: &ReadTx<'_>) -> store::Result<Means> {
        Ok(if self.inner.config.llm.is_some() || chosen(tx)?.is_some() {
            Means::Llm
        } else if super::extractive_on(tx)? {
            Means::Extractive
        } else {
            Means::Nothing
        })
    }

    /// The language model in use; `None` when extractive mode answers.
    ///
    /// # Errors
    /// `llm_not_configured` when there is neither, `endpoint_address_invalid`.
    pub async fn provider(&self) -> Result<Option<Arc<dyn Provider>>> {
        Ok(self.chosen().await?.map(|chosen| chosen.provider))
    }

    /// The same with whether it runs on this machine. One that was given in the configuration may be
    /// anywhere.
    pub(crate) async fn chosen(&self) -> Result<Option<Chosen>> {
        if let Some(given) = &self.inner.config.llm {
            let recorded =
                Recorded::new(Arc::clone(given), self, "scripted", None, "scripted".to_owned());
            return Ok(Some(Chosen { provider: Arc::new(recorded), local: false }));
        }
        let (chosen, extractive) =
            self.store().read(|tx| Ok((chosen(tx)?, super::extractive_on(tx)?))).await?;
        match chosen {
            Some((endpoint, llm)) => {
                let provider = self.provider_of(&endpoint, &llm).await?;
                let address =
                    llm::Address::parse(&endpoint.base_url, protocol_of(endpoint.protocol));
                let local = address.is_ok_and(|address| address.is_local());
                Ok(Some(Chosen { provider, local }))
            }
            None if extractive => Ok(None),
            None => Err(fault("llm_not_configured").into()),
        }
    }

    /// The provider of one endpoint and model.
    pub(crate) async fn provider_of(
        &self,
        endpoint: &Endpoint,
        llm: &str,
    ) -> Result<Arc<dyn Provider>> {
        let made_for = format!("{CHOICE}:{}:{llm}:{}", endpoint.id, endpoint.base_url);
        if let Some(kept) = self.inner.kept.get(&made_for) {
            return Ok(kept);
        }
        let memory = Arc::new(Memory::load(self, endpoint.key, llm).await?);
        let (key, engine) = (endpoint.key, self.clone());
        let protocol = protocol_of(endpoint.protocol);
        let name = llm.to_owned();
        let id = endpoint.id.clone();
        let stated = self.store().read(move |tx| Stated::read(tx, &id)).await?;
        let address = Address::parse(&endpoint.base_url, protocol)?;
        let gate = self.inner.kept.gate(address.shown(), || {
            Gate::new(self.clock().timer()).with_most(most_at_once(protocol))
        });
        let made = llm::connect_fitted(
            self.wire_endpoint(endpoint, llm, &stated, &address, &memory),
            memory,
            gate,
            RetryPolicy::default(),
            move |client| {
                Arc::new(Recorded::new(client, &engine, protocol.word(), Some(key), name))
            },
        )?;
        let made: Arc<dyn Provider> = Arc::new(Told::new(made, self));
        self.inner.kept.put(made_for, &made);
        Ok(made)
    }

    /// What the client needs to know of an endpoint.
    fn wire_endpoint(
        &self,
        endpoint: &Endpoint,
        llm: &str,
        stated: &Stated,
        address: &Address,
        memory: &Memory,
    ) -> llm::Endpoint {
        let mut wire = llm::Endpoint::new(
            protocol_of(endpoint.protocol),
            endpoint.base_url.clone(),
            llm.to_owned(),
        );
        let learnt = memory
            .known(LearntKey::Window)
            .and_then(|value| value.as_u64())
            .and_then(|tokens| u32::try_from(tokens).ok());
        wire.window = stated.window.or(learnt);
        wire.timer = self.clock().timer();
        wire.limits = stated.call_limit().map(|call| {
            let usual = Limits::for_address(address);
            // On this machine silence has no limit of its own.
            let silence = if address.is_local() { call } else { usual.silence };
            Limits { call, silence, ..usual }
        });
        let name = super::secret_name(&endpoint.id);
        wire.key = Arc::new(StoredKey {
            store: self.store().clone(),
            secrets: Arc::clone(&self.inner.config.secrets),
            name,
        });
        wire
    }
}

/// The wire format of a stored endpoint. Endpoints of embedders and rerankers answer no questions;
/// they speak like the first of the three.
pub(crate) fn protocol_of(protocol: store::endpoints::Protocol) -> Protocol {
    use store::endpoints::Protocol as P;
    match protocol {
        P::Anthropic => Protocol::Anthropic,
        P::Ollama => Protocol::Ollama,
        P::OpenAi | P::Embedding | P::Rerank => Protocol::OpenAi,
    }
}

/// Fetches a key when a request is about to be sent, and keeps nothing.
struct StoredKey {
    // Not the engine: it keeps the provider, and the two would keep each other.
    store: store::Store,
    secrets: Arc<dyn crate::secrets::SecretStore>,
    name: String,
}

#[async_trait]
impl KeySource for StoredKey {
    async fn key(&self) -> Result<Option<Key>, String> {
        let name = self.name.clone();
        let known = self
            .store
            .read(move |tx| store::settings::find_secret(tx, &name))
            .await
            .map_err(|error| error.to_string())?;
        let place = known.map_or(KeyStore::Session, |known| super::place_of(known.store));
        let secrets = Arc::clone(&self.secrets);
        let name = self.name.clone();
        // Key stores talk to other processes: not on a runtime thread.
        let found = tokio::task::spawn_blocking(move || secrets.get(&name, place))
            .await
            .map_err(|error| error.to_string())?;
        found.map(|key| key.map(Key::new)).map_err(|error| error.to_string())
    }
}

/// What is known of one model at one endpoint: read once, written through.
pub(crate) struct Memory {
    known: Mutex<BTreeMap<LearntKey, Value>>,
    store: store::Store,
    clock: Arc<dyn crate::clock::Clock>,
    endpoint: EndpointKey,
    llm: String,
}

/// Everything that can be learnt, for reading it back.
const KEYS: [LearntKey; 8] = [
    LearntKey::NamedToolChoice,
    LearntKey::ResponseFormat,
    LearntKey::Strict,
    LearntKey::Thinking,
    LearntKey::Window,
    LearntKey::ToolCalls,
    LearntKey::RequestFields,
    LearntKey::SetUpCheck,
];

impl Memory {
    /// What the file knows.
    pub(crate) async fn load(engine: &Engine, endpoint: EndpointKey, llm: &str) -> Result<Self> {
        let name = llm.to_owned();
        let stored = engine
            .store()
            .read(move |tx| store::endpoints::learnt(tx, endpoint, Some(&name)))
            .await?;
        let known = stored
            .into_iter()
            .filter_map(|row| {
                let key = KEYS.into_iter().find(|key| key.word() == row.key)?;
                Some((key, row.value))
            })
            .collect();
        Ok(Self {
            known: Mutex::new(known),
            store: engine.store().clone(),
            clock: Arc::clone(&engine.inner.config.clock),
            endpoint,
            llm: llm.to_owned(),
        })
    }
}

impl Learnt for Memory {
    fn known(&self, key: LearntKey) -> Option<Value> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
    }

    fn learn(&self, key: LearntKey, value: Value, evidence: &str) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, value.clone());
        let learned_at: Instant = self.clock.now();
        let learnt = store::endpoints::Learnt {
            llm: self.llm.clone(),
            key: key.word().to_owned(),
            value,
            learned_at,
            evidence: evidence.to_owned(),
        };
        let (store, endpoint) = (self.store.clone(), self.endpoint);
        tokio::spawn(async move {
            let written = store
                .write("learn_endpoint", move |tx| store::endpoints::learn(tx, endpoint, &learnt))
                .await;
            if let Err(error) = written {
                tracing::warn!(%error, "what was learnt about an endpoint was not kept");
            }
        });
    }
}
