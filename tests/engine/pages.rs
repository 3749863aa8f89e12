//! The knowledge base: a tree in which names are unique, nothing lies inside itself, and a page and
//! its model are one thing.

use crate::models::facts;
use domain::{ModelId, NodeId};
use engine::models::{self, pages, published as files};
use engine::report::Report;
use engine::view::model::{ModelPatch, ModelState};
use engine::view::operation::OperationStatus;
use engine::view::page::{
    CreatedPage, NewFolder, NewPage, NodeKind, NodePatch, NodePlace, TreeNode,
};
use engine::view::published::PublishInput;
use serde_json::json;
use tests::Fixture;

async fn folder(f: &Fixture, name: &str, parent: Option<&NodeId>) -> NodeId {
    let input = NewFolder { name: name.to_owned(), parent_id: parent.cloned() };
    pages::create_folder(&f.engine, &f.bank, input).await.expect("a folder").id
}

fn new_page(name: &str, parent: Option<&NodeId>) -> NewPage {
    NewPage {
        name: name.to_owned(),
        source_query: "What do we know about the kiln of the workshop?".to_owned(),
        parent_id: parent.cloned(),
        tags: Vec::new(),
        max_tokens: None,
        trigger: None,
        review: None,
        content: None,
    }
}

async fn page(f: &Fixture, input: NewPage) -> CreatedPage {
    pages::create_page(&f.engine, &f.bank, input).await.expect("a page")
}

async fn tree(f: &Fixture) -> Vec<TreeNode> {
    pages::tree(&f.engine, &f.bank).await.expect("a tree")
}

async fn names(f: &Fixture) -> Vec<String> {
    let shown = |node: TreeNode| format!("{}{}", "  ".repeat(node.depth as usize), node.name);
    tree(f).await.into_iter().map(shown).collect()
}

async fn update(f: &Fixture, id: &NodeId, patch: NodePatch) -> Result<(), String> {
    let changed = pages::update(&f.engine, &f.bank, id, patch).await;
    changed.map(drop).map_err(|error| error.reason())
}

fn into(parent: Option<&NodeId>, position: Option<u32>) -> NodePatch {
    let place = NodePlace { parent_id: parent.cloned(), position };
    NodePatch { place: Some(place), ..NodePatch::default() }
}

fn renamed(name: &str) -> NodePatch {
    NodePatch { name: Some(name.to_owned()), ..NodePatch::default() }
}

#[tokio::test]
async fn a_page_is_made_with_its_model_under_the_defaults_of_a_page() {
    let f = Fixture::new().await;
    facts(&f).await;
    let shelf = folder(&f, "Machines", None).await;
    let plain = page(&f, new_page("Kiln", Some(&shelf))).await;
    assert!(plain.page_id.as_str().starts_with("kp-") && shelf.as_str().starts_with("kf-"));
    assert!(plain.operation.is_some());
    let node = tree(&f).await.into_iter().find(|node| node.id == plain.page_id).expect("the page");
    assert_eq!((node.kind, node.depth, node.parent_id), (NodeKind::Page, 1, Some(shelf.clone())));
    let fields = node.page.expect("a page");
    assert_eq!(fields.mental_model_id, plain.mental_model_id);
    let trigger = serde_json::to_value(&fields.trigger).expect("JSON");
    assert_eq!(trigger["mode"], "delta");
    assert_eq!(trigger["fact_types"], json!(["observation"]));
    assert_eq!(trigger["exclude_mental_models"], true);
    assert_eq!(trigger["refresh_after_consolidation"], true);
    assert!(fields.is_stale && fields.placeholder);
    let model = models::get(&f.engine, &f.bank, &plain.mental_model_id).await.expect("its model");
    assert_eq!((model.model.max_tokens, model.page_id), (4096, Some(plain.page_id)));
    let scheduled = NewPage {
        trigger: Some(json!({ "refresh_cron": "0 3 * * *", "fact_types": ["world"] }).into()),
        content: Some("# Hours\n\nOpen on Mondays.\n".to_owned()),
        ..new_page("Hours", Some(&shelf))
    };
    let made = page(&f, scheduled).await;
    assert_eq!(made.operation, None, "it begins with a text");
    let model = models::get(&f.engine, &f.bank, &made.mental_model_id).await.expect("its model");
    let trigger = serde_json::to_value(&model.trigger).expect("JSON");
    assert_eq!(trigger["refresh_after_consolidation"], false, "a schedule drops the default");
    assert_eq!(trigger["fact_types"], json!(["world"]));
    assert_eq!(model.model.version, 1);
}

