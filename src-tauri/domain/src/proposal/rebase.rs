//! A proposal on a document that moved: which operations still fit, which the document already has,
//! and which are in conflict and why. No model is asked; texts decide.

use std::collections::BTreeSet;

use super::select::{Replay, all_fragments};
use super::{Conflict, Marker, ProposalOp, ProposalState};
use crate::delta::{DeltaOp, ElementKind, fragments, is_table, text_hash};
use crate::document::scan::clean_heading;
use crate::document::{Document, Section, to_lf};

/// What became of one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RebaseVerdict {
    /// It fits as it is.
    Clean,
    /// The document already says so.
    AlreadyDone,
    /// It no longer fits.
    Conflict(Conflict),
}

impl RebaseVerdict {
    /// `clean`, `already_done` or `conflict:<why>`.
    #[must_use]
    pub fn word(self) -> String {
        match self {
            Self::Clean => "clean".to_owned(),
            Self::AlreadyDone => "already_done".to_owned(),
            Self::Conflict(why) => format!("conflict:{}", why.word()),
        }
    }
}

/// A proposal on another base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rebased {
    /// All operations: those that fit are recorded anew on the new base, with its ids and hashes;
    /// the others have their marker or conflict.
    pub ops: Vec<ProposalOp>,
    /// What the operations that fit make of the new base.
    pub candidate: Document,
    /// By operation index, for every operation that was looked at.
    pub verdicts: Vec<(u32, RebaseVerdict)>,
}

/// Moves a proposal from the base it was made on to another document. `withdrawn` are facts that have
/// been retracted.
#[must_use]
pub fn rebase(
    ops: &[ProposalOp],
    base: &Document,
    now: &Document,
    withdrawn: &BTreeSet<String>,
) -> Rebased {
    rebase_forced(ops, base, now, withdrawn, None)
}

/// [`rebase`] where one operation is taken as fitting whatever its targets look like by now (a person
/// said so).
pub(super) fn rebase_forced(
    ops: &[ProposalOp],
    base: &Document,
    now: &Document,
    withdrawn: &BTreeSet<String>,
    forced: Option<u32>,
) -> Rebased {
    let mut replay = Replay::new(now);
    let mut out: Vec<ProposalOp> = ops.to_vec();
    let mut conflicts: BTreeSet<u32> = BTreeSet::new();
    let mut verdicts = Vec::new();
    for op in out.iter_mut().filter(|op| op.is_decidable()) {
        let verdict = if op.requires.iter().any(|need| conflicts.contains(need)) {
            RebaseVerdict::Conflict(Conflict::Dependency)
        } else if forced == Some(op.index) {
            RebaseVerdict::Clean
        } else {
            judge(op, &mut replay, base, now, withdrawn)
        };
        let verdict = match verdict {
            RebaseVerdict::Clean if !replay.apply(op) => RebaseVerdict::Conflict(Conflict::Missing),
            verdict => verdict,
        };
        match verdict {
            RebaseVerdict::Clean => record_anew(op, &replay),
            RebaseVerdict::AlreadyDone => {
                op.marker = Some(Marker::AlreadyDone);
                op.conflict = None;
            }
            RebaseVerdict::Conflict(why) => {
                take_present_ids(op, &replay);
                op.conflict = Some(why);
                conflicts.insert(op.index);
            }
        }
        verdicts.push((op.index, verdict));
    }
    Rebased { ops: out, candidate: replay.finish().document, verdicts }
}

/// Where a proposal stands after a rebase or after a conflict was resolved: in conflict while any
/// operation is and nobody dropped it, back in review when none is left.
#[must_use]
pub fn state_after_rebase(state: ProposalState, ops: &[ProposalOp]) -> ProposalState {
    if state.is_terminal() {
        state
    } else if ops.iter().any(ProposalOp::is_unresolved) {
        ProposalState::Conflicted
    } else if state == ProposalState::Conflicted {
        ProposalState::InReview
    } else {
        state
    }
}

/// Writes down what the operation came to on the new base, its own ids included.
fn record_anew(op: &mut ProposalOp, replay: &Replay) {
    op.conflict = None;
    take_present_ids(op, replay);
    if let Some(done) = replay.last() {
        op.assigned_id.clone_from(&done.result.assigned_id);
        op.created_block_ids.clone_from(&done.result.created_block_ids);
        op.block_ids.clone_from(&done.result.block_ids);
        op.merged_into_block_id.clone_from(&done.result.merged_into_block_id);
        op.targets.clone_from(&done.trace.targets);
        op.requires.clone_from(&done.trace.requires);
    }
}

