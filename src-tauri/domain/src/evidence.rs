//! Fitting what a run retrieved into prompts: the limit of a prompt, and how tool results are packed
//! into parts when they do not fit into one. Every retrieved entry lands in exactly one part.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::tokens::TokenCounter;

/// Most tokens kept free of a window for the answer.
const ANSWER_ROOM: u32 = 8192;
/// Least tokens of a part.
pub const LEAST_PART: u32 = 1024;
/// More parts than this are worth a warning (`large_evidence`).
pub const MANY_PARTS: usize = 4;

/// Most tokens of a prompt: the setting, and the window of the language model less room for the
/// answer (8192 tokens or a quarter), when the window is known.
#[must_use]
pub fn context_limit(setting: u32, window: Option<u32>) -> u32 {
    window.map_or(setting, |window| setting.min(window - ANSWER_ROOM.min(window / 4)))
}

/// Tokens of one part of the evidence under a limit of the prompt.
#[must_use]
pub fn part_budget(limit: u32) -> u32 {
    (limit / 5 * 4 + limit % 5 * 4 / 5).max(LEAST_PART)
}

/// Whether the endpoint silently cut the prompt: it reports less than 70 % of what was sent. An
/// endpoint that reports nothing cannot be judged.
#[must_use]
pub fn is_short_read(reported: Option<u32>, sent: u32) -> bool {
    reported.is_some_and(|reported| u64::from(reported) * 10 < u64::from(sent) * 7)
}

/// A tool result, in order of execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvidenceBlock {
    /// What it is, for the reader of the prompt: the tool and its query.
    pub label: String,
    /// The result.
    pub result: Map<String, Value>,
}

impl EvidenceBlock {
    /// The block as it stands in a prompt.
    #[must_use]
    pub fn render(&self) -> String {
        format!("{}\n{}", self.label, Value::Object(self.result.clone()))
    }
}

// The list of entries of a result, and the large maps beside it with the fields of an entry that
// point into them.
const LISTS: [&str; 4] = ["memories", "observations", "results", "mental_models"];
const ATTACHED: [(&str, &[&str]); 2] =
    [("chunks", &["chunk"]), ("source_facts", &["source_fact_ids"])];

/// Packs tool results into parts of at most `budget` tokens, in order. A result that is larger is
/// split between its entries; small fields beside them stay with every piece, chunks and source
/// facts go once with the first entry they belong to. Only a single entry that is larger than a part
/// is cut, and marked `truncated`. Nothing retrieved gives no part.
#[must_use]
pub fn pack_evidence(
    blocks: &[EvidenceBlock],
    budget: u32,
    tokens: &dyn TokenCounter,
) -> Vec<Vec<EvidenceBlock>> {
    let mut parts: Vec<Vec<EvidenceBlock>> = Vec::new();
    let mut used = 0;
    for piece in blocks.iter().flat_map(|block| pieces(block, budget, tokens)) {
        let size = tokens.count(&piece.render());
        match parts.last_mut() {
            Some(part) if used + size <= budget => {
                part.push(piece);
                used += size;
            }
            _ => {
                parts.push(vec![piece]);
                used = size;
            }
        }
    }
    parts
}

fn pieces(block: &EvidenceBlock, budget: u32, tokens: &dyn TokenCounter) -> Vec<EvidenceBlock> {
    if tokens.count(&block.render()) <= budget {
        return vec![block.clone()];
    }
    let Some((list, entries)) = LISTS
        .iter()
        .find_map(|list| Some((*list, block.result.get(*list)?.as_array()?)))
        .filter(|(_, entries)| !entries.is_empty())
    else {
        return vec![cut_to_fit(block.clone(), budget, tokens)];
    };
    let frame = Frame::of(block, list, entries);
    // Sizes are added up entry by entry, since counting every growing piece anew would count a large
    // result hundreds of times; a piece that comes out too large after all gives entries back.
    let bare = tokens.count(&frame.piece(&[]).render());
    let sizes: Vec<u32> = (0..entries.len())
        .map(|at| tokens.count(&frame.piece(&[at]).render()).saturating_sub(bare))
        .collect();
    let mut pieces: Vec<EvidenceBlock> = Vec::new();
    let mut start = 0;
    while start < entries.len() {
        let mut end = start + 1;
        let mut sum = bare + sizes[start];
        while end < entries.len() && sum + sizes[end] <= budget {
            sum += sizes[end];
            end += 1;
        }
        let mut piece = frame.piece(&(start..end).collect::<Vec<_>>());
        while end > start + 1 && tokens.count(&piece.render()) > budget {
            end -= 1;
            piece = frame.piece(&(start..end).collect::<Vec<_>>());
        }
        // A piece of one entry may still be too large.
        pieces.push(cut_to_fit(piece, budget, tokens));
        start = end;
    }
    pieces
}

