//! The vocabulary and the arithmetic. No clock, no files, no network: every function gives the same
//! answer twice.

pub mod cache;
pub mod fault;
pub mod id;
pub mod json;
pub mod memory;
pub mod time;

pub use cache::CacheTag;
pub use fault::FieldFault;
pub use id::{
    BankId, ChunkId, DirectiveId, DocumentId, EndpointId, LlmRequestId, MemoryId, ModelId,
    OperationId, ProposalId, RunId,
};
pub use json::Json;
pub use memory::FactType;
pub use time::Instant;
