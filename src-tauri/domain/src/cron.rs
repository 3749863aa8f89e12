//! Five-field cron in UTC: reading an expression, and the moments at which it comes due. No zones,
//! no daylight saving, no seconds, no aliases. The parser is our own because the crates at hand
//! accept other dialects (six fields, `L`, `W`, `?`, `@daily`).

use chrono::{DateTime, Datelike, Days, NaiveDate, Timelike};

use crate::Instant;

/// An expression is of no use when it has no occurrence within this many days (8 years, the
/// longest gap between two 29 Februaries, and a day).
const HORIZON_DAYS: u32 = 8 * 366 + 1;

/// An expression that has been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    days_restricted: bool,
    weekdays_restricted: bool,
}

/// Why an expression cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CronFault {
    /// It cannot be read at this character, counted from 1.
    Syntax {
        /// Character position.
        position: u32,
    },
    /// It reads well but never comes due, like 30 February.
    NeverFires,
}

impl CronFault {
    /// The fault's word, both as a reason and as a field code.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Syntax { .. } => "cron_syntax",
            Self::NeverFires => "cron_never_fires",
        }
    }

    /// One sentence for a person.
    #[must_use]
    pub fn message(self) -> String {
        match self {
            Self::Syntax { position } => {
                format!("The schedule cannot be read at position {position}.")
            }
            Self::NeverFires => "This schedule never comes due.".to_owned(),
        }
    }
}

struct Field {
    min: u32,
    max: u32,
    names: &'static [&'static str],
}

const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const FIELDS: [Field; 5] = [
    Field { min: 0, max: 59, names: &[] },
    Field { min: 0, max: 23, names: &[] },
    Field { min: 1, max: 31, names: &[] },
    Field { min: 1, max: 12, names: &MONTHS },
    Field { min: 0, max: 7, names: &WEEKDAYS },
];

impl Cron {
    /// Reads an expression. Blanks around it are allowed.
    ///
    /// # Errors
    /// Where it cannot be read, or that it never comes due.
    pub fn parse(text: &str) -> Result<Self, CronFault> {
        let words = words(text);
        let end = text.trim_end().chars().count() + 1;
        let syntax = |position: usize| CronFault::Syntax {
            position: u32::try_from(position).unwrap_or(u32::MAX),
        };
        if let Some((at, _)) = words.get(FIELDS.len()) {
            return Err(syntax(*at));
        }
        let mut sets = [0_u64; 5];
        for (i, field) in FIELDS.iter().enumerate() {
            let (at, word) = words.get(i).ok_or(syntax(end))?;
            sets[i] = field.read(word).map_err(|offset| syntax(at + offset))?;
        }
        let [minutes, hours, days, months, mut weekdays] = sets;
        if weekdays & (1 << 7) != 0 {
            weekdays = (weekdays | 1) & !(1 << 7);
        }
        let cron = Self {
            minutes,
            hours,
            days,
            months,
            weekdays,
            days_restricted: words[2].1 != "*",
            weekdays_restricted: words[4].1 != "*",
        };
        if cron.has_a_day() { Ok(cron) } else { Err(CronFault::NeverFires) }
    }

