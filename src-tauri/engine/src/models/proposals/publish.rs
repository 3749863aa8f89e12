//! From decisions to a published version: what it would be, what must be confirmed, and the one
//! transaction that writes it.

use super::convert::Opened;
use super::decide::{check, close, declined, not_settled, read_to};
use super::view::is_unsupported;
use crate::models::history::doc_diff;
use crate::models::lifecycle;
use crate::models::loaded::{Loaded, clocks, load_provenance, set_clocks, to_json};
use crate::models::publish::{
    NewState, evidence_of, memory_citations, merge_evidence, no_evidence, publish, tokens,
};
use crate::models::published;
use crate::report::fault;
use crate::view::proposal::{ApproveInput, Preview, PreviewOf, Published};
use crate::{Engine, Result};
use domain::diff::{OpEffect, diff_documents};
use domain::document::Document;
use domain::model::{CarryOver, CarryOverWhy, Citation, PublishedEvidence, after_approval};
use domain::proposal::{
    Decision, DraftOutcome, Pending, ProposalOp, Selected, Settlement, Verdict, apply_selection,
    decide_draft, settle,
};
use domain::provenance::{Provenance, Step};
use domain::refresh::{ClockEvent, Outcome, is_large_removal, removed_lines};
use domain::{BankId, Instant, Json, ProposalId};
use std::collections::{BTreeSet, HashSet};
use store::proposals::ProposalOrigin;
use store::versions::{Actor, VersionCause};
use store::{BankKey, EmbedderKey, WriteTx};
use tokio_util::sync::CancellationToken;

/// Share of the lines whose removal must be confirmed (mental-models 8.7).
pub(crate) const REMOVAL_LIMIT: f64 = 0.3;

/// What would be published.
struct Outcomes {
    document: Document,
    /// Operations as applied; empty for a proposal that is all or nothing.
    selected: Selected,
    draft: Option<DraftOutcome>,
}

fn outcome(opened: &Opened, chosen: &BTreeSet<u32>, draft: Option<&str>) -> Outcomes {
    let selected = apply_selection(&opened.base, &opened.ops, chosen);
    if let Some(text) = draft {
        let draft = decide_draft(&opened.base, &opened.candidate, &opened.ops, text);
        let selected = apply_selection(&opened.base, &opened.ops, &draft.accepted);
        return Outcomes { document: draft.document.clone(), selected, draft: Some(draft) };
    }
    let document =
        if opened.is_whole() { opened.candidate.clone() } else { selected.document.clone() };
    Outcomes { document, selected, draft: None }
}

fn indexes<'a>(ops: impl Iterator<Item = &'a ProposalOp>) -> BTreeSet<u32> {
    ops.map(|op| op.index).collect()
}

fn accepted(opened: &Opened) -> BTreeSet<u32> {
    let live = opened.ops.iter().filter(|op| op.is_live());
    indexes(live.filter(|op| op.decision == Decision::Accepted))
}

/// What a document of the proposal would be, with what approval must confirm.
pub(super) fn preview(opened: &Opened, of: PreviewOf) -> Preview {
    let chosen = match of {
        PreviewOf::Accepted => accepted(opened),
        PreviewOf::Everything => indexes(opened.ops.iter().filter(|op| op.is_live())),
    };
    let result = outcome(opened, &chosen, None);
    let effects = OpEffect::of_selection(&opened.ops, &result.selected.ops);
    let diff = diff_documents(&opened.base, &result.document, &effects);
    let op_id =
        |index: u32| opened.ops.iter().find(|op| op.index == index).map(|op| op.op_id.clone());
    let content = result.document.render();
    Preview {
        diff: doc_diff(diff, &op_id),
        document_tokens: tokens(&content),
        max_tokens: opened.model.row.head.max_tokens,
        confirm: to_confirm(opened, &result),
        content,
    }
}

/// Warnings that a person must have read before the approval.
fn to_confirm(opened: &Opened, result: &Outcomes) -> Vec<String> {
    let taken: HashSet<u32> = result.selected.ops.iter().map(|op| op.index).collect();
    let ops = || opened.ops.iter().filter(|op| taken.contains(&op.index));
    let (before, after) = (opened.base.render(), result.document.render());
    let holds = [
        ("large_removal", is_large_removal(removed_lines(&before, &after), REMOVAL_LIMIT)),
        ("human_touch", ops().any(|op| op.human_touch)),
        (
            "unsupported_claim",
            ops().any(|op| is_unsupported(op) && !opened.proposed.contains_key(&op.op_id)),
        ),
        ("empty_result", after.trim().is_empty() && !before.trim().is_empty()),
        ("query_changed", opened.query_changed()),
        ("scope_changed", opened.scope_changed()),
    ];
    holds.into_iter().filter(|(_, holds)| *holds).map(|(word, _)| word.to_owned()).collect()
}

/// Everything that is worked out before the transaction.
struct Ready {
    opened: Opened,
    settlement: Settlement,
    document: Document,
    provenance: Provenance,
    evidence: PublishedEvidence,
    vector: (EmbedderKey, Vec<f32>),
}

