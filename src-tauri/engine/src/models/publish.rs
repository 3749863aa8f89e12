//! Writing a published state: the one place that adds a version. Model, version, citations, sources,
//! authors, search rows and the rebase of a waiting proposal go into the caller's transaction, so
//! that all of it is there or none.

use super::blame::{self, Made};
use super::history::change_size;
use super::loaded::{from_json, load_provenance, to_json};
use super::locks;
use super::proposals::rebase::Mover;
use domain::document::{Document, read_stored};
use domain::model::{Citation, MEMORY_KINDS, PublishedEvidence};
use domain::provenance::Provenance;
use domain::{FactType, Instant, Json, MemoryId, OperationId, ProposalId};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap, HashSet};
use store::models::provenance::{self, BlockAuthor};
use store::models::{self, Model};
use store::versions::{self, Actor, Basis, Version, VersionCause, VersionHead};
use store::{BankKey, EmbedderKey, ModelKey, ReadTx, WriteTx};

/// A state to publish. Clocks, carry-over and guidance are set on the model beforehand.
pub(super) struct NewState {
    pub(super) document: Document,
    pub(super) evidence: PublishedEvidence,
    /// Origins of all blocks; those of the new text name the next version.
    pub(super) provenance: Provenance,
    pub(super) cause: VersionCause,
    pub(super) actor: Actor,
    pub(super) operation: Option<OperationId>,
    pub(super) proposal: Option<ProposalId>,
    pub(super) accepted_op_ids: Option<Vec<String>>,
    pub(super) note: Option<String>,
    pub(super) trace: Option<serde_json::Value>,
    pub(super) settings: serde_json::Value,
    /// Rows of blocks that a revert brings back: they stand as they were.
    pub(super) restored: Vec<BlockAuthor>,
    /// Of name and content; none leaves the search by meaning as it was.
    pub(super) vector: Option<(EmbedderKey, Vec<f32>)>,
}

/// Publishes a state over version `expected` and gives the new number. A proposal that waits is
/// moved to the new document, unless it is the one that is being published (it is closed by then).
///
/// # Errors
/// `VersionConflict` when another version is stored.
pub(super) fn publish(
    tx: &WriteTx<'_>,
    bank: BankKey,
    mut model: Model,
    state: NewState,
    expected: u32,
    now: Instant,
) -> store::Result<u32> {
    let version = expected + 1;
    let before = read_stored(&Json(std::mem::take(&mut model.structure)), &model.content);
    let change = change_size(&before, &state.document);
    model.head.version = version;
    model.head.placeholder = false;
    model.content = state.document.render();
    model.structure = to_json(&state.document);
    let mut evidence = state.evidence;
    stand_behind(tx, bank, &mut evidence)?;
    let cited = first_cited(tx, model.head.key, &mut evidence, version)?;
    model.reflect_response = Some(to_json(&evidence));
    models::save(tx, &model, expected, now)?;
    let head = VersionHead {
        version,
        cause: state.cause,
        actor: state.actor,
        operation: state.operation.clone(),
        proposal: state.proposal.clone(),
        accepted_op_ids: state.accepted_op_ids,
        note: state.note,
        source_query: model
            .head
            .last_refreshed_source_query
            .clone()
            .unwrap_or_else(|| model.head.source_query.clone()),
        watermark_seq: model.head.last_memory_seen_seq,
        watermark_at: model.head.last_memory_seen_at,
        created_at: now,
        pinned: false,
    };
    versions::append(
        tx,
        bank,
        model.head.key,
        &Version {
            head,
            content_hash: Sha256::digest(model.content.as_bytes()).to_vec(),
            content: model.content.clone(),
            structure: model.structure.clone(),
            based_on: to_json(&evidence.based_on),
            basis: basis(&evidence),
            structured_output: evidence.structured_output.as_ref().map(|json| json.0.clone()),
            structured_output_version: evidence.structured_output_version,
            reflect_response: model.reflect_response.clone(),
            trace: state.trace,
            settings: state.settings,
        },
    )?;
    provenance::set_citations(tx, model.head.key, &cited)?;
    let by_run = state.proposal.is_none() && state.operation.is_some();
    let made = Made {
        version,
        operation: state.operation,
        proposal: state.proposal,
        at: now,
        restored: state.restored,
    };
    let authors = blame::write(tx, model.head.key, &state.provenance, &made)?;
    let kept = blame::kept(&state.provenance, &authors);
    versions::set_details(tx, model.head.key, version, &to_json(&change), &kept)?;
    locks::follow(tx, model.head.key, &state.document)?;
    if let Some((embedder, vector)) = state.vector {
        let embedder = store::embedders::get(tx, embedder)?;
        models::put_vector(tx, &embedder, bank, model.head.key, &vector)?;
    }
    let mover = match state.cause {
        _ if !by_run => Mover::Person,
        VersionCause::RefreshFull => Mover::Rebuild,
        _ => Mover::Edits,
    };
    super::proposals::rebase::after_publish(tx, bank, &model, &state.document, mover, now)?;
    trim(tx, bank, model.head.key)?;
    Ok(version)
}

