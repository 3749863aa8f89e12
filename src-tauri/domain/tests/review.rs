//! A proposal from its making to its end: what comes along with a decision, what happens when the
//! document moves, how a conflict ends, what a newer proposal takes over, and what a draft says.

use std::collections::{BTreeSet, HashMap};

use domain::delta::{CitedOp, DeltaOp, ParsedOp, Rules, apply_operations};
use domain::document::{Document, parse, reconcile};
use domain::proposal::{
    ClockMove, Conflict, DecideError, Decision, DocumentOutcome, EvidenceRole, Granularity, Marker,
    OpDecision, Pending, ProposalOp, ProposalState, RebaseVerdict, Rebased, RejectDisposition,
    Resolution, ResolveError, RunFacts, SettleError, Verdict, decide_draft, decide_ops, edit_op,
    fold, rebase, record_ops, resolve_conflict, settle, state_after_rebase,
};
use domain::provenance::{Author, BlockOrigin, PERSON, Provenance};

const CREW: &str = "# Crew\n\nWho does what.\n\n## Members\n\n- Ana\n- Ben\n\n## Hours\n\nStart at 8.\n\nLunch at 12.\n";

fn at() -> domain::Instant {
    domain::time::from_millis(1_700_000_000_000)
}

fn id(document: &Document, text: &str) -> String {
    document.blocks().find(|block| block.text == text).expect("the block").id.clone()
}

fn append(section: &str, text: &str) -> DeltaOp {
    DeltaOp::AppendBlock { section_id: section.to_owned(), text: text.to_owned() }
}

fn replace(document: &Document, section: &str, old: &str, new: &str) -> DeltaOp {
    DeltaOp::ReplaceBlock {
        section_id: section.to_owned(),
        block_id: id(document, old),
        text: new.to_owned(),
    }
}

fn remove(document: &Document, section: &str, old: &str) -> DeltaOp {
    DeltaOp::RemoveBlock { section_id: section.to_owned(), block_id: id(document, old) }
}

fn add_section(heading: &str, text: &str) -> DeltaOp {
    DeltaOp::AddSection {
        heading: heading.to_owned(),
        level: 2,
        blocks: vec![text.to_owned()],
        after_section_id: Some("members".to_owned()),
        new_id: None,
    }
}

/// Records operations; the n-th cites `f<n>`.
fn made_with(base: &Document, ops: Vec<DeltaOp>, provenance: &Provenance) -> Vec<ProposalOp> {
    let cited = ops.into_iter().enumerate().map(|(at, op)| CitedOp {
        op,
        evidence: vec![format!("f{at}")],
        claims: Vec::new(),
    });
    let applied = apply_operations(base, &ParsedOp::list(cited), &Rules::default());
    let texts = HashMap::from([("f0".to_owned(), "fact zero".to_owned())]);
    record_ops(&applied, &RunFacts { texts: &texts, provenance })
}

fn made(base: &Document, ops: Vec<DeltaOp>) -> Vec<ProposalOp> {
    made_with(base, ops, &Provenance::default())
}

fn say(ops: &[ProposalOp], index: usize, decision: Decision) -> Vec<ProposalOp> {
    let word = OpDecision { op_id: ops[index].op_id.clone(), decision, note: None };
    decide_ops(ops, &[word], at()).expect("can be decided")
}

fn decisions(ops: &[ProposalOp]) -> Vec<Decision> {
    ops.iter().map(|op| op.decision).collect()
}

fn moved(ops: &[ProposalOp], base: &Document, now: &str) -> (Rebased, Document) {
    let now = reconcile(base, parse(now));
    (rebase(ops, base, &now, &BTreeSet::new()), now)
}

fn words(rebased: &Rebased) -> Vec<String> {
    rebased.verdicts.iter().map(|(_, verdict)| verdict.word()).collect()
}

