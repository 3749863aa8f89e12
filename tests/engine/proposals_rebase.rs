//! A proposal whose document moves or whose facts are taken back: every row of the table, the ways
//! out of a conflict, and what a person has said staying said.

use crate::models::{detail, id, kiln, outcome, refresh};
use crate::proposals::{accept_all, approve, decide, get, op_with, sure, waiting};
use domain::document::Document;
use domain::{MemoryId, ProposalId};
use engine::models;
use engine::models::proposals;
use engine::view::model::{ModelPatch, NewModel, ReviewMode};
use engine::view::proposal::{
    ApproveInput, ApproveWhat, ConflictChoice, Decision, OpView, PreviewOf, ProposalState,
    ProposalView, Turn,
};
use llm::scripted::{Scripted, Step};
use serde_json::{Value, json};
use std::sync::Arc;
use tests::Fixture;

const PAGE: &str = "# Team\n\nAda leads.\n\nBen helps.\n\n# Risks\n\nThe door sticks.\n\nWood is short.\n\n# Notes\n\nOne.\n\nTwo.\n";

/// A reviewed document that a person wrote, two facts, and what a scripted language model makes of
/// them: a proposal of the given operations.
pub(crate) async fn page(
    ops: impl FnOnce(&Document) -> Value,
) -> (Fixture, Scripted, ProposalView) {
    let script = Scripted::default();
    let f = Fixture::scripted(Arc::new(script.clone())).await;
    let new = NewModel { content: Some(PAGE.to_owned()), ..kiln(ReviewMode::Manual, "delta") };
    models::create(&f.engine, &f.bank, new).await.expect("a model");
    f.fact("Cora joined the team of the kiln.", &["Cora"], "2026-02-20").await;
    f.fact("The team of the kiln bought a saw.", &["Saw"], "2026-02-21").await;
    let structure = detail(&f).await.structure;
    finds(&script);
    script.push_for("delta_ops", Step::json(&json!({ "operations": ops(&structure) })));
    refresh(&f, false).await;
    script.assert_used_up();
    let view = waiting(&f).await;
    (f, script, view)
}

/// The turns of the loop that find both facts.
pub(crate) fn finds(script: &Scripted) {
    let args = |query: &str| json!({ "reason": "to look", "query": query });
    script.push(Step::call("search_observations", args("kiln")));
    script.push(Step::call("recall", args("kiln team")));
    let answer = json!({ "answer": "Cora joined, a saw came.", "memory_ids": ["f1", "f2"] });
    script.push(Step::call("done", answer));
}

fn block(document: &Document, text: &str) -> String {
    document.blocks().find(|block| block.text == text).expect("the block").id.clone()
}

/// One operation of each kind. The first ones rest on the first fact, the others on the second.
fn every_kind(now: &Document) -> Value {
    let (first, second) = (["f1"], ["f2"]);
    json!([
        { "op": "replace_block", "section_id": "team", "block_id": block(now, "Ada leads."),
          "text": "Ada and Cora lead.", "evidence": first,
          "claims": [{ "quote": "Cora", "evidence": first }, { "quote": "not there", "evidence": first }] },
        { "op": "remove_block", "section_id": "team", "block_id": block(now, "Ben helps."),
          "evidence": first },
        { "op": "append_block", "section_id": "risks", "text": "Nails are short.",
          "evidence": second },
        { "op": "insert_block", "section_id": "risks",
          "after_block_id": block(now, "The door sticks."), "text": "The window sticks.",
          "evidence": second },
        { "op": "rename_section", "section_id": "risks", "new_heading": "Open risks",
          "evidence": second },
        { "op": "add_section", "heading": "Tools", "level": 1, "after_section_id": "notes",
          "blocks": ["A saw."], "evidence": second },
        { "op": "append_block", "section_id": "tools", "text": "A plane.", "evidence": second },
        { "op": "replace_section_blocks", "section_id": "notes", "blocks": ["Three."],
          "evidence": second },
    ])
}

async fn edit(f: &Fixture, text: &str) -> u32 {
    let version = detail(f).await.model.version;
    models::edit_content(&f.engine, &f.bank, &id(), text.to_owned(), version)
        .await
        .expect("an edit")
        .model
        .version
}

