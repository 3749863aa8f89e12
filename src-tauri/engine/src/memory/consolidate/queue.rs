//! The consolidation of a bank as an operation: asked for by a person or by a write, joined to the
//! one that waits, with what mental models must be told of kept on its row until they were.

use crate::handle::write_bank;
use crate::report::fault;
use crate::view::memory::Consolidating;
use crate::{Engine, Result};
use domain::{BankId, FieldFault, Instant, OperationId};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeSet;
use store::operations::{self, NewOperation, Operation, OperationFilter, OperationType};
use store::{BankKey, OperationKey, ReadTx, WriteTx, freshness, memories};

/// What makes two waiting consolidations of a bank the same.
const KEY: &str = "consolidation";

/// The flag of a payload that keeps its operation until models were told: [`Payload::untold`].
pub(crate) const UNTOLD: &str = "untold";

/// What a consolidation needs, and what it leaves for the next one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Payload {
    /// Only facts whose tags hold every tag of one of these; all facts when absent.
    pub(super) scopes: Option<Vec<Vec<String>>>,
    /// Its place in a chain of rounds, from 0.
    pub(super) round: u32,
    /// Whether memories changed that mental models were not told of yet.
    pub(super) untold: bool,
    /// Their tags.
    pub(super) touched: BTreeSet<String>,
}

impl Payload {
    pub(super) fn of(operation: &Operation) -> Self {
        serde_json::from_value(operation.payload.clone()).unwrap_or_default()
    }

    /// Both at once: no scopes means all.
    fn with(mut self, other: Self) -> Self {
        self.scopes = match (self.scopes, other.scopes) {
            (Some(mut own), Some(more)) => {
                more.into_iter().for_each(|scope| {
                    if !own.contains(&scope) {
                        own.push(scope);
                    }
                });
                Some(own)
            }
            (None, _) | (_, None) => None,
        };
        self.round = self.round.max(other.round);
        self.touch(other.untold, other.touched);
        self
    }

    pub(super) fn touch(&mut self, untold: bool, tags: BTreeSet<String>) {
        self.untold |= untold;
        self.touched.extend(tags);
    }

    fn told(self) -> Self {
        Self { untold: false, touched: BTreeSet::new(), ..self }
    }

    pub(super) fn write(&self, tx: &WriteTx<'_>, key: OperationKey) -> store::Result<()> {
        operations::set_payload(tx, key, &json!(self))
    }
}

/// Queues a consolidation, or hands what is asked for to the one that waits.
pub(super) fn submit(
    tx: &WriteTx<'_>,
    bank: BankKey,
    id: OperationId,
    payload: Payload,
    automatic: bool,
    now: Instant,
) -> store::Result<operations::Submitted> {
    let new = NewOperation {
        automatic,
        dedupe_key: Some(KEY.to_owned()),
        ..NewOperation::asked(id, OperationType::Consolidation, json!(payload))
    };
    let submitted = operations::submit(tx, bank, &new, now)?;
    if let operations::Submitted::JoinedPending(waiting) = &submitted {
        Payload::of(waiting).with(payload).write(tx, waiting.key)?;
    }
    Ok(submitted)
}

/// To be called where a consolidation went back to the queue: if it ended because another one waits,
/// that one takes over what it was asked for and what models were not told of.
pub(crate) fn hand_over_folded(tx: &WriteTx<'_>, ended: &Operation) -> store::Result<()> {
    let into = ended.details.as_ref().and_then(|details| details.get("folded_into"));
    match into.and_then(serde_json::Value::as_str) {
        Some(id) => hand_over(tx, ended, &operations::get(tx, ended.bank, &id.into())?),
        None => Ok(()),
    }
}

/// A waiting consolidation takes over what another was asked for and left untold. Nothing where they
/// are no consolidations.
pub(crate) fn hand_over(
    tx: &WriteTx<'_>,
    ended: &Operation,
    waiting: &Operation,
) -> store::Result<()> {
    if ended.kind != OperationType::Consolidation {
        return Ok(());
    }
    let own = Payload::of(&operations::by_key(tx, ended.key)?);
    Payload::of(waiting).with(own.clone()).write(tx, waiting.key)?;
    own.told().write(tx, ended.key)
}

/// Whether anything is left to do: a fact that waits, or an observation to be rewritten.
fn is_due(tx: &ReadTx<'_>, bank: BankKey) -> store::Result<bool> {
    Ok(freshness::is_pending(tx, bank)? || !memories::to_review(tx, bank)?.is_empty())
}

/// Whether something waits for folding in a bank that folds without being asked to.
pub(crate) fn will_come(tx: &ReadTx<'_>, bank: BankKey) -> store::Result<bool> {
    let settings = crate::settings::of_bank(tx, &store::banks::by_key(tx, bank)?)?;
    let automatic = settings.enable_observations && settings.enable_auto_consolidation;
    Ok(automatic && is_due(tx, bank)?)
}

