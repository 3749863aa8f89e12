//! Publishing to a file: every version is written there, nothing that somebody else wrote is ever
//! written over, and a killed program leaves nothing that the next start does not make good.

use crate::models::{detail, id, kiln, published, refresh, reopen};
use domain::ProposalId;
use engine::models::{self, proposals, published as files};
use engine::view::model::{Author, ModelDetail, ModelPatch, NewModel, ReviewMode};
use engine::view::proposal::{DecideOps, Decision, DuringReview, ProposalView, RejectInput, Turn};
use engine::view::published::{PublishInput, PublishState, PublishedFile};
use std::fs;
use std::path::{Path, PathBuf};
use store::Moment;
use tempfile::TempDir;
use tests::Fixture;

const PAGE: &str = "# Kiln\r\n\r\nThe kiln stands in the yard.\r\n\r\nIt is old.\r\n";

struct Desk {
    f: Fixture,
    /// The folder of the file; nothing but the file may ever stay in it.
    folder: TempDir,
}

impl Desk {
    /// A model with a document that a person wrote, not yet published anywhere.
    async fn new() -> Self {
        let f = Fixture::new().await;
        let new = NewModel { content: Some(PAGE.to_owned()), ..kiln(ReviewMode::Auto, "delta") };
        models::create(&f.engine, &f.bank, new).await.expect("a model");
        Self { f, folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("KILN.md")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).expect("the file")
    }

    async fn publish(&self, front_matter: bool) -> PublishedFile {
        let input = PublishInput { path: self.path().display().to_string(), front_matter };
        let detail = files::set_target(&self.f.engine, &self.f.bank, &id(), input).await;
        detail.expect("a target").publish.expect("a file")
    }

    async fn file(&self) -> PublishedFile {
        detail(&self.f).await.publish.expect("a file")
    }

    async fn edit(&self, text: &str) -> ModelDetail {
        let version = detail(&self.f).await.model.version;
        models::edit_content(&self.f.engine, &self.f.bank, &id(), text.to_owned(), version)
            .await
            .expect("an edit")
    }

    async fn check(&self) -> usize {
        files::check_files(&self.f.engine).await.expect("a check").len()
    }

    async fn waiting(&self) -> ProposalView {
        let inbox = proposals::inbox(&self.f.engine, &self.f.bank).await.expect("an inbox");
        assert_eq!(inbox.len(), 1);
        self.get(&inbox[0].id).await
    }

    async fn get(&self, id: &ProposalId) -> ProposalView {
        proposals::get(&self.f.engine, &self.f.bank, id).await.expect("a proposal")
    }

    async fn approve_all(&self, view: &ProposalView) -> u32 {
        let op_ids: Vec<String> = view.ops.iter().map(|op| op.op_id.clone()).collect();
        let input = DecideOps::all(&op_ids, Decision::Accepted);
        let (engine, bank) = (&self.f.engine, &self.f.bank);
        let view = proposals::decide(engine, bank, &view.row.id, input, Turn::at(view.state_seq))
            .await
            .expect("a decision");
        let input = crate::proposals::sure();
        proposals::approve(engine, bank, &view.row.id, input, Turn::at(view.state_seq))
            .await
            .expect("a version")
            .version
    }

    async fn reject(&self, view: &ProposalView) {
        let input = RejectInput { note: Some("no".to_owned()), ..RejectInput::default() };
        proposals::reject(
            &self.f.engine,
            &self.f.bank,
            &view.row.id,
            input,
            Turn::at(view.state_seq),
        )
        .await
        .expect("rejected");
    }

    fn is_alone(&self) {
        let names: Vec<_> = fs::read_dir(self.folder.path())
            .expect("a folder")
            .map(|entry| entry.expect("a file").file_name())
            .collect();
        assert_eq!(names, ["KILN.md"]);
    }
}

