//! Markdown on its way in: an export comes back as it was, notes of other programs become pages, and
//! what an import wrote is told apart from what a person or a run wrote.

use crate::models::{detail, facts, id, refresh};
use domain::NodeId;
use engine::models::{self, pages};
use engine::report::Report;
use engine::view::model::{Author, ModelDetail, ReviewMode, TimelineEntry};
use engine::view::page::{ImportPages, ImportedPages, NewFolder, NewPage, NodeKind, OnConflict};
use std::path::Path;
use tests::Fixture;

const PAGE: &str = "# Kiln\r\n\r\nIt burns wood.\r\n\r\n\r\nIt is old.  \r\n";

fn from(path: &Path) -> ImportPages {
    ImportPages {
        paths: vec![path.display().to_string()],
        as_pages: true,
        parent_id: None,
        on_conflict: OnConflict::Skip,
        review: None,
    }
}

async fn import(f: &Fixture, input: ImportPages) -> ImportedPages {
    pages::import(&f.engine, &f.bank, input).await.expect("an import")
}

/// The tree as depth, name and kind.
async fn tree(f: &Fixture) -> Vec<(u32, String, NodeKind)> {
    let tree = pages::tree(&f.engine, &f.bank).await.expect("a tree");
    tree.into_iter().map(|node| (node.depth, node.name, node.kind)).collect()
}

async fn model(f: &Fixture, of: &ImportedPages, at: usize) -> ModelDetail {
    let id = &of.imported[at].mental_model_id;
    models::get(&f.engine, &f.bank, id).await.expect("the model")
}

/// A library of two folders and a page in the inner one, and the folder its bundle was written to.
async fn bundle(f: &Fixture) -> (NodeId, tempfile::TempDir) {
    let mut parent = None;
    for name in ["Machines [old]", "Kilns"] {
        let input = NewFolder { name: name.to_owned(), parent_id: parent };
        let made = pages::create_folder(&f.engine, &f.bank, input).await.expect("a folder");
        parent = Some(made.id);
    }
    let page = NewPage {
        name: "The \"old\" kiln".to_owned(),
        source_query: "What do we know about the kiln?".to_owned(),
        parent_id: parent,
        tags: vec!["warm".to_owned(), "type:guide".to_owned()],
        max_tokens: None,
        trigger: None,
        review: None,
        content: Some(PAGE.to_owned()),
    };
    let page = pages::create_page(&f.engine, &f.bank, page).await.expect("a page");
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().display().to_string();
    pages::save_bundle(&f.engine, &f.bank, &place).await.expect("a bundle");
    (page.page_id, folder)
}

/// Who decides on what is read in, where that is not said, is what the bank presumes.
#[tokio::test]
async fn what_is_read_in_goes_by_its_bank_where_nothing_is_said() {
    let f = Fixture::new().await;
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["plain.md", "stated.md", "other.md"] {
        std::fs::write(folder.path().join(name), "It burns wood.\n").expect("a file");
    }
    let review = async |name: &str, as_pages: bool, review: Option<ReviewMode>| {
        let input = ImportPages { as_pages, review, ..from(&folder.path().join(name)) };
        model(&f, &import(&f, input).await, 0).await.model.review
    };
    assert_eq!(review("plain.md", true, None).await, ReviewMode::Auto);
    let manual = serde_json::json!({ "review_default": "manual" });
    engine::settings::set_of(&f.engine, &f.bank, manual.into()).await.expect("settings");
    assert_eq!(review("stated.md", true, None).await, ReviewMode::Manual);
    assert_eq!(review("stated.md", false, None).await, ReviewMode::Manual);
    assert_eq!(review("other.md", true, Some(ReviewMode::Auto)).await, ReviewMode::Auto);
}

