//! The Ollama client: the window in every request, a named tool as a list of one, lines as frames.

use crate::server::{Ending, Reply, Seen, Server};
use crate::{ask, ask_stream, calls, chat};
use llm::{
    AssistantTurn, ChatReply, ChatRequest, Class, Endpoint, Error, Finish, Key, Message, Protocol,
    ResponseFormat, Thinking, Tool, ToolCall, ToolChoice, Usage,
};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

fn line(message: Value) -> Value {
    json!({"model": "m", "message": message, "done": false})
}

fn last(reason: &str) -> Value {
    json!({"model": "m", "message": {"role": "assistant", "content": ""}, "done": true,
        "done_reason": reason, "prompt_eval_count": 21, "eval_count": 5})
}

fn whole(message: Value) -> Value {
    let mut value = last("stop");
    value["message"] = message;
    value
}

async fn sent(endpoint: impl FnOnce(&mut Endpoint), req: ChatRequest) -> Seen {
    let server = Server::start(Reply::json(&whole(json!({"content": "At six."})))).await;
    let mut own = Endpoint::new(Protocol::Ollama, server.base(), "gpt-oss:20b-low");
    endpoint(&mut own);
    llm::connect(own).unwrap().chat(req, &mut (), &CancellationToken::new()).await.unwrap();
    server.seen().remove(0)
}

async fn stream(reply: Reply) -> Result<ChatReply, Error> {
    chat(Protocol::Ollama, reply, ask_stream()).await.0
}

#[tokio::test]
async fn the_window_is_always_set_and_the_name_is_left_alone() {
    let seen = sent(|_| {}, ask()).await;
    assert_eq!(seen.line, "POST /api/chat");
    assert_eq!(seen.json()["model"], "gpt-oss:20b-low");
    assert_eq!(seen.json()["options"], json!({"num_ctx": llm::DEFAULT_OLLAMA_WINDOW}));
    let Value::Object(extra) = json!({"options": {"top_k": 9}, "keep_alive": "9m"}) else {
        panic!()
    };
    let body = sent(
        |e| {
            e.window = Some(32_768);
            e.extra_body = extra
        },
        ask(),
    )
    .await
    .json();
    assert_eq!(body["options"], json!({"num_ctx": 32_768, "top_k": 9}));
    assert_eq!(body["keep_alive"], "9m");
}

#[tokio::test]
async fn a_key_is_sent_when_there_is_one() {
    assert_eq!(sent(|_| {}, ask()).await.header("authorization"), None);
    let seen = sent(|e| e.key = Arc::new(Key::new("k-123")), ask()).await;
    assert_eq!(seen.header("authorization"), Some("Bearer k-123"));
}

#[tokio::test]
async fn choices_formats_and_options_have_their_own_shape() {
    let tool = |name: &str| Tool {
        name: name.into(),
        description: "d".into(),
        parameters: json!({"type": "object"}),
    };
    for (choice, want) in [
        (ToolChoice::Auto, vec!["recall", "done"]),
        (ToolChoice::Required, vec!["recall", "done"]),
        (ToolChoice::Named("done".into()), vec!["done"]),
        (ToolChoice::None, vec![]),
    ] {
        let req =
            ChatRequest { tools: vec![tool("recall"), tool("done")], tool_choice: choice, ..ask() };
        let body = sent(|_| {}, req).await.json();
        let tools = body["tools"].as_array().cloned().unwrap_or_default();
        let names: Vec<&str> =
            tools.iter().filter_map(|t| t["function"]["name"].as_str()).collect();
        assert_eq!(names, want);
        assert!(body.get("tool_choice").is_none());
    }
    let schema = json!({"type": "object", "properties": {}});
    let body = sent(
        |_| {},
        ChatRequest {
            response_format: ResponseFormat::JsonSchema {
                name: "x".into(),
                schema: schema.clone(),
                strict: true,
            },
            thinking: Thinking::Off,
            temperature: Some(0.1),
            max_output: Some(300),
            ..ask_stream()
        },
    )
    .await
    .json();
    assert_eq!(
        (&body["format"], &body["think"], &body["stream"]),
        (&schema, &json!(false), &json!(true))
    );
    assert_eq!(body["options"]["temperature"], 0.1);
    assert_eq!(body["options"]["num_predict"], 300);
    let body = sent(|_| {}, ChatRequest { response_format: ResponseFormat::JsonObject, ..ask() })
        .await
        .json();
    assert_eq!(body["format"], "json");
}

#[tokio::test]
async fn the_history_carries_names_of_tools_and_objects() {
    let call = ToolCall::new("a", "recall", &json!({"query": "x"}));
    let mut turn = AssistantTurn { calls: vec![call.clone()], ..Default::default() };
    turn.opaque.insert("thinking".into(), json!("plan"));
    let messages = vec![Message::Assistant(turn), Message::tool(&call, "[]")];
    let body = sent(|_| {}, ChatRequest { messages, ..ask() }).await.json();
    assert_eq!(
        body["messages"],
        json!([
            {"role": "assistant", "content": "", "thinking": "plan", "tool_calls": [
                {"id": "a", "function": {"name": "recall", "arguments": {"query": "x"}}}]},
            {"role": "tool", "tool_name": "recall", "tool_call_id": "a", "content": "[]"},
        ])
    );
}

