//! Who wrote each block of a document, and on what grounds. Written with every version, whatever made
//! it; read back for the published document and for every version that is kept. Decides nothing: how
//! origins follow from operations, edits and decisions is the domain's.

use super::loaded::{Loaded, from_json, load_provenance, to_json};
use super::show::{evidence_items, item_of_memory};
use crate::view::blame::{BlameBlock, BlockChange, BlockWriting, ModelBlame};
use crate::view::model::{Author, BlockBlame, EvidenceItem, OpenProposal};
use domain::document::{Document, read_stored};
use domain::model::Citation;
use domain::provenance::{self as origins, BlockOrigin, PERSON, Provenance};
use domain::{Instant, Json, MemoryId, ModelId, OperationId, ProposalId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use store::models::provenance::{self, BlockAuthor, BlockSource, LockKind};
use store::versions::{self, VersionHead};
use store::{BankKey, ModelKey, ReadTx, WriteTx, memories, proposals};

/// What wrote the blocks of a version.
pub(super) struct Made {
    pub(super) version: u32,
    pub(super) operation: Option<OperationId>,
    pub(super) proposal: Option<ProposalId>,
    pub(super) at: Instant,
    /// Rows of blocks that a revert brought back: they stand as they were.
    pub(super) restored: Vec<BlockAuthor>,
}

/// Writes origins. Blocks of earlier versions keep the row that says how they came to be.
pub(super) fn write(
    tx: &WriteTx<'_>,
    model: ModelKey,
    origins: &Provenance,
    made: &Made,
) -> store::Result<Vec<BlockAuthor>> {
    let mut before: HashMap<(String, u32), BlockAuthor> = HashMap::new();
    for row in provenance::block_authors(tx, model)?.into_iter().chain(made.restored.clone()) {
        before.insert((row.block.clone(), row.version), row);
    }
    let mut sources = Vec::new();
    let mut authors = Vec::new();
    for (block, origin) in &origins.0 {
        for source in &origin.sources {
            let memory = (source != PERSON).then(|| MemoryId(source.clone()));
            sources.push(BlockSource {
                block: block.clone(),
                memory,
                version: origin.version,
                op: origin.op_id.clone(),
            });
        }
        authors.push(match before.remove(&(block.clone(), origin.version)) {
            Some(row) => row,
            None => new_author(tx, model, block, origin, made),
        });
    }
    provenance::set_block_sources(tx, model, &sources)?;
    provenance::set_block_authors(tx, model, &authors)?;
    Ok(authors)
}

fn new_author(
    tx: &ReadTx<'_>,
    model: ModelKey,
    block: &str,
    origin: &BlockOrigin,
    made: &Made,
) -> BlockAuthor {
    let own = origin.version == made.version;
    let kept_at = || versions::get(tx, model, origin.version).map(|row| row.head.created_at);
    BlockAuthor {
        block: block.to_owned(),
        version: origin.version,
        operation: made.operation.clone().filter(|_| own),
        proposal: made.proposal.clone().filter(|_| own),
        op: origin.op_id.clone(),
        author: stored(origin.author),
        at: if own { made.at } else { kept_at().unwrap_or(made.at) },
    }
}

fn stored(author: origins::Author) -> provenance::Author {
    match author {
        origins::Author::Person => provenance::Author::Person,
        origins::Author::Run => provenance::Author::Run,
        origins::Author::Import => provenance::Author::Import,
    }
}

/// The origin of a block as it is kept with a version.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Kept {
    block: String,
    sources: BTreeSet<String>,
    author: origins::Author,
    version: u32,
    op: Option<String>,
    operation: Option<OperationId>,
    proposal: Option<ProposalId>,
    at: Instant,
}

/// The origins of a version's blocks, for keeping with it.
pub(super) fn kept(origins: &Provenance, authors: &[BlockAuthor]) -> Value {
    let rows = authors.iter().filter_map(|row| {
        let origin = origins.0.get(&row.block)?;
        Some(Kept {
            block: row.block.clone(),
            sources: origin.sources.clone(),
            author: origin.author,
            version: row.version,
            op: row.op.clone(),
            operation: row.operation.clone(),
            proposal: row.proposal.clone(),
            at: row.at,
        })
    });
    to_json(&rows.collect::<Vec<_>>())
}

