//! What a refresh begins with, read in one snapshot: the model, its mode, its scope, how far the data
//! goes, what is new in it, and what became of the facts that the document cites.

use crate::fresh;
use crate::fresh::tag_set;
use crate::models::loaded::{Loaded, clocks, from_json, load_provenance, search_scope};
use crate::view::refresh::Retraction;
use domain::bank::BankSettings;
use domain::delta::Rules;
use domain::directives::RunScope;
use domain::model::{CarryOver, Citation, Guidance, live_guidance};
use domain::provenance::Provenance;
use domain::refresh::{
    Idle, IdleInput, ModeInput, ModePlan, Unreadable, Watermark, plan_idle, plan_mode,
};
use domain::retract::{self, Partition, Standing, partition_retracted};
use domain::tags::TagSet;
use domain::trigger::{RefreshMode, StatedTrigger};
use domain::{Instant, MemoryId, ModelId};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use store::memories::{self, Memory, State};
use store::models::provenance;
use store::search::Scope;
use store::{BankKey, ReadTx};

/// More memories than this in a window are searched instead of read one by one.
pub(crate) const READ_WHOLE: u32 = 500;

/// A refresh before its first call.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) model: Loaded,
    pub(crate) mode: ModePlan,
    pub(crate) idle: Option<Idle>,
    /// How far the bank's data goes; later writes are for the next run.
    pub(crate) cutoff_seq: i64,
    /// The newest memory in scope up to there.
    pub(crate) newest: Option<Watermark>,
    /// Lower bound of the window (exclusive); none reads everything in scope.
    pub(crate) after_seq: Option<i64>,
    /// Memories in the window, counted as far as [`READ_WHOLE`].
    pub(crate) window_count: u32,
    /// The window's memories with those carried over; empty when there are more than
    /// [`READ_WHOLE`] or everything is read anyway.
    pub(crate) window: Vec<Memory>,
    /// Carried facts that still exist and are in scope.
    pub(crate) carried: Vec<CarryOver>,
    pub(crate) guidance: Vec<Guidance>,
    /// Those of its notes that were written on changes with private memories: words about them.
    pub(crate) private_notes: Vec<Guidance>,
    pub(crate) origins: Provenance,
    pub(crate) partition: Partition,
    /// Facts taken back whose statement stands in scope again under another name: by the old id.
    pub(crate) successors: HashMap<String, Citation>,
    /// Texts of cited facts as they were read, by id.
    pub(crate) cited_texts: HashMap<String, String>,
    pub(crate) locks: HashSet<String>,
    /// Settings in force, with what the trigger states laid over them.
    pub(crate) settings: BankSettings,
    /// What a prompt would show of the document must not leave this machine.
    pub(crate) stays_here: bool,
    /// The output schema is another one than that of the stored value.
    pub(crate) schema_changed: bool,
    /// How the scope reads now, and how it read when the document was written, where that differs.
    pub(crate) scope_words: (String, Option<String>),
    /// When the bank was last written, up to the cutoff.
    pub(crate) cutoff_at: Option<Instant>,
    /// When the run began.
    pub(crate) started_at: Instant,
}

impl Plan {
    /// The document has published text that a person or a refresh wrote.
    pub(crate) fn has_baseline(&self) -> bool {
        !self.model.row.content.trim().is_empty() && !self.model.row.head.placeholder
    }

    /// Rules of an ordinary delta.
    pub(crate) fn rules(&self) -> Rules {
        Rules { locks: self.locks.clone(), ..Rules::default() }
    }

    /// Ids of facts that carried over and are offered now.
    pub(crate) fn offered(&self) -> BTreeSet<String> {
        self.carried.iter().map(|entry| entry.fact_id.clone()).collect()
    }

    /// Facts acted on as taken back, those with a successor among them.
    pub(crate) fn retracted(&self) -> BTreeSet<String> {
        self.partition.act.iter().map(|fact| fact.id.clone()).collect()
    }

    /// Facts that are gone for good: nothing says the same any more.
    pub(crate) fn withdrawn(&self) -> BTreeSet<String> {
        let gone = self.partition.act.iter().map(|fact| fact.id.clone());
        gone.filter(|id| !self.successors.contains_key(id)).collect()
    }

