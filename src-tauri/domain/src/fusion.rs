//! Ranking arithmetic of recall: joining the lists of several ways, boosts for age, date and proof,
//! breadth of a budget, cuts by tokens. Numbers in, order out; nothing here searches.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use crate::Score;
use crate::reflect::Budget;

/// Constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009).
pub const RRF_K: f64 = 60.0;

/// A way of finding memories, in the order in which lists are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// By meaning.
    Semantic,
    /// By words.
    Keyword,
    /// By shared entities and links.
    Graph,
    /// By date.
    Temporal,
}

impl Way {
    /// All four, in order.
    pub const ALL: [Self; 4] = [Self::Semantic, Self::Keyword, Self::Graph, Self::Temporal];

    /// The word of the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Semantic => "semantic",
            Self::Keyword => "keyword",
            Self::Graph => "graph",
            Self::Temporal => "temporal",
        }
    }

    /// The way of a word of the wire.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|way| way.word() == word)
    }
}

/// The place of a result in the list of one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct WayRank {
    /// The way.
    pub way: Way,
    /// The place, from 1.
    pub rank: u32,
}

/// A result of [`rrf`].
#[derive(Debug, Clone, PartialEq)]
pub struct Fused<I> {
    /// Its id.
    pub id: I,
    /// Sum of 1 ÷ (k + rank) over the ways that found it.
    pub score: Score,
    /// Its place in each of them, in the order of the ways.
    pub ranks: Vec<WayRank>,
}

// 1-based place as a count for the wire.
fn place(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

/// Reciprocal rank fusion of lists that are ordered best first. A repeat inside one list counts
/// once, at its first place, and takes no place itself. Equal scores keep the order of first
/// appearance, list by list.
#[must_use]
pub fn rrf<I: Clone + Eq + Hash>(k: f64, lists: &[(Way, Vec<I>)]) -> Vec<Fused<I>> {
    let most = lists.iter().map(|(_, list)| list.len()).sum();
    // Where an id stands in `fused`, and the last list that named it: a second naming is skipped.
    let mut slots: HashMap<&I, (usize, usize)> = HashMap::with_capacity(most);
    let mut fused: Vec<Fused<I>> = Vec::with_capacity(most);
    for (number, (way, list)) in lists.iter().enumerate() {
        let mut index = 0;
        for id in list {
            let slot = match slots.entry(id) {
                Entry::Occupied(known) if known.get().1 == number => continue,
                Entry::Occupied(mut known) => {
                    known.get_mut().1 = number;
                    known.get().0
                }
                Entry::Vacant(free) => {
                    fused.push(Fused { id: id.clone(), score: Score::default(), ranks: vec![] });
                    free.insert((fused.len() - 1, number)).0
                }
            };
            fused[slot].ranks.push(WayRank { way: *way, rank: place(index) });
            index += 1;
        }
    }
    for result in &mut fused {
        // Summed from the best place down, so that equal places give equal sums to the last bit.
        let mut places: Vec<u32> = result.ranks.iter().map(|found| found.rank).collect();
        places.sort_unstable();
        result.score = Score::new(places.iter().map(|rank| 1.0 / (k + f64::from(*rank))).sum());
    }
    fused.sort_by(|a, b| b.score.get().total_cmp(&a.score.get()));
    fused
}

/// All firsts, then all seconds, and so on, skipping what was taken.
#[must_use]
pub fn interleave<I: Clone + Eq + Hash>(lists: &[Vec<I>]) -> Vec<I> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let mut seen = HashSet::new();
    (0..longest)
        .flat_map(|rank| lists.iter().filter_map(move |list| list.get(rank)))
        .filter(|id| seen.insert(*id))
        .cloned()
        .collect()
}

/// How much weight a way is given by the bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum WayPriority {
    /// A nudge.
    Low,
    /// A clear preference.
    Medium,
    /// Close to overriding the others.
    High,
}

