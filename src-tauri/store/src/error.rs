//! What can go wrong with the file. SQLite's codes are sorted into the few cases that the program
//! answers differently; everything else keeps its cause.

use std::path::PathBuf;

use rusqlite::ErrorCode;

/// The result of a store function.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kinds of thing that a look-up by id can miss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Thing {
    /// A bank.
    Bank,
    /// A document.
    Document,
    /// A chunk of a document.
    Chunk,
    /// A memory.
    Memory,
    /// An entity.
    Entity,
    /// A mental model.
    Model,
    /// A version of a mental model.
    Version,
    /// A proposal.
    Proposal,
    /// A directive.
    Directive,
    /// An operation.
    Operation,
    /// A record of a reflect or a refresh.
    Run,
    /// A recorded request to a language model.
    LlmRequest,
    /// An endpoint.
    Endpoint,
    /// An embedder.
    Embedder,
    /// A folder or page of the knowledge base.
    Node,
}

impl Thing {
    /// The word used in messages and, with `_not_found`, in reasons.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Bank => "bank",
            Self::Document => "document",
            Self::Chunk => "chunk",
            Self::Memory => "memory",
            Self::Entity => "entity",
            Self::Model => "model",
            Self::Version => "version",
            Self::Proposal => "proposal",
            Self::Directive => "directive",
            Self::Operation => "operation",
            Self::Run => "run",
            Self::LlmRequest => "llm_request",
            Self::Endpoint => "endpoint",
            Self::Embedder => "embedder",
            Self::Node => "node",
        }
    }
}

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing of this kind has the id.
    #[error("there is no {} \"{id}\"", what.word())]
    NotFound {
        /// The kind of thing looked for.
        what: Thing,
        /// The id that was given.
        id: String,
    },
    /// Another thing of this kind has the id already.
    #[error("the {} id \"{id}\" is already used", what.word())]
    IdTaken {
        /// The kind of thing.
        what: Thing,
        /// The id that was given.
        id: String,
    },
    /// The folder holds a node of this name already.
    #[error("the folder holds \"{name}\" already")]
    NameTaken {
        /// The name that was given.
        name: String,
    },
    /// The parent that was given is no folder of the bank.
    #[error("the parent is not a folder of this bank")]
    BadParent,
    /// A folder would lie inside itself.
    #[error("a folder cannot lie inside itself")]
    Cycle,
    /// Another process holds the data folder.
    #[error("another process has the data folder {} open", folder.display())]
    DataFolderInUse {
        /// The data folder.
        folder: PathBuf,
    },
    /// The file was written by a newer program and was not touched.
    #[error("the data has schema {found}, this program knows {known}")]
    Newer {
        /// The schema number of the file.
        found: u32,
        /// The newest schema number this program knows.
        known: u32,
    },
    /// The file is not one of ours or its pages are broken.
    #[error("the data file is damaged: {detail}")]
    Damaged {
        /// What was found.
        detail: String,
    },
    /// The disk (or the page limit) is exhausted; the transaction was rolled back.
    #[error("the disk is full")]
    DiskFull {
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// Another connection holds the lock for longer than the busy timeout.
    #[error("the database is busy")]
    Busy {
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// The folder or the file cannot be written.
    #[error("the data folder cannot be written: {detail}")]
    ReadOnly {
        /// What the system said.
        detail: String,
    },
    /// Reading or writing beside the database failed.
    #[error("reading or writing failed: {source}")]
    Io {
        /// What the system said.
        #[from]
        source: std::io::Error,
    },
    /// A check before writing found another version than the caller had read.
    #[error("version {found} is published, {expected} was expected")]
    VersionConflict {
        /// The version that is published.
        found: u32,
        /// The version that the caller had read.
        expected: u32,
    },
    /// A check before writing found that the proposal was changed meanwhile.
    #[error("the proposal is at state {found}, {expected} was expected")]
    StateConflict {
        /// The counter of the stored proposal.
        found: u32,
        /// The counter that the caller had read.
        expected: u32,
    },
    /// The proposal is already decided or replaced.
    #[error("the proposal is closed")]
    ProposalClosed,
    /// The operation id was used for another payload.
    #[error("the operation id \"{id}\" was used for something else")]
    OperationConflict {
        /// The id that was given.
        id: String,
    },
    /// The operation has ended, or has not, against what the call needs.
    #[error("the operation \"{id}\" is {status}")]
    OperationState {
        /// The operation.
        id: String,
        /// Its status.
        status: String,
    },
    /// The memory is an observation and cannot be edited by itself.
    #[error("an observation cannot be edited by itself")]
    NotCuratable,
    /// The memory is out of use; it must be restored first.
    #[error("the memory is invalidated")]
    MemoryInvalidated,
    /// A vector has another length than the embedder's table.
    #[error("the embedder gives {got} numbers where {want} are expected")]
    DimensionMismatch {
        /// Length of the vector that was given.
        got: usize,
        /// Length that the table holds.
        want: usize,
    },
    /// The bank has no embedder.
    #[error("the bank has no embedder")]
    NoEmbedder,
    /// A backup did not pass its check and was removed.
    #[error("the backup could not be made: {detail}")]
    BackupFailed {
        /// What the check said.
        detail: String,
    },
    /// A stored JSON text cannot be read, or a value cannot be written.
    #[error("a stored value cannot be read: {source}")]
    Json {
        /// What the reader said.
        #[from]
        source: serde_json::Error,
    },
    /// The closure panicked; its transaction was rolled back.
    #[error("a database task stopped unexpectedly: {detail}")]
    Panicked {
        /// The panic's message.
        detail: String,
    },
    /// The store is shutting down.
    #[error("the store is closed")]
    Closed,
    /// Anything else that SQLite reports: a fault of this program.
    #[error("the database refused a statement: {source}")]
    Sql {
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
}

impl Error {
    /// A miss.
    pub fn not_found(what: Thing, id: impl Into<String>) -> Self {
        Self::NotFound { what, id: id.into() }
    }

    pub(crate) fn damaged(detail: impl Into<String>) -> Self {
        Self::Damaged { detail: detail.into() }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(source: rusqlite::Error) -> Self {
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull { source },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { source },
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::ReadOnly { detail: source.to_string() }
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { detail: source.to_string() }
            }
            Some(ErrorCode::SystemIoFailure) => Self::Io { source: std::io::Error::other(source) },
            _ => Self::Sql { source },
        }
    }
}

/// `Ok(None)` where SQLite found no row.
pub(crate) trait Find<T> {
    fn find(self) -> Result<Option<T>>;
}

impl<T> Find<T> for rusqlite::Result<T> {
    fn find(self) -> Result<Option<T>> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(rusqlite::Error::QueryReturnedNoRows) => Ok(None),
            Err(other) => Err(other.into()),
        }
    }
}
