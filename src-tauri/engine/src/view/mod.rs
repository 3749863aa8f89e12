//! What callers see: the shapes that commands return and take. They are made for screens and for
//! programs, not for the file: no row ids, no sequences, times as moments, counts as `u32`.
//! Nothing here computes.

pub mod app;
pub mod bank;
pub mod blame;
pub mod diff;
pub mod directive;
pub mod form;
pub mod memory;
pub mod model;
pub mod operation;
pub mod page;
pub mod proposal;
pub mod published;
pub mod recall;
pub mod reflect;
pub mod refresh;
pub mod settings;

use serde::{Deserialize, Serialize};

/// One page of a list. `next` is passed back to read on; it is absent on the last page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Page<T> {
    /// The rows.
    pub items: Vec<T>,
    /// How many rows match in all.
    pub total: u32,
    /// Where to read on.
    pub next: Option<String>,
}

/// A size in bytes, below 2^53.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(transparent)]
pub struct Bytes(
    // Any number type that is exported as plain `number` will do for the page.
    #[cfg_attr(feature = "specta", specta(type = u32))] pub u64,
);
