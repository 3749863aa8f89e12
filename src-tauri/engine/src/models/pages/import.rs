//! Pages and models from Markdown files: a bundle or single files of an export, or notes of another
//! program. The text is taken byte for byte as the document; what stands in the header becomes name,
//! question and tags. No language model is asked and no refresh is queued. What cannot be read is
//! named with its reason and does not keep the rest out.

use super::index::{self, INDEX};
use super::write::{folder_key, node_id};
use crate::handle::{read_bank, write_bank};
use crate::memory::files_of;
use crate::models::lifecycle::{self, checked_over, fresh_id};
use crate::models::loaded::search_text;
use crate::models::published;
use crate::report::{Report, fault};
use crate::view::memory::Skipped;
use crate::view::model::{NewModel, ReviewMode};
use crate::view::page::{ImportPages, ImportedPage, ImportedPages, OnConflict};
use crate::{Engine, Result};
use domain::document::parse;
use domain::model::{CreateDefaults, CreateModel, PAGE_MAX_TOKENS, is_model_id};
use domain::page::{self, Header, name_key, read_header, split_front_matter, without_mark};
use domain::trigger::StatedTrigger;
use domain::{BankId, FieldFault, Instant, ModelId, NodeId};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;
use store::kb::{self, NewNode, NodeKind};
use store::versions::VersionCause;
use store::{BankKey, EmbedderKey, NodeKey, ReadTx, WriteTx, models};
use tokio_util::sync::CancellationToken;

/// What the peer keeps as the text of a document that was never built.
const NOT_BUILT: &str = "Generating content...";

/// Largest file that is read.
const LARGEST: u64 = published::file::LARGEST;

/// What the files hold.
#[derive(Default)]
struct Read {
    /// Folders by the names that lead to them, those above first.
    folders: Vec<Vec<String>>,
    entries: Vec<Entry>,
    skipped: Vec<Skipped>,
}

/// One document to be taken in.
struct Entry {
    /// Name of the file below what was chosen.
    file: String,
    /// Names of the folders that it lies in.
    folders: Vec<String>,
    /// Id of the page or model that it was written from; may be empty.
    id: String,
    model: CreateModel,
}

/// How files are taken: as what, and what is presumed of a model that says nothing itself.
struct Taken {
    as_pages: bool,
    review: Option<ReviewMode>,
    defaults: CreateDefaults,
}

/// What becomes of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    /// It becomes a page or model of its own.
    New,
    /// It becomes a version of one that is there, known by that name.
    Replace { model: ModelId, name: String },
    /// What is there stays.
    Keep,
}

/// An entry with all that is worked out before the transaction.
struct Ready {
    entry: Entry,
    fate: Fate,
    vector: (EmbedderKey, Vec<f32>),
    page: NodeId,
    model: ModelId,
}

pub(super) async fn pages(
    engine: &Engine,
    bank: &BankId,
    input: ImportPages,
) -> Result<ImportedPages> {
    if input.paths.is_empty() {
        let field = FieldFault::blank("paths");
        return Err(fault("invalid_request").fields(vec![field]).into());
    }
    let taken = Taken {
        as_pages: input.as_pages,
        review: input.review,
        defaults: lifecycle::defaults(engine, bank).await?,
    };
    let paths = input.paths.clone();
    let read = tokio::task::spawn_blocking(move || read(&paths, &taken));
    let read = read.await.map_err(|error| fault("unexpected_error").detail(error))?;
    let Read { folders, entries, mut skipped } = read;
    let asked = input.clone();
    let planned = read_bank(engine, bank, move |tx, key| {
        let parent = folder_key(tx, key, asked.parent_id.as_ref())?;
        let tree = Tree::read(tx, key)?;
        entries
            .into_iter()
            .map(|entry| Ok((fate(tx, key, &tree, parent, &asked, &entry)?, entry)))
            .collect::<store::Result<Vec<_>>>()
    })
    .await?;
    let ready = ready(engine, planned).await?;
    let (owner, now) = (engine.clone(), engine.now());
    let (imported, left) = write_bank(engine, bank, "import_pages", move |tx, key| {
        let parent = folder_key(tx, key, input.parent_id.as_ref())?;
        let tree = Tree::read(tx, key)?;
        let mut import = Import { tx, bank: key, tree, parent, input: &input, owner: &owner, now };
        import.all(&folders, ready)
    })
    .await?;
    skipped.extend(left);
    for done in imported.iter().filter(|done| done.replaced) {
        published::after_commit(engine, bank, &done.mental_model_id, None).await;
    }
    Ok(ImportedPages { imported, skipped })
}

