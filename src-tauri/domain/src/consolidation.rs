//! The arithmetic of consolidation: which scopes a fact counts for, how a failing batch is taken
//! apart, which of a language model's actions may be applied, what happens to observations when
//! their facts go. Nothing here calls a model or writes.

mod actions;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Instant;
use crate::text::same_statement_key;

pub use actions::{
    Answer, Attach, CheckedActions, Create, Delete, Rejected, ShownObservation, Update,
    validate_actions,
};

/// Most tags a fact may have when all their combinations are asked for.
pub const MAX_COMBINED_TAGS: usize = 6;

/// Which scopes a fact is folded into, as its `observation_scopes` says.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum ScopeRule {
    /// One scope of all its tags.
    #[default]
    Combined,
    /// One scope a tag.
    PerTag,
    /// One scope for each non-empty subset of its tags.
    AllCombinations,
    /// The global scope.
    Shared,
    /// These scopes.
    Listed(Vec<Vec<String>>),
}

/// Why scopes cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ScopeFault {
    /// Neither a known word nor a list of lists of tags.
    #[error("Scopes are combined, per_tag, all_combinations, shared, or a list of lists of tags.")]
    Unknown,
    /// Too many combinations.
    #[error("All combinations of more than {MAX_COMBINED_TAGS} tags are too many scopes.")]
    TooMany,
}

impl ScopeFault {
    /// The stable word of the fault.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown_scopes",
            Self::TooMany => "too_many_scopes",
        }
    }
}

impl ScopeRule {
    /// Reads the setting; null and an empty list mean `combined`.
    ///
    /// # Errors
    /// It is something else.
    pub fn parse(value: &Value) -> Result<Self, ScopeFault> {
        match value {
            Value::Null => Ok(Self::Combined),
            Value::String(word) => match word.as_str() {
                "combined" => Ok(Self::Combined),
                "per_tag" => Ok(Self::PerTag),
                "all_combinations" => Ok(Self::AllCombinations),
                "shared" => Ok(Self::Shared),
                _ => Err(ScopeFault::Unknown),
            },
            Value::Array(lists) if lists.is_empty() => Ok(Self::Combined),
            Value::Array(_) => serde_json::from_value(value.clone())
                .map(Self::Listed)
                .map_err(|_| ScopeFault::Unknown),
            Value::Bool(_) | Value::Number(_) | Value::Object(_) => Err(ScopeFault::Unknown),
        }
    }
}

/// The scopes of a fact with these tags, each sorted and none twice. The empty list is the global
/// scope.
///
/// # Errors
/// All combinations of too many tags.
pub fn scopes(tags: &[String], rule: &ScopeRule) -> Result<Vec<Vec<String>>, ScopeFault> {
    let tags: Vec<String> = sorted(tags);
    let global = || vec![Vec::new()];
    Ok(match rule {
        ScopeRule::Combined => vec![tags],
        ScopeRule::Shared => global(),
        ScopeRule::PerTag | ScopeRule::AllCombinations if tags.is_empty() => global(),
        ScopeRule::PerTag => tags.into_iter().map(|tag| vec![tag]).collect(),
        ScopeRule::AllCombinations if tags.len() > MAX_COMBINED_TAGS => {
            return Err(ScopeFault::TooMany);
        }
        ScopeRule::AllCombinations => {
            let mut subsets: Vec<Vec<String>> = (1_u32..1 << tags.len())
                .map(|mask| {
                    let chosen = tags.iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1);
                    chosen.map(|(_, tag)| tag.clone()).collect()
                })
                .collect();
            subsets.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
            subsets
        }
        ScopeRule::Listed(lists) => {
            let mut seen = HashSet::new();
            let lists = lists.iter().map(|list| sorted(list));
            lists.filter(|scope| seen.insert(scope.clone())).collect()
        }
    })
}

fn sorted(tags: &[String]) -> Vec<String> {
    tags.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect()
}

/// A fact that waits, with its sorted tags and resolved scopes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingFact<I> {
    /// Its id.
    pub id: I,
    /// Its tags, sorted.
    pub tags: Vec<String>,
    /// Its scopes, as [`scopes`] gives them.
    pub scopes: Vec<Vec<String>>,
}

