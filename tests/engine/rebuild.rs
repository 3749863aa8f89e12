//! Full rebuilds beside edits: asked for or on their own schedule, they wait for a person whoever
//! decides on the edits, change no setting, and edits meanwhile do not take their place.

use crate::automatic::{built, news, operation, tick};
use crate::models::{detail, id, outcome, refresh};
use crate::proposals::{accept_all, approve, decide, get, sure, waiting};
use domain::proposal::Decision;
use engine::models::{self, automatic, proposals};
use engine::view::model::ReviewMode;
use engine::view::operation::OperationStatus;
use engine::view::proposal::ProposalState;
use serde_json::json;
use tests::Fixture;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

/// FC-08: a full rebuild on demand, once; then edits again.
#[tokio::test]
async fn fc_08_a_full_rebuild_is_asked_for_once_and_changes_no_setting() {
    let f = Fixture::new().await;
    let before = built(&f, json!({})).await;
    news(&f, 1).await;
    refresh(&f, true).await;
    let rebuilt = detail(&f).await;
    let run = rebuilt.last_run.as_ref().expect("a run");
    assert_eq!((run.requested_mode.as_str(), run.effective_mode.as_str()), ("delta", "full"));
    assert_eq!(run.mode_fallback_reason.as_deref(), Some("forced_full"));
    assert_eq!(outcome(&rebuilt), "proposal_created", "nobody has seen it yet");
    assert_eq!((&rebuilt.content, rebuilt.model.version), (&before.content, 1));
    assert_eq!((rebuilt.model.review, &rebuilt.trigger), (ReviewMode::Auto, &before.trigger));
    assert_eq!(rebuilt.model.tags, before.model.tags);
    let view = waiting(&f).await;
    assert_eq!((view.row.origin.as_str(), view.row.reason.as_str()), ("full", "review_manual"));
    let view = accept_all(&f, &view).await;
    approve(&f, &view, sure()).await;
    let approved = detail(&f).await;
    assert!(approved.content.contains("order number 1"), "{}", approved.content);
    assert!(approved.last_full_refreshed_at.is_some());
    news(&f, 2).await;
    refresh(&f, false).await;
    let edited = detail(&f).await;
    assert_eq!(edited.last_run.as_ref().expect("a run").effective_mode, "delta");
    assert_eq!((outcome(&edited), edited.model.version), ("content_written", 3));
}

/// A model that is rebuilt at each refresh publishes as before, also when that is asked for.
#[tokio::test]
async fn a_refresh_of_a_model_that_is_always_rebuilt_publishes_as_before() {
    let f = Fixture::new().await;
    built(&f, json!({ "mode": "full" })).await;
    for (n, full) in [(1, false), (2, true)] {
        news(&f, n).await;
        refresh(&f, full).await;
        let after = detail(&f).await;
        assert_eq!((outcome(&after), after.model.version), ("content_written", n + 1));
    }
}

/// FC-08: the periodic rebuild runs once per period and counts as an automatic run.
#[tokio::test]
async fn fc_08_the_periodic_rebuild_runs_once_per_period() {
    let f = Fixture::new().await;
    // Mondays at 10:00; the fixture stands on a Monday at 09:00.
    let trigger = json!({ "full_refresh_cron": "0 10 * * 1", "refresh_cron": "0 10 * * *" });
    built(&f, trigger).await;
    f.clock.advance_ms(HOUR);
    let fresh = tick(&f).await;
    assert_eq!((fresh.queued.len(), fresh.skipped), (0, 1), "nothing was written since");
    f.clock.advance_ms(7 * 24 * HOUR);
    news(&f, 1).await;
    let due = tick(&f).await;
    assert_eq!(due.queued.len(), 1, "one run serves both schedules");
    let queued = operation(&f, &due.queued[0]).await;
    assert!(queued.automatic && queued.full);
    assert_eq!(queued.triggered_by, ["full_cron"]);
    f.run_queue().await;
    let after = detail(&f).await;
    let run = after.last_run.as_ref().expect("a run");
    assert_eq!(run.mode_fallback_reason.as_deref(), Some("forced_full"));
    assert_eq!(outcome(&after), "proposal_created");
    f.clock.advance_ms(5 * MINUTE);
    assert_eq!(tick(&f).await, automatic::Ticked::default());
    // The day after, only the edits are due.
    f.clock.advance_ms(24 * HOUR);
    news(&f, 2).await;
    let plain = tick(&f).await;
    assert_eq!(operation(&f, &plain.queued[0]).await.triggered_by, ["cron"]);
}

