//! Several refreshes of one model: a newer proposal over an older one, what is carried over, what
//! waits for a person, rebuilt documents, and how long ended proposals are kept.

use crate::models::{detail, facts, id, outcome, refresh};
use crate::proposals::{
    accept_all, approve, decide, first_version, get, op_with, proposed, refresh_folding, sure,
    three_facts, waiting,
};
use crate::proposals_rebase::{finds, page};
use domain::OperationId;
use engine::models;
use engine::models::proposals;
use engine::view::model::{ModelPatch, ReviewMode, TimelineEntry};
use engine::view::operation::OperationStatus;
use engine::view::proposal::{
    Decision, DuringReview, PreviewOf, ProposalState, RejectDisposition, RejectInput, Turn,
};
use llm::scripted::Step;
use serde_json::json;
use tests::Fixture;

async fn red(f: &Fixture) {
    f.fact("The kiln of the workshop was painted red.", &["Kiln"], "2026-02-25").await;
}

async fn operation(f: &Fixture, id: &OperationId) -> engine::view::operation::OperationRow {
    let all = engine::ops::list(&f.engine, &f.bank).await.expect("operations");
    all.into_iter().find(|op| op.id == *id).expect("the operation")
}

#[tokio::test]
async fn a_newer_refresh_over_an_open_proposal_covers_it_and_takes_its_place() {
    let f = Fixture::new().await;
    let view = proposed(&f).await;
    red(&f).await;
    refresh(&f, false).await;
    let newer = waiting(&f).await;
    assert_eq!((newer.row.state, newer.row.operations), (ProposalState::Open, 4));
    for words in ["Ben Okoro", "Cora Lindt", "chimney", "painted red"] {
        op_with(&newer, words);
    }
    let old = get(&f, &view.row.id).await;
    assert_eq!(old.superseded_by.as_ref(), Some(&newer.row.id));
    let supersedes: Vec<u32> = newer.supersedes.iter().map(|older| older.number).collect();
    assert_eq!(supersedes, [old.row.number]);
    // Nothing of the old one can be decided, but it can be copied as an edit.
    let late = proposals::reject(
        &f.engine,
        &f.bank,
        &old.row.id,
        RejectInput::default(),
        Turn::at(old.state_seq),
    )
    .await;
    assert_eq!(late.expect_err("closed").reason(), "proposal_closed");
    let copy = proposals::as_edit(&f.engine, &f.bank, &old.row.id).await.expect("a copy");
    assert_eq!((copy.version, copy.left_out), (1, 0));
    assert!(copy.content.contains("chimney") && !copy.content.contains("painted red"));
    models::edit_content(&f.engine, &f.bank, &id(), copy.content.clone(), copy.version)
        .await
        .expect("an edit");
    assert_eq!(detail(&f).await.content, copy.content);
}

/// An explicit refresh during a review asks; it waits, or folds the decisions.
#[tokio::test]
async fn during_a_review_a_refresh_waits_or_folds() {
    let f = Fixture::new().await;
    let view = proposed(&f).await;
    let ben = op_with(&view, "Ben Okoro").op_id.clone();
    let view = decide(&f, &view, vec![ben], Decision::Accepted).await;
    red(&f).await;
    assert_eq!(get(&f, &view.row.id).await.banners, ["newer_memories"]);
    let asked = models::refresh(&f.engine, &f.bank, &id(), false).await;
    assert_eq!(asked.expect_err("it asks").reason(), "review_in_progress");
    let waits = models::refresh_in_review(&f.engine, &f.bank, &id(), false, DuringReview::Wait)
        .await
        .expect("queued");
    f.run_queue().await;
    let held = operation(&f, &waits.operation).await;
    assert_eq!(
        (held.status, held.held_reason.as_deref()),
        (OperationStatus::Pending, Some("review_in_progress"))
    );
    assert_eq!(waiting(&f).await.row.id, view.row.id, "nothing ran");
    approve(&f, &view, sure()).await;
    assert_eq!(operation(&f, &waits.operation).await.held_reason, None, "let go");
    f.run_queue().await;
    let ran = operation(&f, &waits.operation).await;
    assert_eq!(ran.status, OperationStatus::Completed);
    op_with(&waiting(&f).await, "painted red");
    // The one that was held for a review becomes the one that folds.
    let view = waiting(&f).await;
    let op = view.ops[0].op_id.clone();
    let view = decide(&f, &view, vec![op], Decision::Deferred).await;
    f.fact("The kiln of the workshop got a bell.", &["Kiln"], "2026-02-26").await;
    models::refresh_in_review(&f.engine, &f.bank, &id(), false, DuringReview::Wait)
        .await
        .expect("queued");
    refresh_folding(&f, false).await;
    let newer = waiting(&f).await;
    assert_eq!((newer.row.number, newer.row.state), (view.row.number + 1, ProposalState::InReview));
    assert_eq!(newer.row.decisions.deferred, 1);
}

