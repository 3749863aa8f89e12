//! A mental model: a saved question with the document that answers it. Its own data, its words, and
//! the checks of a request that creates or changes one. Scope, staleness, refresh and proposals have
//! modules of their own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::citations::Basis;
use crate::refresh::{FailureReason, FallbackReason, Outcome};
use crate::tags::tags_in_order;
use crate::trigger::{
    FieldWarning, RefreshMode, StatedTrigger, Trigger, TriggerPatch, UnknownKeys, whole_number,
};
use crate::{BankId, FieldFault, Instant, Json, ModelId, OperationId, ProposalId};

/// Least and most tokens of a document.
pub const TOKENS: std::ops::RangeInclusive<u32> = 256..=8192;
/// Budget of a document when none is stated.
pub const DEFAULT_MAX_TOKENS: u32 = 2048;
/// Budget of a page's document when none is stated.
pub const PAGE_MAX_TOKENS: u32 = 4096;
/// Longest id in characters.
pub const MAX_ID_CHARS: usize = 128;
/// What older servers store as the text of a document that is still being built.
pub const PEER_PLACEHOLDER: &str = "Generating content...";

/// What a finished refresh does with its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Review {
    /// Publishes it.
    #[default]
    Auto,
    /// Proposes it; a person decides.
    Manual,
}

impl Review {
    /// The word of the wire and of the file.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Manual => "manual",
        }
    }

    /// The setting of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Auto, Self::Manual].into_iter().find(|review| review.word() == word)
    }
}

/// How much of a model a reading returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum DetailLevel {
    /// Names, clocks and staleness: the default of a list.
    Metadata,
    /// With question, document and trigger.
    Content,
    /// With evidence, structure, carry-over and guidance: the default of a single reading.
    Full,
}

impl DetailLevel {
    /// The level of a word; an unknown one is a validation error.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "metadata" => Some(Self::Metadata),
            "content" => Some(Self::Content),
            "full" => Some(Self::Full),
            _ => None,
        }
    }
}

/// What led to a refresh: the entries of an operation's `triggered_by`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Asked for in the window, over REST or MCP.
    ManualRefresh,
    /// The model was created.
    Create,
    /// A consolidation touched the scope.
    AfterConsolidation,
    /// A cited memory was deleted or invalidated.
    AfterDeletion,
    /// The schedule came due.
    Cron,
    /// The schedule of full rebuilds came due.
    FullCron,
}

impl Cause {
    /// Whether a person asked, which is never held back by intervals and pauses.
    #[must_use]
    pub fn is_explicit(self) -> bool {
        matches!(self, Self::ManualRefresh | Self::Create)
    }

    /// Who a version made by an operation of this first cause is put down to.
    #[must_use]
    pub fn actor(self) -> Actor {
        match self {
            Self::ManualRefresh | Self::Create => Actor::ManualRefresh,
            Self::AfterConsolidation => Actor::AfterConsolidation,
            Self::AfterDeletion => Actor::AfterDeletion,
            Self::Cron | Self::FullCron => Actor::Cron,
        }
    }
}

/// Who or what made a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// A person: edits, decisions, clears, reverts.
    Person,
    /// A consolidation.
    AfterConsolidation,
    /// A deletion.
    AfterDeletion,
    /// A schedule.
    Cron,
    /// A refresh that was asked for.
    ManualRefresh,
    /// An import.
    Import,
}

/// What kind of change a version is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum VersionCause {
    /// Content came with the creation.
    Created,
    /// Rebuilt.
    RefreshFull,
    /// Edited by delta operations.
    RefreshDelta,
    /// Withdrawn evidence was unsaid, and nothing else changed.
    Retraction,
    /// A proposal was approved.
    Proposal,
    /// A person edited.
    Edit,
    /// Emptied.
    Clear,
    /// An earlier version came back.
    Revert,
    /// Came with an import.
    Import,
}

/// One entry of a document's grounding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Citation {
    /// A memory, a mental model or a directive, by the list it stands in.
    pub id: String,
    /// The text as read.
    pub text: String,
    /// `world`, `experience`, `observation`, `mental-models` or `directives`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Context of the memory, if it has one.
    pub context: Option<String>,
    /// When the told event began.
    pub occurred_start: Option<Instant>,
    /// When the source says it.
    pub mentioned_at: Option<Instant>,
    /// The version that cited it first.
    pub first_cited_version: Option<u32>,
}

