//! Banks: make, list, delete; what happens to them at the start of the program; and the sample bank
//! of the first run.

pub mod sample;

use crate::handle::{read_bank, write_bank};
use crate::report::fault;
use crate::view::bank::{BankRow, NewBank};
use crate::{Engine, Result};
use domain::{BankId, FieldFault, OperationId};
use store::models::ModelHead;
use store::operations::{self, NewOperation, OperationFilter, OperationStatus, OperationType};
use store::tag_sets::TagSets;
use store::{BankKey, ReadTx};

/// Id of the sample bank.
pub const SAMPLE_BANK: &str = "kestrel";

/// Longest id of a bank, in characters.
const MAX_ID: usize = 64;

/// Models that one page of the file's list holds.
const MODELS: u32 = 500;

/// More operations than ever run at once.
const RUNNING: u32 = 100;

/// All banks with their counts, by name.
///
/// # Errors
/// Those of reading.
pub async fn list(engine: &Engine) -> Result<Vec<BankRow>> {
    Ok(engine
        .store()
        .read(|tx| store::banks::list(tx)?.into_iter().map(|bank| row(tx, bank)).collect())
        .await?)
}

fn row(tx: &ReadTx<'_>, bank: store::banks::Bank) -> store::Result<BankRow> {
    let counters = store::banks::counters(tx, bank.key)?;
    let of = |what: &str| counters.get(what).and_then(|n| u32::try_from(*n).ok()).unwrap_or(0);
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let waiting = store::freshness::pending(tx, bank.key)?;
    Ok(BankRow {
        pending_consolidation: waiting.iter().map(|(_, n)| *n).sum(),
        failed_consolidation: store::freshness::failed(tx, bank.key)?,
        last_consolidated_at: bank.last_consolidated_at,
        facts: of("world") + of("experience"),
        observations: of("observation"),
        documents: of("documents"),
        models: count(model_heads(tx, bank.key)?.len()),
        waiting_reviews: count(store::proposals::list_waiting(tx, bank.key)?.len()),
        last_memory_write_at: bank.last_memory_write_at,
        created_at: bank.created_at,
        id: bank.id,
        name: bank.name,
    })
}

/// The heads of a bank's models, the last refreshed first.
pub(crate) fn model_heads(tx: &ReadTx<'_>, bank: BankKey) -> store::Result<Vec<ModelHead>> {
    Ok(store::models::list(tx, bank, &TagSets::All, None, MODELS)?.0)
}

/// Makes a bank; its id is made from its name when none is given.
///
/// # Errors
/// `invalid_request` on a blank name, `invalid_id`, `id_taken`.
pub async fn create(engine: &Engine, input: NewBank) -> Result<BankRow> {
    let name = input.name.trim().to_owned();
    if name.is_empty() {
        return Err(fault("invalid_request").fields(vec![FieldFault::blank("name")]).into());
    }
    if let Some(id) = &input.id
        && (id.0.is_empty() || id.0.chars().count() > MAX_ID || slug(&id.0) != id.0)
    {
        return Err(fault("invalid_id").with("id", id).into());
    }
    let (now, embedder, given) = (engine.now(), engine.inner.embedder_key, input.id);
    let proposed = slug(&name);
    Ok(engine
        .store()
        .write("create_bank", move |tx| {
            let id = match given {
                Some(id) => id,
                None => free_id(tx, &proposed)?,
            };
            store::banks::create(tx, &id, &name, Some(embedder), now)?;
            row(tx, store::banks::get(tx, &id)?)
        })
        .await?)
}

/// Lower-case letters, digits and hyphens of a name; `bank` where it has none.
fn slug(name: &str) -> String {
    let mut id = String::new();
    for c in name.to_lowercase().chars() {
        if c.is_ascii_alphanumeric() {
            id.push(c);
        } else if !id.is_empty() && !id.ends_with('-') {
            id.push('-');
        }
    }
    id.truncate(MAX_ID);
    let id = id.trim_matches('-');
    if id.is_empty() { "bank".to_owned() } else { id.to_owned() }
}

