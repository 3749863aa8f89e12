//! Reading the header of a file back: the few fields that a page or a model is made of, in the forms
//! that our own export and common editors write them. What is none of these fields is not looked at,
//! and what cannot be read is as if it were not there.

/// The fields of a header. What is not stated is empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Header {
    /// Id of the page or model that the file was written from.
    pub id: String,
    /// What it is.
    pub kind: String,
    /// Its name.
    pub title: String,
    /// The question it answers.
    pub description: String,
    /// Its tags, without the one that says what it is.
    pub tags: Vec<String>,
}

/// Reads a header (without its fences).
#[must_use]
pub fn read_header(header: &str) -> Header {
    let mut read = Header::default();
    let lines: Vec<&str> = header.lines().collect();
    let is_inner = |line: &str| line.trim().is_empty() || line.starts_with([' ', '\t', '-', '#']);
    for (at, line) in lines.iter().enumerate() {
        let Some((key, value)) = line.split_once(':').filter(|_| !is_inner(line)) else { continue };
        let inner = lines[at + 1..].iter().take_while(|line| is_inner(line));
        let inner: Vec<&str> = inner.map(|line| line.trim()).collect();
        let key = key.trim().trim_matches(['"', '\'']);
        match key {
            "id" => read.id = scalar(value, &inner),
            "type" => read.kind = scalar(value, &inner),
            "title" => read.title = scalar(value, &inner),
            "description" => read.description = scalar(value, &inner),
            "tags" => read.tags = list(value, &inner),
            _ => {}
        }
    }
    read
}

/// A value that is one text: quoted, plain, or a block of lines, which become one.
fn scalar(value: &str, inner: &[&str]) -> String {
    let value = value.trim();
    let text = if value.starts_with(['|', '>']) || value.is_empty() {
        inner.join(" ")
    } else {
        first(value).map_or_else(|| plain(value), |(text, _)| text)
    };
    crate::text::collapse_blanks(&text)
}

/// A value that is a list: in brackets, one item a line, a list within a text, or a single item.
fn list(value: &str, inner: &[&str]) -> Vec<String> {
    let value = value.trim();
    let items = if let Some(flow) = value.strip_prefix('[') {
        items([flow, &inner.join(" ")].concat().as_str())
    } else if value.is_empty() {
        let dashed = inner.iter().filter_map(|line| line.strip_prefix('-'));
        dashed.map(|item| scalar(item, &[])).collect()
    } else {
        let text = scalar(value, &[]);
        serde_json::from_str(&text).unwrap_or_else(|_| vec![text])
    };
    items.into_iter().filter(|item| !item.trim().is_empty()).collect()
}

/// The items of a list in brackets, from behind the opening one.
fn items(mut rest: &str) -> Vec<String> {
    let mut found = Vec::new();
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        if rest.is_empty() || rest.starts_with(']') {
            return found;
        }
        if let Some((text, behind)) = first(rest) {
            found.push(text);
            rest = behind;
        } else {
            let end = rest.find([',', ']']).unwrap_or(rest.len());
            found.push(plain(&rest[..end]));
            rest = &rest[end..];
        }
    }
}

/// A plain value ends where a comment begins.
fn plain(value: &str) -> String {
    value.split(" #").next().unwrap_or_default().trim().to_owned()
}

/// The quoted text that a value begins with, and what stands behind it.
fn first(value: &str) -> Option<(String, &str)> {
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let mut text = String::new();
    let mut chars = value.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' if quote == '\'' && chars.peek().is_some_and(|(_, next)| *next == '\'') => {
                chars.next();
                text.push('\'');
            }
            c if c == quote => return Some((text, &value[at + c.len_utf8()..])),
            '\\' if quote == '"' => match chars.next()?.1 {
                'n' => text.push('\n'),
                'r' => text.push('\r'),
                't' => text.push('\t'),
                'u' => {
                    let hex: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                    text.extend(u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32));
                }
                other => text.push(other),
            },
            c => text.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::LineEnd;
    use crate::page::{FrontMatter, PAGE_TYPE, split_front_matter};

    #[test]
    fn what_is_written_is_read_back() {
        let tags = ["a \"b\", c]".to_owned(), "größe".to_owned(), "type:guide".to_owned()];
        let front = FrontMatter {
            id: "kp-1",
            title: "Hours: \\ \"late\" # not a comment",
            description: "What \u{feff}is 'open'?",
            tags: &tags,
            kind: PAGE_TYPE,
            timestamp: Some(crate::time::from_millis(0)),
        };
        for end in [LineEnd::Lf, LineEnd::CrLf] {
            let text = front.render(&["aliases: [x]".to_owned()], end);
            let read = read_header(split_front_matter(&text).0.expect("a header"));
            assert_eq!(read.id, front.id);
            assert_eq!((read.kind.as_str(), read.title.as_str()), ("guide", front.title));
            assert_eq!(read.description, front.description);
            assert_eq!(read.tags, tags[..2]);
        }
    }

    #[test]
    fn common_forms_of_editors_are_read() {
        let header = "title: Kiln 'n' oven # a note\n\
             description: >-\n  What do we know\n  about it?\n\
             tags:\n  - warm\n# mine\n  - 'it''s'\n\
             nested:\n  title: other\n";
        let read = read_header(header);
        assert_eq!(read.title, "Kiln 'n' oven");
        assert_eq!(read.description, "What do we know about it?");
        assert_eq!(read.tags, ["warm", "it's"]);
        assert_eq!(read_header("tags: [a, \"b, c\", \" \",\n  d]\n").tags, ["a", "b, c", "d"]);
        assert_eq!(read_header("tags: one\ntitle: \"open\n").tags, ["one"]);
        assert_eq!(read_header(""), Header::default());
    }
}
