//! A person's edited version of a proposal: which operations it still carries out, and which blocks
//! are now the person's.

use std::collections::BTreeSet;

use super::ProposalOp;
use crate::delta::{DeltaOp, ElementKind};
use crate::document::{Document, parse, reconcile};

/// What a draft comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftOutcome {
    /// The draft with the ids of the candidate wherever elements match.
    pub document: Document,
    /// Indexes of operations whose effect is still there, untouched or reworded.
    pub accepted: BTreeSet<u32>,
    /// Indexes of operations whose effect is gone.
    pub rejected: BTreeSet<u32>,
    /// Blocks that the person wrote or changed.
    pub person_blocks: Vec<String>,
}

/// Reads a draft against what the operations made of the base (the candidate, or the selection that
/// the draft began with).
#[must_use]
pub fn decide_draft(
    base: &Document,
    candidate: &Document,
    ops: &[ProposalOp],
    draft: &str,
) -> DraftOutcome {
    let document = reconcile(candidate, parse(draft));
    let texts = Texts { base, candidate, draft: &document };
    let (accepted, rejected): (Vec<&ProposalOp>, Vec<&ProposalOp>) =
        ops.iter().filter(|op| op.is_live()).partition(|op| texts.survives(op));
    let person_blocks = document
        .blocks()
        .filter(|block| candidate.block(&block.id).is_none_or(|(_, was)| was.text != block.text))
        .map(|block| block.id.clone())
        .collect();
    DraftOutcome {
        accepted: accepted.iter().map(|op| op.index).collect(),
        rejected: rejected.iter().map(|op| op.index).collect(),
        person_blocks,
        document,
    }
}

struct Texts<'a> {
    base: &'a Document,
    candidate: &'a Document,
    draft: &'a Document,
}

impl Texts<'_> {
    /// Whether any part of the operation's effect is left. An effect that a later operation already
    /// undid in the candidate says nothing; an operation with no other effect counts as surviving.
    fn survives(&self, op: &ProposalOp) -> bool {
        let mut parts = self.parts(op).into_iter().flatten().peekable();
        parts.peek().is_none() || parts.any(|part| part)
    }

    fn parts(&self, op: &ProposalOp) -> Vec<Option<bool>> {
        let mut parts: Vec<Option<bool>> =
            op.created_block_ids.iter().map(|id| self.is_written(id)).collect();
        parts.extend(op.merged_into_block_id.iter().map(|id| self.is_written(id)));
        match &op.op {
            DeltaOp::ReplaceBlock { block_id, .. } => parts.push(self.is_written(block_id)),
            DeltaOp::RemoveBlock { block_id, .. } => parts.push(self.is_removed(block_id)),
            DeltaOp::RemoveSection { .. } | DeltaOp::ReplaceSectionBlocks { .. } => {
                parts.extend(self.removed_blocks(op));
                if let DeltaOp::RemoveSection { section_id } = &op.op
                    && parts.is_empty()
                    && self.candidate.section(section_id).is_none()
                {
                    parts.push(Some(self.draft.section(section_id).is_none()));
                }
            }
            DeltaOp::RenameSection { section_id, .. } => parts.push(self.is_renamed(section_id)),
            DeltaOp::AddSection { .. } => {
                let added = op.assigned_id.as_ref();
                let there = added.filter(|id| self.candidate.section(id).is_some());
                parts.extend(there.map(|id| Some(self.draft.section(id).is_some())));
            }
            DeltaOp::AppendBlock { .. } | DeltaOp::InsertBlock { .. } => {}
        }
        parts
    }

    /// Whether the draft still has a block that was written, and not its old text again.
    fn is_written(&self, id: &str) -> Option<bool> {
        let (_, made) = self.candidate.block(id)?;
        let Some((_, now)) = self.draft.block(id) else { return Some(false) };
        let was = self.base.block(id).map(|(_, block)| &block.text);
        Some(now.text == made.text || Some(&now.text) != was)
    }

    /// Whether a removed block is still gone: its text has not come back as a block of its own.
    fn is_removed(&self, id: &str) -> Option<bool> {
        let (_, was) = self.base.block(id)?;
        if self.candidate.block(id).is_some() {
            return None; // put back by another operation
        }
        let mut new = self.draft.blocks().filter(|b| self.candidate.block(&b.id).is_none());
        Some(!new.any(|block| block.text == was.text))
    }

    fn removed_blocks(&self, op: &ProposalOp) -> Vec<Option<bool>> {
        op.targets
            .iter()
            .filter(|target| target.kind == ElementKind::Block && target.created_by.is_none())
            .map(|target| self.is_removed(&target.id))
            .filter(Option::is_some)
            .collect()
    }

    fn is_renamed(&self, id: &str) -> Option<bool> {
        let was = self.base.section(id).map(|section| &section.heading);
        let made = &self.candidate.section(id)?.heading;
        let Some(now) = self.draft.section(id) else { return Some(false) };
        Some(now.heading == *made || Some(&now.heading) != was)
    }
}
