//! Looks for language-model servers on this machine, at the ports where the common ones listen.
//! Never looks anywhere else, and sends nothing but the question which models there are.

use crate::address::Protocol;
use crate::assemble::count;
use crate::endpoint::{Endpoint, Limits};
use crate::error::{Class, Error};
use crate::transport::{KeyHeader, Outgoing, Transport};
use crate::window;
use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// A kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ServerKind {
    /// Ollama.
    Ollama,
    /// LM Studio.
    LmStudio,
    /// The server of llama.cpp, and llamafile.
    LlamaCpp,
    /// vLLM.
    Vllm,
    /// Jan.
    Jan,
    /// LocalAI.
    LocalAi,
    /// KoboldCpp.
    KoboldCpp,
    /// GPT4All.
    Gpt4All,
    /// Something that speaks the OpenAI-compatible format.
    Compatible,
}

impl ServerKind {
    /// Its name for a person.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ollama => "Ollama",
            Self::LmStudio => "LM Studio",
            Self::LlamaCpp => "llama.cpp",
            Self::Vllm => "vLLM",
            Self::Jan => "Jan",
            Self::LocalAi => "LocalAI",
            Self::KoboldCpp => "KoboldCpp",
            Self::Gpt4All => "GPT4All",
            Self::Compatible => "OpenAI-compatible server",
        }
    }
}

/// A port to look at, and what is expected there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The port on 127.0.0.1.
    pub port: u16,
    /// Who listens there by default. Where several do, what the server says of itself decides.
    pub kind: ServerKind,
}

/// Default ports, from the documentation of each server.
pub const PLACES: [Place; 9] = [
    Place { port: 11434, kind: ServerKind::Ollama },
    Place { port: 1234, kind: ServerKind::LmStudio },
    Place { port: 8080, kind: ServerKind::Compatible },
    Place { port: 8000, kind: ServerKind::Compatible },
    Place { port: 1337, kind: ServerKind::Jan },
    Place { port: 5001, kind: ServerKind::KoboldCpp },
    Place { port: 4891, kind: ServerKind::Gpt4All },
    Place { port: 5000, kind: ServerKind::Compatible },
    Place { port: 30000, kind: ServerKind::Compatible },
];

/// A server that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct FoundServer {
    /// What it is.
    pub kind: ServerKind,
    /// Name for a person.
    pub name: String,
    /// Wire format to use with it.
    pub protocol: Protocol,
    /// Address to store.
    pub base_url: String,
    /// Whether it wants a key before it says more.
    pub needs_key: bool,
    /// Its models, in its order.
    pub models: Vec<FoundModel>,
}

/// A model that a server offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct FoundModel {
    /// Name as requests need it.
    pub name: String,
    /// Whether it makes vectors instead of text, as far as the server or the name tells.
    pub embeds: bool,
    /// Context window in tokens that is in use, if stated.
    pub window: Option<u32>,
    /// Context window in tokens that the model can hold, if stated.
    pub window_max: Option<u32>,
}

/// Looks at all places at once, each for at most `limit` per question, and returns what is there
/// in the order of the places. Never fails: a place that does not answer is empty.
pub async fn discover(
    places: &[Place],
    limit: Duration,
    cancel: &CancellationToken,
) -> Vec<FoundServer> {
    let mut probes = JoinSet::new();
    for (at, place) in places.iter().copied().enumerate() {
        let cancel = cancel.clone();
        probes.spawn(async move { (at, probe(place, limit, &cancel).await) });
    }
    let mut found = Vec::new();
    while let Some(done) = probes.join_next().await {
        if let Ok((at, Some(server))) = done {
            found.push((at, server));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, server)| server).collect()
}

async fn probe(place: Place, limit: Duration, cancel: &CancellationToken) -> Option<FoundServer> {
    let protocol =
        if place.kind == ServerKind::Ollama { Protocol::Ollama } else { Protocol::OpenAi };
    let base_url = format!("http://127.0.0.1:{}", place.port);
    let mut endpoint = Endpoint::new(protocol, &base_url, "");
    endpoint.limits = Some(Limits { connect: limit, call: limit, silence: limit });
    let transport = Transport::new(&endpoint).ok()?;
    let asker = Asker { transport: &transport, cancel };
    if protocol == Protocol::Ollama {
        asker.ollama(base_url).await
    } else {
        asker.compatible(place, base_url).await
    }
}

