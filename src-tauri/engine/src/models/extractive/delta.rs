//! Operations that keep a document of statements in step: what is gone is taken back, what changed
//! is restated, what a newer statement supersedes is replaced, the rest is added to the section of
//! its entity. A person's block is never replaced or removed. Every operation cites its facts.

use super::layout::{REST, block_text, own_heading};
use super::{cited, count_types, found, material, names_of, relevant, stored_vectors, trace};
use crate::models::refresh::drafted::{Drafted, succeed};
use crate::models::refresh::plan::Plan;
use crate::reflect::extractive::relate::{likeness, same_facet};
use crate::reflect::extractive::{
    Material, Relation, Source, SourceKind, Statement, relate, select,
};
use crate::view::refresh::Retraction;
use crate::{Engine, Result};
use domain::delta::{Batch, CitedOp, Claim, DeltaOp, ParsedOp};
use domain::document::{Block, Document, Section};
use domain::entities::canon_key;
use domain::{BankId, MemoryId};
use embed::Thresholds;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use store::memories::{Memory, State};
use tokio_util::sync::CancellationToken;

/// Blocks of the document that new statements are measured with: a new one belongs if it bears on
/// the question about as well as what stands there.
const COMPARED: usize = 30;

/// Drafts the operations of a delta.
pub(in crate::models) async fn draft(
    engine: &Engine,
    bank: &BankId,
    plan: &Plan,
    cancel: &CancellationToken,
) -> Result<Drafted> {
    let head = &plan.model.row.head;
    let (window, names) = window(engine, bank, plan, cancel).await?;
    let mut drafted = Drafted::nothing(plan.model.document.clone(), true);
    count_types(&mut drafted, &window);
    let mut batch = Batch::new(&plan.model.document);
    let beside = sources(engine, bank, plan).await?;
    let unsay = take_back(plan, &beside);
    if !unsay.is_empty() {
        let results = batch.apply(&ParsedOp::list(unsay), &plan.rules());
        drafted.unsaid =
            results.iter().any(|result| result.status == domain::delta::OpStatus::Applied);
    }
    let unsay_ops = batch.len();
    succeed(plan, &mut drafted);
    drafted.handled.extend(plan.withdrawn());
    drafted.retraction = report(plan, drafted.unsaid);
    if window.is_empty() {
        drafted.finish(batch, unsay_ops);
        return Ok(drafted);
    }
    let known = blocks(engine, plan, batch.document(), &beside, cancel).await?;
    let mut material = material(engine, &window, &names).await?;
    material.extend(known.iter().take(COMPARED).map(Known::material));
    let selection =
        select(engine, &head.source_query, material, usize::MAX, u32::MAX, cancel).await?;
    drafted.trace = trace(&head.source_query, window.len(), &selection);
    let relevant = new_ones(relevant(&selection, &head.source_query), &window);
    let weave = Weave { plan, document: batch.document().clone(), known: &known };
    let woven = weave.all(&relevant, &engine.embedder().thresholds());
    let ops = woven.ops;
    batch.apply(&ParsedOp::list(ops), &plan.rules());
    drafted.reflected.extend(woven.reflected);
    let facts: BTreeSet<String> =
        relevant.iter().flat_map(|statement| statement.sources.clone()).collect();
    judge(&mut drafted, &window, &facts);
    let new = cited(&window, relevant.iter().flat_map(|statement| &statement.sources));
    let known: HashSet<String> = drafted.used.iter().map(|cited| cited.id.clone()).collect();
    drafted.used.extend(new.into_iter().filter(|cited| !known.contains(&cited.id)));
    drafted.text =
        relevant.iter().map(|statement| statement.shown.as_str()).collect::<Vec<_>>().join("\n");
    drafted.finish(batch, unsay_ops);
    Ok(drafted)
}

/// What was done about facts taken back, and which wait.
fn report(plan: &Plan, applied: bool) -> Option<Retraction> {
    let gone = plan.withdrawn();
    if gone.is_empty() {
        return plan.put_off();
    }
    let facts: Vec<_> = plan.partition.act.iter().filter(|f| gone.contains(&f.id)).collect();
    Some(Retraction {
        fact_ids: facts.iter().map(|fact| fact.id.clone()).collect(),
        fact_texts: facts.iter().map(|fact| fact.text.clone()).collect(),
        applied,
        deferred_reason: plan.put_off().and_then(|put_off| put_off.deferred_reason),
    })
}

/// The statements of a choice that memories of the window make, with those memories as sources.
fn new_ones(statements: Vec<Statement>, window: &[Memory]) -> Vec<Statement> {
    let ids: HashSet<&str> = window.iter().map(|memory| memory.id.as_str()).collect();
    statements
        .into_iter()
        .filter_map(|mut statement| {
            statement.sources.retain(|id| ids.contains(id.as_str()));
            (!statement.sources.is_empty()).then_some(statement)
        })
        .collect()
}

