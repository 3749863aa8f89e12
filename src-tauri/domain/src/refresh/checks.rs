//! Figures of a result: how much a delta removes, how many citations a full refresh loses, and how
//! near the document is to its budget. The limits are settings; 0 switches a check off.

use std::collections::BTreeMap;

/// A part of a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// How many.
    pub part: usize,
    /// Of how many.
    pub whole: usize,
}

impl Share {
    #[expect(clippy::cast_precision_loss, reason = "counts of lines and citations are small")]
    fn exceeds(self, limit: f64) -> bool {
        limit > 0.0 && self.whole > 0 && self.part as f64 > limit * self.whole as f64
    }
}

/// Non-blank lines of `before` that `after` does not hold any more, wherever they stood. Repeated
/// lines count as often as they occur.
#[must_use]
pub fn removed_lines(before: &str, after: &str) -> Share {
    let mut kept: BTreeMap<&str, usize> = BTreeMap::new();
    for line in lines(after) {
        *kept.entry(line).or_default() += 1;
    }
    let mut share = Share { part: 0, whole: 0 };
    for line in lines(before) {
        share.whole += 1;
        match kept.get_mut(line) {
            Some(count @ 1..) => *count -= 1,
            _ => share.part += 1,
        }
    }
    share
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty())
}

/// Citations of `before` that `after` lacks.
#[must_use]
pub fn dropped_citations(before: &[String], after: &[String]) -> Share {
    let part = before.iter().filter(|id| !after.contains(id)).count();
    Share { part, whole: before.len() }
}

/// Whether a delta removes more than its limit (default 0.3) of the document's lines.
#[must_use]
pub fn is_large_removal(removed: Share, limit: f64) -> bool {
    removed.exceeds(limit)
}

/// Whether a full refresh drops more than its limit (default 0.5) of the previous citations.
#[must_use]
pub fn is_large_loss(dropped: Share, limit: f64) -> bool {
    dropped.exceeds(limit)
}

/// What the prompt of a delta says about the document's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BudgetPressure {
    /// Below 80 % of the budget.
    Roomy,
    /// From 80 %: prefer replacing stale blocks.
    Tight,
    /// From 100 %: make room by removing what is superseded or said twice, never the new facts.
    Full,
}

/// How near a document is to its budget, both in tokens. Never a reason to cut.
#[must_use]
pub fn budget_pressure(document_tokens: u32, budget: u32) -> BudgetPressure {
    let (tokens, budget) = (u64::from(document_tokens), u64::from(budget));
    if tokens >= budget {
        BudgetPressure::Full
    } else if tokens * 5 >= budget * 4 {
        BudgetPressure::Tight
    } else {
        BudgetPressure::Roomy
    }
}

/// The advisory size of an answer with operations, in tokens: 1.5 times the document's budget, at
/// least 2048. Never a limit of the transport, which could cut the JSON.
#[must_use]
pub fn op_answer_tokens(budget: u32) -> u32 {
    budget.saturating_add(budget / 2).max(2048)
}
