//! Selections of a proposal's operations: which ones come along, and the document that a closed
//! selection makes of the base. Nothing that was decided when the proposal was made is decided again.

use std::collections::{BTreeSet, HashMap};

use super::ProposalOp;
use crate::delta::editor::{Action, Editor, Entry, NewBlock};
use crate::delta::{DeltaOp, ElementKind, OpResult, OpStatus, OpTrace, fragments, recorded};
use crate::document::Document;

/// The chosen operations and everything they require. Operations that were not applied, that the
/// document already has, or that are in conflict play no part.
#[must_use]
pub fn close_selection(ops: &[ProposalOp], chosen: &BTreeSet<u32>) -> BTreeSet<u32> {
    let mut closed = BTreeSet::new();
    for op in ops.iter().rev().filter(|op| op.is_live()) {
        if chosen.contains(&op.index) || closed.contains(&op.index) {
            closed.insert(op.index);
            let live = |need: &&u32| ops.iter().any(|op| op.index == **need && op.is_live());
            closed.extend(op.requires.iter().filter(live));
        }
    }
    closed
}

/// The refused operations and everything that requires one of them.
#[must_use]
pub fn close_rejection(ops: &[ProposalOp], refused: &BTreeSet<u32>) -> BTreeSet<u32> {
    let mut closed = BTreeSet::new();
    for op in ops.iter().filter(|op| op.is_decidable()) {
        let needs_refused = op.requires.iter().any(|need| closed.contains(need));
        if refused.contains(&op.index) || needs_refused {
            closed.insert(op.index);
        }
    }
    closed
}

/// An operation of a selection as it was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedOp {
    /// Its place in the proposal.
    pub index: u32,
    /// Ids as they came out; a recorded id that is still taken gets the next free suffix.
    pub result: OpResult,
    /// What it touched and wrote.
    pub trace: OpTrace,
}

/// What a selection makes of the base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selected {
    /// The document.
    pub document: Document,
    /// The operations in their original order.
    pub ops: Vec<SelectedOp>,
    /// Operations that could not be applied; always empty for a closed selection on its base.
    pub failed: Vec<u32>,
}

/// Applies a selection to the base. The selection is closed first, so a caller cannot leave out what
/// an operation requires.
#[must_use]
pub fn apply_selection(base: &Document, ops: &[ProposalOp], chosen: &BTreeSet<u32>) -> Selected {
    let closed = close_selection(ops, chosen);
    let mut replay = Replay::new(base);
    for op in ops.iter().filter(|op| closed.contains(&op.index)) {
        replay.apply(op);
    }
    replay.finish()
}

/// Applying recorded operations to a document, one by one.
pub(super) struct Replay {
    editor: Editor,
    /// Ids as recorded, by the operation that created the element, to ids as they came out.
    actual: HashMap<(u32, ElementKind, String), String>,
    ops: Vec<SelectedOp>,
    failed: Vec<u32>,
}

impl Replay {
    pub(super) fn new(base: &Document) -> Self {
        Self {
            editor: Editor::new(base),
            actual: HashMap::new(),
            ops: Vec::new(),
            failed: Vec::new(),
        }
    }

    pub(super) fn document(&self) -> &Document {
        self.editor.document()
    }

    /// The operation that was applied last.
    pub(super) fn last(&self) -> Option<&SelectedOp> {
        self.ops.last()
    }

    pub(super) fn finish(self) -> Selected {
        Selected { document: self.editor.finish(), ops: self.ops, failed: self.failed }
    }

    /// Takes an element that stands for a recorded one (an addition that the document already has).
    pub(super) fn stands_for(&mut self, op: u32, kind: ElementKind, recorded: &str, id: &str) {
        self.actual.insert((op, kind, recorded.to_owned()), id.to_owned());
    }

    /// Applies one operation. False if its place is not there.
    pub(super) fn apply(&mut self, op: &ProposalOp) -> bool {
        let Some(action) = self.action(op) else {
            self.failed.push(op.index);
            return false;
        };
        let word = Some(op.op.kind().word().to_owned());
        let mut result = OpResult::new(op.index, word, OpStatus::Applied);
        recorded(&self.editor, &action, &mut result);
        let (trace, closed) = self.editor.perform(op.index, action);
        result.closed_fence_in_block_id = closed;
        self.ops.push(SelectedOp { index: op.index, result, trace });
        true
    }

    /// The id that a recorded id of an operation means now.
    pub(super) fn resolve(&self, op: &ProposalOp, kind: ElementKind, id: &str) -> String {
        let target = op.targets.iter().find(|target| target.kind == kind && target.id == id);
        target
            .and_then(|target| target.created_by)
            .and_then(|creator| self.actual.get(&(creator, kind, id.to_owned())))
            .map_or_else(|| id.to_owned(), Clone::clone)
    }

    fn section(&self, op: &ProposalOp, id: &str) -> Option<usize> {
        self.editor.find_section(&self.resolve(op, ElementKind::Section, id))
    }

    fn block(&self, op: &ProposalOp, id: &str) -> Option<(usize, usize)> {
        self.editor.find_block(&self.resolve(op, ElementKind::Block, id))
    }

    fn block_in(&self, op: &ProposalOp, section: usize, id: &str) -> Option<usize> {
        self.block(op, id).filter(|place| place.0 == section).map(|place| place.1)
    }

