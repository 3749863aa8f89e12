//! The vocabulary and the arithmetic. No clock, no files, no network: every function gives the same
//! answer twice.

pub mod answer;
pub mod bank;
pub mod cache;
pub mod chunking;
pub mod citations;
pub mod cleaning;
pub mod consolidation;
pub mod cron;
pub mod delta;
pub mod diff;
pub mod directives;
pub mod disposition;
pub mod document;
pub mod entities;
pub mod estimate;
pub mod fault;
pub mod forced;
pub mod fusion;
pub mod fuzzy;
pub mod guards;
pub mod id;
pub mod json;
pub mod memory;
pub mod model;
pub mod proposal;
pub mod provenance;
pub mod reflect;
pub mod refresh;
pub mod retract;
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
