//! What becomes of a document when facts behind it go: what is taken back, by which means, and what
//! is left alone.

use crate::models::{detail, id, kiln, outcome, published, refresh};
use domain::MemoryId;
use engine::view::model::{ModelDetail, ModelPatch, ReviewMode};
use engine::{memory, models};
use llm::scripted::{Scripted, Step};
use serde_json::{Value, json};
use std::sync::Arc;
use tests::Fixture;

/// A page of three blocks: one on a fact alone, one on two facts, one on two others.
async fn page(script: &Scripted) -> (Fixture, ModelDetail, Vec<String>) {
    let f = Fixture::scripted(Arc::new(script.clone())).await;
    let mut ids = Vec::new();
    for (n, text) in ["ONE", "TWO", "THREE", "FOUR", "FIVE"].iter().enumerate() {
        let text = format!("The kiln of the workshop has property {text}.");
        ids.push(f.fact(&text, &["Kiln"], &format!("2026-01-0{}", n + 1)).await.id.0);
    }
    let args = |query: &str| json!({ "reason": "to look", "query": query });
    script.push(Step::call("search_observations", args("kiln")));
    script.push(Step::call("recall", args("kiln workshop property")));
    script.push(Step::with(|request| {
        let seen = format!("{:?}", request.messages);
        let handle = |word: &str| -> String {
            // The handle stands in the row of the fact, before its text.
            let at = seen.find(&format!("property {word}.")).expect("the fact was shown");
            let ids = regex::Regex::new(r"\bf\d+\b").expect("a pattern");
            ids.find_iter(&seen[..at]).last().expect("a handle").as_str().to_owned()
        };
        let block = |text: &str, words: &[&str]| {
            let evidence: Vec<String> = words.iter().map(|word| handle(word)).collect();
            json!({ "text": text, "evidence": evidence })
        };
        let document = json!({ "sections": [{ "heading": "Kiln", "level": 1, "blocks": [
            block("It has property three.", &["THREE"]),
            block("It has properties four and five.", &["FOUR", "FIVE"]),
            block("It has properties one and two.", &["ONE", "TWO"]),
        ] }] });
        let mut call = llm::ToolCall::new(
            "s9".to_owned(),
            "done",
            &json!({ "document": document, "memory_ids": ["f1", "f2", "f3", "f4", "f5"] }),
        );
        call.raw = String::new();
        Ok(llm::ChatReply {
            calls: vec![call],
            finish: llm::Finish::ToolCalls,
            ..llm::ChatReply::default()
        })
    }));
    models::create(&f.engine, &f.bank, kiln(ReviewMode::Auto, "delta")).await.expect("a model");
    f.run_queue().await;
    script.assert_used_up();
    let built = detail(&f).await;
    assert_eq!(outcome(&built), "content_written", "{:?}", built.last_run);
    assert_eq!(built.based_on.len(), 5);
    (f, built, ids)
}

async fn take_away(f: &Fixture, ids: &[String]) {
    let of = |n: usize| MemoryId(ids[n].clone());
    memory::invalidate(&f.engine, &f.bank, &of(2), None).await.expect("invalidated");
    memory::delete(&f.engine, &f.bank, &of(4)).await.expect("deleted");
}

fn cited(detail: &ModelDetail) -> Vec<&str> {
    let mut ids: Vec<&str> = detail.based_on.iter().map(|item| item.id.as_str()).collect();
    ids.sort_unstable();
    ids
}

fn warned(detail: &ModelDetail, code: &str) -> bool {
    let run = detail.last_run.as_ref().expect("a run");
    run.warnings.iter().any(|warning| warning.code == code)
}

fn op(kind: &str, model: &ModelDetail, block: usize, text: Option<&str>) -> Value {
    let section = &model.structure.sections[0];
    let mut op =
        json!({ "op": kind, "section_id": section.id, "block_id": section.blocks[block].id });
    if let Some(text) = text {
        op["text"] = json!(text);
    }
    op
}