struct Asker<'a> {
    transport: &'a Transport,
    cancel: &'a CancellationToken,
}

impl Asker<'_> {
    async fn ask(&self, url: Url) -> Result<Value, Error> {
        let outgoing =
            Outgoing { url, body: None, headers: &[], key_header: KeyHeader::Bearer, limit: None };
        self.transport.json(outgoing, self.cancel).await
    }

    async fn ollama(&self, base_url: String) -> Option<FoundServer> {
        let tags = self.ask(self.transport.address.operation("/tags")).await.ok()?;
        let models = tags["models"].as_array()?.iter().filter_map(|m| {
            let name = m["name"].as_str()?;
            let family = m["details"]["family"].as_str().unwrap_or_default();
            let embeds = embeds(name, "") || family.contains("bert");
            Some(FoundModel { name: name.to_owned(), embeds, window: None, window_max: None })
        });
        Some(server(ServerKind::Ollama, base_url, models.collect()))
    }

    async fn compatible(&self, place: Place, base: String) -> Option<FoundServer> {
        let base_url = format!("{base}/v1");
        let list = match self.ask(self.transport.address.operation("/models")).await {
            Ok(list) => list,
            // Only a server that answers in JSON is taken for one of ours.
            Err(e)
                if e.class() == Class::Auth && e.answer().is_some_and(|a| a.body.contains('{')) =>
            {
                let locked = server(place.kind, base_url, Vec::new());
                return Some(FoundServer { needs_key: true, ..locked });
            }
            Err(_) => return None,
        };
        let entries = list.get("data").and_then(Value::as_array)?;
        let kind = kind_of(entries, place.kind);
        let mut details = list.clone();
        if kind == ServerKind::LmStudio
            && let Ok(own) = self.ask(self.transport.address.beside("/api/v0/models")).await
        {
            details = own;
        }
        let mut loaded = None;
        if kind == ServerKind::LlamaCpp
            && let Ok(props) = self.ask(self.transport.address.beside("/props")).await
        {
            loaded = count(&props["default_generation_settings"]["n_ctx"]);
        }
        let models = entries.iter().filter_map(|entry| {
            let name = entry["id"].as_str()?;
            let stated = window::in_list(&details, name).unwrap_or_default();
            let kinds = details["data"].as_array().into_iter().flatten();
            let kind = kinds.filter(|e| e["id"] == entry["id"]).find_map(|e| e["type"].as_str());
            Some(FoundModel {
                name: name.to_owned(),
                embeds: embeds(name, kind.unwrap_or_default()),
                window: loaded.or(stated.loaded),
                window_max: stated.max.or_else(|| count(&entry["meta"]["n_ctx_train"])),
            })
        });
        Some(server(kind, base_url, models.collect()))
    }
}

fn server(kind: ServerKind, base_url: String, models: Vec<FoundModel>) -> FoundServer {
    let protocol = if kind == ServerKind::Ollama { Protocol::Ollama } else { Protocol::OpenAi };
    FoundServer { kind, name: kind.name().to_owned(), protocol, base_url, needs_key: false, models }
}

/// What a list of models says about its server, else what the port suggests.
fn kind_of(entries: &[Value], expected: ServerKind) -> ServerKind {
    let owners = || entries.iter().filter_map(|e| e["owned_by"].as_str());
    let owner = |word: &str| owners().any(|o| o.eq_ignore_ascii_case(word));
    if owner("llamacpp") {
        ServerKind::LlamaCpp
    } else if owner("vllm") {
        ServerKind::Vllm
    } else if owner("localai") {
        ServerKind::LocalAi
    } else if owner("koboldcpp") {
        ServerKind::KoboldCpp
    } else {
        expected
    }
}

fn embeds(name: &str, kind: &str) -> bool {
    let name = name.to_lowercase();
    kind == "embeddings" || ["embed", "bge-", "minilm", "e5-"].iter().any(|w| name.contains(w))
}
