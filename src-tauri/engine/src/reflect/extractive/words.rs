//! Words, numbers and dates in a text, as far as extractive mode compares them: folded, lightly
//! stemmed, versions kept whole. A handful of European languages and whatever Unicode can divide.

use chrono::{Datelike, NaiveDate};
use domain::text::fold;
use std::collections::BTreeSet;
use unicode_segmentation::UnicodeSegmentation;

/// Words that carry no subject. Short on purpose: rarity weighs the rest.
const EMPTY: &str = " a about after all also an and any are as at be been before but by can come comes \
    came could did do does during ever for from get got had has have he her him his how i if in into is it \
    its just many me more most much my no not of on one only or other our out over part per she so some \
    such than that the their them then there these they this those to under up us was we were what when \
    where which while who whom whose why will with would you your \
    der die das den dem des ein eine einer eines und oder ist sind war waren wer wann wo was wie viele \
    welche welcher welches von vom zu zum zur mit für auf aus bei nach hat haben wurde wurden im in \
    le la les un une des du de et ou est sont qui quand quel quelle quels combien où dans par pour avec sur \
    el los las una y o es son quién cuándo cuál cuántos dónde en por para con del al que se \
    il lo gli i e è sono chi quando quale quanti dove nel nella di da per con \
    os as um uma é são quem qual quantos onde no na em do da ";

const WHEN: [&str; 9] =
    ["when", "wann", "quand", "cuándo", "quando", "когда", "いつ", "什么时候", "何时"];
const WHO: [&str; 10] = ["who", "whom", "whose", "wer", "qui", "quién", "chi", "quem", "кто", "誰"];
const HOW_MANY: [&str; 10] = [
    "how many",
    "how much",
    "wie viel",
    "combien",
    "cuánt",
    "quanti",
    "quantos",
    "сколько",
    "いくつ",
    "多少",
];
const NEGATIONS: [&str; 14] = [
    "not", "no", "never", "without", "cannot", "nicht", "kein", "keine", "nie", "ne", "pas", "sin",
    "non", "não",
];
const MONTHS: [&str; 12] = [
    "january jan januar janvier enero gennaio janeiro",
    "february feb februar février febrero febbraio fevereiro",
    "march mar märz mars marzo março",
    "april apr avril abril aprile",
    "may mai mayo maggio maio",
    "june jun juni juin junio giugno junho",
    "july jul juli juillet julio luglio julho",
    "august aug août agosto",
    "september sep sept septembre septiembre settembre setembro",
    "october oct oktober okt octobre octubre ottobre outubro",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre diciembre dicembre dezembro",
];

/// What a question asks for beside its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Asked {
    /// A date.
    pub(crate) when: bool,
    /// A name.
    pub(crate) who: bool,
    /// A number.
    pub(crate) how_many: bool,
}

/// Reads what a question asks for.
pub(crate) fn asked(question: &str) -> Asked {
    let folded = question.to_lowercase();
    let words: Vec<&str> = folded.unicode_words().collect();
    let any = |list: &[&str]| {
        list.iter().any(|word| {
            if word.is_ascii() && !word.contains(' ') {
                words.contains(word)
            } else {
                folded.contains(word)
            }
        })
    };
    Asked { when: any(&WHEN), who: any(&WHO), how_many: any(&HOW_MANY) }
}

/// The words of a text that carry a subject, stemmed, in order, repeats kept.
pub(crate) fn stems(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for token in tokens(text) {
        if EMPTY.contains(&format!(" {token} ")) {
            continue;
        }
        // "DebConf0" speaks of DebConf too.
        if let Some(name) = numbered(&token) {
            out.push(stem(name));
        }
        out.push(stem(&token));
    }
    out
}

/// The name in a numbered name: letters, then digits and nothing else.
pub(crate) fn numbered(token: &str) -> Option<&str> {
    let name = token.trim_end_matches(|c: char| c.is_ascii_digit());
    let long = name.chars().count() > 2 && name.len() < token.len();
    (long && name.chars().all(char::is_alphabetic)).then_some(name)
}