/// Facts that a block says already are reflected; the others of the window do not bear on the
/// question.
fn judge(drafted: &mut Drafted, window: &[Memory], relevant: &BTreeSet<String>) {
    let reflected = drafted.reflected.iter().map(|(_, fact)| fact.clone());
    drafted.judged.already_reflected.extend(reflected.collect::<Vec<_>>());
    drafted.judged.irrelevant = window
        .iter()
        .map(|memory| memory.id.0.clone())
        .filter(|id| !relevant.contains(id))
        .collect();
}

/// The memories of the window with the names of their entities: all of a small one, of a large one
/// those that bear on the question.
async fn window(
    engine: &Engine,
    bank: &BankId,
    plan: &Plan,
    cancel: &CancellationToken,
) -> Result<(Vec<Memory>, HashMap<String, Vec<String>>)> {
    let mut memories = plan.window.clone();
    let mut names = HashMap::new();
    if plan.window_count > crate::models::refresh::plan::READ_WHOLE {
        let hits = found(engine, bank, plan, plan.after_seq, cancel).await?;
        names = names_of(&hits);
        for hit in hits {
            if !memories.iter().any(|memory| memory.id == hit.memory.id) {
                memories.push(hit.memory);
            }
        }
    }
    let missing: Vec<store::MemoryKey> = memories
        .iter()
        .filter(|memory| !names.contains_key(memory.id.as_str()))
        .map(|memory| memory.key)
        .collect();
    let of: HashMap<_, _> =
        engine.store().read(move |tx| store::entities::of_memories(tx, &missing)).await?;
    for memory in &memories {
        if let Some(list) = of.get(&memory.key) {
            let list = list.iter().map(|(_, name)| name.clone()).collect();
            names.insert(memory.id.0.clone(), list);
        }
    }
    Ok((memories, names))
}

/// The memories that blocks rest on, valid or not, and the names of their entities.
struct Beside {
    memories: HashMap<String, Memory>,
    names: HashMap<String, Vec<String>>,
}

async fn sources(engine: &Engine, bank: &BankId, plan: &Plan) -> Result<Beside> {
    let ids: Vec<MemoryId> = plan.origins.facts().into_iter().map(MemoryId).collect();
    let (memories, of) = crate::handle::read_bank(engine, bank, move |tx, key| {
        let memories = store::memories::by_ids(tx, key, &ids)?;
        let keys: Vec<_> = memories.iter().map(|memory| memory.key).collect();
        Ok((memories, store::entities::of_memories(tx, &keys)?))
    })
    .await?;
    let names = memories
        .iter()
        .filter_map(|memory| {
            let list = of.get(&memory.key)?;
            Some((memory.id.0.clone(), list.iter().map(|(_, name)| name.clone()).collect()))
        })
        .collect();
    let memories = memories.into_iter().map(|memory| (memory.id.0.clone(), memory)).collect();
    Ok(Beside { memories, names })
}

/// Operations for blocks that rest on facts which were taken back.
fn take_back(plan: &Plan, beside: &Beside) -> Vec<CitedOp> {
    let gone = plan.withdrawn();
    let mut ops = Vec::new();
    for (section, block) in placed(&plan.model.document) {
        let Some(sources) = plan.origins.sources(&block.id) else { continue };
        if plan.origins.is_by_person(&block.id) || sources.is_disjoint(&gone) {
            continue;
        }
        let surviving: Vec<&Memory> = sources
            .iter()
            .filter(|id| !gone.contains(*id))
            .filter_map(|id| beside.memories.get(id))
            .filter(|memory| memory.state == State::Valid)
            .collect();
        let (section_id, block_id) = (section.id.clone(), block.id.clone());
        let evidence: Vec<String> = surviving.iter().map(|memory| memory.id.0.clone()).collect();
        if surviving.is_empty() {
            let op = DeltaOp::RemoveBlock { section_id, block_id };
            let evidence = sources.intersection(&gone).cloned().collect();
            ops.push(CitedOp { op, evidence, claims: Vec::new() });
            continue;
        }
        // What survives says the same, or says it in its own words.
        let says = surviving.iter().any(|memory| memory.text.contains(block.text.as_str()));
        if let Some(first) = surviving.first().filter(|_| !says) {
            let text = block_text(&first.text);
            let op = DeltaOp::ReplaceBlock { section_id, block_id, text };
            ops.push(CitedOp { op, evidence, claims: Vec::new() });
        }
    }
    ops
}

fn placed(document: &Document) -> impl Iterator<Item = (&Section, &Block)> {
    document
        .sections
        .iter()
        .flat_map(|section| section.blocks.iter().map(move |block| (section, block)))
}

