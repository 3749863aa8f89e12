//! Three hundred days of one bank: facts every day, some of them taken back, changed or said twice,
//! schedules, a person who edits, reviews and reverts, and processes that die at some commit. Nothing
//! here is timed or random: the dice are seeded, the clock is moved by hand.
//!
//! Looked at every day: a document is what its structure renders, a number of a version never goes
//! back, and a block changes only where an operation or a person changed it. Looked at in the end:
//! every version is there, every fact in scope was written, judged, declined, carried or is yet to
//! be read, and the file is sound.

use chrono::{Datelike, Duration, NaiveDate, Weekday};
use domain::document::Document;
use domain::proposal::Decision;
use domain::{MemoryId, ModelId};
use engine::models::{self, automatic, proposals};
use engine::view::memory::EditFact;
use engine::view::model::{ModelDetail, NewModel, ReviewMode};
use engine::view::proposal::{ApproveInput, DecideOps, OpDecision, PreviewOf, RejectInput, Turn};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use store::Moment;
use tests::{Fixture, Setup, open};

const DAYS: i64 = 300;

const PEOPLE: [&str; 6] =
    ["Ada Vance", "Ben Okoro", "Cora Lindt", "Dov Amsel", "Edda Brun", "Finn Mori"];
const THINGS: [(&str, &str); 4] =
    [("Kiln", "kiln"), ("Crane", "crane"), ("Yard gate", "yard gate"), ("Boat", "boat")];
const DEEDS: [&str; 6] = ["cleaned", "repaired", "painted", "measured", "borrowed", "moved"];
const STATES: [&str; 5] = ["red", "green", "locked", "out of order", "in use"];

/// Dice that fall the same way every time (numbers of Knuth's MMIX generator).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

/// The bank, what was put into it, and what was seen of its documents.
struct World {
    f: Option<Fixture>,
    dice: Dice,
    day: NaiveDate,
    facts: Vec<MemoryId>,
    models: Vec<ModelId>,
    seen: BTreeMap<String, ModelDetail>,
    /// What a person typed, by model and version.
    typed: BTreeMap<(String, u32), String>,
    tally: BTreeMap<&'static str, u32>,
}

fn model(
    name: &str,
    question: &str,
    tags: &[&str],
    review: ReviewMode,
    trigger: Value,
) -> NewModel {
    NewModel {
        id: Some(name.to_owned()),
        name: name.to_owned(),
        source_query: question.to_owned(),
        tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
        max_tokens: Some(8192),
        trigger: Some(trigger.into()),
        review: Some(review),
        content: None,
    }
}

impl World {
    async fn new() -> Self {
        let f = Fixture::new().await;
        keep_every_version(&f).await;
        let new = [
            model(
                "kiln",
                "What do we know about the kiln of the workshop?",
                &[],
                ReviewMode::Auto,
                json!({"mode": "delta", "refresh_cron": "0 6 * * MON",
                       "full_refresh_cron": "0 5 1 * *", "keep_trace": true}),
            ),
            model(
                "people",
                "What did the people of the workshop do?",
                &[],
                ReviewMode::Manual,
                json!({"mode": "delta", "refresh_cron": "0 6 * * THU"}),
            ),
            model(
                "yard",
                "What is known about the yard gate?",
                &["yard"],
                ReviewMode::Auto,
                json!({"mode": "delta", "refresh_after_consolidation": true}),
            ),
        ];
        let mut ids = Vec::new();
        for one in new {
            ids.push(models::create(&f.engine, &f.bank, one).await.expect("a model").id);
        }
        Self {
            f: Some(f),
            dice: Dice(20_260_302),
            day: NaiveDate::from_ymd_opt(2026, 3, 2).expect("a day"),
            facts: Vec::new(),
            models: ids,
            seen: BTreeMap::new(),
            typed: BTreeMap::new(),
            tally: BTreeMap::new(),
        }
    }

    fn f(&self) -> &Fixture {
        self.f.as_ref().expect("an open bank")
    }

    fn count(&mut self, what: &'static str) {
        *self.tally.entry(what).or_default() += 1;
    }

    async fn one_day(&mut self) {
        self.day += Duration::days(1);
        self.f().clock.advance_ms(86_400_000);
        self.write_facts().await;
        self.take_back().await;
        self.person().await;
        self.work().await;
        for id in self.models.clone() {
            self.look(&id).await;
        }
    }

