//! Folding when things go wrong: answers that cannot be read, a network that fails, kills at every
//! commit, rounds; and that nothing of one scope, or private, ever gets where it must not.

use crate::consolidation::{
    create, creates, detail, fold, observations, result, runs, scripted, tagged, user, waiting,
};
use engine::Engine;
use engine::clock::TestClock;
use engine::memory::{self, consolidate};
use engine::view::memory::MemoryFilter;
use engine::view::operation::OperationStatus;
use llm::ChatReply;
use llm::scripted::{Scripted, Step};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tests::{Fixture, Setup, open};

/// Answers from the request alone: one observation for each fact, in the fact's words. A request that
/// holds `poison` gets prose.
fn echo(poison: Option<&'static str>) -> Step {
    Step::with(move |request| {
        let user = user(request);
        let text = match poison {
            Some(poison) if user.contains(poison) => "I cannot do that.".to_owned(),
            _ => echoed(&user).to_string(),
        };
        Ok(ChatReply { text, ..ChatReply::default() })
    })
}

fn echoed(user: &str) -> Value {
    let facts: Vec<Value> = user
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|row| row["id"].as_str().is_some_and(|id| id.starts_with('F')))
        .map(|row| create(row["text"].as_str().unwrap(), &[row["id"].as_str().unwrap()]))
        .collect();
    json!({"creates": facts, "updates": [], "deletes": []})
}

fn push_echoes(script: &Scripted, n: usize, poison: Option<&'static str>) {
    for _ in 0..n {
        script.push_for("consolidation", echo(poison));
    }
}

/// The facts of each request, as their first words.
fn asked(script: &Scripted) -> Vec<Vec<String>> {
    let rows = |request: &llm::ChatRequest| {
        let all = echoed(&user(request));
        let texts = all["creates"].as_array().unwrap().iter();
        texts.map(|row| row["text"].as_str().unwrap().to_owned()).collect()
    };
    script.requests().iter().map(rows).collect()
}

#[tokio::test]
async fn a_failing_batch_is_halved_until_the_fact_that_fails_stands_alone() {
    let script = Scripted::default();
    let f = scripted(&script).await;
    for text in ["one", "two", "three", "four"] {
        tagged(&f, text, "2026-01-05", &[]).await;
    }
    // Three tries for each of the three calls with the bad fact, one for each of the others.
    push_echoes(&script, 11, Some("three"));
    fold(&f).await;
    script.assert_used_up();
    let mut calls = asked(&script);
    calls.dedup();
    let bare = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    assert_eq!(
        calls,
        [
            bare(&["one", "two", "three", "four"]),
            bare(&["one", "two"]),
            bare(&["three", "four"]),
            bare(&["three"]),
            bare(&["four"])
        ]
    );
    assert_eq!(waiting(&f).await, (0, 1));
    assert_eq!(result(&f).await["failed"], 1);
    let all = memory::list(&f.engine, &f.bank, MemoryFilter::default(), None).await.unwrap();
    let bad = all.page.items.into_iter().find(|row| row.text == "three").unwrap();
    assert!(!bad.pending_consolidation);
    assert!(detail(&f, &bad).await.consolidation_error.unwrap().contains("cannot be read"));
    // It is passed over until somebody asks for it.
    fold(&f).await;
    assert_eq!(script.requests().len(), 11);
    let asked = consolidate::retry_failed(&f.engine, &f.bank).await.unwrap();
    assert_eq!(asked.requeued, 1);
    push_echoes(&script, 1, None);
    f.run_queue().await;
    assert_eq!((waiting(&f).await, observations(&f).await.len()), ((0, 0), 4));
}

fn unreachable() -> Step {
    Step::error(llm::Error::Unreachable {
        endpoint: "http://there".to_owned(),
        cause: "no route".to_owned(),
        refused: true,
    })
}

