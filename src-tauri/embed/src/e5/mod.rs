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

/// Windows that are read of one text, some 4,000 tokens. The mean of a book hardly moves with more of
/// them, and each takes a tenth of a second and more.
const MOST_WINDOWS: usize = 8;

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
    /// windows with their own marks; of more than [`MOST_WINDOWS`] some stand for all.
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
        let all: Vec<&[u32]> = ids.chunks(self.weights.shape.positions - 2).collect();
        spread(all.len()).map(|at| marked(all[at])).collect()
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

/// The places of the windows that are read of so many: all, or [`MOST_WINDOWS`] at equal distances from
/// the first on.
fn spread(windows: usize) -> impl Iterator<Item = usize> {
    let read = windows.min(MOST_WINDOWS);
    (0..read).map(move |n| n * windows / read)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosine;

    fn open(level: Level) -> Bundled {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.build");
        Bundled::open_at(&folder.join(Bundled::FOLDER), level).unwrap_or_else(|error| {
            panic!("{error}; run the set-up step first: node src-tauri/embed/fetch-weights.mjs")
        })
    }

    async fn vectors(bundled: &Bundled, texts: &[&str], kind: Kind) -> Vec<Vec<f32>> {
        let texts: Vec<_> = texts.iter().map(|&text| text.to_owned()).collect();
        bundled.embed(&texts, kind, &CancellationToken::new()).await.unwrap()
    }

    #[tokio::test]
    async fn layers_in_f32_give_nearly_the_same_vectors() {
        let texts = [
            "Which pump feeds the upper reservoir?",
            "上游水库由哪台水泵供水？",
            "Der Kühlraum lag länger als vierzig Minuten über acht Grad.",
        ];
        let float = vectors(&open(Level::Plain), &texts, Kind::Passage).await;
        let chosen = vectors(&open(Level::detect()), &texts, Kind::Passage).await;
        for (a, b) in float.iter().zip(&chosen) {
            assert!(cosine(a, b) > 0.999, "{}", cosine(a, b));
        }
    }

    #[tokio::test]
    async fn meaning_is_found_across_words_and_languages() {
        let bundled = open(Level::detect());
        let passages = [
            "The upper reservoir is fed by pump 4.",
            "Das obere Becken wird von Pumpe 4 gespeist.",
            "Marta paints her boat every spring.",
        ];
        let passages = vectors(&bundled, &passages, Kind::Passage).await;
        let query = ["Which pump feeds the upper reservoir?"];
        let query = &vectors(&bundled, &query, Kind::Query).await[0];
        let [right, german, wrong] = [0, 1, 2].map(|i| cosine(query, &passages[i]));
        let thresholds = bundled.thresholds();
        assert!(right > thresholds.semantic_floor && german > thresholds.semantic_floor);
        assert!(wrong < right.min(german) && wrong < thresholds.semantic_floor, "{wrong}");
    }

    #[test]
    fn windows_hold_every_token_and_their_marks() {
        let bundled = open(Level::Plain);
        let text = "a ferry and a pump ".repeat(200);
        let ids = bundled.token_ids(&text, Kind::Passage);
        let windows = bundled.windows(&text, Kind::Passage);
        assert!(ids.len() > 510 && windows.iter().all(|window| window.len() <= 512));
        assert_eq!(
            windows.iter().flat_map(|w| w[1..w.len() - 1].to_vec()).collect::<Vec<_>>(),
            ids
        );
        assert!(windows.iter().all(|window| window[0] == 0 && window.last() == Some(&2)));
    }

    #[test]
    fn of_a_book_windows_at_equal_distances_are_read() {
        let places = |windows| spread(windows).collect::<Vec<_>>();
        assert_eq!(places(3), [0, 1, 2]);
        assert_eq!(places(MOST_WINDOWS), (0..MOST_WINDOWS).collect::<Vec<_>>());
        let book = places(500);
        assert_eq!((book.len(), book[0], book[1], book[7]), (MOST_WINDOWS, 0, 62, 437));
    }

    #[test]
    fn batches_are_even_and_in_order() {
        let windows: Vec<Vec<u32>> = [30, 20, 400, 10, 10, 100].map(|n| vec![7; n]).into();
        let lengths = |threads| {
            batches(windows.clone(), threads)
                .into_iter()
                .map(|(first, batch)| (first, batch.iter().map(Vec::len).collect::<Vec<_>>()))
                .collect::<Vec<_>>()
        };
        let want = [(0, vec![30, 20]), (2, vec![400]), (3, vec![10, 10, 100])];
        assert_eq!(lengths(2), want);
        assert_eq!(lengths(64).len(), 4);
        assert!(batches(Vec::new(), 2).is_empty());
    }

    #[tokio::test]
    async fn a_dropped_call_leaves_the_pool_working() {
        let bundled = open(Level::detect());
        let cancel = CancellationToken::new();
        let long = vec!["a ferry and a pump ".repeat(2000)];
        let call = bundled.embed(&long, Kind::Passage, &cancel);
        let stop = async {
            tokio::task::yield_now().await;
            cancel.cancel();
        };
        let (outcome, ()) = tokio::join!(call, stop);
        assert!(matches!(outcome, Err(Error::Cancelled)));
        assert_eq!(vectors(&bundled, &["a ferry"], Kind::Query).await.len(), 1);
    }
}
