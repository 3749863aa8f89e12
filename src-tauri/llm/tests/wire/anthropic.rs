//! The Anthropic client: one system text, results of a turn in one message, blocks in streams.

use crate::server::{Reply, Seen, Server};
use crate::{ask, ask_stream, calls, chat};
use llm::{
    AssistantTurn, ChatReply, ChatRequest, Class, Endpoint, Error, Finish, Key, Message, Protocol,
    ResponseFormat, Thinking, Tool, ToolCall, ToolChoice, Usage,
};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

fn answer() -> Value {
    json!({"type": "message", "model": "m-2", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "At six."}],
        "usage": {"input_tokens": 10, "output_tokens": 4}})
}

async fn sent(req: ChatRequest) -> Seen {
    let server = Server::start(Reply::json(&answer())).await;
    let mut endpoint = Endpoint::new(Protocol::Anthropic, server.base(), "m");
    endpoint.key = Arc::new(Key::new("sk-1234"));
    llm::connect(endpoint).unwrap().chat(req, &mut (), &CancellationToken::new()).await.unwrap();
    server.seen().remove(0)
}

async fn read(body: Value) -> Result<ChatReply, Error> {
    chat(Protocol::Anthropic, Reply::json(&body), ask()).await.0
}

async fn stream(frames: &[Value]) -> Result<ChatReply, Error> {
    chat(Protocol::Anthropic, Reply::events(frames), ask_stream()).await.0
}

#[tokio::test]
async fn the_head_carries_key_and_version() {
    let seen = sent(ask()).await;
    assert_eq!(seen.line, "POST /v1/messages");
    assert_eq!(seen.header("x-api-key"), Some("sk-1234"));
    assert_eq!(seen.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(seen.header("authorization"), None);
    assert_eq!(seen.json()["max_tokens"], 8192);
}

#[tokio::test]
async fn results_of_a_turn_travel_in_one_message_and_blocks_go_back() {
    let first = ToolCall::new("a", "recall", &json!({"query": "x"}));
    let broken =
        ToolCall { id: "b".into(), name: "recall".into(), raw: "{".into(), ..ToolCall::default() };
    let block = json!({"type": "thinking", "thinking": "plan", "signature": "s"});
    let mut turn =
        AssistantTurn { calls: vec![first.clone(), broken.clone()], ..Default::default() };
    turn.opaque.insert("thinking_blocks".into(), json!([block]));
    let body = sent(ChatRequest {
        messages: vec![
            Message::system("Be exact."),
            Message::user("?"),
            Message::Assistant(turn),
            Message::tool(&first, "[]"),
            Message::tool_error(&broken, "not JSON"),
            Message::user("Now call done."),
            Message::system("It is Monday."),
        ],
        ..ask()
    })
    .await
    .json();
    assert_eq!(body["system"], "Be exact.\n\nIt is Monday.");
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "?"}]},
            {"role": "assistant", "content": [block,
                {"type": "tool_use", "id": "a", "name": "recall", "input": {"query": "x"}},
                {"type": "tool_use", "id": "b", "name": "recall", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "[]"},
                {"type": "tool_result", "tool_use_id": "b", "content": "not JSON", "is_error": true},
                {"type": "text", "text": "Now call done."}]},
        ])
    );
}

#[tokio::test]
async fn tools_choices_schema_and_thinking_have_their_own_shape() {
    let parameters = json!({"type": "object"});
    let tool = Tool { name: "recall".into(), description: "Finds".into(), parameters };
    for (choice, want) in [
        (ToolChoice::Auto, json!({"type": "auto"})),
        (ToolChoice::Required, json!({"type": "any"})),
        (ToolChoice::None, json!({"type": "none"})),
        (ToolChoice::Named("recall".into()), json!({"type": "tool", "name": "recall"})),
    ] {
        let forced = matches!(choice, ToolChoice::Required | ToolChoice::Named(_));
        let body = sent(ChatRequest {
            tools: vec![tool.clone()],
            tool_choice: choice,
            thinking: Thinking::On,
            temperature: Some(0.3),
            max_output: Some(1000),
            ..ask()
        })
        .await
        .json();
        assert_eq!(body["tool_choice"], want);
        let input =
            json!({"name": "recall", "description": "Finds", "input_schema": {"type": "object"}});
        assert_eq!(body["tools"], json!([input]));
        // A forced tool excludes thinking, thinking excludes a temperature and needs room.
        assert_eq!(body.get("thinking").is_some(), !forced);
        assert_eq!(body.get("temperature").is_some(), forced);
        let room = body["max_tokens"].as_u64() > body["thinking"]["budget_tokens"].as_u64();
        assert!(forced || room);
    }
    let schema = json!({"type": "object", "properties": {}});
    let format =
        ResponseFormat::JsonSchema { name: "x".into(), schema: schema.clone(), strict: true };
    let body = sent(ChatRequest { response_format: format, ..ask() }).await.json();
    assert_eq!(body["output_config"]["format"], json!({"type": "json_schema", "schema": schema}));
    let body =
        sent(ChatRequest { response_format: ResponseFormat::JsonObject, ..ask() }).await.json();
    assert!(body.get("output_config").is_none());
}

