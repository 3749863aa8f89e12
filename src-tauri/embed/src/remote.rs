//! Embedding over an endpoint: OpenAI-compatible (`/embeddings`) or Ollama (`/api/embed`). Vectors are
//! put in the order of the texts, counted, measured and scaled to unit length, so a server that
//! reorders, drops or changes its model is noticed here and not in the search. Retries are the
//! caller's, who knows what else is waiting.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    Embedder, Error, Kind, Prefixes, Thresholds,
    http::{Http, KeySource, operation},
    normalise,
};

/// Texts in one request; common servers refuse more than a few hundred.
const BATCH: usize = 64;
/// Bytes of text in one request, unless a single text exceeds them.
const BATCH_BYTES: usize = 200_000;

/// The wire format of an embedding endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// `/embeddings` as OpenAI made it and many servers copy it.
    #[serde(rename = "openai")]
    OpenAi,
    /// `/api/embed` of Ollama.
    Ollama,
}

/// What is needed to reach an embedder.
pub struct RemoteConfig {
    /// Wire format.
    pub protocol: Protocol,
    /// Base address, for example `http://127.0.0.1:11434`.
    pub base_url: String,
    /// The model's name as the endpoint knows it.
    pub model: String,
    /// Where its key comes from.
    pub key: Arc<dyn KeySource>,
    /// Numbers in a vector, where already known; else the endpoint is asked once.
    pub dim: Option<usize>,
    /// Prefixes other than the ones known for the model's name.
    pub prefixes: Option<Prefixes>,
    /// Thresholds other than the ones known for the model's name.
    pub thresholds: Option<Thresholds>,
}

/// An embedder behind an endpoint.
pub struct Remote {
    http: Http,
    protocol: Protocol,
    model: String,
    dim: usize,
    prefixes: Prefixes,
    thresholds: Thresholds,
}

impl Remote {
    /// Sets the embedder up. Where the dimension is not given, one short text is embedded to learn it,
    /// which also shows that address, key and model are right.
    ///
    /// # Errors
    /// [`Error::Address`] for a base that is no address, otherwise as [`Embedder::embed`].
    pub async fn connect(config: RemoteConfig, cancel: &CancellationToken) -> Result<Self, Error> {
        let url = match config.protocol {
            Protocol::OpenAi => {
                operation(&config.base_url, "/v1", &["/embeddings"], "/embeddings")?
            }
            Protocol::Ollama => {
                operation(&config.base_url, "", &["/embed", "/api", "/v1"], "/api/embed")?
            }
        };
        let (prefixes, thresholds) = known(&config.model);
        let mut remote = Self {
            http: Http::new(url, config.key)?,
            protocol: config.protocol,
            model: config.model,
            dim: config.dim.unwrap_or(0),
            prefixes: config.prefixes.unwrap_or(prefixes),
            thresholds: config.thresholds.unwrap_or(thresholds),
        };
        if remote.dim == 0 {
            let vectors = remote.request(&["dimension".to_owned()], cancel).await?;
            remote.dim = vectors.first().map_or(0, Vec::len);
        }
        Ok(remote)
    }

    /// One request; vectors in the order of the texts, all of one length.
    async fn request(
        &self,
        texts: &[String],
        cancel: &CancellationToken,
    ) -> Result<Vec<Vec<f32>>, Error> {
        let body = match self.protocol {
            Protocol::OpenAi => {
                json!({ "model": self.model, "input": texts, "encoding_format": "float" })
            }
            Protocol::Ollama => json!({ "model": self.model, "input": texts, "truncate": true }),
        };
        let reply = self.http.post(&body, cancel).await?;
        let mut vectors = match self.protocol {
            Protocol::OpenAi => read_openai(reply, texts.len())?,
            Protocol::Ollama => read_ollama(reply)?,
        };
        if vectors.len() != texts.len() {
            return Err(Error::Count { want: texts.len(), got: vectors.len() });
        }
        for vector in &mut vectors {
            check(vector, self.dim)?;
            normalise(vector);
        }
        Ok(vectors)
    }
}

