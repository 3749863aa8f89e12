//! Reviews: what a refresh proposes, what a person decides, and that exactly what was shown is what
//! is stored.

use crate::models::{detail, facts, id, kiln, outcome, refresh, reopen};
use domain::ProposalId;
use engine::models;
use engine::models::proposals;
use engine::view::model::{Author, ModelPatch, ModelState, ReviewMode, TimelineEntry};
use engine::view::proposal::{
    ApproveInput, ConflictChoice, DecideOps, Decision, DuringReview, PreviewOf, ProposalState,
    ProposalView, RejectDisposition, RejectInput, Turn,
};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use store::Moment;
use tests::Fixture;

/// A model under review with a published document and three new facts, proposed as a delta.
pub(crate) async fn proposed(f: &Fixture) -> ProposalView {
    facts(f).await;
    first_version(f).await;
    three_facts(f).await;
    refresh(f, false).await;
    waiting(f).await
}

/// The first proposal of a reviewed model, approved.
pub(crate) async fn first_version(f: &Fixture) {
    models::create(&f.engine, &f.bank, kiln(ReviewMode::Manual, "delta")).await.expect("a model");
    f.run_queue().await;
    let first = waiting(f).await;
    let all = accept_all(f, &first).await;
    approve(f, &all, sure()).await;
    assert_eq!(detail(f).await.model.version, 1);
}

/// Three facts that a delta adds.
pub(crate) async fn three_facts(f: &Fixture) {
    f.fact("Ben Okoro cleaned the kiln of the workshop.", &["Kiln", "Ben Okoro"], "2026-02-20")
        .await;
    f.fact("The kiln of the workshop got a new chimney.", &["Kiln"], "2026-02-21").await;
    f.fact(
        "Cora Lindt paid for wood for the kiln of the workshop.",
        &["Kiln", "Cora Lindt"],
        "2026-02-22",
    )
    .await;
}

pub(crate) async fn waiting(f: &Fixture) -> ProposalView {
    let inbox = proposals::inbox(&f.engine, &f.bank).await.expect("an inbox");
    assert_eq!(inbox.len(), 1, "{:?}", detail(f).await.last_run);
    get(f, &inbox[0].id).await
}

pub(crate) async fn get(f: &Fixture, id: &ProposalId) -> ProposalView {
    proposals::get(&f.engine, &f.bank, id).await.expect("the proposal")
}

pub(crate) async fn decide(
    f: &Fixture,
    view: &ProposalView,
    op_ids: Vec<String>,
    decision: Decision,
) -> ProposalView {
    let input = DecideOps::all(&op_ids, decision);
    proposals::decide(&f.engine, &f.bank, &view.row.id, input, Turn::at(view.state_seq))
        .await
        .expect("a decision")
}

pub(crate) async fn accept_all(f: &Fixture, view: &ProposalView) -> ProposalView {
    let all = view.ops.iter().map(|op| op.op_id.clone()).collect();
    decide(f, view, all, Decision::Accepted).await
}

pub(crate) async fn approve(f: &Fixture, view: &ProposalView, input: ApproveInput) -> u32 {
    proposals::approve(&f.engine, &f.bank, &view.row.id, input, Turn::at(view.state_seq))
        .await
        .expect("a version")
        .version
}

/// An explicit refresh that folds the decisions of a review in progress.
pub(crate) async fn refresh_folding(f: &Fixture, full: bool) {
    models::refresh_in_review(&f.engine, &f.bank, &id(), full, DuringReview::Fold)
        .await
        .expect("a refresh");
    f.run_queue().await;
}

pub(crate) fn sure() -> ApproveInput {
    let all = [
        "large_removal",
        "human_touch",
        "unsupported_claim",
        "empty_result",
        "query_changed",
        "scope_changed",
        "draft_outdated",
    ];
    ApproveInput { confirm: all.map(str::to_owned).to_vec(), ..ApproveInput::default() }
}

pub(crate) fn op_with<'a>(
    view: &'a ProposalView,
    words: &str,
) -> &'a engine::view::proposal::OpView {
    view.ops
        .iter()
        .find(|op| op.new_text.as_deref().is_some_and(|text| text.contains(words)))
        .unwrap_or_else(|| panic!("no change says {words}: {:?}", view.ops))
}

