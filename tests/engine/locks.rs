//! Locks: what a person locked stays as it is under every refresh, and only under those.

use crate::models::{detail, id, kiln, outcome, published, refresh};
use domain::MemoryId;
use engine::models::{self, proposals};
use engine::view::blame::LockKind;
use engine::view::model::{ModelDetail, NewModel, ReviewMode};
use llm::scripted::{Hold, Scripted, Step};
use serde_json::{Value, json};
use std::sync::Arc;
use tests::Fixture;

const PAGE: &str =
    "# Team\n\nAda leads.\n\nBen helps.\n\n# Risks\n\nThe door sticks.\n\nWood is short.\n";

async fn lock(f: &Fixture, kind: LockKind, element: &str) -> ModelDetail {
    models::set_lock(&f.engine, &f.bank, &id(), kind, element, None).await.expect("a lock")
}

fn block_id(detail: &ModelDetail, words: &str) -> String {
    let block = detail.structure.blocks().find(|block| block.text.contains(words));
    block.unwrap_or_else(|| panic!("no block says {words}")).id.clone()
}

async fn page(script: &Scripted, mode: &str) -> (Fixture, ModelDetail) {
    let f = Fixture::scripted(Arc::new(script.clone())).await;
    let new = NewModel { content: Some(PAGE.to_owned()), ..kiln(ReviewMode::Auto, mode) };
    models::create(&f.engine, &f.bank, new).await.expect("a model");
    f.fact("Cora joined the team of the kiln.", &["Cora"], "2026-02-20").await;
    let before = detail(&f).await;
    (f, before)
}

/// The turns of the loop that find the fact; the last one may wait.
fn finds(script: &Scripted, done: Value, hold: Option<&Hold>) {
    let args = |query: &str| json!({ "reason": "to look", "query": query });
    script.push(Step::call("search_observations", args("kiln")));
    script.push(Step::call("recall", args("kiln team")));
    let done = Step::call("done", done);
    script.push(match hold {
        Some(hold) => done.held_by(hold),
        None => done,
    });
}

fn answer() -> Value {
    json!({ "answer": "Cora joined the team.", "memory_ids": ["f1"] })
}

fn rebuilt() -> Value {
    json!({
        "document": { "sections": [{
            "heading": "Team",
            "level": 1,
            "blocks": [{ "text": "Cora joined the team.", "evidence": ["f1"] }],
        }] },
        "memory_ids": ["f1"],
    })
}

#[tokio::test]
async fn an_edit_of_a_locked_block_is_skipped_and_one_beside_it_is_not() {
    let script = Scripted::default();
    let (f, before) = page(&script, "delta").await;
    let (team, ben) = (&before.structure.sections[0].id, block_id(&before, "Ben"));
    let shown = lock(&f, LockKind::Block, &ben).await;
    assert_eq!(shown.locks.len(), 1);
    assert_eq!((shown.locks[0].kind, &shown.locks[0].element_id), (LockKind::Block, &ben));
    finds(&script, answer(), None);
    let ops = json!({ "operations": [
        { "op": "replace_block", "section_id": team, "block_id": ben, "text": "x", "evidence": ["f1"] },
        { "op": "replace_section_blocks", "section_id": team, "blocks": ["y"], "evidence": ["f1"] },
        { "op": "remove_section", "section_id": team },
        { "op": "insert_block", "section_id": team, "after_block_id": ben, "text": "Cora joined.",
          "evidence": ["f1"] },
    ]});
    script.push_for("delta_ops", Step::json(&ops));
    script.push_for("delta_repair", Step::json(&json!({ "operations": [] })));
    refresh(&f, false).await;
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "content_written", "{:?}", after.last_run);
    assert_eq!(after.content, PAGE.replace("Ben helps.\n", "Ben helps.\n\nCora joined.\n"));
    let asked = script.requests();
    let repair = asked.iter().find(|request| request.scope == "delta_repair").expect("a repair");
    assert!(format!("{:?}", repair.messages).contains("block_locked"));
    let blame = models::blame(&f.engine, &f.bank, &id(), None).await.expect("a blame");
    let locked: Vec<&str> =
        blame.blocks.iter().filter(|block| block.locked).map(|block| block.text.as_str()).collect();
    assert_eq!(locked, ["Ben helps."]);
}

