//! A run at its end: what is worked out before anything is written. The structured view, the decision
//! how the run ends, the warnings that only the end can tell, what the new text rests on. Writes
//! nothing; the same answers serve a commit, a proposal and a dry run.

use super::course::Course;
use super::drafted::{Drafted, add_calls, remark, remark_with};
use super::plan::Plan;
use super::record::{self, Ending};
use super::{EXTRACTIVE, Failure, trace};
use crate::Result;
use crate::llm_log;
use crate::models::loaded::Loaded;
use crate::models::proposals::view::says_something;
use crate::models::proposals::with_reflected;
use crate::models::publish::{evidence_of, merge_evidence, no_evidence, tokens};
use crate::prompts::STRUCTURED_SYSTEM;
use crate::report::fault;
use domain::delta::{ApplyWarning, OpStatus};
use domain::document::Document;
use domain::model::{CarryOver, Citation, PublishedEvidence, Review};
use domain::proposal::{ProposalOp, RunFacts, record_ops};
use domain::provenance::{Provenance, Step};
use domain::refresh::{
    ClockEvent, Decision, Extraction, FailureReason, FallbackReason, Idle, Outcome, ResultInput,
    carry_over, decide, extraction_due, uncovered,
};
use domain::trigger::RefreshMode;
use domain::{Instant, Json, MemoryId, ProposalId, RunId};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use store::operations::Operation;
use store::proposals::{ProposalOrigin, ProposalReason};
use store::{EmbedderKey, versions::VersionCause};

/// A run at its end, with everything that is worked out before the transaction.
pub(super) struct Finish {
    pub(super) plan: Plan,
    pub(super) drafted: Drafted,
    pub(super) structured: Option<Value>,
    pub(super) extraction: Extraction,
    /// Why there is no structured view.
    pub(super) extraction_error: Option<crate::Error>,
    pub(super) vector: Option<(EmbedderKey, Vec<f32>)>,
    /// None for a dry run.
    pub(super) operation: Option<Operation>,
    pub(super) run: RunId,
    pub(super) proposal: ProposalId,
    pub(super) now: Instant,
}

impl Finish {
    /// Works out what the end needs beside the draft.
    ///
    /// # Errors
    /// `cancelled`, and those of the machine; with how far the run came.
    pub(super) async fn of(
        course: &Course<'_>,
        plan: &Plan,
        drafted: Drafted,
    ) -> Result<Self, Failure> {
        let engine = course.engine;
        let mut finish = Self {
            plan: plan.clone(),
            drafted,
            structured: None,
            extraction: Extraction::NotDue,
            extraction_error: None,
            vector: None,
            operation: course.operation().cloned(),
            run: course.run.clone(),
            proposal: ProposalId(engine.new_id()),
            now: engine.now(),
        };
        if let Err(error) = finish.extract(course).await {
            return Err(Failure::of(error, None).after(finish.drafted));
        }
        finish.now = engine.now();
        Ok(finish)
    }

    /// The end of a queued run that had nothing to read and extracts nothing.
    pub(super) fn of_nothing(
        plan: Plan,
        drafted: Drafted,
        operation: Operation,
        run: RunId,
        proposal: ProposalId,
        now: Instant,
    ) -> Self {
        Self {
            plan,
            drafted,
            structured: None,
            extraction: Extraction::NotDue,
            extraction_error: None,
            vector: None,
            operation: Some(operation),
            run,
            proposal,
            now,
        }
    }

    /// The structured view, when one is due.
    async fn extract(&mut self, course: &Course<'_>) -> Result<()> {
        let model = &self.plan.model;
        let Some(schema) = &model.trigger.response_schema else { return Ok(()) };
        let content = self.drafted.document.render();
        let writes = content != model.row.content;
        let has_value =
            model.evidence.as_ref().is_some_and(|evidence| evidence.structured_output.is_some());
        let due = extraction_due(writes, has_value, self.plan.schema_changed);
        // What fails already is not worth another call.
        let fails = self.decide(model.review()).failure_reason.is_some();
        if content.trim().is_empty() || fails || !due {
            return Ok(());
        }
        course.tell("extracting");
        let facts = self.drafted.facts().into_iter().map(MemoryId).collect();
        let stays_here = self.plan.stays_here
            || super::structured::stays_here(course.engine, course.bank, &model.row.head.id, facts)
                .await?;
        let work = super::structured::extract_traced(
            course.engine,
            &schema.0,
            &content,
            stays_here,
            course.urgency(),
            course.cancel,
        );
        let extracted = llm_log::within(course.calls(&STRUCTURED_SYSTEM), Box::pin(work)).await?;
        for call in &extracted.calls {
            self.drafted.usage.add(&call.usage());
        }
        add_calls(&mut self.drafted.trace, &extracted.calls);
        match extracted.value {
            Ok(value) => {
                self.structured = Some(value.0);
                self.extraction = Extraction::Done;
            }
            Err(error) => {
                tracing::info!(%error, "the structured view was not extracted");
                self.extraction_error = Some(error);
                self.extraction = Extraction::Failed;
            }
        }
        Ok(())
    }

