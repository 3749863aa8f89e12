//! Storing, correcting and removing memories, and what must move with them.

use super::*;
use crate::memories::{Edit, Filter, Sort, State};
use crate::tombstones::{self, Cause};
use crate::{Error, MemoryKey, entities, freshness, links, tag_sets};

async fn three(store: &Store, bank: BankKey) -> Vec<MemoryKey> {
    store
        .write("add", move |tx| {
            let ann = entities::insert(
                tx,
                bank,
                "e1",
                "Ann",
                "ann",
                entities::EntityKind::Regular,
                t(0),
            )?;
            let bob = entities::insert(
                tx,
                bank,
                "e2",
                "Bob",
                "bob",
                entities::EntityKind::Regular,
                t(0),
            )?;
            let mut keys = Vec::new();
            for (id, text, who) in [
                ("m1", "Ann plays chess", vec![ann]),
                ("m2", "Ann met Bob", vec![ann, bob]),
                ("m3", "Bob bakes bread", vec![bob]),
            ] {
                let mut new = fact(id, text);
                new.entities = who;
                new.vector = Some(vec![1.0, 0.0, 0.0, 0.0]);
                new.tags = tags(&["x"]);
                keys.push(add(tx, bank, &new, 10)?);
            }
            let mut seen = fact("o1", "Ann knows Bob");
            seen.fact_type = FactType::Observation;
            seen.sources = vec![keys[0], keys[1]];
            keys.push(add(tx, bank, &seen, 10)?);
            memories::mark_consolidated(tx, &keys[..3], t(11))?;
            Ok(keys)
        })
        .await
        .unwrap()
}

#[tokio::test]
async fn sequence_rises_and_stamps_rise_even_when_the_clock_goes_back() {
    let (_folder, store, key) = bank().await;
    let keys = three(&store, key).await;
    store.write("add", move |tx| add(tx, key, &fact("m4", "Later"), -5_000)).await.unwrap();
    let all = store
        .read(move |tx| {
            let later = memories::get(tx, key, &"m4".into())?;
            let mut all = memories::by_keys(tx, &keys)?;
            all.push(later);
            Ok((all, banks::by_key(tx, key)?))
        })
        .await
        .unwrap();
    let seqs: Vec<i64> = all.0.iter().map(|m| m.change_seq).collect();
    assert_eq!(seqs, [1, 2, 3, 4, 5]);
    assert_eq!(all.0[0].updated_at, all.0[3].updated_at, "one stamp per transaction");
    assert!(all.0[4].updated_at > all.0[3].updated_at);
    assert_eq!(all.1.write_seq, 5);
    assert_eq!(all.1.last_memory_write_at, Some(all.0[4].updated_at));
    assert_eq!(all.0[3].proof_count, 2);
    assert_eq!(all.0[0].tags, tags(&["x"]));
}

