//! Compound tag filters: a list of expressions joined by AND, each a leaf of tags or an `and`,
//! `or`, `not` of expressions. Reading one refuses what is ambiguous. Fuzzy leaves are resolved
//! once, in `fuzzy`; an unresolved fuzzy leaf matches as if its tags were literal.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::FieldFault;
use crate::fuzzy::{self, Resolved};
use crate::tags::{TagSet, TagsMatch, flat_keeps, tags_in_order};

/// Deepest nesting; a leaf at the top has depth 1.
pub const MAX_DEPTH: usize = 8;
/// Most leaves in one filter.
pub const MAX_LEAVES: usize = 200;

/// How the tags of a leaf find tags of the bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Resolve {
    /// As they are written.
    #[default]
    Exact,
    /// By likeness, so that a misspelt tag reaches its neighbour.
    Fuzzy,
}

/// A leaf: tags and how they are held against an item. Unlike a flat filter, a leaf without tags
/// still filters ([`leaf_keeps`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct TagLeaf {
    /// Tags in the order given, in normal form.
    pub tags: Vec<String>,
    /// `any_strict` when it was not stated.
    #[serde(rename = "match")]
    pub mode: TagsMatch,
    /// `exact` when it was not stated.
    pub resolve: Resolve,
}

/// One expression.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(untagged)]
pub enum TagGroup {
    /// Tags.
    Leaf(TagLeaf),
    /// All members hold.
    And {
        /// Never empty.
        and: Vec<TagGroup>,
    },
    /// One member holds.
    Or {
        /// Never empty.
        or: Vec<TagGroup>,
    },
    /// The member does not hold, for untagged items as for tagged ones.
    Not {
        /// What must not hold.
        not: Box<TagGroup>,
    },
}

/// Why a group cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupReason {
    /// An `and` or `or` without members.
    EmptyGroup,
    /// A node that is not exactly one of the four shapes.
    AmbiguousGroup,
    /// A match mode that does not exist.
    UnknownMatch,
    /// A way of resolving that does not exist.
    UnknownResolve,
    /// Deeper than [`MAX_DEPTH`] or more than [`MAX_LEAVES`] leaves.
    GroupTooDeep,
    /// A leaf's tag of blanks alone; dropping it could turn the leaf's meaning round.
    BlankTag,
}

impl GroupReason {
    /// The reason in a request.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::EmptyGroup => "empty_group",
            Self::AmbiguousGroup => "ambiguous_group",
            Self::UnknownMatch => "unknown_match",
            Self::UnknownResolve => "unknown_resolve",
            Self::GroupTooDeep => "group_too_deep",
            Self::BlankTag => "invalid_request",
        }
    }

    /// The code in the fields of a form.
    #[must_use]
    pub fn field_code(self) -> &'static str {
        match self {
            Self::EmptyGroup => "empty_list",
            Self::AmbiguousGroup => "tag_group_shape",
            Self::UnknownMatch | Self::UnknownResolve => "enum",
            Self::GroupTooDeep => "tag_group_size",
            Self::BlankTag => "blank",
        }
    }

    fn message(self) -> String {
        match self {
            Self::EmptyGroup => "A group needs a member.".to_owned(),
            Self::AmbiguousGroup => "Must be exactly one of tags, and, or, not.".to_owned(),
            Self::UnknownMatch => format!("Must be one of {}.", TagsMatch::WORDS.join(", ")),
            Self::UnknownResolve => "Must be one of exact, fuzzy.".to_owned(),
            Self::GroupTooDeep => "At most 8 levels and 200 leaves.".to_owned(),
            Self::BlankTag => "Must not be empty.".to_owned(),
        }
    }
}

/// One fault of a group, with its place in the list that was read, for example `[0].or[1].match`;
/// the place of a filter that is too large is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupFault {
    /// Place below the list.
    pub path: String,
    /// What is wrong.
    pub reason: GroupReason,
}

impl GroupFault {
    /// The fault as one of a form's field, where `list` is the path of the list itself.
    #[must_use]
    pub fn at(&self, list: &str) -> FieldFault {
        FieldFault::new(
            format!("{list}{}", self.path),
            self.reason.field_code(),
            self.reason.message(),
        )
    }
}

/// Reads a list of groups. All faults are reported; an empty list is read as no groups (a stored
/// trigger refuses it on top of this).
///
/// # Errors
/// The faults, in reading order.
pub fn read_groups(list: &[Value]) -> Result<Vec<TagGroup>, Vec<GroupFault>> {
    let mut reader = Reader::default();
    let groups =
        list.iter().enumerate().map(|(i, node)| reader.node(node, &format!("[{i}]"), 1)).collect();
    if reader.leaves > MAX_LEAVES || reader.too_deep {
        reader.faults.push(GroupFault { path: String::new(), reason: GroupReason::GroupTooDeep });
    }
    if reader.faults.is_empty() { Ok(groups) } else { Err(reader.faults) }
}

