//! The door to one endpoint, shared by everyone who uses it. After a rate limit it stays shut until
//! the time given, and then opens by degrees: one request first, a person's before queued work, and
//! twice as many with each success. So waiting runs never wake together. An open door lets only so
//! many through at once, and queued work never takes the last place, which is kept for a person.

use crate::chat::Urgency;
use crate::error::{Answer, Error};
use crate::timer::Timer;
use crate::{ChatEvent, ChatSink};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Width from which on there is no more counting.
const OPEN: usize = 64;

/// Requests on their way at once where nothing else is said.
const MOST: usize = 4;

/// The door.
pub struct Gate {
    timer: Arc<dyn Timer>,
    most: usize,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    opens_at: Duration,
    /// How many may be inside at once; None for any number.
    width: Option<usize>,
    inside: usize,
    /// Who waits, in the order in which they may pass.
    waiting: BTreeSet<(Urgency, u64)>,
    tickets: u64,
    limited_by: Option<(String, Answer)>,
}

impl Gate {
    /// An open door.
    pub fn new(timer: Arc<dyn Timer>) -> Self {
        Self { timer, most: MOST, state: Mutex::default(), changed: Notify::new() }
    }

    /// The same with another number of requests at once, two at least: one of them is a person's.
    #[must_use]
    pub fn with_most(mut self, most: usize) -> Self {
        self.most = most.max(2);
        self
    }

    /// The timer that the door goes by.
    pub fn timer(&self) -> &Arc<dyn Timer> {
        &self.timer
    }

    /// How long the door stays shut, zero when it is not.
    pub fn shut_for(&self) -> Duration {
        let opens_at = self.lock().opens_at;
        opens_at.saturating_sub(self.timer.now())
    }

    /// Waits to be let in.
    ///
    /// # Errors
    /// [`Error::RateLimited`] with the wait when the door stays shut for longer than `patience`;
    /// [`Error::Cancelled`].
    pub(crate) async fn enter(
        &self,
        urgency: Urgency,
        patience: Duration,
        out: &mut dyn ChatSink,
        cancel: &CancellationToken,
    ) -> Result<Pass<'_>, Error> {
        let ticket = self.queue(urgency);
        let mut told = Duration::ZERO;
        let mut waited = false;
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let wait = match self.ask(&ticket, patience)? {
                Turn::Pass => {
                    drop(ticket);
                    if waited {
                        out.take(ChatEvent::Resumed);
                    }
                    return Ok(Pass { gate: self });
                }
                Turn::Wait(wait) => wait,
            };
            match wait {
                Some(wait) if self.timer.now() + wait > told => {
                    told = self.timer.now() + wait;
                    out.take(ChatEvent::Waiting(wait));
                }
                None if !waited => out.take(ChatEvent::Queued),
                Some(_) | None => {}
            }
            waited = true;
            let opening = async {
                match wait {
                    Some(wait) => self.timer.sleep(wait).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(Error::Cancelled),
                () = changed => {}
                () = opening => {}
            }
        }
    }

    fn ask(&self, ticket: &Ticket<'_>, patience: Duration) -> Result<Turn, Error> {
        let now = self.timer.now();
        let mut state = self.lock();
        if now < state.opens_at {
            let wait = state.opens_at.saturating_sub(now);
            if wait <= patience {
                return Ok(Turn::Wait(Some(wait)));
            }
            let (endpoint, answer) = state.limited_by.clone().unwrap_or_default();
            let answer = Box::new(answer);
            return Err(Error::RateLimited { endpoint, retry_after: Some(wait), answer });
        }
        let first = state.waiting.first() == Some(&ticket.place);
        let (urgency, _) = ticket.place;
        let most = if urgency == Urgency::Asked { self.most } else { self.most - 1 };
        let room = state.width.map_or(most, |width| width.min(most));
        if first && state.inside < room {
            state.inside += 1;
            return Ok(Turn::Pass);
        }
        Ok(Turn::Wait(None))
    }

    /// Shuts the door.
    pub(crate) fn limited(&self, wait: Duration, endpoint: &str, answer: &Answer) {
        let until = self.timer.now() + wait;
        let mut state = self.lock();
        state.opens_at = state.opens_at.max(until);
        state.width = Some(1);
        state.limited_by = Some((endpoint.to_owned(), answer.clone()));
    }

    fn queue(&self, urgency: Urgency) -> Ticket<'_> {
        let mut state = self.lock();
        state.tickets += 1;
        let place = (urgency, state.tickets);
        state.waiting.insert(place);
        Ticket { gate: self, place }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Turn {
    Pass,
    /// Until the door opens, or until something changes.
    Wait(Option<Duration>),
}

/// A place in the queue, given up when dropped.
struct Ticket<'a> {
    gate: &'a Gate,
    place: (Urgency, u64),
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.gate.lock().waiting.remove(&self.place);
        self.gate.changed.notify_waiters();
    }
}

/// A request on its way; the place inside is given up when dropped.
pub(crate) struct Pass<'a> {
    gate: &'a Gate,
}

impl Pass<'_> {
    /// The endpoint answered: the door opens wider.
    pub(crate) fn succeeded(self) {
        let mut state = self.gate.lock();
        state.width = state.width.map(|w| w * 2).filter(|w| *w < OPEN);
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let mut state = self.gate.lock();
        state.inside = state.inside.saturating_sub(1);
        drop(state);
        self.gate.changed.notify_waiters();
    }
}
