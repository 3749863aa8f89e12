//! Memories, documents and imports as screens show them.

use super::Page;
use domain::{ChunkId, DocumentId, FactType, Instant, MemoryId, ModelId, OperationId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Whether a memory is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum MemoryState {
    /// In use.
    Valid,
    /// Taken out of use by a person, with a reason; can be restored.
    Invalidated,
}

/// One memory in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct MemoryRow {
    /// Its id.
    pub id: MemoryId,
    /// Its kind.
    pub fact_type: FactType,
    /// The statement.
    pub text: String,
    /// A short label from its source.
    pub context: Option<String>,
    /// Names of the entities that it mentions.
    pub entities: Vec<String>,
    /// Its tags, sorted.
    pub tags: Vec<String>,
    /// When what it tells began.
    pub occurred_start: Option<Instant>,
    /// When what it tells ended.
    pub occurred_end: Option<Instant>,
    /// When its source says it.
    pub mentioned_at: Option<Instant>,
    /// When it was first stored.
    pub created_at: Instant,
    /// Last change of its content.
    pub updated_at: Instant,
    /// For observations: how many live facts it rests on.
    pub proof_count: Option<u32>,
    /// In use or not.
    pub state: MemoryState,
    /// Whether a person has edited it.
    pub edited: bool,
    /// Whether it waits to be folded into observations.
    pub pending_consolidation: bool,
    /// The document that it comes from.
    pub document: Option<DocumentRef>,
}

/// A document by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct DocumentRef {
    /// Its id.
    pub id: DocumentId,
    /// Its title, else its id.
    pub title: String,
}

/// A model by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ModelRef {
    /// Its id.
    pub id: ModelId,
    /// Its name.
    pub name: String,
}

/// A passage of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ChunkView {
    /// Its id.
    pub id: ChunkId,
    /// Its number in the document, from 0.
    pub index: u32,
    /// Its text.
    pub text: String,
}

/// One memory with all that hangs on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct MemoryDetail {
    /// The row.
    pub memory: MemoryRow,
    /// Free pairs from its source.
    pub metadata: BTreeMap<String, String>,
    /// The passage that it was read from.
    pub chunk: Option<ChunkView>,
    /// Observations folded from it.
    pub observations: Vec<MemoryRow>,
    /// The facts that it was folded from, for an observation.
    pub sources: Vec<MemoryRow>,
    /// Models whose published document cites it.
    pub cited_by: Vec<ModelRef>,
    /// Why it was taken out of use.
    pub invalidation_reason: Option<String>,
    /// How an observation stands and how it came to say what it says; none for a fact.
    pub folding: Option<Folding>,
    /// Why a fact could not be folded into observations.
    pub consolidation_error: Option<String>,
}

/// How an observation stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Folding {
    /// Whether facts wait that could change it, or it needs review.
    pub is_stale: bool,
    /// Whether it lost a fact that it rested on and waits to be rewritten from the others.
    pub needs_review: bool,
    /// Its earlier states, the newest first.
    pub changes: Vec<ObservationChange>,
}

/// A change of an observation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ObservationChange {
    /// When.
    pub changed_at: Instant,
    /// What it said before.
    pub previous_text: String,
    /// Why it was changed.
    pub reason: String,
    /// Facts that it rests on since.
    pub new_sources: Vec<SourceRef>,
}

/// A fact by its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct SourceRef {
    /// Its id.
    pub id: MemoryId,
    /// Its text; none when it is gone.
    pub text: Option<String>,
}

/// What became of a request to fold facts into observations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Consolidating {
    /// The operation that does the work.
    pub operation: OperationId,
    /// Whether it waited already.
    pub joined: bool,
    /// Facts that had failed and went back into the queue.
    pub requeued: u32,
}

/// Which observations are taken away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case", tag = "of", content = "value")]
pub enum ClearObservations {
    /// All of the bank.
    Bank,
    /// Those of exactly these tags.
    Scope(Vec<String>),
    /// Those folded from this fact.
    Memory(MemoryId),
}

/// Which memories a list shows. Everything is optional and all of it must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct MemoryFilter {
    /// Kinds; all when absent.
    pub fact_types: Option<Vec<FactType>>,
    /// In use or not; in use when absent.
    pub state: Option<MemoryState>,
    /// Every one of these tags must be on it.
    pub tags: Vec<String>,
    /// Name of an entity that it mentions.
    pub entity: Option<String>,
    /// The document that it comes from.
    pub document: Option<DocumentId>,
    /// Words that its text, context or entities hold (full text).
    pub words: Option<String>,
    /// Only what happened (or was mentioned, or stored) at or after this moment.
    pub after: Option<Instant>,
    /// Only what happened (or was mentioned, or stored) before this moment.
    pub before: Option<Instant>,
}

