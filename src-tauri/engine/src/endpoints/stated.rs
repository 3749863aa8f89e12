//! What a person states about an endpoint beside its address: the language model, how large its
//! window is, how long one call may take. Kept as settings under the endpoint's id.

use crate::view::settings::SaveEndpoint;
use domain::{EndpointId, FieldFault, Instant};
use serde_json::{Value, json};
use std::time::Duration;
use store::{ReadTx, WriteTx, settings};

/// Settings with this prefix and an endpoint's id: its language model.
const LLM_OF: &str = "llm_of:";
/// The same: tokens that its model holds.
const WINDOW_OF: &str = "window_of:";
/// The same: seconds that one call may take.
const CALL_LIMIT_OF: &str = "call_limit_of:";

/// Fewest and most tokens that a window may be said to hold.
const WINDOWS: (u32, u32) = (1_024, 10_000_000);
/// Shortest and longest limit of a call, in seconds.
const CALL_LIMITS: (u32, u32) = (5, 86_400);

/// It.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Stated {
    /// Name of the language model.
    pub(super) llm: Option<String>,
    /// Tokens that it holds, prompt and answer together.
    pub(super) window: Option<u32>,
    /// Seconds that one call may take.
    pub(super) call_seconds: Option<u32>,
}

impl Stated {
    pub(super) fn read(tx: &ReadTx<'_>, id: &EndpointId) -> store::Result<Self> {
        let get = |prefix: &str| settings::get(tx, &format!("{prefix}{id}"));
        let number = |value: Option<Value>| {
            value.and_then(|value| value.as_u64()).and_then(|n| u32::try_from(n).ok())
        };
        let llm = get(LLM_OF)?.and_then(|value| value.as_str().map(str::to_owned));
        Ok(Self {
            llm: llm.filter(|name| !name.is_empty()),
            window: number(get(WINDOW_OF)?),
            call_seconds: number(get(CALL_LIMIT_OF)?),
        })
    }

    /// The limit of one call.
    pub(super) fn call_limit(&self) -> Option<Duration> {
        self.call_seconds.map(|seconds| Duration::from_secs(seconds.into()))
    }
}

/// Writes what a form states. A model that the form leaves out stays; a window and a limit that it
/// leaves out are as usual again.
pub(super) fn write(
    tx: &WriteTx<'_>,
    id: &EndpointId,
    input: &SaveEndpoint,
    now: Instant,
) -> store::Result<()> {
    if let Some(llm) = &input.llm {
        settings::set(tx, &format!("{LLM_OF}{id}"), &json!(llm.trim()), now)?;
    }
    for (prefix, value) in [(WINDOW_OF, input.window), (CALL_LIMIT_OF, input.call_seconds)] {
        let key = format!("{prefix}{id}");
        match value {
            Some(value) => settings::set(tx, &key, &json!(value), now)?,
            None => settings::clear(tx, &key)?,
        }
    }
    Ok(())
}

/// Forgets all of it.
pub(super) fn clear(tx: &WriteTx<'_>, id: &EndpointId) -> store::Result<()> {
    for prefix in [LLM_OF, WINDOW_OF, CALL_LIMIT_OF] {
        settings::clear(tx, &format!("{prefix}{id}"))?;
    }
    Ok(())
}

/// What cannot be so.
pub(super) fn faults(input: &SaveEndpoint) -> Vec<FieldFault> {
    let fields =
        [("window", input.window, WINDOWS), ("call_seconds", input.call_seconds, CALL_LIMITS)];
    fields
        .into_iter()
        .filter(|(_, value, (least, most))| value.is_some_and(|n| n < *least || n > *most))
        .map(|(field, _, (least, most))| {
            let message = format!("Must be between {least} and {most}.");
            FieldFault::new(field, "out_of_range", message)
        })
        .collect()
}
