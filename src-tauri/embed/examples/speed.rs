//! How fast the bundled embedder is on this machine:
//! `cargo run --release -p embed --example speed -- .build/embedder`.

use std::time::Instant;

use embed::{Bundled, Embedder, Kind};
use tokio_util::sync::CancellationToken;

const SENTENCES: [&str; 8] = [
    "Which of the two pumps feeds the upper reservoir during the winter months?",
    "The harbour office keeps its keys in the archive since Marta left it.",
    "We agreed to send the newsletter every second Thursday and not every week.",
    "The old ferry was sold to a museum in Bergen in June 2019.",
    "If the temperature stays above eight degrees the whole batch is written off.",
    "Nothing in the contract forbids weekend work, yet it asks for notice.",
    "Jonas disagreed with the plan at first but did not want to block it.",
    "Every maintenance order needs a second signature from somebody of another team.",
];

#[expect(clippy::disallowed_methods, reason = "a stopwatch")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::print_stdout, reason = "its purpose")]
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".build/embedder".into());
    let started = now();
    let bundled = Bundled::open(folder.as_ref())?;
    println!("open: {:.0} ms", started.elapsed().as_secs_f64() * 1e3);
    let cancel = CancellationToken::new();

    let mut times = Vec::new();
    for round in 0..200 {
        let started = now();
        bundled.embed_one(SENTENCES[round % SENTENCES.len()], Kind::Query, &cancel).await?;
        times.push(started.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    println!("one query: p50 {:.1} ms, p95 {:.1} ms", times[100], times[190]);

    for size in [8, 32] {
        let texts: Vec<String> =
            SENTENCES.iter().cycle().take(size).map(|&text| text.to_owned()).collect();
        let rounds = 512 / size;
        let started = now();
        for _ in 0..rounds {
            bundled.embed(&texts, Kind::Passage, &cancel).await?;
        }
        let rate = (rounds * size) as f64 / started.elapsed().as_secs_f64();
        println!("batches of {size}: {rate:.0} sentences per second");
    }

    let long = vec![SENTENCES.join(" ").repeat(4)];
    let started = now();
    bundled.embed(&long, Kind::Passage, &cancel).await?;
    println!(
        "one text of {} tokens: {:.0} ms",
        bundled.token_ids(&long[0], Kind::Passage).len(),
        started.elapsed().as_secs_f64() * 1e3
    );
    Ok(())
}
