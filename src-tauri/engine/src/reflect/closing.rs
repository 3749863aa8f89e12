//! The end of a loop that handed over no answer: first the question for `done` in the same
//! conversation, which keeps the citations; then a synthesis from the evidence, in parts where it
//! does not fit. Without any successful search there is no answer at all.

use super::caller::{Ask, NoReply};
use super::finish::Draft;
use super::instructions;
use super::turns::{Run, TEMPERATURE};
use crate::prompts::{
    REFLECT_FINAL_SYSTEM, REFLECT_FINAL_USER, REFLECT_MAP_SYSTEM, REFLECT_MAP_USER, fence,
};
use crate::report::fault;
use crate::{Error, Result};
use domain::citations::AnswerSource;
use domain::cleaning::clean_final_text;
use domain::evidence::{EvidenceBlock, MANY_PARTS, pack_evidence, part_budget};
use domain::tokens::{Cl100k, TokenCounter};
use domain::tool_calls::{DONE, normalize_tool_name, parse_arguments};
use domain::trace::{CallPurpose, ClosedBy, LlmCallStatus, RunEvent, Warning, call_scope};
use llm::{Finish, Message, ToolChoice};
use serde_json::Value;

/// Tokens that an answer gets at least when a first one was cut off.
const LEAST_ROOM: u32 = 8192;
/// First line of a synthesis that found nothing on the question.
const NOTHING: &str = "NOTHING-RELEVANT";

