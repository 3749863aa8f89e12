//! A person's way out of a conflict: keep the document, take the proposal's text all the same, or
//! write another text.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::rebase::rebase_forced;
use super::select::all_fragments;
use super::{Conflict, Decision, EvidenceRole, ProposalOp, Rebased, close_rejection};
use crate::Instant;
use crate::delta::{DeltaOp, fragments};
use crate::document::{Document, block_id, section_slug};

/// How a conflict ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "take", rename_all = "snake_case")]
pub enum Resolution {
    /// The document stays as it is; the operation is refused.
    Mine,
    /// The proposal's change is made on the document as it is now.
    Proposed,
    /// Another text takes the place of the proposal's.
    Edited {
        /// Markdown without headings.
        text: String,
    },
}

/// Why a conflict cannot be ended that way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// No operation with this index is in conflict.
    #[error("the operation is not in conflict")]
    NotInConflict,
    /// What it requires is in conflict; that comes first.
    #[error("an operation it requires is in conflict")]
    RequirementFirst,
    /// There is nothing left that the change could be made on.
    #[error("the change has no place in the document any more")]
    NoPlace,
    /// The edited text cannot stand in a document.
    #[error("the text is empty, holds a heading or leaves a fence open")]
    BadText,
}

/// Ends the conflict of one operation on the document as it is now, and looks at all others again.
/// The proposal must have been rebased on `now`; `before` is the document it was made on (it has the
/// headings of sections that are gone), and `withdrawn` are facts that have been retracted: they keep
/// the other operations that rest on them alone in conflict.
///
/// # Errors
/// The conflict cannot be ended that way; nothing changes.
pub fn resolve_conflict(
    ops: &[ProposalOp],
    index: u32,
    resolution: &Resolution,
    before: &Document,
    now: &Document,
    withdrawn: &BTreeSet<String>,
    at: Instant,
) -> Result<Rebased, ResolveError> {
    let place = ops
        .iter()
        .position(|op| op.index == index && op.conflict.is_some())
        .ok_or(ResolveError::NotInConflict)?;
    let mut ops = ops.to_vec();
    if *resolution == Resolution::Mine {
        for refused in close_rejection(&ops, &BTreeSet::from([index])) {
            for op in ops.iter_mut().filter(|op| op.index == refused) {
                op.decision = Decision::Rejected;
                op.decided_at = Some(at);
            }
        }
        return Ok(rebase_forced(&ops, now, now, withdrawn, None));
    }
    let op = &mut ops[place];
    if op.conflict == Some(Conflict::Dependency) {
        return Err(ResolveError::RequirementFirst);
    }
    let mut next = on_present_document(op, before, now)?;
    if let Resolution::Edited { text } = resolution {
        put_text(&mut next, text)?;
    }
    if op.conflict == Some(Conflict::EvidenceWithdrawn) {
        // What was taken back bears nothing out any more: the text now stands on the person's word.
        op.evidence.retain(|fact| fact.role != EvidenceRole::Cited);
        op.claims.clear();
    }
    op.op = next;
    op.decision = Decision::Accepted;
    op.decided_at = Some(at);
    op.conflict = None;
    op.merged_into_block_id = None;
    record_ids(op, now);
    Ok(rebase_forced(&ops, now, now, withdrawn, Some(index)))
}

/// Whether the proposal's change of an operation in conflict can be made on the document as it is
/// now. `before` has the headings of sections that are gone.
#[must_use]
pub fn can_be_taken(op: &ProposalOp, before: &Document, now: &Document) -> bool {
    op.conflict.is_some_and(|why| why != Conflict::Dependency)
        && on_present_document(op, before, now).is_ok()
}

/// The operation with a place that exists now.
fn on_present_document(
    op: &ProposalOp,
    before: &Document,
    now: &Document,
) -> Result<DeltaOp, ResolveError> {
    let mut next = op.op.clone();
    match &mut next {
        DeltaOp::AppendBlock { section_id, text } => {
            if now.section(section_id).is_none() {
                return add_back(before, section_id, text);
            }
        }
        DeltaOp::InsertBlock { section_id, after_block_id, text } => {
            let anchor = after_block_id.as_deref().and_then(|id| now.block(id));
            match (anchor, now.section(section_id)) {
                (Some((owner, _)), _) => *section_id = owner.id.clone(),
                (None, Some(_)) => {
                    let (section_id, text) = (section_id.clone(), text.clone());
                    return Ok(DeltaOp::AppendBlock { section_id, text });
                }
                (None, None) => return add_back(before, section_id, text),
            }
        }
        DeltaOp::ReplaceBlock { section_id, block_id, text } => {
            match (now.block(block_id), now.section(section_id)) {
                (Some((owner, _)), _) => *section_id = owner.id.clone(),
                (None, Some(_)) => {
                    let (section_id, text) = (section_id.clone(), text.clone());
                    return Ok(DeltaOp::AppendBlock { section_id, text });
                }
                (None, None) => return add_back(before, section_id, text),
            }
        }
        DeltaOp::RemoveBlock { section_id, block_id } => {
            let (owner, _) = now.block(block_id).ok_or(ResolveError::NoPlace)?;
            *section_id = owner.id.clone();
        }
        DeltaOp::ReplaceSectionBlocks { section_id, blocks } => {
            if now.section(section_id).is_none() {
                return add_back(before, section_id, &blocks.join("\n\n"));
            }
        }
        DeltaOp::RemoveSection { section_id } | DeltaOp::RenameSection { section_id, .. } => {
            now.section(section_id).ok_or(ResolveError::NoPlace)?;
        }
        DeltaOp::AddSection { after_section_id, .. } => {
            if after_section_id.as_deref().is_some_and(|id| now.section(id).is_none()) {
                *after_section_id = None;
            }
        }
    }
    Ok(next)
}

