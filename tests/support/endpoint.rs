//! A language model behind a real socket on loopback. It speaks the three protocols, keeps every
//! request, and does what a test tells it: answer sensibly, refuse a field, break off, stall until it
//! is let go, send its pieces in disorder.

use llm::Protocol;
use llm::scripted::Hold;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The three protocols.
pub const PROTOCOLS: [Protocol; 3] = [Protocol::OpenAi, Protocol::Anthropic, Protocol::Ollama];

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Method and target, for example `POST /v1/chat/completions`.
    pub line: String,
    /// Body; null for none.
    pub body: Value,
}

impl Asked {
    /// Whether it is a question for the model, not one about it.
    #[must_use]
    pub fn is_chat(&self) -> bool {
        self.body.get("messages").is_some()
    }

    /// Names of the tools on offer.
    #[must_use]
    pub fn tools(&self) -> Vec<String> {
        let tools = self.body["tools"].as_array().into_iter().flatten();
        let name = |tool: &Value| {
            let name = tool["function"]["name"].as_str().or(tool["name"].as_str());
            name.map(str::to_owned)
        };
        tools.filter_map(name).collect()
    }

    /// The tool that must be called: by name, or because it is the only one.
    #[must_use]
    pub fn forced(&self) -> Option<String> {
        let choice = &self.body["tool_choice"];
        let named = choice["function"]["name"].as_str().or(choice["name"].as_str());
        let tools = self.tools();
        named.map(str::to_owned).or_else(|| (tools.len() == 1).then(|| tools[0].clone()))
    }

    /// Whether the conversation holds results of searches.
    #[must_use]
    pub fn has_results(&self) -> bool {
        let text = self.body["messages"].to_string();
        text.contains("tool_call_id") || text.contains("tool_result") || text.contains("tool_name")
    }

    /// All of it.
    #[must_use]
    pub fn text(&self) -> String {
        self.body.to_string()
    }
}

/// What a model says.
#[derive(Debug, Clone)]
pub enum Say {
    /// Prose.
    Text(String),
    /// Calls of tools with their arguments.
    Calls(Vec<(String, Value)>),
}

impl Say {
    /// Prose.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// One call.
    #[must_use]
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::Calls(vec![(name.to_owned(), arguments)])
    }
}

/// A reply as it goes over the wire.
#[derive(Clone)]
pub struct Said {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
    /// Whether it ends before its announced length.
    broken: bool,
    hold: Option<Hold>,
}

impl Said {
    /// A status with a body.
    #[must_use]
    pub fn status(status: u16, body: &Value) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self { status, headers, body: body.to_string(), broken: false, hold: None }
    }

    /// A refusal of the request with this sentence, in the shape that all three protocols share.
    #[must_use]
    pub fn refusal(message: &str) -> Self {
        Self::status(400, &json!({"error": {"message": message}}))
    }

    /// A body as it stands.
    #[must_use]
    pub fn raw(kind: &str, body: impl Into<String>) -> Self {
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        Self { status: 200, headers, body: body.into(), broken: false, hold: None }
    }

    /// Server-sent events and their closing mark.
    #[must_use]
    pub fn events(frames: &[Value]) -> Self {
        let mut body = String::new();
        for frame in frames {
            let _ = write!(body, "data: {frame}\n\n");
        }
        Self::raw("text/event-stream", body + "data: [DONE]\n\n")
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Cut off after half of it.
    #[must_use]
    pub fn broken(mut self) -> Self {
        self.broken = true;
        self
    }

    /// Sent only when the hold is released.
    #[must_use]
    pub fn held_by(mut self, hold: &Hold) -> Self {
        self.hold = Some(hold.clone());
        self
    }
}

/// What a model says, in the words of its protocol, streamed if it was asked for that. The prompt is
/// reported to have `prompt` tokens.
#[must_use]
pub fn speak(protocol: Protocol, asked: &Asked, say: &Say, prompt: u32) -> Said {
    let streams = asked.body["stream"] == json!(true);
    match protocol {
        Protocol::OpenAi => openai(say, prompt, streams),
        Protocol::Anthropic => anthropic(say, prompt, streams),
        Protocol::Ollama => ollama(say, prompt),
    }
}

