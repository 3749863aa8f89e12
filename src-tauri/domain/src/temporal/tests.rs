//! The readings of dates beyond the cases: corners, languages, what must not be read as a date.

use chrono::TimeZone;
use chrono::Utc;

use super::*;

// Wednesday.
fn today() -> NaiveDate {
    NaiveDate::from_ymd_opt(2025, 3, 12).unwrap()
}

fn read(query: &str) -> String {
    match read_window(query, today()) {
        Some(window) => {
            format!("{} {} {}", window.rule.word(), window.first, window.last)
        }
        None => "none".to_owned(),
    }
}

fn check(cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter(|(query, want)| read(query) != *want)
        .map(|(query, want)| format!("{query:?}: got {}, want {want}", read(query)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn english_beyond_the_plain_forms() {
    check(&[
        ("between 2024-01-05 and 2024-01-09", "iso 2024-01-05 2024-01-09"),
        ("2024-01-05 and 2024-01-09", "iso 2024-01-05 2024-01-05"),
        ("2024-01-05..2024-01-09", "iso 2024-01-05 2024-01-09"),
        ("id 12024-01-05", "none"),
        ("Jun. 5th, 2024", "day_month_year 2024-06-05 2024-06-05"),
        ("June 31, 2024", "none"),
        ("June 1850 or yesterday", "none"),
        ("Mar 2024", "month_year 2024-03-01 2024-03-31"),
        ("second quarter of 2024", "quarter 2024-04-01 2024-06-30"),
        ("2024-Q1", "quarter 2024-01-01 2024-03-31"),
        ("May 2024", "month_year 2024-05-01 2024-05-31"),
        ("the day after tomorrow", "relative_day 2025-03-14 2025-03-14"),
        ("Yesterday's notes", "relative_day 2025-03-11 2025-03-11"),
        ("who called last night?", "relative_day 2025-03-11 2025-03-11"),
        ("a few months ago", "fuzzy_ago 2024-10-13 2025-01-11"),
        ("a few years ago", "none"),
        ("2 months ago", "ago 2025-01-01 2025-01-31"),
        ("a year ago", "ago 2024-01-01 2024-12-31"),
        ("3.5 weeks ago", "none"),
        ("ten days ago", "ago 2025-03-02 2025-03-02"),
        ("9999 years ago", "none"),
        ("last couple of days", "trailing 2025-03-09 2025-03-12"),
        ("past two months", "trailing 2025-01-11 2025-03-12"),
        ("the past week", "trailing 2025-03-05 2025-03-12"),
        ("next weekend", "weekend 2025-03-22 2025-03-23"),
        ("this quarter", "calendar 2025-01-01 2025-03-31"),
        ("next year", "calendar 2026-01-01 2026-12-31"),
        ("last day", "none"),
        ("on Wednesday", "weekday 2025-03-12 2025-03-12"),
        ("on Thursday", "weekday 2025-03-06 2025-03-06"),
        ("since 2019", "since 2019-01-01 2025-03-12"),
        ("since 2026", "none"),
        ("year 2020", "year 2020-01-01 2020-12-31"),
        ("in 1899", "none"),
        ("last March", "bare_month 2024-03-01 2024-03-31"),
        ("last may", "bare_month 2024-05-01 2024-05-31"),
        ("since May", "since 2024-05-01 2025-03-12"),
        ("INMAY", "none"),
        ("ｙｅｓｔｅｒｄａｙ", "relative_day 2025-03-11 2025-03-11"),
        ("", "none"),
    ]);
}

#[test]
fn german() {
    check(&[
        ("Was geschah vorgestern?", "relative_day 2025-03-10 2025-03-10"),
        ("gestern Morgen", "relative_day 2025-03-11 2025-03-11"),
        ("Termine für morgen", "relative_day 2025-03-13 2025-03-13"),
        ("was ich am Morgen esse", "none"),
        ("Was ist hier passiert?", "none"),
        ("am 5. Juni 2024", "day_month_year 2024-06-05 2024-06-05"),
        ("Rechnung vom 05.06.2024", "day_month_year 2024-06-05 2024-06-05"),
        ("März 2024", "month_year 2024-03-01 2024-03-31"),
        ("im 2. Quartal 2024", "quarter 2024-04-01 2024-06-30"),
        ("vor drei Wochen", "ago 2025-02-17 2025-02-23"),
        ("vor ein paar Wochen", "fuzzy_ago 2025-02-05 2025-02-26"),
        ("in den letzten 3 Tagen", "trailing 2025-03-09 2025-03-12"),
        ("in den letzten Tagen", "trailing 2025-03-07 2025-03-12"),
        ("letztes Wochenende", "weekend 2025-03-08 2025-03-09"),
        ("letzte Woche", "calendar 2025-03-03 2025-03-09"),
        ("dieses Jahr", "calendar 2025-01-01 2025-12-31"),
        ("letzten Mittwoch", "weekday 2025-03-05 2025-03-05"),
        ("am Mittwoch", "weekday 2025-03-12 2025-03-12"),
        ("im Jahr 2019", "year 2019-01-01 2019-12-31"),
        ("seit 2019", "since 2019-01-01 2025-03-12"),
        ("im Mai", "bare_month 2024-05-01 2024-05-31"),
        ("seit Januar", "since 2025-01-01 2025-03-12"),
    ]);
}

#[test]
fn french() {
    check(&[
        ("Que s'est-il passé hier ?", "relative_day 2025-03-11 2025-03-11"),
        ("avant-hier", "relative_day 2025-03-10 2025-03-10"),
        ("aujourd'hui", "relative_day 2025-03-12 2025-03-12"),
        ("le 5 juin 2024", "day_month_year 2024-06-05 2024-06-05"),
        ("le 1er août 2024", "day_month_year 2024-08-01 2024-08-01"),
        ("en mars 2024", "month_year 2024-03-01 2024-03-31"),
        ("the Mars 2024 rover and what it did", "none"),
        ("il y a trois semaines", "ago 2025-02-17 2025-02-23"),
        ("il y a quelques semaines", "fuzzy_ago 2025-02-05 2025-02-26"),
        ("les 3 derniers jours", "trailing 2025-03-09 2025-03-12"),
        ("le week-end dernier", "weekend 2025-03-08 2025-03-09"),
        ("la semaine dernière", "calendar 2025-03-03 2025-03-09"),
        ("l'année dernière", "calendar 2024-01-01 2024-12-31"),
        ("mercredi dernier", "weekday 2025-03-05 2025-03-05"),
        ("en 2019", "year 2019-01-01 2019-12-31"),
        ("depuis janvier", "since 2025-01-01 2025-03-12"),
        ("au mois d'avril", "bare_month 2024-04-01 2024-04-30"),
    ]);
}

#[test]
fn spanish_italian_portuguese() {
    check(&[
        ("¿Qué pasó ayer?", "relative_day 2025-03-11 2025-03-11"),
        ("pasado mañana", "relative_day 2025-03-14 2025-03-14"),
        ("por la mañana", "none"),
        ("5 de junio de 2024", "day_month_year 2024-06-05 2024-06-05"),
        ("junio de 2024", "month_year 2024-06-01 2024-06-30"),
        ("hace tres semanas", "ago 2025-02-17 2025-02-23"),
        ("los últimos 3 días", "trailing 2025-03-09 2025-03-12"),
        ("la semana pasada", "calendar 2025-03-03 2025-03-09"),
        ("el año pasado", "calendar 2024-01-01 2024-12-31"),
        ("el fin de semana pasado", "weekend 2025-03-08 2025-03-09"),
        ("en mayo", "bare_month 2024-05-01 2024-05-31"),
        ("ieri", "relative_day 2025-03-11 2025-03-11"),
        ("l'altro ieri", "relative_day 2025-03-10 2025-03-10"),
        ("il 5 giugno 2024", "day_month_year 2024-06-05 2024-06-05"),
        ("tre settimane fa", "ago 2025-02-17 2025-02-23"),
        ("un paio di settimane fa", "fuzzy_ago 2025-02-19 2025-03-05"),
        ("la settimana scorsa", "calendar 2025-03-03 2025-03-09"),
        ("nel 2019", "year 2019-01-01 2019-12-31"),
        ("a maggio", "bare_month 2024-05-01 2024-05-31"),
        ("ontem", "relative_day 2025-03-11 2025-03-11"),
        ("há três semanas", "ago 2025-02-17 2025-02-23"),
        ("na semana passada", "calendar 2025-03-03 2025-03-09"),
    ]);
}

#[test]
fn russian_chinese_japanese() {
    check(&[
        ("Что было вчера?", "relative_day 2025-03-11 2025-03-11"),
        ("позавчера", "relative_day 2025-03-10 2025-03-10"),
        ("5 июня 2024 года", "day_month_year 2024-06-05 2024-06-05"),
        ("в июне 2024", "month_year 2024-06-01 2024-06-30"),
        ("3 недели назад", "ago 2025-02-17 2025-02-23"),
        ("за последние 3 дня", "trailing 2025-03-09 2025-03-12"),
        ("на прошлой неделе", "calendar 2025-03-03 2025-03-09"),
        ("в прошлую среду", "weekday 2025-03-05 2025-03-05"),
        ("в 2019 году", "year 2019-01-01 2019-12-31"),
        ("в мае", "bare_month 2024-05-01 2024-05-31"),
        ("昨天发生了什么？", "relative_day 2025-03-11 2025-03-11"),
        ("2024年6月5日", "day_month_year 2024-06-05 2024-06-05"),
        ("2024年6月", "month_year 2024-06-01 2024-06-30"),
        ("2024年第二季度", "quarter 2024-04-01 2024-06-30"),
        ("三周前", "ago 2025-02-17 2025-02-23"),
        ("几周前", "fuzzy_ago 2025-02-05 2025-02-26"),
        ("过去3天", "trailing 2025-03-09 2025-03-12"),
        ("上周末", "weekend 2025-03-08 2025-03-09"),
        ("上个星期", "calendar 2025-03-03 2025-03-09"),
        ("去年", "calendar 2024-01-01 2024-12-31"),
        ("在2019年", "year 2019-01-01 2019-12-31"),
        ("５月的旅行", "bare_month 2024-05-01 2024-05-31"),
        ("昨日何がありましたか", "relative_day 2025-03-11 2025-03-11"),
        ("3週間前", "ago 2025-02-17 2025-02-23"),
        ("先月", "calendar 2025-02-01 2025-02-28"),
    ]);
}

#[test]
fn a_day_belongs_to_the_zone() {
    let tokyo = FixedOffset::east_opt(9 * 3600).unwrap();
    let now = Utc.with_ymd_and_hms(2025, 3, 11, 20, 0, 0).unwrap();
    let (window, rule) = read_time_window("today", now, tokyo).unwrap();
    assert_eq!(rule, TemporalRule::RelativeDay);
    assert_eq!(crate::time::to_rfc3339(window.start), "2025-03-11T15:00:00Z");
    assert_eq!(crate::time::to_rfc3339(window.end), "2025-03-12T14:59:59.999Z");
}

#[test]
fn a_mention_counts_where_nothing_is_told_to_have_happened() {
    let at = |day: u32| Utc.with_ymd_and_hms(2025, 3, day, 0, 0, 0).single();
    let window = TimeWindow { start: at(1).unwrap(), end: at(11).unwrap() };
    let mentioned = SourceTimes { mentioned_at: at(6), ..SourceTimes::default() };
    assert!((temporal_proximity(window, mentioned) - 1.0).abs() < 1e-9);
    let one_end = SourceTimes { occurred_end: at(11), ..mentioned };
    assert!(temporal_proximity(window, one_end).abs() < 1e-9);
    assert_eq!(temporal_proximity(window, SourceTimes::default()), 0.5);
    let point = TimeWindow { start: window.start, end: window.start };
    assert_eq!(temporal_proximity(point, mentioned), 1.0);
}

#[test]
fn a_window_may_stand_at_the_end_of_a_long_text() {
    let text = "the quick brown fox in the garden ".repeat(200) + "yesterday";
    assert_eq!(read(&text), "relative_day 2025-03-11 2025-03-11");
}
