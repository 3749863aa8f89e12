//! Two documents element by element. Elements are the same when they have the same id; a block that
//! moved is a removal in one place and an addition in the other.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::{WordSpan, word_diff};
use crate::delta::DeltaOp;
use crate::document::{Block, Document, Section};
use crate::proposal::{ProposalOp, SelectedOp};

/// What became of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum DiffKind {
    /// The section is new; its blocks follow as added ones.
    SectionAdded,
    /// The section is gone; its blocks follow as removed ones.
    SectionRemoved,
    /// The section has another heading or level.
    SectionRenamed,
    /// The section stands in another place.
    SectionMoved,
    /// The block is new here.
    BlockAdded,
    /// The block is gone from here.
    BlockRemoved,
    /// The block has another text.
    BlockChanged,
    /// Nothing happened to the heading or block.
    Unchanged,
}

/// One heading or block, in reading order; removed ones stand where they were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct DiffEntry {
    /// What became of it.
    pub kind: DiffKind,
    /// The section, or the one that holds the block.
    pub section_id: String,
    /// The block; none for headings.
    pub block_id: Option<String>,
    /// Heading level of the section (the new one, if it has both).
    pub level: u8,
    /// Text or heading before; none if there was none.
    pub old_text: Option<String>,
    /// Text or heading after; none if there is none.
    pub new_text: Option<String>,
    /// For changed blocks and renamed sections: the words that differ.
    pub words: Vec<WordSpan>,
    /// Indexes of the operations responsible, rising.
    pub ops: Vec<u32>,
}

/// What an operation had an effect on, as far as a diff shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpEffect {
    /// The operation.
    pub index: u32,
    /// The section it worked in.
    pub place: Option<String>,
    /// Sections it added, removed or renamed.
    pub sections: HashSet<String>,
    /// Blocks it wrote, removed or put elsewhere.
    pub blocks: HashSet<String>,
}

impl OpEffect {
    /// The effects of the applied operations of a proposal on its candidate.
    #[must_use]
    pub fn of_ops(ops: &[ProposalOp]) -> Vec<Self> {
        ops.iter()
            .filter(|op| op.status == crate::delta::OpStatus::Applied)
            .map(|op| {
                let made = op.created_block_ids.iter().chain(&op.merged_into_block_id);
                Self::new(op, op.assigned_id.as_ref(), made.cloned())
            })
            .collect()
    }

    /// The effects of the operations of a selection, whose ids may have come out otherwise.
    #[must_use]
    pub fn of_selection(ops: &[ProposalOp], selected: &[SelectedOp]) -> Vec<Self> {
        let by_index: HashMap<u32, &ProposalOp> = ops.iter().map(|op| (op.index, op)).collect();
        selected
            .iter()
            .filter_map(|done| {
                let op = by_index.get(&done.index)?;
                let made = done.trace.writes.iter().map(|write| write.block_id.clone());
                Some(Self::new(op, done.result.assigned_id.as_ref(), made))
            })
            .collect()
    }

    fn new(op: &ProposalOp, assigned: Option<&String>, made: impl Iterator<Item = String>) -> Self {
        let mut effect = Self {
            index: op.index,
            place: op.op.section_id().map(str::to_owned).or_else(|| assigned.cloned()),
            sections: assigned.into_iter().cloned().collect(),
            blocks: made.collect(),
        };
        match &op.op {
            DeltaOp::ReplaceBlock { block_id, .. } | DeltaOp::RemoveBlock { block_id, .. } => {
                effect.blocks.insert(block_id.clone());
            }
            DeltaOp::RemoveSection { section_id } => {
                effect.sections.insert(section_id.clone());
                effect.blocks.extend(block_targets(op));
            }
            DeltaOp::ReplaceSectionBlocks { .. } => effect.blocks.extend(block_targets(op)),
            DeltaOp::RenameSection { section_id, .. } => {
                effect.sections.insert(section_id.clone());
            }
            DeltaOp::AppendBlock { .. }
            | DeltaOp::InsertBlock { .. }
            | DeltaOp::AddSection { .. } => {}
        }
        effect
    }
}

fn block_targets(op: &ProposalOp) -> impl Iterator<Item = String> {
    op.targets
        .iter()
        .filter(|target| target.kind == crate::delta::ElementKind::Block)
        .map(|target| target.id.clone())
}

