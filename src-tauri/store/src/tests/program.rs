//! Endpoints, settings, directives, documents, records of runs and requests.

use serde_json::json;

use super::*;
use crate::backup::{self, BackupReason};
use crate::chunks::{self, ExtractState, NewChunk};
use crate::directives::{self, DirectiveFields};
use crate::documents::{self, DocumentFields};
use crate::endpoints::{self, EndpointFields, Learnt, Protocol};
use crate::llm_requests::{self, CallType, LlmRequest, RequestStatus, Tokens};
use crate::runs::{self, ReflectOrigin, ReflectRun, ReflectStatus, RefreshMode, RefreshRun};
use crate::settings::{self, SecretStore};
use crate::tombstones::Cause;
use crate::{Error, models};

#[tokio::test]
async fn settings_secrets_and_endpoints() {
    let (_folder, store, _) = bank().await;
    store
        .write("program", |tx| {
            settings::set(tx, "theme", &json!("dark"), t(1))?;
            assert_eq!(settings::list(tx)?, [("theme".into(), json!("dark"))]);
            settings::clear(tx, "theme")?;
            assert_eq!(settings::get(tx, "theme")?, None);
            settings::set_secret(tx, "main", SecretStore::Keychain, "9f3a", t(1))?;
            assert_eq!(settings::find_secret(tx, "main")?.unwrap().last4, "9f3a");
            let mut fields = EndpointFields {
                name: "Local".into(),
                protocol: Protocol::Ollama,
                base_url: "http://127.0.0.1:11434".into(),
                secret_name: Some("main".into()),
                prices: None,
            };
            let key = endpoints::insert(tx, &"e".into(), &fields, t(2))?;
            let known = Learnt {
                llm: "m".into(),
                key: "window".into(),
                value: json!(8192),
                learned_at: t(3),
                evidence: "asked".into(),
            };
            endpoints::learn(tx, key, &known)?;
            assert_eq!(endpoints::learnt(tx, key, Some("m"))?, [known]);
            fields.name = "Renamed".into();
            endpoints::update(tx, &"e".into(), &fields, t(4))?;
            assert_eq!(endpoints::learnt(tx, key, None)?.len(), 1);
            fields.base_url = "http://127.0.0.1:1".into();
            endpoints::update(tx, &"e".into(), &fields, t(5))?;
            assert!(endpoints::learnt(tx, key, None)?.is_empty(), "another address");
            settings::delete_secret(tx, "main")?;
            assert!(settings::list_secrets(tx)?.is_empty());
            assert_eq!(endpoints::list(tx)?[0].secret_name, None);
            endpoints::delete(tx, &"e".into())?;
            assert!(matches!(endpoints::get(tx, &"e".into()), Err(Error::NotFound { .. })));
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn banks_and_embedders() {
    let (_folder, store, key) = bank().await;
    store
        .write("banks", move |tx| {
            let taken = banks::create(tx, &"b".into(), "Again", None, t(1));
            assert!(matches!(taken, Err(Error::IdTaken { .. })));
            banks::rename(tx, key, "Renamed", t(2))?;
            banks::set_config(tx, key, &json!({ "reflect_mission": "x" }), t(3))?;
            banks::set_consolidated(tx, key, t(4))?;
            banks::set_index_state(tx, key, banks::IndexState::Stale)?;
            let b = banks::get(tx, &"b".into())?;
            assert_eq!((b.name.as_str(), b.updated_at), ("Renamed", t(3)));
            assert_eq!(b.config["reflect_mission"], "x");
            assert_eq!(b.index_state, banks::IndexState::Stale);
            assert!(matches!(banks::key(tx, &"none".into()), Err(Error::NotFound { .. })));

            let mut new = embedders::NewEmbedder {
                name: "tiny",
                dim: 5,
                endpoint: None,
                prefix_query: "",
                prefix_passage: "",
            };
            let wrong = embedders::ensure(tx, &new, t(5));
            assert!(matches!(wrong, Err(Error::DimensionMismatch { got: 5, want: 4 })));
            // Another embedder is filled beside the old one, then takes over.
            new.name = "other";
            let other = embedders::ensure(tx, &new, t(5))?;
            let m = add(tx, key, &fact("m1", "One"), 6)?;
            assert_eq!(memories::missing_vectors(tx, key, other, 9)?, [m]);
            let embedder = embedders::get(tx, other)?;
            memories::put_vector(tx, &embedder, key, m, &[1.0; 5])?;
            assert_eq!(memories::vector_count(tx, key, other)?, 1);
            assert!(memories::missing_vectors(tx, key, other, 9)?.is_empty());
            banks::set_embedder(tx, key, Some(other))?;
            embedders::drop(tx, b.embedder.unwrap())?;
            assert_eq!(embedders::list(tx)?.len(), 1);
            Ok(())
        })
        .await
        .unwrap();
}

fn document() -> DocumentFields {
    DocumentFields {
        title: Some("Notes".into()),
        mime: Some("text/plain".into()),
        source_path: None,
        text: Some("one two".into()),
        content_hash: vec![7; 32],
        context: None,
        metadata: [("k".to_owned(), "v".to_owned())].into(),
        tags: tags(&["x"]),
        event_at: None,
        retain_params: json!({}),
    }
}

#[tokio::test]
async fn documents_chunks_and_the_facts_of_both() {
    let (_folder, store, key) = bank().await;
    store
        .write("documents", move |tx| {
            let d = documents::upsert(tx, key, &"d1".into(), &document(), t(1))?;
            let again = documents::upsert(tx, key, &"d1".into(), &document(), t(2))?;
            assert_eq!(d, again);
            let stored = documents::get(tx, key, &"d1".into())?;
            assert_eq!((stored.created_at, stored.updated_at), (t(1), t(2)));
            assert_eq!((stored.tags, stored.has_text), (tags(&["x"]), true));
            assert_eq!(documents::by_key(tx, d)?.id.0, "d1");
            assert_eq!(documents::text(tx, d)?.as_deref(), Some("one two"));
            assert_eq!(documents::with_hash(tx, key, &[7; 32])?, ["d1".into()]);
            assert_eq!(documents::bank_of(tx, d)?.0, "b");
            assert_eq!(banks::counters(tx, key)?["documents"], 1);

            let chunk = |index, text: &str| NewChunk {
                index,
                text: text.into(),
                hash: vec![1],
                char_start: 0,
                char_end: 3,
            };
            let a = chunks::insert(tx, d, &chunk(0, "one"))?;
            let b = chunks::insert(tx, d, &chunk(1, "two"))?;
            chunks::renumber(tx, d, &[(b, 0, 0, 3), (a, 1, 4, 7)])?;
            chunks::set_state(tx, key, a, ExtractState::Failed, Some("no answer"))?;
            let list = chunks::list(tx, d)?;
            assert_eq!((list[0].key, list[1].key), (b, a));
            assert_eq!(list[1].state, ExtractState::Failed);
            assert_eq!(chunks::by_key(tx, a)?.char_start, 4);
            assert_eq!(chunks::by_keys(tx, &[a, b])?.len(), 2);

            let mut new = fact("m1", "From a chunk");
            (new.document, new.chunk) = (Some(d), Some(a));
            let m = add(tx, key, &new, 3)?;
            let read = memories::of_document(tx, d, Some(a))?;
            assert_eq!(read[0].document_title.as_deref(), Some("Notes"));
            assert_eq!(read[0].chunk_index, Some(1));
            assert!(memories::of_document(tx, d, Some(b))?.is_empty());
            let filter = memories::Filter { document: Some("d1".into()), ..Default::default() };
            assert_eq!(memories::count(tx, key, &filter)?, 1);
            documents::upsert(tx, key, &"d0".into(), &document(), t(1))?;
            let (page, next) = documents::list(tx, key, None, None, 1)?;
            assert_eq!(
                (page[0].document.id.0.as_str(), page[0].chunks, page[0].facts),
                ("d1", 2, 1)
            );
            let (page, next) = documents::list(tx, key, None, next, 1)?;
            assert_eq!(page[0].document.id.0, "d0");
            assert!(documents::list(tx, key, None, next, 1)?.0.is_empty());
            assert_eq!(documents::list(tx, key, Some("NOTE"), None, 9)?.0.len(), 2);

            memories::remove(tx, key, &[m], Cause::Deleted, None, t(4))?;
            chunks::delete(tx, b)?;
            documents::delete(tx, key, &"d1".into())?;
            assert!(chunks::by_key(tx, a).is_err());
            assert_eq!(memories::verify(tx, None)?, Default::default());
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn observations_are_rewritten_with_their_history() {
    let (_folder, store, key) = bank().await;
    store
        .write("fold", move |tx| {
            let keys = [add(tx, key, &fact("m1", "A"), 1)?, add(tx, key, &fact("m2", "B"), 1)?];
            let mut seen = fact("o1", "Seen once");
            seen.fact_type = FactType::Observation;
            seen.sources = vec![keys[0]];
            let o = add(tx, key, &seen, 2)?;
            for n in 0..3 {
                let old = memories::get(tx, key, &"o1".into())?;
                let change = memories::ObservationChange {
                    text: format!("Seen again {n}"),
                    new_sources: vec![keys[1]],
                    times: [Some(t(n)), None, None],
                    reason: "more proof".into(),
                    vector: None,
                    history_limit: 2,
                };
                memories::update_observation(tx, &old, &change, t(3 + n))?;
            }
            let now = memories::get(tx, key, &"o1".into())?;
            assert_eq!((now.text.as_str(), now.proof_count), ("Seen again 2", 2));
            let history = memories::observation_history(tx, o)?;
            assert_eq!(history.len(), 2);
            assert_eq!(history[0].prev_text, "Seen again 1");
            assert_eq!(history[0].new_source_ids, ["m2".into()]);
            memories::mark_failed(tx, keys[0], "no", t(9))?;
            assert_eq!(crate::freshness::failed(tx, key)?, 1);
            memories::requeue(tx, &keys)?;
            assert_eq!(
                memories::pending_keys(tx, key, &crate::tag_sets::TagSets::All, 9)?.len(),
                2
            );
            crate::links::queue_topup(tx, keys[0], t(9))?;
            assert_eq!(crate::links::topup(tx, 9)?, [keys[0]]);
            crate::links::topped_up(tx, &keys)?;
            assert!(crate::links::topup(tx, 9)?.is_empty());
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn the_text_index_is_rebuilt_from_the_memories_alone() {
    let (_folder, store, key) = bank().await;
    store
        .write("rebuild", move |tx| {
            add(tx, key, &fact("m1", "Findable words"), 1)?;
            add(tx, key, &fact("m2", "外币汇率今天"), 1)?;
            tx.conn()
                .execute_batch("INSERT INTO fts_memory (fts_memory) VALUES ('delete-all');")?;
            assert_eq!(memories::verify(tx, None)?.missing_text, 2);
            assert_eq!(memories::rebuild_text(tx)?, 2);
            assert_eq!(memories::verify(tx, None)?, Default::default());
            let scope = crate::search::Scope::all(key);
            for query in ["findable", "汇率今"] {
                assert_eq!(crate::search::text::find(tx, &scope, query, 5)?.hits.len(), 1);
            }
            Ok(())
        })
        .await
        .unwrap();
    store.tidy().await.unwrap();
}

#[tokio::test]
async fn directives_and_tags() {
    let (_folder, store, key) = bank().await;
    store
        .write("directives", move |tx| {
            let mut fields = DirectiveFields {
                name: "Tone".into(),
                content: "Be brief".into(),
                priority: 1,
                is_active: true,
                tags: tags(&["y"]),
            };
            directives::insert(tx, key, &"d1".into(), &fields, t(1))?;
            fields.priority = 5;
            directives::insert(tx, key, &"d2".into(), &fields, t(1))?;
            fields.is_active = false;
            directives::update(tx, key, &"d1".into(), &fields, t(2))?;
            assert!(!directives::get(tx, key, &"d1".into())?.fields.is_active);
            let list = directives::list(tx, key)?;
            assert_eq!(list[0].id.0, "d1");
            directives::delete(tx, key, &"d2".into())?;
            assert!(directives::delete(tx, key, &"d2".into()).is_err());
            let mut new = fact("m1", "Tagged");
            new.tags = tags(&["x", "y"]);
            add(tx, key, &new, 3)?;
            assert_eq!(crate::tag_sets::pool(tx, key)?, ["x", "y"]);
            assert_eq!(crate::tag_sets::tag_counts(tx, key)?, [("x".into(), 1), ("y".into(), 1)]);
            let sets = crate::tag_sets::matching(tx, key, |s| s.len() == 2)?;
            let crate::tag_sets::TagSets::These(sets) = sets else { panic!() };
            assert_eq!(crate::tag_sets::tags(tx, sets[0])?, tags(&["x", "y"]));
            assert_eq!(crate::tag_sets::tags_of(tx, sets)?.len(), 1);
            Ok(())
        })
        .await
        .unwrap();
}

fn request(id: &str, bank: BankKey, ms: i64) -> LlmRequest {
    LlmRequest {
        id: id.into(),
        bank: Some(bank),
        operation: "reflect".into(),
        operation_id: None,
        run_id: Some("r1".into()),
        scope: "agent_1".into(),
        call_type: CallType::Llm,
        trace_id: "t".into(),
        span_id: "s".into(),
        parent_span_id: None,
        provider: "openai".into(),
        endpoint: None,
        llm: "m".into(),
        prompt_name: "reflect".into(),
        prompt_hash: "h".into(),
        status: RequestStatus::Success,
        started_at: t(ms),
        ended_at: t(ms + 5),
        duration_ms: 5,
        wait_ms: 0,
        first_token_ms: Some(2),
        tokens: Tokens { input: 10, output: 3, cached: 4, thoughts: 0, total: 13 },
        estimated: false,
        finish_reason: Some("stop".into()),
        input: Some("in".into()),
        output: Some("out".into()),
        input_chars: 2,
        output_chars: 3,
        error: None,
        llm_info: json!({}),
        metadata: json!({}),
        memory_ids: vec!["m1".into()],
    }
}

#[tokio::test]
async fn requests_go_and_their_sums_stay() {
    let (_folder, store, key) = bank().await;
    store
        .write("requests", move |tx| {
            llm_requests::insert(tx, &request("a", key, 0))?;
            llm_requests::insert(tx, &request("b", key, 100))?;
            assert_eq!(llm_requests::get(tx, &"a".into())?, request("a", key, 0));
            let list = llm_requests::list(tx, Some(key), None, 9)?;
            assert_eq!((list[0].id.0.as_str(), list[0].input.as_deref()), ("b", None));
            assert_eq!(llm_requests::list(tx, Some(key), Some(t(100)), 9)?.len(), 1);
            assert_eq!(llm_requests::of_run(tx, &"r1".into())?.len(), 2);
            assert_eq!(llm_requests::drop_bodies(tx, t(50))?, 1);
            assert_eq!(llm_requests::sweep(tx, t(50))?, 1);
            assert!(llm_requests::get(tx, &"a".into()).is_err());
            assert_eq!(llm_requests::tokens_on(tx, Some(key), t(0))?, 26);
            let day = &llm_requests::usage_since(tx, None, t(0))?[0];
            assert_eq!((day.calls, day.cached), (2, 8));
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn records_of_reflects_and_refreshes() {
    let (_folder, store, key) = bank().await;
    let run = |n: i64| ReflectRun {
        id: format!("r{n}").as_str().into(),
        query: "Who?".into(),
        request: json!({}),
        status: ReflectStatus::Running,
        text: None,
        structured_output: None,
        structured_output_error: None,
        based_on: None,
        evidence_spans: None,
        trace: json!({}),
        usage: json!({}),
        warnings: json!([]),
        report: None,
        material: None,
        origin: ReflectOrigin::Window,
        pinned: false,
        started_at: t(n),
        finished_at: None,
    };
    store
        .write("runs", move |tx| {
            for n in 0..4 {
                runs::put_reflect(tx, key, &run(n))?;
                if n > 0 {
                    let mut done = run(n);
                    done.status = ReflectStatus::Finished;
                    done.text = Some("Ann".into());
                    done.finished_at = Some(t(n + 1));
                    runs::put_reflect(tx, key, &done)?;
                }
            }
            runs::pin_reflect(tx, key, &"r1".into(), true)?;
            assert_eq!(runs::trim_reflects(tx, key, 1)?, 1);
            let left: Vec<_> =
                runs::list_reflects(tx, key, 9)?.into_iter().map(|r| r.id.0).collect();
            assert_eq!(left, ["r3", "r1", "r0"]);
            assert_eq!(runs::get_reflect(tx, key, &"r3".into())?.text.as_deref(), Some("Ann"));
            assert_eq!(runs::recover_reflects(tx, &json!({}), t(9))?, 1);

            let model = models::insert(tx, key, &super::models::new_model("doc"), t(1))?;
            let refresh = |n: i64, outcome: &str, reason: Option<&str>| RefreshRun {
                id: format!("f{n}").as_str().into(),
                model,
                operation: None,
                trigger_causes: vec!["cron".into()],
                dry_run: false,
                requested_mode: RefreshMode::Delta,
                effective_mode: Some(RefreshMode::Full),
                mode_fallback_reason: None,
                outcome: outcome.into(),
                failure_reason: reason.map(Into::into),
                report: None,
                scope: json!({}),
                window: json!({}),
                facts_retrieved: json!({}),
                facts_used: json!({}),
                ops: [1, 2, 3],
                usage: json!({}),
                warnings: json!([]),
                version: Some(1),
                proposal: None,
                trace: None,
                result: Some(json!({})),
                skip_count: None,
                started_at: t(n),
                finished_at: t(n),
            };
            runs::add_refresh(tx, key, &refresh(0, "content_written", None))?;
            for n in 1..4 {
                runs::add_refresh(tx, key, &refresh(n, runs::SKIPPED, Some("fresh")))?;
            }
            runs::add_refresh(tx, key, &refresh(4, runs::SKIPPED, Some("floor")))?;
            let list = runs::list_refreshes(tx, model, 9)?;
            let seen: Vec<_> = list.iter().map(|r| (r.id.0.as_str(), r.skip_count)).collect();
            assert_eq!(seen, [("f4", Some(1)), ("f1", Some(3)), ("f0", None)]);
            assert_eq!(runs::get_refresh(tx, key, &"f0".into())?.1.ops, [1, 2, 3]);
            assert_eq!(runs::drop_dry_run_results(tx)?, 0);
            assert_eq!(runs::trim_refreshes(tx, model, 1)?, 2);
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn backups_are_recorded_and_limited_in_number() {
    let (folder, store, _) = bank().await;
    let copies = folder.path().join(crate::BACKUP_FOLDER);
    for n in 0..3 {
        let path = copies.join(format!("daily-{n}.db"));
        let made = store.backup(path.clone()).await.unwrap();
        store
            .write("record", move |tx| backup::record(tx, &path, BackupReason::Daily, &made, t(n)))
            .await
            .unwrap();
    }
    backup::keep_newest(&copies, "daily-", 2).unwrap();
    let list = store.read(|tx| backup::list(tx, 9)).await.unwrap();
    assert_eq!(list.len(), 3);
    assert!(list[0].path.exists() && !list[2].path.exists());
}
