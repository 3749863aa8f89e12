//! Folding facts into observations: what a language model may do, what is turned away, what folding
//! does without one, and what happens to observations when their facts change.

use domain::FactType;
use engine::memory::{self, consolidate};
use engine::view::memory::{
    ClearObservations, EditFact, MemoryDetail, MemoryFilter, MemoryRow, NewFact,
};
use engine::view::operation::{OperationRow, OperationStatus};
use llm::scripted::{Scripted, Step};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use tests::{Fixture, at};

/// A bank over a script that folds only when it is asked to.
pub(crate) async fn scripted(script: &Scripted) -> Fixture {
    Fixture::scripted(Arc::new(script.clone())).await
}

/// A fact with tags.
pub(crate) async fn tagged(f: &Fixture, text: &str, day: &str, tags: &[&str]) -> MemoryRow {
    let moment = at(&format!("{day}T09:00:00Z"));
    f.clock.advance_ms(1_000);
    let fact = NewFact {
        text: text.to_owned(),
        fact_type: None,
        context: None,
        occurred_start: Some(moment),
        occurred_end: None,
        mentioned_at: Some(moment),
        tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
        metadata: BTreeMap::new(),
        entities: Vec::new(),
    };
    memory::add(&f.engine, &f.bank, fact).await.unwrap()
}

/// Folds all that waits.
pub(crate) async fn fold(f: &Fixture) {
    consolidate::now(&f.engine, &f.bank, None).await.unwrap();
    f.run_queue().await;
}

/// The observations in use, the oldest first.
pub(crate) async fn observations(f: &Fixture) -> Vec<MemoryRow> {
    let filter =
        MemoryFilter { fact_types: Some(vec![FactType::Observation]), ..MemoryFilter::default() };
    let mut rows = memory::list(&f.engine, &f.bank, filter, None).await.unwrap().page.items;
    rows.reverse();
    rows
}

pub(crate) async fn detail(f: &Fixture, row: &MemoryRow) -> MemoryDetail {
    memory::get(&f.engine, &f.bank, &row.id).await.unwrap()
}

/// The consolidations, the newest first.
pub(crate) async fn runs(f: &Fixture) -> Vec<OperationRow> {
    let all = engine::ops::list(&f.engine, &f.bank).await.unwrap();
    all.into_iter().filter(|row| row.operation_type == "consolidation").collect()
}

/// What the last consolidation came to.
pub(crate) async fn result(f: &Fixture) -> Value {
    let run = runs(f).await.remove(0);
    assert_eq!(run.status, OperationStatus::Completed, "{:?}", run.error_message);
    run.result.unwrap().0
}

/// Facts that wait and facts that failed.
pub(crate) async fn waiting(f: &Fixture) -> (u32, u32) {
    let row = engine::banks::list(&f.engine).await.unwrap().remove(0);
    (row.pending_consolidation, row.failed_consolidation)
}

pub(crate) fn create(text: &str, facts: &[&str]) -> Value {
    json!({"text": text, "source_fact_ids": facts})
}

pub(crate) fn creates(text: &str, facts: &[&str]) -> Step {
    Step::json(&json!({"creates": [create(text, facts)], "updates": [], "deletes": []}))
}

/// What differs from call to call.
pub(crate) fn user(request: &llm::ChatRequest) -> String {
    match &request.messages[1] {
        llm::Message::User { text } => text.clone(),
        other => panic!("{other:?}"),
    }
}

fn updates(text: &str, facts: &[&str]) -> Step {
    Step::json(&json!({"updates": [
        {"observation_id": "O1", "text": text, "source_fact_ids": facts, "reason": "More."}]}))
}