#[tokio::test]
async fn names_are_unique_in_a_folder_whatever_the_case() {
    let f = Fixture::new().await;
    let shelf = folder(&f, "Machines", None).await;
    let other = folder(&f, "Places", None).await;
    let first = page(&f, new_page("Kiln", Some(&shelf))).await;
    let count = models::list(&f.engine, &f.bank).await.expect("models").len();
    let twice = pages::create_page(&f.engine, &f.bank, new_page(" KILN ", Some(&shelf))).await;
    assert_eq!(twice.expect_err("taken").reason(), "name_taken");
    let left = models::list(&f.engine, &f.bank).await.expect("models").len();
    assert_eq!(left, count, "no model is left behind");
    let input = NewFolder { name: "kiln".to_owned(), parent_id: Some(shelf.clone()) };
    let refused = pages::create_folder(&f.engine, &f.bank, input).await;
    assert_eq!(refused.expect_err("taken").reason(), "name_taken");
    let second = page(&f, new_page("Kiln", Some(&other))).await;
    assert_eq!(
        update(&f, &second.page_id, into(Some(&shelf), None)).await,
        Err("name_taken".into())
    );
    assert_eq!(update(&f, &first.page_id, renamed("KILN")).await, Ok(()), "its own name is free");
    let both = NodePatch { name: Some("Oven".to_owned()), ..into(Some(&shelf), None) };
    assert_eq!(update(&f, &second.page_id, both).await, Ok(()));
    assert_eq!(names(&f).await, ["Machines", "  KILN", "  Oven", "Places"]);
    let model = models::get(&f.engine, &f.bank, &second.mental_model_id).await.expect("its model");
    assert_eq!(model.model.name, "Oven", "a page and its model have one name");
    let patch = ModelPatch { name: Some("kiln".to_owned()), ..ModelPatch::default() };
    let taken = models::update(&f.engine, &f.bank, &second.mental_model_id, patch).await;
    assert_eq!(taken.expect_err("the page's name").reason(), "name_taken");
    let patch = ModelPatch { name: Some("Furnace".to_owned()), ..ModelPatch::default() };
    models::update(&f.engine, &f.bank, &second.mental_model_id, patch).await.expect("renamed");
    assert_eq!(names(&f).await, ["Machines", "  KILN", "  Furnace", "Places"]);
}

#[tokio::test]
async fn nothing_lies_inside_itself_and_only_folders_hold_something() {
    let f = Fixture::new().await;
    let a = folder(&f, "a", None).await;
    let b = folder(&f, "b", Some(&a)).await;
    let c = folder(&f, "c", Some(&b)).await;
    let leaf = page(&f, new_page("leaf", Some(&c))).await.page_id;
    for (node, parent) in [(&a, &a), (&a, &b), (&a, &c), (&b, &c)] {
        assert_eq!(update(&f, node, into(Some(parent), None)).await, Err("cycle".into()));
    }
    let nowhere = NodeId::from("kf-0");
    for parent in [&leaf, &nowhere] {
        assert_eq!(update(&f, &b, into(Some(parent), None)).await, Err("bad_parent".into()));
        let input = NewFolder { name: "x".to_owned(), parent_id: Some(parent.clone()) };
        let refused = pages::create_folder(&f.engine, &f.bank, input).await;
        assert_eq!(refused.expect_err("no folder").reason(), "bad_parent");
    }
    assert_eq!(names(&f).await, ["a", "  b", "    c", "      leaf"]);
    update(&f, &c, into(None, None)).await.expect("moved to the root");
    assert_eq!(names(&f).await, ["a", "  b", "c", "  leaf"]);
    assert_eq!(update(&f, &nowhere, renamed("x")).await, Err("node_not_found".into()));
    assert_eq!(update(&f, &a, NodePatch::default()).await, Err("nothing_to_change".into()));
    let blank = pages::update(&f.engine, &f.bank, &a, renamed("  ")).await.expect_err("no name");
    assert_eq!(Report::from(blank).fields[0].field, "name");
    let asks = NodePatch { source_query: Some("What?".to_owned()), ..NodePatch::default() };
    assert_eq!(update(&f, &a, asks).await, Err("invalid_request".into()), "a folder asks nothing");
}

