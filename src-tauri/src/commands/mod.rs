//! What the window can ask. One file per noun; every body is one call of the engine.

pub mod app;
pub mod banks;
pub mod blame;
pub mod directives;
pub mod memories;
pub mod models;
pub mod operations;
pub mod pages;
pub mod proposals;
pub mod published;
pub mod reflect;
pub mod refreshes;
pub mod settings;
pub mod versions;
pub mod window;
