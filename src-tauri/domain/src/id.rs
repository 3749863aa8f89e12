//! Names of things. Each id is its own type over a string, so that a bank id cannot be passed where
//! a model id is wanted. Ids are made elsewhere (from a clock and randomness that are passed in);
//! this module only carries and checks them.

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "specta", derive(specta::Type))]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+};
}

ids! {
    /// A bank, chosen by the caller.
    BankId,
    /// A document, chosen by the caller or made (UUIDv7); unique in its bank.
    DocumentId,
    /// A mental model: a slug of lower-case letters, digits and hyphens, unique in its bank.
    ModelId,
    /// A folder or page of the knowledge base (`kf-` or `kp-` and 32 hex digits).
    NodeId,
    /// A memory (UUIDv7).
    MemoryId,
    /// A chunk of a document (UUIDv7 of the document and the chunk's number).
    ChunkId,
    /// A directive (UUIDv7).
    DirectiveId,
    /// An operation of the queue (UUIDv7, or chosen by the caller).
    OperationId,
    /// A proposal (UUIDv7).
    ProposalId,
    /// A recorded request to a language model (UUIDv7).
    LlmRequestId,
    /// A run of a reflect or of a refresh (UUIDv7).
    RunId,
    /// An endpoint of a language model or an embedder (UUIDv7).
    EndpointId,
}

/// A UUIDv7 built from a moment (milliseconds since 1970, UTC) and ten random bytes, so that the
/// order of ids is the order of birth. Both are passed in; nothing here reads a clock.
#[must_use]
pub fn uuid_v7(millis: i64, random: [u8; 10]) -> String {
    let millis = u64::try_from(millis).unwrap_or(0);
    uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_ids_is_order_of_birth() {
        let early = uuid_v7(1_700_000_000_000, [9; 10]);
        let late = uuid_v7(1_700_000_000_001, [0; 10]);
        assert!(early < late);
        assert_eq!(early.len(), 36);
    }
}
