//! Memories: what is added, imported and retained is found again and can be corrected; what cannot
//! be read is named and stops nothing; a failing disk or a newer file costs nothing.

use domain::reflect::Budget;
use domain::tag_group::TagFilter;
use domain::tags::{TagSet, TagsMatch};
use domain::{FactType, MemoryId};
use engine::memory::{self, search};
use engine::view::memory::{
    EditFact, ExtractionMode, ImportFiles, ImportKind, ImportResult, MemoryFilter, MemoryState,
    NewFact, RetainText,
};
use engine::view::operation::{OperationRow, OperationStatus};
use engine::view::recall::{RecallInput, Way};
use llm::scripted::{Scripted, Step};
use serde_json::json;
use std::sync::Arc;
use store::memories::{NewMemory, Origin};
use tests::{Fixture, Setup, at};
use tokio_util::sync::CancellationToken;

fn fact(text: &str) -> NewFact {
    serde_json::from_value(json!({"text": text})).unwrap()
}

fn recall(query: &str) -> RecallInput {
    serde_json::from_value(json!({"query": query})).unwrap()
}

async fn texts(fixture: &Fixture, query: &str) -> Vec<String> {
    let found = memory::recall(&fixture.engine, &fixture.bank, recall(query)).await.unwrap();
    found.hits.into_iter().map(|hit| hit.memory.text).collect()
}

pub(crate) async fn operation(fixture: &Fixture) -> OperationRow {
    engine::ops::list(&fixture.engine, &fixture.bank).await.unwrap().remove(0)
}

fn result(operation: &OperationRow) -> ImportResult {
    serde_json::from_value(operation.result.clone().unwrap().0).unwrap()
}

#[tokio::test]
async fn fc_38_any_text_is_a_legal_search_and_finds_its_words() {
    let fixture = Fixture::new().await;
    let stored = [
        ("Mira asked @mira to write to ask-rob.", vec!["@mira", "ask-rob"]),
        (
            "The bill is due, roughly, in May; C++ costs 50% more.",
            vec!["what's due, roughly?", "C++", "50%"],
        ),
        ("In foo:bar stands a\"b AND NEAR( c.", vec!["foo:bar", "a\"b", "NEAR("]),
        ("海外旅行前确认外币汇率再换钱。", vec!["外币汇率", "汇率"]),
        ("会議の予定をカレンダーに入れた。", vec!["カレンダー"]),
        ("작년에 전세 계약을 했다.", vec!["전세"]),
        ("เราเดินทางไปเชียงใหม่เมื่อวาน", vec!["เชียงใหม่"]),
        ("Le café de l'été à Besançon.", vec!["Besançon", "cafe"]),
    ];
    for (text, _) in &stored {
        memory::add(&fixture.engine, &fixture.bank, fact(text)).await.unwrap();
    }
    for (text, queries) in &stored {
        for query in queries {
            let found =
                memory::recall(&fixture.engine, &fixture.bank, recall(query)).await.unwrap();
            let hit = found.hits.iter().find(|hit| hit.memory.text == *text);
            let hit = hit.unwrap_or_else(|| panic!("{query} did not find {text}"));
            assert!(hit.ways.iter().any(|way| way.way == Way::Keyword), "{query}: by its words");
        }
    }
    let long = "word ".repeat(1_000);
    for query in ["\"", "AND", "*", "   ", "", "\u{0}\u{1}", "()[]{}", long.as_str()] {
        let found = memory::recall(&fixture.engine, &fixture.bank, recall(query)).await.unwrap();
        if !query.chars().any(char::is_alphanumeric) {
            let skipped: Vec<Way> = found.skipped.iter().map(|skipped| skipped.way).collect();
            assert!(skipped.contains(&Way::Keyword), "{query:?} has no words");
        }
    }
    let filter = MemoryFilter { words: Some("\"* NEAR(".to_owned()), ..MemoryFilter::default() };
    memory::list(&fixture.engine, &fixture.bank, filter, None).await.unwrap();
}

