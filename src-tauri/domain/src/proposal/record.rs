//! From the outcome of a run to the operations of a proposal: everything that was decided is written
//! down, so that a later selection or rebase decides nothing again.

use std::collections::{BTreeSet, HashMap};

use super::{Decision, EvidenceRole, OpEvidence, ProposalOp};
use crate::delta::{
    Applied, CitedOp, DeltaOp, ElementKind, OpResult, OpStatus, OpTrace, fragments, text_hash,
};
use crate::provenance::{PERSON, Provenance};

/// What a run knew about facts and blocks.
#[derive(Debug, Clone, Copy)]
pub struct RunFacts<'a> {
    /// Texts of facts as read, by memory id.
    pub texts: &'a HashMap<String, String>,
    /// Where the blocks of the base come from.
    pub provenance: &'a Provenance,
}

/// The operations of a proposal from a run over its base. Operations must cite memory ids (see
/// [`CitedOp::with_facts`]). Entries that were no operations at all are left out; they are in the
/// trace.
#[must_use]
pub fn record_ops(applied: &Applied, known: &RunFacts<'_>) -> Vec<ProposalOp> {
    let mut ops: Vec<ProposalOp> = applied
        .ops
        .iter()
        .zip(&applied.results)
        .zip(&applied.traces)
        .filter_map(|((entry, result), trace)| {
            let cited = entry.body.as_ref().ok()?;
            Some(record(cited, result, trace, known))
        })
        .collect();
    let removed: HashMap<u32, &OpTrace> =
        applied.results.iter().zip(&applied.traces).map(|(r, trace)| (r.index, trace)).collect();
    add_hints(&mut ops, &removed);
    ops
}

pub(super) fn record(
    cited: &CitedOp,
    result: &OpResult,
    trace: &OpTrace,
    known: &RunFacts<'_>,
) -> ProposalOp {
    let text = cited.op.text();
    let claims: Vec<_> =
        cited.claims.iter().filter(|claim| text.contains(&claim.quote)).cloned().collect();
    let old = changed_blocks(&cited.op, result, trace);
    let old_sources: BTreeSet<&String> =
        old.iter().filter_map(|id| known.provenance.sources(id)).flatten().collect();
    let fact = |id: &String, role| OpEvidence {
        fact_id: id.clone(),
        text: known.texts.get(id).cloned().unwrap_or_default(),
        role,
    };
    let mut evidence: Vec<OpEvidence> =
        cited.evidence.iter().map(|id| fact(id, EvidenceRole::Cited)).collect();
    let sources = old_sources.iter().filter(|source| source.as_str() != PERSON);
    evidence.extend(sources.map(|id| fact(id, EvidenceRole::OldSource)));
    ProposalOp {
        op_id: format!("op{}", result.index),
        index: result.index,
        fingerprint: fingerprint(&cited.op),
        op: cited.op.clone(),
        status: result.status,
        reason: result.reason,
        assigned_id: result.assigned_id.clone(),
        created_block_ids: result.created_block_ids.clone(),
        block_ids: result.block_ids.clone(),
        merged_into_block_id: result.merged_into_block_id.clone(),
        targets: trace.targets.clone(),
        requires: trace.requires.clone(),
        conflicts_hint: Vec::new(),
        group: None,
        evidence,
        claims,
        human_touch: old_sources.iter().any(|source| source.as_str() == PERSON),
        decision: Decision::Undecided,
        decided_at: None,
        note: None,
        marker: None,
        conflict: None,
    }
}

/// Blocks of the base whose text the operation replaces, extends or removes.
fn changed_blocks<'a>(op: &DeltaOp, result: &OpResult, trace: &'a OpTrace) -> Vec<&'a str> {
    let of_base = trace
        .targets
        .iter()
        .filter(|target| target.kind == ElementKind::Block && target.created_by.is_none())
        .map(|target| target.id.as_str());
    match op {
        DeltaOp::ReplaceBlock { .. }
        | DeltaOp::RemoveBlock { .. }
        | DeltaOp::RemoveSection { .. } => of_base.collect(),
        DeltaOp::ReplaceSectionBlocks { .. } => {
            let kept = result.block_ids.as_deref().unwrap_or_default();
            of_base.filter(|id| !kept.iter().any(|kept| kept == id)).collect()
        }
        DeltaOp::AppendBlock { .. } | DeltaOp::InsertBlock { .. } => {
            let joined = result.merged_into_block_id.as_deref();
            of_base.filter(|id| joined == Some(*id)).collect()
        }
        DeltaOp::AddSection { .. } | DeltaOp::RenameSection { .. } => Vec::new(),
    }
}

/// What an operation is recognised by in another proposal: its kind, its target (or anchor and
/// heading) and its text with every run of white space taken as one space.
#[must_use]
pub fn fingerprint(op: &DeltaOp) -> String {
    let words: Vec<String> = op.text().split_whitespace().map(str::to_owned).collect();
    format!("{}:{}", fingerprint_target(op), &text_hash(&words.join(" "))[..16])
}