#[tokio::test]
async fn an_edit_and_a_note_move_with_the_decision() {
    let f = Fixture::new().await;
    let view = proposed(&f).await;
    let ben = op_with(&view, "Ben Okoro").op_id.clone();
    let text = Some("Ben swept the kiln.".to_owned());
    let turn = Turn::at(view.state_seq);
    let view = proposals::edit_op(&f.engine, &f.bank, &view.row.id, &ben, text, turn)
        .await
        .expect("an edit");
    let note = Some("He told me.".to_owned());
    let turn = Turn::at(view.state_seq);
    proposals::set_note(&f.engine, &f.bank, &view.row.id, &ben, note, turn).await.expect("a note");
    red(&f).await;
    refresh_folding(&f, false).await;
    let newer = waiting(&f).await;
    let op = op_with(&newer, "Ben swept");
    assert_eq!((op.decision, op.note.as_deref()), (Decision::Accepted, Some("He told me.")));
    assert!(op.proposed_text.as_deref().is_some_and(|text| text.contains("Ben Okoro cleaned")));
    let folded = newer.events.first().expect("an event");
    assert_eq!((folded.kind.as_str(), folded.operations.len()), ("folded", 1));
    approve(&f, &newer, sure()).await;
    let after = detail(&f).await;
    assert!(after.content.contains("Ben swept the kiln.") && !after.content.contains("cleaned"));
}

/// A text of the person's own is not lost with the proposal that it was written for.
#[tokio::test]
async fn a_saved_draft_moves_to_the_proposal_that_takes_the_place() {
    let f = Fixture::new().await;
    let view = proposed(&f).await;
    let shown = proposals::preview(&f.engine, &f.bank, &view.row.id, PreviewOf::Everything)
        .await
        .expect("a preview");
    let text = shown.content.replace("1200 degrees", "1250 degrees");
    let turn = Turn::at(view.state_seq);
    proposals::edit_draft(&f.engine, &f.bank, &view.row.id, Some(text.clone()), turn)
        .await
        .expect("a draft");
    red(&f).await;
    refresh_folding(&f, false).await;
    let newer = waiting(&f).await;
    assert_eq!((newer.row.number, newer.row.state), (view.row.number + 1, ProposalState::InReview));
    let draft = newer.draft.as_ref().expect("the draft");
    assert_eq!(draft.content, text);
    assert!(!draft.fits, "it was written without the newest change");
    let shown = proposals::preview(&f.engine, &f.bank, &newer.row.id, PreviewOf::Draft)
        .await
        .expect("a preview");
    assert!(shown.confirm.contains(&"draft_outdated".to_owned()), "{:?}", shown.confirm);
}

/// Another text for the same target is decided anew; a refusal comes back unless facts speak for it.
#[tokio::test]
async fn reworded_changes_are_marked_and_refused_ones_stay_refused() {
    let lead = |now: &domain::document::Document| now.blocks().next().expect("a block").id.clone();
    let (f, script, view) = page(|now| {
        json!([
            { "op": "replace_block", "section_id": "team", "block_id": lead(now),
              "text": "Ada and Cora lead.", "evidence": ["f1"] },
            { "op": "append_block", "section_id": "risks", "text": "Nails are short.",
              "evidence": ["f2"] },
        ])
    })
    .await;
    let view = decide(&f, &view, vec!["op0".to_owned()], Decision::Accepted).await;
    let note = Some("Both?".to_owned());
    let turn = Turn::at(view.state_seq);
    let view = proposals::set_note(&f.engine, &f.bank, &view.row.id, "op0", note, turn)
        .await
        .expect("a note");
    decide(&f, &view, vec!["op1".to_owned()], Decision::Rejected).await;
    let now = detail(&f).await.structure;
    for (evidence, decision, marker) in [
        (json!(["f2"]), Decision::Rejected, Some("reworded")),
        // The person has seen these words by now.
        (json!(["f1", "f2"]), Decision::Undecided, None),
    ] {
        finds(&script);
        let ops = json!({ "operations": [
            { "op": "replace_block", "section_id": "team", "block_id": lead(&now),
              "text": "Cora leads.", "evidence": ["f1"] },
            { "op": "append_block", "section_id": "risks", "text": "Nails  are\nshort.",
              "evidence": evidence },
        ]});
        script.push_for("delta_ops", Step::json(&ops));
        refresh_folding(&f, false).await;
        let newer = waiting(&f).await;
        let lead = op_with(&newer, "Cora leads");
        assert_eq!(
            (lead.decision, lead.marker.as_deref(), lead.note.as_deref()),
            (Decision::Undecided, marker, Some("Both?"))
        );
        assert_eq!(op_with(&newer, "Nails").decision, decision);
    }
}

