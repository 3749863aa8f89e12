//! Cuts stored texts into statements: one sentence, list item, table row or turn of a conversation,
//! with the headings it stands under. Pure; it never judges what a statement is worth.

use domain::{FactType, Instant};
use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation;

/// A statement shorter than this (in characters) says too little by itself.
const LEAST_CHARS: usize = 4;
/// Sentences longer than this are cut at a clause, so that one run-on line cannot fill an answer.
const MOST_CHARS: usize = 700;

/// Where a text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SourceKind {
    /// A fact or observation.
    Memory(FactType),
    /// A mental model; its document is cut like a passage.
    Model,
}

/// A stored text to take statements from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Source {
    /// Its id.
    pub(crate) id: String,
    /// What it is.
    pub(crate) kind: SourceKind,
    /// The text.
    pub(crate) text: String,
    /// Its title or label.
    pub(crate) context: Option<String>,
    /// Headings that stand above its beginning, outermost first.
    pub(crate) headings: Vec<String>,
    /// Names of the entities that it mentions.
    pub(crate) entities: Vec<String>,
    /// When what it tells began.
    pub(crate) occurred_start: Option<Instant>,
    /// When what it tells ended.
    pub(crate) occurred_end: Option<Instant>,
    /// When it was said.
    pub(crate) mentioned_at: Option<Instant>,
    /// Whether it is a stretch of text to be cut (a chunk, a document) and not one statement.
    pub(crate) passage: bool,
}

/// One statement, not yet judged.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Piece {
    /// Place of its source in the list given to [`cut`].
    pub(crate) source: usize,
    /// Its words.
    pub(crate) text: String,
    /// Headings above it, else the title of its source; joined by " › ".
    pub(crate) context: Option<String>,
    /// Whether it says nothing without its context ("It was …", an item of a list).
    pub(crate) leans: bool,
}

impl Piece {
    /// The text that is embedded and matched: the context, then the words.
    pub(crate) fn matched(&self) -> String {
        match &self.context {
            Some(context) => format!("{context}: {}", self.text),
            None => self.text.clone(),
        }
    }

    /// The text that is shown: with the context where it says nothing without.
    pub(crate) fn shown(&self) -> String {
        match &self.context {
            Some(context) if self.leans => format!("{context}: {}", self.text),
            Some(_) | None => self.text.clone(),
        }
    }
}

/// The statements of texts, in order.
pub(crate) fn cut(sources: &[Source]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (at, source) in sources.iter().enumerate() {
        if source.passage {
            Cutter::new(at, source, &mut pieces).run(&source.text);
        } else {
            let text = domain::text::collapse_blanks(&source.text);
            if !text.is_empty() {
                pieces.push(Piece {
                    source: at,
                    leans: leans(&text),
                    text,
                    context: source.context.clone().filter(|context| !context.trim().is_empty()),
                });
            }
        }
    }
    pieces
}

/// The headings in force after a text, given those before it. For a passage that begins in the
/// middle of a document.
pub(crate) fn headings_after(before: &[String], text: &str) -> Vec<String> {
    let mut path = Path::starting(before);
    for line in unfenced(text) {
        if let Some((level, title)) = heading(line) {
            path.enter(level, title);
        }
    }
    path.titles()
}

fn unfenced(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().filter(move |line| {
        if is_fence(line) {
            fenced = !fenced;
            return false;
        }
        !fenced
    })
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

// Headings with their levels; a title given from outside has its place as level.
struct Path(Vec<(usize, String)>);

impl Path {
    fn starting(titles: &[String]) -> Self {
        Self(titles.iter().enumerate().map(|(at, title)| (at + 1, title.clone())).collect())
    }

    fn enter(&mut self, level: usize, title: String) {
        self.0.retain(|(above, _)| *above < level);
        self.0.push((level, title));
    }

    fn titles(&self) -> Vec<String> {
        self.0.iter().map(|(_, title)| title.clone()).collect()
    }
}

struct Cutter<'a> {
    source: usize,
    title: Option<String>,
    path: Path,
    pieces: &'a mut Vec<Piece>,
    // Lines of the paragraph or list item that is being read.
    open: Vec<String>,
    item: bool,
}