/// A text whose section is gone comes back under that section's heading.
fn add_back(before: &Document, section_id: &str, text: &str) -> Result<DeltaOp, ResolveError> {
    let gone = before.section(section_id).filter(|section| section.level > 0);
    let gone = gone.ok_or(ResolveError::NoPlace)?;
    Ok(DeltaOp::AddSection {
        heading: gone.heading.clone(),
        level: gone.level,
        blocks: vec![text.to_owned()],
        after_section_id: None,
        new_id: None,
    })
}

/// Puts a person's text into an operation; a removal becomes a replacement.
pub(super) fn put_text(op: &mut DeltaOp, given: &str) -> Result<(), ResolveError> {
    let good = fragments(given).is_ok_and(|found| !found.is_empty());
    match op {
        DeltaOp::RenameSection { new_heading, .. } => {
            let heading = crate::document::scan::clean_heading(given);
            if heading.is_empty() || given.trim().contains(['\n', '\r']) {
                return Err(ResolveError::BadText);
            }
            *new_heading = heading;
        }
        _ if !good => return Err(ResolveError::BadText),
        DeltaOp::AppendBlock { text, .. }
        | DeltaOp::InsertBlock { text, .. }
        | DeltaOp::ReplaceBlock { text, .. } => *text = given.to_owned(),
        DeltaOp::AddSection { blocks, .. } | DeltaOp::ReplaceSectionBlocks { blocks, .. } => {
            *blocks = vec![given.to_owned()];
        }
        DeltaOp::RemoveBlock { section_id, block_id } => {
            *op = DeltaOp::ReplaceBlock {
                section_id: section_id.clone(),
                block_id: block_id.clone(),
                text: given.to_owned(),
            };
        }
        DeltaOp::RemoveSection { section_id } => {
            *op = DeltaOp::ReplaceSectionBlocks {
                section_id: section_id.clone(),
                blocks: vec![given.to_owned()],
            };
        }
    }
    Ok(())
}

/// Wanted ids for what the operation creates; replaying makes them unique.
fn record_ids(op: &mut ProposalOp, now: &Document) {
    let ids = |texts: &[String]| texts.iter().map(|text| block_id(text)).collect::<Vec<_>>();
    op.fingerprint = super::fingerprint(&op.op);
    op.assigned_id = None;
    op.block_ids = None;
    op.created_block_ids = match &op.op {
        DeltaOp::AppendBlock { text, .. } | DeltaOp::InsertBlock { text, .. } => {
            ids(&fragments(text).unwrap_or_default())
        }
        DeltaOp::ReplaceBlock { text, .. } => {
            ids(fragments(text).unwrap_or_default().get(1..).unwrap_or_default())
        }
        DeltaOp::AddSection { heading, blocks, .. } => {
            op.assigned_id = Some(section_slug(heading));
            ids(&all_fragments(blocks).unwrap_or_default())
        }
        DeltaOp::ReplaceSectionBlocks { section_id, blocks } => {
            let texts = all_fragments(blocks).unwrap_or_default();
            let own = now.section(section_id).map(|s| s.blocks.as_slice()).unwrap_or_default();
            let mut free: Vec<_> = own.iter().collect();
            let mut created = Vec::new();
            let all = texts.iter().map(|text| {
                let kept = free.iter().position(|b| crate::document::to_lf(&b.text) == *text);
                match kept {
                    Some(at) => free.remove(at).id.clone(),
                    None => {
                        created.push(block_id(text));
                        block_id(text)
                    }
                }
            });
            op.block_ids = Some(all.collect());
            created
        }
        DeltaOp::RemoveBlock { .. }
        | DeltaOp::RemoveSection { .. }
        | DeltaOp::RenameSection { .. } => Vec::new(),
    };
    op.targets.clear();
}
