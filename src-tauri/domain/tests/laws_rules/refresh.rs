//! Corners of a refresh's decisions: the order of modes, retractions in the outcome, carry-over,
//! clocks that never go back, gates.

use std::collections::BTreeSet;

use domain::Instant;
use domain::model::{CarryOver, CarryOverWhy, Review};
use domain::refresh::{
    ClockEvent, Clocks, DeltaResult, Extraction, FailureReason, FallbackReason, Gate, Idle,
    IdleInput, Judged, ModeInput, Outcome, ResultInput, Skip, Standing, Watermark, automatic_gate,
    carry_over, decide, extraction_due, next_delta_failures, plan_idle, plan_mode, uncovered,
};
use domain::schedule::FailureClass;
use domain::time::from_millis;
use domain::trigger::{DeltaFailurePolicy, RefreshMode};
use proptest::prelude::*;

fn delta_model() -> ModeInput<'static> {
    ModeInput {
        mode: RefreshMode::Delta,
        forced_full: false,
        content: "# A\n",
        placeholder: false,
        authored: false,
        grounded: true,
        source_query: "q",
        last_refreshed_source_query: Some(" q "),
        readable: true,
        delta_failures: 0,
        delta_failure_limit: 3,
        delta_failure_policy: DeltaFailurePolicy::ProposeFull,
    }
}

#[test]
fn the_first_condition_decides_the_mode() {
    let reason = |input: &ModeInput<'_>| plan_mode(input).expect("readable").reason;
    let mut input = delta_model();
    assert_eq!(reason(&input), None);
    input.delta_failures = 3;
    let wedged = plan_mode(&input).expect("readable");
    assert_eq!(wedged.reason, Some(FallbackReason::DeltaWedged));
    assert!(wedged.must_propose && wedged.effective == RefreshMode::Full);
    input.delta_failure_policy = DeltaFailurePolicy::Fail;
    assert_eq!(reason(&input), None);
    input.readable = false;
    assert!(plan_mode(&input).is_err());
    input.source_query = "other";
    assert_eq!(reason(&input), Some(FallbackReason::SourceQueryChanged));
    input.grounded = false;
    assert_eq!(reason(&input), Some(FallbackReason::NoBaselineContent));
    input.authored = true;
    assert_eq!(reason(&input), Some(FallbackReason::SourceQueryChanged));
    input.forced_full = true;
    let rebuild = plan_mode(&input).expect("readable");
    assert_eq!(rebuild.reason, Some(FallbackReason::ForcedFull));
    assert!(rebuild.must_propose, "a rebuild beside edits is looked at first");
    input.placeholder = true;
    assert!(!plan_mode(&input).expect("readable").must_propose, "there is nothing to look after");
    input.mode = RefreshMode::Full;
    assert_eq!(reason(&input), None);
}

#[test]
fn nothing_to_read_needs_no_call() {
    let nothing = IdleInput {
        mode: RefreshMode::Delta,
        scope_has_memory: false,
        window_has_memory: false,
        has_carry_over: false,
        has_retraction: false,
        sees_sibling: false,
    };
    assert_eq!(plan_idle(&nothing), Some(Idle::EmptyScope));
    // A changed sibling is no new fact for a delta, but a full refresh may read it.
    let sibling = IdleInput { sees_sibling: true, ..nothing };
    assert_eq!(plan_idle(&sibling), Some(Idle::EmptyWindow));
    assert_eq!(plan_idle(&IdleInput { mode: RefreshMode::Full, ..sibling }), None);
    let scope = IdleInput { scope_has_memory: true, ..nothing };
    assert_eq!(plan_idle(&scope), Some(Idle::EmptyWindow));
    assert_eq!(plan_idle(&IdleInput { has_carry_over: true, ..nothing }), None);
    assert_eq!(plan_idle(&IdleInput { has_retraction: true, ..scope }), None);
    assert_eq!(plan_idle(&IdleInput { window_has_memory: true, ..scope }), None);
}