#[test]
fn an_operation_knows_its_facts_and_the_sources_of_the_old_text() {
    let base = parse(CREW);
    let sources = BTreeSet::from(["g1".to_owned(), PERSON.to_owned()]);
    let origin = BlockOrigin { sources, author: Author::Person, version: 3, op_id: None };
    let provenance = Provenance([(id(&base, "Start at 8."), origin)].into());
    let ops = made_with(
        &base,
        vec![replace(&base, "hours", "Start at 8.", "Start at 9."), append("hours", "x")],
        &provenance,
    );
    assert!(ops[0].human_touch);
    let roles: Vec<_> = ops[0].evidence.iter().map(|e| (e.fact_id.as_str(), e.role)).collect();
    assert_eq!(roles, [("f0", EvidenceRole::Cited), ("g1", EvidenceRole::OldSource)]);
    assert_eq!(ops[0].evidence[0].text, "fact zero");
    assert_eq!(ops[0].cited_facts(), ["f0"]);
    assert!(!ops[1].human_touch);
}

#[test]
fn halves_of_a_move_and_additions_built_on_a_removal_are_hinted() {
    let base = parse(CREW);
    let ops = made(
        &base,
        vec![
            remove(&base, "hours", "Lunch at 12."),
            append("members", "Lunch at 12."),
            append("hours", "unrelated"),
        ],
    );
    assert_eq!(ops[0].conflicts_hint, [1]);
    assert_eq!(ops[1].conflicts_hint, [0]);
    assert!(ops[2].conflicts_hint.is_empty());
    assert!(ops[1].requires.is_empty(), "a hint is no requirement");
}

#[test]
fn accepting_and_refusing_take_others_along() {
    let base = parse(CREW);
    let ops = made(
        &base,
        vec![add_section("Safety", "Helmets."), append("safety", "Gloves."), append("hours", "x")],
    );
    assert_eq!(ops[1].requires, [0]);
    let accepted = say(&ops, 1, Decision::Accepted);
    assert_eq!(decisions(&accepted), [Decision::Accepted, Decision::Accepted, Decision::Undecided]);
    let refused = say(&accepted, 0, Decision::Rejected);
    assert_eq!(decisions(&refused), [Decision::Rejected, Decision::Rejected, Decision::Undecided]);
    let put_off = say(&accepted, 0, Decision::Deferred);
    assert_eq!(decisions(&put_off)[1], Decision::Deferred);
    let unknown = OpDecision { op_id: "none".into(), decision: Decision::Accepted, note: None };
    assert!(matches!(decide_ops(&ops, &[unknown], at()), Err(DecideError::UnknownOp(_))));
}

#[test]
fn skipped_operations_cannot_be_decided() {
    let base = parse(CREW);
    let ops = made(&base, vec![append("nowhere", "x"), append("hours", "y")]);
    let word = OpDecision { op_id: ops[0].op_id.clone(), decision: Decision::Accepted, note: None };
    assert!(matches!(decide_ops(&ops, &[word], at()), Err(DecideError::NotDecidable(_))));
}

#[test]
fn every_kind_of_conflict_is_told_apart() {
    let base = parse(CREW);
    let ops = made(
        &base,
        vec![
            replace(&base, "hours", "Start at 8.", "Start at 9."),
            remove(&base, "hours", "Lunch at 12."),
            DeltaOp::RenameSection { section_id: "members".into(), new_heading: "People".into() },
            DeltaOp::InsertBlock {
                section_id: "hours".into(),
                after_block_id: Some(id(&base, "Start at 8.")),
                text: "Tea at 10.".into(),
            },
            add_section("Safety", "Helmets."),
            append("safety", "Gloves."),
        ],
    );
    let (all, _) = moved(&ops, &base, CREW);
    assert_eq!(words(&all), ["clean"; 6]);
    let (edited, _) = moved(&ops, &base, &CREW.replace("at 8", "at 7").replace("at 12", "at 13"));
    assert_eq!(
        words(&edited)[..4],
        ["conflict:text_changed", "conflict:text_changed", "clean", "clean"]
    );
    let elsewhere = "# Crew\n\nWho does what.\n\n## Members\n\n- Ana\n- Ben\n\nStart at 8.\n\n## Hours\n\nLunch at 12.\n";
    let (elsewhere, _) = moved(&ops, &base, elsewhere);
    assert_eq!(words(&elsewhere)[..4], ["conflict:moved", "clean", "clean", "conflict:moved"]);
    let gone = "# Crew\n\nWho does what.\n\n## People\n\n- Ana\n- Ben\n\n## Hours\n";
    let (gone, _) = moved(&ops, &base, gone);
    assert_eq!(
        words(&gone)[..4],
        ["conflict:missing", "already_done", "already_done", "conflict:missing"]
    );
    let without_anchor = "# Crew\n\nWho does what.\n\n## Hours\n\nStart at 8.\n\nLunch at 12.\n";
    let (cut, _) = moved(&ops, &base, without_anchor);
    assert_eq!(words(&cut)[4..], ["conflict:missing", "conflict:dependency"]);
    assert_eq!(state_after_rebase(ProposalState::Open, &cut.ops), ProposalState::Conflicted);
}

