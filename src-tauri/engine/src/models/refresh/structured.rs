//! The structured view of a document: its fields by the trigger's schema, extracted from the final
//! text by one call and one correction. Without a language model there is none.

use crate::events::NoSink;
use crate::models::loaded::Loaded;
use crate::reflect::caller::Caller;
use crate::reflect::structured;
use crate::report::fault;
use crate::{Engine, Result};
use domain::schema::check_response_schema;
use domain::trace::LlmCallRecord;
use domain::{BankId, Json, MemoryId, ModelId};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

/// What came of an extraction, with the calls that it took.
pub(crate) struct Extracted {
    /// The value, or why there is none: `structured_output_failed`.
    pub(crate) value: Result<Json>,
    /// Every request.
    pub(crate) calls: Vec<LlmCallRecord>,
}

/// Why nothing is extracted from a private text by a language model elsewhere.
pub(crate) const STAYS_HERE: &str = "the text rests on memories that must not leave this machine, \
    and the language model is elsewhere; choose one on this machine";

/// Names a schema, so that a stored value tells which one made it.
pub(crate) fn schema_hash(schema: &Value) -> String {
    use std::fmt::Write as _;
    let digest = Sha256::digest(schema.to_string().as_bytes());
    digest[..16].iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The name of a model's present schema; none without one.
pub(crate) fn name_of_schema(model: &Loaded) -> Option<String> {
    model.trigger.response_schema.as_ref().map(|schema| schema_hash(&schema.0))
}

/// Extracts the fields of a schema from a text; one that `stays_here` only by a language model on this
/// machine.
///
/// # Errors
/// `cancelled` alone; everything else is an [`Extracted`].
pub(crate) async fn extract_traced(
    engine: &Engine,
    schema: &Value,
    content: &str,
    stays_here: bool,
    urgency: llm::Urgency,
    cancel: &CancellationToken,
) -> Result<Extracted> {
    let failed = |why: &str| Extracted {
        value: Err(fault("structured_output_failed").detail(why).into()),
        calls: Vec::new(),
    };
    let Ok(checked) = check_response_schema(schema) else {
        return Ok(failed("the stored schema cannot be used"));
    };
    let Some(chosen) = crate::reflect::provider(engine).await? else {
        return Ok(failed("there is no language model to extract it"));
    };
    if stays_here && !chosen.local {
        return Ok(failed(STAYS_HERE));
    }
    let mut sink = NoSink;
    let mut caller = Caller {
        engine,
        provider: chosen.provider,
        sink: &mut sink,
        cancel: cancel.clone(),
        urgency,
        calls: Vec::new(),
    };
    let value = structured::extract(&mut caller, &checked, content, structured::LIMIT).await?;
    let why = match value {
        Ok(Some(value)) => return Ok(Extracted { value: Ok(Json(value)), calls: caller.calls }),
        Ok(None) => "nothing in the text matches the schema".to_owned(),
        Err(error) => error.message,
    };
    Ok(Extracted { calls: caller.calls, ..failed(&why) })
}

/// Extracts the fields of a schema from a text, for a person who waits.
///
/// # Errors
/// `structured_output_failed`, `cancelled`.
pub(crate) async fn extract(
    engine: &Engine,
    schema: &Value,
    content: &str,
    stays_here: bool,
    cancel: &CancellationToken,
) -> Result<Json> {
    extract_traced(engine, schema, content, stays_here, llm::Urgency::Asked, cancel).await?.value
}

/// Whether the text of a model, or what rests on some more facts, must not leave this machine.
///
/// # Errors
/// `model_not_found`, `bank_not_found`.
pub(crate) async fn stays_here(
    engine: &Engine,
    bank: &BankId,
    model: &ModelId,
    facts: Vec<MemoryId>,
) -> Result<bool> {
    let model = model.clone();
    crate::handle::read_bank(engine, bank, move |tx, key| {
        let private = crate::settings::of_bank(tx, &store::banks::by_key(tx, key)?)?.local_only();
        Ok(Loaded::get(tx, key, &model)?.stays_here(tx, &private)?
            || store::tag_sets::any_carries(tx, key, &facts, &private)?)
    })
    .await
}
