//! The queue of refreshes as pure rules: what a submit does, which operation runs next and when, what
//! follows a failure, a crash or a cancel, and when a schedule is due. Moments and states come in,
//! decisions go out; rows, workers and timers are elsewhere.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use crate::Instant;
use crate::cron::Cron;
use crate::model::{Cause, Review};

/// Retries after a first failure.
pub const MAX_RETRIES: u32 = 3;
/// Crashes an operation is taken up again after.
pub const MAX_RECOVERIES: u32 = 3;
/// First wait after a retryable failure; doubles with every retry.
const BACKOFF: TimeDelta = TimeDelta::seconds(60);
const BACKOFF_CAP: TimeDelta = TimeDelta::minutes(30);
/// First pause of automatic submits after a failed run; doubles with every further one.
const PAUSE: TimeDelta = TimeDelta::hours(1);
const PAUSE_CAP: TimeDelta = TimeDelta::hours(24);
/// Seconds between two looks at the schedules: the floor of their granularity. A setting; 0 is off.
pub const DEFAULT_TICK_SECONDS: u32 = 300;

/// States of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum OperationStatus {
    /// Waiting: due, parked, backing off or held.
    Pending,
    /// Running.
    Processing,
    /// Ended well.
    Completed,
    /// Ended badly.
    Failed,
    /// Stopped.
    Cancelled,
}

impl OperationStatus {
    /// Whether it has ended.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// Why a pending operation may not be claimed, whatever the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum HeldReason {
    /// A person is deciding on a proposal of the model.
    ReviewInProgress,
    /// There is no language model for the work.
    LlmNotConfigured,
    /// The day's tokens are spent.
    TokenCeiling,
    /// A person paused it.
    PausedByPerson,
}

/// A refresh in the queue, as far as the rules look at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued {
    /// State.
    pub status: OperationStatus,
    /// No person asked for it.
    pub automatic: bool,
    /// Everything that led to it, in order.
    pub triggered_by: Vec<Cause>,
    /// It rebuilds once in full.
    pub forced_full: bool,
    /// Parked or backing off until then.
    pub next_retry_at: Option<Instant>,
    /// Held.
    pub held: Option<HeldReason>,
    /// Retries spent.
    pub retry_count: u32,
    /// When it ends, look whether a follow-up is needed.
    pub rerun: bool,
}

impl Queued {
    /// A new operation of one cause.
    #[must_use]
    pub fn new(cause: Cause, forced_full: bool) -> Self {
        Self {
            status: OperationStatus::Pending,
            automatic: !cause.is_explicit(),
            triggered_by: vec![cause],
            forced_full,
            next_retry_at: None,
            held: None,
            retry_count: 0,
            rerun: false,
        }
    }

    /// Whether it may be claimed at a moment, its model's other runs aside.
    #[must_use]
    pub fn is_due(&self, now: Instant) -> bool {
        self.status == OperationStatus::Pending
            && self.held.is_none()
            && self.next_retry_at.is_none_or(|at| at <= now)
    }

    /// The order of claiming: explicit ones first, then the one that has been due longest.
    /// `created_at` stands in where nothing was waited for; ties go by the operation's own id.
    #[must_use]
    pub fn lane(&self, created_at: Instant) -> (bool, Instant) {
        (self.automatic, self.next_retry_at.unwrap_or(created_at))
    }

    fn join(&mut self, cause: Cause, forced_full: bool) {
        if !self.triggered_by.contains(&cause) {
            self.triggered_by.push(cause);
        }
        self.forced_full |= forced_full;
    }
}

/// What a submit does. The submitter gets the id of the operation named here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Submit {
    /// A new row.
    Insert(Queued),
    /// The pending one takes it in (`deduplicated`) and becomes this.
    FoldIntoPending(Queued),
    /// The running one is returned (`deduplicated`) and marked to look again at its end.
    MarkRunning(Queued),
}

/// Decides a submit from the model's pending and running refreshes, of which there is at most one
/// each. Only an explicit cause can force a full rebuild.
#[must_use]
pub fn submit(
    pending: Option<&Queued>,
    running: Option<&Queued>,
    cause: Cause,
    forced_full: bool,
) -> Submit {
    let forced_full = forced_full && (cause.is_explicit() || cause == Cause::FullCron);
    match (pending, running) {
        (Some(pending), _) => {
            let mut folded = pending.clone();
            folded.join(cause, forced_full);
            if cause.is_explicit() {
                folded.automatic = false;
                folded.next_retry_at = None;
            }
            Submit::FoldIntoPending(folded)
        }
        (None, Some(running)) if !cause.is_explicit() => {
            let mut marked = running.clone();
            marked.rerun = true;
            Submit::MarkRunning(marked)
        }
        _ => Submit::Insert(Queued::new(cause, forced_full)),
    }
}

