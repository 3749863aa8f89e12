//! Finding pages by words and by meaning, the two lists joined by reciprocal rank. Folders have no
//! text and are never found.

use crate::handle::read_bank;
use crate::report::fault;
use crate::view::page::PageHit;
use crate::{Engine, Result};
use domain::excerpt::around;
use domain::fusion::{RRF_K, Way, rrf};
use domain::tokens::Cl100k;
use domain::{BankId, text};
use std::collections::HashMap;
use store::kb::{self, Node};
use store::search::models as search;
use store::{ModelKey, ReadTx};
use tokio_util::sync::CancellationToken;

/// Hits when no number is asked for, and at most.
const HITS: u32 = 10;
const MOST: u32 = 50;
/// Models that each way looks at, pages or not.
const LOOKED_AT: usize = 4096;
/// Tokens of a snippet.
const SNIPPET: u32 = 60;

pub(super) async fn pages(
    engine: &Engine,
    bank: &BankId,
    query: &str,
    limit: Option<u32>,
    cancel: &CancellationToken,
) -> Result<Vec<PageHit>> {
    let query = query.trim().to_owned();
    if !query.chars().any(char::is_alphanumeric) {
        return Err(fault("invalid_query").into());
    }
    let limit = usize::try_from(limit.unwrap_or(HITS).clamp(1, MOST)).unwrap_or(1);
    // Words still find pages while the embedder cannot be reached.
    let vector = match engine.embedder().embed_one(&query, embed::Kind::Query, cancel).await {
        Ok(vector) => Some(vector),
        Err(embed::Error::Cancelled) => return Err(fault("cancelled").into()),
        Err(error) => {
            tracing::info!(%error, "pages are searched by words alone");
            None
        }
    };
    let floor = f64::from(engine.embedder().thresholds().semantic_floor);
    let embedder = engine.inner.embedder_key;
    read_bank(engine, bank, move |tx, key| {
        let nodes = kb::list(tx, key)?;
        let pages: HashMap<ModelKey, &Node> =
            nodes.iter().filter_map(|node| Some((node.model?, node))).collect();
        let is_page = |(model, _): &(ModelKey, f64)| pages.contains_key(model);
        let keys = |list: Vec<(ModelKey, f64)>| -> Vec<ModelKey> {
            list.into_iter().filter(is_page).map(|(model, _)| model).collect()
        };
        let near = match &vector {
            Some(vector) => {
                let embedder = store::embedders::get(tx, embedder)?;
                search::by_meaning(tx, key, &embedder, vector, LOOKED_AT)?
            }
            None => Vec::new(),
        };
        let near = near.into_iter().filter(|(_, cosine)| *cosine >= floor).collect();
        let named = search::by_words(tx, key, &query, LOOKED_AT)?;
        let fused = rrf(RRF_K, &[(Way::Semantic, keys(near)), (Way::Keyword, keys(named))]);
        let hits = fused.into_iter().take(limit).filter_map(|found| {
            let node = pages.get(&found.id)?;
            Some(hit(tx, node, found.id, found.score, &query))
        });
        hits.collect()
    })
    .await
}

fn hit(
    tx: &ReadTx<'_>,
    node: &Node,
    model: ModelKey,
    score: domain::Score,
    query: &str,
) -> store::Result<PageHit> {
    let model = store::models::by_key(tx, model)?;
    let place = first_word(&model.content, query);
    let snippet = around(&model.content, place, SNIPPET, &Cl100k).text;
    Ok(PageHit {
        id: node.id.clone(),
        name: node.name.clone(),
        mental_model_id: model.head.id,
        source_query: model.head.source_query,
        snippet: text::collapse_blanks(snippet),
        score,
        updated_at: model.head.last_refreshed_at,
    })
}

/// Where the first word of the query stands in a text; its beginning if none does.
fn first_word(content: &str, query: &str) -> std::ops::Range<usize> {
    let lower = content.to_lowercase();
    // Lower-casing may change lengths; then places do not match and the beginning is shown.
    if lower.len() != content.len() {
        return 0..0;
    }
    let words = query.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 2);
    let places = words.filter_map(|word| {
        let word = word.to_lowercase();
        lower.find(&word).map(|at| at..at + word.len())
    });
    places.min_by_key(|place| place.start).unwrap_or(0..0)
}
