//! Refreshes with a scripted language model: edits that fail, edits that do not fit, and the one
//! round in which they may be put right.

use crate::models::{detail, id, kiln, outcome, refresh};
use engine::models;
use engine::view::model::{
    ModelDetail, ModelPatch, ModelState, NewModel, ReviewMode, TimelineEntry,
};
use engine::view::operation::OperationStatus;
use llm::scripted::{Scripted, Step};
use serde_json::{Value, json};
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

/// A document of six sections on forty memories, with a structured view, built by a refresh.
async fn large(script: &Scripted) -> (Fixture, ModelDetail) {
    let f = Fixture::scripted(Arc::new(script.clone())).await;
    for n in 0..40 {
        let text = format!("The kiln of the workshop, entry {n}.");
        f.fact(&text, &["Kiln"], &format!("2026-01-{:02}", n % 28 + 1)).await;
    }
    let args = |query: &str| json!({ "reason": "to look", "query": query });
    script.push(Step::call("search_observations", args("kiln")));
    script.push(Step::call("recall", args("kiln workshop entry")));
    let sections: Vec<Value> = (0..6)
        .map(|section| {
            let facts: Vec<String> =
                (1..=40).filter(|n| n % 6 == section).map(|n| format!("f{n}")).collect();
            json!({ "heading": format!("Part {section}"), "level": 2, "blocks": [
                { "text": format!("Part {section} says much."), "evidence": facts },
            ] })
        })
        .collect();
    let all: Vec<String> = (1..=40).map(|n| format!("f{n}")).collect();
    let document = json!({ "document": { "sections": sections }, "memory_ids": all });
    script.push(Step::call("done", document));
    script.push_for("structured", Step::json(&json!({ "parts": 6 })));
    let schema = json!({ "type": "object", "properties": { "parts": { "type": "integer" } } });
    let new = NewModel {
        trigger: Some(json!({ "mode": "delta", "response_schema": schema }).into()),
        ..kiln(ReviewMode::Auto, "delta")
    };
    models::create(&f.engine, &f.bank, new).await.expect("a model");
    f.run_queue().await;
    let built = detail(&f).await;
    assert_eq!(outcome(&built), "content_written", "{:?}", built.last_run);
    assert_eq!((built.structure.sections.len(), built.based_on.len()), (6, 40));
    (f, built)
}

/// FC-01: a failed edit pass never replaces the document.
#[tokio::test]
async fn fc_01_edits_that_cannot_be_used_leave_everything_as_it_was() {
    let answer = llm::Answer {
        status: 500,
        code: None,
        message: "boom".to_owned(),
        body: "boom".to_owned(),
    };
    let broken = move || {
        Step::error(llm::Error::Failed {
            endpoint: "http://localhost".to_owned(),
            retry_after: None,
            answer: Box::new(answer.clone()),
        })
    };
    let rejected = || {
        Step::json(&json!({ "operations": [
            { "op": "append_block", "section_id": "nowhere", "text": "x", "evidence": ["f1"] },
            { "op": "remove_block", "section_id": "part-1", "block_id": "b9" },
        ]}))
    };
    for (fault, reason) in [
        ("HTTP 500", "delta_ops_failed"),
        ("unreadable", "delta_ops_failed"),
        ("all rejected", "delta_ops_all_skipped"),
        ("empty", "delta_ops_failed"),
    ] {
        let script = Scripted::default();
        let (f, before) = large(&script).await;
        f.clock.advance_ms(1000);
        f.fact("Cora joined the team of the kiln of the workshop.", &["Cora"], "2026-02-20").await;
        finds(&script);
        // A failed call is sent once more, an unusable answer is asked to be corrected.
        for scope in ["delta_ops", if fault == "HTTP 500" { "delta_ops" } else { "delta_repair" }] {
            let step = match fault {
                "HTTP 500" => broken(),
                "unreadable" => Step::text("{\"operations\": [{\"op\": "),
                "all rejected" => rejected(),
                _ => Step::text(""),
            };
            script.push_for(scope, step);
        }
        refresh(&f, false).await;
        script.assert_used_up();
        let after = detail(&f).await;
        assert_eq!(outcome(&after), "refresh_failed_delta_not_applied", "{fault}");
        let run = after.last_run.as_ref().expect("a run");
        assert_eq!(run.mode_fallback_reason.as_deref(), Some(reason), "{fault}");
        assert_eq!(run.effective_mode, "delta", "{fault}: it does not turn into a rebuild");
        assert_eq!((&after.content, &after.structure), (&before.content, &before.structure));
        assert_eq!(after.structured_output, before.structured_output);
        assert_eq!(after.model.version, before.model.version);
        assert_eq!(after.model.last_refreshed_at, before.model.last_refreshed_at);
        assert_eq!(after.model.last_memory_seen_at, before.model.last_memory_seen_at);
        assert_eq!((&after.based_on, &after.blame), (&before.based_on, &before.blame));
        let versions = models::timeline(&f.engine, &f.bank, &id()).await.expect("a timeline");
        let kept = |entry: &&TimelineEntry| matches!(entry, TimelineEntry::Version { .. });
        assert_eq!(versions.iter().filter(kept).count(), 1, "{fault}");
        // The next run starts at the same point and sees the same memory again.
        finds(&script);
        script.push_for("delta_ops", append(&before, "Cora joined."));
        script.push_for("structured", Step::json(&json!({ "parts": 7 })));
        refresh(&f, false).await;
        let good = detail(&f).await;
        assert_eq!(outcome(&good), "content_written", "{fault}: {:?}", good.last_run);
        assert!(good.content.contains("says much.\n\nCora joined.\n\n## Part"));
        let runs = models::refresh_runs(&f.engine, &f.bank, &id()).await.expect("runs");
        assert_eq!(
            (runs[0].window.after_seq, runs[0].window.memories),
            (runs[1].window.after_seq, 1)
        );
    }
}

