//! From a text to facts: cut into chunks, hold them against those that are stored, read the new ones
//! and store their facts chunk by chunk. A run that is cut off goes on at the first chunk that is
//! not done; a reader never sees the document empty, because what is replaced goes in the same
//! commit as the last of what replaces it.

use super::extract::{self, Reader};
use super::keep::{self, Fact};
use super::names::Known;
use crate::handle::{read_bank, write_bank};
use crate::ops::Running;
use crate::report::Report;
use crate::view::operation::Progress;
use crate::{Engine, Result};
use domain::bank::BankSettings;
use domain::chunking::{self, ChunkLimits, chunk_document, match_chunks};
use domain::entities::canon_key;
use domain::tags::TagSet;
use domain::{BankId, DocumentId, Instant, MemoryId};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use store::chunks::{self, ExtractState, NewChunk};
use store::documents::{self, Document, DocumentFields};
use store::memories::{self, Edit, Origin};
use store::tombstones::Cause;
use store::{BankKey, ChunkKey, DocumentKey, ReadTx, WriteTx};

/// New chunks are numbered from here until the old ones have gone, since numbers are unique.
const ASIDE: u32 = 1_000_000_000;

/// Chunks that are embedded together when no language model reads them.
const CHUNKS_AT_ONCE: usize = 16;

/// A text on its way to facts.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) id: DocumentId,
    pub(crate) title: Option<String>,
    pub(crate) mime: Option<String>,
    pub(crate) path: Option<String>,
    pub(crate) text: String,
    pub(crate) context: Option<String>,
    pub(crate) metadata: BTreeMap<String, String>,
    pub(crate) tags: BTreeSet<String>,
    /// When the text was written; none for an unknown date.
    pub(crate) written_at: Option<Instant>,
}

/// What came of one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Kept {
    /// Facts stored in this run.
    pub(crate) facts: u32,
    /// Chunks that could not be read.
    pub(crate) failed: u32,
    /// Facts that were left out as repeats or as saying nothing.
    pub(crate) left_out: u32,
    /// Whether it was stored passage by passage, because the language model that was to read it is
    /// on another machine and a tag keeps the text on this one.
    pub(crate) kept_here: bool,
}

/// Stores a document's text, its chunks not read yet.
pub(crate) fn put_document(
    tx: &WriteTx<'_>,
    bank: BankKey,
    source: &Source,
    settings: &BankSettings,
    now: Instant,
) -> store::Result<DocumentKey> {
    documents::upsert(
        tx,
        bank,
        &source.id,
        &DocumentFields {
            title: source.title.clone(),
            mime: source.mime.clone(),
            source_path: source.path.clone(),
            text: settings.store_document_text.then(|| source.text.clone()),
            content_hash: Sha256::digest(source.text.as_bytes()).to_vec(),
            context: source.context.clone(),
            metadata: source.metadata.clone(),
            tags: source.tags.clone(),
            event_at: source.written_at,
            retain_params: serde_json::json!({}),
        },
        now,
    )
}

/// How chunks become facts.
pub(crate) enum How {
    /// Each chunk is one fact, word for word.
    Chunks,
    /// A language model reads facts from it.
    Read(Reader),
}

impl How {
    /// Whether a text with these tags must not be read this way.
    fn lets_out(&self, tags: &BTreeSet<String>, settings: &BankSettings) -> bool {
        matches!(self, Self::Read(reader) if reader.far)
            && TagSet::new(tags).overlaps(&settings.local_only())
    }
}

