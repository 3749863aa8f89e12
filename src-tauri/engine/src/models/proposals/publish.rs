//! From decisions to a published version: what it would be, what must be confirmed, and the one
//! transaction that writes it.

use super::convert::Opened;
use super::decide::{check, close, declined, event, not_settled, pending};
use super::events::{self, Detail};
use super::rebase::{draft_fits, draft_of};
use super::view::is_unsupported;
use crate::models::history::doc_diff;
use crate::models::lifecycle;
use crate::models::loaded::{Loaded, clocks, load_provenance, set_clocks, to_json};
use crate::models::publish::{
    NewState, evidence_of, memory_citations, merge_evidence, no_evidence, publish, tokens,
};
use crate::models::published;
use crate::models::refresh::structured as extraction;
use crate::report::fault;
use crate::view::proposal::{ApproveInput, ApproveWhat, Preview, PreviewOf, Published, Turn};
use crate::{Engine, Result};
use domain::diff::{OpEffect, diff_documents};
use domain::document::Document;
use domain::model::{CarryOver, CarryOverWhy, Citation, PublishedEvidence, after_approval};
use domain::proposal::{
    Decision, DraftOutcome, ProposalOp, Selected, Settlement, Verdict, apply_selection,
    decide_draft, settle,
};
use domain::provenance::{Provenance, Step};
use domain::refresh::{ClockEvent, Outcome, is_large_removal, removed_lines};
use domain::{BankId, Instant, Json, MemoryId, ProposalId};
use std::collections::{BTreeSet, HashSet};
use store::proposals::ProposalOrigin;
use store::versions::{Actor, VersionCause};
use store::{BankKey, EmbedderKey, ReadTx, WriteTx};
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

fn everything(opened: &Opened) -> BTreeSet<u32> {
    indexes(opened.ops.iter().filter(|op| op.is_live()))
}

/// What a document of the proposal would be, with what approval must confirm.
pub(super) fn preview(opened: &Opened, of: PreviewOf) -> Preview {
    match of {
        PreviewOf::Accepted => shown(opened, &outcome(opened, &accepted(opened), None), false),
        PreviewOf::Everything => shown(opened, &outcome(opened, &everything(opened), None), false),
        PreviewOf::Draft => match draft_of(opened) {
            Some(draft) => {
                let text = draft.render();
                let result = outcome(opened, &BTreeSet::new(), Some(&text));
                shown(opened, &result, !draft_fits(opened))
            }
            None => preview(opened, PreviewOf::Accepted),
        },
    }
}

/// What a text of the person's own would come to; nothing is stored.
pub(super) fn preview_draft(opened: &Opened, text: &str) -> Preview {
    shown(opened, &outcome(opened, &BTreeSet::new(), Some(text)), false)
}

/// What a selection, closed over what it requires, would come to; nothing is stored.
pub(super) fn preview_selection(opened: &Opened, op_ids: &[String]) -> Preview {
    let chosen = indexes(opened.ops.iter().filter(|op| op_ids.contains(&op.op_id)));
    shown(opened, &outcome(opened, &chosen, None), false)
}

fn shown(opened: &Opened, result: &Outcomes, outdated: bool) -> Preview {
    let effects = OpEffect::of_selection(&opened.ops, &result.selected.ops);
    let diff = diff_documents(&opened.base, &result.document, &effects);
    let op_id =
        |index: u32| opened.ops.iter().find(|op| op.index == index).map(|op| op.op_id.clone());
    let content = result.document.render();
    Preview {
        diff: doc_diff(diff, &op_id),
        document_tokens: tokens(&content),
        max_tokens: opened.model.row.head.max_tokens,
        confirm: to_confirm(opened, result, outdated),
        op_ids: result.selected.ops.iter().filter_map(|done| op_id(done.index)).collect(),
        content,
    }
}

