//! Blame: what wrote each block and what it rests on, for the published document and for every
//! version that is kept, whatever made it.

use crate::models::{detail, facts, id, kiln, published, refresh};
use domain::MemoryId;
use engine::models::{self, proposals};
use engine::view::blame::{BlameBlock, ModelBlame};
use engine::view::model::{Author, NewModel, ReviewMode};
use engine::view::proposal::{ApproveInput, ApproveWhat, DecideOps, Decision, Turn};
use tests::Fixture;

async fn blame(f: &Fixture, version: Option<u32>) -> ModelBlame {
    models::blame(&f.engine, &f.bank, &id(), version).await.expect("a blame")
}

fn block<'a>(blame: &'a ModelBlame, words: &str) -> &'a BlameBlock {
    blame
        .blocks
        .iter()
        .find(|block| block.text.contains(words))
        .unwrap_or_else(|| panic!("no block says {words}: {blame:?}"))
}

#[tokio::test]
async fn a_refresh_is_blamed_for_what_it_wrote_and_earlier_versions_keep_theirs() {
    let f = Fixture::new().await;
    let first = published(&f, "delta").await;
    f.clock.advance_ms(60_000);
    f.fact("Ben Okoro cleaned the kiln of the workshop.", &["Kiln", "Ben Okoro"], "2026-02-20")
        .await;
    let operation = refresh(&f, false).await;
    let now = blame(&f, None).await;
    assert_eq!((now.version, now.published), (2, true));
    let new = block(&now, "Ben Okoro");
    let written = new.written.as_ref().expect("it is known");
    assert_eq!((written.version, written.author), (2, Author::Run));
    assert_eq!(written.operation.as_ref(), Some(&operation));
    assert_eq!(
        (written.cause.as_deref(), written.actor.as_deref()),
        (Some("refresh_delta"), Some("manual_refresh"))
    );
    let change = written.change.as_ref().expect("the edit that wrote it");
    let kind = change.kind.as_deref();
    assert!(matches!(kind, Some("append_block" | "insert_block" | "add_section")), "{change:?}");
    assert_eq!(new.facts.len(), 1);
    assert!(new.facts[0].text.contains("cleaned") && !new.facts[0].gone && !new.by_person);
    let old = block(&now, "1200");
    assert_eq!(old.written.as_ref().map(|written| written.version), Some(1));
    assert_eq!(old.written.as_ref().and_then(|w| w.cause.as_deref()), Some("refresh_full"));
    let before = blame(&f, Some(1)).await;
    assert_eq!((before.version, before.published), (1, false));
    assert_eq!(before.blocks.len(), first.structure.blocks().count());
    assert_eq!(block(&before, "1200").facts, old.facts);
    assert!(before.blocks.iter().all(|block| !block.text.contains("Ben")));
    let none = models::blame(&f.engine, &f.bank, &id(), Some(9)).await;
    assert_eq!(none.expect_err("never written").reason(), "version_not_found");
}

#[tokio::test]
async fn a_revert_brings_blame_back_as_it_was() {
    let f = Fixture::new().await;
    let first = published(&f, "delta").await;
    let built = blame(&f, None).await;
    let text = first.content.replace("1200 degrees", "1250 degrees");
    models::edit_content(&f.engine, &f.bank, &id(), text, 1).await.expect("an edit");
    let edited = blame(&f, None).await;
    let mine = block(&edited, "1250");
    assert!(mine.by_person && mine.facts.is_empty());
    let written = mine.written.as_ref().expect("it is known");
    assert_eq!((written.version, written.author), (2, Author::Person));
    assert_eq!(written.cause.as_deref(), Some("edit"));
    assert!(!block(&edited, "Mondays").by_person);
    models::clear(&f.engine, &f.bank, &id(), 2).await.expect("cleared");
    assert_eq!(blame(&f, None).await.blocks, []);
    models::revert(&f.engine, &f.bank, &id(), 2, false).await.expect("reverted");
    assert_eq!(blame(&f, None).await.blocks, edited.blocks, "as they were, a person's too");
    models::revert(&f.engine, &f.bank, &id(), 1, false).await.expect("reverted");
    assert_eq!(blame(&f, None).await.blocks, built.blocks);
    assert_eq!(blame(&f, Some(4)).await.blocks, edited.blocks, "and each version keeps its own");
}

