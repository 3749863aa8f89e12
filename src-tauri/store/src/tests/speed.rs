//! A first look at speed, printed and never asserted. Run with
//! `cargo test --release -p store -- --ignored --nocapture speed`.

use super::*;
use crate::search::{Scope, graph, text, time, vector};
use crate::tag_sets;
use crate::{EntityKey, entities, freshness};

/// A small generator (xorshift), so that runs can be compared.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Small numbers often, large ones seldom.
    fn zipf(&mut self, n: u64) -> u64 {
        let r = self.below(1 << 20);
        n * r / (1 << 20) * r / (1 << 20) * self.below(1 << 20) / (1 << 20)
    }

    #[allow(clippy::cast_precision_loss, reason = "noise")]
    fn vector(&mut self) -> Vec<f32> {
        let v: Vec<f32> = (0..384).map(|_| self.below(2_000) as f32 / 1_000.0 - 1.0).collect();
        let norm = v.iter().map(|x| x * x).sum::<f32>().sqrt();
        v.into_iter().map(|x| x / norm).collect()
    }
}

#[allow(clippy::disallowed_methods, reason = "a stopwatch, outside the product")]
fn timed<T>(what: &str, rounds: u32, mut work: impl FnMut() -> Result<T>) -> T {
    let mut result = work().unwrap();
    let start = std::time::Instant::now();
    for _ in 0..rounds {
        result = work().unwrap();
    }
    println!("{what:<44} {:>9.3} ms", start.elapsed().as_secs_f64() * 1_000.0 / f64::from(rounds));
    result
}

#[tokio::test]
#[ignore = "takes a while; prints figures"]
async fn speed() {
    let facts: u64 = std::env::var("FACTS").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000);
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &Options::at(t(0))).unwrap();
    let key = store
        .write("bank", |tx| {
            let new = embedders::NewEmbedder {
                name: "e5",
                dim: 384,
                endpoint: None,
                prefix_query: "",
                prefix_passage: "",
            };
            let embedder = embedders::ensure(tx, &new, t(0))?;
            banks::create(tx, &"b".into(), "Bank", Some(embedder), t(0))
        })
        .await
        .unwrap();
    let names: Vec<EntityKey> = store
        .write("entities", move |tx| {
            (0..2_000)
                .map(|n| {
                    let kind = entities::EntityKind::Regular;
                    let name = format!("name{n}");
                    entities::insert(tx, key, &format!("e{n}"), &name, &name, kind, t(0))
                })
                .collect()
        })
        .await
        .unwrap();
    let mut dice = Dice(88_172_645_463_325_252);
    #[allow(clippy::disallowed_methods, reason = "a stopwatch, outside the product")]
    let start = std::time::Instant::now();
    for batch in 0..facts / 500 {
        let news: Vec<NewMemory> = (0..500)
            .map(|n| {
                let words: Vec<String> =
                    (0..20).map(|_| format!("word{}", dice.zipf(20_000))).collect();
                let mut new = fact(&format!("m{batch}-{n}"), &words.join(" "));
                new.fact_type = FactType::ALL[usize::try_from(dice.below(3)).unwrap()];
                new.tags = tags(&[&format!("tag{}", dice.below(50))]);
                let at = i64::try_from(dice.below(1 << 36)).unwrap();
                (new.occurred_start, new.occurred_end) = (Some(t(-at)), Some(t(-at)));
                if new.fact_type != FactType::Observation {
                    new.entities =
                        (0..3).map(|_| names[usize::try_from(dice.zipf(2_000)).unwrap()]).collect();
                }
                new.vector = Some(dice.vector());
                new
            })
            .collect();
        store
            .write("facts", move |tx| {
                for new in &news {
                    add(tx, key, new, 0)?;
                }
                Ok(())
            })
            .await
            .unwrap();
    }
    println!("{facts} facts stored, {:.1} s", start.elapsed().as_secs_f64());
    let query = dice.vector();
    store
        .read(move |tx| {
            let all = Scope::all(key);
            let some = tag_sets::matching(tx, key, |s| s.iter().any(|t| t.as_str() < "tag3"))?;
            let narrow = Scope { tag_sets: some, ..all.clone() };
            let embedder = embedders::find(tx, "e5")?.unwrap();
            let near = |scope: &Scope, k| vector::nearest(tx, scope, &embedder, &query, k, -1.0);
            timed("tag sets decided", 50, || tag_sets::matching(tx, key, |s| s.contains("tag7")));
            timed("vector, 3 types, 300 each", 10, || near(&all, 300));
            let hits = timed("vector, 3 types, 100 each", 10, || near(&all, 100));
            timed("vector, 3 types, 300 each, a third of the tags", 10, || near(&narrow, 300));
            timed("the same by vec0 alone, 300 each", 10, || {
                vector::scan(tx, &all, &embedder, &query, 300, -1.0)
            });
            timed("text, one rare word", 50, || text::find(tx, &all, "word9000", 300));
            timed("text, six words", 50, || {
                text::find(tx, &all, "word9 word50 word700 word1000 word12000 word3000", 300)
            });
            timed("text, very common words", 50, || text::find(tx, &all, "word0 word1 word2", 300));
            let seeds: Vec<_> = hits
                .iter()
                .filter(|h| h.fact_type == FactType::World)
                .take(20)
                .map(|h| h.key)
                .collect();
            timed("graph, 20 seeds", 20, || {
                graph::expand(tx, &all, FactType::World, &seeds, 300, &|| false)
            });
            let keys: Vec<_> = hits.iter().map(|h| h.key).collect();
            timed("hydrate 300", 20, || memories::by_keys(tx, &keys));
            timed("entities of 300", 20, || entities::of_memories(tx, &keys));
            timed("exact scores of 60", 20, || vector::scores(tx, &embedder, &query, &keys[..60]));
            let window =
                Scope { told_between: Some((t(-(1 << 34)), t(-(1 << 33)))), ..all.clone() };
            timed("window, no vector", 20, || time::in_window(tx, &window, 60));
            timed("window, by vector, 60 each", 10, || near(&window, 60));
            timed("newest of every set", 50, || freshness::newest(tx, key, None));
            let page = |filter: &memories::Filter| {
                memories::list(tx, key, filter, memories::Sort::CreatedAt, None, 50)
            };
            timed("list page of 50", 50, || page(&memories::Filter::default()));
            let found = memories::Filter { text: Some("word900".into()), ..Default::default() };
            timed("list page of 50 by a word", 50, || page(&found));
            timed("pending", 50, || {
                memories::pending_keys(tx, key, &crate::tag_sets::TagSets::All, 50)
            });
            Ok(())
        })
        .await
        .unwrap();
    #[allow(clippy::disallowed_methods, reason = "a stopwatch, outside the product")]
    let start = std::time::Instant::now();
    for _ in 0..1_000 {
        store.read(|_| Ok(())).await.unwrap();
    }
    println!("{:<44} {:>9.3} ms", "an empty read", start.elapsed().as_secs_f64());
}