/// What was refused in a proposal that was approved in part is still refused when a rebuild brings
/// it back.
#[tokio::test]
async fn a_rebuild_does_not_bring_a_refused_change_back_as_new() {
    let f = Fixture::new().await;
    let view = proposed(&f).await;
    let cora = op_with(&view, "Cora Lindt").op_id.clone();
    let others: Vec<String> =
        view.ops.iter().map(|op| op.op_id.clone()).filter(|op| *op != cora).collect();
    let view = decide(&f, &view, others, Decision::Accepted).await;
    let view = decide(&f, &view, vec![cora], Decision::Rejected).await;
    approve(&f, &view, sure()).await;
    refresh(&f, true).await;
    let rebuilt = detail(&f).await;
    assert_eq!(outcome(&rebuilt), "proposal_created", "{:?}", rebuilt.last_run);
    let view = waiting(&f).await;
    let again = op_with(&view, "Cora Lindt");
    assert_eq!((again.decision, again.marker.as_deref()), (Decision::Rejected, Some("carried")));
    assert_eq!(view.row.state, ProposalState::Open, "nobody has spoken about this one");
    // Nobody's review stands in the way of a model that publishes by itself.
    let auto = ModelPatch { review: Some(ReviewMode::Auto), ..ModelPatch::default() };
    models::update(&f.engine, &f.bank, &id(), auto).await.expect("a change");
    red(&f).await;
    refresh(&f, false).await;
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "content_written", "{:?}", after.last_run);
}

/// A model that is switched to publish by itself: a proposal nobody touched is covered by the next
/// run; one that a person has begun to decide is folded, never passed over.
#[tokio::test]
async fn a_model_switched_to_auto_covers_or_folds_what_waits() {
    for begun in [false, true] {
        let f = Fixture::new().await;
        let mut view = proposed(&f).await;
        if begun {
            let cora = op_with(&view, "Cora Lindt").op_id.clone();
            view = decide(&f, &view, vec![cora], Decision::Rejected).await;
        }
        let patch = ModelPatch { review: Some(ReviewMode::Auto), ..ModelPatch::default() };
        models::update(&f.engine, &f.bank, &id(), patch).await.expect("a change");
        assert_eq!(waiting(&f).await.row.id, view.row.id, "it stays open");
        red(&f).await;
        if begun {
            refresh_folding(&f, false).await;
            let newer = waiting(&f).await;
            assert_eq!(op_with(&newer, "Cora Lindt").decision, Decision::Rejected);
            assert_eq!(detail(&f).await.model.version, 1);
        } else {
            refresh(&f, false).await;
            let after = detail(&f).await;
            assert_eq!((outcome(&after), after.model.version), ("content_written", 2));
            assert!(after.content.contains("Cora") && after.content.contains("painted red"));
            let old = get(&f, &view.row.id).await;
            assert_eq!(old.row.state, ProposalState::Superseded);
            assert!(proposals::inbox(&f.engine, &f.bank).await.expect("an inbox").is_empty());
        }
    }
}

fn rebuilt(sections: &serde_json::Value) -> Step {
    let document = json!({ "sections": sections });
    Step::call("done", json!({ "document": document, "memory_ids": ["f1", "f2"] }))
}

