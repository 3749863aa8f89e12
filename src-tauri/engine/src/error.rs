//! What can go wrong in the engine: a refusal of its own (a reason of the table) or a failure of one
//! of the crates below. Turned into a [`Report`] at the boundary, nowhere else.

use crate::report::{Fault, Report};

/// A failure of an engine call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The engine refuses, with a reason of the table.
    #[error(transparent)]
    Refused(#[from] Box<Fault>),
    /// The file.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A language model.
    #[error(transparent)]
    Llm(#[from] llm::Error),
    /// An embedder.
    #[error(transparent)]
    Embed(#[from] embed::Error),
    /// A file outside the data folder.
    #[error("{path} could not be read or written")]
    Io {
        /// The file.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// Result of an engine call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::Refused(Box::new(fault))
    }
}

impl Error {
    /// The fine word of the table.
    #[must_use]
    pub fn reason(&self) -> String {
        Report::from(self).reason
    }
}

impl From<Error> for Report {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}
