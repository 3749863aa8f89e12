//! The rim of publishing: a file is read, checked as a target, and written beside itself and renamed,
//! so that a reader sees the old text or the new one and never half of either. Blocking; knows no
//! model.

use domain::FieldFault;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Largest file whose text is offered for review: far beyond any document, small enough to read
/// whenever the window comes to the front.
pub(in crate::models) const LARGEST: u64 = 8 << 20;

/// A file as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// There is no such file.
    Nothing,
    /// Its bytes.
    Bytes(Vec<u8>),
    /// It is too large to be a document.
    TooLarge,
}

impl Found {
    /// SHA-256 of the bytes; a file too large has the hash of its size alone, which is no hash that
    /// was ever written.
    pub(super) fn hash(&self) -> Option<Vec<u8>> {
        match self {
            Self::Nothing => None,
            Self::Bytes(bytes) => Some(hash(bytes)),
            Self::TooLarge => Some(b"too large".to_vec()),
        }
    }

    /// Its text, if it is one.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
            Self::Nothing | Self::TooLarge => None,
        }
    }
}

/// SHA-256 of a file's bytes.
pub(super) fn hash(bytes: &[u8]) -> Vec<u8> {
    Sha256::digest(bytes).to_vec()
}

/// Reads a file.
pub(super) fn read(path: &Path) -> io::Result<Found> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(error),
        Ok(meta) if !meta.is_file() => return Err(io::Error::other("it is not a file")),
        Ok(meta) if meta.len() > LARGEST => return Ok(Found::TooLarge),
        Ok(_) => {}
    }
    fs::read(path).map(Found::Bytes)
}

/// What becomes of a file that was read.
#[derive(Debug)]
pub(super) enum Next {
    /// It stays as it is.
    Leave,
    /// It gets other bytes.
    Write(Vec<u8>),
}

/// How often a file is looked at anew because others wrote it meanwhile.
const TRIES: usize = 3;

/// Reads a file and does with it what `decide` says. A file that somebody else writes between the two
/// is read anew and decided on anew: what they wrote stays.
pub(super) fn settle<T>(path: &Path, mut decide: impl FnMut(&Found) -> (Next, T)) -> io::Result<T> {
    for _ in 0..TRIES {
        let found = read(path)?;
        match decide(&found) {
            (Next::Leave, end) => return Ok(end),
            (Next::Write(bytes), end) => {
                if write(path, &bytes, &found)? {
                    return Ok(end);
                }
            }
        }
    }
    Err(io::Error::other("another program keeps writing the file"))
}

/// Writes a file whatever is there.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    settle(path, |_| (Next::Write(bytes.to_vec()), ()))
}

/// Writes a file beside its place and renames it there, if the place holds what was found there
/// (otherwise false, and it keeps what it holds). A link is followed, so that it stays one, and the
/// rights of a file that was there are kept. On a failure nothing is left beside it.
fn write(path: &Path, bytes: &[u8], over: &Found) -> io::Result<bool> {
    let place = place(path)?;
    let beside = beside(&place)?;
    let done = write_beside(&place, &beside, bytes, over);
    if !matches!(done, Ok(true)) {
        // It may not have come to be.
        let _ = fs::remove_file(&beside);
    }
    done
}

/// Most links followed one after the other; systems give up at the same number or sooner.
const MOST_LINKS: usize = 40;

/// Where a path leads with its links followed, whether or not a file is there yet. The folder must be.
pub(super) fn place(path: &Path) -> io::Result<PathBuf> {
    let mut at = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::symlink_metadata(&at) {
            Ok(meta) if meta.is_symlink() => {
                let leads_to = fs::read_link(&at)?;
                at = at.parent().map_or_else(|| leads_to.clone(), |folder| folder.join(&leads_to));
            }
            Ok(_) => return fs::canonicalize(at),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return not_there_yet(&at),
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("its links lead in a circle"))
}

/// Whether two paths lead to one file: by a link, by another name of it, or by letters that the disk
/// does not tell apart.
pub(in crate::models) fn is_same(one: &Path, other: &Path) -> bool {
    let (Ok(one), Ok(other)) = (place(one), place(other)) else { return one == other };
    let is_one_file = identity(&one).is_some_and(|id| identity(&other) == Some(id));
    is_one_file || key(&one) == key(&other)
}

