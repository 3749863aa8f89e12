//! The answer without a language model: the same ladder of searches as the loop, walked by the
//! engine itself, then the statements that bear on the question, in order, each with its sources.

use super::material;
use super::relate::{Relation, relate};
use super::{Limits, MOST_STATEMENTS, Purpose, Selection, Statement, pick};
use crate::events::EventSink;
use crate::reflect::called::tool_failed;
use crate::reflect::finish::outcome;
use crate::reflect::prepare::Prepared;
use crate::reflect::request::{ReflectOutcome, ReflectRequest, RunFailure};
use crate::reflect::run::no_model;
use crate::reflect::tools::{Output, Toolbox, count};
use crate::report::fault;
use crate::{Engine, Error, Result};
use domain::citations::{AnswerSource, Retrieved, validate_citations};
use domain::tokens::Cl100k;
use domain::tool_calls::{MODEL_RESULTS, RECALL, SEARCH_MENTAL_MODELS, SEARCH_OBSERVATIONS};
use domain::trace::{
    ClosedBy, ExtractiveState, ExtractiveTrace, HeldBackDirective, HeldBackReason, InitiatedBy,
    RunEvent, ToolCallRecord, ToolCallStatus, Trace,
};
use domain::{FactType, Json, Score};
use embed::Thresholds;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Tokens of memories that are read for one answer. Statements are picked out of them afterwards, so
/// this is far more than a language model would be given.
const READ_TOKENS: u32 = 16_000;

/// Runs a question.
pub(in crate::reflect) async fn run(
    engine: &Engine,
    request: &ReflectRequest,
    prepared: &Prepared,
    trace: Trace,
    sink: &mut dyn EventSink,
    cancel: &CancellationToken,
) -> Result<ReflectOutcome, RunFailure> {
    let toolbox = Toolbox {
        engine: engine.clone(),
        request: Arc::new(request.clone()),
        prepared: Arc::new(prepared.clone()),
        cancel: cancel.clone(),
    };
    let mut walk =
        Walk { toolbox, trace: started(trace, prepared), sink, read: Reading::default() };
    let answered = tokio::select! {
        biased;
        () = cancel.cancelled() => Err(fault("cancelled").into()),
        answered = walk.answer() => answered,
    };
    answered.map_err(|error| RunFailure {
        error,
        trace: Box::new(walk.trace),
        text: None,
        material: None,
    })
}

// Directives cannot be judged here, so they are listed as held back.
fn started(mut trace: Trace, prepared: &Prepared) -> Trace {
    trace.directives.clear();
    let held = prepared.directives.in_force.iter().map(|directive| HeldBackDirective {
        id: directive.id.to_string(),
        name: directive.name.clone(),
        reason: HeldBackReason::Extractive,
    });
    trace.directives_held_back.splice(0..0, held);
    trace.max_iterations = count(trace.forced_sequence.len());
    trace
}

#[derive(Default)]
struct Reading {
    outputs: Vec<Output>,
    retrieved: Retrieved,
}

struct Walk<'a> {
    toolbox: Toolbox,
    trace: Trace,
    sink: &'a mut dyn EventSink,
    read: Reading,
}

