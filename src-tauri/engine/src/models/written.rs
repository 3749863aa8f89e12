//! Documents with a language model: a full refresh takes the sections that the loop hands over, a
//! delta has the loop find what is new and one more call write the operations, with one round of
//! corrections. Nothing here writes to the file.

use super::refresh::drafted::{Drafted, cite, remark};
use super::refresh::plan::Plan;
use super::refresh::{Failure, tell};
use crate::events::NoSink;
use crate::llm_log::{self, CallContext};
use crate::ops::Running;
use crate::prompts::{DELTA_REPAIR_USER, DELTA_SYSTEM, DELTA_USER, fence};
use crate::reflect::request::{ExcludedModels, ReflectOutcome, ReflectRequest, Window};
use crate::report::fault;
use crate::{Error, Result};
use domain::citations::BasedOnMemory;
use domain::delta::{Batch, CitedOp, DeltaOp, OpResult, OpStatus, ParsedOp, parse_operations};
use domain::directives::RunScope;
use domain::document::{Document, LineEnd, assemble, reconcile};
use domain::model::{Citation, Guidance};
use domain::provenance::{Author, BlockOrigin, PERSON};
use domain::refresh::{BudgetPressure, DeltaResult, FailureReason, budget_pressure};
use domain::tags::TagSet;
use domain::tokens::{Cl100k, TokenCounter};
use domain::trace::{LlmCallRecord, LlmCallStatus, Usage};
use domain::trigger::RefreshMode;
use domain::{ModelId, RunId};
use llm::{ChatReply, ChatRequest, Message, Provider};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;

/// Drafts a refresh with the language model in use.
pub(super) async fn draft(
    running: &Running,
    plan: &Plan,
    provider: Arc<dyn Provider>,
) -> Result<Drafted, Failure> {
    let run = RunId(running.engine.new_id());
    let context = CallContext {
        bank: Some(running.bank.clone()),
        operation: "refresh".to_owned(),
        operation_id: Some(running.operation.id.clone()),
        run_id: Some(run.clone()),
        prompt: (DELTA_SYSTEM.name.to_owned(), DELTA_SYSTEM.hash()),
    };
    Box::pin(llm_log::within(context, drafted(running, plan, provider, run))).await
}

async fn drafted(
    running: &Running,
    plan: &Plan,
    provider: Arc<dyn Provider>,
    run: RunId,
) -> Result<Drafted, Failure> {
    tell(running, "reflecting").await;
    let request = request(running, plan, run);
    let outcome = crate::reflect::run::run(&running.engine, &request, &mut NoSink, &running.cancel)
        .await
        .map_err(|failed| Failure {
            trace: serde_json::to_value(&*failed.trace).ok(),
            ..Failure::of(failed.error, None)
        })?;
    match plan.mode.effective {
        RefreshMode::Full => Ok(full(plan, outcome)),
        RefreshMode::Delta => {
            tell(running, "editing").await;
            delta(running, plan, provider, outcome).await
        }
    }
}

/// The question of a refresh: the model's own, over its scope and window.
fn request(running: &Running, plan: &Plan, run: RunId) -> ReflectRequest {
    let head = &plan.model.row.head;
    let scope = &plan.model.scope;
    let trigger = &plan.model.trigger;
    let mut context =
        format!("The answer is the document \"{}\". Stay on its topic, keep ", head.name);
    context.push_str("concrete examples and dates, and organise it by topic.");
    for line in guidance_lines(&plan.guidance) {
        context.push('\n');
        context.push_str(&line);
    }
    let mut request =
        ReflectRequest::question(run, running.bank.clone(), head.source_query.clone());
    request.context = Some(context);
    request.budget = trigger.budget();
    request.max_tokens = head.max_tokens;
    request.scope = RunScope {
        tags: TagSet::new(scope.tags.iter().flatten()),
        tags_match: scope.tags_match,
        tag_groups: scope.tag_groups.clone().unwrap_or_default(),
        ..RunScope::default()
    };
    request.fact_types = scope.fact_types.clone();
    request.exclude_models = ExcludedModels {
        all: scope.exclude_mental_models,
        ids: scope.exclude_mental_model_ids.iter().map(|id| ModelId(id.clone())).collect(),
    };
    request.window = Window { after_seq: plan.after_seq, cutoff_seq: Some(plan.cutoff_seq) };
    request.recall_max_tokens = trigger.recall_max_tokens;
    request.chunks_max_tokens = trigger.recall_chunks_max_tokens;
    request.include_chunks = trigger.include_chunks.unwrap_or(true);
    request.answer_as_document = plan.mode.effective == RefreshMode::Full;
    request.operation_label = "refresh";
    request
}