    /// How the run ends, on a model that publishes by itself or not.
    pub(super) fn decide(&self, review: Review) -> Decision {
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
            removal_limit: self.plan.settings.delta_removal_limit.get(),
            citation_limit: self.plan.settings.full_citation_loss_limit.get(),
        })
    }

    /// The failure that a guard found.
    pub(super) fn failure(&mut self, reason: FailureReason) -> Failure {
        let error = self.extraction_error.take().unwrap_or_else(|| fault(word(reason)).into());
        let code = match reason {
            FailureReason::EmptyCandidate => Some("empty_candidate"),
            FailureReason::DeltaOpsFailed
            | FailureReason::DeltaOpsAllSkipped
            | FailureReason::DeltaNotApplied
            | FailureReason::StructuredDocUnreadable => Some("delta_not_applied"),
            _ => None,
        };
        let mut failure = Failure::of(error, Some(reason));
        if let Some(code) = code {
            self.drafted.warnings.push(remark(code, failure.report.message.clone()));
        }
        failure.drafted = Some(Box::new(self.drafted.clone()));
        failure
    }

    /// Warnings that only the end can tell.
    pub(super) fn remark(&mut self, decision: &Decision) {
        let mut notes = self.remarks_on_reading();
        if decision.large_removal {
            notes.push(remark("large_removal", "Much of the document would go."));
        }
        if decision.outcome == Outcome::ContentWritten || decision.makes_proposal() {
            notes.extend(self.remarks_on_text());
        }
        notes.extend(self.remarks_on_ops());
        self.drafted.warnings.extend(notes);
    }

    fn remarks_on_reading(&self) -> Vec<domain::model::RunWarning> {
        let mut notes = Vec::new();
        let partition = &self.plan.partition;
        let delta = self.plan.mode.effective == RefreshMode::Delta;
        if self.plan.reads_all_again() {
            let text =
                "What the document reads was changed, so everything in scope was read again.";
            notes.push(remark("scope_changed_watermark_reset", text));
        }
        if delta && !partition.deferred.is_empty() {
            let n = partition.deferred.len();
            let text = "Facts that were taken back may get successors, since memories wait for \
                consolidation; their text stays until then.";
            notes.push(remark_with("retraction_deferred", text, json!({ "facts": n })));
        }
        if delta && !partition.broken_links.is_empty() {
            let text = "None of the cited memories is in this bank; the text stays.";
            notes.push(remark("grounding_unresolvable", text));
        }
        if self.plan.idle == Some(Idle::EmptyScope) {
            notes.push(self.nothing_found("empty_scope", "Nothing is in scope"));
        } else if self.plan.idle.is_none()
            && self.drafted.facts().is_empty()
            && self.plan.reads_something()
        {
            if self.drafted.retrieved.values().sum::<u32>() > 0 {
                notes.push(remark("facts_unused", "Memories were read and none was used."));
            } else {
                notes.push(self.nothing_found("no_facts_retrieved", "Nothing was found in scope"));
            }
        }
        notes
    }

    /// What it means that nothing was found: how much the document rests on, where was looked, and
    /// whether that place has changed since the document was written.
    fn nothing_found(&self, code: &str, what: &str) -> domain::model::RunWarning {
        let cited = self.plan.cited_texts.len();
        let (now, then) = &self.plan.scope_words;
        let mut text = match cited {
            0 => format!("{what}."),
            1 => format!("{what}, although the document rests on 1 memory."),
            n => format!("{what}, although the document rests on {n} memories."),
        };
        text.push_str(&format!(" It reads: {now}."));
        if let Some(then) = then {
            text.push_str(&format!(" When the document was written it read: {then}."));
        }
        let data = json!({ "cited": cited, "scope": now, "scope_before": then });
        remark_with(code, text, data)
    }

    fn remarks_on_text(&self) -> Vec<domain::model::RunWarning> {
        let mut notes = Vec::new();
        let size = tokens(&self.drafted.document.render());
        let budget = self.plan.model.row.head.max_tokens;
        if size > budget {
            let text = format!("The document has {size} tokens where {budget} are allowed.");
            let data = json!({ "tokens": size, "budget": budget });
            notes.push(remark_with("over_budget", text, data));
        }
        let (bare, oversized) = (self.unsupported(), self.oversized(budget));
        if bare > 0 {
            let text = count(bare, "change names no fact", "changes name no facts");
            notes.push(remark("unsupported_claim", text));
        }
        if oversized > 0 {
            let text = count(
                oversized,
                "change alone is larger than the document may be",
                "changes alone are each larger than the document may be",
            );
            notes.push(remark("oversized_op", text));
        }
        notes
    }

    fn remarks_on_ops(&self) -> Vec<domain::model::RunWarning> {
        let mut notes = Vec::new();
        let [_, _, skipped] = self.drafted.counts();
        let left = skipped.saturating_sub(self.drafted.corrected);
        if left > 0 {
            let text = count(
                left as usize,
                "change did not fit; what it rests on is offered again",
                "changes did not fit; what they rest on is offered again",
            );
            notes.push(remark("ops_skipped", text));
        }
        let results = self.drafted.applied.iter().flat_map(|applied| &applied.results);
        let mut told: HashSet<&str> = HashSet::new();
        for result in results {
            let kinds = result.warnings.iter().map(|warning| match warning {
                ApplyWarning::SubsectionsReparented => (
                    "subsections_reparented",
                    "A section went and its subsections now stand under the one before.",
                ),
                ApplyWarning::DuplicateHeading => {
                    ("duplicate_heading", "A new section has the heading of another one.")
                }
            });
            let open = result.closed_fence_in_block_id.as_ref().map(|_| {
                ("unclosed_fence_in_source", "A code block that was left open has been closed.")
            });
            for (code, text) in kinds.chain(open) {
                if told.insert(code) {
                    notes.push(remark(code, text));
                }
            }
        }
        notes
    }

    fn says(&self, holds: impl Fn(&domain::delta::CitedOp) -> bool) -> usize {
        let Some(applied) = &self.drafted.applied else { return 0 };
        let ops = applied.ops.iter().zip(&applied.results);
        ops.filter(|(op, result)| {
            result.status == OpStatus::Applied && op.body.as_ref().is_ok_and(&holds)
        })
        .count()
    }

    fn unsupported(&self) -> usize {
        self.says(|cited| cited.cited().is_empty() && says_something(&cited.op))
    }

    fn oversized(&self, budget: u32) -> usize {
        self.says(|cited| tokens(&cited.op.text()) > budget)
    }

    /// Facts to offer again. What a person settled while the run was under way is settled, and what
    /// was put off meanwhile stays put off.
    pub(super) fn carry(&mut self, fresh: &Loaded) -> Vec<CarryOver> {
        let has = |list: &[CarryOver], id: &str| list.iter().any(|entry| entry.fact_id == id);
        let known = self.plan.carried.iter();
        let known = known.filter(|entry| has(&fresh.carry_over, &entry.fact_id));
        let added = fresh.carry_over.iter();
        let added = added.filter(|entry| !has(&self.plan.model.carry_over, &entry.fact_id));
        let before: Vec<CarryOver> = known.chain(added).cloned().collect();
        let open = match self.plan.mode.effective {
            // A rebuilt document reads everything; what it leaves out it judged.
            RefreshMode::Full => Vec::new(),
            RefreshMode::Delta => uncovered(&self.drafted.facts(), &self.drafted.judged),
        };
        let (offered, retracted) = (self.plan.offered(), self.plan.retracted());
        let version = fresh.row.head.version;
        let carried = carry_over(&before, &offered, &open, &retracted, version);
        let again = open.len().saturating_sub(carried.given_up.len());
        if again > 0 {
            let text = count(
                again,
                "fact is offered again with the next refresh",
                "facts are offered again with the next refresh",
            );
            let ids: Vec<&String> = open.iter().map(|(id, _)| id).collect();
            self.drafted.warnings.push(remark_with("uncovered_facts", text, json!(ids)));
        }
        if !carried.given_up.is_empty() {
            let text = count(
                carried.given_up.len(),
                "fact was offered in vain and given up",
                "facts were offered in vain and given up",
            );
            let data = json!(carried.given_up);
            self.drafted.warnings.push(remark_with("facts_not_integrated", text, data));
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

    /// Whether a person had the document read again what came before, while the run was under way.
    pub(super) fn is_set_back(&self, fresh: &Loaded) -> bool {
        let then = self.plan.model.row.head.last_memory_seen_seq;
        fresh.row.head.last_memory_seen_seq < then
    }

    /// Whether a person took the text away that the operations of this run are about.
    pub(super) fn is_cleared(&self, fresh: &Loaded) -> bool {
        self.plan.mode.effective == RefreshMode::Delta
            && self.plan.has_baseline()
            && fresh.row.content.trim().is_empty()
    }

    /// Why the result waits for a person instead of being published.
    pub(super) fn proposal_reason(&self, review: Review, decision: &Decision) -> ProposalReason {
        if self.plan.mode.reason == Some(FallbackReason::DeltaWedged) {
            ProposalReason::DeltaWedged
        } else if review == Review::Auto && decision.large_removal {
            ProposalReason::LargeRemoval
        } else {
            ProposalReason::ReviewManual
        }
    }

    pub(super) fn origin(&self) -> ProposalOrigin {
        match self.plan.mode.effective {
            RefreshMode::Full => ProposalOrigin::Full,
            RefreshMode::Delta if self.drafted.facts().is_empty() => ProposalOrigin::Retraction,
            RefreshMode::Delta => ProposalOrigin::Delta,
        }
    }

    pub(super) fn cause(&self) -> VersionCause {
        match self.origin() {
            ProposalOrigin::Full => VersionCause::RefreshFull,
            ProposalOrigin::Retraction => VersionCause::Retraction,
            _ => VersionCause::RefreshDelta,
        }
    }

    pub(super) fn completed(&self) -> ClockEvent {
        ClockEvent::Completed {
            newest_in_scope: self.plan.newest,
            source_query: self.plan.model.row.head.source_query.clone(),
            cutoff_seq: self.plan.cutoff_seq,
        }
    }

    pub(super) fn provenance(&self, origins: &Provenance, version: u32) -> Provenance {
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
        self.settled(after)
    }

    /// Origins with what the run found out about blocks that it did not write.
    pub(super) fn settled(&self, origins: Provenance) -> Provenance {
        with_reflected(origins, &self.drafted.reflected)
            .without_facts(&self.drafted.handled.iter().cloned().collect())
    }

    /// Grounding of the document after the run.
    pub(super) fn based_on(&self, fresh: &Loaded) -> BTreeMap<String, Vec<Citation>> {
        let before = evidence_of(&fresh.row, &fresh.document).based_on;
        let delta = self.plan.mode.effective == RefreshMode::Delta;
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
        merge_evidence(&used, &if delta { before } else { BTreeMap::new() }, &without)
    }

    /// Evidence of the document that this run publishes.
    pub(super) fn evidence(
        &self,
        fresh: &Loaded,
        document: &Document,
        version: u32,
    ) -> PublishedEvidence {
        let delta = self.plan.mode.effective == RefreshMode::Delta;
        let (applied, skipped) = self.op_records();
        PublishedEvidence {
            text: if self.drafted.extractive {
                EXTRACTIVE.to_owned()
            } else {
                self.drafted.text.clone()
            },
            basis: self.drafted.basis,
            based_on: self.based_on(fresh),
            outcome: Outcome::ContentWritten,
            structured_output: self.structured.clone().map(Json),
            structured_output_version: self.structured.is_some().then_some(version),
            structured_output_schema: self.schema_name(),
            delta_applied: delta,
            delta_operations_applied: applied,
            delta_operations_skipped: skipped,
            behind_models: evidence_of(&fresh.row, &fresh.document).behind_models,
            ..no_evidence(document, self.plan.model.row.head.max_tokens)
        }
    }

    /// The schema that made the structured view of this run.
    pub(super) fn schema_name(&self) -> Option<String> {
        self.structured.as_ref().and(super::structured::name_of_schema(&self.plan.model))
    }

    fn op_records(&self) -> (Vec<Json>, Vec<Json>) {
        let Some(applied) = &self.drafted.applied else { return Default::default() };
        let all = super::drafted::op_list(applied).into_iter().zip(&applied.results);
        let (done, left): (Vec<_>, Vec<_>) =
            all.partition(|(_, result)| result.status != OpStatus::Skipped);
        let bare = |list: Vec<(Value, _)>| list.into_iter().map(|(op, _)| Json(op)).collect();
        (bare(done), bare(left))
    }

    /// The trace with everything in it.
    pub(super) fn whole_trace(&self, ending: &Ending) -> Value {
        let after = self.plan.after_at();
        trace::whole(&self.drafted, ending, &self.drafted.warnings, after, self.now)
    }

    /// The trace as it is stored, when the model keeps traces.
    pub(super) fn kept_trace(&self, ending: &Ending) -> Option<Value> {
        ending.trace.clone().filter(|_| self.plan.model.trigger.keep_trace)
    }

    pub(super) fn last_run(&self, ending: &Ending) -> Value {
        let trace = self.kept_trace(ending);
        record::last_run(ending, self.operation.as_ref(), &self.drafted.warnings, trace, self.now)
    }
}

fn count(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}.") } else { format!("{n} {many}.") }
}

/// The reason of the table for a failure that a guard found.
fn word(reason: FailureReason) -> &'static str {
    use FailureReason as R;
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