#[derive(Default)]
struct Reader {
    faults: Vec<GroupFault>,
    leaves: usize,
    too_deep: bool,
}

impl Reader {
    /// Reads one node. What cannot be read becomes an empty leaf, which nobody sees: faults win.
    fn node(&mut self, node: &Value, path: &str, depth: usize) -> TagGroup {
        if depth > MAX_DEPTH {
            self.too_deep = true;
            return nothing();
        }
        let Some(map) = node.as_object() else {
            return self.fault(path, GroupReason::AmbiguousGroup);
        };
        let shapes = ["tags", "and", "or", "not"].map(|key| map.contains_key(key));
        match shapes {
            [true, false, false, false] => self.leaf(map, path),
            _ if map.len() != 1 => self.fault(path, GroupReason::AmbiguousGroup),
            [_, true, _, _] => {
                let and = self.members(&map["and"], &format!("{path}.and"), depth);
                TagGroup::And { and }
            }
            [_, _, true, _] => {
                let or = self.members(&map["or"], &format!("{path}.or"), depth);
                TagGroup::Or { or }
            }
            [_, _, _, true] => {
                let not = self.node(&map["not"], &format!("{path}.not"), depth + 1);
                TagGroup::Not { not: Box::new(not) }
            }
            _ => self.fault(path, GroupReason::AmbiguousGroup),
        }
    }

    fn members(&mut self, list: &Value, path: &str, depth: usize) -> Vec<TagGroup> {
        match list.as_array() {
            Some(list) if !list.is_empty() => list
                .iter()
                .enumerate()
                .map(|(i, node)| self.node(node, &format!("{path}[{i}]"), depth + 1))
                .collect(),
            Some(_) => {
                self.fault(path, GroupReason::EmptyGroup);
                Vec::new()
            }
            None => {
                self.fault(path, GroupReason::AmbiguousGroup);
                Vec::new()
            }
        }
    }

    fn leaf(&mut self, map: &Map<String, Value>, path: &str) -> TagGroup {
        self.leaves += 1;
        if map.keys().any(|key| !["tags", "match", "resolve"].contains(&key.as_str())) {
            return self.fault(path, GroupReason::AmbiguousGroup);
        }
        let tags = match &map["tags"] {
            Value::Null => Vec::new(),
            Value::Array(list) if list.iter().all(Value::is_string) => {
                list.iter().filter_map(Value::as_str).collect()
            }
            _ => return self.fault(path, GroupReason::AmbiguousGroup),
        };
        for (i, _) in tags.iter().enumerate().filter(|(_, tag)| tag.trim().is_empty()) {
            self.fault(&format!("{path}.tags[{i}]"), GroupReason::BlankTag);
        }
        let mode = match map.get("match") {
            None | Some(Value::Null) => Some(TagsMatch::AnyStrict),
            Some(word) => word.as_str().and_then(TagsMatch::from_word),
        };
        let resolve = match map.get("resolve") {
            None | Some(Value::Null) => Some(Resolve::Exact),
            Some(word) => match word.as_str() {
                Some("exact") => Some(Resolve::Exact),
                Some("fuzzy") => Some(Resolve::Fuzzy),
                _ => None,
            },
        };
        if mode.is_none() {
            self.fault(&format!("{path}.match"), GroupReason::UnknownMatch);
        }
        if resolve.is_none() {
            self.fault(&format!("{path}.resolve"), GroupReason::UnknownResolve);
        }
        TagGroup::Leaf(TagLeaf {
            tags: tags_in_order(tags),
            mode: mode.unwrap_or(TagsMatch::AnyStrict),
            resolve: resolve.unwrap_or_default(),
        })
    }

    fn fault(&mut self, path: &str, reason: GroupReason) -> TagGroup {
        self.faults.push(GroupFault { path: path.to_owned(), reason });
        nothing()
    }
}

fn nothing() -> TagGroup {
    TagGroup::Leaf(TagLeaf {
        tags: Vec::new(),
        mode: TagsMatch::AnyStrict,
        resolve: Resolve::Exact,
    })
}

impl<'de> Deserialize<'de> for TagGroup {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let node = Value::deserialize(from)?;
        match read_groups(std::slice::from_ref(&node)) {
            Ok(mut groups) => Ok(groups.remove(0)),
            Err(faults) => Err(serde::de::Error::custom(
                faults.first().map_or("ambiguous_group", |fault| fault.reason.word()),
            )),
        }
    }
}

