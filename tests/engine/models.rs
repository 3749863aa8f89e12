//! Mental models without a language model: made, refreshed, edited, cleared, reverted; what a killed
//! process leaves; what a run that did nothing leaves.

use domain::document::parse;
use domain::{ModelId, OperationId};
use engine::models;
use engine::view::model::{
    Author, ModelDetail, ModelPatch, ModelState, NewModel, ReviewMode, TimelineEntry,
};
use engine::view::operation::OperationStatus;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use store::Moment;
use tests::{Fixture, Setup, open};

/// A model that asks about the kiln of the workshop.
pub(crate) fn kiln(review: ReviewMode, mode: &str) -> NewModel {
    NewModel {
        id: Some("kiln".to_owned()),
        name: "The kiln".to_owned(),
        source_query: "What do we know about the kiln of the workshop?".to_owned(),
        tags: Vec::new(),
        max_tokens: None,
        trigger: Some(json!({ "mode": mode }).into()),
        review: Some(review),
        content: None,
    }
}

pub(crate) fn id() -> ModelId {
    ModelId::from("kiln")
}

/// Facts about the kiln and the people of the workshop.
pub(crate) async fn facts(f: &Fixture) {
    f.fact(
        "The kiln of the workshop was built by Ada Vance in 2019.",
        &["Kiln", "Ada Vance"],
        "2026-01-03",
    )
    .await;
    f.fact("The kiln of the workshop reaches 1200 degrees.", &["Kiln"], "2026-01-04").await;
    f.fact(
        "Ada Vance repaired the door of the kiln in the workshop.",
        &["Kiln", "Ada Vance"],
        "2026-01-05",
    )
    .await;
    f.fact(
        "Ada Vance lights the kiln of the workshop on Mondays.",
        &["Ada Vance", "Kiln"],
        "2026-01-06",
    )
    .await;
}

/// A published document of the facts.
pub(crate) async fn published(f: &Fixture, mode: &str) -> ModelDetail {
    facts(f).await;
    models::create(&f.engine, &f.bank, kiln(ReviewMode::Auto, mode)).await.expect("a model");
    f.run_queue().await;
    detail(f).await
}

pub(crate) async fn detail(f: &Fixture) -> ModelDetail {
    models::get(&f.engine, &f.bank, &id()).await.expect("the model")
}

pub(crate) async fn refresh(f: &Fixture, full: bool) -> OperationId {
    let submitted = models::refresh(&f.engine, &f.bank, &id(), full).await.expect("a refresh");
    f.run_queue().await;
    submitted.operation
}

pub(crate) fn outcome(detail: &ModelDetail) -> &str {
    detail.last_run.as_ref().map_or("", |run| run.outcome.as_str())
}

