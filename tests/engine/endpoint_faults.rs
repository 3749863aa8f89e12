//! Endpoints that are at fault: no evidence, cut prompts, prompts that do not fit, reasoning in place
//! of an answer, streams that stop. What cannot be done is said, with what to do about it.

use crate::loopback::{Workshop, form};
use engine::view::operation::OperationStatus;
use engine::view::settings::CheckVerdict;
use llm::Protocol;
use serde_json::{Value, json};
use std::collections::HashSet;
use tests::endpoint::{LlmServer, PROTOCOLS, Said, Say, sensible, speak};

const QUESTION: &str = "When does the ferry leave?";
const ANSWER: &str = "The ferry leaves at six.";

#[tokio::test]
async fn fc_22_prose_is_nudged_once_and_never_shown_as_the_answer() {
    let imitation = "{\"name\": \"done\", \"arguments\": {\"answer\": \"At nine.\"}}";
    for protocol in PROTOCOLS {
        for said in ["Hello, how can I help?", imitation] {
            let server =
                LlmServer::start(move |asked, _| speak(protocol, asked, &Say::text(said), 0)).await;
            let shop = Workshop::new(&server, protocol).await;
            let (answer, events) = shop.ask("hi").await;
            let report = answer.unwrap_err();
            assert_eq!(report.reason, "tool_calls_unsupported", "{protocol:?}");
            assert_eq!(server.chats().len(), 2, "one nudge");
            let told = format!("{} {}", report.message, report.detail.unwrap_or_default());
            assert!(told.contains(&said[..12]), "what was received is told: {told}");
            let shown = serde_json::to_string(&events).unwrap();
            assert!(!shown.contains("answer_delta"), "{shown}");
        }
    }
}

#[tokio::test]
async fn fc_22_a_final_call_without_a_search_is_refused_and_a_search_follows() {
    for protocol in PROTOCOLS {
        let server = LlmServer::start(move |asked, n| {
            let say = if n == 0 {
                Say::call("done", json!({"answer": "At nine.", "memory_ids": []}))
            } else {
                sensible(asked)
            };
            speak(protocol, asked, &say, 0)
        })
        .await;
        let shop = Workshop::new(&server, protocol).await;
        let view = shop.ask(QUESTION).await.0.unwrap();
        assert_eq!(view.text.as_deref(), Some(ANSWER), "{protocol:?}");
        assert!(!view.based_on.is_empty());
    }
}

#[tokio::test]
async fn fc_22_the_set_up_check_can_be_made_again_and_says_the_same() {
    for protocol in PROTOCOLS {
        let server = LlmServer::capable(protocol).await;
        let shop = Workshop::new(&server, protocol).await;
        let id = shop.endpoint().await.id;
        let first = engine::endpoints::check(&shop.engine, &id).await.unwrap();
        let again = engine::endpoints::check(&shop.engine, &id).await.unwrap();
        assert!(first.usable, "{first:?}");
        let told = |report: &engine::view::settings::CheckReport| -> Vec<(String, CheckVerdict)> {
            report.lines.iter().map(|line| (line.key.clone(), line.verdict)).collect()
        };
        assert_eq!(told(&first), told(&again));
        let keys: Vec<String> = told(&first).into_iter().map(|(key, _)| key).collect();
        for wanted in ["Tool calling", "Choice of tool", "JSON output", "Context"] {
            assert!(keys.iter().any(|key| key == wanted), "{keys:?}");
        }
    }
}

#[tokio::test]
async fn fc_24_a_text_that_does_not_fit_is_halved_and_no_request_is_sent_twice() {
    const ROOM: usize = 20;
    let sentences = |text: &str| text.matches("keeps a list").count();
    for protocol in PROTOCOLS {
        let server = LlmServer::start(move |asked, _| {
            if sentences(&asked.text()) > ROOM {
                return Said::status(
                    400,
                    &json!({"error": {"code": "context_length_exceeded", "message":
                        "This model's maximum context length is 2048 tokens."}}),
                );
            }
            speak(protocol, asked, &sensible(asked), 0)
        })
        .await;
        let shop = Workshop::new(&server, protocol).await;
        let day = |n| format!("On day {n} the harbour office keeps a list of every boat. ");
        shop.read(&(0..120).map(day).collect::<String>()).await;
        let rows = engine::ops::list(&shop.engine, &shop.bank).await.unwrap();
        assert_eq!(rows[0].status, OperationStatus::Completed, "{protocol:?}: {rows:?}");
        let bodies: Vec<String> = server.chats().iter().map(|asked| asked.text()).collect();
        let different: HashSet<&String> = bodies.iter().collect();
        assert_eq!(different.len(), bodies.len(), "the same request was sent again");
        assert!(bodies.iter().any(|body| sentences(body) > ROOM), "one did not fit");
        let words = shop.learnt("window").await;
        assert_eq!(words, "Holds 2,048 tokens: nothing longer is sent.");
    }
}

