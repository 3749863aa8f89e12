//! Which citations of a published document have lost their ground, and what to do about each: act
//! now, wait, note a change, or see that the links themselves are broken. Pure: the caller looks the
//! memories up.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::FactType;
use crate::staleness::TombstoneCause;

/// A citation of a memory in the published grounding. Citations of mental models and directives are
/// not given here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// The memory.
    pub id: String,
    /// Its type when it was cited.
    pub fact_type: FactType,
    /// Its text when it was cited.
    pub text: String,
}

/// What is known of a cited memory now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It exists, with this text.
    Live {
        /// The present text.
        text: String,
    },
    /// It has a tombstone.
    Tombstoned {
        /// Why it is gone.
        cause: TombstoneCause,
        /// For [`TombstoneCause::Rescoped`]: whether it still lies in this model's scope.
        in_scope: bool,
        /// The present text, if the memory exists (rescoped).
        text: Option<String>,
    },
    /// Neither the memory nor a tombstone is found.
    Missing,
}

/// A fact that went away, as recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RetractedFact {
    /// The memory.
    pub id: String,
    /// Its text as cited.
    pub text: String,
}

/// A fact whose text changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ChangedFact {
    /// The memory.
    pub id: String,
    /// Its text as cited.
    pub was: String,
    /// Its text now.
    pub now: String,
}

/// Why retractions are left for the next refresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum DeferredReason {
    /// Facts wait for consolidation; a successor may be among them.
    PendingConsolidation,
}

/// The citations of a document by what to do about them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Partition {
    /// Retractions to act on now.
    pub act: Vec<RetractedFact>,
    /// Retractions left alone for now; their citations are kept.
    pub deferred: Vec<RetractedFact>,
    /// Why they are; none if there are none.
    pub deferred_reason: Option<DeferredReason>,
    /// Live facts with another text than the one cited.
    pub changed: Vec<ChangedFact>,
    /// Every citation is dangling and none has a tombstone: an import or a copy. Drop these
    /// citations, leave the prose, and warn `grounding_unresolvable`.
    pub broken_links: Vec<String>,
}

/// Sorts the citations of a document. `pending_consolidation` tells whether the bank has facts that
/// wait for consolidation.
#[must_use]
pub fn partition_retracted(
    citations: &[(Citation, Standing)],
    pending_consolidation: bool,
) -> Partition {
    let unique: BTreeMap<&str, &(Citation, Standing)> =
        citations.iter().rev().map(|pair| (pair.0.id.as_str(), pair)).collect();
    let mut partition = Partition::default();
    if !unique.is_empty() && unique.values().all(|(_, now)| *now == Standing::Missing) {
        partition.broken_links = unique.into_keys().map(str::to_owned).collect();
        return partition;
    }
    for (cited, now) in unique.into_values() {
        let fact = || RetractedFact { id: cited.id.clone(), text: cited.text.clone() };
        match judge(now) {
            Verdict::Live(text) if text != cited.text => partition.changed.push(ChangedFact {
                id: cited.id.clone(),
                was: cited.text.clone(),
                now: text.to_owned(),
            }),
            Verdict::Live(_) | Verdict::Unaffected => {}
            Verdict::Successor if pending_consolidation => partition.deferred.push(fact()),
            Verdict::Successor | Verdict::Gone => partition.act.push(fact()),
        }
    }
    if !partition.deferred.is_empty() {
        partition.deferred_reason = Some(DeferredReason::PendingConsolidation);
    }
    partition
}

enum Verdict<'a> {
    Live(&'a str),
    Unaffected,
    /// Gone, and a successor may be on its way.
    Successor,
    Gone,
}

fn judge(now: &Standing) -> Verdict<'_> {
    match now {
        Standing::Live { text } => Verdict::Live(text),
        Standing::Missing => Verdict::Successor,
        Standing::Tombstoned { cause: TombstoneCause::Rescoped, in_scope: true, text } => {
            text.as_deref().map_or(Verdict::Unaffected, Verdict::Live)
        }
        Standing::Tombstoned { cause, .. } => match cause {
            TombstoneCause::Replaced | TombstoneCause::Swept => Verdict::Successor,
            TombstoneCause::Deleted | TombstoneCause::Invalidated | TombstoneCause::Rescoped => {
                Verdict::Gone
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cited(id: &str, now: Standing) -> (Citation, Standing) {
        let citation =
            Citation { id: id.to_owned(), fact_type: FactType::World, text: "was".to_owned() };
        (citation, now)
    }

    fn live(text: &str) -> Standing {
        Standing::Live { text: text.to_owned() }
    }

    fn gone(cause: TombstoneCause) -> Standing {
        Standing::Tombstoned { cause, in_scope: false, text: None }
    }

    fn ids(facts: &[RetractedFact]) -> Vec<&str> {
        facts.iter().map(|fact| fact.id.as_str()).collect()
    }

    #[test]
    fn causes_decide_between_now_and_later() {
        let all = [
            cited("a", gone(TombstoneCause::Deleted)),
            cited("b", gone(TombstoneCause::Replaced)),
            cited("c", gone(TombstoneCause::Rescoped)),
            cited("d", Standing::Missing),
            cited("e", live("was")),
            cited("f", live("now")),
            cited("g", gone(TombstoneCause::Swept)),
            cited("h", gone(TombstoneCause::Invalidated)),
            cited("a", gone(TombstoneCause::Deleted)),
        ];
        let busy = partition_retracted(&all, true);
        assert_eq!(ids(&busy.act), ["a", "c", "h"]);
        assert_eq!(ids(&busy.deferred), ["b", "d", "g"]);
        assert!(busy.deferred_reason.is_some());
        assert_eq!(busy.changed.len(), 1);
        let quiet = partition_retracted(&all, false);
        assert_eq!(ids(&quiet.act), ["a", "b", "c", "d", "g", "h"]);
        assert_eq!(quiet.deferred_reason, None);
    }

    #[test]
    fn a_memory_that_stays_in_scope_is_no_retraction() {
        let now = Standing::Tombstoned {
            cause: TombstoneCause::Rescoped,
            in_scope: true,
            text: Some("was".to_owned()),
        };
        assert_eq!(partition_retracted(&[cited("a", now)], false), Partition::default());
    }

    #[test]
    fn only_a_document_without_any_trace_has_broken_links() {
        let lost = [cited("a", Standing::Missing), cited("b", Standing::Missing)];
        assert_eq!(partition_retracted(&lost, true).broken_links, ["a", "b"]);
        let one_withdrawn = [cited("a", gone(TombstoneCause::Deleted))];
        assert_eq!(ids(&partition_retracted(&one_withdrawn, true).act), ["a"]);
        assert_eq!(partition_retracted(&[], true), Partition::default());
    }
}
