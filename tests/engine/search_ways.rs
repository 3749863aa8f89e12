//! Searching in four ways at once, on two readers: what one reader saw and the other did not costs
//! nothing.

use async_trait::async_trait;
use domain::BankId;
use domain::fusion::Way;
use domain::reflect::Budget;
use embed::{Embedder, Hash, Kind, Prefixes, Thresholds};
use engine::Engine;
use engine::memory::{self, search};
use serde_json::json;
use std::sync::{Arc, OnceLock};
use tests::{Fixture, Setup};
use tokio_util::sync::CancellationToken;

/// Stores a fact while a query's vector is being made.
#[derive(Default)]
struct Meanwhile {
    hash: Hash,
    into: OnceLock<(Engine, BankId)>,
}

#[async_trait]
impl Embedder for Meanwhile {
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
        if let (Kind::Query, Some((engine, bank))) = (kind, self.into.get()) {
            let fact = json!({"text": "A heron nests by the weir", "entities": ["Weir"]});
            memory::add(engine, bank, serde_json::from_value(fact).unwrap()).await.unwrap();
        }
        self.hash.embed(texts, kind, cancel).await
    }
}

#[tokio::test]
async fn a_memory_stored_between_two_ways_is_found_by_both() {
    let embedder = Arc::new(Meanwhile::default());
    let setup = Setup { embedder: Some(Arc::clone(&embedder) as _), ..Setup::default() };
    let fixture = Fixture::with(setup).await;
    fixture.fact("Ferries cross at noon", &["Ferry"], "2026-02-01").await;
    embedder.into.set((fixture.engine.clone(), fixture.bank.clone())).ok().unwrap();
    let request = search::SearchRequest::new(fixture.bank.clone(), "heron weir", Budget::Mid);
    let found = search::search(&fixture.engine, request, &CancellationToken::new()).await.unwrap();
    let heron = found.hits.iter().find(|hit| hit.memory.text.contains("heron")).unwrap();
    let ways: Vec<Way> = heron.ways.iter().map(|hit| hit.way).collect();
    assert!(ways.contains(&Way::Semantic), "{ways:?}");
    assert!(ways.contains(&Way::Keyword), "{ways:?}");
}
