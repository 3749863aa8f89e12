//! Ids of sections and blocks: how they are first made and kept unique. Once assigned they are
//! carried along; nothing here derives an id again for an element that has one.

use std::collections::HashSet;

use sha1::{Digest, Sha1};
use unicode_normalization::UnicodeNormalization;

use super::{Document, to_lf};

/// Longest slug, in characters, before a suffix.
const SLUG_LIMIT: usize = 64;

/// The slug of a heading: NFC, lower case, every run of characters that are neither letters nor
/// digits (of any script) turned into one `-`; `section` when nothing is left.
#[must_use]
pub fn section_slug(heading: &str) -> String {
    let folded: String = heading.nfc().flat_map(char::to_lowercase).collect();
    let mut slug = String::new();
    for c in folded.chars() {
        if c.is_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let cut: String = slug.chars().take(SLUG_LIMIT).collect();
    let slug = cut.trim_matches('-');
    if slug.is_empty() { "section".to_owned() } else { slug.to_owned() }
}

/// The first id of a block: `b` and eight hex digits of the SHA-1 of its text with LF line ends.
#[must_use]
pub fn block_id(text: &str) -> String {
    let digest = Sha1::digest(to_lf(text).as_bytes());
    let mut id = String::from("b");
    for byte in digest.iter().take(4) {
        id.push_str(&format!("{byte:02x}"));
    }
    id
}

/// Ids in use. Claiming one that is taken appends `-2`, `-3`, …
#[derive(Debug, Clone, Default)]
pub struct IdSet {
    taken: HashSet<String>,
}

impl IdSet {
    /// The section ids of a document.
    #[must_use]
    pub fn of_sections(document: &Document) -> Self {
        Self { taken: document.sections.iter().map(|section| section.id.clone()).collect() }
    }

    /// The block ids of a document.
    #[must_use]
    pub fn of_blocks(document: &Document) -> Self {
        Self { taken: document.blocks().map(|block| block.id.clone()).collect() }
    }

    /// Whether an id is in use.
    #[must_use]
    pub fn holds(&self, id: &str) -> bool {
        self.taken.contains(id)
    }

    /// How many ids are in use.
    #[must_use]
    pub fn len(&self) -> usize {
        self.taken.len()
    }

    /// Whether no id is in use.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// Marks an id as used.
    pub fn insert(&mut self, id: &str) {
        self.taken.insert(id.to_owned());
    }

    /// Gives an id back.
    pub fn release(&mut self, id: &str) {
        self.taken.remove(id);
    }

    /// The wanted id, or the first free one with a suffix; it is used from now on.
    pub fn claim(&mut self, wanted: &str) -> String {
        let mut id = wanted.to_owned();
        let mut number = 2_u32;
        while self.taken.contains(&id) {
            id = format!("{wanted}-{number}");
            number += 1;
        }
        self.taken.insert(id.clone());
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_keep_letters_of_every_script() {
        assert_eq!(section_slug("Überblick & Ziele"), "überblick-ziele");
        assert_eq!(section_slug("U\u{308}ber"), "über");
        assert_eq!(section_slug("概要"), "概要");
        assert_eq!(section_slug("— ?"), "section");
        assert_eq!(section_slug(&"ab ".repeat(40)).chars().count(), 64);
    }

    #[test]
    fn a_cut_slug_is_trimmed_again() {
        let heading = format!("{} b", "a".repeat(63));
        assert_eq!(section_slug(&heading), "a".repeat(63));
    }

    #[test]
    fn line_ends_do_not_change_a_block_id() {
        assert_eq!(block_id("p\r\nq"), block_id("p\nq"));
        assert_eq!(block_id("same"), "bff339055");
    }
}
