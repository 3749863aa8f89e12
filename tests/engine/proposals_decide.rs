//! What a decision does to the document, the clocks and the facts; requests that are sent twice;
//! what a person tells the next refresh; and processes that die at a commit.

use crate::models::{detail, facts, id, kiln, outcome, refresh, reopen};
use crate::proposals::{
    accept_all, approve, decide, first_version, get, op_with, proposed, sure, waiting,
};
use crate::proposals_rebase::{finds, page};
use domain::document::Document;
use domain::model::{CarryOver, Guidance};
use domain::{MemoryId, ProposalId};
use engine::models;
use engine::models::proposals;
use engine::view::memory::EditFact;
use engine::view::model::{GuidanceChange, NewModel, ReviewMode};
use engine::view::operation::OperationStatus;
use engine::view::proposal::{
    AgainInput, ApproveInput, ApproveWhat, ConflictChoice, DecideOps, Decision, OpDecision,
    PreviewOf, ProposalState, ProposalView, RejectDisposition, RejectInput, Turn,
};
use llm::scripted::{Scripted, Step};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use store::Moment;
use tests::Fixture;

/// What a model's row says, as far as decisions move it.
#[derive(Debug, Clone, PartialEq)]
struct Stored {
    content: String,
    version: u32,
    seen: Option<i64>,
    considered: Option<i64>,
    question: Option<String>,
    cited: BTreeSet<String>,
    carried: BTreeSet<String>,
    declined: BTreeSet<String>,
    notes: Vec<String>,
}

async fn stored(f: &Fixture) -> Stored {
    let bank = f.bank.clone();
    let row = f
        .engine
        .store()
        .read(move |tx| store::models::get(tx, store::banks::key(tx, &bank)?, &id()))
        .await
        .expect("the model");
    let cited = detail(f).await.based_on.into_iter().map(|item| item.id).collect();
    let carried: Vec<CarryOver> = serde_json::from_value(row.carry_over).expect("carry-over");
    let guidance: Vec<Guidance> = serde_json::from_value(row.guidance).expect("guidance");
    let mut found = Stored {
        content: row.content,
        version: row.head.version,
        seen: row.head.last_memory_seen_seq,
        considered: row.head.considered_seq,
        question: row.head.last_refreshed_source_query,
        cited,
        carried: carried.into_iter().map(|entry| entry.fact_id).collect(),
        declined: BTreeSet::new(),
        notes: Vec::new(),
    };
    for entry in guidance {
        match entry {
            Guidance::Note { text, .. } => found.notes.push(text),
            Guidance::Declined { fact_ids, .. } => found.declined.extend(fact_ids),
        }
    }
    found
}

fn fact_of(view: &ProposalView, words: &str) -> String {
    op_with(view, words).evidence[0].id.clone()
}

fn set(ids: &[&String]) -> BTreeSet<String> {
    ids.iter().map(|id| (*id).clone()).collect()
}