/// 5,000 memories that say nearly the query but may not be found, 20 that may and lie farther off.
#[tokio::test]
async fn fc_39_filters_belong_inside_every_way() {
    let fixture = Fixture::new().await;
    let query = "gantry harbour crane repair in the north basin";
    let id = fixture.bank.clone();
    let later = at("2026-03-02T09:00:00Z");
    let seq = fixture
        .engine
        .store()
        .write("near_but_out_of_scope", move |tx| {
            let bank = store::banks::key(tx, &id)?;
            let mut old = Vec::new();
            for n in 0..5_000 {
                let kind = [FactType::World, FactType::Experience][n % 2];
                // Not in too many, lest the word be left out as common.
                let rare = if n < 900 { "gantry" } else { "" };
                let text = format!("{rare} harbour crane repair in the north basin {n}");
                let tags = if n % 4 < 2 { "other" } else { "team" };
                let new = NewMemory {
                    tags: [tags.to_owned()].into(),
                    mentioned_at: Some(later),
                    vector: Some(embed::Hash::vector(&text)),
                    ..NewMemory::fact(MemoryId(format!("near-{n}")), kind, text, Origin::Manual)
                };
                store::memories::insert(tx, bank, &new, later)?;
                // World memories with the right tag: too old, or out of use.
                if n % 4 == 2 && n % 8 == 2 {
                    old.push(MemoryId(format!("near-{n}")));
                }
            }
            for id in old {
                store::memories::invalidate(tx, bank, &id, "gone", later)?;
            }
            Ok(store::banks::by_key(tx, bank)?.write_seq)
        })
        .await
        .unwrap();
    let id = fixture.bank.clone();
    fixture
        .engine
        .store()
        .write("in_scope", move |tx| {
            let bank = store::banks::key(tx, &id)?;
            for n in 0..20 {
                let text = format!("the gantry crane of basin {n} waits for a part");
                let new = NewMemory {
                    tags: ["team".to_owned()].into(),
                    mentioned_at: Some(later),
                    vector: Some(embed::Hash::vector(&text)),
                    ..NewMemory::fact(
                        MemoryId(format!("wanted-{n}")),
                        FactType::World,
                        text,
                        Origin::Manual,
                    )
                };
                store::memories::insert(tx, bank, &new, later)?;
            }
            Ok(())
        })
        .await
        .unwrap();
    let mut request = search::SearchRequest::new(fixture.bank.clone(), query, Budget::Low);
    request.filter = TagFilter {
        tags: TagSet::new(["team"]),
        tags_match: TagsMatch::AllStrict,
        ..TagFilter::none()
    };
    request.fact_types = vec![FactType::World];
    request.after_seq = Some(seq);
    request.limit = Some(10);
    let found = search::search(&fixture.engine, request, &CancellationToken::new()).await.unwrap();
    assert_eq!(found.hits.len(), 10);
    for hit in &found.hits {
        assert!(hit.memory.id.0.starts_with("wanted-"), "{} is out of scope", hit.memory.id);
    }
    let walked: Vec<_> =
        found.found.iter().filter(|(_, n)| *n >= 10).map(|(way, _)| *way).collect();
    assert!(walked.contains(&domain::fusion::Way::Semantic), "{walked:?}");
    assert!(walked.contains(&domain::fusion::Way::Keyword), "{walked:?}");
}

#[tokio::test]
async fn a_time_in_the_question_ranks_what_lies_in_it() {
    let fixture = Fixture::new().await;
    for (text, day) in [
        ("The crane stood still for a day.", "2025-06-10"),
        ("The crane was painted.", "2026-02-24"),
        ("The crane got a new cable.", "2024-11-03"),
    ] {
        fixture.fact(text, &["Crane"], day).await;
    }
    let found = memory::recall(
        &fixture.engine,
        &fixture.bank,
        recall("What happened to the crane last week?"),
    )
    .await
    .unwrap();
    assert_eq!(found.window.unwrap().start, at("2026-02-23T00:00:00Z"));
    assert_eq!(found.hits[0].memory.text, "The crane was painted.");
    assert!(found.hits[0].ways.iter().any(|way| way.way == Way::Temporal));
    assert!(found.hits[1].ways.iter().all(|way| way.way != Way::Temporal));
}