impl WayPriority {
    /// Added to the fused score before the cap, for a result at `rank` (from 1) of that way.
    #[must_use]
    pub fn before_cap(self, rank: u32) -> f64 {
        let weight = match self {
            Self::Low => 1.0,
            Self::Medium => 3.0,
            Self::High => 6.0,
        };
        weight / (RRF_K + f64::from(rank))
    }

    /// Added to the final score of a result of that way.
    #[must_use]
    pub fn after_scoring(self) -> f64 {
        match self {
            Self::Low => 0.05,
            Self::Medium => 0.2,
            Self::High => 0.5,
        }
    }
}

/// How age weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum RecencyCurve {
    /// Falls evenly over a year, down to a tenth.
    #[default]
    Linear,
    /// Halves every 90 days.
    Exponential,
    /// Age does not matter.
    None,
}

/// Freshness between 0 and 1 of something `days_old` days old; 0.5 where it says nothing. The
/// future counts as now.
#[must_use]
pub fn recency(days_old: Option<f64>, curve: RecencyCurve) -> f64 {
    match (days_old, curve) {
        (None, _) | (_, RecencyCurve::None) => 0.5,
        (Some(days), RecencyCurve::Linear) => (1.0 - days / 365.0).clamp(0.1, 1.0),
        (Some(days), RecencyCurve::Exponential) => 0.5_f64.powf(days / 90.0).clamp(0.0, 1.0),
    }
}

/// Weight between 0 and 1 of a number of proofs; 0.5 where there is none.
#[must_use]
pub fn proof_norm(proof_count: Option<u32>) -> f64 {
    match proof_count {
        Some(n) if n >= 1 => (0.5 + f64::from(n).ln() / 10.0).clamp(0.0, 1.0),
        Some(_) | None => 0.5,
    }
}

/// The final score: base × (1+0.2(recency−0.5)) × (1+0.2(nearness−0.5)) × (1+0.1(proof−0.5)), with
/// the three factors between 0 and 1 and 0.5 as "no opinion". Relevance leads: the boosts move a
/// score by about +27 % or −19 % at most.
#[must_use]
pub fn combined_score(base: f64, recency: f64, nearness: f64, proof: f64) -> f64 {
    base * (1.0 + 0.2 * (recency - 0.5))
        * (1.0 + 0.2 * (nearness - 0.5))
        * (1.0 + 0.1 * (proof - 0.5))
}

/// Base scores of `n` fused results where no reranker is at hand: evenly from 1.0 to 0.1.
#[must_use]
pub fn rank_seed(n: usize) -> Vec<f64> {
    let steps = f64::from(u32::try_from(n.saturating_sub(1)).unwrap_or(u32::MAX)).max(1.0);
    (0..n)
        .map(|rank| 1.0 - 0.9 * f64::from(u32::try_from(rank).unwrap_or(u32::MAX)) / steps)
        .collect()
}

/// What a reranker's numbers are; a property of the reranker, not of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum RerankerScale {
    /// Already between 0 and 1.
    Calibrated,
    /// Logits, brought there by the logistic function.
    Logits,
}

/// A reranker's number as a base score between 0 and 1; what is not a number is 0.
#[must_use]
pub fn reranker_base(score: f64, scale: RerankerScale) -> f64 {
    match scale {
        _ if score.is_nan() => 0.0,
        RerankerScale::Calibrated => score.clamp(0.0, 1.0),
        RerankerScale::Logits => 1.0 / (1.0 + (-score).exp()),
    }
}

/// How a budget becomes a number of candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum BudgetFunction {
    /// 100, 300, 1000.
    #[default]
    Fixed,
    /// A share of the token budget, between 20 and 2000.
    Adaptive,
}