impl Walk<'_> {
    async fn answer(&mut self) -> Result<ReflectOutcome> {
        let tools = self.trace.forced_sequence.clone();
        let n = self.trace.max_iterations;
        for (tool, i) in tools.iter().zip(1..) {
            self.trace.iterations = i;
            self.sink.emit(RunEvent::IterationStarted { i, n, forced: Some(tool.clone()) });
            self.search(tool, i).await?;
        }
        self.trace.closed_by = Some(ClosedBy::Done);
        self.sink.emit(RunEvent::Closing { by: ClosedBy::Done });
        let request = self.toolbox.request.clone();
        let material = self.material().await?;
        let read = count(material.len());
        let limits = Limits {
            purpose: Purpose::Answer,
            statements: MOST_STATEMENTS,
            max_tokens: request.max_tokens,
            tokens: &Cl100k,
        };
        let (engine, cancel) = (&self.toolbox.engine, &self.toolbox.cancel);
        let selection = pick(engine, &request.query, material, &limits, cancel).await?;
        self.trace.extractive = Some(ExtractiveTrace {
            state: selection.state,
            confidence: Score::new(selection.confidence).rounded(),
            memories_read: read,
        });
        let thresholds = self.toolbox.engine.embedder().thresholds();
        let written = write(&request.query, &selection, read, &thresholds);
        self.sink.emit(RunEvent::AnswerDelta { text: written.text.clone() });
        self.trace.tool_calls.push(done_record(&written, n));
        let check =
            validate_citations(&self.read.retrieved.available(), &written.args, AnswerSource::Done);
        let trace = std::mem::take(&mut self.trace);
        let mut outcome = outcome(
            written.text,
            None,
            &written.args,
            &self.read.retrieved,
            &check,
            trace,
            Vec::new(),
        );
        outcome.structured_error = request.response_schema.as_ref().map(|_| no_model());
        Ok(outcome)
    }

    async fn search(&mut self, tool: &str, i: u32) -> Result<()> {
        let query = self.toolbox.request.query.clone();
        let clock = |engine: &Engine| engine.clock().ticks_ms();
        self.sink.emit(RunEvent::ToolStarted { tool: tool.to_owned(), reason: None });
        let started = clock(&self.toolbox.engine);
        let (input, output): (Value, Result<Output, Error>) = match tool {
            SEARCH_MENTAL_MODELS => (
                json!({"query": query, "max_results": MODEL_RESULTS.0}),
                self.toolbox.models(&query, MODEL_RESULTS.0).await,
            ),
            SEARCH_OBSERVATIONS => (
                json!({"query": query, "max_tokens": READ_TOKENS}),
                self.toolbox.observations(&query, READ_TOKENS).await,
            ),
            RECALL => (
                json!({"query": query, "max_tokens": READ_TOKENS}),
                self.toolbox.recall(&query, READ_TOKENS, 0).await,
            ),
            _ => return Ok(()),
        };
        let output = output.map_err(|error| tool_failed(tool, error))?;
        let spent = clock(&self.toolbox.engine).saturating_sub(started);
        self.sink.emit(RunEvent::ToolFinished {
            tool: tool.to_owned(),
            reason: None,
            result_count: output.count,
            is_stale: output.stale,
            status: ToolCallStatus::Ok,
        });
        self.trace.tool_calls.push(ToolCallRecord {
            tool: tool.to_owned(),
            reason: None,
            input: Json(input),
            output: Some(Json(Value::Object(output.result.clone()))),
            result_count: output.count,
            duration_ms: u32::try_from(spent).unwrap_or(u32::MAX),
            iteration: i,
            status: ToolCallStatus::Ok,
            guard: None,
            initiated_by: InitiatedBy::Engine,
        });
        for memory in &output.memories {
            if tool == SEARCH_OBSERVATIONS && memory.fact_type == FactType::Observation {
                self.trace.observations_accessed.push(memory.id.clone());
            }
            self.read.retrieved.add_memory(memory.clone());
        }
        for (model, _) in &output.models {
            self.read.retrieved.add_model(model.clone());
        }
        self.read.outputs.push(output);
        Ok(())
    }

    async fn material(&mut self) -> Result<Vec<super::Material>> {
        let mut hits = Vec::new();
        for output in &mut self.read.outputs {
            hits.append(&mut output.hits);
        }
        let mut material = material::of_hits(&self.toolbox.engine, &hits).await?;
        let models = self.read.outputs.iter().flat_map(|output| &output.models);
        material.extend(material::of_models(models.map(|(model, _)| model)));
        Ok(material)
    }
}

fn done_record(written: &Written, iteration: u32) -> ToolCallRecord {
    let mut input = written.args.clone();
    input.remove("claims");
    ToolCallRecord {
        tool: domain::tool_calls::DONE.to_owned(),
        reason: None,
        input: Json(Value::Object(input)),
        output: None,
        result_count: 0,
        duration_ms: 0,
        iteration,
        status: ToolCallStatus::Ok,
        guard: None,
        initiated_by: InitiatedBy::Engine,
    }
}

/// An answer as a `done` would hand it over.
struct Written {
    text: String,
    args: Map<String, Value>,
}

