//! The look at the schedules: which models are due, and one submit for each, however many boundaries
//! were missed. Told by the wall clock, so that a machine that slept catches up on waking, once.

use super::{Fate, Trigger, submit};
use crate::memory::consolidate;
use crate::ops::{self, Means};
use crate::{Engine, Result, fresh, settings};
use chrono::TimeDelta;
use domain::cron::Cron;
use domain::model::{Cause, Freshness};
use domain::schedule::{Tick, cron_due, look_due, missed_since};
use domain::trigger::StatedTrigger;
use domain::{Instant, OperationId};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use store::models::ModelHead;
use store::proposals::ProposalOrigin;
use store::{BankKey, ReadTx, WriteTx, operations};

/// Longest wait before the first look, so that programs that start together do not ask together.
const JITTER_MS: u16 = 30_000;
/// How often the wall clock is asked whether a look is due. Short, because a wait does not count the
/// time that the machine slept.
const GLANCE: Duration = Duration::from_secs(30);
/// Ended operations are kept this long (README 56).
const KEPT_DAYS: i64 = 30;

/// When the schedules were last looked at, in this run of the program.
#[derive(Debug, Default)]
pub(crate) struct LastLook(Mutex<Option<Instant>>);

impl LastLook {
    fn get(&self) -> Option<Instant> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, at: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
    }
}

/// What a look led to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ticked {
    /// Refreshes that were queued.
    pub queued: Vec<OperationId>,
    /// Models that were due and had no reason to run, or were held back.
    pub skipped: u32,
}

/// Looks at the schedules of all banks as of `now` and queues what is due. Does nothing while nothing
/// can answer, so that no boundary is spent on it.
///
/// # Errors
/// Those of the file.
pub async fn tick(engine: &Engine, now: Instant) -> Result<Ticked> {
    let last = engine.inner.last_look.get();
    let reader = engine.clone();
    let read = move |tx: &ReadTx<'_>| Ok((reader.means(tx)?, settings::tick_seconds(tx)?));
    let (means, every) = engine.store().read(read).await?;
    if means == Means::Nothing {
        return Ok(Ticked::default());
    }
    let look = Look { last, now, every };
    let due = engine.store().read(move |tx| look.due(tx)).await?;
    let mut ticked = Ticked::default();
    if !due.is_empty() {
        let writer = engine.clone();
        ticked = engine.store().write("tick", move |tx| look.act(tx, &writer)).await?;
        ops::wake(engine);
    }
    engine.inner.last_look.set(now);
    Ok(ticked)
}

/// One look at the schedules.
#[derive(Debug, Clone, Copy)]
struct Look {
    last: Option<Instant>,
    now: Instant,
    every: u32,
}

/// A model with a schedule that is due.
struct Due {
    head: ModelHead,
    plain: Option<Instant>,
    full: Option<Instant>,
    missed_since: Option<Instant>,
}

impl Look {
    /// The models that are due, of all banks. A model with a queued or running refresh is left for
    /// the next look.
    fn due(self, tx: &ReadTx<'_>) -> store::Result<Vec<Due>> {
        let mut due = Vec::new();
        for head in store::models::with_trigger(tx, &["refresh_cron", "full_refresh_cron"])? {
            if let Some(found) = self.judge(head)
                && operations::unfinished_of_model(tx, found.head.bank, &found.head.id)?.is_empty()
            {
                due.push(found);
            }
        }
        Ok(due)
    }

    fn judge(self, head: ModelHead) -> Option<Due> {
        let trigger = StatedTrigger::from_stored(&head.trigger).0.effective();
        let born = head.created_at;
        let plain = Served::of(head.last_refreshed_at.unwrap_or(born), head.last_cron_fire_at);
        let full =
            Served::of(head.last_full_refreshed_at.unwrap_or(born), head.last_full_cron_fire_at);
        let plain_cron = read_cron(&head, trigger.refresh_cron.as_deref());
        let full_cron = read_cron(&head, trigger.full_refresh_cron.as_deref());
        let plain_due = plain_cron.as_ref().and_then(|cron| plain.due(cron, self.now));
        let full_due = full_cron.as_ref().and_then(|cron| full.due(cron, self.now));
        let missed = |cron: Option<&Cron>, served: &Served, due: Option<Instant>| {
            due.and(cron).and_then(|cron| {
                missed_since(cron, served.until(), self.last, self.now, self.every)
            })
        };
        let missed_since = missed(plain_cron.as_ref(), &plain, plain_due)
            .into_iter()
            .chain(missed(full_cron.as_ref(), &full, full_due))
            .min();
        (plain_due.is_some() || full_due.is_some()).then_some(Due {
            head,
            plain: plain_due,
            full: full_due,
            missed_since,
        })
    }

