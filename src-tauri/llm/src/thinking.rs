//! Takes a leading block of reasoning (`<think>…</think>` and its kin) out of an answer, whole or
//! piece by piece. Never touches such a tag anywhere else: an answer may quote one.

/// Openers and the closer of each.
const TAGS: [(&str, &str); 5] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("|startthink|", "|endthink|"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing but blanks and perhaps the start of an opener so far.
    Start,
    /// Inside the block that this closer ends.
    Inside(&'static str),
    /// After a block: blanks are dropped until the answer begins.
    After,
    /// In the answer.
    Answer,
}

/// Splits a text that arrives in pieces.
#[derive(Debug)]
pub(crate) struct Splitter {
    state: State,
    held: String,
}

/// What a piece turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Reasoning.
    Reasoning(String),
    /// Answer.
    Answer(String),
}

impl Splitter {
    pub(crate) fn new() -> Self {
        Self { state: State::Start, held: String::new() }
    }

    /// Takes a piece and returns what is now certain.
    pub(crate) fn push(&mut self, piece: &str) -> Vec<Part> {
        self.held.push_str(piece);
        let mut parts = Vec::new();
        while self.step(&mut parts) {}
        parts
    }

    /// Returns what was held back at the end of the text, and whether a block was left open.
    pub(crate) fn finish(self) -> (Vec<Part>, bool) {
        let open = matches!(self.state, State::Inside(_));
        let part = match self.state {
            _ if self.held.is_empty() => None,
            State::Inside(_) => Some(Part::Reasoning(self.held)),
            State::Start | State::Answer => Some(Part::Answer(self.held)),
            State::After => None,
        };
        (part.into_iter().collect(), open)
    }

    /// One change of state; false when more text is needed.
    fn step(&mut self, parts: &mut Vec<Part>) -> bool {
        match self.state {
            State::Start => {
                let begun = self.held.trim_start();
                if let Some((open, close)) = TAGS.iter().find(|(open, _)| begun.starts_with(open)) {
                    self.held = begun[open.len()..].to_owned();
                    self.state = State::Inside(close);
                    return true;
                }
                if TAGS.iter().any(|(open, _)| open.starts_with(begun)) {
                    return false;
                }
                self.state = State::Answer;
                true
            }
            State::Inside(close) => {
                if let Some(at) = self.held.find(close) {
                    let rest = self.held.split_off(at);
                    emit(parts, Part::Reasoning(std::mem::take(&mut self.held)));
                    self.held = rest[close.len()..].to_owned();
                    self.state = State::After;
                    return true;
                }
                let keep = possible_start(&self.held, close);
                let rest = self.held.split_off(self.held.len() - keep);
                emit(parts, Part::Reasoning(std::mem::replace(&mut self.held, rest)));
                false
            }
            State::After => {
                let rest = self.held.trim_start().to_owned();
                let more = !rest.is_empty();
                self.held = rest;
                if more {
                    self.state = State::Answer;
                }
                more
            }
            State::Answer => {
                emit(parts, Part::Answer(std::mem::take(&mut self.held)));
                false
            }
        }
    }
}

fn emit(parts: &mut Vec<Part>, part: Part) {
    let empty = match &part {
        Part::Reasoning(text) | Part::Answer(text) => text.is_empty(),
    };
    if !empty {
        parts.push(part);
    }
}

/// Length of the longest end of `text` that could be the beginning of `tag`.
fn possible_start(text: &str, tag: &str) -> usize {
    (1..tag.len()).rev().find(|&n| text.ends_with(&tag[..n])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reasoning, answer, and whether the block stayed open, however the text is cut up.
    fn split(text: &str) -> (String, String, bool) {
        let read = |size: usize| {
            let mut splitter = Splitter::new();
            let (mut reasoning, mut answer) = (String::new(), String::new());
            let chars: Vec<char> = text.chars().collect();
            let mut parts = Vec::new();
            for piece in chars.chunks(size) {
                parts.extend(splitter.push(&piece.iter().collect::<String>()));
            }
            let (rest, open) = splitter.finish();
            for part in parts.into_iter().chain(rest) {
                match part {
                    Part::Reasoning(text) => reasoning.push_str(&text),
                    Part::Answer(text) => answer.push_str(&text),
                }
            }
            (reasoning, answer, open)
        };
        let whole = read(text.chars().count().max(1));
        for size in 1..8 {
            assert_eq!(read(size), whole, "in pieces of {size}");
        }
        whole
    }

    #[test]
    fn a_leading_block_is_reasoning() {
        let got = split("<think>plan</think># Title\n\nText ");
        assert_eq!(got, ("plan".into(), "# Title\n\nText ".into(), false));
        let got = split("\n <reasoning>a < b</reasoning>\n\n{\"a\": 1}");
        assert_eq!(got, ("a < b".into(), "{\"a\": 1}".into(), false));
        let got = split("|startthink|hm|endthink|Yes.");
        assert_eq!(got, ("hm".into(), "Yes.".into(), false));
    }

    #[test]
    fn an_open_block_takes_everything_and_says_so() {
        let got = split("<think>\none\ntwo\nthree");
        assert_eq!(got, ("\none\ntwo\nthree".into(), String::new(), true));
    }

    #[test]
    fn a_quoted_tag_stays() {
        for text in [
            "{\"note\": \"it printed <think> and stopped\"}",
            "The tag <think>x</think> is removed.",
            "<thinker> is no tag",
            "  leading blanks stay",
            "<thi",
            "",
        ] {
            assert_eq!(split(text), (String::new(), text.to_owned(), false));
        }
    }
}