/// The follow-up of a marked run at its end, if `needs_refresh` still holds.
#[must_use]
pub fn follow_up(ended: &Queued, cause: Cause, needs_refresh: bool) -> Option<Queued> {
    (ended.rerun && needs_refresh).then(|| Queued::new(cause, false))
}

/// What the minimum interval is measured by.
#[derive(Debug, Clone, Copy)]
pub struct Floor {
    /// The model's own value in seconds, if stated; 0 exempts it.
    pub model_seconds: Option<u32>,
    /// The bank's value in seconds.
    pub bank_seconds: u32,
    /// When a refresh last finished, or the model's birth.
    pub last_refreshed_at: Instant,
    /// Birth of the newest proposal.
    pub newest_proposal_at: Option<Instant>,
    /// The review setting: proposals count for reviewed models.
    pub review: Review,
}

impl Floor {
    /// The first moment at which an automatic refresh may run.
    #[must_use]
    pub fn until(&self) -> Instant {
        let seconds = self.model_seconds.unwrap_or(self.bank_seconds);
        let proposal = self.newest_proposal_at.filter(|_| self.review == Review::Manual);
        let from = proposal.map_or(self.last_refreshed_at, |at| at.max(self.last_refreshed_at));
        from + TimeDelta::seconds(i64::from(seconds))
    }
}

/// What becomes of an operation that a worker is about to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// It runs; `next_retry_at` is cleared.
    Run,
    /// It goes back to waiting until then. No failure: count, error and outcome stay.
    Park(Instant),
    /// Not now: not due, held, or behind a running refresh of the same model.
    No,
}

/// Decides a claim.
#[must_use]
pub fn claim(queued: &Queued, now: Instant, model_is_running: bool, floor: &Floor) -> Claim {
    if model_is_running || !queued.is_due(now) {
        return Claim::No;
    }
    let until = floor.until();
    if queued.automatic && until > now { Claim::Park(until) } else { Claim::Run }
}

/// How a failed call can be met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureClass {
    /// Trying again may help: network, provider, machine.
    Retryable,
    /// A provider's quota, with the time at which it is lifted.
    QuotaUntil(Instant),
    /// The same again would fail the same way.
    Final,
}

/// What follows a failed run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterFailure {
    /// Back to waiting, with this count.
    Wait {
        /// When to try again.
        until: Instant,
        /// Retries spent.
        retry_count: u32,
    },
    /// Ends as failed.
    Fail,
}

/// Decides what follows a failure. A quota with a known end costs no retry.
#[must_use]
pub fn after_failure(retry_count: u32, class: FailureClass, now: Instant) -> AfterFailure {
    match class {
        FailureClass::QuotaUntil(until) => AfterFailure::Wait { until, retry_count },
        FailureClass::Retryable if retry_count < MAX_RETRIES => AfterFailure::Wait {
            until: now + doubled(BACKOFF, retry_count, BACKOFF_CAP),
            retry_count: retry_count + 1,
        },
        FailureClass::Retryable | FailureClass::Final => AfterFailure::Fail,
    }
}

/// `base` × 2^`times`, at most `cap`.
fn doubled(base: TimeDelta, times: u32, cap: TimeDelta) -> TimeDelta {
    let factor = 1_i32.checked_shl(times.min(30)).unwrap_or(i32::MAX);
    base.checked_mul(factor).map_or(cap, |long| long.min(cap))
}

/// A run that would wait again while another refresh of its model waits already ends instead, and
/// the waiting one takes over its causes, a forced full rebuild and that a person asked for it. Such
/// an end does not count as a failure in a row.
#[must_use]
pub fn fold_into_waiting(ended: &Queued, waiting: &Queued) -> Queued {
    let mut folded = waiting.clone();
    for cause in &ended.triggered_by {
        folded.join(*cause, ended.forced_full);
    }
    folded.automatic &= ended.automatic;
    folded
}

/// What becomes, at the start of the program, of an operation that a dead process was running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// Waits again, with this count.
    Requeue(u32),
    /// Ends as failed: "exceeded recovery attempts".
    Fail,
}

/// Decides a recovery. Kinds of work that commit in steps count anew once a step was committed
/// since the last start, so a long import survives any number of kills.
#[must_use]
pub fn recover(retry_count: u32, step_was_committed: bool) -> Recovery {
    let spent = if step_was_committed { 0 } else { retry_count };
    if spent < MAX_RECOVERIES { Recovery::Requeue(spent + 1) } else { Recovery::Fail }
}

