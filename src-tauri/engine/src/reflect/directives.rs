//! The rules of a bank: made, changed, put in order, switched, deleted and put back by its owner.
//! Which of them hold for a question is `domain`'s affair; the loop and the page ask it alike.

use super::input::{reach, scope_of};
use super::prepare::resolved;
use crate::handle::read_bank;
use crate::report::fault;
use crate::view::directive::{DirectivePatch, DirectiveScope, DirectivesInScope, NewDirective};
use crate::view::reflect::ReflectInput;
use crate::{Engine, Error, Result};
use domain::directives::{Directive, in_order, priorities_after_move, select_directives};
use domain::tags::TagSet;
use domain::{BankId, DirectiveId, FieldFault};
use store::directives::{self as rows, DirectiveFields};
use store::{BankKey, ReadTx, WriteTx};

/// The directives of a bank in the order in which they are told, those switched off among them.
///
/// # Errors
/// `bank_not_found`.
pub async fn list(engine: &Engine, bank: &BankId) -> Result<Vec<Directive>> {
    read_bank(engine, bank, |tx, key| Ok(in_order(of_bank(tx, key)?))).await
}

/// Which directives a question of this scope would obey, decided as a run decides it.
///
/// # Errors
/// `bank_not_found`, and what a question with this scope would be refused with.
pub async fn in_scope(
    engine: &Engine,
    bank: &BankId,
    input: DirectiveScope,
) -> Result<DirectivesInScope> {
    let reach = reach(input.apply_all_directives);
    let scope = scope_of(&ReflectInput {
        tags: input.tags,
        tags_match: input.tags_match,
        tag_groups: input.tag_groups,
        ..ReflectInput::default()
    })?;
    let bank = bank.clone();
    let read = move |tx: &ReadTx<'_>| {
        let key = store::banks::key(tx, &bank)?;
        let scope = resolved(tx, key, &scope)?;
        let selection = select_directives(of_bank(tx, key)?, &scope, reach);
        Ok(DirectivesInScope { in_force: selection.refs(), held_back: selection.held_back })
    };
    engine.store().read_as(read).await
}

/// Makes a directive.
///
/// # Errors
/// `bank_not_found`; `invalid_request` on a blank rule or tag.
pub async fn create(engine: &Engine, bank: &BankId, input: NewDirective) -> Result<Directive> {
    let fields = checked(DirectiveFields {
        name: input.name,
        content: input.content,
        priority: input.priority.unwrap_or(0),
        is_active: input.is_active.unwrap_or(true),
        tags: input.tags.into_iter().collect(),
    })?;
    let (id, now) = (DirectiveId(engine.new_id()), engine.now());
    write(engine, bank, "create_directive", move |tx, key| {
        rows::insert(tx, key, &id, &fields, now)?;
        one(tx, key, &id)
    })
    .await
}

/// Changes what is stated of a directive.
///
/// # Errors
/// `bank_not_found`, `directive_not_found`, `nothing_to_change`; `invalid_request` on a blank rule
/// or tag.
pub async fn update(
    engine: &Engine,
    bank: &BankId,
    id: &DirectiveId,
    patch: DirectivePatch,
) -> Result<Directive> {
    if patch == DirectivePatch::default() {
        return Err(fault("nothing_to_change").into());
    }
    let (id, now) = (id.clone(), engine.now());
    write(engine, bank, "update_directive", move |tx, key| {
        let fields = rows::get(tx, key, &id)?.fields;
        let fields = checked(DirectiveFields {
            name: patch.name.unwrap_or(fields.name),
            content: patch.content.unwrap_or(fields.content),
            priority: patch.priority.unwrap_or(fields.priority),
            is_active: patch.is_active.unwrap_or(fields.is_active),
            tags: patch.tags.map_or(fields.tags, |tags| tags.into_iter().collect()),
        })?;
        rows::update(tx, key, &id, &fields, now)?;
        one(tx, key, &id)
    })
    .await
}