/// Lets the oldest versions go beyond what the settings keep. A history that is switched off keeps
/// the published version alone; a limit of nothing or less is none.
fn trim(tx: &WriteTx<'_>, bank: BankKey, model: ModelKey) -> store::Result<()> {
    let settings = crate::settings::of_bank(tx, &store::banks::by_key(tx, bank)?)?;
    let limit = match u32::try_from(settings.mental_model_history_max_entries) {
        _ if !settings.enable_mental_model_history => 0,
        Ok(limit) if limit > 0 => limit,
        _ => return Ok(()),
    };
    versions::trim(tx, model, limit)?;
    Ok(())
}

fn basis(evidence: &PublishedEvidence) -> Option<Basis> {
    if evidence.based_on.is_empty() {
        return None;
    }
    Some(match evidence.basis {
        domain::citations::Basis::Retrieved => Basis::Retrieved,
        domain::citations::Basis::Cited => Basis::Cited,
    })
}

/// Fills in which version cited each entry first, and gives the rows of the memory-backed ones.
fn first_cited(
    tx: &ReadTx<'_>,
    model: ModelKey,
    evidence: &mut PublishedEvidence,
    version: u32,
) -> store::Result<Vec<provenance::Citation>> {
    let before: HashMap<String, u32> = provenance::citations(tx, model)?
        .into_iter()
        .map(|cited| (cited.memory.0, cited.first_cited_version))
        .collect();
    let mut rows = Vec::new();
    for (kind, list) in &mut evidence.based_on {
        for cited in list.iter_mut() {
            let first = before.get(&cited.id).copied().or(cited.first_cited_version);
            cited.first_cited_version = Some(first.unwrap_or(version));
            if let Some(fact_type) = FactType::from_word(kind) {
                rows.push(provenance::Citation {
                    memory: MemoryId(cited.id.clone()),
                    fact_type,
                    text: cited.text.clone(),
                    first_cited_version: first.unwrap_or(version),
                });
            }
        }
    }
    Ok(rows)
}

/// Notes the memories behind the documents that a document rests on. Its text holds what they said
/// then, so they stand behind it however those documents change or go.
fn stand_behind(
    tx: &ReadTx<'_>,
    bank: BankKey,
    evidence: &mut PublishedEvidence,
) -> store::Result<()> {
    let cited = evidence.based_on.get("mental-models");
    let models: Vec<String> = cited.into_iter().flatten().map(|cited| cited.id.clone()).collect();
    let mut before = std::mem::take(&mut evidence.behind_models);
    for id in models {
        let mut behind = before.remove(&id).unwrap_or_default();
        if let Some(model) = models::find(tx, bank, &domain::ModelId(id.clone()))? {
            let own = provenance::citations(tx, model.head.key)?;
            behind.extend(own.into_iter().map(|cited| cited.memory.0));
            let further: Option<PublishedEvidence> =
                model.reflect_response.as_ref().and_then(from_json);
            behind
                .extend(further.into_iter().flat_map(|f| f.behind_models).flat_map(|(_, ids)| ids));
        }
        if !behind.is_empty() {
            evidence.behind_models.insert(id, behind);
        }
    }
    Ok(())
}

