//! Finding memories in four ways at once: by meaning, by words, through shared entities and links,
//! by time; then one order out of the four. Every filter is part of each way, so that none of them
//! is cut before it is filtered. A way that fails fails the search: it is never taken as empty.
//! Nothing here writes.

mod order;
mod temporal;
mod ways;
mod words;

pub(crate) use order::names;

use crate::report::fault;
use crate::{Engine, Result};
use domain::fusion::{BudgetFunction, Way, candidate_budget};
use domain::reflect::Budget;
use domain::tag_group::TagFilter;
use domain::tags::TagSet;
use domain::temporal::{TemporalRule, TimeWindow};
use domain::tokens::{Cl100k, TokenCounter};
use domain::{BankId, FactType, Instant, MemoryId, Score};
use store::memories::Memory;
use store::search::Scope;
use store::tag_sets::{self, TagSets};
use store::{BankKey, ReadTx};
use tokio_util::sync::CancellationToken;

/// Fused candidates that are looked at more closely (memory 12.7).
pub(crate) const MAX_CANDIDATES: usize = 300;

/// Tokens of a question that are read; the rest is cut off (memory 12).
const MAX_QUERY_TOKENS: u32 = 500;

/// A search. Start from [`SearchRequest::new`] and change what differs.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// The bank. Nothing crosses banks.
    pub bank: BankId,
    /// What is looked for; any text is legal.
    pub query: String,
    /// How widely.
    pub budget: Budget,
    /// Kinds, none twice.
    pub fact_types: Vec<FactType>,
    /// Which tags a memory must carry.
    pub filter: TagFilter,
    /// Memories with one of these tags are left out, whatever else holds: the tags that must not
    /// reach the endpoint that the result is meant for.
    pub leave_out: TagSet,
    /// Only memories written after this sequence number (exclusive).
    pub after_seq: Option<i64>,
    /// Only memories written up to this sequence number (inclusive).
    pub cutoff_seq: Option<i64>,
    /// Only memories changed after this moment (exclusive).
    pub updated_after: Option<Instant>,
    /// Only memories changed before this moment (exclusive).
    pub updated_before: Option<Instant>,
    /// The moment that relative words and recency count from; now when absent.
    pub anchor: Option<Instant>,
    /// A window instead of the one that is read from the query; it ranks, it does not filter.
    pub window: Option<TimeWindow>,
    /// Leave out facts that a shown observation was folded from.
    pub prefer_observations: bool,
    /// Take the lists of the ways by turns instead of adding up their ranks, so that the best of
    /// each way comes early however few ways found it.
    pub interleave: bool,
    /// Tokens that the texts of the hits may hold together; no bound when absent.
    pub max_tokens: Option<u32>,
    /// Hits at most; no bound of its own when absent.
    pub limit: Option<usize>,
    /// Tokens of the query that are read; the rest is cut off.
    pub query_tokens: u32,
    /// What is looked up beside the memories.
    pub want: Want,
}

/// What a hit carries beside its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Want {
    /// Names of entities.
    pub entities: bool,
    /// Ids of the facts that an observation was folded from.
    pub sources: bool,
}

impl SearchRequest {
    /// A search of a whole bank: every kind, no filter, 4096 tokens, entities and sources.
    #[must_use]
    pub fn new(bank: BankId, query: impl Into<String>, budget: Budget) -> Self {
        Self {
            bank,
            query: query.into(),
            budget,
            fact_types: FactType::ALL.to_vec(),
            filter: TagFilter::none(),
            leave_out: TagSet::default(),
            after_seq: None,
            cutoff_seq: None,
            updated_after: None,
            updated_before: None,
            anchor: None,
            window: None,
            prefer_observations: false,
            interleave: false,
            max_tokens: Some(4096),
            limit: None,
            query_tokens: MAX_QUERY_TOKENS,
            want: Want { entities: true, sources: true },
        }
    }

    /// The same within a model's scope: its tags or groups, and its kinds.
    #[must_use]
    pub fn within(mut self, scope: &domain::scope::Scope) -> Self {
        self.filter = filter_of(scope);
        if let Some(types) = &scope.fact_types {
            self.fact_types.clone_from(types);
        }
        self
    }
}

