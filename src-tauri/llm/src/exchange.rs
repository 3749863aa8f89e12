//! One request and its reply, whatever the protocol: sends, reads frames or a whole body, and
//! decides whether the reply is complete. What a frame means is the business of a [`Reader`].

use crate::assemble::Assembly;
use crate::chat::{ChatReply, ChatRequest};
use crate::error::Error;
use crate::frames::{Frame, Frames, Framing};
use crate::transport::{End, Incoming, Outgoing, Transport};
use crate::{ChatEvent, ChatSink};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

/// Why a frame is no part of a reply.
pub(crate) enum Fault {
    /// It is an error object.
    Provider,
    /// The model declined, in these words.
    Declined(String),
    /// It is something else.
    Malformed(&'static str),
}

/// Reads the frames of one reply in one protocol.
pub(crate) trait Reader: Send {
    /// One JSON object of a stream. True when the reply is complete with it.
    fn frame(
        &mut self,
        frame: &Value,
        reply: &mut Assembly,
        out: &mut dyn ChatSink,
    ) -> Result<bool, Fault>;

    /// A whole reply.
    fn whole(
        &mut self,
        value: &Value,
        reply: &mut Assembly,
        out: &mut dyn ChatSink,
    ) -> Result<(), Fault>;

    /// Adds what could only be told at the end.
    fn finish(&mut self, reply: &mut Assembly) -> Result<(), Fault>;
}

/// Sends `outgoing` and reads the reply to `req`.
pub(crate) async fn exchange(
    transport: &Transport,
    req: &ChatRequest,
    outgoing: Outgoing<'_>,
    framing: Framing,
    reader: &mut dyn Reader,
    out: &mut dyn ChatSink,
    cancel: &CancellationToken,
) -> Result<ChatReply, Error> {
    out.take(ChatEvent::Sent(outgoing.body.as_deref().unwrap_or_default()));
    let incoming = transport.send(outgoing, cancel).await?;
    let reading = Reading { transport, reader, reply: Assembly::new(req) };
    if req.stream {
        reading.streamed(incoming, framing, out, cancel).await
    } else {
        let (raw, end) = incoming.body(cancel).await?;
        out.take(ChatEvent::Begun);
        out.take(ChatEvent::Received(&raw));
        reading.unframed(raw, end, framing, out)
    }
}

struct Reading<'a> {
    transport: &'a Transport,
    reader: &'a mut dyn Reader,
    reply: Assembly,
}

