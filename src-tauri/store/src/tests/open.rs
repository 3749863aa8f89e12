//! Opening, refusing, locking, committing, telling.

use std::sync::{Arc, Mutex};

use domain::CacheTag;

use super::*;
use crate::{Error, FILE_NAME, Moment, settings};

#[tokio::test]
async fn writes_are_read_back_and_told_after_the_commit() {
    let (_folder, store, _) = bank().await;
    let mut news = store.notices();
    store.write("set", |tx| settings::set(tx, "a", &1.into(), t(1))).await.unwrap();
    let notice = news.recv().await.unwrap();
    assert_eq!(notice.bank, None);
    assert_eq!(notice.changed[&CacheTag::Settings], ["a"]);
    assert_eq!(store.read(|tx| settings::get(tx, "a")).await.unwrap(), Some(1.into()));
}

#[tokio::test]
async fn a_state_has_a_name_until_something_is_committed() {
    let (_folder, store, _) = bank().await;
    let state = || async { store.read(|tx| Ok(tx.state())).await.unwrap() };
    let before = state().await;
    assert_eq!(state().await, before);
    let undone = store.write("set", move |tx| {
        settings::set(tx, "a", &1.into(), t(1))?;
        Err::<(), _>(crate::Error::Closed)
    });
    undone.await.unwrap_err();
    assert_eq!(state().await, before, "nothing was written");
    let write = store.write("set", |tx| {
        settings::set(tx, "a", &1.into(), t(1))?;
        Ok(tx.state())
    });
    assert_eq!(write.await.unwrap(), before, "a write begins where the reader was");
    assert_ne!(state().await, before);
}

/// Which thread ends first is a matter of luck: once is no proof.
#[tokio::test]
async fn the_last_handle_folds_the_log_into_the_file() {
    for _ in 0..30 {
        let (folder, store, _) = bank().await;
        store.write("set", |tx| settings::set(tx, "a", &1.into(), t(1))).await.unwrap();
        drop(store);
        assert!(!folder.path().join(format!("{FILE_NAME}-wal")).exists());
    }
}

#[tokio::test]
async fn a_failed_write_leaves_nothing_and_tells_nothing() {
    let (_folder, store, _) = bank().await;
    let mut news = store.notices();
    let failed = store
        .write("set", |tx| {
            settings::set(tx, "a", &1.into(), t(1))?;
            Err::<(), _>(Error::NoEmbedder)
        })
        .await;
    assert!(matches!(failed, Err(Error::NoEmbedder)));
    let panicked = store
        .write("set", |tx| -> Result<()> {
            settings::set(tx, "a", &1.into(), t(1))?;
            panic!("on purpose")
        })
        .await;
    assert!(matches!(panicked, Err(Error::Panicked { .. })));
    assert_eq!(store.read(|tx| settings::get(tx, "a")).await.unwrap(), None);
    assert!(news.try_recv().is_err());
}

#[tokio::test]
async fn the_commit_hook_sees_labels_and_can_stop_a_commit() {
    let (_folder, store, _) = bank().await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    store.set_commit_hook(move |point| {
        log.lock().unwrap().push((point.label, point.moment));
        match (point.label, point.moment) {
            ("stop", Moment::BeforeCommit) => Err(Error::Closed),
            _ => Ok(()),
        }
    });
    store.write("go", |tx| settings::set(tx, "a", &1.into(), t(1))).await.unwrap();
    assert!(store.write("stop", |tx| settings::set(tx, "a", &2.into(), t(1))).await.is_err());
    assert_eq!(store.read(|tx| settings::get(tx, "a")).await.unwrap(), Some(1.into()));
    let expected =
        [("go", Moment::BeforeCommit), ("go", Moment::AfterCommit), ("stop", Moment::BeforeCommit)];
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_second_owner_is_refused_and_a_closed_one_leaves_the_folder() {
    let (folder, store, _) = bank().await;
    let second = Store::open(folder.path(), &Options::at(t(0)));
    assert!(matches!(second, Err(Error::DataFolderInUse { .. })));
    drop(store);
    let again = Store::open(folder.path(), &Options::at(t(0))).unwrap();
    assert_eq!(again.read(banks::list).await.unwrap().len(), 1);
}

#[tokio::test]
async fn fc_41_a_newer_file_is_refused_and_keeps_its_bytes() {
    let (folder, store, _) = bank().await;
    drop(store);
    let db = folder.path().join(FILE_NAME);
    rusqlite::Connection::open(&db).unwrap().execute_batch("PRAGMA user_version = 99;").unwrap();
    refused_untouched(folder.path());
}

#[tokio::test]
async fn a_newer_number_that_is_still_in_the_log_is_seen() {
    let (folder, store, _) = bank().await;
    drop(store);
    let db = folder.path().join(FILE_NAME);
    // A copy taken while the writer lives has the change in the log alone, as after a crash.
    let conn = rusqlite::Connection::open(&db).unwrap();
    conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).unwrap();
    conn.execute_batch("PRAGMA user_version = 98;").unwrap();
    let crashed = tempfile::tempdir().unwrap();
    for name in [FILE_NAME.to_owned(), format!("{FILE_NAME}-wal")] {
        std::fs::copy(folder.path().join(&name), crashed.path().join(&name)).unwrap();
    }
    let bytes = std::fs::read(crashed.path().join(FILE_NAME)).unwrap();
    assert_ne!(bytes[60..64], 98u32.to_be_bytes(), "the number must be in the log alone");
    refused_untouched(crashed.path());
}

