//! What a model's document was: the timeline, single versions, and what differs between two.

use super::loaded::from_json;
use super::proposals::events;
use super::show::{evidence_items, json};
use crate::view::diff::{DiffEntry, DocDiff};
use crate::view::model::{
    ChangeSize, DecisionCounts, OpenProposal, TimelineEntry, VersionDiff, VersionView,
};
use crate::view::proposal::ReviewEvent;
use domain::diff::{self, json_changes};
use domain::document::{Document, read_stored};
use domain::model::Citation;
use domain::{Instant, Json, ModelId, ProposalId};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use store::proposals::{ProposalHead, ProposalState};
use store::runs;
use store::versions::{self, Version};
use store::{BankKey, ReadTx, proposals};

/// Versions, and failed runs, that a timeline shows.
const LISTED: u32 = 200;

/// A proposal that has ended, as the timeline tells it.
struct Reviewed {
    proposal: OpenProposal,
    decisions: DecisionCounts,
    events: Vec<ReviewEvent>,
}

pub(super) fn timeline(
    tx: &ReadTx<'_>,
    bank: BankKey,
    id: &ModelId,
) -> store::Result<Vec<TimelineEntry>> {
    let model = store::models::head(tx, bank, id)?.key;
    let all = proposals::of_model(tx, model)?;
    let keys: Vec<_> = all.iter().map(|head| head.key).collect();
    let counts = store::reviews::decidable(tx, &keys)?;
    let mut named: HashMap<&ProposalId, Reviewed> = HashMap::new();
    for head in all.iter().filter(|head| !head.state.is_waiting()) {
        let counts = counts.get(&head.key).copied().unwrap_or_default();
        let reviewed = Reviewed {
            proposal: open(head, &counts),
            decisions: decision_counts(&counts),
            events: events::of_key(tx, head.key)?,
        };
        named.insert(&head.id, reviewed);
    }
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
            proposal: proposal.map(|reviewed| reviewed.proposal.clone()),
            decisions: proposal.map(|reviewed| reviewed.decisions.clone()),
            events: proposal.map(|reviewed| reviewed.events.clone()).unwrap_or_default(),
            pinned: version.pinned,
            operation: version.operation,
        };
        entries.push((version.created_at, version.version, entry));
    }
    for head in &all {
        let ended = matches!(head.state, ProposalState::Rejected | ProposalState::Superseded);
        let Some(reviewed) = named.get(&head.id).filter(|_| ended) else { continue };
        let at = head.resolved_at.unwrap_or(head.created_at);
        let entry = TimelineEntry::Proposal {
            proposal: reviewed.proposal.clone(),
            state: head.state.word().to_owned(),
            at,
            note: head.resolution_note.clone(),
            decisions: reviewed.decisions.clone(),
            events: reviewed.events.clone(),
        };
        entries.push((at, 0, entry));
    }
    for run in runs::list_refreshes(tx, model, LISTED)? {
        if run.outcome.starts_with("refresh_failed") && !run.dry_run {
            let entry = TimelineEntry::FailedRun {
                at: run.finished_at,
                outcome: run.outcome,
                failure_reason: run.failure_reason,
                report: run.report.as_ref().and_then(from_json),
                mode: run.effective_mode.unwrap_or(run.requested_mode).word().to_owned(),
                triggered_by: run.trigger_causes,
                operation: run.operation,
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

/// The versions, newest first, each with the size of its change against the one before. The size is
/// kept with the version; where it is not, it is worked out.
fn with_change(
    tx: &ReadTx<'_>,
    model: store::ModelKey,
) -> store::Result<Vec<(versions::VersionHead, ChangeSize)>> {
    let sizes: HashMap<u32, ChangeSize> = versions::changes(tx, model)?
        .into_iter()
        .filter_map(|(version, size)| Some((version, from_json(&size)?)))
        .collect();
    let mut list = Vec::new();
    for head in versions::list(tx, model, None, LISTED)? {
        let size = match sizes.get(&head.version) {
            Some(size) => *size,
            None => worked_out(tx, model, head.version)?,
        };
        list.push((head, size));
    }
    Ok(list)
}

fn worked_out(tx: &ReadTx<'_>, model: store::ModelKey, version: u32) -> store::Result<ChangeSize> {
    let now = document_of(&versions::get(tx, model, version)?);
    let before = versions::list(tx, model, Some(version), 1)?;
    let before = match before.first() {
        Some(head) => document_of(&versions::get(tx, model, head.version)?),
        None => Document::default(),
    };
    Ok(change_size(&before, &now))
}

/// How much one document differs from another, in blocks.
pub(super) fn change_size(before: &Document, now: &Document) -> ChangeSize {
    let texts = |document: &'_ Document| -> HashMap<String, String> {
        document.blocks().map(|block| (block.id.clone(), block.text.clone())).collect()
    };
    let (before, now) = (texts(before), texts(now));
    let mut size = ChangeSize::default();
    for (id, text) in &now {
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
    let model = store::models::head(tx, bank, id)?.key;
    let row = versions::get(tx, model, version)?;
    Ok(VersionView {
        version,
        structure: document_of(&row),
        based_on: evidence_items(tx, bank, &citations_of(&row))?,
        source_query: row.head.source_query,
        created_at: row.head.created_at,
        trace: row.trace.map(json),
        cause: row.head.cause.word().to_owned(),
        actor: row.head.actor.word().to_owned(),
        operation: row.head.operation,
        proposal: row.head.proposal,
        accepted_op_ids: row.head.accepted_op_ids.unwrap_or_default(),
        note: row.head.note,
        pinned: row.head.pinned,
        watermark_at: row.head.watermark_at,
        structured_output: row.structured_output.map(json),
        structured_output_version: row.structured_output_version,
        settings: json(row.settings),
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
    let model = store::models::head(tx, bank, id)?.key;
    let (old, new) = (Side::read(tx, model, from)?, Side::read(tx, model, to)?);
    let part = |these: &[Citation], those: &[Citation], shared: bool| -> Vec<Citation> {
        let known: HashSet<&str> = those.iter().map(|cited| cited.id.as_str()).collect();
        let kept = these.iter().filter(|cited| known.contains(cited.id.as_str()) == shared);
        kept.cloned().collect()
    };
    Ok(VersionDiff {
        from,
        to,
        diff: doc_diff(diff::diff_documents(&old.document, &new.document, &[]), &|_| None),
        evidence_gone: evidence_items(tx, bank, &part(&old.cited, &new.cited, false))?,
        evidence_new: evidence_items(tx, bank, &part(&new.cited, &old.cited, false))?,
        evidence_kept: evidence_items(tx, bank, &part(&new.cited, &old.cited, true))?,
        structured: json_changes(old.structured.as_ref(), new.structured.as_ref()),
        settings: json_changes(old.settings.as_ref(), new.settings.as_ref()),
    })
}

/// One side of a comparison; number 0 is the empty document, which has nothing else.
#[derive(Default)]
struct Side {
    document: Document,
    cited: Vec<Citation>,
    structured: Option<Value>,
    settings: Option<Value>,
}

impl Side {
    fn read(tx: &ReadTx<'_>, model: store::ModelKey, number: u32) -> store::Result<Self> {
        if number == 0 {
            return Ok(Self::default());
        }
        let row = versions::get(tx, model, number)?;
        let mut settings = row.settings.clone();
        if let Some(object) = settings.as_object_mut() {
            object.insert("source_query".to_owned(), row.head.source_query.clone().into());
        }
        Ok(Self {
            document: document_of(&row),
            cited: citations_of(&row),
            structured: row.structured_output,
            settings: Some(settings),
        })
    }
}

/// A diff for screens; `op_id` names the operation of an index.
pub(super) fn doc_diff(diff: diff::DocDiff, op_id: &dyn Fn(u32) -> Option<String>) -> DocDiff {
    let entries = diff.entries.into_iter().map(|entry| DiffEntry {
        kind: entry.kind,
        section_id: entry.section_id,
        level: if entry.block_id.is_some() { 0 } else { u32::from(entry.level) },
        block_id: entry.block_id,
        old_text: entry.old_text,
        new_text: entry.new_text,
        words: entry.words,
        op_ids: entry.ops.into_iter().filter_map(op_id).collect(),
    });
    DocDiff { entries: entries.collect(), unified: diff.unified }
}