    /// Retractions that are left for the next refresh, because successors may be on their way.
    pub(crate) fn put_off(&self) -> Option<Retraction> {
        let facts = &self.partition.deferred;
        self.partition.deferred_reason.map(|reason| Retraction {
            fact_ids: facts.iter().map(|fact| fact.id.clone()).collect(),
            fact_texts: facts.iter().map(|fact| fact.text.clone()).collect(),
            applied: false,
            deferred_reason: Some(crate::models::show::word_of(&reason)),
        })
    }

    /// Whether there is anything for the run to read besides what was taken back.
    pub(crate) fn reads_something(&self) -> bool {
        self.mode.effective == RefreshMode::Full
            || self.window_count > 0
            || !self.carried.is_empty()
    }

    /// The same plan for a language model elsewhere.
    pub(crate) fn without_private_notes(&self) -> Self {
        let guidance = self.guidance.iter().filter(|entry| !self.private_notes.contains(entry));
        Self { guidance: guidance.cloned().collect(), ..self.clone() }
    }

    /// Facts behind changes that a person declined; they are not offered again.
    pub(crate) fn declined(&self) -> BTreeSet<String> {
        let facts = |entry: &Guidance| match entry {
            Guidance::Declined { fact_ids, .. } => fact_ids.clone(),
            Guidance::Note { .. } => Vec::new(),
        };
        self.guidance.iter().flat_map(facts).collect()
    }

    /// The lower bound of the window as a moment.
    pub(crate) fn after_at(&self) -> Option<Instant> {
        self.after_seq.and(self.model.row.head.last_memory_seen_at)
    }

    /// The scope was changed since the document was written, so that everything in it is read.
    pub(crate) fn reads_all_again(&self) -> bool {
        let head = &self.model.row.head;
        self.mode.effective == RefreshMode::Delta
            && self.after_seq.is_none()
            && head.last_refreshed_source_query.is_some()
    }
}

/// Reads the plan. The inner error is a document that nobody can read.
pub(super) fn read(
    tx: &ReadTx<'_>,
    bank: BankKey,
    id: &ModelId,
    forced_full: bool,
    may_read_models: bool,
    now: Instant,
) -> store::Result<Result<Plan, Unreadable>> {
    read_of(tx, bank, Loaded::get(tx, bank, id)?, forced_full, may_read_models, now)
}

/// The plan of a delta that has nothing to read and nothing to extract; none when there is more to
/// it, which is mostly seen without reading it all.
pub(super) fn idle(
    tx: &ReadTx<'_>,
    bank: BankKey,
    id: &ModelId,
    may_read_models: bool,
    now: Instant,
) -> store::Result<Option<Plan>> {
    let Some(row) = store::models::find(tx, bank, id)? else { return Ok(None) };
    let model = Loaded::of(row);
    let Some(seen) = model.row.head.last_memory_seen_seq else { return Ok(None) };
    let trigger = &model.trigger;
    let may_be = trigger.mode == RefreshMode::Delta
        && trigger.response_schema.is_none()
        && model.carry_over.is_empty();
    if !may_be
        || store::freshness::count_newer(tx, &search_scope(tx, bank, &model.scope)?, seen, 1)? > 0
    {
        return Ok(None);
    }
    let plan = read_of(tx, bank, model, false, may_read_models, now)?;
    Ok(plan.ok().filter(|plan| plan.idle.is_some()))
}

