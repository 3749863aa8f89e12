//! The four ways of finding memories.

use super::*;
use crate::search::{Scope, graph, text, time, vector};
use crate::tag_sets::{self};
use crate::{MemoryKey, embedders, entities, links};

fn found(hits: &[crate::search::Hit], keys: &[MemoryKey]) -> Vec<usize> {
    hits.iter().map(|h| keys.iter().position(|k| *k == h.key).unwrap()).collect()
}

#[tokio::test]
async fn fc_38_any_text_is_a_legal_search_and_finds_the_word() {
    let (_folder, store, key) = bank().await;
    let texts = [
        "Mira said that the quarterly numbers are due",
        "Ask Rob about C++ templates",
        "外币汇率今天上涨了很多",
        "新しいカレンダーを買いました",
        "전세를 구했다",
        "ราคาทองคำวันนี้สูงขึ้นมาก",
        "Das Café öffnet in der Straße um 50% später",
        "The AND gate is NEAR the NOT gate",
    ];
    store
        .write("add", move |tx| {
            let keys: Vec<MemoryKey> = texts
                .iter()
                .enumerate()
                .map(|(n, text)| add(tx, key, &fact(&format!("m{n}"), text), 0))
                .collect::<Result<_>>()?;
            let look = |query: &str| -> Result<Vec<usize>> {
                Ok(found(&text::find(tx, &Scope::all(key), query, 10)?.hits, &keys))
            };
            for (query, at) in [
                ("@mira", 0),
                ("ask-rob", 1),
                ("what's due, roughly?", 0),
                ("C++", 1),
                ("AND", 7),
                ("NEAR(", 7),
                ("foo:templates", 1),
                ("50%", 6),
                ("외전세", 4),
                ("外币汇率", 2),
                ("カレンダー", 3),
                ("ทองคำ", 5),
                ("cafe", 6),
                ("CAFÉ", 6),
                ("gate\" OR \"x", 7),
            ] {
                if query == "외전세" {
                    // Three characters that do not stand together find nothing; two do.
                    assert_eq!(look(query)?, [] as [usize; 0]);
                    assert_eq!(look("전세")?, [at]);
                    continue;
                }
                assert_eq!(look(query)?.first(), Some(&at), "{query}");
            }
            for query in ["", "   ", "\"", "*", "()", "a\"b^c:"] {
                look(query)?;
            }
            look(&"long ".repeat(1000))?;
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn entity_names_and_spelled_dates_find_a_memory() {
    let (_folder, store, key) = bank().await;
    store
        .write("add", move |tx| {
            let kind = entities::EntityKind::Regular;
            let who =
                entities::insert(tx, key, "e", "Zuse Institute", "zuse institute", kind, t(0))?;
            let mut new = fact("m", "The machine was switched on");
            new.entities = vec![who];
            new.occurred_start = Some(t(0));
            let memory = add(tx, key, &new, 0)?;
            for query in ["zuse", "March 2026"] {
                let hits = text::find(tx, &Scope::all(key), query, 5)?.hits;
                assert_eq!(hits.first().map(|h| h.key), Some(memory), "{query}");
            }
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn common_words_are_left_out_unless_nothing_is_left() {
    let (_folder, store, key) = bank().await;
    store
        .write("add", move |tx| {
            for n in 0..300 {
                add(tx, key, &fact(&format!("m{n}"), &format!("the server number w{n}")), n)?;
            }
            let hits = text::find(tx, &Scope::all(key), "the servers w7", 400)?;
            assert_eq!(hits.words, ["w7"]);
            assert_eq!(hits.hits.len(), 1);
            assert_eq!(hits.left_out.len(), 2);
            let hits = text::find(tx, &Scope::all(key), "the server unheard", 400)?;
            assert_eq!(hits.words.len(), 1);
            assert_eq!(hits.hits.len(), 300);
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn fc_39_filters_are_inside_the_vector_query() {
    let (_folder, store, key) = bank().await;
    store
        .write("add", move |tx| {
            for n in 0..600u16 {
                let wanted = n % 30 == 0;
                let mut new = fact(&format!("m{n}"), "near or far");
                // The wanted ones are the farthest.
                new.vector =
                    Some(vec![1.0, if wanted { 1.0 } else { f32::from(n) / 6000.0 }, 0.0, 0.0]);
                new.tags = if wanted { tags(&["keep"]) } else { tags(&["other"]) };
                add(tx, key, &new, i64::from(n))?;
            }
            let embedder = embedders::find(tx, "tiny")?.unwrap();
            let query = [1.0, 0.0, 0.0, 0.0];
            let keep = tag_sets::matching(tx, key, |set| set.contains("keep"))?;
            let scope = Scope { tag_sets: keep, ..Scope::all(key) };
            let hits = vector::nearest(tx, &scope, &embedder, &query, 10, 0.0)?;
            assert_eq!(hits.len(), 10);
            assert!(hits.iter().all(|h| (h.score - 0.5f64.sqrt()).abs() < 1e-6));
            let exact = vector::scores(tx, &embedder, &query, &[hits[0].key])?;
            assert!((exact[&hits[0].key] - hits[0].score).abs() < 1e-6);
            // A window of sequence numbers, as a delta refresh asks for.
            let late = Scope { after_seq: Some(590), ..Scope::all(key) };
            assert_eq!(vector::nearest(tx, &late, &embedder, &query, 50, 0.0)?.len(), 10);
            assert!(vector::nearest(tx, &scope, &embedder, &[1.0], 10, 0.0).is_err());
            let words = text::find(tx, &scope, "near", 50)?;
            assert_eq!(words.hits.len(), 20);
            Ok(())
        })
        .await
        .unwrap();
}

/// One step from the best hits of each type.
fn expanded(
    tx: &crate::ReadTx<'_>,
    scope: &Scope,
    held: &[crate::search::Hit],
) -> Result<Vec<graph::Expansion>> {
    let of = |fact_type| {
        let own = held.iter().filter(|hit| hit.fact_type == fact_type).take(3);
        let seeds: Vec<MemoryKey> = own.map(|hit| hit.key).collect();
        graph::expand(tx, scope, fact_type, &seeds, 500, &|| false)
    };
    FactType::ALL.into_iter().map(of).collect()
}

#[tokio::test]
async fn the_copy_in_memory_answers_as_the_table_does() {
    let (_folder, store, key) = bank().await;
    let compare = || async {
        let (seen, answers) = store
            .read(move |tx| {
                let embedder = embedders::find(tx, "tiny")?.unwrap();
                let some = tag_sets::matching(tx, key, |s| !s.contains("t1"))?;
                let all = Scope::all(key);
                let scopes = [
                    all.clone(),
                    Scope { tag_sets: some, ..all.clone() },
                    Scope { types: vec![FactType::Experience], ..all.clone() },
                    Scope { after_seq: Some(40), up_to_seq: Some(90), ..all.clone() },
                    Scope {
                        updated_after: Some(t(3)),
                        updated_before: Some(t(200)),
                        ..all.clone()
                    },
                    Scope { told_between: Some((t(20), t(60))), ..all.clone() },
                ];
                let mut seen = 0;
                let mut answers = Vec::new();
                for scope in scopes {
                    let query = [0.3, -0.2, 0.9, 0.1];
                    let (k, floor) = (17, -0.5);
                    let held = vector::nearest(tx, &scope, &embedder, &query, k, floor)?;
                    let table = vector::scan(tx, &scope, &embedder, &query, k, floor)?;
                    let ids = |hits: &[crate::search::Hit]| -> Vec<MemoryKey> {
                        hits.iter().map(|h| h.key).collect()
                    };
                    assert_eq!(ids(&held), ids(&table), "{scope:?}");
                    for (a, b) in held.iter().zip(&table) {
                        assert!((a.score - b.score).abs() < 1e-5);
                    }
                    let exact = vector::scores(tx, &embedder, &query, &ids(&held))?;
                    assert!(held.iter().all(|h| (exact[&h.key] - h.score).abs() < 1e-6));
                    seen += held.len();
                    let words = text::find(tx, &scope, "text odd", 500)?.hits;
                    let tied = expanded(tx, &scope, &held)?;
                    answers.push((scope, held, words, tied));
                }
                Ok((seen, answers))
            })
            .await
            .unwrap();
        // A write has no copy to ask: what it finds comes from the file alone.
        store
            .write("compare", move |tx| {
                for (scope, held, words, tied) in answers {
                    let sorted = |mut hits: Vec<crate::search::Hit>| {
                        hits.sort_by_key(|h| h.key);
                        hits
                    };
                    let again = text::find(tx, &scope, "text odd", 500)?.hits;
                    assert_eq!(sorted(words), sorted(again), "{scope:?}");
                    assert_eq!(tied, expanded(tx, &scope, &held)?, "{scope:?}");
                }
                Ok(())
            })
            .await
            .unwrap();
        seen
    };
    let write = |first: i64, last: i64| {
        store.write("add", move |tx| {
            let kind = entities::EntityKind::Regular;
            let who = match entities::find(tx, key, "who")? {
                Some(known) => known.key,
                None => entities::insert(tx, key, "e", "Who", "who", kind, t(0))?,
            };
            let mut keys = Vec::new();
            for n in first..last {
                let mut new = fact(&format!("m{n}"), if n % 5 == 0 { "text odd" } else { "text" });
                if n % 2 == 0 || n % 7 == 0 {
                    new.entities = vec![who];
                }
                new.fact_type = FactType::ALL[usize::try_from(n % 2).unwrap()];
                #[allow(clippy::cast_precision_loss, reason = "a made-up vector")]
                let x = |k: i64| ((n * k) % 23) as f32 - 11.5;
                new.vector = (n % 9 != 0).then(|| vec![x(3), x(5), x(7), x(11)]);
                new.tags = tags(&[&format!("t{}", n % 3)]);
                if n % 4 == 0 {
                    (new.occurred_start, new.occurred_end) = (Some(t(n)), Some(t(n + n % 50)));
                }
                if n % 12 == 3 {
                    new.fact_type = FactType::Observation;
                    new.entities.clear();
                    new.sources = keys.iter().rev().take(4).copied().collect();
                }
                keys.push(add(tx, key, &new, n)?);
            }
            Ok(())
        })
    };
    write(0, 120).await.unwrap();
    assert!(compare().await > 60);
    // A few more: brought up to date.
    write(120, 125).await.unwrap();
    compare().await;
    // Changed, removed, filled in: each must show at once.
    store
        .write("change", move |tx| {
            let edit = memories::Edit {
                vector: Some(vec![0.3, -0.2, 0.9, 0.1]),
                tags: Some(tags(&["t2"])),
                ..Default::default()
            };
            memories::edit(tx, key, &"m7".into(), &edit, t(300))?;
            memories::edit(tx, key, &"m8".into(), &memories::Edit::default(), t(300))
        })
        .await
        .unwrap();
    compare().await;
    store
        .write("invalidate", move |tx| {
            memories::invalidate(tx, key, &"m10".into(), "no", t(301))?;
            let gone = memories::keys(tx, key, &["m11".into(), "m13".into()])?;
            memories::remove(tx, key, &gone, crate::tombstones::Cause::Deleted, None, t(301))
        })
        .await
        .unwrap();
    compare().await;
    store
        .write("fill", move |tx| {
            let embedder = embedders::find(tx, "tiny")?.unwrap();
            for m in memories::missing_vectors(tx, key, embedder.key, 50)? {
                memories::put_vector(tx, &embedder, key, m, &[0.3, -0.2, 0.8, 0.1])?;
            }
            memories::restore(tx, key, &"m10".into(), Some(&[0.3, -0.2, 0.9, 0.2]), t(302))
        })
        .await
        .unwrap();
    compare().await;
    // Deleted and given anew under the same id: no tombstone tells of it.
    store
        .write("again", move |tx| {
            let gone = memories::keys(tx, key, &["m20".into(), "m124".into()])?;
            memories::remove(tx, key, &gone, crate::tombstones::Cause::Deleted, None, t(303))?;
            let mut new = fact("m20", "text odd");
            new.vector = Some(vec![0.3, -0.2, 0.9, 0.3]);
            add(tx, key, &new, 304)
        })
        .await
        .unwrap();
    compare().await;
}

#[tokio::test]
async fn vectors_held_as_bytes_find_the_same() {
    let options = Options { whole_vectors: 0, ..Options::at(t(0)) };
    let (_folder, store, key) = bank_with(&options).await;
    for round in 0..3_i64 {
        store
            .write("add", move |tx| {
                for n in round * 300..(round + 1) * 300 {
                    let mut new = fact(&format!("m{n}"), "text");
                    #[allow(clippy::cast_precision_loss, reason = "a made-up vector")]
                    let x = |k: i64| ((n * k) % 101) as f32 - 50.5;
                    new.vector = (n % 9 != 0).then(|| vec![x(3), x(5), x(7), x(11)]);
                    add(tx, key, &new, n)?;
                }
                let gone = memories::keys(tx, key, &[format!("m{}", round * 300 + 7).into()])?;
                memories::remove(tx, key, &gone, crate::tombstones::Cause::Deleted, None, t(1_000))
            })
            .await
            .unwrap();
        store
            .read(move |tx| {
                let embedder = embedders::find(tx, "tiny")?.unwrap();
                let (scope, query) = (Scope::all(key), [0.3, -0.2, 0.9, 0.1]);
                let held = vector::nearest(tx, &scope, &embedder, &query, 40, -0.5)?;
                let table = vector::scan(tx, &scope, &embedder, &query, 40, -0.5)?;
                assert_eq!(held.len(), 40);
                for (a, b) in held.iter().zip(&table) {
                    assert!((a.score - b.score).abs() < 0.01, "{a:?} {b:?}");
                }
                Ok(())
            })
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn the_graph_finds_shared_entities_links_and_causes() {
    let (_folder, store, key) = bank().await;
    store
        .write("add", move |tx| {
            let kind = entities::EntityKind::Regular;
            let a = entities::insert(tx, key, "a", "A", "a", kind, t(0))?;
            let b = entities::insert(tx, key, "b", "B", "b", kind, t(0))?;
            let mut keys = Vec::new();
            for (n, who) in
                [vec![a, b], vec![a, b], vec![a], vec![], vec![], vec![a]].iter().enumerate()
            {
                let mut new = fact(&format!("m{n}"), "something");
                new.entities.clone_from(who);
                new.tags = if n == 5 { tags(&["hidden"]) } else { tags(&[]) };
                keys.push(add(tx, key, &new, 0)?);
            }
            let link = |from: usize, kind, to: usize, weight| links::Link {
                from: keys[from],
                kind,
                to: keys[to],
                weight,
            };
            links::insert(
                tx,
                &[
                    link(3, links::LinkKind::Semantic, 0, 0.9),
                    link(0, links::LinkKind::CausedBy, 4, 1.0),
                ],
            )?;
            let shown = tag_sets::matching(tx, key, BTreeSet::is_empty)?;
            let scope = Scope { tag_sets: shown, ..Scope::all(key) };
            let step = graph::expand(tx, &scope, FactType::World, &keys[..1], 10, &|| false)?;
            assert_eq!(found(&step.hits, &keys), [4, 3, 1, 2]);
            assert!((step.hits[2].score - 1f64.tanh()).abs() < 1e-9);
            let late = graph::expand(tx, &scope, FactType::World, &keys[..1], 10, &|| true)?;
            assert!(late.expired);
            assert_eq!(found(&late.hits, &keys), [4, 3], "stored links are still there");

            // Observations: over the facts they were folded from.
            let mut obs = Vec::new();
            for (n, sources) in [vec![0], vec![1, 2], vec![3]].into_iter().enumerate() {
                let mut new = fact(&format!("o{n}"), "seen");
                new.fact_type = FactType::Observation;
                new.sources = sources.into_iter().map(|s: usize| keys[s]).collect();
                obs.push(add(tx, key, &new, 1)?);
            }
            let step = graph::expand(tx, &scope, FactType::Observation, &obs[..1], 10, &|| false)?;
            assert_eq!(found(&step.hits, &obs), [1]);
            assert!((step.hits[0].score - 1f64.tanh()).abs() < 1e-9);
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn windows_take_overlaps_and_neighbours_are_nearest() {
    let (_folder, store, key) = bank().await;
    store
        .write("add", move |tx| {
            let mut keys = Vec::new();
            for (n, (start, end, told)) in [
                (Some(0), Some(100), None), // spans the window
                (Some(40), Some(40), None), // inside
                (None, None, Some(45)),     // told inside
                (Some(10), Some(20), None), // before
                (None, None, None),         // undated, stored inside the window
            ]
            .into_iter()
            .enumerate()
            {
                let mut new = fact(&format!("m{n}"), "told");
                (new.occurred_start, new.occurred_end, new.mentioned_at) =
                    (start.map(t), end.map(t), told.map(t));
                keys.push(add(tx, key, &new, 42)?);
            }
            let scope = Scope { told_between: Some((t(30), t(50))), ..Scope::all(key) };
            let mut seen: Vec<_> = time::in_window(tx, &scope, 10)?.iter().map(|d| d.key).collect();
            seen.sort();
            assert_eq!(seen, keys[..3]);
            let of = time::dates(tx, &[keys[1]])?[0];
            let near = time::neighbours(tx, &Scope::all(key), FactType::World, &of, 10, 5)?;
            let near: Vec<_> = near.into_iter().map(|(k, _)| k).collect();
            assert_eq!(near, [keys[4], keys[2]]);
            Ok(())
        })
        .await
        .unwrap();
}
