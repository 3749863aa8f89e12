//! The set-up check: a handful of real requests that tell beforehand what a model at an endpoint
//! can do, in words and with a remedy for each line. Sends nothing of the user's.

use crate::address::Protocol;
use crate::chat::{
    ChatReply, ChatRequest, Message, ResponseFormat, Tool, ToolCall, ToolChoice, Urgency,
};
use crate::error::{Class, Error};
use crate::learnt::{Learnt, LearntKey};
use crate::report::{CheckItem, CheckLine, CheckReport, Verdict};
use crate::timer::Timer;
use crate::words::{duration, one_digit, seconds, thousands};
use crate::{ChatEvent, ChatSink, Provider};
use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What is checked, and with what.
pub struct Checked<'a> {
    /// The provider as the program will use it, so that what it learns stays learnt.
    pub provider: &'a dyn Provider,
    /// Memory of the endpoint; the report goes into it too.
    pub learnt: &'a dyn Learnt,
    /// Measures.
    pub timer: &'a dyn Timer,
    /// Wire format, which decides the remedy for a small window.
    pub protocol: Protocol,
    /// Name of the model.
    pub llm: &'a str,
}

/// Tokens that a refresh writes in the common case: the default length of a document.
const REFRESH_TOKENS: u32 = 2_048;
/// Tokens that one fact takes in a prompt, dates and id included. A rough mean, for advice only.
const FACT_TOKENS: u32 = 100;
/// Window below which a refresh has to work in many small steps.
const COMFORTABLE_WINDOW: u32 = 16_384;
/// Words of the prompt that is sent to an endpoint which does not tell its window.
const PROBE_WORDS: u32 = 5_000;

/// Checks a model. `on_line` hears of each line as it is done.
///
/// # Errors
/// [`Error::Cancelled`] only; everything else is a line of the report.
pub async fn check(
    checked: &Checked<'_>,
    on_line: &mut (dyn FnMut(&CheckLine) + Send),
    cancel: &CancellationToken,
) -> Result<CheckReport, Error> {
    let start = checked.timer.now();
    let mut run = Run { checked, cancel, on_line, report: CheckReport::empty(checked.llm) };
    match run.all().await {
        Ok(()) => {}
        Err(Error::Cancelled) => return Err(Error::Cancelled),
        Err(e) => run.add_with(connection(&e), Some(e.to_string())),
    }
    let mut report = run.report;
    report.took_ms = millis(checked.timer.now().saturating_sub(start));
    if let Ok(value) = serde_json::to_value(&report) {
        checked.learnt.learn(LearntKey::SetUpCheck, value, "the set-up check");
    }
    Ok(report)
}

struct Run<'a> {
    checked: &'a Checked<'a>,
    cancel: &'a CancellationToken,
    on_line: &'a mut (dyn FnMut(&CheckLine) + Send),
    report: CheckReport,
}