/// A rebuilt document is decided change by change: what goes, what moves, what comes.
#[tokio::test]
async fn a_rebuild_is_decided_in_parts_and_halves_of_a_move_belong_together() {
    let (f, script, view) = page(|_| {
        json!([{ "op": "append_block", "section_id": "team", "text": "Cora joined.",
                 "evidence": ["f1", "f2"] }])
    })
    .await;
    let args = |query: &str| json!({ "reason": "to look", "query": query });
    script.push(Step::call("search_observations", args("kiln")));
    script.push(Step::call("recall", args("kiln team")));
    script.push(rebuilt(&json!([
        { "heading": "Team", "level": 1, "blocks": [
            { "text": "Ada leads.", "evidence": ["f1"] },
            { "text": "Cora joined in February.", "evidence": ["f1"] },
        ] },
        { "heading": "Risks", "level": 1, "blocks": [
            { "text": "The door sticks.", "evidence": ["f2"] },
            { "text": "Ben helps.", "evidence": ["f2"] },
        ] },
        { "heading": "Tools", "level": 1, "blocks": [{ "text": "A saw.", "evidence": ["f2"] }] },
    ])));
    refresh(&f, true).await;
    let rebuilt = waiting(&f).await;
    assert_eq!((rebuilt.row.origin.as_str(), rebuilt.whole), ("full", false));
    assert_eq!(get(&f, &view.row.id).await.row.state, ProposalState::Superseded);
    let ben: Vec<_> = rebuilt.ops.iter().filter(|op| op.group.is_some()).collect();
    assert_eq!(ben.len(), 2, "{:?}", rebuilt.ops);
    assert_eq!(ben[0].group, ben[1].group);
    assert!(ben.iter().all(|op| !op.hints.is_empty()));
    // Every change names an operation, every operation a change.
    let all = proposals::preview(
        &f.engine,
        &f.bank,
        &rebuilt.row.id,
        engine::view::proposal::PreviewOf::Everything,
    )
    .await
    .expect("a preview");
    let changed = all.diff.entries.iter();
    let changed = changed.filter(|entry| entry.kind != engine::view::diff::DiffKind::Unchanged);
    assert!(changed.clone().all(|entry| !entry.op_ids.is_empty()), "{:?}", all.diff.entries);
    for op in &rebuilt.ops {
        assert!(changed.clone().any(|entry| entry.op_ids.contains(&op.op_id)), "{op:?}");
    }
    assert!(all.confirm.contains(&"human_touch".to_owned()));
    // Only the new section: everything else stays byte for byte.
    let before = detail(&f).await.content;
    let tools = op_with(&rebuilt, "A saw").op_id.clone();
    let view = decide(&f, &rebuilt, vec![tools], Decision::Accepted).await;
    approve(&f, &view, sure()).await;
    let after = detail(&f).await.content;
    assert_ne!(after, before);
    assert_eq!(after.replace("# Tools\n\nA saw.\n\n", ""), before);
}

/// The line of one model's history: versions, ended proposals with their events, in order.
#[tokio::test]
async fn the_timeline_tells_reviews_beside_versions() {
    let f = Fixture::new().await;
    let view = proposed(&f).await;
    let ben = op_with(&view, "Ben Okoro").op_id.clone();
    let view = decide(&f, &view, vec![ben.clone()], Decision::Accepted).await;
    let note = Some("Sure?".to_owned());
    let turn = Turn::at(view.state_seq);
    let view = proposals::set_note(&f.engine, &f.bank, &view.row.id, &ben, note, turn)
        .await
        .expect("a note");
    f.clock.advance_ms(60_000);
    approve(&f, &view, sure()).await;
    f.clock.advance_ms(60_000);
    red(&f).await;
    refresh(&f, false).await;
    let view = waiting(&f).await;
    let input = RejectInput {
        note: Some("No colours.".to_owned()),
        disposition: Some(RejectDisposition::Dismiss),
        standing: false,
    };
    proposals::reject(&f.engine, &f.bank, &view.row.id, input, Turn::at(view.state_seq))
        .await
        .expect("rejected");
    let timeline = models::timeline(&f.engine, &f.bank, &id()).await.expect("a timeline");
    let TimelineEntry::Proposal { state, note, events, decisions, .. } = &timeline[0] else {
        panic!("{timeline:?}");
    };
    assert_eq!((state.as_str(), note.as_deref()), ("rejected", Some("No colours.")));
    assert_eq!(events.last().map(|event| event.kind.as_str()), Some("rejected"));
    assert!(decisions.rejected > 0 && decisions.accepted == 0);
    let TimelineEntry::Version { version, events, decisions, .. } = &timeline[1] else {
        panic!("{timeline:?}");
    };
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!((*version, kinds), (2, vec!["decided", "noted", "approved"]));
    assert_eq!(events[1].note.as_deref(), Some("Sure?"));
    assert_eq!(events[0].decision, Some(Decision::Accepted));
    let counts = decisions.as_ref().expect("decisions");
    assert_eq!((counts.accepted, counts.deferred), (1, 2));
}

/// Fifty ended proposals are kept for each model, and those that a version came from.
#[tokio::test]
async fn old_proposals_go_and_those_of_versions_stay() {
    let f = Fixture::new().await;
    facts(&f).await;
    first_version(&f).await;
    three_facts(&f).await;
    for _ in 0..53 {
        refresh(&f, false).await;
    }
    let first = waiting(&f).await.row.number;
    assert_eq!(first, 54, "one approved, 52 superseded, one waits");
    let bank = f.bank.clone();
    let kept = f
        .engine
        .store()
        .read(move |tx| {
            let key = store::banks::key(tx, &bank)?;
            let model = store::models::get(tx, key, &id())?.head.key;
            store::proposals::of_model(tx, model)
        })
        .await
        .expect("proposals");
    let numbers: Vec<u32> = kept.iter().map(|head| head.number).collect();
    assert_eq!(numbers.len(), 1 + 50 + 1);
    assert_eq!((numbers[0], numbers.last()), (54, Some(&1)), "the version's own is kept");
    let view = waiting(&f).await;
    let view = accept_all(&f, &view).await;
    approve(&f, &view, sure()).await;
}
