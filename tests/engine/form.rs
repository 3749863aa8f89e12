//! What the form of a model is told: the reach of a scope under every way to match its tags, the
//! next times of a schedule, the faults of a schema and what comes of trying it.

use crate::models::kiln;
use domain::Json;
use domain::tags::TagsMatch;
use engine::models;
use engine::view::memory::NewFact;
use engine::view::model::{NewModel, ReviewMode};
use serde_json::json;
use std::collections::BTreeMap;
use tests::Fixture;

async fn tagged(f: &Fixture, text: &str, tags: &[&str]) {
    let fact = NewFact {
        text: text.to_owned(),
        fact_type: None,
        context: None,
        occurred_start: None,
        occurred_end: None,
        mentioned_at: None,
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        metadata: BTreeMap::new(),
        entities: Vec::new(),
    };
    engine::memory::add(&f.engine, &f.bank, fact).await.expect("a fact");
}

#[tokio::test]
async fn the_reach_of_a_scope_is_told_for_every_way_to_match() {
    let f = Fixture::new().await;
    tagged(&f, "The kiln stands in the north hall.", &["kiln"]).await;
    tagged(&f, "The kiln and the wheel share a fuse.", &["kiln", "wheel"]).await;
    tagged(&f, "The wheel turns to the left.", &["wheel"]).await;
    tagged(&f, "The hall opens at eight.", &[]).await;
    let mut asked = NewModel {
        tags: vec!["kiln".to_owned(), "wheel".to_owned()],
        ..kiln(ReviewMode::Auto, "delta")
    };
    let reach = models::scope_reach(&f.engine, &f.bank, asked.clone()).await.expect("a reach");
    assert_eq!((reach.memories, reach.tags_match), (1, TagsMatch::AllStrict));
    let each: Vec<_> = reach.by_match.iter().map(|way| (way.tags_match, way.memories)).collect();
    assert_eq!(
        each,
        [
            (TagsMatch::Any, 4),
            (TagsMatch::All, 2),
            (TagsMatch::AnyStrict, 3),
            (TagsMatch::AllStrict, 1),
            (TagsMatch::Exact, 1),
        ]
    );
    asked.trigger = Some(json!({ "tag_groups": [{ "not": { "tags": ["kiln"] } }] }).into());
    let grouped = models::scope_reach(&f.engine, &f.bank, asked).await.expect("a reach");
    assert_eq!((grouped.memories, grouped.by_match.len()), (2, 0), "groups replace the tags");
}

#[tokio::test]
async fn a_schedule_is_told_by_its_next_times_or_its_fault() {
    let f = Fixture::new().await;
    let daily = models::next_runs(&f.engine, " 30 7 * * * ");
    assert_eq!((daily.at.len(), daily.fault), (5, None));
    assert!(daily.at[0] > f.engine.now());
    assert!(daily.at.windows(2).all(|pair| pair[1] - pair[0] == chrono::Duration::days(1)));
    let code = |text: &str| models::next_runs(&f.engine, text).fault.map(|fault| fault.code);
    assert_eq!(code("0 7 * *").as_deref(), Some("cron_syntax"));
    assert_eq!(code("0 7 30 2 *").as_deref(), Some("cron_never_fires"));
}

#[tokio::test]
async fn a_schema_is_judged_by_the_rule_that_saving_applies() {
    let good = json!({ "type": "object", "properties": { "risk": { "type": "string" } } });
    assert_eq!(models::check_schema(&Json(good.clone())), []);
    let bad = json!({ "properties": { "risk": { "type": "colour" } } });
    let problems = models::check_schema(&Json(bad));
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].code, "schema_property_type");
    assert!(problems[0].pointer.starts_with("/properties/risk"));
    let f = Fixture::new().await;
    let refused = models::try_schema(&f.engine, None, &Json(good), "The damp is bad.").await;
    let report = engine::report::Report::from(refused.expect_err("extractive mode has no model"));
    assert_eq!(report.reason, "llm_not_configured");
}
