//! A stopwatch for the benchmarks: wall time and processor time of one operation after another, one
//! line of figures per measure, and a file beside this one that keeps the last figures of each.
//!
//! On a busy machine wall time says how busy it was. The least time and the processor time then say
//! more, and the load that the machine carried stands beside them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Times of one operation, round by round.
#[derive(Default)]
pub(crate) struct Samples {
    wall: Vec<Duration>,
    cpu: Vec<Duration>,
}

/// What figures are held against.
#[derive(Clone, Copy, Default)]
pub(crate) struct Against {
    /// The most that the middle round may take, in milliseconds; for a rate the least it may be.
    pub(crate) bar: Option<f64>,
    /// What a server product for the same work needs on a machine of this kind: its median in
    /// milliseconds, or its rate.
    pub(crate) peer: Option<f64>,
}

/// A bar and a peer's figure.
pub(crate) fn against(bar: f64, peer: f64) -> Against {
    Against { bar: Some(bar), peer: Some(peer) }
}

/// A bar alone.
pub(crate) fn bar(bar: f64) -> Against {
    Against { bar: Some(bar), peer: None }
}

impl Samples {
    /// Times one round.
    pub(crate) async fn time<F: Future>(&mut self, work: F) -> F::Output {
        let before = processor_time();
        let start = Instant::now();
        let result = work.await;
        self.wall.push(start.elapsed());
        self.cpu.push(processor_time().saturating_sub(before));
        result
    }

    /// Prints the figures and keeps them.
    pub(crate) fn report(mut self, name: &str, against: Against) {
        self.wall.sort_unstable();
        self.cpu.sort_unstable();
        let at = |list: &[Duration], part: usize| {
            ms(list[(list.len() * part / 100).min(list.len() - 1)])
        };
        let row = Row {
            name,
            rounds: self.wall.len(),
            p50: figure(at(&self.wall, 50)),
            p95: figure(at(&self.wall, 95)),
            min: figure(ms(self.wall[0])),
            cpu: if cfg!(target_os = "linux") { figure(at(&self.cpu, 50)) } else { none() },
            bar: against.bar.map_or_else(none, |bar| format!("≤ {}", plain(bar))),
            peer: against.peer.map_or_else(none, plain),
        };
        row.keep();
    }
}

/// Prints how much was done a second and keeps it.
pub(crate) fn rate(name: &str, done: usize, took: Duration, against: Against) {
    let per_second = f64::from(u32::try_from(done).unwrap()) / took.as_secs_f64();
    let row = Row {
        name,
        rounds: done,
        p50: format!("{per_second:.0}/s"),
        p95: none(),
        min: none(),
        cpu: none(),
        bar: against.bar.map_or_else(none, |bar| format!("≥ {}/s", plain(bar))),
        peer: against.peer.map_or_else(none, |peer| format!("{}/s", plain(peer))),
    };
    row.keep();
}

struct Row<'a> {
    name: &'a str,
    rounds: usize,
    p50: String,
    p95: String,
    min: String,
    cpu: String,
    bar: String,
    peer: String,
}

impl Row<'_> {
    fn keep(&self) {
        let Self { name, rounds, p50, p95, min, cpu, bar, peer } = self;
        println!(
            "{name}: p50 {p50}, p95 {p95}, min {min}, processor {cpu}, bar {bar}, peer {peer} ({rounds} rounds)"
        );
        if cfg!(debug_assertions) {
            return;
        }
        let line = format!(
            "| {name} | {p50} | {p95} | {min} | {cpu} | {bar} | {peer} | {rounds} | {} |",
            load()
        );
        write_line(name, &line);
    }
}

const HEAD: &str = "\
# Measurements

Made by `npm run bench`, which replaces the lines of what it measured. Milliseconds unless a line says
otherwise. *Processor* is the processor time of all threads in the middle round, which other work on
the machine hardly changes; *load* is the machine's one-minute load at the end of the measure, and
beyond the number of its processors wall times are too long. *Bar* holds for p50. *Peer* is the median
of a server product for the same work on a machine of this kind, also under load.
";

/// Replaces the line of a measure in the file of results, or adds it.
fn write_line(name: &str, line: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/results.md");
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    let key = format!("| {name} |");
    let mut rows: Vec<&str> = known
        .lines()
        .filter(|row| row.starts_with("| ") && !row.starts_with("| measure"))
        .collect();
    match rows.iter_mut().find(|row| row.starts_with(&key)) {
        Some(row) => *row = line,
        None => rows.push(line),
    }
    let mut text = String::from(HEAD);
    let _ = write!(text, "\nMachine: {}, {} processors.\n\n", processor(), processors());
    text.push_str("| measure | p50 | p95 | min | processor | bar | peer | rounds | load |\n");
    text.push_str("|---|---|---|---|---|---|---|---|---|\n");
    for row in rows {
        text.push_str(row);
        text.push('\n');
    }
    std::fs::write(&path, text).unwrap();
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

fn figure(ms: f64) -> String {
    if ms < 10.0 { format!("{ms:.2}") } else { format!("{ms:.1}") }
}

fn plain(number: f64) -> String {
    format!("{number}")
}

fn none() -> String {
    "–".to_owned()
}

/// Processor time of all living threads so far, to the nanosecond; zero where the system does not
/// say.
pub(crate) fn processor_time() -> Duration {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return Duration::ZERO };
    let of = |path: PathBuf| -> Option<u64> {
        std::fs::read_to_string(path.join("schedstat")).ok()?.split(' ').next()?.parse().ok()
    };
    Duration::from_nanos(tasks.filter_map(|task| of(task.ok()?.path())).sum())
}

/// Memory that the process holds, in megabytes; none where the system does not say.
pub(crate) fn resident_mb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kb: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kb / 1024)
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().filter(|load| !load.is_empty()).map_or_else(none, str::to_owned)
}

fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    text.lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
