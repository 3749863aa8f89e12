//! The structured view of a document: its fields by the trigger's schema, extracted from the final
//! text by one call and one correction. Without a language model there is none.

use crate::events::NoSink;
use crate::reflect::caller::Caller;
use crate::reflect::structured;
use crate::report::fault;
use crate::{Engine, Result};
use domain::Json;
use domain::schema::check_response_schema;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Extracts the fields of a schema from a text.
///
/// # Errors
/// `structured_output_failed`, `cancelled`.
pub(crate) async fn extract(
    engine: &Engine,
    schema: &Value,
    content: &str,
    cancel: &CancellationToken,
) -> Result<Json> {
    let failed = |why: &str| fault("structured_output_failed").detail(why);
    let Ok(checked) = check_response_schema(schema) else {
        return Err(failed("the stored schema cannot be used").into());
    };
    let Some(chosen) = crate::reflect::provider(engine).await? else {
        return Err(failed("there is no language model to extract it").into());
    };
    let mut sink = NoSink;
    let mut caller = Caller {
        engine,
        provider: chosen.provider,
        sink: &mut sink,
        cancel: cancel.clone(),
        urgency: llm::Urgency::Background,
        calls: Vec::new(),
    };
    match structured::extract(&mut caller, &checked, content, structured::LIMIT).await? {
        Ok(Some(value)) => Ok(Json(value)),
        Ok(None) => Err(failed("nothing in the text matches the schema").into()),
        Err(error) => Err(failed(&error.message).into()),
    }
}
