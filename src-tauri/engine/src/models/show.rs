//! Models as screens show them: rows with the one word for where each stands, details with blame and
//! evidence. Reads only.

use super::loaded::{Loaded, search_scope};
use super::publish::tokens;
use crate::fresh;
pub(super) use crate::fresh::NEWER_CAP;
use crate::report::Report;
use crate::view::model::{
    EvidenceItem, LastRun, ModelDetail, ModelRow, ModelState, OpenProposal, ReviewMode, RunWarning,
};
use domain::cron::Cron;
use domain::model::{Citation, Freshness};
use domain::schedule::needs_attention;
use domain::staleness::RefreshReason;
use domain::{Instant, Json, MemoryId, ModelId, model};
use std::cell::RefCell;
use std::collections::HashMap;
use store::models::{ModelHead, Review};
use store::operations::{
    Operation, OperationFilter, OperationStatus, OperationType, list as list_operations,
};
use store::proposals::{ProposalHead, ProposalState};
use store::{BankKey, ModelKey, ReadTx, memories, proposals};

/// Newer memories shown in a detail.
const NEWER_SHOWN: u32 = 20;
/// Coming runs that a screen shows of a schedule (mental-models 3.1).
const SHOWN_RUNS: usize = 5;

/// What rows need beside the models themselves, read once for a list.
pub(super) struct Around {
    fresh: HashMap<ModelKey, Freshness>,
    queued: HashMap<ModelId, Vec<Operation>>,
    waiting: HashMap<ModelKey, (ProposalHead, u32)>,
    scopes: RefCell<fresh::Scopes>,
    now: Instant,
}

impl Around {
    pub(super) fn read(
        tx: &ReadTx<'_>,
        bank: BankKey,
        heads: &[ModelHead],
        now: Instant,
    ) -> store::Result<Self> {
        let filter = OperationFilter {
            statuses: vec![OperationStatus::Pending, OperationStatus::Processing],
            kind: Some(OperationType::RefreshMentalModel),
            ..OperationFilter::default()
        };
        let mut queued: HashMap<ModelId, Vec<Operation>> = HashMap::new();
        for operation in list_operations(tx, bank, &filter, None, u32::MAX)?.0 {
            if let Some(model) = operation.model.clone() {
                queued.entry(model).or_default().push(operation);
            }
        }
        let heads_waiting = proposals::list_waiting(tx, bank)?;
        let keys: Vec<_> = heads_waiting.iter().map(|head| head.key).collect();
        let counts = store::reviews::decidable(tx, &keys)?;
        let waiting = heads_waiting
            .into_iter()
            .map(|head| {
                let n = counts.get(&head.key).map_or(0, store::reviews::Counts::total);
                (head.model, (head, n))
            })
            .collect();
        let mut scopes = fresh::Scopes::default();
        let fresh = fresh::of_scopes(tx, bank, heads, &mut scopes)?;
        Ok(Self { fresh, queued, waiting, scopes: RefCell::new(scopes), now })
    }

    /// Where a model stands: the first word that fits, from the most urgent on.
    fn state(&self, head: &ModelHead) -> (ModelState, Option<Instant>) {
        let queued = self.queued.get(&head.id).map(Vec::as_slice).unwrap_or_default();
        let parked = queued.iter().filter_map(|op| op.next_retry_at).find(|at| *at > self.now);
        let is_held = |op: &Operation| op.held.is_some();
        let is_due = |op: &Operation| {
            op.status == OperationStatus::Processing
                || (!is_held(op) && op.next_retry_at.is_none_or(|at| at <= self.now))
        };
        let proposal = self.waiting.get(&head.key).map(|(head, _)| head.state);
        let fresh = self.fresh.get(&head.key);
        let has = |reason| fresh.is_some_and(|fresh| fresh.refresh_reasons.contains(&reason));
        let state = if queued.iter().any(is_due) {
            ModelState::Refreshing
        } else if proposal == Some(ProposalState::Conflicted) {
            ModelState::Conflicted
        } else if proposal.is_some() {
            ModelState::WaitingForReview
        } else if needs_attention(head.failure_streak, head.delta_failures) {
            ModelState::NeedsAttention
        } else if head.failure_streak > 0 {
            ModelState::Failed
        } else if !queued.is_empty() {
            ModelState::Parked
        } else if fresh.is_none() {
            ModelState::Unknown
        } else if has(RefreshReason::NeverRefreshed) {
            ModelState::NeverRefreshed
        } else if has(RefreshReason::ScopeChanged) {
            ModelState::Behind
        } else {
            ModelState::Current
        };
        (state, parked)
    }

    /// Memories in scope that the document has not seen, up to [`NEWER_CAP`].
    fn count_newer(&self, tx: &ReadTx<'_>, bank: BankKey, head: &ModelHead) -> store::Result<u32> {
        let seen = head.last_memory_seen_seq.unwrap_or(0);
        self.scopes.borrow_mut().count_newer(tx, bank, &fresh::scope_of(head), seen)
    }