/// The elements of two documents in reading order with what became of them. With effects given,
/// every change names at least one operation and every operation is named at least once.
#[must_use]
pub fn structural(old: &Document, new: &Document, effects: &[OpEffect]) -> Vec<DiffEntry> {
    let mut entries = Vec::new();
    let old_ids: Vec<&str> = old.sections.iter().map(|s| s.id.as_str()).collect();
    let new_ids: Vec<&str> = new.sections.iter().map(|s| s.id.as_str()).collect();
    for step in align(&old_ids, &new_ids) {
        match step {
            Step::Both(o, n) => both(&old.sections[o], &new.sections[n], false, &mut entries),
            Step::Old(o) if new_ids.contains(&old_ids[o]) => {} // told where it stands now
            Step::Old(o) => removed(&old.sections[o], &mut entries),
            Step::New(n) => match old.section(new_ids[n]) {
                Some(before) => both(before, &new.sections[n], true, &mut entries),
                None => added(&new.sections[n], &mut entries),
            },
        }
    }
    name_ops(&mut entries, effects);
    entries
}

enum Step {
    Both(usize, usize),
    Old(usize),
    New(usize),
}

/// Both lists as one, removals before additions where they meet.
fn align(old: &[&str], new: &[&str]) -> Vec<Step> {
    let mut steps = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, old, new) {
        match op {
            DiffOp::Equal { old_index, new_index, len } => {
                steps.extend((0..len).map(|at| Step::Both(old_index + at, new_index + at)));
            }
            DiffOp::Delete { old_index, old_len, .. } => {
                steps.extend((old_index..old_index + old_len).map(Step::Old));
            }
            DiffOp::Insert { new_index, new_len, .. } => {
                steps.extend((new_index..new_index + new_len).map(Step::New));
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                steps.extend((old_index..old_index + old_len).map(Step::Old));
                steps.extend((new_index..new_index + new_len).map(Step::New));
            }
        }
    }
    steps
}

fn both(old: &Section, new: &Section, moved: bool, entries: &mut Vec<DiffEntry>) {
    let renamed = old.heading != new.heading || old.level != new.level;
    if new.level > 0 || old.level > 0 {
        let kind = match (moved, renamed) {
            (true, _) => DiffKind::SectionMoved,
            (false, true) => DiffKind::SectionRenamed,
            (false, false) => DiffKind::Unchanged,
        };
        let words = if renamed { word_diff(&old.heading, &new.heading) } else { Vec::new() };
        entries.push(DiffEntry {
            old_text: Some(old.heading.clone()),
            new_text: Some(new.heading.clone()),
            words,
            ..entry(kind, new, None)
        });
    }
    let old_ids: Vec<&str> = old.blocks.iter().map(|b| b.id.as_str()).collect();
    let new_ids: Vec<&str> = new.blocks.iter().map(|b| b.id.as_str()).collect();
    for step in align(&old_ids, &new_ids) {
        entries.push(match step {
            Step::Both(o, n) => same_block(new, &old.blocks[o], &new.blocks[n]),
            Step::Old(o) => block_removed(old, &old.blocks[o]),
            Step::New(n) => block_added(new, &new.blocks[n]),
        });
    }
}

fn added(section: &Section, entries: &mut Vec<DiffEntry>) {
    let heading = entry(DiffKind::SectionAdded, section, None);
    entries.push(DiffEntry { new_text: Some(section.heading.clone()), ..heading });
    entries.extend(section.blocks.iter().map(|block| block_added(section, block)));
}

fn removed(section: &Section, entries: &mut Vec<DiffEntry>) {
    let heading = entry(DiffKind::SectionRemoved, section, None);
    entries.push(DiffEntry { old_text: Some(section.heading.clone()), ..heading });
    entries.extend(section.blocks.iter().map(|block| block_removed(section, block)));
}

fn same_block(section: &Section, old: &Block, new: &Block) -> DiffEntry {
    let changed = old.text != new.text;
    let kind = if changed { DiffKind::BlockChanged } else { DiffKind::Unchanged };
    DiffEntry {
        old_text: Some(old.text.clone()),
        new_text: Some(new.text.clone()),
        words: if changed { word_diff(&old.text, &new.text) } else { Vec::new() },
        ..entry(kind, section, Some(new))
    }
}