fn at(view: &ProposalView, index: usize) -> &OpView {
    let id = format!("op{index}");
    view.ops.iter().find(|op| op.op_id == id).expect("the operation")
}

/// How an operation stands: `clean`, `already_done` or the kind of its conflict.
fn verdict(op: &OpView) -> &str {
    match (&op.conflict, op.marker.as_deref()) {
        (Some(conflict), _) => &conflict.kind,
        (None, Some("already_done")) => "already_done",
        (None, _) => "clean",
    }
}

/// Every row of the table of mental-models 13.5 that an edit can bring about.
#[tokio::test]
async fn every_row_of_the_table_comes_of_an_edit() {
    let moved = "# Team\n\nBen helps.\n\n# Risks\n\nThe door sticks.\n\nAda leads.\n\nWood is short.\n\n# Notes\n\nOne.\n\nTwo.\n";
    type Row<'a> = (&'a str, String, &'a [(usize, &'a str)]);
    let rows: [Row<'_>; 11] = [
        ("another block", PAGE.replace("Wood is short", "Wood is scarce"), &[]),
        ("an anchor's text", PAGE.replace("door sticks", "door sticks badly"), &[]),
        (
            "replaced already",
            PAGE.replace("Ada leads", "Ada and Cora lead"),
            &[(0, "already_done")],
        ),
        ("removed already", PAGE.replace("Ben helps.\n\n", ""), &[(1, "already_done")]),
        ("renamed already", PAGE.replace("# Risks", "# Open risks"), &[(4, "already_done")]),
        ("added already", format!("{PAGE}\n# Tools\n\nA saw.\n"), &[(5, "already_done")]),
        ("a target's text", PAGE.replace("Ada leads", "Ada left"), &[(0, "text_changed")]),
        ("a block of the section", PAGE.replace("Two.", "Two and a half."), &[(7, "text_changed")]),
        ("a target elsewhere", moved.to_owned(), &[(0, "moved")]),
        ("no target", PAGE.replace("Ada leads.\n\n", ""), &[(0, "missing")]),
        (
            "no section",
            PAGE.replace("# Notes\n\nOne.\n\nTwo.\n", ""),
            &[(5, "missing"), (6, "dependency"), (7, "missing")],
        ),
    ];
    for (row, text, wanted) in rows {
        let (f, _, view) = page(every_kind).await;
        assert_eq!(view.ops.len(), 8, "{:?}", view.ops);
        let view = decide(&f, &view, vec!["op3".to_owned()], Decision::Accepted).await;
        edit(&f, &text).await;
        let after = get(&f, &view.row.id).await;
        assert_eq!(after.base_version, 2, "{row}");
        for index in 0..8 {
            let word =
                wanted.iter().find(|(at, _)| *at == index).map_or("clean", |(_, word)| *word);
            assert_eq!(verdict(at(&after, index)), word, "{row}: operation {index}");
        }
        assert_eq!(at(&after, 3).decision, Decision::Accepted, "{row}: what was said stays said");
        let stuck = wanted.iter().any(|(_, word)| *word != "already_done");
        let state = if stuck { ProposalState::Conflicted } else { ProposalState::InReview };
        assert_eq!(after.row.state, state, "{row}");
        let event = after.events.last().expect("an event");
        assert_eq!((event.kind.as_str(), event.version), ("rebased", Some(2)), "{row}");
        let refused =
            proposals::approve(&f.engine, &f.bank, &view.row.id, sure(), Turn::at(after.state_seq))
                .await;
        match refused {
            Ok(published) => assert!(!stuck && published.version == 3, "{row}"),
            Err(error) => {
                assert_eq!((error.reason().as_str(), stuck), ("proposal_conflicted", true))
            }
        }
    }
}