fn openai(say: &Say, prompt: u32, streams: bool) -> Said {
    let (content, calls) = match say {
        Say::Text(text) => (json!(text), Vec::new()),
        Say::Calls(calls) => (Value::Null, calls.clone()),
    };
    let calls: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(at, (name, args))| {
            let args = args.as_str().map_or_else(|| args.to_string(), str::to_owned);
            json!({"index": at, "id": format!("c{at}"), "type": "function",
                "function": {"name": name, "arguments": args}})
        })
        .collect();
    let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
    let usage = json!({"prompt_tokens": prompt, "completion_tokens": 12});
    let mut message = json!({"role": "assistant", "content": content});
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    if !streams {
        let choice = json!({"message": message, "finish_reason": finish});
        return Said::status(200, &json!({"choices": [choice], "usage": usage}));
    }
    Said::events(&[
        json!({"choices": [{"delta": message}]}),
        json!({"choices": [{"delta": {}, "finish_reason": finish}]}),
        json!({"choices": [], "usage": usage}),
    ])
}

fn anthropic(say: &Say, prompt: u32, streams: bool) -> Said {
    let blocks: Vec<Value> = match say {
        Say::Text(text) => vec![json!({"type": "text", "text": text})],
        Say::Calls(calls) => calls
            .iter()
            .enumerate()
            .map(|(at, (name, args))| {
                json!({"type": "tool_use", "id": format!("c{at}"), "name": name, "input": args})
            })
            .collect(),
    };
    let stop = if matches!(say, Say::Text(_)) { "end_turn" } else { "tool_use" };
    let usage = json!({"input_tokens": prompt, "output_tokens": 12});
    if !streams {
        let whole = json!({"content": blocks, "stop_reason": stop, "usage": usage});
        return Said::status(200, &whole);
    }
    let mut frames =
        vec![json!({"type": "message_start", "message": {"model": "m", "usage": usage}})];
    for (index, block) in blocks.iter().enumerate() {
        frames.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
    }
    frames.push(json!({"type": "message_delta", "delta": {"stop_reason": stop},
        "usage": {"output_tokens": 12}}));
    frames.push(json!({"type": "message_stop"}));
    Said::events(&frames)
}

fn ollama(say: &Say, prompt: u32) -> Said {
    let message = match say {
        Say::Text(text) => json!({"role": "assistant", "content": text}),
        Say::Calls(calls) => {
            let calls: Vec<Value> = calls
                .iter()
                .map(|(name, args)| json!({"function": {"name": name, "arguments": args}}))
                .collect();
            json!({"role": "assistant", "content": "", "tool_calls": calls})
        }
    };
    let first = json!({"model": "m", "message": message, "done": false});
    let last = json!({"model": "m", "message": {"role": "assistant", "content": ""}, "done": true,
        "done_reason": "stop", "prompt_eval_count": prompt, "eval_count": 12});
    Said::raw("application/x-ndjson", format!("{first}\n{last}\n"))
}

/// What a capable model says: the tool that it is told to call, then an answer over what was found.
/// Tasks of the set-up check and of reading facts are done as well.
#[must_use]
pub fn sensible(asked: &Asked) -> Say {
    let tools = asked.tools();
    let text = asked.text();
    let search = |tool: &str| Say::call(tool, json!({"reason": "to look", "query": "ferry"}));
    let forced = asked.forced();
    match forced.as_deref() {
        Some("note") => return Say::call("note", json!({"text": "six"})),
        Some("done") => return done(),
        Some(tool) => return search(tool),
        None => {}
    }
    if tools.iter().any(|tool| tool == "look_up") {
        let look = |place: &str| ("look_up".to_owned(), json!({"query": place}));
        return Say::Calls(vec![look("harbour office"), look("library")]);
    }
    if tools.iter().any(|tool| tool == "done") {
        return if asked.has_results() { done() } else { search("recall") };
    }
    if text.contains("harbour office opens at nine") {
        return Say::text("{\"place\": \"harbour office\", \"hour\": 9}");
    }
    if text.contains("Passage: ") {
        return Say::Text(json!({"facts": [{"what": "Mira repairs the old crane."}]}).to_string());
    }
    Say::text("The ferry leaves at six.")
}

