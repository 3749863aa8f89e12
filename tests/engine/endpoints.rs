//! Endpoints of language models: keys stay where they belong, the set-up check tells in words what
//! a model can do, and a fault of the endpoint is told with its next step.

use engine::view::settings::{CheckVerdict, KeyStore, Protocol, SaveEndpoint};
use tests::Fixture;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A server on loopback that gives every request the same answer.
async fn always(status: &'static str, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let mut request = vec![0; 65536];
                // The requests of these tests fit one read; whatever they hold is answered alike.
                let _ = socket.read(&mut request).await;
                let reply = format!(
                    "HTTP/1.1 {status}\r\ncontent-type: application/json\r\n\
                     content-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                );
                let _ = socket.write_all(reply.as_bytes()).await;
            });
        }
    });
    format!("http://{address}/v1")
}

fn endpoint(base_url: String) -> SaveEndpoint {
    SaveEndpoint {
        id: None,
        name: "Bench".to_owned(),
        protocol: Protocol::Openai,
        base_url,
        llm: Some("small-model".to_owned()),
        window: None,
        call_seconds: None,
        key: None,
        key_fallback: None,
    }
}

const SECRET: &str = "sk-test-0123456789abcdef";

#[tokio::test]
async fn fc_45_a_key_is_never_written_to_the_data_file() {
    let fixture = Fixture::new().await;
    let input = SaveEndpoint {
        key: Some(SECRET.to_owned()),
        key_fallback: Some(KeyStore::Session),
        ..endpoint("http://127.0.0.1:9/v1".to_owned())
    };
    assert!(!format!("{input:?}").contains(SECRET));
    let view = engine::endpoints::save(&fixture.engine, input).await.unwrap();
    let key = view.key.unwrap();
    assert_eq!((key.store, key.last4.as_str()), (KeyStore::Session, "cdef"));
    for file in std::fs::read_dir(fixture.folder.path()).unwrap().map(Result::unwrap) {
        if file.path().is_file() {
            let bytes = std::fs::read(file.path()).unwrap();
            let found = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
            assert!(!found, "the key stands in {}", file.path().display());
        }
    }
}

#[tokio::test]
async fn fc_45_without_a_key_store_a_person_decides_where_the_key_goes() {
    let fixture = Fixture::new().await;
    let input = SaveEndpoint {
        key: Some(SECRET.to_owned()),
        ..endpoint("http://127.0.0.1:9/v1".to_owned())
    };
    let refused = engine::endpoints::save(&fixture.engine, input).await.unwrap_err();
    assert_eq!(refused.reason(), "keychain_unavailable");
    assert!(engine::endpoints::llm_settings(&fixture.engine).await.unwrap().endpoints.is_empty());
}

#[tokio::test]
async fn fc_22_an_endpoint_that_answers_prose_is_told_in_words() {
    let body = r#"{"choices":[{"message":{"role":"assistant","content":"Hello there."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}"#;
    let fixture = Fixture::new().await;
    let saved =
        engine::endpoints::save(&fixture.engine, endpoint(always("200 OK", body).await)).await;
    let report = engine::endpoints::check(&fixture.engine, &saved.unwrap().id).await.unwrap();
    assert!(!report.usable, "{report:?}");
    let failed: Vec<_> =
        report.lines.iter().filter(|line| line.verdict == CheckVerdict::Fail).collect();
    assert!(!failed.is_empty());
    for line in failed {
        assert!(line.words.contains(' '), "{line:?}");
        assert!(line.remedy.is_some(), "{line:?} leaves a person alone");
    }
}

#[tokio::test]
async fn a_refused_key_is_told_with_its_next_step() {
    let body = r#"{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}"#;
    let fixture = Fixture::new().await;
    let address = always("401 Unauthorized", body).await;
    let saved = engine::endpoints::save(&fixture.engine, endpoint(address)).await.unwrap();
    let refused = engine::endpoints::list_llms(&fixture.engine, &saved.id).await.unwrap_err();
    let report = engine::report::Report::from(refused);
    assert_eq!(report.reason, "llm_auth");
    assert!(report.hint.unwrap().contains("Settings"));
}

#[tokio::test]
async fn the_chosen_endpoint_answers_until_it_goes() {
    use engine::view::app::Answering;
    let fixture = Fixture::new().await;
    let engine = &fixture.engine;
    let saved = engine::endpoints::save(engine, endpoint("http://127.0.0.1:9/v1".to_owned()))
        .await
        .unwrap();
    engine::endpoints::choose(engine, Some(&saved.id)).await.unwrap();
    let status = engine::settings::status(engine).await.unwrap();
    assert!(matches!(status.answering, Answering::Llm { local: true, .. }), "{status:?}");
    engine::endpoints::delete(engine, &saved.id).await.unwrap();
    let status = engine::settings::status(engine).await.unwrap();
    assert_eq!(status.answering, Answering::Extractive);
    engine::endpoints::set_extractive(engine, false).await.unwrap();
    assert_eq!(engine.provider().await.err().unwrap().reason(), "llm_not_configured");
}