#[tokio::test]
async fn siblings_keep_the_order_they_are_put_in() {
    let f = Fixture::new().await;
    let mut ids = Vec::new();
    for name in ["one", "two", "three", "four"] {
        ids.push(folder(&f, name, None).await);
    }
    update(&f, &ids[3], into(None, Some(1))).await.expect("moved");
    assert_eq!(names(&f).await, ["one", "four", "two", "three"]);
    update(&f, &ids[0], into(None, Some(99))).await.expect("moved");
    assert_eq!(names(&f).await, ["four", "two", "three", "one"]);
    update(&f, &ids[2], into(Some(&ids[1]), Some(0))).await.expect("moved");
    assert_eq!(names(&f).await, ["four", "two", "  three", "one"]);
    folder(&f, "five", None).await;
    assert_eq!(names(&f).await, ["four", "two", "  three", "one", "five"]);
}

#[tokio::test]
async fn a_folder_goes_with_all_that_is_in_it() {
    let f = Fixture::new().await;
    facts(&f).await;
    let a = folder(&f, "a", None).await;
    let b = folder(&f, "b", Some(&a)).await;
    let inside = page(&f, new_page("inside", Some(&b))).await;
    let outside = page(&f, new_page("outside", None)).await;
    pages::delete(&f.engine, &f.bank, &a).await.expect("deleted");
    assert_eq!(names(&f).await, ["outside"]);
    let gone = models::get(&f.engine, &f.bank, &inside.mental_model_id).await;
    assert_eq!(gone.expect_err("gone with its page").reason(), "model_not_found");
    let rows = engine::ops::list(&f.engine, &f.bank).await.expect("operations");
    let of = |id: &ModelId| rows.iter().find(|row| row.mental_model_id.as_ref() == Some(id));
    let status = of(&inside.mental_model_id).expect("its refresh").status;
    assert_eq!(status, OperationStatus::Cancelled);
    models::delete(&f.engine, &f.bank, &outside.mental_model_id).await.expect("deleted");
    assert!(names(&f).await.is_empty(), "a page goes with its model");
    let none = pages::delete(&f.engine, &f.bank, &a).await;
    assert_eq!(none.expect_err("deleted before").reason(), "node_not_found");
}

#[tokio::test]
async fn a_new_question_queues_a_refresh_and_nothing_else_does() {
    let f = Fixture::new().await;
    facts(&f).await;
    let trigger = json!({ "fact_types": null, "mode": "full" });
    let input = NewPage { trigger: Some(trigger.into()), ..new_page("Kiln", None) };
    let made = page(&f, input).await;
    f.run_queue().await;
    let built = models::get(&f.engine, &f.bank, &made.mental_model_id).await.expect("its model");
    assert_eq!(built.model.version, 1, "{:?}", built.last_run);
    let patch = NodePatch {
        tags: Some(vec!["garden".to_owned()]),
        max_tokens: Some(1000),
        trigger: Some(json!({ "keep_trace": true }).into()),
        ..NodePatch::default()
    };
    let changed = pages::update(&f.engine, &f.bank, &made.page_id, patch).await.expect("an update");
    assert_eq!(changed.operation, None);
    let fields = changed.node.page.expect("a page");
    assert_eq!(fields.tags, ["garden"]);
    let trigger = serde_json::to_value(&fields.trigger).expect("JSON");
    assert_eq!((&trigger["keep_trace"], &trigger["mode"]), (&json!(true), &json!("full")));
    let asks = |text: &str| NodePatch { source_query: Some(text.into()), ..NodePatch::default() };
    let same = asks("What do we know about the kiln of the workshop?");
    let changed = pages::update(&f.engine, &f.bank, &made.page_id, same).await.expect("an update");
    assert_eq!(changed.operation, None);
    let other = asks("Who built the kiln of the workshop?");
    let changed = pages::update(&f.engine, &f.bank, &made.page_id, other).await.expect("an update");
    let operation = changed.operation.expect("a refresh");
    let fields = changed.node.page.expect("a page");
    assert_eq!(fields.state, ModelState::Refreshing);
    assert!(fields.refresh_reasons.contains(&"query_changed".to_owned()));
    let row = &engine::ops::list(&f.engine, &f.bank).await.expect("operations")[0];
    assert_eq!(row.id, operation);
}

