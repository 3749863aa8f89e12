//! One round: reads what waits page by page, folds it batch by batch, takes failing batches apart,
//! and at its end either queues the next round or says that all is folded. Every batch is one
//! commit, so a program that is killed goes on with what still waits.

use super::apply::{self, Counts, Order};
use super::plan::{self, Pass, Seen};
use super::queue::{self, Payload};
use super::select::{self, Batch, Waiting};
use super::{Folded, call, review};
use crate::handle::{read_bank, write_bank};
use crate::memory::keep;
use crate::ops::{Handled, Running};
use crate::report::{Report, fault};
use crate::view::operation::Progress;
use crate::{Engine, Result};
use domain::bank::BankSettings;
use domain::consolidation::Bisection;
use domain::tags::TagSet;
use domain::{BankId, OperationId};
use llm::Provider;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::operations::{self, End};
use store::{MemoryKey, freshness, memories};
use tokio_util::sync::CancellationToken;

/// Facts read at a time (memory 10.1).
const PAGE: usize = 50;

/// Keys looked up at a time: the search for the oldest walks all that wait, so it is not made for
/// every page.
const AHEAD: u32 = 2_000;

/// Times in a row that all that waits may be gone through with nothing done.
const IDLE: u32 = 5;

/// Whether a batch of this run was committed.
pub(super) type Committed = AtomicBool;

/// What stays the same during a run.
pub(super) struct Desk {
    pub(super) engine: Engine,
    pub(super) bank: BankId,
    pub(super) cancel: CancellationToken,
    pub(super) settings: BankSettings,
    /// None where equal statements are folded by themselves.
    pub(super) provider: Option<Arc<dyn Provider>>,
    /// Whether the bank's vectors come from the embedder in use.
    pub(super) embeds: bool,
    private: TagSet,
    /// Whether the language model is on another machine.
    far: bool,
}

impl Desk {
    /// Reads what a run needs.
    ///
    /// # Errors
    /// `llm_not_configured` when there is neither a language model nor extractive mode.
    pub(super) async fn open(
        engine: &Engine,
        bank: &BankId,
        cancel: &CancellationToken,
    ) -> Result<Self> {
        let chosen = engine.chosen().await?;
        let far = chosen.as_ref().is_some_and(|chosen| !chosen.local);
        let provider = chosen.map(|chosen| chosen.provider);
        Self::with(engine, bank, cancel, provider, far).await
    }

    /// The same for given answers instead of a language model.
    pub(super) async fn with(
        engine: &Engine,
        bank: &BankId,
        cancel: &CancellationToken,
        provider: Option<Arc<dyn Provider>>,
        far: bool,
    ) -> Result<Self> {
        let reader = engine.clone();
        let (settings, embeds) = read_bank(engine, bank, move |tx, key| {
            let bank = store::banks::by_key(tx, key)?;
            Ok((crate::settings::of_bank(tx, &bank)?, keep::embeds(&reader, &bank)))
        })
        .await?;
        Ok(Self {
            engine: engine.clone(),
            bank: bank.clone(),
            cancel: cancel.clone(),
            private: settings.local_only(),
            settings,
            provider,
            embeds,
            far,
        })
    }

    /// Ends with `cancelled` when a person has asked for it.
    pub(super) fn check(&self) -> Result<()> {
        crate::memory::search::check(&self.cancel)
    }

    /// Whether texts with these tags must not be put to the language model: it, or the embedder that
    /// finds what to show beside them, is on another machine (README 62).
    pub(super) fn stays_here(&self, tags: &BTreeSet<String>) -> bool {
        (self.far || !self.engine.embedder().is_local()) && self.is_private(tags)
    }

    /// Whether texts with these tags must not go to the embedder.
    pub(super) fn must_not_be_embedded(&self, tags: &BTreeSet<String>) -> bool {
        !self.engine.embedder().is_local() && self.is_private(tags)
    }

    fn is_private(&self, tags: &BTreeSet<String>) -> bool {
        TagSet::new(tags).overlaps(&self.private)
    }
}

/// What a round came to.
#[derive(Debug, Default)]
pub(super) struct Tally {
    counts: Counts,
    failed: u32,
    rejected: BTreeMap<&'static str, u32>,
}

