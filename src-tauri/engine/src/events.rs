//! News for whoever watches: what a commit changed, how far an operation is, what a run does.
//! The engine knows only these shapes; how they reach a screen is the shell's affair.

use crate::view::app::Changed;
use crate::view::operation::OperationProgress;
use domain::trace::RunEvent;

/// News of the whole program, sent to every subscriber.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A commit changed something that screens show.
    Changed(Changed),
    /// An operation went on.
    Progress(OperationProgress),
}

/// Takes the events of one run, in order. Ends with exactly one of finished, failed, cancelled.
pub trait EventSink: Send {
    /// Takes one event. Must not block.
    fn emit(&mut self, event: RunEvent);
}

/// Drops events; for runs that nobody watches.
#[derive(Debug, Default, Clone, Copy)]
pub struct NoSink;

impl EventSink for NoSink {
    fn emit(&mut self, _event: RunEvent) {}
}

impl EventSink for Vec<RunEvent> {
    fn emit(&mut self, event: RunEvent) {
        self.push(event);
    }
}
