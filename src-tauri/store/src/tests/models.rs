//! Mental models, versions, provenance, proposals: what one commit of a refresh or an approval is
//! made of.

use domain::{ModelId, ProposalId};
use serde_json::json;

use super::*;
use crate::models::provenance::{
    Author, BlockAuthor, BlockSource, Citation, Lock, LockKind, PublishState, PublishTarget,
};
use crate::models::{self, Model, NewModel, Review, provenance};
use crate::proposals::{
    self, Decision, Granularity, OpStatus, Proposal, ProposalEvent, ProposalHead, ProposalOp,
    ProposalOrigin, ProposalReason, ProposalState,
};
use crate::search::models as find;
use crate::tag_sets::{self, TagSets};
use crate::tombstones::{self, Cause};
use crate::versions::{self, Actor, Version, VersionCause, VersionHead};
use crate::{Error, ModelKey, ProposalKey};

pub(super) fn new_model(id: &str) -> NewModel {
    NewModel {
        id: ModelId(id.into()),
        name: format!("The {id}"),
        source_query: "What is known?".into(),
        tags: vec!["x".into()],
        max_tokens: 2048,
        trigger: json!({}),
        review: Review::Manual,
        structure: json!({ "format": 3, "sections": [] }),
    }
}

fn version(number: u32, content: &str) -> Version {
    Version {
        head: VersionHead {
            version: number,
            cause: VersionCause::Proposal,
            actor: Actor::Person,
            operation: None,
            proposal: Some("p1".into()),
            accepted_op_ids: Some(vec!["o1".into()]),
            note: None,
            source_query: "What is known?".into(),
            watermark_seq: Some(3),
            watermark_at: None,
            created_at: t(50),
            pinned: false,
        },
        content: content.into(),
        structure: json!({ "format": 3 }),
        content_hash: vec![1; 32],
        based_on: json!({ "world": [{ "id": "m1" }] }),
        basis: Some(versions::Basis::Cited),
        structured_output: None,
        structured_output_version: None,
        reflect_response: Some(json!({ "text": content })),
        trace: None,
        settings: json!({}),
    }
}

fn proposal(id: &str, model: ModelKey) -> Proposal {
    Proposal {
        head: ProposalHead {
            key: ProposalKey(0),
            id: ProposalId(id.into()),
            model,
            model_id: "doc".into(),
            number: 0,
            state: ProposalState::Open,
            state_seq: 0,
            reason: ProposalReason::ReviewManual,
            origin: ProposalOrigin::Delta,
            granularity: Granularity::Ops,
            base_version: 0,
            watermark_seq: Some(3),
            cutoff_seq: 4,
            source_query: "What is known?".into(),
            operation: None,
            superseded_by: None,
            created_at: t(40),
            resolved_at: None,
            resolution_note: None,
            disposition: None,
        },
        base_structure: json!({}),
        candidate_content: "# New".into(),
        candidate_structure: json!({}),
        window: json!({}),
        scope: json!({}),
        settings: json!({}),
        facts_used: json!([]),
        structured_output: None,
        trace: json!({}),
        usage: json!({}),
        warnings: json!([]),
        edited_content: None,
        draft_structure: None,
    }
}

fn op(index: u32) -> ProposalOp {
    ProposalOp {
        index,
        op_id: format!("o{index}"),
        op: json!({ "op": "append_block" }),
        status: OpStatus::Applied,
        reason: None,
        assigned_id: Some("b1".into()),
        created_block_ids: None,
        block_ids: None,
        merged_into_block_id: None,
        targets: json!([]),
        requires: json!([]),
        hints: json!([]),
        group: Some("g".into()),
        evidence: json!(["m1"]),
        claims: json!([]),
        human_touch: false,
        fingerprint: format!("f{index}"),
        decision: Decision::Undecided,
        decided_at: None,
        note: None,
        marker: None,
        conflict: None,
    }
}

async fn model(store: &Store, bank: BankKey) -> ModelKey {
    store.write("model", move |tx| models::insert(tx, bank, &new_model("doc"), t(1))).await.unwrap()
}