/// Reads a stored document into facts.
///
/// # Errors
/// Those of the language model that concern every chunk (the key, the network), of the embedder and
/// of the file; `cancelled`. A single chunk that cannot be read is counted, not an error.
pub(crate) async fn read_document(
    running: &Running,
    settings: &BankSettings,
    source: &Source,
    how: &How,
    told: &Told<'_>,
) -> Result<Kept> {
    let limits = limits(settings);
    let (_, wanted) = chunk_document(&source.text, limits);
    let private = settings.local_only();
    let mut work = set_out(&running.engine, &running.bank, source, wanted, private).await?;
    let marked =
        Source { tags: source.tags.union(&work.marks).cloned().collect(), ..source.clone() };
    let source = &marked;
    let kept_here = how.lets_out(&source.tags, settings);
    let how = if kept_here { &How::Chunks } else { how };
    let mut kept = Kept { kept_here, ..Kept::default() };
    let total = work.todo.len();
    let at_once = match how {
        How::Chunks => CHUNKS_AT_ONCE,
        How::Read(_) => 1,
    };
    let mut done = 0;
    while !work.todo.is_empty() {
        running.check()?;
        told.chunks(done, total, kept.facts).await;
        let rest = work.todo.split_off(work.todo.len().min(at_once));
        let now_read = std::mem::replace(&mut work.todo, rest);
        done += now_read.len();
        let last = work.todo.is_empty();
        let batch = read_chunks(running, source, how, &now_read, total, &mut work.seen).await?;
        kept.failed += batch.failed;
        kept.left_out += batch.left_out;
        kept.facts += store_batch(running, source, &work, batch, last).await?;
        running.step_committed().await?;
    }
    if total == 0 {
        finish(running, source, &work).await?;
    }
    told.chunks(total, total, kept.facts).await;
    Ok(kept)
}

/// Who is told how far a document is.
pub(crate) struct Told<'a> {
    pub(crate) running: &'a Running,
    /// Steps done before this document, and steps in all when they are known.
    pub(crate) before: u32,
    pub(crate) total: Option<u32>,
    /// Memories stored before this document.
    pub(crate) stored: u32,
    pub(crate) what: String,
}

impl Told<'_> {
    /// Says how many memories the whole run has stored, between two steps.
    pub(crate) async fn stored(&self, stored: u32) {
        let several = self.total.filter(|total| *total > 1);
        let progress = Progress {
            stage: "storing".to_owned(),
            processed: several.map(|_| self.before),
            total: several,
            detail: Some(self.what.clone()),
            stored: Some(stored),
        };
        self.running.progress(progress, false).await;
    }

    async fn chunks(&self, done: usize, of: usize, stored: u32) {
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        // With several documents a step is a document, else a chunk.
        let (processed, total) = match self.total {
            Some(total) => (self.before, total),
            None => (count(done), count(of)),
        };
        let detail = match self.total {
            Some(_) if of > 1 => format!("{} ({done}/{of})", self.what),
            Some(_) | None => self.what.clone(),
        };
        let progress = Progress {
            stage: "reading".to_owned(),
            processed: Some(processed),
            total: Some(total),
            detail: Some(detail),
            stored: Some(self.stored + stored),
        };
        self.running.progress(progress, false).await;
    }
}

fn limits(settings: &BankSettings) -> ChunkLimits {
    let size = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
    ChunkLimits::new(
        size(settings.retain_chunk_size),
        settings.retain_structured_chunk_size.map(size),
    )
}

/// A chunk that is to be read.
struct Todo {
    key: ChunkKey,
    index: u32,
    text: String,
}

/// What a run has to do with a document.
struct Work {
    document: DocumentKey,
    known: Known,
    todo: Vec<Todo>,
    /// Chunks of the former text, whose facts go with the last commit.
    removed: Vec<ChunkKey>,
    /// Every chunk of the new text with its number and place.
    order: Vec<(ChunkKey, u32, u32, u32)>,
    /// Tags that keep texts on this machine and stood on a fact of the former text. Nobody took them
    /// off what the text says, so they stand on the facts that replace it.
    marks: BTreeSet<String>,
    /// What the document says already: folded text, kind and dates.
    seen: HashSet<Said>,
}

type Said = (String, i64, Option<Instant>, Option<Instant>);

fn said(text: &str, kind: domain::FactType, from: Option<Instant>, to: Option<Instant>) -> Said {
    (canon_key(text), kind.code(), from, to)
}

