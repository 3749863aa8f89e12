//! The calls that edit a document: what is sent, how large it may be, how an answer is read, and the
//! one request for corrections. What an answer means for the document is not decided here.

use crate::Result;
use crate::events::EventSink;
use crate::models::refresh::course::Course;
use crate::models::refresh::plan::Plan;
use crate::reflect::Chosen;
use crate::reflect::caller::{Ask, Caller, NoReply};
use domain::delta::{OpResult, OpStatus};
use domain::document::Document;
use domain::evidence::context_limit;
use domain::tokens::{Cl100k, TokenCounter};
use domain::trace::LlmCallRecord;
use llm::{ChatReply, Message, Provider, ResponseFormat};
use serde_json::{Value, json};

/// Edits one document through one language model.
pub(super) struct Editor<'a> {
    pub(super) course: &'a Course<'a>,
    pub(super) plan: &'a Plan,
    caller: Caller<'a>,
    /// Tokens that a prompt may have.
    pub(super) limit: u32,
}

impl<'a> Editor<'a> {
    pub(super) fn new(
        course: &'a Course<'a>,
        plan: &'a Plan,
        chosen: Chosen,
        sink: &'a mut dyn EventSink,
    ) -> Self {
        let window = chosen.provider.caps().window;
        Self {
            course,
            plan,
            limit: context_limit(plan.settings.reflect_max_context_tokens, window),
            caller: Caller {
                engine: course.engine,
                provider: chosen.provider,
                sink,
                cancel: course.cancel.clone(),
                urgency: course.urgency(),
                calls: Vec::new(),
            },
        }
    }

    /// Every request so far.
    pub(super) fn calls(&self) -> &[LlmCallRecord] {
        &self.caller.calls
    }

    /// Sends a conversation. There is no limit on the answer: one could cut the edits in two.
    pub(super) async fn ask(
        &mut self,
        scope: &str,
        messages: &[Message],
    ) -> Result<ChatReply, NoReply> {
        self.course.check().map_err(NoReply::Ends)?;
        let tokens = messages.iter().map(size).sum();
        let format = format(self.caller.provider.as_ref());
        let ask = Ask { format, ..Ask::plain(scope, messages.to_vec(), tokens) };
        self.caller.ask(&ask).await
    }
}

fn size(message: &Message) -> u32 {
    match message {
        Message::System { text } | Message::User { text } => Cl100k.count(text),
        Message::Assistant(turn) => Cl100k.count(&turn.text),
        Message::Tool(_) => 0,
    }
}

/// The shape of an answer, for endpoints that can be held to one.
fn format(provider: &dyn Provider) -> ResponseFormat {
    if !provider.caps().json_schema {
        return ResponseFormat::JsonObject;
    }
    let handles = json!({ "type": "array", "items": { "type": "string" } });
    ResponseFormat::JsonSchema {
        name: "edits".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "operations": { "type": "array", "items": { "type": "object" } },
                "already_reflected": handles,
                "irrelevant": handles,
            },
            "required": ["operations"],
        }),
        strict: false,
    }
}

/// One line for an operation that did not fit, by its place in the answer.
pub(super) fn problem(index: u32, result: &OpResult) -> Option<String> {
    if result.status != OpStatus::Skipped {
        return None;
    }
    let word = result.op.as_deref().unwrap_or("entry");
    let reason = result.reason.map_or("", |reason| reason.word());
    let detail = result.detail.as_deref().unwrap_or_default();
    Some(format!("- operation {index} ({word}): {reason} {detail}").trim_end().to_owned())
}

/// The ids that an operation may name.
pub(super) fn known_ids(document: &Document) -> String {
    let sections: Vec<Value> = document
        .sections
        .iter()
        .map(|section| {
            let blocks: Vec<&str> = section.blocks.iter().map(|block| block.id.as_str()).collect();
            json!({ "section_id": section.id, "block_ids": blocks })
        })
        .collect();
    Value::from(sections).to_string()
}
