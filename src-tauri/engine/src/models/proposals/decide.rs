//! What a person says about a proposal short of publishing it: decisions, notes, edits, resolved
//! conflicts, rejection. Each is one transaction, and a counter refuses what was said about an
//! older state.

use super::convert::{Opened, same_word};
use super::make;
use super::publish::is_from_file;
use crate::models::loaded::{Loaded, clocks, set_clocks, to_json};
use crate::report::fault;
use crate::view::proposal::{
    ConflictChoice, DecideOps, OpDecision, RejectDisposition, RejectInput,
};
use crate::{Engine, Error, Result};
use domain::document::Document;
use domain::model::{Guidance, decline};
use domain::proposal::{
    Conflict, DecideError, Decision, Declined, Disposition, Pending, ProposalState, Rebased,
    Resolution, ResolveError, SettleError, Settlement, Verdict, decide_ops, resolve_conflict,
    settle, state_after_rebase,
};
use domain::refresh::Watermark;
use domain::{BankId, FieldFault, Instant, MemoryId, ProposalId};
use serde_json::json;
use std::collections::HashMap;
use store::operations::HeldReason;
use store::proposals as rows;
use store::{BankKey, ReadTx, WriteTx};

/// Opens a proposal, changes it and writes it back.
async fn change<F>(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    label: &'static str,
    state_seq: u32,
    work: F,
) -> Result<()>
where
    F: FnOnce(&WriteTx<'_>, BankKey, &mut Opened, Instant) -> Result<()> + Send + 'static,
{
    let (bank, id, now) = (bank.clone(), id.clone(), engine.now());
    engine
        .store()
        .write_as(label, move |tx| {
            let key = store::banks::key(tx, &bank)?;
            let mut opened = Opened::get(tx, key, &id)?;
            check(&opened, state_seq)?;
            work(tx, key, &mut opened, now)
        })
        .await
}

/// Refuses what was said about another state.
pub(super) fn check(opened: &Opened, state_seq: u32) -> Result<()> {
    if opened.state().is_terminal() {
        return Err(fault("proposal_closed").into());
    }
    if opened.row.head.state_seq != state_seq {
        return Err(fault("state_conflict").into());
    }
    Ok(())
}

/// Writes operations and state after something was said.
fn save(
    tx: &WriteTx<'_>,
    bank: BankKey,
    opened: &mut Opened,
    kind: &str,
    detail: serde_json::Value,
    now: Instant,
) -> Result<()> {
    let said = match opened.state() {
        ProposalState::Open => ProposalState::InReview,
        state => state,
    };
    let state = state_after_rebase(said, &opened.ops);
    opened.row.head.state = same_word(&state).unwrap_or(rows::ProposalState::InReview);
    make::put_ops(tx, opened.row.head.key, &opened.ops, &opened.proposed)?;
    let expected = opened.row.head.state_seq;
    rows::save(tx, bank, &opened.row, expected)?;
    make::event(tx, opened.row.head.key, kind, detail, now)?;
    Ok(())
}

pub(super) async fn decide(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    input: DecideOps,
    state_seq: u32,
) -> Result<()> {
    change(engine, bank, id, "decide_proposal", state_seq, move |tx, key, opened, now| {
        let decision = match input.decision {
            OpDecision::Undecided => Decision::Undecided,
            OpDecision::Accepted => Decision::Accepted,
            OpDecision::Rejected => Decision::Rejected,
            OpDecision::Deferred => Decision::Deferred,
        };
        let words: Vec<domain::proposal::OpDecision> = input
            .op_ids
            .iter()
            .map(|op_id| domain::proposal::OpDecision {
                op_id: op_id.clone(),
                decision,
                note: None,
            })
            .collect();
        opened.ops = decide_ops(&opened.ops, &words, now).map_err(refused)?;
        let detail = json!({ "operations": input.op_ids, "decision": input.decision });
        save(tx, key, opened, "decided", detail, now)
    })
    .await
}

pub(super) async fn set_note(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    op_id: &str,
    note: Option<String>,
    state_seq: u32,
) -> Result<()> {
    let op_id = op_id.to_owned();
    change(engine, bank, id, "note_proposal", state_seq, move |tx, key, opened, now| {
        let op = opened
            .ops
            .iter_mut()
            .find(|op| op.op_id == op_id)
            .ok_or_else(|| refused(DecideError::UnknownOp(op_id.clone())))?;
        op.note = note.filter(|note| !note.trim().is_empty());
        save(tx, key, opened, "noted", json!({ "operation": op_id }), now)
    })
    .await
}

pub(super) async fn edit_op(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    op_id: &str,
    text: Option<String>,
    state_seq: u32,
) -> Result<()> {
    let op_id = op_id.to_owned();
    change(engine, bank, id, "edit_proposal", state_seq, move |tx, key, opened, now| {
        let at = opened
            .ops
            .iter()
            .position(|op| op.op_id == op_id)
            .ok_or_else(|| refused(DecideError::UnknownOp(op_id.clone())))?;
        if !opened.ops[at].is_live() {
            return Err(refused(DecideError::NotDecidable(op_id)));
        }
        let original = match opened.proposed.get(&op_id) {
            Some(op) => op.clone(),
            None => opened.ops[at].op.clone(),
        };
        // An edit is made on the operation as proposed, so that a removal that became another text
        // can become a removal again.
        opened.ops[at].op = original.clone();
        opened.ops[at].conflict = Some(Conflict::TextChanged);
        let index = opened.ops[at].index;
        let resolution = match &text {
            Some(text) => Resolution::Edited { text: text.clone() },
            None => Resolution::Proposed,
        };
        let base = opened.base.clone();
        let moved = resolve_conflict(&opened.ops, index, &resolution, &base, &base, now)
            .map_err(not_resolved)?;
        match text {
            Some(_) => opened.proposed.insert(op_id.clone(), original),
            None => opened.proposed.remove(&op_id),
        };
        take(opened, moved);
        save(tx, key, opened, "edited", json!({ "operation": op_id }), now)
    })
    .await
}

pub(super) async fn resolve(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    op_id: &str,
    choice: ConflictChoice,
    state_seq: u32,
) -> Result<()> {
    let op_id = op_id.to_owned();
    change(engine, bank, id, "resolve_proposal", state_seq, move |tx, key, opened, now| {
        let at = opened
            .ops
            .iter()
            .position(|op| op.op_id == op_id)
            .ok_or_else(|| refused(DecideError::UnknownOp(op_id.clone())))?;
        let resolution = match choice {
            ConflictChoice::KeepMine => Resolution::Mine,
            ConflictChoice::TakeProposed => Resolution::Proposed,
            ConflictChoice::Edit { text } => {
                opened.proposed.insert(op_id.clone(), opened.ops[at].op.clone());
                Resolution::Edited { text }
            }
        };
        let before = made_on(tx, opened);
        let base = opened.base.clone();
        let index = opened.ops[at].index;
        let moved = resolve_conflict(&opened.ops, index, &resolution, &before, &base, now)
            .map_err(not_resolved)?;
        take(opened, moved);
        save(tx, key, opened, "resolved", json!({ "operation": op_id }), now)
    })
    .await
}

/// The document before the last one: it has the headings of sections that are gone since.
fn made_on(tx: &ReadTx<'_>, opened: &Opened) -> Document {
    let before = opened.row.head.base_version.saturating_sub(1);
    store::versions::get(tx, opened.row.head.model, before).map_or_else(
        |_| opened.base.clone(),
        |row| domain::document::read_stored(&domain::Json(row.structure), &row.content),
    )
}

fn take(opened: &mut Opened, moved: Rebased) {
    opened.ops = moved.ops;
    opened.row.candidate_content = moved.candidate.render();
    opened.row.candidate_structure = to_json(&moved.candidate);
    opened.candidate = moved.candidate;
}

pub(super) async fn reject(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    input: RejectInput,
    state_seq: u32,
) -> Result<()> {
    change(engine, bank, id, "reject_proposal", state_seq, move |tx, key, opened, now| {
        let facts: Vec<String> = opened.facts.iter().map(|fact| fact.id.clone()).collect();
        let pending = Pending {
            state: opened.state(),
            granularity: opened.granularity(),
            ops: &opened.ops,
            facts_used: &facts,
        };
        let verdict = Verdict::Reject {
            note: input.note.clone(),
            disposition: input.disposition.map(|disposition| match disposition {
                RejectDisposition::Retry => Disposition::Retry,
                RejectDisposition::Dismiss => Disposition::Dismiss,
            }),
        };
        let settlement = settle(&pending, &verdict).map_err(not_settled)?;
        if is_from_file(opened) {
            // No run read anything for it, so no clock moves and no fact was declined.
            opened.row.head.disposition = Some(rows::Disposition::Dismiss);
            return close(tx, key, opened, &settlement, input.note, "rejected", now);
        }
        let mut model = Loaded::of(opened.model.row.clone());
        let event = settlement.clock.event(
            read_to(tx, key, opened)?,
            &opened.row.head.source_query,
            opened.row.head.cutoff_seq,
        );
        if let Some(event) = event {
            let moved = clocks(&model.row.head).after(event, now);
            set_clocks(&mut model.row.head, moved);
        }
        let mut guidance = declined(tx, key, &model.guidance, &settlement.declined, now)?;
        let note = settlement.guidance.clone().or(input.note.clone().filter(|_| input.standing));
        if let Some(text) = note {
            let proposal = Some(opened.row.head.id.clone());
            guidance.push(Guidance::Note { text, at: now, proposal, standing: input.standing });
        }
        model.row.guidance = to_json(&guidance);
        let expected = model.row.head.version;
        store::models::save(tx, &model.row, expected, now)?;
        opened.row.head.disposition = Some(match settlement.clock {
            domain::proposal::ClockMove::Retry => rows::Disposition::Retry,
            _ => rows::Disposition::Dismiss,
        });
        close(tx, key, opened, &settlement, input.note, "rejected", now)
    })
    .await?;
    crate::models::published::after_rejection(engine, bank, id).await;
    crate::ops::wake(engine);
    Ok(())
}

/// Ends a proposal with its last decisions, and lets go what waited for that.
pub(super) fn close(
    tx: &WriteTx<'_>,
    bank: BankKey,
    opened: &mut Opened,
    settlement: &Settlement,
    note: Option<String>,
    kind: &str,
    now: Instant,
) -> Result<()> {
    let decided: HashMap<u32, Decision> = settlement.decisions.iter().copied().collect();
    for op in &mut opened.ops {
        if let Some(decision) = decided.get(&op.index) {
            op.decision = *decision;
            op.decided_at = op.decided_at.or(Some(now));
        }
    }
    make::put_ops(tx, opened.row.head.key, &opened.ops, &opened.proposed)?;
    let expected = opened.row.head.state_seq;
    opened.row.head.state = same_word(&settlement.state).unwrap_or(rows::ProposalState::Superseded);
    opened.row.head.resolved_at = Some(now);
    opened.row.head.resolution_note = note.filter(|note| !note.trim().is_empty());
    rows::save(tx, bank, &opened.row, expected)?;
    make::event(tx, opened.row.head.key, kind, json!({}), now)?;
    let model = opened.model.row.head.id.clone();
    store::operations::release(tx, bank, HeldReason::ReviewInProgress, Some(&model), now)?;
    Ok(())
}

/// How far the run of a proposal read: no distance once the model reads other memories since, which
/// nobody has read yet.
pub(super) fn read_to(
    tx: &ReadTx<'_>,
    bank: BankKey,
    opened: &Opened,
) -> store::Result<Option<Watermark>> {
    if opened.scope_changed() {
        return Ok(None);
    }
    watermark(tx, bank, opened.row.head.watermark_seq)
}

/// A position with the moment that is shown for it.
pub(crate) fn watermark(
    tx: &ReadTx<'_>,
    bank: BankKey,
    seq: Option<i64>,
) -> store::Result<Option<Watermark>> {
    let Some(seq) = seq else { return Ok(None) };
    // The memory at the position may be gone; the position still counts.
    let at = match store::freshness::time_of_seq(tx, bank, seq)? {
        Some(at) => at,
        None => store::banks::by_key(tx, bank)?
            .last_memory_write_at
            .unwrap_or(domain::time::from_millis(0)),
    };
    Ok(Some(Watermark { seq, at }))
}

/// Guidance with the changes that a person decided not to make.
pub(super) fn declined(
    tx: &ReadTx<'_>,
    bank: BankKey,
    before: &[Guidance],
    changes: &[Declined],
    now: Instant,
) -> store::Result<Vec<Guidance>> {
    let mut list = before.to_vec();
    for change in changes {
        let ids: Vec<MemoryId> = change.fact_ids.iter().map(|id| MemoryId(id.clone())).collect();
        let seqs: HashMap<String, i64> = store::memories::by_ids(tx, bank, &ids)?
            .into_iter()
            .map(|memory| (memory.id.0, memory.change_seq))
            .collect();
        let entry = Guidance::Declined {
            fact_seqs: change
                .fact_ids
                .iter()
                .map(|id| seqs.get(id).copied().unwrap_or(i64::MAX))
                .collect(),
            fact_ids: change.fact_ids.clone(),
            op_summary: change.summary.clone(),
            note: change.note.clone(),
            at: now,
        };
        list = decline(&list, entry);
    }
    Ok(list)
}

fn refused(error: DecideError) -> Error {
    match error {
        DecideError::InConflict(_) => fault("proposal_conflicted").with("n", 1).into(),
        DecideError::UnknownOp(id) | DecideError::NotDecidable(id) => fault("invalid_request")
            .fields(vec![FieldFault::new(
                "op_id",
                "out_of_range",
                format!("There is no change \"{id}\" that can be decided."),
            )])
            .into(),
    }
}

fn not_resolved(error: ResolveError) -> Error {
    match error {
        ResolveError::BadText => fault("invalid_request")
            .fields(vec![FieldFault::new(
                "text",
                "blank",
                "The text is empty, holds a heading or leaves a fence open.",
            )])
            .into(),
        ResolveError::NotInConflict => fault("state_conflict").into(),
        ResolveError::RequirementFirst | ResolveError::NoPlace => {
            fault("proposal_conflicted").with("n", 1).detail(error).into()
        }
    }
}

pub(super) fn not_settled(error: SettleError) -> Error {
    match error {
        SettleError::NothingAccepted | SettleError::WholeOnly => {
            fault("nothing_accepted").detail(error).into()
        }
        SettleError::Closed => fault("proposal_closed").into(),
        SettleError::Conflicted(n) => fault("proposal_conflicted").with("n", n).into(),
    }
}
