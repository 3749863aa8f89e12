//! The rules: remember, recall, reflect, keep documents fresh, ask before changing them. Usable
//! without any window. Start here: [`Engine`] is the handle that everything takes first; `memory`,
//! `reflect` and `models` stand in that order (a later one may use an earlier one, never the other
//! way round), `runs` looks back at what they did, `ops` stands beside them; `view` is what callers see; `report` is how they are told no.

pub mod banks;
pub mod clock;
pub mod endpoints;
mod error;
pub mod events;
pub(crate) mod fresh;
pub(crate) mod grounds;
mod handle;
pub mod llm_log;
pub mod memory;
pub mod models;
pub mod ops;
pub mod palette;
pub(crate) mod prompts;
pub mod reflect;
pub mod report;
pub mod runs;
pub mod secrets;
pub mod settings;
pub mod view;

pub use error::{Error, Result};
pub use handle::{Config, Engine};