#[tokio::test]
async fn an_approval_is_one_commit_and_is_there_as_a_whole() {
    let (_folder, store, bank) = bank().await;
    let key = model(&store, bank).await;
    store
        .write("propose", move |tx| {
            proposals::insert(tx, bank, &proposal("p1", key), &[op(0), op(1)])
        })
        .await
        .unwrap();
    store
        .write("approve", move |tx| {
            let mut p = proposals::get(tx, bank, &"p1".into())?;
            assert_eq!((p.head.number, p.head.state_seq), (1, 0));
            let mut ops = proposals::ops(tx, p.head.key)?;
            ops[0].decision = Decision::Accepted;
            ops[1].decision = Decision::Rejected;
            for op in &ops {
                proposals::put_op(tx, p.head.key, op)?;
            }
            p.head.state = ProposalState::PartiallyApproved;
            p.head.resolved_at = Some(t(50));
            proposals::save(tx, bank, &p, 0)?;
            let event = ProposalEvent { at: t(50), kind: "approved".into(), detail: json!({}) };
            proposals::add_event(tx, p.head.key, &event)?;

            let mut m = models::by_key(tx, key)?;
            m.content = "# New".into();
            m.head.version = 1;
            m.head.placeholder = false;
            m.head.last_refreshed_at = Some(t(50));
            m.head.last_memory_seen_seq = Some(3);
            m.carry_over = json!([{ "fact_id": "m9" }]);
            models::save(tx, &m, 0, t(50))?;
            versions::append(tx, bank, key, &version(1, "# New"))?;
            versions::trim(tx, key, 50)?;
            provenance::set_citations(tx, key, &[citation("m1")])?;
            let source = BlockSource {
                block: "b1".into(),
                memory: Some("m1".into()),
                version: 1,
                op: Some("o0".into()),
            };
            let person = BlockSource { memory: None, ..source.clone() };
            provenance::set_block_sources(tx, key, &[source, person])?;
            let author = BlockAuthor {
                block: "b1".into(),
                version: 1,
                operation: None,
                proposal: Some("p1".into()),
                op: Some("o0".into()),
                author: Author::Run,
                at: t(50),
            };
            provenance::set_block_authors(tx, key, &[author])
        })
        .await
        .unwrap();
    store
        .read(move |tx| {
            let m = models::get(tx, bank, &"doc".into())?;
            assert_eq!((m.head.version, m.head.carry_over_count), (1, 1));
            assert_eq!(m.head.open_proposal, None);
            let v = versions::get(tx, key, 1)?;
            assert_eq!(v, version(1, "# New"));
            assert_eq!(versions::list(tx, key, None, 10)?, [v.head]);
            assert!(matches!(versions::get(tx, key, 2), Err(Error::NotFound { .. })));
            assert_eq!(provenance::citations(tx, key)?, [citation("m1")]);
            for only in [None, Some(&[key][..])] {
                assert_eq!(provenance::missing_citations(tx, bank, only)?, [(key, false)]);
            }
            assert_eq!(provenance::citing(tx, bank, &"m1".into())?, [key]);
            assert_eq!(provenance::block_sources(tx, key)?.len(), 2);
            assert_eq!(provenance::block_authors(tx, key)?[0].proposal, Some("p1".into()));
            let p = proposals::get(tx, bank, &"p1".into())?;
            assert_eq!((p.head.state_seq, p.head.state), (1, ProposalState::PartiallyApproved));
            assert_eq!(proposals::ops(tx, p.head.key)?[1].decision, Decision::Rejected);
            assert_eq!(proposals::events(tx, p.head.key)?.len(), 1);
            assert_eq!(proposals::of_model(tx, key)?.len(), 1);
            assert_eq!(find::by_words(tx, bank, "new", 5)?[0].0, key);
            Ok(())
        })
        .await
        .unwrap();
}

fn citation(id: &str) -> Citation {
    Citation {
        memory: id.into(),
        fact_type: FactType::World,
        text: "as read".into(),
        first_cited_version: 1,
    }
}

