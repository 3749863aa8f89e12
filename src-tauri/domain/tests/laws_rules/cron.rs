//! Schedules against an oracle that knows nothing of text: every minute is asked one by one.

use chrono::{DateTime, Datelike, TimeDelta, Timelike, Utc};
use domain::Instant;
use domain::cron::{Cron, CronFault};
use proptest::prelude::*;

/// A field as text and as the set it means.
#[derive(Debug, Clone)]
struct Field {
    text: String,
    values: Vec<u32>,
}

fn part(min: u32, max: u32) -> impl Strategy<Value = Field> {
    let one = (min..=max).prop_map(|a| Field { text: a.to_string(), values: vec![a] });
    let range = (min..=max, min..=max, 1..=max + 2).prop_map(|(a, b, n)| {
        let (a, b) = (a.min(b), a.max(b));
        let step = usize::try_from(n).expect("small");
        Field { text: format!("{a}-{b}/{n}"), values: (a..=b).step_by(step).collect() }
    });
    let from = (min..=max, 1..=max).prop_map(move |(a, n)| {
        let step = usize::try_from(n).expect("small");
        Field { text: format!("{a}/{n}"), values: (a..=max).step_by(step).collect() }
    });
    let every = (1..=max).prop_map(move |n| {
        let step = usize::try_from(n).expect("small");
        Field { text: format!("*/{n}"), values: (min..=max).step_by(step).collect() }
    });
    prop_oneof![one, range, from, every]
}

fn field(min: u32, max: u32) -> impl Strategy<Value = Field> {
    let star = Just(Field { text: "*".to_owned(), values: (min..=max).collect() });
    let list = proptest::collection::vec(part(min, max), 1..4).prop_map(|parts| Field {
        text: parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(","),
        values: parts.into_iter().flat_map(|part| part.values).collect(),
    });
    prop_oneof![star, list]
}

fn matches(fields: &[Field; 5], at: Instant) -> bool {
    let has = |i: usize, value: u32| fields[i].values.contains(&value);
    let weekday = at.weekday().num_days_from_sunday();
    let day = has(2, at.day());
    let weekday = has(4, weekday) || (weekday == 0 && has(4, 7));
    let restricted = |i: usize| fields[i].text != "*";
    let either = restricted(2) && restricted(4);
    let days = if either { day || weekday } else { day && weekday };
    has(0, at.minute()) && has(1, at.hour()) && has(3, at.month()) && days
}

fn moment() -> impl Strategy<Value = Instant> {
    // 1990 to 2110, which holds the gap between 2096 and 2104.
    (631_152_000_i64..4_417_977_600)
        .prop_map(|seconds| DateTime::from_timestamp(seconds, 0).expect("a moment"))
}

fn floor_minute(at: Instant) -> Instant {
    at.with_second(0).expect("a minute")
}

proptest! {
    #[test]
    fn next_and_last_agree_with_the_oracle(
        minute in field(0, 59), hour in field(0, 23), day in field(1, 31),
        month in field(1, 12), weekday in field(0, 7), at in moment(),
    ) {
        let fields = [minute, hour, day, month, weekday];
        let text = fields.iter().map(|field| field.text.as_str()).collect::<Vec<_>>().join(" ");
        let cron = match Cron::parse(&text) {
            Ok(cron) => cron,
            Err(CronFault::NeverFires) => {
                let day = |days: i64| at + TimeDelta::days(days);
                let days = (0..8 * 366).map(day);
                let any = [Field { text: "0".into(), values: (0..60).collect() },
                    Field { text: "0".into(), values: (0..24).collect() },
                    fields[2].clone(), fields[3].clone(), fields[4].clone()];
                prop_assert!(!days.into_iter().any(|at| matches(&any, at)), "{text}");
                return Ok(());
            }
            Err(fault) => return Err(TestCaseError::fail(format!("{text}: {fault:?}"))),
        };
        let next = cron.next_after(at).expect("an occurrence");
        prop_assert!(next > at && matches(&fields, next), "{text}: {next}");
        prop_assert_eq!(cron.last_until(next), Some(next));
        let last = cron.last_until(at).expect("an occurrence");
        prop_assert!(last <= at && matches(&fields, last), "{text}: {last}");
        // Nothing lies between the two: by the oracle for as far as a day, by the law throughout.
        prop_assert_eq!(cron.next_after(last), Some(next));
        let mut minute = floor_minute(at) + TimeDelta::minutes(1);
        while minute < next && minute < at + TimeDelta::days(1) {
            prop_assert!(!matches(&fields, minute), "{text}: {minute}");
            minute += TimeDelta::minutes(1);
        }
        let runs = cron.next_runs(at, 5);
        prop_assert_eq!(runs.len(), 5);
        prop_assert!(runs.windows(2).all(|pair| cron.next_after(pair[0]) == Some(pair[1])));
        let closest = TimeDelta::minutes(i64::from(cron.closest_minutes()));
        prop_assert!(runs.windows(2).all(|pair| pair[1] - pair[0] >= closest), "{text}");
    }
}

