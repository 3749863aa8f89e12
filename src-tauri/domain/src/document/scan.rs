//! The line scanner: which lines are headings, which are blank, and which belong to a block because
//! a fence or a protected HTML region is open. It knows nothing of sections or ids.

/// One line: its text and its terminator (`"\n"`, `"\r\n"`, or `""` at the end of the input).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    pub(crate) text: &'a str,
    pub(crate) end: &'a str,
}

/// The lines of a text. Only `\n` and `\r\n` end a line: a lone `\r`, U+2028, a form feed and the
/// like are ordinary characters.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.split_inclusive('\n').map(|line| match line.strip_suffix('\n') {
        None => Line { text: line, end: "" },
        Some(body) => {
            let body = body.strip_suffix('\r').unwrap_or(body);
            Line { text: body, end: &line[body.len()..] }
        }
    })
}

/// What a line is to the structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind<'a> {
    /// Only spaces and tabs, outside any fence or region.
    Blank,
    /// A heading with its level and its text.
    Heading {
        /// 1 to 6.
        level: u8,
        /// Without hashes and surrounding spaces; never empty.
        text: &'a str,
    },
    /// Part of a block.
    Body,
}

/// A fence or region that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Open {
    Fence { mark: char, length: usize, indent: usize },
    Comment,
    Raw(&'static str),
}

/// HTML elements whose content is raw text, where blank lines and hashes mean nothing
/// (CommonMark 0.31, HTML blocks, start condition 1).
const RAW: [&str; 4] = ["pre", "script", "style", "textarea"];

/// Classifies lines in order and remembers what is open.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scanner {
    open: Option<Open>,
}

impl Scanner {
    /// What the next line is.
    pub(crate) fn classify<'a>(&mut self, line: &'a str) -> Kind<'a> {
        if let Some(open) = &self.open {
            if open.closes_on(line) {
                self.open = None;
            }
            return Kind::Body;
        }
        if let Some(open) = opens_fence(line).or_else(|| opens_region(line)) {
            self.open = Some(open);
            return Kind::Body;
        }
        if let Some((level, text)) = heading(line) {
            return Kind::Heading { level, text };
        }
        if is_blank(line) { Kind::Blank } else { Kind::Body }
    }

    /// Whether a fence or region is open.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The line that would close what is open.
    pub(crate) fn closing_line(&self) -> Option<String> {
        self.open.as_ref().map(|open| match open {
            // Indented as deep as the opener, so that a fence in a list item is closed there.
            Open::Fence { mark, length, indent } => {
                let mut line = " ".repeat(*indent);
                line.extend(std::iter::repeat_n(*mark, *length));
                line
            }
            Open::Comment => "-->".to_owned(),
            Open::Raw(tag) => format!("</{tag}>"),
        })
    }
}

impl Open {
    fn closes_on(&self, line: &str) -> bool {
        match self {
            Self::Fence { mark, length, .. } => {
                let run = line.trim_matches([' ', '\t']);
                run.len() >= *length && run.chars().all(|c| c == *mark)
            }
            Self::Comment => line.contains("-->"),
            Self::Raw(_) => closes_raw(line),
        }
    }
}

/// The line that closes what a text leaves open, if it leaves anything open.
pub(crate) fn left_open(text: &str) -> Option<String> {
    let mut scanner = Scanner::default();
    for line in lines(text) {
        scanner.classify(line.text);
    }
    scanner.closing_line()
}

/// Only spaces and tabs; a no-break space or U+3000 is text.
pub(crate) fn is_blank(line: &str) -> bool {
    line.chars().all(|c| c == ' ' || c == '\t')
}

fn opens_fence(line: &str) -> Option<Open> {
    let body = after_list_markers(line);
    let mark = body.chars().next().filter(|c| *c == '`' || *c == '~')?;
    let length = body.chars().take_while(|c| *c == mark).count();
    // With backticks, another one on the line makes it an inline code span.
    if length < 3 || (mark == '`' && body[length..].contains('`')) {
        return None;
    }
    let indent = line[..line.len() - body.len()].chars().count();
    Some(Open::Fence { mark, length, indent })
}

/// The rest of a line after indentation and any number of list markers.
fn after_list_markers(line: &str) -> &str {
    let mut rest = line.trim_start_matches([' ', '\t']);
    while let Some(after) = after_marker(rest) {
        rest = after;
    }
    rest
}

