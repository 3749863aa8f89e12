//! The vocabulary and the arithmetic. No clock, no files, no network: every function gives the same
//! answer twice.

<<<<<<< HEAD
pub mod bank;
pub mod cache;
pub mod chunking;
pub mod citations;
pub mod cleaning;
pub mod consolidation;
pub mod cron;
pub mod directives;
pub mod disposition;
pub mod entities;
=======
pub mod delta;
pub mod document;
>>>>>>> 6eace8a (Add the structured document and its delta operations)
pub mod fault;
pub mod fusion;
pub mod fuzzy;
pub mod guards;
pub mod id;
pub mod json;
pub mod memory;
<<<<<<< HEAD
pub mod model;
pub mod reflect;
pub mod refresh;
pub mod schedule;
pub mod schema;
pub mod scope;
pub mod score;
pub mod short_ids;
pub mod staleness;
pub mod tag_group;
pub mod tags;
pub mod temporal;
pub mod text;
=======
pub mod proposal;
>>>>>>> 6eace8a (Add the structured document and its delta operations)
pub mod time;
pub mod tokens;
pub mod tool_calls;
pub mod trace;
pub mod trigger;

pub use cache::CacheTag;
pub use fault::FieldFault;
pub use id::{
    BankId, ChunkId, DirectiveId, DocumentId, EndpointId, LlmRequestId, MemoryId, ModelId,
    OperationId, ProposalId, RunId,
};
pub use json::Json;
pub use memory::FactType;
pub use score::Score;
pub use time::Instant;
