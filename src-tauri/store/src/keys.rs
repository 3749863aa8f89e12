//! Integer keys of rows. They join tables inside the file and never leave the program: the outside
//! sees the text ids of `domain::id`. Each is its own type, so that a bank's key cannot be passed
//! where a memory's is wanted.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

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

/// A map by key of a row, a memory's unless said. Keys are small numbers given out by the file, so
/// they need no defence against chosen collisions, and a search makes tens of thousands of look-ups.
pub type KeyMap<V, K = MemoryKey> = HashMap<K, V, BuildHasherDefault<KeyHasher>>;

/// Spreads one number by a multiplication with 2^64 ÷ the golden ratio (Knuth, volume 3, 6.4).
#[derive(Debug, Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0 ^ n).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(26);
    }

    fn write_i64(&mut self, n: i64) {
        self.write_u64(n.cast_unsigned());
    }
}
