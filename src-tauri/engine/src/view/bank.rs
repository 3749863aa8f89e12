//! Banks as a list shows them.

use domain::{BankId, Instant};
use serde::{Deserialize, Serialize};

/// One bank with its counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct BankRow {
    /// Its id.
    pub id: BankId,
    /// Its name.
    pub name: String,
    /// World and experience memories that are valid.
    pub facts: u32,
    /// Valid observations.
    pub observations: u32,
    /// Facts that wait to be folded into observations.
    pub pending_consolidation: u32,
    /// Facts that could not be folded.
    pub failed_consolidation: u32,
    /// When facts were last folded.
    pub last_consolidated_at: Option<Instant>,
    /// Documents.
    pub documents: u32,
    /// Mental models.
    pub models: u32,
    /// Proposals that wait for a decision.
    pub waiting_reviews: u32,
    /// Last write of a memory.
    pub last_memory_write_at: Option<Instant>,
    /// When it was made.
    pub created_at: Instant,
}

/// A bank to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct NewBank {
    /// Name for people.
    pub name: String,
    /// Id; proposed from the name when absent.
    pub id: Option<BankId>,
}