#[tokio::test]
async fn a_rebuild_keeps_what_is_locked_byte_for_byte() {
    let script = Scripted::default();
    let (f, before) = page(&script, "full").await;
    lock(&f, LockKind::Section, "risks").await;
    lock(&f, LockKind::Block, &block_id(&before, "Ben")).await;
    finds(&script, rebuilt(), None);
    refresh(&f, true).await;
    let after = detail(&f).await;
    assert_eq!(after.model.version, 2, "{:?}", after.last_run);
    assert!(after.content.contains("Cora joined the team."), "{}", after.content);
    assert!(after.content.contains("\n\nBen helps.\n"), "{}", after.content);
    assert!(after.content.ends_with("# Risks\n\nThe door sticks.\n\nWood is short.\n"));
    assert!(!after.content.contains("Ada leads"));
    assert_eq!(after.locks.len(), 2);
    let blame = models::blame(&f.engine, &f.bank, &id(), None).await.expect("a blame");
    for block in blame.blocks.iter().filter(|block| block.locked) {
        assert!(block.by_person, "it stays the person's: {block:?}");
    }
}

#[tokio::test]
async fn what_is_taken_back_stays_in_a_locked_block() {
    let f = Fixture::new().await;
    let before = published(&f, "delta").await;
    lock(&f, LockKind::Block, &block_id(&before, "1200")).await;
    let fact = before.based_on.iter().find(|item| item.text.contains("1200")).expect("the fact");
    engine::memory::invalidate(&f.engine, &f.bank, &MemoryId(fact.id.clone()), None)
        .await
        .expect("invalidated");
    refresh(&f, false).await;
    assert!(detail(&f).await.content.contains("1200"));
}

#[tokio::test]
async fn a_person_is_not_bound_and_locks_follow_their_element() {
    let f = Fixture::new().await;
    let before = published(&f, "delta").await;
    let (hot, monday) = (block_id(&before, "1200"), block_id(&before, "Mondays"));
    lock(&f, LockKind::Block, &hot).await;
    lock(&f, LockKind::Block, &monday).await;
    let note = Some("  checked with Ada ".to_owned());
    let noted = models::set_lock(&f.engine, &f.bank, &id(), LockKind::Block, &hot, note)
        .await
        .expect("a lock");
    let of_hot = noted.locks.iter().find(|lock| lock.element_id == hot).expect("a lock");
    assert_eq!(of_hot.note.as_deref(), Some("checked with Ada"));
    let text = before.content.replace("1200 degrees", "1250 degrees");
    let edited = models::edit_content(&f.engine, &f.bank, &id(), text, 1).await.expect("an edit");
    assert!(edited.content.contains("1250"));
    assert_eq!(edited.locks.len(), 2, "an edited block is the same block");
    let cut: String = edited
        .content
        .split("\n\n")
        .filter(|block| !block.contains("Mondays"))
        .collect::<Vec<_>>()
        .join("\n\n");
    let cut = models::edit_content(&f.engine, &f.bank, &id(), cut, 2).await.expect("an edit");
    let left: Vec<&String> = cut.locks.iter().map(|lock| &lock.element_id).collect();
    assert_eq!(left, [&hot], "a lock goes with its element");
    let open = models::remove_lock(&f.engine, &f.bank, &id(), LockKind::Block, &hot).await;
    assert_eq!(open.expect("no lock").locks, []);
    lock(&f, LockKind::Block, &hot).await;
    let empty = models::clear(&f.engine, &f.bank, &id(), 3).await.expect("cleared");
    assert_eq!((empty.content.as_str(), empty.locks.len()), ("", 0));
    let back = models::revert(&f.engine, &f.bank, &id(), 1, false).await.expect("reverted");
    assert_eq!(back.content, before.content);
}

#[tokio::test]
async fn only_a_part_of_the_document_can_be_locked() {
    let f = Fixture::new().await;
    published(&f, "delta").await;
    let none = models::set_lock(&f.engine, &f.bank, &id(), LockKind::Section, "b0", None).await;
    let report = engine::report::Report::from(none.expect_err("no such section"));
    assert_eq!(
        (report.reason.as_str(), report.fields[0].field.as_str()),
        ("invalid_request", "element_id")
    );
}

#[tokio::test]
async fn a_lock_set_while_a_run_goes_on_turns_its_result_into_a_proposal() {
    let script = Scripted::default();
    let (f, before) = page(&script, "full").await;
    let hold = Hold::default();
    finds(&script, rebuilt(), Some(&hold));
    models::refresh(&f.engine, &f.bank, &id(), true).await.expect("a refresh");
    let run = f.run_queue();
    let person = async {
        hold.arrived().await;
        lock(&f, LockKind::Block, &block_id(&before, "Wood")).await;
        hold.release();
    };
    tokio::join!(run, person);
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "proposal_created", "{:?}", after.last_run);
    assert_eq!((after.content.as_str(), after.model.version), (PAGE, 1));
    let inbox = proposals::inbox(&f.engine, &f.bank).await.expect("an inbox");
    assert_eq!(inbox[0].reason, "document_changed");
}
