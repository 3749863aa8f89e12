//! Which facts, and whose hand, a block's present text comes from, and how that follows from
//! operations, edits and decisions. Rows follow the block id; a replaced text replaces its sources.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::delta::{OpTrace, WriteKind};
use crate::document::Document;
use crate::proposal::ProposalOp;

/// The source of a text that a person wrote. Every other source is a memory's id.
pub const PERSON: &str = "person";

/// Who last wrote a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// A person, by an edit or a draft.
    Person,
    /// A refresh.
    Run,
    /// An import.
    Import,
}

/// Where a block's present text comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct BlockOrigin {
    /// Memories, and [`PERSON`].
    pub sources: BTreeSet<String>,
    /// Who wrote it last.
    pub author: Author,
    /// The version that wrote it.
    pub version: u32,
    /// The operation of a proposal or run that wrote it.
    pub op_id: Option<String>,
}

/// Origins by block id. A block without an entry has no known origin (an import, for example).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(transparent)]
pub struct Provenance(pub BTreeMap<String, BlockOrigin>);

/// One applied operation as provenance sees it.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// The operation, for its id, evidence and claims.
    pub op: &'a ProposalOp,
    /// What it wrote.
    pub trace: &'a OpTrace,
}

impl Provenance {
    /// The sources of a block; none if its origin is unknown.
    #[must_use]
    pub fn sources(&self, block_id: &str) -> Option<&BTreeSet<String>> {
        self.0.get(block_id).map(|origin| &origin.sources)
    }

    /// Whether a person wrote the block, wholly or partly.
    #[must_use]
    pub fn is_by_person(&self, block_id: &str) -> bool {
        self.sources(block_id).is_some_and(|sources| sources.contains(PERSON))
    }

    /// Blocks with a known origin that cites none of these facts: an unsay pass may not touch them
    /// (the `unsupported` of [`crate::delta::Rules`]).
    #[must_use]
    pub fn blocks_without(&self, facts: &BTreeSet<String>) -> Vec<String> {
        let apart = self
            .0
            .iter()
            .filter(|(_, origin)| !origin.sources.is_empty() && origin.sources.is_disjoint(facts));
        apart.map(|(id, _)| id.clone()).collect()
    }

    /// Origins after operations were applied to `base`, in the order they were applied. A block that
    /// was taken out and put back with its id and its text (a move) keeps its sources.
    #[must_use]
    pub fn after_ops(
        &self,
        base: &Document,
        result: &Document,
        steps: &[Step<'_>],
        version: u32,
    ) -> Self {
        let mut next = self.clone();
        for step in steps {
            for write in &step.trace.writes {
                let Some((_, block)) = result.block(&write.block_id) else { continue };
                let mut sources = facts_of_block(step.op, &block.text);
                let moved = base.block(&write.block_id).is_some_and(|(_, b)| b.text == block.text);
                if (write.kind == WriteKind::Rows || moved)
                    && let Some(origin) = next.0.get(&write.block_id)
                {
                    sources.extend(origin.sources.iter().cloned());
                }
                let op_id = Some(step.op.op_id.clone());
                let origin = BlockOrigin { sources, author: Author::Run, version, op_id };
                next.0.insert(write.block_id.clone(), origin);
            }
        }
        next.limited_to(result)
    }

    /// Origins after a person's edit: blocks whose text is new are the person's.
    #[must_use]
    pub fn after_edit(&self, before: &Document, after: &Document, version: u32) -> Self {
        let mut next = self.clone();
        for block in after.blocks() {
            let same = before.block(&block.id).is_some_and(|(_, old)| old.text == block.text);
            if !same {
                next.0.insert(block.id.clone(), by_person(BTreeSet::new(), version));
            }
        }
        next.limited_to(after)
    }

    /// Origins after a full document was taken whole: blocks with evidence of their own rest on it,
    /// unchanged ones keep what they had besides, new ones without evidence have no sources.
    #[must_use]
    pub fn after_whole(
        &self,
        before: &Document,
        after: &Document,
        evidence: &[(String, Vec<String>)],
        version: u32,
    ) -> Self {
        let given: BTreeMap<&str, &Vec<String>> =
            evidence.iter().map(|(id, facts)| (id.as_str(), facts)).collect();
        let mut next = self.clone();
        for block in after.blocks() {
            let same = before.block(&block.id).is_some_and(|(_, old)| old.text == block.text);
            let facts = given.get(block.id.as_str()).copied().cloned().unwrap_or_default();
            match next.0.get_mut(&block.id).filter(|_| same) {
                Some(origin) => origin.sources.extend(facts),
                None => {
                    let sources = facts.into_iter().collect();
                    let origin = BlockOrigin { sources, author: Author::Run, version, op_id: None };
                    next.0.insert(block.id.clone(), origin);
                }
            }
        }
        next.limited_to(after)
    }

    /// Adds the person as a source of blocks that they changed in a draft; the evidence stays.
    #[must_use]
    pub fn with_person(&self, blocks: &[String], version: u32) -> Self {
        let mut next = self.clone();
        for id in blocks {
            let sources = next.sources(id).cloned().unwrap_or_default();
            next.0.insert(id.clone(), by_person(sources, version));
        }
        next
    }

    /// Without citations of these facts (they were retracted and that was dealt with).
    #[must_use]
    pub fn without_facts(&self, facts: &BTreeSet<String>) -> Self {
        let mut next = self.clone();
        for origin in next.0.values_mut() {
            origin.sources.retain(|source| !facts.contains(source));
        }
        next
    }

    /// All facts that some block rests on.
    #[must_use]
    pub fn facts(&self) -> BTreeSet<String> {
        let all = self.0.values().flat_map(|origin| &origin.sources);
        all.filter(|source| *source != PERSON).cloned().collect()
    }

    fn limited_to(mut self, document: &Document) -> Self {
        let present: BTreeSet<&str> = document.blocks().map(|block| block.id.as_str()).collect();
        self.0.retain(|id, _| present.contains(id.as_str()));
        self
    }
}

fn by_person(mut sources: BTreeSet<String>, version: u32) -> BlockOrigin {
    sources.insert(PERSON.to_owned());
    BlockOrigin { sources, author: Author::Person, version, op_id: None }
}

/// The facts of an operation that one of its blocks rests on: all it cites, less those whose claims
/// all quote other blocks.
fn facts_of_block(op: &ProposalOp, text: &str) -> BTreeSet<String> {
    let text = crate::document::to_lf(text);
    let is_elsewhere = |fact: &str| {
        let mut claims =
            op.claims.iter().filter(|c| c.evidence.iter().any(|id| id == fact)).peekable();
        claims.peek().is_some() && claims.all(|claim| !text.contains(&claim.quote))
    };
    op.cited_facts().into_iter().filter(|fact| !is_elsewhere(fact)).map(str::to_owned).collect()
}