/// Holds the new chunks against the stored ones and stores those that are missing, aside.
async fn set_out(
    engine: &Engine,
    bank: &BankId,
    source: &Source,
    wanted: Vec<chunking::Chunk>,
    private: TagSet,
) -> Result<Work> {
    let (id, tags) = (source.id.clone(), source.tags.clone());
    let now = engine.now();
    write_bank(engine, bank, "plan_chunks", move |tx, key| {
        let document = documents::get(tx, key, &id)?;
        let plan = plan(tx, &document, wanted)?;
        retag(tx, key, &plan, (&tags, &private), now)?;
        Ok(Work {
            document: document.key,
            known: Known::read(tx, key)?,
            marks: marks(tx, document.key, &plan.removed, &private)?,
            seen: already_said(tx, document.key, &plan.removed)?,
            todo: plan.todo,
            removed: plan.removed,
            order: plan.order,
        })
    })
    .await
}

struct Plan {
    todo: Vec<Todo>,
    removed: Vec<ChunkKey>,
    kept: Vec<ChunkKey>,
    order: Vec<(ChunkKey, u32, u32, u32)>,
}

fn plan(
    tx: &WriteTx<'_>,
    document: &Document,
    wanted: Vec<chunking::Chunk>,
) -> store::Result<Plan> {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let hashes: Vec<Vec<u8>> = wanted.iter().map(|chunk| chunk.hash().to_vec()).collect();
    // Chunks set aside by a run that was cut off stand at their place already.
    let (aside, old): (Vec<_>, Vec<_>) =
        chunks::list(tx, document.key)?.into_iter().partition(|chunk| chunk.index >= ASIDE);
    let old_hashes: Vec<Vec<u8>> = old.iter().map(|chunk| chunk.hash.clone()).collect();
    let matched = match_chunks(&old_hashes, &hashes);
    let mut known: HashMap<usize, &chunks::Chunk> =
        matched.kept.iter().map(|(before, after)| (*after, &old[*before])).collect();
    let mut removed: Vec<ChunkKey> = matched.removed.iter().map(|at| old[*at].key).collect();
    for chunk in &aside {
        let at = usize::try_from(chunk.index - ASIDE).unwrap_or(usize::MAX);
        if hashes.get(at) == Some(&chunk.hash) && !known.contains_key(&at) {
            known.insert(at, chunk);
        } else {
            removed.push(chunk.key);
        }
    }
    let mut plan = Plan { todo: Vec::new(), removed, kept: Vec::new(), order: Vec::new() };
    for (at, chunk) in wanted.into_iter().enumerate() {
        let (index, start, end) = (count(at), count(chunk.char_start), count(chunk.char_end));
        let (key, state) = match known.get(&at) {
            Some(stored) => (stored.key, stored.state),
            None => {
                let new = NewChunk {
                    index: ASIDE + index,
                    text: chunk.text.clone(),
                    hash: hashes[at].clone(),
                    char_start: start,
                    char_end: end,
                };
                (chunks::insert(tx, document.key, &new)?, ExtractState::Todo)
            }
        };
        if state == ExtractState::Done {
            plan.kept.push(key);
        } else {
            plan.todo.push(Todo { key, index, text: chunk.text });
        }
        plan.order.push((key, index, start, end));
    }
    Ok(plan)
}

/// Tags of `private` on the facts of some chunks.
fn marks(
    tx: &ReadTx<'_>,
    document: DocumentKey,
    chunks: &[ChunkKey],
    private: &TagSet,
) -> store::Result<BTreeSet<String>> {
    let mut marks = BTreeSet::new();
    if private.is_empty() {
        return Ok(marks);
    }
    for chunk in chunks {
        let facts = memories::of_document(tx, document, Some(*chunk))?;
        let tags = facts.into_iter().flat_map(|fact| fact.tags);
        marks.extend(tags.filter(|tag| private.contains(tag)));
    }
    Ok(marks)
}

