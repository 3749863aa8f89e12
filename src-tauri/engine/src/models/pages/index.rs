//! The index of a bundle: all folders and pages of a bank as a nested list of links, written by an
//! export and read back by an import.

use std::fmt::Write as _;

/// The file of a bundle that names all others.
pub(super) const INDEX: &str = "index.md";

/// A folder or page of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    /// How deep it lies; 0 at the root.
    pub(super) depth: usize,
    /// Its name.
    pub(super) name: String,
    /// The file of a page; none for a folder.
    pub(super) file: Option<String>,
}

/// An index under the name of its bank.
pub(super) fn write(bank: &str, items: &[Item]) -> String {
    let mut text = format!("# {}\n\n", one_line(bank));
    for Item { depth, name, file } in items {
        let (indent, label) = ("  ".repeat(*depth), link_text(name));
        // Writing to a string cannot fail.
        let _ = match file {
            None => writeln!(text, "{indent}- {label}"),
            Some(file) => writeln!(text, "{indent}- [{label}]({file})"),
        };
    }
    text
}

/// The items of a text, if it is an index: a heading, then folders and pages as a list, each page a
/// link to a file named after an id. A list without any page is somebody's own, unless it is empty.
pub(super) fn read(text: &str) -> Option<Vec<Item>> {
    let mut lines = text.lines();
    lines.next().filter(|line| line.starts_with("# "))?;
    let items = lines.filter(|line| !line.trim().is_empty()).map(item);
    let items: Vec<Item> = items.collect::<Option<_>>()?;
    let has_page = items.iter().any(|item| item.file.is_some());
    (items.is_empty() || has_page).then_some(items)
}

fn item(line: &str) -> Option<Item> {
    let inner = line.trim_start_matches(' ');
    let depth = (line.len() - inner.len()) / 2;
    let inner = inner.strip_prefix("- ")?;
    let Some(link) = inner.strip_prefix('[') else {
        return Some(Item { depth, name: unescaped(inner), file: None });
    };
    let (label, file) = link.strip_suffix(')')?.rsplit_once("](")?;
    let hex = file.strip_prefix("kp-")?.strip_suffix(".md")?;
    let is_id = hex.len() == 32 && hex.bytes().all(|b| b.is_ascii_hexdigit());
    is_id.then(|| Item { depth, name: unescaped(label), file: Some(file.to_owned()) })
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A name as the text of a link: what would end the link or begin markup is escaped.
pub(super) fn link_text(name: &str) -> String {
    let mut text = String::new();
    for c in one_line(name).chars() {
        if matches!(c, '\\' | '[' | ']' | '*' | '_' | '`' | '<' | '>') {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

fn unescaped(label: &str) -> String {
    let mut text = String::new();
    let mut chars = label.chars();
    while let Some(c) = chars.next() {
        text.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_read_as_it_was_written() {
        let page = format!("kp-{}.md", "0a".repeat(16));
        let item = |depth, name: &str, file: Option<&str>| Item {
            depth,
            name: name.to_owned(),
            file: file.map(str::to_owned),
        };
        let items = vec![
            item(0, "Machines [old]", None),
            item(1, "a\\b](c) *now*", Some(&page)),
            item(1, "Empty", None),
            item(0, "Kiln", Some(&page)),
        ];
        assert_eq!(read(&write("The  shed", &items)), Some(items));
        assert_eq!(read(&write("Empty", &[])), Some(Vec::new()));
        for own in ["# Mine\n\n- milk\n- [a](a.md)\n", "Home\n", "# Notes\n\nOne.\n", "# M\n- a\n"]
        {
            assert_eq!(read(own), None, "{own}");
        }
    }
}