    /// The row of a model.
    pub(super) fn row(
        &self,
        tx: &ReadTx<'_>,
        bank: BankKey,
        head: &ModelHead,
    ) -> store::Result<ModelRow> {
        let (state, parked_until) = self.state(head);
        // A document that waits for review or whose refresh failed is behind all the same.
        let fresh = self.fresh.get(&head.key);
        let reasons = fresh.map(|fresh| fresh.refresh_reasons.clone()).unwrap_or_default();
        let is_behind = reasons.contains(&RefreshReason::ScopeChanged);
        let newer = if is_behind { Some(self.count_newer(tx, bank, head)?) } else { None };
        let trigger = domain::trigger::StatedTrigger::from_stored(&head.trigger).0.effective();
        let queued = self.queued.get(&head.id).map(Vec::as_slice).unwrap_or_default();
        let next = |cron: Option<&str>| next_runs(cron, self.now, 1).pop();
        Ok(ModelRow {
            id: head.id.clone(),
            name: head.name.clone(),
            source_query: head.source_query.clone(),
            tags: head.tags.clone(),
            state,
            parked_until,
            held_reason: queued.iter().find_map(|op| op.held).map(|held| held.word().to_owned()),
            paused_until: head.paused_until.filter(|until| *until > self.now),
            failure_streak: head.failure_streak,
            delta_failures: head.delta_failures,
            last_refresh_failed_at: head.last_refresh_failed_at,
            next_run: next(trigger.refresh_cron.as_deref())
                .into_iter()
                .chain(next(trigger.full_refresh_cron.as_deref()))
                .min(),
            full_refresh_cron: trigger.full_refresh_cron,
            newer,
            refresh_reasons: reasons.into_iter().map(reason_word).collect(),
            mode: mode_word(trigger.mode).to_owned(),
            refresh_cron: trigger.refresh_cron,
            refresh_after_consolidation: trigger.refresh_after_consolidation,
            review: match head.review {
                Review::Auto => ReviewMode::Auto,
                Review::Manual => ReviewMode::Manual,
            },
            version: head.version,
            placeholder: head.placeholder,
            last_refreshed_at: head.last_refreshed_at,
            last_memory_seen_at: head.last_memory_seen_at,
            open_proposal: self.waiting.get(&head.key).map(|(head, n)| OpenProposal {
                id: head.id.clone(),
                number: head.number,
                operations: *n,
            }),
            document_tokens: head.document_tokens.unwrap_or(0),
            max_tokens: head.max_tokens,
            created_at: head.created_at,
        })
    }
}

/// The next runs of a schedule; none of one that cannot be read.
fn next_runs(cron: Option<&str>, now: Instant, count: usize) -> Vec<Instant> {
    let cron = cron.and_then(|text| Cron::parse(text).ok());
    cron.map(|cron| cron.next_runs(now, count)).unwrap_or_default()
}

fn reason_word(reason: RefreshReason) -> String {
    match reason {
        RefreshReason::NeverRefreshed => "never_refreshed",
        RefreshReason::ScopeChanged => "scope_changed",
        RefreshReason::GroundingRetracted => "grounding_retracted",
        RefreshReason::QueryChanged => "query_changed",
        RefreshReason::CarryOver => "carry_over",
    }
    .to_owned()
}

/// The word of a mode.
pub(super) fn mode_word(mode: domain::trigger::RefreshMode) -> &'static str {
    match mode {
        domain::trigger::RefreshMode::Full => "full",
        domain::trigger::RefreshMode::Delta => "delta",
    }
}

/// A model with its document.
pub(super) fn detail(
    tx: &ReadTx<'_>,
    bank: BankKey,
    id: &ModelId,
    now: Instant,
) -> store::Result<ModelDetail> {
    let loaded = Loaded::get(tx, bank, id)?;
    let head = &loaded.row.head;
    let around = Around::read(tx, bank, std::slice::from_ref(head), now)?;
    let mut row = around.row(tx, bank, head)?;
    row.document_tokens = tokens(&loaded.row.content);
    // A list leaves this out for models that were never refreshed: each would cost a count.
    if row.newer.is_none() && around.fresh.get(&head.key).is_some_and(|fresh| fresh.is_stale) {
        row.newer = Some(around.count_newer(tx, bank, head)?);
    }
    let cited: Vec<Citation> = loaded
        .evidence
        .iter()
        .flat_map(|evidence| evidence.based_on.values().flatten())
        .cloned()
        .collect();
    Ok(ModelDetail {
        model: row,
        blame: super::blame::list(tx, bank, &loaded)?,
        locks: super::locks::views(tx, loaded.key())?,
        publish: super::published::view(tx, loaded.key())?,
        page_id: store::kb::of_model(tx, loaded.key())?.map(|node| node.id),
        based_on: evidence_items(tx, bank, &cited)?,
        extractive: is_extractive(loaded.evidence.as_ref()),
        newer: newer(tx, bank, &loaded)?,
        last_run: loaded.row.last_run.as_ref().and_then(last_run),
        structured_stale: loaded.evidence.as_ref().is_some_and(|evidence| {
            evidence.structured_output.is_some()
                && (evidence.structured_output_version != Some(loaded.row.head.version)
                    || evidence.structured_output_schema
                        != super::refresh::structured::name_of_schema(&loaded))
        }),
        warnings: Vec::new(),
        structured_output: loaded
            .evidence
            .as_ref()
            .and_then(|evidence| evidence.structured_output.clone()),
        guidance: super::guidance::items(tx, bank, &loaded.guidance)?,
        next_runs: next_runs(loaded.trigger.refresh_cron.as_deref(), now, SHOWN_RUNS),
        next_full_runs: next_runs(loaded.trigger.full_refresh_cron.as_deref(), now, SHOWN_RUNS),
        last_full_refreshed_at: head.last_full_refreshed_at,
        stated_keys: loaded.stated.stated_keys(),
        content: loaded.row.content,
        structure: loaded.document,
        trigger: loaded.trigger,
    })
}

