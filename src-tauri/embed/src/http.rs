//! One request to an endpoint and its reply, as JSON both ways. No proxies and no redirects (one to
//! another host would take the key along), limits on time and size, cancelled by dropping the
//! connection. Keys are asked for at each call, held no longer, and kept out of every error.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use reqwest::{Response, StatusCode, Url, redirect::Policy};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::Error;

/// Most bytes read of one reply: 64 texts of 4,096 numbers as text are about 6 MB.
const BODY_LIMIT: usize = 64 * 1024 * 1024;
/// Characters kept of an endpoint's own words.
const MESSAGE_LIMIT: usize = 300;
/// A whole call to another machine.
const FAR_LIMIT: Duration = Duration::from_secs(120);
/// A whole call to this machine, where a model may have to be loaded first.
const NEAR_LIMIT: Duration = Duration::from_secs(600);

/// Where a key comes from, asked at each call so that it need not be held.
#[async_trait]
pub trait KeySource: Send + Sync {
    /// The key, or `None` for an endpoint without one.
    ///
    /// # Errors
    /// What the key store says, in words that do not hold the key.
    async fn key(&self) -> Result<Option<String>, String>;
}

/// No key: no header is sent.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoKey;

#[async_trait]
impl KeySource for NoKey {
    async fn key(&self) -> Result<Option<String>, String> {
        Ok(None)
    }
}

/// The client of one address.
pub(crate) struct Http {
    client: reqwest::Client,
    url: Url,
    key: Arc<dyn KeySource>,
    limit: Duration,
}

impl Http {
    /// A client for the operation at `url`.
    pub(crate) fn new(url: Url, key: Arc<dyn KeySource>) -> Result<Self, Error> {
        let builder = reqwest::Client::builder()
            .no_proxy()
            .redirect(Policy::none())
            .connect_timeout(Duration::from_secs(10))
            .user_agent("palimpsest");
        // Without this, building fails on a machine that has no certificate store even if no
        // connection will ever need one.
        let builder = if url.scheme() == "http" { builder.tls_certs_only([]) } else { builder };
        let client = builder.build().map_err(|source| Error::Unreachable { source })?;
        let limit = if is_local(&url) { NEAR_LIMIT } else { FAR_LIMIT };
        Ok(Self { client, url, key, limit })
    }

    /// Whether the endpoint is on this machine.
    pub(crate) fn is_local(&self) -> bool {
        is_local(&self.url)
    }

    /// Sends a body and reads the reply.
    pub(crate) async fn post(
        &self,
        body: &Value,
        cancel: &CancellationToken,
    ) -> Result<Value, Error> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Error::Cancelled),
            reply = tokio::time::timeout(self.limit, self.exchange(body)) => {
                reply.unwrap_or(Err(Error::TimedOut { seconds: self.limit.as_secs() }))
            }
        }
    }

    async fn exchange(&self, body: &Value) -> Result<Value, Error> {
        let key = self.key.key().await.map_err(|what| Error::Key { what })?;
        let key = key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        let mut request = self.client.post(self.url.clone()).json(body);
        if let Some(key) = &key {
            request = request.bearer_auth(key);
        }
        let response = request.send().await.map_err(unreachable)?;
        let (status, wait) = (response.status(), retry_after(&response));
        let text = read(response).await?;
        if !status.is_success() {
            return Err(refusal(status, wait, &text, key.as_deref()));
        }
        serde_json::from_slice(&text)
            .map_err(|error| Error::BadReply { what: format!("it is no JSON ({error})") })
    }
}

/// Loopback addresses and the name `localhost`; other names are not resolved and count as elsewhere.
fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// The transport's reason without the address, whose query may hold a key.
fn unreachable(source: reqwest::Error) -> Error {
    Error::Unreachable { source: source.without_url() }
}

async fn read(mut response: Response) -> Result<Vec<u8>, Error> {
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await.map_err(unreachable)? {
        if body.len() + part.len() > BODY_LIMIT {
            return Err(Error::BadReply { what: "it is larger than 64 MB".into() });
        }
        body.extend_from_slice(&part);
    }
    Ok(body)
}

fn retry_after(response: &Response) -> Option<u64> {
    response.headers().get("retry-after")?.to_str().ok()?.trim().parse().ok()
}

fn refusal(status: StatusCode, wait: Option<u64>, text: &[u8], key: Option<&str>) -> Error {
    match status.as_u16() {
        status @ (401 | 403) => Error::Auth { status },
        429 => Error::RateLimited { retry_after: wait },
        status => Error::Refused { status, message: message(text, key) },
    }
}

/// The endpoint's words: the message where JSON holds one, else the text; shortened, without the key.
fn message(text: &[u8], key: Option<&str>) -> String {
    let json: Option<Value> = serde_json::from_slice(text).ok();
    let told = json.as_ref().and_then(|json| {
        let error = &json["error"];
        error["message"].as_str().or_else(|| error.as_str()).or_else(|| json["message"].as_str())
    });
    let mut told = told.map_or_else(|| String::from_utf8_lossy(text).into_owned(), str::to_owned);
    if let Some(key) = key {
        told = told.replace(key, "…");
    }
    let told: String = told.chars().take(MESSAGE_LIMIT).collect();
    told.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The address of an operation below a base as a person typed it: blanks trimmed, a missing scheme
/// added, `root` put where there is no path, a full operation's address cut back first.
pub(crate) fn operation(
    base: &str,
    root: &str,
    endings: &[&str],
    name: &str,
) -> Result<Url, Error> {
    let fault = |what: String| Error::Address { what };
    let base = base.trim();
    let scheme = if base.contains("://") { "" } else { "http://" };
    let mut url = Url::parse(&format!("{scheme}{base}")).map_err(|e| fault(e.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(fault("it must start with http:// or https://".into()));
    }
    url.set_fragment(None);
    let mut path = url.path().trim_end_matches('/').to_owned();
    for ending in endings {
        if let Some(rest) = path.strip_suffix(ending) {
            path = rest.to_owned();
        }
    }
    if path.is_empty() {
        path = root.to_owned();
    }
    url.set_path(&format!("{path}{name}"));
    Ok(url)
}