impl Tally {
    pub(super) fn add(&mut self, counts: Counts, passes: &[Pass]) {
        self.counts.facts += counts.facts;
        self.counts.created += counts.created;
        self.counts.updated += counts.updated;
        self.counts.deleted += counts.deleted;
        for (reason, n) in passes.iter().flat_map(|pass| &pass.rejected) {
            *self.rejected.entry(reason).or_default() += n;
        }
    }

    fn settled(&self) -> u32 {
        self.counts.facts.saturating_add(self.failed)
    }

    fn result(&self, round: u32) -> serde_json::Value {
        json!({
            "round": round + 1,
            "facts": self.counts.facts,
            "created": self.counts.created,
            "updated": self.counts.updated,
            "deleted": self.counts.deleted,
            "failed": self.failed,
            "rejected": self.rejected,
        })
    }
}

/// Runs a round.
///
/// # Errors
/// What concerns more than one batch: the network, the key, the file; `cancelled`.
pub(super) async fn run(running: &Running, committed: &Committed) -> Result<Folded> {
    let desk = Desk::open(&running.engine, &running.bank, &running.cancel).await?;
    if !desk.settings.enable_observations {
        return Ok(Handled::default().into());
    }
    let mut round = Round { running, desk, committed, tally: Tally::default(), left: 0 };
    review::run(&mut round).await?;
    let payload = Payload::of(&running.operation);
    round.fold(payload.scopes.as_deref()).await?;
    round.end(payload).await
}

pub(super) struct Round<'a> {
    pub(super) running: &'a Running,
    pub(super) desk: Desk,
    pub(super) tally: Tally,
    committed: &'a Committed,
    /// Facts that wait, as last counted: counting walks all of them, so it is not done for every
    /// batch.
    left: u32,
}