/// FC-07: a fact that is gone makes the page doubtful, and a refresh may act on that ground alone.
#[tokio::test]
async fn fc_07_what_withdrawn_facts_said_is_taken_back_and_nothing_else() {
    let script = Scripted::default();
    let (f, before, ids) = page(&script).await;
    take_away(&f, &ids).await;
    let doubtful = detail(&f).await;
    assert_eq!(doubtful.model.refresh_reasons, ["grounding_retracted"]);
    assert_eq!(doubtful.model.newer, None, "a deletion makes nothing stale");
    assert_eq!(doubtful.based_on.iter().filter(|item| item.gone).count(), 2);
    let ops = json!({ "operations": [
        op("remove_block", &before, 0, None),
        op("replace_block", &before, 2, Some("It has none of them.")),
        { "op": "append_block", "section_id": before.structure.sections[0].id, "text": "News." },
    ]});
    script.push_for("retraction_ops", Step::json(&ops));
    let corrected = op("replace_block", &before, 1, Some("It has property four."));
    script.push_for("retraction_repair", Step::json(&json!({ "operations": [corrected] })));
    refresh(&f, false).await;
    script.assert_used_up();
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "content_written", "{:?}", after.last_run);
    assert_eq!(
        after.content,
        "# Kiln\n\nIt has property four.\n\nIt has properties one and two.\n"
    );
    let mut left: Vec<&str> = [0, 1, 3].iter().map(|n| ids[*n].as_str()).collect();
    left.sort_unstable();
    assert_eq!(cited(&after), left);
    assert!(after.model.refresh_reasons.is_empty(), "{:?}", after.model.refresh_reasons);
    let four = &after.blame[0];
    assert_eq!(four.sources, [ids[3].clone()], "it rests on what still stands");
    let requests = script.requests();
    let asked = requests.iter().find(|r| r.scope == "retraction_ops").expect("a call");
    let shown = format!("{:?}", asked.messages);
    for word in ["property THREE", "property FIVE", "property FOUR", "withdrawn", "stands"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    assert!(!shown.contains("property ONE"), "only what stands behind the same blocks");
    let repair = requests.iter().find(|r| r.scope == "retraction_repair").expect("a repair");
    let told = format!("{:?}", repair.messages);
    assert!(told.contains("op_not_allowed not_supported_by_retraction"), "{told}");
    let runs = models::refresh_runs(&f.engine, &f.bank, &id()).await.expect("runs");
    assert_eq!(runs[0].calls.len(), 2, "no loop: nothing was written since");
}

#[tokio::test]
async fn a_call_that_fails_keeps_the_citations_and_is_made_again() {
    let script = Scripted::default();
    let (f, before, ids) = page(&script).await;
    take_away(&f, &ids).await;
    script.push_for("retraction_ops", Step::text("I would rather not."));
    script.push_for("retraction_repair", Step::text("No."));
    refresh(&f, false).await;
    let kept = detail(&f).await;
    assert_eq!(outcome(&kept), "content_preserved_no_new_facts", "{:?}", kept.last_run);
    assert!(warned(&kept, "retraction_failed"));
    assert_eq!((&kept.content, cited(&kept)), (&before.content, cited(&before)));
    assert_eq!(kept.model.refresh_reasons, ["grounding_retracted"]);
    // No operation is a good answer: the citations go, the text stays.
    script.push_for("retraction_ops", Step::json(&json!({ "operations": [] })));
    refresh(&f, false).await;
    script.assert_used_up();
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "content_preserved_no_new_facts");
    assert_eq!((&after.content, after.based_on.len()), (&before.content, 3));
    assert!(after.model.refresh_reasons.is_empty());
    assert_eq!(after.model.version, 1);
}

/// FC-07: what is entered again under another name is not unsaid, with and without a language model.
#[tokio::test]
async fn fc_07_a_fact_that_is_entered_again_is_not_unsaid() {
    let script = Scripted::default();
    let (f, before, ids) = page(&script).await;
    take_away(&f, &ids).await;
    let three = "The kiln of the workshop has property THREE.";
    let five = "The kiln of the workshop has property  five.";
    let new = [f.fact(three, &["Kiln"], "2026-02-01").await, f.fact(five, &[], "2026-02-02").await];
    let args = |query: &str| json!({ "reason": "to look", "query": query });
    script.push(Step::call("search_observations", args("kiln")));
    script.push(Step::call("recall", args("kiln workshop property")));
    script
        .push(Step::call("done", json!({ "answer": "It has them.", "memory_ids": ["f1", "f2"] })));
    refresh(&f, false).await;
    script.assert_used_up();
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "content_unchanged", "{:?}", after.last_run);
    assert_eq!(after.content, before.content);
    assert!(new.iter().all(|row| cited(&after).contains(&row.id.0.as_str())));
    assert!(!cited(&after).contains(&ids[2].as_str()) && after.based_on.len() == 5);
    assert_eq!(after.blame[0].sources, [new[0].id.0.clone()]);

    let f = Fixture::new().await;
    let before = published(&f, "delta").await;
    let gone = before.based_on.iter().find(|i| i.text.contains("1200")).expect("the fact").clone();
    memory::delete(&f.engine, &f.bank, &MemoryId(gone.id.clone())).await.expect("deleted");
    let again = f.fact(&gone.text, &["Kiln"], "2026-02-01").await;
    refresh(&f, false).await;
    let after = detail(&f).await;
    assert_eq!(after.content, before.content, "{:?}", after.last_run);
    assert!(
        cited(&after).contains(&again.id.0.as_str()) && !cited(&after).contains(&gone.id.as_str())
    );
}

fn sql(f: &Fixture, text: &str) {
    let path = f.folder.path().join(store::FILE_NAME);
    let file = rusqlite::Connection::open(path).expect("the file");
    file.execute_batch(text).expect("a statement");
}

