//! The engine's behaviour, one module per chapter, with a scripted model and a real file.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test may panic, print and measure"
)]

mod automatic;
mod blame;
mod consolidation;
mod consolidation_faults;
mod consolidation_models;
mod consolidation_queue;
mod directives;
mod dry_run;
mod endpoint_dialects;
mod endpoint_faults;
mod endpoint_waits;
mod endpoints;
mod form;
mod locks;
mod loopback;
mod memory;
mod models;
mod outside;
mod pages;
mod pages_import;
mod plug_pulled;
mod private;
mod proposals;
mod proposals_decide;
mod proposals_fold;
mod proposals_rebase;
mod publish_file;
mod real_input;
mod rebuild;
mod reflect;
mod reflect_ends;
mod reflect_retry;
mod reflect_settings;
mod reflect_window;
mod refresh_budget;
mod refresh_commit;
mod refresh_retract;
mod refresh_structured;
mod refresh_tables;
mod refresh_written;
mod runs;
mod sample;
mod schedule_holds;
mod schedule_queue;
mod scopes;
mod search_ways;
mod simulation;
mod tidy;
mod versions;
