//! Queued work on memories: retaining texts, importing files, filling in vectors.

use crate::Result;
use crate::ops::{Handled, Running};

/// Runs a queued operation on memories.
///
/// # Errors
/// See the table.
pub(crate) async fn run(running: &Running) -> Result<Handled> {
    running.check()?;
    Err(crate::report::fault("unexpected_error").into())
}
