//! Reading what the bank knows: pages of memories, one with all that hangs on it, documents.

use super::rows;
use crate::handle::read_bank;
use crate::report::fault;
use crate::view::Page;
use crate::view::memory::{
    DocumentRow, KindCounts, MemoryDetail, MemoryFilter, MemoryPage, MemoryState, ModelRef, TagRow,
};
use crate::{Engine, Result};
use domain::entities::canon_key;
use domain::tags::{TagSet, TagsMatch};
use domain::{BankId, FactType, MemoryId};
use store::memories::{self, Filter, ListCursor, Sort, State};
use store::{BankKey, MemoryKey, ReadTx};

/// Rows of one page.
const PAGE: u32 = 100;

/// Documents that a list shows.
const DOCUMENTS: u32 = 500;

/// One page of memories, the newest first.
///
/// # Errors
/// `bank_not_found`; `invalid_id` for a place to read on that was not given out.
pub(super) async fn list(
    engine: &Engine,
    bank: &BankId,
    filter: MemoryFilter,
    after: Option<String>,
) -> Result<MemoryPage> {
    let after = after.map(|text| cursor(&text)).transpose()?;
    read_bank(engine, bank, move |tx, key| {
        let counts = counts(tx, key)?;
        let Some(filter) = stored_filter(tx, key, filter)? else {
            let page = Page { items: Vec::new(), total: 0, next: None };
            return Ok(MemoryPage { page, counts });
        };
        let found = memories::list(tx, key, &filter, Sort::CreatedAt, after, PAGE)?;
        let page = Page {
            items: rows::rows_of(tx, &found.items)?,
            total: memories::count(tx, key, &filter)?,
            next: found.next.map(written),
        };
        Ok(MemoryPage { page, counts })
    })
    .await
}

/// Counts of valid memories by kind, as the writer keeps them.
pub(crate) fn counts(tx: &ReadTx<'_>, bank: BankKey) -> store::Result<KindCounts> {
    let counters = store::banks::counters(tx, bank)?;
    let of = |what: &str| counters.get(what).and_then(|n| u32::try_from(*n).ok()).unwrap_or(0);
    Ok(KindCounts {
        world: of("world"),
        experience: of("experience"),
        observation: of("observation"),
    })
}

/// The filter in the file's terms; none when nothing can match.
fn stored_filter(
    tx: &ReadTx<'_>,
    bank: BankKey,
    filter: MemoryFilter,
) -> store::Result<Option<Filter>> {
    let tags = TagSet::new(&filter.tags);
    let tag_sets = if tags.is_empty() {
        store::tag_sets::TagSets::All
    } else {
        store::tag_sets::matching(tx, bank, |own| {
            domain::tags::flat_keeps(TagsMatch::AllStrict, &tags, &TagSet::new(own))
        })?
    };
    let entity = match &filter.entity {
        Some(name) => match store::entities::find(tx, bank, &canon_key(name))? {
            Some(entity) => Some(entity.key),
            None => return Ok(None),
        },
        None => None,
    };
    let types = filter.fact_types.unwrap_or_default();
    Ok(Some(Filter {
        types,
        state: Some(match filter.state {
            None | Some(MemoryState::Valid) => State::Valid,
            Some(MemoryState::Invalidated) => State::Invalidated,
        }),
        text: filter.words.filter(|words| !words.trim().is_empty()),
        tag_sets,
        document: filter.document,
        entity,
        consolidation: None,
        from: filter.after,
        // The list's own bound is inclusive.
        to: filter.before.map(|at| at - chrono::Duration::milliseconds(1)),
    }))
}

fn written(cursor: ListCursor) -> String {
    let value = cursor.value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    format!("{value}.{}", cursor.key.0)
}

fn cursor(text: &str) -> Result<ListCursor> {
    let read = || {
        let (value, key) = text.rsplit_once('.')?;
        let value = if value == "-" { None } else { Some(value.parse().ok()?) };
        Some(ListCursor { value, key: MemoryKey(key.parse().ok()?) })
    };
    read().ok_or_else(|| fault("invalid_id").with("id", text).into())
}

/// One memory with its passage, what was folded from it, and the models that cite it.
///
/// # Errors
/// `bank_not_found`, `memory_not_found`.
pub(super) async fn get(engine: &Engine, bank: &BankId, id: &MemoryId) -> Result<MemoryDetail> {
    let id = id.clone();
    read_bank(engine, bank, move |tx, key| {
        let memory = memories::get(tx, key, &id)?;
        let own = [memory.key];
        let observations = memories::observations_of(tx, &own)?;
        let sources = memories::sources(tx, &own)?;
        let citing = store::models::provenance::citing(tx, key, &memory.id)?;
        let cited_by = citing
            .into_iter()
            .map(|model| {
                let head = store::models::by_key(tx, model)?.head;
                Ok(ModelRef { id: head.id, name: head.name })
            })
            .collect::<store::Result<_>>()?;
        Ok(MemoryDetail {
            chunk: rows::passage(tx, &memory)?,
            observations: rows::rows_of_keys(tx, observations.into_iter().map(|(_, o)| o))?,
            sources: rows::rows_of_keys(tx, sources.into_iter().map(|(_, fact)| fact))?,
            cited_by,
            metadata: memory.metadata.clone(),
            folding: match memory.fact_type {
                FactType::Observation => Some(super::consolidate::folding(tx, key, &memory)?),
                FactType::World | FactType::Experience => None,
            },
            consolidation_error: memory.consolidation_error.clone(),
            invalidation_reason: memory
                .invalidation_reason
                .clone()
                .filter(|reason| !reason.is_empty()),
            memory: rows::rows_of(tx, std::slice::from_ref(&memory))?
                .pop()
                .unwrap_or_else(|| rows::row_of(&memory, Vec::new())),
        })
    })
    .await
}

/// The tags of a bank's valid memories, the most used first.
///
/// # Errors
/// `bank_not_found`.
pub(super) async fn tags(engine: &Engine, bank: &BankId) -> Result<Vec<TagRow>> {
    read_bank(engine, bank, |tx, key| {
        let counts = store::tag_sets::tag_counts(tx, key)?;
        Ok(counts.into_iter().map(|(name, memories)| TagRow { name, memories }).collect())
    })
    .await
}

/// The documents of a bank, the last changed first.
///
/// # Errors
/// `bank_not_found`.
pub(super) async fn documents(engine: &Engine, bank: &BankId) -> Result<Vec<DocumentRow>> {
    read_bank(engine, bank, move |tx, key| {
        let (rows, _) = store::documents::list(tx, key, None, None, DOCUMENTS)?;
        Ok(rows
            .into_iter()
            .map(|row| DocumentRow {
                title: row.document.title.unwrap_or_else(|| row.document.id.0.clone()),
                id: row.document.id,
                facts: row.facts,
                tags: row.document.tags.into_iter().collect(),
                updated_at: row.document.updated_at,
            })
            .collect())
    })
    .await
}
