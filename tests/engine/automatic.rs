//! Refreshes that no person asks for: schedules, the end of a consolidation, deletions; and that each
//! runs when it is due, once, and only if something calls for it.

use crate::models::{detail, facts, id, kiln, outcome, refresh};
use domain::{Instant, ModelId, OperationId};
use engine::models::{self, automatic};
use engine::view::memory::NewFact;
use engine::view::model::{ModelDetail, ModelPatch, ModelRow, ModelState, NewModel, ReviewMode};
use engine::view::operation::{OperationRow, OperationStatus};
use engine::{memory, ops, settings};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use store::runs::RefreshRun;
use tests::{Fixture, at};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

/// A model of the kiln that refreshes by itself.
pub(crate) fn kept(trigger: Value) -> NewModel {
    let mut all = json!({ "mode": "delta" });
    for (key, value) in trigger.as_object().expect("an object") {
        all[key] = value.clone();
    }
    NewModel { trigger: Some(all.into()), ..kiln(ReviewMode::Auto, "delta") }
}

/// A built document of the facts that refreshes by itself.
pub(crate) async fn built(f: &Fixture, trigger: Value) -> ModelDetail {
    facts(f).await;
    models::create(&f.engine, &f.bank, kept(trigger)).await.expect("a model");
    f.run_queue().await;
    let made = detail(f).await;
    assert_eq!(outcome(&made), "content_written", "{:?}", made.last_run);
    made
}

pub(crate) async fn news(f: &Fixture, n: u32) {
    let text = format!("The kiln of the workshop was fired for order number {n} in February.");
    f.fact(&text, &["Kiln"], "2026-02-20").await;
}

pub(crate) async fn tagged(f: &Fixture, text: &str, tags: &[&str]) {
    let fact = NewFact {
        text: text.to_owned(),
        fact_type: None,
        context: None,
        occurred_start: None,
        occurred_end: None,
        mentioned_at: None,
        tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
        metadata: BTreeMap::new(),
        entities: vec!["Kiln".to_owned()],
    };
    memory::add(&f.engine, &f.bank, fact).await.expect("a fact");
}

/// The end of a consolidation that touched these tags.
pub(crate) async fn consolidated(f: &Fixture, tags: &[&str]) -> usize {
    let touched: BTreeSet<String> = tags.iter().map(|&tag| tag.to_owned()).collect();
    automatic::after_consolidation(&f.engine, &f.bank, &touched).await.expect("submits")
}

pub(crate) async fn tick(f: &Fixture) -> automatic::Ticked {
    automatic::tick(&f.engine, f.engine.now()).await.expect("a look at the schedules")
}

pub(crate) async fn queue(f: &Fixture) -> Vec<OperationRow> {
    let all = ops::list(&f.engine, &f.bank).await.expect("operations");
    let going = |row: &OperationRow| {
        matches!(row.status, OperationStatus::Pending | OperationStatus::Processing)
    };
    all.into_iter().filter(going).collect()
}

/// The refreshes among what is queued.
async fn refreshes(f: &Fixture) -> Vec<OperationRow> {
    let mut all = queue(f).await;
    all.retain(|row| row.operation_type == "refresh_mental_model");
    all
}

pub(crate) async fn operation(f: &Fixture, id: &OperationId) -> OperationRow {
    let all = ops::list(&f.engine, &f.bank).await.expect("operations");
    all.into_iter().find(|row| row.id == *id).expect("the operation")
}

pub(crate) async fn runs(f: &Fixture, model: &ModelId) -> Vec<RefreshRun> {
    let (bank, model) = (f.bank.clone(), model.clone());
    f.engine
        .store()
        .read(move |tx| {
            let bank = store::banks::key(tx, &bank)?;
            let model = store::models::get(tx, bank, &model)?.head.key;
            store::runs::list_refreshes(tx, model, 200)
        })
        .await
        .expect("runs")
}

/// Reason and count of every series of skips, newest first.
pub(crate) async fn skips(f: &Fixture) -> Vec<(String, u32)> {
    let skipped = runs(f, &id()).await.into_iter().filter(|run| run.outcome == "skipped");
    skipped
        .map(|run| (run.failure_reason.expect("a reason"), run.skip_count.expect("a count")))
        .collect()
}

async fn patch(f: &Fixture, trigger: Value) -> engine::Result<ModelDetail> {
    let patch = ModelPatch { trigger: Some(trigger.into()), ..ModelPatch::default() };
    models::update(&f.engine, &f.bank, &id(), patch).await
}

