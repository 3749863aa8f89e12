//! Cutting a document into the slices that go to a language model one by one, and matching the
//! slices of a new state of a document with the stored ones. Sizes count Unicode scalar values.
//! Nothing here stores, extracts or counts tokens.

mod matching;
mod structured;
mod text;

use sha2::{Digest, Sha256};

pub use matching::{ChunkMatch, match_chunks};

/// Limits of [`chunk_document`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkLimits {
    /// Size of a chunk.
    pub max_chars: usize,
    /// Size up to which one turn, one line or one object stays whole although over `max_chars`.
    pub structured_max_chars: usize,
}

impl ChunkLimits {
    /// Limits from the two settings; the second is the first where it is not set.
    #[must_use]
    pub fn new(max_chars: usize, structured_max_chars: Option<usize>) -> Self {
        let max_chars = max_chars.max(1);
        Self { max_chars, structured_max_chars: structured_max_chars.unwrap_or(max_chars).max(1) }
    }

    // Size of the pieces of a turn that is too long to stay whole.
    fn piece(self) -> usize {
        self.max_chars.min(self.structured_max_chars)
    }
}

impl Default for ChunkLimits {
    fn default() -> Self {
        Self::new(3000, None)
    }
}

/// How a document was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChunkKind {
    /// Short enough for one chunk, unchanged.
    Whole,
    /// A JSON array of objects: whole turns in compact arrays.
    Conversation,
    /// One JSON object, kept whole.
    Object,
    /// A JSON object a line: whole lines.
    JsonLines,
    /// Anything else.
    Text,
}

/// A slice of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Its text; for conversations the compact form of its turns.
    pub text: String,
    /// First scalar of the source that belongs to it.
    pub char_start: usize,
    /// One past the last.
    pub char_end: usize,
}

impl Chunk {
    /// SHA-256 of the text, by which chunks are matched.
    #[must_use]
    pub fn hash(&self) -> [u8; 32] {
        chunk_hash(&self.text)
    }
}

