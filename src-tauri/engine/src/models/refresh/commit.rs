//! The last step of a refresh: guards and the decision how it ends, then one transaction that writes
//! version or proposal, evidence, clocks, carry-over, the record of the run and the end of the
//! operation, all or none. If the document moved meanwhile, nothing is overwritten.

use super::drafted::{Drafted, remark};
use super::plan::Plan;
use super::record::{self, Ending};
use super::{EXTRACTIVE, Failure};
use crate::models::lifecycle;
use crate::models::loaded::{Loaded, clocks, set_clocks, to_json};
use crate::models::proposals::view::says_something;
use crate::models::proposals::with_reflected;
use crate::models::publish::{
    NewState, evidence_of, merge_evidence, no_evidence, publish, rewrite_evidence, tokens,
};
use crate::ops::{Handled, Running};
use crate::report::fault;
use crate::{Error, Result};
use domain::delta::OpStatus;
use domain::document::Document;
use domain::model::{CarryOver, PublishedEvidence, Review, after_approval};
use domain::proposal::{ProposalOp, RunFacts, rebase, record_ops};
use domain::provenance::{Provenance, Step};
use domain::refresh::{
    ClockEvent, Decision, Extraction, Outcome, ResultInput, carry_over, decide, extraction_due,
    next_delta_failures, uncovered,
};
use domain::trigger::RefreshMode;
use domain::{Instant, Json, ProposalId, RunId};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap, HashSet};
use store::operations::{End, Operation};
use store::proposals::ProposalReason;
use store::versions::VersionCause;
use store::{BankKey, EmbedderKey, WriteTx};

/// Shares that a run may remove unseen (mental-models 8.7).
const REMOVAL_LIMIT: f64 = 0.3;
const CITATION_LIMIT: f64 = 0.5;

/// A run at its end, with everything that is worked out before the transaction.
pub(super) struct Finish {
    pub(super) plan: Plan,
    pub(super) drafted: Drafted,
    pub(super) structured: Option<Value>,
    pub(super) extraction: Extraction,
    pub(super) vector: Option<(EmbedderKey, Vec<f32>)>,
    pub(super) operation: Operation,
    pub(super) run: RunId,
    pub(super) proposal: ProposalId,
    pub(super) now: Instant,
}

/// Ends a run that got as far as a result.
pub(super) async fn finished(running: &Running, plan: &Plan, drafted: Drafted) -> Result<Handled> {
    let engine = &running.engine;
    let content = drafted.document.render();
    let changes = content != plan.model.row.content;
    let (structured, extraction) = extract(running, plan, &drafted, &content, changes).await?;
    let vector = if changes {
        let name = &plan.model.row.head.name;
        Some(lifecycle::vector(engine, name, &content, &running.cancel).await?)
    } else {
        None
    };
    let mut finish = Finish {
        plan: plan.clone(),
        drafted,
        structured,
        extraction,
        vector,
        operation: running.operation.clone(),
        run: RunId(engine.new_id()),
        proposal: ProposalId(engine.new_id()),
        now: engine.now(),
    };
    let decision = finish.decide(plan.model.review());
    if let Some(reason) = decision.failure_reason {
        let error: Error = fault(word(reason)).into();
        let mut failure = Failure::of(error, Some(reason));
        failure.trace = Some(finish.drafted.trace.clone());
        failure.warnings = std::mem::take(&mut finish.drafted.warnings);
        let id = plan.model.row.head.id.clone();
        let requested = plan.model.trigger.mode;
        return super::fail::failed(running, &id, Some(plan), requested, plan.started_at, failure)
            .await;
    }
    super::tell(running, "committing").await;
    running.check()?;
    let bank = running.bank.clone();
    engine
        .store()
        .write_as("commit_refresh", move |tx| {
            let key = store::banks::key(tx, &bank)?;
            finish.write(tx, key)
        })
        .await
}

/// The reason of the table for a failure that a guard found.
fn word(reason: domain::refresh::FailureReason) -> &'static str {
    use domain::refresh::FailureReason as R;
    match reason {
        R::EmptyCandidate => "empty_candidate",
        R::StructuredDocUnreadable => "structured_doc_unreadable",
        R::DeltaOpsFailed => "delta_ops_failed",
        R::DeltaOpsAllSkipped => "delta_ops_all_skipped",
        R::DeltaNotApplied => "delta_not_applied",
        R::StructuredOutputFailed => "structured_output_failed",
        R::RetrievalFailed => "no_evidence_gathered",
        R::NoAnswer => "no_answer",
        R::DocumentChanged => "document_changed",
        R::UnexpectedError => "unexpected_error",
    }
}

