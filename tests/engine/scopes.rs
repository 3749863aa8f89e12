//! Scopes by tags at their edges: one that reaches nothing is told before it is saved and writes no
//! refusal, and no tags, twice the same tag and tags that look alike mean what they say.

use crate::automatic::tagged;
use crate::memory::operation;
use crate::models::{detail, facts, id, kiln, outcome, refresh};
use crate::reflect::{ask, question};
use domain::tags::TagsMatch;
use engine::view::memory::ImportFiles;
use engine::view::model::{ModelPatch, NewModel, ReviewMode};
use engine::view::recall::RecallInput;
use engine::{memory, models};
use serde_json::json;
use std::collections::BTreeSet;
use store::directives::DirectiveFields;
use tests::Fixture;

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

/// FC-19: the form says that nothing is reached and what would be, and the run leaves the page empty.
#[tokio::test]
async fn fc_19_a_scope_that_reaches_nothing_is_told_and_leaves_the_page_empty() {
    let f = Fixture::new().await;
    let topics = ["projects", "overview", "garden"];
    for n in 0..300 {
        let topic = topics[n % 3];
        tagged(&f, &format!("Note {n} is about {topic}."), &[topic]).await;
    }
    let asked =
        NewModel { tags: words(&["projects", "overview"]), ..kiln(ReviewMode::Auto, "full") };
    let reach = models::scope_reach(&f.engine, &f.bank, asked.clone()).await.expect("a reach");
    assert_eq!((reach.memories, reach.of), (0, 300));
    assert_eq!(reach.tags_match, TagsMatch::AllStrict);
    let each: Vec<_> = reach.by_match.iter().map(|way| (way.tags_match, way.memories)).collect();
    assert_eq!(
        each,
        [
            (TagsMatch::Any, 200),
            (TagsMatch::All, 0),
            (TagsMatch::AnyStrict, 200),
            (TagsMatch::AllStrict, 0),
            (TagsMatch::Exact, 0),
        ]
    );
    models::create(&f.engine, &f.bank, asked).await.expect("it may be saved");
    f.run_queue().await;
    let made = detail(&f).await;
    assert_eq!(outcome(&made), "content_preserved_no_new_facts", "{:?}", made.last_run);
    let run = made.last_run.expect("a run");
    assert!(run.warnings.iter().any(|warning| warning.code == "empty_scope"), "{run:?}");
    assert_eq!(made.content, "", "no refusal stands in it");
}

/// FC-20 (a): `exact` without tags reads what has none, documents of models among it.
#[tokio::test]
async fn fc_20_exact_without_tags_reads_only_what_has_none() {
    let f = Fixture::new().await;
    tagged(&f, "The lathe stands in the north hall.", &[]).await;
    tagged(&f, "The lathe is oiled on Fridays.", &["home"]).await;
    for (model, tags) in [("bare", &[][..]), ("labelled", &["home"][..])] {
        let made = NewModel {
            id: Some(model.to_owned()),
            tags: words(tags),
            content: Some("# Lathe\n\nThe lathe stands in the north hall.\n".to_owned()),
            ..kiln(ReviewMode::Auto, "full")
        };
        models::create(&f.engine, &f.bank, made).await.expect("a model");
    }
    let recalled = async |tags_match: Option<&str>| {
        let input = RecallInput {
            query: "lathe".to_owned(),
            tags_match: tags_match.map(str::to_owned),
            ..serde_json::from_value(json!({ "query": "lathe" })).expect("an input")
        };
        let found = memory::recall(&f.engine, &f.bank, input).await.expect("a search");
        let texts: BTreeSet<String> = found.hits.into_iter().map(|hit| hit.memory.text).collect();
        let models: BTreeSet<String> = found.models.into_iter().map(|it| it.id.0).collect();
        (texts.len(), models)
    };
    let (exact, untagged) = recalled(Some("exact")).await;
    assert_eq!((exact, untagged), (1, BTreeSet::from(["bare".to_owned()])));
    let (all, both) = recalled(None).await;
    assert_eq!((all, both.len()), (2, 2), "without tags everything is read");
}