fn moment(text: &str) -> Instant {
    at(text)
}

/// FC-11: every run leaves a readable record, also what did not run.
#[tokio::test]
async fn fc_11_runs_and_skips_are_on_record() {
    let f = Fixture::new().await;
    let hourly = json!({ "refresh_cron": "0 * * * *", "refresh_after_consolidation": false });
    built(&f, hourly).await;
    for _ in 0..3 {
        f.clock.advance_ms(HOUR);
        tick(&f).await;
    }
    assert_eq!(skips(&f).await, [("fresh".to_owned(), 3)], "equal skips are one row");
    patch(&f, json!({ "min_refresh_interval_seconds": 7 * 3600 })).await.expect("settings");
    news(&f, 1).await;
    f.clock.advance_ms(HOUR);
    tick(&f).await;
    f.run_queue().await;
    f.clock.advance_ms(4 * HOUR);
    f.run_queue().await;
    refresh(&f, false).await;
    let all = runs(&f, &id()).await;
    let words: Vec<(&str, Option<&str>)> =
        all.iter().map(|run| (run.outcome.as_str(), run.failure_reason.as_deref())).collect();
    assert_eq!(
        words,
        [
            ("content_preserved_no_new_facts", None),
            ("content_written", None),
            ("skipped", Some("floor")),
            ("skipped", Some("fresh")),
            ("content_written", None),
        ]
    );
    assert_eq!(all[1].trigger_causes, ["cron"]);
    assert_eq!(all[2].trigger_causes, ["cron"]);
    assert_eq!(all[2].effective_mode, None);
    assert!(all[2].operation.is_some(), "the operation that was put off");
    assert!(all.iter().all(|run| run.scope["fact_types"].is_null() && run.scope.is_object()));
}

/// FC-12: two times, two meanings.
#[tokio::test]
async fn fc_12_a_quiet_scope_moves_one_clock_and_never_the_schedule() {
    let f = Fixture::new().await;
    let before = built(&f, json!({ "refresh_cron": "* * * * *" })).await;
    for _ in 0..20 {
        f.clock.advance_ms(MINUTE);
        assert!(tick(&f).await.queued.is_empty(), "nothing calls for a run");
        refresh(&f, false).await;
        let now = detail(&f).await;
        assert_eq!(now.model.last_refreshed_at, Some(f.engine.now()));
        assert_eq!(now.model.last_memory_seen_at, before.model.last_memory_seen_at);
        assert_eq!((now.model.state, now.model.version), (ModelState::Current, 1));
    }
}

/// FC-13: every affected model, once, by one and the same rule of scope.
#[tokio::test]
async fn fc_13_a_consolidation_refreshes_the_models_that_it_touched() {
    let f = Fixture::new().await;
    let after = json!({ "refresh_after_consolidation": true });
    let with = |id: &str, tags: &[&str], own: Value| {
        let mut trigger = after.clone();
        for (key, value) in own.as_object().expect("an object") {
            trigger[key] = value.clone();
        }
        NewModel {
            id: Some(id.to_owned()),
            tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
            ..kept(trigger)
        }
    };
    tagged(&f, "The kiln of the workshop stands in the garden.", &["garden"]).await;
    let groups = json!({ "tag_groups": [{ "not": { "tags": ["private"] } }] });
    for model in [
        with("a", &["garden"], json!({ "tags_match": "any" })),
        with("b", &[], groups),
        with("c", &["garden"], json!({})),
    ] {
        models::create(&f.engine, &f.bank, model).await.expect("a model");
    }
    f.run_queue().await;
    let waiting = |f: Vec<OperationRow>| -> BTreeSet<String> {
        f.into_iter().filter_map(|row| row.mental_model_id).map(|id| id.0).collect()
    };
    let names = |all: &[&str]| -> BTreeSet<String> { all.iter().map(|&s| s.to_owned()).collect() };
    news(&f, 1).await;
    assert_eq!(consolidated(&f, &[]).await, 2);
    assert_eq!(waiting(queue(&f).await), names(&["a", "b"]), "only untagged ones were touched");
    f.run_queue().await;
    tagged(&f, "The kiln of the workshop in the garden has a new roof.", &["garden"]).await;
    assert_eq!(consolidated(&f, &["garden"]).await, 3);
    assert_eq!(consolidated(&f, &["garden"]).await, 3, "joined, not queued again");
    assert_eq!(queue(&f).await.len(), 3);
    f.run_queue().await;
    assert_eq!(consolidated(&f, &["garden"]).await, 0, "each ran once");
    tagged(&f, "The kiln of the workshop has a secret door.", &["private"]).await;
    assert_eq!(consolidated(&f, &["private"]).await, 0, "no model reads it");
}

