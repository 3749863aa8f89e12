//! What an operation comes to on the document as it stands: an action, nothing, or a reason to skip
//! it. Ids are exact strings; nothing is guessed from a near match.

use super::editor::{Action, Editor, Entry, NewBlock};
use super::text::{HeadingFault, all_fragments, checked_heading, fragments, is_rows};
use super::{DeltaOp, Rules, SkipReason, TextFault, is_table};
use crate::document::{block_id, section_slug, to_lf};

/// A reason and what it is about.
pub(super) type Skip = (SkipReason, Option<String>);

/// What to do.
pub(super) enum Verdict {
    Do(Action),
    Noop,
}

/// Detail of a refusal in an unsay pass: the block rests on facts that were not retracted.
const NOT_SUPPORTED: &str = "not_supported_by_retraction";

pub(super) fn decide(editor: &mut Editor, op: &DeltaOp, rules: &Rules) -> Result<Verdict, Skip> {
    check_allowed(op, rules)?;
    match op {
        DeltaOp::AppendBlock { section_id, text } => {
            let section = find_section(editor, section_id)?;
            let at = editor.document().sections[section].blocks.len();
            insertion(editor, rules, (section, at, false), text)
        }
        DeltaOp::InsertBlock { section_id, after_block_id, text } => {
            let section = find_section(editor, section_id)?;
            let at = match after_block_id {
                None => 0,
                Some(anchor) => find_block_in(editor, section, anchor)? + 1,
            };
            insertion(editor, rules, (section, at, after_block_id.is_some()), text)
        }
        DeltaOp::ReplaceBlock { section_id, block_id, text } => {
            let section = find_section(editor, section_id)?;
            let block = find_block_in(editor, section, block_id)?;
            replacement(editor, rules, section, block, text)
        }
        DeltaOp::RemoveBlock { section_id, block_id } => {
            let section = find_section(editor, section_id)?;
            let block = find_block_in(editor, section, block_id)?;
            check_editable(rules, section_id, &[block_id])?;
            Ok(Verdict::Do(Action::RemoveBlock { section, block }))
        }
        DeltaOp::AddSection { heading, level, blocks, after_section_id, new_id } => addition(
            editor,
            (heading, *level),
            blocks,
            after_section_id.as_deref(),
            new_id.as_deref(),
        ),
        DeltaOp::RemoveSection { section_id } => {
            let section = find_section(editor, section_id)?;
            check_editable(rules, section_id, &ids_of(editor, section))?;
            Ok(Verdict::Do(Action::RemoveSection { section }))
        }
        DeltaOp::ReplaceSectionBlocks { section_id, blocks } => {
            let section = find_section(editor, section_id)?;
            other_blocks(editor, rules, section, blocks)
        }
        DeltaOp::RenameSection { section_id, new_heading } => {
            renaming(editor, rules, section_id, new_heading)
        }
    }
}

fn check_allowed(op: &DeltaOp, rules: &Rules) -> Result<(), Skip> {
    let kind = op.kind();
    if rules.allow.as_ref().is_some_and(|allowed| !allowed.contains(&kind)) {
        return Err((SkipReason::OpNotAllowed, None));
    }
    let needs_sight = !matches!(op, DeltaOp::AppendBlock { .. } | DeltaOp::AddSection { .. });
    match op.section_id().filter(|id| needs_sight && rules.outlined.contains(*id)) {
        Some(section) => Err((SkipReason::TargetNotShown, Some(section.to_owned()))),
        None => Ok(()),
    }
}

fn find_section(editor: &Editor, id: &str) -> Result<usize, Skip> {
    editor.find_section(id).ok_or_else(|| (SkipReason::UnknownSection, Some(id.to_owned())))
}

fn find_block_in(editor: &Editor, section: usize, id: &str) -> Result<usize, Skip> {
    match editor.find_block(id) {
        None => Err((SkipReason::UnknownBlock, Some(id.to_owned()))),
        Some((owner, block)) if owner == section => Ok(block),
        Some((owner, _)) => {
            let owner = editor.document().sections[owner].id.clone();
            Err((SkipReason::BlockInOtherSection, Some(owner)))
        }
    }
}