impl Reading<'_> {
    async fn streamed(
        mut self,
        mut incoming: Incoming,
        framing: Framing,
        out: &mut dyn ChatSink,
        cancel: &CancellationToken,
    ) -> Result<ChatReply, Error> {
        let mut any = false;
        let mut begun = false;
        let mut complete = false;
        let ended = incoming
            .frames(framing, cancel, |frame| {
                if !begun {
                    begun = true;
                    out.take(ChatEvent::Begun);
                }
                any |= matches!(&frame, Frame::Done | Frame::Json(Value::Object(_)));
                complete = self.take(frame, out)?;
                Ok(complete)
            })
            .await;
        let raw = incoming.text();
        out.take(ChatEvent::Received(&raw));
        let end = match ended {
            Ok(end) => end,
            // The silence after a finish reason is a server that forgot to close.
            Err(Error::Timeout { .. }) if self.reply.has_finished() => End::Whole,
            Err(e) => return Err(e),
        };
        if !any {
            return self.unframed(raw, end, framing, out);
        }
        if complete || self.reply.has_finished() {
            return self.close(raw, out);
        }
        let cause = match end {
            End::Whole => "the stream ended before its end".to_owned(),
            End::Broken(cause) => cause,
        };
        Err(self.cut_off(cause, raw, out))
    }

    /// A body that did not come as the frames that were asked for: a whole reply, or a stream that
    /// nobody asked for.
    fn unframed(
        mut self,
        raw: String,
        end: End,
        framing: Framing,
        out: &mut dyn ChatSink,
    ) -> Result<ChatReply, Error> {
        match serde_json::from_str::<Value>(&raw) {
            Ok(value) => {
                let read = self.reader.whole(&value, &mut self.reply, out);
                read.map_err(|fault| self.fault(fault, &value))?;
                self.close(raw, out)
            }
            Err(e) => {
                if let End::Broken(cause) = end {
                    if raw.is_empty() {
                        let endpoint = self.transport.shown();
                        return Err(Error::Unreachable { endpoint, cause, refused: false });
                    }
                    return Err(self.cut_off(cause, raw, out));
                }
                let mut frames = Frames::new(framing);
                let mut all = frames.push(raw.as_bytes());
                all.extend(frames.finish());
                if !all.iter().any(|f| matches!(f, Frame::Json(Value::Object(_)))) {
                    return Err(self.transport.malformed(e.to_string(), &raw));
                }
                let mut complete = false;
                for frame in all {
                    complete |= self.take(frame, out)?;
                }
                if complete || self.reply.has_finished() {
                    self.close(raw, out)
                } else {
                    Err(self.cut_off("the stream ended before its end".to_owned(), raw, out))
                }
            }
        }
    }

    fn take(&mut self, frame: Frame, out: &mut dyn ChatSink) -> Result<bool, Error> {
        match frame {
            Frame::Done => Ok(true),
            Frame::Json(value) if value.is_object() => {
                let read = self.reader.frame(&value, &mut self.reply, out);
                read.map_err(|fault| self.fault(fault, &value))
            }
            Frame::Json(_) => Ok(false),
        }
    }

    fn close(mut self, raw: String, out: &mut dyn ChatSink) -> Result<ChatReply, Error> {
        match self.reader.finish(&mut self.reply) {
            Ok(()) => Ok(self.reply.finish(raw, out)),
            Err(Fault::Malformed(cause)) => Err(self.transport.malformed(cause, &raw)),
            Err(fault) => Err(self.fault(fault, &Value::Null)),
        }
    }

    fn cut_off(mut self, cause: String, raw: String, out: &mut dyn ChatSink) -> Error {
        // A fault found here is second to the break.
        let _ = self.reader.finish(&mut self.reply);
        let partial = Box::new(self.reply.finish(raw, out));
        Error::CutOff { endpoint: self.transport.shown(), cause, partial }
    }

    fn fault(&self, fault: Fault, frame: &Value) -> Error {
        match fault {
            Fault::Provider => self.transport.provider_error(frame),
            Fault::Malformed(cause) => self.transport.malformed(cause, &frame.to_string()),
            Fault::Declined(words) => self.transport.declined(words),
        }
    }
}

/// Merges extra fields into a body as RFC 7396 does: objects by key, null removes, the rest
/// replaces.
pub(crate) fn merge(body: &mut Map<String, Value>, extra: &Map<String, Value>) {
    for (key, value) in extra {
        match value {
            Value::Null => {
                body.remove(key);
            }
            Value::Object(inner) => {
                let slot = body.entry(key).or_insert_with(|| Value::Object(Map::new()));
                if !slot.is_object() {
                    *slot = Value::Object(Map::new());
                }
                if let Value::Object(own) = slot {
                    merge(own, inner);
                }
            }
            value => {
                body.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Whether a frame is an error object.
pub(crate) fn is_error(value: &Value) -> bool {
    value.get("error").is_some_and(|e| !e.is_null())
        || value.get("object").and_then(Value::as_str) == Some("error")
        || value.get("type").and_then(Value::as_str) == Some("error")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn extra_fields_merge_deeply_and_null_removes() {
        let Value::Object(mut body) = json!({
            "model": "m", "options": {"num_ctx": 8192, "temperature": 0.3}, "stream": true,
        }) else {
            unreachable!()
        };
        let Value::Object(extra) = json!({
            "options": {"temperature": null, "top_k": 20}, "stream": null, "keep_alive": "5m",
        }) else {
            unreachable!()
        };
        merge(&mut body, &extra);
        let want =
            json!({"model": "m", "options": {"num_ctx": 8192, "top_k": 20}, "keep_alive": "5m"});
        assert_eq!(Value::Object(body), want);
    }
}
