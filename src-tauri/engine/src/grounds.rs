//! What a document rests on, for those who ask whether it may leave this machine: its tags, the
//! memories that it cites, those behind the blocks that it kept and behind the documents that it was
//! written from. Reads only; which tags are private is settled elsewhere.

use domain::MemoryId;
use domain::model::PublishedEvidence;
use domain::tags::TagSet;
use serde::Deserialize as _;
use store::ReadTx;
use store::models::{Model, provenance};

/// Whether a document carries one of some tags: by its own, because it rests on a memory that does,
/// or because it was written from another document that did.
pub(crate) fn rests_on(tx: &ReadTx<'_>, model: &Model, tags: &TagSet) -> store::Result<bool> {
    if provenance::carries(tx, &model.head, tags)? {
        return Ok(true);
    }
    if tags.is_empty() {
        return Ok(false);
    }
    let evidence: Option<PublishedEvidence> = model
        .reflect_response
        .as_ref()
        .and_then(|value| PublishedEvidence::deserialize(value).ok());
    let behind = evidence.into_iter().flat_map(|evidence| evidence.behind_models);
    let behind = behind.flat_map(|(_, ids)| ids).map(MemoryId);
    // A block that was kept from an earlier text may rest on what the document cites no longer.
    let kept = provenance::block_sources(tx, model.head.key)?.into_iter();
    let behind: Vec<MemoryId> = behind.chain(kept.filter_map(|source| source.memory)).collect();
    store::tag_sets::any_carries(tx, model.head.bank, &behind, tags)
}
