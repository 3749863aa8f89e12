//! How much is shown and how much is written: batches, outlines, sizes, answers that are cut off,
//! facts that are offered again, and changes that take much away.

use crate::models::{detail, id, kiln, outcome, refresh};
use crate::refresh_written::{append, finds, page};
use engine::models;
use engine::view::model::{ModelDetail, ModelPatch, NewModel, ReviewMode, RunWarning};
use llm::ChatRequest;
use llm::scripted::{Scripted, Step};
use serde_json::{Value, json};
use std::sync::Arc;
use tests::Fixture;

fn look(script: &Scripted) {
    let args = |query: &str| json!({ "reason": "to look", "query": query });
    script.push(Step::call("search_observations", args("kiln")));
    script.push(Step::call("recall", args("kiln workshop")));
}

/// The turns of the loop that use the first `n` facts.
fn uses(script: &Scripted, n: usize) {
    look(script);
    let ids: Vec<String> = (1..=n).map(|n| format!("f{n}")).collect();
    script.push(Step::call("done", json!({ "answer": "There is news.", "memory_ids": ids })));
}

fn prompt(request: &ChatRequest) -> String {
    request
        .messages
        .iter()
        .filter_map(|message| match message {
            llm::Message::User { text } => Some(text.as_str()),
            _ => None,
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// Handles of the facts in a prompt.
fn handles(request: &ChatRequest) -> Vec<String> {
    let lines = regex::Regex::new(r"(?m)^(f\d+) \(").expect("a pattern");
    lines.captures_iter(&prompt(request)).map(|found| found[1].to_owned()).collect()
}

fn asked(script: &Scripted, scope: &str) -> Vec<ChatRequest> {
    script.requests().into_iter().filter(|request| request.scope == scope).collect()
}

fn warnings(detail: &ModelDetail) -> Vec<RunWarning> {
    detail.last_run.as_ref().map(|run| run.warnings.clone()).unwrap_or_default()
}

fn warned(detail: &ModelDetail, code: &str) -> bool {
    warnings(detail).iter().any(|warning| warning.code == code)
}

async fn written(script: &Scripted, content: String, max_tokens: u32) -> Fixture {
    let f = Fixture::scripted(Arc::new(script.clone())).await;
    let new = NewModel {
        content: Some(content),
        max_tokens: Some(max_tokens),
        ..kiln(ReviewMode::Auto, "delta")
    };
    models::create(&f.engine, &f.bank, new).await.expect("a model");
    f
}

/// Sections of some size, each about something else.
fn sections(n: usize, words: usize) -> String {
    (0..n).fold(String::new(), |page, n| {
        let text = format!("stone{n} clay{n} ").repeat(words / 2);
        page + &format!("# Part {n}\n\nOpening of part {n}.\n\n{text}\n\n")
    })
}

async fn long_facts(f: &Fixture, n: usize, words: usize) {
    for n in 0..n {
        let text = format!("The kiln of the workshop, entry {n}: {}", "brick ".repeat(words));
        f.fact(text.trim(), &["Kiln"], &format!("2026-01-{:02}", n + 1)).await;
    }
}

#[tokio::test]
async fn facts_that_do_not_fit_beside_the_document_are_worked_in_batch_by_batch() {
    let script = Scripted::default();
    script.set_caps(llm::Caps { window: Some(16_000), ..llm::Caps::default() });
    let f = written(&script, sections(12, 370), 8192).await;
    long_facts(&f, 6, 300).await;
    uses(&script, 6);
    let section = detail(&f).await.structure.sections[0].id.clone();
    for _ in 0..6 {
        let section = section.clone();
        let one = move |request: &ChatRequest| {
            let ops: Vec<Value> = handles(request)
                .iter()
                .map(|handle| {
                    json!({ "op": "append_block", "section_id": section,
                        "text": format!("From {handle}."), "evidence": [handle] })
                })
                .collect();
            let text = json!({ "operations": ops }).to_string();
            Ok(llm::ChatReply { raw: text.clone(), text, ..llm::ChatReply::default() })
        };
        script.push_for("delta_ops", Step::with(one));
    }
    refresh(&f, false).await;
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "content_written", "{:?}", after.last_run);
    let calls = asked(&script, "delta_ops");
    assert!((2..=6).contains(&calls.len()), "{} calls", calls.len());
    let shown: Vec<Vec<String>> = calls.iter().map(handles).collect();
    let all: Vec<String> = shown.concat();
    assert_eq!(all, ["f1", "f2", "f3", "f4", "f5", "f6"], "each once, under one name: {shown:?}");
    for request in &calls {
        assert!(!prompt(request).contains("\"outline\":true"), "the document fits whole");
        assert!(request.prompt_tokens.expect("a count") <= 12_000);
        assert_eq!(request.max_output, None);
    }
    assert!(prompt(&calls[1]).contains("From f1."), "each on the result of the one before");
    assert!(after.content.contains("From f6."));
    assert_eq!(after.based_on.len(), 6);
    assert!(!warned(&after, "uncovered_facts"), "{:?}", warnings(&after));
}

#[tokio::test]
async fn a_document_too_large_to_show_is_outlined_and_shown_whole_where_an_edit_needs_it() {
    let script = Scripted::default();
    script.set_caps(llm::Caps { window: Some(16_000), ..llm::Caps::default() });
    let f = written(&script, sections(40, 400), 8192).await;
    f.fact("The kiln of the workshop, stone3 clay3 stone3 clay3.", &["Kiln"], "2026-01-01").await;
    uses(&script, 1);
    let before = detail(&f).await;
    let structure = before.structure.clone();
    let hidden = |request: &ChatRequest| -> Option<String> {
        let prompt = prompt(request);
        let line = prompt.lines().find(|line| line.starts_with("{\"sections\""))?;
        let shown: Value = serde_json::from_str(line).ok()?;
        let sections = shown["sections"].as_array()?.clone();
        assert_eq!(sections.len(), 40, "no section is left out");
        let outline = sections.iter().filter(|section| section["outline"] == true);
        assert!(outline.clone().count() > 0 && outline.clone().count() < 40);
        let block = &outline.clone().next()?["blocks"][1];
        assert_eq!(block["begins"].as_str()?.split(' ').count(), 12);
        assert_eq!(block.get("text"), None);
        outline.clone().next_back()?["id"].as_str().map(str::to_owned)
    };
    let replace = move |section: &str| {
        let section = structure.section(section).expect("the section");
        json!({ "operations": [{ "op": "replace_block", "section_id": section.id,
            "block_id": section.blocks[0].id, "text": "Restated.", "evidence": ["f1"] }] })
        .to_string()
    };
    let reply =
        |text: String| llm::ChatReply { raw: text.clone(), text, ..llm::ChatReply::default() };
    let again = replace.clone();
    let wanted = Arc::new(std::sync::Mutex::new(String::new()));
    let told = Arc::clone(&wanted);
    script.push_for(
        "delta_ops",
        Step::with(move |request| {
            let section = hidden(request).expect("a section shown as an outline");
            told.lock().unwrap().clone_from(&section);
            Ok(reply(replace(&section)))
        }),
    );
    let known = Arc::clone(&wanted);
    script.push_for(
        "delta_repair",
        Step::with(move |request| {
            let prompt = prompt(request);
            assert!(prompt.contains("target_not_shown"), "{prompt}");
            assert!(prompt.contains("shown as an outline, whole"), "{prompt}");
            Ok(reply(again(&known.lock().unwrap())))
        }),
    );
    refresh(&f, false).await;
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "content_written", "{:?}", after.last_run);
    assert!(after.content.contains("Restated."));
    assert!(!warned(&after, "ops_skipped"), "it was put right: {:?}", warnings(&after));
    assert_eq!(after.structure.blocks().count(), before.structure.blocks().count());
}

#[tokio::test]
async fn the_size_of_the_document_is_told_and_never_limits_the_answer() {
    for (words, told) in
        [(20, None), (470, Some("nears its size")), (700, Some("has reached its size"))]
    {
        let script = Scripted::default();
        let text = format!("# Team\n\n{}\n", "clay stone ".repeat(words / 2).trim());
        let f = written(&script, text, 512).await;
        f.fact("Cora joined the team of the kiln.", &["Cora"], "2026-02-20").await;
        let before = detail(&f).await;
        finds(&script);
        script.push_for("delta_ops", append(&before, "Cora joined."));
        refresh(&f, false).await;
        let request = asked(&script, "delta_ops").remove(0);
        let prompt = prompt(&request);
        for phrase in ["nears its size", "has reached its size"] {
            assert_eq!(prompt.contains(phrase), told == Some(phrase), "{words} words: {prompt}");
        }
        assert!(prompt.contains("within about 2048 tokens") && prompt.contains("of 512 tokens"));
        assert_eq!(request.max_output, None);
    }
}

/// FC-05: growth has a limit that is spoken of, and no paragraph appears twice.
#[tokio::test]
async fn fc_05_a_document_that_outgrows_its_budget_says_so_and_says_nothing_twice() {
    let script = Scripted::default();
    let f = written(&script, "# Team\n\nAda leads.\n".to_owned(), 256).await;
    f.fact("Cora joined the team of the kiln.", &["Cora"], "2026-02-20").await;
    let before = detail(&f).await;
    let section = &before.structure.sections[0].id;
    finds(&script);
    let long = format!("Cora joined. {}", "She likes clay and wood. ".repeat(90)).trim().to_owned();
    let op = |text: &str| json!({ "op": "append_block", "section_id": section, "text": text, "evidence": ["f1"] });
    let ops = json!({ "operations": [op(&long), op("Ada leads.")] });
    script.push_for("delta_ops", Step::json(&ops));
    refresh(&f, false).await;
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "content_written", "{:?}", after.last_run);
    let size = after.model.document_tokens;
    assert!(f64::from(size) > 2.1 * 256.0, "{size}");
    let told = warnings(&after);
    let over = told.iter().find(|warning| warning.code == "over_budget").expect("a warning");
    assert!(over.message.contains(&size.to_string()) && over.message.contains("256"), "{over:?}");
    assert!(warned(&after, "oversized_op"));
    assert_eq!(after.content.matches("Ada leads.").count(), 1, "no paragraph stands twice");
    let ada = &after.blame[0];
    assert_eq!(ada.sources.len(), 1, "what was said already rests on the new fact too");
}

