//! What can keep an embedder or a reranker from answering. Texts and keys never appear in it.

use std::path::PathBuf;

/// A failed embedding or reranking call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller's token was set.
    #[error("the embedding was cancelled")]
    Cancelled,
    /// The weights of the bundled embedder are not where they should be.
    #[error("the weights of the bundled embedder are missing at {}", path.display())]
    WeightsMissing {
        /// Where they were looked for.
        path: PathBuf,
    },
    /// The file of weights is there but is not what this program was built for.
    #[error("the weights of the bundled embedder at {} cannot be used: {what}", path.display())]
    WeightsUnusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, in one clause.
        what: String,
    },
    /// The file of weights could not be opened or mapped.
    #[error("the weights of the bundled embedder at {} could not be read", path.display())]
    WeightsUnreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// The system gave no thread to run the bundled embedder on.
    #[error("no thread could be started for the bundled embedder")]
    NoThread {
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// The bundled embedder broke off in the middle of a batch.
    #[error("the bundled embedder broke off")]
    Stopped,
    /// The address given for an endpoint is none.
    #[error("the endpoint's address cannot be used: {what}")]
    Address {
        /// What is wrong with it.
        what: String,
    },
    /// The key store did not give the endpoint's key.
    #[error("the endpoint's key could not be read: {what}")]
    Key {
        /// The store's reason, without the key.
        what: String,
    },
    /// The endpoint did not answer.
    #[error("the endpoint could not be reached")]
    Unreachable {
        /// The transport's reason.
        #[source]
        source: reqwest::Error,
    },
    /// The endpoint did not answer in time.
    #[error("the endpoint did not answer within {seconds} seconds")]
    TimedOut {
        /// The limit that passed.
        seconds: u64,
    },
    /// The endpoint refused the key.
    #[error("the endpoint refused the key (status {status})")]
    Auth {
        /// HTTP status, 401 or 403.
        status: u16,
    },
    /// The endpoint asks to wait.
    #[error("the endpoint is limiting requests")]
    RateLimited {
        /// Seconds that it asked for, when it said.
        retry_after: Option<u64>,
    },
    /// The endpoint answered with another failure.
    #[error("the endpoint answered with status {status}: {message}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// The endpoint's own words, shortened.
        message: String,
    },
    /// The answer could not be read as what the protocol promises.
    #[error("the endpoint's answer could not be used: {what}")]
    BadReply {
        /// What was wrong with it.
        what: String,
    },
    /// Another number of vectors or scores than texts.
    #[error("{got} results came back for {want} texts")]
    Count {
        /// Texts sent.
        want: usize,
        /// Results received.
        got: usize,
    },
    /// Vectors of another length than the embedder was set up for.
    #[error("the embedder gives {got} numbers where {want} are expected")]
    Dimension {
        /// Length that the stored vectors have.
        want: usize,
        /// Length that arrived.
        got: usize,
    },
}

impl Error {
    /// Whether the same call may succeed later without anything being changed.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::TimedOut { .. } | Self::RateLimited { .. } => true,
            Self::Refused { status, .. } => *status >= 500,
            _ => false,
        }
    }
}
