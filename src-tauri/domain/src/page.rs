//! Pages of a knowledge base: the tree that holds them, their names, and what stands before the text
//! of a page in a file. A page is a node that owns one mental model; what the model says is not known
//! here.

mod header;

pub use header::{Header, read_header};

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::hash::Hash;

use unicode_normalization::UnicodeNormalization as _;

use crate::Instant;
use crate::document::LineEnd;
use crate::text::fold;
use crate::time::to_rfc3339;

/// What a page without a `type:` tag is.
pub const PAGE_TYPE: &str = "knowledge-page";
/// What a mental model that is no page is called in a file.
pub const MODEL_TYPE: &str = "mental-model";

/// The prefix of tags that say what a page is.
pub const TYPE_TAG: &str = "type:";

/// The key under which a name is unique in its folder: two names that differ only in case, or in how
/// their letters are composed, are one.
#[must_use]
pub fn name_key(name: &str) -> String {
    let composed: String = name.trim().nfc().collect();
    fold(&composed)
}

/// What a page is: the first `type:<x>` tag whose x is not empty.
#[must_use]
pub fn page_type<'a>(tags: &'a [String], otherwise: &'a str) -> &'a str {
    let mut types = tags.iter().filter_map(|tag| tag.strip_prefix(TYPE_TAG));
    types.find(|kind| !kind.trim().is_empty()).map_or(otherwise, str::trim)
}

/// The tags of a page without those that say what it is.
#[must_use]
pub fn shown_tags(tags: &[String]) -> Vec<String> {
    tags.iter().filter(|tag| !tag.starts_with(TYPE_TAG)).cloned().collect()
}

/// Nodes in reading order, each with its depth, as indexes of the list. Siblings keep the order of
/// the list. A node whose parent is missing, or that lies in a stored cycle, stands at the root, so
/// that nothing ever vanishes from a tree.
#[must_use]
pub fn walk<K: Copy + Eq + Hash>(nodes: &[(K, Option<K>)]) -> Vec<(usize, u32)> {
    let known: HashSet<K> = nodes.iter().map(|(key, _)| *key).collect();
    let mut children: HashMap<Option<K>, Vec<usize>> = HashMap::new();
    for (at, (_, parent)) in nodes.iter().enumerate() {
        children.entry(parent.filter(|key| known.contains(key))).or_default().push(at);
    }
    let mut seen = vec![false; nodes.len()];
    let mut order = Vec::with_capacity(nodes.len());
    let roots = children.get(&None).cloned().unwrap_or_default();
    for start in roots.into_iter().chain(0..nodes.len()) {
        let mut open = vec![(start, 0)];
        while let Some((at, depth)) = open.pop() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            order.push((at, depth));
            let below = children.get(&Some(nodes[at].0)).map(Vec::as_slice).unwrap_or_default();
            open.extend(below.iter().rev().map(|child| (*child, depth + 1)));
        }
    }
    order
}

/// Whether a node lies in another, however deep, or is it. Ends in a stored cycle too.
#[must_use]
pub fn is_within<K: Copy + Eq + Hash>(nodes: &[(K, Option<K>)], node: K, folder: K) -> bool {
    let parents: HashMap<K, Option<K>> = nodes.iter().copied().collect();
    let mut at = Some(node);
    for _ in 0..=nodes.len() {
        match at {
            None => return false,
            Some(key) if key == folder => return true,
            Some(key) => at = parents.get(&key).copied().flatten(),
        }
    }
    false
}

/// What stands before the text of a document in a file.
#[derive(Debug, Clone, Copy)]
pub struct FrontMatter<'a> {
    /// Id of the page or model.
    pub id: &'a str,
    /// Its name.
    pub title: &'a str,
    /// The question it answers.
    pub description: &'a str,
    /// All its tags; those that say what it is become its type.
    pub tags: &'a [String],
    /// What it is when no tag says so.
    pub kind: &'a str,
    /// When the text was last refreshed.
    pub timestamp: Option<Instant>,
}

/// The keys of a front matter that are ours; all others are somebody else's.
const KEYS: [&str; 6] = ["id", "type", "title", "description", "tags", "timestamp"];

const FENCE: &str = "---";

