//! Endpoints of language models: find, store, check, choose; what was learnt about them.

use crate::report::fault;
use crate::view::settings::{CheckReport, EndpointView, FoundServer, LlmSettings, SaveEndpoint};
use crate::{Engine, Result};
use domain::EndpointId;

/// llm_settings
///
/// # Errors
/// See the table.
pub async fn llm_settings(engine: &Engine) -> Result<LlmSettings> {
    let _ = (engine,);
    Err(fault("unexpected_error").into())
}

/// discover
///
/// # Errors
/// See the table.
pub async fn discover(engine: &Engine) -> Result<Vec<FoundServer>> {
    let _ = (engine,);
    Err(fault("unexpected_error").into())
}

/// save
///
/// # Errors
/// See the table.
pub async fn save(engine: &Engine, input: SaveEndpoint) -> Result<EndpointView> {
    let _ = (engine, input);
    Err(fault("unexpected_error").into())
}

/// delete
///
/// # Errors
/// See the table.
pub async fn delete(engine: &Engine, id: &EndpointId) -> Result<()> {
    let _ = (engine, id);
    Err(fault("unexpected_error").into())
}

/// choose
///
/// # Errors
/// See the table.
pub async fn choose(engine: &Engine, id: Option<&EndpointId>) -> Result<LlmSettings> {
    let _ = (engine, id);
    Err(fault("unexpected_error").into())
}

/// check
///
/// # Errors
/// See the table.
pub async fn check(engine: &Engine, id: &EndpointId) -> Result<CheckReport> {
    let _ = (engine, id);
    Err(fault("unexpected_error").into())
}

/// list_llms
///
/// # Errors
/// See the table.
pub async fn list_llms(engine: &Engine, id: &EndpointId) -> Result<Vec<String>> {
    let _ = (engine, id);
    Err(fault("unexpected_error").into())
}

/// forget_learnt
///
/// # Errors
/// See the table.
pub async fn forget_learnt(engine: &Engine, id: &EndpointId) -> Result<()> {
    let _ = (engine, id);
    Err(fault("unexpected_error").into())
}

/// set_extractive
///
/// # Errors
/// See the table.
pub async fn set_extractive(engine: &Engine, on: bool) -> Result<LlmSettings> {
    let _ = (engine, on);
    Err(fault("unexpected_error").into())
}