fn delta_result<'a>(baseline: &'a str, document: &'a str) -> ResultInput<'a> {
    ResultInput {
        mode: RefreshMode::Delta,
        review: Review::Auto,
        must_propose: false,
        baseline,
        candidate: "something new",
        document,
        evidence: 1,
        unsaid: false,
        delta: DeltaResult::Tried { applied: 1, noop: 0, skipped: 0 },
        extraction: Extraction::NotDue,
        cited_before: &[],
        cited_after: &[],
        removal_limit: 0.3,
        citation_limit: 0.5,
    }
}

const TEN: &str = "a\n\nb\n\nc\n\nd\n\ne\n\nf\n\ng\n\nh\n\ni\n\nj\n";

#[test]
fn a_large_removal_is_proposed() {
    let seven = "a\n\nb\n\nc\n\nd\n\ne\n\nf\n\ng\n";
    assert_eq!(decide(&delta_result(TEN, seven)).outcome, Outcome::ContentWritten);
    let six = "a\n\nb\n\nc\n\nd\n\ne\n\nf\n";
    let large = decide(&delta_result(TEN, six));
    assert_eq!(large.outcome, Outcome::ProposalCreated);
    assert!(large.large_removal && !large.moves_clocks());
    let off = ResultInput { removal_limit: 0.0, ..delta_result(TEN, six) };
    assert_eq!(decide(&off).outcome, Outcome::ContentWritten);

    let cited: Vec<String> = ["m1", "m2", "m3", "m4"].map(str::to_owned).to_vec();
    let full = ResultInput {
        mode: RefreshMode::Full,
        cited_before: &cited,
        cited_after: &cited[..2],
        ..delta_result(TEN, six)
    };
    assert_eq!(decide(&full).outcome, Outcome::ContentWritten);
    let lost = ResultInput { cited_after: &cited[..1], ..full.clone() };
    assert!(decide(&lost).large_removal);
    let wedged = ResultInput { must_propose: true, ..full };
    let wedged = decide(&wedged);
    assert!(wedged.makes_proposal() && !wedged.large_removal);
}

#[test]
fn unsaying_alone_is_a_change() {
    let unsaid = ResultInput {
        evidence: 0,
        unsaid: true,
        delta: DeltaResult::NotCalled,
        ..delta_result("a\n\nb\n\nc\n\nd\n", "a\n\nb\n\nc\n")
    };
    assert_eq!(decide(&unsaid).outcome, Outcome::ContentWritten);
    let noop = ResultInput {
        delta: DeltaResult::Tried { applied: 0, noop: 1, skipped: 0 },
        evidence: 1,
        ..unsaid.clone()
    };
    assert_eq!(decide(&noop).outcome, Outcome::ContentWritten);
    let emptied = ResultInput { document: "\n", ..unsaid };
    assert_eq!(decide(&emptied).failure_reason, Some(FailureReason::EmptyCandidate));
}

#[test]
fn changes_are_judged_by_content_and_noops_are_no_failure() {
    assert_eq!(decide(&delta_result("a\n", "a\n")).outcome, Outcome::ContentUnchanged);
    let tried = |applied, noop, skipped| {
        let delta = DeltaResult::Tried { applied, noop, skipped };
        decide(&ResultInput { delta, ..delta_result("a\n", "a\n") })
    };
    assert_eq!(tried(0, 1, 2).outcome, Outcome::ContentUnchanged);
    assert_eq!(tried(0, 0, 2).failure_reason, Some(FailureReason::DeltaOpsAllSkipped));
    assert_eq!(tried(0, 0, 0).outcome, Outcome::ContentUnchanged);
    let failed = ResultInput { extraction: Extraction::Failed, ..delta_result("a\n", "b\n") };
    let manual = ResultInput { review: Review::Manual, ..failed };
    assert_eq!(decide(&manual).outcome, Outcome::RefreshFailedStructuredOutput);
}