/// Facts that may share a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactBatch<I> {
    /// Their tags.
    pub tags: Vec<String>,
    /// Their scopes.
    pub scopes: Vec<Vec<String>>,
    /// Their ids, in the order given.
    pub facts: Vec<I>,
}

/// Cuts waiting facts (oldest first) into batches of at most `size`. Facts of different tags or
/// different scopes never share one.
#[must_use]
pub fn batches<I: Clone>(facts: &[PendingFact<I>], size: usize) -> Vec<FactBatch<I>> {
    let mut groups: Vec<FactBatch<I>> = Vec::new();
    let mut places: HashMap<(&[String], &[Vec<String>]), usize> = HashMap::new();
    for fact in facts {
        let place = *places.entry((&fact.tags, &fact.scopes)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(FactBatch {
                tags: fact.tags.clone(),
                scopes: fact.scopes.clone(),
                facts: Vec::new(),
            });
        }
        groups[place].facts.push(fact.id.clone());
    }
    let cut = |group: FactBatch<I>| {
        let FactBatch { tags, scopes, facts } = group;
        let parts: Vec<FactBatch<I>> = facts
            .chunks(size.max(1))
            .map(|part| FactBatch {
                tags: tags.clone(),
                scopes: scopes.clone(),
                facts: part.to_vec(),
            })
            .collect();
        parts
    };
    groups.into_iter().flat_map(cut).collect()
}

/// Takes a failing batch apart until the facts that make it fail stand alone. Ask for the next
/// batch, call, and report when the call failed for good.
#[derive(Debug, Clone)]
pub struct Bisection<I> {
    open: Vec<Vec<I>>,
    failed: Vec<I>,
}

impl<I: Clone> Bisection<I> {
    /// Starts with the whole batch.
    #[must_use]
    pub fn new(batch: Vec<I>) -> Self {
        Self { open: if batch.is_empty() { Vec::new() } else { vec![batch] }, failed: Vec::new() }
    }

    /// The next facts to call with, left halves first.
    pub fn next_batch(&mut self) -> Option<Vec<I>> {
        self.open.pop()
    }

    /// Notes that a call with these facts failed: a lone fact has failed, more are halved, the
    /// first half the smaller.
    pub fn fail(&mut self, mut batch: Vec<I>) {
        if batch.len() < 2 {
            self.failed.extend(batch);
            return;
        }
        let right = batch.split_off(batch.len() / 2);
        self.open.push(right);
        self.open.push(batch);
    }

    /// Facts that failed alone, in the order in which they did.
    #[must_use]
    pub fn failed(&self) -> &[I] {
        &self.failed
    }
}

/// A limit for the scopes that its globs describe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ScopeLimit {
    /// Globs (`*` any run of characters, `?` one), case-sensitive.
    pub scope: Vec<String>,
    /// Most observations; −1 for no limit.
    pub limit: i32,
}

/// How many observations a scope may hold: the first rule in which every tag is covered by a glob
/// and every glob covers a tag, else the default; −1 for no limit. The global scope has none.
#[must_use]
pub fn scope_limit(rules: &[ScopeLimit], default: i32, scope: &[String]) -> i32 {
    if scope.is_empty() {
        return -1;
    }
    let fits = |rule: &&ScopeLimit| {
        let covered = |tag: &String| rule.scope.iter().any(|glob| glob_matches(glob, tag));
        let covers = |glob: &String| scope.iter().any(|tag| glob_matches(glob, tag));
        scope.iter().all(covered) && rule.scope.iter().all(covers)
    };
    rules.iter().find(fits).map_or(default, |rule| rule.limit)
}