/// What both kinds take over from the loop.
fn begun(plan: &Plan, outcome: &ReflectOutcome) -> Drafted {
    let mut drafted = Drafted::nothing(plan.model.document.clone(), false);
    drafted.text.clone_from(&outcome.text);
    drafted.basis = outcome.basis;
    drafted.trace = serde_json::to_value(&outcome.trace).unwrap_or(Value::Null);
    drafted.usage = outcome.usage;
    for memory in &outcome.retrieved.memories {
        *drafted.retrieved.entry(memory.fact_type.word().to_owned()).or_default() += 1;
    }
    drafted.used = outcome.used.memories.iter().map(|memory| citation(plan, memory)).collect();
    drafted.used.extend(outcome.used.models.iter().map(|model| Citation {
        id: model.id.clone(),
        text: model.text.clone(),
        kind: "mental-models".to_owned(),
        context: None,
        occurred_start: None,
        mentioned_at: None,
        first_cited_version: None,
    }));
    drafted.directives = outcome
        .directives
        .iter()
        .map(|directive| Citation {
            id: directive.id.clone(),
            text: directive.content.clone(),
            kind: "directives".to_owned(),
            context: None,
            occurred_start: None,
            mentioned_at: None,
            first_cited_version: None,
        })
        .collect();
    drafted.warnings =
        outcome.warnings.iter().map(|w| remark(&w.code, w.message.clone())).collect();
    drafted
}

fn citation(plan: &Plan, memory: &BasedOnMemory) -> Citation {
    if let Some(known) = plan.window.iter().find(|known| known.id.as_str() == memory.id) {
        return cite(known);
    }
    Citation {
        id: memory.id.clone(),
        text: memory.text.clone(),
        kind: memory.fact_type.word().to_owned(),
        context: memory.context.clone(),
        occurred_start: memory.occurred_start,
        mentioned_at: None,
        first_cited_version: None,
    }
}

/// A rebuilt document, with the ids of what stayed.
fn full(plan: &Plan, outcome: ReflectOutcome) -> Drafted {
    let mut drafted = begun(plan, &outcome);
    if drafted.used.is_empty() {
        return drafted;
    }
    let (document, evidence) = match &outcome.sections {
        Some(sections) => {
            let assembled = assemble(sections, LineEnd::Lf);
            (assembled.document, assembled.evidence)
        }
        None => (domain::document::parse(&outcome.text), Vec::new()),
    };
    let by_place: HashMap<String, Vec<String>> = evidence.into_iter().collect();
    let fresh: Vec<String> = document.blocks().map(|block| block.id.clone()).collect();
    let document = reconcile(&plan.model.document, document);
    drafted.block_evidence = fresh
        .iter()
        .zip(document.blocks())
        .filter_map(|(fresh, block)| Some((block.id.clone(), by_place.get(fresh)?.clone())))
        .collect();
    drafted.document = domain::delta::keep_locked(&plan.model.document, &document, &plan.locks);
    drafted.text = drafted.document.render();
    drafted
}

/// Operations for what the loop found new.
async fn delta(
    running: &Running,
    plan: &Plan,
    provider: Arc<dyn Provider>,
    outcome: ReflectOutcome,
) -> Result<Drafted, Failure> {
    let mut drafted = begun(plan, &outcome);
    let mut batch = Batch::new(&plan.model.document);
    take_back(plan, &mut batch, &mut drafted);
    let facts = facts(plan, &drafted);
    if facts.is_empty() {
        if drafted.unsaid {
            finish(&mut drafted, batch);
        }
        return Ok(drafted);
    }
    let handles = Handles::of(&facts);
    let mut editor = Editor { running, provider, calls: Vec::new(), usage: Usage::default() };
    let edited = edit(&mut editor, plan, &outcome, &facts, &handles, &mut batch).await;
    drafted.usage.add(&editor.usage);
    add_calls(&mut drafted.trace, &editor.calls);
    match edited {
        Ok(told) => {
            drafted.judged.already_reflected = told.reflected;
            drafted.judged.irrelevant = told.irrelevant;
            drafted.judged.truncated = told.truncated;
            if told.truncated {
                drafted.warnings.push(remark("truncated_response", "The edits were cut off."));
            }
        }
        Err(error) => {
            let reason = Error::reason(&error);
            let failed = match reason.as_str() {
                "cancelled" => error,
                _ => fault("delta_ops_failed").detail(error).into(),
            };
            return Err(Failure {
                trace: Some(drafted.trace),
                warnings: drafted.warnings,
                ..Failure::of(
                    failed,
                    (reason != "cancelled").then_some(FailureReason::DeltaOpsFailed),
                )
            });
        }
    }
    finish(&mut drafted, batch);
    Ok(drafted)
}