/// The table of mental-models 13.7, row by row.
#[tokio::test]
async fn every_decision_moves_document_clocks_and_facts_by_the_table() {
    for row in ["all", "some", "edited", "dismiss", "retry", "superseded"] {
        let f = Fixture::new().await;
        let view = proposed(&f).await;
        let before = stored(&f).await;
        let [ben, cora, chimney] =
            ["Ben Okoro", "Cora Lindt", "chimney"].map(|words| fact_of(&view, words));
        let everything =
            proposals::preview(&f.engine, &f.bank, &view.row.id, PreviewOf::Everything)
                .await
                .expect("a preview")
                .content;
        let turn = Turn::at(view.state_seq);
        let mut wanted = before.clone();
        match row {
            "all" => {
                let input = ApproveInput { what: ApproveWhat::All, ..sure() };
                approve(&f, &view, input).await;
                wanted.content = everything;
                wanted.cited.extend(set(&[&ben, &cora, &chimney]));
            }
            "some" => {
                let word = |words: &str, decision| OpDecision {
                    op_id: op_with(&view, words).op_id.clone(),
                    decision,
                    note: (words == "Cora Lindt").then(|| "not ours".to_owned()),
                };
                let decisions = vec![
                    word("Ben Okoro", Decision::Accepted),
                    word("Cora Lindt", Decision::Rejected),
                    word("chimney", Decision::Deferred),
                ];
                let decided = proposals::decide(
                    &f.engine,
                    &f.bank,
                    &view.row.id,
                    DecideOps { decisions },
                    turn,
                )
                .await
                .expect("decisions");
                assert_eq!(op_with(&decided, "Cora Lindt").note.as_deref(), Some("not ours"));
                let shown =
                    proposals::preview(&f.engine, &f.bank, &view.row.id, PreviewOf::Accepted)
                        .await
                        .expect("a preview");
                assert_eq!(shown.op_ids, [op_with(&view, "Ben Okoro").op_id.clone()]);
                approve(&f, &decided, sure()).await;
                wanted.content = shown.content;
                wanted.cited.extend(set(&[&ben]));
                wanted.declined.extend(set(&[&cora]));
                wanted.carried.extend(set(&[&chimney]));
            }
            "edited" => {
                let gone = op_with(&view, "Cora Lindt").new_text.clone().expect("a text");
                let draft = everything
                    .replace(&format!("{gone}\n"), "")
                    .replace("1200 degrees", "1250 degrees");
                let shown =
                    proposals::preview_draft(&f.engine, &f.bank, &view.row.id, draft.clone())
                        .await
                        .expect("a preview");
                assert_eq!(shown.content, draft);
                assert_eq!(shown.op_ids.len(), 2, "what the draft still carries out");
                let input =
                    ApproveInput { what: ApproveWhat::Draft, draft: Some(draft.clone()), ..sure() };
                approve(&f, &view, input).await;
                wanted.content = draft;
                wanted.cited.extend(set(&[&ben, &chimney]));
                wanted.declined.extend(set(&[&cora]));
            }
            "dismiss" | "retry" => {
                let retry = row == "retry";
                let input = RejectInput {
                    note: retry.then(|| "Only names.".to_owned()),
                    ..RejectInput::default()
                };
                proposals::reject(&f.engine, &f.bank, &view.row.id, input, turn)
                    .await
                    .expect("a rejection");
                if retry {
                    wanted.notes.push("Only names.".to_owned());
                } else {
                    wanted.declined.extend(set(&[&ben, &cora, &chimney]));
                }
            }
            _ => {
                f.fact("The kiln of the workshop was painted red.", &["Kiln"], "2026-02-25").await;
                refresh(&f, false).await;
                assert_eq!(get(&f, &view.row.id).await.row.state, ProposalState::Superseded);
            }
        }
        let after = stored(&f).await;
        let publishes = matches!(row, "all" | "some" | "edited");
        wanted.version += u32::from(publishes);
        let moves = publishes || row == "dismiss";
        if moves {
            assert!(after.seen > before.seen, "{row}: {:?} {:?}", before.seen, after.seen);
            assert_eq!(after.seen, after.considered, "{row}: nothing in the bank is newer");
        }
        wanted.seen = if moves { after.considered } else { before.seen };
        // The run itself has moved this one already; a decision never moves it back.
        assert!(after.considered >= before.considered, "{row}");
        wanted.considered = after.considered;
        assert_eq!(after, wanted, "{row}");
    }
}