/// To be called in the transaction that wrote, corrected or took away facts: queues a consolidation
/// where the bank's settings say so and something waits. `tags` are those of the facts, so that
/// models which read them are told when all is folded. Gives whether the worker is to be woken.
pub(crate) fn after_write(
    tx: &WriteTx<'_>,
    engine: &Engine,
    bank: BankKey,
    tags: &BTreeSet<String>,
    now: Instant,
) -> store::Result<bool> {
    if !will_come(tx, bank)? {
        return Ok(false);
    }
    let payload = Payload { untold: true, touched: tags.clone(), ..Payload::default() };
    submit(tx, bank, OperationId(engine.new_id()), payload, true, now)?;
    Ok(true)
}

/// To be called in the transaction that states the tags which keep memories on this machine: what was
/// folded from facts with such a tag into a scope without it goes, and is folded anew within it.
pub(crate) fn seal(
    tx: &WriteTx<'_>,
    engine: &Engine,
    bank: BankKey,
    now: Instant,
) -> store::Result<()> {
    let settings = crate::settings::of_bank(tx, &store::banks::by_key(tx, bank)?)?;
    let tags = settings.local_only().to_vec();
    let open = memories::unmarked(tx, bank, &tags)?;
    if !open.is_empty() {
        memories::sweep_observations(tx, &open, now)?;
        after_write(tx, engine, bank, &tags.into_iter().collect(), now)?;
    }
    Ok(())
}

/// Queues a consolidation that a person asked for.
pub(super) async fn ask(
    engine: &Engine,
    bank: &BankId,
    scopes: Option<Vec<Vec<String>>>,
    retry_failed: bool,
) -> Result<Consolidating> {
    engine.provider().await?;
    let (now, id) = (engine.now(), OperationId(engine.new_id()));
    let scopes = scopes.filter(|scopes| !scopes.is_empty()).map(|scopes| {
        scopes.iter().map(|scope| domain::tags::TagSet::new(scope).to_vec()).collect()
    });
    let payload = Payload { scopes, ..Payload::default() };
    let submitted = write_bank(engine, bank, "submit_consolidation", move |tx, key| {
        let settings = crate::settings::of_bank(tx, &store::banks::by_key(tx, key)?)?;
        if !settings.enable_observations {
            return Ok(None);
        }
        let requeued = if retry_failed { memories::retry_failed(tx, key)? } else { 0 };
        let submitted = submit(tx, key, id, payload, false, now)?;
        Ok(Some(Consolidating {
            operation: submitted.operation().id.clone(),
            joined: submitted.is_deduplicated(),
            requeued: u32::try_from(requeued).unwrap_or(u32::MAX),
        }))
    })
    .await?;
    crate::ops::wake(engine);
    submitted.ok_or_else(|| {
        let off = FieldFault::new(
            "enable_observations",
            "off",
            "Observations are switched off for this bank.",
        );
        fault("invalid_request").fields(vec![off]).into()
    })
}

/// The consolidations whose changes mental models were not told of.
fn untold(tx: &ReadTx<'_>, bank: BankKey) -> store::Result<Vec<(OperationKey, Payload)>> {
    let rows = operations::flagged(tx, bank, OperationType::Consolidation, UNTOLD)?;
    Ok(rows.into_iter().map(|row| (row.key, Payload::of(&row))).collect())
}

/// The tags of what an ended consolidation changed and models were not told of, if it did.
pub(crate) fn untold_of(
    tx: &ReadTx<'_>,
    bank: BankKey,
    id: &OperationId,
) -> store::Result<Option<BTreeSet<String>>> {
    let operation = operations::get(tx, bank, id)?;
    let ended = operation.kind == OperationType::Consolidation && operation.status.is_terminal();
    let payload = Payload::of(&operation);
    Ok((ended && payload.untold).then_some(payload.touched))
}

/// The tags of all that changed since models were last told, this and earlier runs together,
/// including those that failed, were stopped or were cut off. None when nothing did.
pub(super) fn touched(tx: &ReadTx<'_>, bank: BankKey) -> store::Result<Option<BTreeSet<String>>> {
    let all = untold(tx, bank)?;
    let any = !all.is_empty();
    Ok(any.then(|| all.into_iter().flat_map(|(_, payload)| payload.touched).collect()))
}

/// Notes that models were told.
pub(super) fn told(tx: &WriteTx<'_>, bank: BankKey) -> store::Result<()> {
    for (key, payload) in untold(tx, bank)? {
        payload.told().write(tx, key)?;
    }
    Ok(())
}

/// Queues the next round of a chain, which takes over what was not told.
pub(super) fn next_round(
    tx: &WriteTx<'_>,
    bank: BankKey,
    ended: &Operation,
    id: OperationId,
    now: Instant,
) -> store::Result<()> {
    let own = Payload::of(&operations::by_key(tx, ended.key)?);
    let touched = touched(tx, bank)?;
    let payload = Payload {
        scopes: own.scopes,
        round: own.round + 1,
        untold: touched.is_some(),
        touched: touched.unwrap_or_default(),
    };
    submit(tx, bank, id, payload, ended.automatic, now)?;
    told(tx, bank)
}

/// Whether another consolidation of the bank waits.
pub(super) fn another_waits(tx: &ReadTx<'_>, bank: BankKey) -> store::Result<bool> {
    let waiting = OperationFilter {
        statuses: vec![operations::OperationStatus::Pending],
        kind: Some(OperationType::Consolidation),
        ..OperationFilter::default()
    };
    Ok(!operations::list(tx, bank, &waiting, None, 1)?.0.is_empty())
}