fn read_of(
    tx: &ReadTx<'_>,
    bank: BankKey,
    model: Loaded,
    forced_full: bool,
    may_read_models: bool,
    now: Instant,
) -> store::Result<Result<Plan, Unreadable>> {
    let origins = load_provenance(tx, model.key())?;
    let mode = match mode(&model, &origins, forced_full) {
        Ok(mode) => mode,
        Err(unreadable) => return Ok(Err(unreadable)),
    };
    let of_bank = store::banks::by_key(tx, bank)?;
    let settings = crate::settings::of_bank(tx, &of_bank)?.for_trigger(&model.trigger);
    let cutoff_seq = of_bank.write_seq;
    let scope = Scope { up_to_seq: Some(cutoff_seq), ..search_scope(tx, bank, &model.scope)? };
    let delta = mode.effective == RefreshMode::Delta;
    let after_seq = model.row.head.last_memory_seen_seq.filter(|_| delta);
    let window_scope = Scope { after_seq, ..scope.clone() };
    let window_count =
        store::freshness::count_newer(tx, &window_scope, after_seq.unwrap_or(0), READ_WHOLE + 1)?;
    let newest = match clocks(&model.row.head).watermark.filter(|_| delta && window_count == 0) {
        // Nothing lies beyond it, and it stands even where its own memory is gone.
        Some(seen) if store::freshness::count_newer(tx, &scope, 0, 1)? > 0 => Some(seen),
        Some(_) | None => newest(tx, &scope, cutoff_seq)?,
    };
    let (cited_texts, partition) = retractions(tx, bank, &model)?;
    let carried = carried(tx, bank, &model)?;
    let seqs = guidance_seqs(tx, bank, &model)?;
    let guidance = live_guidance(&model.guidance, |id| seqs.get(id).copied());
    let window =
        if delta { window(tx, bank, &window_scope, window_count, &carried)? } else { Vec::new() };
    let sees_sibling = may_read_models && sees_sibling(tx, bank, &model)?;
    let successors = successors(tx, &scope, &model, &partition)?;
    let idle = plan_idle(&IdleInput {
        mode: mode.effective,
        scope_has_memory: newest.is_some(),
        window_has_memory: window_count > 0,
        has_carry_over: !carried.is_empty(),
        has_retraction: delta && !partition.act.is_empty(),
        sees_sibling,
    });
    let locks = provenance::locks(tx, model.key())?;
    Ok(Ok(Plan {
        mode,
        idle,
        cutoff_seq,
        newest,
        after_seq,
        window_count,
        window,
        carried,
        private_notes: private_notes(tx, bank, &guidance, &settings.local_only())?,
        guidance,
        origins,
        partition,
        successors,
        cited_texts,
        stays_here: model.stays_here(tx, &settings.local_only())?,
        schema_changed: schema_changed(&model),
        scope_words: scope_words(tx, &model)?,
        settings,
        cutoff_at: of_bank.last_memory_write_at,
        locks: locks.into_iter().map(|lock| lock.element).collect(),
        started_at: now,
        model,
    }))
}

/// The newest memory of a scope.
fn newest(tx: &ReadTx<'_>, scope: &Scope, cutoff_seq: i64) -> store::Result<Option<Watermark>> {
    let newest = store::freshness::newest(tx, scope.bank, Some(cutoff_seq))?;
    let newest = newest.within(&scope.types, &scope.tag_sets);
    crate::models::proposals::watermark(tx, scope.bank, newest)
}

fn mode(model: &Loaded, origins: &Provenance, forced_full: bool) -> Result<ModePlan, Unreadable> {
    let head = &model.row.head;
    plan_mode(&ModeInput {
        mode: model.trigger.mode,
        forced_full,
        content: &model.row.content,
        placeholder: head.placeholder,
        authored: model.is_authored(origins),
        grounded: model.evidence.as_ref().is_some_and(|evidence| !evidence.based_on.is_empty()),
        source_query: &head.source_query,
        last_refreshed_source_query: head.last_refreshed_source_query.as_deref(),
        // A stored structure that does not stand for its content is parsed anew, which cannot fail.
        readable: true,
        delta_failures: head.delta_failures,
        delta_failure_limit: model.trigger.delta_failure_limit,
        delta_failure_policy: model.trigger.delta_failure_policy,
    })
}

