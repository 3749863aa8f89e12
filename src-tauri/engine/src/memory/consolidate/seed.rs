//! Folding with answers that are known beforehand, for banks that come with the program: checked,
//! embedded and written like those of a language model.

use super::apply::{self, Order};
use super::plan::{self, Seen};
use super::round::{Desk, mistake};
use super::select::{self, Waiting};
use crate::handle::read_bank;
use crate::{Engine, Result};
use domain::consolidation::{Answer, Create};
use domain::{BankId, Instant, MemoryId};
use std::collections::BTreeMap;
use store::{BankKey, WriteTx, memories};
use tokio_util::sync::CancellationToken;

/// An observation that is known beforehand.
#[derive(Debug, Clone)]
pub(crate) struct Seed {
    pub(crate) id: MemoryId,
    pub(crate) scope: Vec<String>,
    pub(crate) text: String,
    pub(crate) sources: Vec<MemoryId>,
}

/// What is ready to be written.
pub(crate) struct Seeded(Vec<Order>);

impl Seeded {
    /// Writes it in the caller's transaction.
    pub(crate) fn write(&self, tx: &WriteTx<'_>, bank: BankKey, now: Instant) -> store::Result<()> {
        for order in &self.0 {
            apply::write(tx, bank, order, now)?;
        }
        Ok(())
    }
}

/// Plans the folding of all that waits in a bank into the given observations.
///
/// # Errors
/// Those of reading and of the embedder; `unexpected_error` where an observation does not fit its
/// facts, which is a mistake in this program.
pub(crate) async fn seed(engine: &Engine, bank: &BankId, seeds: &[Seed]) -> Result<Seeded> {
    let none = CancellationToken::new();
    let desk = Desk::with(engine, bank, &none, None, false).await?;
    let settings = desk.settings.clone();
    let work = read_bank(engine, bank, move |tx, key| {
        let all = store::tag_sets::TagSets::All;
        let keys = memories::pending_keys(tx, key, &all, u32::MAX)?;
        select::read(tx, &keys, &settings)
    })
    .await?;
    let all: Vec<Waiting> =
        work.batches.iter().flat_map(|batch| batch.facts.iter().cloned()).collect();
    let mut by_scope: BTreeMap<&[String], Vec<&Seed>> = BTreeMap::new();
    for one in seeds {
        by_scope.entry(&one.scope).or_default().push(one);
    }
    let mut passes = Vec::new();
    for (scope, own) in by_scope {
        let facts: Vec<Waiting> = work
            .batches
            .iter()
            .filter(|batch| batch.scopes.iter().any(|one| one == scope))
            .flat_map(|batch| batch.facts.iter().cloned())
            .collect();
        let creates = own.iter().map(|one| Create {
            text: one.text.clone(),
            sources: one.sources.iter().map(|id| id.0.clone()).collect(),
            reason: None,
        });
        let answer = Answer { creates: creates.collect(), ..Answer::default() };
        let mut pass = plan::of_answer(&desk, None, scope, &facts, &[], None, answer).await?;
        if pass.creates.len() != own.len() {
            return Err(mistake("a seeded observation does not fit its facts"));
        }
        // The same in every making, so that what cites them finds them again.
        for (make, one) in pass.creates.iter_mut().zip(&own) {
            make.id = one.id.clone();
        }
        passes.push(pass);
    }
    Ok(Seeded(vec![Order {
        operation: None,
        facts: all.iter().map(|fact| Seen::of(&fact.memory)).collect(),
        tags: Vec::new(),
        passes,
        history_limit: desk.settings.observation_history_max_entries,
    }]))
}
