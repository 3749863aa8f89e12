//! Carries one request to an endpoint and its reply back: one HTTP client per endpoint, no proxies,
//! no redirects (one to another host would take the key along in a header that the HTTP library
//! does not know to be secret), limits per request, cancelling by dropping the connection. Turns
//! every refusal into an [`Error`] and keeps keys out of all of them.

use crate::address::{Address, Protocol};
use crate::error::{Answer, Class, Error, classify};
use crate::frames::{Frame, Frames, Framing};
use async_trait::async_trait;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode, Url};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Most bytes that are read of one reply. More is a server gone wrong.
const BODY_LIMIT: usize = 64 * 1024 * 1024;
/// Most characters of a body that an error carries.
const EXCERPT: usize = 2_000;

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

/// The client of one endpoint.
#[derive(Clone)]
pub(crate) struct Transport {
    client: reqwest::Client,
    pub(crate) address: Address,
    shown: String,
    llm: String,
    key: Arc<dyn KeySource>,
    headers: Vec<(String, String)>,
    limits: Limits,
}

/// How the key travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyHeader {
    /// `Authorization: Bearer`.
    Bearer,
    /// `x-api-key`.
    ApiKey,
}

/// What to send.
pub(crate) struct Outgoing<'a> {
    pub(crate) url: Url,
    /// Body text; None sends a GET.
    pub(crate) body: Option<String>,
    pub(crate) headers: &'a [(String, String)],
    pub(crate) key_header: KeyHeader,
    pub(crate) limit: Option<Duration>,
}

impl Transport {
    pub(crate) fn new(endpoint: &Endpoint) -> Result<Self, Error> {
        let address = Address::parse(&endpoint.base_url, endpoint.protocol)?;
        let limits = endpoint.limits.unwrap_or_else(|| Limits::for_address(&address));
        let builder = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(limits.connect)
            .user_agent("palimpsest");
        // Without this, building fails on a machine that has no certificate store even if no
        // connection will ever need one.
        let builder = if address.is_plain() { builder.tls_certs_only([]) } else { builder };
        let shown = address.shown();
        let client = builder
            .build()
            .map_err(|e| Error::Setup { endpoint: shown.clone(), cause: chain(&e) })?;
        Ok(Self {
            client,
            address,
            shown,
            llm: endpoint.llm.clone(),
            key: Arc::clone(&endpoint.key),
            headers: endpoint.headers.clone(),
            limits,
        })
    }

    /// Address for error texts.
    pub(crate) fn shown(&self) -> String {
        self.shown.clone()
    }

