//! Judges statements against a question and picks those to show: likeness, words, exactness, dates,
//! variety. Pure: vectors come from outside, equal input gives equal output.

use super::relate::{likeness, words_key};
use super::statements::{Piece, Source, SourceKind};
use super::words::{self, Asked, Days};
use super::{Limits, Purpose, Question, Selection, Statement};
use domain::trace::ExtractiveState;
use embed::Thresholds;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Weight of likeness and of words.
const LIKENESS: f64 = 0.65;
const WORDS: f64 = 0.35;
/// What a date, a name or a number adds when the question asks for one.
const CUE: f64 = 0.08;
/// What a statement inside the asked time gains.
const IN_TIME: f64 = 0.15;
/// What a statement loses that lacks every exact token of the question that another one has.
const INEXACT: f64 = 0.25;
/// Share of relevance against variety in the choice (maximal marginal relevance).
const RELEVANCE: f64 = 0.75;
/// Best statements among which variety is sought.
const POOL: usize = 60;
/// A statement below this share of the best is dropped.
const FLOOR: f64 = 0.55;
/// Confidence of the two upper states.
const FOUND: f64 = 0.5;
const NEAREST: f64 = 0.3;
/// What the first source is worth over the last one when vectors are given out.
const SOURCE_PLACE: f64 = 0.3;
/// Parameters of BM25 as commonly used.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// What the words alone say about every piece; made before vectors are.
pub(crate) struct Lexical {
    asked: Asked,
    // Weight of each content word of the question by rarity.
    weights: HashMap<String, f64>,
    bm25: Vec<f64>,
    covered: Vec<f64>,
    exact: BTreeSet<String>,
    inexact: Vec<f64>,
    dates: Vec<Vec<Days>>,
    in_time: Vec<bool>,
}

impl Lexical {
    /// Counts the words of the pieces against a question.
    pub(crate) fn of(
        question: &Question,
        sources: &[Source],
        pieces: &[Piece],
        purpose: Purpose,
    ) -> Self {
        let matched: Vec<String> = pieces.iter().map(Piece::matched).collect();
        let stems: Vec<Vec<String>> = matched.iter().map(|text| words::stems(text)).collect();
        let wanted: BTreeSet<String> = words::stems(&question.text).into_iter().collect();
        let weights = weights(&wanted, &stems);
        let dates: Vec<Vec<Days>> = matched.iter().map(|text| words::dates(text)).collect();
        let mut exact = words::exact_tokens(&question.text);
        if purpose == Purpose::Document {
            exact.retain(|token| token.starts_with(|c: char| c.is_numeric()));
        }
        Self {
            asked: words::asked(&question.text),
            bm25: bm25(&weights, &stems),
            covered: stems.iter().map(|stems| coverage(&weights, stems)).collect(),
            inexact: inexact(&exact, &matched, &dates),
            in_time: pieces
                .iter()
                .zip(&dates)
                .map(|(piece, dates)| lies_in(question.days, dates, &sources[piece.source]))
                .collect(),
            exact,
            weights,
            dates,
        }
    }

    fn in_time(&self, at: usize) -> f64 {
        if self.in_time[at] { IN_TIME } else { 0.0 }
    }

    /// Pieces worth a vector, best first: by words and by the place of their source among those
    /// found, which a search by meaning had its part in.
    pub(crate) fn shortlist(&self, pieces: &[Piece]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..pieces.len()).collect();
        let sources = pieces.last().map_or(1, |piece| piece.source + 1);
        let place = |at: usize| count(pieces[at].source) / count(sources);
        let score = |at: usize| {
            self.bm25[at] + self.in_time(at) - INEXACT * self.inexact[at] - SOURCE_PLACE * place(at)
        };
        order.sort_by(|a, b| score(*b).total_cmp(&score(*a)).then(a.cmp(b)));
        order
    }
}

