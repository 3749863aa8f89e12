//! Phrases with gaps, held against tokens. A pattern is written as words and `{gaps}`; what a gap
//! takes is a list of the language.

use std::ops::RangeInclusive;

use chrono::Weekday;

use super::tokens::{Token, tokenize};
use super::words::Words;

/// A unit of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

impl Unit {
    const ALL: [Self; 5] = [Self::Day, Self::Week, Self::Month, Self::Quarter, Self::Year];

    /// The unit as days where a rule counts in days.
    pub(super) fn days(self) -> Option<u32> {
        match self {
            Self::Day => Some(1),
            Self::Week => Some(7),
            Self::Month => Some(30),
            Self::Quarter => None,
            Self::Year => Some(365),
        }
    }
}

/// What the gaps of a pattern took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) count: Option<u32>,
    pub(super) unit: Option<Unit>,
    pub(super) day: Option<u32>,
    pub(super) month: Option<u32>,
    pub(super) year: Option<i32>,
    pub(super) quarter: Option<u32>,
    pub(super) weekday: Option<Weekday>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    Count,
    Unit,
    Day,
    Month,
    MonthNumber,
    Year,
    Quarter,
    QuarterWord,
    Weekday,
    Last,
    This,
    Next,
    Past,
}

#[derive(Debug, Clone)]
enum Piece {
    Word(String),
    Gap(Gap),
}

/// A compiled pattern. `=unit` at the end of its text fixes the unit of a phrase that has none.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    pieces: Vec<Piece>,
    unit: Option<Unit>,
}

// Words as token texts, and what they stand for.
type Entries = Vec<(Vec<String>, u32)>;

/// The lists of a language as tokens, longest first.
#[derive(Debug)]
pub(super) struct Lists {
    numbers: Entries,
    units: Entries,
    months: Entries,
    quarters: Entries,
    weekdays: Entries,
    last: Entries,
    this: Entries,
    next: Entries,
    past: Entries,
}

fn words_of(text: &str) -> Vec<String> {
    tokenize(text).into_iter().map(|token| token.text).collect()
}

fn entries<'a>(words: impl IntoIterator<Item = (&'a str, u32)>) -> Entries {
    let mut entries: Entries =
        words.into_iter().map(|(word, value)| (words_of(word), value)).collect();
    entries.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
    entries
}

// Lists of spellings, each list standing for its place, from `first`.
fn placed<'a>(lists: &'a [&'a str], first: u32) -> impl Iterator<Item = (&'a str, u32)> {
    (first..)
        .zip(lists)
        .flat_map(|(place, list)| list.split_whitespace().map(move |word| (word, place)))
}

fn plain(list: &str) -> impl Iterator<Item = (&str, u32)> {
    list.split_whitespace().map(|word| (word, 0))
}

impl Lists {
    pub(super) fn of(words: &Words) -> Self {
        // An abbreviated month may carry a full stop.
        let mut months = entries(placed(&words.months, 1));
        let mut dotted = months.clone();
        for (word, _) in &mut dotted {
            word.push(".".to_owned());
        }
        dotted.append(&mut months);
        Self {
            numbers: entries(words.numbers.iter().copied()),
            units: entries(placed(&words.units, 0)),
            months: dotted,
            quarters: entries(words.quarters.iter().copied()),
            weekdays: entries(placed(&words.weekdays, 0)),
            last: entries(plain(words.last)),
            this: entries(plain(words.this)),
            next: entries(plain(words.next)),
            past: entries(plain(words.past)),
        }
    }
}

impl Pattern {
    pub(super) fn parse(text: &str) -> Self {
        let (text, unit) = match text.split_once('=') {
            Some((text, unit)) => (text, fixed_unit(unit)),
            None => (text, None),
        };
        let mut pieces = Vec::new();
        for part in text.split_whitespace() {
            match gap_of(part) {
                Some(gap) => pieces.push(Piece::Gap(gap)),
                None => pieces.extend(words_of(part).into_iter().map(Piece::Word)),
            }
        }
        Self { pieces, unit }
    }

    /// Every place where the pattern fits.
    pub(super) fn all<'a>(
        &'a self,
        lists: &'a Lists,
        tokens: &'a [Token],
    ) -> impl Iterator<Item = Hit> + 'a {
        (0..tokens.len()).filter_map(move |start| {
            let found = Found { unit: self.unit, ..Found::default() };
            let (found, end) = fit(&self.pieces, lists, tokens, start, found)?;
            Some(Hit { found, start, end })
        })
    }
}

/// A place where a pattern fits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hit {
    pub(super) found: Found,
    pub(super) start: usize,
    pub(super) end: usize,
}