/// The same request sent again is answered as the first time, and changes nothing more.
#[tokio::test]
async fn a_request_that_comes_twice_is_carried_out_once() {
    let f = Fixture::new().await;
    let view = proposed(&f).await;
    let named = |view: &ProposalView, name: &str| Turn {
        state_seq: view.state_seq,
        request_id: Some(name.to_owned()),
    };
    let all: Vec<String> = view.ops.iter().map(|op| op.op_id.clone()).collect();
    let input = DecideOps::all(&all, Decision::Accepted);
    let mut seqs = BTreeSet::new();
    for _ in 0..2 {
        let decided =
            proposals::decide(&f.engine, &f.bank, &view.row.id, input.clone(), named(&view, "one"))
                .await
                .expect("decided");
        seqs.insert(decided.state_seq);
        assert_eq!(decided.row.decisions.accepted, 3);
    }
    assert_eq!(seqs, BTreeSet::from([view.state_seq + 1]));
    let view = get(&f, &view.row.id).await;
    let other = proposals::set_note(
        &f.engine,
        &f.bank,
        &view.row.id,
        &all[0],
        Some("x".to_owned()),
        named(&view, "one"),
    )
    .await;
    assert_eq!(other.expect_err("another step").reason(), "operation_conflict");
    for _ in 0..2 {
        let again = AgainInput { note: Some("Shorter.".to_owned()), standing: false };
        let turn = named(&view, "two");
        proposals::request_again(&f.engine, &f.bank, &view.row.id, again, turn)
            .await
            .expect("asked");
    }
    assert_eq!(stored(&f).await.notes, ["Shorter."]);
    for _ in 0..2 {
        let published =
            proposals::approve(&f.engine, &f.bank, &view.row.id, sure(), named(&view, "three"))
                .await
                .expect("published");
        assert_eq!(published.version, 2);
    }
    assert_eq!(detail(&f).await.model.version, 2);
    f.run_queue().await;
    f.fact("The kiln of the workshop was painted red.", &["Kiln"], "2026-02-25").await;
    refresh(&f, false).await;
    let view = waiting(&f).await;
    for _ in 0..2 {
        let turn = named(&view, "four");
        let input = RejectInput::default();
        let closed = proposals::reject(&f.engine, &f.bank, &view.row.id, input, turn)
            .await
            .expect("rejected");
        assert_eq!(closed.row.state, ProposalState::Rejected);
    }
}

fn told(script: &Scripted, scope: &str) -> String {
    let requests = script.requests();
    let last = requests.iter().rev().find(|request| request.scope.starts_with(scope));
    format!("{:?}", last.expect("a request").messages)
}

fn one_addition(_: &Document) -> Value {
    json!([
        { "op": "append_block", "section_id": "team", "text": "Cora joined.", "evidence": ["f1"] },
        { "op": "append_block", "section_id": "risks", "text": "A saw came.", "evidence": ["f2"] },
    ])
}

/// A note and a declined change reach the next prompts, as long as they hold.
#[tokio::test]
async fn what_a_person_said_reaches_the_next_refresh() {
    let (f, script, view) = page(one_addition).await;
    let input = RejectInput { note: Some("Only full names.".to_owned()), ..RejectInput::default() };
    let closed =
        proposals::reject(&f.engine, &f.bank, &view.row.id, input, Turn::at(view.state_seq))
            .await
            .expect("rejected");
    assert_eq!(closed.disposition, Some(RejectDisposition::Retry));
    // "Try again now": the same window, with the note.
    finds(&script);
    let first = json!({ "operations": [
        { "op": "append_block", "section_id": "team", "text": "Cora Lindt joined.", "evidence": ["f1"] },
        { "op": "append_block", "section_id": "risks", "text": "A saw came.", "evidence": ["f2"] },
    ]});
    script.push_for("delta_ops", Step::json(&first));
    let standing = AgainInput { note: Some("No jargon.".to_owned()), standing: true };
    let turn = Turn::at(closed.state_seq);
    proposals::request_again(&f.engine, &f.bank, &view.row.id, standing, turn)
        .await
        .expect("asked");
    f.run_queue().await;
    script.assert_used_up();
    for words in ["Only full names.", "No jargon."] {
        assert!(told(&script, "delta_ops").contains(words));
        assert!(told(&script, "agent").contains(words), "the loop is told too");
    }
    let again = waiting(&f).await;
    let saw = op_with(&again, "A saw came");
    assert_eq!((saw.decision, saw.marker.as_deref()), (Decision::Rejected, Some("carried")));
    let cora = op_with(&again, "Cora Lindt");
    assert_eq!((cora.decision, cora.marker.as_deref()), (Decision::Undecided, Some("reworded")));
    let taken = decide(&f, &again, vec![cora.op_id.clone()], Decision::Accepted).await;
    approve(&f, &taken, sure()).await;
    let guidance = detail(&f).await.guidance;
    let kinds: Vec<(&str, bool)> =
        guidance.iter().map(|item| (item.kind.as_str(), item.standing)).collect();
    assert_eq!(kinds, [("note", true), ("declined", false)], "the first note has done its work");
    // The declined change is told to the next one, until its fact changes.
    f.fact("The team of the kiln bought a lathe.", &["Lathe"], "2026-02-25").await;
    let args = |query: &str| json!({ "reason": "to look", "query": query });
    script.push(Step::call("search_observations", args("kiln")));
    script.push(Step::call("recall", args("kiln team")));
    script.push(Step::call("done", json!({ "answer": "A lathe.", "memory_ids": ["f1"] })));
    let lathe = json!({ "operations": [
        { "op": "append_block", "section_id": "risks", "text": "A lathe came.", "evidence": ["f1"] },
    ]});
    script.push_for("delta_ops", Step::json(&lathe));
    refresh(&f, false).await;
    let prompt = told(&script, "delta_ops");
    assert!(prompt.contains("decided not to make this change") && prompt.contains("A saw came."));
    assert!(prompt.contains("No jargon.") && !prompt.contains("Only full names."));
    let saw = MemoryId(saw.evidence[0].id.clone());
    let change =
        EditFact { text: Some("The team bought two saws.".to_owned()), ..EditFact::default() };
    engine::memory::edit(&f.engine, &f.bank, &saw, change).await.expect("an edit");
    let guidance = detail(&f).await.guidance;
    assert!(guidance[1].lapsed && !guidance[0].lapsed);
    for (place, change, left) in [
        (0, GuidanceChange::Pass, 2),
        (1, GuidanceChange::Remove, 1),
        (0, GuidanceChange::Remove, 0),
    ] {
        let at = detail(&f).await.guidance[usize::try_from(place).expect("small")].at;
        let after = models::change_guidance(&f.engine, &f.bank, &id(), place, at, change)
            .await
            .expect("changed");
        assert_eq!(after.guidance.len(), left);
    }
}