/// FC-05: an oversized answer of a full refresh is condensed once, and stored as it came out.
#[tokio::test]
async fn fc_05_an_oversized_rebuild_is_condensed_once() {
    for (short, over) in [("It reaches 1200 degrees.", false), ("degrees ", true)] {
        let script = Scripted::default();
        let f = Fixture::scripted(Arc::new(script.clone())).await;
        f.fact("The kiln of the workshop reaches 1200 degrees.", &["Kiln"], "2026-01-04").await;
        let document = |text: &str| {
            json!({ "sections": [{ "heading": "Kiln", "level": 2, "blocks": [
                { "text": text.trim(), "evidence": ["f1"] },
            ] }] })
        };
        look(&script);
        let long = "It reaches 1200 degrees. ".repeat(100);
        script
            .push(Step::call("done", json!({ "document": document(&long), "memory_ids": ["f1"] })));
        let short = if over { short.repeat(400) } else { short.to_owned() };
        script.push_for("final_rewrite", Step::json(&document(&short)));
        let new = NewModel { max_tokens: Some(256), ..kiln(ReviewMode::Auto, "full") };
        models::create(&f.engine, &f.bank, new).await.expect("a model");
        f.run_queue().await;
        script.assert_used_up();
        let built = detail(&f).await;
        assert_eq!(outcome(&built), "content_written", "{:?}", built.last_run);
        assert_eq!(warned(&built, "over_budget"), over, "{:?}", warnings(&built));
        assert!(built.content.starts_with("## Kiln\n\n") && built.content.ends_with(".\n") != over);
    }
}

