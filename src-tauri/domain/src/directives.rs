//! Which directives a run obeys and which items it may read. An unscoped run may read everything
//! but obeys global rules only; that asymmetry is intended. Nothing here loads either.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fuzzy::Resolved;
use crate::tag_group::TagGroup;
use crate::tags::{TagSet, TagsMatch, flat_keeps};
use crate::trace::{DirectiveRef, HeldBackDirective, HeldBackReason};
use crate::{DirectiveId, Instant};

/// A rule of the bank's owner for every answer in its scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Directive {
    /// Its id.
    pub id: DirectiveId,
    /// Its name; may be blank.
    pub name: String,
    /// The rule; never blank.
    pub content: String,
    /// Higher first.
    pub priority: i32,
    /// Whether it is switched on.
    pub is_active: bool,
    /// Its tags; none for a global rule.
    pub tags: Vec<String>,
    /// When it was made.
    pub created_at: Instant,
    /// When it was last changed.
    pub updated_at: Instant,
}

/// The tag scope of a run. Tags and groups are never both given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunScope {
    /// Tags asked for; empty for none.
    pub tags: TagSet,
    /// How they are held against an item.
    pub tags_match: TagsMatch,
    /// Expressions joined by AND; empty for none.
    pub tag_groups: Vec<TagGroup>,
    /// What fuzzy leaves of the groups stand for.
    pub resolved: Resolved,
}

impl Default for RunScope {
    fn default() -> Self {
        Self {
            tags: TagSet::default(),
            tags_match: TagsMatch::Any,
            tag_groups: Vec::new(),
            resolved: Resolved::default(),
        }
    }
}

impl RunScope {
    fn satisfies_groups(&self, item: &TagSet) -> bool {
        self.tag_groups.iter().all(|group| group.keeps_resolved(item, &self.resolved))
    }

    /// Whether the run reads everything.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.tags.is_empty() && self.tag_groups.is_empty() && self.tags_match != TagsMatch::Exact
    }
}

/// Whether a run may read a fact, observation or mental model with these tags. Beside groups only
/// `exact` counts: untagged and satisfying them.
#[must_use]
pub fn item_visible(item: &TagSet, scope: &RunScope) -> bool {
    flat_keeps(scope.tags_match, &scope.tags, item) && scope.satisfies_groups(item)
}

/// Which directives a run asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DirectiveReach {
    /// Untagged ones and those that fit its scope.
    #[default]
    Scoped,
    /// Every active one, whatever its tags.
    All,
}

fn applies(tags: &TagSet, scope: &RunScope) -> bool {
    if tags.is_empty() {
        true
    } else if !scope.tag_groups.is_empty() {
        scope.satisfies_groups(tags)
    } else {
        !scope.tags.is_empty() && flat_keeps(scope.tags_match, &scope.tags, tags)
    }
}

/// The outcome of [`select_directives`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DirectiveSelection {
    /// Directives to obey: highest priority first, then newest, then highest id.
    pub in_force: Vec<Directive>,
    /// The others, in the same order, and why.
    pub held_back: Vec<HeldBackDirective>,
}

impl DirectiveSelection {
    /// Those in force by id and name, as the trace lists them.
    #[must_use]
    pub fn refs(&self) -> Vec<DirectiveRef> {
        let reference = |directive: &Directive| DirectiveRef {
            id: directive.id.to_string(),
            name: directive.name.clone(),
        };
        self.in_force.iter().map(reference).collect()
    }
}

// What settles the order: greater first.
fn rank(directive: &Directive) -> (i32, Instant, &DirectiveId) {
    (directive.priority, directive.created_at, &directive.id)
}

/// Directives in the order in which they are told: highest priority first, then newest, then
/// highest id.
#[must_use]
pub fn in_order(mut directives: Vec<Directive>) -> Vec<Directive> {
    directives.sort_by(|a, b| rank(b).cmp(&rank(a)));
    directives
}

