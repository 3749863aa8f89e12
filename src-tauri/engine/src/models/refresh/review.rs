//! A finished run handed to a person: its operations over the published document, and what the run
//! read and knew, so that nothing is worked out again when it is decided.

use super::EXTRACTIVE;
use super::commit::Finish;
use crate::Result;
use crate::models::loaded::{Loaded, to_json};
use crate::models::proposals::convert::RunRecord;
use crate::models::proposals::make::{NewProposal, propose};
use domain::document::{Document, reconcile};
use domain::model::CarryOver;
use domain::proposal::{Derived, Granularity, ProposalOp, RunFacts, derive_ops, rebase};
use domain::refresh::{ClockEvent, Outcome};
use domain::trigger::RefreshMode;
use std::collections::{BTreeSet, HashMap};
use store::proposals::{ProposalOrigin, ProposalReason};
use store::{BankKey, WriteTx};

impl Finish {
    pub(super) fn propose(
        &self,
        tx: &WriteTx<'_>,
        bank: BankKey,
        fresh: &Loaded,
        reason: ProposalReason,
        carried: Vec<CarryOver>,
    ) -> Result<()> {
        let (granularity, ops, candidate) = self.for_review(fresh);
        let origin = match self.plan.mode.effective {
            RefreshMode::Full => ProposalOrigin::Full,
            RefreshMode::Delta if self.drafted.facts().is_empty() => ProposalOrigin::Retraction,
            RefreshMode::Delta => ProposalOrigin::Delta,
        };
        let mut model = fresh.clone();
        let event = ClockEvent::Proposed { cutoff_seq: self.plan.cutoff_seq };
        self.did_well(&mut model, Outcome::ProposalCreated, event);
        model.row.last_run = Some(self.last_run(Outcome::ProposalCreated));
        let expected = model.row.head.version;
        store::models::save(tx, &model.row, expected, self.now)?;
        let new = NewProposal {
            id: self.proposal.clone(),
            model: fresh.key(),
            reason,
            origin,
            granularity,
            base_version: expected,
            base: fresh.document.clone(),
            candidate,
            ops,
            run: self.run_record(carried),
            watermark_seq: self.plan.newest.map(|mark| mark.seq),
            scope: to_json(&self.plan.model.scope),
            source_query: self.plan.model.row.head.source_query.clone(),
            settings: self.plan.model.settings(),
            facts: self.drafted.used.clone(),
            structured_output: self.structured.clone(),
            trace: self.drafted.trace.clone(),
            usage: to_json(&self.drafted.usage),
            warnings: self.drafted.warnings.clone(),
            operation: Some(self.operation.id.clone()),
        };
        propose(tx, bank, new, self.now)?;
        Ok(())
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
            reconcile(&fresh.document, self.drafted.document.clone())
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
            derive_ops(&fresh.document, &candidate, &evidence, &known);
        (granularity, ops, document)
    }

    fn run_record(&self, carried: Vec<CarryOver>) -> RunRecord {
        RunRecord {
            after_seq: self.plan.after_seq,
            cutoff_seq: self.plan.cutoff_seq,
            facts_read: self.drafted.retrieved.values().sum(),
            triggered_by: self.operation.triggered_by.clone(),
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
            started_at: Some(self.plan.started_at),
        }
    }
}
