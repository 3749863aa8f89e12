//! The trace of a run: what it called, what came of its edits, how it ended. Made once at the end,
//! for a run that failed too. What is stored leaves the results of searches out and stays small.

use super::drafted::{Drafted, op_list};
use super::record::Ending;
use crate::models::loaded::to_json;
use domain::Instant;
use domain::delta::OpStatus;
use domain::model::RunWarning;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Most bytes of a stored trace (mental-models 10).
const CAP: usize = 64 * 1024;
/// Characters that a cut input keeps at least.
const LEAST: usize = 40;
/// Characters of an unreadable answer that a trace keeps.
const RAW_KEPT: usize = 4000;

/// Everything that a run did, with the results of its searches.
pub(super) fn whole(
    drafted: &Drafted,
    ending: &Ending,
    warnings: &[RunWarning],
    window_after: Option<Instant>,
    now: Instant,
) -> Value {
    let mut trace = match &drafted.trace {
        Value::Object(loop_trace) => loop_trace.clone(),
        _ => serde_json::Map::new(),
    };
    let mut put = |key: &str, value: Value| drop(trace.insert(key.to_owned(), value));
    put("recorded_at", json!(now));
    put("effective_mode", to_json(&ending.effective));
    put("mode_fallback_reason", to_json(&ending.fallback()));
    put("outcome", to_json(&ending.outcome));
    put("delta_operations", operations(drafted));
    put("retraction", to_json(&drafted.retraction));
    put("usage", to_json(&drafted.usage));
    put("duration_ms", json!(ending.duration_ms(now)));
    put("warnings", to_json(warnings));
    for list in ["tool_calls", "llm_calls"] {
        trace.entry(list).or_insert_with(|| json!([]));
    }
    for call in trace.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
        let bounded = matches!(call["tool"].as_str(), Some("recall" | "search_observations"));
        if let Some(call) = call.as_object_mut() {
            let after = window_after.filter(|_| bounded);
            call.insert("window_after".to_owned(), json!(after));
        }
    }
    Value::Object(trace)
}

/// The edits by what became of them; null for a rebuilt document.
fn operations(drafted: &Drafted) -> Value {
    let Some(applied) = &drafted.applied else {
        return drafted.raw_reply.as_ref().map_or(Value::Null, |raw| json!({ "unreadable": raw }));
    };
    let list = |status| -> Vec<Value> {
        let all = op_list(applied).into_iter().zip(&applied.results);
        all.filter(|(_, result)| result.status == status).map(|(op, _)| op).collect()
    };
    json!({
        "applied": list(OpStatus::Applied),
        "noop": list(OpStatus::Noop),
        "skipped": list(OpStatus::Skipped),
        "unreadable": drafted.raw_reply,
    })
}

/// A trace as it is stored: without results of searches, and no larger than the cap.
pub(super) fn stored(whole: &Value) -> Value {
    let mut trace = whole.clone();
    for call in calls(&mut trace) {
        if let Some(call) = call.as_object_mut() {
            call.remove("output");
        }
    }
    capped(trace)
}

fn calls(trace: &mut Value) -> &mut [Value] {
    trace.get_mut("tool_calls").and_then(Value::as_array_mut).map_or(&mut [], Vec::as_mut_slice)
}

fn size(value: &Value) -> usize {
    value.to_string().len()
}

/// Cuts the longest inputs of tools first, then the texts of edits, until the trace fits.
fn capped(mut trace: Value) -> Value {
    let mut over = size(&trace).saturating_sub(CAP);
    if over == 0 {
        return trace;
    }
    trace["truncated"] = Value::Bool(true);
    over = size(&trace).saturating_sub(CAP);
    let mut lengths: Vec<(usize, usize)> =
        calls(&mut trace).iter().map(|call| size(&call["input"])).enumerate().collect();
    lengths.sort_by_key(|(_, length)| std::cmp::Reverse(*length));
    for (at, length) in lengths {
        if over == 0 || length <= LEAST {
            break;
        }
        let text = calls(&mut trace)[at]["input"].to_string();
        let mut keep = length;
        // What JSON escapes in a text grows when it is quoted, so one cut may not be enough.
        while over > 0 && keep > LEAST {
            keep = keep.saturating_sub(over + 64).max(LEAST);
            let cut = format!("{}…", &text[..text.floor_char_boundary(keep)]);
            calls(&mut trace)[at]["input"] = Value::String(cut);
            over = size(&trace).saturating_sub(CAP);
        }
    }
    if over > 0 {
        shorten_texts(&mut trace);
        over = size(&trace).saturating_sub(CAP);
    }
    if over > 0
        && let Some(trace) = trace.as_object_mut()
    {
        let count = |value: &Value| value.as_array().map_or(0, Vec::len);
        let (tools, llm) = (count(&trace["tool_calls"]), count(&trace["llm_calls"]));
        trace.insert("delta_operations".to_owned(), Value::Null);
        trace.insert("left_out".to_owned(), json!({ "tool_calls": tools, "llm_calls": llm }));
        for list in ["tool_calls", "llm_calls"] {
            while size(&trace[list]) > CAP / 3 {
                let Some(list) = trace.get_mut(list).and_then(Value::as_array_mut) else { break };
                list.pop();
            }
        }
    }
    trace
}

fn shorten_texts(trace: &mut Value) {
    for list in ["applied", "noop", "skipped"] {
        let ops = trace["delta_operations"].get_mut(list).and_then(Value::as_array_mut);
        for op in ops.into_iter().flatten() {
            if let Some(text) = op.get("text").and_then(Value::as_str) {
                op["text"] = Value::String(beginning(text, 200));
            }
        }
    }
}

/// The beginning of an answer that could not be read, for the record.
pub(crate) fn beginning_of_reply(text: &str) -> String {
    beginning(text, RAW_KEPT)
}

/// The beginning of a text, marked as cut.
fn beginning(text: &str, chars: usize) -> String {
    let mut cut: String = text.chars().take(chars).collect();
    if cut.len() < text.len() {
        let _ = write!(cut, "…");
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(inputs: &[usize]) -> Value {
        let calls: Vec<Value> = inputs
            .iter()
            .map(|n| json!({ "tool": "recall", "input": { "query": "é".repeat(*n) }, "output": [1] }))
            .collect();
        json!({ "tool_calls": calls, "llm_calls": [], "delta_operations": null })
    }

    #[test]
    fn a_small_trace_is_stored_as_it_is_without_results() {
        let stored = stored(&trace(&[10]));
        assert_eq!(stored["tool_calls"][0]["input"]["query"], "é".repeat(10));
        assert_eq!(stored["tool_calls"][0].get("output"), None);
        assert_eq!(stored.get("truncated"), None);
    }

    #[test]
    fn the_longest_inputs_are_cut_first() {
        let stored = stored(&trace(&[100, 60_000, 200]));
        assert!(size(&stored) <= CAP, "{}", size(&stored));
        assert_eq!(stored["truncated"], true);
        assert_eq!(stored["tool_calls"][0]["input"]["query"], "é".repeat(100));
        assert_eq!(stored["tool_calls"][2]["input"]["query"], "é".repeat(200));
        assert!(stored["tool_calls"][1]["input"].is_string());
    }

    #[test]
    fn a_trace_of_many_calls_fits_too() {
        let stored = stored(&trace(&[300; 900]));
        assert!(size(&stored) <= CAP, "{}", size(&stored));
        assert_eq!(stored["left_out"]["tool_calls"], 900);
    }
}