#[tokio::test]
async fn a_dead_network_takes_nothing_apart_and_is_tried_again_with_growing_waits() {
    let script = Scripted::default();
    let f = scripted(&script).await;
    for text in ["one", "two"] {
        tagged(&f, text, "2026-01-05", &[]).await;
    }
    consolidate::now(&f.engine, &f.bank, None).await.unwrap();
    for seconds in [5, 10, 20] {
        script.push(unreachable());
        f.run_queue().await;
        let run = runs(&f).await.remove(0);
        assert_eq!(run.status, OperationStatus::Pending);
        let wait = run.next_retry_at.unwrap() - engine::clock::Clock::now(f.clock.as_ref());
        assert_eq!(wait.num_seconds(), seconds);
        f.clock.advance_ms(seconds * 1_000);
    }
    script.push(unreachable());
    f.run_queue().await;
    let run = runs(&f).await.remove(0);
    assert_eq!(run.status, OperationStatus::Failed);
    assert_eq!(run.error_reason.as_deref(), Some("llm_unreachable"));
    assert_eq!(waiting(&f).await, (2, 0), "the facts wait as before");
    // A refused key is not tried again.
    script.push(Step::error(llm::Error::Auth {
        endpoint: "http://there".to_owned(),
        answer: Box::default(),
    }));
    fold(&f).await;
    let run = runs(&f).await.remove(0);
    assert_eq!(run.error_reason.as_deref(), Some("llm_auth"));
    assert_eq!((script.requests().len(), waiting(&f).await), (5, (2, 0)));
    push_echoes(&script, 1, None);
    fold(&f).await;
    assert_eq!(waiting(&f).await, (0, 0));
}

#[tokio::test]
async fn a_fact_that_went_while_the_model_thought_is_no_source() {
    let script = Scripted::default();
    let f = scripted(&script).await;
    let first = tagged(&f, "one", "2026-01-05", &[]).await;
    tagged(&f, "two", "2026-01-06", &[]).await;
    let hold = llm::scripted::Hold::default();
    let both = json!({"creates": [create("one and two", &["F1", "F2"]), create("one", &["F1"])]});
    script.push(Step::json(&both).held_by(&hold));
    consolidate::now(&f.engine, &f.bank, None).await.unwrap();
    let meanwhile = async {
        hold.arrived().await;
        memory::invalidate(&f.engine, &f.bank, &first.id, None).await.unwrap();
        hold.release();
    };
    tokio::join!(f.run_queue(), meanwhile);
    let all = observations(&f).await;
    assert_eq!((all.len(), all[0].proof_count), (1, Some(1)));
    assert_eq!(all[0].text, "one and two");
    assert_eq!(waiting(&f).await, (0, 0));
}

#[tokio::test]
async fn an_observation_that_changed_while_the_model_thought_is_put_to_it_again() {
    let script = Scripted::default();
    let f = scripted(&script).await;
    let first = tagged(&f, "Ana drinks tea.", "2026-01-05", &[]).await;
    script.push(creates("Ana drinks tea.", &["F1"]));
    fold(&f).await;
    tagged(&f, "Ana drinks tea at work.", "2026-01-06", &[]).await;
    let hold = llm::scripted::Hold::default();
    let update = json!({"updates": [
        {"observation_id": "O1", "text": "Ana drinks tea.", "source_fact_ids": ["F1"]}]});
    script.push(Step::json(&update).held_by(&hold));
    script.push(creates("Ana drinks tea at work.", &["F1"]));
    consolidate::now(&f.engine, &f.bank, None).await.unwrap();
    let meanwhile = async {
        hold.arrived().await;
        memory::invalidate(&f.engine, &f.bank, &first.id, None).await.unwrap();
        hold.release();
    };
    tokio::join!(f.run_queue(), meanwhile);
    let all = observations(&f).await;
    assert_eq!(all.iter().map(|row| &*row.text).collect::<Vec<_>>(), ["Ana drinks tea at work."]);
    script.assert_used_up();
}

#[tokio::test]
async fn a_cancelled_run_keeps_what_it_committed() {
    let script = Scripted::default();
    let f = scripted(&script).await;
    f.settings(json!({"enable_auto_consolidation": false, "consolidation_llm_batch_size": 1}))
        .await;
    for text in ["one", "two", "three"] {
        tagged(&f, text, "2026-01-05", &[]).await;
    }
    let hold = llm::scripted::Hold::default();
    push_echoes(&script, 1, None);
    script.push_for("consolidation", echo(None).held_by(&hold));
    let asked = consolidate::now(&f.engine, &f.bank, None).await.unwrap();
    let meanwhile = async {
        hold.arrived().await;
        engine::ops::cancel(&f.engine, &f.bank, &asked.operation).await.unwrap();
        hold.release();
    };
    tokio::join!(f.run_queue(), meanwhile);
    assert_eq!(runs(&f).await[0].status, OperationStatus::Cancelled);
    assert_eq!((observations(&f).await.len(), waiting(&f).await), (1, (2, 0)));
}

