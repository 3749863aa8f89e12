//! Moving a waiting proposal when the published document moves or its facts are taken back. No model
//! is asked; what no longer fits waits for a person.

use super::convert::{Beside, Opened, same_word};
use super::events::{self, Detail};
use super::make::{self, Successor};
use super::view::old_text;
use crate::models::loaded::to_json;
use domain::document::{Document, Section, parse, read_stored, reconcile};
use domain::proposal::{
    Conflict, Granularity, ProposalOp, Rebased, RunFacts, derive_ops, rebase, state_after_rebase,
};
use domain::provenance::Provenance;
use domain::{Instant, MemoryId};
use std::collections::{BTreeSet, HashMap};
use store::models::Model;
use store::proposals::{self as rows, ProposalOrigin, ProposalState};
use store::tombstones::{Cause, Tombstone};
use store::{BankKey, ReadTx, WriteTx};

/// What made the published document another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mover {
    /// A person: an edit, a revert.
    Person,
    /// A refresh that edited it, which read at least what a waiting edit's run read.
    Edits,
    /// A refresh that wrote it anew.
    Rebuild,
}

impl Mover {
    /// Whether it takes the place of a proposal of this origin. A person's own file is never replaced
    /// by a run, and edits say nothing about a rebuild that waits: that is moved like any other.
    fn replaces(self, waiting: ProposalOrigin) -> bool {
        match (self, waiting) {
            (Self::Person, _) | (_, ProposalOrigin::File) => false,
            (Self::Edits, ProposalOrigin::Full) => false,
            (Self::Edits | Self::Rebuild, _) => true,
        }
    }
}

/// Moves the proposal of a model that waits, if one does, onto the document just published, unless
/// what was published takes its place.
pub(crate) fn after_publish(
    tx: &WriteTx<'_>,
    bank: BankKey,
    model: &Model,
    document: &Document,
    mover: Mover,
    now: Instant,
) -> store::Result<()> {
    let Some(waiting) = rows::waiting(tx, model.head.key)? else { return Ok(()) };
    let opened = Opened::of(tx, waiting)?;
    let gone = Successor::Version(model.head.version);
    // All or nothing, and the "all" was made of another document.
    if opened.is_whole() || mover.replaces(opened.row.head.origin) {
        make::supersede(tx, bank, model.head.key, &gone, now)?;
        return Ok(());
    }
    let withdrawn = withdrawn(tx, bank, &opened)?;
    let moved = rebase(&opened.ops, &opened.base, document, &withdrawn);
    if !moved.ops.iter().any(ProposalOp::is_decidable) {
        // The document says all of it by now.
        make::supersede(tx, bank, model.head.key, &gone, now)?;
        return Ok(());
    }
    let detail =
        Detail { version: Some(model.head.version), ..Detail::moved(&opened, &moved.verdicts) };
    put(tx, bank, opened, moved, document, model.head.version, ("rebased", &detail), now)
}

/// Looks again at the waiting proposals of a bank that rest on memories which were taken back, or
/// brought back.
pub(crate) fn after_retraction(
    tx: &WriteTx<'_>,
    bank: BankKey,
    memories: &[MemoryId],
    now: Instant,
) -> store::Result<()> {
    for id in rows::waiting_on(tx, bank, memories)? {
        let opened = Opened::get(tx, bank, &id)?;
        let withdrawn = withdrawn(tx, bank, &opened)?;
        let base = opened.base.clone();
        let moved = rebase(&opened.ops, &base, &base, &withdrawn);
        let same = |(before, after): (&ProposalOp, &ProposalOp)| before.conflict == after.conflict;
        if opened.ops.iter().zip(&moved.ops).all(same) {
            continue;
        }
        let version = opened.row.head.base_version;
        let detail = Detail::moved(&opened, &moved.verdicts);
        put(tx, bank, opened, moved, &base, version, ("retracted", &detail), now)?;
    }
    Ok(())
}

/// Writes a proposal with its operations as they stand on another document.
#[allow(clippy::too_many_arguments, reason = "one step of two callers, and all of it differs")]
fn put(
    tx: &WriteTx<'_>,
    bank: BankKey,
    mut opened: Opened,
    moved: Rebased,
    document: &Document,
    version: u32,
    event: (&str, &Detail),
    now: Instant,
) -> store::Result<()> {
    remember(&mut opened, &moved.ops);
    let state = state_after_rebase(opened.state(), &moved.ops);
    carry_draft(&mut opened, document, &moved.candidate);
    opened.row.head.state = same_word(&state).unwrap_or(ProposalState::Conflicted);
    opened.row.head.base_version = version;
    opened.row.base_structure = to_json(document);
    opened.base = document.clone();
    take(&mut opened, moved);
    make::put_ops(tx, opened.row.head.key, &opened.ops, &opened.beside)?;
    let expected = opened.row.head.state_seq;
    rows::save(tx, bank, &opened.row, expected)?;
    events::note(tx, opened.row.head.key, event.0, event.1, now)
}

/// Takes operations and candidate over. What was extracted from another candidate is not its
/// structured view.
pub(super) fn take(opened: &mut Opened, moved: Rebased) {
    let content = moved.candidate.render();
    if content != opened.row.candidate_content {
        opened.row.structured_output = None;
    }
    opened.ops = moved.ops;
    opened.row.candidate_content = content;
    opened.row.candidate_structure = to_json(&moved.candidate);
    opened.candidate = moved.candidate;
}

