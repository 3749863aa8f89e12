//! What is wrong with one field of a request. Codes are a closed vocabulary of their own
//! (stable); messages are for people and may change.

use serde::{Deserialize, Serialize};

/// One fault of one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct FieldFault {
    /// Dotted path of the field, with `[n]` for list items, for example `trigger.fact_types[1]`.
    pub field: String,
    /// Stable word, for example `blank` or `cron_syntax`.
    pub code: String,
    /// One sentence for a person.
    pub message: String,
}

impl FieldFault {
    /// A fault from its three parts.
    pub fn new(field: impl Into<String>, code: &str, message: impl Into<String>) -> Self {
        Self { field: field.into(), code: code.to_owned(), message: message.into() }
    }
}
