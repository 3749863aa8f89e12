//! From the bytes of a file to what can be kept: a text (Markdown where the source has headings,
//! lists or tables) or a list of ready-made facts. Pure: bytes in, text out; it never opens a file,
//! never guesses dates, never calls a model. A file that is not what its name says is a fault of
//! that file alone.

use crate::report::{Fault, fault};
use crate::view::memory::NewFact;
use htmd::element_handler::{HandlerResult, Handlers};
use htmd::{Element, HtmlToMarkdown};

/// Largest file that is read, in bytes (memory spec section 3: 100 MiB a call).
pub(crate) const MAX_BYTES: u64 = 100 * 1024 * 1024;

/// What a file holds, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// Plain text or Markdown.
    Text,
    /// HTML, XHTML.
    Html,
    /// JSON: facts when it is an array of objects with a `text`, else a text.
    Json,
    /// One JSON object a line.
    JsonLines,
    /// Comma-separated values with a header.
    Csv,
}

/// The kind of a file by its ending; `None` for endings that are not read.
pub(crate) fn kind_of(name: &str) -> Option<FileKind> {
    let ending = name.rsplit_once('.')?.1.to_ascii_lowercase();
    Some(match ending.as_str() {
        "txt" | "text" | "md" | "markdown" | "rst" | "org" => FileKind::Text,
        "html" | "htm" | "xhtml" => FileKind::Html,
        "json" => FileKind::Json,
        "jsonl" | "ndjson" => FileKind::JsonLines,
        "csv" => FileKind::Csv,
        _ => return None,
    })
}

/// A file's content.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    /// A text with the title that it gives itself.
    Text {
        /// First heading or HTML title, if any.
        title: Option<String>,
        /// The text; Markdown for HTML.
        text: String,
    },
    /// Ready-made facts: for each line either the fact or why it cannot be read.
    Facts(Vec<FactLine>),
}

/// One line of a file of facts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FactLine {
    /// Its number, from 1 (the item's number in a JSON array).
    pub(crate) line: u32,
    /// The fact, or one sentence on why there is none.
    pub(crate) fact: Result<NewFact, String>,
}

/// Reads a file.
///
/// # Errors
/// `unsupported_file` for an unknown ending, `file_unreadable` for content that is not what the
/// name says (binary data, broken JSON).
pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Content, Fault> {
    let Some(kind) = kind_of(name) else {
        return Err(fault("unsupported_file").with("name", name));
    };
    let text = decode(name, bytes)?;
    match kind {
        FileKind::Text => Ok(Content::Text { title: first_heading(&text), text }),
        FileKind::Html => read_html(name, &text),
        FileKind::Json => read_json(name, text),
        FileKind::JsonLines => Ok(Content::Facts(read_lines(&text))),
        FileKind::Csv => Ok(Content::Text { title: None, text: read_csv(&text) }),
    }
}

/// UTF-8, else what a byte-order mark says, else Windows-1252. Text with NUL bytes is no text.
fn decode(name: &str, bytes: &[u8]) -> Result<String, Fault> {
    let (text, _, _) = match std::str::from_utf8(bytes) {
        Ok(text) => (text.trim_start_matches('\u{feff}').into(), encoding_rs::UTF_8, false),
        Err(_) => match encoding_rs::Encoding::for_bom(bytes) {
            Some((encoding, _)) => encoding.decode(bytes),
            None => encoding_rs::WINDOWS_1252.decode(bytes),
        },
    };
    if text.contains('\0') {
        return Err(fault("file_unreadable").with("name", name));
    }
    Ok(text.into_owned())
}

/// Text of the first Markdown heading.
fn first_heading(text: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let heading = line.trim_start_matches('#');
        let level = line.len() - heading.len();
        ((1..=6).contains(&level) && heading.starts_with(' '))
            .then(|| heading.trim().trim_end_matches('#').trim().to_owned())
            .filter(|heading| !heading.is_empty())
    })
}

/// HTML as Markdown: headings, lists and tables stay; scripts, styles, navigation, pictures and the
/// targets of links go.
fn read_html(name: &str, html: &str) -> Result<Content, Fault> {
    let converter = HtmlToMarkdown::builder()
        .skip_tags(vec!["script", "style", "nav", "head", "noscript", "template", "svg", "img"])
        .add_handler(vec!["a"], |handlers: &dyn Handlers, element: Element<'_>| {
            Some(handlers.walk_children(element.node))
        })
        .add_handler(vec!["div", "table"], |handlers: &dyn Handlers, element: Element<'_>| {
            if is_navigation(&element) {
                return Some(HandlerResult::from(String::new()));
            }
            handlers.fallback(element)
        })
        .build();
    let markdown = converter
        .convert(html)
        .map_err(|error| fault("file_unreadable").with("name", name).detail(error))?;
    let title = first_heading(&markdown).or_else(|| html_title(html));
    Ok(Content::Text { title, text: unescape_lines(&markdown) })
}