#[test]
fn what_builds_on_an_addition_that_is_already_there_follows_it() {
    let base = parse(CREW);
    let ops = made(&base, vec![add_section("Safety", "Helmets."), append("safety", "Gloves.")]);
    let now = "# Crew\n\nWho does what.\n\n## Members\n\n- Ana\n- Ben\n\n## Hours\n\nStart at 8.\n\nLunch at 12.\n\n## Safety\n\nHelmets.\n";
    let mut there = reconcile(&base, parse(now));
    there.sections[3].id = "other-name".to_owned();
    let rebased = rebase(&ops, &base, &there, &BTreeSet::new());
    assert_eq!(words(&rebased), ["already_done", "clean"]);
    assert_eq!(rebased.ops[0].marker, Some(Marker::AlreadyDone));
    assert!(rebased.candidate.render().ends_with("Helmets.\n\nGloves.\n"));
    assert_eq!(rebased.ops[1].op.section_id(), Some("other-name"));
}

#[test]
fn a_section_that_someone_wrote_into_is_not_replaced_or_removed() {
    let base = parse(CREW);
    let blocks = vec!["Always open.".to_owned()];
    let ops =
        made(&base, vec![DeltaOp::ReplaceSectionBlocks { section_id: "hours".into(), blocks }]);
    let removal = made(&base, vec![DeltaOp::RemoveSection { section_id: "hours".into() }]);
    let more = format!("{CREW}\nMine.\n");
    assert_eq!(words(&moved(&ops, &base, &more).0), ["conflict:text_changed"]);
    assert_eq!(words(&moved(&removal, &base, &more).0), ["conflict:text_changed"]);
    let same = CREW.replace("Start at 8.\n\nLunch at 12.", "Always open.");
    assert_eq!(words(&moved(&ops, &base, &same).0), ["already_done"]);
}

#[test]
fn an_operation_whose_facts_are_all_gone_is_in_conflict() {
    let base = parse(CREW);
    let ops = made(&base, vec![append("hours", "x"), append("hours", "y")]);
    let gone = BTreeSet::from(["f0".to_owned()]);
    let rebased = rebase(&ops, &base, &base, &gone);
    assert_eq!(words(&rebased), ["conflict:evidence_withdrawn", "clean"]);
}

#[test]
fn conflicts_end_by_keeping_taking_or_rewriting() {
    let base = parse(CREW);
    let ops = made(
        &base,
        vec![replace(&base, "hours", "Start at 8.", "Start at 9."), append("hours", "Stop at 17.")],
    );
    let (rebased, now) = moved(&ops, &base, &CREW.replace("at 8", "at 7"));
    let state = state_after_rebase(ProposalState::InReview, &rebased.ops);
    assert_eq!(state, ProposalState::Conflicted);
    let end = |resolution: Resolution| {
        resolve_conflict(&rebased.ops, 0, &resolution, &base, &now, &BTreeSet::new(), at())
            .expect("ends")
    };
    let mine = end(Resolution::Mine);
    assert_eq!(state_after_rebase(state, &mine.ops), ProposalState::InReview);
    assert!(mine.candidate.render().contains("Start at 7."));
    let proposed = end(Resolution::Proposed);
    assert!(proposed.candidate.render().contains("Start at 9."));
    assert_eq!(proposed.ops[0].decision, Decision::Accepted);
    assert_eq!(state_after_rebase(state, &proposed.ops), ProposalState::InReview);
    let edited = end(Resolution::Edited { text: "Start at 8:30.".into() });
    assert!(edited.candidate.render().contains("Start at 8:30.\n\nLunch"));
    let bad = Resolution::Edited { text: "# No".into() };
    let refused = resolve_conflict(&rebased.ops, 0, &bad, &base, &now, &BTreeSet::new(), at());
    assert_eq!(refused, Err(ResolveError::BadText));
}

