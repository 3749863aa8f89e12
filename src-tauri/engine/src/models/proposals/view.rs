//! Proposals as review screens show them: each operation with its place, its words, its facts and
//! what hangs on it.

use super::convert::{Opened, same_word};
use super::rebase::{draft_fits, is_moved, made_on};
use super::{events, order};
use crate::models::loaded::{from_json, search_scope};
use crate::models::show::{NEWER_CAP, evidence_items, json, warning};
use crate::view::model::{DecisionCounts, EvidenceItem, OpenProposal, RunWarning};
use crate::view::proposal::{
    ClaimView, ConflictView, DraftView, OpHint, OpView, ProposalRow, ProposalView,
};
use domain::ProposalId;
use domain::delta::{DeltaOp, OpStatus};
use domain::diff::word_diff;
use domain::document::{Block, Document};
use domain::model::{self, Citation};
use domain::proposal::{Conflict, Decision, EvidenceRole, ProposalOp, can_be_taken};
use domain::provenance::PERSON;
use std::collections::HashMap;
use store::{BankKey, ReadTx, proposals as rows};

pub(super) fn inbox(tx: &ReadTx<'_>, bank: BankKey) -> store::Result<Vec<ProposalRow>> {
    let mut list = Vec::new();
    for head in rows::list_waiting(tx, bank)? {
        let opened = Opened::get(tx, bank, &head.id)?;
        list.push(row(tx, bank, &opened)?);
    }
    Ok(list)
}

pub(super) fn proposal(
    tx: &ReadTx<'_>,
    bank: BankKey,
    id: &ProposalId,
) -> store::Result<ProposalView> {
    of(tx, bank, &Opened::get(tx, bank, id)?)
}

/// A proposal that was read, or one that is not stored: a dry run.
pub(in crate::models) fn of(
    tx: &ReadTx<'_>,
    bank: BankKey,
    opened: &Opened,
) -> store::Result<ProposalView> {
    let row = row(tx, bank, opened)?;
    let mut banners = Vec::new();
    let mut banner = |holds: bool, word: &str| {
        if holds {
            banners.push(word.to_owned());
        }
    };
    let waits = !opened.state().is_terminal();
    banner(waits && opened.query_changed(), "query_changed");
    banner(waits && opened.scope_changed(), "scope_changed");
    banner(waits && row.newer > 0, "newer_memories");
    let head = &opened.row.head;
    let warnings: Vec<model::RunWarning> = from_json(&opened.row.warnings).unwrap_or_default();
    let time_of = |seq: Option<i64>| match seq {
        Some(seq) => store::freshness::time_of_seq(tx, bank, seq),
        None => Ok(None),
    };
    let (read_from, read_to) = (time_of(opened.run.after_seq)?, time_of(head.watermark_seq)?);
    let published = store::versions::list(tx, head.model, None, u32::MAX)?
        .into_iter()
        .find(|version| version.proposal.as_ref() == Some(&head.id))
        .map(|version| version.version);
    Ok(ProposalView {
        state_seq: head.state_seq,
        base_version: head.base_version,
        whole: opened.is_whole(),
        extractive: opened.run.extractive,
        source_query: head.source_query.clone(),
        ops: ops(tx, bank, opened)?,
        base: opened.base.clone(),
        warnings: warnings.into_iter().map(warning).collect::<Vec<RunWarning>>(),
        banners,
        read_from,
        read_to,
        usage: some_json(&opened.row.usage),
        structured_output: opened.row.structured_output.clone().map(json),
        draft: opened
            .row
            .edited_content
            .clone()
            .map(|content| DraftView { content, fits: draft_fits(opened) }),
        events: events::of(tx, opened)?,
        supersedes: supersedes(tx, opened)?,
        trace: some_json(&opened.row.trace),
        operation: head.operation.clone(),
        superseded_by: head.superseded_by.clone(),
        published_version: published,
        resolution_note: head.resolution_note.clone(),
        resolved_at: head.resolved_at,
        disposition: head.disposition.as_ref().and_then(same_word),
        row,
    })
}

fn some_json(value: &serde_json::Value) -> Option<domain::Json> {
    (!value.is_null()).then(|| json(value.clone()))
}

/// The proposals whose place this one took, newest first.
fn supersedes(tx: &ReadTx<'_>, opened: &Opened) -> store::Result<Vec<OpenProposal>> {
    let all = rows::of_model(tx, opened.row.head.model)?;
    let by = Some(&opened.row.head.id);
    let older: Vec<_> = all.iter().filter(|head| head.superseded_by.as_ref() == by).collect();
    let keys: Vec<_> = older.iter().map(|head| head.key).collect();
    let counts = store::reviews::decidable(tx, &keys)?;
    Ok(older
        .into_iter()
        .map(|head| {
            crate::models::history::open(head, &counts.get(&head.key).copied().unwrap_or_default())
        })
        .collect())
}

