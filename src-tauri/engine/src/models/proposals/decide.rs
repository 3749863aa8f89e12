//! What a person says about a proposal short of publishing it: decisions, resolved conflicts,
//! rejection. Each is one transaction; a counter refuses what was said about an older state, and a
//! request that was carried out before is not carried out again.

use super::convert::{Opened, same_word};
use super::events::{self, Detail};
use super::make;
use super::rebase::{made_on, take, withdrawn};
use super::view::new_text;
use crate::models::loaded::{Loaded, clocks, set_clocks, to_json};
use crate::report::fault;
use crate::view::proposal::{ConflictChoice, DecideOps, RejectInput, Turn};
use crate::{Engine, Error, Result};
use domain::model::{Guidance, decline};
use domain::proposal::{
    ClockMove, DecideError, Decision, Declined, Pending, ProposalState, Resolution, ResolveError,
    SettleError, Settlement, Verdict, decide_ops, resolve_conflict, settle, state_after_rebase,
};
use domain::refresh::{ClockEvent, Watermark};
use domain::{BankId, FieldFault, Instant, MemoryId, ProposalId};
use std::collections::HashMap;
use store::proposals as rows;
use store::{BankKey, ReadTx, WriteTx};

/// A step of a review: the name of its commit and of its event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Act {
    pub(super) label: &'static str,
    pub(super) kind: &'static str,
}