#[tokio::test]
async fn the_first_build_of_a_reviewed_model_changes_nothing_until_it_is_approved() {
    let f = Fixture::new().await;
    facts(&f).await;
    models::create(&f.engine, &f.bank, kiln(ReviewMode::Manual, "delta")).await.expect("a model");
    f.run_queue().await;
    let before = detail(&f).await;
    assert_eq!(outcome(&before), "proposal_created");
    assert_eq!((before.model.version, before.model.state), (0, ModelState::WaitingForReview));
    let told = usize::try_from(before.model.newer.expect("a number")).expect("a small one");
    assert_eq!(told, before.newer.len(), "one figure for what the document has not seen");
    assert!(told > 0);
    let view = waiting(&f).await;
    assert_eq!((view.row.state, view.row.origin.as_str()), (ProposalState::Open, "full"));
    assert!(view.extractive && !view.whole && !view.ops.is_empty());
    assert!(view.ops.iter().all(|op| !op.evidence.is_empty() && !op.unsupported));
    assert_eq!(view.row.triggered_by, ["create"]);
    let none = proposals::approve(&f.engine, &f.bank, &view.row.id, sure(), Turn::at(0)).await;
    assert_eq!(none.expect_err("nothing is accepted").reason(), "nothing_accepted");
    let view = accept_all(&f, &view).await;
    let shown = proposals::preview(&f.engine, &f.bank, &view.row.id, PreviewOf::Accepted)
        .await
        .expect("a preview");
    assert_eq!(approve(&f, &view, sure()).await, 1);
    let after = detail(&f).await;
    assert_eq!(after.content, shown.content, "what was shown is what is stored");
    assert_eq!(after.model.state, ModelState::Current);
    assert_eq!(after.based_on.len(), 4);
    assert!(after.blame.iter().all(|blame| blame.proposal.is_some() && blame.operation.is_some()));
}

/// FC-10: what was approved is what is stored.
#[tokio::test]
async fn fc_10_two_of_three_changes_are_stored_as_they_were_shown() {
    let f = Fixture::new().await;
    let view = proposed(&f).await;
    assert_eq!((view.row.operations, view.row.facts_used), (3, 3), "{:?}", view.ops);
    let (ben, cora) = (op_with(&view, "Ben Okoro"), op_with(&view, "Cora Lindt"));
    let chimney = op_with(&view, "chimney");
    let taken = vec![ben.op_id.clone(), chimney.op_id.clone()];
    let refused = cora.op_id.clone();
    let cora_fact = cora.evidence[0].id.clone();
    let view = decide(&f, &view, taken, Decision::Accepted).await;
    assert_eq!(view.row.state, ProposalState::InReview);
    let view = decide(&f, &view, vec![refused], Decision::Rejected).await;
    let shown = proposals::preview(&f.engine, &f.bank, &view.row.id, PreviewOf::Accepted)
        .await
        .expect("a preview");
    assert!(!shown.content.contains("Cora") && shown.content.contains("chimney"));
    let stale = proposals::approve(&f.engine, &f.bank, &view.row.id, sure(), Turn::at(0)).await;
    assert_eq!(stale.expect_err("an older state").reason(), "state_conflict");
    let input = ApproveInput { note: Some("without the wood".to_owned()), ..sure() };
    assert_eq!(approve(&f, &view, input).await, 2);
    let after = detail(&f).await;
    assert_eq!(after.content, shown.content);
    assert!(after.based_on.iter().all(|item| item.id != cora_fact), "its facts are not cited");
    assert_eq!(after.model.state, ModelState::Current);
    let closed = get(&f, &view.row.id).await;
    assert_eq!(
        (closed.row.state, closed.published_version),
        (ProposalState::PartiallyApproved, Some(2))
    );
    let timeline = models::timeline(&f.engine, &f.bank, &id()).await.expect("a timeline");
    let TimelineEntry::Version { cause, actor, note, decisions, .. } = &timeline[0] else {
        panic!("{timeline:?}");
    };
    assert_eq!((cause.as_str(), actor.as_str()), ("proposal", "person"));
    assert_eq!(note.as_deref(), Some("without the wood"));
    let counts = decisions.as_ref().expect("decisions");
    assert_eq!((counts.accepted, counts.rejected, counts.undecided), (2, 1, 0));
    refresh(&f, false).await;
    assert_eq!(outcome(&detail(&f).await), "content_preserved_no_new_facts");
}

