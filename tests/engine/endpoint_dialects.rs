//! Endpoints that speak a dialect: what they refuse is left out, one step at a time, and remembered;
//! what they send in disorder is put together.

use crate::loopback::{Workshop, form};
use domain::trace::ToolCallStatus;
use llm::Protocol;
use serde_json::{Value, json};
use tests::endpoint::{Asked, LlmServer, PROTOCOLS, Said, Say, sensible, speak};

const QUESTION: &str = "When does the ferry leave?";
const ANSWER: &str = "The ferry leaves at six.";

fn named(asked: &Asked) -> bool {
    asked.body["tool_choice"].is_object() && asked.body["tool_choice"].get("name").is_some()
        || asked.body["tool_choice"].get("function").is_some()
}

#[tokio::test]
async fn fc_28_a_refused_named_choice_is_narrowed_once_and_remembered_over_a_restart() {
    for protocol in [Protocol::OpenAi, Protocol::Anthropic] {
        let server = LlmServer::start(move |asked, _| {
            if named(asked) {
                return Said::refusal("tool_choice: naming a tool is not supported");
            }
            speak(protocol, asked, &sensible(asked), 0)
        })
        .await;
        let shop = Workshop::new(&server, protocol).await;
        let (answer, _) = shop.ask(QUESTION).await;
        assert_eq!(answer.unwrap().text.as_deref(), Some(ANSWER), "{protocol:?}");
        let words = shop.learnt("named_tool_choice").await;
        assert_eq!(
            words,
            "Takes no tool by name: one tool is offered at a time, and a call is demanded."
        );
        let shop = shop.restarted().await;
        shop.ask(QUESTION).await.0.unwrap();
        let chats = server.chats();
        assert_eq!(chats.iter().filter(|asked| named(asked)).count(), 1, "{protocol:?}");
        let second = &chats[1];
        assert_eq!(second.tools().len(), 1, "only that tool is offered");
        let demanded =
            if protocol == Protocol::OpenAi { json!("required") } else { json!({"type": "any"}) };
        assert_eq!(second.body["tool_choice"], demanded);
        // Forgotten, it is tried anew.
        let id = shop.endpoint().await.id;
        engine::endpoints::forget_learnt(&shop.engine, &id).await.unwrap();
        assert!(shop.endpoint().await.learnt.is_empty());
        shop.ask(QUESTION).await.0.unwrap();
        assert_eq!(server.chats().iter().filter(|asked| named(asked)).count(), 2);
    }
}

/// The shape that a request asks its answer to have, in the word of its protocol.
fn format(asked: &Asked) -> &'static str {
    let body = &asked.body;
    match (&body["response_format"]["type"], &body["format"], &body["output_config"]) {
        (Value::String(kind), _, _) if kind == "json_schema" => "schema",
        (Value::String(_), _, _) => "object",
        (_, Value::Object(_), _) | (_, _, Value::Object(_)) => "schema",
        (_, Value::String(_), _) => "object",
        _ => "text",
    }
}

fn strict(asked: &Asked) -> bool {
    asked.body["response_format"]["json_schema"]["strict"] == json!(true)
}

/// Formats that were asked for while two texts were read, by an endpoint that refuses some, with a
/// restart between the two.
async fn formats(
    protocol: Protocol,
    refuses: &'static [&'static str],
) -> (Vec<&'static str>, String) {
    let server = LlmServer::start(move |asked, _| {
        if refuses.contains(&format(asked)) {
            return Said::refusal("response_format is not supported in this form: output_config");
        }
        if format(asked) == "text" {
            let has_schema = asked.text().contains("caused_by");
            assert!(has_schema, "the shape is asked for in words: {}", asked.text());
        }
        speak(protocol, asked, &sensible(asked), 0)
    })
    .await;
    let shop = Workshop::new(&server, protocol).await;
    shop.read("Mira was at the harbour. She repairs the old crane.").await;
    let words =
        if refuses.is_empty() { String::new() } else { shop.learnt("response_format").await };
    let shop = shop.restarted().await;
    shop.read("The next day she was still at it.").await;
    assert!(shop.facts().await.iter().any(|fact| fact.contains("old crane")), "{refuses:?}");
    (server.chats().iter().map(format).collect(), words)
}