#[tokio::test]
async fn an_approved_change_is_blamed_with_its_proposal_and_its_number() {
    let f = Fixture::new().await;
    facts(&f).await;
    models::create(&f.engine, &f.bank, kiln(ReviewMode::Manual, "delta")).await.expect("a model");
    f.run_queue().await;
    let row = proposals::inbox(&f.engine, &f.bank).await.expect("an inbox").remove(0);
    let view = proposals::get(&f.engine, &f.bank, &row.id).await.expect("a proposal");
    let op_ids: Vec<String> = view.ops.iter().map(|op| op.op_id.clone()).collect();
    let input = DecideOps::all(&op_ids, Decision::Accepted);
    let view = proposals::decide(&f.engine, &f.bank, &row.id, input, Turn::at(view.state_seq))
        .await
        .expect("a decision");
    let shown = proposals::preview(
        &f.engine,
        &f.bank,
        &row.id,
        engine::view::proposal::PreviewOf::Accepted,
    )
    .await
    .expect("a preview");
    let input = ApproveInput {
        draft: Some(shown.content.replace("Mondays", "Mondays and Fridays")),
        what: ApproveWhat::Draft,
        ..crate::proposals::sure()
    };
    proposals::approve(&f.engine, &f.bank, &row.id, input, Turn::at(view.state_seq))
        .await
        .expect("a version");
    let now = blame(&f, None).await;
    for block in &now.blocks {
        let written = block.written.as_ref().expect("it is known");
        assert_eq!(written.actor.as_deref(), Some("person"));
        assert_eq!(written.cause.as_deref(), Some("proposal"));
        let proposal = written.proposal.as_ref().expect("a proposal");
        assert_eq!((&proposal.id, proposal.number), (&row.id, 1));
        assert!(!block.facts.is_empty(), "{block:?}");
    }
    let untouched = block(&now, "1200").written.clone().expect("it is known");
    let change = untouched.change.expect("the change");
    assert!(change.number.is_some() && change.kind.is_some(), "{change:?}");
    let reworded = block(&now, "Fridays");
    assert!(reworded.by_person && !block(&now, "1200").by_person);
    assert_eq!(reworded.written.as_ref().map(|written| written.author), Some(Author::Person));
}

#[tokio::test]
async fn a_fact_that_is_gone_is_still_told_where_it_was_used() {
    let f = Fixture::new().await;
    let first = published(&f, "delta").await;
    let cited = first.based_on.iter().find(|item| item.text.contains("1200")).expect("the fact");
    let memory = MemoryId(cited.id.clone());
    engine::memory::delete(&f.engine, &f.bank, &memory).await.expect("deleted");
    refresh(&f, false).await;
    assert!(!detail(&f).await.content.contains("1200"));
    let before = blame(&f, Some(1)).await;
    let facts = &block(&before, "1200").facts;
    assert_eq!((facts.len(), facts[0].gone), (1, true));
    assert!(facts[0].text.contains("1200"), "as it was read: {facts:?}");
}

#[tokio::test]
async fn a_document_that_came_with_the_model_is_a_persons() {
    let f = Fixture::new().await;
    let text = "# Kiln\n\nThe kiln stands in the yard.\n";
    let new = NewModel { content: Some(text.to_owned()), ..kiln(ReviewMode::Auto, "delta") };
    models::create(&f.engine, &f.bank, new).await.expect("a model");
    let written = blame(&f, None).await;
    let block = block(&written, "yard");
    assert!(block.by_person && !block.locked);
    assert_eq!(block.section_id, "kiln");
    let written = block.written.as_ref().expect("it is known");
    assert_eq!((written.version, written.cause.as_deref()), (1, Some("created")));
}
