//! Speed, one module per chapter. Ignored by default: the figures mean something only in an
//! optimised build on a quiet machine (`npm run bench`).

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test may panic, print and measure"
)]

mod corpus;
mod embedder;
mod measure;
mod memory;
mod models;
mod reflect;
mod scale;
