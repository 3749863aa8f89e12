//! Streams of the OpenAI-compatible kind: fragments in every disorder that servers produce, and
//! every way to end.

use crate::server::{Ending, Reply};
use crate::{Heard, ask, ask_stream, calls, chat};
use llm::{ChatReply, Class, Error, Finish, Protocol, Usage};
use serde_json::{Value, json};

fn delta(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta}]})
}

fn end(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn call(fields: Value) -> Value {
    delta(json!({"tool_calls": [fields]}))
}

async fn run(reply: Reply) -> (Result<ChatReply, Error>, Heard) {
    chat(Protocol::OpenAi, reply, ask_stream()).await
}

async fn read(frames: &[Value]) -> ChatReply {
    run(Reply::events_done(frames)).await.0.unwrap()
}

#[tokio::test]
async fn text_reasoning_and_counts_at_the_end() {
    let frames = [
        delta(json!({"role": "assistant", "content": ""})),
        delta(json!({"reasoning_content": "pl"})),
        delta(json!({"reasoning_content": "an"})),
        delta(json!({"content": "Täg"})),
        delta(json!({"content": "lich"})),
        end("stop"),
        json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}),
    ];
    let (reply, heard) = run(Reply::events_done(&frames)).await;
    let reply = reply.unwrap();
    assert_eq!((reply.text.as_str(), reply.reasoning.as_str()), ("Täglich", "plan"));
    assert_eq!((heard.text.as_str(), heard.reasoning.as_str()), ("Täglich", "plan"));
    let want = Usage { input_tokens: 7, output_tokens: 3, ..Usage::default() };
    assert_eq!((reply.finish, reply.usage), (Finish::Stop, Some(want)));
    assert_eq!(heard.received.concat(), reply.raw);
    assert!(reply.raw.ends_with("data: [DONE]\n\n"));
}

#[tokio::test]
async fn a_think_block_is_never_shown_as_answer() {
    let frames = [
        delta(json!({"content": "<thi"})),
        delta(json!({"content": "nk>pl"})),
        delta(json!({"content": "an</think>\n\nYes"})),
        end("stop"),
    ];
    let (reply, heard) = run(Reply::events_done(&frames)).await;
    assert_eq!(reply.unwrap().text, "Yes");
    assert_eq!((heard.text.as_str(), heard.reasoning.as_str()), ("Yes", "plan"));
}

#[tokio::test]
async fn two_calls_with_one_index_are_two_calls() {
    let function = |id: &str, name: &str, arguments: &str| {
        call(json!({"index": 0, "id": id, "type": "function",
            "function": {"name": name, "arguments": arguments}}))
    };
    let more = |arguments: &str| call(json!({"index": 0, "function": {"arguments": arguments}}));
    let reply = read(&[
        function("a", "recall", ""),
        more("{\"q\""),
        more(":1}"),
        function("b", "expand", "{\"q\":"),
        more("2}"),
        end("stop"),
    ])
    .await;
    assert_eq!(calls(&reply), [("recall", "{\"q\":1}"), ("expand", "{\"q\":2}")]);
    assert_eq!((reply.finish, reply.finish_raw.as_deref()), (Finish::ToolCalls, Some("stop")));
}

#[tokio::test]
async fn fragments_without_index_and_whole_objects_are_read() {
    let reply = read(&[
        call(json!({"id": "a", "function": {"name": "recall", "arguments": ""}})),
        call(json!({"function": {"arguments": "{\"q\":1}"}})),
        call(json!({"index": 1, "function": {"name": "expand", "arguments": {"q": 2}}})),
        end("tool_calls"),
    ])
    .await;
    assert_eq!(calls(&reply), [("recall", "{\"q\":1}"), ("expand", "{\"q\":2}")]);
}

#[tokio::test]
async fn broken_arguments_stay_raw() {
    let reply = read(&[
        call(
            json!({"index": 0, "id": "a", "function": {"name": "recall", "arguments": "{\"q\": "}}),
        ),
        end("tool_calls"),
    ])
    .await;
    assert_eq!(reply.calls[0].arguments, None);
    assert_eq!(calls(&reply), [("recall", "{\"q\": ")]);
}