fn refused_untouched(folder: &std::path::Path) {
    let read = || {
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().path())
            .filter(|p| p.extension().is_none_or(|e| e != "lock"))
            .collect();
        files.sort();
        files.into_iter().map(|p| (std::fs::read(&p).unwrap(), p)).collect::<Vec<_>>()
    };
    let before = read();
    let refused = Store::open(folder, &Options::at(t(0)));
    let newest = crate::migrate::newest();
    assert!(matches!(refused, Err(Error::Newer { known, .. }) if known == newest), "{refused:?}");
    assert!(before == read(), "the file was touched");
}

#[tokio::test]
async fn what_is_not_a_database_is_damaged_and_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join(FILE_NAME);
    std::fs::write(&db, vec![7u8; 4096]).unwrap();
    let refused = Store::open(folder.path(), &Options::at(t(0)));
    assert!(matches!(refused, Err(Error::Damaged { .. })));
    assert_eq!(std::fs::read(&db).unwrap(), vec![7u8; 4096]);

    std::fs::remove_file(&db).unwrap();
    let other = rusqlite::Connection::open(&db).unwrap();
    other.execute_batch("CREATE TABLE other (id INTEGER);").unwrap();
    drop(other);
    let refused = Store::open(folder.path(), &Options::at(t(0)));
    assert!(matches!(refused, Err(Error::Damaged { .. })));
}

#[tokio::test]
async fn a_page_of_zeros_is_found_by_the_check() {
    let (folder, store, key) = bank().await;
    store
        .write("fill", move |tx| {
            for n in 0..500 {
                add(tx, key, &fact(&format!("m{n}"), &"many words ".repeat(20)), n)?;
            }
            Ok(())
        })
        .await
        .unwrap();
    store.quick_check().await.unwrap();
    drop(store);
    let db = folder.path().join(FILE_NAME);
    let root: u16 = rusqlite::Connection::open(&db)
        .unwrap()
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'memory'", [], |r| r.get(0))
        .unwrap();
    let mut bytes = std::fs::read(&db).unwrap();
    let end = usize::from(root) * 4096;
    bytes[end - 4096..end].fill(0);
    std::fs::write(&db, bytes).unwrap();
    let store = Store::open(folder.path(), &Options::at(t(0))).unwrap();
    assert!(matches!(store.quick_check().await, Err(Error::Damaged { .. })));
}

#[tokio::test]
async fn fc_43_a_full_disk_rolls_back_and_the_store_goes_on() {
    let (folder, store, _) = bank().await;
    drop(store);
    let options = Options { max_pages: Some(250), ..Options::at(t(0)) };
    let store = Store::open(folder.path(), &options).unwrap();
    let big = serde_json::Value::String("x".repeat(2_000_000));
    let full = store.write("big", move |tx| settings::set(tx, "big", &big, t(1))).await;
    assert!(matches!(full, Err(Error::DiskFull { .. })), "{full:?}");
    assert_eq!(store.read(|tx| settings::get(tx, "big")).await.unwrap(), None);
    store.write("small", |tx| settings::set(tx, "a", &1.into(), t(1))).await.unwrap();
}

#[tokio::test]
async fn a_backup_opens_elsewhere_and_leaves_no_partial_file() {
    let (folder, store, key) = bank().await;
    store.write("add", move |tx| add(tx, key, &fact("m1", "Kept"), 1)).await.unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let path = elsewhere.path().join(FILE_NAME);
    let made = store.backup(path.clone()).await.unwrap();
    assert_eq!(made.row_counts["memory"], 1);
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 1);
    let restored = Store::open(elsewhere.path(), &Options::at(t(0))).unwrap();
    let text = restored
        .read(|tx| {
            let bank = banks::key(tx, &"b".into())?;
            Ok(memories::get(tx, bank, &"m1".into())?.text)
        })
        .await
        .unwrap();
    assert_eq!(text, "Kept");
    // A target that cannot be written leaves nothing behind.
    let impossible = folder.path().join("missing.txt");
    std::fs::write(&impossible, "a file, not a folder").unwrap();
    assert!(store.backup(impossible.join("copy.db")).await.is_err());
    assert_eq!(std::fs::read_to_string(&impossible).unwrap(), "a file, not a folder");
}

#[tokio::test]
async fn a_snapshot_does_not_see_a_later_commit() {
    let (_folder, store, _) = bank().await;
    let writer = store.clone();
    let (first, second) = store
        .read(move |tx| {
            let first = settings::get(tx, "a")?;
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(writer.write("set", |tx| settings::set(tx, "a", &1.into(), t(1))))?;
            Ok((first, settings::get(tx, "a")?))
        })
        .await
        .unwrap();
    assert_eq!((first, second), (None, None));
    assert_eq!(store.read(|tx| settings::get(tx, "a")).await.unwrap(), Some(1.into()));
}
