//! The sample bank of the first run: it is made by the program itself, with nothing configured, and
//! a program that is closed meanwhile goes on where it stopped.

use engine::view::model::ModelState;
use engine::{banks, models};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use store::{CommitPoint, Moment};
use tests::{Setup, at};

#[tokio::test]
async fn the_first_start_leaves_a_change_that_waits_for_review() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(engine::clock::TestClock::at(at("2026-03-16T09:00:00Z")));
    let setup = Setup { embedder: Some(tests::bundled()), ..Setup::default() };
    let engine = tests::open(folder.path(), &clock, &setup).await.unwrap();
    // Stopped at every third of its commits, and begun anew each time.
    let commits = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&commits);
    engine.store().set_commit_hook(move |point: CommitPoint| {
        let stops = point.moment == Moment::BeforeCommit
            && point.label.starts_with("sample_")
            && counted.fetch_add(1, Ordering::Relaxed).is_multiple_of(3);
        if stops { Err(store::Error::Closed) } else { Ok(()) }
    });
    let mut tries = 0;
    while let Err(error) = banks::sample::make(&engine).await {
        tries += 1;
        assert!(tries < 20, "{error}");
    }
    assert!(tries > 2, "the making was stopped {tries} times");
    let rows = banks::list(&engine).await.unwrap();
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!(row.id.as_str(), banks::SAMPLE_BANK);
    assert_eq!((row.facts, row.observations, row.documents, row.models), (58, 15, 4, 3), "{row:?}");
    assert_eq!(row.waiting_reviews, 1);
    let list = models::list(&engine, &row.id).await.unwrap();
    let state = |id: &str| list.iter().find(|model| model.id.as_str() == id).unwrap();
    let status = state("project-status");
    assert_eq!(status.state, ModelState::WaitingForReview);
    let operations = status.open_proposal.as_ref().unwrap().operations;
    assert!((2..=8).contains(&operations), "{operations} operations wait");
    assert_eq!(state("field-devices").state, ModelState::Behind);
    assert_eq!(state("who-does-what").state, ModelState::Current);
    // Nothing is made a second time.
    engine.store().set_commit_hook(|_| Ok(()));
    banks::sample::make(&engine).await.unwrap();
    assert_eq!(banks::list(&engine).await.unwrap(), rows);
}

#[tokio::test]
async fn a_deleted_sample_bank_stays_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(engine::clock::TestClock::at(at("2026-03-16T09:00:00Z")));
    let engine = tests::open(folder.path(), &clock, &Setup::default()).await.unwrap();
    banks::sample::make(&engine).await.unwrap();
    let id = banks::list(&engine).await.unwrap().remove(0).id;
    banks::delete(&engine, &id).await.unwrap();
    banks::sample::make(&engine).await.unwrap();
    assert!(banks::list(&engine).await.unwrap().is_empty());
}