/// Names elements that earlier operations created by the ids that they have on the new base.
fn take_present_ids(op: &mut ProposalOp, replay: &Replay) {
    let mut mapped = op.op.clone();
    let section = |id: &mut String| *id = replay.resolve(op, ElementKind::Section, id);
    let block = |id: &mut String| *id = replay.resolve(op, ElementKind::Block, id);
    match &mut mapped {
        DeltaOp::AppendBlock { section_id, .. }
        | DeltaOp::RemoveSection { section_id }
        | DeltaOp::ReplaceSectionBlocks { section_id, .. }
        | DeltaOp::RenameSection { section_id, .. } => section(section_id),
        DeltaOp::InsertBlock { section_id, after_block_id, .. } => {
            section(section_id);
            after_block_id.iter_mut().for_each(block);
        }
        DeltaOp::ReplaceBlock { section_id, block_id, .. }
        | DeltaOp::RemoveBlock { section_id, block_id } => {
            section(section_id);
            block(block_id);
        }
        DeltaOp::AddSection { after_section_id, .. } => {
            after_section_id.iter_mut().for_each(section);
        }
    }
    let ids: Vec<String> =
        op.targets.iter().map(|target| replay.resolve(op, target.kind, &target.id)).collect();
    for (target, id) in op.targets.iter_mut().zip(ids) {
        target.id = id;
    }
    op.op = mapped;
}

fn judge(
    op: &ProposalOp,
    replay: &mut Replay,
    base: &Document,
    now: &Document,
    withdrawn: &BTreeSet<String>,
) -> RebaseVerdict {
    let verdict = judge_place(op, replay, base, now);
    let cited = op.cited_facts();
    let baseless = !cited.is_empty() && cited.iter().all(|fact| withdrawn.contains(*fact));
    match verdict {
        RebaseVerdict::Clean if baseless => RebaseVerdict::Conflict(Conflict::EvidenceWithdrawn),
        verdict => verdict,
    }
}

const TEXT_CHANGED: RebaseVerdict = RebaseVerdict::Conflict(Conflict::TextChanged);
const MISSING: RebaseVerdict = RebaseVerdict::Conflict(Conflict::Missing);
const MOVED: RebaseVerdict = RebaseVerdict::Conflict(Conflict::Moved);

fn judge_place(
    op: &ProposalOp,
    replay: &mut Replay,
    base: &Document,
    now: &Document,
) -> RebaseVerdict {
    let place = Place { op, replay };
    match &op.op {
        DeltaOp::AppendBlock { section_id, .. } => place.addition(section_id, None),
        DeltaOp::InsertBlock { section_id, after_block_id, .. } => {
            place.addition(section_id, after_block_id.as_deref())
        }
        DeltaOp::ReplaceBlock { section_id, block_id, text } => {
            place.replacement(section_id, block_id, text)
        }
        DeltaOp::RemoveBlock { section_id, block_id } => place.removal(section_id, block_id),
        DeltaOp::RemoveSection { section_id } => match place.section(section_id) {
            None => RebaseVerdict::AlreadyDone,
            Some(s) if place.same_heading(section_id, s) && place.same_blocks(s) => {
                RebaseVerdict::Clean
            }
            Some(_) => TEXT_CHANGED,
        },
        DeltaOp::ReplaceSectionBlocks { section_id, blocks } => match place.section(section_id) {
            None => MISSING,
            Some(section) if place.same_blocks(section) => RebaseVerdict::Clean,
            Some(section) if all_fragments(blocks).is_some_and(|t| says(section, &t)) => {
                RebaseVerdict::AlreadyDone
            }
            Some(_) => TEXT_CHANGED,
        },
        DeltaOp::RenameSection { section_id, new_heading } => match place.section(section_id) {
            None => MISSING,
            Some(s) if s.heading == clean_heading(new_heading) => RebaseVerdict::AlreadyDone,
            Some(s) if place.same_heading(section_id, s) => RebaseVerdict::Clean,
            Some(_) => TEXT_CHANGED,
        },
        DeltaOp::AddSection { heading, blocks, after_section_id, .. } => {
            let texts = all_fragments(blocks).unwrap_or_default();
            if let Some(there) = added_meanwhile(base, now, &clean_heading(heading), &texts) {
                stand_for_section(op, replay, there);
                return RebaseVerdict::AlreadyDone;
            }
            let anchored = after_section_id.as_deref().is_none_or(|id| place.section(id).is_some());
            if anchored { RebaseVerdict::Clean } else { MISSING }
        }
    }
}