impl<'a> Cutter<'a> {
    fn new(at: usize, source: &Source, pieces: &'a mut Vec<Piece>) -> Self {
        Self {
            source: at,
            title: source.context.clone().filter(|title| !title.trim().is_empty()),
            path: Path::starting(&source.headings),
            pieces,
            open: Vec::new(),
            item: false,
        }
    }

    fn run(mut self, text: &str) {
        if let Some(turns) = conversation(text) {
            for (speaker, said) in turns {
                for sentence in sentences(&said) {
                    let context = speaker.clone().or_else(|| self.title.clone());
                    self.push(sentence, context, false);
                }
            }
            return;
        }
        let lines: Vec<&str> = text.lines().collect();
        let mut fenced = false;
        for (at, line) in lines.iter().enumerate() {
            if is_fence(line) {
                self.close();
                fenced = !fenced;
            } else if fenced {
                self.open.push((*line).to_owned());
            } else {
                self.line(line, lines.get(at + 1).copied());
            }
        }
        self.close();
    }

    fn line(&mut self, line: &str, next: Option<&str>) {
        let bare = line.trim();
        if bare.is_empty() || is_rule(bare) {
            self.close();
        } else if let Some((level, title)) = heading(line) {
            self.close();
            self.path.enter(level, title);
        } else if self.open.is_empty() && next.is_some_and(is_underline) && bare.len() < 120 {
            let level = if next.is_some_and(|next| next.trim().starts_with('=')) { 1 } else { 2 };
            self.path.enter(level, plain(bare));
        } else if let Some(item) = list_item(bare) {
            self.close();
            self.item = true;
            self.open.push(item.to_owned());
        } else if bare.starts_with('|') {
            self.close();
            let cells: Vec<&str> =
                bare.split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect();
            self.item = true;
            self.open.push(cells.join(", "));
            self.close();
        } else {
            self.open.push(bare.trim_start_matches('>').trim().to_owned());
        }
    }

    fn close(&mut self) {
        let text = plain(&std::mem::take(&mut self.open).join(" "));
        let item = std::mem::take(&mut self.item);
        let titles = self.path.titles();
        let context =
            if titles.is_empty() { self.title.clone() } else { Some(titles.join(" › ")) };
        let sentences = sentences(&text);
        let label = sentences.first().and_then(|first| label(first)).map(|label| match &context {
            Some(context) => format!("{context} › {label}"),
            None => label.to_owned(),
        });
        for (at, sentence) in sentences.into_iter().enumerate() {
            // What a paragraph opens with ("Release 4.0 (8 April): …") is the subject of the rest.
            let context = label.as_ref().filter(|_| at > 0).or(context.as_ref()).cloned();
            self.push(sentence, context, item);
        }
    }

    fn push(&mut self, text: String, context: Option<String>, item: bool) {
        let words = text.chars().filter(|c| c.is_alphanumeric()).count();
        if words >= LEAST_CHARS {
            let leans = item || leans(&text);
            self.pieces.push(Piece { source: self.source, text, context, leans });
        }
    }
}

/// Characters of the longest opening that names the subject of a paragraph.
const LABEL_CHARS: usize = 70;

// The opening of a sentence up to its colon, if it is short and names something.
fn label(sentence: &str) -> Option<&str> {
    let (label, rest) = sentence.split_once(": ")?;
    let names = label.starts_with(|c: char| c.is_uppercase() || c.is_numeric());
    (names && !rest.is_empty() && label.chars().count() <= LABEL_CHARS).then_some(label)
}

fn is_rule(line: &str) -> bool {
    let bare: String = line.chars().filter(|c| !c.is_whitespace()).collect();
    bare.len() >= 3 && bare.chars().all(|c| matches!(c, '-' | '*' | '_' | '=' | '|' | ':'))
}

fn is_underline(line: &str) -> bool {
    let bare = line.trim();
    bare.len() >= 3 && (bare.chars().all(|c| c == '=') || bare.chars().all(|c| c == '-'))
}

