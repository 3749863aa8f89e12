//! Makes a provider fit its endpoint: leaves out what was refused, one step at a time, and
//! remembers it; notices a prompt that was cut without a word; asks once more with thinking
//! switched the other way when a reply is all reasoning and no answer.

use crate::address::Protocol;
use crate::chat::{ChatReply, ChatRequest, Finish, Message, Thinking};
use crate::error::{Answer, Error};
use crate::learnt::{Learnt, LearntKey};
use crate::steps::{Down, Steps};
use crate::window::{self, Window};
use crate::{Caps, ChatEvent, ChatSink, Provider};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A provider that learns what its endpoint takes.
pub struct Adapting<P> {
    inner: P,
    endpoint: String,
    protocol: Protocol,
    learnt: Arc<dyn Learnt>,
}

impl<P: Provider> Adapting<P> {
    /// Wraps a provider. `endpoint` is its address as it may be shown.
    pub fn new(inner: P, endpoint: impl Into<String>, learnt: Arc<dyn Learnt>) -> Self {
        Self { inner, endpoint: endpoint.into(), protocol: Protocol::OpenAi, learnt }
    }

    /// With another wire format than OpenAI's.
    #[must_use]
    pub fn speaking(mut self, protocol: Protocol) -> Self {
        self.protocol = protocol;
        self
    }

    /// Sends, stepping down until it is accepted. Returns the request as it was accepted too.
    async fn fitted(
        &self,
        req: &ChatRequest,
        steps: &mut Steps,
        out: &mut dyn ChatSink,
        cancel: &CancellationToken,
    ) -> Result<(ChatRequest, ChatReply), Error> {
        let mut guesses: Vec<(Down, String)> = Vec::new();
        let mut waited = req.waited;
        loop {
            // Only the first of these requests was held back.
            let sent = ChatRequest { waited: std::mem::take(&mut waited), ..steps.apply(req) };
            let error = match self.inner.chat(sent.clone(), out, cancel).await {
                Ok(reply) => {
                    for (down, evidence) in guesses {
                        self.learnt.learn(down.key, down.value, &evidence);
                    }
                    return Ok((sent, reply));
                }
                Err(error) => error,
            };
            if matches!(error, Error::ToolsUnsupported { .. }) {
                self.learnt.learn(LearntKey::ToolCalls, json!(false), &error.to_string());
            }
            if let Error::Overflow { answer, .. } = &error {
                self.note_window(answer, &error);
            }
            let Some(down) = steps.down(&sent, &error) else { return Err(error) };
            let evidence = error.to_string();
            if down.certain {
                self.learnt.learn(down.key, down.value, &evidence);
            } else {
                guesses.push((down, evidence));
            }
            out.take(ChatEvent::Restarted);
        }
    }

    /// A refusal that names the size of the window: the next request is made to fit. Only ever
    /// downwards, since a larger size is for the set-up check to find.
    fn note_window(&self, answer: &Answer, error: &Error) {
        let Some(size) = window::in_refusal(answer) else { return };
        if self.caps().window.is_none_or(|known| size < known) {
            self.learnt.learn(LearntKey::Window, json!(size), &error.to_string());
        }
    }

