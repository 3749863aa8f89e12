//! Waiting and measuring, as something that is passed in: a test holds the clock still.

use async_trait::async_trait;
use std::time::Duration;
use tokio::time::Instant;

/// A clock that only measures, and a way to wait.
#[async_trait]
pub trait Timer: Send + Sync {
    /// Time since some fixed moment. Never goes back, says nothing about the time of day.
    fn now(&self) -> Duration;

    /// Waits this long.
    async fn sleep(&self, time: Duration);
}

/// The runtime's own timer. A test that pauses the runtime's clock pauses this one.
#[derive(Debug, Clone, Copy)]
pub struct TokioTimer {
    start: Instant,
}

impl Default for TokioTimer {
    fn default() -> Self {
        Self { start: Instant::now() }
    }
}

/// What `work` gives, or nothing when this moment of the timer comes first.
pub(crate) async fn until<T>(
    timer: &dyn Timer,
    moment: Duration,
    work: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        biased;
        done = work => Some(done),
        () = timer.sleep(moment.saturating_sub(timer.now())) => None,
    }
}

#[async_trait]
impl Timer for TokioTimer {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}