#[tokio::test]
async fn every_version_is_written_with_its_own_line_ends() {
    let desk = Desk::new().await;
    let file = desk.publish(false).await;
    assert_eq!((file.state, file.last_version), (PublishState::Ok, Some(1)));
    assert_eq!(desk.text(), PAGE);
    let text = PAGE.replace("old", "new");
    let edited = desk.edit(&text).await;
    assert_eq!(desk.text(), text);
    assert_eq!(edited.publish.expect("a file").last_version, Some(2));
    models::revert(&desk.f.engine, &desk.f.bank, &id(), 1, false).await.expect("reverted");
    assert_eq!(desk.text(), PAGE);
    desk.f.fact("The kiln of the workshop was repaired.", &["Kiln"], "2026-02-20").await;
    refresh(&desk.f, false).await;
    assert!(desk.text().contains("repaired"), "a refresh is written too");
    assert_eq!(desk.text(), detail(&desk.f).await.content);
    desk.is_alone();
    assert_eq!(desk.check().await, 0, "nothing to do, nothing to tell");
}

#[tokio::test]
async fn an_outside_text_is_offered_as_a_persons_and_never_written_over() {
    let desk = Desk::new().await;
    desk.publish(false).await;
    desk.f.fact("The kiln of the workshop was repaired.", &["Kiln"], "2026-02-20").await;
    let before = detail(&desk.f).await;
    let outside = PAGE.replace("It is old.", "It was built in 1990.") + "\r\nIt smokes.\r\n";
    fs::write(desk.path(), &outside).expect("an outside edit");
    assert_eq!(desk.check().await, 1);
    assert_eq!(desk.check().await, 0, "it is told once");
    let view = desk.waiting().await;
    assert_eq!((view.row.reason.as_str(), view.row.origin.as_str()), ("outside_edit", "file"));
    // Two lines where one stood: the one goes, the two come.
    assert_eq!(view.row.operations, 3, "{:?}", view.ops);
    assert!(view.ops.iter().all(|op| !op.unsupported && op.evidence.is_empty()), "{:?}", view.ops);
    assert_eq!(desk.file().await.proposal, Some(view.row.id.clone()));
    let denied = files::publish_now(&desk.f.engine, &desk.f.bank, &id()).await;
    assert_eq!(denied.expect_err("it waits").reason(), "outside_change");
    assert_eq!(desk.text(), outside);
    let version = desk.approve_all(&view).await;
    let after = detail(&desk.f).await;
    assert_eq!((after.model.version, version), (2, 2));
    assert!(after.content.contains("1990") && after.content.contains("It smokes."));
    assert_eq!(after.model.last_memory_seen_at, before.model.last_memory_seen_at);
    assert_eq!(after.model.refresh_reasons, before.model.refresh_reasons, "no watermark moved");
    let by_person = after.blame.iter().filter(|block| block.author == Author::Person).count();
    assert_eq!((by_person, after.blame.len()), (3, 3));
    let blame = models::blame(&desk.f.engine, &desk.f.bank, &id(), None).await.expect("a blame");
    assert!(blame.blocks.iter().all(|block| block.by_person && block.facts.is_empty()));
    assert_eq!(desk.text(), after.content);
    let file = desk.file().await;
    assert_eq!((file.state, file.last_version, file.proposal), (PublishState::Ok, Some(2), None));
    desk.is_alone();
}

#[tokio::test]
async fn a_new_version_does_not_write_over_an_outside_text() {
    let desk = Desk::new().await;
    desk.publish(false).await;
    let outside = PAGE.replace("It is old.", "It is red.");
    fs::write(desk.path(), &outside).expect("an outside edit");
    let edited = desk.edit(&PAGE.replace("the yard", "the garden")).await;
    let file = edited.publish.expect("a file");
    assert_eq!((file.state, file.last_version), (PublishState::ChangedOutside, Some(1)));
    assert_eq!(desk.text(), outside);
    let view = desk.waiting().await;
    let words: Vec<_> = view.ops.iter().filter_map(|op| op.new_text.clone()).collect();
    assert!(words.iter().any(|text| text.contains("red")), "{words:?}");
    desk.approve_all(&view).await;
    assert!(desk.text().contains("It is red."));
    assert_eq!(desk.text(), detail(&desk.f).await.content);
}