#[tokio::test]
async fn fc_28_a_refused_shape_steps_down_to_an_object_and_to_words() {
    for protocol in [Protocol::OpenAi, Protocol::Ollama] {
        let (sent, _) = formats(protocol, &[]).await;
        assert_eq!(sent, ["schema", "schema"], "{protocol:?}");
        let (sent, words) = formats(protocol, &["schema"]).await;
        assert_eq!(sent, ["schema", "object", "object"], "{protocol:?}");
        assert!(words.starts_with("Takes no schema"), "{words}");
        let (sent, words) = formats(protocol, &["schema", "object"]).await;
        assert_eq!(sent, ["schema", "object", "text", "text"], "{protocol:?}");
        assert_eq!(words, "Cannot be held to JSON: the shape is asked for in words.");
    }
    // This protocol has no object mode: what takes no schema is asked in words at once.
    let (sent, _) = formats(Protocol::Anthropic, &["schema"]).await;
    assert_eq!(sent, ["schema", "text", "text"]);
}

#[tokio::test]
async fn fc_28_the_address_is_taken_as_people_write_it() {
    for (protocol, path) in [
        (Protocol::OpenAi, "/v1/chat/completions"),
        (Protocol::Anthropic, "/v1/messages"),
        (Protocol::Ollama, "/api/chat"),
    ] {
        let root = if protocol == Protocol::Ollama { "/api" } else { "/v1" };
        for (typed, query) in [
            (String::new(), ""),
            ("/".to_owned(), ""),
            (format!("{root}/"), ""),
            (format!("{root}?version=3"), "?version=3"),
            (path.to_owned(), ""),
        ] {
            let server = LlmServer::capable(protocol).await;
            let shop = Workshop::with(form(format!(" {}{typed} ", server.base()), protocol)).await;
            shop.ask(QUESTION).await.0.unwrap();
            let lines: Vec<String> = server.chats().into_iter().map(|asked| asked.line).collect();
            assert!(
                lines.iter().all(|l| *l == format!("POST {path}{query}")),
                "{typed}: {lines:?}"
            );
        }
    }
}

/// Fragments of two searches in one turn, as bad servers send them.
fn fragments(kind: &str) -> Vec<Value> {
    let call = |fields: Value| json!({"choices": [{"delta": {"tool_calls": [fields]}}]});
    let begin = |index: Value, id: &str, name: &str, arguments: Value| {
        call(json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}}))
    };
    let more =
        |index: Value, text: &str| call(json!({"index": index, "function": {"arguments": text}}));
    let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
    let (o, r) = ("search_observations", "recall");
    let whole = |query: &str| json!({"query": query, "reason": "to look"});
    let mut frames = match kind {
        "one index" => vec![
            begin(json!(0), "a", o, json!("{\"query\":")),
            more(json!(0), "\"ferry\"}"),
            begin(json!(0), "b", r, json!("{\"query\":")),
            more(json!(0), "\"noon\"}"),
        ],
        "no index" => vec![
            begin(Value::Null, "a", o, json!("")),
            more(Value::Null, "{\"query\":\"ferry\"}"),
            begin(Value::Null, "b", r, json!("")),
            more(Value::Null, "{\"query\":\"noon\"}"),
        ],
        "interleaved" => vec![
            begin(json!(0), "a", o, json!("")),
            begin(json!(1), "b", r, json!("")),
            more(json!(1), "{\"query\":"),
            more(json!(0), "{\"query\":\"fe"),
            more(json!(1), "\"noon\"}"),
            more(json!(0), "rry\"}"),
        ],
        "whole objects" => {
            vec![begin(json!(0), "a", o, whole("ferry")), begin(json!(0), "b", r, whole("noon"))]
        }
        "one id for both" => vec![
            begin(json!(0), "a", o, json!("{\"query\":\"ferry\"}")),
            begin(json!(1), "a", r, json!("{\"query\":\"noon\"}")),
        ],
        _ => vec![
            begin(json!(0), "", o, json!("{\"query\":\"ferry\"}")),
            begin(json!(1), "", r, json!("{\"query\":\"noon\"}")),
        ],
    };
    frames.push(end);
    frames
}

#[tokio::test]
async fn fc_30_pieces_in_disorder_make_two_calls_whose_results_go_back_in_the_right_pairing() {
    let kinds =
        ["one index", "no index", "interleaved", "whole objects", "one id for both", "empty ids"];
    for kind in kinds {
        let server = LlmServer::start(move |asked, n| match n {
            0 => Said::events(&fragments(kind)),
            _ => speak(Protocol::OpenAi, asked, &sensible(asked), 0),
        })
        .await;
        let shop = Workshop::new(&server, Protocol::OpenAi).await;
        let view = shop.ask(QUESTION).await.0.unwrap();
        let calls: Vec<(&str, &Value, ToolCallStatus)> = view.trace.tool_calls[..2]
            .iter()
            .map(|call| (call.tool.as_str(), &call.input.0["query"], call.status))
            .collect();
        assert_eq!(
            calls,
            [
                ("search_observations", &json!("ferry"), ToolCallStatus::Ok),
                ("recall", &json!("noon"), ToolCallStatus::Ok),
            ],
            "{kind}"
        );
        let history = server.chats()[1].body["messages"].as_array().unwrap().clone();
        let turn = &history[2]["tool_calls"];
        let (first, second) = (&turn[0]["id"], &turn[1]["id"]);
        assert_ne!(first, second, "{kind}");
        assert!(!first.as_str().unwrap().is_empty() && !second.as_str().unwrap().is_empty());
        assert_eq!((&history[3]["tool_call_id"], &history[4]["tool_call_id"]), (first, second));
    }
}