fn versions(entries: &[TimelineEntry]) -> Vec<(u32, &str)> {
    entries
        .iter()
        .filter_map(|entry| match entry {
            TimelineEntry::Version { version, cause, .. } => Some((*version, cause.as_str())),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn a_model_that_does_not_say_who_decides_goes_by_its_bank() {
    let f = Fixture::new().await;
    let review = async |name: &str| {
        let silent = NewModel {
            id: Some(name.to_owned()),
            review: None,
            content: Some("Fires on Mondays.".to_owned()),
            ..kiln(ReviewMode::Auto, "delta")
        };
        models::create(&f.engine, &f.bank, silent).await.expect("a model");
        models::get(&f.engine, &f.bank, &ModelId::from(name)).await.expect("it").model.review
    };
    assert_eq!(review("plain").await, ReviewMode::Auto);
    let manual = json!({ "review_default": "manual" });
    engine::settings::set_of(&f.engine, &f.bank, manual.into()).await.expect("settings");
    assert_eq!(review("stated").await, ReviewMode::Manual);
}

#[tokio::test]
async fn a_model_is_built_from_the_bank_with_blame_and_evidence() {
    let f = Fixture::new().await;
    let made = published(&f, "delta").await;
    assert_eq!(outcome(&made), "content_written", "{:?}", made.last_run);
    assert_eq!((made.model.version, made.model.state), (1, ModelState::Current));
    assert!(made.extractive);
    let blocks: Vec<_> = made.structure.blocks().collect();
    assert_eq!(blocks.len(), 4, "{}", made.content);
    assert_eq!(made.based_on.len(), 4);
    assert!(made.based_on.iter().all(|item| item.first_cited_version == Some(1) && !item.gone));
    assert_eq!(made.blame.len(), 4);
    assert!(
        made.blame.iter().all(|blame| blame.author == Author::Run && !blame.sources.is_empty())
    );
    assert_eq!(made.content, made.structure.render());
    let again = refresh(&f, true).await;
    let operation = &engine::ops::list(&f.engine, &f.bank).await.expect("operations")[0];
    assert_eq!((operation.id.clone(), operation.status), (again, OperationStatus::Completed));
    let same = detail(&f).await;
    assert_eq!(same.content, made.content, "twice the same refresh gives the same bytes");
    assert_eq!(same.model.version, 1);
}

#[tokio::test]
async fn a_delta_touches_one_block_and_leaves_the_bytes_of_the_others() {
    let f = Fixture::new().await;
    let before = published(&f, "delta").await;
    let fact = f
        .fact(
            "Ben Okoro cleaned the kiln of the workshop in February 2026.",
            &["Kiln", "Ben Okoro"],
            "2026-02-20",
        )
        .await;
    let behind = detail(&f).await;
    assert_eq!((behind.model.state, behind.model.newer), (ModelState::Behind, Some(1)));
    assert_eq!(behind.newer[0].id, fact.id.0);
    refresh(&f, false).await;
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "content_written", "{:?}", after.last_run);
    assert_eq!(after.model.version, 2);
    for block in before.structure.blocks() {
        let (_, now) = after.structure.block(&block.id).expect("every block is still there");
        assert_eq!(now.text, block.text);
    }
    assert_eq!(after.structure.blocks().count(), before.structure.blocks().count() + 1);
    assert!(after.based_on.iter().any(|item| item.id == fact.id.0));
    let diff = models::diff_versions(&f.engine, &f.bank, &id(), 1, 2).await.expect("a diff");
    assert_eq!(diff.evidence_new.len(), 1);
    assert!(diff.diff.unified.contains("+Ben Okoro cleaned"), "{}", diff.diff.unified);
    let timeline = models::timeline(&f.engine, &f.bank, &id()).await.expect("a timeline");
    assert_eq!(versions(&timeline), [(2, "refresh_delta"), (1, "refresh_full")]);
}

/// Extractive 9, README 14: a newer word on the same matter takes the place of the older; what somebody
/// did to the thing, or to something else too, stands beside it.
#[tokio::test]
async fn a_deed_stands_beside_a_state_and_a_newer_state_replaces_it() {
    let f = Fixture::new().await;
    let before = published(&f, "delta").await;
    let swept = "The kiln of the workshop was swept at 90 degrees.";
    f.fact(swept, &["Kiln"], "2026-02-20").await;
    let raised = "The kiln of the workshop by Edda reaches 1250 degrees.";
    f.fact(raised, &["Kiln", "Edda"], "2026-02-21").await;
    refresh(&f, false).await;
    let beside = detail(&f).await;
    for block in before.structure.blocks() {
        let (_, now) = beside.structure.block(&block.id).expect("every block is still there");
        assert_eq!(now.text, block.text);
    }
    for text in [swept, raised] {
        assert!(beside.content.contains(text), "{}", beside.content);
    }
    f.fact("The kiln of the workshop reaches 1300 degrees.", &["Kiln"], "2026-02-22").await;
    refresh(&f, false).await;
    let after = detail(&f).await;
    assert!(!after.content.contains("reaches 1200 degrees"), "{}", after.content);
    assert_eq!(after.structure.blocks().count(), beside.structure.blocks().count());
}

/// FC-05: nothing new means nothing written.
#[tokio::test]
async fn fc_05_nothing_new_writes_nothing() {
    let f = Fixture::new().await;
    let before = published(&f, "delta").await;
    for _ in 0..5 {
        f.clock.advance_ms(1000);
        refresh(&f, false).await;
        let after = detail(&f).await;
        assert_eq!(outcome(&after), "content_preserved_no_new_facts");
        assert_eq!((after.model.version, &after.content), (1, &before.content));
        assert!(after.model.last_refreshed_at > before.model.last_refreshed_at);
        assert_eq!(after.model.last_memory_seen_at, before.model.last_memory_seen_at);
    }
}

/// FC-06: placeholders and refusals are not documents.
#[tokio::test]
async fn fc_06_an_unbuilt_model_is_a_state_of_its_own_and_an_empty_scope_keeps_the_document() {
    let f = Fixture::new().await;
    models::create(&f.engine, &f.bank, kiln(ReviewMode::Auto, "delta")).await.expect("a model");
    let unbuilt = detail(&f).await;
    assert!(unbuilt.model.placeholder && unbuilt.content.is_empty());
    assert_eq!(unbuilt.model.last_refreshed_at, None);
    let joined = models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
    assert!(joined.deduplicated, "one waits already");
    facts(&f).await;
    f.run_queue().await;
    let built = detail(&f).await;
    assert_eq!(outcome(&built), "content_written");
    let run = built.last_run.as_ref().expect("a run");
    assert_eq!(run.mode_fallback_reason.as_deref(), Some("no_baseline_content"));
    let patch = ModelPatch { tags: Some(vec!["elsewhere".to_owned()]), ..ModelPatch::default() };
    models::update(&f.engine, &f.bank, &id(), patch).await.expect("an update");
    refresh(&f, true).await;
    let kept = detail(&f).await;
    assert_eq!(outcome(&kept), "content_preserved_no_new_facts");
    assert_eq!(kept.content, built.content);
    let warnings = kept.last_run.expect("a run").warnings;
    assert!(warnings.iter().any(|warning| warning.code == "empty_scope"), "{warnings:?}");
}

#[tokio::test]
async fn a_fact_that_is_taken_back_is_unsaid_and_no_longer_cited() {
    let f = Fixture::new().await;
    let before = published(&f, "delta").await;
    let gone = before.based_on.iter().find(|i| i.text.contains("1200")).expect("the fact").clone();
    let memory = domain::MemoryId(gone.id.clone());
    engine::memory::invalidate(&f.engine, &f.bank, &memory, None).await.expect("invalidated");
    let doubtful = detail(&f).await;
    assert_eq!(doubtful.model.refresh_reasons, ["grounding_retracted"]);
    assert!(doubtful.based_on.iter().any(|item| item.gone));
    refresh(&f, false).await;
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "content_written", "{:?}", after.last_run);
    assert!(!after.content.contains("1200"));
    assert!(after.based_on.iter().all(|item| item.id != gone.id));
    assert!(after.model.refresh_reasons.is_empty());
    let timeline = models::timeline(&f.engine, &f.bank, &id()).await.expect("a timeline");
    assert_eq!(versions(&timeline)[0], (2, "retraction"));
}

/// FC-04: untouched text is untouched, whatever it is.
#[tokio::test]
async fn fc_04_untouched_text_keeps_its_bytes_through_ten_deltas() {
    let page = "Lead  \nwith a hard break\n\n# Tables\n\na | b\n- | -:\n1 | 2\n\n| x |\n|:-:|\n| y |\n\n\
        # Lists\n\n- one\n  - two\n    - three\n      more\n\n> quoted\n> text\n\n- [ ] task\n- [x] done\n\n\
        # Odd\n\n<div class=\"x\">raw</div>\n\n    indented\n\n```rust\n# not a heading\n\nlet a = 1;\n```\n\n---\n\n\
        Note[^1] 👩‍👩‍👧 שלום\n\n[^1]: foot\n\n# Kiln\n\nThe kiln stands in the yard.\n";
    let f = Fixture::new().await;
    let new = NewModel { content: Some(page.to_owned()), ..kiln(ReviewMode::Auto, "delta") };
    let made = models::create(&f.engine, &f.bank, new).await.expect("a model");
    assert_eq!(made.operation, None);
    let before = detail(&f).await;
    assert_eq!((before.content.as_str(), before.model.version), (page, 1));
    for day in 1..=10 {
        let text = format!("The kiln of the workshop was fired {day} times in week {day}.");
        f.fact(&text, &["Kiln"], &format!("2026-02-{day:02}")).await;
        refresh(&f, false).await;
    }
    let after = detail(&f).await;
    assert!(after.model.version > 1, "{:?}", after.last_run);
    for section in before.structure.sections.iter().filter(|section| section.id != "kiln") {
        assert_eq!(after.structure.section(&section.id), Some(section));
    }
    let person = &before.structure.section("kiln").expect("kiln").blocks[0];
    assert_eq!(after.structure.block(&person.id).expect("kept").1.text, person.text);
    assert_eq!(after.content, after.structure.render());
    assert_eq!(parse(&after.content).render(), after.content);
}

#[tokio::test]
async fn edit_clear_and_revert_are_versions_with_a_check() {
    let f = Fixture::new().await;
    let first = published(&f, "delta").await;
    let edited = first.content.replace("1200 degrees", "1250 degrees");
    let stale = models::edit_content(&f.engine, &f.bank, &id(), edited.clone(), 7).await;
    assert_eq!(stale.expect_err("another version").reason(), "version_conflict");
    let second = models::edit_content(&f.engine, &f.bank, &id(), edited, 1).await.expect("an edit");
    assert_eq!(second.model.version, 2);
    let by_person = second.blame.iter().filter(|blame| blame.author == Author::Person).count();
    assert_eq!(by_person, 1);
    let third = models::clear(&f.engine, &f.bank, &id(), 2).await.expect("cleared");
    assert_eq!((third.content.as_str(), third.model.state), ("", ModelState::NeverRefreshed));
    assert!(third.based_on.is_empty());
    let back = models::revert(&f.engine, &f.bank, &id(), 1, false).await.expect("reverted");
    assert_eq!((back.content.as_str(), back.model.version), (first.content.as_str(), 4));
    assert_eq!(back.based_on.len(), first.based_on.len());
    let ids = |detail: &ModelDetail| -> Vec<String> {
        detail.structure.blocks().map(|block| block.id.clone()).collect()
    };
    assert_eq!(ids(&back), ids(&first));
    let timeline = models::timeline(&f.engine, &f.bank, &id()).await.expect("a timeline");
    assert_eq!(
        versions(&timeline),
        [(4, "revert"), (3, "clear"), (2, "edit"), (1, "refresh_full")]
    );
}

#[tokio::test]
async fn faults_of_a_request_come_all_at_once() {
    let f = Fixture::new().await;
    let new = NewModel {
        id: Some("Not An Id".to_owned()),
        name: "  ".to_owned(),
        max_tokens: Some(3),
        ..kiln(ReviewMode::Auto, "sideways")
    };
    let error = models::create(&f.engine, &f.bank, new).await.expect_err("refused");
    let report = engine::report::Report::from(&error);
    let mut fields: Vec<&str> = report.fields.iter().map(|fault| fault.field.as_str()).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["id", "max_tokens", "name", "trigger.mode"]);
    models::create(&f.engine, &f.bank, kiln(ReviewMode::Auto, "full")).await.expect("a model");
    let twice = models::create(&f.engine, &f.bank, kiln(ReviewMode::Auto, "full")).await;
    assert_eq!(twice.expect_err("taken").reason(), "id_taken");
    models::delete(&f.engine, &f.bank, &id()).await.expect("deleted");
    let gone = models::get(&f.engine, &f.bank, &id()).await;
    assert_eq!(gone.expect_err("deleted").reason(), "model_not_found");
    f.run_queue().await;
}

