//! The set-up check against endpoints of every ability.

use crate::server::{Reply, Seen, Server};
use llm::{
    CheckItem, CheckReport, Checked, Endpoint, Gate, Learnt, LearntKey, Protocol, Remembered,
    RetryPolicy, Timer, TokioTimer, Verdict, check,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Every look at this clock is 400 ms after the last.
#[derive(Default)]
struct Ticking(AtomicU64);

#[async_trait::async_trait]
impl Timer for Ticking {
    fn now(&self) -> Duration {
        Duration::from_millis(self.0.fetch_add(400, Ordering::SeqCst))
    }

    async fn sleep(&self, _time: Duration) {}
}

async fn report(
    protocol: Protocol,
    answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
) -> (CheckReport, Arc<Remembered>) {
    let server = Server::with(move |seen, _| answer(seen)).await;
    let endpoint = Endpoint::new(protocol, server.base(), "m");
    let learnt = Arc::new(Remembered::default());
    let gate = Arc::new(Gate::new(Arc::new(TokioTimer::default())));
    let memory = Arc::clone(&learnt) as Arc<dyn Learnt>;
    let provider =
        llm::connect_fitted(endpoint, memory, gate, RetryPolicy::default(), |client| client)
            .unwrap();
    let timer = Ticking::default();
    let checked =
        Checked { provider: &provider, learnt: &*learnt, timer: &timer, protocol, llm: "m" };
    let mut heard = Vec::new();
    let mut on_line = |line: &llm::CheckLine| heard.push(line.clone());
    let report = check(&checked, &mut on_line, &CancellationToken::new()).await.unwrap();
    assert_eq!(report.lines, heard);
    (report, learnt)
}

fn line(report: &CheckReport, item: CheckItem) -> (Verdict, &str) {
    let line = report.lines.iter().find(|l| l.item == item).expect("the line is there");
    (line.verdict, line.words.as_str())
}

fn call(name: &str, arguments: &str) -> Value {
    json!({"id": name, "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn message(message: Value) -> Reply {
    Reply::json(&json!({"choices": [{"message": message, "finish_reason": "stop"}]}))
}

/// A capable endpoint of the compatible kind, with a window of its own telling.
fn capable(seen: &Seen, models: Value) -> Reply {
    if seen.line == "GET /v1/models" {
        return Reply::json(&models);
    }
    if seen.line.starts_with("GET") {
        return Reply::status(404, "no");
    }
    let body = seen.json();
    if body["tool_choice"].is_object() {
        message(json!({"tool_calls": [call("note", "{\"text\": \"six\"}")]}))
    } else if body.get("tools").is_some() {
        let two = ["harbour office", "library"]
            .map(|q| call("look_up", &json!({"query": q}).to_string()));
        message(json!({"tool_calls": two}))
    } else if body.get("response_format").is_some() {
        message(json!({"content": "{\"place\": \"harbour office\", \"hour\": 9}"}))
    } else {
        let piece = |t: &str| json!({"choices": [{"delta": {"content": t}}]});
        Reply::events_done(&[
            piece("Gulls "),
            piece("wait."),
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
            json!({"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 41}}),
        ])
    }
}

#[tokio::test]
async fn a_capable_model_is_reported_in_the_words_of_the_screen() {
    let (report, learnt) = report(Protocol::OpenAi, |seen| {
        let entry = json!({"id": "m", "state": "loaded", "loaded_context_length": 8_192,
            "max_context_length": 40_960});
        capable(seen, json!({"data": [entry]}))
    })
    .await;
    let words: Vec<(&str, &str)> =
        report.lines.iter().map(|l| (l.name.as_str(), l.words.as_str())).collect();
    assert_eq!(
        words,
        [
            ("Tool calling", "Works. Three of three calls were well formed"),
            ("Choice of tool", "Works by name"),
            ("JSON output", "Works with a schema"),
            ("Streaming", "Works. First words after 0.4 s"),
            ("Context", "8,192 tokens are loaded; the model can hold 40,960"),
            ("Speed", "102 tokens a second, a refresh takes about 20 s"),
        ]
    );
    let advice = report.advice.as_deref().unwrap();
    assert!(advice.starts_with(
        "With 8,192 tokens a refresh reads about 60 facts at a time instead of 300. Set a longer"
    ));
    assert_eq!((report.verdict, report.window), (Verdict::Limited, Some(8_192)));
    assert_eq!((report.window_max, report.tokens_per_second), (Some(40_960), Some(102)));
    assert_eq!(report.first_words_ms, Some(400));
    assert_eq!(learnt.known(LearntKey::ToolCalls), Some(json!(true)));
    assert_eq!(learnt.known(LearntKey::Window), Some(json!(8_192)));
    let kept = learnt.known(LearntKey::SetUpCheck).unwrap();
    assert_eq!(serde_json::from_value::<CheckReport>(kept).unwrap(), report);
}

#[tokio::test]
async fn a_window_that_nobody_tells_is_probed() {
    let with_usage = |prompt: u32| {
        move |seen: &Seen| {
            let probe = seen.body.contains(" harbour harbour harbour");
            let usage = json!({"prompt_tokens": prompt, "completion_tokens": 1});
            if probe {
                let choice = json!({"message": {"content": "yes"}, "finish_reason": "stop"});
                return Reply::json(&json!({"choices": [choice], "usage": usage}));
            }
            capable(seen, json!({"data": [{"id": "m"}]}))
        }
    };
    let (cut, _) = report(Protocol::OpenAi, with_usage(2_051)).await;
    let want = (Verdict::Fails, "Read only 2,051 of about 5,000 tokens");
    assert_eq!(line(&cut, CheckItem::Context), want);
    let (whole, _) = report(Protocol::OpenAi, with_usage(5_020)).await;
    let want = (Verdict::Works, "Not stated; a prompt of 5,000 tokens was read whole");
    assert_eq!(line(&whole, CheckItem::Context), want);
}

#[tokio::test]
async fn dialects_are_named_in_the_report() {
    let (report, _) = report(Protocol::OpenAi, |seen| {
        let models = json!({"data": [{"id": "m", "max_model_len": 32_768}]});
        if seen.line.starts_with("GET") {
            return capable(seen, models);
        }
        let body = seen.json();
        let refusal = |text: &str| Reply::status(400, json!({"error": text}).to_string());
        if body["tool_choice"].is_object() {
            refusal("tool_choice must be a string")
        } else if body["tool_choice"] == "required" {
            message(json!({"tool_calls": [call("note", "{\"text\": \"six\"}")]}))
        } else if body["response_format"]["type"] == "json_schema" {
            refusal("response_format: unknown type json_schema")
        } else if body.get("tools").is_some() {
            message(json!({"tool_calls": [call("look_up", "{\"query\": ")]}))
        } else if body.get("response_format").is_none() {
            message(json!({"content": "Gulls wait."}))
        } else {
            capable(seen, models)
        }
    })
    .await;
    let tools = line(&report, CheckItem::ToolCalling);
    assert_eq!(
        tools,
        (Verdict::Limited, "One of two calls was well formed, the rest could not be read")
    );
    let forced = line(&report, CheckItem::ForcedTool);
    assert_eq!(forced, (Verdict::Works, "Works by offering one tool at a time"));
    let json = line(&report, CheckItem::Json);
    assert_eq!(json, (Verdict::Works, "Works as an object; the schema is asked for in words"));
    let streaming = line(&report, CheckItem::Streaming);
    assert_eq!(streaming, (Verdict::Limited, "Answers come in one piece, after 0.4 s"));
    assert_eq!(line(&report, CheckItem::Context), (Verdict::Works, "32,768 tokens"));
}

#[tokio::test]
async fn a_model_without_tools_is_told_before_it_is_used() {
    let refuse = |seen: &Seen| match seen.line.as_str() {
        "POST /api/show" => Reply::json(&json!({"model_info": {"x.context_length": 4_096}})),
        "GET /api/ps" => Reply::status(404, "no"),
        _ if seen.json().get("tools").is_some() => {
            Reply::status(400, json!({"error": "m does not support tools"}).to_string())
        }
        _ => Reply::lines(&[json!({"message": {"content": "Gulls."}, "done": true,
            "prompt_eval_count": 9, "eval_count": 3})]),
    };
    let (refused, learnt) = report(Protocol::Ollama, refuse).await;
    assert_eq!(line(&refused, CheckItem::ToolCalling), (Verdict::Fails, "Does not call tools"));
    assert_eq!(line(&refused, CheckItem::Json), (Verdict::Fails, "Does not give readable JSON"));
    assert_eq!(line(&refused, CheckItem::Context), (Verdict::Limited, "4,096 tokens"));
    assert_eq!(learnt.known(LearntKey::ToolCalls), Some(json!(false)));
    assert!(refused.lines.iter().all(|l| l.verdict == Verdict::Works || l.remedy.is_some()));

    let (chatty, _) = report(Protocol::OpenAi, |seen| {
        if seen.line.starts_with("GET") {
            return capable(seen, json!({"data": []}));
        }
        message(json!({"content": "Hello, how can I help?"}))
    })
    .await;
    let want = (Verdict::Fails, "Answered in prose instead of calling a tool");
    assert_eq!(line(&chatty, CheckItem::ToolCalling), want);
}

#[tokio::test]
async fn what_spoils_everything_ends_the_check_with_one_line_and_a_remedy() {
    for (status, body, remedy) in [
        (401, json!({"error": "no"}), "Check the key."),
        (
            404,
            json!({"error": "model \"m\" not found"}),
            "Choose one of the models that the endpoint offers.",
        ),
    ] {
        let reply = Reply::status(status, body.to_string());
        let (report, _) = report(Protocol::OpenAi, move |_| reply.clone()).await;
        assert_eq!(report.lines.len(), 1);
        assert_eq!(report.lines[0].item, CheckItem::Connection);
        assert_eq!(report.lines[0].remedy.as_deref(), Some(remedy));
        assert_eq!(report.verdict, Verdict::Fails);
    }
}

#[tokio::test]
async fn an_address_where_nothing_answers_is_told_without_the_words_of_the_machine() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = format!("http://127.0.0.1:{port}/v1");
    let endpoint = Endpoint::new(Protocol::OpenAi, &address, "m");
    let learnt = Arc::new(Remembered::default());
    let gate = Arc::new(Gate::new(Arc::new(TokioTimer::default())));
    let memory = Arc::clone(&learnt) as Arc<dyn Learnt>;
    let once = RetryPolicy { retries: 0, ..RetryPolicy::default() };
    let provider = llm::connect_fitted(endpoint, memory, gate, once, |client| client).unwrap();
    let timer = Ticking::default();
    let protocol = Protocol::OpenAi;
    let checked =
        Checked { provider: &provider, learnt: &*learnt, timer: &timer, protocol, llm: "m" };
    let report = check(&checked, &mut |_| {}, &CancellationToken::new()).await.unwrap();
    let [line] = report.lines.as_slice() else { panic!("one line: {:?}", report.lines) };
    assert_eq!(line.words, format!("Nothing answers at {address}"));
    let detail = line.detail.as_deref().expect("what the network said");
    assert!(detail.len() > line.words.len(), "{detail}");
}