fn free_id(tx: &ReadTx<'_>, proposed: &str) -> store::Result<BankId> {
    let mut id = BankId::from(proposed);
    let mut n = 2;
    while store::banks::find_key(tx, &id)?.is_some() {
        id = BankId(format!("{proposed}-{n}"));
        n += 1;
    }
    Ok(id)
}

/// Deletes a bank with everything in it; what runs for it is told to stop.
///
/// # Errors
/// `bank_not_found`.
pub async fn delete(engine: &Engine, bank: &BankId) -> Result<()> {
    let now = engine.now();
    let running = write_bank(engine, bank, "delete_bank", move |tx, key| {
        let running = OperationFilter {
            statuses: vec![OperationStatus::Processing],
            ..OperationFilter::default()
        };
        let (running, _) = operations::list(tx, key, &running, None, RUNNING)?;
        let id = store::banks::by_key(tx, key)?.id;
        sample::leave(tx, &id, now)?;
        store::banks::delete(tx, key)?;
        Ok(running)
    })
    .await?;
    for operation in running {
        crate::ops::stop(engine, &operation.id);
    }
    Ok(())
}

/// What is due at the start of the program: the sample bank where there is no bank at all, and the
/// vectors that another embedder left missing. Returns once the sample bank is there to be shown;
/// the rest is done behind.
pub(crate) async fn start(engine: &Engine) {
    if let Err(error) = sample::begin(engine).await {
        tracing::warn!(%error, "the sample bank could not be begun; the next start tries again");
    }
    let engine = engine.clone();
    tokio::spawn(async move {
        if let Err(error) = sample::make(&engine).await {
            tracing::warn!(%error, "the sample bank could not be made; the next start tries again");
        }
        if let Err(error) = fill_vectors(&engine).await {
            tracing::warn!(%error, "the missing vectors could not be queued");
        }
    });
}

/// Makes the sample bank anew for a person who deleted it; what is left of it is completed. Returns
/// once the bank is there to be shown.
///
/// # Errors
/// `id_taken` when another bank has its id.
pub async fn restore_sample(engine: &Engine) -> Result<BankId> {
    let bank = sample::again(engine).await?;
    start(engine).await;
    Ok(bank)
}

/// Queues the filling in of vectors for every bank that another embedder served, or none.
///
/// # Errors
/// Those of the file.
pub(crate) async fn fill_vectors(engine: &Engine) -> Result<()> {
    let wanted = engine.inner.embedder_key;
    let banks = engine.store().read(store::banks::list).await?;
    for bank in banks.into_iter().filter(|bank| bank.embedder != Some(wanted)) {
        let id = OperationId(engine.new_id());
        let operation = NewOperation {
            automatic: true,
            dedupe_key: Some("embed_backfill".to_owned()),
            ..NewOperation::asked(id, OperationType::EmbedBackfill, serde_json::json!({}))
        };
        crate::ops::submit(engine, &bank.id, operation).await?;
    }
    Ok(())
}

/// Waits until an operation has ended, and says how; runs the queue itself where nothing else does,
/// and then gives back the state of what is held.
pub(crate) async fn settled(
    engine: &Engine,
    bank: &BankId,
    operation: &OperationId,
) -> Result<OperationStatus> {
    let mut news = engine.subscribe();
    loop {
        if !engine.inner.config.background {
            Box::pin(crate::ops::run_pending(engine)).await?;
        }
        let id = operation.clone();
        let status =
            read_bank(engine, bank, move |tx, key| Ok(operations::get(tx, key, &id)?.status))
                .await?;
        if status.is_terminal() || !engine.inner.config.background {
            return Ok(status);
        }
        tokio::select! {
            () = engine.inner.stop.cancelled() => return Err(fault("cancelled").into()),
            // Lagging news is news, too.
            _ = news.recv() => {}
        }
    }
}
