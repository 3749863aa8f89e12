//! What two statements are to each other: the same, a newer word on the same matter, or strangers.
//! Pure; what follows from it for an answer or a document is decided by the caller.

use super::Statement;
use super::words;
use domain::text::same_statement_key;
use embed::Thresholds;

/// What a statement is to an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    /// Says the same.
    Same,
    /// Speaks of the same matter and says something else: another number, date, name, or a denial.
    Differs,
    /// Anything else.
    Apart,
}

/// Cosine of two vectors of one length; 0 for an empty one.
pub(crate) fn likeness(a: &[f32], b: &[f32]) -> f64 {
    if a.len() != b.len() {
        return 0.0;
    }
    let (mut dot, mut aa, mut bb) = (0.0_f32, 0.0_f32, 0.0_f32);
    for (x, y) in a.iter().zip(b) {
        dot += x * y;
        aa += x * x;
        bb += y * y;
    }
    let length = (aa * bb).sqrt();
    if length > 0.0 { f64::from(dot / length) } else { 0.0 }
}

/// The form in which two texts are the same: normalised, closing marks aside.
pub(crate) fn words_key(text: &str) -> String {
    let mut key = same_statement_key(text);
    key.truncate(key.trim_end_matches(['.', '!', ';', ',']).len());
    key
}

/// What a statement is to another.
pub(crate) fn relate(one: &Statement, other: &Statement, thresholds: &Thresholds) -> Relation {
    if words_key(&one.text) == words_key(&other.text) {
        return Relation::Same;
    }
    let alike = likeness(&one.vector, &other.vector);
    let equal_figures = words::numbers(&one.text) == words::numbers(&other.text)
        && words::dates(&one.text) == words::dates(&other.text)
        && words::negates(&one.text) == words::negates(&other.text);
    if alike > f64::from(thresholds.near_twin) && equal_figures {
        return Relation::Same;
    }
    let differs = !equal_figures || words::names(&one.text) != words::names(&other.text);
    if alike > f64::from(thresholds.same_subject) && same_entities(one, other) && differs {
        return Relation::Differs;
    }
    Relation::Apart
}

// Where neither names an entity, likeness alone decides.
fn same_entities(one: &Statement, other: &Statement) -> bool {
    let keys = |statement: &Statement| {
        let mut keys: Vec<String> =
            statement.entities.iter().map(|name| domain::entities::canon_key(name)).collect();
        keys.sort();
        keys.dedup();
        keys
    };
    let (one, other) = (keys(one), keys(other));
    (one.is_empty() && other.is_empty()) || one.iter().any(|key| other.contains(key))
}