#[tokio::test]
async fn broken_lines_of_an_import_are_named_and_the_others_stored() {
    let fixture = Fixture::new().await;
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "facts.jsonl",
        b"{\"text\":\"Ana moved to Oslo\",\"date\":\"2026-03-01\",\"entities\":[\"Ana\",\"Oslo\"]}\n{broken\n{\"text\":\"  \"}\n{\"text\":\"Ben stayed in Rome\",\"tags\":[\"team\"]}\n",
    );
    write("notes.md", "# Notes\n\nThe ferry of Ana Berg leaves at six.\n".as_bytes());
    write("image.png", b"\x89PNG\0\0");
    write("empty.txt", b" \n");
    write(".hidden.md", b"not read");
    std::fs::create_dir(folder.path().join("deep")).unwrap();
    write(
        "deep/page.html",
        b"<html><body><h1>Deep</h1><p>A page about the lighthouse.</p></body></html>",
    );
    let input = ImportFiles {
        paths: vec![folder.path().display().to_string()],
        tags: vec!["imported".to_owned()],
        mode: None,
    };
    let plan = memory::plan_import(&fixture.engine, &fixture.bank, input.clone()).await.unwrap();
    let kinds: Vec<(&str, ImportKind)> =
        plan.files.iter().map(|file| (file.name.as_str(), file.kind)).collect();
    assert_eq!(
        kinds,
        [
            ("deep/page.html", ImportKind::Document),
            ("empty.txt", ImportKind::Document),
            ("facts.jsonl", ImportKind::Facts),
            ("image.png", ImportKind::LeftOut),
            ("notes.md", ImportKind::Document),
        ]
    );
    assert!(memory::documents(&fixture.engine, &fixture.bank).await.unwrap().is_empty());
    memory::import(&fixture.engine, &fixture.bank, input.clone()).await.unwrap();
    fixture.run_queue().await;
    let done = operation(&fixture).await;
    assert_eq!(done.status, OperationStatus::Completed, "{done:?}");
    let first = result(&done);
    assert_eq!((first.documents, first.facts), (2, 4));
    let told = done.progress.expect("how far it came");
    assert_eq!((told.processed, told.total, told.stored), (Some(5), Some(5), Some(4)));
    let tags = memory::tags(&fixture.engine, &fixture.bank).await.unwrap();
    let tags: Vec<(&str, u32)> = tags.iter().map(|row| (row.name.as_str(), row.memories)).collect();
    assert_eq!(tags, [("imported", 4), ("team", 1)]);
    let skipped: Vec<(&str, Option<u32>)> =
        first.skipped.iter().map(|one| (one.file.as_str(), one.line)).collect();
    assert_eq!(
        skipped,
        [
            ("empty.txt", None),
            ("facts.jsonl", Some(2)),
            ("facts.jsonl", Some(3)),
            ("image.png", None),
        ]
    );
    assert_eq!(texts(&fixture, "Where does Ben live, in Rome?").await[0], "Ben stayed in Rome");
    let filter = MemoryFilter { entity: Some("Ana Berg".to_owned()), ..MemoryFilter::default() };
    let page = memory::list(&fixture.engine, &fixture.bank, filter, None).await.unwrap().page;
    assert_eq!(page.items.len(), 1, "a name in a text is found without a model");
    assert_eq!(page.items[0].tags, ["imported"]);
    // Documents that are there unchanged are not read again.
    fixture.clock.advance_ms(1_000);
    memory::import(&fixture.engine, &fixture.bank, input).await.unwrap();
    fixture.run_queue().await;
    let again = result(&operation(&fixture).await);
    assert_eq!((again.documents, again.facts), (2, 2), "only the list of facts comes anew");
}

#[tokio::test]
async fn one_way_alone_keeps_its_own_order_and_says_nothing_of_the_others() {
    let fixture = Fixture::new().await;
    for n in 0..12 {
        let text = format!("The kiln of house {n} was fired on a Monday in the workshop.");
        memory::add(&fixture.engine, &fixture.bank, fact(&text)).await.unwrap();
    }
    let query = "When was the kiln of house 7 fired in 2026?";
    for way in [Way::Semantic, Way::Keyword] {
        let input = RecallInput { way: Some(way), ..recall(query) };
        let found = memory::recall(&fixture.engine, &fixture.bank, input).await.unwrap();
        assert!(!found.hits.is_empty());
        let ranks: Vec<u32> = found.hits.iter().map(|hit| hit.ways[0].rank).collect();
        assert!(ranks.is_sorted() && ranks[0] == 1, "{ranks:?}");
        assert!(found.hits.iter().all(|hit| hit.ways.len() == 1 && hit.ways[0].way == way));
        assert!(found.hits.iter().all(|hit| hit.score == hit.ways[0].score));
        assert_eq!((found.skipped.len(), found.window), (0, None));
    }
}