/// An observation on tea from one fact, and a second fact that waits.
async fn tea(script: &Scripted) -> (Fixture, MemoryRow) {
    let f = scripted(script).await;
    tagged(&f, "Ana drinks green tea.", "2026-01-05", &["home"]).await;
    script.push(creates("Ana drinks green tea.", &["F1"]));
    fold(&f).await;
    tagged(&f, "Ana drinks green tea at work, too.", "2026-02-05", &["home"]).await;
    let made = observations(&f).await.remove(0);
    (f, made)
}

#[tokio::test]
async fn facts_become_an_observation_of_their_scope_with_their_dates() {
    let script = Scripted::default();
    let f = scripted(&script).await;
    let first = tagged(&f, "Ana drinks green tea.", "2026-01-05", &["work", "home"]).await;
    let second = tagged(&f, "Ana had green tea again.", "2026-02-05", &["home", "work"]).await;
    script.push(creates("Ana likes green tea.", &["F1", "F2", "F2"]));
    fold(&f).await;
    let made = observations(&f).await.remove(0);
    assert_eq!(made.text, "Ana likes green tea.");
    assert_eq!(made.tags, ["home", "work"]);
    assert_eq!(made.proof_count, Some(2));
    assert_eq!(made.occurred_start, first.occurred_start);
    assert_eq!(made.occurred_end, second.occurred_end);
    assert_eq!(made.mentioned_at, second.mentioned_at);
    let seen = detail(&f, &made).await;
    let sources: Vec<_> = seen.sources.iter().map(|row| row.id.clone()).collect();
    assert_eq!(sources, [first.id.clone(), second.id.clone()]);
    assert_eq!(detail(&f, &first).await.observations[0].id, made.id);
    assert_eq!(waiting(&f).await, (0, 0));
    let request = &script.requests()[0];
    assert_eq!((request.scope.as_str(), request.temperature), ("consolidation", Some(0.0)));
    let user = user(request);
    assert!(user.starts_with("Mission: Track what is notable"), "{user}");
    let shown = [r#"{"id":"F1","#, r#""text":"Ana drinks green tea."}"#];
    assert!(shown.iter().all(|part| user.contains(part)), "{user}");
    assert!(!user.contains(first.id.as_str()), "ids never go to the model");
    // Nothing waits, so nobody is asked.
    fold(&f).await;
    assert_eq!(script.requests().len(), 1);
}

#[tokio::test]
async fn an_update_keeps_what_it_replaces_and_an_update_without_news_writes_nothing() {
    let script = Scripted::default();
    let (f, made) = tea(&script).await;
    let (first, second) = ("Ana drinks green tea at home and at work.", "Ana drinks tea.");
    script.push(Step::json(&json!({"updates": [
        {"observation_id": "O1", "text": second, "source_fact_ids": ["F1"]},
        {"observation_id": "O1", "text": first, "source_fact_ids": ["F1"], "reason": "More."},
    ], "deletes": [{"observation_id": "O1"}]})));
    fold(&f).await;
    let now = detail(&f, &made).await;
    assert_eq!((now.memory.text.as_str(), now.memory.proof_count), (first, Some(2)));
    let folding = now.folding.unwrap();
    assert_eq!(folding.changes.len(), 1, "updates of one observation fold");
    let change = &folding.changes[0];
    assert_eq!((change.previous_text.as_str(), change.reason.as_str()), (&*made.text, "More."));
    assert_eq!(change.new_sources[0].text.as_deref(), Some("Ana drinks green tea at work, too."));
    assert_eq!(result(&f).await["rejected"], json!({"kept": 1}), "update beats delete");
    assert!(now.memory.occurred_end > made.occurred_end);
    // The same text from a source that it has already.
    let before = now.memory.updated_at;
    let fact = now.sources.iter().find(|row| row.text.contains("at work")).unwrap().id.clone();
    f.engine
        .store()
        .write("again", {
            let bank = f.bank.clone();
            move |tx| {
                let key = store::banks::key(tx, &bank)?;
                let keys = store::memories::keys(tx, key, &[fact])?;
                store::memories::requeue(tx, &keys)
            }
        })
        .await
        .unwrap();
    script.push(updates(first, &["F1"]));
    fold(&f).await;
    let same = detail(&f, &made).await;
    assert_eq!(same.memory.updated_at, before);
    assert_eq!(same.folding.unwrap().changes.len(), 1);
    assert_eq!(result(&f).await["updated"], 0);
}

#[tokio::test]
async fn a_create_that_repeats_an_observation_is_one_more_proof_of_it() {
    let script = Scripted::default();
    let (f, made) = tea(&script).await;
    script.push(creates("Ana  drinks green tea.", &["F1"]));
    fold(&f).await;
    let all = observations(&f).await;
    assert_eq!((all.len(), all[0].proof_count), (1, Some(2)));
    let folding = detail(&f, &made).await.folding.unwrap();
    assert_eq!(folding.changes[0].previous_text, made.text, "history with equal text");
}

/// FC-34: an answer with holes, or whose new texts are turned away, drops nothing.
#[tokio::test]
async fn fc_34_what_was_to_be_replaced_stays_when_its_replacement_is_unusable() {
    let delete = json!([{"observation_id": "O1", "reason": "old"}]);
    for (answer, rejected) in [
        (json!({"creates": [create("T", &["F7"])], "deletes": delete}), "unknown_fact"),
        (json!({"creates": [create(" ", &["F1"])], "deletes": delete}), "blank_text"),
        (
            json!({"updates": [{"observation_id": "O5", "text": "T", "source_fact_ids": ["F1"]}],
                "deletes": delete}),
            "not_shown",
        ),
    ] {
        let script = Scripted::default();
        let (f, made) = tea(&script).await;
        script.push(Step::json(&answer));
        fold(&f).await;
        assert_eq!(observations(&f).await[0].id, made.id, "{rejected}");
        let counted = &result(&f).await["rejected"];
        assert_eq!(counted[rejected], 1, "{counted}");
        assert_eq!(counted["replacement_rejected"], 1, "{counted}");
        assert_eq!(waiting(&f).await, (0, 0), "its facts count as handled");
    }
    let script = Scripted::default();
    let (f, made) = tea(&script).await;
    for _ in 0..3 {
        script.push(Step::json(&json!({"creates": [{"text": "T"}], "deletes": delete})));
    }
    fold(&f).await;
    assert_eq!(observations(&f).await[0].id, made.id);
    assert_eq!(waiting(&f).await, (0, 1));
    // A delete alone is what it says it is.
    consolidate::retry_failed(&f.engine, &f.bank).await.unwrap();
    script.push(Step::json(&json!({"deletes": delete})));
    f.run_queue().await;
    assert!(observations(&f).await.is_empty());
    script.assert_used_up();
}

#[tokio::test]
async fn near_twins_become_one_only_when_the_model_says_so() {
    let merge = json!({"action": "merge", "text": "Ana drinks green tea everywhere."});
    for (verdict, texts) in [
        (Step::json(&merge), vec!["Ana drinks green tea everywhere."]),
        (
            Step::json(&json!({"action": "keep"})),
            vec!["Ana drinks green tea.", "Ana drinks green tea today."],
        ),
        (Step::text("Merge them."), vec!["Ana drinks green tea.", "Ana drinks green tea today."]),
    ] {
        let script = Scripted::default();
        let (f, made) = tea(&script).await;
        f.settings(json!({"enable_auto_consolidation": false,
            "consolidation_dedup_threshold": 0.5}))
            .await;
        script.push_for("consolidation", creates("Ana drinks green tea today.", &["F1"]));
        script.push_for("consolidation_dedup", verdict);
        fold(&f).await;
        let all = observations(&f).await;
        assert_eq!(all.iter().map(|row| row.text.as_str()).collect::<Vec<_>>(), texts);
        if texts.len() == 1 {
            assert_eq!((&all[0].id, all[0].proof_count), (&made.id, Some(2)));
            let folding = detail(&f, &made).await.folding.unwrap();
            assert_eq!(folding.changes[0].previous_text, made.text);
        }
        script.assert_used_up();
    }
}

#[tokio::test]
async fn an_update_takes_its_near_twin_into_it() {
    let script = Scripted::default();
    let f = scripted(&script).await;
    tagged(&f, "Ana drinks green tea.", "2026-01-05", &[]).await;
    tagged(&f, "Ana drinks green tea at work.", "2026-01-06", &[]).await;
    script.push(Step::json(&json!({"creates": [
        create("Ana drinks green tea.", &["F1"]),
        create("Ana drinks green tea at work.", &["F2"]),
    ]})));
    fold(&f).await;
    f.settings(json!({"enable_auto_consolidation": false, "consolidation_dedup_threshold": 0.6}))
        .await;
    tagged(&f, "Ana drinks green tea at home.", "2026-02-06", &[]).await;
    script.push_for("consolidation", updates("Ana drinks green tea at home.", &["F1"]));
    let merge = json!({"action": "merge", "text": "Ana drinks green tea at home and at work."});
    script.push_for("consolidation_dedup", Step::json(&merge));
    fold(&f).await;
    let all = observations(&f).await;
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].text, "Ana drinks green tea at home and at work.");
    assert_eq!(all[0].proof_count, Some(3), "sources are united");
}