/// Models as files of their own: named after them, over nothing but themselves, and readable again.
#[tokio::test]
async fn chosen_models_are_saved_as_files_and_replace_nothing_else() {
    let f = Fixture::new().await;
    let mut ids = Vec::new();
    for (id, name) in [("one", "The kiln"), ("two", "The Kiln!"), ("three", "Der Ofen von Köln")] {
        let made = engine::view::model::NewModel {
            id: Some(id.to_owned()),
            name: name.to_owned(),
            content: Some(PAGE.to_owned()),
            ..crate::models::kiln(ReviewMode::Manual, "delta")
        };
        ids.push(models::create(&f.engine, &f.bank, made).await.expect("a model").id);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path().display().to_string();
    let mine = folder.path().join("the-kiln.md");
    std::fs::write(&mine, "Mine.\n").expect("a file");
    let names = || {
        let all = std::fs::read_dir(folder.path()).expect("a folder");
        let mut all: Vec<String> = all
            .map(|one| one.expect("a file").file_name().to_string_lossy().into_owned())
            .collect();
        all.sort();
        all
    };
    let wanted = ["der-ofen-von-köln.md", "the-kiln-2.md", "the-kiln-3.md", "the-kiln.md"];
    for _ in 0..2 {
        let written = pages::save_models(&f.engine, &f.bank, &ids, &at).await.expect("files");
        assert_eq!((written, names()), (3, wanted.map(str::to_owned).to_vec()));
    }
    assert_eq!(std::fs::read_to_string(&mine).expect("the file"), "Mine.\n");
    let saved = std::fs::read_to_string(folder.path().join(wanted[1])).expect("a file");
    assert!(saved.contains("id: \"one\"") && saved.ends_with(PAGE), "{saved}");
    let nowhere = folder.path().join("none").display().to_string();
    let refused = pages::save_models(&f.engine, &f.bank, &ids, &nowhere).await;
    assert_eq!(Report::from(refused.expect_err("no folder")).fields[0].field, "folder");
    let gone = [id()];
    let refused = pages::save_models(&f.engine, &f.bank, &gone, &at).await.expect_err("no model");
    assert_eq!(refused.reason(), "model_not_found");
    let other = Fixture::new().await;
    let back = ImportPages { as_pages: false, ..from(&folder.path().join(wanted[0])) };
    let back = import(&other, back).await;
    assert_eq!(back.imported[0].mental_model_id.as_str(), "three");
    assert_eq!(model(&other, &back, 0).await.content, PAGE);
}

#[tokio::test]
async fn a_path_that_leads_nowhere_is_told_with_what_to_do() {
    let f = Fixture::new().await;
    let done = import(&f, from(Path::new("/nowhere/at/all"))).await;
    assert_eq!((done.imported.len(), done.skipped[0].file.as_str()), (0, "/nowhere/at/all"));
    assert_eq!(done.skipped[0].reason, "There is no such file or folder. Check the path.");
}

#[tokio::test]
async fn a_bundle_comes_back_as_it_was() {
    let f = Fixture::new().await;
    let (page, folder) = bundle(&f).await;
    let before = (tree(&f).await, pages::bundle(&f.engine, &f.bank).await.expect("a bundle"));
    let other = Fixture::new().await;
    let done = import(&other, from(folder.path())).await;
    assert_eq!((done.imported.len(), done.skipped.len()), (1, 0), "{done:?}");
    assert_eq!(done.imported[0].page_id, Some(page), "links to it still lead there");
    assert_eq!(tree(&other).await, before.0);
    let again = pages::bundle(&other.engine, &other.bank).await.expect("a bundle");
    let texts = |files: &[engine::view::page::BundleFile]| {
        let texts = files.iter().filter(|file| !file.path.ends_with(".log.md"));
        texts.map(|file| file.content.clone()).skip(1).collect::<Vec<_>>()
    };
    assert_eq!(texts(&again), texts(&before.1));
    let log = &again.last().expect("a history").content;
    assert!(log.contains("version 1, imported with an import"), "{log}");
    let made = model(&other, &done, 0).await;
    assert_eq!((made.content.as_str(), made.model.review), (PAGE, ReviewMode::Auto));
    assert_eq!(made.model.tags, ["warm", "type:guide"]);
    assert!(made.blame.iter().all(|block| block.author == Author::Import), "{:?}", made.blame);
    assert!(made.based_on.is_empty() && !made.model.placeholder);
    assert_eq!(made.model.refresh_reasons, ["never_refreshed"]);
    let timeline = models::timeline(&other.engine, &other.bank, &made.model.id).await;
    let [TimelineEntry::Version { cause, actor, .. }] = &timeline.expect("a history")[..] else {
        panic!("one version");
    };
    assert_eq!((cause.as_str(), actor.as_str()), ("import", "import"));
    let operations = engine::ops::list(&other.engine, &other.bank).await.expect("operations");
    assert!(operations.is_empty(), "reading files in costs no run");
}

#[tokio::test]
async fn what_is_there_stays_is_replaced_or_gets_a_twin_as_asked() {
    let f = Fixture::new().await;
    let (page, folder) = bundle(&f).await;
    let before = tree(&f).await;
    let kept = import(&f, from(folder.path())).await;
    assert_eq!((kept.imported.len(), kept.skipped.len()), (0, 1), "{kept:?}");
    assert_eq!(tree(&f).await, before);
    let replace = ImportPages { on_conflict: OnConflict::Replace, ..from(folder.path()) };
    let same = import(&f, replace.clone()).await;
    assert_eq!((same.imported.len(), same.skipped.len()), (0, 1), "a version says something new");
    let file = folder.path().join(format!("{page}.md"));
    let text = std::fs::read_to_string(&file).expect("the file").replace("wood", "gas");
    std::fs::write(&file, text).expect("an edit");
    let done = import(&f, replace).await;
    assert!(done.imported[0].replaced, "{done:?}");
    let made = model(&f, &done, 0).await;
    assert_eq!((made.model.version, made.content), (2, PAGE.replace("wood", "gas")));
    let authors: Vec<_> = made.blame.iter().map(|block| block.author).collect();
    assert_eq!(authors, [Author::Import, Author::Person], "what it left alone stays whose it was");
    let twin = ImportPages { on_conflict: OnConflict::NewId, ..from(folder.path()) };
    let twin = import(&f, twin).await;
    assert_eq!(twin.imported[0].name, "The \"old\" kiln (2)");
    assert_ne!(twin.imported[0].page_id, Some(page));
    assert_eq!(tree(&f).await.len(), before.len() + 1);
}

#[tokio::test]
async fn notes_of_other_programs_become_pages_in_their_folders() {
    let f = Fixture::new().await;
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, bytes).expect("a file");
    };
    write("index.md", b"# Home\n\nOf my own.\n");
    write("ovens/a.md", "\u{feff}---\ntags:\n  - warm\n---\n\n# Gas oven\n\nHot.\n".as_bytes());
    write("ovens/b.md", b"---\ntitle: Later\n---\nGenerating content...\n");
    write("ovens/c.md", &[0xff, 0xfe]);
    write("ovens/d.md", b"---\ntitle: T\ntags: [\" \", x]\n---\nText.\n");
    write("ovens/picture.png", b"x");
    let input = ImportPages { review: Some(ReviewMode::Manual), ..from(folder.path()) };
    let done = import(&f, input).await;
    let names: Vec<&str> = done.imported.iter().map(|page| page.name.as_str()).collect();
    assert_eq!(names, ["Home", "Gas oven", "Later", "T"], "{done:?}");
    assert_eq!(done.skipped.len(), 1, "{done:?}");
    assert!(done.skipped[0].file == "ovens/c.md" && done.skipped[0].reason.contains("UTF-8"));
    let shown = tree(&f).await;
    assert!(shown.contains(&(0, "ovens".to_owned(), NodeKind::Folder)), "{shown:?}");
    assert!(shown.contains(&(1, "Gas oven".to_owned(), NodeKind::Page)), "{shown:?}");
    let oven = model(&f, &done, 1).await;
    assert_eq!(oven.content, "# Gas oven\n\nHot.\n");
    assert_eq!(oven.model.source_query, "What do we know about Gas oven?");
    assert_eq!(
        (oven.model.tags.as_slice(), oven.model.review),
        (&["warm".to_owned()][..], ReviewMode::Manual)
    );
    let later = model(&f, &done, 2).await;
    assert!(later.model.placeholder && later.content.is_empty() && later.model.version == 0);
    let none = ImportPages { paths: Vec::new(), ..from(folder.path()) };
    let refused = pages::import(&f.engine, &f.bank, none).await.expect_err("nothing to read");
    assert_eq!(Report::from(refused).fields[0].field, "paths");
    let nowhere = ImportPages { parent_id: Some("kf-none".into()), ..from(folder.path()) };
    let refused = pages::import(&f.engine, &f.bank, nowhere).await.expect_err("no folder");
    assert_eq!(refused.reason(), "bad_parent");
}

