//! A language model on loopback that hears every byte. It speaks the OpenAI protocol over a real
//! socket, keeps each request as it came, and answers whatever the program asks for with what it was
//! shown, so that a run goes on to its end.

use regex::Regex;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The server, which ends with the test.
#[derive(Debug, Clone)]
pub struct Ear {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Ear {
    /// Opens it on a free port of loopback.
    ///
    /// # Panics
    /// When there is none.
    pub async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let ear = Self { address, heard: Arc::default() };
        let own = ear.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let own = own.clone();
                tokio::spawn(async move { own.serve(socket).await });
            }
        });
        ear
    }

    /// Its address on this machine.
    #[must_use]
    pub fn here(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The same server under an address that counts as elsewhere: it is no loopback address, though
    /// the operating system leads it there.
    #[must_use]
    pub fn elsewhere(&self) -> String {
        format!("http://0.0.0.0:{}/v1", self.address.port())
    }

    /// Every request as it came, head and body.
    ///
    /// # Panics
    /// When the server panicked.
    #[must_use]
    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().expect("a whole record").clone()
    }

    async fn serve(self, mut socket: TcpStream) {
        let Some(request) = read(&mut socket).await else { return };
        let body = request.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let reply = match serde_json::from_str::<Value>(body) {
            Ok(asked) => chat(&asked),
            Err(_) => json!({ "data": [{ "id": "small-model" }] }),
        };
        self.heard.lock().expect("a whole record").push(request);
        let body = reply.to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
             connection: close\r\n\r\n",
            body.len()
        );
        // A caller that has gone away was stopped by its test.
        let _ = socket.write_all(format!("{head}{body}").as_bytes()).await;
    }
}

/// One request; none when the caller goes away before its end.
async fn read(socket: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut piece = vec![0; 65_536];
    loop {
        let n = socket.read(&mut piece).await.ok().filter(|n| *n > 0)?;
        bytes.extend_from_slice(&piece[..n]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
        });
        if body.len() >= length.unwrap_or(0) {
            return Some(text.into_owned());
        }
    }
}

fn chat(asked: &Value) -> Value {
    let (message, finish) = match asked["tools"].as_array().filter(|tools| !tools.is_empty()) {
        Some(tools) => {
            let (name, arguments) = call(asked, tools);
            let function = json!({ "name": name, "arguments": arguments.to_string() });
            let calls = json!([{ "id": "call_1", "type": "function", "function": function }]);
            (json!({ "role": "assistant", "content": null, "tool_calls": calls }), "tool_calls")
        }
        None => (json!({ "role": "assistant", "content": written(asked) }), "stop"),
    };
    json!({ "choices": [{ "index": 0, "message": message, "finish_reason": finish }] })
}

fn messages(asked: &Value) -> &[Value] {
    asked["messages"].as_array().map_or(&[], Vec::as_slice)
}

/// The next tool: the one that must be called, else the next in order, each once.
fn call(asked: &Value, tools: &[Value]) -> (String, Value) {
    let offered = |name: &&str| tools.iter().any(|tool| tool["function"]["name"] == *name);
    let called = |name: &str| {
        let calls = messages(asked).iter().filter_map(|said| said["tool_calls"].as_array());
        calls.flatten().any(|call| call["function"]["name"] == name)
    };
    let forced = asked["tool_choice"]["function"]["name"].as_str();
    let order = ["search_mental_models", "search_observations", "recall", "expand"];
    let next = || order.into_iter().filter(offered).find(|name| !called(name));
    let shown = shown(asked);
    let name = match forced.or_else(next) {
        Some("expand") if shown.is_empty() => "done",
        Some(name) => name,
        None => "done",
    };
    let arguments = match name {
        "expand" => {
            let ids: Vec<&String> = shown.keys().collect();
            json!({ "reason": "to read on", "memory_ids": ids, "depth": "document" })
        }
        "done" => done(asked, tools, &shown),
        // What is not one of the program's own tools is a question of the set-up check.
        _ => json!({ "reason": "to look", "query": "kiln of the workshop", "city": "Aker" }),
    };
    (name.to_owned(), arguments)
}

/// What tools have shown: texts by short id.
fn shown(asked: &Value) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for said in messages(asked).iter().filter(|said| said["role"] == "tool") {
        let text = said["content"].as_str().unwrap_or_default();
        let from = text.find('{').unwrap_or(text.len());
        let to = text.rfind('}').map_or(from, |at| at + 1);
        if let Ok(result) = serde_json::from_str(&text[from..to]) {
            rows(&result, &mut found);
        }
    }
    found
}

