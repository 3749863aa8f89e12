//! Files and folders on their way in. What can be read is stored, what cannot is named with its
//! reason, and neither stops the other. Running the same import again finds what is there.

use super::curate::{given, tag_names};
use super::keep::{self, Fact};
use super::read::{self, Content, FactLine, FileKind};
use super::retain::{self, How, Source, Told};
use crate::handle::{read_bank, write_bank};
use crate::ops::Running;
use crate::report::{Fault, Report, fault};
use crate::view::memory::{ImportFile, ImportFiles, ImportKind, ImportPlan, ImportResult, Skipped};
use crate::view::operation::Progress;
use crate::{Engine, Result};
use domain::bank::BankSettings;
use domain::time::to_millis;
use domain::{BankId, DocumentId, MemoryId};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use store::memories::{self, Origin};
use store::operations::Operation;

/// Deepest folder that is walked into, against rings of links.
const MAX_DEPTH: usize = 32;

/// A file of an import.
#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) path: PathBuf,
    /// Its name below what was chosen.
    pub(crate) name: String,
    size: u64,
    /// Why it cannot even be looked at.
    pub(crate) problem: Option<String>,
}

/// What an import would read; nothing is written.
///
/// # Errors
/// `bank_not_found`, `invalid_request` without a path.
pub(super) async fn plan(engine: &Engine, bank: &BankId, input: ImportFiles) -> Result<ImportPlan> {
    read_bank(engine, bank, |_, _| Ok(())).await?;
    let files =
        blocking(move || walk(&input.paths).into_iter().map(planned).collect::<Vec<_>>()).await?;
    Ok(ImportPlan { files })
}

fn planned(file: File) -> ImportFile {
    let (kind, problem) = match &file.problem {
        Some(problem) => (ImportKind::LeftOut, Some(problem.clone())),
        None => match kind(&file) {
            Ok(kind) => (kind, None),
            Err(fault) => (ImportKind::LeftOut, Some(fault.report().message)),
        },
    };
    ImportFile {
        path: file.path.display().to_string(),
        name: file.name,
        kind,
        size: u32::try_from(file.size).unwrap_or(u32::MAX),
        problem,
    }
}

/// What a file will be. Only JSON has to be opened for that.
fn kind(file: &File) -> Result<ImportKind, Fault> {
    let Some(kind) = read::kind_of(&file.name) else {
        return Err(fault("unsupported_file").with("name", &file.name));
    };
    if file.size > read::MAX_BYTES {
        return Err(fault("file_too_large").with("name", &file.name).with("max", "100 MiB"));
    }
    Ok(match kind {
        FileKind::JsonLines => ImportKind::Facts,
        FileKind::Text | FileKind::Html | FileKind::Csv => ImportKind::Document,
        FileKind::Json => match open(file)? {
            Content::Facts(_) => ImportKind::Facts,
            Content::Text { .. } => ImportKind::Document,
        },
    })
}

fn open(file: &File) -> Result<Content, Fault> {
    if file.size > read::MAX_BYTES {
        return Err(fault("file_too_large").with("name", &file.name).with("max", "100 MiB"));
    }
    let bytes = std::fs::read(&file.path).map_err(|error| {
        fault("io").with("cause", format!("{}: {error}", file.name)).detail(error)
    })?;
    read::read(&file.name, &bytes)
}

/// Every file of the chosen paths, by name; hidden ones below a folder are passed over.
pub(crate) fn walk(paths: &[String]) -> Vec<File> {
    let mut files = Vec::new();
    for path in paths {
        let path = PathBuf::from(path);
        let name = path
            .file_name()
            .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
        if path.is_dir() {
            below(&path, "", 0, &mut files);
        } else {
            files.push(file(path, name));
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path);
    files
}

fn below(folder: &Path, prefix: &str, depth: usize, files: &mut Vec<File>) {
    let problem = |error: std::io::Error| File {
        path: folder.to_owned(),
        name: prefix.trim_end_matches('/').to_owned(),
        size: 0,
        problem: Some(format!("The folder cannot be read: {error}.")),
    };
    if depth > MAX_DEPTH {
        return;
    }
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return files.push(problem(error)),
    };
    for entry in entries.flatten() {
        let own = entry.file_name().to_string_lossy().into_owned();
        if own.starts_with('.') {
            continue;
        }
        let name = format!("{prefix}{own}");
        let path = entry.path();
        if path.is_dir() {
            below(&path, &format!("{name}/"), depth + 1, files);
        } else {
            files.push(file(path, name));
        }
    }
}

