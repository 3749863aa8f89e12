//! The vocabulary and the arithmetic. No clock, no files, no network: every function gives the same
//! answer twice.

pub mod cron;
pub mod fault;
pub mod fuzzy;
pub mod id;
pub mod json;
pub mod memory;
pub mod model;
pub mod refresh;
pub mod schema;
pub mod scope;
pub mod staleness;
pub mod tag_group;
pub mod tags;
pub mod time;
pub mod trigger;
