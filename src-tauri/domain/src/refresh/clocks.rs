//! The clocks of a document: when it was refreshed, how far through the data it is written, which
//! question it answers. One table of movements; nothing else moves them. The watermark never goes
//! back except to null.

use crate::Instant;

/// A position in a bank's data, with the moment that is shown for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watermark {
    /// Sequence of the memory at the position; decides.
    pub seq: i64,
    /// `updated_at` of that memory; shown.
    pub at: Instant,
}

/// The clocks of a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Clocks {
    /// When a refresh last finished or a person last wrote.
    pub last_refreshed_at: Option<Instant>,
    /// How far the published document is written.
    pub watermark: Option<Watermark>,
    /// The question that produced it.
    pub source_query: Option<String>,
    /// Newest sequence that any finished run looked at, published or not.
    pub considered_seq: Option<i64>,
}

/// What happened to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClockEvent {
    /// A refresh completed and published, found the same text, or found nothing relevant.
    Completed {
        /// The newest memory in scope up to the cutoff; none when nothing is in scope.
        newest_in_scope: Option<Watermark>,
        /// The run's question.
        source_query: String,
        /// How far the run looked.
        cutoff_seq: i64,
    },
    /// A refresh ended as a proposal.
    Proposed {
        /// How far the run looked.
        cutoff_seq: i64,
    },
    /// A refresh failed or was cancelled.
    FailedOrCancelled,
    /// A proposal was approved, wholly or partly.
    Approved {
        /// The proposal's watermark.
        watermark: Option<Watermark>,
        /// The proposal's question.
        source_query: String,
        /// How far its run looked.
        cutoff_seq: i64,
    },
    /// A proposal was rejected for good.
    Dismissed {
        /// The proposal's watermark.
        watermark: Option<Watermark>,
        /// How far its run looked.
        cutoff_seq: i64,
    },
    /// A proposal was rejected to be tried again.
    RejectedForRetry {
        /// How far its run looked.
        cutoff_seq: i64,
    },
    /// A person edited the content.
    Edited,
    /// An earlier version came back.
    Reverted {
        /// That version's question.
        source_query: Option<String>,
        /// That version's watermark, when the person wants what came after to be read again.
        read_again_after: Option<Option<Watermark>>,
    },
    /// The document was cleared.
    Cleared,
    /// Name, trigger, budget or review changed, without effect on the scope.
    SettingsChanged,
    /// What the model reads was widened or changed: warning `scope_changed_watermark_reset`.
    ScopeChanged,
}

impl Clocks {
    /// The clocks after an event at `now`.
    #[must_use]
    pub fn after(mut self, event: ClockEvent, now: Instant) -> Self {
        match event {
            ClockEvent::Completed { newest_in_scope, source_query, cutoff_seq }
            | ClockEvent::Approved { watermark: newest_in_scope, source_query, cutoff_seq } => {
                self.last_refreshed_at = Some(now);
                self.advance(newest_in_scope);
                self.source_query = Some(source_query);
                self.consider(cutoff_seq);
            }
            ClockEvent::Dismissed { watermark, cutoff_seq } => {
                self.last_refreshed_at = Some(now);
                self.advance(watermark);
                self.consider(cutoff_seq);
            }
            ClockEvent::Proposed { cutoff_seq } | ClockEvent::RejectedForRetry { cutoff_seq } => {
                self.consider(cutoff_seq);
            }
            ClockEvent::FailedOrCancelled | ClockEvent::SettingsChanged => {}
            ClockEvent::Edited => self.last_refreshed_at = Some(now),
            ClockEvent::Reverted { source_query, read_again_after } => {
                self.last_refreshed_at = Some(now);
                self.source_query = source_query;
                if let Some(watermark) = read_again_after {
                    self.watermark = watermark;
                    self.considered_seq = watermark.map(|mark| mark.seq);
                }
            }
            ClockEvent::Cleared => {
                self.watermark = None;
                self.source_query = None;
                self.considered_seq = None;
            }
            ClockEvent::ScopeChanged => {
                self.watermark = None;
                self.considered_seq = None;
            }
        }
        self
    }

    fn advance(&mut self, to: Option<Watermark>) {
        let ahead = |mark: &Watermark| self.watermark.is_none_or(|old| mark.seq > old.seq);
        if let Some(mark) = to.filter(ahead) {
            self.watermark = Some(mark);
        }
    }

    fn consider(&mut self, cutoff: i64) {
        self.considered_seq = self.considered_seq.max(Some(cutoff));
    }
}
