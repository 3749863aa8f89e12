//! The engine's behaviour, one module per chapter, with a scripted model and a real file.

mod endpoints;
mod memory;
mod models;
mod proposals;
mod real_input;
mod reflect;
mod sample;
mod tidy;
