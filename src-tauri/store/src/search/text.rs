//! Finding memories by words. Any text is a legal search: it is cut into words here and never
//! read as query syntax. Scripts without blanks are found by parts of a sentence.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use super::{Clause, Hit, Scope, best_of_each, matrix};
use crate::error::{Find as _, Result};
use crate::keys::{BankKey, KeyMap};
use crate::memories::fact_type;
use crate::tx::ReadTx;

/// Words beyond this many are left out, the most common first.
const MAX_WORDS: usize = 16;
/// Words in a larger share of the bank's memories are left out.
const COMMON_SHARE: f64 = 0.2;
/// Words in fewer memories than this are never left out: they cost nothing, and in a small bank
/// every word is "common".
const COMMON_FLOOR: i64 = 50;
/// Most memories looked at for parts of one or two characters, newest first.
const SHORT_PART_CAP: usize = 300;

/// What a search by words found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TextHits {
    /// The best of each type.
    pub hits: Vec<Hit>,
    /// The words that were looked for.
    pub words: Vec<String>,
    /// The words that were left out as too common.
    pub left_out: Vec<String>,
}

/// The best memories for a text, at most `per_type` of each type. Text without a letter or digit
/// finds nothing.
pub fn find(tx: &ReadTx<'_>, scope: &Scope, query: &str, per_type: usize) -> Result<TextHits> {
    let parts = Parts::of(query);
    if scope.is_empty() {
        return Ok(TextHits::default());
    }
    let (words, left_out) = choose(tx, scope.bank, parts.words)?;
    let mut lists = Vec::new();
    if !words.is_empty() {
        let query = any_of(words.iter().map(String::as_str));
        lists.push(matches(tx, scope, "fts_memory", "bm25(fts_memory, 1.0, 0.7, 0.5)", &query)?);
    }
    if !parts.trigrams.is_empty() {
        let query = any_of(parts.trigrams.iter().map(String::as_str));
        lists.push(matches(tx, scope, "fts_trigram", "bm25(fts_trigram)", &query)?);
    }
    for short in &parts.short {
        lists.push(containing(tx, scope, short)?);
    }
    let hits = added_up(lists);
    let mut shown = words;
    shown.extend(parts.trigrams);
    shown.extend(parts.short);
    Ok(TextHits { hits: best_of_each(hits, per_type), words: shown, left_out })
}

/// The hits of all lists, each memory once with the sum of its scores.
fn added_up(mut lists: Vec<Vec<Hit>>) -> Vec<Hit> {
    if lists.len() < 2 {
        return lists.pop().unwrap_or_default();
    }
    let mut hits: KeyMap<Hit> = KeyMap::default();
    for hit in lists.into_iter().flatten() {
        hits.entry(hit.key).and_modify(|known| known.score += hit.score).or_insert(hit);
    }
    hits.into_values().collect()
}

/// Every eligible match with its score, in no order: sorting is cheaper here than in SQL, and one
/// pass serves all types.
fn matches(
    tx: &ReadTx<'_>,
    scope: &Scope,
    table: &str,
    score: &str,
    query: &str,
) -> Result<Vec<Hit>> {
    if let Some(judge) = matrix::judge(tx, scope)? {
        let mut statement =
            tx.prepare(&format!("SELECT rowid, -{score} FROM {table} WHERE {table} MATCH ?1"))?;
        let mut rows = statement.query([query])?;
        let mut hits = Vec::new();
        while let Some(r) = rows.next()? {
            let key = r.get(0)?;
            if let Some(fact_type) = judge.admits(key) {
                hits.push(Hit { key, fact_type, score: r.get(1)? });
            }
        }
        return Ok(hits);
    }
    let mut clause = Clause::default();
    clause.and(&format!("{table} MATCH "), query.to_owned());
    clause.text("AND");
    let mut rest = Clause { values: std::mem::take(&mut clause.values), ..Clause::default() };
    scope.restrict(&mut rest);
    let sql = format!(
        "SELECT m.id, m.fact_type, -{score} FROM {table} CROSS JOIN memory m ON m.id = {table}.rowid
         WHERE{}{}",
        clause.sql, rest.sql
    );
    tx.list(&sql, rusqlite::params_from_iter(rest.values), |r| {
        Ok(Hit { key: r.get(0)?, fact_type: fact_type(r, 1)?, score: r.get(2)? })
    })
}

/// Memories that contain a short piece of a script without blanks.
fn containing(tx: &ReadTx<'_>, scope: &Scope, piece: &str) -> Result<Vec<Hit>> {
    let mut clause = Clause::default();
    scope.restrict(&mut clause);
    clause.and("instr(m.text, ", piece.to_owned());
    let sql = format!(
        "SELECT m.id, m.fact_type FROM memory m WHERE{}) > 0 ORDER BY m.id DESC LIMIT {SHORT_PART_CAP}",
        clause.sql
    );
    tx.list(&sql, rusqlite::params_from_iter(clause.values), |r| {
        Ok(Hit { key: r.get(0)?, fact_type: fact_type(r, 1)?, score: 0.5 })
    })
}

