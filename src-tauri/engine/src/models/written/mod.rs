//! Documents with a language model: a full refresh takes the sections that the loop hands over, a
//! delta has the loop find what is new, takes back what withdrawn facts said, and has operations
//! written for the rest, with one round of corrections each. Nothing here writes to the file.

mod ask;
mod edit;
mod question;
mod shown;
mod unsay;

use super::refresh::Failure;
use super::refresh::course::Course;
use super::refresh::drafted::{Drafted, add_calls, cite, remark, succeed};
use super::refresh::plan::Plan;
use crate::Error;
use crate::events::EventSink;
use crate::llm_log;
use crate::prompts::{DELTA_SYSTEM, REFLECT_SYSTEM};
use crate::reflect::Chosen;
use crate::reflect::request::ReflectOutcome;
use ask::Editor;
use domain::citations::BasedOnMemory;
use domain::delta::Batch;
use domain::document::{LineEnd, assemble, reconcile};
use domain::model::Citation;
use domain::refresh::FailureReason;
use domain::tags::TagSet;
use domain::trace::RunEvent;
use domain::trigger::RefreshMode;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// Drafts a refresh with the language model in use.
pub(super) async fn draft(
    course: &Course<'_>,
    plan: &Plan,
    chosen: Chosen,
) -> Result<Drafted, Failure> {
    match plan.mode.effective {
        RefreshMode::Full => full(course, plan).await,
        RefreshMode::Delta => {
            let work = Box::pin(delta(course, plan, chosen));
            llm_log::within(course.calls(&DELTA_SYSTEM), work).await
        }
    }
}

/// Tells watchers which turn the loop is at.
struct Turns<'a>(&'a Course<'a>);

impl EventSink for Turns<'_> {
    fn emit(&mut self, event: RunEvent) {
        if let RunEvent::IterationStarted { i, n, .. } = event {
            self.0.step("reflecting", Some((i, n)));
        }
    }
}

/// The loop over scope and window.
async fn reflect(course: &Course<'_>, plan: &Plan) -> Result<ReflectOutcome, Failure> {
    course.tell("reflecting");
    let request = question::of(course, plan);
    let mut turns = Turns(course);
    let run = crate::reflect::run::run(course.engine, &request, &mut turns, course.cancel);
    let ended = llm_log::within(course.calls(&REFLECT_SYSTEM), Box::pin(run)).await;
    ended.map_err(|failed| {
        let mut drafted = Drafted::nothing(plan.model.document.clone(), false);
        drafted.usage = failed.trace.usage();
        let told = failed.trace.warnings.iter();
        drafted.warnings = told.map(|w| remark(&w.code, w.message.clone())).collect();
        drafted.trace = serde_json::to_value(&*failed.trace).unwrap_or(Value::Null);
        Failure::of(failed.error, None).after(drafted)
    })
}

/// What both kinds take over from the loop.
fn begun(plan: &Plan, outcome: &ReflectOutcome) -> Drafted {
    let mut drafted = Drafted::nothing(plan.model.document.clone(), false);
    drafted.text.clone_from(&outcome.text);
    drafted.basis = outcome.basis;
    drafted.trace = serde_json::to_value(&outcome.trace).unwrap_or(Value::Null);
    drafted.usage = outcome.usage;
    for memory in &outcome.retrieved.memories {
        *drafted.retrieved.entry(memory.fact_type.word().to_owned()).or_default() += 1;
    }
    drafted.used = outcome.used.memories.iter().map(|memory| citation(plan, memory)).collect();
    let models = outcome.used.models.iter();
    drafted.used.extend(models.map(|model| named(&model.id, &model.text, "mental-models")));
    let directives = outcome.directives.iter();
    drafted.directives = directives
        .map(|directive| named(&directive.id, &directive.content, "directives"))
        .collect();
    drafted.warnings =
        outcome.warnings.iter().map(|w| remark(&w.code, w.message.clone())).collect();
    drafted
}

fn named(id: &str, text: &str, kind: &str) -> Citation {
    Citation {
        id: id.to_owned(),
        text: text.to_owned(),
        kind: kind.to_owned(),
        context: None,
        occurred_start: None,
        mentioned_at: None,
        first_cited_version: None,
    }
}

fn citation(plan: &Plan, memory: &BasedOnMemory) -> Citation {
    if let Some(known) = plan.window.iter().find(|known| known.id.as_str() == memory.id) {
        return cite(known);
    }
    Citation {
        context: memory.context.clone(),
        occurred_start: memory.occurred_start,
        ..named(&memory.id, &memory.text, memory.fact_type.word())
    }
}

