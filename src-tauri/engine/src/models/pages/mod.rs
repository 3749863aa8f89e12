//! The knowledge base: a tree of folders and pages over the mental models of a bank. A page owns one
//! model; both are made, renamed and removed in one transaction. What a page says, and when it is
//! refreshed, is its model's affair.

mod export;
mod files;
mod find;
mod import;
mod index;
mod tree;
mod write;

use crate::handle::read_bank;
use crate::view::page::{
    BundleFile, ChangedNode, CreatedPage, ImportPages, ImportedPages, NewFolder, NewPage,
    NodePatch, NodePlace, PageHit, PageText, TreeNode,
};
use crate::{Engine, Result};
use domain::{BankId, ModelId, NodeId};
use tokio_util::sync::CancellationToken;

/// All folders and pages of a bank in reading order, with their depth.
///
/// # Errors
/// `bank_not_found`.
pub async fn tree(engine: &Engine, bank: &BankId) -> Result<Vec<TreeNode>> {
    let now = engine.now();
    read_bank(engine, bank, move |tx, key| tree::read(tx, key, now)).await
}

/// Makes a folder, the last of its parent.
///
/// # Errors
/// `invalid_request`, `name_taken`, `bad_parent`.
pub async fn create_folder(engine: &Engine, bank: &BankId, input: NewFolder) -> Result<TreeNode> {
    write::folder(engine, bank, input).await
}

/// Makes a page with its model. Without content a refresh is queued that builds it.
///
/// # Errors
/// `invalid_request` with all faults of the fields, `name_taken`, `bad_parent`,
/// `llm_not_configured`.
pub async fn create_page(engine: &Engine, bank: &BankId, input: NewPage) -> Result<CreatedPage> {
    write::page(engine, bank, input).await
}

/// Gives a model that has none a place in the tree: it becomes a page. Its document, its settings and
/// its history stay as they are.
///
/// # Errors
/// `model_not_found`, `name_taken`, `bad_parent`; `invalid_request` when it is a page already.
pub async fn adopt(
    engine: &Engine,
    bank: &BankId,
    model: &ModelId,
    place: NodePlace,
) -> Result<TreeNode> {
    write::adopt(engine, bank, model, place).await
}

/// Takes a page out of the tree; its model stays, with everything that is its own.
///
/// # Errors
/// `node_not_found`; `invalid_request` for a folder.
pub async fn release(engine: &Engine, bank: &BankId, id: &NodeId) -> Result<()> {
    write::release(engine, bank, id).await
}

/// Renames, moves, reorders a node or changes the settings of a page; what is not stated stays. A new
/// question of a page queues a refresh.
///
/// # Errors
/// `nothing_to_change`, `invalid_request`, `name_taken`, `bad_parent`, `cycle`, `node_not_found`,
/// `llm_not_configured`.
pub async fn update(
    engine: &Engine,
    bank: &BankId,
    id: &NodeId,
    patch: NodePatch,
) -> Result<ChangedNode> {
    write::update(engine, bank, id, patch).await
}

/// Removes a node with everything in it: the models of its pages, their versions and proposals.
///
/// # Errors
/// `node_not_found`.
pub async fn delete(engine: &Engine, bank: &BankId, id: &NodeId) -> Result<()> {
    write::delete(engine, bank, id).await
}

/// A page as text, with the header that a file of it begins with.
///
/// # Errors
/// `node_not_found`.
pub async fn text(engine: &Engine, bank: &BankId, id: &NodeId) -> Result<PageText> {
    let id = id.clone();
    read_bank(engine, bank, move |tx, key| export::page(tx, key, &id)).await
}

/// All pages as files: an index, and for each page its text and its history.
///
/// # Errors
/// `bank_not_found`.
pub async fn bundle(engine: &Engine, bank: &BankId) -> Result<Vec<BundleFile>> {
    read_bank(engine, bank, export::bundle).await
}

/// Writes all pages as files into a folder that exists, each whole or not at all. Files of an earlier
/// bundle are replaced. Gives how many were written.
///
/// # Errors
/// `invalid_request` when there is no such folder, or it holds an index of somebody else or a file
/// that a model is published to, and then nothing is written; `io`, `disk_full`.
pub async fn save_bundle(engine: &Engine, bank: &BankId, folder: &str) -> Result<u32> {
    let files = bundle(engine, bank).await?;
    export::save(engine, folder, files).await
}

/// Writes models, whether or not they are pages, as Markdown files into a folder that exists, each
/// named after its model. A file of an earlier export of the same model is replaced; any other stays,
/// and a number is put behind the name. Gives how many were written.
///
/// # Errors
/// `model_not_found`; `invalid_request` when there is no such folder or it is the program's own, and
/// then nothing is written; `io`, `disk_full`.
pub async fn save_models(
    engine: &Engine,
    bank: &BankId,
    models: &[ModelId],
    folder: &str,
) -> Result<u32> {
    files::save(engine, bank, models, folder).await
}

/// Takes Markdown files in as pages or models, all in one transaction. Each becomes a document as it
/// is, written by an import; no refresh is queued.
///
/// # Errors
/// `invalid_request` without a path, `bad_parent`, `bank_not_found`; a file that cannot be read is
/// told in the answer.
pub async fn import(engine: &Engine, bank: &BankId, input: ImportPages) -> Result<ImportedPages> {
    import::pages(engine, bank, input).await
}

/// Pages that the words name or that mean the same, best first, 50 at most.
///
/// # Errors
/// `invalid_query`, `bank_not_found`.
pub async fn search(
    engine: &Engine,
    bank: &BankId,
    query: &str,
    limit: Option<u32>,
) -> Result<Vec<PageHit>> {
    find::pages(engine, bank, query, limit, &CancellationToken::new()).await
}
