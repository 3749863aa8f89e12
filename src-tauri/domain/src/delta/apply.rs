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

    /// How many operations were tried so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.results.len()
    }

    /// Whether none was.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// What became of the operations from a number on.
    #[must_use]
    pub fn results_from(&self, first: usize) -> &[OpResult] {
        self.results.get(first..).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delta::{CitedOp, DeltaOp};
    use crate::document::parse;

    const DOC: &str = "# A\n\none\n\ntwo\n\n## B\n\n| k |\n| - |\n\n# C\n\nthree\n";

    fn id(document: &Document, text: &str) -> String {
        document.blocks().find(|block| block.text == text).expect("the block").id.clone()
    }

    fn append(section: &str, text: &str) -> DeltaOp {
        DeltaOp::AppendBlock { section_id: section.to_owned(), text: text.to_owned() }
    }

    fn remove(document: &Document, section: &str, text: &str) -> DeltaOp {
        DeltaOp::RemoveBlock { section_id: section.to_owned(), block_id: id(document, text) }
    }

    fn replace(document: &Document, section: &str, text: &str, new: &str) -> DeltaOp {
        DeltaOp::ReplaceBlock {
            section_id: section.to_owned(),
            block_id: id(document, text),
            text: new.to_owned(),
        }
    }

    fn list(ops: Vec<DeltaOp>) -> Vec<ParsedOp> {
        ParsedOp::list(ops.into_iter().map(CitedOp::from))
    }

    fn reasons(applied: &Applied) -> Vec<Option<&'static str>> {
        applied.results.iter().map(|result| result.reason.map(SkipReason::word)).collect()
    }

    #[test]
    fn locked_elements_are_left_alone_and_may_have_neighbours() {
        let base = parse(DOC);
        let table = "| k |\n| - |";
        let locks = HashSet::from([id(&base, "one"), id(&base, table), "c".to_owned()]);
        let rules = Rules { locks, ..Rules::default() };
        let blocks = vec!["one".to_owned()];
        let ops = vec![
            replace(&base, "a", "one", "1"),
            remove(&base, "a", "one"),
            DeltaOp::RemoveSection { section_id: "a".into() },
            DeltaOp::ReplaceSectionBlocks { section_id: "a".into(), blocks },
            DeltaOp::RenameSection { section_id: "c".into(), new_heading: "D".into() },
            replace(&base, "c", "three", "3"),
            replace(&base, "a", "one", "one"),
            append("b", "| 1 |"),
            append("c", "four"),
        ];
        let applied = apply_operations(&base, &list(ops), &rules);
        let locked = Some("block_locked");
        assert_eq!(reasons(&applied)[..6], [locked; 6]);
        assert_eq!(applied.results[6].status, OpStatus::Noop);
        assert_eq!(applied.results[7].merged_into_block_id, None, "rows stand beside it");
        assert!(applied.document.render().contains("| k |\n| - |\n\n| 1 |\n"));
        assert!(applied.document.render().ends_with("three\n\nfour\n"));
    }

    #[test]
    fn a_pass_may_be_held_to_some_operations_and_elements() {
        let base = parse(DOC);
        let rules = Rules {
            allow: Some(OpKind::UNSAY.to_vec()),
            unsupported: HashSet::from([id(&base, "two")]),
            outlined: HashSet::from(["c".to_owned()]),
            ..Rules::default()
        };
        let blocks = vec!["two".to_owned(), "new".to_owned()];
        let ops = vec![
            append("a", "x"),
            remove(&base, "a", "two"),
            DeltaOp::RemoveSection { section_id: "a".into() },
            remove(&base, "c", "three"),
            DeltaOp::ReplaceSectionBlocks { section_id: "a".into(), blocks },
        ];
        let applied = apply_operations(&base, &list(ops), &rules);
        let barred = Some("op_not_allowed");
        assert_eq!(reasons(&applied), [barred, barred, barred, Some("target_not_shown"), None]);
        assert_eq!(applied.results[1].detail.as_deref(), Some("not_supported_by_retraction"));
    }

    #[test]
    fn an_open_fence_is_closed_before_anything_follows_it() {
        for (source, closed) in [
            ("# A\n\n```sh\nx\n", "# A\n\n```sh\nx\n```\n\nnew\n"),
            ("# A\r\n\r\n- ~~~~\r\n  x", "# A\r\n\r\n- ~~~~\r\n  x\r\n  ~~~~\r\n\r\nnew"),
            ("# A\n\n<!-- x\n", "# A\n\n<!-- x\n-->\n\nnew\n"),
        ] {
            let base = parse(source);
            let applied =
                apply_operations(&base, &list(vec![append("a", "new")]), &Rules::default());
            assert_eq!(applied.document.render(), closed);
            let offender = &base.sections[0].blocks[0].id;
            assert_eq!(applied.results[0].closed_fence_in_block_id.as_ref(), Some(offender));
            assert!(parse(closed).same_shape(&applied.document));
        }
    }

    #[test]
    fn a_text_that_ends_in_a_lone_carriage_return_keeps_it() {
        let base = parse("# A\n\nx\r");
        let applied = apply_operations(&base, &list(vec![append("a", "y")]), &Rules::default());
        let text = applied.document.render();
        assert_eq!(text, "# A\n\nx\r\r\n\ny");
        assert!(parse(&text).same_shape(&applied.document));
    }

    #[test]
    fn what_else_there_is_to_tell() {
        let base = parse(DOC);
        let ops = vec![
            DeltaOp::RenameSection { section_id: "b".into(), new_heading: "A".into() },
            DeltaOp::RemoveSection { section_id: "a".into() },
        ];
        let applied = apply_operations(&base, &list(ops), &Rules::default());
        assert_eq!(applied.results[0].warnings, [ApplyWarning::DuplicateHeading]);
        assert_eq!(applied.results[1].warnings, [ApplyWarning::SubsectionsReparented]);
        assert_eq!(applied.document.render(), "## A\n\n| k |\n| - |\n\n# C\n\nthree\n");
    }

    #[test]
    fn lists_of_one_run_are_numbered_on_and_know_of_each_other() {
        let base = parse("lead\n\n# A\n\nx\n");
        let mut batch = Batch::new(&base);
        batch.apply(&list(vec![remove(&base, "preamble", "lead")]), &Rules::default());
        let second = list(vec![append("preamble", "new lead"), append("ghost", "x")]);
        assert_eq!(batch.apply(&second, &Rules::default())[0].status, OpStatus::Applied);
        let corrected = list(vec![replace(batch.document(), "preamble", "new lead", "newer")]);
        batch.apply(&corrected, &Rules::default());
        let applied = batch.finish();
        let indexes: Vec<u32> = applied.results.iter().map(|result| result.index).collect();
        assert_eq!(indexes, [0, 1, 2, 3]);
        assert_eq!(applied.traces[3].requires, [1]);
        assert_eq!(applied.document.render(), "newer\n\n# A\n\nx\n");
        assert_eq!(applied.count(OpStatus::Skipped), 1);
        assert!(!applied.is_all_skipped());
    }
}