    /// Queues what is due, in one transaction: what was acted on and what it led to belong together.
    fn act(self, tx: &WriteTx<'_>, engine: &Engine) -> store::Result<Ticked> {
        let mut by_bank: BTreeMap<BankKey, Vec<Due>> = BTreeMap::new();
        for due in self.due(tx)? {
            by_bank.entry(due.head.bank).or_default().push(due);
        }
        let mut ticked = Ticked::default();
        for (bank, all) in by_bank {
            let heads: Vec<ModelHead> = all.iter().map(|due| due.head.clone()).collect();
            let fresh = fresh::of_all(tx, bank, &heads)?;
            for due in all {
                let fresh = fresh.get(&due.head.key).cloned().unwrap_or_default();
                match self.one(tx, engine, &due, &fresh)? {
                    Fate::Queued(id) => ticked.queued.push(id),
                    Fate::Joined => {}
                    Fate::Skipped(_) => ticked.skipped += 1,
                }
            }
        }
        Ok(ticked)
    }

    fn one(
        self,
        tx: &WriteTx<'_>,
        engine: &Engine,
        due: &Due,
        fresh: &Freshness,
    ) -> store::Result<Fate> {
        // What a rebuild proposed is not proposed again before there is something newer.
        let needed = fresh.needs_refresh && !rebuild_waits(tx, &due.head)?;
        let changed = due.full.is_some() && (needed || changed_since_full(tx, &due.head)?);
        let Tick { fire, full_fire, submits } =
            domain::schedule::tick(due.plain, due.full, fresh.needs_refresh, changed);
        store::models::set_fires(tx, due.head.key, fire, full_fire)?;
        let cause = if due.plain.is_some() { Cause::Cron } else { Cause::FullCron };
        let trigger = Trigger {
            cause: submits.unwrap_or(cause),
            needed: submits.is_some(),
            missed_since: due.missed_since,
        };
        submit(tx, engine, &due.head, trigger, self.now)
    }
}

/// Up to when a schedule has been served.
struct Served {
    refreshed_at: Instant,
    fired_at: Option<Instant>,
}

impl Served {
    fn of(refreshed_at: Instant, fired_at: Option<Instant>) -> Self {
        Self { refreshed_at, fired_at }
    }

    fn due(&self, cron: &Cron, now: Instant) -> Option<Instant> {
        cron_due(cron, self.refreshed_at, self.fired_at, now)
    }

    fn until(&self) -> Instant {
        self.fired_at.map_or(self.refreshed_at, |at| at.max(self.refreshed_at))
    }
}

/// A stored expression; one that cannot be read is logged and passed over.
fn read_cron(head: &ModelHead, text: Option<&str>) -> Option<Cron> {
    Cron::parse(text?)
        .inspect_err(|fault| {
            tracing::warn!(model = %head.id, fault = fault.message(), "a schedule is passed over");
        })
        .ok()
}

fn rebuild_waits(tx: &ReadTx<'_>, head: &ModelHead) -> store::Result<bool> {
    let newest = store::proposals::newest(tx, head.key)?;
    Ok(newest.is_some_and(|it| it.state.is_waiting() && it.origin == ProposalOrigin::Full))
}

/// Whether a memory in scope is newer than what the last full run has read. Without a record of
/// one, it is.
fn changed_since_full(tx: &ReadTx<'_>, head: &ModelHead) -> store::Result<bool> {
    let Some(cutoff) = store::runs::newest_full_cutoff(tx, head.key)? else { return Ok(true) };
    let scope = crate::models::loaded::search_scope(tx, head.bank, &fresh::scope_of(head))?;
    let newest = store::freshness::newest(tx, head.bank, None)?;
    Ok(newest.within(&scope.types, &scope.tag_sets).is_some_and(|seq| seq > cutoff))
}

/// Starts looking at the schedules: once soon, then as often as the setting says.
pub(crate) fn start(engine: &Engine) {
    let weak = Arc::downgrade(&engine.inner);
    let stop = engine.stop_token();
    let mut wait = jitter(engine.clock().random());
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                () = tokio::time::sleep(wait) => {}
            }
            let Some(inner) = weak.upgrade() else { break };
            if let Err(error) = glance(&Engine { inner }).await {
                tracing::warn!(%error, "the schedules could not be looked at");
            }
            wait = GLANCE;
        }
    });
}

/// Up to thirty seconds, from random bytes.
fn jitter(random: [u8; 10]) -> Duration {
    let number = u16::from_be_bytes([random[8], random[9]]);
    Duration::from_millis(u64::from(number % JITTER_MS))
}

/// Looks if it is time to.
async fn glance(engine: &Engine) -> Result<()> {
    let now = engine.now();
    let every = engine.store().read(settings::tick_seconds).await?;
    if !look_due(engine.inner.last_look.get(), now, every) {
        return Ok(());
    }
    tick(engine, now).await?;
    // While nothing can answer, the look counts all the same: it is repeated at its time.
    engine.inner.last_look.set(now);
    let before = now - TimeDelta::days(KEPT_DAYS);
    let sweep = move |tx: &WriteTx<'_>| operations::sweep(tx, before, consolidate::UNTOLD);
    engine.store().write("sweep_operations", sweep).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_look_comes_within_half_a_minute() {
        assert_eq!(jitter([0; 10]), Duration::ZERO);
        assert!(jitter([255; 10]) < Duration::from_secs(30));
        assert_eq!(jitter([0, 0, 0, 0, 0, 0, 0, 0, 0x27, 0x10]), Duration::from_secs(10));
    }
}