/// Opens a proposal, changes it and writes it back.
pub(super) async fn change<F>(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    act: Act,
    turn: Turn,
    work: F,
) -> Result<()>
where
    F: FnOnce(&WriteTx<'_>, BankKey, &mut Opened, Instant) -> Result<Detail> + Send + 'static,
{
    let (bank, id, now) = (bank.clone(), id.clone(), engine.now());
    engine
        .store()
        .write_as(act.label, move |tx| {
            let key = store::banks::key(tx, &bank)?;
            let mut opened = Opened::get(tx, key, &id)?;
            if events::answered(tx, opened.row.head.key, &turn, act.kind)?.is_some() {
                return Ok(());
            }
            check(&opened, &turn)?;
            let detail = work(tx, key, &mut opened, now)?;
            let detail = Detail { request_id: turn.request_id, ..detail };
            save(tx, key, &mut opened, act.kind, &detail, now)
        })
        .await
}

/// Refuses what was said about another state.
pub(super) fn check(opened: &Opened, turn: &Turn) -> Result<()> {
    if opened.state().is_terminal() {
        return Err(fault("proposal_closed").into());
    }
    same_state(opened, turn)
}

/// Refuses what was said about another state, whether or not the proposal has ended.
pub(super) fn same_state(opened: &Opened, turn: &Turn) -> Result<()> {
    let (found, expected) = (opened.row.head.state_seq, turn.state_seq);
    if found != expected {
        let states = format!("the proposal is at state {found}, the request is about {expected}");
        return Err(fault("state_conflict").detail(states).into());
    }
    Ok(())
}

/// Writes operations and state after something was said.
fn save(
    tx: &WriteTx<'_>,
    bank: BankKey,
    opened: &mut Opened,
    kind: &str,
    detail: &Detail,
    now: Instant,
) -> Result<()> {
    let said = match opened.state() {
        ProposalState::Open => ProposalState::InReview,
        state => state,
    };
    let state = state_after_rebase(said, &opened.ops);
    opened.row.head.state = same_word(&state).unwrap_or(rows::ProposalState::InReview);
    make::put_ops(tx, opened.row.head.key, &opened.ops, &opened.beside)?;
    let expected = opened.row.head.state_seq;
    rows::save(tx, bank, &opened.row, expected)?;
    events::note(tx, opened.row.head.key, kind, detail, now)?;
    Ok(())
}

pub(super) async fn decide(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    input: DecideOps,
    turn: Turn,
) -> Result<()> {
    let act = Act { label: "decide_proposal", kind: "decided" };
    change(engine, bank, id, act, turn, move |_, _, opened, now| {
        opened.ops = decide_ops(&opened.ops, &input.decisions, now).map_err(refused)?;
        let first = input.decisions.first().map(|word| word.decision);
        let same = input.decisions.iter().all(|word| Some(word.decision) == first);
        let notes = input.decisions.iter().filter_map(|word| word.note.clone());
        let note: Vec<String> = notes.filter(|note| !note.trim().is_empty()).collect();
        Ok(Detail {
            op_ids: input.decisions.into_iter().map(|word| word.op_id).collect(),
            decision: first.filter(|_| same),
            note: (!note.is_empty()).then(|| note.join("\n")),
            ..Detail::default()
        })
    })
    .await
}

pub(super) async fn resolve(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    op_id: &str,
    choice: ConflictChoice,
    turn: Turn,
) -> Result<()> {
    let op_id = op_id.to_owned();
    let act = Act { label: "resolve_proposal", kind: "resolved" };
    change(engine, bank, id, act, turn, move |tx, key, opened, now| {
        let at = op_at(opened, &op_id)?;
        let op = opened.ops[at].op.clone();
        let (resolution, edited) = match choice {
            ConflictChoice::KeepMine => (Resolution::Mine, false),
            ConflictChoice::TakeProposed => (Resolution::Proposed, false),
            ConflictChoice::Edit { text } => {
                // Saying the proposal's own words again is no edit.
                let edited = new_text(&op).as_ref() != Some(&text);
                (Resolution::Edited { text }, edited)
            }
        };
        let gone = withdrawn(tx, key, opened)?;
        let (before, base) = (made_on(opened), opened.base.clone());
        let index = opened.ops[at].index;
        let moved = resolve_conflict(&opened.ops, index, &resolution, &before, &base, &gone, now)
            .map_err(not_resolved)?;
        let beside = opened.beside.entry(op_id.clone()).or_default();
        if edited && beside.proposed.is_none() {
            beside.proposed = Some(op);
        }
        take(opened, moved);
        let decision = opened.ops[at].decision;
        Ok(Detail { decision: Some(decision), ..Detail::of(&op_id) })
    })
    .await
}

/// Where an operation stands in the list.
pub(super) fn op_at(opened: &Opened, op_id: &str) -> Result<usize> {
    let at = opened.ops.iter().position(|op| op.op_id == op_id);
    at.ok_or_else(|| refused(DecideError::UnknownOp(op_id.to_owned())))
}

pub(super) async fn reject(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    input: RejectInput,
    turn: Turn,
) -> Result<()> {
    let (in_bank, wanted, now) = (bank.clone(), id.clone(), engine.now());
    engine
        .store()
        .write_as("reject_proposal", move |tx| {
            let key = store::banks::key(tx, &in_bank)?;
            let mut opened = Opened::get(tx, key, &wanted)?;
            if events::answered(tx, opened.row.head.key, &turn, "rejected")?.is_some() {
                return Ok(());
            }
            check(&opened, &turn)?;
            write_rejection(tx, key, &mut opened, input, turn.request_id, now)
        })
        .await?;
    crate::models::published::after_rejection(engine, bank, id).await;
    crate::ops::wake(engine);
    Ok(())
}

fn write_rejection(
    tx: &WriteTx<'_>,
    bank: BankKey,
    opened: &mut Opened,
    input: RejectInput,
    request_id: Option<String>,
    now: Instant,
) -> Result<()> {
    let facts: Vec<String> = opened.facts.iter().map(|fact| fact.id.clone()).collect();
    let pending = pending(opened, &facts);
    let verdict = Verdict::Reject { note: input.note.clone(), disposition: input.disposition };
    let mut settlement = settle(&pending, &verdict).map_err(not_settled)?;
    let mut model = Loaded::of(opened.model.row.clone());
    if opened.is_file() {
        // No run read anything for a text of the person's own, so no clock moves, no fact is declined
        // and no refresh has anything to mind.
        settlement.declined.clear();
        settlement.guidance = None;
        settlement.clock = ClockMove::Dismissed;
    } else if let Some(event) = event(tx, bank, opened, settlement.clock)? {
        let moved = clocks(&model.row.head).after(event, now);
        set_clocks(&mut model.row.head, moved);
    }
    let mut carry_over = model.carry_over.clone();
    let dismissed = |id: &String| settlement.declined.iter().any(|d| d.fact_ids.contains(id));
    carry_over.retain(|entry| !dismissed(&entry.fact_id));
    model.row.carry_over = to_json(&carry_over);
    let mut guidance = declined(tx, bank, &model.guidance, &settlement.declined, now)?;
    let note = settlement.guidance.clone().or(input.note.clone().filter(|_| input.standing));
    if let Some(text) = note.filter(|text| !text.trim().is_empty()) {
        let proposal = Some(opened.row.head.id.clone());
        guidance.push(Guidance::Note { text, at: now, proposal, standing: input.standing });
    }
    model.row.guidance = to_json(&guidance);
    let expected = model.row.head.version;
    store::models::save(tx, &model.row, expected, now)?;
    opened.row.head.disposition = Some(match settlement.clock {
        ClockMove::Retry => rows::Disposition::Retry,
        _ => rows::Disposition::Dismiss,
    });
    let note = input.note.filter(|note| !note.trim().is_empty());
    let detail = Detail { request_id, note, ..Detail::default() };
    close(tx, bank, opened, &settlement, "rejected", &detail, now)
}

/// The proposal as the rules settle it.
pub(super) fn pending<'a>(opened: &'a Opened, facts: &'a [String]) -> Pending<'a> {
    Pending {
        state: opened.state(),
        granularity: opened.granularity(),
        ops: &opened.ops,
        facts_used: facts,
    }
}

/// How the clocks of the model move with the end of a proposal.
pub(super) fn event(
    tx: &ReadTx<'_>,
    bank: BankKey,
    opened: &Opened,
    clock: ClockMove,
) -> store::Result<Option<ClockEvent>> {
    let head = &opened.row.head;
    Ok(clock.event(read_to(tx, bank, opened)?, &head.source_query, head.cutoff_seq))
}

/// Ends a proposal with its last decisions, and lets go what waited for that.
pub(super) fn close(
    tx: &WriteTx<'_>,
    bank: BankKey,
    opened: &mut Opened,
    settlement: &Settlement,
    kind: &str,
    detail: &Detail,
    now: Instant,
) -> Result<()> {
    let decided: HashMap<u32, Decision> = settlement.decisions.iter().copied().collect();
    for op in &mut opened.ops {
        if let Some(decision) = decided.get(&op.index) {
            op.decision = *decision;
            op.decided_at = op.decided_at.or(Some(now));
        }
    }
    make::put_ops(tx, opened.row.head.key, &opened.ops, &opened.beside)?;
    let expected = opened.row.head.state_seq;
    opened.row.head.state = same_word(&settlement.state).unwrap_or(rows::ProposalState::Superseded);
    opened.row.head.resolved_at = Some(now);
    opened.row.head.resolution_note.clone_from(&detail.note);
    rows::save(tx, bank, &opened.row, expected)?;
    events::note(tx, opened.row.head.key, kind, detail, now)?;
    make::release(tx, bank, opened.row.head.model, now)?;
    Ok(())
}

/// How far the run of a proposal read: no distance once the model reads other memories since, or a
/// person had it go back before the window of that run: what lies between nobody has read.
fn read_to(tx: &ReadTx<'_>, bank: BankKey, opened: &Opened) -> store::Result<Option<Watermark>> {
    if opened.scope_changed() || opened.run.after_seq > opened.model.row.head.last_memory_seen_seq {
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

pub(super) fn refused(error: DecideError) -> Error {
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

pub(super) fn not_resolved(error: ResolveError) -> Error {
    match error {
        ResolveError::BadText => fault("invalid_request")
            .fields(vec![FieldFault::new(
                "text",
                "blank",
                "The text is empty, holds a heading or leaves a fence open.",
            )])
            .into(),
        ResolveError::NotInConflict => fault("state_conflict").detail(error).into(),
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
