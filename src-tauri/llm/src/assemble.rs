//! Puts a reply together from the fragments that frames carry. A whole reply is the same thing with
//! one frame, so both ways share every rule.
//!
//! The rules for calls answer the ways in which endpoints number them wrongly: a new id opens a new
//! call whatever the index says; else the index decides; else a fragment with a name opens one and
//! a fragment without continues the last. Nothing here is an error: arguments that cannot be read
//! stay beside their call as text.

use crate::chat::{ChatReply, ChatRequest, Finish, Message, ToolCall, Usage};
use crate::thinking::{Part, Splitter};
use crate::{ChatEvent, ChatSink};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// A piece of a tool call.
#[derive(Debug, Default)]
pub(crate) struct Fragment<'a> {
    /// Position that the endpoint gives it.
    pub(crate) index: Option<u64>,
    /// Its id; blank counts as none.
    pub(crate) id: Option<&'a str>,
    /// Name of the tool; blank counts as none.
    pub(crate) name: Option<&'a str>,
    /// Arguments, text to be joined or a whole object.
    pub(crate) arguments: Option<&'a Value>,
    /// Fields to be carried back with the call.
    pub(crate) opaque: Map<String, Value>,
}

#[derive(Debug, Default)]
struct Draft {
    index: Option<u64>,
    id: Option<String>,
    name: String,
    arguments: String,
    complete: bool,
    opaque: Map<String, Value>,
}

/// A reply in the making.
#[derive(Debug)]
pub(crate) struct Assembly {
    text: String,
    reasoning: String,
    splitter: Splitter,
    drafts: Vec<Draft>,
    taken: HashSet<String>,
    finish: Option<Finish>,
    finish_raw: Option<String>,
    usage: Option<Usage>,
    llm: Option<String>,
    /// What the protocol wants back with the turn; filled by the client.
    pub(crate) opaque: Map<String, Value>,
}

impl Assembly {
    /// An empty reply to this request, whose history tells which call ids are taken.
    pub(crate) fn new(req: &ChatRequest) -> Self {
        let taken = req
            .messages
            .iter()
            .filter_map(|m| if let Message::Assistant(turn) = m { Some(turn) } else { None })
            .flat_map(|turn| turn.calls.iter().map(|c| c.id.clone()))
            .collect();
        Self {
            text: String::new(),
            reasoning: String::new(),
            splitter: Splitter::new(),
            drafts: Vec::new(),
            taken,
            finish: None,
            finish_raw: None,
            usage: None,
            llm: None,
            opaque: Map::new(),
        }
    }

    /// A piece of text, from which a leading block of reasoning is taken out.
    pub(crate) fn text(&mut self, piece: &str, out: &mut dyn ChatSink) {
        let parts = self.splitter.push(piece);
        self.take(parts, out);
    }

    /// A piece of reasoning from a field of its own.
    pub(crate) fn reasoning(&mut self, piece: &str, out: &mut dyn ChatSink) {
        if !piece.is_empty() {
            self.reasoning.push_str(piece);
            out.take(ChatEvent::Reasoning(piece));
        }
    }

    /// Why it ended. A later word wins over an earlier one.
    pub(crate) fn finish_reason(&mut self, raw: &str, finish: Finish) {
        self.finish = Some(finish);
        self.finish_raw = Some(raw.to_owned());
    }

    /// Whether the endpoint has said why it ended.
    pub(crate) fn has_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Token counts; the last ones win.
    pub(crate) fn usage(&mut self, usage: Usage) {
        self.usage = Some(usage);
    }

    /// Name of the model that answers.
    pub(crate) fn llm(&mut self, name: &str) {
        if !name.is_empty() {
            self.llm = Some(name.to_owned());
        }
    }