impl FrontMatter<'_> {
    /// The header with its fences and the blank line behind it. Values that are empty are left out.
    /// `foreign` are lines of an earlier header that others wrote ([`foreign_lines`]); they stay.
    #[must_use]
    pub fn render(&self, foreign: &[String], line_end: LineEnd) -> String {
        let mut text = format!("{FENCE}\n");
        let time = self.timestamp.map(to_rfc3339).unwrap_or_default();
        let fields = [
            ("id", self.id),
            ("type", page_type(self.tags, self.kind)),
            ("title", self.title),
            ("description", self.description),
        ];
        // Writing to a string cannot fail.
        for (key, value) in fields.into_iter().filter(|(_, value)| !value.is_empty()) {
            let _ = writeln!(text, "{key}: {}", quoted(value));
        }
        let tags: Vec<String> = shown_tags(self.tags).iter().map(|tag| quoted(tag)).collect();
        if !tags.is_empty() {
            let _ = writeln!(text, "tags: [{}]", tags.join(", "));
        }
        if !time.is_empty() {
            let _ = writeln!(text, "timestamp: {}", quoted(&time));
        }
        for line in foreign {
            let _ = writeln!(text, "{line}");
        }
        let _ = write!(text, "{FENCE}\n\n");
        line_end.write(&text)
    }

    /// Whether our lines of a header stand as they would be written; the time may be another.
    #[must_use]
    pub fn stands_in(&self, header: &str) -> bool {
        let own = |header: &str| -> Vec<String> {
            let lines = sorted_lines(header).into_iter();
            let own = lines.filter(|(ours, line)| *ours && !line.trim().is_empty());
            let own = own.map(|(_, line)| line.to_owned());
            own.filter(|line| !line.starts_with("timestamp:")).collect()
        };
        let written = self.render(&[], LineEnd::Lf);
        split_front_matter(&written).0.is_some_and(|written| own(written) == own(header))
    }
}

/// A text as a double-quoted scalar.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The mark that some editors put before a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A text without the byte order mark before it.
#[must_use]
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// A file's text as header (without its fences) and document: the header is there if the first line
/// is a fence and a later line closes it. One blank line behind it belongs to it. A byte order mark
/// before it belongs to neither.
#[must_use]
pub fn split_front_matter(text: &str) -> (Option<&str>, &str) {
    let marked = text;
    let text = without_mark(text);
    let mut lines = text.split_inclusive('\n');
    let is_fence = |line: &str| line.trim_end_matches(['\n', '\r', ' ', '\t']) == FENCE;
    let Some(first) = lines.next().filter(|line| is_fence(line)) else { return (None, marked) };
    let mut end = first.len();
    for line in lines {
        if is_fence(line) {
            let header = &text[first.len()..end];
            let body = &text[end + line.len()..];
            let body =
                body.strip_prefix("\r\n").or_else(|| body.strip_prefix('\n')).unwrap_or(body);
            return (Some(header), body);
        }
        end += line.len();
    }
    (None, marked)
}

/// The lines of a header, each with whether it is ours. A key's inner lines go with it; a comment is
/// somebody else's wherever it stands; blank lines are theirs who wrote the line before or behind.
fn sorted_lines(header: &str) -> Vec<(bool, &str)> {
    let is_blank = |line: &str| line.trim().is_empty();
    let mut of_key = None;
    let mut lines: Vec<(bool, &str)> = Vec::new();
    for line in header.lines() {
        let ours = if is_blank(line) {
            lines.last().is_none_or(|(ours, _)| *ours)
        } else if line.starts_with('#') {
            false
        } else {
            if !line.starts_with([' ', '\t', '-']) {
                let key = line.split(':').next().unwrap_or_default().trim();
                of_key = Some(KEYS.contains(&key.trim_matches(['"', '\''])));
            }
            of_key.unwrap_or(false)
        };
        if !ours && !is_blank(line) {
            let before = lines.iter_mut().rev().take_while(|(_, line)| is_blank(line));
            before.for_each(|(ours, _)| *ours = false);
        }
        lines.push((ours, line));
    }
    lines
}

