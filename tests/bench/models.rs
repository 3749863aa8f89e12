//! Mental models without the time of a language model: refreshes over 10,000 memories, reviews of a
//! document of 200 blocks, lists of many models, a long history.

use crate::corpus;
use crate::measure::{Against, Samples, against, bar};
use crate::memory::{MEMORIES, bank};
use domain::{MemoryId, ModelId};
use embed::{Cached, Embedder, Hash};
use engine::models::{self, proposals};
use engine::view::model::{NewModel, ReviewMode};
use engine::view::proposal::{ApproveInput, DecideOps, Decision, PreviewOf, Turn};
use serde_json::json;
use std::fmt::Write as _;
use std::sync::Arc;
use store::models::provenance::Citation;
use store::models::{NewModel as ModelRow, Review};
use tests::{Fixture, Setup, at};

const ROUNDS: usize = 30;
/// Memories that each of many models cites.
const CITED: usize = 10;

/// A page of sections of ten blocks.
fn page(sections: usize) -> String {
    let mut page = String::new();
    for section in 0..sections {
        let _ = write!(page, "# Bench {section}\n\n");
        for block in 0..10 {
            let _ = write!(page, "Bench {section} holds tool number {block} of the workshop.\n\n");
        }
    }
    page
}

fn new(id: &str, query: &str, mode: &str, review: ReviewMode) -> NewModel {
    NewModel {
        id: Some(id.to_owned()),
        name: "Tools".to_owned(),
        source_query: query.to_owned(),
        tags: Vec::new(),
        max_tokens: Some(8192),
        trigger: Some(json!({ "mode": mode }).into()),
        review: Some(review),
        content: None,
    }
}

fn cached_hash() -> Setup {
    let embedder: Arc<dyn Embedder> = Arc::new(Cached::new(Hash::new()));
    Setup { embedder: Some(embedder), ..Setup::default() }
}

/// One refresh from the request to its end, as the queue runs it.
async fn refresh(f: &Fixture, id: &ModelId, full: bool) {
    models::refresh(&f.engine, &f.bank, id, full).await.unwrap();
    f.run_queue().await;
}