#[tokio::test]
async fn a_change_that_is_put_off_comes_back_and_one_that_was_edited_is_the_persons() {
    let f = Fixture::new().await;
    let view = proposed(&f).await;
    let (ben, cora) =
        (op_with(&view, "Ben Okoro").op_id.clone(), op_with(&view, "Cora").op_id.clone());
    let edited = proposals::edit_op(
        &f.engine,
        &f.bank,
        &view.row.id,
        &ben,
        Some("Ben swept the kiln.".to_owned()),
        Turn::at(view.state_seq),
    )
    .await
    .expect("an edit");
    let op = op_with(&edited, "Ben swept");
    assert_eq!(op.decision, Decision::Accepted);
    assert!(op.proposed_text.as_deref().is_some_and(|text| text.contains("Ben Okoro cleaned")));
    let heading = proposals::edit_op(
        &f.engine,
        &f.bank,
        &view.row.id,
        &ben,
        Some("# A heading".to_owned()),
        Turn::at(edited.state_seq),
    )
    .await;
    assert_eq!(heading.expect_err("no heading").reason(), "invalid_request");
    let view = decide(&f, &edited, vec![cora], Decision::Deferred).await;
    approve(&f, &view, sure()).await;
    let after = detail(&f).await;
    assert!(after.content.contains("Ben swept the kiln.") && !after.content.contains("cleaned"));
    assert!(after.blame.iter().any(|blame| blame.author == Author::Person));
    // What nobody decided and what was put off both come back.
    assert_eq!(after.model.refresh_reasons, ["carry_over"]);
    refresh(&f, false).await;
    let again = waiting(&f).await;
    op_with(&again, "Cora Lindt");
    op_with(&again, "chimney");
}

#[tokio::test]
async fn a_rejection_with_a_note_reads_the_facts_again_and_one_without_does_not() {
    let f = Fixture::new().await;
    let view = proposed(&f).await;
    let input = RejectInput { note: Some("Only names.".to_owned()), ..RejectInput::default() };
    let closed =
        proposals::reject(&f.engine, &f.bank, &view.row.id, input, Turn::at(view.state_seq))
            .await
            .expect("a rejection");
    assert_eq!(closed.row.state, ProposalState::Rejected);
    assert_eq!(closed.resolution_note.as_deref(), Some("Only names."));
    assert_eq!(detail(&f).await.model.state, ModelState::Behind, "the facts are still new");
    refresh(&f, false).await;
    let again = waiting(&f).await;
    assert_eq!(again.row.operations, 3);
    // Nothing new speaks for them, so they stand refused as before.
    assert!(again.ops.iter().all(|op| op.decision == Decision::Rejected));
    let input =
        RejectInput { disposition: Some(RejectDisposition::Dismiss), ..RejectInput::default() };
    proposals::reject(&f.engine, &f.bank, &again.row.id, input, Turn::at(again.state_seq))
        .await
        .expect("a dismissal");
    let after = detail(&f).await;
    assert_eq!((after.model.version, after.model.state), (1, ModelState::Current));
    refresh(&f, false).await;
    assert_eq!(outcome(&detail(&f).await), "content_preserved_no_new_facts");
    let timeline = models::timeline(&f.engine, &f.bank, &id()).await.expect("a timeline");
    let rejected = timeline.iter().filter(|entry| matches!(entry, TimelineEntry::Proposal { .. }));
    assert_eq!(rejected.count(), 2);
}

