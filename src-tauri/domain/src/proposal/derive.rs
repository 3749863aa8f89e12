//! The operations of a proposal that was not made of operations: a rebuilt document, or a file that
//! was edited outside. They are derived from what differs, and checked: if applying them all does
//! not give the same sections and texts, the proposal is all or nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::record::{RunFacts, record};
use super::select::Replay;
use super::{Granularity, ProposalOp};
use crate::delta::{CitedOp, Claim, DeltaOp};
use crate::document::{Document, Section, to_lf};

/// What a candidate comes to in operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Derived {
    /// Whether it can be decided in parts.
    pub granularity: Granularity,
    /// The operations; none if it is all or nothing.
    pub ops: Vec<ProposalOp>,
    /// What a reviewer is offered: the base with all operations applied, so that spacing nobody
    /// meant to change stays as it was; the candidate itself if it is all or nothing.
    pub document: Document,
}

/// Derives the operations that turn `base` into `candidate`. The candidate must have been reconciled
/// with the base: elements with the same id are the same element. `evidence` names facts by block id
/// of the candidate.
#[must_use]
pub fn derive_ops(
    base: &Document,
    candidate: &Document,
    evidence: &[(String, Vec<String>)],
    known: &RunFacts<'_>,
) -> Derived {
    let evidence: HashMap<&str, &[String]> =
        evidence.iter().map(|(id, facts)| (id.as_str(), facts.as_slice())).collect();
    let plan = Plan { base, candidate, kept: kept_sections(base, candidate), evidence };
    let drafts = plan.drafts();
    let mut replay = Replay::new(base);
    let mut ops = Vec::with_capacity(drafts.len());
    for (index, draft) in (0..).zip(&drafts) {
        let mut op = draft.op(index);
        if !replay.apply(&op) {
            return whole(candidate);
        }
        if let Some(done) = replay.last() {
            op = record(&draft.cited, &done.result, &done.trace, known);
        }
        ops.push(op);
    }
    let document = replay.finish().document;
    if !document.same_shape(candidate) {
        return whole(candidate);
    }
    link_moves(&mut ops, &drafts);
    Derived { granularity: Granularity::Ops, ops, document }
}

impl Derived {
    /// The same, or the candidate as a whole where blank lines alone differ: they are no operation,
    /// and a proposal without one could only be rejected.
    #[must_use]
    pub fn or_spacing(self, candidate: &Document) -> Self {
        let says_nothing = self.ops.is_empty() && self.document.render() != candidate.render();
        if says_nothing { whole(candidate) } else { self }
    }
}

fn whole(candidate: &Document) -> Derived {
    Derived { granularity: Granularity::Whole, ops: Vec::new(), document: candidate.clone() }
}

/// An operation with the ids that it shall give, and the elements it takes out or puts in.
struct Draft {
    cited: CitedOp,
    section: Option<String>,
    created: Vec<String>,
    takes: Vec<String>,
}

impl Draft {
    fn new(op: DeltaOp) -> Self {
        Self { cited: op.into(), section: None, created: Vec::new(), takes: Vec::new() }
    }

    /// A bare operation to be replayed.
    fn op(&self, index: u32) -> ProposalOp {
        let mut result = crate::delta::OpResult::new(
            index,
            Some(self.cited.op.kind().word().to_owned()),
            crate::delta::OpStatus::Applied,
        );
        result.assigned_id.clone_from(&self.section);
        result.created_block_ids.clone_from(&self.created);
        let nothing = (HashMap::new(), crate::provenance::Provenance::default());
        let known = RunFacts { texts: &nothing.0, provenance: &nothing.1 };
        record(&self.cited, &result, &crate::delta::OpTrace::default(), &known)
    }
}

/// Sections that stay where they are, as pairs of indexes: the same in both documents, with the same
/// level, in the same order, and such that every new section can be placed. A new section goes behind
/// the deeper sections that follow its anchor; where the candidate wants it before them, they must
/// move. Nothing can be placed before the first section; where both documents begin with a section of
/// their own, the one becomes the other.
fn kept_sections(base: &Document, candidate: &Document) -> Vec<(usize, usize)> {
    let key = |section: &Section| (section.id.clone(), section.level);
    let old_keys: Vec<_> = base.sections.iter().map(key).collect();
    let new_keys: Vec<_> = candidate.sections.iter().map(key).collect();
    let mut kept = crate::document::common(&old_keys, &new_keys);
    while let Some(bar) = misplaced(candidate, &kept) {
        kept.retain(|pair| pair.1 != bar);
    }
    let own_starts = kept.first().is_some_and(|pair| pair.0 > 0 && pair.1 > 0);
    if own_starts && base.sections[0].level == candidate.sections[0].level {
        kept.insert(0, (0, 0));
    }
    kept
}