/// A rebuilt document, with the ids of what stayed.
async fn full(course: &Course<'_>, plan: &Plan) -> Result<Drafted, Failure> {
    let outcome = reflect(course, plan).await?;
    let mut drafted = begun(plan, &outcome);
    if drafted.used.is_empty() {
        return Ok(drafted);
    }
    let (document, evidence) = match &outcome.sections {
        Some(sections) => {
            let assembled = assemble(sections, LineEnd::Lf);
            (assembled.document, assembled.evidence)
        }
        None => (domain::document::parse(&outcome.text), Vec::new()),
    };
    let by_place: HashMap<String, Vec<String>> = evidence.into_iter().collect();
    let fresh: Vec<String> = document.blocks().map(|block| block.id.clone()).collect();
    let document = reconcile(&plan.model.document, document);
    drafted.block_evidence = fresh
        .iter()
        .zip(document.blocks())
        .filter_map(|(fresh, block)| Some((block.id.clone(), by_place.get(fresh)?.clone())))
        .collect();
    drafted.document = domain::delta::keep_locked(&plan.model.document, &document, &plan.locks);
    drafted.text = drafted.document.render();
    Ok(drafted)
}

/// Operations for what is new, and for what is no longer true.
async fn delta(course: &Course<'_>, plan: &Plan, chosen: Chosen) -> Result<Drafted, Failure> {
    // With nothing written since, only withdrawn and carried facts are left, and they are known.
    let mut drafted = if plan.window_count > 0 {
        begun(plan, &reflect(course, plan).await?)
    } else {
        Drafted::nothing(plan.model.document.clone(), false)
    };
    succeed(plan, &mut drafted);
    let kept_here = kept_here(plan, &chosen);
    let facts = facts(plan, &mut drafted, &kept_here);
    if drafted.text.trim().is_empty() {
        let texts: Vec<&str> = facts.iter().map(|fact| fact.text.as_str()).collect();
        drafted.text = texts.join("\n");
    }
    let mut batch = Batch::new(&plan.model.document);
    let mut sink = crate::events::NoSink;
    let mut editor = Editor::new(course, plan, chosen, &mut sink);
    let unsaid = editor.unsay(&mut batch, &mut drafted, &kept_here).await;
    let unsay_ops = batch.len();
    let edited = match unsaid {
        Ok(()) if facts.is_empty() => Ok(()),
        Ok(()) => editor.edit(&mut batch, &mut drafted, &facts).await,
        Err(error) => Err(Failure::of(error, None)),
    };
    for call in editor.calls() {
        drafted.usage.add(&call.usage());
    }
    add_calls(&mut drafted.trace, editor.calls());
    drafted.finish(batch, unsay_ops);
    match edited {
        Ok(()) => Ok(drafted),
        Err(failure) => {
            if failure.reason == Some(FailureReason::DeltaOpsFailed) {
                drafted.warnings.push(remark("delta_not_applied", failure.report.message.clone()));
            }
            Err(failure.after(drafted))
        }
    }
}

/// Tags whose memories must not be shown to a language model elsewhere.
fn kept_here(plan: &Plan, chosen: &Chosen) -> TagSet {
    if chosen.local { TagSet::default() } else { plan.settings.local_only() }
}

/// The facts to work in: what the loop used, and what was carried over. Both are evidence of the
/// run. What a person declined is not offered again.
fn facts(plan: &Plan, drafted: &mut Drafted, kept_here: &TagSet) -> Vec<Citation> {
    let offered = plan.offered();
    let known: BTreeSet<String> = drafted.facts().into_iter().collect();
    let carried = plan.window.iter().filter(|memory| {
        offered.contains(memory.id.as_str())
            && !known.contains(memory.id.as_str())
            && !TagSet::new(&memory.tags).overlaps(kept_here)
    });
    drafted.used.extend(carried.map(cite).collect::<Vec<_>>());
    let declined = plan.declined();
    let settled = |id: &String| drafted.judged.already_reflected.contains(id);
    let facts: BTreeSet<String> = drafted.facts().into_iter().collect();
    let shown: Vec<Citation> = drafted
        .used
        .iter()
        .filter(|cited| facts.contains(&cited.id))
        .filter(|cited| !declined.contains(&cited.id) && !settled(&cited.id))
        .cloned()
        .collect();
    drafted.judged.irrelevant.extend(declined.into_iter().filter(|id| facts.contains(id)));
    shown
}

/// Whether an error says that the run was stopped.
fn is_cancelled(error: &Error) -> bool {
    error.reason() == "cancelled"
}