#[tokio::test]
async fn a_proposal_follows_the_document_and_conflicts_only_where_texts_meet() {
    let f = Fixture::new().await;
    let view = proposed(&f).await;
    let published = detail(&f).await;
    let edited = published.content.replace("1200 degrees", "1250 degrees");
    models::edit_content(&f.engine, &f.bank, &id(), edited, 1).await.expect("an edit");
    let moved = get(&f, &view.row.id).await;
    assert_eq!((moved.base_version, moved.row.state), (2, ProposalState::Open));
    let all = accept_all(&f, &moved).await;
    approve(&f, &all, sure()).await;
    let after = detail(&f).await;
    assert!(after.content.contains("1250") && after.content.contains("Ben Okoro"));
    // A section that goes leaves what was meant for it without a place.
    f.fact("The kiln of the workshop was painted red.", &["Kiln"], "2026-02-25").await;
    refresh(&f, false).await;
    let view = waiting(&f).await;
    models::edit_content(&f.engine, &f.bank, &id(), "# Other\n\nText.\n".to_owned(), 3)
        .await
        .expect("an edit");
    let stuck = get(&f, &view.row.id).await;
    assert_eq!(stuck.row.state, ProposalState::Conflicted);
    let op = op_with(&stuck, "painted red");
    assert_eq!(op.conflict.as_ref().map(|conflict| conflict.kind.as_str()), Some("missing"));
    let refused =
        proposals::approve(&f.engine, &f.bank, &stuck.row.id, sure(), Turn::at(stuck.state_seq))
            .await;
    assert_eq!(refused.expect_err("in conflict").reason(), "proposal_conflicted");
    let choice = ConflictChoice::TakeProposed;
    let solved = proposals::resolve_conflict(
        &f.engine,
        &f.bank,
        &stuck.row.id,
        &op.op_id,
        choice,
        Turn::at(stuck.state_seq),
    )
    .await
    .expect("a way out");
    assert_eq!(solved.row.state, ProposalState::InReview);
    approve(&f, &solved, sure()).await;
    assert!(detail(&f).await.content.contains("painted red"));
}

#[tokio::test]
async fn a_newer_refresh_takes_the_place_of_a_proposal_and_keeps_what_was_said() {
    let f = Fixture::new().await;
    let view = proposed(&f).await;
    let ben = op_with(&view, "Ben Okoro").op_id.clone();
    let view = decide(&f, &view, vec![ben], Decision::Accepted).await;
    f.fact("The kiln of the workshop was painted red.", &["Kiln"], "2026-02-25").await;
    refresh_folding(&f, false).await;
    let newer = waiting(&f).await;
    assert_ne!(newer.row.id, view.row.id);
    let old = get(&f, &view.row.id).await;
    assert_eq!(old.row.state, ProposalState::Superseded);
    assert_eq!(old.superseded_by.as_ref(), Some(&newer.row.id));
    let carried = op_with(&newer, "Ben Okoro");
    assert_eq!(
        (carried.decision, carried.marker.as_deref()),
        (Decision::Accepted, Some("carried"))
    );
    op_with(&newer, "painted red");
}

#[tokio::test]
async fn warnings_must_be_confirmed_and_a_draft_is_published_as_written() {
    let f = Fixture::new().await;
    let view = proposed(&f).await;
    let candidate = proposals::preview(&f.engine, &f.bank, &view.row.id, PreviewOf::Everything)
        .await
        .expect("a preview");
    let draft = candidate.content.replace("got a new chimney", "got two new chimneys");
    let input = ApproveInput { draft: Some(draft.clone()), ..sure() };
    approve(&f, &view, input).await;
    let after = detail(&f).await;
    assert_eq!(after.content, draft);
    assert_eq!(after.blame.iter().filter(|blame| blame.author == Author::Person).count(), 1);
    // A rebuild that drops the person's words needs a second look.
    models::edit_content(&f.engine, &f.bank, &id(), format!("{draft}\nMine alone.\n"), 2)
        .await
        .expect("an edit");
    refresh(&f, true).await;
    let view = waiting(&f).await;
    let view = accept_all(&f, &view).await;
    let bare = proposals::approve(
        &f.engine,
        &f.bank,
        &view.row.id,
        ApproveInput::default(),
        Turn::at(view.state_seq),
    )
    .await;
    assert_eq!(bare.expect_err("not confirmed").reason(), "confirmation_required");
    approve(&f, &view, sure()).await;
    assert!(!detail(&f).await.content.contains("Mine alone."));
}

