//! Refreshes with a scripted language model: edits that fail, edits that do not fit, and the one
//! round in which they may be put right.

use crate::models::{detail, kiln, outcome, refresh};
use engine::models;
use engine::view::model::{ModelDetail, ModelState, NewModel, ReviewMode};
use llm::scripted::{Scripted, Step};
use serde_json::json;
use std::sync::Arc;
use tests::Fixture;

pub(crate) const PAGE: &str =
    "# Team\n\nAda leads.\n\nBen helps.\n\n# Risks\n\nThe door sticks.\n\nWood is short.\n";

/// A document that a person wrote, one new fact, and a script.
pub(crate) async fn page(script: &Scripted) -> (Fixture, ModelDetail) {
    let f = Fixture::scripted(Arc::new(script.clone())).await;
    let new = NewModel { content: Some(PAGE.to_owned()), ..kiln(ReviewMode::Auto, "delta") };
    models::create(&f.engine, &f.bank, new).await.expect("a model");
    f.fact("Cora joined the team of the kiln.", &["Cora"], "2026-02-20").await;
    let before = detail(&f).await;
    (f, before)
}

/// The turns of the loop that find the fact.
pub(crate) fn finds(script: &Scripted) {
    let args = |query: &str| json!({ "reason": "to look", "query": query });
    script.push(Step::call("search_observations", args("kiln")));
    script.push(Step::call("recall", args("kiln team")));
    script.push(Step::call(
        "done",
        json!({ "answer": "Cora joined the team.", "memory_ids": ["f1"] }),
    ));
}

/// An answer that adds one block to the first section.
pub(crate) fn append(model: &ModelDetail, text: &str) -> Step {
    let section = &model.structure.sections[0].id;
    Step::json(&json!({ "operations": [
        { "op": "append_block", "section_id": section, "text": text, "evidence": ["f1"] },
    ]}))
}

/// FC-01: a failed edit pass never replaces the document.
#[tokio::test]
async fn fc_01_edits_that_cannot_be_used_leave_everything_as_it_was() {
    let skipped = json!({ "operations": [
        { "op": "append_block", "section_id": "nowhere", "text": "x", "evidence": ["f1"] },
    ]});
    for (answer, reason) in [
        ("No idea, sorry.".to_owned(), "delta_ops_failed"),
        (String::new(), "delta_ops_failed"),
        (json!({ "answer": 1 }).to_string(), "delta_ops_failed"),
        (skipped.to_string(), "delta_ops_all_skipped"),
    ] {
        let script = Scripted::default();
        let (f, before) = page(&script).await;
        finds(&script);
        script.push_for("delta_ops", Step::text(answer.clone()));
        script.push_for("delta_repair", Step::text(answer));
        refresh(&f, false).await;
        script.assert_used_up();
        let after = detail(&f).await;
        assert_eq!(outcome(&after), "refresh_failed_delta_not_applied");
        let run = after.last_run.as_ref().expect("a run");
        assert_eq!(run.mode_fallback_reason.as_deref(), Some(reason));
        assert_eq!((&after.content, &after.structure), (&before.content, &before.structure));
        assert_eq!(after.model.version, before.model.version);
        assert_eq!(after.model.last_refreshed_at, before.model.last_refreshed_at);
        assert_eq!(after.model.last_memory_seen_at, before.model.last_memory_seen_at);
        assert_eq!(after.based_on, before.based_on);
        // The next run sees the same fact again.
        finds(&script);
        let section = &before.structure.sections[0].id;
        script.push_for(
            "delta_ops",
            Step::json(&json!({ "operations": [{
                "op": "append_block", "section_id": section, "text": "Cora joined.", "evidence": ["f1"],
            }]})),
        );
        refresh(&f, false).await;
        let good = detail(&f).await;
        assert_eq!(outcome(&good), "content_written", "{:?}", good.last_run);
        assert!(good.content.contains("Ben helps.\n\nCora joined.\n\n# Risks"));
    }
}

/// FC-02: no endless repetition of the same failure.
#[tokio::test]
async fn fc_02_a_cut_answer_is_asked_again_once_and_after_three_runs_a_rebuild_is_proposed() {
    let cut = r#"{"operations":[{"op":"append_block","section_id":"team","te"#;
    let script = Scripted::default();
    let (f, before) = page(&script).await;
    for _ in 0..3 {
        finds(&script);
        script.push_for("delta_ops", Step::cut_text(cut));
        script.push_for("delta_repair", Step::cut_text(cut));
        refresh(&f, false).await;
        script.assert_used_up();
    }
    for request in script.requests().iter().filter(|request| request.scope.starts_with("delta")) {
        assert_eq!(request.max_output, None, "no limit that could cut the edits");
    }
    let stuck = detail(&f).await;
    assert_eq!(stuck.model.state, ModelState::NeedsAttention);
    assert_eq!(stuck.content, before.content);
    finds_document(&script);
    refresh(&f, false).await;
    let waiting = detail(&f).await;
    assert_eq!(outcome(&waiting), "proposal_created", "{:?}", waiting.last_run);
    let run = waiting.last_run.as_ref().expect("a run");
    assert_eq!(run.mode_fallback_reason.as_deref(), Some("delta_wedged"));
    assert_eq!((waiting.content, waiting.model.version), (before.content, 1));
}

pub(crate) fn finds_document(script: &Scripted) {
    let args = |query: &str| json!({ "reason": "to look", "query": query });
    script.push(Step::call("search_observations", args("kiln")));
    script.push(Step::call("recall", args("kiln team")));
    script.push(Step::call(
        "done",
        json!({
            "document": { "sections": [{
                "heading": "Team",
                "level": 1,
                "blocks": [{ "text": "Cora joined the team.", "evidence": ["f1"] }],
            }] },
            "memory_ids": ["f1"],
        }),
    ));
}

/// FC-03: edits address blocks by id, and a wrong id hurts nothing.
#[tokio::test]
async fn fc_03_a_wrong_id_hurts_nothing() {
    let script = Scripted::default();
    let (f, before) = page(&script).await;
    finds(&script);
    let [team, risks] = [&before.structure.sections[0], &before.structure.sections[1]];
    let ops = json!({ "operations": [
        { "op": "replace_block", "section_id": team.id, "block_id": risks.blocks[0].id, "text": "x" },
        { "op": "replace_block", "section_id": risks.id, "block_id": "b9", "text": "x" },
        { "op": "append_block", "section_id": team.id, "text": "Cora joined.", "evidence": ["f1"] },
        { "op": "insert_block", "section_id": team.id, "after_block_id": "b8", "text": "x" },
    ]});
    script.push_for("delta_ops", Step::json(&ops));
    script.push_for("delta_repair", Step::json(&json!({ "operations": [] })));
    refresh(&f, false).await;
    script.assert_used_up();
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "content_written", "{:?}", after.last_run);
    assert_eq!(after.content, PAGE.replace("Ben helps.\n", "Ben helps.\n\nCora joined.\n"));
    let warnings = &after.last_run.as_ref().expect("a run").warnings;
    assert!(warnings.iter().any(|warning| warning.code == "ops_skipped"), "{warnings:?}");
    let asked = script.requests();
    let repair = asked.iter().find(|request| request.scope == "delta_repair").expect("a repair");
    let told = format!("{:?}", repair.messages);
    for reason in ["block_in_other_section", "unknown_block"] {
        assert!(told.contains(reason), "{told}");
    }
}
