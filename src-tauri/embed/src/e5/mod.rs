//! The bundled embedder: multilingual-e5-small with 4-bit weights (Wang et al. 2024, "Multilingual E5
//! Text Embeddings"), run in the process without any native library. Reads one file, sends nothing.
//!
//! `file` reads the weights, `tokenizer` cuts text into pieces, `model` is the forward pass over
//! `kernel`, `lanes` and `packed`, `pool` the threads. Vectors are the same bits whatever a text is
//! batched with and whichever vector instructions the processor has; only processors without AVX2
//! differ, in the fourth digit.

mod file;
mod kernel;
mod lanes;
mod model;
mod packed;
mod pool;
mod tokenizer;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};

use async_trait::async_trait;
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{Embedder, Error, Kind, Prefixes, Thresholds, normalise};

use file::Weights;
use kernel::Level;
use pool::{Pool, Task};
use tokenizer::Tokenizer;

/// Tokens of a task: enough that unpacking the weights is shared by many tokens, few enough that
/// the activations stay in the second-level cache.
const TASK_TOKENS: std::ops::RangeInclusive<usize> = 64..=256;

/// What the file of weights must be; the fetching script reads the same text.
#[derive(Debug, Deserialize)]
pub struct Pin {
    /// Name of the file.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256, in lower-case hexadecimal.
    pub sha256: String,
    /// Licence texts that lie beside it and are shipped with it.
    pub licences: Vec<String>,
}

impl Pin {
    /// The pinned weights.
    #[must_use]
    pub fn get() -> &'static Self {
        static PIN: LazyLock<Pin> = LazyLock::new(|| {
            serde_json::from_str(include_str!("../../weights.json"))
                .expect("weights.json is part of the program and read by its tests")
        });
        &PIN
    }
}

/// multilingual-e5-small, 384 numbers, in the process.
pub struct Bundled {
    weights: Arc<Weights>,
    tokenizer: Tokenizer,
    pool: Pool,
    prefixes: Prefixes,
}

impl Bundled {
    /// Name of the folder that holds the weights, below the program's resources and below `.build`
    /// in a checkout.
    pub const FOLDER: &'static str = "embedder";

    /// Opens the weights in `folder`. Takes some hundredths of a second: not for an async thread.
    ///
    /// # Errors
    /// [`Error::WeightsMissing`], [`Error::WeightsUnreadable`] or [`Error::WeightsUnusable`], each
    /// with the path; [`Error::NoThread`] when the system gives no thread.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        Self::open_at(folder, Level::detect())
    }

    fn open_at(folder: &Path, level: Level) -> Result<Self, Error> {
        let path: PathBuf = folder.join(&Pin::get().file);
        let weights = Arc::new(Weights::open(&path, Pin::get())?);
        let model = model::Model::new(&weights, level)
            .map_err(|what| Error::WeightsUnusable { path, what })?;
        let tokenizer = Tokenizer::new(&weights);
        let pool = Pool::start(&weights, model)?;
        tracing::debug!(?level, threads = pool.threads, "bundled embedder opened");
        let prefixes = Prefixes { query: "query: ".into(), passage: "passage: ".into() };
        Ok(Self { weights, tokenizer, pool, prefixes })
    }

    /// The token ids of a text with its prefix, without start and end marks and not cut into windows.
    #[must_use]
    pub fn token_ids(&self, text: &str, kind: Kind) -> Vec<u32> {
        let text = [self.prefixes.of(kind), text].concat();
        self.tokenizer.ids(&self.weights, &text)
    }

    /// The windows of a text. One that exceeds the model's positions is cut, without overlap, into
    /// windows with their own marks.
    fn windows(&self, text: &str, kind: Kind) -> Vec<Vec<u32>> {
        let vocabulary = &self.weights.vocabulary;
        let marked = |ids: &[u32]| {
            let mut window = Vec::with_capacity(ids.len() + 2);
            window.push(vocabulary.start);
            window.extend_from_slice(ids);
            window.push(vocabulary.end);
            window
        };
        let ids = self.token_ids(text, kind);
        if ids.is_empty() {
            return vec![marked(&[])];
        }
        ids.chunks(self.weights.shape.positions - 2).map(marked).collect()
    }

    /// Hands the windows to the pool and waits for all their means, in order.
    async fn means(
        &self,
        windows: Vec<Vec<u32>>,
        kind: Kind,
        cancel: &CancellationToken,
    ) -> Result<Vec<Vec<f32>>, Error> {
        let mut means = vec![Vec::new(); windows.len()];
        let mut missing = windows.len();
        let (reply, mut replies) = mpsc::unbounded_channel();
        for (first, windows) in batches(windows, self.pool.threads) {
            let (cancel, reply) = (cancel.clone(), reply.clone());
            self.pool.push(kind, Task { first, windows, cancel, reply });
        }
        drop(reply);
        while missing > 0 {
            let (first, part) = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(Error::Cancelled),
                part = replies.recv() => part.ok_or(Error::Stopped)?,
            };
            missing -= part.len();
            for (place, mean) in means[first..].iter_mut().zip(part) {
                *place = mean;
            }
        }
        Ok(means)
    }
}

/// Consecutive windows in batches of about equal size, so that no thread idles at the end, each with
/// the place of its first.
fn batches(windows: Vec<Vec<u32>>, threads: usize) -> Vec<(usize, Vec<Vec<u32>>)> {
    let tokens: usize = windows.iter().map(Vec::len).sum();
    let target = tokens.div_ceil(threads).clamp(*TASK_TOKENS.start(), *TASK_TOKENS.end());
    let mut batches: Vec<(usize, Vec<Vec<u32>>)> = Vec::new();
    let mut held = usize::MAX;
    for (place, window) in windows.into_iter().enumerate() {
        held = held.saturating_add(window.len());
        match batches.last_mut() {
            Some((_, batch)) if held <= target => batch.push(window),
            _ => {
                held = window.len();
                batches.push((place, vec![window]));
            }
        }
    }
    batches
}

#[async_trait]
impl Embedder for Bundled {
    fn name(&self) -> &str {
        "multilingual-e5-small-q4"
    }

    fn dim(&self) -> usize {
        self.weights.shape.hidden
    }

    fn prefixes(&self) -> &Prefixes {
        &self.prefixes
    }

    fn thresholds(&self) -> Thresholds {
        Thresholds::E5
    }

    fn is_local(&self) -> bool {
        true
    }

    async fn embed(
        &self,
        texts: &[String],
        kind: Kind,
        cancel: &CancellationToken,
    ) -> Result<Vec<Vec<f32>>, Error> {
        let mut windows = Vec::with_capacity(texts.len());
        let mut counts = Vec::with_capacity(texts.len());
        for text in texts {
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let before = windows.len();
            windows.extend(self.windows(text, kind));
            counts.push(windows.len() - before);
        }
        let weights: Vec<usize> = windows.iter().map(|window| window.len() - 2).collect();
        let means = self.means(windows, kind, cancel).await?;
        let mut parts = means.iter().zip(weights);
        Ok(counts.into_iter().map(|count| join(parts.by_ref().take(count))).collect())
    }
}

/// The windows of one text as one vector: their mean weighted by tokens, which is the mean over all
/// tokens, scaled to unit length.
fn join<'a>(windows: impl Iterator<Item = (&'a Vec<f32>, usize)>) -> Vec<f32> {
    let mut total = Vec::new();
    for (mean, tokens) in windows {
        let weight = tokens.max(1) as f32;
        total.resize(mean.len(), 0.0);
        total.iter_mut().zip(mean).for_each(|(t, x)| *t += weight * x);
    }
    normalise(&mut total);
    total
}
