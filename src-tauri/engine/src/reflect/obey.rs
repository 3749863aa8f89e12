//! The optional check of an answer against the directives: a second look judges the finished text, a
//! text that breaks a rule is corrected once, and one that still breaks it is no answer. Off unless a
//! bank asks for it, since it costs a call more; directives are always told to the loop itself.

use super::caller::{Ask, NoReply};
use super::finish::{rendered, sections_json};
use super::instructions::rule_text;
use super::turns::Run;
use crate::Result;
use crate::prompts::{
    DIRECTIVE_CHECK_SYSTEM, DIRECTIVE_CHECK_USER, DIRECTIVE_REWRITE_SYSTEM, Prompt, fence,
};
use crate::report::fault;
use domain::cleaning::{clean_final_text, extract_json};
use domain::document::{DraftSection, coerce_sections};
use domain::tokens::{Cl100k, TokenCounter};
use domain::trace::{CallPurpose, LlmCallStatus, call_scope};
use llm::{Message, ResponseFormat};
use serde_json::json;

/// Times that a judgement is asked for when it cannot be read.
const TRIES: u32 = 2;

impl Run<'_> {
    /// The text, corrected where it breaks a directive; unchanged where nothing is checked.
    ///
    /// # Errors
    /// `directive_violation`; `llm_output_invalid` where the judgement cannot be read; those of a
    /// request.
    pub(super) async fn obey(
        &mut self,
        text: String,
        sections: Option<Vec<DraftSection>>,
    ) -> Result<(String, Option<Vec<DraftSection>>)> {
        let in_force = !self.prepared.directives.in_force.is_empty();
        if !self.prepared.settings.reflect_directive_check || !in_force {
            return Ok((text, sections));
        }
        let Some(broken) = self.broken_rule(&text).await? else { return Ok((text, sections)) };
        let (text, sections) = match sections {
            None => {
                let reply = self.corrected(&text, "the corrected text").await?;
                (clean_final_text(&reply).text, None)
            }
            Some(sections) => {
                let whole = json!({ "sections": sections_json(&sections) }).to_string();
                let reply = self.corrected(&whole, "one JSON object of the same shape").await?;
                let sections = extract_json(&reply).map(|value| coerce_sections(&value));
                let sections = sections.unwrap_or_default();
                (rendered(&sections), Some(sections))
            }
        };
        // A correction that says nothing has not kept the rule, it has dropped the answer.
        let still =
            if text.trim().is_empty() { Some(broken) } else { self.broken_rule(&text).await? };
        match still {
            Some(rule) => Err(fault("directive_violation").with("directive", rule).into()),
            None => Ok((text, sections)),
        }
    }

    // The first rule that a text breaks, by its name or its words.
    async fn broken_rule(&mut self, text: &str) -> Result<Option<String>> {
        let ask = Ask {
            format: ResponseFormat::JsonObject,
            ..self.about(text, &DIRECTIVE_CHECK_SYSTEM, &[], CallPurpose::DirectiveCheck)?
        };
        let mut llm = None;
        for _ in 0..TRIES {
            let reply = self.caller.ask(&ask).await.map_err(ended)?;
            let judged = extract_json(&reply.text);
            let Some(broken) = judged.as_ref().and_then(|judged| judged.get("broken")?.as_array())
            else {
                llm = reply.llm;
                continue;
            };
            let rules = &self.prepared.directives.in_force;
            let first = broken
                .iter()
                .filter_map(|n| usize::try_from(n.as_u64()?).ok()?.checked_sub(1))
                .find_map(|at| rules.get(at));
            return Ok(first.map(|rule| match rule.name.trim() {
                "" => rule.content.clone(),
                name => name.to_owned(),
            }));
        }
        let llm = llm.unwrap_or_else(|| "The language model".to_owned());
        Err(fault("llm_output_invalid").with("llm", llm).into())
    }

    async fn corrected(&mut self, text: &str, form: &str) -> Result<String> {
        let purpose = CallPurpose::FinalRewrite;
        let ask = self.about(text, &DIRECTIVE_REWRITE_SYSTEM, &[("form", form)], purpose)?;
        let ask = Ask { max_output: self.prepared.settings.reflect_max_completion_tokens, ..ask };
        let reply = self.caller.ask(&ask).await.map_err(ended)?;
        // Half a text is none.
        Ok(if reply.finish == llm::Finish::Length { String::new() } else { reply.text })
    }

    fn about(
        &self,
        text: &str,
        system: &Prompt,
        more: &[(&str, &str)],
        purpose: CallPurpose,
    ) -> Result<Ask> {
        let mark = fence(self.engine.clock().random());
        let in_force = &self.prepared.directives.in_force;
        let rules: String = in_force
            .iter()
            .zip(1..)
            .map(|(rule, n)| format!("{n}. {}\n", rule_text(rule)))
            .collect();
        let mut values = vec![("fence", mark.as_str()), ("rules", rules.as_str())];
        values.extend_from_slice(more);
        let system = system.render(&values)?;
        let user = DIRECTIVE_CHECK_USER.render(&[("fence", &mark), ("text", text)])?;
        let tokens = Cl100k.count(&system) + Cl100k.count(&user);
        let messages = vec![Message::system(system), Message::user(user)];
        Ok(Ask::plain(call_scope(purpose, LlmCallStatus::Ok), messages, tokens))
    }
}

fn ended(error: NoReply) -> crate::Error {
    match error {
        NoReply::Overflow(error) => error.into(),
        NoReply::Ends(error) => error,
    }
}