/// A section with this heading and these texts that the base did not have.
fn added_meanwhile<'a>(
    base: &Document,
    now: &'a Document,
    heading: &str,
    texts: &[String],
) -> Option<&'a Section> {
    let is_it = |section: &Section| section.heading == heading && says(section, texts);
    now.sections.iter().find(|s| is_it(s) && !base.section(&s.id).is_some_and(is_it))
}

/// Whether the blocks of a section have exactly these texts.
fn says(section: &Section, texts: &[String]) -> bool {
    section.blocks.len() == texts.len()
        && section.blocks.iter().zip(texts).all(|(block, text)| to_lf(&block.text) == *text)
}

fn stand_for_section(op: &ProposalOp, replay: &mut Replay, there: &Section) {
    if let Some(id) = &op.assigned_id {
        replay.stands_for(op.index, ElementKind::Section, id, &there.id);
    }
    for (recorded, block) in op.created_block_ids.iter().zip(&there.blocks) {
        replay.stands_for(op.index, ElementKind::Block, recorded, &block.id);
    }
}

/// An operation's elements on the document as the earlier operations left it.
struct Place<'a> {
    op: &'a ProposalOp,
    replay: &'a Replay,
}

impl<'a> Place<'a> {
    fn section(&self, id: &str) -> Option<&'a Section> {
        self.replay.document().section(&self.replay.resolve(self.op, ElementKind::Section, id))
    }

    fn block(&self, id: &str) -> Option<(&'a Section, &'a crate::document::Block)> {
        self.replay.document().block(&self.replay.resolve(self.op, ElementKind::Block, id))
    }

    /// Whether a text is the one that the operation was made for.
    fn is_as_recorded(&self, kind: ElementKind, id: &str, text: &str) -> bool {
        let mut targets = self.op.targets.iter();
        targets.any(|t| t.kind == kind && t.id == id && t.hash == text_hash(text))
    }

    fn same_heading(&self, id: &str, section: &Section) -> bool {
        self.is_as_recorded(ElementKind::Section, id, &section.heading)
    }

    /// Whether the section holds the recorded blocks, in their order and with their texts.
    fn same_blocks(&self, section: &Section) -> bool {
        let recorded: Vec<_> =
            self.op.targets.iter().filter(|t| t.kind == ElementKind::Block).collect();
        recorded.len() == section.blocks.len()
            && recorded.iter().zip(&section.blocks).all(|(target, block)| {
                let id = self.replay.resolve(self.op, ElementKind::Block, &target.id);
                id == block.id && target.hash == text_hash(&block.text)
            })
    }

    fn addition(&self, section_id: &str, anchor: Option<&str>) -> RebaseVerdict {
        let Some(section) = self.section(section_id) else { return MISSING };
        if let Some(table) = &self.op.merged_into_block_id {
            return match self.block(table) {
                None => MISSING,
                Some((_, block)) if !is_table(&block.text) => TEXT_CHANGED,
                Some(_) => RebaseVerdict::Clean,
            };
        }
        match anchor.map(|anchor| self.block(anchor)) {
            None => RebaseVerdict::Clean,
            Some(None) => MISSING,
            Some(Some((owner, _))) if owner.id == section.id => RebaseVerdict::Clean,
            Some(Some(_)) => MOVED,
        }
    }

    fn replacement(&self, section_id: &str, block_id: &str, text: &str) -> RebaseVerdict {
        let Some((owner, block)) = self.block(block_id) else { return MISSING };
        let texts = fragments(text).unwrap_or_default();
        let at = owner.blocks.iter().position(|b| b.id == block.id).unwrap_or(0);
        let following = owner.blocks[at..].iter().map(|block| to_lf(&block.text));
        let says_so = !texts.is_empty() && following.take(texts.len()).eq(texts.iter().cloned());
        if says_so && !self.is_as_recorded(ElementKind::Block, block_id, &block.text) {
            return RebaseVerdict::AlreadyDone;
        }
        self.object(section_id, block_id, owner, &block.text)
    }

    fn removal(&self, section_id: &str, block_id: &str) -> RebaseVerdict {
        match self.block(block_id) {
            None => RebaseVerdict::AlreadyDone,
            Some((owner, block)) => self.object(section_id, block_id, owner, &block.text),
        }
    }

    fn object(
        &self,
        section_id: &str,
        block_id: &str,
        owner: &Section,
        text: &str,
    ) -> RebaseVerdict {
        if owner.id != self.replay.resolve(self.op, ElementKind::Section, section_id) {
            MOVED
        } else if self.is_as_recorded(ElementKind::Block, block_id, text) {
            RebaseVerdict::Clean
        } else {
            TEXT_CHANGED
        }
    }
}
