//! A person's hand on single facts: add, edit, take out of use, bring back, delete. Observations
//! follow their facts and are not corrected by themselves.

use super::consolidate::after_write;
use super::keep::{self, Fact};
use super::rows;
use crate::handle::{read_bank, write_bank};
use crate::report::fault;
use crate::view::memory::{EditFact, MemoryRow, NewFact};
use crate::{Engine, Result, ops};
use domain::tags::TagSet;
use domain::{BankId, FactType, FieldFault, MemoryId};
use std::collections::BTreeSet;
use store::memories::{self, Edit, Memory, Origin};
use store::tombstones::Cause;
use tokio_util::sync::CancellationToken;

/// Stores one fact; names are taken literally.
///
/// # Errors
/// `bank_not_found`, `invalid_request` on an empty text, `window_reversed`.
pub(super) async fn add(engine: &Engine, bank: &BankId, fact: NewFact) -> Result<MemoryRow> {
    let id = MemoryId(engine.new_id());
    let fact = given(engine, id.clone(), fact, Origin::Manual)?;
    let prepared = keep::prepare(engine, bank, vec![fact], &CancellationToken::new()).await?;
    let (now, writer) = (engine.now(), engine.clone());
    write_bank(engine, bank, "add_memory", move |tx, key| {
        keep::write(tx, &writer, key, &prepared, now)?;
        let row = one_row(tx, key, &id)?;
        after_write(tx, &writer, key, &tag_names(&row.tags), now)?;
        Ok(row)
    })
    .await
    .inspect(|_| crate::ops::wake(engine))
}

/// A fact as a caller gave it, checked and made ready.
pub(crate) fn given(engine: &Engine, id: MemoryId, fact: NewFact, origin: Origin) -> Result<Fact> {
    let text = fact.text.trim().to_owned();
    if !keep::says_something(&text) {
        return Err(fault("invalid_request").fields(vec![FieldFault::blank("text")]).into());
    }
    let fact_type = match fact.fact_type {
        Some(FactType::Observation) => {
            return Err(fault("unknown_fact_type").with("value", "observation").into());
        }
        Some(kind) => kind,
        None => FactType::World,
    };
    let end = fact.occurred_end.or(fact.occurred_start);
    if let (Some(start), Some(end)) = (fact.occurred_start, end)
        && end < start
    {
        return Err(fault("window_reversed").into());
    }
    Ok(Fact {
        fact_type,
        context: fact.context.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()),
        metadata: fact.metadata,
        tags: tag_names(&fact.tags),
        occurred_start: fact.occurred_start,
        occurred_end: end,
        mentioned_at: Some(fact.mentioned_at.unwrap_or_else(|| engine.now())),
        entities: fact.entities,
        ..Fact::new(id, text, origin)
    })
}

/// Tags in the form in which they are stored.
pub(crate) fn tag_names(tags: &[String]) -> BTreeSet<String> {
    TagSet::new(tags).to_vec().into_iter().collect()
}

/// Changes a fact; its former state is kept.
///
/// # Errors
/// `memory_not_found`, `not_curatable`, `memory_invalidated`, `invalid_request`.
pub(super) async fn edit(
    engine: &Engine,
    bank: &BankId,
    id: &MemoryId,
    edit: EditFact,
) -> Result<MemoryRow> {
    let text = edit.text.as_ref().map(|text| text.trim().to_owned());
    if text.as_ref().is_some_and(|text| !keep::says_something(text)) {
        return Err(fault("invalid_request").fields(vec![FieldFault::blank("text")]).into());
    }
    let old = look_up(engine, bank, id).await?;
    let start = edit.occurred_start.or(old.memory.occurred_start);
    let end = match (edit.occurred_end, edit.occurred_start) {
        (Some(end), _) => Some(end),
        // A new beginning moves the end of a point event with it.
        (None, Some(start)) if old.memory.occurred_end == old.memory.occurred_start => Some(start),
        (None, _) => old.memory.occurred_end,
    };
    if let (Some(start), Some(end)) = (start, end)
        && end < start
    {
        return Err(fault("window_reversed").into());
    }
    let shown = text.as_deref().unwrap_or(&old.memory.text);
    let vector = vector_of(engine, &old, &keep::embedded(shown, start, end, &old.entities)).await?;
    let change = Edit {
        text: text.filter(|text| *text != old.memory.text),
        occurred_start: edit.occurred_start.map(Some),
        occurred_end: (end != old.memory.occurred_end).then_some(end),
        tags: edit.tags.as_deref().map(tag_names),
        vector,
        ..Edit::default()
    };
    let (now, id, writer) = (engine.now(), id.clone(), engine.clone());
    let mut tags = old.memory.tags;
    // A fact that left a model's scope is gone for that model.
    let moves = change.tags.is_some();
    let (before, row) = write_bank(engine, bank, "edit_memory", move |tx, key| {
        let before = store::banks::by_key(tx, key)?.write_seq;
        memories::edit(tx, key, &id, &change, now)?;
        let row = one_row(tx, key, &id)?;
        tags.extend(tag_names(&row.tags));
        after_write(tx, &writer, key, &tags, now)?;
        Ok((before, row))
    })
    .await?;
    ops::wake(engine);
    if moves {
        ops::after_deletion(engine, bank, before).await;
    }
    Ok(row)
}