fn write(question: &str, selection: &Selection, read: u32, thresholds: &Thresholds) -> Written {
    if selection.state == ExtractiveState::Nothing || selection.statements.is_empty() {
        let memories = if read == 1 { "memory was" } else { "memories were" };
        return Written {
            text: format!(
                "Nothing in the bank speaks of this. It was searched by meaning, by words, by \
                 entities and by time, and {read} {memories} read."
            ),
            args: Map::from_iter([("memory_ids".to_owned(), json!([]))]),
        };
    }
    let mut text = match selection.state {
        ExtractiveState::Found => "The bank says:",
        ExtractiveState::Nearest | ExtractiveState::Nothing => {
            "No statement answers this exactly; these come nearest:"
        }
    }
    .to_owned();
    let (agreed, disputed) = apart(&selection.statements, thresholds);
    let mut page = Page::default();
    text.push_str("\n\n");
    for statement in in_order(question, agreed) {
        text.push_str(&page.line(statement));
    }
    for group in disputed {
        text.push_str("\nSources disagree:\n\n");
        for statement in group {
            text.push_str(&page.line(statement));
        }
    }
    if selection.more > 0 {
        let statements = if selection.more == 1 { "statement" } else { "statements" };
        text.push_str(&format!("\n{} more related {statements}.", selection.more));
    }
    let args = Map::from_iter([
        ("memory_ids".to_owned(), Value::Array(page.ids)),
        ("claims".to_owned(), Value::Array(page.claims)),
    ]);
    Written { text: text.trim().to_owned(), args }
}

#[derive(Default)]
struct Page {
    ids: Vec<Value>,
    claims: Vec<Value>,
}

impl Page {
    fn line(&mut self, statement: &Statement) -> String {
        self.ids.extend(statement.sources.iter().map(|id| json!(id)));
        self.claims.push(json!({"quote": statement.shown, "ids": statement.sources}));
        let dated = super::words::dates(&statement.shown).is_empty();
        let when = statement.time.filter(|_| dated);
        let when = when.map(|at| format!(" ({})", at.format("%-d %B %Y"))).unwrap_or_default();
        format!("- {}{when}\n", statement.shown)
    }
}

// Statements that contradict each other, newest mention first, and the rest.
fn apart<'a>(
    statements: &'a [Statement],
    thresholds: &Thresholds,
) -> (Vec<&'a Statement>, Vec<Vec<&'a Statement>>) {
    let mut agreed: Vec<&Statement> = Vec::new();
    let mut disputed: Vec<Vec<&Statement>> = Vec::new();
    for statement in statements {
        let against = |other: &&Statement| contradicts(statement, other, thresholds);
        if let Some(group) = disputed.iter_mut().find(|group| group.iter().any(against)) {
            group.push(statement);
        } else if let Some(at) = agreed.iter().position(against) {
            disputed.push(vec![agreed.remove(at), statement]);
        } else {
            agreed.push(statement);
        }
    }
    for group in &mut disputed {
        group.sort_by_key(|statement| std::cmp::Reverse(statement.mentioned_at));
    }
    (agreed, disputed)
}

// Other figures on the same entities. Without an entity on both sides two sentences that sound alike
// are no contradiction, and neither are two sentences of one passage: a list of who did what from
// when until when is made of such sentences.
fn contradicts(one: &Statement, other: &Statement, thresholds: &Thresholds) -> bool {
    let apart = !one.sources.iter().any(|id| other.sources.contains(id));
    apart
        && !one.entities.is_empty()
        && !other.entities.is_empty()
        && relate(one, other, thresholds) == Relation::Differs
        && (super::words::numbers(&one.text) != super::words::numbers(&other.text)
            || super::words::dates(&one.text) != super::words::dates(&other.text))
}

// By entity when the question asks about several, else by time when most are dated, else as scored.
fn in_order<'a>(question: &str, mut statements: Vec<&'a Statement>) -> Vec<&'a Statement> {
    let folded = domain::text::fold(question);
    let mut asked: Vec<String> = statements
        .iter()
        .flat_map(|statement| &statement.entities)
        .filter(|name| folded.contains(&domain::text::fold(name)))
        .cloned()
        .collect();
    asked.sort_by_key(|name| folded.find(&domain::text::fold(name)));
    asked.dedup();
    let dated = statements.iter().filter(|statement| statement.time.is_some()).count();
    if asked.len() > 1 {
        statements.sort_by_key(|statement| {
            let first = asked.iter().position(|name| statement.entities.contains(name));
            (first.unwrap_or(asked.len()), statement.time)
        });
    } else if dated * 2 > statements.len() {
        statements.sort_by_key(|statement| (statement.time.is_none(), statement.time));
    }
    statements
}