/// FC-14: no queues of identical work; what lies inside the interval is parked, not dropped.
#[tokio::test]
async fn fc_14_triggers_inside_the_interval_are_one_parked_run() {
    let f = Fixture::new().await;
    built(&f, json!({ "refresh_after_consolidation": true })).await;
    let floor = json!({ "mental_model_min_refresh_interval_seconds": 1800 });
    settings::set_of(&f.engine, &f.bank, floor.into()).await.expect("settings");
    for n in 0..30 {
        f.clock.advance_ms(1000);
        news(&f, n).await;
        assert_eq!(consolidated(&f, &[]).await, 1);
        f.run_queue().await;
    }
    let parked = &queue(&f).await[..];
    assert_eq!(parked.len(), 1);
    let due = moment("2026-03-02T09:30:00Z");
    assert_eq!(parked[0].next_retry_at, Some(due));
    assert_eq!((parked[0].retry_count, parked[0].error_reason.as_deref()), (0, None));
    let shown = detail(&f).await;
    assert_eq!((shown.model.state, shown.model.parked_until), (ModelState::Parked, Some(due)));
    f.clock.advance_ms(29 * MINUTE + 29_999);
    f.run_queue().await;
    assert_eq!(queue(&f).await.len(), 1, "a millisecond early");
    f.clock.advance_ms(1);
    f.run_queue().await;
    assert_eq!(queue(&f).await, []);
    let after = detail(&f).await;
    assert_eq!((after.model.state, after.model.version), (ModelState::Current, 2));
    assert_eq!(after.based_on.len(), 4 + 30, "it read everything that came meanwhile");
}

#[tokio::test]
async fn fc_14_a_person_releases_the_parked_run_and_a_models_zero_beats_the_bank() {
    let f = Fixture::new().await;
    built(&f, json!({ "refresh_after_consolidation": true })).await;
    let floor = json!({ "mental_model_min_refresh_interval_seconds": 1800 });
    settings::set_of(&f.engine, &f.bank, floor.into()).await.expect("settings");
    news(&f, 1).await;
    consolidated(&f, &[]).await;
    f.run_queue().await;
    let parked = queue(&f).await.remove(0);
    let asked = models::refresh(&f.engine, &f.bank, &id(), false).await.expect("a refresh");
    assert_eq!((&asked.operation, asked.deduplicated), (&parked.id, true));
    f.run_queue().await;
    let ran = operation(&f, &parked.id).await;
    assert_eq!(ran.status, OperationStatus::Completed);
    assert_eq!(ran.triggered_by, ["after_consolidation", "manual_refresh"]);
    news(&f, 2).await;
    consolidated(&f, &[]).await;
    f.run_queue().await;
    assert_eq!(queue(&f).await.len(), 1);
    patch(&f, json!({ "min_refresh_interval_seconds": 0 })).await.expect("settings");
    f.run_queue().await;
    assert_eq!(queue(&f).await, [], "the change counts at once");
    assert_eq!(detail(&f).await.model.version, 3);
}

/// FC-16: the hour the user meant; a schedule that cannot be read is not saved.
#[tokio::test]
async fn fc_16_a_schedule_is_refused_with_its_fault_and_shown_with_its_next_runs() {
    let f = Fixture::new().await;
    built(&f, json!({ "refresh_cron": "0 21 * * *" })).await;
    let shown = detail(&f).await;
    assert_eq!(shown.next_runs.len(), 5);
    assert_eq!(shown.model.next_run, Some(moment("2026-03-02T21:00:00Z")));
    for (trigger, field, code) in [
        (json!({ "refresh_cron": "0 0 21 * * *" }), "trigger.refresh_cron", "cron_syntax"),
        (
            json!({ "full_refresh_cron": "0 0 30 2 *" }),
            "trigger.full_refresh_cron",
            "cron_never_fires",
        ),
        (
            json!({ "refresh_cron": "0 1 * * *", "refresh_after_consolidation": true }),
            "trigger",
            "exclusive",
        ),
    ] {
        let refused = patch(&f, trigger.clone()).await.expect_err("a fault");
        let report = engine::report::Report::from(refused);
        let found = report.fields.iter().find(|fault| fault.code == code);
        let found = found.unwrap_or_else(|| panic!("{trigger}: {:?}", report.fields));
        assert!(found.field.starts_with(field), "{}", found.field);
    }
    // Stating one takes the other back.
    let after = patch(&f, json!({ "refresh_after_consolidation": true })).await.expect("settings");
    assert_eq!((after.model.refresh_cron, after.model.next_run), (None, None));
    assert!(after.model.refresh_after_consolidation);
}