/// The part of a fingerprint that does not depend on the text.
pub(super) fn fingerprint_target(op: &DeltaOp) -> String {
    let target = match op {
        DeltaOp::AppendBlock { section_id, .. }
        | DeltaOp::RemoveSection { section_id }
        | DeltaOp::ReplaceSectionBlocks { section_id, .. }
        | DeltaOp::RenameSection { section_id, .. } => section_id.clone(),
        DeltaOp::InsertBlock { section_id, after_block_id, .. } => {
            format!("{section_id}/{}", after_block_id.as_deref().unwrap_or_default())
        }
        DeltaOp::ReplaceBlock { block_id, .. } | DeltaOp::RemoveBlock { block_id, .. } => {
            block_id.clone()
        }
        DeltaOp::AddSection { heading, after_section_id, .. } => {
            format!("{}/{}", after_section_id.as_deref().unwrap_or_default(), heading.trim())
        }
    };
    format!("{}:{target}", op.kind().word())
}

/// Notes, on either side, which applied operations belong together though neither needs the other:
/// a removal and an addition of the same or nearly the same text (a move, which shares a group), and an addition to a section that
/// shares facts with an earlier removal from it.
fn add_hints(ops: &mut [ProposalOp], traces: &HashMap<u32, &OpTrace>) {
    let removals: Vec<(usize, Vec<Bag>)> = ops
        .iter()
        .enumerate()
        .filter(|(_, op)| is_removal(op))
        .map(|(at, op)| {
            let gone = traces.get(&op.index).map(|trace| trace.removed.as_slice());
            (at, gone.unwrap_or_default().iter().map(|text| Bag::of(text)).collect())
        })
        .collect();
    if removals.is_empty() {
        return;
    }
    let mut pairs = Vec::new();
    let mut moves = Vec::new();
    for (other, addition) in ops.iter().enumerate().filter(|(_, op)| is_addition(op)) {
        let added = added_texts(&addition.op);
        for (at, gone) in removals.iter().filter(|(at, _)| *at != other) {
            let half_move = gone.iter().any(|old| added.iter().any(|new| old.is_near(new)));
            if half_move {
                moves.push((*at, other));
            }
            if half_move || builds_on(&ops[*at], addition) {
                pairs.push((*at, other));
            }
        }
    }
    for (from, to) in moves {
        let group = ops[from].group.clone().or_else(|| ops[to].group.clone());
        let group = group.unwrap_or_else(|| format!("move{from}"));
        ops[from].group = Some(group.clone());
        ops[to].group = Some(group);
    }
    for (a, b) in pairs {
        let (first, second) = (ops[a].index, ops[b].index);
        for (op, hint) in [(a, second), (b, first)] {
            if let Err(place) = ops[op].conflicts_hint.binary_search(&hint) {
                ops[op].conflicts_hint.insert(place, hint);
            }
        }
    }
}

fn is_removal(op: &ProposalOp) -> bool {
    op.status == OpStatus::Applied
        && matches!(
            op.op,
            DeltaOp::RemoveBlock { .. }
                | DeltaOp::RemoveSection { .. }
                | DeltaOp::ReplaceSectionBlocks { .. }
        )
}

fn is_addition(op: &ProposalOp) -> bool {
    op.status == OpStatus::Applied
        && !matches!(
            op.op,
            DeltaOp::RemoveBlock { .. }
                | DeltaOp::RemoveSection { .. }
                | DeltaOp::RenameSection { .. }
        )
}

fn added_texts(op: &DeltaOp) -> Vec<Bag> {
    let added = match op {
        DeltaOp::AddSection { blocks, .. } => blocks.join("\n\n"),
        _ => op.text(),
    };
    fragments(&added).unwrap_or_default().iter().map(|text| Bag::of(text)).collect()
}

/// Share of words in both texts (Dice's coefficient over word counts) from which two texts count as
/// nearly equal: one word in ten may differ.
const NEAR: f64 = 0.9;

/// The words of a text, sorted.
struct Bag(Vec<String>);

impl Bag {
    fn of(text: &str) -> Self {
        let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        words.sort_unstable();
        Self(words)
    }

    fn is_near(&self, other: &Self) -> bool {
        let total = self.0.len() + other.0.len();
        let share = |shared: usize| {
            let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
            total > 0 && 2.0 * count(shared) >= NEAR * count(total)
        };
        // Most pairs differ in length alone; only the others are compared word by word.
        share(self.0.len().min(other.0.len())) && share(self.shared(other))
    }

    fn shared(&self, other: &Self) -> usize {
        let (mut a, mut b, mut shared) = (0, 0, 0);
        while a < self.0.len() && b < other.0.len() {
            match self.0[a].cmp(&other.0[b]) {
                std::cmp::Ordering::Less => a += 1,
                std::cmp::Ordering::Greater => b += 1,
                std::cmp::Ordering::Equal => (a, b, shared) = (a + 1, b + 1, shared + 1),
            }
        }
        shared
    }
}

/// Whether the addition was likely written on the assumption that the earlier removal happens.
fn builds_on(removal: &ProposalOp, addition: &ProposalOp) -> bool {
    let adds = matches!(
        addition.op,
        DeltaOp::AppendBlock { .. } | DeltaOp::InsertBlock { .. } | DeltaOp::AddSection { .. }
    );
    let removes = matches!(removal.op, DeltaOp::RemoveBlock { .. } | DeltaOp::RemoveSection { .. });
    let section = match &addition.op {
        DeltaOp::AddSection { after_section_id, .. } => after_section_id.as_deref(),
        op => op.section_id(),
    };
    let facts = removal.cited_facts();
    adds && removes
        && removal.index < addition.index
        && section.is_some()
        && section == removal.op.section_id()
        && addition.cited_facts().iter().any(|fact| facts.contains(fact))
}