// A result taken apart.
struct Frame<'a> {
    block: &'a EvidenceBlock,
    // The result without its list and the maps that belong to entries.
    rest: Map<String, Value>,
    list: &'static str,
    entries: &'a [Value],
    // Which keys of which attached map go with each entry.
    attached: Vec<Vec<(&'static str, String)>>,
}

impl<'a> Frame<'a> {
    fn of(block: &'a EvidenceBlock, list: &'static str, entries: &'a [Value]) -> Self {
        let mut placed: HashSet<(&str, String)> = HashSet::new();
        let mut attached: Vec<Vec<(&'static str, String)>> = entries
            .iter()
            .map(|entry| {
                let mut own = Vec::new();
                for (map, fields) in ATTACHED {
                    for key in fields.iter().flat_map(|field| keys_of(entry.get(*field))) {
                        let known = block.result.get(map).and_then(|map| map.get(&key)).is_some();
                        if known && placed.insert((map, key.clone())) {
                            own.push((map, key));
                        }
                    }
                }
                own
            })
            .collect();
        // What no entry points to goes with the first.
        for (map, _) in ATTACHED {
            let rows = block.result.get(map).and_then(Value::as_object);
            for key in rows.into_iter().flat_map(Map::keys) {
                if placed.insert((map, key.clone())) {
                    attached[0].push((map, key.clone()));
                }
            }
        }
        let mut rest = Map::new();
        for (key, value) in &block.result {
            if key != list && !ATTACHED.iter().any(|(map, _)| key == map) {
                rest.insert(key.clone(), value.clone());
            }
        }
        Self { block, rest, list, entries, attached }
    }

    fn piece(&self, places: &[usize]) -> EvidenceBlock {
        let mut result = self.rest.clone();
        let chosen: Vec<Value> = places.iter().map(|at| self.entries[*at].clone()).collect();
        if result.contains_key("count") {
            result.insert("count".to_owned(), json!(chosen.len()));
        }
        result.insert(self.list.to_owned(), Value::Array(chosen));
        for (map, _) in ATTACHED {
            let Some(Value::Object(rows)) = self.block.result.get(map) else { continue };
            let keys = places.iter().flat_map(|at| &self.attached[*at]);
            let own: Map<String, Value> = keys
                .filter(|(name, _)| *name == map)
                .filter_map(|(_, key)| Some((key.clone(), rows.get(key)?.clone())))
                .collect();
            result.insert(map.to_owned(), Value::Object(own));
        }
        EvidenceBlock { label: self.block.label.clone(), result }
    }
}

fn keys_of(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(key)) => vec![key.clone()],
        Some(Value::Array(keys)) => {
            keys.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

// Shortens the longest texts of a block until it fits, marking the objects that held them.
fn cut_to_fit(mut block: EvidenceBlock, budget: u32, tokens: &dyn TokenCounter) -> EvidenceBlock {
    loop {
        let size = tokens.count(&block.render());
        if size <= budget {
            return block;
        }
        let mut whole = Value::Object(std::mem::take(&mut block.result));
        let shortened = shorten_longest(&mut whole, size - budget, tokens);
        if let Value::Object(result) = whole {
            block.result = result;
        }
        if !shortened {
            return block;
        }
    }
}

// Texts shorter than this say too little to be cut further.
const LEAST_TEXT: usize = 40;

fn shorten_longest(whole: &mut Value, surplus: u32, tokens: &dyn TokenCounter) -> bool {
    let Some(path) = longest_text(whole) else { return false };
    let Some((field, holder)) = path.split_last() else { return false };
    let Some(Value::Object(holder)) = whole.pointer_mut(&pointer(holder)) else { return false };
    let Some(Value::String(text)) = holder.get_mut(field) else { return false };
    // A token more than the surplus, since the cut text may be counted a little differently.
    let keep = tokens.count(text).saturating_sub(surplus.saturating_add(1));
    let mut cut = tokens.cut(text, keep.max(1)).trim_end().to_owned();
    if cut.len() >= text.len() {
        cut.truncate(text.floor_char_boundary(text.len() / 2));
    }
    *text = cut;
    holder.insert("truncated".to_owned(), Value::Bool(true));
    true
}

fn pointer(path: &[String]) -> String {
    path.iter().map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1"))).collect()
}

// The path of the longest text that may be cut; ids and queries are short and stay.
fn longest_text(value: &Value) -> Option<Vec<String>> {
    fn walk(value: &Value, path: &mut Vec<String>, best: &mut Option<(usize, Vec<String>)>) {
        match value {
            Value::Object(fields) => {
                for (key, field) in fields {
                    path.push(key.clone());
                    if let Value::String(text) = field {
                        let longest = best.as_ref().map_or(LEAST_TEXT, |(length, _)| *length);
                        if text.len() > longest {
                            *best = Some((text.len(), path.clone()));
                        }
                    }
                    walk(field, path, best);
                    path.pop();
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    path.push(at.to_string());
                    walk(item, path, best);
                    path.pop();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut best = None;
    walk(value, &mut Vec::new(), &mut best);
    best.map(|(_, path)| path)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // One token for four bytes, begun ones included.
    struct Bytes;

    impl TokenCounter for Bytes {
        fn count(&self, text: &str) -> u32 {
            u32::try_from(text.len().div_ceil(4)).unwrap()
        }

        fn cut<'a>(&self, text: &'a str, max: u32) -> &'a str {
            &text[..text.floor_char_boundary(max as usize * 4)]
        }
    }

    fn block(value: Value) -> EvidenceBlock {
        EvidenceBlock {
            label: "recall \"ferry\"".to_owned(),
            result: value.as_object().cloned().unwrap_or_default(),
        }
    }

    fn ids(parts: &[Vec<EvidenceBlock>]) -> Vec<String> {
        let entries = parts.iter().flatten().flat_map(|block| {
            LISTS.iter().filter_map(|list| block.result.get(*list)?.as_array()).flatten()
        });
        entries.filter_map(|entry| entry["id"].as_str().map(str::to_owned)).collect()
    }

    #[test]
    fn limits() {
        assert_eq!(context_limit(100_000, None), 100_000);
        assert_eq!(context_limit(100_000, Some(32_768)), 24_576);
        assert_eq!(context_limit(100_000, Some(8192)), 6144);
        assert_eq!(part_budget(10_003), 8002);
        assert_eq!(part_budget(900), 1024);
        assert!(is_short_read(Some(69), 100));
        assert!(!is_short_read(Some(70), 100));
        assert!(!is_short_read(None, 100));
    }

    #[test]
    fn what_fits_stays_whole_and_in_order() {
        let blocks = [block(json!({"memories": [{"id": "a"}]})), block(json!({"results": []}))];
        assert_eq!(pack_evidence(&blocks, 1000, &Bytes), [blocks.to_vec()]);
        assert!(pack_evidence(&[], 1000, &Bytes).is_empty());
    }

    #[test]
    fn chunks_travel_once_with_the_first_memory_that_names_them() {
        let text = "x".repeat(300);
        let one = block(json!({
            "query": "ferry",
            "memories": [
                {"id": "a", "text": text, "chunk": "c1"},
                {"id": "b", "text": text, "chunk": "c1"},
                {"id": "c", "text": text, "chunk": "c2"},
            ],
            "chunks": {"c1": {"chunk_text": "one"}, "c2": {"chunk_text": "two"}},
        }));
        let parts = pack_evidence(&[one], 130, &Bytes);
        let chunks: Vec<String> =
            parts.iter().flatten().map(|piece| piece.result["chunks"].to_string()).collect();
        assert_eq!(
            chunks,
            [r#"{"c1":{"chunk_text":"one"}}"#, "{}", r#"{"c2":{"chunk_text":"two"}}"#]
        );
        assert!(parts.iter().flatten().all(|piece| piece.result["query"] == "ferry"));
    }

    #[test]
    fn only_an_entry_that_is_too_large_alone_is_cut() {
        let parts = pack_evidence(
            &[block(json!({"memories": [
                {"id": "a", "text": "é".repeat(2000)},
                {"id": "b", "text": "short"},
            ]}))],
            100,
            &Bytes,
        );
        assert_eq!(ids(&parts), ["a", "b"]);
        let first = &parts[0][0];
        assert_eq!(first.result["memories"][0]["truncated"], true);
        assert!(Bytes.count(&first.render()) <= 100);
        assert!(parts[1][0].result["memories"][0].get("truncated").is_none());
    }

    proptest! {
        #[test]
        fn every_entry_is_in_exactly_one_part(
            sizes in prop::collection::vec(prop::collection::vec(0_usize..600, 0..12), 1..5),
            budget in 80_u32..400,
        ) {
            let mut wanted = Vec::new();
            let blocks: Vec<EvidenceBlock> = sizes
                .iter()
                .enumerate()
                .map(|(b, sizes)| {
                    let entries: Vec<Value> = sizes
                        .iter()
                        .enumerate()
                        .map(|(e, size)| {
                            wanted.push(format!("{b}-{e}"));
                            json!({"id": format!("{b}-{e}"), "text": "x".repeat(*size)})
                        })
                        .collect();
                    block(json!({LISTS[b % 4]: entries, "count": entries.len()}))
                })
                .collect();
            let parts = pack_evidence(&blocks, budget, &Bytes);
            prop_assert_eq!(ids(&parts), wanted);
            for part in &parts {
                let size: u32 = part.iter().map(|piece| Bytes.count(&piece.render())).sum();
                prop_assert!(size <= budget);
            }
        }
    }
}
