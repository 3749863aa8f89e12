//! Rules and temper: a bank's directives are made, ordered, switched and put back; which of them
//! hold is told before a question exactly as the run decides it; and one question can be asked
//! under another disposition than the bank's.

use crate::reflect::{ask, question};
use domain::DirectiveId;
use domain::directives::Directive;
use domain::disposition::Disposition;
use domain::trace::HeldBackReason;
use engine::reflect::directives;
use engine::report::Report;
use engine::view::directive::{DirectivePatch, DirectiveScope, NewDirective};
use engine::view::reflect::ReflectInput;
use llm::Message;
use llm::scripted::{Scripted, Step};
use serde_json::json;
use std::sync::Arc;
use tests::Fixture;

fn rule(name: &str, content: &str, tags: &[&str]) -> NewDirective {
    NewDirective {
        name: name.to_owned(),
        content: content.to_owned(),
        priority: None,
        is_active: None,
        tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
    }
}

async fn make(fixture: &Fixture, new: NewDirective) -> Directive {
    let made = directives::create(&fixture.engine, &fixture.bank, new).await.expect("a rule");
    fixture.clock.advance_ms(60_000);
    made
}

async fn names(fixture: &Fixture) -> Vec<String> {
    let all = directives::list(&fixture.engine, &fixture.bank).await.expect("rules");
    all.into_iter().map(|directive| directive.name).collect()
}

/// Names that hold and names with reasons that are held back.
async fn told(
    fixture: &Fixture,
    scope: DirectiveScope,
) -> (Vec<String>, Vec<(String, HeldBackReason)>) {
    let told = directives::in_scope(&fixture.engine, &fixture.bank, scope).await.expect("a scope");
    (
        told.in_force.into_iter().map(|one| one.name).collect(),
        told.held_back.into_iter().map(|one| (one.name, one.reason)).collect(),
    )
}

fn tagged(tags: &[&str], tags_match: Option<&str>, all: bool) -> DirectiveScope {
    DirectiveScope {
        tags: Some(tags.iter().map(|&tag| tag.to_owned()).collect()),
        tags_match: tags_match.map(str::to_owned),
        tag_groups: None,
        apply_all_directives: all,
    }
}

fn answering(text: &str) -> [Step; 3] {
    let args = |query: &str| json!({"reason": "to look", "query": query});
    [
        Step::call("search_observations", args("ferry")),
        Step::call("recall", args("ferry departure")),
        Step::call(
            "done",
            json!({"answer": text, "memory_ids": ["f1"], "directive_compliance": "kept"}),
        ),
    ]
}

fn instructions(model: &Scripted, request: usize) -> String {
    match &model.requests()[request].messages[0] {
        Message::System { text } => text.clone(),
        other => panic!("the first message is {other:?}"),
    }
}

#[tokio::test]
async fn rules_are_made_changed_switched_and_told_in_order() {
    let fixture = Fixture::new().await;
    let tone = make(&fixture, rule("Tone", "  Be brief.  ", &[])).await;
    assert_eq!((tone.content.as_str(), tone.priority, tone.is_active), ("Be brief.", 0, true));
    make(&fixture, rule("Safety", "Name the risks.", &["safety", " safety ", "shop"])).await;
    let first = NewDirective { priority: Some(7), ..rule("First", "Say the date.", &[]) };
    make(&fixture, first).await;
    assert_eq!(names(&fixture).await, ["First", "Safety", "Tone"], "newer before older");
    let all = directives::list(&fixture.engine, &fixture.bank).await.unwrap();
    assert_eq!(all[1].tags, ["safety", "shop"]);

    let patch = DirectivePatch {
        content: Some("Be very brief.".to_owned()),
        is_active: Some(false),
        ..DirectivePatch::default()
    };
    let changed =
        directives::update(&fixture.engine, &fixture.bank, &tone.id, patch).await.unwrap();
    assert_eq!(changed.name, "Tone", "what is not named stays");
    assert_eq!((changed.content.as_str(), changed.is_active), ("Be very brief.", false));
    assert!(changed.updated_at > tone.updated_at && changed.created_at == tone.created_at);
    let groups = json!([{"tags": ["safet"], "resolve": "fuzzy"}, {"not": {"tags": ["kiln"]}}]);
    let groups = groups.as_array().unwrap().iter().cloned().map(Into::into).collect();
    let grouped = DirectiveScope { tag_groups: Some(groups), ..DirectiveScope::default() };
    assert_eq!(told(&fixture, grouped).await.0, ["First", "Safety"], "a near tag is found");
    let (hold, held) = told(&fixture, DirectiveScope::default()).await;
    assert_eq!(hold, ["First"]);
    assert_eq!(
        held,
        [
            ("Safety".to_owned(), HeldBackReason::Scope),
            ("Tone".to_owned(), HeldBackReason::Inactive),
        ]
    );
}

