//! A provider for tests: replays a list of replies and faults and records every request. It never
//! opens a socket, and it panics when it is asked for more than its list holds, since a test that
//! runs past its script is a test whose author was wrong about the program.
//!
//! ```
//! use llm::scripted::{Scripted, Step};
//! use serde_json::json;
//! let model = Scripted::new([
//!     Step::call("recall", json!({"query": "ferry"})),
//!     Step::text("The ferry leaves at six."),
//! ]);
//! # let _ = model;
//! ```

use crate::{
    Caps, ChatEvent, ChatReply, ChatRequest, ChatSink, Error, Finish, Provider, ToolCall, Usage,
};
use async_trait::async_trait;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

type Answerer = Box<dyn FnOnce(&ChatRequest) -> Result<ChatReply, Error> + Send>;

/// One entry of a script.
pub struct Step {
    answer: Answerer,
    hold: Option<Hold>,
}

impl Step {
    /// Answers with whatever `answer` makes of the request. Assertions about the request fit here.
    pub fn with(
        answer: impl FnOnce(&ChatRequest) -> Result<ChatReply, Error> + Send + 'static,
    ) -> Self {
        Self { answer: Box::new(answer), hold: None }
    }

    /// Answers with this reply, untouched.
    pub fn reply(reply: ChatReply) -> Self {
        Self::with(move |_| Ok(reply))
    }

    /// Answers with text and no call. The prompt is reported as large as the request says it is.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::with(move |req| {
            Ok(ChatReply { raw: text.clone(), text, usage: usage(req), ..ChatReply::default() })
        })
    }

    /// Answers with text that the output limit cut off.
    pub fn cut_text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::with(move |req| {
            Ok(ChatReply {
                raw: text.clone(),
                text,
                finish: Finish::Length,
                finish_raw: Some("length".to_owned()),
                usage: usage(req),
                ..ChatReply::default()
            })
        })
    }

    /// Answers with JSON as text.
    pub fn json(value: &Value) -> Self {
        Self::text(value.to_string())
    }

    /// Answers with one tool call.
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::calls([(name, arguments)])
    }

    /// Answers with several tool calls. Their ids are `s<turn>_<index>`, so they are unique in the
    /// run. A string as arguments stands for arguments that are not JSON.
    pub fn calls<'a>(calls: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        let calls: Vec<(String, Value)> =
            calls.into_iter().map(|(name, args)| (name.to_owned(), args)).collect();
        Self::with(move |req| {
            let turn = req.messages.len();
            let calls: Vec<ToolCall> = calls
                .iter()
                .enumerate()
                .map(|(i, (name, args))| {
                    let mut call = ToolCall::new(format!("s{turn}_{i}"), name, args);
                    if let Value::String(text) = args {
                        call.raw.clone_from(text);
                    }
                    call
                })
                .collect();
            let raw = format!("{calls:?}");
            Ok(ChatReply {
                calls,
                finish: Finish::ToolCalls,
                usage: usage(req),
                raw,
                ..ChatReply::default()
            })
        })
    }

    /// Fails with this error.
    pub fn error(error: Error) -> Self {
        Self::with(move |_| Err(error))
    }

    /// Answers only after the hold is released; cancelling ends the wait.
    pub fn held_by(mut self, hold: &Hold) -> Self {
        self.hold = Some(hold.clone());
        self
    }

    /// Reports these counts instead of the made-up ones, if the step replies at all.
    pub fn using(self, usage: Option<Usage>) -> Self {
        let Self { answer, hold } = self;
        Self {
            answer: Box::new(move |req| answer(req).map(|reply| ChatReply { usage, ..reply })),
            hold,
        }
    }
}

/// Counts that a script reports where it does not care.
#[expect(clippy::unnecessary_wraps, reason = "it fills an optional field")]
fn usage(req: &ChatRequest) -> Option<Usage> {
    let input_tokens = req.prompt_tokens.unwrap_or(100);
    Some(Usage { input_tokens, output_tokens: 10, cached_tokens: 0, thoughts_tokens: 0 })
}

/// A barrier in a script, in place of a delay: the test waits until the request has arrived, does
/// what it wants to happen meanwhile, and lets the reply go.
#[derive(Clone)]
pub struct Hold {
    arrived: Arc<Semaphore>,
    released: Arc<Semaphore>,
}

impl Default for Hold {
    fn default() -> Self {
        Self { arrived: Arc::new(Semaphore::new(0)), released: Arc::new(Semaphore::new(0)) }
    }
}

impl Hold {
    /// Waits until one held step has been asked for.
    pub async fn arrived(&self) {
        if let Ok(permit) = self.arrived.acquire().await {
            permit.forget();
        }
    }

    /// Lets one held step answer.
    pub fn release(&self) {
        self.released.add_permits(1);
    }

    /// What a held step does: says that it has arrived and waits to be let go.
    pub async fn pass(&self) {
        self.arrived.add_permits(1);
        if let Ok(permit) = self.released.acquire().await {
            permit.forget();
        }
    }
}

#[derive(Default)]
struct Inner {
    steps: VecDeque<Step>,
    by_scope: HashMap<String, VecDeque<Step>>,
    requests: Vec<ChatRequest>,
    caps: Caps,
}

/// The scripted provider. Clones share one script, so a test can keep a handle.
#[derive(Clone, Default)]
pub struct Scripted {
    inner: Arc<Mutex<Inner>>,
}

