//! The cases of proposals: dependencies and selections, rebase verdicts, effects of decisions.

mod cases_support;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cases_support::{Case, run_cases, with_block_ids};
use domain::delta::{Applied, CitedOp, DeltaOp, ParsedOp, Rules, apply_operations, read_ops};
use domain::document::{Document, parse, reconcile};
use domain::proposal::{
    ClockMove, Decision, DocumentOutcome, Granularity, OpDecision, Pending, ProposalOp,
    ProposalState, RejectDisposition, RunFacts, SettleError, Settlement, Verdict, apply_selection,
    close_selection, decide_ops, rebase, record_ops, settle,
};
use domain::provenance::Provenance;
use serde_json::Value;

const KEYS: [&str; 11] = [
    "kind", "doc", "ops", "requires", "accept", "closure", "render", "now", "verdicts", "event",
    "expect",
];

#[test]
fn proposals() {
    run_cases("proposals", &KEYS, |case| match case.text("kind") {
        "select" => select(case),
        "rebase" => move_base(case),
        "decision" => decide(case),
        kind => panic!("{}: nobody checks the kind {kind}", case.id),
    });
}

fn record(applied: &Applied) -> Vec<ProposalOp> {
    let (texts, provenance) = (HashMap::new(), Provenance::default());
    record_ops(applied, &RunFacts { texts: &texts, provenance: &provenance })
}

fn recorded(case: &Case) -> (Document, Vec<ProposalOp>) {
    let base = parse(case.text("doc"));
    let ops = with_block_ids(case.get("ops"), &base);
    let ops = read_ops(ops.as_array().expect("a list of operations"));
    let applied = apply_operations(&base, &ops, &Rules::default());
    (base, record(&applied))
}

fn numbers(value: &Value) -> BTreeSet<u32> {
    let number = |item: &Value| u32::try_from(item.as_u64().expect("a number")).expect("small");
    value.as_array().expect("a list").iter().map(number).collect()
}

fn select(case: &Case) {
    let (base, ops) = recorded(case);
    let wanted: BTreeMap<u32, BTreeSet<u32>> = case
        .get("requires")
        .as_object()
        .expect("requires is an object")
        .iter()
        .map(|(index, needs)| (index.parse().expect("an index"), numbers(needs)))
        .collect();
    for op in &ops {
        // A case may name direct requirements only; ours are complete.
        let mut needs = wanted.get(&op.index).cloned().unwrap_or_default();
        while let Some(more) = needs
            .iter()
            .filter_map(|need| wanted.get(need))
            .flatten()
            .find(|need| !needs.contains(need))
            .copied()
        {
            needs.insert(more);
        }
        assert_eq!(op.requires.iter().copied().collect::<BTreeSet<_>>(), needs, "{}", case.id);
    }
    let accept = numbers(case.get("accept"));
    let closed = close_selection(&ops, &accept);
    assert_eq!(closed, numbers(case.get("closure")), "{}: closure", case.id);
    let selected = apply_selection(&base, &ops, &accept);
    assert_eq!(selected.failed, Vec::<u32>::new(), "{}", case.id);
    assert_eq!(selected.document.render(), case.text("render"), "{}", case.id);
}

fn move_base(case: &Case) {
    let (base, ops) = recorded(case);
    let now = reconcile(&base, parse(case.text("now")));
    let rebased = rebase(&ops, &base, &now, &BTreeSet::new());
    let verdicts: Vec<String> = rebased.verdicts.iter().map(|(_, v)| v.word()).collect();
    assert_eq!(verdicts, cases_support::texts(case.get("verdicts")), "{}", case.id);
}

/// A proposal of three operations; every two of them share a fact, and each has one of its own.
fn three_operations() -> Vec<ProposalOp> {
    let append = |text: &str, facts: &[&str]| CitedOp {
        op: DeltaOp::AppendBlock { section_id: "a".to_owned(), text: text.to_owned() },
        evidence: facts.iter().map(|fact| (*fact).to_owned()).collect(),
        claims: Vec::new(),
    };
    let ops = ParsedOp::list([
        append("zero", &["f0", "f01", "f02"]),
        append("one", &["f1", "f01"]),
        append("two", &["f2", "f02"]),
    ]);
    record(&apply_operations(&parse("# A\n\nx\n"), &ops, &Rules::default()))
}

fn decide(case: &Case) {
    let expect = case.get("expect").as_object().expect("expect is an object");
    let event = case.text("event");
    let settled = carry_out(event, &case.id);
    for (key, wanted) in expect {
        match &settled {
            Err(error) => {
                assert_eq!(key, "error", "{}: {error}", case.id);
                assert_eq!(wanted, error_word(*error), "{}", case.id);
            }
            Ok(settlement) => check(case, settlement, event, key, wanted),
        }
    }
}

fn error_word(error: SettleError) -> &'static str {
    match error {
        SettleError::NothingAccepted => "nothing_accepted",
        SettleError::Closed => "proposal_closed",
        SettleError::Conflicted(_) => "proposal_conflicted",
        SettleError::WholeOnly => "whole_only",
    }
}