#[tokio::test]
async fn a_round_ends_at_its_cap_and_the_next_one_goes_on() {
    let script = Scripted::default();
    let f = scripted(&script).await;
    f.settings(json!({"enable_auto_consolidation": false,
        "consolidation_max_memories_per_round": 4, "consolidation_llm_batch_size": 3}))
        .await;
    for n in 0..10 {
        tagged(&f, &format!("fact {n} of ten"), "2026-01-05", &[]).await;
    }
    push_echoes(&script, 5, None);
    fold(&f).await;
    script.assert_used_up();
    let facts: Vec<Value> =
        runs(&f).await.iter().map(|run| run.result.clone().unwrap().0["facts"].clone()).collect();
    assert_eq!(facts, [2, 4, 4], "the newest first");
    let sizes: Vec<usize> = asked(&script).iter().map(Vec::len).collect();
    assert_eq!(sizes, [3, 1, 3, 1, 2]);
    assert_eq!(waiting(&f).await, (0, 0));
}

#[tokio::test]
async fn requests_for_scopes_are_united_and_no_scope_means_all() {
    let script = Scripted::default();
    let f = scripted(&script).await;
    for tag in ["a", "b", "c"] {
        tagged(&f, &format!("{tag} is so"), "2026-01-05", &[tag, "x"]).await;
    }
    let scope = |tag: &str| Some(vec![vec![tag.to_owned()]]);
    let first = consolidate::now(&f.engine, &f.bank, scope("a")).await.unwrap();
    let second = consolidate::now(&f.engine, &f.bank, scope("b")).await.unwrap();
    assert_eq!((&first.operation, second.joined), (&second.operation, true));
    push_echoes(&script, 2, None);
    f.run_queue().await;
    assert_eq!(waiting(&f).await, (1, 0));
    consolidate::now(&f.engine, &f.bank, scope("a")).await.unwrap();
    consolidate::now(&f.engine, &f.bank, None).await.unwrap();
    push_echoes(&script, 1, None);
    f.run_queue().await;
    assert_eq!(waiting(&f).await, (0, 0));
}

/// What a person sees of a bank, without ids that are made anew.
async fn seen(engine: &Engine, f: &Fixture) -> Vec<String> {
    let page = memory::list(engine, &f.bank, MemoryFilter::default(), None).await.unwrap();
    let mut all = Vec::new();
    for row in page.page.items {
        let detail = memory::get(engine, &f.bank, &row.id).await.unwrap();
        let sources: BTreeSet<String> = detail.sources.into_iter().map(|one| one.text).collect();
        let changes = detail.folding.map(|folding| folding.changes.len());
        all.push(format!(
            "{:?} {} {:?} {:?} {:?} {sources:?} {changes:?} {}",
            row.fact_type,
            row.text,
            row.tags,
            row.proof_count,
            row.occurred_end,
            row.pending_consolidation
        ));
    }
    all.sort();
    all
}

/// A bank with work for several batches, rounds and scopes, one fact that cannot be folded, and one
/// observation to be rewritten by a later fact.
async fn busy(script: &Scripted) -> Fixture {
    let f = scripted(script).await;
    f.settings(json!({"enable_auto_consolidation": false, "consolidation_llm_batch_size": 2,
        "consolidation_max_memories_per_round": 3, "default_observation_scopes": "per_tag"}))
        .await;
    for (text, tags) in [
        ("Ana sings", &["a", "b"][..]),
        ("Ben dances", &["a", "b"]),
        ("poison", &["a"]),
        ("Cleo paints", &["a"]),
        ("Ana sings", &["a"]),
        ("Dora writes", &[]),
    ] {
        tagged(&f, text, "2026-01-05", tags).await;
    }
    f
}

