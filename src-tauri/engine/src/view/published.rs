//! The file that a document is published to, as screens show it.

use domain::{BankId, Instant, ModelId, ProposalId};
use serde::{Deserialize, Serialize};

/// How a published file stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum PublishState {
    /// As it was written.
    Ok,
    /// Somebody else changed it; its text waits for a decision and nothing is written over it.
    ChangedOutside,
    /// It could not be written.
    Failed,
}

/// The file of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct PublishedFile {
    /// Absolute path.
    pub path: String,
    /// Whether it begins with a header of the model's fields.
    pub front_matter: bool,
    /// How it stands.
    pub state: PublishState,
    /// Why it could not be written, or why its text cannot be offered, in a sentence.
    pub error: Option<String>,
    /// The version that it holds; none before the first time.
    pub last_version: Option<u32>,
    /// When that was last looked at and something changed.
    pub updated_at: Instant,
    /// The proposal that offers its outside text, while that waits for a decision.
    pub proposal: Option<ProposalId>,
}

/// A file to publish to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct PublishInput {
    /// Absolute path of the file; its folder must exist.
    pub path: String,
    /// Whether it begins with a header of the model's fields.
    pub front_matter: bool,
}

/// A published file that stands otherwise than before it was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct CheckedFile {
    /// Its bank.
    pub bank: BankId,
    /// Its model.
    pub model_id: ModelId,
    /// Name of the model.
    pub model_name: String,
    /// The file.
    pub file: PublishedFile,
}