    /// Sends and waits for the head of the reply. A status that is no success becomes an error.
    pub(crate) async fn send(
        &self,
        outgoing: Outgoing<'_>,
        cancel: &CancellationToken,
    ) -> Result<Incoming, Error> {
        let limit = outgoing.limit.unwrap_or(self.limits.call);
        let deadline = Instant::now() + limit;
        let key = self
            .key
            .key()
            .await
            .map_err(|cause| Error::KeyUnavailable { endpoint: self.shown(), cause })?;
        let key = key.filter(|k| !k.reveal().is_empty());
        let redactor = Redactor::new(key.as_ref(), &self.address, &self.headers, outgoing.headers);
        let request = self.request(outgoing, key.as_ref())?;
        let sent = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(Error::Cancelled),
            sent = tokio::time::timeout_at(deadline, request.send()) => sent,
        };
        let response = match sent {
            Err(_) => return Err(self.timed_out(limit)),
            Ok(Err(e)) => return Err(self.broken(&e, &redactor)),
            Ok(Ok(response)) => response,
        };
        let status = response.status();
        let headers = response.headers().clone();
        let incoming = Incoming {
            transport: self.clone(),
            response,
            redactor,
            deadline,
            limit,
            silence: self.limits.silence,
            raw: Vec::new(),
        };
        if status.is_success() {
            return Ok(incoming);
        }
        let body = incoming.all(cancel).await;
        let body = match body {
            Ok(body) => body,
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            // The status says more than the way in which its body broke off.
            Err(_) => String::new(),
        };
        Err(self.refusal(status, &headers, &body))
    }

    fn request(
        &self,
        outgoing: Outgoing<'_>,
        key: Option<&Key>,
    ) -> Result<reqwest::RequestBuilder, Error> {
        let method = if outgoing.body.is_some() { Method::POST } else { Method::GET };
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            let (name, text) = match outgoing.key_header {
                KeyHeader::Bearer => ("authorization", format!("Bearer {}", key.reveal())),
                KeyHeader::ApiKey => ("x-api-key", key.reveal().to_owned()),
            };
            // Bytes, since a key may hold letters beyond ASCII.
            let mut value = HeaderValue::from_bytes(text.as_bytes()).map_err(|_| {
                let cause = "it holds characters that cannot be sent".to_owned();
                Error::KeyUnavailable { endpoint: self.shown(), cause }
            })?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        for (name, value) in self.headers.iter().chain(outgoing.headers) {
            let parsed = (
                HeaderName::from_bytes(name.trim().as_bytes()),
                HeaderValue::from_bytes(value.trim().as_bytes()),
            );
            let (Ok(name), Ok(mut value)) = parsed else {
                let cause = format!("the header \"{name}\" cannot be sent");
                return Err(Error::Setup { endpoint: self.shown(), cause });
            };
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let request = self.client.request(method, outgoing.url).headers(headers);
        Ok(match outgoing.body {
            Some(body) => request.header("content-type", "application/json").body(body),
            None => request,
        })
    }

    fn timed_out(&self, limit: Duration) -> Error {
        Error::Timeout { endpoint: self.shown(), limit }
    }

    fn broken(&self, e: &reqwest::Error, redactor: &Redactor) -> Error {
        if e.is_timeout() {
            return self.timed_out(self.limits.connect);
        }
        let cause = redactor.clean(&chain(e));
        Error::Unreachable { endpoint: self.shown(), cause, refused: e.is_connect() }
    }

    /// The error that an endpoint's refusal stands for.
    fn refusal(&self, status: StatusCode, headers: &HeaderMap, body: &str) -> Error {
        let retry_after = retry_after(headers);
        let answer = answer_of(status.as_u16(), body);
        self.error_for(Box::new(answer), retry_after)
    }

    /// The error of an error object that came inside a success.
    pub(crate) fn provider_error(&self, frame: &Value) -> Error {
        let answer = answer_of(200, &frame.to_string());
        self.error_for(Box::new(answer), None)
    }

    fn error_for(&self, answer: Box<Answer>, retry_after: Option<Duration>) -> Error {
        let endpoint = self.shown();
        let llm = self.llm.clone();
        let message = answer.message.to_lowercase();
        let status = answer.status;
        let class = classify(Some(status), answer.code.as_deref(), &answer.message);
        let names_model = message.contains("model");
        let not_found = ["not found", "does not exist", "not exist", "unknown", "no such"];
        match class {
            Some(Class::Auth) => Error::Auth { endpoint, answer },
            Some(Class::RateLimited) => Error::RateLimited { endpoint, retry_after, answer },
            Some(Class::Overflow) => Error::Overflow { endpoint, answer },
            None if status == 413 => Error::Overflow { endpoint, answer },
            Some(Class::UnknownModel) => Error::UnknownModel { endpoint, llm, answer },
            Some(Class::Timeout) if status == 200 || status >= 500 || status == 408 => {
                Error::Failed { endpoint, retry_after, answer }
            }
            _ if message.contains("does not support tools") => {
                Error::ToolsUnsupported { endpoint, llm, answer }
            }
            _ if names_model
                && matches!(status, 200 | 400 | 404)
                && not_found.iter().any(|w| message.contains(w)) =>
            {
                Error::UnknownModel { endpoint, llm, answer }
            }
            _ if status == 200 || status == 408 || (status >= 500 && status != 501) => {
                Error::Failed { endpoint, retry_after, answer }
            }
            _ => Error::Refused { endpoint, answer },
        }
    }

    /// The error of a model that declined to answer.
    pub(crate) fn declined(&self, words: String) -> Error {
        let answer = Answer {
            status: 200,
            code: Some("refusal".to_owned()),
            body: excerpt(&words),
            message: words,
        };
        Error::Refused { endpoint: self.shown(), answer: Box::new(answer) }
    }

    /// The error of a body that cannot be read as a reply.
    pub(crate) fn malformed(&self, cause: impl Into<String>, body: &str) -> Error {
        Error::Malformed { endpoint: self.shown(), cause: cause.into(), body: excerpt(body) }
    }

    /// A body that must be JSON.
    pub(crate) async fn json(
        &self,
        outgoing: Outgoing<'_>,
        cancel: &CancellationToken,
    ) -> Result<Value, Error> {
        let body = self.send(outgoing, cancel).await?.all(cancel).await?;
        serde_json::from_str(&body).map_err(|e| self.malformed(e.to_string(), &body))
    }
}

/// A reply whose head has arrived.
pub(crate) struct Incoming {
    transport: Transport,
    response: reqwest::Response,
    redactor: Redactor,
    deadline: Instant,
    limit: Duration,
    silence: Duration,
    raw: Vec<u8>,
}