/// Puts a directive at a place of the order (0 is the first) by changing priorities, as few as
/// possible, and gives the whole list.
///
/// # Errors
/// `bank_not_found`, `directive_not_found`.
pub async fn put_at(
    engine: &Engine,
    bank: &BankId,
    id: &DirectiveId,
    place: u32,
) -> Result<Vec<Directive>> {
    let (id, now) = (id.clone(), engine.now());
    write(engine, bank, "move_directive", move |tx, key| {
        rows::get(tx, key, &id)?;
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        for (id, priority) in priorities_after_move(&of_bank(tx, key)?, &id, place) {
            let fields = rows::get(tx, key, &id)?.fields;
            rows::update(tx, key, &id, &DirectiveFields { priority, ..fields }, now)?;
        }
        Ok(in_order(of_bank(tx, key)?))
    })
    .await
}

/// Deletes a directive and gives what it was, for [`restore`].
///
/// # Errors
/// `bank_not_found`, `directive_not_found`.
pub async fn delete(engine: &Engine, bank: &BankId, id: &DirectiveId) -> Result<Directive> {
    let id = id.clone();
    write(engine, bank, "delete_directive", move |tx, key| {
        let directive = one(tx, key, &id)?;
        rows::delete(tx, key, &id)?;
        Ok(directive)
    })
    .await
}

/// Puts a deleted directive back as it was: same id, same age, hence the same place.
///
/// # Errors
/// `bank_not_found`, `id_taken` when it is there; `invalid_request` on a blank rule or tag.
pub async fn restore(engine: &Engine, bank: &BankId, directive: Directive) -> Result<Directive> {
    let fields = checked(DirectiveFields {
        name: directive.name,
        content: directive.content,
        priority: directive.priority,
        is_active: directive.is_active,
        tags: directive.tags.into_iter().collect(),
    })?;
    let row = rows::Directive {
        id: directive.id,
        fields,
        created_at: directive.created_at,
        updated_at: directive.updated_at,
    };
    write(engine, bank, "restore_directive", move |tx, key| {
        rows::restore(tx, key, &row)?;
        one(tx, key, &row.id)
    })
    .await
}

/// Every directive of a bank, in no order that counts.
pub(super) fn of_bank(tx: &ReadTx<'_>, bank: BankKey) -> store::Result<Vec<Directive>> {
    Ok(rows::list(tx, bank)?.into_iter().map(view).collect())
}

fn one(tx: &ReadTx<'_>, bank: BankKey, id: &DirectiveId) -> Result<Directive> {
    Ok(view(rows::get(tx, bank, id)?))
}

fn view(row: rows::Directive) -> Directive {
    Directive {
        id: row.id,
        name: row.fields.name,
        content: row.fields.content,
        priority: row.fields.priority,
        is_active: row.fields.is_active,
        tags: row.fields.tags.into_iter().collect(),
        created_at: row.created_at,
        updated_at: row.updated_at,
    }
}

// Trimmed, tags in their one form; every fault is told, not only the first.
fn checked(fields: DirectiveFields) -> Result<DirectiveFields> {
    let mut faults = Vec::new();
    let content = fields.content.replace('\0', "").trim().to_owned();
    if content.is_empty() {
        faults.push(FieldFault::blank("content"));
    }
    if fields.tags.iter().any(|tag| tag.trim().is_empty()) {
        faults.push(FieldFault::blank("tags"));
    }
    if !faults.is_empty() {
        return Err(refused(faults));
    }
    Ok(DirectiveFields {
        name: fields.name.replace('\0', "").trim().to_owned(),
        content,
        tags: TagSet::new(fields.tags).iter().map(str::to_owned).collect(),
        ..fields
    })
}

fn refused(faults: Vec<FieldFault>) -> Error {
    fault("invalid_request").fields(faults).into()
}

async fn write<T, F>(engine: &Engine, bank: &BankId, label: &'static str, work: F) -> Result<T>
where
    F: FnOnce(&WriteTx<'_>, BankKey) -> Result<T> + Send + 'static,
    T: Send + 'static,
{
    let bank = bank.clone();
    engine
        .store()
        .write_as(label, move |tx| {
            let key = store::banks::key(tx, &bank)?;
            work(tx, key)
        })
        .await
}
