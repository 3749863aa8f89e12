//! The whole stack over real sockets: endpoints with a dialect, limits that are waited out, prompts
//! that are cut, and what of it is remembered.

use crate::ask;
use crate::server::{Reply, Seen, Server};
use llm::{
    ChatRequest, Class, Endpoint, Gate, Learnt, LearntKey, Protocol, Provider, Remembered,
    ResponseFormat, RetryPolicy, Thinking, TokioTimer, Tool, ToolChoice,
};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

fn fitted(server: &Server, learnt: &Arc<Remembered>) -> Arc<dyn Provider> {
    let endpoint = Endpoint::new(Protocol::OpenAi, server.base(), "m");
    let gate = Arc::new(Gate::new(Arc::new(TokioTimer::default())));
    let learnt = Arc::clone(learnt) as Arc<dyn Learnt>;
    llm::connect_fitted(endpoint, learnt, gate, RetryPolicy::default(), |client| client).unwrap()
}

fn answer(text: &str) -> Reply {
    Reply::json(&json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}))
}

fn refusal(text: &str) -> Reply {
    Reply::status(400, json!({"error": {"message": text}}).to_string())
}

fn forced() -> ChatRequest {
    let tool = |name: &str| Tool {
        name: name.into(),
        description: "d".into(),
        parameters: json!({"type": "object"}),
    };
    ChatRequest {
        tools: vec![tool("recall"), tool("done")],
        tool_choice: ToolChoice::Named("recall".into()),
        ..ask()
    }
}

fn shaped() -> ChatRequest {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let response_format = ResponseFormat::JsonSchema { name: "x".into(), schema, strict: true };
    ChatRequest { response_format, ..ask() }
}

/// What each request held in `field`, after asking twice.
async fn twice(
    req: ChatRequest,
    field: &'static str,
    answerer: impl Fn(&Value) -> Reply + Send + Sync + 'static,
) -> (Vec<Value>, Arc<Remembered>) {
    let server = Server::with(move |seen: &Seen, _| answerer(&seen.json())).await;
    let learnt = Arc::new(Remembered::default());
    let cancel = CancellationToken::new();
    for _ in 0..2 {
        fitted(&server, &learnt).chat(req.clone(), &mut (), &cancel).await.unwrap();
    }
    let bodies = server.bodies_of("POST /v1/chat/completions");
    (bodies.into_iter().map(|b| b[field].clone()).collect(), learnt)
}

#[tokio::test]
async fn an_endpoint_that_refuses_a_named_choice_is_asked_that_way_once() {
    let (sent, _) = twice(forced(), "tool_choice", |body| {
        if body["tool_choice"].is_object() {
            refusal("tool_choice: only none, auto and required are supported")
        } else {
            answer("ok")
        }
    })
    .await;
    assert!(sent[0].is_object());
    assert_eq!(sent[1..], [json!("required"), json!("required")]);
}

#[tokio::test]
async fn an_endpoint_that_refuses_every_format_gets_words() {
    let (sent, learnt) = twice(shaped(), "response_format", |body| {
        if body.get("response_format").is_some() {
            refusal("response_format is not supported")
        } else {
            answer("{}")
        }
    })
    .await;
    let kinds: Vec<&str> = sent.iter().map(|f| f["type"].as_str().unwrap_or("none")).collect();
    assert_eq!(kinds, ["json_schema", "json_object", "none", "none"]);
    let refused = learnt.known(LearntKey::ResponseFormat);
    assert_eq!(refused, Some(json!(["json_schema", "json_object"])));
}

#[tokio::test]
async fn an_endpoint_that_knows_only_objects_gets_objects_with_the_schema_in_words() {
    let (sent, _) = twice(shaped(), "messages", |body| {
        if body["response_format"]["type"] == "json_schema" {
            refusal("json_schema is not a known response_format")
        } else {
            answer("{}")
        }
    })
    .await;
    assert_eq!(sent.len(), 3);
    assert!(sent[2][0]["content"].as_str().unwrap().contains("\"properties\""));
}

#[tokio::test]
async fn an_endpoint_that_refuses_strictness_keeps_the_schema() {
    let (sent, _) = twice(shaped(), "response_format", |body| {
        if body["response_format"]["json_schema"].get("strict").is_some() {
            refusal("unknown field \"strict\"")
        } else {
            answer("{}")
        }
    })
    .await;
    let strict: Vec<bool> = sent.iter().map(|f| f["json_schema"].get("strict").is_some()).collect();
    assert_eq!(strict, [true, false, false]);
    assert_eq!(sent[2]["type"], "json_schema");
}

#[tokio::test]
async fn reasoning_without_an_answer_is_asked_once_with_thinking_off() {
    let req = ChatRequest { thinking: Thinking::Default, ..ask() };
    let (sent, learnt) = twice(req, "chat_template_kwargs", |body| {
        if body["chat_template_kwargs"]["enable_thinking"] == false {
            answer("Yes")
        } else {
            let message = json!({"content": "", "reasoning_content": "plan"});
            Reply::json(&json!({"choices": [{"message": message, "finish_reason": "stop"}]}))
        }
    })
    .await;
    let off = json!({"enable_thinking": false});
    assert_eq!(sent, [Value::Null, off.clone(), off]);
    assert_eq!(learnt.known(LearntKey::Thinking), Some(json!("off")));
}

#[tokio::test]
async fn a_cut_prompt_is_an_error_that_names_both_numbers() {
    let mut body = json!({"choices": [{"message": {"content": "No idea."}}]});
    body["usage"] = json!({"prompt_tokens": 2051, "completion_tokens": 9});
    let server = Server::start(Reply::json(&body)).await;
    let provider = fitted(&server, &Arc::new(Remembered::default()));
    let req = ChatRequest { prompt_tokens: Some(15_700), ..ask() };
    let error = provider.chat(req, &mut (), &CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.class(), Class::Overflow);
    let want = format!("{}/v1 read only 2051 of about 15700 tokens", server.base());
    assert_eq!(error.to_string(), want);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_limit_is_waited_out_and_a_wrong_key_is_not_tried_again() {
    let server = Server::with(|_, n| match n {
        0 => Reply::status(429, "slow down").header("retry-after", "0"),
        1 => Reply::status(503, "busy").header("retry-after-ms", "1"),
        2 => Reply::status(429, "slow down")
            .header("date", "Sun, 06 Nov 2033 08:49:37 GMT")
            .header("retry-after", "Sun, 06 Nov 2033 08:49:37 GMT"),
        _ => answer("ok"),
    })
    .await;
    let provider = fitted(&server, &Arc::new(Remembered::default()));
    let cancel = CancellationToken::new();
    assert_eq!(provider.chat(ask(), &mut (), &cancel).await.unwrap().text, "ok");
    assert_eq!(server.seen().len(), 4);

    for status in [401, 403] {
        let server = Server::start(Reply::status(status, "no")).await;
        let provider = fitted(&server, &Arc::new(Remembered::default()));
        let error = provider.chat(ask(), &mut (), &cancel).await.unwrap_err();
        assert_eq!((error.class(), server.seen().len()), (Class::Auth, 1));
    }
}