/// Reads all files. A folder with an index of ours is a bundle and is read as that says; any other is
/// read with all Markdown below it, its folders becoming folders of the tree.
fn read(paths: &[String], taken: &Taken) -> Read {
    let mut found = Read::default();
    for path in paths {
        let folder = Path::new(path);
        if let Err(error) = folder.metadata() {
            found.skip(path.clone(), unreadable(error));
            continue;
        }
        let listed = text_of(&folder.join(INDEX)).ok().and_then(|text| index::read(&text));
        if let Some(items) = listed {
            let mut above: Vec<String> = Vec::new();
            for item in items {
                above.truncate(item.depth);
                match item.file {
                    Some(file) => found.take(&folder.join(&file), file, &above, taken),
                    None => {
                        above.push(item.name);
                        found.folders.push(above.clone());
                    }
                }
            }
            continue;
        }
        for file in files_of(std::slice::from_ref(path)) {
            if let Some(reason) = file.problem {
                found.skip(file.name, reason);
                continue;
            }
            let is_markdown = file.path.extension().is_some_and(|end| {
                end.eq_ignore_ascii_case("md") || end.eq_ignore_ascii_case("markdown")
            });
            if is_markdown {
                let mut above: Vec<String> = file.name.split('/').map(str::to_owned).collect();
                above.pop();
                for depth in 1..=above.len() {
                    found.folders.push(above[..depth].to_vec());
                }
                found.take(&file.path, file.name, &above, taken);
            } else if !folder.is_dir() {
                found.skip(file.name, "This is not a Markdown file.".to_owned());
            }
        }
    }
    found
}

impl Read {
    fn skip(&mut self, file: String, reason: String) {
        self.skipped.push(Skipped { file, line: None, reason });
    }

    fn take(&mut self, path: &Path, file: String, folders: &[String], taken: &Taken) {
        let entry = text_of(path).and_then(|text| {
            let (id, model) = model_of(path, &text, taken)?;
            Ok(Entry { file: file.clone(), folders: folders.to_vec(), id, model })
        });
        match entry {
            Ok(entry) => self.entries.push(entry),
            Err(reason) => self.skip(file, reason),
        }
    }
}

/// Why a file is left out, and what to do about it, without the words of the operating system where
/// there are plainer ones.
fn unreadable(error: std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "There is no such file or folder. Check the path.".to_owned(),
        ErrorKind::PermissionDenied => {
            "Your account may not read it. Change its permissions or copy it elsewhere.".to_owned()
        }
        _ => format!("It cannot be read: {error}."),
    }
}

fn text_of(path: &Path) -> std::result::Result<String, String> {
    if std::fs::metadata(path).map_err(unreadable)?.len() > LARGEST {
        return Err("The file is too large to be a document.".to_owned());
    }
    let bytes = std::fs::read(path).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|_| "The file is not text in UTF-8.".to_owned())
}

/// The id that a file names, and the model it makes; why not, in words, if its fields are not valid.
fn model_of(
    path: &Path,
    text: &str,
    taken: &Taken,
) -> std::result::Result<(String, CreateModel), String> {
    let (header, body) = split_front_matter(text);
    let Header { id, kind, title, description, mut tags } =
        header.map(read_header).unwrap_or_default();
    let body = without_mark(body);
    let heading = || parse(body).sections.into_iter().map(|section| section.heading);
    let stem = || path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = Some(title)
        .filter(|title| !title.is_empty())
        .or_else(|| heading().find(|heading| !heading.is_empty()))
        .or_else(stem)
        .unwrap_or_default();
    if !kind.is_empty() && kind != page::PAGE_TYPE && kind != page::MODEL_TYPE {
        tags.push(format!("{}{kind}", page::TYPE_TAG));
    }
    let is_built = !body.trim().is_empty() && body.trim() != NOT_BUILT;
    let asks =
        if description.is_empty() { format!("What do we know about {name}?") } else { description };
    let new = NewModel {
        id: None,
        name,
        source_query: asks,
        tags,
        max_tokens: None,
        trigger: None,
        review: taken.review,
        content: is_built.then(|| body.to_owned()),
    };
    let (max_tokens, base) = if taken.as_pages {
        (Some(PAGE_MAX_TOKENS), StatedTrigger::page_defaults())
    } else {
        (None, StatedTrigger::default())
    };
    let defaults = taken.defaults;
    let max_tokens = max_tokens.unwrap_or(defaults.max_tokens);
    let (model, _) =
        checked_over(&new, CreateDefaults { max_tokens, ..defaults }, &base).map_err(|error| {
            let report = Report::from(error);
            let field = report.fields.first();
            field.map_or(report.message.clone(), |field| {
                format!("{}: {}", field.field, field.message)
            })
        })?;
    Ok((id, model))
}

