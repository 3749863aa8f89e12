//! Fuzzy tags: which tags of a bank a misspelt tag stands for. Resolved once per request against
//! the bank's own tags, so that every part of a run sees the same answer. Never for privacy scopes:
//! a missing `user:alice` reaches `user:alicia`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::tag_group::{Resolve, TagGroup, TagLeaf, leaf_keeps as literal_leaf_keeps, leaves_of};
use crate::tags::{TagSet, TagsMatch};

/// Least likeness at which a tag is a candidate (inclusive).
pub const FLOOR: f64 = 0.45;
/// Most distinct tags in a bank that fuzzy leaves are resolved against.
pub const MAX_VOCABULARY: usize = 5_000;
/// Most combinations of candidates of one `exact` leaf.
pub const MAX_COMBINATIONS: usize = 32;

/// Likeness of two texts from 0 to 1: Jaccard index of their trigrams. Words are runs of letters
/// and digits, lower-cased, each padded with two spaces in front and one behind. Two texts without
/// any word are not alike.
#[must_use]
pub fn similarity(a: &str, b: &str) -> f64 {
    let (a, b) = (trigrams(a), trigrams(b));
    let shared = a.intersection(&b).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { ratio(shared, all) }
}

#[expect(clippy::cast_precision_loss, reason = "counts of trigrams are far below 2^52")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// The set of three-character windows of a text's padded words.
#[must_use]
pub fn trigrams(text: &str) -> BTreeSet<[char; 3]> {
    let lower = text.to_lowercase();
    let mut windows = BTreeSet::new();
    for word in lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let padded: Vec<char> = "  ".chars().chain(word.chars()).chain([' ']).collect();
        windows.extend(padded.windows(3).map(|w| [w[0], w[1], w[2]]));
    }
    windows
}

/// What the fuzzy tags of a request stand for: tag as asked to tags of the bank, sorted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(transparent)]
pub struct Resolved(pub BTreeMap<String, Vec<String>>);

/// Why fuzzy tags cannot be resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FuzzyFault {
    /// More than [`MAX_VOCABULARY`] distinct tags in the bank.
    VocabularyTooLarge,
    /// More than [`MAX_COMBINATIONS`] combinations in an `exact` leaf.
    TooManyExactCandidates,
}

impl FuzzyFault {
    /// The reason's word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::VocabularyTooLarge => "tag_vocabulary_too_large",
            Self::TooManyExactCandidates => "too_many_exact_candidates",
        }
    }
}

/// Whether any leaf of the groups is fuzzy, so that a bank's tags have to be read at all.
#[must_use]
pub fn any_fuzzy(groups: &[TagGroup]) -> bool {
    let mut found = false;
    leaves_of(groups, |_, leaf| found |= leaf.resolve == Resolve::Fuzzy);
    found
}

/// Resolves the fuzzy leaves of `groups` against `pool`, the distinct tags of the bank's memories,
/// mental models and directives. A tag that exists literally stands for itself only.
///
/// # Errors
/// The pool is too large, or an `exact` leaf has too many combinations. A request without fuzzy
/// leaves never fails.
pub fn resolve(groups: &[TagGroup], pool: &TagSet) -> Result<Resolved, FuzzyFault> {
    let mut leaves = Vec::new();
    leaves_of(groups, |_, leaf| {
        if leaf.resolve == Resolve::Fuzzy {
            leaves.push(leaf);
        }
    });
    if leaves.is_empty() {
        return Ok(Resolved::default());
    }
    if pool.len() > MAX_VOCABULARY {
        return Err(FuzzyFault::VocabularyTooLarge);
    }
    let shapes: Vec<(&str, BTreeSet<[char; 3]>)> =
        pool.iter().map(|tag| (tag, trigrams(tag))).collect();
    let mut resolved = Resolved::default();
    for leaf in leaves {
        for tag in &leaf.tags {
            resolved.0.entry(tag.clone()).or_insert_with(|| candidates(tag, pool, &shapes));
        }
        if leaf.mode == TagsMatch::Exact && combinations(leaf, &resolved) > MAX_COMBINATIONS {
            return Err(FuzzyFault::TooManyExactCandidates);
        }
    }
    Ok(resolved)
}

fn candidates(tag: &str, pool: &TagSet, shapes: &[(&str, BTreeSet<[char; 3]>)]) -> Vec<String> {
    if pool.contains(tag) {
        return vec![tag.to_owned()];
    }
    let asked = trigrams(tag);
    shapes
        .iter()
        .filter(|(_, shape)| {
            let shared = asked.intersection(shape).count();
            let all = asked.len() + shape.len() - shared;
            all > 0 && ratio(shared, all) >= FLOOR
        })
        .map(|(tag, _)| (*tag).to_owned())
        .collect()
}

fn combinations(leaf: &TagLeaf, resolved: &Resolved) -> usize {
    sets(leaf, resolved).iter().fold(1_usize, |product, set| product.saturating_mul(set.len()))
}

fn sets<'a>(leaf: &TagLeaf, resolved: &'a Resolved) -> Vec<&'a [String]> {
    leaf.tags
        .iter()
        .map(|tag| resolved.0.get(tag).map_or(&[] as &[String], Vec::as_slice))
        .collect()
}

/// Whether a fuzzy leaf keeps an item. `any*`: a member of any set; `all*`: a member of every set;
/// `exact`: the item's tags are one choice per set. An empty set matches nothing; untagged items
/// follow the mode as always.
#[must_use]
pub fn leaf_keeps(leaf: &TagLeaf, item: &TagSet, resolved: &Resolved) -> bool {
    if leaf.tags.is_empty() {
        return literal_leaf_keeps(leaf.mode, &TagSet::default(), item);
    }
    if item.is_empty() {
        return leaf.mode.keeps_untagged();
    }
    let sets = sets(leaf, resolved);
    let hit = |set: &[String]| set.iter().any(|tag| item.contains(tag));
    match leaf.mode {
        TagsMatch::Any | TagsMatch::AnyStrict => sets.iter().any(|set| hit(set)),
        TagsMatch::All | TagsMatch::AllStrict => sets.iter().all(|set| hit(set)),
        TagsMatch::Exact => choices(leaf, resolved).contains(item),
    }
}

/// The sets of tags that a fuzzy `exact` leaf accepts: one choice per asked tag, in every
/// combination. Empty when one of the tags stands for nothing.
#[must_use]
pub fn choices(leaf: &TagLeaf, resolved: &Resolved) -> BTreeSet<TagSet> {
    let mut done: BTreeSet<Vec<&str>> = BTreeSet::from([Vec::new()]);
    for set in sets(leaf, resolved) {
        done = done
            .iter()
            .flat_map(|chosen| {
                set.iter().map(|tag| {
                    let mut next = chosen.clone();
                    next.push(tag);
                    next
                })
            })
            .collect();
    }
    done.into_iter().map(TagSet::new).collect()
}