/// Origins with the rows that tell them.
pub(super) struct Known {
    pub(super) origins: Provenance,
    pub(super) authors: Vec<BlockAuthor>,
}

impl Known {
    /// Of the published document.
    fn published(tx: &ReadTx<'_>, model: ModelKey) -> store::Result<Self> {
        Ok(Self {
            origins: load_provenance(tx, model)?,
            authors: provenance::block_authors(tx, model)?,
        })
    }

    /// Of a kept version, as they were when it was published.
    pub(super) fn of_version(
        tx: &ReadTx<'_>,
        model: ModelKey,
        version: u32,
    ) -> store::Result<Self> {
        let kept = versions::origins(tx, model, version)?.unwrap_or_default();
        let rows: Vec<Kept> = from_json(&kept).unwrap_or_default();
        let mut known = Self { origins: Provenance::default(), authors: Vec::new() };
        for row in rows {
            known.authors.push(BlockAuthor {
                block: row.block.clone(),
                version: row.version,
                operation: row.operation,
                proposal: row.proposal,
                op: row.op.clone(),
                author: stored(row.author),
                at: row.at,
            });
            let origin = BlockOrigin {
                sources: row.sources,
                author: row.author,
                version: row.version,
                op_id: row.op,
            };
            known.origins.0.insert(row.block, origin);
        }
        Ok(known)
    }

    fn facts(&self, block: &str) -> Vec<String> {
        let sources = self.origins.sources(block).into_iter().flatten();
        sources.filter(|id| *id != PERSON).cloned().collect()
    }
}

/// Who wrote each block of the published document, in reading order.
pub(super) fn list(
    tx: &ReadTx<'_>,
    bank: BankKey,
    loaded: &Loaded,
) -> store::Result<Vec<BlockBlame>> {
    let known = Known::published(tx, loaded.key())?;
    let rows: HashMap<&str, &BlockAuthor> =
        known.authors.iter().map(|row| (row.block.as_str(), row)).collect();
    let mut named = Proposals::default();
    let mut blame = Vec::new();
    for block in loaded.document.blocks() {
        let Some(row) = rows.get(block.id.as_str()) else { continue };
        let proposal = named.find(tx, bank, row.proposal.as_ref())?;
        blame.push(BlockBlame {
            block_id: block.id.clone(),
            version: row.version,
            at: row.at,
            author: author(row.author),
            proposal: proposal.map(|found| found.open.clone()),
            operation: proposal
                .zip(row.op.as_ref())
                .and_then(|(found, op)| found.numbers.get(op).copied()),
            sources: known.facts(&block.id),
        });
    }
    Ok(blame)
}

fn author(author: provenance::Author) -> Author {
    match author {
        provenance::Author::Person => Author::Person,
        provenance::Author::Run => Author::Run,
        provenance::Author::Import => Author::Import,
    }
}

/// A proposal by name, with its operations' numbers and kinds.
struct Named {
    open: OpenProposal,
    numbers: HashMap<String, u32>,
    kinds: HashMap<String, &'static str>,
    texts: HashMap<String, String>,
}

/// Proposals looked up once each.
#[derive(Default)]
struct Proposals(HashMap<ProposalId, Option<Named>>);

impl Proposals {
    /// The proposal of an id; none if it is not kept any more.
    fn find(
        &mut self,
        tx: &ReadTx<'_>,
        bank: BankKey,
        id: Option<&ProposalId>,
    ) -> store::Result<Option<&Named>> {
        let Some(id) = id else { return Ok(None) };
        if !self.0.contains_key(id) {
            let found = named(tx, bank, id)?;
            self.0.insert(id.clone(), found);
        }
        Ok(self.0.get(id).and_then(Option::as_ref))
    }
}

