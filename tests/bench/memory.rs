//! Recall at 10,000 memories: each breadth, with the query's vector at hand and with it to be made,
//! and eight callers at once.

use crate::corpus;
use crate::measure::{Against, Samples, against, rate};
use async_trait::async_trait;
use domain::reflect::Budget;
use embed::{Cached, Embedder, Hash, Kind, Prefixes, Thresholds};
use engine::memory::search::{self, SearchRequest};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tests::{Fixture, Setup};
use tokio_util::sync::CancellationToken;

/// Memories in the bank.
pub(crate) const MEMORIES: usize = 10_000;

/// Callers at once.
const CALLERS: usize = 8;

/// Takes the time that the bundled model takes for a query and gives the hashed vector, so that a
/// bank need not be embedded with the model for an hour before a second of measuring.
pub(crate) struct AsLongAsTheModel {
    model: Arc<dyn Embedder>,
    hash: Hash,
}

impl AsLongAsTheModel {
    /// With the cache of queries in front that the program has.
    pub(crate) fn cached() -> Arc<dyn Embedder> {
        Arc::new(Cached::new(Self { model: tests::bundled(), hash: Hash::new() }))
    }
}

#[async_trait]
impl Embedder for AsLongAsTheModel {
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
    ) -> Result<Vec<Vec<f32>>, embed::Error> {
        if kind == Kind::Query {
            self.model.embed(texts, kind, cancel).await?;
        }
        self.hash.embed(texts, kind, cancel).await
    }
}

/// A bank of 10,000 memories.
pub(crate) async fn bank(setup: Setup) -> Fixture {
    let fixture = Fixture::with(setup).await;
    corpus::fill(fixture.engine.store(), &fixture.bank, MEMORIES, Hash::vector).await;
    fixture
}

fn cached_hash() -> Setup {
    let embedder: Arc<dyn Embedder> = Arc::new(Cached::new(Hash::new()));
    Setup { embedder: Some(embedder), ..Setup::default() }
}

/// Times the questions one by one; gives the mean number of hits.
async fn time(
    fixture: &Fixture,
    questions: &[String],
    budget: Budget,
    samples: &mut Samples,
) -> usize {
    let none = CancellationToken::new();
    let mut hits = 0;
    for question in questions {
        let request = SearchRequest::new(fixture.bank.clone(), question, budget);
        let found = samples.time(search::search(&fixture.engine, request, &none)).await.unwrap();
        hits += found.hits.len();
    }
    hits / questions.len()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn recall_with_the_vector_at_hand() {
    let fixture = bank(cached_hash()).await;
    let questions = corpus::questions(MEMORIES, 200, 99);
    time(&fixture, &questions, Budget::High, &mut Samples::default()).await;
    let none = Against::default();
    for (budget, word, held) in [
        (Budget::Low, "low", Against { peer: Some(167.0), ..none }),
        (Budget::Mid, "mid", against(6.0, 194.0)),
        (Budget::High, "high", against(12.0, 218.0)),
    ] {
        let mut samples = Samples::default();
        let hits = time(&fixture, &questions, budget, &mut samples).await;
        samples.report(&format!("recall {word}, 10,000 memories, vector cached"), held);
        println!("{hits} hits on average");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn recall_with_the_vector_to_be_made() {
    let embedder = Some(AsLongAsTheModel::cached());
    let fixture = bank(Setup { embedder, ..Setup::default() }).await;
    time(&fixture, &corpus::questions(MEMORIES, 20, 5), Budget::High, &mut Samples::default())
        .await;
    for (budget, word, seed, held) in [
        (Budget::Mid, "mid", 6, against(12.0, 194.0)),
        (Budget::High, "high", 7, against(18.0, 218.0)),
    ] {
        let questions = corpus::questions(MEMORIES, 100, seed);
        let mut samples = Samples::default();
        time(&fixture, &questions, budget, &mut samples).await;
        samples.report(&format!("recall {word}, 10,000 memories, vector made"), held);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn recall_for_eight_callers() {
    let fixture = Arc::new(bank(cached_hash()).await);
    let questions = Arc::new(corpus::questions(MEMORIES, 200, 99));
    time(&fixture, &questions, Budget::High, &mut Samples::default()).await;
    for (budget, word, peer) in
        [(Budget::Low, "low", 9.0), (Budget::Mid, "mid", 7.4), (Budget::High, "high", 5.6)]
    {
        let start = Instant::now();
        let mut callers = Vec::new();
        for caller in 0..CALLERS {
            let (fixture, questions) = (Arc::clone(&fixture), Arc::clone(&questions));
            callers.push(tokio::spawn(async move {
                let mut done = 0;
                let none = CancellationToken::new();
                while start.elapsed() < Duration::from_secs(3) {
                    let question = &questions[(done * CALLERS + caller) % questions.len()];
                    let request = SearchRequest::new(fixture.bank.clone(), question, budget);
                    search::search(&fixture.engine, request, &none).await.unwrap();
                    done += 1;
                }
                done
            }));
        }
        let mut done = 0;
        for caller in callers {
            done += caller.await.unwrap();
        }
        let held = Against { bar: None, peer: Some(peer) };
        rate(
            &format!("recall {word}, 10,000 memories, eight callers"),
            done,
            start.elapsed(),
            held,
        );
    }
}