#[tokio::test]
async fn a_full_scope_takes_no_more_and_says_so_in_the_call() {
    let script = Scripted::default();
    let f = scripted(&script).await;
    f.settings(json!({"enable_auto_consolidation": false, "max_observations_per_scope": 9,
        "observation_scope_limits": [{"scope": ["run_*"], "limit": 1}]}))
        .await;
    tagged(&f, "The run took an hour.", "2026-01-05", &["run_1"]).await;
    script.push(Step::json(&json!({"creates": [
        create("The run takes an hour.", &["F1"]), create("The run is long.", &["F1"])]})));
    fold(&f).await;
    assert_eq!(observations(&f).await.len(), 1);
    assert_eq!(result(&f).await["rejected"], json!({"no_slot": 1}));
    let user = user(&script.requests()[0]);
    assert!(user.contains("may still be made here: 1."), "{user}");
}

/// FC-35: said again is more evidence, not more memories.
#[tokio::test]
async fn fc_35_equal_statements_fold_without_a_language_model() {
    let f = Fixture::new().await;
    let text = "Mira runs the workshop on Tuesdays.";
    let mut facts = Vec::new();
    for (n, said) in [text, text, "MIRA runs the  workshop on Tuesdays."].iter().enumerate() {
        facts.push(f.fact(said, &["Mira"], &format!("2026-01-0{}", n + 1)).await);
    }
    let other = f.fact(text, &["Mira", "Ben"], "2026-01-04").await;
    f.fact("Mira repairs clocks.", &["Mira"], "2026-01-05").await;
    fold(&f).await;
    let all = observations(&f).await;
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].text.as_str(), all[0].proof_count), (facts[2].text.as_str(), Some(3)));
    assert!(detail(&f, &other).await.observations.is_empty(), "other entities, other statement");
    assert_eq!(waiting(&f).await, (0, 0));
    // Later ones join, also one whose equal was folded long ago without an equal of its own.
    f.fact(text, &["Mira"], "2026-02-01").await;
    f.fact("Mira repairs clocks.", &["Mira"], "2026-02-02").await;
    fold(&f).await;
    let all = observations(&f).await;
    let proof: Vec<_> = all.iter().map(|row| (row.text.as_str(), row.proof_count)).collect();
    assert_eq!(proof, [(text, Some(4)), ("Mira repairs clocks.", Some(2))]);
    assert_eq!(detail(&f, &all[0]).await.folding.unwrap().changes.len(), 1);
    // An equal statement of another scope is none of this one.
    tagged(&f, "Ovens cool slowly.", "2026-02-03", &["a"]).await;
    tagged(&f, "Ovens cool slowly.", "2026-02-04", &["b"]).await;
    fold(&f).await;
    assert_eq!(observations(&f).await.len(), 2);
}