pub(super) async fn approve(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    input: ApproveInput,
    state_seq: u32,
) -> Result<Published> {
    let ready = prepare(engine, bank, id, &input, state_seq).await?;
    let (in_bank, now, note) = (bank.clone(), engine.now(), input.note);
    let model_id = ready.opened.model.row.head.id.clone();
    let version = engine
        .store()
        .write_as("approve_proposal", move |tx| {
            let key = store::banks::key(tx, &in_bank)?;
            write(tx, key, ready, note, now)
        })
        .await?;
    published::after_commit(engine, bank, &model_id, None).await;
    crate::ops::wake(engine);
    Ok(Published { model_id, version })
}

async fn prepare(
    engine: &Engine,
    bank: &BankId,
    id: &ProposalId,
    input: &ApproveInput,
    state_seq: u32,
) -> Result<Ready> {
    let wanted = id.clone();
    let (opened, before) = crate::handle::read_bank(engine, bank, move |tx, key| {
        let opened = Opened::get(tx, key, &wanted)?;
        let before = load_provenance(tx, opened.row.head.model)?;
        Ok((opened, before))
    })
    .await?;
    check(&opened, state_seq)?;
    let result = outcome(&opened, &accepted(&opened), input.draft.as_deref());
    let verdict = match &result.draft {
        Some(draft) => Verdict::ApproveDraft { accepted: draft.accepted.clone() },
        None if opened.is_whole() => Verdict::ApproveAll,
        None => Verdict::ApproveSelected,
    };
    let facts: Vec<String> = opened.facts.iter().map(|fact| fact.id.clone()).collect();
    let pending = Pending {
        state: opened.state(),
        granularity: opened.granularity(),
        ops: &opened.ops,
        facts_used: &facts,
    };
    let settlement = settle(&pending, &verdict).map_err(not_settled)?;
    let warnings = to_confirm(&opened, &result);
    if !warnings.is_empty() && !input.confirmed {
        return Err(fault("confirmation_required").with("warnings", warnings.join(", ")).into());
    }
    let version = opened.row.head.base_version + 1;
    let provenance = provenance(&opened, &before, &result, version);
    let mut evidence = evidence(&opened, &settlement, &provenance, &result.document);
    let content = result.document.render();
    let name = opened.model.row.head.name.clone();
    evidence.structured_output = structured(engine, &opened, &content, input).await?;
    evidence.structured_output_version = evidence.structured_output.is_some().then_some(version);
    evidence.structured_output_schema =
        crate::models::refresh::structured::name_of_schema(&opened.model);
    let vector = lifecycle::vector(engine, &name, &content, &CancellationToken::new()).await?;
    Ok(Ready { opened, settlement, document: result.document, provenance, evidence, vector })
}

/// The structured view of the text that is published: as extracted with the candidate, anew when
/// the text became another one.
async fn structured(
    engine: &Engine,
    opened: &Opened,
    content: &str,
    input: &ApproveInput,
) -> Result<Option<Json>> {
    let Some(schema) = &opened.model.trigger.response_schema else { return Ok(None) };
    if content == opened.row.candidate_content
        && let Some(value) = &opened.row.structured_output
    {
        return Ok(Some(Json(value.clone())));
    }
    if input.without_structured_output {
        return Ok(None);
    }
    let extracted = crate::models::refresh::structured::extract(
        engine,
        &schema.0,
        content,
        &CancellationToken::new(),
    )
    .await?;
    Ok(Some(extracted))
}

fn provenance(opened: &Opened, before: &Provenance, result: &Outcomes, version: u32) -> Provenance {
    if opened.is_whole() && result.draft.is_none() {
        if is_from_file(opened) {
            return before.after_edit(&opened.base, &result.document, version);
        }
        return before.after_whole(&opened.base, &result.document, &[], version);
    }
    let steps: Vec<Step<'_>> = result
        .selected
        .ops
        .iter()
        .filter_map(|done| {
            let op = opened.ops.iter().find(|op| op.index == done.index)?;
            Some(Step { op, trace: &done.trace })
        })
        .collect();
    let after = before.after_ops(&opened.base, &result.selected.document, &steps, version);
    let after = with_reflected(after, &opened.run.reflected);
    let mut by_person: Vec<String> =
        result.draft.as_ref().map(|draft| draft.person_blocks.clone()).unwrap_or_default();
    for step in &steps {
        if opened.proposed.contains_key(&step.op.op_id) || is_from_file(opened) {
            by_person.extend(step.trace.writes.iter().map(|write| write.block_id.clone()));
        }
    }
    by_person.retain(|id| result.document.block(id).is_some());
    after.after_draft(&result.document, &by_person, version)
}

/// Facts that a block said already join its sources.
pub(crate) fn with_reflected(
    mut origins: Provenance,
    reflected: &[(String, String)],
) -> Provenance {
    for (block, fact) in reflected {
        if let Some(origin) = origins.0.get_mut(block) {
            origin.sources.insert(fact.clone());
        }
    }
    origins
}