fn block_added(section: &Section, block: &Block) -> DiffEntry {
    let bare = entry(DiffKind::BlockAdded, section, Some(block));
    DiffEntry { new_text: Some(block.text.clone()), ..bare }
}

fn block_removed(section: &Section, block: &Block) -> DiffEntry {
    let bare = entry(DiffKind::BlockRemoved, section, Some(block));
    DiffEntry { old_text: Some(block.text.clone()), ..bare }
}

fn entry(kind: DiffKind, section: &Section, block: Option<&Block>) -> DiffEntry {
    DiffEntry {
        kind,
        section_id: section.id.clone(),
        block_id: block.map(|block| block.id.clone()),
        level: section.level,
        old_text: None,
        new_text: None,
        words: Vec::new(),
        ops: Vec::new(),
    }
}

/// Names the operations behind each change. An operation whose effect a later one undid has no
/// change of its own left; it is named at its section, so that none is out of sight.
fn name_ops(entries: &mut [DiffEntry], effects: &[OpEffect]) {
    for entry in entries.iter_mut() {
        let is_part = |effect: &&OpEffect| match &entry.block_id {
            Some(block) => effect.blocks.contains(block),
            None => effect.sections.contains(&entry.section_id),
        };
        let in_place = |effect: &&OpEffect| effect.place.as_ref() == Some(&entry.section_id);
        if entry.kind != DiffKind::Unchanged {
            entry.ops = indexes(effects.iter().filter(is_part));
            if entry.ops.is_empty() {
                entry.ops = indexes(effects.iter().filter(in_place));
            }
            if entry.ops.is_empty() {
                entry.ops = indexes(effects.iter().take(1));
            }
        }
    }
    let named: HashSet<u32> = entries.iter().flat_map(|entry| entry.ops.iter().copied()).collect();
    for effect in effects.iter().filter(|effect| !named.contains(&effect.index)) {
        let at = entries
            .iter()
            .position(|entry| effect.place.as_ref() == Some(&entry.section_id))
            .unwrap_or(0);
        if let Some(entry) = entries.get_mut(at) {
            entry.ops.push(effect.index);
            entry.ops.sort_unstable();
        }
    }
}

fn indexes<'a>(effects: impl Iterator<Item = &'a OpEffect>) -> Vec<u32> {
    let mut all: Vec<u32> = effects.map(|effect| effect.index).collect();
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{parse, reconcile};

    fn kinds(entries: &[DiffEntry]) -> Vec<(DiffKind, &str)> {
        entries
            .iter()
            .filter(|entry| entry.kind != DiffKind::Unchanged)
            .map(|entry| {
                let text = entry.new_text.as_deref().or(entry.old_text.as_deref());
                (entry.kind, text.unwrap_or_default())
            })
            .collect()
    }

    #[test]
    fn every_kind_of_change_is_told() {
        let old = parse("# A\n\none\n\ntwo\n\n# B\n\nb\n\n# C\n\nc\n\n# D\n\nd\n");
        let new = "# A\n\none\n\nzwei\n\n# D\n\nd\n\n# Bee\n\nb\n\nmore\n\n# New\n\nn\n";
        let new = reconcile(&old, parse(new));
        let entries = structural(&old, &new, &[]);
        let told = kinds(&entries);
        assert!(told.contains(&(DiffKind::BlockChanged, "zwei")), "{told:?}");
        assert!(told.contains(&(DiffKind::SectionRemoved, "C")), "{told:?}");
        assert!(told.contains(&(DiffKind::BlockRemoved, "c")), "{told:?}");
        assert!(told.contains(&(DiffKind::SectionAdded, "New")), "{told:?}");
        assert!(told.contains(&(DiffKind::BlockAdded, "n")), "{told:?}");
    }

    #[test]
    fn a_moved_section_is_told_once() {
        let old = parse("# A\n\na\n\n# B\n\nb\n\n# C\n\nc\n");
        let new = reconcile(&old, parse("# B\n\nb\n\n# C\n\nc\n\n# A\n\na\n"));
        let entries = structural(&old, &new, &[]);
        assert_eq!(kinds(&entries), [(DiffKind::SectionMoved, "A")]);
        assert_eq!(entries.len(), 6);
    }

    #[test]
    fn equal_documents_have_no_changes() {
        let document = parse("x\n\n# A\n\na\n");
        assert!(kinds(&structural(&document, &document, &[])).is_empty());
    }
}