#[tokio::test]
async fn a_lost_source_takes_its_observation_along_and_the_others_fold_anew() {
    let f = Fixture::new().await;
    let mut facts = Vec::new();
    for day in 1..=3 {
        facts.push(f.fact("Wood is short.", &[], &format!("2026-01-0{day}")).await);
    }
    fold(&f).await;
    let first = observations(&f).await.remove(0);
    memory::invalidate(&f.engine, &f.bank, &facts[0].id, None).await.unwrap();
    assert!(observations(&f).await.is_empty());
    assert_eq!(waiting(&f).await, (2, 0));
    fold(&f).await;
    let second = observations(&f).await.remove(0);
    assert_eq!(second.proof_count, Some(2));
    assert_ne!(second.id, first.id);
    // Re-tagged, it is in the wrong scope.
    let edit = EditFact { tags: Some(vec!["yard".to_owned()]), ..EditFact::default() };
    memory::edit(&f.engine, &f.bank, &facts[1].id, edit).await.unwrap();
    assert!(observations(&f).await.is_empty());
    memory::restore(&f.engine, &f.bank, &facts[0].id).await.unwrap();
    fold(&f).await;
    assert_eq!(observations(&f).await[0].proof_count, Some(2));
}

#[tokio::test]
async fn surgically_an_observation_stays_to_be_rewritten_while_two_sources_are_left() {
    let script = Scripted::default();
    let f = scripted(&script).await;
    f.settings(json!({"enable_auto_consolidation": false, "invalidate": "surgical"})).await;
    let mut facts = Vec::new();
    for place in ["home", "work", "sea", "school"] {
        facts.push(tagged(&f, &format!("Ana drinks tea at {place}."), "2026-01-05", &[]).await);
    }
    script
        .push(creates("Ana drinks tea at home, work, sea and school.", &["F1", "F2", "F3", "F4"]));
    fold(&f).await;
    let made = observations(&f).await.remove(0);
    memory::delete(&f.engine, &f.bank, &facts[2].id).await.unwrap();
    let marked = detail(&f, &made).await;
    assert_eq!(marked.memory.proof_count, Some(3));
    let folding = marked.folding.unwrap();
    assert!(folding.needs_review && folding.is_stale);
    assert_eq!(waiting(&f).await, (0, 0), "the others stay folded");
    script.push(Step::with(|request| {
        let user = user(request);
        assert!(!user.contains("at sea."), "only what is left is shown: {user}");
        let reply = json!({"updates": [{"observation_id": "O1", "text": "Ana drinks tea at home.",
            "source_fact_ids": ["F1", "F2", "F3"]}]});
        Ok(llm::ChatReply { text: reply.to_string(), ..llm::ChatReply::default() })
    }));
    fold(&f).await;
    let rewritten = detail(&f, &made).await;
    assert_eq!(rewritten.memory.text, "Ana drinks tea at home.");
    assert!(!rewritten.folding.unwrap().needs_review);
    // Down to one source, it goes.
    memory::delete(&f.engine, &f.bank, &facts[0].id).await.unwrap();
    assert_eq!(observations(&f).await.len(), 1);
    memory::delete(&f.engine, &f.bank, &facts[1].id).await.unwrap();
    assert!(observations(&f).await.is_empty());
    assert_eq!(waiting(&f).await, (1, 0));
    script.assert_used_up();
}