#[test]
fn a_text_whose_block_or_section_is_gone_still_finds_a_place() {
    let base = parse(CREW);
    let ops = made(&base, vec![replace(&base, "hours", "Start at 8.", "Start at 9.")]);
    let (rebased, now) = moved(&ops, &base, &CREW.replace("Start at 8.\n\n", ""));
    assert_eq!(rebased.ops[0].conflict, Some(Conflict::Missing));
    let taken = resolve_conflict(
        &rebased.ops,
        0,
        &Resolution::Proposed,
        &base,
        &now,
        &BTreeSet::new(),
        at(),
    );
    assert!(taken.expect("ends").candidate.render().ends_with("Lunch at 12.\n\nStart at 9.\n"));
    let (rebased, now) = moved(&ops, &base, "# Crew\n\nWho does what.\n");
    let taken = resolve_conflict(
        &rebased.ops,
        0,
        &Resolution::Proposed,
        &base,
        &now,
        &BTreeSet::new(),
        at(),
    );
    assert!(taken.expect("ends").candidate.render().ends_with("## Hours\n\nStart at 9.\n"));
}

#[test]
fn a_newer_proposal_takes_over_what_was_said_about_the_same_change() {
    let base = parse(CREW);
    let ops = made(
        &base,
        vec![
            append("hours", "Stop at 17."),
            replace(&base, "hours", "Start at 8.", "Start at 9."),
            remove(&base, "hours", "Lunch at 12."),
        ],
    );
    let ops =
        say(&say(&say(&ops, 0, Decision::Accepted), 1, Decision::Accepted), 2, Decision::Rejected);
    let newer = made(
        &base,
        vec![
            append("hours", "Stop  at\n17."),
            replace(&base, "hours", "Start at 8.", "Start at 10."),
            remove(&base, "hours", "Lunch at 12."),
        ],
    );
    let folded = fold(&ops, &newer);
    assert_eq!(decisions(&folded), [Decision::Accepted, Decision::Undecided, Decision::Rejected]);
    assert_eq!(folded[0].marker, Some(Marker::Carried));
    assert_eq!(folded[1].marker, Some(Marker::Reworded));
    let mut with_news = newer;
    with_news[2].evidence[0].fact_id = "new fact".to_owned();
    assert_eq!(fold(&ops, &with_news)[2].decision, Decision::Undecided, "news reopen a refusal");
}

#[test]
fn a_draft_tells_which_operations_it_still_carries_out() {
    let base = parse(CREW);
    let ops = made(
        &base,
        vec![
            append("hours", "Stop at 17."),
            replace(&base, "hours", "Start at 8.", "Start at 9."),
            remove(&base, "hours", "Lunch at 12."),
            add_section("Safety", "Helmets."),
        ],
    );
    let candidate =
        domain::proposal::apply_selection(&base, &ops, &ops.iter().map(|op| op.index).collect())
            .document;
    // The person rewords the appended line, undoes the replacement, puts lunch back and keeps Safety.
    let draft = candidate
        .render()
        .replace("Stop at 17.", "Stop at five.")
        .replace("Start at 9.", "Start at 8.")
        .replace("- Ben\n", "- Ben\n\nLunch at 12.\n");
    let outcome = decide_draft(&base, &candidate, &ops, &draft);
    assert_eq!(outcome.accepted, BTreeSet::from([0, 3]));
    assert_eq!(outcome.rejected, BTreeSet::from([1, 2]));
    assert_eq!(outcome.document.render(), draft);
    assert!(outcome.person_blocks.contains(&id(&outcome.document, "Stop at five.")));
    assert!(!outcome.person_blocks.contains(&id(&outcome.document, "Helmets.")));
}

fn pending<'a>(ops: &'a [ProposalOp], facts: &'a [String]) -> Pending<'a> {
    Pending {
        state: ProposalState::InReview,
        granularity: Granularity::Ops,
        ops,
        facts_used: facts,
    }
}

