//! Laying statements out in sections: by the entity they share, by time within one. Pure.

use crate::reflect::extractive::Statement;
use domain::delta::fragments;
use domain::entities::canon_key;
use std::collections::BTreeMap;

/// Sections of entities at most (extractive 8).
const MOST_SECTIONS: usize = 8;
/// Heading of what shares no entity with anything else.
pub(super) const REST: &str = "Other statements";

/// A section to be.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Group {
    pub(super) heading: String,
    pub(super) statements: Vec<Statement>,
}

/// Groups statements by their most frequent shared entity. Where none is shared, the whole is one
/// section under the document's own name.
pub(super) fn sections(statements: &[Statement], name: &str) -> Vec<Group> {
    let shared = shared(statements);
    let mut groups: BTreeMap<String, Vec<Statement>> = BTreeMap::new();
    let mut rest = Vec::new();
    for statement in statements {
        match most_frequent(statement, &shared) {
            Some(key) => groups.entry(key).or_default().push(statement.clone()),
            None => rest.push(statement.clone()),
        }
    }
    let mut groups: Vec<(String, Vec<Statement>)> = groups.into_iter().collect();
    groups.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(&b.0)));
    for (_, overflow) in groups.split_off(MOST_SECTIONS.min(groups.len())) {
        rest.extend(overflow);
    }
    let mut sections: Vec<Group> = groups
        .into_iter()
        .map(|(key, statements)| Group {
            heading: shared.get(&key).map_or(key, |(name, _)| name.clone()),
            statements,
        })
        .collect();
    if !rest.is_empty() {
        let heading = if sections.is_empty() { name } else { REST };
        sections.push(Group { heading: heading.to_owned(), statements: rest });
    }
    for section in &mut sections {
        by_time(&mut section.statements);
    }
    sections
}

/// Entities that at least two statements mention: by key the name as written in the bank, and how
/// many mention it.
fn shared(statements: &[Statement]) -> BTreeMap<String, (String, usize)> {
    let mut counts: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for statement in statements {
        for (key, name) in keys(statement) {
            counts.entry(key).or_insert_with(|| (name, 0)).1 += 1;
        }
    }
    counts.retain(|_, (_, n)| *n > 1);
    counts
}

/// The entities of a statement, each once.
fn keys(statement: &Statement) -> BTreeMap<String, String> {
    statement
        .entities
        .iter()
        .map(|name| (canon_key(name), heading_of(name)))
        .filter(|(key, heading)| !key.is_empty() && !heading.is_empty())
        .collect()
}

fn most_frequent(
    statement: &Statement,
    shared: &BTreeMap<String, (String, usize)>,
) -> Option<String> {
    keys(statement)
        .into_keys()
        .filter_map(|key| Some((shared.get(&key)?.1, key)))
        .max_by(|a, b| a.0.cmp(&b.0).then_with(|| b.1.cmp(&a.1)))
        .map(|(_, key)| key)
}

/// The first of a statement's entities, as a heading.
pub(super) fn own_heading(statement: &Statement) -> Option<String> {
    statement.entities.iter().map(|name| heading_of(name)).find(|heading| !heading.is_empty())
}

/// A name on one line without hashes.
fn heading_of(name: &str) -> String {
    domain::text::collapse_blanks(name).trim_matches('#').trim().to_owned()
}

/// Dated statements first, the oldest at the top; the others by how well they fit.
fn by_time(statements: &mut [Statement]) {
    statements.sort_by(|a, b| {
        let dated = |statement: &Statement| statement.time.is_none();
        dated(a)
            .cmp(&dated(b))
            .then_with(|| a.time.cmp(&b.time))
            .then_with(|| b.score.total_cmp(&a.score))
            .then_with(|| a.text.cmp(&b.text))
    });
}

/// A statement as one block. A text that would be read as a heading or an open fence is put on one
/// line and kept from being read so.
pub(super) fn block_text(shown: &str) -> String {
    match fragments(shown) {
        Ok(parts) if parts.len() == 1 => shown.trim().to_owned(),
        _ => {
            let line = domain::text::collapse_blanks(shown).replace("```", "'''");
            if line.starts_with('#') { format!("\\{line}") } else { line }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::time::from_millis;

    fn statement(text: &str, entities: &[&str], day: Option<i64>) -> Statement {
        Statement {
            text: text.to_owned(),
            context: None,
            shown: text.to_owned(),
            sources: vec![text.to_owned()],
            entities: entities.iter().map(|name| (*name).to_owned()).collect(),
            time: day.map(|day| from_millis(day * 86_400_000)),
            mentioned_at: None,
            score: 1.0,
            cosine: 1.0,
            vector: Vec::new(),
        }
    }

    fn shape(groups: &[Group]) -> Vec<(&str, Vec<&str>)> {
        groups
            .iter()
            .map(|group| {
                let texts = group.statements.iter().map(|s| s.text.as_str()).collect();
                (group.heading.as_str(), texts)
            })
            .collect()
    }

    #[test]
    fn sections_follow_shared_entities_and_time() {
        let all = [
            statement("late", &["Ada Vance", "Kiln"], Some(9)),
            statement("early", &["ada vance"], Some(2)),
            statement("kiln", &["Kiln"], None),
            statement("kiln two", &["Kiln", "Solo"], Some(1)),
            statement("alone", &["Solo Two"], None),
        ];
        assert_eq!(
            shape(&sections(&all, "Doc")),
            [
                ("Kiln", vec!["kiln two", "late", "kiln"]),
                ("Ada Vance", vec!["early"]),
                (REST, vec!["alone"]),
            ]
        );
    }

    #[test]
    fn what_shares_nothing_stands_under_the_documents_name() {
        let all = [statement("a", &[], None), statement("b", &["X"], None)];
        assert_eq!(shape(&sections(&all, "Doc")), [("Doc", vec!["a", "b"])]);
    }

    #[test]
    fn a_statement_never_becomes_a_heading_or_two_blocks() {
        assert_eq!(block_text("# Not a heading"), "\\# Not a heading");
        assert_eq!(block_text("one\n\ntwo"), "one two");
        assert_eq!(block_text(" plain "), "plain");
        assert_eq!(fragments(&block_text("```\nopen")).map(|parts| parts.len()), Ok(1));
    }
}