/// What the new document rests on: the facts of what was accepted, then those that still bear out a
/// surviving block. A delta adds to what was cited; a rebuilt document starts anew.
fn evidence(
    opened: &Opened,
    settlement: &Settlement,
    provenance: &Provenance,
    document: &Document,
) -> PublishedEvidence {
    let merged: Vec<Citation> =
        settlement.merged.iter().filter_map(|id| opened.fact(id).cloned()).collect();
    let published = opened.model.evidence.as_ref().map(|evidence| evidence.based_on.clone());
    let published = published.unwrap_or_default();
    let mut without: HashSet<String> = opened.run.retracted.iter().cloned().collect();
    let surviving = provenance.facts();
    if opened.row.head.origin == ProposalOrigin::Full {
        let gone = memory_citations(&published).filter(|cited| !surviving.contains(&cited.id));
        without.extend(gone.map(|cited| cited.id.clone()));
    }
    for cited in &merged {
        without.remove(&cited.id);
    }
    let mut based_on = merge_evidence(&merged, &published, &without);
    let missing: Vec<Citation> = surviving
        .iter()
        .filter(|id| !based_on.values().flatten().any(|cited| cited.id == **id))
        .filter_map(|id| opened.fact(id).cloned())
        .collect();
    if !missing.is_empty() {
        based_on = merge_evidence(&missing, &based_on, &HashSet::new());
    }
    let max_tokens = opened.model.row.head.max_tokens;
    if is_from_file(opened) {
        // A person wrote it: what the document is known to rest on does not change by that.
        let before = evidence_of(&opened.model.row, document);
        return PublishedEvidence { document_tokens: tokens(&document.render()), ..before };
    }
    PublishedEvidence {
        text: opened.run.text.clone(),
        basis: opened.run.basis.unwrap_or(domain::citations::Basis::Cited),
        based_on,
        outcome: Outcome::ContentWritten,
        delta_applied: opened.row.head.origin != ProposalOrigin::Full,
        ..no_evidence(document, max_tokens)
    }
}

/// Whether the proposal offers a text that was written into the published file.
pub(super) fn is_from_file(opened: &Opened) -> bool {
    opened.row.head.origin == ProposalOrigin::File
}

fn write(
    tx: &WriteTx<'_>,
    bank: BankKey,
    ready: Ready,
    note: Option<String>,
    now: Instant,
) -> Result<u32> {
    let Ready { mut opened, settlement, document, provenance, evidence, vector } = ready;
    // Read again inside the transaction: clocks and guidance may have moved meanwhile, which the
    // version does not tell.
    let mut model = Loaded::of(store::models::by_key(tx, opened.row.head.model)?);
    let head = &opened.row.head;
    let event =
        settlement.clock.event(read_to(tx, bank, &opened)?, &head.source_query, head.cutoff_seq);
    let from_file = is_from_file(&opened);
    if let Some(event) = if from_file { Some(ClockEvent::Edited) } else { event } {
        let moved = clocks(&model.row.head).after(event, now);
        set_clocks(&mut model.row.head, moved);
    }
    if head.origin == ProposalOrigin::Full {
        model.row.head.last_full_refreshed_at = Some(now);
    }
    if !from_file {
        model.row.carry_over =
            to_json(&carried(&model.carry_over, &opened, &settlement, model.row.head.version));
        let seen = opened.run.started_at.unwrap_or(head.created_at);
        let guidance = after_approval(&model.guidance, seen);
        model.row.guidance = to_json(&declined(tx, bank, &guidance, &settlement.declined, now)?);
    }
    let accepted: Vec<String> = opened
        .ops
        .iter()
        .filter(|op| settlement.accepted.contains(&op.index))
        .map(|op| op.op_id.clone())
        .collect();
    let expected = head.base_version;
    let (id, operation) = (head.id.clone(), head.operation.clone());
    let trace = model.trigger.keep_trace.then(|| opened.row.trace.clone());
    let settings = model.settings();
    close(tx, bank, &mut opened, &settlement, note.clone(), "approved", now)?;
    let state = NewState {
        document,
        evidence,
        provenance,
        cause: VersionCause::Proposal,
        actor: Actor::Person,
        operation,
        proposal: Some(id),
        accepted_op_ids: Some(accepted),
        note: note.filter(|note| !note.trim().is_empty()),
        trace,
        settings,
        restored: Vec::new(),
        vector: Some(vector),
    };
    Ok(publish(tx, bank, model.row, state, expected, now)?)
}

/// Facts to offer again: what the run left over, and what a person put off.
fn carried(
    before: &[CarryOver],
    opened: &Opened,
    settlement: &Settlement,
    version: u32,
) -> Vec<CarryOver> {
    let merged: HashSet<&String> = settlement.merged.iter().collect();
    let left = if opened.run.carry_over.is_empty() { before } else { &opened.run.carry_over };
    let mut list: Vec<CarryOver> =
        left.iter().filter(|entry| !merged.contains(&entry.fact_id)).cloned().collect();
    for fact in &settlement.carry_over {
        if !list.iter().any(|entry| entry.fact_id == *fact) {
            list.push(CarryOver {
                fact_id: fact.clone(),
                since_version: version,
                attempts: 0,
                why: CarryOverWhy::Deferred,
            });
        }
    }
    list
}