impl Run<'_> {
    async fn all(&mut self) -> Result<(), Error> {
        self.tool_calling().await?;
        self.json().await?;
        self.streaming_and_speed().await
    }

    fn add(&mut self, line: Line) {
        self.add_with(line, None);
    }

    fn add_with(&mut self, (item, verdict, words, remedy): Line, detail: Option<String>) {
        let name = item.name().to_owned();
        let remedy = remedy.map(str::to_owned);
        let line = CheckLine { item, name, verdict, words, remedy, detail };
        (self.on_line)(&line);
        self.report.verdict = self.report.verdict.max(verdict);
        self.report.lines.push(line);
    }

    /// Sends a request. An error that would spoil the other lines too is an error; one that is
    /// the answer to the question is the inner one.
    async fn ask(
        &mut self,
        req: ChatRequest,
        out: &mut dyn ChatSink,
    ) -> Result<Result<ChatReply, Error>, Error> {
        let req = ChatRequest { urgency: Urgency::Asked, temperature: Some(0.0), ..req };
        match self.checked.provider.chat(req, out, self.cancel).await {
            Ok(reply) => Ok(Ok(reply)),
            Err(e) if spoils_everything(&e) => Err(e),
            Err(e) => Ok(Err(e)),
        }
    }

    async fn tool_calling(&mut self) -> Result<(), Error> {
        let free = ChatRequest {
            tools: vec![look_up(), note()],
            max_output: Some(2_000),
            ..ChatRequest::new(
                "check_tools",
                vec![Message::user(
                    "Find out when the harbour office opens and when the library opens. Make two calls \
                 of look_up in this one turn, one for each place, and nothing else.",
                )],
            )
        };
        let first = self.ask(free, &mut ()).await?;
        if let Err(e) = &first {
            let words = match e.class() {
                Class::ToolsUnsupported => "Does not call tools".to_owned(),
                _ => format!("A request with tools failed: {}", plain(e)),
            };
            self.no_tools(words);
            return Ok(());
        }
        let free_calls = first.map(|r| r.calls).unwrap_or_default();
        let forced = ChatRequest {
            tools: vec![look_up(), note()],
            tool_choice: ToolChoice::Named("note".into()),
            max_output: Some(2_000),
            ..ChatRequest::new("check_forced_tool", vec![Message::user("The ferry leaves at six.")])
        };
        let forced_calls = self.ask(forced, &mut ()).await?.map(|r| r.calls);
        self.judge_tools(&free_calls, &forced_calls);
        Ok(())
    }

    fn no_tools(&mut self, words: String) {
        self.checked.learnt.learn(LearntKey::ToolCalls, json!(false), "the set-up check");
        let remedy = "Choose a model with tool calling. Without it, questions and refreshes fail; \
                      facts can still be found in text.";
        self.add((CheckItem::ToolCalling, Verdict::Fails, words, Some(remedy)));
    }

    fn judge_tools(&mut self, free: &[ToolCall], forced: &Result<Vec<ToolCall>, Error>) {
        let forced_calls = forced.as_deref().unwrap_or_default();
        let all = || free.iter().chain(forced_calls);
        let good = all().filter(|c| is_well_formed(c)).count();
        let made = all().count();
        if made == 0 {
            self.no_tools("Answered in prose instead of calling a tool".to_owned());
            return;
        }
        self.checked.learnt.learn(LearntKey::ToolCalls, json!(true), "the set-up check");
        let were = if good == 1 { "was" } else { "were" };
        let counted =
            format!("{} of {} calls {were} well formed", number(good, true), number(made, false));
        let (verdict, words, remedy) = if good < made {
            let remedy = "A larger model makes fewer such mistakes.";
            (Verdict::Limited, format!("{counted}, the rest could not be read"), Some(remedy))
        } else if free.len() < 2 {
            (Verdict::Limited, format!("Works, one call at a time. {counted}"), None)
        } else {
            (Verdict::Works, format!("Works. {counted}"), None)
        };
        self.add((CheckItem::ToolCalling, verdict, words, remedy));
        let obeyed = !forced_calls.is_empty() && forced_calls.iter().all(|c| c.name == "note");
        let way = self.checked.learnt.known(LearntKey::NamedToolChoice);
        let narrowed =
            way.is_some_and(|w| w != json!("named")) || self.checked.protocol == Protocol::Ollama;
        let line = match (obeyed, narrowed, forced) {
            (true, false, _) => (Verdict::Works, "Works by name".to_owned(), None),
            (true, true, _) => {
                (Verdict::Works, "Works by offering one tool at a time".to_owned(), None)
            }
            (false, _, Err(e)) => {
                (Verdict::Fails, format!("The request failed: {}", plain(e)), None)
            }
            (false, _, Ok(_)) => (
                Verdict::Limited,
                "Does not always call the tool it is told to call".to_owned(),
                Some("Searches are made without it then, so answers still rest on evidence."),
            ),
        };
        self.add((CheckItem::ForcedTool, line.0, line.1, line.2));
    }

    async fn json(&mut self) -> Result<(), Error> {
        let schema = json!({
            "type": "object", "additionalProperties": false, "required": ["place", "hour"],
            "properties": {"place": {"type": "string"}, "hour": {"type": "integer"}},
        });
        let shape = ResponseFormat::JsonSchema { name: "opening".into(), schema, strict: false };
        let req = ChatRequest {
            response_format: shape,
            max_output: Some(2_000),
            ..ChatRequest::new(
                "check_json",
                vec![Message::user(
                    "The harbour office opens at nine. Give a JSON object with the fields \"place\" \
                 (text) and \"hour\" (whole number).",
                )],
            )
        };
        let reply = self.ask(req, &mut ()).await?;
        let fits = |text: &str| {
            read_object(text).is_some_and(|v| v["place"].is_string() && v["hour"].is_number())
        };
        let line = match reply {
            Ok(reply) if fits(&reply.text) => (Verdict::Works, self.json_way().to_owned(), None),
            Ok(reply) if read_object(&reply.text).is_some() => (
                Verdict::Limited,
                "Gives JSON, but not of the shape that was asked for".to_owned(),
                Some("Structured output may fail now and then. A larger model usually helps."),
            ),
            Ok(_) => (
                Verdict::Fails,
                "Does not give readable JSON".to_owned(),
                Some("Choose a larger model, or a server that can bind answers to a schema."),
            ),
            Err(e) => (Verdict::Fails, format!("The request failed: {}", plain(&e)), None),
        };
        self.add((CheckItem::Json, line.0, line.1, line.2));
        Ok(())
    }

    fn json_way(&self) -> &'static str {
        let refused = self.checked.learnt.known(LearntKey::ResponseFormat).unwrap_or_default();
        let holds = |word: &str| {
            refused.as_array().is_some_and(|l| l.iter().any(|w| w.as_str() == Some(word)))
        };
        match (holds("json_schema"), holds("json_object")) {
            (false, _) => "Works with a schema",
            (true, false) => "Works as an object; the schema is asked for in words",
            (true, true) => "Works when asked for in words",
        }
    }

    async fn streaming_and_speed(&mut self) -> Result<(), Error> {
        let timer = self.checked.timer;
        let start = timer.now();
        let mut watch = Watch { timer, first: None, pieces: 0, letters: 0 };
        let req = ChatRequest {
            max_output: Some(600),
            ..ChatRequest::new(
                "check_speed",
                vec![Message::user(
                    "Describe a small harbour on a quiet morning in about one hundred words.",
                )],
            )
        };
        let reply = self.ask(req, &mut watch).await?;
        let end = timer.now();
        let reply = match reply {
            Ok(reply) => reply,
            Err(e) => {
                let words = format!("The request failed: {}", plain(&e));
                self.add((CheckItem::Streaming, Verdict::Fails, words, None));
                return self.context().await;
            }
        };
        let first = watch.first.unwrap_or(end).saturating_sub(start);
        self.report.first_words_ms = Some(millis(first));
        let streamed = watch.pieces > 1;
        self.add(if streamed {
            let words = format!("Works. First words after {}", seconds(first));
            (CheckItem::Streaming, Verdict::Works, words, None)
        } else {
            let words = format!("Answers come in one piece, after {}", seconds(first));
            let remedy = "Nothing is lost by it; progress shows less.";
            (CheckItem::Streaming, Verdict::Limited, words, Some(remedy))
        });
        self.context().await?;
        let wrote = reply.usage.map(|u| u.output_tokens).filter(|n| *n > 0);
        // Four letters a token is the usual rule of thumb where nothing is reported.
        let tokens = wrote.unwrap_or(watch.letters / 4);
        let writing = if streamed { end.saturating_sub(start + first) } else { first };
        self.speed(tokens, writing);
        Ok(())
    }

    fn speed(&mut self, tokens: u32, writing: Duration) {
        let rate = u64::from(tokens) * 1_000 / u64::from(millis(writing).max(1));
        let rate = u32::try_from(rate).unwrap_or(u32::MAX);
        if rate == 0 {
            let words = "Fewer than one token a second".to_owned();
            let remedy = "Choose a smaller model, or a machine with more memory.";
            self.add((CheckItem::Speed, Verdict::Limited, words, Some(remedy)));
            return;
        }
        self.report.tokens_per_second = Some(rate);
        let refresh = Duration::from_secs(u64::from(REFRESH_TOKENS / rate).max(1));
        let words = format!(
            "{} {} a second, a refresh takes about {}",
            thousands(rate),
            if rate == 1 { "token" } else { "tokens" },
            duration(refresh)
        );
        let slow = rate < 5;
        let remedy = slow.then_some("Refreshes run in the background. A smaller model is quicker.");
        let verdict = if slow { Verdict::Limited } else { Verdict::Works };
        self.add((CheckItem::Speed, verdict, words, remedy));
    }

    async fn context(&mut self) -> Result<(), Error> {
        let told = match self.checked.provider.window(self.cancel).await {
            Ok(window) => window,
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(_) => crate::Window::default(),
        };
        let loaded = told.loaded.or(self.checked.provider.caps().window);
        (self.report.window, self.report.window_max) = (loaded, told.max);
        let Some(loaded) = loaded else { return self.probe_context().await };
        if told.loaded.is_some() {
            self.checked.learnt.learn(LearntKey::Window, json!(loaded), "the set-up check");
        }
        if let Some(asked) =
            told.asked.filter(|a| loaded < *a && told.max.is_none_or(|m| loaded < m))
        {
            let words = format!(
                "{} tokens were asked for, only {} are loaded",
                thousands(asked),
                thousands(loaded)
            );
            let remedy = "The server gives less than it is asked for, usually because memory is \
                          short. Choose a smaller model, or free some memory, then check again.";
            self.add((CheckItem::Context, Verdict::Limited, words, Some(remedy)));
            return Ok(());
        }
        let words = match told.max.filter(|max| *max > loaded) {
            Some(max) => format!(
                "{} tokens are loaded; the model can hold {}",
                thousands(loaded),
                thousands(max)
            ),
            None => format!("{} tokens", thousands(loaded)),
        };
        if loaded >= COMFORTABLE_WINDOW {
            self.add((CheckItem::Context, Verdict::Works, words, None));
            return Ok(());
        }
        let remedy = longer_context(self.checked.protocol);
        self.add((CheckItem::Context, Verdict::Limited, words, Some(remedy)));
        let better = told.max.unwrap_or(COMFORTABLE_WINDOW).max(COMFORTABLE_WINDOW);
        self.report.advice = Some(format!(
            "With {} tokens a refresh reads about {} facts at a time instead of {}. {remedy}",
            thousands(loaded),
            facts(loaded),
            facts(better),
        ));
        Ok(())
    }

    /// Sends a long prompt to an endpoint that does not tell its window: each word of it is one
    /// token in the common tokenizers, so what is reported shows whether it was cut.
    async fn probe_context(&mut self) -> Result<(), Error> {
        let filler = " harbour".repeat(PROBE_WORDS as usize);
        let req = ChatRequest {
            max_output: Some(16),
            ..ChatRequest::new(
                "check_context",
                vec![Message::user(format!(
                    "Answer with the word yes. What follows has no meaning:{filler}"
                ))],
            )
        };
        let remedy = Some(longer_context(self.checked.protocol));
        let sent = thousands(PROBE_WORDS);
        let line = match self.ask(req, &mut ()).await? {
            Ok(reply) => match reply.usage.map_or(0, |u| u.input_tokens) {
                0 => {
                    let words = "Not stated, and the endpoint reports no token counts".to_owned();
                    (Verdict::Unknown, words, Some("Enter the size in the endpoint's settings."))
                }
                got if got < PROBE_WORDS / 10 * 7 => {
                    let got = thousands(got);
                    (Verdict::Fails, format!("Read only {got} of about {sent} tokens"), remedy)
                }
                _ => {
                    let words = format!("Not stated; a prompt of {sent} tokens was read whole");
                    (Verdict::Works, words, Some("Enter the size in the endpoint's settings."))
                }
            },
            Err(e) if e.class() == Class::Overflow => {
                (Verdict::Fails, format!("A prompt of {sent} tokens does not fit"), remedy)
            }
            Err(e) => (Verdict::Unknown, format!("The request failed: {}", plain(&e)), None),
        };
        self.add((CheckItem::Context, line.0, line.1, line.2));
        Ok(())
    }
}