/// The words to look for and the ones left out, by how many memories hold each.
fn choose(
    tx: &ReadTx<'_>,
    bank: BankKey,
    words: Vec<String>,
) -> Result<(Vec<String>, Vec<String>)> {
    let mut known = frequencies(tx, words)?;
    // A word that no memory holds finds nothing; dropping it must not count as "something is left".
    known.retain(|(_, n)| *n > 0);
    known.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    known.dedup_by(|a, b| a.0 == b.0);
    let mut too_many = known.split_off(known.len().min(MAX_WORDS));
    let common: Vec<(String, i64)> = if known.last().is_some_and(|(_, n)| *n > COMMON_FLOOR) {
        let sizes = Sizes::read(tx, bank)?;
        let mut common = Vec::new();
        for word in &known {
            if sizes.is_common(tx, bank, word)? {
                common.push(word.clone());
            }
        }
        common
    } else {
        Vec::new()
    };
    if common.len() < known.len() {
        known.retain(|word| !common.contains(word));
        too_many.extend(common);
    } else {
        // Nothing but common words: the rarest alone keeps the search short and not empty.
        too_many.extend(known.split_off(known.len().min(1)));
    }
    let names = |list: Vec<(String, i64)>| list.into_iter().map(|(word, _)| word).collect();
    Ok((names(known), names(too_many)))
}

struct Sizes {
    bank: i64,
    file: i64,
}

impl Sizes {
    fn read(tx: &ReadTx<'_>, bank: BankKey) -> Result<Self> {
        tx.one(
            "SELECT coalesce(sum(n) FILTER (WHERE bank_id = ?1), 0), coalesce(sum(n), 0)
             FROM bank_counter WHERE what IN ('world', 'experience', 'observation')",
            [bank],
            |r| Ok(Self { bank: r.get(0)?, file: r.get(1)? }),
        )
    }

    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "row counts")]
    fn limit(&self) -> i64 {
        ((self.bank as f64 * COMMON_SHARE) as i64).max(COMMON_FLOOR)
    }

    /// The index counts over the whole file. Where the bank is most of it, that count decides;
    /// else the bank's own memories are counted, up to the limit.
    fn is_common(&self, tx: &ReadTx<'_>, bank: BankKey, word: &(String, i64)) -> Result<bool> {
        let limit = self.limit();
        if word.1 <= limit || self.bank * 2 >= self.file {
            return Ok(word.1 > limit);
        }
        let in_bank: i64 = tx.one(
            "SELECT count(*) FROM (
                 SELECT 1 FROM fts_memory CROSS JOIN memory m ON m.id = fts_memory.rowid
                 WHERE fts_memory MATCH ?1 AND m.bank_id = ?2 LIMIT ?3)",
            (quoted(&word.0), bank, limit + 1),
            |r| r.get(0),
        )?;
        Ok(in_bank > limit)
    }
}

/// In how many memories of the file each word stands.
fn frequencies(tx: &ReadTx<'_>, words: Vec<String>) -> Result<Vec<(String, i64)>> {
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let stems = stems(tx, &words)?;
    let mut count = tx.prepare("SELECT doc FROM fts_vocab WHERE term = ?1")?;
    let mut found = Vec::with_capacity(words.len());
    for word in words {
        let mut most = 0;
        for stem in stems.get(&word).into_iter().flatten() {
            let in_file: Option<i64> = count.query_row([stem], |r| r.get(0)).find()?;
            most = most.max(in_file.unwrap_or(0));
        }
        found.push((word, most));
    }
    Ok(found)
}

/// Words whose stems are remembered; then all are forgotten.
const KNOWN_STEMS: usize = 10_000;

/// What the index holds of each word. It holds stems, so that words go through its own tokenizer, in a
/// scratch table of the connection; what came out once is remembered, since a tokenizer never changes
/// its mind.
fn stems(tx: &ReadTx<'_>, words: &[String]) -> Result<HashMap<String, Vec<String>>> {
    static KNOWN: Mutex<BTreeMap<String, Vec<String>>> = Mutex::new(BTreeMap::new());
    let lock = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut stems: HashMap<String, Vec<String>> = {
        let known = lock();
        words
            .iter()
            .filter_map(|word| known.get_key_value(word))
            .map(|(w, s)| (w.clone(), s.clone()))
            .collect()
    };
    let new: Vec<&String> = words.iter().filter(|word| !stems.contains_key(*word)).collect();
    if new.is_empty() {
        return Ok(stems);
    }
    tx.conn().execute_batch(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.probe USING fts5 (
             word, tokenize = 'porter unicode61 remove_diacritics 2');
         CREATE VIRTUAL TABLE IF NOT EXISTS temp.probe_term USING fts5vocab (
             'temp', 'probe', 'instance');",
    )?;
    tx.prepare("DELETE FROM temp.probe")?.execute([])?;
    {
        let mut insert = tx.prepare("INSERT INTO temp.probe (rowid, word) VALUES (?1, ?2)")?;
        for (n, word) in new.iter().enumerate() {
            insert.execute((i64::try_from(n).unwrap_or(i64::MAX), word))?;
        }
    }
    let rows = tx.list("SELECT doc, term FROM temp.probe_term", [], |r| {
        Ok((r.get::<_, i64>(0)?, r.get::<_, String>(1)?))
    })?;
    let mut found: Vec<Vec<String>> = vec![Vec::new(); new.len()];
    for (n, stem) in rows {
        if let Some(of) = usize::try_from(n).ok().and_then(|n| found.get_mut(n)) {
            of.push(stem);
        }
    }
    let mut known = lock();
    if known.len() + new.len() > KNOWN_STEMS {
        known.clear();
    }
    for (word, own) in new.into_iter().zip(found) {
        known.insert(word.clone(), own.clone());
        stems.insert(word.clone(), own);
    }
    Ok(stems)
}

