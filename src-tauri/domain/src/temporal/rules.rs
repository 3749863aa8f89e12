//! The table: thirteen rules in order, each tried in every language before the next. Calendar
//! arithmetic on whole days; a date that does not exist is no hit.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use chrono::{Datelike, Days, Months, NaiveDate, Weekday};

use super::pattern::{Found, Hit, Lists, Pattern, Unit};
use super::tokens::{Token, tokenize};
use super::words::{AND_WORDS, BETWEEN_WORDS, LANGUAGES, RANGE_WORDS, Slot, Words};
use super::{DayWindow, TemporalRule};

// Years that a month, a quarter or a bare year may have, around the reference: a port or a price is
// not a year.
const YEARS_BACK: i32 = 120;
const YEARS_AHEAD: i32 = 20;
// A full date says enough to be believed further back.
const FULL_DATE_YEARS: RangeInclusive<i32> = 1000..=9999;

// "The last few" and "the last couple of", in units.
const FEW: u32 = 5;
const COUPLE: u32 = 3;
// "A few ago" and "a couple ago": from so many units back to so many.
const FEW_AGO: (u32, u32) = (5, 2);
const COUPLE_AGO: (u32, u32) = (3, 1);

// First and last day.
type Span = (NaiveDate, NaiveDate);

struct Language {
    lists: Lists,
    slots: Vec<(Slot, Vec<Pattern>)>,
    relative_day: Vec<(Pattern, i64)>,
    ambiguous: Vec<String>,
    common: Vec<String>,
}

static COMPILED: LazyLock<Vec<Language>> =
    LazyLock::new(|| LANGUAGES.iter().map(|words| Language::of(words)).collect());

fn plain(text: &str) -> Vec<String> {
    tokenize(text).into_iter().map(|token| token.text).collect()
}

impl Language {
    fn of(words: &Words) -> Self {
        let compiled = |slot: Slot| {
            (slot, words.phrases(slot).iter().map(|text| Pattern::parse(text)).collect())
        };
        let relative = words.relative_day.iter();
        Self {
            lists: Lists::of(words),
            slots: Slot::ALL.into_iter().map(compiled).collect(),
            relative_day: relative.map(|(text, days)| (Pattern::parse(text), *days)).collect(),
            ambiguous: words.ambiguous.iter().flat_map(|word| plain(word)).collect(),
            common: plain(words.common),
        }
    }

    fn patterns(&self, slot: Slot) -> &[Pattern] {
        let row = self.slots.iter().find(|(known, _)| *known == slot);
        row.map_or(&[], |(_, patterns)| patterns)
    }
}

// What a rule says.
enum Verdict {
    Window(NaiveDate, NaiveDate),
    // A date that cannot be meant: no window at all.
    Refused,
}

fn window(span: Option<Span>) -> Option<Verdict> {
    span.map(|(first, last)| Verdict::Window(first, last))
}

/// The window of a question.
pub(super) fn read<'a>(tokens: &'a [Token], today: NaiveDate) -> Option<DayWindow> {
    type Row<'t> = (TemporalRule, fn(&Reader<'t>) -> Option<Verdict>);
    let table: [Row<'a>; 15] = [
        (TemporalRule::Iso, |r| window(iso_days(r.tokens))),
        (TemporalRule::DayMonthYear, |r| window(r.first(Slot::DayMonthYear, |f| full_date(&f)))),
        (TemporalRule::Quarter, Reader::quarter),
        (TemporalRule::MonthYear, Reader::month_year),
        (TemporalRule::RelativeDay, Reader::relative_day),
        (TemporalRule::FuzzyAgo, Reader::fuzzy_ago),
        (TemporalRule::Ago, Reader::ago),
        (TemporalRule::Trailing, Reader::trailing),
        (TemporalRule::Weekend, Reader::weekend),
        (TemporalRule::Calendar, Reader::calendar),
        (TemporalRule::Weekday, Reader::weekday),
        (TemporalRule::Year, Reader::year),
        (TemporalRule::Since, Reader::since_year),
        (TemporalRule::BareMonth, Reader::bare_month),
        (TemporalRule::Since, Reader::since_month),
    ];
    let reader = Reader { tokens, today, leaning: leaning(tokens) };
    for (rule, verdict) in table {
        match verdict(&reader) {
            Some(Verdict::Window(first, last)) => {
                let sayable = first.year() >= 1 && last.year() <= 9999;
                return sayable.then_some(DayWindow { first, last, rule });
            }
            Some(Verdict::Refused) => return None,
            None => {}
        }
    }
    None
}