/// The words of `based_on` whose entries are memories.
pub const MEMORY_KINDS: [&str; 3] = ["world", "experience", "observation"];

/// Evidence of the published document (`reflect_response`). A failed run never touches it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct PublishedEvidence {
    /// The answer as synthesised.
    pub text: String,
    /// How the evidence was found.
    pub basis: Basis,
    /// Grounding by type.
    pub based_on: BTreeMap<String, Vec<Citation>>,
    /// Outcome of the run.
    pub outcome: Outcome,
    /// Extracted by the trigger's schema.
    #[serde(default)]
    pub structured_output: Option<Json>,
    /// The version it was extracted from; unequal to the model's version means stale.
    #[serde(default)]
    pub structured_output_version: Option<u32>,
    /// Delta operations made the document.
    #[serde(default)]
    pub delta_applied: bool,
    /// Operations that were applied.
    #[serde(default)]
    pub delta_operations_applied: Vec<Json>,
    /// Operations that were not, with their reasons.
    #[serde(default)]
    pub delta_operations_skipped: Vec<Json>,
    /// `no_new_facts` when a delta had nothing to do.
    #[serde(default)]
    pub delta_skipped_reason: Option<String>,
    /// Tokens of the document.
    #[serde(default)]
    pub document_tokens: u32,
    /// Its budget at that time.
    #[serde(default)]
    pub document_budget: u32,
    /// Filled from the last run when the model is read; never stored here.
    #[serde(default)]
    pub trace: Option<Json>,
}

/// What is known of the last run, whatever its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct LastRun {
    /// The operation it ran in.
    pub operation_id: Option<OperationId>,
    /// Start.
    pub started_at: Instant,
    /// End.
    pub finished_at: Instant,
    /// What the trigger asked for.
    pub requested_mode: RefreshMode,
    /// What was done.
    pub effective_mode: RefreshMode,
    /// Why the two differ, or why the mode was forced.
    pub mode_fallback_reason: Option<FallbackReason>,
    /// How it ended.
    pub outcome: Outcome,
    /// The word of a failure.
    pub failure_reason: Option<FailureReason>,
    /// The exact reason or a remark.
    pub detail: Option<String>,
    /// Kept when the trigger says so.
    #[serde(default)]
    pub trace: Option<Json>,
    /// What the run has to tell.
    #[serde(default)]
    pub warnings: Vec<RunWarning>,
}

/// A remark of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RunWarning {
    /// Stable word, for example `empty_scope` or `large_removal`.
    pub code: String,
    /// One sentence for a person.
    pub text: String,
    /// Figures and ids.
    #[serde(default)]
    pub data: Option<Json>,
}

/// Why a fact was read and did not reach the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum CarryOverWhy {
    /// Cited by skipped operations alone.
    OpSkipped,
    /// In the missing tail of a cut answer.
    Truncated,
    /// In evidence, yet neither cited nor judged.
    Uncovered,
    /// Its proposed change was put off by a person.
    Deferred,
}

/// A fact to offer again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct CarryOver {
    /// The memory.
    pub fact_id: String,
    /// The version at which it was first carried.
    pub since_version: u32,
    /// How often it has been offered in vain.
    pub attempts: u32,
    /// Why.
    pub why: CarryOverWhy,
}

/// What reviewers told the model's refreshes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Guidance {
    /// A note, shown until what was produced with it is approved; a standing one always.
    Note {
        /// The words.
        text: String,
        /// When.
        at: Instant,
        /// On which proposal.
        proposal: Option<ProposalId>,
        /// Whether it is shown for ever.
        standing: bool,
    },
    /// A change that a person decided not to make.
    Declined {
        /// The facts behind it.
        fact_ids: Vec<String>,
        /// What the change would have done.
        op_summary: String,
        /// The person's words.
        note: Option<String>,
        /// When.
        at: Instant,
        /// The facts' `change_seq` then, in the order of `fact_ids`: the entry lapses when one has
        /// grown.
        #[cfg_attr(feature = "specta", specta(skip))]
        fact_seqs: Vec<i64>,
    },
}

/// What a lock lies on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Lock {
    /// Block or section.
    pub kind: LockKind,
    /// Its id in the structure.
    pub id: String,
}

/// Kinds of lockable elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum LockKind {
    /// One block.
    Block,
    /// A section with all it holds.
    Section,
}

