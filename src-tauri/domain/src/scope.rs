//! The scope of a mental model: which memories it reads. One resolution and one test serve
//! retrieval, the watermark, staleness, consolidation's prefilter and the coverage check; `store`
//! puts the same test into SQL and a property test holds the two together.

use serde::{Deserialize, Serialize};

use crate::memory::FactType;
use crate::tag_group::TagGroup;
use crate::tags::{TagSet, TagsMatch, flat_keeps};
use crate::trigger::Trigger;

/// A resolved scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Scope {
    /// The model's tags in the order given; null when groups decide.
    pub tags: Option<Vec<String>>,
    /// How the tags match; `any`, and idle, when groups decide.
    pub tags_match: TagsMatch,
    /// Joined by AND.
    pub tag_groups: Option<Vec<TagGroup>>,
    /// Null for all three.
    pub fact_types: Option<Vec<FactType>>,
    /// The mental-model tool is not offered.
    pub exclude_mental_models: bool,
    /// Sorted; the model itself is always among them.
    pub exclude_mental_model_ids: Vec<String>,
}

impl Scope {
    /// The scope of a model from its tags, its trigger and its own id.
    #[must_use]
    pub fn resolve(model_id: &str, tags: &[String], trigger: &Trigger) -> Self {
        let mut excluded = trigger.exclude_mental_model_ids.clone().unwrap_or_default();
        excluded.push(model_id.to_owned());
        excluded.sort();
        excluded.dedup();
        let by_tags = || {
            let default = if tags.is_empty() { TagsMatch::Any } else { TagsMatch::AllStrict };
            (Some(tags.to_vec()), trigger.tags_match.unwrap_or(default))
        };
        let (tags, tags_match) =
            if trigger.tag_groups.is_some() { (None, TagsMatch::Any) } else { by_tags() };
        Self {
            tags,
            tags_match,
            tag_groups: trigger.tag_groups.clone(),
            fact_types: trigger.fact_types.clone(),
            exclude_mental_models: trigger.exclude_mental_models,
            exclude_mental_model_ids: excluded,
        }
    }

    /// The flat tags as a set; empty when groups decide.
    #[must_use]
    pub fn tag_set(&self) -> TagSet {
        TagSet::new(self.tags.as_deref().unwrap_or_default())
    }

    /// Whether memories with this tag set are in scope, whatever their type.
    #[must_use]
    pub fn keeps_tags(&self, tags: &TagSet) -> bool {
        flat_keeps(self.tags_match, &self.tag_set(), tags)
            && self.tag_groups.iter().flatten().all(|group| group.keeps(tags))
    }

    /// Whether tags keep nothing out at all.
    #[must_use]
    pub fn keeps_all_tags(&self) -> bool {
        self.tag_set().is_empty()
            && self.tags_match != TagsMatch::Exact
            && self.tag_groups.iter().flatten().next().is_none()
    }

    /// Whether memories of this type can be in scope.
    #[must_use]
    pub fn keeps_type(&self, kind: FactType) -> bool {
        self.fact_types.as_ref().is_none_or(|kinds| kinds.contains(&kind))
    }

    /// Whether a memory is in scope.
    #[must_use]
    pub fn keeps(&self, tags: &TagSet, kind: FactType) -> bool {
        self.keeps_type(kind) && self.keeps_tags(tags)
    }

    /// Whether the scope can hold something a consolidation touched: the cheap test before the
    /// exact one. It may say yes for nothing, never no for something. `touched` are all tags of
    /// touched memories together.
    #[must_use]
    pub fn may_hold_touched(&self, touched: &TagSet) -> bool {
        let tags = self.tag_set();
        self.tag_groups.is_some()
            || tags.is_empty()
            || self.tags_match.keeps_untagged()
            || tags.overlaps(touched)
    }

    /// Whether the two scopes read the same memories by their form. Excluded models are not part
    /// of it: they bound what is read beside memories.
    #[must_use]
    pub fn reads_same(&self, other: &Self) -> bool {
        let types = |scope: &Self| {
            let mut kinds = scope.fact_types.clone().unwrap_or_else(|| FactType::ALL.to_vec());
            kinds.sort_unstable();
            kinds.dedup();
            kinds
        };
        self.tag_set() == other.tag_set()
            && self.tags_match == other.tags_match
            && self.tag_groups == other.tag_groups
            && types(self) == types(other)
    }
}
