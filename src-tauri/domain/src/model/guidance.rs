//! Guidance: what reviewers told a model's refreshes, and how long it holds. It is the owner's
//! instruction, but it never licenses removing text without evidence: the guards still apply.

use serde::{Deserialize, Serialize};

use crate::{Instant, ProposalId};

/// Most declined changes that are remembered; the oldest go first.
pub const MAX_DECLINED: usize = 20;

/// What reviewers told the model's refreshes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Guidance {
    /// A note, shown until what was produced with it is approved; a standing one always.
    Note {
        /// The words.
        text: String,
        /// When.
        at: Instant,
        /// On which proposal.
        proposal: Option<ProposalId>,
        /// Whether it is shown for ever.
        standing: bool,
    },
    /// A change that a person decided not to make.
    Declined {
        /// The facts behind it.
        fact_ids: Vec<String>,
        /// What the change would have done.
        op_summary: String,
        /// The person's words.
        note: Option<String>,
        /// When.
        at: Instant,
        /// The facts' `change_seq` then, in the order of `fact_ids`: the entry lapses when one has
        /// grown.
        #[cfg_attr(feature = "specta", specta(skip))]
        fact_seqs: Vec<i64>,
    },
}

/// The entries that still hold: a declined change lapses when one of its facts has changed since.
/// `seq_of` gives a memory's present `change_seq`; a fact that is gone says nothing.
#[must_use]
pub fn live_guidance(list: &[Guidance], seq_of: impl Fn(&str) -> Option<i64>) -> Vec<Guidance> {
    let holds = |entry: &&Guidance| match entry {
        Guidance::Note { .. } => true,
        Guidance::Declined { fact_ids, fact_seqs, .. } => fact_ids
            .iter()
            .zip(fact_seqs)
            .all(|(fact, then)| seq_of(fact).is_none_or(|now| now <= *then)),
    };
    list.iter().filter(holds).cloned().collect()
}

/// The list with an entry added; of declined changes the newest [`MAX_DECLINED`] stay.
#[must_use]
pub fn decline(list: &[Guidance], entry: Guidance) -> Vec<Guidance> {
    let mut all: Vec<Guidance> = list.iter().cloned().chain([entry]).collect();
    let is_declined = |entry: &Guidance| matches!(entry, Guidance::Declined { .. });
    let mut over =
        all.iter().filter(|entry| is_declined(entry)).count().saturating_sub(MAX_DECLINED);
    all.retain(|entry| {
        let drop = over > 0 && is_declined(entry);
        over -= usize::from(drop);
        !drop
    });
    all
}

/// The list after something produced with its notes was approved or published: notes that are not
/// standing and were there when the run began have done their work.
#[must_use]
pub fn after_approval(list: &[Guidance], run_started_at: Instant) -> Vec<Guidance> {
    let done = |entry: &&Guidance| matches!(entry, Guidance::Note { at, standing: false, .. } if *at <= run_started_at);
    list.iter().filter(|entry| !done(entry)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::from_millis;

    fn note(at: i64, standing: bool) -> Guidance {
        Guidance::Note { text: "n".into(), at: from_millis(at), proposal: None, standing }
    }

    fn declined(at: i64, seq: i64) -> Guidance {
        Guidance::Declined {
            fact_ids: vec!["f".into(), "g".into()],
            op_summary: "remove the table".into(),
            note: None,
            at: from_millis(at),
            fact_seqs: vec![seq, seq],
        }
    }

    #[test]
    fn a_declined_change_lapses_when_a_fact_changes() {
        let list = [note(1, false), declined(2, 7)];
        assert_eq!(live_guidance(&list, |_| Some(7)).len(), 2);
        assert_eq!(live_guidance(&list, |_| None).len(), 2);
        assert_eq!(
            live_guidance(&list, |id| Some(if id == "g" { 8 } else { 7 })),
            [note(1, false)]
        );
    }

    #[test]
    fn the_oldest_declined_change_goes_and_notes_stay() {
        let start = vec![note(0, false)];
        let list = (1..=22).fold(start, |list, at| decline(&list, declined(at, 1)));
        assert_eq!(list.len(), 1 + MAX_DECLINED);
        assert_eq!((&list[0], &list[1]), (&note(0, false), &declined(3, 1)));
    }

    #[test]
    fn a_note_has_done_its_work_once_a_run_that_saw_it_is_approved() {
        let list = [note(1, false), note(1, true), note(9, false), declined(1, 1)];
        assert_eq!(after_approval(&list, from_millis(5)), list[1..]);
    }
}
