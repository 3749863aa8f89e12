//! Cuts a body that arrives in pieces into JSON frames: server-sent events or one JSON value per
//! line. A frame that cannot be read is skipped, since one bad line says nothing about the next.

use serde_json::Value;

/// How frames are marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// `data:` lines, a blank line between events.
    Events,
    /// One JSON value per line.
    Lines,
}

/// One frame.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Frame {
    /// A JSON value.
    Json(Value),
    /// The closing mark of an event stream.
    Done,
}

/// Cuts bytes into frames.
#[derive(Debug)]
pub(crate) struct Frames {
    framing: Framing,
    bytes: Vec<u8>,
    data: Vec<String>,
}

impl Frames {
    pub(crate) fn new(framing: Framing) -> Self {
        Self { framing, bytes: Vec::new(), data: Vec::new() }
    }

    /// Takes bytes and returns the frames that they complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Frame> {
        self.bytes.extend_from_slice(bytes);
        let mut frames = Vec::new();
        while let Some(at) = self.bytes.iter().position(|b| *b == b'\n') {
            let line: Vec<u8> = self.bytes.drain(..=at).collect();
            self.line(&String::from_utf8_lossy(&line), &mut frames);
        }
        frames
    }

    /// Returns the frames that the end of the body completes.
    pub(crate) fn finish(&mut self) -> Vec<Frame> {
        let mut frames = Vec::new();
        let rest = std::mem::take(&mut self.bytes);
        self.line(&String::from_utf8_lossy(&rest), &mut frames);
        self.flush(&mut frames);
        frames
    }

    fn line(&mut self, line: &str, frames: &mut Vec<Frame>) {
        let line = line.trim_end_matches(['\r', '\n']);
        if self.framing == Framing::Lines {
            frames.extend(serde_json::from_str(line).ok().map(Frame::Json));
            return;
        }
        if line.is_empty() {
            self.flush(frames);
        } else if let Some(data) = line.strip_prefix("data:") {
            let data = data.strip_prefix(' ').unwrap_or(data);
            if self.data.is_empty() {
                if data.trim() == "[DONE]" {
                    frames.push(Frame::Done);
                    return;
                }
                // Servers that leave out the blank line between events would otherwise be read
                // at the very end only.
                if let Ok(value) = serde_json::from_str(data) {
                    frames.push(Frame::Json(value));
                    return;
                }
            }
            self.data.push(data.to_owned());
        } else if let Some(error) = line.strip_prefix("error:") {
            // Not a field of the format, but servers write it.
            if let Ok(value) = serde_json::from_str::<Value>(error.trim()) {
                let wrapped = value.get("error").is_some();
                let value = if wrapped { value } else { serde_json::json!({ "error": value }) };
                frames.push(Frame::Json(value));
            }
        }
    }

    /// Reads the lines of one event: joined as the format says, joined without a break for servers
    /// that fold long lines, or each for itself.
    fn flush(&mut self, frames: &mut Vec<Frame>) {
        let data = std::mem::take(&mut self.data);
        if data.is_empty() {
            return;
        }
        let joined = [data.join("\n"), data.concat()];
        if let Some(value) = joined.iter().find_map(|text| serde_json::from_str(text).ok()) {
            frames.push(Frame::Json(value));
            return;
        }
        for line in &data {
            if line.trim() == "[DONE]" {
                frames.push(Frame::Done);
            } else if let Ok(value) = serde_json::from_str(line) {
                frames.push(Frame::Json(value));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(framing: Framing, text: &str) -> Vec<Frame> {
        let read = |size: usize| {
            let mut frames = Frames::new(framing);
            let mut all: Vec<Frame> =
                text.as_bytes().chunks(size).flat_map(|piece| frames.push(piece)).collect();
            all.extend(frames.finish());
            all
        };
        let whole = read(text.len().max(1));
        for size in 1..5 {
            assert_eq!(read(size), whole, "in pieces of {size}");
        }
        whole
    }

    #[test]
    fn events_are_read_across_pieces_and_split_lines() {
        let text = ": ping\r\n\r\nevent: x\ndata: {\"a\":\ndata: \"ü\"}\n\ndata:{\"b\":\"on\ndata: e\"}\n\ndata: [DONE]\n\n";
        assert_eq!(
            read(Framing::Events, text),
            [Frame::Json(json!({"a": "ü"})), Frame::Json(json!({"b": "one"})), Frame::Done]
        );
    }

    #[test]
    fn missing_blank_lines_and_missing_last_break_do_no_harm() {
        let text = "data: {\"a\":1}\ndata: {\"a\":2}\ndata: [DONE]";
        assert_eq!(
            read(Framing::Events, text),
            [Frame::Json(json!({"a": 1})), Frame::Json(json!({"a": 2})), Frame::Done]
        );
    }

    #[test]
    fn an_unreadable_frame_is_skipped() {
        let text = "data: {broken\n\ndata: {\"a\":2}\n\n";
        assert_eq!(read(Framing::Events, text), [Frame::Json(json!({"a": 2}))]);
        assert_eq!(read(Framing::Lines, "{broken\n{\"a\":2}"), [Frame::Json(json!({"a": 2}))]);
    }

    #[test]
    fn an_error_line_is_an_error_frame() {
        let text = "error: {\"message\":\"out of slots\"}\n\n";
        let want = json!({"error": {"message": "out of slots"}});
        assert_eq!(read(Framing::Events, text), [Frame::Json(want)]);
    }
}