/// What a cancel does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancel {
    /// Cancelled at once.
    Now,
    /// The worker is told; it looks again before it commits.
    Ask,
    /// Too late: `already_finished`.
    AlreadyFinished,
}

/// Decides a cancel.
#[must_use]
pub fn cancel(status: OperationStatus) -> Cancel {
    match status {
        OperationStatus::Pending => Cancel::Now,
        OperationStatus::Processing => Cancel::Ask,
        _ => Cancel::AlreadyFinished,
    }
}

/// Whether a person may ask for the operation again: it failed, was cancelled, or is parked. Error,
/// completion time and `next_retry_at` are cleared then, and the count starts at 0.
#[must_use]
pub fn may_retry(queued: &Queued, now: Instant) -> bool {
    match queued.status {
        OperationStatus::Failed | OperationStatus::Cancelled => true,
        OperationStatus::Pending => queued.next_retry_at.is_some_and(|at| at > now),
        OperationStatus::Processing | OperationStatus::Completed => false,
    }
}

/// Until when automatic submits of a model are held back after its failed run; `None` without one.
/// `failure_streak` counts the failed runs in a row, this one included.
#[must_use]
pub fn paused_until(failure_streak: u32, failed_at: Instant) -> Option<Instant> {
    let times = failure_streak.checked_sub(1)?;
    Some(failed_at + doubled(PAUSE, times, PAUSE_CAP))
}

/// Whether a model whose runs fail is to be shown as needing attention rather than as failed.
#[must_use]
pub fn needs_attention(failure_streak: u32, delta_failures: u32) -> bool {
    failure_streak >= 3 || delta_failures >= 3
}

/// Whether the day's tokens are spent. No ceiling never is.
#[must_use]
pub fn ceiling_reached(spent_today: u64, ceiling: Option<u32>) -> bool {
    ceiling.is_some_and(|ceiling| spent_today >= u64::from(ceiling))
}

/// The beginning of the next UTC day: when a reached ceiling lifts.
#[must_use]
pub fn next_day(now: Instant) -> Instant {
    let day = now.date_naive().and_time(chrono::NaiveTime::MIN).and_utc();
    day + TimeDelta::days(1)
}

/// Whether the schedules are to be looked at: for the first time, after `every` seconds, or when the
/// clock went backwards. Judged by the wall clock, so that a machine that slept looks on waking.
#[must_use]
pub fn look_due(last: Option<Instant>, now: Instant, every: u32) -> bool {
    let every_so = TimeDelta::seconds(i64::from(every));
    every > 0 && last.is_none_or(|last| now < last || now - last >= every_so)
}

/// The first boundary that was missed while nobody looked, because the machine slept or the program
/// was closed: the one to be named when a late run says that it caught up. None where a boundary is
/// acted on at the time at which looking every so often acts on it.
#[must_use]
pub fn missed_since(
    cron: &Cron,
    served: Instant,
    last_look: Option<Instant>,
    now: Instant,
    every: u32,
) -> Option<Instant> {
    let patience = TimeDelta::seconds(2 * i64::from(every));
    if last_look.is_some_and(|last| now - last <= patience) {
        return None;
    }
    let from = last_look.map_or(served, |last| served.max(last));
    cron.next_after(from).filter(|first| *first + patience < now)
}

/// The boundary that a schedule is due for: the newest one up to now, if it is later than the last
/// refresh of its kind and than the last boundary acted on. Missed ones collapse into it.
#[must_use]
pub fn cron_due(
    cron: &Cron,
    last_refreshed_at: Instant,
    last_fire: Option<Instant>,
    now: Instant,
) -> Option<Instant> {
    let boundary = cron.last_until(now)?;
    let new = boundary > last_refreshed_at && last_fire.is_none_or(|fired| boundary > fired);
    new.then_some(boundary)
}

/// What a look at a model's schedules leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tick {
    /// `last_cron_fire` moves here.
    pub fire: Option<Instant>,
    /// `last_full_cron_fire` moves here.
    pub full_fire: Option<Instant>,
    /// A refresh is submitted, of this cause; `full_cron` submits a full one.
    pub submits: Option<Cause>,
}

/// Decides a look at a model's schedules. `due` and `full_due` come from [`cron_due`]; a boundary
/// that led to nothing is acted on all the same. If both are due, one full run serves both. A model
/// with a queued or running refresh is not looked at.
#[must_use]
pub fn tick(
    due: Option<Instant>,
    full_due: Option<Instant>,
    needs_refresh: bool,
    changed_since_full: bool,
) -> Tick {
    let submits = if full_due.is_some() && changed_since_full {
        Some(Cause::FullCron)
    } else {
        (due.is_some() && needs_refresh).then_some(Cause::Cron)
    };
    Tick { fire: due, full_fire: full_due, submits }
}
