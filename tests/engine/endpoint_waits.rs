//! Endpoints that make one wait: slow local models, and limits that are kept by everyone, in an order
//! that puts a person's question first.

use crate::loopback::{Workshop, form};
use crate::reflect::question;
use domain::trace::RunEvent;
use engine::view::operation::OperationStatus;
use engine::view::settings::SaveEndpoint;
use llm::scripted::Hold;
use llm::{Protocol, Timer};
use serde_json::json;
use std::time::Duration;
use tests::endpoint::{Asked, LlmServer, PROTOCOLS, Said, sensible, speak};

const QUESTION: &str = "When does the ferry leave?";

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// Asks while the timer is moved by the test alone.
async fn ask(
    shop: &Workshop,
) -> (Result<engine::view::reflect::ReflectRunView, engine::report::Report>, Vec<RunEvent>) {
    let mut events: Vec<RunEvent> = Vec::new();
    let answer =
        engine::reflect::ask(&shop.engine, &shop.bank, question(QUESTION), &mut events).await;
    (answer.map_err(Into::into), events)
}

#[tokio::test]
async fn fc_25_a_first_token_after_75_seconds_is_no_fault_on_this_machine() {
    for protocol in PROTOCOLS {
        let hold = Hold::default();
        let held = hold.clone();
        let server = LlmServer::start(move |asked, n| {
            let said = speak(protocol, asked, &sensible(asked), 0);
            if n == 0 { said.held_by(&held) } else { said }
        })
        .await;
        let shop = Workshop::new(&server, protocol).await;
        let asking = ask(&shop);
        let slow = async {
            hold.arrived().await;
            shop.timer.asleep_until(seconds(600)).await;
            shop.timer.advance(seconds(75));
            hold.release();
        };
        let ((answer, _), ()) = tokio::join!(asking, slow);
        let view = answer.unwrap();
        let first = &view.trace.llm_calls[0];
        assert_eq!((first.first_token_ms, first.wait_ms), (Some(75_000), 0), "{protocol:?}");
        assert_eq!(first.duration_ms, 75_000);
    }
}

#[tokio::test]
async fn fc_25_the_limit_of_a_call_is_a_setting_and_named_when_it_runs_out() {
    let hold = Hold::default();
    let held = hold.clone();
    let server = LlmServer::start(move |asked, _| {
        speak(Protocol::OpenAi, asked, &sensible(asked), 0).held_by(&held)
    })
    .await;
    let patient = SaveEndpoint { call_seconds: Some(900), ..form(server.base(), Protocol::OpenAi) };
    let shop = Workshop::with(patient).await;
    let asking = ask(&shop);
    let slow = async {
        for attempt in 1..=2 {
            hold.arrived().await;
            shop.timer.asleep_until(seconds(900 * attempt)).await;
            shop.timer.advance(seconds(899));
            shop.timer.advance(seconds(1));
        }
    };
    let ((answer, _), ()) = tokio::join!(asking, slow);
    let report = answer.unwrap_err();
    assert_eq!(report.reason, "provider_error");
    assert!(report.detail.as_deref().unwrap().contains("within 900 s"), "{report:?}");
    assert_eq!(server.chats().len(), 2);
}

/// How long the first two requests of a run were held back, by the record of requests, which is
/// written beside the calls.
async fn recorded_waits(shop: &Workshop, run: &domain::RunId) -> Vec<u32> {
    for _ in 0..1_000 {
        let run = run.clone();
        let rows = shop.engine.store().read(move |tx| store::llm_requests::of_run(tx, &run)).await;
        let mut waits: Vec<u32> = rows.unwrap().into_iter().map(|row| row.wait_ms).collect();
        waits.retain(|wait| *wait > 0);
        waits.sort_unstable();
        if waits.len() >= 2 {
            return waits;
        }
        tokio::task::yield_now().await;
    }
    panic!("the waits are not on record")
}

/// A worker that runs what is queued.
fn running(shop: &Workshop) -> tokio::task::JoinHandle<()> {
    let engine = shop.engine.clone();
    tokio::spawn(async move { engine::ops::run_pending(&engine).await.unwrap() })
}

fn limited(headers: &[(&str, &str)]) -> Said {
    let refusal = Said::status(429, &json!({"error": {"message": "slow down"}}));
    headers.iter().fold(refusal, |said, (name, value)| said.header(name, value))
}

fn is_question(asked: &Asked) -> bool {
    !asked.tools().is_empty()
}

