//! Locks: parts of a document that refreshes leave as they are. A delta operation on one is skipped
//! and a rebuild keeps it in its place; both are the domain's. Here locks are set, shown, and let go
//! with their element. A person's own edit, approval, clear and revert are never held up by one.

use super::loaded::Loaded;
use crate::handle::write_bank;
use crate::report::fault;
use crate::view::blame::{LockKind, LockView};
use crate::view::model::ModelDetail;
use crate::{Engine, Error, Result};
use domain::delta::changes_locked;
use domain::document::Document;
use domain::{BankId, FieldFault, ModelId};
use std::collections::HashSet;
use store::models::provenance::{self, Lock};
use store::{ModelKey, ReadTx, WriteTx};

fn stored(kind: LockKind) -> provenance::LockKind {
    match kind {
        LockKind::Block => provenance::LockKind::Block,
        LockKind::Section => provenance::LockKind::Section,
    }
}

/// The locks of a model for screens.
pub(super) fn views(tx: &ReadTx<'_>, model: ModelKey) -> store::Result<Vec<LockView>> {
    let locks = provenance::locks(tx, model)?.into_iter().map(|lock| LockView {
        kind: match lock.kind {
            provenance::LockKind::Block => LockKind::Block,
            provenance::LockKind::Section => LockKind::Section,
        },
        element_id: lock.element,
        locked_at: lock.locked_at,
        note: lock.note,
    });
    Ok(locks.collect())
}

pub(super) async fn set(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    kind: LockKind,
    element: &str,
    note: Option<String>,
) -> Result<ModelDetail> {
    let (in_bank, model, now) = (bank.clone(), id.clone(), engine.now());
    let lock = Lock {
        kind: stored(kind),
        element: element.to_owned(),
        locked_at: now,
        note: note.map(|note| note.trim().to_owned()).filter(|note| !note.is_empty()),
    };
    engine
        .store()
        .write_as("set_lock", move |tx| {
            let key = store::banks::key(tx, &in_bank)?;
            let loaded = Loaded::get(tx, key, &model)?;
            let is_there = match kind {
                LockKind::Block => loaded.document.block(&lock.element).is_some(),
                LockKind::Section => loaded.document.section(&lock.element).is_some(),
            };
            if !is_there {
                let text = "The document has no such part; it may have changed meanwhile.";
                let field = FieldFault::new("element_id", "out_of_range", text);
                return Err(fault("invalid_request").fields(vec![field]).into());
            }
            provenance::lock(tx, loaded.key(), &lock)?;
            tx.changed(key, domain::CacheTag::Models, Some(model.as_str()))?;
            Ok(())
        })
        .await
        .map_err(|error: Error| error)?;
    super::get(engine, bank, id).await
}

pub(super) async fn remove(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    kind: LockKind,
    element: &str,
) -> Result<ModelDetail> {
    let (model, element) = (id.clone(), element.to_owned());
    write_bank(engine, bank, "remove_lock", move |tx, key| {
        let head = store::models::head(tx, key, &model)?;
        provenance::unlock(tx, head.key, stored(kind), &element)?;
        tx.changed(key, domain::CacheTag::Models, Some(model.as_str()))
    })
    .await?;
    super::get(engine, bank, id).await
}

/// Lets the locks go whose element is no part of the new document.
pub(super) fn follow(tx: &WriteTx<'_>, model: ModelKey, document: &Document) -> store::Result<()> {
    let blocks: Vec<&str> = document.blocks().map(|block| block.id.as_str()).collect();
    let sections: Vec<&str> = document.sections.iter().map(|section| section.id.as_str()).collect();
    provenance::keep_locks(tx, model, &blocks, &sections)
}

/// Whether a run's document would change what a person locked while the run went on. `known` are
/// the locks that the run itself has kept to.
pub(super) fn meets_new(
    tx: &ReadTx<'_>,
    published: &Loaded,
    known: &HashSet<String>,
    candidate: &Document,
) -> store::Result<bool> {
    let new: HashSet<String> = provenance::locks(tx, published.key())?
        .into_iter()
        .map(|lock| lock.element)
        .filter(|element| !known.contains(element))
        .collect();
    Ok(!new.is_empty() && changes_locked(&published.document, candidate, &new))
}
