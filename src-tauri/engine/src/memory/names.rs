//! Names in facts: which entity of the bank a name means, and which names a text holds when no
//! language model reads it. Decides by the rules of `domain::entities`; makes the entities that are
//! missing.

use crate::Engine;
use domain::Instant;
use domain::entities::{Candidate, Mention, NameKind, Resolution, canon_key, normalise, resolve};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use store::entities::{self, Entity, EntityKind};
use store::{BankKey, EntityKey, ReadTx, WriteTx};

/// Entities that share trigrams with a name and are looked at (memory 6, step 3).
const CANDIDATES: u32 = 200;

/// Names that a text without a model's help may give.
const MAX_NAMES: usize = 12;

/// Words of the longest name that is looked for.
const MAX_WORDS: usize = 5;

/// Entities of a bank that are looked for in its texts, those mentioned most.
const MAX_KNOWN: u32 = 5_000;

/// Above this share of capitalised words inside sentences, capitals say nothing of names (German
/// writes every noun with one).
const CAPITALS_SAY_NOTHING: f64 = 0.25;

/// The entities that the names of one fact mean. `literal` names are never matched by likeness.
pub(crate) fn keys_of(
    tx: &WriteTx<'_>,
    engine: &Engine,
    bank: BankKey,
    names: &[String],
    literal: bool,
    at: Instant,
) -> store::Result<Vec<EntityKey>> {
    let names: Vec<String> = names.iter().filter_map(|name| normalise(name)).collect();
    let mut keys = BTreeSet::new();
    for name in &names {
        let folded = canon_key(name);
        if let Some(known) = entities::find(tx, bank, &folded)? {
            keys.insert(known.key);
            continue;
        }
        let likely = if literal { None } else { likely(tx, bank, name, &names, at)? };
        let key = match likely {
            Some(key) => key,
            None => {
                let (id, kind) = (engine.new_id(), EntityKind::Regular);
                entities::insert(tx, bank, &id, name, &folded, kind, at)?
            }
        };
        keys.insert(key);
    }
    Ok(keys.into_iter().collect())
}

/// The entity of the bank that a new name most likely means.
fn likely(
    tx: &ReadTx<'_>,
    bank: BankKey,
    name: &str,
    nearby: &[String],
    at: Instant,
) -> store::Result<Option<EntityKey>> {
    let known = entities::candidates(tx, bank, name, CANDIDATES)?;
    if known.is_empty() {
        return Ok(None);
    }
    let company = company(tx, bank, &known, nearby)?;
    let candidates: Vec<Candidate> = known
        .iter()
        .map(|entity| Candidate {
            id: entity.id.clone(),
            name: entity.canonical.clone(),
            kind: NameKind::Regular,
            seen_with: company.get(&entity.key).cloned().unwrap_or_default(),
            last_seen: Some(entity.last_seen),
        })
        .collect();
    let mention = Mention { name: name.to_owned(), ..Mention::default() };
    Ok(match resolve(&mention, &candidates, nearby, Some(at)) {
        Resolution::Use(id) => known.iter().find(|e| e.id == id).map(|entity| entity.key),
        Resolution::Create { .. } => None,
    })
}

/// Which of the names of a fact each candidate was seen with before.
fn company(
    tx: &ReadTx<'_>,
    bank: BankKey,
    known: &[Entity],
    nearby: &[String],
) -> store::Result<HashMap<EntityKey, Vec<String>>> {
    let mut others: BTreeMap<EntityKey, String> = BTreeMap::new();
    for name in nearby {
        if let Some(entity) = entities::find(tx, bank, &canon_key(name))? {
            others.insert(entity.key, entity.canonical);
        }
    }
    let mut seen: HashMap<EntityKey, Vec<String>> = HashMap::new();
    let candidates: Vec<EntityKey> = known.iter().map(|entity| entity.key).collect();
    let others_keys: Vec<EntityKey> = others.keys().copied().collect();
    for (candidate, other, _) in entities::pairs(tx, &candidates, &others_keys)? {
        seen.entry(candidate).or_default().extend(others.get(&other).cloned());
    }
    Ok(seen)
}

/// The names of a bank's entities, to be found again in texts.
#[derive(Debug, Default)]
pub(crate) struct Known(HashMap<String, String>);

impl Known {
    /// The entities mentioned most.
    pub(crate) fn read(tx: &ReadTx<'_>, bank: BankKey) -> store::Result<Self> {
        let top = entities::top(tx, bank, MAX_KNOWN)?;
        Ok(Self(
            top.into_iter()
                .filter(|entity| entity.kind == EntityKind::Regular)
                .map(|entity| (entity.canon_key, entity.canonical))
                .collect(),
        ))
    }

    /// Names in a text: known ones wherever they stand, and runs of capitalised words. At most
    /// twelve, those that stand there most often first.
    pub(crate) fn in_text(&self, text: &str) -> Vec<String> {
        let sentences = sentences(text);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut order: Vec<String> = Vec::new();
        let mut add = |name: String| {
            let count = counts.entry(name.clone()).or_default();
            *count += 1;
            if *count == 1 {
                order.push(name);
            }
        };
        for words in &sentences {
            for start in 0..words.len() {
                for end in (start + 1..=words.len().min(start + MAX_WORDS)).rev() {
                    let run = canon_key(&words[start..end].join(" "));
                    if let Some(name) = self.0.get(&run) {
                        add(name.clone());
                        break;
                    }
                }
            }
        }
        for name in capitalised_runs(&sentences) {
            if !self.0.contains_key(&canon_key(&name)) {
                add(name);
            }
        }
        order.sort_by_key(|name| usize::MAX - counts.get(name).copied().unwrap_or(0));
        order.truncate(MAX_NAMES);
        order
    }
}

