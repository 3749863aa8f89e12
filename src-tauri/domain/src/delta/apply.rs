//! Applying a list of operations to a copy of a document, in order, each seeing the effect of the
//! earlier ones.

use std::collections::HashSet;

use super::decide::{Verdict, decide};
use super::editor::{Action, Editor, Entry};
use super::{ApplyWarning, OpKind, OpResult, OpStatus, OpTrace, ParsedOp, SkipReason};
use crate::document::Document;

/// What a pass may touch. The default allows everything.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// The operations that are allowed; all if none are named.
    pub allow: Option<Vec<OpKind>>,
    /// Ids of blocks and sections that a person locked.
    pub locks: HashSet<String>,
    /// Ids of sections that the model saw as an outline only.
    pub outlined: HashSet<String>,
    /// Unsay pass: ids of blocks known to rest on facts none of which was retracted.
    pub unsupported: HashSet<String>,
}

/// The outcome of a run of operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The document with every applied operation.
    pub document: Document,
    /// The entries, in order, renumbered from 0 over all lists of the run.
    pub ops: Vec<ParsedOp>,
    /// One for each entry.
    pub results: Vec<OpResult>,
    /// One for each entry; empty for those not applied.
    pub traces: Vec<OpTrace>,
}

impl Applied {
    /// How many operations ended with a status.
    #[must_use]
    pub fn count(&self, status: OpStatus) -> usize {
        self.results.iter().filter(|result| result.status == status).count()
    }

    /// Whether there was at least one operation and none was applied or had nothing to do.
    #[must_use]
    pub fn is_all_skipped(&self) -> bool {
        !self.results.is_empty() && self.count(OpStatus::Skipped) == self.results.len()
    }
}

/// Applies operations to a copy of a document. Nothing fails as a whole: each operation that cannot
/// be applied is skipped with its reason and changes nothing.
#[must_use]
pub fn apply_operations(base: &Document, ops: &[ParsedOp], rules: &Rules) -> Applied {
    let mut batch = Batch::new(base);
    batch.apply(ops, rules);
    batch.finish()
}

/// Several lists of operations on one document, one after the other: an unsay pass, the answers for
/// successive batches of facts, a repair round. Numbers, reserved ids and dependencies run through
/// all of them, so that the whole can become one proposal.
pub struct Batch {
    editor: Editor,
    ops: Vec<ParsedOp>,
    results: Vec<OpResult>,
    traces: Vec<OpTrace>,
}

impl Batch {
    /// Starts on a copy of a document.
    #[must_use]
    pub fn new(base: &Document) -> Self {
        Self { editor: Editor::new(base), ops: Vec::new(), results: Vec::new(), traces: Vec::new() }
    }

    /// The document as it stands, to be shown to the next call.
    #[must_use]
    pub fn document(&self) -> &Document {
        self.editor.document()
    }

    /// Applies a list and returns its results.
    pub fn apply(&mut self, ops: &[ParsedOp], rules: &Rules) -> &[OpResult] {
        let first = self.results.len();
        for entry in ops {
            let index = u32::try_from(self.results.len()).unwrap_or(u32::MAX);
            let entry = ParsedOp { index, ..entry.clone() };
            let (result, trace) = apply_one(&mut self.editor, &entry, rules);
            self.ops.push(entry);
            self.results.push(result);
            self.traces.push(trace);
        }
        &self.results[first..]
    }

    /// Ends the run.
    #[must_use]
    pub fn finish(self) -> Applied {
        Applied {
            document: self.editor.finish(),
            ops: self.ops,
            results: self.results,
            traces: self.traces,
        }
    }
}

fn apply_one(editor: &mut Editor, entry: &ParsedOp, rules: &Rules) -> (OpResult, OpTrace) {
    let mut result = OpResult::new(entry.index, entry.word.clone(), OpStatus::Skipped);
    let op = match &entry.body {
        Ok(cited) => &cited.op,
        Err(fault) => {
            result.reason = Some(SkipReason::InvalidOp);
            result.detail = Some(fault.to_string());
            return (result, OpTrace::default());
        }
    };
    match decide(editor, op, rules) {
        Err((reason, detail)) => {
            result.reason = Some(reason);
            result.detail = detail;
            (result, OpTrace::default())
        }
        Ok(Verdict::Noop) => {
            result.status = OpStatus::Noop;
            (result, OpTrace::default())
        }
        Ok(Verdict::Do(action)) => {
            result.status = OpStatus::Applied;
            result.warnings = warnings(editor, &action);
            record(editor, &action, &mut result);
            let (trace, closed) = editor.perform(entry.index, action);
            result.closed_fence_in_block_id = closed;
            (result, trace)
        }
    }
}

/// Writes the ids of an action into a result.
pub(crate) fn record(editor: &Editor, action: &Action, result: &mut OpResult) {
    let created = |blocks: &[super::editor::NewBlock]| {
        blocks.iter().map(|block| block.id.clone()).collect::<Vec<_>>()
    };
    match action {
        Action::Insert { blocks, .. } | Action::Replace { more: blocks, .. } => {
            result.created_block_ids = created(blocks);
        }
        Action::Join { section, block, .. } => {
            let table = &editor.document().sections[*section].blocks[*block];
            result.merged_into_block_id = Some(table.id.clone());
        }
        Action::AddSection { id, blocks, .. } => {
            result.assigned_id = Some(id.clone());
            result.created_block_ids = created(blocks);
        }
        Action::ReplaceBlocks { entries, .. } => {
            let mut all = Vec::new();
            for entry in entries {
                match entry {
                    Entry::Keep(id) => all.push(id.clone()),
                    Entry::New(block) => {
                        result.created_block_ids.push(block.id.clone());
                        all.push(block.id.clone());
                    }
                }
            }
            result.block_ids = Some(all);
        }
        Action::RemoveBlock { .. } | Action::RemoveSection { .. } | Action::Rename { .. } => {}
    }
}

fn warnings(editor: &Editor, action: &Action) -> Vec<ApplyWarning> {
    let sections = &editor.document().sections;
    let mut found = Vec::new();
    match action {
        Action::RemoveSection { section } => {
            let level = sections[*section].level;
            if level > 0 && sections.get(section + 1).is_some_and(|next| next.level > level) {
                found.push(ApplyWarning::SubsectionsReparented);
            }
        }
        Action::AddSection { heading, .. } | Action::Rename { heading, .. } => {
            if sections.iter().any(|section| section.heading == *heading) {
                found.push(ApplyWarning::DuplicateHeading);
            }
        }
        Action::Insert { .. }
        | Action::Join { .. }
        | Action::Replace { .. }
        | Action::RemoveBlock { .. }
        | Action::ReplaceBlocks { .. } => {}
    }
    found
}