impl Run<'_> {
    /// Closes the loop and gives the draft of the answer.
    pub(super) async fn close(&mut self, by: ClosedBy) -> Result<Draft> {
        self.trace.closed_by = Some(by);
        self.caller.sink.emit(RunEvent::Closing { by });
        if self.succeeded.is_empty() {
            return Err(fault("no_evidence_gathered").into());
        }
        self.check()?;
        if by != ClosedBy::Context
            && let Some(draft) = self.closing_done().await?
        {
            return Ok(draft);
        }
        self.synthesis().await
    }

    // The same conversation with one tool left; guards are off.
    async fn closing_done(&mut self) -> Result<Option<Draft>> {
        let tool = instructions::done_tool(self.request, &self.prepared.directives.in_force);
        let mut messages = self.messages.clone();
        messages
            .push(Message::user("There are no more searches. Call done now with what you have."));
        let ask = Ask {
            tools: vec![tool],
            choice: ToolChoice::Named(DONE.to_owned()),
            temperature: TEMPERATURE,
            max_output: self.prepared.settings.reflect_max_completion_tokens,
            ..Ask::plain(
                call_scope(CallPurpose::ClosingDone, LlmCallStatus::Ok),
                messages,
                self.tokens,
            )
        };
        let reply = match self.caller.ask(&ask).await {
            Ok(reply) => reply,
            Err(NoReply::Overflow(_)) => return Ok(None),
            Err(NoReply::Ends(error)) => return Err(error),
        };
        let done = reply.calls.iter().find(|call| normalize_tool_name(&call.name) == DONE);
        let Some(call) = done else { return Ok(None) };
        let raw = match &call.arguments {
            Some(args) => Value::Object(args.clone()),
            None => Value::String(call.raw.clone()),
        };
        let Ok(args) = parse_arguments(&raw) else { return Ok(None) };
        let args = self.view.names.with_real_ids(args);
        let given = |key: &str| args.get(key).is_some_and(|value| !value.is_null());
        if !given("answer") && !given("document") {
            return Ok(None);
        }
        self.draft(args).map(Some)
    }

    /// An answer written from everything retrieved. One overflow is met with smaller parts.
    async fn synthesis(&mut self) -> Result<Draft> {
        let text = match self.synthesise(self.limit).await {
            Ok(text) => text,
            Err(NoReply::Overflow(_)) => match self.synthesise(self.limit / 2).await {
                Ok(text) => text,
                Err(NoReply::Overflow(error)) => return Err(error.into()),
                Err(NoReply::Ends(error)) => return Err(error),
            },
            Err(NoReply::Ends(error)) => return Err(error),
        };
        let clean = clean_final_text(&text).text;
        let (text, source) = match clean.trim_start().strip_prefix(NOTHING) {
            Some(rest) => (rest.trim().to_owned(), AnswerSource::SynthesisNothingRelevant),
            None => (clean, AnswerSource::Synthesis),
        };
        if text.is_empty() {
            return Err(fault("no_answer").into());
        }
        Ok(Draft { text, sections: None, args: serde_json::Map::new(), source })
    }

    async fn synthesise(&mut self, limit: u32) -> Result<String, NoReply> {
        let parts = pack_evidence(&self.blocks, part_budget(limit), &Cl100k);
        if parts.len() <= 1 {
            let material = parts.first().map(|part| rendered(part)).unwrap_or_default();
            return self.write(&material).await;
        }
        if parts.len() > MANY_PARTS {
            self.warnings.push(Warning::new(
                "large_evidence",
                format!("The evidence was read in {} parts.", parts.len()),
            ));
        }
        let mut claims = Vec::new();
        for (part, k) in parts.iter().zip(1_u32..) {
            let found = self.claims(part, k, parts.len()).await?;
            if found != NOTHING && !found.is_empty() {
                claims.push(found);
            }
        }
        self.write(&claims.join("\n\n")).await
    }

    // The claims of one part that bear on the question.
    async fn claims(
        &mut self,
        part: &[EvidenceBlock],
        k: u32,
        parts: usize,
    ) -> Result<String, NoReply> {
        let mark = fence(self.engine.clock().random());
        let system = REFLECT_MAP_SYSTEM.render(&[("fence", &mark), ("nothing", NOTHING)]);
        let user = REFLECT_MAP_USER.render(&[
            ("question", &self.request.query),
            ("part", &k.to_string()),
            ("parts", &parts.to_string()),
            ("fence", &mark),
            ("material", &rendered(part)),
        ]);
        let (system, user) = (system.map_err(NoReply::Ends)?, user.map_err(NoReply::Ends)?);
        let tokens = Cl100k.count(&system) + Cl100k.count(&user);
        let scope = call_scope(CallPurpose::FinalMap(k), LlmCallStatus::Ok);
        let ask = Ask::plain(scope, vec![Message::system(system), Message::user(user)], tokens);
        let reply = self.caller.ask(&ask).await?;
        Ok(domain::cleaning::strip_reasoning_tags(&reply.text))
    }

    async fn write(&mut self, material: &str) -> Result<String, NoReply> {
        self.check().map_err(NoReply::Ends)?;
        let messages = self.final_messages(material).map_err(NoReply::Ends)?;
        let tokens = messages
            .iter()
            .map(|message| match message {
                Message::System { text } | Message::User { text } => Cl100k.count(text),
                Message::Assistant(_) | Message::Tool(_) => 0,
            })
            .sum();
        let ask = Ask {
            temperature: TEMPERATURE,
            max_output: self.prepared.settings.reflect_max_completion_tokens,
            answers: true,
            ..Ask::plain(call_scope(CallPurpose::Final, LlmCallStatus::Ok), messages, tokens)
        };
        let reply = self.caller.ask(&ask).await?;
        if reply.finish != Finish::Length {
            return Ok(reply.text);
        }
        // Hidden reasoning may have taken the room. Once more with plenty; a text that ends in the
        // middle is no answer.
        let room = ask.max_output.unwrap_or(self.request.max_tokens).max(self.request.max_tokens);
        let ask = Ask { max_output: Some(room.saturating_mul(4).max(LEAST_ROOM)), ..ask };
        let reply = self.caller.ask(&ask).await?;
        if reply.finish == Finish::Length {
            let why = "the answer was cut off at the limit of the output, twice";
            return Err(NoReply::Ends(fault("no_answer").detail(why).into()));
        }
        Ok(reply.text)
    }

    fn final_messages(&self, material: &str) -> Result<Vec<Message>, Error> {
        let mark = fence(self.engine.clock().random());
        let in_force = &self.prepared.directives.in_force;
        let system = REFLECT_FINAL_SYSTEM.render(&[
            ("directives", &instructions::directives(in_force)),
            ("role", instructions::role(self.prepared)),
            ("fence", &mark),
            ("nothing", NOTHING),
            ("language", &instructions::language(self.prepared)),
            ("now", &super::tools::minute(self.engine.now())),
            ("reminder", &instructions::reminder(in_force)),
        ])?;
        let material = if material.trim().is_empty() { "No data was retrieved." } else { material };
        let task = format!(
            "Write the answer in about {} tokens at most, with a clean ending.",
            self.request.max_tokens
        );
        let user = REFLECT_FINAL_USER.render(&[
            ("bank", &instructions::bank(self.prepared)),
            ("fence", &mark),
            ("material", material),
            ("question", &self.request.query),
            ("task", &task),
        ])?;
        Ok(vec![Message::system(system), Message::user(user)])
    }
}

fn rendered(blocks: &[EvidenceBlock]) -> String {
    blocks.iter().map(EvidenceBlock::render).collect::<Vec<_>>().join("\n\n")
}
