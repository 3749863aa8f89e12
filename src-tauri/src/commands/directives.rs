//! Commands about directives: each one call of the engine.

use crate::state::App;
use domain::directives::Directive;
use domain::{BankId, DirectiveId};
use engine::reflect::directives;
use engine::report::Report;
use engine::view::directive::{DirectivePatch, DirectiveScope, DirectivesInScope, NewDirective};
use tauri::State;

/// The rules of a bank in the order in which they are told.
#[tauri::command]
#[specta::specta]
pub async fn list_directives(app: State<'_, App>, bank: BankId) -> Result<Vec<Directive>, Report> {
    Ok(directives::list(&app.engine().await?, &bank).await?)
}

/// Which rules a question of this scope would obey, and which not and why.
#[tauri::command]
#[specta::specta]
pub async fn directives_in_scope(
    app: State<'_, App>,
    bank: BankId,
    scope: DirectiveScope,
) -> Result<DirectivesInScope, Report> {
    Ok(directives::in_scope(&app.engine().await?, &bank, scope).await?)
}

/// Makes a rule.
#[tauri::command]
#[specta::specta]
pub async fn create_directive(
    app: State<'_, App>,
    bank: BankId,
    input: NewDirective,
) -> Result<Directive, Report> {
    Ok(directives::create(&app.engine().await?, &bank, input).await?)
}

/// Changes a rule.
#[tauri::command]
#[specta::specta]
pub async fn update_directive(
    app: State<'_, App>,
    bank: BankId,
    id: DirectiveId,
    patch: DirectivePatch,
) -> Result<Directive, Report> {
    Ok(directives::update(&app.engine().await?, &bank, &id, patch).await?)
}

/// Puts a rule at another place of the order.
#[tauri::command]
#[specta::specta]
pub async fn move_directive(
    app: State<'_, App>,
    bank: BankId,
    id: DirectiveId,
    place: u32,
) -> Result<Vec<Directive>, Report> {
    Ok(directives::put_at(&app.engine().await?, &bank, &id, place).await?)
}

/// Deletes a rule and gives what it was.
#[tauri::command]
#[specta::specta]
pub async fn delete_directive(
    app: State<'_, App>,
    bank: BankId,
    id: DirectiveId,
) -> Result<Directive, Report> {
    Ok(directives::delete(&app.engine().await?, &bank, &id).await?)
}

/// Puts a deleted rule back as it was.
#[tauri::command]
#[specta::specta]
pub async fn restore_directive(
    app: State<'_, App>,
    bank: BankId,
    directive: Directive,
) -> Result<Directive, Report> {
    Ok(directives::restore(&app.engine().await?, &bank, directive).await?)
}