#[tokio::test]
async fn a_whole_message_is_read_with_all_its_blocks() {
    let reply = read(json!({
        "type": "message", "model": "m-2", "stop_reason": "tool_use", "content": [
            {"type": "thinking", "thinking": "plan"},
            {"type": "text", "text": " Looking. "},
            {"type": "tool_use", "id": "a", "name": "recall", "input": {"query": "x"}},
            {"type": "tool_use", "id": null, "name": "expand", "input": {}},
        ],
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 5,
                  "output_tokens": 7}}))
    .await
    .unwrap();
    assert_eq!((reply.text.as_str(), reply.reasoning.as_str()), (" Looking. ", "plan"));
    assert_eq!(calls(&reply), [("recall", "{\"query\":\"x\"}"), ("expand", "{}")]);
    assert!(!reply.calls[1].id.is_empty());
    assert_eq!(reply.finish, Finish::ToolCalls);
    let want = Usage { input_tokens: 100, output_tokens: 7, cached_tokens: 90, thoughts_tokens: 0 };
    assert_eq!(reply.usage, Some(want));
    let kept = &reply.turn().opaque["thinking_blocks"];
    assert_eq!(kept, &json!([{"type": "thinking", "thinking": "plan"}]));
}

#[tokio::test]
async fn errors_and_empty_messages_are_told() {
    let error =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    assert_eq!(read(error.clone()).await.unwrap_err().class(), Class::Failed);
    assert_eq!(
        stream(&[json!({"type": "message_start", "message": {}}), error])
            .await
            .unwrap_err()
            .class(),
        Class::Failed
    );
    assert_eq!(read(json!({"type": "message"})).await.unwrap_err().class(), Class::Malformed);
    let declined = json!({"type": "message", "content": [], "stop_reason": "refusal"});
    assert_eq!(read(declined).await.unwrap_err().class(), Class::Refused);
    let cut = json!({"content": [{"type": "text", "text": "The"}], "stop_reason": "max_tokens"});
    assert_eq!(read(cut).await.unwrap().finish, Finish::Length);
}

fn start(index: u32, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u32, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn opening() -> Value {
    json!({"type": "message_start", "message": {"model": "m-2",
        "usage": {"input_tokens": 12, "cache_read_input_tokens": 8, "output_tokens": 1}}})
}

fn blocks() -> Vec<Value> {
    vec![
        opening(),
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "pl"})),
        delta(0, json!({"type": "thinking_delta", "thinking": "an"})),
        delta(0, json!({"type": "signature_delta", "signature": "s1"})),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "ping"}),
        start(1, json!({"type": "text", "text": ""})),
        delta(1, json!({"type": "text_delta", "text": "Look"})),
        delta(1, json!({"type": "text_delta", "text": "ing."})),
        start(2, json!({"type": "tool_use", "id": "a", "name": "recall", "input": {}})),
        delta(2, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(2, json!({"type": "input_json_delta", "partial_json": "{\"q\""})),
        delta(2, json!({"type": "input_json_delta", "partial_json": ":1}"})),
        start(3, json!({"type": "tool_use", "id": "b", "name": "expand", "input": {"q": 2}})),
    ]
}

fn closing() -> Vec<Value> {
    vec![
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 30, "output_tokens_details": {"thinking_tokens": 9}}}),
        json!({"type": "message_stop"}),
    ]
}

#[tokio::test]
async fn a_stream_of_blocks_is_put_together() {
    let frames: Vec<Value> = blocks().into_iter().chain(closing()).collect();
    let reply = stream(&frames).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.reasoning.as_str()), ("Looking.", "plan"));
    assert_eq!(calls(&reply), [("recall", "{\"q\":1}"), ("expand", "{\"q\":2}")]);
    let block = json!({"type": "thinking", "thinking": "plan", "signature": "s1"});
    assert_eq!(reply.turn().opaque["thinking_blocks"], json!([block]));
    let want = Usage { input_tokens: 20, output_tokens: 30, cached_tokens: 8, thoughts_tokens: 9 };
    assert_eq!(reply.usage, Some(want));
    assert_eq!(reply.finish, Finish::ToolCalls);
}

#[tokio::test]
async fn a_call_without_arguments_is_an_empty_object() {
    let mut frames =
        vec![opening(), start(0, json!({"type": "tool_use", "id": "a", "name": "x", "input": {}}))];
    frames.extend(closing());
    let reply = stream(&frames).await.unwrap();
    assert_eq!(reply.calls[0].arguments, Some(serde_json::Map::new()));
}

#[tokio::test]
async fn a_stream_that_ends_early_is_cut_off_and_a_missing_mark_is_not() {
    let Err(Error::CutOff { partial, .. }) = stream(&blocks()).await else { panic!() };
    assert_eq!(partial.text, "Looking.");
    let frames: Vec<Value> = blocks().into_iter().chain(closing().into_iter().take(1)).collect();
    assert_eq!(stream(&frames).await.unwrap().finish, Finish::ToolCalls);
}

#[tokio::test]
async fn a_whole_message_to_a_stream_request_is_read() {
    let (reply, heard) = chat(Protocol::Anthropic, Reply::json(&answer()), ask_stream()).await;
    assert_eq!(reply.unwrap().text, "At six.");
    assert_eq!(heard.text, "At six.");
}

#[tokio::test]
async fn models_and_window_are_listed() {
    let server = Server::with(|seen, _| match seen.line.as_str() {
        "GET /v1/models?limit=1000" => Reply::json(&json!({"data": [{"id": "m"}]})),
        "GET /v1/models/m" => Reply::json(&json!({"id": "m", "max_input_tokens": 200_000})),
        _ => Reply::status(404, "no"),
    })
    .await;
    let provider = llm::connect(Endpoint::new(Protocol::Anthropic, server.base(), "m")).unwrap();
    let cancel = CancellationToken::new();
    assert_eq!(provider.list_models(&cancel).await.unwrap(), ["m"]);
    assert_eq!(provider.window(&cancel).await.unwrap().loaded, Some(200_000));
}