#[tokio::test]
async fn blank_lines_alone_are_offered_as_a_whole() {
    let desk = Desk::new().await;
    desk.publish(false).await;
    let outside = PAGE.to_owned() + "\r\n";
    fs::write(desk.path(), &outside).expect("an outside edit");
    desk.check().await;
    let view = desk.waiting().await;
    assert!(view.whole && view.ops.is_empty());
    let input = crate::proposals::sure();
    proposals::approve(&desk.f.engine, &desk.f.bank, &view.row.id, input, Turn::at(view.state_seq))
        .await
        .expect("a version");
    assert_eq!(detail(&desk.f).await.content, outside);
    assert_eq!((desk.text(), desk.file().await.state), (outside, PublishState::Ok));
}

#[tokio::test]
async fn a_rejected_outside_text_gives_way_to_what_is_published() {
    let desk = Desk::new().await;
    desk.publish(false).await;
    fs::write(desk.path(), PAGE.replace("old", "red")).expect("an outside edit");
    desk.check().await;
    let before = detail(&desk.f).await;
    let view = desk.waiting().await;
    desk.reject(&view).await;
    assert_eq!(desk.text(), PAGE);
    let after = detail(&desk.f).await;
    assert_eq!(after.publish.expect("a file").state, PublishState::Ok);
    assert_eq!(after.model.last_refreshed_at, before.model.last_refreshed_at);
    assert_eq!(after.model.version, 1);
    // The same text, written there again, is somebody's word again.
    fs::write(desk.path(), PAGE.replace("old", "red")).expect("an outside edit");
    desk.check().await;
    assert_eq!(desk.file().await.state, PublishState::ChangedOutside);
    assert_eq!(desk.waiting().await.row.number, 2);
}

/// A decision holds for the text as it stood then. Whoever writes the same words again later says
/// them anew, and they wait for a decision of their own.
#[tokio::test]
async fn a_text_that_was_decided_on_before_is_not_written_over_when_it_comes_back() {
    let desk = Desk::new().await;
    desk.publish(false).await;
    let outside = PAGE.replace("old", "red");
    fs::write(desk.path(), &outside).expect("an outside edit");
    desk.check().await;
    desk.reject(&desk.waiting().await).await;
    assert_eq!(desk.text(), PAGE);
    desk.f.clock.advance_ms(60_000);
    fs::write(desk.path(), &outside).expect("the same edit");
    assert_eq!(desk.check().await, 1);
    assert_eq!(desk.check().await, 0, "it stands as it stood");
    desk.edit(&PAGE.replace("the yard", "the garden")).await;
    assert_eq!(desk.text(), outside, "nobody has decided on it");
    assert_eq!(desk.file().await.state, PublishState::ChangedOutside);
    let view = desk.waiting().await;
    // Another text in between, while the file stands as changed: the first one is new again.
    fs::write(desk.path(), PAGE.replace("old", "blue")).expect("another edit");
    desk.check().await;
    assert_ne!(desk.waiting().await.row.id, view.row.id);
    fs::write(desk.path(), &outside).expect("the first edit");
    desk.edit(&PAGE.replace("the yard", "the cellar")).await;
    assert_eq!(desk.text(), outside);
}

