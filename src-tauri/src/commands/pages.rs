//! Commands about the knowledge base: each one call of the engine.

use crate::state::App;
use domain::{BankId, ModelId, NodeId};
use engine::models::pages;
use engine::report::Report;
use engine::view::page::{
    BundleFile, ChangedNode, CreatedPage, ImportPages, ImportedPages, NewFolder, NewPage,
    NodePatch, NodePlace, PageHit, PageText, TreeNode,
};
use tauri::State;

/// All folders and pages in reading order.
#[tauri::command]
#[specta::specta]
pub async fn page_tree(app: State<'_, App>, bank: BankId) -> Result<Vec<TreeNode>, Report> {
    Ok(pages::tree(&app.engine().await?, &bank).await?)
}

/// Makes a folder.
#[tauri::command]
#[specta::specta]
pub async fn create_folder(
    app: State<'_, App>,
    bank: BankId,
    input: NewFolder,
) -> Result<TreeNode, Report> {
    Ok(pages::create_folder(&app.engine().await?, &bank, input).await?)
}

/// Makes a page with its model.
#[tauri::command]
#[specta::specta]
pub async fn create_page(
    app: State<'_, App>,
    bank: BankId,
    input: NewPage,
) -> Result<CreatedPage, Report> {
    Ok(pages::create_page(&app.engine().await?, &bank, input).await?)
}

/// Makes a page of a model that has no place in the tree.
#[tauri::command]
#[specta::specta]
pub async fn adopt_model(
    app: State<'_, App>,
    bank: BankId,
    model: ModelId,
    place: NodePlace,
) -> Result<TreeNode, Report> {
    Ok(pages::adopt(&app.engine().await?, &bank, &model, place).await?)
}

/// Takes a page out of the tree and keeps its model.
#[tauri::command]
#[specta::specta]
pub async fn release_page(app: State<'_, App>, bank: BankId, id: NodeId) -> Result<(), Report> {
    Ok(pages::release(&app.engine().await?, &bank, &id).await?)
}

/// Renames, moves or changes a folder or page.
#[tauri::command]
#[specta::specta]
pub async fn update_node(
    app: State<'_, App>,
    bank: BankId,
    id: NodeId,
    patch: NodePatch,
) -> Result<ChangedNode, Report> {
    Ok(pages::update(&app.engine().await?, &bank, &id, patch).await?)
}

/// Deletes a folder or page with everything in it.
#[tauri::command]
#[specta::specta]
pub async fn delete_node(app: State<'_, App>, bank: BankId, id: NodeId) -> Result<(), Report> {
    Ok(pages::delete(&app.engine().await?, &bank, &id).await?)
}

/// A page as text with its header.
#[tauri::command]
#[specta::specta]
pub async fn page_text(app: State<'_, App>, bank: BankId, id: NodeId) -> Result<PageText, Report> {
    Ok(pages::text(&app.engine().await?, &bank, &id).await?)
}

/// All pages as files.
#[tauri::command]
#[specta::specta]
pub async fn page_bundle(app: State<'_, App>, bank: BankId) -> Result<Vec<BundleFile>, Report> {
    Ok(pages::bundle(&app.engine().await?, &bank).await?)
}

/// Writes all pages as files into a folder; gives how many.
#[tauri::command]
#[specta::specta]
pub async fn save_page_bundle(
    app: State<'_, App>,
    bank: BankId,
    folder: String,
) -> Result<u32, Report> {
    Ok(pages::save_bundle(&app.engine().await?, &bank, &folder).await?)
}

/// Writes models as Markdown files into a folder; gives how many.
#[tauri::command]
#[specta::specta]
pub async fn save_models(
    app: State<'_, App>,
    bank: BankId,
    models: Vec<ModelId>,
    folder: String,
) -> Result<u32, Report> {
    Ok(pages::save_models(&app.engine().await?, &bank, &models, &folder).await?)
}

/// Takes Markdown files in as pages or models.
#[tauri::command]
#[specta::specta]
pub async fn import_pages(
    app: State<'_, App>,
    bank: BankId,
    input: ImportPages,
) -> Result<ImportedPages, Report> {
    Ok(pages::import(&app.engine().await?, &bank, input).await?)
}

/// Pages by words and by meaning, best first.
#[tauri::command]
#[specta::specta]
pub async fn search_pages(
    app: State<'_, App>,
    bank: BankId,
    query: String,
    limit: Option<u32>,
) -> Result<Vec<PageHit>, Report> {
    Ok(pages::search(&app.engine().await?, &bank, &query, limit).await?)
}
