//! Pages as Markdown: one with its header, or all of them as a bundle of files with an index and, for
//! each page, its history.

use super::index::{self, INDEX, Item, link_text, one_line};
use crate::models::history;
use crate::models::published::file as target;
use crate::report::fault;
use crate::view::model::TimelineEntry;
use crate::view::page::{BundleFile, PageText};
use crate::{Engine, Error, Result};
use domain::document::LineEnd;
use domain::page::{self, FrontMatter, MODEL_TYPE, PAGE_TYPE};
use domain::time::to_rfc3339;
use domain::{FieldFault, NodeId};
use std::path::{Path, PathBuf};
use store::kb::{self, Node, NodeKind};
use store::models::Model;
use store::{BankKey, ReadTx};

/// A page with its header.
pub(super) fn page(tx: &ReadTx<'_>, bank: BankKey, id: &NodeId) -> store::Result<PageText> {
    let node = kb::get(tx, bank, id)?;
    let missing = || store::Error::not_found(store::Thing::Node, id.as_str());
    text(tx, &node)?.ok_or_else(missing)
}

/// The text of a page; none for a folder.
fn text(tx: &ReadTx<'_>, node: &Node) -> store::Result<Option<PageText>> {
    let Some(model) = node.model else { return Ok(None) };
    let model = store::models::by_key(tx, model)?;
    let head = &model.head;
    let markdown = text_of(&model, Some(node));
    Ok(Some(PageText {
        id: node.id.clone(),
        name: head.name.clone(),
        kind: page::page_type(&head.tags, PAGE_TYPE).to_owned(),
        description: head.source_query.clone(),
        tags: page::shown_tags(&head.tags),
        timestamp: head.last_refreshed_at,
        markdown,
        body: model.content,
    }))
}

/// A model as the text of a file: a header, and its document as it stands.
pub(super) fn text_of(model: &Model, page: Option<&Node>) -> String {
    let head = &model.head;
    let front = FrontMatter {
        id: page.map_or(head.id.as_str(), |node| node.id.as_str()),
        title: &head.name,
        description: &head.source_query,
        tags: &head.tags,
        kind: if page.is_some() { PAGE_TYPE } else { MODEL_TYPE },
        timestamp: head.last_refreshed_at,
    };
    front.render(&[], LineEnd::of(&model.content)) + &model.content
}

/// All pages of a bank as files.
pub(super) fn bundle(tx: &ReadTx<'_>, bank: BankKey) -> store::Result<Vec<BundleFile>> {
    let nodes = kb::list(tx, bank)?;
    let places: Vec<_> = nodes.iter().map(|node| (node.key, node.parent)).collect();
    let name = store::banks::by_key(tx, bank)?.name;
    let mut items = Vec::new();
    let mut pages = Vec::new();
    for (at, depth) in page::walk(&places) {
        let node = &nodes[at];
        let file = format!("{}.md", node.id);
        items.push(Item {
            depth: usize::try_from(depth).unwrap_or(0),
            name: node.name.clone(),
            file: (node.kind == NodeKind::Page).then(|| file.clone()),
        });
        if let Some(text) = text(tx, node)? {
            pages.push(BundleFile { path: file, content: text.markdown });
            pages.push(BundleFile {
                path: format!("{}.log.md", node.id),
                content: log(tx, bank, node)?,
            });
        }
    }
    let index = index::write(&name, &items);
    let mut files = vec![BundleFile { path: INDEX.to_owned(), content: index }];
    files.extend(pages);
    Ok(files)
}

/// The history of a page, newest first, a line for each entry.
fn log(tx: &ReadTx<'_>, bank: BankKey, node: &Node) -> store::Result<String> {
    let mut log = format!("# History of {}\n\n", link_text(&node.name));
    let Some(model) = node.model else { return Ok(log) };
    let id = store::models::by_key(tx, model)?.head.id;
    for entry in history::timeline(tx, bank, &id)? {
        log.push_str(&line(entry));
        log.push('\n');
    }
    Ok(log)
}

fn line(entry: TimelineEntry) -> String {
    let noted = |note: Option<String>| {
        note.map(|note| format!(" Note: {}", one_line(&note))).unwrap_or_default()
    };
    match entry {
        TimelineEntry::Version { version, cause, actor, at, note, change, .. } => {
            let size = format!(
                "{} added, {} removed, {} changed",
                change.added, change.removed, change.changed
            );
            let (at, made, by) = (to_rfc3339(at), made(&cause), by(&actor));
            format!("- {at}: version {version}, {made} {by}; blocks: {size}.{}", noted(note))
        }
        TimelineEntry::Proposal { proposal, state, at, note, .. } => {
            let (at, number) = (to_rfc3339(at), proposal.number);
            format!("- {at}: proposal {number} was {state}.{}", noted(note))
        }
        TimelineEntry::FailedRun { at, report, .. } => {
            let why = report.map(|report| format!(" {}", report.message)).unwrap_or_default();
            format!("- {}: a refresh failed.{why}", to_rfc3339(at))
        }
    }
}

fn made(cause: &str) -> &'static str {
    match cause {
        "created" => "written",
        "refresh_full" => "rebuilt",
        "refresh_delta" => "refreshed",
        "retraction" => "cleared of withdrawn facts",
        "proposal" => "approved",
        "edit" => "edited",
        "clear" => "emptied",
        "revert" => "brought back",
        _ => "imported",
    }
}

fn by(actor: &str) -> &'static str {
    match actor {
        "person" => "by a person",
        "after_consolidation" => "after consolidation",
        "after_deletion" => "after a deletion",
        "cron" => "on schedule",
        "manual_refresh" => "as asked",
        _ => "with an import",
    }
}

/// Writes files into a folder that exists.
pub(super) async fn save(engine: &Engine, folder: &str, files: Vec<BundleFile>) -> Result<u32> {
    let place = PathBuf::from(folder.trim());
    if !place.is_absolute() {
        return Err(refused("Give the whole path, from the root of the disk on."));
    }
    let count = u32::try_from(files.len()).unwrap_or(u32::MAX);
    let data = engine.inner.config.folder.clone();
    let published = engine.store().read(store::models::provenance::published).await?;
    let written = tokio::task::spawn_blocking(move || {
        let mut writable = Vec::new();
        for file in &files {
            let path = place.join(&file.path);
            let path = path.to_str().and_then(|path| target::check(path, &data).ok());
            let bad = "Choose a folder that exists, outside the program's own data folder.";
            let path = path.ok_or_else(|| refused(bad))?;
            let is_published = |path: &Path| {
                published.iter().any(|(_, other)| target::is_same(other.path.as_ref(), path))
            };
            if path.exists() && (is_published(&path) || !is_of_a_bundle(&path, &file.path)) {
                let text = format!("Choose another folder: this one has its own {}.", file.path);
                return Err(refused(&text));
            }
            writable.push((path, &file.content));
        }
        for (path, content) in writable {
            target::put(&path, content.as_bytes())
                .map_err(|source| Error::Io { path: path.display().to_string(), source })?;
        }
        Ok(count)
    });
    written.await.map_err(|error| fault("unexpected_error").detail(error))?
}

pub(super) fn refused(message: &str) -> Error {
    let field = FieldFault::new("folder", "out_of_range", message);
    fault("invalid_request").fields(vec![field]).into()
}

/// Whether a file may be one that an earlier bundle left. Pages and histories are named after ids
/// that nothing else is called by; an index is told by what stands in it.
fn is_of_a_bundle(path: &Path, name: &str) -> bool {
    name != INDEX || std::fs::read_to_string(path).is_ok_and(|text| index::read(&text).is_some())
}