fn file(path: PathBuf, name: String) -> File {
    match std::fs::metadata(&path) {
        Ok(about) => File { path, name, size: about.len(), problem: None },
        Err(error) => {
            let problem = Some(format!("The file cannot be read: {error}."));
            File { path, name, size: 0, problem }
        }
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| fault("unexpected_error").detail(error).into())
}

/// Reads everything in.
///
/// # Errors
/// `cancelled`, `disk_full` and other failures of the machine or the language model; what was
/// stored before stays, and running it again goes on from there.
pub(super) async fn run(
    running: &Running,
    settings: &BankSettings,
    how: &How,
    input: ImportFiles,
) -> Result<ImportResult> {
    let files = blocking(move || walk(&input.paths)).await?;
    let tags = tag_names(&input.tags);
    let total = u32::try_from(files.len()).unwrap_or(u32::MAX);
    let mut result = ImportResult::default();
    let mut ids = BTreeMap::new();
    for (file, before) in files.into_iter().zip(0u32..) {
        running.check()?;
        let progress = Progress {
            stage: "reading".to_owned(),
            processed: (total > 1).then_some(before),
            total: (total > 1).then_some(total),
            detail: Some(file.name.clone()),
            stored: Some(result.facts),
        };
        running.progress(progress, false).await;
        let skip = |reason: String| Skipped { file: file.name.clone(), line: None, reason };
        if let Some(problem) = &file.problem {
            result.skipped.push(skip(problem.clone()));
            continue;
        }
        let opened = {
            let file = file.clone();
            blocking(move || open(&file)).await?
        };
        match opened {
            Err(fault) => result.skipped.push(skip(fault.report().message)),
            Ok(Content::Text { text, .. }) if !keep::says_something(&text) => {
                result.skipped.push(skip("The file holds no text.".to_owned()));
            }
            Ok(Content::Text { title, text }) => {
                let id = document_id(running, &file, &mut ids).await?;
                let source = Source {
                    id,
                    title: Some(title.unwrap_or_else(|| file.name.clone())),
                    mime: None,
                    path: Some(file.path.display().to_string()),
                    text,
                    context: None,
                    metadata: BTreeMap::new(),
                    tags: tags.clone(),
                    written_at: Some(running.operation.created_at),
                };
                // One file alone is told by its passages: "0 of 1" would say nothing for minutes.
                let told = Told {
                    running,
                    before,
                    total: (total > 1).then_some(total),
                    stored: result.facts,
                    what: file.name.clone(),
                };
                document(running, settings, &source, how, &told, &mut result).await?;
            }
            Ok(Content::Facts(lines)) => {
                let told = Told {
                    running,
                    before,
                    total: Some(total),
                    stored: result.facts,
                    what: file.name.clone(),
                };
                facts(&file, lines, &input_tags(&tags), &told, &mut result).await?;
            }
        }
    }
    let progress = Progress {
        stage: "done".to_owned(),
        processed: (total > 1).then_some(total),
        total: (total > 1).then_some(total),
        detail: None,
        stored: Some(result.facts),
    };
    running.progress(progress, true).await;
    Ok(result)
}

fn input_tags(tags: &std::collections::BTreeSet<String>) -> Vec<String> {
    tags.iter().cloned().collect()
}

/// The id of a file's document: its name, unless another file has that name.
async fn document_id(
    running: &Running,
    file: &File,
    taken: &mut BTreeMap<DocumentId, PathBuf>,
) -> Result<DocumentId> {
    let plain = DocumentId(file.name.clone());
    let path = file.path.display().to_string();
    let (id, own) = (plain.clone(), path.clone());
    let is_other = read_bank(&running.engine, &running.bank, move |tx, key| {
        let known = store::documents::find(tx, key, &id)?;
        Ok(known.is_some_and(|known| known.source_path.as_deref() != Some(&own)))
    })
    .await?;
    let in_use = taken.get(&plain).is_some_and(|other| *other != file.path);
    let id = if is_other || in_use {
        let hash = Sha256::digest(path.as_bytes());
        DocumentId(format!("{plain}-{:02x}{:02x}{:02x}{:02x}", hash[0], hash[1], hash[2], hash[3]))
    } else {
        plain
    };
    taken.insert(id.clone(), file.path.clone());
    Ok(id)
}

