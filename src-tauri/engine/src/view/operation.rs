//! Queued work as the activity list shows it.

pub use domain::schedule::OperationStatus;
use domain::{BankId, Instant, Json, ModelId, OperationId};
use serde::{Deserialize, Serialize};

/// How far an operation is. Bars never go back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Progress {
    /// What is being done, a stable word.
    pub stage: String,
    /// Steps done.
    pub processed: Option<u32>,
    /// Steps in all; may grow.
    pub total: Option<u32>,
    /// What exactly, for people.
    pub detail: Option<String>,
    /// Memories that were stored so far, where the work stores some.
    #[serde(default)]
    pub stored: Option<u32>,
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct OperationRow {
    /// Its id.
    pub id: OperationId,
    /// Its bank.
    pub bank: BankId,
    /// `retain`, `import`, `refresh_mental_model`, `embed_backfill` and so on.
    pub operation_type: String,
    /// Where it stands.
    pub status: OperationStatus,
    /// What it is about, for people: the model's or the document's name.
    pub subject: Option<String>,
    /// The model that it refreshes.
    pub mental_model_id: Option<ModelId>,
    /// How far it is.
    pub progress: Option<Progress>,
    /// Causes: `manual_refresh`, `create`, `cron` and so on.
    pub triggered_by: Vec<String>,
    /// Why it may not run yet.
    pub held_reason: Option<String>,
    /// When it runs at the earliest.
    pub next_retry_at: Option<Instant>,
    /// Whether no person asked for it.
    pub automatic: bool,
    /// Whether it rebuilds a document in full, whatever the model's settings say.
    pub full: bool,
    /// How often it was tried again.
    pub retry_count: u32,
    /// What came out; for a refresh `outcome`, `failure_reason`, `proposal_id`.
    pub details: Option<Json>,
    /// What came out, by kind of operation.
    pub result: Option<Json>,
    /// The stable reason of its failure.
    pub error_reason: Option<String>,
    /// The sentence of its failure.
    pub error_message: Option<String>,
    /// When it was queued.
    pub created_at: Instant,
    /// When it began.
    pub started_at: Option<Instant>,
    /// When it ended.
    pub completed_at: Option<Instant>,
}

/// Which operations a list shows; what is absent does not narrow it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct OperationQuery {
    /// Only these states; empty for all.
    pub statuses: Vec<OperationStatus>,
    /// Only this kind.
    pub operation_type: Option<String>,
    /// Only of this model.
    pub mental_model_id: Option<ModelId>,
    /// Only those queued at this moment or later.
    pub since: Option<Instant>,
    /// Only those queued before this moment.
    pub until: Option<Instant>,
    /// Rows of a page, 1 to 100; 20 when absent.
    pub limit: Option<u32>,
    /// The last one of the page before.
    pub after: Option<OperationId>,
}

/// A page of operations, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct OperationPage {
    /// They.
    pub operations: Vec<OperationRow>,
    /// The last one of this page, if there may be more.
    pub next: Option<OperationId>,
}

/// Sent while an operation runs: at most four a second, the last one always.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct OperationProgress {
    /// The operation.
    pub id: OperationId,
    /// Its bank.
    pub bank: BankId,
    /// How far it is.
    pub progress: Progress,
}
