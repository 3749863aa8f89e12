//! Every way in which a question ends (the table of outcomes): what a caller is told, what to do next,
//! and what the record still holds.

use crate::reflect::{ask, ferry, newest, question, rule, searches, texts, unreachable};
use domain::FactType;
use domain::trace::{ClosedBy, RunEvent, ToolCallStatus};
use embed::{Embedder, Hash, Kind, Prefixes, Thresholds};
use engine::reflect;
use engine::report::{ErrorCode, Report};
use engine::view::reflect::{ReflectInput, ReflectRunView, RunStatus};
use llm::Answer;
use llm::scripted::{Hold, Scripted, Step};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tests::{Fixture, Setup};
use tokio_util::sync::CancellationToken;

const ENDPOINT: &str = "http://127.0.0.1:9";

/// Asks a question that fails: the report agrees with the record and with the last event.
pub(crate) async fn failed(f: &Fixture, input: ReflectInput) -> (Report, ReflectRunView) {
    let (answer, events) = ask(f, input).await;
    let report = answer.unwrap_err();
    let record = newest(f).await;
    assert_eq!(Some(&report), record.report.as_ref());
    assert_eq!(Some(&record.id), report.run.as_ref().map(|run| &run.id));
    assert_eq!(record.text, None, "nothing is shown as an answer");
    assert!(report.hint.as_ref().is_some_and(|hint| !hint.is_empty()), "what to do next is said");
    assert_eq!(record.usage, record.trace.usage());
    let Some(RunEvent::Failed { reason, message, hint, .. }) = events.last() else {
        panic!("the last event is {:?}", events.last())
    };
    assert_eq!((reason, message, hint), (&report.reason, &report.message, &report.hint));
    assert_eq!(record.status, RunStatus::Failed);
    (report, record)
}

#[track_caller]
pub(crate) fn says(report: &Report, code: ErrorCode, reason: &str, message: &str, hint: &str) {
    assert_eq!((report.code, report.reason.as_str()), (code, reason));
    assert!(report.message.contains(message), "{}", report.message);
    let told = report.hint.as_deref().unwrap_or_default();
    assert!(told.contains(hint), "{told}");
}

pub(crate) fn tools(record: &ReflectRunView) -> Vec<&str> {
    record.trace.tool_calls.iter().map(|call| call.tool.as_str()).collect()
}

pub(crate) fn scopes(record: &ReflectRunView) -> Vec<&str> {
    record.trace.llm_calls.iter().map(|call| call.scope.as_str()).collect()
}

fn answer(status: u16, message: &str) -> Box<Answer> {
    Box::new(Answer { status, message: message.to_owned(), ..Answer::default() })
}

fn overflow() -> llm::Error {
    let answer = answer(400, "maximum context length");
    llm::Error::Overflow { endpoint: ENDPOINT.to_owned(), answer }
}

fn done(args: Value) -> Step {
    Step::call("done", args)
}

pub(crate) fn cited() -> Step {
    done(json!({"answer": "At six.", "memory_ids": ["f1"]}))
}

/// A bank with three facts, and the two forced searches at the head of the script.
pub(crate) async fn searched(rest: impl IntoIterator<Item = Step>) -> (Fixture, Scripted) {
    let model = Scripted::new(searches().into_iter().chain(rest));
    (ferry(&model).await, model)
}

#[tokio::test]
async fn an_empty_bank_answers_that_nothing_is_known() {
    let nothing = done(json!({"answer": "Nothing is stored on this.", "memory_ids": []}));
    let model = Scripted::new(searches().into_iter().chain([nothing]));
    let f = Fixture::scripted(Arc::new(model.clone())).await;
    let (view, _) = ask(&f, question("When does the ferry leave?")).await;
    let view = view.unwrap();
    model.assert_used_up();
    assert_eq!(view.status, RunStatus::Finished);
    assert!(view.based_on.is_empty() && view.warnings.is_empty(), "{:?}", view.warnings);
    assert!(view.trace.tool_calls.iter().all(|call| call.guard.is_none()));
}

