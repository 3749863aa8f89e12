//! Carrying ids over from one text of a document to the next. Sections are matched by heading and
//! level, blocks by their text, and what was edited in place by its position; everything else is
//! new. Nothing here compares meanings.

use std::collections::{HashMap, HashSet};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::{Block, Document, IdSet, PREAMBLE, Section, block_id, section_slug};

/// Place of a block: index of its section, index within it.
pub type Place = (usize, usize);

/// Which elements of a new text are elements of an old one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Match {
    /// For each section of the new text, the section of the old one.
    pub sections: Vec<Option<usize>>,
    /// From places in the new text to places in the old one.
    pub blocks: HashMap<Place, Place>,
}

/// The new document with the ids of the old one wherever elements match. Other elements get ids that
/// the old document did not have, so that an id never passes from one element to another.
#[must_use]
pub fn reconcile(old: &Document, new: Document) -> Document {
    let found = match_documents(old, &new);
    let mut document = new;
    let mut ids = IdSet::of_sections(old);
    for (at, section) in document.sections.iter_mut().enumerate() {
        section.id = match found.sections[at] {
            Some(from) => old.sections[from].id.clone(),
            None => ids.claim(&fresh_section_id(section)),
        };
    }
    let mut ids = IdSet::of_blocks(old);
    for (s, section) in document.sections.iter_mut().enumerate() {
        for (b, block) in section.blocks.iter_mut().enumerate() {
            block.id = match found.blocks.get(&(s, b)) {
                Some((section, block)) => old.sections[*section].blocks[*block].id.clone(),
                None => ids.claim(&block_id(&block.text)),
            };
        }
    }
    document
}

fn fresh_section_id(section: &Section) -> String {
    if section.level == 0 { PREAMBLE.to_owned() } else { section_slug(&section.heading) }
}

/// Matches the elements of two documents.
#[must_use]
pub fn match_documents(old: &Document, new: &Document) -> Match {
    let mut found = Match { sections: match_sections(old, new), blocks: HashMap::new() };
    match_equal_blocks(old, new, &mut found);
    match_moved_blocks(old, new, &mut found);
    match_edited_blocks(old, new, &mut found);
    found
}

/// Sections with the same slug and level, in order; then equal ones out of order (moved); then, by
/// position between matched neighbours, those of one level that share at least half their blocks.
fn match_sections(old: &Document, new: &Document) -> Vec<Option<usize>> {
    let old_keys: Vec<_> = old.sections.iter().map(section_key).collect();
    let new_keys: Vec<_> = new.sections.iter().map(section_key).collect();
    let mut to_old: Vec<Option<usize>> = vec![None; new_keys.len()];
    let mut used = vec![false; old_keys.len()];
    let in_order = common(&old_keys, &new_keys);
    for (o, n) in &in_order {
        to_old[*n] = Some(*o);
        used[*o] = true;
    }
    for (n, key) in new_keys.iter().enumerate() {
        let free = |o: &usize| !used[*o] && old_keys[*o] == *key;
        if to_old[n].is_none()
            && let Some(o) = (0..old_keys.len()).find(free)
        {
            to_old[n] = Some(o);
            used[o] = true;
        }
    }
    for (old_run, new_run) in runs(&in_order, old_keys.len(), new_keys.len()) {
        let free_old = old_run.filter(|o| !used[*o]).collect::<Vec<_>>();
        let free_new = new_run.filter(|n| to_old[*n].is_none()).collect::<Vec<_>>();
        for (o, n) in free_old.into_iter().zip(free_new) {
            if is_renamed(&old.sections[o], &new.sections[n]) {
                to_old[n] = Some(o);
                used[o] = true;
            }
        }
    }
    to_old
}

fn section_key(section: &Section) -> (String, u8) {
    (section_slug(&section.heading), section.level)
}

