//! The rules that an inlined schema is held against, and its compilation. Rules look at what they
//! know; keywords they do not know are judged by compiling the schema.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::inline::{LISTS, MAPS, ONE};
use super::{MAX_LEVELS, MAX_PROPERTIES, SchemaFault, token};

/// The types a field may have.
const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];
/// Combinators that are refused wherever they stand.
const REFUSED: [&str; 3] = ["allOf", "not", "patternProperties"];
/// Combinators that may say "or null".
const CHOICES: [&str; 2] = ["anyOf", "oneOf"];

pub(super) fn too_large() -> SchemaFault {
    fault(String::new(), "schema_too_large", "At most 8 levels, 200 fields and 64 KiB.")
}

pub(super) fn unsupported(path: &str, keyword: &str) -> SchemaFault {
    fault(path.to_owned(), "schema_keyword", &format!("`{keyword}` is not supported."))
}

fn fault(path: String, code: &'static str, message: &str) -> SchemaFault {
    SchemaFault { path, code, message: message.to_owned() }
}

/// Holds an inlined schema against the rules.
pub(super) fn check(schema: &Value, faults: &mut BTreeSet<SchemaFault>) {
    let mut check = Check { faults, properties: 0, too_deep: false };
    let Some(map) = schema.as_object() else {
        check.add(String::new(), "schema_not_object", "The schema must describe an object.");
        return;
    };
    if !matches!(map.get("type"), None | Some(Value::Null))
        && map.get("type").and_then(Value::as_str) != Some("object")
    {
        check.add("/type".into(), "schema_not_object", "The schema must describe an object.");
    }
    if map.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty) {
        check.add("/properties".into(), "schema_no_properties", "Add at least one field.");
    }
    for keyword in CHOICES.into_iter().filter(|keyword| map.contains_key(*keyword)) {
        check.faults.insert(unsupported(&format!("/{keyword}"), keyword));
    }
    check.members(map, "", 0);
    if check.too_deep || check.properties > MAX_PROPERTIES {
        check.faults.insert(too_large());
    }
}

struct Check<'a> {
    faults: &'a mut BTreeSet<SchemaFault>,
    properties: usize,
    too_deep: bool,
}

impl Check<'_> {
    fn add(&mut self, path: String, code: &'static str, message: &str) {
        self.faults.insert(fault(path, code, message));
    }

    /// One field, or the items of a list, at a level from 1.
    fn field(&mut self, schema: &Value, path: &str, level: usize) {
        if level > MAX_LEVELS {
            self.too_deep = true;
            return;
        }
        let Some(map) = schema.as_object() else { return };
        let known = |kind: &Value| kind.as_str().is_some_and(|word| TYPES.contains(&word));
        if map.get("type").is_some_and(|kind| !known(kind)) {
            self.add(
                format!("{path}/type"),
                "schema_property_type",
                "Use string, number, integer, boolean, array or object.",
            );
        }
        for keyword in CHOICES {
            let Some(choice) = map.get(keyword) else { continue };
            match nullable_branch(choice) {
                Some((i, branch)) => self.field(branch, &format!("{path}/{keyword}/{i}"), level),
                None => {
                    self.faults.insert(unsupported(&format!("{path}/{keyword}"), keyword));
                }
            }
        }
        self.members(map, path, level);
    }

    /// What fields and the top have in common.
    fn members(&mut self, map: &Map<String, Value>, path: &str, level: usize) {
        for keyword in REFUSED.into_iter().filter(|keyword| map.contains_key(*keyword)) {
            self.faults.insert(unsupported(&format!("{path}/{keyword}"), keyword));
        }
        match map.get("properties") {
            Some(Value::Object(fields)) => {
                for (name, schema) in fields {
                    self.property(name, schema, &format!("{path}/properties"), level + 1);
                }
            }
            None => {}
            Some(_) if level == 0 => {}
            Some(_) => self.add(
                format!("{path}/properties"),
                "schema_no_properties",
                "Add at least one field.",
            ),
        }
        match map.get("items") {
            None => {}
            Some(items) if items.is_object() => {
                self.field(items, &format!("{path}/items"), level + 1);
            }
            Some(_) => self.add(
                format!("{path}/items"),
                "schema_items",
                "Items must be described by an object.",
            ),
        }
        if map.get("enum").is_some_and(|list| list.as_array().is_none_or(Vec::is_empty)) {
            self.add(
                format!("{path}/enum"),
                "schema_enum",
                "Allowed values must be a non-empty list.",
            );
        }
        self.required(map, path);
        self.others(map, path);
    }

    fn property(&mut self, name: &str, schema: &Value, path: &str, level: usize) {
        self.properties += 1;
        let path = format!("{path}/{}", token(name));
        if name.trim().is_empty() {
            self.add(path.clone(), "schema_property_name", "A field needs a name.");
        }
        if schema.is_object() {
            self.field(schema, &path, level);
        } else {
            self.add(path, "schema_property_not_object", "A field must be described by an object.");
        }
    }

    fn required(&mut self, map: &Map<String, Value>, path: &str) {
        let path = format!("{path}/required");
        let message = "Required must list names of fields that exist.";
        let list = match map.get("required") {
            None | Some(Value::Null) => return,
            Some(Value::Array(list)) if list.iter().all(Value::is_string) => list,
            Some(_) => return self.add(path, "schema_required", message),
        };
        let fields = map.get("properties").and_then(Value::as_object);
        let exists = |name: &Value| {
            name.as_str().is_some_and(|name| fields.is_some_and(|map| map.contains_key(name)))
        };
        if !list.iter().all(exists) {
            self.add(path, "schema_required_unknown", message);
        }
    }

    /// Schemas below other keywords: only refused combinators are looked for.
    fn others(&mut self, map: &Map<String, Value>, path: &str) {
        for (key, value) in map {
            let at = format!("{path}/{}", token(key));
            match (key.as_str(), value) {
                ("items" | "properties" | "anyOf" | "oneOf" | "allOf" | "not", _) => {}
                (name, _) if ONE.contains(&name) => self.loose(value, &at),
                (name, Value::Array(list)) if LISTS.contains(&name) => {
                    for (i, item) in list.iter().enumerate() {
                        self.loose(item, &format!("{at}/{i}"));
                    }
                }
                (name, Value::Object(members)) if MAPS.contains(&name) => {
                    for (key, item) in members {
                        self.loose(item, &format!("{at}/{}", token(key)));
                    }
                }
                _ => {}
            }
        }
    }

    fn loose(&mut self, schema: &Value, path: &str) {
        let Some(map) = schema.as_object() else { return };
        for keyword in REFUSED.into_iter().chain(CHOICES) {
            let nullable = map.get(keyword).is_some_and(|choice| {
                CHOICES.contains(&keyword) && nullable_branch(choice).is_some()
            });
            if map.contains_key(keyword) && !nullable {
                self.faults.insert(unsupported(&format!("{path}/{keyword}"), keyword));
            }
        }
        for (name, schema) in map.get("properties").and_then(Value::as_object).into_iter().flatten()
        {
            self.properties += 1;
            self.loose(schema, &format!("{path}/properties/{}", token(name)));
        }
        if let Some(items) = map.get("items") {
            self.loose(items, &format!("{path}/items"));
        }
        self.others(map, path);
    }
}

