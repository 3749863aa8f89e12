//! The last step of a refresh: one transaction that writes version or proposal, evidence, clocks,
//! carry-over, the record of the run and the end of the operation, all or none. If the document moved
//! meanwhile, nothing is overwritten.

use super::course::Course;
use super::drafted::Drafted;
use super::finish::Finish;
use super::plan::Plan;
use super::record::{self, Ending};
use super::{Failure, trace};
use crate::models::lifecycle;
use crate::models::loaded::{Loaded, clocks, set_clocks, to_json};
use crate::models::locks;
use crate::models::proposals::is_in_review;
use crate::models::publish::{NewState, evidence_of, publish, rewrite_evidence};
use crate::models::published;
use crate::ops::{Handled, Running};
use crate::report::fault;
use crate::{Engine, Result};
use domain::document::Document;
use domain::model::{CarryOver, PublishedEvidence, Review, after_approval};
use domain::proposal::{ProposalOp, rebase};
use domain::provenance::Step;
use domain::refresh::{ClockEvent, Decision, Outcome, next_delta_failures};
use domain::trigger::RefreshMode;
use domain::{Json, ModelId};
use std::collections::BTreeSet;
use store::operations::End;
use store::proposals::ProposalReason;
use store::{BankKey, WriteTx};

/// What a commit gives back.
pub(super) struct Committed {
    handled: Handled,
    /// The text that was published in place of the drafted one, because the document had moved.
    other_text: Option<(ModelId, String, String)>,
}

/// Ends a run that got as far as a result.
///
/// # Errors
/// Why there is no result after all, with how far the run came.
pub(super) async fn finished(
    running: &Running,
    course: &Course<'_>,
    plan: &Plan,
    drafted: Drafted,
) -> Result<Handled, Failure> {
    let mut finish = Finish::of(course, plan, drafted).await?;
    if let Some(reason) = finish.decide(plan.model.review()).failure_reason {
        return Err(finish.failure(reason));
    }
    let drafted = finish.drafted.clone();
    let done = commit(running, course, plan, finish).await;
    done.map_err(|error| Failure::of(error, None).after(drafted))
}

async fn commit(
    running: &Running,
    course: &Course<'_>,
    plan: &Plan,
    mut finish: Finish,
) -> Result<Handled> {
    let engine = &running.engine;
    let content = finish.drafted.document.render();
    if content != plan.model.row.content {
        let name = &plan.model.row.head.name;
        finish.vector = Some(lifecycle::vector(engine, name, &content, course.cancel).await?);
    }
    course.tell("committing");
    course.check()?;
    finish.now = engine.now();
    let (bank, operation) = (running.bank.clone(), running.operation.key);
    let committed = engine
        .store()
        .write_as("commit_refresh", move |tx| {
            let key = store::banks::key(tx, &bank)?;
            // Asked for since the last look: the one that commits first is right.
            if store::operations::by_key(tx, operation)?.cancel_requested {
                return Err(fault("cancelled").into());
            }
            finish.write(tx, key)
        })
        .await?;
    if let Some((model, name, text)) = committed.other_text
        && let Err(error) = embed_again(engine, course, model, &name, &text).await
    {
        tracing::warn!(%error, "the search vector of a document that had moved was not renewed");
    }
    let details = committed.handled.details.as_ref();
    if details.is_some_and(|details| !details["version"].is_null()) {
        let model = &plan.model.row.head.id;
        published::after_commit(engine, &running.bank, model, Some(&running.operation.id)).await;
    }
    Ok(committed.handled)
}

/// The vector of a text that could not be known before the commit.
async fn embed_again(
    engine: &Engine,
    course: &Course<'_>,
    model: ModelId,
    name: &str,
    text: &str,
) -> Result<()> {
    let (embedder, vector) = lifecycle::vector(engine, name, text, course.cancel).await?;
    crate::handle::write_bank(engine, course.bank, "embed_model", move |tx, bank| {
        let Some(row) = store::models::find(tx, bank, &model)? else { return Ok(()) };
        let embedder = store::embedders::get(tx, embedder)?;
        store::models::put_vector(tx, &embedder, bank, row.head.key, &vector)
    })
    .await
}

/// What becomes of a result.
enum Way {
    /// A version: of the drafted document, or of its operations on a document that moved.
    Publish(Option<(Document, Vec<ProposalOp>)>),
    /// A person decides.
    Propose(ProposalReason),
    /// The text stays.
    Keep,
}

impl Finish {
    fn write(self, tx: &WriteTx<'_>, bank: BankKey) -> Result<Committed> {
        let fresh = Loaded::get(tx, bank, &self.plan.model.row.head.id)?;
        self.write_on(tx, bank, fresh)
    }

