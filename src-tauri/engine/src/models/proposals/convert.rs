//! Proposals between the file and the rules: rows to the domain's operations and back. An operation
//! that a person edited keeps the proposed one beside it, so that the edit can be taken back; one in
//! conflict keeps the text that it was made for.

use crate::models::loaded::{Loaded, from_json, to_json};
use domain::delta::DeltaOp;
use domain::document::{Document, Section, read_stored};
use domain::model::{CarryOver, Citation};
use domain::proposal::{Decision, Granularity, ProposalOp, ProposalState};
use domain::scope::Scope;
use domain::{Instant, Json, ProposalId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use store::proposals::{self as rows, Proposal};
use store::{BankKey, ProposalKey, ReadTx};

/// Key beside the operation's own keys in the stored JSON, for what [`Beside`] holds.
const BESIDE: &str = "beside";

/// What is kept beside an operation that a person edited or that no longer fits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Beside {
    /// The operation as proposed, of one that a person edited.
    pub(crate) proposed: Option<DeltaOp>,
    /// Its text in the last document that it fitted, of one in conflict.
    pub(crate) was: Option<String>,
    /// The heading of its section there, without blocks: a section that goes can come back under it.
    pub(crate) section: Option<Section>,
}

impl Beside {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What the run that made a proposal read and knew, kept in the column `window`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RunRecord {
    /// Lower bound of the window (exclusive); none when everything in scope was read.
    pub(crate) after_seq: Option<i64>,
    /// How far the run looked.
    pub(crate) cutoff_seq: i64,
    /// Facts that were read.
    pub(crate) facts_read: u32,
    /// What set the run going.
    pub(crate) triggered_by: Vec<String>,
    /// Without a language model.
    pub(crate) extractive: bool,
    /// The answer as synthesised.
    pub(crate) text: String,
    /// How the evidence was found.
    pub(crate) basis: Option<domain::citations::Basis>,
    /// Facts to offer again once this is approved.
    pub(crate) carry_over: Vec<CarryOver>,
    /// Citations whose retraction this proposal deals with.
    pub(crate) retracted: Vec<String>,
    /// Blocks that said a fact already, with that fact.
    pub(crate) reflected: Vec<(String, String)>,
    /// Directives in force, recorded beside the evidence.
    pub(crate) directives: Vec<Citation>,
    /// When the run began: notes given later than that have not done their work.
    pub(crate) started_at: Option<Instant>,
}

/// A proposal with everything that a decision looks at.
#[derive(Debug, Clone)]
pub(crate) struct Opened {
    pub(crate) row: Proposal,
    pub(crate) ops: Vec<ProposalOp>,
    /// What is kept beside operations, by their ids.
    pub(crate) beside: HashMap<String, Beside>,
    pub(crate) model: Loaded,
    pub(crate) base: Document,
    pub(crate) candidate: Document,
    pub(crate) facts: Vec<Citation>,
    pub(crate) run: RunRecord,
}

impl Opened {
    pub(crate) fn get(tx: &ReadTx<'_>, bank: BankKey, id: &ProposalId) -> store::Result<Self> {
        Self::of(tx, rows::get(tx, bank, id)?)
    }

    pub(crate) fn of(tx: &ReadTx<'_>, row: Proposal) -> store::Result<Self> {
        let model = Loaded::of(store::models::by_key(tx, row.head.model)?);
        let (ops, beside) = load_with_beside(tx, row.head.key)?;
        let base: Document = from_json(&row.base_structure).unwrap_or_default();
        let candidate = read_stored(&Json(row.candidate_structure.clone()), &row.candidate_content);
        let facts = from_json(&row.facts_used).unwrap_or_default();
        let run = from_json(&row.window).unwrap_or_default();
        Ok(Self { row, ops, beside, model, base, candidate, facts, run })
    }

    /// The operation as proposed, if a person edited it.
    pub(crate) fn proposed(&self, op_id: &str) -> Option<&DeltaOp> {
        self.beside.get(op_id).and_then(|beside| beside.proposed.as_ref())
    }

    /// Whether a person has begun to decide: said something about an operation, edited one, or saved
    /// a draft.
    pub(crate) fn is_spoken_about(&self) -> bool {
        let spoken = |op: &ProposalOp| op.decision != Decision::Undecided || op.note.is_some();
        self.row.edited_content.is_some() || self.ops.iter().any(spoken)
    }

    pub(crate) fn state(&self) -> ProposalState {
        same_word(&self.row.head.state).unwrap_or(ProposalState::Superseded)
    }

    pub(crate) fn granularity(&self) -> Granularity {
        same_word(&self.row.head.granularity).unwrap_or(Granularity::Whole)
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.granularity() == Granularity::Whole
    }

    /// Whether it is a person's own text, read from the published file.
    pub(crate) fn is_file(&self) -> bool {
        self.row.head.origin == rows::ProposalOrigin::File
    }

    /// The output schema that the run knew.
    pub(crate) fn schema_then(&self) -> Option<serde_json::Value> {
        let stated = self.row.settings.get("trigger")?.get("response_schema")?;
        (!stated.is_null()).then(|| stated.clone())
    }