fn ids_of(editor: &Editor, section: usize) -> Vec<&String> {
    editor.document().sections[section].blocks.iter().map(|block| &block.id).collect()
}

/// Whether the section and these of its blocks may be changed by this pass.
fn check_editable(rules: &Rules, section: &str, blocks: &[&String]) -> Result<(), Skip> {
    let locked = std::iter::once(section)
        .chain(blocks.iter().map(|id| id.as_str()))
        .find(|id| rules.locks.contains(*id));
    if let Some(id) = locked {
        return Err((SkipReason::BlockLocked, Some(id.to_owned())));
    }
    if blocks.iter().any(|id| rules.unsupported.contains(*id)) {
        return Err((SkipReason::OpNotAllowed, Some(NOT_SUPPORTED.to_owned())));
    }
    Ok(())
}

fn skip_text(fault: TextFault) -> Skip {
    let reason = match fault {
        TextFault::Empty => SkipReason::EmptyText,
        TextFault::HeadingInText => SkipReason::HeadingInText,
        TextFault::UnclosedFence => SkipReason::UnclosedFence,
    };
    (reason, None)
}

fn skip_heading(fault: HeadingFault) -> Skip {
    let reason = match fault {
        HeadingFault::Empty => SkipReason::EmptyHeading,
        HeadingFault::Multiline => SkipReason::MultilineHeading,
    };
    (reason, None)
}

fn some_fragments(text: &str) -> Result<Vec<String>, Skip> {
    let found = fragments(text).map_err(skip_text)?;
    if found.is_empty() { Err(skip_text(TextFault::Empty)) } else { Ok(found) }
}

fn claim_blocks(editor: &mut Editor, texts: impl IntoIterator<Item = String>) -> Vec<NewBlock> {
    texts
        .into_iter()
        .map(|text| NewBlock { id: editor.block_ids.claim(&block_id(&text)), text })
        .collect()
}

/// New blocks at a place of a section, or rows joined to the table they would follow. Rows are not
/// joined to a locked table: beside it they change nothing that is locked.
fn insertion(
    editor: &mut Editor,
    rules: &Rules,
    (section, at, named): (usize, usize, bool),
    text: &str,
) -> Result<Verdict, Skip> {
    let mut texts = some_fragments(text)?;
    let place = &editor.document().sections[section];
    let joins = |block: &usize| {
        let table = &place.blocks[*block];
        is_rows(&texts[0])
            && is_table(&table.text)
            && check_editable(rules, &place.id, &[&table.id]).is_ok()
    };
    let table = at.checked_sub(1).filter(|_| texts.len() == 1).filter(joins);
    if let Some(block) = table {
        return Ok(Verdict::Do(Action::Join { section, block, rows: texts.remove(0) }));
    }
    let blocks = claim_blocks(editor, texts);
    Ok(Verdict::Do(Action::Insert { section, at, named, blocks }))
}

fn replacement(
    editor: &mut Editor,
    rules: &Rules,
    section: usize,
    block: usize,
    text: &str,
) -> Result<Verdict, Skip> {
    let place = &editor.document().sections[section];
    let target = &place.blocks[block];
    let texts = some_fragments(text);
    if let Ok([only]) = texts.as_deref()
        && *only == to_lf(&target.text)
    {
        return Ok(Verdict::Noop);
    }
    check_editable(rules, &place.id, &[&target.id])?;
    let mut texts = texts?.into_iter();
    let text = texts.next().unwrap_or_default();
    let more = claim_blocks(editor, texts);
    Ok(Verdict::Do(Action::Replace { section, block, text, more }))
}