#[tokio::test]
async fn a_kill_at_any_commit_ends_with_the_same_bank() {
    let whole = {
        let script = Scripted::default();
        let f = busy(&script).await;
        push_echoes(&script, 60, Some("poison"));
        let passed = kill_at(&f.engine, u32::MAX);
        fold(&f).await;
        assert_eq!(waiting(&f).await, (0, 1));
        (seen(&f.engine, &f).await, passed.load(Ordering::SeqCst))
    };
    let (whole, points) = whole;
    assert!(whole.iter().any(|row| row.contains("Ana sings [\"a\"] Some(2)")), "{whole:?}");
    assert!(points > 20, "every batch commits: {points}");
    for k in (0..points).step_by(3) {
        let script = Scripted::default();
        let f = busy(&script).await;
        push_echoes(&script, 120, Some("poison"));
        kill_at(&f.engine, k);
        // What the caller hears is of no use: it is gone.
        drop(consolidate::now(&f.engine, &f.bank, None).await);
        drop(engine::ops::run_pending(&f.engine).await);
        let Fixture { folder, clock, engine, bank } = f;
        drop(engine);
        let setup = Setup { llm: Some(Arc::new(script.clone())), ..Setup::default() };
        let engine = reopened(folder.path(), &clock, &setup).await;
        let f = Fixture { folder, clock, engine, bank };
        f.run_queue().await;
        // A request that was lost is made again.
        fold(&f).await;
        assert_eq!(seen(&f.engine, &f).await, whole, "killed at commit point {k} of {points}");
    }
}

/// Opens a folder as soon as the records of requests, which are written beside the calls, have let go
/// of it.
async fn reopened(folder: &Path, clock: &Arc<TestClock>, setup: &Setup) -> Engine {
    loop {
        match open(folder, clock, setup).await {
            Err(error) if error.reason() == "data_folder_in_use" => tokio::task::yield_now().await,
            opened => return opened.unwrap(),
        }
    }
}

/// Fails the k-th commit point and everything after it, as if the process had ended there.
fn kill_at(engine: &Engine, k: u32) -> Arc<AtomicU32> {
    let passed = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&passed);
    engine.store().set_commit_hook(move |_| {
        if count.fetch_add(1, Ordering::SeqCst) < k { Ok(()) } else { Err(store::Error::Closed) }
    });
    passed
}

/// README 62: what bears a private tag is folded here, by equal wording, and stays marked whatever
/// its scope says.
#[tokio::test]
async fn private_memories_never_reach_a_model_elsewhere() {
    let script = Scripted::default();
    let f = scripted(&script).await;
    f.settings(json!({"enable_auto_consolidation": false, "local_only_tags": ["secret"],
        "default_observation_scopes": "shared"}))
        .await;
    for day in ["2026-01-05", "2026-01-06"] {
        tagged(&f, "The safe is behind the stove.", day, &["secret", "home"]).await;
    }
    tagged(&f, "The stove is warm.", "2026-01-07", &["home"]).await;
    push_echoes(&script, 1, None);
    fold(&f).await;
    script.assert_used_up();
    for request in script.requests() {
        assert!(!format!("{:?}", request.messages).contains("safe"));
    }
    let all = observations(&f).await;
    let tags: Vec<_> = all.iter().map(|row| (row.text.as_str(), row.tags.join(","))).collect();
    assert_eq!(
        tags,
        [
            ("The safe is behind the stove.", "secret".to_owned()),
            ("The stove is warm.", String::new())
        ]
    );
    // Nor as a candidate for a fact that is near it.
    tagged(&f, "The safe is behind the stove, they say.", "2026-01-08", &[]).await;
    push_echoes(&script, 1, None);
    fold(&f).await;
    let last = user(script.requests().last().unwrap());
    let shown = last.split("Observations:").last().unwrap();
    assert!(shown.contains("stove is warm") && !shown.contains("safe"), "{last}");
}