    /// Whether nothing at all has arrived.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.reasoning.is_empty() && self.drafts.is_empty()
    }

    /// A whole call from a reply that lists its calls.
    pub(crate) fn call(&mut self, fragment: Fragment<'_>) {
        let draft = Draft { index: fragment.index, ..Draft::default() };
        self.drafts.push(draft);
        let last = self.drafts.len() - 1;
        self.add(last, fragment);
    }

    /// A piece of a call from a stream.
    pub(crate) fn fragment(&mut self, fragment: Fragment<'_>) {
        let at = self.place(&fragment).unwrap_or_else(|| {
            self.drafts.push(Draft { index: fragment.index, ..Draft::default() });
            self.drafts.len() - 1
        });
        self.add(at, fragment);
    }

    /// Which draft a fragment continues; none when it opens a call.
    fn place(&self, fragment: &Fragment<'_>) -> Option<usize> {
        let named = fragment.name.is_some_and(|n| !n.is_empty());
        // A closing piece that repeats the id and brings nothing belongs to the finished call.
        let adds = !matches!(fragment.arguments, None | Some(Value::Null))
            && fragment.arguments.and_then(Value::as_str) != Some("");
        if let Some(id) = fragment.id.filter(|id| !id.is_empty()) {
            let at = self.drafts.iter().rposition(|d| d.id.as_deref() == Some(id));
            // An id that comes back with another index and a name is a repeated id, not a
            // continuation.
            let continues = |at: &usize| {
                let draft = &self.drafts[*at];
                (!draft.is_over() || !adds) && (!named || draft.index == fragment.index)
            };
            let same = at.filter(continues);
            // The name may have come before the id.
            let nameless = || {
                self.drafts.iter().rposition(|d| {
                    d.id.is_none() && d.index.is_some() && d.index == fragment.index && !d.is_over()
                })
            };
            return same.or_else(|| if at.is_none() { nameless() } else { None });
        }
        if let Some(index) = fragment.index {
            let at = self.drafts.iter().rposition(|d| d.index == Some(index))?;
            let draft = &self.drafts[at];
            let other = (draft.complete && adds) || (named && draft.is_over());
            return if other { None } else { Some(at) };
        }
        if named || (adds && self.drafts.last().is_some_and(|d| d.complete)) {
            return None;
        }
        self.drafts.len().checked_sub(1)
    }

    fn add(&mut self, at: usize, fragment: Fragment<'_>) {
        let draft = &mut self.drafts[at];
        if let Some(id) = fragment.id.filter(|id| !id.is_empty()) {
            draft.id.get_or_insert_with(|| id.to_owned());
        }
        if let Some(name) = fragment.name.filter(|n| !n.is_empty())
            && name != draft.name
        {
            // Some servers send the name in pieces, others all of it again with every piece.
            draft.name.push_str(name);
        }
        match fragment.arguments {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => draft.arguments.push_str(text),
            Some(whole) => {
                draft.arguments = whole.to_string();
                draft.complete = true;
            }
        }
        draft.opaque.extend(fragment.opaque);
    }

    fn take(&mut self, parts: Vec<Part>, out: &mut dyn ChatSink) {
        for part in parts {
            match part {
                Part::Reasoning(text) => self.reasoning(&text, out),
                Part::Answer(text) => {
                    self.text.push_str(&text);
                    out.take(ChatEvent::Text(&text));
                }
            }
        }
    }

    /// The reply. `raw` is its text as received.
    pub(crate) fn finish(mut self, raw: String, out: &mut dyn ChatSink) -> ChatReply {
        let splitter = std::mem::replace(&mut self.splitter, Splitter::new());
        let (parts, open) = splitter.finish();
        self.take(parts, out);
        let drafts = std::mem::take(&mut self.drafts);
        let mut calls = Vec::with_capacity(drafts.len());
        for draft in drafts {
            calls.push(self.closed(draft));
        }
        let said = self.finish.unwrap_or(Finish::Other);
        let finish = match said {
            // A block of reasoning that never ends was cut off, whatever the endpoint says.
            _ if open => Finish::Length,
            // Servers say "stop" although there are calls.
            Finish::Stop | Finish::Other if !calls.is_empty() => Finish::ToolCalls,
            said => said,
        };
        ChatReply {
            text: self.text,
            reasoning: self.reasoning,
            calls,
            finish,
            finish_raw: self.finish_raw,
            usage: self.usage,
            llm: self.llm,
            opaque: self.opaque,
            raw,
        }
    }

    /// A call with an id of its own and its arguments read.
    fn closed(&mut self, draft: Draft) -> ToolCall {
        let id = match draft.id {
            Some(id) if self.taken.insert(id.clone()) => id,
            _ => self.fresh_id(),
        };
        ToolCall {
            id,
            name: draft.name,
            arguments: read_arguments(&draft.arguments),
            raw: draft.arguments,
            opaque: draft.opaque,
        }
    }

    fn fresh_id(&mut self) -> String {
        let mut n = self.taken.len();
        loop {
            n += 1;
            let id = format!("call_{n}");
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }
}