/// Whether a leaf keeps an item. A leaf without tags is never "no filter": `any` and `exact` keep
/// the untagged, `all` everything, `all_strict` the tagged, `any_strict` nothing.
#[must_use]
pub fn leaf_keeps(mode: TagsMatch, asked: &TagSet, item: &TagSet) -> bool {
    if !asked.is_empty() {
        return flat_keeps(mode, asked, item);
    }
    match mode {
        TagsMatch::Any | TagsMatch::Exact => item.is_empty(),
        TagsMatch::AnyStrict => false,
        TagsMatch::All => true,
        TagsMatch::AllStrict => !item.is_empty(),
    }
}

impl TagGroup {
    /// Whether the expression keeps an item, fuzzy leaves taken literally.
    #[must_use]
    pub fn keeps(&self, item: &TagSet) -> bool {
        self.holds(item, None)
    }

    /// Whether the expression keeps an item, fuzzy leaves taken as `resolved` says.
    #[must_use]
    pub fn keeps_resolved(&self, item: &TagSet, resolved: &Resolved) -> bool {
        self.holds(item, Some(resolved))
    }

    fn holds(&self, item: &TagSet, resolved: Option<&Resolved>) -> bool {
        match self {
            Self::Leaf(leaf) => match resolved {
                Some(resolved) if leaf.resolve == Resolve::Fuzzy => {
                    fuzzy::leaf_keeps(leaf, item, resolved)
                }
                _ => leaf_keeps(leaf.mode, &TagSet::new(&leaf.tags), item),
            },
            Self::And { and } => and.iter().all(|group| group.holds(item, resolved)),
            Self::Or { or } => or.iter().any(|group| group.holds(item, resolved)),
            Self::Not { not } => !not.holds(item, resolved),
        }
    }

    /// Calls `visit` with every leaf and its place below this node.
    pub fn leaves<'a>(&'a self, path: &str, visit: &mut impl FnMut(&str, &'a TagLeaf)) {
        match self {
            Self::Leaf(leaf) => visit(path, leaf),
            Self::And { and } => each(and, &format!("{path}.and"), visit),
            Self::Or { or } => each(or, &format!("{path}.or"), visit),
            Self::Not { not } => not.leaves(&format!("{path}.not"), visit),
        }
    }
}

/// Calls `visit` with every leaf of a list of groups and its place below the list.
pub fn leaves_of<'a>(groups: &'a [TagGroup], mut visit: impl FnMut(&str, &'a TagLeaf)) {
    each(groups, "", &mut visit);
}

fn each<'a>(groups: &'a [TagGroup], path: &str, visit: &mut impl FnMut(&str, &'a TagLeaf)) {
    for (i, group) in groups.iter().enumerate() {
        group.leaves(&format!("{path}[{i}]"), visit);
    }
}

/// A whole tag filter of a request: flat tags and groups, both of which must keep the item.
/// (Groups stand beside flat tags only in the form "untagged scope AND groups".)
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagFilter {
    /// Flat tags; null and empty are the same here.
    pub tags: TagSet,
    /// How the flat tags match.
    pub tags_match: TagsMatch,
    /// Joined by AND; empty means no groups.
    pub groups: Vec<TagGroup>,
}

impl TagFilter {
    /// The filter of a request. `tags` and `tag_groups` may not both be given, even empty.
    ///
    /// # Errors
    /// The reason word: `tags_and_tag_groups`.
    pub fn of_request(
        tags: Option<&[String]>,
        tags_match: TagsMatch,
        groups: Option<Vec<TagGroup>>,
    ) -> Result<Self, &'static str> {
        if tags.is_some() && groups.is_some() {
            return Err("tags_and_tag_groups");
        }
        Ok(Self {
            tags: TagSet::new(tags.unwrap_or_default()),
            tags_match,
            groups: groups.unwrap_or_default(),
        })
    }

    /// Keeps everything.
    #[must_use]
    pub fn none() -> Self {
        Self { tags: TagSet::default(), tags_match: TagsMatch::Any, groups: Vec::new() }
    }

    /// Whether the filter lets everything through by its form alone.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.groups.is_empty() && self.tags.is_empty() && self.tags_match != TagsMatch::Exact
    }

    /// Whether an item passes, fuzzy leaves taken literally.
    #[must_use]
    pub fn keeps(&self, item: &TagSet) -> bool {
        flat_keeps(self.tags_match, &self.tags, item)
            && self.groups.iter().all(|group| group.keeps(item))
    }

    /// Whether an item passes, fuzzy leaves taken as `resolved` says.
    #[must_use]
    pub fn keeps_resolved(&self, item: &TagSet, resolved: &Resolved) -> bool {
        flat_keeps(self.tags_match, &self.tags, item)
            && self.groups.iter().all(|group| group.keeps_resolved(item, resolved))
    }
}
