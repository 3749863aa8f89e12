//! The order in which a run must search before it may choose freely, as a small machine: which tool
//! to force next, when the engine searches itself, when the order is over. Running the tools is the
//! loop's affair.

use std::collections::VecDeque;

use crate::tool_calls::RETRIEVAL_TOOLS;

/// Misses of one step after which the engine searches by itself.
const MISSES: u32 = 2;

/// What the next turn does about the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForcedStep {
    /// The language model is made to call this tool.
    Force(&'static str),
    /// It missed this tool twice: the engine runs the search with the user's question, puts call and
    /// result into the history, and reports the tool as succeeded.
    Search(&'static str),
    /// The language model chooses.
    Free,
}

/// The forced order of one run.
#[derive(Debug, Clone)]
pub struct ForcedOrder {
    open: VecDeque<&'static str>,
    misses: u32,
}

impl ForcedOrder {
    /// The order over the searches that exist in the run.
    #[must_use]
    pub fn new(enabled: &[String]) -> Self {
        let exists = |tool: &&'static str| enabled.iter().any(|name| name == tool);
        Self { open: RETRIEVAL_TOOLS.into_iter().filter(exists).collect(), misses: 0 }
    }

    /// Steps still open, in order; at the start, the forced sequence of the trace.
    #[must_use]
    pub fn sequence(&self) -> Vec<String> {
        self.open.iter().map(|tool| (*tool).to_owned()).collect()
    }

    /// What to do next.
    #[must_use]
    pub fn next_step(&self) -> ForcedStep {
        match self.open.front() {
            None => ForcedStep::Free,
            Some(tool) if self.misses >= MISSES => ForcedStep::Search(tool),
            Some(tool) => ForcedStep::Force(tool),
        }
    }

    /// Notes a turn by the tools that gave a result without error in it; a repeat of an earlier call
    /// is none. A step is done once its tool has succeeded, whichever turn that was in. A failed
    /// request to the provider is no turn.
    pub fn note_turn<S: AsRef<str>>(&mut self, succeeded: &[S]) {
        let Some(step) = self.open.front().copied() else { return };
        self.open.retain(|tool| !succeeded.iter().any(|name| name.as_ref() == *tool));
        let moved_on = self.open.front() != Some(&step);
        self.misses = if moved_on { 0 } else { self.misses + 1 };
    }

    /// Ends the order early (fresh mental models on the subject).
    pub fn release(&mut self) {
        self.open.clear();
        self.misses = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order() -> ForcedOrder {
        ForcedOrder::new(&["recall", "search_observations", "done"].map(str::to_owned))
    }

    #[test]
    fn steps_follow_the_ladder_over_the_tools_that_exist() {
        let mut order = order();
        assert_eq!(order.sequence(), ["search_observations", "recall"]);
        assert_eq!(order.next_step(), ForcedStep::Force("search_observations"));
        order.note_turn(&["search_observations"]);
        assert_eq!(order.next_step(), ForcedStep::Force("recall"));
        order.note_turn(&["expand", "recall"]);
        assert_eq!(order.next_step(), ForcedStep::Free);
    }

    #[test]
    fn a_step_missed_twice_is_searched_by_the_engine() {
        let mut order = order();
        order.note_turn::<&str>(&[]);
        assert_eq!(order.next_step(), ForcedStep::Force("search_observations"));
        order.note_turn(&["recall"]);
        assert_eq!(order.next_step(), ForcedStep::Search("search_observations"));
        order.note_turn(&["search_observations"]);
        assert_eq!(order.next_step(), ForcedStep::Free, "recall succeeded before its turn");
    }

    #[test]
    fn a_release_ends_the_order() {
        let mut order = order();
        order.release();
        assert_eq!(order.next_step(), ForcedStep::Free);
        order.note_turn::<&str>(&[]);
        assert_eq!(order.next_step(), ForcedStep::Free);
    }
}