/// The published version.
async fn version(f: &Fixture) -> u32 {
    models::list(&f.engine, &f.bank).await.unwrap()[0].version
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn refreshes_over_ten_thousand_memories() {
    let f = bank(cached_hash()).await;
    let question = corpus::questions(MEMORIES, 4, 3).remove(3);
    let id = ModelId::from("model");
    let input = new("model", &question, "delta", ReviewMode::Auto);
    models::create(&f.engine, &f.bank, input).await.unwrap();
    f.run_queue().await;
    let (mut full, mut delta, mut idle) =
        (Samples::default(), Samples::default(), Samples::default());
    for round in 0..ROUNDS {
        full.time(refresh(&f, &id, true)).await;
        let before = version(&f).await;
        let text = format!("{question} On day {round} this was asked {round} times.");
        f.fact(&text, &["Lodestar"], "2026-02-01").await;
        delta.time(refresh(&f, &id, false)).await;
        assert_eq!(version(&f).await, before + 1, "the new fact is in");
        idle.time(refresh(&f, &id, false)).await;
        assert_eq!(version(&f).await, before + 1, "nothing is new");
    }
    full.report("refresh, full, extractive, 10,000 memories", against(60.0, 828.0));
    delta.report(
        "refresh, delta with one new fact, extractive, 10,000 memories",
        against(60.0, 719.0),
    );
    idle.report("refresh, delta with nothing new, 10,000 memories", against(2.0, 531.0));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn a_refresh_and_a_review_of_200_blocks() {
    let f = Fixture::with(cached_hash()).await;
    let id = ModelId::from("tools");
    let mut input = new("tools", "Tools of the workshop benches", "delta", ReviewMode::Manual);
    input.content = Some(page(20));
    models::create(&f.engine, &f.bank, input).await.expect("a model");
    let (mut refreshes, mut opened, mut previews, mut decisions, mut approvals, mut diffs) = (
        Samples::default(),
        Samples::default(),
        Samples::default(),
        Samples::default(),
        Samples::default(),
        Samples::default(),
    );
    for round in 0..ROUNDS {
        for n in 0..3 {
            let text = format!("Tool {round}-{n} of the workshop was put on bench {n}.");
            f.fact(&text, &[], &format!("2026-02-{:02}", round % 28 + 1)).await;
        }
        models::refresh(&f.engine, &f.bank, &id, false).await.expect("a refresh");
        refreshes.time(f.run_queue()).await;
        let row = proposals::inbox(&f.engine, &f.bank).await.expect("an inbox").remove(0);
        let view = opened.time(proposals::get(&f.engine, &f.bank, &row.id)).await.expect("a view");
        previews
            .time(proposals::preview(&f.engine, &f.bank, &row.id, PreviewOf::Everything))
            .await
            .expect("a preview");
        let op_ids: Vec<String> = view.ops.iter().map(|op| op.op_id.clone()).collect();
        let decided = DecideOps::all(&op_ids, Decision::Accepted);
        let turn = Turn::at(view.state_seq);
        let view = decisions
            .time(proposals::decide(&f.engine, &f.bank, &row.id, decided, turn))
            .await
            .expect("a decision");
        let shown = proposals::preview(&f.engine, &f.bank, &row.id, PreviewOf::Accepted)
            .await
            .expect("a preview");
        let input = ApproveInput { confirm: shown.confirm, ..ApproveInput::default() };
        let turn = Turn::at(view.state_seq);
        approvals
            .time(Box::pin(proposals::approve(&f.engine, &f.bank, &row.id, input, turn)))
            .await
            .expect("a version");
        let last = u32::try_from(round).unwrap() + 2;
        diffs
            .time(models::diff_versions(&f.engine, &f.bank, &id, last - 1, last))
            .await
            .expect("a difference");
    }
    refreshes.report("refresh, delta with three new facts, 200 blocks", bar(60.0));
    opened.report("opening a proposal, 200 blocks", bar(50.0));
    previews.report("preview of a proposal, 200 blocks", bar(50.0));
    decisions.report("deciding a proposal, 200 blocks", bar(50.0));
    approvals.report("approving a proposal, 200 blocks", bar(50.0));
    diffs.report("difference of two versions, 200 blocks", bar(50.0));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn lists_of_many_models() {
    for (count, name, held) in
        [(1_000, "1,000", against(15.0, 160.0)), (10_000, "10,000", bar(150.0))]
    {
        let f = bank(cached_hash()).await;
        add_models(&f, count).await;
        models::list(&f.engine, &f.bank).await.unwrap();
        let mut samples = Samples::default();
        for _ in 0..ROUNDS {
            let rows = samples.time(models::list(&f.engine, &f.bank)).await.unwrap();
            assert_eq!(rows.len(), count);
        }
        samples.report(&format!("list of {name} models with staleness, one in two behind"), held);
    }
}

/// Models that were refreshed when half of the bank was there, every other one since. Five in six
/// look at tags.
async fn add_models(f: &Fixture, count: usize) {
    let bank = f.bank.clone();
    let now = at("2026-03-02T09:00:00Z");
    f.engine
        .store()
        .write("bench", move |tx| {
            let bank = store::banks::key(tx, &bank)?;
            let end = store::banks::by_key(tx, bank)?.write_seq;
            let tags: Vec<Vec<String>> = store::tag_sets::tag_counts(tx, bank)?
                .into_iter()
                .take(50)
                .map(|(tag, _)| vec![tag])
                .collect();
            let cited: Vec<MemoryId> = (0..300).map(|n| MemoryId(format!("m{n:07}"))).collect();
            let known = store::memories::by_ids(tx, bank, &cited)?;
            for n in 0..count {
                let own = if n % 6 == 0 { Vec::new() } else { tags[n % tags.len()].clone() };
                let row = ModelRow {
                    id: ModelId(format!("model-{n}")),
                    name: format!("Model {n}"),
                    source_query: format!("What is known about subject {n}?"),
                    tags: own,
                    max_tokens: 2048,
                    trigger: json!({ "mode": "delta" }),
                    review: Review::Manual,
                    structure: json!({ "format": 3, "sections": [] }),
                };
                let key = store::models::insert(tx, bank, &row, now)?;
                let mut model = store::models::by_key(tx, key)?;
                let back = i64::try_from(n).unwrap_or(0) % 1_000;
                let seen = if n % 2 == 0 { end } else { end / 2 + back };
                model.head.last_memory_seen_seq = Some(seen);
                model.head.last_memory_seen_at = Some(now);
                model.head.last_refreshed_at = Some(now);
                model.head.last_refreshed_source_query = Some(model.head.source_query.clone());
                model.head.placeholder = false;
                model.content = format!("# Subject {n}\n\nText about it.\n");
                let evidence: Vec<Citation> = (0..CITED)
                    .map(|at| &known[(n * 7 + at * 11) % known.len()])
                    .map(|memory| Citation {
                        memory: memory.id.clone(),
                        fact_type: memory.fact_type,
                        text: memory.text.clone(),
                        first_cited_version: 1,
                    })
                    .collect();
                let texts: Vec<&str> = evidence.iter().map(|cited| cited.text.as_str()).collect();
                model.reflect_response =
                    Some(json!({ "based_on": { "world": texts }, "document_tokens": 9 }));
                store::models::save(tx, &model, 0, now)?;
                store::models::provenance::set_citations(tx, key, &evidence)?;
            }
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn a_history_of_fifty_versions() {
    let f = Fixture::with(cached_hash()).await;
    let id = ModelId::from("tools");
    for (sections, name, held) in [
        (2, "20 blocks", against(2.0, 10.9)),
        (20, "200 blocks", Against { bar: None, peer: None }),
    ] {
        let mut input = new(&format!("tools-{sections}"), "Tools", "delta", ReviewMode::Auto);
        let id = ModelId(format!("{id}-{sections}"));
        input.content = Some(page(sections));
        models::create(&f.engine, &f.bank, input).await.unwrap();
        for version in 1..50 {
            let text = format!("{}Line of version {version}.\n", page(sections));
            models::edit_content(&f.engine, &f.bank, &id, text, version).await.unwrap();
        }
        models::timeline(&f.engine, &f.bank, &id).await.unwrap();
        let mut samples = Samples::default();
        for _ in 0..ROUNDS {
            let rows = samples.time(models::timeline(&f.engine, &f.bank, &id)).await.unwrap();
            assert!(rows.len() >= 50, "{}", rows.len());
        }
        samples.report(&format!("history of 50 versions of {name}"), held);
    }
}