// Inverse document frequency; a word that no statement uses weighs as much as the rarest could.
fn weights(wanted: &BTreeSet<String>, stems: &[Vec<String>]) -> HashMap<String, f64> {
    let all = count(stems.len());
    wanted
        .iter()
        .map(|word| {
            let used = count(stems.iter().filter(|stems| stems.contains(word)).count());
            (word.clone(), (1.0 + (all - used + 0.5) / (used + 0.5)).ln())
        })
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "numbers of statements are far below 2^52")]
fn count(n: usize) -> f64 {
    n as f64
}

// BM25, scaled to the best.
fn bm25(weights: &HashMap<String, f64>, stems: &[Vec<String>]) -> Vec<f64> {
    let length = count(stems.iter().map(Vec::len).sum::<usize>()) / count(stems.len().max(1));
    let mut scores: Vec<f64> = stems
        .iter()
        .map(|stems| {
            let norm = K1 * (1.0 - B + B * count(stems.len()) / length.max(1.0));
            let of = |word: &String| count(stems.iter().filter(|stem| *stem == word).count());
            sum(weights.iter().map(|(word, weight)| {
                let times = of(word);
                weight * times * (K1 + 1.0) / (times + norm)
            }))
        })
        .collect();
    let best = scores.iter().copied().fold(0.0, f64::max);
    if best > 0.0 {
        scores.iter_mut().for_each(|score| *score /= best);
    }
    scores
}

// Added up in one order, since a map has none and a sum of floats depends on it.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.into_iter().sum()
}

fn coverage(weights: &HashMap<String, f64>, stems: &[String]) -> f64 {
    let all = sum(weights.values().copied());
    let held = sum(weights.iter().filter(|(word, _)| stems.contains(word)).map(|(_, w)| *w));
    if all > 0.0 { held / all } else { 0.0 }
}

// Share of the exact tokens that each piece lacks, counting those that some piece has.
fn inexact(exact: &BTreeSet<String>, matched: &[String], dates: &[Vec<Days>]) -> Vec<f64> {
    let has: Vec<HashSet<&String>> = matched
        .iter()
        .zip(dates)
        .map(|(text, dates)| {
            let mut tokens: HashSet<String> = words::tokens(text).into_iter().collect();
            let names: Vec<String> = tokens
                .iter()
                .filter_map(|token| words::numbered(token))
                .map(str::to_owned)
                .collect();
            tokens.extend(names);
            exact
                .iter()
                .filter(|token| {
                    let year = token.parse().ok().filter(|_| token.len() == 4);
                    tokens.contains(*token)
                        || year.is_some_and(|year| words::covers_year(dates, year))
                })
                .collect()
        })
        .collect();
    let known: Vec<&String> =
        exact.iter().filter(|token| has.iter().any(|has| has.contains(token))).collect();
    has.iter()
        .map(|has| {
            let lacks = known.iter().filter(|token| !has.contains(**token)).count();
            if known.is_empty() { 0.0 } else { count(lacks) / count(known.len()) }
        })
        .collect()
}

struct Scored {
    at: usize,
    score: f64,
    cosine: f64,
}

