//! The bundled embedder by itself: one question, sentences by the dozen, one long text.

use crate::measure::{Against, Samples, rate};
use embed::{Embedder as _, Kind};
use std::time::Instant;
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

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn the_bundled_embedder() {
    let (model, none) = (tests::bundled(), CancellationToken::new());
    let mut query = Samples::default();
    for round in 0..200 {
        // A question that was asked before is remembered.
        let text = format!("{} {round}", SENTENCES[round % SENTENCES.len()]);
        query.time(model.embed_one(&text, Kind::Query, &none)).await.unwrap();
    }
    query.report("embedding a question", Against::default());
    for size in [8, 32] {
        let texts: Vec<String> =
            SENTENCES.iter().cycle().take(size).map(|&text| text.to_owned()).collect();
        let (start, rounds) = (Instant::now(), 512 / size);
        for _ in 0..rounds {
            model.embed(&texts, Kind::Passage, &none).await.unwrap();
        }
        let name = format!("embedding sentences, {size} at a time");
        rate(&name, rounds * size, start.elapsed(), Against::default());
    }
    let mut long = Samples::default();
    let text = SENTENCES.join(" ").repeat(4);
    for _ in 0..10 {
        long.time(model.embed_one(&text, Kind::Passage, &none)).await.unwrap();
    }
    long.report("embedding one text of 500 tokens", Against::default());
}