/// What a rebuild proposed, and nobody has decided on, is not written again while nothing is newer.
#[tokio::test]
async fn a_rebuild_that_waits_is_not_made_again_before_something_is_newer() {
    let f = Fixture::new().await;
    built(&f, json!({ "full_refresh_cron": "0 10 * * *" })).await;
    news(&f, 1).await;
    f.clock.advance_ms(24 * HOUR);
    assert_eq!(tick(&f).await.queued.len(), 1);
    f.run_queue().await;
    let first = waiting(&f).await;
    f.clock.advance_ms(24 * HOUR);
    let again = tick(&f).await;
    assert_eq!((again.queued.len(), again.skipped), (0, 1));
    news(&f, 2).await;
    f.clock.advance_ms(24 * HOUR);
    assert_eq!(tick(&f).await.queued.len(), 1);
    f.run_queue().await;
    let second = waiting(&f).await;
    assert_ne!(second.row.id, first.row.id);
    assert_eq!(get(&f, &first.row.id).await.row.state, ProposalState::Superseded);
}

/// An edit that is published meanwhile moves the rebuild along; it does not take its place.
#[tokio::test]
async fn edits_go_on_beside_a_rebuild_that_waits() {
    let f = Fixture::new().await;
    built(&f, json!({})).await;
    news(&f, 1).await;
    refresh(&f, true).await;
    let rebuild = waiting(&f).await;
    news(&f, 2).await;
    refresh(&f, false).await;
    let edited = detail(&f).await;
    assert_eq!((outcome(&edited), edited.model.version), ("content_written", 2));
    let moved = waiting(&f).await;
    assert_eq!((&moved.row.id, moved.base_version), (&rebuild.row.id, 2));
    // A newer rebuild does.
    news(&f, 3).await;
    refresh(&f, true).await;
    let newer = waiting(&f).await;
    assert_ne!(newer.row.id, rebuild.row.id);
    assert_eq!(get(&f, &rebuild.row.id).await.row.state, ProposalState::Superseded);
}

/// While a person goes through a rebuild, an edit by itself waits for its end.
#[tokio::test]
async fn an_edit_by_itself_waits_for_the_review_of_a_rebuild() {
    let f = Fixture::new().await;
    built(&f, json!({ "refresh_cron": "0 * * * *" })).await;
    news(&f, 1).await;
    refresh(&f, true).await;
    let view = waiting(&f).await;
    let first = view.ops[0].op_id.clone();
    let view = decide(&f, &view, vec![first], Decision::Accepted).await;
    news(&f, 2).await;
    f.clock.advance_ms(HOUR);
    let due = tick(&f).await;
    assert_eq!(due.queued.len(), 1);
    f.run_queue().await;
    let held = operation(&f, &due.queued[0]).await;
    assert_eq!(held.status, OperationStatus::Pending);
    assert_eq!(held.held_reason.as_deref(), Some("review_in_progress"));
    assert_eq!(waiting(&f).await.row.id, view.row.id, "the review is where it was");
    let view = accept_all(&f, &view).await;
    approve(&f, &view, sure()).await;
    f.run_queue().await;
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "content_written", "{:?}", after.last_run);
    assert!(after.content.contains("order number 2"), "{}", after.content);
    assert!(proposals::inbox(&f.engine, &f.bank).await.expect("an inbox").is_empty());
    assert_eq!(after.last_run.expect("a run").effective_mode, "delta");
}

/// The document of a model that was never built is not a rebuild of anything.
#[tokio::test]
async fn the_first_build_is_published_also_when_a_rebuild_is_asked_for() {
    let f = Fixture::new().await;
    crate::models::facts(&f).await;
    let model = crate::automatic::kept(json!({}));
    models::create(&f.engine, &f.bank, model).await.expect("a model");
    models::refresh(&f.engine, &f.bank, &id(), true).await.expect("a refresh");
    f.run_queue().await;
    assert_eq!(outcome(&detail(&f).await), "content_written");
}