/// The priorities that bring one directive to a place of the order (0 is the first; a place past
/// the end means the last), and nothing else out of it. Only those that change are given, as few
/// as possible: where a free number or the age of the neighbours settles it, the moved one alone;
/// else those above it step up. None when there is no such directive, or it stands there already.
#[must_use]
pub fn priorities_after_move(
    directives: &[Directive],
    id: &DirectiveId,
    place: usize,
) -> Vec<(DirectiveId, i32)> {
    let before = in_order(directives.to_vec());
    let Some(from) = before.iter().position(|directive| &directive.id == id) else {
        return Vec::new();
    };
    let mut after = before.clone();
    let moved = after.remove(from);
    let at = place.min(after.len());
    after.insert(at, moved);
    if at == from {
        return Vec::new();
    }
    let above = at.checked_sub(1).map(|i| after[i].clone());
    let below = after.get(at + 1).cloned();
    let fits = |one: &Directive| {
        above.as_ref().is_none_or(|above| rank(above) > rank(one))
            && below.as_ref().is_none_or(|below| rank(one) > rank(below))
    };
    let near = [
        below.as_ref().map(|below| below.priority),
        below.as_ref().and_then(|below| below.priority.checked_add(1)),
        above.as_ref().map(|above| above.priority),
        above.as_ref().and_then(|above| above.priority.checked_sub(1)),
    ];
    let alone = near
        .into_iter()
        .flatten()
        .find(|priority| fits(&Directive { priority: *priority, ..after[at].clone() }));
    if let Some(priority) = alone {
        after[at].priority = priority;
    } else if !step_up(&mut after, at) {
        let last = after.len();
        for (i, directive) in after.iter_mut().enumerate() {
            directive.priority = i32::try_from(last - 1 - i).unwrap_or(i32::MAX);
        }
    }
    let old: BTreeMap<&DirectiveId, i32> =
        before.iter().map(|directive| (&directive.id, directive.priority)).collect();
    after
        .iter()
        .filter(|directive| old.get(&directive.id) != Some(&directive.priority))
        .map(|directive| (directive.id.clone(), directive.priority))
        .collect()
}

// Puts one just above the next, and raises those above it as far as they would no longer be. False
// when the numbers have run out.
fn step_up(list: &mut [Directive], at: usize) -> bool {
    for i in (0..=at).rev() {
        let Some(below) = list.get(i + 1).cloned() else { continue };
        if i < at && rank(&list[i]) > rank(&below) {
            return true;
        }
        let level = Directive { priority: below.priority, ..list[i].clone() };
        let raised = if rank(&level) > rank(&below) {
            Some(below.priority)
        } else {
            below.priority.checked_add(1)
        };
        let Some(raised) = raised else { return false };
        list[i].priority = raised;
    }
    true
}

