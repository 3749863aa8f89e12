//! The worker: claims due operations, hands each to its subject, writes its end. A failure that may
//! pass goes back into the queue with a growing wait; everything else ends with its reason. A stop
//! of the program puts running work back; what a killed one leaves is taken up at the next start.

use super::{LANES, Means, Stop, Stopped, ceiling, holds};
use crate::events::Event;
use crate::memory::consolidate::hand_over_folded;
use crate::models::refresh::Idle;
use crate::report::{ErrorCode, Report};
use crate::view::operation::{OperationProgress, Progress};
use crate::{Engine, Error, Result};
use domain::schedule::{AfterFailure, FailureClass, after_failure};
use domain::{BankId, Instant};
use serde_json::Value;
use std::sync::Mutex;
use std::time::Duration;
use store::operations::{self, Claim, End, HeldReason, Lane, Operation, OperationType, Requeued};
use tokio_util::sync::CancellationToken;

/// Refreshes that may run at once (mental-models 12.2).
const MAX_REFRESHES: u32 = 2;

/// Progress is told at most this often (architecture 8: four a second).
const PROGRESS_EVERY_MS: u64 = 250;

/// The kinds that have a handler.
const KINDS: [OperationType; 5] = [
    OperationType::Retain,
    OperationType::Import,
    OperationType::Consolidation,
    OperationType::RefreshMentalModel,
    OperationType::EmbedBackfill,
];

/// What a handler is given.
pub struct Running {
    /// The engine.
    pub engine: Engine,
    /// The bank of the operation.
    pub bank: BankId,
    /// The operation as it was claimed.
    pub operation: Operation,
    /// Set when the operation shall stop; to be looked at between steps.
    pub cancel: CancellationToken,
    stop: Stop,
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    at_ms: Option<u64>,
    processed: u32,
}

/// What a handler gives back when the work is done.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Handled {
    /// What came out, by kind of operation.
    pub result: Option<Value>,
    /// Details of the end, for example the outcome of a refresh.
    pub details: Option<Value>,
    /// A failure that the subject has recorded already: reason and sentence.
    pub failed: Option<(String, String)>,
    /// Whether the subject ended it as cancelled.
    pub cancelled: bool,
    /// Whether the subject has written the end of the operation itself, in the transaction that
    /// wrote its result.
    pub written: bool,
}

impl Running {
    /// Says how far the work is: told at most four times a second unless `last`, never backwards.
    pub async fn progress(&self, progress: Progress, last: bool) {
        let now = self.engine.clock().ticks_ms();
        let progress = {
            let mut told = self.told.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let early = told.at_ms.is_some_and(|at| now.saturating_sub(at) < PROGRESS_EVERY_MS);
            if early && !last {
                return;
            }
            told.at_ms = Some(now);
            let processed = progress.processed.map(|n| n.max(told.processed));
            told.processed = processed.unwrap_or(0);
            Progress { processed, ..progress }
        };
        self.engine.tell(Event::Progress(OperationProgress {
            id: self.operation.id.clone(),
            bank: self.bank.clone(),
            progress: progress.clone(),
        }));
        let (key, at) = (self.operation.key, self.engine.now());
        let Ok(value) = serde_json::to_value(&progress) else { return };
        let written = self
            .engine
            .store()
            .write("operation_progress", move |tx| operations::progress(tx, key, &value, at))
            .await;
        if let Err(error) = written {
            tracing::warn!(%error, "progress was not written");
        }
    }

    /// Says which step the work is at, to those who watch and to those who ask, and writes nothing:
    /// what a killed program leaves is begun anew, and a write would cost more than a short step.
    pub fn step(&self, progress: Progress) {
        self.engine.inner.queue.step(&self.operation.id, progress.clone());
        self.engine.tell(Event::Progress(OperationProgress {
            id: self.operation.id.clone(),
            bank: self.bank.clone(),
            progress,
        }));
    }

    /// Notes that a step was committed, so that recoveries count anew.
    ///
    /// # Errors
    /// Those of writing.
    pub async fn step_committed(&self) -> Result<()> {
        let (key, at) = (self.operation.key, self.engine.now());
        self.engine
            .store()
            .write("operation_step", move |tx| operations::step_committed(tx, key, at))
            .await?;
        Ok(())
    }

    /// Why it was told to stop, if it was.
    #[must_use]
    pub fn stopped(&self) -> Option<Stopped> {
        self.stop.why()
    }

    /// Ends with `cancelled` when it was told to stop.
    ///
    /// # Errors
    /// `cancelled`.
    pub fn check(&self) -> Result<()> {
        if self.cancel.is_cancelled() {
            return Err(crate::report::fault("cancelled").into());
        }
        Ok(())
    }
}