/// A model gets a place, and can be taken from it again, with all that is its own.
#[tokio::test]
async fn a_model_that_is_there_becomes_a_page_and_a_model_again() {
    let f = Fixture::new().await;
    let shelf = folder(&f, "Shelf", None).await;
    let (_, kiln) = (folder(&f, "Inner", Some(&shelf)).await, ModelId::from("kiln"));
    let model = crate::models::kiln(engine::view::model::ReviewMode::Manual, "delta");
    let model = engine::view::model::NewModel {
        content: Some("# Kiln\n\nIt burns wood.\n".to_owned()),
        ..model
    };
    models::create(&f.engine, &f.bank, model).await.expect("a model");
    let before = models::get(&f.engine, &f.bank, &kiln).await.expect("it");
    let at = |parent: Option<&NodeId>, position| NodePlace { parent_id: parent.cloned(), position };
    let page = pages::adopt(&f.engine, &f.bank, &kiln, at(Some(&shelf), Some(0))).await;
    let page = page.expect("a page");
    assert_eq!(names(&f).await, ["Shelf", "  The kiln", "  Inner"]);
    assert_eq!(page.page.expect("its fields").mental_model_id, kiln);
    let after = models::get(&f.engine, &f.bank, &kiln).await.expect("it");
    assert_eq!((after.content, after.trigger), (before.content, before.trigger));
    assert_eq!((after.model.version, after.page_id.as_ref()), (1, Some(&page.id)));
    let refused = async |model: &str, parent: Option<&NodeId>| {
        let model = ModelId::from(model);
        let adopted = pages::adopt(&f.engine, &f.bank, &model, at(parent, None)).await;
        adopted.expect_err("refused").reason()
    };
    assert_eq!(refused("kiln", None).await, "invalid_request", "it is a page already");
    assert_eq!(refused("none", None).await, "model_not_found");
    pages::release(&f.engine, &f.bank, &page.id).await.expect("released");
    assert_eq!(names(&f).await, ["Shelf", "  Inner"]);
    assert_eq!(models::get(&f.engine, &f.bank, &kiln).await.expect("it").page_id, None);
    let own = pages::release(&f.engine, &f.bank, &shelf).await.expect_err("a folder");
    assert_eq!(own.reason(), "invalid_request");
    update(&f, &shelf, renamed("the KILN")).await.expect("a name");
    assert_eq!(refused("kiln", None).await, "name_taken");
    assert_eq!(refused("kiln", Some(&page.id)).await, "bad_parent");
}

async fn library(f: &Fixture) -> (NodeId, CreatedPage) {
    let shelf = folder(f, "Machines [old]", None).await;
    let kiln = NewPage {
        tags: vec!["type:guide".to_owned(), "warm".to_owned()],
        content: Some("# Kiln\n\nThe kiln reaches 1200 degrees and burns wood.\n".to_owned()),
        ..new_page("Kiln", Some(&shelf))
    };
    let kiln = page(f, kiln).await;
    let lathe = NewPage {
        source_query: "What about the lathe?".to_owned(),
        content: Some("# Lathe\n\nThe lathe turns bowls of ash.\n".to_owned()),
        ..new_page("Lathe", Some(&shelf))
    };
    page(f, lathe).await;
    (shelf, kiln)
}