#[tokio::test]
async fn fc_29_a_cut_prompt_stops_the_run_and_tells_what_to_do_for_this_kind_of_endpoint() {
    for (protocol, advice) in [
        (Protocol::OpenAi, "LM Studio: Context Length"),
        (Protocol::Anthropic, "choose a model with a larger one"),
        (Protocol::Ollama, "in the endpoint's own form"),
    ] {
        let server =
            LlmServer::start(move |asked, _| speak(protocol, asked, &sensible(asked), 512)).await;
        let shop = Workshop::new(&server, protocol).await;
        let long = format!("{QUESTION} {}", "Think of every boat. ".repeat(500));
        let report = shop.ask(&long).await.0.unwrap_err();
        assert_eq!(report.reason, "prompt_truncated", "{protocol:?}");
        assert!(report.message.starts_with("The endpoint read only 512 of about"), "{report:?}");
        assert!(report.hint.as_deref().unwrap().contains(advice), "{report:?}");
        assert_eq!(server.chats().len(), 1, "a reply to half a question is not used");
    }
}

#[tokio::test]
async fn fc_29_the_window_of_ollama_is_set_with_every_request_and_verified() {
    for (loaded, verdict, words) in [
        (32_768, CheckVerdict::Pass, "32,768 tokens are loaded; the model can hold 40,960"),
        (4_096, CheckVerdict::Warn, "32,768 tokens were asked for, only 4,096 are loaded"),
    ] {
        let server = LlmServer::knowing(
            |asked, _| speak(Protocol::Ollama, asked, &sensible(asked), 0),
            move |asked| match asked.line.as_str() {
                "POST /api/show" => Some(json!({"model_info": {"x.context_length": 40_960}})),
                "GET /api/ps" => {
                    Some(json!({"models": [{"name": "m:latest", "context_length": loaded}]}))
                }
                _ => None,
            },
        )
        .await;
        let stated = engine::view::settings::SaveEndpoint {
            window: Some(32_768),
            ..form(server.base(), Protocol::Ollama)
        };
        let shop = Workshop::with(stated).await;
        assert_eq!(shop.endpoint().await.window, Some(32_768));
        let id = shop.endpoint().await.id;
        let report = engine::endpoints::check(&shop.engine, &id).await.unwrap();
        let context = report.lines.iter().find(|line| line.key == "Context").unwrap();
        assert_eq!((context.verdict, context.words.as_str()), (verdict, words));
        shop.ask(QUESTION).await.0.unwrap();
        let sizes: HashSet<String> = server
            .chats()
            .iter()
            .map(|asked| asked.body["options"]["num_ctx"].to_string())
            .collect();
        assert_eq!(sizes, HashSet::from(["32768".to_owned()]));
    }
}

#[tokio::test]
async fn what_a_person_states_is_checked_and_a_new_window_forgets_the_learnt_one() {
    let server = LlmServer::start(|asked, n| {
        if n == 0 {
            return Said::refusal("This model's maximum context length is 4096 tokens.");
        }
        speak(Protocol::OpenAi, asked, &sensible(asked), 0)
    })
    .await;
    let shop = Workshop::new(&server, Protocol::OpenAi).await;
    shop.ask(QUESTION).await.0.unwrap_err();
    shop.learnt("window").await;
    let known = shop.endpoint().await;
    assert_eq!((known.call_seconds, known.usual_call_seconds), (None, 600));
    let change = |window, call_seconds| engine::view::settings::SaveEndpoint {
        id: Some(known.id.clone()),
        window,
        call_seconds,
        ..form(server.base(), Protocol::OpenAi)
    };
    for (window, call_seconds, field) in
        [(Some(10), None, "window"), (None, Some(0), "call_seconds")]
    {
        let refused = engine::endpoints::save(&shop.engine, change(window, call_seconds)).await;
        let report = engine::report::Report::from(refused.unwrap_err());
        assert_eq!(
            (report.fields[0].field.as_str(), report.fields[0].code.as_str()),
            (field, "out_of_range")
        );
    }
    let saved =
        engine::endpoints::save(&shop.engine, change(Some(65_536), Some(900))).await.unwrap();
    assert_eq!((saved.window, saved.call_seconds), (Some(65_536), Some(900)));
    assert!(saved.learnt.iter().all(|fact| fact.key != "window"), "{:?}", saved.learnt);
    let saved = engine::endpoints::save(&shop.engine, change(None, None)).await.unwrap();
    assert_eq!((saved.window, saved.call_seconds), (None, None));
}

