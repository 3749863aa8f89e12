//! A finished run handed to a person: its operations over the published document, and what the run
//! read and knew, so that nothing is worked out again when it is decided.

use super::EXTRACTIVE;
use super::finish::Finish;
use super::record::Ending;
use crate::Result;
use crate::models::loaded::{Loaded, to_json};
use crate::models::proposals::convert::{RunRecord, same_word};
use crate::models::proposals::file_waits;
use crate::models::proposals::make::{NewProposal, propose};
use crate::report::fault;
use domain::document::{Document, reconcile};
use domain::model::{CarryOver, Citation, RunWarning};
use domain::proposal::{Derived, Granularity, ProposalOp, RunFacts, derive_ops, rebase};
use domain::refresh::{ClockEvent, Outcome};
use domain::{OperationId, ProposalId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use store::proposals::{ProposalOrigin, ProposalReason};
use store::{BankKey, ModelKey, WriteTx};

/// A result as a proposal holds it, whole and apart from any file: what a dry run keeps.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Package {
    pub(super) reason: String,
    pub(super) origin: String,
    pub(super) granularity: Granularity,
    pub(super) base_version: u32,
    pub(super) base: Document,
    pub(super) candidate: Document,
    pub(super) ops: Vec<ProposalOp>,
    pub(super) run: RunRecord,
    pub(super) watermark_seq: Option<i64>,
    pub(super) scope: Value,
    pub(super) source_query: String,
    pub(super) settings: Value,
    pub(super) facts: Vec<Citation>,
    pub(super) structured_output: Option<Value>,
    pub(super) trace: Value,
    pub(super) usage: Value,
    pub(super) warnings: Vec<RunWarning>,
}

impl Package {
    /// The proposal of it.
    pub(super) fn proposal(
        self,
        id: ProposalId,
        model: ModelKey,
        operation: Option<OperationId>,
    ) -> NewProposal {
        NewProposal {
            id,
            model,
            reason: same_word(&self.reason).unwrap_or(ProposalReason::ReviewManual),
            origin: same_word(&self.origin).unwrap_or(ProposalOrigin::Delta),
            granularity: self.granularity,
            base_version: self.base_version,
            base: self.base,
            candidate: self.candidate,
            ops: self.ops,
            run: self.run,
            watermark_seq: self.watermark_seq,
            scope: self.scope,
            source_query: self.source_query,
            settings: self.settings,
            facts: self.facts,
            structured_output: self.structured_output,
            trace: self.trace,
            usage: self.usage,
            warnings: self.warnings,
            operation,
        }
    }

    /// The same result over a document that moved since. What no longer fits is in conflict.
    pub(super) fn moved_to(mut self, version: u32, document: &Document) -> Self {
        if self.base == *document {
            self.base_version = version;
            return self;
        }
        if self.granularity == Granularity::Whole {
            // All or nothing: the candidate is taken as it is, or not.
            self.candidate = reconcile(document, self.candidate);
        } else {
            let moved = rebase(&self.ops, &self.base, document, &BTreeSet::new());
            self.ops = moved.ops;
            self.candidate = moved.candidate;
        }
        // It was extracted from another text.
        self.structured_output = None;
        self.base = document.clone();
        self.base_version = version;
        self
    }
}

impl Finish {
    pub(super) fn propose(
        &self,
        tx: &WriteTx<'_>,
        bank: BankKey,
        fresh: &Loaded,
        reason: ProposalReason,
        carried: Vec<CarryOver>,
        ending: &Ending,
    ) -> Result<()> {
        if file_waits(tx, fresh.key())? {
            let what = "the published file was changed and waits for a decision";
            return Err(fault("document_changed").detail(what).into());
        }
        let mut model = fresh.clone();
        let event = if self.is_set_back(fresh) {
            ClockEvent::FailedOrCancelled
        } else {
            ClockEvent::Proposed { cutoff_seq: self.plan.cutoff_seq }
        };
        self.did_well(&mut model, Outcome::ProposalCreated, event);
        model.row.last_run = Some(self.last_run(ending));
        let expected = model.row.head.version;
        store::models::save(tx, &model.row, expected, self.now)?;
        let package = self.package(fresh, reason, carried, ending);
        let operation = self.operation.as_ref().map(|operation| operation.id.clone());
        let new = package.proposal(self.proposal.clone(), fresh.key(), operation);
        propose(tx, bank, new, self.now)?;
        Ok(())
    }