type Line = (CheckItem, Verdict, String, Option<&'static str>);

fn longer_context(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Ollama => "Set a longer context in the endpoint's settings, then check again.",
        Protocol::OpenAi => {
            "Set a longer context where the model is served (LM Studio: Context Length, llama.cpp: \
             -c, vLLM: --max-model-len), then check again."
        }
        Protocol::Anthropic => "Choose a model with a longer context.",
    }
}

/// Facts that fit beside the reply, to one digit.
fn facts(window: u32) -> String {
    let room = window - (window / 4).min(8_192);
    thousands(one_digit(room / FACT_TOKENS))
}

/// Errors that every further request would meet too.
fn spoils_everything(e: &Error) -> bool {
    matches!(
        e.class(),
        Class::Auth
            | Class::RateLimited
            | Class::Unreachable
            | Class::Timeout
            | Class::UnknownModel
            | Class::Setup
            | Class::Cancelled
    )
}

fn connection(e: &Error) -> Line {
    let remedy = match e.class() {
        Class::Auth => "Check the key.",
        Class::RateLimited => "Wait, then check again, or use another model.",
        Class::Unreachable => "Check that the server runs and that the address is right.",
        Class::Timeout => "Raise the limit for one call in the settings, or use a quicker model.",
        Class::UnknownModel => "Choose one of the models that the endpoint offers.",
        _ => "Check the settings of this endpoint.",
    };
    (CheckItem::Connection, Verdict::Fails, plain(e), Some(remedy))
}