    /// Writes the end on the model as it is now.
    pub(super) fn write_on(
        mut self,
        tx: &WriteTx<'_>,
        bank: BankKey,
        fresh: Loaded,
    ) -> Result<Committed> {
        if self.is_cleared(&fresh) {
            let what = "it was cleared, and stays so";
            return Err(fault("document_changed").detail(what).into());
        }
        let decision = self.decide(fresh.review());
        self.remark(&decision);
        let carried = self.carry(&fresh);
        let way = self.way(tx, &fresh, &decision)?;
        let mut ending = Ending::of(&self.plan, decision.outcome);
        match &way {
            Way::Publish(_) => ending.version = Some(fresh.row.head.version + 1),
            Way::Propose(_) => {
                ending.outcome = Outcome::ProposalCreated;
                ending.proposal = Some(self.proposal.clone());
            }
            Way::Keep => {}
        }
        ending.trace = Some(trace::stored(&self.whole_trace(&ending)));
        let mut other_text = None;
        match way {
            Way::Publish(rebased) => {
                let head = &fresh.row.head;
                other_text = rebased
                    .as_ref()
                    .map(|(document, _)| (head.id.clone(), head.name.clone(), document.render()));
                self.publish(tx, bank, fresh, rebased, carried, &ending)?;
            }
            Way::Propose(reason) => self.propose(tx, bank, &fresh, reason, carried, &ending)?,
            Way::Keep => self.keep(tx, fresh, carried, &ending)?,
        }
        let handled = self.end(tx, bank, &ending)?;
        Ok(Committed { handled, other_text })
    }

    /// What becomes of the result on the model as it is now.
    fn way(&self, tx: &WriteTx<'_>, fresh: &Loaded, decision: &Decision) -> Result<Way> {
        let is_other = self.reads_otherwise(fresh);
        let moved = fresh.row.head.version != self.plan.model.row.head.version;
        if decision.makes_proposal() {
            return Ok(Way::Propose(match self.proposal_reason(fresh.review(), decision) {
                // Nobody reviews this model, so what became of the run says more than that.
                ProposalReason::ReviewManual
                    if fresh.review() == Review::Auto && (moved || is_other) =>
                {
                    ProposalReason::DocumentChanged
                }
                reason => reason,
            }));
        }
        if decision.outcome != Outcome::ContentWritten {
            return Ok(Way::Keep);
        }
        let rebased = if moved && !is_other { self.rebased(fresh) } else { None };
        // A lock set while the run went on holds too.
        let stopped = locks::meets_new(tx, fresh, &self.plan.locks, &self.drafted.document)?;
        Ok(if is_other || stopped || (moved && rebased.is_none()) {
            Way::Propose(ProposalReason::DocumentChanged)
        } else if is_in_review(tx, fresh.key())? {
            Way::Propose(ProposalReason::ReviewManual)
        } else {
            Way::Publish(rebased)
        })
    }

    /// Whether the model asks or reads something else since the run began.
    fn reads_otherwise(&self, fresh: &Loaded) -> bool {
        let was = &self.plan.model;
        fresh.row.head.source_query != was.row.head.source_query
            || !fresh.scope.reads_same(&was.scope)
    }

    /// The document of a delta on a document that moved, if every operation still fits.
    fn rebased(&self, fresh: &Loaded) -> Option<(Document, Vec<ProposalOp>)> {
        self.drafted.applied.as_ref()?;
        let ops = self.ops(&self.plan.origins);
        let moved = rebase(&ops, &self.plan.model.document, &fresh.document, &BTreeSet::new());
        let fits = moved.ops.iter().all(|op| op.conflict.is_none());
        fits.then_some((moved.candidate, moved.ops))
    }

    /// Counters and clocks after a run that did its job.
    pub(super) fn did_well(&self, model: &mut Loaded, outcome: Outcome, event: ClockEvent) {
        let head = &mut model.row.head;
        let moved = clocks(head).after(event, self.now);
        set_clocks(head, moved);
        head.delta_failures = next_delta_failures(head.delta_failures, outcome);
        head.failure_streak = 0;
        head.last_refresh_failed_at = None;
        head.paused_until = None;
    }

    /// How a run that stands moves the clocks. Where a person had them go back meanwhile, nothing that
    /// it read counts as read: the next run reads it again.
    fn published_event(&self, fresh: &Loaded) -> ClockEvent {
        if self.is_set_back(fresh) { ClockEvent::Edited } else { self.completed() }
    }

