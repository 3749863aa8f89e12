//! From free JSON to typed operations, each entry judged on its own. Extra keys are recorded and
//! otherwise ignored; nothing is repaired.

use serde_json::{Map, Value};

use super::op::default_level;
use super::{CitedOp, Claim, DeltaOp, InvalidOp, OpKind, ParsedOp};
use crate::document::clamp_level;

/// Reads every entry of a list.
#[must_use]
pub fn read_ops(entries: &[Value]) -> Vec<ParsedOp> {
    (0..).zip(entries).map(|(index, entry)| read_op(index, entry)).collect()
}

/// Reads one entry.
#[must_use]
pub fn read_op(index: u32, entry: &Value) -> ParsedOp {
    let Some(object) = entry.as_object() else {
        return ParsedOp {
            index,
            word: None,
            ignored: Vec::new(),
            body: Err(InvalidOp::NotAnObject),
        };
    };
    let word = object.get("op").and_then(Value::as_str);
    let mut fields = Fields { object, read: vec!["op"] };
    let body = match word.and_then(OpKind::from_word) {
        None => Err(InvalidOp::UnknownOp),
        Some(kind) => fields.cited(kind),
    };
    ParsedOp { index, word: word.map(str::to_owned), ignored: fields.unread(), body }
}

/// The keys of an entry, and which of them have been asked for.
struct Fields<'a> {
    object: &'a Map<String, Value>,
    read: Vec<&'static str>,
}

impl Fields<'_> {
    fn cited(&mut self, kind: OpKind) -> Result<CitedOp, InvalidOp> {
        let op = self.op(kind)?;
        Ok(CitedOp { op, evidence: self.evidence()?, claims: self.claims() })
    }

    fn op(&mut self, kind: OpKind) -> Result<DeltaOp, InvalidOp> {
        Ok(match kind {
            OpKind::AppendBlock => DeltaOp::AppendBlock {
                section_id: self.text("section_id")?,
                text: self.text("text")?,
            },
            OpKind::InsertBlock => DeltaOp::InsertBlock {
                section_id: self.text("section_id")?,
                after_block_id: self.optional_text("after_block_id")?,
                text: self.text("text")?,
            },
            OpKind::ReplaceBlock => DeltaOp::ReplaceBlock {
                section_id: self.text("section_id")?,
                block_id: self.text("block_id")?,
                text: self.text("text")?,
            },
            OpKind::RemoveBlock => DeltaOp::RemoveBlock {
                section_id: self.text("section_id")?,
                block_id: self.text("block_id")?,
            },
            OpKind::AddSection => DeltaOp::AddSection {
                heading: self.text("heading")?,
                level: self.level()?,
                blocks: self.optional_texts("blocks")?,
                after_section_id: self.optional_text("after_section_id")?,
                new_id: self.optional_text("new_id")?,
            },
            OpKind::RemoveSection => {
                DeltaOp::RemoveSection { section_id: self.text("section_id")? }
            }
            OpKind::ReplaceSectionBlocks => DeltaOp::ReplaceSectionBlocks {
                section_id: self.text("section_id")?,
                blocks: self.texts("blocks")?,
            },
            OpKind::RenameSection => DeltaOp::RenameSection {
                section_id: self.text("section_id")?,
                new_heading: self.text("new_heading")?,
            },
        })
    }

    fn get(&mut self, key: &'static str) -> Option<&Value> {
        self.read.push(key);
        self.object.get(key)
    }

    fn text(&mut self, key: &'static str) -> Result<String, InvalidOp> {
        let value = self.get(key).ok_or(InvalidOp::MissingField(key))?;
        value.as_str().map(str::to_owned).ok_or(InvalidOp::BadType(key))
    }

    fn optional_text(&mut self, key: &'static str) -> Result<Option<String>, InvalidOp> {
        match self.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(InvalidOp::BadType(key)),
        }
    }

    fn texts(&mut self, key: &'static str) -> Result<Vec<String>, InvalidOp> {
        let value = self.get(key).ok_or(InvalidOp::MissingField(key))?;
        value
            .as_array()
            .and_then(|list| list.iter().map(|item| item.as_str().map(str::to_owned)).collect())
            .ok_or(InvalidOp::BadType(key))
    }

    fn optional_texts(&mut self, key: &'static str) -> Result<Vec<String>, InvalidOp> {
        match self.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(_) => self.texts(key),
        }
    }

    fn level(&mut self) -> Result<u8, InvalidOp> {
        match self.get("level") {
            None | Some(Value::Null) => Ok(default_level()),
            Some(value) => value.as_f64().map(clamp_level).ok_or(InvalidOp::BadType("level")),
        }
    }

    /// A single handle stands for a list of one: its meaning is plain.
    fn evidence(&mut self) -> Result<Vec<String>, InvalidOp> {
        match self.get("evidence") {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::String(one)) => Ok(vec![one.clone()]),
            Some(Value::Array(list)) => Ok(handles(list)),
            Some(_) => Err(InvalidOp::BadType("evidence")),
        }
    }

    /// Malformed claims are dropped: they only refine the evidence.
    fn claims(&mut self) -> Vec<Claim> {
        let list = self.get("claims").and_then(Value::as_array);
        list.into_iter()
            .flatten()
            .filter_map(|claim| {
                Some(Claim {
                    quote: claim.get("quote")?.as_str()?.to_owned(),
                    evidence: match claim.get("evidence") {
                        Some(Value::String(one)) => vec![one.clone()],
                        Some(Value::Array(list)) => handles(list),
                        _ => Vec::new(),
                    },
                })
            })
            .collect()
    }

    fn unread(&self) -> Vec<String> {
        self.object.keys().filter(|key| !self.read.contains(&key.as_str())).cloned().collect()
    }
}

fn handles(list: &[Value]) -> Vec<String> {
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fault(entry: Value) -> String {
        read_op(0, &entry).body.expect_err("invalid").to_string()
    }

    #[test]
    fn faults_name_the_field() {
        assert_eq!(fault(json!("x")), "not_an_object");
        assert_eq!(fault(json!({"op": 3})), "unknown_op");
        assert_eq!(fault(json!({"op": "append_block", "text": "x"})), "missing_field:section_id");
        assert_eq!(
            fault(json!({"op": "append_block", "section_id": "s", "text": null})),
            "bad_type:text"
        );
        assert_eq!(
            fault(json!({"op": "add_section", "heading": "h", "blocks": ["a", 1]})),
            "bad_type:blocks"
        );
        assert_eq!(
            fault(json!({"op": "add_section", "heading": "h", "level": "two"})),
            "bad_type:level"
        );
    }

    #[test]
    fn extra_keys_are_recorded_and_evidence_read() {
        let read = read_op(
            4,
            &json!({"op": "remove_block", "section_id": "s", "block_id": "b", "why": 1,
                "evidence": ["f1", 2], "claims": [{"quote": "q", "evidence": ["f2"]}, 7]}),
        );
        assert_eq!(read.ignored, ["why"]);
        let op = read.body.expect("valid");
        assert_eq!(op.cited(), ["f1", "f2"]);
    }
}