fn heading(line: &str) -> Option<(usize, String)> {
    let bare = line.trim();
    let level = bare.bytes().take_while(|b| *b == b'#').count();
    let title = plain(bare.get(level..)?.trim().trim_end_matches('#'));
    ((1..=6).contains(&level) && bare[level..].starts_with(' ') && !title.is_empty())
        .then_some((level, title))
}

fn list_item(line: &str) -> Option<&str> {
    let marked = ["- ", "* ", "+ ", "• ", "o "].iter().find_map(|mark| line.strip_prefix(mark));
    marked.or_else(|| {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let rest = &line[digits..];
        let rest = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))?;
        (1..=3).contains(&digits).then_some(rest)
    })
}

/// Inline Markdown taken off: marks of emphasis, code, and the targets of links.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['[', '`', '*', '_', '\\', '<']) {
        out.push_str(&rest[..at]);
        let tail = &rest[at..];
        if let Some((label, after)) = link(tail) {
            // An image says nothing in words.
            if out.ends_with('!') {
                out.pop();
            }
            out.push_str(&plain(label));
            rest = after;
        } else {
            let first = tail.chars().next().map_or(1, char::len_utf8);
            let word_before = out.chars().next_back().is_some_and(char::is_alphanumeric);
            let word_after = tail[first..].chars().next().is_some_and(char::is_alphanumeric);
            // "snake_case" and "2 * 3" keep their marks.
            let mark = match tail.as_bytes()[0] {
                b'`' => true,
                b'*' | b'_' => !(word_before && word_after) && (word_before || word_after),
                b'\\' => tail[first..].starts_with(|c: char| c.is_ascii_punctuation()),
                _ => false,
            };
            let double = tail.starts_with("**") || tail.starts_with("__");
            if double {
                rest = &tail[2..];
            } else {
                if !mark {
                    out.push_str(&tail[..first]);
                }
                rest = &tail[first..];
            }
        }
    }
    out.push_str(rest);
    domain::text::collapse_blanks(&out)
}

// `[label](target)` or `<target>` at the start of a text: the words, and what follows.
fn link(text: &str) -> Option<(&str, &str)> {
    if let Some(inner) = text.strip_prefix('<') {
        let end = inner.find('>')?;
        let target = &inner[..end];
        return (target.contains("://") || target.contains('@'))
            .then(|| (target, &inner[end + 1..]));
    }
    let inner = text.strip_prefix('[')?;
    let close = inner.find("](")?;
    let end = inner[close..].find(')')? + close;
    (!inner[..close].contains('[')).then(|| (&inner[..close], &inner[end + 1..]))
}

/// Sentences by the rules of Unicode, with those joined that were cut after an abbreviation or an
/// initial.
fn sentences(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for part in text.split_sentence_bounds() {
        match out.last_mut() {
            Some(open) if ends_open(open) => open.push_str(part),
            _ => out.push(part.to_owned()),
        }
    }
    out.iter().flat_map(|sentence| bounded(sentence.trim())).collect()
}

const ABBREVIATIONS: [&str; 16] = [
    "dr.", "mr.", "mrs.", "ms.", "prof.", "st.", "e.g.", "i.e.", "etc.", "vs.", "approx.", "no.",
    "inc.", "z.b.", "bzw.", "ca.",
];

fn ends_open(sentence: &str) -> bool {
    let Some(last) = sentence.split_whitespace().next_back() else { return true };
    let last = last.trim_start_matches(['(', '"', '“', '\'']).to_lowercase();
    let initial = last.chars().count() == 2
        && last.ends_with('.')
        && last.chars().next().is_some_and(char::is_alphabetic);
    initial || ABBREVIATIONS.contains(&last.as_str())
}

fn bounded(sentence: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = sentence;
    while rest.chars().count() > MOST_CHARS {
        let most = rest.char_indices().nth(MOST_CHARS).map_or(rest.len(), |(at, _)| at);
        let head = &rest[..most];
        let end = head.rfind("; ").or_else(|| head.rfind(", ")).or_else(|| head.rfind(' '));
        let end = end.map_or(most, |at| at + 1);
        out.push(rest[..end].trim().to_owned());
        rest = rest[end..].trim_start();
    }
    if !rest.is_empty() {
        out.push(rest.to_owned());
    }
    out
}

