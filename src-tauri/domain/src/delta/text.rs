//! Rules for the texts that operations bring, and what a text is: fragments, tables, hashes.

use sha2::{Digest, Sha256};

use crate::document::scan::{Kind, Scanner, clean_heading, lines};

/// Why a text cannot stand in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFault {
    /// Nothing but blank lines.
    Empty,
    /// A heading line outside a fence; headings are made with `add_section`.
    HeadingInText,
    /// A fence or protected region is left open.
    UnclosedFence,
}

/// The fragments of a text: LF line ends, split at blank lines outside fences.
///
/// # Errors
/// A heading line is reported before an open fence. A blank text has no fragments, which is an
/// error only where the caller needs one.
pub fn fragments(text: &str) -> Result<Vec<String>, TextFault> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut scanner = Scanner::default();
    let mut found: Vec<Vec<&str>> = Vec::new();
    let mut growing = false;
    for line in lines(&text) {
        match scanner.classify(line.text) {
            Kind::Heading { .. } => return Err(TextFault::HeadingInText),
            Kind::Blank => growing = false,
            Kind::Body => match found.last_mut().filter(|_| growing) {
                Some(fragment) => fragment.push(line.text),
                None => {
                    found.push(vec![line.text]);
                    growing = true;
                }
            },
        }
    }
    if scanner.is_open() {
        return Err(TextFault::UnclosedFence);
    }
    Ok(found.into_iter().map(|fragment| fragment.join("\n")).collect())
}

/// The fragments of several texts, one after the other.
///
/// # Errors
/// The first fault of any of them.
pub(super) fn all_fragments(texts: &[String]) -> Result<Vec<String>, TextFault> {
    let mut all = Vec::new();
    for text in texts {
        all.extend(fragments(text)?);
    }
    Ok(all)
}

/// Why a heading cannot stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeadingFault {
    Empty,
    Multiline,
}

/// A heading ready to be written.
pub(super) fn checked_heading(given: &str) -> Result<String, HeadingFault> {
    if given.trim().contains(['\n', '\r']) {
        return Err(HeadingFault::Multiline);
    }
    let heading = clean_heading(given);
    if heading.is_empty() { Err(HeadingFault::Empty) } else { Ok(heading) }
}

/// Whether a text is a table: at least two lines, all starting with `|`, one of them a separator.
pub(crate) fn is_table(text: &str) -> bool {
    let rows: Vec<&str> = lines(text).map(|line| line.text).collect();
    rows.len() >= 2
        && rows.iter().all(|row| row.starts_with('|'))
        && rows.iter().any(|r| separates(r))
}

/// Whether a fragment is table rows without a separator, ready to be joined to a table.
pub(crate) fn is_rows(text: &str) -> bool {
    lines(text).all(|line| line.text.starts_with('|') && !separates(line.text))
}

/// Whether a row is made of cells `:?-+:?`.
fn separates(row: &str) -> bool {
    let row = row.trim();
    let Some(inner) = row.strip_prefix('|') else { return false };
    inner.strip_suffix('|').unwrap_or(inner).split('|').all(|cell| {
        let cell = cell.trim();
        let cell = cell.strip_prefix(':').unwrap_or(cell);
        let dashes = cell.strip_suffix(':').unwrap_or(cell);
        !dashes.is_empty() && dashes.bytes().all(|b| b == b'-')
    })
}

/// SHA-256 of a text as lower-case hex.
pub(crate) fn text_hash(text: &str) -> String {
    use std::fmt::Write as _;
    Sha256::digest(text.as_bytes()).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_split_outside_fences_only() {
        assert_eq!(fragments("a\r\n\r\nb\rc").expect("fine"), ["a", "b\nc"]);
        assert_eq!(fragments("```\n# x\n\ny\n```").expect("fine").len(), 1);
        assert_eq!(fragments(" \n\t").expect("fine"), [""; 0]);
        assert_eq!(fragments("a\n# b"), Err(TextFault::HeadingInText));
        assert_eq!(fragments("<!-- a"), Err(TextFault::UnclosedFence));
    }

    #[test]
    fn a_single_dash_separates() {
        assert!(is_table("| a |\n| - |"));
        assert!(is_table("|a|b\n|:-:|--"));
        assert!(!is_table("| a |\n| b |"));
        assert!(!is_table("| - |"));
        assert!(!is_table("| a |\n| - |\ntext"));
        assert!(is_rows("| 1 |\n| 2 |"));
        assert!(!is_rows("| - |"));
    }

    #[test]
    fn hashes_are_hex() {
        assert!(text_hash("").starts_with("e3b0c44298fc1c14"));
    }
}