#[tokio::test]
async fn a_cancelled_refresh_writes_nothing_but_its_record() {
    let f = Fixture::new().await;
    facts(&f).await;
    models::create(&f.engine, &f.bank, kiln(ReviewMode::Auto, "full")).await.expect("a model");
    let operation = engine::ops::list(&f.engine, &f.bank).await.expect("operations")[0].id.clone();
    let (engine, bank) = (f.engine.clone(), f.bank.clone());
    // Cancels as soon as the run has said its first step, which is before it commits.
    let seen = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&seen);
    let mut news = engine.subscribe();
    let watcher = tokio::spawn(async move {
        loop {
            if let Ok(engine::events::Event::Progress(_)) = news.recv().await {
                count.fetch_add(1, Ordering::Relaxed);
                engine::ops::cancel(&engine, &bank, &operation).await.ok();
                break;
            }
        }
    });
    f.run_queue().await;
    watcher.await.expect("a watcher");
    let after = detail(&f).await;
    assert_eq!(seen.load(Ordering::Relaxed), 1);
    if outcome(&after) == "cancelled" {
        assert_eq!((after.model.version, after.content.as_str()), (0, ""));
        assert!(after.model.placeholder);
    } else {
        // The run was quicker: then it is whole.
        assert_eq!(after.model.version, 1);
    }
}