/// Same level, and at least half of the blocks of the longer one stand in both.
fn is_renamed(old: &Section, new: &Section) -> bool {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for block in &old.blocks {
        *counts.entry(&block.text).or_default() += 1;
    }
    let mut shared = 0;
    for block in &new.blocks {
        if let Some(left) = counts.get_mut(block.text.as_str()).filter(|left| **left > 0) {
            *left -= 1;
            shared += 1;
        }
    }
    old.level == new.level && 2 * shared >= old.blocks.len().max(new.blocks.len())
}

/// Within matched sections: the longest common subsequence of exact texts.
fn match_equal_blocks(old: &Document, new: &Document, found: &mut Match) {
    for (n, o) in matched_sections(found) {
        let old_texts = texts(&old.sections[o].blocks);
        let new_texts = texts(&new.sections[n].blocks);
        for (ob, nb) in common(&old_texts, &new_texts) {
            found.blocks.insert((n, nb), (o, ob));
        }
    }
}

/// Anywhere: texts that are still unmatched and occur once on either side.
fn match_moved_blocks(old: &Document, new: &Document, found: &mut Match) {
    let taken: HashSet<Place> = found.blocks.values().copied().collect();
    let from = singles(old, |place| !taken.contains(place));
    let to = singles(new, |place| !found.blocks.contains_key(place));
    for (text, new_place) in to {
        if let (Some(new_place), Some(Some(old_place))) = (new_place, from.get(text)) {
            found.blocks.insert(new_place, *old_place);
        }
    }
}

/// The free blocks by text; `None` where a text occurs more than once.
fn singles(document: &Document, is_free: impl Fn(&Place) -> bool) -> HashMap<&str, Option<Place>> {
    let mut all: HashMap<&str, Option<Place>> = HashMap::new();
    for (s, section) in document.sections.iter().enumerate() {
        for (b, block) in section.blocks.iter().enumerate() {
            if is_free(&(s, b)) {
                all.entry(&block.text).and_modify(|place| *place = None).or_insert(Some((s, b)));
            }
        }
    }
    all
}

/// Within matched sections: unmatched runs of equal length between two matched neighbours are the
/// same blocks with new texts. The ends of a section count as neighbours.
fn match_edited_blocks(old: &Document, new: &Document, found: &mut Match) {
    let taken: HashSet<Place> = found.blocks.values().copied().collect();
    for (n, o) in matched_sections(found) {
        let mut pairs: Vec<(usize, usize)> = (0..new.sections[n].blocks.len())
            .filter_map(|nb| found.blocks.get(&(n, nb)).map(|place| (place, nb)))
            .filter(|(place, _)| place.0 == o)
            .map(|(place, nb)| (place.1, nb))
            .collect();
        keep_rising(&mut pairs);
        let lengths = (old.sections[o].blocks.len(), new.sections[n].blocks.len());
        for (old_run, new_run) in runs(&pairs, lengths.0, lengths.1) {
            let free_old: Vec<usize> = old_run.filter(|ob| !taken.contains(&(o, *ob))).collect();
            let free_new: Vec<usize> =
                new_run.filter(|nb| !found.blocks.contains_key(&(n, *nb))).collect();
            if free_old.len() == free_new.len() {
                for (ob, nb) in free_old.into_iter().zip(free_new) {
                    found.blocks.insert((n, nb), (o, ob));
                }
            }
        }
    }
}

/// Drops pairs that step back on the old side (blocks moved within their section).
fn keep_rising(pairs: &mut Vec<(usize, usize)>) {
    let olds: Vec<usize> = pairs.iter().map(|pair| pair.0).collect();
    let mut sorted = olds.clone();
    sorted.sort_unstable();
    let rising: Vec<usize> = common(&olds, &sorted).into_iter().map(|pair| pair.0).collect();
    let mut at = 0;
    pairs.retain(|_| {
        at += 1;
        rising.binary_search(&(at - 1)).is_ok()
    });
}

fn matched_sections(found: &Match) -> Vec<(usize, usize)> {
    found.sections.iter().enumerate().filter_map(|(n, o)| o.map(|o| (n, o))).collect()
}