    /// The result over the published document, for a person to decide.
    pub(super) fn package(
        &self,
        fresh: &Loaded,
        reason: ProposalReason,
        carried: Vec<CarryOver>,
        ending: &Ending,
    ) -> Package {
        let (granularity, ops, candidate) = self.for_review(fresh);
        // What was extracted from another text is not the view of this one.
        let is_drafted = candidate.same_shape(&self.drafted.document);
        Package {
            reason: reason.word().to_owned(),
            origin: self.origin().word().to_owned(),
            granularity,
            base_version: fresh.row.head.version,
            base: fresh.document.clone(),
            candidate,
            ops,
            run: self.run_record(carried),
            watermark_seq: self.plan.newest.map(|mark| mark.seq),
            scope: to_json(&self.plan.model.scope),
            source_query: self.plan.model.row.head.source_query.clone(),
            settings: self.plan.model.settings(),
            facts: self.drafted.used.clone(),
            structured_output: self.structured.clone().filter(|_| is_drafted),
            trace: ending.trace.clone().unwrap_or_default(),
            usage: to_json(&self.drafted.usage),
            warnings: self.drafted.warnings.clone(),
        }
    }

    /// The operations that a person decides, and what they make of the published document.
    fn for_review(&self, fresh: &Loaded) -> (Granularity, Vec<ProposalOp>, Document) {
        let was = &self.plan.model.document;
        if let Some(applied) = &self.drafted.applied {
            let ops = self.ops(&self.plan.origins);
            if fresh.document == *was {
                return (Granularity::Ops, ops, applied.document.clone());
            }
            let moved = rebase(&ops, was, &fresh.document, &BTreeSet::new());
            return (Granularity::Ops, moved.ops, moved.candidate);
        }
        let candidate = if fresh.document == *was {
            self.drafted.document.clone()
        } else {
            let moved = reconcile(&fresh.document, self.drafted.document.clone());
            domain::delta::keep_locked(&fresh.document, &moved, &self.plan.locks)
        };
        let by_text: HashMap<&str, &Vec<String>> = self
            .drafted
            .block_evidence
            .iter()
            .filter_map(|(id, facts)| {
                self.drafted.document.block(id).map(|(_, block)| (block.text.as_str(), facts))
            })
            .collect();
        let evidence: Vec<(String, Vec<String>)> = candidate
            .blocks()
            .filter_map(|block| {
                by_text.get(block.text.as_str()).map(|facts| (block.id.clone(), (*facts).clone()))
            })
            .collect();
        let texts = self.texts();
        let known = RunFacts { texts: &texts, provenance: &self.plan.origins };
        let Derived { granularity, ops, document } =
            derive_ops(&fresh.document, &candidate, &evidence, &known).or_spacing(&candidate);
        (granularity, ops, document)
    }

    fn run_record(&self, carried: Vec<CarryOver>) -> RunRecord {
        RunRecord {
            after_seq: self.plan.after_seq,
            cutoff_seq: self.plan.cutoff_seq,
            facts_read: self.drafted.retrieved.values().sum(),
            triggered_by: self
                .operation
                .as_ref()
                .map(|operation| operation.triggered_by.clone())
                .unwrap_or_default(),
            extractive: self.drafted.extractive,
            text: if self.drafted.extractive {
                EXTRACTIVE.to_owned()
            } else {
                self.drafted.text.clone()
            },
            basis: Some(self.drafted.basis),
            carry_over: carried,
            retracted: self.drafted.handled.clone(),
            reflected: self.drafted.reflected.clone(),
            directives: self.drafted.directives.clone(),
            started_at: Some(self.plan.started_at),
        }
    }
}
