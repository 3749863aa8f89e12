//! Which entity a name means. Equal names are one entity whatever else is near; likeness needs a
//! near name first, company and date only decide between such. Nothing here reads the bank: the
//! candidates are passed in.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::Instant;
use crate::fuzzy::similarity;
use crate::text::{collapse_blanks, fold};

/// Least likeness of two names for one to stand for the other.
pub const NAME_FLOOR: f64 = 0.7;
/// Least trigram likeness of a candidate.
pub const TRIGRAM_FLOOR: f64 = 0.15;
/// A candidate is accepted above this score.
pub const ACCEPT_ABOVE: f64 = 0.6;
/// The lead over the second that the best candidate needs.
pub const LEAD: f64 = 0.05;
/// Least trigram likeness of two new names of one batch that mean one thing.
pub const CLUSTER_FLOOR: f64 = 0.5;
/// More distinct new names than this are not clustered; the pairs would be too many.
pub const CLUSTER_LIMIT: usize = 250;

/// A name with blanks collapsed; none for a name to drop.
#[must_use]
pub fn normalise(name: &str) -> Option<String> {
    let name = collapse_blanks(name);
    (!name.is_empty()).then_some(name)
}

/// The key under which a name is one entity: compatibility forms unified, case folded.
#[must_use]
pub fn canon_key(name: &str) -> String {
    collapse_blanks(&fold(name))
}

/// Runs of digits in a name, in order: "Room 101" and "Room 102" are different things.
#[must_use]
pub fn digit_runs(name: &str) -> Vec<String> {
    name.split(|c: char| !c.is_numeric()).filter(|run| !run.is_empty()).map(str::to_owned).collect()
}

/// Matching-blocks ratio 2M ÷ (|a| + |b|) of the lower-cased names (Ratcliff and Obershelp): M sums
/// the longest common block, earliest in `a` and then in `b`, and those left and right of it.
#[must_use]
pub fn ratio(a: &str, b: &str) -> f64 {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let all = a.len() + b.len();
    if all == 0 { 1.0 } else { share(2 * matched(&a, &b), all) }
}

#[expect(clippy::cast_precision_loss, reason = "lengths of names are far below 2^52")]
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

fn matched(a: &[char], b: &[char]) -> usize {
    let (start_a, start_b, length) = longest_block(a, b);
    if length == 0 {
        return 0;
    }
    length
        + matched(&a[..start_a], &b[..start_b])
        + matched(&a[start_a + length..], &b[start_b + length..])
}

fn longest_block(a: &[char], b: &[char]) -> (usize, usize, usize) {
    let mut best = (0, 0, 0);
    // Length of the common block that ends at the previous `a` and each `b`.
    let mut ends = vec![0_usize; b.len() + 1];
    for (i, x) in a.iter().enumerate() {
        let mut next = vec![0_usize; b.len() + 1];
        for (j, y) in b.iter().enumerate() {
            if x == y {
                let length = ends[j] + 1;
                next[j + 1] = length;
                let start = (i + 1 - length, j + 1 - length);
                // Among equal lengths the earliest start in `a`, then in `b`.
                if length > best.2 || (length == best.2 && start < (best.0, best.1)) {
                    best = (start.0, start.1, length);
                }
            }
        }
        ends = next;
    }
    best
}

/// Likeness of two names: their ratio, raised to 0.8 when the words of one are the first words of
/// the other ("Alice", "Alice Chen").
#[must_use]
pub fn name_likeness(a: &str, b: &str) -> f64 {
    let likeness = ratio(a, b);
    let (a, b) = (a.to_lowercase(), b.to_lowercase());
    let a: Vec<&str> = a.split_whitespace().collect();
    let b: Vec<&str> = b.split_whitespace().collect();
    let (short, long) = if a.len() < b.len() { (&a, &b) } else { (&b, &a) };
    let opens = !short.is_empty() && short.len() < long.len() && long.starts_with(short);
    if opens { likeness.max(0.8) } else { likeness }
}

