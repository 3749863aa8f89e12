//! What screens and tools are told of observations: how they came to say what they say, and whether
//! facts wait that could change them. Only reads.

use super::select;
use crate::view::memory::{Folding, ObservationChange, SourceRef};
use domain::bank::BankSettings;
use std::collections::{BTreeSet, HashMap};
use store::memories::{self, Memory};
use store::{BankKey, ReadTx, freshness, tag_sets};

/// The scopes for which facts wait: an observation of one of them may be out of date (memory 11).
pub(crate) fn stale_scopes(
    tx: &ReadTx<'_>,
    bank: BankKey,
    settings: &BankSettings,
) -> store::Result<BTreeSet<Vec<String>>> {
    let waiting = freshness::pending_scopes(tx, bank)?;
    let tags = tag_sets::tags_of(tx, waiting.iter().map(|(set, _)| *set))?;
    let mut scopes = BTreeSet::new();
    for (set, given) in &waiting {
        let Some(tags) = tags.get(set) else { continue };
        // A fact whose scopes cannot be made out is set aside when its turn comes.
        scopes.extend(select::scopes_of(tags, given.as_ref(), settings).into_iter().flatten());
    }
    Ok(scopes)
}

/// How an observation stands.
pub(crate) fn folding(
    tx: &ReadTx<'_>,
    bank: BankKey,
    observation: &Memory,
) -> store::Result<Folding> {
    let settings = crate::settings::of_bank(tx, &store::banks::by_key(tx, bank)?)?;
    let scope: Vec<String> = observation.tags.iter().cloned().collect();
    let waiting = stale_scopes(tx, bank, &settings)?.contains(&scope);
    let changes = memories::observation_history(tx, observation.key)?;
    let ids: Vec<_> = changes.iter().flat_map(|change| change.new_source_ids.clone()).collect();
    let texts: HashMap<_, _> =
        memories::by_ids(tx, bank, &ids)?.into_iter().map(|fact| (fact.id, fact.text)).collect();
    Ok(Folding {
        is_stale: waiting || observation.needs_review,
        needs_review: observation.needs_review,
        changes: changes
            .into_iter()
            .map(|change| ObservationChange {
                changed_at: change.changed_at,
                previous_text: change.prev_text,
                reason: change.reason,
                new_sources: change
                    .new_source_ids
                    .into_iter()
                    .map(|id| SourceRef { text: texts.get(&id).cloned(), id })
                    .collect(),
            })
            .collect(),
    })
}
