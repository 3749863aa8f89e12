//! Memories that must not leave this machine (README 62): what rests on them stays here too, and a
//! language model elsewhere sees none of it, whatever is asked of it.

use crate::models::{id, kiln, outcome};
use crate::reflect::{ask, question};
use domain::MemoryId;
use engine::models;
use engine::view::model::{ModelDetail, NewModel, ReviewMode};
use llm::scripted::{Scripted, Step};
use serde_json::json;
use std::sync::Arc;
use tests::{Fixture, Setup, open};

const SECRET: &str = "The kiln of the workshop hides the key of the safe.";

async fn add(f: &Fixture, text: &str, tags: &[&str]) -> MemoryId {
    let fact = json!({ "text": text, "entities": ["Kiln"], "tags": tags });
    let fact = serde_json::from_value(fact).unwrap();
    engine::memory::add(&f.engine, &f.bank, fact).await.unwrap().id
}

/// A document written without a language model over an open and a private fact; then a language
/// model elsewhere is chosen.
async fn written_here_then_elsewhere(script: &Scripted, new: NewModel) -> (Fixture, MemoryId) {
    let f = Fixture::new().await;
    f.settings(json!({ "local_only_tags": ["secret"], "enable_auto_consolidation": false })).await;
    add(&f, "The kiln of the workshop reaches 1200 degrees.", &[]).await;
    let secret = add(&f, SECRET, &["secret"]).await;
    models::create(&f.engine, &f.bank, new).await.unwrap();
    f.run_queue().await;
    let Fixture { folder, clock, engine, bank } = f;
    drop(engine);
    let setup = Setup { llm: Some(Arc::new(script.clone())), ..Setup::default() };
    let engine = open(folder.path(), &clock, &setup).await.unwrap();
    let f = Fixture { folder, clock, engine, bank };
    assert!(detail(&f).await.content.contains(SECRET));
    (f, secret)
}

async fn detail(f: &Fixture) -> ModelDetail {
    models::get(&f.engine, &f.bank, &id()).await.unwrap()
}

async fn refresh(f: &Fixture, full: bool) -> ModelDetail {
    models::refresh(&f.engine, &f.bank, &id(), full).await.unwrap();
    f.run_queue().await;
    detail(f).await
}

#[tokio::test]
async fn a_document_that_rests_on_private_memories_is_refreshed_here() {
    let script = Scripted::default();
    let new = kiln(ReviewMode::Auto, "delta");
    let (f, secret) = written_here_then_elsewhere(&script, new).await;
    add(&f, "The kiln of the workshop got a new chimney.", &[]).await;
    let now = refresh(&f, false).await;
    assert_eq!(outcome(&now), "content_written", "{:?}", now.last_run);
    assert!(now.content.contains("chimney") && now.content.contains(SECRET));
    let told = now.last_run.unwrap().warnings;
    assert!(told.iter().any(|warning| warning.code == "kept_on_this_machine"), "{told:?}");

    // Taken back, it is as private as before: its words are not sent to have them unsaid.
    engine::memory::invalidate(&f.engine, &f.bank, &secret, None).await.unwrap();
    let now = refresh(&f, false).await;
    assert!(!now.content.contains(SECRET), "{}", now.content);
    assert!(script.requests().is_empty(), "nothing was sent");

    // With the private text gone the document is anybody's again.
    script.push(Step::text("No tools here."));
    script.push(Step::text("None at all."));
    add(&f, "The kiln of the workshop was sold.", &[]).await;
    refresh(&f, false).await;
    assert!(!script.requests().is_empty());
    let sent = format!("{:?}", script.requests());
    assert!(!sent.contains("safe"), "{sent}");
}

#[tokio::test]
async fn fields_are_not_extracted_elsewhere_from_a_private_document() {
    let script = Scripted::default();
    let (f, _) = written_here_then_elsewhere(&script, kiln(ReviewMode::Auto, "delta")).await;
    let schema = json!({ "properties": { "heat": { "type": "string" } } });
    let patch = json!({ "trigger": { "response_schema": schema } });
    let patch = serde_json::from_value(patch).unwrap();
    models::update(&f.engine, &f.bank, &id(), patch).await.unwrap();
    let refused = models::reextract_structured(&f.engine, &f.bank, &id()).await.unwrap_err();
    assert_eq!(refused.reason(), "structured_output_failed");
    assert!(script.requests().is_empty(), "nothing was sent");
}

/// FC-45: neither for a schema that is only tried.
#[tokio::test]
async fn fc_45_a_schema_is_not_tried_elsewhere_on_a_private_document() {
    let script = Scripted::default();
    let (f, _) = written_here_then_elsewhere(&script, kiln(ReviewMode::Auto, "delta")).await;
    let schema = domain::Json(json!({ "properties": { "heat": { "type": "string" } } }));
    let text = detail(&f).await.content;
    let of = Some((&f.bank, &id()));
    let refused = models::try_schema(&f.engine, of, &schema, &text).await.unwrap_err();
    assert_eq!(refused.reason(), "structured_output_failed");
    let why = engine::report::Report::from(refused).detail.unwrap();
    assert!(why.contains("must not leave this machine"), "{why}");
    assert!(script.requests().is_empty(), "nothing was sent");
    // A text of the person's own is sent as it was typed.
    script.push(Step::json(&json!({ "heat": "hot" })));
    models::try_schema(&f.engine, None, &schema, "The kiln is hot.").await.unwrap();
    assert_eq!(script.requests().len(), 1);
}

/// The loop of a question sees other documents, but not those that rest on private memories.
#[tokio::test]
async fn a_question_elsewhere_does_not_see_a_private_document() {
    let script = Scripted::new([
        Step::call("search_mental_models", json!({ "query": "kiln" })),
        Step::call("search_observations", json!({ "query": "kiln" })),
        Step::call("recall", json!({ "query": "kiln" })),
        Step::call("done", json!({ "answer": "Hot.", "memory_ids": ["f1"] })),
    ]);
    let (f, _) = written_here_then_elsewhere(&script, kiln(ReviewMode::Auto, "delta")).await;
    ask(&f, question("How hot is the kiln?")).await.0.unwrap();
    let sent = format!("{:?}", script.requests());
    assert!(sent.contains("1200 degrees") && !sent.contains("safe"), "{sent}");
}