#[tokio::test]
async fn whoever_is_late_is_told_and_writes_nothing() {
    let (_folder, store, bank) = bank().await;
    let key = model(&store, bank).await;
    let late = store
        .write("save", move |tx| {
            let m = models::by_key(tx, key)?;
            models::save(tx, &m, 7, t(2))
        })
        .await;
    assert!(matches!(late, Err(Error::VersionConflict { found: 0, expected: 7 })));
    store
        .write("propose", move |tx| {
            proposals::insert(tx, bank, &proposal("p1", key), &[op(0)])?;
            let mut p = proposals::waiting(tx, key)?.unwrap();
            assert_eq!(models::by_key(tx, key)?.head.open_proposal, Some("p1".into()));
            assert_eq!(proposals::list_waiting(tx, bank)?.len(), 1);
            assert_eq!(proposals::newest(tx, key)?.unwrap().id.0, "p1");
            let second = proposals::insert(tx, bank, &proposal("p2", key), &[]);
            assert!(second.is_err(), "one waiting proposal per model");
            assert_eq!(proposals::save(tx, bank, &p, 0)?, 1);
            let late = proposals::save(tx, bank, &p, 0);
            assert!(matches!(late, Err(Error::StateConflict { found: 1, expected: 0 })));
            p.head.state = ProposalState::Rejected;
            proposals::save(tx, bank, &p, 1)?;
            assert!(matches!(proposals::save(tx, bank, &p, 2), Err(Error::ProposalClosed)));
            proposals::insert(tx, bank, &proposal("p2", key), &[])?;
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn trimming_keeps_pinned_and_needed_versions() {
    let (_folder, store, bank) = bank().await;
    let key = model(&store, bank).await;
    store
        .write("versions", move |tx| {
            for n in 1..=10 {
                versions::append(tx, bank, key, &version(n, "text"))?;
            }
            let mut m = models::by_key(tx, key)?;
            m.head.version = 10;
            models::save(tx, &m, 0, t(2))?;
            versions::set_pinned(tx, bank, key, 2, true)?;
            let base = Proposal {
                head: ProposalHead { base_version: 3, ..proposal("p9", key).head },
                ..proposal("p9", key)
            };
            proposals::insert(tx, bank, &base, &[])?;
            assert_eq!(versions::trim(tx, key, 4)?, 3);
            let left: Vec<u32> =
                versions::list(tx, key, None, 50)?.iter().map(|v| v.version).collect();
            assert_eq!(left, [10, 9, 8, 7, 6, 3, 2]);
            assert_eq!(versions::list(tx, key, Some(7), 1)?[0].version, 6);
            for n in 1..=3 {
                let mut p = proposals::waiting(tx, key)?.unwrap();
                p.head.state = ProposalState::Superseded;
                proposals::save(tx, bank, &p, 0)?;
                proposals::insert(tx, bank, &proposal(&format!("q{n}"), key), &[])?;
            }
            assert_eq!(proposals::trim(tx, key, 1)?, 2);
            assert_eq!(proposals::of_model(tx, key)?.len(), 2);
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn lists_are_ordered_by_refresh_and_filtered_by_tags() {
    let (_folder, store, bank) = bank().await;
    store
        .write("models", move |tx| {
            for n in 0..5 {
                let mut new = new_model(&format!("m{n}"));
                new.tags = if n == 2 { vec![] } else { vec!["x".into()] };
                new.trigger = if n == 4 {
                    json!({ "refresh_cron": "0 3 * * *" })
                } else {
                    json!({ "refresh_cron": null })
                };
                models::insert(tx, bank, &new, t(n))?;
            }
            let mut m = models::get(tx, bank, &"m1".into())?;
            m.head.last_refreshed_at = Some(t(100));
            models::save(tx, &m, 0, t(100))?;
            assert!(matches!(
                models::insert(tx, bank, &new_model("m1"), t(9)),
                Err(Error::IdTaken { .. })
            ));
            let ids = |list: &[models::ModelHead]| -> Vec<String> {
                list.iter().map(|m| m.id.0.clone()).collect()
            };
            let (first, next) = models::list(tx, bank, &TagSets::All, None, 3)?;
            assert_eq!(ids(&first), ["m1", "m4", "m3"]);
            let (rest, next) = models::list(tx, bank, &TagSets::All, next, 3)?;
            assert_eq!((ids(&rest), next), (vec!["m2".into(), "m0".into()], None));
            let untagged = tag_sets::matching(tx, bank, BTreeSet::is_empty)?;
            assert_eq!(ids(&models::list(tx, bank, &untagged, None, 9)?.0), ["m2"]);
            assert_eq!(ids(&models::with_trigger(tx, &["refresh_cron"])?), ["m4"]);
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn a_cited_memory_leaves_its_text_and_a_cited_observation_stays_to_be_shown() {
    let (_folder, store, bank) = bank().await;
    let key = model(&store, bank).await;
    store
        .write("cite", move |tx| {
            let m1 = add(tx, bank, &fact("m1", "Cited text"), 1)?;
            let mut seen = fact("o1", "Folded");
            seen.fact_type = FactType::Observation;
            seen.sources = vec![m1];
            add(tx, bank, &seen, 1)?;
            let mut cited = citation("o1");
            cited.fact_type = FactType::Observation;
            provenance::set_citations(tx, key, &[citation("m1"), cited])?;
            let reach = memories::reach(tx, &[m1])?;
            assert_eq!((reach.observations, reach.models), (1, vec!["doc".into()]));
            memories::remove(tx, bank, &[m1], Cause::Replaced, Some(&"d2".into()), t(5))?;
            let marks = tombstones::cited(tx, bank, None)?;
            assert_eq!(marks, tombstones::cited(tx, bank, Some(&[key]))?);
            let seen: Vec<_> = marks
                .iter()
                .map(|(m, x)| (*m, x.memory.0.as_str(), x.cause, x.text.as_deref()))
                .collect();
            assert_eq!(
                seen,
                [
                    (key, "o1", Cause::Swept, Some("Folded")),
                    (key, "m1", Cause::Replaced, Some("Cited text")),
                ]
            );
            assert_eq!(marks[1].1.successor, Some("d2".into()));
            assert_eq!(memories::get(tx, bank, &"o1".into())?.state, memories::State::Invalidated);
            assert_eq!(tombstones::sweep(tx, t(1_000))?, 0, "cited ones stay");
            provenance::set_citations(tx, key, &[])?;
            assert_eq!(tombstones::sweep(tx, t(1_000))?, 2);
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn locks_targets_vectors_and_deletion() {
    let (_folder, store, bank) = bank().await;
    let key = model(&store, bank).await;
    store
        .write("more", move |tx| {
            let lock = Lock {
                kind: LockKind::Block,
                element: "b1".into(),
                locked_at: t(1),
                note: Some("mine".into()),
            };
            provenance::lock(tx, key, &lock)?;
            assert_eq!(provenance::locks(tx, key)?, [lock]);
            provenance::unlock(tx, key, LockKind::Block, "b1")?;
            assert!(provenance::locks(tx, key)?.is_empty());
            let target = PublishTarget {
                path: "out.md".into(),
                front_matter: true,
                last_hash: None,
                last_version: Some(2),
                state: PublishState::ChangedOutside,
                error: None,
                updated_at: t(2),
            };
            provenance::set_publish_target(tx, key, Some(&target), t(2))?;
            assert_eq!(provenance::publish_target(tx, key)?, Some(target));

            let embedder = embedders::find(tx, "tiny")?.unwrap();
            models::put_vector(tx, &embedder, bank, key, &[0.0, 1.0, 0.0, 0.0])?;
            models::put_vector(tx, &embedder, bank, key, &[1.0, 0.0, 0.0, 0.0])?;
            let near = find::by_meaning(tx, bank, &embedder, &[1.0, 0.0, 0.0, 0.0], 3)?;
            assert!((near[0].1 - 1.0).abs() < 1e-6);
            models::delete(tx, bank, &"doc".into())?;
            assert!(find::by_meaning(tx, bank, &embedder, &[1.0, 0.0, 0.0, 0.0], 3)?.is_empty());
            assert!(find::by_words(tx, bank, "doc", 3)?.is_empty());
            assert_eq!(provenance::publish_target(tx, key)?, None);
            let gone: std::result::Result<Model, _> = models::by_key(tx, key);
            assert!(gone.is_err());
            Ok(())
        })
        .await
        .unwrap();
}

/// A proposal rests on what its operations name too: a removal stands on the withdrawn fact alone,
/// which no run counts among the facts it used.
#[tokio::test]
async fn a_proposal_waits_on_every_memory_that_it_names() {
    let (_folder, store, bank) = bank().await;
    let key = model(&store, bank).await;
    store
        .write("propose", move |tx| {
            let claimed =
                ProposalOp { claims: json!([{ "quote": "x", "evidence": ["m2"] }]), ..op(1) };
            let used = Proposal { facts_used: json!([{ "id": "m3" }]), ..proposal("p1", key) };
            proposals::insert(tx, bank, &used, &[op(0), claimed])?;
            let on = |id: &str| proposals::waiting_on(tx, bank, &[MemoryId::from(id)]);
            for id in ["m1", "m2", "m3"] {
                assert_eq!(on(id)?, [ProposalId::from("p1")], "{id}");
            }
            assert!(on("m4")?.is_empty());
            Ok(())
        })
        .await
        .unwrap();
}
