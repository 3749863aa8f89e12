//! Finding memories: by words, by meaning, through shared entities and links, by time. Each way
//! gives its own list; joining them is done elsewhere. All of them obey one predicate, [`Scope`],
//! inside the query, so that no list is cut before it is filtered.

mod admit;
pub mod around;
pub(crate) mod block;
pub mod graph;
pub(crate) mod matrix;
pub mod models;
pub mod text;
mod ties;
pub mod time;
pub mod vector;

use domain::time::to_millis;
use domain::{FactType, Instant};
use rusqlite::types::Value;

use crate::keys::{BankKey, MemoryKey};
use crate::row;
use crate::tag_sets::TagSets;

/// Which memories may be found. Only ones in use, ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The bank. Nothing crosses banks.
    pub bank: BankKey,
    /// The types, none twice. An empty list finds nothing.
    pub types: Vec<FactType>,
    /// The tag sets.
    pub tag_sets: TagSets,
    /// Only those updated after this (exclusive).
    pub updated_after: Option<Instant>,
    /// Only those updated before this (exclusive).
    pub updated_before: Option<Instant>,
    /// Only those written after this sequence number (exclusive).
    pub after_seq: Option<i64>,
    /// Only those written up to this sequence number (inclusive).
    pub up_to_seq: Option<i64>,
    /// Only those whose event or telling falls into this span (inclusive both).
    pub told_between: Option<(Instant, Instant)>,
}

impl Scope {
    /// Everything in use in a bank.
    #[must_use]
    pub fn all(bank: BankKey) -> Self {
        Self {
            bank,
            types: FactType::ALL.to_vec(),
            tag_sets: TagSets::All,
            updated_after: None,
            updated_before: None,
            after_seq: None,
            up_to_seq: None,
            told_between: None,
        }
    }

    /// The same, for one type.
    #[must_use]
    pub fn only(&self, fact_type: FactType) -> Self {
        Self { types: vec![fact_type], ..self.clone() }
    }

    /// Whether nothing can be found at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.types.is_empty() || self.tag_sets.is_empty()
    }

    /// Whether the scope restricts by more than bank and type, which the vector tables know
    /// themselves.
    pub(crate) fn is_narrow(&self) -> bool {
        self.tag_sets != TagSets::All
            || self.updated_after.is_some()
            || self.updated_before.is_some()
            || self.after_seq.is_some()
            || self.up_to_seq.is_some()
            || self.told_between.is_some()
    }

    /// Adds the conditions on the table `m`.
    pub(crate) fn restrict(&self, clause: &mut Clause) {
        clause.and("m.bank_id = ", self.bank.0);
        clause.text("AND m.state = 0");
        if self.types.len() < FactType::ALL.len() {
            let codes: Vec<String> = self.types.iter().map(|t| t.code().to_string()).collect();
            clause.text(&format!("AND m.fact_type IN ({})", codes.join(", ")));
        }
        if let TagSets::These(sets) = &self.tag_sets {
            let sets = row::id_list(sets.iter().map(|s| s.0));
            let at = clause.bind(sets);
            clause.text(&format!("AND m.tag_set_id IN (SELECT value FROM json_each(?{at}))"));
        }
        if let Some(after) = self.updated_after {
            clause.and("m.updated_at > ", to_millis(after));
        }
        if let Some(before) = self.updated_before {
            clause.and("m.updated_at < ", to_millis(before));
        }
        if let Some(seq) = self.after_seq {
            clause.and("m.change_seq > ", seq);
        }
        if let Some(seq) = self.up_to_seq {
            clause.and("m.change_seq <= ", seq);
        }
        if let Some((from, to)) = self.told_between {
            let (a, b) = (clause.bind(to_millis(from)), clause.bind(to_millis(to)));
            clause.text(&format!(
                "AND (m.occurred_start BETWEEN ?{a} AND ?{b}
                  OR m.occurred_end BETWEEN ?{a} AND ?{b}
                  OR m.mentioned_at BETWEEN ?{a} AND ?{b}
                  OR (m.occurred_end > m.occurred_start
                      AND m.occurred_start < ?{a} AND m.occurred_end > ?{b}))"
            ));
        }
    }
}

/// One memory that a way of searching found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The memory.
    pub key: MemoryKey,
    /// Its type.
    pub fact_type: FactType,
    /// How well it fits, greater is better; comparable within one way only.
    pub score: f64,
}

/// Orders hits: best first, then the newest key.
pub(crate) fn best_first(a: &Hit, b: &Hit) -> std::cmp::Ordering {
    b.score.total_cmp(&a.score).then(b.key.cmp(&a.key))
}

/// The best `limit` hits of each type, best first within a type, types in their fixed order.
pub(crate) fn best_of_each(hits: Vec<Hit>, limit: usize) -> Vec<Hit> {
    let mut best = FactType::ALL.map(|of| admit::Best::new(of, limit, f64::NEG_INFINITY));
    for hit in hits {
        best[admit::slot(hit.fact_type)].offer(hit.key, hit.score);
    }
    best.into_iter().flat_map(admit::Best::into_hits).collect()
}

/// A WHERE clause under construction, with its values. The text depends only on which conditions
/// there are, never on their values, so that prepared statements are found again.
#[derive(Debug, Default)]
pub(crate) struct Clause {
    pub(crate) sql: String,
    pub(crate) values: Vec<Value>,
}

impl Clause {
    /// Binds a value; gives the number of its parameter.
    pub(crate) fn bind(&mut self, value: impl Into<Value>) -> usize {
        self.values.push(value.into());
        self.values.len()
    }

    /// Adds text.
    pub(crate) fn text(&mut self, sql: &str) {
        self.sql.push(' ');
        self.sql.push_str(sql);
    }

    /// Adds `AND <left>?n`, or `<left>?n` at the beginning.
    pub(crate) fn and(&mut self, left: &str, value: impl Into<Value>) {
        let at = self.bind(value);
        let joint = if self.sql.is_empty() { "" } else { "AND " };
        self.text(&format!("{joint}{left}?{at}"));
    }
}