fn overflow() -> llm::Error {
    llm::Error::Overflow {
        endpoint: "http://localhost".to_owned(),
        answer: Box::new(llm::Answer {
            status: 400,
            code: None,
            message: "too long".to_owned(),
            body: String::new(),
        }),
    }
}

/// A prompt that cannot be made smaller is not sent a second time.
#[tokio::test]
async fn an_endpoint_that_takes_not_even_one_fact_is_not_asked_without_end() {
    let script = Scripted::default();
    let f = written(&script, sections(4, 200), 8192).await;
    long_facts(&f, 3, 1500).await;
    uses(&script, 3);
    for _ in 0..30 {
        script.push_for("delta_ops", Step::error(overflow()));
    }
    refresh(&f, false).await;
    let failed = detail(&f).await;
    assert_eq!(outcome(&failed), "refresh_failed_delta_not_applied", "{:?}", failed.last_run);
    let sizes: Vec<Option<u32>> =
        asked(&script, "delta_ops").iter().map(|request| request.prompt_tokens).collect();
    assert!(sizes.len() > 1 && sizes.windows(2).all(|two| two[1] < two[0]), "{sizes:?}");
}

/// A prompt that an endpoint finds too large is followed by smaller ones, never by the same.
#[tokio::test]
async fn an_endpoint_that_takes_less_than_it_says_gets_smaller_parts() {
    let script = Scripted::default();
    let f = written(&script, "# Team\n\nAda leads.\n".to_owned(), 8192).await;
    long_facts(&f, 4, 400).await;
    uses(&script, 4);
    script.set_caps(llm::Caps { window: Some(9000), ..llm::Caps::default() });
    script.push_for("delta_ops", Step::error(overflow()));
    let none = || {
        Step::with(|request: &ChatRequest| {
            let text = json!({ "operations": [], "already_reflected": handles(request) });
            let text = text.to_string();
            Ok(llm::ChatReply { raw: text.clone(), text, ..llm::ChatReply::default() })
        })
    };
    for _ in 0..4 {
        script.push_for("delta_ops", none());
    }
    refresh(&f, false).await;
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "content_unchanged", "{:?}", after.last_run);
    let calls = asked(&script, "delta_ops");
    assert!(calls.len() > 2, "{} calls", calls.len());
    assert!(calls[1].prompt_tokens < calls[0].prompt_tokens);
    let shown: Vec<String> = calls[1..].iter().flat_map(handles).collect();
    assert_eq!(shown, ["f1", "f2", "f3", "f4"]);
}

