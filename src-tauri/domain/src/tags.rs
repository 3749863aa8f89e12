//! Flat tags: what a tag is, how a set of them is kept, and which items a flat filter keeps.
//! Compound filters stand on this and live in `tag_group`. Nothing here asks a bank for its tags.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

/// The form in which tags are stored and compared: NFC, trimmed, case kept. `None` for a tag of
/// blanks alone.
#[must_use]
pub fn normal_tag(tag: &str) -> Option<String> {
    let tag: String = tag.trim().nfc().collect();
    (!tag.is_empty()).then_some(tag)
}

/// Tags in the order given, in normal form, without blanks and repeats: the form that a mental
/// model shows. Matching uses [`TagSet`].
#[must_use]
pub fn tags_in_order<S: AsRef<str>>(tags: impl IntoIterator<Item = S>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    tags.into_iter()
        .filter_map(|tag| normal_tag(tag.as_ref()))
        .filter(|tag| seen.insert(tag.clone()))
        .collect()
}

/// The tags in one text, as programs that keep no lists write them: a JSON list (`["home","tax"]`), or
/// names with commas between them.
#[must_use]
pub fn tags_in_text(text: &str) -> Vec<String> {
    match serde_json::from_str::<Vec<String>>(text.trim()) {
        Ok(listed) => tags_in_order(listed),
        Err(_) => tags_in_order(text.split(',')),
    }
}

/// The known tag that somebody probably meant: another one that differs by case or blanks alone. Both
/// are kept apart as they are written, so this is for pointing it out.
#[must_use]
pub fn written_otherwise<'a>(
    tag: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let bare = |tag: &str| tag.split_whitespace().collect::<String>().to_lowercase();
    let tag = normal_tag(tag)?;
    let other = |known: &&str| *known != tag && bare(known) == bare(&tag);
    known.into_iter().find(other)
}

/// A set of tags in normal form, sorted by code point.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize)]
#[serde(transparent)]
pub struct TagSet(BTreeSet<String>);

impl TagSet {
    /// The set of the given tags; blank ones are dropped.
    #[must_use]
    pub fn new<S: AsRef<str>>(tags: impl IntoIterator<Item = S>) -> Self {
        Self(tags.into_iter().filter_map(|tag| normal_tag(tag.as_ref())).collect())
    }

    /// No tags: the untagged scope.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many tags.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the tag, already in normal form, is one of them.
    #[must_use]
    pub fn contains(&self, tag: &str) -> bool {
        self.0.contains(tag)
    }

    /// The tags in sorted order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether the sets share a tag.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        !self.0.is_disjoint(&other.0)
    }

    /// Whether every tag of `other` is one of these.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        other.0.is_subset(&self.0)
    }

    /// The tags as a sorted list.
    #[must_use]
    pub fn to_vec(&self) -> Vec<String> {
        self.0.iter().cloned().collect()
    }
}

impl<'de> Deserialize<'de> for TagSet {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Vec::<String>::deserialize(from).map(Self::new)
    }
}

impl<S: AsRef<str>> FromIterator<S> for TagSet {
    fn from_iter<I: IntoIterator<Item = S>>(tags: I) -> Self {
        Self::new(tags)
    }
}

/// How the tags of a request are held against the tags of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum TagsMatch {
    /// A shared tag, or no tags on the item.
    Any,
    /// Every asked tag, or no tags on the item.
    All,
    /// A shared tag.
    AnyStrict,
    /// Every asked tag.
    AllStrict,
    /// The very same set.
    Exact,
}

impl TagsMatch {
    /// All five, in the order in which they are offered.
    pub const ALL: [Self; 5] =
        [Self::Any, Self::All, Self::AnyStrict, Self::AllStrict, Self::Exact];
    /// The words of [`Self::ALL`].
    pub const WORDS: [&str; 5] = ["any", "all", "any_strict", "all_strict", "exact"];

    /// The word of the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::All => "all",
            Self::AnyStrict => "any_strict",
            Self::AllStrict => "all_strict",
            Self::Exact => "exact",
        }
    }

    /// The mode of a word of the wire.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.word() == word)
    }

    /// Whether an item without tags passes a non-empty request.
    #[must_use]
    pub fn keeps_untagged(self) -> bool {
        matches!(self, Self::Any | Self::All)
    }
}

/// Whether a flat filter keeps an item. An empty request is no filter, save for `exact`, where it
/// is the untagged scope.
#[must_use]
pub fn flat_keeps(mode: TagsMatch, asked: &TagSet, item: &TagSet) -> bool {
    match (asked.is_empty(), item.is_empty()) {
        (true, _) if mode != TagsMatch::Exact => true,
        (true, untagged) => untagged,
        (false, true) => mode.keeps_untagged(),
        (false, false) => match mode {
            TagsMatch::Any | TagsMatch::AnyStrict => item.overlaps(asked),
            TagsMatch::All | TagsMatch::AllStrict => item.covers(asked),
            TagsMatch::Exact => item == asked,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_form_folds_composition_and_blanks_but_not_case() {
        assert_eq!(normal_tag(" cafe\u{301} "), Some("café".to_owned()));
        assert_eq!(normal_tag(" \t"), None);
        assert_ne!(normal_tag("Team"), normal_tag("team"));
        assert_eq!(tags_in_order(["b", "a ", "b", " "]), ["b", "a"]);
    }
}