/// How the body ended.
pub(crate) enum End {
    /// As it should.
    Whole,
    /// The connection broke.
    Broken(String),
}

impl Incoming {
    /// The next bytes; None at the end.
    async fn next(&mut self, cancel: &CancellationToken) -> Result<Result<Vec<u8>, End>, Error> {
        let silent = Instant::now() + self.silence;
        let (until, limit) = if silent < self.deadline {
            (silent, self.silence)
        } else {
            (self.deadline, self.limit)
        };
        let chunk = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(Error::Cancelled),
            chunk = tokio::time::timeout_at(until, self.response.chunk()) => chunk,
        };
        match chunk {
            Err(_) => Err(self.transport.timed_out(limit)),
            Ok(Err(e)) => Ok(Err(End::Broken(self.redactor.clean(&chain(&e))))),
            Ok(Ok(None)) => Ok(Err(End::Whole)),
            Ok(Ok(Some(bytes))) => {
                if self.raw.len() + bytes.len() > BODY_LIMIT {
                    return Err(self.transport.malformed("it is larger than 64 MiB", ""));
                }
                self.raw.extend_from_slice(&bytes);
                Ok(Ok(bytes.to_vec()))
            }
        }
    }

    /// The whole body and how it ended.
    pub(crate) async fn body(mut self, cancel: &CancellationToken) -> Result<(String, End), Error> {
        loop {
            if let Err(end) = self.next(cancel).await? {
                return Ok((self.text(), end));
            }
        }
    }

    /// The whole body, which must have ended as it should.
    async fn all(self, cancel: &CancellationToken) -> Result<String, Error> {
        let transport = self.transport.clone();
        match self.body(cancel).await? {
            (text, End::Whole) => Ok(text),
            (_, End::Broken(cause)) => {
                Err(Error::Unreachable { endpoint: transport.shown(), cause, refused: false })
            }
        }
    }

    /// What was received so far, without keys.
    pub(crate) fn text(&self) -> String {
        self.redactor.clean(&String::from_utf8_lossy(&self.raw))
    }

    /// Reads frame by frame until `take` says that the reply is complete or the body ends.
    pub(crate) async fn frames(
        &mut self,
        framing: Framing,
        cancel: &CancellationToken,
        mut take: impl FnMut(Frame) -> Result<bool, Error> + Send,
    ) -> Result<End, Error> {
        let mut frames = Frames::new(framing);
        loop {
            let (batch, end) = match self.next(cancel).await? {
                Ok(bytes) => (frames.push(&bytes), None),
                Err(end) => (frames.finish(), Some(end)),
            };
            for frame in batch {
                if take(frame)? {
                    return Ok(End::Whole);
                }
            }
            if let Some(end) = end {
                return Ok(end);
            }
        }
    }
}

/// Takes keys out of texts. Endpoints quote the key they refuse.
#[derive(Debug, Clone, Default)]
struct Redactor {
    secrets: Vec<Key>,
}

impl Redactor {
    fn new(
        key: Option<&Key>,
        address: &Address,
        own: &[(String, String)],
        more: &[(String, String)],
    ) -> Self {
        // Short header values such as versions are no secrets, and taking them out would spoil
        // ordinary text.
        let headers = own.iter().chain(more).map(|(_, v)| v.trim().to_owned());
        let secrets = headers.chain(address.secrets()).filter(|s| s.len() >= 12).map(Key::new);
        let key = key.filter(|k| k.reveal().chars().count() >= 4).cloned();
        Self { secrets: secrets.chain(key).collect() }
    }

    fn clean(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            let escaped = Value::from(secret.reveal()).to_string();
            let escaped = escaped.trim_matches('"');
            for form in [secret.reveal(), escaped] {
                if text.contains(form) {
                    text = text.replace(form, "[key]");
                }
            }
        }
        text
    }
}

/// An error with its causes, on one line. The library writes the whole address into its own text,
/// query and all, so that level is left out.
fn chain(e: &reqwest::Error) -> String {
    let mut parts = Vec::new();
    let mut source = std::error::Error::source(e);
    while let Some(inner) = source {
        let text = inner.to_string();
        if parts.last() != Some(&text) {
            parts.push(text);
        }
        source = inner.source();
    }
    if parts.is_empty() {
        if e.is_builder() { "the client cannot be built" } else { "the connection failed" }
            .to_owned()
    } else {
        parts.join(": ")
    }
}

