//! What a run stands on before its first search: bank, settings, directives, the scope with fuzzy
//! tags resolved, and which tools there are. Read once, in one snapshot.

use super::request::ReflectRequest;
use crate::{Engine, Result, fresh};
use domain::bank::BankSettings;
use domain::directives::{DirectiveSelection, RunScope, item_visible, select_directives};
use domain::tags::TagSet;
use domain::tool_calls::{
    DONE, EXPAND, RECALL, SEARCH_MENTAL_MODELS, SEARCH_OBSERVATIONS, ToolDefaults,
};
use domain::trace::Warning;
use domain::{FactType, ModelId};
use std::collections::BTreeSet;
use store::banks::Bank;
use store::models::{ModelCursor, ModelHead};
use store::{BankKey, ReadTx};

/// Models read at a time while looking for visible ones.
const PAGE: u32 = 200;

/// Everything that stays the same during a run.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    pub(super) bank: Bank,
    pub(super) settings: BankSettings,
    pub(super) directives: DirectiveSelection,
    /// The scope with what its fuzzy tags stand for.
    pub(super) scope: RunScope,
    /// Tags whose memories must not reach the language model.
    pub(super) leave_out: TagSet,
    /// Facts in use that the run would read but for such a tag; observations where it reads those
    /// alone.
    pub(super) held_back: u32,
    /// Facts of the bank that wait for consolidation.
    pub(super) pending: u32,
    /// Those in scope.
    pub(super) pending_in_scope: u32,
    /// Tools of the run, in the order of the ladder.
    pub(super) tools: Vec<String>,
    /// Their budgets.
    pub(super) defaults: ToolDefaults,
    /// Seconds of the whole run, where bank or program state them.
    pub(super) wall: Option<u32>,
}

/// Reads what a run needs. `far` tells that texts leave the machine.
pub(super) async fn prepare(
    engine: &Engine,
    request: &ReflectRequest,
    far: bool,
) -> Result<Prepared> {
    let request = request.clone();
    engine.store().read_as(move |tx| read(tx, &request, far)).await
}

fn read(tx: &ReadTx<'_>, request: &ReflectRequest, far: bool) -> Result<Prepared> {
    let bank = store::banks::get(tx, &request.bank)?;
    let mut settings = crate::settings::of_bank(tx, &bank)?;
    if let Some(own) = request.disposition {
        settings.disposition_skepticism = Some(own.skepticism);
        settings.disposition_literalism = Some(own.literalism);
        settings.disposition_empathy = Some(own.empathy);
    }
    let scope = resolved(tx, bank.key, &request.scope)?;
    let leave_out = if far { settings.local_only() } else { TagSet::default() };
    let directives = super::directives::of_bank(tx, bank.key)?;
    let waiting = store::freshness::pending(tx, bank.key)?;
    let sets = store::tag_sets::tags_of(tx, waiting.iter().map(|(set, _)| *set))?;
    let in_scope = waiting.iter().filter(|(set, _)| {
        sets.get(set).is_some_and(|tags| item_visible(&TagSet::new(tags), &scope))
    });
    let visible_models = !request.exclude_models.all
        && any_visible(tx, bank.key, &scope, &request.exclude_models.ids)?;
    let program = crate::settings::program_stated(tx)?.to_json();
    let stated = |key: &str| [&bank.config, &program].iter().any(|all| !all[key].is_null());
    Ok(Prepared {
        held_back: held_back(tx, bank.key, request, &scope, &leave_out)?,
        wall: stated("reflect_wall_timeout").then_some(settings.reflect_wall_timeout),
        directives: select_directives(directives, &scope, request.directives),
        leave_out,
        pending: waiting.iter().map(|(_, n)| *n).sum(),
        pending_in_scope: in_scope.map(|(_, n)| *n).sum(),
        tools: tools(request, &settings, visible_models),
        defaults: defaults(request, &settings, &stated),
        scope,
        bank,
        settings,
    })
}

