//! The way by words, on a reader of its own: it needs no vector, so that it is walked while the
//! query's is made and beside the other ways. Two readers may see two states of the bank; what one
//! found counts for the other only where both saw the same. A reader waits here for another one, and
//! for nothing else.

use super::ways::Gave;
use super::{Place, SearchRequest, breadth};
use crate::{Engine, Result};
use std::sync::mpsc;
use store::ReadTx;
use store::banks::Bank;
use store::search::text;

/// What was found, and the bank as it was then: its row changes with every write to a memory and
/// with every setting.
type Said = (Bank, Gave);

/// Where what was found is heard.
pub(super) struct Heard(mpsc::Receiver<Result<Said>>);

/// Looks for the words on a reader; begins when it is first polled, and is done when they are found.
pub(super) fn apart(
    engine: &Engine,
    request: &SearchRequest,
    query: &str,
) -> (impl Future<Output = ()> + use<>, Heard) {
    let (says, heard) = mpsc::sync_channel(1);
    let (store, request, query) = (engine.store().clone(), request.clone(), query.to_owned());
    let looking = async move {
        let looked = store.read_as(move |tx| {
            let said = Place::read(tx, &request).and_then(|place| {
                let gave = find(tx, &place, &query, breadth(&place.settings, &request))?;
                Ok((place.bank, gave))
            });
            // Whoever asked may have failed or gone; then nobody listens.
            says.send(said).ok();
            Ok::<(), crate::Error>(())
        });
        // A reader that failed said nothing, and the other one looks for itself.
        looked.await.ok();
    };
    (looking, Heard(heard))
}

impl Heard {
    /// What was found, if in the state of the bank that `place` has; else it is looked for here.
    pub(super) fn take(
        self,
        tx: &ReadTx<'_>,
        place: &Place,
        query: &str,
        wide: usize,
    ) -> Result<Gave> {
        match self.0.recv() {
            Ok(said) => match said? {
                (bank, gave) if bank == place.bank => Ok(gave),
                _ => find(tx, place, query, wide),
            },
            Err(_) => find(tx, place, query, wide),
        }
    }
}

fn find(tx: &ReadTx<'_>, place: &Place, query: &str, wide: usize) -> Result<Gave> {
    if !place.settings.enable_text_search {
        return Ok(Err("off"));
    }
    if !query.chars().any(char::is_alphanumeric) {
        return Ok(Err("no_words"));
    }
    Ok(Ok(text::find(tx, &place.scope, query, wide)?.hits))
}