/// Warnings that a person must have read before the approval.
fn to_confirm(opened: &Opened, result: &Outcomes, outdated: bool) -> Vec<String> {
    let taken: HashSet<u32> = result.selected.ops.iter().map(|op| op.index).collect();
    let ops = || opened.ops.iter().filter(|op| taken.contains(&op.index));
    let (before, after) = (opened.base.render(), result.document.render());
    let holds = [
        ("large_removal", is_large_removal(removed_lines(&before, &after), REMOVAL_LIMIT)),
        ("human_touch", ops().any(|op| op.human_touch)),
        (
            "unsupported_claim",
            ops().any(|op| is_unsupported(op) && opened.proposed(&op.op_id).is_none()),
        ),
        ("empty_result", after.trim().is_empty() && !before.trim().is_empty()),
        ("query_changed", opened.query_changed()),
        ("scope_changed", opened.scope_changed()),
        ("draft_outdated", outdated),
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
    turn: Turn,
) -> Result<Published> {
    let (opened, before) = match open(engine, bank, id, &turn).await? {
        Begun::Answered(published) => return Ok(published),
        Begun::Open(opened, before) => (*opened, before),
    };
    check(&opened, &turn)?;
    let ready = prepare(engine, bank, opened, &before, &input).await?;
    let (in_bank, now) = (bank.clone(), engine.now());
    let done = engine
        .store()
        .write_as("approve_proposal", move |tx| {
            let key = store::banks::key(tx, &in_bank)?;
            // The same request may have been carried out while this one was made ready.
            if let Some(done) = answered(tx, &ready.opened, &turn)? {
                return Ok(done);
            }
            write(tx, key, ready, input.note, turn.request_id, now)
        })
        .await?;
    published::after_commit(engine, bank, &done.model_id, None).await;
    crate::ops::wake(engine);
    Ok(done)
}

/// An approval at its beginning.
enum Begun {
    /// It was carried out before.
    Answered(Published),
    Open(Box<Opened>, Provenance),
}

async fn open(engine: &Engine, bank: &BankId, id: &ProposalId, turn: &Turn) -> Result<Begun> {
    let (bank, id, turn) = (bank.clone(), id.clone(), turn.clone());
    engine
        .store()
        .read_as(move |tx| {
            let key = store::banks::key(tx, &bank)?;
            let opened = Opened::get(tx, key, &id)?;
            if let Some(done) = answered(tx, &opened, &turn)? {
                return Ok(Begun::Answered(done));
            }
            let before = load_provenance(tx, opened.row.head.model)?;
            Ok(Begun::Open(Box::new(opened), before))
        })
        .await
}

/// What the same request led to before.
fn answered(tx: &ReadTx<'_>, opened: &Opened, turn: &Turn) -> Result<Option<Published>> {
    let done = events::answered(tx, opened.row.head.key, turn, "approved")?;
    Ok(done.map(|detail| Published {
        model_id: opened.model.row.head.id.clone(),
        version: detail.version.unwrap_or_default(),
        without_structured_output: detail.without_structured_output,
    }))
}

/// Works out everything that asks a language model or an embedder, outside any transaction.
async fn prepare(
    engine: &Engine,
    bank: &BankId,
    opened: Opened,
    before: &Provenance,
    input: &ApproveInput,
) -> Result<Ready> {
    let (result, outdated) = wanted(&opened, input);
    let verdict = match (&result.draft, input.what) {
        (Some(draft), _) => Verdict::ApproveDraft { accepted: draft.accepted.clone() },
        (None, ApproveWhat::All) => Verdict::ApproveAll,
        (None, _) if opened.is_whole() => Verdict::ApproveAll,
        (None, _) => Verdict::ApproveSelected,
    };
    let facts: Vec<String> = opened.facts.iter().map(|fact| fact.id.clone()).collect();
    let settlement = settle(&pending(&opened, &facts), &verdict).map_err(not_settled)?;
    let mut unread = to_confirm(&opened, &result, outdated);
    unread.retain(|warning| !input.confirm.contains(warning));
    if !unread.is_empty() {
        return Err(fault("confirmation_required").with("warnings", unread.join(", ")).into());
    }
    let version = opened.row.head.base_version + 1;
    let gone = dealt_with(&opened, &settlement);
    let provenance = provenance(&opened, before, &result, version).without_facts(&gone);
    let mut evidence = evidence(&opened, &settlement, &provenance, &result.document, gone);
    let content = result.document.render();
    let name = opened.model.row.head.name.clone();
    evidence.structured_output = structured(engine, bank, &opened, &content, input).await?;
    evidence.structured_output_version = evidence.structured_output.is_some().then_some(version);
    evidence.structured_output_schema = extraction::name_of_schema(&opened.model);
    let vector = lifecycle::vector(engine, &name, &content, &CancellationToken::new()).await?;
    Ok(Ready { opened, settlement, document: result.document, provenance, evidence, vector })
}

/// The document that is asked for, and whether it is a draft over an older document.
fn wanted(opened: &Opened, input: &ApproveInput) -> (Outcomes, bool) {
    let nothing = BTreeSet::new();
    if let Some(text) = &input.draft {
        return (outcome(opened, &nothing, Some(text)), false);
    }
    match (input.what, draft_of(opened)) {
        (ApproveWhat::Draft, Some(draft)) => {
            let outdated = !draft_fits(opened);
            (outcome(opened, &nothing, Some(&draft.render())), outdated)
        }
        (ApproveWhat::All, _) => (outcome(opened, &everything(opened), None), false),
        (ApproveWhat::Decided | ApproveWhat::Draft, _) => {
            (outcome(opened, &accepted(opened), None), false)
        }
    }
}

/// The structured view of the text that is published: as extracted with the candidate, anew when
/// the text became another one.
async fn structured(
    engine: &Engine,
    bank: &BankId,
    opened: &Opened,
    content: &str,
    input: &ApproveInput,
) -> Result<Option<Json>> {
    let Some(schema) = &opened.model.trigger.response_schema else { return Ok(None) };
    let same_schema = opened.schema_then().as_ref() == Some(&schema.0);
    if same_schema
        && content == opened.row.candidate_content
        && let Some(value) = &opened.row.structured_output
    {
        return Ok(Some(Json(value.clone())));
    }
    if input.without_structured_output {
        return Ok(None);
    }
    let facts = opened.facts.iter().map(|fact| MemoryId(fact.id.clone())).collect();
    let stays_here = extraction::stays_here(engine, bank, &opened.model.row.head.id, facts).await?;
    let extracted =
        extraction::extract(engine, &schema.0, content, stays_here, &CancellationToken::new())
            .await?;
    Ok(Some(extracted))
}

fn provenance(opened: &Opened, before: &Provenance, result: &Outcomes, version: u32) -> Provenance {
    if opened.is_whole() && result.draft.is_none() {
        if opened.is_file() {
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
        if opened.is_file() || opened.proposed(&step.op.op_id).is_some() {
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

/// Facts that were taken back and are settled by this approval. What was put off stays cited, so that
/// it comes up again.
fn dealt_with(opened: &Opened, settlement: &Settlement) -> BTreeSet<String> {
    let stays = |id: &&String| settlement.carry_over.contains(id) || settlement.merged.contains(id);
    opened.run.retracted.iter().filter(|id| !stays(id)).cloned().collect()
}

/// What the new document rests on: the facts of what was accepted, then those that still bear out a
/// surviving block. A delta adds to what was cited; a rebuilt document starts anew.
fn evidence(
    opened: &Opened,
    settlement: &Settlement,
    provenance: &Provenance,
    document: &Document,
    gone: BTreeSet<String>,
) -> PublishedEvidence {
    let mut merged: Vec<Citation> =
        settlement.merged.iter().filter_map(|id| opened.fact(id).cloned()).collect();
    merged.extend(opened.run.directives.iter().cloned());
    let published = opened.model.evidence.as_ref().map(|evidence| evidence.based_on.clone());
    let published = published.unwrap_or_default();
    let mut without: HashSet<String> = gone.into_iter().collect();
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
    if opened.is_file() {
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
        behind_models: evidence_of(&opened.model.row, document).behind_models,
        ..no_evidence(document, max_tokens)
    }
}

fn write(
    tx: &WriteTx<'_>,
    bank: BankKey,
    ready: Ready,
    note: Option<String>,
    request_id: Option<String>,
    now: Instant,
) -> Result<Published> {
    let Ready { mut opened, settlement, document, provenance, evidence, vector } = ready;
    // Read again inside the transaction: clocks and guidance may have moved meanwhile, which the
    // version does not tell.
    let mut model = Loaded::of(store::models::by_key(tx, opened.row.head.model)?);
    if !works_the_same(&opened.model, &model) {
        let what = "the settings of the document were changed while the approval was made ready";
        return Err(fault("state_conflict").detail(what).into());
    }
    opened.model = model.clone();
    settle_model(tx, bank, &mut model, &opened, &settlement, now)?;
    let head = &opened.row.head;
    let accepted: Vec<String> = opened
        .ops
        .iter()
        .filter(|op| settlement.accepted.contains(&op.index))
        .map(|op| op.op_id.clone())
        .collect();
    let expected = head.base_version;
    let (id, operation) = (head.id.clone(), head.operation.clone());
    let asked = model.trigger.response_schema.is_some();
    let published = Published {
        model_id: model.row.head.id.clone(),
        version: expected + 1,
        without_structured_output: asked && evidence.structured_output.is_none(),
    };
    let note = note.filter(|note| !note.trim().is_empty());
    let detail = Detail {
        request_id,
        op_ids: accepted.clone(),
        note: note.clone(),
        version: Some(published.version),
        without_structured_output: published.without_structured_output,
        ..Detail::default()
    };
    let trace = model.trigger.keep_trace.then(|| opened.row.trace.clone());
    let settings = model.settings();
    close(tx, bank, &mut opened, &settlement, "approved", &detail, now)?;
    let state = NewState {
        document,
        evidence,
        provenance,
        cause: VersionCause::Proposal,
        actor: Actor::Person,
        operation,
        proposal: Some(id),
        accepted_op_ids: Some(accepted),
        note,
        trace,
        settings,
        restored: Vec::new(),
        vector: Some(vector),
    };
    publish(tx, bank, model.row, state, expected, now)?;
    Ok(published)
}

/// Whether everything that was worked out with the settings of a model holds with those it has now:
/// what it reads and asks, the schema of its structured view, the name that is searched for.
fn works_the_same(then: &Loaded, now: &Loaded) -> bool {
    let (old, new) = (&then.row.head, &now.row.head);
    old.name == new.name
        && old.source_query == new.source_query
        && then.settings() == now.settings()
}

/// What the approval does to the model beside its text: clocks, facts to offer again, guidance.
fn settle_model(
    tx: &WriteTx<'_>,
    bank: BankKey,
    model: &mut Loaded,
    opened: &Opened,
    settlement: &Settlement,
    now: Instant,
) -> store::Result<()> {
    if opened.is_file() {
        // A person's own text: no memories were read for it.
        let moved = clocks(&model.row.head).after(ClockEvent::Edited, now);
        set_clocks(&mut model.row.head, moved);
        return Ok(());
    }
    if let Some(event) = event(tx, bank, opened, settlement.clock)? {
        let moved = clocks(&model.row.head).after(event, now);
        set_clocks(&mut model.row.head, moved);
    }
    let head = &opened.row.head;
    if head.origin == ProposalOrigin::Full {
        model.row.head.last_full_refreshed_at = Some(now);
    }
    let version = model.row.head.version;
    model.row.carry_over = to_json(&carried(&model.carry_over, opened, settlement, version));
    let seen = opened.run.started_at.unwrap_or(head.created_at);
    let guidance = after_approval(&model.guidance, seen);
    model.row.guidance = to_json(&declined(tx, bank, &guidance, &settlement.declined, now)?);
    Ok(())
}

/// Facts to offer again: what the run left over, what waited before and the run did not use, and
/// what a person put off. What was accepted or declined is dealt with.
fn carried(
    before: &[CarryOver],
    opened: &Opened,
    settlement: &Settlement,
    version: u32,
) -> Vec<CarryOver> {
    let declined = settlement.declined.iter().flat_map(|change| &change.fact_ids);
    let settled: HashSet<&String> = settlement.merged.iter().chain(declined).collect();
    let mut list: Vec<CarryOver> = opened.run.carry_over.clone();
    for entry in before {
        let known = list.iter().any(|other| other.fact_id == entry.fact_id);
        if !known && opened.fact(&entry.fact_id).is_none() {
            list.push(entry.clone());
        }
    }
    list.retain(|entry| !settled.contains(&entry.fact_id));
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