/// The lines of a header that others wrote: every top-level key that is none of ours, with what
/// belongs to it, comments, and the blank lines among them.
#[must_use]
pub fn foreign_lines(header: &str) -> Vec<String> {
    let lines = sorted_lines(header).into_iter();
    lines.filter(|(ours, _)| !ours).map(|(_, line)| line.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(list: &[&str]) -> Vec<String> {
        list.iter().map(|tag| (*tag).to_owned()).collect()
    }

    #[test]
    fn names_that_differ_in_case_only_are_one() {
        assert_eq!(name_key(" Straße "), name_key("STRASSE"));
        assert_eq!(name_key("Cafe\u{301}"), name_key("CAFÉ"));
        assert_ne!(name_key("a b"), name_key("ab"));
    }

    #[test]
    fn a_type_tag_says_what_a_page_is_and_is_not_shown() {
        let list = tags(&["garden", "type:", "type: ", "type:guide", "type:other"]);
        assert_eq!(page_type(&list, PAGE_TYPE), "guide");
        assert_eq!(shown_tags(&list), ["garden"]);
        assert_eq!(page_type(&tags(&["typed"]), PAGE_TYPE), PAGE_TYPE);
    }

    #[test]
    fn a_header_quotes_its_values_and_leaves_empty_ones_out() {
        let list = tags(&["a \"b\"", "type:guide"]);
        let front = FrontMatter {
            id: "kp-1",
            title: "Hours: \\ \"late\"",
            description: "",
            tags: &list,
            kind: PAGE_TYPE,
            timestamp: Some(crate::time::from_millis(0)),
        };
        let text = front.render(&[], LineEnd::Lf);
        assert_eq!(
            text,
            "---\nid: \"kp-1\"\ntype: \"guide\"\ntitle: \"Hours: \\\\ \\\"late\\\"\"\n\
             tags: [\"a \\\"b\\\"\"]\ntimestamp: \"1970-01-01T00:00:00Z\"\n---\n\n"
        );
        let bare = FrontMatter { tags: &[], timestamp: None, ..front };
        assert!(!bare.render(&[], LineEnd::Lf).contains("tags"));
        let windows = bare.render(&[], LineEnd::CrLf);
        assert_eq!(windows.matches("\r\n").count(), windows.matches('\n').count());
    }

    #[test]
    fn a_file_is_split_where_its_header_ends() {
        for end in ["\n", "\r\n"] {
            let text = format!("---{end}id: \"x\"{end}---{end}{end}# A{end}");
            let (header, body) = split_front_matter(&text);
            assert_eq!(header.map(str::trim), Some("id: \"x\""));
            assert_eq!(body, format!("# A{end}"));
        }
        assert_eq!(split_front_matter("---\nopen\n"), (None, "---\nopen\n"));
        assert_eq!(split_front_matter("# A\n---\n"), (None, "# A\n---\n"));
        assert_eq!(split_front_matter("---\n---\nx"), (Some(""), "x"));
    }

    #[test]
    fn lines_that_others_wrote_into_the_header_stay() {
        let header = "id: \"x\"\naliases:\n  - kiln\ntags:\n- a\n- b\n# mine\ncssclass: wide\n";
        assert_eq!(foreign_lines(header), ["aliases:", "  - kiln", "# mine", "cssclass: wide"]);
    }

    #[test]
    fn blank_lines_of_others_stay_and_ours_do_not_come_back() {
        let header = "id: \"x\"\n\ntitle: \"t\"\n\nnotes: |\n  one\n\n  two\n\ncssclass: wide\n\n";
        let kept = ["", "notes: |", "  one", "", "  two", "", "cssclass: wide", ""];
        assert_eq!(foreign_lines(header), kept);
        let front = FrontMatter {
            id: "x",
            title: "t",
            description: "",
            tags: &[],
            kind: PAGE_TYPE,
            timestamp: None,
        };
        let text = front.render(&foreign_lines(header), LineEnd::Lf);
        assert!(front.stands_in("id: \"x\"\ntype: \"knowledge-page\"\ntitle: \"t\"\n# a\nb: c\n"));
        assert!(!front.stands_in("id: \"x\"\ntype: \"knowledge-page\"\ntitle: \"u\"\n"));
        let (again, _) = split_front_matter(&text);
        assert_eq!(again.map(foreign_lines), Some(kept.map(str::to_owned).to_vec()));
    }

    #[test]
    fn a_comment_among_our_lines_leaves_them_ours() {
        let header = "tags:\n- a\n# mine\n- b\n\"title\": x\n  y\naliases: [z]\n";
        assert_eq!(foreign_lines(header), ["# mine", "aliases: [z]"]);
    }

    #[test]
    fn a_byte_order_mark_hides_no_header() {
        let (header, body) = split_front_matter("\u{feff}---\nid: \"x\"\n---\n\n# A\n");
        assert_eq!((header, body), (Some("id: \"x\"\n"), "# A\n"));
        let bare = "\u{feff}# A\n";
        assert_eq!(split_front_matter(bare), (None, bare));
    }

    #[test]
    fn a_walk_shows_every_node_once_whatever_is_stored() {
        let nodes = [(1, None), (2, Some(1)), (3, None), (4, Some(2)), (5, Some(1))];
        assert_eq!(walk(&nodes), [(0, 0), (1, 1), (3, 2), (4, 1), (2, 0)]);
        let odd = [(1, Some(2)), (2, Some(1)), (3, Some(9)), (4, Some(4))];
        let shown: HashSet<usize> = walk(&odd).into_iter().map(|(at, _)| at).collect();
        assert_eq!((walk(&odd).len(), shown.len()), (4, 4));
    }

    #[test]
    fn a_folder_lies_in_itself_and_in_those_above_it() {
        let nodes = [(1, None), (2, Some(1)), (3, Some(2)), (4, None)];
        assert!(is_within(&nodes, 3, 1) && is_within(&nodes, 1, 1));
        assert!(!is_within(&nodes, 1, 3) && !is_within(&nodes, 4, 1));
        assert!(!is_within(&[(1, Some(2)), (2, Some(1))], 1, 3));
    }
}
