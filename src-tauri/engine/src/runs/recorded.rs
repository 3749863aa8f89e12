//! A recorded request as a person reads it: messages by who speaks, the reply in one piece. The
//! bodies are those of the wire, of three protocols; what is in none of their shapes is shown as it
//! is. Nothing here is sent or judged.

use crate::view::reflect::{RecordedCall, SentMessage};
use domain::trace::LlmCallStatus;
use serde_json::Value;
use std::collections::BTreeMap;
use store::llm_requests::{LlmRequest, RequestStatus};

/// A record with its bodies.
pub(super) fn call(row: LlmRequest) -> RecordedCall {
    let tools = row.llm_info["tools"].as_array().into_iter().flatten();
    RecordedCall {
        tools: tools.filter_map(Value::as_str).map(str::to_owned).collect(),
        llm: row.llm,
        prompt_name: row.prompt_name,
        prompt_hash: row.prompt_hash,
        started_at: row.started_at,
        status: match row.status {
            RequestStatus::Success => LlmCallStatus::Ok,
            RequestStatus::Error => LlmCallStatus::Error,
        },
        finish_reason: row.finish_reason,
        error: row.error,
        messages: row.input.as_deref().map(messages).unwrap_or_default(),
        reply: row.output.as_deref().filter(|body| !body.trim().is_empty()).map(reply),
    }
}

fn messages(body: &str) -> Vec<SentMessage> {
    let as_it_is = || vec![SentMessage { role: "request".to_owned(), text: body.to_owned() }];
    let Ok(request) = serde_json::from_str::<Value>(body) else { return as_it_is() };
    let Some(sent) = request["messages"].as_array() else { return as_it_is() };
    let system = Some(text_of(&request["system"])).filter(|text| !text.is_empty());
    let system = system.map(|text| SentMessage { role: "system".to_owned(), text });
    let said = sent.iter().map(|message| {
        let mut parts = vec![text_of(&message["content"])];
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            parts.push(called(&call["function"]["name"], &call["function"]["arguments"]));
        }
        parts.retain(|part| !part.is_empty());
        SentMessage {
            role: message["role"].as_str().unwrap_or("request").to_owned(),
            text: parts.join("\n\n"),
        }
    });
    system.into_iter().chain(said).collect()
}

// A text, or a list of pieces of which some are texts, calls or results.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(pieces) => {
            let texts = pieces.iter().map(|piece| match piece["type"].as_str() {
                Some("tool_use") => called(&piece["name"], &piece["input"]),
                Some("tool_result") => text_of(&piece["content"]),
                _ => piece["text"].as_str().unwrap_or_default().to_owned(),
            });
            let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
            texts.join("\n\n")
        }
        _ => String::new(),
    }
}

fn called(name: &Value, arguments: &Value) -> String {
    let name = name.as_str().unwrap_or_default();
    let arguments = match arguments {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    format!("{name}({arguments})")
}

fn reply(body: &str) -> String {
    let mut heard = Heard::default();
    let whole = serde_json::from_str::<Value>(body);
    match &whole {
        Ok(value) => heard.take(value),
        Err(_) => {
            for line in body.lines() {
                let frame = line.strip_prefix("data:").unwrap_or(line).trim();
                if let Ok(value) = serde_json::from_str::<Value>(frame) {
                    heard.take(&value);
                }
            }
        }
    }
    heard.told().unwrap_or_else(|| body.to_owned())
}

/// What was said so far, and the calls by their place.
#[derive(Default)]
struct Heard {
    text: String,
    calls: BTreeMap<u64, (String, String)>,
}

impl Heard {
    /// A whole reply, or a frame of one.
    fn take(&mut self, value: &Value) {
        let choice = &value["choices"][0];
        for message in [&choice["message"], &choice["delta"], &value["message"]] {
            self.text.push_str(&text_of(&message["content"]));
            let calls = message["tool_calls"].as_array().into_iter().flatten();
            for (at, call) in calls.enumerate() {
                let place = call["index"].as_u64().unwrap_or(at as u64);
                self.call(place, &call["function"]["name"], &call["function"]["arguments"]);
            }
        }
        self.text.push_str(&text_of(&value["content"]));
        let place = value["index"].as_u64().unwrap_or(0);
        let block = &value["content_block"];
        if block["type"] == "tool_use" {
            self.call(place, &block["name"], &Value::Null);
        }
        let delta = &value["delta"];
        self.text.push_str(delta["text"].as_str().unwrap_or_default());
        if delta["partial_json"].is_string() {
            self.call(place, &Value::Null, &delta["partial_json"]);
        }
    }

    fn call(&mut self, place: u64, name: &Value, arguments: &Value) {
        let (known, said) = self.calls.entry(place).or_default();
        known.push_str(name.as_str().unwrap_or_default());
        match arguments {
            Value::String(piece) => said.push_str(piece),
            Value::Null => {}
            other => said.push_str(&other.to_string()),
        }
    }

    fn told(self) -> Option<String> {
        let calls = self.calls.into_values().map(|(name, said)| format!("{name}({said})"));
        let parts: Vec<String> = std::iter::once(self.text)
            .chain(calls)
            .filter(|part| !part.trim().is_empty())
            .collect();
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_messages_of_three_protocols_are_told_by_who_speaks() {
        let open = r#"{"messages":[{"role":"system","content":"Rules"},
            {"role":"assistant","content":null,"tool_calls":[
                {"function":{"name":"recall","arguments":"{\"query\":\"ferry\"}"}}]}]}"#;
        let told = messages(open);
        assert_eq!((told[0].role.as_str(), told[0].text.as_str()), ("system", "Rules"));
        assert_eq!(told[1].text, r#"recall({"query":"ferry"})"#);
        let blocks = r#"{"system":"Rules","messages":[{"role":"user","content":[
            {"type":"tool_result","content":"Six."},{"type":"text","text":"When?"}]}]}"#;
        let told = messages(blocks);
        assert_eq!((told[0].role.as_str(), told[1].text.as_str()), ("system", "Six.\n\nWhen?"));
        let cut = messages("{\"messages\":[ … cut");
        assert_eq!((cut.len(), cut[0].role.as_str()), (1, "request"));
    }

    #[test]
    fn a_reply_that_came_in_pieces_is_told_in_one() {
        let open = "data: {\"choices\":[{\"delta\":{\"content\":\"At \"}}]}\n\n\
            data: {\"choices\":[{\"delta\":{\"content\":\"six.\"}}]}\n\ndata: [DONE]\n";
        assert_eq!(reply(open), "At six.");
        let calls = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":\
            {\"name\":\"done\",\"arguments\":\"{\\\"answer\\\":\"}}]}}]}\n\
            data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":\
            {\"arguments\":\"\\\"Six\\\"}\"}}]}}]}\n";
        assert_eq!(reply(calls), r#"done({"answer":"Six"})"#);
        let blocks = "event: content_block_start\n\
            data: {\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"name\":\"recall\"}}\n\
            data: {\"index\":1,\"delta\":{\"partial_json\":\"{}\"}}\n";
        assert_eq!(reply(blocks), "recall({})");
        let lines = "{\"message\":{\"content\":\"At \"}}\n{\"message\":{\"content\":\"six.\"}}\n";
        assert_eq!(reply(lines), "At six.");
        assert_eq!(reply("<html>"), "<html>");
    }
}