/// A block as a statement, to be compared with new ones.
struct Known {
    section: String,
    block: String,
    statement: Statement,
    by_person: bool,
}

impl Known {
    fn material(&self) -> Material {
        let statement = &self.statement;
        Material {
            source: Source {
                id: format!("block {}", self.block),
                kind: SourceKind::Model,
                text: statement.text.clone(),
                context: None,
                headings: Vec::new(),
                entities: statement.entities.clone(),
                occurred_start: statement.time,
                occurred_end: None,
                mentioned_at: statement.mentioned_at,
                passage: false,
            },
            vector: Some(statement.vector.clone()),
        }
    }
}

/// The blocks of a document as statements.
async fn blocks(
    engine: &Engine,
    plan: &Plan,
    document: &Document,
    beside: &Beside,
    cancel: &CancellationToken,
) -> Result<Vec<Known>> {
    let memories: Vec<Memory> = beside.memories.values().cloned().collect();
    let stored = stored_vectors(engine, &memories).await?;
    let mut known = Vec::new();
    for (section, block) in placed(document) {
        let sources = plan.origins.sources(&block.id).cloned().unwrap_or_default();
        let facts: Vec<&Memory> = sources.iter().filter_map(|id| beside.memories.get(id)).collect();
        let whole = facts.iter().find(|memory| block_text(&memory.text) == block.text);
        let vector = whole.and_then(|memory| stored.get(&memory.key)).cloned();
        // Those of the fact in whose words it stands, else of all that it rests on.
        let entities: BTreeSet<String> = match whole {
            Some(memory) => {
                beside.names.get(memory.id.as_str()).into_iter().flatten().cloned().collect()
            }
            None => {
                sources.iter().filter_map(|id| beside.names.get(id)).flatten().cloned().collect()
            }
        };
        let time = |memory: &&Memory| memory.occurred_start.or(memory.mentioned_at);
        known.push(Known {
            section: section.id.clone(),
            block: block.id.clone(),
            by_person: plan.origins.is_by_person(&block.id),
            statement: Statement {
                text: block.text.clone(),
                context: None,
                shown: block.text.clone(),
                sources: sources.into_iter().collect(),
                entities: entities.into_iter().collect(),
                time: facts.iter().filter_map(time).max(),
                mentioned_at: facts.iter().filter_map(|memory| memory.mentioned_at).max(),
                score: 0.0,
                cosine: 0.0,
                vector: vector.unwrap_or_default(),
            },
        });
    }
    let missing: Vec<usize> =
        (0..known.len()).filter(|at| known[*at].statement.vector.is_empty()).collect();
    let texts: Vec<String> = missing.iter().map(|at| known[*at].statement.text.clone()).collect();
    for (at, vector) in missing.into_iter().zip(engine.embed_passages(&texts, cancel).await?) {
        known[at].statement.vector = vector;
    }
    Ok(known)
}

/// What the statements of a window make of a document.
#[derive(Default)]
struct Woven {
    ops: Vec<CitedOp>,
    reflected: Vec<(String, String)>,
    /// Blocks already replaced in this run.
    taken: HashSet<String>,
    /// New sections by key of their heading: heading, texts, and the facts of each.
    sections: BTreeMap<String, (String, Vec<Statement>)>,
}

struct Weave<'a> {
    plan: &'a Plan,
    document: Document,
    known: &'a [Known],
}

