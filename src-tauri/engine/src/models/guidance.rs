//! What reviewers told a model's refreshes, as screens list it, and taking it back. What a refresh is
//! told is decided where it is planned.

use super::loaded::{Loaded, to_json};
use crate::handle::write_bank;
use crate::report::fault;
use crate::view::model::{GuidanceChange, GuidanceItem, ModelDetail};
use crate::{Engine, Error, Result};
use domain::model::{Guidance, live_guidance};
use domain::{BankId, Instant, MemoryId, ModelId};
use std::collections::HashMap;
use store::{BankKey, ReadTx};

/// The entries of a model, oldest first.
pub(super) fn items(
    tx: &ReadTx<'_>,
    bank: BankKey,
    list: &[Guidance],
) -> store::Result<Vec<GuidanceItem>> {
    let facts = list.iter().flat_map(|entry| match entry {
        Guidance::Note { .. } => &[],
        Guidance::Declined { fact_ids, .. } => fact_ids.as_slice(),
    });
    let ids: Vec<MemoryId> = facts.map(|id| MemoryId(id.clone())).collect();
    let seqs: HashMap<String, i64> = store::memories::by_ids(tx, bank, &ids)?
        .into_iter()
        .map(|memory| (memory.id.0, memory.change_seq))
        .collect();
    let lapsed = |entry: &Guidance| {
        live_guidance(std::slice::from_ref(entry), |id| seqs.get(id).copied()).is_empty()
    };
    Ok(list.iter().map(|entry| item(entry, lapsed(entry))).collect())
}

fn item(entry: &Guidance, lapsed: bool) -> GuidanceItem {
    match entry {
        Guidance::Note { text, at, standing, .. } => GuidanceItem {
            kind: "note".to_owned(),
            at: *at,
            note: Some(text.clone()),
            change: None,
            standing: *standing,
            lapsed,
        },
        Guidance::Declined { op_summary, note, at, .. } => GuidanceItem {
            kind: "declined".to_owned(),
            at: *at,
            note: note.clone(),
            change: Some(op_summary.clone()),
            standing: false,
            lapsed,
        },
    }
}

/// Changes one entry, named by its place in the list and its moment.
pub(super) async fn change(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    place: u32,
    at: Instant,
    change: GuidanceChange,
) -> Result<ModelDetail> {
    let (model, now) = (id.clone(), engine.now());
    let found = write_bank(engine, bank, "change_guidance", move |tx, key| {
        let mut loaded = Loaded::get(tx, key, &model)?;
        let found = apply(&mut loaded.guidance, place, at, change);
        if found {
            loaded.row.guidance = to_json(&loaded.guidance);
            let expected = loaded.row.head.version;
            store::models::save(tx, &loaded.row, expected, now)?;
        }
        Ok(found)
    })
    .await?;
    if !found {
        // The list has moved on since it was shown.
        return Err(Error::from(fault("nothing_to_change")));
    }
    super::get(engine, bank, id).await
}

/// Whether there was such an entry.
fn apply(list: &mut Vec<Guidance>, place: u32, at: Instant, change: GuidanceChange) -> bool {
    let Ok(place) = usize::try_from(place) else { return false };
    match (list.get_mut(place), change) {
        (
            Some(Guidance::Note { at: then, .. } | Guidance::Declined { at: then, .. }),
            GuidanceChange::Remove,
        ) if *then == at => {
            list.remove(place);
            true
        }
        (Some(Guidance::Note { at: then, standing, .. }), _) if *then == at => {
            *standing = change == GuidanceChange::Stand;
            true
        }
        _ => false,
    }
}