/// Takes a fact out of use, with a reason; a second time changes the reason.
///
/// # Errors
/// `memory_not_found`, `not_curatable`.
pub(super) async fn invalidate(
    engine: &Engine,
    bank: &BankId,
    id: &MemoryId,
    reason: Option<String>,
) -> Result<MemoryRow> {
    let (now, id, writer) = (engine.now(), id.clone(), engine.clone());
    let reason = reason.map(|text| text.trim().to_owned()).unwrap_or_default();
    let (before, row) = write_bank(engine, bank, "invalidate_memory", move |tx, key| {
        let before = store::banks::by_key(tx, key)?.write_seq;
        memories::invalidate(tx, key, &id, &reason, now)?;
        let row = one_row(tx, key, &id)?;
        after_write(tx, &writer, key, &tag_names(&row.tags), now)?;
        Ok((before, row))
    })
    .await?;
    ops::wake(engine);
    ops::after_deletion(engine, bank, before).await;
    Ok(row)
}

/// Brings a fact back into use, with its entities and its vector.
///
/// # Errors
/// `memory_not_found`, `not_curatable`.
pub(super) async fn restore(engine: &Engine, bank: &BankId, id: &MemoryId) -> Result<MemoryRow> {
    let old = look_up(engine, bank, id).await?;
    let memory = &old.memory;
    let text =
        keep::embedded(&memory.text, memory.occurred_start, memory.occurred_end, &old.entities);
    let vector = vector_of(engine, &old, &text).await?;
    let (now, id, writer) = (engine.now(), id.clone(), engine.clone());
    write_bank(engine, bank, "restore_memory", move |tx, key| {
        memories::restore(tx, key, &id, vector.as_deref(), now)?;
        let back = std::slice::from_ref(&id);
        ops::after_retraction(tx, key, back, now)?;
        let row = one_row(tx, key, &id)?;
        after_write(tx, &writer, key, &tag_names(&row.tags), now)?;
        Ok(row)
    })
    .await
    .inspect(|_| crate::ops::wake(engine))
}

/// Deletes a memory for good. An observation goes with its history; its facts are folded anew.
///
/// # Errors
/// `memory_not_found`.
pub(super) async fn delete(engine: &Engine, bank: &BankId, id: &MemoryId) -> Result<()> {
    let (now, id, writer) = (engine.now(), id.clone(), engine.clone());
    let before = write_bank(engine, bank, "delete_memory", move |tx, key| {
        let before = store::banks::by_key(tx, key)?.write_seq;
        let memory = memories::get(tx, key, &id)?;
        memories::remove(tx, key, &[memory.key], Cause::Deleted, None, now)?;
        after_write(tx, &writer, key, &memory.tags, now)?;
        Ok(before)
    })
    .await?;
    ops::wake(engine);
    ops::after_deletion(engine, bank, before).await;
    Ok(())
}

/// A memory with what its vector is made of.
struct Known {
    memory: Memory,
    entities: Vec<String>,
    embeds: bool,
    /// Whether its words must not go to the embedder.
    stays_here: bool,
}

async fn look_up(engine: &Engine, bank: &BankId, id: &MemoryId) -> Result<Known> {
    let (id, reader) = (id.clone(), engine.clone());
    read_bank(engine, bank, move |tx, key| {
        let memory = memories::get(tx, key, &id)?;
        let names = store::entities::of_memories(tx, &[memory.key])?;
        let entities = names.into_values().flatten().map(|(_, name)| name).collect();
        let bank = store::banks::by_key(tx, key)?;
        let embeds = keep::embeds(&reader, &bank);
        let private = crate::settings::of_bank(tx, &bank)?.local_only();
        let stays_here =
            !reader.embedder().is_local() && TagSet::new(&memory.tags).overlaps(&private);
        Ok(Known { memory, entities, embeds, stays_here })
    })
    .await
}

async fn vector_of(engine: &Engine, known: &Known, text: &str) -> Result<Option<Vec<f32>>> {
    if !known.embeds || known.stays_here {
        return Ok(None);
    }
    let texts = [text.to_owned()];
    Ok(engine.embed_passages(&texts, &CancellationToken::new()).await?.pop())
}

fn one_row(
    tx: &store::ReadTx<'_>,
    bank: store::BankKey,
    id: &MemoryId,
) -> store::Result<MemoryRow> {
    let memory = memories::get(tx, bank, id)?;
    let mut rows = rows::rows_of(tx, std::slice::from_ref(&memory))?;
    Ok(rows.pop().unwrap_or_else(|| rows::row_of(&memory, Vec::new())))
}
