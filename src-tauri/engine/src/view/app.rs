//! The program as a whole: whether it could start, what answers questions, what has changed.

use super::Bytes;
use crate::report::Report;
use domain::{BankId, CacheTag};
use serde::{Deserialize, Serialize};

/// What the page needs to know before it draws anything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct AppStatus {
    /// Version of the program.
    pub version: String,
    /// Where the data lies.
    pub data_folder: String,
    /// Why the data could not be opened; the page then shows this and nothing else.
    pub blocked: Option<Report>,
    /// What answers questions.
    pub answering: Answering,
    /// The bundled embedder, or why there is none.
    pub embedder: EmbedderStatus,
    /// The bank to open.
    pub bank: Option<BankId>,
    /// The sample bank, while it exists.
    pub sample_bank: Option<BankId>,
    /// Whether the sample bank is complete, or there is none; until then it is still being made.
    pub sample_ready: bool,
    /// Whether the first-run page has been left for good.
    pub first_run_done: bool,
}

/// What writes answers and documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Answering {
    /// Statements from the bank, no language model.
    Extractive,
    /// A language model.
    Llm {
        /// Name of the endpoint.
        endpoint: String,
        /// Name of the language model.
        llm: String,
        /// Whether it runs on this machine.
        local: bool,
    },
    /// Extractive mode is off and no language model is set up.
    Nothing,
}

/// The embedder in use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct EmbedderStatus {
    /// Its name.
    pub name: String,
    /// Numbers in a vector.
    pub dim: u32,
    /// Whether it can be used; if not, `problem` says why.
    pub ready: bool,
    /// Why it cannot be used.
    pub problem: Option<Report>,
}

/// Sent after a commit: what has changed, and in which bank (all banks when absent).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Changed {
    /// The bank.
    pub bank: Option<BankId>,
    /// What has changed.
    pub tags: Vec<CacheTag>,
}

/// A found thing of the palette.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct PaletteHit {
    /// What it is.
    pub kind: PaletteKind,
    /// Its id.
    pub id: String,
    /// Its first line.
    pub title: String,
    /// Where it stands.
    pub place: String,
}

/// Kinds of things the palette finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum PaletteKind {
    /// A mental model.
    Model,
    /// A memory.
    Memory,
    /// A bank.
    Bank,
    /// A document.
    Document,
}

/// The data folder in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct DataFolder {
    /// Its path.
    pub path: String,
    /// Size of the data file with its log.
    pub size: Bytes,
}
