//! What the program does with no language model: takes the statements of the bank that bear on a
//! question, orders them, and says how sure it is. Deterministic for equal data. Answers and
//! documents share the choice made here; laying out a document is the models' affair.

pub(in crate::reflect) mod answer;
mod kept;
pub(crate) mod material;
pub(crate) mod relate;
pub(crate) mod score;
pub(crate) mod statements;
pub(crate) mod words;

use crate::{Engine, Result};
use domain::Instant;
use domain::tokens::{Cl100k, TokenCounter};
use domain::trace::ExtractiveState;
use tokio_util::sync::CancellationToken;

pub(crate) use kept::KeptVectors;
pub(crate) use relate::{Relation, relate};
pub(crate) use statements::{Source, SourceKind};
use words::Days;

/// Statements that an answer shows at most.
pub(crate) const MOST_STATEMENTS: usize = 12;
/// Sentences of passages that are given a vector for one question, the best by words first. A vector
/// costs milliseconds, and what shares no word with the question is rarely the answer.
const VECTORS: usize = 64;

/// A question, ready to compare with.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    /// Its words.
    pub(crate) text: String,
    /// Its vector, made as a query.
    pub(crate) vector: Vec<f32>,
    /// The days that it speaks of.
    pub(crate) days: Option<Days>,
}

/// What statements are picked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// An answer: only what comes near the best.
    Answer,
    /// A document: its question lists several subjects, and a statement on one of them is no worse
    /// for leaving out the others.
    Document,
}

/// How much may be picked, and what for.
pub(crate) struct Limits<'a> {
    /// What for.
    pub(crate) purpose: Purpose,
    /// Statements at most.
    pub(crate) statements: usize,
    /// Tokens at most, all shown texts together; the first statement always fits.
    pub(crate) max_tokens: u32,
    /// Counts them.
    pub(crate) tokens: &'a dyn TokenCounter,
}

/// A picked statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Statement {
    /// Its words.
    pub(crate) text: String,
    /// Headings above it, or the title of its source.
    pub(crate) context: Option<String>,
    /// The text to show: with its context where it says nothing without.
    pub(crate) shown: String,
    /// Ids of what says it, the shown one first; never empty.
    pub(crate) sources: Vec<String>,
    /// Names of the entities that it mentions.
    pub(crate) entities: Vec<String>,
    /// When what it tells happened: from its source, else the first date in its words.
    pub(crate) time: Option<Instant>,
    /// When it was said.
    pub(crate) mentioned_at: Option<Instant>,
    /// How well it fits the question; comparable within one selection.
    pub(crate) score: f64,
    /// Its likeness to the question.
    pub(crate) cosine: f64,
    /// Its vector; empty when it was judged by its words alone.
    pub(crate) vector: Vec<f32>,
}

/// What was picked for a question, best first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Selection {
    /// The statements.
    pub(crate) statements: Vec<Statement>,
    /// How sure it is that the bank answers the question.
    pub(crate) state: ExtractiveState,
    /// Half coverage of the question's words, half likeness; 0 to 1.
    pub(crate) confidence: f64,
    /// Statements that fit and were not picked.
    pub(crate) more: u32,
}

/// A source and, when it is one statement, its stored vector.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Material {
    /// The text.
    pub(crate) source: Source,
    /// Vector of the whole text as it is stored; used for what is not cut.
    pub(crate) vector: Option<Vec<f32>>,
}

/// Picks the statements of some material for a document on a question.
///
/// # Errors
/// The embedder's, `cancelled` among them.
pub(crate) async fn select(
    engine: &Engine,
    question: &str,
    material: Vec<Material>,
    statements: usize,
    max_tokens: u32,
    cancel: &CancellationToken,
) -> Result<Selection> {
    let purpose = Purpose::Document;
    let limits = Limits { purpose, statements, max_tokens, tokens: &Cl100k };
    pick(engine, question, material, &limits, cancel).await
}

/// Picks the statements of some material that bear on a question: cuts passages, makes the vectors
/// that are missing, scores and varies.
///
/// # Errors
/// The embedder's, `cancelled` among them.
pub(crate) async fn pick(
    engine: &Engine,
    question: &str,
    material: Vec<Material>,
    limits: &Limits<'_>,
    cancel: &CancellationToken,
) -> Result<Selection> {
    let embedder = engine.embedder();
    let question = Question {
        text: question.to_owned(),
        vector: embedder.embed_one(question, embed::Kind::Query, cancel).await?,
        days: asked_days(engine, question),
    };
    let (sources, stored): (Vec<Source>, Vec<Option<Vec<f32>>>) =
        material.into_iter().map(|one| (one.source, one.vector)).unzip();
    let pieces = statements::cut(&sources);
    let lexical = score::Lexical::of(&question, &sources, &pieces, limits.purpose);
    let mut vectors: Vec<Option<Vec<f32>>> = pieces
        .iter()
        .map(
            |piece| {
                if sources[piece.source].passage { None } else { stored[piece.source].clone() }
            },
        )
        .collect();
    let missing: Vec<usize> = lexical
        .shortlist(&pieces)
        .into_iter()
        .filter(|at| vectors[*at].is_none())
        .take(VECTORS)
        .collect();
    let texts: Vec<String> = missing.iter().map(|at| pieces[*at].matched()).collect();
    for (at, vector) in missing.iter().zip(kept::vectors(engine, &texts, cancel).await?) {
        vectors[*at] = Some(vector);
    }
    let thresholds = embedder.thresholds();
    Ok(score::choose(&question, &sources, &pieces, &vectors, &lexical, &thresholds, limits))
}

/// The days that a question speaks of, in the machine's zone.
fn asked_days(engine: &Engine, question: &str) -> Option<Days> {
    let now = engine.now();
    let minutes = engine.clock().local_offset_minutes(now);
    let offset = chrono::FixedOffset::east_opt(minutes * 60)?;
    let today = now.with_timezone(&offset).date_naive();
    domain::temporal::read_window(question, today)
        .map(|window| Days { first: window.first, last: window.last })
}