/// The structured view, when one is due.
async fn extract(
    running: &Running,
    plan: &Plan,
    drafted: &Drafted,
    content: &str,
    changes: bool,
) -> Result<(Option<Value>, Extraction)> {
    let Some(schema) = &plan.model.trigger.response_schema else {
        return Ok((None, Extraction::NotDue));
    };
    let has_value =
        plan.model.evidence.as_ref().is_some_and(|evidence| evidence.structured_output.is_some());
    let writes = changes && !drafted.facts().is_empty();
    if content.trim().is_empty() || !extraction_due(writes, has_value, false) {
        return Ok((None, Extraction::NotDue));
    }
    super::tell(running, "extracting").await;
    match super::structured::extract(&running.engine, &schema.0, content, &running.cancel).await {
        Ok(value) => Ok((Some(value.0), Extraction::Done)),
        Err(error) if error.reason() == "cancelled" => Err(error),
        Err(error) => {
            tracing::info!(%error, "the structured view was not extracted");
            Ok((None, Extraction::Failed))
        }
    }
}

impl Finish {
    fn decide(&self, review: Review) -> Decision {
        if self.plan.idle.is_some() && self.extraction != Extraction::Failed {
            return Decision::preserved();
        }
        let facts = self.drafted.facts();
        let before: Vec<String> = self.plan.cited_texts.keys().cloned().collect();
        decide(&ResultInput {
            mode: self.plan.mode.effective,
            review,
            must_propose: self.plan.mode.must_propose,
            baseline: if self.plan.has_baseline() { &self.plan.model.row.content } else { "" },
            candidate: &self.drafted.text,
            document: &self.drafted.document.render(),
            evidence: u32::try_from(facts.len()).unwrap_or(u32::MAX),
            unsaid: self.drafted.unsaid,
            delta: self.drafted.delta,
            extraction: self.extraction,
            cited_before: &before,
            cited_after: &facts,
            removal_limit: REMOVAL_LIMIT,
            citation_limit: CITATION_LIMIT,
        })
    }

    fn write(mut self, tx: &WriteTx<'_>, bank: BankKey) -> Result<Handled> {
        let fresh = Loaded::get(tx, bank, &self.plan.model.row.head.id)?;
        let decision = self.decide(fresh.review());
        self.remark(&decision);
        let carried = self.carry(fresh.row.head.version);
        let was = &self.plan.model;
        let is_other = fresh.row.head.source_query != was.row.head.source_query
            || !fresh.scope.reads_same(&was.scope);
        let moved = fresh.row.head.version != was.row.head.version;
        let mut ending = Ending::of(&self.plan, decision.outcome);
        if decision.outcome == Outcome::ContentWritten {
            let rebased = if moved && !is_other { self.rebased(&fresh) } else { None };
            if is_other || (moved && rebased.is_none()) {
                self.propose(tx, bank, &fresh, ProposalReason::DocumentChanged, carried)?;
                ending.outcome = Outcome::ProposalCreated;
                ending.proposal = Some(self.proposal.clone());
            } else {
                ending.version = Some(self.publish(tx, bank, fresh, rebased, carried)?);
            }
        } else if decision.makes_proposal() {
            let reason = if self.plan.mode.must_propose {
                ProposalReason::DeltaWedged
            } else if fresh.review() == Review::Auto && decision.large_removal {
                ProposalReason::LargeRemoval
            } else {
                ProposalReason::ReviewManual
            };
            self.propose(tx, bank, &fresh, reason, carried)?;
            ending.proposal = Some(self.proposal.clone());
        } else {
            self.keep(tx, fresh, decision.outcome, carried)?;
        }
        self.end(tx, bank, &ending)
    }