#[tokio::test]
async fn fc_30_glued_arguments_are_a_fault_of_the_call_and_never_stored() {
    for protocol in PROTOCOLS {
        let glued = "{\"query\":\"ferry\"}{\"query\":\"noon\"}";
        let server = LlmServer::start(move |asked, n| {
            if n == 0 {
                let say = Say::call("search_observations", json!(glued));
                return speak(protocol, asked, &say, 0);
            }
            speak(protocol, asked, &sensible(asked), 0)
        })
        .await;
        let shop = Workshop::new(&server, protocol).await;
        let view = shop.ask(QUESTION).await.0.unwrap();
        assert_eq!(view.trace.tool_calls[0].status, ToolCallStatus::Error, "{protocol:?}");
        assert_eq!(view.text.as_deref(), Some(ANSWER));
        for asked in &server.chats()[1..] {
            assert!(!asked.text().contains("}{"), "{protocol:?}: {}", asked.text());
        }
    }
}

#[tokio::test]
async fn fc_26_arguments_are_taken_as_object_and_as_text() {
    for protocol in PROTOCOLS {
        for wraps in [false, true] {
            let server = LlmServer::start(move |asked, _| {
                let say = match sensible(asked) {
                    // As a text of JSON where the protocol has an object, and the other way round.
                    Say::Calls(calls) if wraps => Say::Calls(
                        calls.into_iter().map(|(n, args)| (n, json!(args.to_string()))).collect(),
                    ),
                    say => say,
                };
                speak(protocol, asked, &say, 0)
            })
            .await;
            let shop = Workshop::new(&server, protocol).await;
            let view = shop.ask(QUESTION).await.0.unwrap();
            assert_eq!(view.text.as_deref(), Some(ANSWER), "{protocol:?}, wrapped {wraps}");
            assert!(view.trace.tool_calls.iter().all(|call| call.status == ToolCallStatus::Ok));
        }
    }
}

#[tokio::test]
async fn fc_32_facts_are_read_from_json_as_models_write_it() {
    let fact = "Mira repairs the old_crane.";
    for text in [
        "```json\n{\"facts\": [{\"what\": \"Mira repairs the old_crane.\"}]}\n```",
        "```\n{\"facts\": [{\"what\": \"Mira repairs the old_crane.\"}]}\n```",
        "Here are the facts: {\"facts\": [{\"what\": \"Mira repairs the old_crane.\"}]} Enjoy!",
        "[{\"what\": \"Mira repairs the old_crane.\"}]",
        "{'facts': [{'what': 'Mira repairs the old_crane.'}]}",
        "{\"facts\": [{\"what\": \"Mira repairs the old_crane.\",},]}",
        "{\"facts\": [{\"what\": \"Mira repairs the old\\_crane.\"}]}",
        "{\"plan\": \"one fact\"}\n{\"facts\": [{\"what\": \"Mira repairs the old_crane.\"}]}",
        "<think>{\"facts\": []}</think>{\"facts\": [{\"what\": \"Mira repairs the old_crane.\"}]}",
    ] {
        for protocol in PROTOCOLS {
            let server =
                LlmServer::start(move |asked, _| speak(protocol, asked, &Say::text(text), 0)).await;
            let shop = Workshop::new(&server, protocol).await;
            shop.read("Mira was at the harbour all day.").await;
            assert!(shop.facts().await.iter().any(|kept| kept == fact), "{protocol:?}: {text}");
            assert_eq!(server.chats().len(), 1, "asked again for {text}");
        }
    }
}

#[tokio::test]
async fn fc_28_strictness_is_only_asked_for_where_it_is_taken() {
    let server = LlmServer::capable(Protocol::OpenAi).await;
    let shop = Workshop::new(&server, Protocol::OpenAi).await;
    shop.read("Mira was at the harbour all day.").await;
    assert!(server.chats().iter().all(|asked| !strict(asked)));
}