    /// Whether the model reads other memories since than the run did.
    pub(crate) fn scope_changed(&self) -> bool {
        let then: Option<Scope> = from_json(&self.row.scope);
        then.is_some_and(|then| !then.reads_same(&self.model.scope))
    }

    /// Whether the model asks another question since.
    pub(crate) fn query_changed(&self) -> bool {
        self.row.head.source_query.trim() != self.model.row.head.source_query.trim()
    }

    /// The cited fact of an id, as it was read.
    pub(crate) fn fact(&self, id: &str) -> Option<&Citation> {
        self.facts.iter().find(|fact| fact.id == id)
    }
}

/// The operations of a proposal.
pub(crate) fn ops(tx: &ReadTx<'_>, key: ProposalKey) -> store::Result<Vec<ProposalOp>> {
    load_with_beside(tx, key).map(|(ops, _)| ops)
}

/// The operations of a proposal between its documents, without what its run read and did.
pub(super) fn read_changes(
    tx: &ReadTx<'_>,
    key: ProposalKey,
) -> store::Result<(Vec<ProposalOp>, Document, Document)> {
    let (ops, _) = load_with_beside(tx, key)?;
    let stored = rows::documents(tx, key)?;
    let base = from_json(&stored.base_structure).unwrap_or_default();
    let candidate = read_stored(&Json(stored.candidate_structure), &stored.candidate_content);
    Ok((ops, base, candidate))
}

/// The operations of a proposal, with what is kept beside them.
fn load_with_beside(
    tx: &ReadTx<'_>,
    key: ProposalKey,
) -> store::Result<(Vec<ProposalOp>, HashMap<String, Beside>)> {
    let mut ops = Vec::new();
    let mut beside = HashMap::new();
    for row in rows::ops(tx, key)? {
        if let Some(kept) = row.op.get(BESIDE).and_then(from_json) {
            beside.insert(row.op_id.clone(), kept);
        }
        // A row that cannot be read is left out: it can then neither be accepted nor lost, since
        // the row itself stays.
        match read(&row) {
            Some(op) => ops.push(op),
            None => tracing::warn!(op = row.op_id, "an operation of a proposal cannot be read"),
        }
    }
    Ok((ops, beside))
}

fn read(row: &rows::ProposalOp) -> Option<ProposalOp> {
    Some(ProposalOp {
        op_id: row.op_id.clone(),
        index: row.index,
        op: from_json(&row.op)?,
        status: same_word(&row.status)?,
        reason: row.reason.as_deref().and_then(|word| from_json(&word.into())),
        assigned_id: row.assigned_id.clone(),
        created_block_ids: row.created_block_ids.as_ref().and_then(from_json).unwrap_or_default(),
        block_ids: row.block_ids.as_ref().and_then(from_json),
        merged_into_block_id: row.merged_into_block_id.clone(),
        targets: from_json(&row.targets).unwrap_or_default(),
        requires: from_json(&row.requires).unwrap_or_default(),
        conflicts_hint: from_json(&row.hints).unwrap_or_default(),
        group: row.group.clone(),
        evidence: from_json(&row.evidence).unwrap_or_default(),
        claims: from_json(&row.claims).unwrap_or_default(),
        human_touch: row.human_touch,
        fingerprint: row.fingerprint.clone(),
        decision: same_word(&row.decision)?,
        decided_at: row.decided_at,
        note: row.note.clone(),
        marker: row.marker.as_ref().and_then(same_word),
        conflict: row.conflict.as_ref().and_then(same_word),
    })
}

/// The row of an operation.
pub(crate) fn write(op: &ProposalOp, beside: Option<&Beside>) -> rows::ProposalOp {
    let mut body = to_json(&op.op);
    if let (Some(beside), Some(object)) = (beside, body.as_object_mut())
        && !beside.is_empty()
    {
        object.insert(BESIDE.to_owned(), to_json(beside));
    }
    rows::ProposalOp {
        index: op.index,
        op_id: op.op_id.clone(),
        op: body,
        status: same_word(&op.status).unwrap_or(rows::OpStatus::Skipped),
        reason: op.reason.map(|reason| reason.word().to_owned()),
        assigned_id: op.assigned_id.clone(),
        created_block_ids: (!op.created_block_ids.is_empty())
            .then(|| to_json(&op.created_block_ids)),
        block_ids: op.block_ids.as_ref().map(to_json),
        merged_into_block_id: op.merged_into_block_id.clone(),
        targets: to_json(&op.targets),
        requires: to_json(&op.requires),
        hints: to_json(&op.conflicts_hint),
        group: op.group.clone(),
        evidence: to_json(&op.evidence),
        claims: to_json(&op.claims),
        human_touch: op.human_touch,
        fingerprint: op.fingerprint.clone(),
        decision: same_word(&op.decision).unwrap_or(rows::Decision::Undecided),
        decided_at: op.decided_at,
        note: op.note.clone(),
        marker: op.marker.as_ref().and_then(same_word),
        conflict: op.conflict.as_ref().and_then(same_word),
    }
}

/// The same word as another closed vocabulary: file and rules use one spelling.
pub(crate) fn same_word<A: Serialize, B: DeserializeOwned>(word: &A) -> Option<B> {
    from_json(&to_json(word))
}
