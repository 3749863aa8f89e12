//! What of a tool's result the language model sees: short ids for real ones, times to the minute,
//! and rows that it has already seen by their short ids alone. Keeps the list of what was shown,
//! since only that may be cited or opened.

use domain::FactType;
use domain::short_ids::{ShortIds, ShortKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// What a shown id is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ShownKind {
    /// A fact or observation.
    Memory,
    /// A mental model.
    Model,
}

/// Ids that tools have shown in this run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Shown {
    kinds: HashMap<String, ShownKind>,
}

impl Shown {
    /// What an id is, if it was shown.
    pub(super) fn kind(&self, id: &str) -> Option<ShownKind> {
        self.kinds.get(id).copied()
    }

    /// Notes an id.
    pub(super) fn note(&mut self, id: &str, kind: ShownKind) {
        self.kinds.insert(id.to_owned(), kind);
    }
}

/// Turns results into what is sent.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct View {
    /// The short names of the run.
    pub(super) names: ShortIds,
    // Rows that were sent in full.
    sent: HashSet<String>,
}

impl View {
    /// A result as the language model sees it.
    pub(super) fn of(&mut self, result: &Map<String, Value>) -> Map<String, Value> {
        let mut out = Map::new();
        let mut seen: Vec<String> = Vec::new();
        for (key, value) in result {
            let value = match (key.as_str(), value) {
                ("memories" | "observations" | "mental_models", Value::Array(rows)) => {
                    Value::Array(self.rows(key, rows, &mut seen))
                }
                ("results" | "details", Value::Array(rows)) => {
                    Value::Array(rows.iter().map(|row| self.opened(row)).collect())
                }
                ("chunks", Value::Object(chunks)) => {
                    let named = chunks
                        .iter()
                        .map(|(id, chunk)| (self.names.alias(ShortKind::Chunk, id), chunk.clone()));
                    Value::Object(named.collect())
                }
                ("source_facts", Value::Object(facts)) => Value::Object(self.facts(facts)),
                (_, value) => value.clone(),
            };
            let empty = value.as_object().is_some_and(Map::is_empty);
            if !empty {
                out.insert(key.clone(), value);
            }
        }
        if !seen.is_empty() {
            out.insert("already_shown".to_owned(), json!(seen));
        }
        out
    }

    fn rows(&mut self, list: &str, rows: &[Value], seen: &mut Vec<String>) -> Vec<Value> {
        let mut out = Vec::new();
        for row in rows {
            let id = row["id"].as_str().unwrap_or_default();
            let kind = if list == "mental_models" {
                ShortKind::Model
            } else {
                kind_of(row["fact_type"].as_str())
            };
            let alias = self.names.alias(kind, id);
            if !self.sent.insert(id.to_owned()) {
                seen.push(alias);
                continue;
            }
            out.push(self.short(row, &alias));
        }
        out
    }

    /// The facts behind observations by their short ids, without those that were sent before.
    fn facts(&mut self, facts: &Map<String, Value>) -> Map<String, Value> {
        let mut out = Map::new();
        for (id, fact) in facts {
            let alias = self.names.alias(ShortKind::Fact, id);
            if self.sent.insert(id.clone()) {
                let mut short = self.short(fact, &alias);
                if let Some(row) = short.as_object_mut() {
                    row.remove("id");
                }
                out.insert(alias, short);
            }
        }
        out
    }

    fn short(&mut self, row: &Value, alias: &str) -> Value {
        let mut out = Map::new();
        for (key, value) in row.as_object().into_iter().flatten() {
            let value = match key.as_str() {
                "id" => json!(alias),
                "chunk" => json!(self.names.alias(ShortKind::Chunk, value.as_str().unwrap_or(""))),
                "source_fact_ids" => {
                    let ids = value.as_array().into_iter().flatten().filter_map(Value::as_str);
                    ids.map(|id| self.names.alias(ShortKind::Fact, id)).collect::<Vec<_>>().into()
                }
                "occurred_start" | "occurred_end" | "mentioned_at" | "updated_at" => {
                    to_minute(value)
                }
                _ => value.clone(),
            };
            let absent = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
            if !absent {
                out.insert(key.clone(), value);
            }
        }
        Value::Object(out)
    }

    fn opened(&mut self, row: &Value) -> Value {
        let mut row = row.clone();
        let id = row["memory_id"].as_str().unwrap_or_default().to_owned();
        let alias = self.names.known(&id).unwrap_or(&id).to_owned();
        row["memory_id"] = json!(alias);
        for inner in ["memory", "mental_model"] {
            if row.get(inner).is_some() {
                row[inner]["id"] = json!(alias);
            }
        }
        if let Some(chunk) = row.get_mut("chunk")
            && let Some(id) = chunk["id"].as_str().map(str::to_owned)
        {
            chunk["id"] = json!(self.names.alias(ShortKind::Chunk, &id));
        }
        row
    }
}

fn kind_of(fact_type: Option<&str>) -> ShortKind {
    match fact_type.and_then(FactType::from_word) {
        Some(FactType::Observation) => ShortKind::Observation,
        Some(FactType::World | FactType::Experience) | None => ShortKind::Fact,
    }
}

fn to_minute(value: &Value) -> Value {
    let at = value.as_str().and_then(|text| chrono::DateTime::parse_from_rfc3339(text).ok());
    at.map_or_else(|| value.clone(), |at| json!(super::tools::minute(at.to_utc())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sent_once_with_short_ids_and_times() {
        let mut view = View::default();
        let result = json!({"query": "x", "memories": [{
            "id": "uuid-1", "fact_type": "world", "text": "uuid-1", "tags": [],
            "mentioned_at": "2026-01-02T03:04:05.678Z", "chunk": "doc_0",
        }], "chunks": {"doc_0": {"chunk_text": "t"}}});
        let result = result.as_object().cloned().unwrap_or_default();
        let first = Value::Object(view.of(&result));
        assert_eq!(first["memories"][0]["id"], "f1");
        assert_eq!(first["memories"][0]["text"], "uuid-1");
        assert_eq!(first["memories"][0]["mentioned_at"], "2026-01-02T03:04Z");
        assert_eq!(first["memories"][0]["chunk"], "c1");
        assert!(first["chunks"].get("c1").is_some());
        let second = Value::Object(view.of(&result));
        assert_eq!(second["already_shown"], json!(["f1"]));
        assert_eq!(second["memories"], json!([]));
    }
}
