//! Finished refreshes that wait for a person: show, decide, preview, publish, reject. What was shown is what is stored.

use crate::report::fault;
use crate::view::proposal::{
    ApproveInput, ConflictChoice, DecideOps, Preview, PreviewOf, ProposalRow, ProposalView,
    Published, RejectInput,
};
use crate::{Engine, Result};
use domain::{BankId, ProposalId};

/// inbox
///
/// # Errors
/// See the table.
pub async fn inbox(engine: &Engine, bank: &BankId) -> Result<Vec<ProposalRow>> {
    let _ = (engine, bank);
    Err(fault("unexpected_error").into())
}

/// get
///
/// # Errors
/// See the table.
pub async fn get(engine: &Engine, bank: &BankId, id: &ProposalId) -> Result<ProposalView> {
    let _ = (engine, bank, id);
    Err(fault("unexpected_error").into())
}

/// preview
///
/// # Errors
/// See the table.
pub async fn preview(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    of: PreviewOf,
) -> Result<Preview> {
    let _ = (engine, bank, id, of);
    Err(fault("unexpected_error").into())
}

/// decide
///
/// # Errors
/// See the table.
pub async fn decide(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    input: DecideOps,
    state_seq: u32,
) -> Result<ProposalView> {
    let _ = (engine, bank, id, input, state_seq);
    Err(fault("unexpected_error").into())
}

/// set_note
///
/// # Errors
/// See the table.
pub async fn set_note(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    op_id: &str,
    note: Option<String>,
    state_seq: u32,
) -> Result<ProposalView> {
    let _ = (engine, bank, id, op_id, note, state_seq);
    Err(fault("unexpected_error").into())
}

/// edit_op
///
/// # Errors
/// See the table.
pub async fn edit_op(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    op_id: &str,
    text: Option<String>,
    state_seq: u32,
) -> Result<ProposalView> {
    let _ = (engine, bank, id, op_id, text, state_seq);
    Err(fault("unexpected_error").into())
}

/// resolve_conflict
///
/// # Errors
/// See the table.
pub async fn resolve_conflict(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    op_id: &str,
    choice: ConflictChoice,
    state_seq: u32,
) -> Result<ProposalView> {
    let _ = (engine, bank, id, op_id, choice, state_seq);
    Err(fault("unexpected_error").into())
}

/// approve
///
/// # Errors
/// See the table.
pub async fn approve(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    input: ApproveInput,
    state_seq: u32,
) -> Result<Published> {
    let _ = (engine, bank, id, input, state_seq);
    Err(fault("unexpected_error").into())
}

/// reject
///
/// # Errors
/// See the table.
pub async fn reject(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    input: RejectInput,
    state_seq: u32,
) -> Result<ProposalView> {
    let _ = (engine, bank, id, input, state_seq);
    Err(fault("unexpected_error").into())
}