/// The rest after one list marker and its space, if there is one.
fn after_marker(text: &str) -> Option<&str> {
    let after = match text.strip_prefix(['-', '*', '+']) {
        Some(after) => after,
        None => {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            if digits == 0 || digits > 9 {
                return None;
            }
            text[digits..].strip_prefix(['.', ')'])?
        }
    };
    after.starts_with([' ', '\t']).then(|| after.trim_start_matches([' ', '\t']))
}

fn opens_region(line: &str) -> Option<Open> {
    let body = line.trim_start_matches(' ');
    if line.len() - body.len() > 3 || !body.starts_with('<') {
        return None;
    }
    if body.starts_with("<!--") {
        return (!body.contains("-->")).then_some(Open::Comment);
    }
    let tag = RAW.into_iter().find(|tag| {
        body.get(1..=tag.len()).is_some_and(|name| name.eq_ignore_ascii_case(tag))
            && body[1 + tag.len()..].chars().next().is_none_or(|c| c == '>' || c.is_whitespace())
    })?;
    (!closes_raw(line)).then_some(Open::Raw(tag))
}

/// Whether a closing tag of any raw element stands on the line.
fn closes_raw(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    RAW.iter().any(|tag| lower.contains(&format!("</{tag}>")))
}

/// Level and text of a heading line.
fn heading(line: &str) -> Option<(u8, &str)> {
    let hashes = line.bytes().take_while(|b| *b == b'#').count();
    let level = u8::try_from(hashes).ok().filter(|level| (1..=6).contains(level))?;
    let rest = &line[hashes..];
    if !rest.starts_with([' ', '\t']) {
        return None;
    }
    let text = heading_text(rest);
    (!text.is_empty()).then_some((level, text))
}

/// What remains of the text after the opening hashes when surrounding spaces and a closing run of
/// hashes are taken off. A closing run needs a space before it, so `C#` stays.
pub(crate) fn heading_text(rest: &str) -> &str {
    let body = rest.trim_end_matches([' ', '\t']);
    let open = body.trim_end_matches('#');
    let body = if open.len() < body.len() && (open.is_empty() || open.ends_with([' ', '\t'])) {
        open
    } else {
        body
    };
    body.trim_matches([' ', '\t'])
}

/// A heading as a person or a model gives it: trimmed, opening hashes and a closing run of them
/// taken off until what is left reads back as itself from a heading line. Empty if nothing is left.
pub(crate) fn clean_heading(given: &str) -> String {
    let mut text = given.trim();
    loop {
        let bare = heading_text(text.trim_start_matches('#')).trim();
        if bare.len() == text.len() {
            return bare.to_owned();
        }
        text = bare;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closing_run_needs_a_space() {
        assert_eq!(heading("## Tools ##  "), Some((2, "Tools")));
        assert_eq!(heading("### C#"), Some((3, "C#")));
        assert_eq!(heading("## ##"), None);
        assert_eq!(heading("#######  x"), None);
        assert_eq!(heading("#\tx"), Some((1, "x")));
    }

    #[test]
    fn a_cleaned_heading_reads_back_as_itself() {
        for given in ["## Tools ##", "a ## ##", " # # b", "C#", "\u{3000}x #\u{a0}"] {
            let clean = clean_heading(given);
            assert_eq!(heading(&format!("## {clean}")), Some((2, clean.as_str())), "{given:?}");
        }
        assert_eq!(clean_heading("## ##"), "");
        assert_eq!(clean_heading("a ## ##"), "a");
    }

    #[test]
    fn fences_open_in_lists_but_not_as_code_spans() {
        assert!(opens_fence("1. - ```sh").is_some());
        assert!(opens_fence("```a`b").is_none());
        assert!(opens_fence("~~~a`b").is_some());
        assert!(opens_fence("-```").is_none());
        assert_eq!(left_open("- ```\nx").as_deref(), Some("  ```"));
    }

    #[test]
    fn regions_end_on_any_of_the_four_tags() {
        assert!(opens_region("   <PRE class=x>").is_some());
        assert!(opens_region("    <pre>").is_none());
        assert!(opens_region("<present>").is_none());
        assert!(opens_region("<pre>x</style>").is_none());
        assert_eq!(left_open("<!-- a\n\n-->"), None);
        assert_eq!(left_open("<textarea>\n").as_deref(), Some("</textarea>"));
    }

    #[test]
    fn a_lone_carriage_return_ends_nothing() {
        let all: Vec<&str> = lines("a\rb\r\nc\u{2028}d\n").map(|line| line.text).collect();
        assert_eq!(all, ["a\rb", "c\u{2028}d"]);
    }
}