    async fn write_facts(&mut self) {
        for _ in 0..=self.dice.below(2) {
            let who = self.dice.of(&PEOPLE);
            let (entity, thing) = self.dice.of(&THINGS);
            let text = match self.dice.below(3) {
                0 => format!("The {thing} of the workshop is {}.", self.dice.of(&STATES)),
                1 => format!("{who} {} the {thing} of the workshop.", self.dice.of(&DEEDS)),
                _ => format!(
                    "{who} {} the {thing} of the workshop on {}.",
                    self.dice.of(&DEEDS),
                    self.day.format("%-d %B %Y")
                ),
            };
            let tags: &[&str] = if entity == "Yard gate" { &["yard"] } else { &[] };
            let id = self.add(&text, &[entity, who], tags).await;
            self.facts.push(id);
            self.count("facts");
        }
    }

    async fn add(&self, text: &str, entities: &[&str], tags: &[&str]) -> MemoryId {
        let moment = self.day.and_hms_opt(9, 0, 0).expect("a time").and_utc();
        let fact = json!({
            "text": text, "mentioned_at": moment, "occurred_start": moment,
            "tags": tags, "entities": entities,
        });
        let fact = serde_json::from_value(fact).expect("a fact");
        let f = self.f();
        engine::memory::add(&f.engine, &f.bank, fact).await.expect("a stored fact").id
    }

    /// A fact that is deleted, taken out of use, or worded anew.
    async fn take_back(&mut self) {
        if self.facts.is_empty() || !self.dice.one_in(6) {
            return;
        }
        let at = self.dice.below(self.facts.len() as u64) as usize;
        let id = self.facts[at].clone();
        let f = self.f.as_ref().expect("an open bank");
        match self.dice.below(3) {
            0 => engine::memory::delete(&f.engine, &f.bank, &id).await.expect("deleted"),
            1 => {
                let reason = Some("wrong".to_owned());
                engine::memory::invalidate(&f.engine, &f.bank, &id, reason).await.expect("out");
            }
            _ => {
                let old = engine::memory::get(&f.engine, &f.bank, &id).await.expect("a fact");
                let text = format!("{} It was checked.", old.memory.text);
                let edit = EditFact { text: Some(text), ..EditFact::default() };
                engine::memory::edit(&f.engine, &f.bank, &id, edit).await.expect("edited");
                self.count("facts worded anew");
                return;
            }
        }
        self.facts.remove(at);
        self.count("facts taken back");
    }

    async fn person(&mut self) {
        if self.dice.one_in(4) {
            self.review().await;
        }
        if self.dice.one_in(20) {
            self.edit().await;
        }
        if self.dice.one_in(60) {
            self.revert().await;
        }
    }

    /// A person looks at what waits and decides about most of it.
    async fn review(&mut self) {
        let f = self.f.as_ref().expect("an open bank");
        let inbox = proposals::inbox(&f.engine, &f.bank).await.expect("an inbox");
        let Some(row) = inbox.first() else { return };
        let mut view = proposals::get(&f.engine, &f.bank, &row.id).await.expect("a proposal");
        if view.ops.iter().any(|op| op.conflict.is_some()) || self.dice.one_in(6) {
            let note = self.dice.one_in(2).then(|| "Leave out what is borrowed.".to_owned());
            let input = RejectInput { note, ..RejectInput::default() };
            proposals::reject(&f.engine, &f.bank, &row.id, input, Turn::at(view.state_seq))
                .await
                .expect("a rejection");
            self.count("rejections");
            return;
        }
        for op in view.ops.clone() {
            let decision = match self.dice.below(8) {
                0 => Decision::Rejected,
                1 => Decision::Deferred,
                _ => Decision::Accepted,
            };
            let word = OpDecision { op_id: op.op_id, decision, note: None };
            let input = DecideOps { decisions: vec![word] };
            view = proposals::decide(&f.engine, &f.bank, &row.id, input, Turn::at(view.state_seq))
                .await
                .expect("a decision");
        }
        let shown = proposals::preview(&f.engine, &f.bank, &row.id, PreviewOf::Accepted)
            .await
            .expect("a preview");
        let sure = ApproveInput { confirm: shown.confirm.clone(), ..ApproveInput::default() };
        match proposals::approve(&f.engine, &f.bank, &row.id, sure, Turn::at(view.state_seq)).await
        {
            Ok(published) => {
                let now = models::get(&f.engine, &f.bank, &published.model_id).await.expect("it");
                assert_eq!(now.content, shown.content, "what was shown is what is stored");
                self.count("approvals");
            }
            Err(error) => {
                assert_eq!(error.reason(), "nothing_accepted");
                let input = RejectInput::default();
                let view = proposals::get(&f.engine, &f.bank, &row.id).await.expect("it");
                proposals::reject(&f.engine, &f.bank, &row.id, input, Turn::at(view.state_seq))
                    .await
                    .expect("a rejection");
                self.count("rejections");
            }
        }
    }