#[tokio::test]
async fn signatures_come_back_with_their_call() {
    let signature = json!({"google": {"thought_signature": "s"}});
    let reply = read(&[
        call(json!({"index": 0, "id": "a", "extra_content": signature,
            "function": {"name": "recall", "arguments": "{}"}})),
        end("tool_calls"),
    ])
    .await;
    assert_eq!(reply.turn().calls[0].opaque["extra_content"], signature);
}

#[tokio::test]
async fn a_finish_reason_is_enough_of_an_end() {
    let frames = [delta(json!({"content": "Yes"})), end("stop")];
    assert_eq!(run(Reply::events(&frames)).await.0.unwrap().text, "Yes");
    let broken = Reply::events(&frames).ending(Ending::Broken);
    assert_eq!(run(broken).await.0.unwrap().text, "Yes");
    let mark_only = Reply::events_done(&frames[..1]);
    assert_eq!(run(mark_only).await.0.unwrap().finish, Finish::Other);
}

#[tokio::test]
async fn a_stream_cut_in_the_middle_is_told_with_what_had_arrived() {
    let frames = [
        delta(json!({"content": "The ferry le"})),
        call(json!({"index": 0, "id": "a", "function": {"name": "recall", "arguments": "{\"q\""}})),
    ];
    for ending in [Ending::Closed, Ending::Broken] {
        let (result, heard) = run(Reply::events(&frames).ending(ending)).await;
        let Err(Error::CutOff { partial, .. }) = result else { panic!("{result:?}") };
        assert_eq!(partial.text, "The ferry le");
        assert_eq!(calls(&partial), [("recall", "{\"q\"")]);
        assert_eq!(heard.received.concat(), partial.raw);
    }
}

#[tokio::test]
async fn an_error_object_in_the_stream_is_an_error() {
    let frames = [delta(json!({"content": "The"})), json!({"error": {"message": "out of memory"}})];
    let error = run(Reply::events(&frames)).await.0.unwrap_err();
    assert_eq!(error.class(), Class::Failed);
    assert!(error.to_string().contains("out of memory"));
    let limit = json!({"error": {"code": "rate_limit_exceeded", "message": "slow down"}});
    let error = run(Reply::events(&[limit])).await.0.unwrap_err();
    assert_eq!(error.class(), Class::RateLimited);
}

#[tokio::test]
async fn an_unreadable_frame_is_skipped() {
    let mut reply = Reply::events(&[delta(json!({"content": "A"}))]);
    reply.body.push_str("data: {\"choices\": [{\n\n: ping\n\n");
    reply.body.push_str(&Reply::events_done(&[delta(json!({"content": "B"})), end("stop")]).body);
    assert_eq!(run(reply).await.0.unwrap().text, "AB");
}

#[tokio::test]
async fn a_whole_reply_to_a_stream_request_and_a_stream_to_a_whole_one_are_read() {
    let message = json!({"content": "Yes", "tool_calls": [
        {"id": "a", "function": {"name": "recall", "arguments": "{}"}},
        {"id": "a", "function": {"name": "expand", "arguments": "{}"}}]});
    let body = json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]});
    let pretty = Reply::new(200, "application/json", serde_json::to_string_pretty(&body).unwrap());
    let (reply, heard) = run(pretty).await;
    let reply = reply.unwrap();
    assert_eq!(calls(&reply), [("recall", "{}"), ("expand", "{}")]);
    assert_eq!((reply.text.as_str(), heard.text.as_str()), ("Yes", "Yes"));
    // The same inside one event.
    let (reply, _) = run(Reply::events_done(&[body])).await;
    assert_eq!(calls(&reply.unwrap()), [("recall", "{}"), ("expand", "{}")]);

    let frames = [delta(json!({"content": "Y"})), delta(json!({"content": "es"})), end("stop")];
    let (reply, _) = chat(Protocol::OpenAi, Reply::events_done(&frames), ask()).await;
    assert_eq!(reply.unwrap().text, "Yes");
}

#[tokio::test]
async fn an_error_body_to_a_stream_request_is_an_error() {
    let (result, _) = run(Reply::json(&json!({"error": {"message": "busy"}}))).await;
    assert_eq!(result.unwrap_err().class(), Class::Failed);
    let (result, _) = run(Reply::new(200, "text/html", "<html>Sign in</html>")).await;
    assert_eq!(result.unwrap_err().class(), Class::Malformed);
    let (result, _) = run(Reply::events_done(&[])).await;
    assert_eq!(result.unwrap_err().class(), Class::Malformed);
}
