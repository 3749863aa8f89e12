//! What a model's document was: the timeline, single versions, and what differs between two.

use super::loaded::{Loaded, from_json};
use super::show::{evidence_items, json};
use crate::view::diff::{DiffEntry, DiffKind, DocDiff, SpanKind, WordSpan};
use crate::view::model::{
    ChangeSize, DecisionCounts, OpenProposal, TimelineEntry, VersionDiff, VersionView,
};
use domain::diff;
use domain::document::{Document, read_stored};
use domain::model::Citation;
use domain::{Instant, Json, ModelId, ProposalId};
use std::collections::{BTreeMap, HashMap};
use store::proposals::{ProposalHead, ProposalState};
use store::runs;
use store::versions::{self, Version};
use store::{BankKey, ReadTx, proposals};

/// Versions, and failed runs, that a timeline shows.
const LISTED: u32 = 200;

pub(super) fn timeline(
    tx: &ReadTx<'_>,
    bank: BankKey,
    id: &ModelId,
) -> store::Result<Vec<TimelineEntry>> {
    let model = store::models::get(tx, bank, id)?.head.key;
    let all = proposals::of_model(tx, model)?;
    let keys: Vec<_> = all.iter().map(|head| head.key).collect();
    let counts = store::reviews::decidable(tx, &keys)?;
    let named: HashMap<&ProposalId, (OpenProposal, DecisionCounts)> = all
        .iter()
        .map(|head| {
            let counts = counts.get(&head.key).copied().unwrap_or_default();
            (&head.id, (open(head, &counts), decision_counts(&counts)))
        })
        .collect();
    let mut entries: Vec<(Instant, u32, TimelineEntry)> = Vec::new();
    for (version, change) in with_change(tx, model)? {
        let proposal = version.proposal.as_ref().and_then(|id| named.get(id));
        let entry = TimelineEntry::Version {
            version: version.version,
            cause: version.cause.word().to_owned(),
            actor: version.actor.word().to_owned(),
            at: version.created_at,
            note: version.note,
            change,
            proposal: proposal.map(|(open, _)| open.clone()),
            decisions: proposal.map(|(_, counts)| counts.clone()),
            pinned: version.pinned,
        };
        entries.push((version.created_at, version.version, entry));
    }
    for head in &all {
        let ended = matches!(head.state, ProposalState::Rejected | ProposalState::Superseded);
        let Some((proposal, _)) = named.get(&head.id).filter(|_| ended) else { continue };
        let at = head.resolved_at.unwrap_or(head.created_at);
        let entry = TimelineEntry::Proposal {
            proposal: proposal.clone(),
            state: head.state.word().to_owned(),
            at,
            note: head.resolution_note.clone(),
        };
        entries.push((at, 0, entry));
    }
    for run in runs::list_refreshes(tx, model, LISTED)? {
        if run.outcome.starts_with("refresh_failed") && !run.dry_run {
            let entry = TimelineEntry::FailedRun {
                at: run.finished_at,
                outcome: run.outcome,
                report: run.report.as_ref().and_then(from_json),
            };
            entries.push((run.finished_at, 0, entry));
        }
    }
    entries.sort_by_key(|entry| std::cmp::Reverse((entry.0, entry.1)));
    Ok(entries.into_iter().map(|(_, _, entry)| entry).collect())
}

/// A proposal by name.
pub(super) fn open(head: &ProposalHead, counts: &store::reviews::Counts) -> OpenProposal {
    OpenProposal { id: head.id.clone(), number: head.number, operations: counts.total() }
}

/// Counts for screens.
pub(super) fn decision_counts(counts: &store::reviews::Counts) -> DecisionCounts {
    DecisionCounts {
        accepted: counts.accepted,
        rejected: counts.rejected,
        deferred: counts.deferred,
        undecided: counts.undecided,
    }
}

/// The versions, newest first, each with the size of its change against the one before.
fn with_change(
    tx: &ReadTx<'_>,
    model: store::ModelKey,
) -> store::Result<Vec<(versions::VersionHead, ChangeSize)>> {
    let mut list = Vec::new();
    let mut before = BTreeMap::new();
    let mut heads = versions::list(tx, model, None, LISTED)?;
    heads.reverse();
    for head in heads {
        let document = document_of(&versions::get(tx, model, head.version)?);
        let now: BTreeMap<String, String> =
            document.blocks().map(|block| (block.id.clone(), block.text.clone())).collect();
        list.push((head, change(&before, &now)));
        before = now;
    }
    list.reverse();
    Ok(list)
}

