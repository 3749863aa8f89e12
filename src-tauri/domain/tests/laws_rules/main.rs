//! Laws and corners of the rules that the cases of `cases_rules` show by example.

mod cron;
mod queue;
mod refresh;
mod schema;
mod tags;
mod trigger;