#[tokio::test]
async fn a_rule_moves_to_any_place_and_comes_back_to_its_own_after_a_deletion() {
    let fixture = Fixture::new().await;
    for name in ["a", "b", "c", "d"] {
        make(&fixture, rule(name, "Rule.", &[])).await;
    }
    assert_eq!(names(&fixture).await, ["d", "c", "b", "a"]);
    let all = directives::list(&fixture.engine, &fixture.bank).await.unwrap();
    let (oldest, b) = (all[3].id.clone(), all[2].clone());
    let put = |place| directives::put_at(&fixture.engine, &fixture.bank, &oldest, place);
    let after: Vec<String> = put(1).await.unwrap().into_iter().map(|one| one.name).collect();
    assert_eq!(after, ["d", "a", "c", "b"]);
    put(99).await.unwrap();
    assert_eq!(names(&fixture).await, ["d", "c", "b", "a"], "past the end is the end");

    let gone = directives::delete(&fixture.engine, &fixture.bank, &b.id).await.unwrap();
    assert_eq!(names(&fixture).await, ["d", "c", "a"]);
    let twice = directives::delete(&fixture.engine, &fixture.bank, &b.id).await.unwrap_err();
    assert_eq!(Report::from(&twice).reason, "directive_not_found");
    let back = directives::restore(&fixture.engine, &fixture.bank, gone.clone()).await.unwrap();
    assert_eq!(back, gone, "id and age are its own");
    assert_eq!(names(&fixture).await, ["d", "c", "b", "a"]);
    let twice = directives::restore(&fixture.engine, &fixture.bank, gone).await.unwrap_err();
    assert_eq!(Report::from(&twice).reason, "id_taken");
}

#[tokio::test]
async fn what_cannot_be_a_rule_is_refused_field_by_field() {
    let fixture = Fixture::new().await;
    let bad = rule("Empty", " \n", &["  "]);
    let error = directives::create(&fixture.engine, &fixture.bank, bad).await.unwrap_err();
    let report = Report::from(&error);
    let fields: Vec<&str> = report.fields.iter().map(|fault| fault.field.as_str()).collect();
    assert_eq!((report.reason.as_str(), fields), ("invalid_request", vec!["content", "tags"]));

    let gone: DirectiveId = "gone".into();
    let none = DirectivePatch::default();
    let error = directives::update(&fixture.engine, &fixture.bank, &gone, none).await.unwrap_err();
    assert_eq!(Report::from(&error).reason, "nothing_to_change");
    let some = DirectivePatch { is_active: Some(true), ..DirectivePatch::default() };
    let error = directives::update(&fixture.engine, &fixture.bank, &gone, some).await.unwrap_err();
    assert_eq!(Report::from(&error).reason, "directive_not_found");
    let odd = tagged(&["safety"], Some("some"), false);
    let error = directives::in_scope(&fixture.engine, &fixture.bank, odd).await.unwrap_err();
    assert_eq!(Report::from(&error).fields[0].code, "enum");
    let both = DirectiveScope {
        tag_groups: Some(vec![json!({"tags": ["safety"]}).into()]),
        ..tagged(&["safety"], None, false)
    };
    let error = directives::in_scope(&fixture.engine, &fixture.bank, both).await.unwrap_err();
    assert_eq!(Report::from(&error).reason, "tags_and_tag_groups");
    let error = directives::list(&fixture.engine, &"nowhere".into()).await.unwrap_err();
    assert_eq!(Report::from(&error).reason, "bank_not_found");
}

