//! What commands are given: the data folder of this start, and what was opened in it.

use std::path::{Path, PathBuf};

/// The program over one data folder.
#[derive(Debug)]
pub struct App {
    folder: PathBuf,
}

impl App {
    /// The program over that folder; nothing is opened yet.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Where the data lies.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}