/// How many memories the run would read if none had to stay on this machine. Observations are made
/// of facts, so that beside those they would be counted twice.
fn held_back(
    tx: &ReadTx<'_>,
    bank: BankKey,
    request: &ReflectRequest,
    scope: &RunScope,
    leave_out: &TagSet,
) -> Result<u32> {
    if leave_out.is_empty() {
        return Ok(0);
    }
    let private = |tags: &BTreeSet<String>| {
        let tags = TagSet::new(tags);
        tags.overlaps(leave_out) && item_visible(&tags, scope)
    };
    let asked = request.fact_types.as_deref().unwrap_or(&FactType::ALL);
    let facts = asked.iter().copied().filter(|kind| *kind != FactType::Observation);
    let facts: Vec<FactType> = facts.collect();
    let within = store::search::Scope {
        types: if facts.is_empty() { asked.to_vec() } else { facts },
        tag_sets: store::tag_sets::matching(tx, bank, private)?,
        up_to_seq: request.window.cutoff_seq,
        ..store::search::Scope::all(bank)
    };
    let after = request.window.after_seq.unwrap_or(0);
    Ok(store::freshness::count_newer(tx, &within, after, u32::MAX)?)
}

/// Tells a reader what was kept from the language model; nothing when nothing was.
pub(super) fn kept_from_model(held_back: u32) -> Option<Warning> {
    let words = match held_back {
        0 => return None,
        1 => "1 private memory was held back from this model.".to_owned(),
        n => format!("{n} private memories were held back from this model."),
    };
    Some(Warning::new("memories_held_back", words))
}

/// A scope with what its fuzzy tags stand for in a bank.
pub(super) fn resolved(tx: &ReadTx<'_>, bank: BankKey, scope: &RunScope) -> Result<RunScope> {
    let mut scope = scope.clone();
    if domain::fuzzy::any_fuzzy(&scope.tag_groups) {
        let pool = TagSet::new(store::tag_sets::pool(tx, bank)?);
        scope.resolved = domain::fuzzy::resolve(&scope.tag_groups, &pool)
            .map_err(|why| crate::report::fault(why.word()))?;
    }
    Ok(scope)
}

/// Whether a run may read a model: it has a document, its tags fit, and it is not excluded.
pub(super) fn model_visible(head: &ModelHead, scope: &RunScope, excluded: &[ModelId]) -> bool {
    let tags: BTreeSet<String> = head.tags.iter().cloned().collect();
    !head.placeholder && !excluded.contains(&head.id) && item_visible(&fresh::tag_set(&tags), scope)
}

/// Whether any model may be read by a run of this scope.
pub(crate) fn any_visible(
    tx: &ReadTx<'_>,
    bank: BankKey,
    scope: &RunScope,
    excluded: &[ModelId],
) -> store::Result<bool> {
    let sets = store::tag_sets::matching(tx, bank, |tags| item_visible(&TagSet::new(tags), scope))?;
    let mut cursor: Option<ModelCursor> = None;
    loop {
        let (heads, next) = store::models::list(tx, bank, &sets, cursor, PAGE)?;
        if heads.iter().any(|head| model_visible(head, scope, excluded)) {
            return Ok(true);
        }
        match next {
            Some(next) => cursor = Some(next),
            None => return Ok(false),
        }
    }
}

fn tools(request: &ReflectRequest, settings: &BankSettings, models: bool) -> Vec<String> {
    let kinds = request.fact_types.as_deref().unwrap_or(&FactType::ALL);
    let observations = kinds.contains(&FactType::Observation);
    let facts = kinds.iter().any(|kind| *kind != FactType::Observation);
    [
        (SEARCH_MENTAL_MODELS, models),
        (SEARCH_OBSERVATIONS, observations),
        (RECALL, facts),
        (EXPAND, settings.store_document_text),
        (DONE, true),
    ]
    .into_iter()
    .filter(|(_, exists)| *exists)
    .map(|(name, _)| name.to_owned())
    .collect()
}

// What the call states, else what bank or program state, else what the budget gives.
fn defaults(
    request: &ReflectRequest,
    settings: &BankSettings,
    stated: &dyn Fn(&str) -> bool,
) -> ToolDefaults {
    let budget = ToolDefaults::of(request.budget);
    let set = |key: &str, value: u32| stated(key).then_some(value);
    ToolDefaults {
        observation_tokens: request
            .observations_max_tokens
            .or(settings.reflect_search_observations_max_tokens)
            .unwrap_or(budget.observation_tokens),
        recall_tokens: request
            .recall_max_tokens
            .or(set("recall_max_tokens", settings.recall_max_tokens))
            .unwrap_or(budget.recall_tokens),
        chunk_tokens: request
            .chunks_max_tokens
            .or(set("recall_chunks_max_tokens", settings.recall_chunks_max_tokens))
            .unwrap_or(budget.chunk_tokens),
    }
}