/// Starts the lanes.
pub(crate) fn start_worker(engine: &Engine) {
    for (at, lane) in LANES.into_iter().enumerate() {
        let weak = std::sync::Arc::downgrade(&engine.inner);
        let stop = engine.stop_token();
        tokio::spawn(async move {
            loop {
                let Some(inner) = weak.upgrade() else { break };
                let engine = Engine { inner };
                let looked = engine.now();
                let ran = match run_one(&engine, lane).await {
                    Ok(ran) => ran,
                    Err(error) => {
                        tracing::warn!(%error, "the queue could not be read");
                        false
                    }
                };
                if ran {
                    // Another lane may find work that this one has just released.
                    engine.inner.queue.wake();
                    continue;
                }
                let wait = until_due(&engine, looked).await;
                tokio::select! {
                    () = stop.cancelled() => break,
                    () = engine.inner.queue.wake[at].notified() => {}
                    () = tokio::time::sleep(wait) => {}
                }
            }
        });
    }
}

/// How long nothing more falls due than what was due at the last look, a minute at most. What was due
/// then and was not taken waits for the end of something else, which wakes the lanes.
async fn until_due(engine: &Engine, looked: Instant) -> Duration {
    match engine.store().read(move |tx| operations::next_due(tx, looked)).await {
        Ok(Some(due)) => {
            (due - engine.now()).to_std().unwrap_or_default().min(Duration::from_secs(60))
        }
        Ok(None) | Err(_) => Duration::from_secs(60),
    }
    .max(Duration::from_millis(20))
}

/// Runs everything that is due until nothing is; for callers without a background worker.
///
/// # Errors
/// Those of reading and writing the queue; what an operation gives is written, not returned.
pub async fn run_pending(engine: &Engine) -> Result<()> {
    while run_one(engine, Lane::Any).await? {}
    Ok(())
}

/// Claims and runs one operation; false when none is due, or the program ends.
async fn run_one(engine: &Engine, lane: Lane) -> Result<bool> {
    if engine.stop_token().is_cancelled() {
        return Ok(false);
    }
    let (operation, bank) = match claim(engine, lane).await? {
        None => return Ok(false),
        Some(Claimed::Ended) => return Ok(true),
        Some(Claimed::Runs(operation, bank)) => (*operation, bank),
    };
    let stop = engine.inner.queue.begin(&operation.id);
    let cancel = stop.token.clone();
    let told = Mutex::new(Told::default());
    let running = Running { engine: engine.clone(), bank, operation, cancel, stop, told };
    if engine.stop_token().is_cancelled() {
        running.stop.stop(Stopped::ByShutdown);
    }
    let handled = if running.operation.automatic {
        ceiling::watched(&running.bank, &running.stop, handle(&running)).await
    } else {
        handle(&running).await
    };
    let written = end(&running, handled).await;
    engine.inner.queue.end(&running.operation.id);
    written?;
    Ok(true)
}

/// What came of taking an operation.
enum Claimed {
    /// It is to be run.
    Runs(Box<Operation>, BankId),
    /// There was nothing to do, and that is written.
    Ended,
}

/// Takes the next operation that may run. Nothing is written where nothing waits.
async fn claim(engine: &Engine, lane: Lane) -> Result<Option<Claimed>> {
    let now = engine.now();
    let wanted = Claim { lane, kinds: KINDS.to_vec(), max_refreshes: MAX_REFRESHES };
    let (look, reader) = (wanted.clone(), engine.clone());
    let looked = engine
        .store()
        .read(move |tx| {
            let next = operations::next_claimable(tx, &look, now)?;
            if next.is_none() && operations::held(tx)?.is_empty() {
                return Ok(None);
            }
            let means = reader.means(tx)?;
            let idle = match &next {
                Some(next) => Idle::look(tx, next, means, now)?,
                None => None,
            };
            Ok(Some((means, idle)))
        })
        .await?;
    let Some((means, idle)) = looked else { return Ok(None) };
    if let Some(idle) = idle {
        match take(engine, wanted.clone(), means, Some(idle), now).await {
            Ok(claimed) => return Ok(claimed),
            // Run at length, it says on record what is wrong.
            Err(error) => tracing::warn!(%error, "a refresh with nothing to read was not ended"),
        }
    }
    take(engine, wanted, means, None, now).await
}

async fn take(
    engine: &Engine,
    wanted: Claim,
    means: Means,
    idle: Option<Idle>,
    now: Instant,
) -> Result<Option<Claimed>> {
    let writer = engine.clone();
    engine
        .store()
        .write_as("claim_operation", move |tx| {
            holds::let_go(tx, means, now)?;
            let Some(operation) = holds::claim(tx, &writer, &wanted, means, now)? else {
                return Ok(None);
            };
            if let Some(idle) = idle.filter(|idle| idle.is_of(tx, &operation)) {
                idle.end(tx, &writer, operation)?;
                return Ok(Some(Claimed::Ended));
            }
            let bank = store::banks::by_key(tx, operation.bank)?.id;
            Ok(Some(Claimed::Runs(Box::new(operation), bank)))
        })
        .await
}