/// Every commit of a refresh, failing before it and stopped after it: what a new start finds is the
/// old or the new state, whole.
#[tokio::test]
async fn a_refresh_killed_at_any_commit_is_whole_or_not_at_all() {
    for moment in [Moment::BeforeCommit, Moment::AfterCommit] {
        for step in 0..12 {
            let f = Fixture::new().await;
            let before = published(&f, "delta").await;
            f.fact("Ben Okoro cleaned the kiln of the workshop.", &["Kiln"], "2026-02-20").await;
            models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
            let commits = Arc::new(AtomicU32::new(0));
            let count = Arc::clone(&commits);
            f.engine.store().set_commit_hook(move |point| {
                if point.moment == moment {
                    let at = count.fetch_add(1, Ordering::SeqCst);
                    if at >= step {
                        return Err(store::Error::Closed);
                    }
                }
                Ok(())
            });
            // From the chosen commit on nothing more is written, as if the process were gone.
            engine::ops::run_pending(&f.engine).await.ok();
            let reached = commits.load(Ordering::SeqCst) > step;
            let Fixture { folder, clock, engine, bank } = f;
            engine.store().set_commit_hook(|_| Ok(()));
            drop(engine);
            let engine = reopen(folder.path(), &clock).await;
            let found = models::get(&engine, &bank, &id()).await.expect("the model");
            whole(&before, &found);
            engine::ops::run_pending(&engine).await.expect("a queue");
            let after = models::get(&engine, &bank, &id()).await.expect("the model");
            assert_eq!(after.model.version, 2, "{moment:?} at {step}: {:?}", after.last_run);
            assert!(after.content.contains("Ben Okoro"));
            if !reached {
                break;
            }
        }
    }
}

