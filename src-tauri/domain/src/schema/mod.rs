//! Response schemas: which JSON Schemas a person may ask structured output by, and whether an
//! object keeps to one. One function judges them for a question and for a mental model's trigger.
//! The caller's text is never changed; only the checked form has its references inlined.

mod inline;
mod output;
mod rules;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::FieldFault;

pub use output::{OutputProblem, SchemaField, Structured};

/// Most levels of fields below one another; the items of a list are a level too.
pub const MAX_LEVELS: usize = 8;
/// Most fields in the whole schema, references inlined.
pub const MAX_PROPERTIES: usize = 200;
/// Most bytes of the serialised schema.
pub const MAX_BYTES: usize = 64 * 1024;

/// One thing wrong with a schema.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SchemaFault {
    /// JSON pointer into the caller's schema; empty for the whole.
    pub path: String,
    /// Stable word, one of the `schema_…` field codes.
    pub code: &'static str,
    /// One sentence for a person.
    pub message: String,
}

/// A schema that passed, ready to hold answers against.
#[derive(Debug)]
pub struct CheckedSchema {
    form: Value,
    validator: jsonschema::Validator,
}

impl CheckedSchema {
    /// The checked form: references inlined, a type at every field that had none.
    #[must_use]
    pub fn form(&self) -> &Value {
        &self.form
    }
}

/// All problems of a schema, sorted by path; empty when it is accepted.
#[must_use]
pub fn validate_response_schema(schema: &Value) -> Vec<SchemaFault> {
    check_response_schema(schema).err().unwrap_or_default()
}

/// Checks a schema and makes it ready for use.
///
/// # Errors
/// All problems, sorted by path, one per path and code.
pub fn check_response_schema(schema: &Value) -> Result<CheckedSchema, Vec<SchemaFault>> {
    if serde_json::to_string(schema).is_ok_and(|text| text.len() > MAX_BYTES) {
        return Err(vec![rules::too_large()]);
    }
    let mut found = BTreeSet::new();
    let inlined = inline::inline(schema, &mut found);
    rules::check(&inlined, &mut found);
    let validator = if found.is_empty() {
        let form = rules::with_types(&inlined);
        match rules::compile(&form) {
            Ok(validator) => return Ok(CheckedSchema { form, validator }),
            Err(faults) => faults,
        }
    } else {
        Vec::new()
    };
    found.extend(validator);
    let mut faults: Vec<SchemaFault> = found
        .into_iter()
        .map(|fault| SchemaFault { path: inline::caller_path(schema, &fault.path), ..fault })
        .collect();
    faults.sort();
    faults.dedup_by(|a, b| a.path == b.path && a.code == b.code);
    Err(faults)
}

/// The faults as faults of a form's field: slashes become dots, a last `/type` is dropped, and a
/// fault of the schema's own `/type` or `/properties` is one of the field itself. One fault per
/// field; "not an object" hides "no fields".
#[must_use]
pub fn field_faults(field: &str, faults: &[SchemaFault]) -> Vec<FieldFault> {
    let mut fields: Vec<FieldFault> = Vec::new();
    let not_object_first = |fault: &&SchemaFault| fault.code != "schema_not_object";
    let mut ordered: Vec<&SchemaFault> = faults.iter().collect();
    ordered.sort_by_key(not_object_first);
    for fault in ordered {
        let pointer = match fault.path.as_str() {
            "/type" | "/properties" => "",
            path if fault.code == "schema_property_type" => {
                path.strip_suffix("/type").unwrap_or(path)
            }
            path => path,
        };
        let name = format!("{field}{}", pointer.replace('/', "."));
        if !fields.iter().any(|known| known.field == name) {
            fields.push(FieldFault::new(name, fault.code, fault.message.clone()));
        }
    }
    fields.sort_by(|a, b| a.field.cmp(&b.field));
    fields
}

/// A key as one token of a JSON pointer.
fn token(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// One token of a JSON pointer as a key.
fn untoken(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}