/// Whole tokens, folded: words, and numbers with their dots ("3.1", "1.3.1").
pub(crate) fn tokens(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for word in fold(text).unicode_words() {
        // "2.2r0" and "libc6" are one token, "well-known" is two words; "debian's" is its noun.
        let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
        if !word.is_empty() {
            out.push(word.to_owned());
        }
    }
    out
}

/// Endings that English, and much of what borrows from it, puts on one word. A light cut: two forms
/// of a word should meet, two words should not.
pub(crate) fn stem(word: &str) -> String {
    if word.len() < 4 || word.bytes().any(|b| b.is_ascii_digit()) {
        return word.to_owned();
    }
    const ENDINGS: [(&str, &str); 13] = [
        ("ations", "at"),
        ("ation", "at"),
        ("ures", "ur"),
        ("ers", ""),
        ("ies", "y"),
        ("sses", "ss"),
        ("ing", ""),
        ("ied", "y"),
        ("ed", ""),
        ("er", ""),
        ("es", ""),
        ("s", ""),
        ("e", ""),
    ];
    for (ending, put) in ENDINGS {
        if let Some(root) = word.strip_suffix(ending)
            && root.chars().count() >= 3
            && !(ending == "s" && root.ends_with(['s', 'u', 'i']))
        {
            let mut root = format!("{root}{put}");
            let mut last = root.chars().rev();
            // "planned", "shipped".
            if matches!(ending, "ing" | "ed" | "er" | "ers")
                && let (Some(a), Some(b)) = (last.next(), last.next())
                && a == b
                && !matches!(a, 'l' | 's' | 'z' | 'e' | 'o')
            {
                root.pop();
            }
            return root;
        }
    }
    word.to_owned()
}

/// Tokens of a question that must match exactly: numbers, versions, words with a digit, and names
/// (a capital letter behind the first word, or all capitals).
pub(crate) fn exact_tokens(question: &str) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for (at, word) in question.unicode_words().enumerate() {
        let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
        let digit = word.chars().any(char::is_numeric);
        let capitals = word.chars().filter(|c| c.is_uppercase()).count();
        let folded = fold(word);
        let known = month(&folded).is_some() || EMPTY.contains(&format!(" {folded} "));
        if digit || (!known && (capitals > 1 || (at > 0 && capitals == 1))) {
            out.insert(folded);
        }
    }
    out
}

/// Numbers of a text as they are written.
pub(crate) fn numbers(text: &str) -> BTreeSet<String> {
    tokens(text).into_iter().filter(|token| token.starts_with(|c: char| c.is_numeric())).collect()
}

/// Names in a text: words with a capital letter that do not open a sentence, folded.
pub(crate) fn names(text: &str) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for sentence in text.unicode_sentences() {
        for word in sentence.unicode_words().skip(1) {
            if word.starts_with(char::is_uppercase) && month(&fold(word)).is_none() {
                out.insert(fold(word));
            }
        }
    }
    out
}

/// What a text says beside whom, what, when and how many it names: its stems without names, the words
/// of its entities' names, numbers with their units, months and denials.
pub(crate) fn said(text: &str, entities: &[String]) -> BTreeSet<String> {
    let is_number = |token: &str| token.starts_with(|c: char| c.is_numeric());
    let mut named = names(text);
    named.extend(entities.iter().flat_map(|name| tokens(name)));
    let named: BTreeSet<String> = named.iter().map(|word| stem(word)).collect();
    let mut out = BTreeSet::new();
    let mut counted = false;
    for token in tokens(text) {
        let empty = EMPTY.contains(&format!(" {token} "));
        let aside = counted || is_number(&token) || month(&token).is_some() || negates(&token);
        counted = is_number(&token);
        let stem = stem(&token);
        if !empty && !aside && !named.contains(&stem) {
            out.insert(stem);
        }
    }
    out
}