async fn document(
    running: &Running,
    settings: &BankSettings,
    source: &Source,
    how: &How,
    told: &Told<'_>,
    result: &mut ImportResult,
) -> Result<()> {
    if retain::is_read(&running.engine, &running.bank, source).await? {
        result.documents += 1;
        return Ok(());
    }
    let (now, own, stated) = (running.engine.now(), source.clone(), settings.clone());
    write_bank(&running.engine, &running.bank, "put_document", move |tx, key| {
        retain::put_document(tx, key, &own, &stated, now)
    })
    .await?;
    let kept = retain::read_document(running, settings, source, how, told).await?;
    result.documents += 1;
    result.facts += kept.facts;
    result.kept_here += u32::from(kept.kept_here);
    if kept.failed > 0 {
        result.skipped.push(Skipped {
            file: told.what.clone(),
            line: None,
            reason: format!("{} passages could not be read by the language model.", kept.failed),
        });
    }
    Ok(())
}

/// Stores ready-made facts, fifty a commit; broken lines are named.
async fn facts(
    file: &File,
    lines: Vec<FactLine>,
    tags: &[String],
    told: &Told<'_>,
    result: &mut ImportResult,
) -> Result<()> {
    let running = told.running;
    let mut ready: Vec<Fact> = Vec::new();
    for line in lines {
        let place = line.line;
        let skip = |reason: String| Skipped { file: file.name.clone(), line: Some(place), reason };
        let mut fact = match line.fact {
            Ok(fact) => fact,
            Err(reason) => {
                result.skipped.push(skip(reason));
                continue;
            }
        };
        fact.tags.extend(tags.iter().cloned());
        let id = fact_id(&running.operation, file, place);
        match given(&running.engine, id, fact, Origin::Imported) {
            Ok(mut fact) => {
                fact.position = usize::try_from(place).unwrap_or(0);
                ready.push(fact);
            }
            Err(error) => result.skipped.push(skip(Report::from(&error).message)),
        }
    }
    while !ready.is_empty() {
        running.check()?;
        told.stored(result.facts).await;
        let rest = ready.split_off(ready.len().min(keep::BATCH));
        let batch = std::mem::replace(&mut ready, rest);
        result.facts += store_facts(running, batch).await?;
        running.step_committed().await?;
    }
    Ok(())
}

/// Stores those of a batch that an earlier run has not stored; counts all of them.
async fn store_facts(running: &Running, batch: Vec<Fact>) -> Result<u32> {
    let all = u32::try_from(batch.len()).unwrap_or(u32::MAX);
    let ids: Vec<MemoryId> = batch.iter().map(|fact| fact.id.clone()).collect();
    let known = read_bank(&running.engine, &running.bank, move |tx, key| {
        Ok(memories::by_ids(tx, key, &ids)?.into_iter().map(|memory| memory.id).collect::<Vec<_>>())
    })
    .await?;
    let new: Vec<Fact> = batch.into_iter().filter(|fact| !known.contains(&fact.id)).collect();
    if new.is_empty() {
        return Ok(all);
    }
    let engine = &running.engine;
    let prepared = keep::prepare(engine, &running.bank, new, &running.cancel).await?;
    let (now, writer) = (engine.now(), engine.clone());
    write_bank(engine, &running.bank, "import_facts", move |tx, key| {
        keep::write(tx, &writer, key, &prepared, now)?;
        Ok(())
    })
    .await?;
    Ok(all)
}

/// The id of a fact of a file: the same in every run of one operation.
fn fact_id(operation: &Operation, file: &File, line: u32) -> MemoryId {
    let seed = format!("{}\n{}\n{line}", operation.id, file.path.display());
    let hash = Sha256::digest(seed.as_bytes());
    let mut random = [0; 10];
    random.copy_from_slice(&hash[..10]);
    MemoryId(domain::id::uuid_v7(to_millis(operation.created_at), random))
}