    /// Whether some day of some year matches. Only day-of-month against month can fail: a
    /// weekday comes round in every month.
    fn has_a_day(&self) -> bool {
        const LONGEST: [u32; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        self.weekdays_restricted
            || (1..=12_u32).zip(LONGEST).any(|(month, longest)| {
                has(self.months, month) && self.days.trailing_zeros() <= longest
            })
    }

    /// When both day fields are restricted a day matches by either; else the restricted one
    /// decides (an unrestricted one matches every day).
    fn day_matches(&self, date: NaiveDate) -> bool {
        let day = has(self.days, date.day());
        let weekday = has(self.weekdays, date.weekday().num_days_from_sunday());
        has(self.months, date.month())
            && if self.days_restricted && self.weekdays_restricted {
                day || weekday
            } else {
                day && weekday
            }
    }

    /// The first occurrence strictly after a moment. `None` only near the end of representable
    /// time.
    #[must_use]
    pub fn next_after(&self, at: Instant) -> Option<Instant> {
        let mut date = at.date_naive();
        let from = at.hour() * 60 + at.minute() + 1;
        let mut first = Some(from);
        for _ in 0..HORIZON_DAYS {
            if self.day_matches(date)
                && let Some(minute) = self.minutes_of_day().find(|m| first.is_none_or(|f| *m >= f))
            {
                return moment(date, minute);
            }
            first = None;
            date = date.checked_add_days(Days::new(1))?;
        }
        None
    }

    /// The newest occurrence at or before a moment.
    #[must_use]
    pub fn last_until(&self, at: Instant) -> Option<Instant> {
        let mut date = at.date_naive();
        let until = at.hour() * 60 + at.minute();
        let mut last = Some(until);
        for _ in 0..HORIZON_DAYS {
            if self.day_matches(date)
                && let Some(minute) =
                    self.minutes_of_day().filter(|m| last.is_none_or(|l| *m <= l)).last()
            {
                return moment(date, minute);
            }
            last = None;
            date = date.checked_sub_days(Days::new(1))?;
        }
        None
    }

    /// The next occurrences strictly after a moment, at most `count`.
    #[must_use]
    pub fn next_runs(&self, at: Instant, count: usize) -> Vec<Instant> {
        std::iter::successors(self.next_after(at), |at| self.next_after(*at)).take(count).collect()
    }

    /// The smallest distance between two occurrences, in minutes (at most a day): what is compared
    /// with the scheduler's tick.
    #[must_use]
    pub fn closest_minutes(&self) -> u32 {
        let minutes: Vec<u32> = self.minutes_of_day().collect();
        let within = minutes.windows(2).map(|pair| pair[1] - pair[0]).min();
        let around = match (minutes.first(), minutes.last()) {
            (Some(first), Some(last)) => 24 * 60 + first - last,
            _ => 24 * 60,
        };
        within.map_or(around, |within| within.min(around))
    }

    fn minutes_of_day(&self) -> impl Iterator<Item = u32> + '_ {
        (0..24)
            .filter(|hour| has(self.hours, *hour))
            .flat_map(|hour| (0..60).filter(|m| has(self.minutes, *m)).map(move |m| hour * 60 + m))
    }
}

impl Field {
    /// The values of one field as bits; the error is the offset of the part that cannot be read.
    fn read(&self, word: &str) -> Result<u64, usize> {
        let mut bits = 0;
        let mut offset = 0;
        for part in word.split(',') {
            bits |= self.part(part).ok_or(offset)?;
            offset += part.chars().count() + 1;
        }
        Ok(bits)
    }

    fn part(&self, part: &str) -> Option<u64> {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(number(step).filter(|n| *n >= 1)?)),
            None => (part, None),
        };
        let (from, to) = match (range, range.split_once('-')) {
            ("*", _) => (self.min, self.max),
            (_, Some((from, to))) => (self.value(from)?, self.value(to)?),
            (one, None) => {
                let from = self.value(one)?;
                (from, if step.is_some() { self.max } else { from })
            }
        };
        if from > to {
            return None;
        }
        let step = usize::try_from(step.unwrap_or(1)).ok()?;
        Some((from..=to).step_by(step).fold(0, |bits, value| bits | 1 << value))
    }

    fn value(&self, text: &str) -> Option<u32> {
        let named = self.names.iter().position(|name| name.eq_ignore_ascii_case(text));
        let value = match named {
            Some(at) => u32::try_from(at).ok()? + self.min,
            None => number(text)?,
        };
        (self.min..=self.max).contains(&value).then_some(value)
    }
}

/// Decimal digits alone; a number too large for the type is as large as can be.
fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u32::MAX))
}

/// The blank-separated words with the position of their first character, from 1.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let mut start = None;
    for (position, (at, c)) in text.char_indices().enumerate() {
        match (c.is_whitespace(), start) {
            (false, None) => start = Some((position + 1, at)),
            (true, Some((position, from))) => {
                words.push((position, &text[from..at]));
                start = None;
            }
            _ => {}
        }
    }
    words.extend(start.map(|(position, from)| (position, &text[from..])));
    words
}

fn has(bits: u64, value: u32) -> bool {
    bits & (1 << value) != 0
}

fn moment(date: NaiveDate, minute: u32) -> Option<Instant> {
    let at = date.and_hms_opt(minute / 60, minute % 60, 0)?;
    Some(DateTime::from_naive_utc_and_offset(at, chrono::Utc))
}
