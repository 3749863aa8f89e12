//! Vectors of sentences that were already compared with a question. Making one costs milliseconds,
//! and the next question usually meets the same sentences. Lost at the end of the program.

use crate::{Engine, Result};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// Vectors that are kept; of 384 numbers each they take some 12 MB.
const MOST: usize = 8192;

type Key = [u8; 32];

/// The kept vectors of one engine, whose embedder never changes.
#[derive(Debug, Default)]
pub(crate) struct KeptVectors(Mutex<HashMap<Key, Vec<f32>>>);

impl KeptVectors {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Vec<f32>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The vectors of some texts as passages, in order, made where they are not kept.
pub(super) async fn vectors(
    engine: &Engine,
    texts: &[String],
    cancel: &CancellationToken,
) -> Result<Vec<Vec<f32>>> {
    let kept = &engine.inner.statement_vectors;
    let keys: Vec<Key> = texts.iter().map(|text| Sha256::digest(text.as_bytes()).into()).collect();
    let mut found: Vec<Option<Vec<f32>>> = {
        let kept = kept.lock();
        keys.iter().map(|key| kept.get(key).cloned()).collect()
    };
    let missing: Vec<usize> = (0..texts.len()).filter(|at| found[*at].is_none()).collect();
    let wanted: Vec<String> = missing.iter().map(|at| texts[*at].clone()).collect();
    let made = engine.embed_passages(&wanted, cancel).await?;
    let mut kept = kept.lock();
    if kept.len() + made.len() > MOST {
        kept.clear();
    }
    for (at, vector) in missing.into_iter().zip(made) {
        kept.insert(keys[at], vector.clone());
        found[at] = Some(vector);
    }
    drop(kept);
    Ok(found.into_iter().flatten().collect())
}
