//! Killing the process at every commit point: a child process runs a script of writes and aborts at
//! the n-th point; the parent opens the file again and finds every write whole or not at all.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use domain::ModelId;
use serde_json::json;

use super::*;
use crate::models;
use crate::operations::{self, End, NewOperation, OperationStatus, OperationType};
use crate::versions::{self, Actor, Version, VersionCause, VersionHead};

const FOLDER: &str = "STORE_CRASH_FOLDER";
const POINT: &str = "STORE_CRASH_POINT";
/// Two points for each of the writes of the script.
const WRITES: u32 = 5;

#[tokio::test]
async fn killed_at_any_commit_point_nothing_is_half_written() {
    for point in 0..WRITES * 2 {
        let folder = tempfile::tempdir().unwrap();
        let killed = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tests::crash::child", "--ignored"])
            .env(FOLDER, folder.path())
            .env(POINT, point.to_string())
            .output()
            .unwrap();
        assert!(!killed.status.success(), "the child was not stopped at point {point}");

        let store = Store::open(folder.path(), &Options::at(t(0))).unwrap();
        store.quick_check().await.unwrap();
        store.write("recover", |tx| operations::recover(tx, t(9))).await.unwrap();
        // A write is there once its commit is done: at the odd points it is, at the even ones not.
        let done = point.div_ceil(2);
        store.read(move |tx| whole(tx, done)).await.unwrap();
    }
}

/// The file after so many writes of the script.
fn whole(tx: &crate::ReadTx<'_>, done: u32) -> Result<()> {
    let Some(bank) = banks::find_key(tx, &"b".into())? else {
        assert_eq!(done, 0);
        return Ok(());
    };
    assert_eq!(memories::verify(tx, Some(crate::EmbedderKey(1)))?, Default::default());
    let facts = memories::count(tx, bank, &memories::Filter::default())?;
    assert_eq!(facts, if done >= 2 { 50 } else { 0 });
    assert_eq!(banks::by_key(tx, bank)?.write_seq, i64::from(facts));
    if done >= 3 {
        let operation = operations::get(tx, bank, &"op".into())?;
        let expected =
            if done >= 5 { OperationStatus::Completed } else { OperationStatus::Pending };
        assert_eq!(operation.status, expected, "{done}");
    }
    match models::find(tx, bank, &"doc".into())? {
        None => assert!(done < 3),
        Some(model) => {
            let written = done >= 5;
            assert_eq!(model.head.version, u32::from(written));
            assert_eq!(model.content.is_empty(), !written);
            assert_eq!(versions::list(tx, model.head.key, None, 9)?.len(), usize::from(written));
            let cited = models::provenance::citations(tx, model.head.key)?.len();
            assert_eq!(cited, usize::from(written));
        }
    }
    Ok(())
}

/// Not a test: the process that is killed. Does nothing when run by itself.
#[tokio::test]
#[ignore = "run by the test above"]
async fn child() {
    let (Ok(folder), Ok(point)) = (std::env::var(FOLDER), std::env::var(POINT)) else { return };
    let point: u32 = point.parse().unwrap();
    let store = Store::open(folder.as_ref(), &Options::at(t(0))).unwrap();
    let passed = AtomicU32::new(0);
    store.set_commit_hook(move |_| {
        if passed.fetch_add(1, Ordering::SeqCst) == point {
            std::process::abort();
        }
        Ok(())
    });
    script(&store).await.unwrap();
}

async fn script(store: &Store) -> Result<()> {
    let bank = store
        .write("bank", |tx| {
            let new = embedders::NewEmbedder {
                name: "tiny",
                dim: 4,
                endpoint: None,
                prefix_query: "",
                prefix_passage: "",
            };
            let embedder = embedders::ensure(tx, &new, t(0))?;
            banks::create(tx, &"b".into(), "Bank", Some(embedder), t(0))
        })
        .await?;
    store
        .write("facts", move |tx| {
            for n in 0..50 {
                let mut new = fact(&format!("m{n}"), "a fact");
                new.vector = Some(vec![1.0, 0.0, 0.0, 0.0]);
                add(tx, bank, &new, n)?;
            }
            Ok(())
        })
        .await?;
    store
        .write("model", move |tx| {
            models::insert(tx, bank, &super::models::new_model("doc"), t(1))?;
            let new = NewOperation {
                model: Some(ModelId("doc".into())),
                ..NewOperation::asked("op".into(), OperationType::RefreshMentalModel, json!({}))
            };
            operations::submit(tx, bank, &new, t(1))
        })
        .await?;
    let run = store
        .write("claim", |tx| {
            let claim = operations::Claim {
                lane: operations::Lane::Any,
                kinds: OperationType::ALL.to_vec(),
                max_refreshes: 2,
            };
            Ok(super::claim_next(tx, &claim, t(2))?.unwrap())
        })
        .await?;
    store.write("publish", move |tx| publish(tx, bank, run.key)).await
}

/// The commit of a refresh: document, version, evidence and the end of the operation together.
fn publish(tx: &WriteTx<'_>, bank: BankKey, run: crate::OperationKey) -> Result<()> {
    let mut model = models::get(tx, bank, &"doc".into())?;
    let key = model.head.key;
    model.content = "# Text".into();
    model.head.version = 1;
    models::save(tx, &model, 0, t(3))?;
    let version = Version {
        head: VersionHead {
            version: 1,
            cause: VersionCause::RefreshFull,
            actor: Actor::ManualRefresh,
            operation: Some("op".into()),
            proposal: None,
            accepted_op_ids: None,
            note: None,
            source_query: model.head.source_query.clone(),
            watermark_seq: Some(50),
            watermark_at: None,
            created_at: t(3),
            pinned: false,
        },
        content: model.content.clone(),
        structure: model.structure.clone(),
        content_hash: vec![0; 32],
        based_on: json!({}),
        basis: None,
        structured_output: None,
        structured_output_version: None,
        reflect_response: None,
        trace: None,
        settings: json!({}),
    };
    versions::append(tx, bank, key, &version)?;
    let citation = models::provenance::Citation {
        memory: "m1".into(),
        fact_type: FactType::World,
        text: "a fact".into(),
        first_cited_version: 1,
    };
    models::provenance::set_citations(tx, key, &[citation])?;
    operations::finish(tx, run, &End::completed(None, None), t(3))?;
    Ok(())
}