impl Draft {
    /// Whether nothing can be missing: its arguments are a whole object already.
    fn is_over(&self) -> bool {
        self.complete || matches!(serde_json::from_str(&self.arguments), Ok(Value::Object(_)))
    }
}

/// The arguments as an object: nothing or null is an empty one, an object in a string is unpacked
/// once. None for everything else, two objects glued together among it.
fn read_arguments(text: &str) -> Option<Map<String, Value>> {
    if text.trim().is_empty() {
        return Some(Map::new());
    }
    match serde_json::from_str(text).ok()? {
        Value::Object(map) => Some(map),
        Value::Null => Some(Map::new()),
        Value::String(inner) if inner.trim().is_empty() => Some(Map::new()),
        Value::String(inner) => serde_json::from_str(&inner).ok(),
        _ => None,
    }
}

/// A count that may have been written as a float or as text.
pub(crate) fn count(value: &Value) -> Option<u32> {
    match value {
        Value::Number(number) => {
            let whole = number.as_u64().or_else(|| {
                let float = number.as_f64().filter(|f| (0.0..=f64::from(u32::MAX)).contains(f))?;
                format!("{float:.0}").parse().ok()
            });
            whole.map(|n| u32::try_from(n).unwrap_or(u32::MAX))
        }
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn assembly() -> Assembly {
        Assembly::new(&ChatRequest::new("t", vec![Message::user("x")]))
    }

    /// Each fragment is `[index, id, name, arguments]`, null for what is missing.
    fn calls(fragments: &Value) -> Vec<(String, String)> {
        let mut assembly = assembly();
        for f in fragments.as_array().unwrap() {
            assembly.fragment(Fragment {
                index: f[0].as_u64(),
                id: f[1].as_str(),
                name: f[2].as_str(),
                arguments: Some(&f[3]),
                opaque: Map::new(),
            });
        }
        let reply = assembly.finish(String::new(), &mut ());
        let ids: HashSet<_> = reply.calls.iter().map(|c| c.id.clone()).collect();
        assert_eq!(ids.len(), reply.calls.len(), "ids are unique");
        reply.calls.into_iter().map(|c| (c.name, c.raw)).collect()
    }

    fn two() -> Vec<(String, String)> {
        let call = |name: &str, q: u32| (name.to_owned(), format!("{{\"q\":{q}}}"));
        vec![call("recall", 1), call("expand", 2)]
    }

    #[test]
    fn fragments_find_their_call() {
        for (case, fragments) in [
            (
                "ordinary",
                json!([
                    [0, "a", "recall", ""],
                    [0, null, null, "{\"q\""],
                    [0, null, null, ":1}"],
                    [1, "b", "expand", ""],
                    [1, null, null, "{\"q\":2}"],
                ]),
            ),
            (
                "interleaved",
                json!([
                    [0, "a", "recall", ""],
                    [1, "b", "expand", ""],
                    [0, null, null, "{\"q\""],
                    [1, null, null, "{\"q\":2}"],
                    [0, null, null, ":1}"],
                ]),
            ),
            (
                "all index 0, different ids",
                json!([
                    [0, "a", "recall", "{\"q\":"],
                    [0, "a", null, "1}"],
                    [0, "b", "expand", "{\"q\""],
                    [0, "b", null, ":2}"],
                ]),
            ),
            (
                "all index 0, ids only at the start",
                json!([
                    [0, "a", "recall", "{\"q\":"],
                    [0, null, null, "1}"],
                    [0, "b", "expand", "{\"q\""],
                    [0, null, null, ":2}"],
                ]),
            ),
            (
                "no index",
                json!([
                    [null, "a", "recall", ""],
                    [null, null, null, "{\"q\":1}"],
                    [null, "b", "expand", ""],
                    [null, null, null, "{\"q\":2}"],
                ]),
            ),
            (
                "no index, no id",
                json!([
                    [null, null, "recall", ""],
                    [null, "", "", "{\"q\":1}"],
                    [null, null, "expand", "{\"q\":2}"],
                ]),
            ),
            (
                "all index 0, no id, whole",
                json!([[0, null, "recall", "{\"q\":1}"], [0, null, "expand", "{\"q\":2}"],]),
            ),
            (
                "repeated id",
                json!([[0, "a", "recall", "{\"q\":1}"], [1, "a", "expand", "{\"q\":2}"],]),
            ),
            ("empty ids", json!([[0, "", "recall", "{\"q\":1}"], [1, "", "expand", "{\"q\":2}"],])),
            (
                "objects",
                json!([
                    [0, "a", "recall", {"q": 1}], [0, null, "expand", {"q": 2}],
                ]),
            ),
            (
                "object after the name",
                json!([
                    [0, "a", "recall", null], [0, null, null, {"q": 1}],
                    [1, "b", "expand", null], [1, null, null, {"q": 2}],
                ]),
            ),
            (
                "first index is 1",
                json!([
                    [1, "a", "recall", "{\"q\":"],
                    [1, null, null, "1}"],
                    [2, "b", "expand", "{\"q\":2}"],
                ]),
            ),
            (
                "id and name with every piece",
                json!([
                    [0, "a", "recall", "{\"q\":"],
                    [0, "a", "recall", "1}"],
                    [1, "b", "expand", "{\"q\":"],
                    [1, "b", "expand", "2}"],
                ]),
            ),
            (
                "empty closing pieces",
                json!([
                    [0, "a", "recall", "{\"q\":1}"], [0, "a", null, ""], [0, null, null, ""],
                    [1, "b", "expand", {"q": 2}], [1, null, null, ""], [null, null, null, null],
                ]),
            ),
            (
                "name in pieces",
                json!([
                    [0, "a", "rec", null],
                    [0, null, "all", "{\"q\":1}"],
                    [1, "b", "expand", "{\"q\":2}"],
                ]),
            ),
        ] {
            assert_eq!(calls(&fragments), two(), "{case}");
        }
    }

    #[test]
    fn arguments_are_an_object_or_the_raw_text() {
        for (text, want) in [
            ("", Some(json!({}))),
            ("null", Some(json!({}))),
            ("\"\"", Some(json!({}))),
            ("{\"q\": 1}", Some(json!({"q": 1}))),
            ("\"{\\\"q\\\": 1}\"", Some(json!({"q": 1}))),
            ("{\"q\": 1}{\"q\": 2}", None),
            ("{\"q\": ", None),
            ("[1]", None),
            ("rent", None),
        ] {
            assert_eq!(read_arguments(text).map(Value::Object), want, "{text}");
        }
    }

    #[test]
    fn ids_of_earlier_turns_are_taken() {
        let earlier = crate::AssistantTurn {
            calls: vec![ToolCall::new("call_1", "recall", &json!({}))],
            ..Default::default()
        };
        let req = ChatRequest::new("t", vec![Message::Assistant(earlier)]);
        let mut assembly = Assembly::new(&req);
        assembly.call(Fragment { id: Some("call_1"), name: Some("recall"), ..Default::default() });
        assembly.call(Fragment { name: Some("recall"), ..Default::default() });
        let ids: Vec<String> =
            assembly.finish(String::new(), &mut ()).calls.into_iter().map(|c| c.id).collect();
        assert_eq!(ids, ["call_2", "call_3"]);
    }

    #[test]
    fn stop_with_calls_means_calls_and_open_reasoning_means_cut() {
        let mut with_call = assembly();
        with_call.call(Fragment { name: Some("done"), ..Default::default() });
        with_call.finish_reason("stop", Finish::Stop);
        let reply = with_call.finish(String::new(), &mut ());
        assert_eq!((reply.finish, reply.finish_raw.as_deref()), (Finish::ToolCalls, Some("stop")));

        let mut open = assembly();
        open.text("<think>\nplan", &mut ());
        open.finish_reason("stop", Finish::Stop);
        let reply = open.finish(String::new(), &mut ());
        assert_eq!((reply.finish, reply.text.as_str()), (Finish::Length, ""));
        assert_eq!(reply.reasoning, "\nplan");
    }

    #[test]
    fn counts_are_read_however_they_are_written() {
        assert_eq!(count(&json!(12)), Some(12));
        assert_eq!(count(&json!(12.0)), Some(12));
        assert_eq!(count(&json!("12")), Some(12));
        assert_eq!(count(&json!(-3)), None);
        assert_eq!(count(&json!(null)), None);
    }
}