#[tokio::test]
async fn removing_a_fact_sweeps_its_observation_and_requeues_the_others() {
    let (_folder, store, key) = bank().await;
    let keys = three(&store, key).await;
    let gone = keys[0];
    let removed = store
        .write("remove", move |tx| memories::remove(tx, key, &[gone], Cause::Deleted, None, t(20)))
        .await
        .unwrap();
    assert_eq!((removed.memories, removed.observations), (1, 1));
    store
        .read(move |tx| {
            assert!(memories::find(tx, key, &"m1".into())?.is_none());
            assert!(memories::find(tx, key, &"o1".into())?.is_none());
            let waiting = memories::pending_keys(tx, key, &tag_sets::TagSets::All, 10)?;
            let waiting = memories::by_keys(tx, &waiting)?;
            assert_eq!(waiting.len(), 1);
            assert_eq!(waiting[0].id.0, "m2");
            assert!(waiting[0].updated_at < t(20), "requeueing is bookkeeping");
            let left = tombstones::of_memories(tx, key, &["m1".into(), "o1".into(), "m2".into()])?;
            let causes: Vec<_> = left.iter().map(|x| (x.memory.0.as_str(), x.cause)).collect();
            assert_eq!(causes, [("o1", Cause::Swept), ("m1", Cause::Deleted)]);
            assert_eq!(banks::by_key(tx, key)?.write_seq, 6);
            let counters = banks::counters(tx, key)?;
            assert_eq!((counters["world"], counters["observation"]), (2, 0));
            let ann = entities::get(tx, key, "e1")?;
            assert_eq!(ann.mention_count, 1);
            assert_eq!(memories::verify(tx, Some(crate::EmbedderKey(1)))?, Default::default());
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn an_entity_without_facts_goes_with_its_pairs() {
    let (_folder, store, key) = bank().await;
    let keys = three(&store, key).await;
    store
        .write("remove", move |tx| {
            memories::remove(tx, key, &keys[..2], Cause::Deleted, None, t(20))?;
            assert!(matches!(entities::get(tx, key, "e1"), Err(Error::NotFound { .. })));
            let pairs: i64 =
                tx.one("SELECT /* whole file */ count(*) FROM entity_pair", [], |r| r.get(0))?;
            assert_eq!(pairs, 0);
            assert!(entities::candidates(tx, key, "Ann", 5)?.is_empty());
            assert_eq!(entities::candidates(tx, key, "Bobb", 5)?.len(), 1);
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn invalidating_and_restoring_is_a_round_trip() {
    let (_folder, store, key) = bank().await;
    let keys = three(&store, key).await;
    store
        .write("invalidate", move |tx| {
            let cause = links::Link {
                from: keys[1],
                kind: links::LinkKind::CausedBy,
                to: keys[0],
                weight: 1.0,
            };
            links::insert(tx, &[cause])?;
            memories::invalidate(tx, key, &"m2".into(), "wrong", t(20))?;
            let m2 = memories::get(tx, key, &"m2".into())?;
            assert_eq!(m2.state, State::Invalidated);
            assert_eq!(m2.invalidation_reason.as_deref(), Some("wrong"));
            assert_eq!(entities::get(tx, key, "e2")?.mention_count, 1);
            assert!(links::around(tx, &[keys[0]])?.is_empty());
            let seq = m2.change_seq;
            memories::invalidate(tx, key, &"m2".into(), "very wrong", t(21))?;
            let again = memories::get(tx, key, &"m2".into())?;
            assert_eq!(again.change_seq, seq, "a second call changes the reason alone");

            let restored = memories::restore(tx, key, &"m2".into(), None, t(22))?;
            assert!(restored.needs_vector);
            let m2 = memories::get(tx, key, &"m2".into())?;
            assert_eq!((m2.state, m2.consolidated_at), (State::Valid, None));
            assert_eq!(entities::get(tx, key, "e2")?.mention_count, 2);
            assert_eq!(links::around(tx, &[keys[0]])?, [cause]);
            assert!(tombstones::of_memories(tx, key, &["m2".into()])?.is_empty());
            assert_eq!(memories::verify(tx, None)?, Default::default());
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn an_edit_keeps_the_former_state_and_marks_a_changed_scope() {
    let (_folder, store, key) = bank().await;
    three(&store, key).await;
    store
        .write("edit", move |tx| {
            let change = Edit { text: Some("Ann plays go".into()), ..Edit::default() };
            memories::edit(tx, key, &"m1".into(), &change, t(20))?;
            let m1 = memories::get(tx, key, &"m1".into())?;
            assert_eq!(m1.text, "Ann plays go");
            assert_eq!(m1.edited_at, Some(m1.updated_at));
            assert_eq!(memories::history(tx, m1.key)?[0].prev["text"], "Ann plays chess");
            assert!(tombstones::of_memories(tx, key, &["m1".into()])?.is_empty());
            assert!(memories::find(tx, key, &"o1".into())?.is_none(), "its observation went");

            let ann = entities::find(tx, key, "ann")?.unwrap();
            let change =
                Edit { tags: Some(tags(&["y"])), entities: Some(vec![ann.key]), ..Edit::default() };
            memories::edit(tx, key, &"m1".into(), &change, t(21))?;
            let left = tombstones::of_memories(tx, key, &["m1".into()])?;
            assert_eq!((left[0].cause, &left[0].tags), (Cause::Rescoped, &tags(&["x"])));
            assert_eq!(entities::find(tx, key, "ann")?.unwrap().mention_count, 2);

            let seen = memories::edit(tx, key, &"none".into(), &Edit::default(), t(22));
            assert!(matches!(seen, Err(Error::NotFound { .. })));
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn observations_are_not_curated() {
    let (_folder, store, key) = bank().await;
    three(&store, key).await;
    let refused = store
        .write("edit", move |tx| memories::invalidate(tx, key, &"o1".into(), "no", t(20)))
        .await;
    assert!(matches!(refused, Err(Error::NotCuratable)));
}

#[tokio::test]
async fn what_says_the_same_is_found_and_no_more_is_read_than_asked_for() {
    let (_folder, store, key) = bank().await;
    store
        .write("add", move |tx| {
            for n in 0..9 {
                add(tx, key, &fact(&format!("f{n}"), "The KILN  is old"), n)?;
            }
            add(tx, key, &fact("longer", "The kiln is old and red"), 20)?;
            add(tx, key, &fact("inside", "Of ovens the kiln is old"), 21)?;
            for (id, tag) in [("ox", "x"), ("oy", "y")] {
                let mut new = fact(id, "the kiln is old");
                (new.fact_type, new.origin) = (FactType::Observation, Origin::Folded);
                new.tags = tags(&[tag]);
                add(tx, key, &new, 1)?;
            }
            let x = tag_sets::matching(tx, key, |set| set.contains("x"))?;
            let same = |text: &str, most: usize| -> Result<Vec<String>> {
                let found = memories::saying_the_same(tx, key, text, &x, most)?;
                Ok(found.into_iter().map(|memory| memory.id.0).collect())
            };
            assert_eq!(same("The kiln is old", 3)?, ["ox", "f8", "f7"]);
            assert_eq!(same("THE KILN IS OLD", 99)?.len(), 10, "of its scope, and nothing longer");
            assert_eq!(same("old", 99)?, Vec::<String>::new());
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn freshness_is_decided_by_sequence_and_scope() {
    let (_folder, store, key) = bank().await;
    three(&store, key).await;
    store
        .write("add", move |tx| {
            let mut new = fact("m9", "Untagged");
            new.tags = tags(&[]);
            add(tx, key, &new, 30)
        })
        .await
        .unwrap();
    store
        .read(move |tx| {
            let x = tag_sets::matching(tx, key, |set| set.contains("x"))?;
            let newest = freshness::newest(tx, key, None)?;
            assert_eq!(newest.within(&[FactType::World], &x), Some(3));
            assert_eq!(newest.within(&FactType::ALL, &tag_sets::TagSets::All), Some(5));
            assert_eq!(newest.within(&[FactType::Experience], &x), None);
            let scope = crate::search::Scope { tag_sets: x, ..crate::search::Scope::all(key) };
            assert!(freshness::is_newer(tx, &scope, 2)?);
            assert!(!freshness::is_newer(tx, &scope, 3)?);
            assert_eq!(freshness::count_newer(tx, &scope, 0, 2)?, 2);
            assert_eq!(freshness::pending(tx, key)?.len(), 1);
            assert!(freshness::is_pending(tx, key)?);
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn what_waits_is_told_by_tag_set_and_given_scopes() {
    let (_folder, store, key) = bank().await;
    let given = serde_json::json!([["x"]]);
    let of_both = given.clone();
    store
        .write("add", move |tx| {
            let all = [("a", None), ("a", None), ("a", Some(&of_both)), ("b", Some(&of_both))];
            for (n, (tag, scopes)) in all.into_iter().enumerate() {
                let mut new = fact(&format!("w{n}"), "Waits");
                new.tags = tags(&[tag]);
                new.scopes = scopes.cloned();
                add(tx, key, &new, 40)?;
            }
            Ok(())
        })
        .await
        .unwrap();
    store
        .read(move |tx| {
            let mut found = Vec::new();
            for (set, scopes) in freshness::pending_scopes(tx, key)? {
                found.push((tag_sets::tags(tx, set)?, scopes));
            }
            let a = tags(&["a"]);
            assert_eq!(
                found,
                [(a.clone(), None), (a, Some(given.clone())), (tags(&["b"]), Some(given))]
            );
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn pages_follow_each_other_without_gap_or_repeat() {
    let (_folder, store, key) = bank().await;
    store
        .write("add", move |tx| {
            for n in 0..25 {
                let mut new = fact(&format!("m{n:02}"), &format!("Fact number {n}"));
                new.mentioned_at = (n % 3 != 0).then(|| t(n % 5));
                add(tx, key, &new, n % 7)?;
            }
            Ok(())
        })
        .await
        .unwrap();
    for sort in [Sort::MentionedAt, Sort::CreatedAt, Sort::UpdatedAt, Sort::ProofCount] {
        let seen = store
            .read(move |tx| {
                let (mut seen, mut after) = (Vec::new(), None);
                loop {
                    let page = memories::list(tx, key, &Filter::default(), sort, after, 4)?;
                    seen.extend(page.items.into_iter().map(|m| m.id.0));
                    after = page.next;
                    if after.is_none() {
                        return Ok(seen);
                    }
                }
            })
            .await
            .unwrap();
        assert_eq!(seen.len(), 25, "{sort:?}");
        assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 25, "{sort:?}");
    }
}

#[tokio::test]
async fn lists_filter_by_text_state_and_entity() {
    let (_folder, store, key) = bank().await;
    three(&store, key).await;
    store
        .write("look", move |tx| {
            let ids = |filter: &Filter| -> Result<Vec<String>> {
                let page = memories::list(tx, key, filter, Sort::CreatedAt, None, 10)?;
                Ok(page.items.into_iter().map(|m| m.id.0).collect())
            };
            let text = |s: &str| Filter { text: Some(s.into()), ..Filter::default() };
            assert_eq!(ids(&text("ann me"))?, ["m2"]);
            assert_eq!(ids(&text("\"*("))?.len(), 4);
            assert_eq!(memories::count(tx, key, &text("ann"))?, 3);
            let bob = entities::find(tx, key, "bob")?.unwrap().key;
            assert_eq!(ids(&Filter { entity: Some(bob), ..Filter::default() })?, ["m3", "m2"]);
            memories::invalidate(tx, key, &"m3".into(), "no", t(20))?;
            let out = Filter { state: Some(State::Invalidated), ..text("bread") };
            assert_eq!(ids(&out)?, ["m3"]);
            assert_eq!(ids(&Filter { state: None, ..Filter::default() })?.len(), 4);
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn deleting_a_bank_leaves_no_row_of_it() {
    let (_folder, store, key) = bank().await;
    three(&store, key).await;
    store
        .write("delete", move |tx| {
            banks::delete(tx, key)?;
            let tables = tx.list(
                "SELECT name FROM sqlite_schema WHERE type = 'table'
                   AND (name LIKE 'fts_memory_docsize' OR name LIKE 'vec_memory_1_rowids'
                        OR sql LIKE '%bank_id INTEGER%')",
                [],
                |r| r.get::<_, String>(0),
            )?;
            assert!(tables.len() > 12, "{tables:?}");
            for table in tables {
                let n: i64 =
                    tx.one(&format!("SELECT /* whole file */ count(*) FROM {table}"), [], |r| {
                        r.get(0)
                    })?;
                assert_eq!(n, 0, "{table}");
            }
            Ok(())
        })
        .await
        .unwrap();
}
