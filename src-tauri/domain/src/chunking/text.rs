//! Plain text: a recursive split on ever finer separators, packed greedily.

use std::ops::Range;

use super::Chunk;

// From coarse to fine; the last one is the single character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    BlankLine,
    Newline,
    Mark(char),
    Blank,
    Character,
}

const LADDER: [Separator; 9] = [
    Separator::BlankLine,
    Separator::Newline,
    Separator::Mark('.'),
    Separator::Mark('!'),
    Separator::Mark('?'),
    Separator::Mark(';'),
    Separator::Mark(','),
    Separator::Blank,
    Separator::Character,
];

impl Separator {
    // Length of the separator that starts at `at`, none when there is none.
    fn at(self, chars: &[char], at: usize, end: usize) -> Option<usize> {
        let is = |offset: usize, wanted: char| at + offset < end && chars[at + offset] == wanted;
        match self {
            // A line of blanks, and line ends of two characters, make a blank line too.
            Self::BlankLine if is(0, '\n') => {
                let line = chars[at + 1..end].iter().take_while(|c| is_inline_blank(**c)).count();
                is(1 + line, '\n').then_some(line + 2)
            }
            Self::Newline if is(0, '\n') => Some(1),
            Self::Mark(mark) if is(0, mark) && is(1, ' ') => Some(2),
            Self::Blank if chars[at].is_whitespace() => Some(1),
            Self::Character => Some(1),
            Self::BlankLine | Self::Newline | Self::Mark(_) | Self::Blank => None,
        }
    }
}

fn is_inline_blank(c: char) -> bool {
    c != '\n' && c.is_whitespace()
}

/// Spans of the chunks of a text, trimmed, in order, none longer than `max`.
pub(super) fn split(chars: &[char], max: usize) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    split_span(chars, 0..chars.len(), max, &LADDER, &mut chunks);
    chunks
}

fn split_span(
    chars: &[char],
    span: Range<usize>,
    max: usize,
    ladder: &[Separator],
    chunks: &mut Vec<Range<usize>>,
) {
    let Some((separator, finer)) = ladder.split_first() else { return };
    let mut open: Option<Range<usize>> = None;
    for piece in pieces(chars, span, *separator) {
        let bare = trimmed(chars, piece);
        if bare.is_empty() {
            continue;
        }
        let joined = open.as_ref().map_or(bare.start, |open| open.start)..bare.end;
        if joined.len() <= max {
            open = Some(joined);
            continue;
        }
        chunks.extend(open.take());
        if bare.len() <= max {
            open = Some(bare);
        } else {
            split_span(chars, bare, max, finer, chunks);
        }
    }
    chunks.extend(open);
}

// Pieces of a span; each keeps its separator at its end.
fn pieces(
    chars: &[char],
    span: Range<usize>,
    separator: Separator,
) -> impl Iterator<Item = Range<usize>> {
    let end = span.end;
    let mut start = span.start;
    std::iter::from_fn(move || {
        if start >= end {
            return None;
        }
        let from = start;
        let mut at = start;
        start = loop {
            if at >= end {
                break end;
            }
            match separator.at(chars, at, end) {
                Some(length) => break at + length,
                None => at += 1,
            }
        };
        Some(from..start)
    })
}

fn trimmed(chars: &[char], span: Range<usize>) -> Range<usize> {
    let lead = chars[span.clone()].iter().take_while(|c| c.is_whitespace()).count();
    let start = span.start + lead;
    let tail = chars[start..span.end].iter().rev().take_while(|c| c.is_whitespace()).count();
    start..span.end - tail
}

/// The chunk of a span.
pub(super) fn chunk_of(chars: &[char], span: Range<usize>) -> Chunk {
    Chunk { text: chars[span.clone()].iter().collect(), char_start: span.start, char_end: span.end }
}