/// Whether a text denies something.
pub(crate) fn negates(text: &str) -> bool {
    tokens(text).iter().any(|token| {
        NEGATIONS.contains(&token.as_str()) || token.ends_with("n't") || token.ends_with("n’t")
    })
}

/// Two capitalised words in a row, which is how a person is named where entities are not known.
pub(crate) fn has_full_name(text: &str) -> bool {
    let words: Vec<&str> = text.unicode_words().collect();
    let name = |word: &&str| {
        let mut chars = word.chars();
        chars.next().is_some_and(char::is_uppercase) && chars.next().is_some_and(char::is_lowercase)
    };
    words.windows(2).any(|pair| {
        name(&pair[0])
            && name(&pair[1])
            && month(&fold(pair[1])).is_none()
            && !EMPTY.contains(&format!(" {} ", fold(pair[0])))
    })
}

/// Days that a date in a text covers, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Days {
    /// First day.
    pub(crate) first: NaiveDate,
    /// Last day.
    pub(crate) last: NaiveDate,
}

fn month(word: &str) -> Option<u32> {
    let word = word.trim_end_matches('.');
    (1..=12)
        .zip(MONTHS)
        .find(|(_, names)| names.split(' ').any(|name| name == word))
        .map(|(n, _)| n)
}

fn year(word: &str) -> Option<i32> {
    (word.len() == 4)
        .then(|| word.parse().ok())
        .flatten()
        .filter(|year| (1500..=2200).contains(year))
}

fn day(word: &str) -> Option<u32> {
    let digits = word.trim_end_matches(|c: char| c.is_alphabetic());
    let ending = &word[digits.len()..];
    (digits.len() <= 2 && ["", "st", "nd", "rd", "th"].contains(&ending))
        .then(|| digits.parse().ok())
        .flatten()
        .filter(|day| (1..=31).contains(day))
}

fn days(year: i32, month: Option<u32>, day: Option<u32>) -> Option<Days> {
    let first = NaiveDate::from_ymd_opt(year, month.unwrap_or(1), day.unwrap_or(1))?;
    let last = match (month, day) {
        (Some(_), Some(_)) => first,
        (Some(12), None) | (None, _) => NaiveDate::from_ymd_opt(year, 12, 31)?,
        (Some(month), None) => NaiveDate::from_ymd_opt(year, month + 1, 1)?.pred_opt()?,
    };
    Some(Days { first, last })
}

/// Dates in a text, in order; "from April 2010 until April 2013" is one that covers all between.
pub(crate) fn dates(text: &str) -> Vec<Days> {
    let folded = text.to_lowercase();
    let parts: Vec<&str> = folded
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')' | ';' | ':' | '"' | '/'))
        .map(|word| word.trim_end_matches(['.', '!', '?']))
        .flat_map(split_dashes)
        .filter(|word| !word.is_empty())
        .collect();
    let mut found: Vec<(usize, usize, Days)> = Vec::new();
    let mut at = 0;
    while at < parts.len() {
        match date_at(&parts[at..]) {
            Some((length, days)) => {
                found.push((at, at + length, days));
                at += length;
            }
            None => at += 1,
        }
    }
    let mut out: Vec<(usize, Days)> = Vec::new();
    for (from, to, days) in found {
        match out.last_mut() {
            Some((end, open)) if days.first >= open.first && joins(&parts, *end, from) => {
                open.last = open.last.max(days.last);
                *end = to;
            }
            _ => out.push((to, days)),
        }
    }
    out.into_iter().map(|(_, days)| days).collect()
}

// "2010–2013" is two dates and what joins them; "2010-04-01" is one.
fn split_dashes(word: &str) -> Vec<&str> {
    if NaiveDate::parse_from_str(word, "%Y-%m-%d").is_ok() {
        return vec![word];
    }
    match word.split_once(['–', '—', '-']) {
        Some((left, right)) if year(left).is_some() => vec![left, "-", right],
        Some((left, right)) if left.is_empty() && right.is_empty() => vec!["-"],
        _ => vec![word],
    }
}

