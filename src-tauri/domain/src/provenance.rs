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

    /// Origins of a draft, from those of the document that it changed: blocks that the person wrote or
    /// changed have the person as a source beside their evidence.
    #[must_use]
    pub fn after_draft(&self, draft: &Document, person_blocks: &[String], version: u32) -> Self {
        let mut next = self.clone();
        for id in person_blocks {
            let before = next.0.get(id);
            let sources = before.map(|origin| origin.sources.clone()).unwrap_or_default();
            // The change that the person took up or reworded stays the one that wrote the block.
            let op_id = before.filter(|origin| origin.version == version);
            let op_id = op_id.and_then(|origin| origin.op_id.clone());
            next.0.insert(id.clone(), BlockOrigin { op_id, ..by_person(sources, version) });
        }
        next.limited_to(draft)
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

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::delta::{CitedOp, Claim, DeltaOp, ParsedOp, Rules, apply_operations};
    use crate::document::{parse, reconcile};
    use crate::proposal::{RunFacts, apply_selection, record_ops};

    fn origin(sources: &[&str]) -> BlockOrigin {
        let sources = sources.iter().map(|s| (*s).to_owned()).collect();
        BlockOrigin { sources, author: Author::Run, version: 1, op_id: None }
    }

    fn sources<'a>(provenance: &'a Provenance, document: &Document, text: &str) -> Vec<&'a str> {
        let block = document.blocks().find(|block| block.text == text).expect("the block");
        let sources = provenance.sources(&block.id).expect("a known origin");
        sources.iter().map(String::as_str).collect()
    }

    /// Applies operations to a document whose every block rests on `old`, and follows the sources.
    fn after(text: &str, ops: Vec<CitedOp>) -> (Provenance, Document) {
        let base = parse(text);
        let before = Provenance(base.blocks().map(|b| (b.id.clone(), origin(&["old"]))).collect());
        let applied = apply_operations(&base, &ParsedOp::list(ops), &Rules::default());
        let known = RunFacts { texts: &HashMap::new(), provenance: &before };
        let ops = record_ops(&applied, &known);
        let all = ops.iter().map(|op| op.index).collect();
        let selected = apply_selection(&base, &ops, &all);
        let steps: Vec<Step<'_>> = selected
            .ops
            .iter()
            .zip(&ops)
            .map(|(done, op)| Step { op, trace: &done.trace })
            .collect();
        (before.after_ops(&base, &selected.document, &steps, 2), selected.document)
    }

    fn cited(op: DeltaOp, facts: &[&str]) -> CitedOp {
        let evidence = facts.iter().map(|fact| (*fact).to_owned()).collect();
        CitedOp { op, evidence, claims: Vec::new() }
    }

    #[test]
    fn replaced_texts_replace_their_sources_and_rows_add_to_them() {
        let text = "# A\n\nx\n\n| a |\n| - |\n\ny\n";
        let base = parse(text);
        let ids: Vec<String> = base.blocks().map(|block| block.id.clone()).collect();
        let replace = DeltaOp::ReplaceBlock {
            section_id: "a".to_owned(),
            block_id: ids[0].clone(),
            text: "z".to_owned(),
        };
        let rows = DeltaOp::InsertBlock {
            section_id: "a".to_owned(),
            after_block_id: Some(ids[1].clone()),
            text: "| 1 |".to_owned(),
        };
        let (next, document) = after(text, vec![cited(replace, &["f1"]), cited(rows, &["f2"])]);
        assert_eq!(sources(&next, &document, "z"), ["f1"]);
        assert_eq!(sources(&next, &document, "| a |\n| - |\n| 1 |"), ["f2", "old"]);
        assert_eq!(sources(&next, &document, "y"), ["old"]);
        assert_eq!(next.0[&ids[0]].op_id.as_deref(), Some("op0"));
    }

    #[test]
    fn a_moved_block_keeps_its_sources() {
        let text = "# A\n\nx\n\n# B\n\ny\n";
        let id = parse(text).blocks().next().expect("x").id.clone();
        let (next, document) = after(
            text,
            vec![
                DeltaOp::RemoveBlock { section_id: "a".to_owned(), block_id: id }.into(),
                DeltaOp::AppendBlock { section_id: "b".to_owned(), text: "x".to_owned() }.into(),
            ],
        );
        assert_eq!(sources(&next, &document, "x"), ["old"]);
    }

    #[test]
    fn claims_tell_the_blocks_of_one_operation_apart() {
        let claim = |quote: &str, fact: &str| Claim {
            quote: quote.to_owned(),
            evidence: vec![fact.to_owned()],
        };
        let op = DeltaOp::AppendBlock { section_id: "a".to_owned(), text: "p\n\nq".to_owned() };
        let op = CitedOp {
            claims: vec![claim("p", "f1"), claim("q", "f2")],
            ..cited(op, &["f1", "f2", "f3"])
        };
        let (next, document) = after("# A\n", vec![op]);
        assert_eq!(sources(&next, &document, "p"), ["f1", "f3"]);
        assert_eq!(sources(&next, &document, "q"), ["f2", "f3"]);
    }

    #[test]
    fn edits_make_a_block_the_persons() {
        let before = parse("x\n\ny\n");
        let known = Provenance(before.blocks().map(|b| (b.id.clone(), origin(&["f"]))).collect());
        let draft = reconcile(&before, parse("x!\n\ny\n\nz\n"));
        let edited = known.after_edit(&before, &draft, 2);
        assert_eq!(sources(&edited, &draft, "x!"), [PERSON]);
        assert_eq!(sources(&edited, &draft, "y"), ["f"]);
        assert_eq!(sources(&edited, &draft, "z"), [PERSON]);
        let changed = vec![draft.sections[0].blocks[0].id.clone()];
        let drafted = known.after_draft(&draft, &changed, 2);
        assert_eq!(sources(&drafted, &draft, "x!"), ["f", PERSON]);
        assert!(drafted.is_by_person(&changed[0]));
    }

    #[test]
    fn an_unsay_pass_may_not_touch_blocks_that_rest_on_other_facts() {
        let known = Provenance(BTreeMap::from([
            ("b1".to_owned(), origin(&["gone", "other"])),
            ("b2".to_owned(), origin(&["other"])),
            ("b3".to_owned(), origin(&[])),
        ]));
        assert_eq!(known.blocks_without(&BTreeSet::from(["gone".to_owned()])), ["b2"]);
    }
}
