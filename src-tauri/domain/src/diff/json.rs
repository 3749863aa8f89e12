//! What differs between two JSON values, place by place. Used for the structured view and the
//! settings of two versions; a list is compared by position, since its members have no names.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Json;

/// One place at which two values differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct JsonChange {
    /// The place as a JSON pointer (RFC 6901); empty for the whole value.
    pub pointer: String,
    /// What stood there; none if nothing did.
    pub old: Option<Json>,
    /// What stands there; none if nothing does.
    pub new: Option<Json>,
}

/// The places at which two values differ, in the order of their pointers: the deepest ones that tell
/// the difference, so that one changed field of a record is one entry.
#[must_use]
pub fn json_changes(old: Option<&Value>, new: Option<&Value>) -> Vec<JsonChange> {
    let mut changes = Vec::new();
    compare(String::new(), old, new, &mut changes);
    changes
}

fn compare(
    pointer: String,
    old: Option<&Value>,
    new: Option<&Value>,
    changes: &mut Vec<JsonChange>,
) {
    match (old, new) {
        _ if old == new => {}
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
            for key in keys {
                let place = format!("{pointer}/{}", escape(key));
                compare(place, before.get(key), after.get(key), changes);
            }
        }
        (Some(Value::Array(before)), Some(Value::Array(after))) => {
            for at in 0..before.len().max(after.len()) {
                compare(format!("{pointer}/{at}"), before.get(at), after.get(at), changes);
            }
        }
        _ => changes.push(JsonChange {
            pointer,
            old: old.cloned().map(Json),
            new: new.cloned().map(Json),
        }),
    }
}

fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn places(old: Value, new: Value) -> Vec<String> {
        json_changes(Some(&old), Some(&new)).into_iter().map(|change| change.pointer).collect()
    }

    #[test]
    fn a_change_is_told_where_it_is() {
        let old = json!({ "a": { "b": 1, "c/d": [1, 2] }, "same": [true] });
        let new = json!({ "a": { "b": 2, "c/d": [1, 3, 4] }, "same": [true], "~": null });
        assert_eq!(places(old, new), ["/a/b", "/a/c~1d/1", "/a/c~1d/2", "/~0"]);
    }

    #[test]
    fn a_value_that_comes_or_goes_is_one_change_of_the_whole() {
        let value = json!({ "a": 1 });
        let came = json_changes(None, Some(&value));
        assert_eq!((came.len(), came[0].pointer.as_str()), (1, ""));
        assert_eq!((&came[0].old, &came[0].new), (&None, &Some(Json(value.clone()))));
        assert_eq!(json_changes(Some(&value), None).len(), 1);
        assert_eq!(json_changes(Some(&value), Some(&value)), []);
        assert_eq!(places(json!({ "a": [1] }), json!({ "a": { "0": 1 } })), ["/a"]);
    }
}