impl Scripted {
    /// A provider that answers with these steps, in order.
    pub fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        let scripted = Self::default();
        scripted.lock().steps = steps.into_iter().collect();
        scripted
    }

    /// Adds a step at the end.
    pub fn push(&self, step: Step) {
        self.lock().steps.push_back(step);
    }

    /// Adds a step that only a request of this scope takes, ahead of the common list. For calls
    /// that run side by side, whose order a test cannot know.
    pub fn push_for(&self, scope: &str, step: Step) {
        self.lock().by_scope.entry(scope.to_owned()).or_default().push_back(step);
    }

    /// Sets what [`Provider::caps`] answers.
    pub fn set_caps(&self, caps: Caps) {
        self.lock().caps = caps;
    }

    /// The requests so far, in the order in which they came.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.lock().requests.clone()
    }

    /// Their scopes.
    pub fn scopes(&self) -> Vec<String> {
        self.lock().requests.iter().map(|r| r.scope.clone()).collect()
    }

    /// Number of steps that nobody has asked for.
    pub fn remaining(&self) -> usize {
        let inner = self.lock();
        inner.steps.len() + inner.by_scope.values().map(VecDeque::len).sum::<usize>()
    }

    /// Fails the test if part of the script was not used.
    ///
    /// # Panics
    /// If steps remain.
    #[track_caller]
    pub fn assert_used_up(&self) {
        let left = self.remaining();
        assert!(left == 0, "{left} steps of the script were not used; scopes: {:?}", self.scopes());
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self, req: &ChatRequest) -> Step {
        let mut inner = self.lock();
        inner.requests.push(req.clone());
        let own = inner.by_scope.get_mut(&req.scope).and_then(VecDeque::pop_front);
        let step = own.or_else(|| inner.steps.pop_front());
        let asked: Vec<&str> = inner.requests.iter().map(|r| r.scope.as_str()).collect();
        match step {
            Some(step) => step,
            None => panic!(
                "the script has run out at request {} (scopes so far: {asked:?}); last message: {:?}",
                asked.len(),
                req.messages.last()
            ),
        }
    }
}

#[async_trait]
impl Provider for Scripted {
    fn caps(&self) -> Caps {
        self.lock().caps
    }

    async fn chat(
        &self,
        req: ChatRequest,
        out: &mut dyn ChatSink,
        cancel: &CancellationToken,
    ) -> Result<ChatReply, Error> {
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let Step { answer, hold } = self.next(&req);
        out.take(ChatEvent::Sent(&format!("{:?}", req.messages)));
        if let Some(hold) = hold {
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(Error::Cancelled),
                () = hold.pass() => {}
            }
        }
        let reply = answer(&req)?;
        out.take(ChatEvent::Received(&reply.raw));
        if !reply.reasoning.is_empty() {
            out.take(ChatEvent::Reasoning(&reply.reasoning));
        }
        for piece in reply.text.split_inclusive(' ') {
            out.take(ChatEvent::Text(piece));
        }
        Ok(reply)
    }

    async fn list_models(&self, _cancel: &CancellationToken) -> Result<Vec<String>, Error> {
        Ok(vec!["scripted".to_owned()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use serde_json::json;

    fn ask(scope: &str) -> ChatRequest {
        ChatRequest::new(scope, vec![Message::user("When does the ferry leave?")])
    }

    #[tokio::test]
    async fn steps_are_replayed_in_order_and_requests_recorded() {
        let model = Scripted::new([
            Step::call("recall", json!({"query": "ferry"})),
            Step::text("At six.").using(None),
        ]);
        let cancel = CancellationToken::new();
        let first = model.chat(ask("agent_1"), &mut (), &cancel).await.unwrap();
        assert_eq!(first.calls[0].arguments.as_ref().unwrap()["query"], "ferry");
        let second = model.chat(ask("agent_2"), &mut (), &cancel).await.unwrap();
        assert_eq!((second.text.as_str(), second.usage), ("At six.", None));
        assert_eq!(model.scopes(), ["agent_1", "agent_2"]);
        model.assert_used_up();
    }

    #[tokio::test]
    async fn a_step_for_one_scope_waits_for_that_scope() {
        let model = Scripted::new([Step::text("common")]);
        model.push_for("final_map_2", Step::text("second part"));
        let cancel = CancellationToken::new();
        let common = model.chat(ask("final_map_1"), &mut (), &cancel).await.unwrap();
        let own = model.chat(ask("final_map_2"), &mut (), &cancel).await.unwrap();
        assert_eq!((common.text.as_str(), own.text.as_str()), ("common", "second part"));
    }

    #[tokio::test]
    #[should_panic(expected = "script has run out")]
    async fn asking_past_the_end_is_loud() {
        let model = Scripted::new([]);
        let _ = model.chat(ask("agent_1"), &mut (), &CancellationToken::new()).await;
    }

    #[tokio::test]
    async fn a_held_step_can_be_cancelled() {
        let hold = Hold::default();
        let model = Scripted::new([Step::text("late").held_by(&hold)]);
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let mut nowhere = ();
        let (reply, ()) = tokio::join!(model.chat(ask("agent_1"), &mut nowhere, &cancel), async {
            hold.arrived().await;
            stop.cancel();
        });
        assert!(matches!(reply, Err(Error::Cancelled)));
    }
}
