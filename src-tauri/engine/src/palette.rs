//! Finds things by a few words for the command palette: models and memories of the open bank, and
//! banks by name. Full text only, so that every key stroke can be answered at once.

use crate::handle::read_bank;
use crate::view::app::{PaletteHit, PaletteKind};
use crate::{Engine, Result};
use domain::BankId;
use store::search::models as model_search;

/// Hits of each kind.
const EACH: usize = 6;

/// Models, memories and banks that the words name, best first within each kind.
///
/// # Errors
/// `bank_not_found`.
pub async fn search(engine: &Engine, bank: &BankId, words: &str) -> Result<Vec<PaletteHit>> {
    let words = words.trim().to_owned();
    if words.is_empty() {
        return Ok(Vec::new());
    }
    read_bank(engine, bank, move |tx, key| {
        let mut hits = Vec::new();
        for (model, _) in model_search::by_words(tx, key, &words, EACH)? {
            let head = store::models::by_key(tx, model)?.head;
            hits.push(PaletteHit {
                kind: PaletteKind::Model,
                id: head.id.0,
                title: head.name,
                place: head.source_query,
            });
        }
        let filter = store::memories::Filter {
            text: Some(words.clone()),
            ..store::memories::Filter::default()
        };
        let sort = store::memories::Sort::default();
        let limit = u32::try_from(EACH).unwrap_or(u32::MAX);
        for row in store::memories::list(tx, key, &filter, sort, None, limit)?.items {
            hits.push(PaletteHit {
                kind: PaletteKind::Memory,
                id: row.id.0,
                title: first_words(&row.text),
                place: row.context.unwrap_or_default(),
            });
        }
        let wanted = words.to_lowercase();
        for bank in store::banks::list(tx)? {
            if bank.name.to_lowercase().contains(&wanted) {
                hits.push(PaletteHit {
                    kind: PaletteKind::Bank,
                    id: bank.id.0,
                    title: bank.name,
                    place: String::new(),
                });
            }
        }
        Ok(hits)
    })
    .await
}

/// The first line of a text, at most 120 characters.
fn first_words(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(120).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}
