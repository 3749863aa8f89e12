//! JSON in a document: arrays of turns, single objects, a record a line. Values are checked but
//! never rewritten: key order, number spelling and escapes stay as the source has them.

use std::collections::HashMap;

use serde::de::IgnoredAny;

use super::{Chunk, ChunkLimits, text};

type AnyObject = HashMap<String, IgnoredAny>;

/// A turn or a line: its characters, and where each of them stands in the source.
#[derive(Debug, Default)]
pub(super) struct Unit {
    chars: Vec<char>,
    places: Vec<usize>,
}

impl Unit {
    fn push(&mut self, c: char, place: usize) {
        self.chars.push(c);
        self.places.push(place);
    }

    fn start(&self) -> usize {
        self.places.first().copied().unwrap_or(0)
    }

    fn end(&self) -> usize {
        self.places.last().map_or(0, |last| last + 1)
    }
}

pub(super) fn is_object(text: &str) -> bool {
    serde_json::from_str::<AnyObject>(text).is_ok()
}

/// The turns of a non-empty JSON array of objects, blanks outside strings removed.
pub(super) fn turns(text: &str) -> Option<Vec<Unit>> {
    if !text.trim_start().starts_with('[') {
        return None;
    }
    let objects: Vec<AnyObject> = serde_json::from_str(text).ok()?;
    if objects.is_empty() {
        return None;
    }
    let mut turns = vec![Unit::default()];
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (place, c) in text.chars().enumerate() {
        if in_string {
            in_string = c != '"' || escaped;
            escaped = c == '\\' && !escaped;
        } else {
            match c {
                '"' => in_string = true,
                '{' | '[' => depth += 1,
                '}' | ']' => depth -= 1,
                ',' if depth == 1 => {
                    turns.push(Unit::default());
                    continue;
                }
                _ if c.is_whitespace() => continue,
                _ => {}
            }
            // The brackets of the list itself.
            if (c == '[' && depth == 1) || (c == ']' && depth == 0) {
                continue;
            }
        }
        if let Some(turn) = turns.last_mut() {
            turn.push(c, place);
        }
    }
    Some(turns)
}

/// The trimmed lines of a text that holds two or more lines, each a JSON object.
pub(super) fn object_lines(text: &str) -> Option<Vec<Unit>> {
    let mut lines = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        if !bare.is_empty() {
            if !is_object(bare) {
                return None;
            }
            let lead = line.chars().take_while(|c| c.is_whitespace()).count();
            let mut unit = Unit::default();
            for (offset, c) in bare.chars().enumerate() {
                unit.push(c, at + lead + offset);
            }
            lines.push(unit);
        }
        at += line.chars().count();
    }
    (lines.len() >= 2).then_some(lines)
}

/// Whole turns in compact arrays.
pub(super) fn pack_turns(turns: &[Unit], limits: ChunkLimits) -> Vec<Chunk> {
    pack(turns, limits, 2, |turns| format!("[{}]", turns.join(",")))
}

/// Whole lines.
pub(super) fn pack_lines(lines: &[Unit], limits: ChunkLimits) -> Vec<Chunk> {
    pack(lines, limits, 0, |lines| lines.join("\n"))
}

// Units are joined while frame + units + separators fit. A unit over the structured limit is cut as
// text; its neighbours stay whole.
fn pack(
    units: &[Unit],
    limits: ChunkLimits,
    frame: usize,
    join: impl Fn(&[String]) -> String,
) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut open: Vec<&Unit> = Vec::new();
    let mut size = 0;
    let flush = |open: &mut Vec<&Unit>, chunks: &mut Vec<Chunk>| {
        if let (Some(first), Some(last)) = (open.first(), open.last()) {
            let texts: Vec<String> = open.iter().map(|unit| unit.chars.iter().collect()).collect();
            chunks.push(Chunk {
                text: join(&texts),
                char_start: first.start(),
                char_end: last.end(),
            });
        }
        open.clear();
    };
    for unit in units {
        let length = unit.chars.len();
        if length > limits.structured_max_chars {
            flush(&mut open, &mut chunks);
            chunks.extend(text::split(&unit.chars, limits.piece()).into_iter().map(|span| Chunk {
                text: unit.chars[span.clone()].iter().collect(),
                char_start: unit.places[span.start],
                char_end: unit.places[span.end - 1] + 1,
            }));
            continue;
        }
        if !open.is_empty() && size + 1 + length > limits.max_chars {
            flush(&mut open, &mut chunks);
        }
        size = if open.is_empty() { frame + length } else { size + 1 + length };
        open.push(unit);
    }
    flush(&mut open, &mut chunks);
    chunks
}
