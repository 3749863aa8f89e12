//! What an answer may claim to rest on. Ids are accepted only when a tool showed them in this run;
//! pieces of the answer are tied to ids by their wording. Nothing here reads the bank.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::trace::Warning;
use crate::{FactType, Instant};

/// The lists of `done` that hold ids, in the order in which they are read.
pub const ID_KEYS: [&str; 3] = ["memory_ids", "mental_model_ids", "observation_ids"];

/// Ids by namespace, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default)]
pub struct CitedIds {
    /// Facts, source facts, opened memories.
    pub memories: Vec<String>,
    /// Observations.
    pub observations: Vec<String>,
    /// Mental models.
    pub mental_models: Vec<String>,
}

impl CitedIds {
    /// How many ids there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.memories.len() + self.observations.len() + self.mental_models.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether any namespace holds the id.
    #[must_use]
    pub fn contains(&self, id: &str) -> bool {
        Namespace::ALL.into_iter().any(|space| self.holds(space, id))
    }

    fn list(&self, space: Namespace) -> &Vec<String> {
        match space {
            Namespace::Memories => &self.memories,
            Namespace::MentalModels => &self.mental_models,
            Namespace::Observations => &self.observations,
        }
    }

    fn list_mut(&mut self, space: Namespace) -> &mut Vec<String> {
        match space {
            Namespace::Memories => &mut self.memories,
            Namespace::MentalModels => &mut self.mental_models,
            Namespace::Observations => &mut self.observations,
        }
    }

    fn holds(&self, space: Namespace, id: &str) -> bool {
        self.list(space).iter().any(|known| known == id)
    }

    fn push_new(&mut self, space: Namespace, id: &str) {
        if !self.holds(space, id) {
            self.list_mut(space).push(id.to_owned());
        }
    }

    fn without_repeats(&self) -> Self {
        let mut distinct = Self::default();
        for space in Namespace::ALL {
            let mut seen = HashSet::new();
            *distinct.list_mut(space) =
                self.list(space).iter().filter(|id| seen.insert(id.as_str())).cloned().collect();
        }
        distinct
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Namespace {
    Memories,
    MentalModels,
    Observations,
}

impl Namespace {
    // In the order of ID_KEYS.
    const ALL: [Self; 3] = [Self::Memories, Self::MentalModels, Self::Observations];
}

/// Where the text of an answer came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerSource {
    /// A `done` with its id lists.
    Done,
    /// Written from everything retrieved, without ids.
    Synthesis,
    /// The same, saying that nothing retrieved bears on the question.
    SynthesisNothingRelevant,
}

/// Whether the sources were named by the answer or are merely all that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Exactly the valid citations, possibly none.
    Cited,
    /// Everything retrieved: an upper bound.
    Retrieved,
}

/// The outcome of [`validate_citations`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitationCheck {
    /// Valid ids by the namespace they belong to, in order of first mention.
    pub used: CitedIds,
    /// Ids that no tool showed, each once.
    pub dropped: Vec<String>,
    /// What `credited` means.
    pub basis: Basis,
    /// What the answer is credited with.
    pub credited: CitedIds,
}

// null is an empty list, a lone string a list of one, anything else no list at all.
fn id_list(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(id)) => vec![id.trim()],
        Some(Value::Array(items)) => {
            items.iter().filter_map(Value::as_str).map(str::trim).collect()
        }
        _ => Vec::new(),
    }
    .into_iter()
    .filter(|id| !id.is_empty())
    .collect()
}

/// Checks the ids of an answer against what was shown in the run. An id in the wrong list moves to
/// the right one; an id shown nowhere is dropped. Matching is exact after trimming.
#[must_use]
pub fn validate_citations(
    available: &CitedIds,
    args: &Map<String, Value>,
    source: AnswerSource,
) -> CitationCheck {
    let mut used = CitedIds::default();
    let mut dropped: Vec<String> = Vec::new();
    if source == AnswerSource::Done {
        for (named, key) in Namespace::ALL.into_iter().zip(ID_KEYS) {
            for id in id_list(args.get(key)) {
                let home = std::iter::once(named)
                    .chain(Namespace::ALL)
                    .find(|space| available.holds(*space, id));
                match home {
                    Some(space) => used.push_new(space, id),
                    None if dropped.iter().any(|known| known == id) => {}
                    None => dropped.push(id.to_owned()),
                }
            }
        }
    }
    let (basis, credited) = match source {
        AnswerSource::Done => (Basis::Cited, used.clone()),
        AnswerSource::Synthesis => (Basis::Retrieved, available.without_repeats()),
        AnswerSource::SynthesisNothingRelevant => (Basis::Cited, CitedIds::default()),
    };
    CitationCheck { used, dropped, basis, credited }
}