/// Whether a name comes from a controlled vocabulary (`key:value`) or from text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NameKind {
    /// From text.
    #[default]
    Regular,
    /// From a vocabulary; equal names only.
    Label,
}

/// A name in a fact.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mention {
    /// The name, normalised.
    pub name: String,
    /// Where it comes from.
    pub kind: NameKind,
    /// Meant as it is written: never matched by likeness.
    pub literal: bool,
}

/// An entity of the bank that a mention may mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Where its name comes from.
    pub kind: NameKind,
    /// Names it was seen with.
    pub seen_with: Vec<String>,
    /// When it was last seen.
    pub last_seen: Option<Instant>,
}

/// What a mention means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// This entity.
    Use(String),
    /// A new entity.
    Create {
        /// Its name.
        name: String,
        /// Entities that it might have been, too close to tell apart; shown to a person.
        ambiguous: Vec<String>,
    },
}

/// Decides what a mention means. `nearby` are the names of its fact (the mention may be among
/// them), `date` is the date of the fact.
#[must_use]
pub fn resolve(
    mention: &Mention,
    candidates: &[Candidate],
    nearby: &[String],
    date: Option<Instant>,
) -> Resolution {
    let key = canon_key(&mention.name);
    if let Some(same) = candidates.iter().find(|known| canon_key(&known.name) == key) {
        return Resolution::Use(same.id.clone());
    }
    let create = |ambiguous| Resolution::Create { name: mention.name.clone(), ambiguous };
    if mention.literal || mention.kind == NameKind::Label {
        return create(Vec::new());
    }
    let others: BTreeSet<String> =
        nearby.iter().map(|name| canon_key(name)).filter(|other| *other != key).collect();
    let digits = digit_runs(&mention.name);
    let mut scored: Vec<(f64, &Candidate)> = candidates
        .iter()
        .filter(|known| known.kind == NameKind::Regular && digit_runs(&known.name) == digits)
        .filter(|known| similarity(&known.name, &mention.name) >= TRIGRAM_FLOOR)
        .filter_map(|known| Some((score(mention, known, &others, date)?, known)))
        .filter(|(score, _)| *score > ACCEPT_ABOVE)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    match scored.as_slice() {
        [] => create(Vec::new()),
        [(best, _), (second, _), ..] if best - second < LEAD => {
            let close = scored.iter().take_while(|(score, _)| best - score < LEAD);
            create(close.map(|(_, known)| known.id.clone()).collect())
        }
        [(_, known), ..] => Resolution::Use(known.id.clone()),
    }
}

// 0.5·name + 0.3·company + 0.2·nearness in time; none under the floor of the name.
fn score(
    mention: &Mention,
    known: &Candidate,
    others: &BTreeSet<String>,
    date: Option<Instant>,
) -> Option<f64> {
    let name = name_likeness(&mention.name, &known.name);
    if name < NAME_FLOOR {
        return None;
    }
    let seen: BTreeSet<String> = known.seen_with.iter().map(|name| canon_key(name)).collect();
    let company = match others.len() {
        0 => 0.0,
        all => share(others.intersection(&seen).count(), all),
    };
    let nearness = match (date, known.last_seen) {
        (Some(date), Some(seen)) => {
            #[expect(clippy::cast_precision_loss, reason = "milliseconds of a few days matter")]
            let days = (date - seen).num_milliseconds().abs() as f64 / 86_400_000.0;
            (1.0 - days / 7.0).max(0.0)
        }
        _ => 0.0,
    };
    Some(0.5 * name + 0.3 * company + 0.2 * nearness)
}