/// A filter for lists: every word must be there, the last one as a beginning. None when the text
/// has no words of a script with blanks.
pub(crate) fn every_word(query: &str) -> Option<String> {
    let parts = Parts::of(query);
    let words: Vec<String> = parts.words.iter().map(|w| quoted(w)).collect();
    (!words.is_empty()).then(|| format!("{}*", words.join(" ")))
}

/// The pieces of a text in scripts without blanks, for lists: each must be contained.
pub(crate) fn unspaced_pieces(query: &str) -> Vec<String> {
    Parts::of(query).pieces
}

/// A query for tables of names: any trigram of the name.
pub(crate) fn quote_trigrams(name: &str) -> Option<String> {
    let lower = name.to_lowercase();
    let chars: Vec<char> = lower.chars().collect();
    let grams: BTreeSet<String> = chars.windows(3).map(|w| w.iter().collect()).collect();
    (!grams.is_empty()).then(|| any_of(grams.iter().map(String::as_str)))
}

fn any_of<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(quoted).collect::<Vec<_>>().join(" OR ")
}

/// A word as a string of the query language: in quotes, quotes doubled. Nothing in it is syntax.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('"', "\"\""))
}

/// Whether a text holds a script that is written without blanks between words (or, as Korean, with
/// endings grown onto them).
pub(crate) fn unspaced(text: &str) -> bool {
    text.chars().any(is_unspaced)
}

fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF        // Thai, Lao
        | 0x1000..=0x109F      // Myanmar
        | 0x1780..=0x17FF      // Khmer
        | 0x1100..=0x11FF      // Hangul letters
        | 0x3005..=0x3007 | 0x3031..=0x3035
        | 0x3040..=0x30FF      // kana
        | 0x3130..=0x318F | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF   // Han
        | 0xAC00..=0xD7FF      // Hangul syllables
        | 0xF900..=0xFAFF | 0xFF66..=0xFF9F
        | 0x20000..=0x3FFFF)
}

/// What a text is looked for by.
#[derive(Debug, Default, PartialEq)]
struct Parts {
    /// Words of scripts with blanks.
    words: Vec<String>,
    /// Runs of scripts without blanks, whole.
    pieces: Vec<String>,
    /// Three-character parts of those runs.
    trigrams: Vec<String>,
    /// Runs of one or two characters.
    short: Vec<String>,
}

impl Parts {
    fn of(query: &str) -> Self {
        let mut parts = Self::default();
        let mut run = String::new();
        let mut run_unspaced = false;
        for c in query.to_lowercase().chars().chain([' ']) {
            let kind = is_unspaced(c);
            // Combining marks belong to the letter before them.
            let in_word = c.is_alphanumeric() || kind || matches!(u32::from(c), 0x0300..=0x036F);
            if !in_word || kind != run_unspaced {
                parts.take(std::mem::take(&mut run), run_unspaced);
            }
            if in_word {
                run_unspaced = kind;
                run.push(c);
            }
        }
        parts
    }

    fn take(&mut self, run: String, unspaced: bool) {
        if run.is_empty() {
            return;
        }
        if !unspaced {
            if !self.words.contains(&run) {
                self.words.push(run);
            }
            return;
        }
        let chars: Vec<char> = run.chars().collect();
        if chars.len() < 3 {
            self.short.push(run.clone());
        } else {
            for gram in chars.windows(3).map(|w| w.iter().collect::<String>()) {
                if !self.trigrams.contains(&gram) {
                    self.trigrams.push(gram);
                }
            }
        }
        self.pieces.push(run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_falls_into_words_and_pieces() {
        let parts = Parts::of("Ask-Rob, C++ 外币汇率 전세 a\"b");
        assert_eq!(parts.words, ["ask", "rob", "c", "a", "b"]);
        assert_eq!(parts.trigrams, ["外币汇", "币汇率"]);
        assert_eq!(parts.short, ["전세"]);
        assert_eq!(Parts::of(" \"*(:% "), Parts::default());
        assert_eq!(Parts::of("Rust言語").words, ["rust"]);
        assert_eq!(every_word("foo:bar").as_deref(), Some("\"foo\" \"bar\"*"));
    }
}
