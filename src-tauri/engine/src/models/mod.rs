//! Mental models: documents that answer a saved question, kept current by refreshes, changed only as a person has seen.

pub mod proposals;
pub(crate) mod refresh;

use crate::report::fault;
use crate::view::model::{
    CreatedModel, ModelDetail, ModelPatch, ModelRow, NewModel, ScopeReach, Submitted,
    TimelineEntry, VersionDiff, VersionView,
};
use crate::{Engine, Result};
use domain::{BankId, ModelId};

/// list
///
/// # Errors
/// See the table.
pub async fn list(engine: &Engine, bank: &BankId) -> Result<Vec<ModelRow>> {
    let _ = (engine, bank);
    Err(fault("unexpected_error").into())
}

/// get
///
/// # Errors
/// See the table.
pub async fn get(engine: &Engine, bank: &BankId, id: &ModelId) -> Result<ModelDetail> {
    let _ = (engine, bank, id);
    Err(fault("unexpected_error").into())
}

/// create
///
/// # Errors
/// See the table.
pub async fn create(engine: &Engine, bank: &BankId, input: NewModel) -> Result<CreatedModel> {
    let _ = (engine, bank, input);
    Err(fault("unexpected_error").into())
}

/// update
///
/// # Errors
/// See the table.
pub async fn update(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    patch: ModelPatch,
) -> Result<ModelDetail> {
    let _ = (engine, bank, id, patch);
    Err(fault("unexpected_error").into())
}

/// delete
///
/// # Errors
/// See the table.
pub async fn delete(engine: &Engine, bank: &BankId, id: &ModelId) -> Result<()> {
    let _ = (engine, bank, id);
    Err(fault("unexpected_error").into())
}

/// refresh
///
/// # Errors
/// See the table.
pub async fn refresh(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    full: bool,
) -> Result<Submitted> {
    let _ = (engine, bank, id, full);
    Err(fault("unexpected_error").into())
}

/// edit_content
///
/// # Errors
/// See the table.
pub async fn edit_content(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    content: String,
    expected_version: u32,
) -> Result<ModelDetail> {
    let _ = (engine, bank, id, content, expected_version);
    Err(fault("unexpected_error").into())
}

/// clear
///
/// # Errors
/// See the table.
pub async fn clear(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    expected_version: u32,
) -> Result<ModelDetail> {
    let _ = (engine, bank, id, expected_version);
    Err(fault("unexpected_error").into())
}

/// revert
///
/// # Errors
/// See the table.
pub async fn revert(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    version: u32,
    read_again: bool,
) -> Result<ModelDetail> {
    let _ = (engine, bank, id, version, read_again);
    Err(fault("unexpected_error").into())
}

/// timeline
///
/// # Errors
/// See the table.
pub async fn timeline(engine: &Engine, bank: &BankId, id: &ModelId) -> Result<Vec<TimelineEntry>> {
    let _ = (engine, bank, id);
    Err(fault("unexpected_error").into())
}

/// version
///
/// # Errors
/// See the table.
pub async fn version(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    version: u32,
) -> Result<VersionView> {
    let _ = (engine, bank, id, version);
    Err(fault("unexpected_error").into())
}

/// diff_versions
///
/// # Errors
/// See the table.
pub async fn diff_versions(
    engine: &Engine,
    bank: &BankId,
    id: &ModelId,
    from: u32,
    to: u32,
) -> Result<VersionDiff> {
    let _ = (engine, bank, id, from, to);
    Err(fault("unexpected_error").into())
}

/// scope_reach
///
/// # Errors
/// See the table.
pub async fn scope_reach(engine: &Engine, bank: &BankId, input: NewModel) -> Result<ScopeReach> {
    let _ = (engine, bank, input);
    Err(fault("unexpected_error").into())
}
