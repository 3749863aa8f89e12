//! Laws of tag filters and scopes.

use domain::FactType;
use domain::fuzzy::{self, FuzzyFault, Resolved};
use domain::scope::Scope;
use domain::tag_group::{
    GroupReason, Resolve, TagFilter, TagGroup, TagLeaf, leaf_keeps, read_groups,
};
use domain::tags::{TagSet, TagsMatch, flat_keeps, tags_in_order};
use domain::trigger::Trigger;
use proptest::prelude::*;
use serde_json::{Value, json};

fn tags() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec("[abc]{1,2}", 0..4)
}

fn mode() -> impl Strategy<Value = TagsMatch> {
    proptest::sample::select(TagsMatch::ALL.to_vec())
}

fn group() -> impl Strategy<Value = TagGroup> {
    let leaf = (tags(), mode()).prop_map(|(tags, mode)| {
        TagGroup::Leaf(TagLeaf { tags: tags_in_order(tags), mode, resolve: Resolve::Exact })
    });
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..4).prop_map(|and| TagGroup::And { and }),
            proptest::collection::vec(inner.clone(), 1..4).prop_map(|or| TagGroup::Or { or }),
            inner.prop_map(|not| TagGroup::Not { not: Box::new(not) }),
        ]
    })
}

fn not(group: TagGroup) -> TagGroup {
    TagGroup::Not { not: Box::new(group) }
}

proptest! {
    #[test]
    fn stricter_modes_keep_less(asked in tags(), item in tags()) {
        let (asked, item) = (TagSet::new(asked), TagSet::new(item));
        let keeps = |mode| flat_keeps(mode, &asked, &item);
        prop_assert!(!keeps(TagsMatch::AnyStrict) || keeps(TagsMatch::Any));
        prop_assert!(!keeps(TagsMatch::AllStrict) || keeps(TagsMatch::All));
        prop_assert!(!keeps(TagsMatch::All) || keeps(TagsMatch::Any));
        if asked.is_empty() {
            prop_assert_eq!(keeps(TagsMatch::Exact), item.is_empty());
        } else {
            prop_assert!(!keeps(TagsMatch::Exact) || keeps(TagsMatch::AllStrict));
            for mode in TagsMatch::ALL {
                prop_assert_eq!(leaf_keeps(mode, &asked, &item), keeps(mode));
            }
        }
        // Repeating or turning round what is asked changes nothing.
        let twice: TagSet = asked.iter().chain(asked.iter()).collect();
        prop_assert_eq!(&twice, &asked);
    }

    #[test]
    fn not_is_the_complement_and_de_morgan_holds(a in group(), b in group(), item in tags()) {
        let item = TagSet::new(item);
        prop_assert_ne!(not(a.clone()).keeps(&item), a.keeps(&item));
        let neither = TagGroup::And { and: vec![not(a.clone()), not(b.clone())] };
        let either = TagGroup::Or { or: vec![a, b] };
        prop_assert_eq!(not(either).keeps(&item), neither.keeps(&item));
    }

    #[test]
    fn a_group_survives_the_wire(group in group()) {
        let text = serde_json::to_value(&group).expect("JSON");
        let back = read_groups(std::slice::from_ref(&text)).expect("read again");
        prop_assert_eq!(serde_json::to_value(&back[0]).expect("JSON"), text);
    }

    #[test]
    fn literal_tags_resolve_to_themselves(leaf_tags in tags(), mode in mode(), item in tags()) {
        let item = TagSet::new(item);
        let leaf = |resolve| TagGroup::Leaf(TagLeaf { tags: leaf_tags.clone(), mode, resolve });
        let pool = TagSet::new(&leaf_tags);
        let fuzzy = leaf(Resolve::Fuzzy);
        let resolved = fuzzy::resolve(std::slice::from_ref(&fuzzy), &pool).expect("resolved");
        prop_assert_eq!(
            fuzzy.keeps_resolved(&item, &resolved),
            leaf(Resolve::Exact).keeps(&item)
        );
    }

    #[test]
    fn the_prefilter_never_loses_a_memory_in_scope(
        own in tags(), stated in proptest::option::of(mode()), item in tags(), more in tags(),
        groups in proptest::option::of(proptest::collection::vec(group(), 1..3)),
    ) {
        let trigger = Trigger { tags_match: stated, tag_groups: groups, ..Trigger::default() };
        let scope = Scope::resolve("m", &own, &trigger);
        let memory = TagSet::new(&item);
        if scope.keeps(&memory, FactType::World) {
            let touched: TagSet = item.iter().chain(&more).collect();
            prop_assert!(scope.may_hold_touched(&touched));
        }
        prop_assert!(scope.reads_same(&scope.clone()));
        let filter = TagFilter {
            tags: scope.tag_set(),
            tags_match: scope.tags_match,
            groups: scope.tag_groups.clone().unwrap_or_default(),
        };
        prop_assert_eq!(filter.keeps(&memory), scope.keeps_tags(&memory));
    }
}

fn reasons(groups: &Value) -> Vec<(String, GroupReason)> {
    let faults = read_groups(groups.as_array().expect("a list")).expect_err("faults");
    faults.into_iter().map(|fault| (fault.path, fault.reason)).collect()
}