/// Candidates per way and kind of memory.
#[must_use]
pub fn candidate_budget(level: Budget, max_tokens: u32, function: BudgetFunction) -> u32 {
    match function {
        BudgetFunction::Fixed => match level {
            Budget::Low => 100,
            Budget::Mid => 300,
            Budget::High => 1000,
        },
        BudgetFunction::Adaptive => {
            // Thousandths, so that a half is a half whatever the binary form of 0.025 is.
            let share: u64 = match level {
                Budget::Low => 25,
                Budget::Mid => 75,
                Budget::High => 250,
            };
            let rounded = (u64::from(max_tokens) * share + 500) / 1000;
            u32::try_from(rounded.clamp(20, 2000)).unwrap_or(2000)
        }
    }
}

/// Results in order while they fit into `max_tokens`; the first that does not fit ends the list.
/// Gives how many are kept and the tokens they use.
#[must_use]
pub fn token_cut(tokens: &[u32], max_tokens: u32) -> (usize, u32) {
    let mut used = 0_u32;
    for (kept, count) in tokens.iter().enumerate() {
        match used.checked_add(*count) {
            Some(sum) if sum <= max_tokens => used = sum,
            Some(_) | None => return (kept, used),
        }
    }
    (tokens.len(), used)
}

/// The outcome of [`source_facts`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFacts<I> {
    /// Facts to show, in order of inclusion.
    pub included: Vec<I>,
    /// Whether a source that exists is missing for want of tokens.
    pub truncated: bool,
}

/// Source facts of observations in rank order within two token budgets (none = unlimited): over all,
/// and per observation. One that does not fit is skipped, shorter ones behind it still go in; one
/// that is already in costs nothing again. `tokens` gives none for a source that is gone.
#[must_use]
pub fn source_facts<I: Clone + Eq + Hash>(
    observations: &[Vec<I>],
    tokens: impl Fn(&I) -> Option<u32>,
    max_total: Option<u32>,
    max_per_observation: Option<u32>,
) -> SourceFacts<I> {
    let fits = |sum: u64, limit: Option<u32>| limit.is_none_or(|limit| sum <= u64::from(limit));
    let mut included: Vec<I> = Vec::new();
    let mut inside: HashSet<&I> = HashSet::new();
    let mut left_out: HashSet<&I> = HashSet::new();
    let mut total = 0_u64;
    for sources in observations {
        let mut own = 0_u64;
        for id in sources {
            let Some(cost) = tokens(id).map(u64::from) else { continue };
            if inside.contains(id) {
                continue;
            }
            if fits(total + cost, max_total) && fits(own + cost, max_per_observation) {
                total += cost;
                own += cost;
                inside.insert(id);
                included.push(id.clone());
            } else {
                left_out.insert(id);
            }
        }
    }
    let truncated = left_out.iter().any(|id| !inside.contains(*id));
    SourceFacts { included, truncated }
}

/// Score of a memory that the graph reached: entities shared, best likeness, best causal weight.
/// Between 0 and 3.
#[must_use]
pub fn graph_score(shared_entities: u32, semantic: Option<f64>, causal: Option<f64>) -> f64 {
    (0.5 * f64::from(shared_entities)).tanh() + semantic.unwrap_or(0.0) + causal.unwrap_or(0.0)
}