/// A paragraph that is put elsewhere and taken from its old place is not taken for one that stands
/// already; whether the removal comes at once or with the correction.
#[tokio::test]
async fn a_paragraph_that_is_moved_stands_at_its_new_place() {
    for at_once in [true, false] {
        let script = Scripted::default();
        let (f, before) = page(&script).await;
        let [team, risks] = [&before.structure.sections[0], &before.structure.sections[1]];
        let to_risks = json!({ "op": "append_block", "section_id": risks.id, "text": "Ben helps.",
            "evidence": ["f1"] });
        let take = |section: &str| {
            json!({ "op": "remove_block", "section_id": section, "block_id": team.blocks[1].id,
                "evidence": ["f1"] })
        };
        finds(&script);
        let first = if at_once { take(&team.id) } else { take("nowhere") };
        script.push_for("delta_ops", Step::json(&json!({ "operations": [to_risks, first] })));
        if !at_once {
            let second = json!({ "operations": [take(&team.id)] });
            script.push_for("delta_repair", Step::json(&second));
        }
        refresh(&f, false).await;
        script.assert_used_up();
        let after = detail(&f).await;
        assert_eq!(outcome(&after), "content_written", "{at_once}: {:?}", after.last_run);
        let moved =
            "# Team\n\nAda leads.\n\n# Risks\n\nThe door sticks.\n\nWood is short.\n\nBen helps.\n";
        assert_eq!(after.content, moved, "{at_once}");
    }
}