/// Reads what names a proposal's operations and no more: of a long document every block may have come
/// with another proposal, each with a trace and evidence of its own.
fn named(tx: &ReadTx<'_>, bank: BankKey, id: &ProposalId) -> store::Result<Option<Named>> {
    let Some(texts) = proposals::texts(tx, bank, id)? else { return Ok(None) };
    let ops = super::proposals::convert::ops(tx, texts.key)?;
    let base = from_json(&texts.base_structure).unwrap_or_default();
    let candidate = read_stored(&Json(texts.candidate_structure), &texts.candidate_content);
    let numbers = super::proposals::numbers(&ops, &base, &candidate);
    let operations = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
    let kinds = ops.iter().map(|op| (op.op_id.clone(), op.op.kind().word())).collect();
    let evidence = ops.into_iter().flat_map(|op| op.evidence);
    let texts_read = evidence.map(|fact| (fact.fact_id, fact.text)).collect();
    let open = OpenProposal { id: id.clone(), number: texts.number, operations };
    Ok(Some(Named { open, numbers, kinds, texts: texts_read }))
}

/// Blame of a version, or of the published document when none is named.
pub(super) fn of_version(
    tx: &ReadTx<'_>,
    bank: BankKey,
    id: &ModelId,
    version: Option<u32>,
) -> store::Result<ModelBlame> {
    let loaded = Loaded::get(tx, bank, id)?;
    let published = loaded.row.head.version;
    let number = version.unwrap_or(published);
    let reader = Reader::new(tx, bank, &loaded, number)?;
    Ok(ModelBlame { version: number, published: number == published, blocks: reader.blocks()? })
}

/// Everything that the blame of one version is read from.
struct Reader<'a> {
    tx: &'a ReadTx<'a>,
    bank: BankKey,
    model: ModelKey,
    document: Document,
    cited: Vec<Citation>,
    known: Known,
    locks: BTreeSet<(LockKind, String)>,
    versions: HashMap<u32, VersionHead>,
}

impl<'a> Reader<'a> {
    fn new(tx: &'a ReadTx<'a>, bank: BankKey, loaded: &Loaded, number: u32) -> store::Result<Self> {
        let model = loaded.key();
        let (document, cited, known) = if number == loaded.row.head.version {
            let cited = loaded.evidence.iter().flat_map(|e| e.based_on.values().flatten());
            (loaded.document.clone(), cited.cloned().collect(), Known::published(tx, model)?)
        } else {
            let row = versions::get(tx, model, number)?;
            let map: BTreeMap<String, Vec<Citation>> = from_json(&row.based_on).unwrap_or_default();
            (
                read_stored(&Json(row.structure), &row.content),
                map.into_values().flatten().collect(),
                Known::of_version(tx, model, number)?,
            )
        };
        let locks = provenance::locks(tx, model)?;
        let heads = versions::list(tx, model, None, u32::MAX)?;
        Ok(Self {
            tx,
            bank,
            model,
            document,
            cited,
            known,
            locks: locks.into_iter().map(|lock| (lock.kind, lock.element)).collect(),
            versions: heads.into_iter().map(|head| (head.version, head)).collect(),
        })
    }

    fn blocks(&self) -> store::Result<Vec<BlameBlock>> {
        let mut named = Proposals::default();
        let mut runs = RunOps::default();
        let rows: HashMap<&str, &BlockAuthor> =
            self.known.authors.iter().map(|row| (row.block.as_str(), row)).collect();
        let mut texts = HashMap::new();
        for row in rows.values() {
            if let Some(found) = named.find(self.tx, self.bank, row.proposal.as_ref())? {
                texts.extend(found.texts.clone());
            }
        }
        let facts = self.facts(&texts)?;
        let is_locked = |kind, id: &str| self.locks.contains(&(kind, id.to_owned()));
        let mut blocks = Vec::new();
        for section in &self.document.sections {
            let whole = is_locked(LockKind::Section, &section.id);
            for block in &section.blocks {
                let written = match rows.get(block.id.as_str()) {
                    Some(row) => Some(self.writing(row, &mut named, &mut runs)?),
                    None => None,
                };
                let ids = self.known.facts(&block.id);
                blocks.push(BlameBlock {
                    section_id: section.id.clone(),
                    block_id: block.id.clone(),
                    text: block.text.clone(),
                    by_person: self.known.origins.is_by_person(&block.id),
                    facts: ids.iter().filter_map(|id| facts.get(id).cloned()).collect(),
                    locked: whole || is_locked(LockKind::Block, &block.id),
                    written,
                });
            }
        }
        Ok(blocks)
    }