    /// Warnings that only the end can tell.
    fn remark(&mut self, decision: &Decision) {
        let size = tokens(&self.drafted.document.render());
        let budget = self.plan.model.row.head.max_tokens;
        let partition = &self.plan.partition;
        let delta = self.plan.mode.effective == RefreshMode::Delta;
        let mut notes = Vec::new();
        if decision.large_removal {
            notes.push(remark("large_removal", "Much of the document would go."));
        }
        if decision.outcome == Outcome::ContentWritten || decision.makes_proposal() {
            if size > budget {
                let text = format!("The document has {size} tokens where {budget} are allowed.");
                notes.push(remark("over_budget", text));
            }
            if self.unsupported() > 0 {
                let text = match self.unsupported() {
                    1 => "1 change names no fact.".to_owned(),
                    n => format!("{n} changes name no facts."),
                };
                notes.push(remark("unsupported_claim", text));
            }
        }
        let [_, _, skipped] = self.drafted.counts();
        if skipped > 0 {
            let text = format!("{skipped} changes did not fit; their facts are offered again.");
            notes.push(remark("ops_skipped", text));
        }
        if delta && partition.deferred_reason.is_some() {
            let text =
                "Facts that were taken back may get successors; their text stays until then.";
            notes.push(remark("retraction_deferred", text));
        }
        if delta && !partition.broken_links.is_empty() {
            let text = "None of the cited memories is in this bank; the text stays.";
            notes.push(remark("grounding_unresolvable", text));
        }
        if self.plan.idle.is_none()
            && self.drafted.facts().is_empty()
            && self.drafted.retrieved.values().sum::<u32>() > 0
        {
            notes.push(remark("facts_unused", "Memories were read and none was used."));
        }
        self.drafted.warnings.extend(notes);
    }

    fn unsupported(&self) -> usize {
        let Some(applied) = &self.drafted.applied else { return 0 };
        let ops = applied.ops.iter().zip(&applied.results);
        ops.filter(|(op, result)| {
            let bare = op
                .body
                .as_ref()
                .is_ok_and(|cited| cited.cited().is_empty() && says_something(&cited.op));
            bare && result.status == OpStatus::Applied
        })
        .count()
    }

    /// Facts to offer again.
    fn carry(&mut self, version: u32) -> Vec<CarryOver> {
        let open = match self.plan.mode.effective {
            // A rebuilt document reads everything; what it leaves out it judged.
            RefreshMode::Full => Vec::new(),
            RefreshMode::Delta => uncovered(&self.drafted.facts(), &self.drafted.judged),
        };
        let carried = carry_over(
            &self.plan.model.carry_over,
            &self.plan.offered(),
            &open,
            &self.plan.retracted(),
            version,
        );
        if !open.is_empty() {
            let text = format!("{} facts are offered again with the next refresh.", open.len());
            self.drafted.warnings.push(remark("uncovered_facts", text));
        }
        if !carried.given_up.is_empty() {
            let text =
                format!("{} facts were offered in vain and given up.", carried.given_up.len());
            self.drafted.warnings.push(remark("facts_not_integrated", text));
        }
        carried.list
    }

    /// The operations of the run over the document it began with.
    pub(super) fn ops(&self, origins: &Provenance) -> Vec<ProposalOp> {
        let texts = self.texts();
        let known = RunFacts { texts: &texts, provenance: origins };
        self.drafted.applied.as_ref().map(|applied| record_ops(applied, &known)).unwrap_or_default()
    }

    /// Texts of facts as read.
    pub(super) fn texts(&self) -> HashMap<String, String> {
        let mut texts = self.plan.cited_texts.clone();
        for cited in &self.drafted.used {
            texts.insert(cited.id.clone(), cited.text.clone());
        }
        texts
    }

    /// The document of a delta on a document that moved, if every operation still fits.
    fn rebased(&self, fresh: &Loaded) -> Option<(Document, Vec<ProposalOp>)> {
        self.drafted.applied.as_ref()?;
        let ops = self.ops(&self.plan.origins);
        let moved = rebase(&ops, &self.plan.model.document, &fresh.document, &BTreeSet::new());
        let fits = moved.ops.iter().all(|op| op.conflict.is_none());
        fits.then_some((moved.candidate, moved.ops))
    }

    fn completed(&self) -> ClockEvent {
        ClockEvent::Completed {
            newest_in_scope: self.plan.newest,
            source_query: self.plan.model.row.head.source_query.clone(),
            cutoff_seq: self.plan.cutoff_seq,
        }
    }

