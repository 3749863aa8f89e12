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