/// Facts of kept chunks follow the tags of their document. A tag that keeps one on this machine goes
/// only when somebody takes it off.
fn retag(
    tx: &WriteTx<'_>,
    bank: BankKey,
    plan: &Plan,
    (tags, private): (&BTreeSet<String>, &TagSet),
    now: Instant,
) -> store::Result<()> {
    let Some(first) = plan.kept.first() else { return Ok(()) };
    let document = chunks::by_key(tx, *first)?.document;
    let kept: BTreeSet<ChunkKey> = plan.kept.iter().copied().collect();
    for fact in memories::of_document(tx, document, None)? {
        let stays = fact.chunk.is_some_and(|chunk| kept.contains(&chunk));
        let marks = fact.tags.iter().filter(|tag| private.contains(tag));
        let tags: BTreeSet<String> = tags.iter().chain(marks).cloned().collect();
        if stays && fact.state == memories::State::Valid && fact.tags != tags {
            let edit = Edit { tags: Some(tags), ..Edit::default() };
            memories::edit(tx, bank, &fact.id, &edit, now)?;
        }
    }
    Ok(())
}

fn already_said(
    tx: &ReadTx<'_>,
    document: DocumentKey,
    removed: &[ChunkKey],
) -> store::Result<HashSet<Said>> {
    Ok(memories::of_document(tx, document, None)?
        .into_iter()
        .filter(|fact| fact.chunk.is_none_or(|chunk| !removed.contains(&chunk)))
        .map(|fact| said(&fact.text, fact.fact_type, fact.occurred_start, fact.occurred_end))
        .collect())
}

/// The facts of some chunks.
struct Batch {
    facts: Vec<Fact>,
    /// Each chunk with why it could not be read.
    chunks: Vec<(ChunkKey, Option<String>)>,
    failed: u32,
    left_out: u32,
}

async fn read_chunks(
    running: &Running,
    source: &Source,
    how: &How,
    todo: &[Todo],
    total: usize,
    seen: &mut HashSet<Said>,
) -> Result<Batch> {
    let mut batch = Batch { facts: Vec::new(), chunks: Vec::new(), failed: 0, left_out: 0 };
    for chunk in todo {
        let read = match how {
            How::Chunks => Ok(vec![extract::Statement::verbatim(&chunk.text)]),
            How::Read(reader) => {
                let at = (chunk.index, u32::try_from(total).unwrap_or(u32::MAX));
                extract::read(reader, source, &chunk.text, at, &running.cancel).await
            }
        };
        match read {
            Ok(statements) => {
                add(running, source, chunk, statements, seen, &mut batch);
                batch.chunks.push((chunk.key, None));
            }
            Err(error) => {
                let report = Report::from(&error);
                if !extract::concerns_one_chunk(&error) {
                    return Err(error);
                }
                batch.failed += 1;
                batch.chunks.push((chunk.key, Some(report.message)));
            }
        }
    }
    Ok(batch)
}

/// Adds the facts of one chunk, without those that say nothing or were said before.
fn add(
    running: &Running,
    source: &Source,
    chunk: &Todo,
    statements: Vec<extract::Statement>,
    seen: &mut HashSet<Said>,
    batch: &mut Batch,
) {
    let index = usize::try_from(chunk.index).unwrap_or(0);
    // Where each statement of the answer stands in the batch; causes are named by those numbers.
    let mut places: Vec<Option<usize>> = Vec::with_capacity(statements.len());
    for (place, statement) in statements.into_iter().enumerate() {
        let key = said(
            &statement.text,
            statement.fact_type,
            statement.occurred_start,
            statement.occurred_end,
        );
        if !keep::says_something(&statement.text) || !seen.insert(key) {
            batch.left_out += 1;
            places.push(None);
            continue;
        }
        let causes = statement.caused_by.iter().filter_map(|n| places.get(*n).copied().flatten());
        let caused_by = causes.collect();
        places.push(Some(batch.facts.len()));
        batch.facts.push(Fact {
            fact_type: statement.fact_type,
            context: source.context.clone().or_else(|| source.title.clone()),
            parts: statement.parts,
            metadata: source.metadata.clone(),
            tags: source.tags.clone(),
            occurred_start: statement.occurred_start,
            occurred_end: statement.occurred_end,
            mentioned_at: source.written_at,
            entities: statement.entities,
            literal: false,
            // Room for the facts of a chunk between it and the next.
            position: index * 20 + place.min(19),
            chunk: Some(chunk.key),
            caused_by,
            ..Fact::new(MemoryId(running.engine.new_id()), statement.text, Origin::Extracted)
        });
    }
}

