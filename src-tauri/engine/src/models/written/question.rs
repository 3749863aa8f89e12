//! The question of a refresh: the model's own, over its scope and window, with what its owner has
//! said about the document.

use super::shown::guidance_lines;
use crate::models::refresh::course::Course;
use crate::models::refresh::plan::{Plan, run_scope};
use crate::reflect::request::{ExcludedModels, ReflectRequest, Window};
use domain::ModelId;
use domain::trigger::RefreshMode;
use std::fmt::Write as _;

/// What the loop is asked.
pub(super) fn of(course: &Course<'_>, plan: &Plan) -> ReflectRequest {
    let head = &plan.model.row.head;
    let scope = &plan.model.scope;
    let trigger = &plan.model.trigger;
    let bank = course.bank.clone();
    ReflectRequest {
        context: Some(context(plan)),
        budget: trigger.budget(),
        max_tokens: head.max_tokens,
        scope: run_scope(scope),
        fact_types: scope.fact_types.clone(),
        exclude_models: ExcludedModels {
            all: scope.exclude_mental_models,
            ids: scope.exclude_mental_model_ids.iter().cloned().map(ModelId).collect(),
        },
        window: Window { after_seq: plan.after_seq, cutoff_seq: Some(plan.cutoff_seq) },
        recall_max_tokens: trigger.recall_max_tokens,
        observations_max_tokens: trigger.reflect_search_observations_max_tokens,
        chunks_max_tokens: trigger.recall_chunks_max_tokens,
        include_chunks: trigger.include_chunks,
        observation_entities: trigger.reflect_search_observations_include_entities,
        answer_as_document: plan.mode.effective == RefreshMode::Full,
        operation_label: "refresh",
        urgency: course.urgency(),
        ..ReflectRequest::question(course.run.clone(), bank, head.source_query.clone())
    }
}

/// What the answer is for, what was said about it, and what it may no longer say.
fn context(plan: &Plan) -> String {
    let mut context = format!(
        "The answer is the document \"{}\". Stay on its topic, keep concrete examples and dates, \
         and organise it by topic.",
        plan.model.row.head.name
    );
    if plan.mode.effective == RefreshMode::Delta {
        context.push_str(
            " Only what is new since the document was last written can be found; say what is new.",
        );
    }
    for line in guidance_lines(&plan.guidance) {
        let _ = write!(context, "\n{line}");
    }
    let withdrawn = plan.withdrawn();
    if !withdrawn.is_empty() {
        context.push_str("\nFacts that the document used to rest on and that are withdrawn:");
        for fact in plan.partition.act.iter().filter(|fact| withdrawn.contains(&fact.id)) {
            let _ = write!(context, "\n- {}", fact.text);
        }
    }
    context
}