/// The words of each sentence, bare of punctuation at their ends. A line ends a sentence: what
/// stands above is a heading or an item of a list as often as not.
fn sentences(text: &str) -> Vec<Vec<&str>> {
    let mut all = Vec::new();
    let mut words = Vec::new();
    for line in text.lines() {
        for token in line.split_whitespace() {
            let word = token.trim_matches(|c: char| !c.is_alphanumeric());
            if word.is_empty() {
                continue;
            }
            // What stands in brackets is said beside the sentence, not in it.
            if token.starts_with(['(', '[']) {
                all.push(std::mem::take(&mut words));
            }
            words.push(word.strip_suffix("'s").or(word.strip_suffix("’s")).unwrap_or(word));
            let end = token.trim_end_matches(['"', '\'', ')', ']', '*', '_', '”', '’']);
            if end.ends_with(['.', '!', '?', ':', ';', ',', '(']) && word.chars().count() > 2 {
                all.push(std::mem::take(&mut words));
            }
        }
        all.push(std::mem::take(&mut words));
    }
    all.retain(|words| !words.is_empty());
    all
}

fn is_capitalised(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(char::is_uppercase) && word.chars().count() > 1
}

/// Runs of capitalised words: of two words and more anywhere, of one word only inside a sentence,
/// and only where the text does not write every noun like that. A word that the text also writes
/// small is no name by itself, whatever made it large in one place.
fn capitalised_runs(sentences: &[Vec<&str>]) -> Vec<String> {
    let inner: Vec<&str> =
        sentences.iter().flat_map(|words| words.iter().skip(1)).copied().collect();
    let small: HashSet<&str> =
        sentences.iter().flatten().copied().filter(|word| !is_capitalised(word)).collect();
    #[expect(clippy::cast_precision_loss, reason = "words of one text")]
    let share = lone_capitals(sentences, &small) as f64 / (inner.len().max(1)) as f64;
    let inside: HashSet<&str> = inner.iter().filter(|word| is_capitalised(word)).copied().collect();
    let mut names = Vec::new();
    for words in sentences {
        let mut start = 0;
        while start < words.len() {
            let run = words[start..].iter().take_while(|word| is_capitalised(word)).count();
            let run = run.min(MAX_WORDS);
            let starts_here = start == 0 && !inside.contains(words.first().unwrap_or(&""));
            let names_something = match run {
                0 => false,
                1 => {
                    let word = words[start].to_lowercase();
                    // A short word is a pronoun or a preposition far more often than a name.
                    !starts_here
                        && word.chars().count() > 2
                        && share < CAPITALS_SAY_NOTHING
                        && !small.contains(word.as_str())
                        && !domain::temporal::is_calendar_word(&word)
                }
                // The first word of a sentence may be a capital by position alone.
                2 if starts_here => false,
                _ => true,
            };
            if names_something {
                names.push(words[start..start + run].join(" "));
            }
            start += run.max(1);
        }
    }
    names
}

/// Capitalised words that stand alone inside a sentence and have no other reason for it: no name of
/// a month, no word that is written small elsewhere. Where they are many, as in German, a capital
/// says nothing.
fn lone_capitals(sentences: &[Vec<&str>], small: &HashSet<&str>) -> usize {
    let alone = |words: &[&str], at: usize| {
        let capital = |at: usize| words.get(at).is_some_and(|word| is_capitalised(word));
        let word = words[at].to_lowercase();
        capital(at)
            && (at <= 1 || !capital(at - 1))
            && !capital(at + 1)
            && !small.contains(word.as_str())
            && !domain::temporal::is_calendar_word(&word)
    };
    sentences.iter().map(|words| (1..words.len()).filter(|&at| alone(words, at)).count()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_and_capitalised_runs_are_found() {
        let known = Known(HashMap::from([("public beta".to_owned(), "Public beta".to_owned())]));
        let names = known.in_text(
            "The public beta was run by Ian Murdock. He met Ian Murdock's team in Bordeaux.",
        );
        assert_eq!(names, ["Ian Murdock", "Public beta", "Bordeaux"]);
        assert!(known.in_text("When it rains, it pours. Nothing is named here.").is_empty());
    }

    #[test]
    fn a_large_first_letter_alone_makes_no_name() {
        let text = "In (see The list) of April the work of Debian went on. It was done in Lenny \
            (February 2009) by the list.";
        assert_eq!(Known::default().in_text(text), ["Debian", "Lenny"]);
    }

    #[test]
    fn german_nouns_are_no_names() {
        let text = "Der Leiter hat die Verteilung der Pakete an Bruce Perens gegeben und die Arbeit geteilt.";
        assert_eq!(Known::default().in_text(text), ["Bruce Perens"]);
    }
}
