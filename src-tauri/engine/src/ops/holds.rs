//! What stands between a due operation and its run: an interval, a pause, a review, a ceiling, a
//! missing language model. Looked at in the transaction that claims, so that a change of settings
//! counts from the next look on; what was held is let go by the same rules.

use super::ceiling;
use crate::memory::jobs;
use crate::models::automatic;
use crate::{Engine, settings};
use domain::refresh::Skip;
use domain::{Instant, RunId};
use store::operations::{self, Claim, HeldReason, Operation, OperationType};
use store::{ReadTx, WriteTx};

/// What answers now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Means {
    /// A language model, which costs tokens.
    Llm,
    /// Extractive mode.
    Extractive,
    /// Nothing: there is no language model, and extractive mode is switched off.
    Nothing,
}

/// What becomes of an operation that a worker is about to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It runs.
    Run,
    /// Not before that moment. No failure.
    Park(Instant, Skip),
    /// Not while the reason lasts.
    Hold(HeldReason),
}

/// Takes the next operation that may run; puts off and holds the ones before it that may not.
pub(super) fn claim(
    tx: &WriteTx<'_>,
    engine: &Engine,
    claim: &Claim,
    means: Means,
    now: Instant,
) -> store::Result<Option<Operation>> {
    while let Some(next) = operations::next_claimable(tx, claim, now)? {
        let skip = match verdict(tx, &next, means, now)? {
            Verdict::Run => return operations::begin(tx, next.key, now).map(Some),
            Verdict::Park(until, skip) => {
                operations::park(tx, next.key, until, now)?;
                Some(skip)
            }
            Verdict::Hold(reason) => {
                operations::hold(tx, next.key, reason, now)?;
                skip_of(reason)
            }
        };
        if let Some(skip) = skip {
            automatic::record_put_off(tx, &next, skip, RunId(engine.new_id()), now)?;
        }
    }
    Ok(None)
}

/// The word under which a hold is on record as a trigger that led to no run for now.
fn skip_of(reason: HeldReason) -> Option<Skip> {
    match reason {
        HeldReason::ReviewInProgress => Some(Skip::Review),
        HeldReason::TokenCeiling => Some(Skip::Ceiling),
        HeldReason::LlmNotConfigured | HeldReason::PausedByPerson => None,
    }
}

/// Lets go what is held for a reason that does not hold any more.
pub(super) fn let_go(tx: &WriteTx<'_>, means: Means, now: Instant) -> store::Result<()> {
    for operation in operations::held(tx)? {
        let Some(reason) = operation.held else { continue };
        let still = match reason {
            // Until the proposal is decided, also while it does not fit the document. A person may
            // have chosen to wait for that, too.
            HeldReason::ReviewInProgress => proposal_waits(tx, &operation)?,
            _ => verdict(tx, &operation, means, now)? == Verdict::Hold(reason),
        };
        if !still {
            operations::let_go(tx, operation.key, now)?;
        }
    }
    Ok(())
}

fn proposal_waits(tx: &ReadTx<'_>, operation: &Operation) -> store::Result<bool> {
    let Some(model) = &operation.model else { return Ok(false) };
    let Some(model) = store::models::find(tx, operation.bank, model)? else { return Ok(false) };
    Ok(store::proposals::waiting(tx, model.head.key)?.is_some())
}

/// Whether what the operation works with is not there: a language model for texts that are to be read
/// by one, that or extractive mode for folding and refreshes.
fn lacks_means(operation: &Operation, means: Means) -> bool {
    match operation.kind {
        OperationType::RefreshMentalModel | OperationType::Consolidation => means == Means::Nothing,
        OperationType::Retain | OperationType::Import => {
            means != Means::Llm && jobs::needs_llm(operation)
        }
        _ => false,
    }
}

fn verdict(
    tx: &ReadTx<'_>,
    operation: &Operation,
    means: Means,
    now: Instant,
) -> store::Result<Verdict> {
    let refresh = operation.kind == OperationType::RefreshMentalModel;
    if lacks_means(operation, means) {
        return Ok(Verdict::Hold(HeldReason::LlmNotConfigured));
    }
    if !operation.automatic {
        return Ok(Verdict::Run);
    }
    if settings::background_paused(tx)? {
        return Ok(Verdict::Hold(HeldReason::PausedByPerson));
    }
    if refresh {
        let verdict = automatic::about_to_run(tx, operation, now)?;
        if verdict != Verdict::Run {
            return Ok(verdict);
        }
    }
    let costs = refresh || operation.kind == OperationType::Consolidation;
    if costs
        && means == Means::Llm
        && ceiling::reached(tx, &store::banks::by_key(tx, operation.bank)?, now)?
    {
        return Ok(Verdict::Hold(HeldReason::TokenCeiling));
    }
    Ok(Verdict::Run)
}