/// Stores the facts of a batch and marks its chunks; with the last batch goes what is replaced.
async fn store_batch(
    running: &Running,
    source: &Source,
    work: &Work,
    mut batch: Batch,
    last: bool,
) -> Result<u32> {
    for fact in &mut batch.facts {
        fact.document = Some(work.document);
        if fact.entities.is_empty() {
            fact.entities = work.known.in_text(&fact.text);
        }
    }
    let engine = &running.engine;
    let prepared = keep::prepare(engine, &running.bank, batch.facts, &running.cancel).await?;
    running.check()?;
    let stored = u32::try_from(prepared.len()).unwrap_or(u32::MAX);
    let (now, writer, end) = (engine.now(), engine.clone(), End::of(source, work, last));
    write_bank(engine, &running.bank, "retain_chunk", move |tx, key| {
        keep::write(tx, &writer, key, &prepared, now)?;
        for (chunk, error) in &batch.chunks {
            let state = if error.is_some() { ExtractState::Failed } else { ExtractState::Done };
            chunks::set_state(tx, key, *chunk, state, error.as_deref())?;
        }
        end.apply(tx, key, now)
    })
    .await?;
    Ok(stored)
}

/// The end of a run in which no chunk had to be read.
async fn finish(running: &Running, source: &Source, work: &Work) -> Result<()> {
    let (now, end) = (running.engine.now(), End::of(source, work, true));
    write_bank(&running.engine, &running.bank, "retain_chunk", move |tx, key| {
        end.apply(tx, key, now)
    })
    .await
}

/// What goes with the last commit.
struct End {
    id: DocumentId,
    document: DocumentKey,
    removed: Vec<ChunkKey>,
    order: Vec<(ChunkKey, u32, u32, u32)>,
}

impl End {
    fn of(source: &Source, work: &Work, last: bool) -> Self {
        let (removed, order) = if last {
            (work.removed.clone(), work.order.clone())
        } else {
            (Vec::new(), Vec::new())
        };
        Self { id: source.id.clone(), document: work.document, removed, order }
    }

    fn apply(&self, tx: &WriteTx<'_>, bank: BankKey, now: Instant) -> store::Result<()> {
        if self.order.is_empty() && self.removed.is_empty() {
            return Ok(());
        }
        for chunk in &self.removed {
            let facts: Vec<_> = memories::of_document(tx, self.document, Some(*chunk))?
                .into_iter()
                .map(|fact| fact.key)
                .collect();
            memories::remove(tx, bank, &facts, Cause::Replaced, Some(&self.id), now)?;
            chunks::delete(tx, *chunk)?;
        }
        chunks::renumber(tx, self.document, &self.order)
    }
}

/// Whether a document holds this text already and every chunk of it was read.
pub(crate) async fn is_read(engine: &Engine, bank: &BankId, source: &Source) -> Result<bool> {
    let (id, tags) = (source.id.clone(), source.tags.clone());
    let hash = Sha256::digest(source.text.as_bytes()).to_vec();
    read_bank(engine, bank, move |tx, key| {
        let Some(document) = documents::find(tx, key, &id)? else { return Ok(false) };
        if document.content_hash != hash || document.tags != tags {
            return Ok(false);
        }
        let chunks = chunks::list(tx, document.key)?;
        Ok(!chunks.is_empty()
            && chunks.iter().all(|c| c.state == ExtractState::Done && c.index < ASIDE))
    })
    .await
}