/// Whether a glob (`*` any run of characters, `?` one) matches a whole text, case-sensitively.
#[must_use]
pub fn glob_matches(glob: &str, text: &str) -> bool {
    let (glob, text): (Vec<char>, Vec<char>) = (glob.chars().collect(), text.chars().collect());
    let (mut g, mut t) = (0, 0);
    // Where the last star stands and where it stopped swallowing.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match glob.get(g) {
            Some('*') => {
                star = Some((g, t));
                g += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => {
                g += 1;
                t += 1;
            }
            Some(_) | None => match star {
                Some((at, swallowed)) => {
                    star = Some((at, swallowed + 1));
                    g = at + 1;
                    t = swallowed + 1;
                }
                None => return false,
            },
        }
    }
    glob[g..].iter().all(|c| *c == '*')
}

/// Dates of an observation or of one of its sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SourceTimes {
    /// When the told event began.
    pub occurred_start: Option<Instant>,
    /// When it ended.
    pub occurred_end: Option<Instant>,
    /// When the source said it.
    pub mentioned_at: Option<Instant>,
}

/// The dates of an observation from those of its sources (and, at an update, its own): earliest
/// start, latest end, latest mention; missing ones are ignored.
#[must_use]
pub fn merge_times(sources: impl IntoIterator<Item = SourceTimes>) -> SourceTimes {
    // `None` is less than any moment, so `max` ignores it and `min` must not see it.
    let earliest = |a: Option<Instant>, b: Option<Instant>| a.into_iter().chain(b).min();
    sources.into_iter().fold(SourceTimes::default(), |merged, source| SourceTimes {
        occurred_start: earliest(merged.occurred_start, source.occurred_start),
        occurred_end: merged.occurred_end.max(source.occurred_end),
        mentioned_at: merged.mentioned_at.max(source.mentioned_at),
    })
}

/// Number of distinct sources after some are added.
#[must_use]
pub fn proof_count<I: Eq + Hash>(existing: &[I], added: &[I]) -> u32 {
    let distinct: HashSet<&I> = existing.iter().chain(added).collect();
    u32::try_from(distinct.len()).unwrap_or(u32::MAX)
}

/// Seconds to wait before an operation is tried again: 5 × 2^attempt, at most half an hour.
#[must_use]
pub fn retry_backoff_seconds(attempt: u32) -> u32 {
    2_u32.saturating_pow(attempt).saturating_mul(5).min(1800)
}

/// What becomes of an observation that loses a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum InvalidateMode {
    /// It goes, and its other sources are folded anew.
    #[default]
    Strict,
    /// It stays for review while two sources are left.
    Surgical,
}

/// The outcome of [`invalidate`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalidation<I> {
    /// Observations that go.
    pub deleted: Vec<I>,
    /// Observations that stay, to be rewritten from what is left.
    pub needs_review: Vec<I>,
    /// Facts to fold anew, each once.
    pub requeued: Vec<I>,
}

/// What happens to observations (id and sources) when facts are removed, invalidated or re-tagged.
#[must_use]
pub fn invalidate<I: Clone + Eq + Hash>(
    observations: &[(I, Vec<I>)],
    removed: &[I],
    mode: InvalidateMode,
) -> Invalidation<I> {
    let removed: HashSet<&I> = removed.iter().collect();
    let mut outcome =
        Invalidation { deleted: Vec::new(), needs_review: Vec::new(), requeued: Vec::new() };
    let mut queued: HashSet<&I> = HashSet::new();
    for (id, sources) in observations {
        if !sources.iter().any(|source| removed.contains(source)) {
            continue;
        }
        let left: HashSet<&I> = sources.iter().filter(|id| !removed.contains(*id)).collect();
        if mode == InvalidateMode::Surgical && left.len() >= 2 {
            outcome.needs_review.push(id.clone());
            continue;
        }
        outcome.deleted.push(id.clone());
        for source in sources.iter().filter(|source| left.contains(*source)) {
            if queued.insert(source) {
                outcome.requeued.push(source.clone());
            }
        }
    }
    outcome
}

/// What two statements of one scope have in common when they are folded without a language model:
/// equal text (folded, blanks collapsed) and equal entities (by their keys, in any order).
#[must_use]
pub fn equal_statement_key(text: &str, entity_keys: &[String]) -> String {
    let entities: BTreeSet<&String> = entity_keys.iter().collect();
    let entities: Vec<&str> = entities.into_iter().map(String::as_str).collect();
    format!("{}\u{0}{}", same_statement_key(text), entities.join("\u{0}"))
}