#[test]
fn what_nobody_decided_is_put_off_and_not_lost() {
    let base = parse(CREW);
    let ops = made(&base, vec![append("hours", "x"), append("hours", "y")]);
    let ops = say(&ops, 0, Decision::Accepted);
    let settled = settle(&pending(&ops, &[]), &Verdict::ApproveSelected).expect("approved");
    assert_eq!(settled.state, ProposalState::PartiallyApproved);
    assert_eq!(settled.merged, ["f0"]);
    assert_eq!(settled.carry_over, ["f1"]);
    assert_eq!(settled.decisions, [(0, Decision::Accepted), (1, Decision::Deferred)]);
}

#[test]
fn selecting_everything_is_approving_everything() {
    let base = parse(CREW);
    let ops = made(&base, vec![append("hours", "x")]);
    let ops = say(&ops, 0, Decision::Accepted);
    let settled = settle(&pending(&ops, &[]), &Verdict::ApproveSelected).expect("approved");
    assert_eq!(settled.state, ProposalState::Approved);
    assert_eq!(settled.document, DocumentOutcome::Candidate);
}

#[test]
fn a_note_means_try_again_unless_said_otherwise() {
    let base = parse(CREW);
    let ops = made(&base, vec![append("hours", "x")]);
    let facts = vec!["f0".to_owned(), "uncited".to_owned()];
    let reject = |note: Option<&str>, disposition| {
        let verdict = Verdict::Reject { note: note.map(str::to_owned), disposition };
        settle(&pending(&ops, &facts), &verdict).expect("rejected")
    };
    let again = reject(Some("shorter"), None);
    assert_eq!((again.clock, again.guidance.as_deref()), (ClockMove::Retry, Some("shorter")));
    assert!(again.declined.is_empty());
    let dismissed = reject(None, None);
    assert_eq!(dismissed.clock, ClockMove::Dismissed);
    let declined: Vec<_> = dismissed.declined.iter().flat_map(|d| d.fact_ids.clone()).collect();
    assert_eq!(declined, ["f0", "uncited"]);
    let noted = reject(Some("no"), Some(RejectDisposition::Dismiss));
    assert_eq!(noted.declined[0].note.as_deref(), Some("no"));
}

#[test]
fn conflicts_and_closed_proposals_bar_approval() {
    let base = parse(CREW);
    let ops = made(&base, vec![replace(&base, "hours", "Start at 8.", "Start at 9.")]);
    let (rebased, _) = moved(&ops, &base, &CREW.replace("at 8", "at 7"));
    let barred = settle(&pending(&rebased.ops, &[]), &Verdict::ApproveAll);
    assert_eq!(barred, Err(SettleError::Conflicted(1)));
    let closed = Pending { state: ProposalState::Rejected, ..pending(&ops, &[]) };
    assert_eq!(settle(&closed, &Verdict::ApproveAll), Err(SettleError::Closed));
}

#[test]
fn what_the_document_already_says_counts_as_accepted() {
    let base = parse(CREW);
    let ops = made(
        &base,
        vec![replace(&base, "hours", "Start at 8.", "Start at 9."), append("hours", "x")],
    );
    let (rebased, _) = moved(&ops, &base, &CREW.replace("at 8", "at 9"));
    assert_eq!(rebased.verdicts[0].1, RebaseVerdict::AlreadyDone);
    let settled = settle(&pending(&rebased.ops, &[]), &Verdict::ApproveAll).expect("approved");
    assert_eq!(settled.merged, ["f1", "f0"]);
    assert_eq!(settled.accepted, BTreeSet::from([1]));
}

#[test]
fn a_whole_proposal_is_taken_or_left() {
    let facts = vec!["f0".to_owned()];
    let whole = Pending { granularity: Granularity::Whole, ..pending(&[], &facts) };
    let settled = settle(&whole, &Verdict::ApproveAll).expect("approved");
    assert_eq!((settled.document, settled.merged), (DocumentOutcome::Candidate, facts.clone()));
    assert_eq!(settle(&whole, &Verdict::ApproveSelected), Err(SettleError::WholeOnly));
    let dropped = Verdict::Reject { note: None, disposition: None };
    assert_eq!(settle(&whole, &dropped).expect("rejected").declined[0].fact_ids, facts);
}

