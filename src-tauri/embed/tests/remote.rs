//! Endpoints on a real loopback socket: order, count, dimension, refusals, cancelling.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use embed::{
    Embedder, Error, KeySource, Kind, NoKey, Protocol, Remote, RemoteConfig, RemoteReranker,
    RerankConfig, Reranker, Scale, Thresholds,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};
use tokio_util::sync::CancellationToken;

/// A server that gives one scripted answer after another and passes on what it was asked.
struct Server {
    base: String,
    seen: mpsc::UnboundedReceiver<(String, Value)>,
}

/// Status line's number, further header lines, body. A status of 0 never answers.
type Answer = (u16, &'static str, String);

impl Server {
    async fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("its address"));
        let (tell, seen) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            for (status, headers, body) in answers {
                let (mut stream, _) = listener.accept().await.expect("a caller");
                let asked = read_request(&mut stream).await;
                tell.send(asked).expect("the test to listen");
                if status == 0 {
                    std::future::pending::<()>().await;
                }
                let head = format!(
                    "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{headers}\
                     connection: close\r\ncontent-length: {}\r\n\r\n",
                    body.len()
                );
                stream.write_all((head + &body).as_bytes()).await.expect("to be heard");
            }
        });
        Self { base, seen }
    }

    /// Head (in lower case) and body of the next request.
    async fn asked(&mut self) -> (String, Value) {
        self.seen.recv().await.expect("a request")
    }
}

async fn read_request(stream: &mut TcpStream) -> (String, Value) {
    let mut text = Vec::new();
    loop {
        let mut part = [0; 4096];
        let count = stream.read(&mut part).await.expect("a request");
        text.extend_from_slice(&part[..count]);
        let whole = String::from_utf8_lossy(&text);
        let Some((head, body)) = whole.split_once("\r\n\r\n") else { continue };
        let head = head.to_lowercase();
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
        let length: usize = length.expect("a length").parse().expect("a number");
        if body.len() == length {
            return (head, serde_json::from_str(body).expect("JSON"));
        }
    }
}

struct Secret;

#[async_trait]
impl KeySource for Secret {
    async fn key(&self) -> Result<Option<String>, String> {
        Ok(Some("sk-very-secret".into()))
    }
}

fn config(protocol: Protocol, base: &str) -> RemoteConfig {
    RemoteConfig {
        protocol,
        base_url: base.to_owned(),
        model: "m".into(),
        key: Arc::new(NoKey),
        dim: Some(2),
        prefixes: None,
        thresholds: None,
    }
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|&text| text.to_owned()).collect()
}

fn ok(body: &Value) -> Answer {
    (200, "", body.to_string())
}

/// Asks the server for two passages with the given answer.
async fn two(protocol: Protocol, answer: Answer) -> Result<Vec<Vec<f32>>, Error> {
    let server = Server::start(vec![answer]).await;
    let cancel = CancellationToken::new();
    let remote = Remote::connect(config(protocol, &server.base), &cancel).await?;
    remote.embed(&texts(&["a", "b"]), Kind::Passage, &cancel).await
}

#[tokio::test]
async fn openai_vectors_are_sorted_by_index_and_of_unit_length() {
    let reply = json!({"data": [
        {"index": 1, "embedding": [0.0, 2.0]},
        {"index": 0, "embedding": [3.0, 4.0]},
    ]});
    let mut server = Server::start(vec![ok(&reply)]).await;
    let cancel = CancellationToken::new();
    let mut config = config(Protocol::OpenAi, &server.base);
    config.key = Arc::new(Secret);
    config.model = "multilingual-e5-base".into();
    let remote = Remote::connect(config, &cancel).await.unwrap();
    let vectors = remote.embed(&texts(&["a", "b"]), Kind::Query, &cancel).await.unwrap();
    assert_eq!(vectors, [[0.6, 0.8], [0.0, 1.0]]);
    assert_eq!((remote.dim(), remote.is_local()), (2, true));
    assert_eq!(remote.thresholds(), Thresholds::E5);
    let (head, body) = server.asked().await;
    assert!(head.starts_with("post /v1/embeddings "), "{head}");
    assert!(head.contains("authorization: bearer sk-very-secret"), "{head}");
    assert_eq!(body["input"], json!(["query: a", "query: b"]));
    assert_eq!(body["model"], "multilingual-e5-base");
}

