//! Time in a question: "last week", "5th of June 2024", "vor drei Tagen". A closed table of rules in
//! a fixed order over the word lists of several languages; the first hit wins, and where no rule
//! hits, no window is claimed. Also how near a memory lies to a window. No clock and no zone
//! database: the moment and its zone are passed in.

mod pattern;
mod rules;
mod tokens;
mod words;

use chrono::{FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta};
use serde::{Deserialize, Serialize};

use crate::Instant;
use crate::consolidation::SourceTimes;

/// The rule that read a window, in the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum TemporalRule {
    /// `2024-01-05`, or a range of two such days.
    Iso,
    /// `June 5, 2024`.
    DayMonthYear,
    /// `Q2 2024`.
    Quarter,
    /// `June 2024`.
    MonthYear,
    /// `yesterday`.
    RelativeDay,
    /// `a couple of weeks ago`.
    FuzzyAgo,
    /// `3 weeks ago`.
    Ago,
    /// `past 3 days`.
    Trailing,
    /// `last weekend`.
    Weekend,
    /// `last week`.
    Calendar,
    /// `last Wednesday`.
    Weekday,
    /// `in 2019`.
    Year,
    /// `in May`.
    BareMonth,
    /// `since 2019`, `since May`.
    Since,
}

impl TemporalRule {
    /// The word in traces.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Iso => "iso",
            Self::DayMonthYear => "day_month_year",
            Self::Quarter => "quarter",
            Self::MonthYear => "month_year",
            Self::RelativeDay => "relative_day",
            Self::FuzzyAgo => "fuzzy_ago",
            Self::Ago => "ago",
            Self::Trailing => "trailing",
            Self::Weekend => "weekend",
            Self::Calendar => "calendar",
            Self::Weekday => "weekday",
            Self::Year => "year",
            Self::BareMonth => "bare_month",
            Self::Since => "since",
        }
    }
}

/// Whole days of the user's zone, both inclusive, and the rule that read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayWindow {
    /// First day.
    pub first: NaiveDate,
    /// Last day, never before the first.
    pub last: NaiveDate,
    /// The rule that hit.
    pub rule: TemporalRule,
}

/// A span of time, both ends inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct TimeWindow {
    /// First moment.
    pub start: Instant,
    /// Last moment.
    pub end: Instant,
}

impl DayWindow {
    /// The window in UTC, from 00:00:00 of the first day to 23:59:59.999 of the last, in a zone of
    /// one offset.
    #[must_use]
    pub fn in_utc(&self, offset: FixedOffset) -> TimeWindow {
        let east = TimeDelta::seconds(i64::from(offset.local_minus_utc()));
        self.in_utc_by(|local| local.and_utc() - east)
    }

    /// The same in a zone that `to_utc` knows, so that days on the other side of a change of the
    /// clocks come out right.
    #[must_use]
    pub fn in_utc_by(&self, to_utc: impl Fn(NaiveDateTime) -> Instant) -> TimeWindow {
        // One millisecond before midnight: the arithmetic of a time of day goes round.
        let last_moment = NaiveTime::MIN - TimeDelta::milliseconds(1);
        TimeWindow {
            start: to_utc(self.first.and_time(NaiveTime::MIN)),
            end: to_utc(self.last.and_time(last_moment)),
        }
    }
}

/// Whether a word, written small, is the name of a month or a weekday in one of the known languages.
#[must_use]
pub fn is_calendar_word(word: &str) -> bool {
    words::LANGUAGES.iter().any(|language| {
        let names = language.months.iter().chain(&language.weekdays);
        names.flat_map(|spellings| spellings.split_whitespace()).any(|name| name == word)
    })
}

/// The window that a question speaks of, read in whole days around `today` (the day of the anchor
/// in the user's zone). None when no rule hits.
#[must_use]
pub fn read_window(query: &str, today: NaiveDate) -> Option<DayWindow> {
    rules::read(&tokens::tokenize(query), today)
}

/// The same around a moment, in UTC, for a zone of one offset.
#[must_use]
pub fn read_time_window(
    query: &str,
    now: Instant,
    offset: FixedOffset,
) -> Option<(TimeWindow, TemporalRule)> {
    let window = read_window(query, now.with_timezone(&offset).date_naive())?;
    Some((window.in_utc(offset), window.rule))
}

/// How near a memory lies to the middle of a window, between 0 and 1: 1 at the middle, 0 at and
/// beyond its edges; 0.5 without any date, 1 for a window without extent.
#[must_use]
pub fn temporal_proximity(window: TimeWindow, times: SourceTimes) -> f64 {
    let middle = match (times.occurred_start, times.occurred_end) {
        (Some(start), Some(end)) => Some(start + (end - start) / 2),
        (start, end) => start.or(end).or(times.mentioned_at),
    };
    let Some(middle) = middle else { return 0.5 };
    let half = millis((window.end - window.start) / 2);
    if half <= 0.0 {
        return 1.0;
    }
    let centre = window.start + (window.end - window.start) / 2;
    1.0 - (millis(middle - centre).abs() / half).min(1.0)
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of any calendar span are below 2^52")]
fn millis(span: TimeDelta) -> f64 {
    span.num_milliseconds() as f64
}

/// Whether a memory lies in a window: what it tells of overlaps it, or one of its dates is inside.
#[must_use]
pub fn lies_in_window(window: TimeWindow, times: SourceTimes) -> bool {
    let inside = |at: Option<Instant>| at.is_some_and(|at| window.start <= at && at <= window.end);
    let overlaps = match (times.occurred_start, times.occurred_end) {
        (Some(start), Some(end)) => start <= window.end && end >= window.start,
        _ => false,
    };
    overlaps
        || inside(times.occurred_start)
        || inside(times.occurred_end)
        || inside(times.mentioned_at)
}

#[cfg(test)]
mod tests;
