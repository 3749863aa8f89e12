//! A person's own words in the place of an operation's. The kind of the change, its place and what it
//! hangs on stay; only what it says becomes another text.

use std::collections::BTreeSet;

use super::rebase::rebase_forced;
use super::resolve::put_text;
use super::select::{Replay, all_fragments};
use super::{Decision, ProposalOp, Rebased, ResolveError, fingerprint};
use crate::Instant;
use crate::delta::{DeltaOp, ElementKind, fragments, is_rows, is_table};
use crate::document::{Block, Document, block_id, to_lf};

/// Puts a person's text in the place of an operation's own, which accepts it; without a text the
/// operation says again what was `proposed`. A removal that gets a text becomes a replacement, and a
/// removal again when the text is taken back. All other operations are looked at again over the same
/// base: those that hang on the edited one find what it makes under the same ids.
///
/// # Errors
/// [`ResolveError::BadText`]; [`ResolveError::NoPlace`] when no live operation has this index, or when
/// what was proposed is a removal whose place is gone. Nothing changes then.
pub fn edit_op(
    ops: &[ProposalOp],
    index: u32,
    proposed: &DeltaOp,
    text: Option<&str>,
    base: &Document,
    withdrawn: &BTreeSet<String>,
    at: Instant,
) -> Result<Rebased, ResolveError> {
    let place =
        ops.iter().position(|op| op.index == index && op.is_live()).ok_or(ResolveError::NoPlace)?;
    let mut ops = ops.to_vec();
    let present = &ops[place].op;
    let mut next = match (as_proposed(present, proposed), text) {
        (Some(next), _) => next,
        (None, Some(_)) => present.clone(),
        (None, None) => return Err(ResolveError::NoPlace),
    };
    if let Some(text) = text {
        put_text(&mut next, text)?;
    }
    let mut before = Replay::new(base);
    for earlier in ops[..place].iter().filter(|op| op.is_live()) {
        before.apply(earlier);
    }
    let op = &mut ops[place];
    op.op = next;
    op.fingerprint = fingerprint(&op.op);
    op.decision = Decision::Accepted;
    op.decided_at = Some(at);
    name_blocks(op, &before);
    Ok(rebase_forced(&ops, base, base, withdrawn, Some(index)))
}

/// The operation where it stands now, with the text that was proposed. None when that was a removal
/// and there is nothing to remove any more.
fn as_proposed(present: &DeltaOp, proposed: &DeltaOp) -> Option<DeltaOp> {
    use DeltaOp as O;
    let mut next = present.clone();
    match (&mut next, proposed) {
        (O::ReplaceBlock { section_id, block_id, .. }, O::RemoveBlock { .. }) => {
            let (section_id, block_id) = (section_id.clone(), block_id.clone());
            return Some(O::RemoveBlock { section_id, block_id });
        }
        (O::ReplaceSectionBlocks { section_id, .. }, O::RemoveSection { .. }) => {
            return Some(O::RemoveSection { section_id: section_id.clone() });
        }
        (O::RemoveBlock { .. }, O::RemoveBlock { .. })
        | (O::RemoveSection { .. }, O::RemoveSection { .. }) => {}
        (_, O::RemoveBlock { .. } | O::RemoveSection { .. }) => return None,
        (
            O::AddSection { blocks, .. } | O::ReplaceSectionBlocks { blocks, .. },
            O::AddSection { blocks: were, .. } | O::ReplaceSectionBlocks { blocks: were, .. },
        ) => blocks.clone_from(were),
        (O::AddSection { blocks, .. } | O::ReplaceSectionBlocks { blocks, .. }, was) => {
            *blocks = vec![was.text()];
        }
        (
            O::AppendBlock { text, .. }
            | O::InsertBlock { text, .. }
            | O::ReplaceBlock { text, .. }
            | O::RenameSection { new_heading: text, .. },
            was,
        ) => *text = was.text(),
        (O::RemoveBlock { .. } | O::RemoveSection { .. }, _) => {}
    }
    Some(next)
}