/// What became of the cited facts, and their texts as cited.
fn retractions(
    tx: &ReadTx<'_>,
    bank: BankKey,
    model: &Loaded,
) -> store::Result<(HashMap<String, String>, Partition)> {
    let cited = provenance::citations(tx, model.key())?;
    let ids: Vec<MemoryId> = cited.iter().map(|row| row.memory.clone()).collect();
    let said = memories::texts(tx, bank, &ids)?;
    let stones: HashMap<MemoryId, store::tombstones::Tombstone> =
        store::tombstones::of_memories(tx, bank, &ids)?
            .into_iter()
            .map(|stone| (stone.memory.clone(), stone))
            .collect();
    let struck: Vec<MemoryId> = stones.keys().cloned().collect();
    let reads: HashSet<MemoryId> = memories::by_ids(tx, bank, &struck)?
        .into_iter()
        .filter(|memory| memory.state == State::Valid)
        .filter(|memory| model.scope.keeps(&tag_set(&memory.tags), memory.fact_type))
        .map(|memory| memory.id)
        .collect();
    let standing = |id: &MemoryId| {
        let text = said.get(id).filter(|(state, _)| *state == State::Valid).map(|(_, text)| text);
        match (stones.get(id), text) {
            (Some(stone), text) => Standing::Tombstoned {
                cause: fresh::cause(stone.cause),
                in_scope: reads.contains(id),
                text: text.cloned(),
            },
            (None, Some(text)) => Standing::Live { text: text.clone() },
            (None, None) => Standing::Missing,
        }
    };
    let mut texts = HashMap::new();
    let mut all = Vec::new();
    for row in cited {
        let now = standing(&row.memory);
        texts.insert(row.memory.0.clone(), row.text.clone());
        let citation =
            retract::Citation { id: row.memory.0, fact_type: row.fact_type, text: row.text };
        all.push((citation, now));
    }
    let pending = store::freshness::is_pending(tx, bank)?;
    Ok((texts, partition_retracted(&all, pending)))
}

/// Carried facts whose memory is still valid and still something that the model reads.
fn carried(tx: &ReadTx<'_>, bank: BankKey, model: &Loaded) -> store::Result<Vec<CarryOver>> {
    let ids: Vec<MemoryId> =
        model.carry_over.iter().map(|entry| MemoryId(entry.fact_id.clone())).collect();
    let valid: HashSet<String> = memories::by_ids(tx, bank, &ids)?
        .into_iter()
        .filter(|memory| memory.state == State::Valid)
        .filter(|memory| model.scope.keeps(&tag_set(&memory.tags), memory.fact_type))
        .map(|memory| memory.id.0)
        .collect();
    Ok(model.carry_over.iter().filter(|entry| valid.contains(&entry.fact_id)).cloned().collect())
}

fn guidance_seqs(
    tx: &ReadTx<'_>,
    bank: BankKey,
    model: &Loaded,
) -> store::Result<HashMap<String, i64>> {
    let mut ids = Vec::new();
    for entry in &model.guidance {
        if let Guidance::Declined { fact_ids, .. } = entry {
            ids.extend(fact_ids.iter().map(|id| MemoryId(id.clone())));
        }
    }
    let found = memories::by_ids(tx, bank, &ids)?;
    Ok(found.into_iter().map(|memory| (memory.id.0, memory.change_seq)).collect())
}

/// Notes on proposals that read a private memory. A note whose proposal is no longer kept is taken
/// for one, since nobody knows what it speaks of.
fn private_notes(
    tx: &ReadTx<'_>,
    bank: BankKey,
    guidance: &[Guidance],
    private: &TagSet,
) -> store::Result<Vec<Guidance>> {
    let mut found = Vec::new();
    if private.is_empty() {
        return Ok(found);
    }
    for entry in guidance {
        let Guidance::Note { proposal: Some(proposal), .. } = entry else { continue };
        let is_private = match store::proposals::find(tx, bank, proposal)? {
            Some(row) => {
                let facts: Vec<Citation> = from_json(&row.facts_used).unwrap_or_default();
                let ids: Vec<MemoryId> = facts.into_iter().map(|fact| MemoryId(fact.id)).collect();
                store::tag_sets::any_carries(tx, bank, &ids, private)?
            }
            None => true,
        };
        if is_private {
            found.push(entry.clone());
        }
    }
    Ok(found)
}

/// The memories of the window and the carried ones, oldest first.
fn window(
    tx: &ReadTx<'_>,
    bank: BankKey,
    scope: &Scope,
    count: u32,
    carried: &[CarryOver],
) -> store::Result<Vec<Memory>> {
    let keys = if count > READ_WHOLE {
        Vec::new()
    } else {
        store::reviews::newest_in(tx, scope, READ_WHOLE)?
    };
    let mut found = memories::by_keys(tx, &keys)?;
    let ids: Vec<MemoryId> = carried
        .iter()
        .map(|entry| MemoryId(entry.fact_id.clone()))
        .filter(|id| !found.iter().any(|memory| memory.id == *id))
        .collect();
    found.extend(memories::by_ids(tx, bank, &ids)?);
    found.sort_by_key(|memory| memory.change_seq);
    Ok(found)
}