/// An error as a sentence without protocol words where they would not help: numbers of the
/// operating system and layers of the client say nothing to a person.
fn plain(e: &Error) -> String {
    match e {
        Error::Unreachable { endpoint, refused: true, .. } => {
            format!("Nothing answers at {endpoint}")
        }
        Error::Unreachable { endpoint, .. } => {
            format!("The connection to {endpoint} broke before there was an answer")
        }
        Error::CutOff { endpoint, .. } => format!("The reply of {endpoint} broke off"),
        Error::Setup { endpoint, .. } => {
            format!("No secure connection to {endpoint} can be set up")
        }
        Error::Refused { answer, .. } | Error::Failed { answer, .. } => answer.to_string(),
        e => e.to_string(),
    }
}

fn look_up() -> Tool {
    Tool {
        name: "look_up".into(),
        description: "Looks something up in the town directory.".into(),
        parameters: json!({
            "type": "object", "required": ["query"],
            "properties": {"query": {"type": "string", "description": "What to look up"}},
        }),
    }
}

fn note() -> Tool {
    Tool {
        name: "note".into(),
        description: "Writes one fact down.".into(),
        parameters: json!({
            "type": "object", "required": ["text"],
            "properties": {"text": {"type": "string", "description": "The fact"}},
        }),
    }
}

