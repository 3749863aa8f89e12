//! Opens the sources of what a run has already shown: the passage, or the whole document. Ids that
//! were not shown stay shut, so that nothing outside the scope can be reached by guessing.

use super::show::{Shown, ShownKind};
use super::tools::{Output, Toolbox, based_on, chunk_key, count};
use crate::Result;
use domain::MemoryId;
use domain::tokens::{Cl100k, TokenCounter};
use domain::tool_calls::ExpandDepth;
use serde_json::{Map, Value, json};
use store::ReadTx;
use store::memories::Memory;

/// Tokens of an opened document.
const DOCUMENT_TOKENS: u32 = 6000;
const NOT_SHOWN: &str = "not retrieved in this run";

/// Opens ids in the order given.
pub(super) async fn expand(
    tools: &Toolbox,
    ids: Vec<String>,
    depth: ExpandDepth,
    shown: &Shown,
) -> Result<Output> {
    let (this, shown) = (tools.clone(), shown.clone());
    let opened =
        tools.engine.store().read_as(move |tx| open_all(tx, &this, &ids, depth, &shown)).await?;
    let failed: Vec<Value> =
        opened.iter().filter(|one| one.error).map(|one| one.row.clone()).collect();
    if failed.len() == opened.len() {
        let mut output = Output::error("None of these ids can be opened.");
        output.result.insert("details".to_owned(), Value::Array(failed));
        return Ok(output);
    }
    let rows: Vec<Value> = opened.iter().map(|one| one.row.clone()).collect();
    let mut result = Map::new();
    result.insert("count".to_owned(), json!(rows.len()));
    result.insert("results".to_owned(), Value::Array(rows));
    Ok(Output {
        count: count(opened.len() - failed.len()),
        result,
        memories: opened.into_iter().filter_map(|one| one.memory).map(|m| based_on(&m)).collect(),
        ..Output::default()
    })
}

struct Opened {
    row: Value,
    error: bool,
    memory: Option<Memory>,
}

fn fault(id: &str, why: &str) -> Opened {
    Opened { row: json!({ "memory_id": id, "error": why }), error: true, memory: None }
}

fn open_all(
    tx: &ReadTx<'_>,
    tools: &Toolbox,
    ids: &[String],
    depth: ExpandDepth,
    shown: &Shown,
) -> Result<Vec<Opened>> {
    ids.iter()
        .map(|id| match shown.kind(id) {
            None => Ok(fault(id, NOT_SHOWN)),
            Some(ShownKind::Model) => open_model(tx, tools, id),
            Some(ShownKind::Memory) => open_memory(tx, tools, id, depth),
        })
        .collect()
}

fn open_model(tx: &ReadTx<'_>, tools: &Toolbox, id: &str) -> Result<Opened> {
    let Some(model) = store::models::find(tx, tools.bank(), &id.into())? else {
        return Ok(fault(id, "no longer in the bank"));
    };
    if crate::grounds::rests_on(tx, &model, &tools.prepared.leave_out)? {
        return Ok(fault(id, "no longer in the bank"));
    }
    let content = Cl100k.cut(&model.content, DOCUMENT_TOKENS);
    let row = json!({
        "memory_id": id,
        "mental_model": {
            "id": id,
            "name": model.head.name,
            "content": content,
            "truncated": content.len() < model.content.len(),
        },
    });
    Ok(Opened { row, error: false, memory: None })
}

fn open_memory(tx: &ReadTx<'_>, tools: &Toolbox, id: &str, depth: ExpandDepth) -> Result<Opened> {
    let memory = store::memories::find(tx, tools.bank(), &MemoryId(id.to_owned()))?;
    let Some(memory) = memory.filter(|memory| tools.may_show(memory)) else {
        return Ok(fault(id, "no longer in the bank"));
    };
    let mut row = json!({
        "memory_id": id,
        "memory": {
            "id": id,
            "text": memory.text,
            "type": memory.fact_type,
            "context": memory.context,
        },
    });
    let stored = match memory.chunk {
        Some(key) => store::chunks::by_keys(tx, &[key])?.pop(),
        None => None,
    };
    let mut chunk = None;
    if let Some(stored) = stored
        && !tools.is_private_passage(tx, stored.document, Some(stored.key))?
    {
        chunk = Some(stored);
    }
    if let Some(chunk) = &chunk {
        let document = memory.document_id.as_ref().map(|id| id.as_str()).unwrap_or_default();
        row["chunk"] = json!({
            "id": chunk_key(document, chunk.index),
            "text": chunk.text,
            "index": chunk.index,
            "document_id": memory.document_id,
        });
    }
    // A fact without a passage leads to its document directly.
    if let Some(document) = memory.document
        && (depth == ExpandDepth::Document || chunk.is_none())
    {
        let others = store::memories::of_document(tx, document, None)?;
        if others.iter().all(|other| tools.may_show(other))
            && !tools.is_private_passage(tx, document, None)?
        {
            if let Some(text) = store::documents::text(tx, document)? {
                let of = store::documents::by_key(tx, document)?;
                let at = chunk.as_ref().map_or("", |chunk| chunk.text.as_str());
                let (part, cut) = around(&text, at);
                row["document"] = json!({
                    "id": of.id,
                    "full_text": part,
                    "metadata": of.metadata,
                    "truncated": cut,
                });
            }
        } else {
            row["note"] =
                json!("Only the passage is shown: the document holds text outside this scope.");
        }
    }
    Ok(Opened { row, error: false, memory: Some(memory) })
}

// The part of a document around a passage, within the limit, and whether something was cut.
fn around<'a>(text: &'a str, passage: &str) -> (&'a str, bool) {
    if Cl100k.count(text) <= DOCUMENT_TOKENS {
        return (text, false);
    }
    let at = if passage.is_empty() { 0 } else { text.find(passage).unwrap_or(0) };
    // A third of the room before the passage; a token is about four bytes.
    let room = usize::try_from(DOCUMENT_TOKENS).unwrap_or(0) * 4 / 3;
    let start = text.floor_char_boundary(at.saturating_sub(room));
    (Cl100k.cut(&text[start..], DOCUMENT_TOKENS), true)
}
