//! The OpenAI-compatible client: requests as they leave, whole replies as they are read.

use crate::server::{Reply, Server};
use crate::{ask, calls, chat};
use llm::{
    AssistantTurn, ChatReply, ChatRequest, Class, Endpoint, Error, Finish, Key, Message, Protocol,
    Provider, ResponseFormat, Thinking, Tool, ToolCall, ToolChoice, Usage,
};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

fn tool(name: &str) -> Tool {
    let parameters = json!({"type": "object", "properties": {"query": {"type": "string"}}});
    Tool { name: name.to_owned(), description: format!("The {name} tool"), parameters }
}

fn answer() -> Reply {
    Reply::json(&json!({"choices": [{"message": {"content": "At six."}, "finish_reason": "stop"}]}))
}

/// The request that an endpoint makes of `req`.
async fn sent(endpoint: impl FnOnce(&mut Endpoint), req: ChatRequest) -> crate::server::Seen {
    let server = Server::start(answer()).await;
    let mut own = Endpoint::new(Protocol::OpenAi, server.base(), "qwen3:8b-low");
    endpoint(&mut own);
    llm::connect(own).unwrap().chat(req, &mut (), &CancellationToken::new()).await.unwrap();
    server.seen().remove(0)
}

/// The reading of a whole reply with this message.
async fn read(message: Value) -> ChatReply {
    read_all(json!({"choices": [{"message": message, "finish_reason": "stop"}]})).await.unwrap()
}

async fn read_all(body: Value) -> Result<ChatReply, Error> {
    chat(Protocol::OpenAi, Reply::json(&body), ask()).await.0
}

#[tokio::test]
async fn without_a_key_no_header_is_sent_and_with_one_it_is() {
    let seen = sent(|_| {}, ask()).await;
    assert_eq!(seen.line, "POST /v1/chat/completions");
    assert_eq!(seen.header("authorization"), None);
    let seen = sent(|e| e.key = Arc::new(Key::new("  ")), ask()).await;
    assert_eq!(seen.header("authorization"), None);
    let seen = sent(|e| e.key = Arc::new(Key::new("sk-\"x\"")), ask()).await;
    assert_eq!(seen.header("authorization"), Some("Bearer sk-\"x\""));
}

#[tokio::test]
async fn the_query_of_the_base_and_the_name_of_the_model_arrive_untouched() {
    let seen = sent(|e| e.base_url.push_str("/v1/?api-version=3"), ask()).await;
    assert_eq!(seen.line, "POST /v1/chat/completions?api-version=3");
    assert_eq!(seen.json()["model"], "qwen3:8b-low");
}

#[tokio::test]
async fn a_full_request_is_sent_as_documented() {
    let req = ChatRequest {
        tools: vec![tool("recall"), tool("done")],
        tool_choice: ToolChoice::Named("recall".into()),
        response_format: ResponseFormat::JsonSchema {
            name: "reply".into(),
            schema: json!({"type": "object", "properties": {"a": {"type": "string"}}}),
            strict: true,
        },
        temperature: Some(0.3),
        max_output: Some(500),
        thinking: Thinking::Off,
        extra_headers: vec![("x-team".into(), "blue".into())],
        ..crate::ask_stream()
    };
    let seen = sent(|e| e.headers.push(("x-gate".into(), "7".into())), req).await;
    assert_eq!((seen.header("x-team"), seen.header("x-gate")), (Some("blue"), Some("7")));
    let function = |name: &str| {
        let t = tool(name);
        json!({"type": "function", "function": {
            "name": t.name, "description": t.description, "parameters": t.parameters}})
    };
    assert_eq!(
        seen.json(),
        json!({
            "model": "qwen3:8b-low",
            "messages": [{"role": "user", "content": "When does the ferry leave?"}],
            "tools": [function("recall"), function("done")],
            "tool_choice": {"type": "function", "function": {"name": "recall"}},
            "response_format": {"type": "json_schema", "json_schema": {
                "name": "reply", "strict": true,
                "schema": {"type": "object", "properties": {"a": {"type": "string"}}}}},
            "temperature": 0.3, "max_tokens": 500,
            "reasoning_effort": "none", "chat_template_kwargs": {"enable_thinking": false},
            "stream": true, "stream_options": {"include_usage": true},
        })
    );
}

#[tokio::test]
async fn a_bare_request_holds_nothing_that_was_not_asked_for() {
    let body = sent(|_| {}, ask()).await.json();
    let keys: Vec<&String> = body.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["messages", "model", "stream"]);
}

