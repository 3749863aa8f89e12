//! Models as Markdown files of their own, named so that a person finds them again. A file that is not
//! an earlier export of the same model is never written over.

use super::export::{refused, text_of};
use crate::handle::read_bank;
use crate::models::published::file as target;
use crate::report::fault;
use crate::{Engine, Error, Result};
use domain::document::section_slug;
use domain::page::{read_header, split_front_matter};
use domain::{BankId, ModelId};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A model as a file.
struct Copied {
    /// What the file is named after.
    name: String,
    /// Id of the page or model, as its header states it.
    id: String,
    text: String,
}

pub(super) async fn save(
    engine: &Engine,
    bank: &BankId,
    models: &[ModelId],
    folder: &str,
) -> Result<u32> {
    let place = PathBuf::from(folder.trim());
    if !place.is_absolute() {
        return Err(refused("Give the whole path, from the root of the disk on."));
    }
    let wanted = models.to_vec();
    let copies = read_bank(engine, bank, move |tx, key| {
        let mut copies = Vec::new();
        for id in &wanted {
            let model = store::models::get(tx, key, id)?;
            let page = store::kb::of_model(tx, model.head.key)?;
            let id = page.as_ref().map_or_else(|| id.0.clone(), |node| node.id.0.clone());
            let name = model.head.name.clone();
            copies.push(Copied { name, text: text_of(&model, page.as_ref()), id });
        }
        Ok(copies)
    })
    .await?;
    let data = engine.inner.config.folder.clone();
    let published = engine.store().read(store::models::provenance::published).await?;
    let targets: Vec<PathBuf> =
        published.into_iter().map(|(_, other)| PathBuf::from(&other.path)).collect();
    let written = tokio::task::spawn_blocking(move || {
        let mut taken = HashSet::new();
        let mut writable = Vec::new();
        for copy in copies {
            let path = free(&place, &data, &copy, &targets, &taken)?;
            taken.insert(path.clone());
            writable.push((path, copy.text));
        }
        let count = u32::try_from(writable.len()).unwrap_or(u32::MAX);
        for (path, text) in writable {
            target::put(&path, text.as_bytes())
                .map_err(|source| Error::Io { path: path.display().to_string(), source })?;
        }
        Ok(count)
    });
    written.await.map_err(|error| fault("unexpected_error").detail(error))?
}

/// The path that a copy is written to: named after its model, with a number where that is somebody
/// else's.
fn free(
    folder: &Path,
    data: &Path,
    copy: &Copied,
    targets: &[PathBuf],
    taken: &HashSet<PathBuf>,
) -> Result<PathBuf> {
    let stem = section_slug(&copy.name);
    for number in 1_u32.. {
        let end = if number == 1 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{stem}{end}.md"));
        if path.is_dir() {
            continue;
        }
        let checked = path.to_str().and_then(|path| target::check(path, data).ok());
        let bad = "Choose a folder that exists, outside the program's own data folder.";
        let path = checked.ok_or_else(|| refused(bad))?;
        let is_target = targets.iter().any(|other| target::is_same(other, &path));
        if !is_target && !taken.contains(&path) && (!path.exists() || is_of(&path, &copy.id)) {
            return Ok(path);
        }
    }
    Err(fault("unexpected_error").into())
}

/// Whether a file is an earlier export of the page or model with this id.
fn is_of(path: &Path, id: &str) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| {
        split_front_matter(&text).0.map(read_header).is_some_and(|header| header.id == id)
    })
}
