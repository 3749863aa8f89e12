//! A large bank: 100,000 memories, or as many as `BENCH_MEMORIES` says. Recall, freshness, a page of
//! the list, writing with vectors given, the first search after a start, memory held.

use crate::corpus;
use crate::measure::{Samples, bar, rate, resident_mb};
use domain::reflect::Budget;
use embed::{Cached, Embedder, Hash};
use engine::memory::search::{self, SearchRequest};
use std::sync::Arc;
use store::memories::{Filter, Sort};
use tests::{Fixture, Setup};
use tokio_util::sync::CancellationToken;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn a_large_bank() {
    let memories: usize =
        std::env::var("BENCH_MEMORIES").ok().and_then(|n| n.parse().ok()).unwrap_or(100_000);
    let name = format!("{memories} memories");
    let embedder: Arc<dyn Embedder> = Arc::new(Cached::new(Hash::new()));
    let setup = Setup { embedder: Some(embedder), ..Setup::default() };
    let f = Fixture::with(setup.clone()).await;
    let took = corpus::fill(f.engine.store(), &f.bank, memories, Hash::vector).await;
    rate(&format!("writing {name}, vectors given"), memories, took, crate::measure::bar(5_000.0));
    let Fixture { folder, clock, engine, bank } = f;
    drop(engine);
    let engine = tests::open(folder.path(), &clock, &setup).await.unwrap();
    let none = CancellationToken::new();
    let questions = corpus::questions(memories, 100, 99);
    let request = |question: &String, budget| SearchRequest::new(bank.clone(), question, budget);
    let mut first = Samples::default();
    first.time(search::search(&engine, request(&questions[0], Budget::Mid), &none)).await.unwrap();
    first.report(&format!("first recall after a start, {name}"), bar(1_500.0));
    for question in &questions[..20] {
        search::search(&engine, request(question, Budget::Mid), &none).await.unwrap();
    }
    let mut recall = Samples::default();
    for question in &questions {
        recall.time(search::search(&engine, request(question, Budget::Mid), &none)).await.unwrap();
    }
    recall.report(&format!("recall mid, {name}, vector cached"), bar(150.0));
    let mut fresh = Samples::default();
    let mut page = Samples::default();
    for _ in 0..30 {
        let id = bank.clone();
        fresh
            .time(engine.store().read(move |tx| {
                let bank = store::banks::key(tx, &id)?;
                store::freshness::newest(tx, bank, None)
            }))
            .await
            .unwrap();
        let id = bank.clone();
        page.time(engine.store().read(move |tx| {
            let bank = store::banks::key(tx, &id)?;
            store::memories::list(tx, bank, &Filter::default(), Sort::MentionedAt, None, 50)
        }))
        .await
        .unwrap();
    }
    fresh.report(&format!("freshness, {name}"), bar(2.0));
    page.report(&format!("page of 50, {name}"), bar(30.0));
    if let Some(held) = resident_mb() {
        println!("{held} MB held");
    }
}
