//! A person's word on operations, with what comes along: accepting one accepts all it requires,
//! refusing one refuses all that require it.

use serde::{Deserialize, Serialize};

use super::{Decision, Marker, ProposalOp};
use crate::Instant;

/// A decision about one operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct OpDecision {
    /// The operation.
    pub op_id: String,
    /// The word.
    pub decision: Decision,
    /// A note to go with it; none leaves the note as it is, an empty one removes it.
    #[serde(default)]
    pub note: Option<String>,
}

/// Why a decision cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecideError {
    /// The proposal has no such operation.
    #[error("there is no operation {0}")]
    UnknownOp(String),
    /// The operation was skipped, had nothing to do, or is already in the document.
    #[error("operation {0} cannot be decided")]
    NotDecidable(String),
    /// The operation, or one it requires, no longer fits the document.
    #[error("operation {0} is in conflict")]
    InConflict(String),
}

/// The operations after some decisions, taken in order.
///
/// # Errors
/// The first decision that cannot be taken; then nothing is changed.
pub fn decide_ops(
    ops: &[ProposalOp],
    decisions: &[OpDecision],
    at: Instant,
) -> Result<Vec<ProposalOp>, DecideError> {
    let mut ops = ops.to_vec();
    for word in decisions {
        let place = ops
            .iter()
            .position(|op| op.op_id == word.op_id)
            .ok_or_else(|| DecideError::UnknownOp(word.op_id.clone()))?;
        if !ops[place].is_decidable() {
            return Err(DecideError::NotDecidable(word.op_id.clone()));
        }
        if word.decision == Decision::Accepted && ops[place].conflict.is_some() {
            return Err(DecideError::InConflict(word.op_id.clone()));
        }
        if let Some(note) = &word.note {
            ops[place].note = (!note.trim().is_empty()).then(|| note.clone());
        }
        say(&mut ops[place], word.decision, at);
        carry_along(&mut ops, place, word.decision, at);
    }
    Ok(ops)
}

fn say(op: &mut ProposalOp, decision: Decision, at: Instant) {
    op.decision = decision;
    op.decided_at = (decision != Decision::Undecided).then_some(at);
    if op.marker != Some(Marker::AlreadyDone) {
        op.marker = None;
    }
}

fn carry_along(ops: &mut [ProposalOp], place: usize, decision: Decision, at: Instant) {
    let index = ops[place].index;
    let required = ops[place].requires.clone();
    for op in ops.iter_mut().filter(|op| op.is_decidable()) {
        let depends = op.requires.contains(&index);
        let follows = match decision {
            Decision::Accepted => required.contains(&op.index) && op.decision != Decision::Accepted,
            Decision::Rejected => depends && op.decision != Decision::Rejected,
            // What depends on it can no longer stay accepted; a refusal stands.
            Decision::Deferred | Decision::Undecided => {
                depends && op.decision == Decision::Accepted
            }
        };
        if follows {
            say(op, decision, at);
        }
    }
}
