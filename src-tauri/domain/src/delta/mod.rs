//! Delta operations: typed edits of a document by id. Reading them from a model's output, checking
//! their texts, and applying them. Whether a change is wanted is decided elsewhere; nothing here
//! asks a model or guesses what an almost matching id could have meant.

mod apply;
mod decide;
pub(crate) mod editor;
mod locks;
mod op;
pub(crate) mod parse;
mod read;
mod result;
mod text;

pub(crate) use apply::record as recorded;
pub use apply::{Applied, Batch, Rules, apply_operations};
pub use locks::{changes_locked, keep_locked};
pub use op::{CitedOp, Claim, DeltaOp, InvalidOp, OpKind, ParsedOp};
pub use parse::{Answer, Unreadable, parse_operations};
pub use read::{read_op, read_ops};
pub use result::{
    ApplyWarning, ElementKind, OpResult, OpStatus, OpTrace, SkipReason, Target, Write, WriteKind,
};
pub use text::{TextFault, fragments};
pub(crate) use text::{is_rows, is_table, text_hash};
