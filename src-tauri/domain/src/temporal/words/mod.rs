//! Word lists, one language a file. Accents and case do not matter; a list of spellings is one text
//! with blanks between them.

mod de;
mod en;
mod es;
mod fr;
mod it;
mod ja;
mod pt;
mod ru;
mod zh;

/// The words and phrases of a language, by rule. Gaps of phrases are explained in `pattern`.
#[derive(Debug)]
pub(super) struct Words {
    /// From January.
    pub(super) months: [&'static str; 12],
    /// From Monday.
    pub(super) weekdays: [&'static str; 7],
    /// Day, week, month, quarter, year.
    pub(super) units: [&'static str; 5],
    /// Numbers as words, the article included where it counts as one.
    pub(super) numbers: &'static [(&'static str, u32)],
    /// Ordinals of quarters.
    pub(super) quarters: &'static [(&'static str, u32)],
    /// "last" before or after a unit of the calendar.
    pub(super) last: &'static str,
    /// "this".
    pub(super) this: &'static str,
    /// "next".
    pub(super) next: &'static str,
    /// "past" or "last" before a number.
    pub(super) past: &'static str,
    /// Phrases for a full date.
    pub(super) day_month_year: &'static [&'static str],
    /// Phrases for a quarter of a year.
    pub(super) quarter: &'static [&'static str],
    /// Phrases for a month of a year.
    pub(super) month_year: &'static [&'static str],
    /// Phrases for single days and their distance from today, in the order of the table.
    pub(super) relative_day: &'static [(&'static str, i64)],
    /// Phrases that look like one of these and are not.
    pub(super) not_a_day: &'static [&'static str],
    /// "a couple of units ago".
    pub(super) couple_ago: &'static [&'static str],
    /// "a few units ago".
    pub(super) few_ago: &'static [&'static str],
    /// "n units ago".
    pub(super) ago: &'static [&'static str],
    /// "past n units"; without a number, one unit.
    pub(super) trailing: &'static [&'static str],
    /// "past few units".
    pub(super) trailing_few: &'static [&'static str],
    /// "past couple of units".
    pub(super) trailing_couple: &'static [&'static str],
    /// Last, this, next weekend.
    pub(super) weekend: [&'static [&'static str]; 3],
    /// Last, this, next unit of the calendar.
    pub(super) calendar: [&'static [&'static str]; 3],
    /// "last" and a weekday.
    pub(super) last_weekday: &'static [&'static str],
    /// "on" and a weekday.
    pub(super) on_weekday: &'static [&'static str],
    /// "in" and a year.
    pub(super) year: &'static [&'static str],
    /// "since" and a year.
    pub(super) since_year: &'static [&'static str],
    /// "in" and a month.
    pub(super) in_month: &'static [&'static str],
    /// "last" and a month.
    pub(super) last_month: &'static [&'static str],
    /// "since" and a month.
    pub(super) since_month: &'static [&'static str],
    /// Words that mean something else in another language ("hier"); a phrase with one of them counts
    /// only where the question does not lean to another language.
    pub(super) ambiguous: &'static [&'static str],
    /// Common small words, by which a question leans to the language.
    pub(super) common: &'static str,
}

/// A kind of phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    DayMonthYear,
    Quarter,
    MonthYear,
    NotADay,
    CoupleAgo,
    FewAgo,
    Ago,
    Trailing,
    TrailingFew,
    TrailingCouple,
    LastWeekend,
    ThisWeekend,
    NextWeekend,
    LastUnit,
    ThisUnit,
    NextUnit,
    LastWeekday,
    OnWeekday,
    Year,
    SinceYear,
    InMonth,
    LastMonth,
    SinceMonth,
}

impl Slot {
    pub(super) const ALL: [Self; 23] = [
        Self::DayMonthYear,
        Self::Quarter,
        Self::MonthYear,
        Self::NotADay,
        Self::CoupleAgo,
        Self::FewAgo,
        Self::Ago,
        Self::Trailing,
        Self::TrailingFew,
        Self::TrailingCouple,
        Self::LastWeekend,
        Self::ThisWeekend,
        Self::NextWeekend,
        Self::LastUnit,
        Self::ThisUnit,
        Self::NextUnit,
        Self::LastWeekday,
        Self::OnWeekday,
        Self::Year,
        Self::SinceYear,
        Self::InMonth,
        Self::LastMonth,
        Self::SinceMonth,
    ];
}

impl Words {
    /// The phrases of a kind.
    pub(super) fn phrases(&self, slot: Slot) -> &'static [&'static str] {
        match slot {
            Slot::DayMonthYear => self.day_month_year,
            Slot::Quarter => self.quarter,
            Slot::MonthYear => self.month_year,
            Slot::NotADay => self.not_a_day,
            Slot::CoupleAgo => self.couple_ago,
            Slot::FewAgo => self.few_ago,
            Slot::Ago => self.ago,
            Slot::Trailing => self.trailing,
            Slot::TrailingFew => self.trailing_few,
            Slot::TrailingCouple => self.trailing_couple,
            Slot::LastWeekend => self.weekend[0],
            Slot::ThisWeekend => self.weekend[1],
            Slot::NextWeekend => self.weekend[2],
            Slot::LastUnit => self.calendar[0],
            Slot::ThisUnit => self.calendar[1],
            Slot::NextUnit => self.calendar[2],
            Slot::LastWeekday => self.last_weekday,
            Slot::OnWeekday => self.on_weekday,
            Slot::Year => self.year,
            Slot::SinceYear => self.since_year,
            Slot::InMonth => self.in_month,
            Slot::LastMonth => self.last_month,
            Slot::SinceMonth => self.since_month,
        }
    }
}

/// All languages, in the order in which they are tried within a rule.
pub(super) const LANGUAGES: [&Words; 9] = [
    &en::WORDS,
    &de::WORDS,
    &fr::WORDS,
    &es::WORDS,
    &it::WORDS,
    &pt::WORDS,
    &ru::WORDS,
    &zh::WORDS,
    &ja::WORDS,
];

/// Words between the two days of a range, in any language.
pub(super) const RANGE_WORDS: &str =
    "to until till through thru - – — .. / ~ bis a au al hasta ate до по 至 到 から";
/// Words between the two days of a range that was opened by one of the next list.
pub(super) const AND_WORDS: &str = "and und et y e и 和";
/// "between".
pub(super) const BETWEEN_WORDS: &str = "between zwischen entre tra fra между";
