//! The sample bank of the first run: complete, the same however often the program was closed while
//! it was made, and with a change to review that reads well.

use domain::{BankId, ModelId};
use engine::banks::{self, SAMPLE_BANK, sample};
use engine::clock::TestClock;
use engine::models::{self, proposals};
use engine::view::model::{ModelState, ReviewMode};
use engine::view::proposal::ProposalView;
use engine::{Engine, memory};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tests::{START, Setup, at, open};

fn bank() -> BankId {
    BankId::from(SAMPLE_BANK)
}

/// Kind, old text and new text of an operation.
type Change = (String, Option<String>, Option<String>);

/// Everything of the sample that a person can see, without ids that are made anew.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    counts: [u32; 5],
    memories: Vec<String>,
    models: BTreeMap<String, (ReviewMode, u32, String)>,
    proposals: Vec<Vec<Change>>,
}

async fn seen(engine: &Engine) -> Seen {
    let rows = banks::list(engine).await.unwrap();
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    let page = memory::list(engine, &bank(), Default::default(), None).await.unwrap();
    let mut memories: Vec<String> = page
        .page
        .items
        .iter()
        .map(|row| format!("{} {} {:?} {:?}", row.id, row.text, row.tags, row.entities))
        .collect();
    memories.sort();
    let mut models = BTreeMap::new();
    for row in models::list(engine, &bank()).await.unwrap() {
        let detail = models::get(engine, &bank(), &row.id).await.unwrap();
        models.insert(row.id.0, (row.review, row.version, detail.content));
    }
    let mut waiting = Vec::new();
    for row in proposals::inbox(engine, &bank()).await.unwrap() {
        let view = proposals::get(engine, &bank(), &row.id).await.unwrap();
        waiting.push(view.ops.into_iter().map(|op| (op.kind, op.old_text, op.new_text)).collect());
    }
    Seen {
        counts: [row.facts, row.observations, row.documents, row.models, row.waiting_reviews],
        memories,
        models,
        proposals: waiting,
    }
}

async fn opened(folder: &Path, clock: &Arc<TestClock>, setup: &Setup) -> Engine {
    open(folder, clock, setup).await.unwrap()
}

#[tokio::test]
async fn it_is_complete_and_opening_it_again_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(TestClock::at(at(START)));
    let setup = Setup::default();
    let engine = opened(folder.path(), &clock, &setup).await;
    sample::make(&engine).await.unwrap();
    assert!(engine::settings::status(&engine).await.unwrap().sample_ready);
    let first = seen(&engine).await;
    assert_eq!(first.counts, [58, 15, 4, 3, 1]);
    let versions: Vec<u32> = first.models.values().map(|(_, version, _)| *version).collect();
    assert_eq!(versions, [1, 1, 1]);
    let row = |id: &str| first.models[id].0;
    assert_eq!(row("project-status"), ReviewMode::Manual);
    assert_eq!(row("who-does-what"), ReviewMode::Auto);
    drop(engine);
    for _ in 0..2 {
        clock.advance_ms(86_400_000);
        let engine = opened(folder.path(), &clock, &setup).await;
        sample::make(&engine).await.unwrap();
        assert_eq!(seen(&engine).await, first);
    }
}

#[tokio::test]
async fn a_deleted_sample_stays_away_until_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(TestClock::at(at(START)));
    let engine = opened(folder.path(), &clock, &Setup::default()).await;
    // Stopped after its first step and then deleted.
    let steps = AtomicU32::new(0);
    engine.store().set_commit_hook(move |_| match steps.fetch_add(1, Ordering::SeqCst) {
        0 | 1 => Ok(()),
        _ => Err(store::Error::Closed),
    });
    sample::make(&engine).await.unwrap_err();
    engine.store().set_commit_hook(|_| Ok(()));
    let status = engine::settings::status(&engine).await.unwrap();
    assert_eq!((status.sample_bank, status.sample_ready), (Some(bank()), false));
    banks::delete(&engine, &bank()).await.unwrap();
    sample::make(&engine).await.unwrap();
    assert!(banks::list(&engine).await.unwrap().is_empty());
    let other = engine::view::bank::NewBank { name: "Kestrel".to_owned(), id: None };
    banks::create(&engine, other).await.unwrap();
    sample::make(&engine).await.unwrap();
    let rows = banks::list(&engine).await.unwrap();
    assert_eq!((rows.len(), rows[0].facts), (1, 0), "a person's own bank is not filled");
    let refused = banks::restore_sample(&engine).await.unwrap_err();
    assert_eq!(refused.reason(), "id_taken");
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

#[tokio::test]
async fn a_kill_at_any_commit_ends_with_the_same_bank() {
    let whole = {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(TestClock::at(at(START)));
        let engine = opened(folder.path(), &clock, &Setup::default()).await;
        let passed = kill_at(&engine, u32::MAX);
        sample::make(&engine).await.unwrap();
        (seen(&engine).await, passed.load(Ordering::SeqCst))
    };
    let (whole, points) = whole;
    assert!(points > 20, "every step commits");
    // An odd stride meets the moments before and after commits alike.
    for k in (0..points).step_by(7) {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(TestClock::at(at(START)));
        let engine = opened(folder.path(), &clock, &Setup::default()).await;
        kill_at(&engine, k);
        // What the caller hears is of no use: it is gone.
        drop(sample::make(&engine).await);
        drop(engine);
        let engine = opened(folder.path(), &clock, &Setup::default()).await;
        sample::make(&engine).await.unwrap();
        assert_eq!(seen(&engine).await, whole, "killed at commit point {k} of {points}");
    }
}

fn of_kind<'a>(view: &'a ProposalView, kinds: &'a [&str]) -> impl Iterator<Item = String> + 'a {
    view.ops
        .iter()
        .filter(move |op| op.status == "applied" && kinds.contains(&op.kind.as_str()))
        .map(|op| op.new_text.clone().or_else(|| op.old_text.clone()).unwrap_or_default())
}

#[tokio::test]
async fn the_waiting_change_is_worth_a_review() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(TestClock::at(at(START)));
    let setup = Setup { embedder: Some(tests::bundled()), ..Setup::default() };
    let engine = opened(folder.path(), &clock, &setup).await;
    sample::make(&engine).await.unwrap();
    let rows = proposals::inbox(&engine, &bank()).await.unwrap();
    assert_eq!(rows.len(), 1);
    let view = proposals::get(&engine, &bank(), &rows[0].id).await.unwrap();
    assert!((5..=8).contains(&rows[0].operations), "{} operations", rows[0].operations);
    let replaced: Vec<String> = of_kind(&view, &["replace_block"]).collect();
    assert!(replaced.iter().any(|text| text.contains("4 April")), "{replaced:?}");
    let removed: Vec<String> = of_kind(&view, &["remove_block"]).collect();
    assert!(removed.iter().any(|text| text.contains("Fridays")), "{removed:?}");
    assert!(of_kind(&view, &["add_section", "append_block", "insert_block"]).count() >= 2);
    assert!(view.ops.iter().all(|op| op.kind == "remove_block" || !op.unsupported));
    let devices = ModelId::from("field-devices");
    let row = models::get(&engine, &bank(), &devices).await.unwrap().model;
    assert_eq!(row.state, ModelState::Behind);
}