/// A reply of nothing but reasoning.
fn only_reasoning(protocol: Protocol) -> Said {
    match protocol {
        Protocol::OpenAi => Said::events(&[
            json!({"choices": [{"delta": {"content": "", "reasoning_content": "A secret plan."}}]}),
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
        ]),
        Protocol::Anthropic => Said::events(&[
            json!({"type": "message_start", "message": {"model": "m"}}),
            json!({"type": "content_block_start", "index": 0,
                "content_block": {"type": "thinking", "thinking": "A secret plan."}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
            json!({"type": "message_stop"}),
        ]),
        Protocol::Ollama => {
            let message = json!({"role": "assistant", "content": "", "thinking": "A secret plan."});
            let line = json!({"message": message, "done": true, "done_reason": "stop"});
            Said::raw("application/x-ndjson", format!("{line}\n"))
        }
    }
}

/// Whether a request switches thinking off, in the word of its protocol.
fn thinks_not(body: &Value) -> bool {
    body["think"] == json!(false)
        || body["thinking"]["type"] == json!("disabled")
        || body["chat_template_kwargs"]["enable_thinking"] == json!(false)
}

#[tokio::test]
async fn fc_31_reasoning_alone_is_asked_once_the_other_way_and_what_works_is_remembered() {
    for protocol in PROTOCOLS {
        let server = LlmServer::start(move |asked, _| {
            if thinks_not(&asked.body) {
                speak(protocol, asked, &sensible(asked), 0)
            } else {
                only_reasoning(protocol)
            }
        })
        .await;
        let shop = Workshop::new(&server, protocol).await;
        let (answer, events) = shop.ask(QUESTION).await;
        assert_eq!(answer.unwrap().text.as_deref(), Some(ANSWER), "{protocol:?}");
        let shown = serde_json::to_string(&events).unwrap();
        assert!(!shown.contains("secret plan"), "{shown}");
        let words = shop.learnt("thinking").await;
        assert_eq!(words, "Gives no answer when it thinks first: thinking is switched off.");
        let shop = shop.restarted().await;
        shop.ask(QUESTION).await.0.unwrap();
        let thought = server.chats().iter().filter(|asked| !thinks_not(&asked.body)).count();
        assert_eq!(thought, 1, "{protocol:?}: asked once, then never again");
    }
}

#[tokio::test]
async fn fc_31_a_think_block_is_no_part_of_what_is_kept() {
    for (said, kept) in [
        ("<think>plan</think>{\"facts\": [{\"what\": \"Mira sails.\"}]}", "Mira sails."),
        (
            "{\"facts\": [{\"what\": \"The log says <think> in it.\"}]}",
            "The log says <think> in it.",
        ),
    ] {
        for protocol in PROTOCOLS {
            let server =
                LlmServer::start(move |asked, _| speak(protocol, asked, &Say::text(said), 0)).await;
            let shop = Workshop::new(&server, protocol).await;
            shop.read("Mira was at the harbour all day.").await;
            assert!(shop.facts().await.iter().any(|fact| fact == kept), "{protocol:?}: {said}");
        }
    }
    // Never closed: it was cut off, and what is cut off is no answer.
    let open = "<think>\nfirst\nsecond\nthird";
    let server =
        LlmServer::start(move |asked, _| speak(Protocol::OpenAi, asked, &Say::text(open), 0)).await;
    let shop = Workshop::new(&server, Protocol::OpenAi).await;
    shop.read("Mira was at the harbour all day.").await;
    let rows = engine::ops::list(&shop.engine, &shop.bank).await.unwrap();
    assert_eq!(rows[0].status, OperationStatus::Failed);
    assert_eq!(rows[0].error_reason.as_deref(), Some("llm_output_invalid"));
}

#[tokio::test]
async fn a_stream_that_stops_is_asked_for_again_and_its_half_is_never_the_answer() {
    for protocol in PROTOCOLS {
        let once = LlmServer::start(move |asked, n| {
            let said = speak(protocol, asked, &sensible(asked), 0);
            if n == 2 { said.broken() } else { said }
        })
        .await;
        let shop = Workshop::new(&once, protocol).await;
        assert_eq!(shop.ask(QUESTION).await.0.unwrap().text.as_deref(), Some(ANSWER));
        let ever =
            LlmServer::start(move |asked, _| speak(protocol, asked, &sensible(asked), 0).broken())
                .await;
        let shop = Workshop::new(&ever, protocol).await;
        let report = shop.ask(QUESTION).await.0.unwrap_err();
        assert_eq!(report.reason, "provider_error", "{protocol:?}");
        assert!(report.retryable && report.detail.unwrap().contains("broke off"));
    }
}