/// Hands an operation to its subject.
async fn handle(running: &Running) -> Result<Handled> {
    match running.operation.kind {
        OperationType::Retain | OperationType::Import | OperationType::EmbedBackfill => {
            Box::pin(crate::memory::jobs::run(running)).await
        }
        OperationType::Consolidation => consolidate(running).await,
        OperationType::RefreshMentalModel => Box::pin(crate::models::refresh::run(running)).await,
        _ => Err(crate::report::fault("unexpected_error").into()),
    }
}

/// Folds facts; when all is folded, queues the refreshes that this calls for. Both can be done twice
/// without harm, so that a program that is killed between them loses no refresh and adds none.
async fn consolidate(running: &Running) -> Result<Handled> {
    let folded = Box::pin(crate::memory::consolidate::run(running)).await?;
    if let Some(touched) = &folded.untold {
        super::after_consolidation(&running.engine, &running.bank, touched).await?;
        crate::memory::consolidate::told(&running.engine, &running.bank).await?;
    }
    Ok(folded.handled)
}

/// Writes how an operation ended. Tried again when the write itself fails, so that a row never
/// stays `processing` under a live worker.
async fn end(running: &Running, handled: Result<Handled>) -> Result<()> {
    let mut last = Ok(());
    for _ in 0..3 {
        last = write_end(running, &handled).await;
        match &last {
            Ok(()) => break,
            Err(error) => tracing::warn!(%error, "the end of an operation was not written"),
        }
    }
    if running.operation.model.is_some() {
        crate::models::automatic::after_end(&running.engine, &running.operation).await;
    }
    last
}

async fn write_end(running: &Running, handled: &Result<Handled>) -> Result<()> {
    let end = match handled {
        Ok(handled) if handled.written => return Ok(()),
        Ok(handled) if handled.cancelled => {
            return write_stop(running, handled.details.clone()).await;
        }
        Ok(handled) => match &handled.failed {
            None => End::completed(handled.result.clone(), handled.details.clone()),
            Some((reason, message)) => End::failed(reason, message, handled.details.clone()),
        },
        Err(error) => return write_failure(running, error).await,
    };
    finish(running, end).await
}

async fn finish(running: &Running, end: End) -> Result<()> {
    let (key, now) = (running.operation.key, running.engine.now());
    let store = running.engine.store();
    store.write("finish_operation", move |tx| operations::finish(tx, key, &end, now)).await?;
    Ok(())
}

/// What follows a stop: the end, or another time.
async fn write_stop(running: &Running, details: Option<Value>) -> Result<()> {
    let held = match running.stopped() {
        Some(Stopped::ByShutdown) => None,
        Some(Stopped::ByCeiling) => Some(HeldReason::TokenCeiling),
        Some(Stopped::ByPerson) | None => return finish(running, End::cancelled(details)).await,
    };
    requeue(running, None, held, false, None).await
}

async fn requeue(
    running: &Running,
    until: Option<Instant>,
    held: Option<HeldReason>,
    spends_retry: bool,
    error: Option<Report>,
) -> Result<()> {
    let (key, now) = (running.operation.key, running.engine.now());
    let store = running.engine.store();
    store
        .write("requeue_operation", move |tx| {
            let error = error.as_ref().map(|r| (r.reason.as_str(), r.message.as_str()));
            match operations::requeue(tx, key, until, held, spends_retry, error, now)? {
                Requeued::Pending(_) => Ok(()),
                Requeued::Folded { ended, .. } => hand_over_folded(tx, &ended),
            }
        })
        .await?;
    Ok(())
}

/// What follows an error that the handler did not record itself.
async fn write_failure(running: &Running, error: &Error) -> Result<()> {
    let report = Report::from(error);
    if report.code == ErrorCode::Cancelled {
        return write_stop(running, None).await;
    }
    let now = running.engine.now();
    let class = match quota_until(error, now) {
        Some(until) => FailureClass::QuotaUntil(until),
        None if report.retryable => FailureClass::Retryable,
        None => FailureClass::Final,
    };
    let spent = running.operation.retry_count;
    match after_failure(spent, class, now) {
        AfterFailure::Wait { until, retry_count } => {
            requeue(running, Some(until), None, retry_count > spent, Some(report)).await
        }
        AfterFailure::Fail => {
            finish(running, End::failed(&report.reason, &report.message, None)).await
        }
    }
}

/// When a provider that allows no more requests allows them again, where it has said so.
pub(crate) fn quota_until(error: &Error, now: Instant) -> Option<Instant> {
    Some(now + chrono::Duration::from_std(quota_wait(error)?).ok()?)
}

/// How long a provider that allows no more requests asks to be left alone.
pub(crate) fn quota_wait(error: &Error) -> Option<Duration> {
    match error {
        Error::Llm(llm::Error::RateLimited { retry_after, .. }) => *retry_after,
        Error::Refused(fault) => fault.asked_wait(),
        _ => None,
    }
}