fn row(tx: &ReadTx<'_>, bank: BankKey, opened: &Opened) -> store::Result<ProposalRow> {
    let head = &opened.row.head;
    let mut counts = DecisionCounts { accepted: 0, rejected: 0, deferred: 0, undecided: 0 };
    let decidable: Vec<&ProposalOp> = opened.ops.iter().filter(|op| op.is_decidable()).collect();
    for op in &decidable {
        match op.decision {
            Decision::Undecided => counts.undecided += 1,
            Decision::Accepted => counts.accepted += 1,
            Decision::Rejected => counts.rejected += 1,
            Decision::Deferred => counts.deferred += 1,
        }
    }
    let newer = if opened.state().is_terminal() {
        0
    } else {
        let scope = search_scope(tx, bank, &opened.model.scope)?;
        store::freshness::count_newer(tx, &scope, head.cutoff_seq, NEWER_CAP)?
    };
    Ok(ProposalRow {
        id: head.id.clone(),
        number: head.number,
        model_id: head.model_id.clone(),
        model_name: opened.model.row.head.name.clone(),
        state: opened.state(),
        reason: head.reason.word().to_owned(),
        origin: head.origin.word().to_owned(),
        triggered_by: opened.run.triggered_by.clone(),
        operations: count(decidable.len()),
        decisions: counts,
        facts_read: opened.run.facts_read,
        facts_used: count(opened.facts.len()),
        newer,
        created_at: head.created_at,
    })
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// All operations, in the order of the document.
fn ops(tx: &ReadTx<'_>, bank: BankKey, opened: &Opened) -> store::Result<Vec<OpView>> {
    let items = items(tx, bank, opened)?;
    let numbers = order::numbers(&opened.ops, &opened.base, &opened.candidate);
    let order = order::in_document(&opened.ops, &opened.base, &opened.candidate);
    let shown = Shown { opened, items, numbers };
    Ok(order.into_iter().map(|at| shown.op(&opened.ops[at])).collect())
}

/// Every fact beside an operation, as evidence, by id.
fn items(
    tx: &ReadTx<'_>,
    bank: BankKey,
    opened: &Opened,
) -> store::Result<HashMap<String, EvidenceItem>> {
    let mut cited: Vec<Citation> = opened.facts.clone();
    let known = opened.model.evidence.iter().flat_map(|e| e.based_on.values().flatten());
    let known: HashMap<&str, &Citation> = known.map(|fact| (fact.id.as_str(), fact)).collect();
    for beside in opened.ops.iter().flat_map(|op| &op.evidence) {
        // The word of a person is no memory that could be shown.
        if beside.fact_id == PERSON {
            continue;
        }
        if cited.iter().any(|fact| fact.id == beside.fact_id) {
            continue;
        }
        cited.push(known.get(beside.fact_id.as_str()).map_or_else(
            || Citation {
                id: beside.fact_id.clone(),
                text: beside.text.clone(),
                kind: "world".to_owned(),
                context: None,
                occurred_start: None,
                mentioned_at: None,
                first_cited_version: None,
            },
            |fact| (*fact).clone(),
        ));
    }
    let mut items: HashMap<String, EvidenceItem> =
        evidence_items(tx, bank, &cited)?.into_iter().map(|item| (item.id.clone(), item)).collect();
    let ids: Vec<domain::MemoryId> =
        cited.iter().map(|fact| domain::MemoryId(fact.id.clone())).collect();
    for memory in store::memories::by_ids(tx, bank, &ids)? {
        if let Some(item) = items.get_mut(&memory.id.0) {
            item.kind = memory.fact_type.word().to_owned();
            item.occurred_start = item.occurred_start.or(memory.occurred_start);
            item.mentioned_at = item.mentioned_at.or(memory.mentioned_at);
            if item.text.is_empty() {
                item.text = memory.text;
            }
        }
    }
    Ok(items)
}

struct Shown<'a> {
    opened: &'a Opened,
    items: HashMap<String, EvidenceItem>,
    numbers: HashMap<String, u32>,
}

