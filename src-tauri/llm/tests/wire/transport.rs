//! Statuses, limits, cancelling, keys in error texts: what does not depend on the protocol.

use crate::server::{Ending, Reply, Server};
use crate::{Heard, ask, ask_stream, chat};
use llm::{ChatRequest, Class, Endpoint, Error, Key, KeySource, Limits, Protocol};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const PROTOCOLS: [Protocol; 3] = [Protocol::OpenAi, Protocol::Anthropic, Protocol::Ollama];

#[tokio::test]
async fn every_status_brings_its_body_and_its_wait_streamed_or_not() {
    for protocol in PROTOCOLS {
        for req in [ask(), ask_stream()] {
            for (status, class) in [
                (400, Class::Refused),
                (401, Class::Auth),
                (403, Class::Auth),
                (404, Class::Refused),
                (422, Class::Refused),
                (408, Class::Failed),
                (429, Class::RateLimited),
                (500, Class::Failed),
                (501, Class::Refused),
                (503, Class::Failed),
                (529, Class::Failed),
            ] {
                let body = json!({"error": {"message": "said so", "code": "c"}}).to_string();
                let reply = Reply::status(status, body.clone()).header("retry-after", "20");
                let error = chat(protocol, reply, req.clone()).await.0.unwrap_err();
                assert_eq!((error.class(), error.status()), (class, Some(status)));
                let answer = error.answer().unwrap();
                assert_eq!(
                    (answer.body.as_str(), answer.message.as_str()),
                    (body.as_str(), "said so")
                );
                let waits = matches!(class, Class::RateLimited | Class::Failed);
                assert_eq!(error.retry_after(), waits.then_some(Duration::from_secs(20)));
                assert_eq!(error.retryable(), waits);
            }
        }
    }
}

#[tokio::test]
async fn a_redirect_is_refused_and_not_followed() {
    let other = Server::start(Reply::status(200, "{}")).await;
    let reply = Reply::status(307, "").header("location", &format!("{}/v1", other.base()));
    let error = chat(Protocol::OpenAi, reply, ask()).await.0.unwrap_err();
    assert_eq!((error.class(), error.status()), (Class::Refused, Some(307)));
    assert!(other.seen().is_empty());
}

#[tokio::test]
async fn overflow_and_unknown_models_are_recognised() {
    for (status, body, class) in [
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}"#,
            Class::Overflow,
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
            Class::Overflow,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            Class::Overflow,
        ),
        (413, "too large", Class::Overflow),
        (429, r#"{"error":{"message":"maximum context length reached"}}"#, Class::RateLimited),
        (
            404,
            r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#,
            Class::UnknownModel,
        ),
        (
            404,
            r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-x not found"}}"#,
            Class::UnknownModel,
        ),
        (404, "404 page not found", Class::Refused),
    ] {
        let error = chat(Protocol::OpenAi, Reply::status(status, body), ask()).await.0.unwrap_err();
        assert_eq!(error.class(), class, "{body}");
    }
}

#[tokio::test]
async fn nothing_listening_a_hang_up_and_a_break_are_told_apart() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let provider =
        llm::connect(Endpoint::new(Protocol::OpenAi, format!("http://{free}"), "m")).unwrap();
    let error = provider.chat(ask(), &mut (), &CancellationToken::new()).await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { refused: true, .. }), "{error:?}");
    assert!(error.to_string().contains("refused"), "{error}");

    let error = chat(Protocol::OpenAi, Reply::status(0, ""), ask()).await.0.unwrap_err();
    assert!(matches!(error, Error::Unreachable { refused: false, .. }), "{error:?}");

    let broken = Reply::new(200, "application/json", "{\"choices\": [").ending(Ending::Broken);
    let (result, heard) = chat(Protocol::OpenAi, broken, ask()).await;
    let Err(Error::CutOff { partial, .. }) = result else { panic!("{result:?}") };
    assert_eq!(partial.raw, "{\"choices\": [");
    assert_eq!(heard.received, ["{\"choices\": ["]);
}

/// A request that the server never answers, with these limits.
async fn stalled(body: &str, limits: Limits, req: ChatRequest) -> (Result<(), Error>, Server) {
    let reply = Reply::new(200, "text/event-stream", body).ending(Ending::Stalled);
    let server = Server::start(reply).await;
    let mut endpoint = Endpoint::new(Protocol::OpenAi, server.base(), "m");
    endpoint.limits = Some(limits);
    let provider = llm::connect(endpoint).unwrap();
    let result = provider.chat(req, &mut (), &CancellationToken::new()).await;
    (result.map(|_| ()), server)
}

