//! Showing long texts to a language model within a limit: the best ones whole and the rest as a
//! beginning, or the part of one text around the place that matters. Marked where something is left
//! out; nothing is rewritten.

use crate::answer::cut_at_block;
use crate::tokens::TokenCounter;

/// Tokens of mental-model contents in one search result.
pub const MODEL_TOKENS: u32 = 6000;
/// Tokens of a content that came after the limit.
pub const BEGINNING_TOKENS: u32 = 200;
/// Tokens of a document that `expand` opens.
pub const DOCUMENT_TOKENS: u32 = 6000;

/// A text, or what is shown of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt<'a> {
    /// A part of the text.
    pub text: &'a str,
    /// Whether something is left out.
    pub truncated: bool,
}

impl<'a> Excerpt<'a> {
    fn of(whole: &'a str, shown: &'a str) -> Self {
        Self { text: shown, truncated: shown.len() < whole.trim_end().len() }
    }
}

/// Texts in rank order within `limit` tokens: whole while they fit, the one that crosses the limit
/// cut at a block boundary, those behind it cut to their beginning.
#[must_use]
pub fn in_rank_order<'a>(
    texts: &[&'a str],
    limit: u32,
    tokens: &dyn TokenCounter,
) -> Vec<Excerpt<'a>> {
    let mut left = Some(limit);
    texts
        .iter()
        .map(|text| match left {
            Some(room) => {
                let size = tokens.count(text);
                left = room.checked_sub(size);
                if left.is_some() {
                    Excerpt { text, truncated: false }
                } else {
                    // Never less than those behind it get.
                    let room = room.max(BEGINNING_TOKENS);
                    Excerpt::of(text, cut_at_block(text, room, tokens))
                }
            }
            None => Excerpt::of(text, tokens.cut(text, BEGINNING_TOKENS).trim_end()),
        })
        .collect()
}

/// The part of a text around a place (byte positions) within about `limit` tokens.
/// The place itself stays as far as it fits; what is left goes half before and half after it, and
/// what one side does not need goes to the other.
#[must_use]
pub fn around<'a>(
    text: &'a str,
    place: std::ops::Range<usize>,
    limit: u32,
    tokens: &dyn TokenCounter,
) -> Excerpt<'a> {
    if tokens.count(text) <= limit {
        return Excerpt { text, truncated: false };
    }
    let start = text.floor_char_boundary(place.start);
    let end = text.ceil_char_boundary(place.end.max(start));
    let (before, middle, after) = (&text[..start], &text[start..end], &text[end..]);
    let room = limit.saturating_sub(tokens.count(middle));
    if room == 0 {
        return Excerpt { text: tokens.cut(middle, limit), truncated: true };
    }
    let (size_before, size_after) = (tokens.count(before), tokens.count(after));
    let room_before = size_before.min((room / 2).max(room.saturating_sub(size_after)));
    let shown_after = tokens.cut(after, room - room_before);
    let from = start - tail(before, room_before, tokens).len();
    Excerpt { text: &text[from..end + shown_after.len()], truncated: true }
}

// The longest end of a text within `max` tokens, by halving: the counter only cuts beginnings.
fn tail<'a>(text: &'a str, max: u32, tokens: &dyn TokenCounter) -> &'a str {
    let (mut fits, mut too_long) = (text.len(), 0);
    if tokens.count(text) <= max {
        return text;
    }
    while fits - too_long > 1 {
        let middle = text.ceil_char_boundary(too_long + (fits - too_long) / 2);
        if middle >= fits {
            break;
        }
        if tokens.count(&text[middle..]) <= max {
            fits = middle;
        } else {
            too_long = middle;
        }
    }
    &text[fits..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::Cl100k;

    #[test]
    fn the_first_texts_are_whole_and_the_last_only_begin() {
        let page = "A sentence about ferries.\n\n".repeat(100);
        let long = "word ".repeat(1000);
        let shown = in_rank_order(&["Short.", &page, &long, "Tiny."], 300, &Cl100k);
        assert_eq!(shown[0], Excerpt { text: "Short.", truncated: false });
        assert!(shown[1].truncated && shown[1].text.ends_with("ferries."));
        assert!(Cl100k.count(shown[1].text) <= 300);
        assert!(shown[2].truncated && Cl100k.count(shown[2].text) <= BEGINNING_TOKENS);
        assert_eq!(shown[3], Excerpt { text: "Tiny.", truncated: false });
    }

    #[test]
    fn the_place_stays_in_view() {
        let text = format!("{}THE PLACE{}", "é before. ".repeat(300), " after it é".repeat(300));
        let at = text.find("THE PLACE").unwrap();
        for place in [at..at + 9, 0..3, text.len() - 3..text.len()] {
            let shown = around(&text, place.clone(), 200, &Cl100k);
            assert!(shown.truncated && shown.text.contains(&text[place]));
            let size = Cl100k.count(shown.text);
            assert!((150..=202).contains(&size), "{size}");
        }
        assert!(!around("short", 0..5, 200, &Cl100k).truncated);
    }
}