/// FC-17: after sleep once, gently, only if needed.
#[tokio::test]
async fn fc_17_after_sleep_the_changed_models_run_once() {
    let f = Fixture::new().await;
    for n in 1..=5 {
        let tag = format!("t{n}");
        tagged(&f, &format!("The kiln of the workshop has part number {n}."), &[&tag]).await;
        let model = NewModel {
            id: Some(format!("m{n}")),
            tags: vec![tag],
            ..kept(json!({ "refresh_cron": "0 * * * *" }))
        };
        models::create(&f.engine, &f.bank, model).await.expect("a model");
    }
    f.run_queue().await;
    f.clock.advance_ms(13 * HOUR);
    let evening = tick(&f).await;
    assert_eq!((evening.queued.len(), evening.skipped), (0, 5), "22:00, nothing changed");
    for n in [2, 4] {
        tagged(&f, &format!("Part {n} of the kiln of the workshop is new."), &[&format!("t{n}")])
            .await;
    }
    // The machine sleeps until 07:40.
    f.clock.advance_ms(9 * HOUR + 40 * MINUTE);
    let woken = tick(&f).await;
    assert_eq!((woken.queued.len(), woken.skipped), (2, 3));
    assert_eq!(tick(&f).await, automatic::Ticked::default(), "no burst for the missed hours");
    f.run_queue().await;
    for n in 1..=5 {
        let name = ModelId(format!("m{n}"));
        let found = models::get(&f.engine, &f.bank, &name).await.expect("a model");
        assert_eq!(found.model.next_run, Some(moment("2026-03-03T08:00:00Z")), "the ordinary one");
        let ran = runs(&f, &name).await;
        let caught_up = |run: &RefreshRun| run.warnings.to_string().contains("caught_up");
        assert_eq!(ran.iter().filter(|run| caught_up(run)).count(), usize::from(n % 2 == 0));
        if n % 2 == 0 {
            let warnings = &found.last_run.expect("a run").warnings;
            let told = warnings.iter().find(|warning| warning.code == "caught_up");
            assert!(told.expect("a word").message.contains("2026-03-02 23:00"), "{warnings:?}");
        }
    }
    f.clock.advance_ms(25 * MINUTE);
    let ordinary = tick(&f).await;
    assert_eq!((ordinary.queued.len(), ordinary.skipped), (0, 5));
}

/// FC-18: one word for one state, in the list and in the detail.
#[tokio::test]
async fn fc_18_list_and_detail_say_the_same_word() {
    let f = Fixture::new().await;
    built(&f, json!({})).await;
    let never =
        NewModel { id: Some("never".into()), content: Some("By hand.".into()), ..kept(json!({})) };
    models::create(&f.engine, &f.bank, never).await.expect("a model");
    tagged(&f, "The kiln of the workshop is green.", &["paint"]).await;
    let paint =
        NewModel { id: Some("paint".into()), tags: vec!["paint".into()], ..kept(json!({})) };
    models::create(&f.engine, &f.bank, paint).await.expect("a model");
    f.run_queue().await;
    let list: Vec<ModelRow> = models::list(&f.engine, &f.bank).await.expect("a list");
    let word = |name: &str| list.iter().find(|row| row.id.0 == name).expect("a row").state;
    assert_eq!(word("kiln"), ModelState::Behind);
    assert_eq!(word("never"), ModelState::NeverRefreshed);
    assert_eq!(word("paint"), ModelState::Current);
    // Lost evidence is a word of its own beside the state.
    let cited =
        &models::get(&f.engine, &f.bank, &ModelId::from("paint")).await.expect("it").based_on;
    memory::invalidate(&f.engine, &f.bank, &domain::MemoryId(cited[0].id.clone()), None)
        .await
        .expect("taken out of use");
    for row in models::list(&f.engine, &f.bank).await.expect("a list") {
        let one = models::get(&f.engine, &f.bank, &row.id).await.expect("a model").model;
        assert_eq!((one.state, &one.refresh_reasons), (row.state, &row.refresh_reasons));
        if row.id.0 == "paint" {
            assert_eq!(row.state, ModelState::Current);
            assert_eq!(row.refresh_reasons, ["grounding_retracted"]);
        }
    }
}

