//! The search for servers on this machine: every kind says what it is in its own way.

use crate::server::{Ending, Reply, Server};
use llm::{FoundModel, Place, Protocol, ServerKind, discover};
use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A request line and the JSON that answers it.
type Known = (&'static str, fn() -> Value);

/// A server that answers these lines and nothing else.
async fn server(answers: &'static [Known]) -> Server {
    Server::with(|seen, _| {
        let known = answers.iter().find(|(line, _)| *line == seen.line);
        known.map_or(Reply::status(404, "no"), |(_, body)| Reply::json(&body()))
    })
    .await
}

async fn find(places: &[Place]) -> Vec<llm::FoundServer> {
    discover(places, Duration::from_secs(5), &CancellationToken::new()).await
}

fn model(name: &str, embeds: bool, window: Option<u32>, window_max: Option<u32>) -> FoundModel {
    FoundModel { name: name.into(), embeds, window, window_max }
}

#[tokio::test]
async fn servers_are_found_in_the_order_of_the_places_and_named_for_what_they_are() {
    let ollama = server(&[("GET /api/tags", || {
        json!({"models": [
            {"name": "qwen3:14b", "details": {"family": "qwen3"}},
            {"name": "nomic-embed-text:latest", "details": {"family": "nomic-bert"}},
        ]})
    })])
    .await;
    let studio = server(&[
        ("GET /v1/models", || json!({"data": [{"id": "a"}, {"id": "b"}]})),
        ("GET /api/v0/models", || {
            json!({"data": [
                {"id": "a", "type": "llm", "state": "loaded",
                 "max_context_length": 40_960, "loaded_context_length": 8_192},
                {"id": "b", "type": "embeddings", "state": "not-loaded", "max_context_length": 512},
            ]})
        }),
    ])
    .await;
    let llama = server(&[
        ("GET /v1/models", || {
            json!({"data": [{"id": "g", "owned_by": "llamacpp", "meta": {"n_ctx_train": 131_072}}]})
        }),
        ("GET /props", || json!({"default_generation_settings": {"n_ctx": 4096}})),
    ])
    .await;
    let vllm = server(&[(
        "GET /v1/models",
        || json!({"data": [{"id": "v", "owned_by": "vllm", "max_model_len": 32_768}]}),
    )])
    .await;
    let other = server(&[("GET /v1/models", || json!({"data": [{"id": "o"}]}))]).await;
    let place = |server: &Server, kind| Place { port: server.port(), kind };
    let found = find(&[
        place(&ollama, ServerKind::Ollama),
        place(&studio, ServerKind::LmStudio),
        place(&llama, ServerKind::Compatible),
        place(&vllm, ServerKind::Compatible),
        place(&other, ServerKind::Compatible),
    ])
    .await;
    let kinds: Vec<ServerKind> = found.iter().map(|f| f.kind).collect();
    use ServerKind::{Compatible, LlamaCpp, LmStudio, Ollama, Vllm};
    assert_eq!(kinds, [Ollama, LmStudio, LlamaCpp, Vllm, Compatible]);
    let address = (found[0].protocol, found[0].base_url.clone());
    assert_eq!(address, (Protocol::Ollama, ollama.base()));
    let address = (found[1].protocol, found[1].base_url.clone());
    assert_eq!(address, (Protocol::OpenAi, format!("{}/v1", studio.base())));
    assert_eq!(
        found[0].models,
        [model("qwen3:14b", false, None, None), model("nomic-embed-text:latest", true, None, None)]
    );
    assert_eq!(
        found[1].models,
        [model("a", false, Some(8_192), Some(40_960)), model("b", true, None, Some(512))]
    );
    assert_eq!(found[2].models, [model("g", false, Some(4_096), Some(131_072))]);
    assert_eq!(found[3].models, [model("v", false, Some(32_768), None)]);
    assert_eq!(found[4].models, [model("o", false, None, None)]);
}

#[tokio::test]
async fn a_web_page_a_closed_port_and_a_silent_one_are_no_servers() {
    let page = Server::start(Reply::new(200, "text/html", "<html>Router</html>")).await;
    let locked_page = Server::start(Reply::new(401, "text/html", "<html>Sign in</html>")).await;
    let json_of_its_own = Server::start(Reply::json(&json!({"status": "up"}))).await;
    let silent = Server::start(Reply::new(200, "text/plain", "").ending(Ending::Stalled)).await;
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let places: Vec<Place> =
        [page.port(), locked_page.port(), json_of_its_own.port(), silent.port(), free]
            .into_iter()
            .flat_map(|port| {
                [ServerKind::Ollama, ServerKind::Compatible].map(|kind| Place { port, kind })
            })
            .collect();
    let found = discover(&places, Duration::from_millis(60), &CancellationToken::new()).await;
    assert_eq!(found, []);
}

#[tokio::test]
async fn a_server_that_wants_a_key_says_so() {
    let body = json!({"error": {"message": "Missing API key"}}).to_string();
    let jan = Server::start(Reply::status(401, body)).await;
    let found = find(&[Place { port: jan.port(), kind: ServerKind::Jan }]).await;
    assert_eq!((found[0].name.as_str(), found[0].needs_key), ("Jan", true));
    assert_eq!(jan.seen()[0].header("authorization"), None);
}
