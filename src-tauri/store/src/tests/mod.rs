//! Tests over real files in temporary folders.

mod crash;
mod kb;
mod memory;
mod models;
mod open;
pub(crate) mod plan;
mod program;
mod queue;
mod search;
mod speed;

use std::collections::BTreeSet;

use domain::time::from_millis;
use domain::{FactType, Instant, MemoryId};
use tempfile::TempDir;

use crate::memories::{self, NewMemory, Origin};
use crate::operations::{self, Claim, Operation};
use crate::{BankKey, Options, Result, Store, WriteTx, banks, embedders};

/// A moment, so many milliseconds after a fixed one.
fn t(ms: i64) -> Instant {
    from_millis(1_772_700_000_000 + ms)
}

fn tags(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(|s| (*s).to_owned()).collect()
}

/// An open store with one bank `b` and a four-dimensional embedder.
async fn bank() -> (TempDir, Store, BankKey) {
    bank_with(&Options::at(t(0))).await
}

async fn bank_with(options: &Options) -> (TempDir, Store, BankKey) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), options).unwrap();
    let key = store
        .write("test", |tx| {
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
        .await
        .unwrap();
    (folder, store, key)
}

/// Takes the next due operation, with nothing else to be asked before.
fn claim_next(tx: &WriteTx<'_>, claim: &Claim, now: Instant) -> Result<Option<Operation>> {
    let next = operations::next_claimable(tx, claim, now)?;
    next.map(|next| operations::begin(tx, next.key, now)).transpose()
}

fn fact(id: &str, text: &str) -> NewMemory {
    NewMemory::fact(MemoryId(id.into()), FactType::World, text, Origin::Manual)
}

fn add(tx: &WriteTx<'_>, bank: BankKey, new: &NewMemory, ms: i64) -> Result<crate::MemoryKey> {
    memories::insert(tx, bank, new, t(ms))
}
