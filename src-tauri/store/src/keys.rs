//! Integer keys of rows. They join tables inside the file and never leave the program: the outside
//! sees the text ids of `domain::id`. Each is its own type, so that a bank's key cannot be passed
//! where a memory's is wanted.

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub i64);

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.0.to_sql()
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                i64::column_result(value).map(Self)
            }
        }
    )+};
}

keys! {
    /// Key of a bank.
    BankKey,
    /// Key of a document.
    DocumentKey,
    /// Key of a chunk.
    ChunkKey,
    /// Key of a memory.
    MemoryKey,
    /// Key of an interned set of tags.
    TagSetKey,
    /// Key of an entity.
    EntityKey,
    /// Key of a mental model.
    ModelKey,
    /// Key of a folder or page of the knowledge base.
    NodeKey,
    /// Key of a proposal.
    ProposalKey,
    /// Key of an operation.
    OperationKey,
    /// Key of an endpoint.
    EndpointKey,
    /// Key of an embedder; names its vector tables.
    EmbedderKey,
}