/// Which results stay when observations are preferred: among the first `window` results, facts that
/// an observation there was folded from are dropped. Gives the places that stay, in order.
#[must_use]
pub fn prefer_observations<I: Eq + Hash>(
    results: &[(I, Option<Vec<I>>)],
    window: usize,
) -> Vec<usize> {
    let told: HashSet<&I> =
        results.iter().take(window).filter_map(|(_, sources)| sources.as_ref()).flatten().collect();
    results
        .iter()
        .enumerate()
        .filter(|(_, (id, sources))| sources.is_some() || !told.contains(id))
        .map(|(at, _)| at)
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn adaptive_budgets_round_half_up() {
        let adaptive = |level, tokens| candidate_budget(level, tokens, BudgetFunction::Adaptive);
        assert_eq!(adaptive(Budget::Low, 2100), 53);
        assert_eq!(adaptive(Budget::Mid, 4096), 307);
    }

    #[test]
    fn a_reranker_that_stumbles_scores_nothing() {
        assert_eq!(reranker_base(f64::NAN, RerankerScale::Logits), 0.0);
        assert_eq!(reranker_base(0.0, RerankerScale::Logits), 0.5);
        assert_eq!(reranker_base(0.4, RerankerScale::Calibrated), 0.4);
    }

    #[test]
    fn a_source_shown_before_costs_nothing_again() {
        let cost = |id: &&str| (*id != "gone").then_some(10);
        let shown = source_facts(&[vec!["a", "gone"], vec!["a", "b"]], cost, Some(20), Some(10));
        assert_eq!(shown.included, ["a", "b"]);
        assert!(!shown.truncated);
    }

    #[test]
    fn preferred_observations_hide_their_sources() {
        let results = [("f1", None), ("o1", Some(vec!["f1", "f9"])), ("f2", None), ("f9", None)];
        assert_eq!(prefer_observations(&results, 4), [1, 2]);
        assert_eq!(prefer_observations(&results, 1), [0, 1, 2, 3]);
    }

    fn lists() -> impl Strategy<Value = Vec<(Way, Vec<u8>)>> {
        prop::collection::vec(prop::collection::vec(0_u8..30, 0..12), 4)
            .prop_map(|lists| Way::ALL.into_iter().zip(lists).collect())
    }

    proptest! {
        #[test]
        fn fusion_does_not_depend_on_copies_inside_a_list(lists in lists(), at in 0_usize..4) {
            let mut copied = lists.clone();
            let again = copied[at].1.clone();
            copied[at].1.extend(again);
            prop_assert_eq!(rrf(RRF_K, &lists), rrf(RRF_K, &copied));
        }

        #[test]
        fn fusion_finds_everything_once_and_falls(lists in lists()) {
            let fused = rrf(RRF_K, &lists);
            let all: HashSet<u8> = lists.iter().flat_map(|(_, list)| list.clone()).collect();
            let ids: Vec<u8> = fused.iter().map(|result| result.id).collect();
            prop_assert_eq!(ids.len(), all.len());
            prop_assert_eq!(ids.into_iter().collect::<HashSet<_>>(), all);
            prop_assert!(fused.windows(2).all(|pair| pair[0].score.get() >= pair[1].score.get()));
        }

        #[test]
        fn a_better_place_never_lowers_a_score(lists in lists(), at in 0_usize..4) {
            let moved = lists[at].1.last().copied();
            if let Some(id) = moved {
                let mut better = lists.clone();
                better[at].1.insert(0, id);
                let score = |lists: &[(Way, Vec<u8>)]| {
                    rrf(RRF_K, lists).into_iter().find(|r| r.id == id).map(|r| r.score.get())
                };
                prop_assert!(score(&better) >= score(&lists));
            }
        }

        #[test]
        fn interleaving_keeps_each_id_once(lists in lists()) {
            let bare: Vec<Vec<u8>> = lists.into_iter().map(|(_, list)| list).collect();
            let woven = interleave(&bare);
            let distinct: HashSet<u8> = bare.iter().flatten().copied().collect();
            prop_assert_eq!(woven.len(), distinct.len());
        }

        #[test]
        fn a_token_cut_never_exceeds(tokens in prop::collection::vec(0_u32..200, 0..30), max in 0_u32..1000) {
            let (kept, used) = token_cut(&tokens, max);
            prop_assert!(used <= max);
            prop_assert_eq!(tokens[..kept].iter().sum::<u32>(), used);
            prop_assert!(kept == tokens.len() || used + tokens[kept] > max);
        }

        #[test]
        fn boosts_stay_within_their_range(r in 0.0..=1.0_f64, n in 0.0..=1.0_f64, p in 0.0..=1.0_f64) {
            let boosted = combined_score(1.0, r, n, p);
            prop_assert!((0.76..=1.28).contains(&boosted));
        }
    }
}
