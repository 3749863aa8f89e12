//! An answer as Markdown that stands by itself: numbers behind the pieces that rest on sources, and
//! only those pieces where a source must not be passed on. Text in, text out; what a source is and
//! which must stay is for the caller to say.

use std::collections::BTreeMap;

use crate::citations::EvidenceSpan;

/// What stands in the place of a piece that is left out.
pub const LEFT_OUT: &str = "[kept on this computer]";

/// An answer with numbers, and the sources in the order of their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noted {
    /// Markdown with `[^n]` behind each piece that rests on a source.
    pub text: String,
    /// Ids of the sources, the one of number 1 first.
    pub sources: Vec<String>,
}

/// Puts numbers behind the pieces of an answer that rest on one of the `known` ids, in the order of
/// first mention. A number stands behind the full stop and behind marks that close there.
#[must_use]
pub fn noted(text: &str, spans: &[EvidenceSpan], known: impl Fn(&str) -> bool) -> Noted {
    let places = Places::of(text);
    let mut sources: Vec<String> = Vec::new();
    let mut marks: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut ordered: Vec<&EvidenceSpan> = spans.iter().collect();
    ordered.sort_by_key(|span| span.start);
    for span in ordered {
        for id in span.ids.iter().filter(|id| known(id)) {
            let number = sources.iter().position(|source| source == id).unwrap_or_else(|| {
                sources.push(id.clone());
                sources.len() - 1
            });
            let here = marks.entry(after_stop(text, places.byte(span.end))).or_default();
            if !here.contains(&number) {
                here.push(number);
            }
        }
    }
    let mut out = String::with_capacity(text.len() + marks.len() * 5);
    let mut from = 0;
    for (at, numbers) in marks {
        out.push_str(&text[from..at]);
        for number in numbers {
            out.push_str(&format!("[^{}]", number + 1));
        }
        from = at;
    }
    out.push_str(&text[from..]);
    Noted { text: out, sources }
}

/// Leaves of an answer only the pieces that rest on sources of which none must stay, and moves their
/// spans along. What rests on nothing named goes too: it may have come from what must stay.
#[must_use]
pub fn without_private(
    text: &str,
    spans: &[EvidenceSpan],
    private: impl Fn(&str) -> bool,
) -> (String, Vec<EvidenceSpan>) {
    let places = Places::of(text);
    let mut open: Vec<&EvidenceSpan> = spans
        .iter()
        .filter(|span| !span.ids.is_empty() && !span.ids.iter().any(|id| private(id)))
        .collect();
    open.sort_by_key(|span| span.start);
    let mut out = String::new();
    let mut kept = Vec::new();
    let mut from = 0;
    for span in open {
        let (start, end) = (places.byte(span.start), places.byte(span.end));
        if start < from {
            continue;
        }
        push_gap(&mut out, &text[from..start]);
        let begin = utf16(&out);
        out.push_str(&text[start..end]);
        kept.push(EvidenceSpan { start: begin, end: utf16(&out), ids: span.ids.clone() });
        from = end;
    }
    push_gap(&mut out, &text[from..]);
    (out, kept)
}

fn utf16(text: &str) -> u32 {
    u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX)
}

// What lies between two pieces: marks and blanks stay, words do not.
fn push_gap(out: &mut String, gap: &str) {
    let first = gap.find(char::is_alphanumeric);
    let Some(first) = first else {
        out.push_str(gap);
        return;
    };
    let last = gap.rfind(char::is_alphanumeric).unwrap_or(first);
    let after = last + gap[last..].chars().next().map_or(0, char::len_utf8);
    out.push_str(&gap[..first]);
    out.push_str(LEFT_OUT);
    out.push_str(&gap[after..]);
}

/// Bytes of UTF-16 places.
struct Places {
    /// Byte of each unit, and one past the last.
    bytes: Vec<usize>,
}