// How many common words of each language stand in the question.
fn leaning(tokens: &[Token]) -> Vec<usize> {
    let count = |language: &Language| {
        tokens.iter().filter(|token| language.common.contains(&token.text)).count()
    };
    COMPILED.iter().map(count).collect()
}

struct Reader<'a> {
    tokens: &'a [Token],
    today: NaiveDate,
    leaning: Vec<usize>,
}

impl Reader<'_> {
    // The first phrase of a slot, language by language, that `accept` makes something of.
    fn first<T>(&self, slot: Slot, accept: impl Fn(Found) -> Option<T>) -> Option<T> {
        COMPILED.iter().enumerate().find_map(|(place, language)| {
            language.patterns(slot).iter().find_map(|pattern| {
                pattern
                    .all(&language.lists, self.tokens)
                    .filter(|hit| self.may_mean(place, language, hit))
                    .find_map(|hit| accept(hit.found))
            })
        })
    }

    // A phrase with a word that another language has too counts only where the question does not
    // lean to another language.
    fn may_mean(&self, place: usize, language: &Language, hit: &Hit) -> bool {
        let doubtful = self.tokens[hit.start..hit.end]
            .iter()
            .any(|token| language.ambiguous.contains(&token.text));
        !doubtful || self.leaning.iter().all(|count| *count <= self.leaning[place])
    }

    fn is_year(&self, year: i32) -> bool {
        let now = self.today.year();
        (now - YEARS_BACK..=now + YEARS_AHEAD).contains(&year)
    }

    fn quarter(&self) -> Option<Verdict> {
        window(self.first(Slot::Quarter, |found| {
            let year = found.year.filter(|year| self.is_year(*year))?;
            months(NaiveDate::from_ymd_opt(year, 3 * found.quarter? - 2, 1)?, 3)
        }))
    }

    fn month_year(&self) -> Option<Verdict> {
        self.first(Slot::MonthYear, |found| {
            let (year, month) = (found.year?, found.month?);
            if !self.is_year(year) {
                return Some(Verdict::Refused);
            }
            window(months(NaiveDate::from_ymd_opt(year, month, 1)?, 1))
        })
    }

    fn relative_day(&self) -> Option<Verdict> {
        COMPILED.iter().enumerate().find_map(|(place, language)| {
            let masked: Vec<Hit> = language
                .patterns(Slot::NotADay)
                .iter()
                .flat_map(|pattern| pattern.all(&language.lists, self.tokens))
                .collect();
            let free = |hit: &Hit| {
                self.may_mean(place, language, hit)
                    && masked.iter().all(|mask| hit.end <= mask.start || mask.end <= hit.start)
            };
            language.relative_day.iter().find_map(|(pattern, distance)| {
                pattern.all(&language.lists, self.tokens).find(free)?;
                let day = shifted(self.today, *distance)?;
                Some(Verdict::Window(day, day))
            })
        })
    }

    fn fuzzy_ago(&self) -> Option<Verdict> {
        let span = |unit: Option<Unit>, (from, to): (u32, u32)| {
            let unit = match unit? {
                Unit::Quarter | Unit::Year => return None,
                unit @ (Unit::Day | Unit::Week | Unit::Month) => i64::from(unit.days()?),
            };
            let back = |count: u32| shifted(self.today, -unit * i64::from(count));
            Some((back(from)?, back(to)?))
        };
        let couple = self.first(Slot::CoupleAgo, |found| span(found.unit, COUPLE_AGO));
        window(couple.or_else(|| self.first(Slot::FewAgo, |found| span(found.unit, FEW_AGO))))
    }

    fn ago(&self) -> Option<Verdict> {
        window(self.first(Slot::Ago, |found| {
            let count = found.count?;
            match found.unit? {
                Unit::Day => shifted(self.today, -i64::from(count)).map(|day| (day, day)),
                unit => calendar_span(self.today, unit, -i64::from(count)),
            }
        }))
    }

    fn trailing(&self) -> Option<Verdict> {
        let span = |unit: Option<Unit>, count: u32| {
            let days = i64::from(unit?.days()?) * i64::from(count);
            Some((shifted(self.today, -days)?, self.today))
        };
        let counted = self.first(Slot::Trailing, |f| span(f.unit, f.count.unwrap_or(1)));
        let few = || self.first(Slot::TrailingFew, |found| span(found.unit, FEW));
        let couple = || self.first(Slot::TrailingCouple, |found| span(found.unit, COUPLE));
        window(counted.or_else(few).or_else(couple))
    }

    fn weekend(&self) -> Option<Verdict> {
        let span = |turn: i64| {
            let (_, sunday) = calendar_span(self.today, Unit::Week, turn)?;
            Some((shifted(sunday, -1)?, sunday))
        };
        let turns = [(Slot::LastWeekend, -1), (Slot::ThisWeekend, 0), (Slot::NextWeekend, 1)];
        window(turns.into_iter().find_map(|(slot, turn)| self.first(slot, |_| span(turn))))
    }

    fn calendar(&self) -> Option<Verdict> {
        let span = |unit: Option<Unit>, turn: i64| match unit? {
            Unit::Day => None,
            unit => calendar_span(self.today, unit, turn),
        };
        let turns = [(Slot::LastUnit, -1), (Slot::ThisUnit, 0), (Slot::NextUnit, 1)];
        window(turns.into_iter().find_map(|(slot, turn)| self.first(slot, |f| span(f.unit, turn))))
    }

    fn weekday(&self) -> Option<Verdict> {
        let back_to = |wanted: Weekday, from: i64| {
            let start = shifted(self.today, -from)?;
            let back = i64::from(start.weekday().days_since(wanted));
            shifted(start, -back).map(|day| (day, day))
        };
        let last = self.first(Slot::LastWeekday, |found| back_to(found.weekday?, 1));
        window(last.or_else(|| self.first(Slot::OnWeekday, |found| back_to(found.weekday?, 0))))
    }

    fn year(&self) -> Option<Verdict> {
        window(self.first(Slot::Year, |found| {
            let year = found.year.filter(|year| self.is_year(*year))?;
            months(NaiveDate::from_ymd_opt(year, 1, 1)?, 12)
        }))
    }

    fn since_year(&self) -> Option<Verdict> {
        window(self.first(Slot::SinceYear, |found| {
            let year = found.year.filter(|year| self.is_year(*year))?;
            self.since(NaiveDate::from_ymd_opt(year, 1, 1)?)
        }))
    }

    fn bare_month(&self) -> Option<Verdict> {
        let current = first_of_month(self.today)?;
        let recent = self.first(Slot::InMonth, |f| months(latest_month(current, f.month?)?, 1));
        let before = || {
            let previous = current.checked_sub_months(Months::new(1))?;
            self.first(Slot::LastMonth, |f| months(latest_month(previous, f.month?)?, 1))
        };
        window(recent.or_else(before))
    }

    fn since_month(&self) -> Option<Verdict> {
        let current = first_of_month(self.today)?;
        window(self.first(Slot::SinceMonth, |f| self.since(latest_month(current, f.month?)?)))
    }

    fn since(&self, first: NaiveDate) -> Option<Span> {
        (first <= self.today).then_some((first, self.today))
    }
}

