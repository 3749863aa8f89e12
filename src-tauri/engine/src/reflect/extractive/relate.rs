//! What two statements are to each other: the same, a newer word on the same matter, or strangers.
//! Pure; what follows from it for an answer or a document is decided by the caller.

use super::Statement;
use super::words;
use domain::text::same_statement_key;
use embed::Thresholds;
use std::collections::BTreeSet;

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

/// Whether two statements say the same kind of thing, so that a newer one can take the place of the
/// other (README 14): names, numbers, dates and denials aside, they share more than half the words of
/// the one with more. What somebody did to a thing is no newer word on what the thing is like; in
/// doubt both stand.
pub(crate) fn same_facet(one: &Statement, other: &Statement) -> bool {
    let said = |statement: &Statement| words::said(&statement.text, &statement.entities);
    let (one, other) = (said(one), said(other));
    one == other || one.intersection(&other).count() * 2 > one.len().max(other.len())
}

// The same ones, not some of them. Where neither names an entity, likeness alone decides.
fn same_entities(one: &Statement, other: &Statement) -> bool {
    let keys = |statement: &Statement| -> BTreeSet<String> {
        statement.entities.iter().map(|name| domain::entities::canon_key(name)).collect()
    };
    keys(one) == keys(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A statement; any two have a cosine of 0.9.
    fn said(text: &str, entities: &[&str], at: usize) -> Statement {
        let mut vector = vec![0.0; 4];
        vector[0] = 0.9_f32.sqrt();
        vector[1 + at] = 0.1_f32.sqrt();
        Statement {
            text: text.to_owned(),
            context: None,
            shown: text.to_owned(),
            sources: Vec::new(),
            entities: entities.iter().map(|&name| name.to_owned()).collect(),
            time: None,
            mentioned_at: None,
            score: 0.0,
            cosine: 0.0,
            vector,
        }
    }

    fn relation(one: &Statement, other: &Statement) -> Relation {
        let there = relate(one, other, &Thresholds::COMMON);
        assert_eq!(there, relate(other, one, &Thresholds::COMMON));
        there
    }

    #[test]
    fn another_figure_or_a_denial_about_the_same_entities_differs() {
        let old = said("The crane of the yard lifts 4 tons.", &["Crane", "Yard"], 0);
        let new = said("The crane of the yard lifts 5 tons.", &["yard", "Crane"], 1);
        let denied = said("The crane of the yard does not lift 4 tons.", &["Crane", "Yard"], 2);
        for other in [&new, &denied] {
            assert_eq!(relation(&old, other), Relation::Differs);
            assert!(same_facet(&old, other));
        }
    }

    #[test]
    fn one_entity_in_common_is_not_the_same_entities() {
        let state = said("The crane is red since 3 May.", &["Crane"], 0);
        let deed = said("On 4 May Edda moved the crane.", &["Edda", "Crane"], 1);
        assert_eq!(relation(&state, &deed), Relation::Apart);
        let nobody = said("It is red since 5 May.", &[], 2);
        assert_eq!(relation(&state, &nobody), Relation::Apart);
    }

    #[test]
    fn a_deed_is_of_another_facet_than_a_state() {
        let state = said("The crane is red since 3 May.", &["Crane"], 0);
        let deed = said("On 4 May Edda moved the crane.", &["Crane"], 1);
        assert_eq!(relation(&state, &deed), Relation::Differs);
        assert!(!same_facet(&state, &deed) && !same_facet(&deed, &state));
        assert!(same_facet(&state, &said("Since 6 May the crane is not red.", &["Crane"], 1)));
        // Where only names and figures are said there is nothing to tell facets apart by.
        let place = said("The crane is at Pier 3.", &["Crane"], 0);
        assert!(same_facet(&place, &said("The crane is at Pier 4.", &["Crane"], 1)));
        assert!(!same_facet(&place, &deed));
        // A unit belongs to its number.
        let hot = said("The kiln of the workshop reaches 1200 degrees.", &["Kiln"], 0);
        let swept = said("The kiln of the workshop was swept at 90 degrees.", &["Kiln"], 1);
        assert!(!same_facet(&hot, &swept));
    }
}