fn addition(
    editor: &mut Editor,
    (heading, level): (&str, u8),
    blocks: &[String],
    after: Option<&str>,
    new_id: Option<&str>,
) -> Result<Verdict, Skip> {
    let anchor = match after {
        None => None,
        Some(id) => Some(
            editor
                .find_section(id)
                .ok_or_else(|| (SkipReason::UnknownAnchorSection, Some(id.to_owned())))?,
        ),
    };
    let heading = checked_heading(heading).map_err(skip_heading)?;
    let texts = all_fragments(blocks).map_err(skip_text)?;
    if texts.is_empty() && !blocks.is_empty() {
        return Err(skip_text(TextFault::Empty));
    }
    let wanted = new_id.filter(|id| !id.trim().is_empty()).unwrap_or(&heading);
    let id = editor.section_ids.claim(&section_slug(wanted));
    let blocks = claim_blocks(editor, texts);
    let level = level.clamp(1, 6);
    Ok(Verdict::Do(Action::AddSection { id, heading, level, anchor, blocks }))
}

/// The content of a section anew. A fragment equal to a block of the section keeps that block; each
/// block is kept once.
fn other_blocks(
    editor: &mut Editor,
    rules: &Rules,
    section: usize,
    blocks: &[String],
) -> Result<Verdict, Skip> {
    let place = &editor.document().sections[section];
    let texts = all_fragments(blocks).map_err(skip_text).and_then(|texts| {
        if texts.is_empty() { Err(skip_text(TextFault::Empty)) } else { Ok(texts) }
    });
    let olds: Vec<(String, String)> =
        place.blocks.iter().map(|block| (block.id.clone(), to_lf(&block.text))).collect();
    let kept = texts.as_deref().map(|texts| keep_equal(&olds, texts)).unwrap_or_default();
    let is_same = kept.len() == olds.len()
        && kept.iter().enumerate().all(|(at, old)| *old == Some(at))
        && texts.is_ok();
    if is_same {
        return Ok(Verdict::Noop);
    }
    check_locks_over(rules, &place.id, &olds)?;
    let dropped: Vec<&String> =
        (0..olds.len()).filter(|at| !kept.contains(&Some(*at))).map(|at| &olds[at].0).collect();
    check_editable(rules, &place.id, &dropped)?;
    let entries = texts?
        .into_iter()
        .zip(kept)
        .map(|(text, old)| match old {
            Some(at) => Entry::Keep(olds[at].0.clone()),
            None => Entry::New(NewBlock { id: editor.block_ids.claim(&block_id(&text)), text }),
        })
        .collect();
    Ok(Verdict::Do(Action::ReplaceBlocks { section, entries }))
}

/// For each text, the first unused old block that equals it.
fn keep_equal(olds: &[(String, String)], texts: &[String]) -> Vec<Option<usize>> {
    let mut used = vec![false; olds.len()];
    texts
        .iter()
        .map(|text| {
            let at = (0..olds.len()).find(|at| !used[*at] && olds[*at].1 == *text)?;
            used[at] = true;
            Some(at)
        })
        .collect()
}

/// A locked block bars rewriting its whole section, also where the rewrite would keep it: it could
/// still be moved.
fn check_locks_over(rules: &Rules, section: &str, olds: &[(String, String)]) -> Result<(), Skip> {
    let mut all = std::iter::once(section).chain(olds.iter().map(|old| old.0.as_str()));
    match all.find(|id| rules.locks.contains(*id)) {
        Some(id) => Err((SkipReason::BlockLocked, Some(id.to_owned()))),
        None => Ok(()),
    }
}

fn renaming(
    editor: &Editor,
    rules: &Rules,
    section_id: &str,
    new_heading: &str,
) -> Result<Verdict, Skip> {
    let section = find_section(editor, section_id)?;
    let place = &editor.document().sections[section];
    if place.level == 0 {
        return Err((SkipReason::SectionHasNoHeading, Some(section_id.to_owned())));
    }
    let heading = checked_heading(new_heading).map_err(skip_heading)?;
    if heading == place.heading {
        return Ok(Verdict::Noop);
    }
    check_editable(rules, section_id, &[])?;
    Ok(Verdict::Do(Action::Rename { section, heading }))
}