    fn publish(
        &self,
        tx: &WriteTx<'_>,
        bank: BankKey,
        mut fresh: Loaded,
        rebased: Option<(Document, Vec<ProposalOp>)>,
        carried: Vec<CarryOver>,
        ending: &Ending,
    ) -> Result<()> {
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
                self.settled(origins.after_ops(&fresh.document, document, &steps, expected + 1))
            }
            None => self.provenance(&origins, expected + 1),
        };
        let event = self.published_event(&fresh);
        self.did_well(&mut fresh, Outcome::ContentWritten, event);
        if self.plan.mode.effective == RefreshMode::Full {
            fresh.row.head.last_full_refreshed_at = Some(self.now);
        }
        fresh.row.carry_over = to_json(&carried);
        fresh.row.guidance = to_json(&after_approval(&fresh.guidance, self.plan.started_at));
        fresh.row.last_run = Some(self.last_run(ending));
        let mut evidence = self.evidence(&fresh, &document, expected + 1);
        if rebased.is_some() {
            // It was extracted from another text.
            evidence.structured_output_version = evidence.structured_output.as_ref().map(|_| 0);
        }
        let state = NewState {
            evidence,
            document,
            provenance,
            cause: self.cause(),
            actor: record::actor(self.operation.as_ref()),
            operation: self.operation.as_ref().map(|operation| operation.id.clone()),
            proposal: None,
            accepted_op_ids: None,
            note: None,
            trace: self.kept_trace(ending),
            settings: self.plan.model.settings(),
            restored: Vec::new(),
            vector: self.vector.clone(),
        };
        publish(tx, bank, fresh.row, state, expected, self.now)?;
        Ok(())
    }

    /// A run that leaves the text as it is: clocks, and what the text is known to rest on.
    fn keep(
        &self,
        tx: &WriteTx<'_>,
        mut fresh: Loaded,
        carried: Vec<CarryOver>,
        ending: &Ending,
    ) -> Result<()> {
        let expected = fresh.row.head.version;
        let outcome = ending.outcome;
        // What a changed scope reaches has not been read: the clocks wait for a run that reads it.
        let event = if self.reads_otherwise(&fresh) {
            ClockEvent::Proposed { cutoff_seq: self.plan.cutoff_seq }
        } else {
            self.published_event(&fresh)
        };
        self.did_well(&mut fresh, outcome, event);
        fresh.row.head.placeholder = false;
        fresh.row.carry_over = to_json(&carried);
        fresh.row.last_run = Some(self.last_run(ending));
        let delta = self.plan.mode.effective == RefreshMode::Delta;
        let learns = outcome == Outcome::ContentUnchanged || delta || self.structured.is_some();
        let moved = expected != self.plan.model.row.head.version;
        if learns && expected > 0 && !moved {
            let before = evidence_of(&fresh.row, &fresh.document);
            let mut evidence = before.clone();
            if outcome == Outcome::ContentUnchanged || delta {
                evidence =
                    PublishedEvidence { based_on: self.based_on(&fresh), outcome, ..evidence };
            }
            if delta && outcome == Outcome::ContentPreservedNoNewFacts {
                evidence.delta_skipped_reason = Some("no_new_facts".to_owned());
            }
            if let Some(value) = &self.structured {
                evidence.structured_output = Some(Json(value.clone()));
                evidence.structured_output_version = Some(expected);
                evidence.structured_output_schema = self.schema_name();
            }
            let known = crate::models::publish::origins(tx, fresh.key())?;
            let origins = self.settled(known.clone());
            if origins == known && evidence.based_on == before.based_on {
                // It rests on what it rested on: only how the run ended is told anew.
                fresh.row.reflect_response = Some(to_json(&evidence));
            } else {
                rewrite_evidence(tx, &mut fresh.row, evidence, &known, &origins, self.now)?;
            }
        }
        store::models::save(tx, &fresh.row, expected, self.now)?;
        Ok(())
    }

    /// The record of the run and the end of the operation.
    fn end(&self, tx: &WriteTx<'_>, bank: BankKey, ending: &Ending) -> Result<Handled> {
        let operation = self.operation.as_ref();
        let (plan, drafted) = (Some(&self.plan), Some(&self.drafted));
        let mut row = record::refresh_run(&self.run, ending, operation, plan, drafted, self.now);
        row.trace = self.kept_trace(ending);
        record::add(tx, bank, &row, self.plan.settings.refresh_history_max_entries)?;
        let details = record::details(ending);
        if let Some(operation) = operation {
            let end = End::completed(None, Some(details.clone()));
            store::operations::finish(tx, operation.key, &end, self.now)?;
        }
        Ok(Handled { details: Some(details), written: true, ..Handled::default() })
    }
}

/// The trace of a run that failed: kept whatever the settings say, since it is what there is to look
/// at.
pub(super) fn failed_trace(
    drafted: &Drafted,
    ending: &Ending,
    plan: Option<&Plan>,
    now: domain::Instant,
) -> serde_json::Value {
    let after = plan.and_then(Plan::after_at);
    trace::stored(&trace::whole(drafted, ending, &drafted.warnings, after, now))
}
