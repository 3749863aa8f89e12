//! One refresh from plan to published version or proposal.

use crate::Result;
use crate::ops::{Handled, Running};

/// Runs a queued refresh.
///
/// # Errors
/// See the table.
pub(crate) async fn run(running: &Running) -> Result<Handled> {
    running.check()?;
    Err(crate::report::fault("unexpected_error").into())
}

/// What follows the end of a refresh: one more, when it was asked for meanwhile.
pub(crate) async fn after_end(running: &Running) {
    let _ = running;
}