/// Groups of two or more equal statements, as places in `keys` (from [`equal_statement_key`]), each
/// in the order given.
#[must_use]
pub fn equal_statements(keys: &[String]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (at, key) in keys.iter().enumerate() {
        let place = *places.entry(key).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(at);
    }
    groups.retain(|group| group.len() > 1);
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(items: &[&str]) -> Vec<String> {
        items.iter().map(|item| (*item).to_owned()).collect()
    }

    #[test]
    fn an_untagged_fact_always_has_the_global_scope() {
        for rule in [ScopeRule::Combined, ScopeRule::PerTag, ScopeRule::AllCombinations] {
            assert_eq!(scopes(&[], &rule), Ok(vec![Vec::new()]));
        }
    }

    #[test]
    fn too_many_combinations_are_refused() {
        let tags = strings(&["a", "b", "c", "d", "e", "f", "g"]);
        assert_eq!(scopes(&tags, &ScopeRule::AllCombinations), Err(ScopeFault::TooMany));
        let subsets = scopes(&tags[..6], &ScopeRule::AllCombinations);
        assert_eq!(subsets.map(|scopes| scopes.len()), Ok(63));
    }

    #[test]
    fn facts_of_different_scopes_never_share_a_call() {
        let fact = |id: &'static str, tag: &str, rule: &ScopeRule| PendingFact {
            id,
            tags: strings(&[tag]),
            scopes: scopes(&strings(&[tag]), rule).unwrap(),
        };
        let shared = ScopeRule::Shared;
        let facts = [
            fact("1", "a", &ScopeRule::Combined),
            fact("2", "a", &shared),
            fact("3", "a", &ScopeRule::Combined),
            fact("4", "b", &shared),
            fact("5", "a", &ScopeRule::PerTag),
        ];
        let cut: Vec<_> = batches(&facts, 2).into_iter().map(|batch| batch.facts).collect();
        assert_eq!(cut, [vec!["1", "3"], vec!["5"], vec!["2"], vec!["4"]]);
    }

    #[test]
    fn odd_batches_are_halved_with_the_smaller_half_first() {
        let mut parts = Bisection::new(vec![1, 2, 3, 4, 5]);
        let mut calls = Vec::new();
        while let Some(batch) = parts.next_batch() {
            calls.push(batch.clone());
            if batch.contains(&5) {
                parts.fail(batch);
            }
        }
        assert_eq!(
            calls,
            [vec![1, 2, 3, 4, 5], vec![1, 2], vec![3, 4, 5], vec![3], vec![4, 5], vec![4], vec![5]]
        );
        assert_eq!(parts.failed(), [5]);
    }

    #[test]
    fn globs() {
        for (glob, text, fits) in [
            ("run_*", "run_1", true),
            ("run_*", "Run_1", false),
            ("*", "", true),
            ("a?c*", "abcabc", true),
            ("*b*d", "abcd", true),
            ("*b*d", "abcde", false),
            ("?", "", false),
            ("é*", "éclair", true),
        ] {
            assert_eq!(glob_matches(glob, text), fits, "{glob} {text}");
        }
    }

    #[test]
    fn surgical_mode_keeps_what_two_sources_still_carry() {
        let observations =
            [("o1", vec!["f1", "f2", "f3"]), ("o2", vec!["f1", "f4"]), ("o3", vec!["f5"])];
        let outcome = invalidate(&observations, &["f1"], InvalidateMode::Surgical);
        assert_eq!(outcome.needs_review, ["o1"]);
        assert_eq!(outcome.deleted, ["o2"]);
        assert_eq!(outcome.requeued, ["f4"]);
    }

    #[test]
    fn equal_statements_need_equal_entities() {
        let key = |text: &str, entities: &[&str]| equal_statement_key(text, &strings(entities));
        let keys = [
            key("Ana likes tea", &["ana"]),
            key("ANA  likes tea", &["ana"]),
            key("Ana likes tea", &["ana", "tea"]),
        ];
        assert_eq!(equal_statements(&keys), [vec![0, 1]]);
    }
}