    fn writing(
        &self,
        row: &BlockAuthor,
        named: &mut Proposals,
        runs: &mut RunOps,
    ) -> store::Result<BlockWriting> {
        let proposal = named.find(self.tx, self.bank, row.proposal.as_ref())?;
        let version = self.versions.get(&row.version);
        let change = match &row.op {
            None => None,
            Some(op) => Some(BlockChange {
                op_id: op.clone(),
                number: proposal.and_then(|found| found.numbers.get(op).copied()),
                kind: match proposal {
                    Some(found) => found.kinds.get(op).map(|kind| (*kind).to_owned()),
                    None => runs.kind(self.tx, self.model, row.version, op)?,
                },
            }),
        };
        Ok(BlockWriting {
            version: row.version,
            at: row.at,
            author: author(row.author),
            cause: version.map(|head| head.cause.word().to_owned()),
            actor: version.map(|head| head.actor.word().to_owned()),
            operation: row.operation.clone(),
            proposal: proposal.map(|found| found.open.clone()),
            change,
        })
    }

    /// The facts behind all blocks, by id: as the version read them, else as the bank or a proposal
    /// still knows them.
    fn facts(
        &self,
        proposed: &HashMap<String, String>,
    ) -> store::Result<HashMap<String, EvidenceItem>> {
        let items = evidence_items(self.tx, self.bank, &self.cited)?;
        let mut facts: HashMap<String, EvidenceItem> =
            items.into_iter().map(|item| (item.id.clone(), item)).collect();
        let missing: Vec<MemoryId> = self
            .known
            .origins
            .facts()
            .into_iter()
            .filter(|id| !facts.contains_key(id))
            .map(MemoryId)
            .collect();
        for memory in memories::by_ids(self.tx, self.bank, &missing)? {
            facts.insert(memory.id.0.clone(), item_of_memory(&memory));
        }
        for stone in store::tombstones::of_memories(self.tx, self.bank, &missing)? {
            let text = stone.text.or_else(|| proposed.get(stone.memory.as_str()).cloned());
            let gone = gone(&stone.memory.0, stone.fact_type.word(), text);
            facts.entry(stone.memory.0).or_insert(gone);
        }
        for id in missing {
            let text = proposed.get(id.as_str()).cloned();
            facts.entry(id.0.clone()).or_insert_with(|| gone(&id.0, "world", text));
        }
        Ok(facts)
    }
}

/// A memory that the bank holds no more.
fn gone(id: &str, kind: &str, text: Option<String>) -> EvidenceItem {
    EvidenceItem {
        id: id.to_owned(),
        text: text.unwrap_or_default(),
        kind: kind.to_owned(),
        context: None,
        occurred_start: None,
        mentioned_at: None,
        document: None,
        first_cited_version: None,
        gone: true,
    }
}

/// Kinds of the operations that runs applied without a proposal, by version and id.
#[derive(Default)]
struct RunOps(HashMap<u32, HashMap<String, String>>);

impl RunOps {
    fn kind(
        &mut self,
        tx: &ReadTx<'_>,
        model: ModelKey,
        version: u32,
        op: &str,
    ) -> store::Result<Option<String>> {
        let known = match self.0.entry(version) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let record = match versions::get(tx, model, version) {
                    Ok(row) => row.reflect_response.unwrap_or_default(),
                    Err(store::Error::NotFound { .. }) => Value::Null,
                    Err(error) => return Err(error),
                };
                place.insert(kinds(&record))
            }
        };
        Ok(known.get(op).cloned())
    }
}

/// The operations that a version's evidence record lists: an operation is known by its place.
fn kinds(record: &Value) -> HashMap<String, String> {
    let list = record["delta_operations_applied"].as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter()
        .filter_map(|entry| {
            let (place, kind) = (entry["index"].as_u64()?, entry["op"].as_str()?);
            Some((format!("op{place}"), kind.to_owned()))
        })
        .collect()
}