#[tokio::test]
async fn a_decision_that_a_kill_kept_from_the_file_is_made_good() {
    let desk = Desk::new().await;
    desk.publish(false).await;
    let outside = PAGE.replace("old", "red");
    fs::write(desk.path(), &outside).expect("an outside edit");
    desk.check().await;
    let view = desk.waiting().await;
    desk.f.engine.store().set_commit_hook(|point| match point.label {
        "note_published_file" => Err(store::Error::Closed),
        _ => Ok(()),
    });
    desk.reject(&view).await;
    // The file was settled, but that was not noted; as if it had not been written either.
    fs::write(desk.path(), &outside).expect("as it stood");
    desk.f.engine.store().set_commit_hook(|_| Ok(()));
    desk.check().await;
    assert_eq!((desk.text().as_str(), desk.file().await.state), (PAGE, PublishState::Ok));
    // A cleared document writes no file: what was decided on stays there and is not asked about again.
    fs::write(desk.path(), PAGE.replace("old", "blue")).expect("an outside edit");
    desk.f.clock.advance_ms(60_000);
    desk.check().await;
    let view = desk.waiting().await;
    desk.f.engine.store().set_commit_hook(|point| match point.label {
        "note_published_file" => Err(store::Error::Closed),
        _ => Ok(()),
    });
    desk.reject(&view).await;
    fs::write(desk.path(), PAGE.replace("old", "blue")).expect("as it stood");
    models::clear(&desk.f.engine, &desk.f.bank, &id(), 1).await.expect("cleared");
    desk.f.engine.store().set_commit_hook(|_| Ok(()));
    assert_eq!(desk.check().await, 1);
    assert_eq!(desk.file().await.state, PublishState::Ok);
    assert_eq!(desk.check().await, 0);
    let inbox = proposals::inbox(&desk.f.engine, &desk.f.bank).await.expect("an inbox");
    assert!(inbox.is_empty(), "it was decided on");
}

#[tokio::test]
async fn a_file_that_was_there_first_is_offered_and_kept() {
    let desk = Desk::new().await;
    fs::write(desk.path(), "# Mine\n\nDo not lose this.\n").expect("a file");
    let file = desk.publish(false).await;
    assert_eq!((file.state, file.last_version), (PublishState::ChangedOutside, None));
    assert_eq!(desk.text(), "# Mine\n\nDo not lose this.\n");
    let view = desk.waiting().await;
    assert!(view.ops.iter().any(|op| op.new_text.as_deref().is_some_and(|t| t.contains("lose"))));
    fs::write(desk.path(), PAGE).expect("the published text");
    desk.check().await;
    assert_eq!(desk.file().await.state, PublishState::Ok);
    let inbox = proposals::inbox(&desk.f.engine, &desk.f.bank).await.expect("an inbox");
    assert!(inbox.is_empty(), "a text that is there no more waits for nothing");
}

#[tokio::test]
async fn a_file_that_cannot_be_written_is_a_warning_and_is_tried_again() {
    let desk = Desk::new().await;
    let folder = desk.folder.path().join("vault");
    fs::create_dir(&folder).expect("a folder");
    let path = folder.join("KILN.md");
    let input = PublishInput { path: path.display().to_string(), front_matter: false };
    files::set_target(&desk.f.engine, &desk.f.bank, &id(), input).await.expect("a target");
    fs::remove_dir_all(&folder).expect("gone");
    desk.f.fact("The kiln of the workshop was repaired.", &["Kiln"], "2026-02-20").await;
    refresh(&desk.f, false).await;
    let after = detail(&desk.f).await;
    assert_eq!(after.model.version, 2, "the version stands");
    let file = after.publish.expect("a file");
    assert_eq!((file.state, file.last_version), (PublishState::Failed, Some(1)));
    assert!(file.error.is_some());
    let warnings = after.last_run.expect("a run").warnings;
    assert!(warnings.iter().any(|warning| warning.code == "publish_failed"), "{warnings:?}");
    let again = files::publish_now(&desk.f.engine, &desk.f.bank, &id()).await;
    assert_eq!(again.expect_err("no folder").reason(), "publish_failed");
    fs::create_dir(&folder).expect("a folder");
    assert_eq!(desk.check().await, 1);
    assert_eq!(fs::read_to_string(&path).expect("the file"), after.content);
    fs::remove_file(&path).expect("gone");
    assert_eq!(desk.check().await, 0, "a file that was deleted is left so until something is due");
    files::publish_now(&desk.f.engine, &desk.f.bank, &id()).await.expect("published");
    assert_eq!(fs::read_to_string(&path).expect("the file"), after.content);
}

