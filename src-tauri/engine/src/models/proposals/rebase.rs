//! Moving a waiting proposal when the published document moves. No model is asked; what no longer
//! fits waits for a person.

use super::convert::{Opened, same_word};
use super::make;
use crate::models::loaded::to_json;
use domain::document::Document;
use domain::proposal::{ProposalOp, rebase, state_after_rebase};
use domain::{Instant, MemoryId};
use serde_json::json;
use std::collections::BTreeSet;
use store::models::Model;
use store::proposals::{self as rows, ProposalState};
use store::{BankKey, ReadTx, WriteTx};

/// Moves the proposal of a model that waits, if one does, onto the document just published.
pub(crate) fn after_publish(
    tx: &WriteTx<'_>,
    bank: BankKey,
    model: &Model,
    document: &Document,
    now: Instant,
) -> store::Result<()> {
    let Some(waiting) = rows::waiting(tx, model.head.key)? else { return Ok(()) };
    let opened = Opened::of(tx, waiting)?;
    if opened.is_whole() {
        // All or nothing, and the "all" was made of another document.
        return make::supersede(tx, bank, model.head.key, None, now);
    }
    let withdrawn = withdrawn(tx, bank, &opened.ops)?;
    let moved = rebase(&opened.ops, &opened.base, document, &withdrawn);
    let state = state_after_rebase(opened.state(), &moved.ops);
    let mut row = opened.row.clone();
    let expected = row.head.state_seq;
    row.head.state = same_word(&state).unwrap_or(ProposalState::Conflicted);
    row.head.base_version = model.head.version;
    row.base_structure = to_json(document);
    row.candidate_content = moved.candidate.render();
    row.candidate_structure = to_json(&moved.candidate);
    make::put_ops(tx, row.head.key, &moved.ops, &opened.proposed)?;
    rows::save(tx, bank, &row, expected)?;
    let verdicts: Vec<String> = moved
        .verdicts
        .iter()
        .map(|(index, verdict)| format!("{index}: {}", verdict.word()))
        .collect();
    make::event(
        tx,
        row.head.key,
        "rebased",
        json!({ "version": model.head.version, "operations": verdicts }),
        now,
    )
}

/// Facts of the operations that have been taken back since.
pub(crate) fn withdrawn(
    tx: &ReadTx<'_>,
    bank: BankKey,
    ops: &[ProposalOp],
) -> store::Result<BTreeSet<String>> {
    let cited: BTreeSet<&str> = ops.iter().flat_map(ProposalOp::cited_facts).collect();
    let ids: Vec<MemoryId> = cited.into_iter().map(MemoryId::from).collect();
    let gone = store::tombstones::of_memories(tx, bank, &ids)?;
    Ok(gone
        .into_iter()
        .filter(|stone| stone.cause != store::tombstones::Cause::Rescoped)
        .map(|stone| stone.memory.0)
        .collect())
}