/// Sorts the bank's directives into those that a run obeys and those that it does not.
#[must_use]
pub fn select_directives(
    directives: Vec<Directive>,
    scope: &RunScope,
    reach: DirectiveReach,
) -> DirectiveSelection {
    let directives = in_order(directives);
    let mut selection = DirectiveSelection::default();
    for directive in directives {
        let fits = reach == DirectiveReach::All || applies(&TagSet::new(&directive.tags), scope);
        let reason = match (directive.is_active, fits) {
            (true, true) => {
                selection.in_force.push(directive);
                continue;
            }
            (false, _) => HeldBackReason::Inactive,
            (true, false) => HeldBackReason::Scope,
        };
        selection.held_back.push(HeldBackDirective {
            id: directive.id.to_string(),
            name: directive.name,
            reason,
        });
    }
    selection
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tag_group::read_groups;
    use crate::time::from_millis;

    fn directive(id: &str, tags: &[&str], priority: i32, at: i64) -> Directive {
        Directive {
            id: id.into(),
            name: id.to_uppercase(),
            content: "Rule.".to_owned(),
            priority,
            is_active: true,
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            created_at: from_millis(at),
            updated_at: from_millis(at),
        }
    }

    fn in_force(directives: &[Directive], scope: &RunScope, reach: DirectiveReach) -> Vec<String> {
        let selection = select_directives(directives.to_vec(), scope, reach);
        selection.in_force.into_iter().map(|directive| directive.id.0).collect()
    }

    fn grouped(tags_match: TagsMatch) -> RunScope {
        let groups = json!([{"not": {"tags": ["beta"]}}, {"tags": ["alpha", "beta"]}]);
        RunScope {
            tags_match,
            tag_groups: read_groups(groups.as_array().unwrap()).unwrap(),
            ..RunScope::default()
        }
    }

    #[test]
    fn equal_priority_and_age_fall_back_to_the_id() {
        let all = [directive("a", &[], 0, 5), directive("b", &[], 0, 5), directive("c", &[], 1, 0)];
        assert_eq!(in_force(&all, &RunScope::default(), DirectiveReach::Scoped), ["c", "b", "a"]);
    }

    fn moved(all: &[Directive], id: &str, place: usize) -> (Vec<String>, usize) {
        let changes = priorities_after_move(all, &id.into(), place);
        let mut after = all.to_vec();
        for (id, priority) in &changes {
            let one = after.iter_mut().find(|directive| &directive.id == id).unwrap();
            one.priority = *priority;
        }
        (in_order(after).into_iter().map(|directive| directive.id.0).collect(), changes.len())
    }

    #[test]
    fn a_move_reaches_every_place_and_disturbs_as_little_as_it_can() {
        let even =
            [directive("a", &[], 0, 1), directive("b", &[], 0, 2), directive("c", &[], 0, 3)];
        let apart =
            [directive("a", &[], 0, 1), directive("b", &[], 5, 2), directive("c", &[], 9, 3)];
        let full = [
            directive("a", &[], i32::MAX, 1),
            directive("b", &[], i32::MAX, 2),
            directive("c", &[], i32::MIN, 3),
        ];
        for all in [&even, &apart, &full] {
            let order: Vec<String> =
                in_order(all.to_vec()).into_iter().map(|one| one.id.0).collect();
            for (from, id) in order.iter().enumerate() {
                for place in 0..5 {
                    let mut wanted = order.clone();
                    let one = wanted.remove(from);
                    wanted.insert(place.min(2), one);
                    let (got, changes) = moved(all, id, place);
                    assert_eq!(got, wanted, "{id} to {place}");
                    assert_eq!(changes == 0, wanted == order);
                }
            }
        }
        assert_eq!(moved(&apart, "a", 1).1, 1, "a free number needs no other change");
        assert_eq!(moved(&even, "b", 2).1, 1);
        assert!(priorities_after_move(&even, &"gone".into(), 0).is_empty());
    }

    #[test]
    fn groups_choose_tagged_directives_and_exact_does_not_narrow_them() {
        let all = [
            directive("global", &[], 0, 1),
            directive("alpha", &["alpha"], 0, 2),
            directive("beta", &["alpha", "beta"], 0, 3),
        ];
        for mode in [TagsMatch::Any, TagsMatch::Exact] {
            let chosen = in_force(&all, &grouped(mode), DirectiveReach::Scoped);
            assert_eq!(chosen, ["alpha", "global"]);
        }
        let alpha = TagSet::new(["alpha"]);
        assert!(item_visible(&alpha, &grouped(TagsMatch::Any)));
        assert!(!item_visible(&alpha, &grouped(TagsMatch::Exact)));
        assert!(!item_visible(&TagSet::default(), &grouped(TagsMatch::Exact)));
    }

    #[test]
    fn what_is_held_back_says_why() {
        let mut off = directive("off", &[], 0, 1);
        off.is_active = false;
        let all = vec![off, directive("beta", &["beta"], 0, 2)];
        let scoped = select_directives(all.clone(), &RunScope::default(), DirectiveReach::Scoped);
        let reasons: Vec<_> = scoped.held_back.iter().map(|held| held.reason).collect();
        assert_eq!(reasons, [HeldBackReason::Scope, HeldBackReason::Inactive]);
        let every = select_directives(all, &RunScope::default(), DirectiveReach::All);
        assert_eq!(every.refs()[0].id, "beta");
    }
}