/// The names of the tree, each in its folder.
struct Tree {
    named: HashMap<(Option<NodeKey>, String), (NodeKey, NodeKind)>,
}

impl Tree {
    fn read(tx: &ReadTx<'_>, bank: BankKey) -> store::Result<Self> {
        let nodes = kb::list(tx, bank)?.into_iter();
        let named = nodes.map(|n| ((n.parent, name_key(&n.name)), (n.key, n.kind))).collect();
        Ok(Self { named })
    }

    fn find(&self, parent: Option<NodeKey>, name: &str, kind: NodeKind) -> Option<NodeKey> {
        let found = self.named.get(&(parent, name_key(name)));
        found.filter(|(_, known)| *known == kind).map(|(key, _)| *key)
    }

    /// A name that nothing in the folder has: the name itself, else with a number.
    fn free(&self, parent: Option<NodeKey>, name: &str) -> String {
        let numbered = (2_u32..).map(|number| format!("{name} ({number})"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        let is_free = |name: &String| !self.named.contains_key(&(parent, name_key(name)));
        names.find(is_free).unwrap_or_default()
    }

    /// The page of a name in a folder that is there already.
    fn page(&self, parent: Option<NodeKey>, folders: &[String], name: &str) -> Option<NodeKey> {
        let mut at = parent;
        for folder in folders {
            at = Some(self.find(at, folder, NodeKind::Folder)?);
        }
        self.find(at, name, NodeKind::Page)
    }
}

/// What becomes of an entry as the bank stands.
fn fate(
    tx: &ReadTx<'_>,
    bank: BankKey,
    tree: &Tree,
    parent: Option<NodeKey>,
    input: &ImportPages,
    entry: &Entry,
) -> store::Result<Fate> {
    if input.on_conflict == OnConflict::NewId {
        return Ok(Fate::New);
    }
    let found = if input.as_pages {
        let by_id = match kb::get(tx, bank, &NodeId(entry.id.clone())) {
            Ok(node) => node.model,
            Err(store::Error::NotFound { .. }) => None,
            Err(error) => return Err(error),
        };
        let by_name = || tree.page(parent, &entry.folders, &entry.model.name);
        match (by_id, by_name()) {
            (Some(model), _) => Some(models::by_key(tx, model)?),
            (None, Some(node)) => match kb::model_of(tx, node)? {
                Some(model) => Some(models::by_key(tx, model)?),
                None => None,
            },
            (None, None) => None,
        }
    } else {
        models::find(tx, bank, &ModelId(entry.id.clone()))?
    };
    Ok(match (found, input.on_conflict) {
        (None, _) => Fate::New,
        (Some(model), OnConflict::Replace) => {
            Fate::Replace { model: model.head.id, name: model.head.name }
        }
        (Some(_), OnConflict::Skip | OnConflict::NewId) => Fate::Keep,
    })
}

/// Works out the vectors of all entries that are written, and ids that are not used yet.
async fn ready(engine: &Engine, planned: Vec<(Fate, Entry)>) -> Result<Vec<Ready>> {
    let texts: Vec<String> = planned
        .iter()
        .map(|(fate, entry)| {
            let content = entry.model.content.as_deref().unwrap_or_default();
            match fate {
                Fate::Replace { name, .. } => search_text(name, content),
                Fate::New | Fate::Keep => search_text(&entry.model.name, content),
            }
        })
        .collect();
    let vectors = engine.embed_passages(&texts, &CancellationToken::new()).await?;
    let embedder = engine.inner.embedder_key;
    let ready = planned.into_iter().zip(vectors).map(|((fate, entry), vector)| Ready {
        entry,
        fate,
        vector: (embedder, vector),
        page: node_id(engine, "kp"),
        model: fresh_id(engine),
    });
    Ok(ready.collect())
}

/// The transaction of an import.
struct Import<'a> {
    tx: &'a WriteTx<'a>,
    bank: BankKey,
    tree: Tree,
    parent: Option<NodeKey>,
    input: &'a ImportPages,
    /// Makes the ids of new folders.
    owner: &'a Engine,
    now: Instant,
}

impl Import<'_> {
    fn all(
        &mut self,
        folders: &[Vec<String>],
        ready: Vec<Ready>,
    ) -> store::Result<(Vec<ImportedPage>, Vec<Skipped>)> {
        if self.input.as_pages {
            for path in folders {
                self.folder(path)?;
            }
        }
        let (mut imported, mut skipped) = (Vec::new(), Vec::new());
        for ready in ready {
            let file = ready.entry.file.clone();
            let mut skip = |reason: &str| {
                let reason = reason.to_owned();
                skipped.push(Skipped { file: file.clone(), line: None, reason });
            };
            match (&ready.fate, &ready.entry.model.content) {
                (Fate::Keep, _) => skip("It is there already."),
                (Fate::Replace { .. }, None) => skip("There is no text in it."),
                (Fate::Replace { model, .. }, Some(content)) => {
                    match self.replace(&ready, model, content)? {
                        Some(done) => imported.push(done),
                        None => skip("It says the same already."),
                    }
                }
                (Fate::New, _) => imported.push(self.add(ready)?),
            }
        }
        Ok((imported, skipped))
    }

