//! The plug is pulled at every commit of what takes texts in: the next start finds the old or the new
//! state, whole, and going on ends where an undisturbed run ends.

use crate::models::reopen;
use engine::memory;
use engine::models::{self, pages};
use engine::view::memory::{MemoryFilter, RetainText};
use engine::view::page::{ImportPages, OnConflict};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use store::Moment;
use tests::Fixture;

/// More commits than any of these works makes.
const MOST: u32 = 40;

/// Entries of the log book.
const ENTRIES: usize = 12;

/// From the given commit on nothing more is written, as if the process were gone. Gives the count of
/// commits that were tried.
fn pull_at(f: &Fixture, moment: Moment, step: u32) -> Arc<AtomicU32> {
    let commits = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&commits);
    f.engine.store().set_commit_hook(move |point| {
        // After a commit it is the next one that no longer happens.
        let gone = match moment {
            Moment::BeforeCommit => count.load(Ordering::SeqCst) >= step,
            Moment::AfterCommit => count.load(Ordering::SeqCst) > step,
        };
        if point.moment == Moment::BeforeCommit && gone {
            count.fetch_add(1, Ordering::SeqCst);
            return Err(store::Error::Closed);
        }
        if point.moment == Moment::AfterCommit {
            count.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    });
    commits
}

/// The same folder in another process.
async fn reborn(f: Fixture) -> Fixture {
    let Fixture { folder, clock, engine, bank } = f;
    engine.store().set_commit_hook(|_| Ok(()));
    drop(engine);
    let engine = reopen(folder.path(), &clock).await;
    Fixture { folder, clock, engine, bank }
}

/// What the bank says, in order.
async fn said(f: &Fixture) -> Vec<String> {
    let mut all = Vec::new();
    let mut cursor = None;
    loop {
        let found = memory::list(&f.engine, &f.bank, MemoryFilter::default(), cursor)
            .await
            .expect("a list");
        all.extend(found.page.items.into_iter().map(|row| row.text));
        match found.page.next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    all.sort();
    all
}

/// Entries of a log book, each a passage of its own.
fn log_book(what: &str) -> String {
    let entries = (0..ENTRIES).map(|n| {
        format!(
            "Entry {n:02}: the {what} of the workshop was looked at by whoever kept the log that \
             day, and nothing was found on it that would have to be mended before winter."
        )
    });
    entries.collect::<Vec<_>>().join("\n\n")
}

async fn keep(f: &Fixture, what: &str) {
    let input = json!({ "text": log_book(what), "document_id": "log", "mode": "chunks" });
    let input: RetainText = serde_json::from_value(input).expect("a text");
    memory::retain(&f.engine, &f.bank, input).await.expect("a retain");
}

/// A text that replaces another: a reader finds the former statements or the new ones, never neither.
#[tokio::test]
async fn a_retain_killed_at_any_commit_is_taken_up_and_ends_the_same() {
    let begun = async || {
        let f = Fixture::new().await;
        let small = json!({ "retain_chunk_size": 200, "enable_auto_consolidation": false });
        f.settings(small).await;
        keep(&f, "kiln").await;
        f.run_queue().await;
        f
    };
    let f = begun().await;
    let before = said(&f).await;
    keep(&f, "crane").await;
    f.run_queue().await;
    let wanted = said(&f).await;
    assert_eq!((before.len(), wanted.len()), (ENTRIES, ENTRIES), "one memory for each entry");
    for moment in [Moment::BeforeCommit, Moment::AfterCommit] {
        for step in 0..MOST {
            let f = begun().await;
            keep(&f, "crane").await;
            let commits = pull_at(&f, moment, step);
            engine::ops::run_pending(&f.engine).await.ok();
            let reached = commits.load(Ordering::SeqCst) > step;
            let f = reborn(f).await;
            let found = said(&f).await;
            let holds = |texts: &[String]| texts.iter().all(|text| found.contains(text));
            assert!(holds(&before) || holds(&wanted), "{moment:?} at {step}: {found:?}");
            f.run_queue().await;
            assert_eq!(said(&f).await, wanted, "{moment:?} at {step}");
            if !reached {
                assert!(step > 3, "there is more than one commit to be killed at");
                break;
            }
        }
    }
}

/// Pages and their folders, each with its text.
async fn library(f: &Fixture) -> Vec<(u32, String, String)> {
    let mut all = Vec::new();
    for node in pages::tree(&f.engine, &f.bank).await.expect("a tree") {
        let text = match &node.page {
            Some(page) => {
                let page = models::get(&f.engine, &f.bank, &page.mental_model_id).await;
                let page = page.expect("a page");
                assert_eq!(page.content, page.structure.render());
                assert_eq!(
                    (page.model.version, page.blame.len()),
                    (1, page.structure.blocks().count())
                );
                page.content
            }
            None => String::new(),
        };
        all.push((node.depth, node.name, text));
    }
    all
}

/// An import of pages again after the kill skips what is there and brings in the rest.
#[tokio::test]
async fn an_import_of_pages_killed_at_any_commit_is_whole_or_not_at_all() {
    let notes = tempfile::tempdir().expect("a folder");
    for (path, text) in [
        ("Kilns/Old kiln.md", "# Old kiln\n\nIt burns wood.\n"),
        ("Kilns/New kiln.md", "# New kiln\n\nIt burns gas.\n\nIt is loud.\n"),
        ("People/Ada.md", "# Ada\n\nAda lights the kiln.\n"),
    ] {
        let path = notes.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a note");
    }
    let import = async |f: &Fixture, from: &Path| {
        let input = ImportPages {
            paths: vec![from.display().to_string()],
            as_pages: true,
            parent_id: None,
            on_conflict: OnConflict::Skip,
            review: None,
        };
        pages::import(&f.engine, &f.bank, input).await
    };
    let f = Fixture::new().await;
    import(&f, notes.path()).await.expect("an import");
    let wanted = library(&f).await;
    assert_eq!(wanted.iter().filter(|(_, _, text)| !text.is_empty()).count(), 3);
    for moment in [Moment::BeforeCommit, Moment::AfterCommit] {
        for step in 0..MOST {
            let f = Fixture::new().await;
            f.settle().await;
            let commits = pull_at(&f, moment, step);
            import(&f, notes.path()).await.ok();
            let reached = commits.load(Ordering::SeqCst) > step;
            let f = reborn(f).await;
            let found = library(&f).await;
            assert!(found.is_empty() || found == wanted, "{moment:?} at {step}: {found:?}");
            import(&f, notes.path()).await.expect("it can be done now");
            assert_eq!(library(&f).await, wanted, "{moment:?} at {step}");
            if !reached {
                assert!(step > 0, "there is a commit to be killed at");
                break;
            }
        }
    }
}