/// The first characters of a body.
pub(crate) fn excerpt(body: &str) -> String {
    body.chars().take(EXCERPT).collect()
}

/// Reads the error object that endpoints send in half a dozen shapes.
fn answer_of(status: u16, body: &str) -> Answer {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    // Gemini wraps its error object in a list.
    let value = value.get(0).unwrap_or(&value);
    let error = value.get("error").filter(|e| !e.is_null()).unwrap_or(value);
    let text = |key: &str| error.get(key).and_then(Value::as_str).filter(|t| !t.is_empty());
    let code = text("code").or_else(|| text("status")).or_else(|| text("type"));
    let message = error
        .as_str()
        .or_else(|| text("message"))
        .or_else(|| text("detail"))
        .or_else(|| value.get("message").and_then(Value::as_str))
        .map_or_else(|| body.trim().chars().take(300).collect(), str::to_owned);
    Answer { status, code: code.map(str::to_owned), message, body: excerpt(body) }
}

/// The wait that the headers ask for, as seconds or as a date. A date is read against the
/// endpoint's own clock (its `Date` header), so that a wrong clock here does no harm and none is
/// asked.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok()).map(str::trim);
    if let Some(ms) = text("retry-after-ms").and_then(|t| t.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(ms / 1_000.0).ok();
    }
    let wait = text("retry-after")?;
    if let Ok(seconds) = wait.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = chrono::DateTime::parse_from_rfc2822(wait).ok()?;
    let now = chrono::DateTime::parse_from_rfc2822(text("date")?).ok()?;
    (until - now).to_std().ok().or(Some(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_never_show() {
        let key = Key::new(" sk-\"naïve\"-0123 ");
        assert_eq!(format!("{key:?}"), "Key(…)");
        let mut endpoint = Endpoint::new(Protocol::OpenAi, "http://h/v1?k=hidden-in-query", "m");
        endpoint.key = Arc::new(key.clone());
        assert!(!format!("{endpoint:?}").contains("hidden"));
        let address = Address::parse(&endpoint.base_url, Protocol::OpenAi).unwrap();
        let redactor = Redactor::new(Some(&key), &address, &[], &[]);
        let text = r#"bad key sk-"naïve"-0123, {"k": "sk-\"naïve\"-0123"}, ?k=hidden-in-query"#;
        assert_eq!(redactor.clean(text), r#"bad key [key], {"k": "[key]"}, ?k=[key]"#);
        assert!(!format!("{redactor:?}").contains("naïve"));
    }

    #[test]
    fn waits_are_read_as_seconds_and_as_dates() {
        let wait = |pairs: &[(&'static str, &'static str)]| {
            let headers = pairs.iter().map(|(name, value)| {
                (HeaderName::from_static(name), HeaderValue::from_static(value))
            });
            retry_after(&headers.collect())
        };
        let s = Duration::from_secs;
        assert_eq!(wait(&[("retry-after", "20")]), Some(s(20)));
        assert_eq!(wait(&[("retry-after-ms", "1500")]), Some(Duration::from_millis(1500)));
        let date = ("date", "Sun, 06 Nov 2033 08:49:37 GMT");
        assert_eq!(wait(&[date, ("retry-after", "Sun, 06 Nov 2033 08:50:07 GMT")]), Some(s(30)));
        assert_eq!(wait(&[date, ("retry-after", "Sun, 06 Nov 2033 08:49:00 GMT")]), Some(s(0)));
        assert_eq!(wait(&[("retry-after", "Sun, 06 Nov 2033 08:50:07 GMT")]), None);
        assert_eq!(wait(&[("retry-after", "-5")]), None);
        assert_eq!(wait(&[]), None);
    }

    #[test]
    fn error_objects_are_read_in_every_shape() {
        for (body, code, message) in [
            (r#"{"error":{"code":"c","message":"m"}}"#, Some("c"), "m"),
            (r#"{"error":{"type":"t","message":"m","code":null}}"#, Some("t"), "m"),
            (r#"{"type":"error","error":{"type":"t","message":"m"}}"#, Some("t"), "m"),
            (
                r#"[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m"}}]"#,
                Some("RESOURCE_EXHAUSTED"),
                "m",
            ),
            (r#"{"error":"m"}"#, None, "m"),
            (r#"{"detail":"m"}"#, None, "m"),
            (r#"{"object":"error","message":"m","type":"t"}"#, Some("t"), "m"),
            ("m", None, "m"),
        ] {
            let answer = answer_of(400, body);
            assert_eq!(
                (answer.code.as_deref(), answer.message.as_str()),
                (code, message),
                "{body}"
            );
        }
    }
}