fn texts(blocks: &[Block]) -> Vec<&str> {
    blocks.iter().map(|block| block.text.as_str()).collect()
}

/// Index pairs of a longest common subsequence, rising on both sides.
pub(crate) fn common<T: std::hash::Hash + Eq + Ord>(old: &[T], new: &[T]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, old, new) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            pairs.extend((0..len).map(|step| (old_index + step, new_index + step)));
        }
    }
    pairs
}

/// The unmatched runs before, between and after rising pairs, as ranges of both sides.
fn runs(
    pairs: &[(usize, usize)],
    old_len: usize,
    new_len: usize,
) -> Vec<(std::ops::Range<usize>, std::ops::Range<usize>)> {
    let mut found = Vec::new();
    let (mut old_from, mut new_from) = (0, 0);
    for (o, n) in pairs.iter().copied().chain([(old_len, new_len)]) {
        found.push((old_from..o, new_from..n));
        (old_from, new_from) = (o + 1, n + 1);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn ids(document: &Document) -> Vec<(String, Vec<String>)> {
        document
            .sections
            .iter()
            .map(|s| (s.id.clone(), s.blocks.iter().map(|b| b.id.clone()).collect()))
            .collect()
    }

    fn id_of(document: &Document, text: &str) -> String {
        document.blocks().find(|block| block.text == text).expect("there").id.clone()
    }

    #[test]
    fn the_same_text_keeps_every_id() {
        let mut old = parse("# A\n\nx\n\nx\n\ny\n");
        old.sections[0].id = "old-name".to_owned();
        old.sections[0].blocks[2].id = "byy".to_owned();
        assert_eq!(ids(&reconcile(&old, parse(&old.render()))), ids(&old));
    }

    #[test]
    fn an_edit_in_place_keeps_its_id_and_an_insertion_is_new() {
        let old = parse("# A\n\none\n\ntwo\n\nthree\n");
        let new = reconcile(&old, parse("# A\n\none\n\nzwei\n\nthree\n\nfour\n"));
        assert_eq!(id_of(&new, "zwei"), id_of(&old, "two"));
        assert_eq!(id_of(&new, "four"), block_id("four"));
    }

    #[test]
    fn a_moved_block_keeps_its_id() {
        let old = parse("# A\n\none\n\ntwo\n\n# B\n\nthree\n");
        let new = reconcile(&old, parse("# A\n\none\n\n# B\n\nthree\n\ntwo\n"));
        assert_eq!(id_of(&new, "two"), id_of(&old, "two"));
    }

    #[test]
    fn a_renamed_section_keeps_its_id_while_half_of_it_stays() {
        let old = parse("# A\n\nx\n\n# B\n\none\n\ntwo\n\n# C\n\nz\n");
        let new = reconcile(&old, parse("# A\n\nx\n\n# Bee\n\none\n\nother\n\n# C\n\nz\n"));
        assert_eq!(new.sections[1].id, "b");
        let new = reconcile(&old, parse("# A\n\nx\n\n# Bee\n\nq\n\nother\n\n# C\n\nz\n"));
        assert_eq!(new.sections[1].id, "bee");
        let new = reconcile(&old, parse("# A\n\nx\n\n## Bee\n\none\n\ntwo\n\n# C\n\nz\n"));
        assert_eq!(new.sections[1].id, "bee", "another level is another section");
    }

    #[test]
    fn a_new_id_never_meets_a_kept_one() {
        let mut old = parse("one\n\ntwo\n");
        old.sections[0].blocks[1].id = block_id("new");
        let new = reconcile(&old, parse("one\n\ntwo\n\nnew\n"));
        assert_eq!(new.sections[0].blocks[2].id, format!("{}-2", block_id("new")));
        let new = reconcile(&old, parse("one\n\nnew\n\nother\n"));
        assert_eq!(
            new.sections[0].blocks[1].id,
            format!("{}-2", block_id("new")),
            "nor a lost one"
        );
    }
}
