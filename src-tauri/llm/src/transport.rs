//! Carries one request to an endpoint and its reply back: one HTTP client per endpoint, no proxies,
//! no redirects (one to another host would take the key along in a header that the HTTP library
//! does not know to be secret), limits per request, cancelling by dropping the connection. Turns
//! every refusal into an [`Error`] and keeps keys out of all of them.

use crate::address::Address;
use crate::answer::{Redactor, answer_of, chain, excerpt, retry_after};
use crate::endpoint::{Endpoint, Key, KeySource, Limits};
use crate::error::{Answer, Class, Error, classify};
use crate::frames::{Frame, Frames, Framing};
use crate::timer::{Timer, until};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode, Url};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Most bytes that are read of one reply. More is a server gone wrong.
const BODY_LIMIT: usize = 64 * 1024 * 1024;

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
    timer: Arc<dyn Timer>,
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
            timer: Arc::clone(&endpoint.timer),
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
        let deadline = self.timer.now() + limit;
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
            sent = until(self.timer.as_ref(), deadline, request.send()) => sent,
        };
        let response = match sent {
            None => return Err(self.timed_out(limit)),
            Some(Err(e)) => return Err(self.broken(&e, &redactor)),
            Some(Ok(response)) => response,
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
    /// By the timer of the transport.
    deadline: Duration,
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
        let timer = Arc::clone(&self.transport.timer);
        let silent = timer.now() + self.silence;
        let (moment, limit) = if silent < self.deadline {
            (silent, self.silence)
        } else {
            (self.deadline, self.limit)
        };
        let chunk = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(Error::Cancelled),
            chunk = until(timer.as_ref(), moment, self.response.chunk()) => chunk,
        };
        match chunk {
            None => Err(self.transport.timed_out(limit)),
            Some(Err(e)) => Ok(Err(End::Broken(self.redactor.clean(&chain(&e))))),
            Some(Ok(None)) => Ok(Err(End::Whole)),
            Some(Ok(Some(bytes))) => {
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