#[tokio::test]
async fn observations_are_cleared_by_bank_scope_and_fact() {
    let f = Fixture::new().await;
    let mut facts = Vec::new();
    for (tag, text) in [("a", "One."), ("b", "Two."), ("c", "Three.")] {
        for day in ["2026-01-01", "2026-01-02"] {
            facts.push(tagged(&f, text, day, &[tag]).await);
        }
    }
    fold(&f).await;
    assert_eq!(observations(&f).await.len(), 3);
    let clear = |which| consolidate::clear(&f.engine, &f.bank, which);
    let scope = ClearObservations::Scope(vec!["a".to_owned()]);
    assert_eq!(clear(scope).await.unwrap(), 1);
    assert_eq!((observations(&f).await.len(), waiting(&f).await.0), (2, 2));
    assert_eq!(clear(ClearObservations::Memory(facts[2].id.clone())).await.unwrap(), 1);
    assert_eq!((observations(&f).await.len(), waiting(&f).await.0), (1, 4));
    let last = observations(&f).await.remove(0);
    let refused = clear(ClearObservations::Memory(last.id)).await.unwrap_err();
    assert_eq!(refused.reason(), "not_curatable");
    assert_eq!(clear(ClearObservations::Bank).await.unwrap(), 1);
    assert_eq!((observations(&f).await.len(), waiting(&f).await.0), (0, 6));
    fold(&f).await;
    assert_eq!(observations(&f).await.len(), 3);
}