#[tokio::test]
async fn a_conflict_shows_all_three_texts_and_ends_in_three_ways() {
    for (choice, wanted, decision) in [
        (ConflictChoice::KeepMine, "Ada left.", Decision::Rejected),
        (ConflictChoice::TakeProposed, "Ada and Cora lead.", Decision::Accepted),
        (
            ConflictChoice::Edit { text: "Cora leads since Ada left.".to_owned() },
            "Cora leads since Ada left.",
            Decision::Accepted,
        ),
    ] {
        let (f, _, view) = page(every_kind).await;
        let view = decide(&f, &view, vec!["op2".to_owned()], Decision::Accepted).await;
        edit(&f, &PAGE.replace("Ada leads", "Ada left")).await;
        let stuck = get(&f, &view.row.id).await;
        let conflict = at(&stuck, 0).conflict.clone().expect("a conflict");
        assert_eq!(conflict.base.as_deref(), Some("Ada leads."));
        assert_eq!(conflict.current.as_deref(), Some("Ada left."));
        assert_eq!(conflict.proposed.as_deref(), Some("Ada and Cora lead."));
        assert!(conflict.can_take);
        // A further edit does not forget what the change was made for.
        edit(&f, &PAGE.replace("Ada leads", "Ada left").replace("One.", "One!")).await;
        let stuck = get(&f, &view.row.id).await;
        let base = at(&stuck, 0).conflict.as_ref().and_then(|conflict| conflict.base.clone());
        assert_eq!(base.as_deref(), Some("Ada leads."));
        assert_eq!(verdict(at(&stuck, 7)), "text_changed");
        let solved = resolve(&f, &stuck, "op0", choice).await;
        assert_eq!(solved.row.state, ProposalState::Conflicted, "another one is left");
        assert_eq!(at(&solved, 0).decision, decision);
        let solved = resolve(&f, &solved, "op7", ConflictChoice::KeepMine).await;
        assert_eq!(solved.row.state, ProposalState::InReview);
        approve(&f, &solved, sure()).await;
        let after = detail(&f).await;
        assert!(after.content.contains(wanted), "{}", after.content);
        assert!(after.content.contains("Nails are short.") && after.content.contains("One!"));
    }
}

pub(crate) async fn resolve(
    f: &Fixture,
    view: &ProposalView,
    op_id: &str,
    choice: ConflictChoice,
) -> ProposalView {
    let turn = Turn::at(view.state_seq);
    proposals::resolve_conflict(&f.engine, &f.bank, &view.row.id, op_id, choice, turn)
        .await
        .expect("a way out")
}

#[tokio::test]
async fn what_has_moved_is_changed_where_it_stands_now() {
    let (f, _, view) = page(every_kind).await;
    let moved = PAGE
        .replace("Ada leads.\n\n", "")
        .replace("The door sticks.\n", "The door sticks.\n\nAda leads.\n");
    edit(&f, &moved).await;
    let stuck = get(&f, &view.row.id).await;
    let conflict = at(&stuck, 0).conflict.as_ref().expect("a conflict");
    assert_eq!((conflict.kind.as_str(), conflict.moved_to.as_deref()), ("moved", Some("Risks")));
    let solved = resolve(&f, &stuck, "op0", ConflictChoice::TakeProposed).await;
    approve(&f, &solved, sure()).await;
    assert!(detail(&f).await.content.contains("The door sticks.\n\nAda and Cora lead."));
}

#[tokio::test]
async fn a_section_that_is_gone_comes_back_under_its_heading_and_a_dependant_waits_for_it() {
    let (f, _, view) = page(every_kind).await;
    edit(&f, "# Team\n\nAda leads.\n\nBen helps.\n").await;
    edit(&f, "# Team\n\nAda leads.\n\nBen helps!\n").await;
    let stuck = get(&f, &view.row.id).await;
    assert_eq!(verdict(at(&stuck, 2)), "missing");
    let dependant = at(&stuck, 6).conflict.as_ref().expect("a conflict");
    assert_eq!((dependant.kind.as_str(), dependant.can_take), ("dependency", false));
    let refused = proposals::resolve_conflict(
        &f.engine,
        &f.bank,
        &view.row.id,
        "op6",
        ConflictChoice::TakeProposed,
        Turn::at(stuck.state_seq),
    )
    .await;
    assert_eq!(refused.expect_err("not first").reason(), "proposal_conflicted");
    let solved = resolve(&f, &stuck, "op5", ConflictChoice::TakeProposed).await;
    assert_eq!(verdict(at(&solved, 6)), "clean", "it follows what it requires");
    let mut solved = resolve(&f, &solved, "op2", ConflictChoice::TakeProposed).await;
    for index in [1, 3, 4, 7] {
        if at(&solved, index).conflict.is_some() {
            let id = format!("op{index}");
            solved = resolve(&f, &solved, &id, ConflictChoice::KeepMine).await;
        }
    }
    approve(&f, &solved, sure()).await;
    let text = detail(&f).await.content;
    assert!(text.contains("# Risks\n\nNails are short."), "{text}");
    assert!(text.contains("# Tools\n\nA saw."), "{text}");
}