/// A program that is killed between the commit and the file, or between the file and its note.
#[tokio::test]
async fn a_kill_is_made_good_at_the_next_start() {
    let kills =
        [("edit_model", Moment::AfterCommit), ("note_published_file", Moment::BeforeCommit)];
    for (label, moment) in kills {
        let desk = Desk::new().await;
        desk.publish(false).await;
        let text = PAGE.replace("old", "new");
        desk.f.engine.store().set_commit_hook(move |point| {
            if point.label == label && point.moment == moment {
                return Err(store::Error::Closed);
            }
            Ok(())
        });
        models::edit_content(&desk.f.engine, &desk.f.bank, &id(), text.clone(), 1).await.ok();
        let Desk { f, folder } = desk;
        let Fixture { folder: data, clock, engine, bank } = f;
        engine.store().set_commit_hook(|_| Ok(()));
        drop(engine);
        let engine = reopen(data.path(), &clock).await;
        files::check_files(&engine).await.expect("a check");
        let after = models::get(&engine, &bank, &id()).await.expect("the model");
        let file = after.publish.expect("a file");
        assert_eq!((file.state, file.last_version), (PublishState::Ok, Some(2)), "{label}");
        let written = fs::read_to_string(folder.path().join("KILN.md")).expect("the file");
        assert_eq!(written, text, "{label}");
        let inbox = proposals::inbox(&engine, &bank).await.expect("an inbox");
        assert!(inbox.is_empty(), "our own text is no outside text");
    }
}

#[tokio::test]
async fn a_header_names_the_model_and_lines_of_others_stay_in_it() {
    let desk = Desk::new().await;
    desk.publish(true).await;
    let text = desk.text();
    assert!(text.starts_with("---\r\nid: \"kiln\"\r\ntype: \"mental-model\"\r\n"), "{text}");
    assert!(text.contains("\r\ntitle: \"The kiln\"\r\n") && text.ends_with(PAGE), "{text}");
    let with_own = text.replacen("\r\n---\r\n", "\r\naliases: [oven]\r\n---\r\n", 1);
    fs::write(desk.path(), &with_own).expect("a line of one's own");
    desk.check().await;
    assert_eq!(desk.file().await.state, PublishState::Ok, "the document is as it was");
    desk.edit(&PAGE.replace("old", "new")).await;
    assert!(desk.text().contains("\r\naliases: [oven]\r\n"), "{}", desk.text());
    assert!(desk.text().contains("It is new."));
    fs::write(desk.path(), desk.text().replace("It is new.", "It is red.")).expect("an edit");
    desk.check().await;
    let view = desk.waiting().await;
    assert_eq!(view.row.operations, 1, "the header is no part of the document: {:?}", view.ops);
    desk.approve_all(&view).await;
    assert!(desk.text().contains("It is red.") && desk.text().contains("aliases: [oven]"));
}

/// A title or a tag in the header is no text that could be reviewed, and none that may be lost unsaid.
#[tokio::test]
async fn a_header_that_somebody_changed_is_told_before_it_is_written_over() {
    let desk = Desk::new().await;
    desk.publish(true).await;
    let own = desk.text().replace("title: \"The kiln\"", "title: \"Our kiln\"");
    assert_ne!(own, desk.text());
    fs::write(desk.path(), &own).expect("a title of one's own");
    assert_eq!(desk.check().await, 1);
    assert_eq!(desk.check().await, 0);
    let file = desk.file().await;
    assert_eq!((file.state, file.proposal), (PublishState::ChangedOutside, None));
    assert!(file.error.is_some_and(|error| error.contains("top of the file")));
    desk.edit(&PAGE.replace("old", "new")).await;
    assert_eq!(desk.text(), own, "a new version does not take it away either");
    files::publish_now(&desk.f.engine, &desk.f.bank, &id()).await.expect("asked for after all");
    assert!(desk.text().contains("title: \"The kiln\"") && desk.text().contains("It is new."));
    assert_eq!(desk.file().await.state, PublishState::Ok);
    // Lines of others are known after a look, so that a new name is no change of theirs.
    fs::write(
        desk.path(),
        desk.text().replacen("---\r\n", "---\r\n\r\nnotes: |\r\n  a\r\n\r\n  b\r\n", 1),
    )
    .expect("lines of one's own");
    desk.check().await;
    assert_eq!(desk.file().await.state, PublishState::Ok);
    let patch = ModelPatch { name: Some("The oven".to_owned()), ..ModelPatch::default() };
    models::update(&desk.f.engine, &desk.f.bank, &id(), patch).await.expect("renamed");
    desk.edit(PAGE).await;
    assert!(desk.text().contains("title: \"The oven\""), "{}", desk.text());
    assert!(desk.text().contains("notes: |\r\n  a\r\n\r\n  b\r\n"), "{}", desk.text());
}