impl Shown<'_> {
    fn op(&self, op: &ProposalOp) -> OpView {
        let opened = self.opened;
        let proposed = opened.proposed(&op.op_id);
        let old_text = old_text(&op.op, &opened.base);
        let new_text = new_text(&op.op);
        let both = old_text.as_ref().zip(new_text.as_ref());
        let (before, after) = self.around(op);
        let section = self.section_of(op);
        OpView {
            op_id: op.op_id.clone(),
            number: self.numbers.get(&op.op_id).copied().unwrap_or(0),
            kind: op.op.kind().word().to_owned(),
            status: status(op.status).to_owned(),
            reason: op.reason.map(|reason| reason.word().to_owned()),
            heading: section.as_ref().map(|(_, heading)| heading.clone()),
            section_id: section.map(|(id, _)| id),
            block_id: block_of(op),
            words: both.map(|(old, new)| word_diff(old, new)).unwrap_or_default(),
            old_text,
            new_text,
            proposed_text: proposed.map(new_text_or_blank),
            before,
            after,
            decision: op.decision,
            note: op.note.clone(),
            requires: self.ids(&op.requires),
            required_by: self.required_by(op),
            hints: self.hints(op),
            group: op.group.clone(),
            evidence: self.evidence(op, EvidenceRole::Cited),
            old_evidence: self.evidence(op, EvidenceRole::OldSource),
            claims: op
                .claims
                .iter()
                .map(|claim| ClaimView {
                    quote: claim.quote.clone(),
                    evidence: claim.evidence.clone(),
                })
                .collect(),
            human_touch: op.human_touch,
            unsupported: !opened.is_file() && op.is_decidable() && op.cited_facts().is_empty(),
            oversized: super::super::publish::tokens(&op.op.text())
                > opened.model.row.head.max_tokens,
            marker: op.marker.as_ref().map(crate::models::show::word_of),
            conflict: op.conflict.map(|why| self.conflict(op, why)),
        }
    }

    fn conflict(&self, op: &ProposalOp, why: Conflict) -> ConflictView {
        let opened = self.opened;
        let was = opened.beside.get(&op.op_id).and_then(|beside| beside.was.clone());
        let base = if why == Conflict::EvidenceWithdrawn { self.withdrawn_texts(op) } else { was };
        let elsewhere = block_of(op).filter(|_| is_moved(op));
        let elsewhere = elsewhere.or_else(|| anchor_of(op).filter(|_| is_moved(op)));
        let moved_to = elsewhere
            .and_then(|id| opened.base.block(&id).map(|(section, _)| section.heading.clone()));
        ConflictView {
            kind: why.word().to_owned(),
            base,
            current: old_text(&op.op, &opened.base),
            proposed: new_text(&op.op),
            moved_to,
            can_take: can_be_taken(op, &made_on(opened), &opened.base),
        }
    }

    /// What the facts said that an operation rested on.
    fn withdrawn_texts(&self, op: &ProposalOp) -> Option<String> {
        let cited = op.evidence.iter().filter(|fact| fact.role == EvidenceRole::Cited);
        let texts: Vec<&str> =
            cited.map(|fact| fact.text.as_str()).filter(|text| !text.is_empty()).collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    fn section_of(&self, op: &ProposalOp) -> Option<(String, String)> {
        if let DeltaOp::AddSection { heading, .. } = &op.op {
            return Some((op.assigned_id.clone().unwrap_or_default(), heading.clone()));
        }
        let id = op.op.section_id()?;
        let (base, candidate) = (&self.opened.base, &self.opened.candidate);
        let section = base.section(id).or_else(|| candidate.section(id));
        Some((id.to_owned(), section.map(|s| s.heading.clone()).unwrap_or_default()))
    }

    /// The blocks around the change: in the base for what is replaced or goes, in the candidate for
    /// what comes.
    fn around(&self, op: &ProposalOp) -> (Option<String>, Option<String>) {
        let neighbours = |document: &Document, id: &str| {
            let (section, block) = document.block(id)?;
            let at = section.blocks.iter().position(|b| b.id == block.id)?;
            let text = |at: Option<usize>| {
                at.and_then(|at| section.blocks.get(at)).map(|block: &Block| block.text.clone())
            };
            Some((text(at.checked_sub(1)), text(Some(at + 1))))
        };
        let (base, candidate) = (&self.opened.base, &self.opened.candidate);
        match &op.op {
            DeltaOp::ReplaceBlock { block_id, .. } | DeltaOp::RemoveBlock { block_id, .. } => {
                neighbours(base, block_id)
            }
            DeltaOp::AppendBlock { .. } | DeltaOp::InsertBlock { .. } => {
                op.created_block_ids.first().and_then(|id| neighbours(candidate, id))
            }
            DeltaOp::AddSection { .. }
            | DeltaOp::RemoveSection { .. }
            | DeltaOp::RenameSection { .. }
            | DeltaOp::ReplaceSectionBlocks { .. } => None,
        }
        .unwrap_or_default()
    }

    fn ids(&self, indexes: &[u32]) -> Vec<String> {
        let ops = self.opened.ops.iter().filter(|op| indexes.contains(&op.index));
        ops.map(|op| op.op_id.clone()).collect()
    }

    fn required_by(&self, op: &ProposalOp) -> Vec<String> {
        let ops = self.opened.ops.iter().filter(|other| other.requires.contains(&op.index));
        ops.map(|op| op.op_id.clone()).collect()
    }

    fn hints(&self, op: &ProposalOp) -> Vec<OpHint> {
        let others = self.opened.ops.iter().filter(|o| op.conflicts_hint.contains(&o.index));
        others
            .map(|other| {
                let is_move = op.group.is_some() && op.group == other.group
                    || old_text(&op.op, &self.opened.base) == new_text(&other.op)
                    || new_text(&op.op) == old_text(&other.op, &self.opened.base);
                let kind = match (is_move, new_text(&op.op).is_some()) {
                    (true, true) => "duplicate_if_alone",
                    (true, false) => "lost_if_alone",
                    (false, _) => "assumes_removal",
                };
                OpHint { op_id: other.op_id.clone(), kind: kind.to_owned() }
            })
            .collect()
    }

    /// Facts of one role, newest first.
    fn evidence(&self, op: &ProposalOp, role: EvidenceRole) -> Vec<EvidenceItem> {
        let of_role = op.evidence.iter().filter(|fact| fact.role == role);
        let mut items: Vec<EvidenceItem> =
            of_role.filter_map(|fact| self.items.get(&fact.fact_id).cloned()).collect();
        items.sort_by_key(|item| std::cmp::Reverse(item.occurred_start.or(item.mentioned_at)));
        items
    }
}

