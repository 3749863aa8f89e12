//! Where the data lies, and what follows from it before anything is opened: the name under which a
//! second start finds the first one, and whether a log can be kept there. Never opens the data.

use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The environment variable that names another data folder.
pub(crate) const VARIABLE: &str = "PALIMPSEST_DATA";

/// The data folder of this start: the one named by `PALIMPSEST_DATA`, else `palimpsest` in the
/// platform's place for data. Absolute, so that two ways of naming one folder are one folder.
pub(crate) fn locate() -> PathBuf {
    absolute(choose(std::env::var_os(VARIABLE), dirs::data_dir()))
}

fn choose(named: Option<OsString>, platform: Option<PathBuf>) -> PathBuf {
    match named {
        Some(path) if !path.is_empty() => PathBuf::from(path),
        _ => platform.unwrap_or_default().join("palimpsest"),
    }
}

fn absolute(path: PathBuf) -> PathBuf {
    fs::canonicalize(&path).or_else(|_| std::path::absolute(&path)).unwrap_or(path)
}

/// The name on the message bus by which starts on the same folder find one another. Starts on
/// different folders do not.
pub(crate) fn bus_name(identifier: &str, folder: &Path) -> String {
    let digest = Sha256::digest(folder.as_os_str().as_encoded_bytes());
    let short: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    // An element of a bus name may not begin with a digit.
    format!("{identifier}.f{short}")
}

/// The folder for logs, if one can be written there. A folder that cannot be written is told to
/// the person by the page; a missing log must not keep the page from showing.
pub(crate) fn logs(folder: &Path) -> Option<PathBuf> {
    let logs = folder.join("logs");
    fs::create_dir_all(&logs).ok()?;
    let probe = logs.join("palimpsest.log");
    fs::OpenOptions::new().append(true).create(true).open(probe).ok()?;
    Some(logs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_wins_and_an_empty_one_does_not() {
        let platform = Some(PathBuf::from("/home/ada/.local/share"));
        assert_eq!(choose(Some("/tmp/x".into()), platform.clone()), Path::new("/tmp/x"));
        let usual = Path::new("/home/ada/.local/share/palimpsest");
        assert_eq!(choose(Some("".into()), platform.clone()), usual);
        assert_eq!(choose(None, platform), usual);
    }

    #[test]
    fn one_folder_has_one_bus_name() {
        let dir = tempfile::tempdir().unwrap();
        let plain = absolute(dir.path().to_owned());
        let roundabout = absolute(dir.path().join("../").join(dir.path().file_name().unwrap()));
        assert_eq!(bus_name("app.x", &plain), bus_name("app.x", &roundabout));
        assert_ne!(bus_name("app.x", &plain), bus_name("app.x", Path::new("/elsewhere")));
        assert!(bus_name("app.x", &plain).starts_with("app.x.f"));
    }

    #[test]
    fn no_log_where_nothing_can_be_written() {
        let dir = tempfile::tempdir().unwrap();
        assert!(logs(dir.path()).is_some());
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(logs(&file).is_none());
    }
}