    /// Counters and clocks after a run that did its job.
    pub(super) fn did_well(&self, model: &mut Loaded, outcome: Outcome, event: ClockEvent) {
        let head = &mut model.row.head;
        let moved = clocks(head).after(event, self.now);
        set_clocks(head, moved);
        head.delta_failures = next_delta_failures(head.delta_failures, outcome);
        head.failure_streak = 0;
        head.paused_until = None;
    }

    fn publish(
        &self,
        tx: &WriteTx<'_>,
        bank: BankKey,
        mut fresh: Loaded,
        rebased: Option<(Document, Vec<ProposalOp>)>,
        carried: Vec<CarryOver>,
    ) -> Result<u32> {
        let expected = fresh.row.head.version;
        let origins = crate::models::publish::origins(tx, fresh.key())?;
        let document =
            rebased.as_ref().map_or_else(|| self.drafted.document.clone(), |(doc, _)| doc.clone());
        let provenance = match &rebased {
            Some((document, ops)) => {
                let all = ops.iter().filter(|op| op.is_live()).map(|op| op.index).collect();
                let done = domain::proposal::apply_selection(&fresh.document, ops, &all);
                let steps = done.ops.iter().filter_map(|done| {
                    let op = ops.iter().find(|op| op.index == done.index)?;
                    Some(Step { op, trace: &done.trace })
                });
                let steps: Vec<Step<'_>> = steps.collect();
                origins.after_ops(&fresh.document, document, &steps, expected + 1)
            }
            None => self.provenance(&origins, expected + 1),
        };
        self.did_well(&mut fresh, Outcome::ContentWritten, self.completed());
        if self.plan.mode.effective == RefreshMode::Full {
            fresh.row.head.last_full_refreshed_at = Some(self.now);
        }
        fresh.row.carry_over = to_json(&carried);
        fresh.row.guidance = to_json(&after_approval(&fresh.guidance, self.plan.started_at));
        fresh.row.last_run = Some(self.last_run(Outcome::ContentWritten));
        let keeps_trace = fresh.trigger.keep_trace;
        let state = NewState {
            evidence: self.evidence(&fresh, &document, expected + 1),
            document,
            provenance,
            cause: self.cause(),
            actor: record::actor(&self.operation.triggered_by),
            operation: Some(self.operation.id.clone()),
            proposal: None,
            accepted_op_ids: None,
            note: None,
            trace: keeps_trace.then(|| self.drafted.trace.clone()),
            settings: self.plan.model.settings(),
            vector: self.vector.clone(),
        };
        Ok(publish(tx, bank, fresh.row, state, expected, self.now)?)
    }

    fn cause(&self) -> VersionCause {
        match self.plan.mode.effective {
            RefreshMode::Full => VersionCause::RefreshFull,
            RefreshMode::Delta if self.drafted.facts().is_empty() => VersionCause::Retraction,
            RefreshMode::Delta => VersionCause::RefreshDelta,
        }
    }

    fn provenance(&self, origins: &Provenance, version: u32) -> Provenance {
        let base = &self.plan.model.document;
        let after = match &self.drafted.applied {
            None => {
                let evidence = &self.drafted.block_evidence;
                origins.after_whole(base, &self.drafted.document, evidence, version)
            }
            Some(applied) => {
                let ops = self.ops(origins);
                let traces: HashMap<u32, _> =
                    applied.results.iter().map(|r| r.index).zip(&applied.traces).collect();
                let steps: Vec<Step<'_>> = ops
                    .iter()
                    .filter_map(|op| Some(Step { op, trace: traces.get(&op.index)? }))
                    .collect();
                origins.after_ops(base, &self.drafted.document, &steps, version)
            }
        };
        with_reflected(after, &self.drafted.reflected)
            .without_facts(&self.drafted.handled.iter().cloned().collect())
    }