fn whole(before: &ModelDetail, found: &ModelDetail) {
    assert_eq!(found.content, found.structure.render());
    if found.model.version == before.model.version {
        assert_eq!(found.content, before.content);
        assert_eq!(found.based_on.len(), before.based_on.len());
    } else {
        assert_eq!(found.model.version, before.model.version + 1);
        assert_eq!(found.based_on.len(), before.based_on.len() + 1);
        assert_eq!(outcome(found), "content_written");
    }
    assert_eq!(found.blame.len(), found.structure.blocks().count());
}

/// Opens the folder again; the one before lets go of it as soon as its tasks have ended.
pub(crate) async fn reopen(
    folder: &std::path::Path,
    clock: &Arc<engine::clock::TestClock>,
) -> engine::Engine {
    for _ in 0..100_000 {
        match open(folder, clock, &Setup::default()).await {
            Ok(engine) => return engine,
            Err(error) if error.reason() == "data_folder_in_use" => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
    panic!("the folder was not let go");
}

/// A refresh with nothing to read is taken and ended in one commit; one with a new fact is not.
#[tokio::test]
async fn a_refresh_with_nothing_to_read_is_ended_when_its_turn_comes() {
    let f = Fixture::new().await;
    published(&f, "delta").await;
    let labels = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&labels);
    f.engine.store().set_commit_hook(move |point| {
        if point.moment == Moment::AfterCommit {
            seen.lock().unwrap().push(point.label);
        }
        Ok(())
    });
    let commits = || std::mem::take(&mut *labels.lock().unwrap());
    let before = detail(&f).await;
    let submitted = models::refresh(&f.engine, &f.bank, &id(), false).await.unwrap();
    f.run_queue().await;
    assert_eq!(commits(), ["submit_refresh", "claim_operation"]);
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "content_preserved_no_new_facts");
    assert_eq!((after.content, after.model.version), (before.content, before.model.version));
    assert!(after.model.last_refreshed_at >= before.model.last_refreshed_at);
    let runs = models::refresh_runs(&f.engine, &f.bank, &id()).await.unwrap();
    assert_eq!(runs[0].operation.as_ref(), Some(&submitted.operation));
    let newest = engine::ops::list(&f.engine, &f.bank).await.unwrap().remove(0);
    assert_eq!(newest.id, submitted.operation);
    assert_eq!(newest.status, OperationStatus::Completed);

    f.fact("Ben Okoro cleaned the kiln of the workshop.", &["Kiln"], "2026-02-20").await;
    commits();
    refresh(&f, false).await;
    assert!(commits().contains(&"commit_refresh"));
    assert!(detail(&f).await.content.contains("Ben Okoro"));
}