#[tokio::test]
async fn a_mark_before_the_text_is_no_change_of_it() {
    for front_matter in [true, false] {
        let desk = Desk::new().await;
        desk.publish(front_matter).await;
        fs::write(desk.path(), format!("\u{feff}{}", desk.text())).expect("a save");
        desk.check().await;
        assert_eq!(desk.file().await.state, PublishState::Ok);
        fs::write(desk.path(), desk.text().replace("old", "red")).expect("an edit");
        desk.check().await;
        let view = desk.waiting().await;
        assert_eq!(view.row.operations, 1, "{:?}", view.ops);
        desk.approve_all(&view).await;
        assert_eq!(detail(&desk.f).await.content, PAGE.replace("old", "red"));
    }
}

#[tokio::test]
async fn clearing_and_deleting_leave_the_file() {
    let desk = Desk::new().await;
    desk.publish(false).await;
    models::clear(&desk.f.engine, &desk.f.bank, &id(), 1).await.expect("cleared");
    desk.check().await;
    assert_eq!(desk.text(), PAGE);
    desk.edit("# Anew\n").await;
    assert_eq!(desk.text(), "# Anew\n");
    let path = desk.path();
    let left = files::clear_target(&desk.f.engine, &desk.f.bank, &id()).await.expect("cleared");
    assert_eq!(left.publish, None);
    desk.edit("# Other\n").await;
    assert_eq!(desk.text(), "# Anew\n", "it is published no more");
    desk.publish(false).await;
    models::delete(&desk.f.engine, &desk.f.bank, &id()).await.expect("deleted");
    assert!(path.is_file());
}