/// Ids of what the operation creates: those that it had, as far as they go, since later operations
/// know them.
fn name_blocks(op: &mut ProposalOp, before: &Replay) {
    let had = std::mem::take(&mut op.created_block_ids);
    op.block_ids = None;
    op.merged_into_block_id = None;
    let section =
        |id: &str| before.document().section(&before.resolve(op, ElementKind::Section, id));
    let mut names = Names { had: had.into_iter(), used: BTreeSet::new() };
    match &op.op {
        DeltaOp::AppendBlock { section_id, text } => {
            let last = section(section_id).and_then(|section| section.blocks.last());
            let joined = last.filter(|last| joins(last, text)).map(|last| last.id.clone());
            op.created_block_ids = names.of_addition(joined.is_some(), text);
            op.merged_into_block_id = joined;
        }
        DeltaOp::InsertBlock { after_block_id, text, .. } => {
            let anchor = after_block_id.as_deref().and_then(|id| {
                before.document().block(&before.resolve(op, ElementKind::Block, id))
            });
            let joined = anchor.filter(|(_, anchor)| joins(anchor, text));
            let joined = joined.map(|(_, anchor)| anchor.id.clone());
            op.created_block_ids = names.of_addition(joined.is_some(), text);
            op.merged_into_block_id = joined;
        }
        DeltaOp::ReplaceBlock { text, .. } => {
            let texts = fragments(text).unwrap_or_default();
            op.created_block_ids = texts.iter().skip(1).map(|text| names.next(text)).collect();
        }
        DeltaOp::AddSection { blocks, .. } => {
            let texts = all_fragments(blocks).unwrap_or_default();
            op.created_block_ids = texts.iter().map(|text| names.next(text)).collect();
        }
        DeltaOp::ReplaceSectionBlocks { section_id, blocks } => {
            let texts = all_fragments(blocks).unwrap_or_default();
            let own = section(section_id).map(|section| section.blocks.as_slice());
            let (all, created) = names.of_content(own.unwrap_or_default(), &texts);
            op.block_ids = Some(all);
            op.created_block_ids = created;
        }
        DeltaOp::RemoveBlock { .. }
        | DeltaOp::RemoveSection { .. }
        | DeltaOp::RenameSection { .. } => {}
    }
}

/// Whether a text becomes rows of a table, by the rule of a fresh operation.
fn joins(block: &Block, text: &str) -> bool {
    let texts = fragments(text).unwrap_or_default();
    matches!(texts.as_slice(), [only] if is_rows(only)) && is_table(&block.text)
}

/// Ids to give, each once.
struct Names {
    had: std::vec::IntoIter<String>,
    used: BTreeSet<String>,
}

impl Names {
    fn next(&mut self, text: &str) -> String {
        let had = self.had.find(|id| !self.used.contains(id));
        let wanted = had.unwrap_or_else(|| block_id(text));
        let suffixed = (2..).map(|n| format!("{wanted}-{n}"));
        let mut free = std::iter::once(wanted.clone()).chain(suffixed);
        let name = free.find(|name| !self.used.contains(name)).unwrap_or(wanted);
        self.used.insert(name.clone());
        name
    }

    fn of_addition(&mut self, is_joined: bool, text: &str) -> Vec<String> {
        let texts = if is_joined { Vec::new() } else { fragments(text).unwrap_or_default() };
        texts.iter().map(|text| self.next(text)).collect()
    }

    /// Ids of all blocks of a section's new content, and of those that are new: a text that stands
    /// there already keeps its block.
    fn of_content(&mut self, own: &[Block], texts: &[String]) -> (Vec<String>, Vec<String>) {
        self.used.extend(own.iter().map(|block| block.id.clone()));
        let mut free: Vec<&Block> = own.iter().collect();
        let mut created = Vec::new();
        let mut all = Vec::new();
        for text in texts {
            let kept = free.iter().position(|block| to_lf(&block.text) == *text);
            let id = match kept {
                Some(at) => free.remove(at).id.clone(),
                None => {
                    created.push(self.next(text));
                    created[created.len() - 1].clone()
                }
            };
            all.push(id);
        }
        (all, created)
    }
}