/// The tag filter of a model's scope.
#[must_use]
pub fn filter_of(scope: &domain::scope::Scope) -> TagFilter {
    TagFilter {
        tags: scope.tag_set(),
        tags_match: scope.tags_match,
        groups: scope.tag_groups.clone().unwrap_or_default(),
    }
}

/// What one way said of a hit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WayHit {
    /// The way.
    pub way: Way,
    /// The place in its list, from 1.
    pub rank: u32,
    /// Its own score: a cosine, a bm25 value, a sum of ties, a nearness.
    pub score: Score,
}

/// One found memory.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    /// The memory.
    pub memory: Memory,
    /// Names of its entities; an observation's are its sources'.
    pub entities: Vec<String>,
    /// For an observation, the facts that it was folded from.
    pub sources: Vec<MemoryId>,
    /// The score that ordered the hits; comparable within this outcome only.
    pub score: Score,
    /// What each way that found it said.
    pub ways: Vec<WayHit>,
    /// Its cosine with the query, whichever way found it; none without a vector.
    pub cosine: Option<f64>,
    /// Tokens of its text.
    pub tokens: u32,
}

/// A way that was not walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skipped {
    /// The way.
    pub way: Way,
    /// Stable word: `no_embedder`, `no_words`, `no_time_in_query`, `off`, `nothing_to_start_from`.
    pub reason: &'static str,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchOutcome {
    /// Best first.
    pub hits: Vec<SearchHit>,
    /// The window that ranked, and the rule that read it from the query.
    pub window: Option<(TimeWindow, Option<TemporalRule>)>,
    /// Ways that were not walked.
    pub skipped: Vec<Skipped>,
    /// Candidates that each walked way gave.
    pub found: Vec<(Way, u32)>,
    /// Tokens of the hits.
    pub tokens: u32,
    /// Whether hits were left out for want of tokens or by the limit.
    pub truncated: bool,
    /// The query's vector, so that the caller need not make it again.
    pub vector: Option<Vec<f32>>,
}

/// Searches.
///
/// # Errors
/// `bank_not_found`, `no_types`, `tag_vocabulary_too_large`, `too_many_exact_candidates`,
/// `cancelled`, and whatever failed in one of the ways.
pub async fn search(
    engine: &Engine,
    request: SearchRequest,
    cancel: &CancellationToken,
) -> Result<SearchOutcome> {
    if request.fact_types.is_empty() {
        return Err(fault("no_types").into());
    }
    let query = cleaned(&request.query, request.query_tokens);
    if query.is_empty() {
        return nothing(engine, &request).await;
    }
    let (words, heard) = words::apart(engine, &request, &query);
    let others = walk_the_others(engine, request, query, heard, cancel);
    // The words are asked for first: readers take their work in the order of asking, so that none
    // waits for words that no reader has begun to look for.
    let ((), outcome) = tokio::join!(biased; words, others);
    outcome
}

/// All ways but that by words, and the order of the whole.
async fn walk_the_others(
    engine: &Engine,
    request: SearchRequest,
    query: String,
    heard: words::Heard,
    cancel: &CancellationToken,
) -> Result<SearchOutcome> {
    let vector = engine.embedder().embed_one(&query, embed::Kind::Query, cancel).await?;
    check(cancel)?;
    let plan = Plan {
        window: window(engine, &request, &query),
        anchor: request.anchor.unwrap_or_else(|| engine.now()),
        query,
        vector: Some(vector),
        request,
    };
    let (engine, cancel) = (engine.clone(), cancel.clone());
    let store = engine.store().clone();
    store
        .read_as(move |tx| {
            let place = Place::read(tx, &plan.request)?;
            let found = ways::walk(tx, &engine, &place, &plan, heard, &cancel)?;
            check(&cancel)?;
            order::put_in_order(tx, place.bank.key, &place.settings, plan, found)
        })
        .await
}

/// Where a search looks, as one snapshot has it.
struct Place {
    bank: store::banks::Bank,
    settings: domain::bank::BankSettings,
    scope: Scope,
}