/// The spelling to use for each mention of new names of one batch. Names whose trigrams are alike
/// and whose digits agree are one; the most frequent spelling wins, then the shortest, then the
/// smallest by code point. Labels and literal names stay as they are.
#[must_use]
pub fn cluster_new_names(mentions: &[Mention]) -> Vec<String> {
    let joins = |mention: &&Mention| !mention.literal && mention.kind == NameKind::Regular;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for mention in mentions.iter().filter(joins) {
        *counts.entry(&mention.name).or_default() += 1;
    }
    let names: Vec<&str> = counts.keys().copied().collect();
    let mut spelling: HashMap<&str, &str> = HashMap::new();
    if names.len() <= CLUSTER_LIMIT {
        for cluster in clusters(&names) {
            let best = cluster
                .iter()
                .copied()
                .min_by_key(|name| (usize::MAX - counts[name], name.chars().count(), *name));
            for name in cluster {
                spelling.insert(name, best.unwrap_or(name));
            }
        }
    }
    mentions
        .iter()
        .map(|mention| {
            let shared = spelling.get(mention.name.as_str()).filter(|_| joins(&mention));
            shared.map_or_else(|| mention.name.clone(), |name| (*name).to_owned())
        })
        .collect()
}

fn clusters<'a>(names: &[&'a str]) -> Vec<Vec<&'a str>> {
    let mut leader: Vec<usize> = (0..names.len()).collect();
    let digits: Vec<Vec<String>> = names.iter().map(|name| digit_runs(name)).collect();
    for i in 0..names.len() {
        for j in i + 1..names.len() {
            if leader[i] != leader[j]
                && digits[i] == digits[j]
                && similarity(names[i], names[j]) >= CLUSTER_FLOOR
            {
                let (from, to) = (leader[j], leader[i]);
                leader.iter_mut().filter(|at| **at == from).for_each(|at| *at = to);
            }
        }
    }
    let mut groups: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (at, name) in names.iter().enumerate() {
        groups.entry(leader[at]).or_default().push(name);
    }
    groups.into_values().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mention(name: &str) -> Mention {
        Mention { name: name.to_owned(), ..Mention::default() }
    }

    fn candidate(id: &str, name: &str) -> Candidate {
        Candidate {
            id: id.to_owned(),
            name: name.to_owned(),
            kind: NameKind::Regular,
            seen_with: vec!["Firm".to_owned()],
            last_seen: None,
        }
    }

    #[test]
    fn alike_names_of_one_firm_are_still_two_people() {
        let firm = ["Firm".to_owned()];
        let outcome = resolve(&mention("Alina"), &[candidate("e1", "Elias")], &firm, None);
        assert_eq!(outcome, Resolution::Create { name: "Alina".to_owned(), ambiguous: Vec::new() });
    }

    #[test]
    fn equal_keys_need_no_likeness() {
        let known = [candidate("e1", "STRASSE GmbH")];
        assert_eq!(
            resolve(&mention("Straße gmbh"), &known, &[], None),
            Resolution::Use("e1".into())
        );
        let literal = Mention { literal: true, ..mention("strasse gmbh") };
        assert_eq!(resolve(&literal, &known, &[], None), Resolution::Use("e1".into()));
    }

    #[test]
    fn a_label_is_matched_by_its_key_only() {
        let mut label = candidate("e1", "topic:tea");
        label.kind = NameKind::Label;
        let asked = Mention { kind: NameKind::Label, ..mention("Topic:Tea") };
        assert_eq!(resolve(&asked, &[label], &[], None), Resolution::Use("e1".into()));
        let near = Mention { kind: NameKind::Label, ..mention("topic:teas") };
        let firm = ["Firm".to_owned()];
        assert!(matches!(
            resolve(&near, &[candidate("e2", "topic:tea")], &firm, None),
            Resolution::Create { .. }
        ));
    }

    #[test]
    fn clusters_reach_through_a_name_between() {
        let names = ["Ann Lee", "Ann Lee Park", "Lee Park", "Ann Lee"].map(mention);
        assert_eq!(cluster_new_names(&names), ["Ann Lee"; 4]);
    }

    proptest! {
        #[test]
        fn likeness_stays_between_nothing_and_all(a in "[a-c ]{0,8}", b in "[a-c ]{0,8}") {
            let likeness = name_likeness(&a, &b);
            prop_assert!((0.0..=1.0).contains(&likeness));
            prop_assert_eq!(ratio(&a, &a), 1.0);
        }
    }
}