/// Keeps, beside each operation that has just fallen into conflict, what it was made for.
fn remember(opened: &mut Opened, after: &[ProposalOp]) {
    for (before, after) in opened.ops.iter().zip(after) {
        let beside = opened.beside.entry(after.op_id.clone()).or_default();
        match (before.conflict, after.conflict) {
            (None, Some(_)) => {
                beside.was = old_text(&before.op, &opened.base);
                let section = before.op.section_id().and_then(|id| opened.base.section(id));
                beside.section = section.map(|s| Section { blocks: Vec::new(), ..s.clone() });
            }
            (_, None) => *beside = Beside { proposed: beside.proposed.take(), ..Beside::default() },
            (Some(_), Some(_)) => {}
        }
    }
}

/// Moves a saved draft onto another document, as long as its changes fit there. One that does not
/// fit keeps its words and loses its structure, which is how it is told that it is outdated.
fn carry_draft(opened: &mut Opened, document: &Document, candidate: &Document) {
    let Some(draft) = &opened.row.edited_content else { return };
    let moved = opened
        .row
        .draft_structure
        .as_ref()
        .and_then(|_| moved_text(&opened.base, &parse(draft), document));
    opened.row.draft_structure = moved.as_ref().map(|moved| {
        let text = moved.render();
        to_json(&reconcile(candidate, parse(&text)))
    });
    if let Some(moved) = moved {
        opened.row.edited_content = Some(moved.render());
    }
}

/// The changes of a text over one document made on another one; none if they do not all fit.
pub(super) fn moved_text(base: &Document, text: &Document, now: &Document) -> Option<Document> {
    let (texts, provenance) = (HashMap::new(), Provenance::default());
    let known = RunFacts { texts: &texts, provenance: &provenance };
    let derived = derive_ops(base, &reconcile(base, text.clone()), &[], &known);
    if derived.granularity == Granularity::Whole {
        return (base == now).then_some(derived.document);
    }
    let moved = rebase(&derived.ops, base, now, &BTreeSet::new());
    moved.ops.iter().all(|op| op.conflict.is_none()).then_some(moved.candidate)
}

/// The headings of sections that operations in conflict were made for, and the base itself: what a
/// text whose section is gone can come back under.
pub(super) fn made_on(opened: &Opened) -> Document {
    let mut before = opened.base.clone();
    for section in opened.beside.values().filter_map(|beside| beside.section.as_ref()) {
        if before.section(&section.id).is_none() {
            before.sections.push(section.clone());
        }
    }
    before
}

/// Facts of the operations that have been taken back since: gone, out of use, or out of the model's
/// scope. Those whose retraction the run itself dealt with are why its operations exist.
pub(crate) fn withdrawn(
    tx: &ReadTx<'_>,
    bank: BankKey,
    opened: &Opened,
) -> store::Result<BTreeSet<String>> {
    let mut cited: BTreeSet<&str> = opened.ops.iter().flat_map(ProposalOp::cited_facts).collect();
    cited.retain(|fact| !opened.run.retracted.iter().any(|known| known == fact));
    let ids: Vec<MemoryId> = cited.into_iter().map(MemoryId::from).collect();
    let stones = store::tombstones::of_memories(tx, bank, &ids)?;
    let rescoped = |stone: &Tombstone| stone.cause == Cause::Rescoped;
    let moved: Vec<MemoryId> =
        stones.iter().filter(|stone| rescoped(stone)).map(|stone| stone.memory.clone()).collect();
    let mut present = HashMap::new();
    for memory in store::memories::by_ids(tx, bank, &moved)? {
        present.insert(memory.id.0, (crate::fresh::tag_set(&memory.tags), memory.fact_type));
    }
    let counts =
        |stone: &Tombstone| !crate::fresh::is_harmless(stone, &opened.model.scope, &present);
    Ok(stones.into_iter().filter(counts).map(|stone| stone.memory.0).collect())
}

/// Whether the draft that was saved fits the present document.
pub(super) fn draft_fits(opened: &Opened) -> bool {
    opened.row.draft_structure.is_some()
}

/// The saved draft as a document.
pub(super) fn draft_of(opened: &Opened) -> Option<Document> {
    let content = opened.row.edited_content.as_ref()?;
    Some(match &opened.row.draft_structure {
        Some(stored) => read_stored(&domain::Json(stored.clone()), content),
        None => parse(content),
    })
}

/// Whether an operation is in conflict because the document has its target elsewhere.
pub(super) fn is_moved(op: &ProposalOp) -> bool {
    op.conflict == Some(Conflict::Moved)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "# Crew\n\nAna leads.\n\nBen helps.\n";

    #[test]
    fn a_draft_follows_a_document_that_changed_elsewhere() {
        let (base, draft) = (parse(BASE), parse(&BASE.replace("Ben helps", "Ben and Cora help")));
        let now = reconcile(&base, parse(&BASE.replace("Ana leads", "Ana left")));
        let moved = moved_text(&base, &draft, &now).map(|moved| moved.render());
        assert_eq!(moved.as_deref(), Some("# Crew\n\nAna left.\n\nBen and Cora help.\n"));
        let same = reconcile(&base, parse(&BASE.replace("Ben helps", "Ben rests")));
        assert_eq!(moved_text(&base, &draft, &same), None);
    }
}
