//! Hands Tauri what it looks for in the wrong place, and makes sure that there is a page to embed.

use std::{fs, io, path::Path};

const CAPABILITIES: &str = "src-tauri/capabilities";
const PAGE: &str = "ui/dist";

/// Stands in for the page when Rust is built before it, so that `cargo check` and the tests need
/// no Node.
const NO_PAGE: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Palimpsest</title>\
    <p>The page was not built. Run <code>npm run page</code>, then build the program again.</p></html>\n";

fn main() -> io::Result<()> {
    let index = Path::new(PAGE).join("index.html");
    if !index.exists() {
        fs::create_dir_all(PAGE)?;
        fs::write(&index, NO_PAGE)?;
    }
    println!("cargo:rerun-if-changed={CAPABILITIES}");
    println!("cargo:rerun-if-changed={PAGE}");
    let attributes =
        tauri_build::Attributes::new().capabilities_path_pattern("src-tauri/capabilities/**/*");
    tauri_build::try_build(attributes).map_err(io::Error::other)
}
