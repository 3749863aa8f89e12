//! Decisions that outlive their proposal: when a newer one takes its place, what was said about the
//! same change is carried over.

use std::collections::{BTreeSet, HashMap};

use super::record::fingerprint_target;
use super::{Decision, Marker, ProposalOp};

/// The operations of a new proposal with the decisions of an older one (the one it replaces, or one
/// that was rejected).
///
/// The same fingerprint carries decision and note. The same kind and target with another text keeps
/// the note and is undecided again, marked as reworded. A refusal is only carried while the new
/// operation brings no fact that the refused one did not have. An acceptance is only carried together
/// with those of all that the operation requires.
#[must_use]
pub fn fold(old: &[ProposalOp], new: &[ProposalOp]) -> Vec<ProposalOp> {
    let spoken: Vec<&ProposalOp> =
        old.iter().filter(|op| op.decision != Decision::Undecided || op.note.is_some()).collect();
    let mut by_print: HashMap<&str, Vec<&ProposalOp>> = HashMap::new();
    // Equal operations are paired in order, those nobody spoke about included.
    for op in old.iter().rev().filter(|op| op.is_decidable()) {
        by_print.entry(&op.fingerprint).or_default().push(op);
    }
    let mut folded = new.to_vec();
    let mut used: BTreeSet<u32> = BTreeSet::new();
    let mut carried: BTreeSet<u32> = BTreeSet::new();
    for op in folded.iter_mut().filter(|op| op.is_decidable()) {
        let equal = by_print.get_mut(op.fingerprint.as_str()).and_then(Vec::pop);
        if let Some(before) = equal {
            used.insert(before.index);
            carried.insert(op.index);
            carry(before, op);
        }
    }
    for op in folded.iter_mut().filter(|op| op.is_decidable() && !carried.contains(&op.index)) {
        let target = fingerprint_target(&op.op);
        let reworded = spoken.iter().find(|before| {
            !used.contains(&before.index)
                && fingerprint_target(&before.op) == target
                && before.fingerprint != op.fingerprint
        });
        if let Some(before) = reworded {
            used.insert(before.index);
            op.note.clone_from(&before.note);
            op.marker = Some(Marker::Reworded);
        }
    }
    reopen(&mut folded);
    folded
}

/// Takes back carried acceptances whose requirements are not accepted: what they require is new to
/// the person, or was refused.
fn reopen(ops: &mut [ProposalOp]) {
    let accepted: BTreeSet<u32> = ops
        .iter()
        .filter(|op| op.decision == Decision::Accepted || !op.is_decidable())
        .map(|op| op.index)
        .collect();
    let lacks = |op: &ProposalOp| op.requires.iter().any(|need| !accepted.contains(need));
    // `requires` is transitive, so one pass reaches everything.
    for op in ops.iter_mut().filter(|op| op.decision == Decision::Accepted && lacks(op)) {
        op.decision = Decision::Undecided;
        op.decided_at = None;
        op.marker = None;
    }
}

fn carry(before: &ProposalOp, op: &mut ProposalOp) {
    op.note.clone_from(&before.note);
    let known = before.cited_facts();
    let has_news = op.cited_facts().iter().any(|fact| !known.contains(fact));
    if before.decision == Decision::Rejected && has_news {
        return;
    }
    if before.decision != Decision::Undecided {
        op.decision = before.decision;
        op.decided_at = before.decided_at;
        op.marker = Some(Marker::Carried);
    }
}
