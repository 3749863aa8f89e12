//! Facts that were read and did not reach the document: found after a delta, offered again later,
//! given up after some attempts. Because of them the watermark may move after a partial success.

use std::collections::BTreeSet;

use crate::model::{CarryOver, CarryOverWhy};

/// How often a carried fact is offered in vain before it is given up.
pub const CARRY_ATTEMPTS: u32 = 3;

/// What a delta's answer said about the facts it was shown.
#[derive(Debug, Clone, Default)]
pub struct Judged {
    /// Cited by operations that were applied or were true already.
    pub cited: BTreeSet<String>,
    /// Cited by operations that did not fit.
    pub cited_by_skipped: BTreeSet<String>,
    /// Listed as reflected already.
    pub already_reflected: BTreeSet<String>,
    /// Listed as irrelevant.
    pub irrelevant: BTreeSet<String>,
    /// The answer was cut off, so what its missing tail would have cited is unknown.
    pub truncated: bool,
}

/// The facts in evidence that the answer does not account for, in the order of the evidence. Of a
/// cut answer only what it cites counts.
#[must_use]
pub fn uncovered(evidence: &[String], judged: &Judged) -> Vec<(String, CarryOverWhy)> {
    let mut seen = BTreeSet::new();
    evidence
        .iter()
        .filter(|fact| seen.insert(*fact) && !judged.cited.contains(*fact))
        .filter(|fact| {
            let settled =
                judged.already_reflected.contains(*fact) || judged.irrelevant.contains(*fact);
            judged.truncated || !settled
        })
        .map(|fact| {
            let why = if judged.cited_by_skipped.contains(fact) {
                CarryOverWhy::OpSkipped
            } else if judged.truncated {
                CarryOverWhy::Truncated
            } else {
                CarryOverWhy::Uncovered
            };
            (fact.clone(), why)
        })
        .collect()
}

/// The list after a run, and what was given up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Carried {
    /// To be offered again.
    pub list: Vec<CarryOver>,
    /// Given up: warning `facts_not_integrated`.
    pub given_up: Vec<String>,
}

/// The carry-over after a run at `version`. `offered` are the carried facts that the run was shown;
/// those neither uncovered again nor retracted were covered. Facts that were not offered stay.
#[must_use]
pub fn carry_over(
    before: &[CarryOver],
    offered: &BTreeSet<String>,
    uncovered: &[(String, CarryOverWhy)],
    retracted: &BTreeSet<String>,
    version: u32,
) -> Carried {
    let mut after = Carried::default();
    for entry in before.iter().filter(|entry| !retracted.contains(&entry.fact_id)) {
        let again = uncovered.iter().find(|(fact, _)| *fact == entry.fact_id);
        match again {
            Some((_, why)) => {
                let attempts = entry.attempts + 1;
                if attempts >= CARRY_ATTEMPTS {
                    after.given_up.push(entry.fact_id.clone());
                } else {
                    after.list.push(CarryOver { attempts, why: *why, ..entry.clone() });
                }
            }
            None if offered.contains(&entry.fact_id) => {}
            None => after.list.push(entry.clone()),
        }
    }
    let known: BTreeSet<&String> = before.iter().map(|entry| &entry.fact_id).collect();
    let fresh = uncovered.iter().filter(|(fact, _)| !known.contains(fact));
    after.list.extend(fresh.filter(|(fact, _)| !retracted.contains(fact)).map(|(fact, why)| {
        CarryOver { fact_id: fact.clone(), since_version: version, attempts: 0, why: *why }
    }));
    after
}
