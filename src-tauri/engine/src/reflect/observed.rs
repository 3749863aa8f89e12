//! The observations of a search as the language model sees them: each with whether it may be out of
//! date in its own scope, and, where the bank asks for it, the facts behind them. Only reads.

use super::tools::{Toolbox, based_on, row, told};
use crate::Result;
use crate::memory::consolidate::stale_scopes;
use crate::memory::search::{SearchHit, names};
use domain::citations::BasedOnMemory;
use domain::tokens::{Cl100k, TokenCounter};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use store::MemoryKey;
use store::memories::{self, Memory};

/// What a search for observations shows.
pub(super) struct Observed {
    pub(super) rows: Vec<Value>,
    /// The facts behind them, by id.
    pub(super) source_facts: Map<String, Value>,
    /// The same as an answer may rest on them.
    pub(super) facts: Vec<BasedOnMemory>,
}

/// Rows of observations with the facts behind them. A fact that the run may not see is not among
/// them, whatever was folded from it.
pub(super) async fn rows(toolbox: &Toolbox, hits: &[SearchHit]) -> Result<Observed> {
    if hits.is_empty() {
        return Ok(Observed { rows: Vec::new(), source_facts: Map::new(), facts: Vec::new() });
    }
    let limit = toolbox.prepared.settings.reflect_source_facts_max_tokens;
    let ids: Vec<_> = hits.iter().flat_map(|hit| hit.sources.clone()).collect();
    let ids = if limit < 0 { Vec::new() } else { ids };
    let (bank, settings) = (toolbox.bank(), toolbox.prepared.settings.clone());
    let (waiting, facts, mut entities) = toolbox
        .engine
        .store()
        .read(move |tx| {
            let facts = memories::by_ids(tx, bank, &ids)?;
            let keys: Vec<MemoryKey> = facts.iter().map(|fact| fact.key).collect();
            let names = names(tx, keys.into_iter(), &[])?;
            Ok((stale_scopes(tx, bank, &settings)?, facts, names))
        })
        .await?;
    let rows: Vec<Value> = hits
        .iter()
        .map(|hit| {
            let scope: Vec<String> = hit.memory.tags.iter().cloned().collect();
            let mut row = row(hit);
            if hit.memory.needs_review || waiting.contains(&scope) {
                row["is_stale"] = Value::Bool(true);
            }
            row
        })
        .collect();
    let facts: HashMap<&str, &Memory> = facts.iter().map(|fact| (fact.id.as_str(), fact)).collect();
    let mut left = match u32::try_from(limit) {
        Ok(0) | Err(_) => u32::MAX,
        Ok(tokens) => tokens,
    };
    let (mut shown, mut based) = (Map::new(), Vec::new());
    for id in hits.iter().flat_map(|hit| &hit.sources) {
        let Some(fact) = facts.get(id.as_str()).filter(|fact| toolbox.may_show(fact)) else {
            continue;
        };
        if shown.contains_key(id.as_str()) {
            continue;
        }
        // One that does not fit is passed over; a shorter one behind it may still go in.
        let size = Cl100k.count(&fact.text);
        if size <= left {
            left -= size;
            let own = entities.remove(&fact.key).unwrap_or_default();
            shown.insert(id.0.clone(), json!(told(fact, &own)));
            based.push(based_on(fact));
        }
    }
    Ok(Observed { rows, source_facts: shown, facts: based })
}