fn facts_of(view: &ProposalView, index: usize) -> Vec<MemoryId> {
    at(view, index).evidence.iter().map(|item| MemoryId(item.id.clone())).collect()
}

#[tokio::test]
async fn facts_that_are_taken_back_or_brought_back_are_heard_of_at_once() {
    let (f, _, view) = page(every_kind).await;
    let fact = facts_of(&view, 0).remove(0);
    let others = (2..8).filter(|index| facts_of(&view, *index) != [fact.clone()]);
    assert_eq!(others.count(), 6);
    engine::memory::invalidate(&f.engine, &f.bank, &fact, Some("wrong".to_owned()))
        .await
        .expect("taken back");
    let stuck = get(&f, &view.row.id).await;
    assert_eq!(stuck.row.state, ProposalState::Conflicted);
    assert_eq!(stuck.base_version, view.base_version);
    let verdicts: Vec<&str> = (0..8).map(|index| verdict(at(&stuck, index))).collect();
    assert_eq!(verdicts[..2], ["evidence_withdrawn"; 2]);
    assert_eq!(verdicts[2..], ["clean"; 6]);
    let conflict = at(&stuck, 0).conflict.as_ref().expect("a conflict");
    assert_eq!(conflict.base.as_ref(), Some(&at(&stuck, 0).evidence[0].text));
    assert!(at(&stuck, 0).evidence[0].gone);
    assert_eq!(stuck.events.last().map(|event| event.kind.as_str()), Some("retracted"));
    // Ending one conflict does not silently end the other.
    let solved = resolve(&f, &stuck, "op0", ConflictChoice::TakeProposed).await;
    assert_eq!(verdict(at(&solved, 1)), "evidence_withdrawn");
    assert!(at(&solved, 0).evidence.is_empty() && at(&solved, 0).unsupported);
    edit(&f, &PAGE.replace("One.", "One!")).await;
    let again = get(&f, &view.row.id).await;
    assert_eq!(verdict(at(&again, 0)), "clean", "what the person took stays taken");
    engine::memory::restore(&f.engine, &f.bank, &fact).await.expect("brought back");
    let free = get(&f, &view.row.id).await;
    assert_eq!(verdict(at(&free, 1)), "clean");
    // `One!` still stands in the way of the operation that replaces the notes.
    assert_eq!(free.row.state, ProposalState::Conflicted);
    engine::memory::delete(&f.engine, &f.bank, &fact).await.expect("deleted");
    assert_eq!(verdict(at(&get(&f, &view.row.id).await, 1)), "evidence_withdrawn");
}