/// 12.8: a deletion of something cited asks for a refresh where refreshes run by themselves.
#[tokio::test]
async fn a_deletion_refreshes_the_models_that_cite_what_is_gone() {
    let f = Fixture::new().await;
    let made = built(&f, json!({ "refresh_cron": "0 3 * * *" })).await;
    let plain = NewModel { id: Some("plain".into()), ..kept(json!({})) };
    models::create(&f.engine, &f.bank, plain).await.expect("a model");
    f.run_queue().await;
    let gone = |n: usize| domain::MemoryId(made.based_on[n].id.clone());
    let on = json!({ "enable_auto_consolidation": true });
    settings::set_of(&f.engine, &f.bank, on.into()).await.expect("settings");
    memory::invalidate(&f.engine, &f.bank, &gone(0), None).await.expect("taken out of use");
    assert_eq!(refreshes(&f).await, [], "facts wait for folding, whose end will ask");
    let off = json!({ "enable_auto_consolidation": false });
    settings::set_of(&f.engine, &f.bank, off.into()).await.expect("settings");
    memory::delete(&f.engine, &f.bank, &gone(1)).await.expect("deleted");
    let waiting = refreshes(&f).await;
    assert_eq!(waiting.len(), 1, "the model without a trigger is only flagged");
    assert_eq!(waiting[0].mental_model_id, Some(id()));
    assert_eq!(
        (&waiting[0].triggered_by[..], waiting[0].automatic),
        (&["after_deletion".to_owned()][..], true)
    );
    f.run_queue().await;
    let uncited = f.fact("Nobody cites this.", &[], "2026-02-20").await;
    memory::delete(&f.engine, &f.bank, &uncited.id).await.expect("deleted");
    assert_eq!(refreshes(&f).await, []);
}

/// 12.8: what went while facts waited for folding is noticed once they are folded, also by models
/// that refresh on a schedule alone.
#[tokio::test]
async fn a_deletion_while_facts_wait_is_noticed_when_they_are_folded() {
    let f = Fixture::new().await;
    let made = built(&f, json!({ "refresh_cron": "0 3 * * *" })).await;
    let plain = NewModel { id: Some("plain".into()), ..kept(json!({})) };
    models::create(&f.engine, &f.bank, plain).await.expect("a model");
    f.run_queue().await;
    let on = json!({ "enable_auto_consolidation": true });
    settings::set_of(&f.engine, &f.bank, on.into()).await.expect("settings");
    let gone = domain::MemoryId(made.based_on[0].id.clone());
    memory::delete(&f.engine, &f.bank, &gone).await.expect("deleted");
    assert_eq!(refreshes(&f).await, [], "facts wait for folding, whose end will ask");
    f.run_queue().await;
    let mut ran = ops::list(&f.engine, &f.bank).await.expect("operations");
    ran.retain(|row| row.triggered_by == ["after_deletion"]);
    assert_eq!(ran.len(), 1, "the model without a trigger is only flagged");
    assert_eq!(
        (ran[0].mental_model_id.clone(), ran[0].status),
        (Some(id()), OperationStatus::Completed)
    );
    assert!(detail(&f).await.model.refresh_reasons.is_empty());
    // News alone is nothing to a schedule that is not due.
    news(&f, 1).await;
    f.run_queue().await;
    let all = ops::list(&f.engine, &f.bank).await.expect("operations");
    assert!(all.iter().all(|row| row.triggered_by != ["after_consolidation"]));
}

/// 12.6: a boundary is acted on once, whatever came of it; 0 seconds between looks is off.
#[tokio::test]
async fn a_boundary_is_acted_on_once() {
    let f = Fixture::new().await;
    built(&f, json!({ "refresh_cron": "0 * * * *" })).await;
    news(&f, 1).await;
    assert_eq!(tick(&f).await, automatic::Ticked::default(), "09:00 is when it was refreshed");
    f.clock.advance_ms(3 * HOUR);
    let due = tick(&f).await;
    assert_eq!(due.queued.len(), 1, "three boundaries, one run");
    assert_eq!(tick(&f).await, automatic::Ticked::default(), "it waits already");
    ops::cancel(&f.engine, &f.bank, &due.queued[0]).await.expect("cancelled");
    f.clock.advance_ms(5 * MINUTE);
    assert_eq!(tick(&f).await, automatic::Ticked::default(), "12:00 was acted on");
    f.clock.advance_ms(HOUR);
    assert_eq!(tick(&f).await.queued.len(), 1);
}
