//! Folding facts into observations: which facts wait, what a language model (or, without one, equal
//! wording) makes of them, and one commit for each batch. Facts of different tags or scopes never
//! share a call, and an observation is only ever looked for and changed within its exact scope.
//! Never refreshes a document; it says when that is due.

mod apply;
mod call;
mod candidates;
mod clear;
mod extractive;
mod plan;
mod queue;
mod review;
mod round;
mod seed;
mod select;
mod shown;

pub(crate) use queue::{
    UNTOLD, after_write, hand_over, hand_over_folded, seal, untold_of, will_come,
};
pub(crate) use seed::{Seed, seed};
pub(crate) use shown::{folding, stale_scopes};

use crate::llm_log::{self, CallContext};
use crate::ops::{Handled, Running};
use crate::prompts::CONSOLIDATE_SYSTEM;
use crate::report::{ErrorCode, Report};
use crate::view::memory::{ClearObservations, Consolidating};
use crate::{Engine, Error, Result};
use domain::BankId;
use domain::consolidation::retry_backoff_seconds;
use domain::schedule::MAX_RETRIES;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use store::operations::{self, Requeued};

/// Folds what waits, now: all of it, or only facts whose tags hold every tag of one of `scopes`. A
/// waiting consolidation takes the request over.
///
/// # Errors
/// `bank_not_found`; `llm_not_configured` where there is neither a language model nor extractive
/// mode; `invalid_request` where the bank makes no observations.
pub async fn now(
    engine: &Engine,
    bank: &BankId,
    scopes: Option<Vec<Vec<String>>>,
) -> Result<Consolidating> {
    queue::ask(engine, bank, scopes, false).await
}

/// Puts the facts that could not be folded back into the queue and folds them.
///
/// # Errors
/// As [`now`].
pub async fn retry_failed(engine: &Engine, bank: &BankId) -> Result<Consolidating> {
    queue::ask(engine, bank, None, true).await
}

/// Takes observations away and queues the facts that they were folded from; gives their number. Facts
/// are folded again by the next consolidation, not by this.
///
/// # Errors
/// `bank_not_found`, `memory_not_found`, `not_curatable` for a memory that is no fact.
pub async fn clear(engine: &Engine, bank: &BankId, which: ClearObservations) -> Result<u32> {
    clear::clear(engine, bank, which).await
}

/// How a consolidation ended.
pub(crate) struct Folded {
    /// For the queue.
    pub(crate) handled: Handled,
    /// Set when all is folded: the tags of what changed since mental models were last told, in this
    /// round and in those before it, also when they failed or were cut off. Whoever knows models
    /// looks after them and then calls [`told`].
    pub(crate) untold: Option<BTreeSet<String>>,
}

impl From<Handled> for Folded {
    fn from(handled: Handled) -> Self {
        Self { handled, untold: None }
    }
}

/// Notes that mental models were told of all that changed.
///
/// # Errors
/// Those of the file.
pub(crate) async fn told(engine: &Engine, bank: &BankId) -> Result<()> {
    crate::handle::write_bank(engine, bank, "consolidation_told", queue::told).await
}

/// Runs a queued consolidation.
///
/// # Errors
/// See the table. What may pass (the network, a limit of the provider) puts the operation back into
/// the queue with a growing wait instead.
pub(crate) async fn run(running: &Running) -> Result<Folded> {
    running.check()?;
    let context = CallContext {
        bank: Some(running.bank.clone()),
        operation: "consolidation".to_owned(),
        operation_id: Some(running.operation.id.clone()),
        run_id: None,
        prompt: (CONSOLIDATE_SYSTEM.name.to_owned(), CONSOLIDATE_SYSTEM.hash()),
    };
    let committed = round::Committed::default();
    match llm_log::within(context, round::run(running, &committed)).await {
        Ok(folded) => Ok(folded),
        Err(error) => {
            park(running, error, committed.load(Ordering::Relaxed)).await.map(Folded::from)
        }
    }
}

/// What follows an error: a wait that doubles from five seconds (memory 10.6), longer where the
/// provider asks for it, while retries are left; else the error itself, also where a provider says
/// when its quota ends, which the queue waits for. Retries count anew after each committed batch.
async fn park(running: &Running, error: Error, committed: bool) -> Result<Handled> {
    let report = Report::from(&error);
    let tried = if committed { 0 } else { running.operation.retry_count };
    let may_pass = report.retryable && report.code != ErrorCode::Cancelled && tried < MAX_RETRIES;
    if !may_pass || crate::ops::quota_wait(&error).is_some() {
        return Err(error);
    }
    let (key, now) = (running.operation.key, running.engine.now());
    let wait = chrono::Duration::seconds(i64::from(retry_backoff_seconds(tried)));
    let asked = match &error {
        Error::Llm(error) => error.retry_after(),
        _ => None,
    };
    let asked = asked.and_then(|wait| chrono::Duration::from_std(wait).ok()).unwrap_or_default();
    let until = now + wait.max(asked);
    running
        .engine
        .store()
        .write("requeue_operation", move |tx| {
            let why = (report.reason.as_str(), report.message.as_str());
            match operations::requeue(tx, key, Some(until), None, true, Some(why), now)? {
                Requeued::Pending(_) => Ok(()),
                Requeued::Folded { ended, .. } => queue::hand_over_folded(tx, &ended),
            }
        })
        .await?;
    Ok(Handled { written: true, ..Handled::default() })
}
