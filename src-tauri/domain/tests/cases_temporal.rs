//! Cases of time: expressions in questions, nearness to a window, lying in one.

mod support;

use chrono::{FixedOffset, NaiveDateTime, TimeDelta};
use domain::consolidation::SourceTimes;
use domain::temporal::{
    TimeWindow, lies_in_window, read_time_window, read_window, temporal_proximity,
};
use serde_json::{Value, json};
use support::{moment, run, same};

fn reference(file: &Value, case: &Value) -> Result<NaiveDateTime, String> {
    let text = case["reference"].as_str().or_else(|| file["reference"].as_str());
    text.ok_or("no reference")?.parse().map_err(|error| format!("reference: {error}"))
}

fn read(file: &Value, case: &Value) -> Result<(), String> {
    let query = case["query"].as_str().ok_or("no query")?;
    let local = reference(file, case)?;
    let window = read_window(query, local.date());
    let days = window.map(|window| [window.first.to_string(), window.last.to_string()]);
    same(&json!(days), &case["expect"])?;
    if case.get("rule").is_some() {
        same(&json!(window.map(|window| window.rule.word())), &case["rule"])?;
    }
    // The same days must come out whatever the zone of the reference is.
    for hours in [-11, 0, 14] {
        let offset = FixedOffset::east_opt(hours * 3600).ok_or("an offset")?;
        let now = local.and_local_timezone(offset).single().ok_or("a moment")?;
        let span = read_time_window(query, now.into(), offset).map(|(span, _)| span);
        let days = span.map(|span| {
            [span.start, span.end].map(|at| at.with_timezone(&offset).naive_local().to_string())
        });
        let want = window.map(|window| {
            [format!("{} 00:00:00", window.first), format!("{} 23:59:59.999", window.last)]
        });
        same(&json!(days), &json!(want))?;
    }
    Ok(())
}

fn span_of(case: &Value) -> Result<TimeWindow, String> {
    let start = moment(&case["window"][0])?.ok_or("no start")?;
    let end = moment(&case["window"][1])?.ok_or("no end")?;
    // A window of days ends with its last day.
    let in_days = case["window"][1].as_str().is_some_and(|text| !text.contains('T'));
    let end = if in_days { end + TimeDelta::milliseconds(86_399_999) } else { end };
    Ok(TimeWindow { start, end })
}

fn times(case: &Value, start: &str, end: &str) -> Result<SourceTimes, String> {
    Ok(SourceTimes {
        occurred_start: moment(&case[start])?,
        occurred_end: moment(&case[end])?,
        mentioned_at: moment(&case["mentioned_at"])?,
    })
}

#[test]
fn temporal() {
    run("temporal", 31, |file, case| match case["op"].as_str() {
        None | Some("window" | "query") => read(file, case),
        Some("temporal_proximity") => {
            let nearness = temporal_proximity(span_of(case)?, times(case, "start", "end")?);
            same(&json!(nearness), &case["expect"])
        }
        Some("window_overlap") => {
            let times = times(case, "occurred_start", "occurred_end")?;
            same(&json!(lies_in_window(span_of(case)?, times)), &case["expect"])
        }
        Some(op) => Err(format!("unknown op {op:?}")),
    });
}