#[tokio::test]
async fn an_unsay_comes_first_and_does_not_fall_over_the_retraction_it_answers() {
    let (f, script, view) = page(every_kind).await;
    let all = decide(&f, &view, vec!["op0".to_owned(), "op2".to_owned()], Decision::Accepted).await;
    approve(&f, &all, sure()).await;
    let gone = facts_of(&all, 2).remove(0);
    engine::memory::delete(&f.engine, &f.bank, &gone).await.expect("deleted");
    f.fact("The team of the kiln bought a lathe.", &["Lathe"], "2026-02-25").await;
    let args = |query: &str| json!({ "reason": "to look", "query": query });
    script.push(Step::call("search_observations", args("kiln")));
    script.push(Step::call("recall", args("kiln team")));
    let answer = json!({ "answer": "A lathe came.", "memory_ids": ["f1"] });
    script.push(Step::call("done", answer));
    let nails = block(&detail(&f).await.structure, "Nails are short.");
    let unsay = json!({ "operations": [
        { "op": "remove_block", "section_id": "risks", "block_id": nails, "evidence": ["w1"] },
    ]});
    script.push_for("retraction_ops", Step::json(&unsay));
    let add = json!({ "operations": [
        { "op": "append_block", "section_id": "notes", "text": "A lathe came.", "evidence": ["f1"] },
    ]});
    script.push_for("delta_ops", Step::json(&add));
    refresh(&f, false).await;
    script.assert_used_up();
    let found = detail(&f).await;
    assert_eq!(outcome(&found), "proposal_created", "{:?}", found.last_run);
    let view = waiting(&f).await;
    let mut ops: Vec<&OpView> = view.ops.iter().collect();
    ops.sort_by(|a, b| a.op_id.cmp(&b.op_id));
    let kinds: Vec<&str> = ops.iter().map(|op| op.kind.as_str()).collect();
    assert_eq!(kinds, ["remove_block", "append_block"], "what is taken back comes first");
    edit(&f, &found.content.replace("One.", "One!")).await;
    let after = get(&f, &view.row.id).await;
    assert!(after.ops.iter().all(|op| op.conflict.is_none()), "{:?}", after.ops);
    // Put off, the retraction comes up again; the document still says what was withdrawn.
    let add = op_with(&after, "A lathe").op_id.clone();
    let taken = decide(&f, &after, vec![add], Decision::Accepted).await;
    approve(&f, &taken, sure()).await;
    let reasons = detail(&f).await.model.refresh_reasons;
    assert!(reasons.contains(&"grounding_retracted".to_owned()), "{reasons:?}");
}

#[tokio::test]
async fn a_cleared_document_supersedes_and_a_revert_moves() {
    let (f, _, view) = page(every_kind).await;
    edit(&f, &PAGE.replace("Ada leads", "Ada left")).await;
    assert_eq!(get(&f, &view.row.id).await.row.state, ProposalState::Conflicted);
    models::revert(&f.engine, &f.bank, &id(), 1, false).await.expect("a revert");
    let back = get(&f, &view.row.id).await;
    assert_eq!((back.row.state, back.base_version), (ProposalState::InReview, 3));
    assert!(back.ops.iter().all(|op| op.conflict.is_none()));
    models::clear(&f.engine, &f.bank, &id(), 3).await.expect("cleared");
    let gone = get(&f, &view.row.id).await;
    assert_eq!((gone.row.state, gone.superseded_by), (ProposalState::Superseded, None));
    assert_eq!(gone.events.last().map(|event| event.version), Some(Some(4)));
    let late =
        proposals::approve(&f.engine, &f.bank, &view.row.id, sure(), Turn::at(gone.state_seq))
            .await;
    assert_eq!(late.expect_err("closed").reason(), "proposal_closed");
}

#[tokio::test]
async fn another_question_or_scope_is_told_and_must_be_confirmed() {
    for (patch, banner) in [
        (
            ModelPatch {
                source_query: Some("What of the kiln?".to_owned()),
                ..ModelPatch::default()
            },
            "query_changed",
        ),
        (
            ModelPatch { tags: Some(vec!["kiln".to_owned()]), ..ModelPatch::default() },
            "scope_changed",
        ),
    ] {
        let (f, _, view) = page(every_kind).await;
        let view = decide(&f, &view, vec!["op2".to_owned()], Decision::Accepted).await;
        models::update(&f.engine, &f.bank, &id(), patch).await.expect("a change");
        let told = get(&f, &view.row.id).await;
        assert_eq!(told.banners, [banner]);
        assert_eq!(told.row.state, ProposalState::InReview, "the whole stays");
        let shown = proposals::preview(&f.engine, &f.bank, &view.row.id, PreviewOf::Accepted)
            .await
            .expect("a preview");
        assert_eq!(shown.confirm, [banner]);
        let bare = ApproveInput::default();
        let turn = Turn::at(told.state_seq);
        let refused =
            proposals::approve(&f.engine, &f.bank, &view.row.id, bare, turn.clone()).await;
        let report = engine::report::Report::from(&refused.expect_err("not confirmed"));
        assert_eq!(report.reason, "confirmation_required");
        assert!(report.message.contains(banner), "{}", report.message);
        let input = ApproveInput { confirm: shown.confirm, ..ApproveInput::default() };
        proposals::approve(&f.engine, &f.bank, &view.row.id, input, turn).await.expect("confirmed");
    }
}