#[tokio::test]
async fn a_request_that_cannot_be_used_is_refused_before_there_is_a_run() {
    let model = Scripted::new([]);
    let f = ferry(&model).await;
    let input = ReflectInput {
        query: " \0 ".to_owned(),
        max_tokens: Some(0),
        fact_types: Some(Vec::new()),
        tags: Some(vec![" ".to_owned()]),
        tags_match: Some("some".to_owned()),
        tag_groups: Some(vec![json!({"and": []}).into()]),
        exclude_mental_model_ids: Some(vec!["".into()]),
        disposition: serde_json::from_value(
            json!({"skepticism": 6, "literalism": 3, "empathy": 3}),
        )
        .unwrap(),
        ..ReflectInput::default()
    };
    let (refused, events) = ask(&f, input).await;
    let report = refused.unwrap_err();
    says(&report, ErrorCode::InvalidInput, "invalid_request", "Some fields", "marked fields");
    let fields: Vec<&str> = report.fields.iter().map(|fault| fault.field.as_str()).collect();
    assert_eq!(
        fields,
        [
            "query",
            "max_tokens",
            "fact_types",
            "exclude_mental_model_ids",
            "disposition",
            "tags",
            "tags_match",
            "tag_groups",
            "tag_groups[0].and",
        ]
    );
    assert!(events.is_empty() && model.requests().is_empty());
    assert!(reflect::runs(&f.engine, &f.bank).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_fault_of_the_scope_alone_has_its_own_reason() {
    let model = Scripted::new([]);
    let f = ferry(&model).await;
    let reason = async |change: fn(&mut ReflectInput)| {
        let mut input = question("ferry");
        change(&mut input);
        let report = ask(&f, input).await.0.unwrap_err();
        assert_eq!(report.code, ErrorCode::InvalidInput);
        assert!(!report.message.contains('{'), "{}", report.message);
        (report.reason, report.message)
    };
    let both = reason(|input| {
        (input.tags, input.tag_groups) = (Some(Vec::new()), Some(Vec::new()));
    });
    assert_eq!(both.await.0, "tags_and_tag_groups");
    let unknown = reason(|input| input.tags_match = Some("some".to_owned())).await;
    assert_eq!(unknown.0, "unknown_match");
    assert!(unknown.1.contains("some"));
    let empty = reason(|input| input.tag_groups = Some(vec![json!({"or": []}).into()]));
    assert_eq!(empty.await.0, "empty_group");
    let two = reason(|input| {
        input.tag_groups = Some(vec![json!({"tags": ["a"], "not": {"tags": ["b"]}}).into()]);
    });
    assert_eq!(two.await.0, "ambiguous_group");
    let resolve = reason(|input| {
        input.tag_groups = Some(vec![json!({"tags": ["a"], "resolve": "nearly"}).into()]);
    });
    let resolve = resolve.await;
    assert_eq!(resolve.0, "unknown_resolve");
    assert!(resolve.1.contains("nearly"), "{}", resolve.1);
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn a_schema_that_cannot_be_used_is_refused_before_any_call() {
    let model = Scripted::new([]);
    let f = ferry(&model).await;
    let schema = json!({"type": "object", "properties": {"hour": {"type": ["integer"]}}});
    let input = ReflectInput { response_schema: Some(schema.into()), ..question("ferry") };
    let report = ask(&f, input).await.0.unwrap_err();
    says(&report, ErrorCode::InvalidSchema, "invalid_schema", "schema", "marked places");
    assert!(report.fields[0].field.starts_with("response_schema"), "{:?}", report.fields);
    assert!(model.requests().is_empty());
    assert!(reflect::runs(&f.engine, &f.bank).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_unknown_bank_is_not_made_by_asking() {
    let model = Scripted::new([]);
    let mut f = ferry(&model).await;
    f.bank = "elsewhere".into();
    let report = ask(&f, question("ferry")).await.0.unwrap_err();
    says(&report, ErrorCode::NotFound, "bank_not_found", "elsewhere", "create it");
    assert_eq!(engine::banks::list(&f.engine).await.unwrap().len(), 1);
}

#[tokio::test]
async fn without_any_answerer_the_question_is_refused() {
    let f = Fixture::new().await;
    engine::endpoints::set_extractive(&f.engine, false).await.unwrap();
    let report = ask(&f, question("ferry")).await.0.unwrap_err();
    let code = ErrorCode::ProviderNotConfigured;
    says(&report, code, "llm_not_configured", "none is set up", "Language models");
    assert!(reflect::runs(&f.engine, &f.bank).await.unwrap().is_empty());
}

/// An embedder that breaks for one word.
struct Breaking {
    inner: Hash,
    on: Arc<AtomicBool>,
}

#[async_trait::async_trait]
impl Embedder for Breaking {
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn prefixes(&self) -> &Prefixes {
        self.inner.prefixes()
    }
    fn thresholds(&self) -> Thresholds {
        self.inner.thresholds()
    }
    fn is_local(&self) -> bool {
        true
    }
    async fn embed(
        &self,
        texts: &[String],
        kind: Kind,
        cancel: &CancellationToken,
    ) -> Result<Vec<Vec<f32>>, embed::Error> {
        if self.on.load(Ordering::Relaxed) && texts.iter().any(|text| text.contains("thunder")) {
            return Err(embed::Error::BadReply { what: "no numbers".to_owned() });
        }
        self.inner.embed(texts, kind, cancel).await
    }
}

#[tokio::test]
async fn one_search_of_several_that_fails_fails_the_run() {
    let [first, _] = searches();
    let model = Scripted::new([
        first,
        Step::calls([
            ("recall", json!({"query": "ferry"})),
            ("recall", json!({"query": "thunder"})),
        ]),
    ]);
    let embedder = Breaking { inner: Hash::new(), on: Arc::new(AtomicBool::new(true)) };
    let f = Fixture::with(Setup {
        llm: Some(Arc::new(model.clone())),
        embedder: Some(Arc::new(embedder)),
        ..Setup::default()
    })
    .await;
    f.fact("The ferry to Aker leaves at six.", &["Aker"], "2026-02-01").await;
    let (report, record) = failed(&f, question("When does the ferry leave?")).await;
    says(&report, ErrorCode::EvidenceUnavailable, "tool_failed", "recall", "integrity check");
    assert!(report.retryable && report.detail.is_some());
    assert_eq!(tools(&record), ["search_observations"]);
    assert_eq!(scopes(&record), ["agent_1", "agent_2"]);
    assert!(!record.can_go_on, "half the evidence is not gone on from");
}

#[tokio::test]
async fn a_blank_done_and_a_blank_synthesis_are_no_answers() {
    let (f, _) =
        searched([done(json!({"answer": "<think>done</think> ", "memory_ids": []}))]).await;
    let (report, record) = failed(&f, question("ferry")).await;
    says(&report, ErrorCode::EmptyAnswer, "no_answer", "empty answer", "another model");
    assert_eq!(tools(&record), ["search_observations", "recall", "done"]);

    let stop = [Step::text("I am finished."), Step::text("No."), Step::text(" ")];
    let (f, model) = searched(stop).await;
    let (report, record) = failed(&f, question("ferry")).await;
    model.assert_used_up();
    says(&report, ErrorCode::EmptyAnswer, "no_answer", "empty answer", "another model");
    assert_eq!(scopes(&record), ["agent_1", "agent_2", "agent_3", "closing_done", "final"]);
    assert_eq!(record.trace.closed_by, Some(ClosedBy::TextStop));
}

#[tokio::test]
async fn a_model_without_tools_is_named_with_what_it_said() {
    let leaked = "recall({\"query\": \"ferry\"})";
    let model = Scripted::new([Step::text("At six, I think."), Step::text(leaked)]);
    let f = ferry(&model).await;
    let (report, record) = failed(&f, question("ferry")).await;
    let code = ErrorCode::ModelLacksTools;
    says(&report, code, "tool_calls_unsupported", "does not call tools", "tool calling");
    let detail = report.detail.unwrap();
    assert!(detail.contains("plain text") && detail.contains(leaked), "{detail}");
    assert_eq!(scopes(&record), ["agent_1", "agent_1_nudge"]);
    assert!(tools(&record).is_empty());
}

#[tokio::test]
async fn two_failures_in_a_row_have_the_family_of_their_cause() {
    let endpoint = || ENDPOINT.to_owned();
    let causes: [(fn() -> llm::Error, ErrorCode); 4] = [
        (
            || llm::Error::RateLimited {
                endpoint: ENDPOINT.to_owned(),
                retry_after: Some(Duration::from_secs(7)),
                answer: answer(429, "slow down"),
            },
            ErrorCode::ProviderRateLimited,
        ),
        (
            || llm::Error::Timeout {
                endpoint: ENDPOINT.to_owned(),
                limit: Duration::from_secs(120),
            },
            ErrorCode::TimedOut,
        ),
        (
            || llm::Error::Refused { endpoint: ENDPOINT.to_owned(), answer: answer(400, "odd") },
            ErrorCode::ProviderRefused,
        ),
        (unreachable, ErrorCode::ProviderUnreachable),
    ];
    for (cause, code) in causes {
        let (f, _) = searched([Step::error(cause()), Step::error(cause())]).await;
        let (report, record) = failed(&f, question("ferry")).await;
        says(&report, code, "provider_error", &endpoint(), "evidence found so far is kept");
        assert_eq!(tools(&record), ["search_observations", "recall"]);
        assert_eq!(scopes(&record), ["agent_1", "agent_2", "agent_3_err", "agent_3_err"]);
        assert!(record.can_go_on);
    }
}

#[tokio::test]
async fn a_refused_key_is_told_at_once_and_costs_no_evidence() {
    let refused = llm::Error::Auth { endpoint: ENDPOINT.to_owned(), answer: answer(401, "no key") };
    let (f, model) = searched([Step::error(refused)]).await;
    let (report, record) = failed(&f, question("ferry")).await;
    model.assert_used_up();
    says(&report, ErrorCode::ProviderAuth, "llm_auth", ENDPOINT, "Check the key");
    assert_eq!(scopes(&record), ["agent_1", "agent_2", "agent_3_err"]);
    assert_eq!(tools(&record), ["search_observations", "recall"]);
    assert!(record.can_go_on);
}

#[tokio::test]
async fn a_run_that_gathered_nothing_does_not_answer() {
    let model =
        Scripted::new([Step::call("look_up", json!({"query": "ferry"})), Step::text("At six.")]);
    let f = ferry(&model).await;
    let (report, record) = failed(&f, question("ferry")).await;
    let code = ErrorCode::EvidenceUnavailable;
    says(&report, code, "no_evidence_gathered", "No search was completed", "uses its tools");
    assert_eq!(record.trace.tool_calls[0].status, ToolCallStatus::Error);
    assert_eq!(record.trace.closed_by, Some(ClosedBy::TextStop));
    model.assert_used_up();
}

#[tokio::test]
async fn what_does_not_fit_fails_only_when_nothing_smaller_can_be_sent() {
    let model = Scripted::new([Step::error(overflow())]);
    let f = ferry(&model).await;
    let (report, record) = failed(&f, question("ferry")).await;
    let code = ErrorCode::ContextOverflow;
    says(&report, code, "context_overflow", "do not fit", "larger window");
    assert_eq!(scopes(&record), ["agent_1_err"], "an overflow is not tried again");

    // With evidence the run closes from it, in a smaller prompt and without the conversation.
    let (f, model) =
        searched([Step::error(overflow()), Step::text("The ferry leaves at six.")]).await;
    let (view, _) = ask(&f, question("ferry")).await;
    let view = view.unwrap();
    model.assert_used_up();
    assert_eq!(view.trace.closed_by, Some(ClosedBy::Context));
    assert_eq!(model.scopes(), ["agent_1", "agent_2", "agent_3", "final"]);
    let asked = model.requests();
    assert!(asked[3].prompt_tokens < asked[2].prompt_tokens);

    // The synthesis of these few facts cannot be made smaller, so it is not sent again.
    let (f, model) = searched([Step::error(overflow()), Step::error(overflow())]).await;
    let (report, record) = failed(&f, question("ferry")).await;
    model.assert_used_up();
    says(&report, code, "context_overflow", "do not fit", "larger window");
    assert_eq!(scopes(&record)[2..], ["agent_3_err", "final_err"]);
    assert_eq!(tools(&record), ["search_observations", "recall"]);
}

#[tokio::test]
async fn a_prompt_that_was_cut_is_not_answered_from() {
    let cut = llm::Error::PromptTruncated {
        endpoint: ENDPOINT.to_owned(),
        protocol: llm::Protocol::Ollama,
        got: 2051,
        sent: 15_700,
    };
    let (f, model) = searched([Step::error(cut)]).await;
    let (report, record) = failed(&f, question("ferry")).await;
    model.assert_used_up();
    let code = ErrorCode::ContextOverflow;
    says(&report, code, "prompt_truncated", "only 2,051 of about 15,700", "num_ctx");
    assert_eq!(scopes(&record), ["agent_1", "agent_2", "agent_3_err"]);
}

#[tokio::test]
async fn an_answer_that_breaks_a_directive_is_corrected_once_or_not_given() {
    let named = || {
        let args = json!({"answer": "Mira repairs it.", "memory_ids": ["f1"],
            "directive_compliance": "yes"});
        done(args)
    };
    let broken = || Step::json(&json!({"broken": [1]}));
    let on = json!({"reflect_directive_check": true});

    let (f, model) =
        searched([named(), broken(), Step::text("Someone repairs it."), broken()]).await;
    rule(&f, "Never name a person.").await;
    f.settings(on.clone()).await;
    let (report, record) = failed(&f, question("Who repairs the crane?")).await;
    model.assert_used_up();
    let code = ErrorCode::DirectiveViolation;
    says(&report, code, "directive_violation", "Tone", "Reword the rule");
    assert_eq!(scopes(&record)[3..], ["directive_check", "final_rewrite", "directive_check"]);
    let asked = model.requests();
    assert!(texts(&asked[3].messages[0]).contains("1. Tone: Never name a person."));
    assert!(!texts(&asked[3].messages[0]).contains("Mira repairs it."), "the text is fenced data");

    let kept = Step::json(&json!({"broken": []}));
    let (f, model) = searched([named(), broken(), Step::text("Someone repairs it."), kept]).await;
    rule(&f, "Never name a person.").await;
    f.settings(on).await;
    let (view, _) = ask(&f, question("Who repairs the crane?")).await;
    assert_eq!(view.unwrap().text.as_deref(), Some("Someone repairs it."));
    model.assert_used_up();

    let (f, model) = searched([named()]).await;
    rule(&f, "Never name a person.").await;
    ask(&f, question("Who repairs the crane?")).await.0.unwrap();
    model.assert_used_up();
}

#[tokio::test]
async fn a_cancelled_run_says_so_and_keeps_its_trace() {
    let hold = Hold::default();
    let (f, _) = searched([cited().held_by(&hold)]).await;
    let mut events: Vec<RunEvent> = Vec::new();
    let (answer, run) =
        tokio::join!(reflect::ask(&f.engine, &f.bank, question("ferry"), &mut events), async {
            hold.arrived().await;
            let rows = reflect::runs(&f.engine, &f.bank).await.unwrap();
            reflect::cancel(&f.engine, &rows[0].id).await.unwrap();
            rows[0].id.clone()
        });
    let report = Report::from(&answer.unwrap_err());
    says(&report, ErrorCode::Cancelled, "cancelled", "Stopped", "in the record");
    let record = newest(&f).await;
    assert_eq!(record.status, RunStatus::Cancelled);
    assert_eq!(tools(&record), ["search_observations", "recall"]);
    assert_eq!(scopes(&record), ["agent_1", "agent_2", "agent_3_err"]);
    assert!(matches!(events.last(), Some(RunEvent::Cancelled { .. })));

    // Stopping what has ended does nothing.
    reflect::cancel(&f.engine, &run).await.unwrap();
    assert_eq!(newest(&f).await, record);
}

#[tokio::test]
async fn wrong_tools_and_arguments_go_back_to_the_model() {
    let (f, model) = searched([
        Step::calls([("look_up", json!({})), ("recall", json!({"max_tokens": 5}))]),
        cited(),
    ])
    .await;
    let (view, _) = ask(&f, question("ferry")).await;
    let view = view.unwrap();
    let errors: Vec<(&str, ToolCallStatus)> =
        view.trace.tool_calls[2..4].iter().map(|call| (call.tool.as_str(), call.status)).collect();
    assert_eq!(errors, [("look_up", ToolCallStatus::Error), ("recall", ToolCallStatus::Error)]);
    let last = model.requests()[3].clone();
    let told: Vec<&str> = last.messages[6..].iter().map(texts).collect();
    assert!(told.iter().any(|text| text.contains("search_observations, recall, expand, done")));
    assert!(told.iter().any(|text| text.contains("query")));
}

#[tokio::test]
async fn invented_citations_are_dropped_and_told() {
    let (f, _) = searched([done(json!({"answer": "At six.", "memory_ids": ["f77", "F1"]}))]).await;
    let (view, events) = ask(&f, question("ferry")).await;
    let view = view.unwrap();
    assert!(view.based_on.is_empty());
    assert_eq!(view.trace.dropped_citations, ["f77", "F1"]);
    assert_eq!(view.warnings[0].code, "citations_invalid");
    assert!(events.iter().any(|event| matches!(event, RunEvent::Warning(_))));
}

#[tokio::test]
async fn a_rewrite_that_fails_leaves_the_answer_cut_with_a_warning() {
    let long = "The ferry leaves at six.\n\n".repeat(20);
    let fail = || Step::error(unreachable());
    let (f, model) =
        searched([done(json!({"answer": long, "memory_ids": ["f1"]})), fail(), fail()]).await;
    let input = ReflectInput { max_tokens: Some(20), ..question("ferry") };
    let (view, _) = ask(&f, input).await;
    let view = view.unwrap();
    model.assert_used_up();
    let text = view.text.unwrap();
    assert!(text.ends_with("at six.") && text.len() < 100, "{text}");
    assert_eq!(view.warnings[0].code, "answer_truncated");
    assert_eq!(view.trace.usage(), view.usage);
}

#[tokio::test]
async fn a_forced_search_missed_in_the_last_turns_is_still_made() {
    let wrong = || Step::call("look_up", json!({"query": "ferry"}));
    let model = Scripted::new([wrong(), wrong(), cited()]);
    let f = ferry(&model).await;
    f.settings(json!({"reflect_max_iterations": 2})).await;
    let input = ReflectInput { fact_types: Some(vec![FactType::World]), ..question("ferry") };
    let one = ask(&f, input).await.0;
    // One forced step leaves one turn, which was missed once: nothing was gathered.
    assert_eq!(one.unwrap_err().reason, "no_evidence_gathered");
    let model = Scripted::new([wrong(), wrong(), cited()]);
    let f = ferry(&model).await;
    f.settings(json!({"reflect_max_iterations": 3})).await;
    let (view, _) = ask(&f, question("ferry")).await;
    let report = view.unwrap();
    model.assert_used_up();
    let made = tools(&report)[2..].to_vec();
    assert_eq!(made, ["search_observations", "done"], "made by the engine before closing");
}