fn fixed_unit(word: &str) -> Option<Unit> {
    match word {
        "day" => Some(Unit::Day),
        "week" => Some(Unit::Week),
        "month" => Some(Unit::Month),
        "quarter" => Some(Unit::Quarter),
        "year" => Some(Unit::Year),
        _ => None,
    }
}

fn gap_of(part: &str) -> Option<Gap> {
    Some(match part {
        "{n}" => Gap::Count,
        "{unit}" => Gap::Unit,
        "{day}" => Gap::Day,
        "{month}" => Gap::Month,
        "{m}" => Gap::MonthNumber,
        "{year}" => Gap::Year,
        "{q}" => Gap::Quarter,
        "{nth}" => Gap::QuarterWord,
        "{weekday}" => Gap::Weekday,
        "{last}" => Gap::Last,
        "{this}" => Gap::This,
        "{next}" => Gap::Next,
        "{past}" => Gap::Past,
        _ => return None,
    })
}

fn fit(
    pieces: &[Piece],
    lists: &Lists,
    tokens: &[Token],
    at: usize,
    found: Found,
) -> Option<(Found, usize)> {
    let Some((piece, rest)) = pieces.split_first() else { return Some((found, at)) };
    match piece {
        Piece::Word(word) => (tokens.get(at)?.text == *word)
            .then(|| fit(rest, lists, tokens, at + 1, found))
            .flatten(),
        Piece::Gap(gap) => fit_gap(*gap, lists, tokens, at, |length, value| {
            fit(rest, lists, tokens, at + length, with(found, *gap, value)?)
        }),
    }
}

// Offers `go` every way in which a gap can be filled here (how many tokens, what they stand for)
// until one leads to the end.
fn fit_gap<T>(
    gap: Gap,
    lists: &Lists,
    tokens: &[Token],
    at: usize,
    go: impl Fn(usize, u32) -> Option<T>,
) -> Option<T> {
    let token = tokens.get(at)?;
    let number = |digits: RangeInclusive<usize>, range: RangeInclusive<u32>| {
        let value = token.number.filter(|n| range.contains(n) && digits.contains(&token.digits()));
        go(1, value?)
    };
    let listed = |entries: &Entries| {
        let ahead = &tokens[at..];
        let fits = |(words, _): &&(Vec<String>, u32)| {
            ahead.len() >= words.len()
                && words.iter().zip(ahead).all(|(word, token)| *word == token.text)
        };
        entries.iter().filter(fits).find_map(|(words, value)| go(words.len(), *value))
    };
    match gap {
        // The second half of "3.5" is no count of its own.
        Gap::Count if is_fraction(tokens, at) => None,
        Gap::Count if token.number.is_some() => number(1..=4, 0..=9999),
        Gap::Count => listed(&lists.numbers),
        Gap::Unit => listed(&lists.units),
        Gap::Day => number(1..=2, 1..=31),
        Gap::Month => listed(&lists.months),
        Gap::MonthNumber => number(1..=2, 1..=12),
        Gap::Year => number(4..=4, 0..=9999),
        Gap::Quarter => number(1..=1, 1..=4),
        Gap::QuarterWord => listed(&lists.quarters),
        Gap::Weekday => listed(&lists.weekdays),
        Gap::Last => listed(&lists.last),
        Gap::This => listed(&lists.this),
        Gap::Next => listed(&lists.next),
        Gap::Past => listed(&lists.past),
    }
}

fn is_fraction(tokens: &[Token], at: usize) -> bool {
    let mark = at.checked_sub(1).and_then(|mark| tokens.get(mark));
    let whole = at.checked_sub(2).and_then(|whole| tokens.get(whole));
    tokens[at].glued
        && mark.is_some_and(|mark| mark.glued && matches!(mark.text.as_str(), "." | ","))
        && whole.is_some_and(|whole| whole.number.is_some())
}

fn with(found: Found, gap: Gap, value: u32) -> Option<Found> {
    let place = usize::try_from(value).ok()?;
    Some(match gap {
        Gap::Count => Found { count: Some(value), ..found },
        Gap::Unit => Found { unit: Unit::ALL.get(place).copied(), ..found },
        Gap::Day => Found { day: Some(value), ..found },
        Gap::Month | Gap::MonthNumber => Found { month: Some(value), ..found },
        Gap::Year => Found { year: i32::try_from(value).ok(), ..found },
        Gap::Quarter | Gap::QuarterWord => Found { quarter: Some(value), ..found },
        Gap::Weekday => {
            let day = Weekday::try_from(u8::try_from(value).ok()?).ok()?;
            Found { weekday: Some(day), ..found }
        }
        Gap::Last | Gap::This | Gap::Next | Gap::Past => found,
    })
}
