//! What sets automatic refreshes going beside the schedules: the end of a consolidation, a deletion,
//! and the end of a run during which something else asked for one.

use super::{Fate, Trigger, submit};
use crate::handle::write_bank;
use crate::memory::consolidate;
use crate::ops::{self, Means};
use crate::{Engine, Result, fresh};
use domain::model::{Cause, Freshness};
use domain::staleness::RefreshReason;
use domain::tags::TagSet;
use domain::trigger::StatedTrigger;
use domain::{BankId, Instant};
use std::collections::{BTreeSet, HashSet};
use store::models::ModelHead;
use store::operations::{self, Operation};
use store::{BankKey, ModelKey, ReadTx, WriteTx};

/// Keys of a trigger that set refreshes going by themselves.
const AUTOMATIC: [&str; 3] = ["refresh_cron", "full_refresh_cron", "refresh_after_consolidation"];

/// Submits the refreshes that a finished consolidation calls for: of the models that ask for it,
/// whose scope can hold what was touched, and that need a refresh; and of those that refresh by
/// themselves and cite something that went while facts waited, which a deletion leaves to this.
/// `touched` are all tags of all memories that any of its rounds folded or wrote, an empty set when
/// none bears a tag. Gives the number of models whose refresh was queued or joined. To be called once,
/// when the last round is committed; a second call submits nothing twice.
///
/// # Errors
/// `bank_not_found`; those of the file.
pub async fn after_consolidation(
    engine: &Engine,
    bank: &BankId,
    touched: &BTreeSet<String>,
) -> Result<usize> {
    let touched = TagSet::new(touched);
    submit_all(engine, bank, "after_consolidation", move |tx, key| {
        let cause = |head: &ModelHead, fresh: &Freshness| {
            if asks_for_it(head) && fresh::scope_of(head).may_hold_touched(&touched) {
                // Touched by what this model reads nothing of: no trigger, and nothing to record.
                return fresh.needs_refresh.then_some(Cause::AfterConsolidation);
            }
            lost_grounding(fresh).then_some(Cause::AfterDeletion)
        };
        called(tx, key, cause)
    })
    .await
}

/// Submits the refreshes that a committed deletion calls for: of the models that refresh by
/// themselves and cite something that went after `since`, the bank's `write_seq` before the deletion.
/// Nothing while facts wait for folding, since the end of that will ask. A failure here fails no
/// deletion: it is logged.
pub(crate) async fn after_deletion(engine: &Engine, bank: &BankId, since: i64) {
    let queued = submit_all(engine, bank, "after_deletion", move |tx, key| {
        if consolidate::will_come(tx, key)? {
            return Ok(Vec::new());
        }
        let gone: HashSet<ModelKey> = store::tombstones::cited(tx, key, None)?
            .into_iter()
            .filter(|(_, tombstone)| tombstone.seq > since)
            .map(|(model, _)| model)
            .collect();
        // A fact that left one model's scope is not gone for another.
        called(tx, key, |head, fresh| {
            (gone.contains(&head.key) && lost_grounding(fresh)).then_some(Cause::AfterDeletion)
        })
    })
    .await;
    if let Err(error) = queued {
        tracing::warn!(%error, "refreshes after a deletion were not queued");
    }
}

fn asks_for_it(head: &ModelHead) -> bool {
    StatedTrigger::from_stored(&head.trigger).0.effective().refresh_after_consolidation
}

fn lost_grounding(fresh: &Freshness) -> bool {
    fresh.refresh_reasons.contains(&RefreshReason::GroundingRetracted)
}

/// The models of a bank that refresh by themselves and have a cause to.
fn called(
    tx: &ReadTx<'_>,
    bank: BankKey,
    cause: impl Fn(&ModelHead, &Freshness) -> Option<Cause>,
) -> store::Result<Vec<(ModelHead, Cause)>> {
    let mut heads = store::models::with_trigger(tx, &AUTOMATIC)?;
    heads.retain(|head| head.bank == bank);
    let fresh = fresh::of_all(tx, bank, &heads)?;
    let with_cause = |head: ModelHead| {
        let cause = cause(&head, fresh.get(&head.key)?)?;
        Some((head, cause))
    };
    Ok(heads.into_iter().filter_map(with_cause).collect())
}

/// Submits for the chosen models; gives the number of those that were queued or joined.
async fn submit_all<F>(
    engine: &Engine,
    bank: &BankId,
    label: &'static str,
    choose: F,
) -> Result<usize>
where
    F: FnOnce(&WriteTx<'_>, BankKey) -> store::Result<Vec<(ModelHead, Cause)>> + Send + 'static,
{
    let (writer, now) = (engine.clone(), engine.now());
    let queued = write_bank(engine, bank, label, move |tx, key| {
        if writer.means(tx)? == Means::Nothing {
            return Ok(0);
        }
        let mut queued = 0;
        for (head, cause) in choose(tx, key)? {
            let fate = submit(tx, &writer, &head, Trigger::of(cause, true), now)?;
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