impl CitationCheck {
    /// What to tell the reader about the sources of a `done`.
    #[must_use]
    pub fn warnings(&self, source: AnswerSource, something_retrieved: bool) -> Vec<Warning> {
        if source != AnswerSource::Done || !self.used.is_empty() {
            Vec::new()
        } else if !self.dropped.is_empty() {
            vec![Warning::new(
                "citations_invalid",
                "None of the sources that the answer names was retrieved.",
            )]
        } else if something_retrieved {
            vec![Warning::new("no_citations", "The answer names no source.")]
        } else {
            Vec::new()
        }
    }
}

/// A memory that an answer rests on, as it read during the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct BasedOnMemory {
    /// Its id.
    pub id: String,
    /// Its text.
    pub text: String,
    /// Its kind.
    #[serde(rename = "type")]
    pub fact_type: FactType,
    /// Its label.
    pub context: Option<String>,
    /// When the told event began.
    pub occurred_start: Option<Instant>,
    /// When it ended.
    pub occurred_end: Option<Instant>,
}

/// A mental model that an answer rests on, with the content that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct BasedOnModel {
    /// Its id.
    pub id: String,
    /// The content that was read.
    pub text: String,
    /// Its label.
    pub context: Option<String>,
    /// Its name.
    pub name: String,
    /// Whether it was stale when it was read; null when that could not be told.
    pub is_stale: Option<bool>,
}

/// A directive that was in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct BasedOnDirective {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its content.
    pub content: String,
}

/// What an answer rests on. The three lists are always there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct BasedOn {
    /// World, experience, observation; inside a kind the first retrieved first.
    pub memories: Vec<BasedOnMemory>,
    /// First retrieved first.
    pub mental_models: Vec<BasedOnModel>,
    /// Every directive in force.
    pub directives: Vec<BasedOnDirective>,
    /// Whether the lists were cited or only retrieved.
    pub basis: Basis,
}

/// What the tools of a run have shown, in order of first appearance.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Retrieved {
    memories: Vec<BasedOnMemory>,
    models: Vec<BasedOnModel>,
}

impl Retrieved {
    /// Notes a memory or observation that a successful tool result contained.
    pub fn add_memory(&mut self, memory: BasedOnMemory) {
        if !self.memories.iter().any(|known| known.id == memory.id) {
            self.memories.push(memory);
        }
    }

    /// Notes a mental model that a successful tool result contained.
    pub fn add_model(&mut self, model: BasedOnModel) {
        if !self.models.iter().any(|known| known.id == model.id) {
            self.models.push(model);
        }
    }

    /// Rows noted so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.memories.len() + self.models.len()
    }

    /// Whether nothing was shown.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memories and observations in order of first appearance.
    #[must_use]
    pub fn memories(&self) -> &[BasedOnMemory] {
        &self.memories
    }

    /// Mental models in order of first appearance.
    #[must_use]
    pub fn models(&self) -> &[BasedOnModel] {
        &self.models
    }

    /// The ids that may be cited.
    #[must_use]
    pub fn available(&self) -> CitedIds {
        let (observations, memories): (Vec<_>, Vec<_>) =
            self.memories.iter().partition(|memory| memory.fact_type == FactType::Observation);
        let ids = |rows: Vec<&BasedOnMemory>| rows.into_iter().map(|row| row.id.clone()).collect();
        CitedIds {
            memories: ids(memories),
            observations: ids(observations),
            mental_models: self.models.iter().map(|model| model.id.clone()).collect(),
        }
    }

    /// The sources of an answer from what it is credited with and the directives in force.
    #[must_use]
    pub fn based_on(&self, check: &CitationCheck, directives: Vec<BasedOnDirective>) -> BasedOn {
        let credited = &check.credited;
        let mut memories: Vec<BasedOnMemory> = self
            .memories
            .iter()
            .filter(|memory| match memory.fact_type {
                FactType::Observation => credited.holds(Namespace::Observations, &memory.id),
                FactType::World | FactType::Experience => {
                    credited.holds(Namespace::Memories, &memory.id)
                }
            })
            .cloned()
            .collect();
        // Stable: inside a kind the order of first appearance stays.
        memories.sort_by_key(|memory| memory.fact_type);
        let mental_models = self
            .models
            .iter()
            .filter(|model| credited.holds(Namespace::MentalModels, &model.id))
            .cloned()
            .collect();
        BasedOn { memories, mental_models, directives, basis: check.basis }
    }
}

/// A piece of the answer and the ids it rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct EvidenceSpan {
    /// First UTF-16 code unit.
    pub start: u32,
    /// One past the last UTF-16 code unit.
    pub end: u32,
    /// Ids of any namespace, in order of mention.
    pub ids: Vec<String>,
}