#[test]
fn the_structured_view_is_extracted_when_it_would_be_wrong_or_missing() {
    assert!(extraction_due(true, true, false));
    assert!(extraction_due(false, false, false));
    assert!(extraction_due(false, true, true));
    assert!(!extraction_due(false, true, false));
}

#[test]
fn failures_count_until_a_run_completes() {
    assert_eq!(next_delta_failures(2, Outcome::RefreshFailedDeltaNotApplied), 3);
    assert_eq!(next_delta_failures(2, Outcome::RefreshFailedError), 2);
    assert_eq!(next_delta_failures(2, Outcome::Cancelled), 2);
    assert_eq!(next_delta_failures(2, Outcome::ProposalCreated), 0);
    let retry = Some(FailureClass::Retryable);
    assert_eq!(FailureReason::DeltaOpsFailed.queue_class(retry), FailureClass::Retryable);
    assert_eq!(FailureReason::DeltaOpsFailed.queue_class(None), FailureClass::Final);
    assert_eq!(FailureReason::DeltaOpsAllSkipped.queue_class(retry), FailureClass::Final);
    assert_eq!(FailureReason::of_reason("tool_failed"), Some(FailureReason::RetrievalFailed));
    assert_eq!(FailureReason::of_reason("llm_auth"), Some(FailureReason::UnexpectedError));
    assert_eq!(FailureReason::of_reason("cancelled"), None);
}

fn set(ids: &[&str]) -> BTreeSet<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

#[test]
fn every_fact_in_evidence_is_accounted_for() {
    let evidence: Vec<String> = ["a", "b", "c", "d", "e", "a"].map(str::to_owned).to_vec();
    let judged = Judged {
        cited: set(&["a"]),
        cited_by_skipped: set(&["a", "b"]),
        already_reflected: set(&["c"]),
        irrelevant: set(&["d"]),
        truncated: false,
    };
    let left = |judged: &Judged| uncovered(&evidence, judged);
    let pair = |id: &str, why| (id.to_owned(), why);
    assert_eq!(
        left(&judged),
        [pair("b", CarryOverWhy::OpSkipped), pair("e", CarryOverWhy::Uncovered)]
    );
    // Of a cut answer only what it cites counts.
    let cut = Judged { truncated: true, ..judged };
    assert_eq!(
        left(&cut),
        [
            pair("b", CarryOverWhy::OpSkipped),
            pair("c", CarryOverWhy::Truncated),
            pair("d", CarryOverWhy::Truncated),
            pair("e", CarryOverWhy::Truncated),
        ]
    );
}

#[test]
fn a_carried_fact_is_given_up_after_three_vain_offers() {
    let why = CarryOverWhy::Uncovered;
    let again = [("f".to_owned(), why)];
    let mut list: Vec<CarryOver> = Vec::new();
    for (version, attempts) in [(4, 0), (5, 1), (6, 2)] {
        let after = carry_over(&list, &set(&["f"]), &again, &set(&[]), version);
        assert_eq!(after.given_up, [] as [String; 0]);
        let entry = CarryOver { fact_id: "f".into(), since_version: 4, attempts, why };
        assert_eq!(after.list, [entry]);
        list = after.list;
    }
    let after = carry_over(&list, &set(&["f"]), &again, &set(&[]), 7);
    assert_eq!((after.list, after.given_up), (Vec::new(), vec!["f".to_owned()]));
    // Covered, retracted, not offered.
    assert_eq!(carry_over(&list, &set(&["f"]), &[], &set(&[]), 7).list, []);
    assert_eq!(carry_over(&list, &set(&["f"]), &again, &set(&["f"]), 7).list, []);
    assert_eq!(carry_over(&list, &set(&[]), &[], &set(&[]), 7).list, list);
}