/// FC-09: a page that was cut off is not a success.
#[tokio::test]
async fn fc_09_an_answer_that_ends_in_the_middle_is_asked_again_and_never_stored() {
    let script = Scripted::default();
    let f = Fixture::scripted(Arc::new(script.clone())).await;
    f.fact("The kiln of the workshop reaches 1200 degrees.", &["Kiln"], "2026-01-04").await;
    let no_answer = |script: &Scripted| {
        look(script);
        script.push(Step::text("I have what I need."));
        script.push_for("closing_done", Step::text("Here it is."));
    };
    no_answer(&script);
    script.push_for("final", Step::cut_text("# Kiln\n\nThe kiln reaches 12"));
    script.push_for("final", Step::cut_text("# Kiln\n\nThe kiln reaches 1200 deg"));
    models::create(&f.engine, &f.bank, kiln(ReviewMode::Auto, "full")).await.expect("a model");
    f.run_queue().await;
    let failed = detail(&f).await;
    assert_eq!(outcome(&failed), "refresh_failed_error", "{:?}", failed.last_run);
    let report = failed.last_run.as_ref().and_then(|run| run.report.clone()).expect("a report");
    assert_eq!(report.reason, "no_answer");
    assert!(failed.model.placeholder && failed.content.is_empty());
    let limits: Vec<Option<u32>> =
        asked(&script, "final").iter().map(|request| request.max_output).collect();
    assert!(limits[1] > limits[0] && limits[1] >= Some(8192), "{limits:?}");
    no_answer(&script);
    script.push_for("final", Step::cut_text("# Kiln\n\nThe kiln reaches 12"));
    script.push_for("final", Step::text("# Kiln\n\nThe kiln reaches 1200 degrees."));
    refresh(&f, true).await;
    let built = detail(&f).await;
    assert_eq!(outcome(&built), "content_written", "{:?}", built.last_run);
    assert!(built.content.contains("1200 degrees."));
}

/// Of an answer that was cut off the whole edits count; what the missing end would have said is
/// offered again.
#[tokio::test]
async fn whole_edits_of_a_cut_answer_count_and_the_other_facts_are_offered_again() {
    let script = Scripted::default();
    let (f, before) = page(&script).await;
    f.fact("Dora left the team of the kiln.", &["Dora"], "2026-02-21").await;
    uses(&script, 2);
    let section = &before.structure.sections[0].id;
    let cut = format!(
        r#"{{"operations":[{{"op":"append_block","section_id":"{section}","text":"News one.","evidence":["f1"]}},{{"op":"append_block","section_id":"{section}","te"#
    );
    script.push_for("delta_ops", Step::cut_text(cut));
    refresh(&f, false).await;
    script.assert_used_up();
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "content_written", "{:?}", after.last_run);
    assert!(after.content.contains("News one."));
    assert!(warned(&after, "truncated_response") && warned(&after, "uncovered_facts"));
    assert_eq!(after.model.refresh_reasons, ["carry_over"]);
    // Nothing new was written: the loop has nothing to look for, the fact is known.
    script.push_for("delta_ops", append(&after, "News two."));
    refresh(&f, false).await;
    script.assert_used_up();
    let done = detail(&f).await;
    assert_eq!(outcome(&done), "content_written", "{:?}", done.last_run);
    assert!(done.content.contains("News two.") && done.model.refresh_reasons.is_empty());
    let scopes: Vec<String> = script.scopes().into_iter().rev().take(1).collect();
    assert_eq!(scopes, ["delta_ops"]);
}