/// The facts to work in: what the loop used, and what was carried over.
fn facts(plan: &Plan, drafted: &Drafted) -> Vec<Citation> {
    let ids: BTreeSet<String> = drafted.facts().into_iter().collect();
    let offered = plan.offered();
    let used = drafted.used.iter().filter(|cited| ids.contains(&cited.id)).cloned();
    let carried = plan
        .window
        .iter()
        .filter(|memory| offered.contains(memory.id.as_str()) && !ids.contains(memory.id.as_str()))
        .map(cite);
    used.chain(carried).collect()
}

/// Removes the blocks that rest on nothing but facts taken back. A block with other facts beside
/// them is left, and so is the citation, until a person or a full rebuild decides.
fn take_back(plan: &Plan, batch: &mut Batch, drafted: &mut Drafted) {
    let gone = plan.retracted();
    if gone.is_empty() {
        return;
    }
    let mut kept: BTreeSet<String> = BTreeSet::new();
    let mut ops = Vec::new();
    for section in &plan.model.document.sections {
        for block in &section.blocks {
            let Some(origin) = plan.origins.0.get(&block.id) else { continue };
            let sources: BTreeSet<String> =
                origin.sources.iter().filter(|source| *source != PERSON).cloned().collect();
            let lost: Vec<&String> = sources.intersection(&gone).collect();
            if lost.is_empty() {
                continue;
            }
            if sources.is_subset(&gone) && !is_persons(origin) {
                ops.push(CitedOp {
                    op: DeltaOp::RemoveBlock {
                        section_id: section.id.clone(),
                        block_id: block.id.clone(),
                    },
                    evidence: lost.into_iter().cloned().collect(),
                    claims: Vec::new(),
                });
            } else {
                kept.extend(lost.into_iter().cloned());
            }
        }
    }
    if !ops.is_empty() {
        let results = batch.apply(&ParsedOp::list(ops), &plan.rules());
        drafted.unsaid = results.iter().any(|result| result.status == OpStatus::Applied);
    }
    drafted.handled = gone.difference(&kept).cloned().collect();
    if !kept.is_empty() {
        let text = "Some paragraphs rest on withdrawn facts and on others; look at them yourself.";
        drafted.warnings.push(remark("retraction_deferred", text));
    }
}

/// Whether a person wrote the block or had a hand in it.
fn is_persons(origin: &BlockOrigin) -> bool {
    origin.author == Author::Person || origin.sources.contains(PERSON)
}

/// Short names of the facts in the prompt.
struct Handles(HashMap<String, String>);

impl Handles {
    fn of(facts: &[Citation]) -> Self {
        Self(facts.iter().zip(1..).map(|(fact, n)| (format!("f{n}"), fact.id.clone())).collect())
    }

    fn id(&self, handle: &str) -> Option<String> {
        self.0.get(handle.trim()).cloned()
    }

    fn ids(&self, handles: &[String]) -> BTreeSet<String> {
        handles.iter().filter_map(|handle| self.id(handle)).collect()
    }
}

/// What an answer said beside its operations.
#[derive(Default)]
struct Told {
    reflected: BTreeSet<String>,
    irrelevant: BTreeSet<String>,
    truncated: bool,
}

