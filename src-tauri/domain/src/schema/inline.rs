//! Local references of a schema replaced by what they point to, and the way back from a place in
//! the inlined form to the place in the caller's text. No remote reference is ever followed.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{SchemaFault, rules, token, untoken};

/// Most nodes of an inlined schema, and deepest nesting: what a schema within the size limit
/// reaches only by references that multiply.
const MAX_NODES: usize = 20_000;
const MAX_NESTING: usize = 64;

/// Keywords whose value is a schema, a list of schemas, a map of schemas.
pub(super) const ONE: [&str; 11] = [
    "items",
    "additionalProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];
pub(super) const LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
pub(super) const MAPS: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];
/// Keywords that name or hold places, of no use once references are inlined.
const PLACES: [&str; 8] = [
    "$defs",
    "definitions",
    "$schema",
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$comment",
    "$vocabulary",
];

/// The schema with its references inlined. References that cannot be followed are faults.
pub(super) fn inline(schema: &Value, faults: &mut BTreeSet<SchemaFault>) -> Value {
    let mut walk = Walk { root: schema, faults, open: Vec::new(), nodes: 0 };
    walk.schema(schema, "", 0)
}

struct Walk<'a> {
    root: &'a Value,
    faults: &'a mut BTreeSet<SchemaFault>,
    /// References that are being followed: one that comes again is recursive.
    open: Vec<&'a str>,
    nodes: usize,
}

impl<'a> Walk<'a> {
    fn schema(&mut self, node: &'a Value, path: &str, nesting: usize) -> Value {
        let Some(map) = node.as_object() else { return node.clone() };
        self.nodes += 1;
        if self.nodes > MAX_NODES || nesting > MAX_NESTING {
            self.faults.insert(rules::too_large());
            return Value::Object(Map::new());
        }
        let mut whole = match map.get("$ref") {
            None => Map::new(),
            Some(reference) => self.target(reference, path, nesting),
        };
        for (key, value) in map {
            let path = format!("{path}/{}", token(key));
            let name = key.as_str();
            if name == "$ref" || PLACES.contains(&name) {
                continue;
            }
            if name == "$dynamicRef" || name == "$recursiveRef" {
                self.faults.insert(rules::unsupported(&path, name));
                continue;
            }
            let value = match value {
                Value::Array(list) if LISTS.contains(&name) => list
                    .iter()
                    .enumerate()
                    .map(|(i, item)| self.schema(item, &format!("{path}/{i}"), nesting + 1))
                    .collect(),
                Value::Object(members) if MAPS.contains(&name) => {
                    let member = |(key, item): (&'a String, &'a Value)| {
                        let path = format!("{path}/{}", token(key));
                        (key.clone(), self.schema(item, &path, nesting + 1))
                    };
                    Value::Object(members.iter().map(member).collect())
                }
                value if ONE.contains(&name) => self.schema(value, &path, nesting + 1),
                value => value.clone(),
            };
            whole.insert(key.clone(), value);
        }
        Value::Object(whole)
    }

    /// The inlined target of a reference; keywords beside the reference are laid over it.
    fn target(&mut self, reference: &'a Value, path: &str, nesting: usize) -> Map<String, Value> {
        let found = reference.as_str().and_then(|text| {
            let open = self.open.contains(&text);
            local(self.root, text).filter(|_| !open).map(|target| (text, target))
        });
        let Some((text, target)) = found else {
            self.faults.insert(SchemaFault {
                path: format!("{path}/$ref"),
                code: "schema_keyword",
                message: "Only references into $defs or definitions of the schema itself, without \
                          recursion, are supported."
                    .to_owned(),
            });
            return Map::new();
        };
        self.open.push(text);
        let inlined = self.schema(target, path, nesting + 1);
        self.open.pop();
        match inlined {
            Value::Object(map) => map,
            // A reference to `true` allows anything, which is what an empty schema does; `false`
            // and other values are no description of a field.
            Value::Bool(true) => Map::new(),
            _ => {
                self.faults.insert(rules::unsupported(&format!("{path}/$ref"), "$ref"));
                Map::new()
            }
        }
    }
}

/// What a local reference points to.
fn local<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = decoded(reference.strip_prefix('#')?)?;
    let inside = pointer.starts_with("/$defs/") || pointer.starts_with("/definitions/");
    inside.then(|| root.pointer(&pointer)).flatten()
}

/// A URI fragment with its percent escapes read.
fn decoded(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            let text = std::str::from_utf8(&digits).ok()?;
            bytes.push(u8::from_str_radix(text, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The place in the caller's schema of a place in the inlined form: where a token is not found and
/// a reference stands instead, the way goes on at the reference's target.
pub(super) fn caller_path(root: &Value, path: &str) -> String {
    let mut place = String::new();
    let mut node = Some(root);
    for step in path.split('/').skip(1) {
        let mut hops = 0;
        while let Some(target) = node
            .filter(|node| step != "$ref" && child(node, step).is_none() && hops < MAX_NESTING)
            .and_then(|node| node.get("$ref"))
            .and_then(Value::as_str)
        {
            let Some(next) = local(root, target) else { break };
            place = decoded(target.trim_start_matches('#')).unwrap_or_default();
            node = Some(next);
            hops += 1;
        }
        place.push('/');
        place.push_str(step);
        node = node.and_then(|node| child(node, step));
    }
    place
}

fn child<'a>(node: &'a Value, step: &str) -> Option<&'a Value> {
    match node {
        Value::Object(map) => map.get(&untoken(step)),
        Value::Array(list) => list.get(step.parse::<usize>().ok()?),
        _ => None,
    }
}