#[tokio::test]
async fn a_page_is_exported_with_a_header_and_all_of_them_as_a_bundle() {
    let f = Fixture::new().await;
    let (_, kiln) = library(&f).await;
    let id = kiln.page_id.as_str();
    let text = pages::text(&f.engine, &f.bank, &kiln.page_id).await.expect("a text");
    assert_eq!((text.kind.as_str(), text.tags.as_slice()), ("guide", &["warm".to_owned()][..]));
    let header = format!(
        "---\nid: \"{id}\"\ntype: \"guide\"\ntitle: \"Kiln\"\n\
         description: \"What do we know about the kiln of the workshop?\"\ntags: [\"warm\"]\n\
         timestamp: \"2026-03-02T09:00:00Z\"\n---\n\n"
    );
    assert_eq!(text.markdown, header + &text.body);
    let files = pages::bundle(&f.engine, &f.bank).await.expect("a bundle");
    assert_eq!(files.len(), 5);
    assert_eq!(files[0].path, "index.md");
    let index = &files[0].content;
    assert!(index.contains(&format!("- Machines \\[old\\]\n  - [Kiln]({id}.md)\n")), "{index}");
    let log = files.iter().find(|file| file.path == format!("{id}.log.md")).expect("a history");
    assert!(log.content.contains("version 1, written by a person"), "{}", log.content);
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().display().to_string();
    let written = pages::save_bundle(&f.engine, &f.bank, &place).await.expect("written");
    assert_eq!(written, 5);
    let page = std::fs::read_to_string(folder.path().join(format!("{id}.md"))).expect("a page");
    assert_eq!(page, text.markdown);
    pages::save_bundle(&f.engine, &f.bank, &place).await.expect("written over itself");
    let nowhere = folder.path().join("none").display().to_string();
    let refused = pages::save_bundle(&f.engine, &f.bank, &nowhere).await.expect_err("no folder");
    assert_eq!(Report::from(refused).fields[0].field, "folder");
}

#[tokio::test]
async fn a_bundle_replaces_nothing_but_an_earlier_one() {
    let f = Fixture::new().await;
    let (_, kiln) = library(&f).await;
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().display().to_string();
    let index = folder.path().join("index.md");
    let refused = async || {
        let refused = pages::save_bundle(&f.engine, &f.bank, &place).await.expect_err("refused");
        assert_eq!(Report::from(refused).fields[0].field, "folder");
        std::fs::read_dir(folder.path()).expect("a folder").count()
    };
    for own in ["# Mine\n\n- milk\n- [a](a.md)\n", "Home of my notes\n", "# Notes\n\nThe first.\n"]
    {
        std::fs::write(&index, own).expect("a file");
        assert_eq!(refused().await, 1, "nothing is written beside it");
        assert_eq!(std::fs::read_to_string(&index).expect("the file"), own);
    }
    std::fs::remove_file(&index).expect("gone");
    let page = folder.path().join(format!("{}.md", kiln.page_id));
    let input = PublishInput { path: page.display().to_string(), front_matter: true };
    files::set_target(&f.engine, &f.bank, &kiln.mental_model_id, input).await.expect("a target");
    let before = std::fs::read_to_string(&page).expect("the file");
    assert_eq!(refused().await, 1);
    assert_eq!(std::fs::read_to_string(&page).expect("the file"), before);
    files::clear_target(&f.engine, &f.bank, &kiln.mental_model_id).await.expect("cleared");
    pages::save_bundle(&f.engine, &f.bank, &place).await.expect("written");
    pages::save_bundle(&f.engine, &f.bank, &place).await.expect("written over itself");
}

#[tokio::test]
async fn pages_are_found_by_words_and_never_folders_or_plain_models() {
    let f = Fixture::new().await;
    let (shelf, kiln) = library(&f).await;
    let mut plain = crate::models::kiln(engine::view::model::ReviewMode::Auto, "delta");
    plain.content = Some("# Kiln\n\nburns wood, 1200 degrees\n".to_owned());
    models::create(&f.engine, &f.bank, plain).await.expect("a model");
    let find =
        async |words: &str| pages::search(&f.engine, &f.bank, words, None).await.expect("hits");
    let hits = find("1200 degrees").await;
    assert_eq!(hits[0].id, kiln.page_id);
    assert_eq!(hits[0].mental_model_id, kiln.mental_model_id);
    assert!(hits[0].snippet.contains("1200 degrees"));
    assert!(hits.iter().all(|hit| hit.id != shelf && hit.mental_model_id.as_str() != "kiln"));
    assert_eq!(find("bowls").await[0].name, "Lathe");
    let none = pages::search(&f.engine, &f.bank, " ?! ", None).await;
    assert_eq!(none.expect_err("no words").reason(), "invalid_query");
}