/// The structured view of a text that is not exactly the candidate is extracted before anything is
/// written.
#[tokio::test]
async fn a_structured_view_is_taken_over_extracted_anew_or_left_out() {
    let schema = json!({ "type": "object", "properties": { "leader": { "type": "string" } },
                         "required": ["leader"] });
    for row in ["all", "some", "fails"] {
        let script = Scripted::default();
        let f = Fixture::scripted(Arc::new(script.clone())).await;
        let content = Some("# Team\n\nAda leads.\n\n# Risks\n\nNone.\n".to_owned());
        let trigger = Some(json!({ "mode": "delta", "response_schema": schema }).into());
        let new = NewModel { content, trigger, ..kiln(ReviewMode::Manual, "delta") };
        models::create(&f.engine, &f.bank, new).await.expect("a model");
        f.fact("Cora joined the team of the kiln.", &["Cora"], "2026-02-20").await;
        f.fact("The team of the kiln bought a saw.", &["Saw"], "2026-02-21").await;
        finds(&script);
        let ops = one_addition(&detail(&f).await.structure);
        script.push_for("delta_ops", Step::json(&json!({ "operations": ops })));
        script.push_for("structured", Step::json(&json!({ "leader": "Ada" })));
        refresh(&f, false).await;
        script.assert_used_up();
        let view = waiting(&f).await;
        assert!(view.structured_output.is_some());
        let view = if row == "all" {
            accept_all(&f, &view).await
        } else {
            decide(&f, &view, vec!["op0".to_owned()], Decision::Accepted).await
        };
        match row {
            "all" => {}
            "some" => {
                script.push_for("structured", Step::json(&json!({ "leader": "Cora" })));
            }
            _ => {
                script.push_for("structured", Step::text("No."));
                script.push_for("structured_retry", Step::text("No."));
                let before = detail(&f).await;
                let turn = Turn::at(view.state_seq);
                let refused =
                    proposals::approve(&f.engine, &f.bank, &view.row.id, sure(), turn).await;
                assert_eq!(refused.expect_err("no view").reason(), "structured_output_failed");
                assert_eq!(detail(&f).await.content, before.content);
                assert_eq!(get(&f, &view.row.id).await.state_seq, view.state_seq);
            }
        }
        let input = ApproveInput { without_structured_output: row == "fails", ..sure() };
        let turn = Turn::at(view.state_seq);
        let published = proposals::approve(&f.engine, &f.bank, &view.row.id, input, turn)
            .await
            .expect("published");
        script.assert_used_up();
        assert_eq!(published.without_structured_output, row == "fails");
        let value = detail(&f).await.structured_output.map(|value| value.0);
        let leader = match row {
            "all" => Some("Ada"),
            "some" => Some("Cora"),
            _ => None,
        };
        assert_eq!(value.as_ref().and_then(|value| value["leader"].as_str()), leader);
    }
}

