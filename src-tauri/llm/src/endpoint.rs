//! What is needed to reach one language model: address, name, key, headers, limits. Holds keys, and
//! never shows one.

use crate::address::{Address, Protocol};
use crate::timer::{Timer, TokioTimer};
use async_trait::async_trait;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// A key, unreadable in every text.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Wraps a key. Blanks around it are dropped.
    pub fn new(key: impl AsRef<str>) -> Self {
        Self(key.as_ref().trim().to_owned())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Where a key comes from, asked at each call so that it need not be held.
#[async_trait]
pub trait KeySource: Send + Sync {
    /// The key, or None for an endpoint without one.
    ///
    /// # Errors
    /// What the key store says, in words that do not hold the key.
    async fn key(&self) -> Result<Option<Key>, String>;
}

/// No key at all: no header is sent.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoKey;

#[async_trait]
impl KeySource for NoKey {
    async fn key(&self) -> Result<Option<Key>, String> {
        Ok(None)
    }
}

#[async_trait]
impl KeySource for Key {
    async fn key(&self) -> Result<Option<Key>, String> {
        Ok(Some(self.clone()))
    }
}

/// Time limits of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For a connection to be made.
    pub connect: Duration,
    /// For one call, from sending to the last byte, where the request does not set its own.
    pub call: Duration,
    /// For silence between two pieces once the reply has begun.
    pub silence: Duration,
}

impl Limits {
    /// 120 s a call; on this machine 600 s, and no limit of its own for silence there, since local
    /// servers hold tool calls back until they are whole.
    pub fn for_address(address: &Address) -> Self {
        let call = Duration::from_secs(if address.is_local() { 600 } else { 120 });
        let silence = if address.is_local() { call } else { Duration::from_secs(90) };
        Self { connect: Duration::from_secs(10), call, silence }
    }
}

/// Everything that is needed to reach one language model.
#[derive(Clone)]
pub struct Endpoint {
    /// Its wire format.
    pub protocol: Protocol,
    /// Base address as a person typed it.
    pub base_url: String,
    /// Name of the model, sent untouched.
    pub llm: String,
    /// Where its key is.
    pub key: Arc<dyn KeySource>,
    /// Headers that every request carries.
    pub headers: Vec<(String, String)>,
    /// Fields that every body carries; a null removes one of ours. A request's own fields come
    /// after them.
    pub extra_body: Map<String, Value>,
    /// Context window in tokens, if known; Ollama is told it with every request.
    pub window: Option<u32>,
    /// Time limits; None for those of [`Limits::for_address`].
    pub limits: Option<Limits>,
    /// What the limits are measured with.
    pub timer: Arc<dyn Timer>,
}

impl Endpoint {
    /// An endpoint without key and extras.
    pub fn new(protocol: Protocol, base_url: impl Into<String>, llm: impl Into<String>) -> Self {
        Self {
            protocol,
            base_url: base_url.into(),
            llm: llm.into(),
            key: Arc::new(NoKey),
            headers: Vec::new(),
            extra_body: Map::new(),
            window: None,
            limits: None,
            timer: Arc::new(TokioTimer::default()),
        }
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint")
            .field("protocol", &self.protocol)
            .field("llm", &self.llm)
            .finish_non_exhaustive()
    }
}