impl Places {
    fn of(text: &str) -> Self {
        let mut bytes = Vec::with_capacity(text.len() + 1);
        for (at, character) in text.char_indices() {
            bytes.extend(std::iter::repeat_n(at, character.len_utf16()));
        }
        bytes.push(text.len());
        Self { bytes }
    }

    fn byte(&self, unit: u32) -> usize {
        let last = self.bytes.len() - 1;
        self.bytes[usize::try_from(unit).unwrap_or(last).min(last)]
    }
}

const CLOSERS: &str = "*_`\"'”’»)]";
const STOPS: &str = ".,;:!?…。！？";

// Behind the full stop and behind marks of Markdown that close there.
fn after_stop(text: &str, end: usize) -> usize {
    let mut at = text[..end].trim_end().len();
    // The rest of a link, of which the piece was the label.
    if let Some(link) = link_tail(&text[at..]) {
        at += link;
    }
    let skip = |at: usize, set: &str| {
        at + text[at..]
            .chars()
            .take_while(|character| set.contains(*character))
            .map(char::len_utf8)
            .sum::<usize>()
    };
    at = skip(at, CLOSERS);
    if let Some(stop) = text[at..].chars().next().filter(|first| STOPS.contains(*first)) {
        at += stop.len_utf8();
    }
    at = skip(at, CLOSERS);
    at + dated(&text[at..])
}

fn link_tail(rest: &str) -> Option<usize> {
    let label = rest.find(|c: char| "[]()\n".contains(c))?;
    let address = rest[label..].strip_prefix("](")?;
    let close = address.find(['\n', ')'])?;
    address[close..].starts_with(')').then_some(label + 2 + close + 1)
}

// A date in brackets that was put behind a statement belongs to it.
fn dated(rest: &str) -> usize {
    let Some(inner) = rest.strip_prefix(" (") else { return 0 };
    let Some(close) = inner.find(['(', ')', '\n']) else { return 0 };
    let after = &inner[close..];
    let ends = after == ")" || after.starts_with(")\n");
    if ends { 2 + close + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, quote: &str, ids: &[&str]) -> EvidenceSpan {
        let start = text.find(quote).expect("the quote is in the text");
        EvidenceSpan {
            start: utf16(&text[..start]),
            end: utf16(&text[..start + quote.len()]),
            ids: ids.iter().map(|id| (*id).to_owned()).collect(),
        }
    }

    #[test]
    fn numbers_stand_behind_the_full_stop_and_follow_the_first_mention() {
        let text = "🛶 It is **late**. The rest [here](https://x.y) stays";
        let spans =
            [at(text, "here", &["b"]), at(text, "late", &["a", "b"]), at(text, "stays", &["c"])];
        let noted = noted(text, &spans, |id| id != "c");
        assert_eq!(noted.text, "🛶 It is **late**.[^1][^2] The rest [here](https://x.y)[^2] stays");
        assert_eq!(noted.sources, ["a", "b"]);
    }

    #[test]
    fn a_date_in_brackets_belongs_to_its_statement() {
        let text = "- It is late. (3 March 2026)\n- So it is (they say) today";
        let spans = [at(text, "It is late", &["a"]), at(text, "So it is", &["a"])];
        assert_eq!(
            noted(text, &spans, |_| true).text,
            "- It is late. (3 March 2026)[^1]\n- So it is[^1] (they say) today"
        );
    }

    #[test]
    fn of_an_answer_with_private_sources_only_the_open_pieces_stay() {
        let text = "- The ferry é leaves at six.\n- The key lies below.\nSo hurry.";
        let spans = [
            at(text, "The ferry é leaves at six", &["a"]),
            at(text, "The key lies below", &["a", "p"]),
        ];
        let (out, kept) = without_private(text, &spans, |id| id == "p");
        assert_eq!(out, "- The ferry é leaves at six.\n- [kept on this computer].");
        assert_eq!(kept, [spans[0].clone()]);
        let (all, none) = without_private(text, &[], |_| false);
        assert_eq!((all.as_str(), none.len()), ("- [kept on this computer].", 0));
    }
}
