//! Reranking over an endpoint with the `/rerank` operation that Cohere made and Jina, vLLM, llama.cpp
//! and others copy. Which scale a model's scores have is set with the model, never guessed from an
//! answer.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{
    Error, Reranker,
    http::{Http, KeySource, operation},
};

/// What a reranker's scores are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Shares in 0..=1.
    #[default]
    Calibrated,
    /// Any number, 0 for even chances.
    Logits,
}

impl Scale {
    /// A score in 0..=1; what is not a number is 0.
    #[must_use]
    pub fn score(self, raw: f32) -> f32 {
        match self {
            _ if raw.is_nan() => 0.0,
            Self::Calibrated => raw.clamp(0.0, 1.0),
            Self::Logits => 1.0 / (1.0 + (-raw).exp()),
        }
    }
}

/// What is needed to reach a reranker.
pub struct RerankConfig {
    /// Base address, for example `http://127.0.0.1:8012/v1`.
    pub base_url: String,
    /// The model's name as the endpoint knows it.
    pub model: String,
    /// Where its key comes from.
    pub key: Arc<dyn KeySource>,
    /// The scale of its scores.
    pub scale: Scale,
}

/// A reranker behind an endpoint.
pub struct RemoteReranker {
    http: Http,
    model: String,
    scale: Scale,
}

impl RemoteReranker {
    /// Sets the reranker up; nothing is sent.
    ///
    /// # Errors
    /// [`Error::Address`] for a base that is no address.
    pub fn new(config: RerankConfig) -> Result<Self, Error> {
        let url = operation(&config.base_url, "/v1", &["/rerank"], "/rerank")?;
        let http = Http::new(url, config.key)?;
        Ok(Self { http, model: config.model, scale: config.scale })
    }
}

#[derive(Deserialize)]
struct Reply {
    #[serde(alias = "data")]
    results: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: usize,
    /// `null` stands for a number that JSON cannot write.
    #[serde(alias = "score")]
    relevance_score: Option<f32>,
}

#[async_trait]
impl Reranker for RemoteReranker {
    fn name(&self) -> &str {
        &self.model
    }

    fn is_local(&self) -> bool {
        self.http.is_local()
    }

    async fn rerank(
        &self,
        query: &str,
        passages: &[String],
        cancel: &CancellationToken,
    ) -> Result<Vec<f32>, Error> {
        if passages.is_empty() {
            return Ok(Vec::new());
        }
        let body = json!({
            "model": self.model,
            "query": query,
            "documents": passages,
            "top_n": passages.len(),
            "return_documents": false,
        });
        let reply = self.http.post(&body, cancel).await?;
        let reply: Reply = serde_json::from_value(reply)
            .map_err(|error| Error::BadReply { what: error.to_string() })?;
        let got = reply.results.len();
        let mut scores = vec![None; passages.len()];
        for item in reply.results {
            let place = scores.get_mut(item.index).ok_or_else(|| Error::BadReply {
                what: format!("it scores passage {} of {}", item.index, passages.len()),
            })?;
            *place = Some(self.scale.score(item.relevance_score.unwrap_or(f32::NAN)));
        }
        scores.into_iter().collect::<Option<_>>().ok_or(Error::Count { want: passages.len(), got })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_end_up_between_nothing_and_one() {
        assert_eq!(Scale::Logits.score(0.0), 0.5);
        assert!(Scale::Logits.score(-20.0) < 1e-6);
        assert_eq!(Scale::Calibrated.score(0.25), 0.25);
        assert_eq!(Scale::Calibrated.score(1.0001), 1.0);
        assert_eq!(Scale::Logits.score(f32::NAN), 0.0);
        assert_eq!(Scale::Logits.score(f32::NEG_INFINITY), 0.0);
    }
}