/// For facts that were taken back, memories of the scope that state the same in the same words: the
/// fact was entered again, and the document need not unsay it.
fn successors(
    tx: &ReadTx<'_>,
    scope: &Scope,
    model: &Loaded,
    partition: &Partition,
) -> store::Result<HashMap<String, Citation>> {
    if partition.act.is_empty() {
        return Ok(HashMap::new());
    }
    // What is entered again is written after the document was: it is among the newest.
    let after_seq = model.row.head.last_memory_seen_seq;
    let keys = store::reviews::newest_in(tx, &Scope { after_seq, ..scope.clone() }, READ_WHOLE)?;
    let folded = |text: &str| domain::text::collapse_blanks(text).to_lowercase();
    let said: HashMap<String, Memory> = memories::by_keys(tx, &keys)?
        .into_iter()
        .map(|memory| (folded(&memory.text), memory))
        .collect();
    let again = partition.act.iter().filter_map(|fact| {
        let memory = said.get(&folded(&fact.text))?;
        (memory.id.0 != fact.id).then(|| (fact.id.clone(), super::drafted::cite(memory)))
    });
    Ok(again.collect())
}

/// Whether the stored structured value was made by another schema than the present one.
fn schema_changed(model: &Loaded) -> bool {
    let (Some(schema), Some(evidence)) = (&model.trigger.response_schema, &model.evidence) else {
        return false;
    };
    evidence.structured_output.is_some()
        && evidence.structured_output_schema.as_ref()
            != Some(&super::structured::schema_hash(&schema.0))
}

/// The scope in words, and that of the published version where it is another one.
fn scope_words(tx: &ReadTx<'_>, model: &Loaded) -> store::Result<(String, Option<String>)> {
    let now = words_of(&model.scope);
    let head = &model.row.head;
    if head.version == 0 {
        return Ok((now, None));
    }
    let Some(settings) = store::versions::settings(tx, head.key, head.version)? else {
        return Ok((now, None));
    };
    let tags: Vec<String> = from_json(&settings["tags"]).unwrap_or_default();
    let trigger = StatedTrigger::from_stored(&settings["trigger"]).0.effective();
    let then = domain::scope::Scope::resolve(head.id.as_str(), &tags, &trigger);
    let changed = !then.reads_same(&model.scope);
    Ok((now, changed.then(|| words_of(&then))))
}

fn words_of(scope: &domain::scope::Scope) -> String {
    let kinds = scope.fact_types.as_ref().map_or_else(String::new, |types| {
        let words: Vec<&str> = types.iter().map(|kind| kind.word()).collect();
        format!(", only {}", words.join(" and "))
    });
    let reach = match (&scope.tag_groups, scope.tags.as_deref()) {
        (Some(_), _) => "a combination of tags".to_owned(),
        (None, None | Some([])) => "all memories".to_owned(),
        (None, Some(tags)) => format!("tags {} ({})", tags.join(", "), scope.tags_match.word()),
    };
    reach + &kinds
}

/// Whether the run may read another model that says something: by the very rule of the tool.
fn sees_sibling(tx: &ReadTx<'_>, bank: BankKey, model: &Loaded) -> store::Result<bool> {
    if model.scope.exclude_mental_models {
        return Ok(false);
    }
    let scope = run_scope(&model.scope);
    let excluded: Vec<ModelId> =
        model.scope.exclude_mental_model_ids.iter().cloned().map(ModelId).collect();
    crate::reflect::any_model_visible(tx, bank, &scope, &excluded)
}

/// The scope of a model as the loop takes it.
pub(crate) fn run_scope(scope: &domain::scope::Scope) -> RunScope {
    RunScope {
        tags: TagSet::new(scope.tags.iter().flatten()),
        tags_match: scope.tags_match,
        tag_groups: scope.tag_groups.clone().unwrap_or_default(),
        ..RunScope::default()
    }
}

/// Types of memories, for counts by type.
pub(super) fn by_type<'a>(kinds: impl Iterator<Item = &'a str>) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for kind in kinds {
        *counts.entry(kind.to_owned()).or_default() += 1;
    }
    counts
}