/// Asks for the operations, applies them, and asks once for corrections of those that did not fit.
async fn edit(
    editor: &mut Editor<'_>,
    plan: &Plan,
    outcome: &ReflectOutcome,
    facts: &[Citation],
    handles: &Handles,
    batch: &mut Batch,
) -> Result<Told> {
    let mut messages = first_messages(editor, plan, outcome, facts, batch.document())?;
    let reply = editor.ask("delta_ops", &messages).await?;
    let mut told = Told::default();
    let problems = match parse_operations(&reply.text) {
        Ok(answer) => {
            told.reflected = handles.ids(&answer.already_reflected);
            told.irrelevant = handles.ids(&answer.irrelevant);
            told.truncated = answer.truncated;
            let ops = with_ids(answer.ops, handles);
            problems(batch.apply(&ops, &plan.rules()))
        }
        Err(unreadable) => {
            format!("- The whole answer was {unreadable}: it must be one JSON object.")
        }
    };
    if problems.is_empty() {
        return Ok(told);
    }
    tell(editor.running, "repairing").await;
    let ids = known_ids(batch.document());
    messages.push(Message::Assistant(reply.turn()));
    messages
        .push(Message::user(DELTA_REPAIR_USER.render(&[("problems", &problems), ("ids", &ids)])?));
    let first_was_read = parse_operations(&reply.text).is_ok();
    let again = editor.ask("delta_repair", &messages).await?;
    match parse_operations(&again.text) {
        Ok(answer) => {
            told.reflected.extend(handles.ids(&answer.already_reflected));
            told.irrelevant.extend(handles.ids(&answer.irrelevant));
            told.truncated |= answer.truncated;
            batch.apply(&with_ids(answer.ops, handles), &plan.rules());
            Ok(told)
        }
        // What fitted the first time is kept; the rest stays skipped.
        Err(_) if first_was_read => Ok(told),
        Err(unreadable) => Err(fault("delta_ops_failed").detail(unreadable).into()),
    }
}

fn first_messages(
    editor: &Editor<'_>,
    plan: &Plan,
    outcome: &ReflectOutcome,
    facts: &[Citation],
    document: &Document,
) -> Result<Vec<Message>> {
    let mark = fence(editor.running.engine.clock().random());
    let head = &plan.model.row.head;
    let tokens = Cl100k.count(&document.render());
    let budget = match budget_pressure(tokens, head.max_tokens) {
        BudgetPressure::Roomy => String::new(),
        BudgetPressure::Tight => {
            "- The document nears its size: prefer replacing stale blocks.".to_owned()
        }
        BudgetPressure::Full => "- The document is over its size: make room by removing what is \
            superseded or said twice, never the new facts."
            .to_owned(),
    };
    let system = DELTA_SYSTEM.render(&[("fence", &mark), ("budget", &budget)])?;
    let guidance = guidance_lines(&plan.guidance).join("\n");
    let guidance = if guidance.is_empty() { "none".to_owned() } else { guidance };
    let user = DELTA_USER.render(&[
        ("topic", &head.source_query),
        ("now", &domain::time::to_rfc3339(editor.running.engine.now())),
        ("fence", &mark),
        ("document", &shown_document(plan, document).to_string()),
        ("synthesis", &outcome.text),
        ("facts", &shown_facts(plan, facts)),
        ("guidance", &guidance),
    ])?;
    Ok(vec![Message::system(system), Message::user(user)])
}

/// The document as the language model sees it.
fn shown_document(plan: &Plan, document: &Document) -> Value {
    let sections: Vec<Value> = document
        .sections
        .iter()
        .map(|section| {
            let blocks: Vec<Value> = section
                .blocks
                .iter()
                .map(|block| {
                    let text = block.text.replace("\r\n", "\n");
                    let by_person = plan.origins.0.get(&block.id).is_some_and(is_persons);
                    if by_person {
                        json!({"id": block.id, "text": text, "written_by": "a person"})
                    } else {
                        json!({"id": block.id, "text": text})
                    }
                })
                .collect();
            json!({
                "id": section.id,
                "heading": section.heading,
                "level": section.level,
                "blocks": blocks,
            })
        })
        .collect();
    json!({ "sections": sections })
}

fn shown_facts(plan: &Plan, facts: &[Citation]) -> String {
    let mut shown = String::new();
    for (fact, n) in facts.iter().zip(1..) {
        let mut about = fact.kind.clone();
        if let Some(at) = fact.occurred_start {
            let _ = write!(about, ", happened {}", domain::time::to_rfc3339(at));
        }
        if let Some(at) = fact.mentioned_at {
            let _ = write!(about, ", mentioned {}", domain::time::to_rfc3339(at));
        }
        let _ = writeln!(shown, "f{n} ({about}): {}", fact.text);
        if let Some(was) = plan.cited_texts.get(&fact.id).filter(|was| **was != fact.text) {
            let _ = writeln!(shown, "   was: {was}");
        }
    }
    shown
}