fn joins(parts: &[&str], end: usize, from: usize) -> bool {
    match parts.get(end..from) {
        Some([one]) => {
            matches!(
                *one,
                "until"
                    | "till"
                    | "to"
                    | "through"
                    | "-"
                    | "bis"
                    | "au"
                    | "à"
                    | "hasta"
                    | "al"
                    | "a"
                    | "até"
            ) || (*one == "and" && parts[..end].iter().rev().take(4).any(|word| *word == "between"))
        }
        _ => false,
    }
}

// A date at the start of a list of words, and how many words it takes.
fn date_at(parts: &[&str]) -> Option<(usize, Days)> {
    let word = |at: usize| parts.get(at).copied().unwrap_or_default();
    if let Ok(date) = NaiveDate::parse_from_str(word(0), "%Y-%m-%d") {
        return Some((1, Days { first: date, last: date }));
    }
    if let Some(month) = month(word(0)) {
        if let (Some(day), Some(year)) = (day(word(1)), year(word(2))) {
            return days(year, Some(month), Some(day)).map(|days| (3, days));
        }
        return year(word(1)).and_then(|year| days(year, Some(month), None)).map(|days| (2, days));
    }
    // "the 16th of August 1993", "5. Juni 1997"
    if let Some(day) = day(word(0).trim_end_matches('.')) {
        let skip = usize::from(matches!(word(1), "of" | "de" | "di"));
        if let Some(month) = month(word(1 + skip)) {
            let more = usize::from(matches!(word(2 + skip), "of" | "de" | "in"));
            if let Some(year) = year(word(2 + skip + more)) {
                return days(year, Some(month), Some(day)).map(|days| (3 + skip + more, days));
            }
        }
    }
    year(word(0)).and_then(|year| days(year, None, None)).map(|days| (1, days))
}

/// Years that a text names or spans, for matching a year of the question.
pub(crate) fn covers_year(spans: &[Days], year: i32) -> bool {
    spans.iter().any(|days| days.first.year() <= year && year <= days.last.year())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(text: &str) -> Vec<String> {
        dates(text).iter().map(|days| format!("{}..{}", days.first, days.last)).collect()
    }

    #[test]
    fn dates_and_spans_are_read() {
        assert_eq!(spans("released on June 5th, 1997."), ["1997-06-05..1997-06-05"]);
        assert_eq!(spans("on the 16th of August, 1993 by"), ["1993-08-16..1993-08-16"]);
        assert_eq!(
            spans("Stefano led from April 2010 until April 2013."),
            ["2010-04-01..2013-04-30"]
        );
        assert_eq!(
            spans("1999–2001, then 2003"),
            ["1999-01-01..2001-12-31", "2003-01-01..2003-12-31"]
        );
        assert_eq!(spans("between 1996 and 1998"), ["1996-01-01..1998-12-31"]);
        assert_eq!(spans("in 1996 and 1998").len(), 2);
        assert_eq!(spans("version 3.1 with 474 packages"), Vec::<String>::new());
        assert!(covers_year(&dates("from January 1999 to March 2001"), 2000));
    }

    #[test]
    fn versions_are_whole_tokens_and_forms_of_a_word_meet() {
        let exact = exact_tokens("When did Debian 3.1 come out in June?");
        assert_eq!(exact.into_iter().collect::<Vec<_>>(), ["3.1", "debian"]);
        assert_eq!(stems("released releases release"), ["releas", "releas", "releas"]);
        assert_eq!(stems("The architectures planned"), stems("architecture plan"));
        assert_eq!(
            asked("How many packages and who?"),
            Asked { who: true, how_many: true, when: false }
        );
    }

    #[test]
    fn negations_and_names() {
        assert!(negates("It isn't stable") && !negates("It is stable"));
        assert!(has_full_name("led by Bruce Perens") && !has_full_name("in June 1997"));
        assert!(names("The lead is Ada from Malmö.").contains("ada"));
    }
}