/// Whether an element says of itself that it only leads elsewhere.
fn is_navigation(element: &Element<'_>) -> bool {
    element.attrs.iter().any(|attr| {
        let name: &str = &attr.name.local;
        let value = attr.value.to_ascii_lowercase();
        (name == "class" && value.split_whitespace().any(|word| word.starts_with("nav")))
            || (name == "role" && value == "navigation")
            || (name == "summary" && value.starts_with("navigation"))
    })
}

/// The text of the `title` element.
fn html_title(html: &str) -> Option<String> {
    let lower = html.to_ascii_lowercase();
    let start = lower.find("<title")?;
    let start = start + lower[start..].find('>')? + 1;
    let end = start + lower[start..].find("</title")?;
    let title = html.get(start..end)?.split_whitespace().collect::<Vec<_>>().join(" ");
    (!title.is_empty()).then_some(title)
}

/// Joins the lines of a paragraph, which HTML breaks anywhere, and drops trailing blanks.
fn unescape_lines(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    for line in markdown.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out.trim_matches('\n').to_owned() + "\n"
}

/// JSON: an array of objects of which at least one has a `text` is a file of facts; an object with
/// such an array under `facts`, `memories` or `items` too; anything else is kept as text.
fn read_json(name: &str, text: String) -> Result<Content, Fault> {
    let value: serde_json::Value = serde_json::from_str(&text)
        .map_err(|error| fault("file_unreadable").with("name", name).detail(error))?;
    let items = match &value {
        serde_json::Value::Array(items) => Some(items),
        serde_json::Value::Object(object) => {
            ["facts", "memories", "items"].iter().find_map(|key| object.get(*key)?.as_array())
        }
        _ => None,
    };
    match items {
        Some(items) if items.iter().any(|item| item.get("text").is_some()) => Ok(Content::Facts(
            items
                .iter()
                .zip(1u32..)
                .map(|(item, line)| FactLine { line, fact: read_fact(item.clone()) })
                .collect(),
        )),
        _ => Ok(Content::Text { title: None, text }),
    }
}

/// One JSON object a line; blank lines are passed over, broken ones are named by number.
fn read_lines(text: &str) -> Vec<FactLine> {
    text.lines()
        .zip(1u32..)
        .filter(|(line, _)| !line.trim().is_empty())
        .map(|(line, number)| FactLine {
            line: number,
            fact: serde_json::from_str(line)
                .map_err(|error| format!("This line is not JSON: {error}."))
                .and_then(read_fact),
        })
        .collect()
}

/// One fact. `type` is read for `fact_type`, a lone `date` for `occurred_start`, so that lists made
/// by hand and by other programs can be read; times without a zone count as UTC.
fn read_fact(mut value: serde_json::Value) -> Result<NewFact, String> {
    let Some(object) = value.as_object_mut() else {
        return Err("A fact is an object with a text.".to_owned());
    };
    for (other, ours) in [("type", "fact_type"), ("date", "occurred_start")] {
        if !object.contains_key(ours)
            && let Some(found) = object.remove(other)
        {
            object.insert(ours.to_owned(), found);
        }
    }
    object.retain(|_, value| !value.is_null());
    for key in ["occurred_start", "occurred_end", "mentioned_at"] {
        if let Some(serde_json::Value::String(time)) = object.get_mut(key) {
            *time = full_time(time);
        }
    }
    if let Some(serde_json::Value::String(text)) = object.get("tags") {
        let tags = domain::tags::tags_in_text(text);
        object.insert("tags".to_owned(), tags.into());
    }
    if let Some(serde_json::Value::Object(metadata)) = object.get_mut("metadata") {
        for value in metadata.values_mut() {
            if !value.is_string() {
                *value = serde_json::Value::String(value.to_string());
            }
        }
    }
    if let Some(serde_json::Value::Array(entities)) = object.get_mut("entities") {
        for entity in entities.iter_mut() {
            if let Some(name) = entity.get("text").cloned() {
                *entity = name;
            }
        }
    }
    let fact: NewFact = serde_json::from_value(value)
        .map_err(|error| format!("A field cannot be read: {error}."))?;
    if fact.text.chars().any(char::is_alphanumeric) {
        Ok(fact)
    } else {
        Err("The text holds no letter or digit.".to_owned())
    }
}