fn rows(value: &Value, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| rows(item, found)),
        Value::Object(fields) => {
            let said = |key: &str| fields.get(key).and_then(Value::as_str);
            if let (Some(id), Some(text)) = (said("id"), said("text").or_else(|| said("content"))) {
                let short = id.len() < 5 && id.starts_with(['f', 'o', 'm']);
                if short {
                    found.entry(id.to_owned()).or_insert_with(|| text.to_owned());
                }
            }
            fields.values().for_each(|field| rows(field, found));
        }
        _ => {}
    }
}

/// Everything that was shown, each statement with its source. A question that names the documents is
/// answered from documents.
fn done(asked: &Value, tools: &[Value], shown: &BTreeMap<String, String>) -> Value {
    let all = asked["messages"].to_string();
    let of_documents = all.contains("What do the documents say");
    // One fact has to be among them: a document that rests on none is not written.
    let beside = |id: &str, text: &str| id.starts_with('m') || text.contains("1200 degrees");
    let used: Vec<(&String, &String)> =
        shown.iter().filter(|(id, text)| !of_documents || beside(id, text)).collect();
    let ids = |letter: char| -> Vec<&String> {
        used.iter().map(|(id, _)| *id).filter(|id| id.starts_with(letter)).collect()
    };
    let mut args = Map::new();
    args.insert("memory_ids".to_owned(), json!(ids('f')));
    args.insert("observation_ids".to_owned(), json!(ids('o')));
    args.insert("mental_model_ids".to_owned(), json!(ids('m')));
    let own = tools.iter().find(|tool| tool["function"]["name"] == "done");
    let as_document = own
        .is_some_and(|tool| tool["function"]["parameters"]["properties"]["document"].is_object());
    if as_document {
        let blocks: Vec<Value> =
            used.iter().map(|(id, text)| json!({ "text": text, "evidence": [id] })).collect();
        let section = json!({ "heading": "What is known", "level": 1, "blocks": blocks });
        args.insert("document".to_owned(), json!({ "sections": [section] }));
    } else {
        let texts: Vec<&str> = used.iter().map(|(_, text)| text.as_str()).collect();
        args.insert("answer".to_owned(), json!(texts.join("\n\n")));
    }
    Value::Object(args)
}

fn written(asked: &Value) -> String {
    let said = messages(asked).iter().filter_map(|said| said["content"].as_str());
    let all = said.collect::<Vec<_>>().join("\n");
    let name = asked["response_format"]["json_schema"]["name"].as_str();
    let answer = match name {
        _ if all.contains("The withdrawn facts:") => take_back(&all),
        _ if all.contains("The new facts:") => work_in(&all),
        Some("facts") => read_out(&all),
        Some("observations") => fold(&all),
        Some("structured") => json!({ "heat": "1200 degrees" }),
        _ if asked["response_format"].is_object() => json!({ "action": "keep" }),
        _ => return "The kiln is hot.".to_owned(),
    };
    answer.to_string()
}

/// Each line of a passage is a fact.
fn read_out(all: &str) -> Value {
    let passage = all.split("\n=====\n").nth(1).unwrap_or_default();
    let lines = passage.lines().filter(|line| !line.trim().is_empty());
    let facts: Vec<Value> = lines.map(|line| json!({ "what": line })).collect();
    json!({ "facts": facts })
}

/// Each fact is an observation of its own.
fn fold(all: &str) -> Value {
    let facts = all.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let creates: Vec<Value> = facts
        .filter(|fact| fact["id"].as_str().is_some_and(|id| id.starts_with('F')))
        .map(|fact| {
            let text = format!("Seen: {}", fact["text"].as_str().unwrap_or_default());
            json!({ "text": text, "source_fact_ids": [fact["id"]] })
        })
        .collect();
    json!({ "creates": creates, "updates": [], "deletes": [] })
}

fn sections(all: &str) -> Vec<Value> {
    let line = all.lines().find(|line| line.starts_with("{\"sections\":"));
    let document: Value = line.and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    document["sections"].as_array().cloned().unwrap_or_default()
}

/// Each new fact becomes a block of the first section.
fn work_in(all: &str) -> Value {
    let sections = sections(all);
    let fact = Regex::new(r"(?m)^(f\d+)\b\W*(.+)$").expect("a pattern");
    let operations: Vec<Value> = fact
        .captures_iter(all)
        .map(|found| {
            json!({ "op": "append_block", "section_id": sections[0]["id"],
                "text": format!("New: {}", &found[2]), "evidence": [&found[1]] })
        })
        .collect();
    json!({ "operations": operations })
}

/// Every block that rests on a withdrawn fact goes.
fn take_back(all: &str) -> Value {
    let mut operations = Vec::new();
    for section in sections(all) {
        for block in section["blocks"].as_array().into_iter().flatten() {
            if block["withdrawn"].as_array().is_some_and(|list| !list.is_empty()) {
                operations.push(json!({ "op": "remove_block", "section_id": section["id"],
                    "block_id": block["id"] }));
            }
        }
    }
    json!({ "operations": operations })
}