/// A text of the person's own: the change keeps its kind, its place and what it hangs on, and what
/// hangs on it finds its blocks.
#[test]
fn an_edit_changes_what_an_operation_says_and_nothing_else() {
    let base = parse("# Crew\n\nAna leads.\n\n| Day | Who |\n| --- | --- |\n| Mon | Ana |\n");
    let table = base.blocks().last().expect("the table").id.clone();
    let after = |id: &str, text: &str| DeltaOp::InsertBlock {
        section_id: "tools".to_owned(),
        after_block_id: Some(id.to_owned()),
        text: text.to_owned(),
    };
    let saw = domain::document::block_id("A saw.");
    let plane = domain::document::block_id("A plane.");
    let all = vec![
        DeltaOp::AddSection {
            heading: "Tools".to_owned(),
            level: 1,
            blocks: vec!["A saw.".to_owned()],
            after_section_id: None,
            new_id: None,
        },
        after(&saw, "A plane."),
        after(&plane, "A rasp."),
        DeltaOp::ReplaceBlock {
            section_id: "tools".to_owned(),
            block_id: plane,
            text: "Two planes.".to_owned(),
        },
        DeltaOp::AddSection {
            heading: "Wood".to_owned(),
            level: 1,
            blocks: vec!["Oak.".to_owned()],
            after_section_id: Some("tools".to_owned()),
            new_id: None,
        },
        append("crew", "| Tue | Ben |"),
        remove(&base, "crew", "Ana leads."),
    ];
    let ops = made(&base, all);
    assert!(ops.iter().all(ProposalOp::is_live), "{ops:?}");
    assert_eq!(ops[5].merged_into_block_id.as_ref(), Some(&table));
    let none = BTreeSet::new();
    let edit = |ops: &[ProposalOp], n: usize, proposed: &DeltaOp, text: Option<&str>| {
        let edited = edit_op(ops, ops[n].index, proposed, text, &base, &none, at());
        edited.unwrap_or_else(|error| panic!("{n}: {error}"))
    };
    let as_made = rebase(&ops, &base, &base, &none).candidate;
    for (n, text, wanted) in [
        (0, "A rip saw.\n\nA file.", "A rip saw.\n\nTwo planes.\n\nA rasp.\n\nA file.\n"),
        // What would replace the person's words is in conflict with them.
        (1, "A jack plane.", "A saw.\n\nA jack plane.\n\nA rasp.\n"),
        (2, "A fine rasp.", "A saw.\n\nTwo planes.\n\nA fine rasp.\n"),
        (3, "Three planes.", "A saw.\n\nThree planes.\n\nA rasp.\n"),
        (4, "Ash.", "A rasp.\n\n# Wood\n\nAsh.\n"),
        (5, "| Tue | Cem |", "| Mon | Ana |\n| Tue | Cem |\n"),
        (6, "Ana led.", "# Crew\n\nAna led.\n\n|"),
    ] {
        let edited = edit(&ops, n, &ops[n].op, Some(text));
        let now = edited.candidate.render();
        assert!(now.contains(wanted), "{n}: {now}");
        let stuck: Vec<u32> =
            edited.ops.iter().filter(|op| !op.is_live()).map(|op| op.index).collect();
        assert_eq!(stuck, if n == 1 { vec![3] } else { Vec::new() }, "{n}: {:?}", edited.verdicts);
        let kinds = |ops: &[ProposalOp]| ops.iter().map(|op| op.op.kind()).collect::<Vec<_>>();
        let hangs =
            |ops: &[ProposalOp]| ops.iter().map(|op| op.requires.clone()).collect::<Vec<_>>();
        assert_eq!(hangs(&edited.ops), hangs(&ops), "{n}");
        if n != 6 {
            assert_eq!(kinds(&edited.ops), kinds(&ops), "{n}");
        }
        let back = edit(&edited.ops, n, &ops[n].op, None);
        assert_eq!(back.candidate.render(), as_made.render(), "{n}: taken back");
        assert_eq!(kinds(&back.ops), kinds(&ops), "{n}");
    }
    let refused = edit_op(&ops, ops[1].index, &ops[1].op, Some("# No"), &base, &none, at());
    assert_eq!(refused.expect_err("a heading"), ResolveError::BadText);
}