    /// Evidence of the document that this run publishes.
    fn evidence(&self, fresh: &Loaded, document: &Document, version: u32) -> PublishedEvidence {
        let before = evidence_of(&fresh.row, document);
        let without: HashSet<String> = self
            .drafted
            .handled
            .iter()
            .chain(&self.plan.partition.broken_links)
            .filter(|id| !self.drafted.used.iter().any(|cited| cited.id == **id))
            .cloned()
            .collect();
        let mut used = self.drafted.used.clone();
        used.extend(self.drafted.directives.iter().cloned());
        let delta = self.plan.mode.effective == RefreshMode::Delta;
        let old = if delta { before.based_on.clone() } else { Default::default() };
        let (applied, skipped) = self.op_records();
        PublishedEvidence {
            text: if self.drafted.extractive {
                EXTRACTIVE.to_owned()
            } else {
                self.drafted.text.clone()
            },
            basis: self.drafted.basis,
            based_on: merge_evidence(&used, &old, &without),
            outcome: Outcome::ContentWritten,
            structured_output: self.structured.clone().map(Json),
            structured_output_version: self.structured.is_some().then_some(version),
            delta_applied: delta,
            delta_operations_applied: applied,
            delta_operations_skipped: skipped,
            ..no_evidence(document, self.plan.model.row.head.max_tokens)
        }
    }

    fn op_records(&self) -> (Vec<Json>, Vec<Json>) {
        let Some(applied) = &self.drafted.applied else { return Default::default() };
        let all = super::drafted::op_list(applied).into_iter().zip(&applied.results);
        let (done, left): (Vec<_>, Vec<_>) =
            all.partition(|(_, result)| result.status != OpStatus::Skipped);
        let bare = |list: Vec<(Value, _)>| list.into_iter().map(|(op, _)| Json(op)).collect();
        (bare(done), bare(left))
    }

    /// A run that leaves the text as it is: clocks, and what the text is known to rest on.
    fn keep(
        &self,
        tx: &WriteTx<'_>,
        mut fresh: Loaded,
        outcome: Outcome,
        carried: Vec<CarryOver>,
    ) -> Result<()> {
        let expected = fresh.row.head.version;
        self.did_well(&mut fresh, outcome, self.completed());
        fresh.row.head.placeholder = false;
        fresh.row.carry_over = to_json(&carried);
        fresh.row.last_run = Some(self.last_run(outcome));
        let delta = self.plan.mode.effective == RefreshMode::Delta;
        let learns = outcome == Outcome::ContentUnchanged || delta || self.structured.is_some();
        if learns && expected > 0 && fresh.row.head.version == self.plan.model.row.head.version {
            let before = evidence_of(&fresh.row, &fresh.document);
            let mut evidence = if outcome == Outcome::ContentUnchanged || delta {
                let fresh_evidence = self.evidence(&fresh, &fresh.document, expected);
                PublishedEvidence { based_on: fresh_evidence.based_on, outcome, ..before }
            } else {
                before
            };
            if delta && outcome == Outcome::ContentPreservedNoNewFacts {
                evidence.delta_skipped_reason = Some("no_new_facts".to_owned());
            }
            if let Some(value) = &self.structured {
                evidence.structured_output = Some(Json(value.clone()));
                evidence.structured_output_version = Some(expected);
            }
            let origins = crate::models::publish::origins(tx, fresh.key())?;
            let origins = with_reflected(origins, &self.drafted.reflected)
                .without_facts(&self.drafted.handled.iter().cloned().collect());
            rewrite_evidence(tx, &mut fresh.row, evidence, &origins, self.now)?;
        }
        store::models::save(tx, &fresh.row, expected, self.now)?;
        Ok(())
    }

    pub(super) fn last_run(&self, outcome: Outcome) -> Value {
        let ending = Ending::of(&self.plan, outcome);
        record::last_run(
            &ending,
            &self.operation,
            &self.drafted.warnings,
            self.kept_trace(),
            self.now,
        )
    }

    fn kept_trace(&self) -> Option<Value> {
        let keeps = self.plan.model.trigger.keep_trace;
        (keeps && !self.drafted.trace.is_null()).then(|| self.drafted.trace.clone())
    }

    /// The record of the run and the end of the operation.
    fn end(&self, tx: &WriteTx<'_>, bank: BankKey, ending: &Ending) -> Result<Handled> {
        let row = record::refresh_run(
            &self.run,
            ending,
            &self.operation,
            Some((&self.plan, &self.drafted)),
            self.kept_trace(),
            self.now,
        );
        record::add(tx, bank, &row)?;
        let details = record::details(ending);
        let end = End::completed(None, Some(details.clone()));
        store::operations::finish(tx, self.operation.key, &end, self.now)?;
        Ok(Handled { details: Some(details), written: true, ..Handled::default() })
    }
}