/// A model as the engine works with it. Sequences stay inside the program, so this is not a shape
/// of the boundary; [`ModelView`] is.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Slug, unique in the bank.
    pub id: ModelId,
    /// Its bank.
    pub bank_id: BankId,
    /// Not blank.
    pub name: String,
    /// The question. Not blank.
    pub source_query: String,
    /// Render of the structure; empty while nothing is built.
    pub content: String,
    /// The document's structure as stored. It may be unreadable, which the refresh finds out.
    pub structure: Json,
    /// In the order given.
    pub tags: Vec<String>,
    /// Budget of the document in tokens.
    pub max_tokens: u32,
    /// Stated keys.
    pub trigger: StatedTrigger,
    /// What a finished refresh does.
    pub review: Review,
    /// Number of the published version; 0 before the first.
    pub version: u32,
    /// Nothing was ever published.
    pub placeholder: bool,
    /// Birth.
    pub created_at: Instant,
    /// Last change of any kind.
    pub updated_at: Instant,
    /// When a refresh last finished or a person last wrote.
    pub last_refreshed_at: Option<Instant>,
    /// The watermark as shown.
    pub last_memory_seen_at: Option<Instant>,
    /// The watermark.
    pub last_memory_seen_seq: Option<i64>,
    /// Newest data that any finished run looked at.
    pub considered_seq: Option<i64>,
    /// The question that produced the published document.
    pub last_refreshed_source_query: Option<String>,
    /// Evidence of the published document.
    pub evidence: Option<PublishedEvidence>,
    /// The last run, whatever its end.
    pub last_run: Option<LastRun>,
    /// Facts to offer again.
    pub carry_over: Vec<CarryOver>,
    /// Notes and declined changes.
    pub guidance: Vec<Guidance>,
    /// Refused deltas in a row.
    pub delta_failures: u32,
    /// Failed runs in a row.
    pub failure_streak: u32,
    /// End of the last run if it failed.
    pub last_refresh_failed_at: Option<Instant>,
    /// Last published full rebuild.
    pub last_full_refreshed_at: Option<Instant>,
    /// Last boundary of `refresh_cron` that was acted on.
    pub last_cron_fire: Option<Instant>,
    /// Last boundary of `full_refresh_cron` that was acted on.
    pub last_full_cron_fire: Option<Instant>,
    /// Automatic submits are held back until then.
    pub paused_until: Option<Instant>,
}

/// The three fields of staleness, present at every level.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Freshness {
    /// Never refreshed, or newer memories in scope.
    pub is_stale: bool,
    /// Any reason at all.
    pub needs_refresh: bool,
    /// All reasons that hold.
    pub refresh_reasons: Vec<crate::staleness::RefreshReason>,
}

/// A model as it crosses the boundary. Fields above the asked level are null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[expect(missing_docs, reason = "the fields are those of Model, Freshness and the trigger")]
pub struct ModelView {
    pub id: ModelId,
    pub bank_id: BankId,
    pub name: String,
    pub tags: Vec<String>,
    pub review: Review,
    pub version: u32,
    pub placeholder: bool,
    pub last_refreshed_at: Option<Instant>,
    pub last_memory_seen_at: Option<Instant>,
    pub last_refresh_failed_at: Option<Instant>,
    pub last_full_refreshed_at: Option<Instant>,
    pub created_at: Instant,
    pub is_stale: bool,
    pub needs_refresh: bool,
    pub refresh_reasons: Vec<crate::staleness::RefreshReason>,
    pub open_proposal_id: Option<ProposalId>,
    pub source_query: Option<String>,
    pub content: Option<String>,
    pub max_tokens: Option<u32>,
    pub trigger: Option<Trigger>,
    pub stated_keys: Option<Vec<String>>,
    pub reflect_response: Option<PublishedEvidence>,
    pub last_run: Option<LastRun>,
    pub structure: Option<Json>,
    pub carry_over: Option<Vec<CarryOver>>,
    pub guidance: Option<Vec<Guidance>>,
}