/// What the disk knows a file by.
#[cfg(unix)]
fn identity(place: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(place).ok().map(|meta| (meta.dev(), meta.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Path) -> Option<()> {
    None
}

/// The form in which two paths are one before there is a file, as the disks of the system usually
/// have it.
fn key(place: &Path) -> std::ffi::OsString {
    match place.to_str() {
        Some(text) if cfg!(any(windows, target_os = "macos")) => {
            domain::page::name_key(text).into()
        }
        _ => place.as_os_str().to_owned(),
    }
}

fn not_there_yet(path: &Path) -> io::Result<PathBuf> {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => Ok(fs::canonicalize(folder)?.join(name)),
        _ => Err(io::Error::other("the path names no file")),
    }
}

fn beside(place: &Path) -> io::Result<PathBuf> {
    let name = place.file_name().ok_or_else(|| io::Error::other("the path names no file"))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(".palimpsest");
    Ok(place.with_file_name(hidden))
}

fn write_beside(place: &Path, beside: &Path, bytes: &[u8], over: &Found) -> io::Result<bool> {
    let mut file = File::create(beside)?;
    file.write_all(bytes)?;
    if let Ok(meta) = fs::metadata(place) {
        file.set_permissions(meta.permissions())?;
    }
    file.sync_all()?;
    drop(file);
    // As late as can be: bringing the bytes to the disk takes its time, and an editor saves meanwhile.
    if read(place)? != *over {
        return Ok(false);
    }
    fs::rename(beside, place)?;
    // The rename itself shall survive a loss of power; where folders cannot be opened, it does not
    // need to be told.
    if let Some(Ok(folder)) = place.parent().map(File::open) {
        let _ = folder.sync_all();
    }
    Ok(true)
}

/// A path as a target: absolute, in a folder that exists, outside the data folder, no folder itself.
///
/// # Errors
/// What is wrong with the field.
pub(crate) fn check(path: &str, data_folder: &Path) -> Result<PathBuf, FieldFault> {
    let bad = |message: &str| FieldFault::new("path", "out_of_range", message);
    let path = path.trim();
    if path.is_empty() {
        return Err(FieldFault::blank("path"));
    }
    let given = Path::new(path);
    if !given.is_absolute() {
        return Err(bad("Give the whole path, from the root of the disk on."));
    }
    let (Some(parent), Some(name)) = (given.parent(), given.file_name()) else {
        return Err(bad("The path names no file."));
    };
    let Ok(parent) = fs::canonicalize(parent) else {
        return Err(bad("There is no such folder; make it first."));
    };
    let place = parent.join(name);
    let Ok(leads_to) = self::place(&place) else {
        return Err(bad("The path is a link that leads to no folder; make it first."));
    };
    if fs::canonicalize(data_folder).is_ok_and(|data| leads_to.starts_with(data)) {
        return Err(bad("Choose a place outside the program's own data folder."));
    }
    if place.is_dir() {
        return Err(bad("This is a folder; name a file in it."));
    }
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("notes.md");
        put(&path, b"one").expect("a file");
        put(&path, b"two\r\n").expect("a file");
        assert_eq!(read(&path).expect("bytes"), Found::Bytes(b"two\r\n".to_vec()));
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
        let nowhere = folder.path().join("none").join("notes.md");
        assert!(put(&nowhere, b"x").is_err());
        assert_eq!(read(&nowhere).expect("nothing"), Found::Nothing);
    }

    #[test]
    fn what_an_editor_saves_between_look_and_rename_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("notes.md");
        for before in [None, Some("one")] {
            if let Some(text) = before {
                fs::write(&path, text).expect("a file");
            }
            let mut seen = Vec::new();
            let end = settle(&path, |found| {
                seen.push(found.text().map(str::to_owned));
                if seen.len() == 1 {
                    fs::write(&path, "saved meanwhile").expect("a save");
                    return (Next::Write(b"two".to_vec()), "written");
                }
                (Next::Leave, "left")
            });
            assert_eq!(end.expect("settled"), "left");
            assert_eq!(seen, [before.map(str::to_owned), Some("saved meanwhile".to_owned())]);
            assert_eq!(fs::read(&path).expect("bytes"), b"saved meanwhile");
            assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
        }
        let mut saves = 0;
        let restless = settle(&path, |_| {
            saves += 1;
            fs::write(&path, format!("{saves}")).expect("a save");
            (Next::Write(b"two".to_vec()), ())
        });
        assert!(restless.is_err());
        assert_eq!(fs::read_to_string(&path).expect("bytes"), saves.to_string());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_rights_stay_as_they_were() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let (real, link) = (folder.path().join("real.md"), folder.path().join("link.md"));
        fs::write(&real, "one").expect("a file");
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("rights");
        std::os::unix::fs::symlink(&real, &link).expect("a link");
        put(&link, b"two").expect("a file");
        assert_eq!(fs::read(&real).expect("bytes"), b"two");
        assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
        assert_eq!(fs::metadata(&real).expect("a file").permissions().mode() & 0o777, 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_file_that_is_not_there_yet_is_followed_too() {
        let folder = tempfile::tempdir().expect("a folder");
        let vault = folder.path().join("vault");
        fs::create_dir(&vault).expect("a folder");
        let (real, link) = (vault.join("real.md"), folder.path().join("link.md"));
        std::os::unix::fs::symlink("vault/real.md", &link).expect("a link");
        put(&link, b"one").expect("a file");
        assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
        assert_eq!(fs::read(&real).expect("bytes"), b"one");
        let lost = folder.path().join("lost.md");
        std::os::unix::fs::symlink("none/real.md", &lost).expect("a link");
        assert!(put(&lost, b"one").is_err());
        assert!(fs::symlink_metadata(&lost).expect("a link").is_symlink());
        let circle = folder.path().join("circle.md");
        std::os::unix::fs::symlink("circle.md", &circle).expect("a link");
        assert!(put(&circle, b"one").is_err());
        let data = folder.path().join("data");
        fs::create_dir(&data).expect("a folder");
        let inside = folder.path().join("inside.md");
        std::os::unix::fs::symlink("data/x.md", &inside).expect("a link");
        assert!(check(inside.to_str().unwrap_or_default(), &data).is_err());
        assert!(check(link.to_str().unwrap_or_default(), &data).is_ok());
    }

    #[test]
    fn a_target_is_a_file_in_a_folder_outside_the_data() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data");
        fs::create_dir(&data).expect("a folder");
        let given = |path: PathBuf| check(path.to_str().unwrap_or_default(), &data);
        assert!(given(folder.path().join("notes.md")).is_ok());
        for path in [
            PathBuf::from("notes.md"),
            PathBuf::new(),
            data.join("notes.md"),
            folder.path().join("data").join("..").join("data").join("notes.md"),
            folder.path().join("none").join("notes.md"),
            data.clone(),
            PathBuf::from("/"),
        ] {
            assert!(given(path.clone()).is_err(), "{}", path.display());
        }
    }
}