#[tokio::test]
async fn a_replaced_text_keeps_what_did_not_change() {
    let fixture = Fixture::new().await;
    let paragraph = |word: &str| format!("{word} {}.", "is told here at some length ".repeat(100));
    let text =
        |words: &[&str]| words.iter().map(|word| paragraph(word)).collect::<Vec<_>>().join("\n\n");
    let retain = |text: String| RetainText {
        text,
        document_id: Some("log".into()),
        title: None,
        context: None,
        timestamp: None,
        tags: vec!["log".to_owned()],
        mode: Some(ExtractionMode::Chunks),
    };
    let ids = async || {
        let page = memory::list(&fixture.engine, &fixture.bank, MemoryFilter::default(), None);
        let mut rows = page.await.unwrap().page.items;
        rows.sort_by(|a, b| a.text.cmp(&b.text));
        rows.into_iter().map(|row| (row.text[..5].to_owned(), row.id)).collect::<Vec<_>>()
    };
    memory::retain(&fixture.engine, &fixture.bank, retain(text(&["Alpha", "Delta"])))
        .await
        .unwrap();
    fixture.run_queue().await;
    let before = ids().await;
    assert_eq!(before.len(), 2, "one fact a chunk");
    memory::retain(&fixture.engine, &fixture.bank, retain(text(&["Bravo", "Alpha", "Gamma"])))
        .await
        .unwrap();
    fixture.run_queue().await;
    let after = ids().await;
    let words: Vec<&str> = after.iter().map(|(word, _)| word.as_str()).collect();
    assert_eq!(words, ["Alpha", "Bravo", "Gamma"]);
    assert_eq!(after[0].1, before[0].1, "the paragraph that moved is the same fact");
    let detail = memory::get(&fixture.engine, &fixture.bank, &after[0].1).await.unwrap();
    assert_eq!(detail.chunk.unwrap().index, 1);
}

#[tokio::test]
async fn a_model_reads_facts_and_an_unusable_answer_is_asked_for_again() {
    let answer = json!({"facts": [
        {"what": "Ana broke the crane", "fact_kind": "event", "occurred_start": "2026-02-27",
         "entities": ["Ana", "Crane"]},
        {"what": "The harbour was closed", "fact_type": "assistant", "caused_by": [0]},
        {"what": "Ana broke the  CRANE", "fact_kind": "event", "occurred_start": "2026-02-27"},
    ]});
    let llm = Arc::new(Scripted::new([Step::text("I would rather talk."), Step::json(&answer)]));
    let fixture = Fixture::scripted(llm.clone()).await;
    let input = RetainText {
        text: "Ana says: yesterday I broke the crane, so they closed the harbour.".to_owned(),
        document_id: None,
        title: Some("Call".to_owned()),
        context: None,
        timestamp: Some(at("2026-02-28T10:00:00Z")),
        tags: Vec::new(),
        mode: None,
    };
    memory::retain(&fixture.engine, &fixture.bank, input).await.unwrap();
    fixture.run_queue().await;
    let done = operation(&fixture).await;
    assert_eq!(done.status, OperationStatus::Completed, "{done:?}");
    assert_eq!(llm.scopes(), ["retain_extract", "retain_extract"]);
    let page = memory::list(&fixture.engine, &fixture.bank, MemoryFilter::default(), None);
    let page = page.await.unwrap();
    assert_eq!(page.page.total, 2, "a repeat within one document is one fact");
    assert_eq!((page.counts.world, page.counts.experience), (1, 1));
    let broke = page.page.items.iter().find(|row| row.fact_type == FactType::World).unwrap();
    assert_eq!(broke.occurred_start, Some(at("2026-02-27T00:00:00Z")));
    assert_eq!(broke.entities, ["Ana", "Crane"]);
    assert_eq!(broke.mentioned_at, Some(at("2026-02-28T10:00:00Z")));
}

#[tokio::test]
async fn a_model_that_answers_prose_fails_the_retain_and_loses_no_text() {
    let prose = || Step::text("Here is a lovely summary instead.");
    let llm = Arc::new(Scripted::new([prose(), prose(), prose(), prose()]));
    let fixture = Fixture::scripted(llm).await;
    let input: RetainText =
        serde_json::from_value(json!({"text": "Ana lives in Oslo.", "document_id": "d"})).unwrap();
    memory::retain(&fixture.engine, &fixture.bank, input).await.unwrap();
    fixture.run_queue().await;
    let failed = operation(&fixture).await;
    assert_eq!(failed.status, OperationStatus::Failed);
    assert_eq!(failed.error_reason.as_deref(), Some("llm_output_invalid"));
    let documents = memory::documents(&fixture.engine, &fixture.bank).await.unwrap();
    assert_eq!((documents.len(), documents[0].facts), (1, 0));
}

