//! Refreshes and reviews of a document of 200 blocks, without the time of a language model.

use engine::models::{self, proposals};
use engine::view::model::{NewModel, ReviewMode};
use engine::view::proposal::{ApproveInput, DecideOps, OpDecision, PreviewOf};
use serde_json::json;
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use tests::Fixture;

/// A page of twenty sections of ten blocks.
fn page() -> String {
    let mut page = String::new();
    for section in 0..20 {
        let _ = write!(page, "# Bench {section}\n\n");
        for block in 0..10 {
            let _ = write!(page, "Bench {section} holds tool number {block} of the workshop.\n\n");
        }
    }
    page
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

#[tokio::test]
#[ignore = "speed"]
async fn a_refresh_and_a_review_of_200_blocks() {
    let f = Fixture::new().await;
    let new = NewModel {
        id: Some("tools".to_owned()),
        name: "Tools".to_owned(),
        source_query: "Tools of the workshop benches".to_owned(),
        tags: Vec::new(),
        max_tokens: Some(8192),
        trigger: Some(json!({ "mode": "delta" }).into()),
        review: Some(ReviewMode::Manual),
        content: Some(page()),
    };
    models::create(&f.engine, &f.bank, new).await.expect("a model");
    let id = domain::ModelId::from("tools");
    let (mut refreshes, mut previews, mut decisions, mut approvals) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..9 {
        for n in 0..3 {
            let text = format!("Tool {round}-{n} of the workshop was put on bench {n}.");
            f.fact(&text, &[], &format!("2026-02-{:02}", round + 1)).await;
        }
        models::refresh(&f.engine, &f.bank, &id, false).await.expect("a refresh");
        let start = Instant::now();
        f.run_queue().await;
        refreshes.push(start.elapsed());
        let row = proposals::inbox(&f.engine, &f.bank).await.expect("an inbox").remove(0);
        let view = proposals::get(&f.engine, &f.bank, &row.id).await.expect("a proposal");
        let start = Instant::now();
        proposals::preview(&f.engine, &f.bank, &row.id, PreviewOf::Everything)
            .await
            .expect("a preview");
        previews.push(start.elapsed());
        let op_ids = view.ops.iter().map(|op| op.op_id.clone()).collect();
        let input = DecideOps { op_ids, decision: OpDecision::Accepted };
        let start = Instant::now();
        let view = proposals::decide(&f.engine, &f.bank, &row.id, input, view.state_seq)
            .await
            .expect("a decision");
        decisions.push(start.elapsed());
        let input = ApproveInput { confirmed: true, ..ApproveInput::default() };
        let start = Instant::now();
        proposals::approve(&f.engine, &f.bank, &row.id, input, view.state_seq)
            .await
            .expect("a version");
        approvals.push(start.elapsed());
    }
    println!(
        "200 blocks: refresh {:?}, preview {:?}, decide {:?}, approve {:?} (medians of 9)",
        median(&mut refreshes),
        median(&mut previews),
        median(&mut decisions),
        median(&mut approvals),
    );
}