fn shifted(day: NaiveDate, days: i64) -> Option<NaiveDate> {
    let distance = Days::new(days.unsigned_abs());
    if days < 0 { day.checked_sub_days(distance) } else { day.checked_add_days(distance) }
}

fn first_of_month(day: NaiveDate) -> Option<NaiveDate> {
    day.with_day(1)
}

// From a first day of a month over so many months.
fn months(first: NaiveDate, count: u32) -> Option<Span> {
    Some((first, shifted(first.checked_add_months(Months::new(count))?, -1)?))
}

// The latest month of that number, as its first day, not after the one that starts at `from`.
fn latest_month(from: NaiveDate, month: u32) -> Option<NaiveDate> {
    let same_year = from.with_month(month)?;
    if same_year <= from { Some(same_year) } else { same_year.checked_sub_months(Months::new(12)) }
}

// The unit of the calendar that holds a day, moved by so many units.
fn calendar_span(day: NaiveDate, unit: Unit, turn: i64) -> Option<Span> {
    let moved = |first: NaiveDate, size: u32| {
        let distance = Months::new(u32::try_from(turn.unsigned_abs()).ok()?.checked_mul(size)?);
        let first = if turn < 0 {
            first.checked_sub_months(distance)?
        } else {
            first.checked_add_months(distance)?
        };
        months(first, size)
    };
    match unit {
        Unit::Day => shifted(day, turn).map(|day| (day, day)),
        Unit::Week => {
            let monday = shifted(day, -i64::from(day.weekday().num_days_from_monday()))?;
            let monday = shifted(monday, turn.checked_mul(7)?)?;
            Some((monday, shifted(monday, 6)?))
        }
        Unit::Month => moved(first_of_month(day)?, 1),
        Unit::Quarter => moved(first_of_month(day)?.with_month(day.month0() / 3 * 3 + 1)?, 3),
        Unit::Year => moved(NaiveDate::from_ymd_opt(day.year(), 1, 1)?, 12),
    }
}

