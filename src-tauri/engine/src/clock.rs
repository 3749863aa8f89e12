//! Time and randomness, the two things the rest of the engine must be given. This is the only place
//! that asks the machine what time it is.

use async_trait::async_trait;
use domain::Instant;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;

/// Tells the moment, waits and makes ids.
#[async_trait]
pub trait Clock: Send + Sync + 'static {
    /// The moment, UTC.
    fn now(&self) -> Instant;

    /// Minutes that local time is ahead of UTC at `at`; only used to read "yesterday" in a question.
    fn local_offset_minutes(&self, at: Instant) -> i32;

    /// Milliseconds that only ever grow, for durations.
    fn ticks_ms(&self) -> u64;

    /// Ten random bytes for an id.
    fn random(&self) -> [u8; 10];

    /// What waits of language models and limits of their calls are measured with: the runtime's own,
    /// which a test replaces to let minutes pass at once.
    fn timer(&self) -> Arc<dyn llm::Timer> {
        Arc::new(llm::TokioTimer::default())
    }

    /// Waits until this much time has passed by this clock.
    async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}

/// A fresh id (UUIDv7) at the clock's moment.
#[must_use]
pub fn new_id(clock: &dyn Clock) -> String {
    domain::id::uuid_v7(domain::time::to_millis(clock.now()), clock.random())
}

/// The machine's clock.
#[derive(Debug)]
pub struct SystemClock {
    start: std::time::Instant,
}

impl SystemClock {
    /// A clock whose ticks start now.
    #[must_use]
    #[allow(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    pub fn new() -> Self {
        Self { start: std::time::Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

#[allow(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Instant {
        chrono::Utc::now()
    }

    fn local_offset_minutes(&self, at: Instant) -> i32 {
        use chrono::{Local, Offset};
        at.with_timezone(&Local).offset().fix().local_minus_utc() / 60
    }

    fn ticks_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn random(&self) -> [u8; 10] {
        let bytes = uuid::Uuid::now_v7().into_bytes();
        let mut out = [0; 10];
        out.copy_from_slice(&bytes[6..]);
        out
    }
}

/// A clock that tests move by hand. Ids are numbered, so that runs repeat exactly.
#[derive(Debug)]
pub struct TestClock {
    now: Mutex<Instant>,
    ids: AtomicU64,
    moved: Notify,
}

impl TestClock {
    /// A clock that stands at `at`.
    #[must_use]
    pub fn at(at: Instant) -> Self {
        Self { now: Mutex::new(at), ids: AtomicU64::new(1), moved: Notify::new() }
    }

    /// Moves the clock by milliseconds, also backwards.
    pub fn advance_ms(&self, ms: i64) {
        if let Ok(mut now) = self.now.lock() {
            *now += chrono::Duration::milliseconds(ms);
        }
        self.moved.notify_waiters();
    }
}

#[async_trait]
impl Clock for TestClock {
    fn now(&self) -> Instant {
        self.now.lock().map_or(chrono::DateTime::UNIX_EPOCH, |now| *now)
    }

    fn local_offset_minutes(&self, _at: Instant) -> i32 {
        0
    }

    fn ticks_ms(&self) -> u64 {
        u64::try_from(domain::time::to_millis(self.now())).unwrap_or(0)
    }

    fn random(&self) -> [u8; 10] {
        let n = self.ids.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let mut out = [0; 10];
        out[2..].copy_from_slice(&n);
        out
    }

    async fn sleep(&self, time: Duration) {
        let due =
            self.ticks_ms().saturating_add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        loop {
            let mut moved = std::pin::pin!(self.moved.notified());
            // Listening begins before the look, so that no move falls between the two.
            moved.as_mut().enable();
            if self.ticks_ms() >= due {
                return;
            }
            moved.await;
        }
    }
}