/// A kept section that stands in the way of a new one before it.
fn misplaced(candidate: &Document, kept: &[(usize, usize)]) -> Option<usize> {
    let is_new = |at: &usize| !kept.iter().any(|pair| pair.1 == *at);
    let sections = &candidate.sections;
    (1..sections.len()).filter(is_new).find_map(|at| {
        // When it is added, only kept sections stand behind its place.
        let (_, next) = kept.iter().find(|pair| pair.1 > at)?;
        (sections[*next].level > sections[at].level).then_some(*next)
    })
}

struct Plan<'a> {
    base: &'a Document,
    candidate: &'a Document,
    kept: Vec<(usize, usize)>,
    evidence: HashMap<&'a str, &'a [String]>,
}

impl<'a> Plan<'a> {
    /// Sections that stay, as they were and as they shall be, in order.
    fn pairs(&self) -> impl Iterator<Item = (&'a Section, &'a Section)> {
        let (base, candidate) = (self.base, self.candidate);
        self.kept.iter().map(|(old, new)| (&base.sections[*old], &candidate.sections[*new]))
    }

    /// The id by which operations name a section of the candidate.
    fn name_of(&self, at: usize) -> String {
        let old = self.kept.iter().find(|pair| pair.1 == at).map(|pair| pair.0);
        match old {
            Some(old) => self.base.sections[old].id.clone(),
            None => self.candidate.sections[at].id.clone(),
        }
    }

    fn drafts(&self) -> Vec<Draft> {
        let mut drafts = Vec::new();
        drafts.extend(self.removed_sections());
        drafts.extend(self.pairs().filter_map(|(old, new)| renamed(old, new)));
        for (old, new) in self.pairs() {
            drafts.extend(self.removed_blocks(old, new));
        }
        for (old, new) in self.pairs() {
            drafts.extend(self.replaced_blocks(old, new));
        }
        for (old, new) in self.pairs() {
            drafts.extend(self.inserted_blocks(old, new));
        }
        drafts.extend(self.added_sections());
        drafts
    }

    fn removed_sections(&self) -> impl Iterator<Item = Draft> {
        let sections = self.base.sections.iter().enumerate();
        let gone = sections.filter(|(at, _)| !self.kept.iter().any(|pair| pair.0 == *at));
        gone.map(|(_, section)| Draft {
            takes: std::iter::once(section.id.clone())
                .chain(section.blocks.iter().map(|block| block.id.clone()))
                .collect(),
            ..Draft::new(DeltaOp::RemoveSection { section_id: section.id.clone() })
        })
    }

    fn removed_blocks(&self, old: &Section, new: &Section) -> Vec<Draft> {
        let stay = staying(old, new);
        let gone = old.blocks.iter().filter(|block| !stay.contains(block.id.as_str()));
        gone.map(|block| Draft {
            takes: vec![block.id.clone()],
            ..Draft::new(DeltaOp::RemoveBlock {
                section_id: old.id.clone(),
                block_id: block.id.clone(),
            })
        })
        .collect()
    }

    fn replaced_blocks(&self, old: &Section, new: &Section) -> Vec<Draft> {
        let stay = staying(old, new);
        let kept = old.blocks.iter().filter(|block| stay.contains(block.id.as_str()));
        let pairs = kept
            .filter_map(|was| new.blocks.iter().find(|now| now.id == was.id).map(|now| (was, now)));
        pairs
            .filter(|(was, now)| was.text != now.text)
            .map(|(_, now)| {
                let op = DeltaOp::ReplaceBlock {
                    section_id: old.id.clone(),
                    block_id: now.id.clone(),
                    text: to_lf(&now.text),
                };
                Draft { cited: self.cited(op, &[now]), ..Draft::new(placeholder()) }
            })
            .collect()
    }

