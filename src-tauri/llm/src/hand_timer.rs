//! A timer for tests: it stands still until it is moved by hand, so that a wait of minutes is over
//! at once and never early. Knows who waits, so that a test can move it when all have begun to.

use crate::timer::Timer;
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// The timer.
#[derive(Debug, Default)]
pub struct HandTimer {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    now: Duration,
    /// When each sleeper wakes.
    sleepers: BTreeMap<u64, Duration>,
    tickets: u64,
}

impl HandTimer {
    /// Moves the time on and wakes whose time has come.
    pub fn advance(&self, by: Duration) {
        self.lock().now += by;
        self.changed.notify_waiters();
    }

    /// Waits until somebody sleeps until this moment.
    pub async fn asleep_until(&self, moment: Duration) {
        self.asleep(|wakes| wakes == moment, 1).await;
    }

    /// Waits until this many sleepers wake at a moment of this kind.
    pub async fn asleep(&self, kind: impl Fn(Duration) -> bool, many: usize) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.lock().sleepers.values().filter(|wakes| kind(**wakes)).count() >= many {
                return;
            }
            changed.await;
        }
    }

    /// Ends every wait of at most this length as soon as it begins, until it is dropped. Longer ones,
    /// such as the limits of calls, go on standing still.
    pub async fn skip_waits(&self, longest: Duration) {
        loop {
            let now = self.lock().now;
            self.asleep(|wakes| wakes > now && wakes <= now + longest, 1).await;
            let mut state = self.lock();
            let next = state.sleepers.values().copied().filter(|wakes| *wakes > now).min();
            state.now = next.unwrap_or(now);
            drop(state);
            self.changed.notify_waiters();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A sleeper, forgotten when dropped.
struct Asleep<'a>(&'a HandTimer, u64);

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        self.0.lock().sleepers.remove(&self.1);
    }
}

#[async_trait]
impl Timer for HandTimer {
    fn now(&self) -> Duration {
        self.lock().now
    }

    async fn sleep(&self, time: Duration) {
        let (wakes, _asleep) = {
            let mut state = self.lock();
            let wakes = state.now.saturating_add(time);
            state.tickets += 1;
            let ticket = state.tickets;
            state.sleepers.insert(ticket, wakes);
            (wakes, Asleep(self, ticket))
        };
        self.changed.notify_waiters();
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.lock().now >= wakes {
                return;
            }
            changed.await;
        }
    }
}