#[tokio::test]
async fn extra_fields_override_and_null_removes() {
    let fields = |v: Value| v.as_object().cloned().unwrap();
    let req = ChatRequest { extra_body: fields(json!({"top_p": 0.5, "stream": null})), ..ask() };
    let body = sent(|e| e.extra_body = fields(json!({"top_p": 0.9, "seed": 1})), req).await.json();
    assert_eq!((&body["top_p"], &body["seed"]), (&json!(0.5), &json!(1)));
    assert!(body.get("stream").is_none());
}

#[tokio::test]
async fn the_history_goes_back_with_pairing_signatures_and_no_broken_arguments() {
    let mut good = ToolCall::new("a", "recall", &json!({"query": "x"}));
    good.opaque.insert("extra_content".into(), json!({"google": {"thought_signature": "s"}}));
    let glued = ToolCall {
        id: "b".into(),
        name: "recall".into(),
        raw: "{}{}".into(),
        ..ToolCall::default()
    };
    let turn = AssistantTurn { calls: vec![good.clone(), glued.clone()], ..Default::default() };
    let req = ChatRequest {
        messages: vec![
            Message::system("Be exact."),
            Message::user("?"),
            Message::Assistant(turn),
            Message::tool(&good, "[]"),
            Message::tool_error(&glued, "not one JSON object"),
        ],
        ..ask()
    };
    let body = sent(|e| e.llm = "deepseek-chat".into(), req).await.json();
    assert_eq!(
        body["messages"],
        json!([
            {"role": "system", "content": "Be exact."},
            {"role": "user", "content": "?"},
            {"role": "assistant", "content": null, "reasoning_content": "", "tool_calls": [
                {"id": "a", "type": "function",
                 "function": {"name": "recall", "arguments": "{\"query\":\"x\"}"},
                 "extra_content": {"google": {"thought_signature": "s"}}},
                {"id": "b", "type": "function",
                 "function": {"name": "recall", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "a", "content": "[]"},
            {"role": "tool", "tool_call_id": "b", "content": "not one JSON object"},
        ])
    );
}

#[tokio::test]
async fn two_calls_ids_order_and_counts_are_read() {
    let body = json!({
        "model": "m-2", "choices": [{"finish_reason": "tool_calls", "message": {
            "content": null, "tool_calls": [
                {"id": "x1", "type": "function",
                 "function": {"name": "recall", "arguments": "{\"query\":\"a\"}"}},
                {"id": "x2", "type": "function",
                 "function": {"name": "expand", "arguments": {"ids": [1]}}},
            ]}}],
        "usage": {"prompt_tokens": 40.0, "completion_tokens": 9,
            "prompt_tokens_details": {"cached_tokens": 30},
            "completion_tokens_details": {"reasoning_tokens": 4}},
    });
    let reply = read_all(body.clone()).await.unwrap();
    assert_eq!(calls(&reply), [("recall", "{\"query\":\"a\"}"), ("expand", "{\"ids\":[1]}")]);
    assert_eq!((reply.calls[0].id.as_str(), reply.calls[1].id.as_str()), ("x1", "x2"));
    assert_eq!((reply.finish, reply.llm.as_deref()), (Finish::ToolCalls, Some("m-2")));
    let want = Usage { input_tokens: 40, output_tokens: 9, cached_tokens: 30, thoughts_tokens: 4 };
    assert_eq!(reply.usage, Some(want));
    assert_eq!(serde_json::from_str::<Value>(&reply.raw).unwrap(), body);
}

#[tokio::test]
async fn faulty_calls_are_kept_beside_good_ones() {
    let call = |id: Value, arguments: Value| json!({"id": id, "function": {"name": "recall", "arguments": arguments}});
    let reply = read(json!({"content": "Looking.", "tool_calls": [
        call(Value::Null, json!("{\"query\":\"a\"}")),
        call(json!("same"), json!("{\"q\":1}{\"q\":2}")),
        call(json!("same"), json!("")),
        call(json!(""), Value::Null),
    ]}))
    .await;
    assert_eq!(reply.text, "Looking.");
    let good: Vec<bool> = reply.calls.iter().map(|c| c.arguments.is_some()).collect();
    assert_eq!(good, [true, false, true, true]);
    assert_eq!(reply.calls[1].raw, "{\"q\":1}{\"q\":2}");
    let mut ids: Vec<&str> = reply.calls.iter().map(|c| c.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 4);
    assert!(ids.iter().all(|id| !id.is_empty()));
}

#[tokio::test]
async fn reasoning_is_kept_apart_wherever_it_stands() {
    for message in [
        json!({"content": "# T ", "reasoning_content": "plan"}),
        json!({"content": "# T ", "reasoning": "plan"}),
        json!({"content": "<think>plan</think>\n# T "}),
        json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "plan"}]},
                           {"type": "text", "text": "# T "}]}),
    ] {
        let reply = read(message.clone()).await;
        let got = (reply.text.as_str(), reply.reasoning.as_str());
        assert_eq!(got, ("# T ", "plan"), "{message}");
    }
    let reply = read(json!({"content": "{\"a\": \"say <think> aloud\"}"})).await;
    assert_eq!(
        (reply.text.as_str(), reply.reasoning.as_str()),
        ("{\"a\": \"say <think> aloud\"}", "")
    );
    let reply = read(json!({"content": "", "reasoning_content": "plan", "tool_calls": null})).await;
    assert!(reply.is_empty());
    assert_eq!(reply.turn().opaque["reasoning_content"], "plan");
}