/// Every commit of an approval, failing before it and stopped after it.
#[tokio::test]
async fn an_approval_killed_at_its_commit_is_whole_or_not_at_all() {
    for moment in [Moment::BeforeCommit, Moment::AfterCommit] {
        let f = Fixture::new().await;
        let view = proposed(&f).await;
        let view = accept_all(&f, &view).await;
        let before = detail(&f).await;
        let commits = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&commits);
        f.engine.store().set_commit_hook(move |point| {
            if point.moment == moment {
                count.fetch_add(1, Ordering::SeqCst);
                return Err(store::Error::Closed);
            }
            Ok(())
        });
        let result =
            proposals::approve(&f.engine, &f.bank, &view.row.id, sure(), Turn::at(view.state_seq))
                .await;
        assert_eq!(commits.load(Ordering::SeqCst), 1, "one transaction: {result:?}");
        let Fixture { folder, clock, engine, bank } = f;
        engine.store().set_commit_hook(|_| Ok(()));
        drop(engine);
        let engine = reopen(folder.path(), &clock).await;
        let found = models::get(&engine, &bank, &id()).await.expect("the model");
        let stored = proposals::get(&engine, &bank, &view.row.id).await.expect("the proposal");
        if moment == Moment::BeforeCommit {
            assert_eq!((&found.content, found.model.version), (&before.content, 1));
            assert_eq!(
                (stored.row.state, stored.published_version),
                (ProposalState::InReview, None)
            );
            proposals::approve(&engine, &bank, &view.row.id, sure(), Turn::at(stored.state_seq))
                .await
                .expect("nothing was lost");
        } else {
            assert_eq!(found.model.version, 2);
            assert!(found.content.contains("Ben Okoro"));
            assert_eq!(
                (stored.row.state, stored.published_version),
                (ProposalState::Approved, Some(2))
            );
            assert_eq!(found.blame.len(), found.structure.blocks().count());
        }
    }
}

/// A person's words change what a change says, never what kind of change it is or where it stands.
#[tokio::test]
async fn an_edited_change_keeps_its_kind_and_its_place() {
    let (f, _, view) = crate::proposals_rebase::page(|_| {
        json!([
            { "op": "add_section", "heading": "Tools", "level": 1, "after_section_id": "risks",
              "blocks": ["A saw."], "evidence": ["f1"] },
            { "op": "append_block", "section_id": "tools", "text": "A plane.", "evidence": ["f2"] },
        ])
    })
    .await;
    let mut view = view;
    for (op, text) in [("op1", Some("A jack plane.")), ("op0", Some("A rip saw.")), ("op1", None)] {
        let turn = Turn::at(view.state_seq);
        let text = text.map(str::to_owned);
        view = proposals::edit_op(&f.engine, &f.bank, &view.row.id, op, text, turn)
            .await
            .unwrap_or_else(|error| panic!("{op}: {error:?}"));
        let kinds: Vec<&str> = view.ops.iter().map(|op| op.kind.as_str()).collect();
        assert_eq!(kinds, ["add_section", "append_block"], "{op}");
        let hangs = view.ops.iter().find(|op| op.op_id == "op1").expect("the second");
        assert_eq!((hangs.requires.as_slice(), &hangs.conflict), (&["op0".to_owned()][..], &None));
        let shown = proposals::preview(&f.engine, &f.bank, &view.row.id, PreviewOf::Accepted)
            .await
            .expect("a preview");
        assert!(shown.content.contains("# Tools\n\nA "), "{op}: {}", shown.content);
    }
    approve(&f, &view, sure()).await;
    let after = detail(&f).await.content;
    assert!(after.contains("# Tools\n\nA rip saw.\n\nA plane.\n"), "{after}");
}

/// A rebuilt document that differs in blank lines alone has no operation that could be accepted.
#[tokio::test]
async fn a_rebuild_that_moves_blank_lines_alone_is_offered_as_a_whole() {
    let f = Fixture::new().await;
    facts(&f).await;
    models::create(&f.engine, &f.bank, kiln(ReviewMode::Auto, "full")).await.expect("a model");
    f.run_queue().await;
    let built = detail(&f).await;
    let spaced = built.content.replacen("\n\n", "\n\n\n\n", 1);
    models::edit_content(&f.engine, &f.bank, &id(), spaced, 1).await.expect("an edit");
    let patch = ModelPatch { review: Some(ReviewMode::Manual), ..ModelPatch::default() };
    models::update(&f.engine, &f.bank, &id(), patch).await.expect("an update");
    refresh(&f, true).await;
    let view = waiting(&f).await;
    assert!(view.whole && view.ops.is_empty(), "{view:?}");
    let turn = Turn::at(view.state_seq);
    proposals::approve(&f.engine, &f.bank, &view.row.id, sure(), turn).await.expect("approved");
    let after = detail(&f).await;
    assert_eq!((after.model.version, after.content), (3, built.content));
    assert_eq!(after.based_on.len(), built.based_on.len());
    assert!(after.blame.iter().all(|block| !block.sources.is_empty()), "{:?}", after.blame);
    assert!(after.model.refresh_reasons.is_empty(), "{:?}", after.model.refresh_reasons);
}