/// Whether an operation makes the document say something that no fact bears out.
pub(super) fn is_unsupported(op: &ProposalOp) -> bool {
    op.is_decidable() && op.cited_facts().is_empty() && says_something(&op.op)
}

/// Whether an operation makes the document say something, which facts have to bear out. A heading
/// alone does not, and neither does taking a text away.
pub(in crate::models) fn says_something(op: &DeltaOp) -> bool {
    !matches!(
        op,
        DeltaOp::RenameSection { .. } | DeltaOp::RemoveBlock { .. } | DeltaOp::RemoveSection { .. }
    )
}

fn status(status: OpStatus) -> &'static str {
    match status {
        OpStatus::Applied => "applied",
        OpStatus::Noop => "noop",
        OpStatus::Skipped => "skipped",
    }
}

/// The block that an insertion goes behind.
fn anchor_of(op: &ProposalOp) -> Option<String> {
    match &op.op {
        DeltaOp::InsertBlock { after_block_id, .. } => after_block_id.clone(),
        _ => None,
    }
}

fn block_of(op: &ProposalOp) -> Option<String> {
    match &op.op {
        DeltaOp::ReplaceBlock { block_id, .. } | DeltaOp::RemoveBlock { block_id, .. } => {
            Some(block_id.clone())
        }
        DeltaOp::AppendBlock { .. } | DeltaOp::InsertBlock { .. } => {
            op.merged_into_block_id.clone().or_else(|| op.created_block_ids.first().cloned())
        }
        DeltaOp::AddSection { .. }
        | DeltaOp::RemoveSection { .. }
        | DeltaOp::ReplaceSectionBlocks { .. }
        | DeltaOp::RenameSection { .. } => None,
    }
}

/// The text that goes.
pub(super) fn old_text(op: &DeltaOp, base: &Document) -> Option<String> {
    match op {
        DeltaOp::ReplaceBlock { block_id, .. } | DeltaOp::RemoveBlock { block_id, .. } => {
            base.block(block_id).map(|(_, block)| block.text.clone())
        }
        DeltaOp::RemoveSection { section_id }
        | DeltaOp::ReplaceSectionBlocks { section_id, .. } => {
            let section = base.section(section_id)?;
            let texts: Vec<&str> = section.blocks.iter().map(|b| b.text.as_str()).collect();
            Some(texts.join("\n\n"))
        }
        DeltaOp::RenameSection { section_id, .. } => {
            base.section(section_id).map(|section| section.heading.clone())
        }
        DeltaOp::AppendBlock { .. } | DeltaOp::InsertBlock { .. } | DeltaOp::AddSection { .. } => {
            None
        }
    }
}

/// The text that comes.
pub(super) fn new_text(op: &DeltaOp) -> Option<String> {
    match op {
        DeltaOp::RemoveBlock { .. } | DeltaOp::RemoveSection { .. } => None,
        DeltaOp::AddSection { blocks, .. } => Some(blocks.join("\n\n")),
        DeltaOp::AppendBlock { .. }
        | DeltaOp::InsertBlock { .. }
        | DeltaOp::ReplaceBlock { .. }
        | DeltaOp::ReplaceSectionBlocks { .. }
        | DeltaOp::RenameSection { .. } => Some(op.text()),
    }
}

pub(super) fn new_text_or_blank(op: &DeltaOp) -> String {
    new_text(op).unwrap_or_default()
}