#[tokio::test]
async fn what_the_document_says_by_now_leaves_nothing_to_decide() {
    let (f, _, view) = page(|_| {
        json!([{ "op": "rename_section", "section_id": "risks", "new_heading": "Open risks",
                 "evidence": ["f1", "f2"] }])
    })
    .await;
    edit(&f, &PAGE.replace("# Risks", "# Open risks")).await;
    assert_eq!(get(&f, &view.row.id).await.row.state, ProposalState::Superseded);
}

#[tokio::test]
async fn a_saved_draft_follows_the_document_or_is_told_to_be_outdated() {
    let draft = |text: &str| text.replace("Ada leads.", "Ada and Cora lead.");
    for (edited, fits) in
        [(PAGE.replace("One.", "One!"), true), (PAGE.replace("Ada leads", "Ada left"), false)]
    {
        let (f, _, view) = page(every_kind).await;
        let turn = Turn::at(view.state_seq);
        let text = Some(draft(PAGE));
        let saved = proposals::edit_draft(&f.engine, &f.bank, &view.row.id, text, turn)
            .await
            .expect("a draft");
        assert_eq!(saved.row.state, ProposalState::InReview);
        assert!(saved.draft.as_ref().is_some_and(|draft| draft.fits));
        edit(&f, &edited).await;
        let moved = get(&f, &view.row.id).await;
        let found = moved.draft.clone().expect("a draft");
        assert_eq!(found.fits, fits);
        let mut moved = moved;
        for index in 0..8 {
            if at(&moved, index).conflict.is_some() {
                let op = format!("op{index}");
                moved = resolve(&f, &moved, &op, ConflictChoice::KeepMine).await;
            }
        }
        let shown = proposals::preview(&f.engine, &f.bank, &view.row.id, PreviewOf::Draft)
            .await
            .expect("a preview");
        assert_eq!(shown.content, found.content);
        assert_eq!(shown.confirm.contains(&"draft_outdated".to_owned()), !fits);
        if fits {
            assert_eq!(shown.content, draft(&edited), "both changes are there");
            let input = ApproveInput { what: ApproveWhat::Draft, ..sure() };
            approve(&f, &moved, input).await;
            let after = detail(&f).await;
            assert_eq!(after.content, draft(&edited));
            assert_eq!(get(&f, &view.row.id).await.row.state, ProposalState::PartiallyApproved);
        }
    }
}

#[tokio::test]
async fn evidence_claims_and_sources_stand_beside_each_change() {
    let (_f, _, view) = page(every_kind).await;
    let first = at(&view, 0);
    assert_eq!(first.old_text.as_deref(), Some("Ada leads."));
    assert_eq!(first.claims.len(), 1, "a claim that is not in the text is dropped");
    assert!(first.human_touch && first.evidence[0].occurred_start.is_some());
    assert!(at(&view, 6).requires == ["op5"] && at(&view, 5).required_by == ["op6"]);
    let ids: Vec<ProposalId> = view.supersedes.iter().map(|older| older.id.clone()).collect();
    assert!(ids.is_empty() && view.usage.is_some() && view.read_from.is_none());
    op_with(&view, "Nails");
}

#[tokio::test]
async fn an_approval_elsewhere_is_noticed_by_its_counter() {
    let (f, _, view) = page(every_kind).await;
    let all = accept_all(&f, &view).await;
    edit(&f, &PAGE.replace("One.", "One!")).await;
    let late =
        proposals::approve(&f.engine, &f.bank, &view.row.id, sure(), Turn::at(all.state_seq)).await;
    let report = engine::report::Report::from(&late.expect_err("an older state"));
    assert_eq!(report.reason, "state_conflict");
    let told = report.detail.expect("both states");
    assert!(told.contains(&all.state_seq.to_string()), "{told}");
    assert!(told.contains(&(all.state_seq + 1).to_string()), "{told}");
}