fn at(text: &str) -> Instant {
    DateTime::parse_from_rfc3339(text).expect("a moment").with_timezone(&Utc)
}

#[test]
fn what_is_no_cron_says_where() {
    for (text, position) in [
        ("", 1),
        ("0 3 * *", 8),
        ("0 0 3 * * *", 11),
        ("@daily", 1),
        ("60 * * * *", 1),
        ("0,61 * * * *", 3),
        ("0 24 * * *", 3),
        ("0 0 0 * *", 5),
        ("0 0 * 13 *", 7),
        ("0 0 * * 8", 9),
        ("0 0 * * MONDAY", 9),
        ("*/0 * * * *", 1),
        ("5-1 * * * *", 1),
        ("1,,2 * * * *", 3),
        ("-1 * * * *", 1),
        ("1- * * * *", 1),
        ("1/ * * * *", 1),
        ("+1 * * * *", 1),
        ("1.5 * * * *", 1),
        ("? * * * *", 1),
        ("0 0 L * *", 5),
        ("0 0 15W * *", 5),
        ("0 0 * * 5#2", 9),
        ("H * * * *", 1),
        ("0 0 * * SAT-SUN", 9),
        ("0 0 JAN * *", 5),
        ("*-5 * * * *", 1),
        ("1-5-9 * * * *", 1),
        ("*/5/2 * * * *", 1),
    ] {
        assert_eq!(Cron::parse(text), Err(CronFault::Syntax { position }), "{text}");
    }
}

#[test]
fn days_that_do_not_exist_never_fire() {
    for text in ["0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 30-31 FEB *"] {
        assert_eq!(Cron::parse(text), Err(CronFault::NeverFires), "{text}");
    }
    for text in ["0 0 29 2 *", "0 0 30 2 1", "0 0 30 2 */2", "0 0 31 4,5 *"] {
        assert!(Cron::parse(text).is_ok(), "{text}");
    }
}

#[test]
fn leap_days_and_weekdays() {
    let leap = Cron::parse("0 0 29 2 *").expect("a schedule");
    assert_eq!(leap.next_after(at("2096-02-29T00:00:00Z")), Some(at("2104-02-29T00:00:00Z")));
    assert_eq!(leap.last_until(at("2104-02-28T23:59:59Z")), Some(at("2096-02-29T00:00:00Z")));
    let sundays = ["0 0 * * 0", "0 0 * * 7", "0 0 * * sun"];
    for text in sundays {
        let cron = Cron::parse(text).expect("a schedule");
        assert_eq!(cron.next_after(at("2026-01-05T00:00:00Z")), Some(at("2026-01-11T00:00:00Z")));
    }
    // Both day fields restricted, a step being a restriction: a day matches by either.
    let either = Cron::parse("0 0 13 * 5").expect("a schedule");
    assert_eq!(either.next_after(at("2026-01-10T00:00:00Z")), Some(at("2026-01-13T00:00:00Z")));
    assert_eq!(either.next_after(at("2026-01-13T00:00:00Z")), Some(at("2026-01-16T00:00:00Z")));
    let step = Cron::parse("0 0 */31 * 5").expect("a schedule");
    assert_eq!(step.next_after(at("2026-01-01T00:00:00Z")), Some(at("2026-01-02T00:00:00Z")));
}

#[test]
fn blanks_names_and_zeros_are_allowed() {
    let cron = Cron::parse(" 05\t06  1,15 jan-MAR Sun ").expect("a schedule");
    assert_eq!(cron.next_after(at("2026-01-01T07:00:00Z")), Some(at("2026-01-04T06:05:00Z")));
    assert!(Cron::parse("*/99999999999 * * * *").is_ok());
    assert_eq!(Cron::parse("*/5 * * * *").expect("a schedule").closest_minutes(), 5);
    assert_eq!(Cron::parse("0 3 * * 1").expect("a schedule").closest_minutes(), 24 * 60);
}