impl Round<'_> {
    /// Folds what waits, up to the bank's cap for a round.
    async fn fold(&mut self, asked: Option<&[Vec<String>]>) -> Result<()> {
        let cap = self.desk.settings.consolidation_max_memories_per_round.unwrap_or(u32::MAX);
        let mut idle = 0;
        loop {
            let before = self.tally.settled();
            let left = cap.saturating_sub(before);
            let keys = self.waiting(asked, left.min(AHEAD)).await?;
            if keys.is_empty() {
                return Ok(());
            }
            self.left = self.count(asked).await?;
            for page in keys.chunks(PAGE) {
                let (own, settings) = (page.to_vec(), self.desk.settings.clone());
                let work = read_bank(&self.desk.engine, &self.desk.bank, move |tx, _| {
                    select::read(tx, &own, &settings)
                })
                .await?;
                for (fact, why) in work.unfit {
                    self.set_aside(fact, why).await?;
                }
                for batch in work.batches {
                    self.tell(false).await;
                    self.batch(&batch).await?;
                }
            }
            // What a person changes meanwhile waits for its next turn; facts that wait however often
            // it is their turn would be put to the language model without end.
            idle = if self.tally.settled() == before { idle + 1 } else { 0 };
            if idle == IDLE {
                return Err(mistake("facts that were folded still wait"));
            }
        }
    }

    async fn waiting(&self, asked: Option<&[Vec<String>]>, most: u32) -> Result<Vec<MemoryKey>> {
        let asked = asked.map(<[_]>::to_vec);
        read_bank(&self.desk.engine, &self.desk.bank, move |tx, key| {
            let sets = select::qualifying(tx, key, asked.as_deref())?;
            memories::pending_keys(tx, key, &sets, most)
        })
        .await
    }

    /// Folds a batch; where its call fails for good, ever smaller parts of it, until the facts that
    /// make it fail stand alone.
    async fn batch(&mut self, batch: &Batch) -> Result<()> {
        let mut parts = Bisection::new((0..batch.facts.len()).collect());
        while let Some(part) = parts.next_batch() {
            self.desk.check()?;
            let facts: Vec<Waiting> =
                part.iter().filter_map(|at| batch.facts.get(*at)).cloned().collect();
            match self.passes(batch, &facts).await {
                Ok(passes) => self.write(batch, &facts, passes).await?,
                Err(error) if call::concerns_the_batch(&error) => {
                    if let [fact] = facts.as_slice() {
                        self.set_aside(fact.memory.key, Report::from(&error).message).await?;
                    }
                    parts.fail(part);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn passes(&self, batch: &Batch, facts: &[Waiting]) -> Result<Vec<Pass>> {
        let mut passes = Vec::with_capacity(batch.scopes.len());
        for scope in &batch.scopes {
            passes.push(plan::pass(&self.desk, scope, facts).await?);
        }
        Ok(passes)
    }

    async fn write(&mut self, batch: &Batch, facts: &[Waiting], passes: Vec<Pass>) -> Result<()> {
        let order = Order {
            operation: Some(self.running.operation.key),
            facts: facts.iter().map(|fact| Seen::of(&fact.memory)).collect(),
            tags: batch.tags.clone(),
            passes,
            history_limit: self.desk.settings.observation_history_max_entries,
        };
        self.commit(order).await
    }

    /// Writes an order, unless something that it builds on has changed.
    pub(super) async fn commit(&mut self, order: Order) -> Result<()> {
        self.desk.check()?;
        let now = self.desk.engine.now();
        let (written, passes) =
            write_bank(&self.desk.engine, &self.desk.bank, "consolidate", move |tx, key| {
                let written = apply::write(tx, key, &order, now)?;
                Ok((written, order.passes))
            })
            .await?;
        if let Some(counts) = written {
            self.committed.store(true, Ordering::Relaxed);
            self.left = self.left.saturating_sub(counts.facts);
            self.tally.add(counts, &passes);
        }
        for (reason, n) in passes.iter().flat_map(|pass| &pass.rejected) {
            tracing::info!(reason, n, "actions on observations were turned away");
        }
        Ok(())
    }

    /// Notes that a fact cannot be folded; it is passed over until a person asks for it again.
    async fn set_aside(&mut self, fact: MemoryKey, why: String) -> Result<()> {
        let (now, operation) = (self.desk.engine.now(), self.running.operation.key);
        write_bank(&self.desk.engine, &self.desk.bank, "consolidate_failed", move |tx, _| {
            memories::mark_failed(tx, fact, &why, now)?;
            operations::step_committed(tx, operation, now)
        })
        .await?;
        self.committed.store(true, Ordering::Relaxed);
        self.left = self.left.saturating_sub(1);
        self.tally.failed += 1;
        Ok(())
    }

    /// How many facts wait.
    async fn count(&self, asked: Option<&[Vec<String>]>) -> Result<u32> {
        let asked = asked.map(<[_]>::to_vec);
        read_bank(&self.desk.engine, &self.desk.bank, move |tx, key| {
            let sets = select::qualifying(tx, key, asked.as_deref())?;
            let waiting = freshness::pending(tx, key)?.into_iter();
            Ok(waiting.filter(|(set, _)| sets.admits(*set)).map(|(_, n)| n).sum())
        })
        .await
    }

    async fn tell(&self, last: bool) {
        let progress = Progress {
            stage: "folding".to_owned(),
            processed: Some(self.tally.settled()),
            total: Some(self.tally.settled().saturating_add(self.left)),
            stored: None,
            detail: None,
        };
        self.running.progress(progress, last).await;
    }

    /// Ends the round: the next one is queued while facts are left, else what changed is told.
    async fn end(self, payload: Payload) -> Result<Folded> {
        self.tell(true).await;
        let result = self.tally.result(payload.round);
        let left = !self.waiting(payload.scopes.as_deref(), 1).await?.is_empty();
        let (engine, bank) = (&self.desk.engine, &self.desk.bank);
        if left {
            return self.hand_on(result).await.map(Folded::from);
        }
        let untold = read_bank(engine, bank, |tx, key| {
            // The one that waits is the last of the chain then.
            if queue::another_waits(tx, key)? { Ok(None) } else { queue::touched(tx, key) }
        })
        .await?;
        Ok(Folded { handled: Handled { result: Some(result), ..Handled::default() }, untold })
    }

    /// Ends this round and queues the next in one commit, so that a chain is never cut between them.
    async fn hand_on(self, result: serde_json::Value) -> Result<Handled> {
        let (engine, bank) = (&self.desk.engine, &self.desk.bank);
        let (now, id) = (engine.now(), OperationId(engine.new_id()));
        let operation = self.running.operation.clone();
        write_bank(engine, bank, "consolidation_round", move |tx, key| {
            queue::next_round(tx, key, &operation, id, now)?;
            operations::finish(tx, operation.key, &End::completed(Some(result), None), now)
        })
        .await?;
        crate::ops::wake(engine);
        Ok(Handled { written: true, ..Handled::default() })
    }
}

/// A mistake of this program, told as such.
pub(super) fn mistake(what: &str) -> crate::Error {
    fault("unexpected_error").detail(what).into()
}