#[tokio::test]
async fn fc_33_nothing_is_sent_before_the_time_given_and_the_question_goes_first() {
    for protocol in PROTOCOLS {
        let server = LlmServer::start(move |asked, n| match n {
            0 => limited(&[("retry-after", "20")]),
            1 => limited(&[
                ("date", "Sun, 06 Nov 2033 08:49:37 GMT"),
                ("retry-after", "Sun, 06 Nov 2033 08:50:07 GMT"),
            ]),
            _ => speak(protocol, asked, &sensible(asked), 0),
        })
        .await;
        let shop = Workshop::new(&server, protocol).await;
        // The first request meets the limit; whoever comes later waits for the same moment.
        let mut runs = Vec::new();
        for n in 1..=4 {
            shop.queue(&format!("On day {n} Mira was at the harbour.")).await;
            runs.push(running(&shop));
            shop.timer.asleep(|wakes| wakes == seconds(20), n).await;
        }
        assert_eq!(server.chats().len(), 1, "{protocol:?}: the others did not even try");
        let rows = engine::ops::list(&shop.engine, &shop.bank).await.unwrap();
        for row in &rows {
            assert_eq!(row.status, OperationStatus::Processing, "waiting is no failure");
            let stage = row.progress.as_ref().map(|progress| progress.stage.as_str());
            assert_eq!(stage, Some("waiting_for_llm"), "{row:?}");
        }
        let asking = ask(&shop);
        let time = async {
            shop.timer.asleep(|wakes| wakes == seconds(20), 5).await;
            shop.timer.advance(seconds(19));
            assert_eq!(server.chats().len(), 1, "not a second early");
            shop.timer.advance(seconds(1));
            // The question met the second limit, of thirty seconds by the endpoint's own clock.
            shop.timer.asleep(|wakes| wakes == seconds(50), 5).await;
            assert_eq!(server.chats().len(), 2);
            shop.timer.advance(seconds(30));
        };
        let ((answer, events), ()) = tokio::join!(asking, time);
        let view = answer.unwrap();
        assert_eq!(view.trace.llm_calls[0].wait_ms, 50_000, "{protocol:?}");
        assert_eq!(recorded_waits(&shop, &view.id).await, [20_000, 30_000]);
        let waits = events.iter().filter(|e| matches!(e, RunEvent::LlmWaiting { .. })).count();
        let resumed = events.iter().filter(|e| matches!(e, RunEvent::LlmResumed)).count();
        assert!(waits >= 2 && resumed >= 2, "{events:?}");
        for run in runs {
            run.await.unwrap();
        }
        let order: Vec<bool> = server.chats().iter().map(is_question).collect();
        assert_eq!(order[..3], [false, true, true], "the person's question goes first: {order:?}");
        let rows = engine::ops::list(&shop.engine, &shop.bank).await.unwrap();
        assert!(rows.iter().all(|row| row.status == OperationStatus::Completed), "{rows:?}");
        assert_eq!(shop.timer.now(), seconds(50), "nobody waited for longer than was asked");
    }
}

#[tokio::test]
async fn fc_33_queued_work_never_takes_the_last_place_at_an_endpoint() {
    let hold = Hold::default();
    let held = hold.clone();
    let server = LlmServer::start(move |asked, _| {
        let said = speak(Protocol::OpenAi, asked, &sensible(asked), 0);
        if is_question(asked) { said } else { said.held_by(&held) }
    })
    .await;
    let shop = Workshop::new(&server, Protocol::OpenAi).await;
    for n in 1..=5 {
        shop.queue(&format!("On day {n} Mira was at the harbour.")).await;
    }
    let runs: Vec<_> = (0..5).map(|_| running(&shop)).collect();
    for _ in 0..3 {
        hold.arrived().await;
    }
    ask(&shop).await.0.unwrap();
    let texts = server.chats().iter().filter(|asked| !is_question(asked)).count();
    assert_eq!(texts, 3, "two of five wait, and the question did not");
    for _ in 0..5 {
        hold.release();
    }
    for run in runs {
        run.await.unwrap();
    }
    assert_eq!(server.chats().iter().filter(|asked| !is_question(asked)).count(), 5);
}

#[tokio::test]
async fn fc_33_a_limit_outlives_a_change_of_settings_and_a_refused_key_is_not_tried_again() {
    let server = LlmServer::start(|_, _| limited(&[("retry-after", "600")])).await;
    let shop = Workshop::new(&server, Protocol::OpenAi).await;
    let report = ask(&shop).await.0.unwrap_err();
    assert_eq!(report.code, engine::report::ErrorCode::ProviderRateLimited);
    let id = Some(shop.endpoint().await.id);
    let renamed = SaveEndpoint { id, ..form(server.base(), Protocol::OpenAi) };
    engine::endpoints::save(&shop.engine, renamed).await.unwrap();
    ask(&shop).await.0.unwrap_err();
    assert_eq!(server.chats().len(), 1, "the limit holds for whatever is made of the settings");

    for status in [401, 403] {
        let refuses =
            LlmServer::start(move |_, _| Said::status(status, &json!({"error": "no"}))).await;
        let shop = Workshop::new(&refuses, Protocol::OpenAi).await;
        let report = ask(&shop).await.0.unwrap_err();
        assert_eq!(report.code, engine::report::ErrorCode::ProviderAuth);
        assert_eq!(refuses.chats().len(), 1, "{status}");
    }
}
