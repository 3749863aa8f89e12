//! Recall at 10,000 facts.

use domain::reflect::Budget;
use domain::{FactType, MemoryId};
use engine::memory::search::{self, SearchRequest};
use std::time::Instant;
use store::entities::EntityKind;
use store::memories::{NewMemory, Origin};
use tests::{Fixture, at};
use tokio_util::sync::CancellationToken;

/// Facts in the bank.
const FACTS: u64 = 10_000;

/// Words of the corpus; word `n` comes up about as often as 1 in `n`, as words of a language do.
const WORDS: u64 = 4_000;

/// A small generator with a fixed seed (SplitMix64), so that every run sees the same bank.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Below `n`, small numbers more often.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn skewed(&mut self, n: u64) -> u64 {
        let even = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        ((n as f64).powf(even) as u64).saturating_sub(1).min(n - 1)
    }
}

fn word(n: u64) -> String {
    const SYLLABLES: [&str; 16] = [
        "ka", "lo", "mir", "ten", "su", "ra", "vel", "ni", "dor", "pe", "shi", "gan", "tu", "bel",
        "os", "fy",
    ];
    let mut n = n;
    let mut text = String::new();
    for _ in 0..3 {
        text.push_str(SYLLABLES[usize::try_from(n % 16).unwrap()]);
        n /= 16;
    }
    text
}

fn sentence(dice: &mut Dice, words: usize) -> String {
    (0..words).map(|_| word(dice.skewed(WORDS))).collect::<Vec<_>>().join(" ")
}

async fn bank() -> Fixture {
    let fixture = Fixture::new().await;
    let id = fixture.bank.clone();
    let day = at("2024-01-01T00:00:00Z");
    fixture
        .engine
        .store()
        .write("bench", move |tx| {
            let bank = store::banks::key(tx, &id)?;
            let mut dice = Dice(7);
            let mut entities = Vec::new();
            for n in 0..500_u64 {
                let name = format!("Name {}", word(n * 7 + 3));
                let key = format!("{} {n}", name.to_lowercase());
                let id = format!("entity-{n}");
                let kind = EntityKind::Regular;
                entities.push(store::entities::insert(tx, bank, &id, &name, &key, kind, day)?);
            }
            for n in 0..FACTS {
                let text = sentence(&mut dice, 25);
                let own = (0..3)
                    .map(|_| entities[usize::try_from(dice.skewed(500)).unwrap()])
                    .collect::<std::collections::BTreeSet<_>>();
                let told = day + chrono::Duration::hours(i64::try_from(n * 2).unwrap());
                let kind = if n % 7 == 0 { FactType::Experience } else { FactType::World };
                let new = NewMemory {
                    tags: [format!("tag{}", dice.skewed(50))].into(),
                    occurred_start: Some(told),
                    occurred_end: Some(told),
                    mentioned_at: Some(told),
                    entities: own.into_iter().collect(),
                    vector: Some(embed::Hash::vector(&text)),
                    ..NewMemory::fact(MemoryId(format!("m{n}")), kind, text, Origin::Imported)
                };
                store::memories::insert(tx, bank, &new, day)?;
            }
            Ok(())
        })
        .await
        .unwrap();
    fixture.engine.store().tidy().await.unwrap();
    fixture
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn recall_mid_at_ten_thousand_facts() {
    let fixture = bank().await;
    let none = CancellationToken::new();
    let mut dice = Dice(99);
    let mut queries: Vec<String> = (0..200).map(|_| sentence(&mut dice, 6)).collect();
    queries.extend((0..20).map(|n| format!("{} in {}", sentence(&mut dice, 4), 2024 + n % 2)));
    let mut took = Vec::new();
    let mut hits = 0;
    for (n, query) in queries.iter().chain(&queries).enumerate() {
        let request = SearchRequest::new(fixture.bank.clone(), query, Budget::Mid);
        let start = Instant::now();
        let found = search::search(&fixture.engine, request, &none).await.unwrap();
        // The first round warms caches.
        if n >= queries.len() {
            took.push(start.elapsed());
            hits += found.hits.len();
        }
    }
    took.sort();
    println!(
        "recall mid at {FACTS} facts, {} queries, {} hits on average: p50 {:.1?}, p95 {:.1?}, max {:.1?}",
        took.len(),
        hits / took.len(),
        took[took.len() / 2],
        took[took.len() * 95 / 100],
        took[took.len() - 1],
    );
}