    /// The folder that some names lead to, made where it is missing.
    fn folder(&mut self, path: &[String]) -> store::Result<Option<NodeKey>> {
        let mut at = self.parent;
        for name in path {
            if let Some(known) = self.tree.find(at, name, NodeKind::Folder) {
                at = Some(known);
                continue;
            }
            let id = node_id(self.owner, "kf");
            at = Some(self.node(id, NodeKind::Folder, at, name, None)?);
        }
        Ok(at)
    }

    fn node(
        &mut self,
        id: NodeId,
        kind: NodeKind,
        parent: Option<NodeKey>,
        name: &str,
        model: Option<store::ModelKey>,
    ) -> store::Result<NodeKey> {
        let name = self.tree.free(parent, name);
        let named = (parent, name_key(&name));
        let new = NewNode { id, kind, name, parent, model };
        let key = kb::insert(self.tx, self.bank, &new, self.now)?;
        self.tree.named.insert(named, (key, kind));
        Ok(key)
    }

    fn add(&mut self, ready: Ready) -> store::Result<ImportedPage> {
        let Ready { entry, vector, page, model: fresh, .. } = ready;
        let Entry { file, folders, id: stated, mut model } = entry;
        if !self.input.as_pages {
            let own = ModelId(stated);
            let is_free =
                is_model_id(own.as_str()) && models::find(self.tx, self.bank, &own)?.is_none();
            let id = if is_free { own } else { fresh };
            self.insert(&id, &model, vector)?;
            let name = model.name;
            return Ok(ImportedPage {
                file,
                name,
                mental_model_id: id,
                page_id: None,
                replaced: false,
            });
        }
        let parent = self.folder(&folders)?;
        let own = NodeId(stated);
        let page_id = if is_page_id(&own) && !kb::is_used(self.tx, &own)? { own } else { page };
        // A page and its model have one name.
        model.name = self.tree.free(parent, &model.name);
        let key = self.insert(&fresh, &model, vector)?;
        self.node(page_id.clone(), NodeKind::Page, parent, &model.name, Some(key))?;
        Ok(ImportedPage {
            file,
            name: model.name,
            mental_model_id: fresh,
            page_id: Some(page_id),
            replaced: false,
        })
    }

    fn insert(
        &self,
        id: &ModelId,
        model: &CreateModel,
        vector: (EmbedderKey, Vec<f32>),
    ) -> store::Result<store::ModelKey> {
        lifecycle::insert(self.tx, self.bank, id, model, vector, VersionCause::Import, self.now)
    }

    /// A text as the next version of a model that is there; none if that says the same.
    fn replace(
        &self,
        ready: &Ready,
        id: &ModelId,
        content: &str,
    ) -> store::Result<Option<ImportedPage>> {
        let model = models::get(self.tx, self.bank, id)?;
        if model.content == content {
            return Ok(None);
        }
        let (cause, expected) = (VersionCause::Import, model.head.version);
        let vector = ready.vector.clone();
        lifecycle::rewrite(self.tx, self.bank, id, content, vector, cause, expected, self.now)?;
        Ok(Some(ImportedPage {
            file: ready.entry.file.clone(),
            name: model.head.name,
            mental_model_id: id.clone(),
            page_id: kb::of_model(self.tx, model.head.key)?.map(|node| node.id),
            replaced: true,
        }))
    }
}

/// Whether an id is one that a page of ours has.
fn is_page_id(id: &NodeId) -> bool {
    let hex = id.as_str().strip_prefix("kp-");
    hex.is_some_and(|hex| {
        hex.len() == 32 && hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    })
}
