//! The threads that run the model, and the queue in front of them. A question must not wait for a
//! thousand passages being embedded, so there are two queues and the questions' goes first; a task is
//! small enough that a question waits a few hundredths of a second for one in progress.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::{
    file::Weights,
    model::{Model, Scratch},
};
use crate::{Error, Kind};

/// Threads at most: the program has other work, and the weights' way through the caches is shared.
const MOST_THREADS: usize = 4;

/// Some windows of one call.
pub(super) struct Task {
    /// Place of the first window among those of the call.
    pub(super) first: usize,
    /// Token ids, start and end marks included.
    pub(super) windows: Vec<Vec<u32>>,
    pub(super) cancel: CancellationToken,
    /// Takes `first` and the mean of each window. Dropped without a word when the task was cancelled
    /// or failed.
    pub(super) reply: UnboundedSender<(usize, Vec<Vec<f32>>)>,
}

/// The threads; they end when it is dropped.
pub(super) struct Pool {
    shared: Arc<Shared>,
    pub(super) threads: usize,
}

struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
}

#[derive(Default)]
struct Queue {
    queries: VecDeque<Task>,
    passages: VecDeque<Task>,
    closed: bool,
}

impl Pool {
    /// Starts a thread for each core, up to four.
    pub(super) fn start(weights: &Arc<Weights>, model: Model) -> Result<Self, Error> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        let shared = Arc::new(Shared { queue: Mutex::default(), wake: Condvar::new() });
        let pool = Self { shared, threads };
        let model = Arc::new(model);
        for n in 0..threads {
            let (shared, weights, model) =
                (Arc::clone(&pool.shared), Arc::clone(weights), Arc::clone(&model));
            std::thread::Builder::new()
                .name(format!("embed-{n}"))
                .spawn(move || work(&shared, &weights, &model))
                .map_err(|source| Error::NoThread { source })?;
        }
        Ok(pool)
    }

    /// Queues a task.
    pub(super) fn push(&self, kind: Kind, task: Task) {
        let mut queue = self.shared.lock();
        match kind {
            Kind::Query => queue.queries.push_back(task),
            Kind::Passage => queue.passages.push_back(task),
        }
        drop(queue);
        self.shared.wake.notify_one();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.wake.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Nothing that can panic runs while it is held.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next task, or `None` once the pool is gone.
    fn next(&self) -> Option<Task> {
        let mut queue = self.lock();
        loop {
            if queue.closed {
                return None;
            }
            if let Some(task) = queue.queries.pop_front().or_else(|| queue.passages.pop_front()) {
                return Some(task);
            }
            queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn work(shared: &Shared, weights: &Weights, model: &Model) {
    let mut scratch = Scratch::default();
    while let Some(task) = shared.next() {
        let windows: Vec<&[u32]> = task.windows.iter().map(Vec::as_slice).collect();
        let stopped = || task.cancel.is_cancelled() || task.reply.is_closed();
        // A fault here must not take the thread with it: the caller sees its reply dropped, and the
        // next call works.
        let means =
            catch_unwind(AssertUnwindSafe(|| model.run(weights, &windows, &mut scratch, &stopped)));
        match means {
            // The caller may have gone away meanwhile.
            Ok(Some(means)) => drop(task.reply.send((task.first, means))),
            Ok(None) => {}
            Err(_) => {
                tracing::error!("the embedding of a batch broke off");
                scratch = Scratch::default();
            }
        }
    }
}