impl Model {
    /// The model as the boundary sees it at a level. The trace of the last run is laid into the
    /// evidence, where readers of the documented field look for it.
    #[must_use]
    pub fn view(
        &self,
        level: DetailLevel,
        freshness: Freshness,
        open_proposal_id: Option<ProposalId>,
    ) -> ModelView {
        let content = level >= DetailLevel::Content;
        let full = level >= DetailLevel::Full;
        let evidence = || {
            let mut evidence = self.evidence.clone()?;
            evidence.trace = self.last_run.as_ref().and_then(|run| run.trace.clone());
            Some(evidence)
        };
        ModelView {
            id: self.id.clone(),
            bank_id: self.bank_id.clone(),
            name: self.name.clone(),
            tags: self.tags.clone(),
            review: self.review,
            version: self.version,
            placeholder: self.placeholder,
            last_refreshed_at: self.last_refreshed_at,
            last_memory_seen_at: self.last_memory_seen_at,
            last_refresh_failed_at: self.last_refresh_failed_at,
            last_full_refreshed_at: self.last_full_refreshed_at,
            created_at: self.created_at,
            is_stale: freshness.is_stale,
            needs_refresh: freshness.needs_refresh,
            refresh_reasons: freshness.refresh_reasons,
            open_proposal_id,
            source_query: content.then(|| self.source_query.clone()),
            content: content.then(|| self.content.clone()),
            max_tokens: content.then_some(self.max_tokens),
            trigger: content.then(|| self.trigger.effective()),
            stated_keys: content.then(|| self.trigger.stated_keys()),
            reflect_response: full.then(evidence).flatten(),
            last_run: full.then(|| self.last_run.clone()).flatten(),
            structure: full.then(|| self.structure.clone()),
            carry_over: full.then(|| self.carry_over.clone()),
            guidance: full.then(|| self.guidance.clone()),
        }
    }

    /// The text that the model's own search embeds. To be embedded anew whenever it changes.
    #[must_use]
    pub fn search_text(&self) -> String {
        format!("{} {}", self.name, self.content)
    }

    /// The scope it reads.
    #[must_use]
    pub fn scope(&self) -> crate::scope::Scope {
        crate::scope::Scope::resolve(self.id.as_str(), &self.tags, &self.trigger.effective())
    }
}

/// A checked request to create a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateModel {
    /// Chosen by the caller, else made from `mm-` and 32 hex digits.
    pub id: Option<ModelId>,
    /// Trimmed.
    pub name: String,
    /// Trimmed.
    pub source_query: String,
    /// Content written by a person, kept byte for byte.
    pub content: Option<String>,
    /// In the order given, normalised.
    pub tags: Vec<String>,
    /// Tokens.
    pub max_tokens: u32,
    /// Stated keys.
    pub trigger: StatedTrigger,
    /// Stated, else the default of the door it came through.
    pub review: Review,
}

/// A checked request to change a model; what is not stated stays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the fields are those of CreateModel")]
pub struct UpdateModel {
    pub name: Option<String>,
    pub source_query: Option<String>,
    pub tags: Option<Vec<String>>,
    pub max_tokens: Option<u32>,
    pub trigger: Option<TriggerPatch>,
    pub review: Option<Review>,
}

impl UpdateModel {
    /// Whether it states nothing: `nothing_to_change`.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What the door a request came through presumes.
#[derive(Debug, Clone, Copy)]
pub struct CreateDefaults {
    /// Review when none is stated.
    pub review: Review,
    /// Tokens when none are stated: [`DEFAULT_MAX_TOKENS`] or [`PAGE_MAX_TOKENS`].
    pub max_tokens: u32,
    /// What unknown keys of the trigger are.
    pub unknown: UnknownKeys,
}

impl Default for CreateDefaults {
    fn default() -> Self {
        Self { review: Review::Auto, max_tokens: DEFAULT_MAX_TOKENS, unknown: UnknownKeys::Refuse }
    }
}

/// Reads a request to create a model. `base` lies under the stated trigger: nothing for a plain
/// model, the defaults of a page for a page.
///
/// # Errors
/// All faults at once.
pub fn read_create(
    input: &Value,
    defaults: CreateDefaults,
    base: &StatedTrigger,
) -> Result<(CreateModel, Vec<FieldWarning>), Vec<FieldFault>> {
    let mut form = Form::of(input)?;
    let id = form.id();
    let name = form.required_text("name");
    let source_query = form.required_text("source_query");
    let content = form.content();
    let tags = form.tags();
    let max_tokens = form.max_tokens();
    let review = form.review();
    let patch = form.trigger(defaults.unknown);
    form.finish()?;
    let patch = patch.unwrap_or_default();
    let created = CreateModel {
        id,
        name: name.unwrap_or_default(),
        source_query: source_query.unwrap_or_default(),
        content,
        tags: tags.unwrap_or_default(),
        max_tokens: max_tokens.unwrap_or(defaults.max_tokens),
        trigger: base.merged(&patch),
        review: review.unwrap_or(defaults.review),
    };
    Ok((created, patch.warnings))
}

/// Reads a request to change a model.
///
/// # Errors
/// All faults at once. An empty request is not a fault here ([`UpdateModel::is_empty`]).
pub fn read_update(input: &Value, unknown: UnknownKeys) -> Result<UpdateModel, Vec<FieldFault>> {
    let mut form = Form::of(input)?;
    let update = UpdateModel {
        name: form.stated("name").then(|| form.required_text("name")).flatten(),
        source_query: form
            .stated("source_query")
            .then(|| form.required_text("source_query"))
            .flatten(),
        tags: form.tags(),
        max_tokens: form.max_tokens(),
        review: form.review(),
        trigger: form.trigger(unknown).filter(|patch| !patch.is_empty()),
    };
    form.finish()?;
    Ok(update)
}

/// Whether a text is an id of the right form: `^[a-z0-9][a-z0-9-]*$`, at most 128 characters.
#[must_use]
pub fn is_model_id(id: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    id.len() <= MAX_ID_CHARS
        && id.bytes().next().is_some_and(inner)
        && id.bytes().all(|b| inner(b) || b == b'-')
}

/// A request being read: every getter notes its faults and goes on.
struct Form<'a> {
    map: &'a Map<String, Value>,
    faults: Vec<FieldFault>,
}