#[test]
fn an_unanswered_proposal_is_not_made_again_for_nothing() {
    let gate =
        |standing, newest, review| automatic_gate(true, review, standing, newest, Some(5), Some(8));
    let manual = |standing, newest| gate(standing, newest, Review::Manual);
    assert_eq!(manual(Standing::OpenOrConflicted, Some(8)), Gate::Skip(Skip::Review));
    assert_eq!(manual(Standing::OpenOrConflicted, Some(9)), Gate::Run);
    assert_eq!(manual(Standing::InReview, Some(9)), Gate::Hold);
    assert_eq!(manual(Standing::Rejected, Some(8)), Gate::Skip(Skip::Review));
    assert_eq!(manual(Standing::Rejected, None), Gate::Skip(Skip::Review));
    assert_eq!(manual(Standing::None, Some(6)), Gate::Run);
    assert_eq!(gate(Standing::OpenOrConflicted, Some(6), Review::Auto), Gate::Run);
    let fresh = automatic_gate(false, Review::Auto, Standing::None, Some(9), None, None);
    assert_eq!(fresh, Gate::Skip(Skip::Fresh));
}

fn mark(seq: i64) -> Watermark {
    Watermark { seq, at: from_millis(seq) }
}

fn event() -> impl Strategy<Value = ClockEvent> {
    let seq = 0_i64..50;
    let newest = proptest::option::of((0_i64..50).prop_map(mark));
    prop_oneof![
        (newest.clone(), seq.clone()).prop_map(|(newest_in_scope, cutoff_seq)| {
            ClockEvent::Completed { newest_in_scope, source_query: "q".into(), cutoff_seq }
        }),
        (newest.clone(), seq.clone()).prop_map(|(watermark, cutoff_seq)| {
            ClockEvent::Approved { watermark, source_query: "p".into(), cutoff_seq }
        }),
        (newest.clone(), seq.clone())
            .prop_map(|(watermark, cutoff_seq)| ClockEvent::Dismissed { watermark, cutoff_seq }),
        seq.clone().prop_map(|cutoff_seq| ClockEvent::Proposed { cutoff_seq }),
        seq.prop_map(|cutoff_seq| ClockEvent::RejectedForRetry { cutoff_seq }),
        Just(ClockEvent::FailedOrCancelled),
        Just(ClockEvent::Edited),
        Just(ClockEvent::Reverted { source_query: None, read_again_after: None }),
        Just(ClockEvent::Cleared),
        Just(ClockEvent::SettingsChanged),
        Just(ClockEvent::ScopeChanged),
    ]
}

proptest! {
    #[test]
    fn the_watermark_never_goes_back_except_to_null(
        events in proptest::collection::vec(event(), 0..30),
    ) {
        let mut clocks = Clocks::default();
        for (i, event) in events.into_iter().enumerate() {
            let now: Instant = from_millis(i64::try_from(i).expect("few") + 1);
            let resets = matches!(event, ClockEvent::Cleared | ClockEvent::ScopeChanged);
            let still = matches!(event, ClockEvent::FailedOrCancelled | ClockEvent::SettingsChanged);
            let proposes = matches!(
                event,
                ClockEvent::Proposed { .. } | ClockEvent::RejectedForRetry { .. }
            );
            let before = clocks.clone();
            clocks = clocks.after(event, now);
            let seqs = (before.watermark.map(|m| m.seq), clocks.watermark.map(|m| m.seq));
            if resets {
                prop_assert_eq!(clocks.watermark, None);
            } else {
                prop_assert!(seqs.0 <= seqs.1);
            }
            if still {
                prop_assert_eq!(&before, &clocks);
            }
            if proposes {
                prop_assert_eq!(before.watermark, clocks.watermark);
                prop_assert_eq!(&before.source_query, &clocks.source_query);
                prop_assert_eq!(before.last_refreshed_at, clocks.last_refreshed_at);
            }
        }
    }
}