#[tokio::test]
async fn ollama_keeps_order_and_tells_its_dimension() {
    let probe = json!({"embeddings": [[1.0, 0.0, 0.0]]});
    let reply = json!({"embeddings": [[0.0, 1.0, 0.0], [0.0, 0.0, 5.0]]});
    let mut server = Server::start(vec![ok(&probe), ok(&reply)]).await;
    let cancel = CancellationToken::new();
    let mut config = config(Protocol::Ollama, &server.base);
    config.dim = None;
    let remote = Remote::connect(config, &cancel).await.unwrap();
    assert_eq!(remote.dim(), 3);
    let vectors = remote.embed(&texts(&["a", "b"]), Kind::Passage, &cancel).await.unwrap();
    assert_eq!(vectors, [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    let (head, _) = server.asked().await;
    assert!(head.starts_with("post /api/embed "), "{head}");
    assert!(!head.contains("authorization"), "{head}");
    assert_eq!(server.asked().await.1["input"], json!(["a", "b"]));
}

#[tokio::test]
async fn a_wrong_count_or_dimension_is_refused() {
    let one = ok(&json!({"embeddings": [[1.0, 0.0]]}));
    assert!(matches!(two(Protocol::Ollama, one).await, Err(Error::Count { want: 2, got: 1 })));
    let long = ok(&json!({"embeddings": [[1.0, 0.0], [1.0, 0.0, 0.0]]}));
    assert!(matches!(two(Protocol::Ollama, long).await, Err(Error::Dimension { want: 2, got: 3 })));
    let twice = json!({"data": [
        {"index": 0, "embedding": [1.0, 0.0]}, {"index": 0, "embedding": [1.0, 0.0]},
    ]});
    assert!(matches!(two(Protocol::OpenAi, ok(&twice)).await, Err(Error::BadReply { .. })));
    let zero = ok(&json!({"embeddings": [[1.0, 0.0], [0.0, 0.0]]}));
    assert!(matches!(two(Protocol::Ollama, zero).await, Err(Error::BadReply { .. })));
}

#[tokio::test]
async fn refusals_are_told_apart() {
    let refused = |answer| two(Protocol::OpenAi, answer);
    let error = refused((401, "", "{}".into())).await.unwrap_err();
    assert!(matches!(error, Error::Auth { status: 401 }) && !error.is_retryable());
    let error = refused((429, "retry-after: 7\r\n", "{}".into())).await.unwrap_err();
    assert!(matches!(error, Error::RateLimited { retry_after: Some(7) }) && error.is_retryable());
    let body = json!({"error": {"message": "model \"m\" not found"}}).to_string();
    let error = refused((404, "", body)).await.unwrap_err();
    assert!(error.to_string().contains("model \"m\" not found"), "{error}");
    let error = refused((503, "", "busy".into())).await.unwrap_err();
    assert!(error.is_retryable(), "{error}");
    let error = refused((200, "", "<html>".into())).await.unwrap_err();
    assert!(matches!(error, Error::BadReply { .. }), "{error}");
    let told = json!({"error": "out of memory"});
    let error = refused(ok(&told)).await.unwrap_err();
    assert!(error.to_string().contains("out of memory"), "{error}");
}

#[tokio::test]
async fn an_error_never_holds_the_key() {
    let body = json!({"error": {"message": "bad key sk-very-secret"}}).to_string();
    let server = Server::start(vec![(400, "", body)]).await;
    let mut config = config(Protocol::OpenAi, &server.base);
    config.key = Arc::new(Secret);
    config.dim = None;
    let error = Remote::connect(config, &CancellationToken::new()).await.err().unwrap();
    let shown = format!("{error} {error:?}");
    assert!(shown.contains("bad key") && !shown.contains("very-secret"), "{shown}");
}

#[tokio::test]
async fn nobody_listening_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let cancel = CancellationToken::new();
    let remote = Remote::connect(config(Protocol::OpenAi, &base), &cancel).await.unwrap();
    let error = remote.embed_one("a", Kind::Query, &cancel).await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }) && error.is_retryable(), "{error}");
}

#[tokio::test]
async fn cancelling_ends_a_wait_for_the_endpoint() {
    let mut server = Server::start(vec![(0, "", String::new())]).await;
    let cancel = CancellationToken::new();
    let remote = Remote::connect(config(Protocol::OpenAi, &server.base), &cancel).await.unwrap();
    let (outcome, ()) = tokio::join!(remote.embed_one("a", Kind::Query, &cancel), async {
        server.asked().await;
        cancel.cancel();
    });
    assert!(matches!(outcome, Err(Error::Cancelled)));
}

#[tokio::test]
async fn a_reranker_scores_each_passage_in_place() {
    let reply = json!({"results": [
        {"index": 1, "relevance_score": 4.0}, {"index": 0, "relevance_score": null},
    ]});
    let mut server = Server::start(vec![ok(&reply)]).await;
    let reranker = RemoteReranker::new(RerankConfig {
        base_url: server.base.clone(),
        model: "r".into(),
        key: Arc::new(NoKey),
        scale: Scale::Logits,
    })
    .unwrap();
    let cancel = CancellationToken::new();
    let wait = reranker.rerank("q", &[], &cancel);
    assert!(tokio::time::timeout(Duration::from_secs(60), wait).await.unwrap().unwrap().is_empty());
    let scores = reranker.rerank("q", &texts(&["a", "b"]), &cancel).await.unwrap();
    assert_eq!(scores[0], 0.0);
    assert!((scores[1] - 0.982).abs() < 1e-3);
    let (head, body) = server.asked().await;
    assert!(head.starts_with("post /v1/rerank "), "{head}");
    assert_eq!((&body["query"], &body["documents"]), (&json!("q"), &json!(["a", "b"])));
}