impl<'a> Form<'a> {
    fn of(input: &'a Value) -> Result<Self, Vec<FieldFault>> {
        let map = input.as_object();
        map.map(|map| Self { map, faults: Vec::new() })
            .ok_or_else(|| vec![FieldFault::wrong_type("", "an object")])
    }

    /// The value of a key, null being the same as not stated.
    fn value(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    fn stated(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    fn finish(self) -> Result<(), Vec<FieldFault>> {
        if self.faults.is_empty() { Ok(()) } else { Err(self.faults) }
    }

    fn id(&mut self) -> Option<ModelId> {
        let id = self.value("id")?;
        match id.as_str() {
            Some(id) if is_model_id(id) => return Some(ModelId::from(id)),
            Some(_) => self.faults.push(FieldFault::new(
                "id",
                "id_format",
                "Use lowercase letters, digits and hyphens, starting with a letter or digit.",
            )),
            None => self.faults.push(FieldFault::wrong_type("id", "text")),
        }
        None
    }

    fn required_text(&mut self, key: &str) -> Option<String> {
        match self.value(key) {
            None => self.faults.push(FieldFault::blank(key)),
            Some(Value::String(text)) if text.trim().is_empty() => {
                self.faults.push(FieldFault::blank(key));
            }
            Some(Value::String(text)) => return Some(text.trim().to_owned()),
            Some(_) => self.faults.push(FieldFault::wrong_type(key, "text")),
        }
        None
    }

    fn content(&mut self) -> Option<String> {
        let content = self.value("content")?;
        if content.as_str().is_none() {
            self.faults.push(FieldFault::wrong_type("content", "text"));
        }
        content.as_str().map(str::to_owned)
    }

    fn tags(&mut self) -> Option<Vec<String>> {
        let Some(list) = self.value("tags")?.as_array() else {
            self.faults.push(FieldFault::wrong_type("tags", "a list"));
            return None;
        };
        for (i, tag) in list.iter().enumerate() {
            let field = format!("tags[{i}]");
            match tag.as_str() {
                Some(tag) if !tag.trim().is_empty() => {}
                Some(_) => self.faults.push(FieldFault::blank(field)),
                None => self.faults.push(FieldFault::wrong_type(field, "text")),
            }
        }
        Some(tags_in_order(list.iter().filter_map(Value::as_str)))
    }

    fn max_tokens(&mut self) -> Option<u32> {
        let value = self.value("max_tokens")?;
        whole_number("max_tokens", value, *TOKENS.start(), Some(*TOKENS.end()))
            .map_err(|fault| self.faults.push(fault))
            .ok()
    }

    fn review(&mut self) -> Option<Review> {
        let review = self.value("review")?.as_str().and_then(Review::from_word);
        if review.is_none() {
            self.faults.push(FieldFault::not_one_of("review", &["auto", "manual"]));
        }
        review
    }

    fn trigger(&mut self, unknown: UnknownKeys) -> Option<TriggerPatch> {
        TriggerPatch::parse(self.value("trigger")?, unknown)
            .map_err(|faults| self.faults.extend(faults))
            .ok()
    }
}