/// An imported document is a baseline: a delta goes on from it, and what it says stays.
#[tokio::test]
async fn an_imported_model_is_refreshed_from_what_it_says() {
    let f = Fixture::new().await;
    facts(&f).await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("kiln.md");
    let text = "---\nid: kiln\ntype: mental-model\ntitle: The kiln\n\
        description: What do we know about the kiln of the workshop?\n---\n\n# Kiln\n\nIt is ours.\n";
    std::fs::write(&file, text).expect("a file");
    let input = ImportPages { as_pages: false, ..from(&file) };
    let done = import(&f, input.clone()).await;
    assert_eq!((&done.imported[0].mental_model_id, &done.imported[0].page_id), (&id(), &None));
    assert!(tree(&f).await.is_empty());
    let patch = engine::view::model::ModelPatch {
        trigger: Some(serde_json::json!({ "mode": "delta" }).into()),
        ..Default::default()
    };
    models::update(&f.engine, &f.bank, &id(), patch).await.expect("an update");
    refresh(&f, false).await;
    let after = detail(&f).await;
    assert_eq!(after.last_run.as_ref().expect("a run").effective_mode, "delta");
    assert!(
        after.content.contains("It is ours.") && after.content.contains("1200"),
        "{}",
        after.content
    );
    let again = import(&f, ImportPages { on_conflict: OnConflict::NewId, ..input }).await;
    assert_ne!(again.imported[0].mental_model_id, id());
    assert_eq!(import(&f, from(&file)).await.imported.len(), 1, "a page is no plain model");
}