/// FC-02: no endless repetition of the same failure.
#[tokio::test]
async fn fc_02_a_cut_answer_is_asked_again_once_and_after_three_runs_a_rebuild_is_proposed() {
    let cut = r#"{"operations":[{"op":"append_block","section_id":"habits","te"#;
    let script = Scripted::default();
    let (f, before) = page(&script).await;
    let small = ModelPatch { max_tokens: Some(1024), ..ModelPatch::default() };
    models::update(&f.engine, &f.bank, &id(), small).await.expect("an update");
    for n in 1..=3 {
        finds(&script);
        script.push_for("delta_ops", Step::cut_text(cut));
        script.push_for("delta_repair", Step::cut_text(cut));
        refresh(&f, false).await;
        script.assert_used_up();
        let failed = detail(&f).await;
        let wanted = if n < 3 { ModelState::Failed } else { ModelState::NeedsAttention };
        assert_eq!(failed.model.state, wanted, "after {n}");
        let operation = &engine::ops::list(&f.engine, &f.bank).await.expect("operations")[0];
        assert_eq!(operation.status, OperationStatus::Failed, "it is not tried again by itself");
    }
    for request in script.requests().iter().filter(|request| request.scope.starts_with("delta")) {
        assert_eq!(request.max_output, None, "no limit that could cut the edits");
    }
    let stuck = detail(&f).await;
    assert_eq!(stuck.content, before.content);
    let run = stuck.last_run.as_ref().expect("a run");
    let trace = run.trace.as_ref().expect("a failure keeps its trace");
    assert_eq!(trace.0["delta_operations"]["unreadable"], cut, "the raw reply can be read");
    assert_eq!(run.report.as_ref().map(|report| report.reason.as_str()), Some("delta_ops_failed"));
    // A preview of the full rebuild, and then the rebuild itself.
    finds_document(&script);
    let told = models::dry_run(&f.engine, &f.bank, &id(), None).await.expect("a dry run");
    assert_eq!(told.mode_fallback_reason.as_deref(), Some("delta_wedged"));
    assert!(told.would_propose && told.window.after_seq.is_none());
    finds_document(&script);
    refresh(&f, false).await;
    let waiting = detail(&f).await;
    assert_eq!(outcome(&waiting), "proposal_created", "{:?}", waiting.last_run);
    let run = waiting.last_run.as_ref().expect("a run");
    assert_eq!(run.mode_fallback_reason.as_deref(), Some("delta_wedged"));
    assert_eq!((waiting.content, waiting.model.version), (before.content, 1));
    let row = models::proposals::inbox(&f.engine, &f.bank).await.expect("an inbox").remove(0);
    assert_eq!((row.reason.as_str(), row.origin.as_str()), ("delta_wedged", "full"));
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

/// FC-04: untouched text is untouched, whatever it is, when a full refresh stored it.
#[tokio::test]
async fn fc_04_what_a_full_refresh_stored_keeps_its_bytes_through_ten_deltas() {
    let blocks = [
        "a | b\n- | -:\n1 | 2",
        "| x |\n|:-:|\n| y |",
        "- one\n  - two\n    - three\n      more",
        "> quoted\n> text",
        "Lead  \nwith a hard break",
        "<div class=\"x\">raw</div>",
        "    indented",
        "```rust\n# not a heading\n\nlet a = 1;\n```",
        "---",
        "- [ ] task\n- [x] done",
        "Note[^1] 👩‍👩‍👧 שלום\u{2028}on",
        "[^1]: foot",
    ];
    let script = Scripted::default();
    let f = Fixture::scripted(Arc::new(script.clone())).await;
    f.fact("The kiln of the workshop reaches 1200 degrees.", &["Kiln"], "2026-01-04").await;
    let args = |query: &str| json!({ "reason": "to look", "query": query });
    script.push(Step::call("search_observations", args("kiln")));
    script.push(Step::call("recall", args("kiln")));
    let odd: Vec<Value> =
        blocks.iter().map(|text| json!({ "text": text, "evidence": ["f1"] })).collect();
    script.push(Step::call(
        "done",
        json!({ "document": { "sections": [
            { "heading": "Odd", "level": 2, "blocks": odd },
            { "heading": "Kiln", "level": 2, "blocks": [
                { "text": "It reaches 1200 degrees.", "evidence": ["f1"] },
            ] },
        ] }, "memory_ids": ["f1"] }),
    ));
    models::create(&f.engine, &f.bank, kiln(ReviewMode::Auto, "delta")).await.expect("a model");
    f.run_queue().await;
    let before = detail(&f).await;
    assert_eq!(outcome(&before), "content_written", "{:?}", before.last_run);
    let stored: Vec<&str> = before.structure.blocks().map(|block| block.text.as_str()).collect();
    assert_eq!(stored[..blocks.len()], blocks, "every block as it was written");
    assert_eq!(before.content, before.structure.render());
    for n in 1..=10 {
        let day = format!("2026-02-{n:02}");
        f.fact(&format!("The kiln was fired {n} times."), &["Kiln"], &day).await;
        finds(&script);
        let section = &before.structure.sections[1].id;
        let text = format!("Fired {n} times.");
        script.push_for(
            "delta_ops",
            Step::json(&json!({ "operations": [
                { "op": "append_block", "section_id": section, "text": text, "evidence": ["f1"] },
            ]})),
        );
        refresh(&f, false).await;
        let after = detail(&f).await;
        assert_eq!(outcome(&after), "content_written", "{n}: {:?}", after.last_run);
        assert_eq!(after.structure.sections[0], before.structure.sections[0], "after {n}");
        assert_eq!(after.content, after.structure.render());
        assert_eq!(domain::document::parse(&after.content).render(), after.content);
    }
}

/// FC-06: a refusal is not a document, also when a language model writes it.
#[tokio::test]
async fn fc_06_a_text_that_nothing_was_found_replaces_no_document() {
    let script = Scripted::default();
    let (f, before) = large(&script).await;
    // Another model says something, so that there is something to look into.
    let sibling = NewModel {
        id: Some("other".to_owned()),
        content: Some("# Other\n\nOf something else.\n".to_owned()),
        ..kiln(ReviewMode::Auto, "full")
    };
    models::create(&f.engine, &f.bank, sibling).await.expect("a model");
    let wrong = ModelPatch {
        trigger: Some(json!({ "tags_match": "any_strict", "fact_types": ["experience"] }).into()),
        ..ModelPatch::default()
    };
    models::update(&f.engine, &f.bank, &id(), wrong).await.expect("an update");
    f.clock.advance_ms(1000);
    for full in [true, false] {
        let asked = script.requests().len();
        if full {
            let args = |query: &str| json!({ "reason": "to look", "query": query });
            script.push(Step::call("search_mental_models", args("kiln")));
            script.push(Step::call("recall", args("kiln")));
            let nothing = "I do not have information about that.";
            script.push(Step::call(
                "done",
                json!({ "document": { "sections": [{ "heading": "", "level": 2, "blocks": [
                    { "text": nothing, "evidence": [] },
                ] }] }, "memory_ids": [], "mental_model_ids": [] }),
            ));
        }
        refresh(&f, full).await;
        script.assert_used_up();
        let kept = detail(&f).await;
        assert_eq!(outcome(&kept), "content_preserved_no_new_facts", "{:?}", kept.last_run);
        assert_eq!((&kept.content, kept.model.version), (&before.content, 1));
        if full {
            assert!(script.requests().len() > asked);
            let warnings = kept.last_run.expect("a run").warnings;
            let told = warnings.iter().find(|w| w.code == "no_facts_retrieved");
            let told = &told.unwrap_or_else(|| panic!("{warnings:?}")).message;
            for words in ["rests on 40 memories", "only experience", "it read: all memories"] {
                assert!(told.contains(words), "{words}: {told}");
            }
        }
    }
}

/// Notes, declined changes and a person's hand are told; what was declined is not offered again.
#[tokio::test]
async fn what_the_owner_said_is_told_to_the_next_refresh() {
    use engine::models::proposals;
    use engine::view::proposal::{DecideOps, Decision, Turn};
    let script = Scripted::default();
    let (f, before) = page(&script).await;
    let manual = ModelPatch { review: Some(ReviewMode::Manual), ..ModelPatch::default() };
    models::update(&f.engine, &f.bank, &id(), manual).await.expect("an update");
    f.fact("Dora left the team of the kiln.", &["Dora"], "2026-02-21").await;
    let section = &before.structure.sections[0].id;
    let op = |text: &str, fact: &str| json!({ "op": "append_block", "section_id": section, "text": text, "evidence": [fact] });
    let args = |query: &str| json!({ "reason": "to look", "query": query });
    script.push(Step::call("search_observations", args("kiln")));
    script.push(Step::call("recall", args("kiln team")));
    let both = json!({ "answer": "News.", "memory_ids": ["f1", "f2"] });
    script.push(Step::call("done", both));
    let ops = json!({ "operations": [op("One.", "f1"), op("Two.", "f2")] });
    script.push_for("delta_ops", Step::json(&ops));
    refresh(&f, false).await;
    let row = proposals::inbox(&f.engine, &f.bank).await.expect("an inbox").remove(0);
    let mut view = proposals::get(&f.engine, &f.bank, &row.id).await.expect("the proposal");
    for (text, decision) in [("One.", Decision::Rejected), ("Two.", Decision::Accepted)] {
        let op = view.ops.iter().find(|op| op.new_text.as_deref() == Some(text)).expect("it");
        let op_id = op.op_id.clone();
        if decision == Decision::Rejected {
            let note = Some("Nobody needs to know.".to_owned());
            view = proposals::set_note(
                &f.engine,
                &f.bank,
                &row.id,
                &op_id,
                note,
                Turn::at(view.state_seq),
            )
            .await
            .expect("a note");
        }
        let input = DecideOps::all(&[op_id], decision);
        view = proposals::decide(&f.engine, &f.bank, &row.id, input, Turn::at(view.state_seq))
            .await
            .expect("a decision");
    }
    let sure = crate::proposals::sure();
    proposals::approve(&f.engine, &f.bank, &row.id, sure, Turn::at(view.state_seq))
        .await
        .expect("a version");
    f.fact("Emil joined the team of the kiln.", &["Emil"], "2026-02-22").await;
    finds(&script);
    script.push_for("delta_ops", append(&before, "Three."));
    refresh(&f, false).await;
    script.assert_used_up();
    let asked = script.requests().into_iter().rfind(|r| r.scope == "delta_ops").expect("a call");
    let shown = format!("{:?}", asked.messages);
    for words in
        ["A person decided not to make this change", "Nobody needs to know.", "a person", "Emil"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

/// What the trigger states reaches the searches.
#[tokio::test]
async fn settings_of_a_model_reach_its_tools() {
    let script = Scripted::default();
    let f = Fixture::scripted(Arc::new(script.clone())).await;
    f.fact("The kiln of the workshop reaches 1200 degrees.", &["Kiln"], "2026-01-04").await;
    let sibling = NewModel {
        id: Some("other".to_owned()),
        content: Some("# Other\n\nThe kiln again.\n".to_owned()),
        ..kiln(ReviewMode::Auto, "full")
    };
    models::create(&f.engine, &f.bank, sibling).await.expect("a model");
    for (trigger, offered, left_out) in [
        (json!({}), "search_mental_models", ""),
        (json!({ "exclude_mental_models": true }), "recall", "search_mental_models"),
        (json!({ "exclude_mental_model_ids": ["other"] }), "recall", "search_mental_models"),
        (json!({ "fact_types": ["world"] }), "recall", "search_observations"),
        (json!({ "fact_types": ["observation"] }), "search_observations", "recall"),
    ] {
        let model =
            NewModel { trigger: Some(trigger.clone().into()), ..kiln(ReviewMode::Auto, "full") };
        models::create(&f.engine, &f.bank, model).await.expect("a model");
        let before = script.requests().len();
        let wanted = offered.to_owned();
        let broken = move |request: &llm::ChatRequest| {
            let tools: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
            assert!(tools.contains(&wanted.as_str()), "{tools:?}");
            assert!(!tools.contains(&left_out), "{tools:?}");
            Err(llm::Error::Cancelled)
        };
        script.push(Step::with(broken));
        f.run_queue().await;
        assert_eq!(script.requests().len(), before + 1, "{trigger}");
        models::delete(&f.engine, &f.bank, &id()).await.expect("deleted");
    }
    let small = NewModel {
        trigger: Some(json!({ "recall_max_tokens": 12, "include_chunks": false }).into()),
        ..kiln(ReviewMode::Auto, "full")
    };
    f.fact("The kiln of the workshop was built by Ada Vance.", &["Kiln"], "2026-01-05").await;
    models::create(&f.engine, &f.bank, small).await.expect("a model");
    let look = json!({ "reason": "to look", "query": "kiln" });
    script.push(Step::call("search_mental_models", look.clone()));
    script.push(Step::call("search_observations", look.clone()));
    script.push(Step::call("recall", look));
    script.push(Step::error(llm::Error::Cancelled));
    f.run_queue().await;
    script.assert_used_up();
    let seen = format!("{:?}", script.requests().last().expect("a request").messages);
    let shown = ["reaches 1200 degrees", "built by Ada Vance"];
    let shown = shown.iter().filter(|words| seen.contains(**words)).count();
    assert_eq!(shown, 1, "twelve tokens hold one fact: {seen}");
}