const LEANING: [&str; 16] = [
    "this", "it", "one", "these", "those", "that", "they", "he", "she", "its", "their", "his",
    "her", "there", "such", "both",
];

/// Whether a statement has no subject of its own.
fn leans(text: &str) -> bool {
    let first = text.unicode_words().next().map(str::to_lowercase);
    first.is_some_and(|word| LEANING.contains(&word.as_str()))
}

// The turns of a chunk that holds a conversation or records as compact JSON: who, what.
fn conversation(text: &str) -> Option<Vec<(Option<String>, String)>> {
    let text = text.trim();
    if !text.starts_with(['[', '{']) {
        return None;
    }
    let turns = match serde_json::from_str(text).ok()? {
        Value::Array(turns) => turns,
        one @ Value::Object(_) => vec![one],
        _ => return None,
    };
    let said = turns.iter().filter_map(|turn| {
        let field = |names: &[&str]| {
            names.iter().find_map(|name| turn.get(*name)?.as_str()).map(str::to_owned)
        };
        let words = field(&["content", "text", "message", "body"]).or_else(|| record(turn))?;
        Some((field(&["name", "speaker", "author", "from", "role"]), words))
    });
    Some(said.collect())
}

fn record(turn: &Value) -> Option<String> {
    let fields = turn.as_object()?.iter().filter_map(|(key, value)| match value {
        Value::String(text) => Some(format!("{key}: {text}")),
        Value::Number(number) => Some(format!("{key}: {number}")),
        Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => None,
    });
    Some(fields.collect::<Vec<_>>().join(", ")).filter(|text| !text.is_empty())
}

#[cfg(test)]
pub(super) fn passage(id: &str, text: &str) -> Source {
    Source {
        id: id.to_owned(),
        kind: SourceKind::Memory(FactType::World),
        text: text.to_owned(),
        context: Some("history.md".to_owned()),
        headings: Vec::new(),
        entities: Vec::new(),
        occurred_start: None,
        occurred_end: None,
        mentioned_at: None,
        passage: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        cut(&[passage("a", text)]).iter().map(Piece::shown).collect()
    }

    #[test]
    fn sentences_keep_versions_initials_and_wrapped_lines_whole() {
        assert_eq!(
            shown(
                "Debian 3.1 came out\nin June. Dr. Ian A. Murdock wrote it. Two ports, e.g. ARM."
            ),
            [
                "Debian 3.1 came out in June.",
                "Dr. Ian A. Murdock wrote it.",
                "Two ports, e.g. ARM."
            ]
        );
    }

    #[test]
    fn what_leans_is_shown_with_its_heading() {
        let text = "# History\n\n## Leaders\n\n- **Bruce Perens**, 1996\n- [Ian Jackson](https://x.y/z)\n\n\
                    It was `elected`. Leaders serve a year.";
        assert_eq!(
            shown(text),
            [
                "History › Leaders: Bruce Perens, 1996",
                "History › Leaders: Ian Jackson",
                "History › Leaders: It was elected.",
                "Leaders serve a year.",
            ]
        );
        assert_eq!(headings_after(&[], text), ["History", "Leaders"]);
        assert_eq!(headings_after(&["Other".to_owned()], "## Sub\ntext"), ["Other", "Sub"]);
    }

    #[test]
    fn a_labelled_paragraph_lends_its_label() {
        let text = "## Releases\n\nEtch 4.0 (8 April 2007): a toy. One port was added: AMD64.";
        assert_eq!(
            shown(text),
            [
                "Etch 4.0 (8 April 2007): a toy.",
                "Releases › Etch 4.0 (8 April 2007): One port was added: AMD64.",
            ]
        );
    }

    #[test]
    fn turns_name_their_speaker_and_code_is_no_heading() {
        let turns = r#"[{"role":"user","content":"I moved. The rent is 900."}]"#;
        let pieces = cut(&[passage("a", turns)]);
        assert_eq!(pieces.len(), 2);
        assert_eq!(pieces[1].matched(), "user: The rent is 900.");
        assert_eq!(cut(&[passage("a", "```\n# not a heading\n```")]).len(), 1);
    }
}
