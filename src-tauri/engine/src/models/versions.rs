//! What a person does with kept versions: bring one back, pin it, write a note. A version is never
//! changed by any of it; what comes back is a new one.

use super::blame::Known;
use super::lifecycle::{by_hand, vector};
use super::loaded::{Loaded, clocks, from_json, set_clocks};
use super::publish::{NewState, no_evidence, origins, publish, tokens};
use crate::handle::write_bank;
use crate::view::model::ModelDetail;
use crate::{Engine, Result};
use domain::document::read_stored;
use domain::refresh::{ClockEvent, Watermark};
use domain::{BankId, Json, ModelId};
use store::versions::{self, Version, VersionCause};
use tokio_util::sync::CancellationToken;

pub(super) async fn revert(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    version: u32,
    read_again: bool,
) -> Result<ModelDetail> {
    let before = super::get(engine, bank, id).await?;
    let kept = super::version(engine, bank, id, version).await?;
    let vector =
        vector(engine, &before.model.name, &kept.content, &CancellationToken::new()).await?;
    let (now, model) = (engine.now(), id.clone());
    write_bank(engine, bank, "revert_model", move |tx, key| {
        let mut loaded = Loaded::get(tx, key, &model)?;
        let expected = loaded.row.head.version;
        let old = versions::get(tx, loaded.key(), version)?;
        let document = read_stored(&Json(old.structure.clone()), &old.content);
        let known = Known::of_version(tx, loaded.key(), version)?;
        // A version of an older file knows no origins: what it shares with the present document keeps
        // its own, the rest is told by its evidence alone.
        let provenance = if known.authors.is_empty() {
            let now = origins(tx, loaded.key())?;
            now.after_whole(&loaded.document, &document, &[], expected + 1)
        } else {
            known.origins
        };
        let mut evidence = old
            .reflect_response
            .as_ref()
            .and_then(from_json)
            .unwrap_or_else(|| no_evidence(&document, loaded.row.head.max_tokens));
        evidence.document_tokens = tokens(&old.content);
        let moved = clocks(&loaded.row.head).after(reverted(&old, read_again), now);
        set_clocks(&mut loaded.row.head, moved);
        let state = NewState {
            evidence,
            provenance,
            restored: known.authors,
            settings: loaded.settings(),
            vector: Some(vector),
            note: Some(format!("from {version}")),
            ..by_hand(document, VersionCause::Revert)
        };
        publish(tx, key, loaded.row, state, expected, now)
    })
    .await?;
    super::published::after_commit(engine, bank, id, None).await;
    super::get(engine, bank, id).await
}

/// How a return to a version moves the clocks. A text that a person wrote before anything was read
/// answers no question yet.
fn reverted(old: &Version, read_again: bool) -> ClockEvent {
    use VersionCause as C;
    let by_hand = matches!(old.head.cause, C::Created | C::Edit | C::Clear | C::Import);
    let unread = by_hand && old.head.watermark_seq.is_none();
    let watermark = old
        .head
        .watermark_seq
        .map(|seq| Watermark { seq, at: old.head.watermark_at.unwrap_or(old.head.created_at) });
    ClockEvent::Reverted {
        source_query: (!unread).then(|| old.head.source_query.clone()),
        read_again_after: read_again.then_some(watermark),
    }
}

pub(super) async fn pin(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    version: u32,
    pinned: bool,
) -> Result<()> {
    let id = id.clone();
    write_bank(engine, bank, "pin_version", move |tx, key| {
        let model = store::models::head(tx, key, &id)?.key;
        versions::set_pinned(tx, key, model, version, pinned)
    })
    .await
}

pub(super) async fn set_note(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    version: u32,
    note: Option<String>,
) -> Result<()> {
    let id = id.clone();
    let note = note.map(|note| note.trim().to_owned()).filter(|note| !note.is_empty());
    write_bank(engine, bank, "note_version", move |tx, key| {
        let model = store::models::head(tx, key, &id)?.key;
        versions::set_note(tx, key, model, version, note.as_deref())
    })
    .await
}