/// Spans from the `claims` of a `done`: each quote is looked for in the final text (first place not
/// yet taken), its ids are checked like citations. What fails is left out. Sorted, never
/// overlapping.
#[must_use]
pub fn evidence_spans(
    text: &str,
    claims: Option<&Value>,
    available: &CitedIds,
) -> Vec<EvidenceSpan> {
    let claims = claims.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut taken: Vec<(usize, usize, Vec<String>)> = Vec::new();
    for claim in claims {
        let Some(quote) = claim.get("quote").and_then(Value::as_str).map(str::trim) else {
            continue;
        };
        let mut ids: Vec<String> = Vec::new();
        for id in id_list(claim.get("ids")) {
            if available.contains(id) && !ids.iter().any(|known| known == id) {
                ids.push(id.to_owned());
            }
        }
        if quote.is_empty() || ids.is_empty() {
            continue;
        }
        let free = |start: &usize| {
            let end = start + quote.len();
            taken.iter().all(|(from, to, _)| end <= *from || *to <= *start)
        };
        if let Some(start) = text.match_indices(quote).map(|(at, _)| at).find(free) {
            taken.push((start, start + quote.len(), ids));
        }
    }
    taken.sort_by_key(|(start, _, _)| *start);
    let units =
        |upto: usize| u32::try_from(text[..upto].encode_utf16().count()).unwrap_or(u32::MAX);
    taken
        .into_iter()
        .map(|(start, end, ids)| EvidenceSpan { start: units(start), end: units(end), ids })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn memory(id: &str, fact_type: FactType) -> BasedOnMemory {
        BasedOnMemory {
            id: id.to_owned(),
            text: id.to_uppercase(),
            fact_type,
            context: None,
            occurred_start: None,
            occurred_end: None,
        }
    }

    fn args(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn sources_are_ordered_by_kind_then_first_appearance() {
        let mut shown = Retrieved::default();
        for (id, kind) in [
            ("o1", FactType::Observation),
            ("e1", FactType::Experience),
            ("w2", FactType::World),
            ("w1", FactType::World),
            ("w2", FactType::World),
        ] {
            shown.add_memory(memory(id, kind));
        }
        let check = validate_citations(
            &shown.available(),
            &args(json!({"memory_ids": ["w1", "w2", "e1"], "observation_ids": ["o1"]})),
            AnswerSource::Done,
        );
        let ids: Vec<_> =
            shown.based_on(&check, Vec::new()).memories.into_iter().map(|row| row.id).collect();
        assert_eq!(ids, ["w2", "w1", "e1", "o1"]);
    }

    #[test]
    fn odd_lists_are_read_leniently() {
        let available = CitedIds { memories: vec!["a".to_owned()], ..CitedIds::default() };
        let check = validate_citations(
            &available,
            &args(
                json!({"memory_ids": "a", "observation_ids": null, "mental_model_ids": {"x": 1}}),
            ),
            AnswerSource::Done,
        );
        assert_eq!(check.used.memories, ["a"]);
        let check = validate_citations(
            &available,
            &args(json!({"memory_ids": [3, null, ["a"], "a"]})),
            AnswerSource::Done,
        );
        assert_eq!((check.used.len(), check.dropped.len()), (1, 0));
    }

    #[test]
    fn warnings_tell_invented_from_absent() {
        let available = CitedIds { memories: vec!["a".to_owned()], ..CitedIds::default() };
        let code = |value: Value| {
            validate_citations(&available, &args(value), AnswerSource::Done)
                .warnings(AnswerSource::Done, true)
                .first()
                .map(|warning| warning.code.clone())
        };
        assert_eq!(code(json!({"memory_ids": ["z"]})).as_deref(), Some("citations_invalid"));
        assert_eq!(code(json!({})).as_deref(), Some("no_citations"));
        assert_eq!(code(json!({"memory_ids": ["a", "z"]})), None);
    }

    #[test]
    fn spans_count_utf16_and_never_overlap() {
        let available =
            CitedIds { memories: vec!["a".to_owned(), "b".to_owned()], ..CitedIds::default() };
        let text = "🛶 Tom rows. Tom rows. Ana waits.";
        let claims = json!([
            {"quote": "Ana waits.", "ids": ["b", "zz", "b"]},
            {"quote": "Tom rows.", "ids": ["a"]},
            {"quote": "Tom rows.", "ids": "b"},
            {"quote": "rows. Tom", "ids": ["a"]},
            {"quote": "Ana", "ids": []},
            {"quote": "not there", "ids": ["a"]},
            "noise"
        ]);
        let spans = evidence_spans(text, Some(&claims), &available);
        let utf16: Vec<u16> = text.encode_utf16().collect();
        let cut: Vec<String> = spans
            .iter()
            .map(|span| String::from_utf16_lossy(&utf16[span.start as usize..span.end as usize]))
            .collect();
        assert_eq!(cut, ["Tom rows.", "Tom rows.", "Ana waits."]);
        assert_eq!(spans[0].ids, ["a"]);
        assert_eq!(spans[2].ids, ["b"]);
    }
}
