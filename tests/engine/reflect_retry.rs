//! Another try of a question that failed: it goes on from what was found, and searches anew where
//! that may no longer be shown.

use crate::reflect::{newest, question, searches, unreachable};
use crate::reflect_ends::{cited, failed, says, scopes, searched, tools};
use domain::trace::{LlmCallStatus, RunEvent};
use engine::reflect;
use engine::report::{ErrorCode, Report};
use engine::view::reflect::RunStatus;
use llm::scripted::{Hold, Step};
use serde_json::json;

#[tokio::test]
async fn a_run_over_its_limit_ends_with_what_it_had_and_can_go_on() {
    let hold = Hold::default();
    let (f, model) = searched([cited().held_by(&hold)]).await;
    f.settings(json!({"reflect_wall_timeout": 40})).await;
    let (failure, ()) = tokio::join!(failed(&f, question("ferry")), async {
        hold.arrived().await;
        f.clock.advance_ms(39_999);
        f.clock.advance_ms(1);
    });
    let (report, record) = failure;
    says(&report, ErrorCode::TimedOut, "timeout", "its limit of 40 s", "try again goes on");
    assert_eq!(tools(&record), ["search_observations", "recall"]);
    let last = record.trace.llm_calls.last().unwrap();
    assert_eq!((last.scope.as_str(), last.status), ("agent_3_err", LlmCallStatus::Error));
    assert_eq!(last.duration_ms, 40_000, "what was under way is on record with its time");
    assert!(record.can_go_on);
    model.assert_used_up();

    // The searches are not made again: the next request has their results and may answer at once.
    model.push(cited());
    let mut events: Vec<RunEvent> = Vec::new();
    let view = reflect::retry(&f.engine, &f.bank, &record.id, &mut events).await.unwrap();
    model.assert_used_up();
    assert_eq!(view.status, RunStatus::Finished);
    assert_eq!(view.based_on[0].text, "The ferry to Aker leaves at six.");
    assert_eq!(view.trace.continued_from.as_deref(), Some(record.id.as_str()));
    assert_eq!(tools(&view), ["search_observations", "recall", "done"]);
    assert_eq!(scopes(&view), ["agent_3"], "what the first try spent is its own");
    assert!(!events.iter().any(|event| matches!(event, RunEvent::ToolStarted { .. })));
    assert_eq!(newest(&f).await, view);
    assert!(!view.can_go_on);
}

#[tokio::test]
async fn a_failed_synthesis_is_tried_again_without_searching() {
    let fail = || Step::error(unreachable());
    let stop = [Step::text("I am finished."), Step::text("No."), fail(), fail()];
    let (f, model) = searched(stop).await;
    let (_, record) = failed(&f, question("ferry")).await;
    assert_eq!(scopes(&record)[3..], ["closing_done", "final_err", "final_err"]);
    model.push(Step::text("Still not."));
    model.push(Step::text("The ferry leaves at six."));
    let mut events: Vec<RunEvent> = Vec::new();
    let view = reflect::retry(&f.engine, &f.bank, &record.id, &mut events).await.unwrap();
    model.assert_used_up();
    assert_eq!(view.text.as_deref(), Some("The ferry leaves at six."));
    assert_eq!(scopes(&view), ["closing_done", "final"]);
    assert_eq!(tools(&view), ["search_observations", "recall"]);
}

#[tokio::test]
async fn another_try_searches_anew_when_something_found_may_no_longer_be_shown() {
    let fail = || Step::error(unreachable());
    for private in [false, true] {
        let (f, model) = searched([fail(), fail()]).await;
        let secret = json!({"text": "The ferry hides a safe.", "entities": [], "tags": ["secret"]});
        let secret = serde_json::from_value(secret).unwrap();
        let secret = engine::memory::add(&f.engine, &f.bank, secret).await.unwrap();
        let (_, record) = failed(&f, question("ferry")).await;
        assert!(record.can_go_on);
        if private {
            f.settings(json!({"local_only_tags": ["secret"]})).await;
        } else {
            engine::memory::invalidate(&f.engine, &f.bank, &secret.id, None).await.unwrap();
        }
        let before = model.requests().len();
        let steps = searches().into_iter().chain([cited()]);
        steps.for_each(|step| model.push(step));
        let mut events: Vec<RunEvent> = Vec::new();
        let view = reflect::retry(&f.engine, &f.bank, &record.id, &mut events).await.unwrap();
        model.assert_used_up();
        assert_eq!(view.trace.continued_from, None);
        let sent = format!("{:?}", &model.requests()[before..]);
        assert!(sent.contains("leaves at six") && !sent.contains("hides a safe"), "{sent}");
    }
}

#[tokio::test]
async fn a_run_that_is_under_way_is_not_tried_again() {
    let hold = Hold::default();
    let (f, _) = searched([cited().held_by(&hold)]).await;
    let mut events: Vec<RunEvent> = Vec::new();
    let (answer, refused) =
        tokio::join!(reflect::ask(&f.engine, &f.bank, question("ferry"), &mut events), async {
            hold.arrived().await;
            let rows = reflect::runs(&f.engine, &f.bank).await.unwrap();
            let mut nowhere: Vec<RunEvent> = Vec::new();
            let refused = reflect::retry(&f.engine, &f.bank, &rows[0].id, &mut nowhere).await;
            hold.release();
            refused
        });
    answer.unwrap();
    assert_eq!(Report::from(&refused.unwrap_err()).reason, "not_finished");
}

#[tokio::test]
async fn closing_the_program_stops_a_question_and_leaves_its_record() {
    let hold = Hold::default();
    let (f, _) = searched([cited().held_by(&hold)]).await;
    let mut events: Vec<RunEvent> = Vec::new();
    let (answer, ()) =
        tokio::join!(reflect::ask(&f.engine, &f.bank, question("ferry"), &mut events), async {
            hold.arrived().await;
            f.engine.close().await;
            let record = newest(&f).await;
            assert_eq!(record.status, RunStatus::Cancelled, "written before the end is reached");
            assert_eq!(tools(&record), ["search_observations", "recall"]);
        });
    assert_eq!(Report::from(&answer.unwrap_err()).reason, "cancelled");
}