/// What the owner has said about the document.
fn guidance_lines(guidance: &[Guidance]) -> Vec<String> {
    guidance
        .iter()
        .map(|entry| match entry {
            Guidance::Note { text, .. } => format!("- {text}"),
            Guidance::Declined { op_summary, note, .. } => {
                let why = note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
                format!("- A person decided not to make this change: {op_summary}{why}")
            }
        })
        .collect()
}

fn with_ids(ops: Vec<ParsedOp>, handles: &Handles) -> Vec<ParsedOp> {
    ops.into_iter()
        .map(|op| ParsedOp { body: op.body.map(|b| b.with_facts(|h| handles.id(h))), ..op })
        .collect()
}

/// One line for each operation that did not fit.
fn problems(results: &[OpResult]) -> String {
    results
        .iter()
        .filter(|result| result.status == OpStatus::Skipped)
        .map(|result| {
            let word = result.op.as_deref().unwrap_or("entry");
            let reason = result
                .reason
                .and_then(|reason| serde_json::to_value(reason).ok())
                .and_then(|value| value.as_str().map(str::to_owned))
                .unwrap_or_default();
            let detail = result.detail.as_deref().unwrap_or_default();
            format!("- operation {} ({word}): {reason} {detail}", result.index)
        })
        .collect::<Vec<_>>()
        .join("\n")
}

fn known_ids(document: &Document) -> String {
    let sections: Vec<Value> = document
        .sections
        .iter()
        .map(|section| {
            let blocks: Vec<&str> = section.blocks.iter().map(|block| block.id.as_str()).collect();
            json!({"section_id": section.id, "block_ids": blocks})
        })
        .collect();
    Value::from(sections).to_string()
}

/// Takes the finished batch over, with which facts its operations cite.
pub(super) fn finish(drafted: &mut Drafted, batch: Batch) {
    let applied = batch.finish();
    for (op, result) in applied.ops.iter().zip(&applied.results) {
        let Ok(op) = &op.body else { continue };
        let into = match result.status {
            OpStatus::Skipped => &mut drafted.judged.cited_by_skipped,
            OpStatus::Applied | OpStatus::Noop => &mut drafted.judged.cited,
        };
        into.extend(op.cited().into_iter().map(str::to_owned));
    }
    drafted.document = applied.document.clone();
    drafted.applied = Some(applied);
    let [applied, noop, skipped] = drafted.counts();
    drafted.delta = DeltaResult::Tried { applied, noop, skipped };
}

/// Sends the calls of a delta and keeps their records.
struct Editor<'a> {
    running: &'a Running,
    provider: Arc<dyn Provider>,
    calls: Vec<LlmCallRecord>,
    usage: Usage,
}

impl Editor<'_> {
    async fn ask(&mut self, scope: &str, messages: &[Message]) -> Result<ChatReply> {
        self.running.check()?;
        let clock = self.running.engine.clock();
        let start = clock.ticks_ms();
        let mut request = ChatRequest::new(scope, messages.to_vec());
        request.temperature = Some(0.0);
        let sent = self.provider.chat(request, &mut (), &self.running.cancel).await;
        let duration_ms = u32::try_from(clock.ticks_ms().saturating_sub(start)).unwrap_or(u32::MAX);
        let usage = sent.as_ref().ok().and_then(|reply| reply.usage).unwrap_or_default();
        let record = LlmCallRecord {
            scope: if sent.is_ok() { scope.to_owned() } else { format!("{scope}_err") },
            duration_ms,
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cached_tokens: usage.cached_tokens,
            thoughts_tokens: usage.thoughts_tokens,
            wait_ms: 0,
            first_token_ms: None,
            status: if sent.is_ok() { LlmCallStatus::Ok } else { LlmCallStatus::Error },
            iteration: None,
        };
        self.usage.add(&record.usage());
        self.calls.push(record);
        Ok(sent?)
    }
}

/// Puts the calls of the edit behind those of the loop.
fn add_calls(trace: &mut Value, calls: &[LlmCallRecord]) {
    if let Some(list) = trace.get_mut("llm_calls").and_then(Value::as_array_mut) {
        list.extend(calls.iter().filter_map(|call| serde_json::to_value(call).ok()));
    }
}