fn is_well_formed(call: &ToolCall) -> bool {
    let needed = match call.name.as_str() {
        "look_up" => "query",
        "note" => "text",
        _ => return false,
    };
    let value = call.arguments.as_ref().and_then(|a| a.get(needed)).and_then(Value::as_str);
    value.is_some_and(|text| !text.trim().is_empty())
}

/// The object in a text, with or without a fence or words around it.
fn read_object(text: &str) -> Option<Value> {
    let span = text.get(text.find('{')?..=text.rfind('}')?)?;
    serde_json::from_str::<Value>(span).ok().filter(Value::is_object)
}

fn number(n: usize, capital: bool) -> String {
    const WORDS: [&str; 5] = ["none", "one", "two", "three", "four"];
    let word = WORDS.get(n).map_or_else(|| n.to_string(), |w| (*w).to_owned());
    if !capital {
        return word;
    }
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn millis(time: Duration) -> u32 {
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX)
}

/// Times the pieces of a reply.
struct Watch<'a> {
    timer: &'a dyn Timer,
    first: Option<Duration>,
    pieces: u32,
    letters: u32,
}

impl ChatSink for Watch<'_> {
    fn take(&mut self, event: ChatEvent<'_>) {
        match event {
            ChatEvent::Text(text) | ChatEvent::Reasoning(text) => {
                self.first.get_or_insert_with(|| self.timer.now());
                self.pieces += 1;
                let letters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
                self.letters = self.letters.saturating_add(letters);
            }
            ChatEvent::Restarted => (self.first, self.pieces, self.letters) = (None, 0, 0),
            _ => {}
        }
    }
}
