//! What is wrong with one field of a request. Codes are a closed vocabulary of their own
//! (stable); messages are for people and may change.

use serde::{Deserialize, Serialize};

/// One fault of one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct FieldFault {
    /// Dotted path of the field, with `[n]` for list items, for example `tags[1]`.
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

/// The commonest faults, worded once.
impl FieldFault {
    /// The field is missing or holds only blanks.
    pub fn blank(field: impl Into<String>) -> Self {
        Self::new(field, "blank", "Must not be empty.")
    }

    /// The value has the wrong JSON type; `wanted` reads after "must be", for example `a string`.
    pub fn wrong_type(field: impl Into<String>, wanted: &str) -> Self {
        Self::new(field, "type", format!("Must be {wanted}."))
    }

    /// The value is not one of a closed list of words.
    pub fn not_one_of(field: impl Into<String>, words: &[&str]) -> Self {
        Self::new(field, "enum", format!("Must be one of {}.", words.join(", ")))
    }

    /// The number lies outside `min..=max`; no `max` means no upper bound worth naming.
    pub fn out_of_range(field: impl Into<String>, min: u32, max: Option<u32>) -> Self {
        let message = match max {
            Some(max) => format!("Must be between {min} and {max}."),
            None => format!("Must be {min} or more."),
        };
        Self::new(field, "out_of_range", message)
    }

    /// The list is empty where leaving it out is what means "all".
    pub fn empty_list(field: impl Into<String>) -> Self {
        Self::new(field, "empty_list", "Leave it out for all; an empty list would read nothing.")
    }

    /// There is no such field.
    pub fn unknown_key(field: impl Into<String>) -> Self {
        Self::new(field, "unknown_key", "There is no field of this name.")
    }
}