/// FC-20 (b): a question without tags reads everything, under the rules that have no tags alone.
#[tokio::test]
async fn fc_20_without_tags_only_rules_without_tags_are_in_force() {
    let f = Fixture::new().await;
    tagged(&f, "The ferry to Aker leaves at six.", &["home"]).await;
    tagged(&f, "The ferry is painted red.", &[]).await;
    let bank = f.bank.clone();
    let rules = [("everywhere", &[][..]), ("at home", &["home"][..])];
    let written = f.engine.store().write("test_directives", move |tx| {
        let key = store::banks::key(tx, &bank)?;
        for (name, tags) in rules {
            let fields = DirectiveFields {
                name: name.to_owned(),
                content: "Be brief.".to_owned(),
                priority: 0,
                is_active: true,
                tags: words(tags).into_iter().collect(),
            };
            store::directives::insert(tx, key, &name.into(), &fields, tests::at(tests::START))?;
        }
        Ok(())
    });
    written.await.expect("rules");
    let (answer, _) = ask(&f, question("When does the ferry leave?")).await;
    let view = answer.expect("an answer");
    let read = view.based_on.iter().chain(&view.unused).map(|item| item.text.as_str());
    let read: BTreeSet<&str> = read.filter(|text| text.contains("ferry")).collect();
    assert_eq!(read.len(), 2, "{read:?}");
    let held: Vec<_> = view
        .trace
        .directives_held_back
        .iter()
        .filter(|held| held.reason == domain::trace::HeldBackReason::Scope)
        .map(|held| held.name.as_str())
        .collect();
    assert_eq!(held, ["at home"]);
}

/// FC-20 (c), (e), (f): tags of a model are trimmed, kept once and as written; all of them can go.
#[tokio::test]
async fn fc_20_tags_are_stored_once_as_written_and_can_all_be_taken_away() {
    let f = Fixture::new().await;
    facts(&f).await;
    tagged(&f, "The kiln of the workshop is at home here.", &["Home", "two words"]).await;
    let asked = NewModel {
        tags: words(&[" home ", "home", "twowords", "new"]),
        ..kiln(ReviewMode::Auto, "full")
    };
    let reach = models::scope_reach(&f.engine, &f.bank, asked.clone()).await.expect("a reach");
    let alike: Vec<(&str, &str)> = reach
        .written_otherwise
        .iter()
        .map(|pair| (pair.tag.as_str(), pair.other.as_str()))
        .collect();
    assert_eq!(alike, [("home", "Home"), ("twowords", "two words")]);
    models::create(&f.engine, &f.bank, asked).await.expect("a model");
    f.run_queue().await;
    let made = detail(&f).await;
    assert_eq!(made.model.tags, ["home", "twowords", "new"]);
    assert_eq!(made.content, "", "compared as written, nothing is reached");
    let none = ModelPatch { tags: Some(Vec::new()), ..ModelPatch::default() };
    models::update(&f.engine, &f.bank, &id(), none).await.expect("a change");
    refresh(&f, false).await;
    let after = detail(&f).await;
    assert!(after.model.tags.is_empty());
    assert_eq!(outcome(&after), "content_written", "{:?}", after.last_run);
    assert!(after.content.contains("at home here"), "{}", after.content);
    // One that is there as it is written is meant so, though it has a twin.
    tagged(&f, "The kiln was moved home.", &["home"]).await;
    let again = NewModel { tags: words(&["home"]), ..kiln(ReviewMode::Auto, "full") };
    let reach = models::scope_reach(&f.engine, &f.bank, again).await.expect("a reach");
    assert!(reach.written_otherwise.is_empty());
}

/// FC-20 (d): tags that come as one text are read as the list that they are.
#[tokio::test]
async fn fc_20_a_list_of_tags_in_a_text_is_read_as_tags() {
    let f = Fixture::new().await;
    let folder = tempfile::tempdir().expect("a folder");
    let lines = "{\"text\":\"The house was bought.\",\"tags\":\"[\\\"home\\\",\\\"tax\\\"]\"}\n\
        {\"text\":\"The roof leaks.\",\"tags\":\"home, roof\"}\n";
    std::fs::write(folder.path().join("facts.jsonl"), lines).expect("a file");
    let paths = vec![folder.path().display().to_string()];
    let input = ImportFiles { paths, tags: Vec::new(), mode: None };
    memory::import(&f.engine, &f.bank, input).await.expect("an import");
    f.run_queue().await;
    assert!(operation(&f).await.error_message.is_none());
    let tags = memory::tags(&f.engine, &f.bank).await.expect("tags");
    let tags: Vec<(&str, u32)> = tags.iter().map(|tag| (tag.name.as_str(), tag.memories)).collect();
    assert_eq!(tags, [("home", 2), ("roof", 1), ("tax", 1)]);
    let page = "---\ntitle: Tax\ntags: '[\"home\",\"tax\"]'\n---\nIt is paid in May.\n";
    let path = folder.path().join("tax.md");
    std::fs::write(&path, page).expect("a file");
    let input = serde_json::from_value(json!({ "paths": [path], "as_pages": false }));
    let read = models::pages::import(&f.engine, &f.bank, input.expect("an input")).await;
    let made = &read.expect("an import").imported[0].mental_model_id;
    let made = models::get(&f.engine, &f.bank, made).await.expect("the model");
    assert_eq!(made.model.tags, ["home", "tax"]);
}