fn change(before: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> ChangeSize {
    let mut size = ChangeSize::default();
    for (id, text) in now {
        match before.get(id) {
            None => size.added += 1,
            Some(was) if was != text => size.changed += 1,
            Some(_) => {}
        }
    }
    size.removed = u32::try_from(before.keys().filter(|id| !now.contains_key(*id)).count())
        .unwrap_or(u32::MAX);
    size
}

fn document_of(version: &Version) -> Document {
    read_stored(&Json(version.structure.clone()), &version.content)
}

fn citations_of(version: &Version) -> Vec<Citation> {
    let map: BTreeMap<String, Vec<Citation>> = from_json(&version.based_on).unwrap_or_default();
    map.into_values().flatten().collect()
}

pub(super) fn version(
    tx: &ReadTx<'_>,
    bank: BankKey,
    id: &ModelId,
    version: u32,
) -> store::Result<VersionView> {
    let model = store::models::get(tx, bank, id)?.head.key;
    let row = versions::get(tx, model, version)?;
    Ok(VersionView {
        version,
        structure: document_of(&row),
        based_on: evidence_items(tx, bank, &citations_of(&row))?,
        source_query: row.head.source_query,
        created_at: row.head.created_at,
        trace: row.trace.map(json),
        content: row.content,
    })
}

pub(super) fn diff(
    tx: &ReadTx<'_>,
    bank: BankKey,
    id: &ModelId,
    from: u32,
    to: u32,
) -> store::Result<VersionDiff> {
    let model = Loaded::get(tx, bank, id)?.key();
    let side = |number: u32| -> store::Result<(Document, Vec<Citation>)> {
        if number == 0 {
            return Ok((Document::default(), Vec::new()));
        }
        let row = versions::get(tx, model, number)?;
        Ok((document_of(&row), citations_of(&row)))
    };
    let (old, old_cited) = side(from)?;
    let (new, new_cited) = side(to)?;
    let only = |these: &[Citation], those: &[Citation]| -> Vec<Citation> {
        let known = |cited: &&Citation| !those.iter().any(|other| other.id == cited.id);
        these.iter().filter(known).cloned().collect()
    };
    Ok(VersionDiff {
        from,
        to,
        diff: doc_diff(diff::diff_documents(&old, &new, &[]), &|_| None),
        evidence_gone: evidence_items(tx, bank, &only(&old_cited, &new_cited))?,
        evidence_new: evidence_items(tx, bank, &only(&new_cited, &old_cited))?,
    })
}

/// A diff for screens; `op_id` names the operation of an index.
pub(super) fn doc_diff(diff: diff::DocDiff, op_id: &dyn Fn(u32) -> Option<String>) -> DocDiff {
    let entries = diff.entries.into_iter().map(|entry| DiffEntry {
        kind: kind(entry.kind),
        section_id: entry.section_id,
        level: if entry.block_id.is_some() { 0 } else { u32::from(entry.level) },
        block_id: entry.block_id,
        old_text: entry.old_text,
        new_text: entry.new_text,
        words: words(entry.words),
        op_ids: entry.ops.into_iter().filter_map(op_id).collect(),
    });
    DocDiff { entries: entries.collect(), unified: diff.unified }
}

fn kind(kind: diff::DiffKind) -> DiffKind {
    use diff::DiffKind as K;
    match kind {
        K::SectionAdded => DiffKind::SectionAdded,
        K::SectionRemoved => DiffKind::SectionRemoved,
        K::SectionRenamed => DiffKind::SectionRenamed,
        K::SectionMoved => DiffKind::SectionMoved,
        K::BlockAdded => DiffKind::BlockAdded,
        K::BlockRemoved => DiffKind::BlockRemoved,
        K::BlockChanged => DiffKind::BlockChanged,
        K::Unchanged => DiffKind::Unchanged,
    }
}

/// Words that differ, for screens.
pub(super) fn words(changes: Vec<diff::WordChange>) -> Vec<WordSpan> {
    let spans = changes.into_iter().map(|change| WordSpan {
        kind: match change.kind {
            diff::WordKind::Equal => SpanKind::Same,
            diff::WordKind::Added => SpanKind::Added,
            diff::WordKind::Removed => SpanKind::Removed,
        },
        text: change.text,
    });
    spans.collect()
}