/// Whether a document was made without a language model: such evidence names no synthesis.
pub(super) fn is_extractive(evidence: Option<&model::PublishedEvidence>) -> bool {
    evidence.is_some_and(|evidence| evidence.text == super::refresh::EXTRACTIVE)
}

fn last_run(stored: &serde_json::Value) -> Option<LastRun> {
    let run: model::LastRun = super::loaded::from_json(stored)?;
    let report: Option<Report> = stored.get("report").and_then(super::loaded::from_json);
    Some(LastRun {
        operation: run.operation_id,
        started_at: run.started_at,
        finished_at: run.finished_at,
        requested_mode: mode_word(run.requested_mode).to_owned(),
        effective_mode: mode_word(run.effective_mode).to_owned(),
        mode_fallback_reason: run.mode_fallback_reason.map(|reason| word_of(&reason)),
        outcome: word_of(&run.outcome),
        report,
        warnings: run.warnings.into_iter().map(warning).collect(),
        trace: run.trace,
    })
}

/// The wire's word of a value that is one.
pub(super) fn word_of<T: serde::Serialize>(value: &T) -> String {
    super::loaded::to_json(value).as_str().unwrap_or_default().to_owned()
}

/// A warning for screens.
pub(super) fn warning(warning: model::RunWarning) -> RunWarning {
    RunWarning { code: warning.code, message: warning.text }
}

/// What a refresh would read, newest first.
fn newer(tx: &ReadTx<'_>, bank: BankKey, loaded: &Loaded) -> store::Result<Vec<EvidenceItem>> {
    let scope = search_scope(tx, bank, &loaded.scope)?;
    let seen = loaded.row.head.last_memory_seen_seq.unwrap_or(0);
    let scope = store::search::Scope { after_seq: Some(seen), ..scope };
    let found = store::reviews::newest_in(tx, &scope, NEWER_SHOWN)?;
    Ok(memories::by_keys(tx, &found)?.iter().map(item_of_memory).collect())
}

/// A memory as evidence.
pub(super) fn item_of_memory(memory: &memories::Memory) -> EvidenceItem {
    EvidenceItem {
        id: memory.id.0.clone(),
        text: memory.text.clone(),
        kind: memory.fact_type.word().to_owned(),
        context: memory.context.clone(),
        occurred_start: memory.occurred_start,
        mentioned_at: memory.mentioned_at,
        document: memory.document_title.clone(),
        first_cited_version: None,
        gone: memory.state == memories::State::Invalidated,
    }
}

/// Citations with what is known of their memories now. The text stays as it was read.
pub(super) fn evidence_items(
    tx: &ReadTx<'_>,
    bank: BankKey,
    cited: &[Citation],
) -> store::Result<Vec<EvidenceItem>> {
    let is_memory = |cited: &&Citation| model::MEMORY_KINDS.contains(&cited.kind.as_str());
    let ids: Vec<MemoryId> =
        cited.iter().filter(is_memory).map(|cited| MemoryId(cited.id.clone())).collect();
    let found: HashMap<String, memories::Memory> = memories::by_ids(tx, bank, &ids)?
        .into_iter()
        .map(|memory| (memory.id.0.clone(), memory))
        .collect();
    Ok(cited
        .iter()
        .map(|cited| {
            let memory = found.get(&cited.id);
            let valid = memory.is_some_and(|memory| memory.state == memories::State::Valid);
            EvidenceItem {
                id: cited.id.clone(),
                text: cited.text.clone(),
                kind: cited.kind.clone(),
                context: cited.context.clone(),
                occurred_start: cited.occurred_start,
                mentioned_at: cited.mentioned_at,
                document: memory.and_then(|memory| memory.document_title.clone()),
                first_cited_version: cited.first_cited_version,
                gone: is_memory(&cited) && !valid,
            }
        })
        .collect())
}

/// Wraps a value for the boundary.
pub(super) fn json(value: serde_json::Value) -> Json {
    Json(value)
}