/// Rewrites the evidence of the published document without a new version: a run that changed no
/// text still knows better what the text rests on. `before` is where its blocks were known to come
/// from; where nothing is known better nothing is written.
pub(super) fn rewrite_evidence(
    tx: &WriteTx<'_>,
    model: &mut Model,
    mut evidence: PublishedEvidence,
    before: &Provenance,
    origins: &Provenance,
    now: Instant,
) -> store::Result<()> {
    let version = model.head.version;
    stand_behind(tx, model.head.bank, &mut evidence)?;
    let cited = first_cited(tx, model.head.key, &mut evidence, version)?;
    let response = Some(to_json(&evidence));
    if response == model.reflect_response && before == origins {
        return Ok(());
    }
    model.reflect_response = response;
    provenance::set_citations(tx, model.head.key, &cited)?;
    let made = Made { version, operation: None, proposal: None, at: now, restored: Vec::new() };
    blame::write(tx, model.head.key, origins, &made)?;
    Ok(())
}

/// Evidence of a document that nothing was read for.
pub(super) fn no_evidence(document: &Document, max_tokens: u32) -> PublishedEvidence {
    PublishedEvidence {
        text: String::new(),
        basis: domain::citations::Basis::Cited,
        based_on: BTreeMap::new(),
        outcome: domain::refresh::Outcome::ContentWritten,
        structured_output: None,
        structured_output_version: None,
        structured_output_schema: None,
        delta_applied: false,
        delta_operations_applied: Vec::new(),
        delta_operations_skipped: Vec::new(),
        delta_skipped_reason: None,
        document_tokens: tokens(&document.render()),
        document_budget: max_tokens,
        behind_models: BTreeMap::new(),
        trace: None,
    }
}

/// Tokens of a text.
pub(super) fn tokens(text: &str) -> u32 {
    use domain::tokens::TokenCounter;
    domain::tokens::Cl100k.count(text)
}

/// The memory-backed entries of a grounding.
pub(super) fn memory_citations(
    based_on: &BTreeMap<String, Vec<Citation>>,
) -> impl Iterator<Item = &Citation> {
    MEMORY_KINDS.iter().filter_map(|kind| based_on.get(*kind)).flatten()
}

/// Lays new entries before the former ones: the newest text of an id wins, and ids in `without` go.
pub(super) fn merge_evidence(
    new: &[Citation],
    before: &BTreeMap<String, Vec<Citation>>,
    without: &HashSet<String>,
) -> BTreeMap<String, Vec<Citation>> {
    let mut merged: BTreeMap<String, Vec<Citation>> = BTreeMap::new();
    let mut seen: HashSet<&str> = HashSet::new();
    for cited in new.iter().chain(before.values().flatten()) {
        let is_memory = MEMORY_KINDS.contains(&cited.kind.as_str());
        if (is_memory && without.contains(&cited.id)) || !seen.insert(&cited.id) {
            continue;
        }
        merged.entry(cited.kind.clone()).or_default().push(cited.clone());
    }
    merged
}

/// Evidence of a model, or that of nothing read.
pub(super) fn evidence_of(model: &Model, document: &Document) -> PublishedEvidence {
    model
        .reflect_response
        .as_ref()
        .and_then(from_json)
        .unwrap_or_else(|| no_evidence(document, model.head.max_tokens))
}

/// Origins of a model's blocks, for callers that publish.
pub(super) fn origins(tx: &ReadTx<'_>, model: ModelKey) -> store::Result<Provenance> {
    load_provenance(tx, model)
}
