//! Keeping locked elements through a full rebuild, which knows nothing of them. (A delta operation
//! on a locked element is skipped; that is decided where operations are.)

use std::collections::HashSet;

use super::editor::{Action, Editor, NewBlock};
use crate::document::{Block, Document, Section};

/// The candidate of a full refresh with the locked elements of the base, byte for byte. A locked
/// block follows the element it followed before, else it ends its section; a section that is gone
/// comes back with its locked blocks alone, behind the section it followed. The candidate must have
/// been reconciled with the base.
#[must_use]
pub fn keep_locked(base: &Document, candidate: &Document, locks: &HashSet<String>) -> Document {
    let mut editor = Editor::new(candidate);
    for (at, section) in base.sections.iter().enumerate() {
        let whole = locks.contains(&section.id);
        let is_locked = |block: &Block| whole || locks.contains(&block.id);
        if !whole && !section.blocks.iter().any(is_locked) {
            continue;
        }
        if editor.find_section(&section.id).is_none() {
            bring_back(&mut editor, base, at);
        }
        for (place, _) in section.blocks.iter().enumerate().filter(|(_, block)| is_locked(block)) {
            put_block(&mut editor, section, place);
        }
    }
    restore_bytes(editor.finish(), base, locks)
}

/// Whether a locked element of the base is gone, elsewhere or of another text in the candidate. What
/// was put beside it does not matter.
#[must_use]
pub fn changes_locked(base: &Document, candidate: &Document, locks: &HashSet<String>) -> bool {
    base.sections.iter().any(|section| {
        let whole = locks.contains(&section.id);
        let heading_moved = || {
            let now = candidate.section(&section.id);
            now.is_none_or(|now| now.raw != section.raw || now.level != section.level)
        };
        let is_other = |block: &Block| {
            let now = candidate.block(&block.id);
            now.is_none_or(|(owner, now)| now.text != block.text || owner.id != section.id)
        };
        let mut locked = section.blocks.iter().filter(|block| whole || locks.contains(&block.id));
        (whole && section.level > 0 && heading_moved()) || locked.any(is_other)
    })
}

/// An empty section under its old heading, behind the nearest section before it that is still there.
fn bring_back(editor: &mut Editor, base: &Document, at: usize) {
    let section = &base.sections[at];
    let anchor = base.sections[..at].iter().rev().find_map(|s| editor.find_section(&s.id));
    let place = match anchor {
        Some(anchor) => editor.place_of_section(Some(anchor), section.level),
        None => {
            let first = editor.document().sections.first();
            usize::from(section.level > 0 && first.is_some_and(|first| first.level == 0))
        }
    };
    editor.put_section(place, Section { blocks: Vec::new(), ..section.clone() });
}

fn put_block(editor: &mut Editor, section: &Section, place: usize) {
    let block = &section.blocks[place];
    if let Some((s, b)) = editor.find_block(&block.id) {
        let owner = &editor.document().sections[s];
        let is_there = owner.id == section.id && b == wanted_place(owner, section, place);
        if is_there {
            return;
        }
        editor.perform(0, Action::RemoveBlock { section: s, block: b });
    }
    let Some(s) = editor.find_section(&section.id) else { return };
    let at = wanted_place(&editor.document().sections[s], section, place);
    editor.block_ids.insert(&block.id);
    let new = NewBlock { id: block.id.clone(), text: crate::document::to_lf(&block.text) };
    editor.perform(0, Action::Insert { section: s, at, named: false, blocks: vec![new] });
}

/// Behind the block it followed, first if it followed the heading, else at the end.
fn wanted_place(now: &Section, was: &Section, place: usize) -> usize {
    let Some(before) = place.checked_sub(1).map(|before| &was.blocks[before].id) else { return 0 };
    match now.blocks.iter().position(|block| block.id == *before) {
        Some(at) => at + 1,
        None => {
            let itself = now.blocks.iter().any(|block| block.id == was.blocks[place].id);
            now.blocks.len() - usize::from(itself)
        }
    }
}

/// Texts and heading lines exactly as they were.
fn restore_bytes(mut kept: Document, base: &Document, locks: &HashSet<String>) -> Document {
    for section in &mut kept.sections {
        if let Some(was) = base.section(&section.id).filter(|was| locks.contains(&was.id)) {
            section.heading.clone_from(&was.heading);
            section.raw.clone_from(&was.raw);
            section.level = was.level;
        }
        for block in &mut section.blocks {
            if let Some((owner, was)) = base.block(&block.id)
                && (locks.contains(&was.id) || locks.contains(&owner.id))
            {
                block.text.clone_from(&was.text);
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{parse, reconcile};

    fn keep(base: &str, candidate: &str, locked: &[&str]) -> String {
        let base = parse(base);
        let locks = locked
            .iter()
            .map(|name| {
                let block = base.blocks().find(|block| block.text == *name);
                block.map_or_else(|| (*name).to_owned(), |block| block.id.clone())
            })
            .collect();
        let candidate = reconcile(&base, parse(candidate));
        let kept = keep_locked(&base, &candidate, &locks);
        let text = kept.render();
        assert!(parse(&text).same_shape(&kept), "{text:?}");
        text
    }

    const BASE: &str = "# A\n\none\n\ntwo\n\nthree\n\n# B\n\nb\n\n# C\n\nc\n";

    #[test]
    fn a_locked_block_keeps_its_text_and_its_place() {
        let changed = "# A\n\none\n\nzwei\n\nthree\n\n# B\n\nb\n\n# C\n\nc\n";
        assert_eq!(keep(BASE, changed, &["two"]), BASE);
        let gone = "# A\n\none\n\nnew\n\n# C\n\nc\n";
        assert_eq!(keep(BASE, gone, &["two"]), "# A\n\none\n\ntwo\n\nnew\n\n# C\n\nc\n");
        let alone = "# A\n\nnew\n\nmore\n\neven more\n\nand more\n";
        let kept = keep(BASE, alone, &["two"]);
        assert!(kept.ends_with("and more\n\ntwo\n"), "{kept}");
        let moved = "# A\n\none\n\nthree\n\n# B\n\nb\n\ntwo\n\n# C\n\nc\n";
        assert_eq!(keep(BASE, moved, &["two"]), BASE);
    }

    #[test]
    fn a_section_comes_back_with_its_locked_blocks_alone() {
        let without = "# A\n\none\n\ntwo\n\nthree\n\n# C\n\nc\n";
        assert_eq!(keep(BASE, without, &["b"]), BASE);
        assert_eq!(keep(BASE, "# C\n\nc", &["two"]), "# A\n\ntwo\n\n# C\n\nc");
        assert_eq!(keep(BASE, "", &["c"]), "# C\n\nc\n");
        assert_eq!(keep("lead\n\n# A\n\na\n", "# A\n\na\n", &["lead"]), "lead\n\n# A\n\na\n");
    }

    #[test]
    fn a_locked_section_keeps_its_heading_line_and_all_its_blocks() {
        let base = "#  A  #\n\none\n\n# B\n\nb\n";
        let kept = keep(base, "# A\n\none, reworded\n\nnew\n\n# B\n\nb\n", &["a"]);
        assert!(kept.starts_with("#  A  #\n\none\n"), "{kept}");
        assert!(kept.contains("new"), "what is beside it may change: {kept}");
    }

    #[test]
    fn nothing_locked_changes_nothing() {
        assert_eq!(keep(BASE, "# Z\n\nz", &[]), "# Z\n\nz");
    }
}
