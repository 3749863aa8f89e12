//! A stored model as the rules need it: its JSON columns read into the domain's types, and written
//! back. Nothing here decides anything, and a column that cannot be read never stops a reading.

use domain::document::{Document, read_stored};
use domain::model::{CarryOver, Guidance, PublishedEvidence};
use domain::provenance::{Author, BlockOrigin, PERSON, Provenance};
use domain::refresh::{Clocks, Watermark};
use domain::scope::Scope;
use domain::tags::TagSet;
use domain::trigger::{StatedTrigger, Trigger};
use domain::{Json, MemoryId, ModelId, model};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use store::models::provenance::{self, BlockAuthor};
use store::tag_sets::TagSets;
use store::{BankKey, ModelKey, ReadTx, models};

/// A model with its columns read.
#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    pub(crate) row: models::Model,
    pub(crate) stated: StatedTrigger,
    pub(crate) trigger: Trigger,
    pub(crate) scope: Scope,
    pub(crate) document: Document,
    pub(crate) evidence: Option<PublishedEvidence>,
    pub(crate) carry_over: Vec<CarryOver>,
    pub(crate) guidance: Vec<Guidance>,
}

impl Loaded {
    pub(super) fn of(row: models::Model) -> Self {
        let (stated, ignored) = StatedTrigger::from_stored(&row.head.trigger);
        for warning in ignored {
            tracing::warn!(model = %row.head.id, field = warning.field, "a stored setting is ignored");
        }
        let trigger = stated.effective();
        let scope = Scope::resolve(row.head.id.as_str(), &row.head.tags, &trigger);
        let document = read_stored(&Json(row.structure.clone()), &row.content);
        Self {
            evidence: row.reflect_response.as_ref().and_then(from_json),
            carry_over: from_json(&row.carry_over).unwrap_or_default(),
            guidance: from_json(&row.guidance).unwrap_or_default(),
            stated,
            trigger,
            scope,
            document,
            row,
        }
    }

    /// The model of an id.
    pub(super) fn get(tx: &ReadTx<'_>, bank: BankKey, id: &ModelId) -> store::Result<Self> {
        models::get(tx, bank, id).map(Self::of)
    }

    /// Whether what a prompt would show of it must not leave this machine (README 62): it is tagged
    /// so, rests on a memory that is, or holds a declined change that did.
    pub(super) fn stays_here(&self, tx: &ReadTx<'_>, private: &TagSet) -> store::Result<bool> {
        let declined: Vec<MemoryId> = self
            .guidance
            .iter()
            .filter_map(|entry| match entry {
                Guidance::Declined { fact_ids, .. } => Some(fact_ids),
                Guidance::Note { .. } => None,
            })
            .flatten()
            .map(|id| MemoryId(id.clone()))
            .collect();
        Ok(crate::grounds::rests_on(tx, &self.row, private)?
            || store::tag_sets::any_carries(tx, self.row.head.bank, &declined, private)?)
    }

    pub(super) fn key(&self) -> ModelKey {
        self.row.head.key
    }

    pub(super) fn review(&self) -> model::Review {
        match self.row.head.review {
            models::Review::Auto => model::Review::Auto,
            models::Review::Manual => model::Review::Manual,
        }
    }

    /// Whether a person wrote the published text, at creation or since.
    pub(super) fn is_authored(&self, provenance: &Provenance) -> bool {
        provenance.0.values().any(|origin| origin.author != Author::Run)
    }

    /// Tags, trigger and budget: what a version keeps of the settings it was made with.
    pub(super) fn settings(&self) -> Value {
        serde_json::json!({
            "tags": self.row.head.tags,
            "trigger": self.stated.to_json(),
            "max_tokens": self.row.head.max_tokens,
        })
    }
}

/// A value of a JSON column, or none if it does not fit.
pub(super) fn from_json<T: DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}

/// A value for a JSON column. The types written here have string keys only, so this cannot fail.
pub(super) fn to_json<T: Serialize + ?Sized>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// The clocks of a model.
pub(super) fn clocks(head: &models::ModelHead) -> Clocks {
    let watermark = head
        .last_memory_seen_seq
        .map(|seq| Watermark { seq, at: head.last_memory_seen_at.unwrap_or(head.created_at) });
    Clocks {
        last_refreshed_at: head.last_refreshed_at,
        watermark,
        source_query: head.last_refreshed_source_query.clone(),
        considered_seq: head.considered_seq,
    }
}

/// Writes clocks into a model.
pub(super) fn set_clocks(head: &mut models::ModelHead, clocks: Clocks) {
    head.last_refreshed_at = clocks.last_refreshed_at;
    head.last_memory_seen_seq = clocks.watermark.map(|mark| mark.seq);
    head.last_memory_seen_at = clocks.watermark.map(|mark| mark.at);
    head.last_refreshed_source_query = clocks.source_query;
    head.considered_seq = clocks.considered_seq;
}

/// The text that search over models embeds.
pub(super) fn search_text(name: &str, content: &str) -> String {
    format!("{name} {content}")
}

/// The memories that a scope reads, as the file is asked for them.
pub(super) fn search_scope(
    tx: &ReadTx<'_>,
    bank: BankKey,
    scope: &Scope,
) -> store::Result<store::search::Scope> {
    let tag_sets = if scope.keeps_all_tags() {
        TagSets::All
    } else {
        store::tag_sets::matching(tx, bank, |tags: &BTreeSet<String>| {
            scope.keeps_tags(&crate::fresh::tag_set(tags))
        })?
    };
    let types = scope.fact_types.clone().unwrap_or_else(|| domain::FactType::ALL.to_vec());
    Ok(store::search::Scope { types, tag_sets, ..store::search::Scope::all(bank) })
}

/// Where the blocks of a published document come from.
pub(super) fn load_provenance(tx: &ReadTx<'_>, model: ModelKey) -> store::Result<Provenance> {
    let mut sources: HashMap<String, BTreeSet<String>> = HashMap::new();
    let mut versions: HashMap<String, (u32, Option<String>)> = HashMap::new();
    for source in provenance::block_sources(tx, model)? {
        let name = source.memory.map_or_else(|| PERSON.to_owned(), |memory| memory.0);
        versions.insert(source.block.clone(), (source.version, source.op));
        sources.entry(source.block).or_default().insert(name);
    }
    let mut origins: BTreeMap<String, BlockOrigin> = BTreeMap::new();
    for author in provenance::block_authors(tx, model)? {
        origins.insert(
            author.block.clone(),
            BlockOrigin {
                sources: sources.remove(&author.block).unwrap_or_default(),
                author: author_of(&author),
                version: author.version,
                op_id: author.op,
            },
        );
    }
    for (block, sources) in sources {
        let (version, op_id) = versions.remove(&block).unwrap_or_default();
        origins.insert(block, BlockOrigin { sources, author: Author::Import, version, op_id });
    }
    Ok(Provenance(origins))
}

fn author_of(row: &BlockAuthor) -> Author {
    match row.author {
        provenance::Author::Person => Author::Person,
        provenance::Author::Run => Author::Run,
        provenance::Author::Import => Author::Import,
    }
}
