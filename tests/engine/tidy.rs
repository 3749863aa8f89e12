//! The shape of the sources: arrows between modules, lengths of files, who may ask for the time, who
//! may know the shell, and that every reason that is named stands in the table.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Lines that a source file may have. More is refused, not warned about.
const MAX_LINES: usize = 600;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Files below a folder with one of the endings, in order.
fn files(below: &str, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(below)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() {
                if !matches!(name.as_str(), "target" | "node_modules" | "dist" | "gen") {
                    folders.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "nothing found below {below}");
    found
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

#[test]
fn no_source_file_is_longer_than_six_hundred_lines() {
    let mut long = Vec::new();
    for path in files("src-tauri", &[".rs"])
        .into_iter()
        .chain(files("ui/src", &[".ts", ".tsx"]))
        .chain(files("tests", &[".rs", ".ts"]))
    {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        if lines > MAX_LINES && !path.ends_with("bindings.ts") {
            long.push(format!("{} ({lines})", shown(&path)));
        }
    }
    assert!(long.is_empty(), "split these: {long:?}");
}

#[test]
fn every_rust_file_says_what_it_is_for() {
    let silent: Vec<String> = files("src-tauri", &[".rs"])
        .into_iter()
        .filter(|path| !fs::read_to_string(path).unwrap().starts_with("//!"))
        .map(|path| shown(&path))
        .collect();
    assert!(silent.is_empty(), "begin these with a paragraph: {silent:?}");
}

#[test]
fn arrows_between_the_engine_s_modules_point_one_way() {
    // Each may use what stands before it, never what stands behind it.
    let order = ["memory", "reflect", "models"];
    let mut wrong = Vec::new();
    for (place, module) in order.iter().enumerate() {
        for path in files(&format!("src-tauri/engine/src/{module}"), &[".rs"]) {
            let text = fs::read_to_string(&path).unwrap();
            for later in &order[place + 1..] {
                if text.contains(&format!("crate::{later}::"))
                    || text.contains(&format!("use crate::{later}"))
                {
                    wrong.push(format!("{} uses {later}", shown(&path)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn crates_depend_along_the_arrows_only() {
    let allowed = [
        ("domain", &[][..]),
        ("store", &["domain"]),
        ("llm", &["domain"]),
        ("embed", &["domain"]),
        ("engine", &["domain", "store", "llm", "embed"]),
    ];
    let ours: BTreeSet<&str> = allowed.iter().map(|(name, _)| *name).collect();
    for (name, may) in allowed {
        let manifest =
            fs::read_to_string(root().join(format!("src-tauri/{name}/Cargo.toml"))).unwrap();
        let (used, _) = manifest.split_once("[dev-dependencies]").unwrap_or((&manifest, ""));
        for line in used.lines() {
            let used = line.split([' ', '=', '.']).next().unwrap_or_default();
            if ours.contains(used) {
                assert!(may.contains(&used), "{name} must not use {used}");
            }
            assert!(!used.starts_with("tauri"), "{name} must not know the shell");
        }
    }
}

#[test]
fn only_the_clock_asks_what_time_it_is() {
    let asking: Vec<String> = files("src-tauri", &[".rs"])
        .into_iter()
        .filter(|path| !path.ends_with("engine/src/clock.rs"))
        .filter(|path| {
            let text = fs::read_to_string(path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            // Durations of network silence and of drawing are the rim's own affair.
            let rim = ["src-tauri/llm", "src-tauri/embed", "src-tauri/src"];
            !rim.iter().any(|rim| path.starts_with(root().join(rim)))
                && ["Utc::now", "Local::now", "SystemTime::now", "Instant::now"]
                    .iter()
                    .any(|call| code.contains(call))
        })
        .filter(|path| !shown(path).contains("/tests") && !shown(path).contains("/examples/"))
        .map(|path| shown(&path))
        .collect();
    assert!(asking.is_empty(), "pass the clock in: {asking:?}");
}

#[test]
fn only_the_platform_folder_knows_the_shell() {
    let knowing: Vec<String> = files("ui/src", &[".ts", ".tsx"])
        .into_iter()
        .filter(|path| !path.starts_with(root().join("ui/src/platform")))
        .filter(|path| fs::read_to_string(path).unwrap().contains("@tauri-apps/"))
        .map(|path| shown(&path))
        .collect();
    assert!(knowing.is_empty(), "{knowing:?}");
}

#[test]
fn no_raw_html_reaches_the_page() {
    for path in files("ui/src", &[".ts", ".tsx"]) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("dangerouslySetInnerHTML"), "{}", shown(&path));
    }
}

#[test]
fn every_reason_that_is_named_stands_in_the_table() {
    let known: BTreeSet<&str> = engine::report::TABLE.iter().map(|row| row.reason).collect();
    for path in files("src-tauri/engine/src", &[".rs"]) {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (place, _) in code.match_indices("fault(\"") {
            let before = code[..place].chars().next_back().unwrap_or(' ');
            if before.is_alphanumeric() || before == '_' {
                continue;
            }
            let reason = code[place + 7..].split('"').next().unwrap_or_default();
            assert!(known.contains(reason), "{} names {reason}", shown(&path));
        }
    }
}