/// SHA-256 of a chunk's text.
#[must_use]
pub fn chunk_hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// The chunks of a document, in order of the source. Every character that is not blank is in
/// exactly one of them, and chunking a chunk gives it back.
#[must_use]
pub fn chunk_document(text: &str, limits: ChunkLimits) -> (ChunkKind, Vec<Chunk>) {
    if text.trim().is_empty() {
        return (ChunkKind::Text, Vec::new());
    }
    let length = text.chars().count();
    let whole = || vec![Chunk { text: text.to_owned(), char_start: 0, char_end: length }];
    if length <= limits.max_chars {
        return (ChunkKind::Whole, whole());
    }
    if let Some(turns) = structured::turns(text) {
        return (ChunkKind::Conversation, structured::pack_turns(&turns, limits));
    }
    if structured::is_object(text) {
        if length <= limits.structured_max_chars {
            return (ChunkKind::Object, whole());
        }
    } else if let Some(lines) = structured::object_lines(text) {
        return (ChunkKind::JsonLines, structured::pack_lines(&lines, limits));
    }
    let chars: Vec<char> = text.chars().collect();
    let spans = text::split(&chars, limits.max_chars);
    (ChunkKind::Text, spans.into_iter().map(|span| text::chunk_of(&chars, span)).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limits(max: usize) -> ChunkLimits {
        ChunkLimits::new(max, None)
    }

    fn visible(text: &str) -> String {
        text.chars().filter(|c| !c.is_whitespace()).collect()
    }

    // Prose with every separator of the rule, wide characters and stray brackets.
    fn prose() -> impl Strategy<Value = String> {
        const WORDS: [&str; 8] = ["a", "to", "kayak", "é語", "日本語テキスト", "{x", "[1", "\"q\""];
        const GAPS: [&str; 11] =
            [". ", "! ", "? ", "; ", ", ", " ", "\n", "\n\n", "\r\n", "\t", "\n \n"];
        prop::collection::vec((0..WORDS.len(), 0..GAPS.len()), 0..40).prop_map(|parts| {
            parts.into_iter().map(|(word, gap)| format!("{}{}", WORDS[word], GAPS[gap])).collect()
        })
    }

    fn turns_text() -> impl Strategy<Value = String> {
        prop::collection::vec(prose(), 1..8).prop_map(|contents| {
            let turns: Vec<_> = contents
                .iter()
                .map(|content| serde_json::json!({"role": "user", "content": content}))
                .collect();
            serde_json::to_string_pretty(&turns).unwrap()
        })
    }

    proptest! {
        #[test]
        fn text_chunks_fit_and_lose_nothing(text in prose(), max in 1_usize..60) {
            let (kind, chunks) = chunk_document(&text, limits(max));
            prop_assume!(matches!(kind, ChunkKind::Text | ChunkKind::Whole));
            let all: Vec<char> = text.chars().collect();
            let mut last_end = 0;
            for chunk in &chunks {
                prop_assert!(chunk.text.chars().count() <= max);
                prop_assert!(chunk.char_start >= last_end);
                last_end = chunk.char_end;
                let slice: String = all[chunk.char_start..chunk.char_end].iter().collect();
                prop_assert_eq!(&slice, &chunk.text);
            }
            let joined: String = chunks.iter().map(|chunk| visible(&chunk.text)).collect();
            prop_assert_eq!(joined, visible(&text));
        }

        #[test]
        fn chunking_a_chunk_gives_it_back(text in prop_oneof![prose(), turns_text()], max in 1_usize..80, more in 0_usize..80) {
            let limits = ChunkLimits::new(max, Some(max + more));
            for chunk in chunk_document(&text, limits).1 {
                let again = chunk_document(&chunk.text, limits).1;
                prop_assert_eq!(again.len(), 1);
                prop_assert_eq!(&again[0].text, &chunk.text);
            }
        }

        #[test]
        fn appending_changes_the_last_chunk_only(text in prose(), more in prose(), max in 1_usize..60) {
            let before = chunk_document(&text, limits(max)).1;
            let (kind, after) = chunk_document(&format!("{text}{more}"), limits(max));
            prop_assume!(kind == ChunkKind::Text && before.len() > 1);
            let kept = before.len() - 1;
            prop_assert_eq!(&before[..kept], &after[..kept.min(after.len())]);
        }

        #[test]
        fn turns_are_whole_and_none_is_lost(text in turns_text(), max in 30_usize..200) {
            let limits = ChunkLimits::new(max, Some(10_000));
            let (kind, chunks) = chunk_document(&text, limits);
            prop_assume!(kind == ChunkKind::Conversation);
            let mut joined = Vec::new();
            for chunk in &chunks {
                let turns: Vec<serde_json::Value> = serde_json::from_str(&chunk.text).unwrap();
                prop_assert!(turns.len() == 1 || chunk.text.chars().count() <= max);
                joined.extend(turns);
            }
            let all: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(joined, all);
        }
    }

    #[test]
    fn number_spelling_and_key_order_stay() {
        let text = "[ {\"z\": 1.50, \"a\": 1e400},\n {\"k\": \"a b\\u00e9\"} ]";
        let (kind, chunks) = chunk_document(text, limits(26));
        assert_eq!(kind, ChunkKind::Conversation);
        assert_eq!(chunks[0].text, "[{\"z\":1.50,\"a\":1e400}]");
        assert_eq!(chunks[1].text, "[{\"k\":\"a b\\u00e9\"}]");
        assert_eq!(&text[chunks[0].char_start..chunks[0].char_end], "{\"z\": 1.50, \"a\": 1e400}");
    }

    #[test]
    fn lines_of_objects_are_packed_whole() {
        let text = "{\"a\": 1}\n\n  {\"b\": 2}  \n{\"c\": 3}\n";
        let (kind, chunks) = chunk_document(text, limits(18));
        assert_eq!(kind, ChunkKind::JsonLines);
        let texts: Vec<_> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
        assert_eq!(texts, ["{\"a\": 1}\n{\"b\": 2}", "{\"c\": 3}"]);
        let (_, chunks) =
            chunk_document("{\"a\": \"one two three\"}\n{\"c\": 3}", ChunkLimits::new(12, None));
        let texts: Vec<_> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
        assert_eq!(texts, ["{\"a\": \"one", "two three\"}", "{\"c\": 3}"]);
    }

    #[test]
    fn a_list_of_bare_values_is_text() {
        assert_eq!(chunk_document("[1, 2, 3, 4, 5]", limits(5)).0, ChunkKind::Text);
        assert_eq!(chunk_document("[{\"a\": 1}, 2, 33]", limits(5)).0, ChunkKind::Text);
        assert_eq!(chunk_document("[              ]", limits(5)).0, ChunkKind::Text);
    }
}
