//! Turning text into vectors and ordering results, behind two traits. Never sees the database,
//! never decides a product rule: what a cosine means for a rule stands in [`Thresholds`], beside
//! the embedder that produced it.
//!
//! [`Bundled`] is the embedder that ships with the program, [`Remote`] one behind an endpoint. [`Hash`] needs no files and serves tests and the "lite" choice; [`Cached`] keeps the vectors of
//! recent queries in front of any other embedder.

mod cache;
mod e5;
mod error;
mod hash;
mod http;
mod remote;
mod rerank;
mod thresholds;

use std::sync::Arc;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

pub use cache::Cached;
pub use e5::{Bundled, Pin};
pub use error::Error;
pub use hash::Hash;
pub use http::{KeySource, NoKey};
pub use remote::{Protocol, Remote, RemoteConfig};
pub use rerank::{RemoteReranker, RerankConfig, Scale};
pub use thresholds::Thresholds;

/// What a text is to the search. Models trained on pairs want each side marked by its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Something asked for.
    Query,
    /// Something stored, to be found.
    Passage,
}

/// What an embedder puts before a text of each [`Kind`]. Part of the stored vectors' identity:
/// vectors made with other prefixes do not compare.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prefixes {
    /// Before a query, its blank included; empty when the model wants none.
    pub query: String,
    /// Before a passage, its blank included; empty when the model wants none.
    pub passage: String,
}

impl Prefixes {
    /// The prefix of one kind.
    #[must_use]
    pub fn of(&self, kind: Kind) -> &str {
        match kind {
            Kind::Query => &self.query,
            Kind::Passage => &self.passage,
        }
    }
}

/// Text to vectors.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Stable name, for example `multilingual-e5-small-q4`. Two embedders whose vectors do not
    /// compare have different names.
    fn name(&self) -> &str;

    /// How many numbers a vector has.
    fn dim(&self) -> usize;

    /// What [`Embedder::embed`] puts before each text; callers pass the bare text.
    fn prefixes(&self) -> &Prefixes;

    /// The first values of the similarity rules for this embedder's cosines.
    fn thresholds(&self) -> Thresholds;

    /// Whether texts stay on this machine. Memories marked as private are kept from the others.
    fn is_local(&self) -> bool;

    /// One vector of unit length per text, in the order of the texts. An empty list gives an empty
    /// list without asking anything.
    ///
    /// # Errors
    /// [`Error::Cancelled`] once `cancel` is set, between texts or during a network wait; otherwise
    /// what kept the vectors from being made. Never a partial list.
    async fn embed(
        &self,
        texts: &[String],
        kind: Kind,
        cancel: &CancellationToken,
    ) -> Result<Vec<Vec<f32>>, Error>;

    /// The vector of one text.
    ///
    /// # Errors
    /// As [`Embedder::embed`].
    async fn embed_one(
        &self,
        text: &str,
        kind: Kind,
        cancel: &CancellationToken,
    ) -> Result<Vec<f32>, Error> {
        let mut vectors = self.embed(&[text.to_owned()], kind, cancel).await?;
        vectors.pop().ok_or(Error::Count { want: 1, got: 0 })
    }
}

#[async_trait]
impl<E: Embedder + ?Sized> Embedder for Arc<E> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn dim(&self) -> usize {
        (**self).dim()
    }

    fn prefixes(&self) -> &Prefixes {
        (**self).prefixes()
    }

    fn thresholds(&self) -> Thresholds {
        (**self).thresholds()
    }

    fn is_local(&self) -> bool {
        (**self).is_local()
    }

    async fn embed(
        &self,
        texts: &[String],
        kind: Kind,
        cancel: &CancellationToken,
    ) -> Result<Vec<Vec<f32>>, Error> {
        (**self).embed(texts, kind, cancel).await
    }
}

/// Putting found passages in the order of their worth to a query.
#[async_trait]
pub trait Reranker: Send + Sync {
    /// Stable name of the model behind it.
    fn name(&self) -> &str;

    /// Whether texts stay on this machine.
    fn is_local(&self) -> bool;

    /// One score in 0..=1 per passage, in the order of the passages; higher is better. Whether a
    /// model speaks in probabilities or in logits is known per model, not guessed per answer, and
    /// is settled before the scores arrive here; what is not a number is 0.
    ///
    /// # Errors
    /// As [`Embedder::embed`].
    async fn rerank(
        &self,
        query: &str,
        passages: &[String],
        cancel: &CancellationToken,
    ) -> Result<Vec<f32>, Error>;
}

/// Cosine of two vectors of unit length, which is their dot product. Vectors of different lengths
/// do not compare and give 0.
#[must_use]
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    if a.len() != b.len() {
        return 0.0;
    }
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Scales to unit length in place. A vector of zeros stays one.
pub(crate) fn normalise(vector: &mut [f32]) {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if norm > 0.0 {
        for x in vector {
            *x /= norm;
        }
    }
}