#[tokio::test]
async fn an_approval_that_empties_the_document_must_be_confirmed_and_one_of_nothing_is_refused() {
    let (f, _, view) = page(|now| {
        let removals = now.sections.iter().map(|section| {
            json!({ "op": "remove_section", "section_id": section.id, "evidence": ["f1", "f2"] })
        });
        let mut ops: Vec<Value> = removals.collect();
        ops.push(json!({ "op": "add_section", "heading": "Tools", "blocks": ["A saw."],
                         "evidence": ["f1", "f2"] }));
        ops.into()
    })
    .await;
    let removals = view.ops.iter().filter(|op| op.kind == "remove_section");
    let removals = removals.map(|op| op.op_id.clone()).collect();
    let view = decide(&f, &view, removals, Decision::Accepted).await;
    let shown = proposals::preview(&f.engine, &f.bank, &view.row.id, PreviewOf::Accepted)
        .await
        .expect("a preview");
    for warning in ["empty_result", "large_removal", "human_touch"] {
        assert!(shown.confirm.contains(&warning.to_owned()), "{:?}", shown.confirm);
    }
    let one = vec!["empty_result".to_owned()];
    let input = ApproveInput { confirm: one, ..ApproveInput::default() };
    let turn = Turn::at(view.state_seq);
    let refused = proposals::approve(&f.engine, &f.bank, &view.row.id, input, turn).await;
    assert_eq!(refused.expect_err("the others too").reason(), "confirmation_required");
    let none = view.ops.iter().map(|op| op.op_id.clone()).collect();
    let view = decide(&f, &view, none, Decision::Rejected).await;
    let turn = Turn::at(view.state_seq);
    let refused = proposals::approve(&f.engine, &f.bank, &view.row.id, sure(), turn).await;
    assert_eq!(refused.expect_err("nothing").reason(), "nothing_accepted");
}

/// A step of a review, by name.
async fn step(f: &Fixture, view: &ProposalView, name: &str) -> engine::Result<()> {
    let (engine, bank, id) = (&f.engine, &f.bank, &view.row.id);
    let turn = Turn::at(view.state_seq);
    let op = "op0";
    match name {
        "decide" => {
            let input = DecideOps::all(&[op.to_owned()], Decision::Deferred);
            proposals::decide(engine, bank, id, input, turn).await.map(drop)
        }
        "note" => {
            let note = Some("Why?".to_owned());
            proposals::set_note(engine, bank, id, op, note, turn).await.map(drop)
        }
        "edit" => {
            let text = Some("Cora joined, at last.".to_owned());
            proposals::edit_op(engine, bank, id, op, text, turn).await.map(drop)
        }
        "draft" => {
            let text = Some("# Mine\n".to_owned());
            proposals::edit_draft(engine, bank, id, text, turn).await.map(drop)
        }
        "resolve" => {
            let choice = ConflictChoice::TakeProposed;
            proposals::resolve_conflict(engine, bank, id, op, choice, turn).await.map(drop)
        }
        "again" => {
            let input = AgainInput { note: Some("Shorter.".to_owned()), standing: true };
            proposals::request_again(engine, bank, id, input, turn).await.map(drop)
        }
        "reject" => {
            proposals::reject(engine, bank, id, RejectInput::default(), turn).await.map(drop)
        }
        _ => {
            let input = ApproveInput { what: ApproveWhat::All, ..sure() };
            proposals::approve(engine, bank, id, input, turn).await.map(drop)
        }
    }
}