/// Deferred, broken and acted upon: by what is known of the facts that went.
#[tokio::test]
async fn what_may_come_back_is_waited_for_and_what_was_never_there_is_dropped() {
    let script = Scripted::default();
    let (f, before, ids) = page(&script).await;
    take_away(&f, &ids).await;
    // A document that was read anew: successors may be among the facts that wait for consolidation.
    sql(&f, "UPDATE tombstone SET cause = 'replaced'");
    refresh(&f, false).await;
    let waits = detail(&f).await;
    assert_eq!(outcome(&waits), "content_preserved_no_new_facts", "{:?}", waits.last_run);
    assert!(warned(&waits, "retraction_deferred"));
    assert_eq!((&waits.content, cited(&waits)), (&before.content, cited(&before)));
    let told = models::dry_run(&f.engine, &f.bank, &id(), None).await.expect("a dry run");
    let retraction = told.retraction.expect("a report");
    assert_eq!(retraction.deferred_reason.as_deref(), Some("pending_consolidation"));
    assert!(!retraction.applied && retraction.fact_ids.len() == 2);
    // Nothing waits any more: it is acted on.
    sql(&f, "UPDATE memory SET consolidated_at = 1");
    script.push_for(
        "retraction_ops",
        Step::json(&json!({ "operations": [
            op("remove_block", &before, 0, None),
        ]})),
    );
    refresh(&f, false).await;
    script.assert_used_up();
    let acted = detail(&f).await;
    assert_eq!((outcome(&acted), acted.based_on.len()), ("content_written", 3));

    // No trace of any citation: the document came from elsewhere.
    let (f, before, _) = page(&script).await;
    sql(&f, "UPDATE model_citation SET memory_uid = memory_uid || 'x'");
    refresh(&f, false).await;
    let copy = detail(&f).await;
    assert_eq!(outcome(&copy), "content_preserved_no_new_facts", "{:?}", copy.last_run);
    assert!(warned(&copy, "grounding_unresolvable"));
    assert_eq!(copy.content, before.content);
}

/// An edited fact is shown with its former wording.
#[tokio::test]
async fn a_changed_fact_is_offered_with_what_it_was() {
    let script = Scripted::default();
    let (f, before, ids) = page(&script).await;
    let patch = engine::view::memory::EditFact {
        text: Some("The kiln of the workshop has property SIX.".to_owned()),
        tags: None,
        occurred_start: None,
        occurred_end: None,
    };
    memory::edit(&f.engine, &f.bank, &MemoryId(ids[2].clone()), patch).await.expect("an edit");
    let args = |query: &str| json!({ "reason": "to look", "query": query });
    script.push(Step::call("search_observations", args("kiln")));
    script.push(Step::call("recall", args("kiln workshop property")));
    script.push(Step::call("done", json!({ "answer": "It is six.", "memory_ids": ["f1"] })));
    let mut replace = op("replace_block", &before, 0, Some("It has property six."));
    replace["evidence"] = json!(["f1"]);
    script.push_for("delta_ops", Step::json(&json!({ "operations": [replace] })));
    refresh(&f, false).await;
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "content_written", "{:?}", after.last_run);
    let requests = script.requests();
    let asked = requests.iter().find(|r| r.scope == "delta_ops").expect("a call");
    let shown = format!("{:?}", asked.messages);
    assert!(
        shown.contains("property SIX.")
            && shown.contains("was: The kiln of the workshop has property THREE.")
    );
    let item = after.based_on.iter().find(|item| item.id == ids[2]).expect("the citation");
    assert!(item.text.contains("SIX"), "the newest text of an id wins");
}

/// What was dealt with is no source of any block after an approval either.
#[tokio::test]
async fn a_withdrawn_fact_is_no_source_after_an_approval() {
    let script = Scripted::default();
    let (f, before, ids) = page(&script).await;
    let manual = ModelPatch { review: Some(ReviewMode::Manual), ..ModelPatch::default() };
    models::update(&f.engine, &f.bank, &id(), manual).await.expect("an update");
    take_away(&f, &ids).await;
    // Four and five still reads as true without five, so that only the first block goes.
    let ops = json!({ "operations": [op("remove_block", &before, 0, None)] });
    script.push_for("retraction_ops", Step::json(&ops));
    refresh(&f, false).await;
    script.assert_used_up();
    let view = crate::proposals::waiting(&f).await;
    let view = crate::proposals::accept_all(&f, &view).await;
    crate::proposals::approve(&f, &view, crate::proposals::sure()).await;
    let after = detail(&f).await;
    assert!(!cited(&after).contains(&ids[4].as_str()));
    let sources: Vec<&String> = after.blame.iter().flat_map(|blame| &blame.sources).collect();
    assert!(sources.contains(&&ids[3]) && !sources.contains(&&ids[4]), "{sources:?}");
}