impl Weave<'_> {
    fn all(&self, statements: &[Statement], thresholds: &Thresholds) -> Woven {
        let mut woven = Woven::default();
        let mut ordered: Vec<&Statement> = statements.iter().collect();
        ordered.sort_by(|a, b| a.time.cmp(&b.time).then_with(|| b.score.total_cmp(&a.score)));
        for statement in ordered {
            self.one(statement, thresholds, &mut woven);
        }
        let sections = std::mem::take(&mut woven.sections);
        woven.ops.extend(sections.into_values().map(|(heading, list)| new_section(heading, &list)));
        woven
    }

    fn one(&self, statement: &Statement, thresholds: &Thresholds, woven: &mut Woven) {
        if let Some(block) = self.restated(statement).filter(|b| !woven.taken.contains(&b.block)) {
            if block.statement.text == block_text(&statement.shown) {
                return reflect(block, statement, woven);
            }
            return replace(block, statement, woven);
        }
        // Likeness is cheap, and what is far apart need not be read word by word.
        let near: Vec<&Known> = self
            .known
            .iter()
            .filter(|block| !woven.taken.contains(&block.block))
            .filter(|block| may_relate(statement, &block.statement, thresholds))
            .collect();
        let related = || near.iter().copied();
        let relation = |block: &&Known| relate(statement, &block.statement, thresholds);
        if let Some(block) = related().find(|block| relation(block) == Relation::Same) {
            return reflect(block, statement, woven);
        }
        let differs: Vec<&Known> = related()
            .filter(|block| relation(block) == Relation::Differs)
            .filter(|block| same_facet(statement, &block.statement))
            .collect();
        let superseded = differs
            .iter()
            .filter(|block| is_newer(statement, &block.statement))
            .max_by_key(|block| block.statement.time);
        match superseded {
            Some(block) if block.by_person => {
                let op = DeltaOp::InsertBlock {
                    section_id: block.section.clone(),
                    after_block_id: Some(block.block.clone()),
                    text: block_text(&statement.shown),
                };
                woven.ops.push(with_facts(op, statement));
            }
            Some(block) => replace(block, statement, woven),
            None => self.add(statement, woven),
        }
    }

    /// The block that rests on an earlier wording of one of the statement's facts, and on nothing
    /// else.
    fn restated(&self, statement: &Statement) -> Option<&Known> {
        let changed = |id: &String| {
            let is_it = |fact: &domain::retract::ChangedFact| fact.id == *id;
            self.plan.partition.changed.iter().any(is_it)
        };
        self.known.iter().find(|block| {
            let sources = &block.statement.sources;
            !block.by_person
                && !sources.is_empty()
                && sources.iter().all(|id| statement.sources.contains(id) && changed(id))
        })
    }

    /// Adds a statement to the section of its entity, which is made where there is none.
    fn add(&self, statement: &Statement, woven: &mut Woven) {
        let keys: Vec<String> = statement.entities.iter().map(|name| canon_key(name)).collect();
        let sections = &self.document.sections;
        let named = |section: &&Section| keys.contains(&canon_key(&section.heading));
        // A document of one section has no other place for what it says.
        let only = (sections.len() == 1).then(|| sections.first()).flatten();
        let is_rest = |section: &&Section| section.heading == REST;
        let found = sections.iter().find(named).or(only);
        let fallback = || match own_heading(statement) {
            Some(_) => None,
            None => sections.iter().find(is_rest),
        };
        if let Some(section) = found.or_else(fallback) {
            let text = block_text(&statement.shown);
            let op = DeltaOp::AppendBlock { section_id: section.id.clone(), text };
            woven.ops.push(with_facts(op, statement));
            return;
        }
        let heading = own_heading(statement).unwrap_or_else(|| REST.to_owned());
        let entry = woven.sections.entry(canon_key(&heading)).or_insert((heading, Vec::new()));
        entry.1.push(statement.clone());
    }
}

/// Whether two statements are near enough to be the same or to speak of one matter.
fn may_relate(one: &Statement, other: &Statement, thresholds: &Thresholds) -> bool {
    let least = f64::from(thresholds.same_subject.min(thresholds.near_twin));
    one.text == other.text || likeness(&one.vector, &other.vector) >= least
}

/// Whether a statement tells a later state than another. Undated ones are ordered by when they were
/// said; without either, the one that is being read is the later.
fn is_newer(statement: &Statement, other: &Statement) -> bool {
    match (statement.time, other.time) {
        (Some(now), Some(then)) => now > then,
        _ => match (statement.mentioned_at, other.mentioned_at) {
            (Some(now), Some(then)) => now >= then,
            _ => true,
        },
    }
}

fn with_facts(op: DeltaOp, statement: &Statement) -> CitedOp {
    CitedOp { op, evidence: statement.sources.clone(), claims: Vec::new() }
}

fn reflect(block: &Known, statement: &Statement, woven: &mut Woven) {
    woven
        .reflected
        .extend(statement.sources.iter().map(|fact| (block.block.clone(), fact.clone())));
}

fn replace(block: &Known, statement: &Statement, woven: &mut Woven) {
    woven.taken.insert(block.block.clone());
    let op = DeltaOp::ReplaceBlock {
        section_id: block.section.clone(),
        block_id: block.block.clone(),
        text: block_text(&statement.shown),
    };
    woven.ops.push(with_facts(op, statement));
}

fn new_section(heading: String, statements: &[Statement]) -> CitedOp {
    let mut op = CitedOp::from(DeltaOp::AddSection {
        heading,
        level: 2,
        blocks: statements.iter().map(|statement| block_text(&statement.shown)).collect(),
        after_section_id: None,
        new_id: None,
    });
    for statement in statements {
        for fact in &statement.sources {
            if !op.evidence.contains(fact) {
                op.evidence.push(fact.clone());
            }
        }
        if statements.len() > 1 {
            op.claims.push(Claim {
                quote: block_text(&statement.shown),
                evidence: statement.sources.clone(),
            });
        }
    }
    op
}
