//! The ceiling of a day's tokens: whether it is reached, and the watch that stops automatic work
//! between two calls. Work that a person asked for is never stopped here; they are only told.

use super::{Stop, Stopped};
use crate::{Engine, settings};
use domain::bank::{BankSettings, StatedSettings};
use domain::schedule::ceiling_reached;
use domain::{BankId, Instant};
use store::banks::Bank;
use store::{BankKey, ReadTx, llm_requests};

/// An automatic operation whose calls are counted.
#[derive(Clone)]
struct Watched {
    bank: BankId,
    stop: Stop,
}

tokio::task_local! {
    static WATCHED: Watched;
}

/// Whether the bank's or the program's tokens of the UTC day of `now` are spent.
pub(crate) fn reached(tx: &ReadTx<'_>, bank: &Bank, now: Instant) -> store::Result<bool> {
    let own = StatedSettings::from_stored(&bank.config);
    Ok(is_spent(tx, Some(bank.key), &own, now)? || reached_by_program(tx, now)?)
}

/// Whether the tokens that the program allows all banks together on the UTC day of `now` are spent.
pub(crate) fn reached_by_program(tx: &ReadTx<'_>, now: Instant) -> store::Result<bool> {
    is_spent(tx, None, &settings::program_stated(tx)?, now)
}

fn is_spent(
    tx: &ReadTx<'_>,
    bank: Option<BankKey>,
    stated: &StatedSettings,
    now: Instant,
) -> store::Result<bool> {
    let ceiling = BankSettings::resolve(&StatedSettings::default(), stated).daily_token_ceiling;
    Ok(ceiling.is_some() && ceiling_reached(llm_requests::tokens_on(tx, bank, now)?, ceiling))
}

/// Runs automatic work whose every call asks [`may_call`] first.
pub(super) async fn watched<T>(bank: &BankId, stop: &Stop, work: impl Future<Output = T>) -> T {
    let watched = Watched { bank: bank.clone(), stop: stop.clone() };
    WATCHED.scope(watched, work).await
}

/// Whether the work at hand is automatic, so that what its calls cost must be on record before the
/// next one.
pub(crate) fn is_watched() -> bool {
    WATCHED.try_with(|_| ()).is_ok()
}

/// Whether the work at hand may make one more call. If the day's tokens are spent meanwhile, an
/// automatic operation is told to stop and comes back when there are some again.
pub(crate) async fn may_call(engine: &Engine) -> bool {
    let Ok(Watched { bank, stop }) = WATCHED.try_with(Clone::clone) else { return true };
    let now = engine.now();
    let spent = engine
        .store()
        .read(move |tx| reached(tx, &store::banks::get(tx, &bank)?, now))
        .await
        .unwrap_or_else(|error| {
            tracing::warn!(%error, "the day's tokens could not be summed up");
            false
        });
    if spent {
        stop.stop(Stopped::ByCeiling);
    }
    !spent
}
