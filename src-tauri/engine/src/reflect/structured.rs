//! A structured view of a finished text: the fields of a schema, filled from what the text says and
//! nothing else. One repeat with the list of problems; never a reason for the text itself to fail.

use super::caller::{Ask, Caller, NoReply};
use super::finish::is_cancelled;
use crate::prompts::{STRUCTURED_SYSTEM, STRUCTURED_USER, fence};
use crate::{Error, Result};
use domain::cleaning::extract_json;
use domain::reflect::{StructuredOutputError, StructuredOutputErrorKind as Kind};
use domain::schema::{CheckedSchema, Structured};
use domain::tokens::{Cl100k, TokenCounter};
use domain::trace::{CallPurpose, LlmCallStatus, RunEvent, call_scope};
use llm::{Message, ResponseFormat};
use serde_json::Value;
use std::time::Duration;

/// Limit of one extraction.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// What came of an extraction: a value, nothing that matches, or why there is none.
pub(crate) type Extracted = Result<Option<Value>, StructuredOutputError>;

/// Extracts the fields of a schema from a text.
///
/// # Errors
/// `cancelled` alone; everything else is an [`Extracted`].
pub(crate) async fn extract(
    caller: &mut Caller<'_>,
    schema: &CheckedSchema,
    text: &str,
    limit: Duration,
) -> Result<Extracted> {
    caller.sink.emit(RunEvent::StructuredStarted);
    let clock = caller.engine.clock();
    let extracted = if limit.is_zero() {
        Err(error(Kind::Timeout, "The text took all the time of the run."))
    } else {
        tokio::select! {
            biased;
            tried = two_tries(caller, schema, text) => tried?,
            () = clock.sleep(limit) => {
                let seconds = limit.as_secs();
                Err(error(Kind::Timeout, format!("The extraction passed its limit of {seconds} s.")))
            }
        }
    };
    caller.sink.emit(RunEvent::StructuredFinished {
        error: extracted.as_ref().err().map(|error| error.message.clone()),
    });
    Ok(extracted)
}

fn error(kind: Kind, message: impl Into<String>) -> StructuredOutputError {
    StructuredOutputError { kind, message: message.into() }
}

async fn two_tries(
    caller: &mut Caller<'_>,
    schema: &CheckedSchema,
    text: &str,
) -> Result<Extracted> {
    let first = one_try(caller, schema, text, CallPurpose::Structured, "").await?;
    let problem = match &first {
        Err(problem) if matches!(problem.kind, Kind::InvalidOutput | Kind::Unparseable) => problem,
        _ => return Ok(first),
    };
    let told = format!("\nAn earlier object could not be used:\n{}", problem.message);
    one_try(caller, schema, text, CallPurpose::StructuredRetry, &told).await
}

async fn one_try(
    caller: &mut Caller<'_>,
    schema: &CheckedSchema,
    text: &str,
    purpose: CallPurpose,
    problems: &str,
) -> Result<Extracted> {
    let mark = fence(caller.engine.clock().random());
    let system = STRUCTURED_SYSTEM.render(&[("fence", &mark)])?;
    let user = STRUCTURED_USER.render(&[
        ("schema", &schema.form().to_string()),
        ("fields", &fields(schema)),
        ("fence", &mark),
        ("text", text),
        ("problems", problems),
    ])?;
    let tokens = Cl100k.count(&system) + Cl100k.count(&user);
    let format = if caller.provider.caps().json_schema {
        ResponseFormat::JsonSchema {
            name: "structured".to_owned(),
            schema: schema.form().clone(),
            strict: false,
        }
    } else {
        ResponseFormat::JsonObject
    };
    let ask = Ask {
        format,
        ..Ask::plain(
            call_scope(purpose, LlmCallStatus::Ok),
            vec![Message::system(system), Message::user(user)],
            tokens,
        )
    };
    let reply = match caller.ask(&ask).await {
        Ok(reply) => reply,
        Err(NoReply::Ends(error)) if is_cancelled(&error) => return Err(error),
        Err(NoReply::Ends(cause)) => return Ok(Err(error(Kind::ProviderError, cause.to_string()))),
        Err(NoReply::Overflow(cause)) => {
            return Ok(Err(error(Kind::ProviderError, Error::from(cause).to_string())));
        }
    };
    Ok(judged(schema, &reply.text))
}

fn judged(schema: &CheckedSchema, text: &str) -> Extracted {
    let Some(raw) = extract_json(text) else {
        return Err(error(Kind::Unparseable, "The reply is not JSON."));
    };
    match schema.judge(&raw) {
        Structured::Valid(value) => Ok(Some(value)),
        Structured::NothingMatches => Ok(None),
        Structured::NotAnObject => Err(error(Kind::Unparseable, "The reply is not an object.")),
        Structured::Invalid(problems) => {
            let lines: Vec<String> = problems
                .iter()
                .map(|problem| format!("{}: {}", problem.path, problem.message))
                .collect();
            Err(error(Kind::InvalidOutput, lines.join("\n")))
        }
    }
}

fn fields(schema: &CheckedSchema) -> String {
    schema
        .fields()
        .iter()
        .map(|field| {
            let required = if field.required { ", required" } else { "" };
            let words = field.description.as_deref().map(|d| format!(": {d}")).unwrap_or_default();
            format!("- {} ({}{required}){words}\n", field.name, field.kind)
        })
        .collect()
}
