//! The queue of operations, against the rules of mental-models.md 12.

use domain::OperationId;
use serde_json::json;

use super::*;
use crate::Error;
use crate::operations::{
    self, Claim, End, HeldReason, Lane, NewOperation, Operation, OperationFilter, OperationStatus,
    OperationType, Requeued, Submitted,
};

fn refresh(id: &str, model: &str, automatic: bool) -> NewOperation {
    NewOperation {
        model: Some(model.into()),
        dedupe_key: Some(format!("refresh:{model}")),
        automatic,
        joins_running: true,
        triggered_by: vec![if automatic { "cron".into() } else { "manual_refresh".into() }],
        ..NewOperation::asked(id.into(), OperationType::RefreshMentalModel, json!({}))
    }
}

fn any() -> Claim {
    Claim { lane: Lane::Any, kinds: OperationType::ALL.to_vec(), max_refreshes: 2 }
}

fn claimed(tx: &WriteTx<'_>, ms: i64) -> Option<String> {
    claim_next(tx, &any(), t(ms)).unwrap().map(|o| o.id.0)
}

#[tokio::test]
async fn a_second_submit_joins_the_waiting_one_and_an_explicit_one_wakes_it() {
    let (_folder, store, bank) = bank().await;
    store
        .write("queue", move |tx| {
            let mut parked = refresh("a", "doc", true);
            parked.not_before = Some(t(1_000));
            operations::submit(tx, bank, &parked, t(0))?;
            assert_eq!(claimed(tx, 1), None);
            assert_eq!(operations::next_due(tx, t(1))?, Some(t(1_000)));
            // One that is due and not taken is no moment to wait for.
            assert_eq!(operations::next_due(tx, t(1_000))?, None);
            let mut asked = refresh("b", "doc", false);
            asked.forced_full = true;
            let joined = operations::submit(tx, bank, &asked, t(2))?;
            assert!(joined.is_deduplicated());
            let op = joined.operation();
            assert_eq!((op.id.0.as_str(), op.automatic, op.forced_full), ("a", false, true));
            assert_eq!(op.triggered_by, ["cron", "manual_refresh"]);
            assert_eq!(claimed(tx, 3).as_deref(), Some("a"));

            // While it runs: an automatic one marks it, an explicit one waits behind it.
            let marked = operations::submit(tx, bank, &refresh("c", "doc", true), t(4))?;
            assert!(matches!(&marked, Submitted::JoinedRunning(o) if o.rerun));
            let behind = operations::submit(tx, bank, &refresh("d", "doc", false), t(5))?;
            assert!(matches!(behind, Submitted::Inserted(_)));
            assert_eq!(claimed(tx, 6), None, "one refresh of a model at a time");
            let key = marked.operation().key;
            assert_eq!(operations::take_rerun(tx, key)?, Some(vec!["cron".to_owned()]));
            assert_eq!(operations::take_rerun(tx, key)?, None);
            operations::finish(tx, key, &End::completed(None, None), t(7))?;
            assert_eq!(claimed(tx, 8).as_deref(), Some("d"));
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn an_id_is_good_for_one_payload() {
    let (_folder, store, bank) = bank().await;
    store
        .write("queue", move |tx| {
            let mut new = NewOperation::asked("a".into(), OperationType::Retain, json!({ "n": 1 }));
            new.payload_hash = vec![1];
            operations::submit(tx, bank, &new, t(0))?;
            assert!(matches!(operations::submit(tx, bank, &new, t(0))?, Submitted::Same(_)));
            new.payload_hash = vec![2];
            let other = operations::submit(tx, bank, &new, t(0));
            assert!(matches!(other, Err(Error::OperationConflict { .. })));
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn explicit_goes_first_and_limits_and_holds_are_kept() {
    let (_folder, store, bank) = bank().await;
    store
        .write("queue", move |tx| {
            operations::submit(tx, bank, &refresh("auto", "a", true), t(0))?;
            operations::submit(tx, bank, &refresh("held", "b", false), t(0))?;
            operations::submit(tx, bank, &refresh("asked", "c", false), t(0))?;
            let held = operations::get(tx, bank, &"held".into())?.key;
            operations::hold(tx, held, HeldReason::ReviewInProgress, t(1))?;
            let explicit = Claim { lane: Lane::Explicit, ..any() };
            let first = claim_next(tx, &explicit, t(2))?.unwrap();
            assert_eq!(first.id.0, "asked");
            assert!(claim_next(tx, &explicit, t(2))?.is_none());
            let one = Claim { max_refreshes: 1, ..any() };
            assert!(claim_next(tx, &one, t(2))?.is_none());
            assert_eq!(claimed(tx, 2).as_deref(), Some("auto"));
            let model = "b".into();
            let n =
                operations::release(tx, bank, HeldReason::ReviewInProgress, Some(&model), t(3))?;
            assert_eq!(n, 1);
            assert_eq!(operations::unfinished_of_model(tx, bank, &model)?.len(), 1);

            let on = |id: &str| NewOperation {
                document: Some("d".into()),
                ..NewOperation::asked(id.into(), OperationType::Retain, json!({}))
            };
            operations::submit(tx, bank, &on("r1"), t(4))?;
            operations::submit(tx, bank, &on("r2"), t(4))?;
            let retain = Claim { kinds: vec![OperationType::Retain], ..any() };
            let r1 = claim_next(tx, &retain, t(5))?.unwrap();
            assert_eq!(r1.id.0, "r1");
            assert!(claim_next(tx, &retain, t(5))?.is_none());
            // Parked, the first still keeps its place before the second.
            operations::requeue(tx, r1.key, Some(t(99)), None, true, None, t(6))?;
            assert!(claim_next(tx, &retain, t(7))?.is_none());
            assert_eq!(claim_next(tx, &retain, t(99))?.unwrap().retry_count, 1);
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn a_run_that_goes_back_is_folded_into_the_one_that_waits() {
    let (_folder, store, bank) = bank().await;
    store
        .write("queue", move |tx| {
            let mut forced = refresh("a", "doc", false);
            forced.forced_full = true;
            operations::submit(tx, bank, &forced, t(0))?;
            let a = claim_next(tx, &any(), t(1))?.unwrap();
            operations::submit(tx, bank, &refresh("b", "doc", false), t(2))?;
            let error = Some(("llm_unreachable", "gone"));
            let back = operations::requeue(tx, a.key, Some(t(9)), None, true, error, t(3))?;
            let Requeued::Folded { ended, into } = back else { panic!("not folded") };
            assert_eq!((ended.status, into.0.as_str()), (OperationStatus::Failed, "b"));
            assert_eq!(ended.error_reason.as_deref(), Some("llm_unreachable"));
            assert_eq!(ended.details, Some(json!({ "folded_into": "b" })));
            assert!(operations::get(tx, bank, &"b".into())?.forced_full);

            // What a person asked for stays asked for.
            let folding = |id: &str, automatic| NewOperation {
                automatic,
                dedupe_key: Some("consolidation".to_owned()),
                ..NewOperation::asked(id.into(), OperationType::Consolidation, json!({}))
            };
            let only = Claim { kinds: vec![OperationType::Consolidation], ..any() };
            let asked = operations::submit(tx, bank, &folding("asked", false), t(4))?;
            let run = claim_next(tx, &only, t(5))?.unwrap();
            let waiting = operations::submit(tx, bank, &folding("waits", true), t(6))?;
            assert!(waiting.operation().automatic);
            operations::requeue(tx, run.key, None, None, true, error, t(7))?;
            assert!(!operations::by_key(tx, waiting.operation().key)?.automatic);
            operations::cancel(tx, bank, &"waits".into(), t(8))?;
            let parked = NewOperation { not_before: Some(t(99)), ..folding("parked", true) };
            operations::submit(tx, bank, &parked, t(9))?;
            let now = operations::retry(tx, bank, &asked.operation().id, t(10))?;
            assert_eq!((now.id.0.as_str(), now.automatic), ("parked", false));
            assert_eq!(now.next_retry_at, None);
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn cut_off_runs_are_taken_up_three_times() {
    let (folder, store, bank) = bank().await;
    store
        .write("q", move |tx| operations::submit(tx, bank, &refresh("a", "doc", false), t(0)))
        .await
        .unwrap();
    let mut store = store;
    for round in 0..4 {
        store
            .write("claim", move |tx| {
                assert_eq!(claimed(tx, round).as_deref(), Some("a"));
                Ok(())
            })
            .await
            .unwrap();
        drop(store);
        store = Store::open(folder.path(), &Options::at(t(round))).unwrap();
        let after =
            store.write("recover", move |tx| operations::recover(tx, t(round))).await.unwrap();
        let expected = if round < 3 { OperationStatus::Pending } else { OperationStatus::Failed };
        assert_eq!(after[0].status, expected, "{round}");
    }
    store
        .write("retry", move |tx| {
            let again = operations::retry(tx, bank, &"a".into(), t(9))?;
            assert_eq!((again.status, again.retry_count), (OperationStatus::Pending, 0));
            assert_eq!(again.error_message, None);
            let due = operations::retry(tx, bank, &"a".into(), t(9));
            assert!(matches!(due, Err(Error::OperationState { .. })));
            // A step that was committed starts the count anew.
            let run = claim_next(tx, &any(), t(10))?.unwrap();
            operations::requeue(tx, run.key, None, None, true, None, t(10))?;
            operations::step_committed(tx, run.key, t(11))?;
            assert_eq!(operations::by_key(tx, run.key)?.retry_count, 0);
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn cancelling_progress_lists_and_sweeping() {
    let (_folder, store, bank) = bank().await;
    store
        .write("queue", move |tx| {
            for n in 0..5 {
                operations::submit(
                    tx,
                    bank,
                    &refresh(&format!("o{n}"), &format!("m{n}"), false),
                    t(n),
                )?;
            }
            let run = claim_next(tx, &any(), t(5))?.unwrap();
            operations::progress(tx, run.key, &json!({ "stage": "reflecting" }), t(6))?;
            let id = |n: u32| -> OperationId { format!("o{n}").as_str().into() };
            let running = operations::cancel(tx, bank, &id(0), t(7))?;
            assert_eq!(running.status, OperationStatus::Processing);
            assert!(running.cancel_requested);
            assert_eq!(running.progress.unwrap()["stage"], "reflecting");
            let waiting = operations::cancel(tx, bank, &id(1), t(7))?;
            assert_eq!(waiting.status, OperationStatus::Cancelled);
            let ended = operations::cancel(tx, bank, &id(1), t(7));
            assert!(matches!(ended, Err(Error::OperationState { .. })));
            let end = End::failed("no_answer", "x".repeat(6_000), None);
            let failed = operations::finish(tx, run.key, &end, t(8))?;
            assert_eq!(failed.error_message.unwrap().len(), 5_000);
            assert!(operations::finish(tx, run.key, &end, t(8)).is_err());

            let all = OperationFilter::default();
            let (page, next) = operations::list(tx, bank, &all, None, 3)?;
            let names: Vec<_> = page.iter().map(|o| o.id.0.as_str()).collect();
            assert_eq!(names, ["o4", "o3", "o2"]);
            let (page, next) = operations::list(tx, bank, &all, next, 3)?;
            assert_eq!((page.len(), next), (2, None));
            let pending = OperationFilter {
                statuses: vec![OperationStatus::Pending],
                ..OperationFilter::default()
            };
            assert_eq!(operations::list(tx, bank, &pending, None, 9)?.0.len(), 3);
            assert_eq!(operations::counts(tx, bank)?.len(), 3);
            assert!(operations::delete(tx, bank, &id(2)).is_err());
            operations::delete(tx, bank, &id(1))?;
            // What is flagged is found and kept until the flag goes.
            let last = operations::get(tx, bank, &id(0))?.key;
            operations::set_payload(tx, last, &json!({ "open": true }))?;
            let of = OperationType::RefreshMentalModel;
            let keys = |rows: Vec<Operation>| rows.iter().map(|o| o.key).collect::<Vec<_>>();
            assert_eq!(keys(operations::flagged(tx, bank, of, "open")?), [last]);
            assert_eq!(operations::sweep(tx, t(100), "open")?, 0);
            operations::set_payload(tx, last, &json!({ "open": false }))?;
            assert_eq!(operations::flagged(tx, bank, of, "open")?, []);
            assert_eq!(operations::sweep(tx, t(100), "open")?, 1);
            operations::set_payload(tx, page[0].key, &json!({ "n": 2 }))?;
            Ok(())
        })
        .await
        .unwrap();
}
