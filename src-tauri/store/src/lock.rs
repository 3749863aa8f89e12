//! The owner of a data folder. The lock is the operating system's, on a file beside the database:
//! it goes with the process, so a crash leaves nothing to clean up.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use crate::error::{Error, Result};

/// Holds the folder until dropped.
#[derive(Debug)]
pub(crate) struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Takes the folder, or says that another process has it.
    pub(crate) fn take(folder: &Path) -> Result<Self> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(folder.join("palimpsest.lock"))
            .map_err(unwritable)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => {
                Err(Error::DataFolderInUse { folder: folder.to_owned() })
            }
            Err(TryLockError::Error(e)) => Err(e.into()),
        }
    }
}

/// Sorts the faults of creating files: a full disk and a read-only folder have their own words.
pub(crate) fn unwritable(e: std::io::Error) -> Error {
    use std::io::ErrorKind as K;
    match e.kind() {
        K::PermissionDenied | K::ReadOnlyFilesystem => Error::ReadOnly { detail: e.to_string() },
        _ => e.into(),
    }
}