/// Picks the statements that answer a question best, with how sure that is. `vectors` stand beside
/// the pieces; a piece without one is judged by its words alone.
pub(crate) fn choose(
    question: &Question,
    sources: &[Source],
    pieces: &[Piece],
    vectors: &[Option<Vec<f32>>],
    lexical: &Lexical,
    thresholds: &Thresholds,
    limits: &Limits<'_>,
) -> Selection {
    let mut scored: Vec<Scored> = (0..pieces.len())
        .map(|at| {
            let cosine = vectors[at].as_ref().map_or(0.0, |v| likeness(&question.vector, v));
            let score = score(&sources[pieces[at].source], &pieces[at], lexical, at)
                + LIKENESS * scaled(thresholds, cosine);
            Scored { at, score, cosine }
        })
        .collect();
    scored.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.at.cmp(&b.at)));
    let best = scored.first().map_or(0.0, |first| first.score);
    // One of several listed subjects: near in meaning, and one of the question's words at least.
    let on_one_subject = |one: &Scored| {
        limits.purpose == Purpose::Document
            && one.cosine >= f64::from(thresholds.semantic_floor)
            && lexical.covered[one.at] > 0.0
    };
    let relevant: Vec<&Scored> = scored
        .iter()
        .filter(|one| one.score > 0.0 && (one.score >= FLOOR * best || on_one_subject(one)))
        .collect();
    let picked = vary(&relevant, pieces, vectors, sources, thresholds, limits);
    let confidence = confidence(&scored, lexical, thresholds);
    let shown: usize = picked.iter().map(|pick| 1 + pick.twins.len()).sum();
    let statements =
        picked.iter().map(|pick| statement(pick, sources, pieces, vectors, lexical)).collect();
    Selection {
        statements,
        state: state(confidence),
        confidence,
        more: u32::try_from(relevant.len().saturating_sub(shown)).unwrap_or(u32::MAX),
    }
}