impl Place {
    fn read(tx: &ReadTx<'_>, request: &SearchRequest) -> Result<Self> {
        let bank = store::banks::get(tx, &request.bank)?;
        let settings = crate::settings::of_bank(tx, &bank)?;
        let scope = scope(tx, bank.key, request)?;
        Ok(Self { bank, settings, scope })
    }
}

/// A search as it is walked: the request with what was read from it.
pub(crate) struct Plan {
    pub(crate) request: SearchRequest,
    pub(crate) query: String,
    pub(crate) vector: Option<Vec<f32>>,
    pub(crate) window: Option<(TimeWindow, Option<TemporalRule>)>,
    pub(crate) anchor: Instant,
}

/// Candidates per way and kind.
pub(crate) fn breadth(settings: &domain::bank::BankSettings, request: &SearchRequest) -> usize {
    let tokens = request.max_tokens.unwrap_or(4096);
    let candidates = match settings.recall_budget_function {
        BudgetFunction::Adaptive if request.max_tokens.is_none() => {
            candidate_budget(request.budget, tokens, BudgetFunction::Fixed)
        }
        BudgetFunction::Adaptive | BudgetFunction::Fixed => {
            settings.candidates(request.budget, tokens)
        }
    };
    usize::try_from(candidates).unwrap_or(usize::MAX)
}

/// What the ways read: lone control characters are blanks, ends trimmed, cut to the bound.
fn cleaned(query: &str, most: u32) -> String {
    let text: String = query.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    Cl100k.cut(text.trim(), most).trim().to_owned()
}

/// An empty query finds nothing, in a bank that must be there all the same.
async fn nothing(engine: &Engine, request: &SearchRequest) -> Result<SearchOutcome> {
    crate::handle::read_bank(engine, &request.bank, |_, _| Ok(())).await?;
    let skipped = Way::ALL.into_iter().map(|way| Skipped { way, reason: "no_words" }).collect();
    Ok(SearchOutcome { skipped, ..SearchOutcome::default() })
}

fn window(
    engine: &Engine,
    request: &SearchRequest,
    query: &str,
) -> Option<(TimeWindow, Option<TemporalRule>)> {
    if let Some(window) = request.window {
        return Some((window, None));
    }
    let anchor = request.anchor.unwrap_or_else(|| engine.now());
    let minutes = engine.clock().local_offset_minutes(anchor);
    let offset = chrono::FixedOffset::east_opt(minutes * 60)?;
    let (window, rule) = domain::temporal::read_time_window(query, anchor, offset)?;
    Some((window, Some(rule)))
}

/// The one predicate that every way obeys.
fn scope(tx: &ReadTx<'_>, bank: BankKey, request: &SearchRequest) -> Result<Scope> {
    let mut types = request.fact_types.clone();
    types.sort_unstable();
    types.dedup();
    Ok(Scope {
        types,
        tag_sets: tag_sets_of(tx, bank, &request.filter, &request.leave_out)?,
        updated_after: request.updated_after,
        updated_before: request.updated_before,
        after_seq: request.after_seq,
        up_to_seq: request.cutoff_seq,
        ..Scope::all(bank)
    })
}

/// The interned tag sets that a filter lets through, fuzzy tags resolved against the bank's.
pub(crate) fn tag_sets_of(
    tx: &ReadTx<'_>,
    bank: BankKey,
    filter: &TagFilter,
    leave_out: &TagSet,
) -> Result<TagSets> {
    if filter.is_none() && leave_out.is_empty() {
        return Ok(TagSets::All);
    }
    let resolved = if domain::fuzzy::any_fuzzy(&filter.groups) {
        let pool = TagSet::new(tag_sets::pool(tx, bank)?);
        domain::fuzzy::resolve(&filter.groups, &pool).map_err(|why| fault(why.word()))?
    } else {
        domain::fuzzy::Resolved::default()
    };
    Ok(tag_sets::matching(tx, bank, |tags| {
        let tags = TagSet::new(tags);
        !tags.overlaps(leave_out) && filter.keeps_resolved(&tags, &resolved)
    })?)
}

pub(crate) fn check(cancel: &CancellationToken) -> Result<()> {
    if cancel.is_cancelled() { Err(fault("cancelled").into()) } else { Ok(()) }
}