    /// New blocks of a section: appended behind its last staying block, inserted before.
    fn inserted_blocks(&self, old: &Section, new: &Section) -> Vec<Draft> {
        let stay = staying(old, new);
        let last = new.blocks.iter().rposition(|block| stay.contains(block.id.as_str()));
        let mut drafts = Vec::new();
        for (at, block) in new.blocks.iter().enumerate() {
            if stay.contains(block.id.as_str()) {
                continue;
            }
            let (section_id, text) = (old.id.clone(), to_lf(&block.text));
            let op = if last.is_none_or(|last| at > last) {
                DeltaOp::AppendBlock { section_id, text }
            } else {
                let before = at.checked_sub(1).map(|before| new.blocks[before].id.clone());
                DeltaOp::InsertBlock { section_id, after_block_id: before, text }
            };
            let created = vec![block.id.clone()];
            drafts.push(Draft {
                cited: self.cited(op, &[block]),
                created,
                ..Draft::new(placeholder())
            });
        }
        drafts
    }

    fn added_sections(&self) -> Vec<Draft> {
        let sections = &self.candidate.sections;
        let is_new = |at: usize| !self.kept.iter().any(|pair| pair.1 == at);
        let new = sections.iter().enumerate().filter(|(at, _)| is_new(*at));
        new.map(|(at, section)| {
            let op = DeltaOp::AddSection {
                heading: section.heading.clone(),
                level: section.level,
                blocks: section.blocks.iter().map(|block| to_lf(&block.text)).collect(),
                after_section_id: at.checked_sub(1).map(|before| self.name_of(before)),
                new_id: None,
            };
            let blocks: Vec<&crate::document::Block> = section.blocks.iter().collect();
            Draft {
                cited: self.cited(op, &blocks),
                section: Some(section.id.clone()),
                created: blocks.iter().map(|block| block.id.clone()).collect(),
                takes: Vec::new(),
            }
        })
        .collect()
    }

    /// An operation with the facts of its blocks; several blocks are told apart by claims.
    fn cited(&self, op: DeltaOp, blocks: &[&crate::document::Block]) -> CitedOp {
        let mut cited = CitedOp::from(op);
        for block in blocks {
            let facts = self.evidence.get(block.id.as_str()).copied().unwrap_or_default();
            for fact in facts {
                if !cited.evidence.contains(fact) {
                    cited.evidence.push(fact.clone());
                }
            }
            if blocks.len() > 1 && !facts.is_empty() {
                let evidence = facts.to_vec();
                cited.claims.push(Claim { quote: to_lf(&block.text), evidence });
            }
        }
        cited
    }
}

/// Stands in a draft until its operation is known.
fn placeholder() -> DeltaOp {
    DeltaOp::RemoveSection { section_id: String::new() }
}

/// Ids of blocks that stay in their section and in their order.
fn staying<'a>(old: &'a Section, new: &Section) -> BTreeSet<&'a str> {
    let old_ids: Vec<&str> = old.blocks.iter().map(|block| block.id.as_str()).collect();
    let new_ids: Vec<&str> = new.blocks.iter().map(|block| block.id.as_str()).collect();
    crate::document::common(&old_ids, &new_ids).into_iter().map(|(at, _)| old_ids[at]).collect()
}

fn renamed(old: &Section, new: &Section) -> Option<Draft> {
    (old.heading != new.heading).then(|| {
        Draft::new(DeltaOp::RenameSection {
            section_id: old.id.clone(),
            new_heading: new.heading.clone(),
        })
    })
}

/// Gives the removal and the addition of one element a common group, and each the other as a hint.
fn link_moves(ops: &mut [ProposalOp], drafts: &[Draft]) {
    let mut taken_by: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, draft) in drafts.iter().enumerate() {
        for id in &draft.takes {
            taken_by.insert(id, at);
        }
    }
    for (at, draft) in drafts.iter().enumerate() {
        let put = draft.created.iter().chain(&draft.section);
        let sources: BTreeSet<usize> =
            put.filter_map(|id| taken_by.get(id.as_str()).copied()).collect();
        for from in sources {
            let group = ops[from].group.clone().or_else(|| ops[at].group.clone());
            let group = group.unwrap_or_else(|| format!("move{from}"));
            ops[from].group = Some(group.clone());
            ops[at].group = Some(group);
            let (first, second) = (ops[from].index, ops[at].index);
            add_hint(&mut ops[from], second);
            add_hint(&mut ops[at], first);
        }
    }
}

fn add_hint(op: &mut ProposalOp, other: u32) {
    if let Err(place) = op.conflicts_hint.binary_search(&other) {
        op.conflicts_hint.insert(place, other);
    }
}
