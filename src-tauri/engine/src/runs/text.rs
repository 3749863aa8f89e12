//! A question as text that may leave the program: the answer with footnotes, or the whole record as
//! JSON. What rests on memories that must stay on this machine is left out before anything is
//! written; nothing here reads keys, and a report loses its technical detail.

use crate::view::model::EvidenceItem;
use crate::view::reflect::{ReflectRunView, RunPart, RunText};
use domain::footnotes::{Noted, noted, without_private};
use domain::time::to_rfc3339;
use domain::trace::Trace;
use domain::{Json, MemoryId, ModelId};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashSet};
use store::{BankKey, ReadTx};

/// Letters of a question in the name of a file.
const STEM: usize = 48;
const WITHHELD_ANSWER: &str =
    "The sources of this answer must stay on this computer, so it is not told here.";

/// Ids of a run, of memories and models, that must stay on this machine.
pub(super) fn private(
    tx: &ReadTx<'_>,
    bank: BankKey,
    view: &ReflectRunView,
) -> store::Result<HashSet<String>> {
    let row = store::banks::by_key(tx, bank)?;
    let tags = crate::settings::of_bank(tx, &row)?.local_only();
    let mut found = HashSet::new();
    if tags.is_empty() {
        return Ok(found);
    }
    for id in ids_of(view) {
        let stays = match store::models::find(tx, bank, &ModelId::from(id.as_str()))? {
            Some(model) => store::models::provenance::carries(tx, &model.head, &tags)?,
            None => store::tag_sets::any_carries(tx, bank, &[MemoryId(id.clone())], &tags)?,
        };
        if stays {
            found.insert(id);
        }
    }
    Ok(found)
}

/// Everything in a run that is called by an id: evidence and whatever the tools showed.
fn ids_of(view: &ReflectRunView) -> BTreeSet<String> {
    let items = view.based_on.iter().chain(&view.unused).map(|item| item.id.clone());
    let mut ids: BTreeSet<String> = items.collect();
    for call in &view.trace.tool_calls {
        if let Some(Json(output)) = &call.output {
            collect(output, &mut ids);
        }
    }
    ids
}

fn collect(value: &Value, ids: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, ids)),
        Value::Object(members) => {
            for (name, member) in members {
                match (name.as_str(), member) {
                    ("id" | "memory_id", Value::String(id)) => {
                        ids.insert(id.clone());
                    }
                    // Facts behind observations are called by their names in an object.
                    ("source_facts", Value::Object(facts)) => ids.extend(facts.keys().cloned()),
                    _ => {}
                }
                collect(member, ids);
            }
        }
        _ => {}
    }
}

/// The part of a run as text.
pub(super) fn write(view: &ReflectRunView, part: RunPart, private: &HashSet<String>) -> RunText {
    let stays = |item: &&EvidenceItem| private.contains(&item.id);
    let withheld = view.based_on.iter().chain(&view.unused).filter(stays).count();
    let open = opened(view, private);
    let text = match part {
        RunPart::Answer => answer(&open),
        RunPart::Record => record(&open),
    };
    RunText { text, withheld: u32::try_from(withheld).unwrap_or(u32::MAX) }
}

/// The run without what must stay on this machine.
fn opened(view: &ReflectRunView, private: &HashSet<String>) -> ReflectRunView {
    let mut open = view.clone();
    if let Some(report) = &mut open.report {
        report.detail = None;
    }
    let rests_on_private = view.based_on.iter().any(|item| private.contains(&item.id));
    open.based_on.retain(|item| !private.contains(&item.id));
    open.unused.retain(|item| !private.contains(&item.id));
    if rests_on_private {
        open.structured_output = None;
        let stays = |id: &str| private.contains(id);
        let kept = view.text.as_deref().map(|text| {
            let (text, spans) = without_private(text, &view.evidence_spans, stays);
            open.evidence_spans = spans;
            text
        });
        if open.evidence_spans.is_empty() {
            open.text = view.text.as_ref().map(|_| WITHHELD_ANSWER.to_owned());
        } else {
            open.text = kept;
        }
    }
    close_outputs(&mut open.trace, private);
    open
}

/// A result that held something private goes as a whole: passages beside it may tell the same. What
/// a language model wrote after it has seen one goes too.
fn close_outputs(trace: &mut Trace, private: &HashSet<String>) {
    let mut seen_in: Option<u32> = None;
    for call in &mut trace.tool_calls {
        if seen_in.is_some_and(|turn| call.iteration > turn) {
            call.reason = None;
            call.input = Json(Value::Null);
        }
        let mut ids = BTreeSet::new();
        if let Some(Json(output)) = &call.output {
            collect(output, &mut ids);
        }
        if ids.iter().any(|id| private.contains(id)) {
            call.output = None;
            seen_in.get_or_insert(call.iteration);
        }
    }
    trace.observations_accessed.retain(|id| !private.contains(id));
}

fn answer(view: &ReflectRunView) -> String {
    let text = view.text.as_deref().unwrap_or_default();
    let item = |id: &str| view.based_on.iter().find(|item| item.id == id);
    let Noted { text, sources } = noted(text, &view.evidence_spans, |id| item(id).is_some());
    let notes: Vec<String> = sources
        .iter()
        .enumerate()
        .filter_map(|(at, id)| Some(format!("[^{}]: {}", at + 1, note(item(id)?))))
        .collect();
    let rest: Vec<String> = view
        .based_on
        .iter()
        .filter(|item| !sources.contains(&item.id))
        .map(|item| format!("- {}", note(item)))
        .collect();
    let by = if view.extractive { "No language model wrote this. " } else { "" };
    let foot = format!("{by}Asked {}.", to_rfc3339(view.started_at));
    let parts = [
        format!("# {}", view.request.query.replace('\n', " ")),
        text.trim_end().to_owned(),
        notes.join("\n"),
        rest.join("\n"),
        foot,
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n") + "\n"
}

fn note(item: &EvidenceItem) -> String {
    let text = item.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let day = item.occurred_start.map(|at| to_rfc3339(at).chars().take(10).collect::<String>());
    let from: Vec<String> = day.into_iter().chain(item.document.clone()).collect();
    if from.is_empty() { text } else { format!("{text} ({})", from.join(", ")) }
}

fn record(view: &ReflectRunView) -> String {
    let whole = json!({ "format": "palimpsest.reflect_run", "version": 1, "run": view });
    // Plain data; what could not be written would read as empty.
    serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n"
}

/// The name that a file has by its question.
pub(super) fn file_stem(query: &str) -> String {
    let mut stem = String::new();
    for character in query.chars().flat_map(char::to_lowercase) {
        if character.is_alphanumeric() {
            stem.push(character);
        } else if !stem.is_empty() && !stem.ends_with('-') {
            stem.push('-');
        }
        if stem.chars().count() >= STEM {
            break;
        }
    }
    let stem = stem.trim_end_matches('-');
    if stem.is_empty() { "question".to_owned() } else { stem.to_owned() }
}

/// The first of that name, or one that stands beside it.
pub(super) fn file_name(stem: &str, twin: u32, part: RunPart) -> String {
    let ending = match part {
        RunPart::Answer => "md",
        RunPart::Record => "json",
    };
    if twin == 1 { format!("{stem}.{ending}") } else { format!("{stem}-{twin}.{ending}") }
}
