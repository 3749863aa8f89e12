//! The knowledge base as screens show it: a tree of folders and pages, hits of a search, texts of an
//! export.

use super::model::{ModelState, OpenProposal, ReviewMode};
use domain::trigger::Trigger;
use domain::{Instant, Json, ModelId, NodeId, OperationId, Score};
use serde::{Deserialize, Serialize};

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// It holds other nodes.
    Folder,
    /// It owns a model.
    Page,
}

/// A folder or page. A tree is a list of them in reading order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct TreeNode {
    /// Its id.
    pub id: NodeId,
    /// What it is.
    pub kind: NodeKind,
    /// Its name, unique in its folder whatever the case.
    pub name: String,
    /// The folder it lies in; none at the root.
    pub parent_id: Option<NodeId>,
    /// How deep it lies; 0 at the root.
    pub depth: u32,
    /// Its place among its siblings, ascending.
    pub sort_order: u32,
    /// Whether something else than a person keeps it.
    pub managed: bool,
    /// When a page was last refreshed; when a folder last changed.
    pub timestamp: Option<Instant>,
    /// What a page adds; none for a folder.
    pub page: Option<PageFields>,
}

/// What a page adds to its node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct PageFields {
    /// Its model.
    pub mental_model_id: ModelId,
    /// The question it answers.
    pub description: String,
    /// Tags of its model, in the order given.
    pub tags: Vec<String>,
    /// Settings in force.
    pub trigger: Trigger,
    /// Whether newer memories lie in its scope, or it was never refreshed.
    pub is_stale: bool,
    /// Reasons to refresh, as in a list of models.
    pub refresh_reasons: Vec<String>,
    /// Where it stands.
    pub state: ModelState,
    /// Who decides what a refresh changes.
    pub review: ReviewMode,
    /// What waits for a decision.
    pub open_proposal: Option<OpenProposal>,
    /// Number of the published version; 0 before the first.
    pub version: u32,
    /// Whether nothing has been published yet.
    pub placeholder: bool,
}

/// A folder to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct NewFolder {
    /// Its name.
    pub name: String,
    /// The folder to put it into; the root when absent.
    #[serde(default)]
    pub parent_id: Option<NodeId>,
}

/// A page to be made, with its model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct NewPage {
    /// Its name.
    pub name: String,
    /// The question it answers.
    pub source_query: String,
    /// The folder to put it into; the root when absent.
    #[serde(default)]
    pub parent_id: Option<NodeId>,
    /// Tags of its model; they are its scope too.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Budget of the document in tokens, 256 to 8192; 4096 when absent.
    #[serde(default)]
    pub max_tokens: Option<u32>,
    /// Stated settings, by key; the defaults of a page lie under them.
    #[serde(default)]
    pub trigger: Option<Json>,
    /// Who decides; when absent what the bank presumes, else `auto`.
    #[serde(default)]
    pub review: Option<ReviewMode>,
    /// A document to begin with; then no refresh is queued.
    #[serde(default)]
    pub content: Option<String>,
}

/// What came of making a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct CreatedPage {
    /// The page.
    pub page_id: NodeId,
    /// Its model.
    pub mental_model_id: ModelId,
    /// The refresh that builds it; none when content was given.
    pub operation: Option<OperationId>,
}

/// Where a node shall lie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct NodePlace {
    /// The folder; none for the root.
    pub parent_id: Option<NodeId>,
    /// Its place there, counted from 0. When absent it keeps its place in its folder, and becomes the
    /// last in another.
    #[serde(default)]
    pub position: Option<u32>,
}

/// A change of a node; absent fields stay. All but name and place are for pages only.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct NodePatch {
    /// New name.
    pub name: Option<String>,
    /// New place.
    pub place: Option<NodePlace>,
    /// New question; a refresh is queued when it differs.
    pub source_query: Option<String>,
    /// New tags.
    pub tags: Option<Vec<String>>,
    /// New budget.
    pub max_tokens: Option<u32>,
    /// Settings to state; an explicit null resets one.
    pub trigger: Option<Json>,
    /// Who decides.
    pub review: Option<ReviewMode>,
}

/// A node after a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ChangedNode {
    /// It.
    pub node: TreeNode,
    /// The refresh that a new question queued.
    pub operation: Option<OperationId>,
}

/// A page that a search found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct PageHit {
    /// The page.
    pub id: NodeId,
    /// Its name.
    pub name: String,
    /// Its model.
    pub mental_model_id: ModelId,
    /// The question it answers.
    pub source_query: String,
    /// A part of its text around the words that were looked for.
    pub snippet: String,
    /// How well it fits; only the order of two scores of one search means something.
    pub score: Score,
    /// When it was last refreshed.
    pub updated_at: Option<Instant>,
}

/// A page as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct PageText {
    /// The page.
    pub id: NodeId,
    /// Its name.
    pub name: String,
    /// What it is: the first `type:` tag, or `knowledge-page`.
    pub kind: String,
    /// The question it answers.
    pub description: String,
    /// Its tags without those that say what it is.
    pub tags: Vec<String>,
    /// When it was last refreshed.
    pub timestamp: Option<Instant>,
    /// The document.
    pub body: String,
    /// The document with its header.
    pub markdown: String,
}

/// A file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct BundleFile {
    /// Its name; no folders.
    pub path: String,
    /// Its text.
    pub content: String,
}

/// Markdown files to be taken in as pages or models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ImportPages {
    /// Paths of files, of folders with a bundle, or of folders with other Markdown.
    pub paths: Vec<String>,
    /// Whether they become pages of the tree; plain models otherwise.
    #[serde(default = "yes")]
    pub as_pages: bool,
    /// The folder to put pages into; the root when absent.
    #[serde(default)]
    pub parent_id: Option<NodeId>,
    /// What to do with one that is there already.
    #[serde(default)]
    pub on_conflict: OnConflict,
    /// Who decides; when absent what the bank presumes, else `auto`.
    #[serde(default)]
    pub review: Option<ReviewMode>,
}

fn yes() -> bool {
    true
}

/// What to do with a page or model that is there already: one with the id that a file states, or a
/// page of the same name in the same folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum OnConflict {
    /// It stays; the file is left out.
    #[default]
    Skip,
    /// The file becomes its next version; its settings stay.
    Replace,
    /// The file becomes another one, with a number behind its name where that is needed.
    NewId,
}

/// What an import did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ImportedPages {
    /// What was taken in, in the order of the files.
    pub imported: Vec<ImportedPage>,
    /// What was left out, with the reason; everything else was stored.
    pub skipped: Vec<super::memory::Skipped>,
}

/// A page or model that an import made or gave another version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ImportedPage {
    /// Name of the file, below what was chosen.
    pub file: String,
    /// Its name now.
    pub name: String,
    /// Its model.
    pub mental_model_id: ModelId,
    /// Its page; none for a plain model.
    pub page_id: Option<NodeId>,
    /// Whether it was there before.
    pub replaced: bool,
}