/// One page of memories, with the counts of the segments under the same filter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct MemoryPage {
    /// The page.
    pub page: Page<MemoryRow>,
    /// Valid memories of the bank by kind.
    pub counts: KindCounts,
}

/// Counts by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct KindCounts {
    /// World memories.
    pub world: u32,
    /// Experience memories.
    pub experience: u32,
    /// Observations.
    pub observation: u32,
}

/// A fact given by hand or by a file of facts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct NewFact {
    /// The statement.
    pub text: String,
    /// World unless said otherwise; an observation cannot be given.
    #[serde(default)]
    pub fact_type: Option<FactType>,
    /// A short label.
    #[serde(default)]
    pub context: Option<String>,
    /// When it began.
    #[serde(default)]
    pub occurred_start: Option<Instant>,
    /// When it ended; the beginning when absent.
    #[serde(default)]
    pub occurred_end: Option<Instant>,
    /// When it was said; now when absent.
    #[serde(default)]
    pub mentioned_at: Option<Instant>,
    /// Tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Free pairs.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// Names of entities, taken literally.
    #[serde(default)]
    pub entities: Vec<String>,
}

/// How a text becomes memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ExtractionMode {
    /// A language model reads facts from each chunk.
    Concise,
    /// Each chunk is one fact, word for word; no language model.
    Chunks,
}

/// A text to be kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RetainText {
    /// The text.
    pub text: String,
    /// Id of the document; made when absent.
    #[serde(default)]
    pub document_id: Option<DocumentId>,
    /// Title for people.
    #[serde(default)]
    pub title: Option<String>,
    /// A short label, stored on each fact.
    #[serde(default)]
    pub context: Option<String>,
    /// When the text was written; now when absent.
    #[serde(default)]
    pub timestamp: Option<Instant>,
    /// Tags of the document and of every fact.
    #[serde(default)]
    pub tags: Vec<String>,
    /// How facts are read; `chunks` while no language model is set up.
    #[serde(default)]
    pub mode: Option<ExtractionMode>,
}

/// Files or folders to be read in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ImportFiles {
    /// Paths of files and folders; a folder is read with all below it.
    pub paths: Vec<String>,
    /// Tags for everything read.
    #[serde(default)]
    pub tags: Vec<String>,
    /// How texts are read; `chunks` while no language model is set up.
    #[serde(default)]
    pub mode: Option<ExtractionMode>,
}

/// What an import would read, before anything is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ImportPlan {
    /// Files in order of their paths.
    pub files: Vec<ImportFile>,
}

/// One file of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct ImportFile {
    /// Its path.
    pub path: String,
    /// Its name, below the folder that was chosen.
    pub name: String,
    /// What will be done with it.
    pub kind: ImportKind,
    /// Its size in bytes.
    pub size: u32,
    /// Why it is left out.
    pub problem: Option<String>,
}

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ImportKind {
    /// Ready-made facts, one JSON object a line or a JSON array.
    Facts,
    /// Text, Markdown or HTML, kept as a document.
    Document,
    /// Not read.
    LeftOut,
}

/// What an import did; the result of its operation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct ImportResult {
    /// Documents stored or found unchanged.
    pub documents: u32,
    /// Facts stored.
    pub facts: u32,
    /// Documents stored passage by passage, because a tag keeps them on this machine and the language
    /// model is elsewhere.
    pub kept_here: u32,
    /// What could not be read, with the reason; everything else was stored.
    pub skipped: Vec<Skipped>,
}

/// Something that an import left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Skipped {
    /// Name of the file.
    pub file: String,
    /// Number of the line, from 1, for a file of facts.
    pub line: Option<u32>,
    /// Why, in one sentence.
    pub reason: String,
}

/// A change of a memory by a person; absent fields stay.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct EditFact {
    /// New statement.
    pub text: Option<String>,
    /// New tags.
    pub tags: Option<Vec<String>>,
    /// New beginning.
    pub occurred_start: Option<Instant>,
    /// New end.
    pub occurred_end: Option<Instant>,
}

/// One tag of a bank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct TagRow {
    /// The tag.
    pub name: String,
    /// Valid memories that carry it.
    pub memories: u32,
}

/// One document in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct DocumentRow {
    /// Its id.
    pub id: DocumentId,
    /// Its title, else its id.
    pub title: String,
    /// Valid facts read from it.
    pub facts: u32,
    /// Its tags.
    pub tags: Vec<String>,
    /// Last change.
    pub updated_at: Instant,
}