/// The branch of a choice between one schema and null, with its place in the list.
pub(super) fn nullable_branch(choice: &Value) -> Option<(usize, &Value)> {
    let [a, b] = choice.as_array()?.as_slice() else { return None };
    let null = |schema: &Value| schema.get("type").and_then(Value::as_str) == Some("null");
    match (null(a), null(b)) {
        (false, true) if a.is_object() => Some((0, a)),
        (true, false) if b.is_object() => Some((1, b)),
        _ => None,
    }
}

/// The inlined schema with a type at every field that has none: `object` or `array` where members
/// are described, `string` where nothing else says what it is.
pub(super) fn with_types(schema: &Value) -> Value {
    typed(schema, "object")
}

fn typed(schema: &Value, default: &str) -> Value {
    let Some(map) = schema.as_object() else { return schema.clone() };
    let mut map = map.clone();
    map.retain(|key, value| !(key == "required" || key == "type") || !value.is_null());
    let says = |key: &str| map.contains_key(key);
    let kind = if says("properties") {
        Some("object")
    } else if says("items") {
        Some("array")
    } else if ["enum", "const", "anyOf", "oneOf"].into_iter().any(says) {
        None
    } else {
        Some(default)
    };
    if let (false, Some(kind)) = (says("type"), kind) {
        map.insert("type".to_owned(), Value::from(kind));
    }
    if let Some(Value::Object(fields)) = map.get_mut("properties") {
        for field in fields.values_mut() {
            *field = typed(field, "string");
        }
    }
    if let Some(items) = map.get_mut("items") {
        // An item without a type may be anything: only a field's missing type means text.
        if items.as_object().is_some_and(|items| !items.is_empty()) {
            *items = typed(items, "string");
        }
    }
    for keyword in CHOICES {
        if let Some(Value::Array(branches)) = map.get_mut(keyword) {
            for branch in branches {
                *branch = typed(branch, "string");
            }
        }
    }
    Value::Object(map)
}

/// Compiles a checked form. Keywords that are not well-formed are faults at their place.
pub(super) fn compile(form: &Value) -> Result<jsonschema::Validator, Vec<SchemaFault>> {
    let malformed = |path: &str, message: String| {
        let keyword = path.rsplit('/').find(|step| step.parse::<usize>().is_err()).unwrap_or("");
        SchemaFault {
            path: path.to_owned(),
            code: "schema_keyword",
            message: format!("`{keyword}` cannot be used as it is: {message}."),
        }
    };
    let meta = jsonschema::draft202012::meta::validator();
    let faults: Vec<SchemaFault> = meta
        .iter_errors(form)
        .map(|error| malformed(error.instance_path().as_str(), error.to_string()))
        .collect();
    if !faults.is_empty() {
        return Err(faults);
    }
    jsonschema::draft202012::options()
        .should_validate_formats(true)
        .should_ignore_unknown_formats(true)
        .build(form)
        .map_err(|error| {
            // What only fails to compile, like a regular expression, is placed in the schema itself.
            let instance = error.instance_path().as_str();
            let place = if instance.is_empty() { error.schema_path().as_str() } else { instance };
            vec![malformed(place, error.to_string())]
        })
}
