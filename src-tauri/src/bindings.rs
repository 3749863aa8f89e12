//! The one list of what the page can call and hear, and its types in TypeScript. The generated
//! file is committed; a test holds it in step and rewrites it when `UPDATE_BINDINGS=1` is set
//! (`npm run bindings`).

use crate::commands::window;
use crate::window::FilesOpened;
use tauri_specta::{Builder, ErrorHandlingMode, collect_commands, collect_events};

/// Commands, events and constants. A command that fails rejects its promise with the error, which
/// is what the page's query cache expects; each type is exported once, for both directions.
#[must_use]
pub fn builder() -> Builder<tauri::Wry> {
    Builder::new()
        .commands(collect_commands![
            window::page_drawn,
            window::take_opened_files,
            window::third_party_notices,
        ])
        .events(collect_events![FilesOpened])
        .error_handling(ErrorHandlingMode::Throw)
        .disable_serde_phases()
}

#[cfg(test)]
mod tests {
    use super::*;
    use specta_typescript::Typescript;
    use std::fs;
    use std::path::Path;

    /// `domain::Json` refers to this name. It is written by hand because the type is recursive
    /// and because the exporter refuses the 64-bit integers inside `serde_json::Value`.
    const HEADER: &str = "export type JsonValue =\n  | null\n  | boolean\n  | number\n  | string\n  \
        | JsonValue[]\n  | { [key: string]: JsonValue };\n";

    fn committed() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/src/platform/bindings.ts")
    }

    #[test]
    fn bindings_are_in_step() {
        let folder = tempfile::tempdir().unwrap();
        let fresh = folder.path().join("bindings.ts");
        builder().export(Typescript::default().header(HEADER), &fresh).unwrap();
        let fresh = fs::read_to_string(fresh).unwrap();
        if std::env::var_os("UPDATE_BINDINGS").is_some_and(|value| value == "1") {
            fs::create_dir_all(committed().parent().unwrap()).unwrap();
            fs::write(committed(), &fresh).unwrap();
        }
        let committed = fs::read_to_string(committed()).unwrap_or_default();
        // Not `assert_eq!`: two whole files as one line of debug text help nobody.
        assert!(fresh == committed, "ui/src/platform/bindings.ts is stale: run `npm run bindings`");
    }
}