/// A tag that becomes private later takes what was folded without it out of the open.
#[tokio::test]
async fn a_tag_that_becomes_private_closes_what_was_folded_in_the_open() {
    let script = Scripted::default();
    let f = scripted(&script).await;
    let stated = json!({"default_observation_scopes": "shared"});
    f.settings(json!({"enable_auto_consolidation": false, "default_observation_scopes": "shared"}))
        .await;
    for day in ["2026-01-05", "2026-01-06"] {
        tagged(&f, "The safe is behind the stove.", day, &["secret"]).await;
    }
    tagged(&f, "The stove is warm.", "2026-01-07", &["home"]).await;
    push_echoes(&script, 2, None);
    fold(&f).await;
    assert!(observations(&f).await.iter().all(|row| row.tags.is_empty()));
    let mut stated = stated;
    stated["local_only_tags"] = json!(["secret"]);
    engine::settings::set_of(&f.engine, &f.bank, stated.into()).await.unwrap();
    let open: Vec<_> = observations(&f).await.into_iter().map(|row| row.text).collect();
    assert_eq!(open, ["The stove is warm."]);
    assert_eq!(waiting(&f).await, (2, 0));
    fold(&f).await;
    let all = observations(&f).await;
    assert_eq!((all.len(), &all[1].tags[..]), (2, &["secret".to_owned()][..]));
    assert_eq!(script.requests().len(), 2);
}

/// Pseudo-random numbers; the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % n
    }
}

/// Whatever tags and scopes there are, facts of different groups never share a call, and a call shows
/// and changes observations of its own scope alone.
#[tokio::test]
async fn nothing_crosses_scopes() {
    let rules = [
        json!("combined"),
        json!("per_tag"),
        json!("all_combinations"),
        json!("shared"),
        json!([["t0"], ["t1", "t2"]]),
    ];
    for (seed, rule) in (0u64..).zip(rules) {
        let script = Scripted::default();
        let f = scripted(&script).await;
        let batch = 3;
        f.settings(json!({"enable_auto_consolidation": false,
            "consolidation_llm_batch_size": batch, "default_observation_scopes": rule}))
            .await;
        let mut dice = Dice(seed + 7);
        let mut tags_of: BTreeMap<String, Vec<String>> = BTreeMap::new();
        push_echoes(&script, 400, None);
        for n in 0..24 {
            let tags: Vec<String> =
                (0..3).filter(|_| dice.below(2) == 1).map(|t| format!("t{t}")).collect();
            let bare: Vec<&str> = tags.iter().map(String::as_str).collect();
            // Few words, so that everything is near to everything.
            let text = format!("wood tea stove number {n}");
            tagged(&f, &text, "2026-01-05", &bare).await;
            tags_of.insert(text, tags);
            if n % 8 == 7 {
                fold(&f).await;
            }
        }
        let scope_of: BTreeMap<String, Vec<Vec<String>>> = {
            let mut found: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
            for row in observations(&f).await {
                let own: BTreeSet<String> =
                    detail(&f, &row).await.sources.into_iter().map(|one| one.text).collect();
                assert_eq!(own, BTreeSet::from([row.text.clone()]));
                found.entry(row.text).or_default().push(row.tags);
            }
            found
        };
        let parsed = domain::consolidation::ScopeRule::parse(&rule).unwrap();
        for (text, tags) in &tags_of {
            let mut want = domain::consolidation::scopes(tags, &parsed).unwrap();
            let mut got = scope_of.get(text).cloned().unwrap_or_default();
            want.sort();
            got.sort();
            assert_eq!(got, want, "{rule}: {text}");
        }
        for (request, facts) in script.requests().iter().zip(asked(&script)) {
            let first = &tags_of[&facts[0]];
            assert!(facts.len() <= batch && facts.iter().all(|fact| tags_of[fact] == *first));
            let shown = user(request);
            let rows = shown.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let shown: Vec<String> = rows
                .filter(|row| row["id"].as_str().is_some_and(|id| id.starts_with('O')))
                .map(|row| row["text"].as_str().unwrap().to_owned())
                .collect();
            // There is one scope that all the facts and all the observations of the call share.
            let common = domain::consolidation::scopes(first, &parsed).unwrap();
            let fits =
                common.iter().any(|scope| shown.iter().all(|text| scope_of[text].contains(scope)));
            assert!(fits, "{rule}: {shown:?} shown for {facts:?}");
        }
    }
}
