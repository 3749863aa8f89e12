//! The structured view of a published document, extracted anew because a person asks: after an edit
//! or a revert, which make the stored value stale. The text is not touched.

use super::loaded::{Loaded, to_json};
use super::publish::evidence_of;
use super::refresh::structured;
use crate::llm_log::{CallContext, within};
use crate::prompts::STRUCTURED_SYSTEM;
use crate::report::fault;
use crate::view::model::ModelDetail;
use crate::{Engine, Error, Result};
use domain::{BankId, FieldFault, ModelId};
use tokio_util::sync::CancellationToken;

/// Extracts and stores the structured view of the document as it stands.
pub(super) async fn reextract(engine: &Engine, bank: &BankId, id: &ModelId) -> Result<ModelDetail> {
    let model = id.clone();
    let before =
        crate::handle::read_bank(engine, bank, move |tx, key| Loaded::get(tx, key, &model)).await?;
    let Some(schema) = before.trigger.response_schema.clone() else {
        let field = "trigger.response_schema";
        let faults = vec![FieldFault::new(field, "blank", "Must not be empty.")];
        return Err(fault("invalid_request").fields(faults).into());
    };
    if before.row.content.trim().is_empty() {
        return Err(fault("nothing_to_change").into());
    }
    let context = CallContext {
        bank: Some(bank.clone()),
        operation: "refresh".to_owned(),
        prompt: (STRUCTURED_SYSTEM.name.to_owned(), STRUCTURED_SYSTEM.hash()),
        ..CallContext::default()
    };
    let cancel = CancellationToken::new();
    let stays_here = structured::stays_here(engine, bank, id, Vec::new()).await?;
    let work = structured::extract(engine, &schema.0, &before.row.content, stays_here, &cancel);
    let value = within(context, Box::pin(work)).await?;
    let version = before.row.head.version;
    let (model, bank_id, now) = (id.clone(), bank.clone(), engine.now());
    engine
        .store()
        .write_as("reextract_structured", move |tx| {
            let key = store::banks::key(tx, &bank_id)?;
            let mut fresh = Loaded::get(tx, key, &model)?;
            if fresh.row.head.version != version {
                let now = fresh.row.head.version;
                return Err(Error::from(fault("version_conflict").with("n", now)));
            }
            let mut evidence = evidence_of(&fresh.row, &fresh.document);
            evidence.structured_output = Some(value.clone());
            evidence.structured_output_version = Some(version);
            evidence.structured_output_schema = structured::name_of_schema(&before);
            fresh.row.reflect_response = Some(to_json(&evidence));
            store::models::save(tx, &fresh.row, version, now)?;
            Ok(())
        })
        .await?;
    super::get(engine, bank, id).await
}