    /// The reply after switching thinking, if that gives one. `cut` tells that the first reply
    /// reached its output limit while it reasoned, which says nothing about the model.
    async fn switched(
        &self,
        req: &ChatRequest,
        steps: &Steps,
        (thinking, cut): (Thinking, bool),
        out: &mut dyn ChatSink,
        cancel: &CancellationToken,
    ) -> Result<Option<ChatReply>, Error> {
        let mut req = steps.apply(req);
        req.thinking = thinking;
        req.waited = Duration::ZERO;
        out.take(ChatEvent::Restarted);
        // What is known about thinking must not overrule the try.
        let reply = match self.inner.chat(req, out, cancel).await {
            Ok(reply) => reply,
            Err(Error::Refused { .. }) => {
                let why = "the switch for thinking was refused";
                self.learnt.learn(LearntKey::Thinking, json!("unsupported"), why);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        if reply.is_empty() {
            return Ok(None);
        }
        if cut {
            return Ok(Some(reply));
        }
        let word = if thinking == Thinking::On { "on" } else { "off" };
        let why = "the reply was empty with thinking the other way";
        self.learnt.learn(LearntKey::Thinking, json!(word), why);
        Ok(Some(reply))
    }

    fn checked(&self, req: &ChatRequest, reply: ChatReply) -> Result<ChatReply, Error> {
        let got = reply.usage.map_or(0, |u| u.input_tokens);
        if let Some(sent) = req.prompt_tokens
            && is_short_read(sent, got, &req.messages)
        {
            let endpoint = self.endpoint.clone();
            return Err(Error::PromptTruncated { endpoint, got, sent, protocol: self.protocol });
        }
        let known = self.learnt.known(LearntKey::ToolCalls);
        if !reply.calls.is_empty() && known != Some(json!(true)) {
            self.learnt.learn(LearntKey::ToolCalls, json!(true), "a reply held a tool call");
        }
        Ok(reply)
    }
}

/// Prompts below this many tokens fit every window there is, and their counts differ most.
const SMALL_PROMPT: u32 = 1_500;

/// Whether the endpoint read far fewer tokens than were sent: below 70 % by our count. A prompt in
/// scripts that tokenizers count very differently (our tokenizer needs up to twice as many tokens
/// for Chinese as the models made for it) is only suspect below 35 %. A report of nothing says
/// nothing.
pub(crate) fn is_short_read(sent: u32, got: u32, messages: &[Message]) -> bool {
    if got == 0 || sent < SMALL_PROMPT {
        return false;
    }
    let (mut all, mut wide) = (0_usize, 0_usize);
    for message in messages {
        let text = match message {
            Message::System { text } | Message::User { text } => text,
            Message::Assistant(turn) => &turn.text,
            Message::Tool(result) => &result.text,
        };
        all += text.chars().count();
        // From here on: letters beyond Latin, Greek and Cyrillic.
        wide += text.chars().filter(|c| *c >= '\u{0530}').count();
    }
    let percent = if wide * 5 > all { 35 } else { 70 };
    u64::from(got) * 100 < u64::from(sent) * percent
}

#[async_trait]
impl<P: Provider> Provider for Adapting<P> {
    fn caps(&self) -> Caps {
        let own = self.inner.caps();
        let window = self.learnt.known(LearntKey::Window).as_ref().and_then(Value::as_u64);
        let window = window.and_then(|n| u32::try_from(n).ok());
        Caps {
            tools: own.tools && self.learnt.known(LearntKey::ToolCalls) != Some(json!(false)),
            json_schema: own.json_schema && Steps::load(&*self.learnt).takes_schema(),
            streaming: own.streaming,
            // What was learnt bounds what was stated.
            window: own.window.into_iter().chain(window).min(),
        }
    }

    async fn chat(
        &self,
        req: ChatRequest,
        out: &mut dyn ChatSink,
        cancel: &CancellationToken,
    ) -> Result<ChatReply, Error> {
        let mut steps = Steps::load(&*self.learnt);
        let (sent, reply) = self.fitted(&req, &mut steps, out, cancel).await?;
        let reply = self.checked(&req, reply)?;
        if !reply.is_empty() {
            return Ok(reply);
        }
        let reasoned = !reply.reasoning.is_empty();
        let Some(other) = steps.other_thinking(&sent, reasoned) else { return Ok(reply) };
        let cut = reply.finish == Finish::Length;
        match self.switched(&req, &steps, (other, cut), out, cancel).await? {
            Some(better) => self.checked(&req, better),
            None => Ok(reply),
        }
    }

    async fn list_models(&self, cancel: &CancellationToken) -> Result<Vec<String>, Error> {
        self.inner.list_models(cancel).await
    }

    async fn window(&self, cancel: &CancellationToken) -> Result<Window, Error> {
        self.inner.window(cancel).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Class;
    use crate::learnt::Remembered;
    use crate::scripted::{Scripted, Step};
    use crate::{ResponseFormat, Tool, ToolChoice, Usage};

    fn refused(message: &str) -> Step {
        let answer = Answer { status: 400, message: message.into(), ..Answer::default() };
        Step::error(Error::Refused { endpoint: "e".into(), answer: Box::new(answer) })
    }

    fn tool(name: &str) -> Tool {
        Tool { name: name.into(), description: String::new(), parameters: json!({}) }
    }

    fn forced() -> ChatRequest {
        ChatRequest {
            tools: vec![tool("recall"), tool("done")],
            tool_choice: ToolChoice::Named("recall".into()),
            ..ChatRequest::new("t", vec![Message::user("?")])
        }
    }

    fn shaped(strict: bool) -> ChatRequest {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        let response_format = ResponseFormat::JsonSchema { name: "x".into(), schema, strict };
        ChatRequest { response_format, ..ChatRequest::new("t", vec![Message::user("?")]) }
    }

    struct Trial {
        script: Scripted,
        learnt: Arc<Remembered>,
        provider: Adapting<Scripted>,
    }

    impl Trial {
        fn new(steps: impl IntoIterator<Item = Step>) -> Self {
            let script = Scripted::new(steps);
            let learnt = Arc::new(Remembered::default());
            let provider =
                Adapting::new(script.clone(), "e", Arc::clone(&learnt) as Arc<dyn Learnt>);
            Self { script, learnt, provider }
        }

        async fn ask(&self, req: ChatRequest) -> Result<ChatReply, Error> {
            self.provider.chat(req, &mut (), &CancellationToken::new()).await
        }

        fn formats(&self) -> Vec<&'static str> {
            let word = |r: &ChatRequest| match &r.response_format {
                ResponseFormat::Text => "text",
                ResponseFormat::JsonObject => "object",
                ResponseFormat::JsonSchema { strict: true, .. } => "strict schema",
                ResponseFormat::JsonSchema { .. } => "schema",
            };
            self.script.requests().iter().map(word).collect()
        }
    }

    #[tokio::test]
    async fn a_refused_named_choice_is_narrowed_step_by_step_and_remembered() {
        let trial = Trial::new([
            refused("unsupported tool_choice"),
            refused("tool_choice must be auto"),
            Step::call("recall", json!({})),
            Step::call("recall", json!({})),
        ]);
        trial.ask(forced()).await.unwrap();
        trial.ask(forced()).await.unwrap();
        let sent: Vec<(ToolChoice, usize)> =
            trial.script.requests().into_iter().map(|r| (r.tool_choice, r.tools.len())).collect();
        assert_eq!(
            sent,
            [
                (ToolChoice::Named("recall".into()), 2),
                (ToolChoice::Required, 1),
                (ToolChoice::Auto, 1),
                (ToolChoice::Auto, 1),
            ]
        );
        assert_eq!(trial.learnt.known(LearntKey::NamedToolChoice), Some(json!("narrowed")));
        let entries = trial.learnt.entries();
        assert!(entries[0].2.contains("tool_choice must be auto"), "{entries:?}");
    }

    #[tokio::test]
    async fn a_schema_steps_down_to_an_object_and_to_words() {
        let trial = Trial::new([
            refused("response_format json_schema is not available"),
            refused("'response_format.type' must be 'json_schema' or 'text'"),
            Step::text("{}"),
            Step::text("{}"),
        ]);
        trial.ask(shaped(false)).await.unwrap();
        trial.ask(shaped(false)).await.unwrap();
        assert_eq!(trial.formats(), ["schema", "object", "text", "text"]);
        for request in &trial.script.requests()[1..] {
            let Message::System { text } = &request.messages[0] else { panic!() };
            assert!(text.contains("\"properties\""), "{text}");
        }
        let refused = trial.learnt.known(LearntKey::ResponseFormat);
        assert_eq!(refused, Some(json!(["json_schema", "json_object"])));
        assert!(!trial.provider.caps().json_schema);
    }

    #[tokio::test]
    async fn an_endpoint_that_knows_only_schemas_keeps_them() {
        let object = ChatRequest { response_format: ResponseFormat::JsonObject, ..shaped(false) };
        let trial = Trial::new([
            refused("'response_format.type' must be 'json_schema' or 'text'"),
            Step::text("{}"),
            Step::text("{}"),
        ]);
        trial.ask(object).await.unwrap();
        trial.ask(shaped(false)).await.unwrap();
        assert_eq!(trial.formats(), ["object", "text", "schema"]);
    }

    #[tokio::test]
    async fn strictness_goes_before_the_schema() {
        let trial = Trial::new([refused("unknown field strict in json_schema"), Step::text("{}")]);
        trial.ask(shaped(true)).await.unwrap();
        assert_eq!(trial.formats(), ["strict schema", "schema"]);
        assert_eq!(trial.learnt.known(LearntKey::Strict), Some(json!(false)));
    }

    #[tokio::test]
    async fn a_refusal_without_words_is_guessed_and_learnt_only_if_it_helped() {
        let helped = Trial::new([refused("Bad Request"), Step::call("recall", json!({}))]);
        helped.ask(forced()).await.unwrap();
        let learnt = helped.learnt.known(LearntKey::NamedToolChoice);
        assert_eq!(learnt, Some(json!("narrowed_required")));

        let plain = ChatRequest::new("t", vec![]);
        let other = Trial::new([refused("messages must not be empty")]);
        assert_eq!(other.ask(plain).await.unwrap_err().class(), Class::Refused);

        let useless = Trial::new((0..3).map(|_| refused("Bad Request")));
        let result = useless.ask(forced()).await;
        assert_eq!(result.unwrap_err().class(), Class::Refused);
        assert!(useless.learnt.entries().is_empty());
        useless.script.assert_used_up();
    }

    #[tokio::test]
    async fn other_fields_are_left_out_when_they_are_named() {
        let trial = Trial::new([
            refused("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
            refused("Unsupported value: 'temperature' does not support 0.3"),
            refused("stream_options is not permitted"),
            Step::text("ok"),
        ]);
        let req = ChatRequest {
            temperature: Some(0.3),
            max_output: Some(9),
            ..ChatRequest::new("t", vec![Message::user("?")])
        };
        trial.ask(req).await.unwrap();
        let last = trial.script.requests().pop().unwrap();
        assert_eq!(last.temperature, None);
        assert_eq!(
            Value::Object(last.extra_body),
            json!({"max_tokens": null, "max_completion_tokens": 9, "stream_options": null})
        );
        let fields = trial.learnt.known(LearntKey::RequestFields);
        assert_eq!(fields, Some(json!(["stream_options", "max_tokens", "temperature"])));
    }

    #[tokio::test]
    async fn a_refusal_by_the_model_is_no_dialect() {
        let answer = Answer { status: 200, message: "I will not".into(), ..Answer::default() };
        let error = Error::Refused { endpoint: "e".into(), answer: Box::new(answer) };
        let trial = Trial::new([Step::error(error)]);
        assert_eq!(trial.ask(forced()).await.unwrap_err().class(), Class::Refused);
    }

    fn only_reasoning() -> Step {
        Step::reply(ChatReply { reasoning: "plan".into(), ..ChatReply::default() })
    }

    #[tokio::test]
    async fn all_reasoning_and_no_answer_is_asked_once_more_the_other_way() {
        let trial = Trial::new([only_reasoning(), Step::text("Yes"), Step::text("Yes")]);
        let req = || ChatRequest::new("t", vec![Message::user("?")]);
        assert_eq!(trial.ask(req()).await.unwrap().text, "Yes");
        assert_eq!(trial.learnt.known(LearntKey::Thinking), Some(json!("off")));
        trial.ask(req()).await.unwrap();
        let sent: Vec<Thinking> = trial.script.requests().iter().map(|r| r.thinking).collect();
        assert_eq!(sent, [Thinking::Default, Thinking::Off, Thinking::Off]);
    }

    #[tokio::test]
    async fn empty_with_thinking_off_is_asked_once_more_with_it_on() {
        let trial = Trial::new([Step::text(""), Step::text("Yes")]);
        let req = ChatRequest {
            thinking: Thinking::Off,
            ..ChatRequest::new("t", vec![Message::user("?")])
        };
        assert_eq!(trial.ask(req).await.unwrap().text, "Yes");
        assert_eq!(trial.learnt.known(LearntKey::Thinking), Some(json!("on")));

        let never = Trial::new([only_reasoning(), only_reasoning()]);
        let req = ChatRequest::new("t", vec![Message::user("?")]);
        assert!(never.ask(req).await.unwrap().is_empty());
        assert!(never.learnt.entries().is_empty());
    }

    #[tokio::test]
    async fn reasoning_that_hit_the_output_limit_teaches_nothing() {
        let cut =
            ChatReply { reasoning: "plan".into(), finish: Finish::Length, ..ChatReply::default() };
        let trial = Trial::new([Step::reply(cut), Step::text("Yes")]);
        let req = ChatRequest::new("t", vec![Message::user("?")]);
        assert_eq!(trial.ask(req).await.unwrap().text, "Yes");
        assert!(trial.learnt.entries().is_empty());
    }

    #[tokio::test]
    async fn a_refused_switch_gives_the_first_reply_back() {
        let trial = Trial::new([only_reasoning(), refused("unknown field reasoning_effort")]);
        let req = ChatRequest::new("t", vec![Message::user("?")]);
        assert_eq!(trial.ask(req).await.unwrap().reasoning, "plan");
        assert_eq!(trial.learnt.known(LearntKey::Thinking), Some(json!("unsupported")));
    }

    #[tokio::test]
    async fn a_cut_prompt_is_noticed() {
        let read = |n| Some(Usage { input_tokens: n, ..Usage::default() });
        let req = |sent, text: &str| ChatRequest {
            prompt_tokens: Some(sent),
            ..ChatRequest::new("t", vec![Message::user(text)])
        };
        let trial = Trial::new([Step::text("No idea.").using(read(2_051))]);
        let error = trial.ask(req(15_700, "facts")).await.unwrap_err();
        assert_eq!(error.to_string(), "e read only 2051 of about 15700 tokens");
        for (usage, sent, text) in [
            (read(11_000), 15_700, "facts"),
            (read(0), 15_700, "facts"),
            (None, 15_700, "facts"),
            (read(100), 400, "facts"),
            (read(8_000), 15_700, "渡轮每天六点出发"),
        ] {
            let trial = Trial::new([Step::text("Yes").using(usage)]);
            assert!(trial.ask(req(sent, text)).await.is_ok(), "{usage:?} {text}");
        }
        let trial = Trial::new([Step::text("x").using(read(2_051))]);
        assert!(trial.ask(req(15_700, "渡轮每天六点出发")).await.is_err());
    }

    #[tokio::test]
    async fn whether_tools_work_is_remembered() {
        let error = Error::ToolsUnsupported {
            endpoint: "e".into(),
            llm: "m".into(),
            answer: Box::default(),
        };
        let trial = Trial::new([Step::error(error), Step::call("recall", json!({}))]);
        assert_eq!(trial.ask(forced()).await.unwrap_err().class(), Class::ToolsUnsupported);
        assert!(!trial.provider.caps().tools);
        trial.ask(forced()).await.unwrap();
        assert!(trial.provider.caps().tools);
    }
}