/// Reads an event: `approve all`, `approve edited`, `approve with every op rejected`, `reject[, ] with note, retry`,
/// `newer refresh finishes while open`, or a list of `accept|reject|defer op <n>`.
fn carry_out(event: &str, id: &str) -> Result<Settlement, SettleError> {
    let mut ops = three_operations();
    let verdict = match event {
        "approve all" => Verdict::ApproveAll,
        "approve with every op rejected" => {
            say(
                &mut ops,
                &[(0, Decision::Rejected), (1, Decision::Rejected), (2, Decision::Rejected)],
            );
            Verdict::ApproveSelected
        }
        "approve edited" => Verdict::ApproveDraft { accepted: [0, 1, 2].into() },
        "newer refresh finishes while open" | "document cleared while open" => Verdict::Supersede,
        _ if event.contains(" op ") => {
            say(&mut ops, &words_on_ops(event, id));
            Verdict::ApproveSelected
        }
        _ if event.starts_with("reject") => Verdict::Reject {
            note: event.contains("with note").then(|| "note".to_owned()),
            disposition: if event.ends_with("retry") {
                Some(RejectDisposition::Retry)
            } else if event.ends_with("dismiss") {
                Some(RejectDisposition::Dismiss)
            } else {
                None
            },
        },
        _ => panic!("{id}: nobody knows the event {event}"),
    };
    let facts: Vec<String> =
        ["f0", "f01", "f02", "f1", "f2"].iter().map(|fact| (*fact).to_owned()).collect();
    let pending = Pending {
        state: ProposalState::Open,
        granularity: Granularity::Ops,
        ops: &ops,
        facts_used: &facts,
    };
    settle(&pending, &verdict)
}

fn words_on_ops(event: &str, id: &str) -> Vec<(usize, Decision)> {
    event
        .split(", ")
        .map(|part| {
            let words: Vec<&str> = part.split(' ').collect();
            let decision = match words.first().copied() {
                Some("accept") => Decision::Accepted,
                Some("reject") => Decision::Rejected,
                Some("defer") => Decision::Deferred,
                _ => panic!("{id}: nobody knows {part}"),
            };
            let number = words.get(2).and_then(|number| number.parse().ok());
            (number.unwrap_or_else(|| panic!("{id}: no operation in {part}")), decision)
        })
        .collect()
}

fn say(ops: &mut Vec<ProposalOp>, words: &[(usize, Decision)]) {
    let decisions: Vec<OpDecision> = words
        .iter()
        .map(|(at, decision)| OpDecision {
            op_id: ops[*at].op_id.clone(),
            decision: *decision,
            note: None,
        })
        .collect();
    let at = domain::time::from_millis(0);
    *ops = decide_ops(ops, &decisions, at).expect("the operations can be decided");
}

fn check(case: &Case, settlement: &Settlement, event: &str, key: &str, wanted: &Value) {
    let word = match key {
        "state" => settlement.state.word().to_owned(),
        "document" => match settlement.document {
            DocumentOutcome::Candidate => "candidate",
            DocumentOutcome::Selection => "selection",
            DocumentOutcome::Draft => "draft",
            DocumentOutcome::Unchanged => "unchanged",
        }
        .to_owned(),
        "watermark" => match settlement.clock {
            ClockMove::Approved | ClockMove::Dismissed => "proposal",
            ClockMove::Retry | ClockMove::None => "unchanged",
        }
        .to_owned(),
        "last_refreshed_at" => match settlement.clock {
            ClockMove::Approved | ClockMove::Dismissed => "now",
            ClockMove::Retry | ClockMove::None => "unchanged",
        }
        .to_owned(),
        "new_version" => {
            assert_eq!(wanted, settlement.makes_version(), "{}", case.id);
            return;
        }
        "guidance" => settlement.guidance.clone().unwrap_or_default(),
        "open_proposals" => {
            // The replaced one is closed, and the newer one is the only one that waits.
            let states = [settlement.state, ProposalState::Open];
            let open = states.iter().filter(|state| !state.is_terminal()).count();
            assert_eq!(wanted, open, "{}: {event}", case.id);
            return;
        }
        "merged" => return facts(case, wanted, &settlement.merged),
        "declined" => {
            let all: Vec<String> =
                settlement.declined.iter().flat_map(|d| d.fact_ids.clone()).collect();
            return facts(case, wanted, &all);
        }
        "carry_over" => return facts(case, wanted, &settlement.carry_over),
        _ => panic!("{}: nobody checks {key}", case.id),
    };
    assert_eq!(wanted, &word, "{}: {key}", case.id);
}

/// Compares facts with `all evidence`, `none` or `facts of <n>[, <n>] [not in <n>]`.
fn facts(case: &Case, wanted: &Value, got: &[String]) {
    let words = wanted.as_str().unwrap_or_else(|| panic!("{}: facts are a text", case.id));
    let of = |list: &str| -> BTreeSet<String> {
        let ops = three_operations();
        list.split(", ")
            .flat_map(|number| {
                let at: usize = number.trim().parse().unwrap_or_else(|_| {
                    panic!("{}: nobody knows the facts {words}", case.id);
                });
                ops[at].cited_facts().into_iter().map(str::to_owned).collect::<Vec<_>>()
            })
            .collect()
    };
    let wanted: BTreeSet<String> = match words {
        "all evidence" => of("0, 1, 2"),
        "none" => BTreeSet::new(),
        _ => {
            let list = words.strip_prefix("facts of ").unwrap_or(words);
            match list.split_once(" not in ") {
                Some((these, others)) => of(these).difference(&of(others)).cloned().collect(),
                None => of(list),
            }
        }
    };
    assert_eq!(got.iter().cloned().collect::<BTreeSet<_>>(), wanted, "{}", case.id);
}