#[tokio::test]
async fn facts_are_edited_taken_out_brought_back_and_deleted() {
    let fixture = Fixture::new().await;
    let (engine, bank) = (&fixture.engine, &fixture.bank);
    let row = fixture.fact("The crane is red.", &["Crane"], "2026-02-01").await;
    let edit = EditFact { text: Some("The crane is blue.".to_owned()), ..EditFact::default() };
    let edited = memory::edit(engine, bank, &row.id, edit).await.unwrap();
    assert!(edited.edited && edited.entities == ["Crane"]);
    assert_eq!(texts(&fixture, "blue crane").await, ["The crane is blue."]);
    let reason = Some("Wrong crane".to_owned());
    let gone = memory::invalidate(engine, bank, &row.id, reason).await.unwrap();
    assert_eq!(gone.state, MemoryState::Invalidated);
    assert!(texts(&fixture, "blue crane").await.is_empty());
    let detail = memory::get(engine, bank, &row.id).await.unwrap();
    assert_eq!(detail.invalidation_reason.as_deref(), Some("Wrong crane"));
    let refused = memory::edit(engine, bank, &row.id, EditFact::default()).await.unwrap_err();
    assert_eq!(refused.reason(), "memory_invalidated");
    let back = memory::restore(engine, bank, &row.id).await.unwrap();
    assert_eq!(back.entities, ["Crane"]);
    let found = memory::recall(engine, bank, recall("blue crane")).await.unwrap();
    assert!(found.hits[0].ways.iter().any(|way| way.way == Way::Semantic), "its vector is back");
    memory::delete(engine, bank, &row.id).await.unwrap();
    let missing = memory::get(engine, bank, &row.id).await.unwrap_err();
    assert_eq!(missing.reason(), "memory_not_found");
    let blank = memory::add(engine, bank, fact(" … ")).await.unwrap_err();
    assert_eq!(blank.reason(), "invalid_request");
}

#[tokio::test]
async fn fc_43_a_full_disk_is_told_and_loses_nothing() {
    let fixture = Fixture::with(Setup { max_pages: Some(700), ..Setup::default() }).await;
    let first = fixture.fact("The crane is red.", &[], "2026-02-01").await;
    let mut reason = String::new();
    for n in 0..2_000 {
        let text = format!("Line {n}: {}", "a long statement about a harbour ".repeat(60));
        if let Err(error) = memory::add(&fixture.engine, &fixture.bank, fact(&text)).await {
            reason = error.reason();
            break;
        }
    }
    assert_eq!(reason, "disk_full");
    let kept = memory::get(&fixture.engine, &fixture.bank, &first.id).await.unwrap();
    assert_eq!(kept.memory.text, first.text);
    let page = memory::list(&fixture.engine, &fixture.bank, MemoryFilter::default(), None);
    let before = page.await.unwrap().page.total;
    let Fixture { folder, clock, engine, bank } = fixture;
    drop(engine);
    let engine = tests::open(folder.path(), &clock, &Setup::default()).await.unwrap();
    engine.store().quick_check().await.unwrap();
    let page = memory::list(&engine, &bank, MemoryFilter::default(), None).await.unwrap();
    assert_eq!(page.page.total, before);
    memory::add(&engine, &bank, fact("There is room again.")).await.unwrap();
}

#[tokio::test]
async fn fc_41_a_newer_file_is_refused_untouched() {
    let fixture = Fixture::new().await;
    fixture.fact("The crane is red.", &[], "2026-02-01").await;
    let Fixture { folder, clock, engine, .. } = fixture;
    drop(engine);
    let path = folder.path().join(store::FILE_NAME);
    // The last handle has folded the log into the file.
    assert!(!folder.path().join(format!("{}-wal", store::FILE_NAME)).exists());
    let mut bytes = std::fs::read(&path).unwrap();
    // The schema's number stands at byte 60 of an SQLite file, four bytes, the highest first.
    bytes[60..64].copy_from_slice(&999u32.to_be_bytes());
    std::fs::write(&path, &bytes).unwrap();
    let refused = tests::open(folder.path(), &clock, &Setup::default()).await.unwrap_err();
    assert_eq!(refused.reason(), "database_newer");
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}