fn state(confidence: f64) -> ExtractiveState {
    if confidence >= FOUND {
        ExtractiveState::Found
    } else if confidence >= NEAREST {
        ExtractiveState::Nearest
    } else {
        ExtractiveState::Nothing
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a cosine fits an f32")]
fn scaled(thresholds: &Thresholds, cosine: f64) -> f64 {
    f64::from(thresholds.scale(cosine as f32))
}

// Whether a statement lies in the days that the question speaks of.
fn lies_in(wanted: Option<Days>, dates: &[Days], source: &Source) -> bool {
    let Some(wanted) = wanted else { return false };
    let meets = |days: &Days| days.first <= wanted.last && wanted.first <= days.last;
    let told = source.occurred_start.map(|start| Days {
        first: start.date_naive(),
        last: source.occurred_end.unwrap_or(start).date_naive(),
    });
    dates.iter().any(meets) || told.as_ref().is_some_and(meets)
}

// Everything but the likeness.
fn score(source: &Source, piece: &Piece, lexical: &Lexical, at: usize) -> f64 {
    let dates = &lexical.dates[at];
    let dated = !dates.is_empty() || source.occurred_start.is_some();
    let named = source.entities.iter().any(|name| piece.text.contains(name.as_str()))
        || words::has_full_name(&piece.text);
    let counted = words::numbers(&piece.text).iter().any(|n| n.len() != 4);
    let asked = lexical.asked;
    let cues = [(asked.when, dated), (asked.who, named), (asked.how_many, counted)];
    let cue = CUE * count(cues.iter().filter(|(wanted, there)| *wanted && *there).count());
    WORDS * lexical.bm25[at] + cue + lexical.in_time(at) - INEXACT * lexical.inexact[at]
}

// Half the best coverage of one statement among the best, half the best likeness.
fn confidence(scored: &[Scored], lexical: &Lexical, thresholds: &Thresholds) -> f64 {
    let top = scored.iter().take(3);
    let covered = top.clone().map(|one| lexical.covered[one.at]).fold(0.0, f64::max);
    let like = top.map(|one| scaled(thresholds, one.cosine)).fold(0.0, f64::max);
    // A question of nothing but empty words asks for nothing that words could cover.
    if lexical.weights.is_empty() { like * 0.5 } else { f64::midpoint(covered, like) }
}

struct Pick {
    at: usize,
    score: f64,
    cosine: f64,
    // Places of pieces that say the same.
    twins: Vec<usize>,
}

// Maximal marginal relevance over the best; what says the same as a picked one becomes its twin.
fn vary(
    relevant: &[&Scored],
    pieces: &[Piece],
    vectors: &[Option<Vec<f32>>],
    sources: &[Source],
    thresholds: &Thresholds,
    limits: &Limits<'_>,
) -> Vec<Pick> {
    let alike = |a: usize, b: usize| match (&vectors[a], &vectors[b]) {
        (Some(a), Some(b)) => likeness(a, b),
        _ => 0.0,
    };
    let mut open: Vec<&Scored> = relevant.iter().take(POOL).copied().collect();
    let keys: HashMap<usize, String> =
        open.iter().map(|one| (one.at, words_key(&pieces[one.at].text))).collect();
    let twins = |a: usize, b: usize| {
        keys[&a] == keys[&b]
            || (alike(a, b) > f64::from(thresholds.near_twin)
                && words::numbers(&pieces[a].text) == words::numbers(&pieces[b].text))
    };
    let mut picked: Vec<Pick> = Vec::new();
    let mut tokens = 0;
    // The likeness of each open piece to the nearest picked one.
    let mut nearest: HashMap<usize, f64> = HashMap::new();
    while picked.len() < limits.statements && !open.is_empty() {
        let worth = |one: &Scored| {
            let near = nearest.get(&one.at).copied().unwrap_or(0.0);
            RELEVANCE * one.score - (1.0 - RELEVANCE) * scaled(thresholds, near)
        };
        let Some((place, _)) = open
            .iter()
            .enumerate()
            .max_by(|(i, a), (j, b)| worth(a).total_cmp(&worth(b)).then(j.cmp(i)))
        else {
            break;
        };
        let one = open.remove(place);
        let size = limits.tokens.count(&pieces[one.at].shown());
        if tokens + size > limits.max_tokens && !picked.is_empty() {
            continue;
        }
        tokens += size;
        let mut pick = Pick { at: one.at, score: one.score, cosine: one.cosine, twins: Vec::new() };
        open.retain(|other| {
            let twin = twins(pick.at, other.at);
            if twin {
                pick.twins.push(other.at);
            }
            !twin
        });
        for other in &open {
            let near = nearest.entry(other.at).or_insert(0.0);
            *near = near.max(alike(pick.at, other.at));
        }
        picked.push(pick);
    }
    prefer_facts(&mut picked, pieces, sources);
    picked
}

// A statement that stands both in a document of a model and in a fact is shown as the fact.
fn prefer_facts(picked: &mut [Pick], pieces: &[Piece], sources: &[Source]) {
    for pick in picked {
        let kind = |at: usize| sources[pieces[at].source].kind;
        if kind(pick.at) == SourceKind::Model
            && let Some(place) = pick.twins.iter().position(|at| kind(*at) != SourceKind::Model)
        {
            std::mem::swap(&mut pick.at, &mut pick.twins[place]);
        }
    }
}

fn statement(
    pick: &Pick,
    sources: &[Source],
    pieces: &[Piece],
    vectors: &[Option<Vec<f32>>],
    lexical: &Lexical,
) -> Statement {
    let piece = &pieces[pick.at];
    let source = &sources[piece.source];
    let mut ids: Vec<String> = Vec::new();
    for at in std::iter::once(&pick.at).chain(&pick.twins) {
        let id = &sources[pieces[*at].source].id;
        if !ids.contains(id) {
            ids.push(id.clone());
        }
    }
    let dated = lexical.dates[pick.at].first().and_then(|days| days.first.and_hms_opt(0, 0, 0));
    let mentioned: Vec<String> =
        source.entities.iter().filter(|name| piece.text.contains(name.as_str())).cloned().collect();
    Statement {
        text: piece.text.clone(),
        context: piece.context.clone(),
        shown: piece.shown(),
        sources: ids,
        entities: if source.passage { mentioned } else { source.entities.clone() },
        time: source.occurred_start.or_else(|| dated.map(|at| at.and_utc())),
        mentioned_at: source.mentioned_at,
        score: pick.score,
        cosine: pick.cosine,
        vector: vectors[pick.at].clone().unwrap_or_default(),
    }
}

impl std::fmt::Debug for Lexical {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lexical").field("exact", &self.exact).finish_non_exhaustive()
    }
}