#[tokio::test]
async fn a_fact_that_no_answer_accounts_for_is_given_up_after_three_more_offers() {
    let script = Scripted::default();
    let (f, _) = page(&script).await;
    finds(&script);
    let nothing = || Step::json(&json!({ "operations": [] }));
    script.push_for("delta_ops", nothing());
    refresh(&f, false).await;
    for offer in 1..=3 {
        let waiting = detail(&f).await;
        assert_eq!(outcome(&waiting), "content_unchanged", "{offer}: {:?}", waiting.last_run);
        assert_eq!(waiting.model.refresh_reasons, ["carry_over"], "offer {offer}");
        assert!(!warned(&waiting, "facts_not_integrated"));
        script.push_for("delta_ops", nothing());
        refresh(&f, false).await;
    }
    let given_up = detail(&f).await;
    assert!(warned(&given_up, "facts_not_integrated"), "{:?}", warnings(&given_up));
    assert!(given_up.model.refresh_reasons.is_empty());
    // A fact that is judged is accounted for.
    let (g, _) = page(&script).await;
    finds(&script);
    script.push_for("delta_ops", Step::json(&json!({ "operations": [], "irrelevant": ["f1"] })));
    refresh(&g, false).await;
    let judged = detail(&g).await;
    assert_eq!(outcome(&judged), "content_unchanged");
    assert!(judged.model.refresh_reasons.is_empty(), "{:?}", judged.model.refresh_reasons);
}

/// What is offered again is still something that the document reads.
#[tokio::test]
async fn a_carried_fact_that_left_the_scope_is_not_offered_again() {
    let script = Scripted::default();
    let (f, _) = page(&script).await;
    finds(&script);
    script.push_for("delta_ops", Step::json(&json!({ "operations": [] })));
    refresh(&f, false).await;
    assert_eq!(detail(&f).await.model.refresh_reasons, ["carry_over"]);
    let tags = ModelPatch { tags: Some(vec!["x".to_owned()]), ..ModelPatch::default() };
    models::update(&f.engine, &f.bank, &id(), tags).await.expect("an update");
    refresh(&f, false).await;
    script.assert_used_up();
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "content_preserved_no_new_facts", "{:?}", after.last_run);
    assert!(after.model.refresh_reasons.is_empty(), "{:?}", after.model.refresh_reasons);
}

#[tokio::test]
async fn a_change_that_takes_much_away_waits_for_a_person() {
    let script = Scripted::default();
    let (f, before) = page(&script).await;
    finds(&script);
    let [team, risks] = [&before.structure.sections[0], &before.structure.sections[1]];
    let ops = json!({ "operations": [
        { "op": "append_block", "section_id": team.id, "text": "Cora joined.", "evidence": ["f1"] },
        { "op": "remove_section", "section_id": risks.id, "evidence": ["f1"] },
    ]});
    script.push_for("delta_ops", Step::json(&ops));
    refresh(&f, false).await;
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "proposal_created", "{:?}", after.last_run);
    assert!(warned(&after, "large_removal"));
    assert_eq!((after.content, after.model.version), (before.content, 1));
    let inbox = models::proposals::inbox(&f.engine, &f.bank).await.expect("an inbox");
    assert_eq!(inbox[0].reason, "large_removal");
    assert_eq!(inbox[0].model_id, id());
    // A rebuild that drops most of the citations.
    let script = Scripted::default();
    let f = Fixture::scripted(Arc::new(script.clone())).await;
    long_facts(&f, 4, 3).await;
    let rebuilt = |facts: &[&str]| {
        json!({ "document": { "sections": [{ "heading": "Kiln", "level": 2, "blocks": [
            { "text": format!("It rests on {}.", facts.len()), "evidence": facts },
        ] }] }, "memory_ids": facts })
    };
    look(&script);
    script.push(Step::call("done", rebuilt(&["f1", "f2", "f3", "f4"])));
    models::create(&f.engine, &f.bank, kiln(ReviewMode::Auto, "full")).await.expect("a model");
    f.run_queue().await;
    assert_eq!(detail(&f).await.based_on.len(), 4);
    look(&script);
    script.push(Step::call("done", rebuilt(&["f1"])));
    refresh(&f, true).await;
    let after = detail(&f).await;
    assert_eq!(outcome(&after), "proposal_created", "{:?}", after.last_run);
    assert!(warned(&after, "large_removal") && after.based_on.len() == 4);
}