    async fn edit(&mut self) {
        let id = self.models[self.dice.below(3) as usize].clone();
        let now = self.detail(&id).await;
        if now.model.placeholder {
            return;
        }
        let content = format!("{}\nA note of {}.\r\n", now.content, self.day);
        let f = self.f();
        let after =
            models::edit_content(&f.engine, &f.bank, &id, content.clone(), now.model.version)
                .await
                .expect("an edit");
        assert_eq!(after.content, content);
        self.typed.insert((id.to_string(), after.model.version), content);
        self.count("edits");
    }

    async fn revert(&mut self) {
        let id = self.models[self.dice.below(3) as usize].clone();
        let now = self.detail(&id).await;
        if now.model.version < 3 {
            return;
        }
        let to = now.model.version - 2;
        let again = self.dice.one_in(2);
        let f = self.f();
        let old = models::version(&f.engine, &f.bank, &id, to).await.expect("a version");
        let after = models::revert(&f.engine, &f.bank, &id, to, again).await.expect("a revert");
        assert_eq!(after.content, old.content);
        self.typed.insert((id.to_string(), after.model.version), old.content);
        self.count("reverts");
    }

    /// The look at the schedules and all queued work, on some days with a process that dies at one of
    /// the commits.
    async fn work(&mut self) {
        if !self.dice.one_in(5) {
            return self.finish_work().await;
        }
        let step = u32::try_from(self.dice.below(12)).expect("small");
        let moment = if self.dice.one_in(2) { Moment::BeforeCommit } else { Moment::AfterCommit };
        let commits = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&commits);
        let f = self.f.take().expect("an open bank");
        f.engine.store().set_commit_hook(move |point| {
            let dead = point.moment == moment && counted.fetch_add(1, Ordering::SeqCst) >= step;
            if dead { Err(store::Error::Closed) } else { Ok(()) }
        });
        let now = f.engine.now();
        automatic::tick(&f.engine, now).await.ok();
        engine::ops::run_pending(&f.engine).await.ok();
        f.engine.store().set_commit_hook(|_| Ok(()));
        let Fixture { folder, clock, engine, bank } = f;
        drop(engine);
        let engine = open(folder.path(), &clock, &Setup::default()).await.expect("it opens again");
        self.f = Some(Fixture { folder, clock, engine, bank });
        if commits.load(Ordering::SeqCst) > step {
            self.count("crashes");
        }
        self.finish_work().await;
    }

    async fn finish_work(&mut self) {
        let f = self.f();
        automatic::tick(&f.engine, f.engine.now()).await.expect("a look at the schedules");
        // Once a week facts of the yard were folded, which its document waits for.
        if self.day.weekday() == Weekday::Sat {
            let touched = BTreeSet::from(["yard".to_owned()]);
            let told = automatic::after_consolidation(&f.engine, &f.bank, &touched).await;
            told.expect("submitted refreshes");
        }
        f.run_queue().await;
    }

    async fn detail(&self, id: &ModelId) -> ModelDetail {
        let f = self.f();
        models::get(&f.engine, &f.bank, id).await.expect("the model")
    }

    /// What must hold of a document on any day.
    async fn look(&mut self, id: &ModelId) {
        let now = self.detail(id).await;
        assert_eq!(now.content, now.structure.render(), "{id}: text and structure are one");
        let before = self.seen.get(id.as_str());
        let from = before.map_or(0, |detail| detail.model.version);
        assert!(now.model.version >= from, "{id}: a version went back");
        let file = self.file();
        for version in from..now.model.version {
            self.step(&file, id, version, version + 1).await;
        }
        self.seen.insert(id.to_string(), now);
    }

    /// From one version to the next only what was named has changed.
    async fn step(&self, file: &Connection, id: &ModelId, from: u32, to: u32) {
        let f = self.f();
        let new = models::version(&f.engine, &f.bank, id, to).await.expect("a version");
        if let Some(typed) = self.typed.get(&(id.to_string(), to)) {
            assert_eq!(&new.content, typed, "{id} {to}: a person's text is stored as it is");
        }
        if from == 0 {
            return;
        }
        let old = models::version(&f.engine, &f.bank, id, from).await.expect("a version");
        let Some(named) = named(file, id, to, &old.structure) else { return };
        for block in old.structure.blocks().filter(|block| !named.contains(&block.id)) {
            let now = new.structure.block(&block.id).map(|(_, block)| block.text.as_str());
            assert_eq!(
                now,
                Some(block.text.as_str()),
                "{id} {from} to {to}: {} changed, while operations named {named:?}",
                block.id
            );
        }
    }

    fn file(&self) -> Connection {
        let path = self.f().folder.path().join(store::FILE_NAME);
        Connection::open(path).expect("the file")
    }
}