#[tokio::test]
async fn whole_replies_are_read() {
    let message = json!({"content": "<think>hm</think>Looking.", "tool_calls": [
        {"function": {"name": "recall", "arguments": {"q": 1}}},
        {"function": {"name": "recall", "arguments": "{\"q\":2}"}},
        {"function": {"name": "expand"}},
    ]});
    let reply = chat(Protocol::Ollama, Reply::json(&whole(message)), ask()).await.0.unwrap();
    assert_eq!((reply.text.as_str(), reply.reasoning.as_str()), ("Looking.", "hm"));
    assert_eq!(calls(&reply), [("recall", "{\"q\":1}"), ("recall", "{\"q\":2}"), ("expand", "")]);
    assert!(reply.calls.iter().all(|c| c.arguments.is_some()));
    assert_ne!(reply.calls[0].id, reply.calls[1].id);
    assert_eq!((reply.finish, reply.finish_raw.as_deref()), (Finish::ToolCalls, Some("stop")));
    let want = Usage { input_tokens: 21, output_tokens: 5, ..Usage::default() };
    assert_eq!(reply.usage, Some(want));
}

#[tokio::test]
async fn streams_of_lines_are_read() {
    let reply = Reply::lines(&[
        line(json!({"content": "", "thinking": "pl"})),
        line(json!({"content": "", "thinking": "an"})),
        line(json!({"content": "Täg"})),
        line(json!({"content": "lich"})),
        line(
            json!({"content": "", "tool_calls": [{"function": {"name": "recall", "arguments": {"q": 1}}}]}),
        ),
        line(
            json!({"content": "", "tool_calls": [{"function": {"name": "recall", "arguments": {"q": 2}}}]}),
        ),
        last("stop"),
    ]);
    let reply = stream(reply).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.reasoning.as_str()), ("Täglich", "plan"));
    assert_eq!(calls(&reply), [("recall", "{\"q\":1}"), ("recall", "{\"q\":2}")]);
    assert_eq!(reply.turn().opaque["thinking"], "plan");
    let cut =
        stream(Reply::lines(&[line(json!({"content": "The"})), last("length")])).await.unwrap();
    assert_eq!(cut.finish, Finish::Length);
}

#[tokio::test]
async fn a_stream_without_its_last_line_is_cut_off() {
    for ending in [Ending::Closed, Ending::Broken] {
        let lines = Reply::lines(&[line(json!({"content": "The ferry"}))]).ending(ending);
        let Err(Error::CutOff { partial, .. }) = stream(lines).await else { panic!() };
        assert_eq!(partial.text, "The ferry");
    }
}

#[tokio::test]
async fn errors_are_told_apart() {
    let inside =
        Reply::lines(&[line(json!({"content": "The"})), json!({"error": "out of memory"})]);
    let error = stream(inside).await.unwrap_err();
    assert_eq!(error.class(), Class::Failed);
    assert!(error.to_string().contains("out of memory"));
    for (status, body, class) in [
        (404, r#"{"error":"model 'm' not found"}"#, Class::UnknownModel),
        (
            400,
            r#"{"error":"registry.ollama.ai/library/m does not support tools"}"#,
            Class::ToolsUnsupported,
        ),
        (400, r#"{"error":"\"m\" does not support thinking"}"#, Class::Refused),
        (500, r#"{"error":"llama runner process has terminated"}"#, Class::Failed),
    ] {
        let error = stream(Reply::status(status, body)).await.unwrap_err();
        assert_eq!(error.class(), class, "{body}");
    }
    let empty = json!({"done": true});
    assert_eq!(stream(Reply::lines(&[empty])).await.unwrap_err().class(), Class::Malformed);
}

#[tokio::test]
async fn pretty_printed_whole_replies_and_bad_lines_are_read() {
    let body = serde_json::to_string_pretty(&whole(json!({"content": "Yes"}))).unwrap();
    let reply = stream(Reply::new(200, "text/plain", body)).await.unwrap();
    assert_eq!(reply.text, "Yes");
    let mut lines = Reply::lines(&[line(json!({"content": "Y"}))]);
    lines.body.push_str("{\"message\": \n");
    lines.body.push_str(&Reply::lines(&[line(json!({"content": "es"})), last("stop")]).body);
    assert_eq!(stream(lines).await.unwrap().text, "Yes");
}

#[tokio::test]
async fn models_and_window_are_listed() {
    let server = Server::with(|seen, _| match seen.line.as_str() {
        "GET /api/tags" => Reply::json(&json!({"models": [{"name": "qwen3:8b"}]})),
        "POST /api/show" => Reply::json(&json!({"model_info": {"qwen3.context_length": 40_960}})),
        _ => Reply::status(404, "no"),
    })
    .await;
    let provider =
        llm::connect(Endpoint::new(Protocol::Ollama, server.base(), "qwen3:8b")).unwrap();
    let cancel = CancellationToken::new();
    assert_eq!(provider.list_models(&cancel).await.unwrap(), ["qwen3:8b"]);
    let window = provider.window(&cancel).await.unwrap();
    assert_eq!((window.loaded, window.max), (Some(llm::DEFAULT_OLLAMA_WINDOW), Some(40_960)));
    assert_eq!(server.bodies_of("POST /api/show"), [json!({"model": "qwen3:8b"})]);
}