#[tokio::test]
async fn finish_words_are_told_apart() {
    for (word, want) in [
        ("stop", Finish::Stop),
        ("length", Finish::Length),
        ("content_filter", Finish::Filtered),
        ("brand_new", Finish::Other),
    ] {
        let choice = json!({"message": {"content": "x"}, "finish_reason": word});
        let reply = read_all(json!({"choices": [choice]})).await.unwrap();
        assert_eq!((reply.finish, reply.finish_raw.as_deref()), (want, Some(word)));
    }
}

#[tokio::test]
async fn a_refusal_is_an_error_with_its_words() {
    let message = json!({"content": null, "refusal": "I cannot help with that."});
    let body = json!({"choices": [{"message": message, "finish_reason": "stop"}]});
    let error = read_all(body).await.unwrap_err();
    assert_eq!(error.class(), Class::Refused);
    assert_eq!(error.answer().unwrap().message, "I cannot help with that.");
}

#[tokio::test]
async fn a_success_that_is_none_is_an_error() {
    let error = read_all(json!({"error": {"message": "no slot free"}})).await.unwrap_err();
    assert_eq!((error.class(), error.status()), (Class::Failed, Some(200)));
    assert!(error.to_string().contains("no slot free"));
    let choice = json!({"error": {"message": "upstream died"}, "finish_reason": "error"});
    let error = read_all(json!({"choices": [choice]})).await.unwrap_err();
    assert!(error.to_string().contains("upstream died"), "{error}");
    for body in [json!({"id": "x", "choices": []}), json!({"ok": true}), json!([])] {
        assert_eq!(read_all(body).await.unwrap_err().class(), Class::Malformed);
    }
    let broken = Reply::new(200, "application/json", "{\"choices\": [{\"mess");
    let (result, heard) = chat(Protocol::OpenAi, broken, ask()).await;
    let Err(Error::Malformed { body, .. }) = result else { panic!("{result:?}") };
    assert_eq!(body, "{\"choices\": [{\"mess");
    assert_eq!(heard.received, ["{\"choices\": [{\"mess"]);
}

#[tokio::test]
async fn json_labelled_as_text_is_read() {
    let body = json!({"choices": [{"message": {"content": "At six."}, "finish_reason": "stop"}]});
    let plain = Reply::new(200, "text/plain", body.to_string());
    assert_eq!(chat(Protocol::OpenAi, plain, ask()).await.0.unwrap().text, "At six.");
}

#[tokio::test]
async fn models_are_listed_in_every_shape() {
    for body in [
        json!({"object": "list", "data": [{"id": "a"}, {"id": "b"}]}),
        json!({"models": [{"name": "a"}, {"name": "b"}]}),
        json!([{"id": "a"}, {"id": "b"}]),
    ] {
        let server = Server::start(Reply::json(&body)).await;
        let provider =
            llm::OpenAi::new(Endpoint::new(Protocol::OpenAi, server.base(), "")).unwrap();
        let names = provider.list_models(&CancellationToken::new()).await.unwrap();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(server.seen()[0].line, "GET /v1/models");
    }
}

#[tokio::test]
async fn the_window_is_asked_for_where_servers_tell_it() {
    let server = Server::with(|seen, _| match seen.line.as_str() {
        "GET /v1/models" => Reply::json(&json!({"data": [{"id": "m"}]})),
        "GET /props" => Reply::json(&json!({"default_generation_settings": {"n_ctx": 4096}})),
        _ => Reply::status(404, "no"),
    })
    .await;
    let provider = llm::connect(Endpoint::new(Protocol::OpenAi, server.base(), "m")).unwrap();
    let window = provider.window(&CancellationToken::new()).await.unwrap();
    assert_eq!((window.loaded, window.max), (Some(4096), None));
}