/// The bank keeps all versions and all runs, so that the end can be compared with everything.
async fn keep_every_version(f: &Fixture) {
    let patch = json!({
        "mental_model_history_max_entries": -1,
        "refresh_history_max_entries": 100_000,
        "enable_observations": true,
    });
    engine::settings::set_of(&f.engine, &f.bank, patch.into()).await.expect("settings");
}

/// The blocks that the operations behind a version name; none for a version that may change anything
/// (a rebuild, or a person's text).
fn named(file: &Connection, id: &ModelId, version: u32, old: &Document) -> Option<HashSet<String>> {
    let (cause, evidence, proposal, accepted): (String, String, Option<String>, Option<String>) =
        file.query_row(
            "SELECT v.cause, v.reflect_response, v.proposal_uid, v.accepted_op_ids
             FROM model_version v JOIN mental_model m ON m.id = v.model_id
             WHERE m.uid = ?1 AND v.version = ?2",
            (id.as_str(), version),
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )
        .expect("the version's row");
    let ops: Vec<Value> = match cause.as_str() {
        "refresh_delta" | "retraction" => {
            let evidence: Value = serde_json::from_str(&evidence).expect("JSON");
            evidence["delta_operations_applied"].as_array().cloned().unwrap_or_default()
        }
        "proposal" => {
            let accepted: Vec<String> =
                serde_json::from_str(&accepted.unwrap_or_default()).expect("a list of ids");
            let mut rows = file
                .prepare(
                    "SELECT o.op_id, o.op FROM proposal_op o JOIN proposal p ON p.id = o.proposal_id
                     WHERE p.uid = ?1",
                )
                .expect("a query");
            let all = rows
                .query_map([proposal.expect("its proposal")], |row| {
                    Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
                })
                .expect("operations");
            all.map(|row| row.expect("a row"))
                .filter(|(id, _)| accepted.contains(id))
                .map(|(_, op)| serde_json::from_str(&op).expect("an operation"))
                .collect()
        }
        _ => return None,
    };
    let mut named = HashSet::new();
    for op in &ops {
        match op["op"].as_str().unwrap_or_default() {
            "replace_block" | "remove_block" => {
                named.extend(op["block_id"].as_str().map(str::to_owned));
            }
            "remove_section" | "replace_section_blocks" => {
                let section = old.sections.iter().find(|s| op["section_id"] == s.id.as_str());
                named.extend(section.iter().flat_map(|s| &s.blocks).map(|block| block.id.clone()));
            }
            _ => {}
        }
    }
    Some(named)
}

/// A fact of the bank as the file has it.
struct Known {
    id: String,
    seq: i64,
    yard: bool,
}

fn facts(file: &Connection) -> Vec<Known> {
    let mut rows = file
        .prepare(
            "SELECT m.uid, m.change_seq, EXISTS (
                 SELECT 1 FROM tag_set_member s JOIN tag t ON t.id = s.tag_id
                 WHERE s.tag_set_id = m.tag_set_id AND t.name = 'yard')
             FROM memory m WHERE m.state = 0",
        )
        .expect("a query");
    let rows = rows
        .query_map([], |row| Ok(Known { id: row.get(0)?, seq: row.get(1)?, yard: row.get(2)? }))
        .expect("facts");
    rows.map(|row| row.expect("a row")).collect()
}