/// The same folder in another process.
async fn reborn(f: Fixture) -> Fixture {
    let Fixture { folder, clock, engine, bank } = f;
    drop(engine);
    let engine = reopen(folder.path(), &clock).await;
    Fixture { folder, clock, engine, bank }
}

/// Everything about a review that a killed process could have torn.
async fn whole_state(f: &Fixture, id: &ProposalId) -> (Stored, ProposalView, usize) {
    let operations = engine::ops::list(&f.engine, &f.bank).await.expect("operations");
    let open = operations.iter().filter(|op| op.status == OperationStatus::Pending).count();
    (stored(f).await, get(f, id).await, open)
}

/// Killed before its commit a step has not happened, killed after it it has, whole.
#[tokio::test]
async fn a_review_killed_at_any_commit_is_whole_or_not_at_all() {
    for name in ["decide", "note", "edit", "draft", "resolve", "again", "reject", "approve"] {
        for moment in [Moment::BeforeCommit, Moment::AfterCommit] {
            let (f, _, view) = page(|now| {
                let lead = now.blocks().next().expect("a block").id.clone();
                json!([{ "op": "replace_block", "section_id": "team", "block_id": lead,
                         "text": "Ada and Cora lead.", "evidence": ["f1", "f2"] }])
            })
            .await;
            if name == "resolve" {
                let text = "# Team\n\nAda left.\n".to_owned();
                models::edit_content(&f.engine, &f.bank, &id(), text, 1).await.expect("an edit");
            }
            let view = get(&f, &view.row.id).await;
            let before = whole_state(&f, &view.row.id).await;
            // The commits of the step alone are counted.
            f.settle().await;
            let commits = Arc::new(AtomicU32::new(0));
            let count = Arc::clone(&commits);
            f.engine.store().set_commit_hook(move |point| {
                if point.moment == moment {
                    count.fetch_add(1, Ordering::SeqCst);
                    return Err(store::Error::Closed);
                }
                Ok(())
            });
            let result = step(&f, &view, name).await;
            assert_eq!(result.is_err(), moment == Moment::BeforeCommit, "{name}");
            assert_eq!(commits.load(Ordering::SeqCst), 1, "{name}: one transaction");
            f.engine.store().set_commit_hook(|_| Ok(()));
            let f = reborn(f).await;
            let after = whole_state(&f, &view.row.id).await;
            if moment == Moment::BeforeCommit {
                assert_eq!(after, before, "{name}: nothing happened");
                if name != "again" {
                    step(&f, &after.1, name).await.expect("it can be done now");
                }
            } else {
                assert_ne!(after, before, "{name}: it happened");
                let event = after.1.events.last().expect("an event");
                let kinds = ["decided", "noted", "edited", "drafted", "resolved", "asked_again"];
                let ends = ["rejected", "approved"];
                assert!(kinds.iter().chain(&ends).any(|kind| *kind == event.kind), "{event:?}");
                let published = detail(&f).await;
                assert_eq!(published.blame.len(), published.structure.blocks().count());
                assert_eq!(published.content, published.structure.render());
            }
        }
    }
}

/// A person's decisions outlive the window and the program.
#[tokio::test]
async fn a_closed_window_loses_no_saved_decision() {
    let f = Fixture::new().await;
    let view = proposed(&f).await;
    let ben = op_with(&view, "Ben Okoro").op_id.clone();
    let view = decide(&f, &view, vec![ben], Decision::Accepted).await;
    let f = reborn(f).await;
    let found = get(&f, &view.row.id).await;
    assert_eq!(found, view);
}

#[tokio::test]
async fn a_run_that_changes_nothing_needs_no_decision() {
    let f = Fixture::new().await;
    facts(&f).await;
    first_version(&f).await;
    // Nothing new: clocks move, and no proposal is made.
    f.fact("The cat of the neighbour sleeps all day long.", &["Cat"], "2026-02-20").await;
    refresh(&f, false).await;
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "content_preserved_no_new_facts", "{:?}", after.last_run);
    assert!(after.model.open_proposal.is_none());
    assert!(proposals::inbox(&f.engine, &f.bank).await.expect("an inbox").is_empty());
}