fn full_date(found: &Found) -> Option<Span> {
    let year = found.year.filter(|year| FULL_DATE_YEARS.contains(year))?;
    NaiveDate::from_ymd_opt(year, found.month?, found.day?).map(|day| (day, day))
}

// The first ISO day, or the range that it opens; a range written backwards is turned round.
fn iso_days(tokens: &[Token]) -> Option<Span> {
    let days: Vec<(usize, NaiveDate)> =
        (0..tokens.len()).filter_map(|at| Some((at, iso_day(tokens, at)?))).collect();
    let (start, first) = *days.first()?;
    let partner = days.get(1).filter(|(next, _)| joins(tokens, start, start + ISO_TOKENS, *next));
    let second = partner.map_or(first, |(_, second)| *second);
    Some((first.min(second), first.max(second)))
}

// Year, mark, month, mark, day.
const ISO_TOKENS: usize = 5;

fn iso_day(tokens: &[Token], at: usize) -> Option<NaiveDate> {
    let part = tokens.get(at..at + ISO_TOKENS)?;
    let [year, dash, month, second_dash, day] = part else { return None };
    let written = year.digits() == 4
        && month.digits() == 2
        && day.digits() == 2
        && [dash, second_dash].iter().all(|mark| mark.text == "-")
        && part[1..].iter().all(|token| token.glued);
    if !written {
        return None;
    }
    let year = i32::try_from(year.number?).ok().filter(|year| FULL_DATE_YEARS.contains(year))?;
    NaiveDate::from_ymd_opt(year, month.number?, day.number?)
}

// Whether what stands between two days makes them a range.
fn joins(tokens: &[Token], start: usize, end: usize, next: usize) -> bool {
    let Some(between) = tokens.get(end..next) else { return false };
    let text: String = between.iter().map(|token| token.text.as_str()).collect();
    let among = |words: &str| words.split_whitespace().any(|word| plain(word).concat() == text);
    let opened = || {
        let before = start.checked_sub(1).map(|at| tokens[at].text.as_str());
        before.is_some_and(|word| BETWEEN_WORDS.split_whitespace().any(|known| known == word))
    };
    among(RANGE_WORDS) || (among(AND_WORDS) && opened())
}