/// Every id that a run of a model wrote, judged, declined or carried, and the newest data that a
/// rebuild read.
fn accounted(file: &Connection, id: &ModelId) -> (BTreeSet<String>, i64, i64) {
    let (watermark, own): (Option<i64>, String) = file
        .query_row(
            "SELECT last_memory_seen_seq, carry_over || guidance || coalesce(reflect_response, '')
             FROM mental_model WHERE uid = ?1",
            [id.as_str()],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .expect("the model's row");
    let mut texts = vec![own];
    let mut rebuilt = 0;
    let mut rows = file
        .prepare(
            "SELECT r.effective_mode, r.window, r.outcome FROM refresh_run r
             JOIN mental_model m ON m.id = r.model_id WHERE m.uid = ?1 AND r.dry_run = 0",
        )
        .expect("a query");
    let mut rows = rows.query([id.as_str()]).expect("runs");
    while let Some(row) = rows.next().expect("a row") {
        let (mode, window, outcome): (Option<String>, String, String) =
            (row.get(0).expect("mode"), row.get(1).expect("window"), row.get(2).expect("outcome"));
        let read: Value = serde_json::from_str(&window).expect("JSON");
        let ended = matches!(outcome.as_str(), "content_written" | "content_unchanged");
        if mode.as_deref() == Some("full") && ended {
            rebuilt = rebuilt.max(read["cutoff_seq"].as_i64().unwrap_or(0));
        }
        texts.push(window);
    }
    let mut versions = file
        .prepare(
            "SELECT v.based_on || v.reflect_response FROM model_version v
             JOIN mental_model m ON m.id = v.model_id WHERE m.uid = ?1
             UNION ALL SELECT p.facts_used || p.window FROM proposal p
             JOIN mental_model m ON m.id = p.model_id WHERE m.uid = ?1",
        )
        .expect("a query");
    let more = versions.query_map([id.as_str()], |row| row.get::<_, String>(0)).expect("versions");
    texts.extend(more.map(|row| row.expect("a row")));
    let known = facts(file)
        .into_iter()
        .map(|fact| fact.id)
        .filter(|id| texts.iter().any(|text| text.contains(id.as_str())))
        .collect();
    (known, watermark.unwrap_or(0), rebuilt)
}

#[tokio::test]
async fn three_hundred_days_lose_no_fact_no_byte_and_no_version() {
    let mut world = World::new().await;
    for _ in 0..DAYS {
        world.one_day().await;
    }
    println!("{:?}", world.tally);
    for what in ["facts", "facts taken back", "approvals", "rejections", "edits", "crashes"] {
        assert!(world.tally.contains_key(what), "{what} never came to pass");
    }
    let file = world.file();
    for id in &world.models {
        let mut versions = file
            .prepare(
                "SELECT v.version FROM model_version v JOIN mental_model m ON m.id = v.model_id
                 WHERE m.uid = ?1 ORDER BY v.version",
            )
            .expect("a query");
        let versions: Vec<u32> = versions
            .query_map([id.as_str()], |row| row.get(0))
            .expect("versions")
            .map(|row| row.expect("a number"))
            .collect();
        let last = world.detail(id).await.model.version;
        assert_eq!(versions, (1..=last).collect::<Vec<_>>(), "{id}: every version is there");
        assert!(last > 5, "{id} has lived: {last}");
        let (known, watermark, rebuilt) = accounted(&file, id);
        let lost: Vec<String> = facts(&file)
            .into_iter()
            .filter(|fact| fact.yard || id.as_str() != "yard")
            .filter(|fact| fact.seq <= watermark && fact.seq > rebuilt)
            .map(|fact| fact.id)
            .filter(|fact| !known.contains(fact))
            .collect();
        assert_eq!(lost, Vec::<String>::new(), "{id}: facts that nobody accounts for");
    }
    let sound: String =
        file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("a verdict");
    assert_eq!(sound, "ok");
    let stuck: u32 = file
        .query_row("SELECT count(*) FROM operation WHERE status = 'processing'", [], |row| {
            row.get(0)
        })
        .expect("a number");
    assert_eq!(stuck, 0, "no operation is left running");
}
