//! An HTTP server of the smallest kind: one request per connection, replies from a closure, every
//! request kept. It can break off, stall and lie about its content type.

use serde_json::Value;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// A request as it arrived.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// Method and target, for example `POST /v1/chat/completions?a=b`.
    pub(crate) line: String,
    /// Header lines, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// Body.
    pub(crate) body: String,
}

impl Seen {
    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// Value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }
}

/// How the body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With its announced length.
    Whole,
    /// Before its announced length.
    Broken,
    /// By closing, without an announced length.
    Closed,
    /// Not at all: the connection stays open until the client goes.
    Stalled,
}

/// A reply to send.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    /// Status code; 0 closes the connection without a word.
    pub(crate) status: u16,
    /// Header lines.
    pub(crate) headers: Vec<(String, String)>,
    /// Body.
    pub(crate) body: String,
    /// Its end.
    pub(crate) ending: Ending,
}

impl Reply {
    /// A JSON success.
    pub(crate) fn json(value: &Value) -> Self {
        Self::new(200, "application/json", value.to_string())
    }

    /// A status with a body.
    pub(crate) fn status(status: u16, body: impl Into<String>) -> Self {
        Self::new(status, "application/json", body)
    }

    /// An event stream of these data lines, with no closing mark of its own.
    pub(crate) fn events(data: &[Value]) -> Self {
        let body: String = data.iter().map(|d| format!("data: {d}\n\n")).collect();
        Self { ending: Ending::Closed, ..Self::new(200, "text/event-stream", body) }
    }

    /// The same with `[DONE]`.
    pub(crate) fn events_done(data: &[Value]) -> Self {
        let mut reply = Self::events(data);
        reply.body.push_str("data: [DONE]\n\n");
        reply
    }

    /// One JSON value per line.
    pub(crate) fn lines(data: &[Value]) -> Self {
        let body: String = data.iter().map(|d| format!("{d}\n")).collect();
        Self { ending: Ending::Closed, ..Self::new(200, "application/x-ndjson", body) }
    }

    /// A reply from its parts.
    pub(crate) fn new(status: u16, kind: &str, body: impl Into<String>) -> Self {
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        Self { status, headers, body: body.into(), ending: Ending::Whole }
    }

    /// With another end.
    pub(crate) fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// With one more header.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

type Answerer = dyn Fn(&Seen, usize) -> Reply + Send + Sync;

/// A running server; ends with the test.
pub(crate) struct Server {
    port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
    gone: Arc<Semaphore>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Answers everything with one reply.
    pub(crate) async fn start(reply: Reply) -> Self {
        Self::with(move |_, _| reply.clone()).await
    }

    /// Answers each request with what `answer` makes of it and of its number.
    pub(crate) async fn with(
        answer: impl Fn(&Seen, usize) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let gone = Arc::new(Semaphore::new(0));
        let answer: Arc<Answerer> = Arc::new(answer);
        let task = tokio::spawn({
            let (seen, gone) = (Arc::clone(&seen), Arc::clone(&gone));
            async move {
                while let Ok((socket, _)) = listener.accept().await {
                    let (seen, gone) = (Arc::clone(&seen), Arc::clone(&gone));
                    tokio::spawn(serve(socket, seen, gone, Arc::clone(&answer)));
                }
            }
        });
        Self { port, seen, gone, task }
    }

    /// Its port, for the search of servers.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Its address without a path.
    pub(crate) fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The JSON bodies of the requests with this line.
    pub(crate) fn bodies_of(&self, line: &str) -> Vec<Value> {
        self.seen().iter().filter(|s| s.line == line).map(Seen::json).collect()
    }

    /// Waits until a client has left a stalled reply.
    pub(crate) async fn client_gone(&self) {
        self.gone.acquire().await.unwrap().forget();
    }
}

async fn serve(
    mut socket: TcpStream,
    seen: Arc<Mutex<Vec<Seen>>>,
    gone: Arc<Semaphore>,
    answer: Arc<Answerer>,
) {
    let Some(request) = read(&mut socket).await else { return };
    let reply = {
        let mut seen = seen.lock().unwrap();
        let number = seen.len();
        seen.push(request.clone());
        answer(&request, number)
    };
    if reply.status == 0 {
        return;
    }
    let mut head = format!("HTTP/1.1 {} X\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let length = reply.body.len();
    match reply.ending {
        Ending::Whole => head.push_str(&format!("content-length: {length}\r\n")),
        Ending::Broken => head.push_str(&format!("content-length: {}\r\n", length + 100)),
        Ending::Closed | Ending::Stalled => {}
    }
    head.push_str("\r\n");
    let _ = socket.write_all(head.as_bytes()).await;
    // Odd sizes, so that letters and lines are cut anywhere.
    for piece in reply.body.as_bytes().chunks(37) {
        let _ = socket.write_all(piece).await;
        let _ = socket.flush().await;
    }
    if reply.ending == Ending::Stalled {
        let mut byte = [0];
        while matches!(socket.read(&mut byte).await, Ok(n) if n > 0) {}
        gone.add_permits(1);
    } else {
        let _ = socket.shutdown().await;
    }
}

async fn read(socket: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let n = socket.read(&mut buffer).await.ok().filter(|n| *n > 0)?;
        bytes.extend_from_slice(&buffer[..n]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, _)) = text.split_once("\r\n\r\n") else { continue };
        let mut lines = head.lines();
        let line = lines.next()?.trim_end_matches(" HTTP/1.1").to_owned();
        let headers: Vec<(String, String)> = lines
            .filter_map(|l| l.split_once(':'))
            .map(|(n, v)| (n.trim().to_lowercase(), v.trim().to_owned()))
            .collect();
        let length = headers.iter().find(|(n, _)| n == "content-length");
        let length: usize = length.and_then(|(_, v)| v.parse().ok()).unwrap_or(0);
        let start = head.len() + 4;
        if bytes.len() >= start + length {
            let body = String::from_utf8_lossy(&bytes[start..]).into_owned();
            return Some(Seen { line, headers, body });
        }
    }
}
