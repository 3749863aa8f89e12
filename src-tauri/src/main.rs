//! The program `palimpsest`. Everything is in the library, so that tests can reach it.

// No console window beside the program on Windows.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

fn main() -> std::process::ExitCode {
    palimpsest_desktop::run()
}