    fn new_blocks(&mut self, op: &ProposalOp, texts: Vec<String>, ids: &[String]) -> Vec<NewBlock> {
        texts
            .into_iter()
            .zip(ids)
            .map(|(text, recorded)| {
                let id = self.editor.block_ids.claim(recorded);
                self.stands_for(op.index, ElementKind::Block, recorded, &id);
                NewBlock { id, text }
            })
            .collect()
    }

    fn action(&mut self, op: &ProposalOp) -> Option<Action> {
        match &op.op {
            DeltaOp::AppendBlock { section_id, text } => {
                let section = self.section(op, section_id)?;
                let at = self.document().sections[section].blocks.len();
                self.insertion(op, section, at, false, text)
            }
            DeltaOp::InsertBlock { section_id, after_block_id, text } => {
                let section = self.section(op, section_id)?;
                let at = match after_block_id {
                    Some(_) if op.merged_into_block_id.is_some() => 0,
                    Some(anchor) => self.block_in(op, section, anchor)? + 1,
                    None => 0,
                };
                self.insertion(op, section, at, after_block_id.is_some(), text)
            }
            DeltaOp::ReplaceBlock { section_id, block_id, text } => {
                let section = self.section(op, section_id)?;
                let block = self.block_in(op, section, block_id)?;
                let mut texts = fragments(text).ok()?;
                let rest = texts.split_off(1.min(texts.len()));
                let text = texts.pop()?;
                let more = self.new_blocks(op, rest, &op.created_block_ids);
                Some(Action::Replace { section, block, text, more })
            }
            DeltaOp::RemoveBlock { section_id, block_id } => {
                let section = self.section(op, section_id)?;
                let block = self.block_in(op, section, block_id)?;
                Some(Action::RemoveBlock { section, block })
            }
            DeltaOp::AddSection { level, blocks, after_section_id, heading, .. } => {
                let anchor = match after_section_id {
                    None => None,
                    Some(id) => Some(self.section(op, id)?),
                };
                let heading = crate::document::scan::clean_heading(heading);
                let wanted = op.assigned_id.as_deref()?;
                let id = self.editor.section_ids.claim(wanted);
                self.stands_for(op.index, ElementKind::Section, wanted, &id);
                let texts = all_fragments(blocks)?;
                let blocks = self.new_blocks(op, texts, &op.created_block_ids);
                Some(Action::AddSection {
                    id,
                    heading,
                    level: (*level).clamp(1, 6),
                    anchor,
                    blocks,
                })
            }
            DeltaOp::RemoveSection { section_id } => {
                Some(Action::RemoveSection { section: self.section(op, section_id)? })
            }
            DeltaOp::ReplaceSectionBlocks { section_id, blocks } => {
                let section = self.section(op, section_id)?;
                let entries = self.entries(op, section, all_fragments(blocks)?)?;
                Some(Action::ReplaceBlocks { section, entries })
            }
            DeltaOp::RenameSection { section_id, new_heading } => Some(Action::Rename {
                section: self.section(op, section_id)?,
                heading: crate::document::scan::clean_heading(new_heading),
            }),
        }
    }

    fn insertion(
        &mut self,
        op: &ProposalOp,
        section: usize,
        at: usize,
        named: bool,
        text: &str,
    ) -> Option<Action> {
        let mut texts = fragments(text).ok()?;
        if let Some(table) = &op.merged_into_block_id {
            // The table may stand elsewhere by now; the rows belong to it all the same.
            let (section, block) = self.block(op, table)?;
            return Some(Action::Join { section, block, rows: texts.pop()? });
        }
        let blocks = self.new_blocks(op, texts, &op.created_block_ids);
        Some(Action::Insert { section, at, named, blocks })
    }

    /// The content of a section with the recorded ids: kept blocks stay, new ones are made.
    fn entries(
        &mut self,
        op: &ProposalOp,
        section: usize,
        texts: Vec<String>,
    ) -> Option<Vec<Entry>> {
        let recorded = op.block_ids.as_ref()?;
        let present: Vec<String> =
            self.document().sections[section].blocks.iter().map(|b| b.id.clone()).collect();
        let mut kept: HashMap<&String, String> = HashMap::new();
        for id in recorded.iter().filter(|id| !op.created_block_ids.contains(id)) {
            let now = self.resolve(op, ElementKind::Block, id);
            if present.contains(&now) {
                kept.insert(id, now);
            }
        }
        // Ids of blocks that go are free for the recorded new ones, unless the batch made them.
        let going = present.iter().filter(|id| !kept.values().any(|kept| kept == *id));
        for id in going {
            if !self.editor.is_created(ElementKind::Block, id) {
                self.editor.block_ids.release(id);
            }
        }
        let mut entries = Vec::with_capacity(recorded.len());
        for (id, text) in recorded.iter().zip(texts) {
            match kept.remove(id) {
                Some(now) => entries.push(Entry::Keep(now)),
                None => {
                    let new = self.new_blocks(op, vec![text], std::slice::from_ref(id));
                    entries.extend(new.into_iter().map(Entry::New));
                }
            }
        }
        Some(entries)
    }
}

pub(super) fn all_fragments(texts: &[String]) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for text in texts {
        all.extend(fragments(text).ok()?);
    }
    Some(all)
}
