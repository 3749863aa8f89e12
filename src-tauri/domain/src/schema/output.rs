//! Structured output held against a checked schema: what is dropped, what is accepted, and what is
//! wrong in words a person can act on. No coercion beyond a float without a fraction where an
//! integer is wanted.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::{Map, Value};

use super::rules::nullable_branch;
use super::{CheckedSchema, token};

/// What became of an answer's JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Structured {
    /// The normalised object.
    Valid(Value),
    /// Nothing in the answer matches: no field, or every leaf null, `""`, `[]` or `{}`.
    NothingMatches,
    /// It holds values but breaks the schema.
    Invalid(Vec<OutputProblem>),
    /// Not an object at all.
    NotAnObject,
}

/// One violation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputProblem {
    /// JSON pointer into the output.
    pub path: String,
    /// What was found and what is allowed.
    pub message: String,
}

/// One field of a schema, for instructions to a language model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaField {
    /// Dotted name; items of a list are `name[]`.
    pub name: String,
    /// Its type; `string or null` and the like where null is allowed.
    pub kind: String,
    /// Whether its object must hold it.
    pub required: bool,
    /// The schema's own words, if any.
    pub description: Option<String>,
}

impl CheckedSchema {
    /// Normalises an answer and holds it against the schema: unknown keys and null optional keys
    /// are dropped, integral floats become integers where integers are wanted.
    #[must_use]
    pub fn judge(&self, raw: &Value) -> Structured {
        if !raw.is_object() {
            return Structured::NotAnObject;
        }
        let value = normal(self.form(), raw);
        if is_empty(&value) {
            return Structured::NothingMatches;
        }
        let problems: Vec<OutputProblem> =
            self.validator.iter_errors(&value).flat_map(|error| problems(&error)).collect();
        if problems.is_empty() { Structured::Valid(value) } else { Structured::Invalid(problems) }
    }

    /// The fields in the order of the schema as it was read, nested ones after their parent.
    #[must_use]
    pub fn fields(&self) -> Vec<SchemaField> {
        let mut fields = Vec::new();
        list_fields(self.form(), "", &mut fields);
        fields
    }
}

fn list_fields(schema: &Value, prefix: &str, fields: &mut Vec<SchemaField>) {
    let members = schema.get("properties").and_then(Value::as_object);
    for (key, field) in members.into_iter().flatten() {
        let name = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        let (nullable, inner) = without_null(field);
        let kind = inner.get("type").and_then(Value::as_str).unwrap_or("any");
        fields.push(SchemaField {
            kind: if nullable { format!("{kind} or null") } else { kind.to_owned() },
            required: is_required(schema, key),
            description: [field, inner]
                .into_iter()
                .find_map(|schema| schema.get("description").and_then(Value::as_str))
                .map(str::to_owned),
            name: name.clone(),
        });
        list_fields(inner, &name, fields);
        let mut items = inner.get("items");
        let mut below = name;
        while let Some(item) = items {
            below.push_str("[]");
            let (_, item) = without_null(item);
            list_fields(item, &below, fields);
            items = item.get("items");
        }
    }
}

/// The schema behind "or null", and whether null is allowed.
fn without_null(schema: &Value) -> (bool, &Value) {
    let branch = ["anyOf", "oneOf"]
        .into_iter()
        .find_map(|keyword| schema.get(keyword).and_then(nullable_branch));
    branch.map_or((false, schema), |(_, branch)| (true, branch))
}

fn is_required(schema: &Value, name: &str) -> bool {
    let list = schema.get("required").and_then(Value::as_array);
    list.is_some_and(|list| list.iter().any(|item| item.as_str() == Some(name)))
}

fn normal(schema: &Value, value: &Value) -> Value {
    let (_, schema) = without_null(schema);
    match value {
        Value::Object(map) => match schema.get("properties").and_then(Value::as_object) {
            Some(fields) if !fields.is_empty() => Value::Object(known(schema, fields, map)),
            _ => value.clone(),
        },
        Value::Array(list) => match schema.get("items") {
            Some(items) => list.iter().map(|item| normal(items, item)).collect(),
            None => value.clone(),
        },
        Value::Number(number)
            if schema.get("type").and_then(Value::as_str) == Some("integer")
                && !(number.is_i64() || number.is_u64()) =>
        {
            whole(number).unwrap_or_else(|| value.clone())
        }
        _ => value.clone(),
    }
}

fn known(
    schema: &Value,
    fields: &Map<String, Value>,
    map: &Map<String, Value>,
) -> Map<String, Value> {
    fields
        .iter()
        .filter_map(|(name, field)| map.get(name).map(|value| (name, field, value)))
        .filter(|(name, _, value)| !value.is_null() || is_required(schema, name))
        .map(|(name, field, value)| (name.clone(), normal(field, value)))
        .collect()
}

/// A float without a fraction as an integer, within the range where floats are exact.
fn whole(number: &serde_json::Number) -> Option<Value> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64().filter(|n| n.fract() == 0.0 && n.abs() <= EXACT)?;
    format!("{float:.0}").parse::<i64>().ok().map(Value::from)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.iter().all(is_empty),
        Value::Object(map) => map.values().all(is_empty),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// An error in plain words; the error of an "or null" is that of its branch.
fn problems(error: &ValidationError<'_>) -> Vec<OutputProblem> {
    let path = error.instance_path().as_str();
    let one = |path: String, message: String| vec![OutputProblem { path, message }];
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            one(format!("{path}/{}", token(name)), "is required and missing".to_owned())
        }
        ValidationErrorKind::Type { kind: TypeKind::Single(kind) } => one(
            path.to_owned(),
            format!("is {} where {kind} is allowed", kind_of(error.instance())),
        ),
        ValidationErrorKind::Enum { options } => one(
            path.to_owned(),
            format!("is {} where one of {options} is allowed", error.instance()),
        ),
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            let is_null = |error: &ValidationError<'_>| {
                matches!(
                    error.kind(),
                    ValidationErrorKind::Type {
                        kind: TypeKind::Single(jsonschema::JsonType::Null)
                    }
                )
            };
            let branch = context.iter().find(|errors| !errors.iter().any(is_null));
            branch.map_or_else(
                || one(path.to_owned(), error.to_string()),
                |errors| errors.iter().flat_map(problems).collect(),
            )
        }
        _ => one(path.to_owned(), error.to_string()),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