#[async_trait]
impl Embedder for Remote {
    fn name(&self) -> &str {
        &self.model
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn prefixes(&self) -> &Prefixes {
        &self.prefixes
    }

    fn thresholds(&self) -> Thresholds {
        self.thresholds
    }

    fn is_local(&self) -> bool {
        self.http.is_local()
    }

    async fn embed(
        &self,
        texts: &[String],
        kind: Kind,
        cancel: &CancellationToken,
    ) -> Result<Vec<Vec<f32>>, Error> {
        let prefix = self.prefixes.of(kind);
        let marked: Vec<String> = texts.iter().map(|text| [prefix, text].concat()).collect();
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in batches(&marked) {
            vectors.extend(self.request(batch, cancel).await?);
        }
        Ok(vectors)
    }
}

/// Consecutive texts in portions that a server takes.
fn batches(texts: &[String]) -> Vec<&[String]> {
    let mut batches = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (at, text) in texts.iter().enumerate() {
        if at > start && (at - start == BATCH || bytes + text.len() > BATCH_BYTES) {
            batches.push(&texts[start..at]);
            (start, bytes) = (at, 0);
        }
        bytes += text.len();
    }
    if start < texts.len() {
        batches.push(&texts[start..]);
    }
    batches
}

#[derive(Deserialize)]
struct OpenAiReply {
    data: Vec<OpenAiItem>,
}

#[derive(Deserialize)]
struct OpenAiItem {
    /// Some servers leave it out and keep the order.
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// Sorted by the index that each vector carries; an index that is missing from or foreign to the
/// request is a fault.
fn read_openai(reply: Value, want: usize) -> Result<Vec<Vec<f32>>, Error> {
    let items = parse::<OpenAiReply>(reply)?.data;
    if items.iter().all(|item| item.index.is_none()) {
        return Ok(items.into_iter().map(|item| item.embedding).collect());
    }
    let got = items.len();
    let mut places: Vec<Option<Vec<f32>>> = vec![None; want];
    for item in items {
        let place = item.index.and_then(|index| places.get_mut(index));
        let place = place.filter(|place| place.is_none()).ok_or_else(|| Error::BadReply {
            what: "a vector's index is missing, repeated or out of range".into(),
        })?;
        *place = Some(item.embedding);
    }
    places.into_iter().collect::<Option<_>>().ok_or(Error::Count { want, got })
}

#[derive(Deserialize)]
struct OllamaReply {
    embeddings: Vec<Vec<f32>>,
}

fn read_ollama(reply: Value) -> Result<Vec<Vec<f32>>, Error> {
    Ok(parse::<OllamaReply>(reply)?.embeddings)
}

fn parse<T: serde::de::DeserializeOwned>(reply: Value) -> Result<T, Error> {
    // Some servers report a failure with a status of success.
    if let Some(told) = reply["error"]["message"].as_str().or_else(|| reply["error"].as_str()) {
        let what: String = told.chars().take(300).collect();
        return Err(Error::BadReply { what: format!("it reports \"{what}\"") });
    }
    serde_json::from_value(reply).map_err(|error| Error::BadReply { what: error.to_string() })
}

/// A vector of the wanted length (any, while it is unknown) with only numbers in it.
fn check(vector: &[f32], dim: usize) -> Result<(), Error> {
    if vector.is_empty() || (dim != 0 && vector.len() != dim) {
        return Err(Error::Dimension { want: dim, got: vector.len() });
    }
    if vector.iter().all(|x| x.is_finite()) && vector.iter().any(|x| *x != 0.0) {
        return Ok(());
    }
    Err(Error::BadReply { what: "a vector has no direction or is not made of numbers".into() })
}

/// Prefixes and thresholds of well-known families, from their model cards; everything else has no
/// prefix and the common range.
fn known(model: &str) -> (Prefixes, Thresholds) {
    let name = model.to_lowercase();
    let both = |query: &str, passage: &str| Prefixes {
        query: query.to_owned(),
        passage: passage.to_owned(),
    };
    if name.contains("e5-") && !name.contains("instruct") {
        (both("query: ", "passage: "), Thresholds::E5)
    } else if name.contains("nomic-embed-text") {
        (both("search_query: ", "search_document: "), Thresholds::COMMON)
    } else if name.contains("mxbai-embed") || name.contains("arctic-embed") {
        let query = "Represent this sentence for searching relevant passages: ";
        (both(query, ""), Thresholds::COMMON)
    } else {
        (Prefixes::default(), Thresholds::COMMON)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_as_people_type_them() {
        let openai = |base| {
            operation(base, "/v1", &["/embeddings"], "/embeddings").map(|url| url.to_string()).ok()
        };
        for base in ["http://h:1", "h:1/", " http://h:1/v1 ", "http://h:1/v1/embeddings"] {
            assert_eq!(openai(base).as_deref(), Some("http://h:1/v1/embeddings"), "{base}");
        }
        assert_eq!(
            openai("https://h/a/v2?key=1").as_deref(),
            Some("https://h/a/v2/embeddings?key=1")
        );
        assert_eq!(openai("ftp://h"), None);
        assert_eq!(openai(""), None);
        for base in ["http://h", "http://h/v1", "http://h/api/", "http://h/api/embed"] {
            let url = operation(base, "", &["/embed", "/api", "/v1"], "/api/embed").unwrap();
            assert_eq!(url.as_str(), "http://h/api/embed", "{base}");
        }
    }

    #[test]
    fn known_families_bring_their_prefixes() {
        let (prefixes, thresholds) = known("intfloat/multilingual-e5-large");
        assert_eq!((prefixes.query.as_str(), thresholds), ("query: ", Thresholds::E5));
        assert_eq!(known("nomic-embed-text:v1.5").0.passage, "search_document: ");
        assert_eq!(known("text-embedding-3-small").0, Prefixes::default());
    }

    #[test]
    fn batches_hold_to_both_limits_and_lose_nothing() {
        let mut texts = vec!["x".to_owned(); 150];
        texts.push("y".repeat(BATCH_BYTES + 1));
        texts.push("z".to_owned());
        let batches = batches(&texts);
        let lengths: Vec<_> = batches.iter().map(|batch| batch.len()).collect();
        assert_eq!(lengths, [64, 64, 22, 1, 1]);
        assert_eq!(batches.concat(), texts);
        assert!(super::batches(&[]).is_empty());
    }
}
