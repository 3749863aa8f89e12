//! The SQLite file: schema, migrations, queries. One writer. Plain SQL. Knows nothing about
//! language models.
//!
//! [`Store::open`] takes a data folder; [`Store::read`] and [`Store::write`] run closures over a
//! snapshot or in the one write transaction. The functions that do the work are in one module per
//! group of tables and take that transaction; several of them in one closure are one commit.

pub mod backup;
pub mod banks;
pub mod chunks;
mod connect;
pub mod directives;
pub mod documents;
pub mod embedders;
pub mod endpoints;
pub mod entities;
mod error;
pub mod freshness;
mod header;
pub mod kb;
mod keys;
pub mod links;
pub mod llm_requests;
mod lock;
pub mod memories;
mod migrate;
pub mod models;
mod notice;
pub mod operations;
pub mod proposals;
pub mod reviews;
mod row;
pub mod runs;
pub mod search;
pub mod settings;
mod store;
pub mod tag_sets;
pub mod tombstones;
mod tx;
pub mod versions;

pub use error::{Error, Result, Thing};
pub use keys::{
    BankKey, ChunkKey, DocumentKey, EmbedderKey, EndpointKey, EntityKey, KeyMap, MemoryKey,
    ModelKey, NodeKey, OperationKey, ProposalKey, TagSetKey,
};
pub use notice::Notice;
pub use store::{BACKUP_FOLDER, CommitPoint, FILE_NAME, Moment, Options, Store};
pub use tx::{ReadTx, State, WriteTx};

#[cfg(test)]
mod tests;