#[tokio::test]
async fn limits_of_the_call_and_of_silence_are_kept_apart_and_named() {
    let s = Duration::from_secs;
    let short = Duration::from_millis(30);
    let limits = Limits { connect: s(5), call: s(60), silence: s(60) };
    let req = ChatRequest { limit: Some(short), ..ask_stream() };
    let (result, server) = stalled("", limits, req).await;
    assert!(matches!(result, Err(Error::Timeout { limit, .. }) if limit == short), "{result:?}");
    server.client_gone().await;

    let silent = Limits { silence: short, ..limits };
    let begun = "data: {\"choices\": [{\"delta\": {\"content\": \"The\"}}]}\n\n";
    let (result, _server) = stalled(begun, silent, ask_stream()).await;
    assert!(matches!(result, Err(Error::Timeout { limit, .. }) if limit == short), "{result:?}");

    // Silence after the finish reason is a server that forgot to close.
    let ended =
        "data: {\"choices\": [{\"delta\": {\"content\": \"x\"}, \"finish_reason\": \"stop\"}]}\n\n";
    let (result, _server) = stalled(ended, silent, ask_stream()).await;
    assert!(result.is_ok(), "{result:?}");
}

#[tokio::test]
async fn cancelling_closes_the_connection_streamed_or_not() {
    for req in [ask(), ask_stream()] {
        let server =
            Server::start(Reply::new(200, "text/event-stream", "").ending(Ending::Stalled)).await;
        let provider = llm::connect(Endpoint::new(Protocol::OpenAi, server.base(), "m")).unwrap();
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let mut sink = Heard::default();
        let asking = provider.chat(req, &mut sink, &cancel);
        let (result, ()) = tokio::join!(asking, async {
            while server.seen().is_empty() {
                tokio::task::yield_now().await;
            }
            stop.cancel();
        });
        assert!(matches!(result, Err(Error::Cancelled)));
        server.client_gone().await;
    }
}

#[tokio::test]
async fn a_key_never_reaches_an_error_an_event_or_a_reply() {
    let secret = "sk-\"töp\"-98765";
    for (status, body) in [
        (401, format!("{{\"error\":{{\"message\":{}}}}}", json!(format!("bad key {secret}")))),
        (200, format!("not JSON {secret}")),
        (200, json!({"choices": [{"message": {"content": "x", "note": secret}}]}).to_string()),
    ] {
        let server = Server::start(Reply::status(status, body)).await;
        let base = format!("{}/v1?token=hidden-in-query", server.base());
        let mut endpoint = Endpoint::new(Protocol::OpenAi, base, "m");
        endpoint.key = Arc::new(Key::new(secret));
        endpoint.headers.push(("x-gate".into(), "gateway-secret-1".into()));
        let provider = llm::connect(endpoint.clone()).unwrap();
        let mut heard = Heard::default();
        let result = provider.chat(ask(), &mut heard, &CancellationToken::new()).await;
        let mut texts = vec![format!("{result:?}"), format!("{endpoint:?}")];
        texts.extend(result.err().map(|e| e.to_string()));
        texts.extend(heard.sent.into_iter().chain(heard.received));
        for text in texts {
            for hidden in ["98765", "hidden-in-query", "gateway-secret"] {
                assert!(!text.contains(hidden), "{hidden} in {text}");
            }
        }
        assert_eq!(server.seen()[0].header("authorization"), Some(&*format!("Bearer {secret}")));
    }
}

#[tokio::test]
async fn an_unreachable_address_with_a_secret_query_is_named_without_it() {
    let base = "http://me:pass-word-1@127.0.0.1:1/v1?token=hidden-in-query";
    let provider = llm::connect(Endpoint::new(Protocol::OpenAi, base, "m")).unwrap();
    let error = provider.chat(ask(), &mut (), &CancellationToken::new()).await.unwrap_err();
    let texts = format!("{error:?} {error}");
    assert!(!texts.contains("hidden") && !texts.contains("pass-word"), "{texts}");
    assert!(texts.contains("http://127.0.0.1:1/v1"));
}

struct Locked;

#[async_trait::async_trait]
impl KeySource for Locked {
    async fn key(&self) -> Result<Option<Key>, String> {
        Err("the key store is locked".to_owned())
    }
}

#[tokio::test]
async fn a_locked_key_store_is_said_and_nothing_is_sent() {
    let server = Server::start(Reply::status(200, "{}")).await;
    let mut endpoint = Endpoint::new(Protocol::OpenAi, server.base(), "m");
    endpoint.key = Arc::new(Locked);
    let provider = llm::connect(endpoint).unwrap();
    let error = provider.chat(ask(), &mut (), &CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.class(), Class::Setup);
    assert!(error.to_string().contains("locked"));
    assert!(server.seen().is_empty());
}

#[test]
fn limits_follow_the_address() {
    let limits = |base: &str| {
        Limits::for_address(&llm::Address::parse(base, Protocol::OpenAi).unwrap()).call.as_secs()
    };
    assert_eq!((limits("https://api.example.org"), limits("http://127.0.0.1:1")), (120, 600));
}