#[tokio::test]
async fn every_change_of_facts_folds_by_itself_where_the_bank_says_so() {
    let f = Fixture::new().await;
    f.settings(json!({"enable_auto_consolidation": true})).await;
    let add = || f.fact("Wood is short.", &[], "2026-01-01");
    let (first, _) = (add().await, add().await);
    assert_eq!(runs(&f).await.len(), 1, "the second joins the one that waits");
    f.run_queue().await;
    assert_eq!(observations(&f).await.len(), 1);
    memory::invalidate(&f.engine, &f.bank, &first.id, None).await.unwrap();
    f.run_queue().await;
    memory::restore(&f.engine, &f.bank, &first.id).await.unwrap();
    f.run_queue().await;
    assert_eq!(observations(&f).await[0].proof_count, Some(2));
    let edit = EditFact { text: Some("Wood came.".to_owned()), ..EditFact::default() };
    memory::edit(&f.engine, &f.bank, &first.id, edit).await.unwrap();
    f.run_queue().await;
    assert!(observations(&f).await.is_empty());
    memory::delete(&f.engine, &f.bank, &first.id).await.unwrap();
    f.run_queue().await;
    assert_eq!(waiting(&f).await, (0, 0));
    let text = engine::view::memory::RetainText {
        text: "Wood is short.".to_owned(),
        document_id: None,
        title: None,
        context: None,
        timestamp: None,
        tags: Vec::new(),
        mode: None,
    };
    memory::retain(&f.engine, &f.bank, text).await.unwrap();
    f.run_queue().await;
    assert_eq!(observations(&f).await.len(), 1);
    f.settings(json!({"enable_observations": false})).await;
    add().await;
    f.run_queue().await;
    assert_eq!(waiting(&f).await, (1, 0));
    let refused = consolidate::now(&f.engine, &f.bank, None).await.unwrap_err();
    assert_eq!(refused.reason(), "invalid_request");
}

#[tokio::test]
async fn an_observation_is_stale_only_while_facts_of_its_own_scope_wait() {
    let f = Fixture::new().await;
    for tag in ["a", "b"] {
        for day in ["2026-01-01", "2026-01-02"] {
            tagged(&f, "Wood is short.", day, &[tag]).await;
        }
    }
    fold(&f).await;
    let all = observations(&f).await;
    tagged(&f, "Wood is dear.", "2026-01-03", &["b"]).await;
    let mut stale = Vec::new();
    for row in &all {
        let folding = detail(&f, row).await.folding.unwrap();
        stale.push((row.tags[0].clone(), folding.is_stale));
    }
    assert_eq!(stale, [("a".to_owned(), false), ("b".to_owned(), true)]);
}
