//! Vectors of recent queries, kept in memory in front of another embedder. A reflect run asks for
//! the same question in several tools; the model should see it once. Passages are not kept: they are
//! embedded once and stored.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::{Embedder, Error, Kind, Prefixes, Thresholds};

/// Queries kept. At 384 numbers each the whole is under 400 kB.
const CAPACITY: usize = 256;

/// An embedder that remembers the vectors of its last 256 different queries.
pub struct Cached<E> {
    inner: E,
    kept: Mutex<Kept>,
}

impl<E: Embedder> Cached<E> {
    /// Wraps an embedder.
    pub fn new(inner: E) -> Self {
        Self { inner, kept: Mutex::new(Kept::default()) }
    }

    /// The embedder behind it.
    pub fn inner(&self) -> &E {
        &self.inner
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // A panic while it was held cannot leave a half-written entry; what is there is right.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl<E: Embedder> Embedder for Cached<E> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn prefixes(&self) -> &Prefixes {
        self.inner.prefixes()
    }

    fn thresholds(&self) -> Thresholds {
        self.inner.thresholds()
    }

    fn is_local(&self) -> bool {
        self.inner.is_local()
    }

    async fn embed(
        &self,
        texts: &[String],
        kind: Kind,
        cancel: &CancellationToken,
    ) -> Result<Vec<Vec<f32>>, Error> {
        if kind == Kind::Passage {
            return self.inner.embed(texts, kind, cancel).await;
        }
        let mut found: Vec<Option<Vec<f32>>> = {
            let mut kept = self.kept();
            texts.iter().map(|text| kept.get(text)).collect()
        };
        let missing: Vec<String> = texts
            .iter()
            .zip(&found)
            .filter(|(_, vector)| vector.is_none())
            .map(|(text, _)| text.clone())
            .collect();
        let mut fresh = self.inner.embed(&missing, kind, cancel).await?.into_iter();
        let mut kept = self.kept();
        for (slot, text) in found.iter_mut().zip(texts).filter(|(slot, _)| slot.is_none()) {
            let vector = fresh.next().ok_or(Error::Count { want: missing.len(), got: 0 })?;
            kept.put(text.clone(), vector.clone());
            *slot = Some(vector);
        }
        Ok(found.into_iter().flatten().collect())
    }
}

/// Least-recently-used by a counter; with this few entries a scan on eviction costs less than a
/// linked list.
#[derive(Default)]
struct Kept {
    entries: HashMap<String, (u64, Vec<f32>)>,
    tick: u64,
}

impl Kept {
    fn get(&mut self, text: &str) -> Option<Vec<f32>> {
        self.tick += 1;
        let (used, vector) = self.entries.get_mut(text)?;
        *used = self.tick;
        Some(vector.clone())
    }

    fn put(&mut self, text: String, vector: Vec<f32>) {
        if self.entries.len() >= CAPACITY && !self.entries.contains_key(&text) {
            let oldest = self.entries.iter().min_by_key(|(_, (used, _))| *used);
            if let Some(oldest) = oldest.map(|(text, _)| text.clone()) {
                self.entries.remove(&oldest);
            }
        }
        self.tick += 1;
        self.entries.insert(text, (self.tick, vector));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::Hash;

    /// Counts the texts that reach it.
    #[derive(Default)]
    struct Counting {
        hash: Hash,
        seen: AtomicUsize,
    }

    #[async_trait]
    impl Embedder for Counting {
        fn name(&self) -> &str {
            self.hash.name()
        }
        fn dim(&self) -> usize {
            self.hash.dim()
        }
        fn prefixes(&self) -> &Prefixes {
            self.hash.prefixes()
        }
        fn thresholds(&self) -> Thresholds {
            self.hash.thresholds()
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
            self.seen.fetch_add(texts.len(), Ordering::Relaxed);
            self.hash.embed(texts, kind, cancel).await
        }
    }

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|&text| text.to_owned()).collect()
    }

    #[tokio::test]
    async fn a_query_is_embedded_once_and_keeps_its_place() {
        let cached = Cached::new(Counting::default());
        let cancel = CancellationToken::new();
        cached.embed(&texts(&["two"]), Kind::Query, &cancel).await.unwrap();
        let vectors =
            cached.embed(&texts(&["one", "two", "three"]), Kind::Query, &cancel).await.unwrap();
        assert_eq!(cached.inner().seen.load(Ordering::Relaxed), 3);
        let wanted: Vec<_> = ["one", "two", "three"].map(Hash::vector).into();
        assert_eq!(vectors, wanted);
    }

    #[tokio::test]
    async fn passages_pass_through() {
        let cached = Cached::new(Counting::default());
        let cancel = CancellationToken::new();
        for _ in 0..2 {
            cached.embed(&texts(&["one"]), Kind::Passage, &cancel).await.unwrap();
        }
        assert_eq!(cached.inner().seen.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn the_oldest_use_leaves_first() {
        let mut kept = Kept::default();
        for n in 0..CAPACITY {
            kept.put(n.to_string(), vec![0.0]);
        }
        assert!(kept.get("0").is_some());
        kept.put("new".into(), vec![1.0]);
        assert!(kept.get("0").is_some());
        assert!(kept.get("1").is_none());
        assert_eq!(kept.entries.len(), CAPACITY);
    }
}