#[tokio::test]
async fn only_a_file_of_ones_own_can_be_a_target() {
    let desk = Desk::new().await;
    desk.publish(false).await;
    let other = NewModel { id: Some("other".to_owned()), ..kiln(ReviewMode::Auto, "delta") };
    models::create(&desk.f.engine, &desk.f.bank, other).await.expect("a model");
    let data = desk.f.folder.path().join("x.md");
    let given = [
        desk.path(),
        data,
        PathBuf::from("x.md"),
        desk.folder.path().to_owned(),
        Path::new("/nowhere-at-all/x.md").to_owned(),
    ];
    for path in given {
        let input = PublishInput { path: path.display().to_string(), front_matter: false };
        let set = files::set_target(&desk.f.engine, &desk.f.bank, &"other".into(), input).await;
        let report = engine::report::Report::from(set.expect_err("refused"));
        assert_eq!(report.reason, "invalid_request", "{}", path.display());
        assert_eq!(report.fields[0].field, "path");
    }
    let none = files::publish_now(&desk.f.engine, &desk.f.bank, &"other".into()).await;
    assert_eq!(none.expect_err("no file").reason(), "invalid_request");
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_is_one_models_by_whatever_name() {
    let desk = Desk::new().await;
    desk.publish(false).await;
    let other = NewModel { id: Some("other".to_owned()), ..kiln(ReviewMode::Auto, "delta") };
    models::create(&desk.f.engine, &desk.f.bank, other).await.expect("a model");
    let elsewhere = tempfile::tempdir().expect("a folder");
    let (link, twin) = (elsewhere.path().join("link.md"), elsewhere.path().join("twin.md"));
    std::os::unix::fs::symlink(desk.path(), &link).expect("a link");
    fs::hard_link(desk.path(), &twin).expect("another name");
    for path in [&link, &twin] {
        let input = PublishInput { path: path.display().to_string(), front_matter: false };
        let set = files::set_target(&desk.f.engine, &desk.f.bank, &"other".into(), input).await;
        let report = engine::report::Report::from(set.expect_err("refused"));
        assert_eq!(report.fields[0].code, "name_taken", "{}", path.display());
    }
    assert_eq!(desk.text(), PAGE);
    let input = PublishInput { path: link.display().to_string(), front_matter: false };
    let own = files::set_target(&desk.f.engine, &desk.f.bank, &id(), input).await;
    assert_eq!(own.expect("its own file").publish.expect("a file").state, PublishState::Ok);
}

#[tokio::test]
async fn a_review_that_is_under_way_is_not_pushed_aside() {
    let f = Fixture::new().await;
    published(&f, "delta").await;
    let patch = ModelPatch { review: Some(ReviewMode::Manual), ..ModelPatch::default() };
    models::update(&f.engine, &f.bank, &id(), patch).await.expect("an update");
    let desk = Desk { f, folder: tempfile::tempdir().expect("a folder") };
    desk.publish(false).await;
    desk.f.fact("The kiln of the workshop got a new chimney.", &["Kiln"], "2026-02-21").await;
    refresh(&desk.f, false).await;
    let first = desk.waiting().await;
    fs::write(desk.path(), desk.text() + "\nA line by hand.\n").expect("an outside edit");
    desk.check().await;
    assert_eq!(desk.waiting().await.row.id, first.row.id, "one thing after the other");
    assert_eq!(desk.file().await.state, PublishState::ChangedOutside);
    desk.reject(&first).await;
    let second = desk.waiting().await;
    assert_eq!(second.row.origin, "file");
    desk.approve_all(&second).await;
    assert!(desk.text().contains("A line by hand."));
}

/// What a person wrote into the file is never pushed aside by a refresh: a refresh that would have to
/// be decided too waits, and a run that was under way is not stored.
#[tokio::test]
async fn a_refresh_does_not_take_the_place_of_a_persons_file() {
    let desk = Desk::new().await;
    desk.publish(false).await;
    let manual = ModelPatch { review: Some(ReviewMode::Manual), ..ModelPatch::default() };
    models::update(&desk.f.engine, &desk.f.bank, &id(), manual).await.expect("an update");
    desk.f.fact("The kiln of the workshop was repaired.", &["Kiln"], "2026-02-20").await;
    let told = models::dry_run(&desk.f.engine, &desk.f.bank, &id(), None).await.expect("a dry run");
    fs::write(desk.path(), PAGE.replace("It is old.", "It was built in 1990.")).expect("an edit");
    desk.check().await;
    let view = desk.waiting().await;
    assert_eq!(view.row.origin, "file");
    let (engine, bank) = (&desk.f.engine, &desk.f.bank);
    let asked = models::refresh(engine, bank, &id(), false).await;
    assert_eq!(asked.expect_err("it asks").reason(), "review_in_progress");
    let kept = models::keep_dry_run(engine, bank, &told.dry_run_id).await;
    assert_eq!(kept.expect_err("a person's file waits").reason(), "review_in_progress");
    for during in [DuringReview::Wait, DuringReview::Fold] {
        models::refresh_in_review(engine, bank, &id(), false, during).await.expect("queued");
        desk.f.run_queue().await;
        assert_eq!(desk.waiting().await.row.id, view.row.id, "{during:?}");
        let operations = engine::ops::list(engine, bank).await.expect("operations");
        assert_eq!(operations[0].held_reason.as_deref(), Some("review_in_progress"));
    }
    desk.approve_all(&view).await;
    desk.f.run_queue().await;
    let next = desk.waiting().await;
    assert_eq!(next.row.origin, "delta");
    let text = detail(&desk.f).await.content;
    assert!(text.contains("It was built in 1990."));
    // A run that began before the file was changed.
    desk.approve_all(&next).await;
    assert!(desk.text().contains("repaired") && desk.text().contains("1990"));
}
