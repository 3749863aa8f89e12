//! Free JSON at the boundary: response schemas, structured output, tool input. A newtype, because
//! the exporter of TypeScript types refuses `serde_json::Value` (it holds 64-bit integers).

use serde::{Deserialize, Serialize};

/// Any JSON value. In TypeScript it is `JsonValue`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(pub serde_json::Value);

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        Self(value)
    }
}

/// Written by hand: the type is recursive, so the exporter only gets its name. The definition of
/// `JsonValue` stands in the header of the generated file.
#[cfg(feature = "specta")]
impl specta::Type for Json {
    fn definition(_: &mut specta::Types) -> specta::datatype::DataType {
        specta::datatype::DataType::Reference(specta_typescript::define("JsonValue"))
    }
}