/// Completes a date, or a time without a zone, to RFC 3339.
fn full_time(time: &str) -> String {
    let time = time.trim();
    if chrono::NaiveDate::parse_from_str(time, "%Y-%m-%d").is_ok() {
        return format!("{time}T00:00:00Z");
    }
    if chrono::NaiveDateTime::parse_from_str(time, "%Y-%m-%dT%H:%M:%S%.f").is_ok() {
        return format!("{time}Z");
    }
    if chrono::NaiveDateTime::parse_from_str(time, "%Y-%m-%d %H:%M:%S%.f").is_ok() {
        return format!("{}Z", time.replacen(' ', "T", 1));
    }
    time.to_owned()
}

/// One line of `header: value` pairs a row. Rows of other lengths than the header are read as far
/// as they go.
fn read_csv(text: &str) -> String {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let header = reader.headers().cloned().unwrap_or_default();
    let mut out = String::new();
    for row in reader.records().flatten() {
        let pairs: Vec<String> = row
            .iter()
            .enumerate()
            .filter(|(_, cell)| !cell.trim().is_empty())
            .map(|(at, cell)| match header.get(at) {
                Some(name) => format!("{}: {}", name.trim(), cell.trim()),
                None => cell.trim().to_owned(),
            })
            .collect();
        if !pairs.is_empty() {
            out.push_str(&pairs.join(", "));
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(name: &str, bytes: &[u8]) -> (Option<String>, String) {
        match read(name, bytes).unwrap() {
            Content::Text { title, text } => (title, text),
            Content::Facts(facts) => panic!("facts: {facts:?}"),
        }
    }

    #[test]
    fn html_keeps_headings_lists_and_tables_and_loses_navigation() {
        let html = r#"<html><head><title>Trip</title><style>p{}</style></head><body>
            <div class="navheader"><a href="x">Next</a></div>
            <h1 class="title"><a id="t"></a>The trip</h1>
            <p>Ana went to
            <a href="https://example.org">Lisbon</a>.</p>
            <ul><li>rain</li><li>sun</li></ul>
            <table><tr><th>Day</th><th>Place</th></tr><tr><td>1</td><td>Lisbon</td></tr></table>
            <script>alert(1)</script></body></html>"#;
        let (title, text) = text_of("trip.html", html.as_bytes());
        assert_eq!(title.as_deref(), Some("The trip"));
        assert!(text.contains("Ana went to Lisbon."), "{text}");
        assert!(text.contains("rain") && text.contains("| 1"), "{text}");
        for gone in ["Next", "alert", "example.org", "p{}"] {
            assert!(!text.contains(gone), "{gone} in {text}");
        }
    }

    #[test]
    fn lines_of_facts_are_read_one_by_one() {
        let lines = "{\"text\":\"Ana moved to Oslo\",\"date\":\"2026-03-01\",\"entities\":[\"Ana\"]}\n\n{broken\n{\"text\":\"  \"}\n";
        let Content::Facts(facts) = read("f.jsonl", lines.as_bytes()).unwrap() else {
            panic!("no facts")
        };
        assert_eq!(facts.iter().map(|fact| fact.line).collect::<Vec<_>>(), [1, 3, 4]);
        let first = facts[0].fact.as_ref().unwrap();
        assert_eq!(first.occurred_start.unwrap().to_rfc3339(), "2026-03-01T00:00:00+00:00");
        assert!(facts[1].fact.as_ref().unwrap_err().contains("not JSON"));
        assert!(facts[2].fact.is_err());
    }

    #[test]
    fn json_without_facts_is_a_text_and_broken_json_a_fault() {
        assert!(text_of("a.json", b"{\"a\":1}").1.contains("\"a\""));
        assert_eq!(read("a.json", b"{").unwrap_err().reason(), "file_unreadable");
        let Content::Facts(facts) = read("a.json", b"[{\"text\":\"One\"},3]").unwrap() else {
            panic!("no facts")
        };
        assert!(facts[1].fact.is_err());
    }

    #[test]
    fn other_encodings_and_binary_data() {
        assert_eq!(text_of("a.txt", b"caf\xe9").1, "café");
        assert_eq!(text_of("a.txt", b"\xff\xfeh\0i\0").1, "hi");
        assert_eq!(read("a.txt", b"PK\0\x01").unwrap_err().reason(), "file_unreadable");
        assert_eq!(read("a.exe", b"MZ").unwrap_err().reason(), "unsupported_file");
    }

    #[test]
    fn rows_become_lines_of_pairs() {
        let text = text_of("a.csv", b"name,\"home, town\"\nAna,\"Oslo, \"\"north\"\"\"\n,\n").1;
        assert_eq!(text, "name: Ana, home, town: Oslo, \"north\"\n");
    }
}