#[tokio::test]
async fn fc_21_rules_that_did_not_apply_are_visible() {
    let answers = ["At six.", "At six. CONFIRMED", "At six. CONFIRMED"];
    let model = Scripted::new(answers.into_iter().flat_map(answering));
    let fixture = Fixture::scripted(Arc::new(model.clone())).await;
    fixture.fact("The ferry to Aker leaves at six.", &["Aker"], "2026-02-01").await;
    let rule = rule("Confirm", "End with the word CONFIRMED.", &["safety"]);
    make(&fixture, rule).await;
    let plain = question("When does the ferry leave?");
    let asked: [(ReflectInput, DirectiveScope); 3] = [
        (plain.clone(), DirectiveScope::default()),
        (
            ReflectInput { tags: Some(vec!["safety".to_owned()]), ..plain.clone() },
            tagged(&["safety"], None, false),
        ),
        (
            ReflectInput { apply_all_directives: true, ..plain },
            DirectiveScope { apply_all_directives: true, ..DirectiveScope::default() },
        ),
    ];
    for (n, (input, scope)) in asked.into_iter().enumerate() {
        let (hold, held) = told(&fixture, scope).await;
        let (answer, _) = ask(&fixture, input).await;
        let view = answer.unwrap();
        let applied: Vec<String> =
            view.trace.directives.iter().map(|one| one.name.clone()).collect();
        let back: Vec<(String, HeldBackReason)> = view
            .trace
            .directives_held_back
            .iter()
            .map(|one| (one.name.clone(), one.reason))
            .collect();
        assert_eq!((&applied, &back), (&hold, &held), "told beforehand as it came");
        let instructed = instructions(&model, n * 3).contains("End with the word CONFIRMED.");
        let cited = view.based_on.iter().any(|item| item.kind == "directives");
        if n == 0 {
            assert_eq!(back, [("Confirm".to_owned(), HeldBackReason::Scope)]);
            assert!(applied.is_empty() && !instructed && !cited);
        } else {
            assert_eq!(applied, ["Confirm"]);
            assert!(back.is_empty() && instructed && cited);
            assert!(view.text.unwrap().ends_with("CONFIRMED"));
        }
    }
    model.assert_used_up();
}

#[tokio::test]
async fn one_question_under_two_dispositions_says_each_in_its_own_instructions() {
    let model = Scripted::new(["At six.", "Six, they say."].into_iter().flat_map(answering));
    let fixture = Fixture::scripted(Arc::new(model.clone())).await;
    fixture.fact("The ferry to Aker leaves at six.", &["Aker"], "2026-02-01").await;
    fixture.settings(json!({"disposition_empathy": 5, "reflect_mission": "Keep the quay."})).await;
    let own = question("When does the ferry leave?");
    let doubting = Disposition { skepticism: 5, literalism: 3, empathy: 3 };
    let other = ReflectInput { disposition: Some(doubting), ..own.clone() };
    let (answer, _) = ask(&fixture, own).await;
    assert_eq!(answer.unwrap().request.disposition, None);
    let (answer, _) = ask(&fixture, other).await;
    assert_eq!(answer.unwrap().request.disposition, Some(doubting), "the record says it");
    model.assert_used_up();
    let (first, second) = (instructions(&model, 0), instructions(&model, 3));
    assert!(first.contains("Lead with the human side") && !first.contains("as unproven"));
    assert!(second.contains("as unproven") && !second.contains("Lead with the human side"));
    for text in [first, second] {
        assert_eq!(text.matches("Keep the quay.").count(), 2, "role and bank, in both alike");
    }

    let wild = Disposition { skepticism: 6, literalism: 0, empathy: 3 };
    let bad = ReflectInput { disposition: Some(wild), ..question("When?") };
    let (answer, _) = ask(&fixture, bad).await;
    let report = answer.unwrap_err();
    let fields: Vec<&str> = report.fields.iter().map(|fault| fault.field.as_str()).collect();
    assert_eq!(fields, ["disposition"]);
}
