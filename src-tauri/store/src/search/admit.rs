//! A scope as comparisons of numbers, for memories whose traits are in memory; and the best few hits
//! of a type out of many. Reads nothing.

use domain::FactType;
use domain::time::to_millis;

use super::block::{Traits, UNDATED};
use super::{Hit, Scope, best_first};
use crate::keys::MemoryKey;
use crate::row;
use crate::tag_sets::TagSets;

/// The place of a type in lists of three.
pub(crate) fn slot(fact_type: FactType) -> usize {
    match fact_type {
        FactType::World => 0,
        FactType::Experience => 1,
        FactType::Observation => 2,
    }
}

/// The scope as comparisons of numbers.
pub(crate) struct Admission<'a> {
    pub(crate) types: [bool; 3],
    tag_sets: &'a TagSets,
    updated: (i64, i64),
    seq: (i64, i64),
    told: Option<(i64, i64)>,
    narrow: bool,
}

impl<'a> Admission<'a> {
    pub(crate) fn of(scope: &'a Scope) -> Self {
        Self {
            types: FactType::ALL.map(|t| scope.types.contains(&t)),
            tag_sets: &scope.tag_sets,
            updated: (
                row::ms(scope.updated_after).unwrap_or(i64::MIN),
                row::ms(scope.updated_before).unwrap_or(i64::MAX),
            ),
            seq: (scope.after_seq.unwrap_or(i64::MIN), scope.up_to_seq.unwrap_or(i64::MAX)),
            told: scope.told_between.map(|(from, to)| (to_millis(from), to_millis(to))),
            narrow: scope.is_narrow(),
        }
    }

    /// Whether every memory of an admitted type is admitted.
    pub(crate) fn by_type_alone(&self) -> bool {
        !self.narrow
    }

    /// The same predicate as [`Scope::restrict`].
    pub(crate) fn admits(&self, m: &Traits) -> bool {
        self.tag_sets.admits(m.tag_set)
            && self.updated.0 < m.updated_at
            && m.updated_at < self.updated.1
            && self.seq.0 < m.change_seq
            && m.change_seq <= self.seq.1
            && self.told.is_none_or(|(from, to)| {
                let inside = |at: i64| from <= at && at <= to;
                let [start, end] = m.occurred;
                inside(start)
                    || inside(end)
                    || inside(m.mentioned_at)
                    || (start != UNDATED && start < from && end > to)
            })
    }
}

/// The best few of a type: kept loosely, sorted now and then, so that most offers are one
/// comparison.
pub(crate) struct Best {
    fact_type: FactType,
    limit: usize,
    floor: f64,
    hits: Vec<Hit>,
}

impl Best {
    pub(crate) fn new(fact_type: FactType, limit: usize, floor: f64) -> Self {
        Self { fact_type, limit, floor, hits: Vec::new() }
    }

    pub(crate) fn offer(&mut self, key: MemoryKey, score: f64) {
        if score < self.floor || self.limit == 0 {
            return;
        }
        self.hits.push(Hit { key, fact_type: self.fact_type, score });
        if self.hits.len() >= self.limit * 2 + 64 {
            self.hits.select_nth_unstable_by(self.limit - 1, best_first);
            self.hits.truncate(self.limit);
            self.floor = self.hits[self.limit - 1].score;
        }
    }

    pub(crate) fn into_hits(mut self) -> Vec<Hit> {
        self.hits.sort_unstable_by(best_first);
        self.hits.truncate(self.limit);
        self.hits
    }
}