fn done() -> Say {
    Say::call("done", json!({"answer": "The ferry leaves at six.", "memory_ids": ["f1"]}))
}

type Answerer = dyn Fn(&Asked, usize) -> Said + Send + Sync;

/// A running server; ends with the test.
pub struct LlmServer {
    port: u16,
    seen: Arc<Mutex<Vec<Asked>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for LlmServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl LlmServer {
    /// A server that answers each question with what `answer` makes of it and of the number of
    /// questions before it. Questions about the model get 404.
    ///
    /// # Panics
    /// When there is no free port.
    pub async fn start(answer: impl Fn(&Asked, usize) -> Said + Send + Sync + 'static) -> Self {
        Self::knowing(answer, |_| None).await
    }

    /// The same, with what it tells about the model.
    ///
    /// # Panics
    /// When there is no free port.
    pub async fn knowing(
        answer: impl Fn(&Asked, usize) -> Said + Send + Sync + 'static,
        about: impl Fn(&Asked) -> Option<Value> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let answer: Arc<Answerer> = Arc::new(move |asked, n| {
            if asked.is_chat() {
                return answer(asked, n);
            }
            about(asked).map_or_else(
                || Said::status(404, &json!({"error": "not here"})),
                |value| Said::status(200, &value),
            )
        });
        let task = tokio::spawn({
            let seen = Arc::clone(&seen);
            async move {
                while let Ok((socket, _)) = listener.accept().await {
                    tokio::spawn(serve(socket, Arc::clone(&seen), Arc::clone(&answer)));
                }
            }
        });
        Self { port, seen, task }
    }

    /// A server whose model is capable and speaks this protocol.
    pub async fn capable(protocol: Protocol) -> Self {
        Self::start(move |asked, _| speak(protocol, asked, &sensible(asked), 0)).await
    }

    /// Its address without a path.
    #[must_use]
    pub fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Questions for the model so far.
    #[must_use]
    pub fn chats(&self) -> Vec<Asked> {
        lock(&self.seen).iter().filter(|asked| asked.is_chat()).cloned().collect()
    }

    /// All requests so far.
    #[must_use]
    pub fn seen(&self) -> Vec<Asked> {
        lock(&self.seen).clone()
    }
}

fn lock(seen: &Mutex<Vec<Asked>>) -> MutexGuard<'_, Vec<Asked>> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(mut socket: TcpStream, seen: Arc<Mutex<Vec<Asked>>>, answer: Arc<Answerer>) {
    let Some(asked) = read(&mut socket).await else { return };
    let said = {
        let mut seen = lock(&seen);
        let number = seen.iter().filter(|earlier| earlier.is_chat()).count();
        seen.push(asked.clone());
        answer(&asked, number)
    };
    if let Some(hold) = &said.hold {
        hold.pass().await;
    }
    let mut head = format!("HTTP/1.1 {} X\r\nconnection: close\r\n", said.status);
    for (name, value) in &said.headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    let _ = write!(head, "content-length: {}\r\n\r\n", said.body.len());
    // A client that has gone is no fault of the test.
    let _ = socket.write_all(head.as_bytes()).await;
    let bytes = said.body.as_bytes();
    let end = if said.broken { bytes.len() / 2 } else { bytes.len() };
    // Odd sizes, so that letters and lines are cut anywhere.
    for piece in bytes[..end].chunks(61) {
        let _ = socket.write_all(piece).await;
    }
    let _ = socket.shutdown().await;
}

async fn read(socket: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 16_384];
    loop {
        let n = socket.read(&mut buffer).await.ok().filter(|n| *n > 0)?;
        bytes.extend_from_slice(&buffer[..n]);
        let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
        });
        let body = &bytes[end + 4..];
        if body.len() >= length.unwrap_or(0_usize) {
            let line = head.lines().next()?.trim_end_matches(" HTTP/1.1").to_owned();
            return Some(Asked { line, body: serde_json::from_slice(body).unwrap_or_default() });
        }
    }
}