#[test]
fn every_fault_of_a_group_is_named_with_its_place() {
    use GroupReason::{AmbiguousGroup, BlankTag, EmptyGroup, UnknownMatch, UnknownResolve};
    let found = reasons(&json!([
        {"or": []},
        {"and": [{"tags": ["a"], "match": "some"}, {"tags": ["a"], "resolve": "near"}]},
        {"not": [{"tags": ["a"]}]},
        {"tags": ["a"], "mode": "any"},
        {"and": [{"tags": ["a"]}], "match": "any"},
        {},
        "a",
        {"tags": "a"},
        {"tags": ["a", " "]},
        {"and": {"tags": ["a"]}},
    ]));
    let at = |path: &str, reason| (path.to_owned(), reason);
    assert_eq!(
        found,
        [
            at("[0].or", EmptyGroup),
            at("[1].and[0].match", UnknownMatch),
            at("[1].and[1].resolve", UnknownResolve),
            at("[2].not", AmbiguousGroup),
            at("[3]", AmbiguousGroup),
            at("[4]", AmbiguousGroup),
            at("[5]", AmbiguousGroup),
            at("[6]", AmbiguousGroup),
            at("[7]", AmbiguousGroup),
            at("[8].tags[1]", BlankTag),
            at("[9].and", AmbiguousGroup),
        ]
    );
}

#[test]
fn eight_levels_and_two_hundred_leaves_are_the_most() {
    let nested =
        |levels: usize| (1..levels).fold(json!({"tags": ["a"]}), |inner, _| json!({"not": inner}));
    assert!(read_groups(&[nested(8)]).is_ok());
    assert_eq!(reasons(&json!([nested(9)])), [(String::new(), GroupReason::GroupTooDeep)]);
    let leaves = |count: usize| vec![json!({"tags": ["a"]}); count];
    assert!(read_groups(&leaves(200)).is_ok());
    assert!(read_groups(&[json!({"or": leaves(200)})]).is_ok());
    assert_eq!(reasons(&json!(leaves(201))), [(String::new(), GroupReason::GroupTooDeep)]);
}

#[test]
fn tags_beside_groups_are_refused_even_empty() {
    let none: [String; 0] = [];
    let refused = TagFilter::of_request(Some(&none), TagsMatch::Any, Some(Vec::new()));
    assert_eq!(refused, Err("tags_and_tag_groups"));
    // The untagged scope beside groups: both apply.
    let groups = read_groups(&[json!({"tags": ["a"], "match": "any"})]).expect("groups");
    let both = TagFilter::of_request(None, TagsMatch::Exact, Some(groups)).expect("a filter");
    assert!(both.keeps(&TagSet::default()));
    assert!(!both.keeps(&TagSet::new(["a"])));
    assert!(!both.is_none() && TagFilter::none().is_none());
}

fn fuzzy_leaf(tags: &[&str], mode: TagsMatch) -> TagGroup {
    let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    TagGroup::Leaf(TagLeaf { tags, mode, resolve: Resolve::Fuzzy })
}

#[test]
fn fuzzy_limits() {
    let many: TagSet = (0..=5_000).map(|n| format!("tag{n}")).collect();
    let leaf = [fuzzy_leaf(&["tagg"], TagsMatch::Any)];
    assert_eq!(fuzzy::resolve(&leaf, &many), Err(FuzzyFault::VocabularyTooLarge));
    // A request without fuzzy leaves does not care.
    assert_eq!(fuzzy::resolve(&[], &many), Ok(Resolved::default()));

    // Six tags near each of two asked ones: 36 combinations.
    let near: TagSet = ["kubernetes", "typescript"]
        .iter()
        .flat_map(|word| ["a", "b", "c", "d", "e", "f"].map(|end| format!("{word}s{end}")))
        .collect();
    let exact = [fuzzy_leaf(&["kubernetess", "typescripts"], TagsMatch::Exact)];
    assert_eq!(fuzzy::resolve(&exact, &near), Err(FuzzyFault::TooManyExactCandidates));
    let all = [fuzzy_leaf(&["kubernetess", "typescripts"], TagsMatch::AllStrict)];
    let resolved = fuzzy::resolve(&all, &near).expect("resolved");
    assert_eq!(resolved.0["kubernetess"].len(), 6);
}

#[test]
fn an_unresolved_fuzzy_tag_is_never_dropped() {
    let pool = TagSet::new(["ops"]);
    for (mode, untagged) in TagsMatch::ALL.map(|mode| (mode, mode.keeps_untagged())).iter() {
        let leaf = [fuzzy_leaf(&["zzz", "ops"], *mode)];
        let resolved = fuzzy::resolve(&leaf, &pool).expect("resolved");
        assert_eq!(leaf[0].keeps_resolved(&TagSet::default(), &resolved), *untagged, "{mode:?}");
        let any = matches!(mode, TagsMatch::Any | TagsMatch::AnyStrict);
        assert_eq!(leaf[0].keeps_resolved(&pool, &resolved), any, "{mode:?}");
    }
}
