//! What sets automatic refreshes going beside the schedules: the end of a consolidation, a deletion,
//! and the end of a run during which something else asked for one.

use super::{Fate, Trigger, submit};
use crate::handle::write_bank;
use crate::ops::{self, Means};
use crate::{Engine, Result, fresh, settings};
use domain::model::Cause;
use domain::staleness::RefreshReason;
use domain::tags::TagSet;
use domain::{BankId, Instant};
use std::collections::{BTreeSet, HashSet};
use store::models::ModelHead;
use store::operations::{self, Operation};
use store::{BankKey, ModelKey, ReadTx, WriteTx};

/// Keys of a trigger that set refreshes going by themselves.
const AUTOMATIC: [&str; 3] = ["refresh_cron", "full_refresh_cron", "refresh_after_consolidation"];

/// Submits the refreshes that a finished consolidation calls for: of the models that ask for it,
/// whose scope can hold what was touched, and that need a refresh. `touched` are all tags of all
/// memories that any of its rounds folded or wrote, an empty set when none bears a tag. Gives the
/// number of models whose refresh was queued or joined. To be called once, when the last round is
/// committed; a second call submits nothing twice.
///
/// # Errors
/// `bank_not_found`; those of the file.
pub async fn after_consolidation(
    engine: &Engine,
    bank: &BankId,
    touched: &BTreeSet<String>,
) -> Result<usize> {
    let touched = TagSet::new(touched);
    all_of(engine, bank, "after_consolidation", Cause::AfterConsolidation, move |tx, key| {
        let heads = in_bank(tx, key, &["refresh_after_consolidation"])?;
        Ok(heads
            .into_iter()
            .filter(|head| fresh::scope_of(head).may_hold_touched(&touched))
            .collect())
    })
    .await
}

/// Submits the refreshes that a committed deletion calls for: of the models that refresh by
/// themselves and cite something that went after `since`, the bank's `write_seq` before the deletion.
/// Nothing while facts wait for folding, since the end of that will ask. A failure here fails no
/// deletion: it is logged.
pub(crate) async fn after_deletion(engine: &Engine, bank: &BankId, since: i64) {
    let queued = all_of(engine, bank, "after_deletion", Cause::AfterDeletion, move |tx, key| {
        let heads = in_bank(tx, key, &AUTOMATIC)?;
        if heads.is_empty() || will_consolidate(tx, key)? {
            return Ok(Vec::new());
        }
        let gone: HashSet<ModelKey> = store::tombstones::cited(tx, key, None)?
            .into_iter()
            .filter(|(_, tombstone)| tombstone.seq > since)
            .map(|(model, _)| model)
            .collect();
        let fresh = fresh::of_all(tx, key, &heads)?;
        // A fact that left one model's scope is not gone for another.
        let lost = |head: &ModelHead| {
            gone.contains(&head.key)
                && fresh.get(&head.key).is_some_and(|fresh| {
                    fresh.refresh_reasons.contains(&RefreshReason::GroundingRetracted)
                })
        };
        Ok(heads.into_iter().filter(lost).collect())
    })
    .await;
    if let Err(error) = queued {
        tracing::warn!(%error, "refreshes after a deletion were not queued");
    }
}

/// Whether facts wait for a consolidation that will come.
fn will_consolidate(tx: &ReadTx<'_>, bank: BankKey) -> store::Result<bool> {
    let settings = settings::of_bank(tx, &store::banks::by_key(tx, bank)?)?;
    let runs = settings.enable_observations && settings.enable_auto_consolidation;
    Ok(runs && store::freshness::is_pending(tx, bank)?)
}

fn in_bank(tx: &ReadTx<'_>, bank: BankKey, keys: &[&str]) -> store::Result<Vec<ModelHead>> {
    let mut heads = store::models::with_trigger(tx, keys)?;
    heads.retain(|head| head.bank == bank);
    Ok(heads)
}

/// Submits for those of the chosen models that need a refresh.
async fn all_of<F>(
    engine: &Engine,
    bank: &BankId,
    label: &'static str,
    cause: Cause,
    choose: F,
) -> Result<usize>
where
    F: FnOnce(&WriteTx<'_>, BankKey) -> store::Result<Vec<ModelHead>> + Send + 'static,
{
    if Means::of(engine).await == Means::Nothing {
        return Ok(0);
    }
    let (writer, now) = (engine.clone(), engine.now());
    let queued = write_bank(engine, bank, label, move |tx, key| {
        let heads = choose(tx, key)?;
        let fresh = fresh::of_all(tx, key, &heads)?;
        let mut queued = 0;
        for head in &heads {
            // Touched by what this model reads nothing of: no trigger, and nothing to record.
            if !fresh.get(&head.key).is_some_and(|fresh| fresh.needs_refresh) {
                continue;
            }
            let fate = submit(tx, &writer, head, Trigger::of(cause, true), now)?;
            queued += usize::from(!matches!(fate, Fate::Skipped(_)));
        }
        Ok(queued)
    })
    .await?;
    if queued > 0 {
        ops::wake(engine);
    }
    Ok(queued)
}

/// What follows the end of a refresh: one more, when something asked for it meanwhile and there is
/// still something to read.
pub(crate) async fn after_end(engine: &Engine, operation: &Operation) {
    if let Err(error) = follow_up(engine, operation).await {
        tracing::warn!(%error, "the follow-up of a refresh was not queued");
    }
}

/// Looks again for the runs that ended just before the program did.
///
/// # Errors
/// Those of the file.
pub(crate) async fn take_up_marks(engine: &Engine) -> Result<()> {
    for operation in engine.store().read(operations::marked_at_end).await? {
        follow_up(engine, &operation).await?;
    }
    Ok(())
}

async fn follow_up(engine: &Engine, operation: &Operation) -> Result<()> {
    let key = operation.key;
    let is_marked = move |tx: &ReadTx<'_>| Ok(operations::by_key(tx, key)?.rerun);
    if !engine.store().read(is_marked).await? {
        return Ok(());
    }
    let (writer, now) = (engine.clone(), engine.now());
    engine.store().write("follow_up_refresh", move |tx| look_again(tx, &writer, key, now)).await?;
    ops::wake(engine);
    Ok(())
}

fn look_again(
    tx: &WriteTx<'_>,
    engine: &Engine,
    key: store::OperationKey,
    now: Instant,
) -> store::Result<()> {
    let operation = operations::by_key(tx, key)?;
    let (Some(causes), Some(id)) = (operations::take_rerun(tx, key)?, &operation.model) else {
        return Ok(());
    };
    let Some(model) = store::models::find(tx, operation.bank, id)? else { return Ok(()) };
    if !fresh::of_one(tx, operation.bank, &model.head)?.needs_refresh {
        return Ok(());
    }
    for word in causes {
        let Ok(cause) = serde_json::from_value::<Cause>(word.into()) else { continue };
        submit(tx, engine, &model.head, Trigger::of(cause, true), now)?;
    }
    Ok(())
}
