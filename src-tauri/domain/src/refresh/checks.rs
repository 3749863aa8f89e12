//! Figures of a result: how much a delta removes, how many citations a full refresh loses, and how
//! near the document is to its budget. The limits are settings; 0 switches a check off.

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

/// Non-blank lines of `before` that a change takes away: of every place where lines go, those beyond
/// the number of lines that come in their stead. Replacing a line is not removing it.
#[must_use]
pub fn removed_lines(before: &str, after: &str) -> Share {
    let (before, after) = (lines(before), lines(after));
    let part = similar::capture_diff_slices(similar::Algorithm::Myers, &before, &after)
        .iter()
        .map(|op| op.old_range().len().saturating_sub(op.new_range().len()))
        .sum();
    Share { part, whole: before.len() }
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_line_is_not_a_removed_one() {
        let before = "# T\n\nAda leads.\n\nShe likes tea.\n";
        assert_eq!(removed_lines(before, "# T\n\nBob leads.\n\nShe likes tea.\n").part, 0);
        assert_eq!(removed_lines(before, "# T\n\nAda leads.\n"), Share { part: 1, whole: 3 });
        let moved_on = "# T\n\nShe likes tea.\n\n## New\n\nMore.\n\nAnd more.\n";
        assert_eq!(removed_lines(before, moved_on).part, 1);
    }

    #[test]
    fn limits_are_strict_and_zero_is_off() {
        let share = Share { part: 3, whole: 10 };
        assert!(!is_large_removal(share, 0.3));
        assert!(is_large_removal(share, 0.29));
        assert!(!is_large_removal(share, 0.0));
        assert!(!is_large_loss(Share { part: 0, whole: 0 }, 0.5));
    }

    #[test]
    fn pressure_turns_at_eighty_and_a_hundred_per_cent() {
        let budget = 2048;
        assert_eq!(budget_pressure(1638, budget), BudgetPressure::Roomy);
        assert_eq!(budget_pressure(1639, budget), BudgetPressure::Tight);
        assert_eq!(budget_pressure(2048, budget), BudgetPressure::Full);
        assert_eq!(op_answer_tokens(256), 2048);
        assert_eq!(op_answer_tokens(4096), 6144);
    }
}
